-- Suite of navigation meshes over tile maps with collision: the inside of solid tiles is no ground.
-- Bakes of levels are tested in Rust, in tests/navigation_compile.rs.

describe("a navigation mesh with a tile map that lies flat", function()
  local world, map, mesh

  before_each(function()
    world = Application.new_world()
    local floor = World.spawn_unit(world, "core/units/empty", Vector3(6, 3, -0.5))
    Unit.create_actor(floor, "floor", { type = "static", shape = "box", size = { 40, 30, 1 } })
    map = Unit.tilemap(World.spawn_unit(world, "units/walled"), 1)
  end)

  after_each(function()
    if mesh then NavigationMesh.destroy(mesh) end
    mesh = nil
    Application.release_world(world)
  end)

  -- Makes a block of 8 by 4 solid tiles, and bakes.
  local function bake()
    for column = 2, 9 do
      for row = 2, 5 do Tilemap.set_tile(map, "ground", column, row, 1) end
    end
    World.update(world, 1 / 60)
    mesh = NavigationMesh.create(world, { radius = 0.4, cell_size = 0.2 })
  end

  it("has no ground inside solid tiles", function()
    bake()
    for _ = 1, 2000 do
      local at = NavigationMesh.random_point(mesh)
      local is_inside = at.x > 1 and at.x < 9 and at.y > 1 and at.y < 5
      assert.is_false(is_inside, tostring(at))
      assert.is_true(at.z < 1, "nobody stands on the tiles")
    end
  end)

  it("puts a destination inside on the ground beside the tiles", function()
    bake()
    local agent = Agent.create(mesh, Vector3(5, -5, 0))
    assert.is_true(Agent.set_destination(agent, Vector3(5, 6.5, 0)))
    local points, reason = NavigationMesh.find_path(mesh, Vector3(5, -5, 0), Vector3(1.8, 3, 0))
    assert.is_nil(reason)
    assert.is_true(points[#points].x < 1, tostring(points[#points]))
    assert.is_nil(NavigationMesh.find_nearest_polygon(mesh, Vector3(5, 3, 0), 1))
  end)
end)
