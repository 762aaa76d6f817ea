-- The assertions: equality, truth, types, numbers, strings, errors, lists. Assertions of spies are
-- in spy.lua; the engine that runs assertions is assert.lua.
local core = ...

local type, tostring, tonumber, next, pcall, rawget, rawset =
  type, tostring, tonumber, next, pcall, rawget, rawset
local gsub, find, match, max, floor = string.gsub, string.find, string.match, math.max, math.floor

local kit = core.test.kit
local diff, say, luassert = kit.diff, kit.say, kit.luassert
kit.own(core.debug.getinfo(1, "S").source)

local LONG_STRING = 200 -- longer strings are shown around their first difference

local function describe(value)
  return kit.format_value(value) or tostring(value)
end

local function set_message(state, message)
  if message ~= nil then
    state.failure_message = message
  end
end

local function need(arguments, count, name)
  if arguments.n < count then
    kit.argument_error("argtolittle", name, count, arguments.n)
  end
end

local function take(arguments, index)
  local value = arguments[index]
  for i = index, arguments.n do
    arguments[i] = arguments[i + 1]
  end
  arguments.n = arguments.n - 1
  return value
end

-- Sets the order of values in messages: the passed value first and the expected one second.
local function show(arguments, actual, expected)
  arguments[1], arguments[2] = actual, expected
  arguments.n = max(arguments.n, 2)
end

local function mark_difference(arguments, expected, actual)
  arguments.compared, arguments.expected, arguments.actual = true, expected, actual
  if type(expected) == "table" and type(actual) == "table" then
    local crumbs = { crumbs = diff.crumbs(expected, actual) }
    arguments.fmtargs = { crumbs, crumbs }
  elseif type(expected) == "string" and type(actual) == "string"
    and #expected + #actual > LONG_STRING then
    local window = { window = diff.first_difference(expected, actual) }
    arguments.fmtargs = { window, window }
  end
end

-- Equality ---------------------------------------------------------------------------------------

local function equals(state, arguments)
  need(arguments, 2, "equals")
  local expected, actual = arguments[1], arguments[2]
  show(arguments, actual, expected)
  set_message(state, arguments[3])
  if type(expected) == "cdata" or type(actual) == "cdata" then
    return diff.equal(expected, actual)
  end
  local equal = expected == actual
  if not equal and type(expected) == "string" and type(actual) == "string" then
    mark_difference(arguments, expected, actual)
  end
  return equal
end

local function same(state, arguments)
  need(arguments, 2, "same")
  local expected, actual = arguments[1], arguments[2]
  local equal = diff.equal(expected, actual, true)
  show(arguments, actual, expected)
  set_message(state, arguments[3])
  if not equal and state.mod then
    mark_difference(arguments, expected, actual)
  end
  return equal
end

local function unique(state, arguments)
  local list, deep, message = arguments[1]
  if type(arguments[2]) == "boolean" or (arguments[2] == nil and arguments.n > 2) then
    deep, message = arguments[2], arguments[3]
  else
    deep, message = arguments[3] == true, arguments[2]
  end
  set_message(state, message)
  return diff.unique(list, deep)
end

---Returns true if no two elements of a table are equal (by deep comparison if `deep` is set).
function diff.unique(list, deep)
  local visited = {}
  for _, value in next, list do
    for i = 1, #visited do
      if value == visited[i] or (deep and diff.equal(value, visited[i], true)) then
        return false
      end
    end
    visited[#visited + 1] = value
  end
  return true
end

-- Truth and types --------------------------------------------------------------------------------

local function truthy(state, arguments)
  need(arguments, 1, "truthy")
  set_message(state, arguments[2])
  return arguments[1] ~= false and arguments[1] ~= nil
end

local function falsy(state, arguments)
  need(arguments, 1, "falsy")
  set_message(state, arguments[2])
  return not arguments[1]
end

local function insert_second(arguments, value)
  for i = arguments.n, 2, -1 do
    arguments[i + 1] = arguments[i]
  end
  arguments[2] = value
  arguments.n = max(arguments.n + 1, 2)
end

local function exactly(value)
  return function(state, arguments)
    set_message(state, arguments[2])
    insert_second(arguments, value)
    return arguments[1] == value
  end
end

local function of_type(name)
  return function(state, arguments)
    set_message(state, arguments[2])
    insert_second(arguments, "type " .. name)
    arguments.nofmt = { [2] = true }
    return type(arguments[1]) == name
  end
end

-- Numbers and strings -----------------------------------------------------------------------------

local NUMBER = "number or object convertible to a number"
local TEXT = "string or object convertible to a string"

local function number_argument(arguments, index, name)
  local number = tonumber(arguments[index])
  if not number then
    kit.argument_error("badargtype", index, name, NUMBER, describe(arguments[index]))
  end
  return number
end

local function near(state, arguments)
  need(arguments, 3, "near")
  local expected = number_argument(arguments, 1, "near")
  local actual = number_argument(arguments, 2, "near")
  local tolerance = number_argument(arguments, 3, "near")
  show(arguments, arguments[2], arguments[1])
  arguments[3] = tolerance
  arguments.nofmt = { [3] = true }
  set_message(state, arguments[4])
  return actual >= expected - tolerance and actual <= expected + tolerance
end

-- Reads the optional arguments `init`, `plain` and the message, in this order; each can be omitted.
local function search_arguments(arguments, name)
  local message
  local shift = 3
  for i = 3, arguments.n do
    local value = arguments[i]
    if value and type(value) ~= "boolean" and not tonumber(value) then
      shift = i == 3 and 4 or 3
      message = take(arguments, i)
      break
    end
  end
  local init, plain = arguments[3], arguments[4]
  if init ~= nil and not tonumber(init) then
    kit.argument_error("badargtype", shift, name, "number", type(init))
  end
  return init and tonumber(init), plain, message
end

local function search(text, pattern, init, plain)
  if plain then
    local found = find(text, pattern, init, true) ~= nil
    return found, found and { pattern } or {}
  end
  local captures = { match(text, pattern, init) }
  return captures[1] ~= nil, captures
end

local function matches(state, arguments)
  need(arguments, 2, "matches")
  local pattern, value = arguments[1], arguments[2]
  local text = (kit.has_tostring(value) or type(value) == "number") and tostring(value) or nil
  if type(pattern) ~= "string" then
    kit.argument_error("badargtype", 1, "matches", "string", type(pattern))
  elseif not text then
    kit.argument_error("badargtype", 2, "matches", TEXT, describe(value))
  end
  local init, plain, message = search_arguments(arguments, "matches")
  show(arguments, value, pattern)
  set_message(state, message)
  return search(text, pattern, init, plain)
end

-- Errors ------------------------------------------------------------------------------------------

-- Calls a function and removes the position from a string error. `caught` is false if no error was
-- raised.
local function catch(f, name)
  if not kit.callable(f) then
    kit.argument_error("badargtype", 1, name, "function or callable object", type(f))
  end
  local ok, raised = pcall(f)
  if type(raised) == "string" and not ok then
    raised = gsub(raised, "^.-:%d+: ", "", 1)
  end
  return not ok, raised
end

local function show_error(arguments, caught, raised, expected, any)
  arguments[1] = caught and raised or nil
  arguments[2] = expected
  arguments.nofmt = {}
  if not caught then
    arguments[1] = "(no error)"
    arguments.nofmt[1] = true
  end
  if any then
    arguments[2] = "(error)"
    arguments.nofmt[2] = true
  end
  arguments.n = 2
end

local function error_equals(expected, raised)
  if type(expected) == "string" and type(raised) == "string" then
    return expected == raised
  elseif type(expected) == "number" and type(raised) == "string" then
    return tostring(expected) == tostring(tonumber(raised))
  end
  return diff.equal(expected, raised, true)
end

local function has_error(state, arguments)
  local expected, count = arguments[2], arguments.n
  local returned = { n = max(count, 1) }
  for i = 2, count do
    returned[i] = arguments[i]
  end
  set_message(state, arguments[3])
  local caught, raised = catch(arguments[1], "error")
  returned[1] = raised
  show_error(arguments, caught, raised, expected, expected == nil)
  if not caught or expected == nil then
    return caught, returned
  end
  if type(expected) == "string" and kit.has_tostring(raised) then
    raised = tostring(raised)
    returned[1] = raised
  end
  local equal = error_equals(expected, raised)
  if not equal and state.mod then
    arguments.compared, arguments.expected, arguments.actual = true, expected, raised
  end
  return equal, returned
end

local function error_matches(state, arguments)
  need(arguments, 2, "error_matches")
  local f, pattern = arguments[1], arguments[2]
  local returned = { n = arguments.n }
  for i = 2, arguments.n do
    returned[i] = arguments[i]
  end
  if not kit.callable(f) then
    kit.argument_error("badargtype", 1, "error_matches", "function or callable object", type(f))
  elseif pattern ~= nil and type(pattern) ~= "string" then
    kit.argument_error("badargtype", 2, "error", "string", type(pattern))
  end
  local init, plain, message = search_arguments(arguments, "matches")
  local caught, raised = catch(f, "error_matches")
  returned[1] = raised
  show_error(arguments, caught, raised, pattern, false)
  set_message(state, message)
  if not caught then
    return false, returned
  elseif raised == nil and pattern == nil then
    return true, {}
  end
  if kit.has_tostring(raised) or type(raised) == "number" or type(raised) == "boolean" then
    raised = tostring(raised)
    returned[1] = raised
  end
  if type(raised) ~= "string" or pattern == nil then
    return false, returned
  end
  local found, captures = search(raised, pattern, init, plain)
  return found, found and captures or returned
end

-- Lists -------------------------------------------------------------------------------------------

local function returned_arguments(_, arguments)
  local wanted, got = tostring(arguments[1]), tostring(arguments.n - 1)
  show(arguments, wanted, got)
  arguments.nofmt = { true, true }
  return wanted == got
end

local ARRAY = "array of the array modifier"

local function set_array(state, arguments)
  if arguments == nil or arguments.n == 0 then
    kit.fail("No array provided to the array-modifier")
  elseif rawget(state, ARRAY) ~= nil then
    kit.fail("Array already set")
  end
  rawset(state, ARRAY, arguments[1])
end

local function holes(state, arguments)
  local length, array = arguments[1], rawget(state, ARRAY)
  if array == nil then
    kit.fail("No array set, please use the array modifier to set the array to validate")
  elseif length == nil then
    length = 0
    for key in next, array do
      if type(key) == "number" and key > length and floor(key) == key then
        length = key
      end
    end
  elseif type(length) ~= "number" then
    kit.fail("expected array length to be of type 'number', got: " .. tostring(length))
  end
  for i = 1, length do
    if array[i] == nil then
      arguments[1], arguments.n = i, 1
      return true, { i }
    end
  end
  arguments.n = 0
  return false, {}
end

local function custom_message(state, arguments)
  if arguments == nil then
    kit.fail("the 'message' modifier needs the message: assert.message('why').is_true(x)")
  end
  state.failure_message = arguments[1]
end

-- The table of assertions -------------------------------------------------------------------------

local MESSAGES = {
  { "same", "Expected objects to be the same.\nPassed in:\n%s\nExpected:\n%s",
    "Expected objects to not be the same.\nPassed in:\n%s\nDid not expect:\n%s" },
  { "equals", "Expected objects to be equal.\nPassed in:\n%s\nExpected:\n%s",
    "Expected objects to not be equal.\nPassed in:\n%s\nDid not expect:\n%s" },
  { "near", "Expected values to be near.\nPassed in:\n%s\nExpected:\n%s +/- %s",
    "Expected values to not be near.\nPassed in:\n%s\nDid not expect:\n%s +/- %s" },
  { "matches", "Expected strings to match.\nPassed in:\n%s\nExpected:\n%s",
    "Expected strings not to match.\nPassed in:\n%s\nDid not expect:\n%s" },
  { "unique", "Expected object to be unique:\n%s", "Expected object to not be unique:\n%s" },
  { "error", "Expected a different error.\nCaught:\n%s\nExpected:\n%s",
    "Expected no error, but caught:\n%s" },
  { "truthy", "Expected to be truthy, but value was:\n%s",
    "Expected to not be truthy, but value was:\n%s" },
  { "falsy", "Expected to be falsy, but value was:\n%s",
    "Expected to not be falsy, but value was:\n%s" },
  { "returned_arguments", "Expected to be called with %s argument(s), but was called with %s",
    "Expected not to be called with %s argument(s), but was called with %s" },
  { "array_holes", "Expected array to have holes, but none was found.\n",
    "Expected array to not have holes, hole found at position: %s\n" },
}
for _, row in next, MESSAGES do
  say:set("assertion." .. row[1] .. ".positive", row[2])
  say:set("assertion." .. row[1] .. ".negative", row[3])
end
say:set("assertion.internal.argtolittle",
  "the '%s' function requires a minimum of %s arguments, got: %s")
say:set("assertion.internal.badargtype", "bad argument #%s to '%s' (%s expected, got %s)")

local function register(message, callback, ...)
  for _, name in next, { ... } do
    luassert:register("assertion", name, callback,
      "assertion." .. message .. ".positive", "assertion." .. message .. ".negative")
  end
end

register("same", same, "same")
register("equals", equals, "equals", "equal")
register("near", near, "near")
register("matches", matches, "matches", "match")
register("unique", unique, "unique")
register("error", has_error, "error", "errors")
register("error", error_matches, "error_matches", "error_match", "matches_error", "match_error")
register("truthy", truthy, "truthy")
register("falsy", falsy, "falsy")
register("returned_arguments", returned_arguments, "returned_arguments")
register("array_holes", holes, "holes")
register("same", exactly(true), "true")
register("same", exactly(false), "false")
for _, name in next, { "boolean", "number", "string", "table", "nil", "userdata", "function",
  "thread", "cdata" } do
  register("same", of_type(name), name)
end
luassert:register("modifier", "message", custom_message)
luassert:register("modifier", "array", set_array)
