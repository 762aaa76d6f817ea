-- Suite of devices, events and actions, driven by test.input. The window is in window_test.lua.

local devices = {
  Keyboard = Keyboard, Mouse = Mouse, TouchPanel = TouchPanel, Pad1 = Pad1, Pad2 = Pad2,
  Pad3 = Pad3, Pad4 = Pad4, Pad5 = Pad5, Pad6 = Pad6, Pad7 = Pad7, Pad8 = Pad8,
}

local function play(...)
  test.input({ ... })
  test.frames()
end

-- Releases all buttons and unplugs all pads.
local function rest()
  local events = { { focus = false }, { focus = true }, { compose = "" } }
  for i = 1, 8 do
    events[#events + 1] = { disconnect = "pad" .. i }
  end
  test.input(events)
  test.frames(2)
end

after_each(rest)

describe("every device", function()
  for name, device in Script.sorted_pairs(devices) do
    it("answers what " .. name .. " is", function()
      assert.is_true(#device.type() > 0)
      assert.equals(device.type(), device.category())
      assert.is_string(device.name())
      assert.is_boolean(device.active())
      assert.is_false(device.connected())
      assert.is_false(device.disconnected())
      assert.is_false(device.used())
      assert.is_true(device.num_buttons() > 0)
      assert.is_nil(device.any_pressed())
      assert.is_nil(device.any_released())
      assert.is_false(device.held(1))
    end)

    it("knows the buttons of " .. name .. " by index and by name", function()
      for index = 1, device.num_buttons() do
        local button = device.button_name(index)
        assert.equals(index, device.button_index(button))
        assert.equals(index, device.button_id(button))
        assert.equals(0, device.button(index))
        assert.equals(0, device.button(button))
        assert.is_false(device.pressed(index))
        assert.is_false(device.released(button))
        assert.is_string(device.button_locale_name(index))
      end
      assert.is_nil(device.button_index("no such thing"))
    end)

    it("has the axes of " .. name, function()
      for index = 1, device.num_axes() do
        local axis = device.axis_name(index)
        assert.equals(index, device.axis_index(axis))
        assert.equals(index, device.axis_id(axis))
        assert.is_number(device.axis(axis).x)
        local mode, size = device.dead_zone(axis)
        device.set_dead_zone(axis, "independent", 0.25)
        assert.same({ "independent", 0.25 }, { device.dead_zone(index) })
        device.set_dead_zone(index, mode, size)
      end
      assert.is_nil(device.axis_index("no such thing"))
    end)

    it("reports invalid buttons and axes of " .. name, function()
      local kind = name == "Keyboard" and "key" or "button"
      for _, call in ipairs({ "button", "pressed", "released", "button_name",
        "button_locale_name" }) do
        assert.error_matches(function() device[call]("nosuch") end,
          name .. "%." .. call .. ": argument #1 'button': there is no " .. kind .. " 'nosuch'")
        assert.error_matches(function() device[call](0) end,
          "must be 1 to " .. device.num_buttons() .. ", got 0")
        assert.error_matches(function() device[call]() end, "must be integer|string, got n")
      end
      for _, call in ipairs({ "axis", "axis_name", "dead_zone" }) do
        assert.error_matches(function() device[call]("nosuch") end, "there is no axis 'nosuch'")
        assert.has_error(function() device[call](99) end)
      end
      -- The fast variants receive a number that is out of range, too.
      pcall(device.axis, 1)
      for _, call in ipairs({ "button_index", "button_id", "axis_index", "axis_id" }) do
        assert.error_matches(function() device[call](1) end, "must be string, got number 1")
      end
      assert.has_error(function() device.set_dead_zone("nosuch", "raw", 0) end)
    end)
  end

  it("suggests a similar name", function()
    assert.error_matches(function() Keyboard.pressed("spce") end, "did you mean 'space'?")
    assert.error_matches(function() Pad1.set_dead_zone("left", "circulr", 0.1) end,
      "did you mean 'circular'?")
    assert.error_matches(function() Pad1.set_dead_zone("left", "raw", 1) end,
      "'size' must be from 0 to below 1, got 1")
  end)
end)

describe("a key", function()
  it("is pressed in one frame, down in all, released in one", function()
    play({ press = "space" })
    assert.is_true(Keyboard.pressed("space"))
    assert.equals(1, Keyboard.button("space"))
    assert.is_true(Keyboard.held("space"))
    assert.is_true(Keyboard.used())
    assert.equals(Keyboard.button_index("space"), Keyboard.any_pressed())
    test.frames()
    assert.is_false(Keyboard.pressed("space"))
    assert.equals(1, Keyboard.button("space"))
    assert.is_true(Keyboard.held("space"))
    play({ release = "space" })
    assert.is_true(Keyboard.released("space"))
    assert.equals(0, Keyboard.button("space"))
    assert.is_false(Keyboard.held("space"))
    assert.equals(Keyboard.button_index("space"), Keyboard.any_released())
  end)

  it("that is tapped within a frame is pressed and released", function()
    play({ tap = "f5" })
    assert.is_true(Keyboard.pressed("f5"))
    assert.is_true(Keyboard.released("f5"))
    assert.equals(0, Keyboard.button("f5"))
  end)

  it("has other names", function()
    play({ press = "lshift" })
    for _, name in ipairs({ "left shift", "left_shift", "lshift", "shift" }) do
      assert.is_true(Keyboard.pressed(name))
    end
    assert.is_false(Keyboard.pressed("right shift"))
  end)

  it("is released when the window loses focus, like a pad's button", function()
    play({ press = "pad2:a" }, { axis = "pad2:left", x = 1 })
    assert.equals(1, Pad2.button("a"))
    play({ focus = false })
    assert.is_true(Pad2.released("a"))
    assert.equals(0, Pad2.axis("left").x)
    play({ focus = true }, { disconnect = "pad2" })
    play({ press = "w" })
    play({ focus = false })
    assert.is_true(Keyboard.released("w"))
    assert.equals(0, Keyboard.button("w"))
  end)
end)

describe("typing", function()
  it("returns characters and editing keys in order", function()
    play({ text = "aß" }, { tap = "backspace" }, { press = "left", repeated = true },
      { text = "!" })
    assert.same({ "a", "ß", "backspace", "left", "!" }, Keyboard.keystrokes())
    Window.set_keystroke_enabled(false)
    play({ text = "x" })
    assert.same({}, Keyboard.keystrokes())
    Window.set_keystroke_enabled(true)
  end)

  it("returns the text that is being composed", function()
    play({ compose = "か" })
    assert.equals("か", (Keyboard.composition()))
    play({ compose = "" }, { text = "蚊" })
    assert.equals("", (Keyboard.composition()))
    assert.same({ "蚊" }, Keyboard.keystrokes())
  end)
end)

describe("the mouse", function()
  it("sums its motion and its wheel over a frame", function()
    play({ axis = "mouse:cursor", x = 10, y = 20 }, { motion = "mouse:mouse", x = 1, y = 2 },
      { motion = "mouse:mouse", x = 3, y = -4 }, { motion = "mouse:wheel", y = 1 })
    assert.equals(Vector3(10, 20, 0), Mouse.axis("cursor"))
    assert.equals(Vector3(4, -2, 0), Mouse.axis("mouse"))
    assert.equals(1, Mouse.axis("wheel").y)
    test.frames()
    assert.equals(Vector3(10, 20, 0), Mouse.axis("cursor"))
    assert.equals(Vector3(0, 0, 0), Mouse.axis("mouse"))
  end)
end)

describe("a pad", function()
  it("connects and disconnects, and releases its buttons", function()
    play({ connect = "pad2", name = "Two" }, { press = "pad2:a" })
    assert.is_true(Pad2.active())
    assert.is_true(Pad2.connected())
    assert.equals("Two", Pad2.name())
    assert.equals("pad2", Input.last_device())
    assert.same({ 2 }, Input.pads())
    assert.equals(Pad2, Input.pad(2))
    play({ disconnect = "pad2" })
    assert.is_true(Pad2.disconnected())
    assert.is_true(Pad2.released("a"))
    assert.is_false(Pad2.active())
  end)

  it("has analog triggers and sticks with a dead zone", function()
    play({ press = "pad1:right trigger", value = 0.25 }, { axis = "pad1:left", x = 0.1, y = 0.1 })
    assert.equals(0.25, Pad1.button("rt"))
    assert.is_false(Pad1.pressed("rt"))
    assert.equals(Vector3(0, 0, 0), Pad1.axis("left"))
    play({ press = "pad1:rt", value = 0.75 }, { axis = "pad1:left", x = 1 })
    assert.is_true(Pad1.pressed("rt"))
    assert.equals(1, Pad1.axis("left").x)
  end)
end)

describe("the touch panel", function()
  it("follows fingers by their numbers", function()
    play({ touch = 7, phase = "began", x = 10, y = 20, pressure = 0.5 },
      { touch = 9, phase = "began", x = 1, y = 2 })
    assert.same({ 1, 2 }, TouchPanel.contacts())
    assert.equals(2, TouchPanel.num_contacts())
    assert.is_true(TouchPanel.is_touch_down(1))
    assert.is_true(TouchPanel.is_primary(1))
    assert.equals(Vector3(10, 20, 0), TouchPanel.location(1))
    assert.equals(0.5, TouchPanel.pressure(1))
    assert.is_true(TouchPanel.pressed("touch"))
    play({ touch = 7, phase = "ended", x = 12, y = 20 },
      { touch = 9, phase = "moved", x = 4, y = 2 })
    assert.is_true(TouchPanel.is_touch_up(1))
    assert.is_false(TouchPanel.has_contact(1))
    assert.equals(Vector3(2, 0, 0), TouchPanel.location_delta(1))
    play({ touch = 9, phase = "cancelled" })
    test.frames()
    assert.equals(0, TouchPanel.num_contacts())
  end)

  it("reports invalid finger numbers", function()
    for _, call in ipairs({ "has_contact", "is_primary", "is_touch_down", "is_touch_up",
      "location", "location_delta", "pressure" }) do
      assert.error_matches(function() TouchPanel[call](0) end, "'contact' must be 1 to 16, got 0")
    end
    assert.error_matches(function() TouchPanel.location(3) end,
      "there is no finger 3 on the panel %(ask TouchPanel.has_contact%)")
    local width, height = TouchPanel.resolution()
    assert.same({ Window.resolution() }, { width, height })
  end)
end)

describe("events", function()
  it("are listed in order with their fields", function()
    play({ press = "a", age = 0.01 }, { text = "a" }, { axis = "pad1:right", x = 1 },
      { release = "a" })
    local events = Input.events()
    local types = {}
    for i, event in ipairs(events) do
      types[i] = event.type .. " " .. event.device
    end
    assert.same({ "button keyboard", "text keyboard", "connected pad1", "axis pad1",
      "button keyboard" }, types)
    assert.same({ type = "button", device = "keyboard", button = "a", index = 1, value = 1,
      repeated = false, age = 0.01 }, events[1])
    test.frames()
    assert.same({}, Input.events())
  end)
end)

describe("an action", function()
  before_each(function()
    Input.set_actions({
      jump = { "space", "pad:a" },
      save = "ctrl+s",
      zoom = { "mouse:wheel.y+" },
      steer = { negative = "q", positive = { "e" }, axis = "pad:right.x" },
      move = { left = "a", right = "d", up = "w", down = "s", stick = "pad:left" },
    })
  end)

  it("is down while one of its bindings is", function()
    play({ press = "space" })
    assert.is_true(Input.pressed("jump"))
    assert.is_true(Input.down("jump"))
    assert.equals(1, Input.value("jump"))
    play({ press = "pad3:a" })
    assert.is_false(Input.pressed("jump"))
    play({ release = "space" })
    assert.is_false(Input.released("jump"))
    assert.is_true(Input.down("jump"))
    play({ release = "pad3:a" })
    assert.is_true(Input.released("jump"))
    assert.is_false(Input.down("jump"))
  end)

  it("registers a tap within one frame", function()
    play({ tap = "space" })
    assert.is_true(Input.pressed("jump"))
    assert.is_true(Input.released("jump"))
    test.frames()
    assert.is_false(Input.pressed("jump"))
    assert.is_false(Input.released("jump"))
  end)

  it("with modifier keys needs them", function()
    play({ press = "s" })
    assert.is_false(Input.pressed("save"))
    play({ release = "s" }, { press = "left ctrl" })
    play({ press = "s" })
    assert.is_true(Input.pressed("save"))
  end)

  it("has a value from -1 to 1 with negative and positive", function()
    play({ press = "q" })
    assert.equals(-1, Input.value("steer"))
    assert.is_true(Input.pressed("steer"))
    play({ press = "e" })
    assert.equals(0, Input.value("steer"))
    play({ release = "q" }, { release = "e" }, { axis = "pad1:right", x = -1 })
    assert.equals(-1, Input.value("steer"))
  end)

  it("is a vector of at most length 1 with four directions", function()
    play({ press = "d" }, { press = "w" })
    assert.near(1, Vector2.length(Input.value("move")), 1e-5)
    assert.near(math.sqrt(0.5), Input.value("move").x, 1e-5)
    play({ release = "d" }, { release = "w" }, { axis = "pad1:left", y = -1 })
    assert.equals(Vector2(0, -1), Input.value("move"))
  end)

  it("responds to the wheel", function()
    play({ motion = "mouse:wheel", y = 1 })
    assert.is_true(Input.pressed("zoom"))
    assert.is_false(Input.released("zoom"))
  end)

  it("registers each notch of the wheel, even in consecutive frames", function()
    Input.set_actions({ zoom = { "mouse:wheel.y+", "z" } })
    for _ = 1, 3 do
      play({ motion = "mouse:wheel", y = 1 })
      assert.is_true(Input.pressed("zoom"))
    end
    play({ motion = "mouse:wheel", y = -1 })
    assert.is_false(Input.pressed("zoom"))
    assert.is_true(Input.released("zoom"))
    assert.is_false(Input.down("zoom"))
    play({ press = "z" })
    play({ motion = "mouse:wheel", y = 1 })
    assert.is_false(Input.pressed("zoom"), "it is held by a key")
    assert.is_true(Input.down("zoom"))
  end)

  it("can be rebound by the player, and user settings store it", function()
    Input.rebind("jump", { "f", "mouse:left" })
    assert.same({ "f", "mouse:left" }, Input.bindings("jump"))
    assert.same({ "jump" }, Input.actions_of("f"))
    assert.same({ "f", "mouse:left" },
      Application.user_setting("input", "bindings", "jump", "bindings"))
    play({ press = "space" })
    assert.is_false(Input.pressed("jump"))
    play({ press = "mouse:left" })
    assert.is_true(Input.pressed("jump"))
    Input.set_actions({ jump = "space" })
    assert.same({ "f", "mouse:left" }, Input.bindings("jump"))
    Input.reset_bindings("jump")
    assert.same({ "space" }, Input.bindings("jump"))
    assert.is_nil(Application.user_setting("input", "bindings", "jump"))
  end)

  it("has parts with separate bindings", function()
    Input.rebind("move", "j", "left")
    assert.same({ "j" }, Input.bindings("move", "left"))
    assert.same({ "pad:left" }, Input.bindings("move"))
    play({ press = "j" })
    assert.equals(-1, Input.value("move").x)
    Input.rebind("move", nil, "left")
    assert.same({ "a" }, Input.bindings("move", "left"))
    Input.rebind("move", { "j" }, "left")
    Input.reset_bindings()
    assert.same({ "a" }, Input.bindings("move", "left"))
  end)

  it("has a label for its bindings", function()
    play({ press = "f" })
    assert.equals("f", Input.any_pressed())
    play({ press = "mouse:right" })
    assert.equals("mouse:right", Input.any_pressed())
    play({ press = "pad4:y" })
    assert.equals("pad:y", Input.any_pressed())
    play({ press = "pad4:right trigger", value = 0.6 })
    assert.equals("pad:right trigger", Input.any_pressed())
    play({ press = "pad4:right trigger", value = 0.9 })
    assert.is_nil(Input.any_pressed())
    play({ axis = "pad4:left", x = -1 })
    assert.equals("pad:left.x-", Input.any_pressed())
    test.frames()
    assert.is_nil(Input.any_pressed())
    assert.equals("Ctrl+S", Input.label("ctrl+s"))
    assert.equals("Left mouse button", Input.label("mouse:left"))
    assert.equals("Left stick x-", Input.label("pad:left.x-"))
  end)

  it("reports invalid arguments", function()
    assert.same({ "jump", "move", "save", "steer", "zoom" }, Input.actions())
    for _, call in ipairs({ "down", "pressed", "released", "value", "bindings", "rebind" }) do
      assert.error_matches(function() Input[call]("jmp") end,
        "Input." .. call .. ": there is no action 'jmp', did you mean 'jump'?")
      assert.has_error(function() Input[call](1) end)
    end
    local function set(action, pattern)
      assert.error_matches(function() Input.set_actions({ a = action }) end, pattern)
    end
    set({ "spce" }, "action 'a': binding 'spce': there is no key 'spce', did you mean 'space'?")
    set({ "pda:a" }, "there is no device 'pda', did you mean 'pad'?")
    set({ "gamepad:a" }, "there is no device 'gamepad', did you mean 'pad'?")
    set({ "pad:leftstick.x" }, "an axis stands in for a button with a direction: 'pad:left.x%+'")
    set({ "pad:left.x" }, "an axis stands in for a button with a direction: 'pad:left.x%+'")
    set({ lft = "a" }, "there is no direction 'lft', did you mean 'left'?")
    set({ left = "a", negative = "b" }, "it must be one of the two")
    set({ stick = "pad:left.x", left = "a" }, "'stick' takes a whole stick")
    set({ negative = "a", axis = "pad:left" }, "'axis' takes one direction of a stick")
    set(5, "must be a list of bindings or a table of directions, got number 5")
    set({ "space", left = "a" }, "has directions and also a list of bindings")
    set({ "a", nil, "b" }, "a list without holes, and there is no #2")
    set({ left = { "a", up = "w" } }, "a list without holes, and there is no #2")
    set({ 5 }, "binding #1 must be string, got number 5")
    assert.error_matches(function() Input.set_actions({ "a" }) end, "actions must have names")
    assert.error_matches(function() Input.set_actions() end, "must be table, got n")
    assert.error_matches(function() Input.bindings("move", "lft") end, "has no part 'lft'")
    assert.error_matches(function() Input.label("nosuch") end, "there is no key 'nosuch'")
    assert.error_matches(function() Input.label() end, "must be string, got nil")
    assert.error_matches(function() Input.actions_of() end, "must be string, got nil")
    assert.error_matches(function() Input.reset_bindings("nosuch") end, "there is no action")
    assert.error_matches(function() Input.pad(9) end, "must be 1 to 8, got 9")
    assert.error_matches(function() Input.pad("one") end, "must be integer, got string")
    assert.has_error(function() Input.actions(1) end)
    assert.has_error(function() Input.any_pressed(1) end)
    assert.has_error(function() Input.pads(1) end)
  end)
end)

describe("test.input", function()
  it("reports invalid events", function()
    assert.error_matches(function() test.input({ press = "spce" }) end,
      "event #1: there is no button 'spce', did you mean 'space'?")
    assert.error_matches(function() test.input({ { tap = "a" }, { pres = "a" } }) end,
      "event #2: must have exactly one of .*, did you mean 'press'?")
    assert.error_matches(function() test.input(1) end, "must be table, got number 1")
    assert.error_matches(function() test.input({ tap = "a" }, { tap = "b" }) end,
      "test.input: it takes one table: put the events into a list")
  end)
end)
