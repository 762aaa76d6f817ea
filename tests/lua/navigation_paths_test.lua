-- Suite of paths on navigation meshes: paths that are answered later, discs, edges, floods and
-- positions around a target. Searches have their own tests in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

-- Adds a rectangle of ground to lists of points and triangles.
local function push_ground(points, triangles, left, bottom, right, top)
  local first = #points / 3
  for _, point in ipairs({ { left, bottom }, { right, bottom }, { right, top }, { left, top } }) do
    points[#points + 1] = point[1]
    points[#points + 1] = point[2]
    points[#points + 1] = 0
  end
  for _, corner in ipairs({ 1, 2, 3, 1, 3, 4 }) do triangles[#triangles + 1] = first + corner end
end

-- Ground in the form of a U, of 60 by 60 metres, and an island.
local function bay()
  local points, triangles = {}, {}
  push_ground(points, triangles, 0, 0, 20, 60)
  push_ground(points, triangles, 40, 0, 60, 60)
  push_ground(points, triangles, 20, 0, 40, 20)
  push_ground(points, triangles, 24, 40, 32, 48)
  return NavigationMesh.create_from_triangles(points, triangles, { region_min = 1 })
end

local LEFT, RIGHT, ISLAND = Vector3(10, 50, 0), Vector3(50, 50, 0), Vector3(28, 44, 0)

local function length_of(points)
  local length = 0
  for i = 2, #points do length = length + Vector3.distance(points[i - 1], points[i]) end
  return length
end

describe("paths on a navigation mesh", function()
  local mesh

  before_each(function() mesh = bay() end)
  after_each(function() if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end end)

  it("are answered later, as those that are found at once", function()
    local expected = NavigationMesh.find_path(mesh, LEFT, RIGHT)
    local found
    local request = NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function(points, reason)
      assert.is_nil(reason)
      found = points
    end)
    assert.is_true(request >= 1)
    assert.equals(1, NavigationMesh.num_waiting_paths(mesh))
    assert.is_nil(found)
    NavigationMesh.update(mesh, 0)
    assert.equals(0, NavigationMesh.num_waiting_paths(mesh))
    assert.equals(#expected, #found)
    assert.is_true(math.abs(length_of(expected) - length_of(found)) < 1e-4)
    -- Around the bay: down, across, up.
    assert.is_true(length_of(found) > 75 and length_of(found) < 90, "" .. length_of(found))
  end)

  it("lead to the nearest point if the destination cannot be reached", function()
    local points, reason = NavigationMesh.find_path(mesh, LEFT, ISLAND)
    assert.equals("unreachable", reason)
    local last = points[#points]
    assert.is_true(last.x > 18 and last.x < 20 and math.abs(last.y - 44) < 1, tostring(last))
    local later
    NavigationMesh.find_path_async(mesh, LEFT, ISLAND, function(_, why) later = why end)
    NavigationMesh.update(mesh, 0)
    assert.equals("unreachable", later)
  end)

  it("are answered over several updates if many are asked for", function()
    local answers, updates = 0, 0
    for _ = 1, 2000 do
      NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function() answers = answers + 1 end)
    end
    while NavigationMesh.num_waiting_paths(mesh) > 0 do
      NavigationMesh.update(mesh, 0)
      updates = updates + 1
      assert.is_true(updates < 200, "steady progress")
    end
    assert.equals(2000, answers)
    assert.is_true(updates > 2)
  end)

  it("are refused if too many wait, and can be withdrawn", function()
    local last
    local message
    for _ = 1, 100000 do
      local ok, result = pcall(NavigationMesh.find_path_async, mesh, LEFT, RIGHT, function() end)
      if not ok then
        message = result
        break
      end
      last = result
    end
    assert.matches("16384 paths of the mesh wait for an answer %(REQUESTS_MAX%)", message)
    assert.is_true(NavigationMesh.cancel_path(mesh, last))
    assert.is_false(NavigationMesh.cancel_path(mesh, last))
    assert.is_false(NavigationMesh.cancel_path(mesh, -1))
    assert.equals(16383, NavigationMesh.num_waiting_paths(mesh))
  end)

  it("go on after an error in a callback", function()
    local answers = 0
    NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function() error("lost the map") end)
    NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function() answers = answers + 1 end)
    assert.matches("lost the map", error_of(NavigationMesh.update, mesh, 0))
    assert.equals(0, answers)
    NavigationMesh.update(mesh, 0)
    assert.equals(1, answers)
    NavigationMesh.update(mesh, 0)
    assert.equals(1, answers)
  end)

  it("can be asked for by a callback, which may also destroy the mesh", function()
    local second
    NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function()
      NavigationMesh.find_path_async(mesh, RIGHT, LEFT, function(points) second = points end)
    end)
    NavigationMesh.update(mesh, 0)
    assert.is_nil(second)
    NavigationMesh.update(mesh, 0)
    assert.is_true(#second > 2)
    local answers = 0
    for _ = 1, 2 do
      NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function()
        answers = answers + 1
        if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end
      end)
    end
    NavigationMesh.update(mesh, 0)
    assert.equals(2, answers)
    assert.matches("NavigationMesh", error_of(NavigationMesh.update, mesh, 0))
  end)

  it("are answered for the mesh as it is when they are found", function()
    local reasons, answers = {}, 0
    for i = 1, 2000 do
      NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function(_, why)
        reasons[i], answers = why or "found", answers + 1
      end)
    end
    NavigationMesh.add_box(mesh, 0, Vector3(30, 10, 0), Vector3(2, 24, 2))
    NavigationMesh.update(mesh, 0)
    assert.equals("found", reasons[1])
    while answers < 2000 do NavigationMesh.update(mesh, 0) end
    assert.equals("unreachable", reasons[2000])
  end)

  it("are answered without points if the mesh ends", function()
    local points, reason
    NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function(found, why)
      points, reason = found, why
    end)
    NavigationMesh.destroy(mesh)
    local world = Application.new_world()
    World.update(world, 0)
    assert.equals(0, #points)
    assert.equals("unreachable", reason)
    Application.release_world(world)
  end)

  it("are empty off the mesh", function()
    local answers = {}
    local function note(points, reason) answers[#answers + 1] = { #points, reason or "found" } end
    NavigationMesh.find_path_async(mesh, LEFT, Vector3(900, 0, 0), note)
    NavigationMesh.find_path_async(mesh, Vector3(10, 50, 30), RIGHT, note)
    assert.equals(2, NavigationMesh.num_waiting_paths(mesh))
    NavigationMesh.update(mesh, 0)
    assert.same({ { 0, "off_mesh" }, { 0, "off_mesh" } }, answers)
    assert.same({ {}, "off_mesh" }, { NavigationMesh.find_path(mesh, Vector3(10, 50, 30), RIGHT) })
    assert.same({ "off_mesh" }, { (select(2, NavigationMesh.path_cost(mesh, LEFT, ISLAND * 90))) })
    assert.is_nil((NavigationMesh.path_cost(mesh, LEFT, ISLAND * 90)))
    local polygons, costs, reason = NavigationMesh.flood_fill(mesh, Vector3(0, 0, 50), 5)
    assert.same({ {}, {}, "off_mesh" }, { polygons, costs, reason })
    local air = Vector3(30, 50, 0)
    assert.same({ {}, "off_mesh" }, { NavigationMesh.positions_around(mesh, air, 4, 2, 1) })
    assert.same({ {}, "off_mesh" }, { NavigationMesh.cover_points(mesh, air, 9, RIGHT) })
  end)

  it("have the costs of an agent, at once and later", function()
    NavigationMesh.add_box(mesh, 5, Vector3(30, 10, 0), Vector3(4, 24, 2))
    while NavigationMesh.num_waiting_tiles(mesh) > 0 do NavigationMesh.update(mesh, 0) end
    local agent, other = Agent.create(mesh, LEFT), Agent.create(mesh, LEFT)
    Agent.set_area_cost(agent, 5, 0)
    local answers = {}
    local function ask(key, whose)
      NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function(points, reason)
        answers[key] = { length_of(points), reason or "found" }
      end, whose)
    end
    for key = 1, 30 do
      ask(key, key % 3 == 0 and agent or key % 3 == 1 and other or nil)
    end
    -- The costs of the call count.
    Agent.set_area_cost(agent, 5, nil)
    ask(31, agent)
    for _ = 1, 9 do NavigationMesh.update(mesh, 0) end
    local open, reason = NavigationMesh.find_path(mesh, LEFT, RIGHT)
    assert.is_nil(reason)
    Agent.set_area_cost(agent, 5, 0)
    local closed, why = NavigationMesh.find_path(mesh, LEFT, RIGHT, agent)
    assert.equals("unreachable", why)
    for key = 1, 31 do
      local is_closed = key % 3 == 0
      local wanted = is_closed and closed or open
      assert.is_true(math.abs(answers[key][1] - length_of(wanted)) < 1e-3, "path " .. key)
      assert.equals(is_closed and "unreachable" or "found", answers[key][2])
    end
    assert.is_nil((select(2, NavigationMesh.find_path(mesh, LEFT, RIGHT, other))))
    -- An agent that ends does not take its request along.
    ask(40, agent)
    Agent.destroy(agent)
    Agent.destroy(other)
    for _ = 1, 9 do NavigationMesh.update(mesh, 0) end
    assert.equals("unreachable", answers[40][2])
    assert.matches("'agent'", error_of(NavigationMesh.find_path, mesh, LEFT, RIGHT, 5))
    assert.matches("'agent': agent was destroyed",
      error_of(NavigationMesh.find_path, mesh, LEFT, RIGHT, agent))
    assert.matches("#5 'agent'",
      error_of(NavigationMesh.find_path_async, mesh, LEFT, RIGHT, print, mesh))
  end)

  it("that wait leave the costs of agents their room", function()
    local one, other = Agent.create(mesh, LEFT), Agent.create(mesh, LEFT)
    local count = 0
    for i = 1, 20 do
      Agent.set_area_cost(one, 5, i + 1)
      NavigationMesh.find_path_async(mesh, LEFT, RIGHT, function() count = count + 1 end, one)
    end
    Agent.destroy(one)
    Agent.set_area_cost(other, 5, 99)
    for _ = 1, 60 do NavigationMesh.update(mesh, 0) end
    assert.equals(20, count)
    Agent.destroy(other)
  end)

  it("are valid until something is in their way", function()
    local valid = NavigationMesh.is_path_valid
    local points = NavigationMesh.find_path(mesh, LEFT, RIGHT)
    assert.is_true(valid(mesh, points))
    assert.is_true(valid(mesh, (NavigationMesh.find_path(mesh, LEFT, ISLAND))))
    -- Something elsewhere changes the version, but not the path.
    NavigationMesh.add_box(mesh, 0, Vector3(4, 55, 0), Vector3(1, 1, 1))
    NavigationMesh.update(mesh, 0)
    while NavigationMesh.num_waiting_tiles(mesh) > 0 do NavigationMesh.update(mesh, 0) end
    assert.is_true(valid(mesh, points))
    local crate = NavigationMesh.add_box(mesh, 0, Vector3(30, 15, 0), Vector3(4, 12, 2))
    while NavigationMesh.num_waiting_tiles(mesh) > 0 do NavigationMesh.update(mesh, 0) end
    local is_valid, leg = valid(mesh, points)
    assert.is_false(is_valid)
    -- After a bend in two parts, across.
    assert.equals(3, leg)
    assert.is_true(valid(mesh, points, 4))
    assert.same({ false, 3 }, { valid(mesh, points, 2) })
    NavigationMesh.remove_volume(mesh, crate)
    while NavigationMesh.num_waiting_tiles(mesh) > 0 do NavigationMesh.update(mesh, 0) end
    assert.is_true(valid(mesh, points))
    local polygon = NavigationMesh.find_polygon(mesh, (points[1] + points[2]) * 0.5)
    NavigationMesh.set_obstructed(mesh, polygon, true)
    assert.same({ false, 1 }, { valid(mesh, points) })
    NavigationMesh.set_obstructed(mesh, polygon, false)
    -- What is closed for one agent only.
    NavigationMesh.add_box(mesh, 5, Vector3(30, 10, 0), Vector3(4, 24, 2))
    while NavigationMesh.num_waiting_tiles(mesh) > 0 do NavigationMesh.update(mesh, 0) end
    local agent = Agent.create(mesh, LEFT)
    assert.is_true(valid(mesh, points, nil, agent))
    Agent.set_area_cost(agent, 5, 0)
    assert.is_true(valid(mesh, points))
    assert.same({ false, 3 }, { valid(mesh, points, 1, agent) })
    Agent.destroy(agent)
    assert.is_true(valid(mesh, { LEFT }))
    assert.same({ false, 1 }, { valid(mesh, { Vector3(30, 35, 0), RIGHT }) })
    assert.same({ false }, { valid(mesh, {}) })
    local many = {}
    for i = 1, 4098 * 3 do many[i] = 1 end
    assert.matches("'points' must have at most 4097 points", error_of(valid, mesh, many))
    assert.matches("'first' must be the number of a point, 1 to %d, got 9",
      error_of(valid, mesh, points, 9))
    assert.matches("'points'", error_of(valid, mesh, { 1, 2 }))
    assert.matches("'points' must be at most 1000000", error_of(valid, mesh, { 3e38, 0, 0 }))
    assert.matches("'agent'", error_of(valid, mesh, points, 1, 5))
  end)

  it("refuse wrong arguments", function()
    local async = NavigationMesh.find_path_async
    assert.matches("callback", error_of(async, mesh, LEFT, RIGHT))
    assert.matches("must be", error_of(async, mesh, LEFT, 5, print))
    assert.is_false(pcall(async, mesh, Vector3(0 / 0, 0, 0), RIGHT, print))
    assert.matches("'dt' must be 0 to 1 second, got 2", error_of(NavigationMesh.update, mesh, 2))
    assert.matches("must be", error_of(NavigationMesh.cancel_path, mesh, "first"))
    assert.matches("must be", error_of(NavigationMesh.num_waiting_paths, 1))
  end)
end)

describe("queries of a navigation mesh", function()
  local mesh

  before_each(function() mesh = bay() end)
  after_each(function() NavigationMesh.destroy(mesh) end)

  it("move a disc until it touches the edge", function()
    local from = Vector3(10, 40, 0)
    local hit = NavigationMesh.disc_cast(mesh, from, RIGHT, 2)
    assert.is_true(hit.x > 16 and hit.x < 18, tostring(hit))
    local ray = NavigationMesh.raycast(mesh, from, RIGHT)
    assert.is_true(ray.x - hit.x > 1.5)
    assert.is_nil(NavigationMesh.disc_cast(mesh, from, Vector3(10, 15, 0), 2))
    assert.is_not_nil(NavigationMesh.disc_cast(mesh, from, Vector3(10, 15, 0), 12))
    assert.matches("'radius' must be 0 to 100 metres, got %-1",
      error_of(NavigationMesh.disc_cast, mesh, from, RIGHT, -1))
    local start, reason = NavigationMesh.disc_cast(mesh, Vector3(0, 0, 99), RIGHT, 1)
    assert.equals("off_mesh", reason)
    assert.equals(99, start.z)
  end)

  it("say if one can go straight, and if not, why", function()
    local can_go, from = NavigationMesh.can_go, Vector3(10, 40, 0)
    assert.is_true(can_go(mesh, from, Vector3(10, 15, 0)))
    assert.is_true(can_go(mesh, from, Vector3(10, 15, 0), 2))
    assert.same({ false, "edge" }, { can_go(mesh, from, Vector3(10, 15, 0), 12) })
    assert.same({ false, "edge" }, { can_go(mesh, from, RIGHT) })
    -- Within ground that is closed.
    local polygon = NavigationMesh.find_polygon(mesh, from)
    local corners = NavigationMesh.polygon_vertices(mesh, polygon)
    local middle = (corners[1] + corners[2] + corners[3]) * (1 / 3)
    local near = Vector3.lerp(middle, corners[1], 0.2)
    assert.is_true(can_go(mesh, middle, near))
    NavigationMesh.set_obstructed(mesh, polygon, true)
    assert.same({ false, "edge" }, { can_go(mesh, middle, near) })
    assert.same({ false, "edge" }, { can_go(mesh, middle, near, 0.1) })
    NavigationMesh.set_obstructed(mesh, polygon, false)
    assert.same({ false, "off_mesh" }, { can_go(mesh, from, Vector3(10, 15, 60)) })
    assert.same({ false, "off_mesh" }, { can_go(mesh, Vector3(10, 15, 60), from) })
    -- Two floors: a ray along the lower one does not know the upper one.
    local points, triangles = {}, {}
    push_ground(points, triangles, 0, 0, 20, 20)
    push_ground(points, triangles, 0, 0, 20, 20)
    for i = 15, 24, 3 do points[i] = 5 end
    local floors = NavigationMesh.create_from_triangles(points, triangles)
    local low, high = Vector3(3, 3, 0), Vector3(15, 10, 5)
    assert.is_nil(NavigationMesh.raycast(floors, low, high))
    assert.same({ false, "height" }, { can_go(floors, low, high) })
    assert.same({ false, "height" }, { can_go(floors, low, high, 0.5) })
    assert.is_true(can_go(floors, low, Vector3(15, 10, 1)))
    assert.is_true(can_go(floors, Vector3(3, 3, 5), high))
    NavigationMesh.destroy(floors)
    assert.matches("'radius' must be 0 to 100 metres, got %-1",
      error_of(can_go, mesh, from, RIGHT, -1))
    assert.matches("'to' must be at most 1000000",
      error_of(can_go, mesh, from, Vector3(3e38, 0, 0)))
    assert.matches("must be", error_of(can_go, mesh, from))
  end)

  it("measure the distance to the edge", function()
    local distance, point = NavigationMesh.distance_to_edge(mesh, Vector3(6, 40, 0))
    assert.is_true(distance > 4.5 and distance < 6, "" .. distance)
    assert.is_true(point.x < 1.5 and math.abs(point.y - 40) < 0.5)
    assert.is_nil(NavigationMesh.distance_to_edge(mesh, Vector3(10, 40, 0), 2))
    assert.matches("'distance' must be 0 to 10000 metres, got %-3",
      error_of(NavigationMesh.distance_to_edge, mesh, LEFT, -3))
    local nothing, at, reason = NavigationMesh.distance_to_edge(mesh, Vector3(0, 0, 50))
    assert.is_nil(nothing)
    assert.is_nil(at)
    assert.equals("off_mesh", reason)
    assert.is_nil((select(3, NavigationMesh.distance_to_edge(mesh, LEFT))))
    -- No edge is near: a missing point leaves room for the reason.
    assert.is_nil((select(3, NavigationMesh.distance_to_edge(mesh, Vector3(10, 40, 0), 2))))
  end)

  it("list the polygons within a distance along the ground", function()
    local polygons, costs = NavigationMesh.flood_fill(mesh, LEFT, 20)
    assert.equals(#polygons, #costs)
    assert.equals(NavigationMesh.find_polygon(mesh, LEFT), polygons[1])
    local is_near = {}
    for i, polygon in ipairs(polygons) do
      is_near[polygon] = true
      assert.is_true(costs[i] <= 20 and (i == 1 or costs[i] >= costs[i - 1]))
    end
    -- The other side of the bay is 40 metres away, and much farther along the ground.
    assert.is_nil(is_near[NavigationMesh.find_polygon(mesh, RIGHT)])
    local all = NavigationMesh.flood_fill(mesh, LEFT, 200)
    assert.is_true(#all > #polygons)
    assert.matches("'distance' must be 0 to 10000",
      error_of(NavigationMesh.flood_fill, mesh, LEFT, 1e9))
  end)

  it("draw random points to which a way leads", function()
    local random = NavigationMesh.random_point
    -- No nil at the end of the results.
    local list = {}
    table.insert(list, random(mesh))
    assert.equals(1, select("#", random(mesh, LEFT, 15)))
    assert.equals(2, select("#", random(mesh, Vector3(900, 0, 0))))
    assert.equals(1, select("#", NavigationMesh.raycast(mesh, LEFT, LEFT)))
    assert.equals(1, #list)
    for _ = 1, 60 do
      assert.is_true(random(mesh, ISLAND).y > 40)
      local point = random(mesh, LEFT, 15)
      assert.is_true(NavigationMesh.path_cost(mesh, LEFT, point) <= 15)
      -- Not on the island, which is as near on the straight way.
      assert.is_true(point.x < 20, tostring(point))
      local _, reason = NavigationMesh.find_path(mesh, LEFT, random(mesh, LEFT))
      assert.is_nil(reason)
    end
    assert.is_true(Vector3.distance(random(mesh, LEFT, 0), LEFT) < 0.5)
    assert.same({ "off_mesh" }, { (select(2, random(mesh, Vector3(900, 0, 0)))) })
    assert.is_nil((random(mesh, Vector3(900, 0, 0), 5)))
    assert.matches("'distance' must be 0 to 10000 metres, got %-1",
      error_of(random, mesh, LEFT, -1))
    assert.matches("'distance' needs #2 'from'", error_of(random, mesh, nil, 5))
    assert.matches("'from' must be at most 1000000", error_of(random, mesh, Vector3(3e38, 0, 0)))
    assert.is_false(pcall(random, mesh, Vector3(0 / 0, 0, 0)))
  end)

  it("find positions around a target", function()
    local positions = NavigationMesh.positions_around(mesh, LEFT, 12, 2, 1)
    assert.equals(12, #positions)
    for i, position in ipairs(positions) do
      local away = Vector3.distance(position, LEFT)
      assert.is_true(away > 1.9 and away < 3.1)
      assert.is_nil(NavigationMesh.raycast(mesh, LEFT, position))
      for k = 1, i - 1 do
        assert.is_true(Vector3.distance(position, positions[k]) > 0.9)
      end
    end
    assert.equals(0, #NavigationMesh.positions_around(mesh, LEFT, 0, 2, 1))
    assert.is_true(#NavigationMesh.positions_around(mesh, ISLAND, 200, 2, 1) < 200)
    assert.matches("'count' must be 0 to 256 %(AROUND_POSITIONS_MAX%), got 257",
      error_of(NavigationMesh.positions_around, mesh, LEFT, 257, 2, 1))
    assert.matches("'spacing' must be 0.05 to 100 metres, got 0",
      error_of(NavigationMesh.positions_around, mesh, LEFT, 5, 2, 0))
  end)
end)
