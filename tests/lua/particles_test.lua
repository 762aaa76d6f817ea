-- Suite of particles: effects in worlds and Guis, from creation to end. The motion of particles is
-- tested in src/system/particles.

local STEP = 1 / 60

local function steps(world, count)
  for _ = 1, count do World.update(world, STEP) end
end

describe("particles in a world", function()
  local world

  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("play from their creation to their end", function()
    local id = World.create_particles(world, "particles/puff", Vector3(1, 2, 3))
    assert.is_true(World.are_particles_playing(world, id))
    assert.equals(0, World.num_particles(world, id))
    steps(world, 1)
    assert.equals(10, World.num_particles(world, id))
    assert.equals(10, World.num_particles(world))
    steps(world, 15)
    assert.is_false(World.are_particles_playing(world, id))
    assert.equals(0, World.num_particles(world, id))
  end)

  it("end when they are destroyed, and can be destroyed after their end", function()
    local id = World.create_particles(world, "particles/torch")
    steps(world, 10)
    World.destroy_particles(world, id)
    assert.equals(0, World.num_particles(world))
    World.destroy_particles(world, id)
    World.stop_spawning_particles(world, id)
    assert.error_matches(function() World.move_particles(world, id, Vector3(0, 0, 0)) end,
      'particle effect "particles/torch" was destroyed')
  end)

  it("end with their last particle when they spawn no more", function()
    local id = World.create_particles(world, "particles/torch")
    steps(world, 12)
    World.stop_spawning_particles(world, id)
    steps(world, 10)
    assert.is_true(World.are_particles_playing(world, id))
    steps(world, 25)
    assert.is_false(World.are_particles_playing(world, id))
  end)

  it("have a position, a rotation and a scale", function()
    local turned = Quaternion(Vector3(0, 0, 1), 1)
    local id = World.create_particles(world, "particles/torch", Vector3(1, 0, 0), turned,
      Vector3(2, 2, 2))
    World.move_particles(world, id, Vector3(2, 0, 0), turned, Vector3(1, 1, 1))
    World.move_particles(world, id, Vector3(3, 0, 0))
    steps(world, 5)
    assert.equals(5, World.num_particles(world, id))
  end)

  it("can be linked to units, and have a policy for the unit's end", function()
    local function linked(orphaned)
      local unit = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 5))
      local id = World.create_particles(world, "particles/torch")
      World.link_particles(world, id, unit, 1, Matrix4x4.identity(), orphaned)
      steps(world, 5)
      World.destroy_unit(world, unit)
      steps(world, 1)
      return id
    end
    assert.is_false(World.are_particles_playing(world, linked(nil)))
    assert.is_false(World.are_particles_playing(world, linked("destroy")))
    local stopped, free = linked("stop"), linked("unlink")
    assert.is_true(World.are_particles_playing(world, stopped))
    steps(world, 40)
    assert.is_false(World.are_particles_playing(world, stopped))
    assert.is_true(World.are_particles_playing(world, free))
  end)

  it("are changed by variables", function()
    local power = World.find_particles_variable(world, "particles/torch", "power")
    local id = World.create_particles(world, "particles/torch")
    World.set_particles_variable(world, id, power, Vector3(2, 0, 0))
    steps(world, 10)
    assert.equals(20, World.num_particles(world, id))
  end)

  it("are the same in every run", function()
    local function count()
      local other = Application.new_world()
      World.create_particles(other, "particles/torch")
      steps(other, 33)
      local found = World.num_particles(other)
      Application.release_world(other)
      return found
    end
    assert.equals(count(), count())
  end)

  it("end with their world", function()
    local other = Application.new_world()
    local id = World.create_particles(other, "particles/torch")
    Application.release_world(other)
    assert.is_false(World.are_particles_playing(world, id))
  end)

  it("report invalid arguments", function()
    local function fails(pattern, fn, ...)
      local arguments = { ... }
      assert.error_matches(function() fn(unpack(arguments)) end, pattern)
    end
    local id = World.create_particles(world, "particles/torch")
    local other = Application.new_world()
    fails("argument #2 'name': .*'particles/torhc'", World.create_particles, world,
      "particles/torhc")
    fails("has whiskers, which only stop particles in Guis", World.create_particles, world,
      "particles/rain")
    fails("'scale' must be above 0", World.create_particles, world, "particles/torch",
      Vector3(0, 0, 0), Quaternion.identity(), Vector3(0, 0, 0))
    fails("#2 'id': the effect is in another world", World.move_particles, other, id,
      Vector3(0, 0, 0))
    fails("#2 'id': the effect is in another world", World.set_particles_variable, other, id, 1,
      Vector3(0, 0, 0))
    fails("must be what create_particles returned, got the number 12", World.destroy_particles,
      world, 12)
    fails("must be what create_particles returned", World.stop_spawning_particles, world, world)
    fails("must be what create_particles returned", World.are_particles_playing, world, 1)
    fails("must be what create_particles returned", World.num_particles, world, 1)
    fails("has no variable 'pwoer', did you mean 'power'?", World.find_particles_variable, world,
      "particles/torch", "pwoer")
    fails("'variable' must be 1 to 2", World.set_particles_variable, world, id, 3,
      Vector3(0, 0, 0))
    local unit = World.spawn_unit(world, "core/units/empty")
    fails("argument #4 'node' must be 1 to 1, got 2", World.link_particles, world, id, unit, 2)
    fails("did you mean 'stop'?", World.link_particles, world, id, unit, 1,
      Matrix4x4.identity(), "stpo")
    Application.release_world(other)
  end)
end)

describe("particles in a Gui", function()
  local world, gui

  before_each(function()
    world = Application.new_world()
    gui = World.create_screen_gui(world, "immediate")
  end)
  after_each(function() Application.release_world(world) end)

  it("are updated by the Gui's world and drawn in every frame", function()
    local id = Gui.create_particles(gui, "particles/rain", Vector3(100, 200, 5), 0.5, 2)
    steps(world, 12)
    assert.equals(24, World.num_particles(world, id))
    Gui.move_particles(gui, id, Vector2(300, 200))
    Gui.move_particles(gui, id, Vector3(300, 200, 5), 0.1, 1)
    steps(world, 1)
    assert.equals(26, World.num_particles(world, id))
  end)

  it("run the manual's examples", function()
    for _, name in ipairs({ "fire", "smoke", "sparks", "magic" }) do
      local id = Gui.create_particles(gui, "particles/" .. name, Vector2(300, 300))
      steps(world, 30)
      assert.is_true(World.num_particles(world, id) > 40, name)
      World.destroy_particles(world, id)
    end
    Application.render_world(world)
  end)

  it("refuse positions and numbers that are not finite", function()
    local nan = 0 / 0
    local id = Gui.create_particles(gui, "particles/rain", Vector2(0, 0))
    assert.error_matches(function() Gui.move_particles(gui, id, Vector2(nan, 0)) end, "finite")
    local torch = World.create_particles(world, "particles/torch")
    assert.error_matches(function() World.move_particles(world, torch, Vector3(0, nan, 0)) end,
      "finite")
    assert.error_matches(function()
      World.set_particles_variable(world, torch, 1, Vector3(nan, 0, 0))
    end, "finite")
  end)

  it("end with the Gui", function()
    local id = Gui.create_particles(gui, "particles/rain", Vector2(0, 0))
    World.destroy_gui(world, gui)
    steps(world, 1)
    assert.is_false(World.are_particles_playing(world, id))
  end)

  it("report invalid arguments", function()
    assert.error_matches(function() Gui.create_particles(gui, "particles/rain", 3) end,
      "argument #3 'position' must be Vector3 or Vector2, got number 3")
    assert.error_matches(function() Gui.create_particles(gui, "particles/ran", Vector2(0, 0)) end,
      "argument #2 'name': ")
    assert.error_matches(function()
      Gui.create_particles(gui, "particles/rain", Vector2(0, 0), 0, -1)
    end, "'scale' must be above 0, got %-1")
    local id = Gui.create_particles(gui, "particles/rain", Vector2(0, 0))
    assert.error_matches(function() World.move_particles(world, id, Vector3(0, 0, 0)) end,
      "the effect plays in a Gui: use Gui.move_particles")
    local other = World.create_screen_gui(world)
    assert.error_matches(function() Gui.move_particles(other, id, Vector2(0, 0)) end,
      "the effect plays somewhere else")
    assert.error_matches(function() Gui.move_particles(gui, id, 3) end, "argument #3 'position'")
  end)
end)
