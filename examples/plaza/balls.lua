-- Balls in the air and on the ground. The oldest one vanishes when there are too many.
local Balls = { all = {}, from = {} }

local MAX = 12
local RADIUS = 0.11
local FAST = 4 -- metres a second: a hit that somebody falls from
local PUSH = 3.5 -- metres a second, of somebody who is hit

---@param world World
---@param from Vector3
---@param velocity Vector3
function Balls.throw(world, from, velocity)
  if #Balls.all == MAX then
    local oldest = table.remove(Balls.all, 1)
    Balls.from[oldest] = nil
    World.destroy_unit(world, oldest)
  end
  local ball = World.spawn_unit(world, "units/ball", from)
  Actor.set_velocity(Unit.actor(ball, "body"), velocity)
  Balls.all[#Balls.all + 1] = ball
  Balls.from[ball] = from
  Sound.trigger(world, "sounds/throw", { position = from })
end

function Balls.remove_all()
  for _, ball in ipairs(Balls.all) do World.destroy_unit(Unit.world(ball), ball) end
  Balls.all, Balls.from = {}, {}
end

-- The first person on the way of a ball since the last frame. Movers have no contacts of their own.
local function hit_person(physics, ball, body, strollers)
  local from, to = Balls.from[ball], Actor.position(body)
  Balls.from[ball] = to
  if Vector3.length(Actor.velocity(body)) < FAST then return end
  local hits = PhysicsWorld.linear_sphere_sweep(physics, from, to, RADIUS, 1,
    "collision_filter", "people")
  return hits and strollers.of(Actor.unit(hits[1].actor))
end

---Sounds of hits, and people who fall.
---@param world World
---@param strollers table
---@return integer hits people who were knocked over
function Balls.update(world, strollers)
  local physics, count = World.physics_world(world), 0
  for _, ball in ipairs(Balls.all) do
    local body = Unit.actor(ball, "body")
    local person = hit_person(physics, ball, body, strollers)
    if person and not person.figure.lies then
      local way = Vector3.normalize(Actor.velocity(body))
      strollers.knock_over(person, Vector3.with_z(way, 0.4) * PUSH)
      Actor.set_velocity(body, way * -1.5)
      Sound.trigger(world, "sounds/hit", { position = Actor.position(body),
        parameters = { force = 8 } })
      count = count + 1
    end
  end
  for _, hit in ipairs(PhysicsWorld.contacts(physics)) do
    Sound.trigger(world, "sounds/bounce", { position = hit.position,
      parameters = { force = hit.impulse } })
  end
  return count
end

return Balls
