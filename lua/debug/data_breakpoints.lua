-- Data breakpoints: a script stops after a value was changed. The data of units is compared after
-- each `Unit.set_data`. Fields of tables, globals and upvalues are compared at each line, with the
-- JIT compiler off, which makes all scripts many times as slow.
local core = ...

core.jit.off(true, true)

local rawequal, tonumber, match = rawequal, tonumber, string.match
local values, breakpoints = core.stack_values, core.breakpoints
local clean, preview = core.value_text.clean, core.value_text.preview

local WATCHES_MAX = 1000 -- values that were asked for in one session
local SLOW = "compared at each line, which makes all scripts slow"

local data = {}
core.data_breakpoints = data

-- Values that can be followed, by number: `read`, `is_exact`, `name`; while followed also `last`,
-- `id`, `condition` and `hits`.
local watches = {}
local followed = {}

-- Returns the id of a value for `data.set`, and a description; or nil and a message.
function data.info(reference, name)
  local read, is_exact = values.reader(reference, name)
  if not read then return nil, is_exact end
  if #watches >= WATCHES_MAX then
    return nil, "so many values cannot be followed (WATCHES_MAX)"
  end
  watches[#watches + 1] = { read = read, is_exact = is_exact, name = name, wanted = name }
  return { data = "value " .. #watches, text = is_exact and name or name .. ": " .. SLOW,
    exact = is_exact }
end

-- Returns the names of the values that have changed since the last call, with their values; nil if
-- none has.
function data.changed()
  local found
  for i = 1, #followed do
    local watch = followed[i]
    local value = watch.read()
    if not rawequal(value, watch.last) and (value == value or watch.last == watch.last) then
      found = found or {}
      found[#found + 1] = { watch = watch, text = clean(watch.name .. ": " .. preview(watch.last)
        .. " → " .. preview(value)) }
      watch.last = value
    end
  end
  return found
end

-- Follows values in place of those before: a list of `{ data, condition, hits }`. Returns a list of
-- `{ id, verified, message }`. `compare` is called after `Unit.set_data`.
function data.set(list, compare)
  local has_exact, has_slow, results = false, false, {}
  followed = {}
  for i = 1, #list do
    local watch = watches[tonumber(match(list[i].data, "^value (%d+)$"))]
    if watch then
      watch.last, watch.id = watch.read(), breakpoints.new_id()
      watch.condition, watch.hit_condition, watch.hits = list[i].condition, list[i].hits, 0
      has_exact, has_slow = has_exact or watch.is_exact, has_slow or not watch.is_exact
      followed[#followed + 1] = watch
    end
    results[i] = { id = watch and watch.id or breakpoints.new_id(), verified = watch ~= nil,
      message = not watch and "this value is not known" or not watch.is_exact and SLOW or nil }
  end
  core.row_breakpoints.follow("Unit.set_data", has_exact and compare or nil)
  breakpoints.set_comparing(has_slow)
  return results
end

-- Forgets all values.
function data.clear()
  watches, followed = {}, {}
  core.row_breakpoints.follow("Unit.set_data", nil)
  breakpoints.set_comparing(false)
end
