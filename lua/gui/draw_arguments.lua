-- Error reports and argument conversions of the drawing functions of `Gui`, whose forms are
-- generated from their rows (rows.lua). Conversions of texts are in text.lua. How an argument is
-- checked and unpacked is in src/script/api/gui/arguments.rs.
local core = ...

local ffi, raise = core.ffi, core.raise
local type, format, ipairs = type, string.format, ipairs
local istype, no_reload = ffi.istype, core.no_reload
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color
local refusal = core.gui_refusal
local shared = core.drawing

shared.white = C(255, 255, 255, 255)

-- Raises the error that native code reported for the last call.
function shared.raise_refusal(name)
  no_reload(name)
  raise(name .. ": " .. refusal())
end

-- Raises the error for the first wrong argument of a function, whose row has this index.
function shared.raise_argument_error(index, ...)
  core.unpacked_check(index)(core, ...)
end

-- Raises the error for a length below 0.
local function below_zero(name, index, argument, value)
  raise(format("%s: argument #%d '%s' must be 0 or more, got %s", name, index, argument, value))
end
shared.below_zero = below_zero

-- Maximum number of points in a polygon or polyline.
local POINTS_MAX = core.points_max()
local points_buffer = ffi.new("float[?]", 2 * POINTS_MAX)
shared.points_buffer = points_buffer
local uvs_buffer = ffi.new("float[?]", 2 * POINTS_MAX)
shared.uvs_buffer = uvs_buffer
local colors_buffer = ffi.new("float[?]", 4 * POINTS_MAX)
shared.colors_buffer = colors_buffer

-- Copies a list of vectors into a buffer that native code reads. Returns the number of points.
local function take(name, index, argument, points, least, buffer)
  local count = #points
  if count < least or count > POINTS_MAX then
    raise(format("%s: argument #%d '%s' must have %d to %d points, got %d", name, index, argument,
      least, POINTS_MAX, count))
  end
  for i = 1, count do
    local point = points[i]
    if not (istype(V2, point) or istype(V3, point)) then
      raise(format("%s: argument #%d '%s': point %d must be Vector2 or Vector3, got %s", name,
        index, argument, i, core.describe(point)))
    end
    buffer[2 * i - 2], buffer[2 * i - 1] = point._x, point._y
  end
  return count
end

-- Copies the points of a line or polygon.
function shared.take_points(name, index, argument, points, least)
  return take(name, index, argument, points, least, points_buffer)
end

-- Copies the points of an image.
function shared.take_uvs(name, index, argument, points)
  return take(name, index, argument, points, 3, uvs_buffer)
end

-- Copies one colour, or a list of them, white for nil. Returns the number of colours.
function shared.take_colors(name, index, argument, colors)
  local count = 1
  if type(colors) == "table" then
    count = #colors
    if count < 1 or count > POINTS_MAX then
      raise(format("%s: argument #%d '%s' must have 1 to %d colours, got %d", name, index,
        argument, POINTS_MAX, count))
    end
  end
  for i = 1, count do
    local color = colors or shared.white
    if type(colors) == "table" then
      color = colors[i]
      if not istype(C, color) then
        raise(format("%s: argument #%d '%s': colour %d must be Color, got %s", name, index,
          argument, i, core.describe(color)))
      end
    end
    local at = 4 * i - 4
    colors_buffer[at], colors_buffer[at + 1] = color._r, color._g
    colors_buffer[at + 2], colors_buffer[at + 3] = color._b, color._a
  end
  return count
end

-- Ways to mirror an image, and blend modes, by name. Native code has the same numbers; 0 is none.
shared.flips = { x = 1, y = 2, xy = 3 }
shared.blends = {}
for number, name in ipairs(core.gui_blends()) do
  shared.blends[name] = number
end

-- Returns the left, bottom, right and top border of a nine-patch.
function shared.borders_of(name, index, argument, borders)
  if type(borders) == "number" then
    if borders < 0 then below_zero(name, index, argument, borders) end
    return borders, borders, borders, borders
  end
  for i = 1, 4 do
    if type(borders[i]) ~= "number" or #borders ~= 4 then
      raise(format("%s: argument #%d '%s' must be a number or four of them: left, bottom, right, "
        .. "top", name, index, argument))
    end
    if borders[i] < 0 then below_zero(name, index, argument, borders[i]) end
  end
  return borders[1], borders[2], borders[3], borders[4]
end
