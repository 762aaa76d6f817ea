-- Physics functions that take options or lists: raycasts, overlap queries and sweeps, immediate or
-- queued, and lists of contacts. Joints are in joints.lua, actors of units in
-- lua/world/unit/physics.lua. Bodies are native (src/script/api/actor/), and so is the ray
-- (src/script/api/physics_world/raycast.rs).
local core = ...

local type, select, next, ipairs, pcall = type, select, next, ipairs, pcall
local format = string.format
local setmetatable = setmetatable
local ffi = core.ffi
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = ffi.istype
local V3, Q, M = core.ctypes.Vector3, core.ctypes.Quaternion, core.ctypes.Matrix4x4

local World, PhysicsWorld = core.module("World"), core.module("PhysicsWorld")
local Raycast, Matrix4x4 = core.module("Raycast"), core.module("Matrix4x4")
local Quaternion = core.module("Quaternion")

local raycast, overlap, sweep = core.raycast, core.overlap, core.sweep
local contacts, triggers = core.contacts, core.triggers
local broken_joints = core.broken_joints

local cx, ray_type, ray_address = core.physics_ray()
cx = ffi.cast("void *", cx)
local ray = ffi.cast(ray_type, ray_address)
local out = ffi.new("float[7]")

-- Length of a ray without an explicit length: beyond any object.
local FAR = 1e7
local KINDS = { both = 0, statics = 1, dynamics = 2, triggers = 3, all = 4 }
local MODES = { closest = true, any = true, all = true }

-- Indices of collision filters by name, from 1. They are looked up once.
local filters

-- Queued queries of each physics world: functions, in order.
local queued = {}

core.on("resources_changed", "collision_filters", function()
  filters = nil
end)

local function filter_index(name, value)
  if type(value) ~= "string" then
    raise(format("%s: 'collision_filter' must be a name, got %s", name, core.describe(value)))
  end
  if not filters then
    filters = {}
    for index, filter in ipairs(core.physics_filters()) do filters[filter] = index end
  end
  local index = filters[value]
  if not index then
    local near = core.suggest(value, core.names(filters))
    raise(format("%s: there is no collision filter '%s'%s: global.physics_properties lists them "
      .. "under 'collision_filters'", name, value, near and ", did you mean '" .. near .. "'?"
      or ""))
  end
  return index
end

local function types_index(name, value)
  local index = KINDS[value]
  if not index then
    raise(format("%s: 'types' must be \"both\", \"statics\", \"dynamics\", \"triggers\" or "
      .. "\"all\", got %s", name, core.describe(value)))
  end
  return index
end

-- Options of rays and sweeps, and options that are flags: a boolean after them can be left out.
local OPTIONS = { collision_filter = true, types = true, max_hits = true, rewind_ms = true,
  use_global_table = true, report_initial_overlap = true }
local FLAGS = { use_global_table = true, report_initial_overlap = true }
local HITS_MAX = 4096 -- HITS_MAX in src/system/physics/queries.rs

local function hits_max(name, value)
  if type(value) ~= "number" or value % 1 ~= 0 or value < 1 then
    raise(format("%s: 'max_hits' must be a whole number above 0, got %s", name,
      core.describe(value)))
  end
  return value < HITS_MAX and value or HITS_MAX
end

-- Refuses to look into the past. Games of the Bitsquid family pass 0 except on a server.
local function check_rewind(name, value)
  if value ~= 0 then
    raise(format("%s: 'rewind_ms' must be 0, got %s: no past poses are kept. To compensate for the "
      .. "latency of a network, take snapshots (PhysicsWorld.snapshot) and restore one for the "
      .. "query", name, core.describe(value)))
  end
end

local function unknown_option(name, key, known)
  raise(name .. ": " .. core.unknown_option(key, known))
end

-- Returns the index of a filter and of the types, the maximum number of hits, and whether shapes
-- that overlap at the start are reported, from option names and values.
local function read_options(name, ...)
  local filter, kinds, most, initial = 0, 0, nil, true
  local count, i = select("#", ...), 1
  while i <= count do
    local key, value = select(i, ...)
    i = i + 2
    if key == "collision_filter" then
      filter = filter_index(name, value)
    elseif key == "types" then
      kinds = types_index(name, value)
    elseif key == "max_hits" then
      most = hits_max(name, value)
    elseif key == "rewind_ms" then
      check_rewind(name, value)
    elseif FLAGS[key] then
      if type(value) ~= "boolean" then
        i = i - 1
      elseif key == "report_initial_overlap" then
        initial = value
      end
    elseif key ~= nil or value ~= nil then
      unknown_option(name, key, OPTIONS)
    end
  end
  return filter, kinds, most, initial
end

-- Returns the mode of a ray and its options. The mode can be left out.
local function read_mode(name, length, mode, ...)
  if mode == nil or MODES[mode] then return length, mode, read_options(name, ...) end
  if OPTIONS[mode] then return length, nil, read_options(name, mode, ...) end
  local near = type(mode) == "string" and core.suggest(mode, core.names(OPTIONS))
  bad_argument(name, 5, "mode", "\"closest\", \"any\", \"all\" or the name of an option"
    .. (near and " (did you mean \"" .. near .. "\"?)" or ""), mode)
end

-- Returns the length of a ray, its mode and its options. Length and mode can be left out.
local function read_ray(name, length, mode, ...)
  if type(length) == "string" then return read_mode(name, nil, length, mode, ...) end
  return read_mode(name, length, mode, ...)
end

-- Queues a function to run after the next step of a world's physics.
local function queue(name, physics_world, run)
  no_reload(name)
  PhysicsWorld.num_awake(physics_world) -- raises for an invalid handle
  local list = queued[physics_world]
  if not list then
    list = {}
    queued[physics_world] = list
  end
  list[#list + 1] = run
end

-- Returns the hit whose numbers begin at index `i`.
local function hit_at(list, i)
  local position = V3(list[i + 1], list[i + 2], list[i + 3])
  local normal = V3(list[i + 4], list[i + 5], list[i + 6])
  local distance, actor = list[i + 7], list[i]
  return { position, distance, normal, actor,
    position = position, distance = distance, normal = normal, actor = actor }
end

local function hits_of(list, most)
  local count = most and most * 8 < #list and most * 8 or #list
  if count == 0 then return nil, 0 end
  local hits = {}
  for i = 1, count, 8 do hits[#hits + 1] = hit_at(list, i) end
  return hits, #hits
end

local function cast(name, physics_world, from, direction, length, mode, filter, kinds, most)
  if length == nil or type(length) == "number" and length > FAR then length = FAR end
  if mode == "all" then
    return hits_of(raycast(physics_world, from, direction, length, filter, kinds, true), most)
  end
  if type(physics_world) == "number" and istype(V3, from) and istype(V3, direction)
    and type(length) == "number" then
    local actor = ray(cx, physics_world, from._x, from._y, from._z,
      direction._x, direction._y, direction._z, length, filter, kinds, out)
    if actor == 0 then return false end
    if actor > 0 then
      if mode == "any" then return true end
      return true, V3(out[0], out[1], out[2]), out[6], V3(out[3], out[4], out[5]), actor
    end
  end
  -- The checked version raises a precise error.
  raycast(physics_world, from, direction, length, filter, kinds, false)
  return false
end

---Casts a ray. With "closest" (the default), returns true if the ray hits an actor, followed by
---the position, the distance, the normal and the actor. With "any", returns only true or false.
---With "all", returns a list of hits (each with these four as fields, and as items from 1),
---nearest first, and their count, or nil. A function before `from` queues the ray: the function is
---called with the results after the next step of physics. Results refer to the state after the
---last step. Length and mode can be left out before options. A ray of length 0 hits nothing.
---Options are "collision_filter" and a name; "types" and "both", "statics", "dynamics", "triggers"
---or "all"; with "all", "max_hits" and a number. "use_global_table" and "rewind_ms" with 0 are
---accepted and change nothing, because each call returns a new table.
---@param physics_world PhysicsWorld the physics of a world
---@param from Vector3|function start of the ray
---@param direction Vector3 direction of the ray
---@param length? number metres; unlimited by default
---@param mode? string "closest", "any" or "all"
---@param ... any names of options and their values
---@return boolean|table|nil hit true if the ray hits an actor, or the list of hits
---@return Vector3|integer|nil position of the hit, or the number of hits
---@return number|nil distance metres from the start
---@return Vector3|nil normal out of the surface that is hit
---@return Actor|nil actor the actor that is hit
function PhysicsWorld.raycast(physics_world, from, direction, length, mode, ...)
  if type(from) == "function" then
    return PhysicsWorld.queue_raycast(physics_world, from, direction, length, mode, ...)
  end
  local name = "PhysicsWorld.raycast"
  if type(length) ~= "string" and (mode == nil or MODES[mode]) and select("#", ...) == 0 then
    return cast(name, physics_world, from, direction, length, mode, 0, 0)
  end
  return cast(name, physics_world, from, direction, read_ray(name, length, mode, ...))
end

---Alias of `raycast` without a function, known from the Bitsquid family.
---@param physics_world PhysicsWorld the physics of a world
---@param from Vector3 start of the ray
---@param direction Vector3 direction of the ray
---@param length? number metres; unlimited by default
---@param mode? string "closest", "any" or "all"
---@param ... any as for `raycast`
---@return boolean|table|nil hit true if the ray hits an actor, or the list of hits
---@return Vector3|integer|nil position of the hit, or the number of hits
---@return number|nil distance metres from the start
---@return Vector3|nil normal out of the surface that is hit
---@return Actor|nil actor the actor that is hit
function PhysicsWorld.immediate_raycast(physics_world, from, direction, length, mode, ...)
  local name = "PhysicsWorld.immediate_raycast"
  if type(length) ~= "string" and (mode == nil or MODES[mode]) and select("#", ...) == 0 then
    return cast(name, physics_world, from, direction, length, mode, 0, 0)
  end
  return cast(name, physics_world, from, direction, read_ray(name, length, mode, ...))
end

---Queues a ray: the callback is called with the results of `raycast` after the next step of
---physics, within `World.update`. An error in the callback is an ordinary error; the rays queued
---after it are processed in the next update.
---@param physics_world PhysicsWorld the physics of a world
---@param callback function function that receives the results
---@param from Vector3 start of the ray
---@param direction Vector3 direction of the ray
---@param length? number metres; unlimited by default
---@param mode? string "closest", "any" or "all"
---@param ... any as for `raycast`
function PhysicsWorld.queue_raycast(physics_world, callback, from, direction, length, mode, ...)
  local name = "PhysicsWorld.queue_raycast"
  if type(callback) ~= "function" then
    bad_argument(name, 2, "callback", "function", callback)
  elseif not istype(V3, from) then
    bad_argument(name, 3, "from", "Vector3", from)
  elseif not istype(V3, direction) then
    bad_argument(name, 4, "direction", "Vector3", direction)
  end
  local filter, kinds, most
  length, mode, filter, kinds, most = read_ray(name, length, mode, ...)
  queue(name, physics_world, function()
    callback(cast(name, physics_world, from, direction, length, mode, filter, kinds, most))
  end)
end

local casting = { __index = { cast = function(...) return Raycast.cast(...) end } }

---Creates a reusable ray. Each cast is queued: see `Raycast.cast`.
---@param physics_world PhysicsWorld the physics of a world
---@param callback function function that receives the results of `raycast`
---@param mode? string "closest", "any" or "all"
---@param ... any as for `raycast`
---@return Raycast raycast the ray
function PhysicsWorld.make_raycast(physics_world, callback, mode, ...)
  local name = "PhysicsWorld.make_raycast"
  if type(callback) ~= "function" then
    bad_argument(name, 2, "callback", "function", callback)
  end
  PhysicsWorld.num_awake(physics_world)
  local _, chosen, filter, kinds, most = read_mode(name, nil, mode, ...)
  return setmetatable({ physics_world = physics_world, callback = callback, mode = chosen,
    filter = filter, kinds = kinds, most = most }, casting)
end

---@module PhysicsSnapshot
---The state of a world's bodies at one moment, from `PhysicsWorld.snapshot`, for
---`PhysicsWorld.restore`. It is a number, like every handle.
---@example
---   local world = Application.new_world()
---   local physics = World.physics_world(world)
---   local snapshot = PhysicsWorld.snapshot(physics) ---@type PhysicsSnapshot
---   PhysicsWorld.restore(physics, snapshot)
---   Application.release_world(world)

---@module Raycast
---A reusable ray, created by `PhysicsWorld.make_raycast`. `raycast:cast(…)` is the same as
---`Raycast.cast(raycast, …)`.
---@example
---   local world = Application.new_world()
---   local physics = World.physics_world(world)
---   PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
---   local height
---   local down = PhysicsWorld.make_raycast(physics, function(hit, position, distance)
---     height = distance
---   end)
---   Raycast.cast(down, Vector3(0, 0, 5), Vector3.down(), 10)
---   World.update(world, 1 / 60)
---   assert(height == 5)
---   Application.release_world(world)

---@class (exact) Raycast
---@field cast fun(raycast: Raycast, from: Vector3, direction: Vector3, length?: number)

---Casts a ray after the next step of physics. Its callback is called with the results.
---@param raycast Raycast ray created by `PhysicsWorld.make_raycast`
---@param from Vector3 start of the ray
---@param direction Vector3 direction of the ray
---@param length? number metres; unlimited by default
function Raycast.cast(raycast, from, direction, length)
  if type(raycast) ~= "table" or raycast.callback == nil then
    bad_argument("Raycast.cast", 1, "raycast", "Raycast", raycast)
  elseif not istype(V3, from) then
    bad_argument("Raycast.cast", 2, "from", "Vector3", from)
  elseif not istype(V3, direction) then
    bad_argument("Raycast.cast", 3, "direction", "Vector3", direction)
  end
  queue("Raycast.cast", raycast.physics_world, function()
    raycast.callback(cast("Raycast.cast", raycast.physics_world, from, direction, length,
      raycast.mode, raycast.filter, raycast.kinds, raycast.most))
  end)
end

local SHAPES = { sphere = true, capsule = true, oobb = true, box = true }
local OVERLAP = { shape = true, position = true, rotation = true, pose = true, size = true,
  collision_filter = true, types = true, max_hits = true, rewind_ms = true,
  use_global_table = true }

-- Returns the size of a shape as a vector.
local function size_of(name, shape, size)
  if type(size) == "number" and shape ~= "capsule" then return V3(size, size, size) end
  if istype(V3, size) then return size end
  raise(format("%s: 'size' must be %s, got %s", name,
    shape == "sphere" and "the radius" or shape == "capsule"
      and "Vector3(radius, radius, height)" or "half the lengths of the edges as a Vector3",
    core.describe(size)))
end

local function overlapped(name, physics_world, options)
  local shape, position, rotation = options.shape or "sphere", options.position, options.rotation
  if not SHAPES[shape] then
    raise(format("%s: 'shape' must be \"sphere\", \"capsule\" or \"oobb\", got %s", name,
      core.describe(shape)))
  end
  if options.pose ~= nil then
    if not istype(M, options.pose) then
      raise(format("%s: 'pose' must be Matrix4x4, got %s", name, core.describe(options.pose)))
    end
    position, rotation = Matrix4x4.translation(options.pose), Matrix4x4.rotation(options.pose)
  end
  if not istype(V3, position) then
    raise(format("%s: 'position' must be Vector3, got %s", name, core.describe(position)))
  elseif rotation ~= nil and not istype(Q, rotation) then
    raise(format("%s: 'rotation' must be Quaternion, got %s", name, core.describe(rotation)))
  end
  local size = size_of(name, shape, options.size)
  local actors = overlap(physics_world, shape, position, size, rotation or Quaternion.identity(),
    options.filter, options.kinds)
  for i = #actors, (options.max_hits or #actors) + 1, -1 do actors[i] = nil end
  return actors, #actors
end

local function overlap_options(name, ...)
  local options = { filter = 0, kinds = 0 }
  local count, i = select("#", ...), 1
  while i <= count do
    local key, value = select(i, ...)
    i = i + 2
    if FLAGS[key] and OVERLAP[key] then
      if type(value) ~= "boolean" then i = i - 1 end
    elseif key ~= nil and OVERLAP[key] then
      options[key] = value
    elseif key ~= nil or value ~= nil then
      unknown_option(name, key, OVERLAP)
    end
  end
  if options.collision_filter ~= nil then
    options.filter = filter_index(name, options.collision_filter)
  end
  if options.max_hits ~= nil then options.max_hits = hits_max(name, options.max_hits) end
  if options.rewind_ms ~= nil then check_rewind(name, options.rewind_ms) end
  if options.types ~= nil then options.kinds = types_index(name, options.types) end
  return options
end

---Returns the actors that overlap a shape, as a list, and their count. Options are names and
---values: "shape" and "sphere" (default), "capsule" or "oobb"; "position"; "rotation"; or both as
---"pose"; "size": the radius of a sphere, Vector3(radius, radius, height) for a capsule, half
---extents for an oobb; "collision_filter", "types" and "max_hits" as for `raycast`. A function
---before the options queues the query: the function is called with the results after the next step
---of physics.
---@param physics_world PhysicsWorld the physics of a world
---@param ... any names and values
---@return Actor[] actors in the order of their slots
---@return integer count number of actors
function PhysicsWorld.overlap(physics_world, ...)
  local callback = ...
  if type(callback) ~= "function" then
    local options = overlap_options("PhysicsWorld.overlap", ...)
    return overlapped("PhysicsWorld.overlap", physics_world, options)
  end
  local options = overlap_options("PhysicsWorld.overlap", select(2, ...))
  queue("PhysicsWorld.overlap", physics_world, function()
    callback(overlapped("PhysicsWorld.overlap", physics_world, options))
  end)
end

---Alias of `overlap` without a function, known from the Bitsquid family.
---@param physics_world PhysicsWorld the physics of a world
---@param ... any names and values, as for `overlap`
---@return Actor[] actors in the order of their slots
---@return integer count number of actors
function PhysicsWorld.immediate_overlap(physics_world, ...)
  local name = "PhysicsWorld.immediate_overlap"
  return overlapped(name, physics_world, overlap_options(name, ...))
end

local function swept(name, shape, physics_world, from, to, size, rotation, most, ...)
  local filter, kinds, more, initial
  if OPTIONS[most] then
    filter, kinds, more, initial = read_options(name, most, ...)
    most = nil
  else
    filter, kinds, more, initial = read_options(name, ...)
  end
  return (hits_of(sweep(physics_world, shape, from, to, size, rotation, more or most or 1,
    filter * 16 + (initial and 8 or 0) + kinds)))
end

---Sweeps a sphere along a straight line. Returns the hits, nearest first, with each actor once, or
---nil if there are none. A sweep of length 0 hits nothing: use `PhysicsWorld.overlap` for a shape
---at rest. Actors that overlap the shape at the start are the first hits, with distance 0, unless
---"report_initial_overlap" is false.
---@param physics_world PhysicsWorld the physics of a world
---@param from Vector3 center at the start
---@param to Vector3 center at the end
---@param radius number metres
---@param max_hits? integer maximum number of hits; 1 by default
---@param ... any "collision_filter" and "types" as for `raycast`, "report_initial_overlap"
---@return table|nil hits a list; each hit has position, distance, normal and actor
function PhysicsWorld.linear_sphere_sweep(physics_world, from, to, radius, max_hits, ...)
  local name = "PhysicsWorld.linear_sphere_sweep"
  if type(radius) ~= "number" then bad_argument(name, 4, "radius", "number", radius) end
  return swept(name, "sphere", physics_world, from, to, V3(radius, radius, radius),
    Quaternion.identity(), max_hits, ...)
end

---Sweeps a box along a straight line. Returns the hits, nearest first, with each actor once, or
---nil if there are none.
---@param physics_world PhysicsWorld the physics of a world
---@param from Vector3 center at the start
---@param to Vector3 center at the end
---@param half_extents Vector3 half the lengths of its edges
---@param rotation? Quaternion rotation of the box
---@param max_hits? integer maximum number of hits; 1 by default
---@param ... any "collision_filter" and "types" as for `raycast`, "report_initial_overlap"
---@return table|nil hits a list; each hit has position, distance, normal and actor
function PhysicsWorld.linear_obb_sweep(physics_world, from, to, half_extents, rotation, max_hits,
  ...)
  local name = "PhysicsWorld.linear_obb_sweep"
  if not istype(V3, half_extents) then
    bad_argument(name, 4, "half_extents", "Vector3", half_extents)
  end
  return swept(name, "oobb", physics_world, from, to, half_extents,
    rotation or Quaternion.identity(), max_hits, ...)
end

---Sweeps a capsule, upright by default, along a straight line. Returns the hits, nearest first,
---with each actor once, or nil if there are none.
---@param physics_world PhysicsWorld the physics of a world
---@param from Vector3 center at the start
---@param to Vector3 center at the end
---@param size Vector3 the radius, the radius again, and the height including both caps
---@param rotation? Quaternion rotation of the capsule
---@param max_hits? integer maximum number of hits; 1 by default
---@param ... any "collision_filter" and "types" as for `raycast`, "report_initial_overlap"
---@return table|nil hits a list; each hit has position, distance, normal and actor
function PhysicsWorld.linear_capsule_sweep(physics_world, from, to, size, rotation, max_hits, ...)
  local name = "PhysicsWorld.linear_capsule_sweep"
  if not istype(V3, size) then bad_argument(name, 4, "size", "Vector3", size) end
  return swept(name, "capsule", physics_world, from, to, size,
    rotation or Quaternion.identity(), max_hits, ...)
end

local function handle(number)
  if number ~= 0 then return number end
end

---Returns the contacts that began in the last update: a list of tables with `actor` and `unit`,
---`other_actor` and `other_unit` (units are nil for actors without one), `position`, `normal` (out
---of the other actor) and `impulse`, in kilogram metres per second. If only one of the two actors
---is dynamic, it comes first. The list contains no pairs in which both actors' files say `contacts
---= false`.
---@param physics_world PhysicsWorld the physics of a world
---@return table[] contacts in the order in which they occurred
---@node query
function PhysicsWorld.contacts(physics_world)
  local list, result = contacts(physics_world), {}
  for i = 1, #list, 11 do
    result[#result + 1] = {
      actor = handle(list[i]), unit = handle(list[i + 1]),
      other_actor = handle(list[i + 2]), other_unit = handle(list[i + 3]),
      position = V3(list[i + 4], list[i + 5], list[i + 6]),
      normal = V3(list[i + 7], list[i + 8], list[i + 9]),
      impulse = list[i + 10],
    }
  end
  return result
end

---Returns the actors that entered or left triggers in the last update: a list of tables with
---`event` ("enter" or "leave"), `trigger` and `trigger_unit`, `actor` and `unit`. An actor that
---was destroyed inside a trigger leaves it; its handles are then stale.
---@param physics_world PhysicsWorld the physics of a world
---@return table[] events in the order in which they occurred
---@node query
function PhysicsWorld.triggers(physics_world)
  local list, result = triggers(physics_world), {}
  for i = 1, #list, 5 do
    result[#result + 1] = {
      event = list[i + 4] and "enter" or "leave",
      trigger = handle(list[i]), trigger_unit = handle(list[i + 1]),
      actor = handle(list[i + 2]), unit = handle(list[i + 3]),
    }
  end
  return result
end

---Returns the joints that broke in the last update.
---@param physics_world PhysicsWorld the physics of a world
---@return Joint[] joints a list
---@node query
function PhysicsWorld.broken_joints(physics_world)
  return broken_joints(physics_world)
end

---Returns the physics of a world, in which bodies fall and collide. Raises for a world that was
---created with "no_physics".
---@param world World a world
---@return PhysicsWorld physics_world the same value on each call
---@node query
function World.physics_world(world)
  return core.physics_world(world)
end

-- Returns true if any world has queued queries.
function core.has_queued_queries()
  return next(queued) ~= nil
end

-- Runs the queued queries of a world, which must have physics. After an error the remaining queries
-- run in the next update, as with timers. Queries queued by callbacks wait for the next step.
function core.run_queued_queries(world)
  local physics_world = core.physics_world(world)
  local list = queued[physics_world]
  if not list then return end
  local last = #list
  for i = list.first or 1, last do
    list.first = i + 1
    local question = list[i]
    list[i] = false
    question()
    -- The callback may have updated or released the world.
    if queued[physics_world] ~= list then return end
  end
  local later
  for i = last + 1, #list do
    later = later or {}
    later[#later + 1] = list[i]
  end
  queued[physics_world] = later
end

-- Drops the queued queries of worlds that were released.
core.on("world_released", "physics_queries", function()
  for physics_world in next, queued do
    if not pcall(PhysicsWorld.num_awake, physics_world) then queued[physics_world] = nil end
  end
end)
