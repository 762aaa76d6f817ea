-- What ball.lua promises. `engine test .` runs every file in tests/ whose name ends in _test.lua.
local Ball = require "ball"

local CALM = Vector3(0, 0, 0)

describe("a ball", function()
  it("falls", function()
    local ball = Ball.new(Vector3(0, 0, 2), Vector3(0, 0, 0))
    Ball.move(ball, CALM, 0.1)
    assert.is_true(ball.position.z < 2)
    assert.equals(0, ball.bounces)
  end)

  it("bounces back from the floor, slower than it came", function()
    local ball = Ball.new(Vector3(0, 0, 0), Vector3(0, 0, -5))
    Ball.move(ball, CALM, 0.1)
    assert.equals(0, ball.position.z)
    assert.is_true(ball.velocity.z > 0 and ball.velocity.z < 5)
    assert.equals(1, ball.bounces)
  end)

  it("drifts with the wind", function()
    local ball = Ball.new(Vector3(0, 0, 2), Vector3(0, 0, 0))
    Ball.move(ball, Vector3(3, 0, 0), 0.1)
    assert.is_true(ball.position.x > 0)
    assert.equals(0, ball.position.y)
  end)
end)
