//! Fog volumes in a packet: boxes and spheres of a scene that are filled with fog.

use super::scene::DrawTransform;

/// Maximum number of fog volumes in one scene.
pub const FOG_VOLUMES_MAX: usize = 1024;
/// Maximum number of fog volumes in one view: those that are nearest to the camera.
pub const VIEW_FOG_VOLUMES_MAX: usize = 32;

/// The shape of a fog volume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FogShape {
    Box,
    /// The sphere that touches the sides of the box; an ellipsoid if they have different lengths.
    Sphere,
}

/// A box or a sphere of fog.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FogVolumeFrame {
    /// Transform of the box: from the cube between -1 and 1 to world space.
    pub pose: DrawTransform,
    pub shape: FogShape,
    /// Share of the light that the fog absorbs and scatters per meter.
    pub density: f32,
    /// The part of that light which it scatters: linear red, green and blue.
    pub color: [f32; 3],
    /// Light of its own: the color of endless fog without other light.
    pub emission: [f32; 3],
    /// Distance in meters from the surface of the volume, inwards, over which the fog fades in.
    pub blend_distance: f32,
}
