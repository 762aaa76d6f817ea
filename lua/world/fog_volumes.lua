-- Fog volumes of a world: boxes and spheres of fog. Checks and flattens the options; the renderer
-- keeps them.
local core = ...

local ipairs, type = ipairs, type
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local describe, format, istype = core.describe, string.format, core.ffi.istype
local V3, Q, ColorType = core.ctypes.Vector3, core.ctypes.Quaternion, core.ctypes.Color
local huge = math.huge

local World = core.module("World")

local NAME = "World.set_fog_volumes"
local KEYS = {}
for _, key in ipairs({ "position", "rotation", "size", "shape", "density", "color", "emission",
  "blend_distance" }) do KEYS[key] = true end
local SHAPES = { box = 0, sphere = 1 }

-- Maximum of a length or a position in metres, of a density, and of the light of fog.
local MOST, DENSITY_MAX, LIGHT_MAX = 1e6, 10, 1e4

local function refuse(i, message, ...)
  raise(format("%s: volume %d: %s", NAME, i, format(message, ...)))
end

local function in_range(number, least, most)
  return type(number) == "number" and number >= least and number <= most
end

local function vector(i, key, value, least, most)
  local is_vector = istype(V3, value)
  if not (is_vector and in_range(value.x, least, most) and in_range(value.y, least, most)
    and in_range(value.z, least, most)) then
    refuse(i, "'%s' must be a Vector3 with parts from %g to %g, got %s", key, least, most,
      describe(value))
  end
  return value
end

local function number(i, key, value, most)
  if not in_range(value, 0, most) then
    refuse(i, "'%s' must be a number from 0 to %g, got %s", key, most, describe(value))
  end
  return value
end

local function light(i, key, value, default, most)
  if value == nil then return default, default, default end
  if istype(ColorType, value) then value = core.linear_light(value) end
  local at = vector(i, key, value, 0, most)
  return at.x, at.y, at.z
end

---Sets the fog volumes of a world; an empty list removes them. A volume is a box or a sphere of
---fog, which suns and lamps light. Fields of a volume: `position` and `size` of its box; `shape`,
---"box" or "sphere" ("box"); `rotation` (none); `density`, the share of light that is absorbed per
---metre (0.1); `color`, the part of this light that the fog scatters (white); `emission`, light of
---its own (none), both as colors or as vectors of linear light; `blend_distance`, over which the
---fog fades in from the surface inwards, in metres (1). Each view shows the volumes that are
---nearest to its camera, at most 32.
---@param world World a world
---@param volumes table[] a list of fog volumes
function World.set_fog_volumes(world, volumes)
  no_reload(NAME)
  if type(volumes) ~= "table" then bad_argument(NAME, 2, "volumes", "table", volumes) end
  local numbers = {}
  for i, volume in ipairs(volumes) do
    if type(volume) ~= "table" then refuse(i, "must be a table, got %s", describe(volume)) end
    core.check_options(NAME, 2, "volumes", volume, KEYS)
    local position = vector(i, "position", volume.position, -MOST, MOST)
    local size = vector(i, "size", volume.size, 0, MOST)
    if size.x <= 0 or size.y <= 0 or size.z <= 0 then
      refuse(i, "'size' must be above 0 along each axis, got %s", describe(size))
    end
    local shape = SHAPES[volume.shape == nil and "box" or volume.shape]
    if not shape then
      refuse(i, "'shape' must be \"box\" or \"sphere\", got %s", describe(volume.shape))
    end
    local rotation = volume.rotation
    if rotation ~= nil and not istype(Q, rotation) then
      refuse(i, "'rotation' must be a Quaternion, got %s", describe(rotation))
    end
    local x, y, z, w = 0, 0, 0, 1
    if rotation then x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w end
    local square = x * x + y * y + z * z + w * w
    if not (square > 0 and square < huge) then
      refuse(i, "'rotation' is no rotation, got %s", describe(rotation))
    end
    local density = volume.density == nil and 0.1 or volume.density
    local blend = volume.blend_distance == nil and 1 or volume.blend_distance
    local red, green, blue = light(i, "color", volume.color, 1, 1)
    local own_red, own_green, own_blue = light(i, "emission", volume.emission, 0, LIGHT_MAX)
    for _, value in ipairs({ position.x, position.y, position.z, x, y, z, w, size.x, size.y, size.z,
      shape, number(i, "density", density, DENSITY_MAX), red, green, blue, own_red, own_green,
      own_blue, number(i, "blend_distance", blend, MOST) }) do
      numbers[#numbers + 1] = value
    end
  end
  core.set_fog_volumes(world, numbers)
end
