-- Suite of Material. The materials, their shader and their textures are in pictures/.

local function wave()
  return Material.new("pictures/wave")
end

describe("Material.new", function()
  it("creates a material that can be destroyed", function()
    local material = wave()
    assert.is_true(Material.alive(material))
    assert.equals("pictures/wave", Material.name(material))
    Material.destroy(material)
    assert.is_false(Material.alive(material))
    assert.error_matches(function() Material.name(material) end,
      "argument #1 'material': material \"pictures/wave\" was destroyed in frame %d+")
  end)

  it("creates a material that Guis do not use after it is destroyed", function()
    local gui = World.create_screen_gui(Application.main_world(), "immediate")
    local material = wave()
    Gui.bitmap(gui, material, Vector3(0, 0, 1), Vector2(8, 8), Color(1, 2, 3))
    Material.destroy(material)
    assert.error_matches(function()
      Gui.bitmap(gui, material, Vector3(0, 0, 1), Vector2(8, 8), Color(1, 2, 3))
    end, "Gui.bitmap: argument #2 'material': material \"pictures/wave\" was destroyed in frame "
      .. "%d+ at material_test.lua:%d+")
    assert.error_matches(function() Gui.bitmap(gui, 7, Vector3(0, 0, 1)) end,
      "Gui.bitmap: argument #2 'material': must be a Material, and the number 7 never was one")
    assert.error_matches(function() Material.destroy(material) end, "was destroyed in frame")
    assert.error_matches(function() Material.destroy("x") end, "must be Material, got string")
  end)

  it("accepts a texture in place of a material", function()
    local material = Material.new("pictures/hero")
    Material.set_texture(material, "texture", "pictures/noise")
    Material.destroy(material)
  end)

  it("suggests existing names", function()
    assert.error_matches(function() Material.new("pictures/wavy") end,
      "Material.new: argument #1 'name': there is no material 'pictures/wavy', "
        .. "did you mean 'pictures/wave'%?")
  end)
end)

describe("Gui.material", function()
  it("returns the shared material, which cannot be destroyed", function()
    local gui = World.create_screen_gui(Application.main_world(), "immediate")
    local material = Gui.material(gui, "pictures/wave")
    assert.equals(material, Gui.material(gui, "pictures/wave"))
    assert.error_matches(function() Material.destroy(material) end,
      "the material 'pictures/wave' is shared by everything that draws by its name")
    assert.error_matches(function() Gui.material(gui, "wave") end,
      "Gui.material: argument #2 'name': there is no material 'wave'")
    Gui.bitmap(gui, material, Vector3(0, 0, 1), Vector2(8, 8))
    Gui.bitmap(gui, "pictures/glow", Vector3(0, 0, 1), Vector2(8, 8))
  end)
end)

describe("Material.set_", function()
  it("sets variables of every type", function()
    local material = wave()
    Material.set_scalar(material, "speed", 0.5)
    Material.set_scalar(material, "count", 3)
    Material.set_vector2(material, "place", Vector2(1, 2))
    Material.set_vector3(material, "wind", Vector3(1, 2, 3))
    Material.set_vector4(material, "tint", Vector4(1, 1, 1, 1))
    Material.set_color(material, "tint", Color(255, 128, 0))
    Material.set_matrix4x4(material, "turn", Matrix4x4.identity())
    Material.set_texture(material, "noise", "pictures/hero/2")
    Material.destroy(material)
  end)

  it("lists the variables", function()
    local material = wave()
    local one, matrix = Vector3(1, 1, 1), Matrix4x4.identity()
    assert.error_matches(function() Material.set_scalar(material, "sped", 1) end,
      "Material.set_scalar: argument #2 'name': the material 'pictures/wave' has no variable "
        .. "'sped', did you mean 'speed'%?")
    assert.error_matches(function() Material.set_scalar(material, "tint", 1) end,
      "the variable 'tint' of the material 'pictures/wave' is a vec4f, got a number")
    assert.error_matches(function() Material.set_scalar(material, "speed", 1e300) end,
      "Material.set_scalar: argument #3 'value' is too large: a shader's numbers end at ")
    assert.error_matches(function() Material.set_vector2(material, "speed", Vector2(1, 1)) end,
      "is a f32, got a Vector2")
    assert.error_matches(function() Material.set_vector3(material, "speed", one) end,
      "is a f32, got a Vector3")
    assert.error_matches(function() Material.set_vector4(material, "speed", one) end,
      "argument #3 'value' must be Vector4, got Vector3")
    assert.error_matches(function() Material.set_color(material, "wind", Color(1, 1, 1)) end,
      "is a vec3f, got a Color")
    assert.error_matches(function() Material.set_matrix4x4(material, "tint", matrix) end,
      "is a vec4f, got a Matrix4x4")
    assert.error_matches(function() Material.set_texture(material, "nose", "pictures/hero") end,
      "the material 'pictures/wave' has no texture 'nose', did you mean 'noise'%?")
    assert.error_matches(function() Material.set_texture(material, "noise", "none") end,
      "there is no texture 'none'")
    Material.destroy(material)
    assert.error_matches(function() Material.alive("x") end,
      "must be number|false or nil, got string")
  end)
end)
