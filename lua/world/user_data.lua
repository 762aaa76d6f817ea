-- User data that games store with objects that have handles: cameras, viewports, worlds, levels.
-- Unit data is in unit/data.lua, because it starts with the values of the unit's resource.
local core = ...

local type, select, next, setmetatable = type, select, next, setmetatable
local format = string.format
local raise, bad_argument = core.raise, core.bad_argument

-- Nested tables by handle. Handles are never reused, so the data of a dead handle only takes up
-- memory. That memory is released when other data is added.
local data, count, room = {}, 0, 64

-- Tables of scripts that were stored, which may also be elsewhere: the debugger asks for them.
local is_stored = setmetatable({}, { __mode = "k" })

local function check(name, module, handle)
  if type(handle) ~= "number" or not module.alive(handle) then
    local kind = name:match("^%a+")
    bad_argument(name, 1, kind:lower(), kind .. " that exists", handle)
  end
end

local function alive(handle)
  for _, name in ipairs({ "Camera", "Viewport", "World", "Level" }) do
    if core.module(name).alive(handle) then return true end
  end
  return false
end

local function sweep()
  count = 0
  for handle in next, data do
    if alive(handle) then count = count + 1 else data[handle] = nil end
  end
  room = 2 * count + 64
end

local function check_key(name, index, key)
  local kind = type(key)
  if kind ~= "string" and kind ~= "number" or key ~= key then
    bad_argument(name, index, "key", "string or number", key)
  end
end

-- Stores the last argument in a tree, under the other arguments as keys, which were checked. Tables
-- are created along the path, except for a nil value. A value that is not a table is not replaced
-- by one.
local function put(name, tree, ...)
  local keys = select("#", ...) - 1
  local value = (select(keys + 1, ...))
  for i = 1, keys - 1 do
    local key = (select(i, ...))
    local inner = tree[key]
    if inner == nil then
      if value == nil then return end
      inner = {}
      tree[key] = inner
    elseif type(inner) ~= "table" then
      if value == nil then return end
      raise(format("%s: '%s' is %s, which has nothing under '%s': set it to nil first, or choose "
        .. "another key", name, key, core.describe(inner), (select(i + 1, ...))))
    end
    tree = inner
  end
  if type(value) == "table" then is_stored[value] = true end
  tree[(select(keys, ...))] = value
end

local function set(name, handle, ...)
  local keys = select("#", ...) - 1
  if keys < 1 then raise(name .. ": give at least one key and a value") end
  for i = 1, keys do check_key(name, i + 1, (select(i, ...))) end
  local tree = data[handle]
  if not tree then
    if count >= room then sweep() end
    tree = {}
    data[handle], count = tree, count + 1
  end
  put(name, tree, ...)
end

local function get(name, handle, ...)
  local tree = data[handle]
  for i = 1, select("#", ...) do
    local key = (select(i, ...))
    check_key(name, i + 1, key)
    if type(tree) ~= "table" then return nil end
    tree = tree[key]
  end
  return tree
end

-- Merges `over` into a table: tables field by field, lists and other values as a whole.
local function merge(into, over)
  for key, value in next, over do
    local known = into[key]
    if type(value) == "table" and type(known) == "table" and value[1] == nil and known[1] == nil
    then
      merge(known, value)
    else
      into[key] = value
    end
  end
end

-- Removes keys from a table: those that are true in `removed`, and in a table under a key those of
-- the table there.
local function remove(tree, removed)
  for key, inner in next, removed do
    if inner == true then
      tree[key] = nil
    elseif type(tree[key]) == "table" then
      remove(tree[key], inner)
    end
  end
end

core.user_data = {
  check = check, set = set, get = get, put = put, merge = merge, remove = remove,
  is_stored = is_stored,
}

-- Sets the initial data of an object from its resource. The table belongs to the game afterwards.
function core.user_data.begin(handle, tree)
  if next(tree) == nil then return end
  if count >= room then sweep() end
  data[handle], count = tree, count + 1
end
