-- Console commands: the table of commands, and `help`. Most commands are declared in the file of
-- their subject. The console itself is in console.lua.
local core = ...

local type, tostring, select, unpack = type, tostring, select, unpack
local ipairs, pcall = ipairs, pcall
local match, gmatch, sub, format = string.match, string.gmatch, string.sub, string.format
local raise, bad_argument = core.raise, core.bad_argument
local log, globals = core.log, core.globals

local Application, Json = core.module("Application"), core.module("Json")

local ARGUMENTS_MAX = 32
local SENT_BYTES_MAX = 1048576 -- in one message to tools

local commands = {} -- by name: { usage, description, run }

-- Declares a command. `run` receives its arguments as strings and returns an error message, or nil.
function core.command(name, usage, description, run)
  commands[name] = { usage = usage, description = description, run = run }
end

-- Runs a command. Returns true, or nil and an error message.
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

-- Splits a line at spaces. Quoted text is one argument.
local function split(line)
  local arguments = {}
  local rest = line
  while #arguments < ARGUMENTS_MAX do
    local quoted, after = match(rest, '^%s*"([^"]*)"(.*)$')
    if not quoted then
      quoted, after = match(rest, "^%s*(%S+)(.*)$")
    end
    if not quoted then break end
    arguments[#arguments + 1] = quoted
    rest = after
  end
  return arguments
end

-- Runs a line if it is a command. Returns true if it was a command, and the error message if it
-- failed. A line that can be Lua is left to Lua: a line that continues as an expression or a
-- statement, or a line whose first name the game itself uses.
function core.try_command(line)
  local name, rest = match(line, "^%s*([%a_][%w_]*)(.*)$")
  if not name or not commands[name] or globals[name] ~= nil
    or match(rest, "^%s*[=%.%(%[:,{+*/%%^<>~]") then
    return false
  end
  local arguments = split(rest)
  local _, problem = run(name, unpack(arguments, 1, #arguments))
  return true, problem
end

---Runs a console command, as if it were typed there: `graph`, `perfhud`, `profiler`, `memory_tree`,
---`pause`, `help`. A release has no console, and the call does nothing.
---@param command string its name
---@param ... any its arguments, which are converted to strings
function Application.console_command(command, ...)
  core.no_reload("Application.console_command")
  if type(command) ~= "string" then
    bad_argument("Application.console_command", 1, "command", "string", command)
  elseif Application.build() == "release" then
    return
  end
  local arguments, count = {}, select("#", ...)
  for i = 1, count do
    arguments[i] = tostring((select(i, ...)))
  end
  local ok, problem = run(command, unpack(arguments, 1, count))
  if not ok then
    raise("Application.console_command: " .. problem)
  end
end

---Sends a message to the connected tools that follow the stream `game`: the answer to a tool's
---request, progress, a choice that the player made. The field `type` names the type of the message.
---A message of the type `message` is a line for people, with `level` ("info", "warning" or
---"error"), `system` and `message`. If no tool follows the stream, and in a release, the call does
---nothing.
---@param message table plain data as for `Json.encode`, with a string `type`; at most 1 MiB as JSON
function Application.console_send(message)
  core.no_reload("Application.console_send")
  if type(message) ~= "table" then
    bad_argument("Application.console_send", 1, "message", "table", message)
  elseif Application.build() == "release" then
    return
  elseif type(message.type) ~= "string" or message.type == "" then
    raise("Application.console_send: argument #1 'message' needs a text 'type', which says what it "
      .. "is")
  elseif message.id ~= nil then
    raise("Application.console_send: argument #1 'message' has a field 'id', by which tools know "
      .. "the answers to their requests: rename it")
  end
  local text = Json.encode(message)
  if #text > SENT_BYTES_MAX then
    raise(format("Application.console_send: argument #1 'message' has %d bytes as JSON, and %d are "
      .. "the most: send it in parts", #text, SENT_BYTES_MAX))
  end
  core.console_send(text)
end

core.command("help", "help [command]", "Lists the commands, or explains a command.", function(name)
  if name and not commands[name] then
    return "there is no command '" .. name .. "'"
  end
  local names = name and { name } or core.names(commands)
  for i = 1, #names do
    local command = commands[names[i]]
    log("info", name and command.usage .. "\n  " .. command.description
      or format("%-18s %s", names[i], command.description))
  end
end)

local function log_lines(text)
  for line in gmatch(text, "[^\n]+") do
    log("info", line)
  end
end

core.command("profiler", "profiler [reset|scripts]",
  "Shows the table of scopes; resets it; starts to sample scripts, and then shows the samples.",
  function(action)
    local Profiler = core.module("Profiler")
    if action == nil then
      log_lines(Profiler.report())
    elseif action == "reset" then
      Profiler.reset()
    elseif action ~= "scripts" then
      return "'" .. sub(action, 1, 40) .. "' is not known"
    elseif Profiler.samples() then
      log_lines(Profiler.stop_sampling().text)
    else
      Profiler.start_sampling()
      log("info", "scripts are sampled: run profiler scripts again to see where they were")
    end
  end)

core.command("pause", "pause", "Pauses the game, or resumes it.", function()
  core.request_pause()
end)

core.command("refresh", "refresh", "Reloads what changed in the game's folder.", function()
  core.wish_refresh()
end)

core.command("reload", "reload <kind>", "Reloads all resources of a kind: lua, texture, …",
  function(kind)
    if kind == nil then return "a kind is missing" end
    local _, problem = core.wish_reload(kind)
    return problem
  end)

core.command("renderer", "renderer settings",
  "Shows the adapter that draws, and the renderer's settings as in settings.sjson.",
  function(choice)
    if choice ~= "settings" then return "'settings' is the only choice" end
    for _, row in ipairs(core.render_settings()) do
      log("info", format("%-28s %s", row.name, row.value))
    end
  end)

local actors_shown = false

core.command("physics", "physics", "Shows the shapes of all actors as lines, or hides them again.",
  function()
    local World, PhysicsWorld = core.module("World"), core.module("PhysicsWorld")
    actors_shown = not actors_shown
    for _, world in ipairs(Application.worlds()) do
      -- `World.physics_world` raises for a world without physics.
      local has, physics = pcall(World.physics_world, world)
      if has then PhysicsWorld.set_debug_draw(physics, actors_shown) end
    end
  end)

core.command("skeletons", "skeletons",
  "Shows the skeletons of all characters as lines, or hides them again.", function()
    core.draw_skeletons()
  end)
