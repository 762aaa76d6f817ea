-- Suite of flow fields of navigation meshes and grids, of fields that lead away, and of the other
-- queries of grids.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

-- Ground of 60 by 60 metres with a wall in the middle, which has a way around its upper end, and an
-- island that nobody reaches.
local function yard()
  local corners = {
    0, 0, 0, 29, 0, 0, 29, 60, 0, 0, 60, 0, 31, 0, 0, 60, 0, 0, 60, 60, 0, 31, 60, 0,
    29, 50, 0, 31, 50, 0, 31, 60, 0, 29, 60, 0, 70, 0, 0, 80, 0, 0, 80, 10, 0, 70, 10, 0,
  }
  local triangles = {}
  for first = 1, 16, 4 do
    for _, by in ipairs({ 0, 1, 2, 0, 2, 3 }) do triangles[#triangles + 1] = first + by end
  end
  return NavigationMesh.create_from_triangles(corners, triangles)
end

local LEFT, RIGHT, ISLAND = Vector3(5, 5, 0), Vector3(55, 5, 0), Vector3(75, 5, 0)

local function length_of(points)
  local length = 0
  for i = 2, #points do length = length + Vector3.distance(points[i - 1], points[i]) end
  return length
end

describe("a flow field of a navigation mesh", function()
  local mesh

  before_each(function() mesh = yard() end)
  after_each(function() NavigationMesh.destroy(mesh) end)

  -- Follows a field to its end, and returns the length of the way and the end.
  local function walk(name, position)
    local walked = 0
    for _ = 1, 100 do
      local next_point = NavigationMesh.flow(mesh, name, position)
      local part = Vector3.distance(position, next_point)
      if part < 0.05 then return walked, next_point end
      walked, position = walked + part, next_point
    end
    error("the way has no end")
  end

  it("leads to the nearest of its targets", function()
    NavigationMesh.set_targets(mesh, "exits", { 55, 55, 0, 55, 5, 0 })
    local walked, last = walk("exits", LEFT)
    assert.is_true(Vector3.distance(last, Vector3(55, 55, 0)) < 0.5, tostring(last))
    local path = NavigationMesh.find_path(mesh, LEFT, Vector3(55, 55, 0))
    assert.is_true(math.abs(walked - length_of(path)) < 2, walked .. " metres")
    assert.is_true(math.abs(NavigationMesh.distance(mesh, "exits", LEFT) - walked) < 3)
    assert.is_true(NavigationMesh.distance(mesh, "exits", RIGHT) < 0.5)
    assert.is_nil(NavigationMesh.flow(mesh, "exits", ISLAND))
    assert.is_nil(NavigationMesh.distance(mesh, "exits", ISLAND))
    NavigationMesh.set_targets(mesh, "exits", { RIGHT.x, RIGHT.y, 0 })
    assert.is_true(NavigationMesh.distance(mesh, "exits", LEFT) > walked)
  end)

  it("follows changes of the mesh", function()
    NavigationMesh.set_targets(mesh, "goal", { RIGHT.x, RIGHT.y, 0 })
    assert.is_true(NavigationMesh.distance(mesh, "goal", LEFT) > 90)
    local box = NavigationMesh.add_box(mesh, 0, Vector3(30, 55, 0), Vector3(2, 14, 2))
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    assert.is_nil(NavigationMesh.distance(mesh, "goal", LEFT))
    NavigationMesh.remove_volume(mesh, box)
    repeat NavigationMesh.update(mesh, 0) until NavigationMesh.num_waiting_tiles(mesh) == 0
    assert.is_true(NavigationMesh.distance(mesh, "goal", LEFT) > 90)
  end)

  it("leads away from threats", function()
    NavigationMesh.set_targets(mesh, "threats", { 10, 8, 0 })
    NavigationMesh.set_flee(mesh, "flee", "threats")
    local before = NavigationMesh.distance(mesh, "threats", LEFT)
    local _, safe = walk("flee", Vector3(20, 40, 0))
    local after = NavigationMesh.distance(mesh, "threats", safe)
    assert.is_true(safe.x > 31 and after > 80, "behind the wall: " .. tostring(safe))
    assert.is_true(after > before)
    NavigationMesh.set_targets(mesh, "threats", { 55, 8, 0 })
    _, safe = walk("flee", Vector3(20, 40, 0))
    assert.is_true(safe.x < 29, "the other way: " .. tostring(safe))
    NavigationMesh.set_targets(mesh, "flee", {})
    assert.matches("no flow field", error_of(NavigationMesh.flow, mesh, "flee", LEFT))
  end)

  it("is shared by agents that go to its target", function()
    local agents = {}
    for i = 1, 40 do
      agents[i] = Agent.create(mesh, Vector3(4 + i % 8, 4 + math.floor(i / 8), 0), { radius = 0.3 })
      Agent.set_destination(agents[i], RIGHT)
    end
    NavigationMesh.update(mesh, 1 / 60)
    test.frames(1)
    assert.equals(40, Stats.value("navigation/searches"))
    -- Each of 40 searches of their own would visit most of the polygons.
    local nodes, polygons = Stats.value("navigation/nodes"), NavigationMesh.num_polygons(mesh)
    assert.is_true(nodes > 0 and nodes < polygons * 8, nodes .. " of " .. polygons .. " polygons")
    local length = length_of(NavigationMesh.find_path(mesh, LEFT, RIGHT))
    for i = 1, 40 do
      assert.equals("moving", Agent.state(agents[i]))
      assert.is_true(math.abs(Agent.remaining_distance(agents[i]) - length) < 12)
    end
  end)

  it("has positions or their coordinates as targets", function()
    local exits = { Vector3(55, 55, 0), Vector3(55, 5, 0) }
    NavigationMesh.set_targets(mesh, "exits", exits)
    local corner = NavigationMesh.flow(mesh, "exits", LEFT)
    local distance = NavigationMesh.distance(mesh, "exits", LEFT)
    NavigationMesh.set_targets(mesh, "exits", { 55, 55, 0, 55, 5, 0 })
    assert.equals(corner, NavigationMesh.flow(mesh, "exits", LEFT))
    assert.equals(distance, NavigationMesh.distance(mesh, "exits", LEFT))
    -- What other functions return.
    local around = NavigationMesh.positions_around(mesh, LEFT, 4, 2, 1)
    NavigationMesh.set_targets(mesh, "around", around)
    assert.is_true(NavigationMesh.distance(mesh, "around", LEFT) < 2.5)
    NavigationMesh.set_targets(mesh, "around", {})
    NavigationMesh.set_targets(mesh, "exits", {})
  end)

  it("is drawn as lines", function()
    assert.equals(0, NavigationMesh.draw(mesh))
    NavigationMesh.set_targets(mesh, "exit", { LEFT })
    assert.equals(0, NavigationMesh.draw(mesh, "exit"))
    NavigationMesh.set_targets(mesh, "threat", { RIGHT })
    NavigationMesh.set_flee(mesh, "flee", "threat")
    assert.equals(0, NavigationMesh.draw(mesh, "flee"))
    assert.matches("#2 'name': the mesh has no flow field 'exitt', did you mean 'exit'",
      error_of(NavigationMesh.draw, mesh, "exitt"))
  end)

  it("refuses wrong arguments", function()
    local set, flee = NavigationMesh.set_targets, NavigationMesh.set_flee
    assert.matches("three numbers", error_of(set, mesh, "goal", { 1, 2 }))
    assert.matches("'targets'", error_of(set, mesh, "goal", { 0 / 0, 2, 3 }))
    assert.matches("'targets'", error_of(set, mesh, "goal", "door"))
    assert.matches("'targets': must be a list of numbers or of Vector3, got string",
      error_of(set, mesh, "goal", { Vector3(1, 2, 3), "door" }))
    assert.matches("numbers or of Vector3, not both",
      error_of(set, mesh, "goal", { Vector3(1, 2, 3), 1, 2, 3 }))
    assert.matches("'targets'.*finite", error_of(set, mesh, "goal", { Vector3(1, 0 / 0, 3) }))
    assert.matches("got Vector2", error_of(set, mesh, "goal", { Vector2(1, 2) }))
    assert.matches("without other keys, got string",
      error_of(set, mesh, "goal", { 1, 2, 3, x = 4 }))
    assert.matches("'targets' must be at most", error_of(set, mesh, "goal", { Vector3(2e6, 0, 0) }))
    local many = {}
    for i = 1, 1025 do many[i] = Vector3(i, 2, 0) end
    assert.matches("FIELD_TARGETS_MAX", error_of(set, mesh, "goal", many))
    assert.matches("has no flow field 'goal'", error_of(NavigationMesh.flow, mesh, "goal", LEFT))
    set(mesh, "goals", { 10, 10, 0 })
    assert.matches("did you mean 'goals'", error_of(NavigationMesh.distance, mesh, "goal", LEFT))
    local far = Vector3(900, 0, 0)
    assert.same({ "off_mesh" }, { (select(2, NavigationMesh.flow(mesh, "goals", far))) })
    assert.same({ "off_mesh" }, { (select(2, NavigationMesh.distance(mesh, "goals", far))) })
    assert.same({ "unreachable" }, { (select(2, NavigationMesh.flow(mesh, "goals", ISLAND))) })
    assert.is_nil((select(2, NavigationMesh.flow(mesh, "goals", LEFT))))
    assert.matches("'threats'", error_of(flee, mesh, "away", "nobody"))
    assert.matches("targets of its own", error_of(flee, mesh, "goals", "goals"))
    assert.matches("'factor': must be a finite", error_of(flee, mesh, "away", "goals", 0 / 0))
    assert.matches("'factor' must be 1 to 10", error_of(flee, mesh, "away", "goals", 11))
    flee(mesh, "away", "goals", 2)
    assert.matches("targets of its own", error_of(flee, mesh, "more", "away"))
    set(mesh, "others", { 20, 20, 0 })
    assert.matches("'away' leads away from the targets of 'goals', which must keep them",
      error_of(flee, mesh, "goals", "others"))
    set(mesh, "others", {})
    assert.matches("read the distance on 'goals'",
      error_of(NavigationMesh.distance, mesh, "away", LEFT))
    set(mesh, "goals", {})
    assert.matches("has no flow field", error_of(NavigationMesh.flow, mesh, "goals", LEFT))
    -- Nobody is left from whom to flee: everybody stays in the middle of some ground.
    assert.is_true(NavigationMesh.flow(mesh, "away", LEFT) ~= nil)
    -- Targets without ground do not count.
    set(mesh, "far", { 900, 900, 0 })
    assert.is_nil(NavigationMesh.flow(mesh, "far", LEFT))
  end)
end)

describe("an agent that flees", function()
  it("leaves the threat, as in the manual", function()
    local mesh = yard()
    local agent = Agent.create(mesh, Vector3(12, 12, 0), { speed = 5 })
    NavigationMesh.set_targets(mesh, "threats", { 8, 8, 0 })
    NavigationMesh.set_flee(mesh, "flee", "threats")
    for _ = 1, 30 * 60 do
      local position = Agent.position(agent)
      if NavigationMesh.distance(mesh, "threats", position) < 60 then
        Agent.set_destination(agent, NavigationMesh.flow(mesh, "flee", position))
      end
      NavigationMesh.update(mesh, 1 / 60)
    end
    local distance = NavigationMesh.distance(mesh, "threats", Agent.position(agent))
    assert.is_true(distance >= 60, distance .. " metres")
    NavigationMesh.destroy(mesh)
  end)
end)

describe("a navigation grid", function()
  local grid

  -- Two rooms of 9 by 9 cells, with a door in the upper row of the wall between them.
  before_each(function()
    grid = NavigationGrid.create(19, 9)
    for row = 1, 8 do NavigationGrid.set_cost(grid, 10, row, 0) end
  end)
  after_each(function() NavigationGrid.destroy(grid) end)

  local function walk(name, column, row)
    for _ = 1, 100 do
      local next_column, next_row = NavigationGrid.flow(grid, name, column, row)
      if next_column == column and next_row == row then return column, row end
      column, row = next_column, next_row
    end
    error("the way has no end")
  end

  it("leads away from threats", function()
    NavigationGrid.set_targets(grid, "threats", { 2, 2 })
    NavigationGrid.set_flee(grid, "flee", "threats")
    local column, row = walk("flee", 5, 6)
    assert.is_true(column > 15 and row < 4, column .. ", " .. row .. " is in the other room")
    -- Close to the corner, the way out would lead past the threat.
    NavigationGrid.set_targets(grid, "threats", { 5, 5 })
    column = walk("flee", 2, 2)
    assert.is_true(column < 10)
    -- If it is worth more, one runs past it.
    NavigationGrid.set_flee(grid, "flee", "threats", 10)
    column = walk("flee", 2, 2)
    assert.is_true(column > 10)
    assert.matches("read the distance on 'threats'",
      error_of(NavigationGrid.distance, grid, "flee", 2, 2))
    assert.matches("targets of its own",
      error_of(NavigationGrid.set_flee, grid, "flee", "flee"))
    NavigationGrid.set_targets(grid, "others", { 9, 9 })
    assert.matches("'flee' leads away from the targets of 'threats', which must keep them",
      error_of(NavigationGrid.set_flee, grid, "threats", "others"))
    assert.matches("'factor' must be 1 to 10",
      error_of(NavigationGrid.set_flee, grid, "flee", "threats", 0))
    assert.matches("no flow field 'threat'",
      error_of(NavigationGrid.set_flee, grid, "flee", "threat"))
    NavigationGrid.set_targets(grid, "threats", {})
    assert.is_true(NavigationGrid.flow(grid, "flee", 2, 2) ~= nil)
    assert.is_nil(NavigationGrid.flow(grid, "flee", 10, 1), "within a wall")
  end)

  it("finds the nearest free cell", function()
    assert.same({ 3, 3 }, { NavigationGrid.find_nearest_cell(grid, 3, 3) })
    assert.same({ 9, 4 }, { NavigationGrid.find_nearest_cell(grid, 10, 4) })
    assert.same({ 1, 9 }, { NavigationGrid.find_nearest_cell(grid, -5, 12) })
    assert.is_nil(NavigationGrid.find_nearest_cell(grid, -5, 12, 3))
    assert.is_nil(NavigationGrid.find_nearest_cell(grid, 10, 4, 0))
    assert.matches("'distance' must be 0 to 2048",
      error_of(NavigationGrid.find_nearest_cell, grid, 1, 1, -1))
  end)

  it("finds the first blocked cell on a line", function()
    assert.same({ 10, 3 }, { NavigationGrid.raycast(grid, 2, 3, 18, 3) })
    assert.is_nil(NavigationGrid.raycast(grid, 2, 3, 9, 8))
    assert.is_nil(NavigationGrid.raycast(grid, 9, 9, 11, 9))
    assert.same({ 10, 8 }, { NavigationGrid.raycast(grid, 9, 8, 10, 9) })
    assert.matches("outside of the grid", error_of(NavigationGrid.raycast, grid, 1, 1, 20, 1))
  end)

  it("is drawn as lines", function()
    NavigationGrid.set_targets(grid, "exit", { 19, 9 })
    assert.equals(0, NavigationGrid.draw(grid, Vector3(0, 0, 0), 2))
    assert.equals(0, NavigationGrid.draw(grid, Vector3(0, 0, 0), 2, "exit"))
    local draw = NavigationGrid.draw
    assert.matches("'size' must be", error_of(draw, grid, Vector3(0, 0, 0), 0))
    assert.matches("'size': must be a finite", error_of(draw, grid, Vector3(0, 0, 0), 0 / 0))
    assert.matches("no flow field 'exits'", error_of(draw, grid, Vector3(0, 0, 0), 2, "exits"))
    assert.matches("'position'", error_of(draw, grid, Vector3(math.huge, 0, 0), 2))
    local large = NavigationGrid.create(2048, 64, { neighbors = 4 })
    NavigationGrid.set_targets(large, "exit", { 1, 1 })
    local left_out = draw(large, Vector3(0, 0, 0), 1, "exit")
    assert.is_true(left_out > 0 and left_out < 2048 * 64, left_out .. " cells")
    NavigationGrid.destroy(large)
  end)
end)

describe("the velocities of an agent", function()
  it("are drawn as lines", function()
    local mesh = yard()
    local agent = Agent.create(mesh, LEFT)
    local other = Agent.create(mesh, LEFT + Vector3(1.5, 0, 0))
    Agent.set_destination(agent, Vector3(20, 5, 0))
    for _ = 1, 5 do NavigationMesh.update(mesh, 1 / 60) end
    local function lines_of(show)
      local world, camera = Application.new_world(), Application.main_camera()
      Camera.set_local_position(camera, Vector3(5, -60, 60))
      Camera.set_local_rotation(camera, Quaternion(Vector3.right(), -math.pi / 4))
      show()
      Application.render_world(world, camera)
      test.frames(1)
      local count = 0
      for _, draw in ipairs(test.draws()) do count = count + draw.count end
      Application.release_world(world)
      return count
    end
    test.frames(1)
    assert.equals(0, lines_of(function() end))
    local among = lines_of(function() assert.equals(0, Agent.draw_avoidance(agent)) end)
    Agent.destroy(other)
    for _ = 1, 5 do NavigationMesh.update(mesh, 1 / 60) end
    local alone = lines_of(function() assert.equals(0, Agent.draw_avoidance(agent)) end)
    -- A circle, and the half-plane of the neighbour with its ticks.
    assert.is_true(alone >= 12 and among > alone, among .. " and " .. alone .. " lines")
    Agent.destroy(agent)
    assert.matches("agent", error_of(Agent.draw_avoidance, agent))
    NavigationMesh.destroy(mesh)
  end)
end)
