//! Physics of units: physics worlds, actors, movers and joints as tables. A unit's file declares
//! its actors, movers and joints (template.rs); the simulation itself is in the system of the same
//! name. Independent of scripts.

mod actors;
mod component;
mod disable;
mod field_reader;
mod joints;
mod movers;
mod moving_platforms;
mod ragdoll_bodies;
mod resource;
mod shape_reload;
mod snapshot;
mod step;
mod template;

pub use actors::{Actor, PushTarget, check_position};
pub use component::PHYSICS;
pub use field_reader::FieldError;
pub(crate) use field_reader::{FieldReader, named};
pub use joints::Joint;
pub use movers::Mover;
pub use ragdoll_bodies::{RagdollPart, RagdollStart};
pub use resource::{DEFAULT, NAME, PHYSICS_PROPERTIES, PhysicsProperties};
pub use snapshot::PhysicsWorldSnapshot;
pub(crate) use template::ShapeDesc;
pub use template::{
    ActorDesc, JointDesc, MoverDesc, PhysicsTemplate, SLOPE_MAX, ShapeForm, from_extras,
};

use super::WorldId;
use super::unit::{UnitId, Units};
use engine_foundation::{Error, Handle, HandleKind, Slots, log};
use engine_models::MeshTriangles;
use engine_physics::{BODIES_MAX, ColliderShape, Simulation, SimulationSettings};
use engine_resource::store::ResourceStore;
use ragdoll_bodies::RagdollBodies;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of actors of all worlds together.
pub const ACTORS_MAX: usize = 4 * BODIES_MAX;
/// Maximum number of movers of all worlds together.
pub const MOVERS_MAX: usize = 1 << 12;
/// Maximum number of joints of all worlds together.
pub const JOINTS_MAX: usize = 1 << 16;
/// Maximum number of snapshots of physics worlds.
pub const SNAPSHOTS_MAX: usize = 64;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub Handle);
    )*};
}

handles! {
    /// Handle of a physics world.
    PhysicsWorldId
    /// Handle of an actor.
    ActorId
    /// Handle of a mover.
    MoverId
    /// Handle of a joint.
    JointId
    /// Handle of a snapshot.
    SnapshotId
}

/// The physics of a world.
pub struct PhysicsWorld {
    pub world: WorldId,
    pub simulation: Simulation,
    /// True if the bodies are drawn as debug lines.
    pub debug_draw: bool,
}

/// Physics objects of a unit.
struct UnitBodies {
    unit: UnitId,
    physics: PhysicsWorldId,
    /// True if the unit's physics is temporarily disabled, including actors added in the meantime.
    disabled: bool,
    spec: Arc<PhysicsTemplate>,
    /// Actors in the order of the spec, followed by those that scripts added; `None` for a
    /// destroyed actor.
    actors: Vec<Option<ActorId>>,
    mover: Option<MoverId>,
    joints: Vec<JointId>,
    ragdoll: Option<Box<RagdollBodies>>,
    /// True if the row is in the list of late moves.
    moved_late: bool,
}

/// All physics objects of all worlds.
pub struct PhysicsTables {
    pub worlds: Slots<PhysicsWorld>,
    pub actors: Slots<Actor>,
    pub movers: Slots<Mover>,
    pub joints: Slots<Joint>,
    pub snapshots: Slots<PhysicsWorldSnapshot>,
    /// Physics objects by unit row.
    parts: Vec<Option<Box<UnitBodies>>>,
    /// Shapes built from models' meshes, by mesh, hull flag and the bits of the scale. Emptied when
    /// a model changes.
    pub solids: HashMap<(String, bool, [u32; 3]), ColliderShape>,
    /// Properties of the game, after they were first requested.
    pub properties: Option<Arc<PhysicsProperties>>,
    /// Reusable buffer for the moved bodies of a step.
    moved: Vec<engine_physics::MovedBody>,
    /// Rows of units that moved after the last update of their world.
    late_moves: Vec<u32>,
}

/// Packs an actor's handle into the owner number of a body, with the unit's handle in the upper
/// half.
fn owner_of(actor: Handle, unit: Option<UnitId>) -> u128 {
    let number = |handle: Handle| handle.to_number() as u64;
    u128::from(number(actor)) | u128::from(unit.map_or(0, |unit| number(unit.0))) << 64
}

/// Returns the actor in a body's owner number.
pub fn actor_of(owner: u128) -> Option<ActorId> {
    Handle::from_number(owner as u64 as f64).filter(|_| owner as u64 != 0).map(ActorId)
}

/// Returns the unit's number in an owner number; 0 without a unit.
pub fn unit_number(owner: u128) -> f64 {
    (owner >> 64) as u64 as f64
}

impl Default for PhysicsTables {
    fn default() -> PhysicsTables {
        PhysicsTables {
            worlds: Slots::new(HandleKind::PhysicsWorld, super::WORLDS_MAX),
            actors: Slots::new(HandleKind::Actor, ACTORS_MAX),
            movers: Slots::new(HandleKind::Mover, MOVERS_MAX),
            joints: Slots::new(HandleKind::Joint, JOINTS_MAX),
            snapshots: Slots::new(HandleKind::PhysicsSnapshot, SNAPSHOTS_MAX),
            parts: Vec::new(),
            solids: HashMap::new(),
            properties: None,
            moved: Vec::new(),
            late_moves: Vec::new(),
        }
    }
}

impl PhysicsTables {
    /// Returns the physics of a world, if it exists.
    pub fn of_world(&self, world: WorldId) -> Option<PhysicsWorldId> {
        let mut worlds = self.worlds.iter();
        worlds.find(|(_, physics)| physics.world == world).map(|(id, _)| PhysicsWorldId(id))
    }

    /// Returns the number of awake bodies of all worlds.
    pub fn awake(&self) -> usize {
        self.worlds.iter().map(|(_, world)| world.simulation.awake()).sum()
    }

    /// Creates the physics of a world.
    pub fn make_world(&mut self, world: WorldId, setup: SimulationSettings) -> PhysicsWorldId {
        let simulation = Simulation::new(setup);
        let added = self.worlds.add(PhysicsWorld { world, simulation, debug_draw: false });
        PhysicsWorldId(added.expect("there are no more of them than worlds"))
    }

    /// Returns a live physics world. Handles are checked at the interface, here and in the
    /// functions below.
    #[inline(always)]
    pub fn world(&self, physics: PhysicsWorldId) -> &PhysicsWorld {
        self.worlds.get(physics.0).expect("the handle was checked where it came in")
    }

    #[inline(always)]
    pub fn world_mut(&mut self, physics: PhysicsWorldId) -> &mut PhysicsWorld {
        self.worlds.get_mut(physics.0).expect("the handle was checked where it came in")
    }

    #[inline(always)]
    pub fn actor(&self, actor: ActorId) -> &Actor {
        self.actors.get(actor.0).expect("the handle was checked where it came in")
    }

    #[inline(always)]
    pub fn actor_mut(&mut self, actor: ActorId) -> &mut Actor {
        self.actors.get_mut(actor.0).expect("the handle was checked where it came in")
    }

    #[inline(always)]
    pub fn mover(&self, mover: MoverId) -> &Mover {
        self.movers.get(mover.0).expect("the handle was checked where it came in")
    }

    /// Returns the simulation of an actor, and its body.
    #[inline(always)]
    pub fn body(&self, actor: ActorId) -> (&Simulation, engine_physics::BodyId) {
        let actor = self.actor(actor);
        (&self.world(actor.physics).simulation, actor.body)
    }

    #[inline(always)]
    pub fn body_mut(&mut self, actor: ActorId) -> (&mut Simulation, engine_physics::BodyId) {
        let (physics, body) = (self.actor(actor).physics, self.actor(actor).body);
        (&mut self.world_mut(physics).simulation, body)
    }

    /// Reads the game's physics materials and collision filters again, if they were read before.
    /// Existing actors keep their old properties.
    pub fn reload_properties(&mut self, store: &mut ResourceStore) {
        if self.properties.is_none() {
            return;
        }
        match PhysicsProperties::of_game(store) {
            Ok(read) => self.properties = Some(Arc::new(read)),
            Err(error) => log::error(&error.message),
        }
    }

    /// Returns the physics objects of a unit, if it has any.
    fn parts(&self, unit: UnitId) -> Option<&UnitBodies> {
        self.parts.get(unit.row() as usize)?.as_deref()
    }

    /// Returns true if a unit has physics objects, or if its physics was disabled.
    pub fn has_parts(&self, unit: UnitId) -> bool {
        self.parts(unit).is_some()
    }

    /// Returns true if a unit has actors at nodes below its first node.
    pub fn has_inner_actors(&self, unit: UnitId) -> bool {
        let actors = self.parts(unit).map_or(&[][..], |parts| &parts.actors[..]);
        actors.iter().flatten().any(|actor| self.actor(*actor).node != 0)
    }

    /// Creates all physics objects of a newly spawned unit.
    ///
    /// # Errors
    /// Returns an error if a node, filter, material or mesh does not exist, or if a scale is
    /// invalid. In that case no object remains.
    pub fn spawn(
        &mut self,
        (unit, physics): (UnitId, PhysicsWorldId),
        units: &mut Units,
        spec: &Arc<PhysicsTemplate>,
        store: &mut ResourceStore,
    ) -> Result<(), Error> {
        self.make_parts(unit, physics, spec.clone());
        let result = self.spawn_parts(unit, units, spec, store);
        if result.is_err() {
            self.end_unit(unit, 0, "");
        }
        result
    }

    fn spawn_parts(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &PhysicsTemplate,
        store: &mut ResourceStore,
    ) -> Result<(), Error> {
        for actor in &spec.actors {
            self.add_actor(unit, units, actor, store)?;
        }
        for joint in &spec.joints {
            self.add_unit_joint(unit, units, joint)?;
        }
        if let Some(mover) = spec.movers.first() {
            self.add_mover(unit, units, mover)?;
        }
        Ok(())
    }

    fn make_parts(&mut self, unit: UnitId, physics: PhysicsWorldId, spec: Arc<PhysicsTemplate>) {
        let row = unit.row() as usize;
        if self.parts.len() <= row {
            self.parts.resize_with(row + 1, || None);
        }
        self.parts[row] = Some(Box::new(UnitBodies {
            unit,
            physics,
            disabled: false,
            spec,
            actors: Vec::new(),
            mover: None,
            joints: Vec::new(),
            ragdoll: None,
            moved_late: false,
        }));
    }

    /// Destroys all physics objects of a unit.
    pub fn end_unit(&mut self, unit: UnitId, frame: u64, location: &str) {
        self.end_ragdoll(unit, frame, location);
        let row = unit.row() as usize;
        let Some(parts) = self.parts.get_mut(row).and_then(Option::take) else { return };
        if let Some(mover) = parts.mover {
            self.end_mover(mover, frame, location);
        }
        for joint in parts.joints {
            self.end_joint(joint, frame, location);
        }
        for actor in parts.actors.into_iter().flatten() {
            self.end_actor(actor, frame, location);
        }
    }

    /// Destroys the physics of a world, after its units were destroyed.
    pub fn release_world(&mut self, world: WorldId, frame: u64, location: &str) {
        let Some(physics) = self.of_world(world) else { return };
        let left = self.actors.iter().filter(|(_, actor)| actor.physics == physics);
        for actor in left.map(|(id, _)| ActorId(id)).collect::<Vec<_>>() {
            self.end_actor(actor, frame, location);
        }
        let left = self.joints.iter().filter(|(_, joint)| joint.physics == physics);
        for joint in left.map(|(id, _)| JointId(id)).collect::<Vec<_>>() {
            self.end_joint(joint, frame, location);
        }
        let kept = self.snapshots.iter().filter(|(_, kept)| kept.physics == physics);
        for kept in kept.map(|(id, _)| id).collect::<Vec<_>>() {
            self.snapshots.remove(kept, "", frame, location);
        }
        self.worlds.remove(physics.0, "", frame, location);
    }
}

/// Builds a shape from a model's mesh.
fn model_shape(MeshTriangles { points, triangles }: MeshTriangles, hull: bool) -> ColliderShape {
    match hull {
        true => ColliderShape::Hull { points },
        false => ColliderShape::Mesh { points, triangles },
    }
}
