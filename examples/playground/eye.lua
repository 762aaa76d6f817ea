-- The camera: behind the walker's shoulder, turned by the right mouse button, arrow keys or the
-- right stick, and never behind a wall.
local Eye = { yaw = 0, pitch = 0, distance = 0 }

local HEAD = Vector3(0, 0, 1.8) -- the point that it looks at, above the walker's feet
local SIZE = 0.25 -- its minimum distance from walls
local PITCH = { -1.2, 0.35 }
local DISTANCE = { 2.5, 12 }

---@param world World
function Eye.begin(world)
  Eye.camera = Application.main_camera()
  Eye.physics, Eye.sound = World.physics_world(world), World.sound_world(world)
  Eye.yaw, Eye.pitch, Eye.distance, Eye.target = 0.25, -0.28, 7.5, nil
  Camera.set_vertical_fov(Eye.camera, math.rad(58))
end

local function steer(dt)
  Eye.yaw = Eye.yaw - Input.value("turn") * 2 * dt
  Eye.pitch = Eye.pitch + Input.value("look") * 1.2 * dt
  if Mouse.button("right") > 0 then
    local moved = Mouse.axis("mouse")
    Eye.yaw, Eye.pitch = Eye.yaw - moved.x * 0.005, Eye.pitch + moved.y * 0.004
  end
  Eye.pitch = Math.clamp(Eye.pitch, PITCH[1], PITCH[2])
  local wheel = Mouse.axis("wheel").y
  Eye.distance = Math.clamp(Eye.distance * 0.9 ^ wheel, DISTANCE[1], DISTANCE[2])
end

---@param dt number the player's step, not the world's
---@param feet Vector3 where the walker is
function Eye.update(dt, feet)
  steer(dt)
  local wanted = feet + HEAD
  -- It follows with a small delay, so that steps and jumps do not shake it.
  Eye.target = Vector3.lerp(Eye.target or wanted, wanted, math.min(1, 12 * dt))
  local rotation = Quaternion(Vector3.up(), Eye.yaw) * Quaternion(Vector3.right(), Eye.pitch)
  local back = Quaternion.forward(rotation) * -Eye.distance
  local hits = PhysicsWorld.linear_sphere_sweep(Eye.physics, Eye.target, Eye.target + back, SIZE, 1,
    "collision_filter", "sight")
  local position = Eye.target + (hits and Vector3.normalize(back) * hits[1].distance or back)
  Camera.set_local_position(Eye.camera, position)
  Camera.set_local_rotation(Eye.camera, rotation)
  SoundWorld.set_listener(Eye.sound, position, rotation)
end

return Eye
