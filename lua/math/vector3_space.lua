-- Vector3 in space: named directions, angles, rotation, reflection and movement.
-- The type, its operators and its arithmetic are in vector3.lua.
local core = ...

local bad_argument = core.bad_argument
local type = type
local atan2, cos, sin, sqrt = math.atan2, math.cos, math.sin, math.sqrt
local istype = core.ffi.istype

local Vector3 = core.module("Vector3")
local V3 = core.ctypes.Vector3
local ZERO = V3(0, 0, 0)

---Returns the unit vector that points right, along +X.
---@return Vector3 the direction
function Vector3.right()
  return V3(1, 0, 0)
end

---Returns the unit vector that points left, along -X.
---@return Vector3 the direction
function Vector3.left()
  return V3(-1, 0, 0)
end

---Returns the unit vector that points forward, along +Y.
---@return Vector3 the direction
function Vector3.forward()
  return V3(0, 1, 0)
end

---Returns the unit vector that points backward, along -Y.
---@return Vector3 the direction
function Vector3.backward()
  return V3(0, -1, 0)
end

---Returns the unit vector that points up, along +Z.
---@return Vector3 the direction
function Vector3.up()
  return V3(0, 0, 1)
end

---Returns the unit vector that points down, along -Z.
---@return Vector3 the direction
function Vector3.down()
  return V3(0, 0, -1)
end

---Returns the unit vector along one axis, by its index: right, forward, up.
---@param i integer 1 for X, 2 for Y, 3 for Z
---@return Vector3 the direction
function Vector3.base(i)
  if i == 1 then return V3(1, 0, 0) end
  if i == 2 then return V3(0, 1, 0) end
  if i == 3 then return V3(0, 0, 1) end
  bad_argument("Vector3.base", 1, "i", "a whole number from 1 to 3", i)
end

---Returns the angle between two vectors; their lengths do not matter.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return number radians from 0 to pi; 0 when a vector is zero
function Vector3.angle(a, b)
  if not istype(V3, a) then bad_argument("Vector3.angle", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.angle", 2, "b", "Vector3", b) end
  -- atan2 stays accurate near 0 and pi, unlike the arc cosine of the dot product.
  local x, y = a._y * b._z - a._z * b._y, a._z * b._x - a._x * b._z
  local z = a._x * b._y - a._y * b._x
  return atan2(sqrt(x * x + y * y + z * z), a._x * b._x + a._y * b._y + a._z * b._z)
end

---Returns a vector rotated about an axis, counterclockwise when looking against the axis
---(right-hand rule). An axis of length 0 results in no rotation. Source: Rodrigues' rotation
---formula.
---@param v Vector3 the vector to rotate
---@param axis Vector3 the axis; its length does not matter
---@param angle number radians
---@return Vector3 the rotated vector
function Vector3.rotate(v, axis, angle)
  if not istype(V3, v) then bad_argument("Vector3.rotate", 1, "v", "Vector3", v) end
  if not istype(V3, axis) then bad_argument("Vector3.rotate", 2, "axis", "Vector3", axis) end
  if type(angle) ~= "number" then bad_argument("Vector3.rotate", 3, "angle", "number", angle) end
  local length = sqrt(axis._x * axis._x + axis._y * axis._y + axis._z * axis._z)
  if length == 0 then return v end
  local kx, ky, kz = axis._x / length, axis._y / length, axis._z / length
  local c, s = cos(angle), sin(angle)
  local along = (kx * v._x + ky * v._y + kz * v._z) * (1 - c)
  return V3(
    v._x * c + (ky * v._z - kz * v._y) * s + kx * along,
    v._y * c + (kz * v._x - kx * v._z) * s + ky * along,
    v._z * c + (kx * v._y - ky * v._x) * s + kz * along
  )
end

---Returns the vector projected onto the horizontal plane: the same x and y, and z = 0. The result
---is not normalized.
---@param v Vector3 the vector
---@return Vector3 the flat vector
function Vector3.flat(v)
  if not istype(V3, v) then bad_argument("Vector3.flat", 1, "v", "Vector3", v) end
  return V3(v._x, v._y, 0)
end

---Returns two unit vectors, x and y, that form a right-handed orthonormal basis with a z axis.
---For the zero vector they are right and forward. Source: Duff et al., "Building an Orthonormal
---Basis, Revisited", JCGT 6(1), 2017.
---@param z_axis Vector3 the direction of the third axis; its length does not matter
---@return Vector3 x_axis of length 1
---@return Vector3 y_axis of length 1
function Vector3.make_axes(z_axis)
  if not istype(V3, z_axis) then
    bad_argument("Vector3.make_axes", 1, "z_axis", "Vector3", z_axis)
  end
  local length = sqrt(z_axis._x * z_axis._x + z_axis._y * z_axis._y + z_axis._z * z_axis._z)
  if length == 0 then return V3(1, 0, 0), V3(0, 1, 0) end
  local x, y, z = z_axis._x / length, z_axis._y / length, z_axis._z / length
  local sign = z < 0 and -1 or 1
  local a = -1 / (sign + z)
  local b = x * y * a
  return V3(1 + sign * x * x * a, sign * b, -sign * x), V3(b, sign + y * y * a, -y)
end

---Returns the projection of a vector onto another one, or zero if the other one is zero.
---@param v Vector3 the vector to project
---@param onto Vector3 the direction; its length does not matter
---@return Vector3 the component of v along onto
function Vector3.project(v, onto)
  if not istype(V3, v) then bad_argument("Vector3.project", 1, "v", "Vector3", v) end
  if not istype(V3, onto) then bad_argument("Vector3.project", 2, "onto", "Vector3", onto) end
  local squared = onto._x * onto._x + onto._y * onto._y + onto._z * onto._z
  if squared == 0 then return ZERO end
  local t = (v._x * onto._x + v._y * onto._y + v._z * onto._z) / squared
  return V3(onto._x * t, onto._y * t, onto._z * t)
end

---Returns a vector reflected at a surface, as a ball bounces off a wall.
---@param v Vector3 the incoming vector
---@param normal Vector3 the surface normal, of length 1
---@return Vector3 the reflected vector
function Vector3.reflect(v, normal)
  if not istype(V3, v) then bad_argument("Vector3.reflect", 1, "v", "Vector3", v) end
  if not istype(V3, normal) then bad_argument("Vector3.reflect", 2, "normal", "Vector3", normal) end
  local t = 2 * (v._x * normal._x + v._y * normal._y + v._z * normal._z)
  return V3(v._x - normal._x * t, v._y - normal._y * t, v._z - normal._z * t)
end

---Returns the vector, shortened if it is longer than a limit.
---@param v Vector3 the vector
---@param max_length number the largest length, 0 or more
---@return Vector3 v, or the shorter vector of the same direction
function Vector3.clamp_length(v, max_length)
  if not istype(V3, v) then bad_argument("Vector3.clamp_length", 1, "v", "Vector3", v) end
  if type(max_length) ~= "number" then
    bad_argument("Vector3.clamp_length", 2, "max_length", "number", max_length)
  end
  if max_length < 0 then
    bad_argument("Vector3.clamp_length", 2, "max_length", "0 or more", max_length)
  end
  local squared = v._x * v._x + v._y * v._y + v._z * v._z
  if squared <= max_length * max_length then return v end
  local scale = max_length / sqrt(squared)
  return V3(v._x * scale, v._y * scale, v._z * scale)
end

---Returns a point moved towards a target by at most a distance, without overshooting.
---@param from Vector3 the start point
---@param to Vector3 the target
---@param max_distance number maximum distance, 0 or more
---@return Vector3 the new point
---@node query
function Vector3.move_towards(from, to, max_distance)
  if not istype(V3, from) then bad_argument("Vector3.move_towards", 1, "from", "Vector3", from) end
  if not istype(V3, to) then bad_argument("Vector3.move_towards", 2, "to", "Vector3", to) end
  if type(max_distance) ~= "number" then
    bad_argument("Vector3.move_towards", 3, "max_distance", "number", max_distance)
  end
  if max_distance < 0 then
    bad_argument("Vector3.move_towards", 3, "max_distance", "0 or more", max_distance)
  end
  local x = to._x - from._x
  local y = to._y - from._y
  local z = to._z - from._z
  local distance = sqrt(x * x + y * y + z * z)
  if distance <= max_distance then return to end
  local t = max_distance / distance
  return V3(from._x + x * t, from._y + y * t, from._z + z * t)
end
