-- Reports of errors in tests: message, difference, location, trace, locals, hint. Creates plain
-- tables; the native side prints them.
local core = ...

local type, tostring, tonumber, pcall, ipairs = type, tostring, tonumber, pcall, ipairs
local sub, find, match, gsub, concat =
  string.sub, string.find, string.match, string.gsub, table.concat
local getinfo, getlocal = core.debug.getinfo, core.debug.getlocal

local TRACE_FRAMES_MAX = 30 -- frames of a trace
local FRAMES_MAX = 400 -- frames inspected, so that a stack overflow is reported quickly
local LOCALS_MAX = 20 -- locals of the failing frame
local LOCAL_CHARS = 100 -- characters of one local
local MESSAGE_BYTES_MAX = 64 * 1024 -- bytes of a message; longer ones are cut

local kit = core.test.kit
local diff = kit.diff
kit.own(getinfo(1, "S").source)

local report = {}
kit.report = report

local function path_of(info)
  return (gsub(gsub(info.source, "^[@=]", ""), "^%./", ""))
end

-- Returns the frames of the game and the test, innermost first. A coroutine that failed keeps its
-- stack.
local function game_frames(thread)
  local frames = {}
  for level = 0, FRAMES_MAX do
    local info = getinfo(thread, level, "nSl")
    if not info then
      break
    elseif info.what ~= "C" and info.currentline > 0 and not kit.is_library(info.source) then
      frames[#frames + 1] = { info = info, level = level }
    end
  end
  return frames
end

local function frame_text(info)
  local text = path_of(info) .. ":" .. info.currentline .. ": in "
  if info.what == "main" then
    return text .. "main chunk"
  elseif info.name then
    return text .. "function '" .. info.name .. "'"
  end
  return text .. "function at line " .. info.linedefined
end

local function trace_text(frames)
  local lines = {}
  for i = 1, #frames do
    if i > TRACE_FRAMES_MAX then
      lines[i] = "... (" .. #frames - TRACE_FRAMES_MAX .. " more)"
      break
    end
    lines[i] = frame_text(frames[i].info)
  end
  return concat(lines, "\n")
end

local function locals_of(thread, level)
  local lines, visited = {}, {}
  local info = getinfo(thread, level, "fl")
  local kept = core.kept_locals(info.func, info.currentline)
  for index = 1, 250 do
    local name, value = getlocal(thread, level, index)
    if not name or #lines >= LOCALS_MAX then
      break
    end
    if sub(name, 1, 1) ~= "(" and type(value) ~= "function" then
      local at = visited[name] or #lines + 1
      visited[name] = at
      local ok, text = pcall(diff.inspect, value, { chars = LOCAL_CHARS, handles = true })
      local note = kept and not kept[index] and ", or no longer kept by compiled code" or ""
      lines[at] = name .. " = " .. (ok and text or type(value)) .. note
    end
  end
  return lines
end

-- Names that the sandbox removes, as a missing name appears in Lua's own messages.
local MISSING = {}
for _, name in ipairs({
  "io", "ffi", "dofile", "loadfile", "newproxy", "execute", "remove", "rename", "tmpname", "exit",
  "setlocale", "loadlib", "dump", "open", "sethook", "getmetatable", "setmetatable",
  "upvalueid", "stdout",
  "getlocal", "getupvalue", "setupvalue", "getregistry", "module", "popen", "lfs",
}) do
  MISSING[name] = true
end

-- Names that libraries store in locals, and that rarely have another meaning.
local DISTINCT = {}
for _, name in ipairs({ "io", "ffi", "dofile", "loadfile", "newproxy", "dump", "tmpname", "popen",
  "sethook", "getupvalue", "setupvalue" }) do
  DISTINCT[name] = true
end

-- Patterns of the sandbox's own error messages.
local REFUSED = {
  "collectgarbage: '%a+' is not for games",
  "is the engine's and cannot be replaced",
  "load: this is a compiled chunk",
}

local HINT = "a suite that needs the full standard library runs with: engine test --no-sandbox"

-- Functions of other test libraries.
local OTHER_ASSERTIONS = {
  expect = true, assert_equal = true, assert_equals = true, assertEquals = true, assertTrue = true,
  assert_true = true, assertFalse = true, assert_false = true, should = true,
}

-- Functions that exist only in the environment of a test.
local INSIDE = { finally = true, async = true, done = true, settimeout = true }

-- Returns a hint about a missing function of the suite language. A module shared by suites sees the
-- game's globals, but not these functions.
local function hint_for_function(name, nearest)
  if name and OTHER_ASSERTIONS[name] then
    return "'" .. name .. "' is written assert.equals(expected, actual), assert.is_true(value), "
      .. "assert.has_error(fn): see: engine docs assert.equals"
  end
  local known = name and (kit.suite.language[name] ~= nil or INSIDE[name])
  if not known or not nearest or kit.suite.is_test_file(nearest.source) then
    return nil
  elseif INSIDE[name] then
    return "'" .. name .. "' exists only in tests: a module takes it as an argument"
  end
  return "the words of suites exist only in suites; a module requires this one: local " .. name
    .. ' = require("busted").' .. name
end

-- Returns a hint if the sandbox, or the file that uses the name, may be the cause of an error.
local function hint_for(message, nearest)
  local global = match(message, "global '([%w_]+)' %(a nil value%)")
  local hint = hint_for_function(global, nearest)
  if hint or not core.options.sandbox then
    return hint
  end
  local name = global
    or match(message, "field '([%w_]+)' %(a nil value%)")
    or match(message, "method '([%w_]+)' %(a nil value%)")
    or match(message, "there is no module '([%w_]+)'")
  local kept = match(message, "local '([%w_]+)' %(a nil value%)")
    or match(message, "upvalue '([%w_]+)' %(a nil value%)")
  if (name and MISSING[name]) or (kept and DISTINCT[kept]) then
    return "'" .. (name or kept) .. "' does not exist in the sandbox; " .. HINT
  end
  for _, pattern in ipairs(REFUSED) do
    if find(message, pattern) then
      return "the sandbox allows no more; " .. HINT
    end
  end
  return nil
end

-- Removes the location from a string error, because the report names it anyway.
local function without_location(message, info)
  if info then
    for _, name in ipairs({ info.short_src, path_of(info) }) do
      local location = name .. ":" .. info.currentline .. ": "
      if sub(message, 1, #location) == location then
        return sub(message, #location + 1)
      end
    end
  end
  return message
end

local function message_of(raised)
  if type(raised) == "string" then
    return raised
  elseif raised == nil then
    return "nil was raised as an error (error() without a message)"
  elseif kit.has_tostring(raised) then
    local ok, text = pcall(tostring, raised)
    return ok and type(text) == "string" and text or "an error value whose __tostring failed"
  end
  return diff.inspect(raised)
end

-- Shortens a message, so that it remains readable and patterns process it quickly.
local function bounded(message)
  if #message <= MESSAGE_BYTES_MAX then
    return message
  end
  local last = MESSAGE_BYTES_MAX
  -- Do not cut inside a character.
  for _ = 1, 3 do
    if find(message, "^[\128-\191]", last + 1) then
      last = last - 1
    end
  end
  return sub(message, 1, last) .. "\n... (" .. #message - last .. " more bytes)"
end

local function failure_text(raised, problem)
  if type(raised.text) ~= "string" then
    return bounded(message_of(raised.message))
  end
  local message = bounded(raised.text)
  if raised.compared then
    local ok, difference = pcall(diff.difference, raised.expected, raised.actual)
    if ok and difference then
      problem.difference = difference
      message = message .. "\n" .. bounded(difference)
    end
  end
  return message
end

---Creates the report for `raised`, the error that ended `thread` (or for which it was abandoned).
---Fields: status, message, difference, location {path, line}, trace, locals, hint.
function report.problem(thread, raised)
  local status = kit.kind_of_error(raised)
  local problem = { status = status }
  if status == "pending" then
    problem.message = raised.message ~= nil and bounded(tostring(raised.message)) or nil
    return problem
  end
  local frames = game_frames(thread)
  local nearest = frames[1] and frames[1].info
  local message
  if status == "failure" then
    message = failure_text(raised, problem)
  else
    message = bounded(without_location(message_of(raised), nearest))
  end
  problem.hint = hint_for(message, nearest)
  if status == "error" and nearest and not problem.hint then
    message = message
      .. core.hint(message, path_of(nearest), nearest.currentline, thread, frames[1].level)
  end
  problem.message = diff.without_addresses(message)
  if nearest then
    problem.location = { path = path_of(nearest), line = nearest.currentline }
    problem.locals = locals_of(thread, frames[1].level)
  else
    local path, line = match(message, "^([^\n]-):(%d+): ")
    problem.location = path and { path = path, line = tonumber(line) } or nil
    problem.locals = {}
  end
  problem.trace = trace_text(frames)
  return problem
end

---Creates the report of a problem without a thread, such as a file that does not compile.
function report.plain(status, message)
  message = bounded(message .. core.syntax_hint(message))
  local path, line = match(message, "^([^\n]-):(%d+): ")
  return {
    status = status,
    message = message,
    location = path and not find(path, "\n") and { path = path, line = tonumber(line) } or nil,
    trace = "",
    locals = {},
  }
end
