-- Suite of levels: spawning at once and over several updates, their content, their end. Errors of
-- the resource's compiler are tested in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a level", function()
  local world, yard

  before_each(function()
    world = Application.new_world()
    yard = World.spawn_level(world, "levels/yard")
  end)

  after_each(function() Application.release_world(world) end)

  it("spawns its units at their positions with their data", function()
    assert.equals(3, Level.num_units(yard))
    assert.equals(3, #Level.units(yard))
    local marker = Level.unit(yard, "marker")
    assert.equals(marker, Level.unit_by_index(yard, 2))
    assert.equals(2, Level.unit_index(yard, marker))
    assert.equals("marker", Level.unit_name(yard, marker))
    assert.equals(yard, Unit.level(marker))
    assert.equals(Vector3(0, 5, 0), Unit.local_position(marker))
    assert.equals(Vector3(2, 2, 2), Unit.local_scale(marker))
    assert.equals("red", Unit.get_data(marker, "color"))
    assert.equals(3, Unit.get_data(marker, "size", "radius"))
    assert.equals(world, Level.world(yard))
    assert.equals("levels/yard", Level.resource_name(yard))
    assert.equals(Matrix4x4.identity(), Level.pose(yard))
  end)

  it("overrides component fields before components are notified", function()
    local guard = Level.unit(yard, "guard")
    assert.equals(5, Unit.get_data(guard, "health", "left"))
    local own = World.spawn_unit(world, "units/enemy")
    assert.equals(3, Unit.get_data(own, "health", "left"))
  end)

  it("has nested levels, which it moves and rotates", function()
    assert.equals(1, Level.num_nested_levels(yard))
    local shed = Level.nested_levels(yard)[1]
    assert.equals(yard, Level.parent(shed))
    assert.is_nil(Level.parent(yard))
    local box = Level.unit(shed, "box")
    assert.is_true(Vector3.almost_equal(Vector3(10, 1, 0), Unit.local_position(box), 1e-5))
    assert.same({ yard }, World.levels(world))
    assert.equals("World.destroy_level: argument #2 'level': it is part of another level, and ends "
      .. "with it: destroy that one", error_of(World.destroy_level, world, shed))
  end)

  it("is spawned at a position", function()
    local turned = Quaternion(Vector3.up(), math.pi / 2)
    local other = World.spawn_level(world, "levels/yard", Vector3(100, 0, 0), turned, { scale = 2 })
    local lamp = Level.unit(other, "lamp")
    assert.is_true(Vector3.almost_equal(Vector3(100, 8, 6), Unit.local_position(lamp), 1e-4))
    assert.equals(Vector3(2, 2, 2), Unit.local_scale(lamp))
    assert.is_true(Level.is_point_inside_volume(other, "pit", Vector3(90, 10, 2)))
    local pose = Matrix4x4.from_quaternion_position(Quaternion(), Vector3(1, 1, 1))
    local third = World.spawn_level(world, "levels/yard", pose)
    assert.equals(Vector3(5, 1, 4), Unit.local_position(Level.unit(third, "lamp")))
  end)

  it("can be spawned over several updates", function()
    local slow = World.spawn_level(world, "levels/yard", nil, nil, { units_per_frame = 1 })
    assert.equals(0, Level.progress(slow))
    assert.is_nil(Level.unit(slow, "guard"))
    World.update(world, 0.1)
    assert.equals(0.25, Level.progress(slow))
    assert.is_false(Level.is_spawned(slow))
    for _ = 1, 3 do World.update(world, 0.1) end
    assert.is_true(Level.is_spawned(slow))
    assert.equals(3, #Level.units(slow))
  end)

  it("spawns selected object sets", function()
    assert.same({ "night" }, Level.object_set_names(yard))
    assert.same({ Level.unit(yard, "lamp") }, Level.object_set(yard, "night"))
    local day = World.spawn_level(world, "levels/yard", nil, nil, { object_sets = {} })
    assert.is_nil(Level.unit(day, "lamp"))
    assert.is_not_nil(Level.unit(day, "marker"))
    assert.is_true(Level.is_spawned(day))
    assert.equals("World.spawn_level: level \"levels/yard\" has no object set 'nigth', did you "
      .. "mean 'night'?", error_of(World.spawn_level, world, "levels/yard", nil, nil,
      { object_sets = { "nigth" } }))
  end)

  it("has volumes", function()
    assert.same({ "pit" }, Level.volume_names(yard))
    assert.is_true(Level.has_volume(yard, "pit"))
    assert.is_false(Level.has_volume(yard, "pot"))
    assert.is_true(Level.is_point_inside_volume(yard, "pit", Vector3(5.5, 5, 1)))
    assert.is_false(Level.is_point_inside_volume(yard, "pit", Vector3(7, 5, 1)))
    for _ = 1, 50 do
      local point = Level.random_point_inside_volume(yard, "pit")
      assert.is_true(Level.is_point_inside_volume(yard, "pit", point))
    end
    assert.equals("Level.is_point_inside_volume: argument #2 'volume': level \"levels/yard\" has "
      .. "no volume 'pitt', did you mean 'pit'?",
      error_of(Level.is_point_inside_volume, yard, "pitt", Vector3(0, 0, 0)))
    assert.matches("has no volume 'x'", error_of(Level.random_point_inside_volume, yard, "x"))
  end)

  it("has random points in volumes that depend only on the seed", function()
    local function walk(seed)
      local points = {}
      for i = 1, 20 do
        seed, points[i] = Level.next_random_point_inside_volume(yard, seed, "pit")
        assert.is_true(Level.is_point_inside_volume(yard, "pit", points[i]))
      end
      return seed, points
    end
    local seed, points = walk(7)
    Math.random()
    local again, same = walk(7)
    assert.equals(seed, again)
    assert.same(points, same)
    assert.not_same(points[1], points[2])
    assert.not_equals(points[1], (select(2, Level.next_random_point_inside_volume(yard, 8, "pit"))))
    assert.equals("Level.next_random_point_inside_volume: argument #2 'seed' must be 0 to "
      .. "4294967295, got -1", error_of(Level.next_random_point_inside_volume, yard, -1, "pit"))
    assert.matches("argument #3 'volume': level \"levels/yard\" has no volume 'pitt', did you mean "
      .. "'pit'?", error_of(Level.next_random_point_inside_volume, yard, 1, "pitt"))
  end)

  it("finds units by name, also those of nested levels", function()
    assert.equals(Level.unit(yard, "lamp"), World.unit_by_name(world, "lamp"))
    assert.equals(Level.unit(Level.nested_levels(yard)[1], "box"), World.unit_by_name(world, "box"))
    assert.is_nil(World.unit_by_name(world, "nobody"))
    local other = World.spawn_level(world, "levels/yard", Vector3(50, 0, 0))
    World.destroy_unit(world, Level.unit(yard, "lamp"))
    assert.equals(Level.unit(other, "lamp"), World.unit_by_name(world, "lamp"))
    local empty = Application.new_world()
    assert.is_nil(World.unit_by_name(empty, "lamp"))
    assert.equals(0, World.num_units(empty))
    Application.release_world(empty)
    assert.equals(7, World.num_units(world))
    assert.equals(7, #World.units(world))
    assert.matches("must be", error_of(World.num_units, "x"))
    assert.matches("must be", error_of(World.unit_by_name, world, 3))
  end)

  it("has splines", function()
    assert.same({ "path" }, Level.spline_names(yard))
    assert.equals(1, Level.num_splines(yard))
    assert.same({ Vector3(0, 0, 0), Vector3(4, 0, 0), Vector3(8, 0, 0) },
      Level.spline(yard, "path"))
    assert.is_near(8, Level.spline_length(yard, "path"), 0.01)
    assert.is_near(4, Level.spline_position(yard, "path", 4).x, 0.01)
    assert.equals(Vector3(8, 0, 0), Level.spline_position(yard, "path", 100))
    assert.matches("has no spline 'pth', did you mean 'path'",
      error_of(Level.spline_length, yard, "pth"))
    assert.matches("has no spline", error_of(Level.spline_position, yard, "x", 0))
    assert.matches("has no spline", error_of(Level.spline, yard, "x"))
    assert.same(Level.spline(yard, "path"), Level.spline_by_index(yard, 1))
    assert.equals("Level.spline_by_index: argument #2 'index': level \"levels/yard\" has 1 "
      .. "splines, got 2", error_of(Level.spline_by_index, yard, 2))
    assert.matches("argument #2 'index' must be whole number, got number 1.5",
      error_of(Level.spline_by_index, yard, 1.5))
    assert.matches("must be Level", error_of(Level.spline_by_index, world, 1))
  end)

  it("is destroyed with its units, even if some are destroyed already", function()
    local guard, shed = Level.unit(yard, "guard"), Level.nested_levels(yard)[1]
    World.destroy_unit(world, guard)
    assert.is_nil(Level.unit(yard, "guard"))
    assert.equals(2, #Level.units(yard))
    local lamp = Level.unit(yard, "lamp")
    World.destroy_level(world, yard)
    assert.is_false(Level.alive(yard))
    assert.is_false(Level.alive(shed))
    assert.is_false(Unit.alive(lamp))
    assert.same({}, World.levels(world))
    assert.matches("level \"levels/yard\" was destroyed", error_of(Level.units, yard))
  end)

  it("stores data", function()
    assert.equals("rain", Level.get_data(yard, "weather"))
    Level.set_data(yard, "doors", "front", "open")
    assert.equals("open", Level.get_data(yard, "doors", "front"))
    assert.is_true(Level.has_data(yard, "doors"))
    assert.is_false(Level.has_data(yard, "windows", "left"))
    assert.equals("Level.set_data: give at least one key and a value",
      error_of(Level.set_data, yard, "x"))
    assert.equals("Level.has_data: argument #2 'key' must be string or number, got boolean true",
      error_of(Level.has_data, yard, true))
    assert.matches("must be Level that exists", error_of(Level.get_data, world, "x"))
  end)

  it("refuses invalid arguments", function()
    assert.equals("World.spawn_level: levels contain each other in a circle, or more than 16 "
      .. "deep: levels/circle → levels/circle", error_of(World.spawn_level, world, "levels/circle"))
    assert.matches("there is no level 'levels/yrd'",
      error_of(World.spawn_level, world, "levels/yrd"))
    assert.equals("World.spawn_level: unknown option 'scael', did you mean 'scale'?",
      error_of(World.spawn_level, world, "levels/yard", nil, nil, { scael = 2 }))
    assert.equals("World.spawn_level: option 'units_per_frame' must be a whole number above 0, got "
      .. "0", error_of(World.spawn_level, world, "levels/yard", nil, nil, { units_per_frame = 0 }))
    for _, scale in ipairs({ -1, 0, 1e-46, 1e39 }) do
      assert.matches("World.spawn_level: option 'scale' must be above 0, and at most 3.4e38, got ",
        error_of(World.spawn_level, world, "levels/yard", nil, nil, { scale = scale }))
    end
    assert.equals("World.spawn_level: options have names, such as { units_per_frame = 50 }, got "
      .. "number 1 as one",
      error_of(World.spawn_level, world, "levels/yard", nil, nil, { "night" }))
    local many = {}
    for i = 1, 257 do many[i] = "night" end
    assert.equals("World.spawn_level: option 'object_sets' has 257 names, and 256 are the most "
      .. "(OBJECT_SETS_MAX): name each set once",
      error_of(World.spawn_level, world, "levels/yard", nil, nil, { object_sets = many }))
    assert.equals("World.spawn_level: option 'object_sets' must be a list of names",
      error_of(World.spawn_level, world, "levels/yard", nil, nil, { object_sets = { a = "x" } }))
    assert.is_nil(Level.unit_by_index(yard, 4))
    assert.matches("argument #2 'index' must be integer", error_of(Level.unit_by_index, yard, "x"))
    assert.matches("has no unit 'guad', did you mean 'guard'", error_of(Level.unit, yard, "guad"))
    local alone = World.spawn_unit(world, "core/units/empty")
    assert.is_nil(Level.unit_index(yard, alone))
    assert.is_nil(Unit.level(alone))
    assert.matches("it was not spawned with the level", error_of(Level.unit_name, yard, alone))
    assert.matches("has no object set", error_of(Level.object_set, yard, "x"))
    for _, name in ipairs({ "world", "resource_name", "pose", "parent", "num_units", "progress",
      "num_nested_levels", "nested_levels", "volume_names", "spline_names", "num_splines",
      "object_set_names", "is_spawned" }) do
      assert.matches("must be", error_of(Level[name], "yard"))
    end
    assert.matches("must be", error_of(Level.unit_index, yard, "x"))
    assert.matches("must be", error_of(Level.has_volume, yard, 3))
    assert.matches("must be", error_of(Level.alive, "x"))
    assert.matches("must be", error_of(Unit.level, "x"))
    assert.matches("must be", error_of(World.levels, "x"))
    assert.matches("must be", error_of(World.destroy_level, world, "x"))
  end)

  it("is refused at positions that are not finite, and leaves nothing", function()
    local function spawn(name, scale)
      return error_of(World.spawn_level, world, name, nil, nil, { scale = scale })
    end
    assert.matches("level \"levels/far\", unit 'lamp': it would be at .*which is out of range",
      spawn("levels/far", 4))
    assert.matches("level \"levels/far_inside\" has 'shed' at .*which is not possible",
      spawn("levels/far_inside", 4))
    assert.equals(2, #World.levels(world))
    assert.equals(4, World.num_units(world))
  end)

  it("is destroyed with its world", function()
    local other = Application.new_world()
    local there = World.spawn_level(other, "levels/yard")
    assert.equals("World.destroy_level: argument #2 'level': the level is in another world",
      error_of(World.destroy_level, world, there))
    Application.release_world(other)
    assert.is_false(Level.alive(there))
  end)
end)

describe("LevelResource", function()
  local yard = "levels/yard"

  it("returns the content of a level's file", function()
    assert.equals(3, LevelResource.num_units(yard))
    assert.equals("marker", LevelResource.unit_name(yard, 2))
    assert.equals("core/units/empty", LevelResource.unit_resource(yard, 2))
    assert.equals(Vector3(0, 5, 0), LevelResource.unit_position(yard, 2))
    local forward = LevelResource.unit_rotation(yard, 2) * Vector3.forward()
    assert.is_true(Vector3.almost_equal(Vector3(-1, 0, 0), forward, 1e-5))
    assert.same({ color = "red", size = { radius = 3 } }, LevelResource.unit_data(yard, 2))
    assert.same({ 1, 2, 3 }, LevelResource.unit_indices(yard))
    assert.same({ 2, 3 }, LevelResource.unit_indices(yard, "core/units/empty"))
    assert.same({ "night" }, LevelResource.object_set_names(yard))
    assert.same({ 3 }, LevelResource.unit_indices_in_object_set(yard, "night"))
    assert.same({ weather = "rain" }, LevelResource.data(yard))
  end)

  it("refuses missing names", function()
    for _, name in ipairs({ "num_units", "unit_indices", "object_set_names", "data" }) do
      assert.matches("there is no level 'levels/none'",
        error_of(LevelResource[name], "levels/none"))
    end
    for _, name in ipairs({ "unit_name", "unit_resource", "unit_position", "unit_rotation",
      "unit_data" }) do
      assert.matches("argument #2 'index': level \"levels/yard\" has 3 units, got 0",
        error_of(LevelResource[name], yard, 0))
    end
    assert.matches("has no object set 'dawn'",
      error_of(LevelResource.unit_indices_in_object_set, yard, "dawn"))
  end)
end)
