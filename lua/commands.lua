-- The console's commands: words instead of Lua. Here is the table of them, and `help`; what each
-- does is in the file of what it is about. The console itself is in console.lua.
local core = ...

local type, tostring, select, unpack = type, tostring, select, unpack
local match, gmatch, sub, format = string.match, string.gmatch, string.sub, string.format
local raise, bad_argument = core.raise, core.bad_argument
local log, globals = core.log, core.globals

local Application = core.module("Application")

local ARGUMENTS_MAX = 32

local commands = {} -- by name: { usage, words, run }

-- Declares a command. `run` gets its arguments as strings, and returns words for what is wrong.
function core.command(name, usage, words, run)
  commands[name] = { usage = usage, words = words, run = run }
end

-- Runs a command: true, or nil and what is wrong.
local function run(name, ...)
  local command = commands[name]
  if not command then
    local near = core.suggest(name, core.names(commands))
    return nil, format("there is no command '%s'%s (help lists them)", name,
      near and ", did you mean '" .. near .. "'?" or "")
  end
  local problem = command.run(...)
  if problem then
    return nil, format("%s: %s (%s)", name, problem, command.usage)
  end
  return true
end

-- The words of a line; what stands in quotes is one.
local function split(line)
  local words = {}
  local rest = line
  while #words < ARGUMENTS_MAX do
    local quoted, after = match(rest, '^%s*"([^"]*)"(.*)$')
    if not quoted then
      quoted, after = match(rest, "^%s*(%S+)(.*)$")
    end
    if not quoted then break end
    words[#words + 1] = quoted
    rest = after
  end
  return words
end

-- Whether a line is a command, which then has run. A line that Lua could mean is Lua's: one that
-- goes on as an expression or a statement does, and one whose first word the game itself uses.
function core.try_command(line)
  local name, rest = match(line, "^%s*([%a_][%w_]*)(.*)$")
  if not name or not commands[name] or globals[name] ~= nil
    or match(rest, "^%s*[=%.%(%[:,{+*/%%^<>~]") then
    return false
  end
  local words = split(rest)
  local ok, problem = run(name, unpack(words, 1, #words))
  if not ok then
    log("error", problem)
  end
  return true
end

---Runs a command of the console, as if it were typed there: `graph`, `perfhud`, `profiler`,
---`memory_tree`, `help`. In a release there is no console, and nothing happens.
---@param command string its name
---@param ... any its arguments, of which the words count
function Application.console_command(command, ...)
  core.no_reload("Application.console_command")
  if type(command) ~= "string" then
    bad_argument("Application.console_command", 1, "command", "string", command)
  elseif Application.build() == "release" then
    return
  end
  local words, count = {}, select("#", ...)
  for i = 1, count do
    words[i] = tostring((select(i, ...)))
  end
  local ok, problem = run(command, unpack(words, 1, count))
  if not ok then
    raise("Application.console_command: " .. problem)
  end
end

core.command("help", "help [command]", "What there is, or how a command is used.", function(name)
  if name and not commands[name] then
    return "there is no command '" .. name .. "'"
  end
  local names = name and { name } or core.names(commands)
  for i = 1, #names do
    local command = commands[names[i]]
    log("info", name and command.usage .. "\n  " .. command.words
      or format("%-18s %s", names[i], command.words))
  end
end)

core.command("profiler", "profiler [reset]", "The table of scopes; or begins it anew.",
  function(word)
    local Profiler = core.module("Profiler")
    if word == nil then
      for line in gmatch(Profiler.report(), "[^\n]+") do
        log("info", line)
      end
    elseif word == "reset" then
      Profiler.reset()
    else
      return "'" .. sub(word, 1, 40) .. "' is not known"
    end
  end)
