-- `getfenv`, `setfenv`, and the parts of `debug` and `jit` that games have. A game can inspect and
-- change its own functions. The engine's functions look like functions written in C: their
-- environment is `_G`, which cannot be replaced, and they have no source.
local core = ...

local type, floor = type, math.floor
local find, format, sub = string.find, string.format, string.sub
local getinfo, getfenv, setfenv = core.debug.getinfo, core.debug.getfenv, core.debug.setfenv
local jit_status, running = core.jit.status, coroutine.running
local raise, bad_argument = core.raise, core.bad_argument
local globals, reload = core.globals, core.reloader

-- Maximum level of the stack that can be asked for. No stack is as deep.
local LEVELS_MAX = 2 ^ 30

-- Returns true for functions that are not the game's.
local function is_foreign(info)
  return info.what == "C" or sub(info.source, 1, 9) == "=[engine]"
end

-- Returns the globals that a changed file sees while it is tried, or else the game's.
local function visible_globals()
  return core.reloading and reload.state.stand_in or globals
end

-- Returns an environment as games may have it: that of the lines that a person types belongs to
-- the engine (lua/debug/console_scope.lua), and so does the shadow of the globals in a dry run.
local function visible(environment)
  if environment == core.line_env then
    return visible_globals()
  elseif core.reloading and environment == reload.state.shadow then
    return reload.state.stand_in
  end
  return environment
end

local function check_level(name, argument, level)
  if not (level >= 0 and level <= LEVELS_MAX and level == floor(level)) then
    bad_argument(name, 1, argument, "function or a level of the stack", level)
  end
end

-- Returns the function at a level of the stack, with its source. `level` is that of the caller's
-- caller; calls of this function must not be tail calls.
local function function_at(name, level)
  local info = getinfo(level + 2, "fS")
  if not info then
    raise(format("%s: there is no function at level %d of the stack", name, level))
  end
  return info
end

function core.getfenv(f)
  if f == nil then
    f = 1
  end
  local info
  if type(f) == "number" then
    check_level("getfenv", "f", f)
    if f == 0 then
      return visible_globals()
    end
    info = function_at("getfenv", f)
    f = info.func
  elseif type(f) == "function" then
    info = getinfo(f, "S")
  else
    bad_argument("getfenv", 1, "f", "function or a level of the stack", f)
  end
  if is_foreign(info) then
    return visible_globals()
  end
  return visible(getfenv(f))
end

-- Refuses the functions whose environment must stay as it is.
local function check_own(f, info)
  if is_foreign(info) then
    raise("setfenv: argument #1 'f' is a function of the engine or of Lua: only the game's own "
      .. "functions can get another environment")
  elseif core.reloading then
    -- A change of another file's function could not be undone if the file is refused.
    local own = getfenv(f)
    if own ~= reload.state.shadow and own ~= reload.state.stand_in then
      core.no_reload("setfenv")
    end
  end
end

function core.setfenv(f, environment)
  if type(environment) ~= "table" then
    bad_argument("setfenv", 2, "environment", "table", environment)
  end
  local info
  if type(f) == "number" then
    check_level("setfenv", "f", f)
    if f == 0 then
      raise("setfenv: level 0 means the whole game: pass a function, or a level from 1")
    end
    info = function_at("setfenv", f)
    f = info.func
  elseif type(f) == "function" then
    info = getinfo(f, "S")
  else
    bad_argument("setfenv", 1, "f", "function or a level of the stack", f)
  end
  check_own(f, info)
  setfenv(f, environment)
  return f
end

-- The fields that `debug.getinfo` returns, by its options. Functions (`f`) are left out, because
-- the stack also has functions of the engine, and so are lists of lines (`L`).
local FIELDS = {
  S = { "source", "short_src", "what", "linedefined", "lastlinedefined" },
  l = { "currentline" },
  n = { "name", "namewhat" },
  u = { "nups", "nparams", "isvararg" },
  f = {}, L = {},
}
-- The fields of a function of the engine, as of one that is written in C.
local FOREIGN = {
  source = "=[C]", short_src = "[C]", what = "C", linedefined = -1, lastlinedefined = -1,
  currentline = -1, nups = 0, nparams = 0, isvararg = true,
}

-- Copies the fields that the options ask for.
local function chosen_fields(info, options)
  local fields, foreign = {}, is_foreign(info)
  for at = 1, #options do
    local names = FIELDS[sub(options, at, at)]
    for i = 1, #names do
      local name = names[i]
      local shown = foreign and FOREIGN[name]
      if shown == nil or shown == false then
        shown = info[name]
      end
      fields[name] = shown
    end
  end
  return fields
end

-- Returns the function or level that is asked for, its options, and its thread.
local function read_arguments(first, second, third)
  if type(first) == "thread" then
    return second, third, first, 2
  end
  return first, second, nil, 1
end

function core.getinfo(...)
  local target, options, thread, index = read_arguments(...)
  if options == nil then
    options = "Slnu"
  elseif type(options) ~= "string" or #options > 16 or find(options, "[^SlnufL]") then
    bad_argument("debug.getinfo", index + 1, "what", "letters of \"Slnu\"", options)
  end
  local info
  if type(target) == "function" then
    info = getinfo(target, "Slnu")
  elseif type(target) == "number" then
    check_level("debug.getinfo", "level", target)
    if thread and thread ~= running() then
      info = getinfo(thread, target, "Slnu")
    else
      info = getinfo(target + 1, "Slnu")
    end
  else
    bad_argument("debug.getinfo", index, "level", "function or a level of the stack", target)
  end
  return info and chosen_fields(info, options)
end

-- The parts of `jit` by which libraries detect the VM. The engine sets up the compiler.
core.jit_facts = {
  version = core.jit.version, version_num = core.jit.version_num, os = core.jit.os,
  arch = core.jit.arch,
  status = function()
    return (jit_status())
  end,
}
