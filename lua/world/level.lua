-- Levels: spawning at once or over several frames, destruction, and level data. Queries of existing
-- levels are native (src/script/api/level/mod.rs).
local core = ...

local type, ipairs, next, pcall, error = type, ipairs, next, core.pcall, error
local abs, huge = math.abs, math.huge
local format = string.format
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local check, set, get = core.user_data.check, core.user_data.set, core.user_data.get
local V3, Q, M = core.ctypes.Vector3, core.ctypes.Quaternion, core.ctypes.Matrix4x4

local World, Level, Unit = core.module("World"), core.module("Level"), core.module("Unit")
local Vector3, Matrix4x4 = core.module("Vector3"), core.module("Matrix4x4")

-- Levels of each world that are still being spawned, in order: { level =, units_per_frame = }.
local spawning = {}
-- Stack of the levels whose units are being spawned in the current call, innermost last; a finished
-- entry below the top becomes false. If an error interrupts a call, its level is destroyed at the
-- end of the frame, because no script has its handle.
local unfinished = {}

local OPTIONS = { scale = "number", object_sets = "table", units_per_frame = "number" }

local function checked(options)
  if options == nil then return {} end
  if type(options) ~= "table" then
    bad_argument("World.spawn_level", 5, "options", "table or nil", options)
  end
  for key in next, options do
    if type(key) ~= "string" then
      raise("World.spawn_level: options have names, such as { units_per_frame = 50 }, got "
        .. core.describe(key) .. " as one")
    end
  end
  for _, key in ipairs(core.names(options)) do
    local wanted, value = OPTIONS[key], options[key]
    if not wanted then
      raise("World.spawn_level: " .. core.unknown_option(key, OPTIONS))
    end
    if type(value) ~= wanted then
      raise(format("World.spawn_level: option '%s' must be a %s, got %s", key, wanted,
        core.describe(value)))
    end
  end
  local pace = options.units_per_frame
  if pace and (pace < 1 or pace % 1 ~= 0) then
    raise("World.spawn_level: option 'units_per_frame' must be a whole number above 0, got "
      .. pace)
  end
  return options
end

local function spawn_units(level, most)
  local world, units, overrides = Level.world(level), {}, {}
  local ok, unit = true, nil
  for i = 1, most do
    ok, unit = pcall(core.level_next, level)
    if not ok or not unit then break end
    units[i], overrides[i] = unit, core.level_unit_data(unit)
  end
  core.finish_units(world, units, overrides)
  -- If a unit cannot be spawned, the units before it are complete.
  if not ok then error(unit, 0) end
  -- A component's `spawned` callback may have destroyed the level.
  return not Level.alive(level) or Level.progress(level) == 1
end

-- Spawns at most `most` units of a level. Returns true if the level is then complete.
local function spawn(level, most)
  local complete = core.with_context("When spawning level:", Level.resource_name(level),
    spawn_units, level, most)
  return complete
end

---Spawns a level from a `.level` file: its units and its nested levels. With the option
---`units_per_frame`, the units are spawned over several updates of the world, and `Level.progress`
---reports the progress. `scale` is the scale of the whole level (default 1). `object_sets` lists
---the sets of units that are spawned in addition to the units that are in no set (default: all
---sets).
---@param world World world in which the level is spawned
---@param resource string the name of a level, such as "levels/yard" for levels/yard.level
---@param position? Vector3|Matrix4x4 the origin's position or pose; the world's origin by default
---@param rotation? Quaternion rotation of the whole level
---@param options? table `scale`, `object_sets`, `units_per_frame`
---@return Level level the new level
function World.spawn_level(world, resource, position, rotation, options)
  no_reload("World.spawn_level")
  options = checked(options)
  local scale = options.scale
  if istype(M, position) then
    if rotation ~= nil then raise("World.spawn_level: a pose already has a rotation") end
    local sizes = Matrix4x4.scale(position)
    if abs(sizes.x - sizes.y) > 1e-3 * sizes.x or abs(sizes.x - sizes.z) > 1e-3 * sizes.x
    then
      raise("World.spawn_level: a level's pose must have the same scale along its axes")
    end
    scale = sizes.x * (scale or 1)
    position, rotation = Matrix4x4.translation(position), Matrix4x4.rotation(position)
  elseif position ~= nil and not istype(V3, position) then
    bad_argument("World.spawn_level", 3, "position", "Vector3, Matrix4x4 or nil", position)
  end
  if rotation ~= nil and not istype(Q, rotation) then
    bad_argument("World.spawn_level", 4, "rotation", "Quaternion or nil", rotation)
  end
  local level = core.spawn_level(world, resource, position, rotation, scale, options.object_sets)
  core.user_data.begin(level, core.level_data(level))
  core.start_level_graph(level)
  local index = #unfinished + 1
  unfinished[index] = { world = world, level = level }
  local complete = spawn(level, options.units_per_frame and 0 or huge)
  if complete and Level.alive(level) then core.bake_level(level) end
  if index == #unfinished then unfinished[index] = nil else unfinished[index] = false end
  if not complete then
    local list = spawning[world] or {}
    spawning[world] = list
    list[#list + 1] = { level = level, units_per_frame = options.units_per_frame }
  elseif Level.alive(level) then
    core.level_graph_loaded(level)
  end
  return level
end

-- Continues the levels that are still being spawned.
core.on("world_update", "levels", function(world)
  local list = spawning[world]
  if not list then return end
  local left = {}
  for _, one in ipairs(list) do
    -- An entry that still has `begun` set contains a unit that could not be spawned. It is dropped,
    -- and the level keeps the units that it has.
    if Level.alive(one.level) and not one.begun then
      one.begun = true
      if not spawn(one.level, one.units_per_frame) then
        left[#left + 1] = one
      elseif Level.alive(one.level) then
        core.bake_level(one.level)
        core.level_graph_loaded(one.level)
      end
      one.begun = nil
    end
  end
  spawning[world] = #left > 0 and left or nil
end)

core.on("world_released", "levels", function(world)
  spawning[world] = nil
end)

-- Destroys levels that an error left half spawned in the last frame.
core.on("frame_update", "levels", function()
  if #unfinished == 0 then return end
  local left = unfinished
  unfinished = {}
  for i = 1, #left do
    if left[i] and Level.alive(left[i].level) then
      World.destroy_level(left[i].world, left[i].level)
    end
  end
end)

---Returns true if every unit of a level and of its nested levels has been spawned.
---@param level Level a level
---@return boolean spawned false while it is being spawned over several frames
---@node query
function Level.is_spawned(level)
  return Level.progress(level) == 1
end

local function end_units(world, level)
  core.end_graph(level)
  for _, below in ipairs(core.nested_levels(level)) do end_units(world, below) end
  for _, unit in ipairs(core.level_units(level)) do
    -- Destroying one unit may have destroyed others.
    if Unit.alive(unit) and not core.is_ending(unit) then World.destroy_unit(world, unit) end
  end
end

---Destroys a level with its units and its nested levels. Units of the level that are already
---destroyed are skipped. A nested level is also destroyed with the level that contains it.
---@param world World the level's world
---@param level Level the level to destroy
function World.destroy_level(world, level)
  no_reload("World.destroy_level")
  core.check_level(world, level)
  end_units(world, level)
  core.end_level(level)
end

---Returns the levels of a world, without nested levels.
---@param world World a world
---@return Level[] levels in the order of their slots, which are reused
---@node query
function World.levels(world)
  return core.levels(world)
end

---Returns the existing units of a level, without those of nested levels.
---@param level Level a level
---@return Unit[] units in the order of the level's file
---@node query
function Level.units(level)
  return core.level_units(level)
end

---Returns the levels that are nested in a level.
---@param level Level a level
---@return Level[] levels in the order of the level's file
---@node query
function Level.nested_levels(level)
  return core.nested_levels(level)
end

---Returns the existing units of an object set.
---@param level Level a level
---@param name string the name of one of its object sets
---@return Unit[] units in the order of the level's file
---@node query
function Level.object_set(level, name)
  return core.level_set(level, name)
end

---Returns the points of a spline.
---@param level Level a level
---@param name string the name of one of its splines
---@return Vector3[] points in the world
---@node query
function Level.spline(level, name)
  local numbers, points = core.spline_numbers(level, name), {}
  for i = 1, #numbers, 3 do
    points[#points + 1] = Vector3(numbers[i], numbers[i + 1], numbers[i + 2])
  end
  return points
end

---Returns the points of a spline, by the spline's index in the level's file.
---@param level Level a level
---@param index integer from 1 to `Level.num_splines`
---@return Vector3[] points in the world
---@node query
function Level.spline_by_index(level, index)
  check("Level.spline_by_index", Level, level)
  local names = Level.spline_names(level)
  local name = names[index]
  if not name then
    if type(index) ~= "number" or index % 1 ~= 0 then
      bad_argument("Level.spline_by_index", 2, "index", "whole number", index)
    end
    raise(format("Level.spline_by_index: argument #2 'index': level %q has %d splines, got %d",
      Level.resource_name(level), #names, index))
  end
  return Level.spline(level, name)
end

---Returns the data of a level under a key, or under a path of keys into nested tables. Returns nil
---if the key does not exist. The data is initialized from the level's file.
---@param level Level a level
---@param ... string|number the keys, outermost first
---@return any value the value under the key
function Level.get_data(level, ...)
  check("Level.get_data", Level, level)
  return get("Level.get_data", level, ...)
end

---Returns true if a level has data under a key, or under a path of keys into nested tables.
---@param level Level a level
---@param ... string|number the keys, outermost first
---@return boolean exists true if the key exists
function Level.has_data(level, ...)
  check("Level.has_data", Level, level)
  return get("Level.has_data", level, ...) ~= nil
end

---Sets the data of a level under a key, or under a path of keys into nested tables. Missing tables
---are created. Nil removes the key.
---@param level Level a level
---@param ... any the keys, outermost first, then the value
function Level.set_data(level, ...)
  no_reload("Level.set_data")
  check("Level.set_data", Level, level)
  set("Level.set_data", level, ...)
end
