-- Error reports and argument conversions of the drawing functions of `Gui`, whose forms are
-- generated from their rows (rows.lua). Conversions of texts are in text.lua. How an argument is
-- checked and unpacked is in src/script/api/gui/arguments.rs.
local core = ...

local ffi, raise = core.ffi, core.raise
local type, format = type, string.format
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

-- Copies a list of vectors into the buffer that native code reads. Returns the number of points.
function shared.take_points(name, index, argument, points, least)
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
    points_buffer[2 * i - 2], points_buffer[2 * i - 1] = point._x, point._y
  end
  return count
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
