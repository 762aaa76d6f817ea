-- Suite of the test library: blocks, hooks, environments, order, and calls refused in some blocks.

describe("hooks", function()
  local log = {}
  local function note(text)
    return function()
      log[#log + 1] = text
    end
  end

  describe("around tests", function()
    setup(note("S"))
    teardown(note("T"))
    before_each(note("b"))
    after_each(note("a"))
    it("first", note("1"))

    describe("inside", function()
      before_each(note("B"))
      after_each(note("A"))
      it("second", note("2"))
    end)
  end)

  it("run from outermost to innermost and back", function()
    assert.equal("Sb1abB2AaT", table.concat(log))
  end)
end)

describe("lazy hooks", function()
  local count = 0
  describe("without a test", function()
    lazy_setup(function()
      count = count + 1
    end)
    lazy_teardown(function()
      count = count + 1
    end)
  end)

  it("do not run", function()
    assert.equal(0, count)
  end)

  describe("with tests", function()
    lazy_setup(function()
      count = count + 1
    end)
    it("run before the first test", function()
      assert.equal(1, count)
    end)
    it("run once", function()
      assert.equal(1, count)
    end)
  end)
end)

describe("strict hooks", function()
  local count = 0
  describe("without a test", function()
    strict_setup(function()
      count = count + 1
    end)
    strict_teardown(function()
      count = count + 1
    end)
  end)
  it("run anyway", function()
    assert.equal(2, count)
  end)
end)

describe("finally", function()
  local ended = false
  it("is called after the test", function()
    finally(function()
      ended = true
    end)
    assert.is_false(ended)
  end)
  it("was called", function()
    assert.is_true(ended)
  end)
  it("needs a function", function()
    assert.error_matches(function()
      finally(1)
    end, "finally: needs a function")
  end)
end)

describe("globals", function()
  shared_by_block = "block"

  before_each(function()
    made_before = "before"
  end)

  it("of the block are visible in its tests", function()
    assert.equal("block", shared_by_block)
    assert.equal("before", made_before)
    own_global = 1
  end)

  it("of one test are not visible in another", function()
    assert.is_nil(own_global)
  end)

  it("do not reach the game's globals", function()
    assert.is_nil(rawget(_G, "shared_by_block"))
  end)
end)

it("globals of a block end with it", function()
  assert.is_nil(shared_by_block)
end)

describe("insulate", function()
  insulate("a block that changes the game's globals", function()
    it("may change globals", function()
      rawset(_G, "changed_by_test", true)
      assert.is_true(changed_by_test)
    end)
  end)
  it("restores the globals", function()
    assert.is_nil(rawget(_G, "changed_by_test"))
  end)

  insulate("around expose", function()
    expose("a block that is meant to change them", function()
      it("keeps its change", function()
        rawset(_G, "exposed_by_test", true)
      end)
    end)
    it("is visible to the outer block", function()
      assert.is_true(exposed_by_test)
    end)
  end)
  it("keeps an exposed change after the insulated block", function()
    assert.is_true(rawget(_G, "exposed_by_test"))
  end)
end)

describe("order", function()
  local order = {}
  describe("fixed by a seed", function()
    randomize(4321)
    for i = 1, 20 do
      it("test " .. i, function()
        order[#order + 1] = i
      end)
    end
  end)
  it("is shuffled, and every test runs once", function()
    local sorted, written = { unpack(order) }, {}
    table.sort(sorted)
    for i = 1, 20 do
      written[i] = i
    end
    assert.same(written, sorted)
    assert.are_not.same(written, order)
  end)

  describe("that is switched off again", function()
    local plain = {}
    randomize()
    randomize(false)
    for i = 1, 20 do
      it("test " .. i, function()
        plain[#plain + 1] = i
        assert.equal(i, #plain)
      end)
    end
  end)
end)

describe "names without parentheses" (function()
  it "work for tests too" (function()
    assert.is_true(true)
  end)
end)

context("aliases", function()
  spec("spec is a test", function() end)
  test("test is a test", function() end)
end)

describe("functions in the wrong place", function()
  for _, name in ipairs({
    "describe", "context", "insulate", "expose", "it", "spec", "test", "setup", "teardown",
      "before_each",
    "after_each", "lazy_setup", "lazy_teardown", "strict_setup", "strict_teardown", "randomize",
  }) do
    it(name .. " is refused inside a test", function()
      local functions = {
        describe = describe, context = context, insulate = insulate, expose = expose, it = it,
          spec = spec, test = test,
        setup = setup, teardown = teardown, before_each = before_each, after_each = after_each,
          lazy_setup = lazy_setup,
        lazy_teardown = lazy_teardown, strict_setup = strict_setup,
          strict_teardown = strict_teardown,
        randomize = randomize,
      }
      assert.has_error(function()
        functions[name]("x", function() end)
      end, "'" .. name .. "' not supported inside current context block")
    end)
  end

  before_each(function()
    assert.is_nil(finally)
    assert.has_error(function()
      pending("x")
    end, "'pending' not supported inside current context block")
  end)

  it("finally and pending are refused in hooks", function() end)
end)

describe("pending", function()
  pending("a test that is not written")
  pending("a test that is not run", function()
    error("must not run")
  end)
  it("ends the test if it is called inside", function()
    pending("not yet")
    error("must not come here")
  end)
end)

describe("asynchronous tests", function()
  it("wait for their tokens", function()
    async()
    done:wait("a", "b")
    done("a")
    done("b")
  end)
  it("accept tokens in any order on request", function()
    async()
    done:wait_unordered("a", "b")
    done("b")
    done("a")
  end)
  it("report a wrong token", function()
    async()
    done:wait_ordered("a", "b")
    assert.error_matches(function()
      done("b")
    end, "Bad token 'b': tokens expected: 'a', 'b', tokens received: none")
    assert.error_matches(function()
      done(1)
    end, "Wait tokens must be strings. Got number")
    assert.error_matches(function()
      done:wait(1)
    end, "Wait tokens must be strings. Got number")
    done("a")
    done("b")
  end)
  it("can sign off in a function that a frame calls", function()
    async()
    local_to_the_test = "seen"
    Timer.after(0.1, function()
      assert.equal("seen", local_to_the_test)
      assert.error_matches(function()
        test.frames(1)
      end, "only the test itself can let time pass")
      settimeout(2)
      Timer.after(1.5, function()
        done()
      end)
    end)
  end)
  describe("asynchronous hooks", function()
    local signed
    before_each(function()
      async()
      Timer.after(0.1, function()
        assert.is_function(before_each)
        signed = true
        done()
      end)
    end)
    it("sign off like tests", function()
      assert.is_true(signed)
    end)
  end)
  it("have a time-out in seconds", function()
    settimeout(2)
    assert.error_matches(function()
      settimeout("x")
    end, "settimeout: needs seconds")
  end)
end)

describe("the busted module", function()
  local busted = require("busted")

  it("has the functions of the suite language", function()
    assert.equal(describe, busted.describe)
    assert.equal(assert, busted.assert)
    assert.equal(busted, require("busted.runner")())
    assert.is_string(busted.version)
  end)

  it("cannot be changed", function()
    assert.has_error(function()
      busted.it = 1
    end, "Attempt to modify busted")
  end)

  it("publishes messages to subscribers until they unsubscribe", function()
    local got
    local entry = busted.subscribe({ "suite_test", "news" }, function(...)
      got = { ... }
    end)
    busted.publish({ "suite_test", "news" }, 1, "two")
    assert.same({ 1, "two" }, got)
    assert.equal(entry, busted.unsubscribe(entry.id, { "suite_test", "news" }))
    busted.publish({ "suite_test", "news" }, 3)
    assert.same({ 1, "two" }, got)
  end)

  it("can fail a test with any value", function()
    local _, raised = pcall(busted.fail, { code = 3 })
    assert.equal(3, raised.message.code)
  end)

  it("provides luassert's parts to require", function()
    assert.equal(assert, require("luassert"))
    assert.equal(spy, require("luassert.spy"))
    assert.equal(stub, require("luassert.stub"))
    assert.equal(mock, require("luassert.mock"))
    assert.equal(match, require("luassert.match"))
    local util = require("luassert.util")
    assert.is_true(util.deepcompare({ 1 }, { 1 }))
    assert.same({ 1, 2, 3, n = 3 }, util.pack(util.unpack({ 1, 2, 3 })))
    local list = { 1, 3, n = 2 }
    util.tinsert(list, 2, 2)
    assert.same({ 1, 2, 3, n = 3 }, list)
    assert.equal(1, util.tremove(list, 1))
    assert.same({ 2, 3, n = 2 }, list)
    assert.equal("Binary string length; 2 bytes\n",
      require("luassert.formatters.binarystring")("ab"):match("^[^\n]*\n"))
  end)
end)
