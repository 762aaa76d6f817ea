-- Suite of the costs of areas and links for single agents, and of positions that no game has.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local STEP = 1 / 60
local WATER = 2

describe("costs of agents", function()
  local mesh, agents

  -- A floor of 40 by 20 metres with water across it, except at its upper end.
  before_each(function()
    local points = { 0, 0, 0, 40, 0, 0, 40, 20, 0, 0, 20, 0 }
    mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 }, { radius = 0.4 })
    NavigationMesh.add_box(mesh, WATER, Vector3(20, 8, 0), Vector3(4, 16, 2))
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    agents = {}
  end)
  after_each(function()
    for _, agent in ipairs(agents) do
      if Agent.alive(agent) then Agent.destroy(agent) end
    end
    NavigationMesh.destroy(mesh)
  end)

  -- Sends an agent across the water.
  local function add(cost)
    local agent = Agent.create(mesh, Vector3(5, 5, 0), { speed = 8 })
    agents[#agents + 1] = agent
    if cost then Agent.set_area_cost(agent, WATER, cost) end
    Agent.set_destination(agent, Vector3(35, 5, 0))
    return agent
  end

  -- Returns the highest y of an agent on its way.
  local function top(agent)
    local highest = 0
    for _ = 1, 10 / STEP do
      NavigationMesh.update(mesh, STEP)
      highest = math.max(highest, Agent.position(agent).y)
    end
    return highest
  end

  it("count in floods, searches and random points for them", function()
    local from, to = Vector3(5, 5, 0), Vector3(35, 5, 0)
    local closed = add(0)
    NavigationMesh.add_box(mesh, WATER, Vector3(20, 10, 0), Vector3(4, 30, 2))
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    local function farthest(agent)
      local polygons, costs = NavigationMesh.flood_fill(mesh, from, 100, agent)
      assert.equals(#polygons, #costs)
      local x = 0
      for _, polygon in ipairs(polygons) do
        for _, corner in ipairs(NavigationMesh.polygon_vertices(mesh, polygon)) do
          x = math.max(x, corner.x)
        end
      end
      return x
    end
    assert.is_true(farthest() > 35, farthest())
    assert.is_true(farthest(closed) < 18.5, farthest(closed))
    local here = NavigationMesh.find_polygon(mesh, from)
    local there = NavigationMesh.find_polygon(mesh, to)
    local search, partial = NavigationMesh.search, NavigationMesh.partial_search
    assert.equals(there, table.remove(search(mesh, here, there)))
    local none, reason = search(mesh, here, there, nil, closed)
    assert.is_nil(none)
    assert.equals("unreachable", reason)
    assert.equals("unreachable", (select(2, partial(mesh, here, there, 65536, closed))))
    assert.is_nil((select(2, partial(mesh, here, there))))
    local random = NavigationMesh.random_point
    local has_crossed = false
    for _ = 1, 40 do
      assert.is_true(random(mesh, from, nil, closed).x < 18.5)
      assert.is_true(random(mesh, from, 100, closed).x < 18.5)
      local anywhere = random(mesh, nil, nil, closed).x
      assert.is_true(anywhere < 18.5 or anywhere > 21.5, anywhere)
      has_crossed = has_crossed or random(mesh, from).x > 22
    end
    assert.is_true(has_crossed)
    -- The same numbers are the same points.
    Math.set_seed(7)
    local first = tostring(random(mesh, from, nil, closed))
    Math.set_seed(7)
    assert.equals(first, tostring(random(mesh, from, nil, closed)))
    assert.matches("#4 'agent'", error_of(NavigationMesh.flood_fill, mesh, from, 5, mesh))
    assert.matches("#5 'agent'", error_of(search, mesh, here, there, nil, mesh))
    assert.matches("#5 'agent'", error_of(partial, mesh, here, there, nil, mesh))
    assert.matches("#4 'agent'", error_of(random, mesh, from, 5, mesh))
  end)

  it("are part of the cost of a path", function()
    local from, to = Vector3(5, 5, 0), Vector3(35, 5, 0)
    local function cost(agent) return (NavigationMesh.path_cost(mesh, from, to, agent)) end
    assert.is_true(math.abs(cost() - 30) < 0.1, cost())
    -- 4 metres of water, and about half a cell more on both sides.
    NavigationMesh.set_area_cost(mesh, WATER, 2)
    assert.is_true(cost() > 33.5 and cost() < 36, cost())
    -- Around it, or not at all.
    local far, open, closed = add(100), add(1), add(0)
    assert.is_true(cost(far) > 36 and cost(far) < 50, cost(far))
    assert.is_true(math.abs(cost(open) - 30) < 0.1, cost(open))
    assert.is_true(math.abs(cost(closed) - cost(far)) < 0.1, cost(closed))
    NavigationMesh.add_box(mesh, 0, Vector3(20, 10, 0), Vector3(1, 22, 2))
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    local none, reason = NavigationMesh.path_cost(mesh, from, to)
    assert.is_nil(none)
    assert.equals("unreachable", reason)
    -- A link has its own cost.
    NavigationMesh.add_link(mesh, Vector3(15, 5, 0), Vector3(25, 5, 0), { cost = 3 })
    NavigationMesh.update(mesh, 0)
    assert.is_true(math.abs(cost() - 23) < 0.5, cost())
    assert.equals("off_mesh", (select(2, NavigationMesh.path_cost(mesh, from, Vector3(90, 0, 0)))))
    assert.is_true(error_of(NavigationMesh.path_cost, mesh, from, Vector3(3e38, 0, 0))
      :find("argument #3 'to'", 1, true) ~= nil)
    assert.is_true(error_of(NavigationMesh.path_cost, mesh, Vector3(0 / 0, 0, 0), to)
      :find("#2 'from'", 1, true) ~= nil)
  end)

  it("lead each on its own way", function()
    assert.is_true(top(add()) < 8)
    assert.is_true(top(add(20)) > 15)
    assert.is_true(top(add(0)) > 15)
    for _, agent in ipairs(agents) do assert.equals("arrived", Agent.state(agent)) end
    -- What the mesh closes can be open for one.
    NavigationMesh.set_area_cost(mesh, WATER, 0)
    assert.is_true(top(add(1)) < 8)
    assert.is_true(top(add()) > 15)
  end)

  it("can be read, changed under way, and given back", function()
    local agent = add(20)
    assert.equals(20, Agent.area_cost(agent, WATER))
    assert.equals(1, Agent.area_cost(agent, 1))
    Agent.set_area_cost(agent, WATER, 0)
    assert.equals(0, Agent.area_cost(agent, WATER))
    for _ = 1, 30 do NavigationMesh.update(mesh, STEP) end
    Agent.set_area_cost(agent, WATER, nil)
    assert.equals(1, Agent.area_cost(agent, WATER))
    assert.is_true(top(agent) < 12)
    NavigationMesh.set_area_cost(mesh, WATER, 6)
    assert.equals(6, Agent.area_cost(agent, WATER))
  end)

  it("stop an agent at ground that is closed for it", function()
    local agent = Agent.create(mesh, Vector3(5, 5, 0))
    agents[1] = agent
    Agent.set_area_cost(agent, WATER, 0)
    assert.is_true(Agent.set_destination(agent, Vector3(19, 5, 0)))
    for _ = 1, 10 / STEP do NavigationMesh.update(mesh, STEP) end
    assert.equals("partial", Agent.state(agent))
    assert.is_true(Agent.position(agent).x < 18.5)
  end)

  it("lead an agent out of ground that closes under it", function()
    local agent = Agent.create(mesh, Vector3(20, 5, 0))
    agents[1] = agent
    Agent.set_area_cost(agent, WATER, 0)
    assert.is_true(Agent.set_destination(agent, Vector3(35, 5, 0)))
    for _ = 1, 10 / STEP do NavigationMesh.update(mesh, STEP) end
    assert.equals("arrived", Agent.state(agent))
  end)

  it("refuse what is no area and no cost", function()
    local agent = add()
    assert.matches("must be a finite number", error_of(Agent.set_area_cost, agent, WATER,
      math.huge))
    for _, cost in ipairs({ -1, 0.001, 1001 }) do
      assert.matches("'cost' must be 0, or 0.01 to 1000",
        error_of(Agent.set_area_cost, agent, WATER, cost))
    end
    for _, area in ipairs({ 0, 64, -1 }) do
      assert.matches("'area' must be 1 to 63", error_of(Agent.set_area_cost, agent, area, 2))
      assert.matches("'area' must be 1 to 63", error_of(Agent.area_cost, agent, area))
    end
    for i = 1, 16 do add(1 + i) end
    assert.matches("16 different sets of costs %(COST_SETS_MAX%)",
      error_of(Agent.set_area_cost, agent, WATER, 99))
    Agent.set_area_cost(agent, WATER, 17)
    Agent.destroy(agent)
    assert.matches("agent", error_of(Agent.set_area_cost, agent, WATER, 1))
  end)

  it("refuse positions that no game has", function()
    local agent = add()
    local here = Vector3(5, 5, 0)
    for _, far in ipairs({ Vector3(3e38, 0, 0), Vector3(0, -2e6, 0), Vector3(0, 0, 1e7) }) do
      local function refused(argument, fn, ...)
        assert.matches("argument #" .. argument .. ".* must be at most 1000000 metres from the "
          .. "origin along each axis", error_of(fn, ...))
      end
      refused("2 'position'", Agent.create, mesh, far)
      refused("2 'position'", Agent.set_destination, agent, far)
      refused("2 'position'", Agent.set_position, agent, far)
      refused("2 'position'", Agent.update_position, agent, far)
      refused("2 'position'", NavigationMesh.find_polygon, mesh, far)
      refused("2 'position'", NavigationMesh.find_nearest_polygon, mesh, far)
      refused("2 'position'", NavigationMesh.constrain_to_polygon, mesh, far, 1)
      refused("2 'position'", NavigationMesh.project_to_polygon, mesh, far, 1)
      refused("2 'from'", NavigationMesh.find_path, mesh, far, here)
      refused("3 'to'", NavigationMesh.find_path, mesh, here, far)
      refused("3 'to'", NavigationMesh.find_path_async, mesh, here, far, print)
      refused("3 'to'", NavigationMesh.raycast, mesh, here, far)
      refused("3 'to'", NavigationMesh.disc_cast, mesh, here, far, 1)
      refused("2 'position'", NavigationMesh.distance_to_edge, mesh, far)
      refused("2 'position'", NavigationMesh.flood_fill, mesh, far, 1)
      refused("2 'target'", NavigationMesh.positions_around, mesh, far, 1, 1, 1)
      refused("4 'to'", NavigationMesh.funnel, mesh, { 1 }, here, far)
    end
  end)
end)

describe("costs of links for agents", function()
  local mesh, agents

  -- Two floors of 20 by 20 metres, and two links over the gap between them.
  before_each(function()
    local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0,
      24, 0, 0, 44, 0, 0, 44, 20, 0, 24, 20, 0 }
    local triangles = { 1, 2, 3, 1, 3, 4, 5, 6, 7, 5, 7, 8 }
    mesh = NavigationMesh.create_from_triangles(points, triangles, { region_min = 1 })
    for name, y in pairs({ door = 5, ladder = 15 }) do
      local from, to = Vector3(19, y, 0), Vector3(25, y, 0)
      NavigationMesh.add_link(mesh, from, to, { name = name, cost = 6 })
    end
    NavigationMesh.update(mesh, 0)
    agents = {}
  end)
  after_each(function()
    for _, agent in ipairs(agents) do Agent.destroy(agent) end
    NavigationMesh.destroy(mesh)
  end)

  local function add(door, ladder)
    local agent = Agent.create(mesh, Vector3(4, 5, 0), { speed = 9 })
    agents[#agents + 1] = agent
    Agent.set_link_cost(agent, "door", door)
    Agent.set_link_cost(agent, "ladder", ladder)
    Agent.set_destination(agent, Vector3(40, 5, 0))
    return agent
  end

  -- Returns the name of the link that an agent has used, and its state at the end.
  local function walk(agent)
    local used
    for _ = 1, 10 / STEP do
      NavigationMesh.update(mesh, STEP)
      local _, name = Agent.link(agent)
      used = name or used
    end
    return used, Agent.state(agent)
  end

  it("choose the link, or close it", function()
    assert.equals("door", (walk(add())))
    assert.equals("ladder", (walk(add(60))))
    assert.equals("ladder", (walk(add(false))))
    local agent = add(false, false)
    local used, state = walk(agent)
    assert.is_nil(used)
    assert.equals("partial", state)
    Agent.set_link_cost(agent, "door", nil)
    used, state = walk(agent)
    assert.equals("door", used)
    assert.equals("arrived", state)
  end)

  it("are part of the cost of a path, and are returned", function()
    local from, to = Vector3(4, 5, 0), Vector3(40, 5, 0)
    local agent = add(30, false)
    assert.near(36, (NavigationMesh.path_cost(mesh, from, to)), 0.1)
    assert.near(60, (NavigationMesh.path_cost(mesh, from, to, agent)), 0.1)
    assert.equals(30, Agent.link_cost(agent, "door"))
    assert.is_false(Agent.link_cost(agent, "ladder"))
    assert.is_nil(Agent.link_cost(agent, "rope"))
  end)

  it("refuse what is no cost and no name", function()
    local agent = add()
    for _, cost in ipairs({ -1, 1e7, true, "far" }) do
      assert.matches("argument #3 'cost' must be a number, 0 to 1000000, or false, got",
        error_of(Agent.set_link_cost, agent, "door", cost))
    end
    for _, name in ipairs({ "", ("x"):rep(65) }) do
      assert.matches("argument #2 'name' must be the name of links, 1 to 64 bytes",
        error_of(Agent.set_link_cost, agent, name, 1))
      assert.matches("argument #2 'name'", error_of(Agent.link_cost, agent, name))
    end
    for i = 1, 64 do Agent.set_link_cost(agent, "link" .. i, 1) end
    assert.matches("LINK_COSTS_MAX", error_of(Agent.set_link_cost, agent, "another", 1))
    Agent.set_link_cost(agent, "link1", nil)
    Agent.set_link_cost(agent, "another", 1)
  end)
end)
