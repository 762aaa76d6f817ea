-- Suite of platforms: navigation meshes that move with a unit, and the agents on them.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local LOWER, UPPER = Vector3(12, 0, 0), Vector3(12, 0, 4)
local HALL, GALLERY = Vector3(-5, 0, 0), Vector3(28, 0, 4)

local world

before_each(function() world = Application.new_world() end)
after_each(function() Application.release_world(world) end)

describe("a platform of a level", function()
  local level, mesh, lift, unit

  before_each(function()
    level = World.spawn_level(world, "levels/navigation/lift")
    mesh, lift = Level.navigation_mesh(level), Level.navigation_platform(level, "lift")
    unit = Level.unit(level, "lift")
  end)

  local function play(seconds, each)
    for _ = 1, seconds * 60 do
      World.update(world, 1 / 60)
      if each then each() end
    end
  end

  -- Moves the lift up and down until an agent has arrived.
  local function run_lift(agent, each)
    local seconds = 0
    for _ = 1, 7200 do
      seconds = seconds + 1 / 60
      local phase = seconds % 12
      local part = phase < 3 and 0 or phase < 6 and (phase - 3) / 3 or phase < 9 and 1
        or (12 - phase) / 3
      Unit.set_local_position(unit, 1, Vector3.lerp(LOWER, UPPER, part))
      World.update(world, 1 / 60)
      if each then each() end
      if Agent.state(agent) == "arrived" then return end
    end
    error("the agent is " .. Agent.state(agent))
  end

  it("carries the units of agents from one stop to the other", function()
    local walker = Level.unit(level, "walker")
    local agent, states, highest = Unit.agent(walker), {}, 0
    assert.is_true(Agent.set_destination(agent, GALLERY))
    assert.is_true(Vector3.distance(Agent.destination(agent), GALLERY) < 0.5)
    run_lift(agent, function()
      states[Agent.state(agent)] = true
      if Agent.platform(agent) then
        highest = math.max(highest, Agent.position(agent).z)
        assert.equals(lift, Agent.platform(agent))
        local at = NavigationMesh.to_local(lift, Agent.position(agent))
        -- Those who get off are between both.
        assert.is_true(math.abs(at.x) < 2.8 and math.abs(at.z) < 0.7, tostring(at))
      end
    end)
    assert.is_true(states.boarding and states.riding and states.leaving and states.moving)
    assert.is_true(highest > 3.5)
    assert.is_nil(Agent.platform(agent))
    assert.is_true(Vector3.distance(Unit.world_position(walker, 1), GALLERY) < 1)
  end)

  it("takes agents at points of the world", function()
    local local_point = NavigationMesh.random_point(lift)
    local agent = Agent.create(lift, NavigationMesh.to_world(lift, local_point), { radius = 0.4 })
    assert.equals(lift, Agent.platform(agent))
    assert.matches("argument #2 'position': no ground of the platform is within 2 metres of "
      .. "%[500, 0, 0%], a point of the world: NavigationMesh.to_world",
      error_of(Agent.create, lift, Vector3(500, 0, 0)))
    assert.matches("must be at most 1000000 metres",
      error_of(Agent.create, lift, Vector3(2e6, 0, 0)))
  end)

  it("carries movers", function()
    local agent = Unit.agent(Level.unit(level, "climber"))
    Agent.set_destination(agent, GALLERY)
    run_lift(agent)
    assert.is_true(Unit.world_position(Level.unit(level, "climber"), 1).z > 3.5)
  end)

  it("is waited for", function()
    Unit.set_local_position(unit, 1, UPPER)
    local agents = {}
    for i = 1, 6 do
      agents[i] = Agent.create(mesh, HALL + Vector3(0, i, 0), { radius = 0.4 })
      Agent.set_destination(agents[i], GALLERY)
    end
    play(15)
    for _, agent in ipairs(agents) do
      assert.equals("boarding", Agent.state(agent))
      assert.equals(0, Agent.stuck_seconds(agent))
    end
    assert.equals(6, (NavigationMesh.stop_counts(lift, "hall")))
    assert.equals(0, NavigationMesh.num_aboard(lift))
    assert.is_false(NavigationMesh.is_stop_open(lift, "hall"))
    assert.is_true(NavigationMesh.is_stop_open(lift, "gallery"))
    -- Down again: four of them have room.
    Unit.set_local_position(unit, 1, LOWER)
    play(12)
    assert.equals(4, NavigationMesh.num_aboard(lift))
    local _, leaving = NavigationMesh.stop_counts(lift, "gallery")
    assert.equals(4, leaving)
    for _, agent in ipairs(agents) do Agent.destroy(agent) end
  end)

  it("can be a destination, in the world's space", function()
    local agent = Agent.create(mesh, HALL, { speed = 5 })
    assert.is_true(Agent.set_destination(agent, LOWER + Vector3(1, 1, 0)))
    play(10)
    assert.equals("arrived", Agent.state(agent))
    local own = NavigationMesh.to_local(lift, Agent.position(agent))
    -- It moves, turns and tilts with the unit, also by a jump.
    local rotation = Quaternion(Vector3(0.1, 0, 1), 2)
    Unit.set_local_position(unit, 1, Vector3(500, -300, 70))
    Unit.set_local_rotation(unit, 1, rotation)
    play(0.1)
    local expected = Vector3(500, -300, 70) + Quaternion.rotate(rotation, own)
    assert.is_true(Vector3.distance(Agent.position(agent), expected) < 0.01)
    assert.is_true(Vector3.distance(NavigationMesh.to_world(lift, own), expected) < 0.01)
    Agent.destroy(agent)
  end)

  it("has stops that scripts open and close", function()
    NavigationMesh.set_stop_open(lift, "hall", false)
    local agent = Agent.create(mesh, HALL, { speed = 5 })
    Agent.set_destination(agent, GALLERY)
    play(6)
    assert.equals("boarding", Agent.state(agent))
    NavigationMesh.set_stop_open(lift, "hall")
    play(4)
    assert.equals("riding", Agent.state(agent))
    Agent.destroy(agent)
  end)

  it("can be out of order", function()
    Unit.set_local_position(unit, 1, UPPER)
    local agent = Agent.create(mesh, HALL, { speed = 5 })
    Agent.set_destination(agent, GALLERY)
    play(6)
    assert.equals("boarding", Agent.state(agent))
    assert.is_true(NavigationMesh.is_platform_usable(lift))
    NavigationMesh.set_platform_usable(lift, false)
    assert.is_false(NavigationMesh.is_platform_usable(lift))
    play(3)
    assert.equals("partial", Agent.state(agent))
    assert.equals(0, (NavigationMesh.stop_counts(lift, "hall")))
    local _, reason = NavigationMesh.find_path(mesh, HALL, GALLERY)
    assert.equals("unreachable", reason)
    NavigationMesh.set_platform_usable(lift, true)
    run_lift(agent)
    Agent.destroy(agent)
  end)

  it("ends with its unit, and leaves its agents on the ground or lost", function()
    local rider = Agent.create(lift, LOWER, {})
    local waiting = Agent.create(mesh, HALL, {})
    Agent.set_destination(waiting, GALLERY)
    play(1)
    Unit.set_local_position(unit, 1, Vector3(0, 0, 300))
    play(0.1)
    World.destroy_unit(world, unit)
    play(10)
    assert.is_false(NavigationMesh.alive(lift))
    assert.equals("lost", Agent.state(rider))
    assert.equals("partial", Agent.state(waiting))
    assert.matches("its navigation mesh was destroyed", error_of(Agent.set_position, rider, HALL))
    Agent.destroy(rider)
  end)

  it("answers requests for paths when it ends", function()
    local answers = {}
    local function ask(from, to)
      NavigationMesh.find_path_async(lift, from, to, function(points, reason)
        answers[#answers + 1] = { #points, reason or "found" }
      end)
    end
    ask(Vector3(-1, -1, 0), Vector3(1, 1, 0))
    play(0.1)
    assert.same({ { 2, "found" } }, answers)
    ask(Vector3(1, 1, 0), Vector3(-1, -1, 0))
    ask(Vector3(1, 1, 0), Vector3(-1, 1, 0))
    World.destroy_unit(world, unit)
    play(0.1)
    assert.is_false(NavigationMesh.alive(lift))
    assert.same({ { 2, "found" }, { 0, "unreachable" }, { 0, "unreachable" } }, answers)
  end)

  it("says what it did, or why it does nothing", function()
    local edits = {}
    for _, edit in ipairs(Level.navigation_edits(level)) do edits[edit.name] = edit end
    assert.equals("has 2 stops, and room for 4 characters", edits.lift.message)
    assert.is_true(edits.lift.has_effect)
    assert.matches("^does nothing: the level \"levels/navigation/lift\" has no unit 'rft'",
      edits.raft.message)
    assert.matches("has no actors on which characters could stand", edits.balloon.message)
    assert.is_nil(Level.navigation_platform(level, "raft"))
    assert.matches("has no platform 'lft', did you mean 'lift'",
      error_of(Level.navigation_platform, level, "lft"))
    assert.matches("it is in the navigation file of a level",
      error_of(NavigationMesh.destroy, lift))
    assert.matches("it is in the navigation file of a level",
      error_of(NavigationMesh.add_stop, lift, "roof", HALL, Vector3()))
  end)
end)

describe("a platform of a script", function()
  local mesh, unit, lift

  before_each(function()
    local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
    mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
    unit = World.spawn_unit(world, "units/navigation/lift", Vector3(22, 10, 0))
    lift = NavigationMesh.create_platform(mesh, unit, { capacity = 3, cost = 2 })
  end)
  after_each(function() if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end end)

  it("is updated and ends with the mesh of its ground", function()
    assert.matches("it is that of a platform", error_of(NavigationMesh.update, lift, 0.1))
    NavigationMesh.destroy(mesh)
    assert.is_false(NavigationMesh.alive(lift))
  end)

  it("can be destroyed, and made again", function()
    NavigationMesh.destroy(lift)
    assert.is_true(NavigationMesh.alive(mesh))
    lift = NavigationMesh.create_platform(mesh, unit)
    assert.matches("is a platform on this navigation mesh already",
      error_of(NavigationMesh.create_platform, mesh, unit))
  end)

  it("refuses wrong stops and options", function()
    local ashore, aboard = Vector3(19, 10, 0), Vector3(-1, 0, 0)
    NavigationMesh.add_stop(lift, "shore", ashore, aboard)
    local function refused(expected, ...)
      assert.matches(expected, error_of(NavigationMesh.add_stop, lift, ...))
    end
    refused("has a stop 'shore' already", "shore", ashore, aboard)
    refused("no ground beside the platform", "air", Vector3(0, 0, 900), aboard)
    refused("no ground on the platform", "air", ashore, Vector3(0, 0, 900))
    refused("#3 'ashore'", "far", Vector3(1e9, 0, 0), aboard)
    refused("#5 'distance': must be a finite number", "odd", ashore, aboard, 0 / 0)
    refused("#5 'distance' must be 0 to 100", "wide", ashore, aboard, 101)
    refused("must have 1 to 64 bytes", "", ashore, aboard)
    for i = 2, 16 do NavigationMesh.add_stop(lift, "stop " .. i, ashore, aboard) end
    refused("STOPS_MAX", "one more", ashore, aboard)
    local function option(expected, options)
      assert.matches(expected, error_of(NavigationMesh.create_platform, lift, unit, options))
    end
    option("option 'capacity' must be a whole number, 1 to 1024", { capacity = 0.5 })
    option("option 'cost' must be 0 to", { cost = -1 })
    option("option 'cost' must be 0 to", { cost = 0 / 0 })
    option("unknown option 'capcity', did you mean 'capacity'", { capcity = 1 })
    assert.matches("no stop 'shre', did you mean 'shore'",
      error_of(NavigationMesh.set_stop_open, lift, "shre", true))
    assert.matches("no stop", error_of(NavigationMesh.is_stop_open, lift, "x"))
    assert.matches("no stop", error_of(NavigationMesh.stop_counts, lift, "x"))
    assert.matches("'usable' must be boolean",
      error_of(NavigationMesh.set_platform_usable, lift, 0))
    assert.matches("a mesh that does not move",
      error_of(NavigationMesh.set_platform_usable, mesh, false))
    assert.matches("a mesh that does not move", error_of(NavigationMesh.is_platform_usable, mesh))
    for _, name in ipairs { "num_aboard", "stop_counts", "is_stop_open", "set_stop_open" } do
      assert.matches("a mesh that does not move",
        error_of(NavigationMesh[name], mesh, name ~= "num_aboard" and "shore" or nil))
    end
  end)

  it("has points in its own space", function()
    local point = NavigationMesh.to_world(lift, Vector3(1, 0, 0))
    assert.is_true(Vector3.distance(point, Vector3(23, 10, 0)) < 1e-4)
    assert.equals(Vector3(1, 2, 3), NavigationMesh.to_world(mesh, Vector3(1, 2, 3)))
    assert.equals(Vector3(1, 2, 3), NavigationMesh.to_local(mesh, Vector3(1, 2, 3)))
    assert.matches("'point'", error_of(NavigationMesh.to_world, lift, 3))
    assert.matches("'point'", error_of(NavigationMesh.to_local, lift, 3))
    assert.matches("'agent'", error_of(Agent.platform, nil))
  end)

  it("can be on another platform, up to a limit", function()
    local top, problem = lift, nil
    for i = 1, 8 do
      local next_unit = World.spawn_unit(world, "units/navigation/lift", Vector3(22, 10, i))
      local ok, created = pcall(NavigationMesh.create_platform, top, next_unit)
      if not ok then problem = created break end
      top = created
    end
    assert.matches("PLATFORM_DEPTH_MAX", problem)
    NavigationMesh.destroy(lift)
    assert.is_false(NavigationMesh.alive(top))
  end)

  it("refuses units without ground for characters", function()
    local small = World.spawn_unit(world, "core/units/empty")
    assert.matches("has no actors on which characters could stand",
      error_of(NavigationMesh.create_platform, mesh, small))
    Unit.create_actor(small, "post", { type = "kinematic", shape = "box", size = { 0.2, 0.2, 2 } })
    assert.matches("have no ground with room for characters of the radius 0.6 and the height 2: "
      .. "make them larger, or the 'cell_size'",
      error_of(NavigationMesh.create_platform, mesh, small))
  end)
end)
