-- Suite of streamed animations: their poses are those of whole ones. Suites wait for each chunk.
local STEP = 1 / 60
local STREAMED = "animations/procession"

describe("a streamed animation", function()
  local world, unit, hip

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "models/column")
    hip = Unit.node(unit, "Hip")
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function height() return Unit.local_position(unit, hip).z end

  -- Returns the height at a time of an animation of the model that does not play.
  local function whole(time) return AnimationCurves.sample(unit, "Rise", hip, time).z end

  it("has the length, the events and the poses of a whole one", function()
    assert.near(1, Unit.animation_get_length(unit, STREAMED), 1e-6)
    Unit.crossfade_animation(unit, STREAMED)
    local sent = 0
    for frame = 1, 165 do
      World.update(world, STEP)
      -- At the end of the loop, the rounding of the time decides.
      if frame % 60 > 0 then assert.near(whole(frame * STEP % 1), height(), 2e-3) end
      sent = sent + #World.animation_events(world)
    end
    assert.equal(3, sent)
  end)

  it("jumps, plays backward and in parts", function()
    local id = Unit.crossfade_animation(unit, STREAMED)
    for _, time in ipairs { 0.9, 0.1, 0.6, 0.25, 0.3 } do
      Unit.crossfade_animation_set_time(unit, id, time)
      World.update(world, 0)
      assert.near(whole(time), height(), 2e-3)
    end
    Unit.crossfade_animation_set_speed(unit, id, -1)
    World.update(world, 0.2)
    assert.near(whole(0.1), height(), 2e-3)
    World.update(world, 0.2)
    assert.near(whole(0.9), height(), 2e-3)
    Unit.play_simple_animation(unit, 0.5, 0.75, false, 1, STREAMED)
    World.update(world, 0.1)
    assert.near(whole(0.6), height(), 2e-3)
    World.update(world, 1)
    assert.near(whole(0.75), height(), 2e-3)
  end)

  it("fades to another animation and is sampled by scripts", function()
    Unit.crossfade_animation(unit, STREAMED)
    World.update(world, 0.5)
    local id = Unit.crossfade_animation(unit, "Rise", 1, 0.2)
    Unit.crossfade_animation_set_speed(unit, id, 0)
    World.update(world, 0.1)
    assert.near((whole(0.6) + whole(0)) / 2, height(), 2e-3)
    for _, time in ipairs { 0.8, 0.3, 1 } do
      assert.near(whole(time), AnimationCurves.sample(unit, STREAMED, hip, time).z, 2e-3)
    end
  end)

  it("plays for other models and in state machines", function()
    local post = World.spawn_unit(world, "units/post")
    Unit.crossfade_animation(post, STREAMED)
    World.update(world, 0.6)
    World.update(world, 0.2)
    local pelvis = Unit.node(post, "Hip")
    assert.near(AnimationCurves.sample(post, "models/column#Rise", pelvis, 0.8).z,
      Unit.local_position(post, pelvis).z, 2e-3)
    Unit.set_animation_state_machine(unit, "units/column_stream")
    World.update(world, 0.7)
    assert.near(whole(0.7), height(), 2e-3)
    World.update(world, 0.5)
    assert.near(whole(0.2), height(), 2e-3)
  end)
end)
