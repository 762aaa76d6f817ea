-- Suite of Json: texts that are read, texts that are refused with their messages, and the output.

describe("Json.decode", function()
  local null = Json.null

  it("reads every kind of value", function()
    local rows = {
      { "0", 0 }, { "12", 12 }, { "-7", -7 }, { "1.5", 1.5 }, { "-0.25", -0.25 },
      { "1e3", 1000 }, { "1E+3", 1000 }, { "25e-2", 0.25 }, { "0.1", 0.1 }, { "0e0", 0 },
      { "true", true }, { "false", false }, { "null", null },
      { '""', "" }, { '"text"', "text" }, { '"é€😀"', "é€😀" },
      { " \t\r\n1 \t\r\n", 1 }, { "[]", {} }, { "{}", {} }, { "[ ]", {} }, { "{ }", {} },
      { "[1,[2,[3]],{}]", { 1, { 2, { 3 } }, {} } },
      { '{"a":1,"b":{"c":[true,null]}}', { a = 1, b = { c = { true, null } } } },
      { '{ "a" : 1 ,\n "b" : 2 }', { a = 1, b = 2 } },
      { '{"":0}', { [""] = 0 } }, { '{"a":1,"a":2}', { a = 2 } },
      { "[null,1,null]", { null, 1, null } },
    }
    for _, row in ipairs(rows) do assert.same(row[2], Json.decode(row[1])) end
    assert.equals(-math.huge, 1 / Json.decode("-0"))
  end)

  it("reads whole numbers exactly to 2^53, and long ones to the nearest double", function()
    assert.equals(2 ^ 53, Json.decode("9007199254740992"))
    assert.equals(2 ^ 53 - 1, Json.decode("9007199254740991"))
    assert.equals(-(2 ^ 53 - 1), Json.decode("-9007199254740991"))
    assert.equals(999999999999999, Json.decode("999999999999999"))
    assert.equals(1e22, Json.decode("10000000000000000000000"))
    assert.equals(0.1 + 0.2, Json.decode("0.30000000000000004"))
    assert.equals(5e-324, Json.decode("5e-324"))
    assert.equals(0, Json.decode("1e-400"))
  end)

  it("reads escapes, and pairs of surrogates", function()
    assert.equals("\" \\ / \b \f \n \r \t", Json.decode([["\" \\ \/ \b \f \n \r \t"]]))
    assert.equals("A\0é€", Json.decode([["\u0041\u0000\u00e9\u20AC"]]))
    assert.equals("x😀y", Json.decode([["x\uD83D\ude00y"]]))
    assert.equals("\244\143\191\191", Json.decode([["\uDBFF\uDFFF"]]))
  end)

  it("reads null as a value", function()
    local value = Json.decode('{"a":null,"list":[null]}')
    assert.equals(null, value.a)
    assert.equals(1, #value.list)
    assert.equals("Json.null", tostring(null))
    assert.error_matches(function() return value.a.b end,
      "'b' is read from Json.null: ask `value == Json.null` first")
    assert.error_matches(function() value.a.b = 1 end, "'b' is set in Json.null")
  end)

  it("reports line, column and the unexpected character", function()
    local rows = {
      { "", "line 1, column 1: a value is expected, got the end of the text" },
      { "  \n ", "line 2, column 2: a value is expected, got the end of the text" },
      { "[1,\n  2,\n  x]", "line 3, column 3: a value is expected, got 'x'" },
      { '["é€", x]', "line 1, column 8: a value is expected, got 'x'" },
      { "[1, é]", "line 1, column 5: a value is expected, got 'é'" },
      { "[1 2]", "line 1, column 4: ',' or ']' is expected, got '2'" },
      { "[1", "line 1, column 3: ',' or ']' is expected, got the end of the text" },
      { "[", "line 1, column 2: a value is expected, got the end of the text" },
      { "[1,]", "line 1, column 4: a value is expected after ',', got ']': JSON has no trailing " },
      { "[,1]", "line 1, column 2: a value is expected, got ','" },
      { '{"a":1,}', "line 1, column 8: a key is expected after ',', got '}': JSON has no " },
      { "{a:1}", "line 1, column 2: a key in double quotes is expected, got 'a'" },
      { "{'a':1}", "a key in double quotes is expected, got ''': strings are in double quotes" },
      { '{"a" 1}', "line 1, column 6: ':' is expected, got '1'" },
      { '{"a"=1}', "':' is expected, got '=': a ':' is between key and value" },
      { '{"a":1 "b":2}', "line 1, column 8: ',' or '}' is expected, got '\"'" },
      { '{"a":}', "line 1, column 6: a value is expected, got '}'" },
      { "{1:2}", "a key in double quotes is expected, got '1'" },
      { "1 2", "line 1, column 3: the text continues after its value with '2'" },
      { "[]]", "line 1, column 3: the text continues after its value with ']'" },
      { "// note\n1", "line 1, column 1: a value is expected, got '/': JSON has no comments" },
      { "tru", "line 1, column 1: a value is expected, got 't'" },
      { "True", "a value is expected, got 'T'" }, { "nul", "a value is expected, got 'n'" },
      { "NaN", "a value is expected, got 'N'" }, { "Infinity", "a value is expected, got 'I'" },
      { "01", "line 1, column 1: a number does not begin with 0" },
      { "-01", "line 1, column 2: a number does not begin with 0" },
      { "+1", "a value is expected, got '+': numbers have no '+'" },
      { ".5", "a value is expected, got '.': write a 0 before the point" },
      { "-", "line 1, column 2: a digit is expected after '-', got the end of the text" },
      { "-a", "a digit is expected after '-', got 'a'" },
      { "1.", "line 1, column 3: a digit is expected after '.', got the end of the text" },
      { "1.e1", "a digit is expected after '.', got 'e'" },
      { "1e", "line 1, column 3: a digit is expected in an exponent, got the end of the text" },
      { "1e+", "line 1, column 4: a digit is expected in an exponent, got the end of the text" },
      { "0x10", "line 1, column 2: the text continues after its value with 'x'" },
      { "1e999", "line 1, column 1: the number 1e999 is too large for a double" },
      { "-1e999", "the number -1e999 is too large for a double" },
      { '"abc', "line 1, column 1: this string has no closing quote" },
      { '["abc\\', "line 1, column 6: a backslash is followed by one of" },
      { '"a\nb"', "line 1, column 3: the control character 0x0A must be written as \\u000A in a" },
      { '"\0"', "the control character 0x00 must be written as \\u0000 in a string" },
      { [["\x41"]], [[a backslash is followed by one of " \ / b f n r t u, got 'x']] },
      { [["\u12G4"]], "line 1, column 2: \\u is followed by four hexadecimal digits" },
      { [["\u12"]], "\\u is followed by four hexadecimal digits" },
      { [["\uD800"]], "\\uD800 is the first half of a pair, but the second is missing" },
      { [["\uD800\u0041"]], "\\uD800 is the first half of a pair, but the second is missing" },
      { [["\uD800\uZZZZ"]], "\\u is followed by four hexadecimal digits" },
      { [["\uDC00"]], "\\uDC00 is the second half of a pair, but the first is missing" },
      { "\239\187\191[]", "line 1, column 1: the text begins with a byte order mark" },
      { '["é", "\255"]', "line 1, column 8: byte 0xFF is not valid UTF-8: save the text as" },
      { "[1]\0", "the text continues after its value with the control character 0x00" },
      { "\194\1601", "a value is expected, got '\194\160'" },
    }
    for _, row in ipairs(rows) do
      local value, problem = Json.try_decode(row[1])
      assert.is_nil(value)
      assert.is_true(problem:find(row[2], 1, true) ~= nil, problem .. " for " .. row[1])
      local ok, raised = pcall(Json.decode, row[1])
      assert.is_false(ok)
      assert.is_true(raised:find("Json.decode: " .. problem, 1, true) ~= nil, raised)
    end
  end)

  it("reads 512 levels and refuses more", function()
    local value = Json.decode(("["):rep(512) .. ("]"):rep(512))
    local depth = 0
    while value do
      depth = depth + 1
      value = value[1]
    end
    assert.equals(512, depth)
    local _, problem = Json.try_decode(("["):rep(100000))
    assert.equals("line 1, column 513: more than 512 arrays and objects inside each other", problem)
  end)

  it("requires a string", function()
    assert.error_matches(function() Json.decode(nil) end,
      "Json.decode: argument #1 'text' must be string, got nil")
    assert.error_matches(function() Json.try_decode(5) end,
      "Json.try_decode: argument #1 'text' must be string, got number 5")
  end)
end)

describe("Json.encode", function()
  it("writes every kind of value", function()
    local rows = {
      { "text", '"text"' }, { "", '""' }, { "é€😀", '"é€😀"' }, { true, "true" },
      { false, "false" }, { Json.null, "null" }, { {}, "{}" }, { { 1, 2 }, "[1,2]" },
      { { a = { 1, { b = true } } }, '{"a":[1,{"b":true}]}' },
      { "\" \\ / \b \f \n \r \t \1 \127", [["\" \\ / \b \f \n \r \t \u0001 ]] .. "\127\"" },
      { "\0", '"\\u0000"' },
    }
    for _, row in ipairs(rows) do assert.equals(row[2], Json.encode(row[1])) end
  end)

  it("writes numbers in their shortest exact form", function()
    local rows = {
      { 0, "0" }, { -1 / math.huge, "-0" }, { 12, "12" }, { -7, "-7" }, { 0.1, "0.1" },
      { 1 / 3, "0.3333333333333333" },
      { 2 ^ 53, "9007199254740992" }, { -(2 ^ 53), "-9007199254740992" },
      { 1e14, "100000000000000" }, { 99999999999999, "99999999999999" },
      { 0.1 + 0.2, "0.30000000000000004" }, { 1e300, "1e+300" }, { 1.5e-7, "1.5e-07" },
    }
    for _, row in ipairs(rows) do assert.equals(row[2], Json.encode(row[1])) end
    local seed = 1
    for i = 1, 500 do
      seed = (seed * 16807) % 2147483647
      local number = (seed / 2147483647 - 0.5) * 10 ^ (i % 40 - 20)
      assert.equals(number, Json.decode(Json.encode(number)))
    end
  end)

  it("writes keys in sorted order", function()
    local value = {}
    for _, key in ipairs({ "b", "a", "c", "B", "aa", "" }) do value[key] = 1 end
    assert.equals('{"":1,"B":1,"a":1,"aa":1,"b":1,"c":1}', Json.encode(value))
    assert.same(value, Json.decode(Json.encode(value, { sort = false })))
  end)

  it("indents", function()
    local text = Json.encode({ list = { 1, { a = true } }, none = {}, empty = Json.array() },
      { indent = 2 })
    assert.equals([[
{
  "empty": [],
  "list": [
    1,
    {
      "a": true
    }
  ],
  "none": {}
}]], text)
  end)

  it("writes an empty table as an object, unless it is marked or was read as an array", function()
    assert.equals("{}", Json.encode({}))
    assert.equals("[]", Json.encode(Json.array()))
    local list = { 1 }
    assert.equals(list, Json.array(list))
    list[1] = nil
    assert.equals("[]", Json.encode(list))
    assert.equals('{"a":[],"b":{}}', Json.encode(Json.decode('{"b":{},"a":[]}')))
  end)

  it("writes what it read", function()
    local text = '{"a":[1,2.5,null,"é\\n",[],{}],"b":{"c":false}}'
    assert.equals(text, Json.encode(Json.decode(text)))
  end)

  it("reports the path of a value that cannot be written", function()
    local circle = { list = { { name = "x" } } }
    circle.list[1].owner = circle.list
    local whole = {}
    whole.self = whole
    local rows = {
      { { a = { 0 / 0 } }, "Json.encode: $.a[1] is NaN, which JSON cannot write" },
      { { math.huge }, "Json.encode: $[1] is inf, which JSON cannot write" },
      { { x = -math.huge }, "Json.encode: $.x is -inf, which JSON cannot write" },
      { { call = print }, "Json.encode: $.call is a function; JSON has tables, strings" },
      { { ["two words"] = print }, 'Json.encode: $["two words"] is a function' },
      { coroutine.create(print), "Json.encode: $ is a thread" },
      { { a = { 1, 2, x = 3 } }, "Json.encode: $.a has both strings and numbers as keys" },
      { { a = { 1, nil, 3 } }, "Json.encode: $.a has 2 values up to index 3; an array has no" },
      { { [true] = 1 }, "Json.encode: $ has the key boolean" },
      { { [0] = 1 }, "Json.encode: $ has the key number 0; keys are strings, or 1 to n" },
      { { [1.5] = 1 }, "Json.encode: $ has the key number 1.5" },
      { { a = Json.array({ x = 1 }) }, "Json.encode: $.a is marked by Json.array, but has" },
      { circle, "Json.encode: $.list[1].owner leads back to $.list: a table cannot hold itself" },
      { whole, "Json.encode: $.self leads back to $: a table cannot hold itself" },
      { { s = "a\255" }, "Json.encode: $.s is not valid UTF-8 at byte 2 (0xFF); Utf8.clean" },
      { { ["\255"] = 1 }, "is not valid UTF-8 at byte 1" },
    }
    for _, row in ipairs(rows) do
      local ok, problem = pcall(Json.encode, row[1])
      assert.is_false(ok)
      assert.is_true(problem:find(row[2], 1, true) ~= nil, problem)
    end
    assert.error_matches(function() Json.encode(nil) end,
      "Json.encode: %$ is nil; null is Json.null")
  end)

  it("writes a table that is reached twice", function()
    local shared = { 1 }
    assert.equals('{"a":[1],"b":[1]}', Json.encode({ a = shared, b = shared }))
  end)

  it("writes 512 levels and refuses more", function()
    local value = {}
    for _ = 1, 511 do value = { value } end
    assert.equals(("["):rep(511) .. "{}" .. ("]"):rep(511), Json.encode(value))
    assert.error_matches(function() Json.encode({ value }) end,
      "Json.encode: more than 512 tables inside each other")
  end)

  it("reports wrong options", function()
    assert.error_matches(function() Json.encode({}, { inden = 2 }) end,
      "Json.encode: argument #2 'options' has the unknown option 'inden', did you mean 'indent'%?")
    for _, indent in ipairs({ 0, 17, 1.5, 0 / 0, "2" }) do
      assert.error_matches(function() Json.encode({}, { indent = indent }) end,
        "Json.encode: option 'indent' must be a whole number from 1 to 16, got ")
    end
    assert.error_matches(function() Json.encode({}, { sort = 1 }) end,
      "Json.encode: option 'sort' must be a boolean, got number 1")
    assert.error_matches(function() Json.encode({}, 3) end, "argument #2 'options' must be table")
    assert.error_matches(function() Json.array(3) end,
      "Json.array: argument #1 'values' must be table or nil, got number 3")
  end)
end)
