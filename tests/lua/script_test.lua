-- Suite of Script: callstack, type names, sorted traversal, contexts, the collector's settings.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("Script", function()
  it("returns the running lines, innermost first", function()
    local function inner()
      return Script.callstack(), 0
    end
    local stack = inner()
    assert.matches("^script_test%.lua:%d+ in function 'inner'\nscript_test%.lua:%d+ in ", stack)
    assert.is_nil(stack:find("%[engine%]"))
  end)

  it("returns the type name of every value", function()
    assert.equals("Vector3", Script.type_name(Vector3(1, 2, 3)))
    assert.equals("Quaternion", Script.type_name(Quaternion.identity()))
    assert.equals("table", Script.type_name({}))
    assert.equals("nil", Script.type_name(nil))
    assert.equals("number", Script.type_name(1))
  end)

  it("says which object a handle refers to", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "core/units/light")
    assert.equals("World", Script.type_name(world))
    assert.equals("Unit", Script.type_name(unit))
    assert.matches("^core/units/light#%d+$", Script.describe(unit))
    assert.matches("^World#%d+$", Script.describe(world))
    assert.matches("^Light#%d+ of core/units/light#%d+$", Script.describe(Unit.light(unit, 1)))
    assert.matches("^{ hp = 3, unit = core/units/light#%d+ }$",
      Script.describe({ hp = 3, unit = unit }))
    World.destroy_unit(world, unit)
    assert.equals("number", Script.type_name(unit))
    assert.equals('destroyed unit "core/units/light"', Script.describe(unit))
    assert.equals("3.5", Script.describe(3.5))
    assert.equals("nil", Script.describe())
    Application.release_world(world)
  end)

  it("asserts with a formatted message", function()
    local world = Application.new_world()
    assert.equals(3, Script.assert(3, "no %d", "x"))
    assert.equals("assertion failed!", error_of(Script.assert, false))
    assert.equals("3 rats in the yard, 100%",
      error_of(Script.assert, nil, "%d rats in the %s, 100%%", 3, "yard"))
    assert.matches("^World#%d+ has no nil$",
      error_of(Script.assert, false, "%s has no %s", world, nil))
    assert.equals("Script.assert: argument #2 'message' must be string or nil, got number 1",
      error_of(Script.assert, true, 1))
    assert.matches("argument #2 'message' does not fit its values: .*number expected",
      error_of(Script.assert, false, "%d rats", "many"))
    Application.release_world(world)
  end)

  it("refuses wrong levels and texts of warnings", function()
    assert.matches("argument #1 'text' must be string", error_of(Script.warn))
    for _, level in ipairs({ 0, 1.5, 101, "1" }) do
      assert.matches("argument #2 'level' must be whole number from 1 to 100",
        error_of(Script.warn, "x", level))
    end
    assert.matches("argument #1 'use' must be string, got nil", error_of(Script.deprecated))
    assert.matches("argument #1 'problem' must be string or nil", error_of(Script.contexts, 1))
  end)

  it("returns the contexts of the running code and of caught errors", function()
    local lines = Script.context("When counting:", "rats", Script.contexts)
    assert.equals("When counting: rats", lines[#lines])
    local ok, problem = pcall(Script.context, "When counting:", "cats", error, "none")
    assert.is_false(ok)
    local caught = Script.contexts(problem)
    assert.equals("When counting: cats", caught[#caught])
    assert.is_nil(Script.contexts("another"))
  end)

  it("iterates over a table in the order of its keys: numbers, then strings", function()
    local keys = {}
    for key, value in Script.sorted_pairs({ b = 1, a = 2, [10] = 3, [2] = 4 }) do
      keys[#keys + 1] = tostring(key) .. "=" .. value
    end
    assert.equals("2=4 10=3 a=2 b=1", table.concat(keys, " "))
  end)

  it("iterates over ids by their digits, after numbers and strings", function()
    local mixed = { z = 1, [7] = 2 }
    for _, name in ipairs({ "root_point", "camera", "hand" }) do
      mixed[IdString64(name)], mixed[IdString32(name)] = 3, 4
    end
    local keys = {}
    for key, value in Script.sorted_pairs(mixed) do
      keys[#keys + 1] = value .. tostring(key)
    end
    assert.same({ "27", "1z" }, { keys[1], keys[2] })
    assert.equals(8, #keys)
    for i = 4, 8 do
      if i ~= 6 then
        assert.is_true(keys[i - 1] < keys[i])
      end
    end
    assert.equals("4#ID[5e43bd96]", keys[5])
    assert.matches("^3#ID", keys[6])
  end)

  it("iterates over the libraries", function()
    for key in Script.sorted_pairs(bit) do
      return assert.equals("arshift", key)
    end
    error("there is nothing in it")
  end)

  it("refuses to sort keys without an order", function()
    assert.equals("Script.sorted_pairs: keys must be strings, numbers or ids, got table",
      error_of(Script.sorted_pairs, { [{}] = 1 }))
    assert.equals("Script.sorted_pairs: keys must be strings, numbers or ids, got Vector3",
      error_of(Script.sorted_pairs, { [Vector3(1, 2, 3)] = 1 }))
    assert.matches("strings, numbers or ids, got boolean",
      error_of(Script.sorted_pairs, { [true] = 1 }))
    assert.equals("Script.sorted_pairs: argument #1 'table' must be table, got nil",
      error_of(Script.sorted_pairs))
  end)

  it("returns the memory used by Lua", function()
    local used, peak = Script.memory()
    assert.is_true(used > 10000 and peak >= used)
  end)

  it("counts from 1, and has no temporary values to count", function()
    assert.equals(1, Script.index_offset())
    assert.equals(0, Script.temp_count())
    assert.equals(0, Script.temp_byte_count())
    Script.set_temp_count(0)
    Script.set_temp_byte_count(0)
    for _, name in ipairs({ "index_offset", "temp_count", "temp_byte_count" }) do
      assert.equals("Script." .. name .. ": takes 0 arguments, got 1", error_of(Script[name], 1))
    end
    assert.equals("Script.set_temp_count: argument #1 'vectors' must be number, got nil",
      error_of(Script.set_temp_count))
    assert.equals("Script.set_temp_byte_count: argument #1 'bytes' must be number, got nil",
      error_of(Script.set_temp_byte_count))
  end)

  it("configures the collector within limits", function()
    Script.configure_garbage_collection(2, 64)
    Script.configure_garbage_collection(1)
    assert.equals("Script.configure_garbage_collection: argument #1 'milliseconds' must be a "
      .. "number from 0.05 to 1000, got number 0", error_of(Script.configure_garbage_collection, 0))
    assert.matches("argument #2 'ceiling_mib' must be a number from 0 to 65536",
      error_of(Script.configure_garbage_collection, 1, -1))
  end)

  it("warns in the log once for each location", function()
    for _ = 1, 3 do
      Script.warn("a line of script_test.lua's own, to be seen once")
    end
    assert.equals("Script.warn: argument #1 'text' must be string, got nil", error_of(Script.warn))
  end)
end)

describe("Script.context", function()
  it("returns the function's results", function()
    local function both(...)
      return select("#", ...), ...
    end
    local count, a, b = Script.context("When testing:", "it", both, 1, nil)
    assert.same({ 2, 1 }, { count, a })
    assert.is_nil(b)
  end)

  it("passes on errors and yields", function()
    assert.matches("boom$", error_of(Script.context, "When failing:", "here", error, "boom"))
    local thread = coroutine.wrap(function()
      return Script.context("When waiting:", "here", coroutine.yield, 1)
    end)
    assert.equals(1, thread())
    assert.equals(2, thread(2))
  end)

  it("refuses wrong arguments by name", function()
    assert.equals("Script.context: argument #1 'name' must be string, got nil",
      error_of(Script.context))
    assert.equals("Script.context: argument #3 'fn' must be function, got number 1",
      error_of(Script.context, "a", "b", 1))
  end)
end)
