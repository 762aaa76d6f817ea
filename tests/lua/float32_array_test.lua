-- Suite of Float32Array: growing, reading, writing and computing with whole arrays.

local function check_error(fn, expected)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.is_true(tostring(message):find(expected, 1, true) ~= nil, tostring(message))
end
local function elements(array)
  return Float32Array.as_table(array)
end

describe("Float32Array", function()
  it("is created empty, with a size, or from a list", function()
    assert.equals(0, #Float32Array())
    assert.same({ 0, 0, 0 }, elements(Float32Array(3)))
    assert.same({ 1, 2, 3 }, elements(Float32Array({ 1, 2, 3 })))
    check_error(function() Float32Array(-1) end,
      "Float32Array: argument #1 'size' must be a whole number of 0 or more, got number -1")
    check_error(function() Float32Array(1.5) end, "must be a whole number")
    check_error(function() Float32Array(1e9) end,
      "Float32Array: 1000000000 elements are too many: the limit is 67108864")
    check_error(function() Float32Array("no") end,
      "Float32Array: argument #1 'source' must be a size or a list of numbers, got string \"no\"")
    check_error(function() Float32Array({ 1, "2" }) end,
      "Float32Array: element 2 of the list must be number, got string \"2\"")
  end)

  it("grows at its end", function()
    local array = Float32Array()
    for i = 1, 1000 do array:push(i) end
    array:push(1001, 1002, 1003)
    array:push()
    assert.equals(1003, #array)
    assert.equals(1003, array:size())
    assert.equals(1003, Float32Array.size(array))
    for i = 1, 1003 do assert.equals(i, array[i]) end
    check_error(function() array:push(1, "2") end,
      "Float32Array.push: argument #3 'value' must be number, got string \"2\"")
    assert.equals(1003, #array)
  end)

  it("reads and writes elements as 32-bit floats", function()
    local array = Float32Array({ 1, 2, 3 })
    array[2] = 0.1
    assert.equals(array[2], array:get(2))
    assert.is_true(array[2] ~= 0.1 and math.abs(array[2] - 0.1) < 1e-8)
    array:set(3, 9)
    assert.equals(9, Float32Array.get(array, 3))
    Float32Array.set(array, 1, -1)
    assert.equals(-1, array[1])
  end)

  it("refuses indices out of range", function()
    local array = Float32Array({ 1, 2, 3 })
    local message = " is not a whole number from 1 to the size, 3"
    for _, i in ipairs({ 0, 4, -1, 1.5, 1e18, 1 / 0, 0 / 0 }) do
      check_error(function() return array[i] end, message)
      check_error(function() array[i] = 1 end, message)
      check_error(function() array:get(i) end, message)
      check_error(function() array:set(i, 1) end, message)
    end
    check_error(function() array:get("1") end, "Float32Array.get: argument #2 'i' must be number")
    check_error(function() array:set(1, "x") end,
      "Float32Array.set: argument #3 'value' must be number, got string \"x\"")
    check_error(function() array[1] = "x" end,
      "Float32Array: an element must be number, got string \"x\"")
    check_error(function() array.name = 1 end, "Float32Array: argument #2 'i' must be number")
    check_error(function() return array.name end,
      "Float32Array has no field 'name': it has numbers from 1, and its functions")
  end)

  it("is resized, with zeros for new elements", function()
    local array = Float32Array({ 1, 2, 3 })
    array:resize(2)
    assert.same({ 1, 2 }, elements(array))
    array:resize(4)
    assert.same({ 1, 2, 0, 0 }, elements(array))
    array:resize(100)
    assert.equals(0, array[100])
    Float32Array.resize(array, 0)
    assert.equals(0, #array)
    check_error(function() array:resize(-1) end,
      "Float32Array.resize: argument #2 'size' must be a whole number of 0 or more, got number -1")
    check_error(function() array:resize(1e9) end, "are too many")
  end)

  it("swaps contents", function()
    local a, b = Float32Array({ 1 }), Float32Array({ 2, 3 })
    Float32Array.swap(a, b)
    assert.same({ 2, 3 }, elements(a))
    assert.same({ 1 }, elements(b))
  end)

  it("computes element by element into a new array", function()
    local a, b = Float32Array({ 1, 2, 3 }), Float32Array({ 4, 5, 6 })
    assert.same({ 5, 7, 9 }, elements(a + b))
    assert.same({ 5, 7, 9 }, elements(Float32Array.add(a, b)))
    assert.same({ -3, -3, -3 }, elements(a - b))
    assert.same({ -3, -3, -3 }, elements(Float32Array.sub(a, b)))
    assert.same({ 4, 10, 18 }, elements(a * b))
    assert.same({ 4, 10, 18 }, elements(Float32Array.mul(a, b)))
    assert.same({ 4, 2.5, 2 }, elements(b / a))
    assert.same({ 4, 2.5, 2 }, elements(Float32Array.div(b, a)))
    assert.same({ -1, -2, -3 }, elements(-a))
    assert.same({ 1, 2, 3 }, elements(Float32Array.sqrt(Float32Array({ 1, 4, 9 }))))
    assert.same({ 1, 2, 3 }, elements(a))
  end)

  it("accepts a number as either operand", function()
    local a = Float32Array({ 1, 2, 4 })
    assert.same({ 11, 12, 14 }, elements(a + 10))
    assert.same({ 9, 8, 6 }, elements(10 - a))
    assert.same({ 2, 4, 8 }, elements(2 * a))
    assert.same({ 8, 4, 2 }, elements(8 / a))
    assert.same({ 0.5, 1, 2 }, elements(a / 2))
  end)

  it("refuses arrays of other sizes and other types", function()
    local a = Float32Array({ 1, 2 })
    check_error(function() return a + Float32Array(3) end,
      "Float32Array.add: the arrays have different sizes, 2 and 3")
    check_error(function() return a + nil end,
      "Float32Array.add: argument #2 'b' must be Float32Array, got nil")
    local operations = { "add", "sub", "mul", "div" }
    for _, name in ipairs(operations) do
      check_error(function() Float32Array[name]("x", a) end,
        "Float32Array." .. name .. ": argument #1 'a' must be Float32Array, got string \"x\"")
      check_error(function() Float32Array[name](a, {}) end,
        "Float32Array." .. name .. ": argument #2 'b' must be Float32Array, got table")
      check_error(function() Float32Array[name](1, 2) end, "must be Float32Array, got number")
    end
    check_error(function() return a < a end, "cannot compare Float32Array with Float32Array")
  end)

  it("interleaves arrays and numbers", function()
    local x, y = Float32Array({ 1, 2 }), Float32Array({ 3, 4 })
    assert.same({ 1, 3, 0, 2, 4, 0 }, elements(Float32Array.interleave({ x, y, 0 })))
    check_error(function() Float32Array.interleave({ x, Float32Array(3) }) end,
      "Float32Array.interleave: source 2 has 3 elements, and the ones before it 2")
    check_error(function() Float32Array.interleave({ x, "y" }) end,
      "Float32Array.interleave: source 2 must be Float32Array or number, got string \"y\"")
    check_error(function() Float32Array.interleave({ 1, 2 }) end,
      "Float32Array.interleave: the list must hold an array, not only numbers")
    check_error(function() Float32Array.interleave(1) end,
      "Float32Array.interleave: argument #1 'sources' must be a list of arrays, got number 1")
  end)

  it("raises for values that are not arrays", function()
    local calls = {
      { "size" }, { "resize", 1 }, { "get", 1 }, { "set", 1, 1 }, { "push", 1 }, { "sqrt" },
      { "as_table" },
    }
    for _, call in ipairs(calls) do
      check_error(function() Float32Array[call[1]](nil, call[2], call[3]) end,
        "Float32Array." .. call[1] .. ": argument #1 'array' must be Float32Array, got nil")
    end
    check_error(function() Float32Array.swap(Float32Array(), 1) end,
      "Float32Array.swap: argument #2 'b' must be Float32Array, got number 1")
  end)

  it("equals only itself", function()
    local a = Float32Array({ 1 })
    assert.is_true(a == a)
    assert.is_false(a == Float32Array({ 1 }))
    assert.is_false(a == nil)
    assert.is_false(a == 1)
  end)

  it("prints its first elements", function()
    assert.equals("Float32Array(0.1, 2)", tostring(Float32Array({ 0.1, 2 })))
    assert.equals("Float32Array(0, 0, 0, 0, 0, 0, 0, 0, … 20 in all)", tostring(Float32Array(20)))
    assert.equals("a Float32Array()", "a " .. Float32Array())
  end)

  it("keeps its contents during garbage collection", function()
    local arrays = {}
    for i = 1, 50 do
      arrays[i] = Float32Array({ i, i + 1 })
      for _ = 1, 200 do Float32Array(16) end
    end
    collectgarbage()
    for i = 1, 50 do assert.same({ i, i + 1 }, elements(arrays[i])) end
  end)
end)
