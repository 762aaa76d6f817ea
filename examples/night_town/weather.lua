-- Rain, fog, and how wet the town is: streets become wet within seconds, and dry slowly.
local Clock = require "clock"

local Weather = { rain = 0.5, fog = 0.18, wet = 1 }

local STEP = 0.5 -- the change a second while the player holds a key
local WETTER, DRIER = 6, 40 -- seconds
local LEAST = 0.02 -- less rain than this is none
local ROOFS = { "units/eaves", "units/gable", "units/shop", "units/narrow" }

local world, drops, amount, light ---@type World, ParticleEffect, integer, integer
local grounds, roofs = {}, {}
local sound ---@type Voice

local function find_materials(level)
  local ground = Level.unit(level, "ground")
  grounds = { Mesh.material(Unit.mesh(ground, "Road"), 1),
    Mesh.material(Unit.mesh(ground, "Pavement"), 1) }
  roofs = {}
  for _, kind in ipairs(ROOFS) do
    local house = World.units_by_resource(world, kind)[1]
    roofs[#roofs + 1] = Mesh.material(Unit.mesh(house, "Roof"), 1)
  end
end

---@param of World
---@param level Level
function Weather.begin(of, level)
  world = of
  find_materials(level)
  drops = World.create_particles(world, "fx/rain")
  amount = World.find_particles_variable(world, "fx/rain", "amount")
  light = World.find_particles_variable(world, "fx/rain", "light")
  sound = Sound.trigger(world, "sounds/rain", { parameters = { amount = 0 } })
end

---The rain that falls, from 0 to 1; a trace of it is none.
---@return number
function Weather.falling()
  return Weather.rain > LEAST and Weather.rain or 0
end

-- Drops are as bright as the sky: they are seen against it in the day, and hardly at night.
local function show_rain(position)
  local falling = Weather.falling()
  local day = Math.clamp(Math.remap(Clock.sun_height(), -8, 10, 0, 1), 0, 1)
  World.move_particles(world, drops, Vector3(position.x, position.y, 0))
  World.set_particles_variable(world, drops, amount, Vector3(falling, 0, 0))
  World.set_particles_variable(world, drops, light,
    Vector3.lerp(Vector3(0.16, 0.2, 0.26), Vector3(0.5, 0.55, 0.6), day))
  if sound then Sound.set_parameter(sound, "amount", falling) end
end

local function show_wetness()
  local water = Weather.wet * (0.62 + 0.38 * Weather.rain)
  for i, material in ipairs(grounds) do
    Material.set_scalar(material, "wet", Weather.wet)
    Material.set_scalar(material, "rain", Weather.falling())
    Material.set_scalar(material, "water", i == 1 and water or water * 0.8)
  end
  for _, material in ipairs(roofs) do
    Material.set_scalar(material, "roughness", Math.lerp(0.8, 0.35, Weather.wet))
  end
end

---@param dt number
---@param position Vector3 of the camera
function Weather.update(dt, position)
  Weather.rain = Math.clamp(Weather.rain + Input.value("rain") * STEP * dt, 0, 1)
  Weather.fog = Math.clamp(Weather.fog + Input.value("fog") * STEP * dt, 0, 1)
  local rains = Weather.falling() > 0
  Weather.wet = Math.move_towards(Weather.wet, rains and 1 or 0, dt / (rains and WETTER or DRIER))
  show_rain(position)
  show_wetness()
end

return Weather
