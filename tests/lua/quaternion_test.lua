-- Suite of Quaternion: rotations, their algebra, angles, and the messages for invalid use.

local function check_error(fn, expected)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.is_true(tostring(message):find(expected, 1, true) ~= nil, tostring(message))
end
-- Each row: a function, its arguments, and its message for the invalid one.
local function check_arguments(module, name, rows)
  for _, row in ipairs(rows) do
    check_error(function() module[row[1]](unpack(row[2])) end,
      name .. "." .. row[1] .. ": argument " .. row[3])
  end
end
local q = Quaternion.from_elements(0.5, 0.5, 0.5, 0.5)
local v3 = Vector3(1, 2, 3)
local right, forward, up = Vector3.right(), Vector3.forward(), Vector3.up()
local quarter = Quaternion(up, math.pi / 2)

local function near(a, b, tolerance)
  assert.is_true(math.abs(a - b) <= (tolerance or 1e-5), a .. " is not near " .. b)
end

local function near_vector(a, b)
  assert.is_true(Vector3.almost_equal(a, b, 1e-5), a .. " is not near " .. b)
end

local function near_rotation(a, b, tolerance)
  assert.is_true(Quaternion.almost_equal(a, b, tolerance or 1e-4), a .. " is not near " .. b)
end

-- Returns pseudorandom rotations, the same in every run.
local function rotations()
  local list, seed = {}, 1
  local function next_part()
    seed = seed * 16807 % 2147483647
    return seed / 1073741823.5 - 1
  end
  for i = 1, 50 do
    local x, y, z, w = next_part(), next_part(), next_part(), next_part()
    list[i] = Quaternion.normalize(Quaternion.from_elements(x, y, z, w))
  end
  return list
end

describe("Quaternion", function()
  it("is the identity, or created from an axis and an angle in radians", function()
    assert.equals(Quaternion.identity(), Quaternion())
    assert.equals(Quaternion.from_elements(0, 0, 0, 1), Quaternion.identity())
    near_vector(forward, Quaternion(up, math.pi / 2) * right)
    assert.equals(quarter, Quaternion.axis_angle(Vector3(0, 0, 5), math.pi / 2))
    assert.equals(Quaternion.identity(), Quaternion.axis_angle(Vector3.zero(), 1))
  end)

  it("refuses anything else", function()
    check_error(function() Quaternion(0, 0, 0, 1) end,
      "Quaternion: argument #1 'axis' must be Vector3, got number 0: four numbers make one with "
        .. "Quaternion.from_elements(x, y, z, w)")
    check_error(function() Quaternion(nil) end,
      "Quaternion: argument #1 'axis' must be Vector3, got nil")
    check_error(function() Quaternion(up) end,
      "Quaternion: argument #2 'angle' must be number, got nil")
  end)

  it("returns its fields by name and by index", function()
    local e = Quaternion.from_elements(1, 2, 3, 4)
    assert.same({ 1, 2, 3, 4 }, { e.x, e.y, e.z, e.w })
    assert.same({ 1, 2, 3, 4 }, { e[1], e[2], e[3], e[4] })
    assert.same({ 1, 2, 3, 4 }, { Quaternion.to_elements(e) })
    assert.same({ 1, 2, 3, 4 }, Quaternion.as_table(e))
    check_error(function() return e.angle end,
      "Quaternion has no field 'angle': call Quaternion.angle(q)")
    check_error(function() return e.q end, "Quaternion has no field 'q': it has x, y, z, w")
  end)

  it("is immutable", function()
    check_error(function() q.x = 1 end,
      "Quaternions are values: use Quaternion.from_elements(x, y, z, w), which returns a new one")
    check_error(function() Quaternion.set_xyzw(q, 0, 0, 0, 1) end,
      "Quaternion.set_xyzw: values never change: use Quaternion.from_elements(x, y, z, w)")
  end)

  it("compares by its fields, and differs from anything else", function()
    assert.is_true(q == Quaternion.from_elements(0.5, 0.5, 0.5, 0.5))
    assert.is_false(q == Quaternion.identity())
    assert.is_false(q == nil)
    assert.is_false(q == 1)
    assert.is_false(q == Vector4(0.5, 0.5, 0.5, 0.5))
    assert.is_true(Quaternion.equal(q, q))
    assert.is_false(Quaternion.equal(q, -q))
    assert.is_true(Quaternion.almost_equal(q, -q))
    assert.is_false(Quaternion.almost_equal(q, Quaternion.identity()))
    assert.is_true(Quaternion.almost_equal(q, Quaternion.identity(), 0.5))
    for i = 1, 4 do
      local elements = { 0.5, 0.5, 0.5, 0.5 }
      elements[i] = 0.75
      local other = Quaternion.from_elements(unpack(elements))
      assert.is_false(Quaternion.almost_equal(q, other))
      assert.is_false(Quaternion.almost_equal(other, -q))
      assert.is_false(Quaternion.equal(q, other))
      assert.is_false(q == other)
    end
    check_error(function() Quaternion.almost_equal(q, q, "no") end,
      "Quaternion.almost_equal: argument #3 'tolerance' must be number")
  end)

  it("prints its fields", function()
    assert.equals("Quaternion(0.5, 0.5, 0.5, 0.5)", tostring(q))
    assert.equals("Quaternion(0, 0, 0, 1)", Quaternion.to_string(Quaternion.identity()))
    assert.equals("q Quaternion(0, 0, 0, 1)", "q " .. Quaternion())
  end)

  it("refuses operands of other types", function()
    local hint = "a Quaternion multiplies a Quaternion or a Vector3, and is on the left"
    check_error(function() return q * 2 end, "cannot multiply Quaternion and number 2: " .. hint)
    check_error(function() return nil * q end, "cannot multiply nil and Quaternion: " .. hint)
    check_error(function() return v3 * q end, "cannot multiply Vector3 and Quaternion")
    check_error(function() return q + q end, "cannot add Quaternion and Quaternion: use ")
    check_error(function() return q - q end, "cannot subtract Quaternion from Quaternion: use ")
    check_error(function() return q / 2 end, "cannot divide Quaternion by number 2")
    check_error(function() return q < q end, "cannot compare Quaternion with Quaternion")
    check_error(function() return #q end, "Quaternion has no # operator")
  end)

  it("applies the right factor first", function()
    local pitch = Quaternion(right, math.pi / 2)
    near_vector(quarter * (pitch * forward), (quarter * pitch) * forward)
    near_vector(up, (quarter * pitch) * forward)
    near_vector(Vector3(-1, 0, 0), (pitch * quarter) * forward)
    assert.equals(quarter * pitch, Quaternion.multiply(quarter, pitch))
    assert.equals(quarter * v3, Quaternion.rotate(quarter, v3))
    near_vector(Vector3(-2, 1, 3), quarter * v3)
  end)

  it("is reverted by its inverse", function()
    for _, r in ipairs(rotations()) do
      near_rotation(Quaternion.identity(), r * Quaternion.inverse(r))
      near_rotation(Quaternion.inverse(r), Quaternion.conjugate(r))
    end
    local long = Quaternion.from_elements(0, 0, 0, 4)
    assert.equals(Quaternion.from_elements(0, 0, 0, 0.25), Quaternion.inverse(long))
    local none = Quaternion.from_elements(0, 0, 0, 0)
    assert.equals(Quaternion.identity(), Quaternion.inverse(none))
    assert.equals(Quaternion.from_elements(-1, -2, -3, 4),
      Quaternion.conjugate(Quaternion.from_elements(1, 2, 3, 4)))
  end)

  it("has a length and a dot product", function()
    assert.equals(1, Quaternion.norm(q))
    assert.equals(2, Quaternion.norm(Quaternion.from_elements(1, 1, 1, 1)))
    assert.equals(q, Quaternion.normalize(Quaternion.from_elements(3, 3, 3, 3)))
    local none = Quaternion.from_elements(0, 0, 0, 0)
    assert.equals(Quaternion.identity(), Quaternion.normalize(none))
    assert.equals(0.5, Quaternion.dot(q, Quaternion.identity()))
  end)

  it("finds numbers that are not finite", function()
    assert.is_true(Quaternion.is_valid(q))
    assert.is_false(Quaternion.is_valid(Quaternion.from_elements(0, 0, 0 / 0, 1)))
    assert.is_false(Quaternion.is_valid(Quaternion.from_elements(1 / 0, 0, 0, 1)))
  end)

  it("returns the rotated axes", function()
    for _, r in ipairs(rotations()) do
      near_vector(r * right, Quaternion.right(r))
      near_vector(r * forward, Quaternion.forward(r))
      near_vector(r * up, Quaternion.up(r))
    end
  end)

  it("interpolates along the shorter arc", function()
    local half = Quaternion(up, math.pi / 4)
    near_rotation(half, Quaternion.lerp(Quaternion.identity(), quarter, 0.5))
    near_rotation(half, Quaternion.lerp(Quaternion.identity(), -quarter, 0.5))
    near_rotation(half, Quaternion.slerp(Quaternion.identity(), -quarter, 0.5))
    near_rotation(quarter, Quaternion.lerp(q, quarter, 1))
    local list = rotations()
    for i = 2, #list do
      local a, b = list[i - 1], list[i]
      local whole = Quaternion.angle_between(a, b)
      for _, t in ipairs({ 0, 0.25, 0.5, 1 }) do
        local even = Quaternion.slerp(a, b, t)
        near(whole * t, Quaternion.angle_between(a, even), 1e-4)
        near(whole * (1 - t), Quaternion.angle_between(even, b), 1e-4)
      end
      near_rotation(Quaternion.slerp(a, b, 0.5), Quaternion.lerp(a, b, 0.5))
      near_rotation(a, Quaternion.lerp(a, b, 0))
    end
    near_rotation(Quaternion(up, math.pi / 20),
      Quaternion.slerp(Quaternion.identity(), quarter, 0.1))
    local close = Quaternion(up, 0.001)
    near_rotation(Quaternion(up, 0.0005), Quaternion.slerp(Quaternion.identity(), close, 0.5), 1e-6)
  end)

  it("looks along Y with Z up", function()
    assert.equals(Quaternion.identity(), Quaternion.look(forward))
    local look = Quaternion.look(Vector3(3, 0, 0))
    near_vector(right, Quaternion.forward(look))
    near_vector(up, Quaternion.up(look))
    look = Quaternion.look(Vector3(0, 5, 5), up)
    near_vector(Vector3(0, math.sqrt(0.5), math.sqrt(0.5)), Quaternion.forward(look))
    near_vector(right, Quaternion.right(look))
    look = Quaternion.look(forward, right)
    near_vector(right, Quaternion.up(look))
  end)

  it("has a valid result if the direction is parallel to up", function()
    assert.equals(Quaternion.identity(), Quaternion.look(Vector3.zero()))
    near_vector(right, Quaternion.right(Quaternion.look(up)))
    near_vector(up, Quaternion.forward(Quaternion.look(up)))
    near_vector(Vector3.down(), Quaternion.forward(Quaternion.look(Vector3.down())))
    near_vector(right, Quaternion.forward(Quaternion.look(right, right)))
    near_vector(forward, Quaternion.forward(Quaternion.look(forward, Vector3.zero())))
    check_error(function() Quaternion.look(up, 1) end,
      "Quaternion.look: argument #2 'up' must be Vector3, got number 1")
  end)

  it("decomposes into an axis and an angle", function()
    for _, r in ipairs(rotations()) do
      local axis, angle = Quaternion.decompose(r)
      near_rotation(r, Quaternion(axis, angle))
      near(angle, Quaternion.angle(r))
      assert.is_true(angle >= 0 and angle <= math.pi + 1e-6)
    end
    local axis, angle = Quaternion.decompose(Quaternion.identity())
    assert.equals(up, axis)
    assert.equals(0, angle)
    near(math.pi / 2, Quaternion.angle(-quarter))
  end)

  it("measures the angle between rotations, even tiny ones", function()
    near(math.pi / 2, Quaternion.angle_between(Quaternion.identity(), -quarter))
    assert.equals(0, Quaternion.angle_between(q, q))
    near(0.0001, Quaternion.angle_between(Quaternion(), Quaternion(up, 0.0001)), 1e-8)
  end)

  it("rotates towards a rotation and stops there", function()
    near_rotation(Quaternion(up, 0.25), Quaternion.rotate_towards(Quaternion(), quarter, 0.25))
    assert.equals(quarter, Quaternion.rotate_towards(Quaternion(), quarter, 2))
    check_error(function() Quaternion.rotate_towards(q, q, -1) end,
      "Quaternion.rotate_towards: argument #3 'max_angle' must be 0 or more, got number -1")
  end)

  it("rotates one direction to another", function()
    near_vector(forward, Quaternion.between(right * 3, forward * 2) * right)
    assert.equals(Quaternion.identity(), Quaternion.between(Vector3.zero(), right))
    for _, r in ipairs(rotations()) do
      local between = Quaternion.between(v3, r * v3 * 2)
      near_vector(r * v3, between * v3)
      near(1, Quaternion.norm(between))
      near(Vector3.angle(v3, r * v3), Quaternion.angle(between), 1e-3)
    end
    for _, d in ipairs({ right, forward, up, v3, Vector3(0, 2, -1) }) do
      near_vector(-d, Quaternion.between(d, -d) * d)
    end
  end)

  it("is created from Euler angles in degrees: X, then Y, then Z, about fixed axes", function()
    near_vector(forward, Quaternion.from_euler_angles_xyz(0, 0, 90) * right)
    local x = Quaternion(right, math.rad(10))
    local y = Quaternion(forward, math.rad(20))
    local z = Quaternion(up, math.rad(30))
    near_rotation(z * y * x, Quaternion.from_euler_angles_xyz(10, 20, 30))
  end)

  it("returns the Euler angles it was created from, and equivalent ones at the poles", function()
    local x, y, z = Quaternion.to_euler_angles_xyz(Quaternion.from_euler_angles_xyz(10, 20, 30))
    near(10, x, 1e-3)
    near(20, y, 1e-3)
    near(30, z, 1e-3)
    for _, pole in ipairs({ 90, -90 }) do
      local r = Quaternion.from_euler_angles_xyz(40, pole, 70)
      x, y, z = Quaternion.to_euler_angles_xyz(r)
      assert.equals(0, x)
      near_rotation(r, Quaternion.from_euler_angles_xyz(x, y, z), 1e-3)
    end
  end)

  it("is created from yaw, pitch and roll in radians", function()
    local yaw, pitch, roll = Quaternion(up, 0.5), Quaternion(right, 0.25), Quaternion(forward, 0.1)
    local r = Quaternion.from_yaw_pitch_roll(0.5, 0.25, 0.1)
    near_rotation(yaw * pitch * roll, r)
    local a, b, c = Quaternion.to_yaw_pitch_roll(r)
    near(0.5, a)
    near(0.25, b)
    near(0.1, c)
    near(0.5, Quaternion.yaw(r))
    near(0.25, Quaternion.pitch(r))
    near(0.1, Quaternion.roll(r))
    near_rotation(yaw, Quaternion.flat_no_roll(r))
  end)

  it("has yaw and pitch when it looks straight up or down", function()
    for _, pitch in ipairs({ math.pi / 2, -math.pi / 2 }) do
      local r = Quaternion.from_yaw_pitch_roll(0.5, pitch, 0.25)
      local a, b, c = Quaternion.to_yaw_pitch_roll(r)
      assert.equals(0, c)
      near_rotation(r, Quaternion.from_yaw_pitch_roll(a, b, c), 1e-3)
    end
  end)

  it("converts to a matrix and back", function()
    for _, r in ipairs(rotations()) do
      local m = Quaternion.matrix4x4(r)
      near_vector(r * v3, m * v3)
      near_rotation(r, Quaternion.from_matrix4x4(m))
    end
  end)

  it("reports the wrong argument", function()
    check_arguments(Quaternion, "Quaternion", {
      { "axis_angle", { 1, 1 }, "#1 'axis' must be Vector3, got number 1" },
      { "axis_angle", { v3, "no" }, "#2 'angle' must be number, got string \"no\"" },
      { "from_elements", { "no", 1, 1, 1 }, "#1 'x' must be number, got string \"no\"" },
      { "from_elements", { 1, "no", 1, 1 }, "#2 'y' must be number, got string \"no\"" },
      { "from_elements", { 1, 1, "no", 1 }, "#3 'z' must be number, got string \"no\"" },
      { "from_elements", { 1, 1, 1, "no" }, "#4 'w' must be number, got string \"no\"" },
      { "to_elements", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "as_table", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "to_string", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "multiply", { 1, q }, "#1 'a' must be Quaternion, got number 1" },
      { "multiply", { q, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "rotate", { 1, v3 }, "#1 'q' must be Quaternion, got number 1" },
      { "rotate", { q, 1 }, "#2 'v' must be Vector3, got number 1" },
      { "inverse", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "conjugate", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "norm", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "normalize", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "dot", { 1, q }, "#1 'a' must be Quaternion, got number 1" },
      { "dot", { q, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "equal", { 1, q }, "#1 'a' must be Quaternion, got number 1" },
      { "equal", { q, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "almost_equal", { 1, q }, "#1 'a' must be Quaternion, got number 1" },
      { "almost_equal", { q, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "almost_equal", { q, q, "no" }, "#3 'tolerance' must be number, got string \"no\"" },
      { "is_valid", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "lerp", { 1, q, 1 }, "#1 'a' must be Quaternion, got number 1" },
      { "lerp", { q, 1, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "lerp", { q, q, "no" }, "#3 't' must be number, got string \"no\"" },
      { "slerp", { 1, q, 1 }, "#1 'a' must be Quaternion, got number 1" },
      { "slerp", { q, 1, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "slerp", { q, q, "no" }, "#3 't' must be number, got string \"no\"" },
      { "right", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "forward", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "up", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "look", { 1 }, "#1 'direction' must be Vector3, got number 1" },
      { "look", { v3, 1 }, "#2 'up' must be Vector3, got number 1" },
      { "angle", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "decompose", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "angle_between", { 1, q }, "#1 'a' must be Quaternion, got number 1" },
      { "angle_between", { q, 1 }, "#2 'b' must be Quaternion, got number 1" },
      { "between", { 1, v3 }, "#1 'from' must be Vector3, got number 1" },
      { "between", { v3, 1 }, "#2 'to' must be Vector3, got number 1" },
      { "from_euler_angles_xyz", { "no", 1, 1 }, "#1 'x' must be number, got string \"no\"" },
      { "from_euler_angles_xyz", { 1, "no", 1 }, "#2 'y' must be number, got string \"no\"" },
      { "from_euler_angles_xyz", { 1, 1, "no" }, "#3 'z' must be number, got string \"no\"" },
      { "to_euler_angles_xyz", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "from_yaw_pitch_roll", { "no", 1, 1 }, "#1 'yaw' must be number, got string \"no\"" },
      { "from_yaw_pitch_roll", { 1, "no", 1 }, "#2 'pitch' must be number, got string \"no\"" },
      { "from_yaw_pitch_roll", { 1, 1, "no" }, "#3 'roll' must be number, got string \"no\"" },
      { "to_yaw_pitch_roll", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "yaw", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "pitch", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "roll", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "flat_no_roll", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "matrix4x4", { 1 }, "#1 'q' must be Quaternion, got number 1" },
      { "from_matrix4x4", { 1 }, "#1 'm' must be Matrix4x4, got number 1" },
      { "rotate_towards", { 1, q, 1 }, "#1 'from' must be Quaternion, got number 1" },
      { "rotate_towards", { q, 1, 1 }, "#2 'to' must be Quaternion, got number 1" },
    })
  end)
end)
