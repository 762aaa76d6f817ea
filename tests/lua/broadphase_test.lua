-- Suite of Broadphase: adding, moving, and every query. The grid itself has its own tests in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a broadphase", function()
  local near, ids

  before_each(function()
    near = Broadphase.new(4)
    ids = {}
    for i = 1, 10 do
      local category = i % 2 == 0 and "even" or "odd"
      ids[i] = Broadphase.add(near, i * 100, Vector3(i * 10, 0, 0), 1, category)
    end
  end)

  after_each(function() Broadphase.destroy(near) end)

  it("finds near entries in the order in which they were added", function()
    local found = { 1, 2, 3, 4, 5, 6 }
    assert.equals(3, Broadphase.query(near, Vector3(20, 0, 0), 9.5, found))
    assert.same({ 100, 200, 300 }, found)
    assert.equals(1, Broadphase.query(near, Vector3(20, 0, 0), 9.5, found, "even"))
    assert.same({ 200 }, found)
    assert.equals(0, Broadphase.query(near, Vector3(20, 0, 0), 9.5, found, "none"))
    assert.same({}, found)
    assert.equals(10, Broadphase.all(near, found))
  end)

  it("follows moved entries and drops removed ones", function()
    local found = {}
    Broadphase.move(near, ids[10], Vector3(11, 0, 0))
    Broadphase.remove(near, ids[2])
    assert.equals(9, Broadphase.num(near))
    Broadphase.query(near, Vector3(15, 0, 0), 8, found)
    assert.same({ 100, 1000 }, found)
    assert.equals(string.format("Broadphase.move: argument #2 'id': the broadphase has no entry "
      .. "%d: it was removed, or is in another one", ids[2]),
      error_of(Broadphase.move, near, ids[2], Vector3(0, 0, 0)))
    for _, number in ipairs({ 0, -1, 2 ^ 53 }) do
      assert.matches("Broadphase.remove: argument #2 'id': the broadphase has no entry "
        .. "%-?%d+:", error_of(Broadphase.remove, near, number))
    end
    assert.matches("'id': must be a whole number", error_of(Broadphase.remove, near, 1.5))
  end)

  it("refuses a stale id, or an id of another broadphase", function()
    local found, other = {}, Broadphase.new(4)
    Broadphase.remove(near, ids[2])
    local again = Broadphase.add(near, 7, Vector3(20, 0, 0), 1)
    assert.are_not.equals(ids[2], again)
    assert.matches("it was removed", error_of(Broadphase.remove, near, ids[2]))
    assert.matches("it was removed", error_of(Broadphase.move, near, ids[2], Vector3(0, 0, 0)))
    -- In the order in which they were added, although the new one reuses the second slot.
    Broadphase.all(near, found)
    assert.same({ 100, 300, 400, 500, 600, 700, 800, 900, 1000, 7 }, found)
    assert.equals(3, Broadphase.query(near, Vector3(20, 0, 0), 9.5, found))
    assert.same({ 100, 300, 7 }, found)
    Broadphase.add(other, 1, Vector3(0, 0, 0), 1)
    assert.matches("is in another one", error_of(Broadphase.remove, other, ids[1]))
    Broadphase.destroy(other)
  end)

  it("keeps the previous position if the new one is not finite", function()
    local found = {}
    for _, position in ipairs({ Vector3(0 / 0, 0, 0), Vector3(0, 1 / 0, 0) }) do
      assert.matches("argument #3 'position': must be finite",
        error_of(Broadphase.move, near, ids[1], position))
    end
    assert.equals(1, Broadphase.query(near, Vector3(10, 0, 0), 0, found))
    assert.same({ 100 }, found)
  end)

  it("accepts zero and huge sizes", function()
    local found, huge = {}, Vector3(3e38, -3e38, 3e38)
    local point = Broadphase.add(near, 7, Vector3(5, 5, 5), 0)
    local far = Broadphase.add(near, 8, huge, 1)
    assert.equals(1, Broadphase.query(near, Vector3(5, 5, 5), 0, found))
    assert.same({ 7 }, found)
    assert.equals(11, Broadphase.query(near, Vector3(0, 0, 0), 1e30, found))
    assert.equals(1, Broadphase.query(near, huge, 1, found))
    assert.same({ 8 }, found)
    local pose = Matrix4x4.from_translation(Vector3(5, 5, 5))
    assert.equals(1, Broadphase.query_box(near, pose, Vector3(0, 0, 0), found))
    assert.equals(1, Broadphase.query_ray(near, Vector3(5, 5, 0), Vector3(0, 0, 1), 1e30, found))
    assert.same({ 7 }, found)
    assert.equals(0, (Broadphase.query_ray(near, Vector3(5, 5, 0), Vector3(0, 0, 1), 0, found)))
    assert.same({}, found)
    Broadphase.remove(near, point)
    Broadphase.remove(near, far)
    local empty = Broadphase.new(1)
    assert.equals(0, Broadphase.all(empty, found))
    assert.equals(0, Broadphase.query(empty, Vector3(0, 0, 0), 1e30, found))
    Broadphase.destroy(empty)
  end)

  it("lists entries at equal distances in the order in which they were added", function()
    local found = {}
    for i = 1, 5 do Broadphase.add(near, i, Vector3(0, 50, 0), 1) end
    Broadphase.query_ray(near, Vector3(0, 40, 0), Vector3(0, 1, 0), 20, found)
    assert.same({ 1, 2, 3, 4, 5 }, found)
  end)

  it("finds nothing for a camera that looks away, and all for one with a far range", function()
    local found, camera = {}, Application.create_camera()
    Camera.set_local_position(camera, Vector3(50, -20, 0))
    Camera.set_local_rotation(camera, Quaternion.axis_angle(Vector3(0, 0, 1), math.pi))
    assert.equals(0, Broadphase.query_frustum(near, camera, found))
    Camera.set_local_rotation(camera, Quaternion())
    Camera.set_far_range(camera, 1e9)
    Camera.set_vertical_fov(camera, math.pi - 0.01)
    assert.equals(10, Broadphase.query_frustum(near, camera, found))
    Camera.set_local_position(camera, Vector3(3e38, 3e38, -3e38))
    assert.equals(0, Broadphase.query_frustum(near, camera, found))
    Application.destroy_camera(camera)
  end)

  it("queries by box, camera and ray", function()
    local found = {}
    local pose = Matrix4x4.from_quaternion_position(Quaternion(), Vector3(50, 0, 0))
    assert.equals(3, Broadphase.query_box(near, pose, Vector3(9.5, 1, 1), found))
    assert.same({ 400, 500, 600 }, found)
    local camera = Application.create_camera()
    Camera.set_local_position(camera, Vector3(50, -20, 0))
    Camera.set_far_range(camera, 40)
    local seen = Broadphase.query_frustum(near, camera, found)
    assert.is_true(seen >= 3 and seen < 10)
    local right = Vector3(1, 0, 0)
    local count, distance = Broadphase.query_ray(near, Vector3(55, 0, 0), right, 100, found)
    assert.equals(5, count)
    assert.same({ 600, 700, 800, 900, 1000 }, found)
    assert.equals(4, distance)
    count, distance = Broadphase.query_ray(near, Vector3(0, 50, 0), right, 9, found, "odd")
    assert.equals(0, count)
    assert.is_nil(distance)
    local size = Window.resolution()
    local from, direction = Camera.screen_to_ray(camera, Vector3(size / 2, 0, 0))
    assert.is_true(Vector3.almost_equal(Vector3(50, -20, 0), from, 0.2))
    assert.is_true(math.abs(direction.x) < 1e-3)
    Application.destroy_camera(camera)
  end)

  it("refuses invalid arguments", function()
    assert.equals("Broadphase.new: argument #1 'cell_size' must be 0.001 to 1000000 metres, got 0",
      error_of(Broadphase.new, 0))
    assert.equals("Broadphase.add: argument #4 'radius' must not be negative, got -1",
      error_of(Broadphase.add, near, 1, Vector3(0, 0, 0), -1))
    assert.equals("Broadphase.add: argument #5 'categories' must be names",
      error_of(Broadphase.add, near, 1, Vector3(0, 0, 0), 1, 3))
    assert.matches("must not be negative",
      error_of(Broadphase.query, near, Vector3(0, 0, 0), -1, {}))
    assert.matches("'results' must be table", error_of(Broadphase.all, near))
    assert.matches("'results' must be table", error_of(Broadphase.query, near, Vector3(0, 0, 0), 1))
    assert.matches("must have sizes of zero or more",
      error_of(Broadphase.query_box, near, Matrix4x4.identity(), Vector3(-1, 0, 0), {}))
    for _, size in ipairs({ 0 / 0, 1 / 0 }) do
      assert.matches("'cell_size': must be a finite number", error_of(Broadphase.new, size))
      assert.matches("'radius': must be a finite number",
        error_of(Broadphase.add, near, 1, Vector3(0, 0, 0), size))
      assert.matches("'radius': must be a finite number",
        error_of(Broadphase.query, near, Vector3(0, 0, 0), size, {}))
      assert.matches("'length': must be a finite number",
        error_of(Broadphase.query_ray, near, Vector3(0, 0, 0), Vector3(1, 0, 0), size, {}))
    end
    assert.matches("Broadphase.add: argument #4 'radius' must be at most 1e30, got 1e300",
      error_of(Broadphase.add, near, 1, Vector3(0, 0, 0), 1e300))
    assert.matches("Broadphase.query: argument #3 'radius' must be at most 1e30",
      error_of(Broadphase.query, near, Vector3(0, 0, 0), 1e300, {}))
    assert.matches("Broadphase.query_ray: argument #4 'length' must not be negative",
      error_of(Broadphase.query_ray, near, Vector3(0, 0, 0), Vector3(1, 0, 0), -1, {}))
    assert.matches("Broadphase.query_box: argument #2 'pose' has no volume",
      error_of(Broadphase.query_box, near, Matrix4x4.from_axes(Vector3(1, 0, 0), Vector3(1, 0, 0),
        Vector3(0, 0, 1), Vector3()), Vector3(1, 1, 1), {}))
    assert.equals(10, Broadphase.num(near))
    assert.matches("must be", error_of(Broadphase.query_frustum, near, 3, {}))
    assert.matches("must not be zero",
      error_of(Broadphase.query_ray, near, Vector3(0, 0, 0), Vector3(0, 0, 0), 1, {}))
    assert.matches("must be", error_of(Broadphase.num, "x"))
    assert.matches("must be", error_of(Broadphase.destroy, "x"))
    assert.matches("must be", error_of(Camera.screen_to_ray, "x", Vector3(0, 0, 0)))
    local ended = Broadphase.new(1)
    Broadphase.destroy(ended)
    assert.matches("was destroyed", error_of(Broadphase.num, ended))
  end)
end)
