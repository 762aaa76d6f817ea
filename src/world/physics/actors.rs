//! Actors: the bodies of units, and bodies without a unit.

use super::properties::Properties;
use super::spec::{ActorSpec, Form};
use super::{ActorId, MeshOf, MoverId, PhysicsTables, PhysicsWorldId, model_shape, owner_of};
use crate::foundation::{Error, Quat, Vec3, suggest};
use crate::system::physics::{Body, BodyId, Filter, Motion, PLACE_MAX, Part, SPEED_MAX};
use crate::world::unit::{UnitId, Units};
use std::sync::Arc;

/// A body that scripts know.
#[derive(Clone, Debug)]
pub struct Actor {
    pub physics: PhysicsWorldId,
    pub body: BodyId,
    pub unit: Option<UnitId>,
    /// The unit's node that it moves, or follows; from 0.
    pub node: u32,
    pub name: Arc<str>,
    /// The name of the physics material that it was given last.
    pub material: Option<Arc<str>>,
    pub trigger: bool,
    pub filter: Filter,
    pub collides: bool,
    pub found: bool,
    /// How much it falls where gravity is enabled.
    pub gravity: f32,
    /// Where its node was when the two were last equal.
    pub(super) shown: (Vec3, Quat),
    /// How often it was put somewhere at once.
    pub(super) jumps: u32,
    /// Whose actor it is, where it is a mover's.
    pub mover: Option<MoverId>,
}

impl Actor {
    /// It and its node were put somewhere at once.
    pub fn moved_to(&mut self, position: Vec3, rotation: Quat) {
        self.shown = (position, rotation);
        self.jumps = self.jumps.wrapping_add(1);
    }
}

/// What an actor would be pushed with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pushed {
    /// Metres a second.
    pub by: Vec3,
}

impl PhysicsTables {
    fn properties_now(&self) -> Arc<Properties> {
        self.properties.clone().unwrap_or_default()
    }

    /// Makes an actor of a unit; it gets the next place.
    ///
    /// # Errors
    /// Its node, filter, material or mesh is not there, or the node's scale cannot be.
    pub fn add_actor(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &ActorSpec,
        mesh_of: &mut MeshOf,
    ) -> Result<ActorId, Error> {
        let row = unit.row();
        let resource = units.of(unit).resource.clone();
        let at = format!("unit \"{}\", actor '{}'", resource.name, spec.name);
        let named = |error: Error| Error { message: format!("{at}: {}", error.message), ..error };
        let node = node_of(&resource, spec.node.as_deref()).map_err(named)?;
        let scale = scale_of(units, row, node);
        if !(scale.is_finite() && scale.min_element() > 1e-6) {
            let name = &resource.node_names[node];
            return Err(crate::error!(
                "{at}: its node '{name}' has the scale {scale}, and an actor needs more than 0 \
                 along every axis: scale the node, or mirror the shape in the file"
            ));
        }
        let (position, rotation) =
            (units.scene.world_position(row, node), units.scene.world_rotation(row, node));
        check_place(position).map_err(named)?;
        let physics = self.parts(unit).expect("it was made").physics;
        let parts = self.shapes(spec, scale, mesh_of).map_err(named)?;
        let properties = self.properties_now();
        let filter = properties.filter(&spec.filter).map_err(named)?;
        let filter = properties.filters[filter].1;
        let body = Body { position, rotation, parts, filter, ..spec.body.clone() };
        let known = Known { unit: Some(unit), node: node as u32, name: &spec.name, mover: None };
        let made = self.put_actor(physics, body, known).map_err(named)?;
        self.actor_mut(made).material = spec.material.as_deref().map(Arc::from);
        self.parts[row as usize].as_mut().expect("it was made").actors.push(Some(made));
        Ok(made)
    }

    /// The shapes of an actor, with its materials, in the size that its node has.
    fn shapes(
        &mut self,
        spec: &ActorSpec,
        scale: Vec3,
        mesh_of: &mut MeshOf,
    ) -> Result<Vec<Part>, Error> {
        let mut part = Part::DEFAULT;
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
            let made = match &shape.form {
                Form::Given(shape) if scale == Vec3::ONE => shape.clone(),
                Form::Given(shape) => shape.scaled(scale)?,
                Form::Model { mesh, hull } => {
                    let key = (mesh.clone(), *hull, scale.to_array().map(f32::to_bits));
                    match self.solids.get(&key) {
                        Some(known) => known.clone(),
                        None => {
                            let made = model_shape(mesh_of(mesh)?, *hull).scaled(scale)?;
                            let made = made.solid()?;
                            self.solids.insert(key, made.clone());
                            made
                        }
                    }
                }
            };
            let (position, rotation) = (shape.position * scale, shape.rotation);
            parts.push(Part { shape: made, position, rotation, ..part });
        }
        Ok(parts)
    }

    /// Makes an actor that belongs to no unit.
    ///
    /// # Errors
    /// There is no room, or the shape cannot be.
    pub fn spawn_actor(&mut self, physics: PhysicsWorldId, body: Body) -> Result<ActorId, Error> {
        check_place(body.position)?;
        self.put_actor(physics, body, Known { unit: None, node: 0, name: "", mover: None })
    }

    pub(super) fn put_actor(
        &mut self,
        physics: PhysicsWorldId,
        mut body: Body,
        known: Known,
    ) -> Result<ActorId, Error> {
        // The owner's number is the handle, which comes with the slot.
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
            gravity: body.gravity,
            shown: (body.position, body.rotation),
            jumps: 0,
            mover: known.mover,
        };
        let handle = self.actors.add(actor).ok_or_else(|| {
            crate::error!(
                "{} actors are there already (ACTORS_MAX): destroy some first",
                super::ACTORS_MAX
            )
        })?;
        body.owner = owner_of(handle, known.unit);
        match self.world_mut(physics).simulation.add(&body) {
            Ok(made) => {
                self.actor_mut(ActorId(handle)).body = made;
                self.settle(ActorId(handle));
                Ok(ActorId(handle))
            }
            Err(error) => {
                self.actors.remove(handle, known.name, 0, "");
                Err(error)
            }
        }
    }

    /// Ends an actor; a unit keeps its place.
    pub fn end_actor(&mut self, actor: ActorId, frame: u64, place: &str) {
        let Some(gone) = self.actors.get(actor.0) else { return };
        let (physics, body, name, unit) = (gone.physics, gone.body, gone.name.clone(), gone.unit);
        if let Some(world) = self.worlds.get_mut(physics.0) {
            world.simulation.remove(body);
        }
        self.actors.remove(actor.0, &name, frame, place);
        let parts = unit.and_then(|unit| self.parts.get_mut(unit.row() as usize)?.as_deref_mut());
        if let Some(parts) = parts {
            for known in &mut parts.actors {
                if *known == Some(actor) {
                    *known = None;
                }
            }
        }
    }

    /// How many places for actors a unit has.
    pub fn num_actors(&self, unit: UnitId) -> usize {
        self.parts(unit).map_or(0, |parts| parts.actors.len())
    }

    /// The actor in a unit's place, from 0; `None`: it ended.
    pub fn unit_actor(&self, unit: UnitId, place: usize) -> Option<ActorId> {
        self.parts(unit).and_then(|parts| *parts.actors.get(place)?)
    }

    /// The place of a unit's actor by its name.
    pub fn find_actor(&self, unit: UnitId, name: &str) -> Option<usize> {
        let parts = self.parts(unit)?;
        let living = parts
            .actors
            .iter()
            .position(|actor| actor.is_some_and(|actor| &*self.actor(actor).name == name));
        living.or_else(|| parts.spec.actors.iter().position(|spec| spec.name == name))
    }

    /// The name that is nearest to one that no actor of the unit has, as words to add.
    pub fn near_name(&self, unit: UnitId, name: &str) -> String {
        let parts = self.parts(unit);
        let specs = parts.map_or(&[][..], |parts| &parts.spec.actors[..]);
        suggest::hint(name, specs.iter().map(|spec| spec.name.as_str()))
    }

    /// Makes the actor of a place again that was ended.
    ///
    /// # Errors
    /// As for [`PhysicsTables::add_actor`]; or it is there, or no file says how it is.
    pub fn create_again(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        place: usize,
        mesh_of: &mut MeshOf,
    ) -> Result<ActorId, Error> {
        if let Some(actor) = self.unit_actor(unit, place) {
            let name = &self.actor(actor).name;
            return Err(crate::error!("the actor '{name}' is there already: destroy it first"));
        }
        let spec = self.parts(unit).map(|parts| parts.spec.clone());
        let Some(spec) = spec.as_ref().and_then(|spec| spec.actors.get(place)) else {
            return Err(crate::error!("the unit's file has no actor {}", place + 1));
        };
        let made = self.add_actor(unit, units, spec, mesh_of)?;
        // It came in the next place; it belongs into its own.
        let parts = self.parts[unit.row() as usize].as_mut().expect("it has actors");
        parts.actors.pop();
        parts.actors[place] = Some(made);
        Ok(made)
    }

    /// Makes an actor that the unit's file does not have.
    ///
    /// # Errors
    /// As for [`PhysicsTables::add_actor`].
    pub fn create_new(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        physics: PhysicsWorldId,
        spec: &ActorSpec,
        mesh_of: &mut MeshOf,
    ) -> Result<ActorId, Error> {
        if self.parts(unit).is_none() {
            self.make_parts(unit, physics, Arc::default());
        }
        if self.num_actors(unit) >= super::spec::UNIT_ACTORS_MAX {
            let most = super::spec::UNIT_ACTORS_MAX;
            return Err(crate::error!("the unit has {most} actors already (UNIT_ACTORS_MAX)"));
        }
        self.add_actor(unit, units, spec, mesh_of)
    }

    /// Sets with whom an actor collides, whether it does, and whether questions find it.
    pub fn set_groups(&mut self, actor: ActorId, change: impl FnOnce(&mut Actor)) {
        let known = self.actor_mut(actor);
        change(known);
        let (filter, collides, found) = (known.filter, known.collides, known.found);
        // A unit without physics gets it back with what was asked for meanwhile.
        let enabled = !self.is_disabled(actor);
        let (simulation, body) = self.body_mut(actor);
        simulation.set_filter(body, filter, collides && enabled, found && enabled);
    }

    /// Checks that an actor can be pushed: it moves by forces, and not faster than all bounds.
    ///
    /// # Errors
    /// It cannot.
    pub fn check_push(&self, actor: ActorId, impulse: Vec3) -> Result<(), Error> {
        let (simulation, body) = self.body(actor);
        self.check_dynamic(actor)?;
        check_speed(impulse / simulation.mass(body).max(f32::MIN_POSITIVE))
    }

    /// # Errors
    /// The actor does not move by forces.
    pub fn check_dynamic(&self, actor: ActorId) -> Result<(), Error> {
        let (simulation, body) = self.body(actor);
        match simulation.motion(body) {
            Motion::Dynamic => Ok(()),
            Motion::Static => Err(crate::error!(
                "the actor '{}' is static, and only dynamic ones move by forces",
                self.actor(actor).name
            )),
            Motion::Kinematic => Err(crate::error!(
                "the actor '{}' is kinematic, and only dynamic ones move by forces: move its node, \
                 or make it dynamic with Actor.set_kinematic(actor, false)",
                self.actor(actor).name
            )),
        }
    }
}

/// What an actor is made for.
pub(super) struct Known<'a> {
    pub unit: Option<UnitId>,
    pub node: u32,
    pub name: &'a str,
    pub mover: Option<MoverId>,
}

/// # Errors
/// Faster than anything can be.
pub(super) fn check_speed(speed: Vec3) -> Result<(), Error> {
    match speed.length() <= SPEED_MAX {
        true => Ok(()),
        false => Err(crate::error!(
            "that would make it faster than {SPEED_MAX} a second (SPEED_MAX): {} a second",
            speed.length()
        )),
    }
}

impl Pushed {
    /// # Errors
    /// Faster than anything can be.
    pub fn check(self) -> Result<(), Error> {
        check_speed(self.by)
    }
}

/// # Errors
/// Farther away than anything can be.
pub fn check_place(position: Vec3) -> Result<(), Error> {
    match position.abs().max_element() <= PLACE_MAX {
        true => Ok(()),
        false => Err(crate::error!(
            "{position} is farther than {PLACE_MAX} metres from the origin (PLACE_MAX)"
        )),
    }
}

/// The place of a node by its name; the root if none is said.
pub(super) fn node_of(
    resource: &crate::world::unit_resource::UnitResource,
    name: Option<&str>,
) -> Result<usize, Error> {
    let Some(name) = name else { return Ok(0) };
    resource.node(name).ok_or_else(|| {
        let hint = suggest::hint(name, resource.node_names.iter().map(String::as_str));
        crate::error!(
            "the unit has no node '{name}'{hint}: name one of its nodes, or leave 'node' out for \
             the root"
        )
    })
}

/// How large a node is in the world along each axis; below 0 where it is mirrored.
fn scale_of(units: &mut Units, row: u32, node: usize) -> Vec3 {
    let world = units.scene.world(row, node);
    let axes = [world.x_axis, world.y_axis, world.z_axis].map(|axis| axis.truncate());
    let scale = Vec3::from_array(axes.map(|axis| axis.length()));
    if axes[0].cross(axes[1]).dot(axes[2]) < 0.0 { -scale } else { scale }
}
