-- Suite of timers and waiting coroutines. Each test moves time itself, with Timer.advance.

describe("Timer", function()
  local log
  local function note(...) log[#log + 1] = table.concat({ ... }, " ") end
  local function noting(...)
    local arguments = { ... }
    return function() note(unpack(arguments)) end
  end

  before_each(function()
    Timer.cancel_all()
    log = {}
  end)

  it("calls a function once, with its arguments", function()
    local seen, count
    Timer.after(1, function(...) seen, count = { ... }, select("#", ...) end, "a", nil, 3, nil)
    Timer.advance(0.9)
    assert.is_nil(seen)
    Timer.advance(0.1)
    assert.equals("a", seen[1])
    assert.equals(3, seen[3])
    assert.equals(4, count)
    seen = nil
    Timer.advance(5)
    assert.is_nil(seen)
  end)

  it("is on time when many small steps add up", function()
    local frames
    for _, rate in ipairs({ 24, 30, 60, 144, 240 }) do
      frames = 0
      local done = false
      Timer.after(10, function() done = true end)
      while not done do
        Timer.advance(1 / rate)
        frames = frames + 1
      end
      assert.equals(10 * rate, frames)
    end
  end)

  it("calls in the order of the due times, then of creation", function()
    Timer.after(0.3, noting("third"))
    Timer.after(0.2, noting("first of two"))
    Timer.after(0.2, noting("second of two"))
    Timer.after(0.1, noting("first"))
    Timer.advance(1)
    assert.same({ "first", "first of two", "second of two", "third" }, log)
  end)

  it("keeps the order of many timers, created and cancelled in any order", function()
    local seed, expected, ids = 7, {}, {}
    for i = 1, 500 do
      seed = (seed * 16807) % 2147483647
      local due = 1 + seed % 50
      ids[i] = Timer.after(due, function() log[#log + 1] = i end)
      if i % 3 ~= 0 then expected[#expected + 1] = { due = due, i = i } end
    end
    for i = 3, 500, 3 do assert.is_true(Timer.cancel(ids[i])) end
    table.sort(expected, function(a, b)
      if a.due ~= b.due then return a.due < b.due end
      return a.i < b.i
    end)
    for i, entry in ipairs(expected) do expected[i] = entry.i end
    for _ = 1, 60 do Timer.advance(1) end
    assert.same(expected, log)
    assert.equals(0, Timer.count())
  end)

  it("calls a timer of 0 seconds in the next frame, even if a callback creates it", function()
    Timer.after(0, function()
      note("first")
      Timer.after(0, noting("second"))
    end)
    assert.same({}, log)
    Timer.advance(0.1)
    assert.same({ "first" }, log)
    Timer.advance(0)
    assert.same({ "first", "second" }, log)
  end)

  it("repeats without drift and catches up after a long frame", function()
    local id = Timer.every(0.1, noting("tick"))
    Timer.advance(0.35)
    assert.equals(3, #log)
    for _ = 1, 65 do Timer.advance(0.01) end
    assert.equals(10, #log)
    assert.is_true(math.abs(Timer.remaining(id) - 0.1) < 1e-9)
  end)

  it("stops after a count", function()
    Timer.every(1, noting("tick"), 3)
    for _ = 1, 10 do Timer.advance(1) end
    assert.equals(3, #log)
    assert.equals(0, Timer.count())
  end)

  it("calls an every at most 100 times in a frame, drops the rest and keeps its phase", function()
    local id = Timer.every(0.5, noting("tick"))
    Timer.advance(1000.2)
    assert.equals(100, #log)
    assert.is_true(math.abs(Timer.remaining(id) - 0.3) < 1e-9)
    Timer.advance(0.25)
    assert.equals(100, #log)
    Timer.advance(0.25)
    assert.equals(101, #log)
  end)

  it("interleaves repeated timers by time in one long frame", function()
    Timer.every(0.2, noting("a"), 3)
    Timer.every(0.3, noting("b"), 2)
    Timer.advance(1)
    assert.same({ "a", "b", "a", "a", "b" }, log)
  end)

  it("lets a callback cancel itself and others, and create new ones", function()
    local other = Timer.after(0.5, noting("never"))
    local id
    id = Timer.every(0.1, function()
      note("tick")
      assert.is_true(Timer.cancel(other))
      assert.is_true(Timer.cancel(id))
      Timer.after(0.1, noting("chained"))
    end)
    Timer.advance(1)
    assert.same({ "tick", "chained" }, log)
    assert.equals(0, Timer.count())
  end)

  it("ends a chain of timers that start each other, and continues in the next frame", function()
    local calls = 0
    local function again()
      calls = calls + 1
      Timer.after(0.001, again)
    end
    Timer.after(0.001, again)
    Timer.advance(10)
    assert.is_true(calls >= 100 and calls <= 102)
    local before = calls
    Timer.advance(0.001)
    assert.equals(before + 1, calls)
  end)

  it("returns the remaining time, and nil for timers that are over", function()
    local id = Timer.after(2, noting("x"))
    Timer.advance(0.5)
    assert.equals(1.5, Timer.remaining(id))
    assert.equals(1, Timer.count())
    assert.is_true(Timer.cancel(id))
    assert.is_false(Timer.cancel(id))
    assert.is_nil(Timer.remaining(id))
    assert.is_false(Timer.cancel(123456789))
    assert.equals(0, Timer.remaining(Timer.after(0, noting("x"))))
  end)

  it("cancels all", function()
    Timer.after(1, noting("a"))
    Timer.every(1, noting("b"))
    Timer.run(function() wait(1) note("c") end)
    Timer.run(function() wait_frames(1) note("d") end)
    assert.equals(4, Timer.count())
    Timer.cancel_all()
    assert.equals(0, Timer.count())
    Timer.advance(5)
    assert.same({}, log)
  end)

  it("reports an error in a callback and keeps the other timers", function()
    Timer.after(1, function() error("broken callback", 0) end)
    Timer.after(1, noting("next"))
    Timer.every(1, function()
      note("every")
      if #log == 2 then error("broken every", 0) end
    end)
    assert.error_matches(function() Timer.advance(1) end, "broken callback")
    assert.error_matches(function() Timer.advance(0) end, "broken every")
    assert.same({ "next", "every" }, log)
    Timer.advance(1)
    assert.same({ "next", "every", "every" }, log)
  end)

  it("can be advanced in a callback", function()
    Timer.after(1, function()
      note("outer")
      Timer.advance(1)
      note("end of outer")
    end)
    Timer.after(1.5, noting("inner"))
    Timer.advance(1)
    assert.same({ "outer", "inner", "end of outer" }, log)
  end)

  it("refuses more than 100000 timers", function()
    for _ = 1, 100000 do Timer.after(1, note) end
    assert.error_matches(function() Timer.after(1, note) end,
      "Timer: 100000 timers are waiting and no more are allowed; is one made in every frame%?")
    Timer.cancel_all()
    assert.equals(0, Timer.count())
  end)

  it("reports wrong arguments", function()
    local cases = {
      { Timer.after, { "1", note }, "Timer.after: argument #1 'seconds' must be a number of " },
      { Timer.after, { -1, note }, "Timer.after: argument #1 'seconds' must be .* 0 or above" },
      { Timer.after, { 0 / 0, note }, "Timer.after: argument #1 'seconds'" },
      { Timer.after, { math.huge, note }, "Timer.after: argument #1 'seconds'" },
      { Timer.after, { 1 }, "Timer.after: argument #2 'call' must be a function, got nil" },
      { Timer.every, { 0, note }, "Timer.every: argument #1 'seconds' must be .* 0.001 or above" },
      { Timer.every, { 1, "note" }, "Timer.every: argument #2 'call' must be a function" },
      { Timer.every, { 1, note, 1.5 }, "Timer.every: argument #3 'count' must be a whole number" },
      { Timer.run, { 3 }, "Timer.run: argument #1 'call' must be a function, got number 3" },
      { Timer.cancel, {}, "Timer.cancel: argument #1 'id' must be a number that Timer.after" },
      { Timer.remaining, { "a" }, "Timer.remaining: argument #1 'id' must be a number" },
      { Timer.advance, { -1 }, "Timer.advance: argument #1 'seconds' must be a number of seconds" },
    }
    for _, case in ipairs(cases) do
      assert.error_matches(function() case[1](unpack(case[2])) end, case[3])
    end
    assert.equals(0, Timer.count())
  end)
end)

describe("wait", function()
  local log
  local function note(text) log[#log + 1] = text end

  before_each(function()
    Timer.cancel_all()
    log = {}
  end)

  it("lets a coroutine wait without drift", function()
    Timer.run(function(name)
      for i = 1, 3 do
        wait(1)
        note(name .. i)
      end
    end, "step")
    Timer.advance(1.5)
    assert.same({ "step1" }, log)
    Timer.advance(0.5)
    assert.same({ "step1", "step2" }, log)
    Timer.advance(1)
    assert.same({ "step1", "step2", "step3" }, log)
    assert.equals(0, Timer.count())
  end)

  it("waits several times in one long frame", function()
    Timer.run(function()
      for i = 1, 5 do
        wait(0.1)
        note(i)
      end
    end)
    Timer.advance(0.35)
    assert.same({ 1, 2, 3 }, log)
  end)

  it("waits for the next frame with 0, and for frames", function()
    Timer.run(function()
      wait(0)
      note("one")
      wait_frames()
      note("two")
      wait_frames(3)
      note("five")
    end)
    local seen = {}
    for i = 1, 6 do
      Timer.advance(0)
      seen[i] = #log
    end
    assert.same({ 1, 2, 2, 2, 3, 3 }, seen)
  end)

  it("works in a coroutine that the game created", function()
    local thread = coroutine.create(function()
      wait(1)
      note("woken")
      note(coroutine.yield("mine"))
    end)
    coroutine.resume(thread)
    Timer.advance(1)
    assert.same({ "woken" }, log)
    coroutine.resume(thread, "from the game")
    assert.same({ "woken", "from the game" }, log)
  end)

  it("works through pcall", function()
    Timer.run(function()
      local ok, problem = pcall(function()
        wait(1)
        error("inside", 0)
      end)
      note(tostring(ok) .. " " .. problem)
    end)
    Timer.advance(1)
    assert.same({ "false inside" }, log)
  end)

  it("is cancelled during a wait", function()
    local id = Timer.run(function()
      wait(1)
      note("never")
    end)
    assert.equals(1, Timer.remaining(id))
    assert.is_true(Timer.cancel(id))
    Timer.advance(2)
    assert.same({}, log)
    assert.is_false(Timer.cancel(id))
  end)

  it("ends at the next wait when it is cancelled while it runs", function()
    local id
    id = Timer.run(function()
      wait(1)
      assert.is_true(Timer.cancel(id))
      assert.is_false(Timer.cancel(id))
      note("still here")
      wait(1)
      note("never")
    end)
    Timer.advance(1)
    Timer.advance(5)
    assert.same({ "still here" }, log)
    assert.equals(0, Timer.count())
  end)

  it("continues in the coroutine that cancels all", function()
    Timer.run(function()
      Timer.cancel_all()
      wait(1)
      note("went on")
    end)
    Timer.advance(1)
    assert.same({ "went on" }, log)
  end)

  it("returns false for a coroutine that is over", function()
    assert.is_false(Timer.cancel(Timer.run(function() end)))
  end)

  it("reports an error with the coroutine's stack, from run and from a later frame", function()
    local function check(call, message)
      local ok, problem = pcall(call)
      assert.is_false(ok)
      assert.matches(message, problem)
    end
    check(function()
      Timer.run(function() error("broken at once", 0) end)
    end, "broken at once")
    Timer.run(function()
      wait(1)
      error("broken later", 0)
    end)
    check(function() Timer.advance(1) end, "broken later")
    assert.equals(0, Timer.count())
  end)

  it("refuses coroutines that start each other endlessly", function()
    local depth = 0
    local function start()
      depth = depth + 1
      Timer.run(start)
    end
    assert.error_matches(start, "Timer.run: coroutines start each other too deep: does one start "
      .. "itself without waiting%?")
    assert.is_true(depth > 1000)
    assert.equals(0, Timer.count())
    -- No state is left behind.
    local ran = false
    Timer.run(function() ran = true end)
    assert.is_true(ran)
  end)

  it("refuses to be resumed by the game while it waits", function()
    local thread = coroutine.create(function() wait(1) end)
    coroutine.resume(thread)
    local ok, problem = coroutine.resume(thread)
    assert.is_false(ok)
    assert.matches("wait: coroutine.resume was called on a coroutine that waits; the timer resumes "
      .. "it when its time comes", problem)
    assert.equals(0, Timer.count())
  end)

  it("explains the error outside of a coroutine", function()
    local hint = ": works only inside a coroutine; start one with Timer.run%(function%(%) ... end"
    -- A runner may run the test itself in a coroutine, where `wait` is allowed.
    if coroutine.running() == nil then
      assert.error_matches(function() wait(1) end, "wait" .. hint)
      assert.error_matches(function() wait_frames(1) end, "wait_frames" .. hint)
    end
  end)

  it("reports wrong arguments", function()
    local function in_coroutine(call, ...)
      local _, problem = coroutine.resume(coroutine.create(call), ...)
      return problem
    end
    assert.matches("wait: argument #1 'seconds' must be a number of seconds, 0 or above, got nil",
      in_coroutine(wait))
    assert.matches("wait_frames: argument #1 'frames' must be a whole number above 0, got number 0",
      in_coroutine(wait_frames, 0))
    assert.equals(0, Timer.count())
  end)
end)
