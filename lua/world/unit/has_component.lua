-- Components that a unit has, of the engine or of the game's scripts.
local core = ...

local check_component = core.check_component

local Unit = core.module("Unit")

---Returns true if a unit has a component of a type: one of the engine, such as "light", or a module
---in `components/` of the game. Raises an error if there is no such component.
---@param unit Unit a unit
---@param component string the type of the component
---@return boolean exists true if its file, or one that it inherits from, lists such a component
---@node query
function Unit.has_component(unit, component)
  check_component("Unit.has_component", 2, component)
  return core.has_component(unit, component)
end
