-- A person: a mover, and the state machine of its animations (units/figure.state_machine). The hero
-- and the strollers are figures; what they want is up to hero.lua and strollers.lua.
local GRAVITY = 14
local EAGER, TURN = 9, 9 -- how quickly a figure reaches the wanted speed and direction
local STEP = 0.12 -- seconds in the air before it falls: steps and curbs are shorter

---@class Figure
---@field unit Unit
---@field mover Mover
---@field velocity Vector3 metres a second along the ground
---@field fall number metres a second upward
---@field heading number direction of view in radians, counterclockwise from y
---@field airborne boolean
---@field lies boolean
---@field push Vector3? velocity of the chest when it falls
---@field side integer index of the variable of its state machine
---@field ahead integer
local Figure = {}
Figure.__index = Figure

---@param unit Unit
---@return Figure
function Figure.new(unit)
  local forward = Quaternion.forward(Unit.local_rotation(unit, 1))
  return setmetatable({
    unit = unit, mover = Unit.mover(unit), velocity = Vector3(), fall = 0,
    lies = false, heading = math.atan2(-forward.x, forward.y), airborne = false,
    side = Unit.animation_find_variable(unit, "side"),
    ahead = Unit.animation_find_variable(unit, "ahead"),
  }, Figure)
end

---@return Vector3 feet
function Figure:position() return Mover.position(self.mover) end

---@return boolean
function Figure:is_on_ground() return Mover.standing_frames(self.mover) > 0 end

---@param name string
function Figure:send(name) Unit.animation_event(self.unit, name) end

---@param speed number metres a second upward
function Figure:jump(speed)
  self.fall, self.airborne = speed, true
  self:send("jump")
end

---Falls over; the ragdoll of the state machine takes the body.
---@param push Vector3 metres a second
function Figure:knock(push)
  self.push = push
  self:send("knock")
end

---@param up boolean
local function lie(self, up)
  self.lies = not up
  Mover.set_collision_filter(self.mover, up and "figure" or "absent")
  if not up then return end
  local forward = Quaternion.forward(Unit.local_rotation(self.unit, 1))
  self.heading, self.velocity, self.fall = math.atan2(-forward.x, forward.y), Vector3(), 0
end

---Follows an event of the animation: see units/figure.state_machine.
---@param event string
function Figure:on_event(event)
  if event == "fallen" then
    lie(self, false)
    for _, bone in ipairs({ "chest", "hips" }) do
      local body = Unit.ragdoll_actor(self.unit, bone)
      if body and self.push then Actor.add_velocity(body, self.push) end
    end
  elseif event == "standing" then
    lie(self, true)
  end
end

local function step_down(self, dt)
  if self:is_on_ground() and self.fall <= 0 then
    if self.airborne then
      self.airborne = false
      self:send("land")
    end
    self.fall = 0
  elseif not self.airborne and Mover.flying_frames(self.mover) * dt > STEP then
    self.airborne = true
    self:send("fall")
  end
  if Mover.collides_up(self.mover) then self.fall = math.min(0, self.fall) end
  self.fall = self.fall - GRAVITY * dt
end

---Walks, and looks into a direction.
---@param dt number
---@param wanted Vector3 velocity along the ground
---@param heading? number direction of view; that of the velocity by default
function Figure:update(dt, wanted, heading)
  if self.lies then return end
  self.velocity = Vector3.lerp(self.velocity, wanted, math.min(1, EAGER * dt))
  step_down(self, dt)
  local from = self:position()
  Mover.move(self.mover, (self.velocity + Vector3(0, 0, self.fall)) * dt, dt)
  local moved = Vector3.with_z((self:position() - from) / math.max(dt, 1e-4), 0)
  if not heading and Vector3.length(wanted) > 0.2 then heading = math.atan2(-wanted.x, wanted.y) end
  if heading then
    self.heading = Math.lerp_angle(self.heading, heading, math.min(1, TURN * dt))
  end
  local turned = Quaternion(Vector3.up(), self.heading)
  Unit.set_local_position(self.unit, 1, self:position())
  Unit.set_local_rotation(self.unit, 1, turned)
  -- The animation shows how fast the figure really moves, also along a wall.
  local shown = Quaternion.rotate(Quaternion.inverse(turned), moved)
  Unit.animation_set_variable(self.unit, self.side, shown.x)
  Unit.animation_set_variable(self.unit, self.ahead, shown.y)
end

return Figure
