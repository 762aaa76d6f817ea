//! Hand-over between the animation and the bodies of a ragdoll: poses that are held, and bodies
//! that continue their motion.

use super::{BodyVelocity, SPEED_MAX};
use crate::constraints::blend_rotations;
use crate::pose::Pose;
use crate::rigid_transform::RigidTransform;
use crate::skeleton::BoneTransform;
use engine_foundation::Quat;
use engine_foundation::deterministic_math::sin_cos;

/// Moves the local transforms of bones towards those of another pose. `weight` returns the weight
/// of a bone: 0 keeps the bone, 1 takes the other pose. Bones that one of the poses lacks are left.
pub fn hold_pose(pose: &mut Pose, held: &Pose, weight: impl Fn(usize) -> f32) {
    let bones = pose.groups.len().min(held.groups.len()) * 4;
    for bone in 0..bones {
        let weight = weight(bone);
        if weight.is_nan() || weight <= 0.0 {
            continue;
        }
        let weight = weight.min(1.0);
        let (from, to) = (pose.transform(bone), held.transform(bone));
        let transform = BoneTransform {
            position: from.position + (to.position - from.position) * weight,
            rotation: blend_rotations(from.rotation, to.rotation, weight),
            scale: from.scale + (to.scale - from.scale) * weight,
        };
        pose.set(bone, &transform);
    }
}

/// Returns a transform after a number of seconds of a constant velocity.
pub fn advance_transform(
    transform: &RigidTransform,
    velocity: &BodyVelocity,
    seconds: f32,
) -> RigidTransform {
    let (sin, cos) = sin_cos(velocity.angular.length() * seconds * 0.5);
    let axis = velocity.angular.normalize_or_zero() * sin;
    let turn = Quat::from_xyzw(axis.x, axis.y, axis.z, cos);
    RigidTransform {
        position: transform.position + velocity.linear * seconds,
        rotation: (turn * transform.rotation).normalize(),
    }
}

/// Returns true if a body did not move between two transforms, but was placed elsewhere: its speed
/// would be above [`SPEED_MAX`].
pub fn is_teleport(before: &RigidTransform, after: &RigidTransform, seconds: f32) -> bool {
    let distance = (after.position - before.position).length();
    distance.is_nan() || distance > SPEED_MAX * seconds
}

/// Returns a transform that follows its frame: it was `transform` while the frame was `before`.
pub fn follow_frame(
    transform: &RigidTransform,
    before: &RigidTransform,
    now: &RigidTransform,
) -> RigidTransform {
    now.concatenate(&before.inverse().concatenate(transform))
}
