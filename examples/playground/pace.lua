-- Slow motion: how fast the world's time goes. Only World.update and what goes into it take the
-- slower step, so the camera, the mouse and the words on the screen stay quick.
local Pace = { now = 1, slow = false }

Pace.SLOWEST = 0.2
local SECONDS = 0.4 -- how long time takes to become slow, or quick again

function Pace.toggle()
  Pace.slow = not Pace.slow
  Tween.to(Pace, SECONDS, { now = Pace.slow and Pace.SLOWEST or 1 }, "sine_in_out")
end

---The world's step for a frame's step.
---@param dt number
---@return number seconds
function Pace.step(dt)
  -- Every sound whose curves name this parameter goes deeper, those that play among them.
  Sound.set_global_parameter("pace", Pace.now)
  return dt * Pace.now
end

return Pace
