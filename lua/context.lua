-- `Script.context`, alone in this file: the report of an error knows its frames by the file's name
-- and reads the first two locals.
local core = ...

local type, bad_argument = type, core.bad_argument
local Script = core.module("Script")

local function results(...)
  return ...
end

---Says what the game is doing while a function runs: an error inside shows the line. Contexts nest.
---@param name string what is being done, with its colon: "When spawning wave:"
---@param data string what it is done with
---@param fn function the function to call
---@param ... any its arguments
---@return any ... what the function returns
function Script.context(name, data, fn, ...)
  if type(name) ~= "string" then
    bad_argument("Script.context", 1, "name", "string", name)
  elseif type(data) ~= "string" then
    bad_argument("Script.context", 2, "data", "string", data)
  elseif type(fn) ~= "function" then
    bad_argument("Script.context", 3, "fn", "function", fn)
  end
  -- Not a tail call: this frame has to stay on the stack.
  return results(fn(...))
end

core.with_context = Script.context
