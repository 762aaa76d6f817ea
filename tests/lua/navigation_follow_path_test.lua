-- Suite of paths that a script gives to agents.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local STEP = 1 / 60
local MUD = 5

describe("paths of scripts", function()
  local mesh, agent

  -- A floor of 40 by 20 metres with a wall, behind which one can go at y > 15.
  before_each(function()
    local points = { 0, 0, 0, 40, 0, 0, 40, 20, 0, 0, 20, 0 }
    mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 }, { radius = 0.4 })
    NavigationMesh.add_box(mesh, 0, Vector3(20, 7, 1), Vector3(1, 16, 2))
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    agent = Agent.create(mesh, Vector3(3, 3, 0))
  end)
  after_each(function()
    if Agent.alive(agent) then Agent.destroy(agent) end
    if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end
  end)

  -- Updates until the agent has arrived. Returns the least distance from each point.
  local function arrive(points)
    local nearest = {}
    for i = 1, #points do nearest[i] = math.huge end
    for _ = 1, 60 / STEP do
      NavigationMesh.update(mesh, STEP)
      local at = Agent.position(agent)
      for i, point in ipairs(points) do
        nearest[i] = math.min(nearest[i], Vector3.distance(at, point))
      end
      if Agent.state(agent) == "arrived" then return nearest end
      assert.is_true(Agent.state(agent) ~= "partial" and Agent.stuck_seconds(agent) < 1)
    end
    error("it does not arrive: " .. Agent.state(agent))
  end

  local function detour()
    return { Vector3(3, 17, 0), Vector3(10, 5, 0), Vector3(15, 17, 0), Vector3(16, 3, 0) }
  end

  it("lead agents from point to point", function()
    local points = detour()
    assert.same({ true }, { Agent.follow_path(agent, points) })
    NavigationMesh.update(mesh, STEP)
    assert.equals("moving", Agent.state(agent))
    assert.is_true(Vector3.distance(Agent.destination(agent), points[4]) < 0.01)
    assert.equals(4, #Agent.path(agent))
    -- 14, 13.9, 13 and 14 metres.
    local left = Agent.remaining_distance(agent)
    assert.is_true(left > 54 and left < 56, tostring(left))
    for _, distance in ipairs(arrive(points)) do assert.is_true(distance < 0.8) end
    assert.equals(0, #Agent.path(agent))
    -- Alone, it would go straight.
    Agent.set_position(agent, Vector3(3, 3, 0))
    Agent.set_destination(agent, points[4])
    assert.is_true(arrive(points)[2] > 1)
  end)

  it("can be those of find_path, over links, too", function()
    local there = Vector3(37, 3, 0)
    local points = NavigationMesh.find_path(mesh, Agent.position(agent), there)
    assert.is_true(Agent.follow_path(agent, points))
    assert.is_true(arrive({ there })[1] < 0.8)
    NavigationMesh.add_link(mesh, Vector3(18.5, 5, 0), Vector3(21.5, 5, 0), { cost = 1 })
    NavigationMesh.update(mesh, 0)
    NavigationMesh.update(mesh, 0)
    Agent.set_position(agent, Vector3(3, 3, 0))
    points = NavigationMesh.find_path(mesh, Agent.position(agent), there)
    assert.equals(4, #points)
    assert.is_true(Agent.follow_path(agent, points))
    local has_linked = false
    for _ = 1, 1200 do
      NavigationMesh.update(mesh, STEP)
      has_linked = has_linked or Agent.state(agent) == "linking"
    end
    assert.is_true(has_linked)
    assert.is_true(Vector3.distance(Agent.position(agent), there) < 0.8)
  end)

  it("lead on around what comes into their way", function()
    local points = { Vector3(5, 10, 0), Vector3(10, 10, 0), Vector3(16, 10, 0) }
    assert.is_true(Agent.follow_path(agent, points))
    NavigationMesh.update(mesh, STEP)
    NavigationMesh.add_box(mesh, 0, Vector3(7.5, 10, 1), Vector3(1, 12, 2))
    NavigationMesh.add_box(mesh, 0, Vector3(10, 10, 1), Vector3(2, 2, 2))
    assert.is_true(arrive(points)[3] < 0.8)
  end)

  it("are refused where nobody can walk", function()
    local function refused(...)
      local followed, leg = Agent.follow_path(agent, { ... })
      assert.is_false(followed)
      assert.equals("idle", Agent.state(agent))
      return leg
    end
    assert.is_nil(refused())
    assert.equals(1, refused(Vector3(3, 90, 0)))
    assert.equals(2, refused(Vector3(3, 3, 0), Vector3(5, 3, 0), Vector3(5, 90, 0)))
    -- Through the wall, and into it.
    assert.equals(2, refused(Vector3(3, 3, 0), Vector3(10, 3, 0), Vector3(30, 3, 0)))
    assert.equals(1, refused(Vector3(10, 3, 0), Vector3(20, 3, 0)))
    -- Over ground that is closed for the agent alone.
    NavigationMesh.add_box(mesh, MUD, Vector3(10, 10, 1), Vector3(2, 40, 2))
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    local over = { Vector3(5, 3, 0), Vector3(15, 3, 0) }
    Agent.set_area_cost(agent, MUD, 0)
    assert.equals(1, refused(over[1], over[2]))
    Agent.set_area_cost(agent, MUD, nil)
    assert.is_true(Agent.follow_path(agent, over))
  end)

  it("end with other orders, and with the mesh", function()
    local points = detour()
    for _, order in ipairs({
      function() Agent.set_destination(agent, Vector3(5, 3, 0)) end,
      function() Agent.cancel(agent) end,
      function() assert.is_true(Agent.follow_path(agent, { Vector3(5, 3, 0) })) end,
    }) do
      assert.is_true(Agent.follow_path(agent, points))
      NavigationMesh.update(mesh, STEP)
      order()
      NavigationMesh.update(mesh, STEP)
      assert.is_true(#Agent.path(agent) < 2)
    end
    NavigationMesh.destroy(mesh)
    assert.matches("its navigation mesh was destroyed", error_of(Agent.follow_path, agent, points))
  end)

  it("report invalid arguments", function()
    local follow = Agent.follow_path
    assert.matches("'points'", error_of(follow, agent))
    assert.matches("'points'", error_of(follow, agent, 5))
    assert.matches("'points'", error_of(follow, agent, { 1, 2 }))
    assert.matches("'points'", error_of(follow, agent, { Vector3(0 / 0, 0, 0) }))
    assert.matches("'points' must be at most 1000000",
      error_of(follow, agent, { Vector3(3e38, 0, 0) }))
    local many = {}
    for i = 1, 3 * 4098 do many[i] = 3 end
    assert.matches("at most 4097 points %(PATH_POINTS_MAX and the start%), got 4098",
      error_of(follow, agent, many))
    assert.matches("'agent'", error_of(follow, mesh, {}))
    Agent.destroy(agent)
    assert.matches("agent was destroyed", error_of(follow, agent, detour()))
  end)
end)
