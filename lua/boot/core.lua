-- Base of the prelude: error functions, module tables, descriptions of values. This file runs
-- first. Games never see the table `core`.

local core, options = ...

local type, tostring, tonumber, error, pairs = type, tostring, tonumber, error, pairs
local rawget, rawset, select, setmetatable = rawget, rawset, select, setmetatable
local format, sub = string.format, string.sub
local location = core.location

core.ffi, core.debug, core.jit = require("ffi"), debug, jit
core.os, core.io, core.loaded = os, io, package.loaded
core.globals, core.options, core.select = _G, options, select
-- The coroutine that died last of an error, and the error, by the coroutine that resumed it. The
-- dead coroutine still has its stack, which reports show. The main state has the key "main".
core.died = setmetatable({}, { __mode = "k" })
local running = coroutine.running

function core.note_death(thread, problem)
  core.died[running() or "main"] = { thread, problem }
end

-- The libraries that games get: copies of the standard libraries, so that changes that a game makes
-- do not affect the engine.
for _, name in pairs({ "string", "table", "math", "coroutine", "os", "bit" }) do
  local copy = {}
  for key, value in pairs(_G[name]) do
    copy[key] = value
  end
  core[name] = copy
end

if options.jit then
  -- With LuaJIT's default limits, large games discard all compiled code again and again.
  jit.opt.start("maxtrace=16000", "maxmcode=65536")
else
  jit.off()
end

function core.module(name)
  local module = rawget(_G, name)
  if module == nil then
    module = {}
    rawset(_G, name, module)
  end
  return module
end

-- Raises an error whose message begins with the location of the game's own line.
function core.raise(message)
  local where = location()
  error(where ~= "" and where .. ": " .. message or message, 0)
end

-- Describes a value for an error message: nil, number 3.5, string "x", unit units/rat#17, Vector3,
-- table.
function core.describe(value)
  local kind = type(value)
  if kind == "number" then
    return core.described_handle(value) or "number " .. format("%.14g", value)
  elseif kind == "boolean" then
    return "boolean " .. tostring(value)
  elseif kind == "string" then
    local shown = #value > 60 and sub(value, 1, 60) .. "…" or value
    return format("string %q", shown)
  elseif kind == "cdata" then
    for name, ctype in pairs(core.ctypes or {}) do
      if core.ffi.istype(ctype, value) then
        return name
      end
    end
    return "a number of 64 bits"
  end
  return kind
end

function core.bad_argument(name, index, argument, expected, value)
  core.raise(format("%s: argument #%d '%s' must be %s, got %s%s", name, index, argument, expected,
    core.describe(value), core.remedy(expected, argument, type(value))))
end

-- Raises if one of the arguments after those that a function takes is not nil. The build adds calls
-- of it to the functions of modules (src/script/extra_arguments.rs).
function core.refuse_extra(name, takes, ...)
  local count = select("#", ...)
  for i = 1, count do
    if (select(i, ...)) ~= nil then
      core.raise(format("%s: takes %d argument%s, got %d", name, takes, takes == 1 and "" or "s",
        takes + count))
    end
  end
end

function core.suggest(name, names)
  return core.nearest(name, names)
end

-- Returns the string keys of a table, sorted.
function core.names(set)
  local names = {}
  for name in pairs(set) do
    if type(name) == "string" then
      names[#names + 1] = name
    end
  end
  core.table.sort(names)
  return names
end

-- Describes an option that no function knows, with a suggestion; `known` has the names as keys.
function core.unknown_option(key, known)
  local near = type(key) == "string" and core.suggest(key, core.names(known))
  return format("unknown option %s%s", type(key) == "string" and "'" .. key .. "'"
    or core.describe(key), near and ", did you mean '" .. near .. "'?" or "")
end

-- Checks a table of options: every key must be in `known`, which has the names as keys.
function core.check_options(name, index, argument, value, known)
  if value == nil then
    return
  elseif type(value) ~= "table" then
    core.bad_argument(name, index, argument, "table or nil", value)
  end
  for key in pairs(value) do
    if known[key] == nil then
      core.raise(format("%s: argument #%d '%s' has the %s", name, index, argument,
        core.unknown_option(key, known)))
    end
  end
end

-- Registers the FFI type ids of the vectors: native code identifies vectors by the id.
function core.note_ctypes()
  for name, ctype in pairs(core.ctypes) do
    core.note_ctype(name, tonumber(core.ffi.typeof(ctype)))
  end
end

function core.layout_check()
  return core.reads_vector(core.make_vector3(1, 2, 3))
end

-- Raises during the dry run of a changed file. Prelude functions with side effects call it. Native
-- functions have a flag in their rows instead.
function core.no_reload(name)
  if core.reloading then
    core.raise(name .. ": " .. core.no_reload_message())
  end
end

-- The real table of each protected table.
core.protected = {}

-- Returns a protected view of a table: its own keys cannot be replaced, new keys can be added.
function core.protect(name, real)
  local own_keys = {}
  for key in pairs(real) do
    own_keys[key] = true
  end
  local protected = setmetatable({}, {
    __index = real,
    __newindex = function(_, key, value)
      if own_keys[key] then
        core.raise(format("%s.%s is the engine's and cannot be replaced: use another name", name,
          tostring(key)))
      end
      real[key] = value
    end,
    __metatable = "protected",
  })
  core.protected[protected] = real
  return protected
end
