-- Suite of `assert.within_budget`: cost limits of a function or a frame, and their messages.
describe("assert.within_budget", function()
  it("passes a function within its budget", function()
    assert.within_budget({ engine_calls = 3, allocated_bytes = 4096, warm = 2 }, function()
      for _ = 1, 3 do
        Application.delta_time()
      end
    end)
  end)

  it("reports every exceeded limit with its value", function()
    assert.error_matches(function()
      assert.within_budget({ engine_calls = 2, allocated_bytes = 1 }, function()
        for _ = 1, 5 do
          Application.time_since_launch()
        end
        return { 1 }
      end)
    end, "Over budget.\nallocated_bytes: %d+, and the limit is 1\n"
      .. "engine_calls: 5, and the limit is 2")
  end)

  it("ignores one expensive call of a function that was warmed up", function()
    local calls = 0
    local function sometimes()
      calls = calls + 1
      if calls == 3 then return Application.delta_time() end
    end
    assert.within_budget({ engine_calls = 0, warm = 2 }, sometimes)
    assert.equals(7, calls)
    calls = 2
    assert.not_within_budget({ engine_calls = 0 }, sometimes)
    assert.equals(3, calls)
  end)

  it("finds what every call costs after the warm-up", function()
    local kept
    assert.not_within_budget({ allocated_bytes = 100, warm = 200 }, function()
      kept = { kept and #kept, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }
    end)
    assert.equals(10, kept[11])
  end)

  it("can be negated", function()
    assert.not_within_budget({ engine_calls = 0 }, function()
      Application.delta_time()
    end)
  end)

  it("runs frames and uses the worst one", function()
    local counter = Stats.counter("tests/budget")
    local played = 0
    local timer = Timer.every(1 / 120, function()
      Profiler.start("work of the budget")
      played = played + 1
      counter.value = counter.value + 1
      Profiler.stop()
    end)
    assert.within_budget({
      frames = 10, warm = 2, cpu_milliseconds = 1000, counters = { ["tests/budget"] = 2 },
      scopes = { ["work of the budget"] = { calls = 2, milliseconds = 500 } },
    })
    assert.is_true(played >= 20)
    assert.error_matches(function()
      assert.within_budget({ frames = 3, scopes = { ["work of the budget"] = { calls = 1 } } })
    end, "work of the budget calls: 2 in frame %d+, and the limit is 1")
    Timer.cancel(timer)
  end)

  it("reports an invalid budget", function()
    local function check(message, budget, work)
      assert.error_matches(function()
        assert.within_budget(budget, work)
      end, message)
    end
    check("the budget must be a table, got nil", nil)
    check("what is measured must be a function, got number 3", {}, 3)
    check("unknown limit string \"engine_call\", did you mean 'engine_calls'?", { engine_call = 1 })
    check("'allocations' must be a number, zero or more, got number %-1", { allocations = -1 })
    check("'frames' must be a whole number from 1 to 100000", { frames = 0 })
    check("'scopes' must be a table", { scopes = 1 })
    check("a scope has 'calls' and 'milliseconds', not 'call'", { scopes = { a = { call = 1 } } })
    check("no scope 'never open' was ever open",
      { frames = 1, scopes = { ["never open"] = { calls = 1 } } })
    check("'scopes', 'counters' and 'frames' are for frames", { frames = 1 }, function() end)
    check("the budget has no limit", { frames = 1 })
  end)
end)
