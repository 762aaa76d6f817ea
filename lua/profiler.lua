-- `Profiler`, its part in Lua: scopes that scripts open and close, and what older games of this
-- family record. What is measured, and the tables of it, are native.
local core = ...

local type, ipairs, format = type, ipairs, string.format
local raise, bad_argument = core.raise, core.bad_argument
local ffi, V3 = core.ffi, core.ctypes.Vector3
local profile_name, profile_open = core.profile_name, core.profile_open

local Profiler, Stats = core.module("Profiler"), core.module("Stats")

local NONE_OPEN, NOT_OPEN = 2, 3 -- what closing a scope can come to (src/foundation/profile)

local begin, finish = core.profile_begin, core.profile_end
if core.options.jit then
  local begin_address, end_address = core.profile_natives()
  begin = ffi.cast("void (*)(uint32_t)", begin_address)
  finish = ffi.cast("uint32_t (*)(uint32_t)", end_address)
end

local numbers = {} -- of scopes, by name

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

---Opens a scope: what follows is counted under its name, until `Profiler.stop`. A scope inside of
---another is a part of it. Where a name holds a number that changes, there are too many names soon:
---use one that does not.
---@param name string 1 to 100 bytes; 4096 names can be known
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

---Closes a scope: the innermost one, or with a name the innermost of that name, with those that are
---still open inside of it.
---@param name? string the scope's, to be sure
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

---Adds to a counter, as `Stats.counter` does: a number, or the parts of a vector under `name/x`,
---`name/y` and `name/z`.
---@param name string the counter's, like a path
---@param value number|Vector3 how much
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

---What the renderer's counters came to in the last frame, by their names without `renderer/`.
---@return table<string, number> values empty where nothing is drawn
function Profiler.render_stats()
  local values = {}
  for _, name in ipairs(Stats.names("renderer/")) do
    values[name:sub(10)] = Stats.value(name)
  end
  return values
end

---Begins to ask the game's scripts where they are, a thousand times a second of their running,
---until `Profiler.stop_sampling`. Workers are not asked. In a release nothing is.
function Profiler.start_sampling()
  local _, problem = core.sampling(true)
  if problem then raise("Profiler.start_sampling: " .. problem) end
end

---Ends the asking. What it gives has `samples` in all, the lists `scripts`, `functions` and
---`lines`, the most first, each with `name`, `samples`, `allocated_bytes` and `engine_calls`
---between two questions, and the report as `text`.
---@return table? samples where scripts were met; nil in a release
function Profiler.stop_sampling()
  local samples, problem = core.sampling(false)
  if problem then raise("Profiler.stop_sampling: " .. problem) end
  return samples
end

---Where scripts were met so far, as `Profiler.stop_sampling` gives it. Differs from run to run.
---@return table? met so far; nil where nobody asks
function Profiler.samples()
  return core.sampled()
end

-- Where nothing is measured, all of it costs nothing.
if not core.profiles() then
  Profiler.start_sampling = function() end
  Profiler.stop_sampling = function() end
  Profiler.start = function() end
  Profiler.stop = function() end
end
