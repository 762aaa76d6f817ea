//! `World`: what can be asked of a world and done with it as a whole.

use super::debug;
use crate::engine::Engine;
use crate::foundation::Handle;
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
        ),
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
        ),
    ],
);

fn update(engine: &mut Engine, world: WorldId, delta: f64) -> Result<(), crate::foundation::Error> {
    if delta < 0.0 {
        return Err(crate::error!("argument #2 'delta' must not be negative, got {delta}"));
    }
    engine.update_world(world, delta)
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
