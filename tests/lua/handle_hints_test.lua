-- Suite of handles of a different kind than the function expects, and of their error messages.

-- Returns the message without the location in this file.
local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_]+%.lua:%d+: ", ""))
end

describe("a handle of another type", function()
  local world, unit, crate

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/light")
    crate = World.spawn_unit(world, "units/physics/crate")
  end)

  after_each(function() Application.release_world(world) end)

  it("is reported with a hint how to get the right handle", function()
    assert.equals("Light.set_intensity: argument #1 'light': must be a Light, got a Unit "
      .. "(\"core/units/light\"): write Unit.light(unit, 1)",
      error_of(Light.set_intensity, unit, 3))
    assert.matches("must be an Actor, got a Unit (\"units/physics/crate\"): write "
      .. "Unit.actor(unit, 1)", error_of(Actor.mass, crate), 1, true)
    assert.matches("must be a PhysicsWorld, got a World: write World.physics_world(world)",
      error_of(PhysicsWorld.latency, world), 1, true)
    assert.matches("must be a Unit, got an Actor", error_of(Unit.num_nodes, Unit.actor(crate, 1)),
      1, true)
  end)

  it("is reported without a hint if there is none", function()
    local light = Unit.light(unit, 1)
    assert.matches("must be a World, got a Light$", error_of(World.time, light))
  end)

  it("is reported as a number if it is stale", function()
    World.destroy_unit(world, unit)
    assert.matches("must be a Light, and the number %d+ never was one",
      error_of(Light.intensity, unit))
  end)
end)

describe("messages about arguments", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/light")
  end)

  after_each(function() Application.release_world(world) end)

  it("suggest the root node if the node is omitted", function()
    assert.matches("must be integer.*, got Vector3 %(node 1 is the root%)$",
      error_of(Unit.set_local_position, unit, Vector3(1, 2, 3)))
  end)

  it("report a unit without actors", function()
    assert.equals("Unit.actor: argument #2 'actor': unit \"core/units/light\" has no actors",
      error_of(Unit.actor, unit, 1))
  end)
end)
