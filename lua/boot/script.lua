-- `Script`: functions that inspect the game's running code and Lua's memory. Contexts are in
-- context.lua.
local core = ...

local type, next, select = type, next, select
local format, concat, sort = string.format, table.concat, table.sort
local getinfo, ffi = core.debug.getinfo, core.ffi
local bad_argument, raise = core.bad_argument, core.raise

---@module Script
---Functions that inspect the game's running code and Lua's memory.
---@example
---   assert(Script.type_name(Vector3(1, 2, 3)) == "Vector3")
---   local names = {}
---   for name in Script.sorted_pairs({ b = 2, a = 1 }) do names[#names + 1] = name end
---   assert(names[1] == "a")
---   Script.context("When counting:", "names", function() assert(#names == 2) end)
local Script = core.module("Script")

---Returns the call stack of Lua, innermost function first, as text.
---@return string text one line for each function: file, line, name
function Script.callstack()
  local lines, level = {}, 2
  while true do
    local info = getinfo(level, "nSl")
    if not info then
      return concat(lines, "\n")
    end
    if info.currentline > 0 and info.source:sub(1, 9) ~= "=[engine]" then
      local source = info.what == "main" and "main chunk"
        or info.name and format("function '%s'", info.name)
        or format("a function defined at line %d", info.linedefined)
      lines[#lines + 1] = format("%s:%d in %s", info.source:sub(2), info.currentline, source)
    end
    level = level + 1
  end
end

---Returns the name of a value's type: Lua's own, or an engine type such as `Vector3` or
---`Quaternion`.
---@param value any any value, including nil
---@return string name the type's name
function Script.type_name(value)
  if type(value) == "cdata" then
    for name, ctype in next, core.ctypes do
      if ffi.istype(ctype, value) then
        return name
      end
    end
  end
  return type(value)
end

-- Order of key types. Keys of each type come after those of the previous type.
local key_ranks = { number = 1, string = 2, IdString32 = 3, IdString64 = 4 }

-- Returns a key's rank and the value that orders it within its type, or nil if the key has no
-- order.
local function rank_of(key)
  local kind = type(key)
  if kind ~= "cdata" then
    return key_ranks[kind], key
  end
  local name, digits = core.id_digits(key)
  return key_ranks[name or kind], digits
end

local function before(a, b)
  local kind = type(a)
  if kind == type(b) and kind ~= "cdata" then
    return a < b
  end
  local rank_a, order_a = rank_of(a)
  local rank_b, order_b = rank_of(b)
  if rank_a ~= rank_b then
    return rank_a < rank_b
  end
  return order_a < order_b
end

---Iterates over a table in the order of its keys: numbers first, then strings, then ids by their
---digits. `pairs` also has the same order in every run for numbers and strings, but not a sorted
---one; for ids, tables and functions as keys its order depends on addresses. Raises for keys that
---cannot be sorted.
---@param table table the table to iterate over; it must not change meanwhile
---@return function iterator returns key and value, then nil
function Script.sorted_pairs(table)
  if type(table) ~= "table" then
    bad_argument("Script.sorted_pairs", 1, "table", "table", table)
  end
  table = core.protected[table] or table
  local keys, count = {}, 0
  for key in next, table do
    if not rank_of(key) then
      raise("Script.sorted_pairs: keys must be strings, numbers or ids, got " .. core.describe(key))
    end
    count = count + 1
    keys[count] = key
  end
  sort(keys, before)
  local i = 0
  return function()
    i = i + 1
    local key = keys[i]
    if key ~= nil then
      return key, table[key]
    end
  end
end

local function check_amount(index, name, value, least, most)
  if type(value) ~= "number" or not (value >= least and value <= most) then
    bad_argument("Script.configure_garbage_collection", index, name,
      format("a number from %g to %g", least, most), value)
  end
end

---Sets the time that Lua's garbage collector can use at the end of each frame. The collector never
---runs during a frame.
---@param milliseconds number time in each frame, 0.05 to 1000
---@param ceiling_mib? number heap above which it works harder; 0, the default: twice the live heap
function Script.configure_garbage_collection(milliseconds, ceiling_mib)
  if ceiling_mib == nil then
    ceiling_mib = 0
  end
  check_amount(1, "milliseconds", milliseconds, 0.05, 1000)
  check_amount(2, "ceiling_mib", ceiling_mib, 0, 65536)
  core.no_reload("Script.configure_garbage_collection")
  core.set_collection(milliseconds, ceiling_mib)
end

---Returns the memory used by Lua.
---@return integer used bytes in use now
---@return integer peak the largest number of bytes ever in use
function Script.memory()
  return core.memory_used()
end

local function no_arguments(name, ...)
  if select("#", ...) > 0 then
    raise(format("%s: takes no arguments, got %d", name, select("#", ...)))
  end
end

---Returns 0. Vectors are values, so there are no temporaries to count. Exists for compatibility.
---@return integer count always 0
function Script.temp_count(...)
  no_arguments("Script.temp_count", ...)
  return 0
end

---Does nothing. Vectors are values, so there are no temporaries to release. Exists for
---compatibility.
---@param count integer ignored
function Script.set_temp_count(count)
  if type(count) ~= "number" then
    bad_argument("Script.set_temp_count", 1, "count", "number", count)
  end
end

---Returns 0. Vectors are values, so there are no temporaries to count. Exists for compatibility.
---@return integer bytes always 0
function Script.temp_byte_count(...)
  no_arguments("Script.temp_byte_count", ...)
  return 0
end

---Does nothing. Vectors are values, so there are no temporaries to release. Exists for
---compatibility.
---@param bytes integer ignored
function Script.set_temp_byte_count(bytes)
  if type(bytes) ~= "number" then
    bad_argument("Script.set_temp_byte_count", 1, "bytes", "number", bytes)
  end
end

---Returns the index of the first element of a list: nodes, actors and the like count from 1, as in
---Lua.
---@return integer offset always 1
function Script.index_offset(...)
  no_arguments("Script.index_offset", ...)
  return 1
end

---Logs a warning once for each location that warns. Later warnings from that location are counted.
---@param text string description of the problem
function Script.warn(text)
  if type(text) ~= "string" then
    bad_argument("Script.warn", 1, "text", "string", text)
  end
  if not core.reloading then
    core.warn(text)
  end
end
