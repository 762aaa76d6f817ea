-- The walker, controlled by keys. `engine test .` runs every file in tests/.
local Eye = require "eye"
local Walker = require "walker"

describe("the walker", function()
  setup(function() test.boot() end)

  -- Places it, turned so that W leads along x or y.
  local function put(position, yaw)
    Eye.yaw = yaw
    Mover.set_position(Unit.mover(Walker.unit), position)
    test.frames(30)
  end

  local function walk(seconds)
    test.input({ press = "w" })
    test.seconds(seconds)
    test.input({ release = "w" })
    test.frames(10)
    return Walker.position()
  end

  it("climbs the stairs to the gallery", function()
    put(Vector3(9, 7.5, 0), math.pi / 2)
    local position = walk(1.8)
    assert.near(2.4, position.z, 0.05)
    assert.is_true(position.x < 4)
  end)

  it("walks up the ramp", function()
    put(Vector3(-10.7, -3, 0), 0)
    assert.near(2.4, walk(2.6).z, 0.05)
  end)

  it("stops at walls", function()
    put(Vector3(0, -7, 0), math.pi)
    test.input({ press = "w" })
    test.seconds(1)
    assert.is_true(Mover.collides_sides(Unit.mover(Walker.unit)))
    test.input({ release = "w" })
    test.frames(10)
    assert.near(-8.65, Walker.position().y, 0.03)
  end)

  it("jumps, and lands again", function()
    put(Vector3(0, -6, 0), 0)
    test.input({ tap = "space" })
    test.frames(20)
    assert.is_false(Walker.stands())
    assert.is_true(Walker.position().z > 1)
    test.seconds(1)
    assert.is_true(Walker.stands())
    assert.near(0, Walker.position().z, 0.05)
  end)

  it("faces its direction, and its ball rolls", function()
    put(Vector3(0, -6, 0), -math.pi / 2)
    local ball = Unit.node(Walker.unit, "Ball")
    local before = Unit.local_rotation(Walker.unit, ball)
    walk(0.5)
    assert.near(0, Math.angle_difference(-math.pi / 2, Walker.heading), 0.1)
    assert.is_true(Quaternion.angle_between(before, Unit.local_rotation(Walker.unit, ball)) > 0.1)
  end)

  it("also follows a stick", function()
    put(Vector3(0, -6, 0), 0)
    test.input({ { connect = "pad1" }, { axis = "pad1:left", x = 1, y = 0 } })
    test.seconds(0.5)
    test.input({ axis = "pad1:left", x = 0, y = 0 })
    test.frames(1)
    assert.is_true(Walker.position().x > 1)
  end)
end)
