-- The Lua part of `Stats`: counters that compiled code increments without a call, and alarms.
-- Histories, names and the push to tools are native.
local core = ...

local type, next, format, tonumber = type, next, string.format, tonumber
local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local ffi, cast = core.ffi, core.ffi.cast
local stat_number, stat_name = core.stat_number, core.stat_name

local Stats = core.module("Stats")

---@module Counter
---A number that is counted per frame, created by `Stats.counter`: `counter.value = counter.value +
---1`.
---@example
---   local enemies = Stats.counter("enemies/alive") ---@type Counter
---   enemies.value = enemies.value + 1
---   assert(enemies.name == "enemies/alive")

---A counter. `value` is stored at the end of each frame and reset to zero at the beginning of the
---next one.
---@class (exact) Counter
---@field value number the count of the current frame so far
---@field name string the name passed to `Stats.counter`

local struct = ffi.typeof("struct { double value; }")
local pointer = ffi.typeof("$ *", struct)
-- Counters of this thread. Their addresses never change while the process runs.
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

-- Type name that reports and messages use for a counter.
core.ctypes.Counter = ffi.typeof("$ &", struct)

-- Indexing the array returns references, each of which can access only its own counter.
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

---Returns a counter, and creates it if it does not exist. Counters are never removed: look one up
---once, and keep it.
---@param name string a path such as `enemies/alive`, of at most 120 bytes; 16383 counters at most
---@return Counter counter counter to increment: `counter.value = counter.value + 1`
---@node hidden
function Stats.counter(name)
  return counters[name] or counter_of("Stats.counter", name)
end

-- Reactions to counters that rise above their limit, by counter name.
local reactions = {}

---Sets an alarm for a counter that rises above a limit. It is triggered once, and again after the
---counter was at or below the limit. The reaction runs at the beginning of the next frame: a
---function is called, and a string is logged as a warning. Without a reaction, a default warning
---is logged.
---@param name string name of the counter, which does not have to exist yet
---@param limit number the largest value in a frame without an alarm
---@param reaction? fun(value: number, limit: number, name: string)|string callback or message
---@node hidden
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

---Removes an alarm.
---@param name string name of the counter
---@return boolean removed true if there was an alarm
---@node hidden
function Stats.remove_alarm(name)
  if type(name) ~= "string" then
    bad_argument("Stats.remove_alarm", 1, "name", "string", name)
  end
  reactions[name] = nil
  return core.remove_alarm(name)
end

-- Runs the reactions of counters that rose above their limits in the last frame.
core.on("frame_update", "alarms", function()
  if next(reactions) == nil then return end
  local alarms = core.take_alarms()
  for i = 1, #alarms do
    local name, value, limit = alarms[i][1], alarms[i][2], alarms[i][3]
    local reaction = reactions[name]
    if type(reaction) == "function" then
      core.with_context("When calling the alarm of:", name, reaction, value, limit, name)
    elseif reaction then
      core.log("warning", format("%s (it is %.14g)", reaction, value))
    end
  end
end)
