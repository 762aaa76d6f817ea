-- Suite of components of units: sounds and particles in unit files, questions about components,
-- rates below the frame rate, and the description of a unit as a table.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (tostring(message):gsub("^[%w_/.]+:%d+: ", ""))
end

local world

before_each(function() world = Application.new_world() end)
after_each(function()
  if World.alive(world) then Application.release_world(world) end
end)

describe("the component sound", function()
  it("plays at the spawn of its unit, follows its node and stops with the unit", function()
    local unit = World.spawn_unit(world, "units/noisy", Vector3(1, 2, 3))
    local engine, hum = Unit.voice(unit, "engine"), Unit.voice(unit, "hum")
    assert.equals(2, Unit.num_voices(unit))
    assert.equals(hum, Unit.voice(unit, 1), "in the order of the nodes")
    assert.is_true(Sound.is_playing(engine) and Sound.is_playing(hum))
    test.frames(1)
    local history = Sound.history()
    local recordings = {}
    for _, played in ipairs(history) do recordings[played.recording] = played.bus end
    assert.same({ ["sounds/high"] = "music", ["sounds/tone"] = "music" }, recordings)
    World.destroy_unit(world, unit)
    test.seconds(1)
    assert.is_false(Voice.alive(engine))
    assert.is_true(Voice.alive(hum), "a sound that is unlinked plays on")
    Sound.stop(hum)
  end)

  it("is silent in a world without sound", function()
    local silent = Application.new_world("no_sound")
    local unit = World.spawn_unit(silent, "units/noisy")
    assert.is_nil(Unit.voice(unit, "engine"))
    World.destroy_unit(silent, unit)
    Application.release_world(silent)
  end)

  it("leaves a voice alone that a script linked to another unit", function()
    local unit, other = World.spawn_unit(world, "units/noisy"), nil
    other = World.spawn_unit(world, "core/units/empty")
    local engine = Unit.voice(unit, "engine")
    Sound.link(engine, other, 1)
    World.destroy_unit(world, unit)
    test.seconds(0.5)
    assert.is_true(Voice.alive(engine))
    Sound.stop(engine)
  end)

  it("has no voice after it ended", function()
    local unit = World.spawn_unit(world, "units/noisy")
    Sound.stop(Unit.voice(unit, "engine"), 0)
    test.frames(1)
    assert.is_nil(Unit.voice(unit, "engine"))
    assert.matches("sound 2 ended", Unit.inspect(unit))
    assert.matches("has no sound 'motor'", error_of(Unit.voice, unit, "motor"))
    assert.matches("has the sounds 1 to 2, got 3", error_of(Unit.voice, unit, 3))
    assert.matches("must be string|integer", error_of(Unit.voice, unit))
    assert.matches("must be Unit", error_of(Unit.num_voices, "x"))
  end)
end)

describe("the component particles", function()
  it("plays at the spawn of its unit and follows its node", function()
    local unit = World.spawn_unit(world, "units/noisy", Vector3(0, 0, 1))
    local smoke, spark = Unit.particles(unit, "smoke"), Unit.particles(unit, 1)
    assert.equals(2, Unit.num_particles(unit))
    assert.is_true(World.are_particles_playing(world, smoke))
    assert.is_true(World.are_particles_playing(world, spark))
    for _ = 1, 10 do World.update(world, 1 / 60) end
    assert.is_true(World.num_particles(world, smoke) > 0)
    assert.matches('particles 1 "particles/puff" at node 1, 10 particles, hidden',
      Unit.inspect(unit))
    assert.matches('particles 2 "particles/torch" at node 2, %d+ particles', Unit.inspect(unit))
    World.destroy_unit(world, unit)
    assert.is_false(World.are_particles_playing(world, spark), "destroyed with its unit")
    assert.is_true(World.are_particles_playing(world, smoke), "ends with its last particle")
    for _ = 1, 60 do World.update(world, 1 / 60) end
    assert.is_false(World.are_particles_playing(world, smoke))
  end)

  it("is hidden and shown with its unit or group", function()
    local unit = World.spawn_unit(world, "units/noisy")
    local function line(i) return Unit.inspect(unit):match("particles " .. i .. " [^\n]+") end
    assert.matches("hidden", line(1))
    assert.not_matches("hidden", line(2))
    Unit.set_visibility(unit, "fumes", false)
    assert.matches("hidden", line(2))
    Unit.set_visibility(unit, "fumes", true)
    Unit.set_unit_visibility(unit, false)
    assert.matches("hidden", line(2))
    Unit.set_unit_visibility(unit, true)
    assert.not_matches("hidden", line(2))
    assert.matches("hidden", line(1), "its own setting stays")
  end)

  it("has no effect after it ended", function()
    local unit = World.spawn_unit(world, "units/noisy")
    World.destroy_particles(world, Unit.particles(unit, "spark"))
    assert.is_nil(Unit.particles(unit, "spark"))
    assert.matches("particles 1 ended", Unit.inspect(unit))
    assert.matches("has no particles 'smok', did you mean 'smoke'?",
      error_of(Unit.particles, unit, "smok"), 1, true)
    assert.matches("must be Unit", error_of(Unit.num_particles, "x"))
  end)
end)

describe("questions about components", function()
  it("find components of the engine and of scripts", function()
    local noisy = World.spawn_unit(world, "units/noisy")
    local slow = World.spawn_unit(world, "units/slow")
    assert.is_true(Unit.has_component(noisy, "sound"))
    assert.is_true(Unit.has_component(noisy, "particles"))
    assert.is_false(Unit.has_component(noisy, "slow"))
    assert.is_true(Unit.has_component(slow, "slow"))
    assert.same({ slow }, World.units_with(world, "slow"))
    assert.same({ noisy }, World.units_with(world, "particles"))
    assert.same({}, World.units_with(world, "light"))
    assert.same({}, World.units_with(world, "health"), "a component that no unit has had")
    local other = Application.new_world()
    assert.same({}, World.units_with(other, "slow"))
    Application.release_world(other)
  end)

  it("refuse components that do not exist", function()
    local unit = World.spawn_unit(world, "units/slow")
    assert.equals("Unit.has_component: argument #2 'component': there is no component 'helth', did "
      .. "you mean 'health'?", error_of(Unit.has_component, unit, "helth"))
    assert.matches("there is no component 'scene_graph'",
      error_of(World.units_with, world, "scene_graph"))
    assert.matches("'component' must be string", error_of(World.units_with, world))
    assert.matches("must be Unit", error_of(Unit.has_component, "x", "light"))
  end)
end)

describe("a component with a rate", function()
  local slow = require("components.slow")

  before_each(function()
    slow.log, slow.rate = {}, 4
  end)

  -- Updates the world and returns, for each unit, the times that it was updated with.
  local function play(frames, delta)
    for _ = 1, frames do World.update(world, delta) end
    local times = {}
    for _, entry in ipairs(slow.log) do
      for _, unit in ipairs(entry.units) do
        times[unit] = times[unit] or {}
        table.insert(times[unit], entry.dt)
      end
    end
    return times
  end

  it("is updated that often, with the time since its last update", function()
    local units = World.spawn_units(world, "units/slow",
      { Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(2, 0, 0) })
    local times = play(64, 1 / 32)
    for _, unit in ipairs(units) do
      local sum = 0
      for i, dt in ipairs(times[unit]) do
        sum = sum + dt
        if i > 1 then assert.near(0.25, dt, 1e-9) end
      end
      assert.equals(8, #times[unit])
      assert.is_true(sum > 1.7 and sum <= 2, sum)
    end
  end)

  it("spreads its units over the frames", function()
    local positions = {}
    for i = 1, 64 do positions[i] = Vector3(i, 0, 0) end
    World.spawn_units(world, "units/slow", positions)
    play(8, 1 / 32)
    slow.log = {}
    local most = 0
    for _ = 1, 8 do
      local before = #slow.log
      World.update(world, 1 / 32)
      local count = 0
      for i = before + 1, #slow.log do count = count + #slow.log[i].units end
      most = math.max(most, count)
    end
    assert.equals(8, most, "an eighth of the units in each of eight frames")
  end)

  it("is updated once in a long frame, and follows units that come and go", function()
    local one = World.spawn_unit(world, "units/slow")
    local times = play(3, 1)
    assert.same({ 1, 1, 1 }, times[one])
    local two = World.spawn_unit(world, "units/slow")
    World.destroy_unit(world, one)
    slow.log = {}
    times = play(2, 1)
    assert.is_nil(times[one])
    assert.equals(2, #times[two])
  end)

  it("updates each unit once a period while others come and go in every frame", function()
    local position, living = Vector3(0, 0, 0), {}
    for i = 1, 40 do living[i] = World.spawn_unit(world, "units/slow", position) end
    play(8, 1 / 32)
    for round = 1, 24 do
      -- The first 20 units stay.
      local replaced = 21 + round % 20
      World.destroy_unit(world, living[replaced])
      living[replaced] = World.spawn_unit(world, "units/slow", position)
      World.update(world, 1 / 32)
    end
    slow.log = {}
    local times = play(8, 1 / 32)
    for i, unit in ipairs(living) do assert.equals(1, #(times[unit] or {}), i) end
    local count = 0
    for _, entry in ipairs(slow.log) do count = count + #entry.units end
    assert.equals(40, count, "no unit that was destroyed")
  end)

  it("takes each rate above 0 that is a number", function()
    World.spawn_unit(world, "units/slow")
    for _, rate in ipairs({ 0, -1, 0 / 0, 1001, "often" }) do
      slow.rate = rate
      assert.matches("components/slow.lua: 'rate' must be updates per second, above 0 and at most "
        .. "1000", error_of(World.update, world, 0.1))
    end
    slow.rate = nil
    slow.log = {}
    World.update(world, 0.1)
    World.update(world, 0.1)
    assert.equals(2, #slow.log)
    slow.rate = 1000
    World.update(world, 0.1)
    assert.equals(3, #slow.log)
  end)
end)

describe("the description of a unit as a table", function()
  it("has nodes, components with their fields, and data", function()
    local unit = World.spawn_unit(world, "units/noisy", Vector3(1, 0, 0))
    Unit.set_data(unit, "owner", "Ada")
    local it = Unit.inspect_table(unit)
    assert.equals(unit, it.unit)
    assert.equals("units/noisy", it.name)
    assert.equals(world, it.world)
    assert.is_nil(it.level)
    assert.equals(2, #it.nodes)
    assert.equals("pipe", it.nodes[2].name)
    assert.equals(1, it.nodes[2].parent)
    assert.equals(Vector3(1, 0, 2), it.nodes[2].world_position)
    assert.equals(Quaternion.identity(), it.nodes[2].rotation)
    local parts = {}
    for _, part in ipairs(it.components) do parts[part.name] = part end
    assert.equals("particles", parts.smoke.component)
    assert.equals(2, parts.smoke.node)
    assert.equals("particles/torch", parts.smoke.fields.effect)
    assert.equals(4, #it.components)
    assert.equals(4, #it.state)
    assert.same({ owner = "Ada" }, it.data)
    it.data.owner = "Eve"
    assert.equals("Ada", Unit.get_data(unit, "owner"))
    assert.matches("Unit.inspect_table: argument #1 'unit' must be Unit",
      error_of(Unit.inspect_table, "x"))
  end)

  it("has the texts of script components", function()
    local unit = World.spawn_unit(world, "units/varied")
    for _, part in ipairs(Unit.inspect_table(unit).components) do
      assert.equals(part.name == "health" and "10 left" or nil, part.text)
    end
  end)
end)
