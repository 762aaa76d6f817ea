-- Units: spawning, destruction, links, data. Notifications of script components are in
-- components.lua; nodes and poses are native.
local core = ...

local type, select, next, tostring = type, select, next, tostring
local pcall, error = pcall, error
local format, concat, sort = string.format, table.concat, table.sort
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local V3, Q, M = core.ctypes.Vector3, core.ctypes.Quaternion, core.ctypes.Matrix4x4

local World, Unit = core.module("World"), core.module("Unit")
local Matrix4x4, Application = core.module("Matrix4x4"), core.module("Application")

-- Data and script components of each resource, by name.
local resources = {}
-- Data of each living unit: nested tables. Empty until a value is set or has a default.
local data = {}
core.unit_data = data

local merge, put = core.kept.merge, core.kept.put

local function copy(value)
  if type(value) ~= "table" then return value end
  local made = {}
  for key, item in next, value do made[key] = copy(item) end
  return made
end

core.copy = copy

-- { parts = { { name =, component =, fields = }, … }, data = }
local function resource_of(name)
  local known = resources[name]
  if known == nil then
    local read = core.unit_resource(name)
    known = { parts = {}, data = read[2] }
    for i, part in ipairs(read[1]) do
      known.parts[i] = { name = part[1], component = part[2], fields = part[3] }
    end
    resources[name] = known
  end
  return known
end

-- Called when units changed on disk: units that are spawned later use the new resources.
function core.forget_units()
  resources = {}
end

-- Returns position, rotation and scale from the arguments of a spawn.
local function placed(name, position, rotation)
  if position == nil then
    -- The resource's own values are used.
  elseif istype(M, position) then
    if rotation ~= nil then raise(name .. ": a pose already has a rotation") end
    return Matrix4x4.translation(position), Matrix4x4.rotation(position), Matrix4x4.scale(position)
  elseif not istype(V3, position) then
    bad_argument(name, 3, "position", "Vector3, Matrix4x4 or nil", position)
  end
  if rotation ~= nil and not istype(Q, rotation) then
    bad_argument(name, 4, "rotation", "Quaternion or nil", rotation)
  end
  return position, rotation, nil
end

---Spawns a unit from a resource in a world. Its script components have been notified when this
---function returns.
---@param world World world in which the unit is spawned
---@param resource string the name of a unit, such as "units/barrel" for units/barrel.unit
---@param position? Vector3|Matrix4x4 position or pose of its root; the resource's own by default
---@param rotation? Quaternion rotation of its root; the resource's own by default
---@return Unit unit the new unit
function World.spawn_unit(world, resource, position, rotation)
  no_reload("World.spawn_unit")
  local at, turned, sized = placed("World.spawn_unit", position, rotation)
  local unit = core.spawn_unit(world, resource, at, turned, sized)
  core.finish_units(world, { unit }, {})
  return unit
end

-- Initializes the data of units, with the overrides from `overs`. Returns the parts of each unit.
local function begin_units(units, overs)
  local parts = {}
  for i, unit in ipairs(units) do
    local made_of, over = resource_of(Unit.debug_name(unit)), overs[i]
    if next(made_of.data) ~= nil then data[unit] = copy(made_of.data) end
    if over and next(over) ~= nil then
      data[unit] = data[unit] or {}
      merge(data[unit], over)
    end
    parts[i] = made_of.parts
  end
  return parts
end

-- Completes a spawn in Lua: initializes the units' data and their script components, each of which
-- is notified of all units at once. Units without valid data are destroyed immediately, because no
-- script has their handles yet.
function core.finish_units(world, units, overs)
  local fine, parts = pcall(begin_units, units, overs)
  if not fine then
    for i = 1, #units do
      if Unit.alive(units[i]) then core.end_dead(world, units[i]) end
    end
    error(parts, 0)
  end
  core.components_spawned(world, units, parts)
end

-- Destroys a unit immediately.
local function destroy(world, unit)
  core.destroy_unit(world, unit)
  core.components_unspawned(world, unit)
  data[unit] = nil
  core.end_unit(unit)
end

core.destroy_now = destroy

-- Destroys a unit if notifying its components failed.
function core.end_dead(world, unit)
  core.forget_parts(world, unit)
  data[unit] = nil
  core.end_unit(unit)
end

---Destroys a unit. Units that are linked to it stay in place. While components are updated, the
---unit is destroyed after the update of the running component.
---@param world World the unit's world
---@param unit Unit the unit to destroy
function World.destroy_unit(world, unit)
  no_reload("World.destroy_unit")
  if not (core.updating() and core.destroy_later(world, unit)) then destroy(world, unit) end
end

---Links a unit to a node of another unit: its pose is then relative to that node. Its local pose
---does not change, so set it as needed.
---@param world World the world of both
---@param child Unit the unit to attach
---@param parent Unit the unit to attach it to
---@param node? integer index of the parent's node; the root by default
function World.link_unit(world, child, parent, node)
  core.link_unit(world, child, parent, node)
end

---Unlinks a unit from its parent. It keeps its pose in the world.
---@param world World the unit's world
---@param unit Unit the linked unit
function World.unlink_unit(world, unit)
  core.unlink_unit(world, unit)
end

---Returns the units of a world.
---@param world World a world
---@return Unit[] units in the order of their slots, which are reused
function World.units(world)
  return core.units(world)
end

---Returns the units of a world that were spawned from a resource, or from one that inherits from
---it.
---@param world World a world
---@param resource string the name of a unit resource
---@return Unit[] units in the order of their slots
function World.units_by_resource(world, resource)
  if type(resource) ~= "string" then
    bad_argument("World.units_by_resource", 2, "resource", "string", resource)
  end
  local found = {}
  for _, unit in ipairs(core.units(world)) do
    if Unit.is_a(unit, resource) then found[#found + 1] = unit end
  end
  return found
end

local function check_keys(name, count, ...)
  if count < 1 then raise(name .. ": give at least one key") end
  for i = 1, count do
    local key = select(i, ...)
    local kind = type(key)
    if kind ~= "string" and kind ~= "number" or key ~= key then
      bad_argument(name, i + 1, "key", "string or number", key)
    end
  end
end

---Returns the data of a unit under a key, or under a path of keys into nested tables. Returns nil
---if the key does not exist. The data is initialized from the unit's resource, with the fields of
---script components under the component's name.
---@param unit Unit a unit
---@param ... string|number the keys, outermost first
---@return any value the value under the key
function Unit.get_data(unit, ...)
  local value = data[unit]
  if value == nil then
    core.get_data(unit)
    check_keys("Unit.get_data", select("#", ...), ...)
    return nil
  end
  local count, first = select("#", ...), (...)
  if count == 1 and type(first) == "string" then return value[first] end
  check_keys("Unit.get_data", count, ...)
  for i = 1, count do
    if type(value) ~= "table" then return nil end
    value = value[(select(i, ...))]
  end
  return value
end

---Returns true if a unit has data under a key, or under a path of keys into nested tables.
---@param unit Unit a unit
---@param ... string|number the keys, outermost first
---@return boolean exists true if the key exists
function Unit.has_data(unit, ...)
  if select("#", ...) < 1 then raise("Unit.has_data: give at least one key") end
  return Unit.get_data(unit, ...) ~= nil
end

---Sets the data of a unit under a key, or under a path of keys into nested tables. Missing tables
---are created, but a value that is not a table is not replaced with one. Nil removes the key.
---@param unit Unit a unit
---@param ... any the keys, outermost first, then the value
function Unit.set_data(unit, ...)
  no_reload("Unit.set_data")
  core.set_data(unit)
  local count = select("#", ...) - 1
  if count < 1 then raise("Unit.set_data: give at least one key and a value") end
  check_keys("Unit.set_data", count, ...)
  local tree = data[unit]
  if tree == nil then
    tree = {}
    data[unit] = tree
  end
  put("Unit.set_data", tree, ...)
end

-- Maximum depth of nested tables in the output.
local SHOWN_DEPTH = 16

-- Formats a value. A value without its own text is shown by its type, because addresses differ from
-- run to run.
local function plain(value)
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "thread" or kind == "userdata" then
    return "a " .. kind
  end
  return tostring(value)
end

-- Formats a value, including tables. `within` is the set of tables that contain the value, because
-- a table can contain itself.
local function shown(value, depth, within)
  if type(value) == "string" then return format("%q", value) end
  if type(value) ~= "table" then return plain(value) end
  if within[value] then return " = the table that it is in" end
  if depth > SHOWN_DEPTH then return " = a table with more in it" end
  within[value] = true
  local keys, names, lines = {}, {}, {}
  for key in next, value do
    keys[#keys + 1], names[key] = key, plain(key)
  end
  sort(keys, function(a, b)
    if names[a] ~= names[b] then return names[a] < names[b] end
    return type(a) < type(b)
  end)
  for i, key in ipairs(keys) do
    local item = value[key]
    lines[i] = format("\n%s%s%s%s", ("  "):rep(depth), names[key],
      type(item) == "table" and "" or " = ", shown(item, depth + 1, within))
  end
  within[value] = nil
  return concat(lines)
end

-- Describes the rotation and scale of a node, if they are not the identity.
local function turned_and_sized(unit, node)
  local rotation, scale = Unit.local_rotation(unit, node), Unit.local_scale(unit, node)
  local words = ""
  if rotation ~= Q(0, 0, 0, 1) then words = " turned " .. tostring(rotation) end
  if scale ~= V3(1, 1, 1) then words = words .. " scale " .. tostring(scale) end
  return words
end

---Returns a description of a unit: its nodes with their poses, its components with their fields,
---its data. For people and tools.
---@param unit Unit a unit
---@return string text lines of text
function Unit.inspect(unit)
  core.inspect(unit)
  local lines = { format("unit %q (%s)", Unit.debug_name(unit), tostring(unit)), "nodes" }
  for node = 1, Unit.num_nodes(unit) do
    local position, parent = Unit.world_position(unit, node), Unit.scene_graph_parent(unit, node)
    lines[#lines + 1] = format("  %d %q%s local %s world %s%s", node, Unit.node_name(unit, node),
      parent and " on " .. parent or "", tostring(Unit.local_position(unit, node)),
      tostring(position), turned_and_sized(unit, node))
  end
  for _, line in ipairs(core.inspect_components(unit)) do lines[#lines + 1] = line end
  if data[unit] then lines[#lines + 1] = "data" .. shown(data[unit], 1, {}) end
  return concat(lines, "\n")
end

local release_native = Application.release_world

-- Releases a world. Its units are destroyed first, and their components are notified.
Application.release_world = function(...)
  local world = ...
  if type(world) == "number" and World.alive(world) then
    local updating = core.updating_in_world(world)
    if updating then
      raise("Application.release_world: the component '" .. updating
        .. "' of the world is being updated: release it in update(dt)")
    end
    for _, unit in ipairs(core.units(world)) do
      -- Destroying one unit may have destroyed others.
      if Unit.alive(unit) then destroy(world, unit) end
    end
    core.forget_components(world)
  end
  release_native(...)
  core.forget_questions()
end
