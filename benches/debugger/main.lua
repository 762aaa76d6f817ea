-- The game of benches/debugger.rs. The global `mode` selects the workload of a frame; the debugger
-- sets it. Comments name the lines at which breakpoints are set.
local crowd = require("crowd")

local PASSES = 1000000

mode = "crowd"

local function uncalled()
  return 0 -- a line that never runs
end

local function loop(passes)
  local sum = 0
  for i = 1, passes do
    sum = (sum + i) % 1000 -- the hot line
  end
  return sum
end

local function stop(numbers)
  local count = 0 -- the stopping line
  for i = 1, 1000 do
    count = count + i
    count = count - 1
  end
  return count, numbers
end

local function fill()
  local list, hash = {}, {}
  for i = 1, 1000000 do
    list[i] = i
    hash["key" .. i] = i
  end
  return { list = list, hash = hash }
end

function init()
  crowd.gather(10000)
  uncalled()
end

function update(dt)
  if mode == "crowd" then
    crowd.step(dt)
  elseif mode == "loop" then
    sum = loop(PASSES)
  elseif mode == "stop" then
    numbers = numbers or fill()
    stop(numbers.list)
    stop(numbers.hash)
  end
end
