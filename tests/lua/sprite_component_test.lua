-- Suite of sprites and tile maps as components of units. Their file formats are tested in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local HERO = "pictures/hero"
local world

-- Returns the draw calls of a view along the y axis: unit and instance count of each.
local function shown()
  Application.render_world(world, Application.main_camera())
  test.frames(1)
  local calls = {}
  for _, draw in ipairs(test.draws()) do
    if draw.world == world then
      calls[#calls + 1] = ("%s x%d"):format(draw.unit or draw.name, draw.count)
    end
  end
  return calls
end

describe("a sprite of a unit", function()
  local unit, sprite

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "units/hero", Vector3(0, 5, 0))
    sprite = Unit.sprite(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("belongs to a node of its unit", function()
    assert.is_true(Sprite.alive(sprite))
    assert.equals(unit, Sprite.unit(sprite))
    assert.equals(1, Sprite.node(sprite))
    assert.equals(sprite, Unit.sprite(unit, "body"))
    assert.is_true(Unit.has_sprite(unit, "body"))
    assert.is_false(Unit.has_sprite(unit, 2))
    assert.equals(1, Unit.num_sprites(unit))
    World.destroy_unit(world, unit)
    assert.is_false(Sprite.alive(sprite))
  end)

  it("plays its animation while its world is updated", function()
    local names = {}
    for i = 1, 5 do
      names[i] = Sprite.frame(sprite):match("[^/]+$")
      World.update(world, 0.25)
    end
    assert.equals("1 2 3 1 2", table.concat(names, " "))
    Sprite.set_speed(sprite, 0)
    World.update(world, 10)
    assert.equals(HERO .. "/3", Sprite.frame(sprite))
    Sprite.set_speed(sprite, 2)
    Sprite.play(sprite, "fall")
    assert.equals(HERO .. "/3", Sprite.frame(sprite))
    assert.is_false(Sprite.finished(sprite))
    World.update(world, 0.125)
    assert.equals(HERO .. "/4", Sprite.frame(sprite))
    World.update(world, 10)
    assert.equals(HERO .. "/4", Sprite.frame(sprite))
    assert.is_true(Sprite.finished(sprite))
    Sprite.play(sprite, "fall")
    assert.is_false(Sprite.finished(sprite))
  end)

  it("can show another sheet, or an image", function()
    Sprite.set_sheet(sprite, "pictures/blink")
    assert.equals("pictures/blink/1", Sprite.frame(sprite))
    World.update(world, 1.05)
    assert.equals("pictures/blink/2", Sprite.frame(sprite))
    Sprite.set_texture(sprite, HERO .. "/4")
    World.update(world, 1)
    assert.equals(HERO .. "/4", Sprite.frame(sprite))
    assert.is_true(Sprite.finished(sprite))
  end)

  it("shows a render texture while it exists", function()
    local screen = Application.create_viewport("monitor", 64, 32)
    Application.render_world(world, Application.main_camera(), screen)
    Sprite.set_texture(sprite, "monitor")
    assert.equals("monitor", Sprite.frame(sprite))
    assert.same({ 8, 4 }, { Sprite.size(sprite) })
    -- On the screen, and inside the image that the sprite shows.
    assert.same({ "units/hero x1", "units/hero x1" }, shown())
    Application.destroy_viewport(screen)
    assert.same({ "units/hero x1" }, shown())
    assert.equals("", Sprite.frame(sprite))
  end)

  it("has the size of its texels, or the size that is set", function()
    assert.same({ 1, 1 }, { Sprite.size(sprite) })
    assert.same({ 0.5, 0 }, { Sprite.pivot(sprite) })
    local pose, half = Unit.box(unit)
    assert.equals(Vector3(0, 5, 0.5), Matrix4x4.translation(pose))
    assert.equals(Vector3(0.5, 0, 0.5), half)
    Sprite.set_part(sprite, 0, 4, 8, 4)
    assert.same({ 1, 0.5 }, { Sprite.size(sprite) })
    Sprite.set_size(sprite, 3, 4)
    Sprite.set_pivot(sprite, 0, 1)
    assert.same({ 3, 4 }, { Sprite.size(sprite) })
    assert.equals(Vector3(1.5, 5, -2), Matrix4x4.translation((Unit.box(unit))))
    Sprite.set_part(sprite)
    Sprite.set_size(sprite)
    assert.same({ 1, 1 }, { Sprite.size(sprite) })
  end)

  it("has the fields of its file on top of inherited ones", function()
    local red = World.spawn_unit(world, "units/red_hero")
    local body, sword = Unit.sprite(red, "body"), Unit.sprite(red, "sword")
    assert.equals(2, Unit.num_sprites(red))
    assert.equals(HERO .. "/1", Sprite.frame(body))
    assert.equals(Color(128, 255, 0, 0), Sprite.tint(body))
    assert.same({ true, false }, { Sprite.flip_x(body), Sprite.flip_y(body) })
    assert.equals(1, Sprite.layer(body))
    assert.equals("textures/ship", Sprite.frame(sword))
    assert.equals(2, Sprite.node(sword))
    assert.same({ 2, 0.5 }, { Sprite.size(sword) })
    Sprite.set_tint(body, Color(0, 0, 255))
    assert.equals(Color(0, 0, 255), Sprite.tint(body))
    Sprite.set_flip(body, false, true)
    assert.same({ false, true }, { Sprite.flip_x(body), Sprite.flip_y(body) })
    assert.equals(Color(255, 255, 255), Sprite.tint(sprite))
  end)

  it("shares a draw call with other sprites of its sheet, and has none out of view", function()
    assert.same({ "units/hero x1" }, shown())
    for x = 1, 3 do
      local other = World.spawn_unit(world, "units/hero", Vector3(x / 2, 5, 0))
      Sprite.set_sheet(Unit.sprite(other, 1), HERO, "back")
    end
    World.spawn_unit(world, "units/hero", Vector3(0, -5, 0))
    assert.same({ "units/hero x4" }, shown())
    Unit.set_local_position(unit, 1, Vector3(0, -5, 0))
    assert.same({ "units/hero x3" }, shown())
  end)

  it("is drawn in the order of layers, regardless of distance", function()
    local red = World.spawn_unit(world, "units/red_hero", Vector3(0, 2, 0))
    -- It has another texture, and so its own draw call.
    Sprite.set_visibility(Unit.sprite(red, "body"), false)
    assert.is_false(Sprite.visibility(Unit.sprite(red, "body")))
    Unit.set_local_position(red, 2, Vector3(0, 0, 0))
    assert.same({ "units/red_hero x1", "units/hero x1" }, shown())
    Sprite.set_layer(sprite, -1)
    assert.equals(-1, Sprite.layer(sprite))
    assert.same({ "units/hero x1", "units/red_hero x1" }, shown())
    Sprite.set_layer(sprite, 0)
    assert.same({ "units/hero x1", "units/red_hero x1" }, shown())
  end)

  it("is hidden with its unit and its group", function()
    Unit.set_visibility(unit, "skin", false)
    assert.same({}, shown())
    assert.is_true(Sprite.visibility(sprite))
    Unit.set_visibility(unit, "skin", true)
    Unit.set_unit_visibility(unit, false)
    assert.same({}, shown())
    Unit.set_unit_visibility(unit, true)
    Sprite.set_visibility(sprite, false)
    assert.same({}, shown())
    assert.matches('sprite 1 "pictures/hero/1" at node 1, 1.00 x 1.00 m, layer 3, playing "run" of '
      .. '"pictures/hero" at 0.00 s, hidden', Unit.inspect(unit), 1, true)
    Sprite.set_visibility(sprite, true)
    assert.same({ "units/hero x1" }, shown())
  end)
end)

describe("a tile map of a unit", function()
  local unit, map

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "units/cave", Vector3(-2, 5, -1),
      Quaternion.axis_angle(Vector3(1, 0, 0), math.pi / 2))
    map = Unit.tilemap(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("is an ordinary tile map, and is destroyed with its unit", function()
    assert.equals(map, Unit.tilemap(unit, "ground"))
    assert.is_true(Unit.has_tilemap(unit, 1))
    assert.is_false(Unit.has_tilemap(unit, "roof"))
    assert.equals(1, Unit.num_tilemaps(unit))
    assert.equals(unit, Tilemap.unit(map))
    assert.same({ 4, 3 }, { Tilemap.size(map) })
    local other = Tilemap.new("maps/cave")
    assert.is_nil(Tilemap.unit(other))
    Tilemap.destroy(other)
    World.destroy_unit(world, unit)
    assert.is_false(Tilemap.alive(map))
  end)

  it("converts world positions to cells", function()
    assert.same({ 1, 1 }, { Tilemap.cell_at_position(map, Vector3(-1.5, 5, -0.5)) })
    assert.same({ 4, 3 }, { Tilemap.cell_at_position(map, Vector3(1.5, 7, 1.5)) })
    assert.same({ 0, 4 }, { Tilemap.cell_at_position(map, Vector3(-2.5, 5, 2.5)) })
  end)

  it("is drawn layer by layer with its current tiles", function()
    assert.same({ "units/cave x1", "units/cave x1" }, shown())
    assert.matches('tilemap 1 "maps/cave" at node 1, 4 x 3 cells, layer 0', Unit.inspect(unit), 1,
      true)
    Tilemap.set_tile(map, "roof", 2, 2, 0)
    assert.same({ "units/cave x1" }, shown())
    Tilemap.set_tile(map, "roof", 1, 1, 3)
    assert.same({ "units/cave x1", "units/cave x1" }, shown())
    Tilemap.set_layer_visible(map, "ground", false)
    assert.same({ "units/cave x1" }, shown())
    Unit.set_unit_visibility(unit, false)
    assert.same({}, shown())
    Unit.set_unit_visibility(unit, true)
    Unit.set_local_position(unit, 1, Vector3(0, -50, 0))
    assert.same({}, shown())
  end)

  it("is below sprites of higher layers", function()
    World.spawn_unit(world, "units/hero", Vector3(0, 9, 0))
    assert.same({ "units/cave x1", "units/cave x1", "units/hero x1" }, shown())
  end)
end)

describe("invalid use of sprites and tile maps of units", function()
  it("reports invalid arguments", function()
    world = Application.new_world()
    local hero = World.spawn_unit(world, "units/hero")
    local sprite = Unit.sprite(hero, 1)
    local function check(message, fn, ...)
      assert.equals(message, error_of(fn, ...))
    end
    check("Unit.sprite: argument #2 'sprite': unit \"units/hero\" has the sprites 1 to 1, got 2",
      Unit.sprite, hero, 2)
    check("Unit.sprite: argument #2 'sprite': unit \"units/hero\" has no sprite 'bdy', did you "
      .. "mean 'body'?", Unit.sprite, hero, "bdy")
    check("Unit.tilemap: argument #2 'tilemap': unit \"units/hero\" has no tilemaps",
      Unit.tilemap, hero, 1)
    check("Unit.has_sprite: argument #2 'sprite' must be string|integer, got boolean true",
      Unit.has_sprite, hero, true)
    check("Sprite.set_texture: argument #2 'texture': the sheet 'pictures/hero' has no frame '9': "
      .. "it has 4 frames, '1' to '4'", Sprite.set_texture, sprite, HERO .. "/9")
    check("Sprite.play: argument #2 'tag': the sheet 'pictures/hero' has no tag 'rum', did you "
      .. "mean 'run'?", Sprite.play, sprite, "rum")
    check("Unit.sprite: argument #2 'sprite': unit \"units/hero\" has no sprite 'picture': it has "
      .. "'body'", Unit.sprite, hero, "picture")
    assert.matches("the sheet 'pictures/hero' has no tag 'walking': it has '",
      error_of(Sprite.play, sprite, "walking"), 1, true)
    check("Sprite.set_sheet: there is no sheet 'pictures/here', did you mean 'pictures/hero'?",
      Sprite.set_sheet, sprite, "pictures/here")
    check("Sprite.set_layer: argument #2 'layer' must be a whole number of at most 1000000, got "
      .. "0.5", Sprite.set_layer, sprite, 0.5)
    check("Sprite.set_part: the part needs left, top, width and height, or none", Sprite.set_part,
      sprite, 1)
    check("Sprite.set_part: the part must be left, top, width and height in texels, the latter "
      .. "above 0, got 0, 0, 0, 4", Sprite.set_part, sprite, 0, 0, 0, 4)
    check("Sprite.set_size: the size needs a width and a height above 0, or none", Sprite.set_size,
      sprite, 0, 1)
    check("Sprite.set_speed: argument #2 'speed' must be a number of at least 0, got -1",
      Sprite.set_speed, sprite, -1)
    check("Sprite.update: argument #1 'sprite' belongs to a unit: World.update advances it",
      Sprite.update, sprite, 1)
    Sprite.set_texture(sprite, "textures/ship")
    check("Sprite.play: the sprite shows a picture and plays no sheet: use "
      .. "Sprite.set_sheet(sprite, sheet, tag)", Sprite.play, sprite, "run")
    local map = Unit.tilemap(World.spawn_unit(world, "units/cave"), 1)
    check("Tilemap.destroy: argument #1 'tilemap': the map belongs to a unit, and is destroyed "
      .. "with it: use World.destroy_unit(world, unit)", Tilemap.destroy, map)
    local own = Tilemap.new("maps/cave")
    check("Tilemap.cell_at_position: argument #1 'tilemap': the map belongs to no unit, so it "
      .. "has no position in a world: use Tilemap.cell_at(tilemap, x, y)",
      Tilemap.cell_at_position, own, Vector3(0, 0, 0))
    Tilemap.destroy(own)
    check("World.spawn_unit: component 'body': the sheet 'pictures/hero' has no tag 'rum', did you "
      .. "mean 'run'?", World.spawn_unit, world, "units/bad_tag")
    check("World.spawn_unit: component 'ground': the tile map 'maps/world' has no level "
      .. "'Level_9'", World.spawn_unit, world, "units/bad_level")
    for _, fn in ipairs({ "unit", "node", "size", "pivot", "tint", "layer", "flip_x",
      "flip_y", "visibility" }) do
      assert.matches("Sprite." .. fn .. ": argument #1 'sprite' must be",
        error_of(Sprite[fn], nil), 1, true)
    end
    assert.matches("argument #2 'visible' must be boolean", error_of(Sprite.set_visibility, sprite),
      1, true)
    assert.matches("argument #2 'color' must be Color", error_of(Sprite.set_tint, sprite, 3), 1,
      true)
    assert.matches("argument #2 'x' must be boolean", error_of(Sprite.set_flip, sprite, 1), 1, true)
    assert.matches("argument #2 'x' must be number", error_of(Sprite.set_pivot, sprite), 1, true)
    for _, fn in ipairs({ "num_sprites", "num_tilemaps" }) do
      assert.matches("Unit." .. fn .. ": argument #1 'unit' must be", error_of(Unit[fn], nil), 1,
        true)
    end
    check("Unit.has_tilemap: argument #2 'tilemap' must be string|integer, got boolean true",
      Unit.has_tilemap, hero, true)
    assert.matches("Tilemap.unit: argument #1 'tilemap' must be", error_of(Tilemap.unit, "x"), 1,
      true)
    assert.has_error(function() Sprite.alive("x") end)
    Application.release_world(world)
  end)
end)
