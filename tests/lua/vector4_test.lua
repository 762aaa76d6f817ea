-- Suite of Vector4: values, operators, functions, and the messages for invalid use.

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
local v4 = Vector4(1, 2, 3, 4)
-- A vector whose length is an integer.
local whole, whole_length = Vector4(2, 4, 5, 6), 9

describe("Vector4", function()
  it("is created from numbers; omitted ones are zero", function()
    assert.equals(Vector4(1, 0, 0, 0), Vector4(1))
    assert.equals(Vector4.zero(), Vector4())
    assert.equals(Vector4(1, 1, 1, 1), Vector4.one())
  end)

  it("refuses anything else", function()
    check_error(function() Vector4("1") end,
      "Vector4: argument #1 'x' must be number, got string \"1\"")
    check_error(function() Vector4(1, nil) end, "Vector4: argument #2 'y' must be number, got nil")
    check_error(function() Vector4(v4) end, "Vector4: argument #1 'x' must be number, got Vector4")
  end)

  it("returns its fields by name, by index and by function", function()
    assert.equals(1, v4.x)
    assert.equals(1, v4[1])
    assert.equals(1, Vector4.x(v4))
    assert.equals(1, Vector4.element(v4, 1))
    assert.equals(2, v4.y)
    assert.equals(2, v4[2])
    assert.equals(2, Vector4.y(v4))
    assert.equals(2, Vector4.element(v4, 2))
    assert.equals(3, v4.z)
    assert.equals(3, v4[3])
    assert.equals(3, Vector4.z(v4))
    assert.equals(3, Vector4.element(v4, 3))
    assert.equals(4, v4.w)
    assert.equals(4, v4[4])
    assert.equals(4, Vector4.w(v4))
    assert.equals(4, Vector4.element(v4, 4))
    assert.same({ 1, 2, 3, 4 }, { Vector4.to_elements(v4) })
    assert.same({ 1, 2, 3, 4 }, Vector4.as_table(v4))
  end)

  it("lists its fields", function()
    check_error(function() return v4.q end, "Vector4 has no field 'q': it has x, y, z, w")
    check_error(function() return v4[5] end, "Vector4 has no field 5: it has x, y, z, w")
    check_error(function() return v4.length end,
      "Vector4 has no field 'length': call Vector4.length(v)")
  end)

  it("is immutable", function()
    check_error(function() v4.x = 5 end,
      "Vector4s are values: use Vector4.with_x(v, value), which returns a new one")
    check_error(function() v4[4] = 5 end,
      "Vector4s are values: use Vector4.with_w(v, value), which returns a new one")
    check_error(function() v4.q = 5 end, "Vector4 has no field 'q'")
    assert.equals(Vector4(1, 2, 3, 4), v4)
  end)

  it("names the alternative to each setter", function()
    check_error(function() Vector4.set_x(v4, 1) end,
      "Vector4.set_x: values never change: use Vector4.with_x(v, x), which returns a new one")
    check_error(function() Vector4.set_y(v4, 1) end,
      "Vector4.set_y: values never change: use Vector4.with_y(v, y), which returns a new one")
    check_error(function() Vector4.set_z(v4, 1) end,
      "Vector4.set_z: values never change: use Vector4.with_z(v, z), which returns a new one")
    check_error(function() Vector4.set_w(v4, 1) end,
      "Vector4.set_w: values never change: use Vector4.with_w(v, w), which returns a new one")
    check_error(function() Vector4.set_xyzw(v4, 1, 1, 1, 1) end,
      "Vector4.set_xyzw: values never change: use Vector4(x, y, z, w)")
    check_error(function() Vector4.set_element(v4, 1, 1) end,
      "Vector4.set_element: values never change: use Vector4.with_element(v, i, value)")
  end)

  it("returns changed copies", function()
    assert.equals(Vector4(9, 2, 3, 4), Vector4.with_x(v4, 9))
    assert.equals(Vector4(9, 2, 3, 4), Vector4.with_element(v4, 1, 9))
    assert.equals(Vector4(1, 9, 3, 4), Vector4.with_y(v4, 9))
    assert.equals(Vector4(1, 9, 3, 4), Vector4.with_element(v4, 2, 9))
    assert.equals(Vector4(1, 2, 9, 4), Vector4.with_z(v4, 9))
    assert.equals(Vector4(1, 2, 9, 4), Vector4.with_element(v4, 3, 9))
    assert.equals(Vector4(1, 2, 3, 9), Vector4.with_w(v4, 9))
    assert.equals(Vector4(1, 2, 3, 9), Vector4.with_element(v4, 4, 9))
  end)

  it("compares by its fields, and differs from anything else", function()
    assert.is_true(v4 == Vector4(1, 2, 3, 4))
    assert.is_false(v4 == Vector4(1, 2, 3, 5))
    assert.is_false(v4 == nil)
    assert.is_false(v4 == 1)
    assert.is_false(v4 == "Vector4")
    assert.is_false(v4 == Vector2(1, 2))
    assert.is_true(Vector4.equal(v4, Vector4(1, 2, 3, 4)))
    assert.is_false(Vector4.equal(v4, Vector4.zero()))
    assert.is_true(Vector4.almost_equal(v4, v4 + Vector4.one() * 0.00001))
    assert.is_false(Vector4.almost_equal(v4, v4 + Vector4.one()))
    assert.is_true(Vector4.almost_equal(v4, v4 + Vector4.one(), 1))
    for i = 1, 4 do
      local other = Vector4.with_element(v4, i, 0.5)
      assert.is_false(Vector4.almost_equal(v4, other))
      assert.is_false(Vector4.almost_equal(other, v4))
      assert.is_false(Vector4.equal(v4, other))
      assert.is_false(v4 == other)
    end
    check_error(function() Vector4.almost_equal(v4, v4, "near") end,
      "Vector4.almost_equal: argument #3 'tolerance' must be number, got string \"near\"")
  end)

  it("prints the shortest numbers that read back the same", function()
    assert.equals("Vector4(1, 2, 3, 4)", tostring(v4))
    assert.equals("Vector4(0.1, -2.5, 0, 0)", Vector4.to_string(Vector4(0.1, -2.5, -0.0, 0)))
    assert.equals("Vector4(inf, -inf, nan, 1e+20)", tostring(Vector4(1 / 0, -1 / 0, 0 / 0, 1e20)))
    assert.equals("at Vector4(1, 2, 3, 4)!", "at " .. v4 .. "!")
  end)

  it("holds 32-bit floats", function()
    assert.is_true(Vector4(0.1).x ~= 0.1)
    assert.is_true(math.abs(Vector4(0.1).x - 0.1) < 1e-8)
    assert.equals(16777216, Vector4(16777217).x)
  end)

  it("adds, subtracts, scales, divides and negates", function()
    local b = Vector4(5, 7, 9, 11)
    assert.equals(Vector4(6, 9, 12, 15), v4 + b)
    assert.equals(v4 + b, Vector4.add(v4, b))
    assert.equals(Vector4(4, 5, 6, 7), b - v4)
    assert.equals(b - v4, Vector4.subtract(b, v4))
    assert.equals(Vector4(2, 4, 6, 8), v4 * 2)
    assert.equals(v4 * 2, 2 * v4)
    assert.equals(v4 * 2, Vector4.multiply(v4, 2))
    assert.equals(Vector4(0.5, 1, 1.5, 2), v4 / 2)
    assert.equals(v4 / 2, Vector4.divide(v4, 2))
    assert.equals(Vector4(-1, -2, -3, -4), -v4)
    assert.equals(Vector4(5, 14, 27, 44), Vector4.multiply_elements(v4, b))
    assert.equals(b, Vector4.divide_elements(Vector4.multiply_elements(v4, b), v4))
  end)

  it("refuses operands of other types", function()
    local hint = "use Vector4.dot or Vector4.multiply_elements"
    check_error(function() return v4 + nil end, "cannot add Vector4 and nil")
    check_error(function() return 1 + v4 end, "cannot add number 1 and Vector4")
    check_error(function() return v4 - 1 end, "cannot subtract number 1 from Vector4")
    check_error(function() return v4 * v4 end, "cannot multiply Vector4 and Vector4: " .. hint)
    check_error(function() return v4 * nil end, "cannot multiply Vector4 and nil")
    check_error(function() return v4 / nil end, "cannot divide Vector4 by nil")
    check_error(function() return 1 / v4 end, "cannot divide number 1 by Vector4")
    check_error(function() return v4 / v4 end,
      "cannot divide Vector4 by Vector4: use Vector4.divide_elements")
    check_error(function() return v4 % 2 end, "cannot take Vector4 modulo number 2")
    check_error(function() return v4 ^ 2 end, "cannot raise Vector4 to the power of number 2")
    check_error(function() return v4 < v4 end, "cannot compare Vector4 with Vector4")
    check_error(function() return v4 <= 1 end, "cannot compare Vector4 with number 1")
    check_error(function() return #v4 end, "Vector4 has no # operator: use Vector4.length(v)")
    check_error(function() return v4(1) end, "cannot call Vector4 as a function")
  end)

  it("measures lengths and distances", function()
    local b = Vector4(3, 4, 0, 0)
    assert.equals(5, Vector4.length(b))
    assert.equals(whole_length, Vector4.length(whole))
    assert.equals(whole_length * whole_length, Vector4.length_squared(whole))
    assert.equals(whole_length * whole_length, Vector4.dot(whole, whole))
    assert.equals(whole_length, Vector4.distance(v4 + whole, v4))
    assert.equals(whole_length * whole_length, Vector4.distance_squared(v4, v4 + whole))
    assert.equals(25, Vector4.length_squared(b))
    assert.equals(5, Vector4.distance(v4, v4 + b))
    assert.equals(25, Vector4.distance_squared(v4 + b, v4))
    assert.equals(11, Vector4.dot(v4, b))
  end)

  it("normalizes, and does not change zero", function()
    local unit = Vector4.normalize(Vector4(3, 4, 0, 0))
    assert.is_true(Vector4.almost_equal(Vector4(0.6, 0.8, 0, 0), unit))
    assert.equals(Vector4.zero(), Vector4.normalize(Vector4.zero()))
    local direction, length = Vector4.direction_length(Vector4(0, -2, 0, 0))
    assert.equals(Vector4(0, -1, 0, 0), direction)
    assert.equals(2, length)
    direction, length = Vector4.direction_length(whole)
    assert.equals(whole_length, length)
    assert.is_true(Vector4.almost_equal(whole, direction * length))
    assert.is_true(Vector4.almost_equal(whole, Vector4.normalize(whole) * length))
    direction, length = Vector4.direction_length(Vector4.zero())
    assert.equals(Vector4.zero(), direction)
    assert.equals(0, length)
  end)

  it("interpolates and selects field by field", function()
    local b = Vector4(3, 0, -3, 4)
    assert.equals(Vector4(2, 1, 0, 4), Vector4.lerp(v4, b, 0.5))
    assert.equals(Vector4(-1, 4, 9, 4), Vector4.lerp(v4, b, -1))
    assert.equals(Vector4(1, 0, -3, 4), Vector4.min(v4, b))
    assert.equals(Vector4(3, 2, 3, 4), Vector4.max(v4, b))
    assert.equals(Vector4(3, 0, 3, 4), Vector4.abs(b))
  end)

  it("finds numbers that are not finite", function()
    assert.is_true(Vector4.is_valid(v4))
    assert.is_false(Vector4.is_valid(Vector4(0 / 0, 2, 3, 4)))
    assert.is_false(Vector4.is_valid(Vector4(1, 1 / 0, 3, 4)))
    assert.is_false(Vector4.is_valid(Vector4(1, 2, 0 / 0, 4)))
    assert.is_false(Vector4.is_valid(Vector4(1, 2, 3, 1 / 0)))
  end)

  it("projects onto a direction", function()
    assert.equals(Vector4(0, 2, 0, 0), Vector4.project(v4, Vector4(0, 5, 0, 0)))
    assert.equals(Vector4.zero(), Vector4.project(v4, Vector4.zero()))
    local part = Vector4.project(v4, whole)
    assert.is_true(math.abs(Vector4.dot(v4 - part, whole)) < 1e-5)
    assert.is_true(Vector4.almost_equal(Vector4.normalize(whole), Vector4.normalize(part)))
  end)

  it("reflects at a surface", function()
    assert.equals(Vector4(1, -2, 3, 4), Vector4.reflect(v4, Vector4(0, 1, 0, 0)))
    local normal = Vector4.normalize(whole)
    local mirrored = Vector4.reflect(v4, normal)
    assert.is_true(Vector4.almost_equal(Vector4.project(v4, normal) * -2, mirrored - v4))
    assert.is_true(math.abs(Vector4.length(v4) - Vector4.length(mirrored)) < 1e-5)
  end)

  it("limits a length", function()
    assert.equals(Vector4(0, 3, 0, 0), Vector4.clamp_length(Vector4(0, 9, 0, 0), 3))
    assert.equals(v4, Vector4.clamp_length(v4, 10))
    assert.is_true(Vector4.almost_equal(whole / whole_length, Vector4.clamp_length(whole, 1)))
    assert.equals(whole, Vector4.clamp_length(whole, whole_length))
    assert.equals(Vector4.zero(), Vector4.clamp_length(v4, 0))
    check_error(function() Vector4.clamp_length(v4, -1) end,
      "Vector4.clamp_length: argument #2 'max_length' must be 0 or more, got number -1")
  end)

  it("moves towards a target and stops there", function()
    assert.equals(Vector4(0, 3, 0, 0), Vector4.move_towards(Vector4.zero(), Vector4(0, 9, 0, 0), 3))
    assert.equals(v4, Vector4.move_towards(Vector4.zero(), v4, 100))
    assert.equals(v4 + whole, Vector4.move_towards(v4, v4 + whole, whole_length))
    assert.is_true(Vector4.almost_equal(v4 + whole / whole_length,
      Vector4.move_towards(v4, v4 + whole, 1)))
    check_error(function() Vector4.move_towards(v4, v4, -1) end,
      "Vector4.move_towards: argument #3 'max_distance' must be 0 or more, got number -1")
  end)

  it("reports the wrong argument", function()
    check_arguments(Vector4, "Vector4", {
      { "x", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "y", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "z", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "w", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "element", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "element", { v4, "no" }, "#2 'i' must be a whole number from 1 to 4, got string \"no\"" },
      { "to_elements", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "as_table", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "to_string", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "with_x", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "with_x", { v4, "no" }, "#2 'x' must be number, got string \"no\"" },
      { "with_y", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "with_y", { v4, "no" }, "#2 'y' must be number, got string \"no\"" },
      { "with_z", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "with_z", { v4, "no" }, "#2 'z' must be number, got string \"no\"" },
      { "with_w", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "with_w", { v4, "no" }, "#2 'w' must be number, got string \"no\"" },
      { "with_element", { 1, 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "with_element", { v4, "no", 1 },
        "#2 'i' must be a whole number from 1 to 4, got string \"no\"" },
      { "with_element", { v4, 1, "no" }, "#3 'value' must be number, got string \"no\"" },
      { "add", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "add", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "subtract", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "subtract", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "multiply", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "multiply", { v4, "no" }, "#2 'scale' must be number, got string \"no\"" },
      { "divide", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "divide", { v4, "no" }, "#2 'divisor' must be number, got string \"no\"" },
      { "multiply_elements", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "multiply_elements", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "divide_elements", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "divide_elements", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "dot", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "dot", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "length", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "length_squared", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "distance", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "distance", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "distance_squared", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "distance_squared", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "normalize", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "direction_length", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "lerp", { 1, v4, 1 }, "#1 'a' must be Vector4, got number 1" },
      { "lerp", { v4, 1, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "lerp", { v4, v4, "no" }, "#3 't' must be number, got string \"no\"" },
      { "min", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "min", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "max", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "max", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "abs", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "equal", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "equal", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "almost_equal", { 1, v4 }, "#1 'a' must be Vector4, got number 1" },
      { "almost_equal", { v4, 1 }, "#2 'b' must be Vector4, got number 1" },
      { "almost_equal", { v4, v4, "no" }, "#3 'tolerance' must be number, got string \"no\"" },
      { "is_valid", { 1 }, "#1 'v' must be Vector4, got number 1" },
      { "project", { 1, v4 }, "#1 'v' must be Vector4, got number 1" },
      { "project", { v4, 1 }, "#2 'onto' must be Vector4, got number 1" },
      { "reflect", { 1, v4 }, "#1 'v' must be Vector4, got number 1" },
      { "reflect", { v4, 1 }, "#2 'normal' must be Vector4, got number 1" },
      { "clamp_length", { 1, 1 }, "#1 'v' must be Vector4, got number 1" },
      { "clamp_length", { v4, "no" }, "#2 'max_length' must be number, got string \"no\"" },
      { "move_towards", { 1, v4, 1 }, "#1 'from' must be Vector4, got number 1" },
      { "move_towards", { v4, 1, 1 }, "#2 'to' must be Vector4, got number 1" },
      { "move_towards", { v4, v4, "no" }, "#3 'max_distance' must be number, got string \"no\"" },
    })
  end)
end)
