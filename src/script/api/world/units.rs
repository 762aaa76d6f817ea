//! The Lua module `World`: queries of the units in a world.

use crate::api::level;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::unit::UnitId;

const WORLD_ARG: (&str, &str) = ("world", "a world");

pub static WORLD: ModuleRows = more(
    "World",
    &[
        func("num_units", num_units, &[WORLD_ARG], "Returns the number of units in the world.")
            .pure(),
        func(
            "unit_by_name",
            unit_by_name,
            &[WORLD_ARG, ("name", "the unit's name in a level's file")],
            "Returns the unit with that name that was spawned with a level of the world, or with a \
             nested level. If there are several, returns the first one that exists, in the order \
             of `World.levels`; nil if there is none. If you know the level, `Level.unit` is \
             faster.",
        )
        .pure(),
    ],
);

fn num_units(engine: &mut Engine, world: WorldId) -> u64 {
    engine.worlds.units.in_world(world).count() as u64
}

fn unit_by_name(engine: &mut Engine, world: WorldId, name: TextArgument) -> Option<UnitId> {
    let tops = engine.worlds.levels.in_world(world).into_iter();
    let mut all = tops.flat_map(|top| engine.worlds.levels.with_nested(top));
    all.find_map(|level| level::unit_of_name(engine, level, name.as_str()))
}
