-- Matchers: placeholders for arguments in `called_with`, `returned_with` and `on_call_with`. Also
-- the comparison of argument lists. Spies are in spy.lua.
local core = ...

local type, tostring, tonumber, next, rawequal, setmetatable =
  type, tostring, tonumber, next, rawequal, setmetatable
local find = string.find
local getmetatable_raw = core.debug.getmetatable

local kit = core.test.kit
local diff, luassert = kit.diff, kit.luassert
kit.own(core.debug.getinfo(1, "S").source)

local Matcher = {}
Matcher.__call = function(matcher, value)
  return (matcher.callback(value) and true or false) == matcher.mod
end

local function is_matcher(value)
  return type(value) == "table" and getmetatable_raw(value) == Matcher
end
kit.is_matcher = is_matcher

local function is_ref_matcher(value)
  return is_matcher(value) and value.name == "ref"
end

local chain, new_state = kit.make_chains("matcher", function(target, state, ...)
  local arguments = kit.list(...)
  local callback = target.callback(state, arguments, 2)
  return setmetatable(
    { name = target.name, mod = state.mod, callback = callback, arguments = arguments },
    Matcher
  )
end)

local match = {
  is_matcher = is_matcher,
  is_ref_matcher = is_ref_matcher,
  state = new_state,
  _ = setmetatable({
    mod = true,
    callback = function()
      return true
    end,
  }, Matcher),
}
kit.match = setmetatable(match, {
  __index = function(_, key)
    if type(key) == "string" then
      return chain(key)
    end
  end,
})

-- Argument lists ----------------------------------------------------------------------------------

local function accepts(spec, value, reference)
  if is_matcher(spec) then
    if is_ref_matcher(spec) then
      value = reference
    end
    return spec(value)
  end
  return diff.equal(value, spec)
end

---Returns true if a list of values matches a list of expectations. `references` contains the
---values themselves, `values` their copies from the time of recording.
function kit.list_matches(values, references, specs)
  if values.n ~= specs.n then
    return false
  end
  for i = 1, specs.n do
    if not accepts(specs[i], values[i], references[i]) then
      return false
    end
  end
  return true
end

-- The matchers ------------------------------------------------------------------------------------

local function need(arguments, count, name)
  if arguments.n < count then
    kit.argument_error("argtolittle", name, count, arguments.n)
  end
end

local function equals(_, arguments)
  need(arguments, 1, "equals")
  local expected = arguments[1]
  return function(value)
    if type(value) == "cdata" or type(expected) == "cdata" then
      return diff.equal(value, expected)
    end
    return value == expected
  end
end

local function same(_, arguments)
  need(arguments, 1, "same")
  local expected = arguments[1]
  return function(value)
    return diff.equal(value, expected, true)
  end
end

local OBJECTS = { table = true, ["function"] = true, thread = true, userdata = true, cdata = true }

local function ref(_, arguments)
  need(arguments, 1, "ref")
  local object = arguments[1]
  if not OBJECTS[type(object)] then
    kit.argument_error("badargtype", 1, "ref", "object", type(object))
  end
  return function(value)
    return rawequal(value, object)
  end
end

local function matches(_, arguments)
  need(arguments, 1, "matches")
  local pattern, init, plain = arguments[1], arguments[2], arguments[3]
  if type(pattern) ~= "string" then
    kit.argument_error("badargtype", 1, "matches", "string", type(pattern))
  elseif init ~= nil and not tonumber(init) then
    kit.argument_error("badargtype", 2, "matches", "number", type(init))
  end
  return function(value)
    if not kit.has_tostring(value) and type(value) ~= "number" then
      return false
    end
    return find(tostring(value), pattern, tonumber(init), plain) ~= nil
  end
end

local function near(_, arguments)
  need(arguments, 2, "near")
  local expected, tolerance = tonumber(arguments[1]), tonumber(arguments[2])
  local type_name = "number or object convertible to a number"
  if not expected then
    kit.argument_error("badargtype", 1, "near", type_name, kit.format_value(arguments[1]))
  elseif not tolerance then
    kit.argument_error("badargtype", 2, "near", type_name, kit.format_value(arguments[2]))
  end
  return function(value)
    local actual = tonumber(value)
    return actual ~= nil and actual >= expected - tolerance and actual <= expected + tolerance
  end
end

local function unique(_, arguments)
  local deep = arguments[1]
  return function(value)
    return type(value) == "table" and diff.unique(value, deep)
  end
end

-- Combines matchers for all_of, any_of and none_of. `stop` is the result of a single matcher that
-- decides the combination.
local function composite(name, stop, answer)
  return function(_, arguments)
    need(arguments, 1, name)
    for i = 1, arguments.n do
      if not is_matcher(arguments[i]) then
        kit.argument_error("badargtype", i, name, "matcher", type(arguments[i]))
      end
    end
    return function(value)
      for i = 1, arguments.n do
        if arguments[i](value) == stop then
          return answer
        end
      end
      return not answer
    end
  end
end

local function predicate(test)
  return function()
    return test
  end
end

local function of_type(name)
  return predicate(function(value)
    return type(value) == name
  end)
end

local MATCHERS = {
  equals = equals,
  equal = equals,
  same = same,
  ref = ref,
  matches = matches,
  match = matches,
  near = near,
  unique = unique,
  all_of = composite("all", false, false),
  any_of = composite("any", true, true),
  none_of = composite("none", true, false),
  ["true"] = predicate(function(value)
    return value == true
  end),
  ["false"] = predicate(function(value)
    return value == false
  end),
  truthy = predicate(function(value)
    return value ~= false and value ~= nil
  end),
  falsy = predicate(function(value)
    return not value
  end),
}
for name, callback in next, MATCHERS do
  luassert:register("matcher", name, callback)
end
for _, name in next, { "nil", "boolean", "number", "string", "table", "function", "userdata",
  "thread", "cdata" } do
  luassert:register("matcher", name, of_type(name))
end
