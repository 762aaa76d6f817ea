-- `Script`: functions that inspect the game's running code and Lua's memory. Contexts are in
-- context.lua.
local core = ...

local type, next, select, tostring, pcall, unpack = type, next, select, tostring, pcall, unpack
local gmatch, gsub = string.gmatch, string.gsub
local format, concat, sort = string.format, table.concat, table.sort
local getinfo, ffi = core.debug.getinfo, core.ffi
local bad_argument, raise = core.bad_argument, core.raise

---@module Script
---@node hidden
---Functions that inspect the game's running code and Lua's memory, and functions for messages.
---@example
---   assert(Script.type_name(Vector3(1, 2, 3)) == "Vector3")
---   local lives = Script.assert(3, "%s has no lives", "hero")
---   print(Script.describe({ lives = lives, gui = Application.main_gui() }))
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

---Returns the name of a value's type: Lua's own, an engine type such as `Vector3` or `Quaternion`,
---or the kind of the living object that a handle refers to, such as `Unit`.
---@param value any any value, including nil
---@return string name the type's name
function Script.type_name(value)
  local kind = type(value)
  if kind == "cdata" then
    for name, ctype in next, core.ctypes do
      if ffi.istype(ctype, value) then
        return name
      end
    end
  elseif kind == "number" then
    return core.handle_kind(value) or kind
  end
  return kind
end

---Returns a value as text for people, as the console shows it: tables with their fields, and
---handles with the object that they refer to, such as `units/rat#17` or `Gui#3`. Use it with
---`print`.
---@param value any any value, including nil
---@return string text one or more lines
function Script.describe(value)
  return core.display_text(value)
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

---Returns 0 three times. Vectors are values, so there are no temporaries to count. Exists for
---compatibility.
---@return integer vectors always 0
---@return integer quaternions always 0
---@return integer matrices always 0
function Script.temp_count()
  return 0, 0, 0
end

-- Checks the counts that games pass back. The first is required.
local function check_counts(name, argument, count, ...)
  if type(count) ~= "number" then bad_argument(name, 1, argument, "number", count) end
  for i = 1, select("#", ...) do
    local other = (select(i, ...))
    if other ~= nil and type(other) ~= "number" then
      bad_argument(name, i + 1, "count", "number or nil", other)
    end
  end
end

---Does nothing. Vectors are values, so there are no temporaries to release. Exists for
---compatibility.
---@param vectors integer ignored, as the others
---@param quaternions? integer ignored
---@param matrices? integer ignored
function Script.set_temp_count(vectors, quaternions, matrices)
  check_counts("Script.set_temp_count", "vectors", vectors, quaternions, matrices)
end

---Returns 0. Vectors are values, so there are no temporaries to count. Exists for compatibility.
---@return integer bytes always 0
function Script.temp_byte_count()
  return 0
end

---Does nothing. Vectors are values, so there are no temporaries to release. Exists for
---compatibility.
---@param bytes integer ignored
function Script.set_temp_byte_count(bytes)
  check_counts("Script.set_temp_byte_count", "bytes", bytes)
end

---Returns the index of the first element of a list: nodes, actors and the like count from 1, as in
---Lua.
---@return integer offset always 1
function Script.index_offset()
  return 1
end

local LEVEL_MAX = 100

---Logs a warning once for each location that warns. Later warnings from that location are counted.
---@param text string description of the problem
---@param level? integer the line that is named, as for `error`: 1 is the caller; at most 100
function Script.warn(text, level)
  if type(text) ~= "string" then
    bad_argument("Script.warn", 1, "text", "string", text)
  elseif level ~= nil and (type(level) ~= "number" or level % 1 ~= 0 or level < 1
    or level > LEVEL_MAX) then
    bad_argument("Script.warn", 2, "level", format("whole number from 1 to %d", LEVEL_MAX), level)
  end
  if not core.reloading then
    core.warn_at(level or 1, text)
  end
end

-- Formats a message. Handles are described where the format has %s.
local function formatted(name, message, ...)
  local count, values, i = select("#", ...), { ... }, 0
  for directive in gmatch(message, "%%[%-+ #0-9.]*(.)") do
    if directive ~= "%" then
      i = i + 1
      if directive == "s" and type(values[i]) == "number" then
        values[i] = core.handle_text(values[i]) or values[i]
      elseif directive == "s" then
        values[i] = tostring(values[i])
      end
    end
  end
  local ok, text = pcall(format, message, unpack(values, 1, count))
  if not ok then
    raise(name .. ": argument #2 'message' does not fit its values: "
      .. gsub(text, "^bad argument #%d+ to '[^']*' ", ""))
  end
  return text
end

---Raises an error if a test fails, like Lua's `assert`, with a message that is formatted only then.
---@param test any nil and false fail
---@param message? string the message, as for `string.format`; handles in its %s are described
---@param ... any the values of the message
---@return any test the tested value
function Script.assert(test, message, ...)
  if message ~= nil and type(message) ~= "string" then
    bad_argument("Script.assert", 2, "message", "string or nil", message)
  end
  if not test then
    raise(message and formatted("Script.assert", message, ...) or "assertion failed!")
  end
  return test
end

---Marks the function that calls it as deprecated: the line that called that function gets a
---warning, once for each line. Call it first in the function, which must have a name.
---@param use string what to use instead: "use Hero.walk"
function Script.deprecated(use)
  if type(use) ~= "string" then
    bad_argument("Script.deprecated", 1, "use", "string", use)
  elseif core.reloading then
    return
  end
  local info = getinfo(2, "n")
  local name = info and info.name and "'" .. info.name .. "'" or "this function"
  core.warn_at(2, name .. " is deprecated: " .. use)
end
