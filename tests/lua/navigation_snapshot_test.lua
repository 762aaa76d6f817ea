-- Suite of snapshots: meshes with their agents, obstacles and requests are part of them. What
-- follows a snapshot is compared to the last bit in src/system/navigation/snapshot_tests.rs.

local STEP = 1 / 60

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("snapshots of navigation", function()
  local world, physics, mesh, agent

  local function add_floor(position)
    local floor = World.spawn_unit(world, "core/units/empty", position)
    Unit.create_actor(floor, "floor", { type = "static", shape = "box", size = { 40, 20, 1 } })
  end

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
    add_floor(Vector3(0, 0, 0))
    mesh = NavigationMesh.create(world, { radius = 0.4, cell_size = 0.2 })
    agent = Agent.create(mesh, Vector3(-15, 0, 0.5), { speed = 4 })
  end)

  after_each(function()
    if NavigationMesh.alive(mesh) then NavigationMesh.destroy(mesh) end
    Application.release_world(world)
  end)

  local function play(updates)
    local states = {}
    for i = 1, updates do
      NavigationMesh.update(mesh, STEP)
      World.update(world, STEP)
      local at, velocity = Agent.position(agent), Agent.velocity(agent)
      states[i] = ("%.9g %.9g %.9g %.9g %s %d"):format(at.x, at.y, velocity.x, velocity.y,
        Agent.state(agent), NavigationMesh.version(mesh))
    end
    return states
  end

  it("bring agents, obstacles, closed polygons, costs and links back", function()
    Agent.set_destination(agent, Vector3(15, 0, 0.5))
    NavigationMesh.add_box(mesh, 0, Vector3(0, 0, 1), Vector3(2, 8, 2))
    play(70)
    local kept = PhysicsWorld.snapshot(physics)
    local before = Agent.position(agent)
    local first = play(600)
    assert.equals("arrived", Agent.state(agent))
    -- Much is different now.
    local box = NavigationMesh.add_box(mesh, 0, Vector3(-8, 0, 1), Vector3(2, 19, 2))
    NavigationMesh.add_link(mesh, Vector3(-12, 0, 0.5), Vector3(12, 0, 0.5), { cost = 1 })
    NavigationMesh.set_area_cost(mesh, 1, 9)
    NavigationMesh.set_obstructed(mesh, 1, true)
    Agent.set_area_cost(agent, 1, 3)
    Agent.set_position(agent, Vector3(-15, -8, 0.5))
    play(60)
    PhysicsWorld.restore(physics, kept)
    assert.equals(tostring(before), tostring(Agent.position(agent)))
    assert.equals("moving", Agent.state(agent))
    assert.is_false(NavigationMesh.is_obstructed(mesh, 1))
    assert.equals(1, NavigationMesh.area_cost(mesh, 1))
    assert.matches("has no volume", error_of(NavigationMesh.remove_volume, mesh, box))
    assert.same(first, play(600))
    -- Again, while the tiles of the obstacle are built.
    PhysicsWorld.restore(physics, kept)
    NavigationMesh.add_box(mesh, 0, Vector3(9, 0, 1), Vector3(2, 8, 2))
    play(1)
    local building = PhysicsWorld.snapshot(physics)
    local second = play(200)
    assert.are_not.same(first[200], second[200])
    PhysicsWorld.restore(physics, building)
    assert.same(second, play(200))
  end)

  it("have units with agents, and their poses", function()
    local unit = World.spawn_unit(world, "units/navigation/climber", Vector3(-15, 4, 0.5))
    play(1)
    local of_unit = assert(Unit.agent(unit))
    Agent.set_destination(of_unit, Vector3(15, 4, 0.5))
    play(60)
    local kept = PhysicsWorld.snapshot(physics)
    local function way()
      local states = {}
      for i = 1, 120 do
        play(1)
        states[i] = tostring(Unit.world_position(unit)) .. tostring(Agent.position(of_unit))
      end
      return states
    end
    local before, first = tostring(Unit.world_position(unit)), way()
    PhysicsWorld.restore(physics, kept)
    assert.equals(before, tostring(Unit.world_position(unit)))
    assert.same(first, way())
    -- A unit that has ended stays so, and its agent with it.
    World.destroy_unit(world, unit)
    PhysicsWorld.restore(physics, kept)
    assert.is_false(Agent.alive(of_unit))
    play(2)
  end)

  it("call functions again whose paths waited, and none that were asked for later", function()
    local calls = {}
    local function ask(name)
      return NavigationMesh.find_path_async(mesh, Vector3(-15, 0, 0.5), Vector3(15, 0, 0.5),
        function(points) calls[#calls + 1] = name .. #points end)
    end
    local waiting = ask("a")
    local kept = PhysicsWorld.snapshot(physics)
    play(1)
    assert.same({ "a2" }, calls)
    local late = ask("b")
    PhysicsWorld.restore(physics, kept)
    assert.equals(1, NavigationMesh.num_waiting_paths(mesh))
    play(1)
    assert.same({ "a2", "a2" }, calls)
    -- Numbers begin again where they were.
    assert.equals(late, ask("c"))
    play(1)
    assert.same({ "a2", "a2", "c2" }, calls)
    PhysicsWorld.restore(physics, kept)
    assert.is_true(NavigationMesh.cancel_path(mesh, waiting))
    play(2)
    assert.equals(3, #calls)
  end)

  it("keep what ended since ended, and what is new", function()
    local other = Agent.create(mesh, Vector3(-15, 4, 0.5))
    local kept = PhysicsWorld.snapshot(physics)
    Agent.destroy(other)
    local new = Agent.create(mesh, Vector3(-15, -4, 0.5), { speed = 4 })
    Agent.set_destination(new, Vector3(15, -4, 0.5))
    play(30)
    local at = tostring(Agent.position(new))
    PhysicsWorld.restore(physics, kept)
    assert.is_false(Agent.alive(other))
    assert.equals(at, tostring(Agent.position(new)))
    play(600)
    assert.equals("arrived", Agent.state(new))
    -- The agents of a mesh that ended stay lost.
    NavigationMesh.destroy(mesh)
    PhysicsWorld.restore(physics, kept)
    assert.equals("lost", Agent.state(agent))
  end)

  it("have the meshes of their world, and those of triangles in the main world", function()
    local triangles = NavigationMesh.create_from_triangles(
      { 0, 0, 0, 30, 0, 0, 30, 30, 0, 0, 30, 0 }, { 1, 2, 3, 1, 3, 4 })
    local walker = Agent.create(triangles, Vector3(3, 3, 0))
    local main = World.physics_world(Application.main_world())
    local of_world, of_main = PhysicsWorld.snapshot(physics), PhysicsWorld.snapshot(main)
    local function positions()
      return { Agent.position(walker).x > 10, Agent.position(agent).x > 0 }
    end
    local function move()
      Agent.set_position(walker, Vector3(20, 20, 0))
      Agent.set_position(agent, Vector3(10, 0, 0.5))
    end
    move()
    PhysicsWorld.restore(physics, of_world)
    assert.same({ true, false }, positions())
    move()
    PhysicsWorld.restore(main, of_main)
    assert.same({ false, true }, positions())
    PhysicsWorld.drop_snapshot(main, of_main)
    NavigationMesh.destroy(triangles)
  end)

  it("report invalid arguments", function()
    local kept = PhysicsWorld.snapshot(physics)
    local main = World.physics_world(Application.main_world())
    assert.matches("is of another physics world", error_of(PhysicsWorld.restore, main, kept))
    assert.matches("PhysicsWorld.restore", error_of(PhysicsWorld.restore, physics))
    assert.matches("PhysicsWorld.snapshot", error_of(PhysicsWorld.snapshot))
    PhysicsWorld.drop_snapshot(physics, kept)
    assert.matches("snapshot", error_of(PhysicsWorld.restore, physics, kept))
  end)
end)
