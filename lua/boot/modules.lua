-- Loading: `require`, `load` and `loadstring` for games. They load text only, from the game's
-- folder and the engine's `core/`. Locating and reading the files is native (core.read_script).
local core = ...

local type, error, ipairs = type, error, ipairs
local format, concat = string.format, table.concat
local getinfo, getlocal = core.debug.getinfo, core.debug.getlocal
local load_chunk, location = core.load_chunk, core.location
local reload = core.reloader
local bad_argument, raise = core.bad_argument, core.raise

-- Maximum bytes of text that `load` accepts. Its other limits are in src/script/load.rs.
local LOAD_BYTES_MAX = 16 * 1024 * 1024

-- Results of loaded modules, by name: `package.loaded` of games.
local loaded = {}
-- Functions that create a module, by name, consulted first: `package.preload` of games.
local preload = {}
core.modules, core.preload = loaded, preload
-- Modules by name that are consulted last, if there is no file: test libraries that suites expect.
core.stand_ins = {}

local module_read = core.event("module_read")

-- Finds a module's file and reads its text, or returns the reason why there is none.
function core.read_module(name)
  local script = core.read_script(name)
  module_read(script)
  return script
end

-- Runs a module's chunk. The first local must be the name: the search for circular requires reads
-- it from the stack, so a failed load leaves no stale state behind.
local function run(name, chunk, file, written)
  local mark = file and reload.recording and reload.begin(file, written, core.live_world)
  local result = chunk(name)
  if result ~= nil then
    loaded[name] = result
  elseif loaded[name] == nil then
    loaded[name] = true
  end
  if mark then
    reload.keep(reload.finish(mark, name, loaded[name]))
  end
  return loaded[name]
end

-- Returns the names of the modules that are being loaded, innermost first.
local function loading()
  local names, level = {}, 2
  while true do
    local info = getinfo(level, "f")
    if not info then
      return names
    end
    if info.func == run then
      local _, name = getlocal(level, 1)
      names[#names + 1] = name
    end
    level = level + 1
  end
end

local function check_cycle(name)
  local names = loading()
  for i = 1, #names do
    if names[i] == name then
      local cycle = { name }
      for k = i - 1, 1, -1 do
        cycle[#cycle + 1] = names[k]
      end
      cycle[#cycle + 1] = name
      raise(format("require: modules need each other in a circle: %s: move what both need into a "
        .. "third module, or require one of them inside a function", concat(cycle, " -> ")))
    end
  end
end

-- Rejects chunk names that belong to the engine, because reports leave out the engine's own code.
local function check_chunk(name, source, chunk)
  if chunk:sub(1, 8) == "[engine]" then
    raise(format("%s: %s begins with \"[engine]\", which marks the engine's own code: use another "
      .. "name", name, source))
  end
end

-- Compiles the chunk of one of the game's files. Syntax errors contain their own file and line.
local function compile(script)
  check_chunk("require", "a file's path", script.chunk)
  core.note_source(script.chunk, script.text)
  if reload.recording then
    return reload.compile(script)
  end
  local chunk, problem = load_chunk(script.text, "@" .. script.chunk)
  if not chunk then
    error(problem, 0)
  end
  return chunk
end

local function run_script(name, script)
  local chunk, written = compile(script)
  return run(name, chunk, script.chunk, written)
end

local function require(name)
  if type(name) ~= "string" then
    bad_argument("require", 1, "name", "string", name)
  end
  -- A module that returned false, or was set to false, is loaded again, as in Lua's own `require`.
  local known = loaded[name]
  if known then
    return known
  end
  loaded[name] = nil
  check_cycle(name)
  local maker = preload[name]
  if maker ~= nil then
    return run(name, maker)
  end
  if not reload.recording then
    local chunk, path = core.load_script(name)
    if chunk then
      return run(name, chunk, path)
    elseif chunk == false then
      error(path, 0)
    end
  end
  local script = core.read_module(name)
  if script.text then
    return run_script(name, script)
  end
  local stand_in = core.stand_ins[name]
  if stand_in ~= nil then
    return run(name, function()
      return stand_in
    end)
  end
  local why = core.absent(name)
  raise("require: " .. (script.problem or script.missing .. (why and ": " .. why or "")))
end

core.require = require

-- Starts the game: runs its boot script as a module.
function core.boot(name)
  core.booted = name
  local script = core.read_module(name)
  if not script.text then
    error(script.problem or script.missing, 0)
  end
  run_script(name, script)
end

local TOO_LONG = format("load: the text has more than %d bytes: load it in parts",
  LOAD_BYTES_MAX)

-- Reads the pieces that a reader function returns until it returns none.
local function pieces(reader)
  local parts, bytes = {}, 0
  while true do
    local part = reader()
    if part == nil or part == "" then
      return concat(parts)
    elseif type(part) ~= "string" then
      raise("load: the reader function must return strings, got " .. core.describe(part))
    end
    parts[#parts + 1], bytes = part, bytes + #part
    if bytes > LOAD_BYTES_MAX then
      raise(TOO_LONG)
    end
  end
end

-- `load(text or function, name?, mode?, env?)`: accepts text only, whatever the mode is.
local function load_text(text, name, _, env)
  if type(text) == "function" then
    text = pieces(text)
  elseif type(text) ~= "string" then
    bad_argument("load", 1, "text", "string or function", text)
  end
  if #text > LOAD_BYTES_MAX then
    raise(TOO_LONG)
  elseif text:byte() == 27 then
    return nil, "load: this is a compiled chunk, and only text can be loaded"
  end
  if name == nil then
    name = "=" .. (location() ~= "" and "load at " .. location() or "load")
  elseif type(name) ~= "string" then
    bad_argument("load", 2, "name", "string", name)
  end
  local first = name:byte()
  if first == 64 or first == 61 then
    check_chunk("load", "argument #2 'name'", name:sub(2))
    core.note_loaded(name:sub(2), text)
  end
  local chunk, problem = load_chunk(text, name, env)
  if not chunk then
    return nil, problem
  end
  return chunk
end

core.load = load_text

function core.loadstring(text, name)
  if type(text) ~= "string" then
    bad_argument("loadstring", 1, "text", "string", text)
  end
  return load_text(text, name)
end
