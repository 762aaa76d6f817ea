-- Questions about the components of units: those of the engine and those of the game's scripts.
local core = ...

local check_component = core.check_component

local World, Unit = core.module("World"), core.module("Unit")

---Returns true if a unit has a component of a type: one of the engine, such as "light", or a module
---in `components/` of the game. Raises an error if there is no such component.
---@param unit Unit a unit
---@param component string the type of the component
---@return boolean exists true if its file, or one that it inherits from, lists such a component
function Unit.has_component(unit, component)
  check_component("Unit.has_component", 2, component)
  return core.has_component(unit, component)
end

---Returns the units of a world that have a component of a type, as `Unit.has_component` does.
---@param world World a world
---@param component string the type of the component
---@return Unit[] units in the order of their slots, which are reused
function World.units_with(world, component)
  check_component("World.units_with", 2, component)
  return core.units_with(world, component)
end
