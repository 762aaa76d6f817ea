-- Suite of worlds in textures, and of cameras whose image covers a part of the screen.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a viewport that renders into a texture", function()
  it("shows a world, can be drawn, and is destroyed", function()
    local world, camera = Application.new_world("no_sky"), Application.create_camera()
    Camera.set_local_position(camera, Vector3(0, -5, 0))
    World.spawn_unit(world, "core/units/cube")
    local viewport = Application.create_viewport("tests/screen", 128, 64)
    assert.equals(Vector2(128, 64), Viewport.size(viewport))
    Application.render_world(world, camera, viewport)
    Gui.bitmap(Application.main_gui(), "tests/screen", Vector3(0, 0, 1), Vector2(64, 32))
    test.frames(1)
    local in_texture, on_screen = 0, 0
    for _, draw in ipairs(test.draws()) do
      if draw.world == world then in_texture = in_texture + 1 end
      if draw.name == "tests/screen" then on_screen = on_screen + 1 end
    end
    assert.equals(1, in_texture)
    assert.equals(1, on_screen)
    assert.matches("the texture 'tests/screen' already exists",
      error_of(Application.create_viewport, "tests/screen", 8, 8))
    assert.matches("the texture 'tests/screen' already exists",
      error_of(World.create_texture_gui, world, "tests/screen", 8, 8))
    Application.destroy_viewport(viewport)
    -- The name can be used again at once.
    Application.destroy_viewport(Application.create_viewport("tests/screen", 8, 8))
    test.frames(1)
    Application.destroy_camera(camera)
    Application.release_world(world)
  end)

  it("requires a valid name and size", function()
    assert.matches("a texture takes a name, a width and a height",
      error_of(Application.create_viewport, "tests/none"))
    assert.matches("must have 1 to %d+ texels a side",
      error_of(Application.create_viewport, "tests/none", 1e9, 8))
    assert.matches("must be whole numbers above 0, got %-5 and 0.5",
      error_of(Application.create_viewport, "tests/none", -5, 0.5))
    assert.matches("argument #1 'texture' must be string",
      error_of(Application.create_viewport, {}, 8, 8))
    local gui = World.create_texture_gui(Application.main_world(), "tests/gui", 8, 8)
    assert.matches("the texture 'tests/gui' already exists",
      error_of(Application.create_viewport, "tests/gui", 8, 8))
    World.destroy_gui(Application.main_world(), gui)
  end)
end)

describe("a camera with a viewport", function()
  local camera, viewport

  before_each(function()
    camera = Application.create_camera()
    viewport = Application.create_viewport()
    Viewport.set_rect(viewport, 0.5, 0.25, 0.5, 0.5)
  end)
  after_each(function()
    Application.destroy_camera(camera)
    if Viewport.alive(viewport) then Application.destroy_viewport(viewport) end
  end)

  it("converts between world and screen positions", function()
    local width, height = Gui.resolution()
    local screen, depth = Camera.world_to_screen(camera, Vector3(0, 10, 0), viewport)
    assert.is_true(Vector3.almost_equal(Vector3(width * 0.75, height * 0.5, 0), screen, 1e-3))
    assert.equals(10, depth)
    local back = Camera.screen_to_world(camera, screen, depth, viewport)
    assert.is_true(Vector3.almost_equal(Vector3(0, 10, 0), back, 1e-3))
    local from, direction = Camera.screen_to_ray(camera, screen, viewport)
    assert.is_true(Vector3.almost_equal(Vector3(0, 1, 0), direction, 1e-5))
    assert.is_true(Vector3.almost_equal(Vector3(0, Camera.near_range(camera), 0), from, 1e-5))
    -- Without the viewport the same point is right of the center.
    local _, aside = Camera.screen_to_ray(camera, screen)
    assert.is_true(aside.x > 0.1)
  end)

  it("uses the pixels of the texture", function()
    local texture = Application.create_viewport("tests/aim", 200, 100)
    local screen = Camera.world_to_screen(camera, Vector3(0, 10, 0), texture)
    assert.is_true(Vector3.almost_equal(Vector3(100, 50, 0), screen, 1e-3))
    Application.destroy_viewport(texture)
  end)

  it("refuses a stale viewport", function()
    Application.destroy_viewport(viewport)
    for _, name in ipairs({ "world_to_screen", "screen_to_ray" }) do
      assert.matches("viewport was destroyed",
        error_of(Camera[name], camera, Vector3(0, 0, 0), viewport))
    end
    assert.matches("viewport was destroyed",
      error_of(Camera.screen_to_world, camera, Vector3(0, 0, 0), 1, viewport))
  end)
end)
