-- Color: an immutable colour with alpha, its operators, notations and named colours. The features
-- shared by all value types are in vector.lua.
local core = ...

local ffi, raise, bad_argument, values = core.ffi, core.raise, core.bad_argument, core.values
local type, tonumber, select, describe = type, tonumber, select, core.describe
local abs, floor, max, min = math.abs, math.floor, math.max, math.min
local format = string.format
local istype = ffi.istype
local check_small_color = core.check_small_color

---@module Color
---@node query
---A colour: `Color(r, g, b)`, or `Color(a, r, g, b)` with the alpha first, as in other engines of
---this family; `Color.rgba(r, g, b, a)` has the alpha last. `Color("#ff8000")` reads the notation
---of files, and `Color.from_data` all notations of files. All parts run from 0 to 255; 255 is full
---red, green, blue, or opaque. Parts are 32-bit floats and are not clamped, so that lights may be
---brighter than white. A Color never changes. `color * 0.5` darkens and keeps the alpha;
---`color * other` tints.
---@example
---   local orange = Color(255, 128, 0)
---   assert(orange.a == 255 and Color.to_hex(orange) == "#ff8000")
---   assert(Color("#ff8000") == orange and Color.rgba(255, 128, 0, 255) == orange)
---   print(Color.lerp(orange, Color.white(), 0.5))

---@class (exact) Color
---@field a number the alpha: 0 is invisible, 255 is opaque
---@field r number the red part, 0 to 255
---@field g number the green part, 0 to 255
---@field b number the blue part, 0 to 255
---@overload fun(r: number, g: number, b: number): Color
---@overload fun(a: number, r: number, g: number, b: number): Color
---@overload fun(hex: string): Color
---@operator mul(number): Color
---@operator mul(Color): Color
local Color = core.module("Color")

local C = ffi.typeof("struct { const float _a, _r, _g, _b; }")
local V3, V4 = core.ctypes.Vector3, core.ctypes.Vector4
local FIELDS = "a, r, g, b"
local WITH = {
  a = "Color.with_alpha(c, value)",
  r = "Color.with_red(c, value)",
  g = "Color.with_green(c, value)",
  b = "Color.with_blue(c, value)",
}

local BAD_HEX = '%s: %s is not a colour: write "#rgb", "#rrggbb" or "#rrggbbaa"'

local function parse_hex(name, hex)
  local digits = hex:match("^#?(%x+)$") or ""
  if #digits == 3 then digits = digits:gsub("%x", "%0%0") end
  if #digits == 6 then digits = digits .. "ff" end
  if #digits ~= 8 then raise(format(BAD_HEX, name, describe(hex))) end
  local r, g, b, a = digits:match("^(%x%x)(%x%x)(%x%x)(%x%x)$")
  return C(tonumber(a, 16), tonumber(r, 16), tonumber(g, 16), tonumber(b, 16))
end

local function construct_checked(...)
  local count = select("#", ...)
  if count == 1 and type((...)) == "string" then return parse_hex("Color", (...)) end
  if count ~= 3 and count ~= 4 then
    raise("Color: takes (r, g, b) or (a, r, g, b), 0 to 255 each, or one text such as "
      .. '"#ff8000", got ' .. count .. " arguments")
  end
  local names = count == 3 and "rgb" or "argb"
  for i = 1, count do
    local value = select(i, ...)
    if type(value) ~= "number" then bad_argument("Color", i, names:sub(i, i), "number", value) end
  end
end

local function construct(_, ...)
  local p, q, r, s = ...
  if type(p) == "number" and type(q) == "number" and type(r) == "number" then
    local count = select("#", ...)
    if count == 3 then
      local sum = p + q + r
      if sum <= 3 and sum > 0 then check_small_color(p, q, r) end
      return C(255, p, q, r)
    end
    if count == 4 and type(s) == "number" then
      if p > 0 and p <= 1 or s > 0 and s < 1 then check_small_color(p, q, r, s) end
      return C(p, q, r, s)
    end
  end
  return construct_checked(...)
end

values.callable(Color, construct)

local meta = {}
values.common_operators(meta, "Color", "use one of its fields")

meta.__index = function(c, key)
  if key == "a" then return c._a end
  if key == "r" then return c._r end
  if key == "g" then return c._g end
  if key == "b" then return c._b end
  values.no_field("Color", "c", Color, FIELDS, key)
end

meta.__newindex = function(_, key)
  values.no_assignment("Color", "c", Color, FIELDS, WITH, key)
end

meta.__tostring = function(c) return values.text("Color", c._a, c._r, c._g, c._b) end

-- Runs for any two operands: nil and numbers must compare as different, not raise.
meta.__eq = function(x, y)
  if istype(C, x) and istype(C, y) then
    return x._a == y._a and x._r == y._r and x._g == y._g and x._b == y._b
  end
  return false
end

local function scaled(c, factor)
  return C(c._a, c._r * factor, c._g * factor, c._b * factor)
end

local function tinted(x, y)
  return C(x._a * y._a / 255, x._r * y._r / 255, x._g * y._g / 255, x._b * y._b / 255)
end

meta.__mul = function(x, y)
  if type(y) == "number" then return scaled(x, y) end
  if type(x) == "number" then return scaled(y, x) end
  if istype(C, x) and istype(C, y) then return tinted(x, y) end
  values.cannot("multiply", x, "and", y, "a Color multiplies a number or a Color")
end

local MIX = "use Color.lerp to mix colours"
meta.__add = function(x, y) values.cannot("add", x, "and", y, MIX) end
meta.__sub = function(x, y) values.cannot("subtract", y, "from", x, MIX) end
meta.__div = function(x, y) values.cannot("divide", x, "by", y, "use c * (1 / divisor)") end
meta.__unm = function() raise("cannot negate Color") end

ffi.metatype(C, meta)
core.ctypes.Color = C
core.make_color = C

local function check(name, c)
  if not istype(C, c) then bad_argument(name, 1, "c", "Color", c) end
end

local function check_number(name, i, argument, value)
  if type(value) ~= "number" then bad_argument(name, i, argument, "number", value) end
end

---Returns white.
---@return Color Color(255, 255, 255, 255)
function Color.white()
  return C(255, 255, 255, 255)
end

---Returns black.
---@return Color Color(255, 0, 0, 0)
function Color.black()
  return C(255, 0, 0, 0)
end

---Returns middle gray.
---@return Color Color(255, 128, 128, 128)
function Color.gray()
  return C(255, 128, 128, 128)
end

---Returns red.
---@return Color Color(255, 255, 0, 0)
function Color.red()
  return C(255, 255, 0, 0)
end

---Returns green.
---@return Color Color(255, 0, 255, 0)
function Color.green()
  return C(255, 0, 255, 0)
end

---Returns blue.
---@return Color Color(255, 0, 0, 255)
function Color.blue()
  return C(255, 0, 0, 255)
end

---Returns yellow.
---@return Color Color(255, 255, 255, 0)
function Color.yellow()
  return C(255, 255, 255, 0)
end

---Returns cyan.
---@return Color Color(255, 0, 255, 255)
function Color.cyan()
  return C(255, 0, 255, 255)
end

---Returns magenta.
---@return Color Color(255, 255, 0, 255)
function Color.magenta()
  return C(255, 255, 0, 255)
end

---Returns orange.
---@return Color Color(255, 255, 165, 0)
function Color.orange()
  return C(255, 255, 165, 0)
end

---Returns transparent black.
---@return Color Color(0, 0, 0, 0)
function Color.transparent()
  return C(0, 0, 0, 0)
end

---Returns the alpha: 0 is invisible, 255 is opaque; `c.a` is the same.
---@param c Color the colour
---@return number the alpha
function Color.a(c)
  check("Color.a", c)
  return c._a
end

---Returns the red part, 0 to 255; `c.r` is the same.
---@param c Color the colour
---@return number the red part
function Color.r(c)
  check("Color.r", c)
  return c._r
end

---Returns the green part, 0 to 255; `c.g` is the same.
---@param c Color the colour
---@return number the green part
function Color.g(c)
  check("Color.g", c)
  return c._g
end

---Returns the blue part, 0 to 255; `c.b` is the same.
---@param c Color the colour
---@return number the blue part
function Color.b(c)
  check("Color.b", c)
  return c._b
end

---Returns a copy of the colour with another alpha part.
---@param c Color the colour
---@param alpha number the new alpha: 0 is invisible, 255 is opaque
---@return Color the changed copy
function Color.with_alpha(c, alpha)
  check("Color.with_alpha", c)
  check_number("Color.with_alpha", 2, "alpha", alpha)
  return C(alpha, c._r, c._g, c._b)
end

---Returns a copy of the colour with another red part.
---@param c Color the colour
---@param red number the new red part, 0 to 255
---@return Color the changed copy
function Color.with_red(c, red)
  check("Color.with_red", c)
  check_number("Color.with_red", 2, "red", red)
  return C(c._a, red, c._g, c._b)
end

---Returns a copy of the colour with another green part.
---@param c Color the colour
---@param green number the new green part, 0 to 255
---@return Color the changed copy
function Color.with_green(c, green)
  check("Color.with_green", c)
  check_number("Color.with_green", 2, "green", green)
  return C(c._a, c._r, green, c._b)
end

---Returns a copy of the colour with another blue part.
---@param c Color the colour
---@param blue number the new blue part, 0 to 255
---@return Color the changed copy
function Color.with_blue(c, blue)
  check("Color.with_blue", c)
  check_number("Color.with_blue", 2, "blue", blue)
  return C(c._a, c._r, c._g, blue)
end

---Returns the four parts as separate numbers, alpha first.
---@param c Color the colour
---@return number a
---@return number r
---@return number g
---@return number b
function Color.to_elements(c)
  check("Color.to_elements", c)
  return c._a, c._r, c._g, c._b
end

---Returns the four parts as a list, alpha first. Lists in files have it last: write
---`Color.to_hex` into a file.
---@param c Color the colour
---@return number[] a, r, g and b
function Color.as_table(c)
  check("Color.as_table", c)
  return { c._a, c._r, c._g, c._b }
end

---Returns the colour as text, the same as `tostring(c)`.
---@param c Color the colour
---@return string text such as `Color(255, 255, 128, 0)`: a, r, g, b
function Color.to_string(c)
  check("Color.to_string", c)
  return meta.__tostring(c)
end

---Returns true if two colours are exactly equal; `a == b` is the same.
---@param a Color the first colour
---@param b Color the second colour
---@return boolean true if all parts are equal
function Color.equal(a, b)
  if not istype(C, a) then bad_argument("Color.equal", 1, "a", "Color", a) end
  if not istype(C, b) then bad_argument("Color.equal", 2, "b", "Color", b) end
  return a == b
end

---Returns true if two colours differ by no more than a tolerance in every part.
---@param a Color the first colour
---@param b Color the second colour
---@param tolerance? number the largest difference allowed, on the scale to 255; 0.01 if left out
---@return boolean true if all parts are that close
function Color.almost_equal(a, b, tolerance)
  if not istype(C, a) then bad_argument("Color.almost_equal", 1, "a", "Color", a) end
  if not istype(C, b) then bad_argument("Color.almost_equal", 2, "b", "Color", b) end
  if tolerance == nil then tolerance = 0.01 end
  check_number("Color.almost_equal", 3, "tolerance", tolerance)
  return abs(a._a - b._a) <= tolerance
    and abs(a._r - b._r) <= tolerance
    and abs(a._g - b._g) <= tolerance
    and abs(a._b - b._b) <= tolerance
end

---Returns true if all parts are finite: no NaN and no infinity.
---@param c Color the colour
---@return boolean true if every part is finite
function Color.is_valid(c)
  check("Color.is_valid", c)
  -- x - x is 0 for finite numbers and NaN for the others.
  local a, r, g, b = c._a, c._r, c._g, c._b
  return a - a == 0 and r - r == 0 and g - g == 0 and b - b == 0
end

---Returns the colour at t between two colours; alpha is mixed like the other parts.
---@param a Color the result for t = 0
---@param b Color the result for t = 1
---@param t number interpolation factor from a to b, not clamped
---@return Color the mixed colour
function Color.lerp(a, b, t)
  if not istype(C, a) then bad_argument("Color.lerp", 1, "a", "Color", a) end
  if not istype(C, b) then bad_argument("Color.lerp", 2, "b", "Color", b) end
  check_number("Color.lerp", 3, "t", t)
  return C(
    a._a + (b._a - a._a) * t,
    a._r + (b._r - a._r) * t,
    a._g + (b._g - a._g) * t,
    a._b + (b._b - a._b) * t
  )
end

---Returns a darker or brighter colour with the same alpha. `c * factor` is the same.
---@param c Color the colour
---@param factor number 0 gives black, 1 changes nothing
---@return Color the scaled colour
function Color.multiply(c, factor)
  check("Color.multiply", c)
  check_number("Color.multiply", 2, "factor", factor)
  return scaled(c, factor)
end

---Returns a colour multiplied by a tint: all parts are multiplied, where 255 counts as 1. `a * b`
---is the same.
---@param a Color the colour
---@param b Color the tint; white changes nothing
---@return Color the tinted colour
function Color.tint(a, b)
  if not istype(C, a) then bad_argument("Color.tint", 1, "a", "Color", a) end
  if not istype(C, b) then bad_argument("Color.tint", 2, "b", "Color", b) end
  return tinted(a, b)
end

---Returns the colour of a hexadecimal notation, as on the web; the "#" may be left out.
---@param hex string "#rgb", "#rrggbb" or "#rrggbbaa"
---@return Color the colour
function Color.from_hex(hex)
  if type(hex) ~= "string" then bad_argument("Color.from_hex", 1, "hex", "string", hex) end
  return parse_hex("Color.from_hex", hex)
end

---Returns the colour that a value of a file means, such as a field of a `.config`: a text
---"#rrggbb" or "#rrggbbaa", or a list of red, green, blue and, if it is not opaque, alpha, each
---from 0 to 255.
---@param value string|number[] the value
---@return Color the colour
function Color.from_data(value)
  if type(value) == "string" then return parse_hex("Color.from_data", value) end
  if type(value) ~= "table" then
    bad_argument("Color.from_data", 1, "value", 'text such as "#ff8000", or a list', value)
  end
  local count = #value
  if count ~= 3 and count ~= 4 then
    raise("Color.from_data: a list must have red, green and blue, and may have alpha, got "
      .. count .. " values")
  end
  for i = 1, count do
    local part = value[i]
    if type(part) ~= "number" or not (part >= 0 and part <= 255) then
      raise(format("Color.from_data: part #%d must be a number from 0 to 255, got %s", i,
        describe(part)))
    end
  end
  return C(value[4] or 255, value[1], value[2], value[3])
end

---Returns a colour with the alpha last, as files have it. `Color(a, r, g, b)` has it first, as in
---other engines of this family.
---@param r number the red part, 0 to 255
---@param g number the green part, 0 to 255
---@param b number the blue part, 0 to 255
---@param a? number the alpha: 0 is invisible, 255 is opaque (255)
---@return Color the colour
function Color.rgba(r, g, b, a)
  check_number("Color.rgba", 1, "r", r)
  check_number("Color.rgba", 2, "g", g)
  check_number("Color.rgba", 3, "b", b)
  if a == nil then return C(255, r, g, b) end
  check_number("Color.rgba", 4, "a", a)
  return C(a, r, g, b)
end

local function byte(part)
  return floor(max(0, min(255, part)) + 0.5)
end

---Returns the hexadecimal notation of a colour, rounded and clamped to whole bytes.
---@param c Color the colour, without NaN
---@return string "#rrggbb" for an opaque colour, otherwise "#rrggbbaa"
function Color.to_hex(c)
  check("Color.to_hex", c)
  if not Color.is_valid(c) then raise("Color.to_hex: the colour is not finite: " .. c) end
  local text = format("#%02x%02x%02x", byte(c._r), byte(c._g), byte(c._b))
  local alpha = byte(c._a)
  return alpha == 255 and text or text .. format("%02x", alpha)
end

-- Returns one part of the hexcone, from 0 to 1. Source: A. R. Smith, "Color gamut transform pairs",
-- SIGGRAPH 1978; in this form, the part numbers are 5, 3 and 1 for red, green and blue.
local function hexcone(part, h, s, v)
  local k = (part + h / 60) % 6
  return (v - v * s * max(0, min(k, 4 - k, 1))) * 255
end

---Returns the opaque colour of a hue, a saturation and a value.
---@param h number hue in degrees: 0 red, 120 green, 240 blue; it wraps around
---@param s number saturation, 0 (gray) to 1
---@param v number value, 0 (black) to 1
---@return Color the colour
function Color.from_hsv(h, s, v)
  check_number("Color.from_hsv", 1, "h", h)
  check_number("Color.from_hsv", 2, "s", s)
  check_number("Color.from_hsv", 3, "v", v)
  return C(255, hexcone(5, h, s, v), hexcone(3, h, s, v), hexcone(1, h, s, v))
end

---Returns the hue, the saturation and the value of a colour.
---@param c Color the colour
---@return number hue in degrees from 0 to 360; 0 for grays
---@return number saturation, 0 to 1
---@return number value, 0 to 1
function Color.to_hsv(c)
  check("Color.to_hsv", c)
  local r, g, b = c._r, c._g, c._b
  local highest = max(r, g, b)
  local range = highest - min(r, g, b)
  if range == 0 then return 0, 0, highest / 255 end
  local hue
  if highest == r then
    hue = ((g - b) / range) % 6
  elseif highest == g then
    hue = (b - r) / range + 2
  else
    hue = (r - g) / range + 4
  end
  return hue * 60, range / highest, highest / 255
end

---Returns red, green and blue as a vector, where 255 is 1, for materials and lights.
---@param c Color the colour
---@return Vector3 r, g and b from 0 to 1
function Color.to_vector3(c)
  check("Color.to_vector3", c)
  return V3(c._r / 255, c._g / 255, c._b / 255)
end

---Returns red, green, blue and alpha as a vector, where 255 is 1, for materials and lights.
---@param c Color the colour
---@return Vector4 r, g, b and a from 0 to 1
function Color.to_vector4(c)
  check("Color.to_vector4", c)
  return V4(c._r / 255, c._g / 255, c._b / 255, c._a / 255)
end
