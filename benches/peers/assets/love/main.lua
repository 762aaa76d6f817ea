-- A game of 2,000 files in LÖVE: 500 scripts, 1,000 images of 32 x 32 texels, 500 texts of 1 KiB.
-- All of them are loaded, the first frame shows every image, and then the game ends.
local scripts, images, texts, bytes = {}, {}, {}, 0
local shown = false

function love.load()
  for i = 1, 500 do scripts[i] = require("scripts.s" .. i) end
  for i = 1, 1000 do images[i] = love.graphics.newImage("images/i" .. i .. ".png") end
  for i = 1, 500 do
    texts[i] = love.filesystem.read("text/t" .. i .. ".txt")
    bytes = bytes + #texts[i]
  end
  assert(bytes == 500 * 1024 and scripts[7].name == "unit7")
end

function love.update()
  if shown then love.event.quit() end
end

function love.draw()
  for i = 1, #images do
    love.graphics.draw(images[i], (i - 1) % 25 * 32, math.floor((i - 1) / 25) * 15)
  end
  shown = true
end
