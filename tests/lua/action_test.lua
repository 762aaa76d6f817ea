-- Suite of actions with fast or noisy input: several keys within a frame, jittering sticks and
-- triggers, keys in use, broken saved bindings. The basics are in input_test.lua.

local function play(...)
  test.input({ ... })
  test.frames()
end

-- Sets the player's bindings in the user settings.
local function bind_in_settings(name, value)
  Application.set_user_setting("input", "bindings", name, value)
end

after_each(function()
  Input.reset_bindings()
  Application.set_user_setting("input", nil)
  local events = { { focus = false }, { focus = true } }
  for i = 1, 8 do
    events[#events + 1] = { disconnect = "pad" .. i }
  end
  test.input(events)
  test.frames(2)
end)

describe("input within one frame", function()
  it("counts a key that is pressed and released together with its modifier", function()
    Input.set_actions({ save = "ctrl+s", all = "left ctrl+left shift+a" })
    play({ press = "left ctrl" }, { tap = "s" }, { release = "left ctrl" })
    assert.is_true(Input.pressed("save"))
    assert.is_true(Input.released("save"))
    assert.is_false(Input.down("save"))
    play({ press = "left ctrl" }, { press = "left shift" }, { tap = "a" },
      { release = "left shift" }, { release = "left ctrl" })
    assert.is_true(Input.pressed("all"))
    play({ press = "left ctrl" }, { tap = "a" }, { release = "left ctrl" })
    assert.is_false(Input.pressed("all"))
    assert.is_false(Input.pressed("save"))
  end)

  it("counts a tap of a direction as a press of its action", function()
    Input.set_actions({ steer = { negative = "q", positive = "e" },
      move = { left = "a", right = "d", up = "w", down = "s" } })
    play({ tap = "e" }, { tap = "w" })
    for _, action in ipairs({ "steer", "move" }) do
      assert.is_true(Input.pressed(action))
      assert.is_true(Input.released(action))
      assert.is_false(Input.down(action))
    end
    play({ press = "q" }, { press = "e" })
    assert.is_false(Input.pressed("steer"), "both are held, and nothing comes of it")
    assert.equals(0, Input.value("steer"))
  end)

  it("reports press, release and press in this order", function()
    play({ tap = "a" }, { press = "b" }, { press = "a" })
    local events = {}
    for i, event in ipairs(Input.events()) do
      events[i] = event.button .. (event.value > 0 and "+" or "-")
    end
    assert.same({ "a+", "a-", "b+", "a+" }, events)
    assert.is_true(Keyboard.pressed("a"))
    assert.is_true(Keyboard.released("a"))
    assert.equals(1, Keyboard.button("a"))
    assert.equals("a", (Input.any_pressed()))
  end)
end)

describe("jittering input", function()
  it("around a trigger's threshold is one press", function()
    Input.set_actions({ fire = "pad:right trigger", lean = "pad:left.x+" })
    Pad1.set_dead_zone("left", "raw")
    local fired, leaned = 0, 0
    for _, value in ipairs({ 0.4, 0.52, 0.48, 0.51, 0.47, 0.6, 0.44, 0.49 }) do
      play({ press = "pad1:right trigger", value = value }, { axis = "pad1:left", x = value })
      fired = fired + (Input.pressed("fire") and 1 or 0)
      leaned = leaned + (Input.pressed("lean") and 1 or 0)
    end
    assert.same({ 1, 1 }, { fired, leaned })
    assert.is_false(Input.down("fire"))
    Pad1.set_dead_zone("left", "circular", 0.2)
  end)

  it("at the end of a stick's range is one press for a menu", function()
    local events = {}
    for _, x in ipairs({ 0.75, 1, 0.65, 0.8, 0.3, -0.9 }) do
      play({ axis = "pad2:left", x = x })
      local pressed, device = Input.any_pressed()
      events[#events + 1] = pressed and pressed .. " " .. device or "-"
    end
    assert.same({ "pad:left.x+ pad2", "-", "-", "-", "-", "pad:left.x- pad2" }, events)
  end)
end)

describe("dead zones", function()
  it("of 0 and of nearly 1 keep the center at 0 and the edge at 1", function()
    for _, mode in ipairs({ "independent", "circular" }) do
      for _, size in ipairs({ 0, 0.999 }) do
        Pad1.set_dead_zone("left", mode, size)
        play({ axis = "pad1:left" })
        assert.equals(Vector3(0, 0, 0), Pad1.axis("left"))
        play({ axis = "pad1:left", x = 1 })
        assert.near(1, Pad1.axis("left").x, 1e-4)
        play({ axis = "pad1:left", x = -9, y = 9 })
        assert.is_true(Vector3.length(Pad1.axis("left")) < 1.5)
      end
    end
    for _, size in ipairs({ 1, 2, -0.1, 0 / 0, math.huge }) do
      assert.error_matches(function() Pad1.set_dead_zone("left", "circular", size) end,
        "argument #3 'size'")
    end
    Pad1.set_dead_zone("left", "circular", 0.2)
  end)
end)

describe("an action that is set while its key is held", function()
  it("is down, and was not pressed", function()
    play({ press = "space" })
    test.frames(3)
    Input.set_actions({ jump = "space" })
    assert.is_true(Input.down("jump"))
    assert.is_false(Input.pressed("jump"))
    play({ release = "space" })
    assert.is_true(Input.released("jump"))
  end)

  it("reports a press of the frame in which it is set, even if it is set again", function()
    play({ press = "space" })
    Input.set_actions({ jump = "space" })
    assert.is_true(Input.pressed("jump"))
    Input.set_actions({ jump = { "space", "a" } })
    assert.is_true(Input.pressed("jump"))
    test.frames()
    assert.is_false(Input.pressed("jump"))
    assert.is_true(Input.down("jump"))
  end)

  it("by the player is not pressed by the key that was just bound", function()
    Input.set_actions({ jump = "space" })
    play({ press = "f" })
    Input.rebind("jump", { (Input.any_pressed()) })
    assert.is_false(Input.pressed("jump"))
    test.frames()
    assert.is_false(Input.pressed("jump"))
    play({ release = "f" })
    play({ press = "f" })
    assert.is_true(Input.pressed("jump"))
  end)
end)

describe("a binding that is in use", function()
  it("is found by any of its names", function()
    Input.set_actions({
      start = "return", jump = "pad:cross", second = "pad2:a", run = "shift", dash = "left_shift",
      save = "control+s", walk = { stick = "pad:left" }, steer = { axis = "pad:left.x" },
      lean = "pad:left.x+", up = "page up", go = "up",
    })
    local function taken(binding, ...)
      assert.same({ ... }, Input.actions_of(binding), binding)
    end
    taken("enter", "start")
    taken("pad:a", "jump", "second")
    taken("pad1:a", "jump")
    taken("pad2:south", "jump", "second")
    taken("left shift", "dash", "run")
    taken("right shift", "run")
    taken("left ctrl+s", "save")
    taken("s")
    taken("pad:left.x+", "lean", "steer", "walk")
    taken("pad:left.x-", "steer", "walk")
    taken("pad3:left.y+", "walk")
    taken("pad:left", "lean", "steer", "walk")
    taken("pad:right.x+")
    taken("up", "go")
    taken("mouse:left")
    assert.error_matches(function() Input.actions_of("spce") end,
      "Input.actions_of: binding 'spce': there is no key 'spce', did you mean 'space'?")
    assert.equals("Left stick", Input.label("pad:left"))
  end)

  it("can be bound again, even twice to one action", function()
    Input.set_actions({ jump = "space", fire = "f" })
    Input.rebind("fire", { "space", "space" })
    assert.same({ "fire", "jump" }, Input.actions_of("space"))
    play({ press = "space" })
    assert.is_true(Input.pressed("jump"))
    assert.is_true(Input.pressed("fire"))
    Input.rebind("jump", {})
    assert.same({}, Input.bindings("jump"))
    test.frames()
    assert.is_false(Input.down("jump"))
  end)
end)

describe("invalid saved bindings", function()
  -- tests/save.rs checks that each of them is reported.
  it("are replaced by the game's bindings", function()
    for _, saved in ipairs({ 5, "space", { bindings = 5 }, { bindings = { "spce" } },
      { bindings = { "pad9:a" } }, { bindings = { a = "b" } }, { left = { "a" } } }) do
      bind_in_settings("jump", saved)
      Input.set_actions({ jump = "space" })
      assert.same({ "space" }, Input.bindings("jump"))
    end
    Application.set_user_setting("input", "broken")
    Input.set_actions({ jump = "space" })
    assert.same({ "space" }, Input.bindings("jump"))
    Input.rebind("jump", "f")
    assert.same({ "f" }, Input.bindings("jump"))
  end)
end)

describe("cyclic tables", function()
  it("are refused as bindings", function()
    local cycle = {}
    cycle[1], cycle.left = cycle, cycle
    assert.has_error(function() Input.set_actions({ jump = cycle }) end)
    cycle[1] = nil
    assert.error_matches(function() Input.set_actions({ jump = cycle }) end,
      "a list without holes")
    local all = {}
    all.all = all
    assert.has_error(function() Input.set_actions(all) end)
    assert.has_error(function() Input.rebind("jump", all) end)
  end)
end)

describe("a pad", function()
  it("that disconnects and is used within one frame is connected again", function()
    play({ press = "pad3:a" })
    play({ disconnect = "pad3" }, { press = "pad3:b" }, { disconnect = "pad3" })
    assert.is_false(Pad3.active())
    assert.is_true(Pad3.released("a"))
    assert.same({ 0, 0 }, { Pad3.button("a"), Pad3.button("b") })
    play({ press = "pad3:b" }, { disconnect = "pad3" }, { axis = "pad3:left", x = 1 })
    assert.is_true(Pad3.active())
    assert.equals(1, Pad3.axis("left").x)
  end)
end)

describe("names of other libraries", function()
  it("are accepted, or the message names ours", function()
    for theirs, ours in pairs({ spacebar = "space", ["return"] = "enter", esc = "escape",
      lshift = "left shift", control = "ctrl", lctrl = "left ctrl", cmd = "super" }) do
      assert.equals(Keyboard.button_index(ours), Keyboard.button_index(theirs))
    end
    for theirs, ours in pairs({ KeyW = "w", ArrowUp = "up", LeftShift = "left shift",
      SDLK_ESCAPE = "escape", lcontrol = "left ctrl", ["keypad 5"] = "numpad 5" }) do
      assert.error_matches(function() Keyboard.pressed(theirs) end,
        "there is no key '" .. theirs .. "', did you mean '" .. ours .. "'?")
    end
    assert.error_matches(function() Pad1.pressed("up") end, "did you mean 'd up'?")
    assert.error_matches(function() Input.set_actions({ a = "KeyW" }) end, "did you mean 'w'?")
    assert.error_matches(function() test.input({ press = "KeyW" }) end, "did you mean 'w'?")
    local function wrong(binding, pattern)
      assert.error_matches(function() Input.set_actions({ a = binding }) end, pattern)
    end
    wrong("Ctrl+S", "binding 'Ctrl%+S': there is no key 'Ctrl', did you mean 'ctrl'?")
    wrong("ctrl+S", "there is no key 'S', did you mean 's'?")
    wrong("ctrl+", "there is no key 'ctrl%+'")
    wrong("", "there is no key ''$")
    wrong("+", "there is no key '%+', did you mean 'equals'?")
    wrong("pad:", "there is no button ''$")
    wrong(("x"):rep(1e6), "there is no key 'xxx")
  end)
end)

describe("twenty fingers", function()
  it("are limited to sixteen, and are not confused", function()
    local events = {}
    for finger = 1, 20 do
      events[finger] = { touch = finger, phase = "began", x = finger * 50, y = 10 }
    end
    play(unpack(events))
    assert.equals(16, TouchPanel.num_contacts())
    assert.equals(800, TouchPanel.location(16).x)
    for finger = 1, 20 do
      events[finger] = { touch = finger, phase = "moved", x = finger * 50, y = 11 }
    end
    play(unpack(events))
    assert.equals(Vector3(0, 1, 0), TouchPanel.location_delta(16))
    for finger = 1, 20 do
      events[finger] = { touch = finger, phase = "ended", x = finger * 50, y = 11 }
    end
    play(unpack(events))
    assert.equals(0, TouchPanel.num_contacts())
    test.frames()
    assert.same({}, TouchPanel.contacts())
  end)
end)
