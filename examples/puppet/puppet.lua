-- The puppet: its movement, and which animations, clothes and weapons it has.
local Puppet = {}

local SPEED, JUMP, GRAVITY = 1.1, 5, 14
local REACH = 4.2

---@class PuppetState
---@field world World
---@field unit Unit
---@field x number
---@field y number
---@field rise number the speed upwards
---@field way number -1 while it walks to the left, 1 to the right, and 0
---@field facing number -1 or 1
---@field steps integer steps that it has taken
---@field hits integer hits of its weapon

---@return PuppetState
function Puppet.new(world, position)
  local unit = World.spawn_unit(world, "units/puppet", position)
  return {
    world = world, unit = unit, x = position.x, y = position.y, rise = 0, way = 0, facing = 1,
    steps = 0, hits = 0,
  }
end

-- Walks to the left (-1) or to the right (1), or stops (0).
function Puppet.walk(puppet, way)
  puppet.way = way
  if way ~= 0 then puppet.facing = way end
end

function Puppet.is_on_ground(puppet)
  return puppet.y <= 0
end

function Puppet.jump(puppet)
  if not Puppet.is_on_ground(puppet) then return end
  puppet.rise, puppet.y = JUMP, 0.001
  Unit.animation_event(puppet.unit, "jump")
end

function Puppet.strike(puppet)
  Unit.animation_event(puppet.unit, "strike")
end

-- The skin exchanges all pictures; the animations stay the same.
function Puppet.change_clothes(puppet)
  local knight = Unit.skeleton_skin(puppet.unit) == "knight"
  Unit.set_skeleton_skin(puppet.unit, not knight and "knight" or nil)
end

-- A part exchanges the picture of one slot.
function Puppet.change_weapon(puppet)
  local sword = Unit.skeleton_part(puppet.unit, "weapon") == "sword"
  Unit.set_skeleton_part(puppet.unit, "weapon", sword and "axe" or "sword")
end

-- The head turns to a point in the world.
function Puppet.look_at(puppet, point)
  Unit.animation_set_constraint_target(puppet.unit, "look", Vector3(point.x, point.y, 0))
end

function Puppet.update(puppet, dt)
  local was_up = not Puppet.is_on_ground(puppet)
  puppet.x = math.max(-REACH, math.min(REACH, puppet.x + puppet.way * SPEED * dt))
  if was_up then
    puppet.rise = puppet.rise - GRAVITY * dt
    puppet.y = math.max(0, puppet.y + puppet.rise * dt)
    if puppet.y == 0 then Unit.animation_event(puppet.unit, "land") end
  end
  local unit = puppet.unit
  Unit.set_local_position(unit, 1, Vector3(puppet.x, puppet.y, 0))
  Unit.set_local_scale(unit, 1, Vector3(puppet.facing, 1, 1))
  Unit.animation_set_variable(unit, "speed", math.abs(puppet.way))
  for _, sent in ipairs(World.animation_events(puppet.world)) do
    if sent.unit == unit and sent.event == "step" then puppet.steps = puppet.steps + 1 end
    if sent.unit == unit and sent.event == "hit" then puppet.hits = puppet.hits + 1 end
  end
end

return Puppet
