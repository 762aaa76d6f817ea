-- Suite of physics in 2D worlds: shapes, movers, one-way platforms, chains, polygons and joints.

local STEP = 1 / 60

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(expected, value, most)
  if math.abs(expected - value) > (most or 0.05) then
    error(string.format("expected %g, got %g", expected, value), 2)
  end
end

local function at(x, y) return Vector3(x, y, 0) end

describe("a 2D world", function()
  local world, physics

  before_each(function()
    world = Application.new_world("2d")
    physics = World.physics_world(world)
  end)
  after_each(function() Application.release_world(world) end)

  local function play(frames)
    for _ = 1, frames or 60 do World.update(world, STEP) end
  end

  -- Creates an actor on a new unit; the fields are those of unit files.
  local function actor(position, fields)
    local unit = World.spawn_unit(world, "core/units/empty", position)
    return Unit.create_actor(unit, "actor", fields), unit
  end

  local function block(position, size, more)
    local fields = { type = "static", shape = "box", size = size }
    for key, value in pairs(more or {}) do fields[key] = value end
    return actor(position, fields)
  end

  describe("has shapes that", function()
    it("stand upright along y, on a plane below y = 0", function()
      PhysicsWorld.spawn_plane(physics, at(0, 0))
      local fields = { type = "dynamic", shape = "capsule", radius = 0.3, height = 2,
        locked_rotation = { "z" } }
      local capsule = actor(at(0, 3), fields)
      fields.shape = "cylinder"
      local cylinder = actor(at(3, 3), fields)
      local ground = actor(at(20, 5), { type = "static", shape = "plane" })
      local ball = PhysicsWorld.spawn_sphere(physics, at(-3, 9), 0.5)
      play(120)
      near(6, Actor.position(capsule).y)
      near(6, Actor.position(cylinder).y)
      near(5.5, Actor.position(ball).y)
      assert.is_true(Actor.is_static(ground))
    end)

    it("stay in the plane, however thin they are", function()
      PhysicsWorld.spawn_plane(physics, at(0, 0))
      local fields = { type = "dynamic", shape = "box", size = { 1, 1, 0.02 }, mass = 3 }
      local boxes = {}
      for i = 1, 5 do boxes[i] = actor(at(0.1 * (i % 2), i * 0.8), fields) end
      near(3, Actor.mass(boxes[1]), 1e-4)
      play(180)
      for i = 1, 5 do
        local position = Actor.position(boxes[i])
        assert.equals(0, position.z)
        near(i - 0.5, position.y, 0.15)
      end
    end)

    it("weigh what their size says", function()
      near(4000, Actor.mass(PhysicsWorld.spawn_box(physics, at(0, 0), Vector3(1, 1, 0.5))), 1)
      local light = actor(at(9, 0), { type = "dynamic", shape = "box", size = { 2, 3 } })
      near(6000, Actor.mass(light), 1)
      local polygon = PhysicsWorld.spawn_polygon(physics, at(20, 0),
        { Vector2(0, 0), Vector2(2, 0), Vector2(0, 2) }, { density = 10 })
      near(20, Actor.mass(polygon), 0.01)
    end)
  end)

  describe("has a mover that", function()
    local walker, mover, speed

    local function walk(x, frames, jump)
      speed = jump or speed
      for _ = 1, frames do
        speed = Mover.standing_frames(mover) > 0 and speed <= 0 and 0 or speed - 9.81 * STEP
        Mover.move(mover, Vector3(x, speed, 0) * STEP, STEP)
        World.update(world, STEP)
      end
      return Mover.position(mover)
    end

    before_each(function()
      PhysicsWorld.spawn_plane(physics, at(0, 0))
      walker = World.spawn_unit(world, "units/physics/walker", at(0, 1))
      mover = Unit.mover(walker)
      speed = 0
    end)

    it("falls, stands and walks along x", function()
      local position = walk(0, 60)
      near(0, position.y, 0.03)
      assert.is_true(Mover.standing_frames(mover) > 10 and Mover.collides_down(mover))
      near(3, walk(3, 60).x)
      assert.is_true(Mover.standing_frames(mover) > 60)
      position = Mover.position(mover)
      assert.equals(0, position.z)
      Mover.move(mover, Vector3(0, 0, 1), STEP)
      assert.equals(0, Mover.position(mover).z)
    end)

    it("stops at walls and ceilings, and slides along them", function()
      block(at(2, 2), { 0.5, 4, 1 })
      walk(0, 60)
      near(2 - 0.25 - Mover.radius(mover), walk(3, 60).x)
      assert.is_true(Mover.collides_sides(mover))
      local top = walk(3, 10, 6).y
      assert.is_true(top > 0.6, "it jumps along the wall: " .. top)
      block(at(0, 3), { 9, 0.2, 1 })
      Mover.set_position(mover, at(-1, 0))
      walk(0, 5)
      speed = 20
      Mover.move(mover, Vector3(0, 3, 0), STEP)
      assert.is_true(Mover.collides_up(mover))
      assert.is_true(Mover.position(mover).y + Mover.height(mover) <= 2.91)
    end)

    it("climbs steps and gentle slopes, and no steep ones", function()
      block(at(3, 0.1), { 2, 0.2, 1 })
      walk(0, 60)
      local position = walk(2, 80)
      near(0.2, position.y, 0.04)
      PhysicsWorld.spawn_chain(physics, { Vector2(-2, 0), Vector2(-6, 2) })
      Mover.set_position(mover, at(-1, 0.05))
      position = walk(-2, 120)
      near((-position.x - 2) / 2, position.y, 0.15)
      assert.is_true(position.y > 0.8, tostring(position))
      Mover.set_max_slope_angle(mover, math.rad(10))
      Mover.set_position(mover, at(-1, 0.05))
      assert.is_true(walk(-2, 120).y < 0.4)
    end)

    it("keeps its horizontal speed on slopes", function()
      for _, degrees in ipairs({ 0, 10, 20, 35 }) do
        local rise = math.tan(math.rad(degrees))
        local slope = PhysicsWorld.spawn_chain(physics,
          { Vector2(20, 20 + 20 * rise), Vector2(-20, 20 - 20 * rise) })
        for _, x in ipairs({ 4, -4, 1, -1, 0 }) do
          Mover.set_position(mover, at(0, 20.2))
          walk(0, 20, 0)
          local from = Mover.position(mover)
          local to = walk(x, 60)
          near(x, to.x - from.x, 0.01)
          near(x * rise, to.y - from.y, 0.05)
          assert.is_true(Mover.standing_frames(mover) >= 60)
        end
        PhysicsWorld.destroy_actor(physics, slope)
      end
    end)

    it("is carried by platforms, up and sideways", function()
      local _, lift = block(at(0, 1), { 2, 0.2, 1 }, { type = "kinematic" })
      Mover.set_position(mover, at(0, 1.2))
      walk(0, 10)
      for i = 1, 60 do
        Unit.set_local_position(lift, 1, at(i / 60, 1 + i / 60))
        Mover.move(mover, Vector3(0, -0.05, 0), STEP)
        World.update(world, STEP)
      end
      local position = Mover.position(mover)
      near(1, position.x, 0.06)
      near(2.1, position.y, 0.06)
      local carried = Mover.carried(mover)
      assert.is_true(carried.y > 0.01)
    end)

    it("is pushed out of bodies in the plane", function()
      walk(0, 30)
      local _, box = block(at(4, 1), { 2, 2, 0.1 }, { type = "kinematic" })
      World.update(world, STEP)
      Unit.set_local_position(box, 1, at(1.2, 1))
      World.update(world, STEP)
      World.update(world, STEP)
      local position = walk(0, 2)
      assert.equals(0, position.z)
      assert.is_true(position.x < 0, tostring(position))
    end)

    it("fits where there is room", function()
      block(at(5, 1), { 1, 1, 1 })
      assert.is_false(Mover.fits_at(mover, at(5, 0)))
      assert.is_true(Mover.fits_at(mover, at(9, 0)))
      block(at(12, 1), { 1, 1, 1 }, { one_way = true })
      assert.is_true(Mover.fits_at(mover, at(12, 0)))
    end)

    it("jumps through one-way platforms and stands on them", function()
      local platform = block(at(0, 1.5), { 4, 0.2, 1 }, { one_way = true })
      assert.is_true(Actor.is_one_way(platform))
      walk(0, 60)
      local position = walk(0, 120, 7)
      near(1.6, position.y)
      assert.equals(platform, Mover.standing_on(mover))
      position = walk(1, 30)
      near(1.6, position.y)
      assert.is_false(Mover.drop_through(Unit.mover(World.spawn_unit(world,
        "units/physics/walker", at(30, 0)))))
      assert.is_true(Mover.drop_through(mover))
      position = walk(0, 60)
      near(0, position.y)
      near(1.6, walk(0, 120, 7).y)
      -- A low jump reaches the platform with the head only, and falls back.
      Mover.set_position(mover, at(0, 0))
      walk(0, 5)
      near(0, walk(0, 60, 3).y)
    end)

    it("walks through the sides of one-way platforms", function()
      block(at(2, 0.8), { 1, 1, 1 }, { one_way = true })
      walk(0, 30)
      local position = walk(2, 120)
      near(4, position.x)
      near(0, position.y)
      local column = block(at(8, 0.8), { 1, 1, 1 }, { one_way = true })
      Actor.set_one_way(column, false)
      position = walk(2, 120)
      assert.is_true(position.x < 7.5)
    end)

    it("rides one-way platforms that move", function()
      local _, lift = block(at(0, 0.5), { 3, 0.2, 1 }, { type = "kinematic", one_way = true })
      Mover.set_position(mover, at(0, 0.65))
      walk(0, 5)
      for i = 1, 90 do
        Unit.set_local_position(lift, 1, at(0, 0.5 + i / 45))
        walk(0, 1)
      end
      near(2.6, Mover.position(mover).y, 0.08)
      -- It overlaps the lift from below, which does not push it.
      Mover.set_position(mover, at(0, 1.5))
      local before = Mover.position(mover)
      Mover.move(mover, Vector3(0, 0, 0), STEP)
      assert.is_true(Vector3.distance(before, Mover.position(mover)) < 0.05)
    end)

    it("keeps a drop in snapshots", function()
      block(at(0, 1), { 4, 0.6, 1 }, { one_way = true })
      Mover.set_position(mover, at(0, 1.32))
      walk(0, 10)
      Mover.drop_through(mover)
      walk(0, 5)
      local snapshot = PhysicsWorld.snapshot(physics)
      local falling = speed
      local first = walk(0, 20)
      PhysicsWorld.restore(physics, snapshot)
      speed = falling
      assert.equals(first, walk(0, 20))
    end)
  end)

  describe("has one-way platforms that", function()
    it("hold bodies from above, at any speed", function()
      local platform = block(at(0, 0), { 10, 0.2, 1 }, { one_way = true })
      local slow = PhysicsWorld.spawn_sphere(physics, at(-2, 1), 0.3)
      local fast = PhysicsWorld.spawn_sphere(physics, at(0, 3), 0.3)
      Actor.set_velocity(fast, at(0, -10))
      local crate = PhysicsWorld.spawn_box(physics, at(3, 1), Vector3(0.4, 0.4, 0.4))
      play(120)
      near(0.4, Actor.position(slow).y)
      near(0.4, Actor.position(fast).y)
      near(0.5, Actor.position(crate).y)
      assert.equals(3, #Actor.touching(platform))
      Actor.set_one_way(platform, false)
      play(10)
      near(0.4, Actor.position(slow).y)
    end)

    it("let bodies pass from below, and catch them afterwards", function()
      block(at(0, 2), { 10, 0.2, 1 }, { one_way = true })
      local chain = PhysicsWorld.spawn_chain(physics, { Vector2(6, 2), Vector2(16, 2) },
        { one_way = true })
      assert.is_true(Actor.is_one_way(chain))
      local bodies = {}
      for i, x in ipairs({ 0, 3, 8, 12 }) do
        bodies[i] = PhysicsWorld.spawn_sphere(physics, at(x, 0), 0.3)
        Actor.set_velocity(bodies[i], at(0, 9))
      end
      play(30)
      for i = 1, 4 do assert.is_true(Actor.position(bodies[i]).y > 2.5, i) end
      play(180)
      near(2.4, Actor.position(bodies[1]).y)
      near(2.4, Actor.position(bodies[2]).y)
      near(2.3, Actor.position(bodies[3]).y)
      near(2.3, Actor.position(bodies[4]).y)
    end)

    it("let bodies that do not come through fall back", function()
      block(at(0, 2), { 10, 0.5, 1 }, { one_way = true })
      local ball = PhysicsWorld.spawn_sphere(physics, at(0, 0), 0.3)
      Actor.set_velocity(ball, at(0, 6.4))
      play(36)
      assert.is_true(Actor.position(ball).y > 1.5)
      play(60)
      assert.is_true(Actor.position(ball).y < 0)
    end)
  end)

  describe("has chains that", function()
    it("let bodies roll over their corners without bumps", function()
      local points = {}
      for i = 0, 40 do points[i + 1] = Vector2(i * 0.5, 0) end
      PhysicsWorld.spawn_chain(physics, points, { friction = 0 })
      local box = PhysicsWorld.spawn_box(physics, at(1, 0.5), Vector3(0.5, 0.5, 0.5))
      local ball = PhysicsWorld.spawn_sphere(physics, at(4, 0.5), 0.5)
      Actor.set_friction(box, 0)
      Actor.set_friction(ball, 0)
      play(60)
      for _, body in ipairs({ box, ball }) do Actor.set_velocity(body, at(6, 0)) end
      for _ = 1, 90 do
        play(1)
        near(0.5, Actor.position(box).y, 0.01)
        near(0.5, Actor.position(ball).y, 0.01)
      end
      assert.is_true(Actor.position(box).x > 9 and Actor.position(ball).x > 12)
      near(0, Actor.angular_velocity(box).z, 0.01)
    end)

    it("hold bodies on both sides, and around them if they are closed", function()
      PhysicsWorld.spawn_chain(physics,
        { Vector2(0, 0), Vector2(0, 4), Vector2(4, 4), Vector2(4, 0) }, { closed = true })
      local inside = PhysicsWorld.spawn_sphere(physics, at(2, 2), 0.4)
      local above = PhysicsWorld.spawn_sphere(physics, at(2, 6), 0.4)
      Actor.set_velocity(inside, at(5, 7))
      play(240)
      local position = Actor.position(inside)
      assert.is_true(position.x > 0.3 and position.x < 3.7)
      near(0.4, position.y)
      near(4.4, Actor.position(above).y)
    end)

    it("come from unit files", function()
      local unit = World.spawn_unit(world, "units/physics/hill")
      local ball = PhysicsWorld.spawn_sphere(physics, at(0, 5), 0.5)
      play(120)
      near(2.5, Actor.position(ball).y, 0.1)
      local stone = Unit.actor(unit, "stone")
      near(20, Actor.mass(stone), 0.1)
    end)

    it("are refused with a reason", function()
      local chain, polygon = PhysicsWorld.spawn_chain, PhysicsWorld.spawn_polygon
      local function check(message, ...)
        assert.matches(message, error_of(...), 1, true)
      end
      local line = { Vector2(0, 0), Vector2(1, 0) }
      check("it needs 2 to", chain, physics, { Vector2(0, 0) })
      check("at least 3 points", chain, physics, line, { closed = true })
      check("points 1 and 2 are at the same position", chain, physics,
        { Vector2(1, 0), Vector2(1, 0), Vector2(2, 0) })
      check("a closed chain returns to its first point by itself", chain, physics,
        { Vector2(0, 0), Vector2(1, 0), Vector2(1, 1), Vector2(0, 0) }, { closed = true })
      check("not finite", chain, physics, { Vector2(0, 0), Vector2(0 / 0, 1) })
      check("point 2 must be Vector2 or Vector3, got number 7", chain, physics,
        { Vector2(0, 0), 7 })
      check("a list of Vector2", chain, physics, 5)
      check("did you mean 'one_way'?", chain, physics, line, { oneway = true })
      check("option 'friction' must be", chain, physics, line, { friction = -1 })
      check("there is no", chain, physics, line, { collision_filter = "nobody" })
      check("a polygon needs an area", polygon, physics, at(0, 0),
        { Vector2(0, 0), Vector2(1, 0), Vector2(2, 0) })
      local other = Application.new_world()
      local solid = World.physics_world(other)
      check('Application.new_world("2d")', chain, solid, line)
      check('Application.new_world("2d")', polygon, solid, at(0, 0),
        { Vector2(0, 0), Vector2(1, 0), Vector2(1, 1) })
      Application.release_world(other)
      check("one with a volume", actor, at(0, 0), { type = "dynamic", shape = "chain",
        points = { { 0, 0 }, { 1, 0 } } })
      check("'closed' of actor 'actor' means nothing for the shape polygon", actor, at(0, 0),
        { type = "static", shape = "polygon", points = { { 0, 0 }, { 1, 0 }, { 1, 1 } },
          closed = true })
    end)
  end)

  describe("has joints that", function()
    local create = PhysicsWorld.create_joint

    it("let wheels turn and spring", function()
      PhysicsWorld.spawn_plane(physics, at(0, 0))
      local body = PhysicsWorld.spawn_box(physics, at(0, 1.2), Vector3(1.5, 0.3, 0.5))
      local wheels = {}
      for i, x in ipairs({ -1, 1 }) do
        local wheel = PhysicsWorld.spawn_sphere(physics, at(x, 0.6), 0.4)
        Actor.set_friction(wheel, 1)
        wheels[i] = create(physics, "wheel", body, wheel, { limits = { -0.4, 0.4 } })
      end
      play(120)
      for _, wheel in ipairs(wheels) do
        local value = Joint.value(wheel)
        assert.is_true(math.abs(value) < 0.2 and value ~= 0, tostring(value))
        assert.is_true(Joint.force(wheel) > 1000)
      end
      local start = Actor.position(body)
      Joint.set_motor(wheels[1], -10, 20000)
      play(120)
      local speed, force = Joint.motor(wheels[1])
      assert.is_true(speed == -10 and force == 20000)
      local position = Actor.position(body)
      assert.is_true(position.x > start.x + 2, tostring(position))
      near(start.y, position.y, 0.2)
      local least, most = Joint.limits(wheels[1])
      near(-0.4, least)
      near(0.4, most)
      -- The spring's stiffness can be given instead of its frequency.
      local frame = PhysicsWorld.spawn_box(physics, at(20, 5), Vector3(1, 1, 1))
      local hub = PhysicsWorld.spawn_sphere(physics, at(20, 3), 0.5)
      Actor.set_kinematic(frame, true)
      Actor.set_mass(hub, 10)
      local spring = create(physics, "wheel", frame, hub, { stiffness = 981, damping = 60 })
      play(240)
      near(-0.1, Joint.value(spring), 0.01)
      near(98.1, Joint.force(spring), 3)
    end)

    it("pull an actor to a point with a limited force", function()
      local ball = PhysicsWorld.spawn_sphere(physics, at(0, 0), 0.5)
      Actor.set_mass(ball, 2)
      local mouse = create(physics, "mouse", ball, nil, { position = at(0, 0) })
      play(60)
      near(0, Actor.position(ball).y, 0.1)
      Joint.set_target(mouse, at(3, 4))
      play(120)
      local position = Actor.position(ball)
      near(3, position.x, 0.05)
      near(4, position.y, 0.1)
      near(Joint.value(mouse), Vector3.distance(position, at(3, 4)), 0.01)
      local weak = PhysicsWorld.spawn_sphere(physics, at(10, 0), 0.5)
      Actor.set_mass(weak, 2)
      local thread = create(physics, "mouse", weak, nil, { max_force = 10 })
      play(60)
      assert.is_true(Actor.position(weak).y < -1, "10 N do not hold 2 kg")
      assert.is_true(Joint.force(thread) <= 10.01)
      PhysicsWorld.destroy_joint(physics, mouse)
      assert.is_false(Joint.alive(mouse))
    end)

    it("turn round bodies by friction", function()
      PhysicsWorld.spawn_plane(physics, at(0, 0))
      local spinning = PhysicsWorld.spawn_sphere(physics, at(0, 0.5), 0.5)
      local sliding = PhysicsWorld.spawn_box(physics, at(5, 0.5), Vector3(0.5, 0.5))
      play(10)
      Actor.set_angular_velocity(spinning, Vector3(0, 0, -10))
      Actor.set_velocity(sliding, at(3, 0))
      play(90)
      assert.is_true(Actor.position(spinning).x > 0.5)
      near(0, Actor.velocity(sliding).x, 0.01)
      near(5 + 9 / (2 * 0.5 * 9.81), Actor.position(sliding).x, 0.1)
      assert.equals(0, Actor.position(spinning).z)
      assert.equals(0, Actor.velocity(spinning).z)
      Actor.set_velocity(spinning, Vector3(0, 0, 5))
      Actor.add_impulse(spinning, Vector3(0, 0, 5))
      play(10)
      assert.equals(0, Actor.position(spinning).z)
    end)

    it("drive hinges with motors", function()
      PhysicsWorld.spawn_plane(physics, at(0, 0))
      local body = PhysicsWorld.spawn_box(physics, at(0, 1.2), Vector3(1.5, 0.3, 0.5))
      local joints = {}
      for i, x in ipairs({ -1, 1 }) do
        local wheel = PhysicsWorld.spawn_sphere(physics, at(x, 0.6), 0.4)
        joints[i] = create(physics, "hinge", body, wheel, { position = at(x, 0.6) })
      end
      play(60)
      near(1, Actor.position(body).y, 0.02)
      Joint.set_motor(joints[1], -10, 20000)
      play(120)
      local position = Actor.position(body)
      near(1, position.y, 0.02)
      assert.is_true(position.x > 2, tostring(position))
      near(-10, Joint.velocity(joints[1]), 0.5)
    end)

    it("turn about z and slide along y by default", function()
      local arm = PhysicsWorld.spawn_box(physics, at(1, 0), Vector3(1, 0.1, 0.1))
      local hinge = create(physics, "hinge", arm, nil, { position = at(0, 0) })
      local car = PhysicsWorld.spawn_box(physics, at(5, 0), Vector3(0.2, 0.2, 0.2))
      local slider = create(physics, "slider", car, nil, { limits = { -1, 1 } })
      local welded = PhysicsWorld.spawn_box(physics, at(9, 0), Vector3(0.2, 0.2, 0.2))
      create(physics, "weld", welded, nil)
      play(60)
      assert.is_true(math.abs(Joint.value(hinge)) > 0.3)
      near(1, Vector3.length(Actor.position(arm)), 0.02)
      near(5, Actor.position(car).x, 0.001)
      near(-1, Actor.position(car).y, 0.03)
      assert.is_true(math.abs(Joint.value(slider)) > 0.9)
      near(0, Actor.position(welded).y, 0.01)
    end)

    it("report the force of a rope, and break", function()
      local lamp = PhysicsWorld.spawn_sphere(physics, at(0, 0), 0.5)
      Actor.set_mass(lamp, 10)
      local rope = create(physics, "rope", lamp, nil,
        { position = at(0, 0), other_position = at(0, 2), length = 2 })
      play(180)
      near(98.1, Joint.force(rope), 3)
      Joint.set_break_force(rope, 90)
      play(3)
      assert.is_true(Joint.is_broken(rope))
    end)

    it("end with their actors, and come back with snapshots", function()
      local ball = PhysicsWorld.spawn_sphere(physics, at(0, 0), 0.5)
      local mouse = create(physics, "mouse", ball, nil, {})
      Joint.set_target(mouse, at(1, 0))
      play(10)
      local snapshot = PhysicsWorld.snapshot(physics)
      Joint.set_target(mouse, at(-5, 0))
      play(20)
      PhysicsWorld.restore(physics, snapshot)
      play(60)
      near(1, Actor.position(ball).x, 0.1)
      PhysicsWorld.destroy_actor(physics, ball)
      assert.is_true(Joint.is_broken(mouse))
      Joint.set_target(mouse, at(1, 1))
      play(1)
    end)

    it("are refused with a reason", function()
      local one = PhysicsWorld.spawn_sphere(physics, at(0, 0), 0.5)
      local two = PhysicsWorld.spawn_sphere(physics, at(3, 0), 0.5)
      assert.matches("a mouse joint pulls one actor",
        error_of(create, physics, "mouse", one, two))
      assert.matches("'frequency' must be above 0",
        error_of(create, physics, "wheel", one, two, { frequency = 0 }))
      assert.matches("must be a number from 0 on",
        error_of(create, physics, "wheel", one, two, { damping_ratio = 0 / 0 }))
      assert.matches("a hinge turns about z in a 2D world",
        error_of(create, physics, "hinge", one, two, { axis = Vector3(1, 0, 0) }))
      assert.matches("in the plane of x and y in a 2D world",
        error_of(create, physics, "wheel", one, two, { axis = Vector3(0, 0, 1) }))
      assert.matches("'axis' must have a length",
        error_of(create, physics, "wheel", one, two, { axis = Vector3(0, 0, 0) }))
      local wheel = create(physics, "wheel", one, two)
      assert.matches("only a mouse joint has a target",
        error_of(Joint.set_target, wheel, at(0, 0)))
      local mouse = create(physics, "mouse", one)
      assert.matches("POSITION_MAX", error_of(Joint.set_target, mouse, at(1e9, 0)))
      assert.matches("only a hinge, a slider or a wheel", error_of(Joint.set_motor, mouse, 1, 1))
      local other = Application.new_world()
      local solid = World.physics_world(other)
      local a = PhysicsWorld.spawn_sphere(solid, at(0, 0), 0.5)
      local b = PhysicsWorld.spawn_sphere(solid, at(2, 0), 0.5)
      assert.matches("wheel joints need a 2D world", error_of(create, solid, "wheel", a, b))
      local drag = create(solid, "mouse", a, nil, {})
      Joint.set_target(drag, Vector3(0, 0, 2))
      for _ = 1, 120 do World.update(other, STEP) end
      near(2, Actor.position(a).z, 0.1)
      Application.release_world(other)
    end)
  end)
end)
