-- Suite of pulley joints: two actors on a rope over two fixed points.

local STEP = 1 / 60

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(expected, value, most)
  if not (math.abs(expected - value) <= (most or 0.05)) then
    error(string.format("expected %g, got %g", expected, value), 2)
  end
end

local function at(x, y) return Vector3(x, y, 0) end

describe("a pulley", function()
  local world, physics
  local create = PhysicsWorld.create_joint

  before_each(function()
    world = Application.new_world("2d")
    physics = World.physics_world(world)
  end)
  after_each(function() Application.release_world(world) end)

  local function play(frames)
    for _ = 1, frames or 60 do World.update(world, STEP) end
  end

  local function weight(x, y, mass)
    local actor = PhysicsWorld.spawn_box(physics, at(x, y), Vector3(0.5, 0.5, 0.5))
    Actor.set_mass(actor, mass)
    return actor
  end

  local function pulley(one, two, more)
    local options = { ground_position = at(-1, 30), other_ground_position = at(1, 30) }
    for key, value in pairs(more or {}) do options[key] = value end
    return create(physics, "pulley", one, two, options)
  end

  it("lets the heavier actor pull the other one up", function()
    local heavy, light = weight(-1, 0, 3), weight(1, 0, 1)
    local joint = pulley(heavy, light)
    near(60, Joint.value(joint), 1e-3)
    play(60)
    near(9.81 / 2, -Actor.velocity(heavy).y)
    near(9.81 / 2, Actor.velocity(light).y)
    near(3 * 9.81 / 2, Joint.force(joint), 0.3)
    assert.equals(0, Joint.torque(joint))
    local first, second = Joint.lengths(joint)
    near(60, first + second, 0.1)
    near(30 - Actor.position(heavy).y, first, 1e-3)
    near(0, Joint.velocity(joint), 0.02)
    assert.equals(heavy, Joint.actor_1(joint))
    assert.equals(light, Joint.actor_2(joint))
    assert.is_nil((Joint.limits(joint)))
    assert.is_nil((Joint.motor(joint)))
  end)

  it("multiplies the force by its ratio", function()
    local one, two = weight(-1, 0, 1), weight(1, 0, 2)
    local joint = pulley(one, two, { ratio = 2 })
    play(120)
    near(0, Actor.position(one).y, 0.01)
    near(0, Actor.position(two).y, 0.01)
    near(9.81, Joint.force(joint), 0.1)
    Actor.set_mass(one, 3)
    play(60)
    near(9.81 * (3 - 1) / (3 + 0.5), -Actor.velocity(one).y, 0.1)
    near(9.81 * (3 - 1) / (3 + 0.5) / 2, Actor.velocity(two).y, 0.1)
  end)

  it("keeps its length for ten seconds while its actors swing", function()
    local one, two = weight(-1, 24, 2), weight(1, 24, 2)
    local joint = pulley(one, two)
    Actor.set_velocity(one, at(2, 0))
    Actor.set_velocity(two, at(1, 1))
    local most = 0
    for _ = 1, 600 do
      play(1)
      most = math.max(most, Joint.value(joint))
    end
    assert.is_true(most < 12 * 1.01, "it is " .. most .. " m long")
  end)

  it("runs over one point if there is no other one", function()
    local one, two = weight(-2, 0, 1), weight(2, 0, 1)
    local joint = create(physics, "pulley", one, two, { ground_position = at(0, 3) })
    near(2 * math.sqrt(4 + 9), Joint.value(joint), 1e-3)
    play(240)
    near(2 * math.sqrt(4 + 9), Joint.value(joint), 0.1)
  end)

  it("is loose if its rope is longer than it needs to be", function()
    local one, two = weight(-1, 0, 1), weight(1, 0, 1)
    local joint = pulley(one, two, { length = 62 })
    play(10)
    assert.equals(0, Joint.force(joint))
    assert.is_true(Joint.velocity(joint) > 1)
    play(120)
    near(62, Joint.value(joint), 0.1)
    near(9.81, Joint.force(joint), 0.2)
  end)

  it("is pulled by actors that scripts move", function()
    local load, hand = weight(-1, 0, 1), weight(1, 0, 1)
    Actor.set_kinematic(hand, true)
    pulley(load, hand)
    play(120)
    near(0, Actor.position(load).y, 0.01)
    for i = 1, 60 do
      Actor.teleport_position(hand, at(1, -i / 60))
      play(1)
    end
    play(30)
    near(1, Actor.position(load).y, 0.05)
  end)

  it("breaks at its force, and ends with its actors", function()
    local one, two = weight(-1, 0, 2), weight(1, 0, 2)
    local joint = pulley(one, two, { break_force = 25 })
    play(30)
    assert.equals(25, Joint.break_force(joint))
    assert.is_false(Joint.is_broken(joint))
    Actor.set_mass(one, 20)
    play(2)
    assert.is_true(Joint.is_broken(joint))
    assert.is_nil((Joint.lengths(joint)))
    local other = pulley(one, two)
    PhysicsWorld.destroy_actor(physics, two)
    assert.is_true(Joint.is_broken(other))
    play(2)
    PhysicsWorld.destroy_joint(physics, other)
    assert.is_false(Joint.alive(other))
  end)

  it("continues from snapshots", function()
    local one, two = weight(-1, 24, 2), weight(1, 24, 1)
    pulley(one, two)
    Actor.set_velocity(two, at(2, 0))
    play(20)
    local snapshot = PhysicsWorld.snapshot(physics)
    play(60)
    local first, second = Actor.position(one), Actor.position(two)
    PhysicsWorld.restore(physics, snapshot)
    play(60)
    assert.equals(first, Actor.position(one))
    assert.equals(second, Actor.position(two))
  end)

  it("can be defined in a unit's file, in 3D, too", function()
    local solid = Application.new_world()
    local well = World.spawn_unit(solid, "units/physics/well", Vector3(0, 5, 1))
    local rope = Unit.joint(well, "rope")
    near(8, Joint.value(rope), 1e-3)
    for _ = 1, 30 do World.update(solid, STEP) end
    near(9.81 / 4, -Actor.velocity(Unit.actor(well, "bucket")).z)
    near(9.81 / 4, Actor.velocity(Unit.actor(well, "weight")).z)
    near(8, Joint.value(rope), 0.02)
    Application.release_world(solid)
  end)

  it("reports invalid arguments", function()
    local one, two = weight(-1, 0, 1), weight(1, 0, 1)
    local function refused(pattern, other, options)
      assert.matches(pattern, error_of(create, physics, "pulley", one, other, options))
    end
    local point = at(-1, 30)
    refused("needs the option 'ground_position', the point in the world", two)
    refused("a pulley connects two actors: pass the second one, which may be static", nil,
      { ground_position = point })
    refused("option 'ground_position' must be Vector3, got", two, { ground_position = 3 })
    refused("option 'other_ground_position' must be Vector3, got", two,
      { ground_position = point, other_ground_position = "up" })
    refused("'ground_position': .* is farther than", two, { ground_position = at(1e30, 0) })
    refused("'other_ground_position' must be finite", two,
      { ground_position = point, other_ground_position = at(0 / 0, 0) })
    for _, ratio in ipairs({ 0, -1, 0.0001, 1001, 1 / 0, 0 / 0, "x" }) do
      refused("option 'ratio' must be a number from 0.001 to 1000, got ", two,
        { ground_position = point, ratio = ratio })
    end
    refused("unknown option 'ground_positon', did you mean 'ground_position'", two,
      { ground_positon = point })
    refused("must have a length: move its point in the world away from 'position'", two,
      { ground_position = at(-1, 0) })
    refused("must have a length: move its point in the world away from 'other_position'", two,
      { ground_position = at(1, 0) })
    refused("both ends of the joint are the same actor", one, { ground_position = point })
    local joint = pulley(one, two)
    assert.matches("the joint is a pulley, and only a hinge, a slider or a wheel has an axis",
      error_of(Joint.set_motor, joint, 1, 1))
    assert.matches("the joint is a pulley, and only a mouse joint has a target",
      error_of(Joint.set_target, joint, at(0, 0)))
    local hinge = create(physics, "hinge", one)
    assert.is_nil((Joint.lengths(hinge)))
  end)
end)
