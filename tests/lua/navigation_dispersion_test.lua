-- Dispersion of crowds: agents spread over ways that are about as long, if that is asked for.

local STEP = 1 / 60
local COUNT = 60

local function error_of(call, ...)
  local ok, message = pcall(call, ...)
  assert.is_false(ok)
  return message
end

-- Two rooms, and a wall between them with a door at y = 0 and one at y = 8.
local function rooms()
  local world = Application.new_world()
  local unit = World.spawn_unit(world, "core/units/empty")
  local number = 0
  local function block(x, y, z, width, length, height)
    number = number + 1
    Unit.create_actor(unit, "part" .. number, { type = "static", shape = "box",
      size = { width, length, height }, position = { x, y, z } })
  end
  block(0, 0, -0.5, 40, 40, 1)
  for _, part in ipairs({ { -20, -0.7 }, { 0.7, 7.3 }, { 8.7, 20 } }) do
    block(0, (part[1] + part[2]) / 2, 1.5, 0.5, part[2] - part[1], 3)
  end
  local mesh = NavigationMesh.create(world, { radius = 0.4, cell_size = 0.2 })
  return world, mesh
end

-- Sends a crowd through the wall. Returns the seconds that it needs, and how many took the door
-- that is farther.
local function cross(metres)
  local world, mesh = rooms()
  if metres then NavigationMesh.set_dispersion(mesh, metres) end
  local agents, has_used = {}, {}
  for i = 0, COUNT - 1 do
    local x, y = -14 + i % 8 * 1.2, -9 + math.floor(i / 8) * 1.2
    local agent = Agent.create(mesh, Vector3(x, y, 0))
    Agent.set_destination(agent, Vector3(-x, y, 0))
    agents[#agents + 1] = agent
  end
  local used, seconds = 0, nil
  for frame = 1, 60 * 60 do
    NavigationMesh.update(mesh, STEP)
    local arrived = 0
    for i, agent in ipairs(agents) do
      local at = Agent.position(agent)
      if math.abs(at.x) < 0.25 and at.y > 4 and not has_used[i] then
        has_used[i], used = true, used + 1
      end
      if Agent.state(agent) == "arrived" then arrived = arrived + 1 end
    end
    if arrived == COUNT then
      seconds = frame * STEP
      break
    end
  end
  assert.is_number(seconds)
  for _, agent in ipairs(agents) do Agent.destroy(agent) end
  NavigationMesh.destroy(mesh)
  Application.release_world(world)
  return seconds, used
end

describe("crowds", function()
  it("use one of two doors by default, and both if they are to spread", function()
    local alone, used = cross(nil)
    assert.equals(0, used)
    local together
    together, used = cross(2)
    assert.is_true(used > COUNT / 6 and used < COUNT * 5 / 6, used .. " took the other door")
    assert.is_true(together < alone, together .. " and " .. alone .. " seconds")
  end)

  it("refuse wrong metres, and keep those that were set", function()
    local world, mesh = rooms()
    assert.equals(0, NavigationMesh.dispersion(mesh))
    NavigationMesh.set_dispersion(mesh, 2.5)
    assert.equals(2.5, NavigationMesh.dispersion(mesh))
    for _, metres in ipairs({ -1, 1000.5 }) do
      assert.matches("#2 'metres' must be 0 to 1000",
        error_of(NavigationMesh.set_dispersion, mesh, metres))
    end
    for _, metres in ipairs({ 0 / 0, math.huge, "far" }) do
      assert.matches("#2 'metres'", error_of(NavigationMesh.set_dispersion, mesh, metres))
    end
    assert.equals(2.5, NavigationMesh.dispersion(mesh))
    NavigationMesh.set_dispersion(mesh, 0)
    assert.equals(0, NavigationMesh.dispersion(mesh))
    NavigationMesh.destroy(mesh)
    error_of(NavigationMesh.dispersion, mesh)
    error_of(NavigationMesh.set_dispersion, mesh, 1)
    Application.release_world(world)
  end)
end)
