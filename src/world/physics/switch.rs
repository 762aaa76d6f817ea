//! Units whose physics is switched off for a while: nothing touches their bodies, or finds them.

use super::{ActorId, PhysicsTables, PhysicsWorldId};
use crate::foundation::Error;
use crate::world::unit::{UnitId, Units};
use std::sync::Arc;

impl PhysicsTables {
    /// Takes the actors of a unit, and that of its mover, out of the simulation, or puts them back:
    /// where their nodes are now, and the mover where it is. What the unit gets meanwhile is out of
    /// it, too.
    ///
    /// # Errors
    /// A node is out of all bounds.
    pub fn switch_unit(
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
        let own = (0..self.num_actors(unit)).filter_map(|place| self.unit_actor(unit, place));
        let own: Vec<ActorId> = own.filter(|actor| self.is_enabled(*actor) != enabled).collect();
        if enabled && !own.is_empty() {
            self.teleport_unit(unit, units)?;
        }
        self.parts[unit.row() as usize].as_mut().expect("it was made").disabled = !enabled;
        own.into_iter().for_each(|actor| self.switch(actor, enabled));
        let Some(mover) = self.unit_mover(unit) else { return Ok(()) };
        let (actor, position) = (self.mover(mover).actor, self.mover(mover).position);
        if self.is_enabled(actor) == enabled {
            return Ok(());
        }
        self.switch(actor, enabled);
        // It stands on nothing until it moves again.
        self.place_mover(mover, position)
    }

    /// Whether an actor is of a unit that is without physics for a while.
    pub(super) fn is_disabled(&self, actor: ActorId) -> bool {
        let parts = self.actor(actor).unit.and_then(|unit| self.parts(unit));
        parts.is_some_and(|parts| parts.disabled)
    }

    /// Has an actor that came to its unit be in the simulation, or not, as the unit is.
    pub(super) fn settle(&mut self, actor: ActorId) {
        let enabled = !self.is_disabled(actor);
        if self.is_enabled(actor) != enabled {
            self.switch(actor, enabled);
        }
    }

    fn is_enabled(&self, actor: ActorId) -> bool {
        let (simulation, body) = self.body(actor);
        simulation.is_enabled(body)
    }

    fn switch(&mut self, actor: ActorId, enabled: bool) {
        let known = self.actor(actor);
        let (filter, collides, found) = (known.filter, known.collides, known.found);
        let (simulation, body) = self.body_mut(actor);
        // Questions before the next step do not find it, either.
        simulation.set_filter(body, filter, collides && enabled, found && enabled);
        simulation.set_enabled(body, enabled);
    }
}
