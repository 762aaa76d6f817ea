-- Times the script workloads of the benchmarks. The same file runs in the engine and in the spike.
-- Prints, for each, its name and the milliseconds of a frame: the median of the frames that follow
-- the warm-up. `crowd` is the workload that is compared with LÖVE (benches/peers/script).
local WARM_UP, FRAMES = 20, 30
local WORK = { "entities", "nbody", "strings", "tables", "sort", "closures", "pcalls", "coroutines",
  "classes" }

local function milliseconds(frame)
  for _ = 1, WARM_UP do frame() end
  local times = {}
  for i = 1, FRAMES do
    local from = os.clock()
    frame()
    times[i] = (os.clock() - from) * 1000
  end
  table.sort(times)
  return times[FRAMES / 2]
end

local function report(name, frame)
  print(string.format("speed\t%s\t%.3f", name, milliseconds(frame)))
end

for i = 1, #WORK do
  report(WORK[i], require("work." .. WORK[i]))
end
local crowd = require("crowd")
crowd.gather(10000)
report("crowd", function() crowd.step(1 / 60) end)
local bumps, turns = crowd.sums()
print(string.format("sums\t%d\t%d", bumps, turns))
