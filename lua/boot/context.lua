-- `Script.context` and the contexts of components, alone in this file: the error report identifies
-- their stack frames by the file's name and reads their first locals (src/script/stack_trace.rs).
local core = ...

local type, xpcall, bad_argument = type, xpcall, core.bad_argument
local keep_contexts, contexts, contexts_of = core.keep_contexts, core.contexts, core.contexts_of
local Script = core.module("Script")

local function results(...)
  return ...
end

---Calls a function and names its task: the report of an error inside it shows the name and the
---data. Contexts nest.
---@param name string the task, with its colon: "When spawning wave:"
---@param data string the object of the task
---@param fn function the function to call
---@param ... any its arguments
---@return any ... the function's results
function Script.context(name, data, fn, ...)
  if type(name) ~= "string" then
    bad_argument("Script.context", 1, "name", "string", name)
  elseif type(data) ~= "string" then
    bad_argument("Script.context", 2, "data", "string", data)
  elseif type(fn) ~= "function" then
    bad_argument("Script.context", 3, "fn", "function", fn)
  end
  -- Not a tail call: this stack frame must stay on the stack.
  return results(fn(...))
end

-- Calls a function with a context. `data` may have any type, so that the function reports a wrong
-- one.
function core.with_context(name, data, fn, ...)
  return results(fn(...))
end

-- Calls a function of a component with a context. The report says how many units the list has, or
-- the only one of them.
function core.with_units(name, data, units, fn, ...)
  return results(fn(...))
end

---Returns what the engine and the game are doing, outermost first: the lines before `Error:` in a
---report. With a problem that `pcall` returned, returns the contexts in which that error was
---raised, or nil if another error was caught since.
---@param problem? string the message of the error that `pcall` or `xpcall` caught last
---@return string[]|nil lines such as "When spawning wave: 3"
function Script.contexts(problem)
  if problem == nil then
    return contexts()
  elseif type(problem) ~= "string" then
    bad_argument("Script.contexts", 1, "problem", "string or nil", problem)
  end
  return contexts_of(problem)
end

-- `pcall` of games and of the prelude: keeps the contexts of the error that it catches, for
-- `Script.contexts` and for the report if the error is raised again. A tail call, so that the
-- function that is called has the same levels above it as under Lua's own `pcall`.
function core.pcall(fn, ...)
  return xpcall(fn, keep_contexts, ...)
end
