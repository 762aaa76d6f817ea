-- Light: the color of lights, and the sky of a world, which lights it from all sides. The rest of
-- `Light` is native.
local core = ...

local ipairs, tostring, type = ipairs, tostring, type
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local describe, format, istype = core.describe, string.format, core.ffi.istype
local V3, ColorType = core.ctypes.Vector3, core.ctypes.Color

local Light, World = core.module("Light"), core.module("World")

-- Converts an sRGB component from 0 to 255 to linear light (IEC 61966-2-1).
local function light_of(part)
  part = part / 255
  return part <= 0.04045 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4
end

-- Returns a color as a vector of linear light.
function core.linear_light(color)
  return V3(light_of(color.r), light_of(color.g), light_of(color.b))
end

-- Returns a color, or a vector of linear light, as a vector of linear light.
local function linear(name, i, argument, color)
  if istype(V3, color) then return color end
  if not istype(ColorType, color) then
    bad_argument(name, i, argument, "Color or Vector3", color)
  end
  return core.linear_light(color)
end

---Sets the color of a light.
---@param light Light a light
---@param color Color|Vector3 a color, or red, green and blue of linear light
function Light.set_color(light, color)
  no_reload("Light.set_color")
  core.set_color(light, linear("Light.set_color", 2, "color", color))
end

-- Options of a sky: the index of their first number in the list, and a flag for colors. `light` is
-- true for the colors that light the world.
local SKY = {
  { name = "top", at = 1, color = true, light = true },
  { name = "horizon", at = 4, color = true, light = true },
  { name = "ground", at = 7, color = true, light = true },
  { name = "fog_color", at = 10, color = true },
  { name = "exposure", at = 13, number = true },
  { name = "fog_density", at = 14, number = true },
  { name = "shown", at = 15, words = { [0] = false, true, "perspective" } },
  { name = "tone_mapping", at = 16, words = { [0] = false, true } },
  { name = "sun", at = 17, words = { [0] = false, true } },
}
local SKY_KEYS = {}
for _, option in ipairs(SKY) do SKY_KEYS[option.name] = true end

local SUN = SKY[#SKY].at -- the index of the number for the default sun

-- Maximum of a color component and of other numbers. Larger values make no visible difference.
local SKY_MOST = 1e9

local function is_light(number) return number >= 0 and number <= SKY_MOST end

local function set_option(numbers, option, value)
  local name, at = option.name, option.at
  if option.color then
    local color = linear("World.set_sky", 2, name, value)
    if not (is_light(color.x) and is_light(color.y) and is_light(color.z)) then
      raise(format("World.set_sky: '%s' must have parts from 0 to %g, got %s", name, SKY_MOST,
        tostring(color)))
    end
    numbers[at], numbers[at + 1], numbers[at + 2] = color.x, color.y, color.z
  elseif option.number then
    if type(value) ~= "number" or not is_light(value) then
      raise(format("World.set_sky: '%s' must be a number from 0 to %g, got %s", name, SKY_MOST,
        describe(value)))
    end
    numbers[at] = value
  else
    local names = option.words
    for number = 0, #names do
      if names[number] == value then
        numbers[at] = number
        return
      end
    end
    raise(format("World.set_sky: '%s' must be %s, got %s", name,
      names[2] and "true, false or \"perspective\"" or "true or false", describe(value)))
  end
end

---Sets the surroundings of a world: the light from above (`top`), from the side (`horizon`) and
---from below (`ground`), as colors or as vectors of linear light; `shown`, true if the sky is
---drawn behind everything, or "perspective" if only cameras with perspective show it; `exposure`,
---a factor applied to all light before it is displayed (1); `fog_density`, the density of the fog:
---light fades by exp(-density * metres) (0), and `fog_color`; `tone_mapping`, true to compress
---values near and above white so that they stay distinguishable (true), or false to clip them, so
---that textures keep their exact colors; `sun`, true if the default sun shines while no unit of the
---world has a directional light. Omitted options keep their values, but a new `top`, `horizon` or
---`ground` without `sun` ends the default sun, because the light is then your own.
---
---A new world has the sky of a clear day, "perspective", with the default sun. A world created with
---"2d" or "no_sky" has dim light from all sides, no sun, and shows no sky.
---@param world World a world
---@param options table top, horizon, ground, shown, exposure, fog_density, fog_color, and so on
function World.set_sky(world, options)
  no_reload("World.set_sky")
  if type(options) ~= "table" then bad_argument("World.set_sky", 2, "options", "table", options) end
  for _, key in ipairs({ "colour", "color", "background" }) do
    if options[key] ~= nil then
      raise(format("World.set_sky: unknown option '%s': the colors are 'top', 'horizon' and "
        .. "'ground'", key))
    end
  end
  core.check_options("World.set_sky", 2, "options", options, SKY_KEYS)
  local numbers = core.sky(world)
  for _, option in ipairs(SKY) do
    local value = options[option.name]
    if value ~= nil then
      set_option(numbers, option, value)
      if option.light and options.sun == nil then numbers[SUN] = 0 end
    end
  end
  core.set_sky(world, numbers)
end

---Returns the surroundings of a world, as passed to `World.set_sky`. Colors are vectors of linear
---light.
---@param world World a world
---@return table options top, horizon, ground, shown, exposure, fog_density, fog_color, and so on
function World.sky(world)
  local numbers, sky = core.sky(world), {}
  for _, option in ipairs(SKY) do
    local at = option.at
    if option.color then
      sky[option.name] = V3(numbers[at], numbers[at + 1], numbers[at + 2])
    elseif option.number then
      sky[option.name] = numbers[at]
    else
      sky[option.name] = option.words[numbers[at]]
    end
  end
  return sky
end
