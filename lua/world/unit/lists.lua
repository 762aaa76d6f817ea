-- Functions of `Unit` over lists of units: the same as the functions for one unit. The loops are
-- compiled, so each unit costs only the native call, without an additional call from the game.
local core = ...

local type, format = type, string.format
local raise, bad_argument = core.raise, core.bad_argument
local istype = core.ffi.istype
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion

local Unit = core.module("Unit")

local function check_units(name, units)
  if type(units) ~= "table" then
    bad_argument(name, 1, "units", "a table of units", units)
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
  check_units(name, units)
  if into == nil then return {} end
  if type(into) ~= "table" then bad_argument(name, 2, "into", "table or nil", into) end
  for i = #into, #units + 1, -1 do into[i] = nil end
  return into
end

---Returns the position of a node of each unit, relative to its parent.
---@param units Unit[] the units
---@param into? Vector3[] table to fill; a new one by default
---@param node? integer index of the node; the root by default
---@return Vector3[] positions in the order of the units
---@node query
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
---@node query
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
---@node query
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
  check_units(name, units)
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
  check_units(name, units)
  check_values(name, units, "rotations", rotations)
  for i = 1, #units do
    local rotation = rotations[i]
    if not istype(Q, rotation) then bad_value(name, "rotations", i, "Quaternion", rotation) end
    Unit.set_local_rotation(units[i], node or 1, rotation)
  end
end
