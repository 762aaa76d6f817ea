-- The town at different hours: its lights, its bell, and its streets in the rain.
local Clock = require "clock"
local Lamps = require "lamps"
local Probe = require "probe"
local Weather = require "weather"

local LAMPS = 10

describe("the town", function()
  local world

  setup(function()
    test.boot()
    world = Application.main_world()
    test.frames(2)
  end)

  local function at(hour)
    Clock.set(hour)
    test.seconds(1)
  end

  local function count_shining(kind)
    local count = 0
    for _, unit in ipairs(World.units_by_resource(world, kind)) do
      if Light.enabled(Unit.light(unit, 1)) then count = count + 1 end
    end
    return count
  end

  it("has houses in different paints", function()
    local paints, count = {}, 0
    for _, unit in ipairs(World.units(world)) do
      local paint = Unit.get_data(unit, "paint")
      if paint then paints[paint] = true end
    end
    for _ in pairs(paints) do count = count + 1 end
    assert.equals(8, count)
  end)

  it("lights its lamps one after the other at dusk", function()
    at(12)
    assert.equals(0, Lamps.lit)
    assert.equals(0, count_shining("units/lamp") + count_shining("units/shop"))
    local earlier, steps = 0, 0
    for i = 0, 12 do
      at(18.5 + i / 10)
      assert.is_true(Lamps.lit >= earlier)
      if Lamps.lit > earlier then steps = steps + 1 end
      earlier = Lamps.lit
    end
    assert.equals(LAMPS, Lamps.lit)
    assert.is_true(steps >= 4, steps .. " steps")
    assert.equals(LAMPS, count_shining("units/lamp"))
  end)

  it("has shadows of its street lamps alone", function()
    for _, unit in ipairs(World.units_by_resource(world, "units/lamp")) do
      assert.is_true(Light.casts_shadows(Unit.light(unit, 1)))
    end
    for _, unit in ipairs(World.units_by_resource(world, "units/festoon")) do
      assert.is_false(Light.casts_shadows(Unit.light(unit, 1)))
    end
  end)

  it("strikes the hour, and shows it on the tower", function()
    at(20.9)
    local before = #Sound.history()
    at(21.5)
    local history = Sound.history()
    assert.equals(before + 1, #history)
    assert.equals("sounds/bell", history[#history].sound)
    local tower = World.units_by_resource(world, "units/tower")[1]
    local minute = Unit.local_rotation(tower, Unit.node(tower, "Minute"))
    assert.near(-1, Quaternion.up(minute).z, 1e-3) -- half past: it points down
  end)

  it("becomes wet in the rain and dries after it", function()
    Weather.wet, Weather.rain = 0, 1
    test.seconds(7)
    assert.equals(1, Weather.wet)
    Weather.rain = 0
    test.seconds(4)
    assert.near(0.9, Weather.wet, 0.01)
    Weather.wet = 1
  end)

  it("has drops where it rains, and none where it does not", function()
    Weather.rain = 0
    test.seconds(3)
    local function drops()
      local count = 0
      for _, draw in ipairs(test.draws()) do
        if draw.pass == "particles" then count = count + draw.count end
      end
      return count
    end
    local dry = drops()
    Weather.rain = 1
    test.seconds(2)
    assert.is_true(drops() > dry + 500, dry .. ", then " .. drops())
  end)

  it("draws its surroundings again when the light has changed", function()
    at(20)
    test.seconds(1)
    local captures = Probe.captures
    test.seconds(1)
    assert.equals(captures, Probe.captures)
    at(23)
    assert.is_true(Probe.captures > captures)
  end)
end)
