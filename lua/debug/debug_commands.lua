-- Console commands of the debugger: `break`, `stack`, `locals`, `step`, `continue`. They need a
-- tool that debugs the game, and work in its console, too.
local core = ...

core.jit.off(true, true)

local tonumber, ipairs = tonumber, ipairs
local match, format = string.match, string.format
local log, values, breakpoints = core.log, core.stack_values, core.breakpoints

local LINES_MAX = 100 -- functions or variables that a command writes
local NOT_STOPPED = "no script is stopped"

-- Runs a line as a command, unless its first name is a variable of a function of the stack. Returns
-- the same as `core.try_command`.
function core.try_debug_command(index, text)
  local name = match(text, "^%s*([%a_][%w_]*)")
  if not name or values.has_variable(index, name) then return false end
  return core.try_command(text)
end

-- Returns a function for `breakpoints.edit`: it sets a breakpoint at a line, or gives those there
-- another condition; without one, it removes them.
local function set_or_remove(line, condition)
  return function(set, new_point)
    local list, found = {}, {}
    for i = 1, #set do
      local point = set[i]
      local is_there = point.wanted == line or point.line == line
      if is_there and condition then
        point = new_point({ id = point.id, line = point.wanted, condition = condition,
          hits = point.hit_condition, log = point.log })
      end
      if is_there then found[#found + 1] = point end
      if condition or not is_there then list[#list + 1] = point end
    end
    if #found > 0 then return list, found, condition and "changed" or "removed" end
    list[#list + 1] = new_point({ line = line, condition = condition })
    return list, { list[#list] }, "new"
  end
end

core.command("break", "break [file:line [condition]]",
  "Sets a breakpoint, or its condition; without one, the same line again removes it. Without a "
  .. "line, lists all breakpoints.", function(location, ...)
    if not core.debug_is_possible() then
      return "no tool debugs the game: connect an editor, or send debug_attach"
    elseif not location then
      for _, point in ipairs(breakpoints.list()) do
        local condition = point.condition and " if " .. point.condition or ""
        log("info", point.file .. ":" .. point.line .. condition)
      end
      return nil
    end
    local file, line = match(location, "^(.+):(%d+)$")
    if not file then return "'" .. location .. "' is no file and line, such as main.lua:5" end
    local parts = { ... }
    local condition = #parts > 0 and core.table.concat(parts, " ") or nil
    local fault = core.breakpoint_fault({ condition = condition })
    if fault then return fault end
    local results, reason = breakpoints.edit(file, set_or_remove(tonumber(line), condition))
    if not results then return reason end
    if reason == "removed" then
      log("info", "removed the breakpoint at " .. location)
    else
      local note = results[1].message and " (" .. results[1].message .. ")" or ""
      log("info", "breakpoint at " .. file .. ":" .. results[1].line
        .. (condition and " if " .. condition or "") .. note)
    end
  end)

core.command("stack", "stack", "Lists the functions of the stopped script.", function()
  if not values.is_stopped() then return NOT_STOPPED end
  for _, frame in ipairs((values.frames(0, LINES_MAX))) do
    local location = frame.file and "  " .. frame.file .. ":" .. frame.line or ""
    log("info", format("%3d %s%s", frame.frame, frame.name, location))
  end
end)

core.command("locals", "locals [function]",
  "Lists the variables of a function of the stopped script; 0 is the innermost.", function(number)
    local index = tonumber(number or 0)
    local scopes = values.is_stopped() and index and values.scopes(index)
    if not scopes then return NOT_STOPPED .. ", or there is no such function" end
    for i = 1, 2 do
      local list = values.variables(scopes[i].reference, { first = 1, most = LINES_MAX })
      for _, variable in ipairs(list) do
        log("info", format("%s %s = %s", i == 1 and "local" or "upvalue", variable.name,
          variable.value))
      end
    end
  end)

core.command("step", "step [in|over|out]", "Lets the stopped script run to another line.",
  function(mode)
    mode = mode or "over"
    if mode ~= "in" and mode ~= "over" and mode ~= "out" then
      return "'" .. mode .. "' is no mode"
    end
    if not core.debugger_resume(mode) then return NOT_STOPPED end
  end)

core.command("continue", "continue", "Lets the stopped script continue.", function()
  if not core.debugger_resume("continue") then return NOT_STOPPED end
end)
