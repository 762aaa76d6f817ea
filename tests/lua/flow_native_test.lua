-- Functions that nodes of graphs call without Lua, values between scripts and graphs, and what a
-- game's callback can do to graphs.
local STEP = 1 / 60
local world
local events = {}
local callback

local function names()
  local list = {}
  for i, event in ipairs(events) do list[i] = event[2] end
  return table.concat(list, " ")
end

local function lamp() return World.spawn_unit(world, "units/flow/lamp") end

before_each(function()
  world = Application.new_world()
  events = {}
  callback = on_flow_event
  function _G.on_flow_event(object, name, value)
    events[#events + 1] = { object, name, value }
  end
end)

after_each(function()
  _G.on_flow_event = callback
  Application.release_world(world)
end)

describe("Native nodes", function()
  it("set and return vectors of units and of their nodes", function()
    local unit = lamp()
    Unit.flow_event(unit, "move", Vector3(1, 2, 3))
    assert.equals("", Flow.inspect(unit).error)
    assert.equals(Vector3(1, 2, 3), Unit.local_position(unit, 1))
    assert.equals("moved", names())
    assert.equals(Unit.world_position(unit, Unit.node(unit, "arm")), events[1][3])
  end)

  it("pass objects from one function to another", function()
    local unit = lamp()
    Unit.flow_event(unit, "glow", 25)
    assert.equals(25, Light.intensity(Unit.light(unit, "lamp")))
    assert.equals(25, events[1][3])
  end)

  it("switch lights and meshes", function()
    local unit = lamp()
    Unit.flow_event(unit, "shut")
    assert.is_false(Light.enabled(Unit.light(unit, "lamp")))
    assert.is_false(Mesh.visibility(Unit.mesh(unit, "look")))
  end)

  it("push actors", function()
    local unit = lamp()
    PhysicsWorld.set_gravity(World.physics_world(world), Vector3.zero())
    Unit.flow_event(unit, "push")
    World.update(world, STEP)
    assert.is_true(Actor.velocity(Unit.actor(unit, "body")).z > 4)
  end)

  it("name the function, the argument and the remedy when they refuse a value", function()
    local unit = lamp()
    test.expect_error("node no_light %(unit.set_light%): unit.set_light: .*no light 'lamb'")
    Unit.flow_event(unit, "wrong", "b")
    assert.matches("did you mean 'lamp'", Flow.inspect(unit).error)
    local other = lamp()
    World.destroy_unit(world, other)
    test.expect_error("node moves %(unit.set_position%): unit.set_position: argument #1 'unit'")
    Unit.flow_event(unit, "stale", other)
    assert.matches("was destroyed in frame", Flow.inspect(unit).error)
    Unit.flow_event(unit, "glow", 5)
    assert.equals("glows", names())
  end)

  it("refuse numbers as a function of scripts does", function()
    local unit = lamp()
    test.expect_error("node brighter %(Light.set_intensity%): Light.set_intensity: ")
    Unit.flow_event(unit, "glow", -1)
    assert.equals("", names())
  end)
end)

describe("Values of graphs", function()
  it("have lists of vectors, rotations, colors and objects", function()
    local unit = lamp()
    local list =
      { Vector3(1, 2, 3), Quaternion.identity(), Color(1, 2, 3, 4), unit, "text", true, 7 }
    Unit.set_flow_variable(unit, "points", list)
    local got = Unit.flow_variable(unit, "points")
    assert.equals(#list, #got)
    for i, value in ipairs(list) do assert.equals(value, got[i], "item " .. i) end
    Unit.flow_event(unit, "tell", list)
    assert.equals(Vector3(1, 2, 3), events[1][3][1])
  end)

  it("are not mixed with those of a call that was refused", function()
    local unit = lamp()
    assert.error_matches(function()
      Unit.flow_event(unit, "tell", { 11, 12, print })
    end, "item 3 of the list is no value of a graph")
    Unit.flow_event(unit, "tell", 5)
    assert.equals(5, events[1][3])
    Unit.set_flow_variable(unit, "anything", 6)
    assert.equals(6, Unit.flow_variable(unit, "anything"))
  end)

  it("can be large numbers that were never objects", function()
    local unit = lamp()
    for _, number in ipairs({ 2 ^ 53 - 1, 1700000000000, 2 ^ 40 + 0.5, unit }) do
      Unit.set_flow_variable(unit, "anything", number)
      assert.equals(number, Unit.flow_variable(unit, "anything"))
    end
    assert.matches("^unit ", Flow.inspect(unit).variables.anything)
    local other = lamp()
    World.destroy_unit(world, other)
    Unit.set_flow_variable(unit, "anything", other)
    assert.matches("^unit ", Flow.inspect(unit).variables.anything)
  end)

  it("are never cut", function()
    local unit = lamp()
    assert.error_matches(function()
      Unit.flow_event(unit, "tell", ("x"):rep(5000))
    end, "at most 4096 bytes")
    assert.equals("", names())
  end)

  it("come from all sixteen outputs of a node in Lua", function()
    local unit = lamp()
    Unit.flow_event(unit, "many", 16)
    assert.equals(16, events[1][3])
    local thread = coroutine.create(function() Unit.flow_event(unit, "many", 16) end)
    assert.is_true(coroutine.resume(thread))
    assert.equals(16, events[2][3])
  end)
end)

describe("A callback of graphs", function()
  it("that waits ends with an error, and the others go on", function()
    local unit = lamp()
    local before = on_flow_event
    function _G.on_flow_event() coroutine.yield() end
    test.expect_error("on_flow_event: .*the function waits")
    local thread = coroutine.create(function() Unit.flow_event(unit, "tell", 1) end)
    assert.is_true(coroutine.resume(thread))
    assert.equals("dead", coroutine.status(thread))
    _G.on_flow_event = before
    assert.is_true(Unit.flow_event(unit, "tell", 2))
    assert.equals(2, events[1][3])
  end)
end)
