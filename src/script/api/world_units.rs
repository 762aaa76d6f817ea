//! What `World` says of the units in it.

use super::level;
use crate::engine::Engine;
use crate::script::arg::Text;
use crate::script::row::{Module, func, more};
use crate::world::WorldId;
use crate::world::unit::UnitId;

const WORLD_ARG: (&str, &str) = ("world", "a world");

pub static WORLD: Module = more(
    "World",
    &[
        func("num_units", num_units, &[WORLD_ARG], "How many units are in the world.").pure(),
        func(
            "unit_by_name",
            unit_by_name,
            &[WORLD_ARG, ("name", "the unit's name in the file of a level")],
            "The unit that came with a level of the world, or with one inside of it, under that \
             name: the first of them that is there, in the order of `World.levels`; nil without \
             one. Where the level is known, `Level.unit` is faster.",
        )
        .pure(),
    ],
);

fn num_units(engine: &mut Engine, world: WorldId) -> f64 {
    engine.units.in_world(world).count() as f64
}

fn unit_by_name(engine: &mut Engine, world: WorldId, name: Text) -> Option<UnitId> {
    let tops = engine.levels.in_world(world).into_iter();
    let mut all = tops.flat_map(|top| engine.levels.with_nested(top));
    all.find_map(|level| level::unit_of_name(engine, level, name.as_str()))
}
