-- Graphs of visual scripting: errors name the function that was called, old names of pins are
-- followed, and graphs spawn and destroy units while they run.
local world
local events

before_each(function()
  world = Application.new_world()
  events = {}
  function _G.on_flow_event(object, name) events[#events + 1] = { object, name } end
end)

after_each(function()
  _G.on_flow_event = nil
  Application.release_world(world)
end)

local function count(name)
  local found = 0
  for _, event in ipairs(events) do found = found + (event[2] == name and 1 or 0) end
  return found
end

describe("Errors about graphs", function()
  it("name the function that was called", function()
    local barrel = World.spawn_unit(world, "units/flow_barrel")
    local level = World.spawn_level(world, "levels/flow")
    local empty = World.spawn_unit(world, "core/units/empty")
    local long = ("x"):rep(5000)
    local cases = {
      { "Unit.flow_variable: the graph", Unit.flow_variable, barrel, "nmae" },
      { "Unit.flow_variable: unit", Unit.flow_variable, empty, "name" },
      { "Unit.set_flow_variable: the graph", Unit.set_flow_variable, barrel, "nmae", 1 },
      { "Unit.set_flow_variable: the variable 'name' must", Unit.set_flow_variable, barrel, "name",
        1 },
      { "Unit.set_flow_variable: unit", Unit.set_flow_variable, empty, "name", 1 },
      { "Unit.set_flow_variable: argument #3 'value' cannot be kept: a text",
        Unit.set_flow_variable, barrel, "name", long },
      { "Unit.flow_event: argument #3 'value' cannot be kept: a text", Unit.flow_event, barrel,
        "values", long },
      { "Unit.flow_event: argument #3 'value' item 1 of the list cannot be kept: a text",
        Unit.flow_event, barrel, "values", { long } },
      { "Level.flow_variable: the graph", Level.flow_variable, level, "laoded" },
      { "Level.set_flow_variable: the variable 'loaded' must", Level.set_flow_variable, level,
        "loaded", "x" },
      { "Flow.inspect: unit", Flow.inspect, empty },
      { "Flow.inspect: argument #1", Flow.inspect, "x" },
    }
    for _, case in ipairs(cases) do
      local ok, problem = pcall(case[2], case[3], case[4], case[5])
      assert.is_false(ok)
      local text = tostring(problem):gsub("^[^:]+:%d+: ", "")
      assert.equals(case[1], text:sub(1, #case[1]))
    end
  end)
end)

describe("Old names of pins", function()
  it("are followed in nodes in Lua and in shared graphs", function()
    local unit = World.spawn_unit(world, "units/flow/old_names")
    assert.is_true(Flow.has_graph(unit))
    Unit.flow_event(unit, "go")
    assert.equals("", Flow.inspect(unit).error)
    assert.equals(84, Unit.flow_variable(unit, "sum"))
  end)
end)

describe("Graphs that spawn units", function()
  it("spawn them in updates, and they are updated from the next one on", function()
    local first = World.spawn_unit(world, "units/flow/spawner")
    for frame = 1, 4 do
      World.update(world, 0.1)
      assert.equals(frame + 1, #World.units(world))
      assert.equals(frame + 1, count("born"))
      assert.equals(frame, Unit.flow_variable(first, "updates"))
    end
    assert.equals("", Flow.inspect(first).error)
  end)

  it("end with their unit in the middle of a chain, after they have spawned another", function()
    local first = World.spawn_unit(world, "units/flow/spawner")
    Unit.flow_event(first, "over")
    assert.is_false(Unit.alive(first))
    assert.equals(0, count("never"))
    assert.equals(2, count("born"))
    local units = World.units(world)
    assert.equals(1, #units)
    assert.is_true(Flow.has_graph(units[1]))
  end)
end)
