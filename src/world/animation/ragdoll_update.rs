//! Ragdolls of characters in the update of a world: bodies are read before the poses are evaluated,
//! and created, moved and removed after it. Scripts start and stop ragdolls between updates.

use super::ragdoll::{CharacterRagdoll, Driver, Phase, RagdollChanges};
use super::ragdoll_description::{ModelRagdolls, RagdollDescription};
use super::{Animations, Character, NONE};
use crate::WorldId;
use crate::physics::{ActorId, PhysicsTables, PhysicsTemplate, PhysicsWorldId, RagdollStart};
use crate::unit::{UnitId, Units};
use engine_animation::ragdoll::LyingSide;
use engine_animation::{FACE_UP_VARIABLE, Skeleton};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Quat, Vec3, error, log};
use std::sync::Arc;

/// Distance in metres below the pelvis in which a character that gets up finds the ground.
const GROUND_DISTANCE: f32 = 3.0;
/// Location that messages about the actors of ended ragdolls show.
const LOCATION: &str = "the end of its ragdoll";

/// Options of a ragdoll that a script starts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RagdollOptions {
    /// Names of the bones whose bodies, with those below them, move by forces. `None`: all.
    pub bones: Option<Vec<String>>,
    /// Strength of the motors, 0 to 1. `None`: that of the description.
    pub strength: Option<f32>,
}

impl Character {
    /// Creates the ragdoll of a character that has none, or whose model was reloaded.
    fn prepare_ragdoll(
        &mut self,
        ragdolls: &mut ModelRagdolls,
        description: Option<&Arc<RagdollDescription>>,
    ) -> Result<(), Error> {
        match &mut self.ragdoll {
            Some(ragdoll) if Arc::ptr_eq(&ragdoll.shared.model, &self.model) => {}
            Some(ragdoll) => {
                let shared = ragdolls.of(&self.model, Some(&ragdoll.shared.description))?;
                if !ragdoll.replace(shared) {
                    log::warning(&format!(
                        "the model '{}' has other bones for its ragdolls: running ones ended",
                        self.model.name
                    ));
                }
            }
            None => {
                let shared = ragdolls.of(&self.model, description)?;
                self.ragdoll = Some(Box::new(CharacterRagdoll::new(shared)));
            }
        }
        Ok(())
    }
}

impl Animations {
    /// Prepares the ragdoll of a character: it keeps the motion of its bones from then on. Does
    /// nothing if the unit has no character.
    ///
    /// # Errors
    /// Returns an error if the description names unknown bones, or if the model has no size.
    pub fn prepare_ragdoll(
        &mut self,
        unit: UnitId,
        description: Option<&Arc<RagdollDescription>>,
    ) -> Result<(), Error> {
        let Some(index) = self.index_of.get(unit.row() as usize) else { return Ok(()) };
        let Some(character) = self.characters.get_mut(*index as usize) else { return Ok(()) };
        character.prepare_ragdoll(&mut self.ragdolls, description)
    }

    /// Returns the description of a unit's ragdoll with the actors of the unit, if these are its
    /// bodies.
    ///
    /// # Errors
    /// Returns an error if the unit has no physics.
    pub(super) fn describe_ragdoll(
        &mut self,
        description: &Arc<RagdollDescription>,
        physics: Option<&Arc<PhysicsTemplate>>,
    ) -> Result<Arc<RagdollDescription>, Error> {
        match (description.actors, physics) {
            (false, _) => Ok(description.clone()),
            (true, Some(physics)) => Ok(self.ragdolls.with_actors(description, physics)),
            (true, None) => Err(error!(
                "'actors' of the ragdoll needs a component 'physics' with actors at the bones"
            )),
        }
    }

    /// Reads the bodies of ragdolls before the poses of a world's characters are evaluated.
    pub fn read_ragdolls(&mut self, world: WorldId, units: &Units, physics: &PhysicsTables) {
        let Animations { characters, ragdolls, .. } = self;
        for character in characters {
            let machine = character.machine.as_ref();
            let is_needed = machine.is_some_and(|machine| machine.bound.has_ragdolls());
            let row = character.unit.row();
            if !(is_needed || character.ragdoll.is_some()) || !units.is_in(row, world) {
                continue;
            }
            let known = ragdolls.count();
            if let Err(error) = character.prepare_ragdoll(ragdolls, None) {
                let was_prepared = character.ragdoll.take().is_some();
                if was_prepared || ragdolls.count() > known {
                    log::warning(&format!("{}: its units have no ragdolls", error.message));
                }
                continue;
            }
            let unit = character.unit;
            let ragdoll = character.ragdoll.as_mut().expect("it was prepared");
            if !ragdoll.has_bodies() {
                continue;
            }
            ragdoll.read_bodies(unit, physics);
            let side = ragdoll.lying_side();
            if let (Some(side), Some(machine)) = (side, &mut character.machine)
                && let Some(variable) = machine.bound.machine.find_variable(FACE_UP_VARIABLE)
            {
                let value = f32::from(u8::from(side == LyingSide::FaceUp));
                machine.state.set_variable(&machine.bound.machine, variable, value);
            }
        }
    }

    /// Creates, moves and removes the bodies of ragdolls after the poses of a world's characters
    /// were evaluated, and moves the units that get up.
    pub fn update_ragdolls(
        &mut self,
        world: WorldId,
        units: &mut Units,
        physics: &mut PhysicsTables,
        frame: u64,
    ) {
        // The order of the units, which a restored snapshot does not change.
        for index in self.index_of.iter().filter(|index| **index != NONE) {
            let character = &mut self.characters[*index as usize];
            let Some(ragdoll) = character.ragdoll.as_deref_mut() else { continue };
            let unit = character.unit;
            if !units.is_in(unit.row(), world) {
                continue;
            }
            let changes = std::mem::take(&mut ragdoll.changes);
            if changes.ends || changes.begins {
                physics.end_ragdoll(unit, frame, LOCATION);
            }
            if let Some(moved) = changes.unit {
                move_unit(unit, units, physics, moved.position, moved.rotation);
            }
            if changes.begins {
                let begun = ragdoll.check_scale().and_then(|()| {
                    let physics_world = physics
                        .of_world(world)
                        .ok_or_else(|| error!("its world has no physics, which ragdolls need"))?;
                    ragdoll.create_bodies(unit, &character.nodes, (physics, physics_world))
                });
                if let Err(error) = begun {
                    let name = &units.of(unit).resource.name;
                    log::warning(&format!("the ragdoll of unit \"{name}\": {}", error.message));
                    (ragdoll.phase, ragdoll.failed) = (Phase::Animated, true);
                }
            }
            if ragdoll.is_active() {
                let poses = (&ragdoll.animated[..], &ragdoll.targets[..]);
                physics.drive_ragdoll(unit, poses, ragdoll.strength, ragdoll.seconds);
            }
        }
    }

    /// Starts the ragdoll of a unit for a script. Its bodies exist at once.
    ///
    /// # Errors
    /// Returns an error if a bone does not exist, if a ragdoll runs already, if the scale of the
    /// unit is not uniform, or if the bodies cannot be created.
    pub fn start_ragdoll(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        (physics, physics_world): (&mut PhysicsTables, PhysicsWorldId),
        options: &RagdollOptions,
    ) -> Result<(), Error> {
        self.prepare_ragdoll(unit, None)?;
        let row = unit.row();
        let character = self.of_mut(row).expect("the caller checked it");
        let bones = options.bones.as_ref().map(|names| find_bones(character, names)).transpose()?;
        let (nodes, (ragdoll, rig)) = (character.nodes.clone(), character.ragdoll_and_pose());
        let ragdoll = ragdoll.expect("it was prepared");
        if ragdoll.is_active() {
            let remedy = match ragdoll.driver {
                Driver::Script => "call Unit.stop_ragdoll first",
                Driver::StateMachine => "its state machine started it",
            };
            return Err(error!("the ragdoll runs already: {remedy}"));
        }
        ragdoll.set_world(row, units);
        ragdoll.check_scale()?;
        let before = (ragdoll.phase, ragdoll.parts.clone(), ragdoll.weights.clone());
        ragdoll.select(bones.as_deref())?;
        // The bodies of a ragdoll that was just stopped are replaced.
        physics.end_ragdoll(unit, 0, LOCATION);
        ragdoll.changes = RagdollChanges::default();
        ragdoll.set_start(&rig);
        if let Err(error) = ragdoll.create_bodies(unit, &nodes, (physics, physics_world)) {
            (ragdoll.parts, ragdoll.weights) = (before.1, before.2);
            if matches!(before.0, Phase::Ending(_)) {
                ragdoll.phase = Phase::Animated;
            }
            return Err(error);
        }
        ragdoll.strength = options.strength.unwrap_or(ragdoll.shared.description.strength);
        ragdoll.begin_by_script(rig.pose);
        Ok(())
    }
}

impl CharacterRagdoll {
    /// Reads the transforms of the bodies.
    fn read_bodies(&mut self, unit: UnitId, physics: &PhysicsTables) {
        for index in 0..self.parts.len() {
            let transform = physics.ragdoll_transform(unit, index);
            self.exists[index] = transform.is_some();
            if let Some(transform) = transform {
                self.transforms[index] = transform;
            }
        }
        self.ground = None;
        let may_end = self.driver == Driver::StateMachine || matches!(self.phase, Phase::Ending(_));
        if may_end && self.is_full() && self.exists[0] {
            let distance = GROUND_DISTANCE * self.world.scale.max_element().max(1.0);
            self.ground = physics.ground_below(unit, self.transforms[0].position, distance);
        }
    }

    /// Creates the bodies and joints.
    fn create_bodies(
        &mut self,
        unit: UnitId,
        nodes: &[Option<u16>],
        (physics, physics_world): (&mut PhysicsTables, PhysicsWorldId),
    ) -> Result<(), Error> {
        let shared = self.shared.clone();
        let description = &shared.description;
        let node = |bone: u16| nodes[usize::from(bone)].map_or(0, u32::from);
        let bodies = shared.ragdoll.bodies().iter();
        let names: Vec<(Arc<str>, u32)> =
            bodies.zip(&shared.names).map(|(body, name)| (name.clone(), node(body.bone))).collect();
        let start = RagdollStart {
            ragdoll: &shared.ragdoll,
            parts: &self.parts,
            scale: self.world.scale.x,
            transforms: &self.transforms,
            velocities: &self.velocities,
            names: &names,
            filter: description.filter.as_deref(),
            friction: description.friction,
            linear_damping: description.linear_damping,
            angular_damping: description.angular_damping,
        };
        physics.begin_ragdoll(unit, physics_world, &start)
    }

    /// Ends the ragdoll of a script in the next update. Returns false if no ragdoll runs.
    ///
    /// # Errors
    /// Returns an error if the state machine started the ragdoll.
    pub fn stop(&mut self, blend: f32) -> Result<bool, Error> {
        if !self.is_active() {
            return Ok(false);
        }
        if self.driver == Driver::StateMachine {
            return Err(error!(
                "the state machine started the ragdoll: send it an event that leads to another \
                 state"
            ));
        }
        self.phase = Phase::Ending(blend);
        Ok(true)
    }

    /// Returns the actor that moves a bone while a ragdoll runs, or `None` if the animation moves
    /// it.
    ///
    /// # Errors
    /// Returns an error if the bone does not exist.
    pub fn actor(
        &self,
        unit: UnitId,
        physics: &PhysicsTables,
        bone: &str,
    ) -> Result<Option<ActorId>, Error> {
        let bone = find_bone(&self.shared.model.skeleton, bone)?;
        let body = self.shared.body_of(usize::from(bone)).filter(|_| self.is_active());
        Ok(body.and_then(|body| physics.ragdoll_actor(unit, body)))
    }

    /// Returns the names of the bones that have bodies.
    pub fn bone_names(&self) -> &[Arc<str>] {
        &self.shared.names
    }
}

fn find_bone(skeleton: &Skeleton, name: &str) -> Result<u16, Error> {
    skeleton.find(name).ok_or_else(|| {
        let near = hint(name, skeleton.names().iter().map(String::as_str));
        error!("the model has no bone '{name}'{near}")
    })
}

fn find_bones(character: &Character, names: &[String]) -> Result<Vec<u16>, Error> {
    names.iter().map(|name| find_bone(&character.model.skeleton, name)).collect()
}

/// Moves a unit with its actors and its mover.
fn move_unit(
    unit: UnitId,
    units: &mut Units,
    physics: &mut PhysicsTables,
    position: Vec3,
    rotation: Quat,
) {
    units.scene.set_world_pose(unit.row(), 0, position, rotation);
    // Bodies outside of the allowed range were stopped before.
    let mut outcome = physics.teleport_unit(unit, units);
    if let Some(mover) = physics.unit_mover(unit) {
        outcome = outcome.and(physics.set_mover_position(mover, position));
    }
    if let Err(error) = outcome {
        log::warning(&format!("unit \"{}\": {}", units.of(unit).resource.name, error.message));
    }
}
