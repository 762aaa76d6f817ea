-- Functions of nodes of graphs that need Lua: they spawn and destroy units, or keep scripts' data.
-- Their pins are in src/script/api/flow/lua_nodes.rs. The other nodes of units are native.
local core = ...

local World, Unit = core.module("World"), core.module("Unit")
local Mesh, Actor = core.module("Mesh"), core.module("Actor")
local Vector3 = core.module("Vector3")
local Material = core.module("Material")
local format, type, error, ipairs = string.format, type, error, ipairs
local istype = core.ffi.istype

-- Returns the index of a node of a unit; the root without a name.
local function node_of(unit, name)
  if name == nil or name == "" then return 1 end
  return Unit.node(unit, name)
end

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

core.set_flow_functions({
  ["unit.spawn"] = function(resource, at, offset, node)
    local position = Unit.world_position(at, node_of(at, node)) + (offset or Vector3.zero())
    return World.spawn_unit(Unit.world(at), resource, position)
  end,
  ["unit.destroy"] = function(unit)
    if Unit.alive(unit) then World.destroy_unit(Unit.world(unit), unit) end
  end,
  ["unit.set_material_value"] = set_material_value,
  ["unit.replace"] = replace,
  ["unit.data"] = function(unit, key)
    local value = Unit.get_data(unit, key)
    if type(value) == "table" then
      error(format("the data '%s' is a table, and a graph takes single values", key), 0)
    end
    return value
  end,
  ["unit.set_data"] = function(unit, key, value) Unit.set_data(unit, key, value) end,
})
