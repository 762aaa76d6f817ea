-- Suite of links that are found by themselves, and of cover.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

-- Adds a rectangle of ground, from one corner to the opposite one.
local function add_floor(points, triangles, x1, y1, x2, y2, z)
  local first = #points / 3
  for _, number in ipairs({ x1, y1, z, x2, y1, z, x2, y2, z, x1, y2, z }) do
    points[#points + 1] = number
  end
  for _, corner in ipairs({ 1, 2, 3, 1, 3, 4 }) do triangles[#triangles + 1] = first + corner end
end

-- Adds an upright wall along x, which can be seen from both sides.
local function add_wall(points, triangles, x1, x2, y, height)
  local first = #points / 3
  for _, number in ipairs({ x1, y, 0, x2, y, 0, x2, y, height, x1, y, height }) do
    points[#points + 1] = number
  end
  for _, corner in ipairs({ 1, 2, 3, 1, 3, 4 }) do triangles[#triangles + 1] = first + corner end
end

describe("jump links", function()
  local mesh

  -- Two floors with a gap of 2 metres, and a terrace 2 metres above the second one.
  before_each(function()
    local points, triangles = {}, {}
    add_floor(points, triangles, 0, 0, 10, 10, 0)
    add_floor(points, triangles, 12, 0, 22, 10, 0)
    add_floor(points, triangles, 12, 10, 22, 20, 2)
    mesh = NavigationMesh.create_from_triangles(points, triangles,
      { radius = 0.4, step = 0.4, region_min = 1 })
  end)
  after_each(function() NavigationMesh.destroy(mesh) end)

  local function path(from, to)
    local _, reason = NavigationMesh.find_path(mesh, from, to)
    return reason
  end

  it("lead over gaps in both directions", function()
    local left, right = Vector3(3, 5, 0), Vector3(19, 5, 0)
    assert.equals("unreachable", path(left, right))
    local links = NavigationMesh.add_jump_links(mesh, { distance = 4, down = 0, name = "leap" })
    assert.is_true(#links >= 2 and #links <= 4)
    NavigationMesh.update(mesh, 0)
    for _, link in ipairs(links) do assert.is_true(NavigationMesh.is_link_usable(mesh, link)) end
    assert.is_nil(path(left, right))
    assert.is_nil(path(right, left))
    assert.equals("unreachable", path(left, Vector3(15, 15, 2)))
    assert.equals(0, #NavigationMesh.add_jump_links(mesh, { distance = 4, down = 0 }))
    -- An agent jumps.
    local agent = Agent.create(mesh, left, { speed = 5 })
    Agent.set_destination(agent, right)
    local highest, name = 0, nil
    for _ = 1, 360 do
      NavigationMesh.update(mesh, 1 / 60)
      if Agent.state(agent) == "linking" then _, name = Agent.link(agent) end
      highest = math.max(highest, Agent.position(agent).z)
    end
    assert.equals("arrived", Agent.state(agent))
    assert.equals("leap", name)
    assert.is_true(highest > 0.3, "as high as " .. highest)
    Agent.destroy(agent)
    for _, link in ipairs(links) do NavigationMesh.remove_link(mesh, link) end
    NavigationMesh.update(mesh, 0)
    assert.equals("unreachable", path(left, right))
  end)

  it("lead down from ledges in one direction", function()
    local up, below = Vector3(17, 15, 2), Vector3(17, 4, 0)
    NavigationMesh.add_jump_links(mesh, { distance = 2, up = 0, down = 2.5, cost = 3 })
    NavigationMesh.update(mesh, 0)
    assert.is_nil(path(up, below))
    assert.equals("unreachable", path(below, up))
  end)

  it("do not lead through obstacles", function()
    local fence = NavigationMesh.add_box(mesh, 0, Vector3(11, 5, 1), Vector3(0.2, 14, 4))
    local function rebuild()
      repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    end
    rebuild()
    assert.equals(0, #NavigationMesh.add_jump_links(mesh, { distance = 4, down = 0 }))
    NavigationMesh.remove_volume(mesh, fence)
    rebuild()
    assert.is_true(#NavigationMesh.add_jump_links(mesh, { distance = 4, down = 0 }) >= 2)
  end)

  it("refuse what is no jump", function()
    local add = NavigationMesh.add_jump_links
    assert.matches("option 'distance' must be 0.1 to 20 metres, got 21",
      error_of(add, mesh, { distance = 21 }))
    assert.matches("option 'spacing' must be 0.5 to 100", error_of(add, mesh, { spacing = 0 }))
    assert.matches("option 'up' must be 0 to 50", error_of(add, mesh, { up = "high" }))
    assert.matches("unknown option 'distanc', did you mean 'distance'",
      error_of(add, mesh, { distanc = 1 }))
    assert.matches("unknown option 'one_way'", error_of(add, mesh, { one_way = true }))
    assert.matches("option 'cost' must be a number", error_of(add, mesh, { cost = -1 }))
    assert.matches("option 'name' must be a string", error_of(add, mesh, { name = 3 }))
    assert.matches("must be a table", error_of(add, mesh, 3))
  end)
end)

describe("cover", function()
  local mesh

  before_each(function()
    local points, triangles = {}, {}
    add_floor(points, triangles, 0, 0, 30, 30, 0)
    add_wall(points, triangles, 10, 20, 12, 3)
    add_wall(points, triangles, 10, 20, 5, 1.2)
    mesh = NavigationMesh.create_from_triangles(points, triangles, { radius = 0.4 })
  end)
  after_each(function() NavigationMesh.destroy(mesh) end)

  it("is where something hides a character", function()
    local here, threat = Vector3(15, 8, 0), Vector3(15, 25, 0)
    local points = NavigationMesh.cover_points(mesh, here, 12, threat)
    assert.is_true(#points > 5)
    local before = 0
    for _, point in ipairs(points) do
      assert.is_true(point.y < 12 and point.x > 5 and point.x < 25, tostring(point))
      local away = Vector3.distance(point, here)
      assert.is_true(away >= before and away <= 12)
      before = away
    end
    -- The low wall hides those who crouch.
    threat = Vector3(15, 1, 0)
    local function near_low_wall(options)
      for _, point in ipairs(NavigationMesh.cover_points(mesh, here, 12, threat, options)) do
        if point.y > 5 and point.y < 7 then return true end
      end
      return false
    end
    assert.is_false(near_low_wall())
    assert.is_true(near_low_wall({ height = 0.8 }))
    assert.is_false(near_low_wall({ height = 0.8, eyes = 30 }))
    assert.equals(2, #NavigationMesh.cover_points(mesh, here, 12, Vector3(15, 25, 0),
      { count = 2, spacing = 2 }))
    assert.equals(0, #NavigationMesh.cover_points(mesh, here, 12, threat, { count = 0 }))
  end)

  it("is not behind a thin post", function()
    local points, triangles = {}, {}
    add_floor(points, triangles, 0, 0, 20, 20, 0)
    add_wall(points, triangles, 9.9, 10.1, 10, 3)
    local other = NavigationMesh.create_from_triangles(points, triangles, { radius = 0.4 })
    local found = NavigationMesh.cover_points(other, Vector3(10, 7, 0), 6, Vector3(10, 18, 0),
      { spacing = 0.1 })
    NavigationMesh.destroy(other)
    assert.equals(0, #found)
  end)

  it("refuses mistakes", function()
    local cover, here = NavigationMesh.cover_points, Vector3(15, 8, 0)
    assert.matches("'radius' must be 0 to 10000 metres", error_of(cover, mesh, here, -1, here))
    assert.matches("'threat' must be at most 1000000", error_of(cover, mesh, here, 5,
      Vector3(0, 3e38, 0)))
    assert.same({ {}, "off_mesh" }, { cover(mesh, Vector3(90, 0, 0), 5, here) })
    assert.matches("'count' must be 0 to 256 %(COVER_POINTS_MAX%)", error_of(cover, mesh, here, 5,
      here, { count = 257 }))
    assert.matches("'count' must be a whole number", error_of(cover, mesh, here, 5, here,
      { count = 1.5 }))
    assert.matches("option 'spacing' must be 0.05 to 100", error_of(cover, mesh, here, 5, here,
      { spacing = 0 }))
    assert.matches("unknown option 'hight', did you mean 'height'", error_of(cover, mesh, here, 5,
      here, { hight = 1 }))
  end)
end)
