-- Shared data: values under nested keys that any file of the game can store and read.
local core = ...

local type, select = type, select
local format = string.format
local bad_argument, raise = core.bad_argument, core.raise
local no_reload = core.no_reload

local Application = core.module("Application")

-- Returns the value at a path of keys in nested tables, or nil.
function core.lookup_path(tree, count, ...)
  for i = 1, count do
    if type(tree) ~= "table" then
      return nil
    end
    tree = tree[(select(i, ...))]
  end
  return tree
end
local lookup = core.lookup_path

local data = {}

local function check_data_keys(name, count, ...)
  if count < 1 then
    raise(name .. ": give at least one key")
  end
  for i = 1, count do
    local key = select(i, ...)
    if type(key) ~= "string" and type(key) ~= "number" then
      bad_argument(name, i, "key", "string or number", key)
    end
  end
end

---Stores a value under one or more keys, where any file can read it.
---@param ... any the keys, then the value; nil removes the value
function Application.set_data(...)
  no_reload("Application.set_data")
  local count = select("#", ...) - 1
  check_data_keys("Application.set_data", count, ...)
  local tree = data
  for i = 1, count - 1 do
    local key = select(i, ...)
    if tree[key] == nil then
      tree[key] = {}
    elseif type(tree[key]) ~= "table" then
      raise(format("Application.set_data: there is a value at key #%d, so nothing can be inside",
        i))
    end
    tree = tree[key]
  end
  tree[(select(count, ...))] = (select(count + 1, ...))
end

---Returns the value under the keys, or nil.
---@param ... string|number the keys
---@return any value the stored value
function Application.get_data(...)
  local count = select("#", ...)
  check_data_keys("Application.get_data", count, ...)
  return lookup(data, count, ...)
end

---Returns true if a value is stored under the keys.
---@param ... string|number the keys
---@return boolean exists true if `get_data` returns a value
function Application.has_data(...)
  local count = select("#", ...)
  check_data_keys("Application.has_data", count, ...)
  return lookup(data, count, ...) ~= nil
end
