-- Hot reload: runs changed files in a dry run with a substitute for the globals and, if all of them
-- succeed, exchanges old objects for new ones. The exchange is planned in plan.lua; the walk over
-- the heap is native (heap_snapshot.rs).
local core = ...

-- Compiled code would keep objects of the reload alive, and this code runs too rarely to benefit.
core.jit.off(true, true)

local type, next, error, rawget, rawset = type, next, error, rawget, rawset
local rawequal = rawequal
local pcall, setmetatable, tostring = pcall, setmetatable, tostring
local sort = table.sort
local setupvalue, set_raw_metatable = core.debug.setupvalue, core.debug.setmetatable
local flush = core.jit.flush
local globals, loaded, preload = core.globals, core.modules, core.preload
local reload = core.reloader
local records, mapped = reload.records, reload.mapped

local FILES_MAX = 10000 -- files in one reload

local busy = false

-- Modules and globals that loads see outside of a reload.
core.live_world = {
  globals = globals,
  module = function(name)
    return rawget(loaded, name)
  end,
  global = function(name)
    return rawget(globals, name)
  end,
}

-- The dry run -----------------------------------------------------------------------------------

local dry_run_of

local function copy(table)
  local result = {}
  for key, value in next, table do
    result[key] = value
  end
  return result
end

-- Saves a log of the game's heap before code runs that could change it.
local function save(box)
  -- Versions of the debugger have the globals of the dry run.
  local hidden = { box, reload, records, reload.owners, reload.successors, reload.state,
    reload.debugged, reload.debugged_texts }
  for i = 1, #reload.engine do
    hidden[#hidden + 1] = reload.engine[i]
  end
  return core.heap_save(hidden, { globals, loaded })
end

-- Applies changes again that core.heap_restore reverted.
local function reapply(changes, map)
  for i = 1, #changes, 4 do
    local holder, kind, key, value = changes[i], changes[i + 1], changes[i + 2], changes[i + 3]
    if value == changes then
      value = nil
    end
    holder, value = map(holder), map(value)
    if kind == 1 then
      rawset(holder, map(key), value)
    elseif kind == 3 then
      setupvalue(holder, key, value)
    else
      set_raw_metatable(holder, value)
    end
  end
end

local function identity(value)
  return value
end

-- Runs code that has not run before. Its changes to other objects are kept if the reload succeeds.
local function run_first(box, fn, ...)
  box.log = box.log or save(box)
  local log = save(box)
  local result, other = fn(...)
  local changes = core.heap_restore(log)
  reapply(changes, identity)
  box.lasting[#box.lasting + 1] = changes
  return result, other
end

-- Finds a file that was not loaded before, or returns nil.
local function find_new(box, name)
  local script = core.read_module(name)
  if script.text then
    core.note_source(script.chunk, script.text)
    local entry = { chunk = script.chunk, name = name, text = script.text }
    entry.fn, entry.written = reload.compile(script, box.shadow)
    return entry
  end
  if not core.has_searchers() then
    return nil
  end
  local loader, found = run_first(box, core.search_module, name, box.shadow)
  if loader and found.file then
    return { chunk = found.file, name = name, text = "", fn = loader, written = {},
      searched = found }
  end
end

-- `require` during a dry run. Returns the result of a changed file, a module that is
-- already loaded, or a module that the edit newly needs, which is loaded as part of the dry run.
local function dry_run_require(box, name)
  if type(name) ~= "string" then
    core.bad_argument("require", 1, "name", "string", name)
  end
  name = core.module_name(name)
  if box.results[name] ~= nil then
    return box.results[name]
  end
  local entry = box.by_name[name]
  if not entry and loaded[name] ~= nil then
    return loaded[name]
  elseif not entry and preload[name] ~= nil then
    local result = preload[name](name)
    box.results[name] = result == nil and true or result
    return box.results[name]
  elseif not entry then
    entry = find_new(box, name)
    if not entry then
      return core.require(name)
    end
    box.by_name[name] = entry
    box.list[#box.list + 1] = entry
    return (run_first(box, dry_run_of, box, entry))
  elseif entry.running then
    core.raise("require: modules need each other in a circle: " .. name .. " is being reloaded: "
      .. "require one of them inside a function")
  end
  return dry_run_of(box, entry)
end

-- Returns true if a load created anything that other code can reach.
local function creates_objects(record)
  return record.result ~= true or next(record.globals) ~= nil or next(record.top) ~= nil
    or next(record.patches) ~= nil
end

-- Keeps the objects of a file that created some before and creates none now, because it was emptied
-- or commented out. The file's next text is paired with these objects; otherwise that text could
-- not be connected with references in other files.
local function keep_emptied(box, entry, live)
  entry.kept = true
  for name in next, entry.old.globals do
    box.hidden[name] = nil
  end
  return live == nil and entry.old.result or live
end

function dry_run_of(box, entry)
  if entry.record then
    return box.results[entry.name]
  end
  entry.running = true
  local mark = reload.begin(entry.chunk, entry.written, box.world)
  for table, before in next, mark.foreign do
    box.undo[#box.undo + 1] = { table = table, before = before }
  end
  local before = rawget(loaded, entry.name)
  mark.searched = entry.searched
  local outer, result = core.begin_search(entry.searched and box.shadow), nil
  if entry.searched then
    result = entry.fn(entry.name, entry.searched.file)
  else
    result = entry.fn(entry.name)
  end
  core.end_search(outer)
  for key, value in next, box.stand_in do
    if not rawequal(value, box.copied[key]) then
      rawset(box.shadow, key, value)
      rawset(box.stand_in, key, nil)
      box.copied[key] = nil
    end
  end
  if result == nil then
    local module_result = rawget(loaded, entry.name)
    result = (module_result == nil or module_result == before) and true or module_result
  end
  entry.record = reload.finish(mark, entry.name, result)
  if entry.old and creates_objects(entry.old) and not creates_objects(entry.record) then
    result = keep_emptied(box, entry, before)
  end
  entry.running = false
  box.results[entry.name] = result
  return result
end

-- Reverts the dry run's writes to tables that existed before.
local function undo(box)
  for i = #box.undo, 1, -1 do
    local at = box.undo[i]
    for key in next, copy(at.table) do
      if at.before.fields[key] == nil then
        rawset(at.table, key, nil)
      end
    end
    for key, value in next, at.before.fields do
      rawset(at.table, key, value)
    end
    set_raw_metatable(at.table, at.before.meta)
  end
  if box.log then
    core.heap_restore(box.log)
  end
end

-- The commit ------------------------------------------------------------------------------------

local function apply_plan(plan)
  for i = 1, #plan.sets do
    local at = plan.sets[i]
    local value = mapped(plan, at.value)
    if at.kind == "upvalue" then
      setupvalue(at.holder, at.key, value)
    elseif at.kind == "meta" then
      set_raw_metatable(at.holder, value)
    elseif at.kind == "array" then
      reload.change_array(at.holder, at.key, value)
    elseif core.is_class(at.holder) and value ~= nil then
      -- A class passes its metamethods on to the classes that inherit from it.
      rawset(at.holder, at.key, nil)
      at.holder[at.key] = value
    else
      rawset(at.holder, at.key, value)
    end
  end
end

-- Applies the changes that newly loaded files made outside of themselves.
local function apply_first_loads(box, plan)
  local function map(value)
    return mapped(plan, value)
  end
  for i = 1, #box.lasting do
    reapply(box.lasting[i], map)
  end
  for i = 1, #box.list do
    local entry = box.list[i]
    if not entry.old then
      rawset(loaded, entry.name, map(entry.record.result))
      for name, value in next, entry.record.globals do
        if rawget(globals, name) == nil then
          rawset(globals, name, map(value))
        end
      end
      for table, changed in next, entry.record.patches do
        for key, value in next, changed do
          rawset(map(table), map(key), map(value))
        end
      end
    end
  end
  for name, value in next, box.results do
    if not box.by_name[name] then
      rawset(loaded, name, map(value))
    end
  end
end

local function lists(box)
  local pairs_of, old, new, sources = {}, {}, {}, {}
  for i = 1, #box.list do
    local entry = box.list[i]
    if entry.old and not entry.kept then
      pairs_of[#pairs_of + 1] = { old = entry.old, new = entry.record }
      sources[#sources + 1] = entry.old.source
      for fn in next, entry.old.functions do
        old[#old + 1] = fn
      end
    end
    for table in next, entry.record.tables do
      new[#new + 1] = table
    end
    for fn in next, entry.record.functions do
      new[#new + 1] = fn
    end
    for thread in next, entry.record.threads do
      new[#new + 1] = thread
    end
  end
  return pairs_of, old, new, sources
end

local function kept_closures(kept)
  local list = {}
  for location, count in next, kept do
    list[#list + 1] = { location = location, count = count }
  end
  sort(list, function(a, b)
    return a.location < b.location
  end)
  return list
end

-- Performs the commit. It cannot be interrupted: after a dry run no hook raises until core.settle.
local function commit(box)
  local pairs_of, old, new, sources = lists(box)
  -- Versions of the debugger have the globals of the dry run.
  local hidden = { box, reload, records, reload.owners, reload.successors, reload.state,
    reload.debugged, reload.debugged_texts }
  local hits, existed, kept = core.heap_scan(hidden, old, new, sources)
  local plan = reload.plan(pairs_of, existed, box.exchange)
  apply_plan(plan)
  local replaced = core.heap_apply(hits, plan.exchange)
  local exchange, roots = box.exchange, {}
  for from, to in next, plan.exchange do
    exchange[from] = type(from) ~= "cdata" and to or nil
  end
  for i = 1, #plan.order do
    local fn = plan.order[i].fn
    local newest = plan.exchange[fn]
    local generations = reload.successors[fn] or setmetatable({}, reload.weak_values)
    generations.fn = newest
    reload.successors[fn], reload.successors[newest] = generations, generations
  end
  for i = 1, #box.list do
    local entry = box.list[i]
    for table in next, entry.record.tables do
      core.class_reloaded(table, plan.exchange)
    end
    roots[#roots + 1] = entry.record
  end
  reload.keep_arrays(plan, roots)
  apply_first_loads(box, plan)
  roots[#roots + 1] = box.results
  roots[#roots + 1] = box.lasting
  core.heap_fix(roots, exchange, plan.joins)
  local emptied, is_emptied = {}, {}
  for i = 1, #box.list do
    local entry = box.list[i]
    if not entry.kept then
      reload.keep(entry.record)
    elseif not is_emptied[entry.chunk] then
      emptied[#emptied + 1], is_emptied[entry.chunk] = entry.chunk, true
      -- Reports must show the lines of the code that keeps running.
      core.note_source(entry.chunk, box.sources[entry.chunk] or entry.text)
    end
  end
  local changed = {}
  for i = 1, #box.changed do
    local chunk = box.changed[i]
    changed[#changed + 1] = not is_emptied[chunk] and chunk or nil
  end
  flush()
  return {
    replaced = plan.replaced + replaced, added = plan.added, removed = plan.removed,
    updated = plan.updated, kept_closures = kept_closures(kept), functions = #plan.order,
    changed = changed, emptied = emptied,
  }
end

-- Reload entry points -----------------------------------------------------------------------------

local function check_files(files)
  if type(files) ~= "table" or #files > FILES_MAX then
    error("core.reload_files takes a list of at most " .. FILES_MAX .. " files", 0)
  end
  for i = 1, #files do
    local file = files[i]
    if type(file) ~= "table" or type(file.chunk) ~= "string" or type(file.text) ~= "string" then
      error("core.reload_files takes a list of { chunk, text }", 0)
    end
  end
end

-- Collects the loads of the changed files, in the order of their first load.
local function begin(files)
  local box = { list = {}, by_name = {}, results = {}, hidden = {}, undo = {}, not_loaded = {},
    lasting = {} }
  box.changed = {}
  for i = 1, #files do
    local file = files[i]
    local known = records[file.chunk]
    if known then
      box.changed[#box.changed + 1] = file.chunk
    else
      box.not_loaded[#box.not_loaded + 1] = file.chunk
    end
    for k = 1, known and #known or 0 do
      local record = known[k]
      local entry = { chunk = file.chunk, name = record.name, text = file.text, old = record }
      box.searched = box.searched or record.searched ~= nil
      box.list[#box.list + 1], box.by_name[record.name] = entry, entry
      for name in next, record.globals do
        box.hidden[name] = true
      end
    end
  end
  sort(box.list, function(a, b)
    return a.old.order < b.old.order
  end)
  return box
end

local function failed(box, message, location, report)
  for chunk, text in next, box.sources do
    core.note_source(chunk, text)
  end
  return { ok = false, message = message, location = location, report = report }
end

-- Asks the game's searchers again for a module that one of them found.
local function search_again(box, entry)
  local loader, found = core.search_module(entry.name, box.shadow)
  if not loader then
    core.raise("require: no function of package.searchers finds the module '" .. entry.name
      .. "' of " .. entry.chunk .. " any more")
  end
  found.file = entry.chunk
  entry.fn, entry.written, entry.searched = loader, {}, found
end

local function compile_all(box)
  for i = 1, #box.list do
    local entry = box.list[i]
    box.sources[entry.chunk] = box.sources[entry.chunk] or core.source(entry.chunk)
    core.note_source(entry.chunk, entry.text)
    if entry.old.searched then
      search_again(box, entry)
    else
      entry.fn, entry.written = reload.compile(entry, box.shadow)
    end
    box.harmless = box.harmless and entry.written.harmless
  end
end

local function dry_run_all(box)
  -- A searcher of the game can change anything.
  box.log = box.searched and save(box) or nil
  compile_all(box)
  box.log = box.log or not box.harmless and save(box) or nil
  for i = 1, #box.list do
    dry_run_of(box, box.list[i])
  end
end

local function reload_all(files)
  local box = begin(files)
  box.sources, box.harmless = {}, true
  reload.make_shadow(box, dry_run_require)
  local innermost, before = reload.state.innermost, copy(loaded)
  local ran, message, location, report = core.dry_run(function()
    dry_run_all(box)
  end)
  reload.state.innermost, reload.state.shadow, reload.state.stand_in = innermost, nil, nil
  core.end_search()
  for name, value in next, copy(loaded) do
    if before[name] == nil then
      rawset(loaded, name, nil)
      box.results[name] = box.results[name] == nil and ran and value or box.results[name]
    end
  end
  for name, value in next, before do
    rawset(loaded, name, value)
  end
  undo(box)
  local result
  if ran then
    local ok
    ok, result = pcall(commit, box)
    if not ok then
      message = result
    end
    result = ok and result or nil
  end
  core.settle()
  if not result then
    return failed(box, message, location or "", report or "Error: " .. tostring(message))
  end
  result.ok, result.not_loaded = true, box.not_loaded
  return result
end

-- Replaces the running texts of files with new ones, all or none. `files` is a list of `{ chunk,
-- text }`. Returns `{ ok = true, changed, emptied, not_loaded, functions, replaced, added, removed,
-- updated, kept_closures = { { place, count } } }`, or `{ ok = false, message, place, report }`, in
-- which case nothing has changed.
function core.reload_files(files)
  check_files(files)
  if busy then
    return { ok = false, message = "a reload is under way", location = "", report = "" }
  elseif not reload.recording then
    local message = "loads are not recorded in this build"
    return { ok = false, message = message, location = "", report = "" }
  end
  busy = true
  local ok, result = pcall(reload_all, files)
  busy = false
  if not ok then
    error(result, 0)
  end
  return result
end
