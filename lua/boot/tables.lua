-- Bounded table functions for moving and sorting, in addition to those of strings.lua, which
-- describes the rule. This file adds no functions.
local core = ...

-- Maximum number of items that one table.move or table.insert shifts.
local ITEMS_MAX = 2 ^ 26
-- Largest position that LuaJIT's functions support: they use 32-bit integers, and misread larger
-- ones.
local POSITION_MAX = 2 ^ 31 - 1
-- Beyond this number, adding 1 to a loop counter has no effect.
local COUNTER_MAX = 2 ^ 53
-- Maximum number of items that quicksort orders in C.
local SORT_ITEMS_DIRECT = 10000

local table = core.table
local getinfo, raise, has_native_stack = core.debug.getinfo, core.raise, core.has_native_stack
local type, tostring, tonumber, select, rawget = type, tostring, tonumber, select, rawget
local format, abs, min = string.format, math.abs, math.min
local table_insert, table_move, table_sort = table.insert, table.move, table.sort
local with_commas = core.with_commas

function table.insert(t, ...)
  if select("#", ...) == 2 and type(t) == "table" then
    local position = tonumber((...))
    if position and position > POSITION_MAX then
      raise(format("table.insert: position %.14g is more than %s (POSITION_MAX): set a field "
        .. "instead, t[key] = value", position, with_commas(POSITION_MAX)))
    end
    -- The comparison is false for NaN, which LuaJIT would read as -2^31.
    if position and not (#t - position <= ITEMS_MAX) then
      raise(format("table.insert: position %s is not in a table of %s items", tostring(position),
        with_commas(#t)))
    end
  end
  return table_insert(t, ...)
end

function table.move(source, first, last, to, target)
  local from, to_last = tonumber(first), tonumber(last)
  if from and to_last and to_last - from >= ITEMS_MAX then
    raise(format("table.move: %s items are more than %s at once", with_commas(to_last - from + 1),
      with_commas(ITEMS_MAX)))
  elseif from and to_last and not (to_last < from)
      and not (abs(from) < COUNTER_MAX and abs(to_last) < COUNTER_MAX) then
    raise(format("table.move: arguments #2 'first' and #3 'last' must be below 2^53, got %.14g and "
      .. "%.14g", from, to_last))
  end
  return table_move(source, first, last, to, target)
end

local function less(a, b)
  local kind, other = type(a), type(b)
  if kind ~= other then
    raise(format("attempt to compare %s with %s", kind, other))
  end
  return a < b
end

-- Returns a copy of the items 1..n if they all have the type `kind`.
local function copy_of(t, n, kind)
  local copy = {}
  for i = 1, n do
    local item = rawget(t, i)
    if type(item) ~= kind then
      return nil
    end
    copy[i] = item
  end
  return copy
end

-- Merges the sorted runs from..middle-1 and middle..to-1 of `source` into `target`.
local function merge(source, target, from, middle, to)
  local left, right = from, middle
  for i = from, to - 1 do
    if left < middle and (right >= to or not (source[right] < source[left])) then
      target[i], left = source[left], left + 1
    else
      target[i], right = source[right], right + 1
    end
  end
end

-- Sorts numbers or strings in at most n log n steps for any input order. Equal items are the same
-- value, so a stable sort cannot be distinguished from quicksort. Works on copies: `t` still
-- contains all its items if the watchdog interrupts.
local function merge_sort(t, n, source)
  local target = {}
  local width = 1
  while width < n do
    for from = 1, n, 2 * width do
      merge(source, target, from, min(from + width, n + 1), min(from + 2 * width, n + 1))
    end
    source, target, width = target, source, 2 * width
  end
  for i = 1, n do
    t[i] = source[i]
  end
end

local function sort_long(t, n, before)
  if before ~= nil then
    -- A comparison function in C would allow no hook; a Lua function around it does.
    return table_sort(t, getinfo(before, "S").what == "C" and function(a, b)
      return before(a, b)
    end or before)
  end
  local kind = type(rawget(t, 1))
  local copy = (kind == "number" or kind == "string") and copy_of(t, n, kind)
  if copy then
    return merge_sort(t, n, copy)
  end
  return table_sort(t, less)
end

function table.sort(t, before)
  if type(t) == "table" and (before == nil or type(before) == "function") then
    local n = #t
    -- A comparison in Lua can call sort again.
    if n > 1 and (before or type(rawget(t, 1)) == "table") and not has_native_stack() then
      raise("table.sort: the comparison calls table.sort again, too deep: without an end?")
    elseif n > SORT_ITEMS_DIRECT then
      return sort_long(t, n, before)
    end
  end
  return table_sort(t, before)
end

-- The engine's own Lua also sorts keys of games, whose metamethods may call sort again.
_G.table.sort = table.sort
