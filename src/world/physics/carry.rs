//! Movers and what moves beneath and beside them: they are taken along by what they stand on, in
//! the update of their world, and pushed out of the way of what scripts move into them.

use super::actors::check_place;
use super::movers::Mover;
use super::{ActorId, MoverId, PhysicsTables, PhysicsWorldId, actor_of};
use crate::foundation::{Error, Quat, Vec3};
use crate::system::physics::{BodyId, Motion, Separation};
use crate::world::unit::UnitId;

/// Metres: a mover that gets along by so much less than what it stands on was stopped by something.
const STOPPED: f32 = 1e-3;

/// What a mover stands on that can move, as it was when the mover was last brought to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ground {
    pub(super) actor: ActorId,
    pub(super) position: Vec3,
    pub(super) rotation: Quat,
    /// How often the actor was put somewhere at once: that takes nobody along.
    pub(super) jumps: u32,
}

/// How a mover was taken along in the last update of its world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Carried {
    pub way: Vec3,
    pub turn: Quat,
}

impl Carried {
    pub const NONE: Carried = Carried { way: Vec3::ZERO, turn: Quat::IDENTITY };
}

impl PhysicsTables {
    /// An actor as ground; `None` where it never moves.
    fn ground_of(&self, actor: ActorId) -> Option<Ground> {
        let jumps = self.actors.get(actor.0)?.jumps;
        let (simulation, body) = self.body(actor);
        let moves = simulation.motion(body) != Motion::Static;
        moves.then(|| Ground {
            actor,
            position: simulation.position(body),
            rotation: simulation.rotation(body),
            jumps,
        })
    }

    /// Notes what a mover stands on now, and how fast that is; one in the air keeps the speed of
    /// what it left.
    pub(super) fn note_ground(&mut self, mover: MoverId) {
        let known = self.mover(mover);
        let (at, stands) = (known.position, known.standing_frames > 0);
        let on = known.standing_on.filter(|actor| stands && !self.is_own(mover, *actor));
        let ground = on.and_then(|actor| self.ground_of(actor));
        let velocity = ground.map(|ground| self.velocity_at(ground.actor, at));
        let known = self.movers.get_mut(mover.0).expect("it is there");
        known.ground = ground;
        if let Some(velocity) = velocity.or(stands.then_some(Vec3::ZERO)) {
            known.ground_velocity = velocity;
        }
    }

    /// Whether an actor belongs to the unit of a mover: such as boxes to be hit, which follow it
    /// wherever it goes.
    fn is_own(&self, mover: MoverId, actor: ActorId) -> bool {
        self.actors.get(actor.0).is_some_and(|actor| actor.unit == Some(self.mover(mover).unit))
    }

    /// The bodies of a unit's actors.
    pub(super) fn bodies_of(&self, unit: UnitId) -> Vec<BodyId> {
        let actors = (0..self.num_actors(unit)).filter_map(|place| self.unit_actor(unit, place));
        actors.map(|actor| self.actor(actor).body).collect()
    }

    fn velocity_at(&self, actor: ActorId, at: Vec3) -> Vec3 {
        let (simulation, body) = self.body(actor);
        simulation.point_velocity(body, at)
    }

    /// Takes the movers of a world along with what they stand on, after its steps.
    ///
    /// # Errors
    /// The shape of one cannot be.
    pub(super) fn carry_movers(&mut self, physics: PhysicsWorldId) -> Result<(), Error> {
        let meant = |mover: &Mover| {
            mover.physics == physics && (mover.ground.is_some() || mover.carried != Carried::NONE)
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
        let mut carried = Carried::NONE;
        // What ended, or is somewhere else at once, takes nobody along.
        let mut now = before.and_then(|before| {
            self.ground_of(before.actor).filter(|ground| ground.jumps == before.jumps)
        });
        if let (Some(before), Some(ground)) = (before, now)
            && before != ground
        {
            let turn = (ground.rotation * before.rotation.inverse()).normalize();
            let way = ground.position + turn * (at - before.position) - at;
            // It falls away faster than the mover is kept to it, or leaves all bounds.
            if way.z < -snap || check_place(at + way).is_err() {
                now = None;
            } else {
                let way_made = self.bring_mover(mover, way, ground.actor)?;
                carried = Carried { way: way_made, turn };
                // Where it was stopped, its next move says what it stands on.
                now = now.filter(|_| way.distance(way_made) < STOPPED);
            }
        }
        let velocity = now.map(|ground| self.velocity_at(ground.actor, at + carried.way));
        let known = self.movers.get_mut(mover.0).expect("it is there");
        (known.ground, known.carried) = (now, carried);
        known.ground_velocity = velocity.unwrap_or(known.ground_velocity);
        Ok(())
    }

    /// Moves a mover along a way that an actor takes it: which way that was in the end.
    fn bring_mover(&mut self, mover: MoverId, way: Vec3, by: ActorId) -> Result<Vec3, Error> {
        let known = self.mover(mover);
        let (shape, gait, middle) = (known.spec.shape(), known.gait(), known.middle());
        let (from, body) = (known.position + middle, self.actor(known.actor).body);
        let (query, physics, by) = (known.query(body), known.physics, self.actor(by).body);
        let own = self.bodies_of(known.unit);
        let simulation = &mut self.world_mut(physics).simulation;
        let to = simulation.bring(&shape, from, way, by, (&gait, &query, &own))?;
        simulation.drive(body, to - middle, Quat::IDENTITY);
        self.movers.get_mut(mover.0).expect("it is there").position = to - middle;
        Ok(to - from)
    }

    /// Gets a mover out of the way of what scripts moved into it.
    ///
    /// # Errors
    /// Its shape cannot be.
    pub(super) fn make_way(&mut self, mover: MoverId) -> Result<(), Error> {
        let pushes = |owner, motion| {
            let actor = actor_of(owner).and_then(|actor| self.actors.get(actor.0));
            // Movers go around each other.
            motion == Motion::Kinematic && actor.is_some_and(|actor| actor.mover.is_none())
        };
        let most = self.mover(mover).spec.height;
        let found = self.overlap_of(mover, most, pushes)?;
        let Some((by, separation)) = found else { return Ok(()) };
        if separation.way.length() > most {
            // It is inside of something large, and no way out is near.
            return Ok(());
        }
        check_place(self.mover(mover).position + separation.way)?;
        self.bring_mover(mover, separation.way, by).map(|_| ())
    }

    /// The way of a mover out of all that it overlaps, `most` metres at most, and what it overlaps
    /// most; none where it overlaps nothing.
    ///
    /// # Errors
    /// Its shape cannot be.
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
        counts: impl Fn(u128, Motion) -> bool,
    ) -> Result<Option<(ActorId, Separation)>, Error> {
        let known = self.mover(mover);
        let counts = |owner, motion| {
            counts(owner, motion) && !actor_of(owner).is_some_and(|it| self.is_own(mover, it))
        };
        let query = known.query(self.actor(known.actor).body);
        let (shape, at) = (known.spec.shape(), known.position + known.middle());
        let simulation = &self.world(known.physics).simulation;
        let found = simulation.separate(&shape, at, most, &query, counts)?;
        Ok(found.and_then(|found| Some((actor_of(found.owner)?, found))))
    }
}
