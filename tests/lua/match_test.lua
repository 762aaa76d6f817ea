-- Suite of matchers: accepted values, combinations, and their texts in messages.

local function accepts(matcher, value)
  return matcher(value)
end

describe("matchers", function()
  it("accept by type", function()
    local values = {
      ["nil"] = { n = 1 },
      boolean = { false },
      number = { 1 },
      string = { "" },
      table = { {} },
      ["function"] = { print },
    }
    for kind, value in pairs(values) do
      for other in pairs(values) do
        assert.equal(kind == other, accepts(match["is_" .. other](), value[1]))
      end
    end
    assert.is_true(match.is_thread()(coroutine.create(print)))
    assert.is_false(match.is_userdata()({}))
  end)

  it("accept by value", function()
    local t = {}
    assert.is_true(match.is_true()(true))
    assert.is_true(match.is_false()(false))
    assert.is_true(match.truthy()(0))
    assert.is_true(match.falsy()(nil))
    assert.is_true(match.is_equal(t)(t))
    assert.is_false(match.is_equal(t)({}))
    assert.is_true(match.is_same({ 1 })({ 1 }))
    assert.is_true(match.is_ref(t)(t))
    assert.is_false(match.is_ref(t)({}))
    assert.is_true(match.near(1, 0.5)(1.5))
    assert.is_false(match.near(1, 0.5)("x"))
    assert.is_true(match.matches("^a%d")("a1"))
    assert.is_false(match.matches("^a%d")({}))
    assert.is_true(match.unique()({ 1, 2 }))
    assert.is_true(match._("anything"))
  end)

  it("are negated by not", function()
    assert.is_true(match.is_not_string()(1))
    assert.is_false(match.is.Not.string()("x"))
    assert.is_true(match.Not.equals.Not(1)(1))
  end)

  it("combine", function()
    local number, big = match.is_number(), match.near(100, 50)
    assert.is_true(match.all_of(number, big)(120))
    assert.is_false(match.all_of(number, big)(1))
    assert.is_true(match.any_of(match.is_nil(), number)(1))
    assert.is_true(match.none_of(match.is_nil(), big)(1))
    assert.is_false(match.not_any_of(number)(1))
  end)

  it("refuse wrong arguments", function()
    assert.error_matches(function()
      match.is_ref(1)
    end, "bad argument #1 to 'ref' %(object expected, got number%)")
    assert.error_matches(function()
      match.all_of("x")
    end, "matcher expected, got string")
    assert.error_matches(function()
      match.near("x", 1)
    end, "bad argument #1 to 'near'")
    assert.error_matches(function()
      match.equals()
    end, "minimum of 1 arguments")
    assert.error_matches(function()
      match.is_blorp()
    end, "unknown modifier/matcher: 'is_blorp'")
  end)

  it("have readable names", function()
    assert.equal("(matcher) is.near((number) 1, (number) 2)", assert:format({ match.near(1,
      2) })[1])
    assert.equal("(matcher) no.string()", assert:format({ match.is_not_string() })[1])
    assert.equal("(matcher) _ *anything*", assert:format({ match._ })[1])
  end)

  it("are recognized by is_matcher", function()
    assert.is_true(match.is_matcher(match.is_nil()))
    assert.is_false(match.is_matcher({}))
    assert.is_true(match.is_ref_matcher(match.is_ref({})))
    assert.is_false(match.is_ref_matcher(match.is_nil()))
  end)

  it("can be registered", function()
    assert:register("matcher", "longer_than", function(_, arguments)
      return function(value)
        return #value > arguments[1]
      end
    end)
    local s = spy.new()
    s({ 1, 2, 3 })
    assert.spy(s).was.called_with(match.is_longer_than(2))
    assert.spy(s).was_not.called_with(match.is_longer_than(3))
    assert:unregister("matcher", "longer_than")
  end)
end)
