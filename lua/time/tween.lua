-- Tweens: interpolation of table fields to target values over time, and the easing curves. Delayed
-- calls are in timer.lua; the engine's frame drives both.
local core = ...

local type, next, pcall, setmetatable, ipairs = type, next, pcall, setmetatable, ipairs
local floor, huge, min, pi = math.floor, math.huge, math.min, math.pi
local cos, sin, sqrt = math.cos, math.sin, math.sqrt
local concat, sort = table.concat, table.sort
local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local no_reload = core.no_reload

local TWEENS_MAX = 100000 -- tweens at one time
-- Sixty steps of 1/60 s add up to slightly less than 1 s; tweens that end within this tolerance end
-- now.
local TOLERANCE_SECONDS = 1e-6
local TIME_SECONDS_MAX = 2 ^ 53 -- end of time: beyond it, single seconds are lost

---@module Tween
---@node hidden
---Moves fields of a table to new values over time: `Tween.to(door, 2, { angle = 90 },
---"quad_out")`. A value is a number, or any type with `-`, `*` by a number and `+`, such as a
---Vector3. Easings are "linear", and quad, cubic, quart, quint, sine, expo, circ, back, bounce and
---elastic, each with _in, _out or _in_out: "bounce_out". A function from 0..1 to a number is also
---an easing. Tweens use the game's time, like `Timer`; they move after the timers and before
---`update`. A tween reads its start values when it begins, after its delay, and ends exactly at
---its target values. If two tweens move the same field of a table, the one that begins later takes
---it over. A tween that has lost all its fields ends, and its `on_done` is not called. At most
---100000 tweens can be active at one time.
---@example
---   local door = { angle = 0 }
---   Tween.to(door, 2, { angle = 90 }, "quad_in_out", function() print("open") end)
---   Tween.advance(1) -- the engine does this each frame
---   assert(door.angle == 45)
---   Tween.to(door, 1, { angle = 0 }, { easing = "back_in", delay = 0.5, times = 2, yoyo = true })

---@class Tween
local Tween = core.module("Tween")

-- Easings: Robert Penner's curves. Each is defined by its _in half; _out mirrors it, and _in_out
-- joins both. `joined` is the _in half of _in_out if it differs.
local function power(exponent)
  return function(t) return t ^ exponent end
end

local function back(overshoot)
  return function(t) return t * t * ((overshoot + 1) * t - overshoot) end
end

local function elastic(period)
  local turn = 2 * pi / period
  return function(t)
    if t == 0 or t == 1 then return t end
    return -2 ^ (10 * t - 10) * sin((t - 1 - period / 4) * turn)
  end
end

local function bounce_out(t)
  if t < 1 / 2.75 then return 7.5625 * t * t end
  if t < 2 / 2.75 then
    t = t - 1.5 / 2.75
    return 7.5625 * t * t + 0.75
  end
  if t < 2.5 / 2.75 then
    t = t - 2.25 / 2.75
    return 7.5625 * t * t + 0.9375
  end
  t = t - 2.625 / 2.75
  return 7.5625 * t * t + 0.984375
end

local CURVES = {
  { name = "quad", curve = power(2) },
  { name = "cubic", curve = power(3) },
  { name = "quart", curve = power(4) },
  { name = "quint", curve = power(5) },
  { name = "sine", curve = function(t) return 1 - cos(t * pi / 2) end },
  { name = "expo", curve = function(t) return t == 0 and 0 or 2 ^ (10 * t - 10) end },
  { name = "circ", curve = function(t) return 1 - sqrt(1 - t * t) end },
  { name = "back", curve = back(1.70158), joined = back(1.70158 * 1.525) },
  { name = "bounce", curve = function(t) return 1 - bounce_out(1 - t) end },
  { name = "elastic", curve = elastic(0.3), joined = elastic(0.45) },
}

local easings, easing_names = { linear = function(t) return t end }, { "linear" }
for _, row in ipairs(CURVES) do
  local curve, joined = row.curve, row.joined or row.curve
  easings[row.name .. "_in"] = curve
  easings[row.name .. "_out"] = function(t) return 1 - curve(1 - t) end
  easings[row.name .. "_in_out"] = function(t)
    if t < 0.5 then return joined(2 * t) / 2 end
    return 1 - joined(2 - 2 * t) / 2
  end
  for _, side in ipairs({ "_in", "_out", "_in_out" }) do
    easing_names[#easing_names + 1] = row.name .. side
  end
end

-- Tweens in the order of creation. Finished tweens stay in the list, marked dead, until the next
-- frame.
local list, list_size = {}, 0
local active, active_count, last_id = {}, 0, 0 -- `active` is by id
-- owners[target][key] is the tween that moves this field. A target is dropped with its last tween.
local owners = setmetatable({}, { __mode = "k" })
local now, now_lost = 0, 0 -- `now_lost` is the rounding error of `now` (Kahan sum)

local function disown(tween, key)
  local keys = owners[tween.target]
  if not keys or keys[key] ~= tween then return end
  keys[key] = nil
  if next(keys) == nil then owners[tween.target] = nil end
end

local function finish(tween)
  tween.dead = true
  active[tween.id] = nil
  active_count = active_count - 1
  for i = 1, #tween.tracks do disown(tween, tween.tracks[i].key) end
end

-- Takes one field away from the tween that has moved it so far.
local function take_over(tween, key)
  local keys = owners[tween.target]
  if not keys then
    keys = {}
    owners[tween.target] = keys
  end
  local before = keys[key]
  keys[key] = tween
  if not before or before == tween then return end
  local tracks, kept = before.tracks, 0
  for i = 1, #tracks do
    if tracks[i].key ~= key then
      kept = kept + 1
      tracks[kept] = tracks[i]
    end
  end
  tracks[kept + 1] = nil
  if kept == 0 then finish(before) end
end

local function key_text(key)
  return type(key) == "string" and "'" .. key .. "'" or "[" .. key .. "]"
end

local function subtract(a, b) return a - b end
local function scale_and_add(start, change, t) return start + change * t end

-- Computes the start value of a field and the difference to the target. Raises if the two values
-- cannot be blended.
local function measure(target, track)
  local start, target_value = target[track.key], track.goal
  local field = "field " .. key_text(track.key)
  if start == nil then
    raise("Tween.to: " .. field .. " of the target is nil: set a start value")
  end
  local numbers = type(start) == "number"
  if numbers ~= (type(target_value) == "number") then
    raise("Tween.to: " .. field .. " is " .. describe(start) .. " and cannot move to "
      .. describe(target_value))
  end
  if numbers then
    if start ~= start or start == huge or start == -huge then
      raise("Tween.to: " .. field .. " starts at " .. start .. ", which is not a finite number")
    end
    return start, target_value - start
  end
  local ok, change = pcall(subtract, target_value, start)
  ok = ok and pcall(scale_and_add, start, change, 0.5)
  if not ok then
    raise("Tween.to: " .. field .. " cannot move from " .. describe(start) .. " to "
      .. describe(target_value) .. ": values need -, * by a number and +")
  end
  return start, change
end

local function begin(tween)
  tween.begun = true
  for i = 1, #tween.tracks do
    local track = tween.tracks[i]
    track.start, track.change = measure(tween.target, track)
  end
  for i = 1, #tween.tracks do take_over(tween, tween.tracks[i].key) end
end

-- Begins a tween after its delay. A field that cannot move is reported only once, not in every
-- frame: the tween is finished before its fields are read.
local function begin_late(tween)
  finish(tween)
  begin(tween)
  tween.dead = false
  active[tween.id] = tween
  active_count = active_count + 1
end

local function apply_values(tween, share)
  local easing = tween.easing
  local amount = easing(share)
  if type(amount) ~= "number" then
    finish(tween)
    raise("Tween.to: the easing function must return a number, got " .. describe(amount))
  end
  local target, tracks = tween.target, tween.tracks
  for i = 1, #tracks do
    local track = tracks[i]
    target[track.key] = track.start + track.change * amount
  end
end

local function move(tween)
  local elapsed = now - tween.begins_at
  if elapsed < -TOLERANCE_SECONDS then return end
  if not tween.begun then begin_late(tween) end
  local seconds, times = tween.seconds, tween.times
  local round = seconds > 0 and floor((elapsed + TOLERANCE_SECONDS) / seconds) or times
  if round >= times then
    local target, at_start = tween.target, tween.yoyo and times % 2 == 0
    for i = 1, #tween.tracks do
      local track = tween.tracks[i]
      if at_start then target[track.key] = track.start else target[track.key] = track.goal end
    end
    finish(tween)
    if tween.on_done then tween.on_done(target) end
    return
  end
  local share = min(elapsed / seconds - round, 1)
  if share < 0 then share = 0 end
  if tween.yoyo and round % 2 == 1 then share = 1 - share end
  apply_values(tween, share)
end

-- Advances all tweens. An error in an easing or in `on_done` interrupts this loop. Time is counted
-- from each tween's start, so the other tweens have correct values in the next frame.
local function advance(seconds)
  local step = seconds - now_lost
  local sum = min(now + step, TIME_SECONDS_MAX)
  now_lost = sum < TIME_SECONDS_MAX and (sum - now) - step or 0
  now = sum
  local kept = 0
  for i = 1, list_size do
    local tween = list[i]
    if not tween.dead then
      kept = kept + 1
      list[kept] = tween
    end
  end
  for i = kept + 1, list_size do list[i] = nil end
  list_size = kept
  for i = 1, kept do
    local tween = list[i]
    -- A callback that advances time may have shortened the list.
    if tween and not tween.dead then move(tween) end
  end
end

local function is_between(value, smallest)
  -- NaN fails the comparison.
  return type(value) == "number" and value >= smallest
end

local function find_easing(name, value)
  if type(value) == "function" then return value end
  local found = easings[value]
  if found then return found end
  if type(value) ~= "string" then
    raise(name .. ": 'easing' must be the name of an easing or a function, got " .. describe(value))
  end
  local near = core.suggest(value, easing_names)
  local hint = near and ", did you mean '" .. near .. "'?"
  raise(name .. ": unknown easing '" .. value .. "'"
    .. (hint or "; there are " .. concat(easing_names, ", ")))
end

local OPTIONS = { easing = true, delay = true, times = true, yoyo = true, on_done = true }

local function check_values(options)
  core.check_options("Tween.to", 4, "easing", options, OPTIONS)
  local delay, times, yoyo = options.delay, options.times, options.yoyo
  if delay ~= nil and not (is_between(delay, 0) and delay < huge) then
    raise("Tween.to: option 'delay' must be a number of seconds, 0 or above, got "
      .. describe(delay))
  end
  if times ~= nil and not (is_between(times, 1) and (times == huge or times == floor(times))) then
    raise("Tween.to: option 'times' must be a whole number above 0, or math.huge for endless, got "
      .. describe(times))
  end
  if yoyo ~= nil and type(yoyo) ~= "boolean" then
    raise("Tween.to: option 'yoyo' must be a boolean, got " .. describe(yoyo))
  end
end

-- Sorts fields in a fixed order, so that targets that observe their fields see the same order in
-- each run.
local function key_before(a, b)
  if type(a) ~= type(b) then return type(a) == "number" end
  return a < b
end

local function make_tracks(target, values)
  local keys, tracks = {}, {}
  for key, value in next, values do
    if type(key) ~= "string" and type(key) ~= "number" then
      raise("Tween.to: a field's name must be a string or a number, got " .. describe(key))
    end
    if type(value) == "number" and (value ~= value or value == huge or value == -huge) then
      raise("Tween.to: field " .. key_text(key) .. " cannot move to " .. value)
    end
    keys[#keys + 1] = key
  end
  if #keys == 0 then raise("Tween.to: argument #3 'values' names no field to move") end
  sort(keys, key_before)
  for i, key in ipairs(keys) do
    tracks[i] = { key = key, goal = values[key] }
    measure(target, tracks[i])
  end
  return tracks
end

---Moves fields of a table to new values over some seconds. Values are checked now, and read again
---when the tween begins. `on_done` is called with the table when the tween has ended. Options:
---`easing`; `delay` in seconds; `times`, the number of runs, `math.huge` for endless; `yoyo =
---true`, every second run goes back, so that an even number of runs ends at the start; `on_done`.
---@param target table whose fields move
---@param seconds number duration of one run; 0 sets the values in the next frame
---@param values table the fields and their target values
---@param easing? string|function|table an easing's name, a function from 0..1, or options
---@param on_done? function called with the table at the end
---@return integer the id for `Tween.cancel` and `Tween.is_active`; ids are never reused
function Tween.to(target, seconds, values, easing, on_done)
  no_reload("Tween.to")
  if type(target) ~= "table" then bad_argument("Tween.to", 1, "target", "a table", target) end
  if not (is_between(seconds, 0) and seconds < huge) then
    bad_argument("Tween.to", 2, "seconds", "a number of seconds, 0 or above", seconds)
  end
  if type(values) ~= "table" then
    bad_argument("Tween.to", 3, "values", "a table of fields and where they go", values)
  end
  local options = type(easing) == "table" and easing or { easing = easing }
  check_values(options)
  local curve = options.easing == nil and easings.linear or find_easing("Tween.to", options.easing)
  if on_done ~= nil and options.on_done ~= nil then
    raise("Tween.to: 'on_done' is given as an option and as argument #5; keep one")
  end
  if on_done == nil then on_done = options.on_done end
  if on_done ~= nil and type(on_done) ~= "function" then
    bad_argument("Tween.to", 5, "on_done", "a function", on_done)
  end
  local times = options.times or 1
  if seconds == 0 and times == huge then
    raise("Tween.to: an endless tween needs more than 0 seconds for a run")
  end
  if active_count >= TWEENS_MAX then
    raise("Tween.to: " .. TWEENS_MAX .. " tweens are moving and no more are allowed;"
      .. " is one made in every frame?")
  end
  local tracks = make_tracks(target, values)
  last_id = last_id + 1
  local tween = { id = last_id, target = target, seconds = seconds, tracks = tracks }
  tween.easing, tween.on_done = curve, on_done
  tween.times, tween.yoyo = times, options.yoyo
  tween.begins_at = now + (options.delay or 0)
  if not options.delay or options.delay == 0 then begin(tween) end
  list_size = list_size + 1
  list[list_size] = tween
  active[last_id] = tween
  active_count = active_count + 1
  return last_id
end

local function check_id(name, id)
  if type(id) ~= "number" then
    bad_argument(name, 1, "id", "a number that Tween.to returned", id)
  end
end

---Stops a tween at its current values. `on_done` is not called.
---@param id integer id returned by `Tween.to`
---@return boolean false if it was already over
function Tween.cancel(id)
  no_reload("Tween.cancel")
  check_id("Tween.cancel", id)
  local tween = active[id]
  if not tween then return false end
  finish(tween)
  return true
end

---Stops all tweens at their current values.
function Tween.cancel_all()
  no_reload("Tween.cancel_all")
  for i = 1, list_size do
    if not list[i].dead then finish(list[i]) end
  end
end

---Returns true while a tween moves or waits for its delay.
---@param id integer id returned by `Tween.to`
---@return boolean false if it is over
function Tween.is_active(id)
  check_id("Tween.is_active", id)
  return active[id] ~= nil
end

---Returns the number of tweens that move or wait for their delay.
---@return integer from 0 to 100000
function Tween.count()
  return active_count
end

---Returns the value of an easing curve at a fraction of its duration, for motion that you compute
---yourself.
---@param easing string|function an easing's name, or a function, which is called
---@param share number fraction from 0, the start, to 1, the end
---@return number 0 at the start and 1 at the end; back and elastic overshoot between
function Tween.ease(easing, share)
  local curve = find_easing("Tween.ease", easing)
  if not (is_between(share, 0) and share <= 1) then
    bad_argument("Tween.ease", 2, "share", "a number from 0 to 1", share)
  end
  return curve(share)
end

---Returns the names of all easings.
---@return table a new array of strings
function Tween.easings()
  local names = {}
  for i, name in ipairs(easing_names) do names[i] = name end
  return names
end

---Advances the time of all tweens. The engine does this in each frame; call it yourself in tests,
---or to skip ahead.
---@param seconds number time step, 0 or more
function Tween.advance(seconds)
  no_reload("Tween.advance")
  if not (is_between(seconds, 0) and seconds < huge) then
    bad_argument("Tween.advance", 1, "seconds", "a number of seconds, 0 or above", seconds)
  end
  advance(seconds)
end

-- The engine calls this once per frame, after the timers and before the game's update.
core.on("frame_update", "tweens", advance)
