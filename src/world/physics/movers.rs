//! Movers: character controllers that walk up steps and along walls. A mover has an actor, so that
//! other bodies collide with it and queries find it.

use super::actors::{ActorOrigin, check_position, node_of};
use super::moving_platforms::{CarriedMotion, StandingOn};
use super::template::MoverDesc;
use super::{ActorId, MoverId, PhysicsTables, PhysicsWorldId, actor_of};
use crate::unit::{UnitId, Units};
use engine_foundation::{Error, Quat, Vec3, suggest};
use engine_physics::{
    BodyDesc, BodyId, BodyKinds, ColliderDesc, ColliderShape, CollisionFilter, ControllerMove,
    ControllerSettings, MotionType, QueryFilter, SPEED_MAX,
};

/// A character controller.
#[derive(Clone, Debug)]
pub struct Mover {
    pub physics: PhysicsWorldId,
    pub unit: UnitId,
    pub actor: ActorId,
    pub spec: MoverDesc,
    pub filter: CollisionFilter,
    /// Maximum slope in radians.
    pub slope_max: f32,
    /// Direction that is up in its world.
    pub up_axis: Vec3,
    /// World position of the feet.
    pub position: Vec3,
    /// Contacts of the last move: at the sides, above, and below.
    pub sides: bool,
    pub up: bool,
    pub down: bool,
    pub standing_on: Option<ActorId>,
    /// One-way platform that it drops through.
    pub dropping: Option<ActorId>,
    /// The ground, if it can move.
    pub ground: Option<StandingOn>,
    /// Velocity of the current or last ground at the feet, in metres per second.
    pub ground_velocity: Vec3,
    pub carried: CarriedMotion,
    /// Number of consecutive moves that ended in the air, and on the ground.
    pub flying_frames: u32,
    pub standing_frames: u32,
}

impl Mover {
    /// Creates a mover that has not moved yet.
    pub(super) fn new(
        (physics, unit, actor): (PhysicsWorldId, UnitId, ActorId),
        spec: MoverDesc,
        filter: CollisionFilter,
        (position, up_axis): (Vec3, Vec3),
    ) -> Mover {
        Mover {
            physics,
            unit,
            actor,
            filter,
            slope_max: spec.slope_max,
            spec,
            up_axis,
            position,
            sides: false,
            up: false,
            down: false,
            standing_on: None,
            dropping: None,
            ground: None,
            ground_velocity: Vec3::ZERO,
            carried: CarriedMotion::NONE,
            flying_frames: 0,
            standing_frames: 0,
        }
    }

    pub(super) fn center(&self) -> Vec3 {
        self.up_axis * (self.spec.height * 0.5)
    }

    pub(super) fn controller_settings(&self) -> ControllerSettings {
        ControllerSettings {
            step_height: self.spec.step_height,
            slope_max: self.slope_max,
            snap: self.spec.snap,
            mass: self.spec.mass,
        }
    }

    /// Returns the filter of queries for bodies that stop the mover.
    pub(crate) fn query(&self, body: engine_physics::BodyId) -> QueryFilter {
        QueryFilter {
            is: self.filter.is,
            types: self.filter.collides,
            kinds: BodyKinds::Solids,
            but: Some(body),
        }
    }
}

impl PhysicsTables {
    /// Creates the mover of a unit, and destroys the existing one.
    ///
    /// # Errors
    /// Returns an error if its node or filter does not exist.
    pub fn add_mover(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &MoverDesc,
    ) -> Result<MoverId, Error> {
        let resource = units.of(unit).resource.clone();
        let at = format!("unit \"{}\", mover '{}'", resource.name, spec.name);
        let named = |error: Error| Error { message: format!("{at}: {}", error.message), ..error };
        let node = node_of(&resource, spec.node.as_deref()).map_err(named)?;
        let properties = self.properties.clone().unwrap_or_default();
        let filter = properties.filters[properties.filter(&spec.filter).map_err(named)?].1;
        let physics = self.parts(unit).expect("it was made").physics;
        let position = units.scene.world_position(unit.row(), node);
        check_position(position).map_err(named)?;
        let owner = (physics, unit, ActorId(unit.0));
        let up = self.world(physics).simulation.up();
        let mover = Mover::new(owner, spec.clone(), filter, (position, up));
        let middle = mover.center();
        let handle = self.movers.add(mover).map(MoverId).ok_or_else(|| {
            engine_foundation::error!(
                "{} movers already exist (MOVERS_MAX): destroy some first",
                super::MOVERS_MAX
            )
        })?;
        let body = BodyDesc {
            motion: MotionType::Kinematic,
            position,
            parts: vec![ColliderDesc {
                shape: spec.shape(),
                position: middle,
                ..ColliderDesc::DEFAULT
            }],
            filter,
            reports_contacts: false,
            ..BodyDesc::DEFAULT
        };
        let known = ActorOrigin {
            unit: Some(unit),
            node: node as u32,
            name: &spec.name,
            mover: Some(handle),
        };
        match self.insert_actor(physics, body, known) {
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

    pub fn end_mover(&mut self, mover: MoverId, frame: u64, location: &str) {
        let Some(known) = self.movers.get(mover.0) else { return };
        let (name, unit, actor) = (known.spec.name.clone(), known.unit, known.actor);
        self.movers.remove(mover.0, &name, frame, location);
        self.end_actor(actor, frame, location);
        let parts = self.parts.get_mut(unit.row() as usize).and_then(Option::as_deref_mut);
        if let Some(parts) = parts.filter(|parts| parts.mover == Some(mover)) {
            parts.mover = None;
        }
    }

    /// Returns the current mover of a unit.
    pub fn unit_mover(&self, unit: UnitId) -> Option<MoverId> {
        self.parts(unit)?.mover
    }

    /// Returns the number of movers in a unit's file.
    pub fn num_movers(&self, unit: UnitId) -> usize {
        self.parts(unit).map_or(0, |parts| parts.spec.movers.len())
    }

    /// Returns the index of a mover in a unit's file, from 0.
    pub fn find_mover(&self, unit: UnitId, name: &str) -> Option<usize> {
        self.parts(unit)?.spec.movers.iter().position(|spec| spec.name == name)
    }

    /// Returns the description of a mover in a unit's file.
    ///
    /// # Errors
    /// Returns an error if the file has no mover with that name.
    pub fn mover_spec(&self, unit: UnitId, name: &str) -> Result<MoverDesc, Error> {
        let specs = self.parts(unit).map_or(&[][..], |parts| &parts.spec.movers[..]);
        specs.iter().find(|spec| spec.name == name).cloned().ok_or_else(|| {
            let hint = suggest::hint(name, specs.iter().map(|spec| spec.name.as_str()));
            engine_foundation::error!("the unit has no mover '{name}'{hint}")
        })
    }

    /// Moves a mover by `way` in `seconds`, with collisions.
    ///
    /// # Errors
    /// Returns an error if the mover would leave the allowed range.
    pub fn move_mover(&mut self, mover: MoverId, way: Vec3, seconds: f32) -> Result<(), Error> {
        if way.length() > SPEED_MAX * seconds.max(1.0 / 60.0) {
            return Err(engine_foundation::error!(
                "a movement of {way} metres in {seconds} seconds is too long"
            ));
        }
        check_position(self.mover(mover).position + way)?;
        self.push_out(mover)?;
        let known = self.mover(mover).clone();
        let body = self.actor(known.actor).body;
        let (query, middle, controller_settings) =
            (known.query(body), known.center(), known.controller_settings());
        let own = self.passed_bodies(&known);
        let simulation = &mut self.world_mut(known.physics).simulation;
        let (from, query) =
            ((known.position + middle, known.standing_frames > 0), (&query, &own[..]));
        let walk = simulation.walk(
            &known.spec.shape(),
            from,
            way,
            seconds,
            &controller_settings,
            query,
        )?;
        let position = walk.position - middle;
        simulation.drive(body, position, Quat::IDENTITY);
        self.walked(mover, position, walk);
        self.end_drop(mover)
    }

    /// Returns the bodies that do not stop a mover: those of its unit, and the platform that it
    /// drops through.
    pub(super) fn passed_bodies(&self, mover: &Mover) -> Vec<BodyId> {
        let mut bodies = self.bodies_of(mover.unit);
        let platform = mover.dropping.and_then(|actor| self.actors.get(actor.0));
        bodies.extend(platform.map(|actor| actor.body));
        bodies
    }

    /// Lets a mover drop through the one-way platform that it stands on. Returns false if it stands
    /// on none.
    pub fn drop_mover(&mut self, mover: MoverId) -> bool {
        let on = self.mover(mover).standing_on.filter(|actor| {
            self.actors.get(actor.0).is_some() && {
                let (simulation, body) = self.body(*actor);
                simulation.is_one_way(body)
            }
        });
        let known = self.movers.get_mut(mover.0).expect("the handle was checked");
        if on.is_some() {
            known.dropping = on;
            (known.standing_frames, known.standing_on, known.ground) = (0, None, None);
        }
        on.is_some()
    }

    /// Ends the drop of a mover that has left its platform.
    fn end_drop(&mut self, mover: MoverId) -> Result<(), Error> {
        let known = self.mover(mover);
        let Some(platform) = known.dropping else { return Ok(()) };
        let (shape, at) = (known.spec.shape(), known.position + known.center());
        let is_near = match self.actors.get(platform.0) {
            Some(actor) => self.world(actor.physics).simulation.is_near(&shape, at, actor.body)?,
            None => false,
        };
        if !is_near {
            self.movers.get_mut(mover.0).expect("it is there").dropping = None;
        }
        Ok(())
    }

    fn walked(&mut self, mover: MoverId, position: Vec3, walk: ControllerMove) {
        let known = self.movers.get_mut(mover.0).expect("it is there");
        known.position = position;
        (known.sides, known.up, known.down) = (walk.sides, walk.up, walk.down);
        known.standing_on = walk.standing_on.and_then(actor_of);
        match walk.grounded {
            true => (known.standing_frames, known.flying_frames) = (known.standing_frames + 1, 0),
            false => (known.standing_frames, known.flying_frames) = (0, known.flying_frames + 1),
        }
        self.record_ground(mover);
    }

    /// Teleports a mover, without collisions.
    ///
    /// # Errors
    /// Returns an error if the position is outside the allowed range.
    pub fn set_mover_position(&mut self, mover: MoverId, position: Vec3) -> Result<(), Error> {
        check_position(position)?;
        let known = self.movers.get_mut(mover.0).expect("the handle was checked");
        known.position = position;
        (known.standing_frames, known.standing_on, known.ground) = (0, None, None);
        known.dropping = None;
        (known.ground_velocity, known.carried) = (Vec3::ZERO, CarriedMotion::NONE);
        let actor = known.actor;
        let (simulation, body) = self.body_mut(actor);
        simulation.teleport(body, position, Quat::IDENTITY);
        Ok(())
    }

    /// Returns true if a mover of this description would overlap nothing with its feet at a
    /// position.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn mover_fits(
        &self,
        mover: MoverId,
        spec: &MoverDesc,
        position: Vec3,
    ) -> Result<bool, Error> {
        let known = self.mover(mover);
        let body = self.actor(known.actor).body;
        // Slightly smaller, so that the ground below does not count.
        let radius = spec.radius * 0.98;
        let half_height = (spec.height * 0.5 - spec.radius).max(1e-3);
        let at = position + known.up_axis * (spec.height * 0.5 + 0.01);
        let shape = ColliderShape::Capsule { half_height, radius };
        let simulation = &self.world(known.physics).simulation;
        simulation.has_room(&shape, at, &known.query(body))
    }

    /// Sets the collision filter of a mover and its actor.
    pub fn set_mover_filter(&mut self, mover: MoverId, filter: CollisionFilter) {
        let known = self.movers.get_mut(mover.0).expect("the handle was checked");
        known.filter = filter;
        let actor = known.actor;
        self.set_groups(actor, |actor| actor.filter = filter);
    }
}
