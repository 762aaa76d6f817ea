//! The bodies and joints of ragdolls: actors of units that follow no node, and whose transforms the
//! animation reads.

use super::actors::{ActorOrigin, check_position};
use super::{ActorId, JointId, PhysicsTables, PhysicsWorldId};
use crate::unit::UnitId;
use engine_animation::RigidTransform;
use engine_animation::ragdoll::{BodyShape, BodyVelocity, JointLimits, Ragdoll, RagdollBody};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Quat, Vec3, error};
use engine_physics::{
    BodyDesc, BodyKinds, ColliderDesc, ColliderShape, CollisionFilter, JointDrive, JointKind,
    LimitedJoint, MotionType, QueryFilter, joint_angles,
};
use std::sync::Arc;

/// Angle in radians by which a limit is beyond a joint that exceeded it at the start.
const LIMIT_MARGIN: f32 = 0.02;
/// Rate in radians per second at which exceeded limits return to those of the description.
const LIMIT_RATE: f32 = 1.5;
/// Frequency in radians per second of the motors of a ragdoll with full strength.
const MOTOR_FREQUENCY: f32 = 60.0;
/// Damping ratio of the motors.
const MOTOR_DAMPING: f32 = 1.0;

/// Role of a body in a ragdoll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RagdollPart {
    /// The body does not exist.
    Absent,
    /// The body follows the animation and holds simulated ones.
    Driven,
    /// The body moves by forces.
    Simulated,
}

/// Description of a ragdoll that begins. The lists have an entry for each body.
pub struct RagdollStart<'a> {
    pub ragdoll: &'a Ragdoll,
    pub parts: &'a [RagdollPart],
    /// Uniform scale of the character.
    pub scale: f32,
    /// Transforms of the bones in world space.
    pub transforms: &'a [RigidTransform],
    pub velocities: &'a [BodyVelocity],
    /// Name of each bone, and the index of its node in the unit.
    pub names: &'a [(Arc<str>, u32)],
    /// `None`: that of the unit's first actor or mover, or else of the default filter.
    pub filter: Option<&'a str>,
    pub friction: f32,
    pub linear_damping: f32,
    pub angular_damping: f32,
}

/// Joint of a body with its parent.
struct RagdollJoint {
    id: JointId,
    /// Index of the parent.
    parent: usize,
    plan: LimitedJoint,
    limits: [[f32; 2]; 3],
    /// Current limits, which contain the pose of the start.
    widened: Option<[[f32; 2]; 3]>,
}

/// Bodies and joints of a running ragdoll, by body of its description.
pub(super) struct RagdollBodies {
    pub actors: Vec<Option<ActorId>>,
    joints: Vec<Option<RagdollJoint>>,
    is_driven: Vec<bool>,
    /// True if the motors of the joints have a stiffness.
    has_motors: bool,
}

/// Returns the rotation of a joint in the frame of its bone, and the limits around its axes.
fn joint_frame(body: &RagdollBody) -> (Quat, [[f32; 2]; 3]) {
    let along = |axis: Vec3| Quat::from_rotation_arc(Vec3::X, axis.normalize_or(Vec3::X));
    match body.limits {
        JointLimits::Ball { swing, twist } => {
            (along(body.axis), [[-twist, twist], [-swing, swing], [-swing, swing]])
        }
        JointLimits::Hinge { axis, angles } => (along(axis), [angles, [0.0; 2], [0.0; 2]]),
    }
}

fn shape(body: &RagdollBody, scale: f32) -> ColliderDesc {
    let shape = match body.shape {
        BodyShape::Capsule { half_height, radius } => {
            ColliderShape::Capsule { half_height: half_height * scale, radius: radius * scale }
        }
        BodyShape::Box { half } => ColliderShape::Box { half: half * scale },
        BodyShape::Sphere { radius } => ColliderShape::Sphere { radius: radius * scale },
    };
    let (position, rotation) = (body.offset.position * scale, body.offset.rotation);
    ColliderDesc { shape, position, rotation, ..ColliderDesc::DEFAULT }
}

impl PhysicsTables {
    /// Creates the bodies and joints of a ragdoll. Bodies begin at their transforms and velocities;
    /// limits of joints that these exceed are wider at first.
    ///
    /// # Errors
    /// Returns an error if the unit has a ragdoll already, if the world is two-dimensional, if a
    /// body is outside the allowed range, if the filter does not exist, or if there are too many
    /// bodies or joints. In that case no object remains.
    pub fn begin_ragdoll(
        &mut self,
        unit: UnitId,
        physics: PhysicsWorldId,
        start: &RagdollStart,
    ) -> Result<(), Error> {
        if self.world(physics).simulation.is_flat() {
            return Err(error!("ragdolls need a world that is not 2D"));
        }
        if self.has_ragdoll(unit) {
            return Err(error!("the ragdoll already runs: call Unit.stop_ragdoll first"));
        }
        let filter = self.ragdoll_filter(unit, start.filter)?;
        if self.parts(unit).is_none() {
            self.make_parts(unit, physics, Arc::default());
        }
        let count = start.ragdoll.bodies().len();
        let bodies = RagdollBodies {
            actors: vec![None; count],
            joints: (0..count).map(|_| None).collect(),
            is_driven: start.parts.iter().map(|part| *part == RagdollPart::Driven).collect(),
            has_motors: false,
        };
        self.set_ragdoll(unit, Some(bodies));
        for index in 0..count {
            let added = self.add_ragdoll_body(unit, physics, (start, filter), index);
            if let Err(error) = added {
                self.end_ragdoll(unit, 0, "");
                return Err(error);
            }
        }
        Ok(())
    }

    fn set_ragdoll(&mut self, unit: UnitId, bodies: Option<RagdollBodies>) {
        let parts = self.parts[unit.row() as usize].as_mut().expect("it was made");
        parts.ragdoll = bodies.map(Box::new);
    }

    fn ragdoll_filter(&self, unit: UnitId, name: Option<&str>) -> Result<CollisionFilter, Error> {
        if let Some(name) = name {
            let properties = self.properties.clone().unwrap_or_default();
            let filter = properties.filter(name)?;
            return Ok(properties.filters[filter].1);
        }
        let first = self.parts(unit).and_then(|parts| parts.actors.iter().flatten().next());
        let of_mover = || self.unit_mover(unit).map(|mover| self.mover(mover).filter);
        let of_actor = first.map(|actor| self.actor(*actor).filter);
        Ok(of_actor.or_else(of_mover).unwrap_or(CollisionFilter::ALL))
    }

    fn add_ragdoll_body(
        &mut self,
        unit: UnitId,
        physics: PhysicsWorldId,
        (start, filter): (&RagdollStart, CollisionFilter),
        index: usize,
    ) -> Result<(), Error> {
        let motion = match start.parts[index] {
            RagdollPart::Absent => return Ok(()),
            RagdollPart::Driven => MotionType::Kinematic,
            RagdollPart::Simulated => MotionType::Dynamic,
        };
        let body = &start.ragdoll.bodies()[index];
        let RigidTransform { position, rotation } = start.transforms[index];
        check_position(position)?;
        let part = ColliderDesc { friction: start.friction, ..shape(body, start.scale) };
        // Driven bodies have no shape: the rest of the character does not collide.
        let is_simulated = motion == MotionType::Dynamic;
        let desc = BodyDesc {
            motion,
            position,
            rotation,
            parts: if is_simulated { vec![part] } else { Vec::new() },
            filter,
            mass: is_simulated.then_some(body.mass),
            linear_damping: start.linear_damping,
            angular_damping: start.angular_damping,
            limb: true,
            ..BodyDesc::DEFAULT
        };
        let (name, node) = &start.names[index];
        let origin = ActorOrigin { unit: Some(unit), node: *node, name, mover: None };
        let actor = self.insert_actor(physics, desc, origin)?;
        self.actor_mut(actor).is_ragdoll = true;
        self.ragdoll_mut(unit).actors[index] = Some(actor);
        if is_simulated {
            let velocity = start.velocities[index];
            let (simulation, id) = self.body_mut(actor);
            let center = simulation.center_of_mass(id) - position;
            simulation.set_velocity(id, velocity.at(center));
            simulation.set_angular_velocity(id, velocity.angular);
            self.add_ragdoll_joint(unit, physics, start, index)?;
        }
        Ok(())
    }

    /// Connects a body with its parent, if that exists.
    fn add_ragdoll_joint(
        &mut self,
        unit: UnitId,
        physics: PhysicsWorldId,
        start: &RagdollStart,
        index: usize,
    ) -> Result<(), Error> {
        let body = &start.ragdoll.bodies()[index];
        let actors = &self.ragdoll_mut(unit).actors;
        let Some(parent) = body.parent.map(usize::from) else { return Ok(()) };
        let (Some(above), Some(below)) = (actors[parent], actors[index]) else { return Ok(()) };
        let (own, limits) = joint_frame(body);
        let frames = [(body.rest_rotation * own).normalize(), own];
        // The anchor is where the bone is now: clips can move bones along their parents.
        let [upper, lower] = [parent, index].map(|index| start.transforms[index]);
        let back = upper.rotation.conjugate();
        let anchor = back * (lower.position - upper.position);
        let [first, second] = frames;
        let turned = (back * lower.rotation).normalize();
        let angles = joint_angles(first.conjugate() * turned * second);
        let mut wide = limits;
        for (limit, angle) in wide.iter_mut().zip(angles) {
            let [least, most] = limit;
            if angle < *least || angle > *most {
                (*least, *most) = (least.min(angle - LIMIT_MARGIN), most.max(angle + LIMIT_MARGIN));
            }
        }
        let hinge = matches!(body.limits, JointLimits::Hinge { .. });
        let plan = LimitedJoint {
            bodies: [above, below].map(|actor| self.actor(actor).body),
            frames: [(anchor, first), (Vec3::ZERO, second)],
            hinge,
            limits: wide,
            owner: 0,
        };
        let id = self.insert_ragdoll_joint(physics, (above, below), plan)?;
        let widened = (wide != limits).then_some(wide);
        let joint = RagdollJoint { id, parent, plan, limits, widened };
        self.ragdoll_mut(unit).joints[index] = Some(joint);
        Ok(())
    }

    fn insert_ragdoll_joint(
        &mut self,
        physics: PhysicsWorldId,
        (above, below): (ActorId, ActorId),
        plan: LimitedJoint,
    ) -> Result<JointId, Error> {
        let kind = if plan.hinge { JointKind::Hinge } else { JointKind::Ball };
        self.insert_joint(physics, (above, Some(below)), kind, |simulation, owner| {
            simulation.add_limited_joint(&LimitedJoint { owner, ..plan })
        })
    }

    /// Creates the joints again that a restored snapshot does not contain.
    fn restore_ragdoll_joints(&mut self, unit: UnitId) {
        let Some(parts) = self.parts(unit) else { return };
        let physics = parts.physics;
        let Some(bodies) = parts.ragdoll.as_deref() else { return };
        let simulation = &self.world(physics).simulation;
        let is_lost = |joint: &RagdollJoint| {
            let known = self.joints.get(joint.id.0);
            !known.is_some_and(|known| simulation.contains_joint(known.simulation_joint))
        };
        let lost = |(index, joint): (usize, &Option<RagdollJoint>)| {
            let joint = joint.as_ref().filter(|joint| is_lost(joint))?;
            let [above, below] = [bodies.actors[joint.parent]?, bodies.actors[index]?];
            let found = [above, below].map(|actor| self.actor(actor).body);
            let plan = LimitedJoint { bodies: found, ..joint.plan };
            Some((index, joint.id, (above, below), plan))
        };
        let lost: Vec<_> = bodies.joints.iter().enumerate().filter_map(lost).collect();
        for (index, old, actors, plan) in lost {
            self.end_joint(old, 0, "");
            let Ok(id) = self.insert_ragdoll_joint(physics, actors, plan) else { continue };
            let bodies = self.ragdoll_mut(unit);
            bodies.has_motors = true;
            if let Some(joint) = &mut bodies.joints[index] {
                joint.id = id;
                joint.widened = (plan.limits != joint.limits).then_some(plan.limits);
            }
        }
    }

    /// Takes the limits of joints from a restored snapshot, and lets the next update set or remove
    /// the motors.
    pub(super) fn note_restored_ragdolls(&mut self, physics: PhysicsWorldId) {
        let PhysicsTables { parts, joints, worlds, .. } = self;
        let Some(world) = worlds.get(physics.0) else { return };
        for parts in parts.iter_mut().flatten().filter(|parts| parts.physics == physics) {
            let Some(bodies) = parts.ragdoll.as_deref_mut() else { continue };
            bodies.has_motors = true;
            for joint in bodies.joints.iter_mut().flatten() {
                let known = joints.get(joint.id.0).map(|known| known.simulation_joint);
                let found = known.and_then(|id| world.simulation.joint_limits(id));
                let Some(found) = found else { continue };
                let mut wide = joint.limits;
                for (limit, found) in wide.iter_mut().zip(found) {
                    *limit = found.unwrap_or(*limit);
                }
                joint.widened = (wide != joint.limits).then_some(wide);
            }
        }
    }

    /// Writes the state of a unit's ragdoll that its bodies do not contain.
    pub fn write_ragdoll_state(&self, unit: UnitId, hash: &mut StateHash) {
        let Some(bodies) = self.ragdoll(unit) else { return };
        hash.write_u64(bodies.has_motors.into());
        for joint in bodies.joints.iter().flatten() {
            hash.write_u64(joint.widened.is_some().into());
            joint.widened.iter().flatten().flatten().for_each(|angle| hash.write_f32(*angle));
        }
    }

    fn ragdoll(&self, unit: UnitId) -> Option<&RagdollBodies> {
        self.parts(unit)?.ragdoll.as_deref()
    }

    fn ragdoll_mut(&mut self, unit: UnitId) -> &mut RagdollBodies {
        let parts = self.parts[unit.row() as usize].as_mut().expect("it was made");
        parts.ragdoll.as_mut().expect("it was begun")
    }

    /// Returns true if a unit has bodies of a ragdoll.
    pub fn has_ragdoll(&self, unit: UnitId) -> bool {
        self.ragdoll(unit).is_some()
    }

    /// Returns the actor of each body of a unit's ragdoll; none without a ragdoll.
    pub fn ragdoll_body_actors(&self, unit: UnitId) -> &[Option<ActorId>] {
        self.ragdoll(unit).map_or(&[], |bodies| &bodies.actors)
    }

    /// Removes the bodies and joints of a unit's ragdoll. `location` is the script line.
    pub fn end_ragdoll(&mut self, unit: UnitId, frame: u64, location: &str) {
        let parts = self.parts.get_mut(unit.row() as usize).and_then(Option::as_deref_mut);
        let Some(bodies) = parts.and_then(|parts| parts.ragdoll.take()) else { return };
        for joint in bodies.joints.into_iter().flatten() {
            self.end_joint(joint.id, frame, location);
        }
        for actor in bodies.actors.into_iter().flatten() {
            self.end_actor(actor, frame, location);
        }
    }

    /// Returns the actor of a simulated body, unless it was destroyed.
    pub fn ragdoll_actor(&self, unit: UnitId, body: usize) -> Option<ActorId> {
        let bodies = self.ragdoll(unit)?;
        let actor = *bodies.actors.get(body)?;
        actor.filter(|_| !bodies.is_driven[body])
    }

    /// Returns all actors of a unit's ragdoll.
    pub(super) fn ragdoll_actors(&self, unit: UnitId) -> impl Iterator<Item = ActorId> {
        self.ragdoll(unit).into_iter().flat_map(|bodies| bodies.actors.iter().flatten().copied())
    }

    /// Returns the displayed transform of a simulated body.
    pub fn ragdoll_transform(&self, unit: UnitId, body: usize) -> Option<RigidTransform> {
        let (position, rotation) = self.actor(self.ragdoll_actor(unit, body)?).shown;
        Some(RigidTransform { position, rotation })
    }

    /// Returns the height of the static ground below a point, up to a distance.
    pub fn ground_below(&self, unit: UnitId, point: Vec3, distance: f32) -> Option<f32> {
        let physics = self.parts(unit)?.physics;
        let query = QueryFilter { kinds: BodyKinds::Statics, ..QueryFilter::DEFAULT };
        let hit = self.world(physics).simulation.raycast(point, -Vec3::Z, distance, &query)?;
        Some(hit.position.z)
    }

    /// Moves the driven bodies of a ragdoll to transforms of the animation, sets the motors of the
    /// joints, and lets widened limits return. The lists have an entry for each body: `animated` in
    /// world space, and `targets` relative to the parent. A strength of 0 removes the motors.
    pub fn drive_ragdoll(
        &mut self,
        unit: UnitId,
        (animated, targets): (&[RigidTransform], &[Quat]),
        strength: f32,
        seconds: f32,
    ) {
        self.restore_ragdoll_joints(unit);
        let row = unit.row() as usize;
        let PhysicsTables { parts, actors, joints, worlds, .. } = self;
        let Some(parts) = parts.get_mut(row).and_then(Option::as_deref_mut) else { return };
        let Some(bodies) = parts.ragdoll.as_deref_mut() else { return };
        let Some(world) = worlds.get_mut(parts.physics.0) else { return };
        let simulation = &mut world.simulation;
        for (index, pose) in animated.iter().enumerate().take(bodies.actors.len()) {
            let Some(actor) = bodies.actors[index].filter(|_| bodies.is_driven[index]) else {
                continue;
            };
            let actor = actors.get(actor.0).expect("the ragdoll has it");
            if check_position(pose.position).is_ok() && pose.rotation.is_finite() {
                simulation.drive(actor.body, pose.position, pose.rotation);
            }
        }
        let has_motors = strength > 0.0;
        let frequency = MOTOR_FREQUENCY * strength;
        let (stiffness, damping) = (frequency * frequency, 2.0 * MOTOR_DAMPING * frequency);
        for (joint, target) in bodies.joints.iter_mut().zip(targets) {
            let Some(joint) = joint else { continue };
            let Some(known) = joints.get(joint.id.0) else { continue };
            let id = known.simulation_joint;
            if has_motors || bodies.has_motors {
                let [(_, first), (_, second)] = joint.plan.frames;
                let target = first.conjugate() * *target * second;
                simulation.drive_joint(id, &JointDrive { target, stiffness, damping });
            }
            if let Some(wide) = &mut joint.widened {
                let step = LIMIT_RATE * seconds;
                for (now, limit) in wide.iter_mut().zip(joint.limits) {
                    *now = [(now[0] + step).min(limit[0]), (now[1] - step).max(limit[1])];
                }
                simulation.set_joint_angles(id, *wide);
                if *wide == joint.limits {
                    joint.widened = None;
                }
            }
        }
        bodies.has_motors = has_motors;
    }
}
