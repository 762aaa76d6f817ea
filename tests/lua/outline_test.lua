-- Suite of the outlines of units.

describe("an outline", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/cube")
  end)
  after_each(function() Application.release_world(world) end)

  it("is set for all meshes of a unit, and removed", function()
    assert.is_false(Unit.has_outline(unit))
    Unit.set_outline(unit, Color(255, 200, 0))
    assert.is_true(Unit.has_outline(unit))
    test.frames(2)
    Unit.set_outline(unit, Color(255, 200, 0, 128), 4, true)
    test.frames(1)
    Unit.set_outline(unit, nil)
    assert.is_false(Unit.has_outline(unit))
    test.frames(1)
  end)

  it("belongs to units with meshes only", function()
    local lamp = World.spawn_unit(world, "core/units/light")
    Unit.set_outline(lamp, Color(255, 255, 255))
    assert.is_false(Unit.has_outline(lamp))
  end)

  it("refuses wrong colours and widths", function()
    local white = Color(255, 255, 255)
    for _, width in ipairs { 0, -1, 33 } do
      assert.matches("argument #3 'width' must be above 0 and at most 32",
        select(2, pcall(Unit.set_outline, unit, white, width)))
    end
    assert.matches("must be a finite number",
      select(2, pcall(Unit.set_outline, unit, white, 1 / 0)))
    assert.matches("argument #2 'color'", select(2, pcall(Unit.set_outline, unit, 3)))
    assert.matches("argument #4 'through'", select(2, pcall(Unit.set_outline, unit, white, 2, 1)))
    World.destroy_unit(world, unit)
    assert.matches("argument #1 'unit'", select(2, pcall(Unit.has_outline, unit)))
  end)
end)
