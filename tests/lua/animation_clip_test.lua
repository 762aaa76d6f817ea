-- Suite of animation files: clips with their own settings, and clips of other models.
local STEP = 1 / 60

describe("an animation file", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "models/column")
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
  local function angle(node, of)
    local q = Unit.local_rotation(of or unit, Unit.node(of or unit, node))
    return math.deg(2 * math.atan2(q.x, q.w))
  end

  local function height(node, of)
    return Unit.local_position(of or unit, Unit.node(of or unit, node)).z
  end

  it("plays a part of a clip, and loops as it says", function()
    assert.near(0.5, Unit.animation_get_length(unit, "animations/stretch"), 1e-6)
    local id = Unit.crossfade_animation(unit, "animations/stretch")
    play(0.25)
    assert.near(0.5, height("Hip"), 0.01)
    play(0.5)
    assert.near(0.5, height("Hip"), 0.01)
    assert.is_true(Unit.is_crossfading_animation(unit, id))
    Unit.crossfade_animation(unit, "animations/stretch", 1, 0, false)
    play(1)
    assert.near(0.75, height("Hip"), 0.01)
    assert.is_false(Unit.is_crossfading_animation(unit))
  end)

  it("is no animation of the model", function()
    Unit.crossfade_animation(unit, "animations/stretch")
    assert.same({ "Bow", "Nod", "Rise" }, Unit.animation_names(unit))
  end)

  it("is played in parts", function()
    Unit.play_simple_animation(unit, 0.25, 0.5, false, 1, "animations/stretch")
    play(0.125)
    assert.near(0.625, height("Hip"), 0.02)
  end)

  it("is added to others if it is additive", function()
    local bow = Unit.crossfade_animation(unit, "Bow")
    Unit.crossfade_animation_set_speed(unit, bow, 0)
    Unit.crossfade_animation_set_time(unit, bow, 0.25)
    local lean = Unit.crossfade_animation(unit, "animations/lean", 2)
    Unit.crossfade_animation_set_speed(unit, lean, 0)
    Unit.crossfade_animation_set_time(unit, lean, 0.5)
    play(0.1)
    assert.near(67.5, angle("Chest"), 0.5)
    Unit.stop_animation(unit, 1)
    play(0.1)
    assert.near(45, angle("Chest"), 0.5)
    assert.near(1, height("Chest"), 1e-3)
  end)

  it("starts at the spawn", function()
    local stretched = World.spawn_unit(world, "units/stretched")
    play(0.25)
    assert.near(0.5, height("Hip", stretched), 0.01)
    play(0.5)
    assert.near(0.5, height("Hip", stretched), 0.01)
  end)

  it("repeats at the spawn unless the unit says otherwise", function()
    -- The file of the animation has loop = false, which counts elsewhere.
    local on = World.spawn_unit(world, "units/riser")
    local once = World.spawn_unit(world, "units/riser_once")
    play(1.25)
    assert.near(0.25, height("Hip", on), 0.01)
    assert.near(1, height("Hip", once), 0.01)
    Unit.crossfade_animation(unit, "animations/rise_once")
    play(1.25)
    assert.near(1, height("Hip"), 0.01)
  end)

  it("plays in state machines, which send its events", function()
    Unit.set_animation_state_machine(unit, "units/column_files")
    play(0.45)
    local names = {}
    for i, row in ipairs(World.animation_events(world)) do
      names[i] = row.event
    end
    assert.same({ "low", "top" }, names)
    Unit.animation_event(unit, "bow")
    Unit.animation_event(unit, "lean")
    play(0.5)
    assert.near(90, angle("Chest"), 2)
    assert.near(0, height("Hip"), 1e-3)
  end)

  it("plays clips of other models by the names of their bones", function()
    local post = World.spawn_unit(world, "units/post")
    assert.same({}, Unit.animation_names(post))
    play(0.5)
    assert.near(45, angle("Chest", post), 0.5)
    assert.near(0.5, height("Chest", post), 1e-3)
    for _, name in ipairs { "models/column#Rise", "models/column.gltf#Rise" } do
      Unit.crossfade_animation(post, name)
      play(1)
      assert.near(0.5, height("Hip", post), 0.01)
      Unit.stop_animation(post)
      play(0.1)
    end
    assert.error_matches(
      function() Unit.crossfade_animation(post, "models/column#Nod") end,
      "'models/column#Nod' does not fit the model 'models/post': no animated bone exists in the "
        .. "skeleton, for example 'Head'"
    )
  end)

  it("maps the names of bones", function()
    local post = World.spawn_unit(world, "units/post")
    for _, name in ipairs { "animations/nod_post", "animations/nod_by_name" } do
      Unit.crossfade_animation(post, name)
      play(0.5)
      assert.near(45, angle("Skull", post), 0.5)
      Unit.stop_animation(post)
      play(0.1)
      assert.near(0, angle("Skull", post), 0.1)
    end
    local chest = World.spawn_unit(world, "models/chest")
    assert.error_matches(
      function() Unit.crossfade_animation(chest, "animations/nod_by_name") end,
      "'retarget' names the bone 'Skull', which the skeleton of the clip does not have"
    )
  end)

  it("suggests names", function()
    local function check(name, pattern)
      assert.error_matches(function() Unit.crossfade_animation(unit, name) end, pattern)
    end
    check("Bwo", "has no animation 'Bwo', did you mean 'Bow'")
    check("animations/strech",
      "no animation 'animations/strech', and there is no file animations/strech%.animation, "
      .. "did you mean 'animations/stretch'")
    check("models/column#Nud", "'models/column' has no animation 'Nud', did you mean 'Nod'")
    check("models/column.gltf#Nud", "'models/column' has no animation 'Nud', did you mean 'Nod'")
    check("models/colum#Nod", "there is no model 'models/colum'")
    check("#", "has no animation '#'")
    local length = function() Unit.animation_get_length(unit, "animations/strech") end
    assert.error_matches(length, "did you mean 'animations/stretch'")
    local simple = function()
      Unit.play_simple_animation(unit, 0, 1, false, 1, "animations/lens")
    end
    assert.error_matches(simple, "did you mean 'animations/lean'")
  end)
end)

describe("the morph targets of a unit", function()
  local world, face

  before_each(function()
    world = Application.new_world()
    face = World.spawn_unit(world, "models/face")
  end)

  after_each(function()
    Application.release_world(world)
  end)

  it("have names and weights", function()
    assert.same({ "smile", "frown" }, BlendShape.names(face))
    assert.near(0, BlendShape.blend_weight(face, "smile"), 1e-6)
    assert.near(0.25, BlendShape.blend_weight(face, 2), 1e-6)
    BlendShape.set_blend_weight(face, "smile", 0.75)
    assert.near(0.75, BlendShape.blend_weight(face, 1), 1e-6)
    World.update(world, STEP)
    assert.near(0.75, BlendShape.blend_weight(face, "smile"), 1e-6)
  end)

  it("are moved by animations, which return them to the set weights", function()
    BlendShape.set_blend_weight(face, "smile", 2)
    local id = Unit.crossfade_animation(face, "Laugh")
    Unit.crossfade_animation_set_speed(face, id, 0)
    Unit.crossfade_animation_set_time(face, id, 0.5)
    World.update(world, STEP)
    assert.near(0.5, BlendShape.blend_weight(face, "smile"), 1e-3)
    assert.near(0.5, BlendShape.blend_weight(face, "frown"), 1e-3)
    Unit.stop_animation(face)
    World.update(world, STEP)
    assert.near(2, BlendShape.blend_weight(face, "smile"), 1e-6)
    assert.near(0.25, BlendShape.blend_weight(face, "frown"), 1e-6)
  end)

  it("are refused by name", function()
    local function check(pattern, work)
      assert.error_matches(work, pattern)
    end
    check("no morph target 'smil', did you mean 'smile'", function()
      BlendShape.set_blend_weight(face, "smil", 1)
    end)
    check("has 2 morph targets, and 3 is not the index", function()
      BlendShape.blend_weight(face, 3)
    end)
    check("must be a whole number", function() BlendShape.blend_weight(face, 0.5) end)
    check("must be string|integer", function() BlendShape.blend_weight(face, true) end)
    check("MORPH_WEIGHT_MAX", function() BlendShape.set_blend_weight(face, 1, 1e9) end)
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.same({}, BlendShape.names(cube))
    check("has no morph targets", function() BlendShape.blend_weight(cube, 1) end)
    check("has no morph targets", function() BlendShape.set_blend_weight(cube, 1, 1) end)
  end)
end)

describe("AnimationCurves", function()
  it("samples animations that do not play", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "models/column")
    local chest, hip = Unit.node(unit, "Chest"), Unit.node(unit, "Hip")
    local position, rotation, scale = AnimationCurves.sample(unit, "Bow", chest, 0.5)
    assert.near(1, position.z, 1e-4)
    assert.near(45, math.deg(2 * math.atan2(rotation.x, rotation.w)), 0.5)
    assert.near(1, scale.x, 1e-6)
    assert.equals(position, AnimationCurves.sample(unit, "Bow", "Chest", 0.5))
    assert.near(1, AnimationCurves.sample(unit, "Rise", hip, 99).z, 1e-3)
    assert.near(0, AnimationCurves.sample(unit, "Rise", hip, -1).z, 1e-3)
    assert.near(0.25, AnimationCurves.sample(unit, "animations/stretch", hip, 0).z, 1e-3)
    assert.error_matches(
      function() AnimationCurves.sample(unit, "Rise", hip, 0 / 0) end,
      "must be a finite number"
    )
    assert.near(0, Unit.local_position(unit, hip).z, 1e-6)
    assert.error_matches(
      function() AnimationCurves.sample(unit, "Bwo", chest, 0) end,
      "did you mean 'Bow'"
    )
    for _, node in ipairs { 0, 99, -1, 1 } do
      assert.error_matches(
        function() AnimationCurves.sample(unit, "Bow", node, 0) end,
        "argument 'node' must be the name or the index of a node of the model 'models/column'"
      )
    end
    assert.error_matches(
      function() AnimationCurves.sample(unit, "Bow", "Chst", 0) end,
      "has no node 'Chst', did you mean 'Chest'"
    )
    Application.release_world(world)
  end)
end)
