-- Suite of differences, which a failed comparison adds to its message.

local TITLE = "Difference (- expected, + passed in):\n"

local function difference(expected, actual)
  local text = assert:difference(expected, actual)
  return text and text:sub(#TITLE + 1)
end

describe("differences of tables", function()
  it("name the path and both values", function()
    assert.equal(
      '  at .players[2].name\n    - "bob"\n    + "bert"',
      difference({ players = { { name = "ann" }, { name = "bob" } } },
        { players = { { name = "ann" }, { name = "bert" } } })
    )
  end)

  it("distinguish missing and unexpected keys", function()
    assert.equal(
      '  at .a\n    - 1   (missing)\n  at ["b c"]\n    + true   (not expected)',
      difference({ a = 1 }, { ["b c"] = true })
    )
  end)

  it("show elements that a list gained or lost instead of every index", function()
    assert.equal('  at [1]\n    + 0   (not expected)', difference({ 1, 2, 3 }, { 0, 1, 2, 3 }))
    assert.equal('  at [2]\n    - 2   (missing)', difference({ 1, 2, 3 }, { 1, 3 }))
  end)

  it("distinguish a string from a number", function()
    assert.equal('  at [1]\n    - "1"\n    + 1', difference({ "1" }, { 1 }))
  end)

  it("are in the order of the keys", function()
    local expected, actual = {}, {}
    for _, key in ipairs({ "c", "a", "b" }) do
      expected[key], actual[key] = 1, 2
    end
    local keys = {}
    for key in difference(expected, actual):gmatch("at %.(%a)") do
      keys[#keys + 1] = key
    end
    assert.same({ "a", "b", "c" }, keys)
  end)

  it("stop after ten and count the others", function()
    local expected, actual = {}, {}
    for i = 1, 25 do
      expected[i], actual[i] = i, -i
    end
    assert.matches("%.%.%. and 15 more$", difference(expected, actual))
  end)

  it("end on cyclic values", function()
    local a, b = { x = 1 }, { x = 2 }
    a.own, b.own = a, b
    assert.matches("at %.x\n    %- 1\n    %+ 2", difference(a, b))
  end)

  it("are empty for equal tables", function()
    assert.is_nil(assert:difference({ 1 }, { 1 }))
  end)

  it("print no addresses", function()
    local text = difference({ f = print, t = { {} } }, { f = error, t = 1,
      c = coroutine.create(print) })
    assert.is_nil(text:find("0x"))
  end)
end)

describe("differences of strings", function()
  it("are shown as lines with their context", function()
    assert.equal(
      "  at the value itself\n      ...\n      d\n      e\n    - f\n    + F\n      g",
      difference("a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\ne\nF\ng")
    )
  end)

  it("name the first differing character of a long line", function()
    local head = ("x"):rep(100)
    assert.matches("first difference at character 101", difference(head .. "A", head .. "B"))
  end)

  it("are omitted for short ones", function()
    assert.is_nil(assert:difference("a", "b"))
    assert.is_nil(assert:difference(1, 2))
  end)
end)
