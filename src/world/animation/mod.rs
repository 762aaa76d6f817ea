//! The animation of units: characters, which are units whose model has skins or clips, as rows of
//! one table. The component is in component.rs; curves, blending and matrices are in the crate
//! `engine_animation`.

mod animated_model;
mod animation_resource;
mod bone_mode;
mod bone_sets;
mod character;
mod character_evaluation;
mod character_pose;
mod chunk_reader;
#[cfg(test)]
mod clip_error_tests;
mod clip_stream;
#[cfg(test)]
mod clip_stream_limit_tests;
#[cfg(test)]
mod clip_stream_tests;
mod clip_streams;
mod clip_table;
mod component;
mod constraints;
#[cfg(test)]
mod crowd_tests;
mod evaluation_order;
mod event_log;
#[cfg(test)]
mod event_tests;
mod events;
mod faults;
#[cfg(test)]
mod gltf_reference_tests;
mod ground;
#[cfg(test)]
mod jump_tests;
mod kept_indices;
mod level_of_detail;
mod lost_states;
mod merging;
#[cfg(test)]
mod merging_tests;
mod model_clips;
mod morph;
mod playing_clip;
mod ragdoll;
mod ragdoll_actors;
mod ragdoll_description;
#[cfg(test)]
mod ragdoll_tests;
mod ragdoll_update;
#[cfg(test)]
mod reload_tests;
mod rig_source;
#[cfg(test)]
mod root_fade_tests;
mod root_motion;
mod skeleton_view;
mod slot_values;
mod snapshot;
#[cfg(test)]
mod snapshot_reload_tests;
#[cfg(test)]
mod snapshot_tests;
mod state_machine;
mod statistics;
#[cfg(test)]
mod tests;

use super::WorldId;
use super::physics::PhysicsTables;
use super::scene_graph::NodePose;
use super::unit::{UnitId, Units};
use super::unit_resource::UnitResource;
pub use animated_model::{AnimatedModel, ClipOrigin, NamedClip, Skin};
pub use animation_resource::{ANIMATION_FILE, animation_warnings, refer_clip};
pub use bone_mode::BoneMode;
pub use bone_sets::BoneSetNames;
use bone_sets::BoneSets;
pub use character::{Character, LAYERS_MAX};
use character_evaluation::{PoseContext, PoseScratch};
pub use character_pose::CharacterPose;
use clip_streams::ClipStreams;
pub use clip_streams::STREAM_BYTES_MAX;
pub use clip_table::{CLIPS_MAX, ChangedClips, ClipFiles};
pub use component::{ANIMATION, AnimationComponent};
pub use constraints::WorldTarget;
pub use engine_animation::ragdoll::{BODIES_MAX as RAGDOLL_BODIES_MAX, LyingSide};
pub use engine_animation::{EventCue, ModelMatrix, palette};
use engine_animation::{Skeleton, read_state_machine};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, error, log};
use engine_models::Model;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use evaluation_order::EvaluationOrder;
use event_log::EventLog;
pub(crate) use events::refer_to_cue;
pub use events::{AnimationEvent, AnimationEvents, EVENTS_MAX, EventOrigin};
use faults::Faults;
use ground::Ground;
pub use kept_indices::IndexKind;
pub use level_of_detail::{LEVEL_MAX, Lens, LevelOfDetail, Viewer};
use lost_states::LostStates;
pub use merging::MergeOptions;
use merging::MergeTable;
pub use model_clips::{compile_clips, morph_ranges, scale_animation, skeleton_of, source_clip};
pub use morph::{MORPH_WEIGHT_MAX, MeshMorphs, MorphWeights};
pub use playing_clip::{PLAYING_MAX, PlayOptions, PlayingClip};
pub use ragdoll::CharacterRagdoll;
use ragdoll_description::ModelRagdolls;
pub use ragdoll_description::RagdollDescription;
pub use ragdoll_update::RagdollOptions;
pub use root_motion::RootMode;
pub use skeleton_view::SkeletonView;
pub use slot_values::{part_index, slot_tolerances};
pub use snapshot::AnimationSnapshot;
pub use state_machine::{BoundMachine, CharacterMachine, STATE_MACHINE};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of characters below which waking a thread costs more time than their evaluation.
const CHARACTERS_MIN: usize = 32;

/// Step of an update of characters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnimationStep<'a> {
    pub world: WorldId,
    pub seconds: f32,
    /// Cameras that show the world, for levels of detail.
    pub viewers: &'a [Viewer],
    /// True if the update waits for the data of streamed clips: for deterministic runs.
    pub waits: bool,
}

/// No character.
const NONE: u32 = u32::MAX;

/// The characters of all worlds.
#[derive(Default)]
pub struct Animations {
    characters: Vec<Character>,
    /// Index of the character of each unit's row, or [`NONE`].
    index_of: Vec<u32>,
    /// Models that characters use or used, by name.
    models: HashMap<String, Arc<AnimatedModel>>,
    /// State machines that characters use or used, by the names of the machine and of the model.
    machines: HashMap<(String, String), Arc<BoundMachine>>,
    /// Number of the last pool of players: each bound machine and each set of bones has one.
    last_pool: usize,
    bone_sets: BoneSets,
    /// Events that characters have sent.
    pub events: AnimationEvents,
    /// Characters whose transitions and events are logged.
    pub log: EventLog,
    /// Characters whose skeletons are drawn.
    pub skeletons: SkeletonView,
    ragdolls: ModelRagdolls,
    streams: ClipStreams,
    order: EvaluationOrder,
    /// Rows of the units whose matrices changed since they were last sent to the renderer.
    changed: Vec<u32>,
    /// Memory for the indices of events of a clip.
    found_events: Vec<u16>,
    /// Faults of characters that were reported.
    faults: Faults,
    /// Characters that show the pose of another one.
    merges: MergeTable,
    /// Memory of evaluations, one for each thread that has evaluated at the same time.
    scratches: Mutex<Vec<PoseScratch>>,
}

impl Animations {
    /// Returns the data of a model that characters share. It is read on the first request.
    ///
    /// # Errors
    /// Returns an error if the model has too many nodes, or a clip is damaged.
    pub fn model(&mut self, model: &Model) -> Result<Arc<AnimatedModel>, Error> {
        if let Some(known) = self.models.get(&model.name) {
            return Ok(known.clone());
        }
        let read = Arc::new(AnimatedModel::read(model)?);
        self.models.insert(model.name.clone(), read.clone());
        Ok(read)
    }

    /// Returns a state machine for characters with a model. It is read on the first request.
    ///
    /// # Errors
    /// Returns an error if the machine cannot be read, or names clips or bones that the model does
    /// not have.
    pub fn machine(
        &mut self,
        name: &str,
        model: &str,
        files: &mut dyn ClipFiles,
    ) -> Result<Arc<BoundMachine>, Error> {
        let key = (name.to_string(), model.to_string());
        if let Some(known) = self.machines.get(&key) {
            return Ok(known.clone());
        }
        let mut bound = self.bind_machine(name, model, files)?;
        // Scripts use the same indices for characters of all models.
        let others = self.machines.iter().filter(|((known, _), _)| known == name);
        if let Some((_, other)) = others.min_by(|a, b| a.0.cmp(b.0)) {
            bound.keep_indices(other);
        }
        let bound = Arc::new(bound);
        self.machines.insert(key, bound.clone());
        Ok(bound)
    }

    /// Reads a state machine, and finds its clips and bones in a model and in other files.
    fn bind_machine(
        &mut self,
        name: &str,
        model: &str,
        files: &mut dyn ClipFiles,
    ) -> Result<BoundMachine, Error> {
        let resource = ResourceName::new(kind_names::STATE_MACHINE, name);
        let bytes = files.store().read(&resource)?;
        let machine = read_state_machine(&bytes)
            .map_err(|error| error!("state machine '{name}': {}", error.message))?;
        let mut clips = Vec::with_capacity(machine.clips().len());
        let mut errors = Vec::new();
        for clip in machine.clips() {
            match self.clip(model, &clip.name, files) {
                Ok(found) => clips.push(found),
                Err(Error { message, .. }) => {
                    errors.push(error!("{}:{}: {message}", machine.path(), clip.line));
                }
            }
        }
        self.last_pool += 1;
        let model = &self.models[model];
        if !errors.is_empty() {
            // With the errors of bones, so that all are reported at once.
            errors.extend(BoundMachine::bone_errors(&machine, model));
        }
        if let Some(error) = Error::several(errors) {
            return Err(error);
        }
        let bound = BoundMachine::new(name, self.last_pool, machine, (model, clips))?;
        self.faults.report_lengths(&bound);
        Ok(bound)
    }

    /// Returns the character of a unit, if it has one.
    #[inline]
    pub fn of(&self, row: u32) -> Option<&Character> {
        let index = *self.index_of.get(row as usize)?;
        self.characters.get(index as usize)
    }

    /// Returns the character of a unit for changes.
    #[inline]
    pub fn of_mut(&mut self, row: u32) -> Option<&mut Character> {
        let index = *self.index_of.get(row as usize)?;
        self.characters.get_mut(index as usize)
    }

    /// Returns all characters.
    pub fn iter(&self) -> impl Iterator<Item = &Character> {
        self.characters.iter()
    }

    /// Returns the number of characters.
    pub fn count(&self) -> usize {
        self.characters.len()
    }

    /// Calls a function for each character whose matrices changed since the last call.
    pub fn take_changed(&mut self, mut send: impl FnMut(&Character)) {
        let mut changed = std::mem::take(&mut self.changed);
        for row in changed.drain(..) {
            // Another unit can have taken the row.
            if let Some(character) = self.of_mut(row).filter(|it| it.is_listed) {
                character.is_listed = false;
                send(character);
            }
        }
        // The memory of the list is used again.
        self.changed = changed;
    }

    /// Notes that a character has another state machine, by which characters are sorted before
    /// they are evaluated.
    pub fn note_machine_change(&mut self) {
        self.order.note_change();
    }

    fn add(&mut self, character: Character) {
        let row = character.unit.row() as usize;
        if self.index_of.len() <= row {
            self.index_of.resize(row + 1, NONE);
        }
        self.index_of[row] = self.characters.len() as u32;
        self.characters.push(character);
        self.order.note_change();
    }

    fn remove(&mut self, row: u32) {
        if let Some(unit) = self.of(row).map(|character| character.unit) {
            self.log.remove(unit);
            self.skeletons.remove(unit);
        }
        let Some(slot) = self.index_of.get_mut(row as usize) else { return };
        let index = std::mem::replace(slot, NONE) as usize;
        if index >= self.characters.len() {
            return;
        }
        self.characters.swap_remove(index);
        self.order.note_change();
        if let Some(moved) = self.characters.get(index) {
            self.index_of[moved.unit.row() as usize] = index as u32;
        }
    }

    /// Moves the clips of a world's characters on, moves units by root motion, evaluates the poses
    /// with their constraints, and sets the nodes that they move. This is the system `animation`.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn update(
        &mut self,
        step: AnimationStep,
        units: &mut Units,
        bodies: &mut PhysicsTables,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let AnimationStep { world, seconds, waits, .. } = step;
        self.take_edited(units);
        for character in &mut self.characters {
            character.is_due = units.is_in(character.unit.row(), world);
        }
        self.for_each_due(pool, |character, _| character.is_due = character.advance(seconds))?;
        self.begin_states_together(seconds);
        self.finish_steps(step, units, bodies);
        self.merge(seconds);
        self.streams.update(&mut self.characters, seconds, waits);
        let bodies = &*bodies;
        let ground = bodies.of_world(world).map(|physics| Ground { bodies, physics });
        let context = PoseContext { seconds, ground };
        self.for_each_due(pool, |character, scratch| character.evaluate(scratch, &context))?;
        self.show_merged(seconds);
        for character in self.characters.iter_mut().filter(|it| it.is_due) {
            let row = character.unit.row();
            if !std::mem::replace(&mut character.is_listed, true) {
                self.changed.push(row);
            }
            let is_eager = bodies.has_inner_actors(character.unit);
            units.scene.set_animated_pose(row, &character.animated_pose(is_eager));
        }
        Ok(())
    }

    /// Calls `work` for each character that is due, in parallel if there are enough.
    fn for_each_due(
        &mut self,
        pool: &TaskPool,
        work: impl Fn(&mut Character, &mut PoseScratch) + Sync,
    ) -> Result<(), Error> {
        let Animations { characters, order, scratches, .. } = self;
        let scratches = &*scratches;
        let run = |characters: &mut [&mut Character]| {
            let take = || scratches.lock().unwrap_or_else(PoisonError::into_inner);
            let mut scratch = take().pop().unwrap_or_default();
            let mut left = characters.iter_mut();
            while let Some(character) = left.next() {
                if let [next, ..] = left.as_slice() {
                    next.prefetch();
                }
                work(character, &mut scratch);
            }
            take().push(scratch);
        };
        order.with_due(characters, |due| {
            if due.len() >= CHARACTERS_MIN && pool.threads() > 1 {
                let (tasks, task) = (pool.tasks(due.len())?, pool.task("animation"));
                tasks.each_slice(task, due, |_, slice| run(slice))?;
            } else if !due.is_empty() {
                run(due);
            }
            Ok(())
        })
    }

    /// Takes the events of the characters that are due, moves their units by root motion, and
    /// chooses those whose poses this update evaluates.
    fn finish_steps(
        &mut self,
        AnimationStep { world, seconds, viewers, .. }: AnimationStep,
        units: &mut Units,
        bodies: &mut PhysicsTables,
    ) {
        let Animations {
            characters,
            index_of,
            events,
            found_events,
            faults,
            bone_sets,
            last_pool,
            ..
        } = self;
        events.begin_update();
        // The order of the units, which a restored snapshot does not change.
        for index in index_of.iter().filter(|index| **index != NONE) {
            let character = &mut characters[*index as usize];
            if !character.is_due {
                continue;
            }
            let unit = character.unit;
            character.take_events(found_events, |origin, layer| {
                events.send(AnimationEvent { world, unit, layer, origin });
            });
            root_motion::drive(character, units, bodies, seconds);
            if let Some(ragdoll) = &mut character.ragdoll {
                ragdoll.set_world(unit.row(), units);
            }
            let has_viewers = character.detail.needs_viewers() && !viewers.is_empty();
            if has_viewers || character.has_constraints() {
                character.world = units.scene.root_pose(unit.row());
            }
            faults.check(character, units);
            character.take_turn(if has_viewers { viewers } else { &[] }, seconds);
            bone_sets.choose(character, units, last_pool);
        }
        self.report_expressions();
        if !self.log.is_empty() {
            self.log_update(units);
        }
    }

    /// Takes the poses of the nodes that a script has set.
    fn note_edited(&mut self, (row, node): (u32, u16), units: &Units) {
        let Some(character) = self.of_mut(row) else { return };
        if usize::from(node) < units.scene.count(row) {
            character.set_edited(node, &units.scene.local(row, usize::from(node)));
        }
    }

    /// Replaces the state machines that use a model or have a name, in all characters.
    ///
    /// # Errors
    /// Returns the first error. Machines that cannot be read keep their previous version.
    fn reload_machines(
        &mut self,
        is_changed: impl Fn(&str, &str) -> bool,
        files: &mut dyn ClipFiles,
    ) -> Result<(), Error> {
        let mut outcome = Ok(());
        self.order.note_reload();
        // The pools of replaced machines are not used any more.
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let keys = self.machines.keys().filter(|(machine, model)| is_changed(machine, model));
        let mut keys: Vec<_> = keys.cloned().collect();
        keys.sort();
        for key in &keys {
            self.faults.remove(&self.machines[key]);
        }
        for (name, model_name) in keys {
            if !self.models.contains_key(&model_name) {
                continue;
            }
            if is_removed(files.store(), &name) {
                outcome = outcome.and(Err(error!(
                    "the state machine '{name}' was removed: characters keep the previous version"
                )));
                continue;
            }
            let bound = match self.bind_machine(&name, &model_name, files) {
                Ok(mut bound) => {
                    bound.keep_indices(&self.machines[&(name.clone(), model_name.clone())]);
                    Arc::new(bound)
                }
                Err(error) => {
                    let is_same = |known: &Arc<BoundMachine>| {
                        known.model.skeleton == self.models[&model_name].skeleton
                    };
                    let key = (name, model_name.clone());
                    let effect = match self.machines.get(&key).is_none_or(is_same) {
                        true => "keep the previous version",
                        false => "stand still until the bones of the model fit again",
                    };
                    let message = format!("{}: characters {effect}", error.message);
                    outcome = outcome.and(Err(Error { message, ..error }));
                    continue;
                }
            };
            let key = (name.clone(), model_name.clone());
            if let Some(replaced) = self.machines.insert(key, bound.clone()) {
                self.bone_sets.remove(replaced.number);
            }
            let mut lost = LostStates::default();
            for character in self.characters.iter_mut().filter(|it| it.model.name == model_name) {
                if let Some(machine) = character.machine.as_ref().filter(|it| it.bound.name == name)
                {
                    lost.add(&machine.state, &machine.bound.machine, &bound.machine);
                    character.reload_machine(&bound);
                }
            }
            lost.lines(&bound.machine).iter().for_each(|line| log::info(line));
        }
        outcome
    }
}

/// Returns true if a state machine has no file any more.
fn is_removed(store: &ResourceStore, machine: &str) -> bool {
    let resource = ResourceName::new(kind_names::STATE_MACHINE, machine);
    !store.has(&resource) && store.failure(&resource).is_none()
}

/// Returns the node of a unit for each bone of a model.
fn bone_nodes(model: &AnimatedModel, units: &Units, unit: UnitId) -> Arc<[Option<u16>]> {
    let names = &units.of(unit).resource.node_names;
    let node = |(bone, name): (usize, &String)| {
        // The nodes of most units are those of their model, below the unit's own first node.
        let usual = names.get(bone + 1).is_some_and(|known| known == name);
        let index = if usual { Some(bone + 1) } else { names.iter().position(|it| it == name) };
        index.map(|index| index as u16)
    };
    model.skeleton.names().iter().enumerate().map(node).collect()
}

/// Takes the poses of a unit's nodes where its file differs from the model, except for bones that
/// are in `known`.
fn take_poses(character: &mut Character, file: &UnitResource, known: Option<&Skeleton>) {
    let model = character.model.clone();
    let poses = &file.poses;
    let nodes = character.nodes.clone();
    let names = model.skeleton.names();
    for ((node, rest), name) in nodes.iter().zip(model.skeleton.rest()).zip(names) {
        let Some(node) = *node else { continue };
        if known.is_some_and(|known| known.find(name).is_some()) {
            continue;
        }
        let Some(pose) = poses.get(usize::from(node)) else { continue };
        let NodePose { position, rotation, scale } = *pose;
        if position != rest.position || rotation != rest.rotation || scale != rest.scale {
            character.set_edited(node, pose);
        }
    }
}
