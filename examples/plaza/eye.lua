-- The camera: behind the hero's shoulder, turned by keys, the middle mouse button or the right
-- stick, and never behind a wall.
local Eye = { yaw = 0, pitch = -0.22, distance = 5.2 }

local SHOULDER = Vector3(0.35, 0, 1.55) -- the point that it looks at, as seen from the hero's feet
local RADIUS = 0.25 -- its distance from walls
local PITCH, DISTANCE = { -1.1, 0.3 }, { 2.2, 10 }
local SPEED, MOUSE = { 2, 1.2 }, { 0.005, 0.004 }

---@param world World
function Eye.begin(world)
  Eye.camera, Eye.physics = Application.main_camera(), World.physics_world(world)
  Eye.ears = World.sound_world(world)
  Eye.target = nil
  Camera.set_vertical_fov(Eye.camera, math.rad(55))
end

local function turn(dt)
  Eye.yaw = Eye.yaw - Input.value("turn") * SPEED[1] * dt
  Eye.pitch = Eye.pitch + Input.value("look") * SPEED[2] * dt
  if Mouse.button("middle") > 0 then
    local moved = Mouse.axis("mouse")
    Eye.yaw, Eye.pitch = Eye.yaw - moved.x * MOUSE[1], Eye.pitch + moved.y * MOUSE[2]
  end
  Eye.pitch = Math.clamp(Eye.pitch, PITCH[1], PITCH[2])
  Eye.distance = Math.clamp(Eye.distance * 0.9 ^ Mouse.axis("wheel").y, DISTANCE[1], DISTANCE[2])
end

---@param dt number
---@param feet Vector3 where the hero is
function Eye.update(dt, feet)
  turn(dt)
  local around = Quaternion(Vector3.up(), Eye.yaw)
  local wanted = feet + Quaternion.rotate(around, SHOULDER)
  -- Steps and jumps move it with a small delay.
  Eye.target = Vector3.lerp(Eye.target or wanted, wanted, math.min(1, 12 * dt))
  local rotation = around * Quaternion(Vector3.right(), Eye.pitch)
  local back = -Quaternion.forward(rotation)
  local hits = PhysicsWorld.linear_sphere_sweep(Eye.physics, Eye.target,
    Eye.target + back * Eye.distance, RADIUS, 1, "collision_filter", "sight")
  local position = Eye.target + back * (hits and hits[1].distance or Eye.distance)
  Camera.set_local_position(Eye.camera, position)
  Camera.set_local_rotation(Eye.camera, rotation)
  SoundWorld.set_listener(Eye.ears, position, rotation)
end

return Eye
