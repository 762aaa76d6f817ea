-- Events of systems in graphs: physics, animations, actions, timers, and the end of a world.
local STEP = 1 / 60
local world
local record

local function play(seconds)
  for _ = 1, math.floor(seconds / STEP + 0.5) do World.update(world, STEP) end
end

local function names()
  local list = {}
  for i, entry in ipairs(record) do list[i] = entry[1] end
  return table.concat(list, " ")
end

local function begin()
  world = Application.new_world()
  record = {}
  _G.FLOW_RECORD = record
end

local function finish()
  _G.FLOW_RECORD = nil
  if World.alive(world) then Application.release_world(world) end
end

describe("Flow and physics", function()
  before_each(begin)
  after_each(finish)

  it("sends collisions with both actors, the position and the force", function()
    local floor = World.spawn_unit(world, "units/physics/floor")
    local crate = World.spawn_unit(world, "units/flow/crate", Vector3(0, 0, 3))
    play(2)
    assert.equals("hit", names())
    local hit = record[1]
    assert.equals(floor, hit[2])
    assert.equals(Unit.actor(crate, 1), hit[3])
    assert.equals(Unit.actor(floor, 1), hit[4])
    assert.is_true(math.abs(hit[5].z) < 0.1, tostring(hit[5]))
    assert.is_true(hit[6].z > 0.9, tostring(hit[6]))
    assert.is_true(hit[7] > 30 and hit[7] < 200, tostring(hit[7]))
  end)

  it("sends a collision to both units, each from its side", function()
    local below = World.spawn_unit(world, "units/flow/crate", Vector3(0, 0, 0.5))
    World.spawn_unit(world, "units/physics/floor")
    play(0.5)
    for i = #record, 1, -1 do record[i] = nil end
    local above = World.spawn_unit(world, "units/flow/crate", Vector3(0, 0, 3))
    play(1)
    local found = {}
    for _, hit in ipairs(record) do
      if hit[2] == below or hit[2] == above then found[hit[2]] = found[hit[2]] or hit end
    end
    assert.is_true(found[below][6].z > 0.9, "the upper crate is pushed up")
    assert.is_true(found[above][6].z < -0.9, "the lower crate is pushed down")
    assert.equals(Unit.actor(above, 1), found[below][3])
    assert.equals(Unit.actor(below, 1), found[above][3])
  end)

  it("sends who enters and leaves a trigger", function()
    World.spawn_unit(world, "units/flow/zone", Vector3(0, 0, 3))
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 6))
    play(2)
    assert.equals("enter leave", names())
    for i = 1, 2 do
      assert.equals(crate, record[i][2])
      assert.equals(Unit.actor(crate, 1), record[i][3])
    end
  end)

  it("sends the end of a unit in a trigger, without the unit", function()
    PhysicsWorld.set_gravity(World.physics_world(world), Vector3.zero())
    World.spawn_unit(world, "units/flow/zone", Vector3(0, 0, 3))
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 3))
    play(0.1)
    World.destroy_unit(world, crate)
    play(0.1)
    assert.equals("enter leave", names())
    assert.equals(crate, record[1][2])
    assert.is_nil(record[2][2])
  end)
end)

describe("Flow and animations", function()
  before_each(begin)
  after_each(finish)

  it("sends the events of a state machine by their names", function()
    local dancer = World.spawn_unit(world, "units/flow/dancer")
    play(1.6)
    assert.equals("step step step", names(), "the event 'swing' has no node")
    assert.equals(1, record[1][2])
    Unit.flow_event(dancer, "stop")
    play(0.1)
    assert.equals("rests", record[#record][1])
  end)
end)

describe("Flow and time", function()
  before_each(function()
    begin()
    Input.set_actions({ use = "e" })
  end)
  after_each(function()
    finish()
    Input.set_actions({})
    -- What was pressed in this frame is not pressed in the next test.
    test.frames()
  end)

  it("sends presses and releases of actions", function()
    World.spawn_unit(world, "units/flow/switch")
    test.input({ { press = "e" } })
    test.frames()
    World.update(world, STEP)
    assert.equals("pressed", names())
    test.input({ { release = "e" } })
    test.frames()
    World.update(world, STEP)
    assert.equals("pressed released", names())
    test.frames()
    World.update(world, STEP)
    assert.equals(2, #record)
    test.input({ { tap = "e" } })
    test.frames()
    World.update(world, STEP)
    assert.equals("pressed released pressed released", names(), "a tap within one frame")
  end)

  it("reports an action that does not exist, once", function()
    Input.set_actions({ us = "e" })
    test.expect_error("switch.unit:%d+: node .*no input action 'use', did you mean 'us'%?")
    World.spawn_unit(world, "units/flow/switch")
    World.update(world, STEP)
    World.update(world, STEP)
    assert.equals("", names())
  end)

  it("adds the time of each update", function()
    local switch = World.spawn_unit(world, "units/flow/switch")
    World.update(world, 0.125)
    World.update(world, 0.25)
    assert.equals(0.375, Unit.flow_variable(switch, "seconds"))
  end)

  it("repeats timers, and cancels delays", function()
    local switch = World.spawn_unit(world, "units/flow/switch")
    for _ = 1, 4 do World.update(world, 0.25) end
    assert.equals("tick tick", names())
    Unit.flow_event(switch, "wait")
    Unit.flow_event(switch, "cancel")
    World.update(world, 0.4)
    assert.equals("tick tick", names())
    Unit.flow_event(switch, "wait")
    World.update(world, 0.05)
    World.destroy_unit(world, switch)
    World.update(world, 1)
    assert.equals("destroyed", record[#record][1], "the delay ended with its unit")
  end)

  it("plays timelines forward and back", function()
    local switch = World.spawn_unit(world, "units/flow/switch")
    Unit.flow_event(switch, "open")
    World.update(world, 0.25)
    World.update(world, 0.2)
    assert.equals(45, record[1][2])
    Unit.flow_event(switch, "close")
    for _ = 1, 3 do World.update(world, 0.2) end
    local last = record[#record - 1]
    assert.equals("end", record[#record][1])
    assert.equals(0, last[2])
  end)

  it("lets a unit change the graph that it inherits", function()
    local heir = World.spawn_unit(world, "units/flow/switch_heir")
    assert.equals("yes", Unit.flow_variable(heir, "heir"))
    Unit.flow_event(heir, "wait")
    World.update(world, 0.15)
    assert.equals("waited", names())
    assert.equals("units/flow/switch_heir.unit", Flow.inspect(heir).graph)
    assert.is_true(Unit.has_flow_event(heir, "open"))
    assert.is_false(Unit.has_flow_event(heir, "close"), "the heir has removed this node")
  end)
end)

describe("Flow nodes for units", function()
  local raised

  before_each(function()
    begin()
    raised = {}
    function _G.on_flow_event(_, name, value) raised[#raised + 1] = { name, value } end
  end)

  after_each(function()
    _G.on_flow_event = nil
    finish()
  end)

  it("change the look of one unit alone", function()
    local statue = World.spawn_unit(world, "units/flow/statue")
    local other = World.spawn_unit(world, "units/flow/statue")
    local shared = Mesh.material(Unit.mesh(other, "look"), 1)
    Unit.flow_event(statue, "paint", 0.25)
    assert.equals("", Flow.inspect(statue).error)
    local mesh = Unit.mesh(statue, "look")
    assert.equals(Color(255, 0, 0), Mesh.tint(mesh))
    local own = Mesh.material(mesh, 1)
    assert.not_equals(shared, own)
    assert.equals(shared, Mesh.material(Unit.mesh(other, "look"), 1))
    Unit.flow_event(statue, "paint", 0.5)
    assert.equals(own, Mesh.material(mesh, 1))
    World.destroy_unit(world, statue)
    assert.is_false(Material.alive(own))
    assert.is_true(Material.alive(shared))
    test.expect_error("node rough %(unit.set_material_value%): .*must be a number, a vector or a")
    Unit.flow_event(other, "paint", "red")
  end)

  it("replace a unit with its speed", function()
    local statue = World.spawn_unit(world, "units/flow/statue", Vector3(1, 2, 3))
    Actor.set_velocity(Unit.actor(statue, 1), Vector3(0, 4, 0))
    Unit.flow_event(statue, "smash")
    assert.is_false(Unit.alive(statue))
    local units = World.units(world)
    assert.equals(1, #units)
    assert.is_true(Unit.is_a(units[1], "units/physics/crate"))
    assert.equals(Vector3(1, 2, 3), Unit.world_position(units[1], 1))
    assert.equals(Vector3(0, 4, 0), Actor.velocity(Unit.actor(units[1], 1)))
    assert.same({}, raised, "the graph ended with its unit")
    local one = World.spawn_unit(world, "units/flow/statue")
    local two = World.spawn_unit(world, "units/flow/statue", Vector3(5, 0, 0))
    Unit.flow_event(one, "other", two)
    assert.is_false(Unit.alive(two))
    assert.equals("replaced", raised[1][1])
    assert.is_true(Unit.is_a(raised[1][2], "units/physics/crate"))
  end)
end)

describe("The end of a world", function()
  before_each(begin)
  after_each(finish)

  it("sends the event destroyed to all of its units and levels", function()
    local one = World.spawn_unit(world, "units/flow/switch")
    local two = World.spawn_unit(world, "units/flow/switch")
    World.spawn_level(world, "levels/flow_end")
    Application.release_world(world)
    assert.equals("level destroyed destroyed", names())
    assert.same({ one, two }, { record[2][2], record[3][2] })
    local other = Application.new_world()
    World.update(other, 1)
    assert.equals(3, #record)
    Application.release_world(other)
  end)

  it("sends the event destroyed to a level that is destroyed", function()
    local level = World.spawn_level(world, "levels/flow_end")
    World.destroy_level(world, level)
    assert.equals("level", names())
    Application.release_world(world)
    assert.equals("level", names())
  end)
end)
