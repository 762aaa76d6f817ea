//! Joints, which connect two bodies and break under too much force or torque.

use super::joint_plan::{JointBodies, JointKind, JointPlan, JointState, MOUSE_ACCELERATION};
use super::pulleys::{Pulley, PulleyTable};
use super::{BodyId, Simulation};
use engine_foundation::deterministic_math::atan2;
use engine_foundation::hash::StateHash;
use engine_foundation::insist;
use engine_foundation::{Error, Mat3, Quat, Vec3};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{
    GenericJoint, ImpulseJointHandle, JointAxesMask, JointAxis, JointEnabled, MotorModel,
    RigidBodyHandle, RopeJoint, SpringJoint,
};

/// Maximum number of joints of one simulation.
pub const JOINTS_MAX: usize = 1 << 14;

/// Handle of a joint of one simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JointId(pub(super) ImpulseJointHandle);

impl JointId {
    /// Returns a handle that refers to no joint.
    pub fn none() -> JointId {
        JointId(ImpulseJointHandle::invalid())
    }
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
    pub pulleys: PulleyTable,
    /// Body to which joints with the world itself are attached.
    ground: Option<RigidBodyHandle>,
}

/// Returns the force in newtons and the torque in newton metres of a joint. The force includes that
/// of limits and springs, and not that of motors with a speed.
fn load(joint: &rapier::ImpulseJoint, parameters: &rapier::IntegrationParameters) -> (f32, f32) {
    // The impulses are those of the last part of the step.
    let seconds = parameters.dt / parameters.num_solver_iterations as f32;
    let [.., rx, ry, rz] = joint.impulses;
    let data = &joint.data;
    let along = |(at, axis): (usize, JointAxis)| {
        let limit = data.limits(axis).map_or(0.0, |limit| limit.impulse);
        let spring = data.motor(axis).filter(|motor| motor.stiffness > 0.0);
        joint.impulses[at] + limit + spring.map_or(0.0, |motor| motor.impulse)
    };
    let force = [(0, JointAxis::LinX), (1, JointAxis::LinY), (2, JointAxis::LinZ)].map(along);
    (Vec3::from_array(force).length() / seconds, Vec3::new(rx, ry, rz).length() / seconds)
}

impl JointTable {
    /// Disables joints whose load exceeds their limits.
    pub fn break_overloaded(&mut self, world: &mut rapier::PhysicsWorld) {
        let parameters = world.integration_parameters;
        let JointTable { limits, broken, ended, pulleys, .. } = self;
        limits.retain(|limit| {
            let Some(joint) = world.impulse_joints.get(limit.joint) else { return false };
            let (force, torque) = match pulleys.find(limit.joint) {
                Some(pulley) => (pulley.tension(), 0.0),
                None => load(joint, &parameters),
            };
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

    /// Hashes the break limits of the joints, and the ropes of the pulleys among them.
    pub fn write_state(&self, joints: &rapier::ImpulseJointSet, hash: &mut StateHash) {
        self.pulleys.write_state(joints, hash);
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

/// Returns a rotation that turns the x axis of a joint's frame to `axis`. In two dimensions, its
/// axes are x, y and z in some order, for an axis along z, or it keeps the z axis.
fn along(axis: Vec3, flat: bool) -> Quat {
    if flat && axis.z.abs() < LEVEL {
        let across = Vec3::Z.cross(axis).normalize();
        return Quat::from_mat3(&Mat3::from_cols(across.cross(Vec3::Z), across, Vec3::Z));
    }
    if flat && axis.z > 0.0 {
        // Turns x to z, y to x, and z to y.
        return Quat::from_xyzw(-0.5, -0.5, -0.5, 0.5);
    }
    Quat::from_rotation_arc(Vec3::X, axis)
}

/// Returns the axes that a joint locks in two dimensions. Bodies have no other degrees of freedom:
/// a joint that locks one of those again divides by masses that do not exist.
fn locked_flat_axes(kind: JointKind) -> JointAxesMask {
    match kind {
        // Their frames have x along z.
        JointKind::Hinge | JointKind::Ball => JointAxesMask::LIN_Y | JointAxesMask::LIN_Z,
        JointKind::Fixed => JointAxesMask::LIN_Y | JointAxesMask::LIN_Z | JointAxesMask::ANG_X,
        // Their frames have z along z.
        JointKind::Slider => JointAxesMask::LIN_Y | JointAxesMask::ANG_Z,
        JointKind::Wheel => JointAxesMask::LIN_Y,
        JointKind::Rope | JointKind::Spring | JointKind::Mouse | JointKind::Pulley => {
            JointAxesMask::empty()
        }
    }
}

/// Maximum z of an axis in the plane of two-dimensional worlds, due to rounding.
const LEVEL: f32 = 1e-3;

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
        let flat = self.setup.flat;
        self.check_bodies(plan)?;
        let axis = self.joint_axis(plan)?;
        let JointBodies(one, two) = plan.link;
        let mut data = match plan.kind {
            JointKind::Wheel | JointKind::Mouse => self.sprung_joint(plan, one),
            JointKind::Fixed | JointKind::Ball | JointKind::Hinge | JointKind::Slider if flat => {
                GenericJoint::new(locked_flat_axes(plan.kind))
            }
            JointKind::Fixed => GenericJoint::new(JointAxesMask::LOCKED_FIXED_AXES),
            JointKind::Ball => GenericJoint::new(JointAxesMask::LOCKED_SPHERICAL_AXES),
            JointKind::Hinge => GenericJoint::new(JointAxesMask::LOCKED_REVOLUTE_AXES),
            JointKind::Slider => GenericJoint::new(JointAxesMask::LOCKED_PRISMATIC_AXES),
            JointKind::Rope => RopeJoint::new(plan.length).into(),
            JointKind::Spring => {
                let (stiffness, damping) = plan.spring.by_force();
                SpringJoint::new(plan.length, stiffness, damping).into()
            }
            JointKind::Pulley => GenericJoint::new(JointAxesMask::empty()),
        };
        let two = match two {
            Some(body) => body.0,
            None => self.ground(),
        };
        let mut ends = [(one.0, plan.anchors[0]), (two, plan.anchors[1])];
        if plan.kind == JointKind::Mouse {
            // The solver applies the force to both bodies at the anchor of the second one.
            ends.reverse();
        }
        for ((handle, anchor), first) in ends.into_iter().zip([true, false]) {
            let body = self.world.bodies.get(handle).expect("it is there");
            let frame = rapier::Pose::from_parts(anchor, along(axis, flat));
            let local = body.position().inverse() * frame;
            match first {
                true => data.set_local_frame1(local),
                false => data.set_local_frame2(local),
            };
        }
        if let (Some(limits), Some(axis)) = (plan.limits, limited_axis(plan.kind)) {
            data.set_limits(axis, limits);
        }
        data.set_contacts_enabled(plan.collides);
        let is_in = |body| self.world.bodies.get(body).is_some_and(|body| body.is_enabled());
        if !(is_in(one.0) && is_in(two)) {
            data.enabled = JointEnabled::Disabled;
        }
        data.user_data = plan.owner.into();
        let joint = self.world.insert_impulse_joint(ends[0].0, ends[1].0, data);
        self.set_break_now(JointId(joint), plan.break_force, plan.break_torque);
        if plan.kind == JointKind::Pulley {
            self.links.pulleys.add(Pulley::new(plan, joint, (one.0, two), &self.world.bodies));
        }
        Ok(JointId(joint))
    }

    /// Checks if a new joint can connect its bodies.
    ///
    /// # Errors
    /// Returns an error if both bodies are the same, or if the type of joint does not allow them.
    fn check_bodies(&self, plan: &JointPlan) -> Result<(), Error> {
        let JointBodies(one, two) = plan.link;
        if two == Some(one) {
            return Err(engine_foundation::error!("both ends of the joint are the same actor"));
        }
        match (plan.kind, two) {
            (JointKind::Mouse, Some(_)) => Err(engine_foundation::error!(
                "a mouse joint pulls one actor: leave out the second one"
            )),
            (JointKind::Wheel, _) if !self.setup.flat => Err(engine_foundation::error!(
                "wheel joints need a 2D world: in others, use a slider with a hinge on it"
            )),
            (JointKind::Pulley, None) => Err(engine_foundation::error!(
                "a pulley connects two actors: pass the second one, which may be static"
            )),
            (JointKind::Pulley, _) => plan.pulley.check(plan.anchors),
            _ => Ok(()),
        }
    }

    /// Returns the axis of a new joint, of length 1.
    ///
    /// # Errors
    /// Returns an error if a joint of this type cannot have that axis in two dimensions.
    fn joint_axis(&self, plan: &JointPlan) -> Result<Vec3, Error> {
        let kind = plan.kind;
        let axis = plan.axis.and_then(Vec3::try_normalize);
        if !self.setup.flat {
            return Ok(axis.unwrap_or(Vec3::Z));
        }
        match (kind, axis) {
            (JointKind::Slider | JointKind::Wheel, Some(axis)) if axis.z.abs() > LEVEL => {
                Err(engine_foundation::error!(
                    "the axis of a {} must be in the plane of x and y in a 2D world",
                    JointKind::NAMES[kind as usize]
                ))
            }
            (JointKind::Hinge, Some(axis)) if axis.z.abs() < 1.0 - LEVEL => {
                Err(engine_foundation::error!(
                    "a hinge turns about z in a 2D world: leave out its axis"
                ))
            }
            (JointKind::Slider | JointKind::Wheel, axis) => Ok(axis.unwrap_or(self.up())),
            (JointKind::Hinge, axis) => Ok(axis.unwrap_or(Vec3::Z)),
            (JointKind::Fixed | JointKind::Ball, _) => Ok(Vec3::Z),
            (JointKind::Rope | JointKind::Spring | JointKind::Mouse | JointKind::Pulley, _) => {
                Ok(Vec3::X)
            }
        }
    }

    /// Returns a joint with a spring, without its frames.
    fn sprung_joint(&self, plan: &JointPlan, body: BodyId) -> GenericJoint {
        if plan.kind == JointKind::Wheel {
            let mut data = GenericJoint::new(locked_flat_axes(plan.kind));
            plan.spring.set_on(&mut data, JointAxis::LinX);
            return data;
        }
        let mut data = GenericJoint::new(JointAxesMask::empty());
        let axes = [JointAxis::LinX, JointAxis::LinY, JointAxis::LinZ];
        let axes = if self.setup.flat { &axes[..2] } else { &axes[..] };
        let force = plan.max_force.unwrap_or(MOUSE_ACCELERATION * self.mass(body));
        for axis in axes {
            plan.spring.set_on(&mut data, *axis);
            // The forces along the axes add up to at most the maximum.
            data.set_motor_max_force(*axis, force / (axes.len() as f32).sqrt());
        }
        data
    }

    /// Moves the point of the world to which a mouse joint pulls its body.
    pub fn set_joint_target(&mut self, joint: JointId, target: Vec3) {
        self.change(move |it| {
            let ground = it.ground();
            let frame = it.world.bodies.get(ground).map(|body| *body.position());
            if let Some(joint) = it.world.impulse_joints.get_mut(joint.0, true) {
                let frame = frame.unwrap_or(rapier::Pose::IDENTITY);
                joint.data.local_frame1.translation = frame.inverse() * target;
            }
        });
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
            it.links.pulleys.remove(joint.0);
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

    /// Sets the motor of a hinge, slider or wheel: its speed and its maximum torque or force.
    /// `None` removes the motor. Returns false if the joint has no axis.
    pub fn set_motor(&mut self, joint: JointId, kind: JointKind, motor: Option<[f32; 2]>) -> bool {
        let Some(axis) = motor_axis(kind) else { return false };
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

    /// Returns the motor of a hinge, slider or wheel, as for [`Simulation::set_motor`].
    pub fn motor(&self, joint: JointId, kind: JointKind) -> Option<[f32; 2]> {
        let motor = self.world.impulse_joints.get(joint.0)?.data.motor(motor_axis(kind)?)?;
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
        let Some(axis) = limited_axis(kind) else { return false };
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
        let limits = self.world.impulse_joints.get(joint.0)?.data.limits(limited_axis(kind)?)?;
        Some([limits.min, limits.max])
    }

    /// Returns the lengths of the two parts of a pulley's rope, in metres.
    pub fn pulley_lengths(&self, joint: JointId) -> Option<[f32; 2]> {
        let exists = self.contains_joint(joint);
        let pulley = self.links.pulleys.find(joint.0).filter(|_| exists)?;
        Some(pulley.lengths(&self.world.bodies))
    }

    pub fn joint_state(&self, joint: JointId, kind: JointKind) -> Option<JointState> {
        if kind == JointKind::Pulley {
            let pulley = self.links.pulleys.find(joint.0).filter(|_| self.contains_joint(joint))?;
            return Some(pulley.state(&self.world.bodies));
        }
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
            JointKind::Slider | JointKind::Wheel => {
                (separation.dot(axis), away(second.translation).dot(axis))
            }
            JointKind::Rope | JointKind::Spring | JointKind::Mouse | JointKind::Pulley => {
                (separation.length(), away(first.translation).dot(separation.normalize_or_zero()))
            }
        };
        let (force, torque) = load(joint, &self.world.integration_parameters);
        Some(JointState { value, velocity, force, torque })
    }
}

/// Returns the axis whose value can be limited.
fn limited_axis(kind: JointKind) -> Option<JointAxis> {
    match kind {
        JointKind::Hinge => Some(JointAxis::AngX),
        JointKind::Slider | JointKind::Wheel => Some(JointAxis::LinX),
        _ => None,
    }
}

/// Returns the axis that a motor drives.
fn motor_axis(kind: JointKind) -> Option<JointAxis> {
    match kind {
        JointKind::Wheel => Some(JointAxis::AngZ),
        kind => limited_axis(kind),
    }
}
