-- Suite of the links of navigation meshes, and of agents on them.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local WEST, EAST = Vector3(3, 10, 0), Vector3(40, 10, 0)
local FROM, TO = Vector3(19, 10, 0), Vector3(25, 10, 0)

describe("a link of a navigation mesh", function()
  local mesh

  -- Two floors of 20 by 20 metres with a gap of 4 metres between them.
  before_each(function()
    local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0,
      24, 0, 0, 44, 0, 0, 44, 20, 0, 24, 20, 0 }
    local triangles = { 1, 2, 3, 1, 3, 4, 5, 6, 7, 5, 7, 8 }
    mesh = NavigationMesh.create_from_triangles(points, triangles, { region_min = 1 })
  end)
  after_each(function() NavigationMesh.destroy(mesh) end)

  local function reason(from, to)
    local _, why = NavigationMesh.find_path(mesh, from, to)
    return why
  end

  local function run_until(agent, state)
    for _ = 1, 1200 do
      NavigationMesh.update(mesh, 1 / 60)
      if Agent.state(agent) == state then return end
    end
    error("the agent is " .. Agent.state(agent))
  end

  it("joins two points in both directions, or in one", function()
    assert.equals("unreachable", reason(WEST, EAST))
    local link = NavigationMesh.add_link(mesh, FROM, TO)
    assert.is_false(NavigationMesh.is_link_usable(mesh, link))
    NavigationMesh.update(mesh, 0)
    assert.is_true(NavigationMesh.is_link_usable(mesh, link))
    assert.is_nil(reason(WEST, EAST))
    assert.is_nil(reason(EAST, WEST))
    NavigationMesh.remove_link(mesh, link)
    NavigationMesh.add_link(mesh, FROM, TO, { one_way = true, cost = 3 })
    NavigationMesh.update(mesh, 0)
    assert.is_nil(reason(WEST, EAST))
    assert.equals("unreachable", reason(EAST, WEST))
  end)

  it("is not usable without ground at both ends", function()
    local link = NavigationMesh.add_link(mesh, FROM, Vector3(22, 10, 50))
    NavigationMesh.update(mesh, 0)
    assert.is_false(NavigationMesh.is_link_usable(mesh, link))
    assert.equals("unreachable", reason(WEST, EAST))
  end)

  it("leads nowhere if its ends are the same place", function()
    local link = NavigationMesh.add_link(mesh, FROM, FROM, { cost = 0 })
    NavigationMesh.update(mesh, 0)
    assert.is_false(NavigationMesh.is_link_usable(mesh, link))
    assert.equals("unreachable", reason(WEST, EAST))
  end)

  it("is jumped over by agents", function()
    local link = NavigationMesh.add_link(mesh, FROM, TO)
    local agent = Agent.create(mesh, WEST)
    Agent.set_destination(agent, EAST)
    run_until(agent, "linking")
    local number, name = Agent.link(agent)
    assert.equals(link, number)
    assert.is_nil(name)
    local highest = 0
    while Agent.state(agent) == "linking" do
      highest = math.max(highest, Agent.position(agent).z)
      NavigationMesh.update(mesh, 1 / 60)
    end
    assert.is_true(highest > 1, "height " .. highest)
    run_until(agent, "arrived")
    assert.is_nil(Agent.link(agent))
    Agent.destroy(agent)
  end)

  it("waits for a script if it is manual", function()
    NavigationMesh.add_link(mesh, FROM, TO, { name = "hatch", manual = true })
    local agent = Agent.create(mesh, WEST)
    Agent.set_destination(agent, EAST)
    run_until(agent, "linking")
    for _ = 1, 60 do NavigationMesh.update(mesh, 1 / 60) end
    assert.is_true(Agent.position(agent).x < 20)
    local _, name = Agent.link(agent)
    assert.equals("hatch", name)
    Agent.finish_link(agent)
    assert.is_true(Agent.position(agent).x > 24)
    run_until(agent, "arrived")
    assert.matches("it is on no link", error_of(Agent.finish_link, agent))
    Agent.destroy(agent)
    assert.matches("destroyed", error_of(Agent.link, agent))
    assert.matches("destroyed", error_of(Agent.finish_link, agent))
  end)

  it("is left by an agent that is cancelled, if it is manual", function()
    NavigationMesh.add_link(mesh, FROM, TO, { manual = true })
    local agent = Agent.create(mesh, WEST)
    Agent.set_destination(agent, EAST)
    run_until(agent, "linking")
    Agent.set_destination(agent, Vector3(40, 15, 0))
    assert.equals("linking", Agent.state(agent))
    Agent.cancel(agent)
    assert.equals("idle", Agent.state(agent))
    assert.is_nil(Agent.link(agent))
    assert.is_true(Agent.position(agent).x < 20)
    assert.matches("it is on no link", error_of(Agent.finish_link, agent))
    Agent.set_destination(agent, WEST)
    run_until(agent, "arrived")
    Agent.destroy(agent)
  end)

  it("refuses wrong arguments", function()
    local add = NavigationMesh.add_link
    assert.matches("unknown option 'oneway', did you mean 'one_way'?",
      error_of(add, mesh, FROM, TO, { oneway = true }))
    assert.matches("option 'cost' must be a number.*got %-1",
      error_of(add, mesh, FROM, TO, { cost = -1 }))
    assert.matches("option 'manual' must be true or false",
      error_of(add, mesh, FROM, TO, { manual = 1 }))
    assert.matches("option 'name' must be a string of at most 64 bytes",
      error_of(add, mesh, FROM, TO, { name = ("x"):rep(65) }))
    assert.matches("'to' must be at most", error_of(add, mesh, FROM, Vector3(0, 1e9, 0)))
    assert.matches("the mesh has no link 7", error_of(NavigationMesh.remove_link, mesh, 7))
    assert.matches("the mesh has no link %-1", error_of(NavigationMesh.is_link_usable, mesh, -1))
  end)
end)
