-- What native code cannot do for saves, and for everything else that leaves the VM as bytes: make
-- the value types again. The format is native, and so are the functions of `Save`.
local core = ...

local next, unpack, getmetatable = next, unpack, core.debug.getmetatable
local IdString32, IdString64 = core.module("IdString32"), core.module("IdString64")

-- By the type's name: what makes a value of its parts.
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

-- By the same name: what puts a value in its box.
local boxes = {
  Vector2 = core.module("Vector2Box"),
  Vector3 = core.module("Vector3Box"),
  Vector4 = core.module("Vector4Box"),
  Quaternion = core.module("QuaternionBox"),
  Matrix4x4 = core.module("Matrix4x4Box"),
}

-- Tables with these metatables are boxes; all others with a metatable are no data.
core.box_metatables = {}
for _, box in next, boxes do
  core.box_metatables[getmetatable(box())] = true
end

-- Finishes what native code unpacked: `list` has, for every value type in it, a table, a key, the
-- type's name, whether it is in a box, a count, and as many parts. Where there is no value, the
-- results pass as they are.
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
