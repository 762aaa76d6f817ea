//! Ragdolls: bodies and joints of a skeleton, and the conversion between poses and the transforms
//! of bodies. Simulates nothing; the frame of each body is that of its bone, so that a conversion
//! there and back changes nothing.

mod generate;
mod hand_over;
#[cfg(test)]
mod tests;

use super::constraints::ModelPose;
use super::rigid_transform::RigidTransform;
use super::skeleton::{BoneTransform, Skeleton};
use engine_foundation::deterministic_math::atan2;
use engine_foundation::{Quat, Vec3};

pub use generate::{BoneShape, DescribedBody, RagdollSettings};
pub use hand_over::{advance_transform, follow_frame, hold_pose, is_teleport};

/// Maximum number of bodies of a ragdoll.
pub const BODIES_MAX: usize = 64;
/// Maximum speed at a hand-over, in metres per second.
pub const SPEED_MAX: f32 = 50.0;
/// Maximum angular speed at a hand-over, in radians per second.
pub const ANGULAR_SPEED_MAX: f32 = 50.0;

/// Shape of a body around its own center, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum BodyShape {
    /// Capsule along z. `half_height` is half the distance between the centers of its ends.
    Capsule {
        half_height: f32,
        radius: f32,
    },
    /// Box with half its extents.
    Box {
        half: Vec3,
    },
    Sphere {
        radius: f32,
    },
}

/// Body of a bone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RagdollBody {
    pub bone: u16,
    /// Index of the body that it is connected to; smaller than its own index. Only the first body
    /// has none.
    pub parent: Option<u16>,
    pub shape: BodyShape,
    /// Center and rotation of the shape in the frame of the bone, in metres.
    pub offset: RigidTransform,
    /// Kilograms.
    pub mass: f32,
    /// Limits of the joint with the parent.
    pub limits: JointLimits,
    /// Position of the joint in the frame of the parent's bone in the rest pose, in metres. In the
    /// frame of the body's own bone, the joint is at the origin.
    pub anchor: Vec3,
    /// Rotation of the bone relative to the parent's bone in the rest pose.
    pub rest_rotation: Quat,
    /// Direction of the bone in its own frame: the axis of its twist.
    pub axis: Vec3,
}

/// Limits of a joint, relative to the rest pose, in radians.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum JointLimits {
    /// The bone leaves the direction of its rest pose by at most `swing`, and turns around its own
    /// axis by at most `twist` to each side. Both are 0 to π.
    Ball { swing: f32, twist: f32 },
    /// The bone turns around an axis of its own frame, from the first angle to the second.
    Hinge { axis: Vec3, angles: [f32; 2] },
}

impl JointLimits {
    /// 45° of swing and 20° of twist.
    pub const DEFAULT: JointLimits = JointLimits::Ball { swing: 0.785, twist: 0.35 };
}

/// Velocity of a body at the origin of its bone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BodyVelocity {
    /// Metres per second.
    pub linear: Vec3,
    /// Radians per second around each axis of the world.
    pub angular: Vec3,
}

impl BodyVelocity {
    pub const ZERO: BodyVelocity = BodyVelocity { linear: Vec3::ZERO, angular: Vec3::ZERO };

    /// Returns the velocity of a point of the body, by its offset from the origin of the bone in
    /// world space: for example of the center of mass, at which physics sets velocities.
    pub fn at(&self, offset: Vec3) -> Vec3 {
        self.linear + self.angular.cross(offset)
    }
}

/// Bodies and joints of a skeleton. A joint connects each body with its parent.
#[derive(Clone, PartialEq, Debug)]
pub struct Ragdoll {
    /// Parents before children.
    bodies: Vec<RagdollBody>,
}

impl Ragdoll {
    pub fn bodies(&self) -> &[RagdollBody] {
        &self.bodies
    }

    /// Returns the index of the body that moves a bone: its own, or that of the nearest parent.
    pub fn body_of(&self, skeleton: &Skeleton, bone: u16) -> Option<usize> {
        let mut next = Some(bone);
        while let Some(current) = next {
            if let Some(index) = self.bodies.iter().position(|body| body.bone == current) {
                return Some(index);
            }
            next = *skeleton.parents().get(usize::from(current))?;
        }
        None
    }

    /// Returns the indices of a body and of all bodies below it: a partial ragdoll.
    pub fn below(&self, body: usize) -> Vec<usize> {
        let mut inside = vec![false; self.bodies.len()];
        for index in body..self.bodies.len() {
            let parent = self.bodies[index].parent.map(usize::from);
            inside[index] = index == body || parent.is_some_and(|parent| inside[parent]);
        }
        (0..self.bodies.len()).filter(|index| inside[*index]).collect()
    }

    /// Writes the transform of each body in world space. `world` is the transform of the character,
    /// with a uniform scale.
    pub fn bodies_of_pose(
        &self,
        rig: &ModelPose,
        world: &BoneTransform,
        transforms: &mut Vec<RigidTransform>,
    ) {
        let rotations = self.rotations(rig);
        transforms.clear();
        transforms.extend(self.bodies.iter().zip(rotations).map(|(body, rotation)| {
            RigidTransform {
                position: world.position + world.rotation * (world.scale * rig.origin(body.bone)),
                rotation: (world.rotation * rotation).normalize(),
            }
        }));
    }

    /// Returns the rotation of the bone of each body in model space. Bones between two bodies are
    /// read once.
    fn rotations(&self, rig: &ModelPose) -> [Quat; BODIES_MAX] {
        let mut rotations = [Quat::IDENTITY; BODIES_MAX];
        let parents = rig.skeleton.parents();
        for (index, body) in self.bodies.iter().enumerate() {
            let above = body.parent.map(usize::from);
            let end = above.map(|above| self.bodies[above].bone);
            let mut rotation = Quat::IDENTITY;
            let mut next = Some(body.bone);
            while let Some(bone) = next.filter(|bone| Some(*bone) != end) {
                rotation = rig.pose.transform(usize::from(bone)).rotation * rotation;
                next = parents[usize::from(bone)];
            }
            let start = above.map_or(Quat::IDENTITY, |above| rotations[above]);
            rotations[index] = (start * rotation).normalize();
        }
        rotations
    }

    /// Moves bones to the transforms of their bodies in world space, and updates the matrices. The
    /// first body sets the position of its bone; the others set rotations only, so that bones keep
    /// their lengths. Bones without bodies keep their local transforms.
    ///
    /// `weights` has a number from 0 (the pose stays) to 1 (the body) for each body; missing ones
    /// are 0. Transforms that are not finite change nothing.
    pub fn pose_of_bodies(
        &self,
        rig: &mut ModelPose,
        world: &BoneTransform,
        transforms: &[RigidTransform],
        weights: &[f32],
    ) {
        let back = world.rotation.conjugate();
        let scale = world.scale.abs().max_element();
        if !(scale > 1e-6 && scale.is_finite() && back.is_finite()) {
            return;
        }
        for ((index, body), (transform, weight)) in
            self.bodies.iter().enumerate().zip(transforms.iter().zip(weights))
        {
            let weight = if *weight > 0.0 { weight.min(1.0) } else { continue };
            let rotation = back * transform.rotation;
            if !(rotation.is_finite() && rotation.length_squared() > 0.5) {
                continue;
            }
            let position = back * (transform.position - world.position) / world.scale;
            let parent = rig.parent_rotation(body.bone);
            rig.set_local_rotation(body.bone, parent.conjugate() * rotation.normalize(), weight);
            if index == 0 && position.is_finite() {
                rig.move_to(body.bone, position, weight);
            }
        }
        if let Some(first) = self.bodies.first() {
            rig.update_subtree(first.bone);
        }
    }

    /// Writes the rotation of each body relative to its parent in the pose: the targets of the
    /// motors of a powered ragdoll. That of the first body is its rotation in model space.
    pub fn motor_targets(&self, rig: &ModelPose, targets: &mut Vec<Quat>) {
        let rotations = self.rotations(rig);
        targets.clear();
        targets.extend(self.bodies.iter().zip(rotations).map(|(body, own)| match body.parent {
            Some(parent) => (rotations[usize::from(parent)].conjugate() * own).normalize(),
            None => own,
        }));
    }
}

/// Returns the velocity of a body that moved between two transforms in a number of seconds, limited
/// to [`SPEED_MAX`] and [`ANGULAR_SPEED_MAX`]. The rotation takes the shorter arc. A time that is
/// not above 0, and transforms that are not finite, give no velocity.
pub fn hand_over_velocity(
    before: &RigidTransform,
    after: &RigidTransform,
    seconds: f32,
) -> BodyVelocity {
    let linear = (after.position - before.position) / seconds;
    let turned = after.rotation * before.rotation.conjugate();
    let turned = if turned.w < 0.0 { -turned } else { turned };
    let axis = Vec3::new(turned.x, turned.y, turned.z);
    let angle = 2.0 * atan2(axis.length(), turned.w);
    let angular = axis.normalize_or_zero() * (angle / seconds);
    let valid = seconds > 0.0 && seconds.is_finite();
    if !valid || !linear.is_finite() || !angular.is_finite() {
        return BodyVelocity::ZERO;
    }
    BodyVelocity {
        linear: linear.clamp_length_max(SPEED_MAX),
        angular: angular.clamp_length_max(ANGULAR_SPEED_MAX),
    }
}

/// Side on which a character lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LyingSide {
    /// On its back.
    FaceUp,
    /// On its belly.
    FaceDown,
}

/// Returns the side on which a character lies, for the choice of its get-up clip. `pelvis` is the
/// rotation of the pelvis in world space and `rest` its rotation in the rest pose in model space;
/// `forward` is the direction in which the character looks in model space.
pub fn lying_side(pelvis: Quat, rest: Quat, forward: Vec3) -> LyingSide {
    let looks = pelvis * rest.conjugate() * forward;
    if looks.z > 0.0 { LyingSide::FaceUp } else { LyingSide::FaceDown }
}

/// Returns the position and the rotation around the vertical axis of a character, so that the
/// pelvis of a clip comes to lie at the pelvis of the ragdoll: `pelvis` is in world space, and
/// `pelvis_in_clip` in model space at the start of the get-up clip. `height` is that of the ground
/// in world space. Transforms that are not finite give no rotation.
pub fn get_up_transform(
    pelvis: &RigidTransform,
    pelvis_in_clip: &RigidTransform,
    height: f32,
) -> RigidTransform {
    let turned = pelvis.rotation * pelvis_in_clip.rotation.conjugate();
    let length = (turned.z * turned.z + turned.w * turned.w).sqrt();
    let rotation = match length > 1e-3 {
        true => Quat::from_xyzw(0.0, 0.0, turned.z / length, turned.w / length),
        false => Quat::IDENTITY,
    };
    let mut position = pelvis.position - rotation * pelvis_in_clip.position;
    position.z = height;
    let position = if position.is_finite() { position } else { Vec3::ZERO };
    RigidTransform { position, rotation }
}
