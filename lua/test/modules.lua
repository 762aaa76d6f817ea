-- Modules that suites require (say, luassert and its parts, busted), and busted's subscribers. They
-- are found through core.test.modules; none of them is a file on disk.
local core = ...

local type, tostring, next, unpack, rawget, rawset = type, tostring, next, unpack, rawget, rawset
local setmetatable = setmetatable
local error, select = error, select
local concat, remove, byte, char, format, rep =
  table.concat, table.remove, string.byte, string.char,
  string.format, string.rep
local yield, running = coroutine.yield, coroutine.running
local getinfo, getmetatable_raw, setfenv_raw, getfenv_raw =
  core.debug.getinfo, core.debug.getmetatable,
  core.debug.setfenv, core.debug.getfenv

local BUSTED_VERSION = "2.2.0" -- the supported version, for suites that query it

local test, kit = core.test, core.test.kit
local suite, diff, luassert = kit.suite, kit.diff, kit.luassert
kit.own(getinfo(1, "S").source)

local globals = core.globals or _G

-- Subscribers -------------------------------------------------------------------------------------

local channels, next_id = {}, 0 -- entries by the channel's parts joined with slashes

local function channel_name(channel)
  local parts = {}
  for i = 1, #channel do
    parts[i] = tostring(channel[i])
  end
  return concat(parts, "/")
end

local function subscribe(channel, callback)
  next_id = next_id + 1
  local name = channel_name(channel)
  local entry = { id = next_id, fn = callback, channel = channel }
  channels[name] = channels[name] or {}
  channels[name][#channels[name] + 1] = entry
  return entry
end

local function unsubscribe(id, channel)
  local entries = channels[channel_name(channel)] or {}
  for i = 1, #entries do
    if entries[i].id == id then
      return remove(entries, i)
    end
  end
  return nil
end

local function publish(channel, ...)
  local entries = channels[channel_name(channel)]
  if entries then
    for _, entry in next, { unpack(entries) } do
      entry.fn(...)
    end
  end
end
kit.publisher = {
  publish = publish,
  has = function(channel)
    return channels[channel_name(channel)] ~= nil
  end,
  reset = function()
    channels = {}
  end,
}


-- luassert.util -----------------------------------------------------------------------------------

local util = {
  make_arglist = kit.list,
  is_arglist = kit.is_list,
  callable = kit.callable,
  hastostring = kit.has_tostring,
  deepcopy = function(value)
    return kit.deep_copy(value)
  end,
}

function util.deepcompare(a, b, ignore_metatables)
  if diff.equal(a, b, ignore_metatables) then
    return true
  end
  return false, diff.crumbs(a, b)
end

function util.pack(...)
  return { n = select("#", ...), ... }
end

function util.unpack(t, from, to)
  return unpack(t, from or 1, to or t.n or #t)
end

function util.shallowcopy(t)
  if type(t) ~= "table" then
    return t
  end
  local copy = {}
  for key, value in next, t do
    copy[key] = value
  end
  core.debug.setmetatable(copy, getmetatable_raw(t))
  return copy
end

---Implements table.insert for lists with nils and an explicit length `n`.
function util.tinsert(t, ...)
  local position, value = ...
  t.n = (t.n or #t) + 1
  if select("#", ...) < 2 then
    position, value = t.n, position
  end
  t.n = position > t.n and position or t.n
  for i = t.n, position + 1, -1 do
    t[i] = t[i - 1]
  end
  t[position] = value
end

---Implements table.remove for lists with nils and an explicit length `n`.
function util.tremove(t, position)
  t.n = t.n or #t
  position = position or t.n
  local value = t[position]
  if position > t.n then
    t[position] = nil
    return value
  end
  for i = position, t.n do
    t[i] = t[i + 1]
  end
  t.n = t.n - 1
  return value
end

---Returns the stack level at which an assertion in the caller's file blames its user.
function util.errorlevel(level)
  level = (level or 1) + 1
  local own = getinfo(level, "S")
  while own do
    level = level + 1
    local info = getinfo(level, "S")
    if not info or info.source ~= own.source then
      break
    end
  end
  return level - 1
end

-- luassert.formatters.binarystring ----------------------------------------------------------------

local function binary_row(text, first)
  local hex, chars = {}, {}
  for column = 0, 15 do
    local code = byte(text, first + column)
    local gap = column == 8 and "  " or ""
    hex[#hex + 1] = gap .. (code and format("%2x ", code) or "   ")
    if code then
      chars[#chars + 1] = (column == 8 and " " or "") .. (code < 32 and "." or char(code))
    end
  end
  local text = concat(chars)
  return concat(hex) .. " " .. text .. rep(" ", 17 - #text)
end

local function binary_string(value)
  if type(value) ~= "string" then
    return nil
  end
  local lines = { "Binary string length; " .. #value .. " bytes" }
  for first = 1, #value, 16 do
    lines[#lines + 1] = binary_row(value, first)
  end
  return concat(lines, "\n") .. "\n"
end

-- busted ------------------------------------------------------------------------------------------

local function clock()
  local os = globals.os
  return type(os) == "table" and os.clock and os.clock() or 0
end

local function sleep(seconds)
  if type(seconds) ~= "number" or not (seconds >= 0) then
    error("busted.sleep: needs seconds, got " .. core.describe(seconds), 2)
  elseif not running() then
    error("busted.sleep: only inside a test", 2)
  end
  local failed = yield({ seconds = seconds })
  if type(failed) == "string" then
    error(failed, 2)
  end
end

-- Rebinds one global of a function, or of the function that is called when the value is called. In
-- the sandbox only functions of test files can be changed, because the engine's own functions also
-- look up their checks as globals.
local function bindfenv(callable, name, value)
  local meta = getmetatable_raw(callable)
  local f = type(meta) == "table" and meta.__call or callable
  if type(f) ~= "function" then
    error("busted.bindfenv: needs a function, got " .. core.describe(callable), 2)
  end
  if core.options.sandbox and getfenv_raw(f) ~= suite.shared_environment then
    error("busted.bindfenv: only functions of test files can be bound in the sandbox; "
      .. "engine test --no-sandbox lifts that", 2)
  end
  local env = setmetatable({}, { __index = getfenv_raw(f) })
  rawset(env, name, value)
  setfenv_raw(f, env)
end

local busted = {
  version = BUSTED_VERSION,
  publish = publish,
  subscribe = subscribe,
  unsubscribe = unsubscribe,
  bindfenv = bindfenv,
  gettime = clock,
  monotime = clock,
  sleep = sleep,
  fail = function(message, level)
    local skip = type(level) == "number" and level - 1 or 0
    kit.fail(message == nil and "failed" or message, nil, skip)
  end,
  parent = function(element)
    return element.parent
  end,
  children = function(element)
    return element.children or {}
  end,
}
for name, value in next, suite.language do
  busted[name] = value
end

local busted_module = setmetatable({}, {
  __index = busted,
  __newindex = function()
    error("Attempt to modify busted", 2)
  end,
  -- Older stand-alone files begin with `require "busted" ()`.
  __call = function(self)
    return self
  end,
})

kit.busted = busted

-- Wraps ffi declarations so that each is executed once, because blocks with fresh modules load a
-- library's declarations again.
local function once(declare)
  local known = {}
  return function(declaration, ...)
    local key = tostring(declaration)
    if known[key] == nil then
      known[key] = { declare(declaration, ...) }
    end
    return unpack(known[key])
  end
end
if not core.options.sandbox then
  core.ffi.cdef, core.ffi.metatype = once(core.ffi.cdef), once(core.ffi.metatype)
end

local modules = test.modules
modules.say = kit.say
modules.luassert = luassert
modules.busted = busted_module
for name, value in next, {
  assert = luassert,
  match = kit.match,
  spy = kit.spy,
  stub = kit.stub,
  mock = kit.mock,
  util = util,
  namespaces = kit.namespaces,
  ["formatters.binarystring"] = binary_string,
} do
  modules["luassert." .. name] = value
end
-- The functions of other versions of Lua, as busted names them. `exit` and `execute` are those of
-- suites without the sandbox, in which `os.exit` fails the test.
local compatibility = {
  getfenv = core.options.sandbox and core.getfenv or globals.getfenv,
  setfenv = core.options.sandbox and core.setfenv or globals.setfenv,
  loadstring = core.options.sandbox and core.loadstring or globals.loadstring,
  unpack = unpack,
}
if not core.options.sandbox then
  function compatibility.exit(code)
    return globals.os.exit(code, true)
  end
  function compatibility.execute(command)
    local code = globals.os.execute(command)
    return code == 0, code
  end
end
modules["busted.compatibility"] = compatibility
-- The contents of these modules are always available; a suite that requires one gets the assert
-- table.
for _, name in next, { "array", "assertions", "modifiers", "matchers", "matchers.core",
  "matchers.composite", "formatters", "formatters.init" } do
  modules["luassert." .. name] = luassert
end
-- Substitutes for luacov, which measured suites load themselves. They do nothing, because
-- --coverage counts lines here. A folder that contains the real modules, such as luacov's own, uses
-- those.
local function nothing() end
local luacov = setmetatable({}, { __call = nothing })
for _, name in next, { "init", "shutdown", "save_stats", "pause", "resume", "tick",
  "load_config" } do
  luacov[name] = nothing
end
if core.stand_ins then
  for _, name in next, { "luacov", "luacov.runner", "luacov.tick" } do
    core.stand_ins[name] = luacov
  end
end
-- Files that can also be run alone begin with `require "busted.runner" ()`.
modules["busted.runner"] = function()
  return busted_module
end

if core.preload then
  for name, value in next, modules do
    core.preload[name] = function()
      return value
    end
  end
end
