-- The people on the square.
local Balls = require "balls"
local Hero = require "hero"
local Hud = require "hud"
local Strollers = require "strollers"

describe("the strollers", function()
  setup(function() test.boot() end)

  before_each(function()
    test.input({ tap = "r" })
    test.seconds(0.5)
  end)

  it("are twenty, and walk around", function()
    assert.equals(20, #Strollers.all)
    local from = {}
    for i, person in ipairs(Strollers.all) do from[i] = person.figure:position() end
    local moved = 0
    test.seconds(12)
    for i, person in ipairs(Strollers.all) do
      if Vector3.distance(from[i], person.figure:position()) > 2 then moved = moved + 1 end
    end
    assert.is_true(moved >= 10, moved .. " of 20 have moved")
  end)

  it("use the stairs and the ramp, and stay on the square", function()
    local highest, lowest = 0, 2
    for _ = 1, 30 do
      test.seconds(0.5)
      for _, person in ipairs(Strollers.all) do
        local z = person.figure:position().z
        highest, lowest = math.max(highest, z), math.min(lowest, z)
      end
    end
    assert.near(1.2, highest, 0.1)
    assert.near(0, lowest, 0.05)
  end)

  it("fall over, and get up where they lie", function()
    local person = Strollers.all[1]
    local figure = person.figure
    Strollers.knock_over(person, Vector3(0, 3.5, 1))
    test.frames(5)
    assert.is_true(figure.lies)
    assert.is_true(Unit.is_ragdoll(figure.unit))
    test.seconds(2)
    local head = Unit.world_position(figure.unit, Unit.node(figure.unit, "head"))
    assert.is_true(head.z < 0.8, "the head is at " .. head.z)
    test.seconds(4)
    assert.is_false(figure.lies)
    assert.is_false(Unit.is_ragdoll(figure.unit))
    head = Unit.world_position(figure.unit, Unit.node(figure.unit, "head"))
    assert.near(1.5, head.z - figure:position().z, 0.15)
    assert.is_true(Vector3.distance(head, figure:position()) < 1.8)
  end)

  it("are knocked over by a ball", function()
    local person = Strollers.all[1]
    person.pause = 60
    test.frames(30)
    local from = person.figure:position() + Vector3(0, -3, 1.2)
    Balls.throw(Application.main_world(), from, Vector3(0, 14, 1))
    test.seconds(0.5)
    assert.is_true(person.figure.lies)
    assert.equals(1, Hud.hits)
  end)

  it("greet the hero who comes near", function()
    local person = Strollers.all[2]
    person.greeted = 0
    Mover.set_position(Hero.figure.mover, person.figure:position() + Vector3(1.5, 0, 0))
    test.frames(10)
    assert.equals("greet", Unit.animation_layer_info(person.figure.unit, 2).state)
  end)
end)
