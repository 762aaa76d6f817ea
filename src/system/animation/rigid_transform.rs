//! Rigid transforms: movements of the root, and positions of bodies.

use engine_foundation::{Quat, Vec3, Vec4};

/// Rigid movement: a rotation, then a translation in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RigidTransform {
    pub position: Vec3,
    /// Quaternion of length 1.
    pub rotation: Quat,
}

impl RigidTransform {
    pub const IDENTITY: RigidTransform =
        RigidTransform { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// Returns the movement that applies `inner` first. In the frame of the character, this is
    /// `self` followed by `inner`.
    pub fn concatenate(&self, inner: &RigidTransform) -> RigidTransform {
        RigidTransform {
            position: self.position + self.rotation * inner.position,
            rotation: (self.rotation * inner.rotation).normalize(),
        }
    }

    pub fn inverse(&self) -> RigidTransform {
        let rotation = self.rotation.conjugate();
        RigidTransform { position: -(rotation * self.position), rotation }
    }

    /// Returns this movement, repeated. A negative count reverses it. The cost grows with the
    /// logarithm of the count.
    pub(crate) fn repeat(&self, count: i32) -> RigidTransform {
        let mut factor = if count < 0 { self.inverse() } else { *self };
        let mut left = count.unsigned_abs();
        let mut result = RigidTransform::IDENTITY;
        while left > 0 {
            if left % 2 == 1 {
                result = result.concatenate(&factor);
            }
            factor = factor.concatenate(&factor);
            left /= 2;
        }
        result
    }

    /// Returns a part of this movement: 0 is no movement, 1 the whole. The rotation takes the
    /// shorter arc. A weight that is not between 0 and 1 is limited; NaN is 0.
    pub fn weighted(&self, weight: f32) -> RigidTransform {
        let weight = if weight > 0.0 { weight.min(1.0) } else { 0.0 };
        let whole = Vec4::from(self.rotation);
        let whole = if whole.w < 0.0 { -whole } else { whole };
        let part = (Vec4::W + (whole - Vec4::W) * weight).normalize_or(Vec4::W);
        RigidTransform { position: self.position * weight, rotation: Quat::from_vec4(part) }
    }
}
