//! A character: the clips that a unit plays, their blending, and the resulting pose.

use super::animated_model::AnimatedModel;
use super::bone_mode::BoneMode;
use super::constraints::{ConstraintScratch, ConstraintUpdate};
use super::ground::Ground;
use super::level_of_detail::LevelOfDetail;
use super::morph::{MorphScratch, MorphWeights};
use super::ragdoll::CharacterRagdoll;
use super::root_motion::RootMode;
use super::state_machine::{CharacterMachine, MachinePools};
use crate::scene_graph::{AnimatedPose, NodePose};
use crate::unit::UnitId;
use engine_animation::constraints::ModelPose;
use engine_animation::{
    BlendSum, BoneTransform, Clip, ClipPlayer, ModelMatrix, Pose, PoseEvaluator, RigidTransform,
    model_matrices,
};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, error};
use std::collections::HashMap;
use std::sync::Arc;

pub use engine_animation::LAYERS_MAX;

/// Maximum number of clips that a character plays at once.
pub const PLAYING_MAX: usize = 16;

/// Options of a clip that starts to play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlayOptions {
    /// Layer, from 0. Higher layers replace lower ones for the bones of their clips.
    pub layer: u8,
    /// Seconds in which the clip replaces those that its layer plays.
    pub blend: f32,
    pub loops: bool,
    /// Speed; 1 is the speed of the clip, and negative numbers play backward.
    pub speed: f32,
    /// Part of the clip that is played: start and end in seconds.
    pub range: [f32; 2],
}

/// A clip that a character plays.
#[derive(Clone, Debug)]
pub struct PlayingClip {
    /// Number of the clip, unique in the character.
    pub id: u32,
    /// Index of the clip in the model.
    pub clip: u16,
    pub options: PlayOptions,
    /// Seconds from the start of the clip.
    pub time: f32,
    /// Seconds since the clip started.
    age: f32,
    /// Seconds of the fade-out: those that have passed, and their total.
    ending: Option<[f32; 2]>,
    /// Time before the last update, and the number of times that its end was crossed there.
    step: (f32, i32),
    pub(super) player: ClipPlayer,
}

impl PlayingClip {
    /// Returns the share of this clip against those below it, from 0 to 1.
    pub fn share(&self) -> f32 {
        let fade_in = match self.options.blend > 0.0 {
            true => (self.age / self.options.blend).min(1.0),
            false => 1.0,
        };
        let fade_out = match self.ending {
            Some([passed, total]) if total > 0.0 => 1.0 - (passed / total).min(1.0),
            Some(_) => 0.0,
            None => 1.0,
        };
        fade_in * fade_out
    }

    fn advance(&mut self, seconds: f32) {
        self.age += seconds;
        if let Some([passed, _]) = &mut self.ending {
            *passed += seconds;
        }
        let from = self.time;
        let time = from + seconds * self.options.speed;
        let loops = self.set_time(time);
        self.step = if time.is_finite() { (from, loops) } else { (self.time, 0) };
    }

    /// Returns the movement of the root in the last update.
    fn root_delta(&self, clip: &Clip) -> RigidTransform {
        let (from, loops) = self.step;
        clip.root_delta_in(self.options.range, from, self.time, loops)
    }

    /// Sets the time: inside the range, or at its other end if the clip loops. Returns the number
    /// of times that the end was crossed; negative in reverse.
    fn set_time(&mut self, time: f32) -> i32 {
        let [start, end] = self.options.range;
        let seconds = end - start;
        if !(seconds > 0.0 && time.is_finite()) {
            self.time = start;
        } else if self.options.loops && !(start..=end).contains(&time) {
            let rest = (time - start) % seconds;
            let rest = if rest < 0.0 { (rest + seconds).min(seconds) } else { rest };
            self.time = rest + start;
            return ((time - start - rest) / seconds).round() as i32;
        } else {
            self.time = time.clamp(start, end);
        }
        0
    }

    /// Returns true if the clip has been played to its end.
    fn has_finished(&self) -> bool {
        let [start, end] = self.options.range;
        let last = if self.options.speed < 0.0 { start } else { end };
        !self.options.loops && self.time == last
    }
}

/// Memory of an evaluation, reused for all characters of a thread.
#[derive(Default)]
pub struct PoseScratch {
    below: Pose,
    sampled: Pose,
    sum: BlendSum,
    evaluator: PoseEvaluator,
    morph: MorphScratch,
    pools: MachinePools,
    constraints: ConstraintScratch,
}

/// Data of an evaluation that all characters share.
#[derive(Clone, Copy)]
pub struct PoseContext<'a> {
    /// Seconds since the last update.
    pub seconds: f32,
    /// `None` in a world without physics.
    pub ground: Option<Ground<'a>>,
}

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
    /// Number of the simple animation, of those in `playing`.
    pub simple: Option<u32>,
    /// `None` until a ragdoll is described or started.
    pub ragdoll: Option<Box<CharacterRagdoll>>,
    pub root_mode: RootMode,
    bone_mode: BoneMode,
    pub detail: LevelOfDetail,
    /// Movement of the root in the last update, relative to the unit before it.
    pub root_delta: RigidTransform,
    /// Transform of the unit's first node in the world, for constraints.
    pub(super) world: NodePose,
    /// Pose of bones that no clip moves: that of the model, with the transforms that the unit's
    /// file or the game has set.
    base: Pose,
    pose: Pose,
    /// Weights of the morph targets.
    pub weights: MorphWeights,
    /// Matrix of each bone, from the bone's space into the space of the unit's first node.
    pub matrices: Vec<ModelMatrix>,
    /// Bones that clips and constraints move, one bit each.
    moved: Vec<u64>,
    /// True if `moved` is outdated.
    moves_changed: bool,
    /// True if parts of the unit, such as lights, are at nodes below its first node.
    pub(super) has_inner_parts: bool,
    /// True if the pose must be evaluated although no time passes.
    outdated: bool,
    /// True if the renderer does not have the matrices yet.
    pub(super) is_listed: bool,
    /// True if the current update evaluates the pose.
    pub(super) is_due: bool,
}

impl PoseScratch {
    /// Blends the clips of a layer over the pose of the layers below it.
    fn add_layer(&mut self, clips: &[PlayingClip], model: &AnimatedModel, pose: &mut Pose) {
        self.below.clone_from(pose);
        for it in clips {
            let share = it.share();
            if model.clips[usize::from(it.clip)].clip.is_additive() {
                it.player.sample(&model.no_difference, &mut self.sampled);
                pose.add_difference(&self.sampled, share, None);
            } else if share >= 1.0 {
                it.player.sample(&self.below, pose);
            } else if share > 0.0 {
                it.player.sample(&self.below, &mut self.sampled);
                self.sum.clear();
                self.sum.add(pose, 1.0 - share);
                self.sum.add(&self.sampled, share);
                self.sum.finish(pose);
            }
        }
    }
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
            simple: None,
            ragdoll: None,
            root_mode: RootMode::default(),
            bone_mode: BoneMode::default(),
            detail: LevelOfDetail::default(),
            root_delta: RigidTransform::IDENTITY,
            world: NodePose::IDENTITY,
            base: model.rest.clone(),
            pose: model.rest.clone(),
            weights: MorphWeights::new(&model),
            matrices: Vec::with_capacity(bones),
            moved: vec![0; bones.div_ceil(64)],
            moves_changed: true,
            has_inner_parts: false,
            outdated: true,
            is_listed: false,
            is_due: false,
            model,
        }
    }

    /// Lets the next update evaluate the character.
    pub(super) fn mark_outdated(&mut self) {
        self.outdated = true;
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
        let [start, end] = options.range;
        let time = if options.speed < 0.0 { end } else { start };
        let step = (time, 0);
        let started = PlayingClip { id, clip, options, time, age: 0.0, ending: None, step, player };
        let index = self.playing.partition_point(|it| it.options.layer <= options.layer);
        self.playing.insert(index, started);
        (self.outdated, self.moves_changed) = (true, true);
        Ok(id)
    }

    /// Fades a layer, or all of them, out.
    pub fn stop(&mut self, layer: Option<u8>, blend: f32) {
        for it in &mut self.playing {
            if layer.is_none_or(|layer| layer == it.options.layer) && it.ending.is_none() {
                it.ending = Some([0.0, blend]);
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

    /// Sets or removes the state machine.
    pub fn set_machine(&mut self, machine: Option<CharacterMachine>) {
        self.machine = machine;
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
        let Character { model, pose, matrices, ragdoll, .. } = self;
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
        self.outdated = true;
    }

    /// Replaces the model by its reloaded version. Clips of the same names keep their times, and
    /// bones and morph targets of the same names keep poses and weights that were set.
    pub fn reload(&mut self, model: &Arc<AnimatedModel>, nodes: Arc<[Option<u16>]>) {
        let old = self.model.clone();
        self.reload_clips(model);
        self.nodes = nodes;
        let edited = std::mem::replace(&mut self.base, model.rest.clone());
        let known = old.skeleton.names().iter().zip(0..);
        let known: HashMap<&str, usize> = known.map(|(name, bone)| (&name[..], bone)).collect();
        for (bone, name) in model.skeleton.names().iter().enumerate() {
            let Some(before) = known.get(&name[..]) else { continue };
            let transform = edited.transform(*before);
            if transform != old.rest.transform(*before) {
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
        if let Some(machine) = &mut self.machine {
            machine.check_model(model);
        }
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
        machine.is_some_and(|it| !it.bound.constraints.is_empty())
    }

    /// Returns the movement of the root in the last update. Clips on the lowest layer replace that
    /// of the clips before them; over a state machine and on higher layers, only clips with root
    /// motion do.
    fn find_root_delta(&mut self) -> RigidTransform {
        let machine = self.active_machine();
        let has_machine = machine.is_some();
        let mut total = machine.map_or(RigidTransform::IDENTITY, |machine| machine.root_delta());
        for it in &self.playing {
            let clip = &self.model.clips[usize::from(it.clip)].clip;
            let is_still = it.options.layer == 0 && !has_machine && !clip.is_additive();
            if clip.has_root_motion() || is_still {
                total = total.blended(&it.root_delta(clip), it.share());
            }
        }
        total
    }

    /// Records that the state machine was replaced by its reloaded version.
    pub(super) fn note_reload(&mut self) {
        (self.outdated, self.moves_changed) = (true, true);
    }

    /// Moves the clips and the state machine on, and finds the movement of the root. Returns true
    /// if the pose has to be evaluated.
    pub fn advance(&mut self, seconds: f32) -> bool {
        let machine = self.active_machine();
        let has_machine = machine.map(|machine| machine.advance(seconds)).is_some();
        if let Some(ragdoll) = &mut self.ragdoll {
            let machine = self.machine.as_ref();
            let (ragdolls, masks) = machine.map_or((&[][..], &[][..]), CharacterMachine::ragdolls);
            ragdoll.follow_machine(ragdolls, masks);
        }
        self.playing.iter_mut().for_each(|it| it.advance(seconds));
        let is_fallen = self.ragdoll.as_ref().is_some_and(|it| it.is_active() && it.is_full());
        self.root_delta = match is_fallen {
            true => RigidTransform::IDENTITY,
            false => self.find_root_delta(),
        };
        let before = self.playing.len();
        self.playing.retain(|it| it.ending.is_none_or(|[passed, total]| passed < total));
        // Clips below a clip that has replaced its layer have no effect.
        let mut index = self.playing.len();
        let mut covered = None;
        while index > 0 {
            index -= 1;
            let it = &self.playing[index];
            let layer = it.options.layer;
            // Additive clips change what is below them, and replace nothing.
            let is_additive = self.model.clips[usize::from(it.clip)].clip.is_additive();
            if covered == Some(layer) {
                self.playing.remove(index);
            } else if it.share() >= 1.0 && !is_additive {
                covered = Some(layer);
            }
        }
        if self.playing.len() != before {
            (self.outdated, self.moves_changed) = (true, true);
        }
        let has_more = has_machine || self.ragdoll.is_some() || !self.playing.is_empty();
        std::mem::take(&mut self.outdated) || has_more
    }

    /// Counts an update for the level of detail. A character whose pose is not evaluated is not due
    /// any more.
    pub(super) fn take_turn(&mut self, distance: Option<f32>, seconds: f32) {
        let is_busy = self.ragdoll.as_ref().is_some_and(|ragdoll| ragdoll.is_busy());
        let (row, is_new) = (self.unit.row(), self.matrices.is_empty() || is_busy);
        self.is_due = self.detail.take_turn(distance, is_new, row, seconds);
        self.outdated |= !self.is_due;
    }

    /// Evaluates the pose and the matrices of the bones.
    pub fn evaluate(&mut self, scratch: &mut PoseScratch, context: &PoseContext) {
        let seconds = self.detail.take_seconds(context.seconds);
        let model = &*self.model;
        if let Some(ragdoll) = &mut self.ragdoll {
            self.moves_changed |= ragdoll.begin_update(&self.pose, seconds);
        }
        for it in &mut self.playing {
            it.player.seek(&model.clips[usize::from(it.clip)].clip, it.time);
        }
        let is_additive = |it: &PlayingClip| model.clips[usize::from(it.clip)].clip.is_additive();
        let mut machine = self.machine.as_mut().filter(|it| it.is_active());
        if std::mem::take(&mut self.moves_changed) {
            self.moved.fill(0);
            let clips = self.playing.iter().map(|it| &model.clips[usize::from(it.clip)].bones);
            let machine = machine.as_ref().map(|it| it.bound.moved_bones());
            for bone in clips.flatten().chain(machine.into_iter().flatten()) {
                self.moved[usize::from(*bone) / 64] |= 1 << (bone % 64);
            }
            if let Some(ragdoll) = &self.ragdoll {
                for bone in (0..model.skeleton.bone_count()).filter(|bone| ragdoll.moves(*bone)) {
                    self.moved[bone / 64] |= 1 << (bone % 64);
                }
            }
        }
        match &self.playing[..] {
            [only] if machine.is_none() && only.share() >= 1.0 && !is_additive(only) => {
                only.player.sample(&self.base, &mut self.pose);
            }
            all => {
                match &mut machine {
                    None => self.pose.clone_from(&self.base),
                    Some(machine) => {
                        let PoseScratch { pools, evaluator, .. } = scratch;
                        machine.evaluate(pools, evaluator, &self.base, &mut self.pose);
                    }
                }
                for layer in all.chunk_by(|a, b| a.options.layer == b.options.layer) {
                    scratch.add_layer(layer, model, &mut self.pose);
                }
            }
        }
        self.bone_mode.apply(&mut self.pose, &self.base);
        model_matrices(&model.skeleton, &self.pose, &mut self.matrices);
        if let Some(ragdoll) = &mut self.ragdoll {
            ragdoll.apply(&model.skeleton, &mut self.pose, &mut self.matrices);
        }
        if let Some(machine) = machine.filter(|it| !it.bound.constraints.is_empty()) {
            let (skeleton, pose) = (&model.skeleton, &mut self.pose);
            let mut rig = ModelPose { skeleton, pose, matrices: &mut self.matrices };
            let CharacterMachine { bound, constraints, output, .. } = machine;
            let (unit, world, ground) = (self.unit, self.world, context.ground);
            let weights = &output.constraints[..];
            let update = ConstraintUpdate { unit, world, weights, seconds, ground };
            constraints.apply(&bound.constraints, &mut rig, &update, &mut scratch.constraints);
        }
        if let Some(ragdoll) = &mut self.ragdoll {
            ragdoll.end_update(&model.skeleton, &mut self.pose, &mut self.matrices);
        }
        self.evaluate_weights(&mut scratch.morph);
    }

    /// Returns the pose of the last evaluation, for the nodes of the unit.
    pub(super) fn animated_pose(&self, is_eager: bool) -> AnimatedPose<'_> {
        let Character { pose, nodes, moved, has_inner_parts, .. } = self;
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
            hash.write_u64(u64::from(it.id));
            hash.write_u64(self.model.clips[usize::from(it.clip)].hash);
            let PlayOptions { layer, blend, loops, speed, range: [start, end] } = it.options;
            hash.write_u64(u64::from(layer) << 1 | u64::from(loops));
            for number in [it.time, it.age, speed, blend, start, end] {
                hash.write_f32(number);
            }
            let [passed, total] = it.ending.unwrap_or([-1.0; 2]);
            hash.write_f32(passed);
            hash.write_f32(total);
        }
        hash.write_u64(u64::from(self.last_id) << 32 | u64::from(self.simple.unwrap_or(0)));
    }
}
