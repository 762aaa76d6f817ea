-- Suite of Camera and Viewport: position and direction of the view of a world.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local function near(a, b)
  return math.abs(a - b) < 0.001
end

describe("Camera", function()
  local camera

  before_each(function()
    camera = Application.create_camera()
  end)

  after_each(function()
    if Camera.alive(camera) then Application.destroy_camera(camera) end
  end)

  it("has the position and direction that are set", function()
    Camera.set_local_position(camera, Vector3(1, 2, 3))
    local turned = Quaternion.axis_angle(Vector3(0, 0, 1), math.pi / 2)
    Camera.set_local_rotation(camera, turned)
    assert.equals(Vector3(1, 2, 3), Camera.local_position(camera))
    assert.equals(Vector3(1, 2, 3), Camera.world_position(camera))
    assert.is_true(near(Quaternion.dot(turned, Camera.local_rotation(camera)), 1))
    assert.is_true(near(Quaternion.dot(turned, Camera.world_rotation(camera)), 1))
    local pose = Matrix4x4.from_translation(Vector3(0, 0, 9))
    Camera.set_local_pose(camera, pose)
    assert.equals(pose, Camera.local_pose(camera))
    assert.equals(pose, Camera.world_pose(camera))
  end)

  it("has no scale", function()
    local scaled = Matrix4x4.from_axes(Vector3(2, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1),
      Vector3())
    assert.matches("its axes must be at right angles and of length 1",
      error_of(Camera.set_local_pose, camera, scaled))
  end)

  it("converts between world and screen positions", function()
    local width, height = Gui.resolution()
    local screen, depth = Camera.world_to_screen(camera, Vector3(0, 10, 0))
    assert.is_true(near(screen.x, width / 2) and near(screen.y, height / 2) and near(depth, 10))
    local point = Vector3(1, 12, -2)
    screen, depth = Camera.world_to_screen(camera, point)
    assert.is_true(Vector3.distance(Camera.screen_to_world(camera, screen, depth), point) < 0.01)
    local _, behind = Camera.world_to_screen(camera, Vector3(0, -5, 0))
    assert.is_true(near(behind, -5))
  end)

  it("returns finite numbers for a window without a size", function()
    local width, height = Window.resolution()
    test.input({ resize = { 0, 0 } })
    test.frames()
    local square = Camera.projection(camera, 1)
    assert.equals(square, Camera.projection(camera))
    local screen, depth = Camera.world_to_screen(camera, Vector3(0, 10, 0))
    local point = Camera.screen_to_world(camera, screen, depth)
    assert.is_true(Vector3.distance(point, Vector3(0, 10, 0)) < 0.01)
    local world = Application.new_world()
    Application.render_world(world, camera)
    test.input({ resize = { width, height } })
    test.frames()
    Application.release_world(world)
  end)

  it("tests visibility", function()
    assert.is_true(Camera.inside_frustum(camera, Vector3(0, 10, 0)) > 0)
    assert.is_true(Camera.inside_frustum(camera, Vector3(0, -10, 0)) < 0)
  end)

  it("has a projection", function()
    assert.equals("perspective", Camera.projection_type(camera))
    Camera.set_vertical_fov(camera, 1)
    assert.is_true(near(Camera.vertical_fov(camera), 1))
    Camera.set_near_range(camera, 0.5)
    Camera.set_far_range(camera, 50)
    assert.same({ 0.5, 50 }, { Camera.near_range(camera), Camera.far_range(camera) })
    local before = Camera.projection(camera, 2)
    Camera.set_frustum_half_angles(camera, -0.7, 0.7, -0.5, 0.5)
    assert.are_not.equals(before, Camera.projection(camera, 2))
    Camera.set_frustum(camera, -1, 1, -1, 1)
    Camera.set_projection_type(camera, "orthographic")
    Camera.set_orthographic_view(camera, -2, 2, -1, 1)
    assert.equals("orthographic", Camera.projection_type(camera))
    local screen = Camera.world_to_screen(camera, Vector3(2, 5, 0))
    assert.is_true(near(screen.x, (Gui.resolution())))
  end)

  it("refuses invalid ranges and angles", function()
    assert.matches("above 0 and below pi radians, got 60", error_of(Camera.set_vertical_fov, camera,
      60))
    assert.matches("'near' must be above 0", error_of(Camera.set_near_range, camera, 0))
    assert.matches("'far' must be more than the near range",
      error_of(Camera.set_far_range, camera, 0))
    assert.matches("did you mean 'perspective'", error_of(Camera.set_projection_type, camera,
      "perspectiv"))
    assert.matches("the edges must be in order", error_of(Camera.set_frustum, camera, 1, -1, 0, 1))
    assert.matches("the edges must be in order",
      error_of(Camera.set_orthographic_view, camera, 1, -1, 0, 1))
    assert.matches("less than half of pi",
      error_of(Camera.set_frustum_half_angles, camera, -2, 2, -1, 1))
    assert.matches("'aspect' must be above 0", error_of(Camera.projection, camera, -1))
    assert.matches("must have length 1",
      error_of(Camera.set_local_rotation, camera, Quaternion.from_elements(0, 0, 0, 2)))
  end)

  it("refuses numbers for which there is no projection", function()
    for _, number in ipairs({ 0 / 0, 1 / 0, -1 / 0 }) do
      for _, name in ipairs({ "set_vertical_fov", "set_near_range", "set_far_range",
        "projection" }) do
        assert.matches("must be a finite number", error_of(Camera[name], camera, number))
      end
      assert.matches("must be finite",
        error_of(Camera.set_local_position, camera, Vector3(number, 0, 0)))
      assert.matches("must be finite",
        error_of(Camera.world_to_screen, camera, Vector3(0, number, 0)))
      assert.matches("must be finite",
        error_of(Camera.screen_to_ray, camera, Vector3(number, 0, 0)))
      assert.matches("'depth': must be a finite number",
        error_of(Camera.screen_to_world, camera, Vector3(0, 0, 0), number))
      assert.matches("must be a finite number",
        error_of(Camera.set_orthographic_view, camera, -1, number, -1, 1))
      assert.matches("must be a finite number",
        error_of(Camera.set_frustum, camera, -1, 1, -1, number))
      assert.matches("must be a finite number",
        error_of(Camera.set_frustum_half_angles, camera, -1, 1, number, 1))
    end
    for _, angle in ipairs({ 0, -1, math.pi, 180 }) do
      assert.matches("Camera.set_vertical_fov: argument #2 'angle' must be above 0 and below pi",
        error_of(Camera.set_vertical_fov, camera, angle))
    end
    for _, angle in ipairs({ 1e-300, math.pi - 1e-12 }) do
      assert.matches("'angle' must be at least 0.0001 radians from 0 and from pi",
        error_of(Camera.set_vertical_fov, camera, angle))
    end
    for _, near in ipairs({ 0, -1, 1e-300, 1000, 2000 }) do
      assert.matches("'near' must be above 0 in perspective", error_of(Camera.set_near_range,
        camera, near))
    end
    assert.matches("'near' must be at most 1000000000 metres %(VIEW_DISTANCE_MAX%), got %-1e300",
      error_of(Camera.set_near_range, camera, -1e300))
    assert.matches("'far' must be at most 1000000000 metres",
      error_of(Camera.set_far_range, camera, 1e300))
    assert.matches("'far' must be more than the near range 0.1",
      error_of(Camera.set_far_range, camera, 0.1))
    assert.matches("'depth' must be at most 1000000000 metres",
      error_of(Camera.screen_to_world, camera, Vector3(0, 0, 0), 1e300))
    for _, aspect in ipairs({ 0, -1, 1e-300, 1e300 }) do
      assert.matches("'aspect' must be above 0", error_of(Camera.projection, camera, aspect))
    end
    assert.matches("'min_x', 1, must be less than 'max_x', 1",
      error_of(Camera.set_orthographic_view, camera, 1, 1, 0, 1))
    assert.matches("'min_z', 1, must be less than 'max_z', %-1",
      error_of(Camera.set_orthographic_view, camera, 0, 1, 1, -1))
    assert.matches("#3 'max_x' must be at most", error_of(Camera.set_orthographic_view, camera, 0,
      1e300, 0, 1))
    assert.matches("'bottom', 0.05%d+, must be less than 'top', 0.05",
      error_of(Camera.set_frustum_half_angles, camera, -0.5, 0.5, 0.5, 0.5))
    assert.is_true(near(Camera.near_range(camera), 0.1))
    assert.equals(1000, Camera.far_range(camera))
    assert.is_true(near(Camera.vertical_fov(camera), math.pi / 3))
  end)

  it("returns to perspective only with a positive near range", function()
    Camera.set_projection_type(camera, "orthographic")
    Camera.set_near_range(camera, -5)
    assert.matches("the near range is %-5, and a camera in perspective needs one above 0",
      error_of(Camera.set_projection_type, camera, "perspective"))
    assert.matches("the near range is %-5, and edges in perspective lie in front of the camera",
      error_of(Camera.set_frustum_half_angles, camera, -1, 1, -1, 1))
    assert.equals("orthographic", Camera.projection_type(camera))
    assert.is_true(Camera.inside_frustum(camera, Vector3(0, -4, 0)) > 0)
    local from, direction = Camera.screen_to_ray(camera, Vector3(0, 0, 0))
    assert.is_true(near(from.y, -5))
    assert.equals(Vector3(0, 1, 0), direction)
    Camera.set_near_range(camera, 1)
    Camera.set_projection_type(camera, "perspective")
  end)

  it("has a ray for every screen position, even outside of the view", function()
    local width, height = Gui.resolution()
    for _, screen in ipairs({ Vector3(-width, 2 * height, 0), Vector3(1e30, -1e30, 0),
      Vector3(width / 2, height / 2, 0) }) do
      local from, direction = Camera.screen_to_ray(camera, screen)
      assert.is_true(near(Vector3.length(direction), 1))
      assert.is_true(direction.y >= 0, tostring(direction))
      assert.equals(from, Camera.screen_to_world(camera, screen, Camera.near_range(camera)))
    end
    Camera.set_far_range(camera, 1e9)
    local _, direction = Camera.screen_to_ray(camera, Vector3(width / 2, height / 2, 0))
    assert.is_true(Vector3.distance(direction, Vector3(0, 1, 0)) < 1e-6)
  end)

  it("returns finite results for points behind it, in its plane and far away", function()
    for _, point in ipairs({ Vector3(1, -5, 2), Vector3(1, 0, 0), Vector3(0, 0, 0),
      Vector3(3e38, 3e38, 3e38), Vector3(-3e38, -3e38, 0) }) do
      local pixel, depth = Camera.world_to_screen(camera, point)
      for _, number in ipairs({ pixel.x, pixel.y, depth, Camera.inside_frustum(camera, point) }) do
        assert.is_true(number > -math.huge and number < math.huge, tostring(point))
      end
      assert.is_true((depth > 0) == (point.y > 0))
    end
    assert.is_true(Camera.inside_frustum(camera, Vector3(0, -3e38, 0)) < -1e38)
  end)

  it("of a unit keeps its rotation if its node's scale is 0", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "models/chest")
    local eye = Unit.camera(unit, "Eye")
    local turned = Camera.world_rotation(eye)
    Unit.set_local_scale(unit, 1, Vector3(0, 0, 0))
    World.update(world, 1 / 60)
    assert.is_true(near(math.abs(Quaternion.dot(turned, Camera.world_rotation(eye))), 1))
    local screen, depth = Camera.world_to_screen(eye, Vector3(1, 2, 3))
    assert.is_true(screen.x == screen.x and depth == depth)
    Application.release_world(world)
  end)

  it("has a stale handle after it is destroyed", function()
    assert.is_true(Camera.alive(camera))
    Application.destroy_camera(camera)
    assert.is_false(Camera.alive(camera))
    for _, name in ipairs({ "local_pose", "world_pose", "local_position", "world_position",
      "local_rotation", "world_rotation", "projection_type", "vertical_fov", "near_range",
      "far_range" }) do
      assert.matches("camera was destroyed in frame", error_of(Camera[name], camera))
    end
    assert.matches("must be Vector3",
      error_of(Camera.set_local_position, Application.main_camera()))
    assert.matches("must be Vector3", error_of(Camera.world_to_screen, Application.main_camera()))
    assert.matches("must be Vector3", error_of(Camera.screen_to_world, Application.main_camera()))
    assert.matches("must be Vector3", error_of(Camera.inside_frustum, Application.main_camera()))
    assert.matches("camera was destroyed", error_of(Application.destroy_camera, camera))
    assert.matches("must be number", error_of(Camera.alive, "x"))
  end)

  it("of the main world exists without being created", function()
    assert.equals(Application.main_camera(), Application.main_camera())
  end)
end)

describe("Viewport", function()
  it("is a part of the screen", function()
    local viewport = Application.create_viewport()
    local width, height = Gui.resolution()
    assert.equals(Vector2(width, height), Viewport.size(viewport))
    Viewport.set_rect(viewport, 0.5, 0, 0.5, 1)
    assert.equals(Vector2(width / 2, height), Viewport.size(viewport))
    Viewport.set_background(viewport, nil)
    Viewport.set_background(viewport, Color(1, 2, 3))
    assert.matches("must lie within 0, 0 and 1, 1",
      error_of(Viewport.set_rect, viewport, 0.5, 0, 1, 1))
    assert.matches("must be Color or nil", error_of(Viewport.set_background, viewport, 5))
    local world = Application.new_world()
    Application.render_world(world, nil, viewport)
    test.frames(1)
    Application.release_world(world)
    assert.is_true(Viewport.alive(viewport))
    Application.destroy_viewport(viewport)
    assert.is_false(Viewport.alive(viewport))
    assert.matches("must be number", error_of(Viewport.alive, "x"))
    assert.matches("viewport was destroyed", error_of(Viewport.size, viewport))
    assert.matches("viewport was destroyed", error_of(Application.destroy_viewport, viewport))
    assert.matches("must be World", error_of(Application.render_world))
  end)

  it("is rendered at most 256 times in a frame", function()
    local world = Application.new_world()
    for _ = 1, 256 do Application.render_world(world) end
    assert.matches("256 views are shown in this frame already",
      error_of(Application.render_world, world))
    test.frames(1)
    Application.release_world(world)
  end)
end)

describe("Data", function()
  it("is stored with cameras and viewports", function()
    local camera, viewport = Application.create_camera(), Application.create_viewport()
    for module, handle in pairs({ [Camera] = camera, [Viewport] = viewport }) do
      module.set_data(handle, "shake", "strength", 5)
      assert.equals(5, module.get_data(handle, "shake", "strength"))
      assert.is_nil(module.get_data(handle, "shake", "strength", "more"))
      assert.is_true(module.has_data(handle, "shake"))
      assert.is_false(module.has_data(handle, "other"))
      assert.matches("give at least one key and a value", error_of(module.set_data, handle, "x"))
      assert.matches("'key' must be string or number", error_of(module.get_data, handle, {}))
      assert.matches("'key' must be string or number", error_of(module.has_data, handle, {}))
    end
    Application.destroy_camera(camera)
    Application.destroy_viewport(viewport)
    assert.matches("must be Camera that exists", error_of(Camera.get_data, camera, "shake"))
    assert.matches("must be Viewport that exists", error_of(Viewport.set_data, viewport, "x", 1))
  end)
end)
