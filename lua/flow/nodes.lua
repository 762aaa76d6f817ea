-- Nodes of graphs that are written in Lua: what artists need most, with inputs that fit a graph.
-- Other functions of the engine have nodes by their documentation (src/script/api/flow/nodes.rs).
local core = ...

local World, Unit, Level = core.module("World"), core.module("Unit"), core.module("Level")
local Light, Mesh, Actor = core.module("Light"), core.module("Mesh"), core.module("Actor")
local Sound = core.module("Sound")
local Vector3 = core.module("Vector3")
local Material = core.module("Material")
local format, type, error, ipairs = string.format, type, error, ipairs
local istype = core.ffi.istype

local function unit_pin(name)
  return { name = name or "unit", type = "unit", default = "self" }
end

-- Returns the index of a node of a unit; the root without a name.
local function node_of(unit, name)
  if name == nil or name == "" then return 1 end
  return Unit.node(unit, name)
end

local NODE = { name = "node", type = "text", default = "", doc = "a node of the unit; its root" }

-- Materials that were created for single meshes: by unit, then by mesh and index.
local own_materials = {}

local function set_material_value(unit, mesh_name, variable, value, index)
  local mesh = Unit.mesh(unit, mesh_name)
  local of_unit = own_materials[unit] or {}
  local key = format("%.0f:%d", mesh, index)
  local material = of_unit[key]
  if not material then
    local shared = Mesh.material(mesh, index)
    if not shared then
      error(format("the mesh '%s' has no material %d, and is plain white", mesh_name, index), 0)
    end
    material = Material.new(Material.name(shared))
    Mesh.set_material(mesh, index, material)
    of_unit[key], own_materials[unit] = material, of_unit
  end
  if type(value) == "number" then
    Material.set_scalar(material, variable, value)
  elseif istype(core.ctypes.Vector3, value) then
    Material.set_vector3(material, variable, value)
  elseif istype(core.ctypes.Color, value) then
    Material.set_color(material, variable, value)
  else
    error(format("'value' must be a number, a vector or a color, got %s", core.describe(value)), 0)
  end
end

local function end_materials(_, unit)
  local of_unit = own_materials[unit]
  if not of_unit then return end
  own_materials[unit] = nil
  for _, key in ipairs(core.names(of_unit)) do
    if Material.alive(of_unit[key]) then Material.destroy(of_unit[key]) end
  end
end

core.on("unit_end", "flow", end_materials)
core.on("unit_abandoned", "flow", end_materials)

-- Returns the first actor of a unit that forces move.
local function dynamic_actor(unit)
  for i = 1, Unit.num_actors(unit) do
    local actor = Unit.actor(unit, i)
    if actor and Actor.is_dynamic(actor) then return actor end
  end
end

local function replace(resource, unit)
  local position, rotation = Unit.world_position(unit, 1), Unit.world_rotation(unit, 1)
  local world, before = Unit.world(unit), dynamic_actor(unit)
  local velocity = before and Actor.velocity(before)
  -- The old bodies must not push the new ones away.
  World.destroy_unit(world, unit)
  local spawned = World.spawn_unit(world, resource, position, rotation)
  local after = Unit.alive(spawned) and dynamic_actor(spawned)
  if velocity and after then Actor.set_velocity(after, velocity) end
  return spawned
end

core.add_flow_nodes("unit.", {
  position = {
    title = "Position", category = "Unit", query = true,
    doc = "The position of a unit, or of one of its nodes, in the world.",
    inputs = { unit_pin(), NODE },
    outputs = { { name = "position", type = "vector" } },
    run = function(unit, node) return Unit.world_position(unit, node_of(unit, node)) end,
  },
  rotation = {
    title = "Rotation", category = "Unit", query = true,
    doc = "The rotation of a unit, or of one of its nodes, in the world.",
    inputs = { unit_pin(), NODE },
    outputs = { { name = "rotation", type = "rotation" } },
    run = function(unit, node) return Unit.world_rotation(unit, node_of(unit, node)) end,
  },
  set_position = {
    title = "Set position", category = "Unit",
    doc = "Sets the local position of a unit, or of one of its nodes.",
    inputs = { unit_pin(), { name = "position", type = "vector" }, NODE },
    run = function(unit, position, node)
      Unit.set_local_position(unit, node_of(unit, node), position)
    end,
  },
  set_rotation = {
    title = "Set rotation", category = "Unit",
    doc = "Sets the local rotation of a unit, or of one of its nodes.",
    inputs = { unit_pin(), { name = "rotation", type = "rotation" }, NODE },
    run = function(unit, rotation, node)
      Unit.set_local_rotation(unit, node_of(unit, node), rotation)
    end,
  },
  spawn = {
    title = "Spawn unit", category = "Unit",
    doc = "Spawns a unit at the position of another one, moved by an offset.",
    inputs = {
      { name = "resource", type = "resource", resource = "unit" },
      { name = "at", type = "unit", default = "self" },
      { name = "offset", type = "vector", default = { 0, 0, 0 } },
      { name = "node", type = "text", default = "" },
    },
    outputs = { { name = "unit", type = "unit" } },
    run = function(resource, at, offset, node)
      local position = Unit.world_position(at, node_of(at, node)) + (offset or Vector3.zero())
      return World.spawn_unit(Unit.world(at), resource, position)
    end,
  },
  destroy = {
    title = "Destroy unit", category = "Unit",
    doc = "Destroys a unit. If it is the unit of the graph, the chain ends here.",
    inputs = { unit_pin() },
    run = function(unit)
      if Unit.alive(unit) then World.destroy_unit(Unit.world(unit), unit) end
    end,
  },
  effect = {
    title = "Play effect", category = "Unit",
    doc = "Plays a particle effect at a node of a unit.",
    inputs = {
      { name = "effect", type = "resource", resource = "particles" }, unit_pin(), NODE,
    },
    outputs = { { name = "effect", type = "handle" } },
    run = function(effect, unit, node)
      local index = node_of(unit, node)
      return World.create_particles(Unit.world(unit), effect, Unit.world_position(unit, index),
        Unit.world_rotation(unit, index))
    end,
  },
  sound = {
    title = "Play sound", category = "Unit",
    doc = "Plays a sound at the position of a unit.",
    inputs = { { name = "sound", type = "resource", resource = "sound" }, unit_pin() },
    outputs = { { name = "voice", type = "handle" } },
    run = function(sound, unit)
      return Sound.trigger(Unit.world(unit), sound, { unit = unit })
    end,
  },
  set_light = {
    title = "Switch light", category = "Unit",
    doc = "Switches a light of a unit on or off, and sets its intensity.",
    inputs = {
      unit_pin(), { name = "light", type = "text" },
      { name = "on", type = "boolean", default = true },
      { name = "intensity", type = "number", optional = true },
    },
    run = function(unit, name, on, intensity)
      local light = Unit.light(unit, name)
      Light.set_enabled(light, on)
      if intensity then Light.set_intensity(light, intensity) end
    end,
  },
  set_visible = {
    title = "Show or hide unit", category = "Unit",
    doc = "Shows or hides a unit.",
    inputs = { unit_pin(), { name = "visible", type = "boolean", default = true } },
    run = function(unit, visible) Unit.set_unit_visibility(unit, visible) end,
  },
  set_mesh_visible = {
    title = "Show or hide mesh", category = "Unit",
    doc = "Shows or hides a mesh of a unit.",
    inputs = {
      unit_pin(), { name = "mesh", type = "text" },
      { name = "visible", type = "boolean", default = true },
    },
    run = function(unit, mesh, visible)
      Mesh.set_visibility(Unit.mesh(unit, mesh), visible)
    end,
  },
  push = {
    title = "Push", category = "Unit",
    doc = "Gives an actor of a unit an impulse, in kilogram metres per second.",
    inputs = {
      unit_pin(), { name = "impulse", type = "vector" },
      { name = "actor", type = "text", default = "" },
    },
    run = function(unit, impulse, actor)
      local found = Unit.actor(unit, actor ~= "" and actor or 1)
      Actor.add_impulse(found, impulse)
    end,
  },
  set_tint = {
    title = "Set tint", category = "Unit",
    doc = "Multiplies the colors of a mesh of a unit with a color.",
    inputs = {
      unit_pin(), { name = "mesh", type = "text" }, { name = "color", type = "color" },
    },
    run = function(unit, mesh, color) Mesh.set_tint(Unit.mesh(unit, mesh), color) end,
  },
  set_material_value = {
    title = "Set material value", category = "Unit",
    doc = "Sets a variable of a material of one mesh, to a number, a vector or a color. Other units"
      .. " keep theirs.",
    inputs = {
      unit_pin(), { name = "mesh", type = "text" }, { name = "variable", type = "text" },
      { name = "value", type = "any" },
      { name = "material", type = "number", default = 1, doc = "its index in the mesh" },
    },
    run = set_material_value,
  },
  replace = {
    title = "Replace unit", category = "Unit",
    doc = "Spawns another unit in place of a unit, such as its broken form, with its speed. The"
      .. " unit is destroyed; if it is the unit of the graph, the chain ends here.",
    inputs = { { name = "resource", type = "resource", resource = "unit" }, unit_pin() },
    outputs = { { name = "unit", type = "unit" } },
    run = replace,
  },
  set_animation_variable = {
    title = "Set animation variable", category = "Unit",
    doc = "Sets a variable of the state machine of a unit.",
    inputs = {
      unit_pin(), { name = "variable", type = "text" }, { name = "value", type = "number" },
    },
    run = function(unit, variable, value) Unit.animation_set_variable(unit, variable, value) end,
  },
  animation_event = {
    title = "Send animation event", category = "Unit",
    doc = "Sends an event to the state machine of a unit.",
    inputs = { unit_pin(), { name = "event", type = "text" } },
    run = function(unit, event) Unit.animation_event(unit, event) end,
  },
  data = {
    title = "Data of unit", category = "Unit", query = true,
    doc = "The data of a unit under a key, or nothing.",
    inputs = { unit_pin(), { name = "key", type = "text" } },
    outputs = { { name = "value", type = "any" } },
    run = function(unit, key)
      local value = Unit.get_data(unit, key)
      if type(value) == "table" then
        error(format("the data '%s' is a table, and a graph takes single values", key), 0)
      end
      return value
    end,
  },
  set_data = {
    title = "Set data of unit", category = "Unit",
    doc = "Sets the data of a unit under a key.",
    inputs = {
      unit_pin(), { name = "key", type = "text" }, { name = "value", type = "any" },
    },
    run = function(unit, key, value) Unit.set_data(unit, key, value) end,
  },
})

core.add_flow_nodes("level.", {
  unit = {
    title = "Unit of level", category = "Level", query = true,
    doc = "The unit with a name in the file of a level, or nothing.",
    inputs = { { name = "level", type = "level", default = "self" },
      { name = "name", type = "text" } },
    outputs = { { name = "unit", type = "unit" } },
    run = function(level, name) return Level.unit(level, name) end,
  },
})
