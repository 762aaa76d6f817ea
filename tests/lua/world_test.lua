-- Suite of World: the time of a world by itself. Creation and release are in application_test.lua.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("World", function()
  local world

  before_each(function()
    world = Application.new_world()
  end)

  after_each(function()
    Application.release_world(world)
  end)

  it("has its own time, the sum of its steps", function()
    assert.equals(0, World.time(world))
    World.update(world, 0.5)
    World.update(world, 0.25)
    assert.equals(0.75, World.time(world))
    assert.equals(0.25, World.delta_time(world))
  end)

  it("does not advance by itself", function()
    test.frames(3)
    assert.equals(0, World.time(world))
  end)

  it("refuses negative steps and steps that are not numbers", function()
    assert.equals("World.update: argument #2 'delta' must not be negative, got -1",
      error_of(World.update, world, -1))
    assert.matches("^World.update: argument #2 'delta': must be a finite number, got nan",
      error_of(World.update, world, 0 / 0))
    assert.equals("World.update: argument #2 'delta' must be number, got nothing",
      error_of(World.update, world))
    assert.equals(0, World.time(world))
  end)

  it("is refused with a message if its handle is stale or of another type", function()
    local released = Application.new_world()
    Application.release_world(released)
    for _, name in ipairs({ "time", "delta_time" }) do
      assert.matches("^World." .. name .. ": argument #1 'world'.*world_test.lua",
        error_of(World[name], released))
      assert.matches("^World." .. name .. ": argument #1 'world' must be World, got string",
        error_of(World[name], "world"))
    end
  end)

  it("answers for any number if it is alive", function()
    assert.is_true(World.alive(world))
    assert.is_false(World.alive(0))
    assert.is_false(World.alive(1e300))
    assert.is_false(World.alive(0 / 0))
    assert.is_false(World.alive(nil) or World.alive(false))
    assert.equals("World.alive: argument #1 'world' must be number|false or nil, got boolean true",
      error_of(World.alive, true))
  end)
end)

describe("a world's data", function()
  it("is stored until the world is released", function()
    local world = Application.new_world()
    World.set_data(world, "score", "best", 7)
    assert.equals(7, World.get_data(world, "score", "best"))
    assert.is_true(World.has_data(world, "score"))
    assert.is_false(World.has_data(world, "name"))
    Application.release_world(world)
    for _, name in ipairs({ "set_data", "get_data", "has_data" }) do
      local ok, message = pcall(World[name], world, "score", 1)
      assert.is_false(ok)
      assert.matches("must be World that exists", message)
    end
  end)
end)

describe("a world's flags", function()
  it("must be known strings", function()
    local message = error_of(Application.new_world, Application.DISABLE_PHYSICS, "no_sound")
    assert.matches("argument #1 must be a flag's name: one of 2d, no_physics", message)
    message = error_of(Application.new_world, "no_phisics")
    assert.matches("unknown flag 'no_phisics', did you mean 'no_physics'", message)
  end)

  it("omit parts of the world", function()
    local world = Application.new_world("no_rendering", "no_sound")
    local camera = Application.create_camera()
    Application.render_world(world, camera)
    test.frames(1)
    assert.equals(0, test.draw_calls())
    assert.is_nil(Sound.trigger(world, "sounds/tone"))
    test.frames(1)
    assert.same({}, Sound.history())
    Application.destroy_camera(camera)
    Application.release_world(world)
  end)
end)
