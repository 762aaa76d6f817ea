-- Suite of the navigation of levels: meshes that are baked from their files, what is changed by
-- hand, and the component `agent`. Files that are saved while a game runs are in
-- tests/navigation.rs.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

-- Returns the polygon at a position, or nil.
local function near(mesh, x, y, z)
  return (NavigationMesh.find_nearest_polygon(mesh, Vector3(x, y, z or 0), 0.5))
end

local world

local function play(seconds)
  for _ = 1, seconds * 60 do World.update(world, 1 / 60) end
end

before_each(function() world = Application.new_world() end)
after_each(function() Application.release_world(world) end)

describe("a level with navigation", function()
  local level, mesh, edits

  before_each(function()
    level = World.spawn_level(world, "levels/navigation/grounds")
    mesh = Level.navigation_mesh(level)
    edits = {}
    for _, edit in ipairs(Level.navigation_edits(level)) do
      edits[edit.kind .. " " .. edit.name] = edit
    end
  end)

  it("has a mesh for each class of characters", function()
    local giant = Level.navigation_mesh(level, "giant")
    assert.not_equals(mesh, giant)
    assert.is_truthy(near(mesh, 0, 9.2))
    assert.is_nil(near(giant, 0, 9.2))
    assert.equals(2, NavigationMesh.dispersion(giant))
    assert.equals(0, NavigationMesh.dispersion(mesh))
    assert.matches("has no agents 'gaint', did you mean 'giant'",
      error_of(Level.navigation_mesh, level, "gaint"))
  end)

  it("answers requests for paths, also after an error and at its end", function()
    local from, to = Vector3(-6, 4, 0), Vector3(-6, -4, 0)
    local answers, reason = 0, nil
    NavigationMesh.find_path_async(mesh, from, to, function() error("lost the map") end)
    NavigationMesh.find_path_async(mesh, from, to, function() answers = answers + 1 end)
    assert.matches("lost the map", error_of(World.update, world, 1 / 60))
    assert.equals(0, answers)
    World.update(world, 1 / 60)
    assert.equals(1, answers)
    NavigationMesh.find_path_async(mesh, from, to, function(_, why) reason = why end)
    World.destroy_level(world, level)
    World.update(world, 1 / 60)
    assert.equals("unreachable", reason)
  end)

  it("gives ground the areas of its volumes", function()
    local water = Level.navigation_area(level, "water")
    assert.equals(2, water)
    assert.equals(3, Level.navigation_area(level, "mud"))
    assert.equals(water, NavigationMesh.polygon_area(mesh, near(mesh, 0, 0)))
    assert.equals(1, NavigationMesh.polygon_area(mesh, near(mesh, -6, 4)))
    assert.equals(5, NavigationMesh.area_cost(mesh, water))
    assert.equals(8, NavigationMesh.area_cost(Level.navigation_mesh(level, "giant"), water))
    assert.matches("has no area 'wate', did you mean 'water'",
      error_of(Level.navigation_area, level, "wate"))
    local pond = edits["volume pond"]
    assert.is_true(pond.has_effect)
    assert.equals("levels/navigation/grounds", pond.level)
    assert.matches("^gives about 1[5-6]%.%d m² the area 'water' %(number 2, cost 5%)$",
      pond.message)
  end)

  it("says why a change does nothing", function()
    assert.equals('does nothing: the level "levels/navigation/grounds" has no volume \'pnd\', did '
      .. "you mean 'pond'?", edits["volume pool"].message)
    assert.is_false(edits["volume pool"].has_effect)
    assert.is_nil(edits["volume pool"].number)
    assert.matches("^does nothing: there is no ground inside it: the nearest ground is %d+%.%d m "
      .. "away, at ", edits["volume sky"].message)
    assert.matches("the upright hull around it, which is tilted, is used$",
      edits["volume slope"].message)
    assert.is_true(edits["volume slope"].has_effect)
    assert.matches("^does nothing: there is no ground at its end %(0%.0, 50%.0, 0%.0%)",
      edits["link nowhere"].message)
    for _, name in ipairs({ "link loop", "link flat" }) do
      assert.matches("^does nothing: the ground nearest to both of its ends, %(%-6%.0, "
        .. "[23]%.0, 0%.0%) and %(%-6%.0, .-%), is at %(%-6%.0, .-%): give it", edits[name].message)
      assert.is_false(edits[name].has_effect)
      assert.is_false(NavigationMesh.is_link_usable(mesh, edits[name].number))
    end
    assert.matches("^does nothing: there is no ground at %(0%.0, 0%.0, 40%.0%)",
      edits["seed 2"].message)
  end)

  it("blocks ground for some classes", function()
    assert.is_nil(near(mesh, 6, 6))
    assert.is_truthy(near(Level.navigation_mesh(level, "giant"), 6, 6))
    assert.matches("^blocks about %d+%.%d m², with the radius", edits["blocker crate"].message)
    NavigationMesh.remove_volume(mesh, edits["blocker crate"].number)
    play(0.2)
    assert.is_truthy(near(mesh, 6, 6))
  end)

  it("leaves out ground that no seed reaches", function()
    assert.is_nil(near(mesh, 0, 0, 9))
    assert.is_truthy(near(mesh, 24, 0))
    assert.matches("^at %(%-6%.0, 0%.0, 0%.0%) keeps what can be reached: of %d+%.%d m², "
      .. "3%d%d%.%d m² are left out$", edits["seed 1"].message)
  end)

  it("joins grounds by the ends of splines", function()
    assert.equals("joins (8.0, 0.0, 0.0) and (16.0, 0.0, 0.0), 8.0 m, cost 8.0, one way",
      edits["link jump"].message)
    assert.is_true(NavigationMesh.is_link_usable(mesh, edits["link jump"].number))
    local path, reason = NavigationMesh.find_path(mesh, Vector3(-6, 0, 0), Vector3(24, 0, 0))
    assert.is_true(#path >= 3 and reason == nil)
    _, reason = NavigationMesh.find_path(mesh, Vector3(24, 0, 0), Vector3(-6, 0, 0))
    assert.equals("unreachable", reason)
  end)

  it("owns its mesh", function()
    assert.matches("it belongs to a level, whose world updates it",
      error_of(NavigationMesh.update, mesh, 0.1))
    assert.matches("it belongs to a level, and is destroyed with it",
      error_of(NavigationMesh.destroy, mesh))
    World.destroy_level(world, level)
    assert.is_false(NavigationMesh.alive(mesh))
  end)

  it("keeps what scripts add", function()
    local number = NavigationMesh.add_box(mesh, 0, Vector3(-6, 6, 0.5), Vector3(2, 2, 1))
    assert.is_true(number > 4096)
    play(0.2)
    assert.is_nil(near(mesh, -6, 6))
  end)

  it("moves the units of agents", function()
    local unit = Level.unit(level, "walker")
    local agent = Unit.agent(unit)
    assert.is_truthy(agent)
    assert.is_true(Agent.set_destination(agent, Vector3(-6, 7, 0)))
    play(3)
    assert.equals("arrived", Agent.state(agent))
    local position = Unit.world_position(unit, 1)
    assert.is_true(Vector3.distance(position, Vector3(-6, 7, 0)) < 0.5, tostring(position))
    assert.equals(Agent.position(agent), position)
    World.destroy_unit(world, unit)
    assert.is_false(Agent.alive(agent))
  end)

  it("gives a unit that outlives its level an agent of the next one", function()
    local unit = World.spawn_unit(world, "units/navigation/walker", Vector3(0, 5, 0))
    play(0.1)
    local agent = Unit.agent(unit)
    assert.is_truthy(agent)
    World.destroy_level(world, level)
    play(0.1)
    assert.is_false(Agent.alive(agent))
    assert.is_nil(Unit.agent(unit))
    level = World.spawn_level(world, "levels/navigation/grounds")
    Unit.set_local_position(unit, 1, Vector3(0, 5, 0))
    play(0.1)
    assert.is_true(Agent.set_destination(Unit.agent(unit), Vector3(-6, 7, 0)))
    World.destroy_unit(world, unit)
  end)

  it("gives agents the costs of their component", function()
    local unit = World.spawn_unit(world, "units/navigation/wader", Vector3(-6, -4, 0))
    local other = Level.unit(level, "walker")
    play(0.1)
    local agent, water = Unit.agent(unit), Level.navigation_area(level, "water")
    assert.equals(1, Agent.area_cost(agent, water))
    assert.equals(0, Agent.area_cost(agent, Level.navigation_area(level, "mud")))
    assert.equals(5, Agent.area_cost(Unit.agent(other), water))
    World.destroy_unit(world, unit)
  end)

  it("turns units to where they walk", function()
    local unit = Level.unit(level, "walker")
    Agent.set_destination(Unit.agent(unit), Vector3(-9, 0, 0))
    play(0.5)
    local forward = Quaternion.forward(Unit.world_rotation(unit, 1))
    assert.is_true(forward.x < -0.95, tostring(forward))
  end)

  it("gives agents the class of their component", function()
    local unit = Level.unit(level, "giant")
    local agent = Unit.agent(unit)
    local before = Unit.world_position(unit, 1)
    Agent.set_destination(agent, Vector3(6, 6, 0))
    play(6)
    assert.equals("arrived", Agent.state(agent))
    assert.equals(before, Unit.world_position(unit, 1))
  end)
end)

describe("navigation of levels", function()
  it("can be a block of the level", function()
    local level = World.spawn_level(world, "levels/navigation/inline", Vector3(50, 0, 0))
    local mesh = assert(Level.navigation_mesh(level, "only"))
    assert.is_truthy(near(mesh, 50, 0))
    assert.is_nil(near(mesh, 0, 0))
    assert.same({}, Level.navigation_edits(level))
  end)

  it("is made from the static actors of the level alone, or of the world", function()
    World.spawn_unit(world, "units/navigation/ground", Vector3(0, 100, 0))
    local level = World.spawn_level(world, "levels/navigation/inline")
    assert.is_nil(near(Level.navigation_mesh(level), 0, 100))
    local wide = World.spawn_level(world, "levels/navigation/of_world")
    assert.is_truthy(near(Level.navigation_mesh(wide), 0, 100))
  end)

  it("contains the changes of nested levels", function()
    local level = World.spawn_level(world, "levels/navigation/outer")
    local mesh = Level.navigation_mesh(level)
    local inner = Level.nested_levels(level)[1]
    assert.equals(mesh, (Level.navigation_mesh(inner)))
    local water = Level.navigation_area(level, "water")
    assert.equals(3, NavigationMesh.area_cost(mesh, water))
    -- It is turned by 90 degrees, and 12 metres long in x.
    for _, x in ipairs({ 0, 6 }) do
      assert.equals(water, NavigationMesh.polygon_area(mesh, near(mesh, x, 3)))
    end
    for _, y in ipairs({ -2, 8 }) do
      assert.equals(1, NavigationMesh.polygon_area(mesh, near(mesh, 3, y)))
    end
    assert.equals("levels/navigation/pond", Level.navigation_edits(level)[1].level)
  end)

  it("finds jumps by the rules of its file", function()
    local level = World.spawn_level(world, "levels/navigation/leaps")
    local mesh = Level.navigation_mesh(level)
    local edits = {}
    for _, class in ipairs({ "walker", "giant" }) do
      for _, edit in ipairs(Level.navigation_edits(level, class)) do edits[edit.name] = edit end
    end
    assert.matches("^adds %d+ links, %d+ of them two%-way$", edits.leap.message)
    assert.equals("jumps", edits.leap.kind)
    assert.is_true(edits.leap.has_effect)
    assert.matches("^does nothing: no edge has other ground", edits.far.message)
    assert.is_false(edits.far.has_effect)
    local _, reason = NavigationMesh.find_path(mesh, Vector3(-6, 0, 0), Vector3(24, 0, 0))
    assert.is_nil(reason)
    local other = Level.navigation_mesh(level, "giant")
    _, reason = NavigationMesh.find_path(other, Vector3(-6, 0, 0), Vector3(24, 0, 0))
    assert.equals("unreachable", reason)
  end)

  it("waits until the level has been spawned", function()
    local level = World.spawn_level(world, "levels/navigation/grounds", nil, nil,
      { units_per_frame = 2 })
    local mesh, reason = Level.navigation_mesh(level)
    assert.is_nil(mesh)
    assert.matches("is still being spawned", reason)
    play(0.1)
    assert.is_truthy(Level.navigation_mesh(level))
    assert.is_truthy(Unit.agent(Level.unit(level, "walker")))
  end)

  it("says why there is none", function()
    local level = World.spawn_level(world, "levels/navigation/plain")
    local mesh, reason = Level.navigation_mesh(level)
    assert.is_nil(mesh)
    assert.matches("has no block 'navigation'", reason)
    assert.matches("has no block 'navigation'", error_of(Level.navigation_edits, level))
    test.expect_error("has no static actors")
    local empty = World.spawn_level(world, "levels/navigation/empty")
    mesh, reason = Level.navigation_mesh(empty)
    assert.is_nil(mesh)
    assert.matches("the level has no static actors to bake a navigation mesh from", reason)
    test.expect_error("its world is two%-dimensional")
    local flat = Application.new_world("2d")
    local _, message = Level.navigation_mesh(World.spawn_level(flat, "levels/navigation/empty"))
    assert.matches("its world is two%-dimensional", message)
    Application.release_world(flat)
  end)
end)

describe("the component agent", function()
  it("waits for ground", function()
    local unit = World.spawn_unit(world, "units/navigation/walker", Vector3(1, 1, 0))
    play(0.1)
    assert.is_nil(Unit.agent(unit))
    assert.matches("agent, waits for a navigation mesh", Unit.inspect(unit))
    World.spawn_level(world, "levels/navigation/inline")
    assert.is_truthy(Unit.agent(unit))
    assert.matches("agent idle, radius 0.4, speed 4", Unit.inspect(unit))
    assert.same({ 3, 5 }, { Agent.priority(Unit.agent(unit)), Agent.group(Unit.agent(unit)) })
    local off = World.spawn_unit(world, "units/navigation/walker", Vector3(90, 0, 0))
    play(0.1)
    assert.is_nil(Unit.agent(off))
    Unit.set_local_position(off, 1, Vector3(3, 3, 0))
    play(0.1)
    assert.is_truthy(Unit.agent(off))
    Agent.destroy(Unit.agent(off))
    play(0.1)
    assert.is_nil(Unit.agent(off))
    assert.matches("agent, destroyed by the game", Unit.inspect(off))
    assert.is_nil(Unit.agent(World.spawn_unit(world, "core/units/empty")))
  end)

  it("is there as soon as a script spawns the unit on ground", function()
    World.spawn_level(world, "levels/navigation/inline")
    local unit = World.spawn_unit(world, "units/navigation/walker", Vector3(2, 0, 0))
    local agent = Unit.agent(unit)
    assert.is_true(Agent.set_destination(agent, Vector3(0, 8, 0)))
    Unit.set_local_position(unit, 1, Vector3(5, -5, 0))
    World.update(world, 1 / 60)
    assert.is_true(Vector3.distance(Agent.position(agent), Vector3(5, -5, 0)) < 0.3)
    play(6)
    assert.equals("arrived", Agent.state(agent))
    assert.matches("argument #1 'agent' must be Agent, got nil %(Unit%.agent is nil as long as no "
      .. "ground", error_of(Agent.set_destination, nil, Vector3(0, 8, 0)))
  end)

  it("begins where the unit is in its first update, also if it moves nothing", function()
    World.spawn_level(world, "levels/navigation/grounds")
    local unit = World.spawn_unit(world, "units/navigation/giant", Vector3(-6, 0, 0))
    local agent = Unit.agent(unit)
    Unit.set_local_position(unit, 1, Vector3(-6, -6, 0))
    play(0.1)
    assert.is_true(Vector3.distance(Agent.position(agent), Vector3(-6, -6, 0)) < 0.5)
    Unit.set_local_position(unit, 1, Vector3(-6, 4, 0))
    play(0.1)
    assert.is_true(Vector3.distance(Agent.position(agent), Vector3(-6, -6, 0)) < 0.5)
  end)

  it("waits for ground if its unit is moved off it in the frame of its spawn", function()
    World.spawn_level(world, "levels/navigation/grounds")
    for _, name in ipairs({ "giant", "walker" }) do
      local unit = World.spawn_unit(world, "units/navigation/" .. name, Vector3(-6, 2, 0))
      local first = Unit.agent(unit)
      Unit.set_local_position(unit, 1, Vector3(0, 100, 0))
      play(0.1)
      assert.is_false(Agent.alive(first))
      assert.is_nil(Unit.agent(unit))
      assert.matches("agent, waits for a navigation mesh", Unit.inspect(unit))
      Unit.set_local_position(unit, 1, Vector3(-6, -6, 0))
      play(0.1)
      local agent = Unit.agent(unit)
      assert.is_true(Vector3.distance(Agent.position(agent), Vector3(-6, -6, 0)) < 0.5, name)
      World.destroy_unit(world, unit)
    end
  end)

  it("can be moved to another level in the frame of its spawn", function()
    World.spawn_level(world, "levels/navigation/inline")
    local other = World.spawn_level(world, "levels/navigation/inline", Vector3(50, 0, 0))
    local unit = World.spawn_unit(world, "units/navigation/walker", Vector3(2, 0, 0))
    local agent = Unit.agent(unit)
    Unit.set_local_position(unit, 1, Vector3(52, 3, 0))
    World.update(world, 1 / 60)
    assert.equals(agent, Unit.agent(unit))
    assert.equals("idle", Agent.state(agent))
    assert.is_true(Vector3.distance(Agent.position(agent), Vector3(52, 3, 0)) < 0.5)
    assert.equals(1, NavigationMesh.num_agents((Level.navigation_mesh(other))))
    assert.is_true(Agent.set_destination(agent, Vector3(50, 8, 0)))
    play(4)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(Unit.world_position(unit, 1), Vector3(50, 8, 0)) < 0.5)
  end)

  it("follows the game's moves of the unit", function()
    World.spawn_level(world, "levels/navigation/inline")
    local unit = World.spawn_unit(world, "units/navigation/walker")
    World.update(world, 1 / 60)
    local agent = Unit.agent(unit)
    Agent.set_destination(agent, Vector3(0, 8, 0))
    Unit.set_local_position(unit, 1, Vector3(5, -5, 0))
    World.update(world, 1 / 60)
    assert.is_true(Vector3.distance(Agent.position(agent), Vector3(5, -5, 0)) < 0.3)
    play(6)
    assert.equals("arrived", Agent.state(agent))
  end)

  it("is lost without ground, and goes on when the unit is back", function()
    World.spawn_level(world, "levels/navigation/inline")
    local unit = World.spawn_unit(world, "units/navigation/walker")
    World.update(world, 1 / 60)
    local agent = Unit.agent(unit)
    Agent.set_destination(agent, Vector3(0, 8, 0))
    for _, height in ipairs({ 3, 40 }) do
      Unit.set_local_position(unit, 1, Vector3(500, 0, height))
      play(0.2)
      assert.equals("lost", Agent.state(agent))
      assert.is_true(Vector3.distance(Unit.world_position(unit, 1), Vector3(500, 0, height)) < 1e-3)
      assert.is_false(Agent.set_destination(agent, Vector3(0, 8, 0)))
    end
    assert.matches("agent lost", Unit.inspect(unit))
    Unit.set_local_position(unit, 1, Vector3(5, -5, 0))
    play(0.2)
    assert.equals("moving", Agent.state(agent))
    play(6)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(Unit.world_position(unit, 1), Vector3(0, 8, 0)) < 0.5)
    -- One that has no destination is idle where it is put.
    Agent.cancel(agent)
    Unit.set_local_position(unit, 1, Vector3(0, 0, 30))
    play(0.1)
    assert.equals("lost", Agent.state(agent))
    Unit.set_local_position(unit, 1, Vector3(0, 8, 0))
    play(0.1)
    assert.equals("idle", Agent.state(agent))
  end)

  it("walks on meshes that scripts bake", function()
    World.spawn_unit(world, "units/navigation/ground")
    local mesh = NavigationMesh.create(world)
    local unit = World.spawn_unit(world, "units/navigation/walker")
    World.update(world, 1 / 60)
    Agent.set_destination(Unit.agent(unit), Vector3(4, 0, 0))
    for _ = 1, 180 do
      NavigationMesh.update(mesh, 1 / 60)
      World.update(world, 1 / 60)
    end
    assert.is_true(Vector3.distance(Unit.world_position(unit, 1), Vector3(4, 0, 0)) < 0.4)
    NavigationMesh.destroy(mesh)
    play(0.1)
    assert.is_nil(Unit.agent(unit))
  end)

  it("drives a mover, which others can hold back", function()
    World.spawn_level(world, "levels/navigation/inline")
    local unit = World.spawn_unit(world, "units/navigation/climber", Vector3(-5, 0, 0))
    World.update(world, 1 / 60)
    local agent = Unit.agent(unit)
    Agent.set_destination(agent, Vector3(5, 0, 0))
    play(1)
    local mover = Unit.mover(unit)
    local position = Mover.position(mover)
    assert.is_true(position.x > -4 and position.x < -1, tostring(position))
    assert.is_true(Vector3.distance(position, Unit.world_position(unit, 1)) < 0.01)
    assert.is_true(Vector3.distance(position, Agent.position(agent)) < 0.3)
    -- The mesh does not know the crate.
    local crate = World.spawn_unit(world, "units/navigation/crate", Vector3(2, 0, 0))
    play(3)
    position = Mover.position(mover)
    assert.is_true(position.x < 1.3, tostring(position))
    assert.is_true(Vector3.distance(position, Agent.position(agent)) < 0.5)
    World.destroy_unit(world, crate)
    play(5)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(Mover.position(mover), Vector3(5, 0, 0)) < 0.5)
  end)

  it("takes its mover over manual links", function()
    local level = World.spawn_level(world, "levels/navigation/inline")
    local mesh = Level.navigation_mesh(level)
    -- An obstacle across the whole ground, which the mover does not meet.
    NavigationMesh.add_box(mesh, 0, Vector3(0, 0, 0), Vector3(1, 80, 4))
    local options = { name = "gate", cost = 1, manual = true }
    NavigationMesh.add_link(mesh, Vector3(-2, 0, 0), Vector3(2, 0, 0), options)
    local unit = World.spawn_unit(world, "units/navigation/climber", Vector3(-5, 0, 0))
    play(0.5)
    local agent, mover = Unit.agent(unit), Unit.mover(unit)
    Agent.set_destination(agent, Vector3(5, 0, 0))
    local entered = 0
    for _ = 1, 300 do
      NavigationMesh.handle_links(mesh, {
        gate = function(entering)
          entered = entered + 1
          Agent.finish_link(entering)
        end,
      })
      World.update(world, 1 / 60)
    end
    assert.equals(1, entered)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(Mover.position(mover), Vector3(5, 0, 0)) < 0.5)
  end)

  it("stays where a script puts its mover after a manual link", function()
    local level = World.spawn_level(world, "levels/navigation/inline")
    local mesh = Level.navigation_mesh(level)
    NavigationMesh.add_box(mesh, 0, Vector3(0, 0, 0), Vector3(1, 80, 4))
    local options = { name = "gate", cost = 1, manual = true }
    NavigationMesh.add_link(mesh, Vector3(-2, 0, 0), Vector3(2, 0, 0), options)
    local unit = World.spawn_unit(world, "units/navigation/climber", Vector3(-5, 0, 0))
    play(0.5)
    local agent, mover = Unit.agent(unit), Unit.mover(unit)
    Agent.set_destination(agent, Vector3(5, 0, 0))
    local entered = 0
    for _ = 1, 300 do
      NavigationMesh.handle_links(mesh, {
        gate = function(entering)
          entered = entered + 1
          Agent.finish_link(entering)
          assert.is_true(Vector3.distance(Mover.position(mover), Vector3(2, 0, 0)) < 0.6)
          Mover.set_position(mover, Vector3(4, 5, 0))
        end,
      })
      World.update(world, 1 / 60)
      if entered == 1 then break end
    end
    assert.equals(1, entered)
    local position = Mover.position(mover)
    assert.is_true(Vector3.distance(position, Vector3(4, 5, 0)) < 0.5, tostring(position))
    play(4)
    assert.equals("arrived", Agent.state(agent))
    assert.is_true(Vector3.distance(Mover.position(mover), Vector3(5, 0, 0)) < 0.5)
  end)

  it("takes its mover along when a script puts it elsewhere", function()
    World.spawn_level(world, "levels/navigation/inline")
    local unit = World.spawn_unit(world, "units/navigation/climber", Vector3(-5, 0, 0))
    play(0.2)
    local agent, to = Unit.agent(unit), Vector3(5, 5, 0)
    Agent.set_position(agent, to)
    assert.is_true(Vector3.distance(Mover.position(Unit.mover(unit)), Agent.position(agent)) < 0.01)
    play(0.5)
    assert.is_true(Vector3.distance(Agent.position(agent), to) < 0.5)
    assert.is_true(Vector3.distance(Unit.world_position(unit, 1), to) < 0.5)
  end)

  it("falls with its mover", function()
    World.spawn_level(world, "levels/navigation/inline")
    local unit = World.spawn_unit(world, "units/navigation/climber", Vector3(0, 0, 1.5))
    play(2)
    assert.is_true(math.abs(Mover.position(Unit.mover(unit)).z) < 0.1)
  end)

  it("refuses mistakes in unit files", function()
    local function refused(name)
      return error_of(World.spawn_unit, world, "units/navigation/" .. name)
    end
    assert.matches("a unit has one component 'agent'", refused("bad_two"))
    assert.matches("it moves the whole unit: leave out 'node'", refused("bad_node"))
    assert.matches("'priority' must be 0 to 255, got 300", refused("bad_priority"))
    assert.matches("'group' must be a whole number, got 2.5", refused("bad_group"))
    assert.matches("needs a mover in the unit's component 'physics'", refused("bad_mover"))
    assert.matches("'drive' of 'agent' must be one of unit, mover, none, got 'fly'",
      refused("bad_drive"))
    assert.matches("'agent' has the unknown field 'clas' for an agent, did you mean 'class'",
      refused("bad_field"))
    assert.matches("'costs' must be a block", refused("bad_costs_list"))
    assert.matches("'agent': the cost of the area 'water' must be 0, which closes it, or 0.01 to "
      .. "1000", refused("bad_costs"))
  end)
end)
