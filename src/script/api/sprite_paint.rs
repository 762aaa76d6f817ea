//! What paints sprites and tile maps of units in place of the engine, and from how far they are
//! seen.

use super::mesh::range_of;
use super::sprite::{MAP_ARG, SPRITE_ARG, change, look};
use crate::engine::Engine;
use crate::foundation::{Error, Handle};
use crate::script::row::{Module, func, more};
use crate::system::materials::MaterialId;
use crate::system::tilemaps::TilemapId;
use crate::world::sprite::{SpriteId, Stand};
use crate::world::unit_map::UnitMap;

pub static SPRITE: Module = more(
    "Sprite",
    &[
        func(
            "material",
            material,
            &[SPRITE_ARG],
            "The material that paints it; nil where the engine's own does.",
        )
        .pure(),
        func(
            "set_material",
            set_material,
            &[SPRITE_ARG, ("material", "a material of pictures; nil: the engine's own again")],
            "Has a material paint it: with its shader, variables and blend. It is given the \
             sprite's picture, times its tint, and takes no light.",
        ),
        func(
            "range",
            range,
            &[SPRITE_ARG],
            "From how many metres of the camera on, and up to how many, it is shown.",
        )
        .pure(),
        func(
            "set_range",
            set_range,
            &[
                SPRITE_ARG,
                ("near", "metres from the camera"),
                ("far", "metres from the camera; without it, it is shown however far"),
            ],
            "Shows it only in a range of distances.",
        ),
    ],
);

pub static TILEMAP: Module = more(
    "Tilemap",
    &[
        func(
            "material",
            map_material,
            &[MAP_ARG],
            "The material that paints it; nil where the engine's own does.",
        )
        .pure(),
        func(
            "set_material",
            set_map_material,
            &[MAP_ARG, ("material", "a material of pictures; nil: the engine's own again")],
            "Has a material paint it, as `Sprite.set_material` does.",
        ),
    ],
);

fn material(engine: &mut Engine, sprite: SpriteId) -> Option<MaterialId> {
    look(engine, sprite).stand.material.map(MaterialId)
}

/// What a stand is painted by from now on; what takes light is not painted.
fn painter(
    engine: &Engine,
    stand: Stand,
    material: Option<MaterialId>,
) -> Result<Option<Handle>, Error> {
    let Some(material) = material else { return Ok(None) };
    engine
        .check_picture_material(material)
        .map_err(|fault| crate::error!("argument #2 'material': {}", fault.message))?;
    match stand.lit {
        false => Ok(Some(material.0)),
        true => Err(crate::error!(
            "argument #2 'material': its unit's file says lit = true, and a material paints \
             without light: take `lit` out"
        )),
    }
}

fn set_material(
    engine: &mut Engine,
    sprite: SpriteId,
    material: Option<MaterialId>,
) -> Result<(), Error> {
    let stand = look(engine, sprite).stand;
    let painter = painter(engine, stand, material)?;
    change(engine, sprite).stand.material = painter;
    Ok(())
}

fn range(engine: &mut Engine, sprite: SpriteId) -> (f64, f64) {
    let [near, far] = look(engine, sprite).stand.range;
    (near.into(), far.into())
}

fn set_range(
    engine: &mut Engine,
    sprite: SpriteId,
    near: f64,
    far: Option<f64>,
) -> Result<(), Error> {
    change(engine, sprite).stand.range = range_of(near, far)?;
    Ok(())
}

fn map_of(engine: &mut Engine, map: TilemapId) -> Result<&mut UnitMap, Error> {
    engine.unit_map(map).ok_or_else(|| {
        crate::error!(
            "argument #1 'tilemap': the map is of no unit, and materials paint those of units alone"
        )
    })
}

fn map_material(engine: &mut Engine, map: TilemapId) -> Result<Option<MaterialId>, Error> {
    Ok(map_of(engine, map)?.stand.material.map(MaterialId))
}

fn set_map_material(
    engine: &mut Engine,
    map: TilemapId,
    material: Option<MaterialId>,
) -> Result<(), Error> {
    let stand = map_of(engine, map)?.stand;
    let painter = painter(engine, stand, material)?;
    map_of(engine, map)?.set_material(painter);
    Ok(())
}
