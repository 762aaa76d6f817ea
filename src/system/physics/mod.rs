//! Physics: rigid bodies that fall, collide and rest, with one simulation per world. Knows no
//! units: a body carries its owner as a plain number, and moved bodies and contacts are returned as
//! lists. Rigid bodies and queries are implemented by rapier, which only this folder uses.
//!
//! The simulation advances in fixed steps. If a frame is not a whole number of steps, bodies are
//! shown interpolated between their last two steps.

mod async_step;
mod bodies;
mod character_controller;
mod contacts;
mod debug_draw;
mod flat_plane;
mod flat_shape;
mod ground;
mod half_space;
mod joint_plan;
mod joints;
mod limbs;
mod limited_joints;
mod moved_bodies;
mod moving_platforms;
mod one_way;
mod pulleys;
mod queries;
mod shape;
mod snapshot;
mod state_hash;
mod static_triangles;

pub use async_step::StepThread;
pub use character_controller::{ControllerMove, ControllerSettings};
pub use contacts::{CONTACTS_MAX, ContactEvent, ContactPhase, TriggerEvent};
pub use debug_draw::BodyColorClass;
pub use joint_plan::{JointBodies, JointKind, JointPlan, JointSpring, JointState};
pub use joints::{JOINTS_MAX, JointId};
pub use limited_joints::{JointDrive, LimitedJoint, joint_angles};
pub use moving_platforms::Separation;
pub use pulleys::{PULLEY_RATIO_MAX, PULLEY_RATIO_MIN, PulleyPlan};
pub use queries::{BodyKinds, HITS_MAX, QueryFilter, QueryHit};
pub use shape::{ColliderShape, HULL_CORNERS_MAX, POINTS_MAX};
pub use snapshot::SimulationSnapshot;

use async_step::AsyncStep;
use contacts::EventCollector;
use engine_foundation::{Error, Quat, Vec3};
use moved_bodies::MovedBodies;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, RigidBodyHandle};

/// Maximum number of bodies of one simulation.
pub const BODIES_MAX: usize = 1 << 16;
/// Maximum number of collision types that filters can distinguish.
pub const COLLISION_TYPES_MAX: usize = 31;
/// Maximum number of steps that one frame catches up on. Time beyond that is dropped.
pub const STEPS_MAX: u32 = 8;
/// Maximum speed in metres per second, and in radians per second. A higher speed is treated as a
/// mistake.
pub const SPEED_MAX: f32 = 1.0e5;
/// Maximum distance from the origin in metres. A greater distance is treated as a mistake.
pub const POSITION_MAX: f32 = 1.0e7;

/// Bit of a collider's groups: set if raycasts, sweeps and overlap queries find it.
const QUERYABLE: u32 = 1 << 31;

/// Handle of a body of one simulation. A stale handle is rejected and never refers to another body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BodyId(RigidBodyHandle);

impl BodyId {
    /// Returns a handle that refers to no body.
    pub fn none() -> BodyId {
        BodyId(RigidBodyHandle::invalid())
    }
}

/// Number that identifies the owner of a body in the lists.
pub type BodyOwner = u128;

/// Motion type of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MotionType {
    /// Never moves.
    Static,
    /// Moves by forces.
    Dynamic,
    /// Moves as scripts command, and pushes bodies in its path.
    Kinematic,
}

impl MotionType {
    fn rapier(self) -> rapier::RigidBodyType {
        match self {
            MotionType::Static => rapier::RigidBodyType::Fixed,
            MotionType::Dynamic => rapier::RigidBodyType::Dynamic,
            MotionType::Kinematic => rapier::RigidBodyType::KinematicPositionBased,
        }
    }

    fn of(kind: rapier::RigidBodyType) -> MotionType {
        match kind {
            rapier::RigidBodyType::Fixed => MotionType::Static,
            rapier::RigidBodyType::Dynamic => MotionType::Dynamic,
            _ => MotionType::Kinematic,
        }
    }
}

/// Collision filter: the collision types of a body, and the set of types that it collides with. Two
/// bodies collide if each has a type of the other in its set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollisionFilter {
    pub is: u32,
    pub collides: u32,
}

impl CollisionFilter {
    /// Has the first type, and collides with all types.
    pub const ALL: CollisionFilter = CollisionFilter { is: 1, collides: !QUERYABLE };
}

/// Axes along which a body cannot move, and about which it cannot rotate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AxisLocks {
    pub translation: [bool; 3],
    pub rotation: [bool; 3],
}

impl AxisLocks {
    /// Locks of a body in the xy plane. Its z is kept by [`flat_plane`].
    const FLAT: AxisLocks = AxisLocks { translation: [false; 3], rotation: [true, true, false] };

    fn with(self, other: AxisLocks) -> AxisLocks {
        let both = |a: [bool; 3], b: [bool; 3]| [a[0] | b[0], a[1] | b[1], a[2] | b[2]];
        AxisLocks {
            translation: both(self.translation, other.translation),
            rotation: both(self.rotation, other.rotation),
        }
    }

    fn rapier(self) -> rapier::LockedAxes {
        let [tx, ty, tz] = self.translation.map(u8::from);
        let [rx, ry, rz] = self.rotation.map(u8::from);
        let bits = tx | ty << 1 | tz << 2 | rx << 3 | ry << 4 | rz << 5;
        rapier::LockedAxes::from_bits_truncate(bits)
    }
}

/// A shape on a body, with its material.
#[derive(Clone, PartialEq, Debug)]
pub struct ColliderDesc {
    pub shape: ColliderShape,
    /// Position relative to the body.
    pub position: Vec3,
    pub rotation: Quat,
    /// Friction: 0 is ice, 1 rubber.
    pub friction: f32,
    /// Fraction of the speed that a bounce preserves: 0 to 1.
    pub restitution: f32,
    /// Kilograms per cubic metre.
    pub density: f32,
}

impl ColliderDesc {
    pub const DEFAULT: ColliderDesc = ColliderDesc {
        shape: ColliderShape::Sphere { radius: 0.5 },
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        friction: 0.5,
        restitution: 0.1,
        density: 1000.0,
    };
}

/// Parameters of a new body.
#[derive(Clone, PartialEq, Debug)]
pub struct BodyDesc {
    pub motion: MotionType,
    pub position: Vec3,
    pub rotation: Quat,
    pub parts: Vec<ColliderDesc>,
    /// True if it only detects touching bodies and stops nothing.
    pub trigger: bool,
    pub filter: CollisionFilter,
    /// True if it holds only bodies that come from above.
    pub one_way: bool,
    /// Mass in kilograms. `None`: computed from the volumes and densities of the parts.
    pub mass: Option<f32>,
    pub linear_damping: f32,
    pub angular_damping: f32,
    /// Gravity scale: 0 floats, 1 falls.
    pub gravity: f32,
    /// True for continuous collision detection, which small and fast bodies need.
    pub continuous: bool,
    pub locks: AxisLocks,
    /// True if its contacts are reported.
    pub reports_contacts: bool,
    /// True for a part of a character. It does not collide with bodies of its group: those whose
    /// owner's number has the same upper half, which is not 0. Contacts stop it softly, and
    /// its moments of inertia are similar about all axes.
    pub limb: bool,
    pub owner: BodyOwner,
}

impl BodyDesc {
    /// A dynamic body without a shape.
    pub const DEFAULT: BodyDesc = BodyDesc {
        motion: MotionType::Dynamic,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        parts: Vec::new(),
        trigger: false,
        filter: CollisionFilter::ALL,
        one_way: false,
        mass: None,
        linear_damping: 0.0,
        angular_damping: 0.05,
        gravity: 1.0,
        continuous: false,
        locks: AxisLocks { translation: [false; 3], rotation: [false; 3] },
        reports_contacts: true,
        limb: false,
        owner: 0,
    };
}

/// Displayed transform of a body, and its owner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MovedBody {
    pub owner: BodyOwner,
    pub position: Vec3,
    pub rotation: Quat,
}

/// Parameters of a new simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SimulationSettings {
    /// Metres per second squared.
    pub gravity: Vec3,
    pub step_seconds: f32,
    /// True if all bodies stay in the xy plane.
    pub flat: bool,
    /// Thread for asynchronous steps, which run in parallel with scripts and become visible one
    /// update later. `None`: steps run within the update.
    pub async_thread: Option<StepThread>,
}

impl SimulationSettings {
    pub const DEFAULT: SimulationSettings = SimulationSettings {
        gravity: Vec3::new(0.0, 0.0, -9.81),
        step_seconds: 1.0 / 60.0,
        flat: false,
        async_thread: None,
    };
}

/// The physics simulation of one world.
pub struct Simulation {
    world: rapier::PhysicsWorld,
    setup: SimulationSettings,
    /// Seconds that are not simulated yet.
    unsimulated: f64,
    collector: EventCollector,
    track: MovedBodies,
    links: joints::JointTable,
    planes: flat_plane::BodyPlanes,
    async_step: Option<Box<AsyncStep>>,
    /// Touching pairs, in a read-only copy for scripts.
    touches: Option<TouchPairs>,
}

/// Touching pairs of colliders: each pair in both orders, sorted by the first.
type TouchPairs = Vec<(ColliderHandle, ColliderHandle)>;

impl Simulation {
    /// Creates an empty simulation.
    pub fn new(setup: SimulationSettings) -> Simulation {
        let gravity = setup.gravity;
        let mut world = rapier::PhysicsWorld { gravity, ..rapier::PhysicsWorld::default() };
        world.integration_parameters.dt = setup.step_seconds;
        // The unit is the length unit, which is a metre here. The default is 400, and bullets
        // exceed it.
        world.integration_parameters.normalized_max_linear_velocity = SPEED_MAX;
        world
            .narrow_phase
            .set_query_dispatcher(half_space::HalfSpaceDispatcher { flat: setup.flat });
        Simulation {
            world,
            setup,
            unsimulated: 0.0,
            collector: EventCollector::default(),
            track: MovedBodies::default(),
            links: joints::JointTable::default(),
            planes: flat_plane::BodyPlanes::default(),
            async_step: setup.async_thread.map(|thread| Box::new(AsyncStep::new(thread))),
            touches: None,
        }
    }

    /// Returns the number of bodies.
    pub fn len(&self) -> usize {
        self.world.bodies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of dynamic bodies that are awake.
    pub fn awake(&self) -> usize {
        let dynamic = |body: &rapier::RigidBodyHandle| self.world.bodies[*body].is_dynamic();
        self.world.islands.active_bodies().filter(dynamic).count()
    }

    /// Returns the direction that is up: z, and y in two dimensions.
    pub fn up(&self) -> Vec3 {
        shape::up_axis(self.setup.flat)
    }

    /// Returns true if the simulation is two-dimensional.
    pub fn is_flat(&self) -> bool {
        self.setup.flat
    }

    /// Returns a displacement, velocity or impulse. In two dimensions, it has no z.
    fn in_plane(&self, vector: Vec3) -> Vec3 {
        if self.setup.flat { vector.with_z(0.0) } else { vector }
    }

    pub fn gravity(&self) -> Vec3 {
        self.world.gravity
    }

    pub fn step_seconds(&self) -> f32 {
        self.world.integration_parameters.dt
    }

    /// Sets gravity, in metres per second squared, and wakes all sleeping bodies.
    pub fn set_gravity(&mut self, gravity: Vec3) {
        let gravity = self.in_plane(gravity);
        self.change(move |it| {
            it.world.gravity = gravity;
            it.world.wake_up_all(true);
        });
    }

    pub fn wake_all(&mut self) {
        self.change(|it| it.world.wake_up_all(true));
    }

    /// Advances the simulation, clears the contacts of the last update, and returns the number of
    /// steps. With asynchronous steps: shows the results of the last update's steps, and starts the
    /// steps of this update.
    ///
    /// # Errors
    /// Returns an error if a body left the valid range and was stopped.
    pub fn update(&mut self, seconds: f64) -> Result<u32, Error> {
        match self.async_step.take() {
            Some(async_step) => self.update_async(async_step, seconds),
            None => {
                let steps = self.make_steps(seconds);
                self.links.remove_broken(&mut self.world);
                steps
            }
        }
    }

    /// Runs the steps that are due.
    ///
    /// # Errors
    /// Returns an error if a body left the valid range and was stopped.
    fn make_steps(&mut self, seconds: f64) -> Result<u32, Error> {
        self.collector.begin();
        self.links.broken.clear();
        let step = f64::from(self.world.integration_parameters.dt);
        self.unsimulated += seconds;
        // A frame as long as a step is one step, although 1/60 is not exact.
        let steps = ((self.unsimulated + step * 1e-4) / step).floor();
        self.unsimulated -= steps * step;
        if self.unsimulated.abs() < step * 1e-3 {
            self.unsimulated = 0.0;
        }
        self.track.interpolated |= self.unsimulated > 0.0;
        let steps = if steps > f64::from(STEPS_MAX) { STEPS_MAX } else { steps as u32 };
        self.track.stepped = steps > 0;
        let hooks = one_way::OneWayHooks { up: self.up(), step_seconds: step as f32 };
        for _ in 0..steps {
            self.track.record_awake(&self.world);
            self.links.pulleys.pull(&mut self.world);
            self.world.step_with_events(&hooks, &self.collector);
            self.links.pulleys.release(&mut self.world);
            if self.setup.flat {
                self.planes.keep(&mut self.world);
            }
            self.collector.collect_events(&self.world);
            self.links.break_overloaded(&mut self.world);
            if let Some(stopped) = self.world.quarantine().bodies().first() {
                let owner = self.world.bodies.get(*stopped).map_or(0, |body| body.user_data);
                return Err(engine_foundation::error!(
                    "{}a body left all bounds and was removed from the simulation",
                    contacts::owner_prefix(owner)
                ));
            }
        }
        Ok(steps)
    }

    /// Adds the transforms of moved bodies to `out`, in the simulation's internal order, which is
    /// the same in every run.
    pub fn moved(&mut self, out: &mut Vec<MovedBody>) {
        let step = f64::from(self.world.integration_parameters.dt);
        let planes = self.setup.flat.then_some(&self.planes);
        self.track.moved(&self.world, (self.unsimulated / step) as f32, planes, out);
    }

    /// Returns the contacts that began in the last update, and the trigger events.
    pub fn contacts(&self) -> (&[ContactEvent], &[TriggerEvent]) {
        self.collector.reported_events()
    }

    /// Returns the number of contacts and trigger events dropped for lack of room in the last
    /// update.
    pub fn dropped_events(&self) -> usize {
        self.collector.left_out
    }

    fn collider(&self, collider: ColliderHandle) -> Option<&rapier::Collider> {
        self.world.colliders.get(collider)
    }
}

#[cfg(test)]
mod async_step_tests;
#[cfg(test)]
mod ledge_tests;
#[cfg(test)]
mod limb_tests;
#[cfg(test)]
mod pulley_tests;
#[cfg(test)]
mod tests;
