-- Suite of Math: helpers for numbers, oriented boxes, and boxes in frustums.

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
local m, v3 = Matrix4x4.identity(), Vector3(1, 1, 1)

local function near(a, b)
  assert.is_true(math.abs(a - b) <= 1e-6, a .. " is not near " .. b)
end

describe("Math with numbers", function()
  it("finds numbers that are not finite", function()
    assert.is_true(Math.is_valid(1e300))
    assert.is_false(Math.is_valid(0 / 0))
    assert.is_false(Math.is_valid(-1 / 0))
  end)

  it("clamps", function()
    assert.equals(0, Math.clamp(-1, 0, 10))
    assert.equals(10, Math.clamp(11, 0, 10))
    assert.equals(5, Math.clamp(5, 0, 10))
    check_error(function() Math.clamp(1, 2, 1) end,
      "Math.clamp: low is 2 and high is 1: low must not be above high")
  end)

  it("interpolates and inverts interpolation", function()
    assert.equals(15, Math.lerp(10, 20, 0.5))
    assert.equals(30, Math.lerp(10, 20, 2))
    assert.equals(0.5, Math.inverse_lerp(10, 20, 15))
    assert.equals(250, Math.remap(15, 10, 20, 200, 300))
    check_error(function() Math.inverse_lerp(1, 1, 1) end,
      "Math.inverse_lerp: a and b are both 1: they must differ")
    check_error(function() Math.remap(1, 2, 2, 0, 1) end,
      "Math.remap: from_low and from_high are both 2: they must differ")
  end)

  it("rises smoothly between edges", function()
    assert.equals(0, Math.smoothstep(1, 2, 0))
    assert.equals(0.5, Math.smoothstep(1, 2, 1.5))
    assert.equals(0.15625, Math.smoothstep(0, 4, 1))
    assert.equals(1, Math.smoothstep(1, 2, 5))
    assert.equals(1, Math.smoothstep(2, 1, 0))
    check_error(function() Math.smoothstep(1, 1, 1) end,
      "Math.smoothstep: low and high are both 1: they must differ")
  end)

  it("returns the sign", function()
    assert.equals(1, Math.sign(3))
    assert.equals(-1, Math.sign(-0.1))
    assert.equals(0, Math.sign(0))
  end)

  it("rounds halves up", function()
    assert.equals(3, Math.round(2.5))
    assert.equals(-2, Math.round(-2.5))
    assert.equals(7.5, Math.round(7.4, 0.5))
    assert.equals(90, Math.round(80, 45))
    check_error(function() Math.round(1, 0) end,
      "Math.round: argument #2 'step' must be above 0, got number 0")
  end)

  it("wraps into a range", function()
    assert.equals(10, Math.wrap(370, 0, 360))
    assert.equals(350, Math.wrap(-10, 0, 360))
    assert.equals(1, Math.wrap(3, 1, 3))
    assert.is_true(Math.wrap(-1e-18, 0, 360) < 360)
    check_error(function() Math.wrap(1, 3, 3) end,
      "Math.wrap: low is 3 and high is 3: low must be below high")
  end)

  it("moves towards a number and stops there", function()
    assert.equals(3, Math.move_towards(1, 9, 2))
    assert.equals(-1, Math.move_towards(1, -9, 2))
    assert.equals(2, Math.move_towards(1, 2, 5))
    check_error(function() Math.move_towards(1, 2, -1) end,
      "Math.move_towards: argument #3 'step' must be 0 or more, got number -1")
  end)

  it("converts and compares angles", function()
    near(math.pi, Math.degrees_to_radians(180))
    near(180, Math.radians_to_degrees(math.pi))
    near(0.2, Math.angle_difference(math.pi - 0.1, -math.pi + 0.1))
    near(-0.2, Math.angle_difference(-math.pi + 0.1, math.pi - 0.1))
    near(math.pi, Math.lerp_angle(math.pi - 0.1, -math.pi + 0.1, 0.5))
  end)

  it("reports the wrong argument", function()
    check_arguments(Math, "Math", {
      { "is_valid", { "no" }, "#1 'number' must be number, got string \"no\"" },
      { "clamp", { "no", 1, 1 }, "#1 'value' must be number, got string \"no\"" },
      { "clamp", { 1, "no", 1 }, "#2 'low' must be number, got string \"no\"" },
      { "clamp", { 1, 1, "no" }, "#3 'high' must be number, got string \"no\"" },
      { "lerp", { "no", 1, 1 }, "#1 'a' must be number, got string \"no\"" },
      { "lerp", { 1, "no", 1 }, "#2 'b' must be number, got string \"no\"" },
      { "lerp", { 1, 1, "no" }, "#3 't' must be number, got string \"no\"" },
      { "inverse_lerp", { "no", 1, 1 }, "#1 'a' must be number, got string \"no\"" },
      { "inverse_lerp", { 1, "no", 1 }, "#2 'b' must be number, got string \"no\"" },
      { "inverse_lerp", { 1, 1, "no" }, "#3 'value' must be number, got string \"no\"" },
      { "remap", { "no", 1, 1, 1, 1 }, "#1 'value' must be number, got string \"no\"" },
      { "remap", { 1, "no", 1, 1, 1 }, "#2 'from_low' must be number, got string \"no\"" },
      { "remap", { 1, 1, "no", 1, 1 }, "#3 'from_high' must be number, got string \"no\"" },
      { "remap", { 1, 1, 1, "no", 1 }, "#4 'to_low' must be number, got string \"no\"" },
      { "remap", { 1, 1, 1, 1, "no" }, "#5 'to_high' must be number, got string \"no\"" },
      { "smoothstep", { "no", 1, 1 }, "#1 'low' must be number, got string \"no\"" },
      { "smoothstep", { 1, "no", 1 }, "#2 'high' must be number, got string \"no\"" },
      { "smoothstep", { 1, 1, "no" }, "#3 'value' must be number, got string \"no\"" },
      { "sign", { "no" }, "#1 'value' must be number, got string \"no\"" },
      { "round", { "no" }, "#1 'value' must be number, got string \"no\"" },
      { "round", { 1, "no" }, "#2 'step' must be number, got string \"no\"" },
      { "wrap", { "no", 1, 1 }, "#1 'value' must be number, got string \"no\"" },
      { "wrap", { 1, "no", 1 }, "#2 'low' must be number, got string \"no\"" },
      { "wrap", { 1, 1, "no" }, "#3 'high' must be number, got string \"no\"" },
      { "move_towards", { "no", 1, 1 }, "#1 'from' must be number, got string \"no\"" },
      { "move_towards", { 1, "no", 1 }, "#2 'to' must be number, got string \"no\"" },
      { "move_towards", { 1, 1, "no" }, "#3 'step' must be number, got string \"no\"" },
      { "degrees_to_radians", { "no" }, "#1 'degrees' must be number, got string \"no\"" },
      { "radians_to_degrees", { "no" }, "#1 'radians' must be number, got string \"no\"" },
      { "angle_difference", { "no", 1 }, "#1 'from' must be number, got string \"no\"" },
      { "angle_difference", { 1, "no" }, "#2 'to' must be number, got string \"no\"" },
      { "lerp_angle", { "no", 1, 1 }, "#1 'from' must be number, got string \"no\"" },
      { "lerp_angle", { 1, "no", 1 }, "#2 'to' must be number, got string \"no\"" },
      { "lerp_angle", { 1, 1, "no" }, "#3 't' must be number, got string \"no\"" },
      { "point_in_box", { 1, m, v3 }, "#1 'point' must be Vector3, got number 1" },
      { "point_in_box", { v3, 1, v3 }, "#2 'pose' must be Matrix4x4, got number 1" },
      { "point_in_box", { v3, m, 1 }, "#3 'half' must be Vector3, got number 1" },
      { "ray_box_intersection", { 1, v3, m, v3 }, "#1 'from' must be Vector3, got number 1" },
      { "ray_box_intersection", { v3, 1, m, v3 }, "#2 'direction' must be Vector3, got number 1" },
      { "ray_box_intersection", { v3, v3, 1, v3 }, "#3 'pose' must be Matrix4x4, got number 1" },
      { "ray_box_intersection", { v3, v3, m, 1 }, "#4 'half' must be Vector3, got number 1" },
      { "box_in_frustum", { 1, v3 }, "#1 'pose' must be Matrix4x4, got number 1" },
      { "box_in_frustum", { m, 1 }, "#2 'half' must be Vector3, got number 1" },
      { "box_in_frustum", { m, v3, 1, 1 }, "#3 'normal' must be Vector3, got number 1" },
      { "box_in_frustum", { m, v3, v3, v3 }, "#4 'offset' must be number, got Vector3" },
      { "box_intersects_frustum", { 1, v3 }, "#1 'pose' must be Matrix4x4, got number 1" },
      { "merge_boxes", { m, v3, 1, v3 }, "#3 'pose' must be Matrix4x4, got number 1" },
      { "merge_boxes", { m, 1 }, "#2 'half' must be Vector3, got number 1" },
    })
  end)
end)

-- A box of 2 × 4 × 6 metres at (10, 0, 0), rotated by 90 degrees about Z, so that it extends 2
-- along X and 1 along Y.
local quarter = Quaternion(Vector3.up(), math.pi / 2)
local pose = Matrix4x4.from_quaternion_position(quarter, Vector3(10, 0, 0))
local half = Vector3(1, 2, 3)

describe("Math with boxes", function()
  it("finds points inside, surface included", function()
    assert.is_true(Math.point_in_box(Vector3(10, 0, 0), pose, half))
    assert.is_true(Math.point_in_box(Vector3(11.9, 0.9, -2.9), pose, half))
    assert.is_false(Math.point_in_box(Vector3(12.1, 0, 0), pose, half))
    assert.is_false(Math.point_in_box(Vector3(10, 1.1, 0), pose, half))
    assert.is_false(Math.point_in_box(Vector3(10, 0, 3.1), pose, half))
    assert.is_false(Math.point_in_box(Vector3(0 / 0, 0, 0), pose, half))
    assert.is_true(Math.point_in_box(Vector3(1, 1, 1), m, v3))
  end)

  it("finds no point in a box of scale 0", function()
    for i = 1, 3 do
      local flat = Matrix4x4.with_axis(m, i, Vector3.zero())
      assert.is_false(Math.point_in_box(Vector3.zero(), flat, v3))
      assert.equals(-1, Math.ray_box_intersection(Vector3(-3, 0, 0), Vector3.right(), flat, v3))
    end
  end)

  it("agrees with the coordinates of the pose", function()
    local turned = Matrix4x4.from_quaternion_position_scale(
      Quaternion(Vector3(1, -2, 3), 1), Vector3(3, -4, 5), Vector3(0.5, 2, 3))
    for i = 1, 3 do
      for _, sign in ipairs({ -1, 1 }) do
        local inside = Vector3.with_element(Vector3.zero(), i, half[i] * sign * 0.99)
        local outside = Vector3.with_element(Vector3.zero(), i, half[i] * sign * 1.01)
        assert.is_true(Math.point_in_box(turned * inside, turned, half))
        assert.is_false(Math.point_in_box(turned * outside, turned, half))
        local towards = turned.translation - turned * outside
        near(0.01 / 1.01, Math.ray_box_intersection(turned * outside, towards, turned, half))
        assert.equals(-1, Math.ray_box_intersection(turned * outside, -towards, turned, half))
      end
    end
  end)

  it("uses the scale of the pose", function()
    local doubled = Matrix4x4.with_scale(pose, Vector3(2, 2, 2))
    assert.is_true(Math.point_in_box(Vector3(13.9, 0, 0), doubled, half))
    assert.is_false(Math.point_in_box(Vector3(14.1, 0, 0), doubled, half))
    near(6, Math.ray_box_intersection(Vector3.zero(), Vector3.right(), doubled, half))
  end)

  it("returns the distance of a ray", function()
    near(8, Math.ray_box_intersection(Vector3.zero(), Vector3.right(), pose, half))
    near(4, Math.ray_box_intersection(Vector3.zero(), Vector3.right() * 2, pose, half))
    near(4, Math.ray_box_intersection(Vector3(10, 5, 0), Vector3.backward(), pose, half))
    assert.equals(0, Math.ray_box_intersection(Vector3(10, 0, 0), Vector3.up(), pose, half))
  end)

  it("returns -1 for a miss", function()
    assert.equals(-1, Math.ray_box_intersection(Vector3.zero(), Vector3.left(), pose, half))
    assert.equals(-1, Math.ray_box_intersection(Vector3.zero(), Vector3.forward(), pose, half))
    assert.equals(-1, Math.ray_box_intersection(Vector3(0, 0, 9), Vector3.right(), pose, half))
    assert.equals(-1, Math.ray_box_intersection(Vector3(0, 0, 0), Vector3.zero(), pose, half))
    assert.equals(-1, Math.ray_box_intersection(Vector3.zero(), Vector3(1, 1, 1), pose, half))
  end)

  it("merges boxes in the direction of the first", function()
    local merged, size = Math.merge_boxes(m, v3, pose, half)
    assert.is_true(Vector3.almost_equal(Vector3(5.5, 0, 0), merged.translation))
    assert.is_true(Vector3.almost_equal(Vector3(6.5, 1, 3), size))
    assert.equals(Vector3.right(), merged.x)
    merged, size = Math.merge_boxes(pose, half, m, v3)
    assert.is_true(Vector3.almost_equal(Vector3(1, 6.5, 3), size))
    assert.is_true(Vector3.almost_equal(pose.x, merged.x))
    local turned = Matrix4x4.from_quaternion_position(
      Quaternion(Vector3(1, -2, 3), 1), Vector3(3, -4, 5))
    merged, size = Math.merge_boxes(turned, half)
    assert.is_true(Matrix4x4.almost_equal(turned, merged))
    assert.is_true(Vector3.almost_equal(half, size))
    merged, size = Math.merge_boxes(turned, half, Matrix4x4.from_translation(Vector3(9, 9, 9)), v3)
    for corner = 0, 7 do
      local x, y, z = corner % 2, math.floor(corner / 2) % 2, math.floor(corner / 4)
      local point = Vector3(8 + 2 * x, 8 + 2 * y, 8 + 2 * z)
      assert.is_true(Math.point_in_box(point, merged, size * 1.00001))
    end
    merged, size = Math.merge_boxes(Matrix4x4.with_scale(pose, Vector3(2, 2, 2)), half)
    assert.is_true(Vector3.almost_equal(Vector3(2, 4, 6), size))
    assert.is_true(Vector3.almost_equal(Vector3(1, 1, 1), Matrix4x4.scale(merged)))
  end)

  it("refuses boxes that are not complete", function()
    check_error(function() Math.merge_boxes() end,
      "Math.merge_boxes: takes a pose and half dimensions for each box, got 0 arguments")
    check_error(function() Math.merge_boxes(m, v3, m) end, "got 3 arguments")
    check_error(function() Math.merge_boxes(Matrix4x4.zero(), v3) end,
      "Math.merge_boxes: the pose of the first box has an axis of length 0")
  end)
end)

-- Returns a frustum at the origin along Y: 90 degrees wide and high, from 1 to 10 metres.
local function frustum()
  local s = math.sqrt(0.5)
  return Vector3(s, -s, 0), 0, Vector3(-s, -s, 0), 0, Vector3(0, -s, s), 0, Vector3(0, -s, -s), 0,
    Vector3(0, -1, 0), -1, Vector3(0, 1, 0), 10,
    Vector3(-1, 1, -1), Vector3(1, 1, -1), Vector3(1, 1, 1), Vector3(-1, 1, 1),
    Vector3(-10, 10, -10), Vector3(10, 10, -10), Vector3(10, 10, 10), Vector3(-10, 10, 10)
end

local function planes()
  return unpack({ frustum() }, 1, 12)
end

local function at(x, y, z)
  return Matrix4x4.from_translation(Vector3(x, y, z))
end

describe("Math with frustums", function()
  it("finds boxes that are entirely inside", function()
    assert.is_true(Math.box_in_frustum(at(0, 5, 0), v3, planes()))
    assert.is_false(Math.box_in_frustum(at(0, 1.5, 0), v3, planes()))
    assert.is_false(Math.box_in_frustum(at(4, 5, 0), v3, planes()))
    assert.is_false(Math.box_in_frustum(at(0, -5, 0), v3, planes()))
    assert.is_true(Math.box_in_frustum(at(0, -5, 0), v3, Vector3.forward(), 0))
  end)

  it("finds boxes that touch", function()
    assert.is_true(Math.box_intersects_frustum(at(0, 5, 0), v3, frustum()))
    assert.is_true(Math.box_intersects_frustum(at(0, 1.5, 0), v3, frustum()))
    assert.is_true(Math.box_intersects_frustum(at(5, 5, 0), v3, frustum()))
    assert.is_true(Math.box_intersects_frustum(at(0, 5, 0), v3 * 100, frustum()))
    assert.is_false(Math.box_intersects_frustum(at(0, -5, 0), v3, frustum()))
    assert.is_false(Math.box_intersects_frustum(at(9, 5, 0), v3, frustum()))
    assert.is_false(Math.box_intersects_frustum(at(0, 12, 0), v3, frustum()))
  end)

  it("is exact for all positions and rotations", function()
    local arguments = { frustum() }
    -- Returns the gap between box and frustum. Projecting a point onto the box and each half space
    -- in turn converges to a point in all of them, if one exists.
    local function overlap(box, size)
      local inverse, p = Matrix4x4.inverse(box), box.translation
      for _ = 1, 1000 do
        local outside = 0
        for i = 1, 12, 2 do
          local distance = Vector3.dot(arguments[i], p) - arguments[i + 1]
          outside = math.max(outside, distance)
          if distance > 0 then p = p - arguments[i] * distance end
        end
        if outside < 1e-5 then return 0 end
        local inside = inverse * p
        p = box * Vector3.max(-size, Vector3.min(size, inside))
      end
      local gap = 0
      for i = 1, 12, 2 do
        gap = math.max(gap, Vector3.dot(arguments[i], p) - arguments[i + 1])
      end
      return gap
    end
    local seed = 1
    local function part(low, high)
      seed = seed * 16807 % 2147483647
      return low + (high - low) * seed / 2147483647
    end
    local counts = { touching = 0, apart = 0 }
    for _ = 1, 1000 do
      local turn = Quaternion.normalize(
        Quaternion.from_elements(part(-1, 1), part(-1, 1), part(-1, 1), part(-1, 1)))
      local position = Vector3(part(-14, 14), part(-5, 14), part(-14, 14))
      local box = Matrix4x4.from_quaternion_position(turn, position)
      local size = Vector3(part(0.01, 8), part(0.01, 4), part(0.01, 4))
      size = Vector3.with_element(size, math.floor(part(1, 4)), 0.01)
      local gap = overlap(box, size)
      -- Between the two bounds the projections have not converged.
      if gap < 1e-3 then
        counts.touching = counts.touching + 1
        assert.is_true(Math.box_intersects_frustum(box, size, frustum()))
      elseif gap > 0.1 then
        counts.apart = counts.apart + 1
        assert.is_false(Math.box_intersects_frustum(box, size, frustum()))
      end
    end
    assert.is_true(counts.touching > 250 and counts.apart > 250)
  end)

  it("refuses frustums that are not complete", function()
    check_error(function() Math.box_in_frustum(m, v3) end,
      "Math.box_in_frustum: takes a normal and an offset for each plane, got 0 arguments")
    check_error(function() Math.box_in_frustum(m, v3, v3) end, "got 1 arguments after the box")
    check_error(function() Math.box_intersects_frustum(m, v3, planes()) end,
      "Math.box_intersects_frustum: takes six pairs of normal and offset and eight corners, got 12")
    local arguments = { frustum() }
    arguments[20] = 1
    check_error(function() Math.box_intersects_frustum(m, v3, unpack(arguments)) end,
      "Math.box_intersects_frustum: argument #22 'corner' must be Vector3, got number 1")
  end)
end)
