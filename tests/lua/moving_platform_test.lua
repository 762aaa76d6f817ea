-- Suite of movers on moving bodies: lifts, sliding and turning platforms; bodies that move into
-- movers; and depenetration from overlaps.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(expected, vector, distance)
  local message = tostring(vector) .. " is not near " .. tostring(expected)
  assert.is_true(Vector3.distance(expected, vector) <= (distance or 0.01), message)
end

local STEP = 1 / 60
-- Half of the platform's height, and the gap that a mover keeps below its feet.
local TOP = Vector3(0, 0, 0.25 + 0.01)

describe("a mover on a platform", function()
  local world, platform, walker, mover, fall

  -- Walks with a velocity for a frame, with gravity as in a game.
  local function walk(velocity)
    fall = Mover.standing_frames(mover) > 0 and velocity.z or fall - 9.81 * STEP
    Mover.move(mover, Vector3(velocity.x, velocity.y, fall) * STEP, STEP)
  end

  local function stand()
    Mover.move(mover, Vector3(0, 0, 0), STEP)
  end

  -- Moves the platform from its position for `frames` frames, and the mover by `act`.
  local function ride(frames, velocity, turn, act)
    for _ = 1, frames do
      Unit.set_local_position(platform, 1, Unit.local_position(platform, 1) + velocity * STEP)
      if turn then
        Unit.set_local_rotation(platform, 1,
          Quaternion.multiply(turn, Unit.local_rotation(platform, 1)))
      end
      act()
      World.update(world, STEP)
    end
  end

  local function begin(...)
    world = Application.new_world(...)
    platform = World.spawn_unit(world, "units/physics/platform", Vector3(0, 0, 5))
    walker = World.spawn_unit(world, "units/physics/walker", Vector3(1, 0.5, 5.3))
    mover, fall = Unit.mover(walker), 0
    for _ = 1, 20 do
      walk(Vector3(0, 0, 0))
      World.update(world, STEP)
    end
    assert.equals(Unit.actor(platform, 1), Mover.standing_on(mover))
  end

  before_each(function() begin() end)

  after_each(function() Application.release_world(world) end)

  -- Returns the mover's position relative to the platform.
  local function platform_position()
    return Matrix4x4.transform(Matrix4x4.inverse(Unit.world_pose(platform, 1)),
      Mover.position(mover))
  end

  -- Rides the platform, and checks that the mover keeps its relative position.
  local function stays(velocity, turn)
    for _, act in ipairs({ stand, function() walk(Vector3(0, 0, 0)) end, function() end }) do
      local before = platform_position()
      for _ = 1, 40 do
        ride(1, velocity, turn, act)
        near(before, platform_position(), 0.005)
        assert.equals(0, Mover.flying_frames(mover))
      end
      assert.equals(Unit.actor(platform, 1), Mover.standing_on(mover))
    end
  end

  it("goes up and down with it", function()
    stays(Vector3(0, 0, 2))
    stays(Vector3(0, 0, -2))
    stays(Vector3(0, 0, -8))
    stays(Vector3(0, 0, 0))
  end)

  it("goes with it if it moves after the update and before the picture", function()
    local eye = World.spawn_unit(world, "core/units/camera")
    local camera = Unit.camera(eye, 1)
    for _ = 1, 20 do
      World.update(world, STEP)
      Unit.set_local_position(platform, 1, Unit.local_position(platform, 1) + Vector3(0, 0, 0.04))
      Application.render_world(world, camera)
      test.frames(1)
    end
    World.update(world, STEP)
    near(Unit.local_position(platform, 1), Actor.position(Unit.actor(platform, 1)), 0.001)
    near(Vector3(1, 0.5, 5.8) + TOP, Mover.position(mover), 0.02)
  end)

  it("goes sideways with it", function()
    stays(Vector3(3, -1, 0))
    stays(Vector3(-3, 2, 1))
    local way, turn = Mover.carried(mover)
    near(Vector3(-3, 2, 1) * STEP, way, 1e-4)
    assert.is_true(math.abs(turn.w - 1) < 1e-6)
    near(Vector3(-3, 2, 1), Mover.standing_velocity(mover), 1e-3)
    ride(1, Vector3(0, 0, 0), nil, stand)
    near(Vector3(0, 0, 0), (Mover.carried(mover)), 1e-6)
    near(Vector3(0, 0, 0), Mover.standing_velocity(mover), 1e-3)
  end)

  it("turns with it, and returns the angle", function()
    local turn = Quaternion.axis_angle(Vector3(0, 0, 1), 0.05)
    stays(Vector3(0, 0, 0), turn)
    stays(Vector3(1, 0, 0.5), turn)
    local before = Mover.position(mover)
    ride(1, Vector3(0, 0, 0), turn, stand)
    local way, turned = Mover.carried(mover)
    near(Mover.position(mover) - before, way, 1e-4)
    assert.is_true(math.abs(Quaternion.dot(turned, turn) - 1) < 1e-6)
    local arm = Mover.position(mover) - Unit.local_position(platform, 1)
    near(Vector3.cross(Vector3(0, 0, 3), arm), Mover.standing_velocity(mover), 0.02)
  end)

  it("walks on it as on the ground", function()
    local before = platform_position()
    ride(30, Vector3(0, 5, 0), nil, function() walk(Vector3(-2, 0, 0)) end)
    near(before - Vector3(1, 0, 0), platform_position(), 0.01)
  end)

  it("leaves it with the velocity that it returns", function()
    ride(10, Vector3(4, 0, 2), nil, stand)
    local velocity = Mover.standing_velocity(mover) + Vector3(0, 0, 4)
    near(Vector3(4, 0, 6), velocity, 1e-3)
    ride(20, Vector3(4, 0, 2), nil, function()
      velocity = velocity + Vector3(0, 0, -9.81) * STEP
      Mover.move(mover, velocity * STEP, STEP)
    end)
    assert.is_true(Mover.flying_frames(mover) >= 20)
    near(Vector3(4, 0, 2), Mover.standing_velocity(mover), 1e-3)
    near(Vector3(0, 0, 0), (Mover.carried(mover)), 1e-9)
    local current = platform_position()
    assert.is_true(math.abs(current.x - 1) < 0.01, tostring(current))
    assert.is_true(current.z > 0.8, tostring(current))
  end)

  it("stays behind a platform that falls faster than the step-down distance", function()
    ride(1, Vector3(0, 0, -30), nil, stand)
    near(Vector3(1, 0.5, 5) + TOP, Mover.position(mover))
    ride(1, Vector3(0, 0, -30), nil, function() walk(Vector3(0, 0, 0)) end)
    assert.is_true(Mover.flying_frames(mover) > 0)
    assert.is_nil(Mover.standing_on(mover))
  end)

  it("falls if the platform is destroyed or teleported", function()
    Unit.teleport_local_position(platform, 1, Vector3(50, 0, 5))
    World.update(world, STEP)
    near(Vector3(1, 0.5, 5) + TOP, Mover.position(mover))
    near(Vector3(0, 0, 0), (Mover.carried(mover)), 1e-9)
    Unit.teleport_local_position(platform, 1, Vector3(0, 0, 5))
    ride(2, Vector3(2, 0, 0), nil, stand)
    assert.is_true(Mover.standing_frames(mover) > 0)
    World.destroy_unit(world, platform)
    local at = Mover.position(mover)
    World.update(world, STEP)
    near(at, Mover.position(mover), 1e-6)
    near(Vector3(2, 0, 0), Mover.standing_velocity(mover), 1e-3)
    for _ = 1, 30 do
      walk(Vector3(0, 0, 0))
      World.update(world, STEP)
    end
    assert.is_true(Mover.position(mover).z < 4.5)
    assert.is_nil(Mover.standing_on(mover))
  end)

  it("is caught by a lift from below", function()
    local lift = World.spawn_unit(world, "units/physics/platform", Vector3(20, 0, 0))
    Mover.set_position(mover, Vector3(20, 0, 3))
    for _ = 1, 90 do
      Unit.set_local_position(lift, 1, Unit.local_position(lift, 1) + Vector3(0, 0, 2 * STEP))
      walk(Vector3(0, 0, 0))
      World.update(world, STEP)
    end
    assert.is_true(Mover.standing_frames(mover) > 30)
    near(Unit.local_position(lift, 1) + TOP, Mover.position(mover), 0.002)
  end)

  it("walks on kinematic steps and slopes as on static ones", function()
    local function go(kind)
      local step = World.spawn_unit(world, "core/units/empty", Vector3(23, 0, 0.125))
      Unit.create_actor(step, "step", { type = kind, shape = "box", size = { 2, 4, 0.25 } })
      local slope = World.spawn_unit(world, "core/units/empty", Vector3(28, 0, 0),
        Quaternion.axis_angle(Vector3(0, 1, 0), -math.rad(30)))
      Unit.create_actor(slope, "slope", { type = kind, shape = "box", size = { 6, 8, 0.2 } })
      Mover.set_position(mover, Vector3(20, 0, 0.02))
      local positions, highest = {}, 0
      for i = 1, 300 do
        walk(Vector3(2, 0.1, 0))
        World.update(world, STEP)
        positions[i] = tostring(Mover.position(mover))
        highest = math.max(highest, Mover.position(mover).z)
      end
      World.destroy_unit(world, step)
      World.destroy_unit(world, slope)
      assert.is_true(highest > 0.6, "it climbed to " .. highest)
      return positions
    end
    PhysicsWorld.spawn_plane(World.physics_world(world), Vector3(0, 0, 0))
    assert.same(go("static"), go("kinematic"))
  end)

  it("steps onto static actors, not onto dynamic ones, next to a platform", function()
    local physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
    local function box(kind, position, size)
      local unit = World.spawn_unit(world, "core/units/empty", position)
      return Unit.create_actor(unit, "box", { type = kind, shape = "box", size = size, mass = 500 })
    end
    -- Walks for `frames` frames and returns the greatest height.
    local function highest(from, velocity, frames)
      Mover.set_position(mover, from)
      local most = 0
      for _ = 1, frames do
        walk(velocity)
        World.update(world, STEP)
        most = math.max(most, Mover.position(mover).z)
      end
      return most
    end
    -- A path with a wall on one side that scripts move, and low crates on the other side and ahead.
    box("kinematic", Vector3(40, 0.85, 1), { 40, 0.5, 2 })
    for y = -1, 0 do box("dynamic", Vector3(22.5, y, 0.1), { 1, 1, 0.2 }) end
    -- The last of these slide along the wall, which is the first contact then.
    for _, way in ipairs({ { -0.4, -0.6 }, { 0, 0 }, { 0.1, 0.4 }, { 0.18, 0.4 } }) do
      local most = highest(Vector3(21, way[1], 0.02), Vector3(2, way[2], 0), 90)
      assert.is_true(most < 0.05, "it stepped on a crate, to " .. most .. " from " .. way[1])
    end
    -- A stair with a crate next to it to slide along, and a stair that is entered from a crate.
    box("static", Vector3(32, 0, 0.1), { 2, 4, 0.2 })
    box("dynamic", Vector3(30, -0.86, 0.5), { 1.9, 0.8, 1 })
    local most = highest(Vector3(29.2, 0, 0.02), Vector3(2, -0.3, 0), 120)
    assert.is_true(most > 0.19, "it did not step on the stair, but only to " .. most)
    box("static", Vector3(37, 0, 0.25), { 2, 4, 0.5 })
    local crate = box("dynamic", Vector3(35.4, 0, 0.15), { 1, 1, 0.3 })
    most = highest(Vector3(35.3, 0, 0.32), Vector3(2, 0, 0), 90)
    assert.is_true(most > 0.49, "it did not step off the crate, but only to " .. most)
    assert.is_true(Actor.alive(crate))
  end)

  it("is stopped by walls that the platform passes", function()
    local wall = World.spawn_unit(world, "core/units/empty", Vector3(2.5, 0, 7))
    Unit.create_actor(wall, "wall", { type = "static", shape = "box", size = { 1, 8, 3 } })
    ride(60, Vector3(1, 0, 0), nil, stand)
    -- The wall begins at 2, and the mover has a radius of 0.4.
    near(Vector3(2 - 0.4 - 0.01, 0.5, 5) + TOP, Mover.position(mover), 0.02)
    ride(20, Vector3(-1, 0, 0), nil, stand)
    near(Vector3(2 - 0.41 - 20 / 60, 0.5, 5) + TOP, Mover.position(mover), 0.02)
  end)

  it("is also carried by dynamic actors", function()
    local physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 20, 0), Vector3(0, 0, 1))
    local raft = PhysicsWorld.spawn_box(physics, Vector3(20, 20, 0.5), Vector3(2, 2, 0.5))
    for _ = 1, 10 do World.update(world, STEP) end
    Mover.set_position(mover, Vector3(20, 20, 1.02))
    for _ = 1, 10 do
      walk(Vector3(0, 0, 0))
      World.update(world, STEP)
    end
    assert.equals(raft, Mover.standing_on(mover))
    local apart = Mover.position(mover) - Actor.position(raft)
    for _ = 1, 60 do
      Actor.set_velocity(raft, Vector3(1, 0, 0))
      walk(Vector3(0, 0, 0))
      World.update(world, STEP)
    end
    assert.is_true(Actor.position(raft).x > 20.9)
    near(apart, Mover.position(mover) - Actor.position(raft), 0.02)
  end)

  it("is carried one update later with pipelined physics", function()
    Application.release_world(world)
    begin("pipelined_physics")
    ride(60, Vector3(1, 0, 1), nil, stand)
    ride(2, Vector3(0, 0, 0), nil, stand)
    near(Vector3(1, 0.5, 0) + TOP, platform_position(), 0.01)
  end)

  it("is restored from a snapshot", function()
    local physics = World.physics_world(world)
    ride(10, Vector3(1, 0, 1), nil, stand)
    local kept = PhysicsWorld.snapshot(physics)
    local function on()
      ride(20, Vector3(1, 0, 1), nil, stand)
      return Mover.position(mover)
    end
    local first = on()
    PhysicsWorld.restore(physics, kept)
    assert.equals(first, on())
    PhysicsWorld.drop_snapshot(physics, kept)
  end)

  it("is pushed away by an actor that moves into it", function()
    local wall = World.spawn_unit(world, "core/units/empty", Vector3(-3, 0, 7))
    Unit.create_actor(wall, "wall", { type = "kinematic", shape = "box", size = { 1, 8, 3 } })
    for _, act in ipairs({ stand, function() walk(Vector3(0, 0, 0)) end }) do
      for _ = 1, 60 do
        Unit.set_local_position(wall, 1, Unit.local_position(wall, 1) + Vector3(2 * STEP, 0, 0))
        act()
        World.update(world, STEP)
        local gap = Mover.position(mover).x - Unit.local_position(wall, 1).x - 0.5 - 0.4
        -- A body that moved in the last step pushes the mover in its next move.
        assert.is_true(gap > -2 * STEP - 0.01, "it reaches " .. -gap .. " into the mover")
      end
    end
    assert.is_true(Mover.position(mover).x > 1.3)
    assert.is_true(Mover.position(mover).z > 5.2)
  end)

  it("reports if it is stuck, and the offset out of an overlap", function()
    assert.is_false((Mover.separate(mover)))
    local block = World.spawn_unit(world, "core/units/empty", Vector3(1.6, 0.5, 6.1))
    local actor = Unit.create_actor(block, "block",
      { type = "static", shape = "box", size = { 1, 1, 1 } })
    local overlaps, by, way, position = Mover.separate(mover)
    assert.is_true(overlaps)
    assert.equals(actor, by)
    near(Vector3(-0.31, 0, 0), way, 0.02)
    near(Mover.position(mover) + way, position, 1e-6)
    Mover.set_position(mover, position)
    assert.is_false((Mover.separate(mover)))
    Mover.set_position(mover, position - way)
    overlaps, by, way, position = Mover.separate(mover, 0.1)
    assert.is_true(overlaps)
    assert.equals(actor, by)
    assert.is_true(way.x < 0)
    assert.is_nil(position)
    World.destroy_unit(world, block)
    local low = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 8))
    Unit.create_actor(low, "ceiling", { type = "static", shape = "box", size = { 9, 9, 1 } })
    ride(60, Vector3(0, 0, 1), nil, stand)
    overlaps, _, _, position = Mover.separate(mover, 0.5)
    assert.is_true(overlaps)
    assert.is_nil(position)
  end)

  it("reports invalid arguments", function()
    for _, name in ipairs({ "standing_velocity", "carried", "separate" }) do
      assert.matches("argument #1 'mover': must be a Mover, and the number 12",
        error_of(Mover[name], 12))
    end
    assert.matches("'distance' must not be negative, got %-1", error_of(Mover.separate, mover, -1))
    assert.matches("'distance' must be number", error_of(Mover.separate, mover, "far"))
  end)

  it("is not pushed by actors of its own unit", function()
    local at = Mover.position(mover)
    Unit.set_local_position(walker, 1, at)
    Unit.create_actor(walker, "hit",
      { type = "kinematic", shape = "sphere", radius = 0.6, position = Vector3(0, 0, 0.5) })
    for _ = 1, 30 do
      stand()
      Unit.set_local_position(walker, 1, Mover.position(mover))
      World.update(world, STEP)
    end
    near(at, Mover.position(mover))
    assert.is_false((Mover.separate(mover)))
  end)

  it("is not affected by a snapshot from before its creation", function()
    local physics = World.physics_world(world)
    local snapshot = PhysicsWorld.snapshot(physics)
    local old = walker
    ride(30, Vector3(4, 0, 0), nil, stand)
    World.destroy_unit(world, old)
    walker = World.spawn_unit(world, "units/physics/walker", Vector3(3, 0.5, 5.3))
    mover, fall = Unit.mover(walker), 0
    for _ = 1, 20 do
      walk(Vector3(0, 0, 0))
      World.update(world, STEP)
    end
    local at = Mover.position(mover)
    PhysicsWorld.restore(physics, snapshot)
    World.update(world, STEP)
    assert.is_true(math.abs(Mover.position(mover).x - at.x) < 0.01)
  end)

  it("is carried the same in every run", function()
    local function run()
      Application.release_world(world)
      begin()
      local turn = Quaternion.axis_angle(Vector3(0, 0, 1), 0.03)
      ride(200, Vector3(0.5, 0.1, 0.2), turn, function() walk(Vector3(0.2, 0, 0)) end)
      local at = Mover.position(mover)
      return string.format("%a %a %a", at.x, at.y, at.z)
    end
    assert.equals(run(), run())
  end)
end)
