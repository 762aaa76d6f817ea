-- `Gui` text: drawing it and measuring it. Shared helpers of drawing functions are in gui.lua.
local core = ...

local ffi, raise, bad_argument = core.ffi, core.raise, core.bad_argument
local type, next, format = type, next, string.format
local istype = ffi.istype
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color
local draw = core.draw
local cx, native, WHITE, refused = draw.cx, draw.native, draw.white, draw.refused
local check, drawn, place_of, types = draw.check, draw.drawn, draw.place_of, draw.types
local native_text = native.text

local Gui = core.module("Gui")

local DEFAULT_FONT = "core/fonts/default"

-- Font numbers by name. Each font is looked up once.
local fonts = {}

local function font_of(name, index, font)
  font = font or DEFAULT_FONT
  local number = fonts[font]
  if number == nil then
    draw.check_name(name, index, "font", font)
    local words
    number, words = core.gui_font(font)
    if not number then
      raise(format("%s: argument #%d 'font': %s", name, index, words))
    end
    fonts[font] = number
  end
  return number
end

-- Options -----------------------------------------------------------------------------------------

-- Text style in the layout that native code reads, with room for spans (Styled in
-- src/script/api/gui/draw.rs).
local SPANS_MAX, SPANS_AT, SPAN_FLOATS = 64, 21, 6
local style = ffi.new("float[?]", SPANS_AT + SPANS_MAX * SPAN_FLOATS)
local ALIGNS = { left = 0, center = 1, right = 2 }

local function put_color(at, color)
  style[at], style[at + 1], style[at + 2], style[at + 3] = color._r, color._g, color._b, color._a
end

local function number_option(at)
  return function(value)
    if type(value) ~= "number" or not (value >= 0 and value < 1e9) then
      return "a number, 0 or more"
    end
    style[at] = value
  end
end

local function color_option(at)
  return function(value)
    if not istype(C, value) then return "Color" end
    put_color(at, value)
  end
end

local function spans_option(spans)
  if type(spans) ~= "table" then return "a list" end
  if #spans > SPANS_MAX then return "a list of at most " .. SPANS_MAX end
  local before = 0
  for i = 1, #spans do
    local span, at = spans[i], SPANS_AT + (i - 1) * SPAN_FLOATS
    -- For a number that is not finite, `% 1` is NaN, so the check rejects it.
    if type(span) ~= "table" or type(span[1]) ~= "number" or span[1] < 1 or span[1] % 1 ~= 0
      or not (span[2] == nil or istype(C, span[2])) then
      return "a list of { first byte, Color or nil }"
    end
    if span[1] < before then return "in the order of their first bytes" end
    before = span[1]
    style[at] = span[1] - 1
    style[at + 1] = span[2] and 1 or 0
    if span[2] then put_color(at + 2, span[2]) end
  end
  style[20] = #spans
  style[19] = 0
end

-- Options of a text, by name. Each function writes its option into the style, or returns a
-- description of the valid values.
local options_known = {
  align = function(value)
    if not ALIGNS[value] then return '"left", "center" or "right"' end
    style[0] = ALIGNS[value]
  end,
  width = number_option(1),
  outline = number_option(2),
  outline_color = color_option(3),
  glow = number_option(7),
  glow_color = color_option(8),
  shadow = function(value)
    -- A number that is not finite gives NaN when it is subtracted from itself.
    if not istype(V2, value) or value._x - value._x ~= 0 or value._y - value._y ~= 0 then
      return "a finite Vector2"
    end
    style[12], style[13] = value._x, value._y
  end,
  shadow_softness = number_option(14),
  shadow_color = color_option(15),
  markup = function(value)
    if type(value) ~= "boolean" then return "boolean" end
    style[19] = value and 1 or 0
  end,
  spans = spans_option,
}

local BLACK, SHADOW = C(255, 0, 0, 0), C(160, 0, 0, 0)

-- Fills the style from the options. Returns the style for native code, or nil without options.
local function style_of(name, index, options)
  if options == nil then return nil end
  core.check_options(name, index, "options", options, options_known)
  ffi.fill(style, SPANS_AT * 4)
  put_color(3, BLACK)
  put_color(8, WHITE)
  put_color(15, SHADOW)
  style[19] = 1
  for key, value in next, options do
    local wanted = options_known[key](value)
    if wanted then
      raise(format("%s: argument #%d 'options': '%s' must be %s, got %s", name, index, key, wanted,
        core.describe(value)))
    end
  end
  if options.spans then style[19] = 0 end
  return style
end

types["string or nil"] = function(value) return value == nil or type(value) == "string" end
types["table or nil"] = function(value) return value == nil or type(value) == "table" end

-- Texts -------------------------------------------------------------------------------------------

local POSITION = "Vector3 or Vector2"
local TEXT = { "gui", "Gui", "text", "string", "font", "string or nil", "size", "number",
  "material", "string, Material or nil", "position", POSITION, "color", "Color or nil",
  "options", "table or nil" }

-- Returns the source number of a material, or 0 if there is no material.
local function material_of(name, index, material)
  if material == nil then return 0 end
  return draw.source_of(name, index, material)
end

local function put_text(name, first, gui, object, words, font, size, material, position, color,
  options)
  local number = font_of(name, first, font)
  local source = material_of(name, first + 2, material)
  local given = style_of(name, first + 5, options)
  local x, y, z = place_of(position)
  color = color or WHITE
  return drawn(name, native_text(cx, gui, object, nil, words, #words, number, size, source, given,
    x, y, z, color._r, color._g, color._b, color._a))
end

---Draws a text.
---@param gui Gui the Gui to draw on
---@param text string UTF-8, any number of lines; {#color(255,0,0)} sets a colour, {#reset()} resets
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em: pixels on the screen
---@param material string|Material|nil the material to draw with; nil for the default
---@param position Vector3|Vector2 the left end of the first line's baseline; z is the layer
---@param color? Color white if left out
---@param options? table align, width, outline, glow, shadow, markup, spans
---@return GuiObject|nil object its number, in a retained Gui
function Gui.text(gui, text, font, size, material, position, color, options)
  local number = fonts[font]
  if number and options == nil and material == nil and type(gui) == "number"
    and type(text) == "string" and type(size) == "number" and istype(V3, position)
    and istype(C, color) then
    local object = native_text(cx, gui, 0, nil, text, #text, number, size, 0, nil,
      position._x, position._y, position._z, color._r, color._g, color._b, color._a)
    if object == 0 then return end
    if object > 0 then return object end
    refused("Gui.text")
  end
  check("Gui.text", TEXT, gui, text, font, size, material, position, color, options)
  return put_text("Gui.text", 3, gui, 0, text, font, size, material, position, color, options)
end

local UPDATE_TEXT = { "gui", "Gui", "object", "the number of an object", "text", "string",
  "font", "string or nil", "size", "number", "material", "string, Material or nil",
  "position", POSITION, "color", "Color or nil", "options", "table or nil" }

---Changes a text in a retained Gui. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em: pixels on the screen
---@param material string|Material|nil the material to draw with; nil for the default
---@param position Vector3|Vector2 the left end of the first line's baseline; z is the layer
---@param color? Color white if left out
---@param options? table as for `Gui.text`
function Gui.update_text(gui, object, text, font, size, material, position, color, options)
  local name = "Gui.update_text"
  check(name, UPDATE_TEXT, gui, object, text, font, size, material, position, color, options)
  put_text(name, 4, gui, object > 0 and object or -1, text, font, size, material, position, color,
    options)
end

local TEXT_3D = { "gui", "Gui", "text", "string", "font", "string or nil", "size", "number",
  "material", "string, Material or nil", "pose", "Matrix4x4", "position", POSITION,
  "layer", "number", "color", "Color or nil", "options", "table or nil" }

local function put_text_3d(name, first, gui, object, words, font, size, material, pose, position,
  layer, color, options)
  local number = font_of(name, first, font)
  local source = material_of(name, first + 2, material)
  local given = style_of(name, first + 7, options)
  color = color or WHITE
  return drawn(name, native_text(cx, gui, object, draw.posed(pose, position), words, #words,
    number, size, source, given, 0, 0, layer, color._r, color._g, color._b, color._a))
end

---Draws a text on a separate plane.
---@param gui Gui the Gui to draw on
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em
---@param material string|Material|nil the material to draw with; nil for the default
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 the left end of the first line's baseline, along the axes of the pose
---@param layer integer its layer
---@param color? Color white if left out
---@param options? table as for `Gui.text`
---@return GuiObject|nil object its number, in a retained Gui
function Gui.text_3d(gui, text, font, size, material, pose, position, layer, color, options)
  local name = "Gui.text_3d"
  check(name, TEXT_3D, gui, text, font, size, material, pose, position, layer, color, options)
  return put_text_3d(name, 3, gui, 0, text, font, size, material, pose, position, layer, color,
    options)
end

local UPDATE_TEXT_3D = { "gui", "Gui", "object", "the number of an object", "text", "string",
  "font", "string or nil", "size", "number", "material", "string, Material or nil",
  "pose", "Matrix4x4", "position", POSITION, "layer", "number", "color", "Color or nil",
  "options", "table or nil" }

---Changes a text on a separate plane. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em
---@param material string|Material|nil the material to draw with; nil for the default
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 the left end of the first line's baseline, along the axes of the pose
---@param layer integer its layer
---@param color? Color white if left out
---@param options? table as for `Gui.text`
function Gui.update_text_3d(gui, object, text, font, size, material, pose, position, layer, color,
  options)
  local name = "Gui.update_text_3d"
  check(name, UPDATE_TEXT_3D, gui, object, text, font, size, material, pose, position, layer,
    color, options)
  put_text_3d(name, 4, gui, object > 0 and object or -1, text, font, size, material, pose,
    position, layer, color, options)
end

-- Queries -----------------------------------------------------------------------------------------

local EXTENTS = { "gui", "Gui", "text", "string", "font", "string or nil", "size", "number",
  "options", "table or nil" }
local found = ffi.new("float[7]")

---Returns the bounds of a text, relative to the point at which it is drawn.
---@param gui Gui the Gui to measure for
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em
---@param options? table as for `Gui.text`
---@return Vector3 min the left bottom
---@return Vector3 max the right top
---@return Vector3 caret the position of the next letter
function Gui.text_extents(gui, text, font, size, options)
  check("Gui.text_extents", EXTENTS, gui, text, font, size, options)
  local number = font_of("Gui.text_extents", 3, font)
  local given = style_of("Gui.text_extents", 5, options)
  if native.text_extents(cx, gui, 0, nil, text, #text, number, size, given, found) < 0 then
    refused("Gui.text_extents")
  end
  return V3(found[0], found[1], 0), V3(found[2], found[3], 0), V3(found[4], found[5], 0)
end

local WORD_WRAP = { "gui", "Gui", "text", "string", "font", "string or nil", "size", "number",
  "width", "number" }

---Breaks a text into lines by the rules of Unicode.
---@param gui Gui the Gui to measure for
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em
---@param width number the maximum width of a line
---@return string[] lines without the spaces and line ends between them
function Gui.word_wrap(gui, text, font, size, width)
  check("Gui.word_wrap", WORD_WRAP, gui, text, font, size, width)
  if not (width > 0) then
    bad_argument("Gui.word_wrap", 5, "width", "a number above 0", width)
  end
  return core.word_wrap(gui, text, font_of("Gui.word_wrap", 3, font), size, width)
end

local HAS_ALL = { "gui", "Gui", "text", "string", "font", "string or nil" }

---Returns true if a font or its fallback fonts have a glyph for every letter of a text.
---@param gui Gui the Gui to check for
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@return boolean complete false if a letter would be shown as missing
function Gui.has_all_glyphs(gui, text, font)
  check("Gui.has_all_glyphs", HAS_ALL, gui, text, font)
  return core.has_all_glyphs(gui, text, font_of("Gui.has_all_glyphs", 3, font))
end

local TEXTURE_SIZE = { "gui", "Gui", "material", "string or Material" }

---Returns the size of the image of a texture or material.
---@param gui Gui the Gui to draw on
---@param material string|Material as for `Gui.bitmap`
---@return Vector2 size in texels
function Gui.texture_size(gui, material)
  check("Gui.texture_size", TEXTURE_SIZE, gui, material)
  return core.texture_size(gui, draw.source_of("Gui.texture_size", 2, material))
end
