-- Suite of the game's render config: settings.sjson selects frames/lines.render_config.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("settings of the render config", function()
  it("have their default until they are set", function()
    assert.equals(false, Application.render_setting("lines"))
    assert.equals(0.5, Application.render_setting("darkness"))
    Application.set_render_setting("lines", true)
    Application.set_render_setting("darkness", 0.25)
    test.frames(1)
    assert.equals(true, Application.render_setting("lines"))
    assert.equals(0.25, Application.render_setting("darkness"))
    Application.set_render_setting("lines", false)
  end)

  it("are limited to their range", function()
    Application.set_render_setting("darkness", 1 / 0)
    assert.equals(1, Application.render_setting("darkness"))
    Application.set_render_setting("darkness", -5)
    assert.equals(0, Application.render_setting("darkness"))
    Application.set_render_setting("darkness", 0 / 0)
    assert.equals(0.5, Application.render_setting("darkness"))
  end)

  it("have a debug view of the engine", function()
    assert.equals("none", Application.render_setting("debug_view"))
    Application.set_render_setting("debug_view", "normals")
    test.frames(1)
    assert.equals("normals", Application.render_setting("debug_view"))
    assert.matches("there is no debug view 'normal', did you mean 'normals'%?",
      error_of(Application.set_render_setting, "debug_view", "normal"))
    assert.matches("must be the name of a debug view",
      error_of(Application.set_render_setting, "debug_view", true))
    Application.set_render_setting("debug_view", "none")
  end)

  it("have a name and a type", function()
    assert.matches("has no setting 'line', did you mean 'lines'",
      error_of(Application.render_setting, "line"))
    assert.matches("has no setting 'line'", error_of(Application.set_render_setting, "line", true))
    assert.matches("'lines' must be true or false",
      error_of(Application.set_render_setting, "lines", 1))
    assert.matches("'darkness' must be a number",
      error_of(Application.set_render_setting, "darkness", true))
    assert.matches("must be a number, true or false",
      error_of(Application.set_render_setting, "lines", "on"))
  end)
end)

describe("a viewport", function()
  it("is drawn by one of the config's viewports", function()
    local viewport = Application.create_viewport("tests/frame", 32, 32)
    Viewport.set_frame(viewport, "mini")
    Application.render_world(Application.main_world(), Application.main_camera(), viewport)
    test.frames(1)
    Viewport.set_frame(viewport)
    assert.matches("no viewport 'minni', did you mean 'mini'",
      error_of(Viewport.set_frame, viewport, "minni"))
    Application.destroy_viewport(viewport)
  end)
end)

describe("Renderer", function()
  it("creates textures that generators and views draw onto", function()
    local texture = Renderer.create_resource("render_target", "tests/target", 16, 16)
    assert.is_true(Viewport.alive(texture))
    assert.matches("no_such", error_of(Renderer.run_resource_generator, "no_such", texture))
    assert.matches("render_target", error_of(Renderer.create_resource, "texture", "tests/a", 8, 8))
    Renderer.destroy_resource(texture)
    assert.is_false(Viewport.alive(texture))
    assert.matches("destroyed", error_of(Renderer.destroy_resource, texture))
  end)
end)
