-- Suite of movers, which walk, and joints, which hold and break.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(expected, vector, distance)
  local message = tostring(vector) .. " is not near " .. tostring(expected)
  assert.is_true(Vector3.distance(expected, vector) <= (distance or 0.05), message)
end

local STEP = 1 / 60

describe("a mover", function()
  local world, physics, floor, walker, mover, speed

  -- Walks for `frames` frames, with gravity as in a game.
  local function walk(velocity, frames)
    for _ = 1, frames do
      speed = Mover.standing_frames(mover) > 0 and velocity.z or speed - 9.81 * STEP
      Mover.move(mover, Vector3(velocity.x, velocity.y, speed) * STEP, STEP)
      Unit.set_local_position(walker, 1, Mover.position(mover))
      World.update(world, STEP)
    end
  end

  local function block(position, size)
    local unit = World.spawn_unit(world, "core/units/empty", position)
    return Unit.create_actor(unit, "block", { type = "static", shape = "box", size = size })
  end

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
    floor = World.spawn_unit(world, "units/physics/floor")
    walker = World.spawn_unit(world, "units/physics/walker", Vector3(0, 0, 0.5))
    mover = Unit.mover(walker)
    speed = 0
  end)

  after_each(function() Application.release_world(world) end)

  it("is hit by rays from its inside, except by those whose filter leaves it out", function()
    local unit = World.spawn_unit(world, "core/units/empty", Vector3(0, 5, 1))
    local crate = Unit.create_actor(unit, "crate", { type = "static", shape = "box",
      size = Vector3(1, 1, 1), filter = "crate" })
    walk(Vector3(0, 0, 0), 30)
    local function shoot(...)
      return PhysicsWorld.raycast(physics, Mover.position(mover) + Vector3(0, 0, 1),
        Vector3.forward(), 100, "closest", ...)
    end
    local _, _, distance, _, actor = shoot()
    assert.equals(0, distance)
    assert.equals(walker, Actor.unit(actor))
    Mover.set_collision_filter(mover, "ghost")
    _, _, distance, _, actor = shoot("collision_filter", "only_crates")
    assert.equals(crate, actor)
    assert.is_true(math.abs(distance - 4.5) < 0.01)
  end)

  it("falls to the ground and stops", function()
    assert.equals(0, Mover.standing_frames(mover))
    walk(Vector3(0, 0, 0), 1)
    assert.equals(1, Mover.flying_frames(mover))
    walk(Vector3(0, 0, 0), 60)
    assert.equals(0, Mover.flying_frames(mover))
    assert.is_true(Mover.standing_frames(mover) > 20)
    assert.is_true(Mover.collides_down(mover))
    near(Vector3(0, 0, 0), Mover.position(mover), 0.03)
    local ground = Unit.actor(floor, 1)
    assert.equals(ground, Mover.standing_on(mover))
    assert.equals(ground, Mover.actor_colliding_down(mover))
    assert.equals(walker, Mover.unit(mover))
    assert.equals("standing", Mover.debug_name(mover))
    assert.is_true(Mover.alive(mover))
    assert.matches('mover "standing" at .*, on the ground', Unit.inspect(walker))
  end)

  it("climbs steps, and stops at walls", function()
    block(Vector3(3, 0, 0.125), Vector3(2, 4, 0.25))
    block(Vector3(6, 0, 2), Vector3(0.4, 8, 4))
    walk(Vector3(0, 0, 0), 30)
    local highest, sides = 0, false
    for _ = 1, 240 do
      walk(Vector3(2, 0, 0), 1)
      highest = math.max(highest, Mover.position(mover).z)
      sides = sides or Mover.collides_sides(mover)
    end
    assert.is_true(highest > 0.24, "it stepped up to " .. highest)
    assert.is_true(sides)
    local position = Mover.position(mover)
    assert.is_true(position.x > 5 and position.x < 5.5, tostring(position))
    assert.is_true(math.abs(position.y) < 0.1, "it did not slide away")
  end)

  it("climbs slopes up to its limit", function()
    local function top_of(degrees)
      local slope = World.spawn_unit(world, "core/units/empty", Vector3(4, 0, 0),
        Quaternion(Vector3(0, 1, 0), -math.rad(degrees)))
      Unit.create_actor(slope, "slope", { type = "static", shape = "box", size = { 6, 4, 0.2 } })
      Mover.set_position(mover, Vector3(0, 0, 0.1))
      speed = 0
      walk(Vector3(0, 0, 0), 20)
      local height = 0
      for _ = 1, 240 do
        walk(Vector3(2, 0, 0), 1)
        height = math.max(height, Mover.position(mover).z)
      end
      World.destroy_unit(world, slope)
      return height
    end
    assert.is_true(top_of(30) > 1)
    assert.is_true(top_of(70) < 0.6)
    near(Vector3(50, 0, 0), Vector3(math.deg(Mover.max_slope_angle(mover)), 0, 0), 0.01)
    Mover.set_max_slope_angle(mover, math.rad(20))
    assert.is_true(top_of(30) < 0.6)
  end)

  it("keeps its horizontal speed and direction on slopes", function()
    local up, down = Vector3(4, 0, 0), Vector3(-4, 0, 0)
    local across, aslant, slow = Vector3(0, 4, 0), Vector3(3, -2, 0), Vector3(-0.1, 0.05, 0)
    for _, degrees in ipairs({ 0, 10, 20, 35 }) do
      local slope = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 20),
        Quaternion(Vector3(0, 1, 0), -math.rad(degrees)))
      Unit.create_actor(slope, "slope", { type = "static", shape = "box", size = { 40, 40, 0.2 } })
      for _, way in ipairs({ up, down, across, aslant, -aslant, slow, Vector3(0, 0, 0) }) do
        Mover.set_position(mover, Vector3(0, 0, 20.2))
        speed = 0
        walk(Vector3(0, 0, 0), 20)
        local from = Mover.position(mover)
        walk(way, 60)
        local to, name = Mover.position(mover), degrees .. " degrees, " .. tostring(way)
        near(way, Vector3(to.x - from.x, to.y - from.y, 0), 0.01)
        assert.is_true(math.abs(to.z - from.z - way.x * math.tan(math.rad(degrees))) < 0.05, name)
        assert.is_true(Mover.standing_frames(mover) >= 60, name)
        assert.is_false(Mover.collides_sides(mover), name)
      end
      World.destroy_unit(world, slope)
    end
  end)

  it("walks over the top of a hill, and is stopped by a wall on it", function()
    for _, side in ipairs({ -1, 1 }) do
      local slope = World.spawn_unit(world, "core/units/empty", Vector3(side * 4, 0, 20),
        Quaternion(Vector3(0, 1, 0), math.rad(30) * side))
      Unit.create_actor(slope, "slope", { type = "static", shape = "box", size = { 9, 9, 0.2 } })
    end
    block(Vector3(3, 0, 22), Vector3(0.2, 9, 8))
    Mover.set_position(mover, Vector3(-5, 0, 20.5))
    speed = 0
    walk(Vector3(0, 0, 0), 40)
    local from = Mover.position(mover)
    walk(Vector3(3, 0, 0), 120)
    local position = Mover.position(mover)
    near(Vector3(from.x + 6, from.y, 0), Vector3(position.x, position.y, 0), 0.02)
    walk(Vector3(3, 0, 0), 120)
    position = Mover.position(mover)
    assert.is_true(position.x < 2.9 and position.x > 2, tostring(position))
    assert.is_true(Mover.collides_sides(mover))
  end)

  it("jumps, and stops at the ceiling", function()
    block(Vector3(0, 0, 2.6), Vector3(2, 2, 0.2))
    walk(Vector3(0, 0, 0), 40)
    speed = 8
    local hit = false
    for _ = 1, 10 do
      Mover.move(mover, Vector3(0, 0, speed) * STEP, STEP)
      World.update(world, STEP)
      hit = hit or Mover.collides_up(mover)
    end
    assert.is_true(hit)
    assert.is_true(Mover.flying_frames(mover) > 0)
    assert.is_true(Mover.position(mover).z < 0.75)
  end)

  it("pushes light actors, and stops falling ones", function()
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(1.5, 0, 0.5))
    walk(Vector3(0, 0, 0), 30)
    walk(Vector3(2, 0, 0), 60)
    assert.is_true(Unit.world_position(crate).x > 1.7)
    local actor = Mover.actor(mover)
    assert.equals(walker, Actor.unit(actor))
    local hit = { PhysicsWorld.raycast(physics, Mover.position(mover) + Vector3(0, 0, 5),
      Vector3.down()) }
    assert.equals(actor, hit[5])
    assert.matches("it belongs to a mover", error_of(PhysicsWorld.destroy_actor, physics, actor))
    assert.matches("use Mover.set_position",
      error_of(Actor.teleport_position, actor, Vector3()))
  end)

  it("enters triggers", function()
    local zone = World.spawn_unit(world, "units/physics/zone", Vector3(2, 0, 1))
    local events = {}
    for _ = 1, 150 do
      walk(Vector3(2, 0, 0), 1)
      for _, touch in ipairs(PhysicsWorld.triggers(physics)) do
        if touch.trigger_unit == zone then events[#events + 1] = touch.event end
      end
    end
    assert.same({ "enter", "leave" }, events)
  end)

  it("is replaced with another mover", function()
    walk(Vector3(0, 0, 0), 40)
    block(Vector3(3, 0, 1.8), Vector3(2, 2, 1))
    assert.is_true(Mover.fits_at(mover, Vector3(0, 2, 0)))
    assert.is_false(Mover.fits_at(mover, Vector3(3, 0, 0)))
    assert.is_true(Unit.mover_fits_at(walker, "crouching", Vector3(3, 0, 0)))
    local small = Unit.set_mover(walker, "crouching")
    assert.is_false(Mover.alive(mover))
    assert.equals(small, Unit.mover(walker))
    near(Vector3(1, 0.4, 0), Vector3(Mover.height(small), Mover.radius(small), 0), 1e-5)
    mover = small
    walk(Vector3(2, 0, 0), 100)
    assert.is_true(Mover.position(mover).x > 2.5)
    assert.is_nil(Unit.set_mover(walker, nil))
    assert.is_nil(Unit.mover(walker))
    assert.matches("the unit has no mover 'sitting'", error_of(Unit.set_mover, walker, "sitting"))
    assert.matches("the unit has no mover 'lying'",
      error_of(Unit.mover_fits_at, walker, "lying", Vector3()))
  end)

  it("passes through actors that its filter excludes", function()
    block(Vector3(2, 0, 1), Vector3(0.4, 4, 2))
    Mover.set_collision_filter(mover, "ghost")
    walk(Vector3(2, 0, 2), 1)
    for _ = 1, 120 do Mover.move(mover, Vector3(2, 0, 0) * STEP, STEP) end
    assert.is_true(Mover.position(mover).x > 3)
  end)

  it("reports invalid arguments", function()
    for name, fn in pairs(Mover) do
      if name ~= "alive" then
        assert.matches("argument #1 'mover': must be a Mover, and the number 12", error_of(fn, 12))
      end
    end
    assert.is_false(Mover.alive(12))
    assert.matches("must be number", error_of(Mover.alive, "x"))
    assert.matches("must be finite", error_of(Mover.move, mover, Vector3(0 / 0, 0, 0), STEP))
    assert.matches("is too long", error_of(Mover.move, mover, Vector3(1e6, 0, 0), STEP))
    assert.matches("'seconds' must be 0 to 10", error_of(Mover.move, mover, Vector3(), -1))
    assert.matches("farther than", error_of(Mover.set_position, mover, Vector3(1e9, 0, 0)))
    assert.matches("'angle' must be 0 to", error_of(Mover.set_max_slope_angle, mover, 3))
    assert.matches("no collision filter 'ghosts'",
      error_of(Mover.set_collision_filter, mover, "ghosts"))
    World.destroy_unit(world, walker)
    assert.is_false(Mover.alive(mover))
  end)
end)

describe("a joint", function()
  local world, physics

  local function play(frames)
    for _ = 1, frames do World.update(world, STEP) end
  end

  local function ball(x, y, z)
    return PhysicsWorld.spawn_sphere(physics, Vector3(x, y, z), 0.2)
  end

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
  end)

  after_each(function() Application.release_world(world) end)

  it("connects two actors according to its type", function()
    local one, two = ball(0, 0, 5), ball(1, 0, 5)
    local fixed = PhysicsWorld.create_joint(physics, "fixed", one, two)
    local hung = PhysicsWorld.create_joint(physics, "ball", one, nil,
      { position = Vector3(0, 0, 6) })
    assert.equals(one, Joint.actor_1(fixed))
    assert.equals(two, Joint.actor_2(fixed))
    assert.is_nil(Joint.actor_2(hung))
    play(240)
    near(Vector3(1, 0, 0), Vector3(Vector3.distance(Actor.position(one), Actor.position(two)), 0,
      0), 0.05)
    near(Vector3(1, 0, 0), Vector3(Vector3.distance(Actor.position(one), Vector3(0, 0, 6)), 0, 0),
      0.05)
    assert.is_true(Joint.force(hung) > 1)
    assert.is_true(Joint.torque(hung) >= 0)
    assert.is_false(Joint.is_broken(hung))
  end)

  it("can be a rope or a spring", function()
    local lamp = ball(0, 0, 5)
    local rope = PhysicsWorld.create_joint(physics, "rope", lamp, nil,
      { other_position = Vector3(0, 0, 5.5), length = 1 })
    play(240)
    near(Vector3(0, 0, 4.5), Actor.position(lamp), 0.1)
    assert.is_true(math.abs(Joint.value(rope) - 1) < 0.1)
    local weight = ball(3, 0, 5)
    Actor.set_mass(weight, 1)
    PhysicsWorld.create_joint(physics, "spring", weight, nil,
      { other_position = Vector3(3, 0, 6), length = 1, stiffness = 100, damping = 5 })
    play(600)
    assert.is_true(math.abs(Actor.position(weight).z - 4.9) < 0.1,
      tostring(Actor.position(weight)))
  end)

  it("turns and slides, with motors and limits", function()
    PhysicsWorld.set_gravity(physics, Vector3.zero())
    local wheel = ball(0, 0, 0)
    local hinge = PhysicsWorld.create_joint(physics, "hinge", wheel, nil,
      { axis = Vector3(0, 0, 1) })
    Joint.set_motor(hinge, -1, 1000)
    play(60)
    assert.is_true(math.abs(math.abs(Joint.value(hinge)) - 1) < 0.1, tostring(Joint.value(hinge)))
    Joint.set_motor(hinge)
    local cart = ball(5, 0, 0)
    local slider = PhysicsWorld.create_joint(physics, "slider", cart, nil,
      { axis = Vector3(1, 0, 0), limits = { -1, 1 } })
    Actor.set_velocity(cart, Vector3(3, 2, 0))
    play(120)
    assert.is_true(Actor.position(cart).x < 6.1)
    assert.is_true(math.abs(Actor.position(cart).y) < 0.05)
    Joint.set_limits(slider, -3, 3)
    Actor.set_velocity(cart, Vector3(3, 0, 0))
    play(120)
    assert.is_true(Actor.position(cart).x > 6.5)
  end)

  it("returns its limits, motor, break force and speed", function()
    PhysicsWorld.set_gravity(physics, Vector3.zero())
    local wheel, cart = ball(0, 0, 0), ball(5, 0, 0)
    local hinge = PhysicsWorld.create_joint(physics, "hinge", wheel, nil,
      { axis = Vector3(0, 0, 1), limits = { -2, 3 } })
    assert.same({ -2, 3 }, { Joint.limits(hinge) })
    Joint.set_limits(hinge)
    assert.is_nil((Joint.limits(hinge)))
    assert.is_nil((Joint.motor(hinge)))
    Joint.set_motor(hinge, -2, 1000)
    assert.same({ -2, 1000 }, { Joint.motor(hinge) })
    play(60)
    local before = Joint.value(hinge)
    play(6)
    local rate = (Joint.value(hinge) - before) / 0.1
    assert.is_true(math.abs(math.abs(rate) - 2) < 0.1, tostring(rate))
    assert.is_true(math.abs(Joint.velocity(hinge) - rate) < 0.1, tostring(Joint.velocity(hinge)))
    Joint.set_motor(hinge)
    assert.is_nil((Joint.motor(hinge)))
    local slider = PhysicsWorld.create_joint(physics, "slider", cart, nil,
      { axis = Vector3(1, 0, 0), break_force = 500 })
    Actor.set_velocity(cart, Vector3(3, 0, 0))
    play(10)
    before = Joint.value(slider)
    play(6)
    rate = (Joint.value(slider) - before) / 0.1
    assert.is_true(math.abs(Joint.velocity(slider) - rate) < 0.05 and math.abs(rate) > 2.5,
      tostring(rate))
    assert.equals(500, Joint.break_force(slider))
    assert.is_nil(Joint.break_torque(slider))
    Joint.set_break_torque(slider, 40)
    Joint.set_break_force(slider)
    assert.is_nil(Joint.break_force(slider))
    assert.equals(40, Joint.break_torque(slider))
    local far, rope = ball(0, 9, 0), nil
    rope = PhysicsWorld.create_joint(physics, "rope", far, nil,
      { other_position = Vector3(0, 8, 0), length = 5 })
    Actor.set_velocity(far, Vector3(0, 1, 0))
    play(5)
    assert.is_true(math.abs(Joint.velocity(rope) - 1) < 0.02, tostring(Joint.velocity(rope)))
    assert.is_nil((Joint.limits(rope)))
    PhysicsWorld.destroy_actor(physics, far)
    assert.equals(0, Joint.velocity(rope))
  end)

  it("breaks at its break force, and is then listed", function()
    local lamp = ball(0, 0, 5)
    local joint = PhysicsWorld.create_joint(physics, "ball", lamp, nil,
      { position = Vector3(0, 0, 5), break_force = 5000 })
    play(30)
    assert.same({}, PhysicsWorld.broken_joints(physics))
    Joint.set_break_force(joint, 1)
    Joint.set_break_torque(joint, 1000)
    World.update(world, STEP)
    assert.same({ joint }, PhysicsWorld.broken_joints(physics))
    assert.is_true(Joint.is_broken(joint))
    assert.is_true(Joint.alive(joint))
    assert.equals(0, Joint.value(joint))
    play(60)
    assert.is_true(Actor.position(lamp).z < 4)
    PhysicsWorld.destroy_joint(physics, joint)
    assert.is_false(Joint.alive(joint))
    local other = PhysicsWorld.create_joint(physics, "fixed", lamp, nil)
    PhysicsWorld.destroy_actor(physics, lamp)
    assert.is_true(Joint.is_broken(other))
    assert.is_nil(Joint.actor_1(other))
  end)

  it("can be defined in a unit's file", function()
    local door = World.spawn_unit(world, "units/physics/door")
    local hinge = Unit.joint(door, "hinge")
    local leaf = Unit.actor(door, "leaf")
    assert.is_nil(Unit.joint(door, "lock"))
    Actor.add_impulse(leaf, Vector3(0, 30, 0))
    play(60)
    assert.is_true(math.abs(Joint.value(hinge)) > 0.3)
    local position = Actor.position(leaf)
    near(Vector3(0.5, 0, 0), Vector3(Vector3.length(Vector3(position.x, position.y, 0)), 0, 0), 0.1)
    World.destroy_unit(world, door)
    assert.is_false(Joint.alive(hinge))
  end)

  it("reports invalid arguments", function()
    local one = ball(0, 0, 0)
    local create = PhysicsWorld.create_joint
    for name, fn in pairs(Joint) do
      if name ~= "alive" then
        assert.matches("argument #1 'joint': must be a Joint, and the number 12", error_of(fn, 12))
      end
    end
    assert.is_false(Joint.alive(12))
    assert.matches("must be number", error_of(Joint.alive, "x"))
    assert.matches("argument #2 'kind' must be ball, fixed, hinge",
      error_of(create, physics, "glue", one))
    assert.matches("unknown option 'lenght', did you mean 'length'%?",
      error_of(create, physics, "rope", one, nil, { lenght = 1 }))
    assert.matches("option 'axis' must be Vector3",
      error_of(create, physics, "hinge", one, nil, { axis = 1 }))
    assert.matches("option 'length' must be a number from 0 on",
      error_of(create, physics, "rope", one, nil, { length = -1 }))
    assert.matches("option 'limits' must be two numbers",
      error_of(create, physics, "hinge", one, nil, { limits = { 2, 1 } }))
    assert.matches("both ends of the joint are the same actor",
      error_of(create, physics, "fixed", one, one))
    local joint = create(physics, "rope", one, nil, { length = 1 })
    assert.matches("the joint is a rope, and only a hinge, a slider or a wheel has an axis",
      error_of(Joint.set_motor, joint, 1, 1))
    assert.matches("only a hinge, a slider or a wheel", error_of(Joint.set_limits, joint, 0, 1))
    assert.matches("'least' must not be more", error_of(Joint.set_limits, joint, 2, 1))
    assert.matches("'max_force' must be given", error_of(Joint.set_motor, joint, 1))
    assert.matches("'speed' must be at most 100000 a second %(SPEED_MAX%), got 1000000",
      error_of(Joint.set_motor, joint, 1e6, 1))
    assert.matches("'max_force' must be given with a speed, and be 0 to 1e30",
      error_of(Joint.set_motor, joint, 1, 1e300))
    assert.matches("must both be given, or none", error_of(Joint.set_limits, joint, 1))
    assert.matches("at most 10000000 to either side", error_of(Joint.set_limits, joint, 0, 1e300))
    assert.matches("option 'limits' must be at most 10000000 to either side",
      error_of(create, physics, "hinge", one, nil, { limits = { -1 / 0, 1 } }))
    assert.matches("option 'axis' must have a length",
      error_of(create, physics, "hinge", one, nil, { axis = Vector3(0, 0, 0) }))
    assert.matches("'position': .* is farther than",
      error_of(create, physics, "hinge", one, nil, { position = Vector3(1e30, 0, 0) }))
    assert.matches("must be above 0", error_of(Joint.set_break_force, joint, 0))
    local other = Application.new_world()
    assert.matches("not both in that physics world",
      error_of(create, World.physics_world(other), "fixed", one))
    Application.release_world(other)
  end)
end)
