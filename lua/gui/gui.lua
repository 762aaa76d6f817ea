-- `Gui`: two-dimensional drawing. This file creates Guis, draws rectangles, bitmaps and triangles,
-- and has the helpers that all drawing functions share. Shapes are in shapes.lua, texts in
-- text.lua; transforms and clipping are native.
--
-- Drawing functions split vectors into numbers for native code (src/script/api/gui/draw.rs), so
-- that compiled code never allocates the vectors. Arguments that do not fit this fast path go to a
-- slower function, which accepts their other forms and writes the error messages.
local core = ...

local ffi, raise, bad_argument = core.ffi, core.raise, core.bad_argument
local type, select, format = type, select, string.format
local istype, no_reload, describe = ffi.istype, core.no_reload, core.describe
local V2, V3, C, M = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color,
  core.ctypes.Matrix4x4
local refusal, find_source = core.gui_refusal, core.gui_source

local Gui, World = core.module("Gui"), core.module("World")
local Material = core.module("Material")

local cx, natives = core.gui_natives()
cx = ffi.cast("void *", cx)
local native = {}
for name, entry in pairs(natives) do
  native[name] = ffi.cast(entry[1], entry[2])
end
local rect, boxed, bitmap = native.rect, native.boxed, native.bitmap
local bitmap_uv, triangle = native.bitmap_uv, native.triangle

local WHITE = C(255, 255, 255, 255)

-- Values and helpers that the Gui files share.
local draw = { cx = cx, native = native, white = WHITE }
core.draw = draw

-- Source numbers by name or material. A source is a texture or material to draw with. Each is
-- looked up once.
local sources = {}
draw.sources = sources

-- Type checks of arguments. The keys are the type names in error messages.
local types = {
  Gui = function(value) return type(value) == "number" end,
  ["the number of an object"] = function(value) return type(value) == "number" end,
  number = function(value) return type(value) == "number" end,
  ["number or nil"] = function(value) return value == nil or type(value) == "number" end,
  string = function(value) return type(value) == "string" end,
  boolean = function(value) return type(value) == "boolean" end,
  ["boolean or nil"] = function(value) return value == nil or type(value) == "boolean" end,
  table = function(value) return type(value) == "table" end,
  Vector2 = function(value) return istype(V2, value) end,
  ["Vector3 or Vector2"] = function(value) return istype(V3, value) or istype(V2, value) end,
  ["Vector2 or Vector3"] = function(value) return istype(V3, value) or istype(V2, value) end,
  Matrix4x4 = function(value) return istype(M, value) end,
  ["Color or nil"] = function(value) return value == nil or istype(C, value) end,
  ["string or Material"] = function(value)
    return type(value) == "string" or type(value) == "number"
  end,
  ["string, Material or nil"] = function(value)
    return value == nil or type(value) == "string" or type(value) == "number"
  end,
}
draw.types = types

-- Returns true if a value has the type at an index of a spec. Beyond the spec's end, any value
-- fits.
local function fits(spec, at, value)
  local wanted = spec[at]
  return wanted == nil or types[wanted](value)
end

-- Raises an error for the first argument that has the wrong type.
local function refuse(name, spec, ...)
  for i = 1, #spec, 2 do
    local index = (i + 1) / 2
    local value = (select(index, ...))
    if not types[spec[i + 1]](value) then
      bad_argument(name, index, spec[i], spec[i + 1], value)
    end
  end
end

-- Raises if an argument has the wrong type. `spec` alternates names and types, for at most 11
-- arguments. The checks are unrolled because LuaJIT would compile a loop here as a trace by itself.
-- A trace of the game that reaches the loop would end there, and the vectors of the call would be
-- allocated in every iteration.
local function check(name, spec, a, b, c, d, e, f, g, h, i, j, k)
  no_reload(name)
  if not (fits(spec, 2, a) and fits(spec, 4, b) and fits(spec, 6, c) and fits(spec, 8, d)
    and fits(spec, 10, e) and fits(spec, 12, f) and fits(spec, 14, g) and fits(spec, 16, h)
    and fits(spec, 18, i) and fits(spec, 20, j) and fits(spec, 22, k)) then
    refuse(name, spec, a, b, c, d, e, f, g, h, i, j, k)
  end
end
draw.check = check

-- Raises the error that native code reported for the last call.
local function refused(name)
  no_reload(name)
  raise(name .. ": " .. refusal())
end
draw.refused = refused

local Utf8 = core.module("Utf8")

-- Raises if a name is not valid UTF-8.
local function check_name(name, index, argument, value)
  if type(value) == "string" and not Utf8.valid(value) then
    raise(format("%s: argument #%d '%s' is not valid UTF-8", name, index, argument))
  end
end
draw.check_name = check_name

-- Looks up the source number of a name or material at its first use; raises if there is none.
-- LuaJIT does not record the creation of a closure. If a loop meets a new name, its trace is
-- aborted and recorded again later, without this path, which each name takes only once. This
-- function is not part of `source_of` because LuaJIT also does not record the return from a
-- function that has closures.
local function learn(name, index, material)
  local function find()
    check_name(name, index, "material", material)
    local source, words = find_source(material)
    if not source then
      raise(format("%s: argument #%d 'material': %s", name, index, words))
    end
    sources[material] = source
    return source
  end
  return find()
end

-- Returns the source number of a name or material; raises if there is none.
local function source_of(name, index, material)
  local known = sources[material]
  if known ~= nil then return known end
  return learn(name, index, material)
end
draw.source_of = source_of

---Destroys a material. Objects that still use it are drawn as if they had no material.
---@param material Material a material created by `Material.new`
function Material.destroy(material)
  no_reload("Material.destroy")
  if type(material) ~= "number" then
    bad_argument("Material.destroy", 1, "material", "Material", material)
  end
  core.destroy(material)
  sources[material] = nil
end

-- Returns a position as x, y and layer.
local function place_of(position)
  if istype(V3, position) then return position._x, position._y, position._z end
  return position._x, position._y, 0
end
draw.place_of = place_of

-- Converts the result of native code into the result of a drawing function.
local function drawn(name, object)
  if object > 0 then return object end
  if object < 0 then refused(name) end
end
draw.drawn = drawn

---@module Gui
---Two-dimensional drawing: on the screen, in logical pixels from the left bottom, or on a plane in
---a world. A Gui is immediate or retained. An immediate Gui shows each drawn object for one frame.
---A retained Gui returns a number for each object and shows the object until it is destroyed; an
---update replaces all properties of the object. The z of a position is the layer: higher layers are
---drawn over lower ones. Within a layer, objects with the same material, texture and clip are drawn
---as one batch, and batches are drawn in the order of their first objects. Colours multiply the
---drawn pixels.
---@example
---   local world = Application.new_world()
---   local gui = World.create_screen_gui(world, "immediate")
---   Gui.rect(gui, Vector3(10, 10, 1), Vector2(100, 20), Color(255, 128, 0))
---   local hud = World.create_screen_gui(world)
---   local bar = Gui.rect(hud, Vector3(10, 40, 1), Vector2(100, 20))
---   Gui.update_rect(hud, bar, Vector3(10, 40, 1), Vector2(60, 20), Color.red())
---   Gui.destroy_rect(hud, bar)
---   Gui.push(gui)
---   Gui.translate(gui, Vector2(100, 100))
---   Gui.rotate(gui, math.pi / 4)
---   Gui.rect(gui, Vector3(-10, -10, 1), Vector2(20, 20), Color.red())
---   Gui.pop(gui)
---   World.destroy_gui(world, gui)

-- Creating and destroying -------------------------------------------------------------------------

-- Reads the options of `create_screen_gui` and similar functions. Returns true for an immediate
-- Gui.
local function read_words(name, first, ...)
  local immediate = false
  local count, i = select("#", ...), 1
  while i <= count do
    local word = (select(i, ...))
    local at = first + i - 1
    if word == "immediate" then
      immediate = true
    elseif word == "retained" then
      immediate = false
    elseif word == "material" then
      local material = select(i + 1, ...)
      if type(material) ~= "string" then
        bad_argument(name, at + 1, "material", "string", material)
      end
      source_of(name, at + 1, material)
      i = i + 1
    else
      local near = type(word) == "string"
        and core.suggest(word, { "immediate", "retained", "material" })
      raise(format("%s: argument #%d must be \"immediate\", \"retained\" or \"material\" and a "
        .. "name, got %s%s", name, at, describe(word), near and ", did you mean '" .. near .. "'?"
        or ""))
    end
    i = i + 1
  end
  return immediate
end

---Creates a Gui on the screen, which every view of the world shows.
---@param world World the world that owns it; the Gui is destroyed with the world
---@param ... any "immediate" shows objects for one frame; "material", NAME looks up a material now
---@return Gui gui the new Gui
function World.create_screen_gui(world, ...)
  no_reload("World.create_screen_gui")
  if type(world) ~= "number" then
    bad_argument("World.create_screen_gui", 1, "world", "World", world)
  end
  return core.create_screen_gui(world, read_words("World.create_screen_gui", 2, ...))
end

---Creates a Gui on a plane in the world.
---@param world World the world that owns it; the Gui is destroyed with the world
---@param pose Matrix4x4 its left bottom; the Gui's right is the pose's x axis, its up the z axis
---@param width number in metres
---@param height number in metres
---@param ... any as for `World.create_screen_gui`
---@return Gui gui the new Gui
function World.create_world_gui(world, pose, width, height, ...)
  local name = "World.create_world_gui"
  no_reload(name)
  if type(world) ~= "number" then bad_argument(name, 1, "world", "World", world) end
  if not istype(M, pose) then bad_argument(name, 2, "pose", "Matrix4x4", pose) end
  if type(width) ~= "number" then bad_argument(name, 3, "width", "number", width) end
  if type(height) ~= "number" then bad_argument(name, 4, "height", "number", height) end
  return core.create_world_gui(world, pose, width, height, read_words(name, 5, ...))
end

---Creates a Gui that is drawn into a texture, in every frame before anything else. From then on,
---the texture can be used by its name, as if it were a file.
---@param world World the world that owns it; the Gui is destroyed with the world
---@param texture string the texture's name, which must be unique
---@param width integer in texels
---@param height integer in texels
---@param ... any as for `World.create_screen_gui`
---@return Gui gui the new Gui
function World.create_texture_gui(world, texture, width, height, ...)
  local name = "World.create_texture_gui"
  no_reload(name)
  if type(world) ~= "number" then bad_argument(name, 1, "world", "World", world) end
  if type(texture) ~= "string" then bad_argument(name, 2, "texture", "string", texture) end
  if type(width) ~= "number" then bad_argument(name, 3, "width", "integer", width) end
  if type(height) ~= "number" then bad_argument(name, 4, "height", "integer", height) end
  return core.create_texture_gui(world, texture, width, height, read_words(name, 5, ...))
end

---Destroys a Gui with all its objects.
---@param world World the world that owns it
---@param gui Gui the Gui to destroy
function World.destroy_gui(world, gui)
  no_reload("World.destroy_gui")
  if type(world) ~= "number" then bad_argument("World.destroy_gui", 1, "world", "World", world) end
  if type(gui) ~= "number" then bad_argument("World.destroy_gui", 2, "gui", "Gui", gui) end
  core.destroy_gui(world, gui)
end

-- Rectangles --------------------------------------------------------------------------------------

local RECT = { "gui", "Gui", "position", "Vector3 or Vector2", "size", "Vector2 or Vector3",
  "color", "Color or nil" }

-- Draws a rectangle whose arguments have been checked, for the slower path.
local function rect_other(name, gui, object, position, size, color)
  local x, y, z = place_of(position)
  color = color or WHITE
  return drawn(name, rect(cx, gui, object, nil, x, y, z, size._x, size._y,
    color._r, color._g, color._b, color._a))
end

---Draws a filled rectangle.
---@param gui Gui the Gui to draw on
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui
function Gui.rect(gui, position, size, color)
  if type(gui) == "number" and istype(V3, position) and istype(V2, size) and istype(C, color) then
    local object = rect(cx, gui, 0, nil, position._x, position._y, position._z, size._x, size._y,
      color._r, color._g, color._b, color._a)
    if object == 0 then return end
    if object > 0 then return object end
    refused("Gui.rect")
  end
  check("Gui.rect", RECT, gui, position, size, color)
  return rect_other("Gui.rect", gui, 0, position, size, color)
end

local UPDATE_RECT = { "gui", "Gui", "object", "the number of an object",
  "position", "Vector3 or Vector2", "size", "Vector2 or Vector3", "color", "Color or nil" }

---Changes a rectangle in a retained Gui. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height
---@param color? Color white if left out
function Gui.update_rect(gui, object, position, size, color)
  if type(gui) == "number" and type(object) == "number" and object > 0 and istype(V3, position)
    and istype(V2, size) and istype(C, color) then
    if rect(cx, gui, object, nil, position._x, position._y, position._z, size._x, size._y,
      color._r, color._g, color._b, color._a) < 0 then
      refused("Gui.update_rect")
    end
    return
  end
  check("Gui.update_rect", UPDATE_RECT, gui, object, position, size, color)
  rect_other("Gui.update_rect", gui, object > 0 and object or -1, position, size, color)
end

-- Bitmaps -----------------------------------------------------------------------------------------

types["Vector2, Vector3 or nil"] = function(value)
  return value == nil or istype(V3, value) or istype(V2, value)
end

local BITMAP = { "gui", "Gui", "material", "string or Material", "position", "Vector3 or Vector2",
  "size", "Vector2, Vector3 or nil", "color", "Color or nil" }

-- Returns width and height; the image's own size if `size` is nil.
local function size_of(source, size)
  if size ~= nil then return size._x, size._y end
  return core.gui_source_size(source)
end

local function bitmap_other(name, index, gui, object, material, position, size, color)
  local source = source_of(name, index, material)
  local x, y, z = place_of(position)
  local width, height = size_of(source, size)
  color = color or WHITE
  return drawn(name, bitmap(cx, gui, object, nil, source, x, y, z, width, height,
    color._r, color._g, color._b, color._a))
end

---Draws an image.
---@param gui Gui the Gui to draw on
---@param material string|Material a material, or a material's or texture's name (`ship`: ship.png)
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size? Vector2 its width and height; the image's own if left out
---@param color? Color multiplies the image's colours; white if left out
---@return GuiObject|nil object its number, in a retained Gui
function Gui.bitmap(gui, material, position, size, color)
  local source = sources[material]
  if source and type(gui) == "number" and istype(V3, position) and istype(V2, size)
    and istype(C, color) then
    local object = bitmap(cx, gui, 0, nil, source, position._x, position._y, position._z,
      size._x, size._y, color._r, color._g, color._b, color._a)
    if object == 0 then return end
    if object > 0 then return object end
    refused("Gui.bitmap")
  end
  check("Gui.bitmap", BITMAP, gui, material, position, size, color)
  return bitmap_other("Gui.bitmap", 2, gui, 0, material, position, size, color)
end

local UPDATE_BITMAP = { "gui", "Gui", "object", "the number of an object",
  "material", "string or Material", "position", "Vector3 or Vector2",
  "size", "Vector2, Vector3 or nil", "color", "Color or nil" }

---Changes a bitmap in a retained Gui. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param material string|Material as for `Gui.bitmap`
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size? Vector2 its width and height; the image's own if left out
---@param color? Color white if left out
function Gui.update_bitmap(gui, object, material, position, size, color)
  local source = sources[material]
  if source and type(gui) == "number" and type(object) == "number" and object > 0
    and istype(V3, position) and istype(V2, size) and istype(C, color) then
    if bitmap(cx, gui, object, nil, source, position._x, position._y, position._z,
      size._x, size._y, color._r, color._g, color._b, color._a) < 0 then
      refused("Gui.update_bitmap")
    end
    return
  end
  check("Gui.update_bitmap", UPDATE_BITMAP, gui, object, material, position, size, color)
  bitmap_other("Gui.update_bitmap", 3, gui, object > 0 and object or -1, material, position, size,
    color)
end

local BITMAP_UV = { "gui", "Gui", "material", "string or Material", "uv00", "Vector2",
  "uv11", "Vector2", "position", "Vector3 or Vector2", "size", "Vector2 or Vector3",
  "color", "Color or nil" }

local function put_bitmap_uv(name, index, gui, object, material, uv00, uv11, position, size, color)
  local source = source_of(name, index, material)
  local x, y, z = place_of(position)
  color = color or WHITE
  return drawn(name, bitmap_uv(cx, gui, object, nil, source, uv00._x, uv00._y, uv11._x, uv11._y,
    x, y, z, size._x, size._y, color._r, color._g, color._b, color._a))
end

---Draws a part of an image.
---@param gui Gui the Gui to draw on
---@param material string|Material as for `Gui.bitmap`
---@param uv00 Vector2 the part's left top, from 0, 0 (the image's left top) to 1, 1
---@param uv11 Vector2 the part's right bottom
---@param position Vector3|Vector2 the left bottom on the Gui; z is the layer
---@param size Vector2 its width and height
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui
function Gui.bitmap_uv(gui, material, uv00, uv11, position, size, color)
  check("Gui.bitmap_uv", BITMAP_UV, gui, material, uv00, uv11, position, size, color)
  return put_bitmap_uv("Gui.bitmap_uv", 2, gui, 0, material, uv00, uv11, position, size, color)
end

local UPDATE_BITMAP_UV = { "gui", "Gui", "object", "the number of an object",
  "material", "string or Material", "uv00", "Vector2", "uv11", "Vector2",
  "position", "Vector3 or Vector2", "size", "Vector2 or Vector3", "color", "Color or nil" }

---Changes a part of an image in a retained Gui. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param material string|Material as for `Gui.bitmap`
---@param uv00 Vector2 the part's left top, from 0, 0 (the image's left top) to 1, 1
---@param uv11 Vector2 the part's right bottom
---@param position Vector3|Vector2 the left bottom on the Gui; z is the layer
---@param size Vector2 its width and height
---@param color? Color white if left out
function Gui.update_bitmap_uv(gui, object, material, uv00, uv11, position, size, color)
  local name = "Gui.update_bitmap_uv"
  check(name, UPDATE_BITMAP_UV, gui, object, material, uv00, uv11, position, size, color)
  put_bitmap_uv(name, 3, gui, object > 0 and object or -1, material, uv00, uv11, position, size,
    color)
end

-- Triangles ---------------------------------------------------------------------------------------

local TRIANGLE = { "gui", "Gui", "p1", "Vector2 or Vector3", "p2", "Vector2 or Vector3",
  "p3", "Vector2 or Vector3", "layer", "number or nil", "color", "Color or nil" }

local function put_triangle(name, gui, object, p1, p2, p3, layer, color)
  color = color or WHITE
  return drawn(name, triangle(cx, gui, object, nil, p1._x, p1._y, p2._x, p2._y, p3._x, p3._y,
    layer or 0, color._r, color._g, color._b, color._a))
end

---Draws a filled triangle.
---@param gui Gui the Gui to draw on
---@param p1 Vector2|Vector3 a corner; only x and y are used
---@param p2 Vector2|Vector3 the next corner
---@param p3 Vector2|Vector3 the last corner
---@param layer? integer 0 if left out
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui
function Gui.triangle(gui, p1, p2, p3, layer, color)
  check("Gui.triangle", TRIANGLE, gui, p1, p2, p3, layer, color)
  return put_triangle("Gui.triangle", gui, 0, p1, p2, p3, layer, color)
end

local UPDATE_TRIANGLE = { "gui", "Gui", "object", "the number of an object",
  "p1", "Vector2 or Vector3", "p2", "Vector2 or Vector3", "p3", "Vector2 or Vector3",
  "layer", "number or nil", "color", "Color or nil" }

---Changes a triangle in a retained Gui. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param p1 Vector2|Vector3 a corner; only x and y are used
---@param p2 Vector2|Vector3 the next corner
---@param p3 Vector2|Vector3 the last corner
---@param layer? integer 0 if left out
---@param color? Color white if left out
function Gui.update_triangle(gui, object, p1, p2, p3, layer, color)
  check("Gui.update_triangle", UPDATE_TRIANGLE, gui, object, p1, p2, p3, layer, color)
  put_triangle("Gui.update_triangle", gui, object > 0 and object or -1, p1, p2, p3, layer, color)
end
