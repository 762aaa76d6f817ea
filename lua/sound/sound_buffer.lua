-- SoundBuffer: sound that scripts generate. The samples are in memory that no game code can reach:
-- a buffer is only an identity, and this file keeps its storage in a table with weak keys. Playing
-- is native: a buffer becomes a sound with a name (src/script/api/sound/generated.rs).
local core = ...

local ffi, raise, bad_argument, describe = core.ffi, core.raise, core.bad_argument, core.describe
local no_reload, values = core.no_reload, core.values
local rawget, setmetatable, type = rawget, setmetatable, type
local floor, max, min = math.floor, math.max, math.min
local istype, bytes_of, text_format = ffi.istype, ffi.string, string.format

---@module SoundBuffer
---Generated sound: samples from -1 to 1 that a script computes, for effects, tones and music.
---Frames and channels are counted from 1; a frame has one sample for each channel.
---`SoundBuffer.to_sound` makes a sound of a buffer, which plays like that of a file.
---@example
---   local world = Application.new_world()
---   local buffer = SoundBuffer.new(1, 44100, 4410)
---   SoundBuffer.generate(buffer, function(t) return 0.5 * math.sin(2 * math.pi * 440 * t) end)
---   SoundBuffer.to_sound(buffer, "generated/beep")
---   assert(Sound.is_playing(Sound.trigger(world, "generated/beep")))
---   Application.release_world(world)

---@class (exact) SoundBuffer
local SoundBuffer = core.module("SoundBuffer")

-- Sample rates, and the most samples of a buffer: 64 MiB as floats, three minutes of stereo.
local RATE_MIN, RATE_MAX, SAMPLES_MAX = 1000, 384000, 16777216

-- Largest float of 32 bits.
local FLOAT_MAX = 3.4028234663852886e38

local SAMPLE_FORMATS = {
  float = { array = ffi.typeof("float[?]"), bytes = 4 },
  int16 = { array = ffi.typeof("int16_t[?]"), bytes = 2 },
}

local Handle = ffi.typeof("struct { const uint8_t _unused; }")
local storages = setmetatable({}, { __mode = "k" })

local meta = {}
values.common_operators(meta, "SoundBuffer", "use SoundBuffer.frames")
meta.__index = function(_, key)
  local method = rawget(SoundBuffer, key)
  if method then return method end
  raise("SoundBuffer has no field " .. (type(key) == "string" and "'" .. key .. "'"
    or describe(key)) .. ": it has the functions of SoundBuffer, such as buffer:sample(frame)")
end
meta.__newindex = function(_, key)
  raise("cannot set " .. describe(key)
    .. " of a SoundBuffer: use SoundBuffer.set_sample(buffer, frame, value)")
end
meta.__tostring = function(buffer)
  local storage = storages[buffer]
  return text_format("SoundBuffer(%d channels, %d Hz, %d frames, %s)", storage.channels,
    storage.rate, storage.frames, storage.format)
end
meta.__eq = function(a, b)
  return istype(Handle, a) and istype(Handle, b) and storages[a] == storages[b]
end
ffi.metatype(Handle, meta)
core.ctypes.SoundBuffer = Handle

local function check(name, buffer)
  if not istype(Handle, buffer) then bad_argument(name, 1, "buffer", "SoundBuffer", buffer) end
  return storages[buffer]
end

local function check_whole(name, i, argument, value, least, most)
  if type(value) ~= "number" or value ~= floor(value) or value < least or value > most then
    bad_argument(name, i, argument, text_format("a whole number from %d to %d", least, most), value)
  end
end

---Creates a buffer of silence.
---@param channels integer 1 for mono, 2 for stereo
---@param sample_rate integer samples of a channel in a second, 1000 to 384000, such as 44100
---@param frames integer the length: number of samples of each channel
---@param format? string "float" (the default), or "int16", which takes half of the memory
---@return SoundBuffer buffer the new buffer
function SoundBuffer.new(channels, sample_rate, frames, format)
  check_whole("SoundBuffer.new", 1, "channels", channels, 1, 2)
  check_whole("SoundBuffer.new", 2, "sample_rate", sample_rate, RATE_MIN, RATE_MAX)
  local most = SAMPLES_MAX / channels
  if type(frames) ~= "number" or frames ~= floor(frames) or frames < 1 or frames > most then
    bad_argument("SoundBuffer.new", 3, "frames",
      text_format("a whole number from 1 to %d (SAMPLES_MAX)", most), frames)
  end
  if format == nil then format = "float" end
  local known = type(format) == "string" and SAMPLE_FORMATS[format]
  if not known then
    bad_argument("SoundBuffer.new", 4, "format", "\"float\" or \"int16\"", format)
  end
  local buffer = Handle(0)
  storages[buffer] = {
    samples = known.array(channels * frames), channels = channels, rate = sample_rate,
    frames = frames, format = format, bytes = known.bytes,
    scale = known.bytes == 2 and 32767 or 1, is_whole = known.bytes == 2,
  }
  core.number_buffer(buffer,
    text_format("SoundBuffer %d %d %d %s", channels, sample_rate, frames, format))
  return buffer
end

-- Returns the stored number of a sample.
local function stored(storage, value)
  if not storage.is_whole then return value end
  return floor(max(-1, min(value, 1)) * 32767 + 0.5)
end

local function is_sample(value)
  return type(value) == "number" and value >= -FLOAT_MAX and value <= FLOAT_MAX
end

local function index_of(name, storage, frame, channel, i)
  if type(frame) ~= "number" or not (frame >= 1 and frame <= storage.frames)
    or frame ~= floor(frame)
  then
    check_whole(name, 2, "frame", frame, 1, storage.frames)
  end
  if channel == nil then return (frame - 1) * storage.channels end
  check_whole(name, i, "channel", channel, 1, storage.channels)
  return (frame - 1) * storage.channels + channel - 1
end

---Returns a sample.
---@param buffer SoundBuffer a buffer
---@param frame integer from 1 to the number of frames
---@param channel? integer 1 or 2; the first by default
---@return number sample from -1 to 1; a float may be beyond that
function SoundBuffer.sample(buffer, frame, channel)
  local storage = check("SoundBuffer.sample", buffer)
  local at = index_of("SoundBuffer.sample", storage, frame, channel, 3)
  return storage.samples[at] / storage.scale
end

---Sets a sample.
---@param buffer SoundBuffer a buffer
---@param frame integer from 1 to the number of frames
---@param value number from -1 to 1; 16-bit samples are limited to that
---@param channel? integer 1 or 2; the first by default
function SoundBuffer.set_sample(buffer, frame, value, channel)
  local storage = check("SoundBuffer.set_sample", buffer)
  local at = index_of("SoundBuffer.set_sample", storage, frame, channel, 4)
  if not is_sample(value) then
    bad_argument("SoundBuffer.set_sample", 3, "value", "a finite number of at most 3.4e38", value)
  end
  storage.samples[at] = stored(storage, value)
end

---Sets many samples from a list of numbers, or from a Float32Array. Without a channel, the list has
---the samples of all channels of a frame, then those of the next one.
---@param buffer SoundBuffer a buffer
---@param samples number[]|Float32Array the samples
---@param first? integer the first frame to set; 1 by default
---@param channel? integer the channel to set; all by default
function SoundBuffer.set_samples(buffer, samples, first, channel)
  local name = "SoundBuffer.set_samples"
  local storage = check(name, buffer)
  local items, size = core.float32_array_data(samples)
  local from = 0
  if not items then
    if type(samples) ~= "table" then
      bad_argument(name, 2, "samples", "a list of numbers or a Float32Array", samples)
    end
    items, size, from = samples, #samples, 1
  end
  if first == nil then first = 1 end
  check_whole(name, 3, "first", first, 1, storage.frames)
  if channel ~= nil then check_whole(name, 4, "channel", channel, 1, storage.channels) end
  local step = channel and storage.channels or 1
  local start = (first - 1) * storage.channels + (channel or 1) - 1
  if size > 0 and start + (size - 1) * step >= storage.channels * storage.frames then
    raise(text_format("%s: %d samples from frame %d on are more than the %d frames of the buffer "
      .. "hold", name, size, first, storage.frames))
  end
  for i = 0, size - 1 do
    if not is_sample(items[i + from]) then
      raise(text_format("%s: sample %d must be a finite number of at most 3.4e38, got %s", name,
        i + 1, describe(items[i + from])))
    end
  end
  local target = storage.samples
  for i = 0, size - 1 do target[start + i * step] = stored(storage, items[i + from]) end
end

---Calls a function for each sample, in order, and sets the sample to its result.
---@param buffer SoundBuffer a buffer
---@param f fun(seconds: number, channel: integer): number returns a sample from -1 to 1
function SoundBuffer.generate(buffer, f)
  local storage = check("SoundBuffer.generate", buffer)
  if type(f) ~= "function" then bad_argument("SoundBuffer.generate", 2, "f", "function", f) end
  local samples, channels, rate = storage.samples, storage.channels, storage.rate
  for frame = 0, storage.frames - 1 do
    for channel = 1, channels do
      local value = f(frame / rate, channel)
      if not is_sample(value) then
        raise(text_format("SoundBuffer.generate: the function must return a finite number of at "
          .. "most 3.4e38, got %s in frame %d", describe(value), frame + 1))
      end
      samples[frame * channels + channel - 1] = stored(storage, value)
    end
  end
end

---Returns the number of frames: samples of each channel.
---@param buffer SoundBuffer a buffer
---@return integer frames
function SoundBuffer.frames(buffer)
  return check("SoundBuffer.frames", buffer).frames
end

---Returns the number of channels.
---@param buffer SoundBuffer a buffer
---@return integer channels 1 or 2
function SoundBuffer.channels(buffer)
  return check("SoundBuffer.channels", buffer).channels
end

---Returns the sample rate.
---@param buffer SoundBuffer a buffer
---@return integer sample_rate samples of a channel in a second
function SoundBuffer.sample_rate(buffer)
  return check("SoundBuffer.sample_rate", buffer).rate
end

---Makes a sound of a buffer, or exchanges the sound that was made under this name. Use the name
---like that of a file, in `Sound.trigger` and in the rules of a `.sound`. The sound is a copy:
---later changes to the buffer are heard when you call this function again. Voices that play the
---sound continue with the old samples until they repeat or seek.
---@param buffer SoundBuffer a buffer
---@param name string a name that no sound of the game has, such as "generated/laser"
function SoundBuffer.to_sound(buffer, name)
  no_reload("SoundBuffer.to_sound")
  local storage = check("SoundBuffer.to_sound", buffer)
  if type(name) ~= "string" then
    bad_argument("SoundBuffer.to_sound", 2, "name", "string", name)
  end
  core.set_generated_sound(name, storage.channels, storage.rate, storage.is_whole,
    bytes_of(storage.samples, storage.channels * storage.frames * storage.bytes))
end
