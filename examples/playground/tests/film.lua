-- A film strip of the objects with graphs, for ../film.sh: it plays what objects_test.lua checks,
-- and takes pictures. It is no suite of its own, because the pictures are looked at by people.
local Barrels = require "barrels"
local Eye = require "eye"
local Walker = require "walker"

local world, level ---@type World, Level
local eye, at ---@type Vector3, Vector3
local pictures = 0

local function look(from, to) eye, at = from, to end

local function put(position)
  Mover.set_position(Unit.mover(Walker.unit), position)
  test.frames(12)
end

local function take()
  pictures = pictures + 1
  test.screenshot("film_" .. pictures, { picture = true })
end

local function throw(actor, from, velocity)
  Actor.teleport_position(actor, from)
  Actor.set_velocity(actor, velocity)
end

-- Steps on plates in an order, such as "231"; stays on the last one.
local function step_on(order)
  for mark in order:gmatch("%d") do
    put(Vector3(-4.6, -7, 0))
    put(Unit.world_position(Level.unit(level, "plate_" .. mark)))
  end
end

local function crates()
  local found = 0
  for _, unit in ipairs(World.units(world)) do
    if Unit.is_a(unit, "units/crate") then found = found + 1 end
  end
  return found
end

local function lamp()
  local unit = Level.unit(level, "lamp_1")
  look(Vector3(-4.6, -6.6, 2.2), Vector3(-7.6, -4.2, 1.35))
  local before = Unit.world_position(unit) + Vector3(1.6, -0.1, 1)
  throw(Unit.actor(Barrels.all[1], "body"), before, Vector3(-9, 0, 1))
  test.frames(2)
  take()
  test.frames(12)
  take()
end

local function crate()
  local unit = Level.unit(level, "crate_1")
  look(Vector3(7.2, -8.6, 1.5), Vector3(9.2, -6.8, 0.4))
  throw(Unit.actor(unit, "body"), Vector3(9, -6.6, 2.2), Vector3(0, 0, -7))
  while Unit.alive(unit) do test.frames(1) end
  test.frames(9)
  take()
end

local function lever_and_lift()
  put(Vector3(3.3, 4.9, 0.2))
  look(Vector3(6.4, 0.6, 2.6), Vector3(3.2, 5.2, 1.3))
  test.input({ tap = "g" })
  test.seconds(0.25)
  take()
  test.seconds(2)
  take()
end

local function trap()
  look(Vector3(-2.6, -4.2, 2.6), Vector3(-7, -7, 1.5))
  local before = crates()
  step_on("123")
  while crates() == before do test.frames(1) end
  test.frames(22)
  take()
  put(Vector3(-4.6, -7, 0))
  test.seconds(8)
end

local function door()
  look(Vector3(-3.6, -4.6, 2.8), Vector3(-7.4, -7.2, 1))
  step_on("231")
  test.seconds(0.7)
  take()
  test.seconds(1.2)
  put(Vector3(-7.6, -7.5, 0))
  Eye.yaw = math.pi / 2
  test.seconds(0.2)
  take()
end

it("is a film", function()
  require("hud").draw = function() end
  Eye.update = function()
    local turned = Quaternion.look(Vector3.normalize(at - eye), Vector3.up())
    Camera.set_local_position(Eye.camera, eye)
    Camera.set_local_rotation(Eye.camera, turned)
  end
  look(Vector3(-5, -8, 2.4), Vector3(-7.9, -4.2, 1.2))
  test.boot()
  test.input({ tap = "r" })
  test.frames(5)
  world = Application.main_world()
  level = World.levels(world)[1]
  lamp()
  test.seconds(1)
  crate()
  lever_and_lift()
  trap()
  door()
end)
