-- The cost of one call of LÖVE: each frame makes COUNT calls of the function CASE in a loop and
-- uses the results. The arguments are `CASE COUNT`. The engine's game has the same cases with the
-- same names.
local measure = require("measure")

local case, count = measure.arguments[1], tonumber(measure.arguments[2])
local WARM, FRAMES = 3, 12

local graphics, physics = love.graphics, love.physics
local world = physics.newWorld(0, 9.81 * 32, true)
local body = physics.newBody(world, 10, 20, "dynamic")
physics.newFixture(body, physics.newCircleShape(16), 1)
local transform = love.math.newTransform(1, 2, 0.3)
local image = graphics.newImage(love.image.newImageData(16, 16))
local sum = 0

local function plus_one(number) return number + 1 end

local cases = {
  loop = function()
    for i = 1, count do sum = sum + i end
  end,
  lua = function()
    for _ = 1, count do sum = plus_one(sum) end
  end,
  random = function()
    for _ = 1, count do sum = sum + love.math.random() end
  end,
  noise = function()
    for i = 1, count do sum = sum + love.math.noise(i * 0.01, 0.5) end
  end,
  body_position = function()
    for _ = 1, count do
      local x, y = body:getPosition()
      sum = sum + x + y
    end
  end,
  body_velocity = function()
    for i = 1, count do body:setLinearVelocity(i, 2) end
  end,
  key = function()
    for _ = 1, count do
      if love.keyboard.isDown("space") then sum = 0 end
    end
  end,
  cursor = function()
    for _ = 1, count do
      local x, y = love.mouse.getPosition()
      sum = sum + x + y
    end
  end,
  clock = function()
    for _ = 1, count do sum = sum + love.timer.getTime() end
  end,
  window_size = function()
    for _ = 1, count do
      local width, height = graphics.getDimensions()
      sum = sum + width + height
    end
  end,
  image_size = function()
    for _ = 1, count do
      local width, height = image:getDimensions()
      sum = sum + width + height
    end
  end,
  transform = function()
    for i = 1, count do
      local x, y = transform:transformPoint(i, 2)
      sum = sum + x + y
    end
  end,
  push_pop = function()
    for i = 1, count do
      graphics.push()
      graphics.translate(i, -i)
      graphics.pop()
    end
  end,
}

function love.draw() cases[case]() end

measure.frames(WARM, FRAMES)
