-- Suite of units: spawning, nodes and poses, links, data, script components. Errors of the
-- resource's compiler are tested in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a unit", function()
  local world, barrel

  before_each(function()
    world = Application.new_world()
    barrel = World.spawn_unit(world, "units/barrel", Vector3(1, 2, 3))
  end)

  after_each(function() Application.release_world(world) end)

  it("is spawned at a position, with its nodes relative to it", function()
    assert.equals(Vector3(1, 2, 3), Unit.local_position(barrel))
    assert.equals(3, Unit.num_nodes(barrel))
    local lid = Unit.node(barrel, "lid")
    assert.equals(Vector3(1, 2, 4), Unit.world_position(barrel, lid))
    assert.equals("handle", Unit.node_name(barrel, 3))
    assert.equals(lid, Unit.scene_graph_parent(barrel, 3))
    assert.is_nil(Unit.scene_graph_parent(barrel, 1))
    assert.is_true(Unit.has_node(barrel, "handle"))
    assert.is_false(Unit.has_node(barrel, "wheel"))
    assert.equals(world, Unit.world(barrel))
    assert.equals("units/barrel", Unit.debug_name(barrel))
  end)

  it("is moved, rotated and scaled together with its children", function()
    Unit.set_local_position(barrel, 1, Vector3(5, 0, 0))
    Unit.set_local_scale(barrel, 1, Vector3(2, 2, 2))
    Unit.set_local_rotation(barrel, 1, Quaternion(Vector3.right(), math.pi / 2))
    assert.is_true(Vector3.almost_equal(Vector3(5, -2, 0), Unit.world_position(barrel, 2), 1e-5))
    assert.equals(Vector3(2, 2, 2), Unit.local_scale(barrel))
    local turned = Unit.local_rotation(barrel, 1)
    assert.is_true(Vector3.almost_equal(Vector3(0, 0, 1), turned * Vector3.forward(), 1e-5))
    local up = Quaternion.up(Unit.world_rotation(barrel, 1))
    assert.is_true(Vector3.almost_equal(Vector3(0, -1, 0), up, 1e-5))
    local pose = Matrix4x4.from_quaternion_position(Quaternion(), Vector3(7, 7, 7))
    Unit.set_local_pose(barrel, 1, pose)
    assert.equals(pose, Unit.local_pose(barrel))
    assert.equals(Vector3(7, 7, 8), Matrix4x4.translation(Unit.world_pose(barrel, 2)))
  end)

  it("accepts a whole pose when it is spawned", function()
    local pose = Matrix4x4.from_quaternion_position(Quaternion(), Vector3(4, 4, 4))
    local other = World.spawn_unit(world, "units/barrel", pose)
    assert.equals(Vector3(4, 4, 4), Unit.local_position(other))
    assert.equals("World.spawn_unit: a pose already has a rotation",
      error_of(World.spawn_unit, world, "units/barrel", pose, Quaternion()))
    assert.equals("World.spawn_unit: argument #3 'position' must be Vector3, Vector2, Matrix4x4 "
      .. "or nil, got number 5", error_of(World.spawn_unit, world, "units/barrel", 5))
  end)

  it("is checked together with its base", function()
    local narrow = World.spawn_unit(world, "units/eye_narrow")
    assert.is_near(math.rad(20), Camera.vertical_fov(Unit.camera(narrow, "eye")), 1e-4)
    assert.matches("'eye' has the unknown field 'verical_fov' for a camera, did you mean "
      .. "'vertical_fov'?", error_of(World.spawn_unit, world, "units/eye_misspelt"))
    assert.matches("'eye' has the unknown field 'vertical_fov' for a light",
      error_of(World.spawn_unit, world, "units/eye_of_light"))
  end)

  it("inherits field by field", function()
    local steel = World.spawn_unit(world, "units/steel_barrel")
    assert.equals("steel", Unit.get_data(steel, "material"))
    assert.equals(0.4, Unit.get_data(steel, "size", "radius"))
    assert.equals(Vector3(0, 0, 2), Unit.local_position(steel, Unit.node(steel, "lid")))
    assert.is_true(Unit.is_a(steel, "units/barrel"))
    assert.is_false(Unit.is_a(barrel, "units/steel_barrel"))
    assert.same({ barrel, steel }, World.units_by_resource(world, "units/barrel"))
    assert.same({ barrel, steel }, World.units(world))
    assert.matches("units inherit in a circle.*units/loop_a → units/loop_b → units/loop_a",
      error_of(World.spawn_unit, world, "units/loop_a"))
  end)

  it("can be linked to another unit, and stays in place when unlinked", function()
    local other = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 1))
    World.link_unit(world, other, barrel, Unit.node(barrel, "lid"))
    assert.equals(Vector3(1, 2, 5), Unit.world_position(other))
    Unit.set_local_position(barrel, 1, Vector3.zero())
    assert.equals(Vector3(0, 0, 2), Unit.world_position(other))
    assert.equals("World.link_unit: the parent is already linked to the child: a unit cannot be "
      .. "linked to itself", error_of(World.link_unit, world, barrel, other))
    World.unlink_unit(world, other)
    assert.equals(Vector3(0, 0, 2), Unit.local_position(other))
    World.link_unit(world, other, barrel)
    World.destroy_unit(world, barrel)
    assert.equals(Vector3(0, 0, 2), Unit.world_position(other))
  end)

  it("stores data under nested keys", function()
    assert.equals("wood", Unit.get_data(barrel, "material"))
    Unit.set_data(barrel, "owner", "name", "Ada")
    assert.equals("Ada", Unit.get_data(barrel, "owner", "name"))
    assert.is_true(Unit.has_data(barrel, "owner"))
    assert.is_false(Unit.has_data(barrel, "material", "grain"))
    Unit.set_data(barrel, "owner", nil)
    assert.is_nil(Unit.get_data(barrel, "owner"))
    assert.equals("Unit.get_data: argument #2 'key' must be string or number, got table",
      error_of(Unit.get_data, barrel, {}))
    assert.equals("Unit.has_data: give at least one key", error_of(Unit.has_data, barrel))
    assert.equals("Unit.set_data: give at least one key and a value",
      error_of(Unit.set_data, barrel, 1))
  end)

  it("can be inspected", function()
    local text = Unit.inspect(World.spawn_unit(world, "units/enemy"))
    assert.matches('unit "units/enemy"', text)
    assert.matches('  3 "handle" on 2 local Vector3', text)
    assert.matches('component "health" %(health%)\n  3 left', text)
    assert.matches('  size\n    height = 1\n', text)
  end)

  it("is named in messages after it is destroyed", function()
    World.destroy_unit(world, barrel)
    assert.is_false(Unit.alive(barrel))
    local expected = '^[%w_.]+: argument #1 \'unit\': unit "units/barrel" was destroyed in frame '
      .. '%d+ at unit_test.lua:%d+$'
    for _, name in ipairs({ "local_position", "world_pose", "num_nodes", "get_data", "set_data",
      "inspect", "world", "debug_name" }) do
      assert.matches(expected, error_of(Unit[name], barrel))
    end
    assert.matches("argument #2 'unit': unit .* was destroyed",
      error_of(World.destroy_unit, world, barrel))
  end)

  it("refuses invalid arguments", function()
    assert.equals("Unit.local_position: argument 'node': unit \"units/barrel\" has the nodes 1 to "
      .. "3, got 4", error_of(Unit.local_position, barrel, 4))
    assert.equals("Unit.node: argument #2 'name': unit \"units/barrel\" has no node 'lidd', did "
      .. "you mean 'lid'?", error_of(Unit.node, barrel, "lidd"))
    assert.matches("argument #3 'position': must be finite",
      error_of(Unit.set_local_position, barrel, 1, Vector3(0 / 0, 0, 0)))
    assert.matches("argument #3 'position': must be finite",
      error_of(Unit.set_local_position, barrel, 1, Vector3(0, math.huge, 0)))
    assert.matches("must have length 1, this one has 2",
      error_of(Unit.set_local_rotation, barrel, 1, Quaternion.from_elements(0, 0, 0, 2)))
    assert.matches("argument #3 'scale' must be Vector3",
      error_of(Unit.set_local_scale, barrel, 1, 2))
    assert.matches("argument #3 'pose' must be Matrix4x4",
      error_of(Unit.set_local_pose, barrel, 1, Vector3()))
    for _, name in ipairs({ "local_rotation", "local_scale", "local_pose", "world_position",
      "world_rotation", "world_pose", "scene_graph_parent", "node_name" }) do
      assert.matches("has the nodes 1 to 3, got 0 %(nodes count from 1, and the root is 1%)$",
        error_of(Unit[name], barrel, 0))
    end
    local never = "must be a Unit, and the number 12 never was one"
    for _, name in ipairs({ "num_nodes", "world", "debug_name" }) do
      assert.matches(never, error_of(Unit[name], 12))
    end
    assert.matches(never, error_of(Unit.has_node, 12, "x"))
    assert.matches(never, error_of(Unit.is_a, 12, "x"))
    assert.matches("must be number", error_of(Unit.alive, "x"))
    assert.matches("World.spawn_unit: .*units/barel",
      error_of(World.spawn_unit, world, "units/barel"))
    local other = Application.new_world()
    assert.equals("World.destroy_unit: argument #2 'unit': the unit is in another world",
      error_of(World.destroy_unit, other, barrel))
    assert.equals("World.unlink_unit: argument #2 'unit': the unit is in another world",
      error_of(World.unlink_unit, other, barrel))
    Application.release_world(other)
    assert.matches("World.units: argument #1 'world'", error_of(World.units, other))
    assert.matches("World.units: argument #1 'world'",
      error_of(World.units_by_resource, other, "x"))
    assert.equals("World.units_by_resource: argument #2 'resource' must be string, got number 5",
      error_of(World.units_by_resource, world, 5))
  end)
end)

describe("a script component", function()
  local health = require("components.health")

  before_each(function()
    for i = #health.log, 1, -1 do health.log[i] = nil end
  end)

  it("is notified of its units, is updated in order, and may destroy units", function()
    local world = Application.new_world()
    local a = World.spawn_unit(world, "units/enemy")
    local b = World.spawn_unit(world, "units/enemy")
    assert.equals("late", Unit.get_data(a, "mover_log", "word"))
    World.update(world, 0.5)
    World.update(world, 0.5)
    assert.is_true(Unit.alive(a))
    World.update(world, 0.5)
    assert.is_false(Unit.alive(a) or Unit.alive(b))
    assert.same({ "spawned", "spawned", "log", "health 0.5", "log", "health 0.5", "log",
      "health 0.5", "unspawned 1", "unspawned 1" }, health.log)
    World.update(world, 0.5)
    assert.equals(10, #health.log)
    Application.release_world(world)
  end)

  it("may destroy a unit once in an update, and gets an error if it does so twice", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "units/enemy")
    local update, message = health.update, nil
    health.update = function(units)
      World.destroy_unit(world, units[1])
      assert.is_true(Unit.alive(units[1]))
      message = error_of(World.destroy_unit, world, units[1])
    end
    World.update(world, 0.1)
    health.update = update
    assert.matches("the unit already ends after the update of 'health': .*unit_test.lua:%d+ "
      .. "requested it", message)
    assert.is_false(Unit.alive(unit))
    Application.release_world(world)
  end)

  it("may spawn units with new component types in its update", function()
    local world = Application.new_world()
    World.spawn_unit(world, "units/enemy")
    local update, new = health.update, nil
    health.update = function() new = World.spawn_unit(world, "units/frail") end
    World.update(world, 0.1)
    health.update = update
    assert.is_true(Unit.alive(new))
    Application.release_world(world)
  end)

  it("is notified when a world is released", function()
    local world = Application.new_world()
    World.spawn_unit(world, "units/enemy")
    Application.release_world(world)
    assert.same({ "spawned", "unspawned 1" }, health.log)
  end)
end)
