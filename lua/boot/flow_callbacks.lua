-- Functions of nodes of graphs ask who called them, and choose how the graph continues.
local core = ...

local raise = core.raise

local Application = core.module("Application")

-- Returns a part of the context of the node that runs.
local function context(where, index)
  local found = core.flow_context()
  if not found then
    raise(where .. ": no node of a graph runs: call it in the function of a node")
  end
  return found[index] or nil
end

---Returns the unit of the graph whose node runs, or nil for the graph of a level. Call it in the
---function of a node.
---@return Unit|nil unit the unit
---@node hidden
function Application.flow_callback_context_unit()
  return context("Application.flow_callback_context_unit", 1)
end

---Returns the level of the graph whose node runs, or the level that spawned its unit, or nil. Call
---it in the function of a node.
---@return Level|nil level the level
---@node hidden
function Application.flow_callback_context_level()
  return context("Application.flow_callback_context_level", 2)
end

---Returns the world of the graph whose node runs. Call it in the function of a node.
---@return World world the world
---@node hidden
function Application.flow_callback_context_world()
  return context("Application.flow_callback_context_world", 3)
end

---Returns the graph and the id of the node that runs. Call it in the function of a node.
---@return string graph the name of the graph, such as "units/barrel.unit"
---@return string node the id of the node; "n8/n3" for the node n3 of the subgraph n8
---@node hidden
function Application.flow_callback_context_node()
  local where = "Application.flow_callback_context_node"
  return context(where, 4), context(where, 5)
end

---Chooses the output by which the graph continues after the function of a node with several
---`events`. Without a call, it continues by the first one. Call it in the function of a node.
---@param name string|nil the name of the output; nil for none
---@node hidden
function Application.flow_callback_return_event(name)
  core.choose_flow_output("Application.flow_callback_return_event", name)
end
