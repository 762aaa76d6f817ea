-- Suite of the boxes, which hold one value each.

local function check_error(fn, expected)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.is_true(tostring(message):find(expected, 1, true) ~= nil, tostring(message))
end
-- Each row: the box, its name, its initial value, two values, and the numbers of the second value.
local kinds = {
  { Vector2Box, "Vector2", Vector2(), Vector2(1, 2), Vector2(3, 4), { 3, 4 } },
  { Vector3Box, "Vector3", Vector3(), Vector3(1, 2, 3), Vector3(4, 5, 6), { 4, 5, 6 } },
  { Vector4Box, "Vector4", Vector4(), Vector4(1, 2, 3, 4), Vector4(5, 6, 7, 8), { 5, 6, 7, 8 } },
  { QuaternionBox, "Quaternion", Quaternion(), Quaternion(Vector3.up(), 1),
    Quaternion.from_elements(5, 6, 7, 8), { 5, 6, 7, 8 } },
}

describe("boxes", function()
  it("store a value and can store another", function()
    for _, kind in ipairs(kinds) do
      local Box, _, start, first, second, numbers = unpack(kind)
      assert.equals(start, Box():unbox())
      local box = Box(first)
      assert.equals(first, box:unbox())
      assert.equals(first, Box.unbox(box))
      box:store(second)
      assert.equals(second, box:unbox())
      Box.store(box, first)
      assert.equals(first, box:unbox())
      box:store(unpack(numbers))
      assert.equals(second, box:unbox())
      assert.equals(second, Box(unpack(numbers)):unbox())
    end
  end)

  it("show the fields of their value", function()
    for _, kind in ipairs(kinds) do
      local Box, _, _, _, second, numbers = unpack(kind)
      local box = Box(second)
      local names = { "x", "y", "z", "w" }
      for i, number in ipairs(numbers) do
        assert.equals(number, box[i])
        assert.equals(number, box[names[i]])
      end
    end
  end)

  it("print their value", function()
    assert.equals("Vector3Box(Vector3(1, 2, 3))", tostring(Vector3Box(1, 2, 3)))
    assert.equals("at Vector2Box(Vector2(1, 2))", "at " .. Vector2Box(1, 2))
  end)

  it("refuse other values", function()
    for _, kind in ipairs(kinds) do
      local Box, name, _, first = unpack(kind)
      local v = name == "Quaternion" and "q" or "v"
      local box = Box(first)
      check_error(function() Box(nil) end,
        name .. "Box: argument #1 '" .. v .. "' must be " .. name .. ", got nil")
      check_error(function() Box(1, "no") end,
        name .. "Box: argument #2 'y' must be number, got string \"no\"")
      check_error(function() box:store() end,
        name .. "Box.store: argument #2 '" .. v .. "' must be " .. name .. ", got nil")
      local numbers, names = kind[6], { "x", "y", "z", "w" }
      for i = 2, #numbers do
        local wrong = { unpack(numbers) }
        wrong[i] = "no"
        local message = " '" .. names[i] .. "' must be number, got string \"no\""
        check_error(function() box:store(unpack(wrong)) end,
          name .. "Box.store: argument #" .. i + 1 .. message)
        check_error(function() Box(unpack(wrong)) end, name .. "Box: argument #" .. i .. message)
      end
      check_error(function() box:store(1) end,
        name .. "Box.store: argument #3 'y' must be number, got nil")
      assert.equals(first, box:unbox())
    end
  end)

  it("name the constructor in messages", function()
    for _, kind in ipairs(kinds) do
      local Box, name, _, first = unpack(kind)
      check_error(function() Box.unbox(first) end,
        name .. "Box.unbox: argument #1 'box' must be " .. name .. "Box, got " .. name
          .. ": call it as box:unbox(...)")
      check_error(function() Box(first).store(first) end, ": call it as box:store(...)")
      check_error(function() Box.unbox({}) end, "must be " .. name .. "Box, got table")
    end
  end)

  it("have no other fields and refuse assignments", function()
    local box = Vector3Box(1, 2, 3)
    check_error(function() return box.w end,
      "Vector3Box has no field 'w': use :unbox() and :store(value)")
    check_error(function() return box[4] end, "Vector3Box has no field ")
    check_error(function() box.x = 5 end, "cannot set x of a Vector3Box: use :store(value)")
  end)
end)

describe("Matrix4x4Box", function()
  local m = Matrix4x4.from_translation(Vector3(1, 2, 3))

  it("stores a matrix and can store another", function()
    assert.equals(Matrix4x4.identity(), Matrix4x4Box():unbox())
    local box = Matrix4x4Box(m)
    assert.equals(m, box:unbox())
    assert.equals(Vector3(1, 2, 3), box.translation)
    box:store(Matrix4x4.identity())
    assert.equals(Matrix4x4.identity(), Matrix4x4Box.unbox(box))
  end)

  it("refuses other values", function()
    check_error(function() Matrix4x4Box(nil) end,
      "Matrix4x4Box: argument #1 'm' must be Matrix4x4, got nil")
    check_error(function() Matrix4x4Box(m):store(1) end,
      "Matrix4x4Box.store: argument #2 'm' must be Matrix4x4, got number 1")
    check_error(function() Matrix4x4Box.unbox(m) end,
      "Matrix4x4Box.unbox: argument #1 'box' must be Matrix4x4Box, got Matrix4x4")
    check_error(function() Matrix4x4Box.store(m, m) end, "call it as box:store(...)")
  end)
end)
