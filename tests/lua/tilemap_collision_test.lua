-- Suite of the bodies of tile maps, and of units at their objects. Outlines are tested in Rust, in
-- src/system/tilemaps/collision. The map has 12 by 6 cells of a metre: a floor, a slope, two walls
-- and a one-way platform.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local DOWN = Vector3(0, -1, 0)

describe("the body of a tile map", function()
  local world, physics, unit, map

  before_each(function()
    world = Application.new_world("2d")
    physics = World.physics_world(world)
    unit = World.spawn_unit(world, "units/walled")
    map = Unit.tilemap(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  local function steps(count)
    for _ = 1, count do World.update(world, 1 / 60) end
  end

  -- Returns the height of the ground at x.
  local function height(x)
    local hit, position = PhysicsWorld.raycast(physics, Vector3(x, 7, 0), DOWN, 9, "closest")
    return hit and math.floor(position.y * 1000 + 0.5) / 1000 or nil
  end

  local function ball(x, y, fields)
    local owner = World.spawn_unit(world, "core/units/empty", Vector3(x, y, 0))
    fields = fields or { type = "dynamic", shape = "sphere", radius = 0.25, friction = 0,
      restitution = 0, linear_damping = 0, density = 100 }
    return Unit.create_actor(owner, "body", fields)
  end

  it("is an actor named like the component", function()
    local actor = Unit.actor(unit, "ground")
    assert.is_true(Actor.is_static(actor))
    assert.equals(unit, Actor.unit(actor))
    assert.near(0.1, Actor.friction(actor), 1e-6)
    assert.matches("actor 1 \"ground\" static", Unit.inspect(unit), 1, true)
  end)

  it("has the outline of solid tiles and of their shapes", function()
    assert.equals(1, height(0.5))
    assert.equals(2, height(7.5))
    assert.equals(1.5, height(6.5))
    assert.equals(1, height(8.5))
    assert.is_nil(height(-0.5))
  end)

  it("has no edges between its tiles", function()
    local hits, count = PhysicsWorld.raycast(physics, Vector3(0.5, 0.5, 0), Vector3(1, 0, 0), 11.4,
      "all")
    assert.same({}, hits or {})
    assert.equals(0, count)
  end)

  it("lets bodies slide over its tiles without bumps", function()
    local box = ball(0.6, 1.26, { type = "dynamic", shape = "box", size = { 0.5, 0.5, 0.5 },
      friction = 0, restitution = 0, linear_damping = 0, density = 100 })
    Actor.set_velocity(box, Vector3(6, 0, 0))
    local highest = 0
    for _ = 1, 48 do
      steps(1)
      highest = math.max(highest, Actor.position(box).y)
    end
    assert.is_true(Actor.position(box).x > 5.2, tostring(Actor.position(box)))
    assert.is_true(highest < 1.28, "it jumped to " .. highest)
    -- Only the friction of the map, 0.1 with that of the box on average, slows it down.
    assert.near(6 - 0.05 * 9.81 * 0.8, Actor.velocity(box).x, 0.05)
  end)

  it("has one-way tiles that hold from above alone", function()
    local platform = Unit.actor(unit, "ground one-way")
    assert.is_true(Actor.is_one_way(platform))
    assert.is_false(Actor.is_one_way(Unit.actor(unit, "ground")))
    local above, below = ball(9.6, 4.6), ball(10.4, 2.2)
    Actor.set_velocity(below, Vector3(0, 9, 0))
    local highest = 0
    for _ = 1, 120 do
      steps(1)
      highest = math.max(highest, Actor.position(below).y)
    end
    assert.near(4.25, Actor.position(above).y, 0.02)
    assert.is_true(highest > 4.6, "it passes from below")
    assert.near(4.25, Actor.position(below).y, 0.02)
    -- Other platforms are shapes of their own, which come and go.
    local friction = Actor.friction(platform)
    for _, cell in ipairs({ { 1, 5 }, { 3, 5 }, { 5, 6 } }) do
      Tilemap.set_tile(map, "ground", cell[1], cell[2], 3)
    end
    steps(1)
    assert.same({ 5, 5, 6, 4 }, { height(0.5), height(2.5), height(4.5), height(9.9) })
    assert.equals(platform, Unit.actor(unit, "ground one-way"))
    Tilemap.set_tile(map, "ground", 3, 5, 0)
    steps(1)
    assert.same({ 5, 1, 6, 4 }, { height(0.5), height(2.5), height(4.5), height(9.9) })
    assert.equals(friction, Actor.friction(platform))
    local resting = ball(0.5, 5.6)
    steps(30)
    assert.near(5.25, Actor.position(resting).y, 0.02)
    Tilemap.set_tile(map, "ground", 1, 5, 0)
    steps(60)
    assert.is_true(Actor.position(resting).y < 2, "it falls")
    assert.same({ 1, 6, 4 }, { height(0.9), height(4.5), height(9.9) })
  end)

  it("loses and gets its one-way body, at the same index", function()
    local count = Unit.num_actors(unit)
    for column = 10, 11 do Tilemap.set_tile(map, "ground", column, 4, 0) end
    steps(1)
    assert.is_nil(Unit.find_actor(unit, "ground one-way"))
    assert.equals(1, height(9.9))
    Tilemap.set_tile(map, "ground", 1, 5, 3)
    steps(1)
    assert.equals(5, height(0.5))
    assert.equals(count, Unit.num_actors(unit))
    assert.is_true(Actor.is_one_way(Unit.actor(unit, "ground one-way")))
  end)

  it("keeps its indices in the unit when it is replaced", function()
    local count = Unit.num_actors(unit)
    for i = 1, 300 do
      if i % 3 == 0 then Tilemap.set_collision(map, false) end
      Tilemap.set_collision(map, { friction = i / 1000 })
    end
    assert.equals(count, Unit.num_actors(unit))
    assert.near(0.3, Actor.friction(Unit.actor(unit, 1)), 1e-6)
  end)

  it("stays as it is if it cannot be replaced", function()
    local actor = Unit.actor(unit, "ground")
    assert.matches("filter 'nothing'", error_of(Tilemap.set_collision, map, { filter = "nothing" }))
    assert.matches("material 'nothing'",
      error_of(Tilemap.set_collision, map, { material = "nothing" }))
    assert.equals(actor, Unit.actor(unit, "ground"))
    assert.equals(1, height(0.5))
    Tilemap.set_tile(map, "ground", 1, 2, 1)
    steps(1)
    assert.equals(2, height(0.5), "it still follows the tiles")
  end)

  it("follows changes of tiles", function()
    local resting = ball(2.5, 1.3)
    local actor = Unit.actor(unit, "ground")
    steps(30)
    Tilemap.set_tile(map, "ground", 3, 1, 0)
    assert.equals(1, height(2.1), "the body changes in the next update")
    steps(1)
    assert.is_nil(height(2.1))
    assert.equals(1, height(3.5))
    steps(60)
    assert.is_true(Actor.position(resting).y < 0, "the ground below it is gone")
    assert.equals(actor, Unit.actor(unit, "ground"), "the actor stays")
    Tilemap.set_tile(map, "ground", 3, 4, 1)
    steps(1)
    assert.equals(4, height(2.5))
  end)

  it("ends when no tile is left, and begins again", function()
    Tilemap.set_collision(map, { layers = { "roof" } })
    assert.is_nil(height(0.5))
    Tilemap.set_collision(map, { layers = { "ground" }, solid = { "water" } })
    assert.is_nil(height(0.5))
    assert.equals(1.5, height(6.5), "shapes of tiles need no name")
    Tilemap.set_tile(map, "ground", 1, 6, 4)
    steps(1)
    assert.equals(6, height(0.5))
    Tilemap.set_collision(map, false)
    assert.is_nil(height(0.5))
    Tilemap.set_tile(map, "ground", 1, 5, 1)
    steps(1)
    Tilemap.set_collision(map, true)
    assert.equals(5, height(0.5))
  end)

  it("moves with its unit", function()
    Unit.set_local_position(unit, 1, Vector3(0, 2, 0))
    steps(1)
    assert.equals(3, height(0.5))
    Unit.disable_physics(unit)
    assert.is_nil(height(0.5))
    Tilemap.set_tile(map, "ground", 1, 2, 1)
    steps(1)
    assert.is_nil(height(0.5))
    Unit.enable_physics(unit)
    assert.equals(4, height(0.5))
    World.destroy_unit(world, unit)
    assert.is_nil(height(0.5))
  end)

  it("keeps its tiles when a snapshot is restored", function()
    local snapshot = PhysicsWorld.snapshot(physics)
    Tilemap.set_tile(map, "ground", 1, 2, 1)
    steps(1)
    PhysicsWorld.restore(physics, snapshot)
    steps(1)
    assert.equals(2, height(0.5), "the snapshot has no tiles")
    -- The snapshot has another number of platforms.
    Tilemap.set_tile(map, "ground", 3, 5, 3)
    steps(1)
    PhysicsWorld.restore(physics, snapshot)
    steps(1)
    assert.same({ 2, 5, 4 }, { height(0.5), height(2.5), height(9.9) })
    assert.is_true(Actor.is_one_way(Unit.actor(unit, "ground one-way")))
    PhysicsWorld.drop_snapshot(physics, snapshot)
  end)

  it("stays destroyed if the game destroys it", function()
    Unit.destroy_actor(unit, "ground")
    Tilemap.set_tile(map, "ground", 3, 1, 0)
    steps(1)
    assert.is_nil(height(0.5))
  end)

  it("is built in pipelined and upright worlds", function()
    local upright = Application.new_world("pipelined_physics")
    World.spawn_unit(upright, "units/upright_yard", Vector3(0, 3, 0))
    local hit, position = PhysicsWorld.raycast(World.physics_world(upright), Vector3(7.5, 3, 7),
      Vector3(0, 0, -1), 9, "closest")
    assert.is_true(hit)
    assert.near(2, position.z, 1e-4)
    Application.release_world(upright)
    local none = Application.new_world("no_physics")
    local other = World.spawn_unit(none, "units/walled")
    assert.matches("no_physics", error_of(Tilemap.set_collision, Unit.tilemap(other, 1), true))
    Application.release_world(none)
  end)

  it("refuses wrong settings", function()
    local function check(message, collision)
      assert.equals("Tilemap.set_collision: " .. message, error_of(Tilemap.set_collision, map,
        collision))
    end
    check("argument #2 'collision': 'collision' has the unknown field 'solids', did you mean "
      .. "'solid'?", { solids = { "wall" } })
    check("argument #2 'collision': 'solid' of 'collision' must be a list of at most 256 names "
      .. "(NAMES_MAX)", { solid = "wall" })
    check("argument #2 'collision': 'depth' of 'collision' must be a number above 0, got 0",
      { depth = 0 })
    check("argument #2 'collision': 'collision' must be true, false, or a block: collision = "
      .. "{ solid = [\"wall\"] }", "wall")
    assert.matches("filter 'nothing'", error_of(Tilemap.set_collision, map, { filter = "nothing" }))
    local loose = Tilemap.new("maps/yard")
    assert.matches("the map belongs to no unit", error_of(Tilemap.set_collision, loose, true))
    Tilemap.destroy(loose)
  end)
end)

describe("the outlines of a tile map", function()
  it("are chains of points", function()
    local map = Tilemap.new("maps/yard")
    local solid, one_way = Tilemap.outlines(map)
    assert.equals(1, #solid)
    assert.is_true(solid[1].closed)
    local found = {}
    for _, point in ipairs(solid[1].points) do found[point.x .. "," .. point.y] = true end
    for _, corner in ipairs({ "0,0", "96,0", "96,16", "88,16", "88,8", "64,8", "64,16", "56,16",
      "48,8", "0,8" }) do
      assert.is_true(found[corner], corner)
    end
    assert.equals(10, #solid[1].points)
    local platform = { { x = 88, y = 32 }, { x = 72, y = 32 } }
    assert.same({ { closed = false, points = platform } }, one_way)
    assert.equals(0, #Tilemap.outlines(map, { layers = { "roof" } }))
    assert.equals("Tilemap.outlines: argument #2 'collision' must be true or a table, got false",
      error_of(Tilemap.outlines, map, false))
    Tilemap.destroy(map)
  end)
end)

describe("units at the objects of a tile map", function()
  local world, unit, map

  before_each(function()
    world = Application.new_world("2d")
    unit = World.spawn_unit(world, "units/walled", Vector3(10, 0, 0))
    map = Unit.tilemap(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("are spawned by class, name or property", function()
    local units = Tilemap.spawn_units(map, { lamp = "units/barrel", d = "units/barrel" })
    local names = {}
    for i, spawned in ipairs(units) do names[i] = Unit.debug_name(spawned) end
    assert.same({ "units/barrel", "units/barrel", "core/units/empty", "units/barrel" }, names)
    assert.equals(3, Unit.get_data(units[1], "light"))
    assert.same("a", Unit.get_data(units[1], "object", "name"))
    assert.equals("point", Unit.get_data(units[3], "object", "shape"))
    assert.is_nil(Unit.get_data(units[3], "unit"))
    assert.equals(1, #Tilemap.spawn_units(map), "only one object names its unit")
  end)

  it("stand in the middle of their objects or at a pivot", function()
    local function position(units, i)
      local at = Unit.local_position(units[i], 1)
      return { math.floor(at.x * 100 + 0.5) / 100, math.floor(at.y * 100 + 0.5) / 100 }
    end
    local lamps = { lamp = "units/barrel" }
    local units = Tilemap.spawn_units(map, lamps)
    assert.same({ 11.5, 1.5 }, position(units, 1))
    -- Turned clockwise by a quarter around its top left, which is at 3, 3.
    assert.same({ 12, 2.5 }, position(units, 2))
    local turned = Quaternion.rotate(Unit.local_rotation(units[2], 1), Vector3(1, 0, 0))
    assert.near(-1, turned.y, 1e-5)
    assert.same({ 15, 3 }, position(units, 3))
    units = Tilemap.spawn_units(map, lamps, { pivot = { 0.5, 0 }, offset = Vector3(0, 1, 0) })
    assert.same({ 11.5, 2 }, position(units, 1))
    assert.same({ 10 + 1, 3.5 }, position(units, 2))
    assert.equals(Vector3(11, 1, 0), Tilemap.world_position(map, 8, 8))
  end)

  it("refuse wrong arguments", function()
    local function check(message, ...)
      assert.equals("Tilemap.spawn_units: " .. message, error_of(Tilemap.spawn_units, ...))
    end
    check("argument #2 'units' must be a table of names of units by class, or nil, got number 5",
      map, 5)
    check("argument #2 'units' must have names of units by class, such as { coin = "
      .. "\"units/coin\" }, got number 1 for string \"lamp\"", map, { lamp = 1 })
    check("argument #3 'options' has the unknown option 'pivots', did you mean 'pivot'?", map, {},
      { pivots = 1 })
    check("option 'pivot' must be two numbers, such as { 0.5, 0 } for the middle of the bottom "
      .. "edge, got number 1", map, {}, { pivot = 1 })
    assert.matches("units/nothing", error_of(Tilemap.spawn_units, map, { lamp = "units/nothing" }))
    local loose = Tilemap.new("maps/yard")
    assert.matches("belongs to no unit", error_of(Tilemap.spawn_units, loose))
    assert.matches("belongs to no unit", error_of(Tilemap.world_position, loose, 1, 1))
    Tilemap.destroy(loose)
  end)
end)
