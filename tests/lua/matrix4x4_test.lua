-- Suite of Matrix4x4: poses, their algebra, their parts, and the messages for invalid use.

local function check_error(fn, expected)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.is_true(tostring(message):find(expected, 1, true) ~= nil, tostring(message))
end
-- Each row: a function, its arguments, and its message for the invalid one.
local function check_arguments(module, name, rows)
  for _, row in ipairs(rows) do
    check_error(function() module[row[1]](unpack(row[2])) end,
      name .. "." .. row[1] .. ": argument " .. row[3])
  end
end
local m = Matrix4x4.from_elements(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
local q = Quaternion(Vector3.up(), math.pi / 2)
local v3 = Vector3(1, 2, 3)
local pose = Matrix4x4.from_quaternion_position(q, Vector3(10, 20, 30))

local function near_vector(a, b)
  assert.is_true(Vector3.almost_equal(a, b, 1e-4), a .. " is not near " .. b)
end

local function near_matrix(a, b)
  assert.is_true(Matrix4x4.almost_equal(a, b, 1e-4), a .. " is not near " .. b)
end

describe("Matrix4x4", function()
  it("is the identity, or created by a function", function()
    assert.equals(Matrix4x4.identity(), Matrix4x4())
    assert.same({ 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 },
      Matrix4x4.as_table(Matrix4x4.identity()))
    assert.equals(v3, Matrix4x4.identity() * v3)
    check_error(function() Matrix4x4(1) end,
      "Matrix4x4: takes no arguments and returns the identity: use Matrix4x4.from_axes")
    for _, element in ipairs(Matrix4x4.as_table(Matrix4x4.zero())) do
      assert.equals(0, element)
    end
  end)

  it("is created from 12 or 16 elements, row by row", function()
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 }, Matrix4x4.as_table(m))
    local affine = Matrix4x4.from_elements(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    assert.same({ 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 1 }, Matrix4x4.as_table(affine))
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, { Matrix4x4.to_elements(affine) })
    check_error(function() Matrix4x4.from_elements(1, 2) end,
      "Matrix4x4.from_elements: takes 12 or 16 numbers, got 2 arguments")
    check_error(function() Matrix4x4.from_elements(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "12") end,
      "Matrix4x4.from_elements: argument #12 'element' must be number, got string \"12\"")
  end)

  it("has rows that are axes and a translation", function()
    local matrix = Matrix4x4.from_axes(Vector3(1, 2, 3), Vector3(4, 5, 6), Vector3(7, 8, 9), v3)
    assert.equals(Vector3(1, 2, 3), Matrix4x4.x(matrix))
    assert.equals(Vector3(4, 5, 6), Matrix4x4.y(matrix))
    assert.equals(Vector3(7, 8, 9), Matrix4x4.z(matrix))
    assert.equals(v3, Matrix4x4.translation(matrix))
    assert.equals(matrix.x, Matrix4x4.right(matrix))
    assert.equals(matrix.y, Matrix4x4.forward(matrix))
    assert.equals(matrix.z, Matrix4x4.up(matrix))
    assert.equals(v3, matrix.translation)
    assert.equals(matrix.x, Matrix4x4.axis(matrix, 1))
    assert.equals(matrix.y, Matrix4x4.axis(matrix, 2))
    assert.equals(matrix.z, Matrix4x4.axis(matrix, 3))
    assert.equals(2, Matrix4x4.element(matrix, 1, 2))
    assert.equals(1, Matrix4x4.element(matrix, 4, 1))
    assert.equals(1, Matrix4x4.element(matrix, 4, 4))
  end)

  it("lists its fields", function()
    check_error(function() return m.w end,
      "Matrix4x4 has no field 'w': it has x, y, z, translation")
    check_error(function() return m.inverse end,
      "Matrix4x4 has no field 'inverse': call Matrix4x4.inverse(m)")
    check_error(function() Matrix4x4.element(m, 5, 1) end,
      "Matrix4x4.element: argument #2 'row' must be a whole number from 1 to 4, got number 5")
    check_error(function() Matrix4x4.element(m, 1, 0) end,
      "Matrix4x4.element: argument #3 'column' must be a whole number from 1 to 4, got number 0")
    check_error(function() Matrix4x4.axis(m, 4) end,
      "Matrix4x4.axis: argument #2 'i' must be a whole number from 1 to 3, got number 4")
  end)

  it("is immutable", function()
    check_error(function() m.translation = v3 end, "Matrix4x4s are values: use "
      .. "Matrix4x4.with_translation(m, value), which returns a new one")
    check_error(function() m.w = v3 end, "Matrix4x4 has no field 'w'")
    local setters = {
      { Matrix4x4.set_x, "set_x", "with_x(m, v)" },
      { Matrix4x4.set_y, "set_y", "with_y(m, v)" },
      { Matrix4x4.set_z, "set_z", "with_z(m, v)" },
      { Matrix4x4.set_right, "set_right", "with_right(m, v)" },
      { Matrix4x4.set_forward, "set_forward", "with_forward(m, v)" },
      { Matrix4x4.set_up, "set_up", "with_up(m, v)" },
      { Matrix4x4.set_translation, "set_translation", "with_translation(m, v)" },
      { Matrix4x4.set_axis, "set_axis", "with_axis(m, i, v)" },
      { Matrix4x4.set_element, "set_element", "with_element(m, row, column, value)" },
      { Matrix4x4.set_rotation, "set_rotation", "with_rotation(m, q)" },
      { Matrix4x4.set_scale, "set_scale", "with_scale(m, s)" },
    }
    for _, row in ipairs(setters) do
      check_error(function() row[1](m, v3) end, "Matrix4x4." .. row[2]
        .. ": values never change: use Matrix4x4." .. row[3] .. ", which returns a new one")
    end
    assert.equals(m, Matrix4x4.copy(m))
  end)

  it("returns changed copies", function()
    assert.equals(v3, Matrix4x4.with_x(m, v3).x)
    assert.equals(v3, Matrix4x4.with_y(m, v3).y)
    assert.equals(v3, Matrix4x4.with_z(m, v3).z)
    assert.equals(Matrix4x4.with_x(m, v3), Matrix4x4.with_right(m, v3))
    assert.equals(Matrix4x4.with_y(m, v3), Matrix4x4.with_forward(m, v3))
    assert.equals(Matrix4x4.with_z(m, v3), Matrix4x4.with_up(m, v3))
    assert.equals(Matrix4x4.with_x(m, v3), Matrix4x4.with_axis(m, 1, v3))
    assert.equals(Matrix4x4.with_y(m, v3), Matrix4x4.with_axis(m, 2, v3))
    assert.equals(Matrix4x4.with_z(m, v3), Matrix4x4.with_axis(m, 3, v3))
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 16 },
      Matrix4x4.as_table(Matrix4x4.with_translation(m, v3)))
    assert.same({ 1, 2, 3, 4, 5, 6, 0, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
      Matrix4x4.as_table(Matrix4x4.with_element(m, 2, 3, 0)))
    check_error(function() Matrix4x4.with_element(m, 2, 5, 0) end,
      "Matrix4x4.with_element: argument #3 'column' must be a whole number from 1 to 4")
  end)

  it("compares by its elements, and differs from anything else", function()
    assert.is_true(m == Matrix4x4.copy(m))
    assert.is_false(m == Matrix4x4.with_element(m, 3, 2, 0))
    assert.is_false(m == nil)
    assert.is_false(m == 1)
    assert.is_true(Matrix4x4.equal(m, m))
    assert.is_false(Matrix4x4.equal(m, pose))
    assert.is_true(Matrix4x4.almost_equal(m, Matrix4x4.with_element(m, 4, 4, 16.00005)))
    assert.is_false(Matrix4x4.almost_equal(m, Matrix4x4.with_element(m, 4, 4, 16.5)))
    assert.is_true(Matrix4x4.almost_equal(m, Matrix4x4.with_element(m, 1, 1, 1.5), 0.5))
    check_error(function() Matrix4x4.almost_equal(m, m, "no") end,
      "Matrix4x4.almost_equal: argument #3 'tolerance' must be number")
  end)

  it("prints its elements", function()
    local text = "Matrix4x4(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)"
    assert.equals(text, tostring(m))
    assert.equals(text, Matrix4x4.to_string(m))
    assert.equals("m " .. text, "m " .. m)
  end)

  it("refuses operands of other types", function()
    local hint = "a Matrix4x4 multiplies a Matrix4x4 or a Vector3, and is on the left"
    check_error(function() return m * 2 end, "cannot multiply Matrix4x4 and number 2: " .. hint)
    check_error(function() return nil * m end, "cannot multiply nil and Matrix4x4: " .. hint)
    check_error(function() return m + m end, "cannot add Matrix4x4 and Matrix4x4")
    check_error(function() return m - m end, "cannot subtract Matrix4x4 from Matrix4x4")
    check_error(function() return m / 2 end, "cannot divide Matrix4x4 by number 2")
    check_error(function() return -m end, "cannot negate Matrix4x4: use Matrix4x4.inverse")
    check_error(function() return m < m end, "cannot compare Matrix4x4 with Matrix4x4")
    check_error(function() return #m end, "Matrix4x4 has no # operator")
  end)

  it("transforms points, and directions without moving them", function()
    near_vector(Vector3(8, 21, 33), pose * v3)
    assert.equals(pose * v3, Matrix4x4.transform(pose, v3))
    near_vector(Vector3(-2, 1, 3), Matrix4x4.transform_without_translation(pose, v3))
    assert.equals(v3 * 2, Matrix4x4.from_translation(v3) * v3)
  end)

  it("applies the left factor first: a child's pose in the world is local * parent", function()
    local move = Matrix4x4.from_translation(Vector3(5, 0, 0))
    near_vector(Vector3(10, 25, 30), (move * pose).translation)
    near_vector(Vector3(15, 20, 30), (pose * move).translation)
    near_vector(pose * (move * v3), (move * pose) * v3)
    assert.equals(move * pose, Matrix4x4.multiply(move, pose))
    near_matrix(move, Matrix4x4.multiply(move * pose, Matrix4x4.inverse(pose)))
  end)

  it("multiplies rows by columns", function()
    local product = Matrix4x4.multiply(m, Matrix4x4.transpose(m))
    assert.same({ 30, 70, 110, 150, 70, 174, 278, 382, 110, 278, 446, 614, 150, 382, 614, 846 },
      Matrix4x4.as_table(product))
    assert.same({ 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16 },
      Matrix4x4.as_table(Matrix4x4.transpose(m)))
  end)

  it("is reverted by its inverse", function()
    near_matrix(Matrix4x4.identity(), pose * Matrix4x4.inverse(pose))
    near_vector(v3, Matrix4x4.inverse(pose) * (pose * v3))
    local tiny = Matrix4x4.from_quaternion_position_scale(q, v3, Vector3.one() * 0.001)
    near_matrix(Matrix4x4.identity(), tiny * Matrix4x4.inverse(tiny))
    local general = Matrix4x4.from_elements(2, 7, 1, 3, 4, 1, -4, 6, 5, 3, 1, 1, 8, 2, 9, 1)
    near_matrix(Matrix4x4.identity(), general * Matrix4x4.inverse(general))
    near_matrix(Matrix4x4.identity(), Matrix4x4.inverse(general) * general)
  end)

  it("has no inverse if its scale is 0", function()
    check_error(function() Matrix4x4.inverse(Matrix4x4.zero()) end,
      "Matrix4x4.inverse: the matrix has no inverse, because it flattens space")
    check_error(function() Matrix4x4.inverse(m) end, "has no inverse")
    check_error(function() Matrix4x4.inverse(Matrix4x4.with_scale(pose, Vector3(1, 0, 1))) end,
      "has no inverse")
    check_error(function() Matrix4x4.inverse(Matrix4x4.with_element(pose, 1, 1, 0 / 0)) end,
      "has no inverse")
  end)

  it("has a determinant: the factor of volumes", function()
    assert.equals(0, Matrix4x4.determinant(m))
    assert.equals(1, Matrix4x4.determinant(Matrix4x4.identity()))
    local scaled = Matrix4x4.with_scale(Matrix4x4.identity(), Vector3(2, 3, -4))
    assert.equals(-24, Matrix4x4.determinant(scaled))
  end)

  it("holds a rotation, a translation and a scale", function()
    local s, p = Vector3(2, 3, 4), Vector3(5, 6, 7)
    local matrix = Matrix4x4.from_quaternion_position_scale(q, p, s)
    near_vector(s, Matrix4x4.scale(matrix))
    assert.equals(p, Matrix4x4.translation(matrix))
    assert.is_true(Quaternion.almost_equal(q, Matrix4x4.rotation(matrix)))
    near_vector(q * Vector3(2, 6, 12) + p, matrix * v3)
    assert.equals(Quaternion.matrix4x4(q), Matrix4x4.from_quaternion(q))
    near_vector(Vector3(1, 1, 1), Matrix4x4.scale(Matrix4x4.with_scale(matrix, Vector3.one())))
    near_matrix(matrix, Matrix4x4.with_scale(Matrix4x4.with_scale(matrix, Vector3.one()), s))
    local turned = Matrix4x4.with_rotation(matrix, Quaternion.identity())
    near_vector(Vector3(2, 0, 0), turned.x)
    assert.equals(p, turned.translation)
  end)

  it("treats a mirror as a negative scale along x", function()
    local mirrored = Matrix4x4.from_quaternion_position_scale(q, v3, Vector3(1, -2, 1))
    local s, r = Matrix4x4.scale(mirrored), Matrix4x4.rotation(mirrored)
    assert.is_true(s.x < 0 and s.y > 0 and s.z > 0)
    near_matrix(mirrored, Matrix4x4.from_quaternion_position_scale(r, v3, s))
    for i = 1, 3 do
      local tilted = Quaternion(Vector3(1, 2 * i, -3), i)
      for _, size in ipairs({ Vector3(-1, 2, 3), Vector3(1, 2, -3), Vector3(-1, -2, 3) }) do
        local matrix = Matrix4x4.from_quaternion_position_scale(tilted, v3, size)
        s, r = Matrix4x4.scale(matrix), Matrix4x4.rotation(matrix)
        assert.equals(size.x * size.y * size.z < 0, s.x < 0)
        near_matrix(matrix, Matrix4x4.from_quaternion_position_scale(r, v3, s))
      end
    end
  end)

  it("finds the rotation if the scale of one axis is 0", function()
    for i = 1, 3 do
      local s = Vector3.with_element(Vector3.one(), i, 0)
      local flat = Matrix4x4.from_quaternion_position_scale(q, v3, s)
      assert.is_true(Quaternion.almost_equal(q, Matrix4x4.rotation(flat)))
    end
    assert.equals(Quaternion.identity(), Matrix4x4.rotation(Matrix4x4.zero()))
  end)

  it("interpolates poses part by part", function()
    local a, b = Matrix4x4.identity(), Matrix4x4.with_scale(pose, Vector3(3, 3, 3))
    local middle = Matrix4x4.lerp(a, b, 0.5)
    near_vector(Vector3(5, 10, 15), middle.translation)
    near_vector(Vector3(2, 2, 2), Matrix4x4.scale(middle))
    assert.is_true(Quaternion.almost_equal(Quaternion(Vector3.up(), math.pi / 4),
      Matrix4x4.rotation(middle)))
    near_matrix(a, Matrix4x4.lerp(a, b, 0))
    near_matrix(b, Matrix4x4.lerp(a, b, 1))
    near_vector(Vector3(9.5, 19, 28.5), Matrix4x4.lerp(b, a, 0.05).translation)
  end)

  it("finds numbers that are not finite", function()
    assert.is_true(Matrix4x4.is_valid(m))
    for row = 1, 4 do
      for column = 1, 4 do
        assert.is_false(Matrix4x4.is_valid(Matrix4x4.with_element(m, row, column, 0 / 0)))
        assert.is_false(Matrix4x4.is_valid(Matrix4x4.with_element(m, row, column, -1 / 0)))
      end
    end
  end)

  it("tests if physics accepts a pose", function()
    assert.is_true(Matrix4x4.is_valid_for_physics(pose))
    local tilted = Quaternion(Vector3(1, 2, 3), 1)
    assert.is_true(Matrix4x4.is_valid_for_physics(Matrix4x4.from_quaternion_position(tilted, v3)))
    local bad = {
      m,
      Matrix4x4.with_scale(pose, Vector3(2, 1, 1)),
      Matrix4x4.with_scale(pose, Vector3(-1, 1, 1)),
      Matrix4x4.with_x(Matrix4x4.identity(), Vector3.normalize(Vector3(1, 1, 0))),
      Matrix4x4.with_y(Matrix4x4.identity(), Vector3.normalize(Vector3(0, 1, 1))),
      Matrix4x4.with_z(Matrix4x4.identity(), Vector3.normalize(Vector3(1, 0, 1))),
      Matrix4x4.with_scale(pose, Vector3(1, 1.01, 1)),
      Matrix4x4.with_scale(pose, Vector3(1, 1, 0.99)),
      Matrix4x4.with_element(pose, 2, 4, 1),
      Matrix4x4.with_element(pose, 1, 1, 0 / 0),
      Matrix4x4.with_element(pose, 4, 4, 2),
    }
    for _, b in ipairs(bad) do
      assert.is_false(Matrix4x4.is_valid_for_physics(b))
    end
  end)

  it("reports the wrong argument", function()
    check_arguments(Matrix4x4, "Matrix4x4", {
      { "from_axes", { 1, v3, v3, v3 }, "#1 'x' must be Vector3, got number 1" },
      { "from_axes", { v3, 1, v3, v3 }, "#2 'y' must be Vector3, got number 1" },
      { "from_axes", { v3, v3, 1, v3 }, "#3 'z' must be Vector3, got number 1" },
      { "from_axes", { v3, v3, v3, 1 }, "#4 't' must be Vector3, got number 1" },
      { "from_translation", { 1 }, "#1 'translation' must be Vector3, got number 1" },
      { "copy", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "element", { 1, 1, 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "element", { m, "no", 1 },
        "#2 'row' must be a whole number from 1 to 4, got string \"no\"" },
      { "element", { m, 1, "no" },
        "#3 'column' must be a whole number from 1 to 4, got string \"no\"" },
      { "with_element", { 1, 1, 1, 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_element", { m, "no", 1, 1 },
        "#2 'row' must be a whole number from 1 to 4, got string \"no\"" },
      { "with_element", { m, 1, "no", 1 },
        "#3 'column' must be a whole number from 1 to 4, got string \"no\"" },
      { "with_element", { m, 1, 1, "no" }, "#4 'value' must be number, got string \"no\"" },
      { "to_elements", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "as_table", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "to_string", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "multiply", { 1, m }, "#1 'a' must be Matrix4x4, got number 1" },
      { "multiply", { m, 1 }, "#2 'b' must be Matrix4x4, got number 1" },
      { "transform", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "transform", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "transform_without_translation", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "transform_without_translation", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "transpose", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "determinant", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "inverse", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "equal", { 1, m }, "#1 'a' must be Matrix4x4, got number 1" },
      { "equal", { m, 1 }, "#2 'b' must be Matrix4x4, got number 1" },
      { "almost_equal", { 1, m }, "#1 'a' must be Matrix4x4, got number 1" },
      { "almost_equal", { m, 1 }, "#2 'b' must be Matrix4x4, got number 1" },
      { "almost_equal", { m, m, "no" }, "#3 'tolerance' must be number, got string \"no\"" },
      { "is_valid", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "x", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "y", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "z", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "right", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "forward", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "up", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "translation", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "axis", { 1, 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "axis", { m, "no" }, "#2 'i' must be a whole number from 1 to 3, got string \"no\"" },
      { "rotation", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "scale", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "from_quaternion", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "from_quaternion_position", { 1, v3 }, "#1 'q' must be Quaternion, got number 1" },
      { "from_quaternion_position", { q, 1 }, "#2 'p' must be Vector3, got number 1" },
      { "from_quaternion_position_scale", { 1, v3, v3 },
        "#1 'q' must be Quaternion, got number 1" },
      { "from_quaternion_position_scale", { q, 1, v3 }, "#2 'p' must be Vector3, got number 1" },
      { "from_quaternion_position_scale", { q, v3, 1 }, "#3 's' must be Vector3, got number 1" },
      { "with_x", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_x", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_y", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_y", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_z", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_z", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_right", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_right", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_forward", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_forward", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_up", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_up", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_translation", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_translation", { m, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "with_axis", { 1, 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_axis", { m, "no", v3 },
        "#2 'i' must be a whole number from 1 to 3, got string \"no\"" },
      { "with_axis", { m, 1, 1 }, "#3 'v' must be Vector3, got number 1" },
      { "with_rotation", { 1, q }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_rotation", { m, 1 }, "#2 'q' must be Quaternion, got number 1" },
      { "with_scale", { 1, v3 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "with_scale", { m, 1 }, "#2 's' must be Vector3, got number 1" },
      { "lerp", { 1, m, 1 }, "#1 'a' must be Matrix4x4, got number 1" },
      { "lerp", { m, 1, 1 }, "#2 'b' must be Matrix4x4, got number 1" },
      { "lerp", { m, m, "no" }, "#3 't' must be number, got string \"no\"" },
      { "is_valid_for_physics", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
    })
  end)
end)
