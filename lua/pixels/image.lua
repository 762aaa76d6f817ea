-- Image: pictures whose pixels scripts read and write. The pixels are in memory that no game code
-- can reach: an image is only an identity, and this file keeps its storage in a table with weak
-- keys. Files, textures and screenshots are native (src/script/api/images.rs).
local core = ...

local ffi, raise, bad_argument, describe = core.ffi, core.raise, core.bad_argument, core.describe
local no_reload = core.no_reload
local next, rawget, setmetatable, type = next, rawget, setmetatable, type
local floor, min, max, format = math.floor, math.min, math.max, string.format
local istype, copy, bytes_of = ffi.istype, ffi.copy, ffi.string
local ColorType, values = core.ctypes.Color, core.values

---@module Image
---@node hidden
---A picture whose pixels you read and write, such as a minimap, a painted canvas or generated
---terrain. Pixels are counted from 0, from the top left. A pixel has red, green, blue and alpha,
---one byte each; its colour is sRGB, not multiplied by the alpha. `Image.to_texture` shows an
---image: its texture is used by name, like that of a file.
---@example
---   local image = Image.new(64, 64, Color.black())
---   Image.set_pixel(image, 3, 4, Color(255, 128, 0))
---   assert(Image.pixel(image, 3, 4) == Color(255, 128, 0))
---   Image.map(image, function(x, y) return Color(4 * x, 4 * y, 0) end)
---   Image.to_texture(image, "generated/gradient")
---   Gui.bitmap(Application.main_gui(), "generated/gradient", Vector3(20, 20, 1))

---@class (exact) Image
local Image = core.module("Image")

-- Largest side and number of pixels: 64 MiB.
local SIDE_MAX, IMAGE_PIXELS_MAX = 16384, 16777216

local Handle = ffi.typeof("struct { const uint8_t _unused; }")
local Pixels = ffi.typeof("uint8_t[?]")
local storages = setmetatable({}, { __mode = "k" })

local function check(name, i, argument, image)
  if not istype(Handle, image) then bad_argument(name, i, argument, "Image", image) end
  return storages[image]
end

local function check_side(name, i, argument, side)
  if type(side) ~= "number" or side ~= floor(side) or side < 1 or side > SIDE_MAX then
    bad_argument(name, i, argument, "a whole number from 1 to " .. SIDE_MAX, side)
  end
end

local function check_pixels(name, width, height)
  if width * height > IMAGE_PIXELS_MAX then
    raise(format("%s: an image has at most %d pixels (IMAGE_PIXELS_MAX), and %d x %d are %d", name,
      IMAGE_PIXELS_MAX, width, height, width * height))
  end
end

-- Returns a part of a color as a byte. NaN is 0.
local function byte_of(part)
  return part > 0 and floor(min(part, 255) + 0.5) or 0
end

-- Returns a new image with pixels of 0.
local function new_image(width, height)
  local image = Handle(0)
  storages[image] = { pixels = Pixels(width * height * 4), width = width, height = height }
  core.number_buffer(image, format("Image %d %d", width, height))
  return image
end

local function image_of_bytes(width, height, bytes)
  local image = new_image(width, height)
  copy(storages[image].pixels, bytes, width * height * 4)
  return image
end

local meta = {}
values.common_operators(meta, "Image", "use Image.size")
meta.__index = function(_, key)
  local method = rawget(Image, key)
  if method then return method end
  raise("Image has no field " .. (type(key) == "string" and "'" .. key .. "'" or describe(key))
    .. ": it has the functions of Image, such as image:size() and image:pixel(x, y)")
end
meta.__newindex = function(_, key)
  raise("cannot set " .. describe(key) .. " of an Image: use Image.set_pixel(image, x, y, color)")
end
meta.__tostring = function(image)
  local storage = storages[image]
  return format("Image(%d x %d)", storage.width, storage.height)
end
meta.__eq = function(a, b)
  return istype(Handle, a) and istype(Handle, b) and storages[a] == storages[b]
end
ffi.metatype(Handle, meta)
core.ctypes.Image = Handle

-- Shared with the other files of images.
core.images = {
  check = check, check_side = check_side, check_pixels = check_pixels, Pixels = Pixels,
}

local function fill(pixels, width, left, top, right, bottom, color)
  local r, g, b, a = byte_of(color.r), byte_of(color.g), byte_of(color.b), byte_of(color.a)
  for y = top, bottom - 1 do
    for at = 4 * (y * width + left), 4 * (y * width + right - 1), 4 do
      pixels[at], pixels[at + 1], pixels[at + 2], pixels[at + 3] = r, g, b, a
    end
  end
end

-- Returns left, top, right and bottom of a part of an image: the whole image without arguments.
local function part_of(name, i, storage, x, y, width, height)
  if x == nil and y == nil and width == nil and height == nil then
    return 0, 0, storage.width, storage.height
  end
  local function whole(at, argument, value, least, most)
    if type(value) ~= "number" or value ~= floor(value) or value < least or value > most then
      bad_argument(name, i + at, argument, format("a whole number from %d to %d", least, most),
        value)
    end
  end
  whole(0, "x", x, 0, storage.width - 1)
  whole(1, "y", y, 0, storage.height - 1)
  whole(2, "width", width, 1, storage.width - x)
  whole(3, "height", height, 1, storage.height - y)
  return x, y, x + width, y + height
end

---Creates an image.
---@param width integer width in pixels, 1 to 16384
---@param height integer height in pixels, 1 to 16384
---@param color? Color the color of all pixels; transparent black by default
---@return Image image the new image
function Image.new(width, height, color)
  check_side("Image.new", 1, "width", width)
  check_side("Image.new", 2, "height", height)
  check_pixels("Image.new", width, height)
  if color ~= nil and not istype(ColorType, color) then
    bad_argument("Image.new", 3, "color", "Color", color)
  end
  local image = new_image(width, height)
  if color then fill(storages[image].pixels, width, 0, 0, width, height, color) end
  return image
end

---Creates an image from bytes: red, green, blue and alpha of each pixel, rows from the top.
---@param width integer width in pixels, 1 to 16384
---@param height integer height in pixels, 1 to 16384
---@param bytes string 4 * width * height bytes, such as a result of `Image.bytes`
---@return Image image the new image
function Image.from_bytes(width, height, bytes)
  check_side("Image.from_bytes", 1, "width", width)
  check_side("Image.from_bytes", 2, "height", height)
  check_pixels("Image.from_bytes", width, height)
  if type(bytes) ~= "string" then bad_argument("Image.from_bytes", 3, "bytes", "string", bytes) end
  if #bytes ~= width * height * 4 then
    raise(format("Image.from_bytes: %d x %d pixels have %d bytes, got %d", width, height,
      width * height * 4, #bytes))
  end
  return image_of_bytes(width, height, bytes)
end

---Loads the picture of a texture, or of a frame of a sheet, with 8 bits per channel. The image is a
---copy: changes to it do not change the texture.
---@param name string the name of a texture, such as "maps/island" for maps/island.png
---@return Image image the new image
function Image.load(name)
  if type(name) ~= "string" then bad_argument("Image.load", 1, "name", "string", name) end
  return image_of_bytes(core.image_pixels(name))
end

---Returns the width and height of an image in pixels.
---@param image Image an image
---@return integer width
---@return integer height
function Image.size(image)
  local storage = check("Image.size", 1, "image", image)
  return storage.width, storage.height
end

-- Raises the error for coordinates that are not those of a pixel.
local function no_pixel(name, storage, x, y)
  if type(x) ~= "number" then bad_argument(name, 2, "x", "number", x) end
  if type(y) ~= "number" then bad_argument(name, 3, "y", "number", y) end
  raise(format("%s: %s, %s is no pixel: x is a whole number from 0 to %d, y from 0 to %d", name,
    values.number_text(x), values.number_text(y), storage.width - 1, storage.height - 1))
end

local function index_of(name, storage, x, y)
  if type(x) ~= "number" or type(y) ~= "number" or not (x >= 0 and x < storage.width
    and y >= 0 and y < storage.height and x == floor(x) and y == floor(y))
  then
    no_pixel(name, storage, x, y)
  end
  return 4 * (y * storage.width + x)
end

---Returns the color of a pixel.
---@param image Image an image
---@param x integer column, 0 is the left one
---@param y integer row, 0 is the top one
---@return Color color
function Image.pixel(image, x, y)
  local storage = check("Image.pixel", 1, "image", image)
  local at, pixels = index_of("Image.pixel", storage, x, y), storage.pixels
  return ColorType(pixels[at + 3], pixels[at], pixels[at + 1], pixels[at + 2])
end

---Sets the color of a pixel. Parts are rounded, and limited to 0 to 255.
---@param image Image an image
---@param x integer column, 0 is the left one
---@param y integer row, 0 is the top one
---@param color Color the new color, which replaces the old one, with its alpha
function Image.set_pixel(image, x, y, color)
  local storage = check("Image.set_pixel", 1, "image", image)
  local at, pixels = index_of("Image.set_pixel", storage, x, y), storage.pixels
  if not istype(ColorType, color) then
    bad_argument("Image.set_pixel", 4, "color", "Color", color)
  end
  pixels[at], pixels[at + 1] = byte_of(color.r), byte_of(color.g)
  pixels[at + 2], pixels[at + 3] = byte_of(color.b), byte_of(color.a)
end

---Fills an image, or a part of it, with a color. The color replaces the pixels.
---@param image Image an image
---@param color Color the new color
---@param x? integer left column of the part; the whole image by default
---@param y? integer top row of the part
---@param width? integer width of the part
---@param height? integer height of the part
function Image.fill(image, color, x, y, width, height)
  local storage = check("Image.fill", 1, "image", image)
  if not istype(ColorType, color) then bad_argument("Image.fill", 2, "color", "Color", color) end
  local left, top, right, bottom = part_of("Image.fill", 3, storage, x, y, width, height)
  fill(storage.pixels, storage.width, left, top, right, bottom, color)
end

---Calls a function for each pixel, row by row from the top, and sets the pixel to its result.
---@param image Image an image
---@param f fun(x: integer, y: integer, color: Color): Color returns the new color of a pixel
---@param x? integer left column of the part; the whole image by default
---@param y? integer top row of the part
---@param width? integer width of the part
---@param height? integer height of the part
function Image.map(image, f, x, y, width, height)
  local storage = check("Image.map", 1, "image", image)
  if type(f) ~= "function" then bad_argument("Image.map", 2, "f", "function", f) end
  local left, top, right, bottom = part_of("Image.map", 3, storage, x, y, width, height)
  local pixels, stride = storage.pixels, storage.width
  for row = top, bottom - 1 do
    for column = left, right - 1 do
      local at = 4 * (row * stride + column)
      local color = f(column, row,
        ColorType(pixels[at + 3], pixels[at], pixels[at + 1], pixels[at + 2]))
      if not istype(ColorType, color) then
        raise(format("Image.map: the function must return a Color, got %s at %d, %d",
          describe(color), column, row))
      end
      pixels[at], pixels[at + 1] = byte_of(color.r), byte_of(color.g)
      pixels[at + 2], pixels[at + 3] = byte_of(color.b), byte_of(color.a)
    end
  end
end

---Returns a copy of an image, or of a part of it.
---@param image Image an image
---@param x? integer left column of the part; the whole image by default
---@param y? integer top row of the part
---@param width? integer width of the part
---@param height? integer height of the part
---@return Image image the copy
function Image.copy(image, x, y, width, height)
  local storage = check("Image.copy", 1, "image", image)
  local left, top, right, bottom = part_of("Image.copy", 2, storage, x, y, width, height)
  local wide, tall = right - left, bottom - top
  local result = new_image(wide, tall)
  local target = storages[result].pixels
  for row = 0, tall - 1 do
    copy(target + 4 * row * wide, storage.pixels + 4 * ((top + row) * storage.width + left),
      4 * wide)
  end
  return result
end

---Returns the bytes of an image: red, green, blue and alpha of each pixel, rows from the top. You
---can store them with `Save.write`; `Image.from_bytes` makes an image of them.
---@param image Image an image
---@return string bytes
function Image.bytes(image)
  local storage = check("Image.bytes", 1, "image", image)
  return bytes_of(storage.pixels, storage.width * storage.height * 4)
end

-- Values of the options of a texture.
local FILTERS, WRAPS = { linear = 1, nearest = 2 }, { clamp = 0, ["repeat"] = 1, mirror = 2 }
local OPTIONS = { filter = FILTERS, wrap = WRAPS, mips = "boolean", data = "boolean" }

local function check_options(options)
  core.check_options("Image.to_texture", 3, "options", options, OPTIONS)
  for key, value in next, options do
    local known = OPTIONS[key]
    if known == "boolean" and type(value) ~= "boolean" then
      raise(format("Image.to_texture: '%s' must be true or false, got %s", key, describe(value)))
    end
    if type(known) == "table" and (type(value) ~= "string" or not known[value]) then
      raise(format("Image.to_texture: '%s' must be one of %s, got %s", key,
        table.concat(core.names(known), ", "), describe(value)))
    end
  end
end

---Makes a texture of an image, or updates the texture that was made under this name. Use the name
---like that of a file: in `Gui.bitmap`, `Sprite.set_texture`, `Material.set_texture`. The texture
---is a copy: later changes to the image show when you call this function again. `Texture.unload`
---frees it. Options: `filter` ("linear" or "nearest"; by default that of the settings), `wrap`
---("clamp", "repeat" or "mirror"), `mips` (false for no smaller copies), and `data` (true if the
---parts are numbers instead of colors).
---@param image Image an image
---@param name string a name that no file of the game has, such as "generated/map"
---@param options? table filter, wrap, mips, data
function Image.to_texture(image, name, options)
  no_reload("Image.to_texture")
  local storage = check("Image.to_texture", 1, "image", image)
  if type(name) ~= "string" then bad_argument("Image.to_texture", 2, "name", "string", name) end
  if options ~= nil then check_options(options) end
  options = options or {}
  core.set_image_texture(name, storage.width, storage.height,
    bytes_of(storage.pixels, storage.width * storage.height * 4), FILTERS[options.filter] or 0,
    WRAPS[options.wrap] or 0, options.mips ~= false, options.data == true)
end

---Saves an image as a PNG in the folder `images` of the player's saves. The file is written while
---the game continues; an older file of that name is replaced only by a complete one.
---@param image Image an image
---@param name string letters, digits, '_' and '-': the name of the file without .png
---@return string? path the path of the file, or nil if the run has no folder for saves
---@return string? message the reason
function Image.save(image, name)
  no_reload("Image.save")
  local storage = check("Image.save", 1, "image", image)
  if type(name) ~= "string" then bad_argument("Image.save", 2, "name", "string", name) end
  return core.save_image(name, storage.width, storage.height,
    bytes_of(storage.pixels, storage.width * storage.height * 4))
end

---Requests an image of the current frame, as the player sees it. `Image.captured` returns it when
---the frame has been drawn, some frames later.
---@return integer? capture the number of the capture, or nil if the run draws nothing
---@return string? message the reason
function Image.capture()
  no_reload("Image.capture")
  return core.capture_image()
end

---Returns a requested image of a frame once. Which frame it arrives in depends on the machine: do
---not let the game depend on it.
---@param capture number a result of `Image.capture` whose image was not returned yet
---@return Image? image the image, or nil if it is not finished or could not be made
---@return string? message the reason, if it could not be made
function Image.captured(capture)
  if type(capture) ~= "number" then
    bad_argument("Image.captured", 1, "capture", "number", capture)
  end
  local width, height, bytes = core.captured_image(capture)
  if not width then return nil, height end
  return image_of_bytes(width, height, bytes)
end

core.images.replace = function(image, width, height, pixels)
  local storage = storages[image]
  storage.pixels, storage.width, storage.height = pixels, width, height
end
