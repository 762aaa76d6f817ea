-- The player's figure: keys and the mouse, seen from the camera.
local Figure = require "figure"

---@class Hero
---@field figure Figure
---@field target? Vector3 the point under the mouse
---@field point integer index of the target of its state machine
---@field lying number seconds since it fell
local Hero = {}

local WALK, RUN, AIMING, JUMP = 1.6, 4.4, 1.4, 5.2
local HAND = Vector3(0.25, 0.35, 1.6) -- where a ball leaves the hand, seen from the figure
local THROW = 15 -- metres a second
local FAR = 40
local DIVE = Vector3(0, 3.6, 1) -- metres a second, seen from the figure
local LIE = 0.8 -- seconds on the ground before it can get up

---@param unit Unit
function Hero.begin(unit)
  Hero.figure = Figure.new(unit)
  Hero.target, Hero.lying = nil, 0
  Hero.point = Unit.animation_find_constraint_target(unit, "point")
end

---@return Vector3 feet
function Hero.position() return Hero.figure:position() end

-- The point under the mouse.
local function pointed_at(eye)
  local from, way = Camera.screen_to_ray(eye.camera, Mouse.axis("cursor"))
  local hits = PhysicsWorld.raycast(eye.physics, from, way, FAR, "all", "collision_filter", "aim")
  for _, hit in ipairs(hits or {}) do
    if Actor.unit(hit.actor) ~= Hero.figure.unit then return hit.position end
  end
  return from + way * FAR
end

-- On the ground, until the player wants to move again.
local function lie(dt, move)
  Hero.lying = Hero.lying + dt
  local wants = Vector3.length(move) > 0.5 or Input.pressed("jump") or Input.pressed("dive")
  if wants and Hero.lying > LIE then Hero.figure:send("get_up") end
end

---@param dt number
---@param eye table the camera
function Hero.update(dt, eye)
  local figure = Hero.figure
  local move = Input.value("move")
  if figure.lies then return lie(dt, Vector3(move.x, move.y, 0)) end
  local aims = Input.down("aim")
  local speed = aims and AIMING or Input.down("run") and RUN or WALK
  local way = Quaternion.rotate(Quaternion(Vector3.up(), eye.yaw), Vector3(move.x, move.y, 0))
  Hero.target = pointed_at(eye)
  Unit.animation_set_constraint_target(figure.unit, Hero.point, aims and Hero.target or nil)
  local heading
  if aims then
    local towards = Hero.target - figure:position()
    heading = math.atan2(-towards.x, towards.y)
  end
  if figure:is_on_ground() and Input.pressed("jump") then figure:jump(JUMP) end
  if Input.pressed("throw") then figure:send("throw") end
  if Input.pressed("greet") then figure:send("greet") end
  if figure:is_on_ground() and Input.pressed("dive") then
    local turned = Quaternion(Vector3.up(), figure.heading)
    Hero.lying = 0
    figure:knock(figure.velocity + Quaternion.rotate(turned, DIVE))
  end
  figure:update(dt, way * speed, heading)
end

---Throws a ball when the animation opens the hand.
---@param event string
---@param balls table
function Hero.on_event(event, balls)
  Hero.figure:on_event(event)
  if event ~= "release" then return end
  local turned = Quaternion(Vector3.up(), Hero.figure.heading)
  local from = Hero.position() + Quaternion.rotate(turned, HAND)
  local way = Vector3.normalize(Hero.target - from)
  balls.throw(Unit.world(Hero.figure.unit), from, way * THROW + Vector3(0, 0, 1.2))
end

return Hero
