-- Shapes of 2D worlds that are made of lists of points: chains and polygons. Boxes, spheres and
-- planes are native (src/script/api/physics_world/).
local core = ...

local type = type
local format = string.format
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local ffi, describe = core.ffi, core.describe
local istype, bytes_of = ffi.istype, ffi.string
local V2, V3 = core.ctypes.Vector2, core.ctypes.Vector3

local PhysicsWorld = core.module("PhysicsWorld")
local spawn_chain, spawn_polygon = core.spawn_chain, core.spawn_polygon

local Floats = ffi.typeof("float[?]")

-- Maximum number of points of a list.
local POINTS_MAX = 2 ^ 20
local CHAIN_OPTIONS = { closed = true, one_way = true, friction = true, restitution = true,
  collision_filter = true }
local POLYGON_OPTIONS = { friction = true, restitution = true, density = true,
  collision_filter = true }
local NUMBERS = { "friction", "restitution", "density" }

-- Returns the points of a list as bytes: x and y of each.
local function points_of(name, index, points)
  if type(points) ~= "table" then
    bad_argument(name, index, "points", "a list of Vector2 or Vector3", points)
  end
  local count = #points
  if count > POINTS_MAX then
    raise(format("%s: argument #%d 'points' has %d points, and the limit is %d (POINTS_MAX)", name,
      index, count, POINTS_MAX))
  end
  local floats = Floats(count * 2)
  for i = 1, count do
    local point = points[i]
    if not (istype(V2, point) or istype(V3, point)) then
      raise(format("%s: point %d must be Vector2 or Vector3, got %s", name, i, describe(point)))
    end
    floats[i * 2 - 2], floats[i * 2 - 1] = point.x, point.y
  end
  return bytes_of(floats, count * 8)
end

core.flat_points = points_of

-- Checks the options, and returns those that are numbers or flags.
local function options_of(name, index, options, known)
  core.check_options(name, index, "options", options, known)
  options = options or {}
  local checked = { closed = options.closed and true or false,
    one_way = options.one_way and true or false }
  for i = 1, #NUMBERS do
    local key = NUMBERS[i]
    local value = options[key]
    if value ~= nil and (type(value) ~= "number" or not (value >= 0 and value <= 1e6)) then
      raise(format("%s: option '%s' must be a number from 0 on, got %s", name, key,
        describe(value)))
    end
    checked[key] = value
  end
  local filter = options.collision_filter
  if filter ~= nil and type(filter) ~= "string" then
    raise(format("%s: option 'collision_filter' must be a name, got %s", name, describe(filter)))
  end
  checked.collision_filter = filter
  return checked
end

---Creates a static chain of segments in a 2D world: terrain, walls, the outline of tiles. Bodies
---cannot pass it from either side, and slide over its corners without bumps. Options: `closed`
---(true: a segment from the last point to the first), `one_way` (true: it holds only what comes
---from above), `friction`, `restitution`, `collision_filter` (the name of one).
---@param physics_world PhysicsWorld the physics of a world created with "2d"
---@param points table a list of Vector2 or Vector3: positions in the world, at least two
---@param options? table the options
---@return Actor actor the new actor, at the origin
function PhysicsWorld.spawn_chain(physics_world, points, options)
  local name = "PhysicsWorld.spawn_chain"
  no_reload(name)
  local list = points_of(name, 2, points)
  return spawn_chain(physics_world, list, options_of(name, 3, options, CHAIN_OPTIONS))
end

---Creates a dynamic body in a 2D world whose shape is the convex hull of points. It is a metre deep
---for its mass. Options: `friction`, `restitution`, `density` (kilograms per cubic metre, 1000),
---`collision_filter` (the name of one).
---@param physics_world PhysicsWorld the physics of a world created with "2d"
---@param position Vector3 position of the body
---@param points table a list of Vector2 or Vector3, relative to the position, at least three
---@param options? table the options
---@return Actor actor the new actor
function PhysicsWorld.spawn_polygon(physics_world, position, points, options)
  local name = "PhysicsWorld.spawn_polygon"
  no_reload(name)
  if not istype(V3, position) then bad_argument(name, 2, "position", "Vector3", position) end
  local list = points_of(name, 3, points)
  return spawn_polygon(physics_world, position, list,
    options_of(name, 4, options, POLYGON_OPTIONS))
end
