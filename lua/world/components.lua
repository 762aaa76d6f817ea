-- Script components (`components/NAME.lua` of a game), and the order in which a world's components
-- are updated. The engine's own components are native and take part in the order by name.
local core = ...

local type, next, tostring, unpack = type, next, tostring, unpack
local pcall, error = pcall, error
local format, concat = string.format, table.concat
local byte, sub, reverse, min = string.byte, string.sub, string.reverse, math.min
local running, status = coroutine.running, coroutine.status
local raise, getinfo = core.raise, core.debug.getinfo

local copy, merge = core.copy, core.user_data.merge

local Unit, Application = core.module("Unit"), core.module("Application")

local begin_update, update_systems = core.begin_update, core.update_systems

-- Native steps of a world's update, in execution order. Scripts can run between these steps. A
-- script runs before the first step unless it names a step under `after`.
local NATIVE = { "physics", "scene_graph" }

-- Component types by name: { name =, module =, units = { by world: list }, gone = { by world: set
-- of units that were destroyed and are still in the list, with their `count` } }
local types = {}
local order -- sorted names of native steps and types; nil after a type was added
local parts_of = {} -- by unit: its script components that have been notified of it
local updating, updating_in, updating_of -- the component that updates, its coroutine, its world
local ending = {} -- destroyed after that update: unit -> location; list of { world, unit }
local ended = 0 -- number of units in `ending` that are already destroyed
local dying = {} -- units whose `unspawned` callbacks run: unit -> its world
local half = {} -- units whose `spawned` callbacks run: { world =, unit =, telling = } or false

-- Returns true if the game has no module for the component of that name.
local function is_nowhere(name)
  local module = "components." .. name
  local known = core.modules[module] or core.preload[module] or core.stand_ins[module]
    or (not core.reloader.recording and core.load_script(module))
  return not known and core.read_module(module).missing ~= nil
end

-- Returns a "did you mean" suffix for the message about a missing component, or "".
local function hint(name, ...)
  local names = { ... }
  for _, native in ipairs(core.component_names()) do names[#names + 1] = native end
  for _, script in ipairs(Application.resource_names("lua") or {}) do
    names[#names + 1] = script:match("^components/(.+)$")
  end
  local near = core.suggest(name, names)
  return near and ", did you mean '" .. near .. "'?" or ""
end

-- Component functions that the engine calls.
local CALLED = { "spawned", "unspawned", "update", "inspect" }

-- Returns true if a word differs from a name by one typing error: an extra, missing or wrong
-- letter, or two letters swapped.
local function is_slip(word, name)
  local first, last = 1, 0
  while byte(word, first) == byte(name, first) and first <= #word do first = first + 1 end
  while last <= min(#word, #name) - first and byte(word, #word - last) == byte(name, #name - last)
  do
    last = last + 1
  end
  local a, b = sub(word, first, #word - last), sub(name, first, #name - last)
  return word ~= name and (#a <= 1 and #b <= 1 or #a == 2 and a == reverse(b))
end

-- Reports functions whose name is almost a name in `CALLED`: the engine would never call such a
-- function, and no error would appear. Each name is reported once. In `engine check`, the report is
-- an error.
local function check_names(kind)
  local module, told = kind.module, kind.slips or {}
  kind.slips = told
  for _, word in ipairs(core.names(module)) do
    for _, name in ipairs(CALLED) do
      if is_slip(word, name) and module[name] == nil and type(module[word]) == "function"
        and not told[word] then
        told[word] = true
        core.log(core.booted == "tools.check" and "error" or "warning", format("components/%s.lua: "
          .. "the function '%s' is never called by the engine: did you mean '%s'?", kind.name,
          word, name))
      end
    end
  end
end

local function type_of(name, unit)
  local known = types[name]
  if known then return known end
  for _, native in ipairs(NATIVE) do
    if native == name then
      raise(format("World.spawn_unit: unit %q has the component '%s', which is the name of an "
        .. "engine step: rename it", Unit.debug_name(unit), name))
    end
  end
  if is_nowhere(name) then
    raise(format("World.spawn_unit: unit %q has the component '%s', which does not exist%s: "
      .. "the engine has %s, and a component of the game is a module components/%s.lua",
      Unit.debug_name(unit), name, hint(name), concat(core.component_names(), ", "), name))
  end
  local module = core.require("components." .. name)
  if type(module) ~= "table" then
    raise(format("components/%s.lua must return a table, with functions such as `update = "
      .. "function(units, dt) … end`, and returned %s", name, core.describe(module)))
  end
  known = { name = name, module = module, units = {}, gone = {} }
  types[name] = known
  order = nil
  check_names(known)
  return known
end

-- Returns the names that a module lists under `after` or `before`. A single string is a list of
-- one.
local function named(kind, key)
  local list = kind.module[key]
  if list == nil then return {} end
  if type(list) == "string" then return { list } end
  if type(list) ~= "table" then
    raise(format("components/%s.lua: '%s' must be a list of components, got %s", kind.name, key,
      core.describe(list)))
  end
  return list
end

-- Raises if `after` or `before` names a component that does not exist. A component that exists but
-- has no unit yet is accepted.
local function check_named(kind, key, other)
  for _, native in ipairs(core.component_names()) do
    if native == other then return end
  end
  if type(other) ~= "string" or is_nowhere(other) then
    raise(format("components/%s.lua: '%s' names %s, which is not a component%s", kind.name, key,
      core.describe(other), type(other) == "string" and hint(other, unpack(NATIVE)) or ""))
  end
end

-- Returns a dependency cycle among the unfinished names as a message, beginning with its first name
-- in alphabetical order. Every unfinished name waits for an unfinished name, so the search always
-- returns to a name that it has visited.
local function circle(before, done, name)
  local way, seen = {}, {}
  while not seen[name] do
    way[#way + 1] = name
    seen[name] = #way
    for _, other in ipairs(core.names(before[name])) do
      if not done[other] then
        name = other
        break
      end
    end
  end
  local ring, least = {}, 1
  for i = seen[name], #way do
    ring[#ring + 1] = way[i]
    if way[i] < ring[least] then least = #ring end
  end
  local words = {}
  for i = 0, #ring do words[i + 1] = ring[(least + i - 1) % #ring + 1] end
  return concat(words, " → ")
end

-- Sorts native steps and types by `after` and `before`; the order is alphabetical where neither
-- decides.
local function sorted()
  local before = {} -- name -> set of names that run earlier
  for i, name in ipairs(NATIVE) do
    before[name] = {}
    if i > 1 then before[name][NATIVE[i - 1]] = true end
  end
  for name in next, types do before[name] = {} end
  local names = core.names(types)
  for _, name in ipairs(names) do
    local kind, first = types[name], true
    for _, other in ipairs(named(kind, "after")) do
      if before[other] then
        before[name][other] = true
        first = false
      else
        check_named(kind, "after", other)
      end
    end
    for _, other in ipairs(named(kind, "before")) do
      if before[other] then
        before[other][name] = true
      else
        check_named(kind, "before", other)
      end
    end
    if first then before[NATIVE[1]][name] = true end
  end
  local all, done, result = core.names(before), {}, {}
  while #result < #all do
    local found
    for _, name in ipairs(all) do
      if not done[name] then
        local ready = true
        for other in next, before[name] do ready = ready and done[other] end
        if ready then
          found = name
          break
        end
      end
    end
    if not found then
      local first
      for _, name in ipairs(all) do
        if not first and not done[name] then first = name end
      end
      raise("components wait for each other in a circle (after, before): "
        .. circle(before, done, first) .. ": leave one of these out")
    end
    done[found] = true
    result[#result + 1] = found
  end
  return result
end

-- Removes destroyed units from a component's list. The other units keep their order.
local function tidy(kind, world)
  local gone = kind.gone[world]
  if not gone then return end
  kind.gone[world] = nil
  local list, kept = kind.units[world], 0
  for i = 1, #list do
    local unit = list[i]
    if not gone[unit] then
      kept = kept + 1
      list[kept] = unit
    end
  end
  for i = #list, kept + 1, -1 do list[i] = nil end
end

-- Removes the types that have no unit in any world. Returns true if it removed any.
local function forget_unused()
  local forgot = false
  for _, name in ipairs(core.names(types)) do
    local used = false
    for world, list in next, types[name].units do
      -- No update runs here, so the list may change.
      tidy(types[name], world)
      used = used or #list > 0
    end
    if not used then types[name], forgot = nil, true end
  end
  return forgot
end

-- Returns the update order of all types. Errors in components that no unit uses any more are
-- ignored, so that they stop no world.
local function ordered()
  local fine, result = pcall(sorted)
  if not fine then
    if #half > 0 or not forget_unused() then error(result, 0) end
    result = sorted()
  end
  return result
end

local function list_of(kind, world)
  local list = kind.units[world]
  if not list then
    list = {}
    kind.units[world] = list
  end
  return list
end

-- Records that a unit in a component's list was destroyed. Recorded units are removed from the list
-- in one pass.
local function note_gone(kind, world, unit)
  local gone = kind.gone[world]
  if not gone then
    gone = { count = 0 }
    kind.gone[world] = gone
  end
  if not gone[unit] then
    gone[unit] = true
    gone.count = gone.count + 1
  end
  if not updating and gone.count * 2 > #list_of(kind, world) then tidy(kind, world) end
end

-- Calls a function of a component, if the component has it. Raises if the value is not a function.
local function tell(kind, name, units, dt)
  local fn = kind.module[name]
  if fn == nil then return end
  if type(fn) ~= "function" then
    raise(format("components/%s.lua: '%s' must be a function, got %s", kind.name, name,
      core.describe(fn)))
  end
  fn(units, dt)
end

-- Copies the fields of a unit's parts into the unit's data. Values that the unit has already are
-- kept.
local function give_data(unit, parts)
  local data = core.unit_data[unit]
  if not data then
    data = {}
    core.unit_data[unit] = data
  end
  for _, part in ipairs(parts) do
    type_of(part.component, unit)
    local fields, known = copy(part.fields), data[part.name]
    fields.component = nil
    if type(known) == "table" then
      merge(fields, known)
    elseif known ~= nil then
      raise(format("World.spawn_unit: unit %q has the data '%s', %s, where the fields of its "
        .. "component '%s' are: rename one", Unit.debug_name(unit), part.name,
        core.describe(known), part.name))
    end
    data[part.name] = fields
  end
end

-- Groups the parts of units by component name: { kind =, units =, parts = }. A unit that has a
-- component twice is in two groups.
local function grouped(units, parts)
  local groups = {}
  for i, unit in ipairs(units) do
    local before, times = nil, 0
    for _, part in ipairs(parts[i]) do
      times = part.component == before and times + 1 or 1
      before = part.component
      local name = before .. "\0" .. times
      local group = groups[name]
      if not group then
        group = { kind = types[before], units = {}, parts = {} }
        groups[name] = group
      end
      group.units[#group.units + 1], group.parts[#group.parts + 1] = unit, part
    end
  end
  return groups
end

-- Calls a component's `spawned` with all units of a group that still exist.
local function tell_spawned(world, group, entries)
  local list, told = list_of(group.kind, world), {}
  for i, unit in ipairs(group.units) do
    -- The callback of another component may have destroyed the unit.
    if Unit.alive(unit) then
      list[#list + 1], told[#told + 1] = unit, unit
      local parts = parts_of[unit]
      parts[#parts + 1] = group.parts[i]
      entries[unit].telling = true
    end
  end
  if #told > 0 then tell(group.kind, "spawned", told) end
  for _, unit in ipairs(group.units) do entries[unit].telling = nil end
end

-- Calls the components' `spawned` for new units, once per component; `parts[i]` are the parts of
-- `units[i]`.
function core.components_spawned(world, units, parts)
  local first, entries = #half + 1, {}
  for i, unit in ipairs(units) do
    if #parts[i] > 0 then
      entries[unit] = { world = world, unit = unit }
      half[#half + 1] = entries[unit]
    end
  end
  local last = #half
  if last < first then return end
  for i, unit in ipairs(units) do
    if #parts[i] > 0 then
      give_data(unit, parts[i])
      parts_of[unit] = {}
    end
  end
  local groups = grouped(units, parts)
  for _, name in ipairs(core.names(groups)) do tell_spawned(world, groups[name], entries) end
  for i = first, last do half[i] = false end
  for i = #half, 1, -1 do
    if half[i] then break end
    half[i] = nil
  end
end

-- Destroys units that an error left half spawned or half destroyed, in the next frame: the game has
-- no handle of a half-spawned unit, and a half-destroyed unit was to be destroyed.
local function end_halves()
  local made, dead = half, dying
  half, dying = {}, {}
  for i = 1, #made do
    local unit = made[i] and made[i].unit
    if unit and Unit.alive(unit) then
      -- The last component's `spawned` did not finish.
      local told = parts_of[unit]
      local last = made[i].telling and told and told[#told]
      if last then
        told[#told] = nil
        note_gone(types[last.component], made[i].world, unit)
      end
      core.destroy_now(made[i].world, unit)
    end
  end
  for i = 1, #dead do
    local unit = dead[i]
    if dead[unit] and Unit.alive(unit) then core.end_dead(dead[unit], unit) end
  end
end

-- Removes a unit's components. Components that have not been notified of its end are not notified.
local function forget_parts(world, unit)
  for _, part in ipairs(parts_of[unit] or {}) do note_gone(types[part.component], world, unit) end
  parts_of[unit] = nil
end

core.on("unit_abandoned", "components", forget_parts)

local function check_not_dying(unit)
  if dying[unit] then
    raise(format("World.destroy_unit: the unit %q is already being destroyed: its components are "
      .. "being notified (unspawned), and need not destroy it", Unit.debug_name(unit)))
  end
end

core.on("unit_end", "components", function(world, unit)
  local parts = parts_of[unit]
  if not parts then return end
  check_not_dying(unit)
  dying[unit] = world
  dying[#dying + 1] = unit
  for i = #parts, 1, -1 do
    local kind = types[parts[i].component]
    -- A component that was notified is not notified again, even if another component raises.
    parts[i] = nil
    note_gone(kind, world, unit)
    tell(kind, "unspawned", { unit })
  end
  forget_parts(world, unit)
  dying[unit] = nil
  if dying[#dying] == unit then dying[#dying] = nil end
end)

-- Returns true if a unit is already going to be destroyed, so that destroying a level can skip it.
function core.is_ending(unit)
  return ending[unit] ~= nil or dying[unit] ~= nil
end

-- Function that updates components. `core.updating` searches the stack for it.
local update_components
-- Destroys the scheduled units.
local end_units

-- Returns true if a component update is running. After a caught error, `updating` is still set, but
-- the stack no longer contains the update function. If `within` is true, the caller's own update
-- call does not count.
function core.updating(within)
  if not updating then return false end
  local thread = updating_in
  -- The main coroutine's stack cannot be read from other coroutines; it waits for them.
  if thread == nil and running() ~= nil then return true end
  if thread == running() then thread = nil end
  local level = thread and 0 or within and 3 or 2
  while not thread or status(thread) ~= "dead" do
    local info
    if thread then info = getinfo(thread, level, "f") else info = getinfo(level, "f") end
    if not info then break end
    if info.func == update_components then return true end
    level = level + 1
  end
  updating = nil
  end_units()
  return false
end

-- A world cannot be released by its components.
core.on("world_release", "update_check", function(world)
  if core.updating() and updating_of == world then
    raise("Application.release_world: the component '" .. updating
      .. "' of the world is being updated: release it in update(dt)")
  end
end)

-- Schedules a unit to be destroyed after the running component's update. Raises if the unit is
-- already being destroyed.
function core.destroy_later(world, unit)
  core.destroy_unit(world, unit)
  check_not_dying(unit)
  if ending[unit] then
    raise(format("World.destroy_unit: the unit already ends after the update of '%s': %s "
      .. "requested it", updating, ending[unit]))
  end
  ending[unit] = core.place()
  ending[#ending + 1] = { world, unit }
  return true
end

-- If the end of one unit raises, the next call destroys the others.
function end_units()
  while ended < #ending do
    ended = ended + 1
    local world, unit = ending[ended][1], ending[ended][2]
    ending[unit] = nil
    -- The unit's world may be gone. `end_halves` destroys a unit whose `unspawned` failed.
    if Unit.alive(unit) and not dying[unit] then core.destroy_now(world, unit) end
  end
  if ended > 0 then ending, ended = {}, 0 end
end

-- Resets the state that an error in the last update may have left.
core.on("frame_update", "components", function()
  updating = nil
  end_units()
  if #half > 0 or #dying > 0 then end_halves() end
end)

-- Begins the native update of a world, which checks the arguments of `World.update`. Then runs the
-- script components between the engine's own systems, in the order of their `after` and `before`.
function update_components(...)
  begin_update(...)
  local world, delta = ...
  if core.updating(true) then
    raise("World.update: the component '" .. updating
      .. "' is being updated: call it in update(dt)")
  end
  if not order then order = ordered() end
  -- A component may spawn units with new component types, which clears `order`.
  local steps = order
  -- Native steps are deferred until a script runs or all steps are done: steps with no script
  -- between them run in one call.
  local physics, scene_graph = false, false
  for i = 1, #steps do
    local kind = types[steps[i]]
    if kind then
      tidy(kind, world)
      local units = kind.units[world]
      if units and #units > 0 then
        if physics or scene_graph then update_systems(world, delta, physics, scene_graph) end
        physics, scene_graph = false, false
        updating, updating_in, updating_of = kind.name, running(), world
        tell(kind, "update", units, delta)
        updating = nil
        end_units()
      end
    elseif steps[i] == "scene_graph" then
      scene_graph = true
    elseif core.has_questions() then
      -- Scripts receive the answers of physics queries before scene nodes are computed.
      if update_systems(world, delta, true, false) then core.answer_questions(world) end
    else
      physics = true
    end
  end
  if physics or scene_graph then update_systems(world, delta, physics, scene_graph) end
end

core.on("world_update", "components", update_components)

core.on("unit_inspect", "components", function(unit, lines)
  for _, part in ipairs(parts_of[unit] or {}) do
    lines[#lines + 1] = format("component %q (%s)", part.name, part.component)
    local module = types[part.component].module
    if type(module.inspect) == "function" then
      -- One failing `inspect` does not hide the other components.
      local fine, words = pcall(module.inspect, unit)
      lines[#lines + 1] = (fine and "  " or "  its inspect fails: ") .. tostring(words)
    end
  end
end)

-- Updates the component types after a reload. Units stay with their component, and a changed order
-- takes effect at once. If a module returns another table than before, that table is used; if it
-- returns no table, the old one stays in use.
core.on("scripts_reloaded", "components", function()
  order = nil
  for _, name in ipairs(core.names(types)) do
    local kind, module = types[name], core.modules["components." .. name]
    if type(module) == "table" then
      kind.module, kind.refused = module, nil
      check_names(kind)
    elseif module ~= nil and module ~= kind.refused then
      -- The error is not repeated when other files are saved later.
      kind.refused = module
      core.log("error", format("components/%s.lua must return a table, and returned %s: what it "
        .. "returned before stays in use", name, core.describe(module)))
    end
  end
end)

-- Drops a world's lists of units.
core.on("world_release", "components", function(world)
  for _, kind in next, types do
    kind.units[world], kind.gone[world] = nil, nil
  end
end)
