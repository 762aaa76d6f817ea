-- The shortest program that shows something: a window with one word. It ends after one frame.
local shown = false

function love.draw()
  love.graphics.print("hello", 10, 10)
  shown = true
end

function love.update()
  -- The frame before this one was presented.
  if shown then love.event.quit() end
end
