-- Suite of Unit.mesh_pick_raycast: the meshes of a unit that a ray hits.

local world

local function near(a, b) assert.is_true(Vector3.almost_equal(a, b, 1e-4), tostring(b)) end

describe("Unit.mesh_pick_raycast", function()
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("hits the nearest triangle in any pose of the unit", function()
    local turned = Quaternion.axis_angle(Vector3.up(), math.pi / 2)
    local cube = World.spawn_unit(world, "core/units/cube", Vector3(0, 10, 1), turned)
    Unit.set_local_scale(cube, 1, Vector3(4, 2, 2))
    local distance, normal, mesh =
      Unit.mesh_pick_raycast(cube, Vector3(0.3, 0, 1.2), Vector3(0, 3, 0))
    assert.near(8, distance, 1e-4)
    near(Vector3(0, -1, 0), normal)
    assert.equals(Unit.mesh(cube, 1), mesh)
    assert.is_nil(Unit.mesh_pick_raycast(cube, Vector3(1.2, 0, 1), Vector3(0, 1, 0)))
    assert.is_nil(Unit.mesh_pick_raycast(cube, Vector3(0, 0, 1), Vector3(0, 1, 0), 7.9))
    assert.near(8, (Unit.mesh_pick_raycast(cube, Vector3(0, 0, 1), Vector3(0, 1, 0), 8.1)), 1e-4)
  end)

  it("finds the front of a mirrored mesh", function()
    local cube = World.spawn_unit(world, "core/units/cube", Vector3(0, 5, 0))
    Unit.set_local_scale(cube, 1, Vector3(-1, 1, 1))
    local _, normal = Unit.mesh_pick_raycast(cube, Vector3(0.1, 0, 0.2), Vector3(0, 1, 0))
    near(Vector3(0, -1, 0), normal)
  end)

  it("passes through holes, and misses hidden meshes and meshes of scale 0", function()
    local torus = World.spawn_unit(world, "core/units/torus", Vector3(0, 0, 0))
    assert.is_nil(Unit.mesh_pick_raycast(torus, Vector3(0, 0, 5), Vector3(0, 0, -1)))
    local cube = World.spawn_unit(world, "core/units/cube", Vector3(0, 5, 0))
    local function meets()
      return Unit.mesh_pick_raycast(cube, Vector3(0, 0, 0), Vector3(0, 1, 0))
    end
    assert.near(4.5, (meets()), 1e-4)
    Unit.set_unit_visibility(cube, false)
    assert.is_nil(meets())
    Unit.set_unit_visibility(cube, true)
    Unit.set_local_scale(cube, 1, Vector3(0, 1, 1))
    assert.is_nil(meets())
  end)

  it("hits the level of detail that a camera shows, wherever the ray starts", function()
    local unit = World.spawn_unit(world, "units/detail", Vector3(0, 0, 0))
    local camera = Application.create_camera()
    local function met(y, from, with)
      Camera.set_local_position(camera, Vector3(0, y, 0))
      local distance, _, mesh = Unit.mesh_pick_raycast(unit, Vector3(0, from, 0), Vector3(0, 1, 0),
        nil, with)
      return mesh and Mesh.debug_name(mesh), distance
    end
    local fine_name = Mesh.debug_name(Unit.mesh(unit, "fine"))
    local coarse_name = Mesh.debug_name(Unit.mesh(unit, "coarse"))
    assert.not_equals(fine_name, coarse_name)
    local name, distance = met(-5, -5, camera)
    assert.equals(fine_name, name)
    assert.near(4.5, distance, 0.02)
    -- A line of sight begins at the near plane, so the camera's position matters.
    name, distance = met(-20, -5, camera)
    assert.equals(coarse_name, name)
    assert.near(4.5, distance, 1e-3)
    assert.is_nil((met(-50, -5, camera)))
    -- Distant objects do not look smaller, so the finest mesh is shown at any distance.
    Camera.set_projection_type(camera, "orthographic")
    assert.equals(fine_name, (met(-20, -20, camera)))
    assert.equals(fine_name, (met(-50, -50, camera)))
    assert.equals(fine_name, (met(-50, -0.52, camera)))
    -- Without a camera there is no viewing distance.
    name, distance = met(0, -50)
    assert.is_string(name)
    assert.near(49.5, distance, 1e-3)
    Application.destroy_camera(camera)
  end)

  it("hits meshes that the game created", function()
    local unit = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 1))
    local mesh = Mesh.new(unit, { positions = { 0, 0, 0, 2, 0, 0, 0, 2, 0 } })
    local from, down = Vector3(0.5, 0.5, 4), Vector3(0, 0, -1)
    local distance, normal, met = Unit.mesh_pick_raycast(unit, from, down)
    assert.near(3, distance, 1e-5)
    near(Vector3(0, 0, 1), normal)
    assert.equals(mesh, met)
    Mesh.rebuild(mesh, { positions = { 0, 0, 1, 2, 0, 1, 0, 2, 1 } })
    assert.near(2, (Unit.mesh_pick_raycast(unit, from, down)), 1e-5)
    Mesh.destroy(mesh)
    assert.is_nil(Unit.mesh_pick_raycast(unit, from, down))
  end)

  it("finds the unit under the mouse", function()
    local camera = Application.main_camera()
    local cube = World.spawn_unit(world, "core/units/cube", Vector3(1, 8, 0.5))
    local screen = Camera.world_to_screen(camera, Vector3(1, 7.5, 0.5))
    local from, direction = Camera.screen_to_ray(camera, screen)
    local distance = Unit.mesh_pick_raycast(cube, from, direction, nil, camera)
    near(Vector3(1, 7.5, 0.5), from + direction * distance)
  end)

  it("reports invalid arguments", function()
    local cube = World.spawn_unit(world, "core/units/cube")
    local function check(message, ...)
      local ok, problem = pcall(Unit.mesh_pick_raycast, ...)
      assert.is_false(ok)
      assert.matches(message, problem, 1, true)
    end
    check("Unit.mesh_pick_raycast: argument #1 'unit' must be Unit, got nil")
    check("argument #2 'from' must be Vector3, got nil", cube)
    check("argument #3 'direction' has no length", cube, Vector3(0, 0, 0), Vector3(0, 0, 0))
    check("argument #4 'length' must be above 0 metres, got -1", cube, Vector3(0, 0, 0),
      Vector3(0, 0, 1), -1)
    check("argument #5 'camera': must be a Camera, and the number 12", cube, Vector3(0, 0, 0),
      Vector3(0, 0, 1), nil, 12)
  end)
end)
