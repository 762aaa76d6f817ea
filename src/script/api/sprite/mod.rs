//! The Lua module `Sprite`, and the functions of `Tilemap` for maps of units. Playing frames
//! without a unit is in the prelude (lua/gui/sprite.lua).

pub(super) mod material;

use crate::api_row::{ModuleRows, func, hot, more};
use crate::argument::{MaybeHandle, TextArgument};
use crate::return_value::WholeNumber;
use engine_foundation::{Color, Error, Vec3};
use engine_runtime::Engine;
use engine_tilemaps::TilemapId;
use engine_world::instance_table::flag;
use engine_world::sprite::{SpriteId, SpriteSequence, SpriteSettings, SpriteSource};
use engine_world::sprite_component::{check_image_part, check_layer};
use engine_world::unit::UnitId;

pub(in crate::api) const SPRITE_ARG: (&str, &str) = ("sprite", "a sprite of a unit");
pub(in crate::api) const MAP_ARG: (&str, &str) = ("tilemap", "a tile map of a unit");

pub static SPRITE: ModuleRows = more(
    "Sprite",
    &[
        hot(
            "alive",
            alive,
            &[(
                "sprite",
                "a number that may be the handle of a unit's sprite; nil and false are none",
            )],
            "Returns true if the handle refers to an existing sprite. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("unit", unit, &[SPRITE_ARG], "Returns the unit that the sprite belongs to.").pure(),
        func("node", node, &[SPRITE_ARG], "Returns the index of the node that it is attached to.")
            .pure(),
        func(
            "set_texture",
            set_texture,
            &[
                SPRITE_ARG,
                (
                    "texture",
                    "the name of a texture, of a sheet's frame, or of a texture that is drawn into",
                ),
            ],
            "Shows a picture and stops any animation.",
        ),
        func(
            "set_sheet",
            set_sheet,
            &[
                SPRITE_ARG,
                ("sheet", "the name of a sheet"),
                ("tag", "the tag to play; if left out, all frames play in a loop"),
            ],
            "Plays the frames of another sheet.",
        ),
        func(
            "set_part",
            set_part,
            &[
                SPRITE_ARG,
                ("left", "texels from the picture's left; if left out, all of it is shown"),
                ("top", "texels from the picture's top edge"),
                ("width", "in texels, above 0"),
                ("height", "in texels, above 0"),
            ],
            "Shows a part of the picture.",
        ),
        func("size", size, &[SPRITE_ARG], "Returns its width and height in metres.")
            .returns(&["width in metres", "height in metres"])
            .pure(),
        func(
            "set_size",
            set_size,
            &[
                SPRITE_ARG,
                ("width", "metres, above 0; if left out, the size follows from its texels"),
                ("height", "metres, above 0"),
            ],
            "Sets its size.",
        ),
        func(
            "pivot",
            pivot,
            &[SPRITE_ARG],
            "Returns the point of it that is at its node, as `set_pivot` takes it.",
        )
        .returns(&["x as in `set_pivot`", "y as in `set_pivot`"])
        .pure(),
        func(
            "set_pivot",
            set_pivot,
            &[
                SPRITE_ARG,
                ("x", "0 is the left edge, 1 the right edge"),
                ("y", "0 is the bottom edge, 1 the top edge"),
            ],
            "Sets the point of it that is at its node.",
        ),
        func(
            "tint",
            tint,
            &[SPRITE_ARG],
            "Returns the colour that its own colours are multiplied with.",
        )
        .pure(),
        hot(
            "set_tint",
            set_tint,
            &[SPRITE_ARG, ("color", "the factor for its own colours; white changes nothing")],
            "Tints it. The alpha of the colour sets its opacity.",
        ),
        func("layer", layer, &[SPRITE_ARG], "Returns its layer.").pure(),
        hot(
            "set_layer",
            set_layer,
            &[SPRITE_ARG, ("layer", "a whole number; other transparent objects are on layer 0")],
            "Sets its layer. It is drawn over lower layers and below higher ones.",
        ),
        func("flip_x", flip_x, &[SPRITE_ARG], "Returns true if left and right are swapped.").pure(),
        func("flip_y", flip_y, &[SPRITE_ARG], "Returns true if top and bottom are swapped.").pure(),
        func(
            "set_flip",
            set_flip,
            &[
                SPRITE_ARG,
                ("x", "true to swap left and right"),
                ("y", "true to swap top and bottom; false if left out"),
            ],
            "Mirrors the picture.",
        ),
        func(
            "visibility",
            visibility,
            &[SPRITE_ARG],
            "Returns true if the sprite itself is visible. Its group or unit can still be hidden.",
        )
        .pure(),
        hot(
            "set_visibility",
            set_visibility,
            &[SPRITE_ARG, ("visible", "true to show it")],
            "Shows or hides it.",
        ),
    ],
);

pub static TILEMAP: ModuleRows = more(
    "Tilemap",
    &[
        func(
            "unit",
            tilemap_unit,
            &[("tilemap", "a tile map")],
            "Returns the unit that the map belongs to; nil for a map that `Tilemap.new` created.",
        )
        .pure(),
        func(
            "cell_at_position",
            cell_at_position,
            &[MAP_ARG, ("position", "a position in the world")],
            "Returns the column and row of the cell at a position in the world. They can be \
             outside the map.",
        )
        .returns(&["column from 1", "row from 1"])
        .pure(),
    ],
);

/// Native functions for the prelude, whose functions also accept sprites without a unit.
pub static CORE: ModuleRows = more(
    "Sprite",
    &[
        func("sprite_play", play, &[SPRITE_ARG, ("tag", "")], "Plays a tag of its sheet.")
            .public_name("Sprite.play"),
        func(
            "sprite_set_speed",
            set_speed,
            &[SPRITE_ARG, ("speed", "")],
            "Sets its playback speed.",
        )
        .public_name("Sprite.set_speed"),
        func("sprite_frame", frame, &[SPRITE_ARG], "Returns the name of the frame that it shows.")
            .pure()
            .public_name("Sprite.frame"),
        func(
            "sprite_finished",
            finished,
            &[SPRITE_ARG],
            "Returns true if its animation has ended.",
        )
        .pure()
        .public_name("Sprite.finished"),
    ],
);

fn alive(engine: &mut Engine, sprite: MaybeHandle) -> bool {
    let handle = sprite.handle();
    handle.is_some_and(|handle| engine.worlds.scenes.sprites.table.slots.get(handle).is_some())
}

pub(in crate::api) fn settings(engine: &mut Engine, sprite: SpriteId) -> SpriteSettings {
    engine.worlds.scenes.sprites.of(sprite).settings
}

pub(in crate::api) fn change(engine: &mut Engine, sprite: SpriteId) -> &mut SpriteSettings {
    &mut engine.worlds.scenes.sprites.change(sprite).settings
}

fn unit(engine: &mut Engine, sprite: SpriteId) -> UnitId {
    let row = engine.worlds.scenes.sprites.of(sprite).unit;
    UnitId(engine.worlds.units.slots.handle_at(row as usize).expect("sprites end with their units"))
}

fn node(engine: &mut Engine, sprite: SpriteId) -> u64 {
    u64::from(engine.worlds.scenes.sprites.of(sprite).node) + 1
}

fn set_texture(engine: &mut Engine, sprite: SpriteId, texture: TextArgument) -> Result<(), Error> {
    let found = engine.assets.find_drawable_texture(texture.as_str());
    let found = found
        .map_err(|error| engine_foundation::error!("argument #2 'texture': {}", error.message))?;
    engine.worlds.scenes.sprites.show(sprite, SpriteSource::Picture(found));
    Ok(())
}

fn set_sheet(
    engine: &mut Engine,
    sprite: SpriteId,
    sheet: TextArgument,
    tag: Option<TextArgument>,
) -> Result<(), Error> {
    let sequence = engine.worlds.sequence(
        &mut engine.assets,
        sheet.as_str(),
        tag.as_ref().map(TextArgument::as_str),
    )?;
    engine.worlds.scenes.sprites.show(sprite, SpriteSource::Plays(sequence));
    Ok(())
}

fn set_part(
    engine: &mut Engine,
    sprite: SpriteId,
    left: Option<f64>,
    top: Option<f64>,
    width: Option<f64>,
    height: Option<f64>,
) -> Result<(), Error> {
    let part = match (left, top, width, height) {
        (None, None, None, None) => SpriteSettings::DEFAULT.part,
        (Some(left), Some(top), Some(width), Some(height)) => {
            let part = [left, top, width, height].map(|number| number as f32);
            check_image_part(part)
                .map_err(|message| engine_foundation::error!("the part {message}"))?;
            part
        }
        _ => {
            return Err(engine_foundation::error!(
                "the part needs left, top, width and height, or none"
            ));
        }
    };
    change(engine, sprite).part = part;
    Ok(())
}

fn size(engine: &mut Engine, sprite: SpriteId) -> (f64, f64) {
    let of = engine.worlds.scenes.sprites.of(sprite);
    let entry = engine.assets.textures.entry(of.picture);
    let [width, height] = of.settings.metres([entry.width as f32, entry.height as f32]);
    (width.into(), height.into())
}

fn set_size(
    engine: &mut Engine,
    sprite: SpriteId,
    width: Option<f64>,
    height: Option<f64>,
) -> Result<(), Error> {
    let size = match (width, height) {
        (None, None) => SpriteSettings::DEFAULT.size,
        (Some(width), Some(height)) if width > 0.0 && height > 0.0 => [width as f32, height as f32],
        _ => {
            return Err(engine_foundation::error!(
                "the size needs a width and a height above 0, or none"
            ));
        }
    };
    change(engine, sprite).size = size;
    Ok(())
}

/// Returns the corners of a unit's sprites in the world.
pub(in crate::api) fn corners(engine: &mut Engine, unit: UnitId) -> Vec<Vec3> {
    let slots: Vec<usize> = engine.worlds.scenes.sprites.table.of_unit(unit.row()).collect();
    let mut corners = Vec::new();
    for slot in slots {
        let sprite = engine.worlds.scenes.sprites.table.slots.at(slot).expect("it is in a chain");
        let (settings, node) = (sprite.settings, usize::from(sprite.node));
        let entry = engine.assets.textures.entry(sprite.picture);
        let placed = settings.square_to_node([entry.width as f32, entry.height as f32]);
        let pose = engine.worlds.units.scene.world(unit.row(), node) * placed;
        let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        corners.extend(square.map(|[x, z]| pose.transform_point3(Vec3::new(x, 0.0, z))));
    }
    corners
}

fn pivot(engine: &mut Engine, sprite: SpriteId) -> (f64, f64) {
    let [x, y] = settings(engine, sprite).pivot;
    (x.into(), y.into())
}

fn set_pivot(engine: &mut Engine, sprite: SpriteId, x: f64, y: f64) {
    change(engine, sprite).pivot = [x as f32, y as f32];
}

fn tint(engine: &mut Engine, sprite: SpriteId) -> Color {
    let [red, green, blue, alpha] = settings(engine, sprite).placement.tint.map(f32::from);
    Color { red, green, blue, alpha }
}

fn set_tint(engine: &mut Engine, sprite: SpriteId, color: Color) {
    change(engine, sprite).placement.tint = color.to_bytes();
}

fn layer(engine: &mut Engine, sprite: SpriteId) -> WholeNumber {
    WholeNumber(settings(engine, sprite).placement.layer.into())
}

fn set_layer(engine: &mut Engine, sprite: SpriteId, layer: f64) -> Result<(), Error> {
    check_layer(layer)
        .map_err(|message| engine_foundation::error!("argument #2 'layer' {message}"))?;
    change(engine, sprite).placement.layer = layer as i32;
    Ok(())
}

fn flip_x(engine: &mut Engine, sprite: SpriteId) -> bool {
    settings(engine, sprite).flip_x
}

fn flip_y(engine: &mut Engine, sprite: SpriteId) -> bool {
    settings(engine, sprite).flip_y
}

fn set_flip(engine: &mut Engine, sprite: SpriteId, x: bool, y: Option<bool>) {
    let settings = change(engine, sprite);
    (settings.flip_x, settings.flip_y) = (x, y.unwrap_or(false));
}

fn visibility(engine: &mut Engine, sprite: SpriteId) -> bool {
    engine.worlds.scenes.sprites.of(sprite).flags & flag::HIDDEN == 0
}

fn set_visibility(engine: &mut Engine, sprite: SpriteId, visible: bool) {
    if visibility(engine, sprite) != visible {
        engine.worlds.scenes.sprites.change(sprite).flags ^= flag::HIDDEN;
    }
}

/// Returns the sequence that a sprite plays.
fn sequence(engine: &Engine, sprite: SpriteId) -> Option<&SpriteSequence> {
    let number = engine.worlds.scenes.sprites.of(sprite).sequence?;
    Some(&engine.worlds.scenes.sprites.sequences[number.0 as usize])
}

fn play(engine: &mut Engine, sprite: SpriteId, tag: Option<TextArgument>) -> Result<(), Error> {
    let tag = tag.as_ref().map(TextArgument::as_str);
    let Some(playing) = sequence(engine, sprite) else {
        return Err(engine_foundation::error!(
            "the sprite shows a picture and plays no sheet: use Sprite.set_sheet(sprite, sheet, \
             tag)"
        ));
    };
    let continues = playing.tag.as_deref() == tag && !engine.worlds.scenes.sprites.is_over(sprite);
    if continues {
        return Ok(());
    }
    let sheet = playing.sheet.clone();
    let sequence = engine
        .worlds
        .sequence(&mut engine.assets, &sheet, tag)
        .map_err(|error| engine_foundation::error!("argument #2 'tag': {}", error.message))?;
    engine.worlds.scenes.sprites.show(sprite, SpriteSource::Plays(sequence));
    Ok(())
}

fn set_speed(engine: &mut Engine, sprite: SpriteId, speed: f64) {
    engine.worlds.scenes.sprites.change(sprite).speed = speed as f32;
}

fn frame(engine: &mut Engine, sprite: SpriteId) -> String {
    let picture = engine.worlds.scenes.sprites.of(sprite).picture;
    engine.assets.textures.name(picture).to_string()
}

fn finished(engine: &mut Engine, sprite: SpriteId) -> bool {
    engine.worlds.scenes.sprites.is_over(sprite)
}

fn tilemap_unit(engine: &mut Engine, map: TilemapId) -> Option<UnitId> {
    engine.assets.tilemaps.of(map).owner.map(UnitId)
}

fn cell_at_position(
    engine: &mut Engine,
    map: TilemapId,
    position: Vec3,
) -> Result<(WholeNumber, WholeNumber), Error> {
    let Some([x, y]) = engine.worlds.point_on_map(&engine.assets, map, position) else {
        return Err(engine_foundation::error!(
            "argument #1 'tilemap': the map belongs to no unit, so it has no position in a world: \
             use Tilemap.cell_at(tilemap, x, y)"
        ));
    };
    let [column, row] = engine.assets.tilemaps.of(map).map().grid.cell_at(x, y);
    Ok((WholeNumber(column + 1.0), WholeNumber(row + 1.0)))
}
