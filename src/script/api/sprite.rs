//! Sprites and tile maps of units: what `Unit` finds, and what `Sprite` and `Tilemap` do with them.
//! What plays frames without a unit is the prelude's (lua/sprite.lua).

use super::mesh_unit::{no_such, place};
use crate::engine::Engine;
use crate::foundation::{Color, Error, Handle, Vec3};
use crate::script::arg::{AnyNumber, Text};
use crate::script::row::{Module, func, hot, more};
use crate::script::value::Value;
use crate::system::tilemaps::TilemapId;
use crate::world::mesh::flag;
use crate::world::sprite::{Sequence, Shows, SpriteId, SpriteLook, Stand};
use crate::world::sprite_part::{check_layer, check_picture_part};
use crate::world::unit::UnitId;

pub(super) const SPRITE_ARG: (&str, &str) = ("sprite", "a sprite of a unit");
const UNIT_ARG: (&str, &str) = ("unit", "a unit");
pub(super) const MAP_ARG: (&str, &str) = ("tilemap", "a tile map of a unit");

pub static SPRITE: Module = more(
    "Sprite",
    &[
        hot(
            "alive",
            alive,
            &[("sprite", "a number that may be the handle of a unit's sprite")],
            "Whether the handle leads to a sprite that is there. Never raises for a stale handle.",
        )
        .pure(),
        func("unit", unit, &[SPRITE_ARG], "The unit that the sprite is of.").pure(),
        func("node", node, &[SPRITE_ARG], "Which of its unit's nodes it hangs on.").pure(),
        func(
            "set_texture",
            set_texture,
            &[
                SPRITE_ARG,
                ("texture", "the name of a texture, of a sheet's frame, or of what is drawn into"),
            ],
            "Shows a picture, and plays nothing any more.",
        ),
        func(
            "set_sheet",
            set_sheet,
            &[
                SPRITE_ARG,
                ("sheet", "the name of a sheet"),
                ("tag", "what of it is played; all frames, over and over, without one"),
            ],
            "Plays the frames of another sheet.",
        ),
        func(
            "set_part",
            set_part,
            &[
                SPRITE_ARG,
                ("left", "texels from the picture's left; if left out, all of it is shown"),
                ("top", "texels from its top"),
                ("width", "texels, above 0"),
                ("height", "texels, above 0"),
            ],
            "Shows a part of the picture.",
        ),
        func("size", size, &[SPRITE_ARG], "Width and height in metres.").pure(),
        func(
            "set_size",
            set_size,
            &[
                SPRITE_ARG,
                ("width", "metres, above 0; if left out, as its texels make"),
                ("height", "metres, above 0"),
            ],
            "Sets how large it is.",
        ),
        func("pivot", pivot, &[SPRITE_ARG], "Which point of it is at its node.").pure(),
        func(
            "set_pivot",
            set_pivot,
            &[SPRITE_ARG, ("x", "0 is its left, 1 its right"), ("y", "0 is its bottom, 1 its top")],
            "Sets which point of it is at its node.",
        ),
        func("tint", tint, &[SPRITE_ARG], "What its colours are multiplied with.").pure(),
        hot(
            "set_tint",
            set_tint,
            &[SPRITE_ARG, ("color", "what its colours are multiplied with; white changes nothing")],
            "Colours it, and lets it be seen through.",
        ),
        func("layer", layer, &[SPRITE_ARG], "Its layer.").pure(),
        hot(
            "set_layer",
            set_layer,
            &[SPRITE_ARG, ("layer", "a whole number; 0 is that of all that is seen through")],
            "Draws it over what has a lower layer, and below what has a higher one.",
        ),
        func("flip_x", flip_x, &[SPRITE_ARG], "Whether left and right are exchanged.").pure(),
        func("flip_y", flip_y, &[SPRITE_ARG], "Whether top and bottom are exchanged.").pure(),
        func(
            "set_flip",
            set_flip,
            &[
                SPRITE_ARG,
                ("x", "whether left and right are exchanged"),
                ("y", "whether top and bottom are; not, if left out"),
            ],
            "Turns the picture over.",
        ),
        func(
            "visibility",
            visibility,
            &[SPRITE_ARG],
            "Whether it is shown, as far as it itself goes: its unit or its group may be hidden.",
        )
        .pure(),
        hot(
            "set_visibility",
            set_visibility,
            &[SPRITE_ARG, ("visible", "whether it is seen")],
            "Shows or hides it.",
        ),
    ],
);

pub static UNIT: Module = more(
    "Unit",
    &[
        func(
            "sprite",
            unit_sprite,
            &[UNIT_ARG, ("sprite", "which of its sprites, from 1, or its name in the unit's file")],
            "One of the unit's sprites.",
        )
        .pure(),
        func(
            "has_sprite",
            has_sprite,
            &[UNIT_ARG, ("sprite", "a number from 1, or a name")],
            "Whether the unit has that sprite.",
        )
        .pure(),
        func("num_sprites", num_sprites, &[UNIT_ARG], "How many sprites the unit has.").pure(),
        func(
            "tilemap",
            unit_tilemap,
            &[UNIT_ARG, ("tilemap", "which of its tile maps, from 1, or its name in the file")],
            "One of the unit's tile maps. It ends with the unit.",
        )
        .pure(),
        func(
            "has_tilemap",
            has_tilemap,
            &[UNIT_ARG, ("tilemap", "a number from 1, or a name")],
            "Whether the unit has that tile map.",
        )
        .pure(),
        func("num_tilemaps", num_tilemaps, &[UNIT_ARG], "How many tile maps the unit has.").pure(),
    ],
);

pub static TILEMAP: Module = more(
    "Tilemap",
    &[
        func(
            "unit",
            tilemap_unit,
            &[("tilemap", "a tile map")],
            "The unit that the map is of; nil for one that `Tilemap.new` made.",
        )
        .pure(),
        func(
            "cell_at_position",
            cell_at_position,
            &[MAP_ARG, ("position", "a place in the world")],
            "The column and the row that a place in the world is in; they may be outside of the \
             map.",
        )
        .pure(),
    ],
);

/// For the prelude, whose functions take sprites without a unit as well.
pub static CORE: Module = more(
    "Sprite",
    &[
        func("sprite_play", play, &[SPRITE_ARG, ("tag", "")], "Plays a tag of its sheet.")
            .told_as("Sprite.play"),
        func("sprite_set_speed", set_speed, &[SPRITE_ARG, ("speed", "")], "Sets its speed.")
            .told_as("Sprite.set_speed"),
        func("sprite_frame", frame, &[SPRITE_ARG], "What it shows.").pure().told_as("Sprite.frame"),
        func("sprite_finished", finished, &[SPRITE_ARG], "Whether nothing moves any more.")
            .pure()
            .told_as("Sprite.finished"),
        func("inspect_flat", inspect, &[UNIT_ARG], "Lines of a unit's sprites and maps.")
            .pure()
            .told_as("Unit.inspect"),
    ],
);

fn alive(engine: &mut Engine, sprite: AnyNumber) -> bool {
    let handle = Handle::from_number(sprite.0);
    handle.is_some_and(|handle| engine.scenes.sprites.slots.get(handle).is_some())
}

pub(super) fn look(engine: &mut Engine, sprite: SpriteId) -> SpriteLook {
    engine.scenes.sprites.of(sprite).look
}

pub(super) fn change(engine: &mut Engine, sprite: SpriteId) -> &mut SpriteLook {
    &mut engine.scenes.sprites.change(sprite).look
}

fn unit(engine: &mut Engine, sprite: SpriteId) -> UnitId {
    let row = engine.scenes.sprites.of(sprite).unit;
    UnitId(engine.units.slots.handle_at(row as usize).expect("sprites end with their units"))
}

fn node(engine: &mut Engine, sprite: SpriteId) -> f64 {
    f64::from(engine.scenes.sprites.of(sprite).node) + 1.0
}

fn set_texture(engine: &mut Engine, sprite: SpriteId, texture: Text) -> Result<(), Error> {
    let found = engine.find_picture(texture.as_str());
    let found = found.map_err(|fault| crate::error!("argument #2 'texture': {}", fault.message))?;
    engine.scenes.sprites.show(sprite, Shows::Picture(found));
    Ok(())
}

fn set_sheet(
    engine: &mut Engine,
    sprite: SpriteId,
    sheet: Text,
    tag: Option<Text>,
) -> Result<(), Error> {
    let sequence = engine.sequence(sheet.as_str(), tag.as_ref().map(Text::as_str))?;
    engine.scenes.sprites.show(sprite, Shows::Plays(sequence));
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
        (None, None, None, None) => SpriteLook::DEFAULT.part,
        (Some(left), Some(top), Some(width), Some(height)) => {
            let part = [left, top, width, height].map(|number| number as f32);
            check_picture_part(part).map_err(|words| crate::error!("the part {words}"))?;
            part
        }
        _ => return Err(crate::error!("the part needs left, top, width and height, or none")),
    };
    change(engine, sprite).part = part;
    Ok(())
}

fn size(engine: &mut Engine, sprite: SpriteId) -> (f64, f64) {
    let of = engine.scenes.sprites.of(sprite);
    let entry = engine.textures.entry(of.picture);
    let [width, height] = of.look.metres([entry.width as f32, entry.height as f32]);
    (width.into(), height.into())
}

fn set_size(
    engine: &mut Engine,
    sprite: SpriteId,
    width: Option<f64>,
    height: Option<f64>,
) -> Result<(), Error> {
    let size = match (width, height) {
        (None, None) => SpriteLook::DEFAULT.size,
        (Some(width), Some(height)) if width > 0.0 && height > 0.0 => [width as f32, height as f32],
        _ => return Err(crate::error!("the size needs a width and a height above 0, or none")),
    };
    change(engine, sprite).size = size;
    Ok(())
}

/// The corners of a unit's sprites in the world.
pub(super) fn corners(engine: &mut Engine, unit: UnitId) -> Vec<Vec3> {
    let places: Vec<usize> = engine.scenes.sprites.of_unit(unit.row()).collect();
    let mut corners = Vec::new();
    for place in places {
        let sprite = engine.scenes.sprites.slots.at(place).expect("it is in a chain");
        let (look, node) = (sprite.look, usize::from(sprite.node));
        let entry = engine.textures.entry(sprite.picture);
        let placed = look.placed([entry.width as f32, entry.height as f32]);
        let pose = engine.units.scene.world(unit.row(), node) * placed;
        let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        corners.extend(square.map(|[x, z]| pose.transform_point3(Vec3::new(x, 0.0, z))));
    }
    corners
}

fn pivot(engine: &mut Engine, sprite: SpriteId) -> (f64, f64) {
    let [x, y] = look(engine, sprite).pivot;
    (x.into(), y.into())
}

fn set_pivot(engine: &mut Engine, sprite: SpriteId, x: f64, y: f64) {
    change(engine, sprite).pivot = [x as f32, y as f32];
}

fn tint(engine: &mut Engine, sprite: SpriteId) -> Color {
    let [red, green, blue, alpha] = look(engine, sprite).stand.tint.map(f32::from);
    Color { red, green, blue, alpha }
}

fn set_tint(engine: &mut Engine, sprite: SpriteId, color: Color) {
    change(engine, sprite).stand.tint = color.to_bytes();
}

fn layer(engine: &mut Engine, sprite: SpriteId) -> f64 {
    look(engine, sprite).stand.layer.into()
}

fn set_layer(engine: &mut Engine, sprite: SpriteId, layer: f64) -> Result<(), Error> {
    check_layer(layer).map_err(|words| crate::error!("argument #2 'layer' {words}"))?;
    change(engine, sprite).stand.layer = layer as i32;
    Ok(())
}

fn flip_x(engine: &mut Engine, sprite: SpriteId) -> bool {
    look(engine, sprite).flip_x
}

fn flip_y(engine: &mut Engine, sprite: SpriteId) -> bool {
    look(engine, sprite).flip_y
}

fn set_flip(engine: &mut Engine, sprite: SpriteId, x: bool, y: Option<bool>) {
    let look = change(engine, sprite);
    (look.flip_x, look.flip_y) = (x, y.unwrap_or(false));
}

fn visibility(engine: &mut Engine, sprite: SpriteId) -> bool {
    engine.scenes.sprites.of(sprite).flags & flag::HIDDEN == 0
}

fn set_visibility(engine: &mut Engine, sprite: SpriteId, visible: bool) {
    if visibility(engine, sprite) != visible {
        engine.scenes.sprites.change(sprite).flags ^= flag::HIDDEN;
    }
}

/// What a sprite plays.
fn sequence(engine: &Engine, sprite: SpriteId) -> Option<&Sequence> {
    let number = engine.scenes.sprites.of(sprite).sequence?;
    Some(&engine.scenes.sprites.sequences[number.0 as usize])
}

fn play(engine: &mut Engine, sprite: SpriteId, tag: Option<Text>) -> Result<(), Error> {
    let tag = tag.as_ref().map(Text::as_str);
    let Some(playing) = sequence(engine, sprite) else {
        return Err(crate::error!(
            "the sprite shows a picture and plays no sheet: use Sprite.set_sheet(sprite, sheet, \
             tag)"
        ));
    };
    let goes_on = playing.tag.as_deref() == tag && !engine.scenes.sprites.is_over(sprite);
    if goes_on {
        return Ok(());
    }
    let sheet = playing.sheet.clone();
    let sequence = engine
        .sequence(&sheet, tag)
        .map_err(|fault| crate::error!("argument #2 'tag': {}", fault.message))?;
    engine.scenes.sprites.show(sprite, Shows::Plays(sequence));
    Ok(())
}

fn set_speed(engine: &mut Engine, sprite: SpriteId, speed: f64) {
    engine.scenes.sprites.change(sprite).speed = speed as f32;
}

fn frame(engine: &mut Engine, sprite: SpriteId) -> String {
    let picture = engine.scenes.sprites.of(sprite).picture;
    engine.picture_name(picture).to_string()
}

fn finished(engine: &mut Engine, sprite: SpriteId) -> bool {
    engine.scenes.sprites.is_over(sprite)
}

fn which_of(
    which: &Value,
    argument: &str,
    names: &[&str],
    count: usize,
) -> Result<Option<usize>, Error> {
    match which {
        Value::Number(number) => Ok(place(*number, count)),
        Value::Text(name) => Ok(names.iter().position(|known| known == name)),
        _ => Err(crate::error!("argument #2 '{argument}' must be a number or a name")),
    }
}

fn find_sprite(engine: &Engine, unit: UnitId, which: &Value) -> Result<Option<SpriteId>, Error> {
    let sprites = &engine.scenes.sprites;
    let places: Vec<usize> = sprites.of_unit(unit.row()).collect();
    let parts = &engine.units.of(unit).resource.seen.sprites;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let found = which_of(which, "sprite", &names, places.len())?;
    let handle = found.and_then(|at| sprites.slots.handle_at(*places.get(at)?));
    Ok(handle.map(SpriteId))
}

fn unit_sprite(engine: &mut Engine, unit: UnitId, which: Value) -> Result<SpriteId, Error> {
    find_sprite(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.units.of(unit).resource.seen.sprites.iter();
        let count = engine.scenes.sprites.of_unit(unit.row()).count();
        no_such(engine, unit, "sprite", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_sprite(engine: &mut Engine, unit: UnitId, which: Value) -> Result<bool, Error> {
    Ok(find_sprite(engine, unit, &which)?.is_some())
}

fn num_sprites(engine: &mut Engine, unit: UnitId) -> f64 {
    engine.scenes.sprites.of_unit(unit.row()).count() as f64
}

fn find_tilemap(engine: &Engine, unit: UnitId, which: &Value) -> Result<Option<TilemapId>, Error> {
    let maps = engine.scenes.maps.of_unit(unit.row());
    let parts = &engine.units.of(unit).resource.seen.maps;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let found = which_of(which, "tilemap", &names, maps.len())?;
    Ok(found.and_then(|at| maps.get(at)).map(|map| map.map))
}

fn unit_tilemap(engine: &mut Engine, unit: UnitId, which: Value) -> Result<TilemapId, Error> {
    find_tilemap(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.units.of(unit).resource.seen.maps.iter();
        let count = engine.scenes.maps.of_unit(unit.row()).len();
        no_such(engine, unit, "tilemap", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_tilemap(engine: &mut Engine, unit: UnitId, which: Value) -> Result<bool, Error> {
    Ok(find_tilemap(engine, unit, &which)?.is_some())
}

fn num_tilemaps(engine: &mut Engine, unit: UnitId) -> f64 {
    engine.scenes.maps.of_unit(unit.row()).len() as f64
}

fn tilemap_unit(engine: &mut Engine, map: TilemapId) -> Option<UnitId> {
    engine.tilemaps.of(map).owner.map(UnitId)
}

fn cell_at_position(
    engine: &mut Engine,
    map: TilemapId,
    position: Vec3,
) -> Result<(f64, f64), Error> {
    let Some([x, y]) = engine.point_on_map(map, position) else {
        return Err(crate::error!(
            "argument #1 'tilemap': the map is of no unit, so it is nowhere in a world: use \
             Tilemap.cell_at(tilemap, x, y)"
        ));
    };
    let of = engine.tilemaps.of(map).map();
    let cell = |at: f64, size: f32| (at / f64::from(size)).floor() + 1.0;
    Ok((cell(x, of.tile_width), cell(y, of.tile_height)))
}

/// The words for what paints something.
fn painted(engine: &Engine, stand: &Stand) -> String {
    let material = stand.material.and_then(|material| engine.materials.slots().get(material));
    material.map_or_else(String::new, |material| format!(", material {:?}", material.name))
}

fn inspect(engine: &mut Engine, unit: UnitId) -> Vec<String> {
    let row = unit.row();
    let places: Vec<usize> = engine.scenes.sprites.of_unit(row).collect();
    let mut lines = Vec::new();
    let hidden = |flags: u8| if flags & flag::ANY_HIDDEN == 0 { "" } else { ", hidden" };
    for (at, place) in places.into_iter().enumerate() {
        let id = engine.scenes.sprites.slots.handle_at(place).map(SpriteId);
        let id = id.expect("it is in a chain");
        let (width, height) = size(engine, id);
        let sprite = engine.scenes.sprites.of(id);
        let plays = match sequence(engine, id) {
            None => String::new(),
            Some(playing) => {
                let tag = playing.tag.as_ref().map(|tag| format!("{tag:?}"));
                let tag = tag.unwrap_or("all frames".to_string());
                format!(", playing {tag} of {:?} at {:.2} s", playing.sheet, sprite.time)
            }
        };
        lines.push(format!(
            "sprite {} {:?} at node {}, {width:.2} x {height:.2} m, layer {}{}{plays}{}",
            at + 1,
            engine.picture_name(sprite.picture),
            sprite.node + 1,
            sprite.look.stand.layer,
            painted(engine, &sprite.look.stand),
            hidden(sprite.flags)
        ));
    }
    for (at, map) in engine.scenes.maps.of_unit(row).iter().enumerate() {
        let tilemap = engine.tilemaps.of(map.map);
        lines.push(format!(
            "tilemap {} {:?} at node {}, {} x {} cells, layer {}{}{}",
            at + 1,
            tilemap.name,
            map.node + 1,
            tilemap.map().columns,
            tilemap.map().rows,
            map.stand.layer,
            painted(engine, &map.stand),
            hidden(map.flags)
        ));
    }
    lines
}
