-- What each load of a game's file put where: its result, the globals it assigned, its top-level
-- locals, the tables and functions in them, what it wrote into tables of others. Hot reload
-- compares with it. How old and new are paired is in plan.lua; trial and commit are in commit.lua.
local core = ...

-- Compiled code would keep what a reload had in hand alive, and never pays here.
core.jit.off(true, true)

local type, next, rawget, rawequal, pcall = type, next, rawget, rawequal, pcall
local setmetatable, tostring, error = setmetatable, tostring, error
local getinfo, getmetatable = core.debug.getinfo, core.debug.getmetatable
local getupvalue, upvalueid = core.debug.getupvalue, core.debug.upvalueid
local load_chunk, sub = core.load_chunk, string.sub
local globals = core.globals

-- Entries of one file's tables that are recorded; deeper ones keep their values.
local ENTRIES_MAX = 200000
local UPVALUES_MAX = 255 -- Lua's own limit
local ENGINE = "[engine]" -- the owner of what is the engine's

-- `recording`: a bundle whose scripts have no variants is played as it is: nothing is recorded.
local reload = { recording = core.scripts_can_change() }
core.reloader = reload

-- By chunk, the records of its loads (one for each module name), in order.
local records = {}
-- By table or function, the chunk whose load made it, as far as that is known.
local owners = setmetatable({}, { __mode = "k" })
-- By function, a box with the one that replaced it everywhere: other files' records still name the
-- old one. All generations share a box, which keeps none of them alive.
local successors = setmetatable({}, { __mode = "k" })
reload.weak_values = { __mode = "v" }
reload.records, reload.owners, reload.successors = records, owners, successors
reload.loads = 0

-- The loads under way: `innermost`, and each one's `outer`.
local state = {}
reload.state = state

-- The engine's tables, which no reload looks into.
reload.engine = {}

-- Marks the engine's tables, so that a file which holds one does not take it for its own.
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
      if value ~= core.modules then
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

-- The table that a path leads to, from what a module returned or from a global. `world` says what
-- the load sees: `module(name)`, `global(name)`, and the table `globals` that it assigns to.
local function find(place, world)
  local path = place.path
  local value, first
  if place.module then
    value, first = world.module(place.module), 1
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

-- The coroutine that a function of `coroutine.wrap` resumes.
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
    before = copy(world.globals), foreign = {}, inner = {}, arrays = core.float32_arrays_made(),
  }
  -- Whether this load, or one around it, has to know what the loads inside it made.
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

-- The load under way of a function's file.
local function mark_of(fn)
  local chunk = sub(getinfo(fn, "S").source, 2)
  local mark = state.innermost
  while mark and mark.chunk ~= chunk do
    mark = mark.outer
  end
  return mark
end

-- Called by every chunk that outline.rs has added to, at its end.
local function capture(fn)
  local mark = type(fn) == "function" and mark_of(fn)
  if mark then
    mark.captures[#mark.captures + 1] = fn
  end
end

-- Such a chunk finds it as a field of the strings, so it takes no name of the game's. It is there
-- for the top level of a file that is being loaded, and for nothing else.
setmetatable(core.string, {
  __index = function(_, key)
    if key == "\27capture" then
      local caller = getinfo(2, "Sf")
      return caller and caller.what == "main" and mark_of(caller.func) and capture or nil
    end
  end,
})

local function own(record, fn)
  return getinfo(fn, "S").source == record.source
end

-- A cell is an upvalue, named by one function that has it.
local function add_cell(record, name, fn, index, value, top)
  local cell = { name = name, fn = fn, index = index, value = value, top = top }
  record.cells[#record.cells + 1] = cell
  record.by_id[upvalueid(fn, index)] = cell
  if top then
    record.top[name] = cell
  end
  return cell
end

-- The cells of a function, as far as they are its file's, by name.
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

-- A closure that another file's factory made for this one: what it holds is looked at, once.
local function cells_of_foreign(record, fn, push)
  local cells = {}
  for i = 1, UPVALUES_MAX do
    local name, value = getupvalue(fn, i)
    if name == nil then
      return cells
    end
    cells[#cells + 1] = { name = name, fn = fn, index = i, value = value }
    if type(value) ~= "function" or own(record, value) then
      push(value)
    end
  end
  return cells
end

-- Notes what a Float32Array of the file holds; `false` where that is too much, or was not put there
-- by this load.
local function note_array(record, array)
  local owner, number = owners[array], core.float32_array_number(array)
  if not number or record.arrays[array] ~= nil or owner and owner ~= record.chunk then
    return
  end
  local floats, size = core.float32_array_data(array)
  owners[array], record.arrays[array] = record.chunk, false
  if number > record.arrays_before and record.entries + size <= ENTRIES_MAX then
    local content = {}
    for i = 1, size do
      content[i] = floats[i - 1]
    end
    record.arrays[array], record.entries = content, record.entries + size
  end
end

-- Notes every table and function that a value leads to and that no other file made.
local function note(record, first)
  local waiting, at = {}, 0
  local function push(value)
    local kind = type(value)
    if kind == "table" or kind == "function" then
      at = at + 1
      waiting[at] = value
    elseif kind == "cdata" then
      note_array(record, value)
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
      -- Another file's, or the engine's.
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
      if info.source == record.source then
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

-- What the load assigned: every global that is another one than before, without those of the loads
-- inside it.
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

-- What the load wrote into tables that others made, by table.
local function patches(record, mark)
  local found = {}
  for i = 1, #mark.written do
    local table = find(mark.written[i], mark.world)
    local owner = table and owners[table]
    -- A table that was not there before was made by this load or by one inside it.
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

-- Ends the record of a load: everything that it put anywhere.
function reload.finish(mark, name, result)
  local record = {
    chunk = mark.chunk, source = "@" .. mark.chunk, name = name, result = result,
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
    note(record, record.cells[i].value)
  end
  for _, value in next, record.globals do
    note(record, value)
  end
  note(record, result)
  for _, changed in next, record.patches do
    for _, value in next, changed do
      note(record, value)
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
      for made, snapshot in next, record.tables do
        outer.inner[made] = snapshot
      end
    end
  end
  return record
end

-- Gives up the record of a load that failed.
function reload.drop(mark)
  state.innermost = mark.outer
end

-- Keeps the record of a load, in place of an earlier one under the same module's name.
function reload.keep(record)
  local list = records[record.chunk] or {}
  records[record.chunk] = list
  local place = #list + 1
  for i = 1, #list do
    if list[i].name == record.name then
      place, record.order = i, list[i].order
    end
  end
  reload.loads = reload.loads + 1
  record.by_id = nil
  record.order = record.order or reload.loads
  list[place] = record
end

-- Compiles a script, with its calls of `capture` where it can have them: what it writes to as well.
-- Raises the words of a syntax error.
function reload.compile(script, env)
  local outline = core.outline(script.text)
  local written = outline and outline.written or {}
  written.harmless = outline ~= nil and not outline.dynamic and reload.is_harmless(outline.calls)
  if outline and outline.text then
    local chunk, problem, refused = load_chunk(outline.text, "@" .. script.chunk, env)
    if chunk then
      return chunk, written
    elseif refused then
      error(problem, 0)
    end
  end
  -- The calls may not have fitted: 200 locals, a label at the end.
  local chunk, problem = load_chunk(script.text, "@" .. script.chunk, env)
  if not chunk then
    error(problem, 0)
  end
  return chunk, written
end

-- What the top level may call without a change to anything of the game's. `table` and the like are
-- not among it: what they are given may be another file's.
local harmless = {
  assert = true, class = true, error = true, getmetatable = true, ipairs = true, math = true,
  next = true, os = true, pairs = true, print = true, rawequal = true, rawget = true,
  require = true, select = true, setmetatable = true, string = true, tonumber = true,
  tostring = true, type = true, unpack = true, utf8 = true, bit = true, debug = true,
}

-- Whether what a file calls at its top level could change what other files made.
function reload.is_harmless(calls)
  for i = 1, #calls do
    local name = calls[i]
    if not name or not (harmless[name] or core.api[name]) then
      return false
    end
  end
  return true
end

-- Whether two values are one: numbers, strings, vectors and the like by their value.
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
