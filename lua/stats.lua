-- `Stats`, its part in Lua: counters that compiled code adds to without a call, and alarms.
-- Histories, names and what is pushed are native.
local core = ...

local type, next, format, tonumber = type, next, string.format, tonumber
local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local ffi, cast = core.ffi, core.ffi.cast
local stat_number, stat_name = core.stat_number, core.stat_name

local Stats = core.module("Stats")

---@module Counter
---A number that is counted in a frame, by `Stats.counter`: `counter.value = counter.value + 1`.
---@example
---   local enemies = Stats.counter("enemies/alive") ---@type Counter
---   enemies.value = enemies.value + 1
---   assert(enemies.name == "enemies/alive")

---A counter. What is in `value` at a frame's end is the frame's, and it is zero when the next one
---begins.
---@class (exact) Counter
---@field value number what was counted in this frame so far
---@field name string as it was given to `Stats.counter`

local struct = ffi.typeof("struct { double value; }")
local pointer = ffi.typeof("$ *", struct)
-- Counters of this thread; they stay where they are for as long as the process lives.
local all = cast(pointer, (core.stat_base()))

local function name_of(counter)
  return stat_name(tonumber(cast(pointer, counter) - all))
end

ffi.metatype(struct, {
  __index = function(counter, key)
    if key == "name" then return name_of(counter) end
    raise(format("a counter has no field %s: it has 'value' and 'name'", describe(key)))
  end,
  __newindex = function(_, key)
    raise(format("a counter has no field %s that can be set: it has 'value'", describe(key)))
  end,
  __tostring = function(counter)
    return "counter " .. name_of(counter)
  end,
})

-- Reports and messages call one by its name.
core.ctypes.Counter = ffi.typeof("$ &", struct)

-- Indexing gives references, which lead to one counter and to nothing beside it.
local counters = {}

local function counter_of(name, counter)
  if type(counter) ~= "string" then
    bad_argument(name, 1, "name", "string", counter)
  end
  local number, problem = stat_number(counter)
  if not number then
    raise(name .. ": " .. problem)
  end
  counters[counter] = all[number]
  return counters[counter]
end

---A counter, which is made where there is none of that name. Counters stay for good: ask for one
---once, and keep it.
---@param name string a path such as `enemies/alive`, of at most 120 bytes; 16383 can be there
---@return Counter counter to be added to: `counter.value = counter.value + 1`
function Stats.counter(name)
  return counters[name] or counter_of("Stats.counter", name)
end

-- What happens when a counter rises above its limit, by its name.
local reactions = {}

---Has something happen when a counter rises above a limit: once, and again after it was not above
---it. It is told at the beginning of the next frame: a function is called, and words are logged as
---a warning, the usual ones if there are none.
---@param name string the counter's, which need not be there yet
---@param limit number what it may come to in a frame
---@param reaction? fun(value: number, limit: number, name: string)|string what then
function Stats.alarm(name, limit, reaction)
  core.no_reload("Stats.alarm")
  if type(name) ~= "string" then
    bad_argument("Stats.alarm", 1, "name", "string", name)
  elseif type(limit) ~= "number" or limit ~= limit then
    bad_argument("Stats.alarm", 2, "limit", "number", limit)
  elseif reaction ~= nil and type(reaction) ~= "function" and type(reaction) ~= "string" then
    bad_argument("Stats.alarm", 3, "reaction", "function, string or nil", reaction)
  end
  local set, problem = core.set_alarm(name, limit)
  if not set then
    raise("Stats.alarm: " .. problem)
  end
  reactions[name] = reaction or format("%s rose above %.14g", name, limit)
end

---Ends an alarm.
---@param name string the counter's
---@return boolean removed whether there was one
function Stats.remove_alarm(name)
  if type(name) ~= "string" then
    bad_argument("Stats.remove_alarm", 1, "name", "string", name)
  end
  reactions[name] = nil
  return core.remove_alarm(name)
end

-- Tells what rose above its limit in the last frame.
function core.tell_alarms()
  if next(reactions) == nil then return end
  local alarms = core.take_alarms()
  for i = 1, #alarms do
    local name, value, limit = alarms[i][1], alarms[i][2], alarms[i][3]
    local reaction = reactions[name]
    if type(reaction) == "function" then
      core.with_context("When telling the alarm of:", name, reaction, value, limit, name)
    elseif reaction then
      core.log("warning", format("%s (it is %.14g)", reaction, value))
    end
  end
end
