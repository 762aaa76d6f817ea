-- Suite of Localizer: texts in the player's language. The texts are in data/menu.strings.

describe("a Localizer", function()
  local menu = Localizer("data/menu")

  after_each(function()
    Localizer.set_language(menu, nil)
    Application.set_property_preference_order()
    test.frames(1)
  end)

  it("returns the text in the preferred language, or else in English", function()
    assert.equals("Play", Localizer.lookup(menu, "play"))
    Application.set_property_preference_order("sv")
    test.frames(1)
    assert.same({ "sv" }, Application.property_preference_order())
    assert.equals("Spela", Localizer.lookup(menu, "play"))
    assert.equals("Quit", Localizer.lookup(menu, "quit"))
  end)

  it("can have its own language", function()
    Localizer.set_language(menu, "sv")
    assert.equals("Spela", Localizer.lookup(menu, "play"))
    Localizer.set_language(menu, "jp")
    assert.equals("Play", Localizer.lookup(menu, "play"))
  end)

  it("shows a missing key", function()
    assert.equals("<plya>", Localizer.lookup(menu, "plya"))
  end)

  it("inserts values", function()
    assert.equals("3 lives, {x}", Localizer.fill("{n} lives, {x}", { n = 3 }))
    assert.equals("a b", Localizer.fill("{1} {2}", { "a", "b" }))
    assert.equals("Quit", Localizer.lookup(menu, "quit", { n = 3 }))
  end)

  it("refuses invalid arguments", function()
    local rows = {
      { function() Localizer(3) end, "Localizer: argument #1 'name' must be string, got number 3" },
      { function() Localizer("data/meny") end,
        "there is no strings 'data/meny', did you mean 'data/menu'?" },
      { function() Localizer.lookup("menu", "x") end, "argument #1 'localizer' must be Localizer" },
      { function() Localizer.lookup(menu, 1) end, "argument #2 'key' must be string" },
      { function() Localizer.set_language({}, "x") end, "argument #1 'localizer'" },
      { function() Localizer.set_language(menu, 1) end, "must be string or nil" },
      { function() Localizer.fill(1, {}) end, "argument #1 'text' must be string" },
      { function() Localizer.fill("", 1) end, "argument #2 'values' must be table" },
      { function() return menu.play end, "write Localizer.lookup(localizer, \"play\")" },
      { function() return menu:lookup("play") end, "has no methods: write Localizer.lookup(" },
      { function() menu.play = 1 end, "a Localizer has no fields" },
      { function() Application.property_preference_order(1) end, "takes 0 arguments, got 1" },
    }
    for _, row in ipairs(rows) do
      local ok, message = pcall(row[1])
      assert.is_false(ok)
      assert.is_truthy(message:find(row[2], 1, true), message)
    end
  end)
end)
