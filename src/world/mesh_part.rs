//! The components `mesh` and `light` as unit files write them, and cameras: their fields, and what
//! these mean. The compiler has checked their types; what they name is looked up above.

use super::component::{Component, Field, FieldKind};
use super::light::{BRIGHTNESS_MAX, LightLook, LightPart, LightType, SHADOW_BIAS_MAX};
use super::mesh::{Extra, GROUPS_MAX, MeshPart, NO_GROUP};
use super::sprite::{SequenceNumber, SpritePart};
use super::sprite_part::{self, SPRITE, TILEMAP};
use super::unit_map::MapPart;
use super::unit_resource::{Part, UnitResource};
use crate::error;
use crate::foundation::sjson::Tree;
use crate::foundation::suggest::hint;
use crate::foundation::{Error, Handle};
use crate::system::models::MeshNumber;
use crate::system::textures::TextureNumber;
use crate::world::camera::{ANGLE_MIN, Camera, NEAR_MIN, Projection, SIGHT_MAX};
use std::f32::consts::PI;
use std::sync::Arc;

/// What of a unit is seen.
pub static MESH: Component = Component {
    name: "mesh",
    words: "Shows a mesh at its node.",
    fields: &[
        Field {
            name: "model",
            kind: FieldKind::Resource("model"),
            words: "the model that the mesh is in",
        },
        Field {
            name: "mesh",
            kind: FieldKind::Text,
            words: "the name of the mesh within its model; its only one",
        },
        Field {
            name: "material",
            kind: FieldKind::Resource("material"),
            words: "what it is drawn with, in place of the model's own materials",
        },
        Field { name: "visible", kind: FieldKind::Boolean, words: "whether it is seen (true)" },
        Field {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            words: "whether it casts shadows (true)",
        },
        Field {
            name: "group",
            kind: FieldKind::Text,
            words: "the visibility group that it is in, for Unit.set_visibility",
        },
        Field {
            name: "range",
            kind: FieldKind::Numbers(2),
            words: "metres of the camera from which on and up to which it is shown",
        },
    ],
};

/// What shines.
pub static LIGHT: Component = Component {
    name: "light",
    words: "Shines from its node, or along its y axis.",
    fields: &[
        Field {
            name: "type",
            kind: FieldKind::Choice(&LightType::NAMES),
            words: "how it shines (omni)",
        },
        Field {
            name: "color",
            kind: FieldKind::Numbers(3),
            words: "red, green and blue of linear light, 1 is white",
        },
        Field {
            name: "intensity",
            kind: FieldKind::Number,
            words: "how bright: with 1, a white wall one metre away sends the colour back",
        },
        Field {
            name: "falloff_end",
            kind: FieldKind::Number,
            words: "metres to where it ends; 0: as far as it can be seen",
        },
        Field {
            name: "spot_angle_start",
            kind: FieldKind::Number,
            words: "degrees from its axis to where it begins to fade (20)",
        },
        Field {
            name: "spot_angle_end",
            kind: FieldKind::Number,
            words: "degrees from its axis to where it ends (40)",
        },
        Field {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            words: "whether it casts shadows (false); omni lights cannot",
        },
        Field {
            name: "shadow_depth_bias",
            kind: FieldKind::Number,
            words: "how far its shadows are kept off what casts them (1)",
        },
        Field { name: "enabled", kind: FieldKind::Boolean, words: "whether it shines (true)" },
    ],
};

/// A camera as a unit's resource lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct CameraPart {
    pub name: String,
    pub node: u16,
    pub camera: Camera,
}

/// What is seen of a unit, and what it sees: ready to be copied.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    pub meshes: Vec<MeshPart>,
    pub lights: Vec<LightPart>,
    pub cameras: Vec<CameraPart>,
    pub sprites: Vec<SpritePart>,
    pub maps: Vec<MapPart>,
    /// Names of visibility groups, by their numbers.
    pub groups: Vec<String>,
}

/// Looks up what parts name.
pub trait Lookup {
    /// The mesh of a model; its only one without a name.
    fn mesh(&mut self, model: &str, mesh: Option<&str>) -> Result<(MeshNumber, usize), Error>;
    /// A material for meshes.
    fn material(&mut self, name: &str) -> Result<Handle, Error>;
    /// A material for pictures.
    fn picture_material(&mut self, name: &str) -> Result<Handle, Error>;
    /// A texture, or a frame of a sheet.
    fn picture(&mut self, name: &str) -> Result<TextureNumber, Error>;
    /// The frames of a sheet's tag; all of them without one.
    fn sequence(&mut self, sheet: &str, tag: Option<&str>) -> Result<SequenceNumber, Error>;
    /// Whether there is such a tile map, and such a level in it.
    fn tilemap(&mut self, name: &str, level: Option<&str>) -> Result<(), Error>;
}

pub(super) fn text<'a>(fields: &'a Tree, key: &str) -> Option<&'a str> {
    match fields.get(key) {
        Some(Tree::String(text)) => Some(text),
        _ => None,
    }
}

pub(super) fn number(fields: &Tree, key: &str) -> Option<f32> {
    match fields.get(key) {
        Some(Tree::Number(number)) => Some(*number as f32),
        _ => None,
    }
}

pub(super) fn truth(fields: &Tree, key: &str) -> Option<bool> {
    match fields.get(key) {
        Some(Tree::Bool(truth)) => Some(*truth),
        _ => None,
    }
}

pub(super) fn numbers<const N: usize>(fields: &Tree, key: &str) -> Option<[f32; N]> {
    let Some(Tree::Array(items)) = fields.get(key) else { return None };
    let mut out = [0.0; N];
    for (slot, item) in out.iter_mut().zip(items) {
        let Tree::Number(number) = item else { return None };
        *slot = *number as f32;
    }
    (items.len() == N).then_some(out)
}

/// What of a unit's resource is seen.
///
/// # Errors
/// A model, a mesh or a material is missing, or numbers do not fit each other.
pub fn seen(resource: &UnitResource, lookup: &mut dyn Lookup) -> Result<Seen, Error> {
    let mut seen = Seen::default();
    // In the order of the nodes, so that the first mesh is the outermost.
    let mut parts: Vec<(u16, &Part)> = Vec::new();
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
        let made = match part.component.as_str() {
            "mesh" => mesh(part, node, &mut seen, lookup),
            "light" => light(part, node).map(|light| seen.lights.push(light)),
            "sprite" => sprite_part::sprite(part, node, &mut seen, lookup),
            "tilemap" => sprite_part::tilemap(part, node, &mut seen, lookup),
            _ => camera(part, node).map(|camera| seen.cameras.push(camera)),
        };
        made.map_err(|fault| error!("component '{}': {}", part.name, fault.message))?;
    }
    Ok(seen)
}

/// The visibility group that a part is in, as one of its unit's.
pub(super) fn group(fields: &Tree, seen: &mut Seen) -> Result<u8, Error> {
    let Some(group) = text(fields, "group") else { return Ok(NO_GROUP) };
    let known = seen.groups.iter().position(|known| known == group);
    if known.is_none() && seen.groups.len() == GROUPS_MAX {
        return Err(error!(
            "a unit can have {GROUPS_MAX} visibility groups (GROUPS_MAX): use fewer"
        ));
    }
    let place = known.unwrap_or_else(|| {
        seen.groups.push(group.to_string());
        seen.groups.len() - 1
    });
    Ok(place as u8)
}

/// Between which distances of the camera a part is shown.
pub(super) fn range(fields: &Tree) -> Result<[f32; 2], Error> {
    let range = numbers(fields, "range").unwrap_or([0.0, f32::INFINITY]);
    match range[0] >= 0.0 && range[1] > range[0] {
        true => Ok(range),
        false => Err(error!(
            "'range' must rise from 0 or more, got [{}, {}]: it is shown between two distances",
            range[0], range[1]
        )),
    }
}

fn mesh(part: &Part, node: u16, seen: &mut Seen, lookup: &mut dyn Lookup) -> Result<(), Error> {
    let fields = &part.fields;
    let Some(model) = text(fields, "model") else {
        return Err(error!("it names no model: model = \"models/barrel\""));
    };
    let (mesh, places) = lookup.mesh(model, text(fields, "mesh"))?;
    let materials = match text(fields, "material") {
        Some(name) => vec![Some(lookup.material(name)?); places],
        None => Vec::new(),
    };
    let group = group(fields, seen)?;
    let range = range(fields)?;
    seen.meshes.push(MeshPart {
        name: part.name.clone(),
        node,
        mesh,
        casts_shadows: truth(fields, "casts_shadows").unwrap_or(true),
        visible: truth(fields, "visible").unwrap_or(true),
        group,
        tint: [255; 4],
        extra: Arc::new(Extra { materials, local: None, range }),
    });
    Ok(())
}

/// What is wrong with a light, if anything is.
pub fn check_light(look: &LightLook) -> Result<(), Error> {
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

fn light(part: &Part, node: u16) -> Result<LightPart, Error> {
    let (fields, usual) = (&part.fields, LightLook::DEFAULT);
    let degrees = |key: &str| number(fields, key).map(f32::to_radians);
    let kind = match text(fields, "type") {
        None => usual.kind,
        Some(word) => LightType::of(word).ok_or_else(|| {
            error!("there is no light of type '{word}'{}", hint(word, LightType::NAMES))
        })?,
    };
    let look = LightLook {
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
    Ok(LightPart { name: part.name.clone(), node, look })
}

fn camera(part: &Part, node: u16) -> Result<CameraPart, Error> {
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
    Ok(CameraPart { name: part.name.clone(), node, camera })
}
