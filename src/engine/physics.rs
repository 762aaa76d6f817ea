//! Physics with what it needs of the rest: a world's flags and settings, units, models, lines.

use super::{Build, Engine};
use crate::foundation::{Error, Handle, Kind, Vec3, log};
use crate::resource::store::Store;
use crate::system::models::Models;
use crate::system::physics::{Lane, Look, Setup};
use crate::world::WorldId;
use crate::world::lines::{LINES_MAX, Line};
use crate::world::physics::{ActorId, ActorSpec, MeshPoints, PHYSICS, PhysicsWorldId, Properties};
use crate::world::scene::Pose;
use crate::world::unit::UnitId;
use crate::world::unit_resource::UnitResource;
use std::sync::Arc;

/// The colour of a body's lines.
const fn color(look: Look) -> [u8; 4] {
    match look {
        Look::Still => [150, 150, 150, 255],
        Look::Awake => [90, 220, 90, 255],
        Look::Asleep => [60, 120, 200, 255],
        Look::Driven => [240, 170, 60, 255],
        Look::Trigger => [230, 90, 200, 255],
    }
}

impl Engine {
    /// The physics of a world, made when first asked for.
    ///
    /// # Errors
    /// The world was made without, or the game's physics properties are broken.
    pub fn physics_world(&mut self, world: WorldId) -> Result<PhysicsWorldId, Error> {
        if let Some(known) = self.physics.of_world(world) {
            return Ok(known);
        }
        let flags = self.world(world).flags;
        if flags.no_physics {
            return Err(crate::error!(
                "the world was made with the flag \"no_physics\", so it has no physics world"
            ));
        }
        self.read_physics_properties()?;
        let down = self.settings.number("physics.gravity") as f32;
        let gravity = match flags.flat {
            true => Vec3::new(0.0, -down, 0.0),
            false => Vec3::new(0.0, 0.0, -down),
        };
        let step_seconds = 1.0 / self.settings.number("physics.steps_per_second") as f32;
        let lane = if self.tasks.threads() > 1 { Lane::Other } else { Lane::Own };
        let beside = flags.pipelined_physics.then_some(lane);
        let setup = Setup { gravity, step_seconds, flat: flags.flat, beside };
        Ok(self.physics.make_world(world, setup))
    }

    fn read_physics_properties(&mut self) -> Result<(), Error> {
        if self.physics.properties.is_none() {
            let read = Properties::of_game(&mut self.store)?;
            self.physics.properties = Some(Arc::new(read));
        }
        Ok(())
    }

    /// Reads the game's materials and collision filters again; actors keep what they were made of.
    pub fn reload_physics_properties(&mut self) {
        if self.physics.properties.is_none() {
            return;
        }
        match Properties::of_game(&mut self.store) {
            Ok(read) => self.physics.properties = Some(Arc::new(read)),
            Err(error) => log::error(&error.message),
        }
    }

    /// The game's materials and collision filters.
    ///
    /// # Errors
    /// Their file is broken.
    pub fn physics_properties(&mut self) -> Result<Arc<Properties>, Error> {
        self.read_physics_properties()?;
        Ok(self.physics.properties.clone().expect("they were read"))
    }

    /// Makes a unit with everything that is native of it.
    ///
    /// # Errors
    /// There is no room, or what its file names is not there.
    pub fn spawn_unit(
        &mut self,
        world: WorldId,
        resource: &Arc<UnitResource>,
        pose: &Pose,
    ) -> Result<UnitId, Error> {
        let unit = self.units.spawn(world, resource, pose)?;
        let made = self.add_unit_physics(unit);
        match made.and_then(|()| self.spawn_seen(world, unit, resource)) {
            Ok(()) => Ok(unit),
            Err(error) => {
                self.end_seen(unit, "");
                self.physics.end_unit(unit, self.frame.index, "");
                self.units.destroy(unit, self.frame.index, "");
                Err(error)
            }
        }
    }

    /// Ends a unit with everything that is native of it; `place` is the script's line.
    pub fn end_unit(&mut self, unit: UnitId, place: &str) {
        self.physics.end_unit(unit, self.frame.index, place);
        self.end_seen(unit, place);
        self.units.destroy(unit, self.frame.index, place);
    }

    /// Makes the actors, joints and the mover of a unit that was just spawned.
    fn add_unit_physics(&mut self, unit: UnitId) -> Result<(), Error> {
        let (world, resource) = {
            let known = self.units.of(unit);
            (known.world, &known.resource)
        };
        let physical = resource.parts.iter().any(|part| part.component == PHYSICS.name);
        if !physical || self.world(world).flags.no_physics {
            return Ok(());
        }
        let physics = self.physics_world(world)?;
        let Engine { physics: tables, units, store, .. } = self;
        tables.spawn(unit, units, physics, &mut |mesh| mesh_of(store, mesh))
    }

    /// Makes the actor of a unit's place again.
    ///
    /// # Errors
    /// It is there, or cannot be.
    pub fn create_unit_actor(&mut self, unit: UnitId, place: usize) -> Result<ActorId, Error> {
        let Engine { physics: tables, units, store, .. } = self;
        tables.create_again(unit, units, place, &mut |mesh| mesh_of(store, mesh))
    }

    /// Makes an actor that the unit's file does not have.
    ///
    /// # Errors
    /// It cannot be.
    pub fn create_new_actor(&mut self, unit: UnitId, spec: &ActorSpec) -> Result<ActorId, Error> {
        let world = self.units.of(unit).world;
        let physics = self.physics_world(world)?;
        let Engine { physics: tables, units, store, .. } = self;
        tables.create_new(unit, units, physics, spec, &mut |mesh| mesh_of(store, mesh))
    }

    /// Takes a unit out of physics, or puts it back.
    ///
    /// # Errors
    /// One of its nodes is out of all bounds, or the game's physics properties are broken.
    pub fn switch_unit_physics(&mut self, unit: UnitId, enabled: bool) -> Result<(), Error> {
        let world = self.units.of(unit).world;
        // Nothing was switched off of what has nothing of physics: its world need not get any.
        let nothing = enabled && !self.physics.has_parts(unit);
        if nothing || self.world(world).flags.no_physics {
            return Ok(());
        }
        let physics = self.physics_world(world)?;
        let Engine { physics: tables, units, .. } = self;
        tables.switch_unit(unit, units, physics, enabled)
    }

    /// Seconds by which the physics that is farthest behind its newest step is: of worlds whose
    /// steps run beside scripts.
    pub fn physics_latency(&self) -> f64 {
        let beside = self.physics.worlds.iter().filter(|(_, it)| it.simulation.is_beside());
        let delta = |world: Handle| self.worlds.get(world).map_or(0.0, |world| world.delta);
        beside.map(|(_, physics)| delta(physics.world.0)).fold(0.0, f64::max)
    }

    /// Shows the bodies of a physics world as lines, where that is wanted.
    pub(super) fn draw_physics(&mut self, physics: PhysicsWorldId) -> Result<(), Error> {
        let known = self.physics.world(physics);
        if !known.debug_draw || self.build == Build::Release {
            return Ok(());
        }
        // The game's own lines come first, and a picture for developers ends no game.
        let (mut lines, room) = (Vec::new(), self.lines.room().min(LINES_MAX / 2));
        let mut left_out = 0;
        known.simulation.outlines(|look, from, to| {
            if lines.len() < room {
                lines.push(Line { from, to, color: color(look) });
            } else {
                left_out += 1;
            }
        });
        if left_out > 0 {
            let words = format!("{left_out} lines of actors' shapes are not shown: {room} fit in");
            log::warn("physics", &words);
        }
        self.lines.show(Some(known.world.0), &lines, -1.0).map_err(Error::new)
    }

    pub(super) fn name_in_physics(&self, object: u64) -> String {
        let handle = Handle::from_number(object as f64);
        let actor = handle.and_then(|handle| self.physics.actors.get(handle));
        match (actor, handle.and_then(Kind::of)) {
            (Some(actor), _) => {
                let unit = actor.unit.and_then(|unit| self.units.slots.get(unit.0));
                let unit = unit.map_or("none", |unit| unit.resource.name.as_str());
                format!("actor {object} '{}' of unit '{unit}'", actor.name)
            }
            (None, Some(Kind::Unit)) => {
                let unit = handle.and_then(|handle| self.units.slots.get(handle));
                let name = unit.map_or("none", |unit| unit.resource.name.as_str());
                format!("unit {object} '{name}'")
            }
            (None, Some(kind)) => format!("{} {object}", kind.word()),
            (None, None) => format!("actor {object}"),
        }
    }
}

/// The points and triangles of a mesh of a model.
fn mesh_of(store: &mut Store, mesh: &str) -> Result<MeshPoints, Error> {
    let shape = Models::shape(store, mesh)?;
    Ok((shape.points, shape.triangles))
}

#[cfg(test)]
mod tests {
    use super::super::Start;
    use super::*;
    use crate::resource::project::Project;
    use crate::resource::settings::Settings;
    use crate::world::WorldFlags;

    #[test]
    fn a_unit_without_physics_gets_none_when_it_is_enabled_and_is_named_when_it_is_disabled() {
        let root = std::env::temp_dir().join(format!("engine-{}-switch", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("main.lua"), "").unwrap();
        let mut engine = Engine::new(Start {
            project: Project::open(&root).unwrap(),
            settings: Settings::defaults(),
            store: Store::default(),
            build: Build::Test,
            arguments: Vec::new(),
            seed: 0,
            deterministic: true,
            save_folder: None,
        });
        std::fs::remove_dir_all(&root).unwrap();
        let world = engine.new_world(WorldFlags::default()).unwrap();
        let resource = engine.unit_resource("core/units/empty").unwrap();
        let unit = engine.spawn_unit(world, &resource, &Pose::IDENTITY).unwrap();
        engine.switch_unit_physics(unit, true).unwrap();
        assert!(engine.physics.of_world(world).is_none());
        engine.switch_unit_physics(unit, false).unwrap();
        assert!(engine.physics.of_world(world).is_some());
        let number = unit.0.to_number() as u64;
        let words = engine.name_in_physics(number);
        assert_eq!(words, format!("unit {number} 'core/units/empty'"));
    }
}
