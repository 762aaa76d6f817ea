//! The Lua module `Unit`: functions that find the sprites and tile maps of units.

use crate::api::unit::meshes::{array_index, no_such};
use crate::api_row::{ModuleRows, func, more};
use crate::value::ScriptValue;
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

fn which_of(
    which: &ScriptValue,
    argument: &str,
    names: &[&str],
    count: usize,
) -> Result<Option<usize>, Error> {
    match which {
        ScriptValue::Number(number) => Ok(array_index(*number, count)),
        ScriptValue::Text(name) => Ok(names.iter().position(|known| known == name)),
        _ => Err(engine_foundation::error!("argument #2 '{argument}' must be a number or a name")),
    }
}

fn find_sprite(
    engine: &Engine,
    unit: UnitId,
    which: &ScriptValue,
) -> Result<Option<SpriteId>, Error> {
    let sprites = &engine.worlds.scenes.sprites;
    let indices: Vec<usize> = sprites.table.of_unit(unit.row()).collect();
    let parts = &engine.worlds.units.of(unit).resource.template.sprites;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let found = which_of(which, "sprite", &names, indices.len())?;
    let handle = found.and_then(|at| sprites.table.slots.handle_at(*indices.get(at)?));
    Ok(handle.map(SpriteId))
}

fn unit_sprite(engine: &mut Engine, unit: UnitId, which: ScriptValue) -> Result<SpriteId, Error> {
    find_sprite(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.sprites.iter();
        let count = engine.worlds.scenes.sprites.table.of_unit(unit.row()).count();
        no_such(engine, unit, "sprite", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_sprite(engine: &mut Engine, unit: UnitId, which: ScriptValue) -> Result<bool, Error> {
    Ok(find_sprite(engine, unit, &which)?.is_some())
}

fn num_sprites(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.sprites.table.of_unit(unit.row()).count() as u64
}

fn find_tilemap(
    engine: &Engine,
    unit: UnitId,
    which: &ScriptValue,
) -> Result<Option<TilemapId>, Error> {
    let maps = engine.worlds.scenes.maps.of_unit(unit.row());
    let parts = &engine.worlds.units.of(unit).resource.template.maps;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let found = which_of(which, "tilemap", &names, maps.len())?;
    Ok(found.and_then(|at| maps.get(at)).map(|map| map.map))
}

fn unit_tilemap(engine: &mut Engine, unit: UnitId, which: ScriptValue) -> Result<TilemapId, Error> {
    find_tilemap(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.maps.iter();
        let count = engine.worlds.scenes.maps.of_unit(unit.row()).len();
        no_such(engine, unit, "tilemap", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_tilemap(engine: &mut Engine, unit: UnitId, which: ScriptValue) -> Result<bool, Error> {
    Ok(find_tilemap(engine, unit, &which)?.is_some())
}

fn num_tilemaps(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.maps.of_unit(unit.row()).len() as u64
}
