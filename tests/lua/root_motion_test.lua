-- Suite of root motion: animations that move units and movers.
local STEP = 1 / 60

describe("the root motion of a unit", function()
  local world

  before_each(function()
    world = Application.new_world()
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function play(seconds, step)
    step = step or STEP
    for _ = 1, math.floor(seconds / step + 0.5) do
      World.update(world, step)
    end
  end

  local function climber(mode)
    local unit = World.spawn_unit(world, "models/column")
    Unit.set_animation_root_mode(unit, mode)
    Unit.crossfade_animation(unit, "animations/climb", 1, 0, true)
    return unit
  end

  it("is told to scripts, which move the unit themselves", function()
    local unit = climber("ignore")
    play(0.5)
    assert.near(0, Unit.local_position(unit, 1).z, 1e-6)
    assert.near(0, Unit.local_position(unit, Unit.node(unit, "Hip")).z, 1e-3)
    for _ = 1, 60 do
      local wanted = Matrix4x4.translation(Unit.animation_wanted_root_pose(unit))
      assert.near(STEP, wanted.z - Unit.local_position(unit, 1).z, 1e-3)
      Unit.set_local_position(unit, 1, wanted)
      World.update(world, STEP)
    end
    assert.near(1, Unit.local_position(unit, 1).z, 0.01)
  end)

  it("moves units at any frame rate", function()
    local one, other = climber("position"), climber("position_and_rotation")
    play(2.5)
    assert.near(2.5, Unit.local_position(one, 1).z, 0.01)
    assert.near(2.5, Unit.local_position(other, 1).z, 0.01)
    play(3, 0.75)
    assert.near(5.5, Unit.local_position(one, 1).z, 0.01)
    Unit.set_local_scale(one, 1, Vector3(2, 2, 2))
    play(1)
    assert.near(7.5, Unit.local_position(one, 1).z, 0.01)
    Unit.stop_animation(one)
    play(1)
    assert.near(7.5, Unit.local_position(one, 1).z, 0.05)
  end)

  it("ends with an error for a mover that cannot move", function()
    local turn = Quaternion(Vector3.right(), -math.pi / 2)
    local unit = World.spawn_unit(world, "units/climber", Vector3(0, 0, 0.5), turn)
    local other = climber("position")
    Unit.set_animation_root_mode(unit, "position")
    Unit.crossfade_animation(unit, "animations/climb", 1, 0, true)
    Unit.set_local_scale(unit, 1, Vector3(1e7, 1e7, 1e7))
    test.expect_error('unit "units/climber", root motion: .*too long: its root mode is \'ignore\'')
    play(0.5)
    assert.equals("ignore", Unit.animation_root_mode(unit))
    assert.near(0, Unit.local_position(unit, 1).y, 1e-3)
    assert.equals("position", Unit.animation_root_mode(other))
    assert.near(0.5, Unit.local_position(other, 1).z, 0.01)
  end)

  it("moves movers, which stop at walls", function()
    local turn = Quaternion(Vector3.right(), -math.pi / 2)
    local unit = World.spawn_unit(world, "units/climber", Vector3(0, 0, 0.5), turn)
    local wall = World.spawn_unit(world, "core/units/empty", Vector3(0, 2, 1))
    Unit.create_actor(wall, "wall", { type = "static", shape = "box", size = Vector3(9, 1, 9) })
    Unit.set_animation_root_mode(unit, "position")
    Unit.crossfade_animation(unit, "animations/climb", 1, 0, true)
    play(0.5)
    assert.near(0.5, Mover.position(Unit.mover(unit)).y, 0.03)
    play(2)
    local reached = Mover.position(Unit.mover(unit)).y
    assert.is_true(reached > 1 and reached < 1.2, reached)
    assert.near(reached, Unit.world_position(unit, 1).y, 1e-3)
    assert.is_true(Mover.collides_sides(Unit.mover(unit)))
  end)
end)
