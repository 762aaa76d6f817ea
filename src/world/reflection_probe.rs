//! Reflection probes of worlds, as scripts set them. Stores settings only: the transfer to the
//! renderer is in src/engine/reflection_probes.rs.

use engine_foundation::{Mat4, Quat, Vec3};

/// A reflection probe.
#[derive(Clone, PartialEq, Debug)]
pub struct ReflectionProbe {
    /// Position, rotation and size of its box, in metres.
    pub position: Vec3,
    pub rotation: Quat,
    pub size: Vec3,
    /// Position from which the texture shows the surroundings.
    pub center: Vec3,
    /// Name of the texture.
    pub texture: String,
    /// Distance over which it fades in from the sides inwards, in metres.
    pub blend_distance: f32,
    /// The higher one covers others.
    pub priority: i32,
    /// Factor for its light.
    pub intensity: f32,
}

impl ReflectionProbe {
    /// Returns the transform from the cube between -1 and 1 to the box.
    pub fn box_transform(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.size / 2.0, self.rotation, self.position)
    }
}
