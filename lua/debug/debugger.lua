-- The debugger: stops scripts at breakpoints, after steps and at errors, and answers the requests
-- of a tool, whose messages are in src/app/remote/debug_messages.rs. How a breakpoint stops a
-- function is in breakpoints.lua, the variables of a stopped script are in stack_values.lua.
local core = ...

-- Levels of the stack are counted here.
core.jit.off(true, true)

local tostring, tonumber = tostring, tonumber
local match, gsub = string.match, string.gsub
local values, breakpoints = core.stack_values, core.breakpoints

local EVALUATION_SECONDS = 0.5 -- CPU time of a line that a tool evaluates
local ANSWER_SECONDS = 1 -- CPU time of a request about a stopped script, without such lines
local FRAMES_MAX = 1000 -- functions in one answer
local VARIABLES_MAX = 1000 -- variables in one answer

-- True while a script is stopped.
local is_stopped = false
-- True while a step was begun and no line has ended it.
local is_stepping = false
-- The error at which the script is stopped.
local last_error

-- Requests ----------------------------------------------------------------------------------------

-- Functions that answer a request: the answer, or nil and a message.
local requests = {}

function requests.debug_breakpoints(fields)
  local lines, list = fields.lines, {}
  for i = 1, #lines do
    local condition = fields.conditions and fields.conditions[i]
    local hits, log = fields.hits and fields.hits[i], fields.logs and fields.logs[i]
    list[i] = {
      line = lines[i], condition = condition ~= "" and condition or nil,
      hits = hits ~= "" and hits or nil, log = log ~= "" and log or nil,
    }
  end
  local results, problem = breakpoints.set(fields.file, list)
  return results and { breakpoints = results }, problem
end

function requests.debug_locations(fields)
  return { lines = breakpoints.locations(fields.file, fields.line, fields.last or fields.line) }
end

function requests.debug_errors(fields)
  core.debug_stop_at_errors(fields.on)
  return {}
end

function requests.debug_source(fields)
  local text = core.source(fields.file)
  if not text then return nil, "no script '" .. fields.file .. "' is loaded" end
  return { text = text }
end

-- Requests that need a stopped script.
local stopped_requests = {}

function stopped_requests.debug_stack(fields)
  local most = fields.max or FRAMES_MAX
  local frames, count = values.frames(fields.first or 0, most < FRAMES_MAX and most or FRAMES_MAX)
  return { frames = frames, count = count }
end

function stopped_requests.debug_scopes(fields)
  local scopes, problem = values.scopes(fields.frame)
  return scopes and { scopes = scopes }, problem
end

function stopped_requests.debug_variables(fields)
  local most = fields.max or VARIABLES_MAX
  local list, problem = values.variables(fields.reference, (fields.first or 0) + 1,
    most < VARIABLES_MAX and most or VARIABLES_MAX)
  return list and { variables = list }, problem
end

function stopped_requests.debug_set(fields)
  return values.set(fields.reference, fields.name, fields.frame or 0, fields.text,
    EVALUATION_SECONDS)
end

function stopped_requests.debug_evaluate(fields)
  return values.evaluate(fields.frame or 0, fields.text, fields.seconds or EVALUATION_SECONDS)
end

function stopped_requests.debug_error()
  if not last_error then return nil, "no error has stopped the script" end
  return last_error
end

local function answer(name, fields)
  local handler = requests[name] or is_stopped and stopped_requests[name]
  if not handler then
    return nil, "no script is stopped: set a breakpoint, or send 'debug_pause'"
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
      core.debug_stop_at_errors(false)
      return nil
    elseif name == "debug_continue" then
      core.debug_answer({})
      return nil
    elseif name == "debug_step" then
      core.debug_answer({})
      return fields.mode
    elseif name == "debug_pause" then
      core.debug_answer({})
    else
      core.debug_answer(answer(name, fields))
    end
  end
end

-- Stops the script, without the `skipped` innermost functions of the stack, and returns when it has
-- to continue.
local function stop(event, skipped)
  if is_stopped or not core.debug_begin_pause() then return end
  is_stopped, is_stepping = true, false
  local before = values.enter(skipped)
  event.frames = values.frames(0, 1)
  core.debug_send("debug_stopped", event)
  local mode = serve()
  local depth, source, line = values.depth(), values.location()
  if values.leave(before) then core.jit.flush() end
  is_stopped, is_stepping, last_error = false, mode ~= nil, nil
  breakpoints.set_stepping(is_stepping)
  core.debug_end_pause(mode, depth, source, line)
  core.debug_send("debug_continued", {})
end

-- Returns true if the number of times that a breakpoint was reached fits: `5`, `>= 5`, `% 5`; or
-- nil if the condition has no such form.
local function fits(hits, condition)
  local operator, number = match(condition, "^%s*([<>=%%]*)%s*(%d+)%s*$")
  number = tonumber(number)
  if not number then return nil end
  if operator == ">" then return hits > number end
  if operator == ">=" then return hits >= number end
  if operator == "<" then return hits < number end
  if operator == "<=" then return hits <= number end
  if operator == "%" then return number > 0 and hits % number == 0 end
  return hits == number
end

-- Writes the first problem of a breakpoint to the log.
local function report(point, chunk, problem)
  if point.is_reported then return end
  point.is_reported = true
  core.log("warning", chunk .. ":" .. point.line .. ": " .. problem)
end

-- Evaluates the condition of a breakpoint in the innermost function.
local function holds(point, chunk)
  local line, result, problem = point.compiled, nil, nil
  if not line then
    line, problem = values.compile(point.condition)
    point.compiled = line
  end
  if line then result, problem = values.call(line, EVALUATION_SECONDS) end
  if problem then
    report(point, chunk, "the condition of the breakpoint failed, and counts as true from now on: "
      .. problem)
  end
  return problem ~= nil or result
end

-- Writes the message of a breakpoint to the log, with the values of the expressions in braces.
local function write_log(point)
  local text = gsub(point.log, "{([^{}]*)}", function(expression)
    local result, problem = values.run(0, expression, EVALUATION_SECONDS)
    return problem and "{" .. problem .. "}" or values.clean(values.preview(result))
  end)
  core.log("info", text)
end

-- Returns true if a breakpoint stops the script. `skipped` innermost functions are left out, as for
-- `stop`.
local function stops_at(point, chunk, skipped)
  local before = values.enter(skipped)
  local stops = not point.condition or holds(point, chunk)
  if stops then
    point.hits = point.hits + 1
    stops = not point.hit_condition or fits(point.hits, point.hit_condition)
    if stops == nil then
      report(point, chunk, "the number of hits '" .. point.hit_condition
        .. "' must be like 5, >= 5 or % 5, and is left out")
      stops = true
    end
  end
  if stops and point.log then
    write_log(point)
    stops = false
  end
  if values.leave(before) then core.jit.flush() end
  return stops
end

-- Returns the numbers of the breakpoints of a line that stop the script, or nil.
local function stopping(points, chunk, skipped)
  local ids
  for i = 1, #points do
    if stops_at(points[i], chunk, skipped + 1) then
      ids = ids or {}
      ids[#ids + 1] = points[i].id
    end
  end
  return ids
end

-- Called by the inserted call of a line.
function breakpoints.reached(spot)
  if is_stopped or core.reloading then return end
  local ended = is_stepping and core.debug_take_step()
  -- Left out are this function, `hit`, and those that are called here.
  local ids = stopping(spot.points, spot.chunk, 3)
  if ids then
    stop({ reason = "breakpoint", breakpoints = ids }, 3)
  elseif ended then
    stop({ reason = "step" }, 3)
  end
end

-- Called by the hook at a line at which a step ends, or that a running function with a breakpoint
-- has reached.
function core.debugger_line(reason, chunk, line)
  if reason == "step" then
    stop({ reason = "step" }, 2)
    return
  end
  local ids = stopping(breakpoints.at(chunk, line), chunk, 2)
  if ids then stop({ reason = "breakpoint", breakpoints = ids }, 2) end
end

-- Called by the handler of an error that the game does not catch.
function core.debugger_error(message, report)
  local skipped = 2
  -- The handler, and `error` or the function of the engine that raised it.
  local getinfo = core.debug.getinfo
  while true do
    local info = getinfo(skipped, "S")
    if not info then return end
    if info.source:sub(1, 1) == "@" then break end
    skipped = skipped + 1
  end
  last_error = { message = values.clean(message), report = report }
  stop({ reason = "error", message = values.clean(message) }, skipped)
end

-- The tool ----------------------------------------------------------------------------------------

-- Begins the debugger. Returns the message of a problem.
function core.debugger_begin()
  if not core.reloader.recording then
    return "the scripts of this build cannot change, so no breakpoint can be set"
  elseif not core.debug_is_possible() then
    return "this build of LuaJIT has another layout than the debugger expects"
  end
  breakpoints.begin()
end

function core.debugger_finish()
  breakpoints.finish()
  is_stepping = false
end

-- Stops the script at its next line.
function core.debugger_pause()
  is_stepping = true
  breakpoints.set_stepping(true)
  core.debug_break()
end

-- Called in each frame while a tool debugs the game.
function core.debugger_update()
  breakpoints.update()
end
