-- Levels: spawning at once or over several frames, ending, data. What is asked of a level that is
-- there is native (src/script/api/level.rs).
local core = ...

local type, ipairs, next, pcall, error = type, ipairs, next, pcall, error
local abs, huge = math.abs, math.huge
local format = string.format
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local check, set, get = core.kept.check, core.kept.set, core.kept.get
local V3, Q, M = core.ctypes.Vector3, core.ctypes.Quaternion, core.ctypes.Matrix4x4

local World, Level, Unit = core.module("World"), core.module("Level"), core.module("Unit")
local Application, Vector3 = core.module("Application"), core.module("Vector3")
local Matrix4x4 = core.module("Matrix4x4")

-- The levels of each world that are still being spawned: { level =, units_per_frame = }, in order.
local spawning = {}
-- Levels whose units are spawned at once, innermost last, or false: what an error leaves of one
-- ends with the frame, for nobody has its handle.
local half = {}

local OPTIONS = { scale = "number", object_sets = "table", units_per_frame = "number" }

local function checked(options)
  if options == nil then return {} end
  if type(options) ~= "table" then
    bad_argument("World.spawn_level", 5, "options", "table or nil", options)
  end
  for key in next, options do
    if type(key) ~= "string" then
      raise("World.spawn_level: options have names, as { units_per_frame = 50 }, got "
        .. core.describe(key) .. " as one")
    end
  end
  for _, key in ipairs(core.names(options)) do
    local wanted, value = OPTIONS[key], options[key]
    if not wanted then
      local near = core.suggest(key, core.names(OPTIONS))
      raise(format("World.spawn_level: unknown option '%s'%s", key,
        near and ", did you mean '" .. near .. "'?" or ""))
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

-- Spawns at most so many units of a level; whether it is whole then.
local function spawn(level, most)
  local world, units, overs = Level.world(level), {}, {}
  local fine, unit = true, nil
  for i = 1, most do
    fine, unit = pcall(core.level_next, level)
    if not fine or not unit then break end
    units[i], overs[i] = unit, core.level_unit_data(unit)
  end
  core.finish_units(world, units, overs)
  -- Those before one that cannot be spawned are whole.
  if not fine then error(unit, 0) end
  -- a component's `spawned` may have ended the level
  return not Level.alive(level) or Level.progress(level) == 1
end

---Makes a level of a `.level` file: its units, and the levels inside of it. With `units_per_frame`
---they come over several updates of the world, and `Level.progress` says how far it is; `scale`
---says how large all of it is (1), and `object_sets` which sets of units are spawned beside those
---units that are in none (all).
---@param world World where it comes to be
---@param resource string the name of a level, as "levels/yard" for levels/yard.level
---@param position? Vector3|Matrix4x4 where its origin is, or its pose; the world's origin if none
---@param rotation? Quaternion how all of it is turned
---@param options? table `scale`, `object_sets`, `units_per_frame`
---@return Level level the new level
function World.spawn_level(world, resource, position, rotation, options)
  no_reload("World.spawn_level")
  options = checked(options)
  local scale = options.scale
  if istype(M, position) then
    if rotation ~= nil then raise("World.spawn_level: a pose says the rotation already") end
    local sizes = Matrix4x4.scale(position)
    if abs(sizes.x - sizes.y) > 1e-3 * sizes.x or abs(sizes.x - sizes.z) > 1e-3 * sizes.x
    then
      raise("World.spawn_level: a level's pose must be sized equally along its axes")
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
  core.kept.begin(level, core.level_data(level))
  local place = #half + 1
  half[place] = { world = world, level = level }
  local whole = spawn(level, options.units_per_frame and 0 or huge)
  if place == #half then half[place] = nil else half[place] = false end
  if not whole then
    local list = spawning[world] or {}
    spawning[world] = list
    list[#list + 1] = { level = level, units_per_frame = options.units_per_frame }
  end
  return level
end

local update = World.update

-- The world's update, before which levels go on being spawned.
World.update = function(...)
  local list = spawning[(...)]
  if list then
    local left = {}
    for _, one in ipairs(list) do
      -- One that is still begun had a unit that cannot be spawned: it stays as it is.
      if Level.alive(one.level) and not one.begun then
        one.begun = true
        if not spawn(one.level, one.units_per_frame) then left[#left + 1] = one end
        one.begun = nil
      end
    end
    spawning[(...)] = #left > 0 and left or nil
  end
  update(...)
end

local begin = core.begin_components

function core.begin_components()
  begin()
  if #half == 0 then return end
  local left = half
  half = {}
  for i = 1, #left do
    if left[i] and Level.alive(left[i].level) then
      World.destroy_level(left[i].world, left[i].level)
    end
  end
end

---Whether every unit of a level and of those inside of it was spawned.
---@param level Level a level
---@return boolean whole false while it is being spawned over several frames
function Level.is_spawned(level)
  return Level.progress(level) == 1
end

local function end_units(world, level)
  for _, below in ipairs(core.nested_levels(level)) do end_units(world, below) end
  for _, unit in ipairs(core.level_units(level)) do
    -- The end of one may have been that of others.
    if Unit.alive(unit) and not core.is_ending(unit) then World.destroy_unit(world, unit) end
  end
end

---Ends a level with its units and the levels inside of it. A unit that was destroyed before is no
---matter. Levels that stand in another end with that one.
---@param world World the level's world
---@param level Level the level to end
function World.destroy_level(world, level)
  no_reload("World.destroy_level")
  core.check_level(world, level)
  end_units(world, level)
  core.end_level(level)
end

---The levels of a world; those that stand in another are not listed.
---@param world World a world
---@return Level[] levels in the order of their slots, which are used again
function World.levels(world)
  return core.levels(world)
end

---The units of a level that are there; those of levels inside of it are not among them.
---@param level Level a level
---@return Unit[] units in the order of the level's file
function Level.units(level)
  return core.level_units(level)
end

---The levels that stand in a level.
---@param level Level a level
---@return Level[] levels in the order of the level's file
function Level.nested_levels(level)
  return core.nested_levels(level)
end

---The units of a set that are there.
---@param level Level a level
---@param name string the name of one of its object sets
---@return Unit[] units in the order of the level's file
function Level.object_set(level, name)
  return core.level_set(level, name)
end

---The points that a spline goes through.
---@param level Level a level
---@param name string the name of one of its splines
---@return Vector3[] points in the world
function Level.spline(level, name)
  local numbers, points = core.spline_numbers(level, name), {}
  for i = 1, #numbers, 3 do
    points[#points + 1] = Vector3(numbers[i], numbers[i + 1], numbers[i + 2])
  end
  return points
end

---The points that a spline goes through, by the spline's place in the level's file.
---@param level Level a level
---@param index integer from 1 to `Level.num_splines`
---@return Vector3[] points in the world
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

---The data of a level under a key, or under keys that lead into tables; nil where there is none. It
---begins as the level's file says.
---@param level Level a level
---@param ... string|number the keys, outermost first
---@return any value what is there
function Level.get_data(level, ...)
  check("Level.get_data", Level, level)
  return get("Level.get_data", level, ...)
end

---Whether a level has data under a key, or under keys that lead into tables.
---@param level Level a level
---@param ... string|number the keys, outermost first
---@return boolean has whether something is there
function Level.has_data(level, ...)
  check("Level.has_data", Level, level)
  return get("Level.has_data", level, ...) ~= nil
end

---Sets the data of a level under a key, or under keys that lead into tables, which are made where
---they are missing. Nil takes it away.
---@param level Level a level
---@param ... any the keys, outermost first, then the value
function Level.set_data(level, ...)
  no_reload("Level.set_data")
  check("Level.set_data", Level, level)
  set("Level.set_data", level, ...)
end

local release = Application.release_world

-- The world's levels end with it.
Application.release_world = function(...)
  release(...)
  local world = ...
  spawning[world] = nil
end
