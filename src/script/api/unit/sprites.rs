//! The Lua module `Unit`: functions that find the sprites and tile maps of units.

use crate::api::unit::meshes::no_such;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::NameOrIndex;
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_tilemaps::TilemapId;
use engine_world::sprite::SpriteId;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "sprite",
            unit_sprite,
            &[UNIT_ARG, ("sprite", "its index from 1, or its name in the unit's file")],
            "Returns one of the unit's sprites.",
        )
        .pure(),
        func(
            "has_sprite",
            has_sprite,
            &[UNIT_ARG, ("sprite", "its index from 1, or its name")],
            "Returns true if the unit has that sprite.",
        )
        .pure(),
        func("num_sprites", num_sprites, &[UNIT_ARG], "Returns the number of the unit's sprites.")
            .pure(),
        func(
            "tilemap",
            unit_tilemap,
            &[UNIT_ARG, ("tilemap", "its index from 1, or its name in the unit's file")],
            "Returns one of the unit's tile maps. The map is destroyed with the unit.",
        )
        .pure(),
        func(
            "has_tilemap",
            has_tilemap,
            &[UNIT_ARG, ("tilemap", "its index from 1, or its name")],
            "Returns true if the unit has that tile map.",
        )
        .pure(),
        func(
            "num_tilemaps",
            num_tilemaps,
            &[UNIT_ARG],
            "Returns the number of the unit's tile maps.",
        )
        .pure(),
    ],
);

fn find_sprite(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<SpriteId> {
    let table = &engine.worlds.scenes.sprites.table;
    let parts = &engine.worlds.units.of(unit).resource.template.sprites;
    let at = which.position(parts.iter().map(|part| &part.name[..]), usize::MAX)?;
    table.slots.handle_at(table.of_unit(unit.row()).nth(at)?).map(SpriteId)
}

fn unit_sprite(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> Result<SpriteId, Error> {
    find_sprite(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.sprites.iter();
        let count = engine.worlds.scenes.sprites.table.of_unit(unit.row()).count();
        no_such(engine, unit, "sprite", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_sprite(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    find_sprite(engine, unit, which).is_some()
}

fn num_sprites(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.sprites.table.of_unit(unit.row()).count() as u64
}

fn find_tilemap(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<TilemapId> {
    let maps = engine.worlds.scenes.maps.of_unit(unit.row());
    let parts = &engine.worlds.units.of(unit).resource.template.maps;
    let at = which.position(parts.iter().map(|part| &part.name[..]), maps.len())?;
    maps.get(at).map(|map| map.map)
}

fn unit_tilemap(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> Result<TilemapId, Error> {
    find_tilemap(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.maps.iter();
        let count = engine.worlds.scenes.maps.of_unit(unit.row()).len();
        no_such(engine, unit, "tilemap", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_tilemap(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    find_tilemap(engine, unit, which).is_some()
}

fn num_tilemaps(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.maps.of_unit(unit.row()).len() as u64
}
