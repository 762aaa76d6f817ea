-- Suite of Json with a table of cases: valid texts (y) with their values, and invalid texts (n). It
-- includes numbers outside the range of a double, and numbers with a million digits.

local null, zeros = Json.null, ("0"):rep(400)

-- Numbers that are read alone, in an array, in an object and at the end of each.
local numbers = {
  { "0", 0 }, { "-0", 0 }, { "1", 1 }, { "-1", -1 }, { "10", 10 }, { "0.0", 0 }, { "-0.0", 0 },
  { "0e0", 0 }, { "0E+0", 0 }, { "0e-0", 0 }, { "1e0", 1 }, { "1E1", 10 }, { "1e+1", 10 },
  { "1e-1", 0.1 }, { "1.5e2", 150 }, { "-1.5E-2", -0.015 }, { "1e00002", 100 },
  { "0.1", 0.1 }, { "123456789012345", 123456789012345 }, { "1234567890123456", 1234567890123456 },
  { "0.000001", 1e-6 }, { "1.7976931348623157e308", 1.7976931348623157e308 },
  { "2.2250738585072014e-308", 2.2250738585072014e-308 }, { "5e-324", 5e-324 },
  { "4.9406564584124654e-324", 5e-324 }, { "3e-324", 5e-324 }, { "2e-324", 0 }, { "1e-400", 0 },
  -- Exponents outside any range.
  { "1e-65536", 0 }, { "1e-1048576", 0 }, { "1e-2147483648", 0 }, { "1e-2147483649", 0 },
  { "-1e-4294967296", 0 }, { "1e-99999999999999999999", 0 }, { "0e2147483648", 0 },
  { "-0e2147483647", 0 }, { "0.0e99999999999999999999", 0 }, { "0e4294967297", 0 },
  -- Long numbers.
  { "1" .. zeros .. "e-400", 1 }, { "0." .. zeros .. "1e401", 1 },
  { "0." .. ("0"):rep(2 ^ 20) .. "25e1048578", 25 }, { "0." .. ("3"):rep(2 ^ 20 + 1), 1 / 3 },
  { "12" .. ("0"):rep(2 ^ 20) .. ".5e-1048577", 1.2 },
  -- Halfway between 1 and the next double, so the last of many digits decides.
  { "1.00000000000000011102230246251565404236316680908203125", 1 },
  { "1.00000000000000011102230246251565404236316680908203125" .. ("0"):rep(2 ^ 20) .. "1e0",
    1 + 2 ^ -52 },
}

-- The texts before and after a number, and a function that finds the number in the value.
local templates = {
  { "", "", function(value) return value end },
  { " ", " ", function(value) return value end },
  { "[", "]", function(value) return value[1] end },
  { "[1,", "]", function(value) return value[2] end },
  { "[", ",2]", function(value) return value[1] end },
  { '{"a":', "}", function(value) return value.a end },
  { '{"b":1,"a":', ',"c":2}', function(value) return value.a end },
}

-- Long texts are read in one surrounding only, because they take a while.
local function templates_for(number)
  return #number > 10000 and { templates[4] } or templates
end

local too_large = {
  "1e309", "-1e309", "1.7976931348623159e308", "1e400", "1e65536", "1e1048576", "1e2147483647",
  "1e2147483648", "-1e2147483648", "1e4294967296", "1e4294967297", "0.1e99999999999999999999",
  ("9"):rep(400), "1" .. ("0"):rep(2 ^ 20) .. "e-1048000", "0.001e2147483648",
}

local no_numbers = {
  "-", "+1", "+", "--1", "-+1", "1.", "-1.", ".5", "-.5", ".", "1e", "1E", "1e+", "1e-", "1.e1",
  "1.5e", "1.5e+", "e1", "1e1.5", "1ee1", "1e1e1", "1e--1", "00", "01", "-01", "-00", "0123",
  "1_000", "1,5", "0x10", "0X1", "0b1", "0o7", "1f", "1L", "1 000", "NaN", "-NaN", "nan",
  "Infinity", "-Infinity", "inf", "-inf", "1/2", "1-1", "٣", "１", "1\0", "-\0", "1e\0001",
  "2147483648e", "1e2147483648e", "1e2147483648.",
}

local strings = {
  { [["\u0000"]], "\0" }, { [["\uD834\uDD1E"]], "\240\157\132\158" }, { '"\127"', "\127" },
  { [["\u2028\u2029"]], "\226\128\168\226\128\169" }, { '"\226\128\168"', "\226\128\168" },
  { [["\/"]], "/" }, { [["\\u0041"]], "\\u0041" }, { '"\239\191\191"', "\239\191\191" },
}

local no_strings = {
  '"', '"a', '"\\', '"\\"', [["\u"]], [["\u1"]], [["\u12"]], [["\u123"]], [["\u12G4"]], [["\x41"]],
  [["\'"]], [["\a"]], [["\0"]], [["\U0041"]], '"\n"', '"\t"', '"\r"', '"\0"', '"\31"', [["\uD800"]],
  [["\uDC00"]], [["\uD800\u0041"]], [["\uD800\uD800"]], [["\uD834\\uDD1E"]], [["\uD83D\uDE0"]],
  '"\255"', '"\192\128"', '"\237\160\128"', '"\244\144\128\128"', '"\226\130"', "'a'", "`a`",
}

local texts = {
  { "[[],{}]", { {}, {} } }, { '{"":{"":[]}}', { [""] = { [""] = {} } } },
  { '{"a":1,"b":2,"a":3}', { a = 3, b = 2 } }, { '{"\\u0061":1,"a":2}', { a = 2 } },
  { "[1,[2]\t,\r\n3]", { 1, { 2 }, 3 } }, { "[null,false]", { null, false } },
  { ("["):rep(512) .. ("]"):rep(512) },
}

local no_texts = {
  "", " ", "\n", "\239\187\1911", "[", "]", "{", "}", "[}", "{]", "[1", "[1,", "[,", "[,]",
  "[1,,2]", "[1,]",
  "[1 2]", "[1]]", "[1] [2]", "[1]x", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{,"a":1}',
  '{"a"}', '{"a":}', '{:1}', '{1:1}', '{null:1}', "{a:1}", '{"a":1 "b":2}', '{"a":1,,"b":2}',
  '{"a"::1}', '{"a":1}}', '{"a":1}{}', "tru", "truer", "True", "TRUE", "nul", "nulll", "undefined",
  "[true false]", "[1]//", "/**/1", "#1", "[1]\0", "\v1", "\f1", "\194\1601", "1\194\160",
  "<1>", "(1)",
  "[1;2]", "[1:2]", '["a":1]', ("["):rep(513) .. ("]"):rep(513), ("["):rep(100000),
  ('{"a":'):rep(100000),
}

describe("Json and a table of cases", function()
  it("reads every number in every position", function()
    for _, row in ipairs(numbers) do
      for _, template in ipairs(templates_for(row[1])) do
        local text = template[1] .. row[1] .. template[2]
        local value, problem = Json.try_decode(text)
        local shown = #text > 60 and text:sub(1, 60) .. "…" or text
        assert.is_nil(problem, shown .. ": " .. tostring(problem))
        assert.equals(row[2], template[3](value), shown)
      end
    end
    for _, text in ipairs({ "-0", "-0.0", "-0e2147483648", "-1e-2147483648", "-1e-400" }) do
      assert.equals(-math.huge, 1 / Json.decode(text), text)
    end
  end)

  it("reports a number that is too large, with a short message", function()
    for _, number in ipairs(too_large) do
      for _, template in ipairs(templates_for(number)) do
        local text = template[1] .. number .. template[2]
        local value, problem = Json.try_decode(text)
        assert.is_nil(value)
        local shown = #number > 40 and number:sub(1, 40) .. "…" or number
        assert.equals(("line 1, column %d: the number %s is too large for a double"):format(
          #template[1] + 1, shown), problem)
      end
    end
  end)

  it("refuses invalid numbers in every position", function()
    for _, number in ipairs(no_numbers) do
      for _, template in ipairs(templates) do
        local value, problem = Json.try_decode(template[1] .. number .. template[2])
        -- [1,5] is a list of two numbers.
        if not (number == "1,5" and template[1]:find("^%[")) then
          assert.is_nil(value, template[1] .. number .. template[2])
          assert.matches("^line 1, column %d+: ", problem)
        end
      end
    end
  end)

  it("reads or refuses strings and texts according to the grammar", function()
    for _, row in ipairs(strings) do assert.equals(row[2], Json.decode(row[1])) end
    for _, row in ipairs(texts) do
      local value, problem = Json.try_decode(row[1])
      assert.is_nil(problem)
      if row[2] then assert.same(row[2], value) end
    end
    for _, list in ipairs({ no_strings, no_texts }) do
      for _, text in ipairs(list) do
        local value, problem = Json.try_decode(text)
        assert.is_nil(value, text)
        assert.matches("^line %d+, column %d+: ", problem)
      end
    end
  end)

  it("limits its output, even if a table is reached often", function()
    local value = { 1 }
    for _ = 1, 40 do value = { value, value } end
    assert.error_matches(function() Json.encode(value) end,
      "Json.encode: there are more than 4194304 values %(VALUES_MAX; a table that is reached twice "
        .. "counts twice%): write them in parts")
    local long = { [("x"):rep(2 ^ 20)] = 1 }
    local list = {}
    for i = 1, 65 do list[i] = long end
    assert.error_matches(function() Json.encode(list) end,
      "Json.encode: the text would have more than 64 MiB %(TEXT_BYTES_MAX; a table that is reached "
        .. "twice is written twice%): write it in parts")
    -- A text of many pieces equals a text of few.
    local numbers = {}
    for i = 1, 100000 do numbers[i] = i end
    assert.equals("[" .. table.concat(numbers, ",") .. "]", Json.encode(numbers))
  end)
end)
