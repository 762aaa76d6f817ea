-- The game's start. The engine calls init() once, update(dt) in every frame, and shutdown() at the
-- end; what is a ball, and how it moves, is in ball.lua.
local Ball = require "ball"

local BALLS_MAX = 5

---@type Ball[]
local balls = {}
local wind = { velocity = Vector3(0, 0, 0) }

local function throw()
  local sideways = Vector3(Math.random() - 0.5, Math.random() - 0.5, 0)
  balls[#balls + 1] = Ball.new(Vector3(0, 0, 2), Vector3(0, 0, 4) + sideways)
end

local function report()
  local highest, bounces = 0.0, 0
  for _, ball in ipairs(balls) do
    highest = math.max(highest, ball.position.z)
    bounces = bounces + ball.bounces
  end
  print(string.format("%2.0f s: %d balls, the highest at %.2f m, %2d bounces, wind %+.1f m/s",
    Application.time_since_launch(), #balls, highest, bounces, wind.velocity.x))
end

function init()
  print("Balls in the wind")
  for i = 1, BALLS_MAX do
    Timer.after(0.8 * (i - 1), throw)
  end
  Timer.every(1, report)
  Tween.to(wind, 3, { velocity = Vector3(2, 0, 0) },
    { easing = "sine_in_out", yoyo = true, times = math.huge })
end

function update(dt)
  for _, ball in ipairs(balls) do
    Ball.move(ball, wind.velocity, dt)
  end
end

function shutdown()
  print("The end, in frame " .. Application.frame_index())
end
