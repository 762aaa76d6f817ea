-- Float32Array: growing arrays of 32-bit floats, with arithmetic on whole arrays. The floats are in
-- memory that no game code can reach. An array is only an identity, and this file keeps its storage
-- in a table with weak keys.
local core = ...

local ffi, raise, bad_argument, describe = core.ffi, core.raise, core.bad_argument, core.describe
local rawget, select, setmetatable, tostring, type = rawget, select, setmetatable, tostring, type
local floor, max, min, sqrt = math.floor, math.max, math.min, math.sqrt
local concat, istype = table.concat, ffi.istype
local values = core.values

---@module Float32Array
---A growing array of 32-bit floats, indexed from 1: `array[i]`, `#array`, `array:push(x)`. `+ - *
---/` and the functions of the same names return a new array with the element-wise results; one
---operand may be a number. Meant for vertex data and other long sequences of numbers.
---@example
---   local x = Float32Array({ 1, 2, 3 })
---   local y = Float32Array.sqrt(x * x + 0)
---   assert(#y == 3 and y[3] == 3)
---   y:push(4, 5)
---   assert(y:size() == 5)

---@class Float32Array
---@field [integer] number the element at an index from 1 to the size
---@overload fun(size?: integer): Float32Array
---@overload fun(elements: number[]): Float32Array
---@operator add(Float32Array|number): Float32Array
---@operator sub(Float32Array|number): Float32Array
---@operator mul(Float32Array|number): Float32Array
---@operator div(Float32Array|number): Float32Array
---@operator unm: Float32Array
---@operator len: integer
local Float32Array = core.module("Float32Array")

-- Largest size of an array: 64 Mi elements are 256 MiB, more than any vertex buffer.
local SIZE_MAX = 64 * 1024 * 1024

local Array = ffi.typeof("struct { const uint8_t _unused; }")
local Floats = ffi.typeof("float[?]")
local storages = setmetatable({}, { __mode = "k" })

local function new_array(size)
  local array = Array(0)
  local capacity = max(size, 4)
  storages[array] = {
    floats = Floats(capacity), size = size, capacity = capacity,
    number = core.next_buffer_number(),
  }
  return array
end

local function check(name, i, argument, array)
  if not istype(Array, array) then bad_argument(name, i, argument, "Float32Array", array) end
  return storages[array]
end

local function check_size(name, i, size)
  if type(size) ~= "number" or size ~= floor(size) or size < 0 then
    bad_argument(name, i, "size", "a whole number of 0 or more", size)
  end
  if size > SIZE_MAX then
    raise(name .. ": " .. size .. " elements are too many: the limit is " .. SIZE_MAX)
  end
end

local function check_index(name, storage, i)
  if type(i) ~= "number" then bad_argument(name, 2, "i", "number", i) end
  if not (i >= 1 and i <= storage.size and i == floor(i)) then
    raise(name .. ": index " .. i .. " is not a whole number from 1 to the size, " .. storage.size)
  end
end

local function reserve(name, storage, size)
  if size <= storage.capacity then return end
  check_size(name, 2, size)
  local capacity = max(size, min(SIZE_MAX, storage.capacity * 2))
  local floats = Floats(capacity)
  ffi.copy(floats, storage.floats, storage.size * 4)
  storage.floats, storage.capacity = floats, capacity
end

values.callable(Float32Array, function(_, source, ...)
  if select("#", ...) > 0 then core.refuse_extra("Float32Array", 1, ...) end
  if source == nil then return new_array(0) end
  if type(source) == "number" then
    check_size("Float32Array", 1, source)
    return new_array(source)
  end
  if type(source) ~= "table" then
    bad_argument("Float32Array", 1, "source", "a size or a list of numbers", source)
  end
  local array = new_array(#source)
  local floats = storages[array].floats
  for i = 1, #source do
    if type(source[i]) ~= "number" then
      raise("Float32Array: element " .. i .. " of the list must be number, got "
        .. describe(source[i]))
    end
    floats[i - 1] = source[i]
  end
  return array
end)

-- Returns a new array with the results of an operation on each pair of elements.
local function combine(name, a, b, operation)
  local array, number = a, b
  if type(a) == "number" then array, number = b, a end
  if type(number) == "number" then
    local storage = check(name, array == a and 1 or 2, array == a and "a" or "b", array)
    local result = new_array(storage.size)
    local floats, target = storage.floats, storages[result].floats
    local number_first = array ~= a
    for i = 0, storage.size - 1 do
      if number_first then
        target[i] = operation(number, floats[i])
      else
        target[i] = operation(floats[i], number)
      end
    end
    return result
  end
  local first, second = check(name, 1, "a", a), check(name, 2, "b", b)
  if first.size ~= second.size then
    raise(name .. ": the arrays have different sizes, " .. first.size .. " and " .. second.size)
  end
  local result = new_array(first.size)
  local left, right, target = first.floats, second.floats, storages[result].floats
  for i = 0, first.size - 1 do
    target[i] = operation(left[i], right[i])
  end
  return result
end

local function plus(a, b) return a + b end
local function minus(a, b) return a - b end
local function times(a, b) return a * b end
local function over(a, b) return a / b end

local meta = {}
values.common_operators(meta, "Float32Array", "compare its elements")

meta.__index = function(array, key)
  if type(key) == "number" then
    local storage = storages[array]
    check_index("Float32Array", storage, key)
    return storage.floats[key - 1]
  end
  local method = rawget(Float32Array, key)
  if method then return method end
  raise("Float32Array has no field " .. (type(key) == "string" and "'" .. key .. "'"
    or "(" .. describe(key) .. ")") .. ": it has numbers from 1, and its functions")
end

meta.__newindex = function(array, key, value)
  local storage = storages[array]
  check_index("Float32Array", storage, key)
  if type(value) ~= "number" then
    raise("Float32Array: an element must be number, got " .. describe(value))
  end
  storage.floats[key - 1] = value
end

meta.__len = function(array) return storages[array].size end
meta.__add = function(a, b) return combine("Float32Array.add", a, b, plus) end
meta.__sub = function(a, b) return combine("Float32Array.sub", a, b, minus) end
meta.__mul = function(a, b) return combine("Float32Array.mul", a, b, times) end
meta.__div = function(a, b) return combine("Float32Array.div", a, b, over) end
meta.__unm = function(array) return combine("Float32Array.mul", array, -1, times) end
meta.__eq = function(a, b)
  return istype(Array, a) and istype(Array, b) and storages[a] == storages[b]
end

-- Number of elements that `tostring` shows.
local SHOWN_MAX = 8

meta.__tostring = function(array)
  local storage, parts = storages[array], {}
  for i = 1, storage.size do
    if i > SHOWN_MAX then
      parts[i] = "… " .. storage.size .. " in all"
      break
    end
    parts[i] = values.number_text(storage.floats[i - 1])
  end
  return "Float32Array(" .. concat(parts, ", ") .. ")"
end
meta.__concat = function(a, b) return tostring(a) .. tostring(b) end

ffi.metatype(Array, meta)
core.ctypes.Float32Array = Array

-- Returns the floats for native code (valid until the array grows or is swapped) and their number.
function core.float32_array_data(array)
  if not istype(Array, array) then return nil end
  local storage = storages[array]
  return storage.floats, storage.size
end

-- Returns an array's creation number, or nil for other values.
function core.float32_array_number(array)
  return istype(Array, array) and storages[array].number or nil
end

---Returns the number of elements in an array; `#array` is the same.
---@param array Float32Array the array
---@return integer the number of elements
function Float32Array.size(array)
  return check("Float32Array.size", 1, "array", array).size
end

---Changes the size of an array: elements beyond the new size are dropped, new elements are 0.
---@param array Float32Array the array
---@param size integer the new number of elements, 0 or more
function Float32Array.resize(array, size)
  local storage = check("Float32Array.resize", 1, "array", array)
  check_size("Float32Array.resize", 2, size)
  reserve("Float32Array.resize", storage, size)
  for i = storage.size, size - 1 do
    storage.floats[i] = 0
  end
  storage.size = size
end

---Returns the element at an index; `array[i]` is the same.
---@param array Float32Array the array
---@param i integer from 1 to the size
---@return number the element
function Float32Array.get(array, i)
  local storage = check("Float32Array.get", 1, "array", array)
  check_index("Float32Array.get", storage, i)
  return storage.floats[i - 1]
end

---Sets the element at an index; `array[i] = value` is the same.
---@param array Float32Array the array
---@param i integer from 1 to the size
---@param value number the new element, rounded to a 32-bit float
function Float32Array.set(array, i, value)
  local storage = check("Float32Array.set", 1, "array", array)
  check_index("Float32Array.set", storage, i)
  if type(value) ~= "number" then bad_argument("Float32Array.set", 3, "value", "number", value) end
  storage.floats[i - 1] = value
end

---Appends numbers to an array.
---@param array Float32Array the array
---@param ... number the numbers
function Float32Array.push(array, ...)
  local storage = check("Float32Array.push", 1, "array", array)
  local count, size = select("#", ...), storage.size
  for i = 1, count do
    local value = select(i, ...)
    if type(value) ~= "number" then
      bad_argument("Float32Array.push", i + 1, "value", "number", value)
    end
  end
  reserve("Float32Array.push", storage, size + count)
  for i = 1, count do
    storage.floats[size + i - 1] = (select(i, ...))
  end
  storage.size = size + count
end

---Exchanges the contents of two arrays, without copying.
---@param a Float32Array the first array
---@param b Float32Array the second array
function Float32Array.swap(a, b)
  local first, second = check("Float32Array.swap", 1, "a", a), check("Float32Array.swap", 2, "b", b)
  storages[a], storages[b] = second, first
end

---Returns the sums of the elements; `a + b` is the same.
---@param a Float32Array|number an array, or a number for every element
---@param b Float32Array|number an array of the same size, or a number
---@return Float32Array the sums
function Float32Array.add(a, b)
  return combine("Float32Array.add", a, b, plus)
end

---Returns the differences of the elements; `a - b` is the same.
---@param a Float32Array|number an array, or a number for every element
---@param b Float32Array|number an array of the same size, or a number
---@return Float32Array the differences
function Float32Array.sub(a, b)
  return combine("Float32Array.sub", a, b, minus)
end

---Returns the products of the elements; `a * b` is the same.
---@param a Float32Array|number an array, or a number for every element
---@param b Float32Array|number an array of the same size, or a number
---@return Float32Array the products
function Float32Array.mul(a, b)
  return combine("Float32Array.mul", a, b, times)
end

---Returns the quotients of the elements; `a / b` is the same.
---@param a Float32Array|number an array, or a number for every element
---@param b Float32Array|number an array of the same size, or a number
---@return Float32Array the quotients
function Float32Array.div(a, b)
  return combine("Float32Array.div", a, b, over)
end

---Returns the square roots of the elements; NaN for negative ones.
---@param array Float32Array the array
---@return Float32Array the square roots
function Float32Array.sqrt(array)
  local storage = check("Float32Array.sqrt", 1, "array", array)
  local result = new_array(storage.size)
  local source, target = storage.floats, storages[result].floats
  for i = 0, storage.size - 1 do
    target[i] = sqrt(source[i])
  end
  return result
end

---Returns the elements as a list of plain numbers.
---@param array Float32Array the array
---@return number[] the elements in order
function Float32Array.as_table(array)
  local storage = check("Float32Array.as_table", 1, "array", array)
  local list = {}
  for i = 1, storage.size do
    list[i] = storage.floats[i - 1]
  end
  return list
end

local function interleave_size(sources)
  local size
  for i = 1, #sources do
    if type(sources[i]) ~= "number" then
      if not istype(Array, sources[i]) then
        raise("Float32Array.interleave: source " .. i .. " must be Float32Array or number, got "
          .. describe(sources[i]))
      end
      local this = storages[sources[i]].size
      if size and this ~= size then
        raise("Float32Array.interleave: source " .. i .. " has " .. this
          .. " elements, and the ones before it " .. size)
      end
      size = this
    end
  end
  if not size then
    raise("Float32Array.interleave: the list must hold an array, not only numbers")
  end
  check_size("Float32Array.interleave", 1, size * #sources)
  return size
end

---Returns one array with the first elements of all sources, then their second elements, and so on,
---as vertex buffers expect them. A source may be a number, which repeats.
---@param sources (Float32Array|number)[] a list of arrays of one size, and numbers
---@return Float32Array the interleaved elements
function Float32Array.interleave(sources)
  if type(sources) ~= "table" then
    bad_argument("Float32Array.interleave", 1, "sources", "a list of arrays", sources)
  end
  local size, stride = interleave_size(sources), #sources
  local result = new_array(size * stride)
  local target = storages[result].floats
  for i = 1, stride do
    local source = sources[i]
    local floats = type(source) ~= "number" and storages[source].floats
    for k = 0, size - 1 do
      target[k * stride + i - 1] = floats and floats[k] or source
    end
  end
  return result
end
