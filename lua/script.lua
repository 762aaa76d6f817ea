-- `Script`: what a game can ask about its own running code, and about Lua's memory. Contexts are in
-- context.lua.
local core = ...

local type, next, select = type, next, select
local format, concat, sort = string.format, table.concat, table.sort
local getinfo, ffi = core.debug.getinfo, core.ffi
local bad_argument, raise = core.bad_argument, core.raise

---@module Script
---What a game can ask about its own running code, and about Lua's memory.
---@example
---   assert(Script.type_name(Vector3(1, 2, 3)) == "Vector3")
---   local names = {}
---   for name in Script.sorted_pairs({ b = 2, a = 1 }) do names[#names + 1] = name end
---   assert(names[1] == "a")
---   Script.context("When counting:", "names", function() assert(#names == 2) end)
local Script = core.module("Script")

---The lines of Lua that are being run, innermost first, as text.
---@return string text one line for each function: file, line, name
function Script.callstack()
  local lines, level = {}, 2
  while true do
    local info = getinfo(level, "nSl")
    if not info then
      return concat(lines, "\n")
    end
    if info.currentline > 0 and info.source:sub(1, 9) ~= "=[engine]" then
      local what = info.what == "main" and "main chunk"
        or info.name and format("function '%s'", info.name)
        or format("a function defined at line %d", info.linedefined)
      lines[#lines + 1] = format("%s:%d in %s", info.source:sub(2), info.currentline, what)
    end
    level = level + 1
  end
end

---The name of a value's type: Lua's own, or `Vector3`, `Quaternion` and the like.
---@param value any any value, also nil
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

-- Keys of each kind stand after those of the kind before.
local key_ranks = { number = 1, string = 2, IdString32 = 3, IdString64 = 4 }

-- A key's rank and what orders it among its kind; nil where it has no order.
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

---Walks a table in the order of its keys: numbers first, then strings, then ids by their digits.
---`pairs` gives one order in every run for numbers and strings, too, but not a sorted one; for ids,
---tables and functions as keys its order follows addresses. This refuses what it cannot sort.
---@param table table the table to walk; it must not change meanwhile
---@return function next gives key and value, then nil
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

---Sets what Lua's garbage collector may take at the end of each frame. It never works during one.
---@param milliseconds number time in each frame, 0.05 to 1000
---@param ceiling_mib? number above this heap it works harder; 0, the default: twice what is alive
function Script.configure_garbage_collection(milliseconds, ceiling_mib)
  if ceiling_mib == nil then
    ceiling_mib = 0
  end
  check_amount(1, "milliseconds", milliseconds, 0.05, 1000)
  check_amount(2, "ceiling_mib", ceiling_mib, 0, 65536)
  core.no_reload("Script.configure_garbage_collection")
  core.set_collection(milliseconds, ceiling_mib)
end

---Lua's memory.
---@return number used bytes held now
---@return number peak the most bytes that were ever held
function Script.memory()
  return core.memory_used()
end

local function no_arguments(name, ...)
  if select("#", ...) > 0 then
    raise(format("%s: takes no arguments, got %d", name, select("#", ...)))
  end
end

---Vectors are values here and nothing needs to be counted. There for code that expects it.
---@return integer count always 0
function Script.temp_count(...)
  no_arguments("Script.temp_count", ...)
  return 0
end

---Vectors are values here and nothing needs to be given back. There for code that expects it.
---@param count integer ignored
function Script.set_temp_count(count)
  if type(count) ~= "number" then
    bad_argument("Script.set_temp_count", 1, "count", "number", count)
  end
end

---Vectors are values here and nothing needs to be counted. There for code that expects it.
---@return integer bytes always 0
function Script.temp_byte_count(...)
  no_arguments("Script.temp_byte_count", ...)
  return 0
end

---Vectors are values here and nothing needs to be given back. There for code that expects it.
---@param bytes integer ignored
function Script.set_temp_byte_count(bytes)
  if type(bytes) ~= "number" then
    bad_argument("Script.set_temp_byte_count", 1, "bytes", "number", bytes)
  end
end

---The number that the first of a list has: nodes, actors and the like count from 1, as Lua does.
---@return integer offset always 1
function Script.index_offset(...)
  no_arguments("Script.index_offset", ...)
  return 1
end

---Warns: the line is written to the log once for each place that warns, and counted after that.
---@param text string what is bad but harmless
function Script.warn(text)
  if type(text) ~= "string" then
    bad_argument("Script.warn", 1, "text", "string", text)
  end
  if not core.reloading then
    core.warn(text)
  end
end
