-- Units whose physics is switched off and on again, and what a unit's file says of its movers.

local function words_of(fn, ...)
  local ok, words = pcall(fn, ...)
  assert.is_false(ok)
  return (words:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(expected, vector, distance)
  local words = tostring(vector) .. " is not near " .. tostring(expected)
  assert.is_true(Vector3.distance(expected, vector) <= (distance or 0.02), words)
end

local STEP = 1 / 60

describe("a unit without physics for a while", function()
  local world, physics

  local function play(frames)
    for _ = 1, frames do World.update(world, STEP) end
  end

  local function above(x, y)
    return PhysicsWorld.raycast(physics, Vector3(x, y, 50), Vector3.down(), 100, "any", "types",
      "dynamics")
  end

  local function begin(...)
    world = Application.new_world(...)
    physics = World.physics_world(world)
    PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
  end

  before_each(function() begin() end)
  after_each(function() Application.release_world(world) end)

  it("is neither moved nor found, and goes on where it is then", function()
    for _, flag in ipairs({ "none", "pipelined_physics" }) do
      if flag ~= "none" then
        Application.release_world(world)
        begin(flag)
      end
      local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 5))
      play(5)
      Unit.disable_physics(crate)
      assert.is_false(above(0, 0))
      local at = Unit.world_position(crate)
      play(30)
      near(at, Unit.world_position(crate), 0.05)
      assert.is_false(above(0, 0))
      Unit.set_local_position(crate, 1, Vector3(3, 0, 4))
      play(2)
      assert.is_false(above(3, 0))
      Unit.disable_physics(crate)
      Unit.enable_physics(crate)
      assert.is_true(above(3, 0))
      Unit.enable_physics(crate)
      play(120)
      near(Vector3(3, 0, 0.5), Unit.world_position(crate), 0.05)
      assert.is_true(above(3, 0))
    end
  end)

  it("holds nothing up, and leaves triggers", function()
    local floor = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 3))
    Unit.create_actor(floor, "shelf", { type = "static", shape = "box", size = { 4, 4, 0.2 } })
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 3.7))
    local zone = World.spawn_unit(world, "units/physics/zone", Vector3(0, 0, 3.6))
    local events = {}
    local function watch(frames)
      for _ = 1, frames do
        World.update(world, STEP)
        for _, touch in ipairs(PhysicsWorld.triggers(physics)) do
          if touch.unit == crate and touch.trigger_unit == zone then
            events[#events + 1] = touch.event
          end
        end
      end
    end
    watch(30)
    assert.same({ "enter" }, events)
    assert.is_true(Unit.world_position(crate).z > 3.4)
    Unit.disable_physics(crate)
    watch(3)
    assert.same({ "enter", "leave" }, events)
    Unit.enable_physics(crate)
    watch(3)
    assert.same({ "enter", "leave", "enter" }, events)
    Unit.disable_physics(floor)
    watch(60)
    assert.is_true(Unit.world_position(crate).z < 0.6, tostring(Unit.world_position(crate)))
  end)

  it("has its mover out of the way of others, too", function()
    local walker = World.spawn_unit(world, "units/physics/walker", Vector3(0, 0, 0.02))
    play(1)
    assert.is_true(above(0, 0))
    Unit.disable_physics(walker)
    assert.is_false(above(0, 0))
    local mover = Unit.mover(walker)
    for _ = 1, 30 do
      Mover.move(mover, Vector3(0.1, 0, 0), STEP)
      play(1)
    end
    Unit.enable_physics(walker)
    near(Vector3(3, 0, 0), Mover.position(mover), 0.05)
    assert.is_true(above(3, 0))
    assert.is_false(above(0, 0))
  end)

  it("knows the movers of its file", function()
    local walker = World.spawn_unit(world, "units/physics/walker")
    assert.equals(2, Unit.num_movers(walker))
    assert.equals(1, Unit.find_mover(walker, "standing"))
    assert.equals(2, Unit.find_mover(walker, "crouching"))
    assert.is_nil(Unit.find_mover(walker, "lying"))
    local crate = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 5))
    assert.equals(0, Unit.num_movers(crate))
    assert.is_nil(Unit.find_mover(World.spawn_unit(world, "core/units/empty"), "standing"))
  end)

  it("says what is wrong", function()
    for _, name in ipairs({ "disable_physics", "enable_physics", "num_movers", "find_mover" }) do
      assert.matches("argument #1 'unit': must be a Unit, and the number 12",
        words_of(Unit[name], 12, "x"))
    end
    local empty = World.spawn_unit(world, "core/units/empty")
    Unit.disable_physics(empty)
    Unit.enable_physics(empty)
    assert.matches("'name' must be string", words_of(Unit.find_mover, empty, 1))
  end)
end)
