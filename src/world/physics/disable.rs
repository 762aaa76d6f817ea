//! Units with temporarily disabled physics: their bodies neither collide nor appear in queries.

use super::{ActorId, PhysicsTables, PhysicsWorldId};
use crate::unit::{UnitId, Units};
use engine_foundation::Error;
use std::sync::Arc;

impl PhysicsTables {
    /// Removes the actors of a unit, including the actor of its mover, from the simulation, or adds
    /// them again. Actors return at the current transforms of their nodes, the mover at its current
    /// position. Actors created while the unit is disabled are disabled, too.
    ///
    /// # Errors
    /// Returns an error if a node is outside the allowed range.
    pub fn set_unit_enabled(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        physics: PhysicsWorldId,
        enabled: bool,
    ) -> Result<(), Error> {
        if self.parts(unit).is_none() {
            if enabled {
                return Ok(());
            }
            self.make_parts(unit, physics, Arc::default());
        }
        let own = (0..self.num_actors(unit)).filter_map(|index| self.unit_actor(unit, index));
        let own = own.chain(self.ragdoll_actors(unit));
        let own: Vec<ActorId> = own.filter(|actor| self.is_enabled(*actor) != enabled).collect();
        if enabled && !own.is_empty() {
            self.teleport_unit(unit, units)?;
        }
        self.parts[unit.row() as usize].as_mut().expect("it was made").disabled = !enabled;
        own.into_iter().for_each(|actor| self.set_enabled(actor, enabled));
        let Some(mover) = self.unit_mover(unit) else { return Ok(()) };
        let (actor, position) = (self.mover(mover).actor, self.mover(mover).position);
        if self.is_enabled(actor) == enabled {
            return Ok(());
        }
        self.set_enabled(actor, enabled);
        // The mover has no ground until its next move.
        self.set_mover_position(mover, position)
    }

    /// Returns true if an actor belongs to a unit with disabled physics.
    pub(super) fn is_disabled(&self, actor: ActorId) -> bool {
        let parts = self.actor(actor).unit.and_then(|unit| self.parts(unit));
        parts.is_some_and(|parts| parts.disabled)
    }

    /// Enables or disables an actor that was added to its unit, according to the state of the unit.
    pub(super) fn sync_enabled(&mut self, actor: ActorId) {
        let enabled = !self.is_disabled(actor);
        if self.is_enabled(actor) != enabled {
            self.set_enabled(actor, enabled);
        }
    }

    fn is_enabled(&self, actor: ActorId) -> bool {
        let (simulation, body) = self.body(actor);
        simulation.is_enabled(body)
    }

    fn set_enabled(&mut self, actor: ActorId, enabled: bool) {
        let known = self.actor(actor);
        let (filter, collides, found) = (known.filter, known.collides, known.found);
        let (simulation, body) = self.body_mut(actor);
        // Queries before the next step must not find the actor, either.
        simulation.set_filter(body, filter, collides && enabled, found && enabled);
        simulation.set_enabled(body, enabled);
    }
}
