-- Calls every function that a game can reach with extreme arguments, a few functions in each frame,
-- and prints the name of each function before it is called: a call that never ends is stopped from
-- outside and attributed to the last name. Arguments of the program: `only NAME` names each call of
-- one function before it is made; `random SEED ROUNDS` makes ROUNDS rounds of calls with random
-- arguments.

-- Stored before any call can replace them.
local clock, say, max, min = os.clock, print, math.max, math.min
local format, unpack, pcall, type, tostring = string.format, unpack, pcall, type, tostring
local concat, sort = table.concat, table.sort

local SECONDS_MAX = 3 -- CPU time of a call, and of all calls beyond a limit
local FRAME_SECONDS = 1 / 60 -- time of the calls in one frame
local COSTLY_CALLS_MAX = 1 -- calls of one function with one costly value

-- Every function that can be reached from the globals, by its shortest path.

local reached, paths = {}, {}

local function note(path, value)
  local known = paths[value]
  if not known or #path < #known then
    if known then reached[known] = nil end
    paths[value], reached[path] = path, value
  end
end

-- Loaded modules are globals, too.
local PASSED_OVER = { ["package.loaded"] = true }

local function reach(path, value, seen)
  if PASSED_OVER[path] then return end
  if type(value) == "function" then return note(path, value) end
  if type(value) ~= "table" or seen[value] then return end
  seen[value] = true
  for key, inner in pairs(value) do
    if type(key) == "string" then reach(path == "" and key or path .. "." .. key, inner, seen) end
  end
  local meta = getmetatable(value)
  if meta == "module" or type(meta) == "table" and meta.__call then
    reached[path .. "()"] = function(...) return value(...) end
  end
  if type(meta) == "table" then reach(path .. ".<metatable>", meta, seen) end
end

reach("", _G, {})

local values = require("values")
local fixtures = require("fixtures")
local given = require("functions")
local ordinary = require("ordinary")
local exceeding = require("exceeding")
local exceptions = require("exceptions")

local only, seed, rounds
local argv = { Application.argv() }
for i = 1, #argv do
  if argv[i] == "only" then only = argv[i + 1] end
  if argv[i] == "random" then seed, rounds = tonumber(argv[i + 1]), tonumber(argv[i + 2]) end
end

-- Calls that operators make.
local function operators(a, b, key)
  local ways = {
    function() return a + b end, function() return a - b end, function() return a * b end,
    function() return a / b end, function() return a % b end, function() return a ^ b end,
    function() return -a end, function() return #a end, function() return a .. b end,
    function() return a == b end, function() return a < b end, function() return a <= b end,
    function() return a[key] end, function() a[key] = b end, function() return a(b) end,
    function() return tostring(a) end,
  }
  local worked = false
  for i = 1, #ways do worked = pcall(ways[i]) or worked end
  return worked
end

-- Pools of values, by type

local words = {}
for word in ordinary.words:gmatch("%S+") do
  words[#words + 1] = values.plain('"' .. word .. '"', word)
end

local pools = {}

local function join(into, pool)
  for i = 1, #pool do into[#into + 1] = pool[i] end
end

local function lists_of(item)
  local one = item[1].make
  local function list(label, count, costly)
    return values.made(label, function()
      local items = {}
      for i = 1, count do items[i] = one() end
      return items
    end, costly)
  end
  local extremes = values.made("a list of extremes", function()
    local items = {}
    for i = 1, #item do items[#items + 1] = item[i].make() end
    return items
  end)
  return { list("a list of three", 3), list("a list of 5000", 5000, true), extremes,
    values.tables[1], values.tables[4], values.tables[6] }
end

local function things_of(kind)
  local pool = { values.made("a living " .. kind, function() return fixtures.get(kind) end) }
  if fixtures.gone(kind) then
    pool[2] = values.made("one that is gone", function() return fixtures.gone(kind) end)
  end
  return pool
end

local by_type = {
  number = { values.numbers }, integer = { values.numbers }, boolean = { values.booleans },
  table = { values.tables }, ["function"] = { values.functions },
  string = { values.strings },
  any = { values.others, values.tables, values.pairs, values.strings },
}

local function pool_of(kind)
  local pool = pools[kind]
  if pool then return pool end
  pool = {}
  for part in (kind .. "|"):gmatch("(.-)|") do
    local item = part:match("^%(?(.-)%)?%[%]$")
    if item then
      join(pool, lists_of(pool_of(item)))
    elseif part:find("^fun") then
      join(pool, values.functions)
    elseif by_type[part] then
      for _, list in ipairs(by_type[part]) do join(pool, list) end
    elseif values.kinds[part] then
      join(pool, values.kinds[part])
    elseif fixtures.has(part) then
      join(pool, things_of(part))
    end
  end
  if #pool == 0 then pool = { values.plain("nil", nil) } end
  pools[kind] = pool
  return pool
end

-- Returns the ordinary value of an argument, for calls in which another argument is extreme.
local function usual(name, param)
  local own = ordinary.arguments[name]
  local value = own and own[param.name]
  if value == nil and param.type:find("string") then value = ordinary.by_name[param.name] end
  if type(value) == "function" then return values.made(param.name, value) end
  if value ~= nil then
    return values.plain(format(type(value) == "string" and "%q" or "%s", tostring(value)), value)
  end
  if param.type:find("number") or param.type:find("integer") then
    if not fixtures.has(param.type:match("^%a+")) then return values.plain("1", 1) end
  end
  return pool_of(param.type)[1]
end

-- Calls

local calls, refusals = 0, 0
local arguments, costs, worked, problem_of = {}, {}, {}, {}
local named = {} -- limits named in refusals, by function
local last_problems = {}

local function limits_of(bound)
  local limits = {}
  for limit in bound:gmatch("%S+_MAX") do limits[#limits + 1] = limit end
  return limits
end

local function note_limits(entry, problem)
  for _, limit in ipairs(entry.limits) do
    local words = exceptions.words[entry.name] or exceptions.words[limit] or limit
    if problem:find(words, 1, true) then
      named[entry.name] = named[entry.name] or {}
      named[entry.name][limit] = true
    end
  end
end

local function show(list, count)
  local labels = {}
  for i = 1, count do labels[i] = list[i].label end
  return concat(labels, ", ")
end

local function call(entry, list, count)
  for i = 1, count do
    local value = list[i]
    if value.costly then
      local key = entry.name .. value.costly
      costs[key] = (costs[key] or 0) + 1
      local few = value.costly == values.SHARED and not ordinary.sharing[entry.name] and not rounds
      if few or costs[key] > COSTLY_CALLS_MAX then return end
    end
    arguments[i] = value.make()
  end
  if only then say(format("walk: call %s(%s)", entry.name, show(list, count))) end
  local began = clock()
  local fine, result = pcall(entry.call, unpack(arguments, 1, count))
  local seconds = clock() - began
  calls = calls + 1
  if fine then worked[entry.name] = true else refusals = refusals + 1 end
  if fine and ordinary.afterwards[entry.name] then ordinary.afterwards[entry.name](result) end
  if not fine then
    local problem = tostring(result)
    problem_of[entry.name] = problem_of[entry.name] or problem:sub(1, 200)
    note_limits(entry, problem)
  end
  if seconds > SECONDS_MAX then
    say(format("walk: slow %s(%s) took %.1f s", entry.name, show(list, count), seconds))
  end
end

local function is_number(param) return param.type:find("number") or param.type:find("integer") end

-- Calls with one extreme value at a time, of the argument's type and of other types.
local function walk_each(entry, base, list, count)
  for i = 1, count do
    local param = entry.params[i]
    local function try(pool, short)
      for k = 1, #pool do
        list[i] = pool[k]
        call(entry, list, count)
        if short and i < count then call(entry, list, i) end
      end
    end
    try(pool_of(param.type), true)
    try(values.others)
    if param.type:find("string") then try(words) end
    list[i] = base[i]
  end
end

-- Calls with the same extreme value for all numbers, then with pairs of extreme values.
local function walk_numbers(entry, base, list, count)
  local places = {}
  for i = 1, count do
    if is_number(entry.params[i]) then places[#places + 1] = i end
  end
  if #places < 2 then return end
  for k = 1, #values.numbers do
    for _, i in ipairs(places) do list[i] = values.numbers[k] end
    call(entry, list, count)
  end
  for a = 1, #places do
    for b = a + 1, #places do
      for i = 1, count do list[i] = base[i] end
      for _, first in ipairs(values.pairs) do
        for _, second in ipairs(values.pairs) do
          list[places[a]], list[places[b]] = first, second
          call(entry, list, count)
        end
      end
    end
  end
  for i = 1, count do list[i] = base[i] end
end

local function walk_options(entry, list, count)
  for _, option in ipairs(ordinary.options[entry.name] or {}) do
    local pool = pool_of(option.type)
    for k = 1, #pool do
      local value = pool[k]
      list[option.at] = values.made(format("{ %s = %s }", option.name, value.label), function()
        local options = option.base and option.base() or {}
        options[option.name] = value.make()
        return options
      end, value.costly)
      call(entry, list, max(count, option.at))
    end
  end
end

-- Calls with long texts and lists, for functions whose work grows with them: the time must be
-- proportional to the length of the argument.
local function walk_large(entry, base, list, count)
  for i = 1, count do
    local kind = entry.params[i].type
    if kind:find("string") or kind == "any" then
      list[i] = values.long_text
      call(entry, list, count)
    end
    local item = kind:match("^%(?([%w|]+)%)?%[%]$")
    if item or kind:find("table") or kind == "any" then
      list[i] = item and values.repeated(pool_of(item)[1]) or values.long_table
      call(entry, list, count)
    end
    list[i] = base[i]
  end
end

-- Calls that exceed the function's limit. The outcome of the last one is kept.
local function walk_beyond(entry, base)
  local count = #entry.params
  local times, beyond = exceeding.times[entry.name], exceeding.calls[entry.name]
  local made = {}
  if times then
    beyond = function()
      for n = 1, times do
        for i = 1, count do arguments[i] = base[i].make() end
        made[n] = entry.call(unpack(arguments, 1, count))
      end
    end
  end
  if not beyond then return end
  local began = clock()
  local fine, problem = pcall(beyond)
  local seconds = clock() - began
  if seconds > SECONDS_MAX then
    say(format("walk: slow %s, beyond its limit, took %.1f s", entry.name, seconds))
  end
  local ender = exceeding.enders[entry.name]
  for i = 1, ender and #made or 0 do pcall(ender, made[i]) end
  if not fine then note_limits(entry, tostring(problem)) end
  last_problems[entry.name] = tostring(problem):sub(1, 150)
end

local function usual_of(entry)
  local base = {}
  for i = 1, #entry.params do base[i] = usual(entry.name, entry.params[i]) end
  return base
end

local function walk(entry)
  local count, base, list = #entry.params, usual_of(entry), {}
  for i = 1, count do list[i] = base[i] end
  call(entry, list, count)
  walk_each(entry, base, list, count)
  walk_numbers(entry, base, list, count)
  walk_options(entry, list, count)
  for i = 1, count do list[i] = base[i] end
  if entry.bound == "linear" then walk_large(entry, base, list, count) end
  if not exceeding.late[entry.name] then walk_beyond(entry, base) end
  call(entry, list, 0)
  for i = 1, count do list[i] = base[i] end
  for i = count + 1, count + 3 do list[i] = values.others[i % #values.others + 1] end
  call(entry, list, count + 3)
end

-- Pseudorandom numbers, the same for each seed (Park and Miller).
local state = 1
local function lot(count)
  state = state * 48271 % 2147483647
  return state % count + 1
end

local function walk_by_lot(entry)
  local count, list = #entry.params, {}
  for _ = 1, 20 do
    for i = 1, count do
      local pool = pool_of(entry.params[i].type)
      local other = lot(8) == 1 and values.others or lot(3) == 1 and words or pool
      list[i] = lot(4) == 1 and usual(entry.name, entry.params[i]) or other[lot(#other)]
    end
    call(entry, list, count)
  end
end

-- The walk

local queue, last, at = {}, {}, 0

-- Functions that end the game come last, all in one frame.
local LAST = { ["Application.quit"] = true, ["Window.close"] = true }

-- Functions that are not called: callbacks of this game, and the function that begins the walk
-- again. It takes no arguments; tests/hot_reload/restart.rs calls it.
local OWN = { init = true, update = true, render = true, ["Application.restart"] = true }

local function note_library()
  for line in ordinary.library:gmatch("[^\n]+") do
    local path, types = line:match("(%S+)%s*(.*)")
    local params = {}
    for kind in types:gmatch("%S+") do
      params[#params + 1] = { name = "argument_" .. #params + 1, type = kind }
    end
    given.params[path] = params
  end
end

local function queued()
  note_library()
  reached.operators = operators
  -- Only coroutines can call these functions.
  for _, name in ipairs({ "wait", "wait_frames" }) do
    local waits = reached[name]
    reached[name] = function(...) return Timer.run(waits, ...) end
  end
  for path, fn in pairs(reached) do
    local params, bound = given.params[path], given.bounds[path]
    if OWN[path] then
      bound = "the walk's own"
    elseif not bound then
      say("walk: missing " .. path)
    elseif not params then
      say("walk: unknown " .. path)
    elseif path:find("^Pad[2-8]%.") and not rounds and not only then
      -- All pads have the rows of the first one.
    elseif not only or only == path then
      local into = LAST[path] and last or queue
      local limits = limits_of(bound)
      into[#into + 1] = { name = path, call = fn, params = params, bound = bound, limits = limits }
    end
  end
  for path in pairs(given.bounds) do
    if not reached[path] then say("walk: gone " .. path) end
  end
  for _, list in ipairs({ queue, last }) do
    sort(list, function(a, b) return a.name < b.name end)
  end
  if rounds then
    state = seed % 2147483646 + 1
    local once = #queue
    for round = 2, rounds do
      for i = 1, once do queue[#queue + 1] = queue[i] end
    end
  end
end

function init()
  queued()
  fixtures.start()
end

local CHANGES = { "create", "new", "spawn", "add", "make", "trigger", "start", "play", "set_",
  "destroy", "release", "run", "every", "after", "update", "load", "teleport", "queue", "write",
  "open", "move", "link", "rebuild", "overlap", "snapshot" }

local function after(entry)
  -- Useless timers and easings would end the game with an error in the next frame.
  Timer.cancel_all()
  Tween.cancel_all()
  for i = 1, #CHANGES do
    if entry.name:find(CHANGES[i], 1, true) then
      fixtures.clear()
      fixtures.settle()
      return
    end
  end
end

local costs_of = {}

local function turn(entry)
  say("walk: next " .. entry.name)
  local began, before = clock(), calls
  if rounds then walk_by_lot(entry) else walk(entry) end
  costs_of[#costs_of + 1] = { clock() - began, entry.name, calls - before }
end

local function finish()
  for i = 1, #last do turn(last[i]) end
  for i = 1, rounds and 0 or #queue do
    local entry = queue[i]
    if exceeding.late[entry.name] then
      say("walk: next " .. entry.name)
      walk_beyond(entry, usual_of(entry))
    end
  end
  for name in pairs(reached) do
    if not worked[name] and problem_of[name] then
      say("walk: never " .. name .. ": " .. problem_of[name])
    end
  end
  for path, bound in pairs(given.bounds) do
    local known = named[path] or {}
    local walked = not rounds and not only and not path:find("^Pad[2-8]%.")
    for _, limit in ipairs(limits_of(bound)) do
      if walked and not known[limit] and not exceptions.untried[limit]
        and not exceptions.untried[path]
      then
        say(format("walk: unnamed %s %s: %s", path, limit, last_problems[path] or "not tried"))
      end
    end
  end
  sort(costs_of, function(a, b) return a[1] > b[1] end)
  for i = 1, min(#costs_of, 20) do
    say(format("walk: cost %.3f s %s, %d calls", unpack(costs_of[i])))
  end
  say(format("walk: done %d functions, %d calls, %d refused, %.1f s", #queue + #last, calls,
    refusals, clock()))
  Application.quit()
end

local function step(dt)
  -- Invalid queued queries, such as rays without length, are refused here.
  pcall(World.update, fixtures.get("World"), dt)
  at = at + 1
  local entry = queue[at]
  DebugUi.begin_window("walk")
  turn(entry)
  pcall(DebugUi.end_window)
  pcall(after, entry)
end

function update(dt)
  local began = clock()
  repeat
    if at == #queue then return finish() end
    step(dt)
  until clock() - began > FRAME_SECONDS
end

-- Does the same as the engine does without this function, but ignores the error if all views are
-- used up.
function render() pcall(Application.render_world, Application.main_world()) end
