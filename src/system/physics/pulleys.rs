//! Pulley joints: a rope from one body over two fixed points to another body. It pulls both bodies
//! and does not push them. rapier has no joint of this type: its joint of a pulley connects the
//! bodies, so that they wake and sleep together, and holds nothing. The tension of all ropes is
//! computed before each step, from the velocities that the bodies would have after it, and is
//! applied to them as a force during the step.
//!
//! The forces of contacts and other joints in a step are known only after the step. The tension is
//! computed with those of the last steps, so that a weight on the ground keeps another one in the
//! air without a motion of either.

use super::Simulation;
use super::joint_plan::{JointPlan, JointState};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Vec3};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ImpulseJointHandle, RigidBodyHandle};

/// Least ratio of a pulley.
pub const PULLEY_RATIO_MIN: f64 = 1e-3;
/// Largest ratio of a pulley.
pub const PULLEY_RATIO_MAX: f64 = 1e3;

/// Number of passes over all pulleys in a step. One is exact for pulleys without a common body.
const PASSES: usize = 8;
/// Part of a stretch that a step corrects.
const CORRECTION: f32 = 0.2;
/// Maximum speed of the correction of a stretch, in metres per second.
const CORRECTION_SPEED_MAX: f32 = 2.0;
/// Stretch in metres above which the known forces of contacts count less. Otherwise the tension of
/// a rope between two bodies that cannot move would rise without a limit.
const STRETCH_MAX: f32 = 0.005;
/// Part of the known forces of contacts that counts for a stretched rope.
const STRETCHED: f32 = 0.9;
/// Speed along a rope in metres per second above which its bodies do not fall asleep.
const REST_SPEED: f32 = 0.01;
/// Length of a part of a rope in metres, below which it has no direction.
const LENGTH_MIN: f32 = 1e-3;

/// Parameters of a new pulley joint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PulleyPlan {
    /// Fixed points of the first and the second body, in world space.
    pub ground: [Vec3; 2],
    /// Number of metres of the first part of the rope that one metre of the second part equals.
    pub ratio: f32,
}

impl PulleyPlan {
    pub const DEFAULT: PulleyPlan = PulleyPlan { ground: [Vec3::ZERO; 2], ratio: 1.0 };

    /// Returns the length of a rope from the anchors over the fixed points.
    pub fn length(&self, anchors: [Vec3; 2]) -> f32 {
        anchors[0].distance(self.ground[0]) + self.ratio * anchors[1].distance(self.ground[1])
    }

    /// # Errors
    /// Returns an error if a part of the rope has no length.
    pub(super) fn check(&self, anchors: [Vec3; 2]) -> Result<(), Error> {
        for (i, name) in ["position", "other_position"].into_iter().enumerate() {
            if anchors[i].distance(self.ground[i]) < LENGTH_MIN {
                return Err(engine_foundation::error!(
                    "a pulley's rope must have a length: move its point in the world away from \
                     '{name}'"
                ));
            }
        }
        Ok(())
    }
}

impl Simulation {
    /// Returns the parameters of a pulley between two anchors over two fixed points. In two
    /// dimensions, the points are moved to the planes of the anchors.
    pub fn pulley_plan(&self, anchors: [Vec3; 2], ground: [Vec3; 2], ratio: f32) -> PulleyPlan {
        let point = |i: usize| match self.is_flat() {
            true => ground[i].with_z(anchors[i].z),
            false => ground[i],
        };
        PulleyPlan { ground: [point(0), point(1)], ratio }
    }
}

/// One end of a rope.
#[derive(Clone, Copy)]
struct RopeEnd {
    body: RigidBodyHandle,
    /// Attachment point, relative to the body.
    anchor: Vec3,
    /// Fixed point in world space.
    ground: Vec3,
    /// Part of the anchor's speed toward the fixed point that the last two steps added by contacts
    /// and other joints, in metres per second.
    reactions: [f32; 2],
}

impl RopeEnd {
    /// Returns the anchor in world space, and the vector from it to the fixed point.
    fn span(&self, bodies: &rapier::RigidBodySet) -> Option<(Vec3, Vec3)> {
        let anchor = *bodies.get(self.body)?.position() * self.anchor;
        Some((anchor, self.ground - anchor))
    }

    fn length(&self, bodies: &rapier::RigidBodySet) -> f32 {
        self.span(bodies).map_or(0.0, |(_, span)| span.length())
    }

    /// Returns the speed to expect of contacts and other joints: the lower one of the last two
    /// steps, because a collision lasts one step.
    fn reaction(&self) -> f32 {
        let [last, previous] = self.reactions;
        match last * previous > 0.0 {
            true => last.abs().min(previous.abs()).copysign(last),
            false => 0.0,
        }
    }
}

/// A rope between two bodies.
#[derive(Clone, Copy)]
pub(super) struct Pulley {
    joint: ImpulseJointHandle,
    ends: [RopeEnd; 2],
    ratio: f32,
    /// Length of the first part, plus that of the second part times the ratio.
    length: f32,
    /// Force in the first part in the last step, in newtons.
    tension: f32,
}

impl Pulley {
    pub fn new(
        plan: &JointPlan,
        joint: ImpulseJointHandle,
        (one, two): (RigidBodyHandle, RigidBodyHandle),
        bodies: &rapier::RigidBodySet,
    ) -> Pulley {
        let end = |i: usize, body: RigidBodyHandle| {
            let pose = bodies.get(body).map_or(rapier::Pose::IDENTITY, |body| *body.position());
            let anchor = pose.inverse() * plan.anchors[i];
            RopeEnd { body, anchor, ground: plan.pulley.ground[i], reactions: [0.0; 2] }
        };
        let ends = [end(0, one), end(1, two)];
        Pulley { joint, ends, ratio: plan.pulley.ratio, length: plan.length, tension: 0.0 }
    }

    /// Returns the force in the first part in the last step, in newtons.
    pub fn tension(&self) -> f32 {
        self.tension
    }

    /// Returns the lengths of both parts in metres.
    pub fn lengths(&self, bodies: &rapier::RigidBodySet) -> [f32; 2] {
        self.ends.map(|end| end.length(bodies))
    }

    pub fn state(&self, bodies: &rapier::RigidBodySet) -> JointState {
        let rate = |end: &RopeEnd| {
            let Some((anchor, span)) = end.span(bodies) else { return 0.0 };
            -bodies[end.body].velocity_at_point(anchor).dot(span.normalize_or_zero())
        };
        let [one, two] = self.lengths(bodies);
        JointState {
            value: one + self.ratio * two,
            velocity: rate(&self.ends[0]) + self.ratio * rate(&self.ends[1]),
            force: self.tension,
            torque: 0.0,
        }
    }
}

/// A body in the computation of a step.
struct PulledBody {
    /// Velocities after the step.
    linear: Vec3,
    angular: Vec3,
    inverse_mass: Vec3,
    inverse_inertia: rapier3d::math::AngularInertia,
}

impl PulledBody {
    /// Returns a body with the velocities that it has after the step without ropes and contacts.
    fn new(body: &rapier::RigidBody, gravity: Vec3, seconds: f32) -> PulledBody {
        let properties = body.mass_properties();
        let moves = body.is_dynamic() && body.is_enabled();
        let mass = if moves { properties.effective_inv_mass } else { Vec3::ZERO };
        // A body does not fall along a locked axis.
        let falls = Vec3::select(mass.cmpgt(Vec3::ZERO), gravity, Vec3::ZERO);
        let fall = falls * body.gravity_scale() * seconds;
        PulledBody {
            linear: if moves { body.linvel() + fall } else { Vec3::ZERO },
            angular: if moves { body.angvel() } else { Vec3::ZERO },
            inverse_mass: mass,
            inverse_inertia: properties.effective_world_inv_inertia,
        }
    }

    fn is_fixed(&self) -> bool {
        self.inverse_mass == Vec3::ZERO
    }
}

/// One end of a rope in a step.
#[derive(Clone, Copy)]
struct EndStep {
    /// Index of the body.
    body: usize,
    /// Anchor in world space, and the direction from it to the fixed point.
    anchor: Vec3,
    direction: Vec3,
    /// Torque of a force along the direction.
    lever: Vec3,
    /// Speed along the direction that ropes do not change.
    other_speed: f32,
    /// Parts of the rope's tension and length at this end.
    weight: f32,
}

impl EndStep {
    /// Returns the speed toward the fixed point due to the velocities of the body.
    fn speed(&self, bodies: &[PulledBody]) -> f32 {
        let body = &bodies[self.body];
        self.direction.dot(body.linear) + self.lever.dot(body.angular)
    }

    /// Returns the change of the rope's speed by an impulse of 1.
    fn response(&self, body: &PulledBody) -> f32 {
        if body.is_fixed() {
            return 0.0;
        }
        let linear = self.direction.dot(body.inverse_mass * self.direction);
        let angular = self.lever.dot(body.inverse_inertia * self.lever);
        (linear + angular) * self.weight * self.weight
    }
}

/// A rope in a step.
struct RopeStep {
    ends: [EndStep; 2],
    /// Change of the shortening speed by an impulse of 1.
    response: f32,
    /// Least speed at which the rope must shorten.
    target: f32,
    impulse: f32,
}

impl RopeStep {
    /// Adds the impulse after which the rope shortens fast enough. The sum of the impulses pulls.
    fn solve(&mut self, bodies: &mut [PulledBody]) {
        let shortening: f32 =
            self.ends.iter().map(|end| (end.speed(bodies) + end.other_speed) * end.weight).sum();
        let needed = (self.impulse + (self.target - shortening) / self.response).max(0.0);
        let added = needed - self.impulse;
        self.impulse = needed;
        for end in &self.ends {
            let body = &mut bodies[end.body];
            if !body.is_fixed() {
                body.linear += body.inverse_mass * end.direction * (end.weight * added);
                body.angular += body.inverse_inertia * (end.lever * (end.weight * added));
            }
        }
    }
}

/// All pulleys of a simulation.
#[derive(Default)]
pub(super) struct PulleyTable {
    /// Sorted by the joints' handles.
    pulleys: Vec<Pulley>,
    /// Bodies at the ropes, sorted by their handles. Working memory, as the lists below.
    handles: Vec<RigidBodyHandle>,
    bodies: Vec<PulledBody>,
    /// Ropes of the current step: one for each pulley, or none if it holds nothing in the step.
    ropes: Vec<Option<RopeStep>>,
}

impl Clone for PulleyTable {
    fn clone(&self) -> PulleyTable {
        PulleyTable { pulleys: self.pulleys.clone(), ..PulleyTable::default() }
    }
}

/// Returns true if a body moves in a step, and true if it sleeps.
fn activity(world: &rapier::PhysicsWorld, handle: RigidBodyHandle) -> (bool, bool) {
    let Some(body) = world.bodies.get(handle).filter(|body| body.is_enabled()) else {
        return (false, false);
    };
    match body.is_dynamic() {
        true => (!body.is_sleeping(), body.is_sleeping()),
        false => (body.is_kinematic() && body.next_position() != body.position(), false),
    }
}

impl PulleyTable {
    fn search(&self, joint: ImpulseJointHandle) -> Result<usize, usize> {
        let key = joint.into_raw_parts();
        self.pulleys.binary_search_by_key(&key, |pulley| pulley.joint.into_raw_parts())
    }

    /// Returns the pulley of a joint.
    pub fn find(&self, joint: ImpulseJointHandle) -> Option<&Pulley> {
        self.search(joint).ok().map(|index| &self.pulleys[index])
    }

    pub fn add(&mut self, pulley: Pulley) {
        if let Err(index) = self.search(pulley.joint) {
            self.pulleys.insert(index, pulley);
        }
    }

    pub fn remove(&mut self, joint: ImpulseJointHandle) {
        if let Ok(index) = self.search(joint) {
            self.pulleys.remove(index);
        }
    }

    /// Hashes the state of the existing pulleys.
    pub fn write_state(&self, joints: &rapier::ImpulseJointSet, hash: &mut StateHash) {
        for pulley in self.pulleys.iter().filter(|pulley| joints.contains(pulley.joint)) {
            let reactions = pulley.ends.iter().flat_map(|end| end.reactions);
            let numbers = [pulley.tension, pulley.length, pulley.ratio];
            numbers.into_iter().chain(reactions).for_each(|number| hash.write_f32(number));
        }
    }

    /// Calls `each` with the lines of the ropes that hold.
    pub fn outline(&self, world: &rapier::PhysicsWorld, mut each: impl FnMut(Vec3, Vec3)) {
        for pulley in &self.pulleys {
            let joint = world.impulse_joints.get(pulley.joint);
            if !joint.is_some_and(|joint| joint.data.is_enabled()) {
                continue;
            }
            let [one, two] = &pulley.ends;
            for end in [one, two] {
                if let Some((anchor, span)) = end.span(&world.bodies) {
                    each(anchor, anchor + span);
                }
            }
            each(one.ground, two.ground);
        }
    }

    /// Pulls the bodies by the tension of their ropes, before a step.
    pub fn pull(&mut self, world: &mut rapier::PhysicsWorld) {
        if self.pulleys.is_empty() {
            return;
        }
        self.pulleys.retain(|pulley| world.impulse_joints.contains(pulley.joint));
        self.wake(world);
        self.handles.clear();
        self.handles.extend(self.pulleys.iter().flat_map(|it| it.ends.map(|end| end.body)));
        self.handles.sort_unstable_by_key(|handle| handle.into_raw_parts());
        self.handles.dedup();
        let (gravity, seconds) = (world.gravity, world.integration_parameters.dt);
        self.bodies.clear();
        // A body exists as long as its joints.
        let bodies = self.handles.iter().map(|handle| &world.bodies[*handle]);
        self.bodies.extend(bodies.map(|body| PulledBody::new(body, gravity, seconds)));
        let PulleyTable { pulleys, handles, bodies, ropes } = self;
        ropes.clear();
        let known = (&handles[..], &bodies[..]);
        ropes.extend(pulleys.iter().map(|pulley| rope_of(pulley, known, world)));
        for _ in 0..PASSES {
            ropes.iter_mut().flatten().for_each(|rope| rope.solve(bodies));
        }
        for (pulley, rope) in pulleys.iter_mut().zip(ropes) {
            let Some(rope) = rope else { continue };
            pulley.tension = rope.impulse / seconds;
            for (end, step) in pulley.ends.iter().zip(&rope.ends) {
                if let Some(body) = world.bodies.get_mut(end.body) {
                    let force = step.direction * (step.weight * pulley.tension);
                    body.add_force_at_point(force, step.anchor, false);
                }
            }
        }
    }

    /// Wakes the bodies whose rope leads to a moving body.
    fn wake(&self, world: &mut rapier::PhysicsWorld) {
        for Pulley { joint, ends: [one, two], .. } in &self.pulleys {
            let joint = world.impulse_joints.get(*joint);
            if !joint.is_some_and(|joint| joint.data.is_enabled()) {
                continue;
            }
            for (moving, other) in [(one.body, two.body), (two.body, one.body)] {
                if activity(world, moving).0 && activity(world, other).1 {
                    world.wake_up(other, true);
                }
            }
        }
    }

    /// Removes the forces of the ropes after a step, and records those of contacts and joints.
    pub fn release(&mut self, world: &mut rapier::PhysicsWorld) {
        let PulleyTable { pulleys, bodies, ropes, .. } = self;
        for (pulley, rope) in pulleys.iter_mut().zip(ropes) {
            let Some(rope) = rope else { continue };
            for (end, step) in pulley.ends.iter_mut().zip(&rope.ends) {
                let Some(body) = world.bodies.get_mut(end.body) else { continue };
                if !body.is_dynamic() {
                    continue;
                }
                body.reset_forces(false);
                body.reset_torques(false);
                let anchor = *body.position() * end.anchor;
                let speed = body.velocity_at_point(anchor).dot(step.direction);
                let reaction = speed - step.speed(bodies);
                if speed.abs() > REST_SPEED {
                    // Rapier puts slow bodies to sleep, even if they accelerate.
                    body.wake_up(true);
                }
                end.reactions = [reaction, end.reactions[0]];
            }
        }
    }
}

/// Returns the rope of a pulley in a step, or `None` if it holds nothing in the step.
fn rope_of(
    pulley: &Pulley,
    (handles, bodies): (&[RigidBodyHandle], &[PulledBody]),
    world: &rapier::PhysicsWorld,
) -> Option<RopeStep> {
    let joint = world.impulse_joints.get(pulley.joint)?;
    let moves = pulley.ends.iter().any(|end| activity(world, end.body).0);
    if !moves || !joint.data.is_enabled() {
        return None;
    }
    let seconds = world.integration_parameters.dt;
    let [one, two] = pulley.lengths(&world.bodies);
    let stretch = one + pulley.ratio * two - pulley.length;
    let known = if stretch > STRETCH_MAX { STRETCHED } else { 1.0 };
    let end_of = |end: &RopeEnd, weight: f32| {
        let (anchor, span) = end.span(&world.bodies)?;
        let body = &world.bodies[end.body];
        let length = span.length();
        let direction = if length < LENGTH_MIN { Vec3::ZERO } else { span / length };
        let other_speed = match body.is_kinematic() {
            true => (*body.next_position() * end.anchor - anchor).dot(direction) / seconds,
            false => end.reaction() * known,
        };
        let key = end.body.into_raw_parts();
        let index = handles.binary_search_by_key(&key, |handle| handle.into_raw_parts()).ok()?;
        let lever = (anchor - body.center_of_mass()).cross(direction);
        Some(EndStep { body: index, anchor, direction, lever, other_speed, weight })
    };
    let ends = [end_of(&pulley.ends[0], 1.0)?, end_of(&pulley.ends[1], pulley.ratio)?];
    let response: f32 = ends.iter().map(|end| end.response(&bodies[end.body])).sum();
    // A loose rope becomes taut within the step, a stretched one is shortened over several steps.
    let target = match stretch > 0.0 {
        true => (stretch * CORRECTION / seconds).min(CORRECTION_SPEED_MAX),
        false => stretch / seconds,
    };
    (response > 0.0 && response.is_finite()).then_some(RopeStep {
        ends,
        response,
        target,
        impulse: 0.0,
    })
}
