-- The calls that breakpoints insert into functions (breakpoints.lua). Each passes its number, and
-- the variables that the condition of its breakpoint names. So the condition is a function of
-- these, compiled once, and the JIT compiler inlines all of it into the code around the breakpoint:
-- a breakpoint that does not stop costs a few nanoseconds.
local core = ...

local pcall, rawset, tonumber, match = pcall, rawset, tonumber, string.match
local format = string.format
local getinfo, getfenv = core.debug.getinfo, core.debug.getfenv
local load_chunk, protect = core.load_chunk, core.debug_protect

local EVALUATION_SECONDS = 0.5 -- CPU time of a condition that calls functions

local calls = {}
core.inserted_calls = calls
calls.ARGUMENTS_MAX = 8
calls.EVALUATION_SECONDS = EVALUATION_SECONDS

-- What calls name, by number: the chunk, the line, its breakpoints, and the names that are passed.
local spots = {}
local last_spot = 0
local is_stopped, is_stepping = false, false

-- The function `hit` while it tests a condition that calls no function. The condition may still not
-- end, in a metamethod; the watchdog then ends only the condition, and sets this to false, so that
-- it does so once for each test (src/script/interrupt.rs). After a condition has yielded, this may
-- be `hit` while no call of it runs.
rawset(core, "tests_condition", false)

-- Adds a spot. Returns the text of its call. The call has no upvalue of its own and uses no name of
-- the game, and the variables that it passes are used by its function anyway, so the functions of
-- both versions of a file have the same upvalues.
function calls.add(spot)
  last_spot = last_spot + 1
  spots[last_spot] = spot
  local passed = spot.names and spot.names ~= "" and "," .. spot.names or ""
  return format('if ("")["\\27break"](%d%s) then end ', last_spot, passed)
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
    return function(hits) return number > 0 and hits % number == 0 end
  end,
}

-- Returns a function that is true for the numbers of hits that stop: `5`, `>= 5`, `% 5`; or nil if
-- the text has no such form.
function calls.hits_test(text)
  local operator, number = match(text, "^%s*([<>=%%]*)%s*(%d+)%s*$")
  local make = FITS[operator]
  return make and make(tonumber(number))
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
  if not spot or is_stopped then return end
  local test = spot.test
  if test == nil then test = prepare(spot) end
  if not test then
    calls.reached(spot)
    return
  end
  local ok, holds
  if spot.has_calls then
    -- It may yield, which would suspend the function of the game.
    ok, holds = protect(EVALUATION_SECONDS, test, a, b, c, d, e, f, g, h)
  else
    core.tests_condition = hit
    ok, holds = pcall(test, a, b, c, d, e, f, g, h)
    core.tests_condition = false
  end
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

-- Functions that a reload left with an inserted call keep it, so it stays.
function calls.begin()
  rawset(core.string, "\27break", hit)
end
