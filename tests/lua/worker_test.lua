-- Suite of Worker: messages in both directions, the frame of their arrival, refused values with
-- their messages. The jobs are in modules/worker_jobs.lua. Real time is tested in tests/workers.rs.

local MODULE = "modules/worker_jobs"

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_/%.]+:%d+: ", ""))
end

local function start(job, data, options)
  data = data or {}
  data.job = job
  return Worker.start(MODULE, data, options)
end

-- Returns the result of a worker after one frame.
local function ended(...)
  local worker = start(...)
  test.frames(1)
  return Worker.result(worker)
end

local function failure(...)
  local result, message = ended(...)
  assert.is_nil(result)
  return message
end

describe("Worker", function()
  it("runs a module's function in parallel with frames", function()
    local worker = Worker.start("modules.worker_jobs", { job = "count", n = 1000 })
    assert.equals("running", Worker.status(worker))
    assert.equals(0, Worker.progress(worker))
    test.frames(1)
    assert.equals("done", Worker.status(worker))
    assert.equals(1, Worker.progress(worker))
    assert.equals(500500, Worker.result(worker))
  end)

  it("exchanges every type of data by copy", function()
    local value = {
      1, "two", { three = true }, Vector3(1, 2, 3), Quaternion.identity(), Color(1, 2, 3, 4),
      Matrix4x4.identity(), IdString64("a"), name = "mixed", [2.5] = 0.1,
    }
    local back = ended("echo", { value = value })
    assert.same(value, back)
    assert.are_not.equal(value, back)
    assert.is_nil(ended("echo"))
    assert.is_false(ended("echo", { value = false }))
  end)

  it("receives and sends messages in order", function()
    local worker = start("talk")
    assert.is_nil(Worker.receive(worker))
    test.frames(1)
    for i = 1, 3 do
      assert.same({ i, Vector3(i, 0, 0) }, Worker.receive(worker))
    end
    assert.is_nil(Worker.receive(worker))
    assert.equals(0.75, Worker.progress(worker))
    Worker.send(worker, "a")
    Worker.send(worker, { Vector2(1, 2) })
    Worker.send(worker, "enough")
    assert.equals("running", Worker.status(worker))
    test.frames(2)
    assert.same({ "a", { Vector2(1, 2) } }, Worker.result(worker))
  end)

  it("can be waited for, message by message", function()
    local worker = start("talk")
    for i = 1, 3 do
      assert.equals(i, Worker.wait(worker)[1])
    end
    assert.is_nil(Worker.wait(worker), "it waits for a message itself")
    Worker.send(worker, "enough")
    assert.is_nil(Worker.wait(worker), "it has ended")
    assert.same({}, Worker.result(worker))
  end)

  it("is visible in the same frame whatever it does meanwhile", function()
    for _ = 1, 3 do
      local worker = start("poll")
      test.frames(4)
      Worker.send(worker, "x")
      test.frames(1)
      assert.equals("running", Worker.status(worker))
      test.frames(1)
      assert.same({ polls = 4, message = "x" }, Worker.result(worker))
    end
  end)

  it("can take several frames for a step", function()
    local worker = start("echo", { value = 7 }, { frames = 3 })
    test.frames(2)
    assert.equals("running", Worker.status(worker))
    test.frames(1)
    assert.equals(7, Worker.result(worker))
  end)

  it("draws the same random numbers in every run and has the clock of its start", function()
    local a, b = ended("random"), ended("random")
    assert.are_not.equal(a[1], b[1])
    assert.equals(os.time(), math.floor(b[3] + 0.5))
    assert.is_true(b[4] > a[4])
  end)

  it("collects its own garbage", function()
    assert.equals("3000000", ended("litter", { n = 3000000 }))
  end)
end)

describe("A worker that fails", function()
  it("says why, with its stack", function()
    local message = failure("fail", { name = "the hill" })
    assert.matches("^When running worker: modules.worker_jobs\nError: no ground under the hill\n"
      .. "    In modules/worker_jobs.lua:%d+\n", message)
    assert.matches("worker_jobs.lua:%d+ in function 'dig'", message)
    assert.matches("upvalue data = {.*name = \"the hill\"", message)
  end)

  it("is stopped when it never ends, also in pcall", function()
    for _, job in ipairs({ "forever", "swallow" }) do
      local message = failure(job, {}, { seconds = 0.05 })
      assert.matches("stopped: this ran for 0.05 seconds of CPU time without an end %(if it needs "
        .. "more, give Worker.start more seconds, or raise limits.worker_seconds in "
        .. "settings.sjson%)", message)
    end
  end)

  it("is stopped when it exceeds its memory limit", function()
    assert.matches("not enough memory: Lua holds all of its 256 MiB %(if a worker needs more, "
      .. "raise limits.worker_memory_mib in settings.sjson%)", failure("eat"))
  end)

  it("reports values that are not data", function()
    assert.matches("what the worker's function returned callback must be data %(booleans, numbers, "
      .. "strings, tables, vectors%), got function",
      failure("run", { text = "return { callback = print }" }))
    assert.matches("Worker.send: argument #2 'message': must be data %(booleans, numbers, strings, "
      .. "tables, vectors%), got function", failure("send", { text = "return print" }))
    assert.matches("is the handle of a Worker that exists, and not data",
      failure("send", { text = "return { Worker.parent() }" }))
    assert.matches("argument #2 'message': must not be nil, which means no message",
      failure("send", { text = "" }))
  end)

  it("is stopped if its messages are not received", function()
    assert.matches("Worker.send: 4096 messages wait to be received already %(MESSAGES_MAX%): "
      .. "receive them first", failure("flood"))
  end)

  it("must have a module that returns a function", function()
    local worker = Worker.start("modules.worker_table")
    test.frames(1)
    assert.equals("failed", Worker.status(worker))
    local _, message = Worker.result(worker)
    assert.equals("When running worker: modules.worker_table\nError: the module "
      .. "'modules.worker_table' of a worker must return a function, which gets the worker's "
      .. "data, got table", message)
    local broken = Worker.start("modules.broken")
    test.frames(1)
    assert.matches("broken.lua:%d+", select(2, Worker.result(broken)))
  end)
end)

describe("Inside a worker", function()
  local function refused(text)
    local message = failure("run", { text = text })
    return message:match("Error: (.-)\n") or message
  end

  it("has values, data and the game's arguments", function()
    assert.same({ "Engine suites", 3, "test", true }, ended("run", { text = [[
      local named = Application.settings().name
      local sorted = {}
      for name in Script.sorted_pairs({ b = 1, a = 2 }) do sorted[#sorted + 1] = name end
      assert(sorted[1] == "a" and Json.decode("[1]")[1] == 1 and Utf8.length("ä") == 1)
      assert(#Application.data("text", "data/note") > 0)
      return { named, Vector3.length(Vector3(3, 0, 0)), Application.build(),
        require("modules.plain").name == "modules.plain" }
    ]] }))
  end)

  it("refuses the game's objects with a message", function()
    local why = " cannot be used in a worker, which has only values and data: send what it needs "
      .. "to the game (Worker.send(Worker.parent(), …)), and call it there"
    for _, name in ipairs({ "World.update", "Application.quit", "Application.new_world",
      "Save.write", "Timer.after", "Worker.start", "Script.configure_garbage_collection" }) do
      assert.equals(name .. why, refused("return " .. name .. "(1)"))
    end
    assert.equals("wait" .. why, refused("wait(1)"))
    assert.equals("World.speed" .. why, refused("World.speed = 3"))
  end)

  it("has the sandbox of the game", function()
    assert.same({}, ended("run", { text = [[
      local found = {}
      for _, name in ipairs({ "io", "ffi", "dofile", "loadfile" }) do
        if rawget(_G, name) ~= nil then found[#found + 1] = name end
      end
      return found
    ]] }))
    assert.matches("string.rep is the engine's and cannot be replaced",
      failure("run", { text = "string.rep = nil" }))
  end)

  it("can use the game only for messages", function()
    assert.is_nil(Worker.parent())
    assert.is_nil(Worker.set_progress(0.5))
    assert.equals("function", ended("run", { text = "return type(Worker.wait)" }))
  end)
end)

describe("invalid use of Worker", function()
  it("reports workers that cannot be started", function()
    assert.matches("^Worker.start: there is no module 'modules.worker_job', did you mean "
      .. "'modules.worker_jobs'%? %(looked for modules/worker_job.lua,",
      error_of(Worker.start, "modules/worker_job"))
    assert.equals("Worker.start: argument #1 'module' must be string, got nothing",
      error_of(Worker.start))
    assert.equals("Worker.start: argument #2 'data': fn must be data (booleans, numbers, strings, "
      .. "tables, vectors), got function", error_of(Worker.start, MODULE, { fn = print }))
    local world = Application.new_world()
    assert.matches("is the handle of a World that exists, and not data",
      error_of(Worker.start, MODULE, { world }))
    Application.release_world(world)
  end)

  it("reports wrong options", function()
    local function refused(options)
      return error_of(Worker.start, MODULE, {}, options)
    end
    assert.equals("Worker.start: argument #3 'options': has the unknown option 'second', did you "
      .. "mean 'seconds'?", refused({ second = 1 }))
    assert.equals("Worker.start: argument #3 'options': option 'seconds' must be 0.01 to 86400",
      refused({ seconds = 0 }))
    assert.equals("Worker.start: argument #3 'options': option 'frames' must be a whole number, 1 "
      .. "to 3600", refused({ frames = 0.5 }))
    assert.equals("Worker.start: argument #3 'options' must be table or nil, got number 3",
      refused(3))
  end)

  it("reports workers that ended", function()
    local worker = start("forever")
    assert.matches("^Worker.result: the worker is still running: call Worker.status first, or "
      .. "Worker.cancel it", error_of(Worker.result, worker))
    Worker.cancel(worker)
    for _, fn in ipairs({ Worker.send, Worker.receive, Worker.wait, Worker.status, Worker.progress,
      Worker.result, Worker.cancel }) do
      local message = fn == Worker.send and "x" or nil
      assert.matches("argument #1 'worker': worker \"modules.worker_jobs\" was destroyed in frame "
        .. "%d+ at ", error_of(fn, worker, message))
    end
    assert.matches("must be Worker, got table", error_of(Worker.status, {}))
  end)

  it("limits the number of workers and messages", function()
    local workers = {}
    for i = 1, 16 do
      workers[i] = start("talk")
    end
    assert.equals("Worker.start: 16 workers already exist (WORKERS_MAX): read the results "
      .. "of those that have ended, cancel some, or send more work to one", error_of(start, "echo"))
    for _ = 1, 4096 do
      Worker.send(workers[1], "x")
    end
    assert.matches("^Worker.send: 4096 messages wait to be received already",
      error_of(Worker.send, workers[1], "x"))
    assert.equals("Worker.send: argument #2 'message': must not be nil, which means no message",
      error_of(Worker.send, workers[1]))
    for _, worker in ipairs(workers) do
      Worker.cancel(worker)
    end
  end)

  it("refuses progress out of range", function()
    assert.equals("Worker.set_progress: argument #1 'progress' must be 0 to 1, got 2",
      error_of(Worker.set_progress, 2))
  end)
end)
