-- The player's robot. A mover walks up steps and slopes and along walls, and pushes light objects
-- aside. Speed, gravity and jumps are up to the game.
local Walker = { speed = Vector3(), fall = 0, heading = 0 }

local SPEED, JUMP, GRAVITY = 4.5, 6.2, 15 -- it falls faster than barrels, so that jumps feel crisp
local EAGER = 10 -- how quickly it reaches the wanted speed
local SHOUT, SHOUT_REACH = 14, 6 -- metres a second next to it, and metres to where it is zero
local BALL = 0.3 -- the radius of the ball that it rolls on

local unit, mover ---@type Unit, Mover
local ball, body, head ---@type integer, integer, integer

---@param robot Unit
function Walker.begin(robot)
  unit, mover = robot, Unit.mover(robot)
  Walker.unit = unit
  ball, body, head = Unit.node(unit, "Ball"), Unit.node(unit, "Body"), Unit.node(unit, "Head")
  Walker.speed, Walker.fall, Walker.heading = Vector3(), 0, 0
end

---@return Vector3 feet
function Walker.position()
  return Mover.position(mover)
end

---@return boolean
function Walker.is_on_ground()
  return Mover.standing_frames(mover) > 0
end

-- The ball rolls as far as the walker moves; body and head lean and look in its direction.
local function show(dt)
  Unit.set_local_position(unit, 1, Mover.position(mover))
  local axis = Vector3.cross(Vector3.up(), Walker.speed)
  local pace = Vector3.length(axis)
  if pace < 0.1 then return end
  local roll = Quaternion(Vector3.normalize(axis), pace * dt / BALL)
  Unit.set_local_rotation(unit, ball, roll * Unit.local_rotation(unit, ball))
  local wanted = math.atan2(-Walker.speed.x, Walker.speed.y)
  Walker.heading = Math.lerp_angle(Walker.heading, wanted, math.min(1, EAGER * dt))
  local upright = Quaternion(Vector3.up(), Walker.heading)
  Unit.set_local_rotation(unit, body, upright * Quaternion(Vector3.right(), -0.04 * pace))
  Unit.set_local_rotation(unit, head, upright)
end

---Pushes away everything around it that can be moved.
function Walker.shout()
  local world, middle = Unit.world(unit), Mover.position(mover) + Vector3(0, 0, 0.5)
  local physics = World.physics_world(world)
  local near = PhysicsWorld.overlap(physics, "position", middle, "size", SHOUT_REACH,
    "collision_filter", "loose")
  for _, actor in ipairs(near) do
    local way = Actor.position(actor) - middle
    local left = 1 - Vector3.length(way) / SHOUT_REACH
    local up = Vector3.normalize(way + Vector3(0, 0, 0.6))
    Actor.add_velocity(actor, up * (SHOUT * math.max(0, left)))
  end
  World.create_particles(world, "fx/ring", middle)
  Sound.trigger(world, "sounds/shout", { unit = unit })
end

---Walks where the player wants, seen from a camera that is turned by `yaw`.
---@param dt number the world's step
---@param yaw number
function Walker.update(dt, yaw)
  local move = Input.value("move")
  local wanted = Quaternion(Vector3.up(), yaw) * Vector3(move.x, move.y, 0) * SPEED
  Walker.speed = Vector3.lerp(Walker.speed, wanted, math.min(1, EAGER * dt))
  if Walker.is_on_ground() then
    Walker.fall = math.max(0, Walker.fall)
    if Input.pressed("jump") then
      Walker.fall = JUMP
      Sound.trigger(Unit.world(unit), "sounds/jump", { unit = unit })
    end
  elseif Mover.collides_up(mover) then
    Walker.fall = math.min(0, Walker.fall)
  end
  if Input.pressed("shout") then Walker.shout() end
  Walker.fall = Walker.fall - GRAVITY * dt
  Mover.move(mover, (Walker.speed + Vector3(0, 0, Walker.fall)) * dt, dt)
  show(dt)
end

return Walker
