-- The hero, controlled by keys and the mouse. `engine test .` runs every file in tests/.
local Balls = require "balls"
local Eye = require "eye"
local Hero = require "hero"

describe("the hero", function()
  setup(function() test.boot() end)

  before_each(function()
    test.input({ tap = "r" })
    test.seconds(0.5)
  end)

  -- Places it, turned so that W leads along y, and walks.
  local function walk(position, keys, seconds)
    Eye.yaw = 0
    Mover.set_position(Hero.figure.mover, position)
    test.frames(20)
    for _, key in ipairs(keys) do test.input({ press = key }) end
    test.seconds(seconds)
    local state = Unit.animation_layer_info(Hero.figure.unit, 1)
    local ahead = Unit.animation_get_variable(Hero.figure.unit, "ahead")
    local side = Unit.animation_get_variable(Hero.figure.unit, "side")
    for _, key in ipairs(keys) do test.input({ release = key }) end
    test.frames(20)
    return state.state, ahead, side
  end

  it("shows the speed with which it walks and runs", function()
    local state, ahead = walk(Vector3(-3, -11, 0), { "w" }, 1)
    assert.equals("move", state)
    assert.near(1.6, ahead, 0.1)
    _, ahead = walk(Vector3(-3, -11, 0), { "w", "left shift" }, 1)
    assert.near(4.4, ahead, 0.2)
  end)

  it("stands still in front of a wall", function()
    local _, ahead = walk(Vector3(-3, -13.4, 0), { "s" }, 2)
    assert.near(0, ahead, 0.05)
  end)

  it("climbs the stairs to the terrace", function()
    walk(Vector3(-3, 2, 0), { "w" }, 3.5)
    assert.near(1.2, Hero.position().z, 0.05)
    assert.is_true(Hero.position().y > 6)
  end)

  it("jumps, falls and lands", function()
    Mover.set_position(Hero.figure.mover, Vector3(-3, -11, 0))
    test.frames(20)
    test.input({ tap = "space" })
    test.frames(15)
    assert.equals("jump", Unit.animation_layer_info(Hero.figure.unit, 1).state)
    assert.is_true(Hero.position().z > 0.6)
    test.seconds(2)
    assert.equals("move", Unit.animation_layer_info(Hero.figure.unit, 1).state)
    assert.near(0, Hero.position().z, 0.05)
  end)

  it("walks sideways while it aims", function()
    test.input({ axis = "mouse:cursor", x = 480, y = 400 })
    test.input({ press = "mouse:right" })
    local _, ahead, side = walk(Vector3(-3, -11, 0), { "d" }, 1)
    test.input({ release = "mouse:right" })
    assert.is_true(side > 0.8, "to the side with " .. side)
    assert.is_true(math.abs(ahead) < side)
  end)

  it("throws a ball when its hand opens", function()
    test.input({ tap = "mouse:left" })
    test.frames(10)
    assert.equals(0, #Balls.all)
    test.seconds(0.5)
    assert.equals(1, #Balls.all)
    local body = Unit.actor(Balls.all[1], "body")
    assert.is_true(Vector3.length(Actor.velocity(body)) > 5)
  end)
end)
