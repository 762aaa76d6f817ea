-- Levels whose file was saved while the game runs: their units are moved, destroyed and spawned as
-- the file says. What the game moved or destroyed itself stays so. The units of both versions are
-- matched by native code (src/world/level_update.rs).
local core = ...

local ipairs, pcall, error, type = ipairs, pcall, error, type
local format, concat = string.format, core.table.concat

local World, Level, Unit = core.module("World"), core.module("Level"), core.module("Unit")
local Application = core.module("Application")

-- The numbers that are added up over all levels of a file.
local COUNTED = { "added", "moved", "stayed", "other_data", "other_nested", "other_level_data" }

local function text_of(problem)
  return type(problem) == "string" and problem or core.describe(problem)
end

-- Collects an error of a component. If a time limit stopped the game, nothing can continue.
local function note_error(errors, raised)
  if core.is_interruption(raised) then error(raised, 0) end
  errors[#errors + 1] = { raised }
end

-- Returns the levels of a world and all nested ones, each before those inside of it.
local function all_levels(world)
  local all = core.levels(world)
  local at = 1
  while all[at] do
    for _, nested in ipairs(core.nested_levels(all[at])) do all[#all + 1] = nested end
    at = at + 1
  end
  return all
end

local function outermost(level)
  local above = Level.parent(level)
  while above do
    level, above = above, Level.parent(above)
  end
  return level
end

-- Spawns the units that wait. Returns the number of those that cannot be spawned.
local function spawn_waiting(level, errors)
  local world, units, overrides, failed = Level.world(level), {}, {}, 0
  while true do
    local ok, unit = pcall(core.level_next, level)
    if not ok then
      if core.is_interruption(unit) then error(unit, 0) end
      core.log("error", text_of(unit))
      core.skip_level_unit(level)
      failed = failed + 1
    elseif not unit then
      break
    else
      units[#units + 1], overrides[#overrides + 1] = unit, core.level_unit_data(unit)
    end
  end
  if #units > 0 then
    local ok, raised = pcall(core.finish_units, world, units, overrides)
    if not ok then note_error(errors, raised) end
  end
  return failed
end

-- Updates a level. Returns the changes, or nil if the new version cannot be used.
local function update(level, errors)
  local top = outermost(level)
  -- A level that is spawned over several frames goes on to do so.
  local was_spawned = Level.is_spawned(top)
  local ok, changes = pcall(core.update_level, level)
  if not ok then
    core.log("error", text_of(changes))
    return nil
  end
  local world = Level.world(level)
  changes.destroyed = 0
  for _, unit in ipairs(changes.removed) do
    -- Destroying one unit may have destroyed others.
    if Unit.alive(unit) then
      local destroyed, raised = pcall(World.destroy_unit, world, unit)
      if not destroyed then note_error(errors, raised) end
      changes.destroyed = changes.destroyed + 1
    end
  end
  if was_spawned and Level.alive(top) then
    changes.added = changes.added - spawn_waiting(top, errors)
  end
  if was_spawned and Level.alive(top) then core.bake_level_later(top) end
  return changes
end

local function plural(count, noun)
  return format("%d %s%s", count, noun, count == 1 and "" or "s")
end

-- Returns the line of the log about a file. `sum` has the changes of its levels.
local function line_of(name, sum)
  local parts, again = {}, {}
  local function add(list, count, text)
    if count > 0 then list[#list + 1] = text end
  end
  add(parts, sum.moved, plural(sum.moved, "unit") .. " moved")
  add(parts, sum.added, plural(sum.added, "unit") .. " spawned")
  add(parts, sum.destroyed, plural(sum.destroyed, "unit") .. " destroyed")
  add(parts, sum.stayed, plural(sum.stayed, "unit") .. " left where the game moved "
    .. (sum.stayed == 1 and "it" or "them"))
  add(again, sum.other_data, "the data of " .. plural(sum.other_data, "unit"))
  add(again, sum.other_nested, "its nested levels")
  add(again, sum.other_level_data, "its own data")
  local text = format("reloaded %s.level: %s up to date", name,
    sum.levels == 1 and "1 level is" or sum.levels .. " levels are")
  if #parts > 0 then text = text .. ": " .. concat(parts, ", ") end
  if #again > 0 then
    text = text .. "; except for " .. concat(again, ", ") .. ": destroy and spawn "
      .. (sum.levels == 1 and "it" or "them") .. " again"
  end
  return text
end

-- Updates the spawned levels of saved files.
function core.update_levels(names)
  local wanted, sums, errors = {}, {}, {}
  for _, name in ipairs(names) do wanted[name] = true end
  for _, world in ipairs(Application.worlds()) do
    for _, level in ipairs(all_levels(world)) do
      local name = Level.alive(level) and Level.resource_name(level)
      local changes = wanted[name] and update(level, errors)
      if changes then
        local sum = sums[name] or { levels = 0, destroyed = 0 }
        sums[name] = sum
        sum.levels = sum.levels + 1
        sum.destroyed = sum.destroyed + changes.destroyed
        for _, key in ipairs(COUNTED) do sum[key] = (sum[key] or 0) + changes[key] end
      end
    end
  end
  for _, name in ipairs(names) do
    if sums[name] then core.log("info", line_of(name, sums[name])) end
  end
  if #errors > 0 then error(errors[1][1], 0) end
end
