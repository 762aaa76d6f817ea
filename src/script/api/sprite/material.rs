//! Custom materials of the sprites and tile maps of units, and their range of visible distances.

use crate::api::mesh::range_of;
use crate::api::sprite::{MAP_ARG, SPRITE_ARG, change, settings};
use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use engine_foundation::{Error, Handle};
use engine_materials::MaterialId;
use engine_runtime::Engine;
use engine_tilemaps::TilemapId;
use engine_world::sprite::{SpriteId, SpritePlacement};
use engine_world::tilemap::TilemapInstance;

pub static SPRITE: ModuleRows = more(
    "Sprite",
    &[
        func(
            "material",
            material,
            &[SPRITE_ARG],
            "Returns the material that paints it; nil if the engine's own material does.",
        )
        .pure(),
        func(
            "set_material",
            set_material,
            &[SPRITE_ARG, ("material", "a material for pictures; nil restores the engine's own")],
            "Sets the material that paints it, with its own shader, variables and blend mode. The \
             material gets the sprite's picture, multiplied by its tint. Lights do not affect it.",
        ),
        func(
            "normal_texture",
            normal_texture,
            &[SPRITE_ARG],
            "Returns the name of its normal texture; nil: it has none.",
        )
        .pure(),
        func(
            "set_normal_texture",
            set_normal_texture,
            &[SPRITE_ARG, ("name", "the name of a texture that holds data; nil: none")],
            "Sets the texture with the slopes for lights, in place of the normals of its picture. \
             Its unit's file must say lit = true. A sprite that plays a sheet has the normals of \
             the sheet.",
        ),
        func(
            "range",
            range,
            &[SPRITE_ARG],
            "Returns the smallest and largest distance from the camera, in metres, at which it is \
             shown.",
        )
        .returns(&["least distance in metres", "most distance in metres"])
        .pure(),
        func(
            "set_range",
            set_range,
            &[
                SPRITE_ARG,
                ("near", "the smallest distance from the camera, in metres"),
                ("far", "the largest distance from the camera, in metres; unlimited if left out"),
            ],
            "Shows it only in a range of distances from the camera.",
        ),
    ],
);

pub static TILEMAP: ModuleRows = more(
    "Tilemap",
    &[
        func(
            "material",
            map_material,
            &[MAP_ARG],
            "Returns the material that paints it; nil if the engine's own material does.",
        )
        .pure(),
        func(
            "set_material",
            set_map_material,
            &[MAP_ARG, ("material", "a material for pictures; nil restores the engine's own")],
            "Sets the material that paints it, as `Sprite.set_material` does.",
        ),
    ],
);

fn material(engine: &mut Engine, sprite: SpriteId) -> Option<MaterialId> {
    settings(engine, sprite).placement.material.map(MaterialId)
}

/// Checks the material of a sprite placement. Lit sprites cannot have a material.
fn check_material(
    engine: &Engine,
    placement: SpritePlacement,
    material: Option<MaterialId>,
) -> Result<Option<Handle>, Error> {
    let Some(material) = material else { return Ok(None) };
    engine
        .assets
        .check_image_material(material)
        .map_err(|error| engine_foundation::error!("argument #2 'material': {}", error.message))?;
    match placement.lit {
        false => Ok(Some(material.0)),
        true => Err(engine_foundation::error!(
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
    let placement = settings(engine, sprite).placement;
    let material_handle = check_material(engine, placement, material)?;
    change(engine, sprite).placement.material = material_handle;
    Ok(())
}

fn normal_texture(engine: &mut Engine, sprite: SpriteId) -> Option<String> {
    let normal = settings(engine, sprite).normal?;
    Some(engine.assets.textures.name(normal).to_string())
}

fn set_normal_texture(
    engine: &mut Engine,
    sprite: SpriteId,
    name: Option<TextArgument>,
) -> Result<(), Error> {
    if name.is_some() && !settings(engine, sprite).placement.lit {
        return Err(engine_foundation::error!(
            "argument #2 'name': no light affects the sprite: write lit = true in its unit's file"
        ));
    }
    let assets = &mut engine.assets;
    let texture = name.map(|name| assets.textures.find(&mut assets.store, name.as_str()));
    change(engine, sprite).normal = texture.transpose()?;
    Ok(())
}

fn range(engine: &mut Engine, sprite: SpriteId) -> (f64, f64) {
    let [near, far] = settings(engine, sprite).placement.range;
    (near.into(), far.into())
}

fn set_range(
    engine: &mut Engine,
    sprite: SpriteId,
    near: f64,
    far: Option<f64>,
) -> Result<(), Error> {
    change(engine, sprite).placement.range = range_of(near, far)?;
    Ok(())
}

fn map_of(engine: &mut Engine, map: TilemapId) -> Result<&mut TilemapInstance, Error> {
    engine.worlds.unit_map(&engine.assets, map).ok_or_else(|| {
        engine_foundation::error!(
            "argument #1 'tilemap': the map belongs to no unit, and only maps of units have \
             materials"
        )
    })
}

fn map_material(engine: &mut Engine, map: TilemapId) -> Result<Option<MaterialId>, Error> {
    Ok(map_of(engine, map)?.placement.material.map(MaterialId))
}

fn set_map_material(
    engine: &mut Engine,
    map: TilemapId,
    material: Option<MaterialId>,
) -> Result<(), Error> {
    let placement = map_of(engine, map)?.placement;
    let material_handle = check_material(engine, placement, material)?;
    map_of(engine, map)?.set_material(material_handle);
    Ok(())
}
