-- Suite of IdString32 and IdString64: published hashes, ids as values and as keys, invalid use.

local function check_error(fn, expected)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.is_true(tostring(message):find(expected, 1, true) ~= nil, tostring(message))
end

describe("IdString32", function()
  it("has the published hashes", function()
    assert.equals("5e43bd96", IdString32.to_hex(IdString32("root_point")))
    assert.equals("00000000", IdString32.to_hex(IdString32("")))
  end)

  it("is equal if the names are equal", function()
    local id = IdString32("root_point")
    assert.is_true(id == IdString32("root" .. "_point"))
    assert.is_true(id ~= IdString32("root_points"))
    assert.is_true(IdString32.equal(id, IdString32.from_hex("5E43BD96")))
    assert.is_false(IdString32.equal(id, IdString32("camera")))
    assert.is_false(id == nil or id == 1 or id == "root_point" or id == IdString64("root_point"))
  end)

  it("can be the key of a table", function()
    local seen = { [IdString32("root_point")] = 1 }
    collectgarbage()
    assert.equals(1, seen[IdString32("root_point")])
    assert.equals(1, seen[IdString32.from_hex("5e43bd96")])
    assert.is_nil(seen[IdString32("camera")])
  end)

  it("prints as its hash", function()
    assert.equals("#ID[5e43bd96]", tostring(IdString32("root_point")))
    assert.equals("at #ID[5e43bd96]", "at " .. IdString32("root_point"))
  end)

  it("returns its name if it is known", function()
    local id = IdString32("left_hand")
    assert.equals("left_hand", IdString32.to_string(id))
    assert.equals("left_hand", IdString32.to_string(IdString32.from_hex(IdString32.to_hex(id))))
    assert.is_nil(IdString32.to_string(IdString32.from_hex("01234567")))
  end)

  it("accepts names of any bytes", function()
    assert.is_true(IdString32("\0a") ~= IdString32("\0b"))
    assert.equals("\255", IdString32.to_string(IdString32("\255")))
  end)

  it("keeps the first of two names with one hash, and warns", function()
    local first, second = IdString32("enemy_41935"), IdString32("enemy_133986")
    assert.is_true(first == second)
    assert.equals("enemy_41935", IdString32.to_string(second))
  end)

  it("reports invalid arguments", function()
    check_error(function() IdString32() end,
      "IdString32: argument #1 'text' must be string, got nil")
    check_error(function() IdString32(3) end, "must be string, got number 3")
    check_error(function() IdString32("a", "b") end, "IdString32: takes 1 argument, got 2")
    check_error(function() IdString32.to_hex("a") end,
      "IdString32.to_hex: argument #1 'id' must be IdString32, got string \"a\": "
        .. "make it with IdString32(text)")
    check_error(function() IdString32.to_string(nil) end, "must be IdString32, got nil")
    check_error(function() IdString32.equal(IdString32("a"), IdString64("a")) end,
      "IdString32.equal: argument #2 'b' must be IdString32, got IdString64")
    for _, hex in ipairs({ "", "5e43bd9", "5e43bd966", "5e43bd9g", "+5e43bd9", " 5e43bd9" }) do
      check_error(function() IdString32.from_hex(hex) end,
        "IdString32.from_hex: argument #1 'hex' must be 8 hexadecimal digits, got string")
    end
  end)

  it("is an immutable value", function()
    local id = IdString32("root_point")
    check_error(function() id.name = "x" end, "IdString32s are values: make another")
    check_error(function() return id.name end, "IdString32 has no field 'name'")
    check_error(function() return id.to_hex end, "call IdString32.to_hex(id)")
    check_error(function() return id < id end, "use IdString32.to_hex(id)")
    check_error(function() Math.noise(id) end, "must be number, got IdString32")
  end)
end)

describe("IdString64", function()
  it("has the published hashes", function()
    local published = {
      ["content/levels/city/taxi.unit"] = "9d01c901e9e2827f",
      lua = "a14e8dfa2cd117e2",
      unit = "e0a48d0be9a7453f",
      texture = "cd4238c6a0c69e32",
      [""] = "0000000000000000",
    }
    for name, hex in pairs(published) do
      assert.equals(hex, IdString64.to_hex(IdString64(name)))
      assert.is_true(IdString64(name) == IdString64.from_hex(hex))
    end
    assert.equals("#ID[a14e8dfa2cd117e2]", tostring(IdString64("lua")))
  end)

  it("keeps all its bits", function()
    for _, hex in ipairs({ "ffffffffffffffff", "8000000000000000", "0000000000000001" }) do
      assert.equals(hex, IdString64.to_hex(IdString64.from_hex(hex)))
    end
    assert.is_false(IdString64.equal(IdString64.from_hex("ffffffffffffffff"),
      IdString64.from_hex("fffffffffffffffe")))
    assert.is_true(IdString64.equal(IdString64("lua"), IdString64("lua")))
  end)

  it("returns its name if it is known, and can be a key", function()
    assert.equals("units/barrel", IdString64.to_string(IdString64("units/barrel")))
    assert.is_nil(IdString64.to_string(IdString64.from_hex("0123456789abcdef")))
    local seen = { [IdString64("units/barrel")] = true }
    assert.is_true(seen[IdString64("units/barrel")])
  end)

  it("reports invalid arguments", function()
    check_error(function() IdString64({}) end, "IdString64: argument #1 'text' must be string")
    check_error(function() IdString64.from_hex("5e43bd96") end,
      "IdString64.from_hex: argument #1 'hex' must be 16 hexadecimal digits")
    check_error(function() IdString64.to_hex(IdString32("a")) end,
      "IdString64.to_hex: argument #1 'id' must be IdString64, got IdString32")
    check_error(function() IdString64.to_string(1) end, "must be IdString64, got number 1")
    check_error(function() IdString64.equal(nil, IdString64("a")) end, "argument #1 'a'")
  end)
end)
