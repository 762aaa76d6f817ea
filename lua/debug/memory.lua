-- The Lua part of `Memory`: objects held by scripts, found by walking everything that scripts can
-- reach, and differences between two snapshots. The total of Lua's allocator and the engine's
-- owners are native.
--
-- Sizes are those of LuaJIT's objects on 64-bit machines: a table is counted by its entries, a
-- function by its upvalues. Compiled code and the functions' own instructions are not reached; they
-- make up the difference between the walk's sum and the allocator's total.
local core = ...

local type, next, ipairs, pcall, rawget = type, next, ipairs, pcall, rawget
local format, setmetatable = string.format, setmetatable
local sort, concat, rep, abs = table.sort, table.concat, string.rep, math.abs
local sub, match = string.sub, string.match
local bad_argument = core.bad_argument
local ffi, debug, globals = core.ffi, core.debug, core.globals
local getupvalue, getinfo, getlocal = debug.getupvalue, debug.getinfo, debug.getlocal
local getmetatable = debug.getmetatable
local sizeof = ffi.sizeof

local Memory, Application = core.module("Memory"), core.module("Application")

local LABEL_DEPTH = 3 -- field depth up to which objects get their own labels
local FIELDS_MAX = 100 -- a table with more fields is labeled as a list
local LEVELS_MAX = 200 -- levels of a coroutine's stack
local TABLE, SLOT, NODE, STRING, FUNCTION, THREAD, CDATA = 64, 8, 24, 25, 40, 1024, 16 -- bytes

-- Creates the state of a walk: visited objects, the queue of pending objects, and sums by label.
local function new_walk()
  return { seen = {}, objects = {}, labels = {}, depths = {}, left = 0, at = 1, sums = {} }
end

local function count(walk, label, bytes)
  local sum = walk.sums[label]
  if not sum then
    sum = { bytes = 0, objects = 0 }
    walk.sums[label] = sum
  end
  sum.bytes, sum.objects = sum.bytes + bytes, sum.objects + 1
end

-- Visits a value: counts it immediately or appends it to the queue.
local function visit(walk, value, label, depth)
  local kind = type(value)
  if kind == "string" then
    if not walk.seen[value] then
      walk.seen[value] = true
      count(walk, label, STRING + #value)
    end
  elseif kind == "cdata" then
    if not walk.seen[value] then
      walk.seen[value] = true
      -- A C type is also a value, and some C types have no size.
      local sized, bytes = pcall(sizeof, value)
      count(walk, label, CDATA + (sized and bytes or 0))
    end
  elseif (kind == "table" or kind == "function" or kind == "thread") and not walk.seen[value] then
    walk.seen[value] = true
    local left = walk.left + 1
    walk.left = left
    walk.objects[left], walk.labels[left], walk.depths[left] = value, label, depth
  end
end

local function power_of_two(count)
  local power = 1
  while power < count do power = power * 2 end
  return power
end

local function walk_table(walk, t, label, depth)
  local entries, named = 0, 0
  for key in next, t do
    entries = entries + 1
    if type(key) == "string" then named = named + 1 end
  end
  local listed = #t
  local hashed = entries > listed and power_of_two(entries - listed) or 0
  count(walk, label, TABLE + listed * SLOT + hashed * NODE)
  local meta = getmetatable(t)
  local mode = type(meta) == "table" and meta.__mode
  if type(meta) == "table" then visit(walk, meta, label, depth) end
  -- A weak table does not hold the objects that it refers to.
  if type(mode) == "string" then return end
  local has_parts = depth < LABEL_DEPTH and named <= FIELDS_MAX
  for key, value in next, t do
    local kind = type(value)
    visit(walk, key, label, LABEL_DEPTH)
    if has_parts and type(key) == "string" and (kind == "table" or kind == "thread")
      and match(key, "^[%a_][%w_]*$") then
      visit(walk, value, label .. "." .. key, depth + 1)
    else
      visit(walk, value, label, kind == "function" and depth or LABEL_DEPTH)
    end
  end
end

local function walk_function(walk, fn, label)
  local about = getinfo(fn, "Su")
  count(walk, label, FUNCTION + about.nups * SLOT)
  local file = sub(about.source, 1, 1) == "@" and sub(about.source, 2)
  for i = 1, about.nups do
    local name, value = getupvalue(fn, i)
    -- A file's local is labeled with its own name, regardless of which function reaches it first.
    local local_label = file and name and name ~= "" and file .. ": local " .. name
    visit(walk, value, local_label or label, local_label and 1 or LABEL_DEPTH)
  end
end

local function walk_thread(walk, thread, label)
  count(walk, label, THREAD)
  for level = 0, LEVELS_MAX do
    local about = getinfo(thread, level, "f")
    if not about then return end
    visit(walk, about.func, label, LABEL_DEPTH)
    for i = 1, 250 do
      local name, value = getlocal(thread, level, i)
      if not name then break end
      visit(walk, value, label, LABEL_DEPTH)
    end
  end
end

local function finish(walk)
  local at = walk.at
  -- Breadth first: near objects get their labels before distant objects can reach them.
  while at <= walk.left do
    local object, label, depth = walk.objects[at], walk.labels[at], walk.depths[at]
    walk.objects[at] = false
    local kind = type(object)
    if kind == "table" then
      walk_table(walk, object, label, depth)
    elseif kind == "function" then
      walk_function(walk, object, label)
    else
      walk_thread(walk, object, label)
    end
    at = at + 1
  end
  walk.at = at
end

-- Snapshots that the game keeps. They are not counted, because each would grow by the previous
-- ones.
local snapshots = setmetatable({}, { __mode = "k" })

-- Adds the tables with the globals of test suites (lua/test/budget.lua).
local add_global_tables = core.event("global_tables")

local function is_engines(value)
  return type(value) == "function" and sub(getinfo(value, "S").source, 1, 1) ~= "@"
end

-- Walks everything that scripts reach: first from the game's globals, then from its modules, and
-- last from the engine's own Lua.
local function walk_scripts()
  local walk = new_walk()
  local api = core.api
  for _, value in next, { walk, walk.seen, walk.objects, walk.labels, walk.depths, walk.sums } do
    walk.seen[value] = true
  end
  walk.seen[core] = true
  for snapshot in next, snapshots do
    walk.seen[snapshot] = true
  end
  local tables = { globals }
  add_global_tables(tables)
  for _, from in ipairs(tables) do
    walk.seen[from] = true
    for _, name in ipairs(core.names(from)) do
      local value = rawget(from, name)
      local ours = value == api[name] or core.protected[value]
      if value ~= nil and not ours and not is_engines(value) then
        visit(walk, value, name, 1)
      end
    end
  end
  for _, name in ipairs(core.names(core.modules)) do
    local value = core.modules[name]
    if api[name] == nil and not core.protected[value] and not is_engines(value) then
      visit(walk, value, "module " .. name, 1)
    end
  end
  finish(walk)
  walk.seen[core] = nil
  visit(walk, core, "the engine's Lua", LABEL_DEPTH)
  visit(walk, api, "the engine's Lua", LABEL_DEPTH)
  finish(walk)
  return walk.sums
end

---Returns a snapshot of the memory in use: `frame`; `scripts`, bytes and objects by name, where a
---name is a global, a local of a file (`main.lua: local enemies`) or a field of one; `engine`,
---bytes and blocks by owner; `held`, the total bytes held by Lua. The walk pauses the game: about
---20 ms for 100000 objects.
---@return table snapshot plain data
---@node hidden
function Memory.snapshot()
  local held = core.memory_used()
  local engine = {}
  for _, owner in ipairs(core.memory_owners()) do
    engine[owner[1]] = { bytes = owner[2], blocks = owner[3] }
  end
  local snapshot = {
    frame = Application.frame_index(), held = held, scripts = walk_scripts(), engine = engine,
  }
  snapshots[snapshot] = true
  return snapshot
end

local function check_snapshot(name, index, argument, value)
  if type(value) ~= "table" or type(value.scripts) ~= "table" or type(value.engine) ~= "table" then
    bad_argument(name, index, argument, "a snapshot (Memory.snapshot)", value)
  end
end

local function add_changes(list, of, before, after, counted)
  local function add(name, was, is)
    local bytes, more = is.bytes - was.bytes, is[counted] - was[counted]
    if bytes ~= 0 or more ~= 0 then
      list[#list + 1] = { of = of, name = name, bytes = bytes, objects = more }
    end
  end
  local nothing = { bytes = 0, [counted] = 0 }
  for name, is in next, after do
    add(name, before[name] or nothing, is)
  end
  for name, was in next, before do
    if not after[name] then add(name, was, nothing) end
  end
end

---Returns the changes between two snapshots, largest growth first: `name`, `bytes`, `objects`
---(blocks for the engine), and `of`, which is "scripts" or "engine".
---@param before table a snapshot
---@param after? table a later snapshot; the current state if omitted
---@return table[] changes empty if nothing changed
---@node hidden
function Memory.changes(before, after)
  check_snapshot("Memory.changes", 1, "before", before)
  if after == nil then
    after = Memory.snapshot()
  end
  check_snapshot("Memory.changes", 2, "after", after)
  local list = {}
  add_changes(list, "scripts", before.scripts, after.scripts, "objects")
  add_changes(list, "engine", before.engine, after.engine, "blocks")
  sort(list, function(a, b)
    if a.bytes ~= b.bytes then return a.bytes > b.bytes end
    if a.of ~= b.of then return a.of > b.of end
    return a.name < b.name
  end)
  return list
end

-- Formats a byte count for people.
local function shown(bytes)
  local sign = bytes < 0 and "-" or ""
  bytes = abs(bytes)
  if bytes < 10000 then return format("%s%d B", sign, bytes) end
  if bytes < 10000 * 1024 then return format("%s%.1f KiB", sign, bytes / 1024) end
  return format("%s%.1f MiB", sign, bytes / 1048576)
end

local REPORT_ROWS = 20

---Returns the changes since a snapshot as text, for the log. Without a snapshot, lists the largest
---owners.
---@param before? table a snapshot; lists the growth since then
---@return string text one line for each entry
---@node hidden
function Memory.report(before)
  local lines = {}
  local changes
  if before == nil then
    local now = Memory.snapshot()
    changes = Memory.changes({ scripts = {}, engine = {} }, now)
    lines[1] = "scripts hold " .. shown(now.held) .. "; what is held most:"
  else
    check_snapshot("Memory.report", 1, "before", before)
    changes = Memory.changes(before)
    local frames = Application.frame_index() - (before.frame or 0)
    lines[1] = format("what grew in %d frames:", frames)
  end
  for _, change in ipairs(changes) do
    if #lines > REPORT_ROWS or change.bytes <= 0 then break end
    lines[#lines + 1] = format("%12s %8d %-8s %s", shown(change.bytes), change.objects,
      change.of == "scripts" and "objects" or "blocks", change.name)
  end
  if #lines == 1 then lines[2] = "  nothing" end
  return concat(lines, "\n")
end

local TOOL_ROWS = 200
local tool_mark

-- Returns the memory held by scripts, for tools: largest growth since the mark first, or largest
-- size first if there is no mark. With `mark`, the current state becomes the new mark.
function core.tool_memory(mark)
  local now, rows = Memory.snapshot(), {}
  if mark then tool_mark = now end
  local before = tool_mark and tool_mark.scripts or {}
  for name, is in next, now.scripts do
    local was = before[name]
    rows[#rows + 1] = {
      name = name, bytes = is.bytes, objects = is.objects,
      more_bytes = is.bytes - (was and was.bytes or 0),
      more_objects = is.objects - (was and was.objects or 0),
    }
  end
  sort(rows, function(a, b)
    if a.more_bytes ~= b.more_bytes then return a.more_bytes > b.more_bytes end
    if a.bytes ~= b.bytes then return a.bytes > b.bytes end
    return a.name < b.name
  end)
  for i = #rows, TOOL_ROWS + 1, -1 do rows[i] = nil end
  return { held = rows, marked = tool_mark and tool_mark.frame }
end

local function log_text(text)
  for line in text:gmatch("[^\n]+") do
    core.log("info", line)
  end
end

core.command("memory_tree", "memory_tree", "Shows the memory of the engine and of scripts.",
  function()
    for _, row in ipairs(Memory.tree()) do
      core.log("info", format("%12s %8d blocks  %s%s", shown(row.bytes), row.blocks,
        rep("  ", row.parents), row.name))
    end
    log_text(Memory.report())
  end)

core.command("memory_resources", "memory_resources [kind]",
  "Lists the resources whose data is in memory, by kind, or those of one kind.", function(wanted)
    local sums, rows = {}, {}
    for _, row in ipairs(core.loaded_resources()) do
      local name = wanted and row.name or row.kind
      if not wanted or row.kind == wanted then
        sums[name] = sums[name] or { name = name, bytes = 0, count = 0 }
        sums[name].bytes, sums[name].count = sums[name].bytes + row.bytes, sums[name].count + 1
      end
    end
    for _, name in ipairs(core.names(sums)) do rows[#rows + 1] = sums[name] end
    sort(rows, function(a, b)
      if a.bytes ~= b.bytes then return a.bytes > b.bytes end
      return a.name < b.name
    end)
    if #rows == 0 then
      return wanted and "no resource of the kind '" .. sub(wanted, 1, 40) .. "' is kept"
    end
    for _, row in ipairs(rows) do
      core.log("info", format("%12s %8d  %s", shown(row.bytes), row.count, row.name))
    end
  end)

local marked

core.command("memory_mark", "memory_mark", "Takes a snapshot of memory, for memory_grown.",
  function()
    marked = Memory.snapshot()
  end)

core.command("memory_grown", "memory_grown", "Shows what grew since memory_mark.", function()
  if not marked then return "nothing was marked: run memory_mark first" end
  log_text(Memory.report(marked))
end)
