-- The table of component types, those of the engine (src/world/component_table.rs) and those of
-- scripts (`components/NAME.lua` of a game), and the order in which a world's are updated.
local core = ...

local type, next, tostring, unpack = type, next, tostring, unpack
local pcall, error = core.pcall, error
local with_units = core.with_units
local format, concat = string.format, table.concat
local running, status = coroutine.running, coroutine.status
local raise, getinfo = core.raise, core.debug.getinfo

local copy, merge, remove = core.copy, core.user_data.merge, core.user_data.remove

local Unit, Application = core.module("Unit"), core.module("Application")

local begin_update, update_systems = core.begin_update, core.update_systems

-- Native steps of a world's update, in execution order. Scripts can run between these steps. A
-- script runs before the first step unless it names a step under `after`.
local NATIVE = core.update_steps()

-- Component types by name. Of the engine: { native = true }. Of scripts: { name =, module =,
-- units = { by world: list }, destroyed = { by world: set of units that were destroyed and are
-- still in the list, with their `count` }, rates = { by world: groups of units } }. A native step
-- that is no component has an empty entry.
local types = {}
for _, name in ipairs(core.component_names()) do types[name] = { native = true } end
for _, name in ipairs(NATIVE) do types[name] = types[name] or {} end
local order -- sorted names of native steps and script types; nil after a type was added
local parts_of = {} -- by unit: its script components that have been notified of it
local updating, updating_in, updating_of -- the component that updates, its coroutine, its world
local ending = {} -- destroyed after that update: unit -> location; list of { world, unit }
local ended = 0 -- number of units in `ending` that are already destroyed
local unspawning = {} -- units whose `unspawned` callbacks run: unit -> its world
-- Units whose `spawned` callbacks run: { world =, unit =, notifying = } or false.
local unfinished = {}
-- Names of modules that were found for questions about components that no unit has had.
local known_to_exist = {}

-- Returns the sorted names of the types that have a field: all of the engine's or all of scripts.
local function names_with(field)
  local names = {}
  for _, name in ipairs(core.names(types)) do
    if types[name][field] then names[#names + 1] = name end
  end
  return names
end

-- Returns true if the game has no module for the component of that name.
local function is_missing(name)
  local module = "components." .. name
  local known = core.modules[module] or core.preload[module] or core.stand_ins[module]
    or (not core.reloader.recording and core.load_script(module))
  return not known and core.read_module(module).missing ~= nil
end

-- Components of other engines, and parts of the engine's components.
local OTHER_NAMES = {
  actor = "physics", actors = "physics", body = "physics", collider = "physics", mover = "physics",
  rigid_body = "physics", rigidbody = "physics", joint = "physics", static_mesh = "mesh",
  model = "mesh", sprite_renderer = "sprite", spot = "light", lamp = "light",
  tiles = "tilemap", tile_map = "tilemap",
}

-- Returns a "did you mean" suffix for the message about a missing component, or "".
local function hint(name, ...)
  local other = OTHER_NAMES[name:lower()]
  if other and types[other] then return ", did you mean '" .. other .. "'?" end
  local names = { ... }
  for _, native in ipairs(names_with("native")) do names[#names + 1] = native end
  for _, script in ipairs(Application.resource_names("lua") or {}) do
    names[#names + 1] = script:match("^components/(.+)$")
  end
  local near = core.suggest(name, names)
  return near and ", did you mean '" .. near .. "'?" or ""
end

local function type_of(name, unit)
  local known = types[name]
  if known and known.module then return known end
  if known then
    raise(format("World.spawn_unit: unit %q has the component '%s', which is the name of an "
      .. "engine step: rename it", Unit.debug_name(unit), name))
  end
  if is_missing(name) then
    raise(format("World.spawn_unit: unit %q has the component '%s', which does not exist%s: "
      .. "the engine has %s, and a component of the game is a module components/%s.lua",
      Unit.debug_name(unit), name, hint(name), concat(names_with("native"), ", "), name))
  end
  local module = core.require("components." .. name)
  if type(module) ~= "table" then
    raise(format("components/%s.lua must return a table, with functions such as `update = "
      .. "function(units, dt) … end`, and returned %s", name, core.describe(module)))
  end
  known = { name = name, module = module, units = {}, destroyed = {}, rates = {} }
  types[name] = known
  order = nil
  core.check_callback_names(known)
  return known
end

-- Raises if `after` or `before` names a component that does not exist. A component that exists but
-- has no unit yet is accepted.
local function check_listed_name(kind, key, other)
  if types[other] then return end
  if type(other) ~= "string" or is_missing(other) then
    raise(format("components/%s.lua: '%s' names %s, which is not a component%s", kind.name, key,
      core.describe(other), type(other) == "string" and hint(other, unpack(NATIVE)) or ""))
  end
end

-- Removes destroyed units from a component's list. The other units keep their order.
local function remove_destroyed(kind, world)
  local destroyed = kind.destroyed[world]
  if not destroyed then return end
  kind.destroyed[world] = nil
  local list, kept = kind.units[world], 0
  for i = 1, #list do
    local unit = list[i]
    if not destroyed[unit] then
      kept = kept + 1
      list[kept] = unit
    end
  end
  for i = #list, kept + 1, -1 do list[i] = nil end
end

-- Removes the script types that have no unit in any world. Returns true if it removed any.
local function forget_unused()
  local removed_any = false
  for _, name in ipairs(names_with("module")) do
    local used = false
    for world, list in next, types[name].units do
      -- No update runs here, so the list may change.
      remove_destroyed(types[name], world)
      used = used or #list > 0
    end
    if not used then types[name], removed_any = nil, true end
  end
  return removed_any
end

-- Returns the update order of all types. Errors in components that no unit uses any more are
-- ignored, so that they stop no world.
local function update_order()
  local function sorted()
    local scripts = {}
    for _, name in ipairs(names_with("module")) do scripts[name] = types[name] end
    return core.component_order(NATIVE, scripts, check_listed_name)
  end
  local ok, result = pcall(sorted)
  if not ok then
    if #unfinished > 0 or not forget_unused() then error(result, 0) end
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
local function record_destroyed(kind, world, unit)
  local destroyed = kind.destroyed[world]
  if not destroyed then
    destroyed = { count = 0 }
    kind.destroyed[world] = destroyed
  end
  if not destroyed[unit] then
    destroyed[unit] = true
    destroyed.count = destroyed.count + 1
  end
  core.leave_rate_group(kind, world, unit)
  if not updating and destroyed.count * 2 > #list_of(kind, world) then
    remove_destroyed(kind, world)
  end
end

-- Tasks of components, for the contexts of errors.
local TASKS = {
  spawned = "When spawning component:",
  unspawned = "When destroying component:",
  update = "When updating component:",
  on_animation_event = "When notifying component:",
}

-- Calls a function of a component, if the component has it. Raises if the value is not a function.
local function call_callback(kind, name, units, ...)
  local fn = kind.module[name]
  if fn == nil then return end
  if type(fn) ~= "function" then
    raise(format("components/%s.lua: '%s' must be a function, got %s", kind.name, name,
      core.describe(fn)))
  end
  with_units(TASKS[name], kind.name, units, fn, ...)
end

-- Copies the fields of a unit's parts into the unit's data. Values that the unit has already are
-- kept.
local function set_initial_data(unit, parts)
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
local function group_parts(units, parts)
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
local function call_spawned(world, group, entries)
  local list, notified = list_of(group.kind, world), {}
  for i, unit in ipairs(group.units) do
    -- The callback of another component may have destroyed the unit.
    if Unit.alive(unit) then
      list[#list + 1], notified[#notified + 1] = unit, unit
      local parts = parts_of[unit]
      parts[#parts + 1] = group.parts[i]
      entries[unit].notifying = true
    end
  end
  if #notified > 0 then call_callback(group.kind, "spawned", notified, notified) end
  for _, unit in ipairs(group.units) do entries[unit].notifying = nil end
end

-- Calls the components' `spawned` for new units, once per component; `parts[i]` are the parts of
-- `units[i]`. `removed[i]` has keys of its data that it does not get.
function core.components_spawned(world, units, parts, removed)
  local first, entries = #unfinished + 1, {}
  for i, unit in ipairs(units) do
    if #parts[i] > 0 then
      entries[unit] = { world = world, unit = unit }
      unfinished[#unfinished + 1] = entries[unit]
    end
  end
  local last = #unfinished
  if last < first and not removed then return end
  for i, unit in ipairs(units) do
    if #parts[i] > 0 then
      set_initial_data(unit, parts[i])
      parts_of[unit] = {}
    end
    if removed then remove(core.unit_data[unit] or {}, removed[i]) end
  end
  local groups = group_parts(units, parts)
  for _, name in ipairs(core.names(groups)) do
    -- A respawned unit must not be removed from the list as the one that it was.
    if removed then remove_destroyed(groups[name].kind, world) end
    call_spawned(world, groups[name], entries)
  end
  for i = first, last do unfinished[i] = false end
  for i = #unfinished, 1, -1 do
    if unfinished[i] then break end
    unfinished[i] = nil
  end
end

-- Destroys units that an error left half spawned or half destroyed, in the next frame: the game has
-- no handle of a half-spawned unit, and a half-destroyed unit was to be destroyed.
local function destroy_unfinished()
  local left, ended_units = unfinished, unspawning
  unfinished, unspawning = {}, {}
  for i = 1, #left do
    local unit = left[i] and left[i].unit
    if unit and Unit.alive(unit) then
      -- The last component's `spawned` did not finish.
      local notified = parts_of[unit]
      local last = left[i].notifying and notified and notified[#notified]
      if last then
        notified[#notified] = nil
        record_destroyed(types[last.component], left[i].world, unit)
      end
      core.destroy_now(left[i].world, unit)
    end
  end
  for i = 1, #ended_units do
    local unit = ended_units[i]
    local world = ended_units[unit]
    if world and Unit.alive(unit) then core.abandon_unit(world, unit) end
  end
end

-- Removes a unit's components. Components that have not been notified of its end are not notified.
local function drop_parts(world, unit)
  for _, part in ipairs(parts_of[unit] or {}) do
    record_destroyed(types[part.component], world, unit)
  end
  parts_of[unit] = nil
end

core.on("unit_abandoned", "components", function(world, unit)
  drop_parts(world, unit)
  -- An error may have left it half destroyed.
  unspawning[unit] = nil
end)

local function check_not_unspawning(unit)
  if unspawning[unit] then
    raise(format("World.destroy_unit: the unit %q is already being destroyed: its components are "
      .. "being notified (unspawned), and need not destroy it", Unit.debug_name(unit)))
  end
end

core.on("unit_end", "components", function(world, unit)
  local parts = parts_of[unit]
  if not parts then return end
  check_not_unspawning(unit)
  unspawning[unit] = world
  unspawning[#unspawning + 1] = unit
  for i = #parts, 1, -1 do
    local kind = types[parts[i].component]
    -- A component that was notified is not notified again, even if another component raises.
    parts[i] = nil
    record_destroyed(kind, world, unit)
    local units = { unit }
    call_callback(kind, "unspawned", units, units)
  end
  drop_parts(world, unit)
  unspawning[unit] = nil
  if unspawning[#unspawning] == unit then unspawning[#unspawning] = nil end
end)

-- Returns true if a unit is already going to be destroyed, so that destroying a level can skip it.
function core.is_ending(unit)
  return ending[unit] ~= nil or unspawning[unit] ~= nil
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
  check_not_unspawning(unit)
  if ending[unit] then
    raise(format("World.destroy_unit: the unit already ends after the update of '%s': %s "
      .. "requested it", updating, ending[unit]))
  end
  ending[unit] = core.location()
  ending[#ending + 1] = { world, unit }
  return true
end

-- If the end of one unit raises, the next call destroys the others.
function end_units()
  while ended < #ending do
    ended = ended + 1
    local world, unit = ending[ended][1], ending[ended][2]
    ending[unit] = nil
    -- The unit's world may be gone. `destroy_unfinished` destroys a unit whose `unspawned` failed.
    if Unit.alive(unit) and not unspawning[unit] then core.destroy_now(world, unit) end
  end
  if ended > 0 then ending, ended = {}, 0 end
end

-- Resets the state that an error in the last update may have left.
core.on("frame_update", "components", function()
  updating = nil
  end_units()
  if #unfinished > 0 or #unspawning > 0 then destroy_unfinished() end
end)

-- Updates a component: all its units in a world (`due` is true), or groups of them, each with the
-- time since the group's last update.
local function update_units(kind, world, due, delta)
  for i = 1, due == true and 1 or #due do
    local units, elapsed = kind.units[world], delta
    if due ~= true then
      remove_destroyed(kind, world)
      units, elapsed = core.rate_group(kind, world, due[i].group), due[i].elapsed
    end
    if #units > 0 then
      updating, updating_in, updating_of = kind.name, running(), world
      call_callback(kind, "update", units, units, elapsed)
      updating = nil
      end_units()
    end
  end
end

-- Begins the native update of a world, which checks the arguments of `World.update`. Then runs the
-- script components between the engine's own systems, in the order of their `after` and `before`.
function update_components(...)
  begin_update(...)
  local world, delta = ...
  if core.updating(true) then
    raise("World.update: the component '" .. updating
      .. "' is being updated: call it in update(dt)")
  end
  if not order then order = update_order() end
  -- A component may spawn units with new component types, which clears `order`.
  local steps = order
  -- Native steps are deferred until a script runs or all steps are done: steps with no script
  -- between them run in one call.
  local physics, scene_graph = false, false
  for i = 1, #steps do
    local kind = types[steps[i]]
    if kind.module then
      remove_destroyed(kind, world)
      local units = kind.units[world]
      local due = units and #units > 0 and core.due_rate_groups(kind, world, delta)
      if due then
        if physics or scene_graph then update_systems(world, delta, physics, scene_graph) end
        physics, scene_graph = false, false
        update_units(kind, world, due, delta)
      end
    elseif steps[i] == "scene_graph" then
      scene_graph = true
    elseif core.has_queued_queries() then
      -- Scripts receive the answers of physics queries before scene nodes are computed.
      if update_systems(world, delta, true, false) then core.run_queued_queries(world) end
    else
      physics = true
    end
  end
  if physics or scene_graph then update_systems(world, delta, physics, scene_graph) end
end

core.on("world_update", "components", update_components)

-- Returns the script components of a unit that have been notified of it, each with its module.
function core.script_parts(unit)
  local result = {}
  for i, part in ipairs(parts_of[unit] or {}) do
    result[i] = { name = part.name, component = part.component,
      module = types[part.component].module }
  end
  return result
end

-- Returns true if a script component in use has a function of that name.
function core.has_component_callback(name)
  for _, kind in next, types do
    if kind.module and kind.module[name] ~= nil then return true end
  end
  return false
end

-- Calls a function of a unit's script components, of those that have it. One of them may destroy
-- the unit.
function core.notify_components(name, unit, ...)
  local parts, units = parts_of[unit], { unit }
  for i = 1, parts and #parts or 0 do
    if not parts[i] then return end
    call_callback(types[parts[i].component], name, units, unit, ...)
  end
end

-- Raises if neither the engine nor the game has a component of that name.
function core.check_component(name, index, component)
  if type(component) ~= "string" then
    core.bad_argument(name, index, "component", "string", component)
  end
  local known = types[component]
  if known and (known.native or known.module) or known_to_exist[component] then return end
  if is_missing(component) then
    raise(format("%s: argument #%d 'component': there is no component '%s'%s", name, index,
      component, hint(component)))
  end
  known_to_exist[component] = true
end

-- Updates the script types after a reload. Units stay with their component, and a changed order
-- takes effect at once. If a module returns another table than before, that table is used; if it
-- returns no table, the old one stays in use.
core.on("scripts_reloaded", "components", function()
  order, known_to_exist = nil, {}
  for _, name in ipairs(names_with("module")) do
    local kind, module = types[name], core.modules["components." .. name]
    if type(module) == "table" then
      kind.module, kind.refused = module, nil
      core.check_callback_names(kind)
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
  for _, name in ipairs(names_with("module")) do
    types[name].units[world], types[name].destroyed[world] = nil, nil
    types[name].rates[world] = nil
  end
end)
