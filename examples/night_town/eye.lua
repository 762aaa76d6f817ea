-- The player's eyes: they walk through the streets, or fly along a path of the level. Turned by the
-- right mouse button, arrow keys or the right stick.
local Eye = { yaw = 0.05, pitch = 0.06, flies = false }

local HEIGHT = 1.62 -- of the eyes above the feet
local WALK, RUN, GRAVITY = 2, 4.5, 9.8
local TURN, MOUSE = { 1.6, 1 }, { 0.004, 0.003 }
local PITCH = { -1.2, 1.2 }
local FLIGHT, AHEAD = 2.2, 7 -- metres a second, and metres to the point that it looks at

local unit, mover, level ---@type Unit, Mover, Level
local ears ---@type SoundWorld
local speed, fall, way = Vector3(), 0, 0

---@param world World
---@param town Level
function Eye.begin(world, town)
  level, unit = town, Level.unit(town, "walker")
  mover, ears = Unit.mover(unit), World.sound_world(world)
  Eye.camera = Application.main_camera()
  Camera.set_vertical_fov(Eye.camera, math.rad(56))
  Camera.set_near_range(Eye.camera, 0.1)
  Camera.set_far_range(Eye.camera, 400)
  speed, fall, way = Vector3(), 0, 0
  Eye.update(0)
end

local function turn(dt)
  Eye.yaw = Eye.yaw - Input.value("turn") * TURN[1] * dt
  Eye.pitch = Eye.pitch + Input.value("look") * TURN[2] * dt
  if Mouse.button("right") > 0 then
    local moved = Mouse.axis("mouse")
    Eye.yaw, Eye.pitch = Eye.yaw - moved.x * MOUSE[1], Eye.pitch + moved.y * MOUSE[2]
  end
  Eye.pitch = Math.clamp(Eye.pitch, PITCH[1], PITCH[2])
end

local function walk(dt)
  local move = Input.value("move")
  local wanted = Quaternion(Vector3.up(), Eye.yaw) * Vector3(move.x, move.y, 0)
    * (Input.down("run") and RUN or WALK)
  speed = Vector3.lerp(speed, wanted, math.min(1, 8 * dt))
  fall = Mover.standing_frames(mover) > 0 and 0 or fall - GRAVITY * dt
  Mover.move(mover, (speed + Vector3(0, 0, fall)) * dt, dt)
  Eye.position = Mover.position(mover) + Vector3(0, 0, HEIGHT)
  Eye.rotation = Quaternion(Vector3.up(), Eye.yaw) * Quaternion(Vector3.right(), Eye.pitch)
end

-- It looks along the path; the player tilts its view.
local function fly(dt)
  way = way + FLIGHT * dt
  Eye.position = Level.spline_position(level, "flight", way)
  local ahead = Level.spline_position(level, "flight", way + AHEAD) - Eye.position
  Eye.rotation = Quaternion.look(Vector3(ahead.x, ahead.y, 0.25 * ahead.z + 0.6), Vector3.up())
    * Quaternion(Vector3.right(), 0.5 * Eye.pitch)
end

---@param dt number
function Eye.update(dt)
  if Input.pressed("fly") then Eye.flies = not Eye.flies end
  turn(dt)
  if Eye.flies then fly(dt) else walk(dt) end
  Camera.set_local_position(Eye.camera, Eye.position)
  Camera.set_local_rotation(Eye.camera, Eye.rotation)
  SoundWorld.set_listener(ears, Eye.position, Eye.rotation)
end

return Eye
