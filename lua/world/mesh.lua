-- The part of `Mesh` that takes lists: creating and replacing meshes from numbers. The rest of
-- `Mesh` is native.
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
local function bytes(name, list, source)
  if source == nil then return "" end
  local items, size = core.float32_array_data(source)
  local from = 0
  if not items then
    if type(source) ~= "table" then wrong_list(name, list, source) end
    items, size, from = source, #source, 1
  end
  local first = items == source and source[1] or nil
  local values = list.value and first ~= nil and istype(list.value, first)
  local count = values and size * list.width or size
  if count % list.width ~= 0 then
    raise(format("%s: '%s' has %d numbers, and each of its elements takes %d", name, list.name,
      count, list.width))
  end
  if list.whole then
    local wholes = Wholes(count)
    for i = 0, count - 1 do
      local index = items[i + from]
      check_index(name, index)
      wholes[i] = index - 1
    end
    return bytes_of(wholes, count * 4)
  end
  local floats = Floats(count)
  for i = 0, size - 1 do
    local value = items[i + from]
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
    local ok, problem = pcall(Mesh.set_material, mesh, 1, material)
    if not ok then
      -- The material is not for meshes. The mesh is destroyed because no script has its handle yet.
      Mesh.destroy(mesh)
      error(problem, 0)
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
