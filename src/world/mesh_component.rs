//! The components `mesh` and `light` as written in unit files, and the evaluation of the component
//! `camera`: their fields and the meaning of these. The compiler has checked the types of the
//! fields; the resources that they name are looked up by the caller.

use super::component::{ComponentField, ComponentRow, FieldKind};
use super::light::{BRIGHTNESS_MAX, LightComponent, LightSettings, LightType, SHADOW_BIAS_MAX};
use super::mesh::{GROUPS_MAX, MeshComponent, MeshExtra, NO_GROUP};
use super::sprite::{SequenceNumber, SpriteComponent};
use super::sprite_component::{self, SPRITE, TILEMAP};
use super::tilemap_component::TilemapComponent;
use super::unit_resource::{ComponentSource, UnitResource};
use crate::camera::{ANGLE_MIN, Camera, NEAR_MIN, Projection, SIGHT_MAX};
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Handle};
use engine_models::MeshNumber;
use engine_textures::TextureNumber;
use std::f32::consts::PI;
use std::sync::Arc;

/// The component `mesh`.
pub static MESH: ComponentRow = ComponentRow {
    name: "mesh",
    doc: "Shows a mesh at its node.",
    fields: &[
        ComponentField {
            name: "model",
            kind: FieldKind::Resource("model"),
            doc: "the model that the mesh is in",
        },
        ComponentField {
            name: "mesh",
            kind: FieldKind::Text,
            doc: "the name of the mesh in its model; may be left out if it is the only one",
        },
        ComponentField {
            name: "material",
            kind: FieldKind::Resource("material"),
            doc: "materials to use instead of the model's own",
        },
        ComponentField {
            name: "visible",
            kind: FieldKind::Boolean,
            doc: "true if it is visible (true)",
        },
        ComponentField {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            doc: "true if it casts shadows (true)",
        },
        ComponentField {
            name: "group",
            kind: FieldKind::Text,
            doc: "the visibility group of the component, for Unit.set_visibility",
        },
        ComponentField {
            name: "range",
            kind: FieldKind::Numbers(2),
            doc: "minimum and maximum distance from the camera at which it is shown, in metres",
        },
    ],
};

/// The component `light`.
pub static LIGHT: ComponentRow = ComponentRow {
    name: "light",
    doc: "A light at its node, which shines in all directions or along the y axis.",
    fields: &[
        ComponentField {
            name: "type",
            kind: FieldKind::Choice(&LightType::NAMES),
            doc: "type of the light (omni)",
        },
        ComponentField {
            name: "color",
            kind: FieldKind::Numbers(3),
            doc: "red, green and blue of linear light; white is 1, 1, 1",
        },
        ComponentField {
            name: "intensity",
            kind: FieldKind::Number,
            doc: "brightness: with 1, a white wall one metre away reflects the light's colour",
        },
        ComponentField {
            name: "falloff_end",
            kind: FieldKind::Number,
            doc: "range in metres; 0: as far as it can be seen",
        },
        ComponentField {
            name: "spot_angle_start",
            kind: FieldKind::Number,
            doc: "angle from its axis at which it begins to fade, in degrees (20)",
        },
        ComponentField {
            name: "spot_angle_end",
            kind: FieldKind::Number,
            doc: "angle from its axis at which it ends, in degrees (40)",
        },
        ComponentField {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            doc: "true if it casts shadows (false); omni lights cannot",
        },
        ComponentField {
            name: "shadow_depth_bias",
            kind: FieldKind::Number,
            doc: "depth bias of its shadows, which separates them from what casts them (1)",
        },
        ComponentField {
            name: "enabled",
            kind: FieldKind::Boolean,
            doc: "true if it is switched on (true)",
        },
    ],
};

/// A camera as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct CameraComponent {
    pub name: String,
    pub node: u16,
    pub camera: Camera,
}

/// Template of a unit's visible components and cameras, ready to be instantiated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RenderTemplate {
    pub meshes: Vec<MeshComponent>,
    pub lights: Vec<LightComponent>,
    pub cameras: Vec<CameraComponent>,
    pub sprites: Vec<SpriteComponent>,
    pub maps: Vec<TilemapComponent>,
    /// Names of the visibility groups, by number.
    pub groups: Vec<String>,
}

/// Lookup of the resources that components refer to.
pub trait ResourceLookup {
    /// Returns a mesh of a model. Without a name, the model's only mesh.
    fn mesh(&mut self, model: &str, mesh: Option<&str>) -> Result<(MeshNumber, usize), Error>;
    /// Returns a material for meshes.
    fn material(&mut self, name: &str) -> Result<Handle, Error>;
    /// Returns a material for 2D images.
    fn picture_material(&mut self, name: &str) -> Result<Handle, Error>;
    /// Returns a texture or a frame of a sheet.
    fn picture(&mut self, name: &str) -> Result<TextureNumber, Error>;
    /// Returns the frames of a sheet's tag. Without a tag, all frames.
    fn sequence(&mut self, sheet: &str, tag: Option<&str>) -> Result<SequenceNumber, Error>;
    /// Checks that a tile map exists, and that it has the level.
    fn tilemap(&mut self, name: &str, level: Option<&str>) -> Result<(), Error>;
}

pub(super) fn text<'a>(fields: &'a SjsonTree, key: &str) -> Option<&'a str> {
    match fields.get(key) {
        Some(SjsonTree::String(text)) => Some(text),
        _ => None,
    }
}

pub(super) fn number(fields: &SjsonTree, key: &str) -> Option<f32> {
    match fields.get(key) {
        Some(SjsonTree::Number(number)) => Some(*number as f32),
        _ => None,
    }
}

pub(super) fn truth(fields: &SjsonTree, key: &str) -> Option<bool> {
    match fields.get(key) {
        Some(SjsonTree::Bool(truth)) => Some(*truth),
        _ => None,
    }
}

pub(super) fn numbers<const N: usize>(fields: &SjsonTree, key: &str) -> Option<[f32; N]> {
    let Some(SjsonTree::Array(items)) = fields.get(key) else { return None };
    let mut out = [0.0; N];
    for (slot, item) in out.iter_mut().zip(items) {
        let SjsonTree::Number(number) = item else { return None };
        *slot = *number as f32;
    }
    (items.len() == N).then_some(out)
}

/// Builds the template of a unit's visible components.
///
/// # Errors
/// Returns an error if a model, a mesh or a material is missing, or if numbers contradict each
/// other.
pub fn read_render_template(
    resource: &UnitResource,
    lookup: &mut dyn ResourceLookup,
) -> Result<RenderTemplate, Error> {
    let mut template = RenderTemplate::default();
    // In the order of the nodes, so that the first mesh is the outermost.
    let mut parts: Vec<(u16, &ComponentSource)> = Vec::new();
    for part in &resource.parts {
        let component = part.component.as_str();
        if !["mesh", "light", "camera", SPRITE.name, TILEMAP.name].contains(&component) {
            continue;
        }
        let node = text(&part.fields, "node").map_or(Some(0), |node| resource.node(node));
        let node = node.ok_or_else(|| error!("component '{}' has no node", part.name))?;
        parts.push((node as u16, part));
    }
    parts.sort_by_key(|(node, _)| *node);
    for (node, part) in parts {
        let result = match part.component.as_str() {
            "mesh" => mesh(part, node, &mut template, lookup),
            "light" => light(part, node).map(|light| template.lights.push(light)),
            "sprite" => sprite_component::sprite(part, node, &mut template, lookup),
            "tilemap" => sprite_component::tilemap(part, node, &mut template, lookup),
            _ => camera(part, node).map(|camera| template.cameras.push(camera)),
        };
        result.map_err(|fault| error!("component '{}': {}", part.name, fault.message))?;
    }
    Ok(template)
}

/// Returns the number of a component's visibility group in its unit.
pub(super) fn group(fields: &SjsonTree, template: &mut RenderTemplate) -> Result<u8, Error> {
    let Some(group) = text(fields, "group") else { return Ok(NO_GROUP) };
    let known = template.groups.iter().position(|known| known == group);
    if known.is_none() && template.groups.len() == GROUPS_MAX {
        return Err(error!(
            "a unit can have {GROUPS_MAX} visibility groups (GROUPS_MAX): use fewer"
        ));
    }
    let index = known.unwrap_or_else(|| {
        template.groups.push(group.to_string());
        template.groups.len() - 1
    });
    Ok(index as u8)
}

/// Returns the minimum and maximum distance from the camera at which a component is shown.
pub(super) fn range(fields: &SjsonTree) -> Result<[f32; 2], Error> {
    let range = numbers(fields, "range").unwrap_or([0.0, f32::INFINITY]);
    match range[0] >= 0.0 && range[1] > range[0] {
        true => Ok(range),
        false => Err(error!(
            "'range' must rise from 0 or more, got [{}, {}]: it is shown between two distances",
            range[0], range[1]
        )),
    }
}

fn mesh(
    part: &ComponentSource,
    node: u16,
    template: &mut RenderTemplate,
    lookup: &mut dyn ResourceLookup,
) -> Result<(), Error> {
    let fields = &part.fields;
    let Some(model) = text(fields, "model") else {
        return Err(error!("it names no model: model = \"models/barrel\""));
    };
    let (mesh, places) = lookup.mesh(model, text(fields, "mesh"))?;
    let materials = match text(fields, "material") {
        Some(name) => vec![Some(lookup.material(name)?); places],
        None => Vec::new(),
    };
    let group = group(fields, template)?;
    let range = range(fields)?;
    template.meshes.push(MeshComponent {
        name: part.name.clone(),
        node,
        mesh,
        casts_shadows: truth(fields, "casts_shadows").unwrap_or(true),
        visible: truth(fields, "visible").unwrap_or(true),
        group,
        tint: [255; 4],
        extra: Arc::new(MeshExtra { materials, local: None, range }),
    });
    Ok(())
}

/// Refuses invalid light settings.
pub fn check_light(look: &LightSettings) -> Result<(), Error> {
    let numbers = [look.intensity, look.falloff_end, look.spot_start];
    if numbers.iter().chain(&look.color).any(|number| *number < 0.0) {
        return Err(error!("its colour, intensity, falloff and angles must not be below 0"));
    }
    let bright = look.color.iter().chain([&look.intensity]);
    if let Some(wrong) = bright.into_iter().find(|number| **number > BRIGHTNESS_MAX) {
        return Err(error!(
            "its colour and intensity must be at most {BRIGHTNESS_MAX} (BRIGHTNESS_MAX), got \
             {wrong}"
        ));
    }
    if !(0.0..=SHADOW_BIAS_MAX).contains(&look.shadow_bias) {
        return Err(error!(
            "'shadow_depth_bias' must be from 0 to {SHADOW_BIAS_MAX} (SHADOW_BIAS_MAX), got {}",
            look.shadow_bias
        ));
    }
    if look.kind == LightType::Spot
        && !(look.spot_end > 0.0
            && look.spot_end <= std::f32::consts::FRAC_PI_2 + 1e-4
            && look.spot_start <= look.spot_end)
    {
        return Err(error!(
            "its angles must rise from spot_angle_start to spot_angle_end, which is at most 90 \
             degrees"
        ));
    }
    if look.kind == LightType::Omni && look.casts_shadows {
        return Err(error!(
            "an omni light casts no shadows: leave out casts_shadows, or make it a spot light"
        ));
    }
    Ok(())
}

fn light(part: &ComponentSource, node: u16) -> Result<LightComponent, Error> {
    let (fields, usual) = (&part.fields, LightSettings::DEFAULT);
    let degrees = |key: &str| number(fields, key).map(f32::to_radians);
    let kind = match text(fields, "type") {
        None => usual.kind,
        Some(word) => LightType::of(word).ok_or_else(|| {
            error!("there is no light of type '{word}'{}", hint(word, LightType::NAMES))
        })?,
    };
    let look = LightSettings {
        kind,
        color: numbers(fields, "color").unwrap_or(usual.color),
        intensity: number(fields, "intensity").unwrap_or(usual.intensity),
        falloff_end: number(fields, "falloff_end").unwrap_or(usual.falloff_end),
        spot_start: degrees("spot_angle_start").unwrap_or(usual.spot_start),
        spot_end: degrees("spot_angle_end").unwrap_or(usual.spot_end),
        casts_shadows: truth(fields, "casts_shadows").unwrap_or(usual.casts_shadows),
        shadow_bias: number(fields, "shadow_depth_bias").unwrap_or(usual.shadow_bias),
        enabled: truth(fields, "enabled").unwrap_or(usual.enabled),
    };
    check_light(&look)?;
    Ok(LightComponent { name: part.name.clone(), node, look })
}

fn camera(part: &ComponentSource, node: u16) -> Result<CameraComponent, Error> {
    let fields = &part.fields;
    let mut camera = Camera::DEFAULT;
    if let Some(fov) = number(fields, "vertical_fov") {
        let angle = fov.to_radians();
        if !(ANGLE_MIN..=PI - ANGLE_MIN).contains(&angle) {
            return Err(error!("'vertical_fov' must be above 0 and below 180 degrees, got {fov}"));
        }
        camera.vertical_fov = angle;
    }
    if text(fields, "projection") == Some("orthographic") {
        camera.projection = Projection::Orthographic;
    }
    if let Some(height) = number(fields, "height") {
        if !(NEAR_MIN..=SIGHT_MAX).contains(&height) {
            return Err(error!(
                "'height' must be {NEAR_MIN} to {SIGHT_MAX} metres, above 0, got {height:e}"
            ));
        }
        let half = height / 2.0;
        camera.orthographic = [-half, half, -half, half];
        camera.fits_width = true;
    }
    camera.near = number(fields, "near").unwrap_or(camera.near);
    camera.far = number(fields, "far").unwrap_or(camera.far);
    let least = camera.projection == Projection::Orthographic || camera.near >= NEAR_MIN;
    let within = camera.near.abs().max(camera.far.abs()) <= SIGHT_MAX;
    if !least || !within || camera.far <= camera.near {
        return Err(error!(
            "'near' must be above 0 in perspective (at least {NEAR_MIN}) and less than 'far', both \
             at most {SIGHT_MAX} metres, got {} and {}",
            camera.near, camera.far
        ));
    }
    Ok(CameraComponent { name: part.name.clone(), node, camera })
}
