-- Scopes and counters in a loop, for benches/profile.rs: the arguments are the case and the number
-- of iterations.
local case, count = Application.argv()
count = tonumber(count)

local cases = {}

function cases.nothing()
  local sum = 0
  for i = 1, count do
    sum = sum + i
  end
  return sum
end

function cases.scopes()
  local sum = 0
  for i = 1, count do
    Profiler.start("bench of Lua")
    sum = sum + i
    Profiler.stop()
  end
  return sum
end

function cases.named()
  local sum = 0
  for i = 1, count do
    Profiler.start("bench of Lua")
    sum = sum + i
    Profiler.stop("bench of Lua")
  end
  return sum
end

function cases.counter()
  local counter = Stats.counter("bench/of_lua")
  for _ = 1, count do
    counter.value = counter.value + 1
  end
  return counter.value
end

function init()
  for _ = 1, 20 do
    cases[case]()
  end
end

function render()
  cases[case]()
end
