-- The functions of `World` for units: spawning, destruction, links, lists of units. Functions of
-- `Unit` are in unit/. Notifications of script components are in components.lua.
local core = ...

local type, next, ipairs, select = type, next, ipairs, select
local pcall, error = core.pcall, error
local with_context = core.with_context
local format = string.format
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local V2, V3 = core.ctypes.Vector2, core.ctypes.Vector3
local Q, M = core.ctypes.Quaternion, core.ctypes.Matrix4x4

local World, Unit = core.module("World"), core.module("Unit")
local Matrix4x4 = core.module("Matrix4x4")

local data, copy, merge = core.unit_data, core.copy, core.user_data.merge
local unit_end, unit_abandoned = core.event("unit_end"), core.event("unit_abandoned")

-- Maximum number of nodes of a unit (UNIT_NODES_MAX in src/world/scene_graph.rs).
local NODES_MAX = 4096

-- Data and script components of each resource, by name.
local resources = {}

-- { parts = { { name =, component =, fields = }, … }, data = }
local function resource_of(name)
  local known = resources[name]
  if known == nil then
    local read = core.unit_resource(name)
    known = { parts = {}, data = read[2], flow = read[3] }
    for i, part in ipairs(read[1]) do
      known.parts[i] = { name = part[1], component = part[2], fields = part[3] }
    end
    resources[name] = known
  end
  return known
end

-- Units that are spawned later use the new resources.
core.on("resources_changed", "units", function()
  resources = {}
end)

-- Returns position, rotation and scale from the arguments of a spawn.
local function spawn_transform(name, position, rotation)
  if position == nil then
    -- The resource's own values are used.
  elseif istype(M, position) then
    if rotation ~= nil then raise(name .. ": a pose already has a rotation") end
    return Matrix4x4.translation(position), Matrix4x4.rotation(position), Matrix4x4.scale(position)
  elseif istype(V2, position) then
    position = V3(position.x, position.y, 0)
  elseif not istype(V3, position) then
    bad_argument(name, 3, "position", "Vector3, Vector2, Matrix4x4 or nil", position)
  end
  if rotation ~= nil and not istype(Q, rotation) then
    bad_argument(name, 4, "rotation", "Quaternion or nil", rotation)
  end
  return position, rotation, nil
end

local function spawn_one(world, resource, position, rotation, scale)
  local unit = core.spawn_unit(world, resource, position, rotation, scale)
  core.finish_units(world, { unit }, {})
  return unit
end

---Spawns a unit from a resource in a world. Its script components have been notified when this
---function returns.
---@param world World world in which the unit is spawned
---@param resource string the name of a unit, such as "units/barrel" for units/barrel.unit
---@param position? Vector3|Vector2|Matrix4x4 pose of its root (Vector2: z = 0); its own by default
---@param rotation? Quaternion rotation of its root; the resource's own by default
---@return Unit unit the new unit
function World.spawn_unit(world, resource, position, rotation)
  no_reload("World.spawn_unit")
  local translation, root_rotation, scale = spawn_transform("World.spawn_unit", position, rotation)
  -- Not a tail call: reports name this function.
  local unit = with_context("When spawning unit:", resource, spawn_one, world, resource,
    translation, root_rotation, scale)
  return unit
end

-- Initializes the data of units, with `overrides` for each of them. Returns the parts of each unit,
-- and true if one of them has a graph.
local function begin_units(units, overrides)
  local parts, has_graphs = {}, false
  for i, unit in ipairs(units) do
    local initial, override = resource_of(Unit.debug_name(unit)), overrides[i]
    if next(initial.data) ~= nil then data[unit] = copy(initial.data) end
    if override and next(override) ~= nil then
      data[unit] = data[unit] or {}
      merge(data[unit], override)
    end
    parts[i] = initial.parts
    has_graphs = has_graphs or initial.flow
  end
  return parts, has_graphs
end

-- Completes a spawn in Lua: initializes the units' data and their script components, each of which
-- is notified of all units at once. Units without valid data are destroyed immediately, because no
-- script has their handles yet. `removed` has the keys of the data that each unit does not get.
function core.finish_units(world, units, overrides, removed)
  local ok, parts, has_graphs = pcall(begin_units, units, overrides)
  if not ok then
    for i = 1, #units do
      if Unit.alive(units[i]) then core.abandon_unit(world, units[i]) end
    end
    error(parts, 0)
  end
  core.components_spawned(world, units, parts, removed)
  if has_graphs then core.start_unit_graphs(units) end
end

-- Destroys a unit immediately.
local function destroy(world, unit)
  core.destroy_unit(world, unit)
  core.end_graph(unit)
  unit_end(world, unit)
  core.end_unit(unit)
end

core.destroy_now = destroy

-- Destroys a unit if notifying its components failed.
function core.abandon_unit(world, unit)
  unit_abandoned(world, unit)
  core.end_graph(unit)
  core.end_unit(unit)
end

core.on("world_release", "units", function(world)
  for _, unit in ipairs(core.units(world)) do
    -- Destroying one unit may have destroyed others.
    if Unit.alive(unit) then destroy(world, unit) end
  end
end)

---Destroys a unit. Units that are linked to it stay in place. While components are updated, the
---unit is destroyed after the update of the running component.
---@param world World the unit's world
---@param unit Unit the unit to destroy
function World.destroy_unit(world, unit)
  no_reload("World.destroy_unit")
  if not (core.updating() and core.destroy_later(world, unit)) then destroy(world, unit) end
end

local function spawn_many(world, resource, positions, rotations)
  local units, ok, unit = {}, true, nil
  for i = 1, #positions do
    local position, rotation, scale = positions[i], rotations and rotations[i], nil
    if istype(M, position) then
      rotation, scale = Matrix4x4.rotation(position), Matrix4x4.scale(position)
      position = Matrix4x4.translation(position)
    end
    ok, unit = pcall(core.spawn_unit, world, resource, position, rotation, scale)
    if not ok then break end
    units[i] = unit
  end
  core.finish_units(world, units, {})
  -- If a unit cannot be spawned, the units before it are complete.
  if not ok then error(unit, 0) end
  return units
end

---Spawns many units from a resource, one for each position. Script components are notified of all
---of them at once.
---@param world World world in which the units are spawned
---@param resource string the name of a unit
---@param positions Vector3[]|Matrix4x4[] position or pose of each root
---@param rotations? Quaternion[] rotation of each root; the resource's own by default
---@return Unit[] units in the order of the positions
function World.spawn_units(world, resource, positions, rotations)
  no_reload("World.spawn_units")
  local name = "World.spawn_units"
  if type(positions) ~= "table" then
    bad_argument(name, 3, "positions", "a table of positions", positions)
  end
  if rotations ~= nil then
    if type(rotations) ~= "table" then
      bad_argument(name, 4, "rotations", "a table of rotations or nil", rotations)
    end
    if #rotations ~= #positions then
      raise(format("%s: argument #4 'rotations' has %d values for %d positions", name, #rotations,
        #positions))
    end
  end
  for i = 1, #positions do
    local position = positions[i]
    if not istype(V3, position) and not istype(M, position) then
      raise(format("%s: argument #3 'positions' must hold Vector3 or Matrix4x4, got %s at %d",
        name, core.describe(position), i))
    end
    if rotations and istype(M, position) then
      raise(name .. ": a pose already has a rotation")
    end
    if rotations and not istype(Q, rotations[i]) then
      raise(format("%s: argument #4 'rotations' must hold Quaternion, got %s at %d", name,
        core.describe(rotations[i]), i))
    end
  end
  local units = with_context("When spawning units:", resource, spawn_many, world, resource,
    positions, rotations)
  return units
end

---Destroys many units, in the order of the list. Units that are already destroyed are skipped.
---@param world World the units' world
---@param units Unit[] the units to destroy
function World.destroy_units(world, units)
  no_reload("World.destroy_units")
  if type(units) ~= "table" then
    bad_argument("World.destroy_units", 2, "units", "a table of units", units)
  end
  for i = 1, #units do
    if Unit.alive(units[i]) then World.destroy_unit(world, units[i]) end
  end
end

---Links a unit to a node of another unit: the pose of its root is then relative to that node. Its
---local pose does not change, so set it as needed. If an index of one of the child's nodes comes
---before the parent, that node is linked in place of the root: clothes link each of their bones to
---the bone of a body. All linked nodes of a unit have their parents in the same other unit.
---@param world World the world of both
---@param child Unit the unit to attach
---@param ... Unit|integer|nil [the child's node,] the parent, and its node (the root by default)
function World.link_unit(world, child, ...)
  local first, second, third = ...
  -- Indices of nodes are small, and handles are not.
  if type(second) == "number" and second > NODES_MAX then
    if select("#", ...) > 3 then core.refuse_extra("World.link_unit", 5, select(4, ...)) end
    core.link_unit(world, child, second, third, first)
  else
    if select("#", ...) > 2 then core.refuse_extra("World.link_unit", 4, select(3, ...)) end
    core.link_unit(world, child, first, second)
  end
end

---Unlinks a unit from its parent, with all its nodes. They keep their poses in the world.
---@param world World the unit's world
---@param unit Unit the linked unit
function World.unlink_unit(world, unit)
  core.unlink_unit(world, unit)
end

---Returns the units of a world.
---@param world World a world
---@return Unit[] units in the order of their slots, which are reused
---@node query
function World.units(world)
  return core.units(world)
end

---Returns the units of a world that were spawned from a resource, or from one that inherits from
---it.
---@param world World a world
---@param resource string the name of a unit resource
---@return Unit[] units in the order of their slots
---@node query
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
