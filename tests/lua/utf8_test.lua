-- Suite of Utf8: characters, bytes, cases and errors.

describe("Utf8", function()
  local TEXT = "aß€😀" -- 1, 2, 3 and 4 bytes
  -- Invalid texts, each with the position of its first invalid byte.
  local FAULTS = {
    { "\128", 1 }, -- a continuation byte
    { "ab\255", 3 },
    { "\192\128", 1 }, { "\193\191", 1 }, -- overlong encodings
    { "\224\159\191", 1 }, { "\240\143\191\191", 1 },
    { "\237\160\128", 1 }, { "\237\191\191", 1 }, -- surrogates
    { "\244\144\128\128", 1 }, { "\245\128\128\128", 1 }, -- above 10FFFF
    { "a\195", 2 }, { "a\226\130", 2 }, { "a\240\159\152", 2 }, -- truncated
    { "é\195(", 3 },
  }

  it("tests validity", function()
    for _, text in ipairs({ "", "plain", TEXT, "\0", "\127", "\194\128", "\223\191", "\224\160\128",
      "\237\159\191", "\238\128\128", "\239\191\191", "\240\144\128\128", "\244\143\191\191" }) do
      assert.is_true(Utf8.valid(text))
    end
    for _, fault in ipairs(FAULTS) do assert.is_false(Utf8.valid(fault[1])) end
    assert.error_matches(function() Utf8.valid(1) end,
      "Utf8.valid: argument #1 's' must be string, got number 1")
  end)

  it("reports the invalid byte in every function", function()
    local functions = { "length", "codepoint", "offset", "sub", "find", "reverse", "codes",
      "characters", "upper", "lower" }
    for _, fault in ipairs(FAULTS) do
      for _, name in ipairs(functions) do
        local takes_two = name == "codepoint" or name == "offset" or name == "sub"
          or name == "find"
        assert.error_matches(function() Utf8[name](fault[1], takes_two and 1 or nil) end,
          "Utf8." .. name .. ": argument #1 's' is not valid UTF%-8 at byte " .. fault[2] .. " ")
      end
    end
    assert.error_matches(function() Utf8.length("ab\255") end,
      "not valid UTF%-8 at byte 3 %(0xFF%); Utf8.clean repairs it")
    assert.error_matches(function() Utf8.find("a", "\255") end, "argument #2 'text' is not valid")
    assert.error_matches(function() Utf8.location("ab\255", 3) end,
      "Utf8.location: argument #1 's' is not valid UTF%-8 at byte 3 %(0xFF%)")
  end)

  it("replaces invalid bytes one by one", function()
    assert.equals("a\239\191\189b\239\191\189\239\191\189c", Utf8.clean("a\255b\224\159c"))
    assert.equals("é?(", Utf8.clean("é\195(", "?"))
    assert.equals("", Utf8.clean("\255\254", ""))
    assert.equals(TEXT, Utf8.clean(TEXT))
    for _, fault in ipairs(FAULTS) do assert.is_true(Utf8.valid(Utf8.clean(fault[1]))) end
    assert.error_matches(function() Utf8.clean("a", "\255") end, "argument #2 'replacement' is not")
    assert.error_matches(function() Utf8.clean(3) end,
      "Utf8.clean: argument #1 's' must be string, got number 3")
  end)

  it("finds the character that a byte belongs to", function()
    local wanted = { { 1, 2 }, { 2, 4 }, { 2, 4 }, { 4, 7 }, { 4, 7 }, { 4, 7 },
      { 7, 11 }, { 7, 11 }, { 7, 11 }, { 7, 11 } }
    for byte, bounds in ipairs(wanted) do assert.same(bounds, { Utf8.location(TEXT, byte) }) end
    for _, index in ipairs({ 0, 11, -1 }) do
      assert.error_matches(function() Utf8.location(TEXT, index) end,
        "Utf8.location: argument #2 'index' is %-?%d+, but the string has 10 bytes")
    end
    assert.error_matches(function() Utf8.location(TEXT, 1.5) end, "must be a whole number")
    assert.error_matches(function() Utf8.location("", 1) end, "has 0 bytes")
  end)

  it("iterates over a text by location, as games of the family do", function()
    local index, characters = 1, 0
    while index <= #TEXT do
      local _
      _, index = Utf8.location(TEXT, index)
      characters = characters + 1
    end
    assert.equals(4, characters)
  end)

  it("counts characters", function()
    assert.equals(0, Utf8.length(""))
    assert.equals(4, Utf8.length(TEXT))
    assert.equals(2, Utf8.length("e\204\129"))
    assert.error_matches(function() Utf8.length(nil) end,
      "Utf8.length: argument #1 's' must be string, got nil")
  end)

  it("converts code points to text and back", function()
    assert.equals(TEXT, Utf8.char(97, 0xDF, 0x20AC, 0x1F600))
    assert.equals("", Utf8.char())
    local edges = { 0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF }
    for _, code in ipairs(edges) do assert.equals(code, Utf8.codepoint(Utf8.char(code))) end
    for _, code in ipairs({ -1, 0xD800, 0xDFFF, 0x110000, 1.5, 0 / 0, "a" }) do
      assert.error_matches(function() Utf8.char(97, code) end,
        "Utf8.char: argument #2 'code' must be a code point")
    end
  end)

  it("returns single code points", function()
    assert.equals(97, Utf8.codepoint(TEXT))
    assert.equals(0x20AC, Utf8.codepoint(TEXT, 3))
    assert.equals(0x1F600, Utf8.codepoint(TEXT, -1))
    for _, index in ipairs({ 0, 5, -5 }) do
      assert.error_matches(function() Utf8.codepoint(TEXT, index) end,
        "Utf8.codepoint: argument #2 'index' is %-?%d, but the string has 4 characters")
    end
  end)

  it("returns the byte position of a character", function()
    assert.same({ 1, 2, 4, 7, 11 }, { Utf8.offset(TEXT, 1), Utf8.offset(TEXT, 2),
      Utf8.offset(TEXT, 3), Utf8.offset(TEXT, 4), Utf8.offset(TEXT, 5) })
    assert.is_nil(Utf8.offset(TEXT, 6))
    assert.error_matches(function() Utf8.offset(TEXT, 0) end, "must be a whole number above 0")
  end)

  it("returns substrings by characters, counted from either end", function()
    local narrow, wide = { "a", "b", "c", "d" }, { "a", "ß", "€", "😀" }
    local function check(characters, first, last)
      local from = first < 0 and math.max(5 + first, 1) or math.max(first, 1)
      local to = last < 0 and 5 + last or math.min(last, 4)
      local wanted = table.concat(characters, "", from, math.max(to, from - 1))
      assert.equals(wanted, Utf8.sub(table.concat(characters), first, last))
    end
    for first = -6, 6 do
      for last = -6, 6 do
        check(narrow, first, last)
        check(wide, first, last)
      end
    end
    assert.equals("€😀", Utf8.sub(TEXT, 3))
    assert.error_matches(function() Utf8.sub(TEXT, "a") end,
      "Utf8.sub: argument #2 'first' must be a whole number")
    assert.error_matches(function() Utf8.sub(TEXT, 1, 0 / 0) end, "argument #3 'last'")
  end)

  it("finds text by characters, without patterns", function()
    assert.same({ 2, 3 }, { Utf8.find(TEXT, "ß€") })
    assert.same({ 4, 4 }, { Utf8.find("éé.é.é", "é", 4) })
    assert.same({ 3, 3 }, { Utf8.find("éé.é", ".") })
    assert.is_nil(Utf8.find(TEXT, "x"))
    assert.is_nil(Utf8.find(TEXT, "a", 2))
    assert.is_nil(Utf8.find(TEXT, "a", 9))
    assert.error_matches(function() Utf8.find(TEXT, "a", 0) end, "must be a whole number above 0")
    assert.error_matches(function() Utf8.find(TEXT) end, "argument #2 'text' must be string, got")
  end)

  it("reverses a text", function()
    assert.equals("😀€ßa", Utf8.reverse(TEXT))
    assert.equals("", Utf8.reverse(""))
  end)

  it("iterates over code points and characters", function()
    local visited = {}
    for position, code in Utf8.codes(TEXT) do visited[#visited + 1] = position .. ":" .. code end
    assert.same({ "1:97", "2:223", "4:8364", "7:128512" }, visited)
    visited = {}
    for index, character in Utf8.characters(TEXT) do visited[index] = character end
    assert.same({ "a", "ß", "€", "😀" }, visited)
    for _ in Utf8.codes("") do error("the empty string has no characters") end
    for _ in Utf8.characters("") do error("the empty string has no characters") end
  end)

  it("changes the case of supported alphabets", function()
    local rows = {
      { "abc xyz 123", "ABC XYZ 123" },
      { "àéîõüæøþÿ", "ÀÉÎÕÜÆØÞŸ" },
      { "āčęğłńőřšťůżž", "ĀČĘĞŁŃŐŘŠŤŮŻŽ" },
      { "șțǎǧ", "ȘȚǍǦ" },
      { "ạảấầẹếềịọốồợụứừỳơưđ", "ẠẢẤẦẸẾỀỊỌỐỒỢỤỨỪỲƠƯĐ" },
      { "αβγδωάέήίόύώϊ", "ΑΒΓΔΩΆΈΉΊΌΎΏΪ" },
      { "абвгдеёжзйюяіїєґў", "АБВГДЕЁЖЗЙЮЯІЇЄҐЎ" },
      { "աբգֆ", "ԱԲԳՖ" },
    }
    for _, row in ipairs(rows) do
      assert.equals(row[2], Utf8.upper(row[1]))
      assert.equals(row[1], Utf8.lower(row[2]))
    end
  end)

  it("does not change letters without another case", function()
    assert.equals("ß 日本語 😀 ×÷", Utf8.upper("ß 日本語 😀 ×÷"))
    assert.equals("ĸ 日本語 😀 ×÷", Utf8.lower("ĸ 日本語 😀 ×÷"))
    assert.equals("Σ", Utf8.upper("ς"))
    assert.equals("I", Utf8.upper("ı"))
  end)
end)
