-- The units of a world that have a component, of the engine or of the game's scripts.
local core = ...

local check_component = core.check_component

local World = core.module("World")

---Returns the units of a world that have a component of a type, as `Unit.has_component` does.
---@param world World a world
---@param component string the type of the component
---@return Unit[] units in the order of their slots, which are reused
---@node query
function World.units_with(world, component)
  check_component("World.units_with", 2, component)
  return core.units_with(world, component)
end
