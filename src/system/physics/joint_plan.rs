//! Descriptions of joints: their types, the parameters of a new joint, and the state of a joint.

use super::BodyId;
use super::pulleys::PulleyPlan;
use engine_foundation::Vec3;
use rapier3d::prelude::{GenericJoint, JointAxis, MotorModel};

/// Type of a joint, by the motion that it allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JointKind {
    /// No motion.
    Fixed,
    /// Rotation about a point.
    Ball,
    /// Rotation about an axis.
    Hinge,
    /// Translation along an axis.
    Slider,
    /// Any motion up to a maximum distance.
    Rope,
    /// Any motion, with a pull toward a rest distance.
    Spring,
    /// Rotation about an axis, and translation along another one with a spring.
    Wheel,
    /// Any motion, with a pull of limited force toward a point of the world.
    Mouse,
    /// Any motion up to the length of a rope over two points of the world.
    Pulley,
}

impl JointKind {
    /// Names of all types, and further names of some.
    pub const NAMES: [&'static str; 10] =
        ["fixed", "ball", "hinge", "slider", "rope", "spring", "wheel", "mouse", "pulley", "weld"];
    /// The types, in the order of `NAMES`.
    pub const LIST: [JointKind; 10] = [
        JointKind::Fixed,
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Rope,
        JointKind::Spring,
        JointKind::Wheel,
        JointKind::Mouse,
        JointKind::Pulley,
        JointKind::Fixed,
    ];
}

/// Strength of the spring of a joint. Without a stiffness, it has a frequency, and its force
/// depends on the masses of the bodies.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JointSpring {
    /// Newtons per metre. `damping` is in newtons per (metre per second).
    pub stiffness: Option<f32>,
    pub damping: Option<f32>,
    /// Oscillations per second.
    pub frequency: Option<f32>,
    /// 1 comes to rest without an oscillation, 0 never comes to rest.
    pub damping_ratio: Option<f32>,
}

impl JointSpring {
    pub const STIFFNESS: f32 = 1000.0;
    pub const DAMPING: f32 = 10.0;
    pub const FREQUENCY: f32 = 4.0;
    pub const DAMPING_RATIO: f32 = 0.7;

    /// Returns stiffness and damping for bodies of any mass.
    pub(super) fn by_force(self) -> (f32, f32) {
        (self.stiffness.unwrap_or(Self::STIFFNESS), self.damping.unwrap_or(Self::DAMPING))
    }

    /// Makes the motor of a joint pull toward the position 0 of an axis.
    pub(super) fn set_on(self, data: &mut GenericJoint, axis: JointAxis) {
        let (model, stiffness, damping) = match self.stiffness {
            Some(stiffness) => {
                (MotorModel::ForceBased, stiffness, self.damping.unwrap_or(Self::DAMPING))
            }
            None => {
                let turns = self.frequency.unwrap_or(Self::FREQUENCY) * std::f32::consts::TAU;
                let ratio = self.damping_ratio.unwrap_or(Self::DAMPING_RATIO);
                (MotorModel::AccelerationBased, turns * turns, 2.0 * ratio * turns)
            }
        };
        data.set_motor_model(axis, model);
        data.set_motor_position(axis, 0.0, stiffness, damping);
    }
}

/// Two bodies. `None` as the second one is the world itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JointBodies(pub BodyId, pub Option<BodyId>);

/// Parameters of a new joint. Anchors and axis are in world space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointPlan {
    pub kind: JointKind,
    pub link: JointBodies,
    /// Attachment points on the first and the second body.
    pub anchors: [Vec3; 2],
    /// Axis of a hinge, or direction of a slider or of the spring of a wheel. `None`: up; in two
    /// dimensions, hinges turn about z.
    pub axis: Option<Vec3>,
    /// Limits of a hinge's angle in radians, or of the position of a slider or wheel in metres.
    pub limits: Option<[f32; 2]>,
    /// Length of a rope or spring, in metres. For a pulley, the length of the first part of its
    /// rope, plus that of the second part times the ratio.
    pub length: f32,
    pub pulley: PulleyPlan,
    pub spring: JointSpring,
    /// Maximum force of a mouse joint, in newtons. `None`: [`MOUSE_ACCELERATION`].
    pub max_force: Option<f32>,
    /// Force in newtons above which it breaks. `break_torque` is the torque in newton metres.
    pub break_force: Option<f32>,
    pub break_torque: Option<f32>,
    /// True if the two bodies collide with each other.
    pub collides: bool,
    pub owner: u64,
}

/// Maximum force of a mouse joint by default, in newtons per kilogram of its body.
pub const MOUSE_ACCELERATION: f32 = 1000.0;

/// Current state of a joint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointState {
    /// Angle about the axis since its creation for a hinge, fixed or ball joint, in radians;
    /// position along the axis for a slider or wheel, in metres; distance between the ends for a
    /// rope, spring or mouse joint, in metres; length in use for a pulley, in metres.
    pub value: f32,
    /// Rate of change of `value` per second.
    pub velocity: f32,
    /// Force that it held in the last step, in newtons. `torque` is in newton metres.
    pub force: f32,
    pub torque: f32,
}
