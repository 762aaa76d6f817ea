//! `Sound`: voices, from their trigger to their end; buses and clocks. `Voice` asks of one.

use super::sound_args::{AnyWorld, Options, Started, Value, Voice, in_range};
use crate::engine::Engine;
use crate::foundation::hash::IdString32;
use crate::foundation::{Error, Handle, Vec3};
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value as Data;
use crate::system::sound::clock::Grid;
use crate::system::sound::parameters::List;
use crate::system::sound::voices::{
    Event, EventKind, ParameterValue, Trigger, VOICES_MAX, Voice as State,
};
use crate::world::unit::UnitId;

pub static VOICE: Module = module(
    "Voice",
    "A voice is one sound that plays. `Sound.trigger` gives it, and the functions of `Sound` take \
     it.",
    r#"assert(not Voice.alive(0))
assert(not Voice.alive(Application.new_world()))"#,
    &[hot(
        "alive",
        alive,
        &[("voice", "a number that may be a voice's handle")],
        "Whether the handle leads to a voice that has not ended. Never raises.",
    )
    .pure()],
);

/// Seconds of fades and delays.
const SECONDS_MAX: f64 = 3600.0;

pub static SOUND: Module = module(
    "Sound",
    "Sounds: a designer's file says what is played for which parameters, the game triggers it and \
     sets them. A voice is one sound that plays.",
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
                ("world", "where it plays: a world, or its sound"),
                ("sound", "a sound's name, or that of a recording (WAV, OGG, FLAC, MP3)"),
                (
                    "options",
                    "parameters (a table of numbers and texts), position, or unit and node; \
                     volume, pitch (1 is unchanged), pan (-1 to 1), fade_in and delay (seconds), \
                     bus, priority (0 to 100), occlusion (0 to 1); clock and on (\"bar\" or \
                     \"beat\"): when it begins",
                ),
            ],
            "Plays a sound: its voice; or nil where the sound has as many voices as it may have, \
             and its policy is to refuse. Without a position it is heard everywhere.",
        ),
        func(
            "preload",
            preload,
            &[("sound", "a sound's name")],
            "Loads a sound and has its recordings decoded, so that its first trigger is heard at \
             once. Raises where it is missing.",
        ),
        hot(
            "is_playing",
            is_playing,
            &[("voice", "a voice, also one that has ended")],
            "Whether a voice has not ended yet. One that is paused, or not heard, has not.",
        )
        .pure(),
        hot(
            "set_parameter",
            set_parameter,
            &[
                ("voice", "a voice"),
                ("name", "a parameter that its sound reads"),
                ("value", "a number for curves, a text for switches"),
            ],
            "Sets a parameter of a voice: whether the voice was still there. Curves follow at the \
             end of the frame, loops whose switch leads elsewhere fade over.",
        ),
        func(
            "set_global_parameter",
            set_global_parameter,
            &[("name", "a parameter's name"), ("value", "a number or a text")],
            "Sets a parameter for all voices that have none of their own by that name.",
        ),
        func(
            "set_bus_parameter",
            set_bus_parameter,
            &[("bus", "a bus"), ("name", "a parameter's name"), ("value", "a number or a text")],
            "Sets a parameter for the voices on a bus, and on those that lead to it.",
        ),
        func(
            "stop",
            stop,
            &[
                ("voice", "a voice"),
                ("seconds", "how long it fades away; as its sound says if left out"),
            ],
            "Stops a voice: whether it was still there. It never clicks.",
        )
        .when_full(),
        func("pause", pause, &[("voice", "a voice")], "Pauses a voice: whether it was there."),
        func("resume", resume, &[("voice", "a voice")], "Goes on with a voice that was paused."),
        func(
            "fade",
            fade,
            &[
                ("voice", "a voice"),
                ("volume", "1 is as triggered"),
                ("seconds", "how long it takes to get there"),
            ],
            "Moves the volume of a voice: whether it was there.",
        ),
        hot(
            "set_volume",
            set_volume,
            &[("voice", "a voice"), ("volume", "0 to 16; 1 is as its sound says")],
            "Sets the volume of a voice: whether it was there.",
        ),
        hot(
            "set_pitch",
            set_pitch,
            &[("voice", "a voice"), ("pitch", "0.01 to 16; 1 is as its sound says")],
            "Sets the pitch of a voice, and with it its speed: whether it was there.",
        ),
        hot(
            "set_position",
            set_position,
            &[("voice", "a voice"), ("position", "where it is in its world")],
            "Moves a voice: whether it was there. How fast it moved shifts its pitch.",
        ),
        hot(
            "set_occlusion",
            set_occlusion,
            &[("voice", "a voice"), ("occlusion", "0 is free, 1 behind a wall")],
            "Says how much stands between a voice and its listener: whether it was there. What \
             that takes away is in the sound's file.",
        ),
        func(
            "link",
            link,
            &[
                ("voice", "a voice"),
                ("unit", "the unit that it goes along with"),
                ("node", "which of its nodes, from 1; the first if left out"),
            ],
            "Has a voice go along with a unit: whether it was there. When the unit is gone it \
             stays where it is.",
        ),
        func(
            "seconds",
            seconds,
            &[("voice", "a voice")],
            "Where in its recording a voice is, of its first layer; 0 where it has ended.",
        )
        .pure(),
        func(
            "set_bus_volume",
            set_bus_volume,
            &[
                ("bus", "a bus, \"master\" for everything"),
                ("volume", "0 to 16; 1 is as the mixer says"),
                ("seconds", "how long it takes to get there; at once if left out"),
            ],
            "Sets the volume of a bus.",
        ),
        func("bus_volume", bus_volume, &[("bus", "a bus")], "The volume of a bus that was set.")
            .pure(),
        func(
            "start_clock",
            start_clock,
            &[
                ("clock", "a name of your own"),
                ("tempo", "beats a minute, 1 to 1000"),
                ("beats_per_bar", "1 to 64; 4 if left out"),
            ],
            "Starts a clock of music, at its first bar. `Sound.trigger` can begin on its bars and \
             beats, exact to the sample.",
        ),
        func("stop_clock", stop_clock, &[("clock", "its name")], "Stops a clock.").when_full(),
        func(
            "clock",
            clock,
            &[("clock", "its name")],
            "The bar and, with its fraction, the beat of a clock, both from 1.",
        )
        .pure(),
        func(
            "events",
            events,
            &[],
            "What happened in the last frame, oldest first: tables with kind \"ended\" (voice, \
             sound, reason: \"finished\", \"stopped\" or \"stolen\") or \"bar\" (clock, bar).",
        )
        .pure(),
        func(
            "history",
            history,
            &[],
            "The recordings that were started last, oldest first, at most 1000: tables of voice, \
             sound, recording, bus, seconds (of sound time), volume, pitch, pan, cutoff_hz. For \
             tests: it is the same with and without a device.",
        )
        .pure(),
        func("num_voices", num_voices, &[], "How many voices play, heard or not.").pure(),
    ],
);

fn trigger(
    engine: &mut Engine,
    world: AnyWorld,
    sound: Text,
    options: Option<Options>,
) -> Result<Started, Error> {
    let world = world.sound(engine);
    let silent = engine.sounds.voices.worlds.get(world.0).map(|of| of.world);
    if silent.and_then(|of| engine.worlds.get(of)).is_some_and(|of| of.flags.no_sound) {
        return Ok(Started(None));
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
        Some(owner) => engine.sound_owner_position(owner),
        None => options.position,
    };
    let clock = options.clock.as_deref();
    let trigger = Trigger {
        parameters: &options.parameters,
        position,
        volume: options.volume,
        pitch: options.pitch,
        pan: options.pan,
        fade_in_seconds: options.fade_in,
        delay_seconds: options.delay,
        bus: options.bus.as_deref(),
        priority: options.priority,
        occlusion: options.occlusion,
        clock: clock.map(|clock| (clock, options.on.unwrap_or(Grid::Bar))),
        owner,
        ..Trigger::new(sound.as_str(), world.0)
    };
    engine.sounds.trigger(&mut engine.store, &trigger).map(Started)
}

/// Refuses a unit of another world than that of a sound.
fn same_world(engine: &Engine, unit: UnitId, sound: Handle, what: &str) -> Result<(), Error> {
    let world = engine.sounds.voices.worlds.get(sound).map(|sound| sound.world);
    let of_unit = engine.units.slots.get(unit.0).map(|unit| unit.world.0);
    match world == of_unit {
        true => Ok(()),
        false => Err(crate::error!("{what}: the unit is in another world than the sound")),
    }
}

/// What a voice is linked to.
fn owner_of(
    engine: &mut Engine,
    unit: UnitId,
    node: Option<f64>,
    what: &str,
) -> Result<(Handle, u32), Error> {
    let node = node.unwrap_or(1.0);
    let count = engine.units.scene.count(unit.row());
    match node.fract() == 0.0 && node >= 1.0 && node <= count as f64 {
        true => Ok((unit.0, node as u32 - 1)),
        false => Err(crate::error!("{what} must be 1 to {count}, the unit's nodes, got {node}")),
    }
}

fn preload(engine: &mut Engine, sound: Text) -> Result<(), Error> {
    engine.sounds.preload(&mut engine.store, sound.as_str())
}

fn alive(engine: &mut Engine, voice: AnyNumber) -> bool {
    let handle = Handle::from_number(voice.0);
    handle.is_some_and(|handle| engine.sounds.voices.slots.get(handle).is_some())
}

fn is_playing(engine: &mut Engine, voice: Voice) -> bool {
    engine.sounds.voices.slots.get(voice.0).is_some()
}

fn set_parameter(
    engine: &mut Engine,
    voice: Voice,
    name: Text,
    value: Value,
) -> Result<bool, Error> {
    let (name, value) = (name.as_str(), value.0);
    let words = || (name.to_string(), value.clone());
    let voices = &mut engine.sounds.voices;
    voices.set_parameter(voice.0, IdString32::new(name), value.setting(), &words)
}

/// Sets a parameter in a list, and has loops choose anew where it is a text.
fn set_in(
    engine: &mut Engine,
    name: &str,
    value: &ParameterValue,
    list: impl Fn(&mut Engine) -> &mut List,
) -> Result<(), Error> {
    let mut own = *list(engine);
    let voices = &mut engine.sounds.voices;
    let set = voices.parameters.set(&mut own, IdString32::new(name), value.setting());
    set.map_err(|refused| Error::new(voices.parameters.words(refused)))?;
    *list(engine) = own;
    if matches!(value, ParameterValue::Text(_)) {
        let voices = &mut engine.sounds.voices;
        for index in &voices.active {
            if let Some(voice) = &mut voices.voices[*index as usize] {
                voice.stale_choice = true;
            }
        }
    }
    Ok(())
}

fn set_global_parameter(engine: &mut Engine, name: Text, value: Value) -> Result<(), Error> {
    set_in(engine, name.as_str(), &value.0, |engine| &mut engine.sounds.voices.global)
}

fn bus(engine: &Engine, name: Text) -> Result<usize, Error> {
    let mixer = &engine.sounds.voices.buses.mixer;
    mixer.find(name.as_str()).ok_or_else(|| Error::new(mixer.missing_words(name.as_str())))
}

fn set_bus_parameter(
    engine: &mut Engine,
    bus: Text,
    name: Text,
    value: Value,
) -> Result<(), Error> {
    let bus = self::bus(engine, bus)?;
    set_in(engine, name.as_str(), &value.0, |engine| {
        &mut engine.sounds.voices.buses.states[bus].parameters
    })
}

fn seconds_of(seconds: Option<f64>, place: &str) -> Result<Option<f32>, Error> {
    seconds.map(|seconds| in_range(place, seconds, 0.0, SECONDS_MAX)).transpose()
}

fn stop(engine: &mut Engine, voice: Voice, seconds: Option<f64>) -> Result<bool, Error> {
    let seconds = seconds_of(seconds, "#2 'seconds'")?;
    Ok(engine.sounds.voices.stop(voice.0, seconds))
}

/// Changes a voice, if it has not ended: whether it has not.
fn change(engine: &mut Engine, voice: Voice, change: impl FnOnce(&mut State)) -> bool {
    engine.sounds.voices.voice_mut(voice.0).map(change).is_some()
}

fn pause(engine: &mut Engine, voice: Voice) -> bool {
    change(engine, voice, |voice| voice.paused = true)
}

fn resume(engine: &mut Engine, voice: Voice) -> bool {
    change(engine, voice, |voice| voice.paused = false)
}

fn fade(engine: &mut Engine, voice: Voice, volume: f64, seconds: f64) -> Result<bool, Error> {
    let volume = in_range("#2 'volume'", volume, 0.0, 16.0)?;
    let seconds = in_range("#3 'seconds'", seconds, 0.0, SECONDS_MAX)?;
    Ok(change(engine, voice, |voice| voice.volume.go(volume, seconds)))
}

fn set_volume(engine: &mut Engine, voice: Voice, volume: f64) -> Result<bool, Error> {
    let volume = in_range("#2 'volume'", volume, 0.0, 16.0)?;
    Ok(change(engine, voice, |voice| voice.volume.go(volume, 0.0)))
}

fn set_pitch(engine: &mut Engine, voice: Voice, pitch: f64) -> Result<bool, Error> {
    let pitch = in_range("#2 'pitch'", pitch, 0.01, 16.0)?;
    Ok(change(engine, voice, |voice| voice.pitch = pitch))
}

fn set_position(engine: &mut Engine, voice: Voice, position: Vec3) -> bool {
    change(engine, voice, |voice| voice.owner = None);
    engine.sounds.voices.set_position(voice.0, position)
}

fn set_occlusion(engine: &mut Engine, voice: Voice, occlusion: f64) -> Result<bool, Error> {
    let occlusion = in_range("#2 'occlusion'", occlusion, 0.0, 1.0)?;
    Ok(change(engine, voice, |voice| voice.occlusion = occlusion))
}

fn link(engine: &mut Engine, voice: Voice, unit: UnitId, node: Option<f64>) -> Result<bool, Error> {
    if let Some(world) = engine.sounds.voices.voice(voice.0).map(|voice| voice.world) {
        same_world(engine, unit, world, "argument #2 'unit'")?;
    }
    let owner = owner_of(engine, unit, node, "argument #3 'node'")?;
    if let Some(position) = engine.sound_owner_position(owner) {
        engine.sounds.voices.set_position(voice.0, position);
    }
    Ok(change(engine, voice, |voice| voice.owner = Some(owner)))
}

fn seconds(engine: &mut Engine, voice: Voice) -> f64 {
    engine.sounds.voices.seconds(voice.0).unwrap_or(0.0)
}

fn set_bus_volume(
    engine: &mut Engine,
    bus: Text,
    volume: f64,
    seconds: Option<f64>,
) -> Result<(), Error> {
    let bus = self::bus(engine, bus)?;
    let volume = in_range("#2 'volume'", volume, 0.0, 16.0)?;
    let seconds = seconds_of(seconds, "#3 'seconds'")?;
    let seconds = seconds.unwrap_or(0.0);
    engine.sounds.voices.buses.states[bus].volume.go(volume, seconds);
    Ok(())
}

fn bus_volume(engine: &mut Engine, bus: Text) -> Result<f64, Error> {
    let bus = self::bus(engine, bus)?;
    Ok(engine.sounds.voices.buses.states[bus].volume.to.into())
}

fn start_clock(
    engine: &mut Engine,
    clock: Text,
    tempo: f64,
    beats_per_bar: Option<Integer>,
) -> Result<(), Error> {
    in_range("#2 'tempo'", tempo, 1.0, 1000.0)?;
    let beats = beats_per_bar.map_or(4.0, |beats| beats.0 as f64);
    in_range("#3 'beats_per_bar'", beats, 1.0, 64.0)?;
    engine.sounds.voices.start_clock(clock.as_str(), tempo, beats)
}

fn stop_clock(engine: &mut Engine, clock: Text) -> Result<(), Error> {
    let id = engine.sounds.voices.clock(clock.as_str())?.id;
    engine.sounds.voices.clocks.retain(|clock| clock.id != id);
    Ok(())
}

fn clock(engine: &mut Engine, clock: Text) -> Result<(f64, f64), Error> {
    let voices = &engine.sounds.voices;
    Ok(voices.clock(clock.as_str())?.position(voices.time))
}

/// A table of Lua's, its keys in order.
fn table<const N: usize>(mut entries: [(&str, Data); N]) -> Data {
    entries.sort_by(|a, b| a.0.cmp(b.0));
    Data::Table(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn events(engine: &mut Engine) -> Data {
    let library = &engine.sounds.voices.library;
    let one = |Event { kind, .. }: &Event| match kind {
        EventKind::Ended { voice, sound, reason } => table([
            ("kind", Data::Text("ended".to_string())),
            ("voice", Data::Number(voice.to_number())),
            ("sound", Data::Text(library.sounds[*sound as usize].name.clone())),
            ("reason", Data::Text(reason.to_string())),
        ]),
        EventKind::Bar { clock, bar } => table([
            ("kind", Data::Text("bar".to_string())),
            ("clock", Data::Text(clock.clone())),
            ("bar", Data::Number(*bar as f64)),
        ]),
    };
    Data::List(engine.sounds.voices.told.iter().map(one).collect())
}

fn history(engine: &mut Engine) -> Data {
    let voices = &engine.sounds.voices;
    let one = |played: &crate::system::sound::voices::Played| {
        let library = &voices.library;
        table([
            ("voice", Data::Number(played.voice.to_number())),
            ("sound", Data::Text(library.sounds[played.sound as usize].name.clone())),
            ("recording", Data::Text(library.recordings[played.recording as usize].name.clone())),
            ("bus", Data::Text(played.bus.clone())),
            ("seconds", Data::Number(played.at)),
            ("volume", Data::Number(played.gain.into())),
            ("pitch", Data::Number(played.pitch.into())),
            ("pan", Data::Number(played.pan.into())),
            ("cutoff_hz", Data::Number(played.cutoff_hz.into())),
        ])
    };
    Data::List(voices.history.iter().map(one).collect())
}

fn num_voices(engine: &mut Engine) -> u64 {
    debug_assert!(engine.sounds.voices.active.len() <= VOICES_MAX);
    engine.sounds.voices.active.len() as u64
}
