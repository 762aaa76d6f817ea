-- Suite of animations: clips of models that move the nodes of units.
local STEP = 1 / 60

describe("the animation of a unit", function()
  local world, unit, chest

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "models/column")
    chest = Unit.node(unit, "Chest")
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function play(seconds)
    for _ = 1, math.floor(seconds / STEP + 0.5) do
      World.update(world, STEP)
    end
  end

  -- Returns the angle about x of a node, in degrees.
  local function angle(node)
    local q = Unit.local_rotation(unit, node)
    return math.deg(2 * math.atan2(q.x, q.w))
  end

  it("belongs to units of models with animations or skins", function()
    assert.is_true(Unit.has_animation_blender(unit))
    assert.same({ "Bow", "Nod", "Rise" }, Unit.animation_names(unit))
    assert.near(1, Unit.animation_get_length(unit, "Bow"), 1e-6)
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.is_false(Unit.has_animation_blender(cube))
    assert.same({}, Unit.animation_names(cube))
  end)

  it("moves the nodes of its clip", function()
    local id = Unit.crossfade_animation(unit, "Bow")
    play(0.5)
    assert.near(45, angle(chest), 0.5)
    assert.is_true(Unit.is_crossfading_animation(unit, id))
    play(1)
    assert.near(90, angle(chest), 0.1)
    assert.is_false(Unit.is_crossfading_animation(unit, id))
    assert.is_false(Unit.is_crossfading_animation(unit))
    local head = Unit.world_position(unit, Unit.node(unit, "Head"))
    assert.near(-1, head.y, 0.01)
    assert.near(1, head.z, 0.01)
  end)

  it("loops, changes its speed and its time", function()
    local id = Unit.crossfade_animation(unit, "Bow", 1, 0, true)
    play(1.25)
    assert.near(22.5, angle(chest), 2)
    Unit.crossfade_animation_set_speed(unit, id, 0)
    Unit.crossfade_animation_set_time(unit, id, 0.5)
    play(0.5)
    assert.near(45, angle(chest), 0.5)
    Unit.crossfade_animation_set_time(unit, id, 1e30)
    play(0.1)
    assert.is_true(angle(chest) == angle(chest))
    Unit.crossfade_animation_set_time(unit, id, 0.5)
    for _, number in ipairs { 0 / 0, 1 / 0, -1 / 0 } do
      assert.error_matches(
        function() Unit.crossfade_animation_set_time(unit, id, number) end,
        "must be a finite number"
      )
      assert.error_matches(
        function() Unit.crossfade_animation_set_speed(unit, id, number) end,
        "must be a finite number"
      )
    end
    play(0.1)
    assert.near(45, angle(chest), 0.5)
    assert.no_error(function()
      Unit.crossfade_animation_set_speed(unit, 12345, 2)
      Unit.crossfade_animation_set_time(unit, -1, 2)
    end)
  end)

  it("fades clips of a layer into each other", function()
    Unit.crossfade_animation(unit, "Bow")
    play(1.5)
    Unit.crossfade_animation(unit, "Nod", 1, 0.5)
    play(0.25)
    assert.near(45, angle(chest), 3)
    play(0.5)
    assert.near(0, angle(chest), 0.5)
  end)

  it("plays layers over each other", function()
    Unit.crossfade_animation(unit, "Bow", 1, 0, true)
    Unit.crossfade_animation(unit, "Nod", 2)
    play(0.5)
    assert.near(45, angle(chest), 2)
    assert.near(45, angle(Unit.node(unit, "Head")), 2)
    Unit.stop_animation(unit, 2)
    play(0.1)
    assert.near(0, angle(Unit.node(unit, "Head")), 0.5)
    assert.is_true(Unit.is_crossfading_animation(unit))
    Unit.stop_animation(unit, nil, 0.2)
    play(0.4)
    assert.near(0, angle(chest), 0.1)
    assert.is_false(Unit.is_crossfading_animation(unit))
  end)

  it("plays a part of a clip as the simple animation", function()
    Unit.play_simple_animation(unit, 0.25, 0.5)
    play(0.1)
    assert.near(22.5 + 9, angle(chest), 1)
    play(1)
    assert.near(45, angle(chest), 0.5)
    Unit.play_simple_animation(unit, nil, nil, true, 2, "Rise")
    play(0.25)
    assert.near(0.5, Unit.local_position(unit, Unit.node(unit, "Hip")).z, 0.05)
    assert.near(0, angle(chest), 0.5)
    Unit.stop_simple_animation(unit)
    play(0.1)
    assert.near(0, Unit.local_position(unit, Unit.node(unit, "Hip")).z, 1e-4)
  end)

  it("leaves nodes alone that no clip moves", function()
    Unit.crossfade_animation(unit, "Nod", 1, 0, true)
    Unit.set_local_rotation(unit, chest, Quaternion(Vector3.right(), math.rad(30)))
    play(0.5)
    assert.near(30, angle(chest), 0.01)
    local lamp = World.spawn_unit(world, "core/units/empty")
    World.link_unit(world, lamp, unit, Unit.node(unit, "Head"))
    play(0.1)
    assert.near(2 - 1 + math.cos(math.rad(30)) * 1, Unit.world_position(lamp, 1).z, 0.01)
  end)

  it("moves the parts of nodes that the bone mode names", function()
    local hip = Unit.node(unit, "Hip")
    assert.equals("transform", Unit.animation_bone_mode(unit))
    Unit.crossfade_animation(unit, "Rise")
    Unit.crossfade_animation(unit, "Bow", 2)
    play(0.5)
    assert.near(0.5, Unit.local_position(unit, hip).z, 0.02)
    Unit.set_animation_bone_mode(unit, "rotation")
    assert.equals("rotation", Unit.animation_bone_mode(unit))
    play(0.25)
    assert.near(0, Unit.local_position(unit, hip).z, 1e-4)
    assert.is_true(angle(chest) > 60, angle(chest))
    Unit.set_animation_bone_mode(unit, "ignore")
    play(0.1)
    assert.near(0, angle(chest), 1e-3)
    Unit.set_animation_bone_mode(unit, "position_and_rotation")
    play(0.1)
    assert.is_true(angle(chest) > 60, angle(chest))
    assert.error_matches(function() Unit.set_animation_bone_mode(unit, "rotate") end,
      "must be one of transform, position_and_rotation, rotation, ignore, got 'rotate'")
  end)

  it("is evaluated less often at lower levels of detail", function()
    Unit.crossfade_animation(unit, "Bow", 1, 0, true)
    Unit.set_bones_lod(unit, 3)
    play(0.1)
    local changes, last = 0, angle(chest)
    for _ = 1, 24 do
      World.update(world, STEP)
      local now = angle(chest)
      changes, last = changes + (now ~= last and 1 or 0), now
    end
    assert.equals(3, changes)
    Unit.set_bones_lod(unit, nil)
    play(0.5)
    assert.is_true(angle(chest) ~= last)
    assert.error_matches(function() Unit.set_bones_lod(unit, 4) end, "must be 0 to 3, got 4")
    local far = World.spawn_unit(world, "units/column_far", Vector3(0, 1000, 0))
    local node, seen = Unit.node(far, "Chest"), {}
    Camera.set_local_position(Application.main_camera(), Vector3(0, 0, 0))
    Unit.crossfade_animation(far, "Bow", 1, 0, true)
    for _ = 1, 24 do
      World.update(world, STEP)
      seen[Unit.local_rotation(far, node).x] = true
    end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    assert.is_true(count <= 4, count)
  end)

  it("returns with a snapshot of the physics of its world", function()
    local physics = World.physics_world(world)
    local id = Unit.crossfade_animation(unit, "Bow", 1, 0.5, true)
    play(0.25)
    Unit.crossfade_animation(unit, "Nod", 1, 0.5, true)
    Unit.set_local_position(unit, 1, Vector3(1, 2, 3))
    play(0.1)
    local snapshot = PhysicsWorld.snapshot(physics)
    local function record()
      local angles = {}
      for _ = 1, 30 do
        World.update(world, STEP)
        angles[#angles + 1] = angle(chest)
      end
      return angles
    end
    local first = record()
    assert.is_false(Unit.is_crossfading_animation(unit, id))
    Unit.stop_animation(unit)
    Unit.set_local_position(unit, 1, Vector3(5, 5, 5))
    play(1)
    PhysicsWorld.restore(physics, snapshot)
    assert.is_true(Unit.is_crossfading_animation(unit, id))
    assert.equals(0, Vector3.distance(Vector3(1, 2, 3), Unit.local_position(unit, 1)))
    assert.same(first, record())
    local later = World.spawn_unit(world, "models/column")
    PhysicsWorld.restore(physics, snapshot)
    assert.is_true(Unit.alive(later))
    World.destroy_unit(world, unit)
    PhysicsWorld.restore(physics, snapshot)
    assert.is_false(Unit.alive(unit))
    PhysicsWorld.drop_snapshot(physics, snapshot)
    play(0.1)
  end)

  it("moves the bones of its level of detail", function()
    local few = World.spawn_unit(world, "units/column_bones", Vector3(0, 0, 0))
    Unit.animation_event(few, "measure")
    Unit.animation_event(few, "nod")
    Unit.animation_set_variable(few, "bend", 1)
    local function angles()
      play(1)
      local function angle_of(name)
        local q = Unit.local_rotation(few, Unit.node(few, name))
        return 2 * math.acos(math.min(1, math.abs(q.w)))
      end
      return math.deg(angle_of("Chest")), math.deg(angle_of("Head"))
    end
    local function check(level, bows, nods)
      Unit.set_bones_lod(few, level)
      local chest_angle, head_angle = angles()
      assert.equals(bows, chest_angle > 30)
      assert.equals(nods, head_angle > 10)
    end
    check(0, true, true)
    check(1, true, false) -- the chest and the hip
    check(2, false, false) -- the hip
    check(3, false, false)
    check(0, true, true)
    -- By the size in the picture.
    local camera = Application.main_camera()
    local fov = Camera.vertical_fov(camera)
    Camera.set_vertical_fov(camera, math.rad(60))
    Camera.set_local_position(camera, Vector3(0, -3, 0))
    check(nil, true, true)
    Camera.set_local_position(camera, Vector3(0, -30, 0))
    check(nil, false, false)
    Camera.set_vertical_fov(camera, math.rad(4))
    check(nil, true, true)
    Camera.set_vertical_fov(camera, fov)
    -- A clip of a script is one of all bones.
    Unit.crossfade_animation(few, "Nod", 2, 0, false)
    check(3, true, true)
  end)

  it("is as detailed as the nearest camera that shows its world needs", function()
    local far = World.spawn_unit(world, "units/column_far", Vector3(0, 1000, 0))
    local node = Unit.node(far, "Chest")
    Unit.crossfade_animation(far, "Bow", 1, 0, true)
    -- Returns the number of different poses in 24 updates.
    local function poses()
      local seen, count = {}, 0
      for _ = 1, 24 do
        World.update(world, STEP)
        local x = Unit.local_rotation(far, node).x
        if not seen[x] then seen[x], count = true, count + 1 end
      end
      return count
    end
    Camera.set_local_position(Application.main_camera(), Vector3(0, 1000, 0))
    assert.equals(24, poses())
    local distant, near = Application.create_camera(), Application.create_camera()
    Camera.set_local_position(near, Vector3(0, 990, 0))
    Application.render_world(world, distant)
    assert.is_true(poses() <= 4, "the default camera does not show this world")
    test.frames(1)
    Application.render_world(world, distant)
    Application.render_world(world, near)
    assert.equals(24, poses())
    test.frames(1)
    Application.render_world(world, distant)
    Application.destroy_camera(near)
    assert.is_true(poses() <= 4)
    Application.destroy_camera(distant)
    assert.equals(24, poses(), "the default camera again")
    Camera.set_local_position(Application.main_camera(), Vector3(0, 0, 0))
  end)

  it("adds an animation to those below it on request", function()
    local head = Unit.node(unit, "Head")
    Unit.crossfade_animation(unit, "Nod", 1)
    play(1.1)
    assert.near(90, angle(head), 0.5)
    Unit.crossfade_animation(unit, "Bow", 1, 0, false, "additive")
    play(1.1)
    assert.near(90, angle(head), 0.5)
    assert.near(90, angle(chest), 0.5)
    Unit.crossfade_animation(unit, "Bow", 2, 0, false, "offset")
    play(1.1)
    assert.near(180, math.abs(angle(chest)), 0.5)
    Unit.crossfade_animation(unit, "Nod", 1, 0, false, "normal")
    play(0.1)
    assert.is_true(angle(head) < 12, angle(head))
    assert.error_matches(function() Unit.crossfade_animation(unit, "Bow", 1, 0, true, "adds") end,
      "argument #6 'type' must be one of normal, additive, offset, got 'adds'")
    Unit.crossfade_animation(unit, "animations/lean", 1, 0, true, "additive")
    assert.error_matches(function()
      Unit.crossfade_animation(unit, "animations/lean", 1, 0, true, "normal")
    end, "'animations/lean' has differences from a pose, and cannot replace others")
  end)

  it("is shared by units in the same state on request", function()
    local units = {}
    for i = 1, 6 do
      units[i] = World.spawn_unit(world, "units/column", Vector3(i, 0, 0))
      Unit.set_animation_merge_options(units[i])
      Unit.animation_event(units[i], "bow")
    end
    local last = units[6]
    Unit.set_animation_merge_options(last, false)
    for _ = 1, 40 do
      World.update(world, STEP)
      for i = 1, 5 do
        local own = Unit.local_rotation(units[i], chest)
        assert.equals(Unit.local_rotation(last, chest).x, own.x)
        assert.equals(i, Unit.world_position(units[i], chest).x)
      end
    end
    assert.is_true(Stats.value("animation/merged") == 0, "frames are counted at their end")
    test.frames(1)
    assert.equals(4 * 40, Stats.value("animation/merged"))
    Unit.set_animation_merge_options(last, "max_start_time", 0.2, "max_drift", 0.1,
      "clock_fidelity", 0.9)
    World.update(world, STEP)
    for _, case in ipairs({
      { { "max_drfit", 1 }, "no option 'max_drfit', did you mean 'max_drift'" },
      { { "max_drift" }, "must be names and numbers in turn" },
      { { "max_drift", 11 }, "option 'max_drift' must be a number, 0 to 10" },
      { { "clock_fidelity", 0 / 0 }, "option 'clock_fidelity' must be a number, 0 to 1" },
      { { "max_start_time", "soon" }, "option 'max_start_time' must be a number, 0 to 10" },
    }) do
      assert.error_matches(function()
        Unit.set_animation_merge_options(last, unpack(case[1]))
      end, case[2])
    end
  end)

  it("returns the values of curves", function()
    assert.same({ false }, { Unit.animation_get_curve_value(unit, "Hip", "position", 3) })
    Unit.crossfade_animation(unit, "Rise")
    Unit.crossfade_animation(unit, "Bow", 2)
    play(0.5)
    local found, height = Unit.animation_get_curve_value(unit, "Hip", "position", 3)
    assert.is_true(found)
    assert.near(0.5, height, 0.01)
    local hip = Unit.node(unit, "Hip")
    assert.same({ true, height }, { Unit.animation_get_curve_value(unit, hip, "position", 3) })
    local _, sine = Unit.animation_get_curve_value(unit, "Chest", "rotation")
    assert.near(math.sin(math.rad(22.5)), math.abs(sine), 0.01)
    assert.same({ true, 1 }, { Unit.animation_get_curve_value(unit, "Chest", "scale", 2) })
    assert.same({ false }, { Unit.animation_get_curve_value(unit, "Head", "scale") })
    local face = World.spawn_unit(world, "models/face")
    assert.same({ false }, { Unit.animation_get_curve_value(face, "Face", "smile") })
    Unit.crossfade_animation(face, "Laugh")
    play(0.5)
    local moves, weight = Unit.animation_get_curve_value(face, "Face", "smile")
    assert.is_true(moves)
    assert.near(BlendShape.blend_weight(face, "smile"), weight, 1e-6)
    for _, case in ipairs({
      { "Hipp", "position", 1, "has no node 'Hipp', did you mean 'Hip'" },
      { 99, "position", 1, "argument 'node' must be the name or the index of a node" },
      { "Hip", "positon", 1, "must be one of position, rotation, scale, got 'positon'" },
      { "Hip", "position", 4, "'index' must be 1 to 3 for a position" },
      { "Hip", "smile", 1, "must be one of position, rotation, scale, got 'smile'" },
    }) do
      assert.error_matches(function()
        Unit.animation_get_curve_value(unit, case[1], case[2], case[3])
      end, case[4])
    end
  end)

  it("has nodes that follow it in every read", function()
    local head = Unit.node(unit, "Head")
    local hat = World.spawn_unit(world, "core/units/empty")
    World.link_unit(world, hat, unit, head)
    Unit.crossfade_animation(unit, "Bow")
    for _ = 1, 30 do
      World.update(world, STEP)
      local turn = math.rad(angle(chest))
      local wanted = Vector3(0, -math.sin(turn), 1 + math.cos(turn))
      for _, position in ipairs({
        Unit.world_position(unit, head),
        Matrix4x4.translation(Unit.world_pose(unit, head)),
        Unit.world_position(hat, 1),
      }) do
        assert.is_true(Vector3.distance(wanted, position) < 1e-3, tostring(position))
      end
    end
    -- A moved unit takes its nodes with it.
    local before = Unit.world_position(unit, head)
    Unit.set_local_position(unit, 1, Vector3(3, 0, 0))
    assert.near(before.x + 3, Unit.world_position(unit, head).x, 1e-4)
    assert.near(before.x + 3, Unit.world_position(hat, 1).x, 1e-4)
    -- A script can change a part of a node that animation moves, until the next update.
    Unit.set_local_rotation(unit, chest, Quaternion.identity())
    assert.near(0, angle(chest), 1e-3)
    assert.is_true(Vector3.distance(Unit.local_position(unit, chest), Vector3(0, 0, 1)) < 1e-4)
    play(0.1)
    assert.is_true(angle(chest) > 45, angle(chest))
  end)

  it("does not move units by animations without root motion", function()
    Unit.crossfade_animation(unit, "Rise")
    assert.equals("ignore", Unit.animation_root_mode(unit))
    Unit.set_animation_root_mode(unit, "position_and_rotation")
    assert.equals("position_and_rotation", Unit.animation_root_mode(unit))
    play(0.5)
    assert.is_true(Unit.local_position(unit, 1) == Vector3(0, 0, 0))
    local wanted = Matrix4x4.translation(Unit.animation_wanted_root_pose(unit))
    assert.is_true(wanted == Vector3(0, 0, 0), tostring(wanted))
    assert.error_matches(function() Unit.set_animation_root_mode(unit, "positon") end,
      "got 'positon', did you mean 'position'")
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.error_matches(function() Unit.set_animation_root_mode(cube, "ignore") end,
      "has no animations")
    assert.error_matches(function() Unit.animation_root_mode(cube) end, "has no animations")
    assert.error_matches(function() Unit.animation_bone_mode(cube) end, "has no animations")
    assert.error_matches(function() Unit.set_bones_lod(cube, 1) end, "has no animations")
    assert.error_matches(function() Unit.animation_wanted_root_pose(cube) end, "has no animations")
  end)

  it("is in the description of the unit", function()
    Unit.crossfade_animation(unit, "Bow")
    play(0.1)
    local text = Unit.inspect(unit)
    assert.matches('animation of "models/column", 4 bones, 3 clips, 1 playing', text)
    assert.matches('clip "Bow" on layer 1', text)
  end)

  it("is for models with animations of their nodes alone, too", function()
    local lid = World.spawn_unit(world, "models/chest")
    Unit.crossfade_animation(lid, "Open")
    play(0.5)
    local q = Unit.local_rotation(lid, Unit.node(lid, "Lid"))
    assert.near(45, math.deg(2 * math.atan2(q.x, q.w)), 1)
  end)

  it("refuses names, layers and times that do not exist", function()
    local function check(pattern, work)
      assert.error_matches(work, pattern)
    end
    check("has no animation 'Bwo', did you mean 'Bow'", function()
      Unit.crossfade_animation(unit, "Bwo")
    end)
    check("LAYERS_MAX", function() Unit.crossfade_animation(unit, "Bow", 0) end)
    check("LAYERS_MAX", function() Unit.crossfade_animation(unit, "Bow", 17) end)
    check("blend_time", function() Unit.crossfade_animation(unit, "Bow", 1, -1) end)
    check("LAYERS_MAX", function() Unit.stop_animation(unit, 99) end)
    check("ascending times", function() Unit.play_simple_animation(unit, 0.5, 0.25) end)
    check("ascending times", function() Unit.play_simple_animation(unit, 0, 5) end)
    check("speed", function() Unit.play_simple_animation(unit, 0, 1, false, 1e6) end)
    check("PLAYING_MAX", function()
      for _ = 1, 20 do
        Unit.crossfade_animation(unit, "Bow", 1, 60)
      end
    end)
    local cube = World.spawn_unit(world, "core/units/cube")
    check("has no animations", function() Unit.crossfade_animation(cube, "Bow") end)
    check("has no animations", function() Unit.crossfade_animation_set_speed(cube, 1, 2) end)
    check("has no animations", function() Unit.crossfade_animation_set_time(cube, 1, 2) end)
    check("has no animations", function() Unit.stop_simple_animation(cube) end)
    check("has no animations", function() Unit.is_crossfading_animation(cube) end)
    check("has no animations", function() Unit.animation_get_length(cube, "Bow") end)
  end)
end)
