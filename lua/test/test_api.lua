-- The engine under test: the table `test` of suites (frames, seconds, until_, boot), and the
-- functions that the native driver calls (test_load, test_begin, test_step, test_interrupt). The
-- driver runs the frames: a test requests them by yielding. The suite language is in the files
-- loaded before this one.
local core = ...

-- A few calls per test do not benefit from compilation: most runs end sooner.
core.jit.off(true, true)

local type, tostring, error, next, setmetatable = type, tostring, error, next, setmetatable
local rawset = rawset
local format, gsub, byte, find = string.format, string.gsub, string.byte, string.find
local pcall, floor, concat = pcall, math.floor, table.concat
local yield, running = coroutine.yield, coroutine.running
local native_load, os, globals = load, os, core.globals

local FRAMES_MAX = 1e6 -- frames that one call can ask for: more than four hours of play
local UNTIL_FRAMES = 600 -- frames that test.until_ waits for by default: ten seconds

local test, kit = core.test, core.test.kit
local suite = kit.suite
local Utf8 = core.module("Utf8")
kit.own(core.debug.getinfo(1, "S").source)

-- The table `test` --------------------------------------------------------------------------------

local engine_test = {}

-- Sends a request to the driver. A failure of the request is raised in the test.
local function request(name, wanted)
  local current = suite.current
  local thread = running()
  if not thread or thread ~= test.thread() or (current and current.is_block) then
    error("test." .. name .. ": only the test itself can let time pass, not a coroutine of its own "
      .. "and not a describe block", 3)
  end
  local answer = yield(wanted)
  if type(answer) == "string" then
    error(answer, 3)
  end
  return answer
end

---Runs frames: time passes, timers and tweens run, and `update` and `render` are called if the
---game defines them. An error in a frame is raised here. After a game quits or asks for a restart,
---no more frames run in this test.
---@param count? integer number of frames, 1 by default
---@return integer frames number of frames that ran
function engine_test.frames(count)
  count = count == nil and 1 or count
  if type(count) ~= "number" or count < 0 or count > FRAMES_MAX or count ~= floor(count) then
    error("test.frames: argument #1 'count' must be a whole number from 0 to " .. FRAMES_MAX
      .. ", got " .. core.describe(count), 2)
  end
  return (request("frames", { frames = count }))
end

---Runs as many frames as needed to advance the game's time by some seconds.
---@param seconds number seconds of the game's time, zero or more
---@return integer frames number of frames that ran
function engine_test.seconds(seconds)
  if type(seconds) ~= "number" or not (seconds >= 0 and seconds <= FRAMES_MAX / 60) then
    error("test.seconds: argument #1 'seconds' must be a number from 0 to "
      .. floor(FRAMES_MAX / 60) .. ", got " .. core.describe(seconds), 2)
  end
  return (request("seconds", { seconds = seconds }))
end

---Runs frames until a function returns a true value. The test fails if the limit is reached.
---@param predicate fun(): any called before each frame
---@param limit? integer maximum number of frames, 600 by default
---@return integer frames number of frames that ran
function engine_test.until_(predicate, limit)
  limit = limit == nil and UNTIL_FRAMES or limit
  if not kit.callable(predicate) then
    error("test.until_: argument #1 'predicate' must be function, got "
      .. core.describe(predicate), 2)
  elseif type(limit) ~= "number" or limit < 0 or limit > FRAMES_MAX then
    error("test.until_: argument #2 'limit' must be a number of frames, got "
      .. core.describe(limit), 2)
  end
  local played = 0
  while not predicate() do
    if played >= limit then
      kit.fail(format("test.until_: the predicate was still not true after %d frames", played))
    end
    local more = request("until_", { frames = 1 })
    played = played + more
    if more == 0 then
      kit.fail(format("test.until_: the game has quit after %d frames, and the predicate was not "
        .. "true", played))
    end
  end
  return played
end

---Starts the game like `engine run`: its boot script (main.lua), then `init`. Without it, only the
---modules that the suite requires are executed. Can be called once per file.
function engine_test.boot()
  request("boot", { boot = true })
end

-- `test` is also an alias of `it`, and in files that use no fields of `test` it is busted's
-- function.
local define = suite.language.test
setmetatable(engine_test, {
  __call = function(_, ...)
    return define(...)
  end,
  __index = function(_, key)
    local names = core.names(engine_test)
    local near = core.suggest(tostring(key), names)
    error("there is no 'test." .. tostring(key) .. "'" .. (near
      and ", did you mean 'test." .. near .. "'?" or " (there are " .. concat(names, ", ") .. ")"),
      2)
  end,
})

kit.engine_test, kit.request = engine_test, request

-- Returns true if a script uses fields of `test`. The plain search comes first because it is fast.
local function uses_test(text)
  local first, last = find(text, "test", 1, true)
  while first do
    local alone = first == 1 or not find(text, "^[%w_]", first - 1)
    if alone and (find(text, "^%s*%.%s*[%a_]", last + 1) or find(text, "^%s*%[", last + 1)) then
      return true
    end
    first, last = find(text, "test", last + 1, true)
  end
  return false
end

local function choose_test_meaning(text)
  if uses_test(text) then
    suite.language.test, kit.busted.test = engine_test, engine_test
  end
end

---Selects the meaning of `test` for a module that requires busted, which may also use fields of
---`test`.
function kit.choose_test_meaning_of_module(text)
  if find(text, "busted", 1, true) then
    choose_test_meaning(text)
  end
end

-- Functions called by the driver ------------------------------------------------------------------

local function escaped(char)
  return format("\\x%02X", byte(char))
end

-- Converts a text to valid UTF-8 for people: invalid bytes are shown as escapes.
local function plain(text)
  if text == nil then
    return nil
  elseif type(text) ~= "string" then
    text = tostring(text)
  end
  if not Utf8.valid(text) then
    text = gsub(text, "[\128-\255]", escaped)
  end
  return text
end

local function plain_list(list)
  local texts = {}
  for i = 1, #(list or {}) do
    texts[i] = plain(list[i])
  end
  return texts
end

local TEXTS = { "kind", "status", "name", "path", "message", "difference", "trace", "hint", "hook" }

-- Returns a copy of an event that the driver can read, with plain data only.
local function readable(event)
  local copy = { line = event.line }
  for i = 1, #TEXTS do
    local key = TEXTS[i]
    copy[key] = plain(event[key])
  end
  if event.location then
    copy.at = format("%s:%d", plain(event.location.path), event.location.line or 0)
  end
  copy.groups = event.groups and plain_list(event.groups)
  if event.locals and event.locals[1] then
    copy.locals = plain_list(event.locals)
  end
  return copy
end

-- Converts an event to the driver's request with its amount. Returns nil for an invalid request.
local function request_of(event)
  local wanted = event.request
  for _, key in next, { "frames", "seconds" } do
    local amount = wanted[key]
    if type(amount) == "number" and amount >= 0 and amount <= FRAMES_MAX then
      return { kind = "request", request = key, amount = amount }
    end
  end
  if wanted.boot == true then
    return { kind = "request", request = "boot" }
  end
  return kit.power_of(wanted)
end

local undelivered -- event of the last step, kept in case the step is stopped at its end

-- Records frames from the first one on if a test will need them.
local function keep_frames(text)
  if find(text, "device lost", 1, true) then
    core.keep_frames(true)
  elseif find(text, "test.screenshot", 1, true) then
    core.keep_frames(find(text, "picture", 1, true) ~= nil)
  end
end
kit.keep_frames = keep_frames

local function compile(path, text)
  core.note_source(path, text)
  choose_test_meaning(text)
  keep_frames(text)
  -- Removes the first line of an executable script (`#!`).
  text = gsub(text, "^#[^\n]*", "")
  if not core.reloader.instrument then return native_load(text, "@" .. path, "t") end
  -- A tool debugs the file: its functions are those that breakpoints know.
  local ok, chunk = pcall(core.reloader.compile, { chunk = path, text = text })
  if not ok then return nil, chunk end
  core.reloader.unrecorded[chunk] = true
  return chunk
end

---Registers a test file.
function core.test_load(path, text)
  if not core.options.sandbox then
    globals.arg = { [0] = path }
  end
  local chunk, problem = compile(path, text)
  test.load(path, chunk, problem)
end

---Registers a helper, which runs before the file: the text of a script, or a module's name if the
---text is "".
function core.test_helper(name, text, arguments)
  local chunk, problem
  if text ~= "" then
    chunk, problem = compile(name, text)
  end
  if problem then
    return problem
  end
  test.load_helper(name, chunk or function()
    return globals.require(name)
  end, arguments)
end

---Sets the search paths of Lua's own `require`, for suites without the sandbox.
function core.test_folders(folders)
  local paths = {}
  for _, folder in next, folders do
    -- As in Lua's own paths: otherwise, with `?/init.lua`, the module '' would be a file in the
    -- root of the disk.
    if not find(folder, "^/") and not find(folder, "^%a:[/\\]") then
      folder = "./" .. folder
    end
    if find(folder, "?", 1, true) then
      paths[#paths + 1] = folder
    else
      local inside = find(folder, "/$") and folder or folder .. "/"
      paths[#paths + 1] = inside .. "?.lua"
      paths[#paths + 1] = inside .. "?/init.lua"
    end
  end
  paths[#paths + 1] = globals.package.path
  globals.package.path = concat(paths, ";")
end

---Removes the engine's own globals: suites of a library have only Lua's own, as elsewhere, and
---`lfs`, which busted leaves there.
function core.test_library()
  for name in next, core.api do
    rawset(globals, name, nil)
  end
  rawset(globals, "lfs", core.stand_ins.lfs)
end

---Registers a file that could not be read, with the reason.
function core.test_unreadable(path, problem)
  test.load(path, nil, problem)
end

---Starts the run; see test.begin. Returns a message if a pattern of the options is malformed.
function core.test_begin(options)
  for _, key in next, { "filter", "filter_out" } do
    for _, pattern in next, options[key] do
      local ok, problem = pcall(find, "", pattern)
      if not ok then
        return format("the pattern '%s' is malformed: %s", pattern, problem)
      end
    end
  end
  test.begin(options)
end

---Runs to the next event or request and returns it. `answer` is the number of frames that ran, or
---a message about an error in them.
function core.test_step(answer)
  undelivered = nil
  local event
  repeat
    event = test.step(answer)
    local request
    if event and event.kind == "yield" then
      request = request_of(event)
      if request then
        return request
      end
      test.interrupt("coroutine.yield was called outside a coroutine of the test's own: only "
        .. "test.frames and its like may pause a test")
      answer = nil
    end
  until not event or event.kind ~= "yield"
  if event and event.status == "success" and event.kind == "test" and not event.groups then
    undelivered = "passed" -- most tests need no further details
  else
    undelivered = event and readable(event) or nil
  end
  return undelivered
end

---Handles a step that was stopped from outside. Returns the event that the step had already
---produced, or ends the running function with this message, so that the next step continues after
---it.
function core.test_interrupt(message)
  if undelivered then
    return undelivered
  end
  test.interrupt(message)
end

-- Disables buffering, so that direct output of a suite without the sandbox appears in its order.
core.io.stdout:setvbuf("no")

-- A suite without the sandbox can call this function, and the process has other files to test.
function os.exit()
  error("os.exit was called: a test must not end the process that runs it", 2)
end
