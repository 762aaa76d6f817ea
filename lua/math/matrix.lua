-- Matrix4x4: an immutable 4×4 matrix, its operators, constructors and algebra. Axes, poses and
-- conversions from and to quaternions are in matrix_pose.lua; the mutable box for a matrix is in
-- boxed_values.lua.
local core = ...

local ffi, raise, bad_argument, values = core.ffi, core.raise, core.bad_argument, core.values
local type, select = type, select
local abs, sqrt = math.abs, math.sqrt
local istype = ffi.istype

---@module Matrix4x4
---@node query
---A pose: position, rotation and scale. Also any other 4×4 matrix. The rows are the x axis
---(right), the y axis (forward), the z axis (up) and the translation. A point is a row vector that
---is multiplied from the left, as in the Bitsquid family. So `a * b` applies a first and then b: a
---child's pose in the world is `local * parent`, and a pose relative to a parent is `world *
---Matrix4x4.inverse(parent)`. (Quaternions multiply in the opposite order.) `m * v` transforms the
---point v; `(a * b) * v` equals `b * (a * v)`. A Matrix4x4 never changes, and its elements are
---32-bit floats.
---@example
---   local pose = Matrix4x4.from_translation(Vector3(0, 0, 2))
---   assert(pose * Vector3(1, 0, 0) == Vector3(1, 0, 2))
---   assert(Matrix4x4.inverse(pose) * Vector3(1, 0, 2) == Vector3(1, 0, 0))

---@class (exact) Matrix4x4
---@field x Vector3 the x axis, the first row
---@field y Vector3 the y axis, the second row
---@field z Vector3 the z axis, the third row
---@field translation Vector3 the translation, the fourth row
---@overload fun(): Matrix4x4
---@operator mul(Matrix4x4): Matrix4x4
---@operator mul(Vector3): Vector3
local Matrix4x4 = core.module("Matrix4x4")

local V3 = core.ctypes.Vector3
local M = ffi.typeof([[struct {
  const float _xx, _xy, _xz, _xw;
  const float _yx, _yy, _yz, _yw;
  const float _zx, _zy, _zz, _zw;
  const float _tx, _ty, _tz, _tw;
}]])
local IDENTITY = M(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
local ZERO = M(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
local FIELDS = "x, y, z, translation"
local WITH = {
  x = "Matrix4x4.with_x(m, value)",
  y = "Matrix4x4.with_y(m, value)",
  z = "Matrix4x4.with_z(m, value)",
  translation = "Matrix4x4.with_translation(m, value)",
}
-- Private field names, row by row: ELEMENTS[4 * (row - 1) + column].
local ELEMENTS = {
  "_xx", "_xy", "_xz", "_xw",
  "_yx", "_yy", "_yz", "_yw",
  "_zx", "_zy", "_zz", "_zw",
  "_tx", "_ty", "_tz", "_tw",
}

local function construct(_, ...)
  if select("#", ...) == 0 then return IDENTITY end
  raise("Matrix4x4: takes no arguments and returns the identity: use Matrix4x4.from_axes, "
    .. "from_elements, from_translation, from_quaternion or from_quaternion_position")
end

values.callable(Matrix4x4, construct)

local function product(a, b)
  local bxx, bxy, bxz, bxw = b._xx, b._xy, b._xz, b._xw
  local byx, byy, byz, byw = b._yx, b._yy, b._yz, b._yw
  local bzx, bzy, bzz, bzw = b._zx, b._zy, b._zz, b._zw
  local btx, bty, btz, btw = b._tx, b._ty, b._tz, b._tw
  local xx, xy, xz, xw = a._xx, a._xy, a._xz, a._xw
  local yx, yy, yz, yw = a._yx, a._yy, a._yz, a._yw
  local zx, zy, zz, zw = a._zx, a._zy, a._zz, a._zw
  local tx, ty, tz, tw = a._tx, a._ty, a._tz, a._tw
  return M(
    xx * bxx + xy * byx + xz * bzx + xw * btx, xx * bxy + xy * byy + xz * bzy + xw * bty,
    xx * bxz + xy * byz + xz * bzz + xw * btz, xx * bxw + xy * byw + xz * bzw + xw * btw,
    yx * bxx + yy * byx + yz * bzx + yw * btx, yx * bxy + yy * byy + yz * bzy + yw * bty,
    yx * bxz + yy * byz + yz * bzz + yw * btz, yx * bxw + yy * byw + yz * bzw + yw * btw,
    zx * bxx + zy * byx + zz * bzx + zw * btx, zx * bxy + zy * byy + zz * bzy + zw * bty,
    zx * bxz + zy * byz + zz * bzz + zw * btz, zx * bxw + zy * byw + zz * bzw + zw * btw,
    tx * bxx + ty * byx + tz * bzx + tw * btx, tx * bxy + ty * byy + tz * bzy + tw * bty,
    tx * bxz + ty * byz + tz * bzz + tw * btz, tx * bxw + ty * byw + tz * bzw + tw * btw
  )
end

local function transform(m, v)
  local x, y, z = v._x, v._y, v._z
  return V3(
    x * m._xx + y * m._yx + z * m._zx + m._tx,
    x * m._xy + y * m._yy + z * m._zy + m._ty,
    x * m._xz + y * m._yz + z * m._zz + m._tz
  )
end

local function same(a, b)
  return a._xx == b._xx and a._xy == b._xy and a._xz == b._xz and a._xw == b._xw
    and a._yx == b._yx and a._yy == b._yy and a._yz == b._yz and a._yw == b._yw
    and a._zx == b._zx and a._zy == b._zy and a._zz == b._zz and a._zw == b._zw
    and a._tx == b._tx and a._ty == b._ty and a._tz == b._tz and a._tw == b._tw
end

local function all_elements(m)
  return m._xx, m._xy, m._xz, m._xw, m._yx, m._yy, m._yz, m._yw,
    m._zx, m._zy, m._zz, m._zw, m._tx, m._ty, m._tz, m._tw
end

local meta = {}
values.common_operators(meta, "Matrix4x4", "use one of its axes or its translation")

meta.__index = function(m, key)
  if key == "x" then return V3(m._xx, m._xy, m._xz) end
  if key == "y" then return V3(m._yx, m._yy, m._yz) end
  if key == "z" then return V3(m._zx, m._zy, m._zz) end
  if key == "translation" then return V3(m._tx, m._ty, m._tz) end
  values.no_field("Matrix4x4", "m", Matrix4x4, FIELDS, key)
end

meta.__newindex = function(_, key)
  values.no_assignment("Matrix4x4", "m", Matrix4x4, FIELDS, WITH, key)
end

meta.__tostring = function(m) return values.text("Matrix4x4", all_elements(m)) end

-- Lua calls this for any two operands: nil and numbers must compare as different and not raise.
meta.__eq = function(a, b)
  return istype(M, a) and istype(M, b) and same(a, b)
end

meta.__mul = function(a, b)
  if istype(M, a) then
    if istype(M, b) then return product(a, b) end
    if istype(V3, b) then return transform(a, b) end
  end
  local hint = "a Matrix4x4 multiplies a Matrix4x4 or a Vector3, and is on the left"
  values.cannot("multiply", a, "and", b, hint)
end

meta.__add = function(a, b) values.cannot("add", a, "and", b) end
meta.__sub = function(a, b) values.cannot("subtract", b, "from", a) end
meta.__div = function(a, b) values.cannot("divide", a, "by", b, "use Matrix4x4.inverse") end
meta.__unm = function() raise("cannot negate Matrix4x4: use Matrix4x4.inverse to undo it") end

ffi.metatype(M, meta)
core.ctypes.Matrix4x4 = M
core.make_matrix4x4 = M

local function check(name, m)
  if not istype(M, m) then bad_argument(name, 1, "m", "Matrix4x4", m) end
end

local function check_pair(name, a, b)
  if not istype(M, a) then bad_argument(name, 1, "a", "Matrix4x4", a) end
  if not istype(M, b) then bad_argument(name, 2, "b", "Matrix4x4", b) end
end

---Returns the identity matrix.
---@return Matrix4x4 the identity
function Matrix4x4.identity()
  return IDENTITY
end

---Returns the matrix whose elements are all 0.
---@return Matrix4x4 the zero matrix
function Matrix4x4.zero()
  return ZERO
end

---Returns the matrix with these elements, row by row. Pass all 16 elements, or 12: x, y and z of
---each row, with a last column of 0, 0, 0, 1.
---@param ... number 12 or 16 elements
---@return Matrix4x4 the matrix
function Matrix4x4.from_elements(...)
  local count = select("#", ...)
  if count ~= 12 and count ~= 16 then
    raise("Matrix4x4.from_elements: takes 12 or 16 numbers, got " .. count .. " arguments")
  end
  for i = 1, count do
    local element = select(i, ...)
    if type(element) ~= "number" then
      bad_argument("Matrix4x4.from_elements", i, "element", "number", element)
    end
  end
  if count == 16 then return M(...) end
  local xx, xy, xz, yx, yy, yz, zx, zy, zz, tx, ty, tz = ...
  return M(xx, xy, xz, 0, yx, yy, yz, 0, zx, zy, zz, 0, tx, ty, tz, 1)
end

---Returns the matrix whose rows are three axes and a translation.
---@param x Vector3 the x axis (right)
---@param y Vector3 the y axis (forward)
---@param z Vector3 the z axis (up)
---@param t Vector3 the translation
---@return Matrix4x4 the matrix
function Matrix4x4.from_axes(x, y, z, t)
  if not istype(V3, x) then bad_argument("Matrix4x4.from_axes", 1, "x", "Vector3", x) end
  if not istype(V3, y) then bad_argument("Matrix4x4.from_axes", 2, "y", "Vector3", y) end
  if not istype(V3, z) then bad_argument("Matrix4x4.from_axes", 3, "z", "Vector3", z) end
  if not istype(V3, t) then bad_argument("Matrix4x4.from_axes", 4, "t", "Vector3", t) end
  return M(
    x._x, x._y, x._z, 0,
    y._x, y._y, y._z, 0,
    z._x, z._y, z._z, 0,
    t._x, t._y, t._z, 1
  )
end

---Returns a translation matrix.
---@param translation Vector3 the translation
---@return Matrix4x4 the matrix
function Matrix4x4.from_translation(translation)
  if not istype(V3, translation) then
    bad_argument("Matrix4x4.from_translation", 1, "translation", "Vector3", translation)
  end
  local t = translation
  return M(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, t._x, t._y, t._z, 1)
end

---Returns the matrix itself. Values never change, so a copy is not needed.
---@param m Matrix4x4 the matrix
---@return Matrix4x4 the same matrix
function Matrix4x4.copy(m)
  check("Matrix4x4.copy", m)
  return m
end

local function element_field(name, row, column)
  if row ~= 1 and row ~= 2 and row ~= 3 and row ~= 4 then
    bad_argument(name, 2, "row", "a whole number from 1 to 4", row)
  end
  if column ~= 1 and column ~= 2 and column ~= 3 and column ~= 4 then
    bad_argument(name, 3, "column", "a whole number from 1 to 4", column)
  end
  return ELEMENTS[4 * (row - 1) + column]
end

---Returns one element. `element(m, 1, 2)` is the y component of the x axis, `element(m, 4, 3)`
---the z component of the translation.
---@param m Matrix4x4 the matrix
---@param row integer 1 x axis, 2 y axis, 3 z axis, 4 translation
---@param column integer 1 to 4
---@return number the element
function Matrix4x4.element(m, row, column)
  check("Matrix4x4.element", m)
  return m[element_field("Matrix4x4.element", row, column)]
end

---Returns a copy of the matrix with one element replaced.
---@param m Matrix4x4 the matrix
---@param row integer 1 x axis, 2 y axis, 3 z axis, 4 translation
---@param column integer 1 to 4
---@param value number the new element
---@return Matrix4x4 the changed copy
function Matrix4x4.with_element(m, row, column, value)
  check("Matrix4x4.with_element", m)
  element_field("Matrix4x4.with_element", row, column)
  if type(value) ~= "number" then
    bad_argument("Matrix4x4.with_element", 4, "value", "number", value)
  end
  local elements = { all_elements(m) }
  elements[4 * (row - 1) + column] = value
  return M(elements)
end

---Returns the elements of the four rows without the last column: 12 numbers, as accepted by
---`Matrix4x4.from_elements`.
---@param m Matrix4x4 the matrix
---@return number ... x, y and z of the x axis, the y axis, the z axis and the translation
function Matrix4x4.to_elements(m)
  check("Matrix4x4.to_elements", m)
  return m._xx, m._xy, m._xz, m._yx, m._yy, m._yz, m._zx, m._zy, m._zz, m._tx, m._ty, m._tz
end

---Returns all 16 elements as a list, row by row, for serialization.
---@param m Matrix4x4 the matrix
---@return number[] the elements
function Matrix4x4.as_table(m)
  check("Matrix4x4.as_table", m)
  return { all_elements(m) }
end

---Returns the matrix as text, the same as `tostring(m)`.
---@param m Matrix4x4 the matrix
---@return string `Matrix4x4(...)` with the 16 elements, row by row
function Matrix4x4.to_string(m)
  check("Matrix4x4.to_string", m)
  return meta.__tostring(m)
end

---Multiplies two matrices: a is applied first, then b. `a * b` is the same. A child's pose in the
---world is `multiply(local_pose, parent_pose)`.
---@param a Matrix4x4 the matrix applied first
---@param b Matrix4x4 the matrix applied last
---@return Matrix4x4 the product
function Matrix4x4.multiply(a, b)
  check_pair("Matrix4x4.multiply", a, b)
  return product(a, b)
end

---Returns a point transformed by a matrix; `m * v` is the same. The last column is not used.
---@param m Matrix4x4 the matrix
---@param v Vector3 the point
---@return Vector3 the transformed point
function Matrix4x4.transform(m, v)
  check("Matrix4x4.transform", m)
  if not istype(V3, v) then bad_argument("Matrix4x4.transform", 2, "v", "Vector3", v) end
  return transform(m, v)
end

---Returns a direction rotated and scaled by a matrix, but not translated.
---@param m Matrix4x4 the matrix
---@param v Vector3 the direction
---@return Vector3 the transformed direction
function Matrix4x4.transform_without_translation(m, v)
  check("Matrix4x4.transform_without_translation", m)
  if not istype(V3, v) then
    bad_argument("Matrix4x4.transform_without_translation", 2, "v", "Vector3", v)
  end
  local x, y, z = v._x, v._y, v._z
  return V3(
    x * m._xx + y * m._yx + z * m._zx,
    x * m._xy + y * m._yy + z * m._zy,
    x * m._xz + y * m._yz + z * m._zz
  )
end

---Returns the matrix with rows and columns swapped.
---@param m Matrix4x4 the matrix
---@return Matrix4x4 the transposed matrix
function Matrix4x4.transpose(m)
  check("Matrix4x4.transpose", m)
  return M(
    m._xx, m._yx, m._zx, m._tx,
    m._xy, m._yy, m._zy, m._ty,
    m._xz, m._yz, m._zz, m._tz,
    m._xw, m._yw, m._zw, m._tw
  )
end

-- Returns the 2×2 determinants of the upper and of the lower two rows. Both the determinant and the
-- inverse are computed from them (Laplace expansion).
local function minors(m)
  local xx, xy, xz, xw = m._xx, m._xy, m._xz, m._xw
  local yx, yy, yz, yw = m._yx, m._yy, m._yz, m._yw
  local zx, zy, zz, zw = m._zx, m._zy, m._zz, m._zw
  local tx, ty, tz, tw = m._tx, m._ty, m._tz, m._tw
  return xx * yy - yx * xy, xx * yz - yx * xz, xx * yw - yx * xw,
    xy * yz - yy * xz, xy * yw - yy * xw, xz * yw - yz * xw,
    zx * ty - tx * zy, zx * tz - tx * zz, zx * tw - tx * zw,
    zy * tz - ty * zz, zy * tw - ty * zw, zz * tw - tz * zw
end

---Returns the determinant: the factor by which volumes are scaled, negative for a mirror.
---@param m Matrix4x4 the matrix
---@return number the determinant
function Matrix4x4.determinant(m)
  check("Matrix4x4.determinant", m)
  local a, b, c, d, e, f, g, h, i, j, k, l = minors(m)
  return a * l - b * k + c * j + d * i - e * h + f * g
end

-- Returns the product of the lengths of the axes. It bounds the volume that they span (Hadamard's
-- inequality).
local function volume_bound(m)
  return sqrt(
    (m._xx * m._xx + m._xy * m._xy + m._xz * m._xz + m._xw * m._xw)
      * (m._yx * m._yx + m._yy * m._yy + m._yz * m._yz + m._yw * m._yw)
      * (m._zx * m._zx + m._zy * m._zy + m._zz * m._zz + m._zw * m._zw)
  )
end

---Returns the inverse of a matrix. Raises if the matrix is singular (flattens space).
---@param m Matrix4x4 the matrix
---@return Matrix4x4 the inverse, so that `m * inverse(m)` is the identity, within rounding
function Matrix4x4.inverse(m)
  check("Matrix4x4.inverse", m)
  local a, b, c, d, e, f, g, h, i, j, k, l = minors(m)
  local det = a * l - b * k + c * j + d * i - e * h + f * g
  if not (abs(det) > 1e-12 * volume_bound(m)) then
    raise("Matrix4x4.inverse: the matrix has no inverse, because it flattens space"
      .. " (is a scale 0, or an element NaN?): " .. meta.__tostring(m))
  end
  local s = 1 / det
  local xx, xy, xz, xw = m._xx, m._xy, m._xz, m._xw
  local yx, yy, yz, yw = m._yx, m._yy, m._yz, m._yw
  local zx, zy, zz, zw = m._zx, m._zy, m._zz, m._zw
  local tx, ty, tz, tw = m._tx, m._ty, m._tz, m._tw
  return M(
    (yy * l - yz * k + yw * j) * s, (xz * k - xy * l - xw * j) * s,
    (ty * f - tz * e + tw * d) * s, (zz * e - zy * f - zw * d) * s,
    (yz * i - yx * l - yw * h) * s, (xx * l - xz * i + xw * h) * s,
    (tz * c - tx * f - tw * b) * s, (zx * f - zz * c + zw * b) * s,
    (yx * k - yy * i + yw * g) * s, (xy * i - xx * k - xw * g) * s,
    (tx * e - ty * c + tw * a) * s, (zy * c - zx * e - zw * a) * s,
    (yy * h - yx * j - yz * g) * s, (xx * j - xy * h + xz * g) * s,
    (ty * b - tx * d - tz * a) * s, (zx * d - zy * b + zz * a) * s
  )
end

---Returns true if two matrices have exactly the same elements; `a == b` is the same.
---@param a Matrix4x4 the first matrix
---@param b Matrix4x4 the second matrix
---@return boolean true when all elements are equal
function Matrix4x4.equal(a, b)
  check_pair("Matrix4x4.equal", a, b)
  return same(a, b)
end

---Returns true if two matrices differ by no more than a tolerance in every element.
---@param a Matrix4x4 the first matrix
---@param b Matrix4x4 the second matrix
---@param tolerance? number the largest difference allowed; 0.0001 by default
---@return boolean true when all elements are within the tolerance
function Matrix4x4.almost_equal(a, b, tolerance)
  check_pair("Matrix4x4.almost_equal", a, b)
  if tolerance == nil then tolerance = 0.0001 end
  if type(tolerance) ~= "number" then
    bad_argument("Matrix4x4.almost_equal", 3, "tolerance", "number", tolerance)
  end
  local t = tolerance
  return abs(a._xx - b._xx) <= t and abs(a._xy - b._xy) <= t and abs(a._xz - b._xz) <= t
    and abs(a._xw - b._xw) <= t and abs(a._yx - b._yx) <= t and abs(a._yy - b._yy) <= t
    and abs(a._yz - b._yz) <= t and abs(a._yw - b._yw) <= t and abs(a._zx - b._zx) <= t
    and abs(a._zy - b._zy) <= t and abs(a._zz - b._zz) <= t and abs(a._zw - b._zw) <= t
    and abs(a._tx - b._tx) <= t and abs(a._ty - b._ty) <= t and abs(a._tz - b._tz) <= t
    and abs(a._tw - b._tw) <= t
end

-- x - x is 0 for finite numbers and NaN for others, and a sum with a NaN term is NaN.
local function finite(m)
  local x = (m._xx - m._xx) + (m._xy - m._xy) + (m._xz - m._xz) + (m._xw - m._xw)
  local y = (m._yx - m._yx) + (m._yy - m._yy) + (m._yz - m._yz) + (m._yw - m._yw)
  local z = (m._zx - m._zx) + (m._zy - m._zy) + (m._zz - m._zz) + (m._zw - m._zw)
  local t = (m._tx - m._tx) + (m._ty - m._ty) + (m._tz - m._tz) + (m._tw - m._tw)
  return x + y + z + t == 0
end

values.matrix_is_finite = finite

---Returns true if all elements are finite: no NaN and no infinity.
---@param m Matrix4x4 the matrix
---@return boolean true when every element is finite
function Matrix4x4.is_valid(m)
  check("Matrix4x4.is_valid", m)
  return finite(m)
end
