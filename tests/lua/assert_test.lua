-- Suite of the assertions: conditions that pass, conditions that fail, and their messages. Spies
-- are in spy_test.lua, matchers in match_test.lua, differences in diff_test.lua.

local function message_of(check, ...)
  local ok, raised = pcall(check, ...)
  if ok then
    return nil
  end
  return (tostring(raised):gsub("^[^\n]-:%d+: ", "", 1))
end

local function fails(check, ...)
  return message_of(check, ...) ~= nil
end

describe("assert as Lua's own", function()
  it("returns all its arguments", function()
    assert.same({ 1, "two", 3, "four" }, { assert(1, "two", 3, "four") })
  end)

  it("raises the message", function()
    assert.equal("broken", message_of(assert, false, "broken"))
    assert.equal("assertion failed!", message_of(assert, nil))
  end)

  it("prefixes the message with the test's line", function()
    local _, raised = pcall(function()
      assert(false, "here")
    end)
    assert.matches("assert_test.lua:%d+: here$", tostring(raised))
  end)

  it("raises values that are not strings unchanged", function()
    local _, raised = pcall(assert, false, { code = 7 })
    assert.equal(7, raised.message.code)
  end)

  it("accepts a level", function()
    assert.equal(3, assert:get_level(assert:level(3)))
    assert.is_nil(assert:get_level(3))
    assert.equal("plain", select(2, pcall(assert, false, "plain", assert:level(0))).message)
  end)
end)

describe("equality", function()
  it("equals compares identity", function()
    local t = {}
    assert.equals(t, t)
    assert.are.equal(1, 1)
    assert.are_not.equal({}, {})
    assert.is_true(fails(assert.equals, 1, "1"))
  end)

  it("same compares contents", function()
    assert.same({ a = { 1, 2 } }, { a = { 1, 2 } })
    assert.are_not.same({ a = { 1, 2 } }, { a = { 1, 3 } })
    assert.are_not.same({ 1 }, { 1, 2 })
    assert.are_not.same({ 1, 2 }, { 1 })
  end)

  it("same follows cycles", function()
    local a, b = { k = 1 }, { k = 1 }
    a.own, b.own = a, b
    assert.same(a, b)
    b.k = 2
    assert.are_not.same(a, b)
  end)

  it("same uses __eq of inner values, not of the outer ones", function()
    local meta = {
      __eq = function()
        return true
      end,
    }
    local one, two = setmetatable({ 1 }, meta), setmetatable({ 2 }, meta)
    assert.same({ one }, { two })
    assert.are_not.same(one, two)
  end)

  it("reports both values, the passed one first", function()
    assert.equal(
      "Expected objects to be equal.\nPassed in:\n(number) 2\nExpected:\n(string) 'two'",
      message_of(assert.equal, "two", 2)
    )
    assert.matches("Expected objects to not be the same", message_of(assert.is_not.same, 1, 1))
  end)

  it("marks the path to the first difference in tables", function()
    local message = message_of(assert.same, { 1, { x = 2 } }, { 1, { x = 3 } })
    assert.matches("%*%[2%] = {", message)
    assert.matches("%*%[x%] = 3", message)
  end)

  it("needs two values", function()
    assert.equal("the 'equals' function requires a minimum of 2 arguments, got: 1",
      message_of(assert.equal, 1))
    assert.equal("the 'same' function requires a minimum of 2 arguments, got: 1",
      message_of(assert.same, 1))
  end)

  it("unique finds equal elements", function()
    assert.unique({ 1, 2, 3 })
    assert.is_not.unique({ 1, 2, 1 })
    assert.unique({ { 1 }, { 1 } })
    assert.is_not.unique({ { 1 }, { 1 } }, true)
  end)
end)

describe("truth and types", function()
  it("distinguishes truthy from true", function()
    assert.truthy(0)
    assert.falsy(nil)
    assert.is_true(true)
    assert.is_not_true(1)
    assert.is_false(false)
    assert.is_not_false(nil)
    assert.is_true(fails(assert.truthy, false))
    assert.is_true(fails(assert.falsy, 1))
    assert.is_true(fails(assert.is_true, 1))
  end)

  it("has an assertion for every type", function()
    assert.is_nil(nil)
    assert.is_boolean(false)
    assert.is_number(1)
    assert.is_string("")
    assert.is_table({})
    assert.is_function(print)
    assert.is_thread(coroutine.create(function() end))
    assert.is_not_userdata({})
    assert.is_true(fails(assert.is_table, "x"))
    assert.equal(
      "Expected objects to be the same.\nPassed in:\n(string) 'x'\nExpected:\ntype table",
      message_of(assert.is_table, "x")
    )
  end)
end)

describe("numbers and strings", function()
  it("near accepts a tolerance", function()
    assert.near(1, 1.5, 0.5)
    assert.is_not.near(1, 1.6, 0.5)
    assert.is_near("1", "1.5", "0.5")
    assert.matches("bad argument #3 to 'near'", message_of(assert.near, 1, 2, "x"))
    assert.matches("Expected values to be near", message_of(assert.near, 1, 2, 0.1))
  end)

  it("matches finds patterns and returns captures", function()
    assert.same({ "ab", "12" }, { assert.matches("(%a+)(%d+)", "ab12") })
    assert.has_match("a.c", "a.c", 1, true)
    assert.has_no.match("a.c", "abc", 1, true)
    assert.matches("Expected strings to match", message_of(assert.matches, "%d", "x"))
    assert.matches("bad argument #2 to 'matches'", message_of(assert.matches, "x", {}))
  end)
end)

describe("errors", function()
  local function raise(value)
    return function()
      error(value)
    end
  end

  it("has_error compares messages without their position", function()
    assert.has_error(raise("broken"))
    assert.has_error(raise("broken"), "broken")
    assert.is_true(fails(assert.has_error, raise("broken"), "whole"))
    assert.is_true(fails(assert.has_error, function() end))
  end)

  it("has_error compares tables by contents", function()
    assert.has_error(raise({ code = 1 }), { code = 1 })
    assert.is_true(fails(assert.has_error, raise({ code = 1 }), { code = 2 }))
  end)

  it("has_no.errors reports the error", function()
    assert.has_no.errors(function() end)
    assert.equal("Expected no error, but caught:\n(string) 'broken'",
      message_of(assert.has_no.errors, raise("broken")))
  end)

  it("error_matches uses a pattern", function()
    assert.error_matches(raise("broken at 12"), "at %d+$")
    assert.error.matches(raise("a.c"), "a.c", nil, true)
    assert.no_error_matches(function() end, "x")
    assert.matches("%(no error%)", message_of(assert.error_matches, function() end, "x"))
  end)

  it("refuses values that cannot be called", function()
    assert.equal(
      "bad argument #1 to 'error' (function or callable object expected, got string)",
      message_of(assert.has_error, "x")
    )
  end)
end)

describe("chains", function()
  it("accept keywords joined by dots or underscores, in upper or lower case", function()
    assert.Is.True(true)
    assert.IS_NOT_TRUE(false)
    assert.are.the.same({}, {})
    assert.equals.Not(1, 2)
    assert.Not.equals.Not(1, 1)
  end)

  it("can be stored and used again", function()
    local isnt = assert.is_not
    isnt.equal(1, 2)
    isnt.equal(1, 3)
    local same = assert.are.same
    same({}, {})
    same({ 1 }, { 1 })
  end)

  it("report an unknown keyword", function()
    assert.has_error(function()
      assert.is_blorp(1)
    end, "luassert: unknown modifier/assertion: 'is_blorp'")
  end)

  it("suggests names for misspelt assertions, and for those of other libraries", function()
    local rows = {
      equls = "equals", is_equl = "is_equal", has_eror = "has_error", not_equls = "not_equals",
      is_not_nill = "is_not_nil", isTrue = "is_true", toBe = "equals", are_equal_to = "equals",
    }
    for name, wanted in pairs(rows) do
      assert.error_matches(function() assert[name](1, 1) end,
        "'" .. name:lower() .. "', did you mean '" .. wanted .. "'?", 1, true)
    end
  end)

  it("show a custom message first", function()
    assert.matches("^mine\nExpected", message_of(assert.message("mine").is_true, false))
    assert.matches("^mine\nExpected", message_of(assert.equal, 1, 2, "mine"))
  end)

  it("counts returned arguments", function()
    assert.returned_arguments(2, nil, nil)
    assert.not_returned_arguments(1)
    assert.matches("called with 3 argument", message_of(assert.returned_arguments, 3, 1))
  end)

  it("finds holes in arrays", function()
    assert.array({ 1, 2 }).has.no.holes()
    assert.equal(3, assert.array({ 1, 2 }).has.holes(3))
    assert.matches("No array set", message_of(assert.has.holes))
  end)
end)

describe("registration", function()
  local say = require("say")

  it("adds and removes assertions", function()
    say:set("assertion.even.positive", "Expected an even number, got %s")
    say:set("assertion.even.negative", "Expected an odd number, got %s")
    assert:register("assertion", "even", function(_, arguments)
      return arguments[1] % 2 == 0
    end, "assertion.even.positive", "assertion.even.negative")
    assert.is_even(2)
    assert.is_not_even(3)
    assert.equal("Expected an even number, got (number) 3", message_of(assert.is.even, 3))
    assert:unregister("assertion", "even")
    assert.is_true(fails(function()
      assert.is_even(2)
    end))
  end)

  it("adds modifiers with a payload", function()
    assert:register("modifier", "of_list", function(state, arguments)
      rawset(state, "list", arguments and arguments[1] or rawget(state, "list"))
    end)
    assert:register("assertion", "has_length", function(state, arguments)
      return #rawget(state, "list") == arguments[1]
    end)
    assert.of_list({ 1, 2, 3 }).has_length(3)
    assert.is_true(fails(function()
      assert.of_list({ 1 }).has_length(3)
    end))
    assert:unregister("assertion", "has_length")
    assert:unregister("modifier", "of_list")
  end)

  it("say falls back to its second namespace", function()
    say:set_namespace("de")
    say:set("only.german", "nur %s")
    assert.equal("nur eins", say("only.german", { "eins" }))
    assert.equal("Expected to be falsy, but value was:\n1", say("assertion.falsy.positive", { 1 }))
    assert.is_nil(say("nowhere"))
    say:set_namespace("en")
    assert.has_error(function()
      say("nowhere", 1)
    end, "expected parameter table to be a table, got 'number'")
  end)
end)

describe("snapshots", function()
  it("undo parameters, formatters and spies", function()
    local t = { f = function() end }
    local before = t.f
    local snapshot = assert:snapshot()
    assert:set_parameter("colour", "red")
    assert:add_formatter(function(value)
      return value == 42 and "the answer" or nil
    end)
    stub(t, "f")
    assert.equal("red", assert:get_parameter("colour"))
    assert.equal("the answer", assert:format({ 42, n = 1 })[1])
    snapshot:revert()
    assert.is_nil(assert:get_parameter("colour"))
    assert.equal("(number) 42", assert:format({ 42, n = 1 })[1])
    assert.equal(before, t.f)
    assert.has_error(function()
      snapshot.revert(snapshot)
    end, "Value provided is not a valid snapshot")
  end)

  it("a formatter can be removed again", function()
    local function shout(value)
      return type(value) == "string" and value:upper() or nil
    end
    assert:add_formatter(shout)
    assert.equal("A", assert:format({ "a" })[1])
    assert:remove_formatter(shout)
    assert.equal("(string) 'a'", assert:format({ "a" })[1])
  end)

  it("TableFormatLevel limits printed tables", function()
    local snapshot = assert:snapshot()
    assert:set_parameter("TableFormatLevel", 1)
    assert.matches("%[a%] = { %.%.%. more }", assert:format({ { a = { 1 } } })[1])
    assert:set_parameter("TableFormatLevel", -1)
    assert.matches("%[1%] = 1 } }$", assert:format({ { a = { 1 } } })[1])
    snapshot:revert()
  end)
end)
