-- Suite of actors: actors from unit files, queries, forces and motion, and the synchronization of
-- nodes and bodies. Queries of worlds and contacts are in physics_world_test.lua.

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

describe("an actor", function()
  local world, physics, floor, crate, body

  local function play(frames)
    for _ = 1, frames do World.update(world, STEP) end
  end

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
    floor = World.spawn_unit(world, "units/physics/floor")
    crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 4))
    body = Unit.actor(crate, "body")
  end)

  after_each(function() Application.release_world(world) end)

  it("falls with its unit until it rests", function()
    play(30)
    assert.is_true(Actor.velocity(body).z < -3)
    near(Actor.position(body), Unit.world_position(crate), 1e-4)
    play(200)
    near(Vector3(0, 0, 0.5), Unit.local_position(crate))
    near(Vector3(0, 0, 1.5), Unit.world_position(crate, Unit.node(crate, "lid")))
    assert.is_true(Actor.is_sleeping(body))
    assert.equals(0, PhysicsWorld.num_awake(physics))
    Actor.wake_up(body)
    assert.is_false(Actor.is_sleeping(body))
  end)

  it("is found by name and by index", function()
    assert.equals(2, Unit.num_actors(crate))
    assert.equals(body, Unit.actor(crate, 1))
    assert.equals(2, Unit.find_actor(crate, "lid"))
    assert.is_nil(Unit.find_actor(crate, "wheel"))
    assert.equals(crate, Actor.unit(body))
    assert.equals(1, Actor.node(body))
    assert.equals(Unit.node(crate, "lid"), Actor.node(Unit.actor(crate, "lid")))
    assert.equals("body", Actor.debug_name(body))
    assert.is_true(Actor.alive(body))
    assert.equals(3, PhysicsWorld.num_actors(physics))
  end)

  it("returns its properties", function()
    local lid = Unit.actor(crate, "lid")
    local ground = Unit.actor(floor, 1)
    assert.same({ true, false, false, false, true }, { Actor.is_dynamic(body),
      Actor.is_kinematic(body), Actor.is_static(body), Actor.is_trigger(body),
      Actor.is_physical(body) })
    assert.same({ true, false, false }, { Actor.is_trigger(lid), Actor.is_physical(lid),
      Actor.is_kinematic(lid) })
    assert.is_true(Actor.is_static(ground))
    assert.equals(0, Actor.mass(ground))
    assert.equals(10, Actor.mass(body))
    local heavy = World.spawn_unit(world, "units/physics/heavy_crate", Vector3(5, 0, 4))
    assert.equals(40, Actor.mass(Unit.actor(heavy, "body")))
    Actor.set_mass(body, 25)
    assert.equals(25, Actor.mass(body))
    near(Vector3(0, 0, 4), Actor.center_of_mass(body), 1e-5)
    near(Vector3(0, 0, 4), Matrix4x4.translation(Actor.pose(body)), 1e-5)
    assert.equals(Quaternion.identity(), Actor.rotation(body))
  end)

  it("is moved by impulses, forces and velocities", function()
    PhysicsWorld.set_gravity(physics, Vector3(0, 0, 0))
    Actor.add_impulse(body, Vector3(20, 0, 0))
    near(Vector3(2, 0, 0), Actor.velocity(body), 1e-5)
    Actor.add_velocity(body, Vector3(0, 1, 0))
    near(Vector3(2, 1, 0), Actor.velocity(body), 1e-5)
    Actor.set_velocity(body, Vector3(0, 0, 3))
    near(Vector3(0, 0, 3), Actor.velocity(body), 1e-5)
    Actor.set_velocity(body, Vector3.zero())
    Actor.push(body, Vector3(5, 0, 0), 4)
    near(Vector3(2, 0, 0), Actor.velocity(body), 1e-5)
    World.update(world, STEP)
    Actor.set_velocity(body, Vector3.zero())
    for _ = 1, 60 do
      Actor.add_force(body, Vector3(0, 30, 0))
      World.update(world, STEP)
    end
    near(Vector3(0, 3, 0), Actor.velocity(body), 0.2)
    Actor.set_velocity(body, Vector3.zero())
    local edge = Actor.position(body) + Vector3(0.5, 0, 0)
    Actor.add_impulse_at(body, Vector3(0, 0, 5), edge)
    assert.is_true(Actor.angular_velocity(body).y < -0.1)
    assert.is_true(Actor.point_velocity(body, edge).z > Actor.velocity(body).z)
    Actor.set_angular_velocity(body, Vector3(0, 0, 2))
    near(Vector3(0, 0, 2), Actor.angular_velocity(body), 1e-5)
    Actor.add_angular_velocity(body, Vector3(0, 0, 1))
    near(Vector3(0, 0, 3), Actor.angular_velocity(body), 1e-5)
    Actor.set_angular_velocity(body, Vector3.zero())
    Actor.add_torque_impulse(body, Vector3(1, 0, 0))
    assert.is_true(Actor.angular_velocity(body).x > 0.1)
    Actor.set_angular_velocity(body, Vector3.zero())
    Actor.add_velocity_at(body, Vector3(0, 0, 1), edge)
    Actor.push_at(body, Vector3(0, 0, 1), 1, edge)
    assert.is_true(Actor.angular_velocity(body).y < -0.1)
  end)

  it("is slowed down by damping", function()
    Actor.set_linear_damping(body, 2)
    Actor.set_angular_damping(body, 3)
    assert.equals(2, Actor.linear_damping(body))
    assert.equals(3, Actor.angular_damping(body))
    PhysicsWorld.set_gravity(physics, Vector3.zero())
    Actor.set_velocity(body, Vector3(8, 0, 0))
    play(60)
    assert.is_true(Actor.velocity(body).x < 2)
  end)

  it("is moved by its own pose and by its unit's pose", function()
    Actor.teleport_position(body, Vector3(3, 3, 3))
    near(Vector3(3, 3, 3), Unit.world_position(crate), 1e-5)
    local quarter = Quaternion(Vector3.up(), math.pi / 2)
    Actor.teleport_rotation(body, quarter)
    assert.is_true(Quaternion.almost_equal(quarter, Unit.local_rotation(crate), 1e-5))
    Actor.teleport_pose(body, Matrix4x4.from_translation(Vector3(1, 1, 9)))
    near(Vector3(1, 1, 9), Actor.position(body), 1e-5)
    Unit.set_local_position(crate, 1, Vector3(-4, 0, 6))
    World.update(world, STEP)
    near(Vector3(-4, 0, 6), Actor.position(body), 0.01)
    local down = { PhysicsWorld.raycast(physics, Vector3(-4, 0, 9), Vector3.down()) }
    assert.equals(body, down[5])
  end)

  it("follows its node instead of falling if it is kinematic", function()
    Actor.set_kinematic(body, true)
    play(10)
    assert.is_true(Actor.is_kinematic(body))
    near(Vector3(0, 0, 4), Actor.position(body), 1e-4)
    Unit.set_local_position(crate, 1, Vector3(0, 0, 5))
    play(2)
    near(Vector3(0, 0, 5), Actor.position(body), 1e-4)
    Actor.set_kinematic(body, false)
    play(20)
    assert.is_true(Actor.position(body).z < 5)
  end)

  it("rides on a platform that scripts move", function()
    local platform = World.spawn_unit(world, "units/physics/platform", Vector3(0, 0, 1.5))
    play(120)
    local z = Actor.position(body).z
    for i = 1, 60 do
      Unit.set_local_position(platform, 1, Vector3(0, 0, 1.5 + i / 60))
      World.update(world, STEP)
    end
    assert.is_true(Actor.position(body).z > z + 0.9)
  end)

  it("is teleported with its unit and pushes nothing along the path", function()
    local platform = World.spawn_unit(world, "units/physics/platform", Vector3(-5, 0, 4))
    local plate = Unit.actor(platform, 1)
    Actor.set_gravity_enabled(body, false)
    Unit.teleport_local_position(platform, 1, Vector3(5, 0, 4))
    near(Vector3(5, 0, 4), Actor.position(plate), 1e-5)
    play(2)
    near(Vector3(0, 0, 4), Actor.position(body), 1e-4)
    local quarter = Quaternion(Vector3.up(), math.pi / 2)
    Unit.teleport_local_rotation(platform, nil, quarter)
    assert.is_true(Quaternion.almost_equal(quarter, Actor.rotation(plate), 1e-4))
    Unit.teleport_local_pose(platform, 1, Matrix4x4.from_translation(Vector3(9, 0, 4)))
    near(Vector3(9, 0, 4), Actor.position(plate), 1e-5)
    assert.matches("'position' must be Vector3",
      error_of(Unit.teleport_local_position, platform, 1, 3))
    assert.matches("must have length 1", error_of(Unit.teleport_local_rotation, platform, 1,
      Quaternion.from_elements(0, 0, 0, 2)))
    assert.matches("'pose' must be Matrix4x4", error_of(Unit.teleport_local_pose, platform, 1, 3))
  end)

  it("can be put to sleep, and floats without gravity", function()
    Actor.set_gravity_enabled(body, false)
    assert.is_false(Actor.is_gravity_enabled(body))
    play(10)
    near(Vector3(0, 0, 4), Actor.position(body), 1e-4)
    Actor.set_gravity_enabled(body, true)
    assert.is_true(Actor.is_gravity_enabled(body))
    Actor.put_to_sleep(body)
    play(10)
    assert.is_true(Actor.is_sleeping(body))
    near(Vector3(0, 0, 4), Actor.position(body), 1e-4)
  end)

  it("has no collisions if they are disabled, and can be hidden from queries", function()
    Actor.set_collision_enabled(body, false)
    assert.is_false(Actor.is_collision_enabled(body))
    Actor.set_scene_query_enabled(body, false)
    assert.is_false(Actor.is_scene_query_enabled(body))
    assert.is_false(PhysicsWorld.raycast(physics, Vector3(0, 0, 6), Vector3.down(), 2.5))
    Actor.set_scene_query_enabled(body, true)
    assert.is_true((PhysicsWorld.raycast(physics, Vector3(0, 0, 6), Vector3.down(), 2.5)))
    play(90)
    assert.is_true(Actor.position(body).z < -1)
    Actor.teleport_position(body, Vector3(0, 0, 4))
    Actor.set_collision_enabled(body, true)
    Actor.set_collision_filter(body, "ghost")
    play(180)
    assert.is_true(Actor.position(body).z < -1)
  end)

  it("lists the actors that it touches", function()
    play(200)
    local ground = Unit.actor(floor, 1)
    assert.same({ ground }, Actor.touching(body))
    assert.same({}, Actor.touching(Unit.actor(crate, "lid")))
  end)

  it("is destroyed and created again", function()
    Unit.destroy_actor(crate, "body")
    assert.is_false(Actor.alive(body))
    assert.is_nil(Unit.actor(crate, 1))
    assert.matches("actor \"body\" was destroyed in frame %d+ at physics_actor_test.lua:%d+",
      error_of(Actor.position, body))
    assert.matches("the actor body does not exist", error_of(Unit.destroy_actor, crate, "body"))
    local again = Unit.create_actor(crate, "body")
    assert.equals(again, Unit.actor(crate, 1))
    assert.matches("the actor 'body' already exists", error_of(Unit.create_actor, crate, 1))
    Unit.destroy_actor(crate, 2)
    assert.is_true(Actor.alive(Unit.create_actor(crate, 2)))
  end)

  it("is created by scripts as by a file", function()
    local unit = World.spawn_unit(world, "core/units/empty", Vector3(9, 0, 5))
    local ball = Unit.create_actor(unit, "ball", { type = "dynamic", shape = "sphere", radius = 1,
      material = "rubber", position = Vector3(0, 0, 0.5) })
    near(Vector3(9, 0, 5), Actor.position(ball), 1e-5)
    near(Vector3(9, 0, 5.5), Actor.center_of_mass(ball), 1e-4)
    assert.equals(ball, Unit.actor(unit, "ball"))
    assert.matches("actor 'cube' has the unknown field 'shpae', did you mean 'shape'%?",
      error_of(Unit.create_actor, unit, "cube", { type = "dynamic", shpae = "box" }))
    assert.matches("the unit has an actor 'ball' already",
      error_of(Unit.create_actor, unit, "ball", { type = "static", shape = "plane" }))
    assert.matches("argument #3 'fields' must be table or nil",
      error_of(Unit.create_actor, unit, "x", 3))
    play(300)
    assert.is_true(Actor.position(ball).z < 1)
    World.destroy_unit(world, unit)
    assert.is_false(Actor.alive(ball))
  end)

  it("has every shape", function()
    local unit = World.spawn_unit(world, "units/physics/shapes", Vector3(100, 0, 0))
    assert.equals(7, Unit.num_actors(unit))
    for i = 1, 7 do assert.is_true(Actor.alive(Unit.actor(unit, i))) end
    play(240)
    assert.is_true(Actor.position(Unit.actor(unit, "ball")).x > 99)
    local lines = World.create_line_object(world)
    for i = 1, 7 do Actor.debug_draw(Unit.actor(unit, i), lines, Color(255, 0, 0)) end
    PhysicsWorld.set_debug_draw(physics, true)
    World.update(world, STEP)
    PhysicsWorld.set_debug_draw(physics, false)
  end)

  it("is defined by a model's nodes, with the shape of a mesh", function()
    local unit = World.spawn_unit(world, "units/physics/wedges", Vector3(30, 0, 0))
    assert.equals(2, Unit.num_actors(unit))
    local ramp, block = Unit.actor(unit, "ramp"), Unit.actor(unit, "block")
    assert.is_true(Actor.is_static(ramp))
    assert.is_true(Actor.is_dynamic(block))
    assert.equals(12, Actor.mass(block))
    local _, position, _, normal = PhysicsWorld.raycast(physics, Vector3(30, 0, 3), Vector3.down())
    near(Vector3(30, 0, 0.5), position, 1e-3)
    assert.is_true(normal.x > 0.4 and normal.z > 0.8)
    play(120)
    assert.is_true(Actor.position(block).z < 2)
    near(Actor.position(block), Unit.world_position(unit, Unit.node(unit, "block")), 1e-3)
    local cube = World.spawn_unit(world, "core/units/empty", Vector3(-10, 0, 3))
    local actor = Unit.create_actor(cube, "cube", { type = "dynamic", shape = "convex",
      mesh = "core/models/cube", mass = 5 })
    play(120)
    near(Vector3(-10, 0, 0.5), Actor.position(actor), 0.05)
    assert.matches("core/models/cubee", error_of(Unit.create_actor, cube, "other",
      { type = "static", shape = "mesh", mesh = "core/models/cubee" }))
  end)

  it("is scaled by its node, whose scale must not be 0", function()
    local unit = World.spawn_unit(world, "core/units/empty", Vector3(20, 0, 3))
    Unit.set_local_scale(unit, 1, Vector3(2, 2, 2))
    Unit.create_actor(unit, "box", { type = "static", shape = "box", size = { 1, 1, 1 } })
    local hit, position = PhysicsWorld.raycast(physics, Vector3(20, 0, 9), Vector3.down())
    assert.is_true(hit)
    near(Vector3(20, 0, 4), position, 1e-4)
    for _, scale in ipairs({ Vector3(1, 0, 1), Vector3(-1, 1, 1) }) do
      Unit.set_local_scale(unit, 1, scale)
      assert.matches("unit \"core/units/empty\", actor 'flat': its node 'root' has the scale .* "
        .. "and an actor needs more than 0", error_of(Unit.create_actor, unit, "flat",
        { type = "static", shape = "box", size = { 1, 1, 1 } }))
    end
    Unit.set_local_scale(unit, 1, Vector3(1, 2, 1))
    assert.matches("a round shape must be scaled by the same number",
      error_of(Unit.create_actor, unit, "round", { type = "static", shape = "sphere", radius = 1 }))
  end)

  it("keeps its position on a linked unit", function()
    local carrier = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 10))
    local zone = World.spawn_unit(world, "units/physics/zone", Vector3(1, 0, 0))
    World.link_unit(world, zone, carrier)
    Unit.set_local_position(carrier, 1, Vector3(5, 5, 5))
    play(2)
    near(Vector3(6, 5, 5), Actor.position(Unit.actor(zone, 1)), 1e-4)
  end)

  it("is listed by Unit.inspect", function()
    local text = Unit.inspect(crate)
    assert.matches('actor 1 "body" dynamic on node 1 at Vector3%(.*%), 10 kg', text)
    assert.matches('actor 2 "lid" trigger on node 2', text)
    Unit.destroy_actor(crate, 2)
    assert.matches("actor 2 ended", Unit.inspect(crate))
  end)

  it("does not exist in a world without physics", function()
    local other = Application.new_world("no_physics")
    local unit = World.spawn_unit(other, "units/physics/crate")
    assert.is_nil(Unit.actor(unit, "body"))
    assert.equals(0, Unit.num_actors(unit))
    assert.matches("made with the flag \"no_physics\"", error_of(World.physics_world, other))
    World.update(other, 1)
    Application.release_world(other)
    assert.matches("unknown flag 'no_phsics', did you mean 'no_physics'%?",
      error_of(Application.new_world, "no_phsics"))
  end)
end)

describe("invalid use of actors", function()
  local world, unit, actor

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 2))
    actor = Unit.actor(unit, 1)
  end)

  after_each(function() Application.release_world(world) end)

  it("reports other handles", function()
    for name, fn in pairs(Actor) do
      if name ~= "alive" then
        assert.matches("Actor." .. name .. ": argument #1 'actor': must be an Actor, and the "
          .. "number 12 never was one", error_of(fn, 12))
      end
    end
    assert.is_false(Actor.alive(12))
    assert.matches("must be number", error_of(Actor.alive, "x"))
    for _, name in ipairs({ "actor", "find_actor", "create_actor", "destroy_actor", "set_mover",
      "joint" }) do
      assert.matches("must be a Unit, and the number 12", error_of(Unit[name], 12, "x"))
    end
    for _, name in ipairs({ "num_actors", "mover" }) do
      assert.matches("must be a Unit, and the number 12", error_of(Unit[name], 12))
    end
    assert.matches("must be a Unit, and the number 12",
      error_of(Unit.mover_fits_at, 12, "x", Vector3()))
  end)

  it("suggests a name and lists the indices", function()
    assert.equals("Unit.actor: argument #2 'actor': unit \"units/physics/crate\" has no actor "
      .. "'bdy', did you mean 'body'?", error_of(Unit.actor, unit, "bdy"))
    assert.matches("has the actors 1 to 2, got 3", error_of(Unit.actor, unit, 3))
    assert.matches("there is no collision filter 'crates', did you mean 'crate'%?",
      error_of(Actor.set_collision_filter, actor, "crates"))
  end)

  it("refuses invalid numbers", function()
    local nan = Vector3(0 / 0, 0, 0)
    for _, name in ipairs({ "set_velocity", "add_impulse", "add_force", "add_velocity",
      "set_angular_velocity", "add_torque_impulse", "add_angular_velocity", "teleport_position" })
    do
      assert.matches("must be finite", error_of(Actor[name], actor, nan))
      assert.matches("must be finite", error_of(Actor[name], actor, Vector3(1 / 0, 0, 0)))
      assert.matches("1 ?[e0]", error_of(Actor[name], actor, Vector3(1e30, 0, 0)))
    end
    assert.matches("faster than 100000 a second %(SPEED_MAX%)",
      error_of(Actor.set_velocity, actor, Vector3(2e5, 0, 0)))
    assert.matches("farther than 10000000 metres from the origin %(POSITION_MAX%)",
      error_of(Actor.teleport_position, actor, Vector3(1e8, 0, 0)))
    assert.matches("must have length 1",
      error_of(Actor.teleport_rotation, actor, Quaternion.from_elements(0, 0, 0, 2)))
    assert.matches("'mass' must be above 0", error_of(Actor.set_mass, actor, 0))
    assert.matches("'damping' must be 0 to 1e6", error_of(Actor.set_linear_damping, actor, -1))
    assert.matches("'damping' must be 0 to 1e6", error_of(Actor.set_angular_damping, actor, -1))
    assert.matches("'mass' must be 0 to", error_of(Actor.push, actor, Vector3(1, 0, 0), -1))
    Unit.set_local_position(unit, 1, Vector3(1e30, 0, 0))
    assert.matches("unit \"units/physics/crate\", actor 'body': .* farther than",
      error_of(World.update, world, STEP))
  end)

  it("pushes only dynamic actors", function()
    local floor = World.spawn_unit(world, "units/physics/floor")
    local ground = Unit.actor(floor, 1)
    assert.matches("the actor 'ground' is static, and only dynamic ones move by forces",
      error_of(Actor.add_impulse, ground, Vector3(1, 0, 0)))
    assert.matches("is static, a trigger or a mover's", error_of(Actor.set_kinematic, ground, true))
    Actor.set_kinematic(actor, true)
    assert.matches("the actor 'body' is kinematic",
      error_of(Actor.set_velocity, actor, Vector3(1, 0, 0)))
  end)

  it("reports missing names in a unit's file", function()
    assert.matches("unit \"units/physics/lost_node\", actor 'body': the unit has no node 'lidd', "
      .. "did you mean 'lid'%?: name one of its nodes, or leave 'node' out for the root",
      error_of(World.spawn_unit, world, "units/physics/lost_node"))
    assert.matches("unit \"units/physics/lost_filter\", actor 'body': there is no collision filter "
      .. "'crates', did you mean 'crate'%?",
      error_of(World.spawn_unit, world, "units/physics/lost_filter"))
    local before = #World.units(world)
    pcall(World.spawn_unit, world, "units/physics/lost_node")
    assert.equals(before, #World.units(world))
  end)
end)
