//! Actors: physics bodies of units, and bodies without a unit.

use super::resource::PhysicsProperties;
use super::shape_reload::{ModelShape, model_shapes};
use super::template::{ActorDesc, ShapeForm};
use super::{ActorId, MoverId, PhysicsTables, PhysicsWorldId, owner_of};
use crate::unit::{UnitId, Units};
use engine_foundation::{Error, Quat, Vec3, suggest};
use engine_physics::{
    BodyDesc, BodyId, ColliderDesc, ColliderShape, CollisionFilter, MotionType, POSITION_MAX,
    SPEED_MAX,
};
use engine_resource::store::ResourceStore;
use std::sync::Arc;

/// A physics body that scripts can use.
#[derive(Clone, Debug)]
pub struct Actor {
    pub physics: PhysicsWorldId,
    pub body: BodyId,
    pub unit: Option<UnitId>,
    /// Index of the unit's node that the actor moves or follows, from 0.
    pub node: u32,
    pub name: Arc<str>,
    /// Name of the physics material that was set last.
    pub material: Option<Arc<str>>,
    pub trigger: bool,
    pub filter: CollisionFilter,
    pub collides: bool,
    pub found: bool,
    /// Shapes that are built from models, for their reload.
    pub(super) model_shapes: Option<Arc<[ModelShape]>>,
    /// Gravity factor that applies if gravity is enabled.
    pub gravity: f32,
    /// Pose of the node when node and body were last equal.
    pub(super) shown: (Vec3, Quat),
    /// Number of teleports.
    pub(super) jumps: u32,
    /// The mover that owns the actor, if any.
    pub mover: Option<MoverId>,
    /// True for a body of a ragdoll. It does not move its node itself.
    pub is_ragdoll: bool,
}

impl Actor {
    /// Records a teleport of the actor and its node.
    pub fn moved_to(&mut self, position: Vec3, rotation: Quat) {
        self.shown = (position, rotation);
        self.jumps = self.jumps.wrapping_add(1);
    }
}

/// Velocity change of a push, to be checked against the maximum speed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PushTarget {
    /// Metres per second.
    pub by: Vec3,
}

impl PhysicsTables {
    fn properties_now(&self) -> Arc<PhysicsProperties> {
        self.properties.clone().unwrap_or_default()
    }

    /// Iterates over the actors of a unit, in their order; none if the unit does not exist.
    pub(crate) fn actors_of(&self, unit: UnitId) -> impl Iterator<Item = ActorId> {
        let parts = self.parts(unit).filter(|parts| parts.unit == unit);
        parts.into_iter().flat_map(|parts| parts.actors.iter().flatten().copied())
    }

    /// Creates an actor of a unit; it gets the next index.
    ///
    /// # Errors
    /// Returns an error if its node, filter, material or mesh does not exist, or if the node's
    /// scale is invalid.
    pub fn add_actor(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &ActorDesc,
        store: &mut ResourceStore,
    ) -> Result<ActorId, Error> {
        let row = unit.row();
        let resource = units.of(unit).resource.clone();
        let at = format!("unit \"{}\", actor '{}'", resource.name, spec.name);
        let named = |error: Error| Error { message: format!("{at}: {}", error.message), ..error };
        let node = node_of(&resource, spec.node.as_deref()).map_err(named)?;
        let scale = scale_of(units, row, node);
        if !(scale.is_finite() && scale.min_element() > 1e-6) {
            let name = &resource.node_names[node];
            return Err(engine_foundation::error!(
                "{at}: its node '{name}' has the scale {scale}, and an actor needs more than 0 \
                 along every axis: scale the node, or mirror the shape in the file"
            ));
        }
        let (position, rotation) =
            (units.scene.world_position(row, node), units.scene.world_rotation(row, node));
        check_position(position).map_err(named)?;
        let physics = self.parts(unit).expect("it was made").physics;
        let parts = self.shapes(spec, scale, store).map_err(named)?;
        let properties = self.properties_now();
        let filter = properties.filter(&spec.filter).map_err(named)?;
        let filter = properties.filters[filter].1;
        let body = BodyDesc { position, rotation, parts, filter, ..spec.body.clone() };
        let known =
            ActorOrigin { unit: Some(unit), node: node as u32, name: &spec.name, mover: None };
        let actor = self.insert_actor(physics, body, known).map_err(named)?;
        let known = self.actor_mut(actor);
        known.material = spec.material.as_deref().map(Arc::from);
        known.model_shapes = model_shapes(spec, scale);
        self.parts[row as usize].as_mut().expect("it was made").actors.push(Some(actor));
        Ok(actor)
    }

    /// Returns the shapes of an actor with their materials, scaled by its node.
    fn shapes(
        &mut self,
        spec: &ActorDesc,
        scale: Vec3,
        store: &mut ResourceStore,
    ) -> Result<Vec<ColliderDesc>, Error> {
        let mut part = ColliderDesc::DEFAULT;
        if let Some(name) = &spec.material {
            let properties = self.properties_now();
            let material = properties.material(name)?;
            part.friction = material.friction;
            part.restitution = material.restitution;
            part.density = material.density;
        }
        part.friction = spec.friction.unwrap_or(part.friction);
        part.restitution = spec.restitution.unwrap_or(part.restitution);
        part.density = spec.density.unwrap_or(part.density);
        let mut parts = Vec::with_capacity(spec.shapes.len());
        for shape in &spec.shapes {
            let scaled = match &shape.form {
                ShapeForm::Collider(shape) if scale == Vec3::ONE => shape.clone(),
                ShapeForm::Collider(shape) => shape.scaled(scale)?,
                ShapeForm::Model { mesh, hull } => self.model_solid((mesh, *hull), scale, store)?,
            };
            let (position, rotation) = (shape.position * scale, shape.rotation);
            parts.push(ColliderDesc { shape: scaled, position, rotation, ..part });
        }
        Ok(parts)
    }

    /// Creates an actor without a unit.
    ///
    /// # Errors
    /// Returns an error if there are too many actors or bodies, or if the shape is invalid.
    pub fn spawn_actor(
        &mut self,
        physics: PhysicsWorldId,
        body: BodyDesc,
    ) -> Result<ActorId, Error> {
        check_position(body.position)?;
        self.insert_actor(physics, body, ActorOrigin { unit: None, node: 0, name: "", mover: None })
    }

    pub(super) fn insert_actor(
        &mut self,
        physics: PhysicsWorldId,
        mut body: BodyDesc,
        known: ActorOrigin,
    ) -> Result<ActorId, Error> {
        // The owner's number is the handle, which is known only after the slot is allocated.
        let actor = Actor {
            physics,
            body: BodyId::none(),
            unit: known.unit,
            node: known.node,
            name: known.name.into(),
            material: None,
            trigger: body.trigger,
            filter: body.filter,
            collides: true,
            found: true,
            model_shapes: None,
            gravity: body.gravity,
            shown: (body.position, body.rotation),
            jumps: 0,
            mover: known.mover,
            is_ragdoll: false,
        };
        let handle = self.actors.add(actor).ok_or_else(|| {
            engine_foundation::error!(
                "{} actors already exist (ACTORS_MAX): destroy some first",
                super::ACTORS_MAX
            )
        })?;
        body.owner = owner_of(handle, known.unit);
        match self.world_mut(physics).simulation.add(&body) {
            Ok(added) => {
                self.actor_mut(ActorId(handle)).body = added;
                self.sync_enabled(ActorId(handle));
                Ok(ActorId(handle))
            }
            Err(error) => {
                self.actors.remove(handle, known.name, 0, "");
                Err(error)
            }
        }
    }

    /// Destroys an actor. The unit keeps the actor's index unused.
    pub fn end_actor(&mut self, actor: ActorId, frame: u64, location: &str) {
        let Some(known) = self.actors.get(actor.0) else { return };
        let (physics, body, name, unit) =
            (known.physics, known.body, known.name.clone(), known.unit);
        if let Some(world) = self.worlds.get_mut(physics.0) {
            world.simulation.remove(body);
        }
        self.actors.remove(actor.0, &name, frame, location);
        let parts = unit.and_then(|unit| self.parts.get_mut(unit.row() as usize)?.as_deref_mut());
        if let Some(parts) = parts {
            let of_ragdoll = parts.ragdoll.iter_mut().flat_map(|ragdoll| &mut ragdoll.actors);
            for known in parts.actors.iter_mut().chain(of_ragdoll) {
                if *known == Some(actor) {
                    *known = None;
                }
            }
        }
    }

    /// Returns the number of actor indices of a unit, including those of destroyed actors.
    pub fn num_actors(&self, unit: UnitId) -> usize {
        self.parts(unit).map_or(0, |parts| parts.actors.len())
    }

    /// Returns the actor at an index in a unit, from 0, or `None` if the actor was destroyed.
    pub fn unit_actor(&self, unit: UnitId, index: usize) -> Option<ActorId> {
        self.parts(unit).and_then(|parts| *parts.actors.get(index)?)
    }

    /// Returns the index of a unit's actor, by name.
    pub fn find_actor(&self, unit: UnitId, name: &str) -> Option<usize> {
        let parts = self.parts(unit)?;
        let living = parts
            .actors
            .iter()
            .position(|actor| actor.is_some_and(|actor| &*self.actor(actor).name == name));
        living.or_else(|| parts.spec.actors.iter().position(|spec| spec.name == name))
    }

    /// Returns a suggestion for the name of a missing actor, to append to a message.
    pub fn name_hint(&self, unit: UnitId, name: &str) -> String {
        let parts = self.parts(unit);
        let specs = parts.map_or(&[][..], |parts| &parts.spec.actors[..]);
        suggest::hint(name, specs.iter().map(|spec| spec.name.as_str()))
    }

    /// Creates a destroyed actor again, at its index.
    ///
    /// # Errors
    /// Returns the errors of [`PhysicsTables::add_actor`], or an error if the actor exists or the
    /// unit's file has no such actor.
    pub fn recreate(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        index: usize,
        store: &mut ResourceStore,
    ) -> Result<ActorId, Error> {
        if let Some(actor) = self.unit_actor(unit, index) {
            let name = &self.actor(actor).name;
            return Err(engine_foundation::error!(
                "the actor '{name}' already exists: destroy it first"
            ));
        }
        let spec = self.parts(unit).map(|parts| parts.spec.clone());
        let Some(spec) = spec.as_ref().and_then(|spec| spec.actors.get(index)) else {
            return Err(engine_foundation::error!("the unit's file has no actor {}", index + 1));
        };
        let actor = self.add_actor(unit, units, spec, store)?;
        // The new actor is at the end of the list and is moved to its own index.
        let parts = self.parts[unit.row() as usize].as_mut().expect("it has actors");
        parts.actors.pop();
        parts.actors[index] = Some(actor);
        Ok(actor)
    }

    /// Creates an actor that is not in the unit's file.
    ///
    /// # Errors
    /// Returns the errors of [`PhysicsTables::add_actor`].
    pub fn create_new(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        physics: PhysicsWorldId,
        spec: &ActorDesc,
        store: &mut ResourceStore,
    ) -> Result<ActorId, Error> {
        if self.parts(unit).is_none() {
            self.make_parts(unit, physics, Arc::default());
        }
        self.check_indices(unit, 1)?;
        self.add_actor(unit, units, spec, store)
    }

    /// Creates an actor that is not in the unit's file, and that has no index in its unit yet: pass
    /// it to [`PhysicsTables::list_actor`], or end it.
    ///
    /// # Errors
    /// Returns the errors of [`PhysicsTables::add_actor`].
    pub fn create_unlisted(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        (physics, store): (PhysicsWorldId, &mut ResourceStore),
        spec: &ActorDesc,
    ) -> Result<ActorId, Error> {
        if self.parts(unit).is_none() {
            self.make_parts(unit, physics, Arc::default());
        }
        let actor = self.add_actor(unit, units, spec, store)?;
        self.parts[unit.row() as usize].as_mut().expect("it was made").actors.pop();
        Ok(actor)
    }

    /// Gives an actor an index in its unit, and returns it, from 0: `index` if the actor there was
    /// destroyed, otherwise a new one, for which [`PhysicsTables::check_indices`] was called.
    pub fn list_actor(&mut self, unit: UnitId, actor: ActorId, index: Option<usize>) -> usize {
        let actors = &mut self.parts[unit.row() as usize].as_mut().expect("it was made").actors;
        match index.filter(|index| actors.get(*index).is_some_and(Option::is_none)) {
            Some(index) => {
                actors[index] = Some(actor);
                index
            }
            None => {
                actors.push(Some(actor));
                actors.len() - 1
            }
        }
    }

    /// Checks that a unit can have more actors than it has indices for.
    ///
    /// # Errors
    /// Returns an error if it would have too many.
    pub fn check_indices(&self, unit: UnitId, more: usize) -> Result<(), Error> {
        let most = super::template::UNIT_ACTORS_MAX;
        match self.num_actors(unit) + more > most {
            true => Err(engine_foundation::error!(
                "the unit has {most} actors already (UNIT_ACTORS_MAX)"
            )),
            false => Ok(()),
        }
    }

    /// Replaces one of the shapes of an actor, in the size of its node.
    ///
    /// # Errors
    /// Returns an error if the shape or the scale of the node is invalid.
    pub fn set_shape(
        &mut self,
        units: &mut Units,
        actor: ActorId,
        index: usize,
        shape: &ColliderShape,
    ) -> Result<(), Error> {
        let scaled = self.scaled_shape(units, actor, shape)?;
        let (simulation, body) = self.body_mut(actor);
        simulation.set_shape(body, index, &scaled)
    }

    /// Adds a shape to an actor that forces do not move, in the size of its node. It gets the last
    /// index, and the filter and material of the first shape.
    ///
    /// # Errors
    /// Returns an error if the shape or the scale of the node is invalid.
    pub fn add_shape(
        &mut self,
        units: &mut Units,
        actor: ActorId,
        shape: &ColliderShape,
    ) -> Result<(), Error> {
        let scaled = self.scaled_shape(units, actor, shape)?;
        let (simulation, body) = self.body_mut(actor);
        simulation.add_shape(body, &scaled)
    }

    /// Removes one of the shapes of an actor that forces do not move. The last shape gets its
    /// index.
    pub fn remove_shape(&mut self, actor: ActorId, index: usize) {
        let (simulation, body) = self.body_mut(actor);
        simulation.remove_shape(body, index);
    }

    /// Returns the number of shapes of an actor.
    pub fn num_shapes(&self, actor: ActorId) -> usize {
        let (simulation, body) = self.body(actor);
        simulation.num_shapes(body)
    }

    /// Returns a shape of an actor, in the size of its node.
    fn scaled_shape(
        &self,
        units: &mut Units,
        actor: ActorId,
        shape: &ColliderShape,
    ) -> Result<ColliderShape, Error> {
        let known = self.actor(actor);
        let scale = match known.unit {
            Some(unit) => scale_of(units, unit.row(), known.node as usize),
            None => Vec3::ONE,
        };
        if scale == Vec3::ONE { Ok(shape.clone()) } else { shape.scaled(scale) }
    }

    /// Changes the collision filter of an actor, its collision flag, and its visibility for
    /// queries.
    pub fn set_groups(&mut self, actor: ActorId, change: impl FnOnce(&mut Actor)) {
        let known = self.actor_mut(actor);
        change(known);
        let (filter, collides, found) = (known.filter, known.collides, known.found);
        // The changes of a disabled unit take effect when it is enabled.
        let enabled = !self.is_disabled(actor);
        let (simulation, body) = self.body_mut(actor);
        simulation.set_filter(body, filter, collides && enabled, found && enabled);
    }

    /// Checks that an actor can be pushed: it is dynamic, and does not exceed the maximum speed.
    ///
    /// # Errors
    /// Returns an error if the actor cannot be pushed.
    pub fn check_push(&self, actor: ActorId, impulse: Vec3) -> Result<(), Error> {
        let (simulation, body) = self.body(actor);
        self.check_dynamic(actor)?;
        check_speed(impulse / simulation.mass(body).max(f32::MIN_POSITIVE))
    }

    /// Checks that an actor is dynamic.
    ///
    /// # Errors
    /// Returns an error if forces do not move the actor.
    pub fn check_dynamic(&self, actor: ActorId) -> Result<(), Error> {
        let (simulation, body) = self.body(actor);
        match simulation.motion(body) {
            MotionType::Dynamic => Ok(()),
            MotionType::Static => Err(engine_foundation::error!(
                "the actor '{}' is static, and only dynamic ones move by forces",
                self.actor(actor).name
            )),
            MotionType::Kinematic => Err(engine_foundation::error!(
                "the actor '{}' is kinematic, and only dynamic ones move by forces: move its node, \
                 or make it dynamic with Actor.set_kinematic(actor, false)",
                self.actor(actor).name
            )),
        }
    }
}

/// Owner and name of a new actor.
pub(super) struct ActorOrigin<'a> {
    pub unit: Option<UnitId>,
    pub node: u32,
    pub name: &'a str,
    pub mover: Option<MoverId>,
}

/// Checks a speed.
///
/// # Errors
/// Returns an error if the speed exceeds the maximum.
pub(super) fn check_speed(speed: Vec3) -> Result<(), Error> {
    match speed.length() <= SPEED_MAX {
        true => Ok(()),
        false => Err(engine_foundation::error!(
            "that would make it faster than {SPEED_MAX} a second (SPEED_MAX): {} a second",
            speed.length()
        )),
    }
}

impl PushTarget {
    /// Checks the speed of the push.
    ///
    /// # Errors
    /// Returns an error if the speed exceeds the maximum.
    pub fn check(self) -> Result<(), Error> {
        check_speed(self.by)
    }
}

/// Checks a position.
///
/// # Errors
/// Returns an error if the position is too far from the origin.
pub fn check_position(position: Vec3) -> Result<(), Error> {
    match position.abs().max_element() <= POSITION_MAX {
        true => Ok(()),
        false => Err(engine_foundation::error!(
            "{position} is farther than {POSITION_MAX} metres from the origin (POSITION_MAX)"
        )),
    }
}

/// Returns the index of a node by its name; without a name, the root.
pub(super) fn node_of(
    resource: &crate::unit_resource::UnitResource,
    name: Option<&str>,
) -> Result<usize, Error> {
    let Some(name) = name else { return Ok(0) };
    resource.node(name).ok_or_else(|| {
        let hint = suggest::hint(name, resource.node_names.iter().map(String::as_str));
        engine_foundation::error!(
            "the unit has no node '{name}'{hint}: name one of its nodes, or leave 'node' out for \
             the root"
        )
    })
}

/// Returns the world scale of a node along each axis, negative if the node is mirrored.
fn scale_of(units: &mut Units, row: u32, node: usize) -> Vec3 {
    let world = units.scene.world(row, node);
    let axes = [world.x_axis, world.y_axis, world.z_axis].map(|axis| axis.truncate());
    let scale = Vec3::from_array(axes.map(|axis| axis.length()));
    if axes[0].cross(axes[1]).dot(axes[2]) < 0.0 { -scale } else { scale }
}
