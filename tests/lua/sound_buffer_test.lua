-- Suite of SoundBuffer: samples, and sounds made of them.

local function check(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_true(tostring(got):find(message, 1, true) ~= nil, tostring(got))
end

describe("a sound buffer", function()
  it("is created silent", function()
    local buffer = SoundBuffer.new(2, 44100, 10)
    assert.same({ 2, 44100, 10 },
      { SoundBuffer.channels(buffer), SoundBuffer.sample_rate(buffer), buffer:frames() })
    assert.equals(0, SoundBuffer.sample(buffer, 10, 2))
    assert.equals("SoundBuffer(2 channels, 44100 Hz, 10 frames, float)", tostring(buffer))
    assert.is_true(buffer == buffer and buffer ~= SoundBuffer.new(2, 44100, 10))
  end)

  it("has a limited size", function()
    check("SoundBuffer.new: argument #1 'channels' must be a whole number from 1 to 2, got number "
      .. "3", SoundBuffer.new, 3, 44100, 1)
    check("argument #2 'sample_rate' must be a whole number from 1000 to 384000, got number 10",
      SoundBuffer.new, 1, 10, 1)
    check("argument #3 'frames' must be a whole number from 1 to 8388608 (SAMPLES_MAX), got number "
      .. "8388609", SoundBuffer.new, 2, 44100, 8388609)
    check("argument #4 'format' must be \"float\" or \"int16\", got string \"int8\"",
      SoundBuffer.new, 1, 44100, 1, "int8")
  end)

  it("keeps samples as floats or as 16 bits", function()
    local floats = SoundBuffer.new(1, 8000, 2)
    SoundBuffer.set_sample(floats, 2, 1.5)
    assert.equals(1.5, SoundBuffer.sample(floats, 2))
    local whole = SoundBuffer.new(2, 8000, 2, "int16")
    SoundBuffer.set_sample(whole, 1, 1.5)
    SoundBuffer.set_sample(whole, 1, -0.5, 2)
    assert.equals(1, SoundBuffer.sample(whole, 1))
    assert.is_true(math.abs(SoundBuffer.sample(whole, 1, 2) + 0.5) < 1e-4)
    for _, wrong in ipairs { 0 / 0, math.huge, -math.huge, 1e300, "1" } do
      check("argument #3 'value' must be a finite number of at most 3.4e38",
        SoundBuffer.set_sample, floats, 1, wrong)
    end
    for _, wrong in ipairs { 0, 3, 1.5, 0 / 0, "1" } do
      check("argument #2 'frame' must be a whole number from 1 to 2", SoundBuffer.sample, floats,
        wrong)
    end
    check("argument #4 'channel' must be a whole number from 1 to 1", SoundBuffer.set_sample,
      floats, 1, 0, 2)
    check("argument #1 'buffer' must be SoundBuffer, got nil", SoundBuffer.sample)
    check("SoundBuffer has no field 'length'", function() return floats.length end)
    check("cannot set string \"x\" of a SoundBuffer", function() floats.x = 1 end)
    check("cannot add SoundBuffer and number 1", function() return floats + 1 end)
    check("cannot negate SoundBuffer", function() return -floats end)
    assert.equals("SoundBuffer", Script.type_name(floats))
    check("'image' must be Image, got SoundBuffer", Image.size, floats)
  end)

  it("takes lists and arrays", function()
    local buffer = SoundBuffer.new(2, 8000, 3)
    SoundBuffer.set_samples(buffer, { 0.1, 0.2, 0.3, 0.4 }, 2)
    SoundBuffer.set_samples(buffer, Float32Array({ 0.5, 0.75 }), 1, 2)
    local got = {}
    for frame = 1, 3 do
      for channel = 1, 2 do
        local sample = SoundBuffer.sample(buffer, frame, channel)
        got[#got + 1] = math.floor(sample * 100 + 0.5)
      end
    end
    assert.same({ 0, 50, 10, 75, 30, 40 }, got)
    check("SoundBuffer.set_samples: 3 samples from frame 3 on are more than the 3 frames of the "
      .. "buffer hold", SoundBuffer.set_samples, buffer, { 1, 2, 3 }, 3)
    check("2 samples from frame 3 on are more", SoundBuffer.set_samples, buffer, { 1, 2 }, 3, 1)
    check("sample 2 must be a finite number of at most 3.4e38, got string \"x\"",
      SoundBuffer.set_samples, buffer, { 1, "x" })
    assert.equals(0, SoundBuffer.sample(buffer, 1))
    check("argument #2 'samples' must be a list of numbers or a Float32Array, got number 3",
      SoundBuffer.set_samples, buffer, 3)
    SoundBuffer.set_samples(buffer, {})
  end)

  it("is computed by a function of each sample", function()
    local buffer, calls = SoundBuffer.new(2, 1000, 3), {}
    SoundBuffer.generate(buffer, function(seconds, channel)
      calls[#calls + 1] = seconds * 1000 + channel / 10
      return channel == 2 and 1 or seconds
    end)
    assert.equals(6, #calls)
    assert.equals(1, SoundBuffer.sample(buffer, 3, 2))
    assert.is_true(math.abs(SoundBuffer.sample(buffer, 3, 1) - 0.002) < 1e-6)
    check("the function must return a finite number of at most 3.4e38, got nil in frame 1",
      SoundBuffer.generate, buffer, function() end)
    check("argument #2 'f' must be function, got nil", SoundBuffer.generate, buffer)
  end)
end)

describe("SoundBuffer.to_sound", function()
  it("makes a sound that plays by its name", function()
    local world = Application.new_world()
    local buffer = SoundBuffer.new(1, 8000, 800, "int16")
    SoundBuffer.generate(buffer, function(t) return math.sin(t * 3000) end)
    SoundBuffer.to_sound(buffer, "made/tone")
    Sound.preload("made/tone")
    local voice = Sound.trigger(world, "made/tone", { volume = 0.5 })
    test.frames(3)
    assert.is_true(Sound.is_playing(voice))
    assert.equals("made/tone", Sound.history()[#Sound.history()].recording)
    test.frames(5)
    assert.is_false(Sound.is_playing(voice))
    SoundBuffer.to_sound(SoundBuffer.new(2, 8000, 80), "made/tone")
    voice = Sound.trigger(world, "made/tone")
    test.frames(3)
    assert.is_false(Sound.is_playing(voice))
    Application.release_world(world)
    test.frames(1)
  end)

  it("refuses names of other sounds", function()
    local buffer = SoundBuffer.new(1, 8000, 8)
    check("SoundBuffer.to_sound: the sound 'sounds/tone' already exists: use another name",
      SoundBuffer.to_sound, buffer, "sounds/tone")
    check("a generated sound needs a name, to be triggered by", SoundBuffer.to_sound, buffer, "")
    check("argument #2 'name' must be string, got nil", SoundBuffer.to_sound, buffer)
  end)
end)
