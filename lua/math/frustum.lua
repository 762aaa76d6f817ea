-- The frustum tests of `Math`: containment and overlap of an oriented box and a frustum. The other
-- functions of `Math` are in geometry.lua.
local core = ...

local bad_argument, raise, extent = core.bad_argument, core.raise, core.values.box_extent
local select, type = select, type
local huge, max, min = math.huge, math.max, math.min
local istype = core.ffi.istype

local Math = core.module("Math")
local V3, M = core.ctypes.Vector3, core.ctypes.Matrix4x4

local function check_box(name, pose, half)
  if not istype(M, pose) then bad_argument(name, 1, "pose", "Matrix4x4", pose) end
  if not istype(V3, half) then bad_argument(name, 2, "half", "Vector3", half) end
end

local function check_planes(name, count, ...)
  for i = 1, 2 * count, 2 do
    local normal, offset = select(i, ...)
    if not istype(V3, normal) then bad_argument(name, i + 2, "normal", "Vector3", normal) end
    if type(offset) ~= "number" then bad_argument(name, i + 3, "offset", "number", offset) end
  end
end

---Returns true if an oriented box lies completely inside all of the planes. Each plane is a normal
---that points outwards and an offset: a point p is inside if `Vector3.dot(normal, p) <= offset`.
---@param pose Matrix4x4 the box's center and axes
---@param half Vector3 the half extents along the axes
---@param ... Vector3|number a normal and an offset for each plane, at least one pair
---@return boolean true if no corner is outside
function Math.box_in_frustum(pose, half, ...)
  check_box("Math.box_in_frustum", pose, half)
  local count = select("#", ...)
  if count == 0 or count % 2 == 1 then
    raise("Math.box_in_frustum: takes a normal and an offset for each plane, got "
      .. count .. " arguments after the box")
  end
  check_planes("Math.box_in_frustum", count / 2, ...)
  for i = 1, count, 2 do
    local normal, offset = select(i, ...)
    local _, high = extent(pose, half, normal._x, normal._y, normal._z)
    if not (high <= offset) then return false end
  end
  return true
end

-- Returns true if the box and the corners do not overlap along a direction. A direction of zero
-- length separates nothing.
local function separated(pose, half, x, y, z, ...)
  local low, high = extent(pose, half, x, y, z)
  local corners_low, corners_high = huge, -huge
  for i = 1, 8 do
    local corner = select(i, ...)
    local distance = corner._x * x + corner._y * y + corner._z * z
    corners_low, corners_high = min(corners_low, distance), max(corners_high, distance)
  end
  return low > corners_high or high < corners_low
end

-- Returns true if `separated` is true for a direction perpendicular to an edge of the frustum and
-- to an axis of the box.
local function separated_by_edge(pose, half, from, to, ...)
  local ex, ey, ez = to._x - from._x, to._y - from._y, to._z - from._z
  local ax, ay, az = pose._xx, pose._xy, pose._xz
  local bx, by, bz = pose._yx, pose._yy, pose._yz
  local cx, cy, cz = pose._zx, pose._zy, pose._zz
  return separated(pose, half, ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax, ...)
    or separated(pose, half, ey * bz - ez * by, ez * bx - ex * bz, ex * by - ey * bx, ...)
    or separated(pose, half, ey * cz - ez * cy, ez * cx - ex * cz, ex * cy - ey * cx, ...)
end

local function overlaps_corners(pose, half, ...)
  if separated(pose, half, pose._xx, pose._xy, pose._xz, ...) then return false end
  if separated(pose, half, pose._yx, pose._yy, pose._yz, ...) then return false end
  if separated(pose, half, pose._zx, pose._zy, pose._zz, ...) then return false end
  local a, b, c, d, e, f, g, h = ...
  return not (
    separated_by_edge(pose, half, a, b, ...)
    or separated_by_edge(pose, half, a, d, ...)
    or separated_by_edge(pose, half, a, e, ...)
    or separated_by_edge(pose, half, b, f, ...)
    or separated_by_edge(pose, half, c, g, ...)
    or separated_by_edge(pose, half, d, h, ...)
  )
end

---Returns true if an oriented box overlaps or touches a frustum. The test is exact. The six planes
---are normals that point outwards, with offsets, as in `Math.box_in_frustum`. The eight corners are
---the corners of the near plane in order around it (A B C D), then the corners of the far plane in
---the same order (E F G H), so that AE, BF, CG and DH are the side edges. Source: the separating
---axis theorem, see S. Gottschalk and others, "OBBTree", SIGGRAPH 1996.
---@param pose Matrix4x4 the box's center and axes
---@param half Vector3 the half extents along the axes
---@param ... Vector3|number six pairs of normal and offset, then eight corners
---@return boolean true if any part of the box is inside
function Math.box_intersects_frustum(pose, half, ...)
  local name = "Math.box_intersects_frustum"
  check_box(name, pose, half)
  local count = select("#", ...)
  if count ~= 20 then
    raise(name .. ": takes six pairs of normal and offset and eight corners, got "
      .. count .. " arguments after the box")
  end
  check_planes(name, 6, ...)
  for i = 13, 20 do
    local corner = select(i, ...)
    if not istype(V3, corner) then bad_argument(name, i + 2, "corner", "Vector3", corner) end
  end
  for i = 1, 12, 2 do
    local normal, offset = select(i, ...)
    local low = extent(pose, half, normal._x, normal._y, normal._z)
    if low > offset then return false end
  end
  return overlaps_corners(pose, half, select(13, ...))
end
