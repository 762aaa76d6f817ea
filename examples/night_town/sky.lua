-- The sky and the look of the picture. Each look is a file in environments/: exposure, colours,
-- fog, bloom and all other effects of the view are set there, and nowhere else. This module blends
-- the files by the height of the sun, and adds time and weather.
local Clock = require "clock"
local Weather = require "weather"

local Sky = {}

-- The height of the sun in degrees at which a look is shown alone.
local LOOKS = {
  { height = -13, name = "environments/night" },
  { height = -6, name = "environments/blue_hour" },
  { height = 1, name = "environments/sunset" },
  { height = 14, name = "environments/day" },
}
local SUNSET_AZIMUTH = -80 -- turns the sky, so that the sun sets at the end of the street
local PLAIN = {
  bloom_intensity = 0, vignette_intensity = 0, contrast = 1, saturation = 1,
  white_temperature = 6500, ambient_occlusion_intensity = 0,
}

local environment ---@type ShadingEnvironment

-- The two looks around a height of the sun, with their shares for ShadingEnvironment.blend.
local function shares(height)
  if height <= LOOKS[1].height then return { LOOKS[1].name, 1 } end
  for i = 2, #LOOKS do
    local low, high = LOOKS[i - 1], LOOKS[i]
    if height <= high.height then
      local share = Math.smoothstep(low.height, high.height, height)
      return { low.name, 1 - share, high.name, share }
    end
  end
  return { LOOKS[#LOOKS].name, 1 }
end

---@param world World
function Sky.begin(world)
  environment = World.create_shading_environment(world, LOOKS[1].name)
  ShadingEnvironment.apply(environment)
  Sky.environment = environment
end

---Gives an environment the look, the time and the weather of now.
---@param to ShadingEnvironment
function Sky.set(to)
  ShadingEnvironment.blend(to, shares(Clock.sun_height()))
  local set = ShadingEnvironment.set_scalar
  set(to, "time_of_day", Clock.hour)
  set(to, "latitude", Clock.LATITUDE)
  set(to, "sun_declination", Clock.DECLINATION)
  set(to, "sun_azimuth", SUNSET_AZIMUTH)
  -- Clouds: rain veils sun, moon and stars.
  local rain = Weather.rain
  set(to, "haze", 1 + 2 * rain + 2 * Weather.fog)
  set(to, "stars_intensity", 1 - math.min(1, 1.5 * rain))
  set(to, "sun_intensity", 3 * (1 - 0.75 * rain))
  set(to, "moon_intensity", 0.03 * (1 - 0.8 * rain))
  set(to, "fog_density", 0.001 + 0.045 * Weather.fog ^ 2 + 0.006 * rain)
end

---Gives an environment the light of now without tone mapping and effects of a lens, for a texture
---that other surfaces show. Light of up to 1 / `range` times the white of the screen fits into it.
---@param to ShadingEnvironment
---@param range number
---@return number gain what the light of the texture is to be multiplied with
function Sky.set_plain(to, range)
  Sky.set(to)
  local exposure = ShadingEnvironment.scalar(to, "exposure") * range
  ShadingEnvironment.set_choice(to, "tone_mapper", "none")
  for name, value in pairs(PLAIN) do ShadingEnvironment.set_scalar(to, name, value) end
  ShadingEnvironment.set_scalar(to, "exposure", exposure)
  return 1 / exposure
end

---Shows the sky of now; to be called before a frame is rendered.
function Sky.show()
  Sky.set(environment)
end

return Sky
