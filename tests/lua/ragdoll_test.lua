-- Suite of ragdolls: bodies that take over the bones of a unit, and hand them back.
local STEP = 1 / 60

describe("the ragdoll of a unit", function()
  local world, physics, unit

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
    unit = World.spawn_unit(world, "units/ragdoll_column", Vector3(0, 0, 0.2))
    Unit.disable_animation_state_machine(unit)
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function play(seconds, each)
    for _ = 1, math.floor(seconds / STEP + 0.5) do
      World.update(world, STEP)
      if each then each() end
    end
  end

  local function position(name, of)
    return Unit.world_position(of or unit, Unit.node(of or unit, name))
  end

  local function rotation(name)
    return Unit.world_rotation(unit, Unit.node(unit, name))
  end

  -- Returns a function that is called once a frame, and the largest change of a node's velocity
  -- that it saw, in metres per second, with the largest speed.
  local function watch(name)
    local before, velocity
    local found = { change = 0, speed = 0 }
    return function()
      local now = position(name)
      if before then
        local new = (now - before) / STEP
        if velocity then
          found.change = math.max(found.change, Vector3.length(new - velocity))
        end
        found.speed = math.max(found.speed, Vector3.length(new))
        velocity = new
      end
      before = now
    end, found
  end

  it("falls, and its nodes follow the bodies", function()
    assert.is_false(Unit.is_ragdoll(unit))
    assert.is_nil(Unit.ragdoll_actor(unit, "Head"))
    assert.same({ "Hip", "Chest", "Head" }, Unit.ragdoll_bones(unit))
    Unit.start_ragdoll(unit)
    assert.is_true(Unit.is_ragdoll(unit))
    local head = Unit.ragdoll_actor(unit, "Head")
    assert.equals(unit, Actor.unit(head))
    assert.equals("Head", Actor.debug_name(head))
    assert.equals(Unit.node(unit, "Head"), Actor.node(head))
    assert.equals(Unit.ragdoll_actor(unit, "Hip"), Unit.ragdoll_actor(unit, "Hip"))
    Actor.add_impulse(head, Vector3(0, 40, 0))
    play(3)
    assert.is_true(position("Head").z < 1, tostring(position("Head")))
    for _, name in ipairs(Unit.ragdoll_bones(unit)) do
      local actor = Unit.ragdoll_actor(unit, name)
      local off = Vector3.length(Actor.position(actor) - position(name))
      assert.is_true(off < 0.03, name .. " is off by " .. off)
      assert.is_true(position(name).z > -0.1)
    end
    assert.near(30, Actor.mass(head) + Actor.mass(Unit.ragdoll_actor(unit, "Hip"))
      + Actor.mass(Unit.ragdoll_actor(unit, "Chest")), 1e-3)
    assert.matches("full ragdoll", Unit.inspect(unit))
  end)

  it("takes over without a jump in position or velocity", function()
    Unit.crossfade_animation(unit, "Bow", 1, 0, true)
    local y = 0
    local seen, found = watch("Head")
    for frame = 1, 40 do
      if frame <= 20 then
        y = y + 3 * STEP
        Unit.set_local_position(unit, 1, Vector3(0, y, 0.2))
      elseif frame == 21 then
        Unit.start_ragdoll(unit)
      end
      World.update(world, STEP)
      if frame > 2 and frame < 30 then seen() end
    end
    -- Gravity alone changes the velocity by 0.16 m/s a frame; the head moves at 3 to 5 m/s.
    assert.is_true(found.speed > 2.5, tostring(found.speed))
    assert.is_true(found.change < 0.6, tostring(found.change))
  end)

  it("begins where the unit was teleported to", function()
    play(0.2)
    Unit.set_local_position(unit, 1, Vector3(50, 0, 0.2))
    Unit.start_ragdoll(unit)
    assert.is_true(math.abs(Actor.position(Unit.ragdoll_actor(unit, "Hip")).x - 50) < 1e-3)
    assert.is_true(Vector3.length(Actor.velocity(Unit.ragdoll_actor(unit, "Head"))) < 1e-3)
  end)

  it("is found by rays, and collides with others, but not with the unit's own actors", function()
    Unit.create_actor(unit, "own", { type = "kinematic", shape = "sphere", radius = 0.6 })
    Unit.start_ragdoll(unit)
    play(0.1)
    local hit, _, _, _, actor = PhysicsWorld.raycast(physics, Vector3(0, -5, 1.5),
      Vector3(0, 1, 0), 10)
    assert.is_true(hit)
    assert.equals(unit, Actor.unit(actor))
    assert.is_true(Vector3.length(position("Hip") - Vector3(0, 0, 0.2)) < 0.2)
    local crate = PhysicsWorld.spawn_box(physics, Vector3(0, 3, 1.4), Vector3(0.4, 0.4, 0.4))
    Actor.set_mass(crate, 30)
    Actor.set_velocity(crate, Vector3(0, -14, 2))
    play(0.6)
    assert.is_true(position("Chest").y < -0.1, tostring(position("Chest")))
  end)

  -- Returns the poses of all nodes in each of some frames, as text.
  local function record(frames)
    local lines = {}
    for _ = 1, frames do
      World.update(world, STEP)
      for node = 1, Unit.num_nodes(unit) do
        local at, q = Unit.world_position(unit, node), Unit.world_rotation(unit, node)
        lines[#lines + 1] = ("%.17g %.17g %.17g %.17g %.17g %.17g %.17g"):format(
          at.x, at.y, at.z, q.x, q.y, q.z, q.w)
      end
    end
    return lines
  end

  it("continues after a restored snapshot as it did before", function()
    local id = Unit.crossfade_animation(unit, "Bow", 1, 0.8, true)
    Unit.start_ragdoll(unit, { strength = 0.2 })
    Actor.add_impulse(Unit.ragdoll_actor(unit, "Head"), Vector3(0, 40, 5))
    play(0.3)
    local snapshot = PhysicsWorld.snapshot(physics)
    local first = record(60)
    assert.is_true(first[1] ~= first[#first - 3])
    for _ = 1, 2 do
      Unit.crossfade_animation_set_speed(unit, id, 3)
      Unit.crossfade_animation(unit, "Nod", 2, 0.1, true)
      Unit.set_ragdoll_strength(unit, 1)
      Unit.set_animation_bone_mode(unit, "rotation")
      play(0.5)
      PhysicsWorld.restore(physics, snapshot)
      assert.same(first, record(60))
    end
  end)

  it("is ended and begun by restored snapshots", function()
    Unit.enable_animation_state_machine(unit)
    play(0.2)
    local standing = PhysicsWorld.snapshot(physics)
    local first = record(30)
    Unit.start_ragdoll(unit)
    play(0.5)
    local falling = PhysicsWorld.snapshot(physics)
    PhysicsWorld.restore(physics, standing)
    assert.is_false(Unit.is_ragdoll(unit))
    assert.is_nil(Unit.ragdoll_actor(unit, "Head"))
    assert.same(first, record(30))
    -- Its bodies were removed.
    PhysicsWorld.restore(physics, falling)
    assert.is_false(Unit.is_ragdoll(unit))
    play(0.1)
    Unit.start_ragdoll(unit)
    assert.is_true(Unit.is_ragdoll(unit))
    play(0.1)
  end)

  it("hands the bones back where it lies", function()
    Unit.start_ragdoll(unit)
    Actor.add_impulse(Unit.ragdoll_actor(unit, "Head"), Vector3(0, 60, 0))
    Actor.add_velocity(Unit.ragdoll_actor(unit, "Hip"), Vector3(3, 0, 0))
    play(3)
    local hip = position("Hip")
    local seen, found = watch("Head")
    play(0.2, seen)
    Unit.stop_ragdoll(unit, 0.5)
    assert.is_false(Unit.is_ragdoll(unit))
    assert.is_nil(Unit.ragdoll_actor(unit, "Head"))
    assert.is_nil(Unit.ragdoll_side(unit))
    play(0.7, seen)
    local root = Unit.world_position(unit, 1)
    assert.is_true(math.abs(root.x - hip.x) < 0.05 and math.abs(root.y - hip.y) < 0.05)
    assert.near(0, root.z, 1e-3)
    assert.near(2, position("Head").z, 0.01)
    -- The head rises by two metres in half a second. A jump would change its speed by far more.
    assert.is_true(found.speed > 1 and found.change < 1.5, tostring(found.change))
    assert.equals(1, PhysicsWorld.num_actors(physics))
  end)

  it("moves some of the bones, while the animation moves the others", function()
    Unit.crossfade_animation(unit, "Bow", 1, 0, true)
    play(0.25)
    Unit.start_ragdoll(unit, { bones = { "Head" } })
    assert.is_nil(Unit.ragdoll_actor(unit, "Chest"))
    local head = Unit.ragdoll_actor(unit, "Head")
    assert.is_true(Actor.is_dynamic(head))
    local other = World.spawn_unit(world, "models/column", Vector3(0, 0, 0.2))
    Unit.crossfade_animation(other, "Bow", 1, 0, true)
    play(0.25)
    local id = Unit.crossfade_animation(other, "Bow", 1, 0, true)
    Unit.crossfade_animation_set_time(other, id, 0.5 + STEP)
    Actor.add_angular_velocity(head, Vector3(0, 0, 9))
    play(STEP)
    assert.is_true(Vector3.length(position("Chest") - position("Chest", other)) < 1e-3)
    assert.is_true(Vector3.length(position("Head") - position("Head", other)) < 0.05)
    play(0.1)
    local q = Unit.local_rotation(unit, Unit.node(unit, "Head"))
    assert.is_true(math.abs(q.w) < 0.999, "the head has turned")
    local root = Unit.world_position(unit, 1)
    Unit.stop_ragdoll(unit, 0.1)
    play(0.3)
    assert.is_true(Vector3.length(root - Unit.world_position(unit, 1)) < 1e-4)
    assert.near(1, math.abs(Unit.local_rotation(unit, Unit.node(unit, "Head")).w), 1e-3)
  end)

  it("follows the animation by motors", function()
    local function sag(strength)
      local one = World.spawn_unit(world, "units/ragdoll_column", Vector3(10, 0, 5))
      Unit.disable_animation_state_machine(one)
      local id = Unit.crossfade_animation(one, "Bow")
      play(0.5)
      Unit.crossfade_animation_set_speed(one, id, 0)
      Unit.start_ragdoll(one, { bones = { "Chest" }, strength = strength })
      play(0.4)
      local head = position("Head", one)
      World.destroy_unit(world, one)
      local side = math.sqrt(0.5)
      return Vector3.length(head - Vector3(10, -side, 6 + side))
    end
    local limp, strong = sag(0), sag(1)
    assert.is_true(strong < 0.1, tostring(strong))
    assert.is_true(limp > 0.3, tostring(limp))
    Unit.start_ragdoll(unit)
    assert.no_error(function() Unit.set_ragdoll_strength(unit, 0.5) end)
    play(0.2)
    assert.matches("strength 0.50", Unit.inspect(unit))
  end)

  it("is part of state machines", function()
    Unit.enable_animation_state_machine(unit)
    local seen, found = watch("Head")
    play(0.5, seen)
    Unit.animation_event(unit, "fall")
    play(STEP, seen)
    assert.is_true(Unit.is_ragdoll(unit))
    play(0.15, seen)
    assert.is_true(found.change < 0.6, tostring(found.change))
    local _, refused = pcall(Unit.stop_ragdoll, unit)
    assert.matches("state machine started the ragdoll", refused)
    _, refused = pcall(Unit.start_ragdoll, unit)
    assert.matches("its state machine started it", refused)
    -- It falls to its front, onto its belly: models look along -y.
    play(3)
    assert.equals("belly", Unit.ragdoll_side(unit))
    assert.equals(0, Unit.animation_get_variable(unit, "ragdoll_face_up"))
    local hip = position("Hip")
    seen, found = watch("Head")
    play(0.1, seen)
    Unit.animation_event(unit, "get_up")
    assert.equals("on_belly", Unit.animation_layer_info(unit).state)
    play(1, seen)
    assert.is_false(Unit.is_ragdoll(unit))
    assert.is_true(found.change < 1.5, tostring(found.change))
    local root = Unit.world_position(unit, 1)
    assert.is_true(math.abs(root.x - hip.x) < 0.05 and math.abs(root.y - hip.y) < 0.05)
    assert.equals(1, PhysicsWorld.num_actors(physics))
  end)

  it("chooses the animation that gets up from the back", function()
    Unit.enable_animation_state_machine(unit)
    Unit.animation_event(unit, "trip")
    play(0.3)
    Actor.add_velocity(Unit.ragdoll_actor(unit, "Head"), Vector3(0, 6, 0))
    Actor.add_velocity(Unit.ragdoll_actor(unit, "Chest"), Vector3(0, 4, 0))
    play(4)
    assert.equals("back", Unit.ragdoll_side(unit))
    Unit.animation_event(unit, "get_up")
    assert.equals("on_back", Unit.animation_layer_info(unit).state)
    play(0.2)
    Unit.animation_event(unit, "fall")
    play(0.2)
    assert.is_true(Unit.is_ragdoll(unit), "it falls again while it gets up")
    Unit.animation_event(unit, "stand")
    play(0.1)
    assert.is_false(Unit.is_ragdoll(unit))
    Unit.animation_event(unit, "fall")
    play(0.1)
    Unit.set_animation_state_machine(unit, nil)
    play(0.1)
    assert.is_false(Unit.is_ragdoll(unit), "without the machine, the ragdoll ends")
  end)

  it("has partial states, whose set of bones can grow", function()
    Unit.enable_animation_state_machine(unit)
    play(0.1)
    Unit.animation_event(unit, "hit")
    play(0.1)
    assert.is_not_nil(Unit.ragdoll_actor(unit, "Head"))
    assert.is_nil(Unit.ragdoll_actor(unit, "Hip"))
    Unit.animation_event(unit, "fall")
    play(0.1)
    assert.is_not_nil(Unit.ragdoll_actor(unit, "Head"))
    assert.is_not_nil(Unit.ragdoll_actor(unit, "Hip"))
    Unit.animation_event(unit, "recover")
    play(0.5)
    assert.is_not_nil(Unit.ragdoll_actor(unit, "Hip"))
    Unit.animation_event(unit, "stand")
    play(0.5)
    assert.is_false(Unit.is_ragdoll(unit))
    assert.equals(1, PhysicsWorld.num_actors(physics))
  end)

  it("scales with its unit", function()
    Unit.set_local_scale(unit, 1, Vector3(0.5, 0.5, 0.5))
    play(0.1)
    Unit.start_ragdoll(unit)
    local hit, at = PhysicsWorld.raycast(physics, Vector3(0, -5, 0.2 + 0.25), Vector3(0, 1, 0), 10)
    assert.is_true(hit)
    assert.near(-0.1, at.y, 0.02)
    Actor.add_velocity(Unit.ragdoll_actor(unit, "Head"), Vector3(0, 2, 0))
    play(2)
    local long = Vector3.length(position("Head") - position("Hip"))
    assert.is_true(long < 1.02, tostring(long))
    Unit.stop_ragdoll(unit)
    play(0.1)
    assert.near(0.5, Unit.local_scale(unit, 1).x, 1e-6)
  end)

  it("is the same in every run", function()
    local function run()
      local own = Application.new_world()
      PhysicsWorld.spawn_plane(World.physics_world(own), Vector3(0, 0, 0))
      local one = World.spawn_unit(own, "units/ragdoll_column", Vector3(0, 0, 0.2))
      for frame = 1, 120 do
        if frame == 20 then Unit.animation_event(one, "trip") end
        if frame == 100 then Unit.animation_event(one, "get_up") end
        World.update(own, STEP)
      end
      local result = Unit.world_position(one, Unit.node(one, "Head"))
      Application.release_world(own)
      return result
    end
    local one, two = run(), run()
    assert.is_true(one.x == two.x and one.y == two.y and one.z == two.z)
  end)

  it("survives snapshots of physics", function()
    local before = PhysicsWorld.snapshot(physics)
    Unit.start_ragdoll(unit)
    play(0.2)
    local during = PhysicsWorld.snapshot(physics)
    Actor.add_velocity(Unit.ragdoll_actor(unit, "Head"), Vector3(0, 9, 0))
    play(0.5)
    PhysicsWorld.restore(physics, during)
    play(0.1)
    Actor.add_velocity(Unit.ragdoll_actor(unit, "Head"), Vector3(0, 9, 0))
    play(1)
    local apart = Vector3.length(Actor.position(Unit.ragdoll_actor(unit, "Head"))
      - Actor.position(Unit.ragdoll_actor(unit, "Chest")))
    assert.is_true(apart < 1.1, "the joints hold: " .. apart)
    PhysicsWorld.restore(physics, before)
    assert.is_false(Unit.is_ragdoll(unit), "it has begun since")
    play(0.1)
    PhysicsWorld.restore(physics, during)
    play(0.1)
    assert.equals(1, PhysicsWorld.num_actors(physics))
  end)

  it("closes limits and removes motors after a snapshot is restored", function()
    local function bend(strength, restores)
      local one = World.spawn_unit(world, "units/ragdoll_column", Vector3(10, 0, 5))
      Unit.disable_animation_state_machine(one)
      local id = Unit.crossfade_animation(one, "Bow")
      play(0.5)
      Unit.crossfade_animation_set_speed(one, id, 0)
      Unit.start_ragdoll(one, { bones = { "Chest" }, strength = strength })
      play(0.1)
      local kept = PhysicsWorld.snapshot(physics)
      Unit.set_ragdoll_strength(one, 0)
      play(0.4)
      if restores then
        -- It has the strength again that it had then.
        PhysicsWorld.restore(physics, kept)
        Unit.set_ragdoll_strength(one, 0)
        play(0.4)
      end
      PhysicsWorld.drop_snapshot(physics, kept)
      local head = position("Head", one)
      World.destroy_unit(world, one)
      return head
    end
    for _, strength in ipairs({ 0, 1 }) do
      local once, again = bend(strength), bend(strength, true)
      assert.is_true(Vector3.length(once - again) < 0.02, tostring(once) .. tostring(again))
    end
  end)

  it("ends with its unit, and loses bodies that a script destroys", function()
    Unit.start_ragdoll(unit)
    play(0.1)
    local head = Unit.ragdoll_actor(unit, "Head")
    PhysicsWorld.destroy_actor(physics, head)
    assert.is_nil(Unit.ragdoll_actor(unit, "Head"))
    play(0.2)
    assert.is_true(Unit.is_ragdoll(unit))
    Unit.disable_physics(unit)
    play(0.1)
    Unit.enable_physics(unit)
    play(0.1)
    local hip = Unit.ragdoll_actor(unit, "Hip")
    World.destroy_unit(world, unit)
    assert.is_false(Actor.alive(hip))
    play(0.1)
    assert.equals(1, PhysicsWorld.num_actors(physics))
  end)

  it("can start again in the frame in which it was stopped", function()
    Unit.start_ragdoll(unit)
    play(0.1)
    Unit.stop_ragdoll(unit, 1)
    Unit.start_ragdoll(unit, { bones = { "Chest" } })
    assert.is_nil(Unit.ragdoll_actor(unit, "Hip"))
    play(0.1)
    assert.is_true(Unit.is_ragdoll(unit))
    Unit.stop_ragdoll(unit, 1)
    play(0.2)
    Unit.start_ragdoll(unit)
    play(0.2)
    assert.is_true(Unit.is_ragdoll(unit))
  end)

  local function refused(call, ...)
    local ok, message = pcall(call, ...)
    assert.is_false(ok)
    return message
  end

  it("refuses what it cannot do, by name", function()
    assert.matches("did you mean 'Head'",
      refused(Unit.start_ragdoll, unit, { bones = { "Haed" } }))
    assert.matches("'strength' must be 0 to 1",
      refused(Unit.start_ragdoll, unit, { strength = 2 }))
    assert.matches("strength", refused(Unit.start_ragdoll, unit, { strength = 0 / 0 }))
    assert.matches("no option 'bone'.*did you mean 'bones'",
      refused(Unit.start_ragdoll, unit, { bone = {} }))
    assert.matches("list of names", refused(Unit.start_ragdoll, unit, { bones = { 1 } }))
    local many = {}
    for i = 1, 65 do many[i] = "Head" end
    assert.matches("at most 64", refused(Unit.start_ragdoll, unit, { bones = many }))
    assert.matches("no body in or below the bone 'Column'",
      refused(Unit.start_ragdoll, unit, { bones = { "Column" } }))
    Unit.start_ragdoll(unit)
    assert.matches("runs already: call Unit.stop_ragdoll",
      refused(Unit.start_ragdoll, unit))
    assert.matches("did you mean 'Head'", refused(Unit.ragdoll_actor, unit, "Haed"))
    assert.matches("blend_time", refused(Unit.stop_ragdoll, unit, -1))
    assert.matches("'strength' must be 0 to 1", refused(Unit.set_ragdoll_strength, unit, 1.5))
    assert.matches("strength", refused(Unit.set_ragdoll_strength, unit, 0 / 0))
    local plain = World.spawn_unit(world, "models/column")
    assert.matches("has no ragdoll", refused(Unit.set_ragdoll_strength, plain, 0))
    assert.is_nil(Unit.ragdoll_actor(plain, "Head"))
    assert.same({}, Unit.ragdoll_bones(plain))
    assert.no_error(function() Unit.stop_ragdoll(plain, 1) end)
    Unit.set_local_scale(plain, 1, Vector3(1, 2, 1))
    assert.matches("equal along all axes", refused(Unit.start_ragdoll, plain))
    Unit.set_local_scale(plain, 1, Vector3(0, 0, 0))
    assert.matches("above 0", refused(Unit.start_ragdoll, plain))
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.matches("has no animations", refused(Unit.start_ragdoll, cube))
    assert.is_false(Unit.is_ragdoll(cube))
  end)

  it("needs a world with physics in three dimensions", function()
    local bare = Application.new_world("no_physics")
    local one = World.spawn_unit(bare, "units/ragdoll_column")
    assert.matches("no_physics", refused(Unit.start_ragdoll, one))
    Unit.animation_event(one, "fall")
    World.update(bare, STEP)
    World.update(bare, STEP)
    assert.is_false(Unit.is_ragdoll(one))
    Application.release_world(bare)
    local flat = Application.new_world("2d")
    one = World.spawn_unit(flat, "units/ragdoll_column")
    assert.matches("not 2D", refused(Unit.start_ragdoll, one))
    World.update(flat, STEP)
    Application.release_world(flat)
  end)

  it("works with pipelined physics", function()
    local own = Application.new_world("pipelined_physics")
    PhysicsWorld.spawn_plane(World.physics_world(own), Vector3(0, 0, 0))
    local one = World.spawn_unit(own, "units/ragdoll_column", Vector3(0, 0, 0.2))
    for frame = 1, 150 do
      if frame == 10 then Unit.animation_event(one, "fall") end
      if frame == 140 then Unit.animation_event(one, "get_up") end
      World.update(own, STEP)
      local head = Unit.world_position(one, Unit.node(one, "Head"))
      assert.is_true(head.z > -0.5 and head.z < 2.5, tostring(head))
    end
    Application.release_world(own)
  end)

  it("has the actors and joints of its unit as bodies", function()
    local own = World.spawn_unit(world, "units/ragdoll_actors", Vector3(5, 0, 0.2))
    assert.same({ "Hip", "Chest", "Head" }, Unit.ragdoll_bones(own))
    play(0.1)
    Unit.start_ragdoll(own)
    local function body(name) return Unit.ragdoll_actor(own, name) end
    assert.near(12, Actor.mass(body("Hip")), 0.01)
    assert.is_true(Actor.mass(body("Head")) < 12, Actor.mass(body("Head")))
    Actor.add_impulse(body("Head"), Vector3(0, 60, 0))
    local least, most, apart = 0, 0, 0
    play(3, function()
      local upper = Quaternion.inverse(Unit.world_rotation(own, Unit.node(own, "Hip")))
      local turn = Quaternion.multiply(upper, Unit.world_rotation(own, Unit.node(own, "Chest")))
      local angle = math.deg(2 * math.atan2(turn.x, turn.w))
      angle = (angle + 180) % 360 - 180
      least, most = math.min(least, angle), math.max(most, angle)
      local chest = Quaternion.inverse(Unit.world_rotation(own, Unit.node(own, "Chest")))
      local nod = Quaternion.multiply(chest, Unit.world_rotation(own, Unit.node(own, "Head")))
      apart = math.max(apart, math.deg(2 * math.acos(math.min(1, math.abs(nod.w)))))
    end)
    assert.is_true(position("Head", own).z < 1, tostring(position("Head", own)))
    -- The limits are -20 and 45 degrees. A hard blow bends the waist further for a moment.
    assert.is_true(least > -32 and most < 57, least .. " to " .. most)
    assert.is_true(most > 10 or least < -10, "the waist bends")
    assert.is_true(apart < 15, "the neck is fixed: " .. apart)
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.error_matches(function() Unit.start_ragdoll(cube) end, "has no animations")
  end)
end)
