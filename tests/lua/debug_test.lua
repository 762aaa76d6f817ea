-- Suite of Debug and LineObject: lines and texts over the image; and the console.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local RED, POSE = Color(255, 0, 0), Matrix4x4.identity()

-- Plays a frame that shows a world. Returns the number of drawn quadrilaterals.
local function drawn(world)
  Application.render_world(world)
  test.frames(1)
  local count = 0
  for _, draw in ipairs(test.draws()) do count = count + draw.count end
  return count
end

describe("Debug", function()
  local world

  before_each(function()
    world = Application.new_world()
    Camera.set_local_position(Application.main_camera(), Vector3(0, -10, 0))
  end)

  after_each(function()
    Debug.clear()
    Application.release_world(world)
  end)

  it("shows lines for a frame or longer", function()
    Debug.line(Vector3(0, 0, 0), Vector3(0, 0, 1))
    Debug.line(Vector3(0, 0, 0), Vector3(1, 0, 1), RED, 0.5)
    assert.equals(2, drawn(world))
    assert.equals(1, drawn(world))
    test.seconds(0.6)
    assert.equals(0, drawn(world))
  end)

  it("shows boxes, spheres and axes as lines", function()
    Debug.box(POSE, Vector3(1, 1, 1), RED)
    assert.equals(12, drawn(world))
    Debug.axes(POSE)
    assert.equals(3, drawn(world))
    Debug.sphere(Vector3(0, 0, 0), 1)
    assert.equals(60, drawn(world))
  end)

  it("hides lines behind the camera", function()
    Debug.line(Vector3(0, -20, 0), Vector3(1, -20, 0))
    assert.equals(0, drawn(world))
  end)

  it("shows texts on the screen and in the world", function()
    Debug.text("ab", RED)
    Debug.world_text("cde", Vector3(0, 0, 0), RED, nil, 20)
    assert.equals(5, drawn(world))
    Debug.text("ab", RED, 10)
    Debug.clear()
    assert.equals(0, drawn(world))
  end)

  it("reports invalid arguments", function()
    assert.matches("'from' must be Vector3", error_of(Debug.line))
    assert.matches("'pose' must be Matrix4x4", error_of(Debug.box))
    assert.matches("'radius' must be number", error_of(Debug.sphere, Vector3()))
    assert.matches("'pose' must be Matrix4x4", error_of(Debug.axes))
    assert.matches("'text' must be string", error_of(Debug.text))
    assert.matches("'size' must be above 0",
      error_of(Debug.world_text, "x", Vector3(), nil, nil, 0))
    for _ = 1, 1000 do Debug.text("x") end
    assert.matches("1000 texts are shown already", error_of(Debug.text, "x"))
  end)
end)

describe("LineObject", function()
  local world, lines

  before_each(function()
    world = Application.new_world()
    lines = World.create_line_object(world)
    Camera.set_local_position(Application.main_camera(), Vector3(0, -10, 0))
  end)

  after_each(function()
    Application.release_world(world)
  end)

  it("is shown in the frames in which it is dispatched", function()
    LineObject.add_line(lines, RED, Vector3(0, 0, 0), Vector3(1, 0, 0))
    LineObject.add_box(lines, RED, POSE, Vector3(1, 1, 1))
    LineObject.dispatch(world, lines)
    assert.equals(13, drawn(world))
    assert.equals(0, drawn(world))
    LineObject.reset(lines)
    LineObject.dispatch(world, lines)
    assert.equals(0, drawn(world))
  end)

  it("is shown only in its own world", function()
    local other = Application.new_world()
    LineObject.add_line(lines, RED, Vector3(0, 0, 0), Vector3(1, 0, 0))
    LineObject.dispatch(world, lines)
    assert.equals(0, drawn(other))
    assert.matches("belongs to another world", error_of(LineObject.dispatch, other, lines))
    assert.matches("belongs to another world", error_of(World.destroy_line_object, other, lines))
    Application.release_world(other)
  end)

  it("draws round shapes with a given number of segments", function()
    local a, b = Vector3(0, 0, 0), Vector3(0, 0, 1)
    LineObject.add_circle(lines, RED, a, 1, Vector3(0, 1, 0), 8)
    LineObject.add_sphere(lines, RED, a, 1, 8)
    LineObject.add_half_sphere(lines, RED, a, 1, nil, 8)
    LineObject.add_capsule(lines, RED, a, b, 1, 8)
    LineObject.add_cone(lines, RED, a, b, 1, 8)
    LineObject.add_axes(lines, POSE, 2)
    LineObject.dispatch(world, lines)
    -- A half sphere is a circle and two half circles, a capsule two half spheres and four lines.
    assert.equals(8 + 24 + 16 + 36 + 12 + 3, drawn(world))
  end)

  it("reports invalid arguments", function()
    assert.matches("'segments' must be 3 to 256, got 2",
      error_of(LineObject.add_circle, lines, RED, Vector3(), 1, nil, 2))
    local names = { "add_line", "add_axes", "add_box", "add_sphere", "add_half_sphere",
      "add_capsule", "add_cone", "reset" }
    World.destroy_line_object(world, lines)
    for _, name in ipairs(names) do
      assert.matches("line object was destroyed in frame", error_of(LineObject[name], lines))
    end
    assert.matches("'world' must be World", error_of(World.create_line_object))
  end)
end)

describe("The console", function()
  local function type_in(text)
    for character in text:gmatch(".") do
      test.input({ text = character })
    end
  end

  local function tap(key)
    test.input({ tap = key })
    test.frames(1)
  end

  after_each(function()
    console_result = nil
  end)

  it("runs typed lines while it is open", function()
    type_in("console_result = 1")
    tap("enter")
    assert.is_nil(console_result)
    tap("grave")
    type_in("console_result = 2")
    tap("enter")
    assert.equals(2, console_result)
    -- An earlier input is recalled, and can be edited.
    tap("up")
    tap("backspace")
    type_in("3")
    test.frames(1)
    tap("left")
    tap("right")
    tap("enter")
    assert.equals(3, console_result)
    tap("grave")
    type_in("console_result = 4")
    tap("enter")
    assert.equals(3, console_result)
  end)

  it("completes names, and shows tables with their fields", function()
    tap("grave")
    type_in("console_table = { health_points = 12, health_regained = 3 }")
    tap("enter")
    type_in("console_result = console_table.hea")
    test.frames(1)
    tap("tab")
    type_in("points")
    tap("enter")
    assert.equals(12, console_result)
    local function letters()
      local count = 0
      for _, draw in ipairs(test.draws()) do count = count + draw.count end
      return count
    end
    -- Lines of other suites give way to empty ones.
    for _ = 1, 100 do print("") end
    test.frames(1)
    local before = letters()
    type_in("console_table")
    tap("enter")
    tap("tab")
    test.frames(1)
    -- The line itself, and the content of the table.
    assert.is_true(letters() > before + #"console_table" + #"health_points = 12")
    type_in("console_table = nil")
    tap("enter")
    tap("grave")
  end)

  it("reports errors without stopping the game", function()
    test.expect_error("no")
    tap("grave")
    type_in("error('no')")
    tap("enter")
    tap("grave")
  end)

  it("takes the keyboard and leaves no key to the game", function()
    test.input({ press = "w" })
    test.frames(1)
    assert.is_true(Keyboard.pressed("w"))
    Input.set_actions({ walk = { "w" } })
    test.input({ tap = "grave" })
    test.frames(1)
    assert.is_true(Keyboard.released("w"))
    assert.equals(0, Keyboard.button("w"))
    assert.is_false(Keyboard.pressed("grave"))
    assert.is_false(Input.down("walk"))
    test.input({ { tap = "a" }, { text = "a" }, { tap = "backspace" }, { compose = "k" } })
    test.frames(1)
    assert.is_nil(Keyboard.any_pressed())
    assert.same({}, Keyboard.keystrokes())
    assert.same({}, Input.events())
    assert.equals("", Keyboard.composition())
    -- W is still down and repeats, and so does the key that closes the console.
    tap("escape")
    test.input({ { press = "w", repeated = true }, { text = "w" }, { release = "w" } })
    test.frames(1)
    assert.same({}, Input.events())
    test.input({ { press = "w" }, { text = "w" } })
    test.frames(1)
    assert.is_true(Keyboard.pressed("w"))
    assert.same({ "w" }, Keyboard.keystrokes())
    test.input({ release = "w" })
    tap("escape")
    assert.is_true(Keyboard.pressed("escape"), "a closed console takes nothing")
  end)

  it("takes the wheel and clicks over it", function()
    local function wheel_at(y)
      test.input({ { axis = "mouse:cursor", x = 20, y = y },
        { motion = "mouse:wheel", x = 0, y = 1 }, { tap = "mouse:left" } })
      test.frames(1)
      return Mouse.axis("wheel").y, Mouse.pressed("left")
    end
    tap("grave")
    local _, height = Gui.resolution(Application.main_gui())
    local notches, clicked = wheel_at(height - 10)
    assert.equals(0, notches)
    assert.is_false(clicked)
    assert.equals(height - 10, Mouse.axis("cursor").y)
    notches, clicked = wheel_at(10)
    assert.equals(1, notches)
    assert.is_true(clicked)
    tap("escape")
    assert.equals(1, (wheel_at(height - 10)))
  end)

  -- Returns the number of letters and shapes of the console.
  local function drawn_quads()
    test.frames(1)
    local count = 0
    for _, draw in ipairs(test.draws()) do count = count + draw.count end
    return count
  end

  it("wraps long lines and shows all lines of an error", function()
    -- All rows of the view have one letter.
    for _ = 1, 100 do print("i") end
    tap("grave")
    local before = drawn_quads()
    print(("x"):rep(300))
    local after = drawn_quads()
    assert.is_true(after > before + 290, "every letter of the line is drawn")
    test.expect_error("one")
    type_in([[error("one\ntwo_lines\nthree_lines")]])
    tap("enter")
    after = drawn_quads()
    assert.is_true(after > before + 290 + #"onetwo_linesthree_lines")
    tap("escape")
  end)

  it("scrolls through the log with keys and the wheel", function()
    for i = 1, 150 do print(i % 2 == 0 and "even line" or "odd") end
    -- Rows that are drawn at the newest end: fill the view with short and long rows.
    for _ = 1, 60 do print("i") end
    tap("grave")
    local newest = drawn_quads()
    tap("page up")
    tap("page up")
    tap("page up")
    tap("page up")
    tap("page up")
    tap("page up")
    tap("page up")
    local older = drawn_quads()
    assert.is_true(older > newest + 40, "longer rows are above: " .. older .. " and " .. newest)
    -- New lines do not move what the reader looks at.
    print(("y"):rep(50))
    assert.equals(older, drawn_quads())
    tap("end")
    assert.is_true(drawn_quads() > newest, "the newest line is visible")
    tap("home")
    local oldest = drawn_quads()
    local _, height = Gui.resolution(Application.main_gui())
    test.input({ { axis = "mouse:cursor", x = 20, y = height - 10 },
      { motion = "mouse:wheel", x = 0, y = -500 } })
    test.frames(1)
    assert.is_true(drawn_quads() ~= oldest, "the wheel scrolls back to the newest")
    -- With text in the input line, Home moves the cursor.
    type_in("onsole_result = 7")
    test.frames(1)
    tap("home")
    type_in("c")
    tap("enter")
    assert.equals(7, console_result)
    tap("escape")
  end)

  it("pastes the clipboard as one line, and keeps the line that was being typed", function()
    Window.set_clipboard("console_result =\n  12")
    tap("grave")
    test.input({ { press = "left ctrl" }, { tap = "v" }, { release = "left ctrl" } })
    test.frames(1)
    tap("up")
    tap("down")
    tap("backspace")
    type_in("1")
    tap("enter")
    assert.equals(11, console_result)
    tap("escape")
  end)
end)
