//! The Lua module `Unit`: functions that find the light occluders of units.

use crate::api::unit::meshes::no_such;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::NameOrIndex;
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_world::light_occluder::LightOccluderId;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "light_occluder",
            unit_occluder,
            &[UNIT_ARG, ("light_occluder", "its index from 1, or its name in the unit's file")],
            "Returns one of the unit's light occluders.",
        )
        .pure(),
        func(
            "has_light_occluder",
            has_occluder,
            &[UNIT_ARG, ("light_occluder", "its index from 1, or its name")],
            "Returns true if the unit has that light occluder.",
        )
        .pure(),
        func(
            "num_light_occluders",
            num_occluders,
            &[UNIT_ARG],
            "Returns the number of the unit's light occluders.",
        )
        .pure(),
    ],
);

fn find(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<LightOccluderId> {
    let table = &engine.worlds.scenes.occluders.table;
    let parts = &engine.worlds.units.of(unit).resource.template.occluders;
    let at = which.position(parts.iter().map(|part| &part.name[..]), usize::MAX)?;
    table.slots.handle_at(table.of_unit(unit.row()).nth(at)?).map(LightOccluderId)
}

fn unit_occluder(
    engine: &mut Engine,
    unit: UnitId,
    which: NameOrIndex,
) -> Result<LightOccluderId, Error> {
    find(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.occluders.iter();
        let count = engine.worlds.scenes.occluders.table.of_unit(unit.row()).count();
        no_such(engine, unit, "light_occluder", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_occluder(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    find(engine, unit, which).is_some()
}

fn num_occluders(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.occluders.table.of_unit(unit.row()).count() as u64
}
