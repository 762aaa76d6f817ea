-- Functions of the Bitsquid family that change a value in place. Values are immutable in this
-- engine: each function raises an error that names the function that returns a changed copy.
local core = ...

local frozen = core.values.frozen

local Vector2, Vector3 = core.module("Vector2"), core.module("Vector3")
local Vector4, Quaternion = core.module("Vector4"), core.module("Quaternion")
local Matrix4x4 = core.module("Matrix4x4")

---Raises: a Vector2 never changes. Use `v = Vector2.with_x(v, x)`.
---@param v Vector2 the vector
---@param x number the new x
---@node hidden
function Vector2.set_x(v, x)
  frozen("Vector2.set_x", "Vector2.with_x(v, x)")
end

---Raises: a Vector2 never changes. Use `v = Vector2.with_y(v, y)`.
---@param v Vector2 the vector
---@param y number the new y
---@node hidden
function Vector2.set_y(v, y)
  frozen("Vector2.set_y", "Vector2.with_y(v, y)")
end

---Raises: a Vector2 never changes. Use `v = Vector2(x, y)`.
---@param v Vector2 the vector
---@param x number the new x
---@param y number the new y
---@node hidden
function Vector2.set_xy(v, x, y)
  frozen("Vector2.set_xy", "Vector2(x, y)")
end

---Raises: a Vector2 never changes. Use `v = Vector2.with_element(v, i, value)`.
---@param v Vector2 the vector
---@param i integer 1 to 2
---@param value number the new value
---@node hidden
function Vector2.set_element(v, i, value)
  frozen("Vector2.set_element", "Vector2.with_element(v, i, value)")
end

---Raises: a Vector3 never changes. Use `v = Vector3.with_x(v, x)`.
---@param v Vector3 the vector
---@param x number the new x
---@node hidden
function Vector3.set_x(v, x)
  frozen("Vector3.set_x", "Vector3.with_x(v, x)")
end

---Raises: a Vector3 never changes. Use `v = Vector3.with_y(v, y)`.
---@param v Vector3 the vector
---@param y number the new y
---@node hidden
function Vector3.set_y(v, y)
  frozen("Vector3.set_y", "Vector3.with_y(v, y)")
end

---Raises: a Vector3 never changes. Use `v = Vector3.with_z(v, z)`.
---@param v Vector3 the vector
---@param z number the new z
---@node hidden
function Vector3.set_z(v, z)
  frozen("Vector3.set_z", "Vector3.with_z(v, z)")
end

---Raises: a Vector3 never changes. Use `v = Vector3(x, y, z)`.
---@param v Vector3 the vector
---@param x number the new x
---@param y number the new y
---@param z number the new z
---@node hidden
function Vector3.set_xyz(v, x, y, z)
  frozen("Vector3.set_xyz", "Vector3(x, y, z)")
end

---Raises: a Vector3 never changes. Use `v = Vector3.with_element(v, i, value)`.
---@param v Vector3 the vector
---@param i integer 1 to 3
---@param value number the new value
---@node hidden
function Vector3.set_element(v, i, value)
  frozen("Vector3.set_element", "Vector3.with_element(v, i, value)")
end

---Raises: a Vector4 never changes. Use `v = Vector4.with_x(v, x)`.
---@param v Vector4 the vector
---@param x number the new x
---@node hidden
function Vector4.set_x(v, x)
  frozen("Vector4.set_x", "Vector4.with_x(v, x)")
end

---Raises: a Vector4 never changes. Use `v = Vector4.with_y(v, y)`.
---@param v Vector4 the vector
---@param y number the new y
---@node hidden
function Vector4.set_y(v, y)
  frozen("Vector4.set_y", "Vector4.with_y(v, y)")
end

---Raises: a Vector4 never changes. Use `v = Vector4.with_z(v, z)`.
---@param v Vector4 the vector
---@param z number the new z
---@node hidden
function Vector4.set_z(v, z)
  frozen("Vector4.set_z", "Vector4.with_z(v, z)")
end

---Raises: a Vector4 never changes. Use `v = Vector4.with_w(v, w)`.
---@param v Vector4 the vector
---@param w number the new w
---@node hidden
function Vector4.set_w(v, w)
  frozen("Vector4.set_w", "Vector4.with_w(v, w)")
end

---Raises: a Vector4 never changes. Use `v = Vector4(x, y, z, w)`.
---@param v Vector4 the vector
---@param x number the new x
---@param y number the new y
---@param z number the new z
---@param w number the new w
---@node hidden
function Vector4.set_xyzw(v, x, y, z, w)
  frozen("Vector4.set_xyzw", "Vector4(x, y, z, w)")
end

---Raises: a Vector4 never changes. Use `v = Vector4.with_element(v, i, value)`.
---@param v Vector4 the vector
---@param i integer 1 to 4
---@param value number the new value
---@node hidden
function Vector4.set_element(v, i, value)
  frozen("Vector4.set_element", "Vector4.with_element(v, i, value)")
end

---Raises: a Quaternion never changes. Use `q = Quaternion.from_elements(x, y, z, w)`.
---@param q Quaternion the rotation
---@param x number the new x
---@param y number the new y
---@param z number the new z
---@param w number the new w
---@node hidden
function Quaternion.set_xyzw(q, x, y, z, w)
  frozen("Quaternion.set_xyzw", "Quaternion.from_elements(x, y, z, w)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_x(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_x(m, v)
  frozen("Matrix4x4.set_x", "Matrix4x4.with_x(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_y(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_y(m, v)
  frozen("Matrix4x4.set_y", "Matrix4x4.with_y(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_z(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_z(m, v)
  frozen("Matrix4x4.set_z", "Matrix4x4.with_z(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_right(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_right(m, v)
  frozen("Matrix4x4.set_right", "Matrix4x4.with_right(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_forward(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_forward(m, v)
  frozen("Matrix4x4.set_forward", "Matrix4x4.with_forward(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_up(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_up(m, v)
  frozen("Matrix4x4.set_up", "Matrix4x4.with_up(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_translation(m, v)`.
---@param m Matrix4x4 the matrix
---@param v Vector3 the new translation
---@node hidden
function Matrix4x4.set_translation(m, v)
  frozen("Matrix4x4.set_translation", "Matrix4x4.with_translation(m, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_axis(m, i, v)`.
---@param m Matrix4x4 the matrix
---@param i integer 1 to 3
---@param v Vector3 the new axis
---@node hidden
function Matrix4x4.set_axis(m, i, v)
  frozen("Matrix4x4.set_axis", "Matrix4x4.with_axis(m, i, v)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_element(m, row, column, value)`.
---@param m Matrix4x4 the matrix
---@param row integer 1 to 4
---@param column integer 1 to 4
---@param value number the new element
---@node hidden
function Matrix4x4.set_element(m, row, column, value)
  frozen("Matrix4x4.set_element", "Matrix4x4.with_element(m, row, column, value)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_rotation(m, q)`.
---@param m Matrix4x4 the matrix
---@param q Quaternion the new rotation
---@node hidden
function Matrix4x4.set_rotation(m, q)
  frozen("Matrix4x4.set_rotation", "Matrix4x4.with_rotation(m, q)")
end

---Raises: a Matrix4x4 never changes. Use `m = Matrix4x4.with_scale(m, s)`.
---@param m Matrix4x4 the matrix
---@param s Vector3 the new scale
---@node hidden
function Matrix4x4.set_scale(m, s)
  frozen("Matrix4x4.set_scale", "Matrix4x4.with_scale(m, s)")
end
