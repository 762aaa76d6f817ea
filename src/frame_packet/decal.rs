//! Decals of scenes: boxes that project pictures onto opaque meshes. Plain data.

use super::scene::{DrawTransform, LIGHT_LAYERS_ALL};
use super::texture::TextureSlot;

/// Maximum number of decals of a scene.
pub const DECALS_MAX: usize = 1 << 14;
/// Maximum number of decals that a view shows. If more are visible, the nearest are shown.
pub const VIEW_DECALS_MAX: usize = 1024;
/// Maximum number of decals of the clusters of a view, counted in each cluster that they reach.
pub const DECAL_ENTRIES_MAX: usize = 1 << 17;
/// The same of all views of a frame.
pub const FRAME_DECAL_ENTRIES_MAX: usize = 1 << 20;

/// The textures of a decal. A missing one is white, and for normals, flat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DecalTextures {
    /// Color; its alpha is the part of the surface that the decal covers.
    pub color: Option<TextureSlot>,
    pub normal: Option<TextureSlot>,
    /// Roughness, in the green channel.
    pub roughness: Option<TextureSlot>,
    pub emissive: Option<TextureSlot>,
}

/// A decal of a scene.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DecalFrame {
    /// Transform of the cube between -1 and 1. The decal is projected along its y axis; the top of
    /// its textures is on the side of the z axis.
    pub pose: DrawTransform,
    pub textures: DecalTextures,
    /// Factor for the color: linear red, green and blue.
    pub color: [f32; 3],
    /// From 0 to 1, for all that the decal changes.
    pub opacity: f32,
    /// How much of the color is applied, from 0 to 1.
    pub color_strength: f32,
    /// Factor for the slopes of the normal texture.
    pub normal_strength: f32,
    /// Factor for the roughness; `None`: the roughness of the surface stays.
    pub roughness: Option<f32>,
    /// Factor for the light that the decal emits.
    pub emissive: f32,
    /// Angles in radians between the direction of the projection and the direction against the
    /// normal of a surface, from which the decal fades, and at which it ends.
    pub angle_fade: [f32; 2],
    /// Distances from the camera, in metres, from which the decal fades, and at which it ends; an
    /// end of 0: it does not fade. Cameras without perspective show decals at any distance.
    pub distance_fade: [f32; 2],
    /// Seconds of game time from which the decal fades, and at which it ends.
    pub life: Option<[f64; 2]>,
    /// Decals with a higher order cover others.
    pub order: i32,
    /// Bit set of its layers: it is projected onto draws that share one.
    pub layers: u8,
}

impl DecalFrame {
    /// A white cube of two metres.
    pub const DEFAULT: DecalFrame = DecalFrame {
        pose: DrawTransform::IDENTITY,
        textures: DecalTextures { color: None, normal: None, roughness: None, emissive: None },
        color: [1.0; 3],
        opacity: 1.0,
        color_strength: 1.0,
        normal_strength: 1.0,
        roughness: None,
        emissive: 0.0,
        angle_fade: [std::f32::consts::FRAC_PI_3, 1.396_263_4],
        distance_fade: [0.0; 2],
        life: None,
        order: 0,
        layers: LIGHT_LAYERS_ALL,
    };
}
