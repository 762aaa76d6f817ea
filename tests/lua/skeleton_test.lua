-- Suite of two-dimensional skeletons: pictures at bones, their parts, skins and colours.
local STEP = 1 / 60

describe("the skeleton of a unit", function()
  local world, unit

  before_each(function()
    world = Application.new_world("2d")
    unit = World.spawn_unit(world, "units/puppet", Vector3(1, 2, 0))
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function play(seconds)
    for _ = 1, math.floor(seconds / STEP + 0.5) do
      World.update(world, STEP)
    end
  end

  local function bone(name)
    return Unit.world_position(unit, Unit.node(unit, name))
  end

  it("belongs to units of models from .skeleton files", function()
    assert.is_true(Unit.has_skeleton(unit))
    local bare = World.spawn_unit(world, "skeletons/puppet")
    assert.is_true(Unit.has_skeleton(bare))
    assert.is_true(Unit.has_animation_blender(bare))
    local empty = World.spawn_unit(world, "core/units/empty")
    assert.is_false(Unit.has_skeleton(empty))
    assert.error_matches(function() Unit.skeleton_slots(empty) end, "has no skeleton")
  end)

  it("has slots with parts", function()
    local slots = { "tail", "patch", "body", "arm", "face", "held" }
    assert.same(slots, Unit.skeleton_slots(unit))
    assert.same({ "calm", "angry" }, Unit.skeleton_parts(unit, "body"))
    assert.same({ "1", "2", "3", "4" }, Unit.skeleton_parts(unit, "face"))
    assert.equals("calm", Unit.skeleton_part(unit, "body"))
    assert.is_nil(Unit.skeleton_part(unit, "held"))
    assert.error_matches(function() Unit.skeleton_part(unit, "boddy") end, "did you mean 'body'")
    assert.error_matches(function() Unit.skeleton_parts(unit, "x") end, "has no slot 'x'")
  end)

  it("has nodes for its bones, which animations move", function()
    assert.same({ "body", "arm", "hand", "tail_1", "tail_2" }, Unit.bones(unit))
    local rested = World.spawn_unit(world, "skeletons/puppet", Vector3(1, 2, 0))
    local hand = Unit.world_position(rested, Unit.node(rested, "hand"))
    assert.near(3, hand.x, 1e-4)
    assert.near(4, hand.y, 1e-4)
    Unit.crossfade_animation(rested, "wave")
    play(0.99)
    hand = Unit.world_position(rested, Unit.node(rested, "hand"))
    assert.near(2, hand.x, 0.1)
    assert.near(6, hand.y, 0.1)
  end)

  it("shows the parts that animations choose", function()
    play(0.1)
    Unit.animation_event(unit, "wave")
    play(0.4)
    assert.is_nil(Unit.skeleton_part(unit, "held"))
    play(0.3)
    assert.equals("sword", Unit.skeleton_part(unit, "held"))
    Unit.animation_event(unit, "rest")
    play(0.4)
    assert.is_nil(Unit.skeleton_part(unit, "held"))
  end)

  it("plays the frames of sheets as animations", function()
    local names = Unit.animation_names(unit)
    for _, tag in ipairs({ "run", "back", "sway", "yaws", "fall" }) do
      assert.is_true(table.concat(names, " "):find(tag, 1, true) ~= nil, tag)
    end
    assert.near(0.75, Unit.animation_get_length(unit, "run"), 1e-4)
    assert.near(1, Unit.animation_get_length(unit, "sway"), 1e-4)
    local shown = {}
    Unit.animation_event(unit, "glance")
    play(0.1)
    for i = 1, 4 do
      shown[i] = Unit.skeleton_part(unit, "face")
      play(0.25)
    end
    assert.same({ "1", "2", "3", "1" }, shown)
    assert.equals("angry", Unit.skeleton_part(unit, "body"))
  end)

  it("keeps the part that a script sets while no animation chooses one", function()
    Unit.set_skeleton_part(unit, "body", "angry")
    play(0.2)
    assert.equals("angry", Unit.skeleton_part(unit, "body"))
    Unit.set_skeleton_part(unit, "body", nil)
    play(0.2)
    assert.is_nil(Unit.skeleton_part(unit, "body"))
    assert.error_matches(function()
      Unit.set_skeleton_part(unit, "body", "angri")
    end, "the slot 'body' has no part 'angri', did you mean 'angry'")
  end)

  it("has skins", function()
    assert.same({ "ice" }, Unit.skeleton_skins(unit))
    assert.is_nil(Unit.skeleton_skin(unit))
    Unit.set_skeleton_skin(unit, "ice")
    assert.equals("ice", Unit.skeleton_skin(unit))
    assert.equals("calm", Unit.skeleton_part(unit, "body"))
    Unit.set_skeleton_skin(unit)
    assert.is_nil(Unit.skeleton_skin(unit))
    assert.error_matches(function() Unit.set_skeleton_skin(unit, "fire") end, "has no skin 'fire'")
  end)

  it("has tints and a layer", function()
    assert.equals(3, Unit.skeleton_layer(unit))
    Unit.set_skeleton_layer(unit, -2)
    assert.equals(-2, Unit.skeleton_layer(unit))
    assert.error_matches(function() Unit.set_skeleton_layer(unit, 0.5) end, "whole number")
    assert.equals(Color(255, 255, 255), Unit.skeleton_tint(unit))
    Unit.set_skeleton_tint(unit, Color(128, 10, 20, 30))
    assert.equals(Color(128, 10, 20, 30), Unit.skeleton_tint(unit))
    Unit.set_skeleton_part_tint(unit, "arm", Color(1, 2, 3))
    assert.equals(Color(1, 2, 3), Unit.skeleton_part_tint(unit, "arm"))
    assert.equals(Color(255, 255, 255), Unit.skeleton_part_tint(unit, "body"))
    assert.error_matches(function()
      Unit.set_skeleton_part_tint(unit, "leg", Color(1, 2, 3))
    end, "has no slot 'leg'")
    assert.error_matches(function() Unit.skeleton_part_tint(unit, "leg") end, "has no slot 'leg'")
    assert.error(function() Unit.set_skeleton_tint(unit, "red") end)
  end)

  it("points at a target in its plane", function()
    play(0.1)
    Unit.animation_set_constraint_target(unit, "point", Vector3(2, 10, 0))
    play(0.1)
    local arm, hand = bone("arm"), bone("hand")
    assert.near(arm.x, hand.x, 0.02)
    assert.near(arm.y + 1, hand.y, 0.02)
    assert.near(0, hand.z, 1e-4)
  end)

  it("sends the events of its animations", function()
    Unit.animation_event(unit, "wave")
    local sent = 0
    for _ = 1, 120 do
      World.update(world, STEP)
      for _, event in ipairs(World.animation_events(world)) do
        if event.event == "top" then sent = sent + 1 end
      end
    end
    assert.equals(2, sent)
  end)

  it("adds animations that are differences", function()
    local rested = World.spawn_unit(world, "skeletons/puppet")
    Unit.crossfade_animation(rested, "still")
    Unit.crossfade_animation(rested, "lift", 2)
    play(0.1)
    local q = Unit.local_rotation(rested, Unit.node(rested, "arm"))
    assert.near(40, math.deg(2 * math.atan2(q.z, q.w)), 0.5)
  end)

  it("is drawn like sprites, without hidden slots", function()
    local camera = World.main_camera(world)
    Camera.set_orthographic_size(camera, 40)
    local function pictures()
      Application.render_world(world)
      test.frames(1)
      local count = 0
      for _, draw in ipairs(test.draws()) do
        if draw.world == world then
          assert.equals("sprite", draw.what)
          assert.equals("units/puppet", draw.unit)
          count = count + draw.count
        end
      end
      return count
    end
    assert.equals(5, pictures())
    Unit.set_skeleton_part(unit, "held", "sword")
    assert.equals(6, pictures())
    Unit.set_skeleton_part_tint(unit, "held", Color(0, 255, 255, 255))
    assert.equals(5, pictures())
    Unit.set_unit_visibility(unit, false)
    assert.equals(0, pictures())
  end)

  it("is described by Unit.inspect", function()
    Unit.set_skeleton_skin(unit, "ice")
    local text = Unit.inspect(unit)
    assert.matches("skeleton \"skeletons/puppet\", 6 slots, skin \"ice\", layer 3", text)
    assert.matches("body = \"calm\"", text)
  end)

  it("has no morph targets", function()
    assert.same({}, BlendShape.names(unit))
    assert.error_matches(function()
      BlendShape.set_blend_weight(unit, "body.red", 0)
    end, "has no morph targets")
  end)

  it("is refused with the name of the fault", function()
    assert.error_matches(function()
      World.spawn_unit(world, "units/bad_puppet_skin")
    end, "has no skin 'fire'")
    assert.error_matches(function()
      World.spawn_unit(world, "units/bad_puppet_solid")
    end, "the model 'models/column' is not two%-dimensional")
    assert.error_matches(function()
      World.spawn_unit(world, "units/bad_puppet_other")
    end, "its model is 'skeletons/puppet'")
    assert.error_matches(function()
      World.spawn_unit(world, "skeletons/bad_picture")
    end, "part 'body'")
  end)
end)
