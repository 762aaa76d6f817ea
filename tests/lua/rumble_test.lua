-- Suite of the motors of devices: base values, effects, and their combination.

local pads = { Pad1, Pad2, Pad3, Pad4, Pad5, Pad6, Pad7, Pad8 }
local others = { Keyboard = Keyboard, Mouse = Mouse, TouchPanel = TouchPanel }

-- Functions whose first argument is a motor, each with its further arguments.
local calls = {
  rumble_motor_name = {}, set_rumble = { 1 }, rumble_effect = { { sustain = 1 } },
  is_rumble_effect_playing = { 1 }, stop_rumble_effect = { 1 }, stop_all_rumble_effects = {},
  rumble_strength = {},
}

local function plug(number)
  test.input({ connect = "pad" .. number })
  test.frames()
  return pads[number]
end

after_each(function()
  local events = {}
  for i = 1, 8 do
    events[i] = { disconnect = "pad" .. i }
    pads[i].set_rumble_enabled(true)
  end
  test.input(events)
  test.frames(2)
end)

for i, pad in ipairs(pads) do
  describe("the motors of pad " .. i, function()
    it("have names, and exist while the pad is connected", function()
      assert.equals(0, pad.num_rumble_motors())
      plug(i)
      assert.equals(2, pad.num_rumble_motors())
      assert.equals("strong", pad.rumble_motor_name(1))
      assert.equals("weak", pad.rumble_motor_name("right"))
      assert.equals(2, pad.rumble_motor_index("weak"))
      assert.equals(1, pad.rumble_motor_id("left"))
      assert.is_nil(pad.rumble_motor_index("third"))
    end)

    it("run at their set strength, with effects on top", function()
      plug(i)
      pad.set_rumble("strong", 0.25)
      assert.equals(0.25, pad.rumble_strength("strong"))
      local effect = pad.rumble_effect(1, { sustain = 0.1, sustain_level = 0.5 })
      assert.equals(0.75, pad.rumble_strength(1))
      assert.equals(0, pad.rumble_strength(2))
      assert.is_true(pad.is_rumble_effect_playing(1, effect))
      assert.is_false(pad.is_rumble_effect_playing(2, effect))
      test.frames(5)
      assert.is_true(pad.is_rumble_effect_playing(1, effect))
      test.frames(1)
      assert.is_false(pad.is_rumble_effect_playing(1, effect), "six frames are a tenth of a second")
      assert.equals(0.25, pad.rumble_strength(1))
    end)

    it("can be stopped", function()
      plug(i)
      local endless = { sustain = math.huge }
      local first = pad.rumble_effect("strong", endless)
      local second = pad.rumble_effect("weak", endless)
      pad.set_rumble_enabled(false)
      assert.equals(0, pad.rumble_strength(1))
      assert.is_true(pad.is_rumble_effect_playing(1, first))
      pad.set_rumble_enabled(true)
      assert.equals(1, pad.rumble_strength(1))
      pad.stop_rumble_effect("strong", first)
      pad.stop_rumble_effect("strong", first)
      assert.is_false(pad.is_rumble_effect_playing(1, first))
      pad.stop_all_rumble_effects("strong")
      assert.is_true(pad.is_rumble_effect_playing(2, second))
      pad.set_rumble(2, 0.5)
      pad.stop_all_rumble_effects()
      assert.is_false(pad.is_rumble_effect_playing(2, second))
      assert.equals(0.5, pad.rumble_strength(2), "what is set stays")
      pad.rumble(0.5, 1, 0.05)
      assert.same({ 0.5, 1 }, { pad.rumble_strength(1), pad.rumble_strength(2) })
      test.frames(3)
      assert.same({ 0, 0 }, { pad.rumble_strength(1), pad.rumble_strength(2) })
    end)

    it("report invalid arguments", function()
      plug(i)
      local effect = pad.rumble_effect(1, { sustain = 1 })
      for call, rest in Script.sorted_pairs(calls) do
        assert.error_matches(function() pad[call](3, unpack(rest)) end,
          "'motor': must be 1 to 2, got 3")
        assert.error_matches(function() pad[call]("stong", unpack(rest)) end,
          "'motor': there is no motor 'stong', did you mean 'strong'?")
      end
      assert.error_matches(function() pad.rumble(2, 0, 1) end, "'strong' must be 0 to 1, got 2")
      assert.error_matches(function() pad.rumble(1, 0, 61) end, "'seconds' must be 0 to 60")
      assert.error_matches(function() pad.set_rumble(1, 2) end, "'strength' must be 0 to 1, got 2")
      assert.error_matches(function() pad.is_rumble_effect_playing(1, effect + 1) end,
        "'effect' must be a number that rumble_effect returned, got " .. effect + 1)
      assert.error_matches(function() pad.stop_rumble_effect(1, 0) end,
        "'effect' must be a number that rumble_effect returned, got 0")
      assert.has_error(function() pad.rumble_motor_index(1) end)
      assert.has_error(function() pad.rumble_motor_id(1) end)
      assert.has_error(function() pad.set_rumble_enabled(1) end)
    end)
  end)
end

describe("an effect", function()
  it("has attack, decay, sustain and release", function()
    plug(1)
    local effect = Pad1.rumble_effect("weak", { attack = 0.2, attack_level = 0.8, decay = 0.2,
      sustain_level = 0.4, sustain = 0.2, release = 0.2 })
    local felt = {}
    while Pad1.is_rumble_effect_playing("weak", effect) do
      felt[#felt + 1] = math.floor(Pad1.rumble_strength("weak") * 10 + 0.5) / 10
      test.frames(6)
    end
    assert.same({ 0, 0.4, 0.8, 0.6, 0.4, 0.4, 0.4, 0.2 }, felt)
  end)

  it("has a wave that starts at its minimum or maximum", function()
    plug(1)
    Pad1.rumble_effect(1, { sustain = 1, frequency = 5 })
    Pad1.rumble_effect(2, { sustain = 1, period = 0.2, offset = 0.5 })
    local function felt()
      local both = { Pad1.rumble_strength(1), Pad1.rumble_strength(2) }
      return math.floor(both[1] * 10 + 0.5) / 10, math.floor(both[2] * 10 + 0.5) / 10
    end
    assert.same({ 0, 1 }, { felt() })
    test.frames(6)
    assert.same({ 1, 0 }, { felt() })
    test.frames(6)
    assert.same({ 0, 1 }, { felt() })
  end)

  it("ends with its pad, and does not start without one", function()
    plug(2)
    local effect = Pad2.rumble_effect(1, { sustain = 10 })
    test.input({ disconnect = "pad2" })
    test.frames()
    assert.is_false(Pad2.is_rumble_effect_playing(1, effect))
    assert.is_false(Pad2.is_rumble_effect_playing(1, Pad2.rumble_effect(1, { sustain = 10 })))
    Pad2.set_rumble(1, 1)
    assert.equals(0, Pad2.rumble_strength(1))
  end)

  it("reports invalid options", function()
    plug(1)
    local function wrong(parameters, pattern)
      assert.error_matches(function() Pad1.rumble_effect(1, parameters) end, pattern)
    end
    wrong(5, "'parameters' must be a table such as { attack = 0.1, sustain = 0.5 }")
    wrong({}, "'parameters' has no duration")
    wrong({ sustain_level = 1 }, "has no duration: give it one of attack, decay, sustain, release")
    wrong({ sustian = 1 }, "has no 'sustian', did you mean 'sustain'?")
    wrong({ sustain = "long" }, "must have a number as 'sustain'")
    wrong({ sustain = -1 }, "must have 0 or more as 'sustain', got %-1")
    wrong({ attack = math.huge }, "must have 0 to 3600 as 'attack', got inf")
    wrong({ attack_level = 2, attack = 1 }, "must have 0 to 1 as 'attack_level', got 2")
    wrong({ frequency = 2, period = 1, attack = 1 }, "has both 'frequency' and 'period'")
    wrong({ period = 0, attack = 1 }, "must have 0.001 or more as 'period'")
    for _ = 1, 64 do
      Pad1.rumble_effect(1, { sustain = 1 })
    end
    wrong({ sustain = 1 }, "64 rumble effects play on this device already %(EFFECTS_MAX%)")
  end)
end)

for name, device in Script.sorted_pairs(others) do
  describe(name, function()
    it("reports that it has no motors", function()
      assert.equals(0, device.num_rumble_motors())
      assert.is_nil(device.rumble_motor_index("strong"))
      assert.is_nil(device.rumble_motor_id("strong"))
      device.set_rumble_enabled(true)
      device.stop_all_rumble_effects()
      for call, rest in Script.sorted_pairs(calls) do
        assert.error_matches(function() device[call](1, unpack(rest)) end,
          "a " .. device.type() .. " has no motor")
      end
      assert.has_error(function() device.rumble_motor_index(1) end)
      assert.has_error(function() device.rumble_motor_id(1) end)
      assert.has_error(function() device.set_rumble_enabled(1) end)
    end)
  end)
end
