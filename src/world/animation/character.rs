//! A character: the layers of clips that a unit plays over its state machine, their blending, and
//! the resulting pose. Single clips are in playing_clip.rs.

use super::animated_model::AnimatedModel;
use super::bone_mode::BoneMode;
use super::bone_sets::CharacterBoneSets;
use super::character_pose::{CharacterPose, PoseBuffers};
use super::events::EventOrigin;
use super::level_of_detail::{LevelOfDetail, Viewer};
use super::merging::{MergeOptions, Merging};
use super::morph::MorphWeights;
use super::playing_clip::{self, PLAYING_MAX, PlayOptions, PlayingClip};
use super::ragdoll::CharacterRagdoll;
use super::root_motion::RootMode;
use super::state_machine::{BoundMachine, CharacterMachine};
use crate::scene_graph::{AnimatedPose, NodePose};
use crate::unit::UnitId;
use engine_animation::constraints::ModelPose;
use engine_animation::{
    BoneTransform, ClipPlayer, ModelMatrix, Pose, RigidTransform, STACK_MAX, StackedFade,
    model_matrices, stack_movement,
};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, error};
use std::collections::HashMap;
use std::sync::Arc;

pub use engine_animation::LAYERS_MAX;

/// The animation of a unit.
#[derive(Clone, Debug)]
pub struct Character {
    pub unit: UnitId,
    pub model: Arc<AnimatedModel>,
    /// Node of the unit for each bone; `None` if the unit has no node of that name.
    pub nodes: Arc<[Option<u16>]>,
    /// Clips, the lowest layer first; within a layer, the first started first.
    pub(super) playing: Vec<PlayingClip>,
    last_id: u32,
    /// State machine, whose pose is below the clips in `playing`.
    pub machine: Option<CharacterMachine>,
    /// Events of replaced state machines that the next update sends, with their layers.
    unsent: Vec<(EventOrigin, u16)>,
    /// Number of the simple animation, of those in `playing`.
    pub simple: Option<u32>,
    /// `None` until a ragdoll is described or started.
    pub ragdoll: Option<Box<CharacterRagdoll>>,
    pub root_mode: RootMode,
    pub(super) bone_mode: BoneMode,
    pub detail: LevelOfDetail,
    /// `None` if all bones move at each level.
    pub(super) bone_sets: Option<Box<CharacterBoneSets>>,
    /// Movement of the root in the last update, relative to the unit before it.
    pub root_delta: RigidTransform,
    /// Transform of the unit's first node in the world, for constraints.
    pub(super) world: NodePose,
    /// Pose of bones that no clip moves: that of the model, with the transforms that the unit's
    /// file or the game has set.
    pub(super) base: Pose,
    /// True if that is not the pose of the model.
    pub(super) is_edited: bool,
    /// `None` if the character shows no pose of another one.
    pub(super) merging: Option<Merging>,
    pub(super) pose: PoseBuffers,
    /// Weights of the morph targets.
    pub weights: MorphWeights,
    /// Bones that clips and constraints move, one bit each.
    pub(super) moved: Vec<u64>,
    /// True if `moved` is outdated.
    pub(super) moves_changed: bool,
    /// True if parts of the unit, such as lights, are at nodes below its first node.
    pub(super) has_inner_parts: bool,
    /// True if the pose must be evaluated although no time passes.
    outdated: bool,
    /// True if the renderer does not have the matrices yet.
    pub(super) is_listed: bool,
    /// True if the current update evaluates the pose.
    pub(super) is_due: bool,
    /// True if the next pose waits for chunks: players of replaced clips have no pose to hold.
    pub(super) has_new_streams: bool,
}

impl Character {
    /// Creates a character in the rest pose of its model.
    pub fn new(unit: UnitId, model: Arc<AnimatedModel>, nodes: Arc<[Option<u16>]>) -> Character {
        let bones = model.skeleton.bone_count();
        Character {
            unit,
            nodes,
            playing: Vec::new(),
            last_id: 0,
            machine: None,
            unsent: Vec::new(),
            simple: None,
            ragdoll: None,
            root_mode: RootMode::default(),
            bone_mode: BoneMode::default(),
            detail: LevelOfDetail::default(),
            bone_sets: None,
            root_delta: RigidTransform::IDENTITY,
            world: NodePose::IDENTITY,
            base: model.rest.clone(),
            is_edited: false,
            merging: None,
            pose: PoseBuffers::new(model.rest.clone()),
            weights: MorphWeights::new(&model),
            moved: vec![0; bones.div_ceil(64)],
            moves_changed: true,
            has_inner_parts: false,
            outdated: true,
            is_listed: false,
            is_due: false,
            has_new_streams: false,
            model,
        }
    }

    /// Lets the next update evaluate the character.
    pub(super) fn mark_outdated(&mut self) {
        self.outdated = true;
    }

    /// Lets the next update evaluate the character, and find the bones that it moves.
    pub(super) fn mark_moved(&mut self) {
        (self.outdated, self.moves_changed) = (true, true);
    }

    /// Shows the pose of bones that no clip moves, until the next evaluation.
    pub(super) fn reset_pose(&mut self) {
        let CharacterPose { pose, matrices } = self.pose.edit();
        pose.clone_from(&self.base);
        model_matrices(&self.model.skeleton, pose, matrices);
    }

    /// Starts a clip. Returns its number.
    ///
    /// # Errors
    /// Returns an error if the layer or a number is not valid, or too many clips are playing.
    pub fn play(&mut self, clip: u16, options: PlayOptions) -> Result<u32, Error> {
        if usize::from(options.layer) >= LAYERS_MAX {
            return Err(error!("a character has {LAYERS_MAX} layers (LAYERS_MAX)"));
        }
        if self.playing.len() >= PLAYING_MAX {
            return Err(error!(
                "{PLAYING_MAX} clips are playing (PLAYING_MAX): let cross-fades finish, or stop \
                 some"
            ));
        }
        let model = self.model.clone();
        let player = ClipPlayer::new(&model.clips[usize::from(clip)].clip, &model.skeleton);
        self.last_id = self.last_id.wrapping_add(1).max(1);
        let id = self.last_id;
        let started = PlayingClip::new(id, clip, options, player);
        let index = self.playing.partition_point(|it| it.options.layer <= options.layer);
        self.playing.insert(index, started);
        (self.outdated, self.moves_changed) = (true, true);
        Ok(id)
    }

    /// Fades a layer, or all of them, out.
    pub fn stop(&mut self, layer: Option<u8>, blend: f32) {
        for it in &mut self.playing {
            if layer.is_none_or(|layer| layer == it.options.layer) {
                it.end(blend);
            }
        }
        self.outdated = true;
    }

    /// Ends a clip at once.
    pub fn end_clip(&mut self, id: u32) {
        self.playing.retain(|it| it.id != id);
        (self.outdated, self.moves_changed) = (true, true);
    }

    /// Returns a playing clip.
    pub fn clip(&self, id: u32) -> Option<&PlayingClip> {
        self.playing.iter().find(|it| it.id == id)
    }

    /// Returns the clips that play, the lowest layer first.
    pub fn playing(&self) -> &[PlayingClip] {
        &self.playing
    }

    /// Sets or removes the state machine. Events that the previous one sent since the last update
    /// are sent by the next one.
    pub fn set_machine(&mut self, machine: Option<CharacterMachine>) {
        if let Some(mut replaced) = std::mem::replace(&mut self.machine, machine) {
            replaced.take_events(|origin, layer| self.unsent.push((origin, layer)));
        }
        if let Some(machine) = &mut self.machine {
            machine.check_model(&self.model);
        }
        (self.outdated, self.moves_changed) = (true, true);
    }

    /// Lets the state machine run or stand still. Returns false if there is none.
    pub fn set_machine_enabled(&mut self, enabled: bool) -> bool {
        (self.outdated, self.moves_changed) = (true, true);
        self.machine.as_mut().map(|machine| machine.enabled = enabled).is_some()
    }

    /// Returns the ragdoll, and the pose of the last update.
    pub(super) fn ragdoll_and_pose(&mut self) -> (Option<&mut CharacterRagdoll>, ModelPose<'_>) {
        let Character { model, pose, ragdoll, .. } = self;
        let CharacterPose { pose, matrices } = pose.edit();
        if matrices.is_empty() {
            model_matrices(&model.skeleton, pose, matrices);
        }
        (ragdoll.as_deref_mut(), ModelPose { skeleton: &model.skeleton, pose, matrices })
    }

    pub fn bone_mode(&self) -> BoneMode {
        self.bone_mode
    }

    /// Sets the parts of the bones that animation changes.
    pub fn set_bone_mode(&mut self, mode: BoneMode) {
        self.bone_mode = mode;
        self.outdated = true;
    }

    /// Sets the speed of a playing clip. Returns false if it has ended.
    pub fn set_clip_speed(&mut self, id: u32, speed: f32) -> bool {
        let found = self.playing.iter_mut().find(|it| it.id == id);
        found.map(|it| it.options.speed = speed).is_some()
    }

    /// Sets the time of a playing clip. Returns false if it has ended.
    pub fn set_clip_time(&mut self, id: u32, time: f32) -> bool {
        self.outdated = true;
        let found = self.playing.iter_mut().find(|it| it.id == id);
        found.map(|it| it.set_time(time)).is_some()
    }

    /// Returns true if a clip plays that has not reached its end.
    pub fn is_playing(&self, id: u32) -> bool {
        self.clip(id).is_some_and(|it| !it.has_finished())
    }

    /// Keeps the transform of a node that the game has set, for bones that no clip moves.
    pub fn set_edited(&mut self, node: u16, pose: &NodePose) {
        let Some(bone) = self.nodes.iter().position(|it| *it == Some(node)) else { return };
        let NodePose { position, rotation, scale } = *pose;
        self.base.set(bone, &BoneTransform { position, rotation, scale });
        (self.is_edited, self.outdated) = (true, true);
    }

    /// Returns the pose of a bone that no clip moves.
    pub(super) fn base_pose(&self, bone: usize) -> NodePose {
        let BoneTransform { position, rotation, scale } = self.base.transform(bone);
        NodePose { position, rotation, scale }
    }

    /// Replaces the model by its reloaded version. Clips of the same names keep their times, and
    /// bones and morph targets of the same names keep poses and weights that were set.
    pub fn reload(&mut self, model: &Arc<AnimatedModel>, nodes: Arc<[Option<u16>]>) {
        let old = self.model.clone();
        self.reload_clips(model);
        self.nodes = nodes;
        let edited = std::mem::replace(&mut self.base, model.rest.clone());
        self.is_edited = false;
        let known = old.skeleton.names().iter().zip(0..);
        let known: HashMap<&str, usize> = known.map(|(name, bone)| (&name[..], bone)).collect();
        for (bone, name) in model.skeleton.names().iter().enumerate() {
            let Some(before) = known.get(&name[..]) else { continue };
            let transform = edited.transform(*before);
            if transform != old.rest.transform(*before) {
                self.is_edited = true;
                self.base.set(bone, &transform);
            }
        }
        self.weights = self.weights.carried(&old, model);
        self.moved = vec![0; model.skeleton.bone_count().div_ceil(64)];
    }

    /// Replaces the clips by their reloaded versions. Clips of the same names keep their times.
    pub fn reload_clips(&mut self, model: &Arc<AnimatedModel>) {
        let old = std::mem::replace(&mut self.model, model.clone());
        self.playing.retain_mut(|it| {
            let name = &old.clips[usize::from(it.clip)].name;
            let Some(clip) = model.position(name) else { return false };
            let compiled = &model.clips[usize::from(clip)].clip;
            let was_whole = it.options.range[1] == old.clips[usize::from(it.clip)].clip.seconds;
            it.clip = clip;
            it.player = ClipPlayer::new(compiled, &model.skeleton);
            let [start, end] = &mut it.options.range;
            *end = if was_whole { compiled.seconds } else { end.min(compiled.seconds) };
            *start = start.min(*end);
            it.set_time(it.time);
            true
        });
        self.machine.iter_mut().for_each(|machine| machine.check_model(model));
        self.has_new_streams |= model.clips.iter().any(|it| it.stream.is_some());
        (self.outdated, self.moves_changed) = (true, true);
    }

    /// Returns the state machine if it affects the pose. One that could not be bound to the
    /// reloaded model stands still.
    fn active_machine(&mut self) -> Option<&mut CharacterMachine> {
        self.machine.as_mut().filter(|it| it.is_active())
    }

    /// Returns true if the transform of the unit in the world affects the pose.
    pub(super) fn has_constraints(&self) -> bool {
        let machine = self.machine.as_ref().filter(|it| it.enabled);
        machine.is_some_and(CharacterMachine::has_constraints)
    }

    /// Returns the movement of the root in the last update. Clips on the lowest layer replace that
    /// of the clips before them; over a state machine and on higher layers, only clips with root
    /// motion do.
    fn find_root_delta(&mut self, seconds: f32) -> RigidTransform {
        let machine = self.active_machine();
        let has_machine = machine.is_some();
        let lowest = machine.map_or(RigidTransform::IDENTITY, |machine| machine.root_delta());
        if self.playing.is_empty() {
            return lowest;
        }
        let mut fades = [StackedFade::WHOLE; STACK_MAX];
        let mut deltas = [lowest; STACK_MAX];
        let mut count = 1;
        for it in &self.playing {
            let clip = &self.model.clips[usize::from(it.clip)].clip;
            let is_added = it.is_added(&self.model);
            let is_still = it.options.layer == 0 && !has_machine && !is_added;
            if !(clip.has_root_motion() && !it.options.adds || is_still) {
                continue;
            }
            if count == STACK_MAX {
                // The two lowest ones become one.
                deltas[0] = stack_movement(&fades[..2], &deltas[..2], seconds);
                fades.copy_within(2.., 1);
                deltas.copy_within(2.., 1);
                count -= 1;
            }
            (fades[count], deltas[count]) = (it.stacked(), it.root_delta(clip));
            count += 1;
        }
        stack_movement(&fades[..count], &deltas[..count], seconds)
    }

    /// Replaces the state machine by its reloaded version. Events that were sent since the last
    /// update are kept.
    pub(super) fn reload_machine(&mut self, bound: &Arc<BoundMachine>) {
        let Some(machine) = &mut self.machine else { return };
        machine.take_events(|origin, layer| self.unsent.push((origin, layer)));
        machine.reload(bound.clone());
        self.has_new_streams |= bound.has_streams();
        (self.outdated, self.moves_changed) = (true, true);
    }

    /// Passes the events of the last update to `notify`, with the index of their layer: those of
    /// replaced state machines, then those of the state machine, and those of clips. `found` is
    /// memory for reuse.
    pub(super) fn take_events(
        &mut self,
        found: &mut Vec<u16>,
        mut notify: impl FnMut(EventOrigin, u16),
    ) {
        self.unsent.drain(..).for_each(|(origin, layer)| notify(origin, layer));
        if let Some(machine) = &mut self.machine {
            machine.take_events(&mut notify);
        }
        playing_clip::each_event(&self.playing, &self.model, found, |it, event| {
            let (model, clip) = (self.model.clone(), it.clip);
            notify(EventOrigin::Clip { model, clip, event }, it.options.layer.into());
        });
    }

    /// Moves the clips and the state machine on, and finds the movement of the root. Returns true
    /// if the pose has to be evaluated.
    pub fn advance(&mut self, seconds: f32) -> bool {
        let rate = self.merging.map_or(1.0, |merging| merging.rate);
        let machine = self.active_machine();
        let fades = machine.map(|machine| machine.advance(seconds * rate));
        let has_machine = fades.is_some();
        self.moves_changed |= fades == Some(true);
        if let Some(ragdoll) = &mut self.ragdoll {
            let machine = self.machine.as_ref();
            let (ragdolls, masks) = machine.map_or((&[][..], &[][..]), CharacterMachine::ragdolls);
            ragdoll.follow_machine(ragdolls, masks);
        }
        self.playing.iter_mut().for_each(|it| it.advance(seconds));
        let is_fallen = self.ragdoll.as_ref().is_some_and(|it| it.is_active() && it.is_full());
        self.root_delta = match is_fallen {
            true => RigidTransform::IDENTITY,
            false => self.find_root_delta(seconds),
        };
        let before = self.playing.len();
        self.playing.retain(PlayingClip::is_alive);
        // Clips below a clip that has replaced its layer have no effect.
        let mut index = self.playing.len();
        let mut covered = None;
        while index > 0 {
            index -= 1;
            let it = &self.playing[index];
            let layer = it.options.layer;
            // Clips that are added change what is below them, and replace nothing.
            let is_added = it.is_added(&self.model);
            if covered == Some(layer) {
                self.playing.remove(index);
            } else if it.share() >= 1.0 && !is_added {
                covered = Some(layer);
            }
        }
        if self.playing.len() != before {
            (self.outdated, self.moves_changed) = (true, true);
        }
        let has_more = has_machine || self.ragdoll.is_some() || !self.playing.is_empty();
        std::mem::take(&mut self.outdated) || has_more
    }

    /// Counts an update for the level of detail. `viewers` is empty if they do not matter. A
    /// character whose pose is not evaluated is not due any more.
    pub(super) fn take_turn(&mut self, viewers: &[Viewer], seconds: f32) {
        let NodePose { position, scale, .. } = self.world;
        let extent = self.model.extent * scale.abs().max_element();
        let distance = self.detail.relative_distance(viewers, position, extent);
        let is_busy = self.ragdoll.as_ref().is_some_and(|ragdoll| ragdoll.is_busy());
        let (row, is_new) = (self.unit.row(), self.matrices().is_empty() || is_busy);
        self.is_due = self.detail.take_turn(distance, is_new, row, seconds);
        self.outdated |= !self.is_due;
    }

    /// Returns true if nothing but the state machine, in its current state, affects the pose.
    pub(super) fn can_merge(&self, machine: &CharacterMachine) -> bool {
        machine.can_merge()
            && self.playing.is_empty()
            && !self.is_edited
            && !self.ragdoll.as_ref().is_some_and(|ragdoll| ragdoll.is_busy())
    }

    /// Returns the merging with other characters; `None` if there is none.
    pub fn merge_options(&self) -> Option<MergeOptions> {
        self.merging.map(|merging| merging.options)
    }

    /// Lets the character show poses of others in the same state, or evaluate its own.
    pub fn set_merge_options(&mut self, options: Option<MergeOptions>) {
        self.merging = options.map(Merging::new);
    }

    /// Returns the local transform of a bone after the last evaluation. `None` if neither clips nor
    /// constraints move it.
    pub fn animated_bone(&self, bone: usize) -> Option<BoneTransform> {
        let moves = |word: &u64| word & 1 << (bone % 64) != 0;
        let is_moved = self.moved.get(bone / 64).is_some_and(moves);
        (is_moved && !self.matrices().is_empty()).then(|| self.pose.current().pose.transform(bone))
    }

    /// Returns true if scripts have set the same weights of morph targets.
    pub(super) fn has_same_weights(&self, other: &Character) -> bool {
        self.weights.base == other.weights.base
    }

    /// Lets the processor load the memory of the next evaluation.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.playing.iter().for_each(|it| it.player.prefetch());
        if let Some(machine) = &self.machine {
            machine.prefetch();
        }
    }

    /// Returns the matrix of each bone after the last evaluation; none before the first one.
    pub fn matrices(&self) -> &[ModelMatrix] {
        &self.pose.current().matrices
    }

    /// Returns the pose of the last evaluation, for the nodes of the unit.
    pub(super) fn animated_pose(&self, is_eager: bool) -> AnimatedPose<'_> {
        let Character { nodes, moved, has_inner_parts, .. } = self;
        let pose = self.pose.current();
        AnimatedPose { pose, nodes, moved, is_eager: is_eager || *has_inner_parts }
    }

    /// Writes the state that must be equal in every run.
    pub fn write_state(&self, hash: &mut StateHash) {
        if let Some(machine) = &self.machine {
            machine.write_state(hash);
        }
        if let Some(ragdoll) = &self.ragdoll {
            ragdoll.write_state(hash);
        }
        self.base.write_state(hash);
        self.weights.base.iter().for_each(|weight| hash.write_f32(*weight));
        hash.write_u64(self.root_mode as u64 | (self.bone_mode as u64) << 8);
        self.detail.write_state(hash);
        hash.write_u64(self.playing.len() as u64);
        for it in &self.playing {
            it.write_state(&self.model, hash);
        }
        if let Some(merging) = &self.merging {
            merging.write_state(hash);
        }
        hash.write_u64(u64::from(self.last_id) << 32 | u64::from(self.simple.unwrap_or(0)));
    }
}
