-- All light that people make: street lamps, bulbs over the street, shops, windows, the dial of the
-- clock. It goes on at dusk, lamp by lamp, and most windows become dark late at night.
local Clock = require "clock"
local Weather = require "weather"

local Lamps = { lit = 0 } -- how many street lamps are on

local DUSK = { 1, -5 } -- heights of the sun in degrees: the first lamp goes on, the last one
local FLICKER = 0.7 -- seconds
local GLASS, BULBS, DIAL, WINDOWS = 1.6, 1.5, 0.2, 0.34 -- emitted light
local STREET, STRING, SHOP = 1.25, 0.4, 0.6 -- intensities

-- Street lamps, and all other lights with their intensity.
local lamps, others = {}, {}
local materials = {}
local world ---@type World

local function material_of(kind, mesh)
  return Mesh.material(Unit.mesh(World.units_by_resource(world, kind)[1], mesh), 1)
end

---@param of World
function Lamps.begin(of)
  world = of
  lamps, others = {}, {}
  local power = World.find_particles_variable(world, "fx/halo", "power")
  local drops = World.find_particles_variable(world, "fx/lamp_rain", "power")
  local amount = World.find_particles_variable(world, "fx/lamp_rain", "amount")
  for i, unit in ipairs(World.units_by_resource(world, "units/lamp")) do
    local light = Unit.light(unit, 1)
    local position = Light.world_position(light)
    lamps[i] = {
      light = light, power = 0, height = Math.lerp(DUSK[1], DUSK[2], (i * 0.618) % 1),
      halo = { World.create_particles(world, "fx/halo", position), power },
      rain = { World.create_particles(world, "fx/lamp_rain", position), drops, amount },
    }
  end
  for kind, intensity in pairs({ ["units/festoon"] = STRING, ["units/shop"] = SHOP }) do
    for _, unit in ipairs(World.units_by_resource(world, kind)) do
      others[#others + 1] = { light = Unit.light(unit, 1), intensity = intensity }
    end
  end
  materials = {
    glass = material_of("units/lamp", "Glass"), bulbs = material_of("units/festoon", "Bulbs"),
    windows = material_of("units/eaves", "Windows"), dial = material_of("units/tower", "Dial"),
  }
  Lamps.update(FLICKER)
end

-- A lamp goes on with a flicker, and off at once.
local function update_lamp(lamp, height, dt)
  local on = height < lamp.height
  lamp.power = on and math.min(1, lamp.power + dt / FLICKER) or 0
  local wave = lamp.power < 1 and math.abs(math.sin(lamp.power * 23)) or 1
  local power = lamp.power * wave
  Light.set_intensity(lamp.light, STREET * power)
  Light.set_enabled(lamp.light, power > 0)
  -- More mist and more rain show more of the light.
  local mist = power * (0.012 + 0.05 * Weather.fog + 0.015 * Weather.rain)
  World.set_particles_variable(world, lamp.halo[1], lamp.halo[2], Vector3(mist, mist, mist))
  local shine = 0.5 * power
  World.set_particles_variable(world, lamp.rain[1], lamp.rain[2], Vector3(shine, shine, shine))
  World.set_particles_variable(world, lamp.rain[1], lamp.rain[3], Vector3(Weather.falling(), 0, 0))
  return on and 1 or 0
end

-- How many of the windows are lit, from 0 to 1: most in the evening, few after midnight.
local function evening(height)
  local dusk = 1 - Math.smoothstep(-9, 2, height)
  local late = Math.smoothstep(22, 25, (Clock.hour + 12) % 24 + 12)
  return 0.72 * dusk * (1 - 0.75 * late)
end

---@param dt number
function Lamps.update(dt)
  local height = Clock.sun_height()
  Lamps.lit = 0
  for _, lamp in ipairs(lamps) do Lamps.lit = Lamps.lit + update_lamp(lamp, height, dt) end
  local dusk = 1 - Math.smoothstep(DUSK[2], DUSK[1], height)
  for _, other in ipairs(others) do
    Light.set_intensity(other.light, other.intensity * dusk)
    Light.set_enabled(other.light, dusk > 0)
  end
  Material.set_scalar(materials.glass, "emissive_strength", GLASS * Lamps.lit / #lamps)
  Material.set_scalar(materials.bulbs, "emissive_strength", BULBS * dusk)
  Material.set_scalar(materials.dial, "brightness", DIAL * dusk)
  Material.set_scalar(materials.windows, "evening", evening(height))
  Material.set_scalar(materials.windows, "brightness", WINDOWS)
end

return Lamps
