-- Suite of agents whose movers are held back by something that the mesh does not know.

local STEP = 1 / 60

describe("an agent that is held back", function()
  local world, mesh, mover, agent

  before_each(function()
    world = Application.new_world()
    local floor = World.spawn_unit(world, "core/units/empty")
    Unit.create_actor(floor, "floor", { type = "static", shape = "box", size = { 60, 60, 1 } })
    mesh = NavigationMesh.create(world, { radius = 0.4 })
    local walker = World.spawn_unit(world, "units/physics/walker", Vector3(-8, 0, 0.8))
    mover = Unit.mover(walker)
    agent = Agent.create(mesh, Vector3(-8, 0, 0.5))
    Agent.set_destination(agent, Vector3(10, 0, 0.5))
  end)
  after_each(function()
    NavigationMesh.destroy(mesh)
    Application.release_world(world)
  end)

  local function add_crate(position, size)
    local crate = World.spawn_unit(world, "core/units/empty", position)
    Unit.create_actor(crate, "crate", { type = "static", shape = "box", size = size })
    return crate
  end

  -- Runs for some seconds, and returns for how long the agent was in each state.
  local function run(seconds)
    local states = {}
    for _ = 1, seconds * 60 do
      NavigationMesh.update(mesh, STEP)
      Agent.move_mover(agent, mover, STEP, 4)
      World.update(world, STEP)
      local state = Agent.state(agent)
      states[state] = (states[state] or 0) + STEP
    end
    return states
  end

  it("gets around a crate that the mesh does not know", function()
    add_crate(Vector3(0, 0, 1.5), { 1, 6, 2 })
    local states = run(25)
    assert.equals("arrived", Agent.state(agent))
    assert.is_nil(states.blocked)
    assert.is_true(Mover.position(mover).x > 9)
  end)

  it("is blocked if there is no way, and goes on when there is one", function()
    local crates = {
      add_crate(Vector3(-8, 4, 1.5), { 9, 1, 2 }), add_crate(Vector3(-8, -4, 1.5), { 9, 1, 2 }),
      add_crate(Vector3(-12, 0, 1.5), { 1, 9, 2 }), add_crate(Vector3(-4, 0, 1.5), { 1, 9, 2 }),
    }
    local states = run(40)
    assert.is_true((states.blocked or 0) > 2, "blocked for " .. (states.blocked or 0))
    assert.is_true(Mover.position(mover).x < -4)
    for _, crate in ipairs(crates) do World.destroy_unit(world, crate) end
    run(25)
    assert.equals("arrived", Agent.state(agent))
  end)
end)
