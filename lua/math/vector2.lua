-- Vector2: an immutable pair of 32-bit floats, its operators and functions.
-- Functions shared by the value types are in vector.lua; mutable boxes are in boxed_values.lua.
local core = ...

local ffi, bad_argument, values = core.ffi, core.bad_argument, core.values
local select, type = select, type
local abs, min, max, sqrt = math.abs, math.min, math.max, math.sqrt
local atan2, cos, sin = math.atan2, math.cos, math.sin
local istype = ffi.istype

---@module Vector2
---@node query
---A pair of numbers: a point, a direction or a size in the plane.
---A Vector2 never changes: every operation returns a new one, and values can be stored anywhere.
---Fields are 32-bit floats, so 0.1 comes back as 0.10000000149; `tostring` prints the short form.
---Omitted trailing arguments are 0. NaN and infinity are allowed: see `Vector2.is_valid`.
---@example
---   local size = Vector2(640, 360)
---   assert(size * 2 == Vector2(1280, 720))
---   print(Vector2.length(Vector2(3, 4))) -- 5

---@class (exact) Vector2
---@field x number the x component, rounded to a 32-bit float
---@field y number the y component, rounded to a 32-bit float
---@overload fun(x?: number, y?: number): Vector2
---@operator add(Vector2): Vector2
---@operator sub(Vector2): Vector2
---@operator mul(number): Vector2
---@operator div(number): Vector2
---@operator unm: Vector2
local Vector2 = core.module("Vector2")

local V2 = ffi.typeof("struct { const float _x, _y; }")
local ZERO = V2(0, 0)
local FIELDS = "x, y"
local FIELD_NAMES = { "x", "y" }
local WITH = {
  x = "Vector2.with_x(v, value)",
  y = "Vector2.with_y(v, value)",
  [1] = "Vector2.with_x(v, value)",
  [2] = "Vector2.with_y(v, value)",
}

-- Constructs a vector with argument checks. Omitted trailing arguments are 0. Passed arguments must
-- be numbers, so that a misspelled field (nil) is not read as 0.
local function construct_checked(...)
  local arguments = { ... }
  if select("#", ...) > 2 then core.refuse_extra("Vector2", 2, select(3, ...)) end
  for i = 1, min(2, select("#", ...)) do
    if type(arguments[i]) ~= "number" then
      bad_argument("Vector2", i, FIELD_NAMES[i], "number", arguments[i])
    end
  end
  return V2(arguments[1] or 0, arguments[2] or 0)
end

local function construct(_, ...)
  local x, y = ...
  local is_pair = type(x) == "number" and type(y) == "number"
  if is_pair and select("#", ...) == 2 then return V2(x, y) end
  return construct_checked(...)
end

values.callable(Vector2, construct)

local meta = {}
values.common_operators(meta, "Vector2", "use Vector2.length(v), or one of its fields")

meta.__index = function(v, key)
  if key == "x" or key == 1 then return v._x end
  if key == "y" or key == 2 then return v._y end
  values.no_field("Vector2", "v", Vector2, FIELDS, key)
end

meta.__newindex = function(_, key)
  values.no_assignment("Vector2", "v", Vector2, FIELDS, WITH, key)
end

meta.__tostring = function(v) return values.text("Vector2", v._x, v._y) end

-- Lua calls this for any two operands: nil and numbers must compare as different and not raise.
meta.__eq = function(a, b)
  if istype(V2, a) and istype(V2, b) then
    return a._x == b._x and a._y == b._y
  end
  return false
end

meta.__add = function(a, b)
  if istype(V2, a) and istype(V2, b) then
    return V2(a._x + b._x, a._y + b._y)
  end
  values.cannot("add", a, "and", b)
end

meta.__sub = function(a, b)
  if istype(V2, a) and istype(V2, b) then
    return V2(a._x - b._x, a._y - b._y)
  end
  values.cannot("subtract", b, "from", a)
end

meta.__mul = function(a, b)
  if type(b) == "number" then
    return V2(a._x * b, a._y * b)
  elseif type(a) == "number" then
    return V2(a * b._x, a * b._y)
  end
  local hint
  if istype(V2, a) and istype(V2, b) then
    hint = "use Vector2.dot or Vector2.multiply_elements"
  end
  values.cannot("multiply", a, "and", b, hint)
end

meta.__div = function(a, b)
  if type(b) == "number" and istype(V2, a) then
    return V2(a._x / b, a._y / b)
  end
  local both = istype(V2, a) and istype(V2, b)
  values.cannot("divide", a, "by", b, both and "use Vector2.divide_elements" or nil)
end

meta.__unm = function(v)
  return V2(-v._x, -v._y)
end

ffi.metatype(V2, meta)
core.ctypes.Vector2 = V2
core.make_vector2 = V2

---Returns the vector whose fields are all 0.
---@return Vector2 the zero vector
function Vector2.zero()
  return ZERO
end

---Returns the vector whose fields are all 1.
---@return Vector2 a vector of ones
function Vector2.one()
  return V2(1, 1)
end

---Returns the x field; `v.x` is the same.
---@param v Vector2 the vector
---@return number its x
function Vector2.x(v)
  if not istype(V2, v) then bad_argument("Vector2.x", 1, "v", "Vector2", v) end
  return v._x
end

---Returns the y field; `v.y` is the same.
---@param v Vector2 the vector
---@return number its y
function Vector2.y(v)
  if not istype(V2, v) then bad_argument("Vector2.y", 1, "v", "Vector2", v) end
  return v._y
end

---Returns a field by its index; `v[i]` is the same.
---@param v Vector2 the vector
---@param i integer 1 to 2
---@return number the field
function Vector2.element(v, i)
  if not istype(V2, v) then bad_argument("Vector2.element", 1, "v", "Vector2", v) end
  if i == 1 then return v._x end
  if i == 2 then return v._y end
  bad_argument("Vector2.element", 2, "i", "a whole number from 1 to 2", i)
end

---Returns the fields as separate numbers.
---@param v Vector2 the vector
---@return number x
---@return number y
function Vector2.to_elements(v)
  if not istype(V2, v) then bad_argument("Vector2.to_elements", 1, "v", "Vector2", v) end
  return v._x, v._y
end

---Returns the fields as a list, for serialization.
---@param v Vector2 the vector
---@return number[] the fields in order
function Vector2.as_table(v)
  if not istype(V2, v) then bad_argument("Vector2.as_table", 1, "v", "Vector2", v) end
  return { v._x, v._y }
end

---Returns the vector as text, the same as `tostring(v)`.
---@param v Vector2 the vector
---@return string text such as `Vector2(1, 2)`
function Vector2.to_string(v)
  if not istype(V2, v) then bad_argument("Vector2.to_string", 1, "v", "Vector2", v) end
  return meta.__tostring(v)
end

---Returns a copy of the vector with a different x.
---@param v Vector2 the vector
---@param x number the new x
---@return Vector2 the changed copy
function Vector2.with_x(v, x)
  if not istype(V2, v) then bad_argument("Vector2.with_x", 1, "v", "Vector2", v) end
  if type(x) ~= "number" then bad_argument("Vector2.with_x", 2, "x", "number", x) end
  return V2(x, v._y)
end

---Returns a copy of the vector with a different y.
---@param v Vector2 the vector
---@param y number the new y
---@return Vector2 the changed copy
function Vector2.with_y(v, y)
  if not istype(V2, v) then bad_argument("Vector2.with_y", 1, "v", "Vector2", v) end
  if type(y) ~= "number" then bad_argument("Vector2.with_y", 2, "y", "number", y) end
  return V2(v._x, y)
end

---Returns a copy of the vector with one field replaced, by its index.
---@param v Vector2 the vector
---@param i integer 1 to 2
---@param value number the new value of that field
---@return Vector2 the changed copy
function Vector2.with_element(v, i, value)
  if not istype(V2, v) then bad_argument("Vector2.with_element", 1, "v", "Vector2", v) end
  if type(value) ~= "number" then
    bad_argument("Vector2.with_element", 3, "value", "number", value)
  end
  if i == 1 then return V2(value, v._y) end
  if i == 2 then return V2(v._x, value) end
  bad_argument("Vector2.with_element", 2, "i", "a whole number from 1 to 2", i)
end

---Returns the sum of two vectors; `a + b` is the same.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return Vector2 a + b
function Vector2.add(a, b)
  if not istype(V2, a) then bad_argument("Vector2.add", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.add", 2, "b", "Vector2", b) end
  return V2(a._x + b._x, a._y + b._y)
end

---Returns the difference of two vectors; `a - b` is the same.
---@param a Vector2 the vector to subtract from
---@param b Vector2 the vector to subtract
---@return Vector2 a - b
function Vector2.subtract(a, b)
  if not istype(V2, a) then bad_argument("Vector2.subtract", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.subtract", 2, "b", "Vector2", b) end
  return V2(a._x - b._x, a._y - b._y)
end

---Returns the vector scaled by a number; `v * scale` is the same.
---@param v Vector2 the vector
---@param scale number the factor for every field
---@return Vector2 the scaled vector
function Vector2.multiply(v, scale)
  if not istype(V2, v) then bad_argument("Vector2.multiply", 1, "v", "Vector2", v) end
  if type(scale) ~= "number" then bad_argument("Vector2.multiply", 2, "scale", "number", scale) end
  return V2(v._x * scale, v._y * scale)
end

---Returns the vector divided by a number; `v / divisor` is the same.
---Dividing by 0 results in infinities, as with plain numbers.
---@param v Vector2 the vector
---@param divisor number the divisor of every field
---@return Vector2 the divided vector
function Vector2.divide(v, divisor)
  if not istype(V2, v) then bad_argument("Vector2.divide", 1, "v", "Vector2", v) end
  if type(divisor) ~= "number" then
    bad_argument("Vector2.divide", 2, "divisor", "number", divisor)
  end
  return V2(v._x / divisor, v._y / divisor)
end

---Returns the products of the fields of two vectors, element by element.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return Vector2 the products
function Vector2.multiply_elements(a, b)
  if not istype(V2, a) then bad_argument("Vector2.multiply_elements", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.multiply_elements", 2, "b", "Vector2", b) end
  return V2(a._x * b._x, a._y * b._y)
end

---Returns the quotients of the fields of two vectors, element by element.
---@param a Vector2 the dividends
---@param b Vector2 the divisors
---@return Vector2 the quotients
function Vector2.divide_elements(a, b)
  if not istype(V2, a) then bad_argument("Vector2.divide_elements", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.divide_elements", 2, "b", "Vector2", b) end
  return V2(a._x / b._x, a._y / b._y)
end

---Returns the dot product: the sum of the products of the fields.
---For unit vectors it is the cosine of the angle between them.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return number the dot product
function Vector2.dot(a, b)
  if not istype(V2, a) then bad_argument("Vector2.dot", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.dot", 2, "b", "Vector2", b) end
  return a._x * b._x + a._y * b._y
end

---Returns the z component of the cross product: positive if b is counterclockwise of a.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return number a.x * b.y - a.y * b.x
function Vector2.cross(a, b)
  if not istype(V2, a) then bad_argument("Vector2.cross", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.cross", 2, "b", "Vector2", b) end
  return a._x * b._y - a._y * b._x
end

---Returns the length of a vector.
---@param v Vector2 the vector to measure
---@return number length in the units of v
function Vector2.length(v)
  if not istype(V2, v) then bad_argument("Vector2.length", 1, "v", "Vector2", v) end
  return sqrt(v._x * v._x + v._y * v._y)
end

---Returns the squared length, which is cheaper to compute and sufficient for comparisons.
---@param v Vector2 the vector to measure
---@return number squared the square of the length
function Vector2.length_squared(v)
  if not istype(V2, v) then bad_argument("Vector2.length_squared", 1, "v", "Vector2", v) end
  return v._x * v._x + v._y * v._y
end

---Returns the distance between two points.
---@param a Vector2 the first point
---@param b Vector2 the second point
---@return number distance in the units of a and b
function Vector2.distance(a, b)
  if not istype(V2, a) then bad_argument("Vector2.distance", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.distance", 2, "b", "Vector2", b) end
  local x, y = a._x - b._x, a._y - b._y
  return sqrt(x * x + y * y)
end

---Returns the squared distance, which is cheaper to compute and sufficient for comparisons.
---@param a Vector2 the first point
---@param b Vector2 the second point
---@return number squared the square of the distance
function Vector2.distance_squared(a, b)
  if not istype(V2, a) then bad_argument("Vector2.distance_squared", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.distance_squared", 2, "b", "Vector2", b) end
  local x, y = a._x - b._x, a._y - b._y
  return x * x + y * y
end

---Returns the vector with the same direction and length 1.
---The zero vector has no direction and stays zero.
---@param v Vector2 the vector
---@return Vector2 the unit vector, or zero
function Vector2.normalize(v)
  if not istype(V2, v) then bad_argument("Vector2.normalize", 1, "v", "Vector2", v) end
  local length = sqrt(v._x * v._x + v._y * v._y)
  if length == 0 then return ZERO end
  return V2(v._x / length, v._y / length)
end

---Splits a vector into its direction and its length.
---The zero vector results in zero and 0.
---@param v Vector2 the vector
---@return Vector2 direction the unit vector, or zero
---@return number length of the vector
function Vector2.direction_length(v)
  if not istype(V2, v) then bad_argument("Vector2.direction_length", 1, "v", "Vector2", v) end
  local length = sqrt(v._x * v._x + v._y * v._y)
  if length == 0 then return ZERO, 0 end
  return V2(v._x / length, v._y / length), length
end

---Interpolates linearly between two vectors.
---t is not clamped: values below 0 and above 1 extrapolate along the same line.
---@param a Vector2 the result for t = 0
---@param b Vector2 the result for t = 1
---@param t number the interpolation factor
---@return Vector2 a + (b - a) * t
function Vector2.lerp(a, b, t)
  if not istype(V2, a) then bad_argument("Vector2.lerp", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.lerp", 2, "b", "Vector2", b) end
  if type(t) ~= "number" then bad_argument("Vector2.lerp", 3, "t", "number", t) end
  local x = a._x + (b._x - a._x) * t
  local y = a._y + (b._y - a._y) * t
  return V2(x, y)
end

---Returns the smaller fields of two vectors, element by element.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return Vector2 the smaller fields
function Vector2.min(a, b)
  if not istype(V2, a) then bad_argument("Vector2.min", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.min", 2, "b", "Vector2", b) end
  return V2(min(a._x, b._x), min(a._y, b._y))
end

---Returns the larger fields of two vectors, element by element.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return Vector2 the larger fields
function Vector2.max(a, b)
  if not istype(V2, a) then bad_argument("Vector2.max", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.max", 2, "b", "Vector2", b) end
  return V2(max(a._x, b._x), max(a._y, b._y))
end

---Returns the absolute values of the fields.
---@param v Vector2 the vector
---@return Vector2 the absolute values
function Vector2.abs(v)
  if not istype(V2, v) then bad_argument("Vector2.abs", 1, "v", "Vector2", v) end
  return V2(abs(v._x), abs(v._y))
end

---Returns true if two vectors have exactly the same fields; `a == b` is the same.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@return boolean true when all fields are equal
function Vector2.equal(a, b)
  if not istype(V2, a) then bad_argument("Vector2.equal", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.equal", 2, "b", "Vector2", b) end
  return a._x == b._x and a._y == b._y
end

---Returns true if two vectors differ by no more than a tolerance in every field.
---@param a Vector2 the first vector
---@param b Vector2 the second vector
---@param tolerance? number the largest difference allowed; 0.0001 by default
---@return boolean true when all fields are within the tolerance
function Vector2.almost_equal(a, b, tolerance)
  if not istype(V2, a) then bad_argument("Vector2.almost_equal", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.almost_equal", 2, "b", "Vector2", b) end
  if tolerance == nil then tolerance = 0.0001 end
  if type(tolerance) ~= "number" then
    bad_argument("Vector2.almost_equal", 3, "tolerance", "number", tolerance)
  end
  return abs(a._x - b._x) <= tolerance
    and abs(a._y - b._y) <= tolerance
end

---Returns true if all fields are finite: no NaN and no infinity.
---@param v Vector2 the vector
---@return boolean true when every field is finite
function Vector2.is_valid(v)
  if not istype(V2, v) then bad_argument("Vector2.is_valid", 1, "v", "Vector2", v) end
  -- x - x is 0 for finite numbers and NaN for others.
  return v._x - v._x == 0 and v._y - v._y == 0
end

---Returns the angle from one vector to another, positive counterclockwise.
---@param a Vector2 the vector from which the angle starts
---@param b Vector2 the vector at which the angle ends
---@return number radians from -pi to pi; 0 when a vector is zero
function Vector2.angle(a, b)
  if not istype(V2, a) then bad_argument("Vector2.angle", 1, "a", "Vector2", a) end
  if not istype(V2, b) then bad_argument("Vector2.angle", 2, "b", "Vector2", b) end
  return atan2(a._x * b._y - a._y * b._x, a._x * b._x + a._y * b._y)
end

---Returns the unit vector at an angle from the x axis.
---@param angle number radians, counterclockwise
---@return Vector2 the direction
function Vector2.from_angle(angle)
  if type(angle) ~= "number" then
    bad_argument("Vector2.from_angle", 1, "angle", "number", angle)
  end
  return V2(cos(angle), sin(angle))
end

---Returns a vector rotated counterclockwise.
---@param v Vector2 the vector to rotate
---@param angle number radians
---@return Vector2 the rotated vector
function Vector2.rotate(v, angle)
  if not istype(V2, v) then bad_argument("Vector2.rotate", 1, "v", "Vector2", v) end
  if type(angle) ~= "number" then bad_argument("Vector2.rotate", 2, "angle", "number", angle) end
  local c, s = cos(angle), sin(angle)
  return V2(v._x * c - v._y * s, v._x * s + v._y * c)
end

---Returns the projection of a vector onto another one, or zero if the other one is zero.
---@param v Vector2 the vector to project
---@param onto Vector2 the direction; its length does not matter
---@return Vector2 the component of v along onto
function Vector2.project(v, onto)
  if not istype(V2, v) then bad_argument("Vector2.project", 1, "v", "Vector2", v) end
  if not istype(V2, onto) then bad_argument("Vector2.project", 2, "onto", "Vector2", onto) end
  local squared = onto._x * onto._x + onto._y * onto._y
  if squared == 0 then return ZERO end
  local t = (v._x * onto._x + v._y * onto._y) / squared
  return V2(onto._x * t, onto._y * t)
end

---Returns a vector reflected at a surface, as a ball bounces off a wall.
---@param v Vector2 the incoming vector
---@param normal Vector2 the surface normal, of length 1
---@return Vector2 the reflected vector
function Vector2.reflect(v, normal)
  if not istype(V2, v) then bad_argument("Vector2.reflect", 1, "v", "Vector2", v) end
  if not istype(V2, normal) then bad_argument("Vector2.reflect", 2, "normal", "Vector2", normal) end
  local t = 2 * (v._x * normal._x + v._y * normal._y)
  return V2(v._x - normal._x * t, v._y - normal._y * t)
end

---Returns the vector, shortened if it is longer than a limit.
---@param v Vector2 the vector
---@param max_length number the largest length, 0 or more
---@return Vector2 v, or the shorter vector of the same direction
function Vector2.clamp_length(v, max_length)
  if not istype(V2, v) then bad_argument("Vector2.clamp_length", 1, "v", "Vector2", v) end
  if type(max_length) ~= "number" then
    bad_argument("Vector2.clamp_length", 2, "max_length", "number", max_length)
  end
  if max_length < 0 then
    bad_argument("Vector2.clamp_length", 2, "max_length", "0 or more", max_length)
  end
  local squared = v._x * v._x + v._y * v._y
  if squared <= max_length * max_length then return v end
  local scale = max_length / sqrt(squared)
  return V2(v._x * scale, v._y * scale)
end

---Returns a point moved towards a target by at most a distance, without overshooting.
---@param from Vector2 the start point
---@param to Vector2 the target
---@param max_distance number maximum distance, 0 or more
---@return Vector2 the new point
function Vector2.move_towards(from, to, max_distance)
  if not istype(V2, from) then bad_argument("Vector2.move_towards", 1, "from", "Vector2", from) end
  if not istype(V2, to) then bad_argument("Vector2.move_towards", 2, "to", "Vector2", to) end
  if type(max_distance) ~= "number" then
    bad_argument("Vector2.move_towards", 3, "max_distance", "number", max_distance)
  end
  if max_distance < 0 then
    bad_argument("Vector2.move_towards", 3, "max_distance", "0 or more", max_distance)
  end
  local x = to._x - from._x
  local y = to._y - from._y
  local distance = sqrt(x * x + y * y)
  if distance <= max_distance then return to end
  local t = max_distance / distance
  return V2(from._x + x * t, from._y + y * t)
end
