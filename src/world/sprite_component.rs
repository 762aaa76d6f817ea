//! The row of the component `sprite`: its fields, and what the engine does with it. The table of
//! sprites is in sprite.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{
    ComponentFields, GROUP, RANGE, VISIBLE, group, numbers, range, text,
};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::instance_table::flag;
use super::render_scenes::{RenderScenes, existing_scene, scene_of};
use super::sprite::{
    SpriteAlpha, SpriteComponent, SpriteInstance, SpritePlacement, SpritePlane, SpriteSettings,
    SpriteSource,
};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResolvedResource, ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::Error;
use engine_foundation::color_source::ColorKey;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::kind_names;
use engine_textures::TextureNumber;

// Fields that tile maps have, too.
pub(super) const LAYER: ComponentField = ComponentField {
    name: "layer",
    kind: FieldKind::Number,
    default: FieldDefault::Number(0.0),
    doc: "a whole number: higher layers are drawn over lower ones ({default})",
};
const TINT_COLOR: ColorKey = ColorKey { key: "tint", linear_key: "", has_alpha: true };
pub(super) const TINT: ComponentField = ComponentField {
    name: TINT_COLOR.key,
    kind: FieldKind::Color(TINT_COLOR),
    default: FieldDefault::Text("#ffffff"),
    doc: "a colour that is multiplied with the whole picture ({default})",
};
pub(super) const PIXELS: ComponentField = ComponentField {
    name: "pixels_per_metre",
    kind: FieldKind::Number,
    default: FieldDefault::Number(SpritePlacement::DEFAULT.pixels_per_metre),
    doc: "number of texels in a metre ({default})",
};
pub(super) const PLANE: ComponentField = ComponentField {
    name: "plane",
    kind: FieldKind::Choice(&PLANES),
    default: FieldDefault::Described("\"flat\" in 2D worlds, \"upright\" in others"),
    doc: "\"upright\" in the plane of its node's x and z axes, or \"flat\" in that of x and y \
          ({default})",
};
pub(super) const LIT: ComponentField = ComponentField {
    name: "lit",
    kind: FieldKind::Boolean,
    default: FieldDefault::Boolean(SpritePlacement::DEFAULT.lit),
    doc: "true if lights affect it ({default}: it is shown as it was painted)",
};
pub(super) const MATERIAL: ComponentField = ComponentField {
    name: "material",
    kind: FieldKind::Resource(kind_names::MATERIAL),
    default: FieldDefault::None,
    doc: "a material for pictures, with its own shader or blend",
};
/// Values of the field `plane`.
pub const PLANES: [&str; 2] = ["upright", "flat"];
const ALPHAS: [&str; 2] = ["blend", "mask"];

/// The component `sprite`.
pub static SPRITE: Component = Component {
    name: "sprite",
    doc: "Shows a picture, or plays frames of a sheet, at its node.",
    fields: &[
        ComponentField {
            name: "texture",
            kind: FieldKind::Resource(kind_names::TEXTURE),
            default: FieldDefault::None,
            doc: "the picture that it shows",
        },
        ComponentField {
            name: "sheet",
            kind: FieldKind::Resource(kind_names::SHEET),
            default: FieldDefault::None,
            doc: "the sheet whose frames it shows, instead of a texture",
        },
        ComponentField {
            name: "tag",
            kind: FieldKind::Text,
            default: FieldDefault::None,
            doc: "the tag of the sheet that it plays; without a tag, all frames in a loop",
        },
        ComponentField {
            name: "frame",
            kind: FieldKind::Text,
            default: FieldDefault::None,
            doc: "the frame of the sheet that it shows, instead of playing",
        },
        ComponentField {
            name: "speed",
            kind: FieldKind::Number,
            default: FieldDefault::Number(1.0),
            doc: "playback speed: 2 is twice the speed of the sheet ({default})",
        },
        ComponentField {
            name: "part",
            kind: FieldKind::Numbers(4),
            default: FieldDefault::None,
            doc: "left, top, width and height of the visible part of the picture, in texels",
        },
        ComponentField {
            name: "size",
            kind: FieldKind::Numbers(2),
            default: FieldDefault::None,
            doc: "width and height in metres; without it, computed from its texels",
        },
        ComponentField {
            name: "pivot",
            kind: FieldKind::Numbers(2),
            default: FieldDefault::Numbers(&SpriteSettings::DEFAULT.pivot),
            doc: "the point of it that is at the node: [0, 0] is its bottom left corner \
                    ({default})",
        },
        ComponentField {
            name: "flip_x",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(SpriteSettings::DEFAULT.flip_x),
            doc: "true if it is mirrored horizontally ({default})",
        },
        ComponentField {
            name: "flip_y",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(SpriteSettings::DEFAULT.flip_y),
            doc: "true if it is mirrored vertically ({default})",
        },
        ComponentField {
            name: "alpha",
            kind: FieldKind::Choice(&ALPHAS),
            default: FieldDefault::Text(ALPHAS[0]),
            doc: "\"blend\": translucent; \"mask\": opaque or cut out, and casts a shadow",
        },
        PIXELS,
        TINT,
        LAYER,
        PLANE,
        LIT,
        ComponentField {
            name: "normal_texture",
            kind: FieldKind::Resource(kind_names::TEXTURE),
            default: FieldDefault::None,
            doc: "slopes for lights on a lit sprite, in place of the normals of its picture",
        },
        MATERIAL,
        RANGE,
        VISIBLE,
        GROUP,
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.sprites.table.note_moved(rows)),
    hide: Some(|scenes, row, group, reason, hidden| {
        scenes.sprites.table.hide(row, group, reason, hidden);
    }),
    state: Some(|view, row, hash| view.scenes.sprites.write_state(row, hash)),
    inspect: Some((InspectSection::Rendering2d, inspect)),
    reload: Some(|host, changed| {
        host.scenes.sprites.reload_sequences(host.textures, host.store, changed);
    }),
};

/// Returns the texture name of a sheet's frame.
fn frame_name(sheet: &str, frame: &str) -> String {
    format!("{sheet}/{frame}")
}

/// Function that stores a resolved resource in an entry of the template.
pub(super) type SetResource = fn(&mut UnitTemplate, usize, &ResolvedResource);

/// Reads the fields of the placement that skeletons have, too: tint, layer, light, material and
/// range. `set_material` stores the material in the entry with that index.
pub(super) fn appearance(
    fields: ComponentFields,
    builder: &mut TemplateBuilder,
    (entry, set_material): (usize, SetResource),
) -> Result<SpritePlacement, Error> {
    let layer = fields.number("layer");
    check_layer(f64::from(layer)).map_err(|message| error!("'layer' {message}"))?;
    let lit = fields.boolean("lit");
    match text(fields.tree, "material") {
        Some(name) if lit => {
            return Err(error!(
                "it is lit, and the material '{name}' paints it without light: take one of them out"
            ));
        }
        Some(name) => {
            let material = ResourceReference::PictureMaterial(name.to_string());
            builder.refer(entry, material, set_material);
        }
        None => {}
    }
    Ok(SpritePlacement {
        tint: fields.color(TINT_COLOR)?.to_bytes(),
        layer: layer as i32,
        lit,
        range: range(fields)?,
        ..SpritePlacement::DEFAULT
    })
}

/// Reads the fields that tile maps have, too. `set_material` stores the material in the entry with
/// that index.
pub(super) fn placement(
    fields: ComponentFields,
    builder: &mut TemplateBuilder,
    material: (usize, SetResource),
) -> Result<SpritePlacement, Error> {
    let pixels_per_metre = fields.number("pixels_per_metre");
    if pixels_per_metre <= 0.0 {
        return Err(error!("'pixels_per_metre' must be above 0, got {pixels_per_metre}"));
    }
    Ok(SpritePlacement {
        pixels_per_metre,
        plane: match text(fields.tree, "plane") {
            Some(plane) if plane == PLANES[1] => SpritePlane::Flat,
            Some(_) => SpritePlane::Upright,
            None => SpritePlane::OfWorld,
        },
        ..appearance(fields, builder, material)?
    })
}

/// Maximum absolute value of a layer.
pub const LAYER_MAX: f64 = 1e6;

/// Refuses an invalid layer.
pub fn check_layer(layer: f64) -> Result<(), String> {
    match layer.fract() == 0.0 && layer.abs() <= LAYER_MAX {
        true => Ok(()),
        false => Err(format!("must be a whole number of at most {LAYER_MAX}, got {layer}")),
    }
}

/// Refuses an invalid part of an image.
pub fn check_image_part([left, top, width, height]: [f32; 4]) -> Result<(), String> {
    match left >= 0.0 && top >= 0.0 && width > 0.0 && height > 0.0 {
        true => Ok(()),
        false => Err(format!(
            "must be left, top, width and height in texels, the latter above 0, got {left}, {top}, \
             {width}, {height}"
        )),
    }
}

/// Lists the texture or sequence that a sprite shows.
fn refer_to_source(
    fields: &SjsonTree,
    builder: &mut TemplateBuilder,
    entry: usize,
) -> Result<(), Error> {
    let (tag, frame) = (text(fields, "tag"), text(fields, "frame"));
    let texture = match (text(fields, "texture"), text(fields, "sheet")) {
        (Some(_), Some(_)) => {
            return Err(error!("it names a texture and a sheet: take one of them out"));
        }
        (None, None) => {
            return Err(error!("it names no picture: texture = \"ship\", or sheet = \"hero\""));
        }
        (Some(_), None) if tag.is_some() || frame.is_some() => {
            return Err(error!("'tag' and 'frame' are of a sheet, and it names a texture"));
        }
        (Some(texture), None) => texture.to_string(),
        (None, Some(_)) if tag.is_some() && frame.is_some() => {
            return Err(error!("it has a tag to play and a frame to show: take one of them out"));
        }
        (None, Some(sheet)) => match frame {
            Some(frame) => frame_name(sheet, frame),
            None => {
                let (sheet, tag) = (sheet.to_string(), tag.map(str::to_string));
                let sequence = ResourceReference::Sequence { sheet, tag };
                builder.refer(entry, sequence, |template, entry, resolved| {
                    template.sprites[entry].source = SpriteSource::Plays(resolved.sequence());
                });
                return Ok(());
            }
        },
    };
    builder.refer(entry, ResourceReference::Texture(texture), |template, entry, resolved| {
        template.sprites[entry].source = SpriteSource::Picture(resolved.texture());
    });
    Ok(())
}

/// Lists the normal texture of a sprite, if it has one.
fn refer_to_normals(
    fields: &SjsonTree,
    builder: &mut TemplateBuilder,
    (entry, lit): (usize, bool),
) -> Result<(), Error> {
    let Some(normal) = text(fields, "normal_texture") else { return Ok(()) };
    if !lit {
        return Err(error!("it has the normal texture '{normal}', and no light: write lit = true"));
    }
    if text(fields, "sheet").is_some() && text(fields, "frame").is_none() {
        return Err(error!(
            "it plays a sheet, and a normal texture is of one picture: name a texture or a frame"
        ));
    }
    let texture = ResourceReference::Texture(normal.to_string());
    builder.refer(entry, texture, |template, entry, resolved| {
        template.sprites[entry].settings.normal = Some(resolved.texture());
    });
    Ok(())
}

/// Reads a component `sprite`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let (fields, entry) = (ComponentFields::new(&SPRITE, part), builder.template.sprites.len());
    let usual = SpriteSettings::DEFAULT;
    let size = numbers(fields.tree, "size").unwrap_or(usual.size);
    if fields.tree.get("size").is_some() && size.iter().any(|side| *side <= 0.0) {
        return Err(error!("'size' must be above 0 metres, got [{}, {}]", size[0], size[1]));
    }
    let of = numbers(fields.tree, "part").unwrap_or(usual.part);
    if fields.tree.get("part").is_some() {
        check_image_part(of).map_err(|message| error!("'part' {message}"))?;
    }
    let speed = fields.number("speed");
    if speed < 0.0 {
        return Err(error!("'speed' must be 0 or more, got {speed}"));
    }
    let mask = fields.text("alpha") == ALPHAS[1];
    let set_material: SetResource = |template, entry, resolved| {
        template.sprites[entry].settings.placement.material = Some(resolved.material());
    };
    let settings = SpriteSettings {
        placement: placement(fields, builder, (entry, set_material))?,
        size,
        pivot: fields.numbers("pivot"),
        part: of,
        flip_x: fields.boolean("flip_x"),
        flip_y: fields.boolean("flip_y"),
        alpha: if mask { SpriteAlpha::Mask } else { SpriteAlpha::Blend },
        normal: None,
    };
    refer_to_source(fields.tree, builder, entry)?;
    refer_to_normals(fields.tree, builder, (entry, settings.placement.lit))?;
    let source = SpriteSource::Picture(TextureNumber::MISSING);
    let visible = fields.boolean("visible");
    let group = group(fields, &mut builder.template)?;
    let name = part.name.clone();
    let sprite = SpriteComponent { name, node, settings, source, speed, visible, group };
    builder.template.sprites.push(sprite);
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    if template.sprites.is_empty() {
        return Ok(());
    }
    let flat = host.is_flat(world);
    let RenderScenes { sprites, worlds, .. } = &mut *host.scenes;
    let scene = scene_of(worlds, world);
    scene.check_room(template.sprites.len())?;
    sprites.spawn(unit, &template.sprites, flat, || scene.take_slot())
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, location: &str) {
    let RenderScenes { sprites, worlds, .. } = &mut *host.scenes;
    if let Some(scene) = existing_scene(worlds, world) {
        sprites.destroy(unit.row(), host.frame, location, |sprite| scene.end(sprite.draw));
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let sprites = &view.scenes.sprites.table;
    for (at, slot) in sprites.of_unit(unit.row()).enumerate() {
        let sprite = sprites.slots.at(slot).expect("chains hold living sprites");
        let picture = view.textures.entry(sprite.picture);
        let [width, height] =
            sprite.settings.metres([picture.width, picture.height].map(|n| n as f32));
        lines.push(format!(
            "sprite {} {:?} at node {}, {width:.2} x {height:.2} m, layer {}{}{}{}",
            at + 1,
            view.textures.name(sprite.picture),
            sprite.node + 1,
            sprite.settings.placement.layer,
            inspect_material(view, &sprite.settings.placement),
            inspect_sequence(view, sprite),
            inspect_hidden(sprite.flags),
        ));
    }
}

/// Returns the text about the sequence that a sprite plays.
fn inspect_sequence(view: &ComponentView, sprite: &SpriteInstance) -> String {
    let Some(number) = sprite.sequence else { return String::new() };
    let sequence = &view.scenes.sprites.sequences[number.0 as usize];
    let tag = sequence.tag.as_ref().map_or("all frames".to_string(), |tag| format!("{tag:?}"));
    format!(", playing {tag} of {:?} at {:.2} s", sequence.sheet, sprite.time)
}

/// Returns the text that names the material of a sprite or tile map.
pub(super) fn inspect_material(view: &ComponentView, placement: &SpritePlacement) -> String {
    let material = placement.material.and_then(|material| view.materials.slots().get(material));
    material.map_or_else(String::new, |material| format!(", material {:?}", material.name))
}

/// Returns the text about the visibility of a sprite or tile map with these flags.
pub(super) fn inspect_hidden(flags: u8) -> &'static str {
    if flags & flag::ANY_HIDDEN == 0 { "" } else { ", hidden" }
}

#[cfg(test)]
mod tests;
