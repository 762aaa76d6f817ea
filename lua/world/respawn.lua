-- Respawn of units whose resource was saved while the game runs (settings.sjson: reload.respawn).
-- A unit keeps its handle, pose, links and the data that the game changed. Its nodes and native
-- components are replaced by native code (src/engine/respawn.rs), its script components here.
local core = ...

local type, next, ipairs, pcall = type, next, ipairs, pcall
local format, concat = string.format, table.concat

local Unit, Application = core.module("Unit"), core.module("Application")

local data, copy, merge = core.unit_data, core.copy, core.user_data.merge
local unit_end = core.event("unit_end")

-- Returns the data with which a unit of a resource starts. `resource` is { parts, data }, as the
-- native functions return it.
local function initial_data(resource)
  local initial = copy(resource[2])
  for _, part in ipairs(resource[1]) do
    local name, fields = part[1], copy(part[3])
    fields.component = nil
    if type(initial[name]) == "table" then merge(fields, initial[name]) end
    initial[name] = fields
  end
  return initial
end

local function is_list(value)
  return value[1] ~= nil
end

-- Returns true if a value equals a value of a resource, which is plain data without cycles.
local function equals(value, initial)
  if type(value) ~= "table" or type(initial) ~= "table" then return value == initial end
  for key, item in next, initial do
    if not equals(value[key], item) then return false end
  end
  for key in next, value do
    if initial[key] == nil then return false end
  end
  return true
end

-- Returns the values of a unit's data that differ from the initial ones.
local function changed_data(current, initial)
  local changed = {}
  for key, value in next, current do
    local was = initial[key]
    if type(value) == "table" and type(was) == "table" and not is_list(was) and not is_list(value)
    then
      local inner = changed_data(value, was)
      if next(inner) ~= nil then changed[key] = inner end
    elseif not equals(value, was) then
      changed[key] = value
    end
  end
  return changed
end

-- Returns the problem of a unit resource that cannot be spawned, or nil.
local function problem_of(name)
  local ok, read = pcall(core.unit_resource, name)
  if not ok then return read end
  for _, part in ipairs(read[1]) do
    local module
    ok, module = pcall(core.require, "components." .. part[2])
    if not ok then return module end
  end
end

-- Returns the units of a world that were spawned from one of the resources, in the order of their
-- slots, and counts them by the saved resource.
local function affected(world, names, counts)
  local units = {}
  for _, unit in ipairs(core.units(world)) do
    for _, name in ipairs(names) do
      if Unit.is_a(unit, name) then
        units[#units + 1] = unit
        counts[name] = (counts[name] or 0) + 1
        break
      end
    end
  end
  return units
end

-- Respawns one unit. Returns the data that it keeps; nil if the unit does not exist any more.
local function respawn(world, unit)
  local kept = changed_data(data[unit] or {}, initial_data(core.spawned_resource(unit)))
  unit_end(world, unit)
  -- A component that was notified may have destroyed the unit.
  if not Unit.alive(unit) then return nil end
  local name = Unit.debug_name(unit)
  local ok, problem = pcall(core.respawn_unit, unit)
  if ok then return kept end
  core.abandon_unit(world, unit)
  core.log("error", format("a unit \"%s\" could not be respawned, and was destroyed: %s", name,
    problem))
end

-- Respawns the units of saved resources, and of those that inherit from them.
function core.respawn_units(names)
  local counts, problems = {}, {}
  for _, world in ipairs(Application.worlds()) do
    local units, overrides = {}, {}
    for _, unit in ipairs(affected(world, names, counts)) do
      local name = Unit.alive(unit) and Unit.debug_name(unit)
      if name and problems[name] == nil then problems[name] = problem_of(name) or false end
      local kept = name and not problems[name] and respawn(world, unit)
      if kept then units[#units + 1], overrides[#units + 1] = unit, kept end
    end
    core.finish_units(world, units, overrides)
  end
  local refused = {}
  for _, name in ipairs(core.names(problems)) do
    if problems[name] then refused[#refused + 1] = name .. ".unit: " .. problems[name] end
  end
  if #refused > 0 then
    core.log("error", concat(refused, "\n") .. "\nThe units that are spawned stay as they were.")
  end
  for _, name in ipairs(names) do
    local count = counts[name] or 0
    if count > 0 and #refused == 0 then
      core.log("info", format("reloaded %s.unit: %d unit%s respawned, with the same handle%s, "
        .. "pose, links and changed data; nodes and components are new", name, count,
        count == 1 and " was" or "s were", count == 1 and "" or "s"))
    end
  end
end
