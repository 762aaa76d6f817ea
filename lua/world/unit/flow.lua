-- The graph of a unit: its events and variables.
local core = ...

local Unit = core.module("Unit")

---Sends an event to the graph of a unit: its nodes of type `event.custom` with this name run at
---once. Does nothing if the unit has no graph with such a node.
---@param unit Unit a unit
---@param name string the name of the event
---@param value? any a number, boolean, text, vector, rotation, color, object, or a list of these
---@return boolean taken true if the graph of the unit has the event
---@node hidden
function Unit.flow_event(unit, name, value)
  return core.send_flow_event("Unit.flow_event", Unit, unit, name, value)
end

---Returns true if the graph of a unit has a node of type `event.custom` with a name.
---@param unit Unit a unit
---@param name string the name of the event
---@return boolean exists true if `Unit.flow_event` would run something
---@node hidden
function Unit.has_flow_event(unit, name)
  core.user_data.check("Unit.has_flow_event", Unit, unit)
  core.check_flow_name("Unit.has_flow_event", name)
  return core.flow_receives(unit, name)
end

---Returns the value of a variable of a unit's graph.
---@param unit Unit a unit with a graph
---@param name string the name of the variable
---@return any value its value
---@node hidden
function Unit.flow_variable(unit, name)
  return core.read_flow_variable("Unit.flow_variable", Unit, unit, name)
end

---Sets a variable of a unit's graph. The value must have the type of the variable.
---@param unit Unit a unit with a graph
---@param name string the name of the variable
---@param value any the value
---@node hidden
function Unit.set_flow_variable(unit, name, value)
  core.write_flow_variable("Unit.set_flow_variable", Unit, unit, name, value)
end
