-- What the debugger shows inside of a handle: the fields of a unit, and what the engine does.
local core = ...

core.jit.off(true, true)

local type, next, pcall, rawget, sub = type, next, pcall, rawget, string.sub
local setmetatable = setmetatable
local is_stored = core.user_data.is_stored
local Unit, Application = core.module("Unit"), core.module("Application")
local Script, Stats = core.module("Script"), core.module("Stats")

-- Tables of counters that were shown.
local counter_tables = setmetatable({}, { __mode = "k" })

local DATA_FIELDS_MAX = 1000000 -- fields of all units' data that are searched for a table

local handles = {}
core.handle_values = handles

-- Returns the handle of a unit that exists, or nil.
local function unit_of(value)
  if type(value) ~= "number" then return nil end
  local text = core.described_handle(value)
  return text and sub(text, 1, 5) == "unit " and Unit.alive(value) and value or nil
end

-- Returns true if a value is a handle with something inside.
function handles.is_expandable(value)
  return unit_of(value) ~= nil
end

-- Returns the fields of a handle as a table, or nil. `data` is the live table of the unit's data.
function handles.fields(value)
  local unit = unit_of(value)
  if not unit then return nil end
  local fields = Unit.inspect_table(unit)
  fields.unit = nil
  fields.data = core.unit_data[unit] or {}
  fields.position = Unit.world_position(unit, 1)
  return fields
end

-- Returns true if a table is inside of the data of a unit, and the engine has made it and those
-- around it: from the unit's resource and its components, or for the keys of `Unit.set_data`. A
-- table that a script has stored there may be anywhere else, too, such as the state of the game.
local function is_made_for_data(tree)
  local open, known, count = {}, {}, 0
  for _, data in next, core.unit_data do
    open[#open + 1], known[data] = data, true
  end
  while #open > 0 do
    local current = open[#open]
    open[#open] = nil
    for _, value in next, current do
      count = count + 1
      if count > DATA_FIELDS_MAX then return false end
      if type(value) == "table" and not known[value] and not is_stored[value] then
        if value == tree then return true end
        known[value] = true
        open[#open + 1] = value
      end
    end
  end
  return false
end

-- Returns a function that reads a counter, and the value to compare with. Each frame begins with 0,
-- which is no change. What was counted after the last comparison of a frame is in its total.
local function counter_reader(name)
  local counter, frames, last = Stats.counter(name), core.stat_frames(), nil
  return function()
    local before, now = last or counter.value, core.stat_frames()
    if now ~= frames then
      frames, last = now, 0
      local total = Stats.value(name)
      if total ~= before then return total, false, before end
      before = 0
    end
    last = counter.value
    return last, false, before
  end
end

-- Returns a function that reads a field of the data of a unit, or a counter, and when it has to be
-- compared; nil if the table is neither. The function is as in stack_values.lua.
function handles.field_reader(tree, key)
  if counter_tables[tree] then
    return counter_reader(key), "counter"
  end
  local function read() return rawget(tree, key), false end
  for _, data in next, core.unit_data do
    if data == tree then return read, "data" end
  end
  if is_made_for_data(tree) then return read, "nested" end
end

-- Returns a function that reads what the engine knows of a unit: its position, a component.
function handles.reader(value, name)
  local unit = unit_of(value)
  local fields = unit and handles.fields(unit)
  if not fields or fields[name] == nil then return nil, "there is no field " .. name end
  local preview = core.value_text.preview
  return function()
    if not unit_of(unit) then return nil, true end
    -- Most values are tables and vectors, new ones each time.
    return preview(handles.fields(unit)[name]), false
  end, "Unit"
end

-- Returns the counters of the last frame.
local function counter_values()
  local list, names = {}, Stats.names()
  for i = 1, #names do list[names[i]] = Stats.value(names[i]) end
  counter_tables[list] = true
  return list
end

-- Returns what the engine knows about a stopped function: the unit that its variables name first,
-- the worlds, and the contexts. `variables` is a list of values.
function handles.engine_scope(variables)
  local scope = {}
  for i = 1, #variables do
    local value = variables[i]
    local inner = type(value) == "table" and rawget(core.protected[value] or value, "unit")
    scope.unit = scope.unit or unit_of(value) or inner and unit_of(inner)
  end
  if core.has_main_world() then scope.main_world = Application.main_world() end
  scope.world = scope.unit and Unit.world(scope.unit) or nil
  scope.contexts = Script.contexts()
  scope.counters = counter_values()
  local ok, time = pcall(Application.time_since_launch)
  scope.time_since_launch = ok and time or nil
  return scope
end
