-- Suite of the decals of units.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a decal", function()
  local world, unit, decal

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/decal", Vector3(0, 0, 4))
    decal = Unit.decal(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("belongs to a node of its unit", function()
    assert.is_true(Decal.alive(decal))
    assert.is_false(Decal.alive(nil))
    assert.equals(unit, Decal.unit(decal))
    assert.equals(1, Decal.node(decal))
    assert.equals(decal, Unit.decal(unit, "decal"))
    assert.is_true(Unit.has_decal(unit, 1))
    assert.is_false(Unit.has_decal(unit, "mark"))
    assert.equals(1, Unit.num_decals(unit))
    assert.equals("Unit.decal: argument #2 'decal': unit \"core/units/decal\" has the decals 1 to "
      .. "1, got 3", error_of(Unit.decal, unit, 3))
    assert.matches("decal 1 at node 1, size", Unit.inspect(unit))
    World.destroy_unit(world, unit)
    assert.is_false(Decal.alive(decal))
    assert.matches("argument #1 'decal'", error_of(Decal.unit, decal))
    assert.matches("argument #1 'decal'", error_of(Decal.node, decal))
    assert.matches("argument #1 'unit'", error_of(Unit.has_decal, unit, 1))
    assert.matches("argument #1 'unit'", error_of(Unit.num_decals, unit))
  end)

  it("has a size", function()
    assert.equals(Vector3(1, 1, 1), Decal.size(decal))
    Decal.set_size(decal, Vector3(2, 0.5, 3))
    assert.equals(Vector3(2, 0.5, 3), Decal.size(decal))
    for _, wrong in ipairs { Vector3(0, 1, 1), Vector3(1, -1, 1), Vector3(1, 1, 1e5) } do
      assert.matches("argument #2 'size': 'size' must have sides above 0 and up to 10000 metres",
        error_of(Decal.set_size, decal, wrong))
    end
    assert.matches("argument #1 'decal'", error_of(Decal.size, unit))
  end)

  it("has a colour and strengths", function()
    assert.equals(Color(255, 255, 255), Decal.color(decal))
    Decal.set_color(decal, Color(128, 64, 0, 200))
    assert.equals(Color(128, 64, 0, 200), Decal.color(decal))
    for _, name in ipairs { "opacity", "color_strength" } do
      assert.equals(1, Decal[name](decal))
      Decal["set_" .. name](decal, 0.25)
      assert.equals(0.25, Decal[name](decal))
      for _, wrong in ipairs { -0.1, 1.1 } do
        assert.matches("'" .. name .. "' must be from 0 to 1, got",
          error_of(Decal["set_" .. name], decal, wrong))
      end
      assert.matches("must be a finite number", error_of(Decal["set_" .. name], decal, 0 / 0))
      assert.matches("argument #1 'decal'", error_of(Decal[name], 3))
    end
    assert.matches("argument #2 'color'", error_of(Decal.set_color, decal, 3))
    assert.matches("argument #1 'decal'", error_of(Decal.color, 3))
  end)

  it("has a roughness or none", function()
    assert.is_nil(Decal.roughness(decal))
    Decal.set_roughness(decal, 0.5)
    assert.equals(0.5, Decal.roughness(decal))
    Decal.set_roughness(decal, nil)
    assert.is_nil(Decal.roughness(decal))
    assert.matches("'roughness' must be from 0 to 1, got 2",
      error_of(Decal.set_roughness, decal, 2))
    assert.matches("argument #1 'decal'", error_of(Decal.roughness, 3))
  end)

  it("emits light", function()
    assert.equals(0, Decal.emissive(decal))
    Decal.set_emissive(decal, 8)
    assert.equals(8, Decal.emissive(decal))
    assert.matches("'emissive' must be from 0 to 1000000, got",
      error_of(Decal.set_emissive, decal, -1))
    assert.has_error(function() Decal.set_emissive(decal, 1e7) end)
    assert.matches("argument #1 'decal'", error_of(Decal.emissive, 3))
  end)

  it("has textures", function()
    for _, channel in ipairs { "color", "normal", "roughness", "emissive" } do
      Decal.set_texture(decal, channel, "pictures/noise")
      test.frames(1)
      Decal.set_texture(decal, channel, nil)
    end
    assert.matches("pictures/nois", error_of(Decal.set_texture, decal, "color", "pictures/nois"))
    assert.equals("Decal.set_texture: argument #2 'channel' must be \"color\", \"normal\", "
      .. "\"roughness\" or \"emissive\", got \"colour\", did you mean 'color'?",
      error_of(Decal.set_texture, decal, "colour", nil))
  end)

  it("returns its textures, fades and lifetime", function()
    for _, channel in ipairs { "color", "normal", "roughness", "emissive" } do
      assert.is_nil(Decal.texture(decal, channel))
      Decal.set_texture(decal, channel, "pictures/noise")
      assert.equals("pictures/noise", Decal.texture(decal, channel))
    end
    assert.matches("argument #2 'channel' must be", error_of(Decal.texture, decal, "colour"))
    assert.equals(1, Decal.normal_strength(decal))
    Decal.set_normal_strength(decal, 2.5)
    assert.equals(2.5, Decal.normal_strength(decal))
    assert.matches("argument #2 'strength': 'normal_strength' must be from 0 to 16, got 17",
      error_of(Decal.set_normal_strength, decal, 17))
    assert.matches("argument #1 'decal'", error_of(Decal.normal_strength, 3))
    Decal.set_angle_fade(decal, 0.5, 1.25)
    assert.same({ 0.5, 1.25 }, { Decal.angle_fade(decal) })
    Decal.set_distance_fade(decal, 20, 30)
    assert.same({ 20, 30 }, { Decal.distance_fade(decal) })
    assert.same({ nil, 1 }, { Decal.lifetime(decal) })
    Decal.set_lifetime(decal, 10, 2.5)
    test.frames(3)
    local seconds, fade = Decal.lifetime(decal)
    assert.is_true(seconds < 10 and seconds > 9)
    assert.equals(2.5, fade)
    Decal.set_lifetime(decal, 0.01)
    test.frames(3)
    assert.equals(0, (Decal.lifetime(decal)))
    Decal.set_lifetime(decal, 0)
    assert.matches("argument #1 'decal'", error_of(Decal.texture, 3, "color"))
    for _, name in ipairs { "angle_fade", "distance_fade", "lifetime" } do
      assert.matches("argument #1 'decal'", error_of(Decal[name], 3))
    end
  end)

  it("is hidden with its unit", function()
    Unit.set_unit_visibility(unit, false)
    test.frames(1)
    Unit.set_unit_visibility(unit, true)
    test.frames(1)
    assert.is_true(Decal.enabled(decal))
  end)

  it("has an order and light layers", function()
    assert.equals(0, Decal.order(decal))
    Decal.set_order(decal, -7)
    assert.equals(-7, Decal.order(decal))
    for _, wrong in ipairs { 0.5, 1000001, -1000001 } do
      assert.matches("'order' must be a whole number", error_of(Decal.set_order, decal, wrong))
    end
    assert.matches("argument #1 'decal'", error_of(Decal.order, 3))
    assert.equals(255, Decal.layers(decal))
    Decal.set_layers(decal, 6)
    assert.equals(6, Decal.layers(decal))
    assert.matches("argument #2 'layers' must be a whole number from 0 to 255",
      error_of(Decal.set_layers, decal, 256))
    assert.matches("argument #1 'decal'", error_of(Decal.layers, 3))
  end)

  it("fades by angle, by distance and by time", function()
    Decal.set_angle_fade(decal, 0.5, 1)
    Decal.set_distance_fade(decal, 20, 30)
    Decal.set_distance_fade(decal, 0, 0)
    Decal.set_lifetime(decal, 10)
    Decal.set_lifetime(decal, 10, 2.5)
    Decal.set_lifetime(decal, 0)
    assert.matches("argument #3 'finish': the angles of its fade must rise",
      error_of(Decal.set_angle_fade, decal, 1, 0.5))
    assert.matches("argument #3 'finish': the angles of its fade must rise",
      error_of(Decal.set_angle_fade, decal, 0, 60))
    assert.matches("argument #2 'begin': the angles of its fade must rise",
      error_of(Decal.set_angle_fade, decal, -1, 1))
    assert.matches("argument #3 'finish': the distances of its fade must rise",
      error_of(Decal.set_distance_fade, decal, 30, 20))
    assert.matches("argument #2 'begin': the distances of its fade must rise",
      error_of(Decal.set_distance_fade, decal, -1, 20))
    assert.matches("argument #2 'seconds': 'lifetime' must be from 0 to",
      error_of(Decal.set_lifetime, decal, -1))
    assert.matches("argument #3 'fade': 'fade_time' must be from 0 to",
      error_of(Decal.set_lifetime, decal, 1, -1))
  end)

  it("can be switched off", function()
    assert.is_true(Decal.enabled(decal))
    Decal.set_enabled(decal, false)
    assert.is_false(Decal.enabled(decal))
    test.frames(2)
    assert.matches("argument #2 'enabled'", error_of(Decal.set_enabled, decal, 1))
    assert.matches("argument #1 'decal'", error_of(Decal.enabled, 3))
  end)
end)
