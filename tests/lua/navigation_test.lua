-- Suite of navigation: meshes and agents. Baking, searches and steering have their own tests in
-- Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

-- Adds the faces of a box to lists of points and triangles.
local function push_box(points, triangles, low, high)
  local first = #points / 3
  for i = 0, 7 do
    points[#points + 1] = i % 2 == 0 and low[1] or high[1]
    points[#points + 1] = i % 4 < 2 and low[2] or high[2]
    points[#points + 1] = i < 4 and low[3] or high[3]
  end
  for _, face in ipairs({ { 4, 5, 7, 6 }, { 0, 2, 3, 1 }, { 0, 1, 5, 4 }, { 2, 6, 7, 3 },
    { 0, 4, 6, 2 }, { 1, 3, 7, 5 } }) do
    local a, b, c, d = unpack(face)
    for _, corner in ipairs({ a, b, c, a, c, d }) do
      triangles[#triangles + 1] = first + corner + 1
    end
  end
end

-- A floor of 30 by 30 metres with a wall across it that has a gap at the upper end.
local function hall()
  local points, triangles = {}, {}
  push_box(points, triangles, { 0, 0, -1 }, { 30, 30, 0 })
  push_box(points, triangles, { 14.5, 0, 0 }, { 15.5, 24, 3 })
  return NavigationMesh.create_from_triangles(points, triangles, { region_min = 1 })
end

local LEFT, RIGHT = Vector3(5, 5, 0), Vector3(25, 5, 0)

-- Returns the number of lines that a function shows in a frame, to a camera that sees all of them.
local function lines_of(show)
  local world, camera = Application.new_world(), Application.main_camera()
  Camera.set_local_position(camera, Vector3(15, -60, 60))
  Camera.set_local_rotation(camera, Quaternion(Vector3.right(), -math.pi / 4))
  show()
  Application.render_world(world, camera)
  test.frames(1)
  local count = 0
  for _, draw in ipairs(test.draws()) do count = count + draw.count end
  Application.release_world(world)
  return count
end

local function num_edges(mesh, polygons)
  local count = 0
  for _, polygon in ipairs(polygons) do
    count = count + #NavigationMesh.polygon_vertices(mesh, polygon)
  end
  return count
end

describe("a navigation mesh", function()
  local mesh

  before_each(function() mesh = hall() end)
  after_each(function() if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end end)

  it("finds paths around walls", function()
    local path, reason = NavigationMesh.find_path(mesh, LEFT, RIGHT)
    assert.is_nil(reason)
    local length = 0
    for i = 2, #path do length = length + Vector3.distance(path[i - 1], path[i]) end
    assert.is_true(length > 44 and length < 50, "length " .. length)
    assert.is_true(Vector3.distance(path[#path], RIGHT) < 0.5)
    path, reason = NavigationMesh.find_path(mesh, Vector3(900, 0, 0), RIGHT)
    assert.same({ 0, "off_mesh" }, { #path, reason })
    assert.matches("'to' must be at most 1000000",
      error_of(NavigationMesh.find_path, mesh, LEFT, Vector3(0, 3e38, 0)))
  end)

  it("says that it has no ground if its triangles face down", function()
    local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
    local empty = NavigationMesh.create_from_triangles(points, { 1, 3, 2, 1, 4, 3 })
    assert.equals(0, NavigationMesh.num_polygons(empty))
    assert.matches("the navigation mesh has no ground at all: triangles must be counter%-clockwise",
      error_of(Agent.create, empty, Vector3(10, 10, 0)))
    NavigationMesh.destroy(empty)
  end)

  it("is baked without one-way platforms", function()
    local world = Application.new_world()
    local function spawn(size, position, one_way)
      local unit = World.spawn_unit(world, "core/units/empty", position)
      Unit.create_actor(unit, "box",
        { type = "static", shape = "box", size = size, one_way = one_way })
    end
    spawn({ 30, 30, 1 }, Vector3(15, 15, -0.5), false)
    spawn({ 1, 30, 3 }, Vector3(10, 15, 1.5), true)
    local open = NavigationMesh.create(world)
    assert.is_nil(NavigationMesh.raycast(open, LEFT, RIGHT))
    spawn({ 1, 30, 3 }, Vector3(20, 15, 1.5), false)
    local closed = NavigationMesh.create(world)
    local hit = NavigationMesh.raycast(closed, LEFT, RIGHT)
    assert.is_true(hit.x > 17 and hit.x < 20, tostring(hit))
    NavigationMesh.destroy(open)
    NavigationMesh.destroy(closed)
    Application.release_world(world)
  end)

  it("searches paths as lists of polygons", function()
    local from = NavigationMesh.find_polygon(mesh, LEFT)
    local to = NavigationMesh.find_polygon(mesh, RIGHT)
    local polygons, reason = NavigationMesh.partial_search(mesh, from, to)
    assert.same(NavigationMesh.search(mesh, from, to), polygons)
    assert.is_nil(reason)
    local points = NavigationMesh.funnel(mesh, polygons, LEFT, RIGHT)
    assert.is_true(Vector3.distance(points[1], LEFT) < 0.5 and #points >= 4)
    assert.is_true(Vector3.distance(points[#points], RIGHT) < 0.5)
    for _, polygon in ipairs(polygons) do
      if polygon ~= from then NavigationMesh.set_obstructed(mesh, polygon, true) end
    end
    polygons, reason = NavigationMesh.partial_search(mesh, from, to)
    assert.equals("unreachable", reason)
    assert.equals(from, polygons[1])
    assert.matches("are no neighbours", error_of(NavigationMesh.funnel, mesh, { from, to }, LEFT,
      RIGHT))
    assert.matches("must have 1 to 65536 numbers", error_of(NavigationMesh.funnel, mesh, {}, LEFT,
      RIGHT))
    assert.matches("the mesh has no polygon 9999", error_of(NavigationMesh.funnel, mesh, { 9999 },
      LEFT, RIGHT))
  end)

  it("shows the polygons that its last search has visited", function()
    local from = NavigationMesh.find_polygon(mesh, LEFT)
    local near = NavigationMesh.polygon_neighbors(mesh, from)[1]
    local to = NavigationMesh.find_polygon(mesh, RIGHT)
    local function shown()
      return lines_of(function()
        assert.equals(0, NavigationMesh.visualize_last_search(mesh))
      end)
    end
    NavigationMesh.search(mesh, from, near)
    assert.equals(num_edges(mesh, { from }), shown())
    -- The end is found from the polygon before it, and not visited.
    local path = NavigationMesh.search(mesh, from, to)
    path[#path] = nil
    local lines = shown()
    assert.is_true(#path > 2 and lines >= num_edges(mesh, path), lines .. " lines")
    -- What is shown lasts for a frame.
    assert.equals(0, lines_of(function() end))
  end)

  it("is drawn as the edges of its polygons, with its links and agents", function()
    local function shown() return lines_of(function() NavigationMesh.draw(mesh) end) end
    local all = {}
    for polygon = 1, NavigationMesh.num_polygons(mesh) do all[polygon] = polygon end
    local edges = num_edges(mesh, all)
    assert.is_true(edges > 8)
    assert.equals(edges, shown())
    NavigationMesh.add_link(mesh, LEFT, RIGHT)
    NavigationMesh.update(mesh, 0)
    local linked = shown()
    assert.is_true(linked > edges, linked .. " lines")
    local agent = Agent.create(mesh, LEFT)
    local standing = shown()
    assert.is_true(standing >= linked + 12, standing .. " lines")
    Agent.set_destination(agent, Vector3(5, 28, 0))
    for _ = 1, 20 do NavigationMesh.update(mesh, 1 / 60) end
    local walking = shown()
    assert.equals(standing + #Agent.path(agent), walking)
    Agent.destroy(agent)
    assert.equals(linked, shown())
  end)

  it("puts ends of paths in a wall on the nearest ground, if it is near", function()
    -- The wall is a metre thick: its middle is nearer to ground than 2 metres, on both sides.
    local inside = Vector3(15.2, 5, 0)
    local path, reason = NavigationMesh.find_path(mesh, LEFT, inside)
    assert.is_nil(reason)
    local last = path[#path]
    assert.is_true(Vector3.distance(last, inside) < 2 and last.x > 15.5, tostring(last))
    path = NavigationMesh.find_path(mesh, Vector3(14.8, 5, 0), LEFT)
    assert.is_true(path[1].x < 14.5, tostring(path[1]))
    -- The middle of a thick one is not.
    local points, triangles = {}, {}
    push_box(points, triangles, { 0, 0, -1 }, { 30, 30, 0 })
    for x = 12, 17 do push_box(points, triangles, { x, 0, 0 }, { x + 1, 24, 9 }) end
    local thick = NavigationMesh.create_from_triangles(points, triangles, { region_min = 1 })
    local middle = Vector3(15, 5, 0)
    assert.same({ {}, "off_mesh" }, { NavigationMesh.find_path(thick, LEFT, middle) })
    assert.same({ {}, "off_mesh" }, { NavigationMesh.find_path(thick, middle, LEFT) })
    local agent = Agent.create(thick, LEFT)
    assert.is_false(Agent.set_destination(agent, middle))
    assert.equals("idle", Agent.state(agent))
    Agent.destroy(agent)
    NavigationMesh.destroy(thick)
  end)

  it("can be ten kilometres long, with larger cells or as a narrow strip", function()
    local function strip(wide, options)
      local points, triangles = {}, {}
      push_box(points, triangles, { 0, 0, -1 }, { 10000, wide, 0 })
      return NavigationMesh.create_from_triangles(points, triangles, options)
    end
    assert.matches("CELLS_MAX", error_of(strip, 10000))
    local road = strip(12)
    local from, to = Vector3(5, 6, 0), Vector3(9990, 6, 0)
    local path, reason = NavigationMesh.find_path(road, from, to)
    assert.is_nil(reason)
    assert.is_true(Vector3.distance(path[#path], to) < 1)
    local length = 0
    for i = 2, #path do length = length + Vector3.distance(path[i - 1], path[i]) end
    assert.is_true(length > 9984 and length < 9990, "length " .. length)
    NavigationMesh.destroy(road)
    local plain = strip(10000, { cell_size = 10, radius = 10 })
    path, reason = NavigationMesh.find_path(plain, Vector3(50, 50, 0), Vector3(9900, 9900, 0))
    assert.is_nil(reason)
    assert.equals(2, #path)
    NavigationMesh.destroy(plain)
  end)

  it("projects points to polygons", function()
    local polygon = NavigationMesh.find_polygon(mesh, LEFT)
    local point = NavigationMesh.project_to_polygon(mesh, LEFT + Vector3(0, 0, 7), polygon)
    assert.is_true(Vector3.distance(point, LEFT) < 0.3)
    assert.is_nil(NavigationMesh.project_to_polygon(mesh, RIGHT, polygon))
  end)

  it("has polygons with corners and neighbours", function()
    local count = NavigationMesh.num_polygons(mesh)
    assert.is_true(count > 2 and NavigationMesh.num_vertices(mesh) > 4)
    for polygon = 1, count do
      local corners = NavigationMesh.polygon_vertices(mesh, polygon)
      assert.is_true(#corners >= 3 and #corners <= 6)
      for _, other in ipairs(NavigationMesh.polygon_neighbors(mesh, polygon)) do
        assert.is_true(other >= 1 and other <= count and other ~= polygon)
      end
    end
    local none = "argument #2 'polygon': the mesh has no polygon 0, it has %d+"
    for _, name in ipairs({ "polygon_vertices", "polygon_neighbors", "is_obstructed" }) do
      assert.matches(none, error_of(NavigationMesh[name], mesh, 0))
    end
    assert.matches("must be", error_of(NavigationMesh.num_polygons, 1))
    assert.matches("must be", error_of(NavigationMesh.num_vertices, "mesh"))
  end)

  it("finds polygons by position", function()
    local polygon = NavigationMesh.find_polygon(mesh, LEFT)
    local nearest, point = NavigationMesh.find_nearest_polygon(mesh, Vector3(5, 5, 1))
    assert.equals(polygon, nearest)
    assert.is_true(Vector3.distance(point, LEFT) < 0.5)
    assert.is_nil(NavigationMesh.find_polygon(mesh, Vector3(-50, 0, 0)))
    assert.is_nil(NavigationMesh.find_nearest_polygon(mesh, Vector3(-50, 0, 0), 1))
    local inside = NavigationMesh.constrain_to_polygon(mesh, Vector3(-50, 5, 0), polygon)
    assert.is_true(inside.x > 0 and inside.x < 2)
    assert.matches("'distance' must be 0 to 1000",
      error_of(NavigationMesh.find_nearest_polygon, mesh, LEFT, -1))
    assert.matches("has no polygon", error_of(NavigationMesh.constrain_to_polygon, mesh, LEFT, 1e6))
    assert.matches("must be", error_of(NavigationMesh.find_polygon, mesh, 1))
  end)

  it("closes and opens polygons", function()
    local from = NavigationMesh.find_polygon(mesh, LEFT)
    local to = NavigationMesh.find_polygon(mesh, RIGHT)
    local polygons = NavigationMesh.search(mesh, from, to)
    assert.equals(from, polygons[1])
    assert.equals(to, polygons[#polygons])
    for polygon = 1, NavigationMesh.num_polygons(mesh) do
      if polygon ~= from and polygon ~= to then
        NavigationMesh.set_obstructed(mesh, polygon, true)
        assert.is_true(NavigationMesh.is_obstructed(mesh, polygon))
      end
    end
    assert.is_nil((NavigationMesh.search(mesh, from, to)))
    assert.equals("unreachable", (select(2, NavigationMesh.search(mesh, from, to))))
    local _, reason = NavigationMesh.find_path(mesh, LEFT, RIGHT)
    assert.equals("unreachable", reason)
    for polygon = 1, NavigationMesh.num_polygons(mesh) do
      NavigationMesh.set_obstructed(mesh, polygon, false)
    end
    assert.is_not_nil(NavigationMesh.search(mesh, from, to))
    assert.matches("has no polygon", error_of(NavigationMesh.search, mesh, 1, -3))
    -- A small budget is another reason than no way.
    assert.is_nil((select(2, NavigationMesh.search(mesh, from, to))))
    assert.is_nil((NavigationMesh.search(mesh, from, to, 1)))
    assert.equals("budget", (select(2, NavigationMesh.search(mesh, from, to, 1))))
    local part, why = NavigationMesh.partial_search(mesh, from, to, 1)
    assert.is_true(#part < #NavigationMesh.search(mesh, from, to, 65536))
    assert.equals("budget", why)
    for _, search in ipairs({ NavigationMesh.search, NavigationMesh.partial_search }) do
      assert.matches("'nodes' must be 1 to 65536, got 0", error_of(search, mesh, from, to, 0))
      assert.matches("'nodes' must be 1 to 65536, got 70000", error_of(search, mesh, from, to, 7e4))
      assert.matches("'nodes'", error_of(search, mesh, from, to, "few"))
    end
    assert.matches("has no polygon", error_of(NavigationMesh.set_obstructed, mesh, 0, true))
  end)

  it("casts rays along the ground", function()
    local hit = NavigationMesh.raycast(mesh, LEFT, RIGHT)
    assert.is_true(hit.x > 13 and hit.x < 14.5)
    assert.is_nil(NavigationMesh.raycast(mesh, LEFT, Vector3(10, 25, 0)))
    local start, reason = NavigationMesh.raycast(mesh, Vector3(0, 0, 99), RIGHT)
    assert.equals("off_mesh", reason)
    assert.equals(0, Vector3.distance(start, Vector3(0, 0, 99)))
    assert.is_nil((select(2, NavigationMesh.raycast(mesh, LEFT, RIGHT))))
    assert.is_false(pcall(NavigationMesh.raycast, mesh, Vector3(0 / 0, 0, 0), RIGHT))
  end)

  it("gives random points on the ground", function()
    for _ = 1, 50 do
      assert.is_not_nil(NavigationMesh.find_polygon(mesh, NavigationMesh.random_point(mesh)))
    end
    assert.matches("must be", error_of(NavigationMesh.random_point))
  end)

  it("is baked from the static actors of a world", function()
    local world = Application.new_world()
    assert.matches("the world has no static actors", error_of(NavigationMesh.create, world))
    local floor = World.spawn_unit(world, "core/units/empty")
    Unit.create_actor(floor, "floor", { type = "static", shape = "box", size = { 20, 20, 1 } })
    local baked = NavigationMesh.create(world, { radius = 0.3 })
    assert.is_true(NavigationMesh.num_polygons(baked) >= 1)
    NavigationMesh.destroy(baked)
    Application.release_world(world)
  end)

  it("refuses wrong options and triangles", function()
    local create = NavigationMesh.create_from_triangles
    local points = { 0, 0, 0, 1, 0, 0, 0, 1, 0 }
    assert.matches("unknown option 'radus', did you mean 'radius'?",
      error_of(create, points, { 1, 2, 3 }, { radus = 1 }))
    assert.matches("option 'cell_size' must be 0.01 to 100, got 0",
      error_of(create, points, { 1, 2, 3 }, { cell_size = 0 }))
    assert.matches("option 'radius' must be a number, got a string",
      error_of(create, points, { 1, 2, 3 }, { radius = "wide" }))
    assert.matches("option 'tile_cells' must be a whole number, got 48.5",
      error_of(create, points, { 1, 2, 3 }, { tile_cells = 48.5 }))
    assert.matches("more than 60000 cells of 0.01 metres: increase 'cell_height'",
      error_of(create, points, { 1, 2, 3 }, { height = 900, cell_height = 0.01 }))
    assert.matches("increase 'tile_cells' or 'cell_size', or reduce 'radius'",
      error_of(create, { 0, 0, 0, 6, 0, 0, 0, 6, 0 }, { 1, 2, 3 },
        { tile_cells = 16, cell_size = 0.01, radius = 1.27 }))
    assert.matches("4 is no corner, there are corners 1 to 3",
      error_of(create, points, { 1, 2, 4 }))
    local corners = "'triangles' must have three corners for each triangle, got 2 numbers"
    assert.matches(corners, error_of(create, points, { 1, 2 }))
    assert.matches(corners, error_of(create,
      { Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0, 1, 0) }, { 1, 2 }))
    assert.matches("must have three numbers for each point, got 2 numbers",
      error_of(create, { 1, 2 }, { 1, 2, 3 }))
    assert.matches("there are no triangles", error_of(create, points, {}))
    assert.matches("coordinates must be within",
      error_of(create, { 0, 0, 0, 1, 0, 0, 0, 1e9, 0 }, { 1, 2, 3 }))
    assert.matches("must be a list of numbers", error_of(create, "points", { 1, 2, 3 }))
    -- Triangles without size, and ground that is smaller than a character: no polygons.
    local empty = create(points, { 1, 1, 1, 1, 2, 3 })
    assert.equals(0, NavigationMesh.num_polygons(empty))
    assert.is_nil(NavigationMesh.random_point(empty))
    NavigationMesh.destroy(empty)
  end)

  it("is stale after it was destroyed", function()
    NavigationMesh.destroy(mesh)
    assert.is_false(NavigationMesh.alive(mesh))
    assert.is_false(NavigationMesh.alive(nil))
    assert.matches("destroyed", error_of(NavigationMesh.num_polygons, mesh))
    assert.matches("must be", error_of(NavigationMesh.alive, {}))
    assert.matches("destroyed", error_of(NavigationMesh.destroy, mesh))
  end)
end)

describe("an agent", function()
  local mesh

  before_each(function() mesh = hall() end)
  after_each(function() if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end end)

  local function run(frames)
    for _ = 1, frames do NavigationMesh.update(mesh, 1 / 60) end
  end

  it("walks around a wall to its destination", function()
    local agent = Agent.create(mesh, LEFT, { radius = 0.4, speed = 5, acceleration = 20 })
    assert.equals("idle", Agent.state(agent))
    assert.is_nil(Agent.destination(agent))
    assert.is_true(Agent.set_destination(agent, RIGHT))
    assert.equals("waiting", Agent.state(agent))
    run(30)
    assert.equals("moving", Agent.state(agent))
    assert.is_true(Vector3.length(Agent.velocity(agent)) > 3)
    assert.is_true(Vector3.length(Agent.desired_velocity(agent)) > 3)
    assert.is_true(Agent.remaining_distance(agent) > 30)
    assert.is_true(#Agent.path(agent) >= 3)
    run(700)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(Agent.position(agent), RIGHT) < 0.7)
    assert.equals(0, Agent.remaining_distance(agent))
    assert.equals(0, Agent.stuck_seconds(agent))
    assert.same({}, Agent.path(agent))
    Agent.destroy(agent)
    assert.is_false(Agent.alive(agent))
  end)

  it("returns its settings", function()
    local agent = Agent.create(mesh, LEFT, {
      radius = 0.5, speed = 2, acceleration = 9, priority = 7, group = 3, avoidance = 0,
    })
    assert.same({ 0.5, 2, 9, 7, 3, false },
      { Agent.radius(agent), Agent.speed(agent), Agent.acceleration(agent), Agent.priority(agent),
        Agent.group(agent), Agent.avoids(agent) })
    Agent.set_speed(agent, 4)
    Agent.set_priority(agent, 255)
    Agent.set_group(agent, 31)
    assert.same({ 4, 255, 31 }, { Agent.speed(agent), Agent.priority(agent), Agent.group(agent) })
    assert.is_false(Agent.is_group_ignored(agent, 31))
    Agent.set_group_ignored(agent, 31, true)
    assert.is_true(Agent.is_group_ignored(agent, 31))
    assert.is_false(Agent.is_group_ignored(agent, 0))
    assert.matches("'group' must be 0 to 31, got 32", error_of(Agent.is_group_ignored, agent, 32))
    Agent.destroy(agent)
    local plain = Agent.create(mesh, LEFT)
    assert.same({ 0.6, 3.5, 12, 0, 0, true },
      { math.floor(Agent.radius(plain) * 10 + 0.5) / 10, Agent.speed(plain),
        Agent.acceleration(plain), Agent.priority(plain), Agent.group(plain), Agent.avoids(plain) })
    Agent.destroy(plain)
    for _, name in ipairs({ "radius", "speed", "acceleration", "priority", "group", "avoids" }) do
      assert.matches("Agent", error_of(Agent[name], plain))
    end
  end)

  it("is refused off the mesh", function()
    assert.matches("no ground of the navigation mesh is within 2 metres",
      error_of(Agent.create, mesh, Vector3(500, 0, 0)))
    assert.matches("unknown option 'sped', did you mean 'speed'?",
      error_of(Agent.create, mesh, LEFT, { sped = 1 }))
    assert.matches("option 'radius' must be 0.01 to 100",
      error_of(Agent.create, mesh, LEFT, { radius = 0 }))
    assert.matches("option 'priority' must be a whole number, got 3.7",
      error_of(Agent.create, mesh, LEFT, { priority = 3.7 }))
    assert.matches("option 'avoidance' must be a whole number, got 0.5",
      error_of(Agent.create, mesh, LEFT, { avoidance = 0.5 }))
    local agent = Agent.create(mesh, LEFT)
    assert.is_false(Agent.set_destination(agent, Vector3(500, 0, 0)))
    assert.equals("idle", Agent.state(agent))
    assert.is_false(Agent.set_position(agent, Vector3(0, 500, 0)))
    assert.is_true(Vector3.distance(Agent.position(agent), LEFT) < 1)
    assert.is_true(Agent.set_position(agent, RIGHT))
    assert.is_true(Vector3.distance(Agent.position(agent), RIGHT) < 1)
    assert.matches("'position' must be at most 1000000",
      error_of(Agent.set_position, agent, Vector3(3e38, 0, 0)))
    assert.matches("'speed' must be 0 to 1000", error_of(Agent.set_speed, agent, -1))
    assert.matches("'priority' must be 0 to 255", error_of(Agent.set_priority, agent, 256))
    assert.matches("'dt' must be 0 to 1 second", error_of(NavigationMesh.update, mesh, 2))
    Agent.destroy(agent)
  end)

  it("can be stopped, moved, and changed", function()
    local agent = Agent.create(mesh, LEFT)
    Agent.set_destination(agent, RIGHT)
    Agent.set_priority(agent, 5)
    Agent.set_speed(agent, 2)
    run(60)
    assert.is_true(Vector3.length(Agent.velocity(agent)) <= 2.01)
    Agent.set_position(agent, Vector3(24, 5, 0))
    run(120)
    assert.equals("arrived", Agent.state(agent))
    Agent.set_destination(agent, LEFT)
    run(10)
    Agent.cancel(agent)
    assert.equals("idle", Agent.state(agent))
    assert.is_nil(Agent.destination(agent))
    Agent.destroy(agent)
  end)

  it("gets a new path when a way closes or opens", function()
    local agent = Agent.create(mesh, LEFT)
    Agent.set_destination(agent, RIGHT)
    run(5)
    local closed = {}
    for polygon = 1, NavigationMesh.num_polygons(mesh) do
      local low, high = math.huge, -math.huge
      for _, corner in ipairs(NavigationMesh.polygon_vertices(mesh, polygon)) do
        low, high = math.min(low, corner.x), math.max(high, corner.x)
      end
      if low < 15 and high > 15 then
        closed[#closed + 1] = polygon
        NavigationMesh.set_obstructed(mesh, polygon, true)
      end
    end
    assert.is_true(#closed > 0)
    run(900)
    assert.equals("partial", Agent.state(agent))
    for _, polygon in ipairs(closed) do NavigationMesh.set_obstructed(mesh, polygon, false) end
    run(1200)
    assert.equals("arrived", Agent.state(agent))
    Agent.destroy(agent)
  end)

  it("passes others that come towards it", function()
    local agents = {}
    for i = 1, 12 do
      local angle = i / 12 * 2 * math.pi
      local offset = Vector3(math.cos(angle), math.sin(angle), 0) * 5
      agents[i] = Agent.create(mesh, Vector3(7, 12, 0) + offset, { radius = 0.4 })
      Agent.set_destination(agents[i], Vector3(7, 12, 0) - offset)
    end
    for _ = 1, 600 do
      run(1)
      for i = 2, 12 do
        local apart = Vector3.distance(Agent.position(agents[i]), Agent.position(agents[i - 1]))
        assert.is_true(apart > 0.6, "agents overlap: " .. apart)
      end
    end
    for i = 1, 12 do
      assert.equals("arrived", Agent.state(agents[i]))
      Agent.destroy(agents[i])
    end
  end)

  it("is lost when its mesh is destroyed", function()
    local agent = Agent.create(mesh, LEFT)
    Agent.set_destination(agent, RIGHT)
    run(3)
    NavigationMesh.destroy(mesh)
    assert.equals("lost", Agent.state(agent))
    assert.same({}, Agent.path(agent))
    Agent.cancel(agent)
    assert.equals("lost", Agent.state(agent))
    local lost = "its navigation mesh was destroyed"
    assert.matches(lost, error_of(Agent.set_destination, agent, RIGHT))
    assert.matches(lost, error_of(Agent.remaining_distance, agent))
    Agent.destroy(agent)
    for _, name in ipairs({ "position", "velocity", "desired_velocity", "state", "destination",
      "stuck_seconds", "cancel", "destroy", "path" }) do
      assert.matches("destroyed", error_of(Agent[name], agent))
    end
    assert.matches("must be", error_of(Agent.alive, {}))
  end)
end)
