-- The sounds of falling barrels: Sound.history() lists the recordings that were started.

-- Drops a barrel onto the open floor. Returns the loudest volume of each recording.
local function drop(name, height)
  local world = Application.main_world()
  local before = #Sound.history()
  local barrel = World.spawn_unit(world, name, Vector3(0, -4, height + 0.45))
  test.seconds(2)
  World.destroy_unit(world, barrel)
  local heard, history = {}, Sound.history()
  for i = before + 1, #history do
    local voice = history[i]
    heard[voice.recording] = math.max(heard[voice.recording] or 0, voice.volume)
  end
  return heard
end

describe("an impact", function()
  setup(function()
    test.boot()
    test.seconds(3) -- until the stacks have settled
  end)

  it("of wood on stone sounds like wood and stone", function()
    local heard = drop("units/barrel", 1.5)
    assert.is_not_nil(heard["sounds/wood_1"] or heard["sounds/wood_2"])
    assert.is_not_nil(heard["sounds/stone"])
    assert.is_nil(heard["sounds/steel_1"] or heard["sounds/steel_2"])
  end)

  it("of steel on stone sounds like steel and stone", function()
    local heard = drop("units/drum", 1.5)
    assert.is_not_nil(heard["sounds/steel_1"] or heard["sounds/steel_2"])
    assert.is_not_nil(heard["sounds/stone"])
    assert.is_nil(heard["sounds/wood_1"] or heard["sounds/wood_2"])
  end)

  it("is louder from a greater height, and crashes from a very great height", function()
    local low, high = drop("units/barrel", 0.5), drop("units/barrel", 6)
    assert.is_true(high["sounds/stone"] > 1.5 * low["sounds/stone"])
    assert.is_true(high["sounds/wood_crash"] > 0.2)
    assert.is_true(low["sounds/wood_crash"] < 0.02)
  end)

  it("is silent if nothing moves", function()
    local before = #Sound.history()
    test.seconds(1)
    assert.equals(before, #Sound.history())
  end)
end)
