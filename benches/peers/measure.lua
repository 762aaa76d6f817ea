-- Measurement of the LÖVE side of benches/peers.rs: LÖVE's own loop without its sleep, a step of a
-- sixtieth of a second, and the CPU time of the main thread for each frame. Results are printed as
-- lines of a name and a number.
local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } peers_time;
  int clock_gettime(int clock, peers_time *time);
]])

local STEP = 1 / 60
local THREAD_CPU = 3 -- CLOCK_THREAD_CPUTIME_ID of Linux
local time = ffi.new("peers_time")

local measure = { arguments = love.arg.parseGameArguments(arg) }

-- Returns the CPU time of this thread in milliseconds.
local function cpu()
  ffi.C.clock_gettime(THREAD_CPU, time)
  return tonumber(time.seconds) * 1e3 + tonumber(time.nanoseconds) * 1e-6
end

local function median(list)
  table.sort(list)
  return list[math.floor(#list / 2) + 1] or 0
end

function measure.tell(name, number)
  io.write(name, " ", string.format("%.9g", number), "\n")
end

-- Plays `warm` frames, then `frames` measured frames, and ends. `finish` is called at the end.
function measure.frames(warm, frames, finish)
  local whole, drawn, draw_calls = {}, {}, 0

  local function frame()
    love.event.pump()
    for name, a, b, c, d, e, f in love.event.poll() do
      if name == "quit" then return true end
      love.handlers[name](a, b, c, d, e, f)
    end
    love.timer.step()
    if love.update then love.update(STEP) end
    if not (love.graphics and love.graphics.isActive()) then return end
    love.graphics.origin()
    love.graphics.clear(love.graphics.getBackgroundColor())
    local began = cpu()
    if love.draw then love.draw() end
    love.graphics.flushBatch()
    drawn[#drawn + 1] = cpu() - began
    draw_calls = love.graphics.getStats().drawcalls
    love.graphics.present()
  end

  function love.run()
    if love.load then love.load(measure.arguments) end
    love.timer.step()
    return function()
      for _ = 1, warm do
        if frame() then return 1 end
      end
      drawn = {}
      for at = 1, frames do
        local began = cpu()
        if frame() then return 1 end
        whole[at] = cpu() - began
      end
      local sum, most = 0, 0
      for _, one in ipairs(whole) do sum, most = sum + one, math.max(most, one) end
      measure.tell("mean", sum / #whole)
      measure.tell("most", most)
      measure.tell("frame", median(whole))
      measure.tell("draw", median(drawn))
      measure.tell("draw_calls", draw_calls)
      if finish then finish() end
      return 0
    end
  end
end

return measure
