-- The sound part of the porting layer (`require "stingray"`): `Wwise` and `WwiseWorld` on top of
-- `Sound`. A Wwise event is a sound of that name, a switch or state a parameter with a text.

local function nothing() end

-- Sources: { world =, unit =, node =, position =, voices = list, parameters = {} }. A source is
-- automatic if it belongs to one trigger.

local function drop_ended(source)
  for i = #source.voices, 1, -1 do
    if not Voice.alive(source.voices[i]) then table.remove(source.voices, i) end
  end
end

-- Sets a parameter of a voice. Wwise ignores parameters that a sound does not read.
local function set_parameter(voice, name, value)
  if Voice.alive(voice) then pcall(Sound.set_parameter, voice, name, value) end
end

local function new_source(world, position, node)
  local source = { world = world, voices = {}, parameters = {} }
  if type(position) == "number" then
    source.unit, source.node = position, node
  else
    source.position = position
  end
  return source
end

local function play(source, event)
  local options = { unit = source.unit, node = source.unit and source.node,
    position = source.position, parameters = source.parameters }
  local ok, voice = pcall(Sound.trigger, source.world, event, options)
  if not ok then
    -- A sound refuses parameters that it does not read.
    options.parameters = nil
    voice = Sound.trigger(source.world, event, options)
    for name, value in pairs(source.parameters) do set_parameter(voice, name, value) end
  end
  drop_ended(source)
  source.voices[#source.voices + 1] = voice
  return voice, source
end

-- Plays an event. After it come, all optional, a boolean that asks for occlusion, and a unit with a
-- node, a position or a source.
local function trigger_event(world, event, position, ...)
  if type(position) == "boolean" then return trigger_event(world, event, ...) end
  if type(position) == "table" then return play(position, event) end
  return play(new_source(world, position, ...), event)
end

local function each_voice(fn)
  return function(_, voice, ...)
    if Voice.alive(voice) then fn(voice, ...) end
  end
end

local function set_source_parameter(_, source, name, value)
  source.parameters[name] = value
  for _, voice in ipairs(source.voices) do set_parameter(voice, name, value) end
end

local function set_source_position(_, source, position)
  source.unit, source.node, source.position = nil, nil, position
  for _, voice in ipairs(source.voices) do Sound.set_position(voice, position) end
end

rawset(_G, "WwiseWorld", {
  trigger_event = trigger_event,
  trigger_resource_event = trigger_event,
  stop_event = each_voice(Sound.stop),
  pause_event = each_voice(Sound.pause),
  resume_event = each_voice(Sound.resume),
  is_playing = function(_, voice)
    return Voice.alive(voice)
  end,
  get_playing_elapsed = function(_, voice)
    return Voice.alive(voice) and Sound.seconds(voice) or 0
  end,
  make_auto_source = new_source,
  make_manual_source = new_source,
  destroy_manual_source = function(_, source)
    for _, voice in ipairs(source.voices) do
      if Voice.alive(voice) then Sound.stop(voice) end
    end
    source.voices = {}
  end,
  has_source = function(_, source)
    drop_ended(source)
    return #source.voices > 0
  end,
  set_source_parameter = set_source_parameter,
  set_switch = function(world, group, state, source)
    set_source_parameter(world, source, group, state)
  end,
  set_source_position = set_source_position,
  set_source_pose = function(world, source, pose)
    set_source_position(world, source, Matrix4x4.translation(pose))
  end,
  set_global_parameter = function(_, name, value)
    Sound.set_global_parameter(name, value)
  end,
  set_listener = function(world, index, pose)
    SoundWorld.set_listener(world, Matrix4x4.translation(pose), Matrix4x4.rotation(pose), index)
  end,
  stop_all = SoundWorld.stop_all,
  pause_all = SoundWorld.pause,
  resume_all = SoundWorld.resume,
})

rawset(_G, "Wwise", {
  wwise_world = World.sound_world,
  has_event = function(event)
    return Application.can_get("sound", event)
  end,
  set_state = Sound.set_global_parameter,
  -- Sounds are loaded when they are needed, or with a package.
  load_bank = nothing,
  unload_bank = nothing,
})
