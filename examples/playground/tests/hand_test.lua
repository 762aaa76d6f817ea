-- Picking: a cursor on a barrel, a click, and a drag.
local Barrels = require "barrels"
local Eye = require "eye"
local Hand = require "hand"

describe("the hand", function()
  local top -- the barrel on the top of the first pyramid

  setup(function() test.boot() end)

  before_each(function()
    test.input({ tap = "r" })
    test.seconds(1)
    top = Barrels.all[30]
  end)

  local function aim(position)
    local pixel = Camera.world_to_screen(Eye.camera, position)
    test.input({ axis = "mouse:cursor", x = pixel.x, y = pixel.y })
    test.frames(2)
  end

  local function look()
    return Material.name(Mesh.material(Unit.mesh(top, 1), 1))
  end

  it("finds the barrel under the cursor, which glows", function()
    aim(Unit.world_position(top))
    assert.equals(top, Hand.over)
    assert.equals("materials/glow", look())
    aim(Unit.world_position(top) + Vector3(0, 0, 4))
    assert.is_nil(Hand.over)
    assert.equals("models/barrel/Wood", look())
  end)

  it("does not reach through walls", function()
    aim(Vector3(0, 9, 4))
    assert.is_nil(Hand.over)
  end)

  it("pushes with a click", function()
    aim(Unit.world_position(top))
    test.input({ tap = "mouse:left" })
    test.frames(3)
    assert.is_nil(Hand.held)
    assert.is_true(Actor.velocity(Unit.actor(top, "body")).y > 1)
    test.seconds(2)
    assert.is_true(Barrels.standing() < 100)
  end)

  it("lifts a held barrel, and releases it", function()
    local position = Unit.world_position(top)
    aim(position)
    test.input({ press = "mouse:left" })
    test.frames(20)
    assert.equals(top, Hand.held)
    aim(position + Vector3(0, 0, 2))
    test.seconds(1)
    assert.near(position.z + 2, Unit.world_position(top).z, 0.3)
    test.input({ release = "mouse:left" })
    test.seconds(2)
    assert.is_nil(Hand.held)
    assert.is_true(Unit.world_position(top).z < position.z + 0.2)
  end)

  it("releases a barrel that is destroyed", function()
    aim(Unit.world_position(top))
    test.input({ press = "mouse:left" })
    test.frames(20)
    test.input({ tap = "r" })
    test.frames(2)
    assert.is_false(Unit.alive(top))
    assert.is_true(Hand.held ~= top)
  end)
end)
