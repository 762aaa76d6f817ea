-- Quaternion: an immutable rotation, its operators and its algebra. Angles, looking and turning are
-- in quaternion_angles.lua; conversions from and to matrices are in matrix_pose.lua; the mutable
-- box is in boxed_values.lua.
local core = ...

local ffi, raise, bad_argument, values = core.ffi, core.raise, core.bad_argument, core.values
local select, type, describe = select, type, core.describe
local abs, acos, cos, sin, sqrt = math.abs, math.acos, math.cos, math.sin, math.sqrt
local istype = ffi.istype

---@module Quaternion
---@node query
---A rotation in space, as four numbers x, y, z, w. The identity (0, 0, 0, 1) is no rotation.
---`Quaternion(axis, angle)` rotates by `angle` radians about `axis`, counterclockwise when looking
---against the axis (right-hand rule); `Quaternion()` is the identity. `a * b` applies b first and
---then a, so a child's rotation in the world is `parent * local`; `rotation * vector` rotates the
---vector. (Matrices multiply in the opposite order: see `Matrix4x4.multiply`.) A Quaternion never
---changes, and its fields are 32-bit floats.
---@example
---   local quarter = Quaternion(Vector3.up(), math.pi / 2)
---   assert(Vector3.almost_equal(quarter * Vector3.right(), Vector3.forward()))
---   print(Quaternion.forward(quarter * quarter))

---@class (exact) Quaternion
---@field x number the x component, rounded to a 32-bit float
---@field y number the y component, rounded to a 32-bit float
---@field z number the z component, rounded to a 32-bit float
---@field w number the w component, rounded to a 32-bit float
---@overload fun(): Quaternion
---@overload fun(axis: Vector3, angle: number): Quaternion
---@operator mul(Quaternion): Quaternion
---@operator mul(Vector3): Vector3
---@operator unm: Quaternion
local Quaternion = core.module("Quaternion")

local V3 = core.ctypes.Vector3
local Q = ffi.typeof("struct { const float _x, _y, _z, _w; }")
local IDENTITY = Q(0, 0, 0, 1)
local FIELDS = "x, y, z, w"
local USE = "Quaternion.from_elements(x, y, z, w)"
local WITH = { x = USE, y = USE, z = USE, w = USE, [1] = USE, [2] = USE, [3] = USE, [4] = USE }

local function about_axis(axis, angle)
  local x, y, z = axis._x, axis._y, axis._z
  local length = sqrt(x * x + y * y + z * z)
  if length == 0 then return IDENTITY end
  local s = sin(angle * 0.5) / length
  return Q(x * s, y * s, z * s, cos(angle * 0.5))
end

local function construct(_, ...)
  local axis, angle = ...
  if istype(V3, axis) and type(angle) == "number" then
    if select("#", ...) > 2 then core.refuse_extra("Quaternion", 2, select(3, ...)) end
    return about_axis(axis, angle)
  end
  if select("#", ...) == 0 then return IDENTITY end
  if type(axis) == "number" then
    raise("Quaternion: argument #1 'axis' must be Vector3, got " .. describe(axis)
      .. ": four numbers make one with " .. USE)
  end
  if not istype(V3, axis) then bad_argument("Quaternion", 1, "axis", "Vector3", axis) end
  bad_argument("Quaternion", 2, "angle", "number", angle)
end

values.callable(Quaternion, construct)

local function product(a, b)
  local ax, ay, az, aw = a._x, a._y, a._z, a._w
  local bx, by, bz, bw = b._x, b._y, b._z, b._w
  return Q(
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz
  )
end

-- Computes v + 2w(q × v) + 2q × (q × v): half the operations of q * v * conjugate(q).
local function turn(q, v)
  local qx, qy, qz, qw = q._x, q._y, q._z, q._w
  local vx, vy, vz = v._x, v._y, v._z
  local tx, ty, tz = 2 * (qy * vz - qz * vy), 2 * (qz * vx - qx * vz), 2 * (qx * vy - qy * vx)
  return V3(
    vx + qw * tx + qy * tz - qz * ty,
    vy + qw * ty + qz * tx - qx * tz,
    vz + qw * tz + qx * ty - qy * tx
  )
end

local function normalized(x, y, z, w)
  local norm = sqrt(x * x + y * y + z * z + w * w)
  if norm == 0 then return IDENTITY end
  return Q(x / norm, y / norm, z / norm, w / norm)
end

local meta = {}
values.common_operators(meta, "Quaternion", "use Quaternion.angle(q), or one of its fields")

meta.__index = function(q, key)
  if key == "x" or key == 1 then return q._x end
  if key == "y" or key == 2 then return q._y end
  if key == "z" or key == 3 then return q._z end
  if key == "w" or key == 4 then return q._w end
  values.no_field("Quaternion", "q", Quaternion, FIELDS, key)
end

meta.__newindex = function(_, key)
  values.no_assignment("Quaternion", "q", Quaternion, FIELDS, WITH, key)
end

meta.__tostring = function(q) return values.text("Quaternion", q._x, q._y, q._z, q._w) end

-- Lua calls this for any two operands: nil and numbers must compare as different and not raise.
meta.__eq = function(a, b)
  if istype(Q, a) and istype(Q, b) then
    return a._x == b._x and a._y == b._y and a._z == b._z and a._w == b._w
  end
  return false
end

meta.__mul = function(a, b)
  if istype(Q, a) then
    if istype(Q, b) then return product(a, b) end
    if istype(V3, b) then return turn(a, b) end
  end
  local hint = "a Quaternion multiplies a Quaternion or a Vector3, and is on the left"
  values.cannot("multiply", a, "and", b, hint)
end

meta.__unm = function(q)
  return Q(-q._x, -q._y, -q._z, -q._w)
end

meta.__add = function(a, b)
  values.cannot("add", a, "and", b, "use Quaternion.multiply to combine rotations")
end

meta.__sub = function(a, b)
  values.cannot("subtract", b, "from", a, "use Quaternion.multiply(a, Quaternion.inverse(b))")
end

meta.__div = function(a, b)
  values.cannot("divide", a, "by", b, "use Quaternion.inverse")
end

ffi.metatype(Q, meta)
core.ctypes.Quaternion = Q
core.make_quaternion = Q

---Returns the identity rotation: (0, 0, 0, 1).
---@return Quaternion the identity
function Quaternion.identity()
  return IDENTITY
end

---Returns the rotation about an axis; the same as `Quaternion(axis, angle)`. An axis of length 0
---results in the identity.
---@param axis Vector3 the axis; its length does not matter
---@param angle number radians, counterclockwise when looking against the axis
---@return Quaternion the rotation
function Quaternion.axis_angle(axis, angle)
  if not istype(V3, axis) then
    bad_argument("Quaternion.axis_angle", 1, "axis", "Vector3", axis)
  end
  if type(angle) ~= "number" then
    bad_argument("Quaternion.axis_angle", 2, "angle", "number", angle)
  end
  return about_axis(axis, angle)
end

---Returns the quaternion with these four numbers, without normalizing them. A rotation has length
---1: see `Quaternion.normalize`.
---@param x number the x component
---@param y number the y component
---@param z number the z component
---@param w number the w component
---@return Quaternion the quaternion
function Quaternion.from_elements(x, y, z, w)
  if type(x) ~= "number" then bad_argument("Quaternion.from_elements", 1, "x", "number", x) end
  if type(y) ~= "number" then bad_argument("Quaternion.from_elements", 2, "y", "number", y) end
  if type(z) ~= "number" then bad_argument("Quaternion.from_elements", 3, "z", "number", z) end
  if type(w) ~= "number" then bad_argument("Quaternion.from_elements", 4, "w", "number", w) end
  return Q(x, y, z, w)
end

---Returns the fields as separate numbers.
---@param q Quaternion the quaternion
---@return number x
---@return number y
---@return number z
---@return number w
function Quaternion.to_elements(q)
  if not istype(Q, q) then bad_argument("Quaternion.to_elements", 1, "q", "Quaternion", q) end
  return q._x, q._y, q._z, q._w
end

---Returns the fields as a list, for serialization.
---@param q Quaternion the quaternion
---@return number[] x, y, z and w
function Quaternion.as_table(q)
  if not istype(Q, q) then bad_argument("Quaternion.as_table", 1, "q", "Quaternion", q) end
  return { q._x, q._y, q._z, q._w }
end

---Returns the quaternion as text, the same as `tostring(q)`.
---@param q Quaternion the quaternion
---@return string text such as `Quaternion(0, 0, 0, 1)`
function Quaternion.to_string(q)
  if not istype(Q, q) then bad_argument("Quaternion.to_string", 1, "q", "Quaternion", q) end
  return meta.__tostring(q)
end

---Combines two rotations: b is applied first, then a. `a * b` is the same. A child's rotation in
---the world is `multiply(parent, local)`.
---@param a Quaternion the rotation applied last
---@param b Quaternion the rotation applied first
---@return Quaternion the combined rotation
function Quaternion.multiply(a, b)
  if not istype(Q, a) then bad_argument("Quaternion.multiply", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.multiply", 2, "b", "Quaternion", b) end
  return product(a, b)
end

---Returns a vector rotated by a quaternion; `q * v` is the same.
---@param q Quaternion the rotation, of length 1
---@param v Vector3 the vector to rotate
---@return Vector3 the rotated vector
function Quaternion.rotate(q, v)
  if not istype(Q, q) then bad_argument("Quaternion.rotate", 1, "q", "Quaternion", q) end
  if not istype(V3, v) then bad_argument("Quaternion.rotate", 2, "v", "Vector3", v) end
  return turn(q, v)
end

---Returns the inverse of a rotation. The inverse of (0, 0, 0, 0) is the identity.
---@param q Quaternion the rotation
---@return Quaternion the inverse, so that `q * inverse(q)` is the identity
function Quaternion.inverse(q)
  if not istype(Q, q) then bad_argument("Quaternion.inverse", 1, "q", "Quaternion", q) end
  local squared = q._x * q._x + q._y * q._y + q._z * q._z + q._w * q._w
  if squared == 0 then return IDENTITY end
  return Q(-q._x / squared, -q._y / squared, -q._z / squared, q._w / squared)
end

---Returns the conjugate: x, y and z negated. For a rotation of length 1, the conjugate is the
---inverse.
---@param q Quaternion the quaternion
---@return Quaternion the conjugate
function Quaternion.conjugate(q)
  if not istype(Q, q) then bad_argument("Quaternion.conjugate", 1, "q", "Quaternion", q) end
  return Q(-q._x, -q._y, -q._z, q._w)
end

---Returns the length of the quaternion; a rotation has length 1.
---@param q Quaternion the quaternion
---@return number its length
function Quaternion.norm(q)
  if not istype(Q, q) then bad_argument("Quaternion.norm", 1, "q", "Quaternion", q) end
  return sqrt(q._x * q._x + q._y * q._y + q._z * q._z + q._w * q._w)
end

---Returns the quaternion scaled to length 1. The quaternion (0, 0, 0, 0) becomes the identity.
---@param q Quaternion the quaternion
---@return Quaternion the rotation
function Quaternion.normalize(q)
  if not istype(Q, q) then bad_argument("Quaternion.normalize", 1, "q", "Quaternion", q) end
  return normalized(q._x, q._y, q._z, q._w)
end

---Returns the dot product: the sum of the products of the fields.
---@param a Quaternion the first quaternion
---@param b Quaternion the second quaternion
---@return number the dot product, 1 or -1 for equal rotations
function Quaternion.dot(a, b)
  if not istype(Q, a) then bad_argument("Quaternion.dot", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.dot", 2, "b", "Quaternion", b) end
  return a._x * b._x + a._y * b._y + a._z * b._z + a._w * b._w
end

---Returns true if two quaternions have exactly the same fields; `a == b` is the same.
---@param a Quaternion the first quaternion
---@param b Quaternion the second quaternion
---@return boolean true when all fields are equal
function Quaternion.equal(a, b)
  if not istype(Q, a) then bad_argument("Quaternion.equal", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.equal", 2, "b", "Quaternion", b) end
  return a._x == b._x and a._y == b._y and a._z == b._z and a._w == b._w
end

---Returns true if two quaternions are nearly the same rotation; q and -q are the same rotation.
---@param a Quaternion the first rotation
---@param b Quaternion the second rotation
---@param tolerance? number the largest difference of a field; 0.0001 by default
---@return boolean true when all fields are within the tolerance
function Quaternion.almost_equal(a, b, tolerance)
  if not istype(Q, a) then bad_argument("Quaternion.almost_equal", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.almost_equal", 2, "b", "Quaternion", b) end
  if tolerance == nil then tolerance = 0.0001 end
  if type(tolerance) ~= "number" then
    bad_argument("Quaternion.almost_equal", 3, "tolerance", "number", tolerance)
  end
  local dot = a._x * b._x + a._y * b._y + a._z * b._z + a._w * b._w
  local sign = dot < 0 and -1 or 1
  return abs(a._x - b._x * sign) <= tolerance
    and abs(a._y - b._y * sign) <= tolerance
    and abs(a._z - b._z * sign) <= tolerance
    and abs(a._w - b._w * sign) <= tolerance
end

---Returns true if all fields are finite: no NaN and no infinity.
---@param q Quaternion the quaternion
---@return boolean true when every field is finite
function Quaternion.is_valid(q)
  if not istype(Q, q) then bad_argument("Quaternion.is_valid", 1, "q", "Quaternion", q) end
  -- x - x is 0 for finite numbers and NaN for others.
  local x, y, z, w = q._x, q._y, q._z, q._w
  return x - x == 0 and y - y == 0 and z - z == 0 and w - w == 0
end

local function lerp(a, b, t)
  local dot = a._x * b._x + a._y * b._y + a._z * b._z + a._w * b._w
  local s, u = 1 - t, dot < 0 and -t or t
  return normalized(
    a._x * s + b._x * u,
    a._y * s + b._y * u,
    a._z * s + b._z * u,
    a._w * s + b._w * u
  )
end

---Interpolates between two rotations along the shortest arc and normalizes the result. It is
---cheap, but slightly faster in the middle than at the ends; `Quaternion.slerp` has constant
---speed.
---@param a Quaternion the result for t = 0
---@param b Quaternion the result for t = 1
---@param t number interpolation factor, not clamped
---@return Quaternion the interpolated rotation
function Quaternion.lerp(a, b, t)
  if not istype(Q, a) then bad_argument("Quaternion.lerp", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.lerp", 2, "b", "Quaternion", b) end
  if type(t) ~= "number" then bad_argument("Quaternion.lerp", 3, "t", "number", t) end
  return lerp(a, b, t)
end

-- Spherical linear interpolation. Source: K. Shoemake, "Animating rotation with quaternion curves",
-- SIGGRAPH 1985.
local function slerp(a, b, t)
  local dot = a._x * b._x + a._y * b._y + a._z * b._z + a._w * b._w
  local s, u = 1 - t, t
  -- For nearly equal rotations the sines vanish, and linear interpolation is accurate enough.
  if abs(dot) < 0.9995 then
    local angle = acos(abs(dot))
    s, u = sin(angle * s) / sin(angle), sin(angle * u) / sin(angle)
  end
  if dot < 0 then u = -u end
  return normalized(
    a._x * s + b._x * u,
    a._y * s + b._y * u,
    a._z * s + b._z * u,
    a._w * s + b._w * u
  )
end

values.lerp, values.slerp = lerp, slerp

---Interpolates between two rotations along the shortest arc at constant speed.
---@param a Quaternion the result for t = 0, of length 1
---@param b Quaternion the result for t = 1, of length 1
---@param t number interpolation factor, not clamped
---@return Quaternion the interpolated rotation
function Quaternion.slerp(a, b, t)
  if not istype(Q, a) then bad_argument("Quaternion.slerp", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.slerp", 2, "b", "Quaternion", b) end
  if type(t) ~= "number" then bad_argument("Quaternion.slerp", 3, "t", "number", t) end
  return slerp(a, b, t)
end
