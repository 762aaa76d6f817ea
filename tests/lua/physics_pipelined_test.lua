-- Suite of worlds with "pipelined_physics": steps run in parallel with scripts, are visible one
-- update later, and have the same results as without it.

local STEP = 1 / 60

local function world_of(...)
  local world = Application.new_world(...)
  local physics = World.physics_world(world)
  PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
  return world, physics
end

local function pile(physics)
  local boxes = {}
  for i = 1, 40 do
    boxes[i] = PhysicsWorld.spawn_box(physics, Vector3(i % 4 * 0.9, i % 3 * 0.8, 1 + i * 0.6),
      Vector3(0.5, 0.5, 0.5))
  end
  return boxes
end

local function positions(boxes)
  local list = {}
  for i, box in ipairs(boxes) do
    local position, turned = Actor.position(box), Actor.rotation(box)
    list[i] = string.format("%a %a %a %a", position.x, position.y, position.z, turned.w)
  end
  return table.concat(list, "\n")
end

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a world with pipelined physics", function()
  local world, physics

  before_each(function() world, physics = world_of("pipelined_physics") end)
  after_each(function() Application.release_world(world) end)

  it("shows the result of each step one update later", function()
    local plain_world, plain = world_of()
    local boxes, others = pile(physics), pile(plain)
    local before = positions(others)
    for frame = 1, 120 do
      World.update(world, STEP)
      assert.equals(before, positions(boxes), "frame " .. frame)
      World.update(plain_world, STEP)
      before = positions(others)
    end
    Application.release_world(plain_world)
  end)

  it("reports its delay", function()
    local plain_world, plain = world_of()
    assert.equals(0, PhysicsWorld.latency(plain))
    World.update(plain_world, 0.02)
    assert.equals(0, PhysicsWorld.latency(plain))
    World.update(world, 0.02)
    assert.equals(0.02, PhysicsWorld.latency(physics))
    Application.release_world(plain_world)
    assert.matches("must be a PhysicsWorld", error_of(PhysicsWorld.latency, 12))
  end)

  it("applies writes in the next step, and reads them back at once", function()
    PhysicsWorld.set_gravity(physics, Vector3(0, 0, 0))
    local ball = PhysicsWorld.spawn_sphere(physics, Vector3(0, 0, 5), 0.5)
    local positions = {}
    World.update(world, STEP)
    Actor.set_velocity(ball, Vector3(6, 0, 0))
    assert.equals(6, Actor.velocity(ball).x)
    for i = 1, 3 do
      World.update(world, STEP)
      positions[i] = Actor.position(ball).x
    end
    assert.equals(0, positions[1])
    assert.is_true(math.abs(positions[2] - 0.1) < 1e-4 and math.abs(positions[3] - 0.2) < 1e-4)
    Actor.teleport_position(ball, Vector3(0, 9, 5))
    World.update(world, STEP)
    assert.is_true(math.abs(Actor.position(ball).y - 9) < 1e-4)
    PhysicsWorld.destroy_actor(physics, ball)
    World.update(world, STEP)
    assert.equals(1, PhysicsWorld.num_actors(physics))
  end)

  it("answers queries about the visible state, and lists contacts", function()
    local box = PhysicsWorld.spawn_box(physics, Vector3(0, 0, 0.6), Vector3(0.5, 0.5, 0.5))
    local _, position, _, _, actor = PhysicsWorld.raycast(physics, Vector3(0, 0, 9),
      Vector3.down(), 20)
    assert.equals(box, actor)
    assert.is_true(math.abs(position.z - 1.1) < 1e-4)
    local contacts, asked = 0, nil
    for _ = 1, 30 do
      PhysicsWorld.raycast(physics, function(_, where) asked = where end, Vector3(0, 0, 9),
        Vector3.down(), 20)
      World.update(world, STEP)
      contacts = contacts + #PhysicsWorld.contacts(physics)
      assert.is_true(math.abs(asked.z - Actor.position(box).z - 0.5) < 1e-4)
    end
    assert.is_true(contacts > 0)
  end)

  it("continues from a snapshot as it did before", function()
    local boxes = pile(physics)
    for _ = 1, 20 do World.update(world, STEP) end
    local snapshot = PhysicsWorld.snapshot(physics)
    Actor.set_velocity(boxes[7], Vector3(0, 3, 5))
    for _ = 1, 30 do World.update(world, STEP) end
    PhysicsWorld.restore(physics, snapshot)
    local ends = {}
    for round = 1, 2 do
      for _ = 1, 30 do World.update(world, STEP) end
      ends[round] = positions(boxes)
      PhysicsWorld.restore(physics, snapshot)
    end
    assert.equals(ends[1], ends[2])
    PhysicsWorld.drop_snapshot(physics, snapshot)
  end)

  it("lists its flags", function()
    assert.matches("unknown flag 'pipeline_physics', did you mean 'pipelined_physics'?",
      error_of(Application.new_world, "pipeline_physics"), 1, true)
    assert.matches("there are 2d, no_physics, no_rendering, no_sky, no_sound, pipelined_physics",
      error_of(Application.new_world, "quiet"), 1, true)
  end)
end)

describe("bodies in two dimensions", function()
  it("come to rest when tilted or compound", function()
    local world = Application.new_world("2d")
    local physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0), Vector3(0, 1, 0))
    local right, half = Vector3(1, 0, 0), Vector3(0.25, 0.5, 1)
    -- Tilted by a quarter turn, its former depth is its height.
    local lying = PhysicsWorld.spawn_box(physics, Vector3(0, 1.2, 0), half,
      Quaternion(right, math.pi / 2))
    local upright = PhysicsWorld.spawn_box(physics, Vector3(3, 0.7, 0), half)
    local turned = PhysicsWorld.spawn_box(physics, Vector3(6, 0.5, 0), half,
      Quaternion(Vector3(0, 0, 1), math.pi / 2))
    for _ = 1, 240 do World.update(world, STEP) end
    local heights = { 1, 0.5, 0.25 }
    for i, box in ipairs({ lying, upright, turned }) do
      local height = Actor.position(box).y
      assert.is_true(math.abs(height - heights[i]) < 0.02, i .. " is at " .. height)
      assert.is_true(Actor.is_sleeping(box))
    end
    Actor.teleport_pose(upright, Matrix4x4.from_quaternion_position(
      Quaternion(right, math.pi / 2), Vector3(3, 1.2, 0)))
    for _ = 1, 240 do World.update(world, STEP) end
    assert.is_true(math.abs(Actor.position(upright).y - 1) < 0.02)
    Application.release_world(world)
  end)

  it("stand in stable towers", function()
    local world = Application.new_world("2d")
    local physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0), Vector3(0, 1, 0))
    local boxes = {}
    for i = 1, 10 do
      boxes[i] = PhysicsWorld.spawn_box(physics, Vector3(i % 2 * 0.05, i - 0.5, 0),
        Vector3(0.5, 0.5, 0.5))
    end
    for _ = 1, 600 do World.update(world, STEP) end
    assert.is_true(Actor.position(boxes[10]).y > 9.4)
    assert.equals(0, PhysicsWorld.num_awake(physics))
    Application.release_world(world)
  end)
end)
