-- Suite of units whose physics is disabled and enabled again, and of movers in unit files.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(expected, vector, distance)
  local message = tostring(vector) .. " is not near " .. tostring(expected)
  assert.is_true(Vector3.distance(expected, vector) <= (distance or 0.02), message)
end

local STEP = 1 / 60

describe("a unit with disabled physics", function()
  local world, physics

  local function play(frames)
    for _ = 1, frames do World.update(world, STEP) end
  end

  local function above(x, y)
    return PhysicsWorld.raycast(physics, Vector3(x, y, 50), Vector3.down(), 100, "any", "types",
      "dynamics")
  end

  local function begin(...)
    world = Application.new_world(...)
    physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
  end

  before_each(function() begin() end)
  after_each(function() Application.release_world(world) end)

  it("is neither simulated nor found, and continues at its new position", function()
    for _, flag in ipairs({ "none", "pipelined_physics" }) do
      if flag ~= "none" then
        Application.release_world(world)
        begin(flag)
      end
      local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 5))
      play(5)
      Unit.disable_physics(crate)
      assert.is_false(above(0, 0))
      local at = Unit.world_position(crate)
      play(30)
      near(at, Unit.world_position(crate), 0.05)
      assert.is_false(above(0, 0))
      Unit.set_local_position(crate, 1, Vector3(3, 0, 4))
      play(2)
      assert.is_false(above(3, 0))
      Unit.disable_physics(crate)
      Unit.enable_physics(crate)
      assert.is_true(above(3, 0))
      Unit.enable_physics(crate)
      play(120)
      near(Vector3(3, 0, 0.5), Unit.world_position(crate), 0.05)
      assert.is_true(above(3, 0))
    end
  end)

  it("supports nothing, and leaves triggers", function()
    local floor = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 3))
    Unit.create_actor(floor, "shelf", { type = "static", shape = "box", size = { 4, 4, 0.2 } })
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 3.7))
    local zone = World.spawn_unit(world, "units/physics/zone", Vector3(0, 0, 3.6))
    local events = {}
    local function watch(frames)
      for _ = 1, frames do
        World.update(world, STEP)
        for _, touch in ipairs(PhysicsWorld.triggers(physics)) do
          if touch.unit == crate and touch.trigger_unit == zone then
            events[#events + 1] = touch.event
          end
        end
      end
    end
    watch(30)
    assert.same({ "enter" }, events)
    assert.is_true(Unit.world_position(crate).z > 3.4)
    Unit.disable_physics(crate)
    watch(3)
    assert.same({ "enter", "leave" }, events)
    Unit.enable_physics(crate)
    watch(3)
    assert.same({ "enter", "leave", "enter" }, events)
    Unit.disable_physics(floor)
    watch(60)
    assert.is_true(Unit.world_position(crate).z < 0.6, tostring(Unit.world_position(crate)))
  end)

  it("also disables its mover", function()
    local walker = World.spawn_unit(world, "units/physics/walker", Vector3(0, 0, 0.02))
    play(1)
    assert.is_true(above(0, 0))
    Unit.disable_physics(walker)
    assert.is_false(above(0, 0))
    local mover = Unit.mover(walker)
    for _ = 1, 30 do
      Mover.move(mover, Vector3(0.1, 0, 0), STEP)
      play(1)
    end
    Unit.enable_physics(walker)
    near(Vector3(3, 0, 0), Mover.position(mover), 0.05)
    assert.is_true(above(3, 0))
    assert.is_false(above(0, 0))
  end)

  it("stays disabled whatever is called or created meanwhile", function()
    for _, flag in ipairs({ "none", "pipelined_physics" }) do
      if flag ~= "none" then
        Application.release_world(world)
        begin(flag)
      end
      local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 0.5))
      local walker = World.spawn_unit(world, "units/physics/walker", Vector3(3, 0, 0.02))
      local empty = World.spawn_unit(world, "core/units/empty", Vector3(6, 0, 0.5))
      local function check(expected, case)
        for x = 0, 6, 3 do
          assert.equals(expected, (above(x, 0)), case .. " at " .. x .. ", " .. flag)
        end
      end
      for _, unit in ipairs({ crate, walker, empty }) do Unit.disable_physics(unit) end
      local body = Unit.actor(crate, "body")
      Actor.set_collision_filter(body, "ghost")
      Actor.set_collision_filter(body, "crate")
      Actor.set_scene_query_enabled(body, false)
      Actor.set_scene_query_enabled(body, true)
      Actor.set_collision_enabled(body, false)
      Actor.set_collision_enabled(body, true)
      Unit.destroy_actor(crate, "body")
      Unit.create_actor(crate, "body")
      Mover.set_collision_filter(Unit.mover(walker), "crate")
      Unit.set_mover(walker, "crouching")
      Unit.create_actor(empty, "box", { type = "dynamic", shape = "box", size = { 1, 1, 1 } })
      check(false, "before a step")
      play(5)
      check(false, "after steps")
      near(Vector3(6, 0, 0.5), Unit.world_position(empty), 1e-6)
      Actor.set_scene_query_enabled(Unit.actor(empty, 1), false)
      for _, unit in ipairs({ crate, walker, empty }) do Unit.enable_physics(unit) end
      assert.is_true(above(0, 0))
      assert.is_true(above(3, 0))
      assert.is_false((above(6, 0)), "as was asked for meanwhile")
      Actor.set_scene_query_enabled(Unit.actor(empty, 1), true)
      play(5)
      check(true, "when it is back")
    end
  end)

  it("is connected by joints only while both actors are enabled", function()
    for _, flag in ipairs({ "none", "pipelined_physics" }) do
      if flag ~= "none" then
        Application.release_world(world)
        begin(flag)
      end
      local one = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 0.5))
      local other = World.spawn_unit(world, "units/physics/crate", Vector3(1.2, 0, 0.5))
      local first, second = Unit.actor(one, "body"), Unit.actor(other, "body")
      local before = PhysicsWorld.create_joint(physics, "fixed", first, second)
      play(2)
      Unit.disable_physics(one)
      Unit.disable_physics(other)
      local meanwhile = PhysicsWorld.create_joint(physics, "fixed", first, second)
      play(3)
      Unit.enable_physics(other)
      Actor.set_velocity(second, Vector3(0, 3, 0))
      play(30)
      assert.is_true(Actor.position(second).y > 0.3, tostring(Actor.position(second)))
      Unit.enable_physics(one)
      local apart = Actor.position(second) - Actor.position(first)
      Actor.set_velocity(second, Vector3(0, 3, 0))
      play(30)
      assert.is_true(Joint.alive(before) and Joint.alive(meanwhile))
      assert.is_true(Vector3.distance(apart, Actor.position(second) - Actor.position(first)) > 0.2,
        "the joints pull them together again")
    end
  end)

  it("is restored by a snapshot together with later changes", function()
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 0.5))
    local walker = World.spawn_unit(world, "units/physics/walker", Vector3(3, 0, 0.02))
    local empty = World.spawn_unit(world, "core/units/empty", Vector3(6, 0, 0.5))
    play(5)
    local on = PhysicsWorld.snapshot(physics)
    Unit.disable_physics(crate)
    Unit.disable_physics(walker)
    -- This unit had no physics at the time of the first snapshot.
    Unit.disable_physics(empty)
    local off = PhysicsWorld.snapshot(physics)
    Unit.create_actor(crate, "more", { type = "kinematic", shape = "box", size = { 1, 1, 1 } })
    Unit.create_actor(empty, "box", { type = "kinematic", shape = "box", size = { 1, 1, 1 } })
    Unit.set_mover(walker, "crouching")
    Unit.disable_physics(World.spawn_unit(world, "units/physics/crate", Vector3(9, 0, 0.5)))
    assert.is_false((above(6, 0)))
    PhysicsWorld.restore(physics, on)
    assert.is_true(above(0, 0))
    assert.is_true(above(3, 0))
    assert.is_true(above(6, 0))
    assert.is_false((above(9, 0)), "what came since is as it was")
    Unit.destroy_actor(crate, "body")
    assert.is_true(above(0, 0), "what came since is in the simulation again")
    Actor.set_collision_filter(Unit.actor(crate, "more"), "crate")
    assert.is_true(above(0, 0))
    PhysicsWorld.restore(physics, off)
    assert.is_false((above(0, 0)))
    assert.is_false((above(3, 0)))
    assert.is_false((above(6, 0)))
    Actor.set_scene_query_enabled(Unit.actor(crate, "more"), true)
    play(2)
    assert.is_false((above(0, 0)))
    Unit.enable_physics(crate)
    Unit.enable_physics(walker)
    play(2)
    assert.is_true(above(0, 0))
    assert.is_true(above(3, 0))
  end)

  it("lists the movers of its file", function()
    local walker = World.spawn_unit(world, "units/physics/walker")
    assert.equals(2, Unit.num_movers(walker))
    assert.equals(1, Unit.find_mover(walker, "standing"))
    assert.equals(2, Unit.find_mover(walker, "crouching"))
    assert.is_nil(Unit.find_mover(walker, "lying"))
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 5))
    assert.equals(0, Unit.num_movers(crate))
    assert.is_nil(Unit.find_mover(World.spawn_unit(world, "core/units/empty"), "standing"))
  end)

  it("reports invalid arguments", function()
    for _, name in ipairs({ "disable_physics", "enable_physics", "num_movers", "find_mover" }) do
      assert.matches("argument #1 'unit': must be a Unit, and the number 12",
        error_of(Unit[name], 12, name == "find_mover" and "x" or nil))
    end
    local empty = World.spawn_unit(world, "core/units/empty")
    Unit.enable_physics(empty)
    Unit.disable_physics(empty)
    Unit.enable_physics(empty)
    local other = Application.new_world("no_physics")
    Unit.disable_physics(World.spawn_unit(other, "units/physics/crate"))
    Application.release_world(other)
    assert.matches("'name' must be string", error_of(Unit.find_mover, empty, 1))
  end)
end)
