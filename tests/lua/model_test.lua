-- Suite of models: units created from models, alone and with a unit file on top. Errors of the
-- importer are tested in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a model", function()
  local world

  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("is a unit without a unit file", function()
    local chest = World.spawn_unit(world, "models/chest", Vector3(5, 0, 0))
    assert.equals(5, Unit.num_nodes(chest))
    assert.equals("root", Unit.node_name(chest, 1))
    local lid = Unit.node(chest, "Lid")
    assert.equals(Vector3(5, 0, 1.25), Unit.world_position(chest, lid))
    assert.equals(Unit.node(chest, "Chest"), Unit.scene_graph_parent(chest, lid))
    assert.equals(2, Unit.num_meshes(chest))
    assert.equals(1, Unit.num_lights(chest))
    assert.equals(1, Unit.num_cameras(chest))
    assert.is_true(Unit.is_a(chest, "models/chest"))
  end)

  it("brings its extras as data", function()
    local chest = World.spawn_unit(world, "models/chest")
    assert.equals("wood", Unit.get_data(chest, "material"))
    assert.equals(12, Unit.get_data(chest, "value"))
    assert.is_true(Unit.get_data(chest, "Lid", "locked"))
  end)

  it("brings its light and its camera", function()
    local chest = World.spawn_unit(world, "models/chest", Vector3(0, 0, 1))
    local lamp = Unit.light(chest, "Lamp")
    assert.equals("spot", Light.type(lamp))
    assert.is_true(math.abs(Light.intensity(lamp) - 10) < 1e-4)
    local down = Quaternion.forward(Light.world_rotation(lamp))
    assert.is_true(Vector3.almost_equal(Vector3(0, 0, -1), down, 1e-5))
    local eye = Unit.camera(chest, "Eye")
    assert.is_true(Vector3.almost_equal(Vector3(0, -6, 3), Camera.world_position(eye), 1e-5))
    assert.is_true(math.abs(Camera.vertical_fov(eye) - 0.785398) < 1e-4)
    Unit.set_local_position(chest, 1, Vector3(1, 0, 0))
    assert.is_true(Vector3.almost_equal(Vector3(1, -6, 2), Camera.world_position(eye), 1e-5))
    Camera.set_local_position(eye, Vector3(0, 0, 1))
    assert.equals(Vector3(0, 0, 1), Camera.local_position(eye))
    assert.is_true(Vector3.almost_equal(Vector3(1, -6, 3), Camera.world_position(eye), 1e-5))
    World.destroy_unit(world, chest)
    assert.is_false(Camera.alive(eye))
    assert.is_false(Light.alive(lamp))
  end)

  it("has its materials by name", function()
    local chest = World.spawn_unit(world, "models/chest")
    local body = Unit.mesh(chest, "Chest")
    assert.equals(2, Mesh.num_materials(body))
    local wood = Mesh.material(body, "Wood")
    assert.equals("models/chest/Wood", Material.name(wood))
    assert.equals(wood, Mesh.material(body, 1))
    assert.equals("Iron", Mesh.material_slot_name(body, 2))
    Material.set_scalar(wood, "roughness", 0.5)
    Material.set_color(wood, "base_color", Color(255, 128, 0))
    Material.set_vector3(wood, "emissive", Vector3(1, 0, 0))
    assert.equals("Material.set_scalar: argument #2 'name': the material 'models/chest/Wood' has "
      .. "no variable 'rougness', did you mean 'roughness'?",
      error_of(Material.set_scalar, wood, "rougness", 1))
    assert.equals("Material.set_scalar: argument #2 'name': the variable 'base_color' of the "
      .. "material 'models/chest/Wood' has 4 numbers, got a number",
      error_of(Material.set_scalar, wood, "base_color", 1))
    assert.equals("Material.set_scalar: argument #2 'name': the variable 'alpha_cutoff' of the "
      .. "material 'models/chest/Wood' has no effect, because its alpha is not \"mask\"",
      error_of(Material.set_scalar, wood, "alpha_cutoff", 1))
    local own = Material.new("models/chest/Wood")
    assert.is_true(own ~= wood)
    Mesh.set_material(body, 1, own)
    assert.equals(own, Mesh.material(body, 1))
    Material.destroy(own)
    assert.equals(wood, Mesh.material(body, 1))
  end)

  it("can be extended by a unit file", function()
    local chest = World.spawn_unit(world, "units/chest")
    assert.equals(6, Unit.num_nodes(chest))
    assert.equals(Vector3(0, 0, 1.5), Unit.local_position(chest, Unit.node(chest, "Lid")))
    assert.equals(Vector3(1, 1, 0.25), Unit.local_scale(chest, Unit.node(chest, "Lid")))
    assert.equals(3, Unit.num_meshes(chest))
    assert.equals(20, Unit.get_data(chest, "value"))
    assert.equals("wood", Unit.get_data(chest, "material"))
    local lid = Unit.mesh(chest, "Lid")
    assert.is_false(Mesh.casts_shadows(lid))
    assert.equals("materials/rust", Material.name(Mesh.material(lid, 1)))
    local grip = Unit.mesh(chest, "grip")
    assert.equals("core/models/torus/torus", Mesh.debug_name(grip))
    local near, far = Mesh.range(grip)
    assert.same({ 0, 20 }, { near, far })
    assert.is_true(Unit.is_a(chest, "models/chest"))
  end)

  it("is replaced by the model of an inheriting unit", function()
    local chest = World.spawn_unit(world, "units/steel_chest")
    assert.is_false(Unit.has_node(chest, "Chest"))
    assert.equals(3, Unit.num_meshes(chest))
    assert.equals("core/models/sphere/sphere", Mesh.debug_name(Unit.mesh(chest, "Lid")))
    assert.equals(20, Unit.get_data(chest, "value"))
    assert.is_nil(Unit.get_data(chest, "material"))
    assert.is_true(Unit.is_a(chest, "units/chest"))
    assert.is_false(Unit.is_a(chest, "models/chest"))
  end)

  it("is scaled by a settings file", function()
    local chest = World.spawn_unit(world, "models/big")
    local _, half = Mesh.box(Unit.mesh(chest, "Chest"))
    assert.is_true(Vector3.almost_equal(Vector3(2, 2, 2), half, 1e-5))
    assert.equals(Vector3(0, 0, 2.5), Unit.world_position(chest, Unit.node(chest, "Lid")))
  end)

  it("reports missing names", function()
    local function check(unit, message)
      assert.equals("World.spawn_unit: " .. message, error_of(World.spawn_unit, world, unit))
    end
    check("units/bad_mesh",
      "component 'lid': the model 'models/chest' has no mesh 'Covr', did you mean 'Cover'?")
    check("units/bad_node",
      "component 'lamp' names the node 'Lampe', which does not exist, did you mean 'Lamp'?")
    check("units/bad_material",
      "component 'lid': the model 'models/chest' has no material 'Wod', did you mean 'Wood'?")
  end)

  it("refuses a name that two of its nodes have", function()
    local twins = World.spawn_unit(world, "models/twins")
    assert.equals(3, Unit.num_nodes(twins))
    assert.equals("Unit.node: argument #2 'name': two nodes are named 'Pillow' in unit "
      .. "\"models/twins\": rename one, so that it is clear which is meant",
      error_of(Unit.node, twins, "Pillow"))
    assert.equals(3, Unit.node(twins, "Pillow#2"))
    assert.equals("World.spawn_unit: two nodes are named 'Pillow' in model 'models/twins': rename "
      .. "one, so that it is clear which is meant",
      error_of(World.spawn_unit, world, "units/bad_twins"))
  end)
end)
