-- Components that are scripts (`components/NAME.lua` of a game), and the order in which a world's
-- components are updated. The engine's own components are native, and take part by name.
local core = ...

local type, next, tostring, unpack = type, next, tostring, unpack
local pcall, error = pcall, error
local format, concat = string.format, table.concat
local byte, sub, reverse, min = string.byte, string.sub, string.reverse, math.min
local running, status = coroutine.running, coroutine.status
local raise, getinfo = core.raise, core.debug.getinfo

local copy, merge = core.copy, core.kept.merge

local World, Unit = core.module("World"), core.module("Unit")
local Application = core.module("Application")

-- A native row; frame.lua uses its name for its own.
local update_systems = core.update

-- The native steps of a world's update that scripts can stand between, in their own order. Scripts
-- stand before the first of them unless they say `after`.
local NATIVE = { "physics", "scene_graph" }

-- Of each type of component, by name: { name =, module =, units = { by world: list }, gone = { by
-- world: set of units that ended and are still in the list, with their `count` } }
local types = {}
local order -- the names of native steps and of types, sorted; nil when a type came
local parts_of = {} -- by unit: the parts that are scripts, as far as they have heard of it
local updating, updating_in, updating_of -- the component whose update runs, its coroutine, world
local ending = {} -- units that end after it: unit -> place; and { world, unit }, in order
local ended = 0 -- how many of these have ended
local dying = {} -- units whose components hear of their end: unit -> its world
local half = {} -- units whose components hear of them: { world =, unit =, telling = } or false

-- Whether no module of the game is the component of that name.
local function is_nowhere(name)
  local module = "components." .. name
  local known = core.modules[module] or core.preload[module] or core.stand_ins[module]
    or (not core.reloader.recording and core.load_script(module))
  return not known and core.read_script(module).missing ~= nil
end

-- What may have been meant by a component that is nowhere, as words to add.
local function hint(name, ...)
  local names = { ... }
  for _, native in ipairs(core.component_names()) do names[#names + 1] = native end
  for _, script in ipairs(Application.resource_names("lua") or {}) do
    names[#names + 1] = script:match("^components/(.+)$")
  end
  local near = core.suggest(name, names)
  return near and ", did you mean '" .. near .. "'?" or ""
end

-- The functions of a component that the engine calls.
local CALLED = { "spawned", "unspawned", "update", "inspect" }

-- Whether a word is a name with one slip: a letter too many, too few or another, or two that have
-- changed places.
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

-- A function that is nearly called like one of those would never be called, and nothing would say
-- so. Told once; to `engine check` it is a fault.
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
      raise(format("World.spawn_unit: unit %q has the component '%s', which is the name of a step "
        .. "of the engine's: rename it", Unit.debug_name(unit), name))
    end
  end
  if is_nowhere(name) then
    raise(format("World.spawn_unit: unit %q has the component '%s', which is not there%s: the "
      .. "engine has %s, and one of the game's own is a module components/%s.lua",
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

-- What a module says under `after` or `before`: a list of names, or one.
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

-- Refuses what `after` or `before` names and is nowhere: what is there need not be used yet.
local function check_named(kind, key, other)
  for _, native in ipairs(core.component_names()) do
    if native == other then return end
  end
  if type(other) ~= "string" or is_nowhere(other) then
    raise(format("components/%s.lua: '%s' names %s, which is no component%s", kind.name, key,
      core.describe(other), type(other) == "string" and hint(other, unpack(NATIVE)) or ""))
  end
end

-- Who waits for whom in a circle, of those that are not done, beginning with the first by name. All
-- that are left wait for one that is left, so whoever follows them comes to where it was.
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

-- Sorts what has to run by `after` and `before`; alphabetical where nothing is said.
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

-- Takes those units out of a component's list that have ended; the others keep their order.
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

-- Forgets the types of which no unit is left anywhere; whether there were any.
local function forget_unused()
  local forgot = false
  for _, name in ipairs(core.names(types)) do
    local used = false
    for world, list in next, types[name].units do
      -- Nothing is being updated here.
      tidy(types[name], world)
      used = used or #list > 0
    end
    if not used then types[name], forgot = nil, true end
  end
  return forgot
end

-- The order of what there is. What is wrong with components that nobody has any more stops no
-- world.
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

-- Notes that a unit in a component's list has ended: all of these are taken out at once.
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

-- Calls a component's function, if it has one, with the error's context.
local function tell(kind, name, units, dt)
  local fn = kind.module[name]
  if fn == nil then return end
  if type(fn) ~= "function" then
    raise(format("components/%s.lua: '%s' must be a function, got %s", kind.name, name,
      core.describe(fn)))
  end
  fn(units, dt)
end

-- Gives a unit what its parts say, where nothing is said yet.
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

-- Sorts the parts of units by their components: by name, { kind =, units =, parts = }. A unit that
-- has a component twice is in two of them.
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

-- Tells a component of all units of a group that are still there.
local function tell_spawned(world, group, entries)
  local list, told = list_of(group.kind, world), {}
  for i, unit in ipairs(group.units) do
    -- A component may have ended it.
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

-- Tells components of units that came, each component once; `parts[i]` are those of `units[i]`.
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

-- What an error has left half made or half ended ends now, with the frame: nobody has its handle,
-- or it was to end.
local function end_halves()
  local made, dead = half, dying
  half, dying = {}, {}
  for i = 1, #made do
    local unit = made[i] and made[i].unit
    if unit and Unit.alive(unit) then
      -- The last did not get to the end of its `spawned`.
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

-- Forgets a unit's components; those that have not heard of its end will not.
function core.forget_parts(world, unit)
  for _, part in ipairs(parts_of[unit] or {}) do note_gone(types[part.component], world, unit) end
  parts_of[unit] = nil
end

local function check_not_dying(unit)
  if dying[unit] then
    raise(format("World.destroy_unit: the unit %q ends already: its components are being told "
      .. "(unspawned), and need not end it", Unit.debug_name(unit)))
  end
end

function core.components_unspawned(world, unit)
  local parts = parts_of[unit]
  if not parts then return end
  check_not_dying(unit)
  dying[unit] = world
  dying[#dying + 1] = unit
  for i = #parts, 1, -1 do
    local kind = types[parts[i].component]
    -- Who has heard of its end is not given it again, though another fails.
    parts[i] = nil
    note_gone(kind, world, unit)
    tell(kind, "unspawned", { unit })
  end
  core.forget_parts(world, unit)
  dying[unit] = nil
  if dying[#dying] == unit then dying[#dying] = nil end
end

-- Whether a unit ends anyway, so that whoever ends all of a level need not end it.
function core.is_ending(unit)
  return ending[unit] ~= nil or dying[unit] ~= nil
end

-- The function that updates components, for the search below.
local update_components

-- Whether a component is being updated now. An error that was caught leaves it noted that one is:
-- then no such call is on the stack any more. `within`: that of the caller does not count.
function core.updating(within)
  if not updating then return false end
  local thread = updating_in
  -- The stack of the main one cannot be seen from others; it waits for them.
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
  core.end_units()
  return false
end

-- The component that is being updated in a world, if one is.
function core.updating_in_world(world)
  return core.updating() and updating_of == world and updating or nil
end

-- Notes that a unit ends when the update of the running component has ended; false if it need not
-- wait, for it is no unit of that world.
function core.destroy_later(world, unit)
  core.destroy_unit(world, unit)
  check_not_dying(unit)
  if ending[unit] then
    raise(format("World.destroy_unit: the unit ends already after the update of '%s': %s asked "
      .. "for it", updating, ending[unit]))
  end
  ending[unit] = core.place()
  ending[#ending + 1] = { world, unit }
  return true
end

-- An error in one leaves the others to be ended by the next call.
local function end_units()
  while ended < #ending do
    ended = ended + 1
    local world, unit = ending[ended][1], ending[ended][2]
    ending[unit] = nil
    -- Its world may have ended since; what failed to end does so with the frame.
    if Unit.alive(unit) and not dying[unit] then core.destroy_now(world, unit) end
  end
  if ended > 0 then ending, ended = {}, 0 end
end

core.end_units = end_units

-- An error may have left the last update in its middle.
function core.begin_components()
  updating = nil
  end_units()
  if #half > 0 or #dying > 0 then end_halves() end
end

local update_native = World.update

-- The native row with what scripts add to it: components, in the order of what they say under
-- `after` and `before`, between the engine's own systems.
function update_components(...)
  update_native(...)
  local world, delta = ...
  if core.updating(true) then
    raise("World.update: the component '" .. updating
      .. "' is being updated: call it in update(dt)")
  end
  if not order then order = ordered() end
  -- A component may spawn units with components that are new.
  local steps = order
  -- Native steps wait until a script comes or all is done: those that nothing parts run together.
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
      -- Scripts have the answers, before nodes are computed.
      if update_systems(world, delta, true, false) then core.answer_questions(world) end
    else
      physics = true
    end
  end
  if physics or scene_graph then update_systems(world, delta, physics, scene_graph) end
end

World.update = update_components

function core.inspect_components(unit)
  local lines = {}
  for _, part in ipairs(parts_of[unit] or {}) do
    lines[#lines + 1] = format("component %q (%s)", part.name, part.component)
    local module = types[part.component].module
    if type(module.inspect) == "function" then
      -- The others are shown all the same.
      local fine, words = pcall(module.inspect, unit)
      lines[#lines + 1] = (fine and "  " or "  its inspect fails: ") .. tostring(words)
    end
  end
  return lines
end

-- Components whose module was reloaded keep their units; a changed order counts at once. One that
-- returns another table than before is that from now on; where it returns none, the old one stays.
function core.components_reloaded()
  order = nil
  for _, name in ipairs(core.names(types)) do
    local kind, module = types[name], core.modules["components." .. name]
    if type(module) == "table" then
      kind.module, kind.refused = module, nil
      check_names(kind)
    elseif module ~= nil and module ~= kind.refused then
      -- Files that are saved later say nothing new of it.
      kind.refused = module
      core.log("error", format("components/%s.lua must return a table, and returned %s: what it "
        .. "returned before stays in use", name, core.describe(module)))
    end
  end
end

-- The world is gone, with the lists of its units.
function core.forget_components(world)
  for _, kind in next, types do
    kind.units[world], kind.gone[world] = nil, nil
  end
end
