//! Reflection probes in a packet: boxes of a scene whose surfaces get their light from a texture of
//! the surroundings instead of the sky.

use super::scene::DrawTransform;
use super::texture::TextureSlot;
use engine_foundation::Vec3;

/// Maximum number of probes in one scene.
pub const PROBES_MAX: usize = 1024;
/// Maximum number of probes that light one view: those whose boxes are nearest to the camera.
pub const VIEW_PROBES_MAX: usize = 8;

/// A reflection probe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbeFrame {
    /// Transform of the box: from the cube between -1 and 1 to world space.
    pub pose: DrawTransform,
    /// Position from which the texture shows the surroundings.
    pub position: Vec3,
    /// Distance in meters from the sides of the box, inwards, over which the probe fades in.
    pub blend_distance: f32,
    /// Probes with a higher priority cover others; among equals, those with a smaller box.
    pub priority: i32,
    /// Factor for the light.
    pub intensity: f32,
    /// An equirectangular texture of the surroundings, as that of the sky.
    pub texture: TextureSlot,
}
