-- Suite of agents among others: lines in front of doors, leaders and formations, groups, changes of
-- their mesh, and characters that they move.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local STEP = 1 / 60

describe("agents", function()
  local mesh, agents

  -- A floor of 40 by 20 metres.
  before_each(function()
    local points = { 0, 0, 0, 40, 0, 0, 40, 20, 0, 0, 20, 0 }
    mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 }, { radius = 0.4 })
    agents = {}
  end)
  after_each(function()
    for _, agent in ipairs(agents) do
      if Agent.alive(agent) then Agent.destroy(agent) end
    end
    NavigationMesh.destroy(mesh)
  end)

  local function add(x, y, options)
    local agent = Agent.create(mesh, Vector3(x, y, 0), options)
    agents[#agents + 1] = agent
    return agent
  end

  local function run(seconds, each)
    for _ = 1, seconds / STEP do
      NavigationMesh.update(mesh, STEP)
      if each then each() end
    end
  end

  local function wall(x, from, to)
    NavigationMesh.add_box(mesh, 0, Vector3(x, (from + to) / 2, 1), Vector3(1, to - from, 2))
  end

  local function rebuild()
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
  end

  it("go through a narrow door from both sides", function()
    wall(20, 0, 9.3)
    wall(20, 10.7, 20)
    rebuild()
    for i = 1, 8 do
      local y = 7 + i % 4 * 2
      local x = 10 + math.floor((i - 1) / 4) * 2
      Agent.set_destination(add(x, y), Vector3(40 - x, y, 0))
      Agent.set_destination(add(40 - x, y), Vector3(x, y, 0))
    end
    local longest, still = 0, 0
    run(30, function()
      for _, agent in ipairs(agents) do
        longest = math.max(longest, Agent.stuck_seconds(agent))
        still = math.max(still, Agent.still_seconds(agent))
      end
    end)
    for _, agent in ipairs(agents) do assert.equals("arrived", Agent.state(agent)) end
    assert.is_true(longest < 3, "stuck for " .. longest)
    assert.is_true(still >= longest)
  end)

  it("stop around a destination that others have taken", function()
    for i = 0, 11 do
      Agent.set_destination(add(4 + i % 4 * 1.5, 6 + math.floor(i / 4) * 1.5), Vector3(30, 10, 0))
    end
    run(15)
    for i, agent in ipairs(agents) do
      assert.equals("arrived", Agent.state(agent))
      assert.is_true(Vector3.distance(Agent.position(agent), Vector3(30, 10, 0)) < 4)
      for k = 1, i - 1 do
        assert.is_true(Vector3.distance(Agent.position(agent), Agent.position(agents[k])) > 0.6)
      end
    end
  end)

  it("follow a leader at an offset", function()
    local leader, follower = add(5, 10), add(3, 10)
    assert.is_nil(Agent.leader(follower))
    assert.is_true(Agent.follow(follower, leader, Vector3(1, -1.5, 0)))
    assert.equals(leader, Agent.leader(follower))
    Agent.set_destination(leader, Vector3(35, 10, 0))
    run(12)
    assert.equals("arrived", Agent.state(leader))
    assert.equals("arrived", Agent.state(follower))
    local forward = Agent.forward(leader)
    assert.is_true(forward.x > 0.99)
    local expected = Agent.position(leader) + Vector3(-1.5, -1, 0)
    assert.is_true(Vector3.distance(Agent.position(follower), expected) < 0.4)
    -- It walks after a leader that is sent on, and ends with it.
    Agent.set_destination(leader, Vector3(5, 5, 0))
    run(1)
    assert.equals("moving", Agent.state(follower))
    Agent.destroy(leader)
    run(0.5)
    assert.equals("idle", Agent.state(follower))
    assert.is_nil(Agent.leader(follower))
  end)

  it("walk in a formation around obstacles", function()
    wall(20, 4, 16)
    rebuild()
    local leader, followers = add(8, 10, { speed = 2.5 }), {}
    for i = 1, 6 do followers[i] = add(3 + i % 3, 8 + i % 2 * 2) end
    for _, shape in ipairs({ "line", "column", "circle", "wedge" }) do
      assert.equals(6, Agent.form(leader, followers, shape, 1.2))
    end
    Agent.set_destination(leader, Vector3(32, 10, 0))
    run(25)
    local forward = Agent.forward(leader)
    local right = Vector3(forward.y, -forward.x, 0)
    for i, follower in ipairs(followers) do
      assert.equals("arrived", Agent.state(follower))
      local away = Agent.position(follower) - Agent.position(leader)
      local number = math.ceil(i / 2)
      local side = i % 2 == 1 and number or -number
      local expected = (right * side - forward * number) * 1.2
      assert.is_true(Vector3.length(away - expected) < 0.5, "follower " .. i)
    end
  end)

  it("do not avoid groups that they ignore", function()
    local ghost, guard = add(5, 10, { group = 3 }), add(20, 10)
    Agent.set_group_ignored(ghost, 0, true)
    Agent.set_group_ignored(guard, 3, true)
    Agent.set_destination(ghost, Vector3(35, 10, 0))
    local nearest, aside = 99, 0
    run(12, function()
      nearest = math.min(nearest, Vector3.distance(Agent.position(ghost), Agent.position(guard)))
      aside = math.max(aside, math.abs(Agent.position(ghost).y - 10))
    end)
    assert.equals("arrived", Agent.state(ghost))
    assert.is_true(nearest < 0.4 and aside < 0.4, nearest .. " " .. aside)
    Agent.set_group_ignored(ghost, 0, false)
    Agent.set_group(ghost, 0)
    Agent.set_group_ignored(guard, 3, false)
    Agent.set_destination(ghost, Vector3(5, 10, 0))
    nearest = 99
    run(12, function()
      nearest = math.min(nearest, Vector3.distance(Agent.position(ghost), Agent.position(guard)))
    end)
    assert.is_true(nearest > 0.6, "nearest " .. nearest)
  end)

  it("go on until their repaired path is there", function()
    local agent = add(5, 10)
    Agent.set_destination(agent, Vector3(35, 10, 0))
    run(1)
    for _ = 1, 60 do
      -- A change far from its path, and another destination.
      local polygon = NavigationMesh.find_polygon(mesh, Vector3(38, 18, 0))
      NavigationMesh.set_obstructed(mesh, polygon,
        not NavigationMesh.is_obstructed(mesh, polygon))
      NavigationMesh.update(mesh, STEP)
      assert.equals("moving", Agent.state(agent))
      assert.is_true(Vector3.length(Agent.velocity(agent)) > 3)
    end
    Agent.set_destination(agent, Vector3(35, 12, 0))
    assert.equals("moving", Agent.state(agent))
  end)

  it("are corrected by the position of their character", function()
    local agent = add(5, 10)
    Agent.set_destination(agent, Vector3(35, 10, 0))
    run(1)
    local position = Agent.position(agent) + Vector3(0, 0.3, 0.1)
    local apart = Agent.update_position(agent, position)
    assert.is_true(apart < 0.4, "apart " .. apart)
    assert.equals("moving", Agent.state(agent))
    assert.is_true(math.abs(Agent.position(agent).y - position.y) < 1e-3)
    assert.is_nil(Agent.update_position(agent, Vector3(5, 10, 90)))
    assert.is_true(math.abs(Agent.position(agent).y - position.y) < 1e-3)
    run(12)
    assert.equals("arrived", Agent.state(agent))
  end)

  it("move units", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "core/units/empty", Vector3(5, 10, 0))
    local agent = add(5, 10)
    Agent.set_destination(agent, Vector3(9, 10, 0))
    run(3, function() Agent.move_unit(agent, unit) end)
    local position = Unit.world_position(unit, 1)
    assert.is_true(Vector3.distance(position, Agent.position(agent)) < 1e-3)
    local forward = Quaternion.forward(Unit.local_rotation(unit, 1))
    assert.is_true(forward.x > 0.9)
    assert.matches("dt", error_of(Agent.use_root_motion, agent, unit, 0))
    assert.matches("dt", error_of(Agent.move_mover, agent, unit, "soon"))
    assert.matches("fall", error_of(Agent.move_mover, agent, unit, 0.1, "fast"))
    Application.release_world(world)
  end)

  it("move movers, and stay where physics stops them", function()
    local world = Application.new_world()
    local floor = World.spawn_unit(world, "core/units/empty")
    Unit.create_actor(floor, "floor", { type = "static", shape = "box", size = { 90, 90, 1 } })
    local crate = World.spawn_unit(world, "core/units/empty", Vector3(12, 10, 1.5))
    Unit.create_actor(crate, "crate", { type = "static", shape = "box", size = { 1, 6, 2 } })
    local walker = World.spawn_unit(world, "units/physics/walker", Vector3(5, 10, 0.8))
    local mover, agent = Unit.mover(walker), add(5, 10)
    Agent.set_destination(agent, Vector3(20, 10, 0))
    local farthest = 0
    run(4, function()
      local distance = Agent.move_mover(agent, mover, STEP, 4)
      farthest = math.max(farthest, distance or 99)
      World.update(world, STEP)
    end)
    -- The mesh does not know the crate.
    assert.is_true(farthest < 1, "farthest " .. farthest)
    local x = Mover.position(mover).x
    assert.is_true(x > 9 and x < 11.6, "x " .. x)
    assert.is_true(math.abs(Agent.position(agent).x - x) < 0.1)
    assert.is_true(Agent.stuck_seconds(agent) > 0.5)
    Application.release_world(world)
  end)

  it("walk as fast as the root motion of their character", function()
    local world = Application.new_world()
    -- The clip rises by a metre in a second: lying down, the character goes along x.
    local lies = Quaternion(Vector3.up(), -math.pi / 2) * Quaternion(Vector3.right(), -math.pi / 2)
    local unit = World.spawn_unit(world, "models/column", Vector3(5, 10, 0), lies)
    Unit.set_animation_root_mode(unit, "ignore")
    local animation = Unit.crossfade_animation(unit, "animations/climb", 1, 0, true)
    local agent = add(5, 10, { speed = 9, acceleration = 50 })
    Agent.set_destination(agent, Vector3(35, 10, 0))
    local seconds, speed = 0, nil
    local function walk(time)
      run(time, function()
        World.update(world, STEP)
        speed = Agent.use_root_motion(agent, unit, STEP)
        Unit.set_local_position(unit, 1, Agent.position(agent))
        seconds = seconds + STEP
      end)
    end
    walk(1)
    assert.near(1, speed, 0.01)
    local from = Agent.position(agent).x
    walk(3)
    assert.near(3, Agent.position(agent).x - from, 0.1)
    assert.near(1, Vector3.length(Agent.velocity(agent)), 0.02)
    -- Twice as fast, and not at all.
    Unit.crossfade_animation_set_speed(unit, animation, 2)
    walk(0.5)
    from = Agent.position(agent).x
    walk(2)
    assert.near(2, speed, 0.01)
    assert.near(4, Agent.position(agent).x - from, 0.1)
    Unit.stop_animation(unit)
    walk(0.5)
    from = Agent.position(agent).x
    walk(1)
    assert.equals(0, speed)
    assert.near(0, Agent.position(agent).x - from, 0.01)
    assert.equals("moving", Agent.state(agent))
    Application.release_world(world)
  end)

  it("finish a link when the event of an animation comes", function()
    NavigationMesh.add_link(mesh, Vector3(10, 10, 0), Vector3(30, 10, 0),
      { name = "ladder", cost = 1, manual = true })
    NavigationMesh.update(mesh, 0)
    local world = Application.new_world()
    local agent = add(8, 10)
    local unit = World.spawn_unit(world, "units/stepper", Agent.position(agent))
    local order, climber = {}, nil
    function _G.on_animation_event(from, event)
      if event == "step" and from == unit and climber then
        order[#order + 1] = "step"
        if #order == 3 then
          Agent.finish_link(climber)
          climber = nil
        end
      end
    end
    Agent.set_destination(agent, Vector3(32, 10, 0))
    local start
    for _ = 1, 600 do
      NavigationMesh.update(mesh, STEP)
      NavigationMesh.handle_links(mesh, {
        ladder = function(entering)
          climber, start = entering, Agent.position(entering)
          order[#order + 1] = "climb"
        end,
      })
      Agent.move_unit(agent, unit)
      World.update(world, STEP)
      if climber then
        assert.equals("linking", Agent.state(agent))
        assert.equals(start, Agent.position(agent))
      end
    end
    _G.on_animation_event = nil
    assert.same({ "climb", "step", "step" }, order)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Agent.position(agent).x > 31)
    Application.release_world(world)
  end)

  it("can be destroyed by the function that handles their link", function()
    NavigationMesh.add_link(mesh, Vector3(10, 10, 0), Vector3(30, 10, 0),
      { name = "portal", cost = 1, manual = true })
    NavigationMesh.update(mesh, 0)
    local agents, calls = { add(8, 10), add(8, 12) }, 0
    for _, agent in ipairs(agents) do Agent.set_destination(agent, Vector3(32, 10, 0)) end
    run(6, function()
      NavigationMesh.handle_links(mesh, {
        portal = function()
          calls = calls + 1
          for _, agent in ipairs(agents) do
            if Agent.alive(agent) then Agent.destroy(agent) end
          end
        end,
      })
    end)
    assert.equals(1, calls)
    assert.equals(0, NavigationMesh.num_agents(mesh))
  end)

  it("of links are handled by name", function()
    NavigationMesh.add_link(mesh, Vector3(10, 10, 0), Vector3(30, 10, 0),
      { name = "portal", cost = 1, manual = true })
    NavigationMesh.update(mesh, 0)
    local agent, calls = add(8, 10), 0
    Agent.set_destination(agent, Vector3(32, 10, 0))
    run(6, function()
      calls = calls + NavigationMesh.handle_links(mesh, {
        portal = function(entering)
          assert.equals(agent, entering)
          assert.same({ agent }, NavigationMesh.linking_agents(mesh))
          Agent.finish_link(entering)
        end,
      })
    end)
    assert.equals(1, calls)
    assert.equals("arrived", Agent.state(agent))
    assert.same({}, NavigationMesh.linking_agents(mesh))
  end)

  it("give up a link whose function raises an error", function()
    NavigationMesh.add_link(mesh, Vector3(10, 10, 0), Vector3(30, 10, 0),
      { name = "portal", cost = 1, manual = true })
    NavigationMesh.update(mesh, 0)
    local first, second = add(8, 10), add(8, 10.5)
    for _, agent in ipairs({ first, second }) do
      Agent.set_destination(agent, Vector3(32, 10, 0))
    end
    -- Both stand at the start of the link before anything is called.
    local entered = {}
    local problems, calls, is_repaired = {}, {}, false
    local handlers = {
      portal = function(agent)
        calls[#calls + 1] = agent
        if agent == first and not is_repaired then error("a mistake in a script") end
        Agent.finish_link(agent)
      end,
    }
    run(4, function()
      for _, agent in ipairs(NavigationMesh.linking_agents(mesh)) do entered[agent] = true end
      local passed, problem = pcall(NavigationMesh.handle_links, mesh, handlers)
      if not passed then problems[#problems + 1] = problem end
    end)
    -- Reported once, and no agent waits: the first one walks.
    assert.equals(1, #problems)
    assert.matches("a mistake in a script", problems[1])
    assert.is_true(entered[first] and entered[second])
    assert.same({ [first] = 1, [second] = 1 }, (function()
      local counts = {}
      for _, agent in ipairs(calls) do counts[agent] = (counts[agent] or 0) + 1 end
      return counts
    end)())
    assert.equals("arrived", Agent.state(second))
    assert.equals("moving", Agent.state(first))
    run(4)
    assert.equals("arrived", Agent.state(first))
    -- After 10 seconds the link is open for it again, and its function is called.
    is_repaired = true
    Agent.set_position(first, Vector3(8, 10, 0))
    Agent.cancel(first)
    run(5)
    Agent.set_destination(first, Vector3(32, 10, 0))
    run(3, function() NavigationMesh.handle_links(mesh, handlers) end)
    assert.equals(3, #calls)
    assert.equals("arrived", Agent.state(first))
  end)

  it("go on after an error in the function of another one's link", function()
    NavigationMesh.add_link(mesh, Vector3(10, 10, 0), Vector3(30, 10, 0),
      { name = "portal", cost = 1, manual = true })
    NavigationMesh.update(mesh, 0)
    local ends = {}
    for i = 1, 3 do
      local agent = add(9.6, 9.7 + i * 0.15)
      Agent.set_destination(agent, Vector3(32, 10, 0))
      ends[agent] = i
    end
    local waiting = {}
    for _ = 1, 240 do
      NavigationMesh.update(mesh, STEP)
      for _, agent in ipairs(NavigationMesh.linking_agents(mesh)) do
        waiting[#waiting + 1] = agent
      end
      local called = {}
      local function handle()
        return NavigationMesh.handle_links(mesh, {
          portal = function(agent)
            called[#called + 1] = agent
            Agent.destroy(agent)
            if #called == 1 then error("the first one fails") end
          end,
        })
      end
      if not pcall(handle) then assert.equals(#called, 1) end
      local count = #called
      -- Those behind it, once each, also in the same frame.
      local _, rest = pcall(handle)
      assert.equals(#called - count, rest)
    end
    assert.equals(3, #waiting)
    assert.equals(0, NavigationMesh.num_agents(mesh))
  end)

  it("do not follow each other in a circle", function()
    local first, second, third = add(5, 10), add(7, 10), add(9, 10)
    assert.is_true(Agent.follow(second, first))
    assert.is_true(Agent.follow(third, second))
    assert.matches("'leader': the leader follows the agent already, or one that does",
      error_of(Agent.follow, first, second))
    assert.matches("'leader': the leader follows", error_of(Agent.follow, first, third))
    assert.matches("'followers': the leader follows",
      error_of(Agent.form, third, { first }, "line"))
    assert.is_nil(Agent.leader(first))
    Agent.cancel(second)
    assert.is_true(Agent.follow(first, third))
  end)

  it("refuse wrong arguments", function()
    local agent, other = add(5, 10), add(7, 10)
    assert.matches("cannot follow itself", error_of(Agent.follow, agent, agent))
    assert.matches("'offset' must be at most 1000",
      error_of(Agent.follow, agent, other, Vector3(2000, 0, 0)))
    assert.matches("'group' must be 0 to 31, got 32", error_of(Agent.set_group, agent, 32))
    assert.matches("'group' must be 0 to 31",
      error_of(Agent.set_group_ignored, agent, -1, true))
    assert.matches("option 'group' must be 0 to 31",
      error_of(Agent.create, mesh, Vector3(5, 5, 0), { group = 40 }))
    assert.matches("'formation' must be \"line\"", error_of(Agent.form, agent, { other }, "star"))
    assert.matches("'spacing' must be above 0",
      error_of(Agent.form, agent, { other }, "line", 0))
    assert.matches("followers", error_of(Agent.form, agent, other, "line"))
    assert.matches("handlers", error_of(NavigationMesh.handle_links, mesh, 7))
    assert.matches("^NavigationMesh.handle_links: .* a function for the link 'hatch', got number 5",
      error_of(NavigationMesh.handle_links, mesh, { hatch = 5, ladder = print }))
    -- Errors name the function that was called.
    assert.matches("^Agent.form: argument #2 'followers': an agent cannot follow itself",
      error_of(Agent.form, agent, { agent }, "wedge"))
    assert.matches("^Agent.form: argument #2 'followers'",
      error_of(Agent.form, agent, { "other" }, "wedge"))
    assert.matches("^Agent.move_unit: argument #2 'unit'", error_of(Agent.move_unit, agent, agent))
    assert.matches("^Agent.move_mover: argument #2 'mover'",
      error_of(Agent.move_mover, agent, agent, 0.1))
    assert.matches("^Agent.use_root_motion: argument #2 'unit'",
      error_of(Agent.use_root_motion, agent, agent, 0.1))
    local points = { 0, 0, 0, 9, 0, 0, 9, 9, 0, 0, 9, 0 }
    local island = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
    local stranger = Agent.create(island, Vector3(4, 4, 0))
    assert.matches("another navigation mesh", error_of(Agent.follow, agent, stranger))
    NavigationMesh.destroy(island)
    assert.equals("lost", Agent.state(stranger))
    assert.matches("was destroyed", error_of(Agent.update_position, stranger, Vector3(1, 1, 0)))
    Agent.destroy(stranger)
    assert.matches("destroyed", error_of(Agent.follow, agent, stranger))
    for _, name in ipairs({ "forward", "leader", "still_seconds" }) do
      assert.matches("destroyed", error_of(Agent[name], stranger))
    end
    assert.matches("destroyed", error_of(Agent.move_unit, stranger, stranger))
    assert.matches("destroyed", error_of(NavigationMesh.linking_agents, island))
    assert.matches("destroyed", error_of(NavigationMesh.visualize_last_search, island))
    local function polygon(...) return (error_of(...):match("argument #%d 'polygon'")) end
    assert.is_not_nil(polygon(NavigationMesh.project_to_polygon, mesh, Vector3(), 0))
    assert.matches("argument #2 'from'", error_of(NavigationMesh.partial_search, mesh, 0, 1))
  end)
end)
