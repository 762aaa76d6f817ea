-- Records of file loads: the result, assigned globals and top-level locals of a load, the tables
-- and functions in them, and its writes to tables of other files. Hot reload compares with these
-- records. Pairing of old and new objects is in plan.lua; dry run and commit are in commit.lua.
local core = ...

-- Compiled code would keep objects of the reload alive, and this code runs too rarely to benefit.
core.jit.off(true, true)

local type, next, rawget, rawequal, pcall = type, next, rawget, rawequal, pcall
local setmetatable, tostring, error = setmetatable, tostring, error
local getinfo, getmetatable = core.debug.getinfo, core.debug.getmetatable
local getupvalue, upvalueid = core.debug.getupvalue, core.debug.upvalueid
local load_chunk, sub = core.load_chunk, string.sub
local globals = core.globals

-- Maximum number of recorded entries in one file's tables; deeper entries keep their values.
local ENTRIES_MAX = 200000
local UPVALUES_MAX = 255 -- Lua's own limit
local ENGINE = "[engine]" -- owner name of the engine's objects

-- `recording` is false for a bundle whose scripts have no variants: it cannot change, so nothing is
-- recorded.
local reload = { recording = core.scripts_can_change() }
core.reloader = reload

-- Records of the loads of each chunk (one for each module name), in order.
local records = {}
-- The chunk whose load created a table or function, by object, if known.
local owners = setmetatable({}, { __mode = "k" })
-- A box with the function that replaced a function everywhere, by old function, because other
-- files' records still refer to the old one. All generations share a box, which keeps none of them
-- alive.
local successors = setmetatable({}, { __mode = "k" })
reload.weak_values = { __mode = "v" }
reload.records, reload.owners, reload.successors = records, owners, successors
reload.loads = 0

-- Stack of the loads in progress: `innermost`, and `outer` of each load.
local state = {}
reload.state = state

-- The engine's tables, which reloads do not inspect.
reload.engine = {}

-- Marks the engine's tables, so that a file that refers to one is not taken for its owner.
local function own_engine()
  local waiting = { core.api, core.modules, core.preload, core.protected, core.string, core.table,
    core.math, core.coroutine, core.os, core.bit, core.ctypes, core.loaded }
  owners[globals] = ENGINE
  local at = #waiting
  while at > 0 do
    local value = waiting[at]
    waiting[at] = nil
    at = at - 1
    if type(value) == "table" and not owners[value] then
      owners[value] = ENGINE
      -- The values of these two are the game's.
      if value ~= core.modules and value ~= core.searchers then
        reload.engine[#reload.engine + 1] = value
      end
      for _, item in next, value do
        at = at + 1
        waiting[at] = item
      end
      local meta = getmetatable(value)
      if meta then
        at = at + 1
        waiting[at] = meta
      end
    end
  end
end

local function copy(table)
  local result = {}
  for key, value in next, table do
    result[key] = value
  end
  return result
end

-- Returns the table at the end of a path that starts at a module's result or at a global. `world`
-- is the view of the load: `module(name)`, `global(name)`, and the table `globals` that it assigns
-- to.
local function find(target, world)
  local path = target.path
  local value, first
  if target.module then
    value, first = world.module(target.module), 1
  else
    value, first = world.global(path[1]), 2
  end
  for i = first, #path do
    value = type(value) == "table" and rawget(core.protected[value] or value, path[i])
  end
  if type(value) == "table" and value ~= globals then
    return core.protected[value] or value
  end
end

-- Returns the coroutine that a function of `coroutine.wrap` resumes.
function reload.thread_of(fn)
  if getinfo(fn, "S").what ~= "C" then
    return nil
  end
  for i = 1, UPVALUES_MAX do
    local name, value = getupvalue(fn, i)
    if name == nil or type(value) == "thread" then
      return value
    end
  end
end

-- Begins the record of a load.
function reload.begin(chunk, written, world)
  if not owners[globals] then
    own_engine()
  end
  local mark = {
    chunk = chunk, captures = {}, outer = state.innermost, world = world, written = written,
    before = copy(world.globals), foreign = {}, inner = {}, arrays = core.buffer_count(),
  }
  -- True if this load, or an enclosing one, needs the objects that nested loads create.
  mark.watching = #written > 0 or (mark.outer and mark.outer.watching)
  for i = 1, #written do
    local found = find(written[i], world)
    if found and not mark.foreign[found] then
      mark.foreign[found] = { fields = copy(found), meta = getmetatable(found) }
    end
  end
  state.innermost = mark
  return mark
end

-- Returns the load in progress of a function's file. Functions written in C are in no file, and
-- their upvalues must never be changed: their code does not check the types of these.
local function mark_of(fn)
  local info = getinfo(fn, "S")
  if info.what == "C" then
    return nil
  end
  local chunk = sub(info.source, 2)
  local mark = state.innermost
  while mark and mark.chunk ~= chunk do
    mark = mark.outer
  end
  return mark
end

-- Captures a chunk's locals. Every chunk that source_scanner.rs extends ends with a call of this.
local function capture(fn)
  local mark = type(fn) == "function" and mark_of(fn)
  if mark then
    mark.captures[#mark.captures + 1] = fn
  end
end

-- Main functions that are compiled like those of scripts, and not recorded: tests that a tool
-- debugs. Their locals are captured by a function that does nothing.
reload.unrecorded = setmetatable({}, { __mode = "k" })
local function ignore() end

-- Such a chunk finds `capture` as a field of strings, so no name of the game is used. It is
-- available only to the top level of a file that is being loaded.
setmetatable(core.string, {
  __index = function(_, key)
    if key == "\27capture" then
      local caller = getinfo(2, "Sf")
      if caller and reload.unrecorded[caller.func] then return ignore end
      return caller and caller.what == "main" and mark_of(caller.func) and capture or nil
    end
  end,
})

local function belongs_to(record, info)
  return info.what ~= "C" and info.source == record.source
end

-- Adds a cell: an upvalue, identified by one function that has it.
local function add_cell(record, name, fn, index, value, top)
  local cell = { name = name, fn = fn, index = index, value = value, top = top }
  record.cells[#record.cells + 1] = cell
  record.by_id[upvalueid(fn, index)] = cell
  if top then
    record.top[name] = cell
  end
  return cell
end

-- Returns the cells of a function that belong to its file, by name.
local function cells_of(record, fn, push)
  local cells = {}
  for i = 1, UPVALUES_MAX do
    local name, value = getupvalue(fn, i)
    if name == nil then
      return cells
    end
    local id = upvalueid(fn, i)
    local cell = record.by_id[id] or add_cell(record, name, fn, i, value, false)
    cells[#cells + 1] = cell
    push(value)
  end
  return cells
end

-- Returns the cells of a closure that another file's factory created for this file. Their values
-- are visited once.
local function cells_of_foreign(record, fn, push)
  local cells = {}
  for i = 1, UPVALUES_MAX do
    local name, value = getupvalue(fn, i)
    if name == nil then
      return cells
    end
    cells[#cells + 1] = { name = name, fn = fn, index = i, value = value }
    if type(value) ~= "function" or belongs_to(record, getinfo(value, "S")) then
      push(value)
    end
  end
  return cells
end

-- Records the contents of a Float32Array of the file, or `false` if it is too large or was not
-- created by this load. Of other buffers, their shape is recorded.
local function record_array(record, array)
  local owner, number = owners[array], core.buffer_number(array)
  if not number or record.arrays[array] ~= nil or owner and owner ~= record.chunk then
    return
  end
  owners[array], record.arrays[array] = record.chunk, core.buffer_shape(array) or false
  local floats, size = core.float32_array_data(array)
  if not floats then return end
  if number > record.arrays_before and record.entries + size <= ENTRIES_MAX then
    local content = {}
    for i = 1, size do
      content[i] = floats[i - 1]
    end
    record.arrays[array], record.entries = content, record.entries + size
  end
end

-- Records every table and function that a value leads to and that no other file created.
local function record_reachable(record, first)
  local waiting, at = {}, 0
  local function push(value)
    local kind = type(value)
    if kind == "table" or kind == "function" then
      at = at + 1
      waiting[at] = value
    elseif kind == "cdata" then
      record_array(record, value)
    elseif kind == "thread" then
      record.threads[value] = true
    end
  end
  push(first)
  while at > 0 do
    local value = waiting[at]
    waiting[at] = nil
    at = at - 1
    local owner = owners[value]
    if owner and owner ~= record.chunk then
      -- Belongs to another file or to the engine.
    elseif type(value) == "table" then
      if not record.tables[value] and record.entries < ENTRIES_MAX then
        owners[value] = record.chunk
        local meta = getmetatable(value)
        local fields = {}
        record.tables[value] = { fields = fields, meta = meta }
        for key, item in next, value do
          fields[key] = item
          record.entries = record.entries + 1
          push(item)
          push(key)
        end
        push(meta)
      end
    elseif not record.functions[value] then
      local info = getinfo(value, "S")
      if belongs_to(record, info) then
        owners[value] = record.chunk
        record.functions[value] = { cells = {}, own = true, line = info.linedefined }
        record.functions[value].cells = cells_of(record, value, push)
      elseif info.what == "Lua" then
        owners[value] = record.chunk
        local entry = { cells = {}, proto = info.source .. ":" .. info.linedefined }
        record.functions[value] = entry
        if info.source:sub(1, 9) ~= "=[engine]" then
          entry.cells = cells_of_foreign(record, value, push)
        end
      elseif reload.thread_of(value) then
        record.threads[value] = true
      end
    end
  end
end

-- Returns the globals that the load assigned: all globals that differ from before, without those of
-- nested loads.
local function assigned(mark)
  local names = {}
  for name, value in next, mark.world.globals do
    local inner = mark.inner[name]
    if not rawequal(value, mark.before[name]) and (inner == nil or not rawequal(inner, value)) then
      names[name] = value
    end
  end
  return names
end

-- Returns the values that the load wrote into tables of other files, by table.
local function patches(record, mark)
  local found = {}
  for i = 1, #mark.written do
    local table = find(mark.written[i], mark.world)
    local owner = table and owners[table]
    -- A table that did not exist before was created by this load or by a nested one.
    local before = table and (mark.foreign[table] or mark.inner[table])
    before = before and before.fields
    if before and owner ~= record.chunk and not found[table] then
      local changed
      for key, value in next, table do
        if not rawequal(before[key], value) then
          changed = changed or {}
          changed[key] = value
        end
      end
      found[table] = changed
    end
  end
  return found
end

-- Ends the record of a load and collects everything that it stored.
function reload.finish(mark, name, result)
  local record = {
    chunk = mark.chunk, name = name, result = result, searched = mark.searched,
    source = mark.searched and mark.searched.chunk or "@" .. mark.chunk,
    globals = assigned(mark), cells = {}, by_id = {}, top = {}, tables = {}, functions = {},
    threads = {}, arrays = {}, arrays_before = mark.arrays, entries = 0,
  }
  record.patches = patches(record, mark)
  state.innermost = mark.outer
  for i = 1, #mark.captures do
    local fn = mark.captures[i]
    for index = 1, UPVALUES_MAX do
      local local_name, value = getupvalue(fn, index)
      if local_name == nil then
        break
      end
      add_cell(record, local_name, fn, index, value, true)
    end
  end
  for i = 1, #record.cells do
    record_reachable(record, record.cells[i].value)
  end
  for _, value in next, record.globals do
    record_reachable(record, value)
  end
  record_reachable(record, result)
  for _, changed in next, record.patches do
    for _, value in next, changed do
      record_reachable(record, value)
    end
  end
  local outer = mark.outer
  if outer then
    for global, value in next, record.globals do
      outer.inner[global] = value
    end
    for global, value in next, mark.inner do
      if outer.inner[global] == nil then
        outer.inner[global] = value
      end
    end
    if outer.watching then
      for object, snapshot in next, record.tables do
        outer.inner[object] = snapshot
      end
    end
  end
  return record
end

-- Discards the record of a failed load.
function reload.drop(mark)
  state.innermost = mark.outer
end

-- Stores the record of a load, replacing an earlier one with the same module name.
function reload.keep(record)
  local list = records[record.chunk] or {}
  records[record.chunk] = list
  local index = #list + 1
  for i = 1, #list do
    if list[i].name == record.name then
      index, record.order = i, list[i].order
    end
  end
  reload.loads = reload.loads + 1
  record.by_id = nil
  record.order = record.order or reload.loads
  list[index] = record
end

-- Compiles a script, with the calls of its breakpoints while a tool debugs the game. Returns the
-- same as `reload.compile_text`.
function reload.compile(script, env)
  if not reload.instrument then
    return reload.compile_text(script, env)
  end
  local text = reload.instrument(script.chunk, script.text)
  local chunk, written = reload.compile_text({ chunk = script.chunk, text = text }, env)
  reload.compiled(script.chunk, script.text, chunk)
  return chunk, written
end

-- Compiles a script, with its calls of `capture` if they fit. Also returns the paths that the
-- script writes to. Raises the message of a syntax error.
function reload.compile_text(script, env)
  local outline = core.outline(script.text)
  local written = outline and outline.written or {}
  written.harmless = outline ~= nil and not outline.dynamic and reload.is_harmless(outline.calls)
  if outline and outline.text and reload.recording then
    local chunk, problem, refused = load_chunk(outline.text, "@" .. script.chunk, env)
    if chunk then
      return chunk, written
    elseif refused then
      error(problem, 0)
    end
  end
  -- The added calls may not have fit: 200 locals, or a label at the end.
  local chunk, problem = load_chunk(script.text, "@" .. script.chunk, env)
  if not chunk then
    error(problem, 0)
  end
  return chunk, written
end

-- Functions that the top level can call without changing the game's objects. `table` and similar
-- modules are not included, because their arguments may belong to another file.
local harmless = {
  assert = true, class = true, error = true, getmetatable = true, ipairs = true, math = true,
  next = true, os = true, pairs = true, print = true, rawequal = true, rawget = true,
  require = true, select = true, setmetatable = true, string = true, tonumber = true,
  tostring = true, type = true, unpack = true, utf8 = true, bit = true, debug = true,
}

-- Returns true if the functions that a file calls at its top level cannot change objects of other
-- files.
function reload.is_harmless(calls)
  for i = 1, #calls do
    local name = calls[i]
    if not name or not (harmless[name] or core.api[name]) then
      return false
    end
  end
  return true
end

-- Returns true if two values are the same. Numbers, strings, vectors and similar types are compared
-- by value.
function reload.same(a, b)
  if a == nil or b == nil or type(a) ~= type(b) then
    return a == b
  elseif rawequal(a, b) then
    return true
  elseif type(a) == "cdata" then
    local compared, equal = pcall(function()
      return a == b and tostring(a) == tostring(b)
    end)
    return compared and equal
  end
  return type(a) == "number" and a ~= a and b ~= b
end
