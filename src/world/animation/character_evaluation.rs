//! The evaluation of a character's pose: its state machine, the clips of scripts over it, its
//! ragdoll and its constraints.

use super::animated_model::AnimatedModel;
use super::bone_sets::{BoneSetScratch, evaluate_set};
use super::character::Character;
use super::character_pose::CharacterPose;
use super::constraints::{ConstraintScratch, ConstraintUpdate};
use super::ground::Ground;
use super::morph::MorphScratch;
use super::playing_clip::PlayingClip;
use super::state_machine::{CharacterMachine, MachinePools};
use engine_animation::constraints::ModelPose;
use engine_animation::{BlendSum, Pose, PoseEvaluator, model_matrices};

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
    bone_set: BoneSetScratch,
}

/// Data of an evaluation that all characters share.
#[derive(Clone, Copy)]
pub struct PoseContext<'a> {
    /// Seconds since the last update.
    pub seconds: f32,
    /// `None` in a world without physics.
    pub ground: Option<Ground<'a>>,
}

impl PoseScratch {
    /// Mixes the pose of a machine with that of its version before a reload.
    fn add_replaced(&mut self, machine: &mut CharacterMachine, base: &Pose, pose: &mut Pose) {
        let Some((replaced, share)) = machine.replaced() else { return };
        self.sampled.clone_from(base);
        replaced.evaluate(&mut self.pools, &mut self.evaluator, base, &mut self.sampled);
        self.sum.clear();
        self.sum.add(pose, 1.0 - share);
        self.sum.add(&self.sampled, share);
        self.sum.finish(pose);
    }

    /// Blends the clips of a layer over the pose of the layers below it. `base` is the pose of
    /// bones that no clip moves.
    fn add_layer(
        &mut self,
        clips: &[PlayingClip],
        model: &AnimatedModel,
        base: &Pose,
        pose: &mut Pose,
    ) {
        self.below.clone_from(pose);
        for it in clips {
            let share = it.share();
            let clip = &model.clips[usize::from(it.clip)].clip;
            if clip.is_additive() {
                it.player.sample(&model.no_difference, &mut self.sampled);
                pose.add_difference(&self.sampled, share, None);
            } else if it.options.adds {
                it.player.sample(base, &mut self.sampled);
                self.sampled.subtract(base);
                pose.add_difference(&self.sampled, share, None);
            } else if share >= 1.0 {
                it.player.sample_over(clip, (&self.below, base), pose);
            } else if share > 0.0 {
                it.player.sample_over(clip, (&self.below, base), &mut self.sampled);
                self.sum.clear();
                self.sum.add(pose, 1.0 - share);
                self.sum.add(&self.sampled, share);
                self.sum.finish(pose);
            }
        }
    }
}

impl Character {
    /// Prepares the ragdoll for the pose of this update, and finds the bones that may move.
    fn begin_pose(&mut self, seconds: f32) {
        if let Some(ragdoll) = &mut self.ragdoll {
            self.moves_changed |= ragdoll.begin_update(&self.pose.current().pose, seconds);
        }
        if !std::mem::take(&mut self.moves_changed) {
            return;
        }
        let Character { model, machine, moved, .. } = self;
        moved.fill(0);
        let clips = self.playing.iter().map(|it| &model.clips[usize::from(it.clip)].bones);
        let machine = machine.as_ref().filter(|it| it.is_active());
        let machine = machine.into_iter().flat_map(CharacterMachine::moved_bones);
        for bone in clips.flatten().chain(machine) {
            moved[usize::from(*bone) / 64] |= 1 << (bone % 64);
        }
        if let Some(ragdoll) = &self.ragdoll {
            for bone in (0..model.skeleton.bone_count()).filter(|bone| ragdoll.moves(*bone)) {
                moved[bone / 64] |= 1 << (bone % 64);
            }
        }
    }

    /// Shows the pose that another character, which this one is merged with, has evaluated.
    pub(super) fn follow(&mut self, leader: &Character, seconds: f32) {
        let seconds = self.detail.take_seconds(seconds);
        self.begin_pose(seconds);
        let shown = leader.pose.current();
        match &mut self.ragdoll {
            None => self.pose.share(shown),
            Some(ragdoll) => {
                let CharacterPose { pose, matrices } = self.pose.next();
                pose.clone_from(&shown.pose);
                matrices.clone_from(&shown.matrices);
                ragdoll.end_update(&self.model.skeleton, pose, matrices);
            }
        }
        self.weights.current.clone_from(&leader.weights.current);
    }

    /// Evaluates the pose and the matrices of the bones.
    pub fn evaluate(&mut self, scratch: &mut PoseScratch, context: &PoseContext) {
        let seconds = self.detail.take_seconds(context.seconds);
        self.begin_pose(seconds);
        let model = &*self.model;
        let CharacterPose { pose, matrices } = self.pose.next();
        for it in &mut self.playing {
            it.player.seek(&model.clips[usize::from(it.clip)].clip, it.time);
        }
        let mut machine = self.machine.as_mut().filter(|it| it.is_active());
        match &self.playing[..] {
            [only] if machine.is_none() && only.share() >= 1.0 && !only.is_added(model) => {
                only.player.sample(&self.base, pose);
            }
            all => {
                match &mut machine {
                    None => pose.clone_from(&self.base),
                    Some(machine) => {
                        let PoseScratch { pools, evaluator, bone_set, .. } = scratch;
                        let (sets, base) = (&mut self.bone_sets, (&self.base, self.is_edited));
                        let working = (&mut *pools, &mut *evaluator);
                        let poses = (bone_set, &mut *pose);
                        if evaluate_set(sets, machine.output(), working, base, poses) {
                            machine.release_players(pools);
                        } else {
                            machine.evaluate(pools, evaluator, &self.base, pose);
                            scratch.add_replaced(machine, &self.base, pose);
                        }
                    }
                }
                for layer in all.chunk_by(|a, b| a.options.layer == b.options.layer) {
                    scratch.add_layer(layer, model, &self.base, pose);
                }
            }
        }
        self.bone_mode.apply(pose, &self.base);
        model_matrices(&model.skeleton, pose, matrices);
        if let Some(ragdoll) = &mut self.ragdoll {
            ragdoll.apply(&model.skeleton, pose, matrices);
        }
        if let Some(machine) = machine.filter(|it| it.has_constraints()) {
            let mut rig = ModelPose { skeleton: &model.skeleton, pose, matrices };
            let (unit, world, ground) = (self.unit, self.world, context.ground);
            let update = ConstraintUpdate { unit, world, weights: &[], seconds, ground };
            machine.apply_constraints(&mut rig, &update, &mut scratch.constraints);
        }
        if let Some(ragdoll) = &mut self.ragdoll {
            ragdoll.end_update(&model.skeleton, pose, matrices);
        }
        self.evaluate_weights(&mut scratch.morph);
    }
}
