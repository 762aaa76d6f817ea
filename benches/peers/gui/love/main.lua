-- The workloads of benches/gui/main.lua in LÖVE, one for each run: `MODE N`. Sprites of 16 x 16 at
-- integer positions in the window, drawn one by one: with one texture, with 8 textures in turn, and
-- retained in a SpriteBatch (which supports only one texture). Strings of size 12 in a grid of 40 x
-- 6, long strings in two columns, and widgets of 14 x 5 in a grid of 16 x 6: each has a filled
-- rectangle, an outline and a label. `nothing` is a frame that draws nothing.
local measure = require("measure")
local graphics = love.graphics
local floor = math.floor

local mode, count = measure.arguments[1], tonumber(measure.arguments[2])
local WARM, FRAMES = 60, 120

local seed = 12345
local function random()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647
end

local function image(shade)
  local data = love.image.newImageData(16, 16)
  data:mapPixel(function(x, y) return y / 16, shade / 12, x / 16, 1 end)
  return graphics.newImage(data)
end

local images, sprites, labels = {}, {}, {}
for i = 1, 8 do images[i] = image(i) end
for i = 1, count do
  sprites[i] = {
    x = floor(random() * 800), y = floor(random() * 600), speed = random() * 2 - 1,
    image = images[i % 8 + 1],
  }
  labels[i] = "Btn " .. i
end

local batch
local function keep(usage)
  batch = graphics.newSpriteBatch(images[1], count, usage)
  for i = 1, count do batch:add(sprites[i].x, sprites[i].y) end
end

local frame = 0
local modes = {
  nothing = function() end,
  one = function()
    local texture = images[1]
    for i = 1, count do
      local sprite = sprites[i]
      graphics.draw(texture, sprite.x, sprite.y)
    end
  end,
  eight = function()
    for i = 1, count do
      local sprite = sprites[i]
      graphics.draw(sprite.image, sprite.x, sprite.y)
    end
  end,
  kept = function() graphics.draw(batch) end,
  moved = function()
    for i = 1, count do
      local sprite = sprites[i]
      sprite.y = sprite.y + sprite.speed
      batch:set(i, sprite.x, sprite.y)
    end
    graphics.draw(batch)
  end,
  strings = function()
    for i = 1, count do
      graphics.print("HP " .. (frame + i) % 1000, (i - 1) % 20 * 40, floor((i - 1) / 20) * 6)
    end
  end,
  long_strings = function()
    for i = 1, count do
      local text = "The caravan " .. i .. " left the harbour on day " .. frame
        .. " with salt, wool and 40 barrels of oil for the north"
      graphics.print(text, (i - 1) % 2 * 400, floor((i - 1) / 2) * 4)
    end
  end,
  widgets = function()
    for i = 1, count do
      local x, y = (i - 1) % 50 * 16, floor((i - 1) / 50) * 6
      graphics.setColor(0.2, 0.3, i % 7 == 0 and 0.9 or 0.4)
      graphics.rectangle("fill", x, y, 14, 5)
      graphics.setColor(0.8, 0.8, 0.8)
      graphics.rectangle("line", x, y, 14, 5)
      graphics.setColor(1, 1, 1)
      graphics.print(labels[i], x, y)
    end
  end,
}

if mode == "kept" then keep("static") elseif mode == "moved" then keep("stream") end

function love.draw()
  frame = frame + 1
  modes[mode]()
end

measure.frames(WARM, FRAMES)
