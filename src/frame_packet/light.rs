//! The lights of a scene. Knows no units and no graphics API.

use super::texture::TextureSlot;
use engine_foundation::Vec3;

/// Maximum size of a light's source ([`LightFrame::source_size`]). Larger ones are limited to it.
pub const SOURCE_SIZE_MAX: f32 = 10.0;
/// Smallest and largest side of a rectangle or disc that shines, in meters. Others are limited to
/// them.
pub const AREA_SIDE_MIN: f32 = 0.01;
pub const AREA_SIDE_MAX: f32 = 100.0;
/// Maximum height of a flat light ([`LightFrame::flat_height`]). Higher ones are limited to it.
pub const FLAT_HEIGHT_MAX: f32 = 1e4;
/// All light layers.
pub const LIGHT_LAYERS_ALL: u8 = u8::MAX;

/// The type of a light, with its position, direction and range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LightKind {
    /// A directional light, infinitely far away. A white matte surface that faces it reflects the
    /// light's color unchanged.
    Sun {
        /// Direction in which the light travels, of length 1.
        direction: Vec3,
        /// True if the sun should cast shadows. Only the first such sun of a scene casts them.
        casts_shadows: bool,
    },
    /// A point light. A white matte surface that faces it at a distance of one meter reflects the
    /// light's color unchanged. The intensity falls off by the inverse square, and is zero from
    /// `range` on.
    Omni { position: Vec3, range: f32, casts_shadows: bool },
    /// A point light that is limited to a cone.
    Spot {
        position: Vec3,
        /// Direction in which the light shines, of length 1.
        direction: Vec3,
        range: f32,
        /// Angles between the direction and the start (`inner`) and the end (`outer`) of the
        /// falloff, in radians, at most half of pi.
        inner: f32,
        outer: f32,
        casts_shadows: bool,
    },
    /// A rectangle or an ellipse that shines to one side, equally bright from all directions. Far
    /// away, a white matte surface on its axis reflects the light of a point light.
    Area {
        position: Vec3,
        /// Direction in which it shines, of length 1.
        direction: Vec3,
        /// From its center to its right side, at a right angle to the direction.
        right: Vec3,
        /// From its center to its upper side.
        half_height: f32,
        is_ellipse: bool,
        range: f32,
        casts_shadows: bool,
    },
}

/// A light of a scene.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightFrame {
    /// Number of the light, unique in its scene, by which the renderer recognizes it when the list
    /// of lights changes, and keeps its shadow map. A light with the number 0 is recognized by its
    /// position in the list.
    pub id: u64,
    pub kind: LightKind,
    /// Linear red, green and blue, multiplied by the intensity.
    pub color: [f32; 3],
    /// Shadow bias: distance between shadows and the objects that cast them; 1 is the default.
    pub shadow_bias: f32,
    /// Size of its source, for shadows whose edges are wider far from the objects that cast them:
    /// the radius in meters, and of a sun the radius at a distance of one meter. 0: a point.
    pub source_size: f32,
    /// Bit set of its layers: it lights draws that share one ([`super::scene::DrawMesh::layers`]).
    pub layers: u8,
    /// The texture through which it shines.
    pub texture: Option<LightTexture>,
    /// For a flat light of two-dimensional scenes, an omni or spot light: its height in meters in
    /// front of surfaces with a normal texture, at most [`FLAT_HEIGHT_MAX`]. It lights all surfaces
    /// without a normal texture evenly, whatever their direction, fades from its position to its
    /// range without the inverse square, and has no reflections.
    pub flat_height: Option<f32>,
}

/// The texture of an omni or spot light. A spot projects it within its cone. Around an omni light,
/// columns go around the axis, and rows from the direction of the axis to the opposite one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightTexture {
    pub slot: TextureSlot,
    /// Axis of an omni light. That of a spot is its direction.
    pub axis: Vec3,
    /// Direction to the right of the texture, as seen along the axis.
    pub right: Vec3,
}

impl LightFrame {
    /// A white omni light at the origin with a range of ten meters, without shadows.
    pub const DEFAULT: LightFrame = LightFrame {
        id: 0,
        kind: LightKind::Omni { position: Vec3::ZERO, range: 10.0, casts_shadows: false },
        color: [1.0; 3],
        shadow_bias: 1.0,
        source_size: 0.0,
        layers: LIGHT_LAYERS_ALL,
        texture: None,
        flat_height: None,
    };
}
