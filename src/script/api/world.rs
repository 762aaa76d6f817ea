//! `World`: what can be asked of a world and done with it as a whole.

use super::{debug, particles};
use crate::engine::{Engine, Steps};
use crate::foundation::{Error, Handle};
use crate::script::arg::AnyNumber;
use crate::script::row::{Module, func, hot, module};
use crate::system::sound::SoundWorldId;
use crate::world::WorldId;

pub static WORLD: Module = module(
    "World",
    "A world is a place that is updated and shown by itself. `Application.new_world` makes one.",
    r#"local world = Application.new_world()
World.update(world, 0.5)
assert(World.time(world) == 0.5)
Application.release_world(world)
assert(not World.alive(world))"#,
    &[
        func(
            "update",
            update,
            &[("world", "the world to move on"), ("delta", "seconds, zero or more")],
            "Moves everything in the world on by a step of time. Call it once in `update(dt)`.",
        )
        .when_full(),
        hot(
            "time",
            time,
            &[("world", "a world")],
            "Seconds of the world's own time: its steps, summed.",
        )
        .pure(),
        hot("delta_time", delta_time, &[("world", "a world")], "Seconds of the world's last step.")
            .pure(),
        hot(
            "alive",
            alive,
            &[("world", "a number that may be a world's handle")],
            "Whether the handle leads to a world that is there. Never raises for a stale handle.",
        )
        .pure(),
        func(
            "sound_world",
            sound_world,
            &[("world", "a world")],
            "The sound of a world: its listeners, and everything that plays in it.",
        ),
        func(
            "create_line_object",
            debug::create_line_object,
            &[("world", "the world that its lines are shown in")],
            "Makes an object that lines are collected in, for `LineObject`.",
        ),
        func(
            "destroy_line_object",
            debug::destroy_line_object,
            &[("world", "the world it belongs to"), ("line_object", "what ends")],
            "Ends a line object. Its handle is stale from then on.",
        )
        .when_full(),
        func(
            "create_particles",
            particles::create,
            &[
                ("world", "where it plays"),
                ("name", "the name of a `.particles`"),
                ("position", "where; the world's origin if none"),
                ("rotation", "how it is turned; not at all if none"),
                ("scale", "how large it is: the mean of the three; 1 if none"),
            ],
            "Plays an effect of particles in a world. It ends when it has spawned all that it \
             ever will and the last particle is gone, or by `World.destroy_particles`.",
        ),
        func(
            "move_particles",
            particles::move_to,
            &[
                ("world", "where it plays"),
                ("id", "a playing effect"),
                ("position", "where"),
                ("rotation", "how it is turned; not at all if none"),
                ("scale", "how large it is; 1 if none"),
            ],
            "Moves an effect, and unlinks it. What it spawns on its way is spread over it.",
        ),
        func(
            "link_particles",
            particles::link,
            &[
                ("world", "where both are"),
                ("id", "a playing effect"),
                ("unit", "what it is to hang on"),
                ("node", "which of its nodes; the root if none"),
                ("pose", "seen from the node; the node's own if none"),
                (
                    "orphaned",
                    "what becomes of it when the unit ends: \"destroy\", which it is if nothing \
                     is said, \"stop\" (it spawns no more) or \"unlink\" (it goes on)",
                ),
            ],
            "Hangs an effect on a unit: it moves along from now on.",
        ),
        func(
            "stop_spawning_particles",
            particles::stop_spawning,
            &[("world", "where it plays"), ("id", "an effect, which may have ended")],
            "Has an effect spawn no more: it ends with its last particle.",
        )
        .when_full(),
        func(
            "destroy_particles",
            particles::destroy,
            &[("world", "where it plays"), ("id", "an effect, which may have ended")],
            "Ends an effect and all its particles at once.",
        )
        .when_full(),
        func(
            "are_particles_playing",
            particles::are_playing,
            &[("world", "where it plays"), ("id", "an effect, which may have ended")],
            "Whether an effect has not ended yet.",
        )
        .pure(),
        func(
            "num_particles",
            particles::number,
            &[("world", "a world"), ("id", "an effect; all of the world's if none")],
            "How many particles there are. An effect that has ended has none.",
        )
        .pure(),
        func(
            "find_particles_variable",
            particles::find_variable,
            &[
                ("world", "a world"),
                ("name", "the name of a `.particles`"),
                ("variable", "the name of one of its variables"),
            ],
            "The number by which `World.set_particles_variable` knows a variable of an effect. \
             Without one of that name, an error.",
        ),
        func(
            "set_particles_variable",
            particles::set_variable,
            &[
                ("world", "where it plays"),
                ("id", "a playing effect"),
                ("variable", "what `World.find_particles_variable` returned"),
                ("value", "x alone where one number is meant"),
            ],
            "Sets a variable of a playing effect.",
        ),
    ],
);

/// What the prelude's update of a world stands on.
pub static CORE: Module = module(
    "World",
    "The update of a world, for the prelude.",
    "assert(core == nil)",
    &[func(
        "update",
        update_systems,
        &[("world", ""), ("delta", ""), ("physics", ""), ("scene_graph", "")],
        "Runs the systems of a world, or those before or after scripts; whether it has physics.",
    )
    .when_full()],
);

fn update(engine: &mut Engine, world: WorldId, delta: f64) -> Result<(), Error> {
    if delta < 0.0 {
        return Err(crate::error!("argument #2 'delta' must not be negative, got {delta}"));
    }
    engine.world(world).begin_update(delta);
    Ok(())
}

fn update_systems(
    engine: &mut Engine,
    world: WorldId,
    delta: f64,
    physics: bool,
    scene_graph: bool,
) -> Result<bool, Error> {
    engine.update_systems(world, delta, Steps { physics, scene_graph })?;
    Ok(engine.physics.of_world(world).is_some())
}

fn time(engine: &mut Engine, world: WorldId) -> f64 {
    engine.world(world).time
}

fn delta_time(engine: &mut Engine, world: WorldId) -> f64 {
    engine.world(world).delta
}

fn sound_world(engine: &mut Engine, world: WorldId) -> SoundWorldId {
    engine.sounds.world(world.0)
}

fn alive(engine: &mut Engine, world: AnyNumber) -> bool {
    Handle::from_number(world.0).is_some_and(|handle| engine.worlds.get(handle).is_some())
}
