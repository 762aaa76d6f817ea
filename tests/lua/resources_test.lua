-- Suite of resources as scripts see them: plain data, variants, preferences. The files are in the
-- folder data/.

describe("Application.data", function()
  it("returns texts and bytes as strings", function()
    assert.equals("base", Application.data("text", "data/note"))
    assert.equals("\0\1\255", Application.data("binary", "data/bytes"))
  end)

  it("returns configurations and translations as tables", function()
    local level = Application.data("config", "data/level")
    assert.same({ width = 20, tiles = { "grass", "stone" }, spawn = { x = 1.5, flying = false } },
      level)
    assert.equals("Spela", Application.data("strings", "data/menu").play.sv)
  end)

  it("suggests a name, and lists the types", function()
    assert.error_matches(function() Application.data("text", "data/note2") end,
      "there is no text 'data/note2', did you mean 'data/note'%?")
    assert.error_matches(function() Application.data("txt", "data/note") end,
      "'txt' is not plain data, did you mean 'text'%?")
    assert.error_matches(function() Application.data(1, "data/note") end,
      "argument #1 'type' must be string, got number 1")
  end)
end)

describe("Application.can_get", function()
  it("returns true if a variant exists", function()
    assert.is_true(Application.can_get("text", "data/note"))
    assert.is_false(Application.can_get("text", "data/only"))
    assert.is_false(Application.can_get("texture", "data/note"))
    assert.error_matches(function() Application.can_get("text") end, "argument #2 'name'")
  end)
end)

describe("a property preference order", function()
  after_each(function()
    Application.set_property_preference_order()
    test.frames(1)
  end)

  it("takes effect in the next frame, as a list or as arguments", function()
    Application.set_property_preference_order({ "fr" })
    assert.equals("base", Application.data("text", "data/note"))
    test.frames(1)
    assert.equals("français", Application.data("text", "data/note"))
    assert.is_true(Application.can_get("text", "data/only"))
    Application.set_resource_property_preference_order("noblood", "sv")
    test.frames(1)
    assert.equals("base", Application.data("text", "data/note"))
  end)

  it("reports changed resources that the game uses", function()
    local changed
    assert.equals("base", Application.data("text", "data/note"))
    assert.is_false(Application.can_get("text", "data/only"))
    _G.on_reload = function(names) changed = names end
    Application.set_property_preference_order("fr")
    test.frames(1)
    _G.on_reload = nil
    assert.same({ "data/note.text", "data/only.text" }, changed)
  end)

  it("refuses invalid arguments", function()
    local set = Application.set_property_preference_order
    assert.error_matches(function() set("fr", "fr") end, "'fr' appears twice")
    assert.error_matches(function() set({ "linux" }) end, "'linux' is a platform")
    assert.error_matches(function() set(3) end, "property #1 must be a string")
    assert.error_matches(function()
      Application.set_resource_property_preference_order("a.b")
    end, "'a.b' is not a property")
  end)
end)
