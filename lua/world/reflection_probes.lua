-- Reflection probes of a world: boxes whose surfaces get their light from a texture of the
-- surroundings. Checks and flattens the options; the engine keeps them.
local core = ...

local ipairs, type = ipairs, type
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local describe, format, istype = core.describe, string.format, core.ffi.istype
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion
local abs, huge = math.abs, math.huge

local World = core.module("World")

local NAME = "World.set_reflection_probes"
local KEYS = {}
for _, key in ipairs({ "position", "rotation", "size", "center", "texture", "blend_distance",
  "priority", "intensity" }) do KEYS[key] = true end

-- Maximum of a length or a position in metres, of a priority, and of an intensity.
local MOST = 1e6

local function refuse(i, message, ...)
  raise(format("%s: probe %d: %s", NAME, i, format(message, ...)))
end

local function in_range(number)
  return type(number) == "number" and abs(number) <= MOST
end

local function vector(i, key, value)
  local is_vector = istype(V3, value)
  if not (is_vector and in_range(value.x) and in_range(value.y) and in_range(value.z)) then
    refuse(i, "'%s' must be a Vector3 with parts from -%g to %g, got %s", key, MOST, MOST,
      describe(value))
  end
  return value
end

local function number(i, key, value, least)
  if not in_range(value) or value < least then
    refuse(i, "'%s' must be a number from %g to %g, got %s", key, least, MOST, describe(value))
  end
  return value
end

---Sets the reflection probes of a world; an empty list removes them. A probe is a box, whose
---surfaces mirror and gather the light of a texture instead of that of the sky. Fields of a probe:
---`position` and `size` of the box; `texture`, a map of the surroundings as that of a sky
---(equirectangular); `rotation` of the box (none); `center`, the position from which the texture
---shows them (`position`); `blend_distance`, over which the probe fades in from the sides inwards,
---in metres (1); `priority`, the higher one covers others (0); `intensity`, a factor for its light
---(1). Each view shows the probes that are nearest to its camera, at most 8.
---@param world World a world
---@param probes table[] a list of probes
function World.set_reflection_probes(world, probes)
  no_reload(NAME)
  if type(probes) ~= "table" then bad_argument(NAME, 2, "probes", "table", probes) end
  local numbers, textures = {}, {}
  for i, probe in ipairs(probes) do
    if type(probe) ~= "table" then refuse(i, "must be a table, got %s", describe(probe)) end
    core.check_options(NAME, 2, "probes", probe, KEYS)
    local position, size = vector(i, "position", probe.position), vector(i, "size", probe.size)
    if size.x <= 0 or size.y <= 0 or size.z <= 0 then
      refuse(i, "'size' must be above 0 along each axis, got %s", describe(size))
    end
    local center = probe.center == nil and position or vector(i, "center", probe.center)
    local rotation = probe.rotation
    if rotation ~= nil and not istype(Q, rotation) then
      refuse(i, "'rotation' must be a Quaternion, got %s", describe(rotation))
    end
    local x, y, z, w = 0, 0, 0, 1
    if rotation then x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w end
    local square = x * x + y * y + z * z + w * w
    if not (square > 0 and square < huge) then
      refuse(i, "'rotation' is no rotation, got %s", describe(rotation))
    end
    if type(probe.texture) ~= "string" then
      refuse(i, "'texture' must be the name of a texture, got %s", describe(probe.texture))
    end
    local function option(key, default, least)
      local value = probe[key]
      if value == nil then return default end
      return number(i, key, value, least)
    end
    textures[i] = probe.texture
    for _, value in ipairs({ position.x, position.y, position.z, x, y, z, w, size.x, size.y, size.z,
      center.x, center.y, center.z, option("blend_distance", 1, 0), option("priority", 0, -MOST),
      option("intensity", 1, 0) }) do
      numbers[#numbers + 1] = value
    end
  end
  core.set_reflection_probes(world, numbers, textures)
end
