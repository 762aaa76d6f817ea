-- Suite of the events of animations: callbacks, sounds and effects, the log.
local STEP = 1 / 60

local Steps = require("components.steps")

describe("the events of animations", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "units/stepper", Vector3(10, 0, 0))
    Steps.log, Steps.doing = {}, nil
  end)

  after_each(function()
    _G.on_animation_event = nil
    Application.release_world(world)
  end)

  local function play(seconds)
    for _ = 1, math.floor(seconds / STEP + 0.5) do
      World.update(world, STEP)
    end
  end

  local function logged()
    local names = {}
    for i, entry in ipairs(Steps.log) do names[i] = entry.event end
    return names
  end

  it("reach the components of their unit, once", function()
    play(0.2)
    assert.same({}, logged())
    play(0.4)
    assert.same({ "step", "swing" }, logged())
    assert.same({ unit = unit, event = "step", layer = 1 }, Steps.log[1])
    play(1)
    assert.same({ "step", "swing", "step", "step", "swing" }, logged())
  end)

  it("reach the global callback after the components, and the list", function()
    local order = {}
    Steps.doing = function(_, event) order[#order + 1] = "component " .. event end
    function _G.on_animation_event(from, event, layer)
      order[#order + 1] = "global " .. event .. " " .. layer
      assert.equals(unit, from)
    end
    play(0.3)
    assert.same({ "component step", "global step 1" }, order)
    local list = World.animation_events(world)
    assert.same({ { unit = unit, event = "step", layer = 1 } }, list)
    assert.same({}, World.animation_events(world))
    Unit.animation_event(unit, "halt")
    assert.equals(2, #order)
    World.update(world, 0)
    assert.same({ "component rests", "global rests 1" }, { order[3], order[4] })
  end)

  it("end with a unit that a callback destroys", function()
    local other = World.spawn_unit(world, "units/stepper")
    Steps.doing = function(from)
      World.destroy_unit(world, from == unit and other or unit)
      World.destroy_unit(world, from)
    end
    local calls = 0
    function _G.on_animation_event() calls = calls + 1 end
    play(0.3)
    assert.equals(1, #Steps.log)
    assert.equals(0, calls)
    assert.is_false(Unit.alive(unit))
    assert.is_false(Unit.alive(other))
    assert.equals(2, #World.animation_events(world))
    play(1)
  end)

  it("may release their world, spawn units and send events", function()
    local released = Application.new_world()
    local guest = World.spawn_unit(released, "units/stepper")
    Steps.doing = function(from)
      if from == guest then Application.release_world(released) end
    end
    for _ = 1, 20 do
      if World.alive(released) then World.update(released, STEP) end
    end
    assert.is_false(World.alive(released))
    Steps.doing = function(from, event)
      if event == "step" then
        World.spawn_unit(world, "units/stepper")
        Unit.animation_event(from, "halt")
      end
    end
    play(0.3)
    assert.equals("rest", Unit.animation_layer_info(unit).state)
    assert.equals(2, #World.units_with(world, "steps"))
  end)

  it("say where their callback failed", function()
    Steps.doing = function() error("no sand") end
    local ok, problem = pcall(play, 0.3)
    assert.is_false(ok)
    assert.matches("no sand", problem)
    assert.matches("When notifying component: steps", table.concat(Script.contexts(problem), "\n"))
    Steps.doing = nil
    _G.on_animation_event = 5
    assert.error_matches(function() play(1) end, "the global 'on_animation_event' is a number")
  end)

  it("are not lost when the callback of another one fails", function()
    local other = World.spawn_unit(world, "units/stepper")
    local failed
    Steps.doing = function(from)
      if not failed then
        failed = from
        error("no sand")
      end
    end
    local heard = {}
    function _G.on_animation_event(from, event) heard[#heard + 1] = { from, event } end
    assert.is_false((pcall(play, 0.3)))
    assert.same({ "step" }, logged())
    World.update(world, 0)
    local second = failed == unit and other or unit
    assert.same({ { second, "step" } }, heard, "the other one follows")
    -- An update in a callback calls the rest of the callbacks, in order.
    Steps.log, heard = {}, {}
    Steps.doing = function()
      Steps.doing = nil
      World.update(world, 0)
    end
    play(0.4)
    assert.equals(2, #logged())
    assert.same({ second, "swing" }, heard[1])
    assert.same({ failed, "swing" }, heard[2])
  end)

  it("of clips that scripts play reach callbacks, and play sounds", function()
    local post = World.spawn_unit(world, "models/column")
    local heard = {}
    function _G.on_animation_event(from, event, layer)
      if from == post then heard[#heard + 1] = event .. " " .. layer end
    end
    local before = #Sound.history()
    Unit.disable_animation_state_machine(unit)
    Unit.crossfade_animation(post, "animations/stamp", 2)
    play(1)
    test.frames(2)
    assert.same({ "stamped 2" }, heard)
    local history = Sound.history()
    assert.equals(before + 1, #history)
    assert.equals("sounds/high", history[#history].sound)
    assert.error_matches(function() Unit.crossfade_animation(post, "animations/boneless") end,
      "animations/boneless%.animation:%d+: event 'step' at .* s: .*no bone 'Haed', "
      .. "did you mean 'Head'")
  end)

  it("play sounds at the bone", function()
    local before = #Sound.history()
    play(0.3)
    test.frames(2)
    local history = Sound.history()
    assert.equals(before + 1, #history)
    assert.equals("sounds/high", history[#history].sound)
    play(0.5)
    test.frames(2)
    history = Sound.history()
    assert.equals(before + 2, #history)
    assert.equals("sounds/low", history[#history].sound)
    local silent = Application.new_world("no_sound")
    World.spawn_unit(silent, "units/stepper")
    for _ = 1, 60 do World.update(silent, STEP) end
    Application.release_world(silent)
    test.frames(2)
    assert.equals(before + 2, #Sound.history())
  end)

  it("play effects at the bone", function()
    assert.equals(0, World.num_particles(world))
    Unit.animation_event(unit, "halt")
    play(0.1)
    assert.is_true(World.num_particles(world) > 0)
  end)

  it("are logged on request", function()
    Unit.set_animation_logging(unit, true)
    play(0.3)
    Unit.animation_event(unit, "halt")
    Unit.animation_event(unit, "halt")
    play(0.1)
    Unit.set_animation_logging(unit, false)
    Unit.animation_event(unit, "go")
    play(1)
    local other = World.spawn_unit(world, "units/stepper")
    Unit.set_animation_logging(other, true)
    World.destroy_unit(world, other)
    play(0.1)
    assert.error_matches(function()
      Unit.set_animation_logging(World.spawn_unit(world, "core/units/cube"), true)
    end, "has no animations")
  end)

  it("show the skeleton of a unit on request", function()
    assert.same({ "Hip", "Chest", "Head", "Column" }, Unit.bones(unit))
    Unit.debug_draw_skeleton(unit, true)
    play(0.1)
    Unit.debug_draw_skeleton(unit, false)
    Application.console_command("skeletons")
    play(0.1)
    Application.console_command("skeletons")
    local cube = World.spawn_unit(world, "core/units/cube")
    assert.error_matches(function() Unit.bones(cube) end, "has no animations")
    assert.error_matches(function() Unit.debug_draw_skeleton(cube, true) end, "has no animations")
    assert.error_matches(function() Unit.debug_draw_skeleton(unit, 1) end, "must be boolean")
  end)

  it("are counted", function()
    test.frames(1)
    play(0.3)
    test.frames(1)
    assert.equals(1, Stats.value("animation/events"))
    assert.equals(0, Stats.value("animation/events_dropped"))
    assert.is_true(Stats.value("animation/characters") >= 1)
    assert.is_true(Stats.value("animation/evaluated") >= 18)
    assert.is_true(Stats.value("animation/samples") >= 18)
  end)
end)
