-- Suite of the part of Lua's library that games see: an allowlist, text only, protected libraries.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("the sandbox", function()
  it("has no access to the machine", function()
    local machine = { "io", "ffi", "dofile", "loadfile", "module", "newproxy", "gcinfo" }
    for _, name in ipairs(machine) do
      assert.is_nil(_G[name], name)
    end
    local system = { "execute", "exit", "remove", "rename", "tmpname", "setlocale" }
    for _, name in ipairs(system) do
      assert.is_nil(os[name], name)
    end
    assert.is_nil(string.dump)
    assert.is_nil(os.getenv("PATH"))
    assert.equals("os.getenv: argument #1 'name' must be string, got nil", error_of(os.getenv))
    assert.is_nil(debug.sethook)
    assert.is_nil(debug.getlocal)
    assert.is_nil(jit.off)
    assert.is_nil(jit.util)
    assert.is_nil(package.loadlib)
    assert.is_nil(package.cpath)
  end)

  it("shows which VM runs", function()
    assert.equals(jit, require("jit"))
    assert.equals(debug, require("debug"))
    assert.equals(package, require("package"))
    assert.matches("^LuaJIT 2%.1", jit.version)
    assert.is_true(jit.version_num >= 20100)
    assert.is_boolean(jit.status())
    assert.is_string(jit.os .. jit.arch)
    assert.matches("sandbox_test%.lua$", debug.getinfo(1, "S").short_src)
  end)

  it("suggests a replacement for a missing library", function()
    assert.matches("there is no module 'io'.*files of the game are resources",
      error_of(require, "io"))
    assert.matches("there is no module 'ffi'.*native code", error_of(require, "ffi"))
  end)

  it("refuses to replace library functions, and allows new ones", function()
    assert.equals("math.floor is the engine's and cannot be replaced: use another name",
      error_of(function() math.floor = print end))
    string.sandbox_test = function(s) return "<" .. s .. ">" end
    assert.equals("<a>", ("a"):sandbox_test())
    string.sandbox_test = function() return "again" end
    assert.equals("again", ("a"):sandbox_test())
    string.sandbox_test = nil
    assert.equals("protected", getmetatable("x"))
    assert.is_false(pcall(setmetatable, math, {}))
  end)

  it("is not affected when the game replaces globals", function()
    local real = _G.type
    _G.type = function() return "banana" end
    local ok, length = pcall(Vector3.length, Vector3(3, 4, 0))
    _G.type = real
    assert.is_true(ok)
    assert.equals(5, length)
  end)
end)

describe("load", function()
  it("compiles text, also from a reader and with an environment", function()
    assert.equals(3, load("return 1 + 2")())
    local pieces = { "return ", "7" }
    assert.equals(7, load(function() return table.remove(pieces, 1) end)())
    assert.equals(9, load("return x", "=x", "t", { x = 9 })())
    assert.equals(5, loadstring("return 5")())
  end)

  it("returns nil and the message of a syntax error", function()
    local chunk, problem = load("return +", "=mine")
    assert.is_nil(chunk)
    assert.matches("^mine:1: ", problem)
  end)

  it("refuses compiled chunks in every mode", function()
    local chunk, problem = load("\27LJ\2", "=x", "b")
    assert.is_nil(chunk)
    assert.equals("load: this is a compiled chunk, and only text can be loaded", problem)
  end)

  it("refuses values that are not text", function()
    assert.equals("load: argument #1 'text' must be string or function, got number 1",
      error_of(load, 1))
    assert.equals("load: the reader function must return strings, got number 1",
      error_of(load, function() return 1 end))
    assert.equals("loadstring: argument #1 'text' must be string, got nil", error_of(loadstring))
  end)
end)

describe("pairs", function()
  it("iterates over copies of the libraries", function()
    local functions = 0
    for name, value in pairs(math) do
      assert.equals(math[name], value)
      functions = functions + (type(value) == "function" and 1 or 0)
    end
    assert.is_true(functions > 20)
    local _, copy = pairs(string)
    copy.format = nil
    assert.equals("1", string.format("%d", 1))
    for _, library in ipairs({ string, table, coroutine, bit, os }) do
      local count = 0
      for _ in pairs(library) do
        count = count + 1
      end
      assert.is_true(count > 3)
    end
  end)

  it("iterates over other tables as Lua does", function()
    local protected = setmetatable({ a = 1 }, { __metatable = "protected" })
    local next_of, walked, start = pairs(protected)
    assert.equals(next, next_of)
    assert.equals(protected, walked)
    assert.is_nil(start)
    assert.equals("pairs: argument #1 't' must be table, got nil", error_of(pairs))
  end)
end)

describe("the clock", function()
  it("is the game's time in a deterministic run", function()
    local before, time = os.clock(), os.time()
    test.seconds(2)
    assert.is_true(math.abs(os.clock() - before - 2) < 0.02)
    assert.is_true(os.time() - time == 2 or os.time() - time == 1)
    assert.equals("2000-01-01", os.date("%Y-%m-%d"))
    assert.equals(3, os.difftime(5, 2))
  end)

  it("reads dates only from tables", function()
    assert.equals("os.time: argument #1 'date' must be table or nil, got number 1",
      error_of(os.time, 1))
    assert.equals("os.time: argument #1 'date': its 'day' must be a whole number, got nil",
      error_of(os.time, { year = 2000, month = 1 }))
    assert.equals("os.time: argument #1 'date': its 'sec' must be a whole number, got number inf",
      error_of(os.time, { year = 2000, month = 1, day = 1, sec = math.huge }))
  end)

  it("uses UTC in a deterministic run", function()
    local rows = {
      { 0, 1970, 1, 1, 0, 0, 0 },
      { 951825600, 2000, 2, 29 },
      { 946684799, 1999, 12, 31, 23, 59, 59 },
      { 4107542400, 2100, 3, 1, 0 },
      { -1, 1969, 12, 31, 23, 59, 59 },
      -- Fields outside their range carry over.
      { 946684800, 1999, 13, 1, 0 },
      { 946684800, 2000, 1, 1, 24, -1440, 0 },
      { 951782400, 2001, -9, -1, 24 },
    }
    for i, row in ipairs(rows) do
      local date = { year = row[2], month = row[3], day = row[4], hour = row[5], min = row[6],
        sec = row[7] }
      assert.equals(row[1], os.time(date), "row " .. i)
    end
    for time = 0, 4e9, 86400 * 97 + 12345 do
      assert.equals(time, os.time(os.date("*t", time)))
    end
  end)

  it("formats dates of the years 1 to 9999, and refuses invalid times", function()
    assert.equals("9999-12-31", os.date("%Y-%m-%d", 253402300799))
    assert.equals("1900-01-01", os.date("%Y-%m-%d", -2208988800))
    -- These have the same text on all systems, although not all of them know the years.
    assert.equals("Fri Dec 31 23:59:59 9999", os.date("%c", 253402300799))
    assert.equals("%Y 9999 99 99 9999-12-31 365",
      os.date("%%Y %Y %C %y %F %j", 253402300799))
    assert.equals("Mon Jan  1 00:00:00 1", os.date("!%c", -62135596800))
    assert.equals("Wed Dec 31 23:59:59 1969", os.date("%c", -1))
    assert.equals("31.12.1969", os.date("%d.%m.%EY", -1))
    for time = -62135596800, 253402300799, 86400 * 9973 + 54321 do
      local date = os.date("*t", time)
      assert.equals(time, os.time(date))
      assert.equals(("%d-%02d-%02d"):format(date.year, date.month, date.day),
        os.date("%Y-%m-%d", time))
    end
    assert.equals("os.date: argument #2 'time' must be number or nil, got table",
      error_of(os.date, "%c", {}))
    assert.equals("os.date: argument #1 'format' must be string or nil, got number 5",
      error_of(os.date, 5, {}))
    assert.equals("os.date: argument #2 'time' must be in the years 1 to 9999, got 1e+300 seconds "
      .. "from 1970", error_of(os.date, "*t", 1e300))
    assert.matches("years 1 to 9999, got nan", error_of(os.date, "*t", 0 / 0))
    assert.equals(1024 / 2 * 4, #os.date(("%Y"):rep(512)))
    assert.equals("os.date: argument #1 'format' has more than 1024 bytes (DATE_FORMAT_BYTES_MAX): "
      .. "format the parts of the text one by one", error_of(os.date, ("%c"):rep(4e6)))
  end)
end)

describe("collectgarbage", function()
  it("counts and collects, and leaves the pacing to the engine", function()
    assert.is_true(collectgarbage("count") > 10)
    assert.equals(0, collectgarbage())
    assert.matches("^collectgarbage: 'stop' is not for games", error_of(collectgarbage, "stop"))
  end)
end)

describe("coroutines", function()
  it("pass on errors when wrapped", function()
    local thread = coroutine.wrap(function(a)
      local b = coroutine.yield(a + 1)
      error({ b })
    end)
    assert.equals(2, thread(1))
    local ok, raised = pcall(thread, "x")
    assert.is_false(ok)
    assert.same({ "x" }, raised)
  end)

  local function count(...)
    return select("#", ...), ...
  end

  it("pass all values, including trailing nils", function()
    local thread = coroutine.create(function(...)
      coroutine.yield(select("#", ...))
      coroutine.yield()
      coroutine.yield(nil, nil)
      local _, a, b, c = count(coroutine.yield())
      return a, b, c, nil
    end)
    assert.same({ 2, true, 3 }, { count(coroutine.resume(thread, nil, 1, nil)) })
    assert.equals(1, (count(coroutine.resume(thread))))
    assert.equals(3, (count(coroutine.resume(thread))))
    assert.equals(1, (count(coroutine.resume(thread))))
    assert.same({ 5, true, 1, nil, 3 }, { count(coroutine.resume(thread, 1, nil, 3)) })
    assert.same({ false, "cannot resume dead coroutine" }, { coroutine.resume(thread) })
  end)

  it("pass thousands of values", function()
    local list = {}
    for i = 1, 7000 do
      list[i] = i
    end
    local thread = coroutine.wrap(function(...)
      while true do
        coroutine.yield(coroutine.yield(...))
      end
    end)
    assert.equals(7000, (count(thread(unpack(list)))))
    local values = { thread(unpack(list)) }
    assert.same({ 7000, 7000 }, { #values, values[7000] })
  end)

  it("return false and the error, also after a yield", function()
    local thread = coroutine.create(function()
      coroutine.yield()
      error({ 1 })
    end)
    assert.is_true(coroutine.resume(thread))
    assert.same({ false, { 1 } }, { coroutine.resume(thread) })
    assert.equals("dead", coroutine.status(thread))
    local failing = coroutine.wrap(error)
    assert.same({ false, "at once" }, { pcall(failing, "at once") })
    assert.same({ false, "cannot resume dead coroutine" }, { pcall(failing) })
  end)

  it("cannot resume themselves or an enclosing coroutine", function()
    local outer
    outer = coroutine.create(function()
      local inner = coroutine.wrap(function()
        return coroutine.resume(outer)
      end)
      local _, own = coroutine.resume(outer)
      local _, message = inner()
      return own, message
    end)
    local message = "cannot resume running coroutine"
    assert.same({ true, message, message }, { coroutine.resume(outer) })
  end)

  it("report values that cannot be resumed or wrapped", function()
    assert.equals("coroutine.resume: argument #1 'thread' must be thread, got nil",
      error_of(coroutine.resume))
    assert.matches("coroutine.wrap: argument #1 'fn' must be function, got number 3",
      error_of(coroutine.wrap, 3))
  end)
end)

describe("print", function()
  it("accepts any values and writes to the log", function()
    print("a line of sandbox_test.lua's own:", 1, nil, true)
  end)
end)
