-- Slow motion: the speed of the world's time. Only World.update and its input get the slower step,
-- so the camera, the mouse and the texts on the screen stay fast.
local Pace = { now = 1, slow = false }

Pace.SLOWEST = 0.2
local SECONDS = 0.4 -- the time that slow motion takes to begin or end

function Pace.toggle()
  Pace.slow = not Pace.slow
  Tween.to(Pace, SECONDS, { now = Pace.slow and Pace.SLOWEST or 1 }, "sine_in_out")
end

---Returns the world's time step for a frame's time step.
---@param dt number
---@return number seconds
function Pace.step(dt)
  -- Every sound whose curves use this parameter becomes deeper, including sounds that are playing.
  Sound.set_global_parameter("pace", Pace.now)
  return dt * Pace.now
end

return Pace
