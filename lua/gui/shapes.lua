-- `Gui` shapes: rounded rectangles, outlines, lines, circles, arcs, polygons and nine-patches, and
-- the `_3d` forms, which are drawn on separate planes. Shared helpers are in gui.lua.
local core = ...

local ffi, raise = core.ffi, core.raise
local type, format, min = type, string.format, math.min
local istype = ffi.istype
local V2, V3 = core.ctypes.Vector2, core.ctypes.Vector3
local draw = core.draw
local cx, native, WHITE = draw.cx, draw.native, draw.white
local check, drawn, place_of, source_of = draw.check, draw.drawn, draw.place_of, draw.source_of
local refused, C = draw.refused, core.ctypes.Color

local Gui = core.module("Gui")

local POSITION, SIZE, COLOR = "Vector3 or Vector2", "Vector2 or Vector3", "Color or nil"

-- Converts an object's number for native code. An invalid number becomes -1, which is no object.
local function known(object)
  return object > 0 and object or -1
end

-- Maximum number of points in a polygon or polyline (POINTS_MAX in src/system/gui/tessellation.rs).
local POINTS_MAX = 4096
local points_buffer = ffi.new("float[?]", 2 * POINTS_MAX)

-- Copies a list of vectors into the buffer that native code reads. Returns the number of points.
local function take_points(name, index, points, least)
  local count = #points
  if count < least or count > POINTS_MAX then
    raise(format("%s: argument #%d 'points' must have %d to %d points, got %d", name, index, least,
      POINTS_MAX, count))
  end
  for i = 1, count do
    local point = points[i]
    if not (istype(V2, point) or istype(V3, point)) then
      raise(format("%s: argument #%d 'points': point %d must be Vector2 or Vector3, got %s", name,
        index, i, core.describe(point)))
    end
    points_buffer[2 * i - 2], points_buffer[2 * i - 1] = point._x, point._y
  end
  return count
end

-- Raises if a size is below 0.
local function check_positive(name, index, argument, value)
  if value < 0 then
    raise(format("%s: argument #%d '%s' must be 0 or more, got %s", name, index, argument, value))
  end
end

-- Boxes -------------------------------------------------------------------------------------------

local function put_box(name, gui, object, position, size, radius, outline, color)
  local x, y, z = place_of(position)
  color = color or WHITE
  return drawn(name, native.boxed(cx, gui, object, nil, x, y, z, size._x, size._y, radius, outline,
    color._r, color._g, color._b, color._a))
end

local RECT_OUTLINE = { "gui", "Gui", "position", POSITION, "size", SIZE, "thickness", "number",
  "color", COLOR }

---Draws the outline of a rectangle, inside its edges.
---@param gui Gui the Gui to draw on
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height
---@param thickness number the width of the line
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a rect
function Gui.rect_outline(gui, position, size, thickness, color)
  if type(gui) == "number" and istype(V3, position) and istype(V2, size)
    and type(thickness) == "number" and thickness >= 0 and istype(C, color) then
    local object = native.boxed(cx, gui, 0, nil, position._x, position._y, position._z,
      size._x, size._y, 0, thickness, color._r, color._g, color._b, color._a)
    if object == 0 then return end
    if object > 0 then return object end
    refused("Gui.rect_outline")
  end
  check("Gui.rect_outline", RECT_OUTLINE, gui, position, size, thickness, color)
  check_positive("Gui.rect_outline", 4, "thickness", thickness)
  return put_box("Gui.rect_outline", gui, 0, position, size, 0, thickness, color)
end

local ROUNDED = { "gui", "Gui", "position", POSITION, "size", SIZE, "radius", "number",
  "color", COLOR, "outline", "number or nil" }

---Draws a rectangle with round corners.
---@param gui Gui the Gui to draw on
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height
---@param radius number corner radius
---@param color? Color white if left out
---@param outline? number the width of its outline, inside its edges; filled if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a rect
function Gui.rounded_rect(gui, position, size, radius, color, outline)
  check("Gui.rounded_rect", ROUNDED, gui, position, size, radius, color, outline)
  check_positive("Gui.rounded_rect", 4, "radius", radius)
  check_positive("Gui.rounded_rect", 6, "outline", outline or 0)
  return put_box("Gui.rounded_rect", gui, 0, position, size, radius, outline or 0, color)
end

local UPDATE_ROUNDED = { "gui", "Gui", "object", "the number of an object", "position", POSITION,
  "size", SIZE, "radius", "number", "color", COLOR, "outline", "number or nil" }

---Changes a rectangle in a retained Gui to one with round corners or an outline. The call replaces
---all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height
---@param radius number corner radius; 0 for square corners
---@param color? Color white if left out
---@param outline? number the width of its outline, inside its edges; filled if left out
function Gui.update_rounded_rect(gui, object, position, size, radius, color, outline)
  local name = "Gui.update_rounded_rect"
  check(name, UPDATE_ROUNDED, gui, object, position, size, radius, color, outline)
  check_positive(name, 5, "radius", radius)
  check_positive(name, 7, "outline", outline or 0)
  put_box(name, gui, known(object), position, size, radius, outline or 0, color)
end

local NINE_PATCH = { "gui", "Gui", "material", "string or Material", "borders", "number or table",
  "position", POSITION, "size", SIZE, "color", COLOR }

draw.types["number or table"] = function(value)
  return type(value) == "number" or type(value) == "table"
end

-- Returns the left, bottom, right and top border.
local function borders_of(name, index, borders)
  if type(borders) == "number" then
    check_positive(name, index, "borders", borders)
    return borders, borders, borders, borders
  end
  for i = 1, 4 do
    if type(borders[i]) ~= "number" or #borders ~= 4 then
      raise(format("%s: argument #%d 'borders' must be a number or four of them: left, bottom, "
        .. "right, top", name, index))
    end
    check_positive(name, index, "borders", borders[i])
  end
  return borders[1], borders[2], borders[3], borders[4]
end

local function put_nine_patch(name, index, gui, object, material, borders, position, size, color)
  local source = source_of(name, index, material)
  local left, bottom, right, top = borders_of(name, index + 1, borders)
  local x, y, z = place_of(position)
  color = color or WHITE
  return drawn(name, native.nine_patch(cx, gui, object, nil, source, left, bottom, right, top,
    x, y, z, size._x, size._y, color._r, color._g, color._b, color._a))
end

---Draws a nine-patch: an image whose borders keep their size while its middle is stretched, for
---example a button or a window.
---@param gui Gui the Gui to draw on
---@param material string|Material as for `Gui.bitmap`
---@param borders number|number[] widths in texels: one number, or left, bottom, right, top
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height; borders that do not fit shrink
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a bitmap
function Gui.nine_patch(gui, material, borders, position, size, color)
  check("Gui.nine_patch", NINE_PATCH, gui, material, borders, position, size, color)
  return put_nine_patch("Gui.nine_patch", 2, gui, 0, material, borders, position, size, color)
end

local UPDATE_NINE_PATCH = { "gui", "Gui", "object", "the number of an object",
  "material", "string or Material", "borders", "number or table", "position", POSITION,
  "size", SIZE, "color", COLOR }

---Changes a nine-patch in a retained Gui. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param material string|Material as for `Gui.bitmap`
---@param borders number|number[] as for `Gui.nine_patch`
---@param position Vector3|Vector2 its left bottom; z is the layer
---@param size Vector2 its width and height
---@param color? Color white if left out
function Gui.update_nine_patch(gui, object, material, borders, position, size, color)
  local name = "Gui.update_nine_patch"
  check(name, UPDATE_NINE_PATCH, gui, object, material, borders, position, size, color)
  put_nine_patch(name, 3, gui, known(object), material, borders, position, size, color)
end

-- Lines and circles -------------------------------------------------------------------------------

local LINE = { "gui", "Gui", "from", POSITION, "to", POSITION, "thickness", "number",
  "color", COLOR }

---Draws a straight line.
---@param gui Gui the Gui to draw on
---@param from Vector3|Vector2 one end; z is the layer
---@param to Vector3|Vector2 the other end
---@param thickness number the width of the line
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a shape
function Gui.line(gui, from, to, thickness, color)
  check("Gui.line", LINE, gui, from, to, thickness, color)
  check_positive("Gui.line", 4, "thickness", thickness)
  local x, y, z = place_of(from)
  color = color or WHITE
  return drawn("Gui.line", native.line(cx, gui, 0, nil, x, y, to._x, to._y, z, thickness,
    color._r, color._g, color._b, color._a))
end

local POLYLINE = { "gui", "Gui", "points", "table", "thickness", "number", "layer", "number or nil",
  "color", COLOR, "closed", "boolean or nil" }

---Draws a line through points, with round joins. In a translucent line, overlapping parts are
---visible.
---@param gui Gui the Gui to draw on
---@param points (Vector2|Vector3)[] 2 to 4096 points; only x and y are used
---@param thickness number the width of the line
---@param layer? integer 0 if left out
---@param color? Color white if left out
---@param closed? boolean true to join the last point to the first
---@return GuiObject|nil object its number, in a retained Gui; the object is a shape
function Gui.polyline(gui, points, thickness, layer, color, closed)
  check("Gui.polyline", POLYLINE, gui, points, thickness, layer, color, closed)
  check_positive("Gui.polyline", 3, "thickness", thickness)
  local count = take_points("Gui.polyline", 2, points, 2)
  color = color or WHITE
  return drawn("Gui.polyline", native.polyline(cx, gui, 0, nil, points_buffer, count,
    closed and 1 or 0, thickness, layer or 0, color._r, color._g, color._b, color._a))
end

local POLYGON = { "gui", "Gui", "points", "table", "layer", "number or nil", "color", COLOR }

---Draws a filled polygon. Its edges must not cross: the area covered is then undefined.
---@param gui Gui the Gui to draw on
---@param points (Vector2|Vector3)[] 3 to 4096 corners; only x and y are used
---@param layer? integer 0 if left out
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a shape
function Gui.polygon(gui, points, layer, color)
  check("Gui.polygon", POLYGON, gui, points, layer, color)
  local count = take_points("Gui.polygon", 2, points, 3)
  color = color or WHITE
  return drawn("Gui.polygon", native.polygon(cx, gui, 0, nil, points_buffer, count, layer or 0,
    color._r, color._g, color._b, color._a))
end

local CIRCLE = { "gui", "Gui", "center", POSITION, "radius", "number", "color", COLOR,
  "outline", "number or nil" }

local function put_ellipse(name, gui, center, rx, ry, color, outline)
  local x, y, z = place_of(center)
  color = color or WHITE
  return drawn(name, native.ellipse(cx, gui, 0, nil, x, y, z, rx, ry, outline or 0,
    color._r, color._g, color._b, color._a))
end

---Draws a circle.
---@param gui Gui the Gui to draw on
---@param center Vector3|Vector2 its center; z is the layer
---@param radius number from the center to its edge
---@param color? Color white if left out
---@param outline? number the width of its outline, inside its edge; filled if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a shape
function Gui.circle(gui, center, radius, color, outline)
  check("Gui.circle", CIRCLE, gui, center, radius, color, outline)
  check_positive("Gui.circle", 3, "radius", radius)
  check_positive("Gui.circle", 5, "outline", outline or 0)
  return put_ellipse("Gui.circle", gui, center, radius, radius, color, outline)
end

local ELLIPSE = { "gui", "Gui", "center", POSITION, "radii", SIZE, "color", COLOR,
  "outline", "number or nil" }

---Draws an ellipse.
---@param gui Gui the Gui to draw on
---@param center Vector3|Vector2 its center; z is the layer
---@param radii Vector2 half its width and half its height
---@param color? Color white if left out
---@param outline? number the width of its outline, inside its edge; filled if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a shape
function Gui.ellipse(gui, center, radii, color, outline)
  check("Gui.ellipse", ELLIPSE, gui, center, radii, color, outline)
  check_positive("Gui.ellipse", 3, "radii", min(radii._x, radii._y))
  check_positive("Gui.ellipse", 5, "outline", outline or 0)
  return put_ellipse("Gui.ellipse", gui, center, radii._x, radii._y, color, outline)
end

local ARC = { "gui", "Gui", "center", POSITION, "radius", "number", "from", "number",
  "to", "number", "color", COLOR, "thickness", "number or nil" }

---Draws a part of a circle: a slice, or a part of a ring.
---@param gui Gui the Gui to draw on
---@param center Vector3|Vector2 the circle's center; z is the layer
---@param radius number from the center to the edge
---@param from number the start angle: radians counterclockwise, 0 is to the right
---@param to number the end angle
---@param color? Color white if left out
---@param thickness? number the width of the ring; the whole slice is filled if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a shape
function Gui.arc(gui, center, radius, from, to, color, thickness)
  check("Gui.arc", ARC, gui, center, radius, from, to, color, thickness)
  check_positive("Gui.arc", 3, "radius", radius)
  local x, y, z = place_of(center)
  color = color or WHITE
  thickness = thickness or radius
  check_positive("Gui.arc", 7, "thickness", thickness)
  -- NaN passes this comparison unchanged, and native code refuses it.
  if thickness > radius then thickness = radius end
  return drawn("Gui.arc", native.arc(cx, gui, 0, nil, x, y, z, radius, thickness, from, to,
    color._r, color._g, color._b, color._a))
end

-- Separate planes ---------------------------------------------------------------------------------

-- Returns a pose moved by a position along the pose's axes.
local function posed(pose, position)
  local x, y, z = place_of(position)
  if x == 0 and y == 0 and z == 0 then return pose end
  return core.module("Matrix4x4").from_translation(V3(x, y, z)) * pose
end
draw.posed = posed

local RECT_3D = { "gui", "Gui", "pose", "Matrix4x4", "position", POSITION, "layer", "number",
  "size", SIZE, "color", COLOR }

local function put_rect_3d(name, gui, object, pose, position, layer, size, color)
  color = color or WHITE
  return drawn(name, native.rect(cx, gui, object, posed(pose, position), 0, 0, layer,
    size._x, size._y, color._r, color._g, color._b, color._a))
end

---Draws a filled rectangle on a separate plane.
---@param gui Gui the Gui to draw on
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 its left bottom, along the axes of the pose
---@param layer integer its layer
---@param size Vector2 its width and height
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui
function Gui.rect_3d(gui, pose, position, layer, size, color)
  check("Gui.rect_3d", RECT_3D, gui, pose, position, layer, size, color)
  return put_rect_3d("Gui.rect_3d", gui, 0, pose, position, layer, size, color)
end

local UPDATE_RECT_3D = { "gui", "Gui", "object", "the number of an object", "pose", "Matrix4x4",
  "position", POSITION, "layer", "number", "size", SIZE, "color", COLOR }

---Changes a rectangle on a separate plane. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 its left bottom, along the axes of the pose
---@param layer integer its layer
---@param size Vector2 its width and height
---@param color? Color white if left out
function Gui.update_rect_3d(gui, object, pose, position, layer, size, color)
  local name = "Gui.update_rect_3d"
  check(name, UPDATE_RECT_3D, gui, object, pose, position, layer, size, color)
  put_rect_3d(name, gui, known(object), pose, position, layer, size, color)
end

local BITMAP_3D = { "gui", "Gui", "material", "string or Material", "pose", "Matrix4x4",
  "position", POSITION, "layer", "number", "size", SIZE, "color", COLOR }

local function put_bitmap_3d(name, index, gui, object, material, pose, position, layer, size, color)
  local source = source_of(name, index, material)
  color = color or WHITE
  return drawn(name, native.bitmap(cx, gui, object, posed(pose, position), source, 0, 0, layer,
    size._x, size._y, color._r, color._g, color._b, color._a))
end

---Draws an image on a separate plane.
---@param gui Gui the Gui to draw on
---@param material string|Material as for `Gui.bitmap`
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 its left bottom, along the axes of the pose
---@param layer integer its layer
---@param size Vector2 its width and height
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui
function Gui.bitmap_3d(gui, material, pose, position, layer, size, color)
  check("Gui.bitmap_3d", BITMAP_3D, gui, material, pose, position, layer, size, color)
  return put_bitmap_3d("Gui.bitmap_3d", 2, gui, 0, material, pose, position, layer, size, color)
end

local UPDATE_BITMAP_3D = { "gui", "Gui", "object", "the number of an object",
  "material", "string or Material", "pose", "Matrix4x4", "position", POSITION, "layer", "number",
  "size", SIZE, "color", COLOR }

---Changes an image on a separate plane. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param material string|Material as for `Gui.bitmap`
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 its left bottom, along the axes of the pose
---@param layer integer its layer
---@param size Vector2 its width and height
---@param color? Color white if left out
function Gui.update_bitmap_3d(gui, object, material, pose, position, layer, size, color)
  local name = "Gui.update_bitmap_3d"
  check(name, UPDATE_BITMAP_3D, gui, object, material, pose, position, layer, size, color)
  put_bitmap_3d(name, 3, gui, known(object), material, pose, position, layer, size, color)
end

local BITMAP_3D_UV = { "gui", "Gui", "material", "string or Material", "uv00", "Vector2",
  "uv11", "Vector2", "pose", "Matrix4x4", "position", POSITION, "layer", "number", "size", SIZE,
  "color", COLOR }

local function put_bitmap_3d_uv(name, index, gui, object, material, uv00, uv11, pose, position,
  layer, size, color)
  local source = source_of(name, index, material)
  color = color or WHITE
  return drawn(name, native.bitmap_uv(cx, gui, object, posed(pose, position), source, uv00._x,
    uv00._y, uv11._x, uv11._y, 0, 0, layer, size._x, size._y, color._r, color._g, color._b,
    color._a))
end

---Draws a part of an image on a separate plane.
---@param gui Gui the Gui to draw on
---@param material string|Material as for `Gui.bitmap`
---@param uv00 Vector2 the part's left top, from 0, 0 (the image's left top) to 1, 1
---@param uv11 Vector2 the part's right bottom
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 its left bottom, along the axes of the pose
---@param layer integer its layer
---@param size Vector2 its width and height
---@param color? Color white if left out
---@return GuiObject|nil object its number, in a retained Gui; the object is a bitmap
function Gui.bitmap_3d_uv(gui, material, uv00, uv11, pose, position, layer, size, color)
  local name = "Gui.bitmap_3d_uv"
  check(name, BITMAP_3D_UV, gui, material, uv00, uv11, pose, position, layer, size, color)
  return put_bitmap_3d_uv(name, 2, gui, 0, material, uv00, uv11, pose, position, layer, size, color)
end

local UPDATE_BITMAP_3D_UV = { "gui", "Gui", "object", "the number of an object",
  "material", "string or Material", "uv00", "Vector2", "uv11", "Vector2", "pose", "Matrix4x4",
  "position", POSITION, "layer", "number", "size", SIZE, "color", COLOR }

---Changes a part of an image on a separate plane. The call replaces all of its properties.
---@param gui Gui the Gui that contains it
---@param object GuiObject its number
---@param material string|Material as for `Gui.bitmap`
---@param uv00 Vector2 the part's left top, from 0, 0 (the image's left top) to 1, 1
---@param uv11 Vector2 the part's right bottom
---@param pose Matrix4x4 the plane: to the right along its x axis, up along its z axis
---@param position Vector3 its left bottom, along the axes of the pose
---@param layer integer its layer
---@param size Vector2 its width and height
---@param color? Color white if left out
function Gui.update_bitmap_3d_uv(gui, object, material, uv00, uv11, pose, position, layer, size,
  color)
  local name = "Gui.update_bitmap_3d_uv"
  check(name, UPDATE_BITMAP_3D_UV, gui, object, material, uv00, uv11, pose, position, layer, size,
    color)
  put_bitmap_3d_uv(name, 3, gui, known(object), material, uv00, uv11, pose, position, layer, size,
    color)
end
