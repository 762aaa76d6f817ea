-- Vector3: an immutable triple of 32-bit floats, its operators and functions.
-- Directions, angles and movement are in vector3_space.lua; functions shared by the value types are
-- in vector.lua; mutable boxes are in boxed_values.lua.
local core = ...

local ffi, bad_argument, values = core.ffi, core.bad_argument, core.values
local select, type = select, type
local abs, min, max, sqrt = math.abs, math.min, math.max, math.sqrt
local istype = ffi.istype

---@module Vector3
---@node query
---A point, a direction or a size in space: X is right, Y is forward, Z is up.
---A Vector3 never changes: every operation returns a new one, and values can be stored anywhere.
---Fields are 32-bit floats, so 0.1 comes back as 0.10000000149; `tostring` prints the short form.
---Omitted trailing arguments are 0. NaN and infinity are allowed: see `Vector3.is_valid`.
---@example
---   local position, velocity = Vector3(0, 0, 1), Vector3(0, 2, 0)
---   position = position + velocity * 0.5
---   assert(position == Vector3(0, 1, 1))
---   print(Vector3.distance(position, Vector3.zero()))

---@class (exact) Vector3
---@field x number the x component, rounded to a 32-bit float
---@field y number the y component, rounded to a 32-bit float
---@field z number the z component, rounded to a 32-bit float
---@overload fun(x?: number, y?: number, z?: number): Vector3
---@operator add(Vector3): Vector3
---@operator sub(Vector3): Vector3
---@operator mul(number): Vector3
---@operator div(number): Vector3
---@operator unm: Vector3
local Vector3 = core.module("Vector3")

local V3 = ffi.typeof("struct { const float _x, _y, _z; }")
local ZERO = V3(0, 0, 0)
local FIELDS = "x, y, z"
local FIELD_NAMES = { "x", "y", "z" }
local WITH = {
  x = "Vector3.with_x(v, value)",
  y = "Vector3.with_y(v, value)",
  z = "Vector3.with_z(v, value)",
  [1] = "Vector3.with_x(v, value)",
  [2] = "Vector3.with_y(v, value)",
  [3] = "Vector3.with_z(v, value)",
}

-- Constructs a vector with argument checks. Omitted trailing arguments are 0. Passed arguments must
-- be numbers, so that a misspelled field (nil) is not read as 0.
local function construct_checked(...)
  local arguments = { ... }
  if select("#", ...) > 3 then core.refuse_extra("Vector3", 3, select(4, ...)) end
  for i = 1, min(3, select("#", ...)) do
    if type(arguments[i]) ~= "number" then
      bad_argument("Vector3", i, FIELD_NAMES[i], "number", arguments[i])
    end
  end
  return V3(arguments[1] or 0, arguments[2] or 0, arguments[3] or 0)
end

local function construct(_, ...)
  local x, y, z = ...
  local is_triple = type(x) == "number" and type(y) == "number" and type(z) == "number"
  if is_triple and select("#", ...) == 3 then return V3(x, y, z) end
  return construct_checked(...)
end

values.callable(Vector3, construct)

local meta = {}
values.common_operators(meta, "Vector3", "use Vector3.length(v), or one of its fields")

meta.__index = function(v, key)
  if key == "x" or key == 1 then return v._x end
  if key == "y" or key == 2 then return v._y end
  if key == "z" or key == 3 then return v._z end
  values.no_field("Vector3", "v", Vector3, FIELDS, key)
end

meta.__newindex = function(_, key)
  values.no_assignment("Vector3", "v", Vector3, FIELDS, WITH, key)
end

meta.__tostring = function(v) return values.text("Vector3", v._x, v._y, v._z) end

-- Lua calls this for any two operands: nil and numbers must compare as different and not raise.
meta.__eq = function(a, b)
  if istype(V3, a) and istype(V3, b) then
    return a._x == b._x and a._y == b._y and a._z == b._z
  end
  return false
end

meta.__add = function(a, b)
  if istype(V3, a) and istype(V3, b) then
    return V3(a._x + b._x, a._y + b._y, a._z + b._z)
  end
  values.cannot("add", a, "and", b)
end

meta.__sub = function(a, b)
  if istype(V3, a) and istype(V3, b) then
    return V3(a._x - b._x, a._y - b._y, a._z - b._z)
  end
  values.cannot("subtract", b, "from", a)
end

meta.__mul = function(a, b)
  if type(b) == "number" then
    return V3(a._x * b, a._y * b, a._z * b)
  elseif type(a) == "number" then
    return V3(a * b._x, a * b._y, a * b._z)
  end
  local hint
  if istype(V3, a) and istype(V3, b) then
    hint = "use Vector3.dot, Vector3.cross or Vector3.multiply_elements"
  end
  values.cannot("multiply", a, "and", b, hint)
end

meta.__div = function(a, b)
  if type(b) == "number" and istype(V3, a) then
    return V3(a._x / b, a._y / b, a._z / b)
  end
  local both = istype(V3, a) and istype(V3, b)
  values.cannot("divide", a, "by", b, both and "use Vector3.divide_elements" or nil)
end

meta.__unm = function(v)
  return V3(-v._x, -v._y, -v._z)
end

ffi.metatype(V3, meta)
core.ctypes.Vector3 = V3
core.make_vector3 = V3

---Returns the vector whose fields are all 0.
---@return Vector3 the zero vector
function Vector3.zero()
  return ZERO
end

---Returns the vector whose fields are all 1.
---@return Vector3 a vector of ones
function Vector3.one()
  return V3(1, 1, 1)
end

---Returns the x field; `v.x` is the same.
---@param v Vector3 the vector
---@return number its x
function Vector3.x(v)
  if not istype(V3, v) then bad_argument("Vector3.x", 1, "v", "Vector3", v) end
  return v._x
end

---Returns the y field; `v.y` is the same.
---@param v Vector3 the vector
---@return number its y
function Vector3.y(v)
  if not istype(V3, v) then bad_argument("Vector3.y", 1, "v", "Vector3", v) end
  return v._y
end

---Returns the z field; `v.z` is the same.
---@param v Vector3 the vector
---@return number its z
function Vector3.z(v)
  if not istype(V3, v) then bad_argument("Vector3.z", 1, "v", "Vector3", v) end
  return v._z
end

---Returns a field by its index; `v[i]` is the same.
---@param v Vector3 the vector
---@param i integer 1 to 3
---@return number the field
function Vector3.element(v, i)
  if not istype(V3, v) then bad_argument("Vector3.element", 1, "v", "Vector3", v) end
  if i == 1 then return v._x end
  if i == 2 then return v._y end
  if i == 3 then return v._z end
  bad_argument("Vector3.element", 2, "i", "a whole number from 1 to 3", i)
end

---Returns the fields as separate numbers.
---@param v Vector3 the vector
---@return number x
---@return number y
---@return number z
function Vector3.to_elements(v)
  if not istype(V3, v) then bad_argument("Vector3.to_elements", 1, "v", "Vector3", v) end
  return v._x, v._y, v._z
end

---Returns the fields as a list, for serialization.
---@param v Vector3 the vector
---@return number[] the fields in order
function Vector3.as_table(v)
  if not istype(V3, v) then bad_argument("Vector3.as_table", 1, "v", "Vector3", v) end
  return { v._x, v._y, v._z }
end

---Returns the vector as text, the same as `tostring(v)`.
---@param v Vector3 the vector
---@return string text such as `Vector3(1, 2, 3)`
function Vector3.to_string(v)
  if not istype(V3, v) then bad_argument("Vector3.to_string", 1, "v", "Vector3", v) end
  return meta.__tostring(v)
end

---Returns a copy of the vector with a different x.
---@param v Vector3 the vector
---@param x number the new x
---@return Vector3 the changed copy
function Vector3.with_x(v, x)
  if not istype(V3, v) then bad_argument("Vector3.with_x", 1, "v", "Vector3", v) end
  if type(x) ~= "number" then bad_argument("Vector3.with_x", 2, "x", "number", x) end
  return V3(x, v._y, v._z)
end

---Returns a copy of the vector with a different y.
---@param v Vector3 the vector
---@param y number the new y
---@return Vector3 the changed copy
function Vector3.with_y(v, y)
  if not istype(V3, v) then bad_argument("Vector3.with_y", 1, "v", "Vector3", v) end
  if type(y) ~= "number" then bad_argument("Vector3.with_y", 2, "y", "number", y) end
  return V3(v._x, y, v._z)
end

---Returns a copy of the vector with a different z.
---@param v Vector3 the vector
---@param z number the new z
---@return Vector3 the changed copy
function Vector3.with_z(v, z)
  if not istype(V3, v) then bad_argument("Vector3.with_z", 1, "v", "Vector3", v) end
  if type(z) ~= "number" then bad_argument("Vector3.with_z", 2, "z", "number", z) end
  return V3(v._x, v._y, z)
end

---Returns a copy of the vector with one field replaced, by its index.
---@param v Vector3 the vector
---@param i integer 1 to 3
---@param value number the new value of that field
---@return Vector3 the changed copy
function Vector3.with_element(v, i, value)
  if not istype(V3, v) then bad_argument("Vector3.with_element", 1, "v", "Vector3", v) end
  if type(value) ~= "number" then
    bad_argument("Vector3.with_element", 3, "value", "number", value)
  end
  if i == 1 then return V3(value, v._y, v._z) end
  if i == 2 then return V3(v._x, value, v._z) end
  if i == 3 then return V3(v._x, v._y, value) end
  bad_argument("Vector3.with_element", 2, "i", "a whole number from 1 to 3", i)
end

---Returns the sum of two vectors; `a + b` is the same.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return Vector3 a + b
---@node query
function Vector3.add(a, b)
  if not istype(V3, a) then bad_argument("Vector3.add", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.add", 2, "b", "Vector3", b) end
  return V3(a._x + b._x, a._y + b._y, a._z + b._z)
end

---Returns the difference of two vectors; `a - b` is the same.
---@param a Vector3 the vector to subtract from
---@param b Vector3 the vector to subtract
---@return Vector3 a - b
function Vector3.subtract(a, b)
  if not istype(V3, a) then bad_argument("Vector3.subtract", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.subtract", 2, "b", "Vector3", b) end
  return V3(a._x - b._x, a._y - b._y, a._z - b._z)
end

---Returns the vector scaled by a number; `v * scale` is the same.
---@param v Vector3 the vector
---@param scale number the factor for every field
---@return Vector3 the scaled vector
function Vector3.multiply(v, scale)
  if not istype(V3, v) then bad_argument("Vector3.multiply", 1, "v", "Vector3", v) end
  if type(scale) ~= "number" then bad_argument("Vector3.multiply", 2, "scale", "number", scale) end
  return V3(v._x * scale, v._y * scale, v._z * scale)
end

---Returns the vector divided by a number; `v / divisor` is the same.
---Dividing by 0 results in infinities, as with plain numbers.
---@param v Vector3 the vector
---@param divisor number the divisor of every field
---@return Vector3 the divided vector
function Vector3.divide(v, divisor)
  if not istype(V3, v) then bad_argument("Vector3.divide", 1, "v", "Vector3", v) end
  if type(divisor) ~= "number" then
    bad_argument("Vector3.divide", 2, "divisor", "number", divisor)
  end
  return V3(v._x / divisor, v._y / divisor, v._z / divisor)
end

---Returns the products of the fields of two vectors, element by element.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return Vector3 the products
function Vector3.multiply_elements(a, b)
  if not istype(V3, a) then bad_argument("Vector3.multiply_elements", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.multiply_elements", 2, "b", "Vector3", b) end
  return V3(a._x * b._x, a._y * b._y, a._z * b._z)
end

---Returns the quotients of the fields of two vectors, element by element.
---@param a Vector3 the dividends
---@param b Vector3 the divisors
---@return Vector3 the quotients
function Vector3.divide_elements(a, b)
  if not istype(V3, a) then bad_argument("Vector3.divide_elements", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.divide_elements", 2, "b", "Vector3", b) end
  return V3(a._x / b._x, a._y / b._y, a._z / b._z)
end

---Returns the dot product: the sum of the products of the fields.
---For unit vectors it is the cosine of the angle between them.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return number the dot product
function Vector3.dot(a, b)
  if not istype(V3, a) then bad_argument("Vector3.dot", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.dot", 2, "b", "Vector3", b) end
  return a._x * b._x + a._y * b._y + a._z * b._z
end

---Returns the cross product, which is perpendicular to both vectors (right-hand rule).
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return Vector3 a × b
function Vector3.cross(a, b)
  if not istype(V3, a) then bad_argument("Vector3.cross", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.cross", 2, "b", "Vector3", b) end
  return V3(
    a._y * b._z - a._z * b._y,
    a._z * b._x - a._x * b._z,
    a._x * b._y - a._y * b._x
  )
end

---Returns the length of a vector.
---@param v Vector3 the vector to measure
---@return number length in the units of v
function Vector3.length(v)
  if not istype(V3, v) then bad_argument("Vector3.length", 1, "v", "Vector3", v) end
  return sqrt(v._x * v._x + v._y * v._y + v._z * v._z)
end

---Returns the squared length, which is cheaper to compute and sufficient for comparisons.
---@param v Vector3 the vector to measure
---@return number squared the square of the length
function Vector3.length_squared(v)
  if not istype(V3, v) then bad_argument("Vector3.length_squared", 1, "v", "Vector3", v) end
  return v._x * v._x + v._y * v._y + v._z * v._z
end

---Returns the distance between two points.
---@param a Vector3 the first point
---@param b Vector3 the second point
---@return number distance in the units of a and b
function Vector3.distance(a, b)
  if not istype(V3, a) then bad_argument("Vector3.distance", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.distance", 2, "b", "Vector3", b) end
  local x, y, z = a._x - b._x, a._y - b._y, a._z - b._z
  return sqrt(x * x + y * y + z * z)
end

---Returns the squared distance, which is cheaper to compute and sufficient for comparisons.
---@param a Vector3 the first point
---@param b Vector3 the second point
---@return number squared the square of the distance
function Vector3.distance_squared(a, b)
  if not istype(V3, a) then bad_argument("Vector3.distance_squared", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.distance_squared", 2, "b", "Vector3", b) end
  local x, y, z = a._x - b._x, a._y - b._y, a._z - b._z
  return x * x + y * y + z * z
end

---Returns the vector with the same direction and length 1.
---The zero vector has no direction and stays zero.
---@param v Vector3 the vector
---@return Vector3 the unit vector, or zero
function Vector3.normalize(v)
  if not istype(V3, v) then bad_argument("Vector3.normalize", 1, "v", "Vector3", v) end
  local length = sqrt(v._x * v._x + v._y * v._y + v._z * v._z)
  if length == 0 then return ZERO end
  return V3(v._x / length, v._y / length, v._z / length)
end

---Splits a vector into its direction and its length.
---The zero vector results in zero and 0.
---@param v Vector3 the vector
---@return Vector3 direction the unit vector, or zero
---@return number length of the vector
function Vector3.direction_length(v)
  if not istype(V3, v) then bad_argument("Vector3.direction_length", 1, "v", "Vector3", v) end
  local length = sqrt(v._x * v._x + v._y * v._y + v._z * v._z)
  if length == 0 then return ZERO, 0 end
  return V3(v._x / length, v._y / length, v._z / length), length
end

---Interpolates linearly between two vectors.
---t is not clamped: values below 0 and above 1 extrapolate along the same line.
---@param a Vector3 the result for t = 0
---@param b Vector3 the result for t = 1
---@param t number the interpolation factor
---@return Vector3 a + (b - a) * t
function Vector3.lerp(a, b, t)
  if not istype(V3, a) then bad_argument("Vector3.lerp", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.lerp", 2, "b", "Vector3", b) end
  if type(t) ~= "number" then bad_argument("Vector3.lerp", 3, "t", "number", t) end
  local x = a._x + (b._x - a._x) * t
  local y = a._y + (b._y - a._y) * t
  local z = a._z + (b._z - a._z) * t
  return V3(x, y, z)
end

---Returns the smaller fields of two vectors, element by element.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return Vector3 the smaller fields
function Vector3.min(a, b)
  if not istype(V3, a) then bad_argument("Vector3.min", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.min", 2, "b", "Vector3", b) end
  return V3(min(a._x, b._x), min(a._y, b._y), min(a._z, b._z))
end

---Returns the larger fields of two vectors, element by element.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return Vector3 the larger fields
function Vector3.max(a, b)
  if not istype(V3, a) then bad_argument("Vector3.max", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.max", 2, "b", "Vector3", b) end
  return V3(max(a._x, b._x), max(a._y, b._y), max(a._z, b._z))
end

---Returns the absolute values of the fields.
---@param v Vector3 the vector
---@return Vector3 the absolute values
function Vector3.abs(v)
  if not istype(V3, v) then bad_argument("Vector3.abs", 1, "v", "Vector3", v) end
  return V3(abs(v._x), abs(v._y), abs(v._z))
end

---Returns true if two vectors have exactly the same fields; `a == b` is the same.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@return boolean true when all fields are equal
function Vector3.equal(a, b)
  if not istype(V3, a) then bad_argument("Vector3.equal", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.equal", 2, "b", "Vector3", b) end
  return a._x == b._x and a._y == b._y and a._z == b._z
end

---Returns true if two vectors differ by no more than a tolerance in every field.
---@param a Vector3 the first vector
---@param b Vector3 the second vector
---@param tolerance? number the largest difference allowed; 0.0001 by default
---@return boolean true when all fields are within the tolerance
function Vector3.almost_equal(a, b, tolerance)
  if not istype(V3, a) then bad_argument("Vector3.almost_equal", 1, "a", "Vector3", a) end
  if not istype(V3, b) then bad_argument("Vector3.almost_equal", 2, "b", "Vector3", b) end
  if tolerance == nil then tolerance = 0.0001 end
  if type(tolerance) ~= "number" then
    bad_argument("Vector3.almost_equal", 3, "tolerance", "number", tolerance)
  end
  return abs(a._x - b._x) <= tolerance
    and abs(a._y - b._y) <= tolerance
    and abs(a._z - b._z) <= tolerance
end

---Returns true if all fields are finite: no NaN and no infinity.
---@param v Vector3 the vector
---@return boolean true when every field is finite
function Vector3.is_valid(v)
  if not istype(V3, v) then bad_argument("Vector3.is_valid", 1, "v", "Vector3", v) end
  -- x - x is 0 for finite numbers and NaN for others.
  return v._x - v._x == 0 and v._y - v._y == 0 and v._z - v._z == 0
end
