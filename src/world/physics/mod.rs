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
mod step;
mod switch;

pub use actors::{Actor, Pushed, check_place};
pub use fields::Fault;
pub use joints::Joint;
pub use movers::Mover;
pub use properties::{DEFAULT, NAME, PHYSICS_PROPERTIES, Properties};
pub use spec::{ActorSpec, JointSpec, MoverSpec, PHYSICS, SLOPE_MAX, UnitPhysics, of_extras};

use super::WorldId;
use super::unit::{UnitId, Units};
use super::unit_resource::UnitResource;
use crate::foundation::hash::StateHash;
use crate::foundation::{Error, Handle, Kind, Slots, Vec3};
use crate::system::physics::{BODIES_MAX, Physics, Setup, Shape, Snapshot};
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

/// A state of a physics world, with what is kept beside the simulation.
struct Kept {
    physics: PhysicsWorldId,
    simulation: Snapshot,
    actors: Vec<(ActorId, Actor)>,
    movers: Vec<(MoverId, Mover)>,
}

/// What a unit has.
struct Parts {
    physics: PhysicsWorldId,
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
    pub snapshots: Slots<KeptBox>,
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

/// A kept state; its inside is this folder's.
pub struct KeptBox(Kept);

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
        let (actors, joints) = (Vec::new(), Vec::new());
        self.parts[row] = Some(Box::new(Parts { physics, spec, actors, mover: None, joints }));
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
        let kept = self.snapshots.iter().filter(|(_, kept)| kept.0.physics == physics);
        for kept in kept.map(|(id, _)| id).collect::<Vec<_>>() {
            self.snapshots.remove(kept, "", frame, place);
        }
        self.worlds.remove(physics.0, "", frame, place);
    }

    /// Keeps the state of a physics world.
    ///
    /// # Errors
    /// [`SNAPSHOTS_MAX`] are kept already.
    pub fn snapshot(&mut self, physics: PhysicsWorldId) -> Result<SnapshotId, Error> {
        let simulation = self.world_mut(physics).simulation.snapshot();
        let actors = self.actors.iter().filter(|(_, actor)| actor.physics == physics);
        let movers = self.movers.iter().filter(|(_, mover)| mover.physics == physics);
        let kept = Kept {
            physics,
            simulation,
            actors: actors.map(|(id, actor)| (ActorId(id), actor.clone())).collect(),
            movers: movers.map(|(id, mover)| (MoverId(id), mover.clone())).collect(),
        };
        self.snapshots.add(KeptBox(kept)).map(SnapshotId).ok_or_else(|| {
            crate::error!(
                "{SNAPSHOTS_MAX} snapshots are kept already (SNAPSHOTS_MAX): \
                 PhysicsWorld.drop_snapshot lets go of one"
            )
        })
    }

    /// Brings a state back, and the nodes of its actors. Actors that ended since stay ended, those
    /// that came since stay.
    ///
    /// # Errors
    /// It is of another physics world.
    pub fn restore(
        &mut self,
        physics: PhysicsWorldId,
        kept: SnapshotId,
        units: &mut Units,
    ) -> Result<(), Error> {
        let PhysicsTables { worlds, actors, movers, joints, snapshots, .. } = self;
        let kept = &snapshots.get(kept.0).expect("the handle was checked where it came in").0;
        if kept.physics != physics {
            return Err(crate::error!("the snapshot is of another physics world"));
        }
        let alive = |number: u64| {
            Handle::from_number(number as f64)
                .is_some_and(|handle| actors.get(handle).is_some() || joints.get(handle).is_some())
        };
        let (mut moved, mut nodes) = (Vec::new(), Vec::new());
        let world = worlds.get_mut(physics.0).expect("the handle was checked where it came in");
        let simulation = &mut world.simulation;
        simulation.restore(&kept.simulation, alive, |owner, body| moved.push((owner, body)));
        for (id, actor) in &kept.actors {
            let Some(living) = actors.get_mut(id.0) else { continue };
            *living = actor.clone();
            if let Some(unit) = actor.unit.filter(|_| actor.mover.is_none()) {
                nodes.push((unit.row(), actor.node as usize, actor.shown));
            }
        }
        step::put_nodes(&mut units.scene, nodes);
        for (owner, body) in moved {
            let living = actor_of(owner).and_then(|actor| actors.get_mut(actor.0));
            living.expect("what came since is alive").body = body;
        }
        for (id, mover) in &kept.movers {
            if let Some(living) = movers.get_mut(id.0) {
                *living = mover.clone();
            }
        }
        // Movers that came since are not taken along by what the snapshot has put back.
        for (id, mover) in movers.iter_mut().filter(|(_, mover)| mover.physics == physics) {
            if !kept.movers.iter().any(|(known, _)| known.0 == id) {
                (mover.ground, mover.carried) = (None, carry::Carried::NONE);
            }
        }
        Ok(())
    }

    /// The state of each thing, in the order of their slots: `write` is given its handle and what
    /// writes it.
    pub fn each_state(&self, mut write: impl FnMut(Handle, &dyn Fn(&mut StateHash))) {
        for (handle, world) in self.worlds.iter() {
            let simulation = &world.simulation;
            write(handle, &|hash| simulation.each_common_number(|number| hash.write_f32(number)));
        }
        for (handle, actor) in self.actors.iter() {
            let simulation = &self.world(actor.physics).simulation;
            let body = actor.body;
            write(handle, &|hash| simulation.each_number(body, |number| hash.write_f32(number)));
        }
        for (handle, mover) in self.movers.iter() {
            let position = mover.position.to_array();
            write(handle, &|hash| position.iter().for_each(|number| hash.write_f32(*number)));
        }
    }
}

/// A shape of a model's mesh.
fn model_shape((points, triangles): MeshPoints, hull: bool) -> Shape {
    match hull {
        true => Shape::Hull { points },
        false => Shape::Mesh { points, triangles },
    }
}
