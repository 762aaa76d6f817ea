-- Data breakpoints: a script stops after a value was changed. The data of units is compared after
-- each `Unit.set_data`, and tables that the engine has made inside of it also at the end of each
-- frame, because a script may have them from `Unit.get_data`. What the engine knows of a unit is
-- compared after each function of `Unit`. Fields of tables, globals, upvalues, locals and counters,
-- which scripts write without a call, are compared at each line, with the JIT compiler off, which
-- makes all scripts many times as slow.
local core = ...

core.jit.off(true, true)

local pcall, rawequal, tonumber, match = pcall, rawequal, tonumber, string.match
local format = string.format
local values, breakpoints = core.stack_values, core.breakpoints
local clean, preview = core.value_text.clean, core.value_text.preview

local WATCHES_MAX = 1000 -- values that were asked for in one session
local UNKNOWN = "this value is not known"
local FOREIGN = "this is a value of another script: it can only be set while that one is stopped"
local SLOW = "compared at each line, which makes all scripts slow"
-- When values are compared, as editors show it.
local WHEN = {
  data = "compared after each Unit.set_data",
  nested = "compared after each Unit.set_data, and at the end of each frame",
  Unit = "compared after each function of Unit, and at the end of each frame",
  counter = "compared at each line, which makes all scripts slow, and at the end of each frame",
  line = SLOW,
}

local data = {}
core.data_breakpoints = data

-- Values that can be followed, by number: `read`, `when`, `name`; while followed also `id`,
-- `condition` and `hits`, and the value that was read last, in a table.
local watches = {}
-- The number of the worker that this is, 0 for the game: an editor sends its whole list to each.
local worker = 0
local followed = {}
local is_reading = false

-- Returns the id of a value for `data.set`, and a description; or nil and a message.
function data.info(reference, name)
  local read, when = values.reader(reference, name)
  if not read then return nil, when end
  if #watches >= WATCHES_MAX then
    return nil, "so many values cannot be followed (WATCHES_MAX)"
  end
  watches[#watches + 1] = { read = read, when = when, name = name, wanted = name }
  return {
    data = format("value %d:%d", worker, #watches), text = name .. ": " .. WHEN[when],
    exact = when ~= "line" and when ~= "nested",
  }
end

-- Tells the tool that a value does not exist any more.
local function announce_end(watch)
  core.debug_send("debug_breakpoints_changed", { file = "", breakpoints = {
    { id = watch.id, verified = false, message = "the value does not exist any more" },
  } })
end

-- Returns the values that have changed since the last call; nil if none has. `at_frame` is true at
-- the end of a frame, where values are compared that the engine may have changed.
function data.changed(at_frame)
  -- What reads a value may be a function that is followed.
  if is_reading then return nil end
  is_reading = true
  local found, ended
  for i = 1, #followed do
    local watch = followed[i]
    local value, is_ended, base
    local when = watch.when
    if not at_frame or when == "counter" or when == "Unit" or when == "nested" then
      local ok
      ok, value, is_ended, base = pcall(watch.read)
      if not ok then is_ended = nil end
    end
    if is_ended then
      ended = ended or {}
      ended[watch] = true
    elseif is_ended == false and not watch.last then
      -- It could not be read before.
      watch.last = { value }
    elseif is_ended == false then
      local before = base or watch.last[1]
      if not rawequal(value, before) and (value == value or before == before) then
        found = found or {}
        found[#found + 1] = { watch = watch, text = clean(watch.name .. ": " .. preview(before)
          .. " → " .. preview(value)) }
        watch.last = { value }
      end
    end
  end
  is_reading = false
  if ended then data.drop(ended) end
  return found
end

-- Sets when values are compared.
local function follow()
  local rows, has_slow = {}, false
  for i = 1, #followed do
    local when = followed[i].when
    has_slow = has_slow or when == "line" or when == "counter"
    if when == "data" or when == "nested" then rows["Unit.set_data"] = core.debugger_data end
    if when == "Unit" then rows["Unit.*"] = core.debugger_data end
  end
  core.row_breakpoints.follow(rows)
  breakpoints.set_comparing(has_slow)
end

-- Follows some values no longer: a set of watches.
function data.drop(ended)
  local kept = {}
  for i = 1, #followed do
    local watch = followed[i]
    if ended[watch] then
      announce_end(watch)
    else
      kept[#kept + 1] = watch
    end
  end
  followed = kept
  follow()
end

-- Follows values in place of those before: a list of `{ data, condition, hits }`. Returns a list of
-- `{ id, verified, message }`.
function data.set(list)
  local results, before = {}, {}
  for i = 1, #followed do before[followed[i]] = true end
  followed = {}
  for i = 1, #list do
    local of, number = match(list[i].data, "^value (%d+):(%d+)$")
    local watch = tonumber(of) == worker and watches[tonumber(number)] or nil
    local fault = watch and core.breakpoint_fault(list[i])
    if fault then watch = nil end
    if watch then
      local ok, value, is_ended = pcall(watch.read)
      if ok and is_ended == false then
        watch.last = { value }
      elseif not before[watch] then
        watch.last = nil
      end
      watch.id = breakpoints.new_id()
      watch.condition, watch.hit_condition, watch.hits = list[i].condition, list[i].hits, 0
      followed[#followed + 1] = watch
    end
    results[i] = { id = watch and watch.id or breakpoints.new_id(), verified = watch ~= nil,
      message = fault or not watch and (of and tonumber(of) ~= worker and FOREIGN or UNKNOWN)
        or (watch.when == "line" or watch.when == "counter") and SLOW or nil }
  end
  follow()
  return results
end

-- `number` is that of the worker, or 0.
function data.begin(number)
  worker = number
end

-- Forgets all values.
function data.clear()
  watches, followed = {}, {}
  follow()
end
