//! What binds bodies to units: physics worlds, actors, movers and joints as tables. A unit's file
//! says which it has (spec.rs); the simulation itself is in the system of the same name. Knows no
//! scripts.

mod actors;
mod carry;
mod fields;
mod joints;
mod movers;
mod properties;
mod spec;
mod state;
mod step;
mod switch;

pub use actors::{Actor, Pushed, check_place};
pub use fields::Fault;
pub use joints::Joint;
pub use movers::Mover;
pub use properties::{DEFAULT, NAME, PHYSICS_PROPERTIES, Properties};
pub use spec::{ActorSpec, JointSpec, MoverSpec, PHYSICS, SLOPE_MAX, UnitPhysics, of_extras};
pub use state::Kept;

use super::WorldId;
use super::unit::{UnitId, Units};
use super::unit_resource::UnitResource;
use crate::foundation::{Error, Handle, Kind, Slots, Vec3};
use crate::system::physics::{BODIES_MAX, Physics, Setup, Shape};
use std::collections::HashMap;
use std::sync::Arc;

/// The most actors of all worlds together.
pub const ACTORS_MAX: usize = 4 * BODIES_MAX;
/// The most movers of all worlds together.
pub const MOVERS_MAX: usize = 1 << 12;
/// The most joints of all worlds together.
pub const JOINTS_MAX: usize = 1 << 16;
/// The most states of physics worlds that are kept.
pub const SNAPSHOTS_MAX: usize = 64;

macro_rules! handles {
    ($($(#[$words:meta])* $name:ident)*) => {$(
        $(#[$words])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub Handle);
    )*};
}

handles! {
    /// The handle of a physics world.
    PhysicsWorldId
    /// The handle of an actor.
    ActorId
    /// The handle of a mover.
    MoverId
    /// The handle of a joint.
    JointId
    /// The handle of a kept state.
    SnapshotId
}

/// The physics of a world.
pub struct PhysicsWorld {
    pub world: WorldId,
    pub simulation: Physics,
    /// Whether its bodies are shown as lines.
    pub debug_draw: bool,
}

/// What a unit has.
struct Parts {
    unit: UnitId,
    physics: PhysicsWorldId,
    /// Whether the unit is without physics for a while, with all that it gets meanwhile.
    disabled: bool,
    spec: Arc<UnitPhysics>,
    /// In the order of the spec, then those that scripts added; `None`: ended.
    actors: Vec<Option<ActorId>>,
    mover: Option<MoverId>,
    joints: Vec<JointId>,
}

/// A mesh of a model, for shapes that are made of it: points, and triangles of them.
pub type MeshOf<'a> = dyn FnMut(&str) -> Result<MeshPoints, Error> + 'a;
/// Points and triangles.
pub type MeshPoints = (Vec<Vec3>, Vec<[u32; 3]>);

/// Everything physical of all worlds.
pub struct PhysicsTables {
    pub worlds: Slots<PhysicsWorld>,
    pub actors: Slots<Actor>,
    pub movers: Slots<Mover>,
    pub joints: Slots<Joint>,
    pub snapshots: Slots<Kept>,
    /// By the row of a unit.
    parts: Vec<Option<Box<Parts>>>,
    /// What units' resources say, by their names.
    specs: HashMap<String, (Arc<UnitResource>, Arc<UnitPhysics>)>,
    /// Shapes of models' meshes: by the mesh, whether its hull is meant, and the bits of the scale.
    /// Emptied when a model changes.
    pub solids: HashMap<(String, bool, [u32; 3]), Shape>,
    /// Those of the game, once they were asked for.
    pub properties: Option<Arc<Properties>>,
    /// Room for a step's lists.
    moved: Vec<crate::system::physics::Moved>,
}

/// A handle as a body's owner, with the unit's above it.
fn owner_of(actor: Handle, unit: Option<UnitId>) -> u128 {
    let number = |handle: Handle| handle.to_number() as u64;
    u128::from(number(actor)) | u128::from(unit.map_or(0, |unit| number(unit.0))) << 64
}

/// The actor of a body's owner.
pub fn actor_of(owner: u128) -> Option<ActorId> {
    Handle::from_number(owner as u64 as f64).filter(|_| owner as u64 != 0).map(ActorId)
}

/// The number of an owner's unit; 0 if it has none.
pub fn unit_number(owner: u128) -> f64 {
    (owner >> 64) as u64 as f64
}

impl Default for PhysicsTables {
    fn default() -> PhysicsTables {
        PhysicsTables {
            worlds: Slots::new(Kind::PhysicsWorld, super::WORLDS_MAX),
            actors: Slots::new(Kind::Actor, ACTORS_MAX),
            movers: Slots::new(Kind::Mover, MOVERS_MAX),
            joints: Slots::new(Kind::Joint, JOINTS_MAX),
            snapshots: Slots::new(Kind::PhysicsSnapshot, SNAPSHOTS_MAX),
            parts: Vec::new(),
            specs: HashMap::new(),
            solids: HashMap::new(),
            properties: None,
            moved: Vec::new(),
        }
    }
}

impl PhysicsTables {
    /// The physics of a world, if it has any yet.
    pub fn of_world(&self, world: WorldId) -> Option<PhysicsWorldId> {
        let mut worlds = self.worlds.iter();
        worlds.find(|(_, physics)| physics.world == world).map(|(id, _)| PhysicsWorldId(id))
    }

    /// How many bodies of all worlds are awake.
    pub fn awake(&self) -> usize {
        self.worlds.iter().map(|(_, world)| world.simulation.awake()).sum()
    }

    /// Gives a world its physics.
    pub fn make_world(&mut self, world: WorldId, setup: Setup) -> PhysicsWorldId {
        let simulation = Physics::new(setup);
        let made = self.worlds.add(PhysicsWorld { world, simulation, debug_draw: false });
        PhysicsWorldId(made.expect("there are no more of them than worlds"))
    }

    /// Living ones: handles are checked where they come in.
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

    /// The simulation that an actor is in, and its body there.
    #[inline(always)]
    pub fn body(&self, actor: ActorId) -> (&Physics, crate::system::physics::BodyId) {
        let actor = self.actor(actor);
        (&self.world(actor.physics).simulation, actor.body)
    }

    #[inline(always)]
    pub fn body_mut(&mut self, actor: ActorId) -> (&mut Physics, crate::system::physics::BodyId) {
        let (physics, body) = (self.actor(actor).physics, self.actor(actor).body);
        (&mut self.world_mut(physics).simulation, body)
    }

    /// What a unit's resource says of its physics.
    ///
    /// # Errors
    /// What the compiler would have refused.
    pub fn spec(&mut self, resource: &Arc<UnitResource>) -> Result<Arc<UnitPhysics>, Error> {
        if let Some((known, spec)) = self.specs.get(&resource.name)
            && Arc::ptr_eq(known, resource)
        {
            return Ok(spec.clone());
        }
        let mut spec = UnitPhysics::default();
        for part in resource.parts.iter().filter(|part| part.component == PHYSICS.name) {
            spec.add(&part.fields)
                .map_err(|fault| crate::error!("unit \"{}\": {}", resource.name, fault.words))?;
        }
        let spec = Arc::new(spec);
        self.specs.insert(resource.name.clone(), (resource.clone(), spec.clone()));
        Ok(spec)
    }

    /// The parts of a unit, if it has any.
    fn parts(&self, unit: UnitId) -> Option<&Parts> {
        self.parts.get(unit.row() as usize)?.as_deref()
    }

    /// Whether a unit has, or was told, anything of physics.
    pub fn has_parts(&self, unit: UnitId) -> bool {
        self.parts(unit).is_some()
    }

    /// Makes everything physical of a unit that was just spawned.
    ///
    /// # Errors
    /// A node, filter, material or mesh is not there, or a scale cannot be; nothing is left then.
    pub fn spawn(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        physics: PhysicsWorldId,
        mesh_of: &mut MeshOf,
    ) -> Result<(), Error> {
        let resource = units.of(unit).resource.clone();
        let spec = self.spec(&resource)?;
        if spec.is_empty() {
            return Ok(());
        }
        self.make_parts(unit, physics, spec.clone());
        let made = self.spawn_parts(unit, units, &spec, mesh_of);
        if made.is_err() {
            self.end_unit(unit, 0, "");
        }
        made
    }

    fn spawn_parts(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &UnitPhysics,
        mesh_of: &mut MeshOf,
    ) -> Result<(), Error> {
        for actor in &spec.actors {
            self.add_actor(unit, units, actor, mesh_of)?;
        }
        for joint in &spec.joints {
            self.add_unit_joint(unit, units, joint)?;
        }
        if let Some(mover) = spec.movers.first() {
            self.add_mover(unit, units, mover)?;
        }
        Ok(())
    }

    fn make_parts(&mut self, unit: UnitId, physics: PhysicsWorldId, spec: Arc<UnitPhysics>) {
        let row = unit.row() as usize;
        if self.parts.len() <= row {
            self.parts.resize_with(row + 1, || None);
        }
        self.parts[row] = Some(Box::new(Parts {
            unit,
            physics,
            disabled: false,
            spec,
            actors: Vec::new(),
            mover: None,
            joints: Vec::new(),
        }));
    }

    /// Ends everything physical of a unit.
    pub fn end_unit(&mut self, unit: UnitId, frame: u64, place: &str) {
        let row = unit.row() as usize;
        let Some(parts) = self.parts.get_mut(row).and_then(Option::take) else { return };
        if let Some(mover) = parts.mover {
            self.end_mover(mover, frame, place);
        }
        for joint in parts.joints {
            self.end_joint(joint, frame, place);
        }
        for actor in parts.actors.into_iter().flatten() {
            self.end_actor(actor, frame, place);
        }
    }

    /// Ends the physics of a world whose units have ended.
    pub fn release_world(&mut self, world: WorldId, frame: u64, place: &str) {
        let Some(physics) = self.of_world(world) else { return };
        let left = self.actors.iter().filter(|(_, actor)| actor.physics == physics);
        for actor in left.map(|(id, _)| ActorId(id)).collect::<Vec<_>>() {
            self.end_actor(actor, frame, place);
        }
        let left = self.joints.iter().filter(|(_, joint)| joint.physics == physics);
        for joint in left.map(|(id, _)| JointId(id)).collect::<Vec<_>>() {
            self.end_joint(joint, frame, place);
        }
        let kept = self.snapshots.iter().filter(|(_, kept)| kept.physics == physics);
        for kept in kept.map(|(id, _)| id).collect::<Vec<_>>() {
            self.snapshots.remove(kept, "", frame, place);
        }
        self.worlds.remove(physics.0, "", frame, place);
    }
}

/// A shape of a model's mesh.
fn model_shape((points, triangles): MeshPoints, hull: bool) -> Shape {
    match hull {
        true => Shape::Hull { points },
        false => Shape::Mesh { points, triangles },
    }
}
