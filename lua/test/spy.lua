-- Spies (recorded calls), stubs (replaced functions), mocks (whole tables), and their assertions.
-- Argument matching is in match.lua.
local core = ...

local type, tostring, next, error, rawget, setmetatable, unpack =
  type, tostring, next, error, rawget, setmetatable, unpack
local getmetatable_raw, setmetatable_raw = core.debug.getmetatable, core.debug.setmetatable

local kit = core.test.kit
local say, luassert = kit.say, kit.luassert
kit.own(core.debug.getinfo(1, "S").source)

-- Recording ---------------------------------------------------------------------------------------

local Spy = {}

local function is_spy(value)
  return type(value) == "table" and getmetatable_raw(value) == Spy
end

---Returns a deep copy of a value in its current state. Spies, matchers and all values but tables
---are not copied.
function kit.deep_copy(value, copies)
  if type(value) ~= "table" or is_spy(value) or kit.is_matcher(value) then
    return value
  end
  copies = copies or {}
  if copies[value] then
    return copies[value]
  end
  local copy = {}
  copies[value] = copy
  for key, inner in next, value do
    copy[key] = kit.deep_copy(inner, copies)
  end
  setmetatable_raw(copy, getmetatable_raw(value)) -- a protected metatable is copied too
  return copy
end

-- Records a list: a copy of its current state, and the values themselves.
local function record(list)
  local values = kit.list()
  values.n = list.n
  for i = 1, list.n do
    values[i] = kit.deep_copy(list[i])
  end
  return { vals = values, refs = list }
end

local function keep_results(spy, ...)
  local results = spy.returnvals
  results[#results + 1] = record(kit.list(...))
  return ...
end

Spy.__call = function(spy, ...)
  local calls = spy.calls
  calls[#calls + 1] = record(kit.list(...))
  return keep_results(spy, spy.callback(...))
end

-- Returns the newest record that matches, or else the newest record, for the message.
local function look_up(records, specs)
  for i = #records, 1, -1 do
    if kit.list_matches(records[i].vals, records[i].refs, specs) then
      return true, records[i].vals
    end
  end
  return false, records[#records] and records[#records].vals or nil
end

local function as_list(values)
  if type(values.n) ~= "number" then
    values.n = #values
  end
  return values
end

local function spy_revert(spy)
  if not spy.reverted then
    if spy.target_table and spy.target_key ~= nil then
      spy.target_table[spy.target_key] = spy.callback
    end
    spy.reverted = true
  end
  return spy.callback
end

local function spy_clear(spy)
  spy.calls, spy.returnvals = {}, {}
  return spy
end

local function spy_called(spy, times, holds)
  local count = #spy.calls
  if holds then
    return holds(count, times), count
  elseif times then
    return count == times, count
  end
  return count > 0, count
end

local function spy_called_with(spy, arguments)
  return look_up(spy.calls, as_list(arguments))
end

local function spy_returned_with(spy, arguments)
  return look_up(spy.returnvals, as_list(arguments))
end

local spy = { is_spy = is_spy }

---Creates a spy around a function, or around a function that does nothing.
function spy.new(callback)
  if callback == nil then
    callback = function() end
  elseif not kit.callable(callback) then
    error("Cannot spy on type '" .. type(callback) .. "', only on functions or callable elements",
      2)
  end
  local spied = setmetatable({
    calls = {},
    returnvals = {},
    callback = callback,
    revert = spy_revert,
    clear = spy_clear,
    called = spy_called,
    called_with = spy_called_with,
    returned_with = spy_returned_with,
  }, Spy)
  luassert:add_spy(spied)
  return spied
end

---Replaces `target[key]` with a spy, which still calls the function.
function spy.on(target, key)
  if type(target) ~= "table" then
    error("spy.on: argument #1 must be the table that holds the function, got " .. type(target), 2)
  end
  local spied = spy.new(target[key])
  spied.target_table, spied.target_key = target, key
  target[key] = spied
  return spied
end

kit.spy = setmetatable(spy, {
  __call = function(_, ...)
    return spy.new(...)
  end,
})

-- Stubs -------------------------------------------------------------------------------------------

local stub = {}

local function constant(...)
  local values = kit.list(...)
  return function()
    return unpack(values, 1, values.n)
  end
end

local function first_behaviour(...)
  local values = kit.list(...)
  if values.n == 1 and kit.callable(values[1]) then
    return values[1]
  end
  return constant(...)
end

local function add_case(cases, stubbed, specs)
  local case = { specs = specs }
  local function install(behaviour)
    case.behaviour = behaviour
    cases[#cases + 1] = case
    return stubbed
  end
  return {
    returns = function(...)
      return install(constant(...))
    end,
    invokes = function(f)
      return install(f)
    end,
  }
end

---Replaces `target[key]` with a spy on a function that returns the passed values (or on the single
---passed function). Without arguments, creates a stub that is not installed anywhere.
function stub.new(target, key, ...)
  if target == nil and key == nil then
    target, key = {}, ""
  end
  if type(target) ~= "table" or key == nil then
    error("stub.new(): Can only create stub on a table key, call with 2 params; table, key", 2)
  end
  local old = target[key]
  if old ~= nil and not kit.callable(old) then
    error("stub.new(): The element for which to create a stub must either be callable, or be nil",
      2)
  end
  local own = rawget(target, key)
  local behaviour, cases = first_behaviour(...), {}
  local stubbed = spy.new(function(...)
    if #cases > 0 then
      local arguments = kit.list(...)
      for i = 1, #cases do
        if kit.list_matches(arguments, arguments, cases[i].specs) then
          return cases[i].behaviour(...)
        end
      end
    end
    return behaviour(...)
  end)
  stubbed.target_table, stubbed.target_key = target, key
  target[key] = stubbed

  -- A value inherited through __index must not become a field of the table itself.
  stubbed.revert = function(self)
    if not self.reverted then
      target[key] = own
      self.reverted = true
    end
    return old
  end
  stubbed.returns = function(...)
    behaviour = constant(...)
    return stubbed
  end
  stubbed.invokes = function(f)
    behaviour = f
    return stubbed
  end
  stubbed.by_default = { returns = stubbed.returns, invokes = stubbed.invokes }
  stubbed.on_call_with = function(...)
    return add_case(cases, stubbed, record(kit.list(...)).vals)
  end
  return stubbed
end

kit.stub = setmetatable(stub, {
  __call = function(_, ...)
    return stub.new(...)
  end,
})

-- Mocks -------------------------------------------------------------------------------------------

local mock = {}

local function replace_function(value, as_stub, behaviour, owner, key)
  if as_stub then
    return stub.new(owner, key, behaviour)
  elseif owner == nil then
    return spy.new(value)
  end
  return spy.on(owner, key)
end

local function mock_value(value, as_stub, behaviour, visited, owner, key)
  if type(value) == "function" then
    return replace_function(value, as_stub, behaviour, owner, key)
  elseif type(value) ~= "table" or is_spy(value) or visited[value] then
    return value
  end
  visited[value] = true
  for _, inner_key in next, (kit.diff.sorted_keys(value)) do
    local inner = value[inner_key]
    local kind = type(inner)
    if kind == "function" or kind == "table" then
      mock_value(inner, as_stub, behaviour, visited, value, inner_key)
    end
  end
  return value
end

---Replaces every function of a table, and of its nested tables, with a spy (or a stub if
---`as_stub`).
function mock.new(value, as_stub, behaviour, owner, key)
  return mock_value(value, as_stub, behaviour, {}, owner, key)
end

local function each_spy(value, action, visited)
  if type(value) ~= "table" then
    return nil
  elseif is_spy(value) then
    return value[action](value)
  elseif visited[value] then
    return value
  end
  visited[value] = true
  for _, key in next, (kit.diff.sorted_keys(value)) do
    each_spy(value[key], action, visited)
  end
  return value
end

function mock.clear(value)
  return each_spy(value, "clear", {})
end

function mock.revert(value)
  return each_spy(value, "revert", {})
end

kit.mock = setmetatable(mock, {
  __call = function(_, ...)
    return mock.new(...)
  end,
})

-- Assertions --------------------------------------------------------------------------------------

local function set_payload(state, arguments)
  if arguments == nil then
    kit.fail("'spy' and 'stub' are called with the spy: assert.spy(s).was.called()")
  end
  state.payload = arguments[1]
  if arguments[2] ~= nil then
    state.failure_message = arguments[2]
  end
end

local function payload_of(state, name)
  local payload = rawget(state, "payload")
  if type(payload) == "function" then
    error("When calling 'spy(aspy)', 'aspy' must not be the original function, "
      .. "but the spy function replacing the original", 0)
  elseif type(payload) ~= "table" or not payload[name] then
    error("'" .. name .. "' must be chained after 'spy(aspy)'", 0)
  end
  return payload
end

-- Creates the assertion that compares the recorded values of `name` ("called_with",
-- "returned_with").
local function recorded(name)
  return function(state, arguments)
    local holds, last = payload_of(state, name)[name](state.payload, arguments)
    local expected = kit.list(unpack(arguments, 1, arguments.n))
    for i = 1, arguments.n do
      arguments[i] = nil
    end
    arguments[1], arguments[2], arguments.n = last, expected, 2
    return holds
  end
end

local function counted(holds)
  return function(state, arguments)
    local times = arguments[1]
    if not times and not state.mod then
      -- `was_not.called()` means zero times, not "not exactly nil times".
      state.mod, times = true, 0
    end
    local payload = payload_of(state, "called")
    local result, count = payload:called(times, holds)
    arguments[1], arguments[2] = tostring(times or ">0"), tostring(count)
    arguments.nofmt = { true, true }
    arguments.n = 2
    return result
  end
end

local TIMES = "Expected to be called %s %%s time(s), but was called %%s time(s)"

local COUNTED = {
  { "called_at_least", "at least", "called_less_than", function(count, times)
    return count >= times
  end },
  { "called_at_most", "at most", "called_more_than", function(count, times)
    return count <= times
  end },
  { "called_more_than", "more than", "called_at_most", function(count, times)
    return count > times
  end },
  { "called_less_than", "less than", "called_at_least", function(count, times)
    return count < times
  end },
}

say:set("assertion.called.positive", "Expected to be called %s time(s), but was called %s time(s)")
say:set("assertion.called.negative", "Expected not to be called exactly %s time(s), but it was.")
say:set("assertion.called_with.positive", "Function was never called with matching arguments.\n"
  .. "Called with (last call if any):\n%s\nExpected:\n%s")
say:set("assertion.called_with.negative",
  "Function was called with matching arguments at least once.\n"
  .. "Called with (last matching call):\n%s\nDid not expect:\n%s")
say:set("assertion.returned_with.positive", "Function never returned matching arguments.\n"
  .. "Returned (last call if any):\n%s\nExpected:\n%s")
say:set("assertion.returned_with.negative", "Function returned matching arguments at least once.\n"
  .. "Returned (last matching call):\n%s\nDid not expect:\n%s")

luassert:register("modifier", "spy", set_payload)
luassert:register("modifier", "stub", set_payload)
for _, name in next, { "called_with", "returned_with" } do
  luassert:register("assertion", name, recorded(name),
    "assertion." .. name .. ".positive", "assertion." .. name .. ".negative")
end
luassert:register("assertion", "called", counted(nil), "assertion.called.positive",
  "assertion.called.negative")
for _, row in next, COUNTED do
  say:set("assertion." .. row[1] .. ".positive", TIMES:format(row[2]))
  luassert:register("assertion", row[1], counted(row[4]),
    "assertion." .. row[1] .. ".positive", "assertion." .. row[3] .. ".positive")
end
