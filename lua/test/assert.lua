-- The assertion engine: chains of keywords, registration, failures, snapshots. Messages and the
-- formatting of values are in messages.lua, the assertions in assertions.lua, the matchers in
-- match.lua.
local core = ...

local type, tostring, next, rawget, rawset = type, tostring, next, rawget, rawset
local error, select, setmetatable, unpack = error, select, setmetatable, unpack
local concat, insert, remove = table.concat, table.insert, table.remove
local floor, lower, gmatch, match = math.floor, string.lower, string.gmatch, string.match
local getinfo, getmetatable_raw = core.debug.getinfo, core.debug.getmetatable

local kit = core.test.kit
local say = kit.say
kit.own(getinfo(1, "S").source)

-- Failures -------------------------------------------------------------------------------------

-- Error type of a failed assertion, which makes the test fail; any other error counts as an error
-- in the test. `message` begins with the position, `text` is the message alone.
local Failure = {}
Failure.__index = {}
Failure.__tostring = function(failure)
  return tostring(failure.message)
end
-- Error type for messages that are not strings. It has no __tostring, so that such messages are
-- compared as values.
local FailureValue = { __index = {} }

---Returns "failure", "pending" or "error": the meaning of an error value raised by a test.
function kit.kind_of_error(value)
  local meta = type(value) == "table" and getmetatable_raw(value)
  if meta == Failure or meta == FailureValue then
    return "failure"
  elseif meta and meta == kit.Pending then
    return "pending"
  end
  return "error"
end

-- Returns the nearest frame that is neither native nor part of the library, or the frame `skip`
-- levels above it.
local function position(skip)
  local level = 3
  while true do
    local info = getinfo(level, "Sl")
    if not info then
      return nil
    end
    if info.what ~= "C" and not kit.is_library(info.source) then
      local above = skip and skip > 0 and getinfo(level + skip, "Sl") or nil
      return above and above.what ~= "C" and above or info
    end
    level = level + 1
  end
end

---Raises a failure. `detail` may contain `expected` and `actual`, from which the report computes a
---difference. `skip` is the number of frames between the nearest game frame and the frame to
---blame.
function kit.fail(message, detail, skip)
  local at = skip ~= false and position(skip) or nil
  local failure = detail or {}
  failure.text = message
  failure.message = message
  if not kit.has_tostring(message) then
    error(setmetatable(failure, type(message) == "number" and Failure or FailureValue), 0)
  end
  failure.text = tostring(message)
  if at and type(message) == "string" then
    failure.message = at.short_src .. ":" .. at.currentline .. ": " .. message
  end
  error(setmetatable(failure, Failure), 0)
end

---Raises a failure for a wrong call of an assertion, with a message from `say`.
function kit.argument_error(key, ...)
  kit.fail(say("assertion.internal." .. key, { n = select("#", ...), ... }))
end

-- Snapshots: formatters, parameters and spies, reverted together ----------------------------------

local Snapshot = {}
local NIL = {} -- value of a parameter that was set to nil
local current

local function revert(snapshot)
  if getmetatable_raw(snapshot) ~= Snapshot then
    error("Value provided is not a valid snapshot", 2)
  end
  if not snapshot.previous then
    return
  end
  if snapshot.next then
    revert(snapshot.next)
  end
  for i = #snapshot.spies, 1, -1 do
    snapshot.spies[i]:revert()
  end
  snapshot.formatters, snapshot.parameters, snapshot.spies = {}, {}, {}
  setmetatable(snapshot, nil)
  current = snapshot.previous
  current.next = nil
end

Snapshot.__call = revert

local function new_snapshot()
  local snapshot = setmetatable(
    { formatters = {}, parameters = {}, spies = {}, previous = current, revert = revert },
    Snapshot
  )
  if current then
    current.next = snapshot
  end
  current = snapshot
  return snapshot
end
new_snapshot()

local function format_value(value, extra)
  local level = current
  while level do
    local formatters = level.formatters
    for i = 1, #formatters do
      local text = formatters[i](value, extra)
      if text ~= nil then
        return text
      end
    end
    level = level.previous
  end
  return nil
end
kit.format_value = format_value

local function parameter(name)
  local level = current
  while level do
    local value = level.parameters[name]
    if value ~= nil then
      if value == NIL then
        return nil
      end
      return value
    end
    level = level.previous
  end
  return nil
end

kit.parameter = parameter
insert(current.formatters, kit.default_text)
current.parameters.TableFormatLevel = 3
current.parameters.TableFormatShowRecursion = true
current.parameters.TableErrorHighlightCharacter = "*"
current.parameters.TableErrorHighlightColor = "none"

-- Keywords: a chain such as `is_not.same` is converted to a plan ----------------------------------

local namespaces = { assertion = {}, modifier = {}, matcher = {} }
local plans = {}
kit.namespaces = namespaces

local function keep()
end

local function negate(state)
  state.mod = not state.mod
  return state
end

-- Assertions of other libraries, and those that are meant.
local OTHER_NAMES = {
  tobe = "equals", toequal = "same", equal_to = "equals", deep_equal = "same", deepequal = "same",
  throws = "has_error", raises = "has_error", istrue = "is_true", isfalse = "is_false",
  isnil = "is_nil", isnotnil = "is_not_nil", almost_equal = "near", almost_equals = "near",
  approximately = "near", instance_of = "is_table",
}

-- Returns the assertion that a chain of keywords most likely means: the modifiers at its beginning
-- are kept, and the rest is compared with the known names.
local function similar(space, keyword)
  local names = core.names and core.names(namespaces[space])
  if not names then return nil end
  local rest, modifiers = keyword, ""
  while true do
    local near = OTHER_NAMES[rest] or core.suggest(rest, names)
    if near then return OTHER_NAMES[rest] and near or modifiers .. near end
    local first, after = match(rest, "^([^_]+)_(.+)$")
    if not first or not namespaces.modifier[first] then return nil end
    rest, modifiers = after, modifiers .. first .. "_"
  end
end

local function unknown(space, keyword)
  local near = similar(space, keyword)
  local at = position()
  error((at and at.short_src .. ":" .. at.currentline .. ": " or "")
    .. "luassert: unknown modifier/" .. space
    .. ": '" .. keyword .. "'" .. (near and ", did you mean '" .. near .. "'?" or ""), 0)
end

-- Converts a chain to a plan. Keywords are matched from the end, longest known name first, so that
-- `was.called.at_least` is `was` and `called_at_least`.
local function make_plan(space, chain)
  local keywords, names = {}, namespaces[space]
  for keyword in gmatch(lower(chain), "[^_]+") do
    keywords[#keywords + 1] = keyword
  end
  local plan = { flip = false, custom = {} }
  local last = #keywords
  while last > 0 do
    local found
    for first = 1, last do
      local name = concat(keywords, "_", first, last)
      if names[name] or namespaces.modifier[name] then
        if not names[name] then
          local callback = namespaces.modifier[name].callback
          if callback == negate then
            plan.flip = not plan.flip
          elseif callback ~= keep then
            insert(plan.custom, 1, callback)
          end
        elseif not plan.target then
          plan.target = names[name]
        end
        found, last = true, first - 1
        break
      end
    end
    if not found then
      unknown(space, concat(keywords, "_", 1, last))
    end
  end
  return plan
end

local function plan_of(space, chain)
  local known = plans[space]
  if not known then
    known = {}
    plans[space] = known
  end
  local plan = known[chain]
  if not plan then
    plan = make_plan(space, chain)
    known[chain] = plan
  end
  return plan
end

local function clear_plans()
  plans = {}
end

-- A chain without a payload never changes and is shared. A chain with a payload (`assert.spy(s)`)
-- is copied at every keyword, so that any part of a chain can be stored and reused.
local KEYWORDS = "words so far" -- a key that no chain can contain

---Returns the entry point for chains over one namespace. `apply(target, state, arguments...)` ends
---a chain.
function kit.make_chains(space, apply)
  local shared, Chain, Live = {}, {}, {}

  local function live_copy(self)
    local copy = {}
    for key, value in next, self do
      copy[key] = value
    end
    return setmetatable(copy, Live)
  end

  local function run(keywords, state, ...)
    local plan = plan_of(space, keywords)
    state[KEYWORDS] = nil
    if plan.flip then
      state.mod = not state.mod
    end
    local custom = plan.custom
    if plan.target then
      for i = 1, #custom do
        custom[i](state)
      end
      return apply(plan.target, state, ...)
    end
    local arguments = kit.list(...)
    for i = 1, #custom do
      custom[i](state, arguments, 2)
    end
    return state
  end

  local function chain(keywords)
    local found = shared[keywords]
    if not found then
      found = setmetatable({ [KEYWORDS] = keywords }, Chain)
      shared[keywords] = found
    end
    return found
  end

  Chain.__index = function(self, key)
    if type(key) == "string" then
      return chain(rawget(self, KEYWORDS) .. "_" .. key)
    end
  end
  Chain.__call = function(self, ...)
    return run(rawget(self, KEYWORDS), setmetatable({ mod = true }, Live), ...)
  end
  Live.__index = function(self, key)
    if type(key) ~= "string" then
      return nil
    end
    local copy = live_copy(self)
    rawset(copy, KEYWORDS, (rawget(self, KEYWORDS) or "") .. "_" .. key)
    return copy
  end
  Live.__call = function(self, ...)
    return run(rawget(self, KEYWORDS) or "", live_copy(self), ...)
  end
  return chain, function()
    return setmetatable({ mod = true }, Live)
  end
end

-- The assert table --------------------------------------------------------------------------------

local function failure_text(message)
  if message == nil then
    return nil
  elseif kit.has_tostring(message) then
    return tostring(message)
  end
  return format_value(message) or tostring(message)
end

local luassert = {}

local function apply(target, state, ...)
  local arguments = kit.list(...)
  local holds, returned = target.callback(state, arguments, 2)
  if (not holds) == state.mod then
    local key = state.mod and target.positive_message or target.negative_message
    local detail = { expected = arguments.expected, actual = arguments.actual }
    detail.compared = arguments.compared and state.mod
    local custom = failure_text(rawget(state, "failure_message"))
    local message = key and say(key, luassert:format(arguments)) or nil
    if custom and message then
      message = custom .. "\n" .. message
    end
    kit.fail(message or custom or "assertion failed!", detail)
  end
  if returned then
    return unpack(returned, 1, returned.n or #returned)
  end
  return ...
end

local assert_chain, assert_state = kit.make_chains("assertion", apply)

function luassert:register(space, name, callback, positive_message, negative_message)
  name = lower(name)
  namespaces[space] = namespaces[space] or {}
  namespaces[space][name] = {
    callback = callback,
    name = name,
    positive_message = positive_message,
    negative_message = negative_message,
  }
  clear_plans()
end

function luassert:unregister(space, name)
  namespaces[space] = namespaces[space] or {}
  namespaces[space][lower(name)] = nil
  clear_plans()
end

function luassert:add_formatter(callback)
  insert(current.formatters, 1, callback)
end

function luassert:remove_formatter(callback)
  local level = current
  while level do
    for i = 1, #level.formatters do
      if level.formatters[i] == callback then
        remove(level.formatters, i)
        break
      end
    end
    level = level.previous
  end
end

---Replaces the values of an argument list with their text, in place.
function luassert:format(arguments)
  local plain, extras = arguments.nofmt or {}, arguments.fmtargs or {}
  for i = 1, arguments.n or #arguments do
    if not plain[i] then
      local text = format_value(arguments[i], extras[i])
      arguments[i] = text == nil and tostring(arguments[i]) or text
    end
  end
  return arguments
end

function luassert:set_parameter(name, value)
  current.parameters[name] = value == nil and NIL or value
end

function luassert:get_parameter(name)
  return parameter(name)
end

function luassert:snapshot()
  return new_snapshot()
end

---Adds a spy to the current snapshot. Spies created before the first snapshot exist as long as the
---suite and are not tracked.
function luassert:add_spy(spy)
  if current.previous then
    insert(current.spies, spy)
  end
end

---Returns the difference that a failed comparison would show, or nil if there is none.
function luassert:difference(expected, actual)
  return (kit.diff.difference(expected, actual))
end

luassert.state = assert_state

local Level = {}

function luassert:level(level)
  return setmetatable({ level = level }, Level)
end

function luassert:get_level(level)
  if type(level) == "table" and getmetatable_raw(level) == Level then
    return level.level
  end
  return nil
end

setmetatable(luassert, {
  __call = function(self, value, message, level, ...)
    if not value then
      local skip = (self:get_level(level) or 1) - 1
      if message == nil then
        message = "assertion failed!"
      end
      kit.fail(message, nil, skip >= 0 and floor(skip))
    end
    return value, message, level, ...
  end,
  __index = function(_, key)
    if type(key) == "string" then
      return assert_chain(key)
    end
  end,
})
kit.luassert = luassert

for _, name in next, { "is", "are", "was", "has", "does", "a", "an", "the" } do
  luassert:register("modifier", name, keep)
end
luassert:register("modifier", "not", negate)
luassert:register("modifier", "no", negate)
