-- Suite of constraints of state machines: targets, feet on the ground, springs.
local STEP = 1 / 60

describe("constraints of a state machine", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "units/legs")
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function play(seconds)
    for _ = 1, math.floor(seconds / STEP + 0.5) do
      World.update(world, STEP)
    end
  end

  local function at(node)
    return Unit.world_position(unit, Unit.node(unit, node))
  end

  local function near(expected, vector, distance)
    local message = tostring(vector) .. " is not near " .. tostring(expected)
    assert.is_true(Vector3.distance(expected, vector) <= (distance or 0.01), message)
  end

  local function block(position, size)
    local owner = World.spawn_unit(world, "core/units/empty", position)
    Unit.create_actor(owner, "block", { type = "static", shape = "box", size = size })
    return owner
  end

  -- Returns the direction in which the head looks: forward is y.
  local function gaze()
    local node = Unit.node(unit, "Head")
    return Quaternion.rotate(Unit.world_rotation(unit, node), Vector3(0, 1, 0))
  end

  it("have targets, by name and by index", function()
    assert.is_true(Unit.animation_has_constraint_target(unit, "goal"))
    assert.is_true(Unit.animation_has_constraint_target(unit, "kick"))
    assert.is_false(Unit.animation_has_constraint_target(unit, "look"))
    assert.is_false(Unit.animation_has_constraint_target(unit, "tail"))
    local goal = Unit.animation_find_constraint_target(unit, "goal")
    assert.equals(1, goal)
    assert.is_nil(Unit.animation_get_constraint_target(unit, "goal"))
    Unit.animation_set_constraint_target(unit, goal, Vector3(1, 2, 3))
    local pose = Unit.animation_get_constraint_target(unit, "goal")
    near(Vector3(1, 2, 3), Matrix4x4.translation(pose))
    local turn = Quaternion(Vector3.up(), 1)
    pose = Matrix4x4.from_quaternion_position(turn, Vector3(4, 5, 6))
    Unit.animation_set_constraint_target(unit, "goal", pose)
    local read = Unit.animation_get_constraint_target(unit, 1)
    near(Vector3(4, 5, 6), Matrix4x4.translation(read))
    near(Quaternion.rotate(turn, Vector3.right()), Matrix4x4.right(read))
    Unit.animation_set_constraint_target(unit, "goal", nil)
    assert.is_nil(Unit.animation_get_constraint_target(unit, goal))
  end)

  it("fade with the states that have them", function()
    local before = gaze()
    Unit.animation_set_constraint_target(unit, "goal", at("Head") + Vector3(0, 0, 10))
    play(0.2)
    near(before, gaze())
    Unit.animation_event(unit, "watch")
    play(0.25)
    local half = gaze()
    play(0.5)
    local whole = gaze()
    assert.is_true(half.z > 0.1 and half.z < whole.z - 0.1, tostring(half))
    near(Vector3(0, math.cos(math.rad(45)), math.sin(math.rad(45))), whole, 0.02)
    Unit.animation_set_constraint_target(unit, "goal", nil)
    play(0.1)
    near(before, gaze())
  end)

  it("move a limb to its target in the world", function()
    Unit.set_local_position(unit, 1, Vector3(5, -3, 1))
    Unit.set_local_rotation(unit, 1, Quaternion(Vector3.up(), 2))
    play(0.1)
    local goal = at("LeftFoot") + Vector3(0.1, 0.2, 0.3)
    Unit.animation_set_constraint_target(unit, "kick", goal)
    Unit.animation_event(unit, "kick")
    play(0.1)
    near(goal, at("LeftFoot"))
    local turn = Quaternion(Vector3.right(), 0.5)
    local pose = Matrix4x4.from_quaternion_position(turn, goal)
    Unit.animation_set_constraint_target(unit, "kick", pose)
    play(0.1)
    near(goal, at("LeftFoot"))
    local foot = Unit.world_rotation(unit, Unit.node(unit, "LeftFoot"))
    near(Quaternion.rotate(turn, Vector3.up()), Quaternion.rotate(foot, Vector3.up()))
    Unit.animation_event(unit, "rest")
    play(0.5)
    assert.is_true(Vector3.distance(goal, at("LeftFoot")) > 0.2)
  end)

  it("place feet on the ground below them", function()
    block(Vector3(0, 0, -0.5), Vector3(20, 20, 1))
    play(0.5)
    local left, right = at("LeftFoot"), at("RightFoot")
    near(Vector3(left.x, left.y, 0), left)
    block(Vector3(left.x, 0, 0.1), Vector3(math.abs(left.x), 2, 0.2))
    play(1)
    near(Vector3(left.x, left.y, 0.2), at("LeftFoot"), 0.02)
    near(right, at("RightFoot"), 0.02)
    -- In a hole, both feet and the pelvis go down.
    Unit.set_local_position(unit, 1, Vector3(0, 5, 0.3))
    local pelvis = at("Pelvis").z
    play(1)
    near(Vector3(left.x, 5 + left.y, 0), at("LeftFoot"), 0.02)
    assert.near(pelvis - 0.3, at("Pelvis").z, 0.02)
    -- Bodies of the unit itself are no ground.
    Unit.create_actor(unit, "shell", { type = "kinematic", shape = "box", size = Vector3(2, 2, 0.2),
      position = Vector3(0, 0, 0.2) })
    play(1)
    near(Vector3(left.x, 5 + left.y, 0), at("LeftFoot"), 0.02)
  end)

  it("let chains swing, and hang", function()
    local high = at("Tail3").z
    play(6)
    local root, tip = at("Tail1"), at("Tail3")
    assert.is_true(tip.z < high - 0.5, tostring(tip))
    near(Vector3(root.x, root.y, root.z - 0.6), tip, 0.05)
  end)

  it("leave a character of scale zero, and one far away, in a finite pose", function()
    Unit.animation_set_constraint_target(unit, "kick", Vector3(1e30, 0, 0))
    Unit.animation_event(unit, "kick")
    for _, scale in ipairs({ Vector3(0, 0, 0), Vector3(1, 0, 1), Vector3(1e-20, 1, -1) }) do
      Unit.set_local_scale(unit, 1, scale)
      play(0.1)
      for node = 1, Unit.num_nodes(unit) do
        assert.is_true(Vector3.is_valid(Unit.world_position(unit, node)))
      end
    end
    Unit.set_local_scale(unit, 1, Vector3(1, 1, 1))
    Unit.animation_event(unit, "rest")
    Unit.set_local_position(unit, 1, Vector3(1e6, 1e6, 1e6))
    play(0.5)
    assert.is_true(Vector3.is_valid(at("LeftFoot")))
  end)

  it("refuse targets that do not exist", function()
    local function check(pattern, work)
      assert.error_matches(work, pattern)
    end
    check("no constraint target 'look': the constraint 'look' has the target 'goal'", function()
      Unit.animation_set_constraint_target(unit, "look", nil)
    end)
    check("no constraint target 'feet': the constraint 'feet' has no target", function()
      Unit.animation_set_constraint_target(unit, "feet", nil)
    end)
    check("no constraint target 'gaol', did you mean 'goal'", function()
      Unit.animation_set_constraint_target(unit, "gaol", Vector3(0, 0, 0))
    end)
    check("no constraint target 'gaol', did you mean 'goal'", function()
      Unit.animation_find_constraint_target(unit, "gaol")
    end)
    check("2 targets, and 3 is not", function()
      Unit.animation_set_constraint_target(unit, 3, Vector3(0, 0, 0))
    end)
    check("2 targets, and 0 is not", function() Unit.animation_get_constraint_target(unit, 0) end)
    check("Vector3|Matrix4x4", function()
      Unit.animation_set_constraint_target(unit, "goal", "head")
    end)
    check("finite", function()
      Unit.animation_set_constraint_target(unit, "goal", Vector3(0 / 0, 0, 0))
    end)
    local column = World.spawn_unit(world, "units/column")
    check("0 targets", function()
      Unit.animation_set_constraint_target(column, 1, Vector3(0, 0, 0))
    end)
    local cube = World.spawn_unit(world, "core/units/cube")
    check("has no state machine", function()
      Unit.animation_has_constraint_target(cube, "goal")
    end)
    World.destroy_unit(world, cube)
    check("destroyed", function()
      Unit.animation_set_constraint_target(cube, "goal", nil)
    end)
  end)

  it("are part of the saved state", function()
    -- The tail swings after the unit has moved.
    play(0.5)
    Unit.set_local_position(unit, 1, Vector3(0.3, 0, 0))
    play(0.2)
    local kept, before = Unit.animation_get_state(unit), at("Tail3")
    local function swing()
      local points = {}
      for i = 1, 12 do
        World.update(world, STEP)
        points[i] = at("Tail3")
      end
      return points
    end
    local once = swing()
    play(2)
    assert.is_true(Vector3.distance(at("Tail3"), before) > 0.02)
    Unit.animation_set_state(unit, kept)
    for i, point in ipairs(swing()) do near(once[i], point, 1e-4) end
    kept[#kept + 1] = 1
    assert.error_matches(function() Unit.animation_set_state(unit, kept) end, "1 numbers too many")
    kept[#kept], kept[#kept - 3] = nil, 0.5
    assert.error_matches(function() Unit.animation_set_state(unit, kept) end, "animation state")
  end)
end)
