-- Suite of functions on many units at once: they do the same as the functions for one unit.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("many units", function()
  local world, positions, units

  before_each(function()
    world = Application.new_world()
    positions = { Vector3(1, 0, 0), Vector3(2, 0, 0), Vector3(3, 0, 0) }
    units = World.spawn_units(world, "units/barrel", positions)
  end)
  after_each(function() Application.release_world(world) end)

  it("are spawned at a list of positions", function()
    assert.equals(3, #units)
    for i, unit in ipairs(units) do
      assert.equals(positions[i], Unit.local_position(unit, 1))
      assert.equals("units/barrel", Unit.debug_name(unit))
    end
    local turned = Quaternion(Vector3.up(), 1)
    local more = World.spawn_units(world, "units/barrel", { Vector3(0, 0, 0) }, { turned })
    assert.is_true(Quaternion.almost_equal(turned, Unit.local_rotation(more[1], 1), 1e-6))
    local pose = Matrix4x4.from_translation(Vector3(7, 8, 9))
    more = World.spawn_units(world, "units/barrel", { pose })
    assert.equals(Vector3(7, 8, 9), Unit.local_position(more[1], 1))
    assert.same({}, World.spawn_units(world, "units/barrel", {}))
  end)

  it("are passed to components at once", function()
    local frail, heard = require("components.frail"), {}
    frail.doing.spawned = function(list) heard[#heard + 1] = list end
    local spawned = World.spawn_units(world, "units/frail_one", positions)
    frail.doing = {}
    assert.same({ spawned }, heard)
  end)

  it("write their poses into reused tables", function()
    local into = { 1, 2, 3, 4, 5 }
    assert.equals(into, Unit.local_positions(units, into))
    assert.same(positions, into)
    assert.same(positions, Unit.local_positions(units))
    local lid = Unit.node(units[1], "lid")
    local above = Unit.world_positions(units, into, lid)
    assert.equals(into, above)
    for i, position in ipairs(positions) do
      assert.is_true(Vector3.almost_equal(position + Vector3(0, 0, 1), above[i], 1e-6))
    end
    assert.equals(3, #Unit.local_rotations(units, into))
    assert.equals(Unit.local_rotation(units[2], 1), into[2])
  end)

  it("are moved and rotated", function()
    local to = { Vector3(0, 1, 0), Vector3(0, 2, 0), Vector3(0, 3, 0) }
    Unit.set_local_positions(units, to)
    assert.same(to, Unit.world_positions(units))
    local turned = {}
    for i = 1, 3 do turned[i] = Quaternion(Vector3.up(), i) end
    Unit.set_local_rotations(units, turned)
    for i, rotation in ipairs(Unit.local_rotations(units)) do
      assert.is_true(Quaternion.almost_equal(turned[i], rotation, 1e-6))
    end
    local lid = Unit.node(units[1], "lid")
    Unit.set_local_positions(units, to, lid)
    assert.same(to, Unit.local_positions(units, nil, lid))
  end)

  it("are destroyed, and destroyed ones are skipped", function()
    World.destroy_unit(world, units[2])
    World.destroy_units(world, units)
    for _, unit in ipairs(units) do assert.is_false(Unit.alive(unit)) end
    assert.same({}, World.units(world))
    World.destroy_units(world, {})
  end)

  it("report the invalid element", function()
    assert.matches("argument #3 'positions' must hold Vector3 or Matrix4x4, got number 5 at 2",
      error_of(World.spawn_units, world, "units/barrel", { Vector3(0, 0, 0), 5 }))
    assert.matches("argument #3 'positions' must be a table of positions, got nil",
      error_of(World.spawn_units, world, "units/barrel"))
    assert.matches("argument #4 'rotations' has 0 values for 3 positions",
      error_of(World.spawn_units, world, "units/barrel", positions, {}))
    assert.matches('argument #4 \'rotations\' must hold Quaternion, got string "north" at 1',
      error_of(World.spawn_units, world, "units/barrel", { positions[1] }, { "north" }))
    assert.matches("a pose already has a rotation",
      error_of(World.spawn_units, world, "units/barrel", { Matrix4x4.identity() },
        { Quaternion.identity() }))
    assert.matches("no unit 'units/barel'",
      error_of(World.spawn_units, world, "units/barel", positions))
    assert.equals(3, #World.units(world))
    assert.matches("argument #2 'units' must be a table of units",
      error_of(World.destroy_units, world, units[1]))
    assert.matches("argument #2 'positions' has 1 values for 3 units",
      error_of(Unit.set_local_positions, units, { positions[1] }))
    assert.matches("'positions' must hold Vector3 for each unit, got boolean false at 3",
      error_of(Unit.set_local_positions, units, { positions[1], positions[2], false }))
    assert.matches("argument #2 'rotations' must hold Quaternion for each unit, got",
      error_of(Unit.set_local_rotations, units, positions))
    assert.matches("argument #2 'into' must be table or nil",
      error_of(Unit.local_positions, units, 5))
    for _, name in ipairs({ "local_positions", "world_positions", "local_rotations" }) do
      assert.matches("argument #1 'units' must be a table of units", error_of(Unit[name], 5))
    end
    World.destroy_unit(world, units[1])
    local destroyed_message = 'unit "units/barrel" was destroyed in frame'
    assert.matches(destroyed_message, error_of(Unit.set_local_positions, units, positions))
    assert.matches(destroyed_message, error_of(Unit.world_positions, units))
  end)
end)
