-- Slow motion: the world's time, falling barrels, and the pitch of sounds.
local Pace = require "pace"

describe("slow motion", function()
  local world

  setup(function()
    test.boot()
    world = Application.main_world()
    test.seconds(2)
  end)

  local function world_seconds(seconds)
    local before = World.time(world)
    test.seconds(seconds)
    return World.time(world) - before
  end

  -- Returns the speed of a barrel half a second of the player's time after it was released.
  local function falling()
    local barrel = World.spawn_unit(world, "units/drum", Vector3(0, -4, 30))
    test.seconds(0.5)
    local speed = -Actor.velocity(Unit.actor(barrel, "body")).z
    World.destroy_unit(world, barrel)
    return speed
  end

  local function pitch_of_a_hit()
    Sound.trigger(world, "sounds/impact", { parameters = { force = 50 } })
    test.frames(1)
    local history = Sound.history()
    return history[#history].pitch
  end

  it("is switched by a key, gradually", function()
    assert.near(1, world_seconds(1), 0.01)
    local speed, pitch = falling(), pitch_of_a_hit()
    test.input({ tap = "tab" })
    test.frames(10)
    assert.is_true(Pace.now < 1 and Pace.now > Pace.SLOWEST)
    test.seconds(0.5)
    assert.near(Pace.SLOWEST, world_seconds(1), 0.01)
    assert.near(Pace.SLOWEST * speed, falling(), 0.2)
    assert.is_true(pitch_of_a_hit() < 0.6 * pitch)
    test.input({ tap = "tab" })
    test.seconds(0.5)
    assert.near(1, world_seconds(1), 0.01)
  end)
end)
