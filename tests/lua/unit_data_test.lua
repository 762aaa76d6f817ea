-- Suite of the data of units: values from files, values set on top of them, and UnitResource.

local function error_of(fn, ...)
  local ok, message_for = pcall(fn, ...)
  assert.is_false(ok)
  return (message_for:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("data from files", function()
  local world

  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("is separate for each unit, including nested tables of components", function()
    local one = World.spawn_unit(world, "units/packed")
    local two = World.spawn_unit(world, "units/packed")
    Unit.set_data(one, "frail", "size", "x", 99)
    Unit.set_data(one, "names", 1, "zoe")
    assert.equals(1, Unit.get_data(two, "frail", "size", "x"))
    assert.equals("ada", Unit.get_data(two, "names", 1))
  end)

  it("is overridden by a level field by field, and lists as a whole", function()
    local unit = Level.unit(World.spawn_level(world, "levels/packed"), "one")
    assert.same({ x = 7, y = 2 }, Unit.get_data(unit, "frail", "size"))
    assert.same({ "bob" }, Unit.get_data(unit, "names"))
    assert.same({ 5 }, Unit.get_data(unit, "frail", "steps"))
  end)

  it("is removed by null, like components and their fields", function()
    local heir = World.spawn_unit(world, "units/packed_heir")
    assert.same({ size = { x = 1, y = 2 } }, Unit.get_data(heir, "frail"))
    assert.is_nil(Unit.get_data(heir, "names"))
    assert.equals(0, Unit.num_lights(heir))
    assert.equals(1, Unit.num_lights(World.spawn_unit(world, "units/packed")))
    -- Without its node, the lamp is attached to the root.
    local one = World.spawn_unit(world, "units/packed_node")
    assert.equals(2, Light.node(Unit.light(one, 1)))
    one = World.spawn_unit(world, "units/packed_node_heir")
    assert.equals(1, Light.node(Unit.light(one, 1)))
    assert.equals("World.spawn_unit: unit 'units/packed_misspelt': 'components.lmap' is null, "
      .. "which removes what is inherited, and nothing of that name is inherited, did you "
      .. "mean 'lamp'?",
      error_of(World.spawn_unit, world, "units/packed_misspelt"))
  end)

  it("must not have the name of a component", function()
    assert.equals('World.spawn_unit: unit "units/packed_clash" has the data \'frail\', number 3, '
      .. "where the fields of its component 'frail' are: rename one",
      error_of(World.spawn_unit, world, "units/packed_clash"))
    test.frames(1)
    assert.same({}, World.units(world))
  end)

  it("is not replaced by a table or created by a removal", function()
    local unit = World.spawn_unit(world, "units/packed")
    assert.equals("Unit.set_data: 'price' is number 3, which has nothing under 'gold': set it to "
      .. "nil first, or choose another key", error_of(Unit.set_data, unit, "price", "gold", 5))
    Unit.set_data(unit, "price", "gold", nil)
    Unit.set_data(unit, "owner", "name", nil)
    assert.equals(3, Unit.get_data(unit, "price"))
    assert.is_false(Unit.has_data(unit, "owner"))
    World.set_data(world, "price", 3)
    assert.matches("World.set_data: 'price' is number 3, which has nothing under 'gold'",
      error_of(World.set_data, world, "price", "gold", 5))
    World.set_data(world, "owner", "name", nil)
    assert.is_false(World.has_data(world, "owner"))
    assert.equals("World.set_data: argument #2 'key' must be string or number, got number nan",
      error_of(World.set_data, world, 0 / 0, 5))
  end)
end)

describe("UnitResource", function()
  it("returns the initial data of units", function()
    assert.equals(3, UnitResource.get_data("units/packed", "price"))
    assert.equals("bea", UnitResource.get_data("units/packed", "names", 2))
    assert.is_nil(UnitResource.get_data("units/packed", "names", 3))
    assert.is_nil(UnitResource.get_data("units/packed", "names", 1.5))
    assert.is_nil(UnitResource.get_data("units/packed", "price", "gold"))
    assert.is_nil(UnitResource.get_data("units/packed", "price", 1))
    assert.is_true(UnitResource.has_data("units/packed", "names"))
    assert.is_false(UnitResource.has_data("units/packed_heir", "names"))
    assert.equals(3, UnitResource.get_data("units/packed_heir", "price"))
    local names = UnitResource.get_data("units/packed", "names")
    names[1] = "zoe"
    assert.equals("ada", UnitResource.get_data("units/packed", "names", 1))
  end)

  it("refuses missing resources and invalid keys", function()
    assert.equals("UnitResource.get_data: there is no unit 'pakced', did you mean 'units/packed'?",
      error_of(UnitResource.get_data, "pakced", "price"))
    assert.matches("give at least one key", error_of(UnitResource.get_data, "units/packed"))
    assert.matches("argument #3 'key' must be string or number",
      error_of(UnitResource.has_data, "units/packed", "price", true))
  end)
end)

describe("the name of a missing unit", function()
  it("is suggested without its folder, and from the engine's units", function()
    local world = Application.new_world()
    local message_for = function(name) return error_of(World.spawn_unit, world, name) end
    assert.equals("World.spawn_unit: there is no unit 'barrel', did you mean 'units/barrel'?",
      message_for("barrel"))
    assert.equals("World.spawn_unit: there is no unit 'core/units/cubes', did you mean "
      .. "'core/units/cube'?", message_for("core/units/cubes"))
    assert.equals("World.spawn_unit: there is no unit 'capsule', did you mean "
      .. "'core/units/capsule'?", message_for("capsule"))
    assert.equals("World.spawn_unit: there is no unit 'levels/yard', but a level of that name",
      message_for("levels/yard"))
    assert.equals("World.spawn_level: there is no level 'yard', did you mean 'levels/yard'?",
      error_of(World.spawn_level, world, "yard"))
    Application.release_world(world)
  end)
end)
