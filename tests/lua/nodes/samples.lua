-- Nodes of graphs for tests/lua/flow_test.lua and flow_events_test.lua.
local nodes = {}

nodes.twice = {
  title = "Twice",
  category = "Samples",
  doc = "Doubles a number, and says whether it was even.",
  inputs = { { name = "value", type = "number" } },
  outputs = { { name = "result", type = "number" } },
  events = { "even", "odd" },
  run = function(value)
    if value % 2 == 1 then Application.flow_callback_return_event("odd") end
    return value * 2
  end,
}

nodes.renamed = {
  doc = "A node whose pins had other names.",
  inputs = { { name = "amount", type = "number", was = { "number", "count" } } },
  outputs = { { name = "result", type = "number", was = "sum" } },
  events = { { name = "counted", was = "done" }, "other" },
  run = function(amount) return amount + 1 end,
}

nodes.fail = {
  doc = "Fails, waits, or returns a wrong value.",
  outputs = { { name = "result", type = "number" } },
  run = function()
    local mode = FLOW_FAILURE
    if mode == "wait" then coroutine.yield() end
    if mode == "value" then return "a text" end
    if mode == "infinite" then return math.huge end
    if mode == "names" then return { speed = 1 } end
    error("the sample fails")
  end,
}

nodes.context = {
  doc = "The unit and the node that run.",
  run = function()
    FLOW_CONTEXT = {
      Application.flow_callback_context_unit(), Application.flow_callback_context_world(),
      Application.flow_callback_context_level(), Application.flow_callback_context_node(),
    }
  end,
}

local function any(name)
  return { name = name, type = "any", optional = true }
end

nodes.record = {
  doc = "Appends a name and values to a list.",
  inputs = {
    { name = "name", type = "text" }, any("a"), any("b"), any("c"), any("d"), any("e"), any("f"),
  },
  run = function(...)
    if FLOW_RECORD then FLOW_RECORD[#FLOW_RECORD + 1] = { ... } end
  end,
}

local numbers = {}
for i = 1, 16 do numbers[i] = { name = "v" .. i, type = "number" } end

nodes.many = {
  doc = "Returns as many values as a node can.",
  inputs = { { name = "count", type = "number", default = 16 } },
  outputs = numbers,
  run = function(count)
    local list = {}
    for i = 1, count do list[i] = i end
    return unpack(list, 1, 16)
  end,
}

nodes.echo = {
  doc = "Returns what it gets.",
  inputs = { any("a"), any("b") },
  outputs = { { name = "a", type = "any" }, { name = "b", type = "any" } },
  run = function(a, b) return a, b end,
}

return nodes
