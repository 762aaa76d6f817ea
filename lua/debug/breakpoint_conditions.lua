-- The conditions of breakpoints: whether they are Lua, and the variables that they name, which an
-- inserted call passes.
local core = ...

local sub, gsub, gmatch, find, concat =
  string.sub, string.gsub, string.gmatch, string.find, table.concat
local calls = core.inserted_calls

-- Names that mean functions of Lua's library, if they are globals.
local LIBRARY = { math = true, bit = true, type = true, rawget = true, rawequal = true,
  tonumber = true, select = true }

-- Sets the variables that a call passes, from the kinds of the names in its condition.
local function set_names(insertion, names, kinds)
  local passed, hidden = {}, nil
  local has_calls = names[1] == true
  for i = 2, #names do
    local kind = sub(kinds, i - 1, i - 1)
    if kind == "l" or kind == "u" then passed[#passed + 1] = names[i] end
    has_calls = has_calls or names[1] and kind ~= "g" and LIBRARY[names[i]] or false
    if kind == "h" then hidden = names[i] end
  end
  insertion.names = #passed <= calls.ARGUMENTS_MAX and concat(passed, ",") or nil
  insertion.has_calls = has_calls
  if hidden then
    insertion.points[1].note = "the condition takes '" .. hidden .. "' for a global: the function "
      .. "does not use the variable of this name, and has no access to it"
  end
end

-- Finds the variables that the conditions of breakpoints name. A call without `names` leaves the
-- condition to debugger.lua, which is slow.
function core.resolve_conditions(text, insertions)
  local lines, waiting = {}, {}
  for i = 1, #insertions do
    local insertion = insertions[i]
    local point = insertion.points[1]
    local names = point.condition and core.condition_names(point.condition)
    point.note = nil
    if #insertion.points > 1 or point.condition and not names then
      insertion.names = nil
    elseif names and #names > 1 then
      lines[#lines + 1] = insertion.byte .. " " .. concat(names, " ", 2)
      waiting[#waiting + 1] = { insertion, names }
    elseif names then
      insertion.has_calls = names[1] == true
    end
  end
  local kinds = #lines > 0 and core.name_kinds(text, concat(lines, "\n"))
  for i = 1, #waiting do
    if kinds then
      set_names(waiting[i][1], waiting[i][2], kinds[i])
    else
      waiting[i][1].names = nil
    end
  end
end

-- Returns the problem of a text that must be an expression; nil if it is one.
local function expression_problem(text)
  local chunk, problem = core.load_chunk("return " .. text .. "\n", "=eval", {})
  if chunk then return nil end
  problem = gsub(problem, "^eval:%d+: ", "")
  return find(problem, "near '='", 1, true) and problem .. " (== compares)" or problem
end

-- Returns why a breakpoint cannot be set: its condition, number of hits or log message is not
-- understood. Returns nil if all are.
function core.breakpoint_fault(wanted)
  local condition, hits, log = wanted.condition, wanted.hits, wanted.log
  local problem = condition and expression_problem(condition)
  if problem then return "the condition is no Lua expression: " .. problem end
  if hits and not calls.hits_test(hits) then
    return "the number of hits must be like 5, >= 5 or % 5, and counts from 1"
  end
  for expression in gmatch(log or "", "{([^{}]*)}") do
    local chunk
    chunk, problem = core.compile_line(expression, {})
    if not chunk then
      return "the log message has no Lua in {" .. expression .. "}: "
        .. gsub(problem, "^eval:%d+: ", "")
    end
  end
end

-- Returns true if a file has the breakpoints of a list of `{ id, condition, hits, log }`, on any
-- lines.
function core.has_breakpoints(chunk, list)
  local file = core.reloader.debugged[chunk]
  local set = file and file.set or {}
  for i = 1, #set do
    local point, wanted = set[i], list[i] or {}
    if point.id ~= wanted.id or point.condition ~= wanted.condition
      or point.hit_condition ~= wanted.hits or point.log ~= wanted.log then
      return false
    end
  end
  return #set == #list
end
