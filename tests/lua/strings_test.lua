-- Suite of the bounded string and table functions: ordinary and costly calls return the same as in
-- Lua 5.1, and runaway calls are refused with a message. The native matcher has its own tests.

-- Long enough that LuaJIT's own matcher receives no pattern with a repetition.
local LONG = 60000
local long = ("a"):rep(LONG)
-- Long enough that LuaJIT's own matcher receives no pattern at all.
local text = ("key = value; "):rep(400000)

describe("string.find", function()
  it("finds patterns, plain text and positions in short strings", function()
    assert.same({ 3, 4, "l" }, { ("hello"):find("(l)l") })
    assert.same({ 2, 4 }, { ("a.-b"):find(".-b", 1, true) })
    assert.same({ 3, 3 }, { ("abcabc"):find("c", -4 - 2) })
    assert.same({ 1, 0 }, { (""):find("") })
    assert.same({ 4, 3 }, { ("abc"):find("", 10) })
    assert.is_nil(("hello"):find("^l"))
    assert.same({ 2, 2 }, { string.find(123, 2) })
  end)

  it("finds the same in strings that are too long for a direct call", function()
    local s = long .. "x=1"
    assert.same({ LONG + 1, LONG + 3, "x", "1" }, { s:find("([^a]+)=(%d+)") })
    assert.same({ LONG + 2, LONG + 3, LONG + 3 }, { s:find("%A()%d$", -2) })
    assert.same({ 1, LONG + 1 }, { s:find("a*x") })
    assert.same({ LONG, LONG + 1 }, { s:find("a-x", LONG) })
    assert.is_nil(s:find("^[^a]+=", 2))
  end)

  it("finds a long needle in a long text quickly", function()
    local haystack = ("a"):rep(4000000)
    assert.is_nil(haystack:find(("a"):rep(2000000) .. "b", 1, true))
    assert.same({ 4000001, 4000002 }, { (haystack .. "bc"):find("bc", 5) })
    local needle = ("a"):rep(999999) .. "b"
    assert.same({ 3000002, 4000001 }, { (haystack .. "b"):find(needle, 2, true) })
  end)

  it("stops a catastrophic pattern", function()
    assert.error_matches(function()
      return long:find("(.-)(.-)(.-)x")
    end, 'string%.find: pattern "%(%.%-%)%(%.%-%)%(%.%-%)x" took more than 100,000,000 steps on a '
      .. "string of 60,000 bytes: anchor it or make it simpler")
  end)

  it("stops a short pattern with many alternatives on a short string", function()
    assert.error_matches(function()
      return ("a"):rep(60):find(("a?"):rep(60) .. ("a"):rep(61))
    end, 'pattern "a%?a%?.*…" took more than 100,000,000 steps on a string of 60 bytes')
  end)

  it("reports a malformed pattern for short and long strings", function()
    for _, s in ipairs({ "a", long }) do
      assert.error_matches(function() return s:find("a-a-[a") end, "malformed pattern %(missing")
      assert.error_matches(function() return s:find("a-a-%") end, "malformed pattern %(ends with")
      assert.error_matches(function() return s:find("a-a-(a") end, "unfinished capture")
      assert.error_matches(function() return s:find("a-a-%1") end, "invalid capture index")
      assert.error_matches(function() return s:find("a-a-%f") end, "missing '%[' after '%%f'")
    end
  end)

  it("checks its arguments", function()
    assert.error_matches(function() return string.find(nil, "a") end, "bad argument #1 to '.*'")
    assert.error_matches(function() return string.find(long, {}) end, "bad argument #2 to '.*'")
    assert.error_matches(function() return string.find(long, "a-a-b", {}) end, "number expected")
  end)
end)

describe("string.match", function()
  it("returns captures, or the whole match", function()
    assert.same({ "key", "value" }, { ("key = value"):match("^(%w+)%s*=%s*(%w+)$") })
    assert.equals("123", ("abc123"):match("%d+"))
    assert.is_nil(("abc"):match("%d"))
    assert.same({ "a", LONG + 2 }, { (long .. "x"):match("(a)x()") })
    assert.equals("axe", (long .. "xe"):match("ax.-e"))
    assert.is_nil(long:match("^a-a-b", -3))
  end)

  it("stops a catastrophic pattern", function()
    assert.error_matches(function()
      return long:match(".-.-.-x")
    end, "string%.match: pattern .* took more than 100,000,000 steps")
    assert.error_matches(function() return long:match("a-a-a-[") end, "missing ']'")
    assert.error_matches(function() return string.match() end, "bad argument #1")
  end)
end)

describe("string.gmatch", function()
  local function list(s, pattern)
    local found = {}
    for a, b in s:gmatch(pattern) do
      found[#found + 1] = b and a .. ":" .. b or a
    end
    return found
  end

  it("iterates over all matches", function()
    assert.same({ "one", "two" }, list("one two", "%a+"))
    assert.same({ "", "", "" }, list("ab", "x*"))
    assert.same({ "k:v" }, list("k=v", "(%w)=(%w)"))
    assert.same({ "^a" }, list("a^a", "^a"))
  end)

  it("iterates over a long string", function()
    assert.same({ "x:1", "y:2" }, list(long .. "x=1" .. long .. "y=2", "([^a=]+)=(%d)"))
    assert.same({ "^x" }, list(long .. "^x", "^[^a]*x?"))
    assert.equals(LONG + 1, #list(long, "b*c*d*b*"))
  end)

  it("stops a catastrophic pattern", function()
    assert.error_matches(function()
      return list(long, "(.-)(.-)(.-)x")
    end, "string%.gmatch: pattern .* took more than 100,000,000 steps")
    assert.error_matches(function() return string.gmatch("a") end, "bad argument #2")
  end)
end)

describe("string.gsub", function()
  it("replaces by text, table and function", function()
    assert.same({ "hell0 w0rld", 2 }, { ("hello world"):gsub("o", "0") })
    assert.same({ "<h>ello", 1 }, { ("hello"):gsub("%w", "<%0>", 1) })
    assert.same({ "world hello", 1 }, { ("hello world"):gsub("(%w+) (%w+)", "%2 %1") })
    assert.same({ "1 $b", 2 }, { ("$a $b"):gsub("%$(%w)", { a = 1 }) })
    assert.same({ "-a-b-", 3 }, { ("ab"):gsub("", "-") })
  end)

  it("replaces in long strings", function()
    local twice, count = text:gsub("key", "%0%0")
    assert.equals(400000, count)
    assert.equals("keykey = value; keykey", twice:sub(1, 22))
    assert.equals(#text + 3 * 400000, #twice)
    local named = text:gsub("(%w+) = (%w+)", { key = "name", value = false })
    assert.equals("name; name; ", named:sub(1, 12))
    local swapped = text:gsub("(%w+) = (%w+)", function(k, v) return v .. " = " .. k end, 2)
    assert.equals("value = key; value = key; key = value; ", swapped:sub(1, 39))
    assert.same({ text, 0 }, { text:gsub("^value", "x") })
    assert.same({ text, 0 }, { text:gsub("key", "x", 0) })
    assert.equals("%1 = value; ", text:gsub("^key", "%%1"):sub(1, 12))
  end)

  it("expands a long replacement", function()
    local out = ("ab"):rep(50):gsub("(b)", ("%1."):rep(20000))
    assert.equals(50 + 50 * 40000, #out)
  end)

  it("refuses a huge result", function()
    assert.error_matches(function()
      return ("a"):rep(10000):gsub("()", ("%1"):rep(10000))
    end, "string%.gsub: the result would have [%d,]+ bytes, a string may have 67,108,864")
  end)

  it("stops a catastrophic pattern and reports wrong replacements", function()
    assert.error_matches(function()
      return long:gsub("(.-)(.-)(.-)x", "")
    end, "string%.gsub: pattern .* took more than 100,000,000 steps")
    for _, s in ipairs({ "aa", text }) do
      assert.error_matches(function() return s:gsub("(a)l?", "%2") end, "invalid capture index")
      assert.error_matches(function()
        return s:gsub("a", function() return {} end)
      end, "invalid replacement value %(a table%)")
      assert.error_matches(function() return s:gsub("a", true) end, "function/table expected")
    end
  end)
end)

describe("string.rep", function()
  it("repeats, with and without a separator", function()
    assert.equals("ababab", ("ab"):rep(3))
    assert.equals("a-a-a", ("a"):rep(3, "-"))
    assert.equals("", ("a"):rep(0))
    assert.equals("", ("a"):rep(-1))
    assert.equals("", (""):rep(2 ^ 31 - 1))
    assert.equals("55", string.rep(5, "2"))
  end)

  it("refuses huge results", function()
    assert.error_matches(function()
      return ("a"):rep(1e9)
    end, "string%.rep: the result would have 1,000,000,000 bytes, a string may have 67,108,864: "
      .. "build it in parts")
    assert.error_matches(function() return ("a"):rep(1e8, "bc") end, "299,999,998 bytes")
    assert.error_matches(function() return ("a"):rep(math.huge) end, "too many bytes")
    assert.error_matches(function() return ("a"):rep({}) end, "number expected")
  end)
end)

describe("table.concat", function()
  it("joins short lists and long ones", function()
    assert.equals("1,b,2.5", table.concat({ 1, "b", 2.5 }, ","))
    assert.equals("b", table.concat({ "a", "b", "c" }, ",", 2, 2))
    assert.equals("", table.concat({}, ","))
    local long = ("x"):rep(2 ^ 20)
    assert.equals(2 ^ 26 - 2 ^ 20, #table.concat({ long:rep(31), 1, long:rep(32) }) - 1)
    assert.error_matches(function() return table.concat({ long:rep(33), long:rep(32) }) end,
      "table.concat: the result would have 68,157,440 bytes, a string may have 67,108,864")
    assert.error_matches(function() return table.concat({ 1, 2, 3, 4 }, long:rep(32)) end,
      "a string may have 67,108,864")
    local with_holes = setmetatable({ "a", "b" }, { __index = function() return "c" end })
    assert.equals("ab", table.concat(with_holes))
    local items = {}
    for i = 1, 200000 do
      items[i] = i % 10
    end
    local joined = table.concat(items, ",")
    assert.equals(399999, #joined)
    assert.equals("5,6,7", joined:sub(131069, 131073))
    assert.equals("5,6,7", table.concat(items, ",", 199995, 199997))
  end)

  it("refuses huge results", function()
    local items = {}
    for i = 1, 200000 do
      items[i] = long
    end
    assert.error_matches(function()
      return table.concat(items)
    end, "table%.concat: the result would have [%d,]+ bytes, a string may have 67,108,864")
  end)

  it("reports the item that is not a string", function()
    assert.error_matches(function()
      return table.concat({ "a" }, "", 1, 2 ^ 31 - 1)
    end, "invalid value %(nil%) at index 2 in table for 'concat'")
    assert.error_matches(function() return table.concat({ "a", {} }) end, "%(table%) at index 2")
    assert.error_matches(function() return table.concat("a") end, "table expected")
  end)
end)

describe("table.insert", function()
  it("appends and inserts", function()
    local t = {}
    table.insert(t, "b")
    table.insert(t, 1, "a")
    table.insert(t, 3, "c")
    assert.same({ "a", "b", "c" }, t)
  end)

  it("refuses a position outside of the table", function()
    assert.error_matches(function()
      table.insert({ 1, 2, 3 }, 0 / 0, 4)
    end, "table%.insert: position %-?nan is not in a table of 3 items")
    assert.error_matches(function() table.insert({}, -2e9, 4) end, "position %-2000000000 is not")
    assert.error_matches(function() table.insert({}, 1, 2, 3) end, "wrong number of arguments")
    assert.error_matches(function() table.insert({}) end, "wrong number of arguments")
    assert.error_matches(function() table.insert(nil, 1) end, "table expected")
  end)
end)

describe("table.move", function()
  it("moves within a table and to another", function()
    assert.same({ 1, 1, 2, 3 }, table.move({ 1, 2, 3 }, 1, 3, 2))
    assert.same({ 2, 3 }, table.move({ 1, 2, 3 }, 2, 3, 1, {}))
  end)

  it("refuses huge results", function()
    assert.error_matches(function()
      return table.move({ 1 }, 1, 2 ^ 31 - 1, 1, {})
    end, "table%.move: 2,147,483,647 items are more than 67,108,864 at once")
    assert.error_matches(function() return table.move({}, 1, 2) end, "number expected")
  end)
end)

describe("table.sort", function()
  local function is_sorted(t)
    for i = 2, #t do
      if t[i] < t[i - 1] then
        return false
      end
    end
    return true
  end

  it("sorts short lists", function()
    local t = { 3, 1, 2 }
    table.sort(t)
    assert.same({ 1, 2, 3 }, t)
    table.sort(t, function(a, b) return a > b end)
    assert.same({ 3, 2, 1 }, t)
  end)

  it("sorts long lists of numbers and of strings", function()
    local numbers, texts, sum = {}, {}, 0
    for i = 1, 30011 do
      numbers[i] = i * 7919 % 30011
      texts[i] = tostring(numbers[i])
    end
    table.sort(numbers)
    table.sort(texts)
    for _, n in ipairs(numbers) do
      sum = sum + n
    end
    assert.is_true(is_sorted(numbers) and is_sorted(texts))
    assert.equals(30010 * 30011 / 2, sum)
    assert.same({ 0, 30010, "0", "9999" }, { numbers[1], numbers[30011], texts[1], texts[30011] })
  end)

  it("sorts long lists with a comparison function, in Lua or native", function()
    local t = {}
    for i = 1, 20000 do
      t[i] = i * 7919 % 20011
    end
    table.sort(t, function(a, b) return a > b end)
    assert.is_true(t[1] > t[2] and t[19999] > t[20000])
    table.sort(t, rawequal)
    assert.equals(20000, #t)
  end)

  it("raises if items cannot be compared", function()
    local t = {}
    for i = 1, 20000 do
      t[i] = i
    end
    t[77] = "x"
    assert.error_matches(function() table.sort(t) end, "attempt to compare %a+ with %a+")
    assert.error_matches(function() table.sort({ 1, {} }) end, "attempt to compare %a+ with %a+")
    assert.error_matches(function() table.sort({}, 5) end, "function expected")
    assert.error_matches(function() table.sort() end, "table expected")
  end)
end)
