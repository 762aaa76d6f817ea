-- Suite of `NavigationMesh.handle_links`: functions that call it themselves, that yield, and that
-- raise errors.

local STEP = 1 / 60

describe("functions for agents on links", function()
  local mesh, agents, called

  before_each(function()
    local points = { 0, 0, 0, 40, 0, 0, 40, 20, 0, 0, 20, 0 }
    mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 }, { radius = 0.4 })
    agents, called = {}, {}
  end)
  after_each(function()
    for _, agent in ipairs(agents) do
      if Agent.alive(agent) then Agent.destroy(agent) end
    end
    NavigationMesh.destroy(mesh)
  end)

  local function add_link(from, to, y)
    return NavigationMesh.add_link(mesh, Vector3(from, y, 0), Vector3(to, y, 0),
      { name = "portal", cost = 1, manual = true, one_way = true })
  end

  -- Adds agents that stand at the starts of links of their own, which they enter in the same
  -- update. Numbers them in the order in which their functions are called.
  local function enter(count, from)
    NavigationMesh.update(mesh, 0)
    for i = 1, count do
      agents[i] = Agent.create(mesh, Vector3(from, i * 4, 0))
      Agent.set_destination(agents[i], Vector3(36, i * 4, 0))
    end
    for _ = 1, 30 do
      NavigationMesh.update(mesh, STEP)
      if #NavigationMesh.linking_agents(mesh) > 0 then break end
    end
    assert.equals(count, #NavigationMesh.linking_agents(mesh))
    agents = NavigationMesh.linking_agents(mesh)
  end

  -- Notes which agent a function was called for.
  local function note(agent)
    for i, known in ipairs(agents) do
      if agent == known then called[#called + 1] = i end
    end
    return called[#called]
  end

  local function is_waiting()
    for _, agent in ipairs(agents) do
      if not Agent.link(agent) or Agent.state(agent) ~= "linking" then return false end
    end
    return true
  end

  it("can call handle_links themselves", function()
    for i = 1, 3 do add_link(10, 30, i * 4) end
    enter(3, 10)
    local inner = {}
    local handlers = {}
    function handlers.portal(agent)
      note(agent)
      inner[#inner + 1] = NavigationMesh.handle_links(mesh, handlers)
    end
    assert.equals(3, NavigationMesh.handle_links(mesh, handlers))
    assert.same({ 1, 2, 3 }, called)
    assert.same({ 0, 0, 0 }, inner)
    assert.is_true(is_waiting())
  end)

  it("can yield while others are handled", function()
    for i = 1, 3 do add_link(10, 30, i * 4) end
    enter(3, 10)
    local handlers = {
      portal = function(agent)
        if note(agent) == 2 then coroutine.yield() end
        Agent.finish_link(agent)
      end,
    }
    local count
    local thread = coroutine.create(function()
      count = NavigationMesh.handle_links(mesh, handlers)
    end)
    assert.is_true(coroutine.resume(thread))
    for _ = 1, 5 do
      assert.equals(0, NavigationMesh.handle_links(mesh, handlers))
      NavigationMesh.update(mesh, STEP)
    end
    assert.same({ 1, 2 }, called)
    assert.is_not_nil(Agent.link(agents[2]))
    -- New agents do not wait for it.
    agents[4] = Agent.create(mesh, Vector3(10, 4, 0))
    Agent.set_destination(agents[4], Vector3(34, 4, 0))
    for _ = 1, 30 do
      NavigationMesh.update(mesh, STEP)
      NavigationMesh.handle_links(mesh, handlers)
    end
    assert.same({ 1, 2, 4 }, called)
    assert.is_true(coroutine.resume(thread))
    assert.same({ 1, 2, 4, 3 }, called)
    assert.equals(3, count)
    for _, agent in ipairs(agents) do assert.is_nil(Agent.link(agent)) end
  end)

  it("leave their agents to the next call when their coroutine ends by an error", function()
    for i = 1, 3 do add_link(10, 30, i * 4) end
    enter(3, 10)
    local handlers = {
      portal = function(agent)
        if note(agent) == 1 then
          coroutine.yield()
          error("a mistake in a script")
        end
      end,
    }
    local thread = coroutine.create(function() NavigationMesh.handle_links(mesh, handlers) end)
    assert.is_true(coroutine.resume(thread))
    assert.equals(0, NavigationMesh.handle_links(mesh, handlers))
    assert.is_false(coroutine.resume(thread))
    assert.equals(2, NavigationMesh.handle_links(mesh, handlers))
    assert.same({ 1, 2, 3 }, called)
    assert.is_nil(Agent.link(agents[1]))
  end)

  it("are called once also if one of them fails and is tried again at once", function()
    for i = 1, 3 do add_link(10, 30, i * 4) end
    enter(3, 10)
    local handlers = {
      portal = function(agent)
        if note(agent) == 2 then error("a mistake in a script") end
      end,
    }
    local passed, problem = pcall(NavigationMesh.handle_links, mesh, handlers)
    assert.is_false(passed)
    assert.matches("a mistake in a script", problem)
    assert.equals(1, NavigationMesh.handle_links(mesh, handlers))
    assert.same({ 1, 2, 3 }, called)
    -- Only the one whose function failed has given up its link.
    assert.is_nil(Agent.link(agents[2]))
    assert.is_not_nil(Agent.link(agents[1]))
    assert.is_not_nil(Agent.link(agents[3]))
  end)

  it("are called for the next link of agents that had left one before an error", function()
    for i = 1, 2 do
      add_link(5, 15, i * 4)
      add_link(16, 32, i * 4)
    end
    enter(2, 5)
    local fails = true
    local links = {}
    local handlers = {
      portal = function(agent, link)
        local i = note(agent)
        links[#links + 1] = link
        if i == 2 and not fails then return end
        Agent.finish_link(agent)
        if i == 2 then error("a mistake in a script") end
      end,
    }
    assert.is_false(pcall(NavigationMesh.handle_links, mesh, handlers))
    assert.same({ 1, 2 }, called)
    fails = false
    -- Both go on, and come to their second link before the next call.
    for _ = 1, 120 do
      NavigationMesh.update(mesh, STEP)
      if #NavigationMesh.linking_agents(mesh) > 0 then break end
    end
    local second = { (Agent.link(agents[1])), (Agent.link(agents[2])) }
    assert.equals(2, NavigationMesh.handle_links(mesh, handlers))
    assert.same({ 1, 2, 1, 2 }, called)
    assert.same(second, { links[3], links[4] })
    -- Its function has been called, and it waits.
    assert.equals("linking", Agent.state(agents[2]))
  end)
end)
