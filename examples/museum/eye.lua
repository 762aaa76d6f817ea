-- The camera: looks down at a point of the floor, which the player moves; turns and comes nearer.
local Eye = {}

local PITCH = math.rad(-47)
local DISTANCE = { 14, 60 }
local SPEED = 0.7 -- metres a second for each metre of distance

---@param world World
function Eye.begin(world)
  Eye.camera, Eye.ears = Application.main_camera(), World.sound_world(world)
  Eye.target, Eye.yaw, Eye.distance = Vector3(0, -4.5, 0), 0, 42
  Camera.set_vertical_fov(Eye.camera, math.rad(42))
end

---@param dt number
function Eye.update(dt)
  Eye.yaw = Eye.yaw - Input.value("turn") * 1.5 * dt
  if Mouse.button("right") > 0 then Eye.yaw = Eye.yaw - Mouse.axis("mouse").x * 0.005 end
  Eye.distance = Math.clamp(Eye.distance * 0.9 ^ Mouse.axis("wheel").y, DISTANCE[1], DISTANCE[2])
  local around = Quaternion(Vector3.up(), Eye.yaw)
  local pan = Input.value("pan")
  local moved = Eye.target
    + Quaternion.rotate(around, Vector3(pan.x, pan.y, 0)) * (SPEED * Eye.distance * dt)
  Eye.target = Vector3(Math.clamp(moved.x, -22, 22), Math.clamp(moved.y, -22, 14), 0)
  local rotation = around * Quaternion(Vector3.right(), PITCH)
  local position = Eye.target - Quaternion.forward(rotation) * Eye.distance
  Camera.set_local_position(Eye.camera, position)
  Camera.set_local_rotation(Eye.camera, rotation)
  SoundWorld.set_listener(Eye.ears, position, rotation)
end

return Eye
