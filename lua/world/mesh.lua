-- The parts of `Mesh`, `Light` and the sky that take lists and options: meshes from numbers, light
-- colors, and the surroundings of a world. The rest of `Mesh` and `Light` is native.
local core = ...

local ffi, raise, bad_argument = core.ffi, core.raise, core.bad_argument
local describe, no_reload = core.describe, core.no_reload
local ipairs, next, tostring, type = ipairs, next, tostring, type
local pcall, error = pcall, error
local format, concat, floor = string.format, table.concat, math.floor
local istype, typeof, bytes_of = ffi.istype, ffi.typeof, ffi.string
local V2, V3 = core.ctypes.Vector2, core.ctypes.Vector3
local ColorType = core.ctypes.Color

local Mesh, Light, World = core.module("Mesh"), core.module("Light"), core.module("World")
local Unit, Camera = core.module("Unit"), core.module("Camera")
local Material = core.module("Material")

local Floats, Wholes = typeof("float[?]"), typeof("uint32_t[?]")

-- Description of each list: the number of floats of each element (`width`), and the value type that
-- can replace them.
local LISTS = {
  { name = "positions", width = 3, value = V3, kind = "Vector3" },
  { name = "normals", width = 3, value = V3, kind = "Vector3" },
  { name = "uvs", width = 2, value = V2, kind = "Vector2" },
  { name = "colors", width = 4, value = ColorType, kind = "Color" },
  { name = "indices", width = 1, whole = true },
}
local KEYS = {
  positions = true, normals = true, uvs = true, colors = true, indices = true, node = true,
  material = true, casts_shadows = true,
}

local function wrong_list(name, list, value)
  raise(format("%s: '%s' must be a list of numbers%s, or a Float32Array, got %s", name, list.name,
    list.kind and " or of " .. list.kind or "", describe(value)))
end

-- Writes a value of a list's own type into the buffer.
local function put_value(floats, at, list, value)
  if list.width == 4 then
    floats[at], floats[at + 1] = value.r, value.g
    floats[at + 2], floats[at + 3] = value.b, value.a
  else
    floats[at], floats[at + 1] = value.x, value.y
    if list.width == 3 then floats[at + 2] = value.z end
  end
end

local function check_index(name, index)
  -- Larger numbers would not fit into 32 bits.
  if type(index) ~= "number" or index ~= floor(index) or index < 1 or index > 2 ^ 32 then
    raise(format("%s: 'indices' must be whole numbers from 1, got %s", name, describe(index)))
  end
end

-- Returns the bytes of one list.
local function bytes(name, list, given)
  if given == nil then return "" end
  local source, size = core.float32_array_data(given)
  local from = 0
  if not source then
    if type(given) ~= "table" then wrong_list(name, list, given) end
    source, size, from = given, #given, 1
  end
  local first = source == given and given[1] or nil
  local values = list.value and first ~= nil and istype(list.value, first)
  local count = values and size * list.width or size
  if count % list.width ~= 0 then
    raise(format("%s: '%s' has %d numbers, and each of its elements takes %d", name, list.name,
      count, list.width))
  end
  if list.whole then
    local wholes = Wholes(count)
    for i = 0, count - 1 do
      local index = source[i + from]
      check_index(name, index)
      wholes[i] = index - 1
    end
    return bytes_of(wholes, count * 4)
  end
  local floats = Floats(count)
  for i = 0, size - 1 do
    local value = source[i + from]
    if values then
      if not istype(list.value, value) then wrong_list(name, list, value) end
      put_value(floats, i * list.width, list, value)
    else
      if type(value) ~= "number" then wrong_list(name, list, value) end
      floats[i] = value
    end
  end
  return bytes_of(floats, count * 4)
end

-- Returns all lists as one string, and the length of each list.
local function lists_of(name, source)
  for key in next, source do
    if not KEYS[key] then
      local near = type(key) == "string" and core.suggest(key, core.names(KEYS))
      raise(format("%s: unknown key %s%s", name, describe(key),
        near and format(", did you mean '%s'?", near) or ""))
    end
  end
  if source.positions == nil then raise(name .. ": there must be 'positions'") end
  local parts, counts = {}, {}
  for i = 1, #LISTS do
    local list = LISTS[i]
    parts[i] = bytes(name, list, source[list.name])
    counts[i] = #parts[i]
  end
  return concat(parts), counts
end

---Adds a mesh to a unit: one of a model, by its name, or a new one from numbers. Lists contain
---numbers, vectors or colors, or are Float32Arrays: `positions` (three numbers each, in metres),
---`normals`, `uvs` (two each; 0, 0 is the top left), `colors` (red, green, blue and alpha from 0
---to 255), `indices` (three for each triangle, counterclockwise as seen from the front, counted
---from 1). Without indices, every three positions form a triangle. Without normals, triangles that
---share a position's index are smooth-shaded there. `material` is the name of a material with a
---surface, `node` is the node that the mesh is attached to, and `casts_shadows = false` disables
---its shadow.
---@param unit Unit the unit that gets the mesh
---@param source string|table "models/barrel/Lid", or the lists
---@param node? integer the unit's node that the mesh is attached to; the root by default
---@return Mesh mesh the new mesh, appended to the unit's meshes
function Mesh.new(unit, source, node)
  no_reload("Mesh.new")
  if type(source) == "string" then return core.new(unit, source, node, "", {}) end
  if type(source) ~= "table" then
    bad_argument("Mesh.new", 2, "source", "the name of a mesh or a table of lists", source)
  end
  local all, counts = lists_of("Mesh.new", source)
  local material, shadows = source.material, source.casts_shadows
  if type(material) == "string" then
    material = core.find_mesh_material(material)
  elseif material ~= nil and (type(material) ~= "number" or not Material.alive(material)) then
    raise("Mesh.new: 'material' must be the name of a material, or a Material that exists, got "
      .. describe(material))
  end
  if shadows ~= nil and type(shadows) ~= "boolean" then
    raise("Mesh.new: 'casts_shadows' must be true or false, got " .. describe(shadows))
  end
  local mesh = core.new(unit, nil, node or source.node, all, counts)
  if material ~= nil then
    local fine, words = pcall(Mesh.set_material, mesh, 1, material)
    if not fine then
      -- The material is not for meshes. The mesh is destroyed because no script has its handle yet.
      Mesh.destroy(mesh)
      error(words, 0)
    end
  end
  if shadows == false then Mesh.set_casts_shadows(mesh, false) end
  return mesh
end

---Replaces the geometry of a mesh that was created from numbers. Its material, node and handle
---stay.
---@param mesh Mesh a mesh created by `Mesh.new`
---@param source table the lists, as `Mesh.new` takes them
function Mesh.rebuild(mesh, source)
  no_reload("Mesh.rebuild")
  if type(source) ~= "table" then bad_argument("Mesh.rebuild", 2, "source", "table", source) end
  core.rebuild(mesh, lists_of("Mesh.rebuild", source))
end

-- Converts an sRGB component from 0 to 255 to linear light (IEC 61966-2-1).
local function light_of(part)
  part = part / 255
  return part <= 0.04045 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4
end

-- Returns a color, or a vector of linear light, as a vector of linear light.
local function linear(name, i, argument, color)
  if istype(V3, color) then return color end
  if not istype(ColorType, color) then
    bad_argument(name, i, argument, "Color or Vector3", color)
  end
  return V3(light_of(color.r), light_of(color.g), light_of(color.b))
end

---Sets the color of a light.
---@param light Light a light
---@param color Color|Vector3 a color, or red, green and blue of linear light
function Light.set_color(light, color)
  no_reload("Light.set_color")
  core.set_color(light, linear("Light.set_color", 2, "color", color))
end

-- Options of a sky: the index of their first number in the list, and a flag for colors.
local SKY = {
  { name = "top", at = 1, color = true },
  { name = "horizon", at = 4, color = true },
  { name = "ground", at = 7, color = true },
  { name = "fog_color", at = 10, color = true },
  { name = "exposure", at = 13, number = true },
  { name = "fog_density", at = 14, number = true },
  { name = "shown", at = 15 },
  { name = "tone_mapping", at = 16 },
}
local SKY_KEYS = {}
for _, option in ipairs(SKY) do SKY_KEYS[option.name] = true end

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
    if type(value) ~= "boolean" then
      raise(format("World.set_sky: '%s' must be true or false, got %s", name, describe(value)))
    end
    numbers[at] = value and 1 or 0
  end
end

---Sets the surroundings of a world: the light from above (`top`), from the side (`horizon`) and
---from below (`ground`), as colors or as vectors of linear light; `shown`, true if the sky is
---drawn behind everything; `exposure`, a factor applied to all light before it is displayed (1);
---`fog_density`, the density of the fog: light fades by exp(-density * metres) (0), and
---`fog_color`; `tone_mapping`, true to compress values near and above white so that they stay
---distinguishable (true), or false to clip them, so that textures keep their exact colors. Omitted
---options keep their values.
---@param world World a world
---@param options table top, horizon, ground, shown, exposure, fog_density, fog_color, tone_mapping
function World.set_sky(world, options)
  no_reload("World.set_sky")
  if type(options) ~= "table" then bad_argument("World.set_sky", 2, "options", "table", options) end
  for key in next, options do
    if not SKY_KEYS[key] then
      local near = type(key) == "string" and core.suggest(key, core.names(SKY_KEYS))
      raise(format("World.set_sky: unknown option %s%s", describe(key),
        near and format(", did you mean '%s'?", near) or ""))
    end
  end
  local numbers = core.sky(world)
  for _, option in ipairs(SKY) do
    local value = options[option.name]
    if value ~= nil then set_option(numbers, option, value) end
  end
  core.set_sky(world, numbers)
end

---Returns the surroundings of a world, as passed to `World.set_sky`. Colors are vectors of linear
---light.
---@param world World a world
---@return table options top, horizon, ground, shown, exposure, fog_density, fog_color, tone_mapping
function World.sky(world)
  local numbers, sky = core.sky(world), {}
  for _, option in ipairs(SKY) do
    local at = option.at
    if option.color then
      sky[option.name] = V3(numbers[at], numbers[at + 1], numbers[at + 2])
    elseif option.number then
      sky[option.name] = numbers[at]
    else
      sky[option.name] = numbers[at] ~= 0
    end
  end
  return sky
end

---Casts a ray against the rendered triangles of a unit's meshes, for example to find the unit
---under the mouse (with `Camera.screen_to_ray`). No physics bodies are needed. With a camera, only
---meshes that are within their `range` for that camera are hit, such as the displayed level of
---detail; without one, meshes of all ranges. Test only few units: those that
---`Broadphase.query_ray` finds, or whose `Unit.box` the ray crosses.
---@param unit Unit a unit
---@param from Vector3 start of the ray
---@param direction Vector3 direction of the ray, of any length but 0
---@param length? number metres; unlimited by default
---@param camera? Camera the camera that shows the unit
---@return number? distance metres from the start; nil if nothing is hit
---@return Vector3? normal of length 1, out of the front of the triangle
---@return Mesh? mesh the mesh that is hit
function Unit.mesh_pick_raycast(unit, from, direction, length, camera)
  local found = core.mesh_pick_raycast(unit, from, direction, length, camera)
  if found then return found[1], V3(found[2], found[3], found[4]), found[5] end
end

local inspect = core.inspect_components

local function number(value) return format("%.6g", value) end

-- Appends descriptions of a unit's meshes, lights and cameras for `Unit.inspect`.
local function inspect_seen(unit, lines)
  for i = 1, Unit.num_meshes(unit) do
    local mesh = Unit.mesh(unit, i)
    lines[#lines + 1] = format("mesh %d %q at node %d, %d triangles%s%s", i, Mesh.debug_name(mesh),
      Mesh.node(mesh), Mesh.num_triangles(mesh), Mesh.visibility(mesh) and "" or ", hidden",
      Mesh.casts_shadows(mesh) and "" or ", without shadow")
  end
  for i = 1, Unit.num_lights(unit) do
    local light = Unit.light(unit, i)
    lines[#lines + 1] = format("light %d %s at node %d, colour %s, intensity %s, to %s m%s%s", i,
      Light.type(light), Light.node(light), tostring(Light.color(light)),
      number(Light.intensity(light)), number(Light.falloff_end(light)),
      Light.casts_shadows(light) and ", with shadows" or "",
      Light.enabled(light) and "" or ", off")
  end
  for i = 1, Unit.num_cameras(unit) do
    local camera = Unit.camera(unit, i)
    lines[#lines + 1] = format("camera %d %s at %s, from %s to %s m", i,
      Camera.projection_type(camera), tostring(Camera.world_position(camera)),
      number(Camera.near_range(camera)), number(Camera.far_range(camera)))
  end
end

-- Extends the output of `Unit.inspect` with the rendered components.
function core.inspect_components(unit)
  local lines = inspect(unit)
  inspect_seen(unit, lines)
  for _, line in ipairs(core.inspect_flat(unit)) do lines[#lines + 1] = line end
  return lines
end
