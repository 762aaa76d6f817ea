-- Math: functions on plain numbers, and on oriented boxes: point tests, ray casts, merging. Frustum
-- tests are in frustum.lua. Random numbers and noise are native.
local core = ...

local bad_argument, raise = core.bad_argument, core.raise
local select, type = select, type
local abs, floor, huge, pi = math.abs, math.floor, math.huge, math.pi
local max, min, sqrt = math.max, math.min, math.sqrt
local istype = core.ffi.istype

---@module Math
---@node query
---Functions on numbers: clamping, interpolation, rounding, angles. Also functions on oriented
---boxes, as `Unit.box` returns them: a pose at the box's center, and half extents, which are
---measured along the pose's axes (its scale counts).
---@example
---   assert(Math.clamp(12, 0, 10) == 10)
---   assert(Math.remap(5, 0, 10, 0, 100) == 50)
---   local pose, half = Matrix4x4.identity(), Vector3(1, 1, 1)
---   assert(Math.point_in_box(Vector3(0.5, 0, 0), pose, half))
---   assert(Math.ray_box_intersection(Vector3(0, -3, 0), Vector3.forward(), pose, half) == 2)
local Math = core.module("Math")

local V3, M = core.ctypes.Vector3, core.ctypes.Matrix4x4

local function check_number(name, i, argument, value)
  if type(value) ~= "number" then bad_argument(name, i, argument, "number", value) end
end

local function check_three(name, a_name, a, b_name, b, c_name, c)
  if type(a) ~= "number" then bad_argument(name, 1, a_name, "number", a) end
  if type(b) ~= "number" then bad_argument(name, 2, b_name, "number", b) end
  if type(c) ~= "number" then bad_argument(name, 3, c_name, "number", c) end
end

local function check_box(name, i, pose, half)
  if not istype(M, pose) then bad_argument(name, i, "pose", "Matrix4x4", pose) end
  if not istype(V3, half) then bad_argument(name, i + 1, "half", "Vector3", half) end
end

---Returns true if a number is finite: not NaN and not an infinity.
---@param number number the number
---@return boolean true if it is finite
function Math.is_valid(number)
  check_number("Math.is_valid", 1, "number", number)
  return number - number == 0
end

---Returns a number clamped to a range.
---@param value number the number
---@param low number the lower bound
---@param high number the upper bound, not below low
---@return number value, or the bound that it exceeds
function Math.clamp(value, low, high)
  check_three("Math.clamp", "value", value, "low", low, "high", high)
  if low > high then
    raise("Math.clamp: low is " .. low .. " and high is " .. high .. ": low must not be above high")
  end
  return max(low, min(high, value))
end

---Returns the number at t between two numbers.
---@param a number the result for t = 0
---@param b number the result for t = 1
---@param t number interpolation factor from a to b, not clamped
---@return number a + (b - a) * t
function Math.lerp(a, b, t)
  check_three("Math.lerp", "a", a, "b", b, "t", t)
  return a + (b - a) * t
end

---Returns the relative position of a number between two others: the t for which `lerp(a, b, t)` is
---the number.
---@param a number the value for which the result is 0
---@param b number the value for which the result is 1; differs from a
---@param value number the number
---@return number t, not clamped
function Math.inverse_lerp(a, b, value)
  check_three("Math.inverse_lerp", "a", a, "b", b, "value", value)
  if a == b then raise("Math.inverse_lerp: a and b are both " .. a .. ": they must differ") end
  return (value - a) / (b - a)
end

---Returns a number mapped linearly from one range to another.
---@param value number the number
---@param from_low number the start of its range
---@param from_high number the end of its range, which differs from the start
---@param to_low number the start of the result's range
---@param to_high number the end of the result's range
---@return number the result, not clamped
function Math.remap(value, from_low, from_high, to_low, to_high)
  check_three("Math.remap", "value", value, "from_low", from_low, "from_high", from_high)
  check_number("Math.remap", 4, "to_low", to_low)
  check_number("Math.remap", 5, "to_high", to_high)
  if from_low == from_high then
    raise("Math.remap: from_low and from_high are both " .. from_low .. ": they must differ")
  end
  return to_low + (value - from_low) / (from_high - from_low) * (to_high - to_low)
end

---Returns a number that rises smoothly from 0 to 1 between two edges, with a slope of 0 at both.
---@param low number at and below this the result is 0
---@param high number at and above this the result is 1; it differs from low
---@param value number the number
---@return number 3t² - 2t³ of the clamped position between the edges
function Math.smoothstep(low, high, value)
  check_three("Math.smoothstep", "low", low, "high", high, "value", value)
  if low == high then
    raise("Math.smoothstep: low and high are both " .. low .. ": they must differ")
  end
  local t = max(0, min(1, (value - low) / (high - low)))
  return t * t * (3 - 2 * t)
end

---Returns -1 for a negative number, 0 for 0 and 1 for a positive number.
---@param value number the number
---@return number its sign
function Math.sign(value)
  check_number("Math.sign", 1, "value", value)
  if value > 0 then return 1 end
  if value < 0 then return -1 end
  return 0
end

---Returns the nearest whole number, or the nearest multiple of a step. Halves are rounded up.
---@param value number the number
---@param step? number the step, above 0; 1 if left out
---@return number the rounded number
function Math.round(value, step)
  check_number("Math.round", 1, "value", value)
  if step == nil then return floor(value + 0.5) end
  check_number("Math.round", 2, "step", step)
  if not (step > 0) then bad_argument("Math.round", 2, "step", "above 0", step) end
  return floor(value / step + 0.5) * step
end

---Returns a number wrapped around into a range, for example an angle or a position on a map that
---repeats.
---@param value number the number
---@param low number the start of the range
---@param high number the end of the range, above low; it is equivalent to low
---@return number the number, at least low and below high
function Math.wrap(value, low, high)
  check_three("Math.wrap", "value", value, "low", low, "high", high)
  if not (low < high) then
    raise("Math.wrap: low is " .. low .. " and high is " .. high .. ": low must be below high")
  end
  local wrapped = low + (value - low) % (high - low)
  -- Rounding can move a number just below low exactly to high.
  return wrapped < high and wrapped or low
end

---Returns a number moved towards a target by at most a step. The result never overshoots the
---target.
---@param from number the start
---@param to number the target
---@param step number the largest change, 0 or more
---@return number the new number
---@node query
function Math.move_towards(from, to, step)
  check_three("Math.move_towards", "from", from, "to", to, "step", step)
  if step < 0 then bad_argument("Math.move_towards", 3, "step", "0 or more", step) end
  if abs(to - from) <= step then return to end
  return to > from and from + step or from - step
end

---Converts degrees to radians.
---@param degrees number the angle in degrees
---@return number the angle in radians
function Math.degrees_to_radians(degrees)
  check_number("Math.degrees_to_radians", 1, "degrees", degrees)
  return degrees * (pi / 180)
end

---Converts radians to degrees.
---@param radians number the angle in radians
---@return number the angle in degrees
function Math.radians_to_degrees(radians)
  check_number("Math.radians_to_degrees", 1, "radians", radians)
  return radians * (180 / pi)
end

---Returns the shortest rotation from one angle to another.
---@param from number radians
---@param to number radians
---@return number radians, at least -pi and below pi
function Math.angle_difference(from, to)
  check_number("Math.angle_difference", 1, "from", from)
  check_number("Math.angle_difference", 2, "to", to)
  return (to - from + pi) % (2 * pi) - pi
end

---Returns the angle at t between two angles, in the direction of the shortest rotation.
---@param from number radians, the result for t = 0
---@param to number radians, the same direction as the result for t = 1
---@param t number interpolation factor, not clamped
---@return number radians
function Math.lerp_angle(from, to, t)
  check_three("Math.lerp_angle", "from", from, "to", to, "t", t)
  return from + ((to - from + pi) % (2 * pi) - pi) * t
end

-- Returns the squared length of an axis, and the dot product of a vector and the axis. The dot
-- product divided by the squared length is a coordinate in the box.
local function along(x, y, z, ax, ay, az)
  return ax * ax + ay * ay + az * az, x * ax + y * ay + z * az
end

---Returns true if a point lies in an oriented box or on its surface. A pose with a scale of 0
---contains no point.
---@param point Vector3 the point
---@param pose Matrix4x4 the box's center and axes, at right angles
---@param half Vector3 the half extents along the axes
---@return boolean true if the point is inside
function Math.point_in_box(point, pose, half)
  if not istype(V3, point) then bad_argument("Math.point_in_box", 1, "point", "Vector3", point) end
  check_box("Math.point_in_box", 2, pose, half)
  local x, y, z = point._x - pose._tx, point._y - pose._ty, point._z - pose._tz
  local x_squared, x_along = along(x, y, z, pose._xx, pose._xy, pose._xz)
  local y_squared, y_along = along(x, y, z, pose._yx, pose._yy, pose._yz)
  local z_squared, z_along = along(x, y, z, pose._zx, pose._zy, pose._zz)
  return x_squared > 0 and abs(x_along) <= half._x * x_squared
    and y_squared > 0 and abs(y_along) <= half._y * y_squared
    and z_squared > 0 and abs(z_along) <= half._z * z_squared
end

-- Clips a ray's interval to the space between two parallel faces. A ray parallel to the faces is
-- either inside or misses.
local function slab(near, far, origin, direction, half)
  if direction == 0 then
    if abs(origin) > half then return huge, -huge end
    return near, far
  end
  local a, b = (-half - origin) / direction, (half - origin) / direction
  return max(near, min(a, b)), min(far, max(a, b))
end

---Returns the distance along a ray to an oriented box, or -1 if the ray misses it; 0 from inside. A
---pose with a scale of 0 is always missed. Source: the slab test of T. Kay and J. Kajiya, "Ray
---tracing complex scenes", SIGGRAPH 1986.
---@param from Vector3 the ray's origin
---@param direction Vector3 the ray's direction; the distance is measured in units of its length
---@param pose Matrix4x4 the box's center and axes, at right angles
---@param half Vector3 the half extents along the axes
---@return number the distance, or -1
function Math.ray_box_intersection(from, direction, pose, half)
  local name = "Math.ray_box_intersection"
  if not istype(V3, from) then bad_argument(name, 1, "from", "Vector3", from) end
  if not istype(V3, direction) then bad_argument(name, 2, "direction", "Vector3", direction) end
  check_box(name, 3, pose, half)
  local x, y, z = from._x - pose._tx, from._y - pose._ty, from._z - pose._tz
  local dx, dy, dz = direction._x, direction._y, direction._z
  local x_squared, x_start = along(x, y, z, pose._xx, pose._xy, pose._xz)
  local y_squared, y_start = along(x, y, z, pose._yx, pose._yy, pose._yz)
  local z_squared, z_start = along(x, y, z, pose._zx, pose._zy, pose._zz)
  if x_squared == 0 or y_squared == 0 or z_squared == 0 then return -1 end
  local _, x_step = along(dx, dy, dz, pose._xx, pose._xy, pose._xz)
  local _, y_step = along(dx, dy, dz, pose._yx, pose._yy, pose._yz)
  local _, z_step = along(dx, dy, dz, pose._zx, pose._zy, pose._zz)
  local near, far = slab(0, huge, x_start, x_step, half._x * x_squared)
  near, far = slab(near, far, y_start, y_step, half._y * y_squared)
  near, far = slab(near, far, z_start, z_step, half._z * z_squared)
  return near <= far and near or -1
end

local function unit_axis(x, y, z)
  local length = sqrt(x * x + y * y + z * z)
  if length == 0 then
    raise("Math.merge_boxes: the pose of the first box has an axis of length 0")
  end
  return x / length, y / length, z / length
end

-- Returns the lowest and the highest coordinate of a box along a direction.
local function extent(pose, half, x, y, z)
  local middle = pose._tx * x + pose._ty * y + pose._tz * z
  local reach = half._x * abs(pose._xx * x + pose._xy * y + pose._xz * z)
    + half._y * abs(pose._yx * x + pose._yy * y + pose._yz * z)
    + half._z * abs(pose._zx * x + pose._zy * y + pose._zz * z)
  return middle - reach, middle + reach
end

local function merged_extent(x, y, z, ...)
  local low, high = huge, -huge
  for i = 1, select("#", ...), 2 do
    local pose, half = select(i, ...)
    local box_low, box_high = extent(pose, half, x, y, z)
    low, high = min(low, box_low), max(high, box_high)
  end
  return (low + high) / 2, (high - low) / 2
end

---Returns the smallest box that has the orientation of the first box and contains all boxes.
---@param ... Matrix4x4|Vector3 the pose and half extents of each box, one box after the other
---@return Matrix4x4 pose of the merged box, without scale
---@return Vector3 half_extents of the merged box
function Math.merge_boxes(...)
  local count = select("#", ...)
  if count == 0 or count % 2 == 1 then
    raise("Math.merge_boxes: takes a pose and half dimensions for each box, got "
      .. count .. " arguments")
  end
  for i = 1, count, 2 do
    local pose, half = select(i, ...)
    check_box("Math.merge_boxes", i, pose, half)
  end
  local first = ...
  local xx, xy, xz = unit_axis(first._xx, first._xy, first._xz)
  local yx, yy, yz = unit_axis(first._yx, first._yy, first._yz)
  local zx, zy, zz = unit_axis(first._zx, first._zy, first._zz)
  local x, half_x = merged_extent(xx, xy, xz, ...)
  local y, half_y = merged_extent(yx, yy, yz, ...)
  local z, half_z = merged_extent(zx, zy, zz, ...)
  local pose = M(
    xx, xy, xz, 0,
    yx, yy, yz, 0,
    zx, zy, zz, 0,
    x * xx + y * yx + z * zx, x * xy + y * yy + z * zy, x * xz + y * yz + z * zz, 1
  )
  return pose, V3(half_x, half_y, half_z)
end

core.values.box_extent = extent
