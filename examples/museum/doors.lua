-- Four doors that slide to their sides. A closed door is an obstacle of the navigation mesh:
-- whoever is on the way through it gets another way, and the shorter one when it opens.
local Doors = { all = {} }

local WIDE, SLIDE = 4, 3.9 -- metres: of a door, and how far it slides
local SECONDS = 0.6
local NEAR = 1.6 -- metres between a door and what the mouse points at

---@class Door
---@field unit Unit
---@field home Vector3 where it is closed
---@field open number 0 is closed, 1 is open
---@field is_open boolean
---@field volume integer? the obstacle of a closed door

---@param mesh NavigationMesh
---@param level Level
function Doors.begin(mesh, level)
  Doors.mesh, Doors.all = mesh, {}
  for i = 1, 4 do
    local unit = Level.unit(level, "door_" .. i)
    local home = Unit.local_position(unit, 1)
    Doors.all[i] = { unit = unit, home = home, open = 1, is_open = true }
  end
end

---@param number integer
function Doors.toggle(number)
  local door = Doors.all[number]
  door.is_open = not door.is_open
  if door.is_open then
    NavigationMesh.remove_volume(Doors.mesh, door.volume)
    door.volume = nil
  else
    door.volume = NavigationMesh.add_box(Doors.mesh, 0, door.home + Vector3(0, 0, 0.9),
      Vector3(WIDE, 0.3, 2))
  end
end

-- The door at the mouse.
local function pointed(camera)
  local from, way = Camera.screen_to_ray(camera, Mouse.axis("cursor"))
  for i, door in ipairs(Doors.all) do
    local middle = door.home + Vector3(0, 0, 1)
    local along = Vector3.dot(middle - from, way)
    if Vector3.distance(from + way * along, middle) < NEAR then return i end
  end
end

---@param dt number
---@param camera Camera
function Doors.update(dt, camera)
  local number = Input.pressed("use") and pointed(camera)
  for i, door in ipairs(Doors.all) do
    if number == i or Input.pressed("door_" .. i) then Doors.toggle(i) end
    door.open = Math.clamp(door.open + (door.is_open and dt or -dt) / SECONDS, 0, 1)
    local aside = Math.smoothstep(0, 1, door.open) * SLIDE
    Unit.set_local_position(door.unit, 1, door.home + Vector3(aside, 0, 0))
  end
end

return Doors
