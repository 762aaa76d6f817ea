-- Suite of a physics world as a whole: gravity, bodies without units, immediate and queued queries,
-- contacts, snapshots, two dimensions, equal runs. Actors are in physics_actor_test.lua.

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
local UP, DOWN, FORWARD = Vector3.up(), Vector3.down(), Vector3.forward()

describe("a physics world", function()
  local world, physics

  local function play(frames)
    for _ = 1, frames do World.update(world, STEP) end
  end

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
  end)

  after_each(function() Application.release_world(world) end)

  it("is the same value each time, and ends with its world", function()
    assert.equals(physics, World.physics_world(world))
    near(Vector3(0, 0, -9.81), PhysicsWorld.gravity(physics), 1e-4)
    PhysicsWorld.set_gravity(physics, Vector3(0, 0, 5))
    local ball = PhysicsWorld.spawn_sphere(physics, Vector3(0, 0, 0), 0.5)
    play(30)
    assert.is_true(Actor.position(ball).z > 0.5)
    local other = Application.new_world()
    local stale = World.physics_world(other)
    local actor = PhysicsWorld.spawn_sphere(stale, Vector3(0, 0, 0), 0.5)
    Application.release_world(other)
    assert.is_false(Actor.alive(actor))
    assert.matches("was", error_of(PhysicsWorld.gravity, stale))
  end)

  it("contains bodies without units", function()
    local plane = PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 1), UP)
    local box = PhysicsWorld.spawn_box(physics, Vector3(0, 0, 3), Vector3(0.5, 0.5, 0.5),
      Quaternion(UP, 1))
    assert.is_nil(Actor.unit(box))
    play(180)
    near(Vector3(0, 0, 1.5), Actor.position(box))
    assert.is_true(Actor.is_static(plane))
    PhysicsWorld.destroy_actor(physics, plane)
    assert.is_false(Actor.alive(plane))
    PhysicsWorld.wake_actors(physics)
    play(30)
    assert.is_true(Actor.position(box).z < 1)
    assert.matches("the radius must be more than 0 metres, got 0",
      error_of(PhysicsWorld.spawn_sphere, physics, Vector3(), 0))
    assert.matches("the half depth must be more than 0",
      error_of(PhysicsWorld.spawn_box, physics, Vector3(), Vector3(1, -1, 1)))
    assert.matches("'normal' must not be zero",
      error_of(PhysicsWorld.spawn_plane, physics, Vector3(), Vector3()))
    assert.matches("farther than", error_of(PhysicsWorld.spawn_box, physics, Vector3(1e9, 0, 0),
      Vector3(1, 1, 1)))
  end)

  it("interpolates bodies between two steps", function()
    PhysicsWorld.set_gravity(physics, Vector3.zero())
    local unit = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 0))
    Actor.set_velocity(Unit.actor(unit, 1), Vector3(6, 0, 0))
    local last = 0
    for i = 1, 40 do
      World.update(world, 0.007)
      local x = Unit.world_position(unit).x
      assert.is_true(x >= last - 1e-5, "it never goes back")
      if i > 5 then assert.is_true(math.abs(x - last - 0.042) < 0.003, "it moves evenly") end
      last = x
    end
  end)

  describe("a physics world with bodies", function()
    local box, zone

    before_each(function()
      PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
      box = World.spawn_unit(world, "units/physics/platform", Vector3(0, 5, 1))
      zone = World.spawn_unit(world, "units/physics/zone", Vector3(0, 2, 1))
    end)

    it("casts rays", function()
      local from = Vector3(0, 0, 1)
      local hit, position, distance, normal, actor =
        PhysicsWorld.raycast(physics, from, FORWARD, 10)
      assert.is_true(hit)
      near(Vector3(0, 3, 1), position, 1e-4)
      assert.is_true(math.abs(distance - 3) < 1e-4)
      near(-FORWARD, normal, 1e-4)
      assert.equals(Unit.actor(box, 1), actor)
      assert.is_false(PhysicsWorld.raycast(physics, from, FORWARD, 2))
      assert.is_false(PhysicsWorld.raycast(physics, from, UP))
      assert.is_true(PhysicsWorld.raycast(physics, from, FORWARD, 10, "any"))
      assert.is_nil((PhysicsWorld.raycast(physics, from, UP, 10, "all")))
      assert.is_false(PhysicsWorld.immediate_raycast(physics, from, FORWARD, 10, "closest",
        "types", "statics"))
      local _, _, _, _, trigger = PhysicsWorld.immediate_raycast(physics, from, FORWARD, 10,
        "closest", "types", "triggers")
      assert.equals(Unit.actor(zone, 1), trigger)
      local hits, count = PhysicsWorld.raycast(physics, Vector3(0, 5, 9), DOWN, 20, "all")
      assert.equals(2, count)
      assert.equals(Unit.actor(box, 1), hits[1].actor)
      assert.equals(hits[1][4], hits[1].actor)
      assert.is_true(hits[1].distance < hits[2].distance)
    end)

    it("casts rays by collision filter", function()
      World.spawn_unit(world, "units/physics/crate", Vector3(0, 8, 1))
      local from = Vector3(0, 20, 1)
      local function first(...)
        local _, position = PhysicsWorld.raycast(physics, from, -FORWARD, 30, "closest", ...)
        return position.y
      end
      assert.is_true(math.abs(first() - 8.5) < 1e-3)
      assert.is_true(math.abs(first("collision_filter", "only_crates") - 8.5) < 1e-3)
      assert.is_true(math.abs(first("collision_filter", "no_crates") - 7) < 1e-3)
      assert.is_true(math.abs(first("types", "dynamics", "collision_filter", "no_crates") - 7)
        < 1e-3)
    end)

    it("queues rays until the next step", function()
      local results = {}
      local function note(...) results[#results + 1] = { ... } end
      PhysicsWorld.raycast(physics, note, Vector3(0, 0, 1), FORWARD, 10)
      PhysicsWorld.queue_raycast(physics, note, Vector3(0, 0, 1), UP, 10, "any")
      local ray = PhysicsWorld.make_raycast(physics, note, "closest", "types", "dynamics")
      Raycast.cast(ray, Vector3(0, 0, 1), FORWARD, 10)
      ray:cast(Vector3(0, 0, 1), UP)
      assert.equals(0, #results)
      World.update(world, STEP)
      assert.equals(4, #results)
      assert.equals(Unit.actor(box, 1), results[1][5])
      assert.is_false(results[2][1])
      assert.equals(Unit.actor(box, 1), results[3][5])
      assert.is_false(results[4][1])
      World.update(world, STEP)
      assert.equals(4, #results)
    end)

    it("runs all queued queries, even if one raises an error", function()
      local results = {}
      local function ask(name, fails)
        PhysicsWorld.raycast(physics, function(hit)
          results[#results + 1] = name .. tostring(hit)
          if fails then error("no " .. name) end
        end, Vector3(0, 0, 1), FORWARD, 10, "any")
      end
      ask("a", true)
      ask("b")
      ask("c", true)
      ask("d")
      assert.matches("no a", error_of(World.update, world, STEP))
      assert.same({ "atrue" }, results)
      ask("e")
      assert.matches("no c", error_of(World.update, world, STEP))
      assert.same({ "atrue", "btrue", "ctrue" }, results)
      World.update(world, STEP)
      World.update(world, STEP)
      assert.same({ "atrue", "btrue", "ctrue", "dtrue", "etrue" }, results)
      -- A query that starts in a callback waits for the next step.
      PhysicsWorld.raycast(physics, function() ask("f") end, Vector3(0, 0, 1), UP, 10, "any")
      World.update(world, STEP)
      assert.equals(5, #results)
      World.update(world, STEP)
      assert.equals("ftrue", results[6])
      -- A released world drops its queued queries.
      local other = Application.new_world()
      PhysicsWorld.raycast(World.physics_world(other), error, Vector3(0, 0, 1), UP, 10, "any")
      Application.release_world(other)
      World.update(world, STEP)
    end)

    it("finds the actors that a shape overlaps", function()
      local plate = Unit.actor(box, 1)
      local actors, count = PhysicsWorld.immediate_overlap(physics, "shape", "sphere", "position",
        Vector3(0, 5, 3), "size", 2)
      assert.same({ plate }, actors)
      assert.equals(1, count)
      assert.same({}, (PhysicsWorld.overlap(physics, "position", Vector3(0, 0, 9), "size", 1)))
      assert.equals(2, select(2, PhysicsWorld.overlap(physics, "shape", "oobb", "position",
        Vector3(0, 3, 1), "size", Vector3(1, 1.5, 0.4), "rotation", Quaternion.identity(),
        "types", "all")))
      assert.equals(1, select(2, PhysicsWorld.overlap(physics, "shape", "capsule", "pose",
        Matrix4x4.from_translation(Vector3(0, 5, 2)), "size", Vector3(0.3, 0.3, 2))))
      local later
      PhysicsWorld.overlap(physics, function(found) later = found end, "position",
        Vector3(0, 5, 1), "size", 0.1, "collision_filter", "no_crates")
      World.update(world, STEP)
      assert.same({ plate }, later)
    end)

    it("sweeps shapes along a line", function()
      local hits = PhysicsWorld.linear_sphere_sweep(physics, Vector3(0, 0, 1), Vector3(0, 9, 1),
        0.5)
      assert.equals(Unit.actor(box, 1), hits[1].actor)
      assert.is_true(math.abs(hits[1].distance - 2.5) < 1e-2)
      near(-FORWARD, hits[1].normal, 1e-3)
      assert.equals(2, #PhysicsWorld.linear_obb_sweep(physics, Vector3(0, 5, 5), Vector3(0, 5, -5),
        Vector3(0.2, 0.2, 0.2), nil, 10))
      assert.equals(1, #PhysicsWorld.linear_capsule_sweep(physics, Vector3(0, 0, 1.2),
        Vector3(0, 9, 1.2), Vector3(0.2, 0.2, 1), nil, 5, "types", "dynamics"))
      assert.is_nil(PhysicsWorld.linear_sphere_sweep(physics, Vector3(0, 0, 5), Vector3(0, 9, 5),
        1))
      -- A sweep of no length hits nothing; a direction may have any length.
      assert.is_nil(PhysicsWorld.linear_sphere_sweep(physics, Vector3(0, 0, 5), Vector3(0, 0, 5),
        1))
      assert.is_nil(PhysicsWorld.linear_sphere_sweep(physics, Vector3(0, 5, 1), Vector3(0, 5, 1),
        0.1))
      for _, length in ipairs({ 1e-30, 1, 1e30 }) do
        local _, position = PhysicsWorld.raycast(physics, Vector3(0, 0, 1), FORWARD * length, 10)
        near(Vector3(0, 3, 1), position, 1e-4)
      end
    end)

    it("reports invalid queries", function()
      local at = Vector3(0, 0, 1)
      assert.equals("PhysicsWorld.raycast: argument #2 'from' must be Vector3, got number 3 "
        .. "(write Vector3(x, y, z))", error_of(PhysicsWorld.raycast, physics, 3, FORWARD))
      assert.matches("'direction' must have a length",
        error_of(PhysicsWorld.raycast, physics, at, Vector3()))
      assert.matches("must be finite", error_of(PhysicsWorld.raycast, physics, at,
        Vector3(0 / 0, 0, 0)))
      assert.matches("'length' must be 0 metres or more",
        error_of(PhysicsWorld.raycast, physics, at, UP, -1))
      assert.matches("must be a finite number",
        error_of(PhysicsWorld.raycast, physics, at, UP, 0 / 0))
      for _, number in ipairs({ 0 / 0, 1 / 0 }) do
        assert.matches("must be finite",
          error_of(PhysicsWorld.overlap, physics, "position", Vector3(number, 0, 0), "size", 1))
        assert.matches("must be finite",
          error_of(PhysicsWorld.overlap, physics, "position", at, "size", number))
        assert.matches("must be finite",
          error_of(PhysicsWorld.linear_sphere_sweep, physics, at, Vector3(0, number, 0), 1))
      end
      assert.is_false((PhysicsWorld.raycast(physics, at, UP, 1e300)))
      assert.matches("argument #2 'from': .* is farther than 10000000 metres",
        error_of(PhysicsWorld.raycast, physics, Vector3(1e30, 0, 0), UP, 1))
      assert.matches("'position': .* is farther than 10000000 metres",
        error_of(PhysicsWorld.overlap, physics, "position", Vector3(0, 1e30, 0), "size", 1))
      assert.matches("argument #3 'to': .* is farther than 10000000 metres",
        error_of(PhysicsWorld.linear_sphere_sweep, physics, at, Vector3(0, 0, 1e30), 1))
      for _, size in ipairs({ 0, -1 }) do
        assert.matches("the radius must be more than 0 metres",
          error_of(PhysicsWorld.overlap, physics, "position", at, "size", size))
        assert.matches("the radius must be more than 0 metres",
          error_of(PhysicsWorld.linear_sphere_sweep, physics, at, at + UP, size))
        assert.matches("the half width must be more than 0 metres",
          error_of(PhysicsWorld.linear_obb_sweep, physics, at, at + UP, Vector3(size, 1, 1)))
      end
      assert.matches("the radius must be at most 10000000 metres, got",
        error_of(PhysicsWorld.overlap, physics, "position", at, "size", 1e30))
      assert.matches("'rotation' must have length 1", error_of(PhysicsWorld.overlap, physics,
        "shape", "oobb", "position", at, "size", 1, "rotation", Quaternion.from_elements(0, 0, 0,
        2)))
      assert.matches("argument #5 'mode' must be \"closest\"",
        error_of(PhysicsWorld.raycast, physics, at, UP, 1, "first"))
      assert.matches("'types' must be \"both\"",
        error_of(PhysicsWorld.raycast, physics, at, UP, 1, "any", "types", "static"))
      assert.matches("unknown option 'colision_filter', did you mean 'collision_filter'",
        error_of(PhysicsWorld.immediate_raycast, physics, at, UP, 1, "any", "colision_filter", "x"))
      assert.matches("there is no collision filter 'crat', did you mean 'crate'%?",
        error_of(PhysicsWorld.raycast, physics, at, UP, 1, "any", "collision_filter", "crat"))
      assert.matches("must be a PhysicsWorld, and the number 12 never was one",
        error_of(PhysicsWorld.raycast, 12, at, UP))
      assert.matches("argument #2 'callback' must be function",
        error_of(PhysicsWorld.queue_raycast, physics, 1, at, UP))
      assert.matches("argument #2 'callback' must be function",
        error_of(PhysicsWorld.make_raycast, physics, 1))
      assert.matches("argument #1 'raycast' must be Raycast", error_of(Raycast.cast, 1, at, UP))
      assert.matches("'shape' must be", error_of(PhysicsWorld.overlap, physics, "shape", "cube"))
      assert.matches("'size' must be the radius", error_of(PhysicsWorld.overlap, physics,
        "position", at))
      assert.matches("unknown option 'radius'",
        error_of(PhysicsWorld.immediate_overlap, physics, "radius", 1))
      assert.matches("'radius' must be number",
        error_of(PhysicsWorld.linear_sphere_sweep, physics, at, at))
      assert.matches("'half_extents' must be Vector3",
        error_of(PhysicsWorld.linear_obb_sweep, physics, at, at, 1))
      assert.matches("'size' must be Vector3",
        error_of(PhysicsWorld.linear_capsule_sweep, physics, at, at, 1))
      assert.matches("'max_hits' must be 1 to 4096",
        error_of(PhysicsWorld.linear_sphere_sweep, physics, at, at + UP, 1, 0))
      assert.matches("height must be more than twice its radius",
        error_of(PhysicsWorld.linear_capsule_sweep, physics, at, at + UP, Vector3(1, 1, 1)))
    end)
  end)

  it("lists contacts once, the dynamic actor first", function()
    local floor = World.spawn_unit(world, "units/physics/floor")
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 2))
    local contacts = {}
    for _ = 1, 120 do
      World.update(world, STEP)
      for _, contact in ipairs(PhysicsWorld.contacts(physics)) do
        contacts[#contacts + 1] = contact
      end
    end
    local hit = contacts[1]
    assert.equals(crate, hit.unit)
    assert.equals(floor, hit.other_unit)
    assert.equals(Unit.actor(crate, 1), hit.actor)
    assert.equals(Unit.actor(floor, 1), hit.other_actor)
    assert.is_true(math.abs(hit.position.z) < 0.1)
    assert.is_true(hit.normal.z > 0.9)
    assert.is_true(hit.impulse > 30 and hit.impulse < 200, tostring(hit.impulse))
    assert.same({}, PhysicsWorld.contacts(physics))
  end)

  it("lists actors that entered and left triggers", function()
    local zone = World.spawn_unit(world, "units/physics/zone", Vector3(0, 0, 3))
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 6))
    local events = {}
    local function play_on(frames)
      for _ = 1, frames do
        World.update(world, STEP)
        for _, touch in ipairs(PhysicsWorld.triggers(physics)) do
          if touch.trigger_unit == zone then
            events[#events + 1] = touch.event
            assert.equals(crate, touch.unit)
          end
        end
      end
    end
    play_on(120)
    assert.same({ "enter", "leave" }, events)
    PhysicsWorld.set_gravity(physics, Vector3.zero())
    crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 3))
    play_on(5)
    World.destroy_unit(world, crate)
    play_on(2)
    assert.same({ "enter", "leave", "enter", "leave" }, events)
  end)

  it("saves and restores its state exactly", function()
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
    local boxes = {}
    for i = 1, 30 do
      boxes[i] = PhysicsWorld.spawn_box(physics, Vector3(i % 3 * 0.3, i % 2 * 0.2, i * 1.1),
        Vector3(0.5, 0.5, 0.5))
    end
    local unit = World.spawn_unit(world, "units/physics/crate", Vector3(9, 0, 9))
    play(60)
    local kept = PhysicsWorld.snapshot(physics)
    local unit_was = Unit.world_position(unit)
    local function state()
      local out = {}
      for i, box in ipairs(boxes) do
        if Actor.alive(box) then out[i] = tostring(Actor.position(box)) end
      end
      return out
    end
    local before = state()
    play(60)
    local after = state()
    PhysicsWorld.restore(physics, kept)
    assert.same(before, state())
    play(60)
    assert.same(after, state())
    local late = PhysicsWorld.spawn_box(physics, Vector3(50, 0, 9), Vector3(1, 1, 1))
    PhysicsWorld.destroy_actor(physics, boxes[3])
    PhysicsWorld.restore(physics, kept)
    assert.is_false(Actor.alive(boxes[3]))
    near(Vector3(50, 0, 9), Actor.position(late), 1e-4)
    World.update(world, STEP)
    assert.is_true(Vector3.distance(unit_was, Unit.world_position(unit)) < 0.3)
    play(30)
    assert.is_true(Actor.position(late).z < 8)
    PhysicsWorld.drop_snapshot(physics, kept)
    assert.matches("snapshot", error_of(PhysicsWorld.restore, physics, kept))
    local other = Application.new_world()
    kept = PhysicsWorld.snapshot(physics)
    assert.matches("is of another physics world",
      error_of(PhysicsWorld.restore, World.physics_world(other), kept))
    Application.release_world(other)
  end)

  it("restores snapshots in any order, with each actor and joint once", function()
    local function box(x)
      return PhysicsWorld.spawn_box(physics, Vector3(x, 0, 5), Vector3(0.5, 0.5, 0.5))
    end
    local one, other = box(0), box(4)
    local early = PhysicsWorld.snapshot(physics)
    local between, late = box(8), box(12)
    local joint = PhysicsWorld.create_joint(physics, "hinge", one, other)
    local rope = PhysicsWorld.create_joint(physics, "rope", one, late, { length = 99 })
    local full = PhysicsWorld.snapshot(physics)
    local count = PhysicsWorld.num_actors(physics)
    PhysicsWorld.destroy_actor(physics, between)
    PhysicsWorld.restore(physics, early)
    assert.is_true(Joint.is_broken(joint) and Joint.is_broken(rope))
    local next = PhysicsWorld.create_joint(physics, "slider", one, other)
    assert.is_true(Joint.is_broken(joint), "it is not the one that came in its place")
    assert.is_false(Joint.is_broken(next))
    -- Objects created since have other slots in the simulation now than in the later snapshot.
    PhysicsWorld.restore(physics, full)
    assert.equals(count - 1, PhysicsWorld.num_actors(physics))
    assert.is_false(Joint.is_broken(joint) or Joint.is_broken(rope))
    assert.is_true(Joint.is_broken(next))
    Actor.teleport_position(late, Vector3(0, 20, 5))
    local function found(x, y)
      return PhysicsWorld.raycast(physics, Vector3(x, y, 9), Vector3(0, 0, -1), 9)
    end
    assert.is_true(found(0, 20))
    assert.is_false((found(12, 0)), "it is there once")
    for i = 1, 3 do
      PhysicsWorld.restore(physics, i % 2 == 0 and full or early)
      assert.equals(count - 1, PhysicsWorld.num_actors(physics))
    end
    play(5)
  end)

  it("limits the number of snapshots", function()
    local kept = {}
    for i = 1, 64 do kept[i] = PhysicsWorld.snapshot(physics) end
    assert.matches("64 snapshots are kept already %(SNAPSHOTS_MAX%)",
      error_of(PhysicsWorld.snapshot, physics))
    for i = 1, 64 do PhysicsWorld.drop_snapshot(physics, kept[i]) end
  end)

  it("reports invalid arguments", function()
    for _, name in ipairs({ "gravity", "set_gravity", "num_actors", "num_awake", "spawn_box",
      "spawn_sphere", "spawn_plane", "destroy_actor", "wake_actors", "set_debug_draw",
      "destroy_joint", "snapshot", "restore", "drop_snapshot", "contacts", "triggers",
      "broken_joints" }) do
      assert.matches("argument #1 'physics_world': must be a PhysicsWorld, and the number 12",
        error_of(PhysicsWorld[name], 12))
    end
    assert.matches("must be a World, and the number 12", error_of(World.physics_world, 12))
    assert.matches("at most 10,000", error_of(PhysicsWorld.set_gravity, physics,
      Vector3(0, 0, 1e6)))
    local other = Application.new_world()
    local box = PhysicsWorld.spawn_sphere(World.physics_world(other), Vector3(), 1)
    assert.matches("it is in another physics world",
      error_of(PhysicsWorld.destroy_actor, physics, box))
    Application.release_world(other)
  end)
end)

describe("a world in two dimensions", function()
  it("keeps bodies in the XY plane", function()
    local world = Application.new_world("2d")
    local physics = World.physics_world(world)
    near(Vector3(0, -9.81, 0), PhysicsWorld.gravity(physics), 1e-4)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0), Vector3(0, 1, 0))
    local boxes = {}
    for i = 1, 20 do
      boxes[i] = PhysicsWorld.spawn_box(physics, Vector3(i % 3 * 0.4, i, 0), Vector3(0.5, 0.5, 0.5))
    end
    for _ = 1, 200 do World.update(world, STEP) end
    for _, box in ipairs(boxes) do
      assert.equals(0, Actor.position(box).z)
      assert.is_true(math.abs(Quaternion.forward(Actor.rotation(box)).z) < 1e-5)
      assert.is_true(Actor.position(box).y > 0)
    end
    Application.release_world(world)
  end)
end)

describe("two equal piles", function()
  it("end at the same positions", function()
    local function pile()
      local world = Application.new_world()
      local physics = World.physics_world(world)
      PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
      local boxes = {}
      for i = 1, 60 do
        boxes[i] = PhysicsWorld.spawn_box(physics,
          Vector3(i % 4 * 0.9, i % 3 * 0.8, 1 + i * 0.6), Vector3(0.5, 0.5, 0.5))
      end
      for _ = 1, 120 do World.update(world, STEP) end
      local positions = {}
      for i, box in ipairs(boxes) do
        local position = Actor.position(box)
        positions[i] = string.format("%a %a %a", position.x, position.y, position.z)
      end
      Application.release_world(world)
      return positions
    end
    assert.same(pile(), pile())
  end)
end)
