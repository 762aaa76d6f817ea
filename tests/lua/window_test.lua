-- Suite of the window without a display: values that are set can be read. With a display it is
-- tested from outside (tests/window.rs).

describe("a window without a display", function()
  it("has the size from the settings", function()
    assert.is_false(Window.is_open())
    assert.same({ 1280, 720 }, { Window.resolution() })
    assert.same({ 1280, 720 }, { Window.pixel_size() })
    assert.equals(1, Window.get_dpi_scale())
    assert.same({}, Window.monitors())
    assert.same({ 0, 0 }, { Window.latency() })
  end)

  it("can be moved and resized", function()
    Window.set_rect(10, -20, 640, 360)
    assert.same({ 10, -20, 640, 360 }, { Window.rect() })
    Window.set_resolution(1280, 720)
    assert.same({ 1280, 720 }, { Window.resolution() })
    test.input({ resize = { 320, 200 } })
    test.frames()
    assert.same({ 320, 200 }, { Window.resolution() })
    Window.set_resolution(1280, 720)
  end)

  it("stores its title, mode and vsync", function()
    Window.set_title("Yard")
    assert.equals("Yard", Window.title())
    for _, mode in ipairs({ "borderless", "exclusive", "off" }) do
      Window.set_fullscreen(mode)
      assert.equals(mode, Window.fullscreen())
    end
    for _, mode in ipairs({ "off", "adaptive", "mailbox", "on" }) do
      Window.set_vsync(mode)
      assert.equals(mode, Window.vsync())
    end
    Window.set_resizable(false)
    assert.is_false(Window.is_resizable())
    Window.set_resizable(true)
  end)

  it("is minimized, maximized and restored", function()
    Window.minimize()
    assert.is_true(Window.is_minimized())
    Window.maximize()
    assert.is_true(Window.is_maximized())
    Window.restore()
    assert.is_false(Window.is_minimized() or Window.is_maximized())
  end)

  it("has a cursor that can be shown, confined or locked", function()
    Window.set_show_cursor(false)
    assert.is_false(Window.show_cursor())
    Window.set_show_cursor(true)
    Window.set_clip_cursor(true)
    assert.is_true(Window.clip_cursor())
    assert.equals("clip", Window.cursor_mode())
    Window.set_cursor_mode("lock")
    assert.is_false(Window.clip_cursor())
    Window.set_clip_cursor(false)
    assert.equals("free", Window.cursor_mode())
    Window.set_cursor("hand")
    Window.set_cursor("arrow")
    Window.set_cursor_position(10, 20)
  end)

  it("has its own clipboard", function()
    assert.is_true(Window.set_clipboard("käse"))
    assert.equals("käse", Window.clipboard())
  end)

  it("accepts dropped files, and reads only those", function()
    test.input({ { drop = "nosuch/picture.png" } })
    test.frames()
    assert.same({ "nosuch/picture.png" }, Window.dropped_files())
    local bytes, problem = Window.read_dropped_file("nosuch/picture.png")
    assert.is_nil(bytes)
    assert.matches("'nosuch/picture.png' cannot be read", problem)
    -- A test opens no file outside the game's folder.
    test.input({ { drop = "/etc/hostname" }, { drop = "../game.sjson" } })
    test.frames()
    for _, path in ipairs(Window.dropped_files()) do
      bytes, problem = Window.read_dropped_file(path)
      assert.is_nil(bytes)
      assert.matches("only from the game's own folder", problem)
    end
    assert.error_matches(function() Window.read_dropped_file("main.lua") end,
      "the player dropped no file 'main.lua' on the window")
    test.frames()
    assert.same({}, Window.dropped_files())
  end)

  it("composes text at a given position", function()
    Window.set_ime_enabled(true)
    Window.set_ime_area(10, 20, 100, 16)
    Window.set_ime_enabled(false)
    Window.set_keystroke_enabled(true)
  end)

  it("continues without a size, and draws nothing", function()
    local width, height = Window.pixel_size()
    test.input({ resize = { 0, 0 } })
    test.frames()
    assert.same({ 0, 0 }, { Window.resolution() })
    local gui = World.create_screen_gui(Application.main_world(), "immediate")
    Gui.rect(gui, Vector3(0, 0, 1), Vector2(10, 10))
    Application.render_world(Application.main_world())
    test.frames()
    World.destroy_gui(Application.main_world(), gui)
    test.input({ resize = { width, height } })
    test.frames()
    assert.same({ width, height }, { Window.pixel_size() })
  end)

  it("notifies the game of focus changes", function()
    local focus_events = {}
    rawset(_G, "on_activate", function(active) focus_events[#focus_events + 1] = active end)
    assert.is_true(Window.has_focus())
    test.input({ focus = false })
    test.frames(2)
    assert.is_false(Window.has_focus())
    Window.set_focus()
    assert.is_true(Window.has_focus())
    test.input({ { focus = false }, { focus = true } })
    test.frames()
    rawset(_G, "on_activate", nil)
    assert.same({ false }, focus_events)
    assert.is_false(Window.mouse_focus())
    assert.is_false(Window.is_closing())
  end)

  it("calls on_close before the game closes it", function()
    local asked = 0
    rawset(_G, "on_close", function()
      asked = asked + 1
      return false
    end)
    Window.close()
    test.frames(2)
    assert.equals(1, asked)
    rawset(_G, "on_close", nil)
  end)

  it("accepts images for its cursor and its icon", function()
    Window.set_cursor_picture("pointer", 1, 2)
    Window.set_icon("pointer")
    assert.error_matches(function() Window.set_cursor_picture("pointer", 4) end,
      "'x' must be 0 to 3, got 4")
    assert.error_matches(function() Window.set_cursor_picture("nosuch") end, "nosuch")
    assert.error_matches(function() Window.set_icon("nosuch") end, "nosuch")
  end)

  it("reports invalid arguments", function()
    local function wrong(pattern, name, ...)
      local arguments = { ... }
      assert.error_matches(function() Window[name](unpack(arguments)) end, pattern)
    end
    wrong("'mode': there is no 'windowed' %(there are off, borderless, exclusive%)",
      "set_fullscreen", "windowed")
    wrong("there is no 'adaptve', did you mean 'adaptive'?", "set_vsync", "adaptve")
    wrong("there is no 'locked', did you mean 'lock'?", "set_cursor_mode", "locked")
    wrong("there is no 'hnd', did you mean 'hand'?", "set_cursor", "hnd")
    wrong("'width' must be 1 to 16384, got 0", "set_resolution", 0, 100)
    wrong("'height' must be 1 to 16384, got 99999", "set_rect", 0, 0, 100, 99999)
    wrong("'left' is outside of any desktop", "set_rect", 1e9, 0, 100, 100)
    wrong("must be string, got nothing", "set_title")
    wrong("'title' has a zero byte, which no title can have", "set_title", "a\0b")
    wrong("'title' has '\\u{1b}' in it: a title is one line of letters", "set_title", "a\27]0;x")
    wrong("'title' has '\\n' in it", "set_title", "a\nb")
    wrong("'title' has 1001 bytes, and 1000 are the most", "set_title", ("x"):rep(1001))
    wrong("'title' has '\\u{9b}' in it", "open", { title = "\194\155" })
    wrong("'text' has '\\u{1b}' in it: the clipboard takes letters, line breaks and tabs",
      "set_clipboard", "\27[201~rm -r")
    wrong("'text' has '\\0' in it", "set_clipboard", "a\0b")
    wrong("must be boolean, got nothing", "set_resizable")
    wrong("must be boolean, got nothing", "set_show_cursor")
    wrong("must be boolean, got nothing", "set_clip_cursor")
    wrong("must be number, got nothing", "set_cursor_position")
    wrong("must be string, got nothing", "set_clipboard")
    wrong("must be boolean, got nothing", "set_ime_enabled")
    wrong("must be number, got nothing", "set_ime_area")
    wrong("must be boolean, got nothing", "set_keystroke_enabled")
  end)
end)

local function is_drawn(gui)
  for _, draw in ipairs(test.draws()) do
    if draw.gui == gui then return true end
  end
  return false
end

describe("a secondary window without a display", function()
  local window

  before_each(function()
    window = Window.open({ title = "Map", width = 300, height = 200, x = 5, y = -6 })
  end)

  after_each(function()
    if Window.alive(window) then Window.close(window) end
  end)

  it("has its own settings, and the main window is unchanged", function()
    local width, height = Window.resolution()
    assert.is_true(Window.alive(window))
    assert.is_false(Window.is_open(window))
    assert.equals("Map", Window.title(window))
    assert.same({ 5, -6, 300, 200 }, { Window.rect(window) })
    assert.same({ 300, 200 }, { Application.back_buffer_size(window) })
    assert.equals(1, Window.get_dpi_scale(window))
    Window.set_resolution(320, 100, window)
    Window.set_title("Plan", window)
    Window.set_resizable(false, window)
    Window.set_visible(false, window)
    Window.set_fullscreen("borderless", window)
    Window.minimize(window)
    assert.same({ 320, 100 }, { Window.pixel_size(window) })
    assert.equals("Plan", Window.title(window))
    assert.equals("borderless", Window.fullscreen(window))
    assert.is_false(Window.is_resizable(window) or Window.is_visible(window))
    assert.is_true(Window.is_minimized(window))
    assert.same({ width, height }, { Window.resolution() })
    assert.is_true(Window.is_resizable() and Window.is_visible())
    assert.is_false(Window.is_minimized())
  end)

  it("has its own cursor", function()
    Window.set_show_cursor(false, window)
    Window.set_cursor_mode("clip", window)
    Window.set_cursor("hand", window)
    Window.set_cursor_picture("pointer", 1, 2, window)
    Window.set_cursor_position(3, 4, window)
    Window.set_icon("pointer", window)
    Window.set_ime_enabled(true, window)
    Window.set_ime_area(1, 2, 3, 4, window)
    assert.is_true(Window.clip_cursor(window))
    assert.is_false(Window.clip_cursor() or Window.show_cursor(window))
    assert.is_true(Window.show_cursor())
    test.input({ { cursor = { 30, 40 }, window = window },
      { axis = "mouse:cursor", x = 7, y = 8 } })
    test.frames()
    assert.equals(Vector3(30, 40, 0), Window.cursor(window))
    assert.equals(Vector3(7, 8, 0), Window.cursor())
    assert.equals(Window.cursor(), Mouse.axis("cursor"))
  end)

  it("is the only one with focus, and the game is notified once", function()
    local focus_events = {}
    rawset(_G, "on_activate", function(active) focus_events[#focus_events + 1] = active end)
    Window.set_focus(window)
    assert.is_true(Window.has_focus(window))
    assert.is_false(Window.has_focus())
    Window.set_focus()
    assert.is_false(Window.has_focus(window))
    test.input({ { press = "w" }, { focus = false }, { focus = true, window = window } })
    test.frames()
    assert.same({}, focus_events)
    assert.is_true(Window.has_focus(window))
    assert.is_true(Keyboard.released("w"))
    test.input({ focus = false, window = window })
    test.frames()
    assert.same({ false }, focus_events)
    rawset(_G, "on_activate", nil)
    Window.set_focus()
  end)

  it("gives up the focus when it is closed", function()
    local focus_events = {}
    rawset(_G, "on_activate", function(active) focus_events[#focus_events + 1] = active end)
    Window.set_focus(window)
    Window.close(window)
    test.frames(2)
    Window.set_focus()
    test.frames()
    rawset(_G, "on_activate", nil)
    assert.same({ false }, focus_events)
  end)

  it("is resized and accepts files by the player's actions", function()
    test.input({ { resize = { 90, 80 }, window = window }, { drop = "a.png", window = window } })
    test.frames()
    assert.same({ 90, 80 }, { Window.resolution(window) })
    assert.same({ "a.png" }, Window.dropped_files(window))
    assert.same({}, Window.dropped_files())
    local bytes, problem = Window.read_dropped_file("a.png")
    assert.is_nil(bytes)
    assert.matches("'a.png' cannot be read", problem)
  end)

  it("shows a world and its Guis", function()
    local world = Application.new_world()
    local gui = World.create_screen_gui(world, "immediate")
    local viewport = Application.create_viewport()
    Viewport.set_rect(viewport, 0.5, 0, 0.5, 1)
    rawset(_G, "render", function()
      Gui.rect(gui, Vector3(1, 2, 0), Vector2(10, 20), Color(255, 0, 0))
      Application.render_world(world, nil, viewport, window)
    end)
    test.frames()
    rawset(_G, "render", nil)
    assert.is_true(is_drawn(gui))
    test.frames()
    assert.is_false(is_drawn(gui))
    Application.destroy_viewport(viewport)
    Application.release_world(world)
  end)

  it("is not drawn if it is closed while it is drawn to", function()
    local world = Application.new_world()
    local gui = World.create_screen_gui(world, "immediate")
    Gui.rect(gui, Vector3(0, 0, 0), Vector2(10, 20))
    Application.render_world(world, nil, nil, window)
    Window.close(window)
    test.frames()
    assert.is_false(is_drawn(gui))
    assert.is_false(Window.alive(window))
    assert.error_matches(function() Window.title(window) end,
      "argument #1 'window': window \"Map\" was destroyed in frame %d+ at .*window_test.lua:%d+")
    assert.error_matches(function() Application.render_world(world, nil, nil, window) end,
      "argument #4 'window': window \"Map\" was destroyed")
    assert.error_matches(function() Window.close(window) end, "was destroyed")
    Application.release_world(world)
  end)

  it("calls on_close, and the game continues", function()
    local asked, answer = {}, false
    rawset(_G, "on_close", function(which)
      asked[#asked + 1] = which
      return answer
    end)
    local function close()
      test.input({ close = true, window = window })
      test.frames()
      assert.is_true(Window.is_closing(window))
    end
    close()
    test.frames()
    assert.is_false(Window.is_closing(window))
    answer = nil
    close()
    assert.same({ window, window }, asked)
    assert.is_true(Window.alive(window))
    -- The window cannot be closed a second time, and requests to it have no effect.
    test.input({ close = true, window = window })
    Window.set_focus(window)
    test.frames()
    assert.equals(2, #asked)
    assert.is_false(Window.has_focus(window))
    assert.is_true(Window.has_focus(), "nobody has taken it")
    rawset(_G, "on_close", nil)
  end)

  it("can be closed in on_close", function()
    rawset(_G, "on_close", Window.close)
    test.input({ close = true, window = window })
    test.frames()
    rawset(_G, "on_close", nil)
    assert.is_false(Window.alive(window))
  end)

  it("gets no on_close if another window's on_close has closed it", function()
    local both, asked = { window, Window.open() }, 0
    rawset(_G, "on_close", function()
      asked = asked + 1
      for _, each in ipairs(both) do Window.close(each) end
    end)
    test.input({ { close = true, window = both[1] }, { close = true, window = both[2] } })
    test.frames()
    rawset(_G, "on_close", nil)
    assert.equals(1, asked)
  end)

  it("is one of at most eight", function()
    local all = {}
    for i = 1, 7 do all[i] = Window.open() end
    assert.same({ 640, 480 }, { Window.resolution(all[1]) })
    assert.equals(Window.title(), Window.title(all[1]))
    assert.error_matches(function() Window.open({}) end,
      "8 windows already exist besides the main one %(WINDOWS_MAX%): close one first")
    for _, each in ipairs(all) do Window.close(each) end
    for _ = 1, 300 do Window.close(Window.open({ visible = false })) end
  end)

  it("has no monitor modes", function()
    assert.same({}, Application.enum_display_modes())
  end)

  it("reports invalid arguments", function()
    local function wrong(pattern, name, ...)
      local arguments = { ... }
      assert.error_matches(function() Window[name](unpack(arguments)) end, pattern)
    end
    wrong("there is no option 'tilte', did you mean 'title'%? %(there are title, x, y, ",
      "open", { tilte = "Map" })
    wrong("'width' must be a whole number from 1 to 16384, got 0", "open", { width = 0 })
    wrong("'height' must be a whole number from 1 to 16384, got 1.5", "open", { height = 1.5 })
    wrong("'width' must be a whole number from 1 to 16384, got NaN", "open", { width = 0 / 0 })
    wrong("'x' must be a whole number from %-1048576 to 1048576", "open", { x = 1e9, y = 0 })
    wrong("'x' and 'y' belong together: give both, or neither", "open", { x = 1 })
    wrong("'title' must be a string", "open", { title = 3 })
    wrong("'title' has a zero byte", "open", { title = "a\0b" })
    wrong("'visible' must be true or false", "open", { visible = 1 })
    wrong("'width' must be a number", "open", { width = "wide" })
    wrong("'fullscreen': there is no 'windowed' %(there are off, borderless, exclusive%)",
      "open", { fullscreen = "windowed" })
    wrong("argument #1 'options' must be a table of options", "open", "Map")
    wrong("argument #1 'options' must be a table of options", "open", { "Map" })
    wrong("argument #1 'window': must be a Window, and the number 7 never was one", "title", 7)
    wrong("argument #2 'window' must be Window or nil, got", "set_title", "a", "b")
    wrong("argument #2 'window': must be a Window, and the number 7", "set_visible", true, 7)
    wrong("argument #1 'window' must be number, got", "alive", "map")
    for _, name in ipairs({ "clip_cursor", "cursor", "cursor_mode", "dropped_files", "fullscreen",
      "get_dpi_scale", "has_focus", "is_closing", "is_maximized", "is_minimized", "is_open",
      "is_resizable", "is_visible", "maximize", "minimize", "mouse_focus", "pixel_size", "rect",
      "restore", "set_focus", "show_cursor" }) do
      wrong("argument #1 'window': must be a Window, and the number 7 never was one", name, 7)
    end
    assert.error_matches(function() Application.back_buffer_size(7) end,
      "argument #1 'window': must be a Window")
    wrong("must be a Window", "resolution", Application.main_world())
    local texture = Application.create_viewport("window_test", 8, 8)
    assert.error_matches(function()
      Application.render_world(Application.main_world(), nil, texture, window)
    end, "the viewport is a texture, which is in no window: show a part of the screen there")
    Application.destroy_viewport(texture)
    assert.error_matches(function() test.input({ close = false }) end, "'close' must be true")
    local ended = Window.open({ title = "Ended" })
    Window.close(ended)
    assert.error_matches(function() test.input({ focus = true, window = ended }) end,
      "event #1: 'window': window \"Ended\" was destroyed in frame %d+ at ")
    assert.error_matches(function() test.input({ close = true, window = 7 }) end,
      "'window' must be one that Window.open returned")
    assert.error_matches(function() test.input({ cursor = { 1, 2 } }) end,
      "over the main window use axis = \"mouse:cursor\"")
    assert.error_matches(function() test.input({ cursor = 1, window = window }) end,
      "'cursor' must be { x, y }")
  end)
end)
