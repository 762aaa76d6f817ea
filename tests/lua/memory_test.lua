-- Suite of `Memory`: the owners of memory, and growth between snapshots.
describe("Memory", function()
  local kept = {}

  -- Returns the change of a name between two snapshots.
  local function change_of(changes, name)
    for _, change in ipairs(changes) do
      if change.name == name then return change end
    end
  end

  it("reports the global that contains a leak", function()
    leaking_enemies = {}
    local before = Memory.snapshot()
    for i = 1, 500 do
      leaking_enemies[i] = { name = "enemy " .. i, x = i }
    end
    local changes = Memory.changes(before)
    assert.equals("leaking_enemies", changes[1].name)
    assert.equals("scripts", changes[1].of)
    assert.is_true(changes[1].objects >= 1000)
    assert.is_true(changes[1].bytes > 500 * 64)
    leaking_enemies = nil
    assert.equals(-1, change_of(Memory.changes(before), "leaking_enemies").objects)
  end)

  it("reports the engine's memory and its limit", function()
    local held, limit = Memory.engine_usage()
    assert.is_true(held > 0)
    assert.equals(Application.settings().limits.engine_memory_mib * 2 ^ 20, limit)
  end)

  it("reports the local of a file that contains a leak", function()
    function keep_something()
      kept[#kept + 1] = {}
    end
    local before = Memory.snapshot()
    for _ = 1, 100 do
      keep_something()
    end
    local changes = Memory.changes(before)
    assert.matches("memory_test.lua: local kept$", changes[1].name)
    assert.equals(100, changes[1].objects)
    keep_something = nil
  end)

  it("reports fields of tables", function()
    the_game = { world = { units = {} }, sounds = {} }
    local before = Memory.snapshot()
    for i = 1, 50 do
      the_game.world.units[i] = { i }
    end
    assert.equals(50, change_of(Memory.changes(before), "the_game.world.units").objects)
    the_game = nil
  end)

  it("does not count references of a weak table", function()
    weak_of_test = setmetatable({}, { __mode = "v" })
    local held = {}
    local before = Memory.snapshot()
    for i = 1, 10 do
      held[i] = {}
      weak_of_test[i] = held[i]
    end
    assert.equals(0, change_of(Memory.changes(before), "weak_of_test").objects)
    weak_of_test = nil
  end)

  it("compares two snapshots", function()
    local before = { scripts = { a = { bytes = 10, objects = 1 } }, engine = {} }
    local after = {
      scripts = { b = { bytes = 5, objects = 1 } },
      engine = { textures = { bytes = 100, blocks = 2 } },
    }
    assert.same({
      { of = "engine", name = "textures", bytes = 100, objects = 2 },
      { of = "scripts", name = "b", bytes = 5, objects = 1 },
      { of = "scripts", name = "a", bytes = -10, objects = -1 },
    }, Memory.changes(before, after))
  end)

  it("describes the memory in use and its growth", function()
    leaking_list = {}
    local before = Memory.snapshot()
    for i = 1, 1000 do
      leaking_list[i] = {}
    end
    local text = Memory.report(before)
    assert.matches("^what grew in %d+ frames:\n +[%d.]+ KiB +1000 objects  leaking_list", text)
    leaking_list = nil
    assert.matches("^scripts hold [%d.]+ [KM]iB; what is held most:\n", Memory.report())
  end)

  it("has a tree of the engine's owners", function()
    local rows = Memory.tree()
    assert.is_true(#rows > 0)
    local sum = 0
    for _, row in ipairs(rows) do
      if row.parents == 0 then sum = sum + row.bytes end
      assert.is_true(row.name == row.path or row.parents > 0)
    end
    assert.is_true(sum > 100000)
  end)

  it("has console commands", function()
    local run = Application.console_command
    run("memory_tree")
    assert.error_matches(function()
      run("memory_grown", 1)
    end, "memory_grown: nothing was marked")
    run("memory_mark")
    run("memory_grown")
  end)

  it("refuses values that are not snapshots", function()
    assert.error_matches(function()
      Memory.changes(nil)
    end, "argument #1 'before' must be a snapshot %(Memory.snapshot%), got nil")
    assert.error_matches(function()
      Memory.changes(Memory.snapshot(), {})
    end, "argument #2 'after' must be a snapshot")
    assert.error_matches(function()
      Memory.report({})
    end, "Memory.report: argument #1 'before' must be a snapshot")
  end)
end)
