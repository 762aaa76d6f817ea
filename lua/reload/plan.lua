-- The plan of a reload. Pairs new tables and functions with old ones by their paths, and decides
-- the new value of each slot by a three-way comparison: the value of the last load, the current
-- value, and the value of the changed file. Nothing is changed here.
local core = ...

-- Compiled code would keep objects of the reload alive, and this code runs too rarely to benefit.
core.jit.off(true, true)

local type, next, rawget, rawequal, abs = type, next, rawget, rawequal, math.abs
local assert = assert
local getmetatable, getupvalue = core.debug.getmetatable, core.debug.getupvalue
local upvalueid, getinfo, status = core.debug.upvalueid, core.debug.getinfo, coroutine.status
local reload = core.reloader
local same, successors = reload.same, reload.successors

local DEPTH_MAX = 100 -- deeper tables count as changed by the game

-- Maps a value of a new load to the object that it is exchanged for.
local function mapped(plan, value)
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "thread" or kind == "cdata" then
    local other = plan.exchange[value]
    if other ~= nil then
      return other
    end
  end
  return value
end

reload.mapped = mapped

-- Returns the latest generation of a recorded function.
local function latest(value)
  local box = type(value) == "function" and successors[value]
  return box and box.fn or value
end

-- Pairing -----------------------------------------------------------------------------------------

local function wait_for(plan, o, n, a, b)
  if a ~= nil and b ~= nil and not rawequal(a, b) then
    plan.last = plan.last + 1
    plan.waiting[plan.last] = { o = o, n = n, a = a, b = b }
  end
end

local function pair_cells(plan, o, n, a, b)
  if plan.joined[b] or plan.taken[a] then
    return
  end
  plan.joined[b], plan.taken[a] = a, b
  plan.cells[#plan.cells + 1] = { o = o, old = a, new = b }
  wait_for(plan, o, n, a.value, b.value)
end

local function pair_tables(plan, o, n, a, b)
  local old, new = o.tables[a], n.tables[b]
  if not old or not new or plan.existed[b] or plan.exchange[b] or plan.taken[a] then
    return
  end
  plan.exchange[b], plan.taken[a] = a, b
  plan.tables[#plan.tables + 1] = { o = o, n = n, a = a, old = old, new = new }
  for key, value in next, new.fields do
    local kind = old.fields[key] == nil and type(key)
    if kind == "table" or kind == "thread" or kind == "cdata" then
      plan.keyed[#plan.keyed + 1] = { o = o, n = n, old = old, key = key, value = value }
    else
      wait_for(plan, o, n, old.fields[key], value)
    end
  end
  wait_for(plan, o, n, old.meta, new.meta)
end

-- Pairs values whose keys are paired with old keys, such as classes. Returns true if there were
-- any.
local function pair_keyed(plan)
  local list, rest, found = plan.keyed, {}, false
  for i = 1, #list do
    local at = list[i]
    local key = plan.exchange[at.key]
    if key == nil then
      rest[#rest + 1] = at
    else
      wait_for(plan, at.o, at.n, at.old.fields[key], at.value)
      found = true
    end
  end
  plan.keyed = rest
  return found
end

-- Pairs two coroutines. A coroutine that has started continues, because a new one would restart at
-- a point that the old one has passed.
local function pair_threads(plan, o, n, a, b)
  if not o.threads[a] or not n.threads[b] or plan.existed[b] or plan.exchange[b]
    or plan.taken[a]
  then
    return
  end
  local thread = type(a) == "thread" and a or reload.thread_of(a)
  if status(thread) == "dead" or getinfo(thread, 0, "S") then
    plan.exchange[b], plan.taken[a] = a, b
  end
end

-- Returns true if two closures share an upvalue. The upvalue then belongs to their file.
local function shared(x, y)
  return upvalueid(x.fn, x.index) == upvalueid(y.fn, y.index)
end

local function pair_functions(plan, o, n, a, b)
  local old, new = o.functions[a], n.functions[b]
  if not old or not new or plan.existed[b] then
    return
  elseif old.own and new.own then
    local list = plan.candidates[a]
    if not list then
      list = {}
      plan.candidates[a] = list
      plan.order[#plan.order + 1] = { fn = a, entry = old, list = list }
    end
    for i = 1, #list do
      if list[i].fn == b then
        return
      end
    end
    list[#list + 1] = { fn = b, entry = new }
    plan.functions[#plan.functions + 1] = { o = o, n = n, old = old, new = new }
  elseif old.proto and old.proto == new.proto and not plan.exchange[b] and not plan.taken[a] then
    -- The same factory in another file created both closures: the old closure is kept with its
    -- upvalues.
    plan.exchange[b], plan.taken[a] = a, b
    plan.closures[#plan.closures + 1] = { o = o, old = old, new = new }
    for i = 1, #new.cells do
      local x, y = old.cells[i], new.cells[i]
      if x and not shared(x, y) then
        wait_for(plan, o, n, x.value, y.value)
      end
    end
  end
end

-- Pairs everything in the queue, nearest paths first, and then the upvalues of functions, by name.
local function pair_all(plan)
  while true do
    while plan.first <= plan.last do
      local at = plan.waiting[plan.first]
      plan.waiting[plan.first] = nil
      plan.first = plan.first + 1
      local kind = type(at.a)
      if kind == type(at.b) then
        if kind == "table" then
          pair_tables(plan, at.o, at.n, at.a, at.b)
        elseif kind == "cdata" then
          reload.pair_arrays(plan, at.o, at.n, at.a, at.b)
        elseif kind == "thread" or kind == "function" and at.n.threads[at.b] then
          pair_threads(plan, at.o, at.n, at.a, at.b)
        elseif kind == "function" then
          pair_functions(plan, at.o, at.n, at.a, at.b)
        end
      end
    end
    plan.functions_done = plan.functions_done + 1
    local at = plan.functions[plan.functions_done]
    if not at then
      plan.functions_done = plan.functions_done - 1
      if not pair_keyed(plan) then
        return
      end
    end
    for i = 1, at and #at.new.cells or 0 do
      local b = at.new.cells[i]
      for k = 1, #at.old.cells do
        local a = at.old.cells[k]
        if a.name == b.name and not plan.joined[b] and not plan.taken[a] then
          pair_cells(plan, at.o, at.n, a, b)
        end
      end
    end
  end
end

-- Chooses the new function for an old one that several paths lead to: the candidate with the
-- nearest line.
local function choose(plan)
  for i = 1, #plan.order do
    local at = plan.order[i]
    assert(getinfo(at.fn, "S").what ~= "C", "a reload replaces only functions of files")
    local best = at.list[1]
    for k = 2, #at.list do
      local other = at.list[k]
      if abs(other.entry.line - at.entry.line) < abs(best.entry.line - at.entry.line) then
        best = other
      end
    end
    plan.exchange[at.fn] = best.fn
  end
end

-- Decisions ---------------------------------------------------------------------------------------

-- Returns true if a table and all its contents are unchanged since the last load.
local function untouched(o, table, depth)
  local snapshot = o.tables[table]
  if not snapshot or depth > DEPTH_MAX or getmetatable(table) ~= snapshot.meta then
    return false
  end
  local fields = snapshot.fields
  for key, value in next, fields do
    local live = rawget(table, key)
    if not same(live, latest(value)) then
      return false
    elseif type(live) == "table" and o.tables[live] and not untouched(o, live, depth + 1) then
      return false
    end
  end
  for key in next, table do
    if fields[key] == nil then
      return false
    end
  end
  return true
end

-- Decides the action for a slot: nil, "set" or "remove". `was` is the value of the last load,
-- `live` the current value, and `value` the value of the changed file.
local function decide(plan, o, was, live, value)
  was, value = latest(was), mapped(plan, value)
  if was == nil then
    return value ~= nil and live == nil and "set"
  elseif not same(live, was) then
    return nil -- the game changed it
  elseif value == nil then
    return (type(was) ~= "table" or untouched(o, was, 0)) and "remove"
  end
  return not same(value, was) and "set"
end

local function add_set(plan, kind, holder, key, was, value, action)
  if not action then
    return
  end
  if action == "remove" then
    plan.removed = plan.removed + 1
    value = nil
  elseif was == nil then
    plan.added = plan.added + 1
  elseif type(was) == "function" and type(value) == "function" then
    plan.replaced = plan.replaced + 1
  else
    plan.updated = plan.updated + 1
  end
  plan.sets[#plan.sets + 1] = { kind = kind, holder = holder, key = key, value = value }
end

local function decide_field(plan, o, holder, key, was, value)
  local action = decide(plan, o, was, rawget(holder, key), value)
  add_set(plan, "field", holder, key, was, value, action)
end

-- Returns true if the file could name a key of the last load again. A key that is a function, or a
-- table that nothing else in the file leads to, is created again by every load.
local function is_lasting(plan, o, key)
  if type(key) == "table" then
    return plan.back[key] ~= nil or not o.tables[key]
  end
  return type(key) ~= "function"
end

local function decide_table(plan, at)
  local o, a, old, new = at.o, at.a, at.old.fields, at.new.fields
  for key, value in next, new do
    local live = mapped(plan, key)
    if type(key) ~= "function" then
      decide_field(plan, o, a, live, old[live], value)
    elseif plan.back[key] == nil and old[live] == nil then
      -- A new key. A function that is paired with an old one already has its entry.
      decide_field(plan, o, a, live, nil, value)
    end
  end
  for key, was in next, old do
    if new[key] == nil and new[plan.back[key] or key] == nil and is_lasting(plan, o, key) then
      decide_field(plan, o, a, key, was, nil)
    end
  end
  local action = decide(plan, o, at.old.meta, getmetatable(a), at.new.meta)
  add_set(plan, "meta", a, nil, at.old.meta, at.new.meta, action)
end

local function decide_cell(plan, o, old, new)
  assert(getinfo(old.fn, "S").what ~= "C", "a reload changes only upvalues of files")
  local _, live = getupvalue(old.fn, old.index)
  local action = decide(plan, o, old.value, live, new.value)
  add_set(plan, "upvalue", old.fn, old.index, old.value, new.value, action)
end

-- Decides slots by name in two tables: globals, and each foreign table that a file wrote into.
local function decide_names(plan, o, holder, old, new)
  for key, value in next, new do
    decide_field(plan, o, holder, key, old[key], value)
  end
  for key, was in next, old do
    -- In a foreign table, a value that is still written cannot be distinguished from one that is
    -- not.
    if new[key] == nil and (holder == core.globals or type(was) == "function") then
      decide_field(plan, o, holder, key, was, nil)
    end
  end
end

-- Creates the plan for a list of `{ old = record, new = record }`. `existed` contains objects of
-- the new records that existed before the dry run; `stand_ins` maps the dry run's substitutes to
-- the engine's own objects.
function reload.plan(list, existed, stand_ins)
  local plan = {
    existed = existed, exchange = {}, back = {}, taken = {}, joined = {}, candidates = {},
    order = {}, cells = {}, tables = {}, closures = {}, functions = {}, functions_done = 0,
    keyed = {}, arrays = {}, waiting = {}, first = 1, last = 0, sets = {}, joins = {},
    patches = {}, replaced = 0, added = 0, removed = 0, updated = 0,
  }
  for from, to in next, stand_ins do
    plan.exchange[from] = to
  end
  for i = 1, #list do
    local o, n = list[i].old, list[i].new
    for k = 1, #n.cells do
      local b = n.cells[k]
      local a = b.top and o.top[b.name]
      if a then
        pair_cells(plan, o, n, a, b)
      end
    end
    for name, value in next, n.globals do
      wait_for(plan, o, n, o.globals[name], value)
    end
    wait_for(plan, o, n, o.result, n.result)
  end
  pair_all(plan)
  for i = 1, #list do
    local o, n = list[i].old, list[i].new
    local new = {}
    for table, changed in next, n.patches do
      table = mapped(plan, table)
      new[table] = changed
      for key, value in next, changed do
        wait_for(plan, o, n, o.patches[table] and o.patches[table][key], value)
      end
    end
    plan.patches[i] = new
  end
  pair_all(plan)
  choose(plan)
  for old, new in next, plan.exchange do
    plan.back[new] = old
  end
  for i = 1, #plan.cells do
    local at = plan.cells[i]
    decide_cell(plan, at.o, at.old, at.new)
    local count = #plan.joins
    plan.joins[count + 1] = upvalueid(at.new.fn, at.new.index)
    plan.joins[count + 2], plan.joins[count + 3] = at.old.fn, at.old.index
  end
  for i = 1, #plan.tables do
    decide_table(plan, plan.tables[i])
  end
  reload.decide_arrays(plan)
  for i = 1, #plan.closures do
    local at = plan.closures[i]
    for k = 1, #at.new.cells do
      local x, y = at.old.cells[k], at.new.cells[k]
      if x and not shared(x, y) then
        decide_cell(plan, at.o, x, y)
      end
    end
  end
  for i = 1, #list do
    local o, n = list[i].old, list[i].new
    decide_names(plan, o, core.globals, o.globals, n.globals)
    decide_field(plan, o, core.modules, n.name, o.result, n.result)
    for table, changed in next, plan.patches[i] do
      decide_names(plan, o, table, o.patches[table] or {}, changed)
    end
    for table, changed in next, o.patches do
      if not plan.patches[i][table] then
        decide_names(plan, o, table, changed, {})
      end
    end
  end
  return plan
end
