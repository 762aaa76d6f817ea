-- Performance budgets of a frame or a function: `assert.within_budget`. Counts (engine calls, calls
-- of scopes, counters) are the same in every run. Bytes and allocations are nearly the same,
-- because compiled code omits some. Time depends on the machine and only detects gross regressions.
local core = ...

local type, next, format = type, next, string.format
local floor, concat = math.floor, table.concat

local kit = core.test.kit
local luassert = kit.luassert
local work_done = core.work_done
local Profiler, Stats, Application =
  core.module("Profiler"), core.module("Stats"), core.module("Application")
kit.own(core.debug.getinfo(1, "S").source)

local min = math.min

local FRAMES = 60 -- frames that run by default
local FRAMES_MAX = 100000
local CALLS = 5 -- measured calls of a function that was warmed up

-- Budget keys, and the counter that measures each of them per frame.
local COUNTERS = {
  engine_calls = "scripts/engine_calls",
  allocations = "scripts/allocations",
  allocated_bytes = "scripts/allocated_bytes",
  cpu_milliseconds = "frame/cpu_milliseconds",
}
local SCOPE = { calls = true, milliseconds = true }
local KNOWN = { frames = true, warm = true, scopes = true, counters = true }
for name in next, COUNTERS do
  KNOWN[name] = true
end

local function refuse(message, ...)
  kit.fail("assert.within_budget: " .. format(message, ...))
end

local function check_limit(name, limit)
  if type(limit) ~= "number" or not (limit >= 0) then
    refuse("'%s' must be a number, zero or more, got %s", name, core.describe(limit))
  end
end

local function check_table(name, of)
  if of ~= nil and type(of) ~= "table" then
    refuse("'%s' must be a table, got %s", name, core.describe(of))
  end
end

local function check_count(name, count, least)
  if count ~= nil and (type(count) ~= "number" or count ~= floor(count) or count < least
    or count > FRAMES_MAX) then
    refuse("'%s' must be a whole number from %d to %d, got %s", name, least, FRAMES_MAX,
      core.describe(count))
  end
end

local function check_budget(budget, work)
  if type(budget) ~= "table" then
    refuse("the budget must be a table, got %s", core.describe(budget))
  elseif work ~= nil and not kit.callable(work) then
    refuse("what is measured must be a function, got %s", core.describe(work))
  end
  for key, limit in next, budget do
    if not KNOWN[key] then
      local near = type(key) == "string" and core.suggest(key, core.names(KNOWN))
      refuse("unknown limit %s%s", core.describe(key),
        near and ", did you mean '" .. near .. "'?" or "")
    elseif COUNTERS[key] then
      check_limit(key, limit)
    end
  end
  check_table("scopes", budget.scopes)
  check_table("counters", budget.counters)
  check_count("frames", budget.frames, 1)
  check_count("warm", budget.warm, 0)
  for name, limits in next, budget.scopes or {} do
    check_table("scopes." .. core.describe(name), limits)
    for key, limit in next, limits do
      if not SCOPE[key] then refuse("a scope has 'calls' and 'milliseconds', not '%s'", key) end
      check_limit(key, limit)
    end
  end
  for name, limit in next, budget.counters or {} do
    check_limit(name, limit)
  end
  if work and (budget.scopes or budget.counters or budget.frames) then
    refuse("'scopes', 'counters' and 'frames' are for frames, and a function was given")
  end
end

-- Returns the totals of every scope in the last frame, by name, at any nesting level.
local function scopes_of_frame()
  local sums = {}
  local rows = Profiler.scopes()
  for i = 1, #rows do
    local row = rows[i]
    local sum = sums[row.name] or { calls = 0, milliseconds = 0 }
    sum.calls = sum.calls + row.calls
    sum.milliseconds = sum.milliseconds + row.milliseconds
    sums[row.name] = sum
  end
  return sums
end

-- Records the worst value of a measurement so far, and the frame in which it occurred.
local function record_worst(worst, name, value, limit)
  local known = worst[name]
  if not known then
    worst[name] = { value = value, limit = limit, frame = Application.frame_index() }
  elseif value > known.value then
    known.value, known.frame = value, Application.frame_index()
  end
end

local function record_frame(worst, budget)
  for name, counter in next, COUNTERS do
    if budget[name] then record_worst(worst, name, Stats.value(counter), budget[name]) end
  end
  for name, limit in next, budget.counters or {} do
    record_worst(worst, name, Stats.value(name), limit)
  end
  if budget.scopes then
    local sums = scopes_of_frame()
    for name, limits in next, budget.scopes do
      local sum = sums[name]
      if not sum then refuse("no scope '%s' was ever open", name) end
      for key, limit in next, limits do
        record_worst(worst, name .. " " .. key, sum[key], limit)
      end
    end
  end
end

local function measure_frames(budget)
  local worst = {}
  local play = kit.engine_test.frames
  play(budget.warm or 0)
  for _ = 1, budget.frames or FRAMES do
    play(1)
    record_frame(worst, budget)
  end
  return worst
end

-- Measures one call of a function.
local function measure_call(work)
  local calls, allocations, bytes, seconds = work_done()
  work()
  local calls_now, allocations_now, bytes_now, seconds_now = work_done()
  return {
    engine_calls = calls_now - calls, allocations = allocations_now - allocations,
    allocated_bytes = bytes_now - bytes, cpu_milliseconds = (seconds_now - seconds) * 1000,
  }
end

-- Measures a function. A function that may be called again, which `warm` shows, is measured
-- CALLS times, and its smallest figures count: LuaJIT allocates too when it compiles a trace, which
-- it still does now and then after thousands of calls.
local function measure_work(budget, work)
  local warm = budget.warm or 0
  for _ = 1, warm do
    work()
  end
  local least = measure_call(work)
  for _ = 2, warm > 0 and CALLS or 1 do
    for name, value in next, measure_call(work) do
      least[name] = min(least[name], value)
    end
  end
  local worst = {}
  for name, value in next, least do
    if budget[name] then record_worst(worst, name, value, budget[name]) end
  end
  return worst
end

local function describe_excess(worst, of_frames)
  local lines = {}
  for _, name in next, core.names(worst) do
    local figure = worst[name]
    if not (figure.value <= figure.limit) then
      local where = of_frames and format(" in frame %d", figure.frame) or ""
      lines[#lines + 1] = format("%s: %.6g%s, and the limit is %.6g", name, figure.value, where,
        figure.limit)
    end
  end
  return lines
end

local function within_budget(state, arguments)
  local budget, work = arguments[1], arguments[2]
  check_budget(budget, work)
  local worst
  if work then
    worst = measure_work(budget, work)
  else
    worst = measure_frames(budget)
  end
  local lines = describe_excess(worst, not work)
  local limit_count = 0
  for _ in next, worst do
    limit_count = limit_count + 1
  end
  if limit_count == 0 then refuse("the budget has no limit") end
  state.failure_message = #lines > 0 and "Over budget.\n" .. concat(lines, "\n")
    or format("Expected to be over budget, and all %d values were within it.", limit_count)
  return #lines == 0
end

-- The globals of a suite: those of the running block or test, and of its enclosing blocks.
core.on("global_tables", "suites", function(tables)
  local at = kit.suite.current and kit.suite.environment_of(kit.suite.current)
  while type(at) == "table" and at ~= core.globals do
    tables[#tables + 1] = at
    at = core.debug.getmetatable(at).__index
  end
end)

luassert:register("assertion", "within_budget", within_budget)
