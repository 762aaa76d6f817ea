-- COUNT boxes of half a metre that fall into a bin in columns, with friction and a little bounce:
-- Box2D in LÖVE, 32 pixels per metre, 60 steps per second. The first 360 steps are measured;
-- nothing is drawn.
local measure = require("measure")
local physics = love.physics

local count = tonumber(measure.arguments[1])
local columns = count >= 5000 and 100 or 50
local METRE, GAP = 32, 18

physics.setMeter(METRE)
local world = physics.newWorld(0, 9.81 * METRE, true)
local half = columns * GAP / 2 + 20
local bin = physics.newBody(world, 0, 0, "static")
physics.newFixture(bin, physics.newEdgeShape(-half, 0, half, 0))
for _, x in ipairs({ -half, half }) do
  physics.newFixture(bin, physics.newEdgeShape(x, 0, x, -6000))
end

local box, boxes = physics.newRectangleShape(16, 16), {}
for i = 0, count - 1 do
  local column, row = i % columns, math.floor(i / columns)
  local jitter = (i * 7919 % 1000 / 1000 - 0.5) * 4
  local x = (column - (columns - 1) / 2) * GAP + jitter
  local body = physics.newBody(world, x, -20 - row * GAP, "dynamic")
  local fixture = physics.newFixture(body, box, 1)
  fixture:setFriction(0.5)
  fixture:setRestitution(0.1)
  boxes[i + 1] = body
end

function love.update(dt) world:update(dt) end

measure.frames(0, 360, function()
  local awake = 0
  for _, body in ipairs(boxes) do awake = awake + (body:isAwake() and 1 or 0) end
  measure.tell("awake", awake)
end)
