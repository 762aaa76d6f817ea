-- Suite of the volumes of navigation meshes: obstacles, and areas with costs.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local LEFT, RIGHT = Vector3(5, 15, 0), Vector3(25, 15, 0)

describe("a volume of a navigation mesh", function()
  local mesh

  before_each(function()
    local points = { 0, 0, 0, 30, 0, 0, 30, 30, 0, 0, 30, 0 }
    mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 }, { region_min = 1 })
  end)
  after_each(function() NavigationMesh.destroy(mesh) end)

  local function rebuild()
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
  end

  local function length()
    local path, reason = NavigationMesh.find_path(mesh, LEFT, RIGHT)
    local sum = 0
    for i = 2, #path do sum = sum + Vector3.distance(path[i - 1], path[i]) end
    return sum, reason
  end

  it("is an obstacle with area 0", function()
    assert.is_true(length() < 20.1)
    local volume = NavigationMesh.add_box(mesh, 0, Vector3(15, 7, 1), Vector3(2, 26, 2))
    assert.equals(1, NavigationMesh.num_volumes(mesh))
    assert.is_true(NavigationMesh.num_waiting_tiles(mesh) > 0)
    rebuild()
    local around, reason = length()
    assert.is_nil(reason)
    assert.is_true(around > 21, "length " .. around)
    local pillar = NavigationMesh.add_cylinder(mesh, 0, Vector3(15, 24, 0), 8, 2)
    rebuild()
    local _, closed = length()
    assert.equals("unreachable", closed)
    NavigationMesh.remove_volume(mesh, volume)
    NavigationMesh.remove_volume(mesh, pillar)
    rebuild()
    assert.equals(0, NavigationMesh.num_volumes(mesh))
    assert.is_true(length() < 20.1)
  end)

  it("keeps the ground of a thin area", function()
    NavigationMesh.set_area_cost(mesh, 2, 0)
    for i = 1, 6 do
      local strip = NavigationMesh.add_box(mesh, 2, Vector3(15, 11 + i, 0),
        Vector3(i, 0.1 * i, 2), 0.1 * i)
      rebuild()
      local from, to = Vector3(15, 9 + i, 0), Vector3(15, 13 + i, 0)
      local path = NavigationMesh.find_path(mesh, from, to)
      assert.is_true(#path > 2, "a strip of " .. 0.1 * i .. " metres")
      -- Another volume in the same tile takes nothing away from it.
      local crate = NavigationMesh.add_box(mesh, 0, Vector3(18, 11 + i, 0), Vector3(1, 1, 2))
      rebuild()
      path = NavigationMesh.find_path(mesh, from, to)
      assert.is_true(#path > 2, "a strip of " .. 0.1 * i .. " metres, next to a crate")
      NavigationMesh.remove_volume(mesh, crate)
      NavigationMesh.remove_volume(mesh, strip)
    end
  end)

  it("is turned around the vertical axis", function()
    NavigationMesh.add_box(mesh, 0, Vector3(15, 15, 0), Vector3(20, 1, 2), math.pi / 2)
    rebuild()
    assert.is_not_nil(NavigationMesh.raycast(mesh, LEFT, RIGHT))
    assert.is_nil(NavigationMesh.raycast(mesh, Vector3(5, 5, 0), Vector3(5, 25, 0)))
  end)

  it("is convex around points", function()
    local version = NavigationMesh.version(mesh)
    NavigationMesh.add_convex(mesh, 0, { 14, 2, 0, 16, 2, 0, 16, 20, 1, 14, 20, 0, 15, 9, 0 }, 2)
    rebuild()
    assert.is_true(NavigationMesh.version(mesh) > version)
    assert.is_not_nil(NavigationMesh.raycast(mesh, LEFT, RIGHT))
    local around, reason = length()
    assert.is_nil(reason)
    assert.is_true(around > 22, "length " .. around)
    local add = NavigationMesh.add_convex
    assert.matches("that are not on a line", error_of(add, mesh, 0, { 0, 0, 0, 1, 1, 0 }, 1))
    assert.matches("that are not on a line",
      error_of(add, mesh, 0, { 0, 0, 0, 1, 1, 0, 2, 2, 0 }, 1))
    assert.matches("'points'", error_of(add, mesh, 0, { 0, 0, 0, 2e6, 1, 0, 2, 5, 0 }, 1))
    assert.matches("'height'", error_of(add, mesh, 0, { 0, 0, 0, 2, 1, 0, 2, 5, 0 }, 0))
    local many = {}
    for i = 1, 257 * 3 do many[i] = i % 7 end
    assert.matches("CONVEX_POINTS_MAX", error_of(add, mesh, 0, many, 1))
    assert.matches("three numbers", error_of(add, mesh, 0, { 1, 2 }, 1))
    local corners = { Vector3(4, 4, 0), Vector3(6, 4, 0), Vector3(5, 6, 0) }
    NavigationMesh.remove_volume(mesh, add(mesh, 0, corners, 2))
    assert.matches("must be", error_of(NavigationMesh.version, 1))
  end)

  it("gives ground an area with a cost", function()
    NavigationMesh.add_box(mesh, 7, Vector3(15, 15, 0), Vector3(6, 16, 2))
    rebuild()
    local polygon = NavigationMesh.find_polygon(mesh, Vector3(15, 15, 0))
    assert.equals(7, NavigationMesh.polygon_area(mesh, polygon))
    assert.equals(1, NavigationMesh.polygon_area(mesh, NavigationMesh.find_polygon(mesh, LEFT)))
    assert.equals(1, NavigationMesh.area_cost(mesh, 7))
    assert.is_true(length() < 20.5)
    NavigationMesh.set_area_cost(mesh, 7, 9)
    assert.equals(9, NavigationMesh.area_cost(mesh, 7))
    assert.is_true(length() > 21.5)
    NavigationMesh.set_area_cost(mesh, 7, 0)
    local _, reason = NavigationMesh.find_path(mesh, LEFT, Vector3(15, 15, 0))
    assert.equals("unreachable", reason)
  end)

  it("sends agents around it", function()
    local agent = Agent.create(mesh, LEFT, { speed = 5 })
    Agent.set_destination(agent, RIGHT)
    for frame = 1, 600 do
      if frame == 30 then NavigationMesh.add_cylinder(mesh, 0, Vector3(16, 15.1, 0), 3, 2) end
      NavigationMesh.update(mesh, 1 / 60)
      local apart = Vector3.distance(Agent.position(agent), Vector3(16, 15.1, 0))
      assert.is_true(frame < 40 or apart > 3.3, "apart " .. apart)
    end
    assert.equals("arrived", Agent.state(agent))
    local all = NavigationMesh.add_box(mesh, 0, Vector3(15, 15, 0), Vector3(900, 900, 9))
    rebuild()
    assert.equals(0, NavigationMesh.num_polygons(mesh))
    assert.same({ {}, "off_mesh" }, { NavigationMesh.find_path(mesh, LEFT, RIGHT) })
    local answer
    NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function(_, reason) answer = reason end)
    NavigationMesh.update(mesh, 0)
    assert.equals("off_mesh", answer)
    assert.equals("lost", Agent.state(agent))
    NavigationMesh.remove_volume(mesh, all)
    rebuild()
    assert.is_false(Agent.set_destination(agent, RIGHT))
    Agent.cancel(agent)
    assert.equals("lost", Agent.state(agent))
    Agent.set_position(agent, LEFT)
    assert.equals("idle", Agent.state(agent))
    assert.is_true(Agent.set_destination(agent, RIGHT))
    Agent.destroy(agent)
  end)

  it("keeps the destination of an agent below it", function()
    local agent = Agent.create(mesh, RIGHT)
    Agent.set_destination(agent, LEFT)
    local function run(seconds)
      for _ = 1, seconds * 60 do NavigationMesh.update(mesh, 1 / 60) end
    end
    run(0.5)
    local asked = Vector3Box(Agent.destination(agent))
    local obstacle = NavigationMesh.add_box(mesh, 0, LEFT, Vector3(6, 6, 4))
    run(9)
    assert.equals("partial", Agent.state(agent))
    assert.equals(0, Vector3.distance(asked:unbox(), Agent.destination(agent)))
    assert.is_true(Vector3.distance(asked:unbox(), Agent.position(agent)) > 3)
    NavigationMesh.remove_volume(mesh, obstacle)
    run(4)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(asked:unbox(), Agent.position(agent)) < 0.3)
  end)

  it("leaves a way for one agent, which is blocked by one that stands there", function()
    NavigationMesh.add_box(mesh, 0, Vector3(15, 6.5, 1), Vector3(6, 15, 2))
    NavigationMesh.add_box(mesh, 0, Vector3(15, 23.5, 1), Vector3(6, 15, 2))
    rebuild()
    local other = Agent.create(mesh, Vector3(15, 15, 0), { priority = 9 })
    local agent = Agent.create(mesh, LEFT)
    Agent.set_destination(agent, RIGHT)
    local function run(seconds)
      for _ = 1, seconds * 60 do NavigationMesh.update(mesh, 1 / 60) end
    end
    run(9)
    assert.equals("blocked", Agent.state(agent))
    Agent.set_destination(other, Vector3(25, 5, 0))
    run(8)
    assert.equals("arrived", Agent.state(agent))
  end)

  it("is no ground for paths where it closes all of it", function()
    local count = NavigationMesh.num_polygons(mesh)
    local volume = NavigationMesh.add_box(mesh, 0, Vector3(15, 15, 0), Vector3(900, 900, 9))
    rebuild()
    assert.equals(0, NavigationMesh.num_polygons(mesh))
    assert.is_nil(NavigationMesh.random_point(mesh))
    assert.is_nil(NavigationMesh.find_polygon(mesh, LEFT))
    assert.same({ {}, "off_mesh" }, { NavigationMesh.find_path(mesh, LEFT, RIGHT) })
    assert.equals("off_mesh", (select(2, NavigationMesh.raycast(mesh, LEFT, RIGHT))))
    assert.matches("no ground", error_of(Agent.create, mesh, LEFT))
    assert.equals(0, NavigationMesh.draw(mesh))
    NavigationMesh.remove_volume(mesh, volume)
    rebuild()
    assert.equals(count, NavigationMesh.num_polygons(mesh))
    assert.is_true(length() < 20.1)
  end)

  it("leaves a tile as it was if it makes it too complex", function()
    local points = { 0, 0, 0, 100, 0, 0, 100, 100, 0, 0, 100, 0 }
    local wide = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 },
      { cell_size = 0.1, tile_cells = 1000, radius = 0 })
    local count, volumes = NavigationMesh.num_polygons(wide), {}
    for i = 0, 1599 do
      local position = Vector3(2 + i % 40 * 2.4, 2 + math.floor(i / 40) * 2.4, 0)
      volumes[#volumes + 1] = NavigationMesh.add_cylinder(wide, 0, position, 0.8, 2)
    end
    local message
    repeat
      local ok, raised = pcall(NavigationMesh.update, wide, 0)
      if not ok then message = raised end
    until NavigationMesh.num_waiting_tiles(wide) == 0
    assert.matches("baking failed in the tile from %(0%.0, 0%.0%) on: .*CORNERS_MAX", message)
    assert.matches("the tile has volume 1, volume 2, .*, and others", message)
    assert.equals(count, NavigationMesh.num_polygons(wide))
    assert.is_nil(NavigationMesh.raycast(wide, Vector3(1, 1, 0), Vector3(99, 99, 0)))
    for i = 3, #volumes do NavigationMesh.remove_volume(wide, volumes[i]) end
    repeat NavigationMesh.update(wide, 0) until NavigationMesh.num_waiting_tiles(wide) == 0
    assert.is_not_nil(NavigationMesh.raycast(wide, Vector3(1, 1, 0), Vector3(99, 99, 0)))
    NavigationMesh.destroy(wide)
  end)

  it("is drawn with its mesh and agents", function()
    NavigationMesh.add_box(mesh, 7, Vector3(15, 15, 0), Vector3(6, 16, 2))
    rebuild()
    local agent = Agent.create(mesh, LEFT)
    Agent.set_destination(agent, RIGHT)
    NavigationMesh.update(mesh, 1 / 60)
    assert.equals(1, NavigationMesh.num_agents(mesh))
    assert.equals(0, NavigationMesh.draw(mesh))
    -- Lines that do not fit in are counted: a frame has room for 100,000.
    local left_out, draws = 0, 0
    while left_out == 0 and draws < 10000 do
      left_out, draws = NavigationMesh.draw(mesh), draws + 1
    end
    assert.is_true(left_out > 0 and draws > 100, draws .. " draws, " .. left_out .. " left out")
    Debug.clear()
    Agent.destroy(agent)
    assert.equals(0, NavigationMesh.num_agents(mesh))
    assert.matches("must be", error_of(NavigationMesh.draw, 1))
    assert.matches("must be", error_of(NavigationMesh.num_agents, 1))
  end)

  it("refuses wrong arguments", function()
    local box, cylinder = NavigationMesh.add_box, NavigationMesh.add_cylinder
    local one = Vector3(1, 1, 1)
    assert.matches("'area' must be 0 to 63, got 64", error_of(box, mesh, 64, LEFT, one))
    assert.matches("'size' must be above 0", error_of(box, mesh, 0, LEFT, Vector3(1, 0, 1)))
    assert.matches("'center': must be finite", error_of(box, mesh, 0, Vector3(0, 0 / 0, 0), one))
    assert.matches("'center' must be at most", error_of(box, mesh, 0, Vector3(0, 0, -2e6), one))
    assert.matches("'angle' must be", error_of(box, mesh, 0, LEFT, one, 1e300))
    assert.matches("'area' must be 0 to 63", error_of(cylinder, mesh, -1, LEFT, 1, 1))
    assert.matches("'radius' must be above 0", error_of(cylinder, mesh, 0, LEFT, 0, 1))
    assert.matches("'height' must be above 0", error_of(cylinder, mesh, 0, LEFT, 1, 1e9))
    assert.matches("the mesh has no volume 5", error_of(NavigationMesh.remove_volume, mesh, 5))
    assert.matches("'area' must be 1 to 63", error_of(NavigationMesh.set_area_cost, mesh, 0, 1))
    assert.matches("Level.navigation_area%(level, name%)",
      error_of(NavigationMesh.set_area_cost, mesh, "mud", 1))
    assert.matches("'radius' must be above 0.*got %-1",
      error_of(NavigationMesh.add_cylinder, mesh, 1, Vector3(), -1, 1))
    assert.matches("'cost' must be 0, or", error_of(NavigationMesh.set_area_cost, mesh, 1, 1e9))
    assert.matches("'area' must be 1 to 63", error_of(NavigationMesh.area_cost, mesh, 64))
    assert.matches("has no polygon", error_of(NavigationMesh.polygon_area, mesh, 0))
    assert.matches("must be", error_of(NavigationMesh.num_volumes, 1))
    assert.matches("must be", error_of(NavigationMesh.num_waiting_tiles, "mesh"))
  end)
end)
