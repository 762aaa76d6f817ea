-- The boxes: objects that hold one value each and can be told to hold another.
-- Values never go stale in this engine, so a box is needed only where code shares a changing
-- value, or comes from an engine whose vectors lived for one frame.
local core = ...

local bad_argument, raise, describe = core.bad_argument, core.raise, core.describe
local rawget, select, setmetatable, tostring, type = rawget, select, setmetatable, tostring, type
local istype, getmetatable = core.ffi.istype, core.debug.getmetatable
local values = core.values

local V2, V3, V4 = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Vector4
local Q, M = core.ctypes.Quaternion, core.ctypes.Matrix4x4

local function is_box(meta, box)
  return type(box) == "table" and getmetatable(box) == meta
end

local function check(meta, name, box)
  if not is_box(meta, box) then
    raise(name .. ": argument #1 'box' must be " .. meta.__name .. ", got " .. describe(box)
      .. ": call it as box:" .. name:match("[^.]*$") .. "(...)")
  end
end

-- A box is a table with the value under one private name; `fields` are those of the value.
local function metatable_of(module, name, fields)
  local meta = { __name = name, __metatable = name }
  meta.__index = function(box, key)
    local method = rawget(module, key)
    if method then return method end
    if fields[key] then return box._value[key] end
    raise(name .. " has no field " .. (type(key) == "string" and "'" .. key .. "'" or describe(key))
      .. ": use :unbox() and :store(value)")
  end
  meta.__newindex = function(_, key)
    raise("cannot set " .. tostring(key) .. " of a " .. name .. ": use :store(value)")
  end
  meta.__tostring = function(box) return name .. "(" .. tostring(box._value) .. ")" end
  meta.__concat = function(a, b) return tostring(a) .. tostring(b) end
  return meta
end

---@module Vector2Box
---Holds a Vector2 that changes over time. Values can be stored anywhere without a box; a box is
---for code that shares one, and for code written for the engine's family.
---@example
---   local size = Vector2Box(Vector2(640, 360))
---   size:store(Vector2(1280, 720))
---   assert(size:unbox() == Vector2(1280, 720))

---@class Vector2Box
---@field x number the x of the value in the box
---@field y number the y of the value in the box
---@overload fun(v?: Vector2): Vector2Box
---@overload fun(x: number, y: number): Vector2Box
local Vector2Box = core.module("Vector2Box")
local VECTOR2_META = metatable_of(Vector2Box, "Vector2Box", {
  x = true, y = true,
  [1] = true, [2] = true,
})

-- `i` is the number of the first argument, in the words of an error.
local function vector2_value(name, i, x, y)
  if istype(V2, x) then return x end
  if type(x) ~= "number" then bad_argument(name, i, "v", "Vector2", x) end
  if type(y) ~= "number" then bad_argument(name, i + 1, "y", "number", y) end
  return V2(x, y)
end

values.callable(Vector2Box, function(_, ...)
  local value
  if select("#", ...) == 0 then
    value = V2(0, 0)
  else
    value = vector2_value("Vector2Box", 1, ...)
  end
  return setmetatable({ _value = value }, VECTOR2_META)
end)

---Puts another value into the box.
---@param box Vector2Box the box
---@param x Vector2|number the value, or its x
---@param y? number its y, when x is a number
function Vector2Box.store(box, x, y)
  check(VECTOR2_META, "Vector2Box.store", box)
  box._value = vector2_value("Vector2Box.store", 2, x, y)
end

---Returns the value in the box.
---@param box Vector2Box the box
---@return Vector2 the value
function Vector2Box.unbox(box)
  check(VECTOR2_META, "Vector2Box.unbox", box)
  return box._value
end

---@module Vector3Box
---Holds a Vector3 that changes over time. Values can be stored anywhere without a box; a box is
---for code that shares one, and for code written for the engine's family.
---@example
---   local home = Vector3Box(Vector3(1, 2, 3))
---   home:store(4, 5, 6)
---   assert(home:unbox() == Vector3(4, 5, 6) and home.x == 4)

---@class Vector3Box
---@field x number the x of the value in the box
---@field y number the y of the value in the box
---@field z number the z of the value in the box
---@overload fun(v?: Vector3): Vector3Box
---@overload fun(x: number, y: number, z: number): Vector3Box
local Vector3Box = core.module("Vector3Box")
local VECTOR3_META = metatable_of(Vector3Box, "Vector3Box", {
  x = true, y = true, z = true,
  [1] = true, [2] = true, [3] = true,
})

-- `i` is the number of the first argument, in the words of an error.
local function vector3_value(name, i, x, y, z)
  if istype(V3, x) then return x end
  if type(x) ~= "number" then bad_argument(name, i, "v", "Vector3", x) end
  if type(y) ~= "number" then bad_argument(name, i + 1, "y", "number", y) end
  if type(z) ~= "number" then bad_argument(name, i + 2, "z", "number", z) end
  return V3(x, y, z)
end

values.callable(Vector3Box, function(_, ...)
  local value
  if select("#", ...) == 0 then
    value = V3(0, 0, 0)
  else
    value = vector3_value("Vector3Box", 1, ...)
  end
  return setmetatable({ _value = value }, VECTOR3_META)
end)

---Puts another value into the box.
---@param box Vector3Box the box
---@param x Vector3|number the value, or its x
---@param y? number its y, when x is a number
---@param z? number its z, when x is a number
function Vector3Box.store(box, x, y, z)
  check(VECTOR3_META, "Vector3Box.store", box)
  box._value = vector3_value("Vector3Box.store", 2, x, y, z)
end

---Returns the value in the box.
---@param box Vector3Box the box
---@return Vector3 the value
function Vector3Box.unbox(box)
  check(VECTOR3_META, "Vector3Box.unbox", box)
  return box._value
end

---@module Vector4Box
---Holds a Vector4 that changes over time. Values can be stored anywhere without a box; a box is
---for code that shares one, and for code written for the engine's family.
---@example
---   local tint = Vector4Box(1, 1, 1, 0.5)
---   assert(tint:unbox().w == 0.5)

---@class Vector4Box
---@field x number the x of the value in the box
---@field y number the y of the value in the box
---@field z number the z of the value in the box
---@field w number the w of the value in the box
---@overload fun(v?: Vector4): Vector4Box
---@overload fun(x: number, y: number, z: number, w: number): Vector4Box
local Vector4Box = core.module("Vector4Box")
local VECTOR4_META = metatable_of(Vector4Box, "Vector4Box", {
  x = true, y = true, z = true, w = true,
  [1] = true, [2] = true, [3] = true, [4] = true,
})

-- `i` is the number of the first argument, in the words of an error.
local function vector4_value(name, i, x, y, z, w)
  if istype(V4, x) then return x end
  if type(x) ~= "number" then bad_argument(name, i, "v", "Vector4", x) end
  if type(y) ~= "number" then bad_argument(name, i + 1, "y", "number", y) end
  if type(z) ~= "number" then bad_argument(name, i + 2, "z", "number", z) end
  if type(w) ~= "number" then bad_argument(name, i + 3, "w", "number", w) end
  return V4(x, y, z, w)
end

values.callable(Vector4Box, function(_, ...)
  local value
  if select("#", ...) == 0 then
    value = V4(0, 0, 0, 0)
  else
    value = vector4_value("Vector4Box", 1, ...)
  end
  return setmetatable({ _value = value }, VECTOR4_META)
end)

---Puts another value into the box.
---@param box Vector4Box the box
---@param x Vector4|number the value, or its x
---@param y? number its y, when x is a number
---@param z? number its z, when x is a number
---@param w? number its w, when x is a number
function Vector4Box.store(box, x, y, z, w)
  check(VECTOR4_META, "Vector4Box.store", box)
  box._value = vector4_value("Vector4Box.store", 2, x, y, z, w)
end

---Returns the value in the box.
---@param box Vector4Box the box
---@return Vector4 the value
function Vector4Box.unbox(box)
  check(VECTOR4_META, "Vector4Box.unbox", box)
  return box._value
end

---@module QuaternionBox
---Holds a Quaternion that changes over time. Values can be stored anywhere without a box; a box is
---for code that shares one, and for code written for the engine's family.
---@example
---   local aim = QuaternionBox()
---   aim:store(Quaternion(Vector3.up(), 1))
---   print(Quaternion.forward(aim:unbox()))

---@class QuaternionBox
---@field x number the x of the value in the box
---@field y number the y of the value in the box
---@field z number the z of the value in the box
---@field w number the w of the value in the box
---@overload fun(q?: Quaternion): QuaternionBox
---@overload fun(x: number, y: number, z: number, w: number): QuaternionBox
local QuaternionBox = core.module("QuaternionBox")
local QUATERNION_META = metatable_of(QuaternionBox, "QuaternionBox", {
  x = true, y = true, z = true, w = true,
  [1] = true, [2] = true, [3] = true, [4] = true,
})

-- `i` is the number of the first argument, in the words of an error.
local function quaternion_value(name, i, x, y, z, w)
  if istype(Q, x) then return x end
  if type(x) ~= "number" then bad_argument(name, i, "q", "Quaternion", x) end
  if type(y) ~= "number" then bad_argument(name, i + 1, "y", "number", y) end
  if type(z) ~= "number" then bad_argument(name, i + 2, "z", "number", z) end
  if type(w) ~= "number" then bad_argument(name, i + 3, "w", "number", w) end
  return Q(x, y, z, w)
end

values.callable(QuaternionBox, function(_, ...)
  local value
  if select("#", ...) == 0 then
    value = Q(0, 0, 0, 1)
  else
    value = quaternion_value("QuaternionBox", 1, ...)
  end
  return setmetatable({ _value = value }, QUATERNION_META)
end)

---Puts another value into the box.
---@param box QuaternionBox the box
---@param x Quaternion|number the value, or its x
---@param y? number its y, when x is a number
---@param z? number its z, when x is a number
---@param w? number its w, when x is a number
function QuaternionBox.store(box, x, y, z, w)
  check(QUATERNION_META, "QuaternionBox.store", box)
  box._value = quaternion_value("QuaternionBox.store", 2, x, y, z, w)
end

---Returns the value in the box.
---@param box QuaternionBox the box
---@return Quaternion the value
function QuaternionBox.unbox(box)
  check(QUATERNION_META, "QuaternionBox.unbox", box)
  return box._value
end

---@module Matrix4x4Box
---Holds a Matrix4x4 that changes over time. Values can be stored anywhere without a box; a box is
---for code that shares one, and for code written for the engine's family.
---@example
---   local pose = Matrix4x4Box()
---   pose:store(Matrix4x4.from_translation(Vector3(0, 0, 2)))
---   assert(pose:unbox().translation == Vector3(0, 0, 2))

---@class Matrix4x4Box
---@field x Vector3 the x of the value in the box
---@field y Vector3 the y of the value in the box
---@field z Vector3 the z of the value in the box
---@field translation Vector3 the translation of the value in the box
---@overload fun(m?: Matrix4x4): Matrix4x4Box
local Matrix4x4Box = core.module("Matrix4x4Box")
local MATRIX4X4_META = metatable_of(Matrix4x4Box, "Matrix4x4Box", {
  x = true, y = true, z = true, translation = true
})

values.callable(Matrix4x4Box, function(_, ...)
  local m = ...
  if select("#", ...) == 0 then m = M(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1) end
  if not istype(M, m) then bad_argument("Matrix4x4Box", 1, "m", "Matrix4x4", m) end
  return setmetatable({ _value = m }, MATRIX4X4_META)
end)

---Puts another value into the box.
---@param box Matrix4x4Box the box
---@param m Matrix4x4 the value
function Matrix4x4Box.store(box, m)
  check(MATRIX4X4_META, "Matrix4x4Box.store", box)
  if not istype(M, m) then bad_argument("Matrix4x4Box.store", 2, "m", "Matrix4x4", m) end
  box._value = m
end

---Returns the value in the box.
---@param box Matrix4x4Box the box
---@return Matrix4x4 the value
function Matrix4x4Box.unbox(box)
  check(MATRIX4X4_META, "Matrix4x4Box.unbox", box)
  return box._value
end
