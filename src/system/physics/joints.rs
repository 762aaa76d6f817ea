//! Joints: what holds two bodies together, and breaks when it is pulled too hard.

use super::{BodyId, Physics};
use crate::foundation::angles::atan2;
use crate::foundation::hash::StateHash;
use crate::foundation::{Error, Quat, Vec3};
use crate::insist;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{
    GenericJoint, ImpulseJointHandle, JointAxesMask, JointAxis, JointEnabled, MotorModel,
    RigidBodyHandle, RopeJoint, SpringJoint,
};

/// The most joints of one simulation.
pub const JOINTS_MAX: usize = 1 << 14;

/// A joint of one simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JointId(ImpulseJointHandle);

impl JointId {
    /// No joint.
    pub fn none() -> JointId {
        JointId(ImpulseJointHandle::invalid())
    }
}

/// What a joint leaves free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// To turn about a point.
    Ball,
    /// To turn about an axis.
    Hinge,
    /// To move along an axis.
    Slider,
    /// To be no farther apart than a length.
    Rope,
    /// To be pulled to a distance.
    Spring,
}

impl JointKind {
    pub const NAMES: [&'static str; 6] = ["fixed", "ball", "hinge", "slider", "rope", "spring"];
    /// In the order of their names.
    pub const LIST: [JointKind; 6] = [
        JointKind::Fixed,
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Rope,
        JointKind::Spring,
    ];
}

/// Two bodies, the second of which may be the world itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link(pub BodyId, pub Option<BodyId>);

/// A joint to be made; places and the axis are the world's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointPlan {
    pub kind: JointKind,
    pub link: Link,
    /// Where it holds the first and the second body.
    pub anchors: [Vec3; 2],
    pub axis: Vec3,
    /// Of a hinge's angle in radians, or of a slider's way in metres.
    pub limits: Option<[f32; 2]>,
    /// Of a rope or spring, in metres.
    pub length: f32,
    /// Of a spring: newtons a metre, and newtons for a metre a second.
    pub stiffness: f32,
    pub damping: f32,
    /// Newtons, and newton metres, above which it breaks.
    pub break_force: Option<f32>,
    pub break_torque: Option<f32>,
    /// Whether the two collide with each other.
    pub collides: bool,
    pub owner: u64,
}

impl JointPlan {
    pub const AXIS: Vec3 = Vec3::Z;
}

/// What a joint does at the moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointState {
    /// Radians of a hinge since it was made, metres of a slider, metres between the ends of others.
    pub value: f32,
    /// How fast that grows, in a second.
    pub velocity: f32,
    /// Newtons, and newton metres, that it held in the last step.
    pub force: f32,
    pub torque: f32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Limit {
    joint: ImpulseJointHandle,
    force: f32,
    torque: f32,
}

/// What is known of the joints beside what rapier keeps.
#[derive(Clone, Default)]
pub(super) struct Links {
    limits: Vec<Limit>,
    /// Owners of those that broke in the last update.
    pub broken: Vec<u64>,
    /// Those that broke, and are still there: joints are ended between updates alone, so that new
    /// ones come in the same places whenever the steps were made.
    ended: Vec<ImpulseJointHandle>,
    /// What joints to the world itself hold on to.
    ground: Option<RigidBodyHandle>,
}

/// Newtons and newton metres.
fn load(impulses: &[f32; 6], seconds: f32) -> (f32, f32) {
    let [x, y, z, rx, ry, rz] = *impulses;
    (Vec3::new(x, y, z).length() / seconds, Vec3::new(rx, ry, rz).length() / seconds)
}

impl Links {
    /// Lets go of what joints held that held more than they can.
    pub fn break_overloaded(&mut self, world: &mut rapier::PhysicsWorld) {
        let seconds = world.integration_parameters.dt;
        let Links { limits, broken, ended, .. } = self;
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

    /// Writes what breaks joints.
    pub fn write_breaks(&self, hash: &mut StateHash) {
        for limit in &self.limits {
            [limit.force, limit.torque].into_iter().for_each(|number| hash.write_f32(number));
        }
    }

    /// Ends the joints that broke.
    pub fn end_broken(&mut self, world: &mut rapier::PhysicsWorld) {
        for joint in self.ended.drain(..) {
            world.impulse_joints.remove(joint, true);
        }
    }
}

/// Where the x axis of a joint's frame points along `axis`.
fn along(axis: Vec3) -> Quat {
    Quat::from_rotation_arc(Vec3::X, axis.normalize_or(JointPlan::AXIS))
}

impl Physics {
    /// Holds two bodies together.
    ///
    /// # Errors
    /// There are [`JOINTS_MAX`] already, or both are the same body.
    pub fn add_joint(&mut self, plan: &JointPlan) -> Result<JointId, Error> {
        let plan = *plan;
        let made = self.unnoted(|it| it.add_joint_now(&plan))?;
        self.note(move |it| {
            let again = it.add_joint_now(&plan);
            insist!(again == Ok(made), "a joint comes twice in the same place: {again:?}");
        });
        Ok(made)
    }

    fn add_joint_now(&mut self, plan: &JointPlan) -> Result<JointId, Error> {
        if self.world.impulse_joints.len() >= JOINTS_MAX {
            return Err(crate::error!(
                "{JOINTS_MAX} joints are in the world already (JOINTS_MAX): destroy some first"
            ));
        }
        let Link(one, two) = plan.link;
        if two == Some(one) {
            return Err(crate::error!("both ends of the joint are the same actor"));
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

    /// Has the joints of a body hold where both of their bodies are in the simulation. rapier sees
    /// neither to those that are made while one is out of it, nor to the other body when one comes
    /// back.
    pub(super) fn settle_joints(&mut self, body: BodyId) {
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

    /// Whether a joint is there that belongs to that owner.
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

    /// How many joints there are.
    pub fn joints(&self) -> usize {
        self.world.impulse_joints.len()
    }

    /// Whether a joint still holds: it may have broken, or a body of it ended.
    pub fn holds(&self, joint: JointId) -> bool {
        self.world.impulse_joints.contains(joint.0)
    }

    pub fn remove_joint(&mut self, joint: JointId) {
        self.change(move |it| {
            it.links.limits.retain(|limit| limit.joint != joint.0);
            it.world.remove_impulse_joint(joint.0);
        });
    }

    /// Sets what a joint holds at most; `None`: anything.
    pub fn set_break(&mut self, joint: JointId, force: Option<f32>, torque: Option<f32>) {
        self.change(move |it| it.set_break_now(joint, force, torque));
    }

    fn set_break_now(&mut self, joint: JointId, force: Option<f32>, torque: Option<f32>) {
        self.links.limits.retain(|limit| limit.joint != joint.0);
        if force.is_some() || torque.is_some() {
            let [force, torque] = [force, torque].map(|most| most.unwrap_or(f32::INFINITY));
            self.links.limits.push(Limit { joint: joint.0, force, torque });
        }
    }

    /// Newtons and newton metres that break a joint.
    pub fn break_limits(&self, joint: JointId) -> (Option<f32>, Option<f32>) {
        let limit = self.links.limits.iter().find(|limit| limit.joint == joint.0);
        let finite = |most: f32| Some(most).filter(|most| most.is_finite());
        limit.map_or((None, None), |limit| (finite(limit.force), finite(limit.torque)))
    }

    /// Owners of the joints that broke in the last update.
    pub fn broken(&self) -> &[u64] {
        &self.links.broken
    }

    /// Has a hinge turn, or a slider move, at a speed, with at most so much force or torque;
    /// `None`: freely. False where the joint has no axis.
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

    /// What a hinge or slider is driven by, as for [`Physics::set_motor`].
    pub fn motor(&self, joint: JointId, kind: JointKind) -> Option<[f32; 2]> {
        let motor = self.world.impulse_joints.get(joint.0)?.data.motor(free_axis(kind)?)?;
        (motor.damping > 0.0).then_some([motor.target_vel, motor.max_force])
    }

    /// Sets the limits of a hinge or slider; `None`: it has none. False where the joint has no
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

    /// The limits of a hinge or slider, if it has any.
    pub fn limits(&self, joint: JointId, kind: JointKind) -> Option<[f32; 2]> {
        let limits = self.world.impulse_joints.get(joint.0)?.data.limits(free_axis(kind)?)?;
        Some([limits.min, limits.max])
    }

    pub fn joint_state(&self, joint: JointId, kind: JointKind) -> Option<JointState> {
        let joint = self.world.impulse_joints.get(joint.0)?;
        let bodies = (self.world.bodies.get(joint.body1())?, self.world.bodies.get(joint.body2())?);
        let one = *bodies.0.position() * joint.data.local_frame1;
        let two = *bodies.1.position() * joint.data.local_frame2;
        let (apart, axis) = (two.translation - one.translation, one.rotation * Vec3::X);
        // Of the second body's end, as seen from the first body.
        let away =
            |at: Vec3| bodies.1.velocity_at_point(two.translation) - bodies.0.velocity_at_point(at);
        let (value, velocity) = match kind {
            JointKind::Hinge | JointKind::Fixed | JointKind::Ball => {
                let turn = one.rotation.inverse() * two.rotation;
                let angle = 2.0 * atan2(turn.x, turn.w);
                // The same turn as an angle of at most half a circle.
                let angle = angle - std::f32::consts::TAU * (angle / std::f32::consts::TAU).round();
                (angle, (bodies.1.angvel() - bodies.0.angvel()).dot(axis))
            }
            JointKind::Slider => (apart.dot(axis), away(two.translation).dot(axis)),
            JointKind::Rope | JointKind::Spring => {
                (apart.length(), away(one.translation).dot(apart.normalize_or_zero()))
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
