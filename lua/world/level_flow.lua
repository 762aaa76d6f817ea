-- The graph of a level: its events and variables.
local core = ...

local Level = core.module("Level")

---Sends an event to the graph of a level: its nodes of type `event.custom` with this name run at
---once. Does nothing if the level has no graph with such a node.
---@param level Level a level
---@param name string the name of the event
---@param value? any a number, boolean, text, vector, rotation, color, object, or a list of these
---@return boolean taken true if the graph of the level has the event
---@node hidden
function Level.trigger_event(level, name, value)
  return core.send_flow_event("Level.trigger_event", Level, level, name, value)
end

---Returns the value of a variable of a level's graph.
---@param level Level a level with a graph
---@param name string the name of the variable
---@return any value its value
---@node hidden
function Level.flow_variable(level, name)
  return core.read_flow_variable("Level.flow_variable", Level, level, name)
end

---Sets a variable of a level's graph. The value must have the type of the variable.
---@param level Level a level with a graph
---@param name string the name of the variable
---@param value any the value
---@node hidden
function Level.set_flow_variable(level, name, value)
  core.write_flow_variable("Level.set_flow_variable", Level, level, name, value)
end
