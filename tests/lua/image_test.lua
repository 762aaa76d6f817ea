-- Suite of Image: pixels, blits, sizes, textures and files. Pictures of frames and files are tested
-- in Rust (tests/images.rs).

local RED, GREEN, CLEAR = Color(255, 0, 0), Color(0, 255, 0), Color(0, 0, 0, 0)

local function check(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_true(tostring(got):find(message, 1, true) ~= nil, tostring(got))
end

-- Returns a part of a pixel: a number from 0 to 255.
local function part(image, x, y, name) return Image.pixel(image, x, y)[name] end

-- Checks a part of a pixel, which may be rounded in another way.
local function near(wanted, image, x, y, name)
  assert.is_true(math.abs(part(image, x, y, name) - wanted) <= 1, tostring(image:pixel(x, y)))
end

describe("an image", function()
  it("is created transparent, or with a color", function()
    local image = Image.new(3, 2)
    assert.same({ 3, 2 }, { Image.size(image) })
    assert.equals(CLEAR, Image.pixel(image, 2, 1))
    assert.equals(RED, Image.pixel(Image.new(3, 2, RED), 2, 1))
    assert.equals("Image(3 x 2)", tostring(image))
    assert.is_true(image == image and image ~= Image.new(3, 2) and image ~= 3)
  end)

  it("has a limited size", function()
    check("Image.new: argument #1 'width' must be a whole number from 1 to 16384, got number 0",
      Image.new, 0, 1)
    check("must be a whole number from 1 to 16384, got number 16385", Image.new, 1, 16385)
    check("must be a whole number from 1 to 16384, got number 1.5", Image.new, 1, 1.5)
    check("must be a whole number from 1 to 16384, got nil", Image.new, 1)
    check("Image.new: an image has at most 16777216 pixels (IMAGE_PIXELS_MAX), and 16384 x 1025 "
      .. "are 16793600", Image.new, 16384, 1025)
    check("Image.new: argument #3 'color' must be Color, got string \"red\"", Image.new, 1, 1,
      "red")
  end)

  it("keeps rounded and limited parts of colors", function()
    local image = Image.new(2, 2)
    Image.set_pixel(image, 1, 0, Color(300, -5, 1.4, 1.6))
    assert.equals(Color(255, 0, 1, 2), Image.pixel(image, 1, 0))
    Image.set_pixel(image, 1, 0, Color(0 / 0, 1, 2, 3))
    assert.equals(0, part(image, 1, 0, "a"))
    assert.equals(CLEAR, image:pixel(0, 1))
  end)

  it("refuses what is no pixel", function()
    local image = Image.new(3, 2)
    for _, at in ipairs { { 3, 0 }, { 0, 2 }, { -1, 0 }, { 0.5, 0 }, { 0 / 0, 0 } } do
      check(" is no pixel: x is a whole number from 0 to 2, y from 0 to 1", Image.pixel, image,
        at[1], at[2])
      check(" is no pixel: ", Image.set_pixel, image, at[1], at[2], RED)
    end
    check("Image.pixel: 3, 0 is no pixel", Image.pixel, image, 3, 0)
    check("Image.pixel: argument #3 'y' must be number, got nil", Image.pixel, image, 0)
    check("Image.pixel: argument #1 'image' must be Image, got nil", Image.pixel)
    check("Image.set_pixel: argument #4 'color' must be Color, got number 3", Image.set_pixel,
      image, 0, 0, 3)
    check("cannot set string \"x\" of an Image: use Image.set_pixel", function() image.x = 1 end)
    check("Image has no field 'width': it has the functions of Image", function()
      return image.width
    end)
  end)

  it("is filled as a whole and in part", function()
    local image = Image.new(4, 4, RED)
    Image.fill(image, GREEN, 1, 1, 2, 3)
    assert.equals(GREEN, Image.pixel(image, 2, 3))
    assert.equals(RED, Image.pixel(image, 3, 3))
    assert.equals(RED, Image.pixel(image, 0, 1))
    Image.fill(image, CLEAR)
    assert.equals(CLEAR, Image.pixel(image, 2, 3))
    check("Image.fill: argument #5 'width' must be a whole number from 1 to 3, got number 4",
      Image.fill, image, RED, 1, 0, 4, 1)
    check("argument #4 'y' must be a whole number from 0 to 3, got nil", Image.fill, image, RED, 1)
  end)

  it("is computed by a function of each pixel", function()
    local image, calls = Image.new(3, 2, Color(7, 1, 2, 3)), 0
    Image.map(image, function(x, y, color)
      calls = calls + 1
      return Color(color.a, x * 10, y * 10, color.b)
    end)
    assert.equals(6, calls)
    assert.equals(Color(7, 20, 10, 3), Image.pixel(image, 2, 1))
    Image.map(image, function() return GREEN end, 0, 0, 1, 2)
    assert.equals(GREEN, Image.pixel(image, 0, 1))
    assert.equals(Color(7, 10, 10, 3), Image.pixel(image, 1, 1))
    check("Image.map: the function must return a Color, got nil at 1, 0", Image.map, image,
      function(x) if x == 0 then return RED end end)
    check("Image.map: argument #2 'f' must be function, got nil", Image.map, image)
  end)

  it("is copied, and becomes bytes and an image again", function()
    local image = Image.new(3, 2, RED)
    Image.set_pixel(image, 2, 1, GREEN)
    local copy = Image.copy(image, 1, 1, 2, 1)
    assert.same({ 2, 1 }, { Image.size(copy) })
    assert.equals(GREEN, Image.pixel(copy, 1, 0))
    Image.fill(image, CLEAR)
    assert.equals(RED, Image.pixel(copy, 0, 0))
    assert.equals("\255\0\0\255\0\255\0\255", Image.bytes(copy))
    local again = Image.from_bytes(1, 2, Image.bytes(copy))
    assert.equals(GREEN, Image.pixel(again, 0, 1))
    check("Image.from_bytes: 2 x 2 pixels have 16 bytes, got 8", Image.from_bytes, 2, 2,
      Image.bytes(copy))
    check("Image.from_bytes: argument #3 'bytes' must be string, got nil", Image.from_bytes, 2, 2)
  end)
end)

describe("Image.load", function()
  it("reads the picture of a texture or a frame", function()
    local image = Image.load("pictures/hero")
    assert.same({ 32, 8 }, { Image.size(image) })
    local frame = Image.load("pictures/hero/4")
    assert.same({ 8, 8 }, { Image.size(frame) })
    for y = 0, 7 do
      for x = 0, 7 do
        assert.equals(Image.pixel(image, 24 + x, y), Image.pixel(frame, x, y))
      end
    end
  end)

  it("refuses what is no picture", function()
    check("Image.load: argument #1 'name': there is no texture 'pictures/hear'", Image.load,
      "pictures/hear")
    check("Image.load: argument #1 'name' must be string, got nil", Image.load)
  end)
end)

describe("Image.blit", function()
  local target, source
  before_each(function()
    target, source = Image.new(4, 4, RED), Image.new(2, 2, GREEN)
  end)

  it("draws over a part of the target", function()
    Image.blit(target, source, 1, 2)
    assert.equals(GREEN, Image.pixel(target, 1, 2))
    assert.equals(GREEN, Image.pixel(target, 2, 3))
    assert.equals(RED, Image.pixel(target, 3, 3))
    assert.equals(RED, Image.pixel(target, 1, 1))
  end)

  it("leaves out what is beyond the edges", function()
    Image.set_pixel(source, 1, 1, Color(9, 8, 7))
    Image.blit(target, source, -1, -1)
    assert.equals(Color(9, 8, 7), Image.pixel(target, 0, 0))
    assert.equals(RED, Image.pixel(target, 1, 0))
    Image.blit(target, source, 3, 3)
    assert.equals(GREEN, Image.pixel(target, 3, 3))
    for _, at in ipairs { { 4, 0 }, { 0, 99 }, { -2, 0 }, { 0, -65536 } } do
      Image.blit(target, source, at[1], at[2])
    end
    assert.equals(RED, Image.pixel(target, 2, 0))
  end)

  it("draws a part of the source", function()
    Image.set_pixel(source, 1, 0, Color(9, 8, 7))
    Image.blit(target, source, 0, 0, { part = { 1, 0, 1, 1 } })
    assert.equals(Color(9, 8, 7), Image.pixel(target, 0, 0))
    assert.equals(RED, Image.pixel(target, 1, 0))
  end)

  it("blends in linear light", function()
    Image.fill(source, Color(128, 0, 255, 0))
    Image.blit(target, source, 0, 0)
    assert.equals(255, part(target, 0, 0, "a"))
    near(188, target, 0, 0, "g")
    Image.fill(target, Color(100, 100, 100))
    Image.fill(source, Color(100, 100, 100))
    Image.blit(target, source, 0, 0, { blend = "add" })
    near(137, target, 0, 0, "r")
    Image.fill(source, Color(255, 0, 0))
    Image.blit(target, source, 2, 2, { blend = "multiply" })
    assert.equals(Color(100, 0, 0), Image.pixel(target, 2, 2))
    Image.fill(source, Color(0, 1, 2, 3))
    Image.blit(target, source, 0, 0)
    assert.equals(255, part(target, 0, 0, "a"))
    Image.blit(target, source, 0, 0, { blend = "replace" })
    assert.equals(Color(0, 1, 2, 3), Image.pixel(target, 0, 0))
    Image.fill(source, Color(128, 10, 20, 30))
    Image.blit(target, source, 0, 0)
    assert.equals(Color(128, 10, 20, 30), Image.pixel(target, 0, 0))
  end)

  it("moves a part of an image within it", function()
    local image = Image.new(4, 1)
    Image.map(image, function(x) return Color(x, 0, 0) end)
    Image.blit(image, image, 1, 0)
    local got = {}
    for x = 0, 3 do got[x + 1] = part(image, x, 0, "r") end
    assert.same({ 0, 0, 1, 2 }, got)
  end)

  it("has a type with a name", function()
    assert.equals("Image", Script.type_name(target))
    check("cannot add Image and number 1", function() return target + 1 end)
    check("cannot subtract number 1 from Image", function() return target - 1 end)
    check("cannot multiply number 2 and Image", function() return 2 * target end)
    check("got Image", Unit.num_nodes, target)
    check("'buffer' must be SoundBuffer, got Image", SoundBuffer.sample, target, 1)
    check("got Image", Vector3.length, target)
    check("Image.new: takes 3 arguments, got 5", Image.new, 1, 1, nil, nil, 5)
  end)

  it("refuses invalid options", function()
    check("Image.blit: argument #3 'x' must be a whole number from -65536 to 65536, got nil",
      Image.blit, target, source)
    check("got number 0.5", Image.blit, target, source, 0, 0.5)
    check("Image.blit: argument #5 'options' has the unknown option 'blent', did you mean 'blend'?",
      Image.blit, target, source, 0, 0, { blent = "add" })
    check("'blend' must be \"alpha\", \"add\", \"multiply\" or \"replace\", got string \"plus\"",
      Image.blit, target, source, 0, 0, { blend = "plus" })
    check("'part' must be a list of left, top, width and height, got number 1", Image.blit, target,
      source, 0, 0, { part = 1 })
    check("the part 1, 0 with 2 x 1 pixels is not in the source, which has 2 x 2", Image.blit,
      target, source, 0, 0, { part = { 1, 0, 2, 1 } })
    check("'part' must have whole numbers, got number nan", Image.blit, target, source, 0, 0,
      { part = { 0 / 0, 0, 1, 1 } })
    check("argument #5 'options' must be table or nil, got string", Image.blit, target, source, 0,
      0, "add")
    check("argument #2 'source' must be Image, got nil", Image.blit, target)
  end)
end)

describe("Image.resize", function()
  it("takes the nearest pixels", function()
    local image = Image.new(2, 1, RED)
    Image.set_pixel(image, 1, 0, GREEN)
    Image.resize(image, 4, 3, "nearest")
    assert.same({ 4, 3 }, { Image.size(image) })
    assert.equals(RED, Image.pixel(image, 1, 2))
    assert.equals(GREEN, Image.pixel(image, 2, 0))
    Image.resize(image, 1, 1, "nearest")
    assert.equals(GREEN, Image.pixel(image, 0, 0))
  end)

  it("blends pixels, without the colors of transparent ones", function()
    local image = Image.new(8, 8, Color(40, 90, 200))
    Image.resize(image, 3, 13)
    for y = 0, 12 do
      for x = 0, 2 do assert.equals(Color(40, 90, 200), Image.pixel(image, x, y)) end
    end
    image = Image.new(2, 2, Color(0, 255, 255, 255))
    Image.fill(image, RED, 0, 0, 1, 2)
    Image.resize(image, 1, 1)
    assert.equals(Color(128, 255, 0, 0), Image.pixel(image, 0, 0))
    image = Image.new(2, 1, Color(0, 0, 0))
    Image.set_pixel(image, 1, 0, Color(255, 255, 255))
    Image.resize(image, 1, 1, "linear")
    near(188, image, 0, 0, "r")
  end)

  it("refuses invalid sizes and filters", function()
    local image = Image.new(2, 1)
    check("Image.resize: argument #2 'width' must be a whole number from 1 to 16384, got number 0",
      Image.resize, image, 0, 1)
    check("Image.resize: argument #4 'filter' must be \"linear\" or \"nearest\", got string "
      .. "\"cubic\"", Image.resize, image, 1, 1, "cubic")
    check("(IMAGE_PIXELS_MAX)", Image.resize, image, 16384, 16384)
    assert.same({ 2, 1 }, { Image.size(image) })
  end)
end)

describe("Image.to_texture", function()
  after_each(function() test.frames(1) end)

  it("makes a texture that is used by its name, and updates it", function()
    local image = Image.new(8, 4, RED)
    Image.to_texture(image, "made/map")
    assert.is_true(Texture.exists("made/map"))
    assert.same({ 8, 4 }, { Texture.size("made/map") })
    Gui.bitmap(Application.main_gui(), "made/map", Vector3(0, 0, 1), Vector2(20, 20))
    Application.render_world(Application.main_world())
    test.frames(1)
    Image.to_texture(Image.new(16, 2), "made/map",
      { filter = "nearest", wrap = "repeat", mips = false, data = true })
    assert.same({ 16, 2 }, { Texture.size("made/map") })
    Texture.unload("made/map")
    check("the texture 'made/map' was made of an image and has been unloaded", Texture.size,
      "made/map")
    Image.to_texture(image, "made/map")
    assert.same({ 8, 4 }, { Texture.size("made/map") })
  end)

  it("is shown by sprites and materials", function()
    Image.to_texture(Image.new(8, 4, RED), "made/sign")
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "units/hero")
    Sprite.set_texture(Unit.sprite(unit, 1), "made/sign")
    local cube = World.spawn_unit(world, "core/units/cube")
    local material = Material.new("materials/rust")
    Mesh.set_material(Unit.mesh(cube, 1), 1, material)
    Material.set_texture(material, "base_color_texture", "made/sign")
    test.frames(1)
    Application.release_world(world)
    Material.destroy(material)
  end)

  it("refuses names of other textures, and invalid options", function()
    local image = Image.new(2, 2)
    check("Image.to_texture: the texture 'pictures/hero' already exists: use another name",
      Image.to_texture, image, "pictures/hero")
    check("the texture 'pictures/hero/2' already exists", Image.to_texture, image,
      "pictures/hero/2")
    check("a texture needs a name, to be shown by", Image.to_texture, image, "")
    check("argument #2 'name' must be string, got nil", Image.to_texture, image)
    local gui = World.create_texture_gui(Application.main_world(), "made/drawn", 8, 8)
    check("the texture 'made/drawn' is drawn into by a Gui or a viewport", Image.to_texture, image,
      "made/drawn")
    World.destroy_gui(Application.main_world(), gui)
    Image.to_texture(image, "made/own")
    check("the texture 'made/own' already exists: use another name", World.create_texture_gui,
      Application.main_world(), "made/own", 8, 8)
    check("Image.to_texture: argument #3 'options' has the unknown option 'filler', did you mean "
      .. "'filter'?", Image.to_texture, image, "made/own", { filler = "nearest" })
    check("'filter' must be one of linear, nearest, got number 1", Image.to_texture, image,
      "made/own", { filter = 1 })
    check("'mips' must be true or false, got string \"no\"", Image.to_texture, image, "made/own",
      { mips = "no" })
  end)
end)

describe("files and frames", function()
  it("refuse invalid names", function()
    local image = Image.new(2, 2)
    for _, name in ipairs { "", "../x", "a/b", "a.png", ("x"):rep(65) } do
      check("cannot be an image's name: use letters, digits, '_' and '-', at most 64", Image.save,
        image, name)
    end
    check("Image.save: argument #2 'name' must be string, got nil", Image.save, image)
  end)

  it("have no picture in a run that draws nothing", function()
    local capture, message = Image.capture()
    assert.is_nil(capture)
    assert.matches("nothing is drawn in this run", message)
    check("7 is no capture of Image.capture, or its image was returned already", Image.captured, 7)
    check("Image.captured: argument #1 'capture' must be number, got nil", Image.captured)
  end)
end)
