-- The tree of a suite: describe, it, hooks, and the environment of a test file. Runs nothing by
-- itself: runner.lua walks the tree.
local core = ...

-- A few calls per test do not benefit from compilation: most runs end sooner.
core.jit.off(true, true)

local type, tostring, next, rawget, rawset, error = type, tostring, next, rawget, rawset, error
local setmetatable, select = setmetatable, select
local log = core.log
local floor, byte, sub = math.floor, string.byte, string.sub
local concat, remove, gmatch, find = table.concat, table.remove, string.gmatch, string.find
local getinfo, setfenv_raw = core.debug.getinfo, core.debug.setfenv
local getmetatable_raw, setmetatable_raw = core.debug.getmetatable, core.debug.setmetatable

local kit = core.test.kit
kit.own(getinfo(1, "S").source)

local globals = core.globals or _G

-- Blocks and tests --------------------------------------------------------------------------------

local HOOKS = {
  before_each = "before_each",
  after_each = "after_each",
  setup = "strict_setup",
  teardown = "strict_teardown",
  strict_setup = "strict_setup",
  strict_teardown = "strict_teardown",
  lazy_setup = "lazy_setup",
  lazy_teardown = "lazy_teardown",
}

local suite = { current = nil }
kit.suite = suite

-- Creates a block, which contains blocks and tests in source order. `body` runs when the walk
-- reaches the block, not earlier: effects of an earlier block's tests are visible to it, as in
-- busted.
local function new_block(kind, name, body, parent)
  return { kind = kind, is_block = true, name = name, body = body, parent = parent, children = {} }
end

-- Returns the environment of a block or test: its own globals, backed by those of its parent.
local function environment_of(element)
  local env = element.env
  if not env then
    local parent = element.parent
    env = setmetatable({}, { __index = parent and environment_of(parent) or globals })
    element.env = env
  end
  return env
end
suite.environment_of = environment_of

-- Environment shared by all test files. It is empty, and its reads and writes go to the running
-- element. It is switched by changing two fields, so that reads remain plain table lookups.
local switch = {}
local shared = setmetatable({}, switch)
suite.shared_environment = shared

local function ancestor(element, levels)
  for _ = 1, levels do
    element = element and element.parent
  end
  return element
end

---Makes an element the running one and returns the previous one.
function suite.enter(element)
  local before = suite.current
  suite.current = element
  if not element then
    switch.__index, switch.__newindex = globals, globals
    return before
  end
  local env = environment_of(element)
  switch.__index = env
  if element.kind == "hook" then
    switch.__newindex = environment_of(element.parent)
  elseif element.kind == "root" then
    -- Globals set by a helper are also visible to modules.
    switch.__newindex = globals
  elseif element.kind == "expose" then
    local outer = ancestor(element, 2)
    switch.__newindex = outer and environment_of(outer) or globals
  else
    switch.__newindex = env
  end
  return before
end

local test_files = {} -- sources of test files and helpers

function suite.is_test_file(source)
  return test_files[source]
end

---Sets the environment of a file's chunk to the one with the suite language.
function suite.adopt(chunk)
  local meta = getmetatable_raw(chunk)
  local run = type(chunk) == "function" and chunk or meta.__call
  setfenv_raw(run, shared)
  test_files[getinfo(run, "S").source] = true
  return chunk
end

---Sets the environment of a helper's chunk. If the helper returns a function, it is then called
---with the arguments for helpers, as in busted.
function suite.adopt_helper(path, chunk, arguments)
  suite.adopt(chunk)
  return function()
    local after = chunk()
    if type(after) == "function" then
      after(core.test.modules.busted, path, { arguments = arguments or {} })
    end
  end
end

---Returns the full name for display and filters: the names of the blocks and the test, joined by
---spaces.
function suite.full_name(element)
  local names, count = {}, 0
  while element and element.kind ~= "root" and element.kind ~= "file" do
    if element.name ~= nil then
      count = count + 1
      names[count] = element.name
    end
    element = element.parent
  end
  local parts = {}
  for i = count, 1, -1 do
    parts[#parts + 1] = names[i]
  end
  return concat(parts, " ")
end

---Returns the names of the blocks that contain a test, outermost first.
function suite.group_names(element)
  local names, count = {}, 0
  element = element.parent
  while element and element.kind ~= "root" and element.kind ~= "file" do
    if element.name ~= nil then
      count = count + 1
      names[count] = element.name
    end
    element = element.parent
  end
  for i = 1, floor(count / 2) do
    names[i], names[count + 1 - i] = names[count + 1 - i], names[i]
  end
  return names
end

---Returns the tags in a full name: its words that begin with `#`, without that character.
function suite.tags(name)
  local tags = {}
  if find(name, "#", 1, true) then
    for tag in gmatch(name, "#([%w_%-]+)") do
      tags[#tags + 1] = tag
    end
  end
  return tags
end

-- The functions of the suite language -------------------------------------------------------------

local function unsupported(keyword)
  error("'" .. keyword .. "' not supported inside current context block", 3)
end

local function caller_location()
  local level = 3
  while true do
    local info = getinfo(level, "Sl")
    if not info then
      return nil, nil
    elseif info.what ~= "C" and not kit.is_library(info.source) then
      local source, first = info.source, byte(info.source)
      return (first == 64 or first == 61) and sub(source, 2) or source, info.currentline
    end
    level = level + 1
  end
end

local function check_body(keyword, name, body)
  if not kit.callable(body) then
    error(keyword .. ": " .. (name and "'" .. tostring(name) .. "'" or "the block")
      .. " needs a function, got " .. core.describe(body), 3)
  end
end

-- Creates a function of the suite language. `describe "name" (function() … end)` is allowed:
-- without a body the function returns another one that accepts it.
local function function_with_body(keyword, default_body, add)
  return function(name, body)
    local current = suite.current
    if not current or not current.is_block then
      if keyword == "pending" and current and current.kind == "it" and not current.ending then
        return kit.raise_pending(name)
      end
      unsupported(keyword)
    end
    local path, line = caller_location()
    if body == nil and kit.callable(name) and type(name) ~= "string" then
      body, name = name, nil
    end
    body = body or default_body
    local function finish(passed_body)
      check_body(keyword, name, passed_body)
      local element = add(current, name ~= nil and tostring(name) or nil, passed_body)
      element.path, element.line = path, line
    end
    if body == nil then
      -- If the returned function is never called, the body was forgotten, which the runner reports.
      local open = { keyword = keyword, name = name, path = path, line = line }
      current.open = current.open or {}
      current.open[#current.open + 1] = open
      return function(passed_body)
        finish(passed_body)
        open.has_body = true
      end
    end
    finish(body)
  end
end

---Closes a block whose body has run. Functions of the suite language that were called without a
---body, such as `it "flies"`, are reported and count as pending.
function suite.close(block)
  for _, open in next, block.open or {} do
    if not open.has_body then
      local name = open.name ~= nil and tostring(open.name) or nil
      local shown = name and " '" .. name .. "'" or ""
      local location = open.path and open.path .. ":" .. open.line .. ": " or ""
      log("warning", location .. open.keyword .. shown .. " has no function: write one, or pending"
        .. (name and shown or " 'its name'"))
      block.children[#block.children + 1] = { kind = "pending", name = name or open.keyword,
        parent = block, path = open.path, line = open.line }
    end
  end
  block.open = nil
end

local function block_function(keyword, kind)
  return function_with_body(keyword, nil, function(parent, name, body)
    local block = new_block(kind, name, body, parent)
    parent.children[#parent.children + 1] = block
    return block
  end)
end

local function test_function(keyword, kind, default_body)
  return function_with_body(keyword, default_body, function(parent, name, body)
    local element = { kind = kind, name = name or keyword, body = body, parent = parent }
    parent.children[#parent.children + 1] = element
    return element
  end)
end

local function hook_function(keyword)
  local list = HOOKS[keyword]
  return function_with_body(keyword, nil, function(parent, _, body)
    local hook = { kind = "hook", name = keyword, body = body, parent = parent }
    parent[list] = parent[list] or {}
    parent[list][#parent[list] + 1] = hook
    return hook
  end)
end

local function randomize(...)
  local block = suite.current
  if not block or not block.is_block then
    unsupported("randomize")
  end
  local first, second = ...
  if select("#", ...) > 0 and not first then
    block.randomize = false
    return
  end
  block.randomize = true
  block.seed = tonumber(first) or tonumber(second)
end

-- Error type that a running test raises to become pending.
local Pending = {}
Pending.__index = {}
Pending.__tostring = function(pending)
  return tostring(pending.message)
end
kit.Pending = Pending

function kit.raise_pending(message)
  error(setmetatable({ message = message }, Pending), 0)
end

local language = {
  describe = block_function("describe", "describe"),
  context = block_function("context", "describe"),
  insulate = block_function("insulate", "insulate"),
  expose = block_function("expose", "expose"),
  it = test_function("it", "it"),
  spec = test_function("spec", "it"),
  test = test_function("test", "it"),
  pending = test_function("pending", "pending", function() end),
  randomize = randomize,
  assert = kit.luassert,
  spy = kit.spy,
  stub = kit.stub,
  mock = kit.mock,
  match = kit.match,
}
for keyword in next, HOOKS do
  language[keyword] = hook_function(keyword)
end
suite.language = language

---Creates a new tree. The suite language is in the environment of its root, backed by the globals.
function suite.new_root()
  local root = new_block("root", nil, nil, nil)
  local env = environment_of(root)
  for keyword, value in next, language do
    rawset(env, keyword, value)
  end
  return root
end

function suite.new_file(path, chunk, root)
  local file = new_block("file", path, chunk, root)
  file.path, file.line = path, 1
  root.children[#root.children + 1] = file
  return file
end

-- Insulation: saving and restoring globals and loaded modules -------------------------------------

local function loaded_modules()
  local package = rawget(globals, "package")
  return core.modules or (type(package) == "table" and package.loaded) or nil
end

local function copy_of(t)
  local copy = {}
  if t then
    for key, value in next, t do
      copy[key] = value
    end
  end
  return copy
end

function suite.save()
  return {
    meta = getmetatable_raw(globals),
    globals = copy_of(globals),
    loaded = copy_of(loaded_modules()),
  }
end

local function put_back(t, saved)
  local keys = copy_of(t)
  for key in next, keys do
    rawset(t, key, saved[key])
  end
  for key, value in next, saved do
    if rawget(t, key) == nil then
      rawset(t, key, value)
    end
  end
end

function suite.restore(saved)
  setmetatable_raw(globals, saved.meta)
  put_back(globals, saved.globals)
  local loaded = loaded_modules()
  if loaded then
    for key in next, copy_of(loaded) do
      loaded[key] = saved.loaded[key]
    end
  end
end

-- Done: the sign-off of an asynchronous test ------------------------------------------------------

local Done = {}
Done.__index = Done

local function token_text(title, tokens)
  if #tokens == 0 then
    return title .. " none"
  end
  return title .. " '" .. concat(tokens, "', '") .. "'"
end

function Done:wait(...)
  for i = 1, select("#", ...) do
    local token = select(i, ...)
    if type(token) ~= "string" then
      error("Wait tokens must be strings. Got " .. type(token), 2)
    end
    self.tokens[#self.tokens + 1] = token
  end
end

function Done:wait_ordered(...)
  self.ordered = true
  self:wait(...)
end

function Done:wait_unordered(...)
  self.ordered = false
  self:wait(...)
end

local function sign_off(self, token)
  if token ~= nil then
    if type(token) ~= "string" then
      error("Wait tokens must be strings. Got " .. type(token), 3)
    end
    local found
    for i = 1, self.ordered and 1 or #self.tokens do
      found = found or (self.tokens[i] == token and i)
    end
    if not found then
      local near = core.suggest and core.suggest(token, self.tokens)
      error("Bad token '" .. token .. "': " .. token_text("tokens expected:", self.tokens) .. ", "
        .. token_text("tokens received:", self.received)
        .. (near and ", did you mean '" .. near .. "'?" or ""), 3)
    end
    self.received[#self.received + 1] = remove(self.tokens, found)
  end
  if #self.tokens == 0 then
    self.complete = true
  end
end

Done.done = sign_off
Done.__call = sign_off

---Returns the message about an asynchronous test that never signed off.
function suite.waiting_for(done)
  return token_text("tokens expected:", done.tokens) .. ", "
    .. token_text("tokens received:", done.received)
end

-- Functions that exist only inside a test; they affect the running test.
local function finally(callback)
  if not kit.callable(callback) then
    error("finally: needs a function, got " .. core.describe(callback), 2)
  end
  suite.current.finally = callback
end

local function async()
  local element = suite.current
  if not element.done then
    local done = { tokens = {}, received = {}, ordered = true, complete = false }
    element.done = setmetatable(done, Done)
    rawset(environment_of(element), "done", element.done)
  end
end

local function settimeout(seconds)
  if type(seconds) ~= "number" or not (seconds >= 0) then
    error("settimeout: needs seconds, got " .. core.describe(seconds), 2)
  end
  suite.current.timeout_seconds = seconds
end

---Creates a fresh environment for a test, with the functions that exist only inside a test.
function suite.prepare_test(element)
  element.env, element.finally, element.done, element.timeout_seconds = nil, nil, nil, nil
  local env = environment_of(element)
  rawset(env, "finally", finally)
  rawset(env, "async", async)
  rawset(env, "settimeout", settimeout)
end

---Prepares a hook, which may also be asynchronous. Its globals are those of its block.
function suite.prepare_hook(hook)
  hook.done, hook.timeout_seconds = nil, nil
  if not hook.env then
    local env = environment_of(hook)
    rawset(env, "async", async)
    rawset(env, "settimeout", settimeout)
  else
    rawset(hook.env, "done", nil)
  end
end
