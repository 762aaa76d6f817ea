-- Tests of ball.lua. `engine test .` runs every file in tests/ whose name ends in _test.lua.
-- Tests of the whole game are in game_test.lua.
local Ball = require "ball"

local PADDLE = { x = 100, y = 60, half_width = 70 }

describe("a ball", function()
  it("falls", function()
    local ball = Ball.new(100, 500)
    Ball.move(ball, 0, 800, 0.1)
    assert.is_true(ball.y < 500)
  end)

  it("drifts with the wind, and bounces off the walls", function()
    local ball = Ball.new(795, 500)
    Ball.move(ball, 50, 800, 0.1)
    assert.is_true(ball.speed_x < 0)
  end)

  it("bounces off the paddle, away from its middle", function()
    local ball = Ball.new(120, 65)
    ball.speed_y = -300
    assert.equals(300, Ball.bounce(ball, PADDLE))
    assert.is_true(ball.speed_y > 0 and ball.speed_x > 0)
    assert.is_nil(Ball.bounce(ball, PADDLE))
  end)

  it("falls past the paddle if it misses", function()
    local ball = Ball.new(400, 65)
    ball.speed_y = -300
    assert.is_nil(Ball.bounce(ball, PADDLE))
  end)
end)
