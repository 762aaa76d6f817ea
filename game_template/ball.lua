-- Balls that fall, drift in the wind and bounce on the paddle. Lengths are logical pixels, y is up.
-- This module has no pictures or sounds, so tests/ball_test.lua can test it without the game.
local Ball = {}

Ball.RADIUS = 14
local GRAVITY = -700
local RISE = 760 -- the speed at which a ball leaves the paddle
local EDGE = 6 -- sideways speed that it gains for each pixel from the paddle's middle

-- Comments that begin with three dashes tell the editor what it can complete.
---@class Ball
---@field x number
---@field y number
---@field speed_x number
---@field speed_y number
---@field flash number 1 when it bounced, then down to 0

---@return Ball
function Ball.new(x, y)
  return { x = x, y = y, speed_x = 0, speed_y = 0, flash = 0 }
end

---Moves a ball between the walls at 0 and `width`.
---@param ball Ball
---@param wind number pixels a second, gained in each second
---@param width number
---@param dt number
function Ball.move(ball, wind, width, dt)
  ball.speed_x = ball.speed_x + wind * dt
  ball.speed_y = ball.speed_y + GRAVITY * dt
  ball.x = ball.x + ball.speed_x * dt
  ball.y = ball.y + ball.speed_y * dt
  ball.flash = math.max(0, ball.flash - 3 * dt)
  local beyond = ball.speed_x < 0 and Ball.RADIUS - ball.x or ball.x + Ball.RADIUS - width
  if beyond > 0 then ball.speed_x = -ball.speed_x end
end

---Throws a ball up again if it falls onto the paddle. Returns its speed at the hit, or nil.
---@param ball Ball
---@param paddle { x: number, y: number, half_width: number }
---@return number? speed
function Ball.bounce(ball, paddle)
  local from_middle = ball.x - paddle.x
  local near = math.abs(from_middle) < paddle.half_width + Ball.RADIUS
  if ball.speed_y >= 0 or not near or math.abs(ball.y - paddle.y) > Ball.RADIUS * 1.5 then
    return nil
  end
  local speed = -ball.speed_y
  ball.speed_x = ball.speed_x * 0.5 + from_middle * EDGE
  ball.speed_y = RISE
  ball.flash = 1
  return speed
end

return Ball
