-- Twenty people who stroll from one spot of the square to another, look around, greet the player,
-- make way for each other, and get up again when a ball has knocked them over.
local Figure = require "figure"

---@class Strollers
---@field all Stroller[]
---@field by_unit table<Unit, Stroller>
local Strollers = { all = {} }

local COUNT = 20
local COATS = { "coat_blue", "coat_green", "coat_violet", "coat_grey", "coat_brown" }
local CAPS = { "cap_red", "cap_navy", "cap_mustard", "cap_green" }
local ROOM = 0.9 -- metres that people keep from each other
local FACE = Vector3(0, 0, 1.6)
local NEAR, GREETED = 3.2, 14 -- metres, and seconds until the next greeting
local REST = 2.5 -- seconds on the ground
local STUCK = 1.5 -- seconds without progress: somebody stands in the way

-- Spots with a free way between those of neighbouring numbers: around the fountain, up the stairs,
-- along the terrace, and down the ramp.
local SPOTS = {
  Vector3(-4.5, -7.5, 0), Vector3(4.5, -7.5, 0), Vector3(5.5, -3, 0), Vector3(4, 1.5, 0),
  Vector3(2.5, 4.2, 0), Vector3(2.5, 7.5, 1.2), Vector3(11, 10, 1.2), Vector3(0, 11, 1.2),
  Vector3(-9.7, 8.5, 1.2), Vector3(-9.7, -0.8, 0), Vector3(-5.5, -3, 0), Vector3(-12, -5.5, 0),
}

---@class Stroller
---@field figure Figure
---@field goal integer index of the next spot
---@field way integer 1 or -1: the direction around the square
---@field pause number seconds of standing that are left
---@field greeted number seconds until it may greet again
---@field speed number metres a second
---@field slow number seconds without progress
---@field rest number seconds until it gets up

---@param world World
function Strollers.spawn(world)
  for _, person in ipairs(Strollers.all) do
    if Unit.alive(person.figure.unit) then World.destroy_unit(world, person.figure.unit) end
  end
  Strollers.all, Strollers.by_unit = {}, {}
  for i = 1, COUNT do
    local spot = SPOTS[(i - 1) % #SPOTS + 1]
    local aside = Vector3((Math.random() - 0.5) * 3, (Math.random() - 0.5) * 2, 0)
    local turned = Quaternion(Vector3.up(), Math.random() * 2 * math.pi)
    local unit = World.spawn_unit(world, "units/stroller", spot + aside, turned)
    Unit.set_material(unit, "Coat", "materials/" .. COATS[i % #COATS + 1])
    Unit.set_material(unit, "Cap", "materials/" .. CAPS[i % #CAPS + 1])
    local person = {
      figure = Figure.new(unit), goal = (i - 1) % #SPOTS + 1, pause = Math.random() * 4,
      way = Math.random() < 0.5 and 1 or -1, speed = 1.15 + 0.5 * Math.random(),
      greeted = 3, slow = 0, rest = 0,
    }
    Strollers.all[i], Strollers.by_unit[unit] = person, person
  end
end

---@param unit Unit?
---@return Stroller?
function Strollers.of(unit) return unit and Strollers.by_unit[unit] end

-- The way to the next spot, away from people who are near.
local function direction(person, hero)
  local here = person.figure:position()
  local way = Vector3.with_z(SPOTS[person.goal] - here, 0)
  local far = Vector3.length(way)
  way = far > 0 and way / far or way
  local function avoid(other)
    local apart = here - other
    local distance = Vector3.length(apart)
    if distance > 0.01 and distance < 2 * ROOM then
      -- Everybody passes on the right, so that nobody stands still in front of another.
      local aside = Vector3(way.y, -way.x, 0)
      way = way + (apart / distance + aside) * ((2 * ROOM - distance) / (2 * ROOM))
    end
  end
  for _, other in ipairs(Strollers.all) do
    if other ~= person then avoid(other.figure:position()) end
  end
  avoid(hero:position())
  local size = Vector3.length(way)
  return size > 0.01 and way / size or way, far
end

local function next_spot(person)
  if Math.random() < 0.2 then person.way = -person.way end
  person.goal = (person.goal + person.way - 1) % #SPOTS + 1
  person.pause = Math.random() < 0.45 and 2 + 3 * Math.random() or 0
  if person.pause > 3 then person.figure:send("look") end
end

local function greet(person, dt, hero)
  person.greeted = person.greeted - dt
  if person.greeted < GREETED - 2.5 then
    Unit.animation_set_constraint_target(person.figure.unit, "point", nil)
  end
  local towards = hero:position() - person.figure:position()
  if person.greeted > 0 or Vector3.length(towards) > NEAR then return nil end
  person.greeted, person.pause = GREETED, 1.8
  Unit.animation_set_constraint_target(person.figure.unit, "point", hero:position() + FACE)
  person.figure:send("greet")
end

local function stroll(person, dt, hero)
  local figure = person.figure
  greet(person, dt, hero)
  local way, far = direction(person, hero)
  local wanted = Vector3()
  if person.pause > 0 then
    person.pause = person.pause - dt
    if person.pause <= 0 then figure:send("move") end
  else
    wanted = way * person.speed
    person.slow = Vector3.length(figure.velocity) < 0.3 and person.slow + dt or 0
    if far < 1 or person.slow > STUCK then next_spot(person) end
  end
  figure:update(dt, wanted)
end

-- Gets up after some seconds.
local function lie(person, dt)
  if person.rest <= 0 then return end
  person.rest = person.rest - dt
  if person.rest <= 0 then person.figure:send("get_up") end
end

---@param dt number
---@param hero Figure
function Strollers.update(dt, hero)
  for _, person in ipairs(Strollers.all) do
    if person.figure.lies then
      lie(person, dt)
    else
      stroll(person, dt, hero)
    end
  end
end

---@param person Stroller
---@param push Vector3 metres a second
function Strollers.knock_over(person, push)
  if person.figure.lies then return end
  person.rest, person.pause = REST, 1
  person.figure:knock(push)
end

return Strollers
