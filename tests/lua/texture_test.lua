-- Suite of Texture: images by their names. The images are in pictures/.

describe("Texture.exists", function()
  it("finds images and frames of sheets", function()
    assert.is_true(Texture.exists("pictures/hero"))
    assert.is_true(Texture.exists("pictures/hero/2"))
    assert.is_false(Texture.exists("pictures/hero/9"))
    assert.is_false(Texture.exists("pictures/villain"))
  end)

  it("requires a name", function()
    assert.error_matches(function() Texture.exists(1) end,
      "Texture.exists: argument #1 'name' must be string, got number 1")
  end)
end)

describe("Texture.size", function()
  it("returns the size of the image", function()
    local width, height = Texture.size("pictures/hero")
    assert.same({ 32, 8 }, { width, height })
    width, height = Texture.size("pictures/hero/4")
    assert.same({ 8, 8 }, { width, height })
  end)

  it("reads a KTX2 file with Zstandard compression", function()
    Texture.load("textures/packed")
    assert.same({ 4, 4 }, { Texture.size("textures/packed") })
  end)

  it("limits the transparent colors of a picture", function()
    for color = 1, 64 do
      assert.same({ 16, 8 }, { Texture.size(string.format("textures/ship#0000%02x", color)) })
    end
    for _, picture in ipairs { "textures/ship#000041", "textures/ship#FF0000" } do
      assert.error_matches(function() Texture.size(picture) end,
        "the game uses the picture 'textures/ship' with 64 transparent colors already "
          .. "%(TRANSPARENT_COLORS_MAX%): use fewer colors, or save the picture with transparent "
          .. "texels")
    end
    assert.same({ 16, 8 }, { Texture.size("textures/ship#000001") })
    assert.same({ 32, 8 }, { Texture.size("pictures/hero#000041") })
  end)

  it("suggests existing names", function()
    assert.error_matches(function() Texture.size("pictures/hear") end,
      "Texture.size: argument #1 'name': there is no texture 'pictures/hear'")
    assert.error_matches(function() Texture.size("pictures/hero/9") end,
      "the sheet 'pictures/hero' has no frame '9': it has 4 frames, '1' to '4'")
  end)
end)

describe("Texture.load and Texture.unload", function()
  it("allocate memory and release it", function()
    Texture.unload("pictures/noise")
    local before = Texture.statistics()
    Texture.load("pictures/noise")
    local loaded = Texture.statistics()
    assert.equals(before.textures + 1, loaded.textures)
    assert.is_true(loaded.bytes > 0 and loaded.atlas_layers >= 1 and loaded.slots >= 0)
    test.frames(1)
    assert.equals(loaded.textures, Stats.value("textures/loaded"))
    assert.equals(loaded.bytes, Stats.value("textures/held_bytes"))
    assert.is_true(Stats.value("textures/uploaded") >= 1)
    assert.is_true(Stats.value("textures/uploaded_bytes") >= 8 * 8 * 4)
    test.frames(1)
    assert.equals(0, Stats.value("textures/uploaded"))
    Texture.unload("pictures/noise")
    assert.equals(before.textures, Texture.statistics().textures)
    assert.equals(8, (Texture.size("pictures/noise")))
  end)

  it("refuse missing names", function()
    assert.error_matches(function() Texture.load("nothing") end,
      "Texture.load: argument #1 'name': there is no texture 'nothing'")
    assert.error_matches(function() Texture.unload("nothing") end,
      "Texture.unload: argument #1 'name': there is no texture 'nothing'")
  end)
end)
