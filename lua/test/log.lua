-- Errors in the engine's log while tests run: an error that a test does not expect makes the test
-- fail. The native log withholds these errors from the terminal until this file takes them.
local core = ...

local type, find, pcall, format, concat = type, string.find, pcall, string.format, table.concat
local error, remove, has_captured_errors = error, table.remove, core.has_captured_errors

local kit = core.test.kit
local report = kit.report
kit.own(core.debug.getinfo(1, "S").source)

local expected = {} -- patterns of the running test, in the order of their calls
local open = false -- true while a test is running

---Begins a test, without expected errors.
function kit.begin_log()
  if #expected > 0 then
    expected = {}
  end
  open = true
end

-- Returns the errors that match no expected pattern. Each pattern accepts one error.
local function unexpected(errors)
  local left = {}
  for i = 1, #errors do
    local taken
    for k = 1, #expected do
      if find(errors[i], expected[k]) then
        taken = k
        break
      end
    end
    if taken then
      remove(expected, taken)
    else
      left[#left + 1] = errors[i]
    end
  end
  return left
end

local function join_messages(errors)
  return (#errors == 1 and "an error was logged: " or #errors .. " errors were logged:\n")
    .. concat(errors, "\n")
end

---Ends a test. Returns its problem, given `problem` so far.
function kit.check_log(problem, element)
  open = false
  if #expected == 0 and not has_captured_errors() then
    return problem
  end
  local left = unexpected(core.take_errors())
  local message
  if #left > 0 then
    message = join_messages(left)
  elseif #expected > 0 and not (problem and problem.status ~= "pending") then
    message = format("test.expect_error: no error that matches the pattern '%s' was logged",
      expected[1])
  else
    return problem
  end
  if problem and problem.status ~= "pending" then
    problem.message = (problem.message or "") .. "\n" .. message
    return problem
  end
  local found = report.plain("error", message)
  found.location = { path = element.path, line = element.line }
  return found
end

---Returns a problem if errors were logged while no test ran, or nil.
function kit.log_outside()
  if has_captured_errors() then
    local errors = core.take_errors()
    return report.plain("error", join_messages(errors) .. " (only a test can expect errors)")
  end
end

---Expects one error in the log that matches a pattern, until the end of the test.
function kit.expect_error(pattern)
  if type(pattern) ~= "string" then
    error("test.expect_error: argument #1 'pattern' must be string, got "
      .. core.describe(pattern), 3)
  end
  local ok, problem = pcall(find, "", pattern)
  if not ok then
    error("test.expect_error: the pattern '" .. pattern .. "' is malformed: " .. problem, 3)
  elseif not open then
    error("test.expect_error: only a test can expect errors, and none is running", 3)
  end
  expected[#expected + 1] = pattern
end
