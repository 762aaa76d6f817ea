-- Suite of spies, stubs and mocks of the test library.

local function error_of(check)
  local ok, raised = pcall(check)
  return not ok and (tostring(raised):gsub("^[^\n]-:%d+: ", "", 1)) or nil
end

describe("spies", function()
  it("call through and record", function()
    local s = spy.new(function(a, b)
      return a + b
    end)
    assert.equal(3, s(1, 2))
    assert.spy(s).was.called()
    assert.spy(s).was.called(1)
    assert.spy(s).was_called_with(1, 2)
    assert.spy(s).was_not_called_with(1)
    assert.spy(s).was.returned_with(3)
    assert.is_true(spy.is_spy(s))
    assert.is_false(spy.is_spy({}))
  end)

  it("count", function()
    local s = spy.new()
    assert.spy(s).was_not.called()
    s()
    s()
    assert.spy(s).was.called_at_least(2)
    assert.spy(s).was.called.at_most(2)
    assert.spy(s).called_more_than(1)
    assert.spy(s).called_less_than(3)
    assert.spy(s).was_not.called(1)
    assert.equal("Expected to be called 0 time(s), but was called 2 time(s)", error_of(function()
      assert.spy(s).was_not.called()
    end))
    assert.equal("Expected to be called at least 3 time(s), but was called 2 time(s)",
      error_of(function()
      assert.spy(s).was.called_at_least(3)
    end))
  end)

  it("record copies of tables", function()
    local s, t = spy.new(), { list = { 1 } }
    s(t)
    t.list[1] = 2
    assert.spy(s).was.called_with({ list = { 1 } })
    assert.spy(s).was_not.called_with(t)
    assert.spy(s).was.called_with(match.is_ref(t))
  end)

  it("count nil arguments", function()
    local s = spy.new()
    s(1, nil)
    assert.spy(s).was.called_with(1, nil)
    assert.spy(s).was_not.called_with(1)
  end)

  it("replace a field until they are reverted", function()
    local t = {
      name = function()
        return "real"
      end,
    }
    local real = t.name
    local s = spy.on(t, "name")
    assert.equal("real", t.name())
    s:revert()
    assert.equal(real, t.name)
    assert.spy(s).was.called(1)
    s:clear()
    assert.spy(s).was_not.called()
  end)

  it("show the last call if none matches", function()
    local s = spy.new()
    s("a", nil)
    assert.equal(
      "Function was never called with matching arguments.\nCalled with (last call if any):\n"
        .. "(values list) ((string) 'a', (nil))\nExpected:\n(values list) ((number) 5)",
      error_of(function()
        assert.spy(s).was.called_with(5)
      end)
    )
  end)

  it("refuse values that cannot be called", function()
    assert.has_error(function()
      spy.new("text")
    end, "Cannot spy on type 'string', only on functions or callable elements")
    assert.has_error(function()
      spy.on(nil, "x")
    end, "spy.on: argument #1 must be the table that holds the function, got nil")
    assert.has_error(function()
      assert.was.called()
    end, "'called' must be chained after 'spy(aspy)'")
    assert.error_matches(function()
      assert.spy(print).was.called()
    end, "must not be the original function")
  end)
end)

describe("stubs", function()
  local t
  before_each(function()
    t = {
      f = function()
        return "real"
      end,
    }
  end)

  it("return nothing, values, or a function's results", function()
    stub(t, "f")
    assert.equal(0, select("#", t.f()))
    t.f:revert()
    stub(t, "f", 1, nil, 3)
    assert.same({ 1, nil, 3 }, { t.f() })
    t.f.returns("other")
    assert.equal("other", t.f())
    t.f.invokes(function(a)
      return a * 2
    end)
    assert.equal(8, t.f(4))
    t.f.by_default.returns(0)
    assert.equal(0, t.f())
    t.f:revert()
    assert.equal("real", t.f())
  end)

  it("return results by arguments", function()
    local s = stub(t, "f").returns("else")
    s.on_call_with(1).returns("one")
    s.on_call_with(match.is_string()).invokes(function(text)
      return text:upper()
    end)
    assert.equal("one", t.f(1))
    assert.equal("ABC", t.f("abc"))
    assert.equal("else", t.f(2))
    assert.stub(s).was.called(3)
  end)

  it("do not overwrite inherited fields", function()
    local child = setmetatable({}, { __index = t })
    stub(child, "f"):revert()
    assert.is_nil(rawget(child, "f"))
    assert.equal("real", child.f())
  end)

  it("can be created without a target", function()
    local s = stub.new()
    s()
    assert.stub(s).was.called(1)
    assert.is_nil(s:revert())
  end)

  it("refuse fields that are not functions", function()
    assert.error_matches(function()
      stub({ x = 1 }, "x")
    end, "must either be callable, or be nil")
    assert.error_matches(function()
      stub({})
    end, "call with 2 params")
  end)
end)

describe("mocks", function()
  it("spy on every function of a table", function()
    local t = {
      f = function()
        return 1
      end,
      inner = { g = function() end },
    }
    t.own = t
    assert.equal(t, mock(t))
    assert.equal(1, t.f())
    t.inner.g("x")
    assert.spy(t.f).was.called(1)
    assert.spy(t.inner.g).was.called_with("x")
    mock.clear(t)
    assert.spy(t.f).was_not.called()
    mock.revert(t)
    assert.is_function(t.f)
    assert.is_function(t.inner.g)
  end)

  it("create stubs on request", function()
    local t = mock({
      f = function()
        return 1
      end,
    }, true)
    assert.is_nil(t.f())
  end)
end)
