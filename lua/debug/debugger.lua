-- The debugger: stops scripts at breakpoints, after steps and at errors, and answers the requests
-- of a tool, whose messages are in src/app/remote/debug_messages.rs. How a breakpoint stops a
-- function is in breakpoints.lua, the variables of a stopped script are in stack_values.lua.
local core = ...

-- Levels of the stack are counted here.
core.jit.off(true, true)

local tostring, rawset, next = tostring, rawset, next
local running = coroutine.running
local gsub, find, lower, sort = string.gsub, string.find, string.lower, table.sort
local values, breakpoints, calls = core.stack_values, core.breakpoints, core.inserted_calls
local rows, data, versions = core.row_breakpoints, core.data_breakpoints, core.text_versions
local clean, preview = core.value_text.clean, core.value_text.preview

local EVALUATION_SECONDS = 0.5 -- CPU time of a line that a tool evaluates
local ANSWER_SECONDS = 1 -- CPU time of a request about a stopped script, without such lines
local FRAMES_MAX = 1000 -- functions in one answer
local VARIABLES_MAX = 1000 -- variables in one answer
local WORKER_NUMBERS = 1000000 -- range of numbers of breakpoints and texts for each worker

-- True while a script is stopped.
local is_stopped = false
-- True while a step was begun and no line has ended it.
local is_stepping = false
-- How a command lets the script continue.
local resumes
-- What has stopped the script at its line: an inserted "call", or the "hook"; nil otherwise.
local stopped_by
-- The target of a jump with which the script continues.
local jump
-- The error at which the script is stopped.
local last_error
-- Texts that an error must contain to stop the script, by the kind of error; false for none.
local error_texts = { uncaught = false, caught = false, warning = false }
-- Sets if warnings stop the script.
local set_warnings

-- Requests ----------------------------------------------------------------------------------------

-- Functions that answer a request: the answer, or nil and a message.
local requests = {}

-- Returns a text of a list, or nil if there is none.
local function text_of(list, i)
  local text = list and list[i]
  return text ~= "" and text or nil
end

-- Returns a list of `{ [key] = value, condition, hits, log }` from the lists of a message.
local function with_conditions(fields, key, list)
  local ids = fields.ids or {}
  local points = {}
  for i = 1, #list do
    points[i] = {
      id = ids[i], [key] = list[i], condition = text_of(fields.conditions, i),
      hits = text_of(fields.hits, i), log = text_of(fields.logs, i),
    }
  end
  return points
end

function requests.debug_breakpoints(fields)
  local list = with_conditions(fields, "line", fields.lines)
  local results, problem = breakpoints.set(fields.file, list, fields.saved)
  return results and { breakpoints = results }, problem
end

function requests.debug_locations(fields)
  return { lines = breakpoints.locations(fields.file, fields.line, fields.last or fields.line) }
end

function requests.debug_functions(fields)
  local results, problem = breakpoints.set_functions(with_conditions(fields, "name", fields.names))
  return results and { breakpoints = results }, problem
end

function requests.debug_errors(fields)
  local function text(key)
    local wanted = fields[key]
    return wanted and wanted ~= "" and lower(wanted) or false
  end
  error_texts.uncaught, error_texts.caught = text("text"), text("caught_text")
  error_texts.warning = text("warning_text")
  set_warnings(fields.warnings == true)
  core.debug_stop_at_errors(fields.on, fields.caught == true)
  return {}
end

function requests.debug_source(fields)
  if fields.version then
    local old = versions.text(fields.version)
    return old and { text = old }, not old and "this text is not kept any more, or by another "
      .. "script than the stopped one" or nil
  end
  local text = core.source(fields.file) or core.engine_source(fields.file)
  if not text then return nil, "no script '" .. fields.file .. "' is loaded" end
  return { text = text }
end

function requests.debug_sources()
  local list = {}
  for chunk in next, core.reloader.records do list[#list + 1] = chunk end
  sort(list)
  return { files = list, engine_files = core.engine_chunks(), earlier = versions.list() }
end

function requests.debug_data(fields)
  local list = with_conditions(fields, "data", fields.data)
  return { breakpoints = data.set(list) }
end

-- In a worker: a reload has moved the breakpoints of a file in the game, and the worker keeps the
-- code that it has loaded, and their lines in it. Before it has taken a list of the tool, it gets
-- only this one, which has replaced that.
local function set_moved(wanted, loaded)
  local list = with_conditions(wanted, "line", wanted.lines)
  if core.has_breakpoints(wanted.file, list) then return end
  local move = core.moved_lines(wanted.saved or loaded, loaded)
  for i = 1, #list do list[i].line = move(list[i].line) end
  breakpoints.set(wanted.file, list, loaded)
end

-- In a worker: a request that the tool has sent to the game, which has answered it.
function requests.debug_setting(fields)
  local wanted = fields.fields
  -- What a worker loads later may have either text.
  local loaded = wanted.reason == "moved" and core.source(wanted.file)
  if loaded then
    -- The tool knows the lines in the game.
    set_moved(wanted, loaded)
    return {}
  end
  local result = requests[fields.name](wanted)
  local set = {}
  for i = 1, result and result.breakpoints and #result.breakpoints or 0 do
    local point = result.breakpoints[i]
    if point.verified then set[#set + 1] = point end
  end
  if #set > 0 then
    local file = wanted.file or ""
    core.debug_send("debug_breakpoints_changed", { file = file, breakpoints = set })
  end
  return {}
end

-- Requests that need a stopped script.
local stopped_requests = {}

function stopped_requests.debug_stack(fields)
  local most = fields.max or FRAMES_MAX
  local frames, count = values.frames(fields.first or 0, most < FRAMES_MAX and most or FRAMES_MAX,
    fields.coroutine)
  if not frames then return nil, count end
  return { frames = frames, count = count }
end

function stopped_requests.debug_coroutines()
  return { coroutines = values.coroutines() }
end

function stopped_requests.debug_data_info(fields)
  return data.info(fields.reference, fields.name)
end

function stopped_requests.debug_complete(fields)
  return values.complete(fields.frame or 0, fields.text)
end

function stopped_requests.debug_set_expression(fields)
  return values.set_expression(fields.frame or 0, fields.expression, fields.text,
    EVALUATION_SECONDS)
end

function stopped_requests.debug_scopes(fields)
  local scopes, problem = values.scopes(fields.frame)
  return scopes and { scopes = scopes }, problem
end

function stopped_requests.debug_variables(fields)
  local most = fields.max or VARIABLES_MAX
  local page = { first = (fields.first or 0) + 1, filter = fields.filter,
    most = most < VARIABLES_MAX and most or VARIABLES_MAX }
  local list, follow = values.variables(fields.reference, page)
  if not list then return nil, follow end
  return { variables = list, follow = follow }
end

function stopped_requests.debug_set(fields)
  return values.set(fields.reference, fields.name, fields.frame or 0, fields.text,
    EVALUATION_SECONDS)
end

function stopped_requests.debug_evaluate(fields)
  if fields.command and not core.reloader.is_worker then
    local is_command, problem = core.try_debug_command(fields.frame or 0, fields.text)
    if problem then return nil, problem end
    if is_command then return { value = "", kind = "nil", reference = 0 } end
  end
  if fields.raw then return values.look_up(fields.frame or 0, fields.text) end
  return values.evaluate(fields.frame or 0, fields.text, fields.seconds or EVALUATION_SECONDS,
    fields.whole)
end

-- Returns the target of a jump of the innermost function, or nil and a message. `wanted` has its
-- file, version and line.
local function jump_target(wanted)
  if not stopped_by then
    return nil, "only a script that is stopped at a line can jump: it is stopped inside of an "
      .. "operation"
  end
  local fn, from = values.innermost()
  return versions.target(fn, from, wanted, stopped_by == "call")
end

function stopped_requests.debug_jump_targets(fields)
  local target = jump_target(fields)
  return { lines = target and { target.line } or {} }
end

function stopped_requests.debug_jump(fields)
  local target, problem = jump_target(fields)
  if not target then return nil, problem end
  jump = target
  core.debugger_resume("jump")
  return { line = target.line }
end

function stopped_requests.debug_error()
  if not last_error then return nil, "no error has stopped the script" end
  return last_error
end

local function answer(name, fields)
  local handler = requests[name] or is_stopped and stopped_requests[name]
  if not handler then
    return nil, "no script is stopped: set a breakpoint, or pause the scripts first"
  end
  -- Values are shown with the game's own functions (`__tostring`), which may not end.
  local ok, result, problem = core.debug_protect(ANSWER_SECONDS, handler, fields)
  if not ok then return nil, tostring(result) end
  return result, problem
end

-- Answers a request while no script is stopped.
function core.debugger_request(name, fields)
  local result, problem = answer(name, fields)
  return { answer = result, problem = problem }
end

-- Stops -------------------------------------------------------------------------------------------

-- Answers requests until the script has to continue. Returns where it stops next.
local function serve()
  while true do
    local name, fields = core.debug_next()
    if not name then
      -- The tool has left, or the game ends.
      breakpoints.clear()
      data.clear()
      set_warnings(false)
      core.debug_stop_at_errors(false, false)
      return nil
    elseif name == "debug_continue" then
      core.debug_answer({})
      return nil
    elseif name == "debug_step" then
      core.debug_answer({})
      return fields.mode
    elseif name == "debug_restart_frame" then
      core.debug_answer({})
      return "restart"
    elseif name == "debug_pause" then
      core.debug_answer({})
    else
      core.debug_answer(answer(name, fields))
      if resumes then
        local mode = resumes
        resumes = nil
        return mode ~= "continue" and mode or nil
      end
    end
  end
end

-- Lets the stopped script continue after the request that is being answered: "continue", or the
-- mode of a step. Returns false if no script is stopped.
function core.debugger_resume(mode)
  if is_stopped then resumes = mode end
  return is_stopped
end

-- Stops the script, without the `skipped` innermost functions of the stack, and returns when it has
-- to continue.
local function stop(event, skipped, by)
  if is_stopped or not core.debug_begin_pause() then return end
  is_stopped, is_stepping, stopped_by = true, false, by
  calls.set_stopped(true)
  local before = values.enter(skipped)
  if event.dead then values.show_dead(event.dead, event.message) end
  event.dead = nil
  event.frames = values.first_frame()
  core.debug_send("debug_stopped", event)
  local mode = serve()
  local depth, fn, line, source = values.depth(), values.innermost()
  if values.leave(before) then core.jit.flush() end
  local restarts, jumps = mode == "restart", mode == "jump"
  if restarts then mode = nil end
  -- The jump ends as a step does.
  if jumps then mode = "in" end
  is_stopped, is_stepping, last_error = false, mode ~= nil, nil
  calls.set_stopped(false)
  breakpoints.set_stepping(is_stepping)
  if jumps then core.debug_jump(fn, line, jump.position, by == "call") end
  -- At the end of the pause, another script may stop, whose event must follow this one.
  core.debug_send("debug_continued", { restarts = restarts or nil })
  core.debug_end_pause(mode, depth, source, line)
  if restarts then core.debug_restart_frame() end
end

-- Writes the first problem of a breakpoint to the log.
local function report(point, chunk, problem)
  if point.is_reported then return end
  point.is_reported = true
  core.log("warning", chunk .. ":" .. (point.line or point.wanted) .. ": " .. problem)
end

local function report_condition(point, chunk, problem)
  report(point, chunk, "the condition of the breakpoint failed, and counts as true from now on: "
    .. problem)
end

-- Evaluates the condition of a breakpoint in the innermost function.
local function holds_here(point, chunk)
  local line, result, problem = point.compiled, nil, nil
  if not line then
    line, problem = values.compile(point.condition)
    point.compiled = line
  end
  if line then result, problem = values.call(line, EVALUATION_SECONDS) end
  if problem then report_condition(point, chunk, problem) end
  return problem ~= nil or result
end

-- Writes the message of a breakpoint to the log, with the values of the expressions in braces.
local function write_log(point)
  local text = gsub(point.log, "{([^{}]*)}", function(expression)
    local result, problem = values.run(0, expression, EVALUATION_SECONDS)
    return problem and "{" .. problem .. "}" or clean(preview(result))
  end)
  core.log("info", text)
end

-- Returns true if a breakpoint stops the script. `skipped` innermost functions are left out, as for
-- `stop`. `holds` is true or false if its condition and number of hits were tested, and nil
-- otherwise.
local function stops_at(point, chunk, skipped, holds)
  if holds == false then return false end
  if holds and not point.log then return true end
  local before = values.enter(skipped)
  core.is_testing = true
  local stops = holds or not point.condition or holds_here(point, chunk)
  if stops and not holds then
    point.hits = point.hits + 1
    stops = not point.hit_condition or calls.hits_test(point.hit_condition)(point.hits)
  end
  if stops and point.log then
    write_log(point)
    stops = false
  end
  core.is_testing = false
  if values.leave(before) then core.jit.flush() end
  return stops
end

-- Returns the numbers of the breakpoints of a line that stop the script, or nil.
local function stopping(points, chunk, skipped, holds)
  local ids
  for i = 1, #points do
    if stops_at(points[i], chunk, skipped + 1, holds) then
      ids = ids or {}
      ids[#ids + 1] = points[i].id
    end
  end
  return ids
end

-- Returns the reason of a stop at breakpoints.
local function reason_of(points, ids)
  for i = 1, #points do
    if points[i].id == ids[1] and points[i].is_function then return "function" end
  end
  return "breakpoint"
end

-- Values that have changed by the end of a frame: the script stops at its next line.
local changed_in_frame

-- Returns the event for values that have changed, or nil. `changed` are these values.
local function data_event(chunk, skipped, changed)
  changed = changed or data.changed()
  local ids, text
  for i = 1, changed and #changed or 0 do
    local watch = changed[i].watch
    if stops_at(watch, chunk, skipped + 1) then
      ids = ids or {}
      ids[#ids + 1], text = watch.id, text or changed[i].text
    end
  end
  return ids and { reason = "data", breakpoints = ids, message = text }
end

-- Returns the event for the end of a step, or of the search for the next line after values have
-- changed; nil if a condition of these does not hold.
local function step_event(chunk, skipped)
  local changed = changed_in_frame
  changed_in_frame = nil
  if not changed then return { reason = "step" } end
  local event = data_event(chunk, skipped + 1, changed)
  if not event then
    is_stepping = false
    breakpoints.set_stepping(false)
  end
  return event
end

-- Called by an inserted call. `holds` is as in `stops_at`, `problem` the message of a condition
-- that failed.
function calls.reached(spot, holds, problem)
  if is_stopped or core.reloading then return end
  local ended = is_stepping and core.debug_take_step()
  local points = spot.points
  if problem then report_condition(points[1], spot.chunk, clean(tostring(problem))) end
  -- Left out are this function, `hit`, and those that are called here.
  local ids = stopping(points, spot.chunk, 3, holds)
  if ids then
    stop({ reason = reason_of(points, ids), breakpoints = ids }, 3, "call")
  elseif ended then
    local event = step_event(spot.chunk, 3)
    if event then stop(event, 3, "call") end
  end
end

-- Called before a function of the engine that has breakpoints, if a function of the game calls it.
function core.debugger_row(number)
  if is_stopped or core.reloading or core.is_testing then return end
  local info = core.debug.getinfo(3, "S")
  if not info or info.source:sub(1, 1) ~= "@" then return end
  local ids = stopping(rows.points(number), info.source:sub(2), 3)
  if ids then stop({ reason = "function", breakpoints = ids }, 3) end
end

-- Called after functions of `Unit` while data of units is followed.
function core.debugger_data()
  if is_stopped or core.reloading or core.is_testing then return end
  -- Left out are this function, and the one that called it.
  local event = data_event("Unit.set_data", 3)
  if event then stop(event, 3) end
end

-- Called by the hook at a line at which a step ends, or that a running function with a breakpoint
-- has reached, or at which values are compared.
function core.debugger_line(reason, chunk, line)
  if reason == "step" then
    local event = step_event(chunk, 2)
    if event then stop(event, 2, "hook") end
    return
  elseif reason == "data" then
    local event = data_event(chunk, 2)
    if event then stop(event, 2, "hook") end
    return
  end
  local ids = stopping(breakpoints.at(chunk, line), chunk, 2)
  if ids then stop({ reason = "breakpoint", breakpoints = ids }, 2, "hook") end
end

-- Returns true if a message has the text that errors of a kind must have.
local function has_text(kind, message)
  local wanted = error_texts[kind]
  return not wanted or find(lower(message), wanted, 1, true) ~= nil
end

-- Returns the number of innermost functions that are not the game's, for `stop`, if the caller has
-- called `stop` itself; nil if no function of the game runs.
local function engine_functions()
  local skipped, getinfo = 3, core.debug.getinfo
  while true do
    local info = getinfo(skipped, "S")
    if not info then return nil end
    if info.source:sub(1, 1) == "@" then return skipped - 1 end
    skipped = skipped + 1
  end
end

-- Called by the handler of an error; the report of an error that is caught is empty. `kind` is
-- "uncaught" for one that the engine catches, and not the game.
function core.debugger_error(message, report, kind)
  kind = kind or report == "" and "caught" or "uncaught"
  -- The handler, and `error` or the function of the engine that raised it.
  local skipped = not core.is_testing and engine_functions()
  if not skipped or not has_text(kind, message) then return end
  if report == "" then report = core.debug_report(message, skipped, false) end
  last_error = { message = clean(message), report = report, kind = kind }
  local died = core.died[running() or "main"]
  stop({
    reason = "error", message = clean(message), kind = kind,
    dead = died and died[2] == message and died[1] or nil,
  }, skipped)
end

-- Stops the script at a warning.
local function warned(message)
  if is_stopped or core.is_testing then return end
  local skipped = engine_functions()
  if not skipped or not has_text("warning", message) then return end
  local report = core.debug_report(message, skipped, true)
  last_error = { message = clean(message), report = report, kind = "warning" }
  stop({ reason = "error", message = clean(message), kind = "warning" }, skipped)
end

-- The tool ----------------------------------------------------------------------------------------

-- The functions of the core table that warn of what a script does, and those that also stop it.
local warn, warn_at, warn_of_color = core.warn, core.warn_at, core.warn_of_color
local plain = { warn = warn, warn_at = warn_at, warn_of_color = warn_of_color }
local stopping_forms = {
  warn = function(message)
    warn(message)
    warned(message)
  end,
  warn_at = function(level, message)
    -- This function has a level, too.
    warn_at(level + 1, message)
    warned(message)
  end,
  warn_of_color = function(message)
    warn_of_color(message)
    warned(message)
  end,
}

function set_warnings(on)
  for name, fn in next, on and stopping_forms or plain do rawset(core, name, fn) end
end

-- Begins the debugger, in a worker with its number. Returns the message of a problem.
function core.debugger_begin(worker)
  if not core.reloader.recording and not core.reloader.is_worker then
    return "the scripts of this build cannot change, so no breakpoint can be set"
  elseif not core.debug_is_possible() then
    return "this build of LuaJIT has another layout than the debugger expects"
  end
  worker = worker or 0
  breakpoints.begin(worker * WORKER_NUMBERS)
  versions.begin(worker * WORKER_NUMBERS)
  data.begin(worker)
  rows.begin()
end

function core.debugger_finish()
  breakpoints.finish()
  versions.finish()
  data.clear()
  set_warnings(false)
  is_stepping = false
end

-- Stops the script at its next line.
function core.debugger_pause()
  is_stepping = true
  breakpoints.set_stepping(true)
  core.debug_break()
end

-- Called from time to time while functions of a worker are followed, because it has no frames.
function core.debugger_retry()
  if not is_stopped then breakpoints.update(true) end
end

-- Called in each frame while a tool debugs the game.
function core.debugger_update()
  calls.update()
  breakpoints.update()
  rows.update()
  local changed = data.changed(true)
  if changed then
    changed_in_frame = changed
    core.debugger_pause()
  end
end
