//! Integration of physics with the other systems: world flags and settings, units, models, debug
//! lines.

use super::{Assets, BuildMode, Engine, OpenedGame, Worlds};
use engine_foundation::{Error, Handle, HandleKind, Vec3, log};
use engine_physics::{BodyColorClass, SimulationSettings, StepThread};
use engine_world::WorldId;
use engine_world::debug_lines::{DebugLine, LINES_MAX};
use engine_world::physics::{ActorDesc, ActorId, PhysicsProperties, PhysicsWorldId};
use engine_world::unit::UnitId;
use std::sync::Arc;

/// Returns the debug line color of a body.
const fn color(look: BodyColorClass) -> [u8; 4] {
    match look {
        BodyColorClass::Still => [150, 150, 150, 255],
        BodyColorClass::Awake => [90, 220, 90, 255],
        BodyColorClass::Asleep => [60, 120, 200, 255],
        BodyColorClass::Driven => [240, 170, 60, 255],
        BodyColorClass::Trigger => [230, 90, 200, 255],
        BodyColorClass::Rope => [230, 220, 120, 255],
    }
}

impl Worlds {
    fn read_physics_properties(&mut self, assets: &mut Assets) -> Result<(), Error> {
        if self.physics.properties.is_none() {
            let read = PhysicsProperties::of_game(&mut assets.store)?;
            self.physics.properties = Some(Arc::new(read));
        }
        Ok(())
    }

    /// Returns the game's physics materials and collision filters.
    ///
    /// # Errors
    /// Returns an error if their file is broken.
    pub fn physics_properties(
        &mut self,
        assets: &mut Assets,
    ) -> Result<Arc<PhysicsProperties>, Error> {
        self.read_physics_properties(assets)?;
        Ok(self.physics.properties.clone().expect("they were read"))
    }

    /// Creates a destroyed actor of a unit again, at its index.
    ///
    /// # Errors
    /// Returns an error if the actor exists, or if it cannot be created.
    pub fn create_unit_actor(
        &mut self,
        assets: &mut Assets,
        unit: UnitId,
        index: usize,
    ) -> Result<ActorId, Error> {
        self.physics.recreate(unit, &mut self.units, index, &mut assets.store)
    }

    /// Returns the maximum latency in seconds of worlds with pipelined physics: the time by which
    /// the visible state is behind the newest step.
    pub fn physics_latency(&self) -> f64 {
        let asynchronous = self.physics.worlds.iter().filter(|(_, it)| it.simulation.is_async());
        let delta = |world: Handle| self.slots.get(world).map_or(0.0, |world| world.delta);
        asynchronous.map(|(_, physics)| delta(physics.world.0)).fold(0.0, f64::max)
    }

    /// Draws the bodies of a physics world as debug lines, if enabled.
    pub(super) fn draw_physics(
        &mut self,
        game: &OpenedGame,
        physics: PhysicsWorldId,
    ) -> Result<(), Error> {
        let known = self.physics.world(physics);
        if !known.debug_draw || game.build == BuildMode::Release {
            return Ok(());
        }
        // The game's own lines take precedence, and a debug view must not stop the game.
        let (mut lines, room) = (Vec::new(), self.lines.remaining().min(LINES_MAX / 2));
        let mut left_out = 0;
        known.simulation.outlines(|look, from, to| {
            if lines.len() < room {
                lines.push(DebugLine { from, to, color: color(look) });
            } else {
                left_out += 1;
            }
        });
        if left_out > 0 {
            let message =
                format!("{left_out} lines of actors' shapes are not shown: {room} fit in");
            log::warn("physics", &message);
        }
        self.lines.show(Some(known.world.0), &lines, -1.0).map_err(Error::new)
    }

    pub(super) fn name_in_physics(&self, object: u64) -> String {
        let handle = Handle::from_number(object as f64);
        let actor = handle.and_then(|handle| self.physics.actors.get(handle));
        match (actor, handle.and_then(HandleKind::of)) {
            (Some(actor), _) => {
                let unit = actor.unit.and_then(|unit| self.units.slots.get(unit.0));
                let unit = unit.map_or("none", |unit| unit.resource.name.as_str());
                format!("actor {object} '{}' of unit '{unit}'", actor.name)
            }
            (None, Some(HandleKind::Unit)) => {
                let unit = handle.and_then(|handle| self.units.slots.get(handle));
                let name = unit.map_or("none", |unit| unit.resource.name.as_str());
                format!("unit {object} '{name}'")
            }
            (None, Some(kind)) => format!("{} {object}", kind.noun()),
            (None, None) => format!("actor {object}"),
        }
    }
}

impl Engine {
    /// Returns the physics of a world. It is created on the first request.
    ///
    /// # Errors
    /// Returns an error if the world was created without physics, or if the game's physics
    /// properties are broken.
    pub fn physics_world(&mut self, world: WorldId) -> Result<PhysicsWorldId, Error> {
        if let Some(known) = self.worlds.physics.of_world(world) {
            return Ok(known);
        }
        let flags = self.worlds.world(world).flags;
        if flags.no_physics {
            return Err(engine_foundation::error!(
                "the world was made with the flag \"no_physics\", so it has no physics world"
            ));
        }
        self.worlds.read_physics_properties(&mut self.assets)?;
        let down = self.game.settings.number("physics.gravity") as f32;
        let gravity = match flags.flat {
            true => Vec3::new(0.0, -down, 0.0),
            false => Vec3::new(0.0, 0.0, -down),
        };
        let step_seconds = 1.0 / self.game.settings.number("physics.steps_per_second") as f32;
        let lane =
            if self.devices.tasks.threads() > 1 { StepThread::Other } else { StepThread::Own };
        let async_thread = flags.pipelined_physics.then_some(lane);
        let setup = SimulationSettings { gravity, step_seconds, flat: flags.flat, async_thread };
        Ok(self.worlds.physics.make_world(world, setup))
    }

    /// Creates an actor that is not in the unit's file.
    ///
    /// # Errors
    /// Returns an error if the actor cannot be created.
    pub fn create_new_actor(&mut self, unit: UnitId, spec: &ActorDesc) -> Result<ActorId, Error> {
        let world = self.worlds.units.of(unit).world;
        let physics = self.physics_world(world)?;
        let (tables, units, store) =
            (&mut self.worlds.physics, &mut self.worlds.units, &mut self.assets.store);
        tables.create_new(unit, units, physics, spec, store)
    }

    /// Enables or disables the physics of a unit.
    ///
    /// # Errors
    /// Returns an error if one of its nodes is outside the allowed range, or if the game's physics
    /// properties are broken.
    pub fn set_unit_physics_enabled(&mut self, unit: UnitId, enabled: bool) -> Result<(), Error> {
        let world = self.worlds.units.of(unit).world;
        // A unit without physics objects has nothing to enable, so its world does not need physics.
        let nothing = enabled && !self.worlds.physics.has_parts(unit);
        if nothing || self.worlds.world(world).flags.no_physics {
            return Ok(());
        }
        let physics = self.physics_world(world)?;
        let (tables, units) = (&mut self.worlds.physics, &mut self.worlds.units);
        tables.set_unit_enabled(unit, units, physics, enabled)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::engine;
    use engine_world::WorldFlags;
    use engine_world::scene_graph::NodePose;

    #[test]
    fn only_disabling_physics_of_a_unit_creates_physics() {
        let mut engine = engine();
        let world = engine.worlds.new_world(WorldFlags::default()).unwrap();
        let resource = engine.worlds.unit_resource(&mut engine.assets, "core/units/empty").unwrap();
        let unit = engine.spawn_unit(world, &resource, &NodePose::IDENTITY).unwrap();
        engine.set_unit_physics_enabled(unit, true).unwrap();
        assert!(engine.worlds.physics.of_world(world).is_none());
        engine.set_unit_physics_enabled(unit, false).unwrap();
        assert!(engine.worlds.physics.of_world(world).is_some());
        let number = unit.0.to_number() as u64;
        let name = engine.worlds.name_in_physics(number);
        assert_eq!(name, format!("unit {number} 'core/units/empty'"));
    }
}
