//! The Lua module `Actor`: one-way platforms, which hold only what comes from above.

use crate::api_row::{ModuleRows, func, more};
use engine_runtime::Engine;
use engine_world::physics::ActorId;

const ACTOR_ARG: (&str, &str) = ("actor", "an actor");

pub static ACTOR: ModuleRows = more(
    "Actor",
    &[
        func(
            "is_one_way",
            is_one_way,
            &[ACTOR_ARG],
            "Returns true if an actor is a one-way platform.",
        )
        .pure(),
        func(
            "set_one_way",
            set_one_way,
            &[ACTOR_ARG, ("one_way", "true: it holds only what comes from above")],
            "Makes an actor a one-way platform: bodies and movers that come from below or from the \
             side pass through it. Above is the direction of y in the actor in 2D worlds, and of \
             z in others. `Mover.drop_through` lets a mover fall through it.",
        ),
    ],
);

fn is_one_way(engine: &mut Engine, actor: ActorId) -> bool {
    let (simulation, body) = engine.worlds.physics.body(actor);
    simulation.is_one_way(body)
}

fn set_one_way(engine: &mut Engine, actor: ActorId, one_way: bool) {
    let (simulation, body) = engine.worlds.physics.body_mut(actor);
    simulation.set_one_way(body, one_way);
}
