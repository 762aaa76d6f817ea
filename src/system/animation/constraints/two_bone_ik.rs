//! Inverse kinematics of two bones: an upper and a middle bone turn so that the end bone reaches a
//! target, as a leg or an arm does. The solution is closed, by the law of cosines.

use super::limb_bend::LimbBend;
use super::{
    LENGTH_MIN, ModelPose, across, check_below, find_bone, perpendicular, shortest_arc,
    valid_weight,
};
use crate::skeleton::Skeleton;
use crate::{Pose, model_matrices};
use engine_foundation::{Error, Quat, Vec3, error};

/// Maximum part of the length over which a limb slows down before it is straight.
const SOFTNESS_MAX: f32 = 0.5;

/// Distance of the middle joint from the line between the other two, as a part of the upper bone's
/// length, up to which a limb counts as straight, and from which on it is clearly bent.
const STRAIGHT_PART: f32 = 0.02;
const BENT_PART: f32 = 0.12;
/// The same part from which on a limb with a state follows the side to which it is bent. Below, it
/// keeps its own.
const FOLLOWED_PART: f32 = 0.05;

/// Chain of two bones, for example a thigh and a shin that move a foot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TwoBoneIk {
    pub(super) upper: u16,
    pub(super) middle: u16,
    pub(super) end: u16,
    /// Part of the limb's length over which it approaches its full length, 0 to 0.5. With 0, a limb
    /// snaps straight when its target leaves its reach.
    softness: f32,
    /// Direction in which the middle joint bends in the rest pose, in the space of the upper bone.
    /// `None` if it is straight there.
    rest_side: Option<Vec3>,
    /// Direction across the limb in the space of the upper bone, from which angles of
    /// [`LimbBend`] are measured.
    start_side: Vec3,
}

/// Target of a chain of two bones, in model space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IkTarget {
    /// Position of the end bone in metres.
    pub position: Vec3,
    /// Direction in which the middle joint bends. `None` keeps the plane in which it is bent; of a
    /// limb that is nearly straight, that of the rest pose, which turns with the upper bone.
    pub pole: Option<Vec3>,
    /// Rotation of the end bone. `None` keeps its rotation relative to the middle bone.
    pub rotation: Option<Quat>,
}

impl TwoBoneIk {
    /// Creates a chain of three bones by name. Bones between them are possible (twist bones).
    ///
    /// # Errors
    /// Fails if a bone does not exist, if the bones are not below each other, or if `softness` is
    /// not between 0 and 0.5.
    pub fn new(
        skeleton: &Skeleton,
        [upper, middle, end]: [&str; 3],
        softness: f32,
    ) -> Result<TwoBoneIk, Error> {
        let upper = find_bone(skeleton, upper)?;
        let middle = find_bone(skeleton, middle)?;
        let end = find_bone(skeleton, end)?;
        check_below(skeleton, upper, middle)?;
        check_below(skeleton, middle, end)?;
        if !(0.0..=SOFTNESS_MAX).contains(&softness) {
            return Err(error!("'softness' is {softness}: use a number from 0 to {SOFTNESS_MAX}"));
        }
        let (mut pose, mut matrices) = (Pose::rest(skeleton), Vec::new());
        model_matrices(skeleton, &pose, &mut matrices);
        let rest = ModelPose { skeleton, pose: &mut pose, matrices: &mut matrices };
        let start = rest.origin(upper);
        let whole = (rest.origin(end) - start).try_normalize();
        let side = whole.and_then(|whole| across(rest.origin(middle) - start, whole));
        let rest_side = side.map(|side| rest.rotation(upper).conjugate() * side);
        let lone = || rest.rotation(upper).conjugate() * perpendicular(whole.unwrap_or(Vec3::Z));
        let start_side = rest_side.unwrap_or_else(lone);
        Ok(TwoBoneIk { upper, middle, end, softness, rest_side, start_side })
    }

    /// Moves the end bone to the target, or as near as the bones reach. A weight between 0 and 1
    /// applies a part of the change. Bones without length and targets that are not finite change
    /// nothing.
    pub fn apply(&self, rig: &mut ModelPose, target: &IkTarget, weight: f32) {
        self.apply_over_time(rig, target, (&mut LimbBend::UNKNOWN.clone(), 0.0), weight);
    }

    /// Moves the end bone as [`TwoBoneIk::apply`] does. Without a pole, the direction in which the
    /// middle joint bends follows that of the pose over a number of seconds, so that the joint does
    /// not jump when the pose bends it to its other side. Without a weight, or with a pole, it
    /// begins again.
    pub fn apply_over_time(
        &self,
        rig: &mut ModelPose,
        target: &IkTarget,
        (bend, seconds): (&mut LimbBend, f32),
        weight: f32,
    ) {
        let valid = valid_weight(weight);
        if valid.is_none() || target.pole.is_some() {
            *bend = LimbBend::UNKNOWN;
        }
        let Some(weight) = valid else { return };
        let Some((first, second)) = self.solve(rig, target, (bend, seconds)) else { return };
        let end_rotation = target.rotation.filter(|it| it.is_finite() && it.length_squared() > 0.5);
        let upper_parent = rig.parent_rotation(self.upper);
        let middle_parent = (first * rig.parent_rotation(self.middle)).normalize();
        let end_parent = (second * first * rig.parent_rotation(self.end)).normalize();
        rig.turn(self.upper, upper_parent, first, weight);
        rig.turn(self.middle, middle_parent, second, weight);
        if let Some(rotation) = end_rotation {
            let local = end_parent.conjugate() * rotation.normalize();
            rig.set_local_rotation(self.end, local, weight);
        }
        rig.update_subtree(self.upper);
    }

    /// Returns the rotations of the upper and of the middle bone in model space.
    fn solve(
        &self,
        rig: &ModelPose,
        target: &IkTarget,
        (bend, seconds): (&mut LimbBend, f32),
    ) -> Option<(Quat, Quat)> {
        let (start, middle, end) =
            (rig.origin(self.upper), rig.origin(self.middle), rig.origin(self.end));
        let (upper_bone, lower_bone) = (middle - start, end - middle);
        let (upper, lower) = (upper_bone.length(), lower_bone.length());
        let wanted = target.position - start;
        let lengths = [upper, lower, wanted.length()];
        if !lengths.iter().all(|length| length.is_finite() && *length > LENGTH_MIN) {
            return None;
        }
        let direction = wanted.normalize();
        let current = (end - start).length();
        let distance = self.reached(wanted.length(), upper + lower, current);
        let distance = distance.max((upper - lower).abs());
        let distance = distance.min(upper + lower).max(LENGTH_MIN);
        let whole = end - start;
        let from_pole = target.pole.and_then(|pole| across(pole, direction));
        let side = from_pole
            .or_else(|| self.bend_side(rig, direction, (upper_bone, whole), (bend, seconds)))
            .unwrap_or_else(|| perpendicular(direction));
        let along = (upper * upper - lower * lower + distance * distance) / (2.0 * distance);
        let along = along.clamp(-upper, upper);
        let aside = (upper * upper - along * along).max(0.0).sqrt();
        let new_upper = direction * along + side * aside;
        let first = shortest_arc(upper_bone, new_upper);
        let new_lower = direction * distance - new_upper;
        let second = shortest_arc(first * lower_bone, new_lower);
        (first.is_finite() && second.is_finite()).then_some((first, second))
    }

    /// Returns the distance that the end reaches towards a target: the target's, or with softness
    /// a curve that approaches the full length without a corner. A limb that is already straighter
    /// is not bent: its curve begins at its current distance.
    fn reached(&self, distance: f32, length: f32, current: f32) -> f32 {
        let soft = (self.softness * length).min(length - current);
        let beyond = distance - (length - soft);
        if soft <= 0.0 || beyond <= 0.0 {
            return distance.min(length);
        }
        length - soft / (1.0 + beyond / soft)
    }

    /// Returns the direction, perpendicular to that of the target, in which the middle joint bends
    /// without a pole. The plane of a limb that is nearly straight can turn around at any time, and
    /// that of its rest pose cannot.
    fn bend_side(
        &self,
        rig: &ModelPose,
        direction: Vec3,
        (upper, whole): (Vec3, Vec3),
        (bend, seconds): (&mut LimbBend, f32),
    ) -> Option<Vec3> {
        let old_direction = whole.try_normalize()?;
        let rotation = rig.rotation(self.upper);
        let aside = upper - old_direction * old_direction.dot(upper);
        let bent = aside.length() / upper.length();
        let part = ((bent - STRAIGHT_PART) / (BENT_PART - STRAIGHT_PART)).clamp(0.0, 1.0);
        let current = across(upper, old_direction);
        let side = match self.rest_side {
            Some(rest) if part < 1.0 => {
                let rest = across(rotation * rest, old_direction);
                match (current, rest) {
                    (Some(current), Some(rest)) => {
                        across(current * part + rest * (1.0 - part), old_direction).or(Some(rest))
                    }
                    (current, rest) => rest.or(current),
                }
            }
            _ => current,
        };
        let wanted = match bend.is_known() {
            true => current.filter(|_| bent > FOLLOWED_PART),
            false => Some(side?),
        };
        let start = across(rotation * self.start_side, old_direction);
        let start = start.unwrap_or_else(|| perpendicular(old_direction));
        let side = bend.follow(wanted, (old_direction, start), seconds);
        across(shortest_arc(old_direction, direction) * side, direction)
    }
}
