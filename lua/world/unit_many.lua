-- Batch functions for units: the same as the functions for one unit, over lists. The loops are
-- compiled, so each unit costs only the native call, without an additional call from the game.
local core = ...

local type, pcall, error = type, pcall, error
local format = string.format
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local V3, Q, M = core.ctypes.Vector3, core.ctypes.Quaternion, core.ctypes.Matrix4x4

local World, Unit = core.module("World"), core.module("Unit")
local Matrix4x4 = core.module("Matrix4x4")

local function check_units(name, place, units)
  if type(units) ~= "table" then
    bad_argument(name, place, "units", "a table of units", units)
  end
end

-- Checks a list of values, one for each unit.
local function check_values(name, units, argument, values)
  if type(values) ~= "table" then
    bad_argument(name, 2, argument, "a table with a value for each unit", values)
  end
  if #values ~= #units then
    raise(format("%s: argument #2 '%s' has %d values for %d units", name, argument, #values,
      #units))
  end
end

-- Raises an error about a wrong value in a list, with its index and type.
local function bad_value(name, argument, i, expected, value)
  raise(format("%s: argument #2 '%s' must hold %s for each unit, got %s at %d", name, argument,
    expected, core.describe(value), i))
end

-- Returns the table to fill. Elements beyond the last unit are removed.
local function into_table(name, units, into)
  check_units(name, 1, units)
  if into == nil then return {} end
  if type(into) ~= "table" then bad_argument(name, 2, "into", "table or nil", into) end
  for i = #into, #units + 1, -1 do into[i] = nil end
  return into
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
  local units, fine, unit = {}, true, nil
  for i = 1, #positions do
    local position, rotation, scale = positions[i], rotations and rotations[i], nil
    if istype(M, position) then
      rotation, scale = Matrix4x4.rotation(position), Matrix4x4.scale(position)
      position = Matrix4x4.translation(position)
    end
    fine, unit = pcall(core.spawn_unit, world, resource, position, rotation, scale)
    if not fine then break end
    units[i] = unit
  end
  core.finish_units(world, units, {})
  -- If a unit cannot be spawned, the units before it are complete.
  if not fine then error(unit, 0) end
  return units
end

---Destroys many units, in the order of the list. Units that are already destroyed are skipped.
---@param world World the units' world
---@param units Unit[] the units to destroy
function World.destroy_units(world, units)
  no_reload("World.destroy_units")
  check_units("World.destroy_units", 2, units)
  for i = 1, #units do
    if Unit.alive(units[i]) then World.destroy_unit(world, units[i]) end
  end
end

---Returns the position of a node of each unit, relative to its parent.
---@param units Unit[] the units
---@param into? Vector3[] table to fill; a new one by default
---@param node? integer index of the node; the root by default
---@return Vector3[] positions in the order of the units
function Unit.local_positions(units, into, node)
  into = into_table("Unit.local_positions", units, into)
  for i = 1, #units do into[i] = Unit.local_position(units[i], node or 1) end
  return into
end

---Returns the position of a node of each unit in the world, as of the last update or a later move.
---@param units Unit[] the units
---@param into? Vector3[] table to fill; a new one by default
---@param node? integer index of the node; the root by default
---@return Vector3[] positions in the order of the units
function Unit.world_positions(units, into, node)
  into = into_table("Unit.world_positions", units, into)
  for i = 1, #units do into[i] = Unit.world_position(units[i], node or 1) end
  return into
end

---Returns the rotation of a node of each unit, relative to its parent.
---@param units Unit[] the units
---@param into? Quaternion[] table to fill; a new one by default
---@param node? integer index of the node; the root by default
---@return Quaternion[] rotations in the order of the units
function Unit.local_rotations(units, into, node)
  into = into_table("Unit.local_rotations", units, into)
  for i = 1, #units do into[i] = Unit.local_rotation(units[i], node or 1) end
  return into
end

---Sets the position of a node of each unit, relative to its parent.
---@param units Unit[] the units
---@param positions Vector3[] one for each unit, metres
---@param node? integer index of the node; the root by default
function Unit.set_local_positions(units, positions, node)
  local name = "Unit.set_local_positions"
  check_units(name, 1, units)
  check_values(name, units, "positions", positions)
  for i = 1, #units do
    local position = positions[i]
    if not istype(V3, position) then bad_value(name, "positions", i, "Vector3", position) end
    Unit.set_local_position(units[i], node or 1, position)
  end
end

---Sets the rotation of a node of each unit, relative to its parent.
---@param units Unit[] the units
---@param rotations Quaternion[] one for each unit
---@param node? integer index of the node; the root by default
function Unit.set_local_rotations(units, rotations, node)
  local name = "Unit.set_local_rotations"
  check_units(name, 1, units)
  check_values(name, units, "rotations", rotations)
  for i = 1, #units do
    local rotation = rotations[i]
    if not istype(Q, rotation) then bad_value(name, "rotations", i, "Quaternion", rotation) end
    Unit.set_local_rotation(units[i], node or 1, rotation)
  end
end
