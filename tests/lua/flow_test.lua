-- Graphs of visual scripting: graphs of units and levels, nodes in Lua, events in both directions.
local world
local events = {}

function _G.on_flow_event(object, name, value)
  events[#events + 1] = { object, name, value }
end

local function names()
  local list = {}
  for i, event in ipairs(events) do list[i] = event[2] end
  return table.concat(list, " ")
end

describe("Flow", function()
  before_each(function()
    world = Application.new_world()
    events = {}
    _G.FLOW_FAILURE = nil
  end)

  after_each(function()
    Application.release_world(world)
  end)

  it("runs the graph of a unit with variables of each subgraph", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    assert.is_true(Flow.has_graph(barrel))
    assert.is_true(Unit.has_flow_event(barrel, "hit"))
    assert.is_false(Unit.has_flow_event(barrel, "hti"))
    assert.is_true(Unit.flow_event(barrel, "hit"))
    assert.is_false(Unit.flow_event(barrel, "nothing"))
    assert.equals(1, Unit.get_data(barrel, "hits"))
    assert.is_false(Unit.flow_variable(barrel, "broken"))
    Unit.flow_event(barrel, "hit")
    Unit.flow_event(barrel, "hit")
    assert.is_true(Unit.flow_variable(barrel, "broken"))
    assert.equals("broken", names())
    assert.equals(barrel, events[1][1])
    assert.equals(30, events[1][3])
  end)

  it("gives each unit state of its own", function()
    local one = World.spawn_unit(world, "units/flow_barrel")
    local other = World.spawn_unit(world, "units/flow_barrel")
    Unit.flow_event(one, "hit")
    assert.equals(1, Unit.get_data(one, "hits"))
    assert.equals(0, Unit.get_data(other, "hits"))
    assert.equals("1", Flow.inspect(one).variables["small/sum"])
    assert.equals("0", Flow.inspect(other).variables["small/sum"])
    assert.equals("units/flow_barrel.unit", Flow.inspect(one).graph)
  end)

  it("reads and sets variables by their types", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    assert.equals("barrel", Unit.flow_variable(barrel, "name"))
    Unit.set_flow_variable(barrel, "name", "keg")
    assert.equals("keg", Unit.flow_variable(barrel, "name"))
    assert.error_matches(function() Unit.set_flow_variable(barrel, "name", 3) end,
      "the variable 'name' must be of type text, got a number")
    assert.error_matches(function() Unit.flow_variable(barrel, "nmae") end,
      "has no variable 'nmae', did you mean 'name'?")
    local empty = World.spawn_unit(world, "core/units/empty")
    assert.error_matches(function() Unit.flow_variable(empty, "name") end, "has no graph")
    assert.is_false(Unit.flow_event(empty, "hit"))
    assert.is_false(Flow.has_graph(empty))
  end)

  it("waits in the time of its world", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    Unit.flow_event(barrel, "move")
    World.update(world, 0.25)
    assert.equals(0, Unit.local_position(barrel, 1).z)
    World.update(world, 0.25)
    assert.equals(5, Unit.local_position(barrel, 1).z)
  end)

  it("lets a graph destroy its own unit in the middle of a chain", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    Unit.flow_event(barrel, "end")
    assert.is_false(Unit.alive(barrel))
    assert.equals("gone", names())
    local other = World.spawn_unit(world, "units/flow_barrel")
    World.destroy_unit(world, other)
    assert.equals("gone gone", names())
  end)

  it("calls nodes in Lua, which choose their outputs", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    Unit.flow_event(barrel, "call", 4)
    Unit.flow_event(barrel, "call", 5)
    assert.equals("even odd", names())
    assert.equals(8, events[1][3])
    assert.equals(10, events[2][3])
  end)

  it("passes values of all types to nodes in Lua and back", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    local values = { 3.5, true, false, "text", "", Vector3(1, 2, 3), Color(10, 20, 30, 40),
      Quaternion(Vector3.up(), 0.5), barrel, world, { 1, "two", true } }
    for i, value in ipairs(values) do
      Unit.flow_event(barrel, "values", value)
      assert.same(value, events[i][3])
    end
    Unit.flow_event(barrel, "values")
    assert.equals("echoed", events[#values + 1][2])
    assert.is_nil(events[#values + 1][3])
    assert.equals("", Flow.inspect(barrel).error)
  end)

  it("reports nodes that fail with graph and node, and goes on", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    test.expect_error("node failing %(samples.fail%): .*the sample fails")
    local expected =
      { error = "the sample fails", wait = "yield", value = "must be of type number",
        infinite = "'result' must be a finite number", names = "keys other than 1, 2, 3" }
    for _, mode in ipairs({ "error", "wait", "value", "infinite", "names" }) do
      _G.FLOW_FAILURE = mode
      Unit.flow_event(barrel, "fail")
      local problem = Flow.inspect(barrel).error
      assert.matches("^units/flow_barrel.unit:%d+: graph units/flow_barrel.unit, node "
        .. "failing %(samples.fail%): ", problem)
      assert.matches(expected[mode], problem)
    end
    Unit.flow_event(barrel, "hit")
    assert.equals(1, Unit.get_data(barrel, "hits"))
  end)

  it("calls nodes in a coroutine of the game, and refuses those that wait", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    local thread = coroutine.create(function()
      Unit.flow_event(barrel, "call", 4)
      _G.FLOW_FAILURE = "wait"
      Unit.flow_event(barrel, "fail")
      Unit.flow_event(barrel, "call", 5)
      return "complete"
    end)
    assert.same({ true, "complete" }, { coroutine.resume(thread) })
    assert.equals("even odd", names())
    -- It is logged once for a node: the test before this one has seen it.
    local problem = Flow.inspect(barrel).error
    assert.matches("node failing %(samples.fail%): .*the function waits", problem)
  end)

  it("runs the graphs of levels, which know units by name", function()
    local level = World.spawn_level(world, "levels/flow")
    assert.equals(1, Level.flow_variable(level, "loaded"))
    local barrel = Level.unit(level, "barrel")
    assert.equals(1, Unit.get_data(barrel, "hits"))
    assert.is_true(Level.trigger_event(level, "alarm"))
    assert.equals(2, Unit.get_data(barrel, "hits"))
    Level.set_flow_variable(level, "loaded", 7)
    assert.equals(7, Level.flow_variable(level, "loaded"))
    assert.is_false(Level.trigger_event(level, "nothing"))
    World.destroy_level(world, level)
  end)

  it("tells the node whose graph runs", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    Unit.flow_event(barrel, "context")
    assert.equals(barrel, _G.FLOW_CONTEXT[1])
    assert.equals(world, _G.FLOW_CONTEXT[2])
    assert.is_nil(_G.FLOW_CONTEXT[3])
    assert.equals("units/flow_barrel.unit", _G.FLOW_CONTEXT[4])
    assert.equals("tells", _G.FLOW_CONTEXT[5])
  end)

  it("has a context only while a node runs", function()
    for _, name in ipairs({ "unit", "level", "world", "node" }) do
      assert.error_matches(function() Application["flow_callback_context_" .. name]() end,
        "no node of a graph runs")
    end
    assert.error_matches(function() Application.flow_callback_return_event("out") end,
      "no node of a graph runs")
  end)
end)
