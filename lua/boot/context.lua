-- `Script.context`, alone in this file: the error report identifies its stack frames by the file's
-- name and reads the first two locals.
local core = ...

local type, bad_argument = type, core.bad_argument
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

core.with_context = Script.context
