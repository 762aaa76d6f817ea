-- Suite of friction and restitution of live actors, and of unit state that snapshots restore.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local STEP = 1 / 60

describe("the material of an actor", function()
  local world, physics, box

  local function play(frames)
    for _ = 1, frames do World.update(world, STEP) end
  end

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
    box = PhysicsWorld.spawn_box(physics, Vector3(0, 0, 0.5), Vector3(0.5, 0.5, 0.5))
  end)

  after_each(function() Application.release_world(world) end)

  it("is changed while it slides", function()
    play(60)
    assert.equals(0.5, Actor.friction(box))
    local function slide(friction)
      Actor.set_friction(box, friction)
      assert.is_true(math.abs(Actor.friction(box) - friction) < 1e-6)
      Actor.set_velocity(box, Vector3(3, 0, 0))
      local from = Actor.position(box).x
      play(60)
      return Actor.position(box).x - from
    end
    local rough, smooth = slide(1), slide(0)
    assert.is_true(rough < 1.2, "rough: " .. rough)
    -- The ground keeps its friction of one half.
    assert.is_true(smooth > rough + 0.3, "smooth: " .. smooth)
  end)

  it("is defined in the game's properties", function()
    assert.is_nil(Actor.material(box))
    Actor.set_material(box, "rubber")
    assert.equals("rubber", Actor.material(box))
    assert.equals(1, Actor.friction(box))
    assert.is_true(math.abs(Actor.restitution(box) - 0.9) < 1e-6)
    Actor.set_restitution(box, 0.25)
    assert.equals(0.25, Actor.restitution(box))
    Actor.teleport_position(box, Vector3(0, 0, 3))
    Actor.set_restitution(box, 1)
    play(50)
    assert.is_true(Actor.velocity(box).z > 1, "it bounces")
  end)

  it("refuses invalid arguments", function()
    assert.matches("argument #2 'friction' must be 0 to 1000, got 1001",
      error_of(Actor.set_friction, box, 1001))
    assert.matches("'restitution' must be 0 to 1, got 2: more would make it faster",
      error_of(Actor.set_restitution, box, 2))
    assert.matches("there is no physics material 'ruber', did you mean 'rubber'",
      error_of(Actor.set_material, box, "ruber"))
    for _, name in ipairs({ "friction", "restitution", "material" }) do
      assert.matches("must be an? Actor", error_of(Actor[name], world))
    end
    for _, name in ipairs({ "set_friction", "set_restitution", "set_material" }) do
      assert.matches("must be an? Actor", error_of(Actor[name], world, "1"))
    end
  end)
end)

describe("a snapshot", function()
  it("restores the material of an actor, with its name", function()
    for _, flag in ipairs({ "none", "pipelined_physics" }) do
      local world = flag == "none" and Application.new_world() or Application.new_world(flag)
      local physics = World.physics_world(world)
      local box = PhysicsWorld.spawn_box(physics, Vector3(0, 0, 0.5), Vector3(0.5, 0.5, 0.5))
      local bare = PhysicsWorld.spawn_box(physics, Vector3(3, 0, 0.5), Vector3(0.5, 0.5, 0.5))
      Actor.set_material(box, "rubber")
      World.update(world, STEP)
      local kept = PhysicsWorld.snapshot(physics)
      Actor.set_material(box, "stone")
      Actor.set_material(bare, "stone")
      World.update(world, STEP)
      assert.equals("stone", Actor.material(box))
      PhysicsWorld.restore(physics, kept)
      assert.equals("rubber", Actor.material(box))
      assert.equals(1, Actor.friction(box))
      assert.is_nil(Actor.material(bare))
      assert.equals(0.5, Actor.friction(bare))
      Application.release_world(world)
    end
  end)

  it("restores the nodes of kinematic actors", function()
    local world = Application.new_world()
    local physics = World.physics_world(world)
    local unit = World.spawn_unit(world, "core/units/empty", Vector3(1, 0, 0))
    local lift = Unit.create_actor(unit, "lift", { type = "kinematic", shape = "box",
      size = { 1, 1, 1 } })
    World.update(world, STEP)
    local kept = PhysicsWorld.snapshot(physics)
    for i = 1, 10 do
      Unit.set_local_position(unit, 1, Vector3(1, 0, i * 0.1))
      World.update(world, STEP)
    end
    assert.is_true(Actor.position(lift).z > 0.8)
    PhysicsWorld.restore(physics, kept)
    assert.equals(Vector3(1, 0, 0), Unit.world_position(unit, 1))
    assert.equals(Vector3(1, 0, 0), Actor.position(lift))
    World.update(world, STEP)
    assert.equals(Vector3(1, 0, 0), Actor.position(lift))
    PhysicsWorld.drop_snapshot(physics, kept)
    Application.release_world(world)
  end)
end)
