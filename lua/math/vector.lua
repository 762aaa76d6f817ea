-- Shared functions of the value types: readable numbers, callable modules, and error messages for
-- wrong use. The types are in vector2.lua, vector3.lua, vector4.lua, quaternion.lua, matrix.lua and
-- color.lua; this file must run before them.
local core = ...

local ffi, describe, raise = core.ffi, core.describe, core.raise
local rawget, setmetatable = rawget, setmetatable
local type, tonumber, tostring = type, tonumber, tostring
local format, concat, huge = string.format, table.concat, math.huge

local values = {}
core.values = values
core.ctypes = core.ctypes or {}

local rounded = ffi.new("float[1]")

-- Returns the shortest decimal that is the same 32-bit float: 0.1 prints as 0.1, not as
-- 0.10000000149.
function values.number_text(number)
  if number ~= number then return "nan" end
  if number == huge then return "inf" end
  if number == -huge then return "-inf" end
  if number == 0 then return "0" end -- also for -0, which equals 0 and would confuse readers
  for digits = 6, 8 do
    local text = format("%." .. digits .. "g", number)
    rounded[0] = tonumber(text)
    if rounded[0] == number then return text end
  end
  return format("%.9g", number)
end

function values.text(name, ...)
  local parts = { ... }
  for i = 1, #parts do
    parts[i] = values.number_text(parts[i])
  end
  return name .. "(" .. concat(parts, ", ") .. ")"
end

-- Makes `module(...)` call `construct(module, ...)`. An existing metatable is kept and extended.
function values.callable(module, construct)
  local meta = core.debug.getmetatable(module)
  if not meta then
    meta = {}
    setmetatable(module, meta)
  end
  meta.__call = construct
  meta.__metatable = meta.__metatable or "module"
end

function values.frozen(name, use)
  raise(format("%s: values never change: use %s, which returns a new one", name, use))
end

local function key_text(key)
  if type(key) == "string" then return "'" .. key .. "'" end
  if type(key) == "number" then return tostring(key) end
  return "(" .. describe(key) .. ")"
end

function values.no_field(name, variable, module, fields, key)
  if type(key) == "string" and type(rawget(module, key)) == "function" then
    raise(format("%s has no field '%s': call %s.%s(%s)", name, key, name, key, variable))
  end
  raise(format("%s has no field %s: it has %s", name, key_text(key), fields))
end

-- Raises an error about an assignment to a field. `with` maps each existing key to the function
-- that returns a changed copy.
function values.no_assignment(name, variable, module, fields, with, key)
  local use = with[key]
  if not use then
    values.no_field(name, variable, module, fields, key)
  end
  raise(format("%ss are values: use %s, which returns a new one", name, use))
end

-- How to make a vector of another type, for values of two types in one operation.
local CONVERSIONS = {
  Vector2 = { Vector3 = "Vector3(v.x, v.y, 0)", Vector4 = "Vector4(v.x, v.y, 0, 0)" },
  Vector3 = { Vector4 = "Vector4(v.x, v.y, v.z, 0)" },
}

-- Returns the remedy for an operation on vectors of two types, or nil.
local function conversion(a, b)
  a, b = describe(a), describe(b)
  local small, large = a, b
  local way = CONVERSIONS[a] and CONVERSIONS[a][b]
  if not way then
    small, large = b, a
    way = CONVERSIONS[b] and CONVERSIONS[b][a]
  end
  return way and format("write %s for the %s, or take a %s for both", way, small, large)
end

function values.cannot(verb, a, joiner, b, hint)
  hint = hint or conversion(a, b)
  hint = hint and ": " .. hint or ""
  raise(format("cannot %s %s %s %s%s", verb, describe(a), joiner, describe(b), hint))
end

local cannot = values.cannot

-- Sets the operators that all value types share, and errors for the others. A type that has one of
-- the others sets it afterwards.
function values.common_operators(meta, name, order_hint)
  meta.__name = name
  meta.__lt = function(a, b) cannot("compare", a, "with", b, order_hint) end
  meta.__le = meta.__lt
  meta.__add = function(a, b) cannot("add", a, "and", b) end
  meta.__sub = function(a, b) cannot("subtract", b, "from", a) end
  meta.__mul = function(a, b) cannot("multiply", a, "and", b) end
  meta.__div = function(a, b) cannot("divide", a, "by", b) end
  meta.__unm = function() raise("cannot negate " .. name) end
  meta.__mod = function(a, b) cannot("take", a, "modulo", b) end
  meta.__pow = function(a, b) cannot("raise", a, "to the power of", b) end
  meta.__len = function() raise(name .. " has no # operator: " .. order_hint) end
  meta.__call = function() raise("cannot call " .. name .. " as a function: it is a value") end
  meta.__concat = function(a, b) return tostring(a) .. tostring(b) end
end
