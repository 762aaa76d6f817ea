-- What games see of Lua's own library: an allow-list, text only, libraries that cannot be replaced.

local function words_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("the sandbox", function()
  it("has no way to the machine", function()
    local machine = { "io", "ffi", "jit", "dofile", "loadfile", "getfenv", "setfenv", "module",
      "newproxy", "gcinfo" }
    for _, name in ipairs(machine) do
      assert.is_nil(_G[name], name)
    end
    local system = { "execute", "exit", "getenv", "remove", "rename", "tmpname", "setlocale" }
    for _, name in ipairs(system) do
      assert.is_nil(os[name], name)
    end
    assert.is_nil(string.dump)
    assert.is_nil(debug.getinfo)
    assert.is_nil(debug.sethook)
    assert.is_nil(package.loadlib)
    assert.is_nil(package.cpath)
  end)

  it("says of a missing library what to use in its place", function()
    assert.matches("there is no module 'io'.*files are read as resources", words_of(require, "io"))
    assert.matches("there is no module 'ffi'.*native code", words_of(require, "ffi"))
  end)

  it("does not let the libraries be replaced, and lets them be added to", function()
    assert.equals("math.floor is the engine's and cannot be replaced: use another name",
      words_of(function() math.floor = print end))
    string.sandbox_test = function(s) return "<" .. s .. ">" end
    assert.equals("<a>", ("a"):sandbox_test())
    string.sandbox_test = function() return "again" end
    assert.equals("again", ("a"):sandbox_test())
    string.sandbox_test = nil
    assert.equals("protected", getmetatable("x"))
    assert.is_false(pcall(setmetatable, math, {}))
  end)

  it("lets the game's own globals replace the engine's without harm", function()
    local real = _G.type
    _G.type = function() return "banana" end
    local fine, length = pcall(Vector3.length, Vector3(3, 4, 0))
    _G.type = real
    assert.is_true(fine)
    assert.equals(5, length)
  end)
end)

describe("load", function()
  it("compiles text, also in pieces and with an environment", function()
    assert.equals(3, load("return 1 + 2")())
    local pieces = { "return ", "7" }
    assert.equals(7, load(function() return table.remove(pieces, 1) end)())
    assert.equals(9, load("return x", "=x", "t", { x = 9 })())
    assert.equals(5, loadstring("return 5")())
  end)

  it("gives nil and the words of a syntax error", function()
    local chunk, problem = load("return +", "=mine")
    assert.is_nil(chunk)
    assert.matches("^mine:1: ", problem)
  end)

  it("refuses compiled chunks, whatever the mode says", function()
    local chunk, problem = load("\27LJ\2", "=x", "b")
    assert.is_nil(chunk)
    assert.equals("load: this is a compiled chunk, and only text can be loaded", problem)
  end)

  it("refuses what is no text", function()
    assert.equals("load: argument #1 'text' must be string or function, got number 1",
      words_of(load, 1))
    assert.equals("load: the reader function must return strings, got number 1",
      words_of(load, function() return 1 end))
    assert.equals("loadstring: argument #1 'text' must be string, got nil", words_of(loadstring))
  end)
end)

describe("the clock", function()
  it("is the game's own in a run that repeats", function()
    local before, time = os.clock(), os.time()
    test.seconds(2)
    assert.is_true(math.abs(os.clock() - before - 2) < 0.02)
    assert.is_true(os.time() - time == 2 or os.time() - time == 1)
    assert.equals("2000-01-01", os.date("%Y-%m-%d"))
    assert.equals(3, os.difftime(5, 2))
  end)

  it("takes a date apart from a table alone", function()
    assert.equals("os.time: argument #1 'date' must be table or nil, got number 1",
      words_of(os.time, 1))
  end)
end)

describe("collectgarbage", function()
  it("counts and collects, and leaves the pace to the engine", function()
    assert.is_true(collectgarbage("count") > 10)
    assert.equals(0, collectgarbage())
    assert.matches("^collectgarbage: 'stop' is not for games", words_of(collectgarbage, "stop"))
  end)
end)

describe("coroutines", function()
  it("are wrapped with their errors passed on", function()
    local thread = coroutine.wrap(function(a)
      local b = coroutine.yield(a + 1)
      error({ b })
    end)
    assert.equals(2, thread(1))
    local ok, raised = pcall(thread, "x")
    assert.is_false(ok)
    assert.same({ "x" }, raised)
  end)
end)

describe("print", function()
  it("takes anything and goes to the log", function()
    print("a line of sandbox_test.lua's own:", 1, nil, true)
  end)
end)
