-- Suite of the materials of unit sprites and tile maps, and of their visible distance.

local world

-- Returns the draw calls of a view along the y axis: material and instance count of each.
local function shown()
  Application.render_world(world, Application.main_camera())
  test.frames(1)
  local calls = {}
  for _, draw in ipairs(test.draws()) do
    if draw.world == world then
      calls[#calls + 1] = ("%s x%d"):format(draw.material or "none", draw.count)
    end
  end
  return calls
end

local function hero(x)
  local unit = World.spawn_unit(world, "units/hero", Vector3(x, 5, 0))
  local sprite = Unit.sprite(unit, 1)
  Sprite.set_texture(sprite, "pictures/hero/1")
  return sprite, unit
end

describe("a material of a sprite", function()
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("is the one in the unit's file", function()
    local sprite = Unit.sprite(World.spawn_unit(world, "units/ghost", Vector3(0, 5, 0)), 1)
    assert.equals("pictures/wave", Material.name(Sprite.material(sprite)))
    assert.same({ 1, 50 }, { Sprite.range(sprite) })
    assert.matches('layer 3, material "pictures/wave", playing "run"',
      Unit.inspect(Sprite.unit(sprite)), 1, true)
    assert.same({ "pictures/wave x1" }, shown())
  end)

  it("draws all its sprites in one draw call", function()
    local wave = Material.new("pictures/wave")
    local a, b, c = hero(-1), hero(0), hero(1)
    assert.is_nil(Sprite.material(a))
    Sprite.set_material(a, wave)
    Sprite.set_material(b, wave)
    assert.equals(wave, Sprite.material(b))
    Material.set_scalar(wave, "speed", 0.5)
    Sprite.set_layer(c, 4)
    assert.same({ "pictures/wave x2", "none x1" }, shown())
    Sprite.set_material(a, nil)
    assert.is_nil(Sprite.material(a))
    Sprite.set_layer(b, 5)
    assert.same({ "none x2", "pictures/wave x1" }, shown())
    Material.destroy(wave)
    assert.is_nil(Sprite.material(b))
    assert.same({ "none x3" }, shown())
  end)

  it("is shown only in a range of distances", function()
    local sprite = hero(0)
    assert.same({ 0, math.huge }, { Sprite.range(sprite) })
    Sprite.set_range(sprite, 6, 8)
    assert.same({ 6, 8 }, { Sprite.range(sprite) })
    assert.same({}, shown())
    Sprite.set_range(sprite, 4)
    assert.same({ "none x1" }, shown())
  end)
end)

describe("a normal texture of a sprite", function()
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("is the one in the unit's file", function()
    local sprite = Unit.sprite(World.spawn_unit(world, "units/bumpy", Vector3(0, 5, 0)), 1)
    assert.equals("pictures/noise", Sprite.normal_texture(sprite))
    assert.same({ "none x1" }, shown())
    Sprite.set_normal_texture(sprite, nil)
    assert.is_nil(Sprite.normal_texture(sprite))
    assert.same({ "none x1" }, shown())
    Sprite.set_normal_texture(sprite, "pictures/hero/1")
    assert.equals("pictures/hero/1", Sprite.normal_texture(sprite))
    Sprite.set_sheet(sprite, "pictures/hero", "run")
    assert.same({ "none x1" }, shown())
    local _, message = pcall(Sprite.set_normal_texture, sprite, "pictures/nois")
    assert.matches("pictures/nois", message)
  end)

  it("is only for sprites that are lit", function()
    local sprite = hero(0)
    assert.is_nil(Sprite.normal_texture(sprite))
    local _, message = pcall(Sprite.set_normal_texture, sprite, "pictures/noise")
    assert.matches("argument #2 'name': no light affects the sprite", message)
    assert.has_error(function() Sprite.normal_texture(3) end)
  end)
end)

describe("normals of a sheet", function()
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("are shown in light, in one draw call", function()
    local a = Unit.sprite(World.spawn_unit(world, "units/sloped", Vector3(-1, 5, 0)), 1)
    local b = Unit.sprite(World.spawn_unit(world, "units/sloped", Vector3(1, 5, 0)), 1)
    assert.is_nil(Sprite.normal_texture(a))
    assert.same({ "none x2" }, shown())
    Sprite.set_texture(a, "pictures/slopes/1")
    Sprite.set_texture(b, "pictures/slopes/3")
    assert.same({ "none x2" }, shown())
    -- The same frames without normals are another sheet.
    Sprite.set_texture(b, "pictures/hero/3")
    assert.same({ "none x1", "none x1" }, shown())
    Sprite.set_normal_texture(a, "pictures/noise")
    assert.same({ "none x1", "none x1" }, shown())
  end)
end)

describe("a material of a tile map", function()
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("applies to the whole map", function()
    local unit = World.spawn_unit(world, "units/cave", Vector3(0, 5, -1))
    local map = Unit.tilemap(unit, 1)
    assert.is_nil(Tilemap.material(map))
    local plain = #shown()
    assert.is_true(plain > 0)
    local wave = Material.new("pictures/wave")
    Tilemap.set_material(map, wave)
    assert.equals(wave, Tilemap.material(map))
    local calls = shown()
    assert.equals(plain, #calls)
    for _, call in ipairs(calls) do assert.matches("pictures/wave", call, 1, true) end
    Material.destroy(wave)
    assert.is_nil(Tilemap.material(map))
    assert.matches("none", shown()[1], 1, true)
  end)
end)

describe("invalid materials", function()
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("reports invalid arguments", function()
    local sprite = hero(0)
    local function check(message, fn, ...)
      local arguments, count = { ... }, select("#", ...)
      assert.error_matches(function() fn(unpack(arguments, 1, count)) end, message)
    end
    local rust = Material.new("materials/rust")
    check("Sprite.set_material: argument #2 'material': the material 'materials/rust' is for "
      .. "meshes: sprites and tile maps take one for pictures", Sprite.set_material, sprite, rust)
    check("argument #2 'material' must be Material or nil, got string", Sprite.set_material, sprite,
      "pictures/wave")
    check("argument #1 'sprite' must be Sprite, got nothing", Sprite.material)
    check("argument #1 'sprite' must be Sprite, got nothing", Sprite.range)
    check("Sprite.set_range: argument #2 'near' must be 0 or more and less than 'far', got 3 and 2",
      Sprite.set_range, sprite, 3, 2)
    local loose = Tilemap.new("maps/cave")
    local wave = Material.new("pictures/wave")
    check("Tilemap.set_material: argument #1 'tilemap': the map belongs to no unit, and only maps "
      .. "of units have materials", Tilemap.set_material, loose, wave)
    check("Tilemap.material: argument #1 'tilemap': the map belongs to no unit", Tilemap.material,
      loose)
    local map = Unit.tilemap(World.spawn_unit(world, "units/cave"), 1)
    check("Tilemap.set_material: argument #2 'material': the material 'materials/rust' is for "
      .. "meshes", Tilemap.set_material, map, rust)
    Material.destroy(wave)
    Material.destroy(rust)
  end)

  it("are reported for unit files", function()
    local function check(message, unit)
      assert.error_matches(function() World.spawn_unit(world, unit) end, message)
    end
    check("component 'body': the material 'materials/rust' is for meshes: sprites and tile maps "
      .. "take one for pictures, with a shader or a blend", "units/bad_painter")
  end)
end)
