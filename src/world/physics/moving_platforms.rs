//! Interaction of movers with moving bodies. A mover is carried by the ground below it during the
//! update of its world, and is pushed out of bodies that scripts move into it.

use super::actors::check_position;
use super::movers::Mover;
use super::{ActorId, MoverId, PhysicsTables, PhysicsWorldId, actor_of};
use crate::unit::UnitId;
use engine_foundation::{Error, Quat, Vec3};
use engine_physics::{BodyId, MotionType, Separation};

/// Metres by which a mover may fall short of the movement of its ground. With a larger difference,
/// the mover was stopped by an obstacle.
const STOPPED: f32 = 1e-3;

/// Movable ground of a mover, with its pose at the last update of the mover.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StandingOn {
    pub(super) actor: ActorId,
    pub(super) position: Vec3,
    pub(super) rotation: Quat,
    /// Number of teleports of the actor. A teleport does not carry movers.
    pub(super) jumps: u32,
}

/// Motion by which a mover was carried in the last update of its world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CarriedMotion {
    pub displacement: Vec3,
    pub rotation: Quat,
}

impl CarriedMotion {
    pub const NONE: CarriedMotion =
        CarriedMotion { displacement: Vec3::ZERO, rotation: Quat::IDENTITY };
}

impl PhysicsTables {
    /// Returns an actor as ground, or `None` if the actor is static.
    fn ground_of(&self, actor: ActorId) -> Option<StandingOn> {
        let jumps = self.actors.get(actor.0)?.jumps;
        let (simulation, body) = self.body(actor);
        let moves = simulation.motion(body) != MotionType::Static;
        moves.then(|| StandingOn {
            actor,
            position: simulation.position(body),
            rotation: simulation.rotation(body),
            jumps,
        })
    }

    /// Updates the ground of a mover and the ground's velocity. A mover in the air keeps the
    /// velocity of its last ground.
    pub(super) fn record_ground(&mut self, mover: MoverId) {
        let known = self.mover(mover);
        let (at, is_standing) = (known.position, known.standing_frames > 0);
        let on = known.standing_on.filter(|actor| is_standing && !self.is_own(mover, *actor));
        let ground = on.and_then(|actor| self.ground_of(actor));
        let velocity = ground.map(|ground| self.velocity_at(ground.actor, at));
        let known = self.movers.get_mut(mover.0).expect("it is there");
        known.ground = ground;
        if let Some(velocity) = velocity.or(is_standing.then_some(Vec3::ZERO)) {
            known.ground_velocity = velocity;
        }
    }

    /// Returns true if an actor belongs to the unit of a mover. Examples are hit boxes, which
    /// follow the mover everywhere.
    fn is_own(&self, mover: MoverId, actor: ActorId) -> bool {
        self.actors.get(actor.0).is_some_and(|actor| actor.unit == Some(self.mover(mover).unit))
    }

    /// Returns the bodies of a unit's actors.
    pub(super) fn bodies_of(&self, unit: UnitId) -> Vec<BodyId> {
        let actors = (0..self.num_actors(unit)).filter_map(|index| self.unit_actor(unit, index));
        actors.map(|actor| self.actor(actor).body).collect()
    }

    fn velocity_at(&self, actor: ActorId, at: Vec3) -> Vec3 {
        let (simulation, body) = self.body(actor);
        simulation.point_velocity(body, at)
    }

    /// Carries the movers of a world along with their ground, after the physics steps.
    ///
    /// # Errors
    /// Returns an error if the shape of a mover is invalid.
    pub(super) fn carry_movers(&mut self, physics: PhysicsWorldId) -> Result<(), Error> {
        let meant = |mover: &Mover| {
            mover.physics == physics
                && (mover.ground.is_some() || mover.carried != CarriedMotion::NONE)
        };
        let movers = self.movers.iter().filter(|(_, mover)| meant(mover));
        for mover in movers.map(|(id, _)| MoverId(id)).collect::<Vec<_>>() {
            self.carry(mover)?;
        }
        Ok(())
    }

    fn carry(&mut self, mover: MoverId) -> Result<(), Error> {
        let known = self.mover(mover);
        let (at, before, snap) = (known.position, known.ground, known.spec.snap);
        let up = known.up_axis;
        let mut carried = CarriedMotion::NONE;
        // Ground that was destroyed or teleported does not carry the mover.
        let mut now = before.and_then(|before| {
            self.ground_of(before.actor).filter(|ground| ground.jumps == before.jumps)
        });
        if let (Some(before), Some(ground)) = (before, now)
            && before != ground
        {
            let rotation = (ground.rotation * before.rotation.inverse()).normalize();
            let displacement = ground.position + rotation * (at - before.position) - at;
            // The ground falls faster than the mover snaps to it, or leaves the allowed range.
            if displacement.dot(up) < -snap || check_position(at + displacement).is_err() {
                now = None;
            } else {
                let actual_displacement = self.carry_mover(mover, displacement, ground.actor)?;
                carried = CarriedMotion { displacement: actual_displacement, rotation };
                // If the mover was stopped, its next move determines its ground.
                now = now.filter(|_| displacement.distance(actual_displacement) < STOPPED);
            }
        }
        let velocity = now.map(|ground| self.velocity_at(ground.actor, at + carried.displacement));
        let known = self.movers.get_mut(mover.0).expect("it is there");
        (known.ground, known.carried) = (now, carried);
        known.ground_velocity = velocity.unwrap_or(known.ground_velocity);
        Ok(())
    }

    /// Moves a mover along a path on which an actor carries it. Returns the actual displacement.
    fn carry_mover(
        &mut self,
        mover: MoverId,
        displacement: Vec3,
        by: ActorId,
    ) -> Result<Vec3, Error> {
        let known = self.mover(mover);
        let (shape, settings, middle) =
            (known.spec.shape(), known.controller_settings(), known.center());
        let (from, body) = (known.position + middle, self.actor(known.actor).body);
        let (query, physics, by) = (known.query(body), known.physics, self.actor(by).body);
        let own = self.passed_bodies(known);
        let simulation = &mut self.world_mut(physics).simulation;
        let to =
            simulation.carry_along(&shape, from, displacement, by, (&settings, &query, &own))?;
        simulation.drive(body, to - middle, Quat::IDENTITY);
        self.movers.get_mut(mover.0).expect("it is there").position = to - middle;
        Ok(to - from)
    }

    /// Pushes a mover out of a body that scripts moved into it.
    ///
    /// # Errors
    /// Returns an error if its shape is invalid.
    pub(super) fn push_out(&mut self, mover: MoverId) -> Result<(), Error> {
        let pushes = |owner, motion| {
            let actor = actor_of(owner).and_then(|actor| self.actors.get(actor.0));
            // Movers do not push each other.
            motion == MotionType::Kinematic && actor.is_some_and(|actor| actor.mover.is_none())
        };
        let most = self.mover(mover).spec.height;
        let found = self.overlap_of(mover, most, pushes)?;
        let Some((by, separation)) = found else { return Ok(()) };
        if separation.way.length() > most {
            // The mover is inside a large body, and no exit is near.
            return Ok(());
        }
        check_position(self.mover(mover).position + separation.way)?;
        self.carry_mover(mover, separation.way, by).map(|_| ())
    }

    /// Returns the displacement, of at most `most` metres, that moves a mover out of all overlaps,
    /// and the actor with the deepest overlap. Returns `None` without an overlap.
    ///
    /// # Errors
    /// Returns an error if its shape is invalid.
    pub fn separate_mover(
        &self,
        mover: MoverId,
        most: f32,
    ) -> Result<Option<(ActorId, Separation)>, Error> {
        self.overlap_of(mover, most, |_, _| true)
    }

    fn overlap_of(
        &self,
        mover: MoverId,
        most: f32,
        counts: impl Fn(u128, MotionType) -> bool,
    ) -> Result<Option<(ActorId, Separation)>, Error> {
        let known = self.mover(mover);
        let counts = |owner, motion| {
            counts(owner, motion) && !actor_of(owner).is_some_and(|it| self.is_own(mover, it))
        };
        let query = known.query(self.actor(known.actor).body);
        let (shape, at) = (known.spec.shape(), known.position + known.center());
        let simulation = &self.world(known.physics).simulation;
        let found = simulation.separate(&shape, at, most, &query, counts)?;
        Ok(found.and_then(|found| Some((actor_of(found.owner)?, found))))
    }
}
