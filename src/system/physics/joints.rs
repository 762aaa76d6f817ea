//! Joints, which connect two bodies and break under too much force or torque.

use super::{BodyId, Simulation};
use engine_foundation::deterministic_math::atan2;
use engine_foundation::hash::StateHash;
use engine_foundation::insist;
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{
    GenericJoint, ImpulseJointHandle, JointAxesMask, JointAxis, JointEnabled, MotorModel,
    RigidBodyHandle, RopeJoint, SpringJoint,
};

/// Maximum number of joints of one simulation.
pub const JOINTS_MAX: usize = 1 << 14;

/// Handle of a joint of one simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JointId(ImpulseJointHandle);

impl JointId {
    /// Returns a handle that refers to no joint.
    pub fn none() -> JointId {
        JointId(ImpulseJointHandle::invalid())
    }
}

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
}

impl JointKind {
    pub const NAMES: [&'static str; 6] = ["fixed", "ball", "hinge", "slider", "rope", "spring"];
    /// All types, in the order of `NAMES`.
    pub const LIST: [JointKind; 6] = [
        JointKind::Fixed,
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Rope,
        JointKind::Spring,
    ];
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
    pub axis: Vec3,
    /// Limits of a hinge's angle in radians, or of a slider's position in metres.
    pub limits: Option<[f32; 2]>,
    /// Length of a rope or spring, in metres.
    pub length: f32,
    /// Stiffness of a spring in newtons per metre. `damping` is in newtons per (metre per second).
    pub stiffness: f32,
    pub damping: f32,
    /// Force in newtons above which it breaks. `break_torque` is the torque in newton metres.
    pub break_force: Option<f32>,
    pub break_torque: Option<f32>,
    /// True if the two bodies collide with each other.
    pub collides: bool,
    pub owner: u64,
}

impl JointPlan {
    pub const AXIS: Vec3 = Vec3::Z;
}

/// Current state of a joint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointState {
    /// Angle about the axis since its creation for a hinge, fixed or ball joint, in radians;
    /// position for a slider, in metres; distance between the ends for a rope or spring, in metres.
    pub value: f32,
    /// Rate of change of `value` per second.
    pub velocity: f32,
    /// Force that it held in the last step, in newtons. `torque` is in newton metres.
    pub force: f32,
    pub torque: f32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct JointLimit {
    joint: ImpulseJointHandle,
    force: f32,
    torque: f32,
}

/// Data about the joints in addition to rapier's.
#[derive(Clone, Default)]
pub(super) struct JointTable {
    limits: Vec<JointLimit>,
    /// Owners of the joints that broke in the last update.
    pub broken: Vec<u64>,
    /// Broken joints that still exist. Joints are removed only between updates, so that new joints
    /// get the same handles regardless of when the steps run.
    ended: Vec<ImpulseJointHandle>,
    /// Body to which joints with the world itself are attached.
    ground: Option<RigidBodyHandle>,
}

/// Returns the force in newtons and the torque in newton metres of a joint.
fn load(impulses: &[f32; 6], seconds: f32) -> (f32, f32) {
    let [x, y, z, rx, ry, rz] = *impulses;
    (Vec3::new(x, y, z).length() / seconds, Vec3::new(rx, ry, rz).length() / seconds)
}

impl JointTable {
    /// Disables joints whose load exceeds their limits.
    pub fn break_overloaded(&mut self, world: &mut rapier::PhysicsWorld) {
        let seconds = world.integration_parameters.dt;
        let JointTable { limits, broken, ended, .. } = self;
        limits.retain(|limit| {
            let Some(joint) = world.impulse_joints.get(limit.joint) else { return false };
            let (force, torque) = load(&joint.impulses, seconds);
            let holds = force <= limit.force && torque <= limit.torque;
            if !holds {
                broken.push(joint.data.user_data as u64);
                ended.push(limit.joint);
                if let Some(joint) = world.impulse_joints.get_mut(limit.joint, true) {
                    joint.data.enabled = JointEnabled::Disabled;
                }
            }
            holds
        });
    }

    /// Hashes the break limits of the joints.
    pub fn write_breaks(&self, hash: &mut StateHash) {
        for limit in &self.limits {
            [limit.force, limit.torque].into_iter().for_each(|number| hash.write_f32(number));
        }
    }

    /// Removes the joints that broke.
    pub fn remove_broken(&mut self, world: &mut rapier::PhysicsWorld) {
        for joint in self.ended.drain(..) {
            world.impulse_joints.remove(joint, true);
        }
    }
}

/// Returns a rotation that turns the x axis of a joint's frame to `axis`.
fn along(axis: Vec3) -> Quat {
    Quat::from_rotation_arc(Vec3::X, axis.normalize_or(JointPlan::AXIS))
}

impl Simulation {
    /// Connects two bodies.
    ///
    /// # Errors
    /// Returns an error if there are [`JOINTS_MAX`] joints already, or if both bodies are the same.
    pub fn add_joint(&mut self, plan: &JointPlan) -> Result<JointId, Error> {
        let plan = *plan;
        let added = self.change_unrecorded(|it| it.add_joint_now(&plan))?;
        self.record(move |it| {
            let repeated = it.add_joint_now(&plan);
            insist!(
                repeated == Ok(added),
                "the same joint has two different handles: {repeated:?}"
            );
        });
        Ok(added)
    }

    fn add_joint_now(&mut self, plan: &JointPlan) -> Result<JointId, Error> {
        if self.world.impulse_joints.len() >= JOINTS_MAX {
            return Err(engine_foundation::error!(
                "{JOINTS_MAX} joints are in the world already (JOINTS_MAX): destroy some first"
            ));
        }
        let JointBodies(one, two) = plan.link;
        if two == Some(one) {
            return Err(engine_foundation::error!("both ends of the joint are the same actor"));
        }
        let two = match two {
            Some(body) => body.0,
            None => self.ground(),
        };
        let mut data = match plan.kind {
            JointKind::Fixed => GenericJoint::new(JointAxesMask::LOCKED_FIXED_AXES),
            JointKind::Ball => GenericJoint::new(JointAxesMask::LOCKED_SPHERICAL_AXES),
            JointKind::Hinge => GenericJoint::new(JointAxesMask::LOCKED_REVOLUTE_AXES),
            JointKind::Slider => GenericJoint::new(JointAxesMask::LOCKED_PRISMATIC_AXES),
            JointKind::Rope => RopeJoint::new(plan.length).into(),
            JointKind::Spring => SpringJoint::new(plan.length, plan.stiffness, plan.damping).into(),
        };
        for (handle, anchor, first) in
            [(one.0, plan.anchors[0], true), (two, plan.anchors[1], false)]
        {
            let body = self.world.bodies.get(handle).expect("it is there");
            let frame = rapier::Pose::from_parts(anchor, along(plan.axis));
            let local = body.position().inverse() * frame;
            match first {
                true => data.set_local_frame1(local),
                false => data.set_local_frame2(local),
            };
        }
        if let (Some(limits), Some(axis)) = (plan.limits, free_axis(plan.kind)) {
            data.set_limits(axis, limits);
        }
        data.set_contacts_enabled(plan.collides);
        let is_in = |body| self.world.bodies.get(body).is_some_and(|body| body.is_enabled());
        if !(is_in(one.0) && is_in(two)) {
            data.enabled = JointEnabled::Disabled;
        }
        data.user_data = plan.owner.into();
        let joint = self.world.insert_impulse_joint(one.0, two, data);
        self.set_break_now(JointId(joint), plan.break_force, plan.break_torque);
        Ok(JointId(joint))
    }

    /// Enables the joints of a body if both of their bodies are in the simulation, and disables the
    /// others. rapier does not do this for joints created while a body is out of the simulation,
    /// and does not check the other body when one returns.
    pub(super) fn sync_joints(&mut self, body: BodyId) {
        let rapier::PhysicsWorld { bodies, impulse_joints, .. } = &mut self.world;
        let is_in = |body| bodies.get(body).is_some_and(|body| body.is_enabled());
        let attached = impulse_joints.attached_joints(body.0);
        let attached: Vec<_> = attached
            .map(|(one, two, joint, _)| (joint, is_in(one) && is_in(two)))
            .filter(|(joint, _)| !self.links.ended.contains(joint))
            .collect();
        for (joint, holds) in attached {
            if let Some(joint) = impulse_joints.get_mut(joint, false) {
                joint.data.enabled =
                    if holds { JointEnabled::Enabled } else { JointEnabled::Disabled };
            }
        }
    }

    /// Returns true if a joint exists and belongs to an owner.
    pub fn is_of(&self, joint: JointId, owner: u64) -> bool {
        let joint = self.world.impulse_joints.get(joint.0);
        joint.is_some_and(|joint| joint.data.user_data == u128::from(owner))
    }

    fn ground(&mut self) -> RigidBodyHandle {
        if let Some(ground) = self.links.ground.filter(|body| self.world.bodies.contains(*body)) {
            return ground;
        }
        let ground = self.world.insert_body(rapier::RigidBodyBuilder::fixed().build());
        self.links.ground = Some(ground);
        ground
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        self.world.impulse_joints.len()
    }

    /// Returns true if a joint still exists. It may have broken, or one of its bodies may have been
    /// removed.
    pub fn contains_joint(&self, joint: JointId) -> bool {
        self.world.impulse_joints.contains(joint.0)
    }

    pub fn remove_joint(&mut self, joint: JointId) {
        self.change(move |it| {
            it.links.limits.retain(|limit| limit.joint != joint.0);
            it.world.remove_impulse_joint(joint.0);
        });
    }

    /// Sets the force and torque above which a joint breaks. `None`: unlimited.
    pub fn set_break(&mut self, joint: JointId, force: Option<f32>, torque: Option<f32>) {
        self.change(move |it| it.set_break_now(joint, force, torque));
    }

    fn set_break_now(&mut self, joint: JointId, force: Option<f32>, torque: Option<f32>) {
        self.links.limits.retain(|limit| limit.joint != joint.0);
        if force.is_some() || torque.is_some() {
            let [force, torque] = [force, torque].map(|most| most.unwrap_or(f32::INFINITY));
            self.links.limits.push(JointLimit { joint: joint.0, force, torque });
        }
    }

    /// Returns the force in newtons and the torque in newton metres that break a joint.
    pub fn break_limits(&self, joint: JointId) -> (Option<f32>, Option<f32>) {
        let limit = self.links.limits.iter().find(|limit| limit.joint == joint.0);
        let finite = |most: f32| Some(most).filter(|most| most.is_finite());
        limit.map_or((None, None), |limit| (finite(limit.force), finite(limit.torque)))
    }

    /// Returns the owners of the joints that broke in the last update.
    pub fn broken(&self) -> &[u64] {
        &self.links.broken
    }

    /// Sets the motor of a hinge or slider: its speed and its maximum torque or force. `None`
    /// removes the motor. Returns false if the joint has no axis.
    pub fn set_motor(&mut self, joint: JointId, kind: JointKind, motor: Option<[f32; 2]>) -> bool {
        let Some(axis) = free_axis(kind) else { return false };
        let pull = if motor.is_some() { 1.0e4 } else { 0.0 };
        let [speed, most] = motor.unwrap_or([0.0, 0.0]);
        self.change(move |it| {
            if let Some(joint) = it.world.impulse_joints.get_mut(joint.0, true) {
                joint.data.set_motor_model(axis, MotorModel::AccelerationBased);
                joint.data.set_motor(axis, 0.0, speed, 0.0, pull);
                joint.data.set_motor_max_force(axis, most);
            }
        });
        true
    }

    /// Returns the motor of a hinge or slider, as for [`Simulation::set_motor`].
    pub fn motor(&self, joint: JointId, kind: JointKind) -> Option<[f32; 2]> {
        let motor = self.world.impulse_joints.get(joint.0)?.data.motor(free_axis(kind)?)?;
        (motor.damping > 0.0).then_some([motor.target_vel, motor.max_force])
    }

    /// Sets the limits of a hinge or slider. `None` removes them. Returns false if the joint has no
    /// axis.
    pub fn set_limits(
        &mut self,
        joint: JointId,
        kind: JointKind,
        limits: Option<[f32; 2]>,
    ) -> bool {
        let Some(axis) = free_axis(kind) else { return false };
        self.change(move |it| {
            let Some(joint) = it.world.impulse_joints.get_mut(joint.0, true) else { return };
            match limits {
                Some(limits) => {
                    joint.data.set_limits(axis, limits);
                }
                None => joint.data.limit_axes.remove(axis.into()),
            }
        });
        true
    }

    /// Returns the limits of a hinge or slider, or `None` if it has none.
    pub fn limits(&self, joint: JointId, kind: JointKind) -> Option<[f32; 2]> {
        let limits = self.world.impulse_joints.get(joint.0)?.data.limits(free_axis(kind)?)?;
        Some([limits.min, limits.max])
    }

    pub fn joint_state(&self, joint: JointId, kind: JointKind) -> Option<JointState> {
        let joint = self.world.impulse_joints.get(joint.0)?;
        let bodies = (self.world.bodies.get(joint.body1())?, self.world.bodies.get(joint.body2())?);
        let first = *bodies.0.position() * joint.data.local_frame1;
        let second = *bodies.1.position() * joint.data.local_frame2;
        let (separation, axis) = (second.translation - first.translation, first.rotation * Vec3::X);
        // Velocity of the second body's anchor relative to a point of the first body.
        let away = |at: Vec3| {
            bodies.1.velocity_at_point(second.translation) - bodies.0.velocity_at_point(at)
        };
        let (value, velocity) = match kind {
            JointKind::Hinge | JointKind::Fixed | JointKind::Ball => {
                let turn = first.rotation.inverse() * second.rotation;
                let angle = 2.0 * atan2(turn.x, turn.w);
                // The same rotation as an angle of at most half a turn.
                let angle = angle - std::f32::consts::TAU * (angle / std::f32::consts::TAU).round();
                (angle, (bodies.1.angvel() - bodies.0.angvel()).dot(axis))
            }
            JointKind::Slider => (separation.dot(axis), away(second.translation).dot(axis)),
            JointKind::Rope | JointKind::Spring => {
                (separation.length(), away(first.translation).dot(separation.normalize_or_zero()))
            }
        };
        let (force, torque) = load(&joint.impulses, self.world.integration_parameters.dt);
        Some(JointState { value, velocity, force, torque })
    }
}

fn free_axis(kind: JointKind) -> Option<JointAxis> {
    match kind {
        JointKind::Hinge => Some(JointAxis::AngX),
        JointKind::Slider => Some(JointAxis::LinX),
        _ => None,
    }
}
