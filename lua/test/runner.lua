-- Walks a suite's tree step by step. The native side calls load, list, begin and step. Prints
-- nothing and measures nothing; all results are event tables.
local core = ...

-- A few calls per test do not benefit from compilation: most runs end sooner.
core.jit.off(true, true)

local type, tostring, next, error, pcall, unpack, select =
  type, tostring, next, error, pcall, unpack, select
local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield
local running, status_of, xpcall = coroutine.running, coroutine.status, xpcall
local sort, floor = table.sort, math.floor
local math = (core.globals or _G).math -- the game's seeded random numbers

local ASYNC_SECONDS = 1 -- time-out of done() in a test that does not call settimeout
local FRAME_SECONDS = 1 / 60 -- simulated time of one frame, unless the options say otherwise

local test, kit = core.test, core.test.kit
local suite, report, publisher = kit.suite, kit.report, kit.publisher
local is_excluded, is_selected = kit.is_excluded, kit.is_selected
local begin_log, check_log, log_outside = kit.begin_log, kit.check_log, kit.log_outside
kit.own(core.debug.getinfo(1, "S").source)

local files, helpers = {}, {}
local run -- the run in progress

-- Selection ---------------------------------------------------------------------------------------

local function list_of(value)
  return type(value) == "table" and value or { value }
end

-- Calls, each in a coroutine: the walk passes them to step() and gets a problem or nil ------------

local CALL, EVENT = {}, {}
local function call(element, body)
  local before = suite.enter(element)
  local problem = yield(CALL, body)
  suite.enter(before)
  return problem
end

local function emit(event)
  yield(EVENT, event)
end

local function add_problem(event, problem)
  for _, key in next, { "message", "difference", "location", "trace", "locals", "hint" } do
    event[key] = problem[key]
  end
  return event
end

local function publish(channel, ...)
  if publisher.has(channel) then
    local ok, raised = pcall(publisher.publish, channel, ...)
    if not ok then
      run.counts.error = run.counts.error + 1
      emit(add_problem({ kind = "hook_error", status = "error", hook = "subscriber" },
        report.plain("error", tostring(raised))))
    end
  end
end

local function block_text(block)
  local name = suite.full_name(block)
  return name ~= "" and "'" .. name .. "'" or block.path or "the suite"
end

local function hook_failed(hook, block, problem, consequence)
  run.counts.error = run.counts.error + 1
  if run.options.fail_fast then
    run.stopping = true
  end
  local event = add_problem({ kind = "hook_error", status = "error", hook = hook.name }, problem)
  event.name = suite.full_name(block)
  event.path, event.line = hook.path or block.path, hook.line or block.line
  event.message = "in " .. hook.name .. " of " .. block_text(block)
    .. (consequence and " (" .. consequence .. ")" or "") .. ": " .. tostring(problem.message)
  emit(event)
end

local function wait_for_done(element)
  local done, waited = element.done, 0
  while not done.complete do
    -- Code of the test runs meanwhile and may change this limit.
    local limit = element.timeout_seconds or ASYNC_SECONDS
    if waited >= limit then
      return report.plain("error", "asynchronous: done() was not called within " .. limit .. " s ("
        .. suite.waiting_for(done) .. ")")
    end
    waited = waited + run.frame_seconds
    local failed = yield(EVENT, { kind = "yield", request = { frames = 1, reason = "async" } })
    if type(failed) == "string" then
      return report.plain("error", failed)
    elseif run.interrupted then
      return report.plain("error", run.interrupted)
    end
  end
  return nil
end

-- Calls a body and, if it called async(), waits until it is done.
local function call_to_the_end(element, body)
  local problem = call(element, body)
  if not problem and element.done then
    -- Frames call the functions that sign off, and they use the test's environment.
    local before = suite.enter(element)
    problem = wait_for_done(element)
    suite.enter(before)
  end
  return problem
end

-- Runs a hook. A failure or pending that is raised in a hook is an error outside the test.
local function run_hook(hook)
  suite.prepare_hook(hook)
  local problem = call_to_the_end(hook, hook.body)
  if problem and problem.status == "pending" then
    problem.message = "pending: " .. tostring(problem.message)
  end
  return problem
end

local function run_block_hooks(block, list, consequence)
  local ok = true
  for _, hook in next, block[list] or {} do
    local problem = run_hook(hook)
    if problem then
      ok = false
      hook_failed(hook, block, problem, consequence)
    end
  end
  return ok
end

-- Runs the lazy hooks of a block and its enclosing blocks once, when the first test needs them.
local function lazy_setup(block)
  if block.parent and not lazy_setup(block.parent) then
    return false
  end
  if block.lazy_done == nil then
    block.lazy_done = run_block_hooks(block, "lazy_setup", "its tests are not run")
  end
  return block.lazy_done
end

local function lazy_teardown(block)
  if block.lazy_done ~= nil then
    run_block_hooks(block, "lazy_teardown")
    block.lazy_done = nil
  end
end

-- Tests -------------------------------------------------------------------------------------------

-- Runs the hooks before a test, outermost block first. Returns the innermost block reached (whose
-- after_each hooks must then run) and the first problem.
local function before_each(block)
  if block.parent then
    local reached, problem = before_each(block.parent)
    if problem then
      return reached, problem
    end
  end
  local first
  for _, hook in next, block.before_each or {} do
    local problem = run_hook(hook)
    if problem and not first then
      first = problem
      first.hook, first.block = hook, block
    elseif problem then
      hook_failed(hook, block, problem)
    end
  end
  return block, first
end

local function after_each(block, first)
  while block do
    for _, hook in next, block.after_each or {} do
      local problem = run_hook(hook)
      if problem and not first then
        first = problem
        first.hook, first.block = hook, block
      elseif problem then
        hook_failed(hook, block, problem)
      end
    end
    block = block.parent
  end
  return first
end

local function run_body(element)
  suite.prepare_test(element)
  local problem = call_to_the_end(element, element.body)
  if element.finally then
    element.ending = true
    local late = call(element, element.finally)
    element.ending = nil
    if late and (not problem or problem.status == "pending") then
      -- Only the test itself can fail or be pending; later problems are errors.
      problem = late
      problem.status = "error"
      problem.message = "in finally: " .. tostring(problem.message)
    end
  end
  return problem
end

local function test_event(element, name, tags)
  return { kind = "test", name = name, path = element.path, line = element.line, tags = tags,
    groups = run.options.detailed and suite.group_names(element) or nil }
end

local function finish(event, problem)
  event.status = problem and problem.status or "success"
  if problem then
    add_problem(event, problem)
    if problem.hook then
      event.status, event.hook = "error", problem.hook.name
      event.message = "in " .. problem.hook.name .. " of " .. block_text(problem.block) .. ": "
        .. tostring(problem.message)
    end
  end
  run.counts[event.status] = run.counts[event.status] + 1
  run.counts.total = run.counts.total + 1
  if run.options.fail_fast and (event.status == "failure" or event.status == "error") then
    run.stopping = true
  end
end

-- Reports errors in the log that were caused by hooks and bodies of groups, not by a test.
local function outside_errors(block)
  local problem = log_outside()
  if problem then
    hook_failed({ name = "a hook or body", path = block.path, line = block.line }, block, problem)
  end
end

local function run_test(element)
  local name = suite.full_name(element)
  local tags = suite.tags(name)
  if is_excluded(run.options, name) or not is_selected(run.options, name, tags) then
    return
  end
  local event = test_event(element, name, tags)
  if run.options.list_only then
    event.kind = "listed"
    return emit(event)
  elseif element.kind == "pending" then
    finish(event, { status = "pending" })
    publish({ "test", "end" }, element, element.parent, "pending")
    return emit(event)
  elseif not lazy_setup(element.parent) then
    return
  end
  if run.options.announce then
    local start = test_event(element, name, tags)
    start.kind = "start"
    emit(start)
  end
  outside_errors(element.parent)
  begin_log()
  publish({ "test", "start" }, element, element.parent)
  local block, problem = before_each(element.parent)
  local skipped = problem ~= nil
  if not skipped then
    problem = run_body(element)
  end
  local failed = problem and problem.status ~= "pending"
  local late = after_each(block, failed and problem or nil)
  if late and not failed then
    problem = late
  end
  problem = check_log(problem, element)
  finish(event, problem)
  publish({ "test", "end" }, element, element.parent, event.status)
  emit(event)
  element.env, element.finally, element.done = nil, nil, nil
end

-- Blocks ------------------------------------------------------------------------------------------

-- Shuffles in the same order as busted, so that a suite with a fixed seed gets its expected order.
local function shuffle(list, seed)
  math.randomseed(seed)
  for i = #list, 1, -1 do
    local k = math.random(i)
    list[i], list[k] = list[k], list[i]
  end
end

local function order(block)
  local children, options = block.children, run.options
  if options.sort then
    local index = {}
    for i = 1, #children do
      index[children[i]] = i
    end
    sort(children, function(a, b)
      local x, y = a.name or "", b.name or ""
      if x == y then
        return index[a] < index[b]
      end
      return x < y
    end)
  elseif block.randomize or (block.randomize == nil and options.shuffle) then
    shuffle(children, block.seed or run.seed)
  end
end

local run_block

local function run_children(block)
  local children = block.children
  for i = 1, #children do
    if run.stopping then
      return
    end
    local child = children[i]
    if child.is_block then
      run_block(child)
    else
      run_test(child)
    end
  end
end

local function body_failed(block, problem)
  if block.kind ~= "file" then
    return hook_failed({ name = block.kind, path = block.path, line = block.line }, block, problem,
      "its tests are not run")
  end
  run.counts.error = run.counts.error + 1
  if run.options.fail_fast then
    run.stopping = true
  end
  local event = add_problem({ kind = "file_error", status = "error", path = block.path }, problem)
  event.name, event.line = block.path, problem.location and problem.location.line or 1
  emit(event)
end

local function run_block_inside(block)
  if block.body then
    local problem = call(block, block.body)
    if problem then
      return body_failed(block, problem)
    end
    suite.close(block)
  end
  order(block)
  if run.options.list_only then
    return run_children(block)
  end
  if run_block_hooks(block, "strict_setup", "its tests are not run") then
    run_children(block)
  end
  lazy_teardown(block)
  run_block_hooks(block, "strict_teardown")
  outside_errors(block)
end

run_block = function(block)
  if block.load_error then
    return body_failed(block, block.load_error)
  elseif block.name and block.kind ~= "file"
    and is_excluded(run.options, suite.full_name(block)) then
    return
  end
  local channel = block.kind == "file" and "file" or block.kind == "root" and "suite" or "describe"
  publish({ channel, "start" }, block, block.parent)
  if block.kind == "file" or block.kind == "insulate" then
    block.saved = suite.save()
  end
  run_block_inside(block)
  if block.kind == "expose" and block.parent.saved then
    block.parent.saved = suite.save()
  end
  if block.saved then
    suite.restore(block.saved)
    block.saved = nil
  end
  publish({ channel, "end" }, block, block.parent)
  block.env, block.children = nil, {}
end

local function walk()
  local root = run.root
  for _, helper in next, helpers do
    local problem = call(root, helper.chunk)
    if problem then
      body_failed({ kind = "file", path = helper.path }, problem)
      return
    end
  end
  run_block(root)
end

-- Functions called by the native side -------------------------------------------------------------

---Registers a test file by its compiled chunk, or by the message of its compile error. The chunk
---runs later, in its own insulated block.
function test.load(path, chunk, message)
  local file = { path = path, chunk = chunk }
  if chunk then
    suite.adopt(chunk)
  else
    file.load_error = report.plain("error", message or "the file could not be loaded")
  end
  files[#files + 1] = file
end

---Registers a helper: a chunk that runs once before all files, and whose hooks apply to all of
---them.
function test.load_helper(path, chunk, arguments)
  helpers[#helpers + 1] = { path = path, chunk = suite.adopt_helper(path, chunk, arguments) }
end

---Clears all registered files, helpers and subscribers.
function test.reset()
  files, helpers, run = {}, {}, nil
  publisher.reset()
end

local OPTIONS = {
  filter = "list", filter_out = "list", names = "list", tags = "list", exclude_tags = "list",
  exclude_names = "list",
  shuffle = "seed", sort = "flag", fail_fast = "flag", list_only = "flag", announce = "flag",
  detailed = "flag",
  seed = "number", frame_seconds = "number",
}

local function read_options(options)
  local read = { filter = {}, filter_out = {}, names = {}, exclude_names = {}, tags = {},
    exclude_tags = {} }
  for key, value in next, options or {} do
    local kind = OPTIONS[key]
    if not kind then
      local near = core.suggest(tostring(key), core.names(OPTIONS))
      error("core.test.begin: unknown option '" .. tostring(key) .. "'"
        .. (near and ", did you mean '" .. near .. "'?" or ""), 3)
    end
    read[key] = kind == "list" and list_of(value) or value
  end
  return read
end

---Starts a run of everything that is registered. Options: filter, filter_out (Lua patterns for the
---full name), names and exclude_names (exact), tags, exclude_tags, shuffle (a seed, or true with
---`seed`), sort, fail_fast, list_only, announce (a "start" event before each test), detailed
---(events of tests contain the names of their groups), frame_seconds.
function test.begin(options)
  local read = read_options(options)
  run = {
    options = read,
    counts = { success = 0, failure = 0, error = 0, pending = 0, total = 0 },
    root = suite.new_root(),
    seed = floor(type(read.shuffle) == "number" and read.shuffle or read.seed or 0),
    frame_seconds = read.frame_seconds or FRAME_SECONDS,
  }
  for i = 1, #files do
    local file = suite.new_file(files[i].path, files[i].chunk, run.root)
    file.load_error = files[i].load_error
  end
  suite.enter(nil)
  run.walk = create(walk)
end

-- Ends the call in progress: the walk receives the problem at the next resume.
local function end_call(problem)
  run.user, run.problem = nil, problem
end

-- Creates the report where the error is raised, because errors of the VM itself leave no stack
-- behind.
local function caught(raised)
  local ok, problem = pcall(report.problem, running(), raised)
  return ok and problem or report.plain("error", tostring(raised))
end

local function guarded(body)
  local ok, problem = xpcall(body, caught)
  if ok then
    return nil
  elseif type(problem) ~= "table" then
    problem = report.plain("error", tostring(problem))
  end
  return problem
end

-- Resumes the running function. Returns a yield event, or nil when the function has ended.
local function drive_user(...)
  local user = run.user
  if status_of(user) == "dead" then
    return end_call(report.problem(user, run.interrupted or "the test was stopped from outside"))
  end
  local ok, value = resume(user, ...)
  if not ok then
    return end_call(report.problem(user, value))
  elseif status_of(user) == "dead" then
    return end_call(value)
  elseif type(value) == "table" then
    return { kind = "yield", request = value }
  end
  return end_call(report.problem(user,
    "coroutine.yield was called outside a coroutine of the test's own: "
    .. "only test.frames and its like may pause a test"))
end

---Runs until the next pause and returns one event, or nil when the run is over. The arguments are
---passed to the test if it waits for an answer. Events, by `kind`: "test" (status success,
---failure, error, pending), "yield" (request), "hook_error", "file_error", "done", and on demand
---"start" and "listed".
function test.step(...)
  if not run or run.over then
    return nil
  end
  local arguments, count = { ... }, select("#", ...)
  while true do
    if run.user then
      local event = drive_user(unpack(arguments, 1, count))
      arguments, count = {}, 0
      if event then
        return event
      end
    end
    -- A call is answered with its problem, an event with the arguments of this step.
    local answer = run.problem or arguments[1]
    run.problem = nil
    local ok, kind, value = resume(run.walk, answer)
    if not ok then
      run.over = true
      local trace = core.debug.traceback(run.walk)
      error("the suite runner failed: " .. tostring(kind) .. "\n" .. trace, 0)
    elseif kind == EVENT then
      return value
    elseif kind == CALL then
      run.user, run.interrupted = create(guarded), nil
      arguments, count = { value }, 1
    else
      run.over = true
      suite.enter(nil)
      return { kind = "done", counts = run.counts }
    end
  end
end

---Returns the coroutine of the running function, if any.
function test.thread()
  return run and run.user
end

---Aborts the running function (on a time-out or by a watchdog): it ends with this error, and the
---next step continues with the hooks that follow. The same applies to a function that waits for
---`done`.
function test.interrupt(message)
  if not run then
    return
  end
  run.interrupted = message
  if run.user then
    end_call(report.problem(run.user, message))
  end
end

---Lists the tests without running them: the bodies of describe blocks run, tests and hooks do not.
function test.list(options)
  local wanted = { list_only = true }
  for key, value in next, options or {} do
    wanted[key] = value
  end
  test.begin(wanted)
  local found, problems = {}, {}
  while true do
    local event = test.step()
    if not event then
      break
    elseif event.kind == "listed" then
      found[#found + 1] = { name = event.name, path = event.path, line = event.line,
        tags = event.tags }
    elseif event.kind == "file_error" or event.kind == "hook_error" then
      problems[#problems + 1] = event
    end
  end
  return found, problems
end
