-- Suite of Save: restored values, refused values with their messages, requests. Files, damage and
-- killed processes are tested from outside (tests/save.rs).

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%./]+:%d+: ", ""))
end

-- Returns a value after it was written and read.
local function saved(value)
  assert.is_true(Save.write("trip", value))
  local read, problem, recovered = Save.read("trip")
  assert.is_nil(problem)
  assert.is_nil(recovered)
  return read
end

describe("Save", function()
  it("restores booleans and strings of any bytes", function()
    assert.is_true(saved(true))
    assert.is_false(saved(false))
    local bytes = {}
    for i = 0, 255 do
      bytes[i + 1] = string.char(i)
    end
    local all = table.concat(bytes)
    assert.equals(all, saved(all))
    assert.equals("", saved(""))
  end)

  it("restores numbers exactly", function()
    local numbers = { 0, 1, -1, 0.1, 2 ^ 31, -2 ^ 31, 2 ^ 31 - 1, 2 ^ 53, 1e308, 5e-324, 1 / 3,
      math.huge, -math.huge, 2 ^ 40, 1.7e12 }
    assert.same(numbers, saved(numbers))
    assert.equals(-math.huge, 1 / saved(-0.0))
    assert.equals(math.huge, 1 / saved(0))
    local nan = saved(0 / 0)
    assert.is_true(nan ~= nan)
  end)

  it("restores tables of every shape", function()
    local value = {
      list = { 10, 20, { 30 } },
      mixed = { 1, 2, name = "x", [true] = "yes", [false] = "no", [-1] = "minus", [2.5] = "half" },
      holes = { 1, nil, 3, nil, nil, 6 },
      sparse = { [1000000] = true },
      empty = {},
      ["two words\0"] = { [""] = {} },
    }
    assert.same(value, saved(value))
    assert.equals(6, saved(value).holes[6])
  end)

  it("restores value types, also in boxes", function()
    local value = {
      Vector2(1, 2), Vector3(0.1, -2, 3), Vector4(1, 2, 3, 4), Color(10, 20, 30, 40),
      Quaternion(Vector3.up(), 1), Matrix4x4.from_translation(Vector3(1, 2, 3)),
      IdString32("root_point"), IdString64("units/barrel"),
      deep = { at = { Vector3(7, 8, 9), "after" } },
    }
    local read = saved(value)
    for i = 1, 8 do
      assert.is_true(value[i] == read[i], i)
    end
    assert.is_true(rawequal(value[8], read[8]), "there is one IdString64 for each name")
    assert.equals(Vector3(7, 8, 9), read.deep.at[1])
    assert.equals("after", read.deep.at[2])
    assert.equals(Vector3(1, 2, 3), saved(Vector3(1, 2, 3)))
    local boxes = saved({ Vector2Box(1, 2), Vector3Box(1, 2, 3), Vector4Box(Vector4(1, 2, 3, 4)),
      QuaternionBox(Quaternion(Vector3.up(), 1)), Matrix4x4Box(Matrix4x4()) })
    assert.equals(Vector2(1, 2), boxes[1]:unbox())
    assert.equals(Vector3(1, 2, 3), boxes[2]:unbox())
    assert.equals(Vector4(1, 2, 3, 4), boxes[3]:unbox())
    assert.is_true(Quaternion(Vector3.up(), 1) == boxes[4]:unbox())
    assert.is_true(Matrix4x4() == boxes[5]:unbox())
  end)

  it("writes a table that is reached twice as two tables", function()
    local shared = { 1 }
    local read = saved({ shared, shared })
    assert.same({ { 1 }, { 1 } }, read)
    assert.is_false(rawequal(read[1], read[2]))
  end)

  it("does not share tables with the game", function()
    local game = { level = 1 }
    Save.write("apart", game)
    game.level = 2
    local read = Save.read("apart")
    read.level = 3
    assert.equals(1, Save.read("apart").level)
  end)

  local is_data = "must be data (booleans, numbers, strings, tables, vectors), got "

  it("refuses values that are not data, and reports the path", function()
    local function check(value, fault)
      assert.equals("Save.write: argument #2 'value': " .. fault, error_of(Save.write, "no", value))
    end
    check(nil, "must not be nil: Save.delete removes a save")
    check(print, is_data .. "function")
    check({ party = { {}, { friend = print } } }, "party[2].friend " .. is_data .. "function")
    check({ ["a b"] = { [true] = coroutine.create(print) } },
      "[\"a b\"][true] " .. is_data .. "thread")
    check({ rows = Float32Array(3) }, "rows " .. is_data .. "Float32Array")
    check({ 5LL }, "[1] " .. is_data .. "a number of 64 bits (5LL, 5ULL)")
    check({ a = { [{}] = 1 } }, "a has a key that is not a string, number or boolean: table")
    check({ [Vector3()] = 1 }, "has a key that is not a string, number or boolean: Vector3")
    assert.is_false(Save.exists("no"))
  end)

  it("refuses objects, because their class would be lost", function()
    local Enemy = class()
    assert.equals("Save.write: argument #2 'value': enemies[1] has a metatable, so it is an object "
      .. "and not data: keep its fields in a plain table, and make the object again from them",
      error_of(Save.write, "no", { enemies = { Enemy.new() } }))
  end)

  it("refuses cyclic tables", function()
    local value = { party = { {} } }
    value.party[1].friend = value.party
    assert.equals("Save.write: argument #2 'value': party[1].friend leads back to party",
      error_of(Save.write, "no", value))
    value.party[1].friend = value
    assert.equals("Save.write: argument #2 'value': party[1].friend leads back to the table itself",
      error_of(Save.write, "no", value))
  end)

  it("refuses live handles as values and as keys", function()
    local world = Application.new_world()
    local why = "is the handle of a World that exists, and not data: keep what is needed to make "
      .. "it again (a number that only looks like it can be kept as a string)"
    assert.equals("Save.write: argument #2 'value': worlds[1] " .. why,
      error_of(Save.write, "no", { worlds = { world } }))
    assert.equals("Save.write: argument #2 'value': has a key that " .. why,
      error_of(Save.write, "no", { [world] = true }))
    Application.release_world(world)
    assert.is_true(Save.write("number", world))
  end)

  it("limits depth and size", function()
    local deep = {}
    for _ = 2, 128 do
      deep = { deep }
    end
    assert.same(deep, saved(deep))
    assert.matches("^Save.write: argument #2 'value': %[1%].* … %[1%]%[1%] is more than 128 tables "
      .. "deep inside$", error_of(Save.write, "no", { deep }))
    local wide = {}
    for _ = 1, 60 do
      wide = { wide, wide }
    end
    assert.matches("is too much: all data together may take 64 MiB$",
      error_of(Save.write, "no", wide))
  end)

  it("refuses names that are invalid on some platform", function()
    for _, name in ipairs({ "write", "read", "exists", "delete", "write_async", "read_async" }) do
      local value = name:find("write") and 1 or nil
      assert.equals("Save." .. name .. ": argument #1 'slot': must be made of letters (a to z), "
        .. "digits, spaces, _ - and . only, \"../x\" has '/'", error_of(Save[name], "../x", value))
      assert.equals("Save." .. name .. ": argument #1 'slot' must be string, got number 5",
        error_of(Save[name], 5, value))
    end
    assert.matches("must not be empty$", error_of(Save.read, ""))
    assert.matches("Windows keeps that name for a device$", error_of(Save.read, "nul"))
    assert.matches("must have at most 64 letters, got 65$", error_of(Save.read, ("x"):rep(65)))
  end)

  it("refuses unknown options", function()
    assert.equals("Save.write: argument #3 'options': has the unknown option 'never', did you mean "
      .. "'newer'?", error_of(Save.write, "a", 1, { never = true }))
    assert.equals("Save.read: argument #2 'options': option 'newer' must be a boolean",
      error_of(Save.read, "a", { newer = 1 }))
    assert.equals("Save.read: argument #2 'options' must be table or nil, got boolean true",
      error_of(Save.read, "a", true))
  end)

  it("returns nil for a missing save", function()
    local value, problem = Save.read("none")
    assert.is_nil(value)
    assert.equals("there is no save \"none\"", problem)
    local deleted, why = Save.delete("none")
    assert.is_nil(deleted)
    assert.equals("there is no save \"none\"", why)
  end)

  it("lists, finds and deletes saves", function()
    for _, save in ipairs(Save.list()) do
      Save.delete(save.slot)
    end
    assert.same({}, Save.list())
    Save.write("slot 2", { 1 })
    Save.write("Auto", { 1 }, { newer = true })
    local list = Save.list()
    assert.equals(2, #list)
    assert.equals("Auto", list[1].slot)
    assert.equals("slot 2", list[2].slot)
    assert.equals(Application.settings().version, list[1].version)
    assert.equals(os.time(), list[1].time)
    assert.is_true(list[1].size > 0)
    assert.is_nil(list[1].problem)
    assert.is_true(Save.exists("Auto"))
    assert.is_false(Save.exists("auto"))
    assert.is_true(Save.delete("Auto"))
    assert.is_false(Save.exists("Auto"))
  end)
end)

describe("Save's requests", function()
  it("are busy in the frame that began them, and done in the next", function()
    local value = { text = ("x"):rep(1000000) }
    local writing = Save.write_async("later", value)
    local reading = Save.read_async("later", { newer = true })
    value.text = "changed after the call"
    assert.equals("busy", Save.status(writing))
    assert.equals(0, Save.progress(reading))
    test.frames(1)
    assert.equals("done", Save.status(writing))
    assert.equals(1, Save.progress(reading))
    assert.is_true(Save.result(writing))
    assert.equals(1000000, #Save.result(reading).text)
  end)

  it("fail with a message", function()
    local reading = Save.read_async("never written")
    test.frames(1)
    assert.equals("failed", Save.status(reading))
    assert.equals(1, Save.progress(reading))
    local value, problem = Save.result(reading)
    assert.is_nil(value)
    assert.equals("there is no save \"never written\"", problem)
  end)

  it("complete before later immediate operations", function()
    Save.write_async("order", 1)
    assert.equals(1, Save.read("order"))
    Save.write_async("order", 2)
    Save.write("order", 3)
    assert.equals(3, Save.read("order"))
  end)

  it("return their result once, and not before they are done", function()
    local writing = Save.write_async("once", 1)
    assert.equals("Save.result: argument #1 'request': request " .. writing
      .. " is still busy: call Save.status first", error_of(Save.result, writing))
    test.frames(1)
    Save.result(writing)
    for _, name in ipairs({ "result", "status", "progress" }) do
      assert.equals("Save." .. name .. ": argument #1 'request': there is no request " .. writing
        .. ": its result was already read, or it never existed",
        error_of(Save[name], writing))
    end
    assert.matches("there is no request %-1:", error_of(Save.status, -1))
    assert.equals("Save.status: argument #1 'request' must be integer, got nil",
      error_of(Save.status, nil))
  end)

  it("are dropped one by one if their results are not read", function()
    local first = Save.write_async("many", 0)
    for i = 1, 256 do
      Save.write_async("many", i)
    end
    assert.matches("there is no request " .. first, error_of(Save.status, first))
    assert.equals(256, Save.read("many"))
  end)

  it("refuse values that are not data immediately", function()
    assert.matches("^Save.write_async: argument #2 'value': a must be data",
      error_of(Save.write_async, "a", { a = print }))
    assert.matches("^Save.write_async: argument #3 'options': has the unknown option",
      error_of(Save.write_async, "a", 1, { fast = true }))
    assert.matches("^Save.read_async: argument #2 'options' must be table",
      error_of(Save.read_async, "a", 1))
    assert.equals("Save.list: takes 0 arguments, got 1", error_of(Save.list, 1))
  end)
end)
