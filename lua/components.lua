-- Components that are scripts (`components/NAME.lua` of a game), and the order in which a world's
-- components are updated. The engine's own components are native, and take part by name.
local core = ...

local type, next, tostring = type, next, tostring
local format, concat, remove = string.format, table.concat, table.remove
local raise = core.raise

local World = core.module("World")

-- The native steps of a world's update, in their own order. Scripts stand before the first of them
-- unless they say `after`.
local NATIVE = { "physics", "scene_graph" }

-- Of each type of component, by name: { name =, module =, units = { by world: list } }
local types = {}
local order -- the names of native steps and of types, sorted; nil when a type came
local parts_of = {} -- by unit: the parts of its resource that are scripts
local updating -- the name of the component whose update runs
local ending = {} -- units that end after it: unit -> place

local function type_of(name)
  local known = types[name]
  if known then return known end
  local module = core.require("components." .. name)
  if type(module) ~= "table" then
    raise(format("components/%s.lua must return a table, with functions such as `update = "
      .. "function(units, dt) … end`, and returned %s", name, core.describe(module)))
  end
  known = { name = name, module = module, units = {} }
  types[name] = known
  order = nil
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
      end
    end
    for _, other in ipairs(named(kind, "before")) do
      if before[other] then before[other][name] = true end
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
      local left = {}
      for _, name in ipairs(all) do
        if not done[name] then left[#left + 1] = name end
      end
      raise("components wait for each other in a circle (after, before): " .. concat(left, ", "))
    end
    done[found] = true
    result[#result + 1] = found
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

function core.components_spawned(world, unit, parts)
  if #parts == 0 then return end
  local data = core.unit_data[unit]
  if not data then
    data = {}
    core.unit_data[unit] = data
  end
  parts_of[unit] = parts
  for _, part in ipairs(parts) do
    type_of(part.component)
    local fields = {}
    for key, value in next, part.fields do
      if key ~= "component" then fields[key] = value end
    end
    local known = data[part.name]
    if known == nil then
      data[part.name] = fields
    elseif type(known) == "table" then
      for key, value in next, fields do
        if known[key] == nil then known[key] = value end
      end
    end
  end
  for _, part in ipairs(parts) do
    local kind = types[part.component]
    local list = list_of(kind, world)
    list[#list + 1] = unit
    tell(kind, "spawned", { unit })
  end
end

function core.components_unspawned(world, unit)
  local parts = parts_of[unit]
  if not parts then return end
  for i = #parts, 1, -1 do
    local kind = types[parts[i].component]
    tell(kind, "unspawned", { unit })
    local list = list_of(kind, world)
    for at = #list, 1, -1 do
      if list[at] == unit then
        remove(list, at)
        break
      end
    end
  end
  parts_of[unit] = nil
end

function core.updating()
  return updating ~= nil
end

-- Notes that a unit ends when the update of the running component has ended; false if it need not
-- wait, for it is no unit of that world.
function core.destroy_later(world, unit)
  core.destroy_unit(world, unit)
  if ending[unit] then
    raise(format("World.destroy_unit: the unit ends already after the update of '%s': %s asked "
      .. "for it", updating, ending[unit]))
  end
  ending[unit] = core.place()
  ending[#ending + 1] = { world, unit }
  return true
end

local function end_units()
  if #ending == 0 then return end
  local list = ending
  ending = {}
  for i = 1, #list do core.destroy_now(list[i][1], list[i][2]) end
end

-- An error may have left the last update in its middle.
function core.begin_components()
  updating = nil
  end_units()
end

local update_native = World.update

-- The native row with what scripts add to it: components, in the order of what they say under
-- `after` and `before`, between the engine's own systems.
World.update = function(...)
  update_native(...)
  local world, delta = ...
  if updating then
    raise("World.update: the component '" .. updating
      .. "' is being updated: call it in update(dt)")
  end
  if not order then order = sorted() end
  for i = 1, #order do
    local kind = types[order[i]]
    if kind then
      local units = kind.units[world]
      if units and #units > 0 then
        updating = kind.name
        tell(kind, "update", units, delta)
        updating = nil
        end_units()
      end
    elseif order[i] == "physics" then
      core.step_physics(world, delta)
    elseif order[i] == "scene_graph" then
      core.update_scene(world)
    end
  end
end

function core.inspect_components(unit)
  local lines = {}
  for _, part in ipairs(parts_of[unit] or {}) do
    lines[#lines + 1] = format("component %q (%s)", part.name, part.component)
    local module = types[part.component].module
    if type(module.inspect) == "function" then
      lines[#lines + 1] = "  " .. tostring(module.inspect(unit))
    end
  end
  return lines
end

-- Components whose module was reloaded keep their units; a changed order counts at once.
function core.components_reloaded()
  order = nil
end

-- The world is gone, with the lists of its units.
function core.forget_components(world)
  for _, kind in next, types do kind.units[world] = nil end
end
