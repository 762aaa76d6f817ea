//! The Lua module `Sound`: triggering, changing and stopping voices; buses and clocks. Queries of
//! one voice are in `Voice`.

pub(super) mod arguments;
pub(super) mod generated;
mod playback;
pub(super) mod world;

use crate::api::sound::arguments::{
    ParameterArgument, SoundWorldArgument, StartedVoice, TriggerOptions, VoiceArgument, in_range,
};
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{Integer, MaybeHandle, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::hash::IdString32;
use engine_foundation::{Error, Handle, Vec3};
use engine_runtime::Engine;
use engine_sound::music_clock::ClockGrid;
use engine_sound::voices::{SoundEvent, SoundEventKind, TriggerDesc, VOICES_MAX, Voice as State};
use engine_world::unit::UnitId;

pub static VOICE: ModuleRows = module(
    "Voice",
    "A voice is one playing sound. `Sound.trigger` returns it, and the functions of `Sound` take \
     it.",
    r#"assert(not Voice.alive(0))
assert(not Voice.alive(Application.new_world()))"#,
    &[hot(
        "alive",
        alive,
        &[("voice", "a number that may be the handle of a voice; nil and false are none")],
        "Returns true if the handle refers to a voice that has not ended. Never raises.",
    )
    .pure()],
);

/// Maximum duration of fades and delays in seconds.
const SECONDS_MAX: f64 = 3600.0;

pub static SOUND: ModuleRows = module(
    "Sound",
    "Sounds: a sound designer's file describes what plays for which parameters; the game triggers \
     the sound and sets the parameters. A voice is one playing sound.",
    r#"local world = Application.new_world()
Sound.set_bus_volume("music", 0.5)
assert(Sound.bus_volume("music") == 0.5)
assert(Sound.num_voices() == 0)
Application.release_world(world)"#,
    &[
        func(
            "trigger",
            trigger,
            &[
                ("world", "a world, or its sound world"),
                ("sound", "the name of a sound or of a recording (WAV, OGG, FLAC, MP3)"),
                (
                    "options",
                    "`parameters` (a table of numbers and strings); `position`, or `unit` and \
                     `node`; `volume`, `pitch` (1 is unchanged), `pan` (-1 to 1), `fade_in` and \
                     `delay` (seconds), `bus`, `priority` (0 to 100), `occlusion` (0 to 1), \
                     `loop` (true or false; as the sound says by default); \
                     `clock` and `on` (\"bar\" or \"beat\"), which delay the start to the next bar \
                     or beat",
                ),
            ],
            "Plays a sound. Returns its voice, or nil if the sound has its maximum number of \
             voices and its policy is to refuse. A sound without a position is heard everywhere.",
        ),
        func(
            "preload",
            preload,
            &[("sound", "the name of a sound")],
            "Loads a sound and decodes its recordings, so that its first trigger is heard at once. \
             Raises an error if it is missing.",
        ),
        hot(
            "is_playing",
            is_playing,
            &[("voice", "a voice, which may have ended")],
            "Returns true if a voice has not ended. Paused and inaudible voices have not ended.",
        )
        .pure(),
        hot(
            "set_parameter",
            set_parameter,
            &[
                ("voice", "a voice"),
                ("name", "the name of a parameter that its sound reads"),
                ("value", "a number for curves, a string for switches"),
            ],
            "Sets a parameter of a voice. Returns true if the voice still existed. Curves are \
             updated at the end of the frame, and a loop crossfades if its switch now selects \
             another case.",
        ),
        func(
            "set_global_parameter",
            set_global_parameter,
            &[("name", "the name of a parameter"), ("value", "a number or a string")],
            "Sets a parameter for all voices that do not set it themselves.",
        ),
        func(
            "set_bus_parameter",
            set_bus_parameter,
            &[
                ("bus", "the name of a bus"),
                ("name", "the name of a parameter"),
                ("value", "a number or a string"),
            ],
            "Sets a parameter for the voices on a bus, and on the buses that lead to it.",
        ),
        func(
            "stop",
            stop,
            &[
                ("voice", "a voice"),
                ("seconds", "duration of the fade-out; set by the sound if left out"),
            ],
            "Stops a voice without a click. Returns true if the voice still existed.",
        )
        .when_full(),
        func(
            "pause",
            pause,
            &[("voice", "a voice")],
            "Pauses a voice. Returns true if the voice still existed.",
        ),
        func(
            "resume",
            resume,
            &[("voice", "a voice")],
            "Resumes a paused voice. Returns true if the voice still existed.",
        ),
        func(
            "fade",
            fade,
            &[
                ("voice", "a voice"),
                ("volume", "0 to 16; 1 is the volume of its sound"),
                ("seconds", "duration of the fade"),
            ],
            "Fades the volume of a voice. Returns true if the voice still existed.",
        ),
        hot(
            "set_volume",
            set_volume,
            &[("voice", "a voice"), ("volume", "0 to 16; 1 is the volume of its sound")],
            "Sets the volume of a voice. Returns true if the voice still existed.",
        ),
        hot(
            "set_pitch",
            set_pitch,
            &[("voice", "a voice"), ("pitch", "0.01 to 16; 1 is the pitch of its sound")],
            "Sets the pitch of a voice, and with it the speed. Returns true if the voice still \
             existed.",
        ),
        hot(
            "set_position",
            set_position,
            &[("voice", "a voice"), ("position", "the new position in its world")],
            "Moves a voice. Returns true if the voice still existed. The speed of the movement \
             shifts the pitch (Doppler effect).",
        ),
        hot(
            "set_occlusion",
            set_occlusion,
            &[("voice", "a voice"), ("occlusion", "0 is unobstructed, 1 is behind a wall")],
            "Sets how much blocks the sound between a voice and its listener. Returns true if the \
             voice still existed. The sound's file sets the effect of occlusion.",
        ),
        func(
            "link",
            link,
            &[
                ("voice", "a voice"),
                ("unit", "the unit that the voice follows"),
                ("node", "index of the node, from 1; the first by default"),
            ],
            "Links a voice to a unit, which it then follows. Returns true if the voice still \
             existed. When the unit is destroyed, the voice stays where it is.",
        ),
        func(
            "seconds",
            playback::seconds,
            &[("voice", "a voice")],
            "Returns the position of a voice in the recording of its first layer, in seconds; 0 if \
             the voice has ended.",
        )
        .pure(),
        func(
            "seek",
            playback::seek,
            &[
                ("voice", "a voice"),
                ("seconds", "0 to 3600: a position in the recording of its first layer"),
            ],
            "Moves a voice to another position in its recordings, without a click. Returns true if \
             the voice still existed. A position beyond the end of a loop is a position in the \
             loop. Without a loop, the voice ends there.",
        ),
        func(
            "set_loop",
            playback::set_loop,
            &[
                ("voice", "a voice"),
                ("loop", "true to repeat its recordings, false to play them to their ends"),
                ("start_seconds", "start of the repeated part; 0 by default"),
                ("end_seconds", "its end; the end of each recording by default"),
            ],
            "Sets what a voice repeats, in place of its sound's own loop. Returns true if the \
             voice still existed.",
        ),
        func(
            "set_bus_volume",
            set_bus_volume,
            &[
                ("bus", "the name of a bus; \"master\" for everything"),
                ("volume", "0 to 16; 1 is the volume in the mixer"),
                ("seconds", "duration of the fade; at once by default"),
            ],
            "Sets the volume of a bus.",
        ),
        func(
            "bus_volume",
            bus_volume,
            &[("bus", "the name of a bus")],
            "Returns the volume that was set for a bus.",
        )
        .pure(),
        func(
            "start_clock",
            start_clock,
            &[
                ("clock", "a name of your choice"),
                ("tempo", "beats per minute, 1 to 1000"),
                ("beats_per_bar", "1 to 64; 4 by default"),
            ],
            "Starts a music clock at its first bar. `Sound.trigger` can start sounds on its bars \
             and beats, exact to the sample.",
        ),
        func(
            "stop_clock",
            stop_clock,
            &[("clock", "the name of the clock")],
            "Stops a music clock.",
        )
        .when_full(),
        func(
            "clock",
            clock,
            &[("clock", "the name of the clock")],
            "Returns the bar and the beat of a music clock, both from 1. The beat has a fraction.",
        )
        .returns(&["bar from 1", "beat from 1, with a fraction"])
        .pure(),
        func(
            "events",
            events,
            &[],
            "Returns the events of the last frame, oldest first: tables with `kind` \"ended\" (and \
             `voice`, `sound`, `reason`: \"finished\", \"stopped\" or \"stolen\") or \"bar\" (and \
             `clock`, `bar`).",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func(
            "history",
            history,
            &[],
            "Returns the recordings that were started last, oldest first, at most 1000: tables \
             with `voice`, `sound`, `recording`, `bus`, `seconds` (in sound time), `volume`, \
             `pitch`, `pan`, `cutoff_hz`. For tests: the list is the same with and without a \
             device.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func(
            "true_peak",
            true_peak,
            &[],
            "Returns the highest true peak of the mix in the last second, in decibels of the full \
             scale: -120 is silence, and more than 0 distorts. Returns nil if nothing is mixed, \
             because there is no device. The level depends on the device: do not let the game \
             depend on it.",
        )
        .pure(),
        func(
            "num_voices",
            num_voices,
            &[],
            "Returns the number of playing voices, audible or not.",
        )
        .pure(),
    ],
);

pub(crate) fn trigger(
    engine: &mut Engine,
    world: SoundWorldArgument,
    sound: TextArgument,
    options: Option<TriggerOptions>,
) -> Result<StartedVoice, Error> {
    let world = world.sound(engine);
    let silent = engine.devices.sounds.voices.worlds.get(world.0).map(|of| of.world);
    if silent.and_then(|of| engine.worlds.slots.get(of)).is_some_and(|of| of.flags.no_sound) {
        return Ok(StartedVoice(None));
    }
    let options = options.unwrap_or_default();
    let owner = match options.unit {
        Some(unit) => {
            same_world(engine, unit, world.0, "option 'unit'")?;
            Some(owner_of(engine, unit, options.node, "option 'node'")?)
        }
        None => None,
    };
    let position = match owner {
        Some(owner) => engine.worlds.sound_owner_position(owner),
        None => options.position,
    };
    let clock = options.clock.as_deref();
    let trigger = TriggerDesc {
        parameters: &options.parameters,
        position,
        volume: options.volume,
        pitch: options.pitch,
        pan: options.pan,
        fade_in_seconds: options.fade_in,
        delay_seconds: options.delay,
        repeat: options.repeat(),
        bus: options.bus.as_deref(),
        priority: options.priority,
        occlusion: options.occlusion,
        clock: clock.map(|clock| (clock, options.on.unwrap_or(ClockGrid::Bar))),
        owner,
        ..TriggerDesc::new(sound.as_str(), world.0)
    };
    engine.devices.sounds.trigger(&mut engine.assets.store, &trigger).map(StartedVoice)
}

/// Returns an error if a unit is in another world than a sound.
fn same_world(engine: &Engine, unit: UnitId, sound: Handle, subject: &str) -> Result<(), Error> {
    let world = engine.devices.sounds.voices.worlds.get(sound).map(|sound| sound.world);
    let of_unit = engine.worlds.units.slots.get(unit.0).map(|unit| unit.world.0);
    match world == of_unit {
        true => Ok(()),
        false => {
            Err(engine_foundation::error!("{subject}: the unit is in another world than the sound"))
        }
    }
}

/// Returns the unit and the 0-based node that a voice is linked to.
fn owner_of(
    engine: &mut Engine,
    unit: UnitId,
    node: Option<f64>,
    subject: &str,
) -> Result<(Handle, u32), Error> {
    let node = node.unwrap_or(1.0);
    let count = engine.worlds.units.scene.count(unit.row());
    match node.fract() == 0.0 && node >= 1.0 && node <= count as f64 {
        true => Ok((unit.0, node as u32 - 1)),
        false => Err(engine_foundation::error!(
            "{subject} must be 1 to {count}, the unit's nodes, got {node}"
        )),
    }
}

fn preload(engine: &mut Engine, sound: TextArgument) -> Result<(), Error> {
    engine.devices.sounds.preload(&mut engine.assets.store, sound.as_str())
}

fn alive(engine: &mut Engine, voice: MaybeHandle) -> bool {
    let handle = voice.handle();
    handle.is_some_and(|handle| engine.devices.sounds.voices.slots.get(handle).is_some())
}

fn is_playing(engine: &mut Engine, voice: VoiceArgument) -> bool {
    engine.devices.sounds.voices.slots.get(voice.0).is_some()
}

fn set_parameter(
    engine: &mut Engine,
    voice: VoiceArgument,
    name: TextArgument,
    value: ParameterArgument,
) -> Result<bool, Error> {
    let (name, value) = (name.as_str(), value.0);
    let describe = || (name.to_string(), value.clone());
    let voices = &mut engine.devices.sounds.voices;
    voices.set_parameter(voice.0, IdString32::new(name), value.setting(), &describe)
}

fn set_global_parameter(
    engine: &mut Engine,
    name: TextArgument,
    value: ParameterArgument,
) -> Result<(), Error> {
    let voices = &mut engine.devices.sounds.voices;
    voices.set_global_parameter(IdString32::new(name.as_str()), value.0.setting())
}

fn bus(engine: &Engine, name: TextArgument) -> Result<usize, Error> {
    let mixer = &engine.devices.sounds.voices.buses.mixer;
    mixer.find(name.as_str()).ok_or_else(|| Error::new(mixer.missing_bus_message(name.as_str())))
}

fn set_bus_parameter(
    engine: &mut Engine,
    bus: TextArgument,
    name: TextArgument,
    value: ParameterArgument,
) -> Result<(), Error> {
    let bus = self::bus(engine, bus)?;
    let voices = &mut engine.devices.sounds.voices;
    voices.set_bus_parameter(bus, IdString32::new(name.as_str()), value.0.setting())
}

fn seconds_of(seconds: Option<f64>, argument: &str) -> Result<Option<f32>, Error> {
    seconds.map(|seconds| in_range(argument, seconds, 0.0, SECONDS_MAX)).transpose()
}

fn stop(engine: &mut Engine, voice: VoiceArgument, seconds: Option<f64>) -> Result<bool, Error> {
    let seconds = seconds_of(seconds, "#2 'seconds'")?;
    Ok(engine.devices.sounds.voices.stop(voice.0, seconds))
}

/// Changes a voice. Returns false if the voice has ended.
fn change(engine: &mut Engine, voice: VoiceArgument, change: impl FnOnce(&mut State)) -> bool {
    engine.devices.sounds.voices.voice_mut(voice.0).map(change).is_some()
}

fn pause(engine: &mut Engine, voice: VoiceArgument) -> bool {
    change(engine, voice, |voice| voice.paused = true)
}

fn resume(engine: &mut Engine, voice: VoiceArgument) -> bool {
    change(engine, voice, |voice| voice.paused = false)
}

fn fade(
    engine: &mut Engine,
    voice: VoiceArgument,
    volume: f64,
    seconds: f64,
) -> Result<bool, Error> {
    let volume = in_range("#2 'volume'", volume, 0.0, 16.0)?;
    let seconds = in_range("#3 'seconds'", seconds, 0.0, SECONDS_MAX)?;
    Ok(change(engine, voice, |voice| voice.volume.start(volume, seconds)))
}

fn set_volume(engine: &mut Engine, voice: VoiceArgument, volume: f64) -> Result<bool, Error> {
    let volume = in_range("#2 'volume'", volume, 0.0, 16.0)?;
    Ok(change(engine, voice, |voice| voice.volume.start(volume, 0.0)))
}

fn set_pitch(engine: &mut Engine, voice: VoiceArgument, pitch: f64) -> Result<bool, Error> {
    let pitch = in_range("#2 'pitch'", pitch, 0.01, 16.0)?;
    Ok(change(engine, voice, |voice| voice.pitch = pitch))
}

fn set_position(engine: &mut Engine, voice: VoiceArgument, position: Vec3) -> bool {
    change(engine, voice, |voice| voice.owner = None);
    engine.devices.sounds.voices.set_position(voice.0, position)
}

fn set_occlusion(engine: &mut Engine, voice: VoiceArgument, occlusion: f64) -> Result<bool, Error> {
    let occlusion = in_range("#2 'occlusion'", occlusion, 0.0, 1.0)?;
    Ok(change(engine, voice, |voice| voice.occlusion = occlusion))
}

fn link(
    engine: &mut Engine,
    voice: VoiceArgument,
    unit: UnitId,
    node: Option<Integer>,
) -> Result<bool, Error> {
    if let Some(world) = engine.devices.sounds.voices.voice(voice.0).map(|voice| voice.world) {
        same_world(engine, unit, world, "argument #2 'unit'")?;
    }
    let owner = owner_of(engine, unit, node.map(|node| node.0 as f64), "argument #3 'node'")?;
    if let Some(position) = engine.worlds.sound_owner_position(owner) {
        engine.devices.sounds.voices.set_position(voice.0, position);
    }
    Ok(change(engine, voice, |voice| voice.owner = Some(owner)))
}

fn true_peak(engine: &mut Engine) -> Option<f64> {
    engine.devices.sounds.true_peak_db().map(f64::from)
}

fn set_bus_volume(
    engine: &mut Engine,
    bus: TextArgument,
    volume: f64,
    seconds: Option<f64>,
) -> Result<(), Error> {
    let bus = self::bus(engine, bus)?;
    let volume = in_range("#2 'volume'", volume, 0.0, 16.0)?;
    let seconds = seconds_of(seconds, "#3 'seconds'")?;
    let seconds = seconds.unwrap_or(0.0);
    engine.devices.sounds.voices.buses.states[bus].volume.start(volume, seconds);
    Ok(())
}

fn bus_volume(engine: &mut Engine, bus: TextArgument) -> Result<f64, Error> {
    let bus = self::bus(engine, bus)?;
    Ok(engine.devices.sounds.voices.buses.states[bus].volume.to.into())
}

fn start_clock(
    engine: &mut Engine,
    clock: TextArgument,
    tempo: f64,
    beats_per_bar: Option<Integer>,
) -> Result<(), Error> {
    in_range("#2 'tempo'", tempo, 1.0, 1000.0)?;
    let beats = beats_per_bar.map_or(4.0, |beats| beats.0 as f64);
    in_range("#3 'beats_per_bar'", beats, 1.0, 64.0)?;
    engine.devices.sounds.voices.start_clock(clock.as_str(), tempo, beats)
}

fn stop_clock(engine: &mut Engine, clock: TextArgument) -> Result<(), Error> {
    let id = engine.devices.sounds.voices.clock(clock.as_str())?.id;
    engine.devices.sounds.voices.clocks.retain(|clock| clock.id != id);
    Ok(())
}

fn clock(engine: &mut Engine, clock: TextArgument) -> Result<(f64, f64), Error> {
    let voices = &engine.devices.sounds.voices;
    Ok(voices.clock(clock.as_str())?.position(voices.time))
}

/// Creates a Lua table with its keys in order.
fn table<const N: usize>(mut entries: [(&str, ScriptValue); N]) -> ScriptValue {
    entries.sort_by(|a, b| a.0.cmp(b.0));
    ScriptValue::Table(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn events(engine: &mut Engine) -> ScriptValue {
    let library = &engine.devices.sounds.voices.library;
    let one = |SoundEvent { kind, .. }: &SoundEvent| match kind {
        SoundEventKind::Ended { voice, sound, reason } => table([
            ("kind", ScriptValue::Text("ended".to_string())),
            ("voice", ScriptValue::Number(voice.to_number())),
            ("sound", ScriptValue::Text(library.sounds[*sound as usize].name.clone())),
            ("reason", ScriptValue::Text(reason.to_string())),
        ]),
        SoundEventKind::Bar { clock, bar } => table([
            ("kind", ScriptValue::Text("bar".to_string())),
            ("clock", ScriptValue::Text(clock.clone())),
            ("bar", ScriptValue::Number(*bar as f64)),
        ]),
    };
    ScriptValue::List(engine.devices.sounds.voices.readable_events.iter().map(one).collect())
}

fn history(engine: &mut Engine) -> ScriptValue {
    let voices = &engine.devices.sounds.voices;
    let one = |played: &engine_sound::voices::PlayedClip| {
        let library = &voices.library;
        table([
            ("voice", ScriptValue::Number(played.voice.to_number())),
            ("sound", ScriptValue::Text(library.sounds[played.sound as usize].name.clone())),
            (
                "recording",
                ScriptValue::Text(library.recordings[played.recording as usize].name.clone()),
            ),
            ("bus", ScriptValue::Text(played.bus.clone())),
            ("seconds", ScriptValue::Number(played.at)),
            ("volume", ScriptValue::Number(played.gain.into())),
            ("pitch", ScriptValue::Number(played.pitch.into())),
            ("pan", ScriptValue::Number(played.pan.into())),
            ("cutoff_hz", ScriptValue::Number(played.cutoff_hz.into())),
        ])
    };
    ScriptValue::List(voices.history.iter().map(one).collect())
}

fn num_voices(engine: &mut Engine) -> u64 {
    debug_assert!(engine.devices.sounds.voices.active.len() <= VOICES_MAX);
    engine.devices.sounds.voices.active.len() as u64
}
