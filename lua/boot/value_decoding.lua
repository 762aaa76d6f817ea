-- Reconstruction of value types in saves, and in all other data that leaves the VM as bytes,
-- because native code cannot create them. The format and the functions of `Save` are native.
local core = ...

local next, unpack, getmetatable = next, unpack, core.debug.getmetatable
local IdString32, IdString64 = core.module("IdString32"), core.module("IdString64")

-- Constructors of values from their components, by type name.
local makers = {
  Vector2 = core.ctypes.Vector2,
  Vector3 = core.ctypes.Vector3,
  Vector4 = core.ctypes.Vector4,
  Quaternion = core.ctypes.Quaternion,
  Matrix4x4 = core.ctypes.Matrix4x4,
  Color = core.ctypes.Color,
  IdString32 = IdString32.from_hex,
  IdString64 = IdString64.from_hex,
}

-- Constructors of boxes, by the same type names.
local boxes = {
  Vector2 = core.module("Vector2Box"),
  Vector3 = core.module("Vector3Box"),
  Vector4 = core.module("Vector4Box"),
  Quaternion = core.module("QuaternionBox"),
  Matrix4x4 = core.module("Matrix4x4Box"),
}

-- Tables with these metatables are boxes. Other tables with a metatable cannot be serialized.
core.box_metatables = {}
for _, box in next, boxes do
  core.box_metatables[getmetatable(box())] = true
end

-- Completes unpacked data. For every value type, `list` contains a table, a key, the type's name, a
-- flag for boxes, a count, and that many components. If there is no holder, the results are passed
-- through unchanged.
function core.restore(holder, list, ...)
  if holder == nil then
    return nil, list, ...
  end
  local at = 1
  while list[at] ~= nil do
    local owner, key, name, boxed, count = unpack(list, at, at + 4)
    local value = makers[name](unpack(list, at + 5, at + 4 + count))
    if boxed then
      value = boxes[name](value)
    end
    owner[key] = value
    at = at + 5 + count
  end
  return holder[1], ...
end
