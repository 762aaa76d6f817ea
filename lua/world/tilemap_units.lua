-- `Tilemap.spawn_units`: units at the objects of a map.
local core = ...

local type, next, ipairs, pcall, error = type, next, ipairs, pcall, error
local format, rad, sin, cos = string.format, math.rad, math.sin, math.cos
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload

local Tilemap, Unit = core.module("Tilemap"), core.module("Unit")
local Vector3, Quaternion = core.module("Vector3"), core.module("Quaternion")

local concat, min = table.concat, math.min
-- Maximum number of names that a warning lists.
local LISTED_MAX = 12

local NAME = "Tilemap.spawn_units"
local OPTIONS = { layer = true, pivot = true, offset = true }
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion
-- Native functions return the numbers of vectors in the prelude.
local objects, world_position = Tilemap.objects, Tilemap.world_position
local normalize, cross = Vector3.normalize, Vector3.cross
local multiply, axis_angle = Quaternion.multiply, Quaternion.axis_angle

local function check_options(options)
  if options == nil then return {} end
  core.check_options(NAME, 3, "options", options, OPTIONS)
  local pivot = options.pivot
  if pivot ~= nil and not (type(pivot) == "table" and type(pivot[1]) == "number"
    and type(pivot[2]) == "number") then
    raise(format("%s: option 'pivot' must be two numbers, such as { 0.5, 0 } for the middle of the "
      .. "bottom edge, got %s", NAME, core.describe(pivot)))
  elseif options.layer ~= nil and type(options.layer) ~= "string" then
    raise(format("%s: option 'layer' must be the name of an object layer, got %s", NAME,
      core.describe(options.layer)))
  elseif options.offset ~= nil and not core.ffi.istype(V3, options.offset) then
    raise(format("%s: option 'offset' must be a Vector3, got %s", NAME,
      core.describe(options.offset)))
  end
  return options
end

local function check_resources(resources)
  if resources == nil then return {} end
  if type(resources) ~= "table" then
    bad_argument(NAME, 2, "units", "a table of names of units by class, or nil", resources)
  end
  for class, resource in next, resources do
    if type(class) ~= "string" or type(resource) ~= "string" then
      raise(format("%s: argument #2 'units' must have names of units by class, such as { coin = "
        .. "\"units/coin\" }, got %s for %s", NAME, core.describe(resource), core.describe(class)))
    end
  end
  return resources
end

-- Returns the name of the unit for an object, or nil.
local function resource_of(object, resources)
  local own = object.properties.unit
  if type(own) == "string" and own ~= "" then return own end
  return resources[object.type] or resources[object.name]
end

-- Returns the point of an object, in texels, at which its unit is placed. Objects rotate around
-- their bottom left if they are shown as tiles, otherwise around their top left.
local function point_of(object, pivot)
  local right, up = object.width * pivot[1], object.height * pivot[2]
  if object.rotation ~= 0 then
    local top = object.tile == 0 and object.height or 0
    local s, c = sin(rad(object.rotation)), cos(rad(object.rotation))
    local y = up - top
    right, up = right * c + y * s, top - right * s + y * c
  end
  return object.x + right, object.y + up
end

-- Returns the data of the unit of an object: the object's properties, and the object as `object`.
local function data_of(object)
  local data = object.properties
  data.unit, object.properties = nil, nil
  data.object = object
  return data
end

-- Warns that no object has one of the classes that have units.
local function warn_of_classes(tilemap, resources, layer)
  local known, wanted = {}, core.names(resources)
  for _, object in ipairs(objects(tilemap, layer)) do
    if object.type ~= "" then known[object.type] = true end
    if object.name ~= "" then known[object.name] = true end
  end
  local names = core.names(known)
  local near = core.suggest(wanted[1], names)
  core.warn(format("%s: no object%s has the class or the name '%s'%s: %s", NAME,
    layer and " of the layer '" .. layer .. "'" or "", concat(wanted, "' or '"),
    near and ", did you mean '" .. near .. "'?" or "",
    #names > 0 and "there are '" .. concat(names, "', '", 1, min(#names, LISTED_MAX)) .. "'"
    or "the map has no objects with a class or a name"))
end

---Spawns units at the objects of a unit's map, in the order of the objects. The unit of an object
---is its property `unit`, or that of its class, or that of its name; objects without one are left
---out. The properties of an object become data of its unit (`Unit.get_data(unit, "speed")`), and
---the object itself is the data `object`. Options: `layer`, the name of the only object layer;
---`pivot`, the point of an object at which its unit is placed ({ 0.5, 0.5 }, its middle; { 0.5, 0 }
---is the middle of its bottom edge); `offset`, a Vector3 that is added to all positions.
---@param tilemap Tilemap the map of a unit: `Unit.tilemap(unit, 1)`
---@param units? table names of units by class or name: { coin = "units/coin" }
---@param options? table `layer`, `pivot`, `offset`
---@return Unit[] units in the order of the objects
function Tilemap.spawn_units(tilemap, units, options)
  no_reload(NAME)
  local owner = core.tilemap_unit(tilemap)
  local left, bottom, height, x, y, z, w = core.tilemap_pose(tilemap)
  local origin, rotation = V3(left, bottom, height), Q(x, y, z, w)
  local resources = check_resources(units)
  options = check_options(options)
  local pivot, offset = options.pivot or { 0.5, 0.5 }, options.offset
  local world = Unit.world(owner)
  local right, up = V3(world_position(tilemap, 1000, 0)), V3(world_position(tilemap, 0, 1000))
  local normal = normalize(cross(right - origin, up - origin))
  local spawned, data, ok, unit = {}, {}, true, nil
  for _, object in ipairs(objects(tilemap, options.layer)) do
    local resource = resource_of(object, resources)
    if resource then
      local position = V3(world_position(tilemap, point_of(object, pivot)))
      if offset then position = position + offset end
      local turned = rotation
      if object.rotation ~= 0 then
        turned = multiply(axis_angle(normal, -rad(object.rotation)), rotation)
      end
      ok, unit = pcall(core.spawn_unit, world, resource, position, turned, nil)
      if not ok then break end
      spawned[#spawned + 1] = unit
      data[#spawned] = data_of(object)
    end
  end
  if #spawned == 0 and ok and next(resources) ~= nil then
    warn_of_classes(tilemap, resources, options.layer)
  end
  core.finish_units(world, spawned, data)
  -- If a unit cannot be spawned, the units before it are complete.
  if not ok then error(unit, 0) end
  return spawned
end
