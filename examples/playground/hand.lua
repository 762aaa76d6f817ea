-- The mouse as a hand: the barrel that it points at glows, a click pushes it, and holding the
-- button lifts it and moves it. If you release it in motion, it flies.
---@class Hand
---@field over? Unit
---@field held? Unit
local Hand = {}

local REACH = 30 -- metres
local CLICK = 0.2 -- seconds: a longer press is not a click
local PUSH_SPEED, PUSH_MASS = 9, 25 -- a click hits like an object of that mass
local PULL, PULL_MAX = 9, 16 -- how quickly the held barrel follows, and its maximum speed

local glow ---@type Material
local grab = { distance = 0, seconds = 0, offset = Vector3(), point = Vector3() }

-- A mesh has another material while the mouse points at it; nil restores its own.
local function light(barrel, material)
  if barrel and Unit.alive(barrel) then Mesh.set_material(Unit.mesh(barrel, 1), 1, material) end
end

-- Returns the barrel at a point of the screen, the point where it is hit, and its distance.
local function find(world, from, way)
  local hit, point, distance, _, actor = PhysicsWorld.raycast(World.physics_world(world), from, way,
    REACH, "closest", "collision_filter", "reach")
  if hit and Actor.is_dynamic(actor) then return Actor.unit(actor), point, distance end
end

local function point_at(barrel)
  if barrel == Hand.over then return end
  light(Hand.over, nil)
  light(barrel, glow)
  Hand.over = barrel
end

local function pull(body, from, way)
  local target = from + way * grab.distance + grab.offset
  -- Sets a speed, not a position, so that it bumps into obstacles instead of going through them.
  local speed = (target - Actor.position(body)) * PULL
  Actor.set_velocity(body, Vector3.clamp_length(speed, PULL_MAX))
  Actor.set_angular_velocity(body, Actor.angular_velocity(body) * 0.92)
end

local function release(body, way)
  if grab.seconds < CLICK then Actor.push_at(body, way * PUSH_SPEED, PUSH_MASS, grab.point) end
  Hand.held = nil
end

---@param dt number the player's step, not the world's
---@param world World
---@param camera Camera
function Hand.update(dt, world, camera)
  glow = glow or Material.new("materials/glow")
  Material.set_scalar(glow, "emissive_strength",
    0.35 + 0.25 * math.sin(6 * Application.time_since_launch()))
  if Hand.held and not Unit.alive(Hand.held) then Hand.held = nil end -- the game was restarted
  local from, way = Camera.screen_to_ray(camera, Mouse.axis("cursor"))
  if not Hand.held then
    local barrel, point, distance = find(world, from, way)
    point_at(barrel)
    if not barrel or not Input.pressed("grab") then return end
    Hand.held = barrel
    grab = { distance = distance, seconds = 0, point = point,
      offset = Actor.position(Unit.actor(barrel, "body")) - point }
  end
  local body = Unit.actor(Hand.held, "body")
  if Input.down("grab") then
    grab.seconds = grab.seconds + dt
    if grab.seconds >= CLICK then pull(body, from, way) end
  else
    release(body, way)
  end
end

return Hand
