-- The hero, controlled by keys and the mouse. `engine test .` runs every file in tests/.
local Balls = require "balls"
local Eye = require "eye"
local Hero = require "hero"
local Strollers = require "strollers"

-- The globals of the game: this file has an environment of its own.
local game = _G

describe("the hero", function()
  setup(function() test.boot() end)

  before_each(function()
    test.input({ tap = "r" })
    test.seconds(0.5)
  end)

  -- Places it, turned so that W leads along y, and walks.
  local function walk(position, keys, seconds)
    Eye.yaw = 0
    Mover.set_position(Hero.figure.mover, position)
    test.frames(20)
    for _, key in ipairs(keys) do test.input({ press = key }) end
    test.seconds(seconds)
    local state = Unit.animation_layer_info(Hero.figure.unit, 1)
    local ahead = Unit.animation_get_variable(Hero.figure.unit, "ahead")
    local side = Unit.animation_get_variable(Hero.figure.unit, "side")
    for _, key in ipairs(keys) do test.input({ release = key }) end
    test.frames(20)
    return state.state, ahead, side
  end

  it("shows the speed with which it walks and runs", function()
    local state, ahead = walk(Vector3(-3, -11, 0), { "w" }, 1)
    assert.equals("move", state)
    assert.near(1.6, ahead, 0.1)
    _, ahead = walk(Vector3(-3, -11, 0), { "w", "left shift" }, 1)
    assert.near(4.4, ahead, 0.2)
  end)

  it("stands still in front of a wall", function()
    local _, ahead = walk(Vector3(-3, -13.4, 0), { "s" }, 2)
    assert.near(0, ahead, 0.05)
  end)

  it("climbs the stairs to the terrace", function()
    walk(Vector3(-3, 2, 0), { "w" }, 3.5)
    assert.near(1.2, Hero.position().z, 0.05)
    assert.is_true(Hero.position().y > 6)
  end)

  -- Heights of the ankles above the ground below them.
  local function ankles()
    local unit = Hero.figure.unit
    local heights = {}
    for _, name in ipairs({ "foot_l", "foot_r" }) do
      local ankle = Unit.world_position(unit, Unit.node(unit, name))
      local hit, ground = PhysicsWorld.raycast(Eye.physics, ankle + Vector3(0, 0, 0.4),
        Vector3(0, 0, -1), 2, "closest", "collision_filter", "sight")
      assert.is_true(hit)
      heights[#heights + 1] = { above = ankle.z - ground.z, ground = ground.z }
    end
    return heights
  end

  it("puts its feet on two steps of the stairs", function()
    walk(Vector3(-3, -11, 0), {}, 1)
    local flat = ankles()
    -- Sideways: one foot is a step above the other.
    Mover.set_position(Hero.figure.mover, Vector3(-3, 5.3, 1.2))
    test.frames(30)
    Hero.figure.heading = math.pi / 2
    test.seconds(1)
    local stairs = ankles()
    assert.is_true(math.abs(stairs[1].ground - stairs[2].ground) > 0.1, "on one step")
    for foot = 1, 2 do assert.near(flat[foot].above, stairs[foot].above, 0.04) end
  end)

  it("is heard at each step", function()
    for _, person in ipairs(Strollers.all) do
      Unit.disable_animation_state_machine(person.figure.unit)
    end
    test.seconds(1)
    local hear, steps, history = game.on_animation_event, 0, Sound.history()
    game.on_animation_event = function(unit, event)
      if unit == Hero.figure.unit and event == "step" then steps = steps + 1 end
      hear(unit, event)
    end
    local before = #history > 0 and history[#history].seconds or 0
    local ok, problem = pcall(walk, Vector3(-3, -11, 0), { "w" }, 3)
    local walked = steps
    test.seconds(2)
    game.on_animation_event = hear
    assert.is_true(ok, problem)
    assert.is_true(walked >= 4 and walked <= 9, walked .. " steps")
    assert.equals(walked, steps, "it stands")
    local heard = 0
    for _, played in ipairs(Sound.history()) do
      if played.sound == "sounds/step" and played.seconds > before then heard = heard + 1 end
    end
    assert.equals(walked, heard)
  end)

  it("falls as a ragdoll, and gets up where it lies", function()
    local figure = Hero.figure
    Mover.set_position(figure.mover, Vector3(-3, -9, 0))
    test.frames(20)
    figure:knock(Vector3(0, 3.5, 1))
    test.frames(5)
    assert.is_true(Unit.is_ragdoll(figure.unit))
    test.seconds(2)
    local head = Unit.world_position(figure.unit, Unit.node(figure.unit, "head"))
    assert.is_true(head.z < 0.8, "the head is at " .. head.z)
    figure:send("get_up")
    test.seconds(4)
    assert.is_false(Unit.is_ragdoll(figure.unit))
    head = Unit.world_position(figure.unit, Unit.node(figure.unit, "head"))
    assert.near(1.5, head.z - Hero.position().z, 0.15)
    assert.is_true(Vector3.distance(head, Hero.position()) < 1.8)
  end)

  it("dives when the player wants it, and gets up to walk on", function()
    Mover.set_position(Hero.figure.mover, Vector3(-3, -9, 0))
    Eye.yaw = 0
    test.frames(20)
    test.input({ tap = "x" })
    test.frames(5)
    assert.is_true(Unit.is_ragdoll(Hero.figure.unit))
    test.seconds(1.5)
    assert.is_true(Hero.figure.lies)
    test.input({ press = "w" })
    test.seconds(4)
    test.input({ release = "w" })
    assert.is_false(Hero.figure.lies)
    assert.equals("move", Unit.animation_layer_info(Hero.figure.unit, 1).state)
    assert.is_true(Hero.position().y > -7.5, "it is at " .. Hero.position().y)
  end)

  it("jumps, falls and lands", function()
    Mover.set_position(Hero.figure.mover, Vector3(-3, -11, 0))
    test.frames(20)
    test.input({ tap = "space" })
    test.frames(15)
    assert.equals("jump", Unit.animation_layer_info(Hero.figure.unit, 1).state)
    assert.is_true(Hero.position().z > 0.6)
    test.seconds(2)
    assert.equals("move", Unit.animation_layer_info(Hero.figure.unit, 1).state)
    assert.near(0, Hero.position().z, 0.05)
  end)

  it("walks sideways while it aims", function()
    test.input({ axis = "mouse:cursor", x = 480, y = 400 })
    test.input({ press = "mouse:right" })
    local _, ahead, side = walk(Vector3(-3, -11, 0), { "d" }, 1)
    test.input({ release = "mouse:right" })
    assert.is_true(side > 0.8, "to the side with " .. side)
    assert.is_true(math.abs(ahead) < side)
  end)

  it("throws a ball when its hand opens", function()
    test.input({ tap = "mouse:left" })
    test.frames(10)
    assert.equals(0, #Balls.all)
    test.seconds(0.5)
    assert.equals(1, #Balls.all)
    local body = Unit.actor(Balls.all[1], "body")
    assert.is_true(Vector3.length(Actor.velocity(body)) > 5)
  end)
end)
