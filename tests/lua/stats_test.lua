-- Suite of `Stats`: counters, their histories, alarms; and the console commands that draw them.
describe("Stats", function()
  it("sums a counter during a frame and resets it to zero", function()
    local counter = Stats.counter("tests/sum")
    counter.value = counter.value + 2
    counter.value = counter.value + 0.5
    assert.equals(2.5, counter.value)
    test.frames(1)
    assert.equals(0, counter.value)
    assert.equals(2.5, Stats.value("tests/sum"))
    test.frames(1)
    assert.equals(0, Stats.value("tests/sum"))
  end)

  it("returns the same counter for the same name", function()
    Stats.counter("tests/same").value = 7
    assert.equals(7, Stats.counter("tests/same").value)
    assert.equals("tests/same", Stats.counter("tests/same").name)
    assert.equals("counter tests/same", tostring(Stats.counter("tests/same")))
    local _, message = pcall(Vector3.length, Stats.counter("tests/same"))
    assert.matches("must be Vector3, got Counter$", message)
    _, message = pcall(World.update, Stats.counter, 1)
    assert.matches("got function %(should it be called: are its %(%) missing%?%)$", message)
  end)

  it("records the values of watched counters", function()
    local counter = Stats.counter("tests/watched")
    Stats.watch("tests/watched")
    for i = 1, 4 do
      counter.value = i * 10
      test.frames(1)
    end
    test.frames(1)
    assert.same({ 10, 20, 30, 40, 0 }, Stats.history("tests/watched"))
    assert.same({ 40, 0 }, Stats.history("tests/watched", 2))
    Stats.unwatch("tests/watched")
    assert.error_matches(function()
      Stats.history("tests/watched")
    end, "'tests/watched' has no history: call Stats.watch")
  end)

  it("has counters of the engine", function()
    local world = Application.new_world()
    test.frames(1)
    assert.is_true(Stats.value("worlds/worlds") >= 1)
    assert.is_true(Stats.value("scripts/held_bytes") > 100000)
    assert.is_true(Stats.value("scopes/frame") > 0)
    assert.is_true(Stats.value("scopes/frame/update") > 0)
    Application.release_world(world)
  end)

  it("lists names", function()
    Stats.counter("tests/list/b")
    Stats.counter("tests/list/a")
    assert.same({ "tests/list/a", "tests/list/b" }, Stats.names("tests/list/"))
    assert.is_true(#Stats.names() > 10)
    assert.has_error(function()
      Stats.names(3)
    end)
  end)

  it("triggers an alarm once for each rise", function()
    local alarms = {}
    local counter = Stats.counter("tests/alarm")
    Stats.alarm("tests/alarm", 10, function(value, limit, name)
      alarms[#alarms + 1] = { value, limit, name }
    end)
    for _, value in ipairs({ 10, 11, 12, 0, 13 }) do
      counter.value = value
      test.frames(1)
    end
    test.frames(1)
    assert.same({ { 11, 10, "tests/alarm" }, { 13, 10, "tests/alarm" } }, alarms)
    assert.is_true(Stats.remove_alarm("tests/alarm"))
    assert.is_false(Stats.remove_alarm("tests/alarm"))
  end)

  it("lists the fields of a counter", function()
    local counter = Stats.counter("tests/fields")
    assert.error_matches(function()
      counter.vlaue = 1
    end, "a counter has no field string \"vlaue\" that can be set: it has 'value'")
    assert.error_matches(function()
      return counter.count
    end, "a counter has no field string \"count\": it has 'value' and 'name'")
    assert.error_matches(function()
      counter.value = "many"
    end, "cannot convert 'string' to 'double'")
  end)

  it("cannot access memory next to a counter", function()
    local counter = Stats.counter("tests/alone")
    assert.has_error(function()
      return counter[1]
    end)
    assert.has_error(function()
      counter[0] = 1
    end)
    assert.has_error(function()
      return counter + 1
    end)
    assert.is_false(counter == nil)
  end)

  it("reports invalid arguments", function()
    local function check(message, fn, ...)
      local arguments = { ... }
      assert.error_matches(function()
        fn(unpack(arguments))
      end, message)
    end
    check("Stats.counter: argument #1 'name' must be string, got nil", Stats.counter)
    check("Stats.counter: 'a//b' cannot name a counter: a part between its slashes is empty",
      Stats.counter, "a//b")
    check("Stats.value: there is no counter 'tests/nevre'", Stats.value, "tests/nevre")
    check("Stats.watch: '' cannot name a counter: it is empty", Stats.watch, "")
    check("Stats.unwatch: 'tests/sum' is not watched: call Stats.watch first", Stats.unwatch,
      "tests/sum")
    check("argument #2 'frames' must be zero or more, got %-1", Stats.history, "tests/sum", -1)
    check("Stats.alarm: argument #1 'name' must be string", Stats.alarm)
    check("Stats.alarm: argument #2 'limit' must be number", Stats.alarm, "tests/sum", "x")
    check("Stats.alarm: argument #3 'reaction' must be function, string or nil", Stats.alarm,
      "tests/sum", 1, 2)
    check("Stats.remove_alarm: argument #1 'name' must be string", Stats.remove_alarm, 4)
  end)
end)

describe("The console's commands", function()
  local run = Application.console_command

  local function refused(message, ...)
    local arguments = { ... }
    assert.error_matches(function()
      run(unpack(arguments))
    end, message)
  end

  it("draw graphs of counters", function()
    run("graph", "make", "load")
    run("graph", "add", "load", "tests/graphed", "orange")
    run("graph", "add_vector3", "load", "tests/vector")
    run("graph", "range", "load", 0, 10)
    run("graph", "color", "load", "tests/graphed", "green")
    run("graph", "make", "other")
    run("graph", "add", "other", "scopes/frame")
    run("graph", "table", "scripts/")
    for i = 1, 3 do
      Stats.counter("tests/graphed").value = i
      test.frames(1)
    end
    assert.same({ 1, 2, 3 }, Stats.history("tests/graphed"))
    assert.is_true(test.draw_calls() > 0)
    run("graph", "range", "load")
    run("graph", "hide", "load")
    run("graph", "show", "load")
    run("graph", "remove", "load", "tests/graphed")
    for _, name in ipairs({ "load", "other", "scripts/" }) do
      run("graph", "remove", name)
    end
    assert.has_error(function()
      Stats.history("tests/graphed")
    end)
  end)

  it("report invalid graph commands", function()
    run("graph", "make", "one")
    refused("graph: which of add, add_vector3, color", "graph", "mkae", "one")
    refused("graph: the graph 'one' already exists", "graph", "make", "one")
    refused("graph: a graph's name is missing", "graph", "make")
    refused("graph: there is no graph 'two' %(there are: one%)", "graph", "add", "two", "a")
    refused("graph: a counter's name is missing", "graph", "add", "one")
    refused("graph: there is no colour 'pink'", "graph", "add", "one", "a", "pink")
    refused("graph: there is no colour '#ff'", "graph", "add", "one", "a", "#ff")
    refused("graph: there is no colour 'ff8000'", "graph", "add", "one", "a", "ff8000")
    run("graph", "add", "one", "hex", "#ff8000")
    refused("graph: two numbers are needed, the smaller first", "graph", "range", "one", 5, 1)
    refused("graph: the graph has no counter 'b'", "graph", "remove", "one", "b")
    refused("graph: the graph has no counter 'b'", "graph", "color", "one", "b", "red")
    run("graph", "remove", "one")
  end)

  it("show counters of the engine as tables", function()
    local parts = { "allocations", "animation", "artist", "backend", "culling", "frame", "gui",
      "io", "lua", "memory", "navigation", "network", "physics", "scopes", "sound",
      "texture_streaming", "tools", "worlds", "wwise", "extended_memory" }
    for _, part in ipairs(parts) do
      run("perfhud", part)
      test.frames(1)
      assert.is_true(test.draw_calls() > 0)
      run("perfhud", part)
    end
    test.frames(1)
    local before = test.draw_calls()
    run("perfhud", "lua")
    test.frames(1)
    assert.is_true(test.draw_calls() > before)
    run("perfhud", "lua")
    refused("perfhud: which of allocations, animation, artist", "perfhud", "everything")
    refused("Did you mean 'navigation'?", "perfhud", "navigatoin")
    refused("perfhud: nothing is counted under network/ping: the engine has no networking, "
      .. "and shows what a game counts there itself", "perfhud", "network_ping")
    Stats.counter("network/ping_milliseconds")
    run("perfhud", "network_ping")
    run("perfhud", "network_ping")
  end)

  it("write the profiler's table and the list of commands", function()
    run("profiler")
    run("profiler", "reset")
    run("help")
    run("help", "graph")
    run("renderer", "settings")
    refused("renderer: 'settings' is the only choice", "renderer", "setings")
    run("profiler", "scripts")
    run("profiler", "scripts")
    refused("profiler: 'rest' is not known", "profiler", "rest")
    refused("there is no command 'grpah', did you mean 'graph'?", "grpah")
    refused("argument #1 'command' must be string", 5)
  end)

  it("reload resources, and list the types", function()
    run("refresh")
    local world = Application.new_world()
    World.spawn_unit(world, "units/barrel")
    run("reload", "unit")
    test.frames(1)
    World.spawn_unit(world, "units/barrel")
    refused("reload: a kind is missing", "reload")
    refused("reload: the game has no resource of the kind 'uint', did you mean 'unit'", "reload",
      "uint")
    run("memory_resources")
    run("memory_resources", "unit")
    Application.release_world(world)
    refused("memory_resources: no resource of the kind 'nothing' is kept", "memory_resources",
      "nothing")
  end)

  it("show the shapes of actors", function()
    run("physics")
    test.frames(1)
    run("physics")
  end)

  it("send messages to tools", function()
    local send = Application.console_send
    send({ type = "spawned", count = 3, list = { 1, 2 } })
    local function wrong(message, expected)
      assert.error_matches(function()
        send(message)
      end, expected)
    end
    wrong("spawned", "Application.console_send: argument #1 'message' must be table")
    wrong({ count = 3 }, "argument #1 'message' needs a text 'type', which says what it is")
    wrong({ type = "spawned", id = 3 }, "has a field 'id', by which tools know the answers")
    wrong({ type = "long", text = ("x"):rep(1048576) },
      "has %d+ bytes as JSON, and 1048576 are the most: send it in parts")
    wrong({ type = "function", fn = print }, "Json.encode")
  end)
end)
