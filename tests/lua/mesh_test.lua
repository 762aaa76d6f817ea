-- Suite of the meshes of units: queries and changes, and meshes built from numbers.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(a, b) assert.is_true(Vector3.almost_equal(a, b, 1e-4)) end

describe("a mesh", function()
  local world, unit, mesh

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/cube", Vector3(1, 2, 3))
    mesh = Unit.mesh(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("belongs to a node of its unit", function()
    assert.is_true(Mesh.alive(mesh))
    assert.equals(unit, Mesh.unit(mesh))
    assert.equals(2, Mesh.node(mesh))
    assert.equals("core/models/cube/cube", Mesh.debug_name(mesh))
    assert.equals(12, Mesh.num_triangles(mesh))
    assert.equals(mesh, Unit.mesh(unit, "cube"))
    assert.is_true(Unit.has_mesh(unit, "cube"))
    assert.is_false(Unit.has_mesh(unit, "sphere"))
    assert.is_false(Unit.has_mesh(unit, 2))
    World.destroy_unit(world, unit)
    assert.is_false(Mesh.alive(mesh))
    assert.matches("mesh was destroyed in frame", error_of(Mesh.unit, mesh))
  end)

  it("is found by name, or reported as missing", function()
    assert.equals("Unit.mesh: argument #2 'mesh': unit \"core/units/cube\" has no mesh 'cub', did "
      .. "you mean 'cube'?", error_of(Unit.mesh, unit, "cub"))
    assert.equals("Unit.mesh: argument #2 'mesh': unit \"core/units/cube\" has the meshes 1 to 1, "
      .. "got 2", error_of(Unit.mesh, unit, 2))
    local empty = World.spawn_unit(world, "core/units/empty")
    assert.equals("Unit.mesh: argument #2 'mesh': unit \"core/units/empty\" has no meshes",
      error_of(Unit.mesh, empty, 1))
    assert.equals(0, Unit.num_meshes(empty))
  end)

  it("is hidden and shown by itself, by its group and by its unit", function()
    assert.is_true(Mesh.visibility(mesh))
    Mesh.set_visibility(mesh, false)
    assert.is_false(Mesh.visibility(mesh))
    Unit.set_mesh_visibility(unit, 1, true)
    assert.is_true(Mesh.visibility(mesh))
    Unit.set_unit_visibility(unit, false)
    assert.is_true(Mesh.visibility(mesh))
    Unit.set_unit_visibility(unit, true)
    local chest = World.spawn_unit(world, "units/chest")
    assert.is_true(Unit.has_visibility_group(chest, "top"))
    assert.is_false(Unit.has_visibility_group(chest, "bottom"))
    Unit.set_visibility(chest, "top", false)
    assert.equals("Unit.set_visibility: argument #2 'group': unit \"units/chest\" has no "
      .. "visibility group 'tip', did you mean 'top'?",
      error_of(Unit.set_visibility, chest, "tip", true))
  end)

  it("has light layers", function()
    assert.equals(255, Mesh.light_layers(mesh))
    Mesh.set_light_layers(mesh, 2)
    assert.equals(2, Mesh.light_layers(mesh))
    assert.matches("argument #2 'layers' must be a whole number from 0 to 255",
      error_of(Mesh.set_light_layers, mesh, 300))
    assert.matches("argument #1 'mesh'", error_of(Mesh.light_layers, 3))
    Mesh.set_light_layers(mesh, 255)
  end)

  it("has shadows, a tint and a range", function()
    assert.is_true(Mesh.casts_shadows(mesh))
    Mesh.set_casts_shadows(mesh, false)
    assert.is_false(Mesh.casts_shadows(mesh))
    Mesh.set_tint(mesh, Color(128, 255, 128, 0))
    assert.equals(Color(128, 255, 128, 0), Mesh.tint(mesh))
    local from, to = Mesh.range(mesh)
    assert.same({ 0, math.huge }, { from, to })
    Mesh.set_range(mesh, 10, 50)
    assert.same({ 10, 50 }, { Mesh.range(mesh) })
    Mesh.set_range(mesh, 5)
    assert.equals("Mesh.set_range: argument #2 'near' must be 0 or more and less than 'far', got 5 "
      .. "and 2", error_of(Mesh.set_range, mesh, 5, 2))
  end)

  it("has a pose on its node", function()
    near(Vector3(1, 2, 3), Mesh.world_position(mesh))
    Mesh.set_local_position(mesh, Vector3(0, 0, 1))
    near(Vector3(1, 2, 4), Mesh.world_position(mesh))
    near(Vector3(0, 0, 1), Mesh.local_position(mesh))
    Mesh.set_local_rotation(mesh, Quaternion(Vector3.up(), math.pi / 2))
    near(Vector3(-1, 0, 0), Quaternion.forward(Mesh.local_rotation(mesh)))
    near(Vector3(-1, 0, 0), Quaternion.forward(Mesh.world_rotation(mesh)))
    assert.matches("must have length 1", error_of(Mesh.set_local_rotation, mesh,
      Quaternion.from_elements(0, 0, 0, 3)))
    Mesh.set_local_pose(mesh, Matrix4x4.from_quaternion_position_scale(
      Quaternion(), Vector3(0, 0, 0), Vector3(2, 2, 2)))
    near(Vector3(2, 2, 2), Matrix4x4.scale(Mesh.local_pose(mesh)))
    near(Vector3(1, 2, 3), Matrix4x4.translation(Mesh.world_pose(mesh)))
    local center, radius = Mesh.bounding_volume(mesh)
    near(Vector3(1, 2, 3), center)
    assert.is_true(math.abs(radius - math.sqrt(3)) < 1e-4)
    local pose, half = Mesh.box(mesh)
    near(Vector3(1, 2, 3), Matrix4x4.translation(pose))
    near(Vector3(1, 1, 1), half)
  end)

  it("has a rotation and a box even if its scale is 0", function()
    Mesh.set_local_pose(mesh, Matrix4x4.from_quaternion_position_scale(
      Quaternion(), Vector3(0, 0, 0), Vector3(0, 1, 0)))
    Unit.set_local_scale(unit, 1, Vector3(0, 0, 0))
    for _, of in ipairs({ Mesh.local_rotation, Mesh.world_rotation }) do
      assert.is_true(math.abs(Quaternion.norm(of(mesh)) - 1) < 1e-4, tostring(of(mesh)))
    end
    for _, box in ipairs({ { Mesh.box(mesh) }, { Unit.box(unit) } }) do
      local pose, half = box[1], box[2]
      near(Vector3(1, 2, 3), Matrix4x4.translation(pose))
      near(Vector3(0, 0, 0), half)
    end
  end)

  it("is inside the box of its unit", function()
    local pose, half = Unit.box(unit)
    near(Vector3(1, 2, 3), Matrix4x4.translation(pose))
    near(Vector3(0.5, 0.5, 0.5), half)
    local _, none = Unit.box(World.spawn_unit(world, "core/units/empty"))
    assert.equals(Vector3(0, 0, 0), none)
  end)

  it("is drawn with materials", function()
    assert.is_nil(Mesh.material(mesh, 1))
    assert.is_false(Mesh.has_material(mesh, "Wood"))
    local rust = Material.new("materials/rust")
    Mesh.set_material(mesh, 1, rust)
    assert.equals(rust, Mesh.material(mesh, 1))
    Material.set_scalar(rust, "alpha_cutoff", 0.25)
    Material.set_texture(rust, "base_color_texture", "textures/dot")
    assert.matches("the material 'materials/rust' has no texture 'color': it has base_color_",
      error_of(Material.set_texture, rust, "color", "textures/dot"), 1, true)
    Mesh.set_material(mesh, 1, nil)
    assert.is_nil(Mesh.material(mesh, 1))
    assert.equals("Mesh.set_material: argument #2 'index': the mesh 'core/models/cube/cube' has "
      .. "the materials 1 to 1, got 2", error_of(Mesh.set_material, mesh, 2, rust))
    local flat = Material.new("textures/dot")
    assert.equals("Mesh.set_material: argument #3 'material': the material 'textures/dot' is for "
      .. "pictures: meshes take one with a block surface = { }",
      error_of(Mesh.set_material, mesh, 1, flat))
  end)

  it("can replace a material by its name in the file", function()
    local chest = World.spawn_unit(world, "models/chest")
    Unit.set_material(chest, "Iron", "materials/rust")
    assert.equals("materials/rust", Material.name(Mesh.material(Unit.mesh(chest, "Lid"), 1)))
    assert.is_true(Mesh.has_material(Unit.mesh(chest, "Chest"), "Wood"))
    assert.equals("Unit.set_material: argument #2 'slot': no mesh of unit \"models/chest\" has a "
      .. "material 'Irn', did you mean 'Iron'?",
      error_of(Unit.set_material, chest, "Irn", "materials/rust"))
  end)

  it("is listed by Unit.inspect", function()
    local text = Unit.inspect(World.spawn_unit(world, "units/chest"))
    assert.matches('mesh 1 "models/chest/Body" at node 2, 12 triangles', text, 1, true)
    assert.matches("light 1 spot at node", text, 1, true)
    assert.matches("camera 1 perspective at Vector3(0, -6, 2)", text, 1, true)
  end)
end)

describe("a mesh from numbers", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/empty")
  end)
  after_each(function() Application.release_world(world) end)

  it("is created from lists of numbers, of vectors, and from Float32Arrays", function()
    local one = Mesh.new(unit, { positions = { 0, 0, 0, 1, 0, 0, 0, 0, 1 } })
    assert.equals(1, Mesh.num_triangles(one))
    local two = Mesh.new(unit, {
      positions = { Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(1, 0, 1), Vector3(0, 0, 1) },
      normals = { Vector3(0, -1, 0), Vector3(0, -1, 0), Vector3(0, -1, 0), Vector3(0, -1, 0) },
      uvs = { Vector2(0, 1), Vector2(1, 1), Vector2(1, 0), Vector2(0, 0) },
      colors = { Color(255, 0, 0), Color(0, 255, 0), Color(0, 0, 255), Color(255, 255, 255) },
      indices = { 1, 2, 3, 1, 3, 4 },
      material = "materials/rust",
      casts_shadows = false,
    })
    assert.equals(2, Mesh.num_triangles(two))
    assert.is_false(Mesh.casts_shadows(two))
    assert.equals("materials/rust", Material.name(Mesh.material(two, 1)))
    local three = Mesh.new(unit, { positions = Float32Array({ 0, 0, 0, 1, 0, 0, 0, 0, 1 }) }, 1)
    assert.equals(3, Unit.num_meshes(unit))
    assert.equals(three, Unit.mesh(unit, 3))
    local lid = Mesh.new(unit, "models/chest/Cover")
    assert.equals("models/chest/Cover", Mesh.debug_name(lid))
  end)

  it("can be rebuilt and destroyed", function()
    local mesh = Mesh.new(unit, { positions = { 0, 0, 0, 1, 0, 0, 0, 0, 1 } })
    Mesh.rebuild(mesh, { positions = { 0, 0, 0, 2, 0, 0, 2, 0, 2, 0, 0, 2 },
      indices = Float32Array({ 1, 2, 3, 1, 3, 4 }) })
    assert.equals(2, Mesh.num_triangles(mesh))
    local _, half = Mesh.box(mesh)
    near(Vector3(1, 0, 1), half)
    Mesh.destroy(mesh)
    assert.is_false(Mesh.alive(mesh))
    assert.equals(0, Unit.num_meshes(unit))
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.matches("only a mesh that Mesh.new created from numbers can be changed",
      error_of(Mesh.rebuild, Unit.mesh(cube, 1), { positions = {} }))
  end)

  it("reports invalid lists", function()
    local function check(source, message)
      assert.equals("Mesh.new: " .. message, error_of(Mesh.new, unit, source))
    end
    check(5, "argument #2 'source' must be the name of a mesh or a table of lists, got number 5")
    check({}, "there must be 'positions'")
    check({ postions = {} }, "unknown key string \"postions\", did you mean 'positions'?")
    check({ positions = 3 },
      "'positions' must be a list of numbers or of Vector3, or a Float32Array, got number 3")
    check({ positions = { 1, 2 } },
      "'positions' has 2 numbers, and each of its elements takes 3")
    check({ positions = { 0, 0, 0 }, indices = { 0, 1, 1 } },
      "'indices' must be whole numbers from 1, got number 0")
    check({ positions = { 0, 0, 0 }, indices = { 1, 1, 2 ^ 32 + 1 } },
      "'indices' must be whole numbers from 1, got number 4294967297")
    check({ positions = { 0, 0, 0 }, indices = { 1, 1, 2 } },
      "argument #2 'source': an index is 2, and there are 1 positions: indices count from 1")
    check({ positions = { 0, 0, 0 }, uvs = { 0, 0, 1, 1 } },
      "argument #2 'source': there are 1 positions and 2 uvs: give one for each")
    check({ positions = { 0, 0, 0 } },
      "argument #2 'source': 1 corners make no triangles: each takes three")
    check({ positions = { 0, 0, 0, 1, 0, 0, 0 / 0, 0, 1 } },
      "argument #2 'source': a number is not finite (is something divided by zero?)")
    local positions, before = { 0, 0, 0, 1, 0, 0, 0, 0, 1 }, Unit.num_meshes(unit)
    check({ positions = positions, material = 12345 }, "'material' must be the name of a material, "
      .. "or a Material that exists, got number 12345")
    check({ positions = positions, material = "materials/rst" },
      "there is no material 'materials/rst', did you mean 'materials/rust'?")
    check({ positions = positions, casts_shadows = 1 },
      "'casts_shadows' must be true or false, got number 1")
    assert.equals(before, Unit.num_meshes(unit), "nothing is left of them")
    check("models/chest/Covr",
      "argument #2 'source': the model 'models/chest' has no mesh 'Covr', did you mean 'Cover'?")
    check("models/chest", "argument #2 'source': the model 'models/chest' has 2 meshes: name one "
      .. "of them, as 'models/chest/Body' (it has Body, Cover)")
  end)
end)

describe("wrong arguments", function()
  it("are refused by every function of meshes and of rendered units", function()
    for name, fn in pairs(Mesh) do
      if type(fn) == "function" then assert.has_error(function() fn("x") end, nil, name) end
    end
    for _, name in ipairs({ "num_meshes", "num_lights", "num_cameras", "has_mesh", "has_light",
      "has_camera", "set_unit_visibility", "set_mesh_visibility", "has_visibility_group", "box",
      "light", "camera" }) do
      assert.has_error(function() Unit[name]() end)
    end
  end)
end)
