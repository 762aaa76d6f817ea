-- The puppet: it walks, jumps, strikes, and exchanges its pictures.
local Puppet = require "puppet"

describe("the puppet", function()
  local world, puppet

  before_each(function()
    world = Application.new_world("2d")
    puppet = Puppet.new(world, Vector3(0, 0, 0))
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function play(frames)
    for _ = 1, frames do
      Puppet.update(puppet, 1 / 60)
      World.update(world, 1 / 60)
    end
  end

  local function state(layer)
    return Unit.animation_layer_info(puppet.unit, layer).state
  end

  it("takes steps while it walks", function()
    play(60)
    assert.equals(0, puppet.steps)
    Puppet.walk(puppet, 1)
    play(100)
    assert.is_true(puppet.steps >= 3)
    assert.is_true(puppet.x > 1)
  end)

  it("turns around", function()
    Puppet.walk(puppet, -1)
    play(2)
    assert.equals(-1, Unit.local_scale(puppet.unit, 1).x)
  end)

  it("jumps and lands", function()
    Puppet.jump(puppet)
    play(10)
    assert.equals("jump", state(1))
    assert.is_true(puppet.y > 0.3)
    play(60)
    assert.equals("move", state(1))
    assert.equals(0, puppet.y)
  end)

  it("strikes once", function()
    Puppet.strike(puppet)
    play(30)
    assert.equals(1, puppet.hits)
    play(40)
    assert.equals("free", state(2))
  end)

  it("changes its clothes and its weapon", function()
    assert.is_nil(Unit.skeleton_skin(puppet.unit))
    Puppet.change_clothes(puppet)
    assert.equals("knight", Unit.skeleton_skin(puppet.unit))
    Puppet.change_clothes(puppet)
    assert.is_nil(Unit.skeleton_skin(puppet.unit))
    Puppet.change_weapon(puppet)
    assert.equals("axe", Unit.skeleton_part(puppet.unit, "weapon"))
    play(2)
    assert.equals("axe", Unit.skeleton_part(puppet.unit, "weapon"))
  end)
end)
