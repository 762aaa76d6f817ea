-- Boxes: mutable objects that hold one value each. Values never go stale in this engine. A box is
-- needed only if code shares a changing value, or if code comes from an engine whose vectors lived
-- for one frame.
local core = ...

local bad_argument, raise, describe = core.bad_argument, core.raise, core.describe
local rawget, select, setmetatable, tostring, type = rawget, select, setmetatable, tostring, type
local istype, getmetatable = core.ffi.istype, core.debug.getmetatable
local values = core.values

local V2, V3, V4 = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Vector4
local Q, M = core.ctypes.Quaternion, core.ctypes.Matrix4x4

local function check(meta, name, box)
  if type(box) ~= "table" or getmetatable(box) ~= meta then
    raise(name .. ": argument #1 'box' must be " .. meta.__name .. ", got " .. describe(box)
      .. ": call it as box:" .. name:match("[^.]*$") .. "(...)")
  end
end

-- Returns the metatable of a box type. A box is a table with its value under one private name;
-- `fields` are the fields of the value.
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

-- Defines a box type. `argument` is the first argument's name in error messages. `kind` is the type
-- of the value and `ctype` the same type for the FFI. `fields` lists the names of the value's
-- fields. `initial` is the value of a box that is created without arguments. `from_numbers` creates
-- a value from `count` numbers; without it, only values are accepted.
local function make_kind(name, spec)
  local argument, kind, ctype = spec.argument, spec.kind, spec.ctype
  local count, from_numbers = spec.count or 0, spec.from_numbers
  local module, fields = core.module(name), {}
  for i = 1, #spec.fields do
    fields[spec.fields[i]] = true
    fields[i] = i <= count or nil
  end
  local meta = metatable_of(module, name, fields)
  local box_kind, store_name, unbox_name = {}, name .. ".store", name .. ".unbox"

  -- Returns the value from a call's arguments. `i` is the index of the first argument in error
  -- messages.
  local function value_of(call, i, x, y, z, w)
    if istype(ctype, x) then return x end
    if not from_numbers or type(x) ~= "number" then bad_argument(call, i, argument, kind, x) end
    if type(y) ~= "number" then bad_argument(call, i + 1, "y", "number", y) end
    if count > 2 and type(z) ~= "number" then bad_argument(call, i + 2, "z", "number", z) end
    if count > 3 and type(w) ~= "number" then bad_argument(call, i + 3, "w", "number", w) end
    return from_numbers(x, y, z, w)
  end

  values.callable(module, function(_, ...)
    local value = spec.initial
    if select("#", ...) > 0 then
      value = value_of(name, 1, ...)
      local takes = istype(ctype, (...)) and 1 or count
      if select("#", ...) > takes then
        core.refuse_extra(name, takes, select(takes + 1, ...))
      end
    end
    return setmetatable({ _value = value }, meta)
  end)

  function box_kind.store(box, x, y, z, w)
    check(meta, store_name, box)
    box._value = value_of(store_name, 2, x, y, z, w)
  end

  function box_kind.unbox(box)
    check(meta, unbox_name, box)
    return box._value
  end
  return module, box_kind
end

---@module Vector2Box
---Holds a Vector2 that changes over time. Values can be stored anywhere without a box. Use a box if
---several parts of the code share one value, or for code written for other engines of this family.
---@example
---   local size = Vector2Box(Vector2(640, 360))
---   size:store(Vector2(1280, 720))
---   assert(size:unbox() == Vector2(1280, 720))

---@class Vector2Box
---@field x number the x of the value in the box
---@field y number the y of the value in the box
---@overload fun(v?: Vector2): Vector2Box
---@overload fun(x: number, y: number): Vector2Box
local Vector2Box, vector2 = make_kind("Vector2Box", {
  argument = "v", kind = "Vector2", ctype = V2, fields = { "x", "y" }, initial = V2(0, 0),
  count = 2, from_numbers = function(x, y) return V2(x, y) end,
})

---Replaces the value in the box.
---@param box Vector2Box the box
---@param x Vector2|number the value, or its x
---@param y? number its y, if x is a number
function Vector2Box.store(box, x, y)
  vector2.store(box, x, y)
end

---Returns the value in the box.
---@param box Vector2Box the box
---@return Vector2 the value
function Vector2Box.unbox(box)
  return vector2.unbox(box)
end

---@module Vector3Box
---Holds a Vector3 that changes over time. Values can be stored anywhere without a box. Use a box if
---several parts of the code share one value, or for code written for other engines of this family.
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
local Vector3Box, vector3 = make_kind("Vector3Box", {
  argument = "v", kind = "Vector3", ctype = V3, fields = { "x", "y", "z" }, initial = V3(0, 0, 0),
  count = 3, from_numbers = function(x, y, z) return V3(x, y, z) end,
})

---Replaces the value in the box.
---@param box Vector3Box the box
---@param x Vector3|number the value, or its x
---@param y? number its y, if x is a number
---@param z? number its z, if x is a number
function Vector3Box.store(box, x, y, z)
  vector3.store(box, x, y, z)
end

---Returns the value in the box.
---@param box Vector3Box the box
---@return Vector3 the value
function Vector3Box.unbox(box)
  return vector3.unbox(box)
end

---@module Vector4Box
---Holds a Vector4 that changes over time. Values can be stored anywhere without a box. Use a box if
---several parts of the code share one value, or for code written for other engines of this family.
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
local Vector4Box, vector4 = make_kind("Vector4Box", {
  argument = "v", kind = "Vector4", ctype = V4, fields = { "x", "y", "z", "w" },
  initial = V4(0, 0, 0, 0),
  count = 4, from_numbers = function(x, y, z, w) return V4(x, y, z, w) end,
})

---Replaces the value in the box.
---@param box Vector4Box the box
---@param x Vector4|number the value, or its x
---@param y? number its y, if x is a number
---@param z? number its z, if x is a number
---@param w? number its w, if x is a number
function Vector4Box.store(box, x, y, z, w)
  vector4.store(box, x, y, z, w)
end

---Returns the value in the box.
---@param box Vector4Box the box
---@return Vector4 the value
function Vector4Box.unbox(box)
  return vector4.unbox(box)
end

---@module QuaternionBox
---Holds a Quaternion that changes over time. Values can be stored anywhere without a box. Use a box
---if several parts of the code share one value, or for code written for other engines of this
---family.
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
local QuaternionBox, quaternion = make_kind("QuaternionBox", {
  argument = "q", kind = "Quaternion", ctype = Q, fields = { "x", "y", "z", "w" },
  initial = Q(0, 0, 0, 1),
  count = 4, from_numbers = function(x, y, z, w) return Q(x, y, z, w) end,
})

---Replaces the value in the box.
---@param box QuaternionBox the box
---@param x Quaternion|number the value, or its x
---@param y? number its y, if x is a number
---@param z? number its z, if x is a number
---@param w? number its w, if x is a number
function QuaternionBox.store(box, x, y, z, w)
  quaternion.store(box, x, y, z, w)
end

---Returns the value in the box.
---@param box QuaternionBox the box
---@return Quaternion the value
function QuaternionBox.unbox(box)
  return quaternion.unbox(box)
end

---@module Matrix4x4Box
---Holds a Matrix4x4 that changes over time. Values can be stored anywhere without a box. Use a box
---if several parts of the code share one value, or for code written for other engines of this
---family.
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
local Matrix4x4Box, matrix = make_kind("Matrix4x4Box", {
  argument = "m", kind = "Matrix4x4", ctype = M, fields = { "x", "y", "z", "translation" },
  initial = M(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1),
})

---Replaces the value in the box.
---@param box Matrix4x4Box the box
---@param m Matrix4x4 the value
function Matrix4x4Box.store(box, m)
  matrix.store(box, m)
end

---Returns the value in the box.
---@param box Matrix4x4Box the box
---@return Matrix4x4 the value
function Matrix4x4Box.unbox(box)
  return matrix.unbox(box)
end
