//! Where an effect is, how it is turned and how large it is. One scale for all axes: then spheres
//! stay spheres, and a pose has an inverse of its own kind.

use crate::foundation::{Mat4, Quat, Vec3};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pose {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: f32,
}

impl Pose {
    pub const IDENTITY: Pose = Pose { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: 1.0 };

    /// The pose of a matrix; its scale is the mean of the three.
    pub fn of(matrix: &Mat4) -> Pose {
        let (scale, rotation, position) = matrix.to_scale_rotation_translation();
        // What is flat, such as a node that has shrunk to nothing, has no rotation.
        let rotation = if rotation.is_finite() { rotation } else { Quat::IDENTITY };
        Pose { position, rotation, scale: scale.element_sum() / 3.0 }
    }

    /// This, seen from within `outer`, seen from outside.
    pub fn within(&self, outer: &Pose) -> Pose {
        Pose {
            position: outer.point(self.position),
            rotation: outer.rotation * self.rotation,
            scale: outer.scale * self.scale,
        }
    }

    #[inline(always)]
    pub fn point(&self, point: Vec3) -> Vec3 {
        self.position + self.rotation * (point * self.scale)
    }

    pub fn inverse(&self) -> Pose {
        let (rotation, scale) = (self.rotation.conjugate(), 1.0 / self.scale.max(1e-9));
        Pose { position: rotation * (-self.position * scale), rotation, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flat_is_not_turned() {
        let at = Vec3::new(1.0, 2.0, 3.0);
        let flat = Mat4::from_scale_rotation_translation(Vec3::ZERO, Quat::IDENTITY, at);
        assert_eq!(Pose::of(&flat), Pose { position: at, scale: 0.0, ..Pose::IDENTITY });
    }

    #[test]
    fn an_inverse_leads_back() {
        let (position, rotation) = (Vec3::new(1.0, 2.0, 3.0), Quat::from_rotation_z(1.0));
        let pose = Pose { position, rotation, scale: 2.5 };
        let point = Vec3::new(-4.0, 0.5, 9.0);
        assert!(pose.inverse().point(pose.point(point)).distance(point) < 1e-5);
        let both = pose.inverse().within(&pose);
        assert!(both.position.length() < 1e-5 && (both.scale - 1.0).abs() < 1e-6);
    }
}
