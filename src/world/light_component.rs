//! The row of the component `light`: its fields, and what the engine does with it. The table of
//! lights is in light.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, LIGHT_LAYERS, light_layers, number, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::light::{
    BRIGHTNESS_MAX, HEIGHT_MAX, LightComponent, LightSettings, LightType, SHADOW_BIAS_MAX,
    SOURCE_ANGLE_MAX, SOURCE_RADIUS_MAX, SOURCE_SIDE_MAX, SOURCE_SIDE_MIN,
};
use super::render_scenes::{RenderScenes, existing_scene};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::color_source::ColorKey;
use engine_foundation::error;
use engine_foundation::suggest::hint;
use engine_foundation::text_format::{significant, vector3};
use engine_foundation::{Color, Error};
use engine_resource::resource_kind::kind_names;

/// The color of a light.
const COLOR: ColorKey = ColorKey { key: "color", linear_key: "linear_color", has_alpha: false };

/// The component `light`.
pub static LIGHT: Component = Component {
    name: "light",
    doc: "A light at its node, which shines in all directions or along the y axis.",
    fields: &[
        ComponentField {
            name: "type",
            kind: FieldKind::Choice(&LightType::NAMES),
            default: FieldDefault::Text(LightSettings::DEFAULT.kind.name()),
            doc: "type of the light ({default})",
        },
        ComponentField {
            name: COLOR.key,
            kind: FieldKind::Color(COLOR),
            default: FieldDefault::Text("#ffffff"),
            doc: "its colour ({default})",
        },
        ComponentField {
            name: COLOR.linear_key,
            kind: FieldKind::Light(COLOR),
            default: FieldDefault::None,
            doc: "in place of `color`: red, green and blue of linear light; white is 1, 1, 1",
        },
        ComponentField {
            name: "intensity",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.intensity),
            doc: "brightness: with 1, a white wall one metre away reflects the light's colour",
        },
        ComponentField {
            name: "falloff_end",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.falloff_end),
            doc: "range in metres; 0: as far as it can be seen",
        },
        ComponentField {
            name: "spot_angle_start",
            kind: FieldKind::Number,
            default: FieldDefault::Described("20"),
            doc: "angle from its axis at which it begins to fade, in degrees ({default})",
        },
        ComponentField {
            name: "spot_angle_end",
            kind: FieldKind::Number,
            default: FieldDefault::Described("40"),
            doc: "angle from its axis at which it ends, in degrees ({default})",
        },
        ComponentField {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(LightSettings::DEFAULT.casts_shadows),
            doc: "true if it casts shadows ({default})",
        },
        ComponentField {
            name: "shadow_depth_bias",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.shadow_bias),
            doc: "depth bias of its shadows, which separates them from what casts them ({default})",
        },
        ComponentField {
            name: "source_radius",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.source_radius),
            doc: "radius of an omni or spot light's source in metres, which makes its shadows \
                  soft; 0: a point",
        },
        ComponentField {
            name: "source_angle",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.source_angle),
            doc: "angle that a directional light's source has in the sky, in degrees, which makes \
                  its shadows soft: 0.53 for the real sun; 0: a point",
        },
        ComponentField {
            name: "source_width",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.source_width),
            doc: "width of a rectangle or disc, along the x axis, in metres ({default})",
        },
        ComponentField {
            name: "source_height",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.source_height),
            doc: "height of a rectangle or disc, along the z axis, in metres ({default})",
        },
        LIGHT_LAYERS,
        ComponentField {
            name: "texture",
            kind: FieldKind::Resource(kind_names::TEXTURE),
            default: FieldDefault::None,
            doc: "the texture that a spot light shows on surfaces, or the distribution of an omni \
                  light",
        },
        ComponentField {
            name: "flat",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(LightSettings::DEFAULT.flat),
            doc: "true for a light of 2D games: an omni or spot light that lights sprites evenly, \
                  whatever their direction, up to its range ({default})",
        },
        ComponentField {
            name: "height",
            kind: FieldKind::Number,
            default: FieldDefault::Number(LightSettings::DEFAULT.height),
            doc: "height of a flat light in front of sprites with a normal texture, in metres \
                  ({default})",
        },
        ComponentField {
            name: "enabled",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(LightSettings::DEFAULT.enabled),
            doc: "true if it is switched on ({default})",
        },
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.lights.note_moved(rows)),
    hide: None,
    state: None,
    inspect: Some((InspectSection::Rendering3d, inspect)),
    reload: None,
};

/// Refuses invalid light settings.
pub fn check_light(settings: &LightSettings) -> Result<(), Error> {
    let numbers = [settings.intensity, settings.falloff_end, settings.spot_start];
    if numbers.iter().chain(&settings.color).any(|number| *number < 0.0) {
        return Err(error!("its colour, intensity, falloff and angles must not be below 0"));
    }
    let bright = settings.color.iter().chain([&settings.intensity]);
    if let Some(wrong) = bright.into_iter().find(|number| **number > BRIGHTNESS_MAX) {
        return Err(error!(
            "its colour and intensity must be at most {BRIGHTNESS_MAX} (BRIGHTNESS_MAX), got \
             {wrong}"
        ));
    }
    if !(0.0..=SHADOW_BIAS_MAX).contains(&settings.shadow_bias) {
        return Err(error!(
            "'shadow_depth_bias' must be from 0 to {SHADOW_BIAS_MAX} (SHADOW_BIAS_MAX), got {}",
            settings.shadow_bias
        ));
    }
    if !(0.0..=SOURCE_RADIUS_MAX).contains(&settings.source_radius) {
        return Err(error!(
            "'source_radius' must be from 0 to {SOURCE_RADIUS_MAX} metres (SOURCE_RADIUS_MAX), got \
             {}",
            settings.source_radius
        ));
    }
    if !(0.0..=SOURCE_ANGLE_MAX * 1.0001).contains(&settings.source_angle) {
        return Err(error!(
            "'source_angle' must be from 0 to 20 degrees (SOURCE_ANGLE_MAX), got {} degrees",
            settings.source_angle.to_degrees()
        ));
    }
    for (name, side) in
        [("source_width", settings.source_width), ("source_height", settings.source_height)]
    {
        if !(SOURCE_SIDE_MIN..=SOURCE_SIDE_MAX).contains(&side) {
            return Err(error!(
                "'{name}' must be from {SOURCE_SIDE_MIN} to {SOURCE_SIDE_MAX} metres \
                 (SOURCE_SIDE_MIN, SOURCE_SIDE_MAX), got {side}"
            ));
        }
    }
    if settings.kind == LightType::Spot
        && !(settings.spot_end > 0.0
            && settings.spot_end <= std::f32::consts::FRAC_PI_2 + 1e-4
            && settings.spot_start <= settings.spot_end)
    {
        return Err(error!(
            "its angles must rise from spot_angle_start to spot_angle_end, which is at most 90 \
             degrees"
        ));
    }
    if !(0.0..=HEIGHT_MAX).contains(&settings.height) {
        return Err(error!(
            "'height' must be from 0 to {HEIGHT_MAX} metres (HEIGHT_MAX), got {}",
            settings.height
        ));
    }
    check_flat(settings.kind, settings.flat)?;
    check_texture(settings.kind, settings.texture.is_some())
}

/// Refuses a flat light of another type than omni and spot.
pub fn check_flat(kind: LightType, flat: bool) -> Result<(), Error> {
    match kind {
        LightType::Omni | LightType::Spot => Ok(()),
        _ if !flat => Ok(()),
        _ => Err(error!("a {} light cannot be flat: only omni and spot lights can", kind.name())),
    }
}

/// Refuses a texture of a light of another type than omni and spot, which would have no effect.
pub fn check_texture(kind: LightType, has_texture: bool) -> Result<(), Error> {
    match kind {
        LightType::Omni | LightType::Spot => Ok(()),
        _ if !has_texture => Ok(()),
        _ => Err(error!(
            "a {} light has no texture: only omni and spot lights have one",
            kind.name()
        )),
    }
}

/// Returns the color of a light as linear light.
fn color(fields: ComponentFields) -> Result<[f32; 3], Error> {
    let Some(light) = fields.tree.get(COLOR.linear_key) else {
        let [red, green, blue, _] = Color { alpha: 255.0, ..fields.color(COLOR)? }.to_light();
        return Ok([red, green, blue]);
    };
    if fields.tree.get(COLOR.key).is_some() {
        return Err(error!(
            "it has 'color' and 'linear_color': keep one (color = null removes an inherited one)"
        ));
    }
    let light = COLOR.read_light(light).map_err(|message| error!("'linear_color' {message}"))?;
    Ok([light[0], light[1], light[2]])
}

/// Reads a component `light`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let (fields, usual) = (ComponentFields::new(&LIGHT, part), LightSettings::DEFAULT);
    let degrees = |key: &str| number(fields.tree, key).map(f32::to_radians);
    let word = fields.text("type");
    let kind = LightType::of(word).ok_or_else(|| {
        error!("there is no light of type '{word}'{}", hint(word, LightType::NAMES))
    })?;
    let settings = LightSettings {
        kind,
        color: color(fields)?,
        intensity: fields.number("intensity"),
        falloff_end: fields.number("falloff_end"),
        spot_start: degrees("spot_angle_start").unwrap_or(usual.spot_start),
        spot_end: degrees("spot_angle_end").unwrap_or(usual.spot_end),
        casts_shadows: fields.boolean("casts_shadows"),
        shadow_bias: fields.number("shadow_depth_bias"),
        source_radius: fields.number("source_radius"),
        source_angle: fields.number("source_angle").to_radians(),
        source_width: fields.number("source_width"),
        source_height: fields.number("source_height"),
        layers: light_layers(fields)?,
        texture: None,
        flat: fields.boolean("flat"),
        height: fields.number("height"),
        enabled: fields.boolean("enabled"),
    };
    check_light(&settings)?;
    if let Some(texture) = text(fields.tree, "texture") {
        check_texture(kind, true)?;
        let (entry, texture) = (builder.template.lights.len(), texture.to_string());
        builder.refer(entry, ResourceReference::Texture(texture), |template, entry, resolved| {
            template.lights[entry].settings.texture = Some(resolved.texture());
        });
    }
    builder.template.lights.push(LightComponent { name: part.name.clone(), node, settings });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    if template.lights.is_empty() {
        return Ok(());
    }
    host.scenes.lights.spawn(unit, &template.lights)?;
    // Views show the scene from now on, even if it contains nothing else.
    host.scenes.of(world);
    Ok(())
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, location: &str) {
    let RenderScenes { lights, worlds, .. } = &mut *host.scenes;
    if let Some(scene) = existing_scene(worlds, world) {
        scene.lights_changed |= lights.destroy(unit.row(), host.frame, location);
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let lights = &view.scenes.lights;
    for (at, id) in lights.of_unit(unit.row()).iter().enumerate() {
        let light = lights.slots.get(id.0).expect("lights end with their unit");
        let settings = &light.settings;
        lines.push(format!(
            "light {} {} at node {}, colour {}, intensity {}, to {} m{}{}{}",
            at + 1,
            settings.kind.name(),
            light.node + 1,
            vector3(settings.color.into()),
            significant(settings.intensity.into(), 6),
            significant(settings.range().into(), 6),
            if settings.flat { ", flat" } else { "" },
            if settings.casts_shadows { ", with shadows" } else { "" },
            if settings.enabled { "" } else { ", off" },
        ));
    }
}
