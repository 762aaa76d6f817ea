-- Balls that fall, drift in the wind and bounce on the floor. Lengths are metres; Z is up. Nothing
-- here prints or keeps time, so that tests/ball_test.lua can check it without playing the game.
local Ball = {}

local GRAVITY = Vector3(0, 0, -9.81)
local SPEED_KEPT = 0.8 -- the share of its speed that a ball keeps when it bounces
local DRAG = 0.1 -- the share of the wind that a ball takes on in a second

-- Comments that begin with three dashes tell the editor what it can complete.
---@class Ball
---@field position Vector3
---@field velocity Vector3
---@field bounces integer

---@return Ball
function Ball.new(position, velocity)
  return { position = position, velocity = velocity, bounces = 0 }
end

---@param ball Ball
---@param wind Vector3
---@param dt number
function Ball.move(ball, wind, dt)
  ball.velocity = ball.velocity + (GRAVITY + wind * DRAG) * dt
  ball.position = ball.position + ball.velocity * dt
  if ball.position.z < 0 and ball.velocity.z < 0 then
    ball.position = Vector3.with_z(ball.position, 0)
    ball.velocity = Vector3.with_z(ball.velocity, -ball.velocity.z * SPEED_KEPT)
    ball.bounces = ball.bounces + 1
  end
end

return Ball
