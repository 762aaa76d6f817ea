-- Matrix4x4 as a pose: axes, translation, rotation and scale, and conversions from and to
-- quaternions. The type, its operators and its algebra are in matrix.lua.
local core = ...

local bad_argument = core.bad_argument
local type = type
local abs, sqrt = math.abs, math.sqrt
local istype = core.ffi.istype
local values = core.values
local from_axes, look, lerp = values.quaternion_from_axes, values.look, values.lerp
local finite = values.matrix_is_finite

local Matrix4x4, Quaternion = core.module("Matrix4x4"), core.module("Quaternion")
local M, Q, V3 = core.ctypes.Matrix4x4, core.ctypes.Quaternion, core.ctypes.Vector3

local function check(name, m)
  if not istype(M, m) then bad_argument(name, 1, "m", "Matrix4x4", m) end
end

local function check_vector(name, m, i, argument, v)
  if not istype(M, m) then bad_argument(name, 1, "m", "Matrix4x4", m) end
  if not istype(V3, v) then bad_argument(name, i, argument, "Vector3", v) end
end

-- Returns the matrix of a rotation q, scales sx, sy, sz along its axes, and a translation.
local function pose(q, sx, sy, sz, tx, ty, tz)
  local x, y, z, w = q._x, q._y, q._z, q._w
  return M(
    (1 - 2 * (y * y + z * z)) * sx, 2 * (x * y + w * z) * sx, 2 * (x * z - w * y) * sx, 0,
    2 * (x * y - w * z) * sy, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z + w * x) * sy, 0,
    2 * (x * z + w * y) * sz, 2 * (y * z - w * x) * sz, (1 - 2 * (x * x + y * y)) * sz, 0,
    tx, ty, tz, 1
  )
end

-- Returns the lengths of the axes. A mirror cannot be a rotation, so it becomes a negative scale
-- along x.
local function scales(m)
  local xx, xy, xz = m._xx, m._xy, m._xz
  local yx, yy, yz = m._yx, m._yy, m._yz
  local zx, zy, zz = m._zx, m._zy, m._zz
  local sx = sqrt(xx * xx + xy * xy + xz * xz)
  local sy = sqrt(yx * yx + yy * yy + yz * yz)
  local sz = sqrt(zx * zx + zy * zy + zz * zz)
  local det = xx * (yy * zz - yz * zy) - xy * (yx * zz - yz * zx) + xz * (yx * zy - yy * zx)
  if det < 0 then sx = -sx end
  return sx, sy, sz
end

-- Returns the rotation of axes that are at right angles to each other. An axis of scale 0 has no
-- direction: it is derived from the other two, or from the world axes if those are missing too.
local function rotation(m)
  local sx, sy, sz = scales(m)
  local xx, xy, xz = m._xx, m._xy, m._xz
  local yx, yy, yz = m._yx, m._yy, m._yz
  local zx, zy, zz = m._zx, m._zy, m._zz
  if sx == 0 or sy == 0 or sz == 0 then
    if sy == 0 then yx, yy, yz = zy * xz - zz * xy, zz * xx - zx * xz, zx * xy - zy * xx end
    if sz == 0 then zx, zy, zz = xy * yz - xz * yy, xz * yx - xx * yz, xx * yy - xy * yx end
    if zx == 0 and zy == 0 and zz == 0 then zz = 1 end
    return look(yx, yy, yz, zx, zy, zz)
  end
  return from_axes(
    xx / sx, xy / sx, xz / sx,
    yx / sy, yy / sy, yz / sy,
    zx / sz, zy / sz, zz / sz
  )
end

---Returns the X axis, the first row.
---@param m Matrix4x4 the matrix
---@return Vector3 the x axis
function Matrix4x4.x(m)
  check("Matrix4x4.x", m)
  return V3(m._xx, m._xy, m._xz)
end

---Returns the Y axis, the second row.
---@param m Matrix4x4 the matrix
---@return Vector3 the y axis
function Matrix4x4.y(m)
  check("Matrix4x4.y", m)
  return V3(m._yx, m._yy, m._yz)
end

---Returns the Z axis, the third row.
---@param m Matrix4x4 the matrix
---@return Vector3 the z axis
function Matrix4x4.z(m)
  check("Matrix4x4.z", m)
  return V3(m._zx, m._zy, m._zz)
end

---Returns the X axis: the right direction, multiplied by the scale.
---@param m Matrix4x4 the matrix
---@return Vector3 the x axis
function Matrix4x4.right(m)
  check("Matrix4x4.right", m)
  return V3(m._xx, m._xy, m._xz)
end

---Returns the Y axis: the forward direction, multiplied by the scale.
---@param m Matrix4x4 the matrix
---@return Vector3 the y axis
function Matrix4x4.forward(m)
  check("Matrix4x4.forward", m)
  return V3(m._yx, m._yy, m._yz)
end

---Returns the Z axis: the up direction, multiplied by the scale.
---@param m Matrix4x4 the matrix
---@return Vector3 the z axis
function Matrix4x4.up(m)
  check("Matrix4x4.up", m)
  return V3(m._zx, m._zy, m._zz)
end

---Returns the translation, the fourth row.
---@param m Matrix4x4 the matrix
---@return Vector3 the translation
function Matrix4x4.translation(m)
  check("Matrix4x4.translation", m)
  return V3(m._tx, m._ty, m._tz)
end

---Returns an axis by its index.
---@param m Matrix4x4 the matrix
---@param i integer 1 for X (right), 2 for Y (forward), 3 for Z (up)
---@return Vector3 the axis
function Matrix4x4.axis(m, i)
  check("Matrix4x4.axis", m)
  if i == 1 then return V3(m._xx, m._xy, m._xz) end
  if i == 2 then return V3(m._yx, m._yy, m._yz) end
  if i == 3 then return V3(m._zx, m._zy, m._zz) end
  bad_argument("Matrix4x4.axis", 2, "i", "a whole number from 1 to 3", i)
end

---Returns the rotation of a pose. The scale is removed; a mirrored pose is mirrored back along x.
---@param m Matrix4x4 the pose, with axes at right angles
---@return Quaternion the rotation
function Matrix4x4.rotation(m)
  check("Matrix4x4.rotation", m)
  return rotation(m)
end

---Returns the scale of a pose: the lengths of its axes. The x scale of a mirrored pose is
---negative.
---@param m Matrix4x4 the pose
---@return Vector3 the scale along the three axes
function Matrix4x4.scale(m)
  check("Matrix4x4.scale", m)
  return V3(scales(m))
end

---Returns the matrix of a rotation.
---@param q Quaternion the rotation, of length 1
---@return Matrix4x4 the matrix
function Matrix4x4.from_quaternion(q)
  if not istype(Q, q) then bad_argument("Matrix4x4.from_quaternion", 1, "q", "Quaternion", q) end
  return pose(q, 1, 1, 1, 0, 0, 0)
end

---Returns the pose with a rotation and a position.
---@param q Quaternion the rotation, of length 1
---@param p Vector3 the position
---@return Matrix4x4 the pose
function Matrix4x4.from_quaternion_position(q, p)
  local name = "Matrix4x4.from_quaternion_position"
  if not istype(Q, q) then bad_argument(name, 1, "q", "Quaternion", q) end
  if not istype(V3, p) then bad_argument(name, 2, "p", "Vector3", p) end
  return pose(q, 1, 1, 1, p._x, p._y, p._z)
end

---Returns the pose with a rotation, a position and a scale. The scale is applied first, then the
---rotation.
---@param q Quaternion the rotation, of length 1
---@param p Vector3 the position
---@param s Vector3 the scale along the three axes
---@return Matrix4x4 the pose
function Matrix4x4.from_quaternion_position_scale(q, p, s)
  local name = "Matrix4x4.from_quaternion_position_scale"
  if not istype(Q, q) then bad_argument(name, 1, "q", "Quaternion", q) end
  if not istype(V3, p) then bad_argument(name, 2, "p", "Vector3", p) end
  if not istype(V3, s) then bad_argument(name, 3, "s", "Vector3", s) end
  return pose(q, s._x, s._y, s._z, p._x, p._y, p._z)
end

local function with_x(m, v)
  return M(
    v._x, v._y, v._z, m._xw,
    m._yx, m._yy, m._yz, m._yw,
    m._zx, m._zy, m._zz, m._zw,
    m._tx, m._ty, m._tz, m._tw
  )
end

local function with_y(m, v)
  return M(
    m._xx, m._xy, m._xz, m._xw,
    v._x, v._y, v._z, m._yw,
    m._zx, m._zy, m._zz, m._zw,
    m._tx, m._ty, m._tz, m._tw
  )
end

local function with_z(m, v)
  return M(
    m._xx, m._xy, m._xz, m._xw,
    m._yx, m._yy, m._yz, m._yw,
    v._x, v._y, v._z, m._zw,
    m._tx, m._ty, m._tz, m._tw
  )
end

local function with_t(m, v)
  return M(
    m._xx, m._xy, m._xz, m._xw,
    m._yx, m._yy, m._yz, m._yw,
    m._zx, m._zy, m._zz, m._zw,
    v._x, v._y, v._z, m._tw
  )
end

---Returns a copy of the matrix with a different x axis.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_x(m, v)
  check_vector("Matrix4x4.with_x", m, 2, "v", v)
  return with_x(m, v)
end

---Returns a copy of the matrix with a different y axis.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_y(m, v)
  check_vector("Matrix4x4.with_y", m, 2, "v", v)
  return with_y(m, v)
end

---Returns a copy of the matrix with a different z axis.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_z(m, v)
  check_vector("Matrix4x4.with_z", m, 2, "v", v)
  return with_z(m, v)
end

---Returns a copy of the matrix with a different x axis (right).
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_right(m, v)
  check_vector("Matrix4x4.with_right", m, 2, "v", v)
  return with_x(m, v)
end

---Returns a copy of the matrix with a different y axis (forward).
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_forward(m, v)
  check_vector("Matrix4x4.with_forward", m, 2, "v", v)
  return with_y(m, v)
end

---Returns a copy of the matrix with a different z axis (up).
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_up(m, v)
  check_vector("Matrix4x4.with_up", m, 2, "v", v)
  return with_z(m, v)
end

---Returns a copy of the matrix with a different translation.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new translation
---@return Matrix4x4 the changed copy
function Matrix4x4.with_translation(m, v)
  check_vector("Matrix4x4.with_translation", m, 2, "v", v)
  return with_t(m, v)
end

---Returns a copy of the matrix with one of its axes replaced, by its index.
---@param m Matrix4x4 the matrix
---@param i integer 1 for X (right), 2 for Y (forward), 3 for Z (up)
---@param v Vector3 the new axis, used as it is (not normalized)
---@return Matrix4x4 the changed copy
function Matrix4x4.with_axis(m, i, v)
  check_vector("Matrix4x4.with_axis", m, 3, "v", v)
  if i == 1 then return with_x(m, v) end
  if i == 2 then return with_y(m, v) end
  if i == 3 then return with_z(m, v) end
  bad_argument("Matrix4x4.with_axis", 2, "i", "a whole number from 1 to 3", i)
end

---Returns a copy of the pose with a different rotation; its scale and translation stay.
---@param m Matrix4x4 the pose
---@param q Quaternion the new rotation, of length 1
---@return Matrix4x4 the changed copy
function Matrix4x4.with_rotation(m, q)
  check("Matrix4x4.with_rotation", m)
  if not istype(Q, q) then bad_argument("Matrix4x4.with_rotation", 2, "q", "Quaternion", q) end
  local sx, sy, sz = scales(m)
  return pose(q, sx, sy, sz, m._tx, m._ty, m._tz)
end

---Returns a copy of the pose with a different scale; its rotation and translation stay.
---@param m Matrix4x4 the pose
---@param s Vector3 the new scale along the three axes
---@return Matrix4x4 the changed copy
function Matrix4x4.with_scale(m, s)
  check_vector("Matrix4x4.with_scale", m, 2, "s", s)
  return pose(rotation(m), s._x, s._y, s._z, m._tx, m._ty, m._tz)
end

---Interpolates between two poses. Translation and scale are interpolated linearly, the rotation
---along the shortest arc.
---@param a Matrix4x4 the result for t = 0
---@param b Matrix4x4 the result for t = 1
---@param t number interpolation factor, not clamped
---@return Matrix4x4 the interpolated pose
function Matrix4x4.lerp(a, b, t)
  if not istype(M, a) then bad_argument("Matrix4x4.lerp", 1, "a", "Matrix4x4", a) end
  if not istype(M, b) then bad_argument("Matrix4x4.lerp", 2, "b", "Matrix4x4", b) end
  if type(t) ~= "number" then bad_argument("Matrix4x4.lerp", 3, "t", "number", t) end
  local q = lerp(rotation(a), rotation(b), t)
  local ax, ay, az = scales(a)
  local bx, by, bz = scales(b)
  return pose(q,
    ax + (bx - ax) * t,
    ay + (by - ay) * t,
    az + (bz - az) * t,
    a._tx + (b._tx - a._tx) * t,
    a._ty + (b._ty - a._ty) * t,
    a._tz + (b._tz - a._tz) * t
  )
end

-- Tolerance for rigid bodies: the largest deviation of an axis from length 1, and of two axes from
-- a right angle.
local RIGID_TOLERANCE = 0.001

---Returns true if a rigid body can have this pose: finite, without scale, shear and mirroring,
---within 0.001.
---@param m Matrix4x4 the pose
---@return boolean true when physics accepts the pose
function Matrix4x4.is_valid_for_physics(m)
  check("Matrix4x4.is_valid_for_physics", m)
  if not finite(m) then return false end
  if m._xw ~= 0 or m._yw ~= 0 or m._zw ~= 0 or m._tw ~= 1 then return false end
  local sx, sy, sz = scales(m)
  return abs(sx - 1) <= RIGID_TOLERANCE
    and abs(sy - 1) <= RIGID_TOLERANCE
    and abs(sz - 1) <= RIGID_TOLERANCE
    and abs(m._xx * m._yx + m._xy * m._yy + m._xz * m._yz) <= RIGID_TOLERANCE
    and abs(m._yx * m._zx + m._yy * m._zy + m._yz * m._zz) <= RIGID_TOLERANCE
    and abs(m._zx * m._xx + m._zy * m._xy + m._zz * m._xz) <= RIGID_TOLERANCE
end

---Returns the matrix of a rotation; the same as `Matrix4x4.from_quaternion`.
---@param q Quaternion the rotation, of length 1
---@return Matrix4x4 the matrix
function Quaternion.matrix4x4(q)
  if not istype(Q, q) then bad_argument("Quaternion.matrix4x4", 1, "q", "Quaternion", q) end
  return pose(q, 1, 1, 1, 0, 0, 0)
end

---Returns the rotation of a pose; the same as `Matrix4x4.rotation`.
---@param m Matrix4x4 the pose, with axes at right angles
---@return Quaternion the rotation
function Quaternion.from_matrix4x4(m)
  check("Quaternion.from_matrix4x4", m)
  return rotation(m)
end
