//! Constraints: changes of a pose after its clips were blended, by targets in model space. Each
//! constraint changes the local transforms of its bones and then the matrices of their descendants.
//! Invalid targets (NaN, a bone's own origin) leave the pose as it is.
//!
//! Constraints are exact if the parents of their bones have a uniform scale without mirroring.
//! Uses only + - * / and square roots, and the functions of `deterministic_math`.

mod aim;
mod constraint_save;
mod constraint_set;
#[cfg(test)]
mod constraint_set_tests;
mod copy;
mod follower;
mod foot_placement;
#[cfg(test)]
mod knee_tests;
mod limb_bend;
mod spring;
#[cfg(test)]
mod tests;
mod two_bone_ik;

use super::palette::{ModelMatrix, local_matrices};
use super::pose::Pose;
use super::skeleton::{BONES_MAX, Skeleton};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Mat3, Quat, Vec3, Vec4, error};

pub use aim::{Aim, AimLimits};
pub use constraint_set::{ConstraintInput, ConstraintSet, ConstraintSetState, ConstraintTarget};
pub use copy::{CopyBone, MoveBone};
pub use follower::{FollowLimits, Follower};
pub use foot_placement::{
    FEET_MAX, FootGround, FootPlacement, FootPlacementSettings, FootPlacementState, Leg,
};
pub use limb_bend::LimbBend;
pub use spring::{SPRING_BONES_MAX, SPRING_STEP_SECONDS, SpringChain, SpringSettings, SpringState};
pub use two_bone_ik::{IkTarget, TwoBoneIk};

/// Vectors shorter than this have no direction, in metres.
const LENGTH_MIN: f32 = 1e-6;

/// Pose of a character with its matrices, in which constraints change bones.
pub struct ModelPose<'a> {
    pub skeleton: &'a Skeleton,
    /// Local transforms.
    pub pose: &'a mut Pose,
    /// Matrices from each bone's space into the model's, as
    /// [`model_matrices`](super::model_matrices) writes them.
    pub matrices: &'a mut [ModelMatrix],
}

impl ModelPose<'_> {
    /// Returns the origin of a bone in model space, in metres.
    pub fn origin(&self, bone: u16) -> Vec3 {
        let rows = &self.matrices[usize::from(bone)].0;
        Vec3::new(rows[0].0[3], rows[1].0[3], rows[2].0[3])
    }

    /// Returns the rotation of a bone in model space.
    pub fn rotation(&self, bone: u16) -> Quat {
        let local = self.pose.transform(usize::from(bone)).rotation;
        (self.parent_rotation(bone) * local).normalize()
    }

    /// Returns the rotation of a bone's parent in model space. The cost grows with the depth of the
    /// bone.
    pub fn parent_rotation(&self, bone: u16) -> Quat {
        let parents = self.skeleton.parents();
        let mut rotation = Quat::IDENTITY;
        let mut next = parents[usize::from(bone)];
        while let Some(parent) = next {
            rotation = self.pose.transform(usize::from(parent)).rotation * rotation;
            next = parents[usize::from(parent)];
        }
        rotation.normalize()
    }

    /// Converts a point from model space into the space of a bone's parent. Returns `None` if the
    /// parent has a scale of 0.
    pub fn to_parent_space(&self, bone: u16, point: Vec3) -> Option<Vec3> {
        let Some(parent) = self.skeleton.parents()[usize::from(bone)] else { return Some(point) };
        let [x, y, z] = self.matrices[usize::from(parent)].0.map(|row| row.0);
        let columns = Mat3::from_cols(
            Vec3::new(x[0], y[0], z[0]),
            Vec3::new(x[1], y[1], z[1]),
            Vec3::new(x[2], y[2], z[2]),
        );
        let determinant = columns.determinant();
        if !determinant.is_finite() || determinant.abs() < 1e-18 {
            return None;
        }
        let local = columns.inverse() * (point - self.origin(parent));
        local.is_finite().then_some(local)
    }

    /// Turns a bone around its origin by a rotation in model space, and updates no matrix. A weight
    /// of 0 changes nothing, 1 applies the whole rotation.
    fn turn(&mut self, bone: u16, parent_rotation: Quat, rotation: Quat, weight: f32) {
        let local = self.pose.transform(usize::from(bone)).rotation;
        let turned = parent_rotation.conjugate() * rotation * parent_rotation * local;
        self.set_local_rotation(bone, turned, weight);
    }

    pub(crate) fn set_local_rotation(&mut self, bone: u16, rotation: Quat, weight: f32) {
        let mut transform = self.pose.transform(usize::from(bone));
        transform.rotation = blend_rotations(transform.rotation, rotation, weight);
        if transform.rotation.is_finite() {
            self.pose.set(usize::from(bone), &transform);
        }
    }

    /// Moves a bone to a point in model space and updates the matrices. A parent with a scale of 0
    /// and a point that is not finite change nothing.
    pub fn move_to(&mut self, bone: u16, point: Vec3, weight: f32) {
        let Some(weight) = valid_weight(weight) else { return };
        if !point.is_finite() {
            return;
        }
        let point = self.origin(bone) + (point - self.origin(bone)) * weight;
        if let Some(local) = self.to_parent_space(bone, point) {
            let mut transform = self.pose.transform(usize::from(bone));
            transform.position = local;
            self.pose.set(usize::from(bone), &transform);
            self.update_subtree(bone);
        }
    }

    /// Recomputes the matrices of a bone and of its descendants from their local transforms. Reads
    /// the list of parents from the bone on.
    pub fn update_subtree(&mut self, bone: u16) {
        let start = usize::from(bone);
        let mut inside = [0_u64; BONES_MAX.div_ceil(64)];
        let parents = self.skeleton.parents();
        for index in start..self.skeleton.bone_count() {
            let parent = parents[index].map(usize::from);
            let affected = index == start
                || parent.is_some_and(|it| it >= start && inside[it / 64] & 1 << (it % 64) != 0);
            if !affected {
                continue;
            }
            inside[index / 64] |= 1 << (index % 64);
            let local = local_matrices(&self.pose.groups[index / 4])[index % 4];
            self.matrices[index] = match parent {
                Some(parent) => self.matrices[parent].concatenate(&local),
                None => local,
            };
        }
    }
}

/// Weight that moves towards a target at a constant rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FadeWeight {
    pub current: f32,
    /// Between 0 and 1.
    pub target: f32,
    /// Seconds from 0 to 1. A fade of 0 seconds reaches its target at once.
    pub seconds: f32,
}

impl FadeWeight {
    /// Advances by a number of seconds and returns the weight. NaN counts as 0.
    pub fn step(&mut self, seconds: f32) -> f32 {
        let target = if self.target > 0.0 { self.target.min(1.0) } else { 0.0 };
        let current = if self.current > 0.0 { self.current.min(1.0) } else { 0.0 };
        self.current = match self.seconds > 0.0 {
            true => approach(current, target, seconds / self.seconds),
            false => target,
        };
        self.current
    }
}

/// Returns `current` moved towards `target` by at most `change`. A change that is not above 0 moves
/// nothing.
fn approach(current: f32, target: f32, change: f32) -> f32 {
    let difference = target - current;
    if change.is_nan() || change <= 0.0 {
        return current;
    }
    match difference.abs() <= change {
        true => target,
        false if difference > 0.0 => current + change,
        false => current - change,
    }
}

/// Returns a weight above 0, limited to 1, or `None` if there is nothing to do.
fn valid_weight(weight: f32) -> Option<f32> {
    (weight > 0.0).then(|| weight.min(1.0))
}

/// Interpolates along the shorter arc, without constant speed.
pub(crate) fn blend_rotations(from: Quat, to: Quat, weight: f32) -> Quat {
    let (from, to) = (Vec4::from(from), Vec4::from(to));
    let to = if from.dot(to) < 0.0 { -to } else { to };
    Quat::from_vec4((from + (to - from) * weight).normalize_or(Vec4::W))
}

/// Returns the shortest rotation from one direction to another. The vectors have any length; one
/// without direction gives no rotation. Opposite directions turn around an axis that is
/// perpendicular to both.
pub(crate) fn shortest_arc(from: Vec3, to: Vec3) -> Quat {
    let (from, to) = (from.normalize_or_zero(), to.normalize_or_zero());
    if from == Vec3::ZERO || to == Vec3::ZERO {
        return Quat::IDENTITY;
    }
    let real = 1.0 + from.dot(to);
    if real < 1e-6 {
        let axis = perpendicular(from);
        return Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    let axis = from.cross(to);
    Quat::from_xyzw(axis.x, axis.y, axis.z, real).normalize()
}

/// Returns a direction that is perpendicular to a vector of length 1: forward if possible, because
/// the knees and elbows of most characters bend along that axis.
fn perpendicular(direction: Vec3) -> Vec3 {
    let axis = if direction.y.abs() < 0.9 { Vec3::Y } else { Vec3::Z };
    (axis - direction * direction.dot(axis)).normalize_or(Vec3::X)
}

/// Returns the part of a vector that is perpendicular to a direction of length 1, as a direction,
/// or `None` if there is none.
fn across(vector: Vec3, direction: Vec3) -> Option<Vec3> {
    let part = vector - direction * direction.dot(vector);
    let enough = part.is_finite() && part.length() > 1e-3 * vector.length();
    enough.then(|| part.try_normalize()).flatten()
}

/// Finds a bone of a constraint by its name.
fn find_bone(skeleton: &Skeleton, name: &str) -> Result<u16, Error> {
    skeleton.find(name).ok_or_else(|| {
        let names = skeleton.names().iter().map(String::as_str);
        error!("bone '{name}' does not exist in the skeleton{}", hint(name, names))
    })
}

/// Fails if `bone` is not below `ancestor`.
fn check_below(skeleton: &Skeleton, ancestor: u16, bone: u16) -> Result<(), Error> {
    let mut next = skeleton.parents()[usize::from(bone)];
    while let Some(parent) = next {
        if parent == ancestor {
            return Ok(());
        }
        next = skeleton.parents()[usize::from(parent)];
    }
    let name = |bone: u16| &skeleton.names()[usize::from(bone)];
    Err(error!(
        "bone '{}' is not below '{}': list the bones from the body to the tip",
        name(bone),
        name(ancestor)
    ))
}
