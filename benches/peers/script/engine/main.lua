-- The crowd of crowd.lua in the engine: as many frames as it is told to play, nothing drawn.
local crowd = require("crowd")

function init() crowd.gather(10000) end

function update(dt) crowd.step(dt) end

function shutdown()
  local bumps, turns = crowd.sums()
  print("bumps " .. bumps)
  print("turns " .. turns)
end
