//! The row of the component `decal`: its fields, and what the engine does with it. The table of
//! decals is in decal.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, LIGHT_LAYERS, light_layers, number, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::decal::{DecalChannel, DecalComponent, DecalSettings, ORDER_MAX, check_decal};
use super::render_scenes::{RenderScenes, existing_scene};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::color_source::ColorKey;
use engine_foundation::error;
use engine_foundation::text_format::{significant, vector3};
use engine_foundation::{Error, Vec3};
use engine_resource::resource_kind::kind_names;

/// The tint of a decal.
const COLOR: ColorKey = ColorKey { key: "color", linear_key: "", has_alpha: true };

/// The fields of textures, in the order of [`DecalChannel`].
const TEXTURES: [&str; 4] = ["texture", "normal_texture", "roughness_texture", "emissive_texture"];

const fn number_field(
    name: &'static str,
    default: FieldDefault,
    doc: &'static str,
) -> ComponentField {
    ComponentField { name, kind: FieldKind::Number, default, doc }
}

const fn texture_field(name: &'static str, doc: &'static str) -> ComponentField {
    let kind = FieldKind::Resource(kind_names::TEXTURE);
    ComponentField { name, kind, default: FieldDefault::None, doc }
}

/// The component `decal`.
pub static DECAL: Component = Component {
    name: "decal",
    doc: "A box at its node that projects pictures onto opaque meshes, along its y axis.",
    fields: &[
        ComponentField {
            name: "size",
            kind: FieldKind::Numbers(3),
            default: FieldDefault::Numbers(&DecalSettings::DEFAULT.size),
            doc: "width, depth of the projection, and height of the box, in metres",
        },
        texture_field(
            TEXTURES[0],
            "its colour; the alpha is the part of the surface that it covers",
        ),
        texture_field(TEXTURES[1], "its normals"),
        texture_field(TEXTURES[2], "its roughness, in the green channel"),
        texture_field(TEXTURES[3], "the light that it emits"),
        ComponentField {
            name: COLOR.key,
            kind: FieldKind::Color(COLOR),
            default: FieldDefault::Text("#ffffff"),
            doc: "a factor for its colour ({default})",
        },
        number_field(
            "opacity",
            FieldDefault::Number(DecalSettings::DEFAULT.opacity),
            "from 0 to 1, for all that it changes ({default})",
        ),
        number_field(
            "color_strength",
            FieldDefault::Number(DecalSettings::DEFAULT.color_strength),
            "how much of its colour is applied ({default}); 0 keeps that of the surface",
        ),
        number_field(
            "normal_strength",
            FieldDefault::Number(DecalSettings::DEFAULT.normal_strength),
            "a factor for the slopes of its normals ({default})",
        ),
        number_field(
            "roughness",
            FieldDefault::None,
            "its roughness, or a factor for that of its texture; without it, that of the surface \
             stays",
        ),
        number_field(
            "emissive",
            FieldDefault::Number(DecalSettings::DEFAULT.emissive),
            "a factor for the light that it emits ({default})",
        ),
        number_field(
            "angle_fade_start",
            FieldDefault::Described("60"),
            "angle between the surface and the projection from which it fades, in degrees",
        ),
        number_field(
            "angle_fade_end",
            FieldDefault::Described("80"),
            "angle at which it is no longer visible, in degrees",
        ),
        number_field(
            "distance_fade_start",
            FieldDefault::Number(0.0),
            "distance from the camera from which it fades, in metres",
        ),
        number_field(
            "distance_fade_end",
            FieldDefault::Number(0.0),
            "distance at which it is no longer visible; 0: it is visible at any distance",
        ),
        number_field(
            "lifetime",
            FieldDefault::Number(0.0),
            "seconds after which it is no longer visible; 0: it stays",
        ),
        number_field(
            "fade_time",
            FieldDefault::Number(DecalSettings::DEFAULT.lifetime[1]),
            "seconds at the end of its lifetime in which it fades ({default})",
        ),
        number_field(
            "order",
            FieldDefault::Number(0.0),
            "a whole number: decals with a higher order cover others ({default})",
        ),
        LIGHT_LAYERS,
        ComponentField {
            name: "enabled",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(DecalSettings::DEFAULT.enabled),
            doc: "true if it is visible ({default})",
        },
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.decals.note_moved(rows)),
    hide: Some(|scenes, row, group, reason, hidden| {
        // Decals are in no visibility group.
        if group.is_none() {
            scenes.decals.hide(row, reason, hidden);
        }
    }),
    state: None,
    inspect: Some((InspectSection::Rendering3d, inspect)),
    reload: None,
};

/// Returns the order of a decal.
///
/// # Errors
/// Returns an error if it is no whole number, or beyond the limits.
pub fn order_of(order: f64) -> Result<i32, Error> {
    match order.fract() == 0.0 && order.abs() <= f64::from(ORDER_MAX) {
        true => Ok(order as i32),
        false => Err(error!(
            "'order' must be a whole number from -{ORDER_MAX} to {ORDER_MAX} (ORDER_MAX), got \
             {order}"
        )),
    }
}

/// Reads a component `decal`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let (fields, usual) = (ComponentFields::new(&DECAL, part), DecalSettings::DEFAULT);
    let degrees = |key: &str| number(fields.tree, key).map(f32::to_radians);
    let settings = DecalSettings {
        size: fields.numbers("size"),
        color: fields.color(COLOR)?,
        opacity: fields.number("opacity"),
        color_strength: fields.number("color_strength"),
        normal_strength: fields.number("normal_strength"),
        roughness: number(fields.tree, "roughness"),
        emissive: fields.number("emissive"),
        textures: [None; 4],
        angle_fade: [
            degrees("angle_fade_start").unwrap_or(usual.angle_fade[0]),
            degrees("angle_fade_end").unwrap_or(usual.angle_fade[1]),
        ],
        distance_fade: [fields.number("distance_fade_start"), fields.number("distance_fade_end")],
        lifetime: [fields.number("lifetime"), fields.number("fade_time")],
        order: order_of(fields.number("order").into())?,
        layers: light_layers(fields)?,
        enabled: fields.boolean("enabled"),
    };
    check_decal(&settings)?;
    let entry = builder.template.decals.len();
    for (channel, key) in DecalChannel::ALL.into_iter().zip(TEXTURES) {
        let Some(texture) = text(fields.tree, key) else { continue };
        let reference = ResourceReference::Texture(texture.to_string());
        builder.refer(
            entry,
            reference,
            match channel {
                DecalChannel::Color => |template, entry, resolved| {
                    template.decals[entry].settings.textures[0] = Some(resolved.texture());
                },
                DecalChannel::Normal => |template, entry, resolved| {
                    template.decals[entry].settings.textures[1] = Some(resolved.texture());
                },
                DecalChannel::Roughness => |template, entry, resolved| {
                    template.decals[entry].settings.textures[2] = Some(resolved.texture());
                },
                DecalChannel::Emissive => |template, entry, resolved| {
                    template.decals[entry].settings.textures[3] = Some(resolved.texture());
                },
            },
        );
    }
    builder.template.decals.push(DecalComponent { name: part.name.clone(), node, settings });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    if template.decals.is_empty() {
        return Ok(());
    }
    host.scenes.decals.spawn(unit, &template.decals)?;
    host.scenes.of(world);
    Ok(())
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, location: &str) {
    let RenderScenes { decals, worlds, .. } = &mut *host.scenes;
    if let Some(scene) = existing_scene(worlds, world) {
        scene.decals_changed |= decals.destroy(unit.row(), host.frame, location);
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let decals = &view.scenes.decals;
    for (at, id) in decals.of_unit(unit.row()).iter().enumerate() {
        let decal = decals.slots.get(id.0).expect("decals end with their unit");
        let settings = &decal.settings;
        lines.push(format!(
            "decal {} at node {}, size {}, opacity {}, order {}{}",
            at + 1,
            decal.node + 1,
            vector3(Vec3::from_array(settings.size)),
            significant(settings.opacity.into(), 6),
            settings.order,
            if settings.enabled { "" } else { ", off" },
        ));
    }
}
