-- The Lua part of `Profiler`: scopes that scripts open and close, and statistics functions of older
-- games of the Bitsquid family. Measurements and their tables are native.
local core = ...

local type, ipairs, format = type, ipairs, string.format
local raise, bad_argument = core.raise, core.bad_argument
local ffi, V3 = core.ffi, core.ctypes.Vector3
local profile_name, profile_open = core.profile_name, core.profile_open

local Profiler, Stats = core.module("Profiler"), core.module("Stats")

local NONE_OPEN, NOT_OPEN = 2, 3 -- results of closing a scope (src/foundation/profile)

local begin, finish = core.profile_begin, core.profile_end
if core.options.jit then
  local begin_address, end_address = core.profile_natives()
  begin = ffi.cast("void (*)(uint32_t)", begin_address)
  finish = ffi.cast("uint32_t (*)(uint32_t)", end_address)
end

local numbers = {} -- numbers of scopes, by name

local function number_of(name, scope)
  if type(scope) ~= "string" then
    bad_argument(name, 1, "name", "string", scope)
  end
  local number, problem = profile_name(scope)
  if not number then
    raise(format("%s: argument #1 'name' %s", name, problem))
  end
  numbers[scope] = number
  return number
end

---Opens a scope: the code up to `Profiler.stop` is measured under its name. Scopes can be nested.
---Use a constant name: names that contain changing numbers soon exceed the limit.
---@param name string 1 to 100 bytes; at most 4096 different names
---@node hidden
function Profiler.start(name)
  begin(numbers[name] or number_of("Profiler.start", name))
end

local function complain(problem, name)
  if problem == NONE_OPEN then
    raise("Profiler.stop: no scope is open here: each stop ends what a start began, in the same "
      .. "frame and the same callback")
  elseif problem == NOT_OPEN then
    raise(format("Profiler.stop: the scope '%s' is not open; the innermost one is '%s'", name,
      profile_open()))
  end
  core.warn(format("Profiler.stop: the scope '%s' was stopped while others inside of it were open: "
    .. "is a Profiler.stop missing?", name))
end

---Closes the innermost scope. With a name, closes the innermost scope of that name, and the scopes
---that are still open inside it.
---@param name? string name of the scope, as a check
---@node hidden
function Profiler.stop(name)
  local number = 0
  if name ~= nil then
    number = numbers[name] or number_of("Profiler.stop", name)
  end
  local problem = finish(number)
  if problem ~= 0 then
    complain(problem, name)
  end
end

---Adds to a counter, like `Stats.counter`: a number, or the components of a vector under `name/x`,
---`name/y` and `name/z`.
---@param name string name of the counter, as a path
---@param value number|Vector3 amount to add
---@node hidden
function Profiler.record_statistics(name, value)
  if type(name) ~= "string" then
    bad_argument("Profiler.record_statistics", 1, "name", "string", name)
  elseif type(value) == "number" then
    local counter = Stats.counter(name)
    counter.value = counter.value + value
  elseif ffi.istype(V3, value) then
    for _, axis in ipairs({ "x", "y", "z" }) do
      local counter = Stats.counter(name .. "/" .. axis)
      counter.value = counter.value + value[axis]
    end
  else
    bad_argument("Profiler.record_statistics", 2, "value", "number or Vector3", value)
  end
end

---Returns the renderer's counters for the last frame, by their names without `renderer/`.
---@return table<string, number> values empty if nothing is drawn
---@node hidden
function Profiler.render_stats()
  local values = {}
  for _, name in ipairs(Stats.names("renderer/")) do
    values[name:sub(10)] = Stats.value(name)
  end
  return values
end

---Starts the sampling profiler, which records the location of the running script 1000 times per
---second of script time, until `Profiler.stop_sampling`. Workers are not sampled. Does nothing in
---a release.
---@node hidden
function Profiler.start_sampling()
  local _, problem = core.sampling(true)
  if problem then raise("Profiler.start_sampling: " .. problem) end
end

---Stops the sampling profiler. The result has the total `samples`, the lists `scripts`,
---`functions` and `lines`, largest first, each with `name`, `samples`, `allocated_bytes` and
---`engine_calls` between two samples, and the report as `text`.
---@return table? samples locations of the scripts; nil in a release
---@node hidden
function Profiler.stop_sampling()
  local samples, problem = core.sampling(false)
  if problem then raise("Profiler.stop_sampling: " .. problem) end
  return samples
end

---Returns the samples so far, in the form of `Profiler.stop_sampling`. They differ from run to
---run.
---@return table? samples so far; nil if sampling is off
---@node hidden
function Profiler.samples()
  return core.sampled()
end

-- If profiling is off, these functions must cost nothing.
if not core.profiles() then
  Profiler.start_sampling = function() end
  Profiler.stop_sampling = function() end
  Profiler.start = function() end
  Profiler.stop = function() end
end
