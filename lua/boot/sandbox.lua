-- The sandbox, which is the last file of the prelude: an allowlist of the globals that games can
-- access. The libraries are copies whose functions cannot be replaced.
local core, options = ...

local type, tostring, error, select, pairs, next = type, tostring, error, select, pairs, next
local pcall, xpcall, rawset, setmetatable = pcall, xpcall, rawset, setmetatable
local getmetatable, concat, floor, abs = getmetatable, table.concat, math.floor, math.abs
local format, sub, tonumber = string.format, string.sub, tonumber
local collect, traceback, gsub = collectgarbage, core.debug.traceback, string.gsub
local log, raise, bad_argument = core.log, core.raise, core.bad_argument
local globals = core.globals

local function print(...)
  if core.reloading then
    return
  end
  local texts = {}
  for i = 1, select("#", ...) do
    texts[i] = tostring((select(i, ...)))
  end
  log("info", concat(texts, "\t"))
end

-- Random numbers come from the engine's generator, which is seeded again for a replay.
local Math = core.module("Math")

function core.math.random(m, n)
  if m == nil and n == nil then
    return Math.random()
  elseif type(m) ~= "number" then
    bad_argument("math.random", 1, "m", "number", m)
  elseif n == nil then
    return Math.random(floor(m))
  elseif type(n) ~= "number" then
    bad_argument("math.random", 2, "n", "number", n)
  end
  return Math.random(floor(m), floor(n))
end

function core.math.randomseed(seed)
  if type(seed) ~= "number" or seed ~= seed then
    bad_argument("math.randomseed", 1, "seed", "number", seed)
  end
  Math.set_seed(floor(seed < 0 and -seed or seed) % 2 ^ 53)
end

-- Clock functions: the wall clock, or in deterministic runs the game's own clock, in UTC.
local real_clock, real_time, real_date = core.os.clock, core.os.time, core.os.date

-- Years 1 to 9999, in seconds from 1970: the range in which dates can be formatted.
local DATE_SECONDS_MIN, DATE_SECONDS_MAX = -62135596800, 253402300799
-- Largest absolute value of a date field. Dates are computed by adding and subtracting fields.
local DATE_FIELD_MAX = 2 ^ 31 - 1

-- Maximum bytes of a date format. C formats it in a single call, and each %c takes a microsecond.
local DATE_FORMAT_BYTES_MAX = 1024

-- Date fields without a default, and the defaults of the others.
local date_needs = { "year", "month", "day" }
local date_defaults = { hour = 12, min = 0, sec = 0 }

-- The dates that all C libraries know, in seconds from 1970: that of Windows knows no year before
-- 1970 and none after 3000. A day is left out for time zones.
local C_SECONDS_MIN, C_SECONDS_MAX = 86400, 32503680000
-- The period after which the Gregorian calendar repeats, with its days of the week.
local PERIOD_YEARS, PERIOD_SECONDS = 400, 146097 * 86400

-- Formats a date that C libraries may not know, by the same day of another period. The format's
-- parts with the whole year or the century are replaced first.
local function far_date(form, time)
  local periods = floor((time - C_SECONDS_MIN) / PERIOD_SECONDS)
  local near, years = time - periods * PERIOD_SECONDS, periods * PERIOD_YEARS
  local zone = sub(form, 1, 1) == "!" and "!" or ""
  local date = real_date(zone .. "*t", near)
  date.year = date.year + years
  if form == zone .. "*t" then
    return date
  end
  local year = format("%d", date.year)
  local parts = {
    C = format("%02d", floor(date.year / 100)),
    F = year .. "-%m-%d",
    Y = year,
    c = "%a %b " .. format("%2d", date.day) .. " %H:%M:%S " .. year,
    s = format("%d", time),
  }
  -- The year of the ISO week can be that before or after; not all C libraries know it.
  local of_week = tonumber(real_date(zone .. "%G", near))
  parts.G = of_week and format("%d", of_week + years)
  -- A part can have flags, a width and a modifier.
  return real_date((gsub(form, "%%[-_0^#]*%d*[EO]?([%a%%])", parts)), near)
end

local function date_field(date, name)
  local value = date[name]
  if value == nil then
    value = date_defaults[name]
  end
  local number = tonumber(value)
  if not number or not (abs(number) <= DATE_FIELD_MAX) then
    raise(format("os.time: argument #1 'date': its '%s' must be a whole number, got %s", name,
      core.describe(value)))
  end
  return floor(number)
end

-- Returns the days from 1970 to a day of the Gregorian calendar. The year begins in March here, so
-- that the leap day comes last (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
local function days_from_civil(year, month, day)
  year = year + floor((month - 1) / 12)
  month = (month - 1) % 12 + 1
  if month <= 2 then
    year = year - 1
  end
  local era = floor(year / 400)
  local year_of_era = year - era * 400
  local day_of_year = floor((153 * ((month + 9) % 12) + 2) / 5)
  local day_of_era = year_of_era * 365 + floor(year_of_era / 4) - floor(year_of_era / 100)
    + day_of_year
  return era * 146097 + day_of_era - 719468 + day - 1
end

local function utc_time(date)
  local days = days_from_civil(date_field(date, "year"), date_field(date, "month"),
    date_field(date, "day"))
  local hours = days * 24 + date_field(date, "hour")
  return (hours * 60 + date_field(date, "min")) * 60 + date_field(date, "sec")
end

local os = {
  difftime = core.os.difftime,
  time = function(date)
    if date == nil then
      return floor(core.clock())
    elseif type(date) ~= "table" then
      bad_argument("os.time", 1, "date", "table or nil", date)
    end
    -- A plain copy, because C would call the metamethods of the game's table.
    local copy = { isdst = date.isdst }
    for i = 1, #date_needs do
      copy[date_needs[i]] = date_field(date, date_needs[i])
    end
    for name in next, date_defaults do
      copy[name] = date_field(date, name)
    end
    return options.deterministic and utc_time(copy) or real_time(copy)
  end,
  date = function(form, time)
    if form == nil then
      form = "%c"
    elseif type(form) ~= "string" then
      bad_argument("os.date", 1, "format", "string or nil", form)
    elseif #form > DATE_FORMAT_BYTES_MAX then
      raise(format("os.date: argument #1 'format' has more than %d bytes (DATE_FORMAT_BYTES_MAX): "
        .. "format the parts of the text one by one", DATE_FORMAT_BYTES_MAX))
    end
    if time == nil then
      time = core.clock()
    elseif type(time) ~= "number" then
      bad_argument("os.date", 2, "time", "number or nil", time)
    elseif not (time >= DATE_SECONDS_MIN and time <= DATE_SECONDS_MAX) then
      raise(format("os.date: argument #2 'time' must be in the years 1 to 9999, got %.14g seconds "
        .. "from 1970", time))
    end
    if options.deterministic and sub(form, 1, 1) ~= "!" then
      form = "!" .. form
    end
    time = floor(time)
    if time < C_SECONDS_MIN or time >= C_SECONDS_MAX then
      return far_date(form, time)
    end
    return real_date(form, time)
  end,
  -- A game sees no environment variables.
  getenv = function(name)
    if type(name) ~= "string" then
      bad_argument("os.getenv", 1, "name", "string", name)
    end
    return nil
  end,
  clock = function()
    if options.deterministic then
      return core.module("Application").time_since_launch()
    end
    return real_clock()
  end,
}

-- Interruptions are raised inside a hook, in which no other hook runs. A handler of the game could
-- not be stopped there, so it is not called. It is not called either if the native stack is nearly
-- full: LuaJIT calls handlers from C, and a handler that fails calls itself.
local is_interruption, has_native_stack = core.is_interruption, core.has_native_stack
local keep_contexts = core.keep_contexts

-- Cache of the bounded form of each handler, so that a loop creates it only once. Both sides are
-- weak, because the value holds the key.
local bounded = setmetatable({}, { __mode = "kv" })

local function bound(handler)
  local function bounded_handler(problem)
    if is_interruption(problem) or not has_native_stack() then
      return problem
    end
    keep_contexts(problem)
    return handler(problem)
  end
  bounded[handler] = bounded_handler
  return bounded_handler
end

local function bounded_xpcall(fn, handler, ...)
  if type(handler) ~= "function" then
    return xpcall(fn, handler, ...)
  end
  return xpcall(fn, bounded[handler] or bound(handler), ...)
end

-- Returns a traceback without the engine's own lines.
local function game_traceback(thread, message, level)
  local text
  if type(thread) == "thread" then
    text = traceback(thread, message or "", level)
  else
    message, level = thread, message
    if level ~= nil and type(level) ~= "number" then
      bad_argument("debug.traceback", 2, "level", "number or nil", level)
    end
    text = traceback(message == nil and "" or message, (level or 1) + 1)
  end
  if type(text) ~= "string" then
    return text
  end
  text = gsub(text, "\n\t%[engine%][^\n]*", "")
  return message == nil and gsub(text, "^\n", "") or text
end

-- Implements `pairs` for games. Protected libraries are empty tables in front of the real ones:
-- iterating over one iterates over a copy of the real table. (`next` stays Lua's own: a loop over
-- another function is four times slower.)
local protected = core.protected

local function library_pairs(t)
  if getmetatable(t) == "protected" and protected[t] then
    local copy = {}
    for name, value in pairs(protected[t]) do
      copy[name] = value
    end
    -- Hot reload's, no game's.
    return next, copy, nil
  elseif type(t) ~= "table" then
    bad_argument("pairs", 1, "t", "table", t)
  end
  return pairs(t)
end

-- Restricts the garbage collector's options, because the engine paces the collector.
local function collectgarbage(option, argument)
  option = option or "collect"
  if option == "count" then
    return core.memory_used() / 1024
  elseif option == "collect" or option == "step" then
    if argument ~= nil and type(argument) ~= "number" then
      bad_argument("collectgarbage", 2, "argument", "number or nil", argument)
    end
    local result = collect(option, argument)
    core.stop_collector()
    return result
  end
  raise("collectgarbage: '" .. tostring(option) .. "' is not for games: the engine paces the "
    .. "collector (Script.configure_garbage_collection)")
end

local libraries = {
  string = core.string, table = core.table, math = core.math, coroutine = core.coroutine, os = os,
  bit = core.bit, jit = core.jit_facts,
  debug = { traceback = game_traceback, getinfo = core.getinfo },
  package = {
    loaded = core.modules, preload = core.preload, searchers = core.searchers,
    loaders = core.searchers, path = "./?.lua;./?/init.lua", config = "/\n;\n?\n!\n-\n",
  },
}
core.string.dump = nil
local modules = core.modules
for name, library in pairs(libraries) do
  modules[name] = core.protect(name, library)
end

local allowed = {
  assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
  pairs = library_pairs, pcall = core.pcall, rawequal = rawequal, rawget = rawget, rawset = rawset,
  select = select, setmetatable = setmetatable, tonumber = tonumber, tostring = tostring,
  type = type, unpack = unpack, xpcall = bounded_xpcall, _VERSION = _VERSION,
  print = print, require = core.require, load = core.load, loadstring = core.loadstring,
  collectgarbage = collectgarbage, getfenv = core.getfenv, setfenv = core.setfenv,
}

-- Names of standard Lua globals. All other globals are the engine's own modules and functions.
local standard = {}
for _, name in pairs({ "_G", "arg", "dofile", "gcinfo", "loadfile", "module", "newproxy", "io",
  "ffi" }) do
  standard[name] = true
end
for name in pairs(allowed) do
  standard[name] = true
end
for name in pairs(libraries) do
  standard[name] = true
end
core.api = {}
for name, value in pairs(globals) do
  if not standard[name] then
    core.api[name] = value
  end
end

local function install()
  for name in pairs(standard) do
    rawset(globals, name, nil)
  end
  for name, value in pairs(allowed) do
    rawset(globals, name, value)
  end
  for name in pairs(libraries) do
    rawset(globals, name, modules[name])
  end
  rawset(globals, "_G", globals)
  local strings = getmetatable("")
  strings.__index = core.string
  strings.__metatable = "protected"
end

-- The functions of newer versions of Lua that busted's libraries add to LuaJIT.
local function add_newer_functions()
  local table = globals.table
  table.unpack = unpack
  function table.pack(...)
    return { n = select("#", ...), ... }
  end
  local enabled = false
  function globals.warn(first, ...)
    local parts = { first, ... }
    for i = 1, select("#", first, ...) do
      if type(parts[i]) ~= "string" and type(parts[i]) ~= "number" then
        bad_argument("warn", i, "message", "string", parts[i])
      end
    end
    if #parts == 1 and sub(first, 1, 1) == "@" then
      -- Other messages that begin with @ have no effect, as in Lua 5.4.
      enabled = first == "@on" or (first ~= "@off" and enabled)
    elseif enabled then
      core.io.stderr:write("Lua warning: ", concat(parts), "\n")
    end
  end
end

if options.sandbox then
  install()
else
  -- The whole standard library, for test suites of libraries that are not games. `require` is Lua's
  -- own, with its package.path, package.loaded and searchers; the suite library's modules come
  -- first.
  rawset(globals, "print", print)
  rawset(globals, "xpcall", bounded_xpcall)
  add_newer_functions()
  for name, maker in pairs(core.preload) do
    globals.package.preload[name] = maker
  end
  modules = core.loaded
  core.modules, core.preload = modules, globals.package.preload
  globals.package.loaders[#globals.package.loaders + 1] = function(name)
    local stand_in = core.stand_ins[name]
    return stand_in and function()
      return stand_in
    end
  end
  -- Libraries are not reloaded.
  core.reloader.recording = false
end
modules._G = globals
core.seal_events()
core.note_ctypes()
if options.worker then
  core.close_off()
end
