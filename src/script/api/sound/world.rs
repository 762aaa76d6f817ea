//! The Lua module `SoundWorld`: the sound of a world as a whole. Voices are in sound/mod.rs.

use crate::api::sound::arguments::in_range;
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::Integer;
use engine_foundation::{Error, Quat, Vec3};
use engine_runtime::Engine;
use engine_sound::SoundWorldId;
use engine_sound::spatialization::{LISTENERS_MAX, Listener};
use engine_sound::voices::SoundWorld;

pub static SOUND_WORLD: ModuleRows = module(
    "SoundWorld",
    "The sound of a world: its listeners, and everything that plays in it. `World.sound_world` \
     returns it.",
    r#"local world = Application.new_world()
local sound = World.sound_world(world)
SoundWorld.set_listener(sound, Vector3(0, 0, 1.7))
assert(SoundWorld.num_voices(sound) == 0)"#,
    &[
        hot(
            "set_listener",
            set_listener,
            &[
                ("sound_world", "the sound world of a world"),
                ("position", "position of the listener"),
                ("rotation", "orientation of the listener; along y by default"),
                (
                    "index",
                    "index of the listener, 1 to 4, for players who share a screen; 1 by default",
                ),
            ],
            "Places a listener. A sound with a position is heard by the nearest listener. Before \
             the first call, a listener at the origin is used.",
        ),
        func(
            "remove_listener",
            remove_listener,
            &[
                ("sound_world", "the sound world of a world"),
                ("index", "index of the listener, 1 to 4"),
            ],
            "Removes a listener.",
        )
        .when_full(),
        func(
            "pause",
            pause,
            &[("sound_world", "the sound world of a world")],
            "Pauses everything that plays in a world, and everything that is triggered until \
             `resume`.",
        ),
        func(
            "resume",
            resume,
            &[("sound_world", "the sound world of a world")],
            "Resumes a sound world after `pause`.",
        ),
        func(
            "stop_all",
            stop_all,
            &[
                ("sound_world", "the sound world of a world"),
                ("seconds", "duration of the fade-out; at once by default"),
            ],
            "Stops everything that plays in a world.",
        )
        .when_full(),
        func(
            "num_voices",
            num_voices,
            &[("sound_world", "the sound world of a world")],
            "Returns the number of voices in a world, audible or not.",
        )
        .pure(),
    ],
);

fn world(engine: &mut Engine, sound_world: SoundWorldId) -> &mut SoundWorld {
    let world = engine.devices.sounds.voices.worlds.get_mut(sound_world.0);
    world.expect("the handle was checked where it came in")
}

fn slot(index: Option<Integer>, argument: &str) -> Result<usize, Error> {
    let index = index.map_or(1, |index| index.0);
    match usize::try_from(index) {
        Ok(index) if (1..=LISTENERS_MAX).contains(&index) => Ok(index - 1),
        _ => Err(engine_foundation::error!(
            "argument {argument} must be 1 to {LISTENERS_MAX}, got {index}"
        )),
    }
}

fn set_listener(
    engine: &mut Engine,
    sound_world: SoundWorldId,
    position: Vec3,
    rotation: Option<Quat>,
    index: Option<Integer>,
) -> Result<(), Error> {
    let slot = slot(index, "#4 'index'")?;
    let rotation = rotation.unwrap_or(Quat::IDENTITY);
    if (rotation.length_squared() - 1.0).abs() > 1e-3 {
        return Err(engine_foundation::error!(
            "argument #3 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let right = rotation * Vec3::X;
    let world = world(engine, sound_world);
    if world.listeners[slot].is_none() {
        // A new listener is treated as teleported, so that it has no velocity.
        world.last_positions[slot] = position;
    }
    world.listeners[slot] = Some(Listener { position, right, ..Listener::DEFAULT });
    Ok(())
}

fn remove_listener(
    engine: &mut Engine,
    sound_world: SoundWorldId,
    index: Integer,
) -> Result<(), Error> {
    let slot = slot(Some(index), "#2 'index'")?;
    world(engine, sound_world).listeners[slot] = None;
    Ok(())
}

fn pause(engine: &mut Engine, sound_world: SoundWorldId) {
    world(engine, sound_world).paused = true;
}

fn resume(engine: &mut Engine, sound_world: SoundWorldId) {
    world(engine, sound_world).paused = false;
}

fn stop_all(
    engine: &mut Engine,
    sound_world: SoundWorldId,
    seconds: Option<f64>,
) -> Result<(), Error> {
    let seconds = match seconds {
        Some(seconds) => in_range("#2 'seconds'", seconds, 0.0, 3600.0)?,
        None => 0.0,
    };
    engine.devices.sounds.voices.stop_all(sound_world.0, seconds);
    Ok(())
}

fn num_voices(engine: &mut Engine, sound_world: SoundWorldId) -> u64 {
    let voices = &engine.devices.sounds.voices;
    let own = |index: &&u32| {
        voices.voices[**index as usize].as_ref().is_some_and(|voice| voice.world == sound_world.0)
    };
    voices.active.iter().filter(own).count() as u64
}
