-- Suite of Vector3: values, operators, functions, and the messages for invalid use.

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
local v3 = Vector3(1, 2, 3)
-- A vector whose length is an integer.
local whole, whole_length = Vector3(2, 3, 6), 7

describe("Vector3", function()
  it("is created from numbers; omitted ones are zero", function()
    assert.equals(Vector3(1, 0, 0), Vector3(1))
    assert.equals(Vector3.zero(), Vector3())
    assert.equals(Vector3(1, 1, 1), Vector3.one())
  end)

  it("refuses anything else", function()
    check_error(function() Vector3("1") end,
      "Vector3: argument #1 'x' must be number, got string \"1\"")
    check_error(function() Vector3(1, nil) end, "Vector3: argument #2 'y' must be number, got nil")
    check_error(function() Vector3(v3) end, "Vector3: argument #1 'x' must be number, got Vector3")
  end)

  it("returns its fields by name, by index and by function", function()
    assert.equals(1, v3.x)
    assert.equals(1, v3[1])
    assert.equals(1, Vector3.x(v3))
    assert.equals(1, Vector3.element(v3, 1))
    assert.equals(2, v3.y)
    assert.equals(2, v3[2])
    assert.equals(2, Vector3.y(v3))
    assert.equals(2, Vector3.element(v3, 2))
    assert.equals(3, v3.z)
    assert.equals(3, v3[3])
    assert.equals(3, Vector3.z(v3))
    assert.equals(3, Vector3.element(v3, 3))
    assert.same({ 1, 2, 3 }, { Vector3.to_elements(v3) })
    assert.same({ 1, 2, 3 }, Vector3.as_table(v3))
  end)

  it("lists its fields", function()
    check_error(function() return v3.q end, "Vector3 has no field 'q': it has x, y, z")
    check_error(function() return v3[4] end, "Vector3 has no field 4: it has x, y, z")
    check_error(function() return v3.length end,
      "Vector3 has no field 'length': call Vector3.length(v)")
  end)

  it("is immutable", function()
    check_error(function() v3.x = 5 end,
      "Vector3s are values: use Vector3.with_x(v, value), which returns a new one")
    check_error(function() v3[3] = 5 end,
      "Vector3s are values: use Vector3.with_z(v, value), which returns a new one")
    check_error(function() v3.q = 5 end, "Vector3 has no field 'q'")
    assert.equals(Vector3(1, 2, 3), v3)
  end)

  it("names the alternative to each setter", function()
    check_error(function() Vector3.set_x(v3, 1) end,
      "Vector3.set_x: values never change: use Vector3.with_x(v, x), which returns a new one")
    check_error(function() Vector3.set_y(v3, 1) end,
      "Vector3.set_y: values never change: use Vector3.with_y(v, y), which returns a new one")
    check_error(function() Vector3.set_z(v3, 1) end,
      "Vector3.set_z: values never change: use Vector3.with_z(v, z), which returns a new one")
    check_error(function() Vector3.set_xyz(v3, 1, 1, 1) end,
      "Vector3.set_xyz: values never change: use Vector3(x, y, z)")
    check_error(function() Vector3.set_element(v3, 1, 1) end,
      "Vector3.set_element: values never change: use Vector3.with_element(v, i, value)")
  end)

  it("returns changed copies", function()
    assert.equals(Vector3(9, 2, 3), Vector3.with_x(v3, 9))
    assert.equals(Vector3(9, 2, 3), Vector3.with_element(v3, 1, 9))
    assert.equals(Vector3(1, 9, 3), Vector3.with_y(v3, 9))
    assert.equals(Vector3(1, 9, 3), Vector3.with_element(v3, 2, 9))
    assert.equals(Vector3(1, 2, 9), Vector3.with_z(v3, 9))
    assert.equals(Vector3(1, 2, 9), Vector3.with_element(v3, 3, 9))
  end)

  it("compares by its fields, and differs from anything else", function()
    assert.is_true(v3 == Vector3(1, 2, 3))
    assert.is_false(v3 == Vector3(1, 2, 4))
    assert.is_false(v3 == nil)
    assert.is_false(v3 == 1)
    assert.is_false(v3 == "Vector3")
    assert.is_false(v3 == Vector2(1, 2))
    assert.is_true(Vector3.equal(v3, Vector3(1, 2, 3)))
    assert.is_false(Vector3.equal(v3, Vector3.zero()))
    assert.is_true(Vector3.almost_equal(v3, v3 + Vector3.one() * 0.00001))
    assert.is_false(Vector3.almost_equal(v3, v3 + Vector3.one()))
    assert.is_true(Vector3.almost_equal(v3, v3 + Vector3.one(), 1))
    for i = 1, 3 do
      local other = Vector3.with_element(v3, i, 0.5)
      assert.is_false(Vector3.almost_equal(v3, other))
      assert.is_false(Vector3.almost_equal(other, v3))
      assert.is_false(Vector3.equal(v3, other))
      assert.is_false(v3 == other)
    end
    check_error(function() Vector3.almost_equal(v3, v3, "near") end,
      "Vector3.almost_equal: argument #3 'tolerance' must be number, got string \"near\"")
  end)

  it("prints the shortest numbers that read back the same", function()
    assert.equals("Vector3(1, 2, 3)", tostring(v3))
    assert.equals("Vector3(0.1, -2.5, 0)", Vector3.to_string(Vector3(0.1, -2.5, -0.0)))
    assert.equals("Vector3(inf, -inf, nan)", tostring(Vector3(1 / 0, -1 / 0, 0 / 0)))
    assert.equals("at Vector3(1, 2, 3)!", "at " .. v3 .. "!")
  end)

  it("holds 32-bit floats", function()
    assert.is_true(Vector3(0.1).x ~= 0.1)
    assert.is_true(math.abs(Vector3(0.1).x - 0.1) < 1e-8)
    assert.equals(16777216, Vector3(16777217).x)
  end)

  it("adds, subtracts, scales, divides and negates", function()
    local b = Vector3(5, 7, 9)
    assert.equals(Vector3(6, 9, 12), v3 + b)
    assert.equals(v3 + b, Vector3.add(v3, b))
    assert.equals(Vector3(4, 5, 6), b - v3)
    assert.equals(b - v3, Vector3.subtract(b, v3))
    assert.equals(Vector3(2, 4, 6), v3 * 2)
    assert.equals(v3 * 2, 2 * v3)
    assert.equals(v3 * 2, Vector3.multiply(v3, 2))
    assert.equals(Vector3(0.5, 1, 1.5), v3 / 2)
    assert.equals(v3 / 2, Vector3.divide(v3, 2))
    assert.equals(Vector3(-1, -2, -3), -v3)
    assert.equals(Vector3(5, 14, 27), Vector3.multiply_elements(v3, b))
    assert.equals(b, Vector3.divide_elements(Vector3.multiply_elements(v3, b), v3))
  end)

  it("refuses operands of other types", function()
    local hint = "use Vector3.dot, Vector3.cross or Vector3.multiply_elements"
    check_error(function() return v3 + nil end, "cannot add Vector3 and nil")
    check_error(function() return 1 + v3 end, "cannot add number 1 and Vector3")
    check_error(function() return v3 - 1 end, "cannot subtract number 1 from Vector3")
    check_error(function() return v3 * v3 end, "cannot multiply Vector3 and Vector3: " .. hint)
    check_error(function() return v3 * nil end, "cannot multiply Vector3 and nil")
    check_error(function() return v3 / nil end, "cannot divide Vector3 by nil")
    check_error(function() return 1 / v3 end, "cannot divide number 1 by Vector3")
    check_error(function() return v3 / v3 end,
      "cannot divide Vector3 by Vector3: use Vector3.divide_elements")
    check_error(function() return v3 % 2 end, "cannot take Vector3 modulo number 2")
    check_error(function() return v3 ^ 2 end, "cannot raise Vector3 to the power of number 2")
    check_error(function() return v3 < v3 end, "cannot compare Vector3 with Vector3")
    check_error(function() return v3 <= 1 end, "cannot compare Vector3 with number 1")
    check_error(function() return #v3 end, "Vector3 has no # operator: use Vector3.length(v)")
    check_error(function() return v3(1) end, "cannot call Vector3 as a function")
  end)

  it("measures lengths and distances", function()
    local b = Vector3(3, 4, 0)
    assert.equals(5, Vector3.length(b))
    assert.equals(whole_length, Vector3.length(whole))
    assert.equals(whole_length * whole_length, Vector3.length_squared(whole))
    assert.equals(whole_length * whole_length, Vector3.dot(whole, whole))
    assert.equals(whole_length, Vector3.distance(v3 + whole, v3))
    assert.equals(whole_length * whole_length, Vector3.distance_squared(v3, v3 + whole))
    assert.equals(25, Vector3.length_squared(b))
    assert.equals(5, Vector3.distance(v3, v3 + b))
    assert.equals(25, Vector3.distance_squared(v3 + b, v3))
    assert.equals(11, Vector3.dot(v3, b))
  end)

  it("normalizes, and does not change zero", function()
    local unit = Vector3.normalize(Vector3(3, 4, 0))
    assert.is_true(Vector3.almost_equal(Vector3(0.6, 0.8, 0), unit))
    assert.equals(Vector3.zero(), Vector3.normalize(Vector3.zero()))
    local direction, length = Vector3.direction_length(Vector3(0, -2, 0))
    assert.equals(Vector3(0, -1, 0), direction)
    assert.equals(2, length)
    direction, length = Vector3.direction_length(whole)
    assert.equals(whole_length, length)
    assert.is_true(Vector3.almost_equal(whole, direction * length))
    assert.is_true(Vector3.almost_equal(whole, Vector3.normalize(whole) * length))
    direction, length = Vector3.direction_length(Vector3.zero())
    assert.equals(Vector3.zero(), direction)
    assert.equals(0, length)
  end)

  it("interpolates and selects field by field", function()
    local b = Vector3(3, 0, -3)
    assert.equals(Vector3(2, 1, 0), Vector3.lerp(v3, b, 0.5))
    assert.equals(Vector3(-1, 4, 9), Vector3.lerp(v3, b, -1))
    assert.equals(Vector3(1, 0, -3), Vector3.min(v3, b))
    assert.equals(Vector3(3, 2, 3), Vector3.max(v3, b))
    assert.equals(Vector3(3, 0, 3), Vector3.abs(b))
  end)

  it("finds numbers that are not finite", function()
    assert.is_true(Vector3.is_valid(v3))
    assert.is_false(Vector3.is_valid(Vector3(0 / 0, 2, 3)))
    assert.is_false(Vector3.is_valid(Vector3(1, 1 / 0, 3)))
    assert.is_false(Vector3.is_valid(Vector3(1, 2, 0 / 0)))
  end)

  it("projects onto a direction", function()
    assert.equals(Vector3(0, 2, 0), Vector3.project(v3, Vector3(0, 5, 0)))
    assert.equals(Vector3.zero(), Vector3.project(v3, Vector3.zero()))
    local part = Vector3.project(v3, whole)
    assert.is_true(math.abs(Vector3.dot(v3 - part, whole)) < 1e-5)
    assert.is_true(Vector3.almost_equal(Vector3.normalize(whole), Vector3.normalize(part)))
  end)

  it("reflects at a surface", function()
    assert.equals(Vector3(1, -2, 3), Vector3.reflect(v3, Vector3(0, 1, 0)))
    local normal = Vector3.normalize(whole)
    local mirrored = Vector3.reflect(v3, normal)
    assert.is_true(Vector3.almost_equal(Vector3.project(v3, normal) * -2, mirrored - v3))
    assert.is_true(math.abs(Vector3.length(v3) - Vector3.length(mirrored)) < 1e-5)
  end)

  it("limits a length", function()
    assert.equals(Vector3(0, 3, 0), Vector3.clamp_length(Vector3(0, 9, 0), 3))
    assert.equals(v3, Vector3.clamp_length(v3, 10))
    assert.is_true(Vector3.almost_equal(whole / whole_length, Vector3.clamp_length(whole, 1)))
    assert.equals(whole, Vector3.clamp_length(whole, whole_length))
    assert.equals(Vector3.zero(), Vector3.clamp_length(v3, 0))
    check_error(function() Vector3.clamp_length(v3, -1) end,
      "Vector3.clamp_length: argument #2 'max_length' must be 0 or more, got number -1")
  end)

  it("moves towards a target and stops there", function()
    assert.equals(Vector3(0, 3, 0), Vector3.move_towards(Vector3.zero(), Vector3(0, 9, 0), 3))
    assert.equals(v3, Vector3.move_towards(Vector3.zero(), v3, 100))
    assert.equals(v3 + whole, Vector3.move_towards(v3, v3 + whole, whole_length))
    assert.is_true(Vector3.almost_equal(v3 + whole / whole_length,
      Vector3.move_towards(v3, v3 + whole, 1)))
    check_error(function() Vector3.move_towards(v3, v3, -1) end,
      "Vector3.move_towards: argument #3 'max_distance' must be 0 or more, got number -1")
  end)

  it("has constants for directions: X right, Y forward, Z up", function()
    assert.equals(Vector3(1, 0, 0), Vector3.right())
    assert.equals(Vector3(-1, 0, 0), Vector3.left())
    assert.equals(Vector3(0, 1, 0), Vector3.forward())
    assert.equals(Vector3(0, -1, 0), Vector3.backward())
    assert.equals(Vector3(0, 0, 1), Vector3.up())
    assert.equals(Vector3(0, 0, -1), Vector3.down())
    assert.equals(Vector3.right(), Vector3.base(1))
    assert.equals(Vector3.forward(), Vector3.base(2))
    assert.equals(Vector3.up(), Vector3.base(3))
  end)

  it("has a right-handed cross product", function()
    assert.equals(Vector3.up(), Vector3.cross(Vector3.right(), Vector3.forward()))
    assert.equals(Vector3(-3, 6, -3), Vector3.cross(v3, Vector3(4, 5, 6)))
  end)

  it("measures angles", function()
    assert.equals(math.pi / 2, Vector3.angle(Vector3(2, 0, 0), Vector3(0, 3, 0)))
    assert.equals(math.pi, Vector3.angle(Vector3.up(), Vector3.down()))
    assert.equals(0, Vector3.angle(v3, v3 * 2))
    assert.equals(0, Vector3.angle(v3, Vector3.zero()))
    assert.is_true(math.abs(Vector3.angle(Vector3(1, 0, 0), Vector3(1, 1e-6, 0)) - 1e-6) < 1e-12)
  end)

  it("rotates about an axis by the right-hand rule", function()
    local turned = Vector3.rotate(Vector3.right(), Vector3(0, 0, 7), math.pi / 2)
    assert.is_true(Vector3.almost_equal(Vector3.forward(), turned))
    assert.equals(v3, Vector3.rotate(v3, Vector3.zero(), 1))
    -- A third of a turn about the diagonal maps each axis to the next.
    turned = Vector3.rotate(v3, Vector3.one(), math.pi * 2 / 3)
    assert.is_true(Vector3.almost_equal(Vector3(3, 1, 2), turned))
    for angle = -3, 3 do
      turned = Vector3.rotate(v3, whole, angle)
      assert.is_true(Vector3.almost_equal(Quaternion(whole, angle) * v3, turned))
    end
  end)

  it("projects onto the ground", function()
    assert.equals(Vector3(1, 2, 0), Vector3.flat(v3))
  end)

  it("computes two axes perpendicular to a third", function()
    for _, z in ipairs({ v3, Vector3.up(), Vector3.down(), Vector3(-4, 0.5, -2) }) do
      local x, y = Vector3.make_axes(z)
      assert.is_true(Vector3.almost_equal(Vector3.normalize(z), Vector3.cross(x, y)))
      assert.is_true(math.abs(Vector3.dot(x, y)) < 1e-6)
      assert.is_true(math.abs(Vector3.length(x) - 1) < 1e-6)
    end
    local x, y = Vector3.make_axes(Vector3.zero())
    assert.equals(Vector3.right(), x)
    assert.equals(Vector3.forward(), y)
  end)

  it("has the same results compiled and interpreted over many steps", function()
    local p, velocity = Vector3(0, 0, 0), Vector3(1, 2, 3)
    for _ = 1, 10000 do p = p + velocity * 0.001 end
    -- The sum of 10,000 rounded 32-bit steps, not exactly 10.
    assert.equals("Vector3(10.000411, 20.000822, 30.001637)", tostring(p))
  end)

  it("reports the wrong argument", function()
    check_arguments(Vector3, "Vector3", {
      { "x", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "y", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "z", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "element", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "element", { v3, "no" }, "#2 'i' must be a whole number from 1 to 3, got string \"no\"" },
      { "to_elements", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "as_table", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "to_string", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "with_x", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "with_x", { v3, "no" }, "#2 'x' must be number, got string \"no\"" },
      { "with_y", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "with_y", { v3, "no" }, "#2 'y' must be number, got string \"no\"" },
      { "with_z", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "with_z", { v3, "no" }, "#2 'z' must be number, got string \"no\"" },
      { "with_element", { 1, 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "with_element", { v3, "no", 1 },
        "#2 'i' must be a whole number from 1 to 3, got string \"no\"" },
      { "with_element", { v3, 1, "no" }, "#3 'value' must be number, got string \"no\"" },
      { "add", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "add", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "subtract", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "subtract", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "multiply", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "multiply", { v3, "no" }, "#2 'scale' must be number, got string \"no\"" },
      { "divide", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "divide", { v3, "no" }, "#2 'divisor' must be number, got string \"no\"" },
      { "multiply_elements", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "multiply_elements", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "divide_elements", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "divide_elements", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "dot", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "dot", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "cross", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "cross", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "length", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "length_squared", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "distance", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "distance", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "distance_squared", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "distance_squared", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "normalize", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "direction_length", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "lerp", { 1, v3, 1 }, "#1 'a' must be Vector3, got number 1" },
      { "lerp", { v3, 1, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "lerp", { v3, v3, "no" }, "#3 't' must be number, got string \"no\"" },
      { "min", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "min", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "max", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "max", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "abs", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "equal", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "equal", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "almost_equal", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "almost_equal", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "almost_equal", { v3, v3, "no" }, "#3 'tolerance' must be number, got string \"no\"" },
      { "is_valid", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "base", { "no" }, "#1 'i' must be a whole number from 1 to 3, got string \"no\"" },
      { "angle", { 1, v3 }, "#1 'a' must be Vector3, got number 1" },
      { "angle", { v3, 1 }, "#2 'b' must be Vector3, got number 1" },
      { "rotate", { 1, v3, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "rotate", { v3, 1, 1 }, "#2 'axis' must be Vector3, got number 1" },
      { "rotate", { v3, v3, "no" }, "#3 'angle' must be number, got string \"no\"" },
      { "flat", { 1 }, "#1 'v' must be Vector3, got number 1" },
      { "make_axes", { 1 }, "#1 'z_axis' must be Vector3, got number 1" },
      { "project", { 1, v3 }, "#1 'v' must be Vector3, got number 1" },
      { "project", { v3, 1 }, "#2 'onto' must be Vector3, got number 1" },
      { "reflect", { 1, v3 }, "#1 'v' must be Vector3, got number 1" },
      { "reflect", { v3, 1 }, "#2 'normal' must be Vector3, got number 1" },
      { "clamp_length", { 1, 1 }, "#1 'v' must be Vector3, got number 1" },
      { "clamp_length", { v3, "no" }, "#2 'max_length' must be number, got string \"no\"" },
      { "move_towards", { 1, v3, 1 }, "#1 'from' must be Vector3, got number 1" },
      { "move_towards", { v3, 1, 1 }, "#2 'to' must be Vector3, got number 1" },
      { "move_towards", { v3, v3, "no" }, "#3 'max_distance' must be number, got string \"no\"" },
    })
  end)
end)
