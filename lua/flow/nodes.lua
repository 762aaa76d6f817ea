-- Nodes of graphs that are written in Lua: what artists need most, with inputs that fit a graph.
-- Other functions of the engine have nodes by their documentation (src/script/api/flow/nodes.rs).
local core = ...

local World, Unit, Level = core.module("World"), core.module("Unit"), core.module("Level")
local Light, Mesh, Actor = core.module("Light"), core.module("Mesh"), core.module("Actor")
local Sound = core.module("Sound")
local Vector3 = core.module("Vector3")
local format, type, error = string.format, type, error

local function unit_pin(name)
  return { name = name or "unit", type = "unit", default = "self" }
end

-- Returns the index of a node of a unit; the root without a name.
local function node_of(unit, name)
  if name == nil or name == "" then return 1 end
  return Unit.node(unit, name)
end

local NODE = { name = "node", type = "text", default = "", doc = "a node of the unit; its root" }

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
