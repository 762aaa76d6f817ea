//! Physics: bodies that fall, collide and rest, one simulation for each world. Knows no units: a
//! body carries its owner as a plain number, and what moved and what touched is handed back as
//! lists. Rigid bodies and queries are rapier's; it is named in this folder only.
//!
//! Time goes in steps of one length. A frame that is no whole number of steps shows bodies between
//! their last two steps.

mod contacts;
mod queries;
mod shape;

pub use contacts::{Contact, Touch, Trigger};
pub use queries::{Gait, Hit, Query, Walk};
pub use shape::Shape;

use crate::foundation::{Error, Quat, Vec3};
use contacts::Collector;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{RigidBodyBuilder, RigidBodyHandle, RigidBodyType};

/// The most bodies of one simulation.
pub const BODIES_MAX: usize = 1 << 16;
/// The most filters by name: a group each.
pub const FILTERS_MAX: usize = 32;
/// The most steps that one frame makes up for; time beyond that is dropped.
pub const STEPS_MAX: u32 = 8;
/// Metres a second: faster than this is taken for a mistake.
pub const SPEED_MAX: f32 = 1.0e5;

/// A body of one simulation. One that is gone is refused, not mistaken for another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BodyId(RigidBodyHandle);

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

/// Which motion of a simulation in two dimensions is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Plane {
    /// All of it.
    #[default]
    None,
    /// Along x and z, turning about y: seen from the side.
    Side,
    /// Along x and y, turning about z: seen from above.
    Top,
}

/// Who collides with whom: a group of its own, and a set of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filter {
    pub is: u32,
    pub collides: u32,
}

impl Filter {
    pub const ALL: Filter = Filter { is: u32::MAX, collides: u32::MAX };

    fn groups(self) -> rapier::InteractionGroups {
        let [is, collides] = [self.is, self.collides].map(rapier::Group::from_bits_retain);
        rapier::InteractionGroups::new(is, collides, rapier::InteractionTestMode::And)
    }
}

/// A shape on a body.
#[derive(Clone, Debug)]
pub struct Part {
    pub shape: Shape,
    /// Relative to the body.
    pub position: Vec3,
    pub rotation: Quat,
    /// Notices what touches it, and stops nothing.
    pub trigger: bool,
    /// 0 is ice, 1 rubber.
    pub friction: f32,
    /// How much speed is given back: 0 to 1.
    pub restitution: f32,
    /// Kilograms in a cubic metre.
    pub density: f32,
    pub filter: Filter,
    /// Whether contacts with it are told.
    pub tells: bool,
}

impl Part {
    pub const DEFAULT: Part = Part {
        shape: Shape::Sphere { radius: 0.5 },
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        trigger: false,
        friction: 0.5,
        restitution: 0.1,
        density: 1000.0,
        filter: Filter::ALL,
        tells: true,
    };
}

/// A body to be made.
#[derive(Clone, Debug)]
pub struct Body {
    pub motion: Motion,
    pub position: Vec3,
    pub rotation: Quat,
    pub parts: Vec<Part>,
    /// Kilograms; of the parts' volumes and densities if none.
    pub mass: Option<f32>,
    pub linear_damping: f32,
    pub angular_damping: f32,
    /// 0 floats, 1 falls.
    pub gravity: f32,
    /// Found out between two steps: for what is small and fast.
    pub continuous: bool,
    /// What the lists name it by.
    pub owner: u64,
}

/// Where a body is shown, and whose it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moved {
    pub owner: u64,
    pub position: Vec3,
    pub rotation: Quat,
}

/// One simulation.
pub struct Physics {
    world: rapier::PhysicsWorld,
    plane: Plane,
    /// Seconds that no step has been made for yet.
    left: f64,
    collector: Collector,
    /// Where the bodies that are awake were before the last step.
    before: Vec<(RigidBodyHandle, rapier::Pose)>,
    /// Bodies that were moved from outside since the last frame.
    placed: Vec<RigidBodyHandle>,
}

impl Physics {
    /// An empty simulation in steps of `step_seconds`.
    pub fn new(gravity: Vec3, step_seconds: f32, plane: Plane) -> Physics {
        let mut world = rapier::PhysicsWorld { gravity, ..rapier::PhysicsWorld::default() };
        world.integration_parameters.dt = step_seconds;
        Physics {
            world,
            plane,
            left: 0.0,
            collector: Collector::default(),
            before: Vec::new(),
            placed: Vec::new(),
        }
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.world.bodies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn gravity(&self) -> Vec3 {
        self.world.gravity
    }

    /// Sets gravity, in metres a second for each second, and wakes what sleeps.
    pub fn set_gravity(&mut self, gravity: Vec3) {
        self.world.gravity = gravity;
        self.world.wake_up_all(true);
    }

    /// Adds a body.
    ///
    /// # Errors
    /// There are [`BODIES_MAX`] already, or a shape cannot be made.
    pub fn add(&mut self, body: &Body) -> Result<BodyId, Error> {
        if self.len() >= BODIES_MAX {
            return Err(crate::error!(
                "{BODIES_MAX} bodies are in the world already (BODIES_MAX): remove some first"
            ));
        }
        let kind = match body.motion {
            Motion::Static => RigidBodyType::Fixed,
            Motion::Dynamic => RigidBodyType::Dynamic,
            Motion::Kinematic => RigidBodyType::KinematicPositionBased,
        };
        let mut colliders = Vec::new();
        for part in &body.parts {
            let events = match part.tells {
                true => rapier::ActiveEvents::COLLISION_EVENTS,
                false => rapier::ActiveEvents::empty(),
            };
            let collider = part
                .shape
                .builder()?
                .position(rapier::Pose::from_parts(part.position, part.rotation))
                .sensor(part.trigger)
                .friction(part.friction)
                .restitution(part.restitution)
                .density(if body.mass.is_some() { 0.0 } else { part.density })
                .collision_groups(part.filter.groups())
                .active_events(events)
                .user_data(body.owner.into());
            colliders.push(collider.build());
        }
        let mut builder = RigidBodyBuilder::new(kind)
            .pose(rapier::Pose::from_parts(body.position, body.rotation))
            .linear_damping(body.linear_damping)
            .angular_damping(body.angular_damping)
            .gravity_scale(body.gravity)
            .ccd_enabled(body.continuous)
            .locked_axes(self.locked())
            .user_data(body.owner.into());
        if let Some(mass) = body.mass {
            builder = builder.additional_mass(mass);
        }
        let handle = self.world.insert_body(builder.build());
        for collider in colliders {
            self.world.colliders.insert_with_parent(collider, handle, &mut self.world.bodies);
        }
        Ok(BodyId(handle))
    }

    fn locked(&self) -> rapier::LockedAxes {
        use rapier::LockedAxes as Axes;
        match self.plane {
            Plane::None => Axes::empty(),
            Plane::Side => {
                Axes::TRANSLATION_LOCKED_Y | Axes::ROTATION_LOCKED_X | Axes::ROTATION_LOCKED_Z
            }
            Plane::Top => {
                Axes::TRANSLATION_LOCKED_Z | Axes::ROTATION_LOCKED_X | Axes::ROTATION_LOCKED_Y
            }
        }
    }

    /// Takes a body away.
    pub fn remove(&mut self, body: BodyId) {
        self.world.remove_body(body.0);
    }

    fn body(&self, body: BodyId) -> &rapier::RigidBody {
        self.world.bodies.get(body.0).expect("the owner keeps no body that it removed")
    }

    fn body_mut(&mut self, body: BodyId) -> &mut rapier::RigidBody {
        self.world.bodies.get_mut(body.0).expect("the owner keeps no body that it removed")
    }

    pub fn position(&self, body: BodyId) -> Vec3 {
        self.body(body).translation()
    }

    pub fn rotation(&self, body: BodyId) -> Quat {
        *self.body(body).rotation()
    }

    pub fn velocity(&self, body: BodyId) -> Vec3 {
        self.body(body).linvel()
    }

    pub fn angular_velocity(&self, body: BodyId) -> Vec3 {
        self.body(body).angvel()
    }

    /// The velocity of a point that moves with the body, given in the world.
    pub fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3 {
        self.body(body).velocity_at_point(point)
    }

    pub fn mass(&self, body: BodyId) -> f32 {
        self.body(body).mass()
    }

    pub fn center_of_mass(&self, body: BodyId) -> Vec3 {
        self.body(body).center_of_mass()
    }

    pub fn motion(&self, body: BodyId) -> Motion {
        match self.body(body).body_type() {
            RigidBodyType::Fixed => Motion::Static,
            RigidBodyType::Dynamic => Motion::Dynamic,
            _ => Motion::Kinematic,
        }
    }

    /// Makes a body dynamic or kinematic.
    pub fn set_motion(&mut self, body: BodyId, motion: Motion) {
        let kind = match motion {
            Motion::Static => RigidBodyType::Fixed,
            Motion::Dynamic => RigidBodyType::Dynamic,
            Motion::Kinematic => RigidBodyType::KinematicPositionBased,
        };
        self.body_mut(body).set_body_type(kind, true);
    }

    pub fn is_sleeping(&self, body: BodyId) -> bool {
        self.body(body).is_sleeping()
    }

    pub fn wake_up(&mut self, body: BodyId) {
        self.world.wake_up(body.0, true);
    }

    pub fn put_to_sleep(&mut self, body: BodyId) {
        self.body_mut(body).sleep();
    }

    pub fn set_velocity(&mut self, body: BodyId, velocity: Vec3) {
        self.body_mut(body).set_linvel(velocity.clamp_length_max(SPEED_MAX), true);
    }

    pub fn set_angular_velocity(&mut self, body: BodyId, velocity: Vec3) {
        self.body_mut(body).set_angvel(velocity, true);
    }

    /// Kilograms times metres a second, at the centre of mass.
    pub fn add_impulse(&mut self, body: BodyId, impulse: Vec3) {
        self.body_mut(body).apply_impulse(impulse, true);
    }

    /// The same at a point of the world.
    pub fn add_impulse_at(&mut self, body: BodyId, impulse: Vec3, point: Vec3) {
        self.body_mut(body).apply_impulse_at_point(impulse, point, true);
    }

    pub fn add_torque_impulse(&mut self, body: BodyId, impulse: Vec3) {
        self.body_mut(body).apply_torque_impulse(impulse, true);
    }

    pub fn set_linear_damping(&mut self, body: BodyId, damping: f32) {
        self.body_mut(body).set_linear_damping(damping);
    }

    pub fn set_angular_damping(&mut self, body: BodyId, damping: f32) {
        self.body_mut(body).set_angular_damping(damping);
    }

    /// Linear and angular damping.
    pub fn damping(&self, body: BodyId) -> (f32, f32) {
        let body = self.body(body);
        (body.linear_damping(), body.angular_damping())
    }

    pub fn set_gravity_scale(&mut self, body: BodyId, scale: f32) {
        self.body_mut(body).set_gravity_scale(scale, true);
    }

    pub fn gravity_scale(&self, body: BodyId) -> f32 {
        self.body(body).gravity_scale()
    }

    /// Whether anything collides with the body.
    pub fn set_enabled(&mut self, body: BodyId, enabled: bool) {
        let colliders = self.body(body).colliders().to_vec();
        for collider in colliders {
            if let Some(collider) = self.world.colliders.get_mut(collider) {
                collider.set_enabled(enabled);
            }
        }
        self.wake_up(body);
    }

    pub fn set_filter(&mut self, body: BodyId, filter: Filter) {
        let colliders = self.body(body).colliders().to_vec();
        for collider in colliders {
            if let Some(collider) = self.world.colliders.get_mut(collider) {
                collider.set_collision_groups(filter.groups());
            }
        }
    }

    /// Puts a body somewhere at once, through whatever is between.
    pub fn teleport(&mut self, body: BodyId, position: Vec3, rotation: Quat) {
        self.body_mut(body).set_position(rapier::Pose::from_parts(position, rotation), true);
        self.placed.push(body.0);
    }

    /// Where a kinematic body should be after the next step; what is in its way is pushed.
    pub fn drive(&mut self, body: BodyId, position: Vec3, rotation: Quat) {
        let pose = rapier::Pose::from_parts(position, rotation);
        self.body_mut(body).set_next_kinematic_position(pose);
    }

    /// Moves the simulation on; how many steps that took.
    pub fn update(&mut self, seconds: f64) -> u32 {
        let step = f64::from(self.world.integration_parameters.dt);
        self.left += seconds;
        // A frame of a step's length is one step, though 1/60 is not exact.
        let steps = ((self.left + step * 1e-4) / step).floor();
        self.left -= steps * step;
        if self.left.abs() < step * 1e-3 {
            self.left = 0.0;
        }
        let steps = if steps > f64::from(STEPS_MAX) { STEPS_MAX } else { steps as u32 };
        for _ in 0..steps {
            if self.left > 0.0 {
                self.note_poses();
            }
            self.world.step_with_events(&(), &self.collector);
            self.collector.settle(&self.world);
        }
        steps
    }

    fn note_poses(&mut self) {
        self.before.clear();
        // All that may move: a body that was just added is not among the active ones yet.
        let bodies = self.world.bodies.iter();
        let awake = bodies.filter(|(_, body)| body.is_dynamic() && !body.is_sleeping());
        self.before.extend(awake.map(|(handle, body)| (handle, *body.position())));
    }

    /// Where bodies are that moved, in the simulation's own order, which is the same in every run.
    pub fn moved(&mut self, out: &mut Vec<Moved>) {
        let step = f64::from(self.world.integration_parameters.dt);
        let part = (self.left / step) as f32;
        let shown = |body: &rapier::RigidBody, from: Option<&rapier::Pose>| {
            let (mut position, mut rotation) = (body.translation(), *body.rotation());
            if let Some(from) = from {
                position = from.translation.lerp(position, part);
                rotation = from.rotation.slerp(rotation, part);
            }
            Moved { owner: body.user_data as u64, position, rotation }
        };
        for handle in self.placed.drain(..) {
            if let Some(body) = self.world.bodies.get(handle) {
                out.push(shown(body, None));
            }
        }
        if self.left > 0.0 {
            for (handle, pose) in &self.before {
                if let Some(body) = self.world.bodies.get(*handle).filter(|body| body.is_dynamic())
                {
                    out.push(shown(body, Some(pose)));
                }
            }
            return;
        }
        for (_, body) in self.world.active_bodies() {
            if body.is_dynamic() {
                out.push(shown(body, None));
            }
        }
    }

    /// What touched and parted in the steps since it was last asked.
    pub fn take_contacts(&mut self) -> (Vec<Contact>, Vec<Trigger>) {
        self.collector.take()
    }

    /// Every body's place and speed, for hashes: in the order in which they were added.
    pub fn floats(&self) -> impl Iterator<Item = f32> + '_ {
        self.world.bodies.iter().flat_map(|(_, body)| {
            let (position, rotation) = (body.translation(), body.rotation());
            let (velocity, spin) = (body.linvel(), body.angvel());
            let vectors = [position, velocity, spin].into_iter().flat_map(|v| v.to_array());
            vectors.chain(rotation.to_array())
        })
    }
}

#[cfg(test)]
mod tests;
