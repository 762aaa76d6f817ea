-- Suite of components that fail, end units in their callbacks, or do not exist.

local frail = require("components.frail")

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a component that fails", function()
  local world

  before_each(function()
    world = Application.new_world()
    frail.doing = {}
  end)

  after_each(function()
    frail.doing = {}
    if World.alive(world) then Application.release_world(world) end
  end)

  local function spawn(name) return World.spawn_unit(world, "units/" .. (name or "frail_one")) end

  it("in its update does not block later updates", function()
    local unit = spawn()
    frail.doing.update = function(units)
      World.destroy_unit(world, units[1])
      error("it is too heavy")
    end
    assert.matches("it is too heavy", error_of(World.update, world, 0.1))
    frail.doing = {}
    local other = Application.new_world()
    World.update(other, 0.1)
    assert.is_false(Unit.alive(unit), "what was to end after the update has ended")
    Application.release_world(other)
    World.update(world, 0.1)
    -- Also in a coroutine, which is dead afterwards.
    spawn()
    frail.doing.update = function() error("it is too light") end
    local routine = coroutine.create(function() World.update(world, 0.1) end)
    assert.is_false(coroutine.resume(routine))
    frail.doing = {}
    World.update(world, 0.1)
  end)

  it("must not update worlds or release its own", function()
    spawn()
    local messages = {}
    frail.doing.update = function()
      messages[1] = error_of(World.update, world, 0.1)
      local routine = coroutine.create(function() return error_of(World.update, world, 0.1) end)
      messages[2] = select(2, coroutine.resume(routine))
      messages[3] = error_of(Application.release_world, world)
    end
    World.update(world, 0.1)
    local busy = "World.update: the component 'frail' is being updated: call it in update(dt)"
    assert.equals(busy, messages[1])
    assert.equals(busy, messages[2])
    assert.equals("Application.release_world: the component 'frail' of the world is being updated: "
      .. "release it in update(dt)", messages[3])
  end)

  it("in its `spawned` leaves no unit", function()
    local heard = 0
    frail.doing.spawned = function() error("no") end
    frail.doing.unspawned = function() heard = heard + 1 end
    assert.matches("no", error_of(spawn))
    frail.doing.spawned = nil
    test.frames(1)
    assert.same({}, World.units(world))
    assert.equals(0, heard, "it did not get to the end of its spawned")
    local updated_count
    frail.doing.update = function(units) updated_count = #units end
    spawn()
    World.update(world, 0.1)
    assert.equals(1, updated_count)
  end)

  it("in its `unspawned` cannot keep a unit alive", function()
    local unit = spawn()
    frail.doing.unspawned = function() error("no") end
    assert.matches("no", error_of(World.destroy_unit, world, unit))
    test.frames(1)
    assert.is_false(Unit.alive(unit))
  end)

  it("in its `unspawned` does not keep the other units that end in that update", function()
    local one, two = spawn(), spawn()
    frail.doing.update = function(units)
      for _, unit in ipairs(units) do World.destroy_unit(world, unit) end
    end
    frail.doing.unspawned = function(units) if units[1] == one then error("no") end end
    assert.matches("no", error_of(World.update, world, 0.1))
    assert.is_true(Unit.alive(two))
    local message
    frail.doing.update = function() message = error_of(World.destroy_unit, world, one) end
    World.update(world, 0.1)
    assert.matches("is already being destroyed", message)
    test.frames(1)
    assert.is_false(Unit.alive(one) or Unit.alive(two))
  end)

  it("in its `unspawned` does not leave the unit to components that were notified", function()
    local hearing = { updated = 0, heard = 0 }
    function hearing.update(units) hearing.updated = #units end
    function hearing.unspawned() hearing.heard = hearing.heard + 1 end
    package.loaded["components.hearing"] = hearing
    local unit = spawn("frail_hearing")
    World.update(world, 0.1)
    assert.equals(1, hearing.updated)
    -- The component that was added last is called first.
    frail.doing.unspawned = function() error("no") end
    assert.matches("no", error_of(World.destroy_unit, world, unit))
    assert.is_true(Unit.alive(unit))
    hearing.updated = 0
    World.update(world, 0.1)
    assert.same({ 1, 0 }, { hearing.heard, hearing.updated })
    test.frames(1)
    assert.is_false(Unit.alive(unit))
    assert.equals(1, hearing.heard)
  end)

  it("must not destroy the unit that is being destroyed", function()
    local unit, message = spawn(), nil
    frail.doing.unspawned = function(units)
      message = error_of(World.destroy_unit, world, units[1])
    end
    World.destroy_unit(world, unit)
    assert.equals('World.destroy_unit: the unit "units/frail_one" is already being destroyed: '
      .. "its components are being notified (unspawned), and need not destroy it", message)
    assert.is_false(Unit.alive(unit))
  end)

  it("may destroy its unit in `spawned`, and later components are then not notified", function()
    local heard = {}
    frail.doing.spawned = function(units)
      heard[#heard + 1] = "spawned"
      World.destroy_unit(world, units[1])
    end
    frail.doing.unspawned = function() heard[#heard + 1] = "unspawned" end
    assert.is_false(Unit.alive(spawn("frail")))
    assert.same({ "spawned", "unspawned" }, heard)
    frail.doing = { update = function(units) heard = units end }
    World.update(world, 0.1)
    assert.equals(2, #heard, "no list has a unit that is gone")
  end)

  it("may destroy other units in `unspawned`, and when a world is released", function()
    local one, two = spawn(), spawn()
    frail.doing.unspawned = function(units)
      local other = units[1] == one and two or one
      frail.doing.unspawned = nil
      World.destroy_unit(world, other)
    end
    Application.release_world(world)
    assert.is_false(Unit.alive(one) or Unit.alive(two))
  end)

  it("may destroy a level after one of its units", function()
    local level = World.spawn_level(world, "levels/frail")
    local units = Level.units(level)
    frail.doing.update = function()
      frail.doing = {}
      World.destroy_unit(world, units[1])
      World.destroy_level(world, level)
    end
    World.update(world, 0.1)
    assert.same({}, World.units(world))
    assert.is_false(Level.alive(level))
  end)

  it("is notified of all units of a level at once, or of those of a frame", function()
    local heard = {}
    frail.doing.spawned = function(units) heard[#heard + 1] = #units end
    local level = World.spawn_level(world, "levels/frail")
    assert.same({ 2, 2 }, heard, "two units with the component twice")
    World.destroy_level(world, level)
    World.spawn_level(world, "levels/frail", nil, nil, { units_per_frame = 1 })
    World.update(world, 0.1)
    assert.same({ 2, 2, 1, 1 }, heard)
    frail.doing.spawned = function(units)
      for _, unit in ipairs(units) do
        if Unit.alive(unit) then World.destroy_unit(world, unit) end
      end
    end
    assert.same({}, Level.units(World.spawn_level(world, "levels/frail")))
  end)

  it("is updated with the remaining units in order after many are destroyed", function()
    local units = {}
    for i = 1, 100 do units[i] = spawn() end
    for i = 1, 100 do
      if i % 7 ~= 0 then World.destroy_unit(world, units[i]) end
    end
    local updated = {}
    frail.doing.update = function(list) for i, unit in ipairs(list) do updated[i] = unit end end
    World.update(world, 0.1)
    assert.equals(14, #updated)
    for i = 1, 14 do assert.equals(units[i * 7], updated[i]) end
  end)

  it("reports names of missing components", function()
    spawn()
    package.loaded["components.frail_late"] = { after = { "phsyics" } }
    package.loaded["components.frail_odd"] = { before = { 3 } }
    package.loaded["components.frail_right"] = { after = { "physics", "frail", "health", "mesh" } }
    local late = spawn("frail_late")
    assert.equals("components/frail_late.lua: 'after' names string \"phsyics\", which is not "
      .. "a component, did you mean 'physics'?", error_of(World.update, world, 0.1))
    package.loaded["components.frail_late"].after = nil
    World.update(world, 0.1)
    World.destroy_unit(world, late)
    spawn("frail_right")
    World.update(world, 0.1)
    spawn("frail_odd")
    assert.equals("components/frail_odd.lua: 'before' names number 3, which is not a component",
      error_of(World.update, world, 0.1))
    package.loaded["components.frail_odd"].before = nil
  end)

  it("reports a cycle of dependencies, which is ignored once no unit uses it", function()
    package.loaded["components.ring_a"] = { after = { "ring_b" } }
    package.loaded["components.ring_b"] = { after = { "ring_a" }, before = "ring_c" }
    package.loaded["components.ring_c"] = {}
    local ring = spawn("ring")
    local message = "components wait for each other in a circle (after, before): ring_a → ring_b → "
      .. "ring_a: leave one of these out"
    assert.equals(message, error_of(World.update, world, 0.1))
    local other = Application.new_world()
    assert.equals(message, error_of(World.update, other, 0.1), "one order is that of all worlds")
    -- This unit has each component of the cycle twice.
    local twin = World.spawn_unit(other, "units/ring_twin")
    World.destroy_unit(world, ring)
    World.destroy_unit(other, twin)
    World.update(other, 0.1)
    World.update(world, 0.1)
    Application.release_world(other)
    package.loaded["components.ring_b"].after = nil
    local order = {}
    for _, name in ipairs({ "ring_c", "ring_b", "ring_a" }) do
      package.loaded["components." .. name].update = function() order[#order + 1] = name end
    end
    spawn("ring")
    World.update(world, 0.1)
    assert.same({ "ring_b", "ring_a", "ring_c" }, order)
  end)

  it("must not have the name of an engine step", function()
    assert.equals('World.spawn_unit: unit "units/ring_of_steps" has the component \'scene_graph\', '
      .. "which is the name of an engine step: rename it",
      error_of(spawn, "ring_of_steps"))
  end)

  it("in its `inspect` does not hide other components", function()
    frail.inspect = function() error("no words") end
    local text = Unit.inspect(spawn())
    frail.inspect = nil
    assert.matches("its inspect fails: .*no words\ndata\n", text)
  end)

  it("is reported with its unit if its module is missing", function()
    local message = error_of(spawn, "mistaken")
    assert.matches("^World.spawn_unit: unit \"units/mistaken\" has the component 'lght', which "
      .. "does not exist, did you mean 'light'%?: the engine has agent, animation, camera, decal, "
      .. "light, ", message)
    assert.matches("and a component of the game is a module components/lght.lua$", message)
    test.frames(1)
    assert.same({}, World.units(world))
  end)
end)

describe("data of a unit", function()
  it("refuses nil keys, and may contain itself", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "units/barrel")
    assert.matches("Unit.set_data: argument #2 'key' must be string or number, got number nan",
      error_of(Unit.set_data, unit, 0 / 0, 1))
    local ring = { name = "ring" }
    ring.ring = ring
    Unit.set_data(unit, "ring", ring)
    assert.matches("ring = the table that it is in", Unit.inspect(unit))
    local top = {}
    local inner = top
    for _ = 1, 20000 do
      inner.deep = {}
      inner = inner.deep
    end
    Unit.set_data(unit, "top", top)
    Unit.set_data(unit, "odd", { [1] = "a", ["1"] = "b", [{}] = function() end })
    local text = Unit.inspect(unit)
    assert.matches("deep = a table with more in it", text)
    assert.matches('\n  odd\n    1 = "a"\n    1 = "b"\n    a table = a function\n', text)
    Unit.set_data(unit, "top", nil)
    Unit.set_local_scale(unit, 1, Vector3(2, 2, 0))
    Unit.set_local_rotation(unit, 1, Quaternion.from_elements(0, 1, 0, 0))
    assert.matches('1 "root" local .* turned Quaternion%(0, 1, 0, 0%) scale Vector3%(2, 2, 0%)',
      Unit.inspect(unit))
    Application.release_world(world)
  end)
end)

describe("a level with a unit that cannot be spawned", function()
  it("reports the unit once, and its world continues", function()
    local world = Application.new_world()
    local slow = World.spawn_level(world, "levels/holey", nil, nil, { units_per_frame = 1 })
    World.update(world, 0.1)
    assert.matches("level \"levels/holey\", unit 'two': there is no unit 'units/nobody'",
      error_of(World.update, world, 0.1))
    World.update(world, 0.1)
    assert.equals(1, #Level.units(slow))
    assert.is_false(Level.is_spawned(slow))
    World.destroy_level(world, slow)
    assert.matches("unit 'two'", error_of(World.spawn_level, world, "levels/holey"))
    test.frames(1)
    assert.same({}, World.levels(world))
    assert.same({}, World.units(world))
    Application.release_world(world)
  end)
end)
