-- Data of units: the functions of `Unit` that read and set it. It starts with the values of the
-- unit's resource (lua/world/units.lua) and of its script components (lua/world/components.lua).
local core = ...

local type, select, next = type, select, next
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload

local Unit = core.module("Unit")

local put = core.user_data.put

-- Data of each living unit: nested tables. Empty until a value is set or has a default.
local data = {}
core.unit_data = data

-- Returns a deep copy of a table.
local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, item in next, value do result[key] = copy(item) end
  return result
end

core.copy = copy

local function forget(_, unit)
  data[unit] = nil
end

core.on("unit_end", "data", forget)
core.on("unit_abandoned", "data", forget)

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
