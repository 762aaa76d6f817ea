-- Suite of Gui: texts, and queries about them.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local FONT = "core/fonts/default"
local P, RED = Vector3(10, 20, 1), Color(255, 0, 0)

describe("Gui.text", function()
  local world, now, kept

  before_each(function()
    world = Application.new_world()
    now = World.create_screen_gui(world, "immediate")
    kept = World.create_screen_gui(world)
  end)

  after_each(function()
    Application.release_world(world)
  end)

  it("draws many texts in one batch", function()
    for i = 1, 20 do
      Gui.text(now, "line " .. i, FONT, 12, nil, Vector3(0, i * 10, 1), RED)
      Gui.rect(now, Vector3(0, i * 10, 1), Vector2(5, 5), RED)
    end
    Application.render_world(world)
    test.frames(1)
    assert.equals(1, test.draw_calls())
  end)

  it("keeps texts in a retained Gui, and changes them", function()
    Gui.inspect(kept)
    local object = Gui.text(kept, "one", FONT, 20, nil, P, RED)
    assert.equals("one", Gui.inspect(kept)[1].text)
    Gui.update_text(kept, object, "two and more", nil, 20, nil, Vector2(0, 0))
    assert.equals("two and more", Gui.inspect(kept)[1].text)
    Gui.destroy_text(kept, object)
    assert.same({}, Gui.inspect(kept))
    assert.matches("was destroyed in frame",
      error_of(Gui.update_text, kept, object, "x", FONT, 20, nil, P, RED))
  end)

  it("shows an empty text as nothing", function()
    local object = Gui.text(kept, "", FONT, 20, nil, P, RED)
    Gui.update_text(kept, object, "now something", FONT, 20, nil, P, RED)
    Gui.destroy_text(kept, object)
  end)

  it("accepts options", function()
    Gui.text(now, "all of them", FONT, 20, nil, P, RED, {
      align = "center", width = 200, outline = 1, outline_color = RED, glow = 1, glow_color = RED,
      shadow = Vector2(1, -1), shadow_softness = 1, shadow_color = RED, markup = false,
    })
    Gui.text(now, "in colours", FONT, 20, nil, P, RED, { spans = { { 4, RED }, { 6 } } })
    assert.matches("'options' has the unknown option 'algin', did you mean 'align'?",
      error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { algin = "left" }))
    assert.matches("'align' must be \"left\", \"center\" or \"right\", got string \"middle\"",
      error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { align = "middle" }))
    assert.matches("'spans' must be a list of { first byte, Color or nil }",
      error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { spans = { { RED } } }))
    for _, byte in ipairs({ 0, 1.5, 0 / 0, 1 / 0 }) do
      assert.matches("'spans' must be a list of { first byte, Color or nil }",
        error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { spans = { { byte, RED } } }))
    end
    assert.matches("'spans' must be in the order of their first bytes",
      error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { spans = { { 4, RED }, { 2 } } }))
    assert.matches("'shadow' must be a finite Vector2",
      error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { shadow = Vector2(0 / 0, 1) }))
    assert.matches("'width' must be a number, 0 or more",
      error_of(Gui.text, now, "x", FONT, 20, nil, P, RED, { width = -1 }))
  end)

  it("reports invalid arguments", function()
    assert.equals("Gui.text: argument #2 'text' must be string, got number 5",
      error_of(Gui.text, now, 5, FONT, 20, nil, P))
    assert.matches("^Gui.text: argument #3 'font': .*core/fonts/defualt",
      error_of(Gui.text, now, "x", "core/fonts/defualt", 20, nil, P))
    assert.matches("^Gui.text: .*size", error_of(Gui.text, now, "x", FONT, -1, nil, P, RED))
  end)

  it("draws on given planes", function()
    local pose = Matrix4x4.identity()
    local object = Gui.text_3d(kept, "there", FONT, 1, nil, pose, Vector3(1, 0, 1), 3, RED)
    Gui.update_text_3d(kept, object, "here", FONT, 1, nil, pose, Vector3(), 3)
    Gui.destroy_text_3d(kept, object)
    assert.matches("'pose' must be Matrix4x4", error_of(Gui.text_3d, kept, "x", FONT, 1, nil, P))
    assert.matches("'pose' must be Matrix4x4",
      error_of(Gui.update_text_3d, kept, object, "x", FONT, 1, nil, P))
  end)

  it("is measured before it is drawn", function()
    local min, max, caret = Gui.text_extents(now, "Hello", FONT, 20)
    assert.is_true(max.x > min.x and max.y > min.y and caret.x > 0)
    local _, twice = Gui.text_extents(now, "Hello", FONT, 40)
    assert.is_true(math.abs(twice.x - 2 * max.x) < 0.01)
    assert.matches("'text' must be string", error_of(Gui.text_extents, now))
    assert.matches("^Gui.text_extents: argument #1 'gui': must be a Gui, and the number 7 never",
      error_of(Gui.text_extents, 7, "x", FONT, 20))
    assert.equals("Gui.text_extents: argument #3 'font' is not valid UTF-8",
      error_of(Gui.text_extents, now, "x", "\255", 20))
  end)

  it("wraps into lines", function()
    local lines = Gui.word_wrap(now, "one two three four five", FONT, 20, 100)
    assert.is_true(#lines > 1)
    assert.equals("one two three four five", table.concat(lines, " "))
    assert.matches("'width' must be a number above 0",
      error_of(Gui.word_wrap, now, "x", FONT, 20, 0))
    assert.matches("^Gui.word_wrap: the text is not UTF%-8",
      error_of(Gui.word_wrap, now, "a\255b", FONT, 20, 100))
    assert.matches("^Gui.word_wrap: argument #5 'width': must be a finite number",
      error_of(Gui.word_wrap, now, "x", FONT, 20, 1 / 0))
  end)

  it("tests if a font has every glyph", function()
    assert.is_true(Gui.has_all_glyphs(now, "Hello", FONT))
    assert.is_true(Gui.has_all_glyphs(now, "← ↑ → ↓ ↔ ↵ ▲ ▶ ▼ ◀ ● ■ ★ ♥ ✓ ✕", FONT))
    assert.is_false(Gui.has_all_glyphs(now, "a\255b", FONT))
    assert.matches("'text' must be string", error_of(Gui.has_all_glyphs, now))
  end)
end)
