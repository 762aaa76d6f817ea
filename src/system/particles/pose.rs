//! Transform of an effect: position, rotation and a uniform scale. With a uniform scale, spheres
//! stay spheres, and the inverse of a transform is a transform of the same type.

use engine_foundation::{Mat4, Quat, Vec3};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EffectTransform {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: f32,
}

impl EffectTransform {
    pub const IDENTITY: EffectTransform =
        EffectTransform { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: 1.0 };

    /// Converts a matrix. The scale is the mean of the three axes.
    pub fn of(matrix: &Mat4) -> EffectTransform {
        let (scale, rotation, position) = matrix.to_scale_rotation_translation();
        // A degenerate matrix, such as that of a node with scale 0, has no rotation.
        let rotation = if rotation.is_finite() { rotation } else { Quat::IDENTITY };
        EffectTransform { position, rotation, scale: scale.element_sum() / 3.0 }
    }

    /// Converts this transform from the space of `outer` to the space that `outer` is in.
    pub fn in_parent_space(&self, outer: &EffectTransform) -> EffectTransform {
        EffectTransform {
            position: outer.point(self.position),
            rotation: outer.rotation * self.rotation,
            scale: outer.scale * self.scale,
        }
    }

    #[inline(always)]
    pub fn point(&self, point: Vec3) -> Vec3 {
        self.position + self.rotation * (point * self.scale)
    }

    pub fn inverse(&self) -> EffectTransform {
        let (rotation, scale) = (self.rotation.conjugate(), 1.0 / self.scale.max(1e-9));
        EffectTransform { position: rotation * (-self.position * scale), rotation, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_transforms_are_not_rotated() {
        let at = Vec3::new(1.0, 2.0, 3.0);
        let flat = Mat4::from_scale_rotation_translation(Vec3::ZERO, Quat::IDENTITY, at);
        assert_eq!(
            EffectTransform::of(&flat),
            EffectTransform { position: at, scale: 0.0, ..EffectTransform::IDENTITY }
        );
    }

    #[test]
    fn an_inverse_undoes_its_pose() {
        let (position, rotation) = (Vec3::new(1.0, 2.0, 3.0), Quat::from_rotation_z(1.0));
        let pose = EffectTransform { position, rotation, scale: 2.5 };
        let point = Vec3::new(-4.0, 0.5, 9.0);
        assert!(pose.inverse().point(pose.point(point)).distance(point) < 1e-5);
        let both = pose.inverse().in_parent_space(&pose);
        assert!(both.position.length() < 1e-5 && (both.scale - 1.0).abs() < 1e-6);
    }
}
