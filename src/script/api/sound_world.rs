//! `SoundWorld`: the sound of a world as a whole. Voices are in sound.rs.

use super::sound_args::in_range;
use crate::engine::Engine;
use crate::foundation::{Error, Quat, Vec3};
use crate::script::arg::Integer;
use crate::script::row::{Module, func, hot, module};
use crate::system::sound::SoundWorldId;
use crate::system::sound::space::{LISTENERS_MAX, Listener};
use crate::system::sound::voices::SoundWorld;

pub static SOUND_WORLD: Module = module(
    "SoundWorld",
    "The sound of a world: who listens, and everything that plays. `World.sound_world` gives it.",
    r#"local world = Application.new_world()
local sound = World.sound_world(world)
SoundWorld.set_listener(sound, Vector3(0, 0, 1.7))
assert(SoundWorld.num_voices(sound) == 0)"#,
    &[
        hot(
            "set_listener",
            set_listener,
            &[
                ("sound_world", "the sound of a world"),
                ("position", "where the ears are"),
                ("rotation", "where they look; along y if left out"),
                ("index", "which listener, 1 to 4, where players share a screen; 1 if left out"),
            ],
            "Puts a listener somewhere. A sound with a position is heard by the one nearest to it. \
             Until there is one, somebody listens at the origin.",
        ),
        func(
            "remove_listener",
            remove_listener,
            &[("sound_world", "the sound of a world"), ("index", "which listener, 1 to 4")],
            "Takes a listener away.",
        )
        .when_full(),
        func(
            "pause",
            pause,
            &[("sound_world", "the sound of a world")],
            "Pauses everything that plays in a world, and what is triggered from now on.",
        ),
        func(
            "resume",
            resume,
            &[("sound_world", "the sound of a world")],
            "Goes on where `pause` stopped.",
        ),
        func(
            "stop_all",
            stop_all,
            &[
                ("sound_world", "the sound of a world"),
                ("seconds", "how long it takes to fade away; at once if left out"),
            ],
            "Stops everything that plays in a world.",
        )
        .when_full(),
        func(
            "num_voices",
            num_voices,
            &[("sound_world", "the sound of a world")],
            "How many voices play in a world, heard or not.",
        )
        .pure(),
    ],
);

fn world(engine: &mut Engine, sound_world: SoundWorldId) -> &mut SoundWorld {
    let world = engine.sounds.voices.worlds.get_mut(sound_world.0);
    world.expect("the handle was checked where it came in")
}

fn slot(index: Option<Integer>, place: &str) -> Result<usize, Error> {
    let index = index.map_or(1, |index| index.0);
    match usize::try_from(index) {
        Ok(index) if (1..=LISTENERS_MAX).contains(&index) => Ok(index - 1),
        _ => Err(crate::error!("argument {place} must be 1 to {LISTENERS_MAX}, got {index}")),
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
        return Err(crate::error!(
            "argument #3 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let right = rotation * Vec3::X;
    let world = world(engine, sound_world);
    if world.listeners[slot].is_none() {
        // It was put there, and did not come flying.
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
    engine.sounds.voices.stop_all(sound_world.0, seconds);
    Ok(())
}

fn num_voices(engine: &mut Engine, sound_world: SoundWorldId) -> u64 {
    let voices = &engine.sounds.voices;
    let own = |index: &&u32| {
        voices.voices[**index as usize].as_ref().is_some_and(|voice| voice.world == sound_world.0)
    };
    voices.active.iter().filter(own).count() as u64
}
