-- The crowd of crowd.lua in the engine. The command line sets the number of frames; nothing is
-- drawn.
local crowd = require("crowd")

function init() crowd.gather(10000) end

function update(dt) crowd.step(dt) end

function shutdown()
  local bumps, turns = crowd.sums()
  print("bumps " .. bumps)
  print("turns " .. turns)
end
