-- Respawn of units whose resource was saved while the game runs (settings.sjson: reload.respawn).
-- A unit keeps its handle, pose, links and the data that the game changed. Its nodes and native
-- components are replaced by native code (src/engine/respawn.rs), its script components here.
local core = ...

local type, next, ipairs, pcall, error, rawget = type, next, ipairs, pcall, error, rawget
local format, concat = string.format, table.concat

local Unit, Application = core.module("Unit"), core.module("Application")

local data, copy, merge = core.unit_data, core.copy, core.user_data.merge
local unit_end, unit_abandoned = core.event("unit_end"), core.event("unit_abandoned")

-- Units whose respawn has begun and is not complete, of one world and in order: { world =, unit =,
-- resource =, kept =, removed =, is_notified =, is_ended =, is_replaced = }. If a time limit stops
-- a respawn, the next frame completes them.
local begun = {}

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
  return rawget(value, 1) ~= nil
end

-- Returns true if a value equals a value of a resource, which is plain data without cycles.
local function equals(value, initial)
  if type(value) ~= "table" or type(initial) ~= "table" then return value == initial end
  for key, item in next, initial do
    if not equals(rawget(value, key), item) then return false end
  end
  for key in next, value do
    if initial[key] == nil then return false end
  end
  return true
end

-- Returns the values of a unit's data that differ from the initial ones, and the keys that the game
-- removed: `true` for each, or a table of keys in the table under it.
local function changed_data(current, initial)
  local changed, removed = {}, {}
  for key, value in next, current do
    local was = initial[key]
    if type(value) == "table" and type(was) == "table" and not is_list(was) and not is_list(value)
    then
      local inner, inner_removed = changed_data(value, was)
      if next(inner) ~= nil then changed[key] = inner end
      if next(inner_removed) ~= nil then removed[key] = inner_removed end
    elseif not equals(value, was) then
      changed[key] = value
    end
  end
  for key in next, initial do
    if rawget(current, key) == nil then removed[key] = true end
  end
  return changed, removed
end

-- Returns the text of an error that a game's file raised, which can be any value.
local function text_of(problem)
  if type(problem) == "string" then return problem end
  return format("a component raised %s, not a message", core.describe(problem))
end

-- Returns the problem of a unit resource that cannot be spawned, or nil.
local function problem_of(name)
  local ok, read = pcall(core.unit_resource, name)
  if not ok then return text_of(read) end
  for _, part in ipairs(read[1]) do
    local module
    ok, module = pcall(core.require, "components." .. part[2])
    if not ok then return text_of(module) end
  end
end

-- Returns the units of a world that were spawned from one of the resources, in the order of their
-- slots, and the saved resource of each.
local function affected(world, names)
  local units, resources = {}, {}
  for _, unit in ipairs(core.units(world)) do
    for _, name in ipairs(names) do
      if Unit.is_a(unit, name) then
        units[#units + 1], resources[#resources + 1] = unit, name
        break
      end
    end
  end
  return units, resources
end

-- Collects an error of a component. If a time limit stopped the game, the rest must wait for the
-- next frame.
local function note_error(errors, raised)
  if core.is_interruption(raised) then error(raised, 0) end
  errors[#errors + 1] = { raised }
end

-- Ends the old components of a unit, and replaces its nodes and native components. Continues if
-- this was stopped before.
local function replace(entry, errors)
  local world, unit = entry.world, entry.unit
  if not entry.is_notified then
    entry.is_notified = true
    local ok, raised = pcall(unit_end, world, unit)
    if not ok then note_error(errors, raised) end
  end
  -- Drops the components that were not notified because of an error.
  if not entry.is_ended then unit_abandoned(world, unit) end
  entry.is_ended = true
  -- A component that was notified may have destroyed the unit.
  if Unit.alive(unit) then
    local name = Unit.debug_name(unit)
    local ok, problem = pcall(core.respawn_unit, unit)
    if not ok then
      if core.is_interruption(problem) then error(problem, 0) end
      core.abandon_unit(world, unit)
      core.log("error", format("a unit \"%s\" could not be respawned, and was destroyed: %s", name,
        problem))
    end
  end
  entry.is_replaced = true
end

local function begin(world, unit, resource, errors)
  local initial = initial_data(core.spawned_resource(unit))
  local entry = { world = world, unit = unit, resource = resource }
  entry.kept, entry.removed = changed_data(data[unit] or {}, initial)
  begun[#begun + 1] = entry
  replace(entry, errors)
end

-- Completes the respawns that have begun: the units get their data and components, each of which
-- is notified of all units at once. Counts the units by the saved resource.
local function complete(counts, errors)
  local units, overrides, removed = {}, {}, {}
  for _, entry in ipairs(begun) do
    if not entry.is_replaced then replace(entry, errors) end
    if Unit.alive(entry.unit) then
      units[#units + 1], overrides[#overrides + 1] = entry.unit, entry.kept
      removed[#removed + 1] = entry.removed
    end
  end
  local list = begun
  begun = {}
  if #units == 0 then return end
  local ok, raised = pcall(core.finish_units, list[1].world, units, overrides, removed)
  if not ok then note_error(errors, raised) end
  for _, entry in ipairs(list) do
    if Unit.alive(entry.unit) then counts[entry.resource] = (counts[entry.resource] or 0) + 1 end
  end
end

-- Raises the first error of components that were notified, after everything is complete.
local function raise_first(errors)
  if #errors == 0 then return end
  if #errors > 1 then
    core.log("error", format("%d more errors followed while units were respawned", #errors - 1))
  end
  error(errors[1][1], 0)
end

core.on("frame_update", "respawns", function()
  if #begun == 0 then return end
  local errors = {}
  complete({}, errors)
  raise_first(errors)
end)

local function log_result(names, counts, problems)
  local refused = {}
  for _, name in ipairs(core.names(problems)) do
    if problems[name] then refused[#refused + 1] = name .. ".unit: " .. problems[name] end
  end
  if #refused > 0 then
    core.log("error", concat(refused, "\n") .. "\nThe units that are spawned stay as they were.")
    return
  end
  for _, name in ipairs(names) do
    local count = counts[name] or 0
    if count > 0 then
      core.log("info", format("reloaded %s.unit: %d unit%s respawned, with the same handle%s, "
        .. "pose, links and changed data; nodes and components are new", name, count,
        count == 1 and " was" or "s were", count == 1 and "" or "s"))
    end
  end
end

-- Respawns the units of saved resources, and of those that inherit from them.
function core.respawn_units(names)
  local counts, problems, errors = {}, {}, {}
  complete({}, errors)
  for _, world in ipairs(Application.worlds()) do
    local units, resources = affected(world, names)
    for i, unit in ipairs(units) do
      local name = Unit.alive(unit) and Unit.debug_name(unit)
      if name and problems[name] == nil then problems[name] = problem_of(name) or false end
      if name and not problems[name] then begin(world, unit, resources[i], errors) end
    end
    complete(counts, errors)
  end
  log_result(names, counts, problems)
  raise_first(errors)
end
