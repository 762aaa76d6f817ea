-- Suite of `Profiler`: scopes of scripts, their rows and the messages for invalid use.
describe("Profiler", function()
  -- Returns the rows of the last frame, by index and by name.
  local function rows()
    local found = {}
    for _, row in ipairs(Profiler.scopes()) do
      found[#found + 1] = row
      found[row.name] = found[row.name] or row
    end
    return found
  end

  it("counts the calls of a scope in a frame, under its parent", function()
    Profiler.start("outer of the test")
    for _ = 1, 3 do
      Profiler.start("inner of the test")
      Profiler.stop("inner of the test")
    end
    Profiler.stop("outer of the test")
    test.frames(1)
    local found = rows()
    assert.equals(3, found["inner of the test"].calls)
    assert.equals(1, found["outer of the test"].calls)
    assert.equals(found["outer of the test"].parents + 1, found["inner of the test"].parents)
    test.frames(1)
    assert.equals(0, rows()["inner of the test"].calls)
  end)

  it("distinguishes a recursive scope", function()
    local function walk(depth)
      Profiler.start("walk of the test")
      if depth > 1 then walk(depth - 1) end
      Profiler.stop("walk of the test")
    end
    walk(3)
    test.frames(1)
    local depths = {}
    for _, row in ipairs(Profiler.scopes()) do
      if row.name == "walk of the test" then
        depths[#depths + 1] = row.parents
        assert.equals(1, row.calls)
      end
    end
    assert.equals(3, #depths)
    assert.same({ depths[1], depths[1] + 1, depths[1] + 2 }, depths)
  end)

  it("has the engine's own scopes around those of the game", function()
    test.frames(2)
    local found = rows()
    assert.equals("frame", found[1].name)
    assert.equals(0, found[1].parents)
    assert.equals(1, found.update.calls)
    assert.equals(1, found.update.parents)
    assert.is_true(found.frame.milliseconds > 0)
    assert.is_true(found.frame.own_milliseconds <= found.frame.milliseconds)
  end)

  it("writes a table", function()
    test.frames(1)
    local lines = {}
    for line in Profiler.report():gmatch("[^\n]*\n") do
      lines[#lines + 1] = line
    end
    assert.equals("Min % : Avg % : Max % :   Avg ms :   Max ms :   # : Profile Name\n", lines[1])
    assert.equals(("-"):rep(64) .. "\n", lines[2])
    local percent, milliseconds = "[ %d]+%.%d : ", "[ %d]+%.%d%d%d : "
    assert.matches("^" .. percent:rep(3) .. milliseconds:rep(2) .. "  1 : frame\n$", lines[3])
  end)

  it("has averages that sum to about 100", function()
    Profiler.reset()
    test.frames(30)
    local sum, thread = 0
    for _, row in ipairs(Profiler.scopes()) do
      thread = thread or row.thread
      if row.thread == thread then sum = sum + row.average end
    end
    assert.near(100, sum, 2)
  end)

  it("resets the averages of one scope", function()
    Profiler.start("reset by the test")
    Profiler.stop()
    test.frames(1)
    Profiler.reset("reset by the test")
    assert.is_nil(rows()["reset by the test"])
    assert.error_matches(function()
      Profiler.reset("reset by the tset")
    end, "Profiler.reset: no scope 'reset by the tset' was ever open")
  end)

  it("closes the scopes inside of the named scope, and warns", function()
    Profiler.start("a of the test")
    Profiler.start("b of the test")
    Profiler.stop("a of the test")
    assert.error_matches(function()
      Profiler.stop()
    end, "Profiler.stop: no scope is open here: each stop ends what a start began")
  end)

  it("closes open scopes at the end of a callback", function()
    Profiler.start("left open by the test")
    test.frames(1)
    assert.has_error(function()
      Profiler.stop("left open by the test")
    end)
  end)

  it("has rows of workers, which open their own scopes", function()
    local worker = Worker.start("modules/profiled", { count = 4 })
    test.frames(1)
    assert.equals(4, Worker.result(worker))
    test.frames(1)
    local found = rows()["work of a worker"]
    assert.matches("^worker ", found.thread)
    assert.equals(0, found.parents)
  end)

  it("reports invalid names", function()
    assert.error_matches(function()
      Profiler.start()
    end, "Profiler.start: argument #1 'name' must be string, got nil")
    assert.error_matches(function()
      Profiler.start("")
    end, "Profiler.start: argument #1 'name' must have 1 to 100 bytes, got 0")
    assert.error_matches(function()
      Profiler.start("c of the test")
      Profiler.stop("d of the test")
    end, "Profiler.stop: the scope 'd of the test' is not open; the innermost one is "
      .. "'c of the test'")
    Profiler.stop("c of the test")
    assert.error_matches(function()
      Profiler.stop(3)
    end, "Profiler.stop: argument #1 'name' must be string, got number 3")
    assert.has_error(function()
      Profiler.report(1)
    end)
  end)

  it("records statistics under counters of their names", function()
    Profiler.record_statistics("tests/recorded", 2)
    Profiler.record_statistics("tests/recorded", 3)
    Profiler.record_statistics("tests/place", Vector3(1, 2, 3))
    assert.equals(5, Stats.counter("tests/recorded").value)
    assert.equals(2, Stats.counter("tests/place/y").value)
    assert.error_matches(function()
      Profiler.record_statistics("tests/place", "x")
    end, "argument #2 'value' must be number or Vector3")
    assert.error_matches(function()
      Profiler.record_statistics(nil, 1)
    end, "argument #1 'name' must be string")
  end)

  it("samples the locations of scripts", function()
    local function burn()
      local x = 0
      for i = 1, 200000 do
        x = x + math.sin(i)
      end
      return x
    end
    assert.is_nil(Profiler.samples())
    Profiler.start_sampling()
    for _ = 1, 2000 do
      burn()
      if Profiler.samples().samples > 0 then break end
    end
    assert.error_matches(Profiler.start_sampling,
      "Profiler.start_sampling: scripts are sampled already")
    local met = Profiler.stop_sampling()
    assert.is_true(met.samples > 0)
    assert.matches("profiler_test.lua$", met.scripts[1].name)
    assert.matches(" in .*profiler_test.lua$", met.functions[1].name)
    assert.matches("profiler_test.lua:%d+ in ", met.lines[1].name)
    assert.equals("number", type(met.scripts[1].allocated_bytes))
    assert.equals("number", type(met.scripts[1].engine_calls))
    assert.matches("^%d+ samples of scripts\n", met.text)
    assert.is_nil(Profiler.samples())
    assert.error_matches(Profiler.stop_sampling,
      "Profiler.stop_sampling: scripts are not sampled: call Profiler.start_sampling first")
  end)

  it("returns the renderer's counters", function()
    assert.is_table(Profiler.render_stats())
  end)
end)
