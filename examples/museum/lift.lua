-- The lift: a platform of the level's navigation mesh, which carries visitors between its stops in
-- the hall and on the gallery. It goes where somebody waits, or wants to get off.
local Lift = { height = 0 }

local UPPER, SPEED = 3.6, 1.2 -- metres, and metres a second
local WAIT = 1.5 -- seconds with open rails

---@param level Level
function Lift.begin(level)
  Lift.unit = Level.unit(level, "lift")
  Lift.home = Unit.local_position(Lift.unit, 1)
  Lift.platform = Level.navigation_platform(level, "lift")
  Lift.height, Lift.goal, Lift.wait = 0, 0, 0
end

-- True while nobody gets on or off, and somebody wants to be on the other floor.
local function is_called()
  local here, there = "hall", "gallery"
  if Lift.goal > 0 then here, there = there, here end
  local _, leaving, crossing = NavigationMesh.stop_counts(Lift.platform, here)
  local waiting, wanted = NavigationMesh.stop_counts(Lift.platform, there)
  return leaving == 0 and crossing == 0 and waiting + wanted > 0
end

---@param dt number
function Lift.update(dt)
  local step = SPEED * dt
  Lift.height = Lift.height + Math.clamp(Lift.goal - Lift.height, -step, step)
  Unit.set_local_position(Lift.unit, 1, Lift.home + Vector3(0, 0, Lift.height))
  if Lift.height ~= Lift.goal then return end
  Lift.wait = Lift.wait + dt
  if Lift.wait >= WAIT and is_called() then Lift.goal, Lift.wait = UPPER - Lift.goal, 0 end
end

return Lift
