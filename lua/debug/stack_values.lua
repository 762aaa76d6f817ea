-- The stack of a stopped script, for the debugger: its functions, their variables, and lines of Lua
-- that see these. Functions are numbered from 0, the innermost one. What stops a script is in
-- debugger.lua.
local core = ...

-- Compiled code does not keep the variables of the functions that it was compiled from.
core.jit.off(true, true)

local type, tostring, pcall, next, rawget = type, tostring, pcall, next, rawget
local rawset, setmetatable = rawset, setmetatable
local format, sub, match, gsub = string.format, string.sub, string.match, string.gsub
local concat, sort = table.concat, table.sort
local getinfo, getlocal, setlocal = core.debug.getinfo, core.debug.getlocal, core.debug.setlocal
local getupvalue, setupvalue = core.debug.getupvalue, core.debug.setupvalue
local getmetatable, getfenv = core.debug.getmetatable, core.debug.getfenv
local running = coroutine.running
local globals, load_chunk = core.globals, core.load_chunk
local valid = core.module("Utf8").valid

local PREVIEW_BYTES_MAX = 1000 -- bytes of a value in one line
local ITEMS_SHOWN = 5 -- entries of a table in one line
local VARIABLES_MAX = 255 -- variables of one function, Lua's own limit
local KEYS_MAX = 5000 -- named fields of one table that are sorted and listed
local NO_REFERENCE = "there is no such reference: it is valid while the script is stopped"
local LONG_LIST = 100000 -- items from which on the named fields are searched after the items
local REFERENCES_MAX = 100000 -- tables that a tool has opened while the script is stopped

local values = {}
core.stack_values = values

-- Number of functions on the stack of the stopped coroutine, and the coroutine.
local base, stopped_in = 0, nil
-- The main coroutine, if the script is stopped in another one, and the number of its functions.
local main, main_depth = nil, 0
-- The scopes and tables that a tool can open, by reference.
local references = {}
-- True if a tool has changed a variable or run a line.
local is_changed = false

-- The stack ---------------------------------------------------------------------------------------

-- Returns the last level for which `exists` returns true; level `first` exists.
local function last_level(first, exists)
  local below, above = first, first + 1
  while exists(above) do below, above = above, above * 2 end
  while above - below > 1 do
    local middle = below + (above - below - (above - below) % 2) / 2
    if exists(middle) then below = middle else above = middle end
  end
  return below
end

-- Returns the number of functions on the stack of the caller, with the caller.
local function depth()
  -- Inside of `exists` and `last_level`, this function has level 3.
  local last = last_level(3, function(level) return getinfo(level, "l") ~= nil end)
  return last - 3
end

-- Begins to show the stack of the running coroutine, without the `skipped` innermost functions,
-- among them the caller. Returns the state before, for `values.leave`.
function values.enter(skipped)
  local before = { base, stopped_in, main, main_depth, references }
  local all = depth()
  base, stopped_in, references = all - 1 - skipped, running() or "main", {}
  local thread, is_running = core.debug_main_thread()
  main, main_depth = nil, 0
  if not is_running then
    main = thread
    main_depth = last_level(0, function(level) return getinfo(thread, level, "l") ~= nil end) + 1
  end
  return before
end

-- Ends that. Returns true if variables were changed.
function values.leave(before)
  base, stopped_in, main, main_depth, references =
    before[1], before[2], before[3], before[4], before[5]
  local changed = is_changed
  is_changed = false
  return changed
end

-- Returns the number of functions on the stopped stack.
function values.depth()
  return base
end

-- Returns the level of a function of the running coroutine, as the caller's `getinfo` counts it.
local function level_of(index)
  local all = depth()
  return all - base + index
end

local function info_at(index, fields)
  if index < base then
    local level = level_of(index)
    local info = getinfo(level, fields)
    return info
  end
  return main and getinfo(main, index - base, fields)
end

-- Calls `visit(n, name, value)` for the local variables of a function, in their order.
local function each_local(index, visit)
  local level = index < base and level_of(index)
  for n = 1, VARIABLES_MAX do
    local name, value
    if level then
      name, value = getlocal(level, n)
    else
      name, value = getlocal(main, index - base, n)
    end
    if name == nil then return end
    -- Names in parentheses are temporaries of the VM.
    if sub(name, 1, 1) ~= "(" then visit(n, name, value) end
  end
end

local function set_local(index, n, value)
  if index < base then
    local level = level_of(index)
    local name = setlocal(level, n, value)
    return name
  end
  return setlocal(main, index - base, n, value)
end

-- Finds a variable by its name: "local" or "upvalue", its number, its value, and the function.
local function find(index, wanted)
  if (running() or "main") ~= stopped_in then return nil end
  local kind, at, found
  each_local(index, function(n, name, value)
    if name == wanted then kind, at, found = "local", n, value end
  end)
  if kind then return kind, at, found end
  local info = info_at(index, "f")
  for n = 1, VARIABLES_MAX do
    local name, value = getupvalue(info.func, n)
    if name == nil then return nil end
    if name == wanted then return "upvalue", n, value, info.func end
  end
end

local function assign(index, name, value)
  local kind, n, _, fn = find(index, name)
  is_changed = true
  if kind == "local" then
    set_local(index, n, value)
  elseif kind == "upvalue" then
    setupvalue(fn, n, value)
  else
    return false
  end
  return true
end

-- Returns the globals that a function sees, below its variables.
local function environment(index)
  local function env()
    local info = info_at(index, "f")
    return info and getfenv(info.func) or globals
  end
  return setmetatable({}, {
    __index = function(_, name)
      local kind, _, value = find(index, name)
      if kind then return value end
      return env()[name]
    end,
    __newindex = function(_, name, value)
      if not assign(index, name, value) then env()[name] = value end
    end,
    __metatable = "protected",
  })
end

-- Compiles a line of a tool, as an expression if possible. Returns nil and the problem if it is not
-- Lua.
local function compile(text, env)
  local chunk = load_chunk("return " .. text, "=eval", env)
  if chunk then
    core.note_loaded("eval", text)
    return chunk
  end
  local problem
  chunk, problem = core.load_chunk(text, "=eval", env)
  if chunk then core.note_loaded("eval", text) end
  return chunk, problem
end

-- Text of values ----------------------------------------------------------------------------------

-- Returns a text as UTF-8 of limited length.
local function clean(text)
  if #text > PREVIEW_BYTES_MAX then
    text = core.utf8_cut(text, PREVIEW_BYTES_MAX) .. "…"
  end
  if not valid(text) then
    text = gsub(text, "[\128-\255]", function(byte) return format("\\%d", byte:byte()) end)
  end
  return text
end

local function quoted(text)
  local cut = #text > PREVIEW_BYTES_MAX
  local shown = cut and core.utf8_cut(text, PREVIEW_BYTES_MAX) or text
  shown = gsub(format("%q", shown), "\\\n", "\\n")
  return cut and format("%s… (%d bytes)", shown, #text) or shown
end

local function function_text(fn)
  local info = getinfo(fn, "S")
  if sub(info.source, 1, 1) ~= "@" then return "engine function" end
  return format("function: %s:%d", sub(info.source, 2), info.linedefined)
end

local preview

local function key_text(key)
  if type(key) == "string" and match(key, "^[%a_][%w_]*$") then return key end
  return "[" .. preview(key, true) .. "]"
end

local function table_text(value, is_inner)
  if next(value) == nil then return "{}" end
  if is_inner then return "{ … }" end
  local parts, count = {}, #value
  for i = 1, count < ITEMS_SHOWN and count or ITEMS_SHOWN do
    parts[i] = preview(rawget(value, i), true)
  end
  local rest = count > ITEMS_SHOWN
  for key, item in next, value do
    local listed = type(key) == "number" and key >= 1 and key <= count and key % 1 == 0
    if not listed and #parts >= ITEMS_SHOWN then
      rest = true
      break
    elseif not listed then
      parts[#parts + 1] = key_text(key) .. " = " .. preview(item, true)
    end
  end
  return "{ " .. concat(parts, ", ") .. (rest and ", …" or "") .. " }"
end

-- Returns a value in one line. `is_inner` leaves out the entries of tables.
function preview(value, is_inner)
  local kind = type(value)
  if kind == "string" then return quoted(value) end
  if kind == "number" then return core.handle_text(value) or tostring(value) end
  if kind == "function" then return function_text(value) end
  if kind == "table" then
    local real = core.protected[value] or value
    local meta = getmetatable(real)
    if type(meta) ~= "table" or not rawget(meta, "__tostring") then
      return table_text(real, is_inner)
    end
  end
  local ok, text = pcall(tostring, value)
  return ok and type(text) == "string" and text or kind
end

-- Variables ---------------------------------------------------------------------------------------

local function add_reference(kind, value)
  if #references >= REFERENCES_MAX then return 0 end
  references[#references + 1] = { kind = kind, value = value }
  return #references
end

local function entry(name, value)
  local reference = 0
  if type(value) == "table" then reference = add_reference("table", value) end
  return {
    name = clean(name), value = clean(preview(value)), kind = type(value), reference = reference,
  }
end

local function keys_in_order(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a == "number" or kind_a == "string" then return a < b end
  return tostring(a) < tostring(b)
end

-- Returns the keys of a table that are not in its list, sorted, and true if there are more.
local function named_keys(value, count)
  local keys = {}
  -- LuaJIT visits the items of a list first.
  for key in next, value, count > LONG_LIST and count or nil do
    if not (type(key) == "number" and key >= 1 and key <= count and key % 1 == 0) then
      if #keys == KEYS_MAX then return keys, true end
      keys[#keys + 1] = key
    end
  end
  sort(keys, keys_in_order)
  return keys, false
end

local function table_entries(value, first, most)
  value = core.protected[value] or value
  local count = #value
  local keys, is_cut = named_keys(value, count)
  local list, last = {}, first + most - 1
  for i = first, count < last and count or last do
    list[#list + 1] = entry("[" .. i .. "]", rawget(value, i))
  end
  for i = first > count and first - count or 1, #keys do
    if #list >= most then break end
    list[#list + 1] = entry(key_text(keys[i]), rawget(value, keys[i]))
  end
  local meta = getmetatable(value)
  if type(meta) == "table" and #list < most then
    list[#list + 1] = entry("(metatable)", meta)
  end
  if is_cut and #list < most then
    list[#list + 1] = { name = "…", value = "more fields", kind = "", reference = 0 }
  end
  return list
end

-- Returns the globals of the game, without those of the engine and of Lua.
local function game_globals()
  local found = {}
  for name, value in next, globals do
    local is_native = type(value) == "function" and sub(getinfo(value, "S").source, 1, 1) ~= "@"
    if type(name) == "string" and not is_native and core.api[name] == nil
      and not (type(value) == "table" and core.protected[value]) and value ~= globals
      and name ~= "_VERSION" then
      found[name] = value
    end
  end
  return found
end

local function local_entries(index)
  local list, at = {}, {}
  each_local(index, function(_, name, value)
    -- A later variable hides an earlier one of its name.
    local position = at[name] or #list + 1
    at[name], list[position] = position, entry(name, value)
  end)
  local info = info_at(index, "u")
  if info and info.isvararg and index < base then
    local level = level_of(index)
    for n = 1, VARIABLES_MAX do
      local name, value = getlocal(level, -n)
      if name == nil then break end
      list[#list + 1] = entry("(vararg " .. n .. ")", value)
    end
  end
  return list
end

local function upvalue_entries(index)
  local list, info = {}, info_at(index, "f")
  for n = 1, VARIABLES_MAX do
    local name, value = getupvalue(info.func, n)
    if name == nil then break end
    if name ~= "" then list[#list + 1] = entry(name, value) end
  end
  return list
end

-- Returns `most` variables of a scope or a table, from `first` on, which counts from 1.
function values.variables(reference, first, most)
  local at = references[reference]
  if not at then return nil, NO_REFERENCE end
  if at.kind == "table" then return table_entries(at.value, first, most) end
  if at.kind == "globals" then return table_entries(game_globals(), first, most) end
  local all = at.kind == "locals" and local_entries(at.value) or upvalue_entries(at.value)
  local list = {}
  for i = first, #all < first + most - 1 and #all or first + most - 1 do
    list[#list + 1] = all[i]
  end
  return list
end

-- Returns the scopes of a function.
function values.scopes(index)
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  local scopes = {}
  for _, kind in next, { "locals", "upvalues", "globals" } do
    scopes[#scopes + 1] = { name = kind, reference = add_reference(kind, index) }
  end
  return scopes
end

-- Returns the functions of the stack: file and line, or true for one of the engine.
function values.frames(first, most)
  local frames, count = {}, base + main_depth
  for index = first, count < first + most and count - 1 or first + most - 1 do
    local info = info_at(index, "nSl")
    local name = info.name or info.what == "main" and "main chunk" or "function"
    if sub(info.source, 1, 1) == "@" then
      frames[#frames + 1] = {
        frame = index, name = clean(name), file = clean(sub(info.source, 2)),
        line = info.currentline,
      }
    else
      frames[#frames + 1] = { frame = index, name = clean(name), engine = true }
    end
  end
  return frames, count
end

-- Returns the source and the line of the innermost function.
function values.location()
  local info = info_at(0, "Sl")
  return info and info.source or "", info and info.currentline or 0
end

local function first_line(problem)
  problem = type(problem) == "string" and problem or preview(problem)
  return clean(match(problem, "^[^\n]*"))
end

-- Compiles a line of Lua that sees the variables of the innermost function, whenever it is called.
-- Returns nil and the problem if it is not Lua.
function values.compile(text)
  local chunk, problem = compile(text, environment(0))
  if not chunk then return nil, first_line(problem) end
  return chunk
end

-- Calls a compiled line with `seconds` of CPU time. Returns its first value, or nil and the message
-- of its error.
function values.call(chunk, seconds)
  local ok, result = core.debug_protect(seconds, chunk)
  if not ok then return nil, first_line(result) end
  return result
end

-- Runs a line of Lua that sees the variables of a function. Returns the same as `values.call`.
function values.run(index, text, seconds)
  local chunk, problem = compile(text, environment(index))
  if not chunk then return nil, first_line(problem) end
  local result
  result, problem = values.call(chunk, seconds)
  return result, problem
end

-- Runs a line, and returns its value as a variable.
function values.evaluate(index, text, seconds)
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  local result, problem = values.run(index, text, seconds)
  if problem then return nil, problem end
  return entry("", result)
end

local function key_named(value, name)
  for key in next, value do
    if key_text(key) == name then return key end
  end
end

-- Gives a variable of a scope, or a field of a table, the value of a line of Lua.
function values.set(reference, name, index, text, seconds)
  local at = references[reference]
  if not at then return nil, NO_REFERENCE end
  local result, problem = values.run(index, text, seconds)
  if problem then return nil, problem end
  if at.kind == "table" then
    local key = key_named(core.protected[at.value] or at.value, name)
    if key == nil then return nil, "the table has no field " .. name end
    rawset(at.value, key, result)
  elseif at.kind == "globals" then
    globals[name] = result
  elseif not assign(at.value, name, result) then
    return nil, "there is no variable '" .. name .. "'"
  end
  return entry(name, result)
end

values.clean = clean
values.preview = preview
