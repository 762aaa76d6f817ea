-- The rates of script components: `rate = 10` in a component's module updates each of its units ten
-- times per second of the world, not in every update. The units of a world are divided into groups,
-- whose updates are spread evenly over that time.
local core = ...

local type = type
local format = string.format
local raise = core.raise

-- Number of groups, which is the maximum number of frames over which units are spread.
local GROUPS = 16
local RATE_MAX = 1000 -- updates per second

-- Groups of a component's units in a world: { elapsed = { seconds since the update of each },
-- waiting = { seconds since it was due }, of = { by unit: its group }, again = { by unit that has
-- the component several times: how often, beyond the first }, lists = { units of each }, left =
-- { by group: the units that were destroyed and are still in its list, each with how often },
-- known = number of the component's units that have a group, last = the group that got the last
-- unit }.
local function groups_of(kind, world, period, delta)
  local groups = kind.rates[world]
  if groups then return groups end
  groups = {
    elapsed = {}, waiting = {}, of = {}, again = {}, lists = {}, left = {}, known = 0, last = 0,
  }
  for i = 1, GROUPS do
    -- The first group is due at once, in an update of `delta` seconds.
    groups.lists[i] = {}
    groups.elapsed[i], groups.waiting[i] = 0, period * (1 - (i - 1) / GROUPS) - delta
  end
  kind.rates[world] = groups
  return groups
end

-- Advances the time of a component's groups in a world. Returns the groups that are due, each as {
-- group =, elapsed = }; true if the component has no rate, so that all units are due; or nil.
function core.due_rate_groups(kind, world, delta)
  local rate = kind.module.rate
  if rate == nil then return true end
  if type(rate) ~= "number" or not (rate > 0 and rate <= RATE_MAX) then
    raise(format("components/%s.lua: 'rate' must be updates per second, above 0 and at most %d "
      .. "(RATE_MAX), got %s", kind.name, RATE_MAX, core.describe(rate)))
  end
  local period, due = 1 / rate, nil
  local groups = groups_of(kind, world, period, delta)
  for i = 1, GROUPS do
    local waiting, elapsed = groups.waiting[i] + delta, groups.elapsed[i] + delta
    if waiting >= period then
      due = due or {}
      due[#due + 1] = { group = i, elapsed = elapsed }
      waiting, elapsed = waiting % period, 0
    end
    groups.waiting[i], groups.elapsed[i] = waiting, elapsed
  end
  return due
end

-- Adds a unit to the list of its group, which may be new.
local function add(groups, unit)
  local number = groups.of[unit]
  if number then
    groups.again[unit] = (groups.again[unit] or 0) + 1
  else
    number = groups.last % GROUPS + 1
    groups.of[unit], groups.last = number, number
  end
  local list = groups.lists[number]
  list[#list + 1] = unit
end

-- Removes units from a list. A unit that was destroyed and spawned again is in the list twice: its
-- first entries are removed.
local function remove(list, left)
  local count, kept = #list, 0
  for i = 1, count do
    local unit = list[i]
    local times = left[unit]
    if times and times > 0 then
      left[unit] = times - 1
    else
      kept = kept + 1
      list[kept] = unit
    end
  end
  for i = count, kept + 1, -1 do list[i] = nil end
end

-- Returns the units of a group, in the order of the component's list in that world. The list has no
-- destroyed units, and new ones are at its end.
function core.rate_group(kind, world, group)
  local groups, units = kind.rates[world], kind.units[world]
  for i = groups.known + 1, #units do add(groups, units[i]) end
  groups.known = #units
  local list, left = groups.lists[group], groups.left[group]
  if left then
    remove(list, left)
    groups.left[group] = nil
  end
  return list
end

-- Forgets the group of a unit that was destroyed.
function core.leave_rate_group(kind, world, unit)
  local groups = kind.rates[world]
  local number = groups and groups.of[unit]
  if not number then return end
  local times = 1 + (groups.again[unit] or 0)
  groups.of[unit], groups.again[unit] = nil, nil
  groups.known = groups.known - times
  local left = groups.left[number]
  if not left then
    left = {}
    groups.left[number] = left
  end
  left[unit] = (left[unit] or 0) + times
end
