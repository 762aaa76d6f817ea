-- The crowd of crowd.lua in LÖVE: 60 frames of warm-up and 300 measured frames; nothing is drawn.
local measure = require("measure")
local crowd = require("crowd")

crowd.gather(10000)

function love.update(dt) crowd.step(dt) end

measure.frames(60, 300, function()
  local bumps, turns = crowd.sums()
  measure.tell("bumps", bumps)
  measure.tell("turns", turns)
end)
