-- Loading: `require`, `load` and `loadstring` for games. They load text only, from the game's
-- folder and the engine's `core/`. Locating and reading the files is native (core.read_script).
-- A game can add searchers of its own (`package.searchers`), for other languages.
local core = ...

local type, error, rawget = type, error, rawget
local format, concat, find, gsub = string.format, table.concat, string.find, string.gsub
local match = string.match
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

-- Returns the name that a module is loaded under: `a/b` is another spelling of `a.b`. A name for
-- which the game has stored a module or a function stays as it is.
function core.module_name(name)
  if find(name, "/", 1, true) and loaded[name] == nil and preload[name] == nil then
    return (gsub(name, "/", "."))
  end
  return name
end
local module_name = core.module_name

-- Runs a module's chunk. The first local must be the name: the search for circular requires reads
-- it from the stack, so a failed load leaves no stale state behind. `searched` has the file and the
-- chunk name of a module that a searcher of the game found.
local function run(name, chunk, file, written, searched)
  local mark = file and reload.recording and reload.begin(file, written, core.live_world)
  local result
  if searched then
    result = chunk(name, searched.file)
  else
    result = chunk(name)
  end
  if result ~= nil then
    loaded[name] = result
  elseif loaded[name] == nil then
    loaded[name] = true
  end
  if mark then
    mark.searched = searched
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

-- Chunk names of functions that are not in the game's files, and what has them. A record of a load
-- takes the functions with its chunk name for its own.
local RESERVED = {
  ["[C]"] = "functions of the engine and of Lua",
  ["console"] = "lines that are typed in the console",
  ["eval"] = "lines that tools evaluate",
}

-- Rejects chunk names that belong to the engine, because reports leave out the engine's own code.
local function check_chunk(name, source, chunk)
  -- The compiler reads a name up to its first zero byte.
  chunk = match(chunk, "^%Z*")
  if chunk:sub(1, 8) == "[engine]" then
    raise(format("%s: %s begins with \"[engine]\", which marks the engine's own code: use another "
      .. "name", name, source))
  elseif RESERVED[chunk] then
    raise(format("%s: %s is \"%s\", which marks %s: use another name", name, source, chunk,
      RESERVED[chunk]))
  end
end

-- Compiles the chunk of one of the game's files. Syntax errors contain their own file and line.
local function compile(script)
  check_chunk("require", "a file's path", script.chunk)
  core.note_source(script.chunk, script.text)
  if reload.recording or reload.is_worker then
    -- The debugger knows the scripts of a worker by their records.
    if reload.is_worker then reload.records[script.chunk] = {} end
    return reload.compile(script)
  end
  local chunk, problem = load_chunk(script.text, "@" .. script.chunk)
  if not chunk then
    error(problem, 0)
  end
  return chunk
end

local function run_script(name, script)
  -- `engine check` reports them as errors.
  if core.booted ~= "tools.check" and find(script.text, ".button(", 1, true) then
    core.warn_of_conditions(script.chunk, script.text)
  end
  local chunk, written = compile(script)
  return run(name, chunk, script.chunk, written)
end

-- Loads a module from the game's files or the engine's. Returns nil and the reason if there is no
-- file. `written_name` is the name as the game wrote it, for messages.
local function load_file(name, written_name)
  if not reload.recording then
    local chunk, path = core.load_script(name)
    if chunk then
      return run(name, chunk, path)
    elseif chunk == false then
      error(path, 0)
    end
  end
  local script = core.read_module(written_name)
  if script.text then
    return run_script(name, script)
  elseif script.problem then
    raise("require: " .. script.problem)
  end
  return nil, script.missing
end

-- The first two entries of `package.searchers`, for libraries that call them or compare with them.
-- `require` itself does the same without a call.
local function search_preload(name)
  local maker = preload[name]
  return maker ~= nil and maker or format("there is no package.preload['%s']", name)
end

local function search_files(name)
  if type(name) ~= "string" then
    bad_argument("package.searchers[2]", 1, "name", "string", name)
  end
  local script = core.read_module(name)
  if not script.text then
    return script.problem or script.missing
  end
  check_chunk("require", "a file's path", script.chunk)
  core.note_source(script.chunk, script.text)
  local chunk, problem = load_chunk(script.text, "@" .. script.chunk)
  if not chunk then
    error(problem, 0)
  end
  return chunk, script.chunk
end

-- The functions that `require` asks for a module, in order: `package.searchers` of games.
local searchers = { search_preload, search_files }
core.searchers = searchers

-- The search of a game's searcher in progress: its environment of loaded text, and the chunk name
-- of the text that was loaded last. A searcher that fails leaves it behind.
local search

-- Lets loaded text see the globals of `env` while hot reload runs a loader, because a loader may
-- compile its text only when it is called. nil ends this. Returns the search before.
function core.begin_search(env)
  local outer = search
  search = env and { env = env }
  return outer
end

function core.end_search(outer)
  search = outer
end

-- Asks a searcher of the game. Returns a loader with its file and chunk name, or nil and a reason.
local function ask(index, name, env)
  local searcher = rawget(searchers, index)
  if type(searcher) ~= "function" then
    raise(format("require: package.searchers[%d] must be a function, got %s", index,
      core.describe(searcher)))
  end
  local outer, current = search, { env = env }
  search = current
  local loader, file = searcher(name)
  search = outer
  if type(loader) ~= "function" then
    return nil, type(loader) == "string" and loader or nil
  end
  if type(file) == "string" then
    check_chunk("require", format("the file that package.searchers[%d] returned", index), file)
  else
    file = nil
  end
  return loader, { file = file, chunk = current.chunk or file and "@" .. file }
end

-- Asks the game's searchers for a module, from the entry `first` of the list to the next one that
-- is the engine's own. Returns the next index, and the loader with its file if one was found.
local function ask_all(first, name, reasons, env)
  local index, count = first, #searchers
  while index <= count do
    local searcher = rawget(searchers, index)
    if searcher == search_preload or searcher == search_files then
      return index
    elseif searcher ~= nil then
      local loader, found = ask(index, name, env)
      if loader then
        return index, loader, found
      end
      reasons[#reasons + 1] = found
    end
    index = index + 1
  end
  return index
end

-- Returns true if the game has searchers of its own.
function core.has_searchers()
  for i = 1, #searchers do
    local searcher = rawget(searchers, i)
    if searcher ~= nil and searcher ~= search_preload and searcher ~= search_files then
      return true
    end
  end
  return false
end

-- Finds a module with the game's searchers, for hot reload. The text that they load sees the
-- globals of `env`.
function core.search_module(name, env)
  local index = 1
  while index <= #searchers do
    local loader, found
    index, loader, found = ask_all(index, name, {}, env)
    if loader then
      return loader, found
    end
    index = index + 1
  end
end

-- Follows `package.searchers`. Returns the module, or nil and the reasons.
local function search_all(name, written_name)
  local reasons, index = {}, 1
  while index <= #searchers do
    local searcher = rawget(searchers, index)
    local result, reason
    if searcher == search_preload then
      local maker = preload[name]
      if maker ~= nil then
        result = run(name, maker)
      end
    elseif searcher == search_files then
      result, reason = load_file(name, written_name)
    else
      local loader, found
      index, loader, found = ask_all(index, name, reasons)
      if loader then
        return run(name, loader, found.file, {}, found)
      end
      index = index - 1
    end
    if result ~= nil then
      return result
    end
    reasons[#reasons + 1] = reason
    index = index + 1
  end
  return nil, reasons
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
  local written_name = name
  name = module_name(name)
  known = loaded[name]
  if known then
    return known
  end
  loaded[name] = nil
  check_cycle(name)
  local result, reasons = search_all(name, written_name)
  if result ~= nil then
    return result
  end
  local stand_in = core.stand_ins[name]
  if stand_in ~= nil then
    return run(name, function()
      return stand_in
    end)
  end
  local why = core.absent(name)
  reasons[1] = reasons[1] or format("there is no module '%s': %s", name, #searchers == 0
    and "package.searchers is empty" or "no function of package.searchers finds it")
  raise("require: " .. concat(reasons, "; ") .. (why and ": " .. why or ""))
end

core.require = require

-- Starts the game: runs its boot script as a module.
function core.boot(written_name)
  local name = module_name(written_name)
  core.booted = name
  local script = core.read_module(written_name)
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

local function check_text(text)
  if #text > LOAD_BYTES_MAX then
    raise(TOO_LONG)
  end
end

-- Compiles a line that was typed in the console or that a tool sent. `name` is a reserved name.
-- Returns nil and the problem if that fails.
function core.load_line(text, name)
  check_text(text)
  core.note_loaded(name, text)
  return load_chunk(text, "=" .. name, core.line_env)
end

-- `load(text or function, name?, mode?, env?)`: accepts text only, whatever the mode is.
local function load_text(text, name, _, env)
  if type(text) == "function" then
    text = pieces(text)
  elseif type(text) ~= "string" then
    bad_argument("load", 1, "text", "string or function", text)
  end
  check_text(text)
  if text:byte() == 27 then
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
  if search then
    search.chunk = name
    if search.env and (env == nil or env == core.globals) then
      env = search.env
    end
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
