-- The course of a game: points, combos, oil, lives and depth; and the best scores.
local Run = require "rules.run"
local Scores = require "rules.scores"

local function take(run, kind)
  return Run.take(run, { kind = kind, x = 1, y = 1 })
end

describe("a run", function()
  local run

  before_each(function()
    run = Run.new()
    Run.enter(run, 60)
  end)

  it("gives more points for gems in quick succession", function()
    assert.equals(10, take(run, "gem"))
    assert.equals(20, take(run, "gem"))
    Run.burn(run, 3)
    assert.equals(10, take(run, "gem"))
    assert.equals(40, run.score)
    for _ = 1, 20 do take(run, "gem") end
    assert.equals(80, take(run, "gem"))
  end)

  it("gives points for the remaining oil, and goes deeper", function()
    Run.burn(run, 49.5)
    assert.equals(150, take(run, "win"))
    assert.equals(2, run.depth)
  end)

  it("reports once that the lamp goes out", function()
    assert.is_false(Run.burn(run, 59))
    assert.is_true(Run.burn(run, 2))
    assert.is_false(Run.burn(run, 1))
    assert.equals(0, run.oil)
  end)

  it("is over when the last life is lost", function()
    take(run, "die")
    take(run, "die")
    assert.is_false(Run.is_over(run))
    take(run, "die")
    assert.is_true(Run.is_over(run))
  end)

  it("returns to the first map, and is faster there", function()
    local first = Run.step_seconds(run)
    local maps = {}
    for i = 1, 4 do
      maps[i] = Run.map(run)
      take(run, "win")
    end
    assert.same({ "maps/cave_1", "maps/cave_2", "maps/cave_3", "maps/cave_1" }, maps)
    assert.is_true(Run.step_seconds(run) < first)
    run.depth = 1000
    assert.equals(0.09, Run.step_seconds(run))
  end)
end)

describe("the best scores", function()
  before_each(function()
    Save.delete("scores")
    Scores.forget()
  end)

  it("are sorted, at most five", function()
    assert.same({}, Scores.list())
    for _, score in ipairs({ 30, 50, 10, 40, 20 }) do Scores.add(score, 1) end
    assert.equals(2, Scores.add(45, 3))
    assert.is_nil(Scores.add(10, 1))
    assert.is_nil(Scores.add(0, 1))
    local scores = {}
    for i, entry in ipairs(Scores.list()) do scores[i] = entry.score end
    assert.same({ 50, 45, 40, 30, 20 }, scores)
  end)

  it("are restored at the next start", function()
    Scores.add(70, 2)
    Scores.forget()
    assert.same({ { score = 70, depth = 2 } }, Scores.list())
  end)

  it("report why they could not be saved, and are shown anyway", function()
    test.fault("disk full")
    assert.equals(1, Scores.add(70, 2))
    assert.is_string(Scores.problem)
    assert.equals(1, #Scores.list())
    test.clear_fault()
    Scores.add(80, 2)
    assert.is_nil(Scores.problem)
  end)
end)
