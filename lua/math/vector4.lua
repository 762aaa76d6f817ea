-- Vector4: four immutable 32-bit floats, its operators and functions.
-- Functions shared by the value types are in vector.lua; mutable boxes are in boxed_values.lua.
local core = ...

local ffi, bad_argument, values = core.ffi, core.bad_argument, core.values
local select, type = select, type
local abs, min, max, sqrt = math.abs, math.min, math.max, math.sqrt
local istype = ffi.istype

---@module Vector4
---@node query
---Four numbers, as used by shaders and materials.
---A Vector4 never changes: every operation returns a new one, and values can be stored anywhere.
---Fields are 32-bit floats, so 0.1 comes back as 0.10000000149; `tostring` prints the short form.
---Omitted trailing arguments are 0. NaN and infinity are allowed: see `Vector4.is_valid`.
---@example
---   local tint = Vector4(1, 0.5, 0.25, 1)
---   assert(Vector4.with_w(tint, 0).w == 0)
---   print(Vector4.lerp(Vector4.zero(), tint, 0.5))

---@class (exact) Vector4
---@field x number the x component, rounded to a 32-bit float
---@field y number the y component, rounded to a 32-bit float
---@field z number the z component, rounded to a 32-bit float
---@field w number the w component, rounded to a 32-bit float
---@overload fun(x?: number, y?: number, z?: number, w?: number): Vector4
---@operator add(Vector4): Vector4
---@operator sub(Vector4): Vector4
---@operator mul(number): Vector4
---@operator div(number): Vector4
---@operator unm: Vector4
local Vector4 = core.module("Vector4")

local V4 = ffi.typeof("struct { const float _x, _y, _z, _w; }")
local ZERO = V4(0, 0, 0, 0)
local FIELDS = "x, y, z, w"
local FIELD_NAMES = { "x", "y", "z", "w" }
local WITH = {
  x = "Vector4.with_x(v, value)",
  y = "Vector4.with_y(v, value)",
  z = "Vector4.with_z(v, value)",
  w = "Vector4.with_w(v, value)",
  [1] = "Vector4.with_x(v, value)",
  [2] = "Vector4.with_y(v, value)",
  [3] = "Vector4.with_z(v, value)",
  [4] = "Vector4.with_w(v, value)",
}

-- Constructs a vector with argument checks. Omitted trailing arguments are 0. Passed arguments must
-- be numbers, so that a misspelled field (nil) is not read as 0.
local function construct_checked(...)
  local arguments = { ... }
  if select("#", ...) > 4 then core.refuse_extra("Vector4", 4, select(5, ...)) end
  for i = 1, min(4, select("#", ...)) do
    if type(arguments[i]) ~= "number" then
      bad_argument("Vector4", i, FIELD_NAMES[i], "number", arguments[i])
    end
  end
  return V4(arguments[1] or 0, arguments[2] or 0, arguments[3] or 0, arguments[4] or 0)
end

local function construct(_, ...)
  local x, y, z, w = ...
  local pair = type(x) == "number" and type(y) == "number"
  local is_full = pair and type(z) == "number" and type(w) == "number"
  if is_full and select("#", ...) == 4 then return V4(x, y, z, w) end
  return construct_checked(...)
end

values.callable(Vector4, construct)

local meta = {}
values.common_operators(meta, "Vector4", "use Vector4.length(v), or one of its fields")

meta.__index = function(v, key)
  if key == "x" or key == 1 then return v._x end
  if key == "y" or key == 2 then return v._y end
  if key == "z" or key == 3 then return v._z end
  if key == "w" or key == 4 then return v._w end
  values.no_field("Vector4", "v", Vector4, FIELDS, key)
end

meta.__newindex = function(_, key)
  values.no_assignment("Vector4", "v", Vector4, FIELDS, WITH, key)
end

meta.__tostring = function(v) return values.text("Vector4", v._x, v._y, v._z, v._w) end

-- Lua calls this for any two operands: nil and numbers must compare as different and not raise.
meta.__eq = function(a, b)
  if istype(V4, a) and istype(V4, b) then
    return a._x == b._x and a._y == b._y and a._z == b._z and a._w == b._w
  end
  return false
end

meta.__add = function(a, b)
  if istype(V4, a) and istype(V4, b) then
    return V4(a._x + b._x, a._y + b._y, a._z + b._z, a._w + b._w)
  end
  values.cannot("add", a, "and", b)
end

meta.__sub = function(a, b)
  if istype(V4, a) and istype(V4, b) then
    return V4(a._x - b._x, a._y - b._y, a._z - b._z, a._w - b._w)
  end
  values.cannot("subtract", b, "from", a)
end

meta.__mul = function(a, b)
  if type(b) == "number" then
    return V4(a._x * b, a._y * b, a._z * b, a._w * b)
  elseif type(a) == "number" then
    return V4(a * b._x, a * b._y, a * b._z, a * b._w)
  end
  local hint
  if istype(V4, a) and istype(V4, b) then
    hint = "use Vector4.dot or Vector4.multiply_elements"
  end
  values.cannot("multiply", a, "and", b, hint)
end

meta.__div = function(a, b)
  if type(b) == "number" and istype(V4, a) then
    return V4(a._x / b, a._y / b, a._z / b, a._w / b)
  end
  local both = istype(V4, a) and istype(V4, b)
  values.cannot("divide", a, "by", b, both and "use Vector4.divide_elements" or nil)
end

meta.__unm = function(v)
  return V4(-v._x, -v._y, -v._z, -v._w)
end

ffi.metatype(V4, meta)
core.ctypes.Vector4 = V4
core.make_vector4 = V4

---Returns the vector whose fields are all 0.
---@return Vector4 the zero vector
function Vector4.zero()
  return ZERO
end

---Returns the vector whose fields are all 1.
---@return Vector4 a vector of ones
function Vector4.one()
  return V4(1, 1, 1, 1)
end

---Returns the x field; `v.x` is the same.
---@param v Vector4 the vector
---@return number its x
function Vector4.x(v)
  if not istype(V4, v) then bad_argument("Vector4.x", 1, "v", "Vector4", v) end
  return v._x
end

---Returns the y field; `v.y` is the same.
---@param v Vector4 the vector
---@return number its y
function Vector4.y(v)
  if not istype(V4, v) then bad_argument("Vector4.y", 1, "v", "Vector4", v) end
  return v._y
end

---Returns the z field; `v.z` is the same.
---@param v Vector4 the vector
---@return number its z
function Vector4.z(v)
  if not istype(V4, v) then bad_argument("Vector4.z", 1, "v", "Vector4", v) end
  return v._z
end

---Returns the w field; `v.w` is the same.
---@param v Vector4 the vector
---@return number its w
function Vector4.w(v)
  if not istype(V4, v) then bad_argument("Vector4.w", 1, "v", "Vector4", v) end
  return v._w
end

---Returns a field by its index; `v[i]` is the same.
---@param v Vector4 the vector
---@param i integer 1 to 4
---@return number the field
function Vector4.element(v, i)
  if not istype(V4, v) then bad_argument("Vector4.element", 1, "v", "Vector4", v) end
  if i == 1 then return v._x end
  if i == 2 then return v._y end
  if i == 3 then return v._z end
  if i == 4 then return v._w end
  bad_argument("Vector4.element", 2, "i", "a whole number from 1 to 4", i)
end

---Returns the fields as separate numbers.
---@param v Vector4 the vector
---@return number x
---@return number y
---@return number z
---@return number w
function Vector4.to_elements(v)
  if not istype(V4, v) then bad_argument("Vector4.to_elements", 1, "v", "Vector4", v) end
  return v._x, v._y, v._z, v._w
end

---Returns the fields as a list, for serialization.
---@param v Vector4 the vector
---@return number[] the fields in order
function Vector4.as_table(v)
  if not istype(V4, v) then bad_argument("Vector4.as_table", 1, "v", "Vector4", v) end
  return { v._x, v._y, v._z, v._w }
end

---Returns the vector as text, the same as `tostring(v)`.
---@param v Vector4 the vector
---@return string text such as `Vector4(1, 2, 3, 4)`
function Vector4.to_string(v)
  if not istype(V4, v) then bad_argument("Vector4.to_string", 1, "v", "Vector4", v) end
  return meta.__tostring(v)
end

---Returns a copy of the vector with a different x.
---@param v Vector4 the vector
---@param x number the new x
---@return Vector4 the changed copy
function Vector4.with_x(v, x)
  if not istype(V4, v) then bad_argument("Vector4.with_x", 1, "v", "Vector4", v) end
  if type(x) ~= "number" then bad_argument("Vector4.with_x", 2, "x", "number", x) end
  return V4(x, v._y, v._z, v._w)
end

---Returns a copy of the vector with a different y.
---@param v Vector4 the vector
---@param y number the new y
---@return Vector4 the changed copy
function Vector4.with_y(v, y)
  if not istype(V4, v) then bad_argument("Vector4.with_y", 1, "v", "Vector4", v) end
  if type(y) ~= "number" then bad_argument("Vector4.with_y", 2, "y", "number", y) end
  return V4(v._x, y, v._z, v._w)
end

---Returns a copy of the vector with a different z.
---@param v Vector4 the vector
---@param z number the new z
---@return Vector4 the changed copy
function Vector4.with_z(v, z)
  if not istype(V4, v) then bad_argument("Vector4.with_z", 1, "v", "Vector4", v) end
  if type(z) ~= "number" then bad_argument("Vector4.with_z", 2, "z", "number", z) end
  return V4(v._x, v._y, z, v._w)
end

---Returns a copy of the vector with a different w.
---@param v Vector4 the vector
---@param w number the new w
---@return Vector4 the changed copy
function Vector4.with_w(v, w)
  if not istype(V4, v) then bad_argument("Vector4.with_w", 1, "v", "Vector4", v) end
  if type(w) ~= "number" then bad_argument("Vector4.with_w", 2, "w", "number", w) end
  return V4(v._x, v._y, v._z, w)
end

---Returns a copy of the vector with one field replaced, by its index.
---@param v Vector4 the vector
---@param i integer 1 to 4
---@param value number the new value of that field
---@return Vector4 the changed copy
function Vector4.with_element(v, i, value)
  if not istype(V4, v) then bad_argument("Vector4.with_element", 1, "v", "Vector4", v) end
  if type(value) ~= "number" then
    bad_argument("Vector4.with_element", 3, "value", "number", value)
  end
  if i == 1 then return V4(value, v._y, v._z, v._w) end
  if i == 2 then return V4(v._x, value, v._z, v._w) end
  if i == 3 then return V4(v._x, v._y, value, v._w) end
  if i == 4 then return V4(v._x, v._y, v._z, value) end
  bad_argument("Vector4.with_element", 2, "i", "a whole number from 1 to 4", i)
end

---Returns the sum of two vectors; `a + b` is the same.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@return Vector4 a + b
function Vector4.add(a, b)
  if not istype(V4, a) then bad_argument("Vector4.add", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.add", 2, "b", "Vector4", b) end
  return V4(a._x + b._x, a._y + b._y, a._z + b._z, a._w + b._w)
end

---Returns the difference of two vectors; `a - b` is the same.
---@param a Vector4 the vector to subtract from
---@param b Vector4 the vector to subtract
---@return Vector4 a - b
function Vector4.subtract(a, b)
  if not istype(V4, a) then bad_argument("Vector4.subtract", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.subtract", 2, "b", "Vector4", b) end
  return V4(a._x - b._x, a._y - b._y, a._z - b._z, a._w - b._w)
end

---Returns the vector scaled by a number; `v * scale` is the same.
---@param v Vector4 the vector
---@param scale number the factor for every field
---@return Vector4 the scaled vector
function Vector4.multiply(v, scale)
  if not istype(V4, v) then bad_argument("Vector4.multiply", 1, "v", "Vector4", v) end
  if type(scale) ~= "number" then bad_argument("Vector4.multiply", 2, "scale", "number", scale) end
  return V4(v._x * scale, v._y * scale, v._z * scale, v._w * scale)
end

---Returns the vector divided by a number; `v / divisor` is the same.
---Dividing by 0 results in infinities, as with plain numbers.
---@param v Vector4 the vector
---@param divisor number the divisor of every field
---@return Vector4 the divided vector
function Vector4.divide(v, divisor)
  if not istype(V4, v) then bad_argument("Vector4.divide", 1, "v", "Vector4", v) end
  if type(divisor) ~= "number" then
    bad_argument("Vector4.divide", 2, "divisor", "number", divisor)
  end
  return V4(v._x / divisor, v._y / divisor, v._z / divisor, v._w / divisor)
end

---Returns the products of the fields of two vectors, element by element.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@return Vector4 the products
function Vector4.multiply_elements(a, b)
  if not istype(V4, a) then bad_argument("Vector4.multiply_elements", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.multiply_elements", 2, "b", "Vector4", b) end
  return V4(a._x * b._x, a._y * b._y, a._z * b._z, a._w * b._w)
end

---Returns the quotients of the fields of two vectors, element by element.
---@param a Vector4 the dividends
---@param b Vector4 the divisors
---@return Vector4 the quotients
function Vector4.divide_elements(a, b)
  if not istype(V4, a) then bad_argument("Vector4.divide_elements", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.divide_elements", 2, "b", "Vector4", b) end
  return V4(a._x / b._x, a._y / b._y, a._z / b._z, a._w / b._w)
end

---Returns the dot product: the sum of the products of the fields.
---For unit vectors it is the cosine of the angle between them.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@return number the dot product
function Vector4.dot(a, b)
  if not istype(V4, a) then bad_argument("Vector4.dot", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.dot", 2, "b", "Vector4", b) end
  return a._x * b._x + a._y * b._y + a._z * b._z + a._w * b._w
end

---Returns the length of a vector.
---@param v Vector4 the vector to measure
---@return number length in the units of v
function Vector4.length(v)
  if not istype(V4, v) then bad_argument("Vector4.length", 1, "v", "Vector4", v) end
  return sqrt(v._x * v._x + v._y * v._y + v._z * v._z + v._w * v._w)
end

---Returns the squared length, which is cheaper to compute and sufficient for comparisons.
---@param v Vector4 the vector to measure
---@return number squared the square of the length
function Vector4.length_squared(v)
  if not istype(V4, v) then bad_argument("Vector4.length_squared", 1, "v", "Vector4", v) end
  return v._x * v._x + v._y * v._y + v._z * v._z + v._w * v._w
end

---Returns the distance between two points.
---@param a Vector4 the first point
---@param b Vector4 the second point
---@return number distance in the units of a and b
function Vector4.distance(a, b)
  if not istype(V4, a) then bad_argument("Vector4.distance", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.distance", 2, "b", "Vector4", b) end
  local x = a._x - b._x
  local y = a._y - b._y
  local z = a._z - b._z
  local w = a._w - b._w
  return sqrt(x * x + y * y + z * z + w * w)
end

---Returns the squared distance, which is cheaper to compute and sufficient for comparisons.
---@param a Vector4 the first point
---@param b Vector4 the second point
---@return number squared the square of the distance
function Vector4.distance_squared(a, b)
  if not istype(V4, a) then bad_argument("Vector4.distance_squared", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.distance_squared", 2, "b", "Vector4", b) end
  local x = a._x - b._x
  local y = a._y - b._y
  local z = a._z - b._z
  local w = a._w - b._w
  return x * x + y * y + z * z + w * w
end

---Returns the vector with the same direction and length 1.
---The zero vector has no direction and stays zero.
---@param v Vector4 the vector
---@return Vector4 the unit vector, or zero
function Vector4.normalize(v)
  if not istype(V4, v) then bad_argument("Vector4.normalize", 1, "v", "Vector4", v) end
  local length = sqrt(v._x * v._x + v._y * v._y + v._z * v._z + v._w * v._w)
  if length == 0 then return ZERO end
  return V4(v._x / length, v._y / length, v._z / length, v._w / length)
end

---Splits a vector into its direction and its length.
---The zero vector results in zero and 0.
---@param v Vector4 the vector
---@return Vector4 direction the unit vector, or zero
---@return number length of the vector
function Vector4.direction_length(v)
  if not istype(V4, v) then bad_argument("Vector4.direction_length", 1, "v", "Vector4", v) end
  local length = sqrt(v._x * v._x + v._y * v._y + v._z * v._z + v._w * v._w)
  if length == 0 then return ZERO, 0 end
  return V4(v._x / length, v._y / length, v._z / length, v._w / length), length
end

---Interpolates linearly between two vectors.
---t is not clamped: values below 0 and above 1 extrapolate along the same line.
---@param a Vector4 the result for t = 0
---@param b Vector4 the result for t = 1
---@param t number the interpolation factor
---@return Vector4 a + (b - a) * t
function Vector4.lerp(a, b, t)
  if not istype(V4, a) then bad_argument("Vector4.lerp", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.lerp", 2, "b", "Vector4", b) end
  if type(t) ~= "number" then bad_argument("Vector4.lerp", 3, "t", "number", t) end
  local x = a._x + (b._x - a._x) * t
  local y = a._y + (b._y - a._y) * t
  local z = a._z + (b._z - a._z) * t
  local w = a._w + (b._w - a._w) * t
  return V4(x, y, z, w)
end

---Returns the smaller fields of two vectors, element by element.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@return Vector4 the smaller fields
function Vector4.min(a, b)
  if not istype(V4, a) then bad_argument("Vector4.min", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.min", 2, "b", "Vector4", b) end
  return V4(min(a._x, b._x), min(a._y, b._y), min(a._z, b._z), min(a._w, b._w))
end

---Returns the larger fields of two vectors, element by element.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@return Vector4 the larger fields
function Vector4.max(a, b)
  if not istype(V4, a) then bad_argument("Vector4.max", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.max", 2, "b", "Vector4", b) end
  return V4(max(a._x, b._x), max(a._y, b._y), max(a._z, b._z), max(a._w, b._w))
end

---Returns the absolute values of the fields.
---@param v Vector4 the vector
---@return Vector4 the absolute values
function Vector4.abs(v)
  if not istype(V4, v) then bad_argument("Vector4.abs", 1, "v", "Vector4", v) end
  return V4(abs(v._x), abs(v._y), abs(v._z), abs(v._w))
end

---Returns true if two vectors have exactly the same fields; `a == b` is the same.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@return boolean true when all fields are equal
function Vector4.equal(a, b)
  if not istype(V4, a) then bad_argument("Vector4.equal", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.equal", 2, "b", "Vector4", b) end
  return a._x == b._x and a._y == b._y and a._z == b._z and a._w == b._w
end

---Returns true if two vectors differ by no more than a tolerance in every field.
---@param a Vector4 the first vector
---@param b Vector4 the second vector
---@param tolerance? number the largest difference allowed; 0.0001 by default
---@return boolean true when all fields are within the tolerance
function Vector4.almost_equal(a, b, tolerance)
  if not istype(V4, a) then bad_argument("Vector4.almost_equal", 1, "a", "Vector4", a) end
  if not istype(V4, b) then bad_argument("Vector4.almost_equal", 2, "b", "Vector4", b) end
  if tolerance == nil then tolerance = 0.0001 end
  if type(tolerance) ~= "number" then
    bad_argument("Vector4.almost_equal", 3, "tolerance", "number", tolerance)
  end
  return abs(a._x - b._x) <= tolerance
    and abs(a._y - b._y) <= tolerance
    and abs(a._z - b._z) <= tolerance
    and abs(a._w - b._w) <= tolerance
end

---Returns true if all fields are finite: no NaN and no infinity.
---@param v Vector4 the vector
---@return boolean true when every field is finite
function Vector4.is_valid(v)
  if not istype(V4, v) then bad_argument("Vector4.is_valid", 1, "v", "Vector4", v) end
  -- x - x is 0 for finite numbers and NaN for others.
  return v._x - v._x == 0 and v._y - v._y == 0 and v._z - v._z == 0 and v._w - v._w == 0
end

---Returns the projection of a vector onto another one, or zero if the other one is zero.
---@param v Vector4 the vector to project
---@param onto Vector4 the direction; its length does not matter
---@return Vector4 the component of v along onto
function Vector4.project(v, onto)
  if not istype(V4, v) then bad_argument("Vector4.project", 1, "v", "Vector4", v) end
  if not istype(V4, onto) then bad_argument("Vector4.project", 2, "onto", "Vector4", onto) end
  local squared = onto._x * onto._x + onto._y * onto._y + onto._z * onto._z + onto._w * onto._w
  if squared == 0 then return ZERO end
  local t = (v._x * onto._x + v._y * onto._y + v._z * onto._z + v._w * onto._w) / squared
  return V4(onto._x * t, onto._y * t, onto._z * t, onto._w * t)
end

---Returns a vector reflected at a surface, as a ball bounces off a wall.
---@param v Vector4 the incoming vector
---@param normal Vector4 the surface normal, of length 1
---@return Vector4 the reflected vector
function Vector4.reflect(v, normal)
  if not istype(V4, v) then bad_argument("Vector4.reflect", 1, "v", "Vector4", v) end
  if not istype(V4, normal) then bad_argument("Vector4.reflect", 2, "normal", "Vector4", normal) end
  local t = 2 * (v._x * normal._x + v._y * normal._y + v._z * normal._z + v._w * normal._w)
  return V4(v._x - normal._x * t, v._y - normal._y * t, v._z - normal._z * t, v._w - normal._w * t)
end

---Returns the vector, shortened if it is longer than a limit.
---@param v Vector4 the vector
---@param max_length number the largest length, 0 or more
---@return Vector4 v, or the shorter vector of the same direction
function Vector4.clamp_length(v, max_length)
  if not istype(V4, v) then bad_argument("Vector4.clamp_length", 1, "v", "Vector4", v) end
  if type(max_length) ~= "number" then
    bad_argument("Vector4.clamp_length", 2, "max_length", "number", max_length)
  end
  if max_length < 0 then
    bad_argument("Vector4.clamp_length", 2, "max_length", "0 or more", max_length)
  end
  local squared = v._x * v._x + v._y * v._y + v._z * v._z + v._w * v._w
  if squared <= max_length * max_length then return v end
  local scale = max_length / sqrt(squared)
  return V4(v._x * scale, v._y * scale, v._z * scale, v._w * scale)
end

---Returns a point moved towards a target by at most a distance, without overshooting.
---@param from Vector4 the start point
---@param to Vector4 the target
---@param max_distance number maximum distance, 0 or more
---@return Vector4 the new point
function Vector4.move_towards(from, to, max_distance)
  if not istype(V4, from) then bad_argument("Vector4.move_towards", 1, "from", "Vector4", from) end
  if not istype(V4, to) then bad_argument("Vector4.move_towards", 2, "to", "Vector4", to) end
  if type(max_distance) ~= "number" then
    bad_argument("Vector4.move_towards", 3, "max_distance", "number", max_distance)
  end
  if max_distance < 0 then
    bad_argument("Vector4.move_towards", 3, "max_distance", "0 or more", max_distance)
  end
  local x = to._x - from._x
  local y = to._y - from._y
  local z = to._z - from._z
  local w = to._w - from._w
  local distance = sqrt(x * x + y * y + z * z + w * w)
  if distance <= max_distance then return to end
  local t = max_distance / distance
  return V4(from._x + x * t, from._y + y * t, from._z + z * t, from._w + w * t)
end
