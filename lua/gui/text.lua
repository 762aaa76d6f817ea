-- `Gui` text: fonts and options of texts, and line breaks. The functions that draw and measure
-- texts are native: their rows are in src/script/api/gui/rows.rs.
local core = ...

local ffi, raise, bad_argument = core.ffi, core.raise, core.bad_argument
local type, next, format = type, next, string.format
local istype, no_reload = ffi.istype, core.no_reload
local V2, C = core.ctypes.Vector2, core.ctypes.Color
local shared = core.drawing

local Gui = core.module("Gui")

local DEFAULT_FONT = "core/fonts/default"

-- Font numbers by name. Each font is looked up once.
local fonts = {}
shared.fonts = fonts

-- Returns the number of a font, the default font if it is nil. Raises if there is none.
local function font_of(name, index, argument, font)
  font = font or DEFAULT_FONT
  local number = fonts[font]
  if number == nil then
    shared.check_name(name, index, argument, font)
    local message
    number, message = core.gui_font(font)
    if not number then
      raise(format("%s: argument #%d '%s': %s", name, index, argument, message))
    end
    fonts[font] = number
  end
  return number
end
shared.font_of = font_of

-- Options -----------------------------------------------------------------------------------------

-- Text style in the layout that native code reads, with room for spans (TextStyleFloats in
-- src/script/api/gui/text.rs).
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

local BLACK, WHITE, SHADOW = C(255, 0, 0, 0), C(255, 255, 255, 255), C(160, 0, 0, 0)

-- Fills the style from the options. Returns the style for native code, or nil without options.
function shared.style_of(name, index, argument, options)
  if options == nil then return nil end
  core.check_options(name, index, argument, options, options_known)
  ffi.fill(style, SPANS_AT * 4)
  put_color(3, BLACK)
  put_color(8, WHITE)
  put_color(15, SHADOW)
  style[19] = 1
  for key, value in next, options do
    local wanted = options_known[key](value)
    if wanted then
      raise(format("%s: argument #%d '%s': '%s' must be %s, got %s", name, index, argument, key,
        wanted, core.describe(value)))
    end
  end
  if options.spans then style[19] = 0 end
  return style
end

-- Arguments by name -------------------------------------------------------------------------------

-- The size of a text that names none.
local SIZE_DEFAULT = 20

local function is_text(value)
  if type(value) ~= "string" then return "string" end
end

-- Arguments that can be in the table of a text, besides its options.
local arguments_known = {
  font = is_text,
  size = function(value)
    if type(value) ~= "number" then return "number" end
  end,
  material = function(value)
    if type(value) ~= "string" and type(value) ~= "number" then return "string or Material" end
  end,
  color = function(value)
    if not istype(C, value) then return "Color" end
  end,
}
local names_known = {}
for key, check in next, options_known do names_known[key] = check end
for key, check in next, arguments_known do names_known[key] = check end

-- Returns the font, size, material, position, colour and options of a text, from the position and
-- a table of the others by name. `index` is that of the table.
function shared.text_by_name(name, index, position, arguments, more)
  if more ~= nil then
    bad_argument(name, index + 1, "font", "nil after a table of arguments by name", more)
  end
  if arguments == nil then return nil, SIZE_DEFAULT, nil, position, nil, nil end
  core.check_options(name, index, "options", arguments, names_known)
  local options
  for key, value in next, arguments do
    local check = arguments_known[key]
    if not check then
      options = options or {}
      options[key] = value
    else
      local wanted = check(value)
      if wanted then
        raise(format("%s: argument #%d 'options': '%s' must be %s, got %s", name, index, key,
          wanted, core.describe(value)))
      end
    end
  end
  -- Errors of the other options name this table.
  shared.style_of(name, index, "options", options)
  return arguments.font, arguments.size or SIZE_DEFAULT, arguments.material, position,
    arguments.color, options
end

-- Line breaks -------------------------------------------------------------------------------------

---Breaks a text into lines by the rules of Unicode.
---@param gui Gui the Gui to measure for
---@param text string as for `Gui.text`
---@param font string|nil the name of a font; the engine's default font if nil
---@param size number units for each em
---@param width number the maximum width of a line
---@return string[] lines without the spaces and line ends between them
function Gui.word_wrap(gui, text, font, size, width)
  local name = "Gui.word_wrap"
  no_reload(name)
  if type(gui) ~= "number" then bad_argument(name, 1, "gui", "Gui", gui) end
  if type(text) ~= "string" then bad_argument(name, 2, "text", "string", text) end
  if font ~= nil and type(font) ~= "string" then
    bad_argument(name, 3, "font", "string or nil", font)
  end
  if type(size) ~= "number" then bad_argument(name, 4, "size", "number", size) end
  if type(width) ~= "number" then bad_argument(name, 5, "width", "number", width) end
  if not (width > 0) then bad_argument(name, 5, "width", "a number above 0", width) end
  return core.word_wrap(gui, text, font_of(name, 3, "font", font), size, width)
end
