-- Breakpoints on functions of the engine. The function stops wherever a script has stored it: a
-- native one is exchanged in its object (src/script/debugger/native_rows.rs), one of the prelude,
-- or the fast form of a native one, gets the code of a call of `row_called`, which calls a copy of
-- the function.
local core = ...

core.jit.off(true, true)

local type, next, rawget, rawset = type, next, rawget, rawset
local format, gmatch, match, sub = string.format, string.gmatch, string.match, string.sub
local concat = table.concat
local getinfo, upvaluejoin = core.debug.getinfo, core.debug.upvaluejoin
local load_chunk, globals, jit = core.load_chunk, core.globals, core.jit

local rows = {}
core.row_breakpoints = rows

-- The functions that were exchanged, by function and by number: `fn`, `number`, the breakpoints
-- `points`, `after` to call after each call, and for one of Lua the copy `original` and the code
-- `stub` of its call.
local by_function, by_number = {}, {}

-- Returns the function of the engine that a name such as `Unit.set_data` means; nil if it means
-- none.
local function function_named(name)
  local value = globals
  for part in gmatch(name, "[^.:]+") do
    if type(value) ~= "table" then return nil end
    value = rawget(core.protected[value] or value, part)
  end
  if type(value) ~= "function" or sub(getinfo(value, "S").source, 1, 1) == "@" then return nil end
  return value
end

-- Returns true if a name means a function of the engine; also the message of a problem.
function rows.find(name)
  local fn = function_named(name)
  if not fn then return false end
  local is_library = getinfo(fn, "S").what == "C" and not core.debug_is_native(fn)
  if is_library then return false, "a function of Lua's library cannot have a breakpoint" end
  return true
end

-- Returns a function that has as many upvalues as `fn`, whose body is `body`.
local function function_like(fn, body)
  local names = {}
  for i = 1, getinfo(fn, "u").nups do names[i] = "u" .. i end
  local list = concat(names, ", ")
  local used = #names > 0 and "if nil then return " .. list .. " end " or ""
  local text = (#names > 0 and "local " .. list .. "\n" or "") .. "return function(...) " .. used
    .. body .. " end"
  return load_chunk(text, "=[engine] row", {})()
end

local function copy_of(fn)
  local copy = function_like(fn, "")
  for i = 1, getinfo(fn, "u").nups do upvaluejoin(copy, i, fn, i) end
  core.debug_replace(copy, fn)
  return copy
end

local function row_of(fn)
  local row = by_function[fn]
  if not row then
    row = { fn = fn, number = #by_number + 1, points = {}, is_on = false }
    by_function[fn], by_number[row.number] = row, row
    if getinfo(fn, "S").what ~= "C" then
      row.original = copy_of(fn)
      row.stub = function_like(fn, format('return ("")["\\27call"](%d, ...)', row.number))
    end
  end
  return row
end

-- Exchanges a function, or takes that back. A function that runs is left for the next frame.
local function switch(row)
  local on = #row.points > 0 or row.after ~= nil
  if on == row.is_on then return end
  jit.flush()
  if not row.original then
    core.debug_row(row.fn, on and row.number or nil)
    row.is_on = on
  elseif core.debug_replace(row.fn, on and row.stub or row.original) then
    row.is_on = on
  end
end

-- Sets the breakpoints of functions of the engine: those of `points` with `row`.
function rows.set(points)
  for i = 1, #by_number do by_number[i].points = {} end
  for i = 1, #points do
    local fn = points[i].row and function_named(points[i].wanted)
    if fn then
      local row = row_of(fn)
      row.points[#row.points + 1] = points[i]
    end
  end
  rows.update()
end

-- Calls `after` after each call of a function of the engine; nil ends that.
local function follow(fn, after)
  if not by_function[fn] and not after then return end
  local row = row_of(fn)
  row.after = after
  switch(row)
end

-- Calls functions after each call of functions of the engine: `{ [name] = after }`, in place of
-- those before. A name such as `Unit.*` means all functions of a module.
function rows.follow(wanted)
  local after_of = {}
  for name, after in next, wanted do
    local module = match(name, "^(%w+)%.%*$")
    if module then
      for _, fn in next, core.module(module) do
        local is_lua = type(fn) == "function" and getinfo(fn, "S").what ~= "C"
        if is_lua or type(fn) == "function" and core.debug_is_native(fn) then
          after_of[fn] = after
        end
      end
    else
      after_of[function_named(name)] = after
    end
  end
  for i = 1, #by_number do
    local row = by_number[i]
    if row.after and not after_of[row.fn] then follow(row.fn, nil) end
  end
  for fn, after in next, after_of do follow(fn, after) end
end

-- Called after a native function that is followed.
function core.debugger_row_after(number)
  local row = by_number[number]
  if row and row.after then row.after() end
end

-- Exchanges functions that were running. Called in each frame.
function rows.update()
  for i = 1, #by_number do switch(by_number[i]) end
end

-- Returns the breakpoints of a row.
function rows.points(number)
  return by_number[number].points
end

local function returned(row, ...)
  if row.after then row.after() end
  return ...
end

local function row_called(number, ...)
  local row = by_number[number]
  if #row.points > 0 then core.debugger_row(number) end
  if not row.after then return row.original(...) end
  return returned(row, row.original(...))
end

function rows.begin()
  -- The end of an earlier debugger has restored all native functions.
  for i = 1, #by_number do
    local row = by_number[i]
    row.points = {}
    if not row.original then row.is_on = false end
  end
  rawset(core.string, "\27call", row_called)
end
