-- The stack of a stopped script, for the debugger: its functions, their variables, and lines of Lua
-- that see these. Functions are numbered from 0, the innermost one. What stops a script is in
-- debugger.lua.
local core = ...

-- Compiled code does not keep the variables of the functions that it was compiled from.
core.jit.off(true, true)

local type, next, tonumber = type, next, tonumber
local rawget, rawset, setmetatable = rawget, rawset, setmetatable
local sub, match = string.sub, string.match
local getinfo, getlocal, setlocal = core.debug.getinfo, core.debug.getlocal, core.debug.setlocal
local getupvalue, setupvalue = core.debug.getupvalue, core.debug.setupvalue
local getfenv = core.debug.getfenv
local running, status = coroutine.running, coroutine.status
local globals, load_chunk = core.globals, core.load_chunk
local value_text = core.value_text
local clean, preview, key_text = value_text.clean, value_text.preview, value_text.key_text
local call_raw, is_raw = value_text.call_raw, value_text.is_raw
local pages = core.table_pages

local VARIABLES_MAX = 255 -- variables of one function, Lua's own limit
local NO_REFERENCE = "there is no such reference: it is valid while the script is stopped"
local REFERENCES_MAX = 100000 -- tables that a tool has opened while the script is stopped

-- Functions of other coroutines have the numbers from this one times the coroutine's number on.
local COROUTINE_FRAMES = 1000000
local COROUTINES_MAX = 1000 -- coroutines that have such numbers; src/command/dap relies on it
local COMPLETIONS_MAX = 200
local ENGINE_CHUNK = "=[engine]"

local values = {}
core.stack_values = values

-- Number of functions on the stack of the stopped coroutine, and the coroutine.
local base, stopped_in = 0, nil
-- The coroutines in which the stopped one runs, the innermost first, each with the number of its
-- functions: `{ thread, depth }`. Nil until they are asked for.
local outer
-- Other coroutines that a tool has asked for, and the one that died of the error at which the
-- script is stopped.
local coroutines, dead = {}, nil
-- The line of the error in that coroutine, which has no current line any more.
local dead_line = 0
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
  local before = { base, stopped_in, outer, references, coroutines, dead }
  local all = depth()
  base, stopped_in, references = all - 1 - skipped, running() or "main", {}
  outer, coroutines, dead = nil, {}, nil
  return before
end

-- Ends that. Returns true if variables were changed.
function values.leave(before)
  base, stopped_in, outer, references, coroutines, dead =
    before[1], before[2], before[3], before[4], before[5], before[6]
  local changed = is_changed
  is_changed = false
  return changed
end

-- Returns true while a stack is shown.
function values.is_stopped()
  return stopped_in ~= nil
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

local function thread_depth(thread)
  return last_level(0, function(level) return getinfo(thread, level, "l") ~= nil end) + 1
end

-- Returns the coroutines in which the stopped one runs, as in `outer`.
local function outer_stacks()
  if outer then return outer end
  outer = {}
  local main, is_running = core.debug_main_thread()
  local chain = is_running and {} or core.coroutine_chain(running())
  if not is_running then chain[#chain + 1] = main end
  for i = 1, #chain do outer[i] = { chain[i], thread_depth(chain[i]) } end
  return outer
end

-- Returns the coroutine and the level of a function that is not in the running coroutine, or nil.
local function elsewhere(index)
  local level = index % COROUTINE_FRAMES
  if index >= COROUTINE_FRAMES then
    return coroutines[(index - level) / COROUTINE_FRAMES], level
  end
  local stacks = outer_stacks()
  level = index - base
  for i = 1, #stacks do
    if level < stacks[i][2] then return stacks[i][1], level end
    level = level - stacks[i][2]
  end
end

local function info_at(index, fields)
  if index < base then
    local level = level_of(index)
    local info = getinfo(level, fields)
    return info
  end
  local thread, level = elsewhere(index)
  return thread and getinfo(thread, level, fields)
end

-- Calls `visit(n, name, value)` for the local variables of a function, in their order; or, if `by`
-- is -1, for the values of its `...`, with the numbers -1, -2, ….
local function each_local(index, visit, by)
  local level = index < base and level_of(index)
  local thread, thread_level = nil, nil
  if not level then thread, thread_level = elsewhere(index) end
  for n = by or 1, (by or 1) * VARIABLES_MAX, by or 1 do
    local name, value
    if level then
      name, value = getlocal(level, n)
    else
      name, value = getlocal(thread, thread_level, n)
    end
    if name == nil then return end
    -- Names in parentheses are temporaries of the VM, and values of `...`.
    if by then name = "(vararg " .. -n .. ")" end
    if by or sub(name, 1, 1) ~= "(" then visit(n, name, value) end
  end
end

local function set_local(index, n, value)
  if index < base then
    local level = level_of(index)
    local name = setlocal(level, n, value)
    return name
  end
  local thread, level = elsewhere(index)
  return setlocal(thread, level, n, value)
end

-- Finds a variable by its name: "local" or "upvalue", its number, its value, and the function.
-- Without `wanted_kind`, a local hides an upvalue of its name.
local function find(index, wanted, wanted_kind)
  if (running() or "main") ~= stopped_in then return nil end
  local kind, at, found
  local function compare(n, name, value)
    if name == wanted then kind, at, found = "local", n, value end
  end
  if wanted_kind ~= "upvalue" then each_local(index, compare) end
  if wanted_kind == "local" and not kind then each_local(index, compare, -1) end
  if kind or wanted_kind == "local" then return kind, at, found end
  local info = info_at(index, "f")
  for n = 1, info and VARIABLES_MAX or 0 do
    local name, value = getupvalue(info.func, n)
    if name == nil then return nil end
    if name == wanted then return "upvalue", n, value, info.func end
  end
end

-- Returns true if a function has a variable of this name.
function values.has_variable(index, name)
  return info_at(index, "f") ~= nil and find(index, name) ~= nil
end

local function assign(index, name, value, wanted_kind)
  local kind, n, _, fn = find(index, name, wanted_kind)
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
  local chunk, problem = core.compile_line(text, env)
  if chunk then core.note_loaded("eval", text) end
  return chunk, problem
end

-- Variables ---------------------------------------------------------------------------------------

local function add_reference(kind, value)
  if #references >= REFERENCES_MAX then return 0 end
  references[#references + 1] = { kind = kind, value = value, is_raw = is_raw() }
  return #references
end

-- Returns a value as a tool shows it.
local function entry(name, value)
  local reference, indexed, named = 0, nil, nil
  if type(value) == "table" then
    reference = add_reference("table", value)
    indexed, named = pages.counts(value)
  elseif core.handle_values.is_expandable(value) then
    reference = add_reference("handle", value)
  end
  return {
    name = clean(name), value = clean(preview(value)), kind = type(value),
    reference = reference, indexed = indexed, named = named,
  }
end

-- Returns the values of a function's variables.
local function variable_values(index)
  local list = {}
  each_local(index, function(_, _, value) list[#list + 1] = value end)
  local info = info_at(index, "f")
  for n = 1, VARIABLES_MAX do
    local name, value = getupvalue(info.func, n)
    if name == nil then break end
    list[#list + 1] = value
  end
  return list
end

local function local_entries(index)
  local list, at = {}, {}
  each_local(index, function(_, name, value)
    -- A later variable hides an earlier one of its name.
    local position = at[name] or #list + 1
    at[name], list[position] = position, entry(name, value)
  end)
  each_local(index, function(_, name, value) list[#list + 1] = entry(name, value) end, -1)
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

-- Returns the table whose fields a reference shows; nil for variables of a function, or nil and a
-- message.
local function shown_table(at)
  if at.kind == "table" then return at.value end
  if at.kind == "globals" then return pages.game_globals() end
  if at.kind == "engine" then
    return core.handle_values.engine_scope(variable_values(at.value))
  elseif at.kind == "handle" then
    local fields = core.handle_values.fields(at.value)
    return fields, not fields and "the object is destroyed" or nil
  end
end

-- Returns a page of variables of a scope or a table, as table_pages.lua does.
function values.variables(reference, page)
  local at = references[reference]
  if not at then return nil, NO_REFERENCE end
  local shown, problem = shown_table(at)
  if problem then return nil, problem end
  if shown and at.is_raw then return call_raw(pages.entries, shown, page, entry) end
  if shown then
    local list, follow = pages.entries(shown, page, entry)
    return list, follow
  end
  local all = at.kind == "locals" and local_entries(at.value) or upvalue_entries(at.value)
  local list, last = {}, page.first + page.most - 1
  if page.filter == "indexed" then return list, 0 end
  for i = page.first, #all < last and #all or last do list[#list + 1] = all[i] end
  return list, #all > last and #all - last or 0
end

-- Returns the scopes of a function.
function values.scopes(index)
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  local scopes = {}
  for _, kind in next, { "locals", "upvalues", "globals", "engine" } do
    scopes[#scopes + 1] = { name = kind, reference = add_reference(kind, index) }
  end
  return scopes
end

-- Describes a function of a stack: file and line, and true for one of the engine.
local function frame_at(index)
  local info = info_at(index, "nSlf")
  local name = info.name or info.what == "main" and "main chunk" or "function"
  local frame = { frame = index, name = clean(name) }
  if sub(info.source, 1, 1) == "@" then
    frame.file, frame.line = clean(sub(info.source, 2)), info.currentline
    frame.version = core.text_versions.earlier_id(info.func, sub(info.source, 2))
    if frame.line < 0 then frame.line = dead_line end
  else
    frame.engine = true
    if sub(info.source, 1, #ENGINE_CHUNK) == ENGINE_CHUNK and info.currentline > 0 then
      frame.file, frame.line = sub(info.source, 2), info.currentline
    end
  end
  return frame
end

-- Returns `most` functions of the stack of a coroutine, from `first` on, and their number.
-- Coroutine 1, or nil, is the one that is stopped; its stack leads to that of the main program. The
-- functions of a coroutine that died of the error come first.
function values.frames(first, most, coroutine)
  local frames, before, count = {}, 0, base
  local start, stacks = 0, outer_stacks()
  for i = 1, #stacks do count = count + stacks[i][2] end
  if coroutine and coroutine > 1 then
    local thread = coroutines[coroutine - 1]
    if not thread then return nil, "there is no such coroutine" end
    start, count = (coroutine - 1) * COROUTINE_FRAMES, thread_depth(thread)
  elseif dead then
    before = thread_depth(coroutines[dead])
    count = count + before
  end
  for i = first, count < first + most and count - 1 or first + most - 1 do
    local index = i < before and dead * COROUTINE_FRAMES + i or start + i - before
    frames[#frames + 1] = frame_at(index)
  end
  return frames, count
end

-- Returns a list of the first function. The stacks of other coroutines need a visit of all objects.
function values.first_frame()
  local index = dead and dead * COROUTINE_FRAMES or base > 0 and 0
  return index and { frame_at(index) } or (values.frames(0, 1))
end

-- Shows the stack of a coroutine that has died of the error at which the script is stopped.
function values.show_dead(thread, message)
  coroutines[#coroutines + 1] = thread
  dead, dead_line = #coroutines, tonumber(match(message, "^[^\n]-:(%d+): ")) or 0
end

-- Lists the coroutines: the stopped one, and all that wait.
function values.coroutines()
  local list = { { coroutine = 1, name = stopped_in == "main" and "main" or "coroutine" } }
  local all = core.debug_coroutines()
  local listed, in_stack, stacks = {}, { [stopped_in] = true }, outer_stacks()
  for i = 1, #coroutines do listed[coroutines[i]] = i end
  for i = 1, #stacks do in_stack[stacks[i][1]] = true end
  for i = 1, #all do
    local thread = all[i]
    local is_other = not in_stack[thread] and getinfo(thread, 0, "l")
    if is_other and not listed[thread] and #coroutines < COROUTINES_MAX then
      coroutines[#coroutines + 1] = thread
      listed[thread] = #coroutines
    end
    local number = is_other and listed[thread]
    if number then
      local frame = frame_at(number * COROUTINE_FRAMES + thread_depth(thread) - 1)
      local location = frame.file and " " .. frame.file .. ":" .. frame.line or ""
      list[#list + 1] = { coroutine = number + 1, name = "coroutine" .. location }
    end
  end
  return list
end

-- Returns the innermost function, its line and its source.
function values.innermost()
  local info = info_at(0, "fSl")
  return info and info.func, info and info.currentline or 0, info and info.source or ""
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

-- Runs a line, and returns its value as a variable. `is_whole` leaves long texts uncut.
function values.evaluate(index, text, seconds, is_whole)
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  local result, problem = values.run(index, text, seconds)
  if problem then return nil, problem end
  local answer = entry("", result)
  if is_whole then answer.value = core.display_text(result) end
  return answer
end

-- Returns what a name with fields means, without calling functions of the game.
function values.look_up(index, text)
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  local result, problem = core.raw_lookup(text, function(name)
    local kind, _, value = find(index, name)
    if kind then return value end
    return core.raw_field(getfenv(info_at(index, "f").func), name)
  end)
  if problem then return nil, problem end
  return call_raw(entry, "", result)
end

-- Gives what an expression names the value of another one: a variable, a field.
function values.set_expression(index, target, text, seconds)
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  local env = environment(index)
  local chunk, problem = load_chunk(target .. " = (" .. text .. "\n)", "=eval", env)
  if not chunk then return nil, first_line(problem) end
  is_changed = true
  _, problem = values.call(chunk, seconds)
  if problem then return nil, problem end
  return values.evaluate(index, target, seconds)
end

-- Returns the completions of the name at the end of a text, as `core.tool_complete` does, with the
-- variables of a function.
function values.complete(index, text)
  local path = match(text, "[%a_][%w_%.:]*$") or ""
  local first, rest = match(path, "^([%w_]+)[.:](.*)$")
  local found = {}
  if not info_at(index, "f") then return nil, "there is no such function on the stack" end
  if first then
    local kind, _, value = find(index, first)
    if kind then return core.tool_complete_in(value, rest) end
    return core.tool_complete(text)
  end
  local known = core.tool_complete(text)
  for i = 1, #known.words do found[known.words[i]] = true end
  local function add(name)
    if sub(name, 1, #path) == path and match(name, "^[%a_]") then found[name] = true end
  end
  each_local(index, function(_, name) add(name) end)
  local info = info_at(index, "f")
  for n = 1, VARIABLES_MAX do
    local name = getupvalue(info.func, n)
    if name == nil then break end
    add(name)
  end
  local names = core.names(found)
  for i = #names, COMPLETIONS_MAX + 1, -1 do names[i] = nil end
  return { start = path, words = names }
end

local function key_named(value, name)
  for key in next, value do
    if key_text(key) == name then return key end
  end
end

-- Kinds of the variables in a scope, for `find`.
local KIND_OF_SCOPE = { locals = "local", upvalues = "upvalue" }

-- Gives a variable of a scope, or a field of a table, the value of a line of Lua.
function values.set(reference, name, index, text, seconds)
  local at = references[reference]
  if not at then return nil, NO_REFERENCE end
  if at.kind == "engine" or at.kind == "handle" then
    return nil, "'" .. clean(name) .. "' cannot be changed here: what the engine knows is only "
      .. "shown, but fields of a unit's 'data' can be changed when it is opened"
  end
  -- A variable of a function is set to what the text means there.
  local own = KIND_OF_SCOPE[at.kind] and at.value or index
  local result, problem = values.run(own, text, seconds)
  if problem then return nil, problem end
  if at.kind == "table" then
    local key = key_named(core.protected[at.value] or at.value, name)
    if key == nil then return nil, "the table has no field " .. name end
    rawset(at.value, key, result)
  elseif at.kind == "globals" then
    globals[name] = result
  elseif not assign(at.value, name, result, KIND_OF_SCOPE[at.kind]) then
    return nil, "there is no variable '" .. name .. "'"
  end
  return entry(name, result)
end

-- Returns a function that reads a local variable as long as its function runs: its value; nothing
-- while it does not exist; and nil and true when the function has returned or cannot run again.
-- Returns nil and a message if the function is in another coroutine.
local function local_reader(index, name)
  local kind, n = find(index, name, "local")
  if not kind then return nil, "there is no variable '" .. name .. "'" end
  if index >= base then return nil, "the variable is in another coroutine" end
  if n < 0 then return nil, "a value of '...' has no name that can be followed" end
  local fn, height = info_at(index, "f").func, base - index
  local held = setmetatable({ stopped_in }, { __mode = "v" })
  return function()
    local thread = held[1]
    if not thread or thread ~= "main" and status(thread) == "dead" then return nil, true end
    if (running() or "main") ~= thread then return end
    local level = depth() - height + 1
    local info = level > 0 and getinfo(level, "f")
    if not info or info.func ~= fn then return nil, true end
    local found, value = getlocal(level, n)
    if found == name then return value, false end
  end, "line"
end

-- Returns a function that reads a variable of a scope, a field of a table or of a handle, or a
-- counter; and when it has to be compared: after "data" of units was set, after functions of
-- "Unit", at the end of each "frame", or at each "line". Returns nil and a message if that is not
-- possible.
function values.reader(reference, name)
  local at = references[reference]
  if not at then return nil, NO_REFERENCE end
  local tree = at.kind == "table" and at.value or at.kind == "globals" and globals or nil
  if tree then
    tree = core.protected[tree] or tree
    local key = key_named(tree, name)
    if key == nil then return nil, "there is no field " .. name end
    local read, when = core.handle_values.field_reader(tree, key)
    if read then return read, when end
    return function() return rawget(tree, key), false end, "line"
  elseif at.kind == "handle" then
    return core.handle_values.reader(at.value, name)
  elseif at.kind == "upvalues" then
    local kind, n, _, fn = find(at.value, name, "upvalue")
    if not kind then return nil, "there is no variable '" .. name .. "'" end
    return function()
      local _, value = getupvalue(fn, n)
      return value, false
    end, "line"
  elseif at.kind == "locals" then
    return local_reader(at.value, name)
  end
  return nil, "what the engine knows cannot be followed: open the unit, or the counters"
end
