//! Movers: shapes that walk as they are told, up steps and along walls. A mover has an actor, which
//! other bodies run into and questions find.

use super::actors::{Known, check_place, node_of};
use super::carry::{Carried, Ground};
use super::spec::MoverSpec;
use super::{ActorId, MoverId, PhysicsTables, PhysicsWorldId, actor_of};
use crate::foundation::{Error, Quat, Vec3, suggest};
use crate::system::physics::{
    Body, Filter, Gait, Kinds, Motion, Part, Query, SPEED_MAX, Shape, Walk,
};
use crate::world::unit::{UnitId, Units};

/// Something that walks.
#[derive(Clone, Debug)]
pub struct Mover {
    pub physics: PhysicsWorldId,
    pub unit: UnitId,
    pub actor: ActorId,
    pub spec: MoverSpec,
    pub filter: Filter,
    /// Radians.
    pub slope_max: f32,
    /// Of its feet, in the world.
    pub position: Vec3,
    /// What the last move ran into.
    pub sides: bool,
    pub up: bool,
    pub down: bool,
    pub standing_on: Option<ActorId>,
    /// What it stands on, if that can move.
    pub ground: Option<Ground>,
    /// Metres a second of what it stands on, or left last, at its feet.
    pub ground_velocity: Vec3,
    pub carried: Carried,
    /// Moves in a row that ended in the air, and on the ground.
    pub flying_frames: u32,
    pub standing_frames: u32,
}

impl Mover {
    pub(super) fn middle(&self) -> Vec3 {
        Vec3::new(0.0, 0.0, self.spec.height * 0.5)
    }

    pub(super) fn gait(&self) -> Gait {
        Gait {
            step_height: self.spec.step_height,
            slope_max: self.slope_max,
            snap: self.spec.snap,
            mass: self.spec.mass,
        }
    }

    pub(super) fn query(&self, body: crate::system::physics::BodyId) -> Query {
        Query {
            is: self.filter.is,
            types: self.filter.collides,
            kinds: Kinds::Both,
            but: Some(body),
        }
    }
}

impl PhysicsTables {
    /// Makes the mover of a unit; one that is there ends.
    ///
    /// # Errors
    /// Its node or filter is not there.
    pub fn add_mover(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &MoverSpec,
    ) -> Result<MoverId, Error> {
        let resource = units.of(unit).resource.clone();
        let at = format!("unit \"{}\", mover '{}'", resource.name, spec.name);
        let named = |error: Error| Error { message: format!("{at}: {}", error.message), ..error };
        let node = node_of(&resource, spec.node.as_deref()).map_err(named)?;
        let properties = self.properties.clone().unwrap_or_default();
        let filter = properties.filters[properties.filter(&spec.filter).map_err(named)?].1;
        let physics = self.parts(unit).expect("it was made").physics;
        let position = units.scene.world_position(unit.row(), node);
        check_place(position).map_err(named)?;
        let mover = Mover {
            physics,
            unit,
            actor: ActorId(unit.0),
            spec: spec.clone(),
            filter,
            slope_max: spec.slope_max,
            position,
            sides: false,
            up: false,
            down: false,
            standing_on: None,
            ground: None,
            ground_velocity: Vec3::ZERO,
            carried: Carried::NONE,
            flying_frames: 0,
            standing_frames: 0,
        };
        let middle = mover.middle();
        let handle = self.movers.add(mover).map(MoverId).ok_or_else(|| {
            crate::error!(
                "{} movers are there already (MOVERS_MAX): destroy some first",
                super::MOVERS_MAX
            )
        })?;
        let body = Body {
            motion: Motion::Kinematic,
            position,
            parts: vec![Part { shape: spec.shape(), position: middle, ..Part::DEFAULT }],
            filter,
            tells: false,
            ..Body::DEFAULT
        };
        let known =
            Known { unit: Some(unit), node: node as u32, name: &spec.name, mover: Some(handle) };
        match self.put_actor(physics, body, known) {
            Ok(actor) => {
                self.movers.get_mut(handle.0).expect("it was added").actor = actor;
                self.parts[unit.row() as usize].as_mut().expect("it was made").mover = Some(handle);
                Ok(handle)
            }
            Err(error) => {
                self.movers.remove(handle.0, &spec.name, 0, "");
                Err(named(error))
            }
        }
    }

    pub fn end_mover(&mut self, mover: MoverId, frame: u64, place: &str) {
        let Some(known) = self.movers.get(mover.0) else { return };
        let (name, unit, actor) = (known.spec.name.clone(), known.unit, known.actor);
        self.movers.remove(mover.0, &name, frame, place);
        self.end_actor(actor, frame, place);
        let parts = self.parts.get_mut(unit.row() as usize).and_then(Option::as_deref_mut);
        if let Some(parts) = parts.filter(|parts| parts.mover == Some(mover)) {
            parts.mover = None;
        }
    }

    /// The mover of a unit, if it has one now.
    pub fn unit_mover(&self, unit: UnitId) -> Option<MoverId> {
        self.parts(unit)?.mover
    }

    /// How many movers a unit's file lists.
    pub fn num_movers(&self, unit: UnitId) -> usize {
        self.parts(unit).map_or(0, |parts| parts.spec.movers.len())
    }

    /// The place of a mover in a unit's file, from 0.
    pub fn find_mover(&self, unit: UnitId, name: &str) -> Option<usize> {
        self.parts(unit)?.spec.movers.iter().position(|spec| spec.name == name)
    }

    /// What a unit's file says of one of its movers.
    ///
    /// # Errors
    /// It says nothing of that name.
    pub fn mover_spec(&self, unit: UnitId, name: &str) -> Result<MoverSpec, Error> {
        let specs = self.parts(unit).map_or(&[][..], |parts| &parts.spec.movers[..]);
        specs.iter().find(|spec| spec.name == name).cloned().ok_or_else(|| {
            let hint = suggest::hint(name, specs.iter().map(|spec| spec.name.as_str()));
            crate::error!("the unit has no mover '{name}'{hint}")
        })
    }

    /// Walks by `way` in `seconds`.
    ///
    /// # Errors
    /// It would get out of all bounds.
    pub fn move_mover(&mut self, mover: MoverId, way: Vec3, seconds: f32) -> Result<(), Error> {
        if way.length() > SPEED_MAX * seconds.max(1.0 / 60.0) {
            return Err(crate::error!("a way of {way} metres in {seconds} seconds is too long"));
        }
        check_place(self.mover(mover).position + way)?;
        self.make_way(mover)?;
        let known = self.mover(mover).clone();
        let body = self.actor(known.actor).body;
        let (query, middle, gait) = (known.query(body), known.middle(), known.gait());
        let own = self.bodies_of(known.unit);
        let simulation = &mut self.world_mut(known.physics).simulation;
        let (from, query) =
            ((known.position + middle, known.standing_frames > 0), (&query, &own[..]));
        let walk = simulation.walk(&known.spec.shape(), from, way, seconds, &gait, query)?;
        let position = walk.position - middle;
        simulation.drive(body, position, Quat::IDENTITY);
        self.walked(mover, position, walk);
        Ok(())
    }

    fn walked(&mut self, mover: MoverId, position: Vec3, walk: Walk) {
        let known = self.movers.get_mut(mover.0).expect("it is there");
        known.position = position;
        (known.sides, known.up, known.down) = (walk.sides, walk.up, walk.down);
        known.standing_on = walk.standing_on.and_then(actor_of);
        match walk.grounded {
            true => (known.standing_frames, known.flying_frames) = (known.standing_frames + 1, 0),
            false => (known.standing_frames, known.flying_frames) = (0, known.flying_frames + 1),
        }
        self.note_ground(mover);
    }

    /// Puts a mover somewhere, through whatever is between.
    ///
    /// # Errors
    /// It is out of all bounds.
    pub fn place_mover(&mut self, mover: MoverId, position: Vec3) -> Result<(), Error> {
        check_place(position)?;
        let known = self.movers.get_mut(mover.0).expect("the handle was checked");
        known.position = position;
        (known.standing_frames, known.standing_on, known.ground) = (0, None, None);
        (known.ground_velocity, known.carried) = (Vec3::ZERO, Carried::NONE);
        let actor = known.actor;
        let (simulation, body) = self.body_mut(actor);
        simulation.teleport(body, position, Quat::IDENTITY);
        Ok(())
    }

    /// Whether a mover of that kind would touch nothing with its feet at a place.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn mover_fits(
        &self,
        mover: MoverId,
        spec: &MoverSpec,
        position: Vec3,
    ) -> Result<bool, Error> {
        let known = self.mover(mover);
        let body = self.actor(known.actor).body;
        // A little smaller, so that the ground it stands on does not count.
        let radius = spec.radius * 0.98;
        let half_height = (spec.height * 0.5 - spec.radius).max(1e-3);
        let at = position + Vec3::new(0.0, 0.0, spec.height * 0.5 + 0.01);
        let shape = Shape::Capsule { half_height, radius };
        let simulation = &self.world(known.physics).simulation;
        Ok(simulation.overlap(&shape, at, Quat::IDENTITY, &known.query(body))?.is_empty())
    }

    /// Sets with whom a mover, and its actor, collides.
    pub fn set_mover_filter(&mut self, mover: MoverId, filter: Filter) {
        let known = self.movers.get_mut(mover.0).expect("the handle was checked");
        known.filter = filter;
        let actor = known.actor;
        self.set_groups(actor, |actor| actor.filter = filter);
    }
}
