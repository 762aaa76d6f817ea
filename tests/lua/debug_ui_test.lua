-- Suite of the developer UI: widgets operated by mouse and keys. A window is placed at a known
-- position; a row is 19 high, the next one is 4 below it, and the first one begins 30 below the
-- window's top.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local LEFT, TOP = 100, 500
local WINDOW = { x = LEFT, y = TOP - 300, width = 300, height = 300 }

-- Returns a point at the beginning of a row's first text. Rows count from 1.
local function position_of(row, right)
  return LEFT + (right or 20), TOP - 30 - (row - 1) * 23 - 9
end

local titles = 0

-- Returns a function that shows a new window with the widgets of `fn` for one frame.
local function window()
  titles = titles + 1
  local title = "Test##" .. titles
  return function(fn)
    local visible, open = DebugUi.begin_window(title, WINDOW)
    local result = { fn() }
    DebugUi.end_window()
    test.frames()
    return result[1], result[2], visible, open
  end
end

local function mouse(x, y)
  test.input({ { axis = "mouse:cursor", x = x, y = y } })
end

-- Shows the window while the mouse moves to a position, presses and releases.
local function click(show, fn, x, y)
  mouse(x, y)
  test.frames()
  show(fn)
  test.input({ press = "mouse:left" })
  test.frames()
  show(fn)
  test.input({ release = "mouse:left" })
  test.frames()
  return show(fn)
end

describe("DebugUi", function()
  before_each(function()
    mouse(-10, -10)
    test.frames(3)
  end)

  it("shows windows with texts in few draw calls", function()
    local show = window()
    show(function()
      DebugUi.text("one\ntwo")
      DebugUi.text_colored("three", Color(255, 0, 0))
      DebugUi.bullet_text("four")
      DebugUi.separator()
      DebugUi.spacing()
      DebugUi.dummy(10, 10)
      DebugUi.progress_bar(0.5)
      DebugUi.progress_bar(2, "done")
      DebugUi.indent()
      DebugUi.text("further right")
      DebugUi.unindent()
    end)
    assert.is_true(test.draw_calls() > 0)
  end)

  it("reports a click of a button once", function()
    local show = window()
    local fn = function() return DebugUi.button("Jump##it") end
    assert.is_false((show(fn)))
    assert.is_true((click(show, fn, position_of(1))))
    assert.is_false((show(fn)))
    assert.is_true(DebugUi.wants_mouse())
    mouse(2, 2)
    test.frames()
    show(fn)
    assert.is_false(DebugUi.wants_mouse())
  end)

  it("has check boxes, radio buttons and selectable lines", function()
    local show, value = window(), false
    local box = function()
      local changed
      value, changed = DebugUi.checkbox("invincible", value)
      return changed
    end
    assert.is_true((click(show, box, position_of(1))))
    assert.is_true(value)
    local other = window()
    assert.is_true((click(other, function() return DebugUi.radio_button("easy", true) end,
      position_of(1))))
    local third = window()
    assert.is_true((click(third, function() return DebugUi.selectable("sword", false) end,
      position_of(1))))
  end)

  it("has sliders for numbers", function()
    local show, value = window(), 5
    local fn = function() value = DebugUi.slider_float("speed", value, 0, 10) end
    mouse(position_of(1, 9))
    test.frames()
    show(fn)
    test.input({ press = "mouse:left" })
    test.frames()
    show(fn)
    assert.equals(0, value)
    mouse(position_of(1, 280))
    test.frames()
    show(fn)
    assert.equals(10, value)
    local whole = window()
    local count = 3
    test.input({ release = "mouse:left" })
    test.frames()
    whole(function() count = DebugUi.slider_int("count", count, 1, 7) end)
    assert.equals(3, count)
  end)

  it("has combo boxes whose list is above the window", function()
    local show, index = window(), 1
    local fn = function()
      local changed
      index, changed = DebugUi.combo("weapon", index, { "axe", "bow", "club" })
      return changed
    end
    click(show, fn, position_of(1))
    show(fn)
    -- the second item of the list below the field
    local x, y = position_of(1)
    click(show, fn, x, y - 38)
    assert.is_true((show(fn)))
    assert.equals(2, index)
  end)

  it("has tree nodes and collapsing headers", function()
    local show, calls = window(), 0
    local fn = function()
      local open = DebugUi.tree_node("units")
      if open then
        DebugUi.push_id(1)
        DebugUi.text("barrel")
        DebugUi.pop_id()
        DebugUi.tree_pop()
        calls = calls + 1
      end
      return DebugUi.collapsing_header("more", true)
    end
    assert.is_true((show(fn)))
    assert.equals(0, calls)
    click(show, fn, position_of(1))
    show(fn)
    assert.is_true(calls > 0)
  end)

  it("has columns, tables and plots", function()
    local show = window()
    local clicked = click(show, function()
      local row = DebugUi.table("list", { "name", "hp" }, { { "orc", 3 }, { "elf", 5 } })
      DebugUi.columns(2)
      DebugUi.text("left")
      DebugUi.next_column()
      DebugUi.text("right")
      DebugUi.next_column()
      DebugUi.columns(1)
      DebugUi.same_line()
      DebugUi.plot_lines("frame", { 1, 5, 2, 8, 0 / 0 })
      DebugUi.plot_histogram("damage", { 1, 4, 2 }, 0, 5, 30)
      DebugUi.tooltip("words")
      return row
    end, LEFT + 20, TOP - 30 - 19 - 4 - 9)
    assert.equals(1, clicked)
  end)

  it("edits the text field that was clicked", function()
    local show, text, number = window(), "ab", 2
    local fn = function()
      text = DebugUi.input_text("name", text)
      number = DebugUi.input_float("mass", number)
    end
    click(show, fn, position_of(1, 150))
    assert.is_true(DebugUi.wants_keyboard())
    test.input({ text = "cd" })
    test.frames()
    show(fn)
    assert.equals("abcd", text)
    test.input({ { press = "backspace" } })
    test.frames()
    show(fn)
    assert.equals("abc", text)
    click(show, fn, position_of(2, 150))
    for _ = 1, 6 do
      test.input({ { press = "backspace" } })
      test.frames()
      show(fn)
      test.input({ { release = "backspace" } })
      test.frames()
      show(fn)
    end
    test.input({ text = "7.5" })
    test.frames()
    show(fn)
    assert.equals(7.5, number)
    local count = 4
    window()(function() count = DebugUi.input_int("count", count) end)
    assert.equals(4, count)
  end)

  it("has a cursor in a field, moved by keys and the mouse", function()
    local show, text = window(), "äb"
    local fn = function() text = DebugUi.input_text("name", text) end
    local function stroke(key)
      test.input({ press = key })
      test.frames()
      show(fn)
      test.input({ release = key })
      test.frames()
      show(fn)
    end
    local function write(letters)
      test.input({ text = letters })
      test.frames()
      show(fn)
    end
    click(show, fn, position_of(1, 150))
    stroke("left")
    write("1")
    assert.equals("ä1b", text)
    stroke("home")
    write("2")
    stroke("delete")
    assert.equals("21b", text)
    stroke("end")
    stroke("backspace")
    assert.equals("21", text)
    Window.set_clipboard("x\ny")
    test.input({ press = "left ctrl" })
    test.frames()
    show(fn)
    stroke("v")
    test.input({ release = "left ctrl" })
    test.frames()
    show(fn)
    assert.equals("21x y", text)
    -- In front of the first letter.
    click(show, fn, LEFT + 9, select(2, position_of(1)))
    write("0")
    assert.equals("021x y", text)
    stroke("enter")
    assert.is_false(DebugUi.wants_keyboard())
  end)

  it("cuts texts that are wider than their field or cell", function()
    local show = window()
    local long = ("wide "):rep(60)
    local function cells(text)
      show(function()
        DebugUi.input_text("a", text)
        DebugUi.combo("b", 1, { text })
        DebugUi.table("c", { text, "d" }, { { text, text } })
      end)
      local count = 0
      for _, draw in ipairs(test.draws()) do count = count + draw.count end
      return count
    end
    -- Each letter is a quadrilateral. Letters that do not fit are not drawn.
    assert.is_true(cells(long) < cells("") + 5 * 60)
  end)

  it("has an editor for colours", function()
    local show = window()
    local value, changed = show(function() return DebugUi.color_edit("sky", Color(10, 20, 30)) end)
    assert.equals(Color(10, 20, 30), value)
    assert.is_false(changed)
  end)

  it("collapses, closes and opens windows", function()
    titles = titles + 1
    local title = "Closable##" .. titles
    local function show()
      local options = { x = LEFT, y = TOP - 300, width = 300, height = 300, closable = true }
      local visible, open = DebugUi.begin_window(title, options)
      DebugUi.end_window()
      test.frames()
      return visible, open
    end
    assert.is_true(show())
    mouse(LEFT + 300 - 11, TOP - 11)
    test.frames()
    show()
    test.input({ press = "mouse:left" })
    test.frames()
    show()
    test.input({ release = "mouse:left" })
    test.frames()
    show()
    local visible, open = show()
    assert.is_false(visible)
    assert.is_false(open)
    DebugUi.set_window_open(title, true)
    assert.is_true(show())
    assert.is_false(DebugUi.is_item_hovered == nil)
  end)

  it("closes windows that an error left open, in the next frame", function()
    DebugUi.begin_window("Left open")
    test.frames()
    assert.is_true((DebugUi.begin_window("Another")))
    assert.is_false(DebugUi.is_item_hovered())
    DebugUi.end_window()
  end)

  it("reports invalid arguments", function()
    test.frames()
    assert.equals("DebugUi.text: no window is begun: call DebugUi.begin_window(title) first",
      error_of(DebugUi.text, "x"))
    assert.equals("DebugUi.end_window: no window is begun", error_of(DebugUi.end_window))
    assert.equals("DebugUi.begin_window: argument #1 'title' must be string, got number 3",
      error_of(DebugUi.begin_window, 3))
    assert.equals("DebugUi.begin_window: unknown option 'widht', did you mean 'width'?",
      error_of(DebugUi.begin_window, "x", { widht = 3 }))
    assert.equals("DebugUi.begin_window: option 'x' must be a number, got string \"a\"",
      error_of(DebugUi.begin_window, "x", { x = "a" }))
    DebugUi.begin_window("Wrong")
    assert.equals("DebugUi.begin_window: the window 'Wrong' is begun already: end it with "
      .. "DebugUi.end_window()", error_of(DebugUi.begin_window, "Second"))
    assert.matches("no node is open", error_of(DebugUi.tree_pop))
    assert.matches("no id is pushed", error_of(DebugUi.pop_id))
    assert.matches("there are no columns", error_of(DebugUi.next_column))
    assert.matches("a whole number from 1 to 64", error_of(DebugUi.columns, 0))
    assert.matches("the least value is above", error_of(DebugUi.slider_float, "a", 1, 5, 2))
    assert.matches("value 2 must be a number", error_of(DebugUi.plot_lines, "a", { 1, "b" }))
    assert.matches("value 1 must be a number", error_of(DebugUi.plot_histogram, "a", { "b" }))
    assert.matches("must be string or number", error_of(DebugUi.push_id, {}))
    assert.matches("must be Color", error_of(DebugUi.text_colored, "x", 3))
    assert.matches("must be Color", error_of(DebugUi.color_edit, "x", 3))
    for name, arguments in pairs({
      button = {}, checkbox = { "a", 3 }, radio_button = { "a" }, selectable = { "a" },
      slider_int = { "a" }, progress_bar = { "a" }, combo = { "a", 1 }, tree_node = { 1 },
      collapsing_header = { 1 }, same_line = { "a" }, dummy = { 1 }, indent = { "a" },
      unindent = { "a" }, tooltip = {}, table = { "a" }, input_text = { "a" },
      input_float = { "a" }, input_int = { "a" }, set_window_open = { "a" },
    }) do
      assert.matches("DebugUi%." .. name .. ": argument #%d '%a+' must be",
        error_of(DebugUi[name], unpack(arguments)))
    end
    DebugUi.end_window()
    assert.matches("no window is begun", error_of(DebugUi.bullet_text, "x"))
    for _, name in ipairs({ "separator", "spacing", "is_item_hovered" }) do
      assert.matches("no window is begun", error_of(DebugUi[name]))
    end
    assert.is_false(DebugUi.wants_mouse() and DebugUi.wants_keyboard())
  end)
end)
