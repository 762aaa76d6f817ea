-- `Gui`: transforms, clip rectangles and blend modes. Games pass vectors, or the numbers alone. The
-- functions that change a Gui are native: src/script/api/gui/mod.rs and drawing_state.rs.
local core = ...

local type, istype = type, core.ffi.istype
local V2, V3 = core.ctypes.Vector2, core.ctypes.Vector3
local bad_argument = core.bad_argument
local Gui = core.module("Gui")
local format, blends = string.format, core.drawing.blends

-- Returns the components of a vector, or two numbers. `index` is the position of the argument.
local function pair(name, index, argument, x, y)
  if type(x) == "number" and type(y) == "number" then
    return x, y
  elseif (istype(V2, x) or istype(V3, x)) and y == nil then
    return x.x, x.y
  elseif type(x) == "number" or (istype(V2, x) or istype(V3, x)) then
    bad_argument(name, index + 1, "y", type(x) == "number" and "number" or "nil after a vector", y)
  end
  bad_argument(name, index, argument, "Vector2, Vector3 or two numbers", x)
end

-- Returns the components of a vector.
local function vector(name, index, argument, value)
  if istype(V2, value) or istype(V3, value) then
    return value.x, value.y
  end
  bad_argument(name, index, argument, "Vector2 or Vector3", value)
end

---Moves everything that is drawn next.
---@param gui Gui a Gui
---@param x number|Vector2|Vector3 how far to the right; or a vector, whose z has no effect
---@param y? number how far up; left out after a vector
function Gui.translate(gui, x, y)
  core.gui_translate(gui, pair("Gui.translate", 2, "x", x, y))
end

---Scales everything that is drawn next, from the origin.
---@param gui Gui a Gui
---@param x number|Vector2|Vector3 the factor to the right; or a vector, whose z has no effect
---@param y? number the factor up; the same as `x` if left out after a number
function Gui.scale(gui, x, y)
  if y == nil and type(x) == "number" then
    y = x
  end
  core.gui_scale(gui, pair("Gui.scale", 2, "x", x, y))
end

---Shears everything that is drawn next, along the axes: a point at height 1 moves by `x` to the
---right, and a point 1 to the right moves up by `y`.
---@param gui Gui a Gui
---@param x number|Vector2|Vector3 how far the x axis is slanted; or a vector, whose z has no effect
---@param y? number how far the y axis is slanted; 0 if left out after a number
function Gui.shear(gui, x, y)
  if y == nil and type(x) == "number" then
    y = 0
  end
  x, y = pair("Gui.shear", 2, "x", x, y)
  core.gui_shear(gui, x, y)
end

---Applies any matrix of 2 rows and 3 columns to everything that is drawn next. Its columns are the
---arguments.
---@param gui Gui a Gui
---@param x_axis Vector2|Vector3 where the point 1, 0 goes, from the new origin
---@param y_axis Vector2|Vector3 where the point 0, 1 goes, from the new origin
---@param origin? Vector2|Vector3 where the point 0, 0 goes; 0, 0 if left out
function Gui.transform(gui, x_axis, y_axis, origin)
  local xx, xy = vector("Gui.transform", 2, "x_axis", x_axis)
  local yx, yy = vector("Gui.transform", 3, "y_axis", y_axis)
  local x, y = 0, 0
  if origin ~= nil then
    x, y = vector("Gui.transform", 4, "origin", origin)
  end
  core.gui_transform(gui, xx, xy, yx, yy, x, y)
end

---Clips everything that is drawn next to a rectangle, rounded to whole pixels, until
---`Gui.pop_clip`. Rectangles that were pushed earlier still apply. Works only on the screen and on
---textures.
---@param gui Gui a Gui
---@param x number|Vector2|Vector3 its left edge; or its bottom left, with its size after it
---@param y number|Vector2|Vector3 its bottom edge; or its size after a vector
---@param width? number its width; left out after vectors
---@param height? number its height; left out after vectors
function Gui.push_clip(gui, x, y, width, height)
  if type(x) == "number" then
    if type(y) ~= "number" then bad_argument("Gui.push_clip", 3, "y", "number", y) end
  else
    width, height = pair("Gui.push_clip", 3, "size", y, width)
    x, y = pair("Gui.push_clip", 2, "position", x, nil)
  end
  if type(width) ~= "number" then bad_argument("Gui.push_clip", 4, "width", "number", width) end
  if type(height) ~= "number" then bad_argument("Gui.push_clip", 5, "height", "number", height) end
  core.gui_push_clip(gui, x, y, width, height)
end

---Sets how everything that is drawn next blends with what is below it, until `Gui.pop_blend`.
---Objects of a retained Gui keep the blend mode that they were drawn with.
---@param gui Gui a Gui
---@param mode string "alpha", "add", "multiply", "replace" or "premultiplied"
function Gui.push_blend(gui, mode)
  local number = blends[mode]
  if not number then
    local near = type(mode) == "string" and core.suggest(mode, core.names(blends))
    core.raise(format("Gui.push_blend: argument #2 'mode' must be \"alpha\", \"add\", "
      .. "\"multiply\", \"replace\" or \"premultiplied\", got %s%s", core.describe(mode),
      near and ", did you mean '" .. near .. "'?" or ""))
  end
  core.gui_push_blend(gui, number)
end
