-- The time of day, and how high the sun is at that time.
local Clock = { hour = 19.55, flows = false }

Clock.LATITUDE, Clock.DECLINATION = 48, 12 -- degrees: a town in central Europe, late in April

local STEP = 1.5 -- hours a second while the player holds a key
local PACE = 0.25 -- hours a second while time flows

---@param hour number
function Clock.set(hour)
  Clock.hour = Math.wrap(hour, 0, 24)
end

function Clock.begin()
  Clock.set(Clock.hour)
end

---@param dt number
function Clock.update(dt)
  if Input.pressed("flow") then Clock.flows = not Clock.flows end
  local change = Input.value("time") * STEP
  if Clock.flows then change = change + PACE end
  if change ~= 0 then Clock.set(Clock.hour + change * dt) end
end

---Returns the height of the sun above the horizon in degrees.
---@return number
function Clock.sun_height()
  local latitude, declination = math.rad(Clock.LATITUDE), math.rad(Clock.DECLINATION)
  local turn = math.rad(15 * (Clock.hour - 12))
  local sine = math.sin(latitude) * math.sin(declination)
    + math.cos(latitude) * math.cos(declination) * math.cos(turn)
  return math.deg(math.asin(Math.clamp(sine, -1, 1)))
end

---Returns the time as a text, such as "19:36".
---@return string
function Clock.text()
  local minutes = math.floor(Clock.hour * 60 + 0.5) % 1440
  return ("%02d:%02d"):format(math.floor(minutes / 60), minutes % 60)
end

return Clock
