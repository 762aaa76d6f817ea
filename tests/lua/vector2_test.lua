-- Suite of Vector2: values, operators, functions, and the messages for invalid use.

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
local v2 = Vector2(1, 2)
-- A vector whose length is an integer.
local whole, whole_length = Vector2(3, 4), 5

describe("Vector2", function()
  it("is created from numbers; omitted ones are zero", function()
    assert.equals(Vector2(1, 0), Vector2(1))
    assert.equals(Vector2.zero(), Vector2())
    assert.equals(Vector2(1, 1), Vector2.one())
  end)

  it("refuses anything else", function()
    check_error(function() Vector2("1") end,
      "Vector2: argument #1 'x' must be number, got string \"1\"")
    check_error(function() Vector2(1, nil) end, "Vector2: argument #2 'y' must be number, got nil")
    check_error(function() Vector2(v2) end, "Vector2: argument #1 'x' must be number, got Vector2")
  end)

  it("returns its fields by name, by index and by function", function()
    assert.equals(1, v2.x)
    assert.equals(1, v2[1])
    assert.equals(1, Vector2.x(v2))
    assert.equals(1, Vector2.element(v2, 1))
    assert.equals(2, v2.y)
    assert.equals(2, v2[2])
    assert.equals(2, Vector2.y(v2))
    assert.equals(2, Vector2.element(v2, 2))
    assert.same({ 1, 2 }, { Vector2.to_elements(v2) })
    assert.same({ 1, 2 }, Vector2.as_table(v2))
  end)

  it("lists its fields", function()
    check_error(function() return v2.q end, "Vector2 has no field 'q': it has x, y")
    check_error(function() return v2[3] end, "Vector2 has no field 3: it has x, y")
    check_error(function() return v2.length end,
      "Vector2 has no field 'length': call Vector2.length(v)")
  end)

  it("is immutable", function()
    check_error(function() v2.x = 5 end,
      "Vector2s are values: use Vector2.with_x(v, value), which returns a new one")
    check_error(function() v2[2] = 5 end,
      "Vector2s are values: use Vector2.with_y(v, value), which returns a new one")
    check_error(function() v2.q = 5 end, "Vector2 has no field 'q'")
    assert.equals(Vector2(1, 2), v2)
  end)

  it("names the alternative to each setter", function()
    check_error(function() Vector2.set_x(v2, 1) end,
      "Vector2.set_x: values never change: use Vector2.with_x(v, x), which returns a new one")
    check_error(function() Vector2.set_y(v2, 1) end,
      "Vector2.set_y: values never change: use Vector2.with_y(v, y), which returns a new one")
    check_error(function() Vector2.set_xy(v2, 1, 1) end,
      "Vector2.set_xy: values never change: use Vector2(x, y)")
    check_error(function() Vector2.set_element(v2, 1, 1) end,
      "Vector2.set_element: values never change: use Vector2.with_element(v, i, value)")
  end)

  it("returns changed copies", function()
    assert.equals(Vector2(9, 2), Vector2.with_x(v2, 9))
    assert.equals(Vector2(9, 2), Vector2.with_element(v2, 1, 9))
    assert.equals(Vector2(1, 9), Vector2.with_y(v2, 9))
    assert.equals(Vector2(1, 9), Vector2.with_element(v2, 2, 9))
  end)

  it("compares by its fields, and differs from anything else", function()
    assert.is_true(v2 == Vector2(1, 2))
    assert.is_false(v2 == Vector2(1, 3))
    assert.is_false(v2 == nil)
    assert.is_false(v2 == 1)
    assert.is_false(v2 == "Vector2")
    assert.is_false(v2 == Vector3(1, 2, 0))
    assert.is_true(Vector2.equal(v2, Vector2(1, 2)))
    assert.is_false(Vector2.equal(v2, Vector2.zero()))
    assert.is_true(Vector2.almost_equal(v2, v2 + Vector2.one() * 0.00001))
    assert.is_false(Vector2.almost_equal(v2, v2 + Vector2.one()))
    assert.is_true(Vector2.almost_equal(v2, v2 + Vector2.one(), 1))
    for i = 1, 2 do
      local other = Vector2.with_element(v2, i, 0.5)
      assert.is_false(Vector2.almost_equal(v2, other))
      assert.is_false(Vector2.almost_equal(other, v2))
      assert.is_false(Vector2.equal(v2, other))
      assert.is_false(v2 == other)
    end
    check_error(function() Vector2.almost_equal(v2, v2, "near") end,
      "Vector2.almost_equal: argument #3 'tolerance' must be number, got string \"near\"")
  end)

  it("prints the shortest numbers that read back the same", function()
    assert.equals("Vector2(1, 2)", tostring(v2))
    assert.equals("Vector2(0.1, -2.5)", Vector2.to_string(Vector2(0.1, -2.5)))
    assert.equals("Vector2(inf, -inf)", tostring(Vector2(1 / 0, -1 / 0)))
    assert.equals("at Vector2(1, 2)!", "at " .. v2 .. "!")
  end)

  it("holds 32-bit floats", function()
    assert.is_true(Vector2(0.1).x ~= 0.1)
    assert.is_true(math.abs(Vector2(0.1).x - 0.1) < 1e-8)
    assert.equals(16777216, Vector2(16777217).x)
  end)

  it("adds, subtracts, scales, divides and negates", function()
    local b = Vector2(5, 7)
    assert.equals(Vector2(6, 9), v2 + b)
    assert.equals(v2 + b, Vector2.add(v2, b))
    assert.equals(Vector2(4, 5), b - v2)
    assert.equals(b - v2, Vector2.subtract(b, v2))
    assert.equals(Vector2(2, 4), v2 * 2)
    assert.equals(v2 * 2, 2 * v2)
    assert.equals(v2 * 2, Vector2.multiply(v2, 2))
    assert.equals(Vector2(0.5, 1), v2 / 2)
    assert.equals(v2 / 2, Vector2.divide(v2, 2))
    assert.equals(Vector2(-1, -2), -v2)
    assert.equals(Vector2(5, 14), Vector2.multiply_elements(v2, b))
    assert.equals(b, Vector2.divide_elements(Vector2.multiply_elements(v2, b), v2))
  end)

  it("refuses operands of other types", function()
    local hint = "use Vector2.dot or Vector2.multiply_elements"
    check_error(function() return v2 + nil end, "cannot add Vector2 and nil")
    check_error(function() return 1 + v2 end, "cannot add number 1 and Vector2")
    check_error(function() return v2 - 1 end, "cannot subtract number 1 from Vector2")
    check_error(function() return v2 * v2 end, "cannot multiply Vector2 and Vector2: " .. hint)
    check_error(function() return v2 * nil end, "cannot multiply Vector2 and nil")
    check_error(function() return v2 / nil end, "cannot divide Vector2 by nil")
    check_error(function() return 1 / v2 end, "cannot divide number 1 by Vector2")
    check_error(function() return v2 / v2 end,
      "cannot divide Vector2 by Vector2: use Vector2.divide_elements")
    check_error(function() return v2 % 2 end, "cannot take Vector2 modulo number 2")
    check_error(function() return v2 ^ 2 end, "cannot raise Vector2 to the power of number 2")
    check_error(function() return v2 < v2 end, "cannot compare Vector2 with Vector2")
    check_error(function() return v2 <= 1 end, "cannot compare Vector2 with number 1")
    check_error(function() return #v2 end, "Vector2 has no # operator: use Vector2.length(v)")
    check_error(function() return v2(1) end, "cannot call Vector2 as a function")
  end)

  it("measures lengths and distances", function()
    local b = Vector2(3, 4)
    assert.equals(5, Vector2.length(b))
    assert.equals(whole_length, Vector2.length(whole))
    assert.equals(whole_length * whole_length, Vector2.length_squared(whole))
    assert.equals(whole_length * whole_length, Vector2.dot(whole, whole))
    assert.equals(whole_length, Vector2.distance(v2 + whole, v2))
    assert.equals(whole_length * whole_length, Vector2.distance_squared(v2, v2 + whole))
    assert.equals(25, Vector2.length_squared(b))
    assert.equals(5, Vector2.distance(v2, v2 + b))
    assert.equals(25, Vector2.distance_squared(v2 + b, v2))
    assert.equals(11, Vector2.dot(v2, b))
  end)

  it("normalizes, and does not change zero", function()
    local unit = Vector2.normalize(Vector2(3, 4))
    assert.is_true(Vector2.almost_equal(Vector2(0.6, 0.8), unit))
    assert.equals(Vector2.zero(), Vector2.normalize(Vector2.zero()))
    local direction, length = Vector2.direction_length(Vector2(0, -2))
    assert.equals(Vector2(0, -1), direction)
    assert.equals(2, length)
    direction, length = Vector2.direction_length(whole)
    assert.equals(whole_length, length)
    assert.is_true(Vector2.almost_equal(whole, direction * length))
    assert.is_true(Vector2.almost_equal(whole, Vector2.normalize(whole) * length))
    direction, length = Vector2.direction_length(Vector2.zero())
    assert.equals(Vector2.zero(), direction)
    assert.equals(0, length)
  end)

  it("interpolates and selects field by field", function()
    local b = Vector2(3, 0)
    assert.equals(Vector2(2, 1), Vector2.lerp(v2, b, 0.5))
    assert.equals(Vector2(-1, 4), Vector2.lerp(v2, b, -1))
    assert.equals(Vector2(1, 0), Vector2.min(v2, b))
    assert.equals(Vector2(3, 2), Vector2.max(v2, b))
    assert.equals(Vector2(3, 0), Vector2.abs(b))
  end)

  it("finds numbers that are not finite", function()
    assert.is_true(Vector2.is_valid(v2))
    assert.is_false(Vector2.is_valid(Vector2(0 / 0, 2)))
    assert.is_false(Vector2.is_valid(Vector2(1, 1 / 0)))
  end)

  it("projects onto a direction", function()
    assert.equals(Vector2(0, 2), Vector2.project(v2, Vector2(0, 5)))
    assert.equals(Vector2.zero(), Vector2.project(v2, Vector2.zero()))
    local part = Vector2.project(v2, whole)
    assert.is_true(math.abs(Vector2.dot(v2 - part, whole)) < 1e-5)
    assert.is_true(Vector2.almost_equal(Vector2.normalize(whole), Vector2.normalize(part)))
  end)

  it("reflects at a surface", function()
    assert.equals(Vector2(1, -2), Vector2.reflect(v2, Vector2(0, 1)))
    local normal = Vector2.normalize(whole)
    local mirrored = Vector2.reflect(v2, normal)
    assert.is_true(Vector2.almost_equal(Vector2.project(v2, normal) * -2, mirrored - v2))
    assert.is_true(math.abs(Vector2.length(v2) - Vector2.length(mirrored)) < 1e-5)
  end)

  it("limits a length", function()
    assert.equals(Vector2(0, 3), Vector2.clamp_length(Vector2(0, 9), 3))
    assert.equals(v2, Vector2.clamp_length(v2, 10))
    assert.is_true(Vector2.almost_equal(whole / whole_length, Vector2.clamp_length(whole, 1)))
    assert.equals(whole, Vector2.clamp_length(whole, whole_length))
    assert.equals(Vector2.zero(), Vector2.clamp_length(v2, 0))
    check_error(function() Vector2.clamp_length(v2, -1) end,
      "Vector2.clamp_length: argument #2 'max_length' must be 0 or more, got number -1")
  end)

  it("moves towards a target and stops there", function()
    assert.equals(Vector2(0, 3), Vector2.move_towards(Vector2.zero(), Vector2(0, 9), 3))
    assert.equals(v2, Vector2.move_towards(Vector2.zero(), v2, 100))
    assert.equals(v2 + whole, Vector2.move_towards(v2, v2 + whole, whole_length))
    assert.is_true(Vector2.almost_equal(v2 + whole / whole_length,
      Vector2.move_towards(v2, v2 + whole, 1)))
    check_error(function() Vector2.move_towards(v2, v2, -1) end,
      "Vector2.move_towards: argument #3 'max_distance' must be 0 or more, got number -1")
  end)

  it("has a cross product that distinguishes left from right", function()
    assert.equals(1, Vector2.cross(Vector2(1, 0), Vector2(0, 1)))
    assert.equals(-1, Vector2.cross(Vector2(0, 1), Vector2(1, 0)))
  end)

  it("measures angles counterclockwise", function()
    assert.equals(math.pi / 2, Vector2.angle(Vector2(1, 0), Vector2(0, 1)))
    assert.equals(-math.pi / 2, Vector2.angle(Vector2(0, 1), Vector2(1, 0)))
    assert.equals(0, Vector2.angle(v2, Vector2.zero()))
  end)

  it("rotates counterclockwise", function()
    assert.is_true(Vector2.almost_equal(Vector2(0, 1), Vector2.from_angle(math.pi / 2)))
    assert.is_true(Vector2.almost_equal(Vector2(-2, 1), Vector2.rotate(v2, math.pi / 2)))
    local turned = Vector2.rotate(v2, 0.5)
    assert.is_true(math.abs(Vector2.angle(v2, turned) - 0.5) < 1e-6)
    assert.is_true(math.abs(Vector2.length(v2) - Vector2.length(turned)) < 1e-6)
  end)

  it("reports the wrong argument", function()
    check_arguments(Vector2, "Vector2", {
      { "x", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "y", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "element", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "element", { v2, "no" }, "#2 'i' must be a whole number from 1 to 2, got string \"no\"" },
      { "to_elements", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "as_table", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "to_string", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "with_x", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "with_x", { v2, "no" }, "#2 'x' must be number, got string \"no\"" },
      { "with_y", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "with_y", { v2, "no" }, "#2 'y' must be number, got string \"no\"" },
      { "with_element", { 1, 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "with_element", { v2, "no", 1 },
        "#2 'i' must be a whole number from 1 to 2, got string \"no\"" },
      { "with_element", { v2, 1, "no" }, "#3 'value' must be number, got string \"no\"" },
      { "add", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "add", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "subtract", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "subtract", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "multiply", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "multiply", { v2, "no" }, "#2 'scale' must be number, got string \"no\"" },
      { "divide", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "divide", { v2, "no" }, "#2 'divisor' must be number, got string \"no\"" },
      { "multiply_elements", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "multiply_elements", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "divide_elements", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "divide_elements", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "dot", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "dot", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "cross", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "cross", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "length", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "length_squared", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "distance", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "distance", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "distance_squared", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "distance_squared", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "normalize", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "direction_length", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "lerp", { 1, v2, 1 }, "#1 'a' must be Vector2, got number 1" },
      { "lerp", { v2, 1, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "lerp", { v2, v2, "no" }, "#3 't' must be number, got string \"no\"" },
      { "min", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "min", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "max", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "max", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "abs", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "equal", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "equal", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "almost_equal", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "almost_equal", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "almost_equal", { v2, v2, "no" }, "#3 'tolerance' must be number, got string \"no\"" },
      { "is_valid", { 1 }, "#1 'v' must be Vector2, got number 1" },
      { "angle", { 1, v2 }, "#1 'a' must be Vector2, got number 1" },
      { "angle", { v2, 1 }, "#2 'b' must be Vector2, got number 1" },
      { "from_angle", { "no" }, "#1 'angle' must be number, got string \"no\"" },
      { "rotate", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "rotate", { v2, "no" }, "#2 'angle' must be number, got string \"no\"" },
      { "project", { 1, v2 }, "#1 'v' must be Vector2, got number 1" },
      { "project", { v2, 1 }, "#2 'onto' must be Vector2, got number 1" },
      { "reflect", { 1, v2 }, "#1 'v' must be Vector2, got number 1" },
      { "reflect", { v2, 1 }, "#2 'normal' must be Vector2, got number 1" },
      { "clamp_length", { 1, 1 }, "#1 'v' must be Vector2, got number 1" },
      { "clamp_length", { v2, "no" }, "#2 'max_length' must be number, got string \"no\"" },
      { "move_towards", { 1, v2, 1 }, "#1 'from' must be Vector2, got number 1" },
      { "move_towards", { v2, 1, 1 }, "#2 'to' must be Vector2, got number 1" },
      { "move_towards", { v2, v2, "no" }, "#3 'max_distance' must be number, got string \"no\"" },
    })
  end)
end)
