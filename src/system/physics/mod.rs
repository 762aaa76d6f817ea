//! Physics: bodies that fall, collide and rest, one simulation for each world. Knows no units: a
//! body carries its owner as a plain number, and what moved and what touched is handed back as
//! lists. Rigid bodies and queries are rapier's; it is named in this folder only.
//!
//! Time goes in steps of one length. A frame that is no whole number of steps shows bodies between
//! their last two steps.

mod beside;
mod bodies;
mod carry;
mod contacts;
mod ground;
mod joints;
mod outline;
mod queries;
mod shape;
mod snapshot;
mod state;
mod track;
mod walker;

pub use beside::Lane;
pub use carry::Separation;
pub use contacts::{CONTACTS_MAX, Contact, Touch, Trigger};
pub use joints::{JOINTS_MAX, JointId, JointKind, JointPlan, JointState, Link};
pub use outline::Look;
pub use queries::{HITS_MAX, Hit, Kinds, Query};
pub use shape::{HULL_CORNERS_MAX, POINTS_MAX, Shape};
pub use snapshot::Snapshot;
pub use walker::{Gait, Walk};

use crate::foundation::{Error, Quat, Vec3};
use beside::Beside;
use contacts::Collector;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, RigidBodyHandle};
use track::Track;

/// The most bodies of one simulation.
pub const BODIES_MAX: usize = 1 << 16;
/// The most kinds of things that filters tell apart.
pub const COLLISION_TYPES_MAX: usize = 31;
/// The most steps that one frame makes up for; time beyond that is dropped.
pub const STEPS_MAX: u32 = 8;
/// Metres a second, and radians a second: faster than this is taken for a mistake.
pub const SPEED_MAX: f32 = 1.0e5;
/// Metres from the origin: what is farther away is taken for a mistake.
pub const PLACE_MAX: f32 = 1.0e7;

/// Of a collider's groups: whether rays, sweeps and overlaps find it.
const FOUND: u32 = 1 << 31;

/// A body of one simulation. One that is gone is refused, not mistaken for another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BodyId(RigidBodyHandle);

impl BodyId {
    /// No body.
    pub fn none() -> BodyId {
        BodyId(RigidBodyHandle::invalid())
    }
}

/// What the lists name a body by.
pub type Owner = u128;

/// How a body moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// Never.
    Static,
    /// By forces.
    Dynamic,
    /// As it is told, pushing what is in its way.
    Kinematic,
}

impl Motion {
    fn rapier(self) -> rapier::RigidBodyType {
        match self {
            Motion::Static => rapier::RigidBodyType::Fixed,
            Motion::Dynamic => rapier::RigidBodyType::Dynamic,
            Motion::Kinematic => rapier::RigidBodyType::KinematicPositionBased,
        }
    }

    fn of(kind: rapier::RigidBodyType) -> Motion {
        match kind {
            rapier::RigidBodyType::Fixed => Motion::Static,
            rapier::RigidBodyType::Dynamic => Motion::Dynamic,
            _ => Motion::Kinematic,
        }
    }
}

/// Who collides with whom: the types of a thing, and a set of types. Two things collide if each
/// has the other's type in its set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filter {
    pub is: u32,
    pub collides: u32,
}

impl Filter {
    /// Of the first type, collides with everything.
    pub const ALL: Filter = Filter { is: 1, collides: !FOUND };
}

/// Which axes a body neither moves along nor turns about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Locks {
    pub translation: [bool; 3],
    pub rotation: [bool; 3],
}

impl Locks {
    /// What keeps a body in the plane of x and y.
    pub const FLAT: Locks =
        Locks { translation: [false, false, true], rotation: [true, true, false] };

    fn with(self, other: Locks) -> Locks {
        let both = |a: [bool; 3], b: [bool; 3]| [a[0] | b[0], a[1] | b[1], a[2] | b[2]];
        Locks {
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

/// A shape on a body.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    pub shape: Shape,
    /// Relative to the body.
    pub position: Vec3,
    pub rotation: Quat,
    /// 0 is ice, 1 rubber.
    pub friction: f32,
    /// How much speed is given back: 0 to 1.
    pub restitution: f32,
    /// Kilograms in a cubic metre.
    pub density: f32,
}

impl Part {
    pub const DEFAULT: Part = Part {
        shape: Shape::Sphere { radius: 0.5 },
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        friction: 0.5,
        restitution: 0.1,
        density: 1000.0,
    };
}

/// A body to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    pub motion: Motion,
    pub position: Vec3,
    pub rotation: Quat,
    pub parts: Vec<Part>,
    /// Notices what touches it, and stops nothing.
    pub trigger: bool,
    pub filter: Filter,
    /// Kilograms; of the parts' volumes and densities if none.
    pub mass: Option<f32>,
    pub linear_damping: f32,
    pub angular_damping: f32,
    /// 0 floats, 1 falls.
    pub gravity: f32,
    /// Found out between two steps: for what is small and fast.
    pub continuous: bool,
    pub locks: Locks,
    /// Whether contacts with it are told.
    pub tells: bool,
    pub owner: Owner,
}

impl Body {
    /// Falls, and has no shape yet.
    pub const DEFAULT: Body = Body {
        motion: Motion::Dynamic,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        parts: Vec::new(),
        trigger: false,
        filter: Filter::ALL,
        mass: None,
        linear_damping: 0.0,
        angular_damping: 0.05,
        gravity: 1.0,
        continuous: false,
        locks: Locks { translation: [false; 3], rotation: [false; 3] },
        tells: true,
        owner: 0,
    };
}

/// Where a body is shown, and whose it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moved {
    pub owner: Owner,
    pub position: Vec3,
    pub rotation: Quat,
}

/// How a simulation is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setup {
    /// Metres a second for each second.
    pub gravity: Vec3,
    pub step_seconds: f32,
    /// Whether everything stays in the plane of x and y.
    pub flat: bool,
    /// Where steps run beside scripts, and are seen one update later; none: within the update.
    pub beside: Option<Lane>,
}

impl Setup {
    pub const DEFAULT: Setup = Setup {
        gravity: Vec3::new(0.0, 0.0, -9.81),
        step_seconds: 1.0 / 60.0,
        flat: false,
        beside: None,
    };
}

/// One simulation.
pub struct Physics {
    world: rapier::PhysicsWorld,
    setup: Setup,
    /// Seconds that no step has been made for yet.
    left: f64,
    collector: Collector,
    track: Track,
    links: joints::Links,
    beside: Option<Box<Beside>>,
    /// Of one that is for reading.
    touches: Option<Touches>,
}

/// Who touches whom, each pair both ways, sorted by the first.
type Touches = Vec<(ColliderHandle, ColliderHandle)>;

impl Physics {
    /// An empty simulation.
    pub fn new(setup: Setup) -> Physics {
        let gravity = setup.gravity;
        let mut world = rapier::PhysicsWorld { gravity, ..rapier::PhysicsWorld::default() };
        world.integration_parameters.dt = setup.step_seconds;
        // In units of a length that is a metre here; 400 without it, which bullets go beyond.
        world.integration_parameters.normalized_max_linear_velocity = SPEED_MAX;
        world.narrow_phase.set_query_dispatcher(ground::Dispatcher { flat: setup.flat });
        Physics {
            world,
            setup,
            left: 0.0,
            collector: Collector::default(),
            track: Track::default(),
            links: joints::Links::default(),
            beside: setup.beside.map(|lane| Box::new(Beside::new(lane))),
            touches: None,
        }
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.world.bodies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bodies are awake.
    pub fn awake(&self) -> usize {
        let dynamic = |body: &rapier::RigidBodyHandle| self.world.bodies[*body].is_dynamic();
        self.world.islands.active_bodies().filter(dynamic).count()
    }

    pub fn gravity(&self) -> Vec3 {
        self.world.gravity
    }

    pub fn step_seconds(&self) -> f32 {
        self.world.integration_parameters.dt
    }

    /// Sets gravity, in metres a second for each second, and wakes what sleeps.
    pub fn set_gravity(&mut self, gravity: Vec3) {
        self.change(move |it| {
            it.world.gravity = gravity;
            it.world.wake_up_all(true);
        });
    }

    pub fn wake_all(&mut self) {
        self.change(|it| it.world.wake_up_all(true));
    }

    /// Moves the simulation on, and forgets the touches of the last time; how many steps that took.
    /// Beside scripts: shows what the last update's steps made, and has this one's made.
    ///
    /// # Errors
    /// A body went out of all bounds, and was stopped.
    pub fn update(&mut self, seconds: f64) -> Result<u32, Error> {
        match self.beside.take() {
            Some(beside) => self.update_beside(beside, seconds),
            None => {
                let steps = self.make_steps(seconds);
                self.links.end_broken(&mut self.world);
                steps
            }
        }
    }

    /// Makes the steps that have become due.
    ///
    /// # Errors
    /// A body went out of all bounds, and was stopped.
    fn make_steps(&mut self, seconds: f64) -> Result<u32, Error> {
        self.collector.begin();
        self.links.broken.clear();
        let step = f64::from(self.world.integration_parameters.dt);
        self.left += seconds;
        // A frame of a step's length is one step, though 1/60 is not exact.
        let steps = ((self.left + step * 1e-4) / step).floor();
        self.left -= steps * step;
        if self.left.abs() < step * 1e-3 {
            self.left = 0.0;
        }
        self.track.between |= self.left > 0.0;
        let steps = if steps > f64::from(STEPS_MAX) { STEPS_MAX } else { steps as u32 };
        self.track.stepped = steps > 0;
        for _ in 0..steps {
            self.track.note(&self.world);
            self.world.step_with_events(&(), &self.collector);
            self.collector.settle(&self.world);
            self.links.break_overloaded(&mut self.world);
            if let Some(stopped) = self.world.quarantine().bodies().first() {
                let owner = self.world.bodies.get(*stopped).map_or(0, |body| body.user_data);
                return Err(crate::error!(
                    "{}a body went out of all bounds, and was taken out of the simulation",
                    contacts::named(owner)
                ));
            }
        }
        Ok(steps)
    }

    /// Where bodies are that moved, in the simulation's own order, which is the same in every run.
    pub fn moved(&mut self, out: &mut Vec<Moved>) {
        let step = f64::from(self.world.integration_parameters.dt);
        self.track.moved(&self.world, (self.left / step) as f32, out);
    }

    /// What began to touch in the last update, and in whose triggers it was.
    pub fn contacts(&self) -> (&[Contact], &[Trigger]) {
        self.collector.told()
    }

    /// How many contacts and triggers found no room in the last update.
    pub fn left_out(&self) -> usize {
        self.collector.left_out
    }

    fn collider(&self, collider: ColliderHandle) -> Option<&rapier::Collider> {
        self.world.colliders.get(collider)
    }
}

#[cfg(test)]
mod beside_tests;
#[cfg(test)]
mod tests;
