-- Workers for the benchmarks: `init` starts a worker, or sends many messages to it; `render` waits
-- for the result. The first argument selects the case.
local what = Application.argv()
local count = 1000

local worker

if what == "start" then
  function init()
    worker = Worker.start("worker_echo")
  end

  function render()
    assert(Worker.wait(worker) == "ready")
    Worker.cancel(worker)
  end
  return
end

local message = what == "number" and 7 or {}
if what == "table" then
  for i = 1, 100 do
    message[i] = { x = i, y = -i, name = "unit" .. i }
  end
end
worker = Worker.start("worker_echo")
assert(Worker.wait(worker) == "ready")

-- Round trips, one after the other.
function render()
  for _ = 1, count do
    Worker.send(worker, message)
    Worker.wait(worker)
  end
end

-- Round trips, many at the same time.
function init()
  for _ = 1, count do
    Worker.send(worker, message)
  end
  for _ = 1, count do
    Worker.wait(worker)
  end
end
