-- Suite of the light occluders of units. What they draw is tested by golden pictures.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a light occluder", function()
  local world, unit, wall

  before_each(function()
    world = Application.new_world("2d")
    unit = World.spawn_unit(world, "core/units/light_occluder", Vector3(1, 2, 0))
    wall = Unit.light_occluder(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("belongs to a node of its unit", function()
    assert.is_true(LightOccluder.alive(wall))
    assert.is_false(LightOccluder.alive(nil))
    assert.equals(unit, LightOccluder.unit(wall))
    assert.equals(1, LightOccluder.node(wall))
    assert.equals(wall, Unit.light_occluder(unit, "occluder"))
    assert.is_true(Unit.has_light_occluder(unit, 1))
    assert.is_false(Unit.has_light_occluder(unit, "wall"))
    assert.matches("has no light occluder 'wall'", error_of(Unit.light_occluder, unit, "wall"))
    assert.equals(1, Unit.num_light_occluders(unit))
    assert.matches("has the light occluders 1 to 1, got 3", error_of(Unit.light_occluder, unit, 3))
    assert.matches("light occluder 1 box at node 1, 10 m high", Unit.inspect(unit))
    World.destroy_unit(world, unit)
    assert.is_false(LightOccluder.alive(wall))
    assert.matches("argument #1", error_of(LightOccluder.alive, "x"))
    assert.matches("light occluder was destroyed", error_of(LightOccluder.unit, wall))
    assert.matches("argument #1 'light_occluder'", error_of(LightOccluder.node, wall))
    assert.matches("argument #1 'unit'", error_of(Unit.has_light_occluder, unit, 1))
    assert.matches("argument #1 'unit'", error_of(Unit.num_light_occluders, unit))
  end)

  it("has a shape", function()
    assert.equals("box", LightOccluder.shape(wall))
    LightOccluder.set_circle(wall, 0.5)
    assert.equals("circle", LightOccluder.shape(wall))
    LightOccluder.set_circle(wall, 2, Vector2(0, 1))
    test.frames(1)
    LightOccluder.set_polygon(wall, { Vector2(0, 0), Vector2(1, 0), Vector3(0, 1, 0) })
    assert.equals("polygon", LightOccluder.shape(wall))
    test.frames(1)
    LightOccluder.set_line(wall, { Vector2(0, 0), Vector2(1, 0) })
    assert.equals("line", LightOccluder.shape(wall))
    LightOccluder.set_box(wall, Vector2(3, 1), Vector2(0, 0.5))
    assert.equals("box", LightOccluder.shape(wall))
    test.frames(1)
    assert.matches("argument #1 'light_occluder'", error_of(LightOccluder.shape, unit))
  end)

  it("refuses shapes without an area, and beyond the limits", function()
    local range = "must be from 0.001 to 10000 metres"
    assert.matches("argument #2 'size': 'size' " .. range,
      error_of(LightOccluder.set_box, wall, Vector2(1, 0)))
    assert.matches("argument #2 'radius': 'radius' " .. range,
      error_of(LightOccluder.set_circle, wall, -1))
    assert.matches("finite", error_of(LightOccluder.set_circle, wall, 0 / 0))
    assert.matches("argument #3 'position': 'position' must be up to 10000 metres from the node",
      error_of(LightOccluder.set_circle, wall, 1, Vector2(1e5, 0)))
    assert.matches("argument #2 'points': 'points' must have 3 to 256 points",
      error_of(LightOccluder.set_polygon, wall, { Vector2(0, 0), Vector2(1, 0) }))
    assert.matches("argument #2 'points': the points of a polygon must enclose an area",
      error_of(LightOccluder.set_polygon, wall, { Vector2(0, 0), Vector2(1, 1), Vector2(2, 2) }))
    assert.matches("argument #2 'points': 'points' must have 2 to 256 points",
      error_of(LightOccluder.set_line, wall, {}))
    local many = {}
    for i = 1, 257 do many[i] = Vector2(i, 0) end
    assert.matches("OCCLUDER_POINTS_MAX", error_of(LightOccluder.set_line, wall, many))
    assert.matches("point 2 must be Vector2 or Vector3, got number 3",
      error_of(LightOccluder.set_line, wall, { Vector2(0, 0), 3 }))
    assert.matches("argument #2 'points' must be a list", error_of(LightOccluder.set_line, wall, 3))
    assert.equals("box", LightOccluder.shape(wall))
  end)

  it("has a height, and can be switched off", function()
    assert.equals(10, LightOccluder.height(wall))
    LightOccluder.set_height(wall, 0.5)
    assert.equals(0.5, LightOccluder.height(wall))
    assert.matches("argument #2 'height': 'height' must be from 0.001 to 10000 metres",
      error_of(LightOccluder.set_height, wall, 0))
    assert.matches("argument #1 'light_occluder'", error_of(LightOccluder.height, 3))
    assert.is_true(LightOccluder.enabled(wall))
    LightOccluder.set_enabled(wall, false)
    assert.is_false(LightOccluder.enabled(wall))
    assert.matches(", off", Unit.inspect(unit))
    assert.matches("argument #2 'enabled'", error_of(LightOccluder.set_enabled, wall, 1))
    assert.matches("argument #1 'light_occluder'", error_of(LightOccluder.enabled, 3))
  end)

  it("is hidden with its unit, and moves with it", function()
    Unit.set_unit_visibility(unit, false)
    test.frames(1)
    Unit.set_unit_visibility(unit, true)
    Unit.set_local_position(unit, 1, Vector3(3, 0, 0))
    Unit.set_local_scale(unit, 1, Vector3(-2, 1, 1))
    test.frames(1)
    assert.is_true(LightOccluder.enabled(wall))
  end)

  it("shares its walls with others, which stay when it ends", function()
    local points = { Vector2(0, 0), Vector2(1, 0), Vector2(0, 1) }
    local others = {}
    for i = 1, 50 do
      local other = World.spawn_unit(world, "core/units/light_occluder", Vector3(i, 0, 0))
      LightOccluder.set_polygon(Unit.light_occluder(other, 1), points)
      others[i] = other
    end
    test.frames(1)
    for i = 1, 49 do World.destroy_unit(world, others[i]) end
    test.frames(1)
    assert.equals("polygon", LightOccluder.shape(Unit.light_occluder(others[50], 1)))
  end)
end)
