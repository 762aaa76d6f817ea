-- Suite of Color: components, operators, notations, and the messages for invalid use.

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
local c = Color(128, 10, 20, 30)

describe("Color", function()
  it("is created from r, g, b, or a, r, g, b", function()
    assert.same({ 255, 1, 2, 3 }, { Color.to_elements(Color(1, 2, 3)) })
    assert.same({ 4, 1, 2, 3 }, { Color.to_elements(Color(4, 1, 2, 3)) })
    assert.same({ 128, 10, 20, 30 }, Color.as_table(c))
  end)

  it("is created from a text, with the alpha last, and from the values of files", function()
    local orange = Color(64, 255, 128, 0)
    assert.equals(orange, Color("#ff800040"))
    assert.equals(Color(255, 136, 0), Color("#f80"))
    assert.equals(orange, Color.rgba(255, 128, 0, 64))
    assert.equals(Color(255, 128, 0), Color.rgba(255, 128, 0))
    assert.equals(orange, Color.from_data("#ff800040"))
    assert.equals(orange, Color.from_data({ 255, 128, 0, 64 }))
    assert.equals(Color(255, 128, 0), Color.from_data({ 255, 128, 0 }))
    check_error(function() Color("red") end, 'Color: string "red" is not a colour: write "#rgb"')
    check_error(function() Color.from_data("#12") end, "Color.from_data: string")
    check_error(function() Color.from_data(3) end,
      'Color.from_data: argument #1 \'value\' must be text such as "#ff8000", or a list, got')
    check_error(function() Color.from_data({ 1, 2 }) end, "got 2 values")
    check_error(function() Color.from_data({ 1, 2, 256 }) end,
      "part #3 must be a number from 0 to 255, got number 256")
    check_error(function() Color.from_data({ 1, 2, "3" }) end, "part #3 must be a number")
    check_error(function() Color.rgba(1, 2) end, "Color.rgba: argument #3 'b' must be number")
    check_error(function() Color.rgba(1, 2, 3, "4") end, "argument #4 'a' must be number")
  end)

  it("refuses anything else", function()
    check_error(function() Color() end,
      "Color: takes (r, g, b) or (a, r, g, b), 0 to 255 each, or one text such as \"#ff8000\", "
        .. "got 0 arguments")
    check_error(function() Color(1, 2) end, "got 2 arguments")
    check_error(function() Color(1, 2, 3, 4, 5) end, "got 5 arguments")
    check_error(function() Color(1, 2, "3") end,
      "Color: argument #3 'b' must be number, got string \"3\"")
    check_error(function() Color(1, 2, 3, nil) end,
      "Color: argument #4 'b' must be number, got nil")
  end)

  it("returns its components by name and by function", function()
    assert.same({ 128, 10, 20, 30 }, { c.a, c.r, c.g, c.b })
    assert.same({ 128, 10, 20, 30 }, { Color.a(c), Color.r(c), Color.g(c), Color.b(c) })
    check_error(function() return c.x end, "Color has no field 'x': it has a, r, g, b")
    check_error(function() return c.lerp end, "Color has no field 'lerp': call Color.lerp(c)")
  end)

  it("is immutable, and returns changed copies", function()
    check_error(function() c.a = 0 end,
      "Colors are values: use Color.with_alpha(c, value), which returns a new one")
    assert.equals(Color(0, 10, 20, 30), Color.with_alpha(c, 0))
    assert.equals(Color(128, 0, 20, 30), Color.with_red(c, 0))
    assert.equals(Color(128, 10, 0, 30), Color.with_green(c, 0))
    assert.equals(Color(128, 10, 20, 0), Color.with_blue(c, 0))
  end)

  it("compares by its components, and differs from anything else", function()
    assert.is_true(c == Color(128, 10, 20, 30))
    assert.is_false(c == Color(10, 20, 30))
    assert.is_false(c == nil)
    assert.is_false(c == 1)
    assert.is_false(c == Vector4(128, 10, 20, 30))
    assert.is_true(Color.equal(c, c))
    assert.is_false(Color.equal(c, Color.white()))
    assert.is_true(Color.almost_equal(c, Color(128, 10, 20, 30.005)))
    assert.is_false(Color.almost_equal(c, Color(128, 10, 20, 31)))
    assert.is_true(Color.almost_equal(c, Color(128, 10, 20, 31), 1))
    check_error(function() Color.almost_equal(c, c, "no") end,
      "Color.almost_equal: argument #3 'tolerance' must be number")
  end)

  it("prints its components, alpha first", function()
    assert.equals("Color(128, 10, 20, 30)", tostring(c))
    assert.equals("Color(128, 10, 20, 30)", Color.to_string(c))
    assert.equals("c Color(128, 10, 20, 30)", "c " .. c)
  end)

  it("darkens with a number and tints with a colour", function()
    assert.equals(Color(128, 5, 10, 15), c * 0.5)
    assert.equals(c * 0.5, 0.5 * c)
    assert.equals(c * 0.5, Color.multiply(c, 0.5))
    assert.equals(c, c * Color.white())
    assert.equals(Color(255, 255, 0, 0), Color.yellow() * Color.magenta())
    assert.equals(c * Color.white(), Color.tint(c, Color.white()))
  end)

  it("refuses operands of other types", function()
    check_error(function() return c * nil end, "cannot multiply Color and nil")
    check_error(function() return c + c end, "cannot add Color and Color: use Color.lerp")
    check_error(function() return c - 1 end, "cannot subtract number 1 from Color")
    check_error(function() return c / 2 end,
      "cannot divide Color by number 2: use c * (1 / divisor)")
    check_error(function() return -c end, "cannot negate Color")
    check_error(function() return c < c end, "cannot compare Color with Color")
    check_error(function() return #c end, "Color has no # operator")
  end)

  it("interpolates", function()
    assert.equals(Color(64, 5, 10, 15), Color.lerp(c, Color.transparent(), 0.5))
    assert.equals(c, Color.lerp(c, Color.white(), 0))
    assert.equals(Color.white(), Color.lerp(c, Color.white(), 1))
  end)

  it("reads and writes hexadecimal notation", function()
    assert.equals(Color(255, 128, 0), Color.from_hex("#ff8000"))
    assert.equals(Color(255, 128, 0), Color.from_hex("FF8000"))
    assert.equals(Color(255, 136, 0), Color.from_hex("#f80"))
    assert.equals(Color(64, 255, 128, 0), Color.from_hex("#ff800040"))
    assert.equals("#ff8000", Color.to_hex(Color(255, 128, 0)))
    assert.equals("#ff800040", Color.to_hex(Color(64, 255, 128, 0)))
    assert.equals("#ff0003", Color.to_hex(Color(300, -5, 2.6)))
    for _, bad in ipairs({ "", "#", "red", "#ff80", "#ff8000ff0", "#gg0000", "##ff8000" }) do
      check_error(function() Color.from_hex(bad) end, " is not a colour: write \"#rgb\"")
    end
    check_error(function() Color.from_hex(255) end,
      "Color.from_hex: argument #1 'hex' must be string, got number 255")
    check_error(function() Color.to_hex(Color(0 / 0, 0, 0)) end,
      "Color.to_hex: the colour is not finite: Color(255, nan, 0, 0)")
  end)

  it("converts from and to hue, saturation and value", function()
    assert.equals(Color.red(), Color.from_hsv(0, 1, 1))
    assert.equals(Color.green(), Color.from_hsv(120, 1, 1))
    assert.equals(Color.blue(), Color.from_hsv(-120, 1, 1))
    assert.equals(Color.black(), Color.from_hsv(77, 1, 0))
    assert.same({ 0, 0, 1 }, { Color.to_hsv(Color.white()) })
    assert.same({ 0, 0, 0 }, { Color.to_hsv(Color.black()) })
    assert.same({ 300, 1, 1 }, { Color.to_hsv(Color.magenta()) })
    for _, color in ipairs({ Color(1, 2, 3), Color(200, 10, 100), Color(9, 200, 30) }) do
      local h, s, v = Color.to_hsv(color)
      assert.is_true(Color.almost_equal(color, Color.from_hsv(h, s, v)))
    end
  end)

  it("has named constants", function()
    assert.equals(Color(255, 255, 255), Color.white())
    assert.equals(Color(0, 0, 0), Color.black())
    assert.equals(Color(128, 128, 128), Color.gray())
    assert.equals(Color(255, 0, 0), Color.red())
    assert.equals(Color(0, 255, 0), Color.green())
    assert.equals(Color(0, 0, 255), Color.blue())
    assert.equals(Color(255, 255, 0), Color.yellow())
    assert.equals(Color(0, 255, 255), Color.cyan())
    assert.equals(Color(255, 0, 255), Color.magenta())
    assert.equals(Color(255, 165, 0), Color.orange())
    assert.equals(Color(0, 0, 0, 0), Color.transparent())
  end)

  it("converts to a vector for materials", function()
    assert.equals(Vector3(1, 0, 1), Color.to_vector3(Color.magenta()))
    assert.equals(Vector4(1, 0, 1, 0), Color.to_vector4(Color(0, 255, 0, 255)))
  end)

  it("finds numbers that are not finite", function()
    assert.is_true(Color.is_valid(c))
    assert.is_false(Color.is_valid(Color(0 / 0, 0, 0)))
    assert.is_false(Color.is_valid(Color(1 / 0, 0, 0, 0)))
  end)

  it("reports the wrong argument", function()
    check_arguments(Color, "Color", {
      { "a", { 1 }, "#1 'c' must be Color, got number 1" },
      { "r", { 1 }, "#1 'c' must be Color, got number 1" },
      { "g", { 1 }, "#1 'c' must be Color, got number 1" },
      { "b", { 1 }, "#1 'c' must be Color, got number 1" },
      { "with_alpha", { 1, 1 }, "#1 'c' must be Color, got number 1" },
      { "with_alpha", { c, "no" }, "#2 'alpha' must be number, got string \"no\"" },
      { "with_red", { 1, 1 }, "#1 'c' must be Color, got number 1" },
      { "with_red", { c, "no" }, "#2 'red' must be number, got string \"no\"" },
      { "with_green", { 1, 1 }, "#1 'c' must be Color, got number 1" },
      { "with_green", { c, "no" }, "#2 'green' must be number, got string \"no\"" },
      { "with_blue", { 1, 1 }, "#1 'c' must be Color, got number 1" },
      { "with_blue", { c, "no" }, "#2 'blue' must be number, got string \"no\"" },
      { "to_elements", { 1 }, "#1 'c' must be Color, got number 1" },
      { "as_table", { 1 }, "#1 'c' must be Color, got number 1" },
      { "to_string", { 1 }, "#1 'c' must be Color, got number 1" },
      { "equal", { 1, c }, "#1 'a' must be Color, got number 1" },
      { "equal", { c, 1 }, "#2 'b' must be Color, got number 1" },
      { "almost_equal", { 1, c }, "#1 'a' must be Color, got number 1" },
      { "almost_equal", { c, 1 }, "#2 'b' must be Color, got number 1" },
      { "almost_equal", { c, c, "no" }, "#3 'tolerance' must be number, got string \"no\"" },
      { "is_valid", { 1 }, "#1 'c' must be Color, got number 1" },
      { "lerp", { 1, c, 1 }, "#1 'a' must be Color, got number 1" },
      { "lerp", { c, 1, 1 }, "#2 'b' must be Color, got number 1" },
      { "lerp", { c, c, "no" }, "#3 't' must be number, got string \"no\"" },
      { "multiply", { 1, 1 }, "#1 'c' must be Color, got number 1" },
      { "multiply", { c, "no" }, "#2 'factor' must be number, got string \"no\"" },
      { "tint", { 1, c }, "#1 'a' must be Color, got number 1" },
      { "tint", { c, 1 }, "#2 'b' must be Color, got number 1" },
      { "to_hex", { 1 }, "#1 'c' must be Color, got number 1" },
      { "from_hsv", { "no", 1, 1 }, "#1 'h' must be number, got string \"no\"" },
      { "from_hsv", { 1, "no", 1 }, "#2 's' must be number, got string \"no\"" },
      { "from_hsv", { 1, 1, "no" }, "#3 'v' must be number, got string \"no\"" },
      { "to_hsv", { 1 }, "#1 'c' must be Color, got number 1" },
      { "to_vector3", { 1 }, "#1 'c' must be Color, got number 1" },
      { "to_vector4", { 1 }, "#1 'c' must be Color, got number 1" },
    })
  end)
end)
