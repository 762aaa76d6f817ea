-- The calls that breakpoints insert into functions (breakpoints.lua). Each passes its number, and
-- the variables that the condition of its breakpoint names. So the condition is a function of
-- these, compiled once, and the JIT compiler inlines all of it into the code around the breakpoint:
-- a breakpoint that does not stop costs a few nanoseconds.
local core = ...

local pcall, rawset, tonumber, match = pcall, rawset, tonumber, string.match
local format, sub, concat = string.format, string.sub, table.concat
local getinfo, getfenv = core.debug.getinfo, core.debug.getfenv
local load_chunk, protect, ffi = core.load_chunk, core.debug_protect, core.ffi
local floor = math.floor

local EVALUATION_SECONDS = 0.5 -- CPU time of a condition that calls functions, in a coroutine
local WORD = 2 ^ 32

local calls = {}
core.inserted_calls = calls
calls.ARGUMENTS_MAX = 8
calls.EVALUATION_SECONDS = EVALUATION_SECONDS

-- What calls name, by number: the chunk, the line, its breakpoints, and the names that are passed.
local spots = {}
local last_spot = 0
local is_stopped, is_stepping = false, false
-- The address of the running coroutine, in two words that compiled code can read, and that of the
-- main one.
local current, main_low, main_high

-- The function `hit` while it tests a condition without a budget. If the condition does not end,
-- the watchdog ends only the condition, and sets this to false, so that it does so once for each
-- test (src/script/interrupt.rs). After a condition has yielded, this may be `hit` while no call of
-- it runs.
rawset(core, "tests_condition", false)
-- True while a condition is tested that calls functions: these do not stop, also not by the hook
-- (src/script/debugger/mod.rs).
rawset(core, "is_testing", false)

-- Adds a spot. Returns the text of its call. The call has no upvalue of its own and uses no name of
-- the game, and the variables that it passes are used by its function anyway, so the functions of
-- both versions of a file have the same upvalues.
function calls.add(spot)
  last_spot = last_spot + 1
  spots[last_spot] = spot
  local passed = spot.names and spot.names ~= "" and "," .. spot.names or ""
  return format('if ("")["\\27break"](%d%s) then end ', last_spot, passed)
end

-- Returns a text with calls: a list of `{ byte, call }` in the order of the text.
function calls.assemble(text, inserted)
  local parts, from = {}, 1
  for i = 1, #inserted do
    parts[#parts + 1] = sub(text, from, inserted[i].byte)
    parts[#parts + 1] = inserted[i].call
    from = inserted[i].byte + 1
  end
  parts[#parts + 1] = sub(text, from)
  return concat(parts)
end

-- Forgets the spots of a chunk, or all.
function calls.forget(chunk)
  for number, spot in next, spots do
    if chunk == nil or spot.chunk == chunk then spots[number] = nil end
  end
end

function calls.set_stopped(on)
  is_stopped = on
end

-- Called between frames: a condition that has ended its callback left this.
function calls.update()
  core.is_testing = false
end

function calls.set_stepping(on)
  is_stepping = on
end

local function always()
  return true
end

-- Functions that compare a number of hits.
local FITS = {
  [""] = function(number) return function(hits) return hits == number end end,
  ["="] = function(number) return function(hits) return hits == number end end,
  ["=="] = function(number) return function(hits) return hits == number end end,
  [">"] = function(number) return function(hits) return hits > number end end,
  [">="] = function(number) return function(hits) return hits >= number end end,
  ["<"] = function(number) return function(hits) return hits < number end end,
  ["<="] = function(number) return function(hits) return hits <= number end end,
  ["%"] = function(number)
    return function(hits) return hits % number == 0 end
  end,
}

-- Returns a function that is true for the numbers of hits that stop: `5`, `>= 5`, `% 5`; or nil if
-- the text has no such form.
function calls.hits_test(text)
  local operator, digits = match(text, "^%s*([<>=%%]*)%s*(%d+)%s*$")
  local make, number = FITS[operator], tonumber(digits)
  if not make then return nil end
  -- Hits count from 1, so that these would never stop.
  local is_more = operator == ">" or operator == ">="
  if number == 0 and not is_more or number == 1 and operator == "<" then return nil end
  return make(number)
end

-- Compiles the test of a spot when it is reached first: the environment of its function is known
-- then. Returns false if debugger.lua has to decide.
local function prepare(spot)
  spot.test = false
  local point = spot.points[1]
  local condition, hits = point.condition, point.hit_condition
  if #spot.points > 1 or not spot.names or not (condition or hits) then return false end
  if hits then
    spot.fits = calls.hits_test(hits)
    if not spot.fits then return false end
  end
  if not condition then
    spot.test = always
    return always
  end
  -- Level 2 is `hit`.
  local env = getfenv(getinfo(3, "f").func)
  local chunk = load_chunk(format("return function(%s) return %s\nend", spot.names, condition),
    "=eval", env)
  if chunk then spot.test = chunk() end
  return spot.test
end

-- Compiled code contains this function: only what it calls for a breakpoint that stops is slow.
local function hit(number, a, b, c, d, e, f, g, h)
  local spot = spots[number]
  if not spot or is_stopped or core.is_testing then return end
  local test = spot.test
  if test == nil then test = prepare(spot) end
  if not test then
    calls.reached(spot)
    return
  end
  local ok, holds
  core.is_testing = spot.has_calls and true or false
  if spot.has_calls and not (current[0] == main_low and current[1] == main_high) then
    -- It may yield, which would suspend the function of the game.
    ok, holds = protect(EVALUATION_SECONDS, test, a, b, c, d, e, f, g, h)
  else
    core.tests_condition = hit
    ok, holds = pcall(test, a, b, c, d, e, f, g, h)
    core.tests_condition = false
  end
  core.is_testing = false
  local problem
  if not ok then
    problem, holds = holds, true
  end
  if holds and spot.fits then
    local point = spot.points[1]
    point.hits = point.hits + 1
    holds = spot.fits(point.hits)
  end
  if holds or is_stepping then calls.reached(spot, holds and true or false, problem) end
end

-- Returns where the address of the running coroutine is, and the address of the main one.
local function find_current()
  local here, main = core.debug_thread_addresses()
  local elsewhere = {}
  core.coroutine.resume(core.coroutine.create(function()
    local list = core.debug_thread_addresses()
    for i = 1, #list do elsewhere[list[i]] = true end
  end))
  for i = 1, #here do
    if elsewhere[here[i]] then return here[i], main end
  end
end

-- Functions that a reload left with an inserted call keep it, so it stays.
function calls.begin()
  local address, main = find_current()
  current = ffi.cast("const uint32_t *", ffi.cast("uintptr_t", address))
  main_low, main_high = main % WORD, floor(main / WORD)
  core.is_testing = false
  rawset(core.string, "\27break", hit)
end
