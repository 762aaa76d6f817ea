//! Aim: a bone turns so that one of its axes points at a target, within limits.

use super::{LENGTH_MIN, ModelPose, across, find_bone, perpendicular, shortest_arc, valid_weight};
use crate::skeleton::Skeleton;
use engine_foundation::deterministic_math::{atan2, sin_cos};
use engine_foundation::{Error, Vec3, error};
use std::f32::consts::PI;

/// Largest angles by which a bone turns away from its animated direction, in radians.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AimLimits {
    /// To the left and to the right, 0 to π.
    pub yaw: f32,
    /// Up and down, 0 to π / 2.
    pub pitch: f32,
}

impl AimLimits {
    /// 70° to the sides, 45° up and down.
    pub const DEFAULT: AimLimits = AimLimits { yaw: 1.22, pitch: 0.785 };
    /// No limit.
    pub const NONE: AimLimits = AimLimits { yaw: PI, pitch: PI / 2.0 };
}

/// Bone that looks or aims at a target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Aim {
    pub(super) bone: u16,
    /// Axis of the bone that points at the target, in the bone's space, of length 1.
    axis: Vec3,
    limits: AimLimits,
}

impl Aim {
    /// Creates an aim of a bone by name. `axis` is in the space of the bone.
    ///
    /// # Errors
    /// Fails if the bone does not exist, if the axis has no direction, or if a limit is outside of
    /// its range.
    pub fn new(
        skeleton: &Skeleton,
        bone: &str,
        axis: Vec3,
        limits: AimLimits,
    ) -> Result<Aim, Error> {
        let bone = find_bone(skeleton, bone)?;
        let axis = axis
            .try_normalize()
            .ok_or_else(|| error!("the axis {axis} of the aim has no direction: use [0, 1, 0]"))?;
        for (name, limit, most) in
            [("yaw", limits.yaw, PI), ("pitch", limits.pitch, std::f32::consts::FRAC_PI_2)]
        {
            if !(0.0..=most + 1e-4).contains(&limit) {
                return Err(error!(
                    "the limit '{name}' of the aim is {limit}: use radians from 0 to {most}"
                ));
            }
        }
        Ok(Aim { bone, axis, limits })
    }

    /// Points the bone at a target in model space, in metres. A target beyond the limit of the yaw
    /// fades the turn out towards the direction behind the bone, so that a target that passes there
    /// moves the bone smoothly from one side to the other.
    pub fn apply(&self, rig: &mut ModelPose, target: Vec3, weight: f32) {
        let Some(weight) = valid_weight(weight) else { return };
        let wanted = target - rig.origin(self.bone);
        if !wanted.is_finite() || wanted.length() <= LENGTH_MIN {
            return;
        }
        let parent = rig.parent_rotation(self.bone);
        let local = rig.pose.transform(usize::from(self.bone)).rotation;
        let forward = (parent * local * self.axis).normalize_or(Vec3::Y);
        let limited = self.limited(forward, wanted);
        rig.turn(self.bone, parent, shortest_arc(forward, limited), weight);
        rig.update_subtree(self.bone);
    }

    /// Returns the direction within the limits that is nearest to `wanted`.
    fn limited(&self, forward: Vec3, wanted: Vec3) -> Vec3 {
        let up = across(Vec3::Z, forward).unwrap_or_else(|| perpendicular(forward));
        let right = forward.cross(up);
        let (along, aside, above) = (wanted.dot(forward), wanted.dot(right), wanted.dot(up));
        let yaw = atan2(aside, along);
        let pitch = atan2(above, (along * along + aside * aside).sqrt());
        let AimLimits { yaw: yaw_max, pitch: pitch_max } = self.limits;
        if yaw.abs() <= yaw_max && pitch.abs() <= pitch_max {
            return wanted;
        }
        let beyond = yaw.abs() - yaw_max;
        let fade = match beyond > 0.0 && yaw_max < PI {
            true => (1.0 - beyond / (PI - yaw_max)).clamp(0.0, 1.0),
            false => 1.0,
        };
        let (sin_yaw, cos_yaw) = sin_cos(yaw.clamp(-yaw_max, yaw_max) * fade);
        let (sin_pitch, cos_pitch) = sin_cos(pitch.clamp(-pitch_max, pitch_max) * fade);
        (forward * cos_yaw + right * sin_yaw) * cos_pitch + up * sin_pitch
    }
}
