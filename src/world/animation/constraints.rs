//! Constraints of characters: those of a state machine with the bones of a model, their targets,
//! which games set in world space, and their application to a pose.

use super::ground::Ground;
use crate::scene_graph::NodePose;
use crate::unit::UnitId;
use engine_animation::constraints::{
    ConstraintInput, ConstraintSet, ConstraintSetState, ConstraintTarget, FootGround, ModelPose,
};
use engine_animation::{BoneTransform, Skeleton, StateMachine};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Quat, Vec3, error};
use std::ops::Range;

/// Target of constraints in the world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WorldTarget {
    /// Metres.
    pub position: Vec3,
    /// Rotation of the end of a chain of two bones.
    pub rotation: Option<Quat>,
}

/// Constraints of a state machine with the bones of a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BoundConstraints {
    set: ConstraintSet,
    /// Names of the targets.
    targets: Vec<String>,
    /// Index of the target of each constraint.
    target_of: Vec<Option<u16>>,
    is_stateless: bool,
}

impl BoundConstraints {
    /// Finds the bones of a state machine's constraints.
    ///
    /// # Errors
    /// Returns an error that names the file, the line and the constraint.
    pub fn new(machine: &StateMachine, skeleton: &Skeleton) -> Result<BoundConstraints, Error> {
        let descriptions = machine.constraints();
        let set = ConstraintSet::new(skeleton, descriptions)
            .map_err(|error| error!("{}:{}", machine.path(), error.message))?;
        let is_stateless = set.new_state().is_empty();
        let mut bound = BoundConstraints { set, is_stateless, ..BoundConstraints::default() };
        for description in descriptions {
            bound.target_of.push(description.target.as_ref().map(|name| {
                let known = bound.targets.iter().position(|target| target == name);
                let index = known.unwrap_or(bound.targets.len());
                if known.is_none() {
                    bound.targets.push(name.clone());
                }
                index as u16
            }));
        }
        Ok(bound)
    }

    /// Returns the names of the targets that games set.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    pub fn find_target(&self, name: &str) -> Option<u16> {
        self.targets.iter().position(|known| known == name).map(|index| index as u16)
    }

    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns for each constraint the index of the same one in another version of the machine.
    pub fn find_in(&self, other: &BoundConstraints) -> Vec<Option<usize>> {
        self.set.find_in(&other.set)
    }

    /// Returns true if no constraint has a state, as springs and feet do.
    pub fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    /// Returns the bones that the constraints move, sorted.
    pub fn bones(&self) -> Vec<u16> {
        self.set.bones()
    }
}

/// Memory for the application of constraints, for use with one character after another.
#[derive(Default)]
pub struct ConstraintScratch {
    current: ConstraintFrame,
    /// Of the constraints that a reload has removed, while they fade out.
    removed: ConstraintFrame,
}

/// Targets, ground and weights of the constraints of a character in an update.
#[derive(Default)]
struct ConstraintFrame {
    targets: Vec<Option<ConstraintTarget>>,
    ground: Vec<FootGround>,
    weights: Vec<f32>,
}

/// Constraints of the version before a reload, of which those that are gone fade out.
pub struct RemovedConstraints<'a> {
    pub bound: &'a BoundConstraints,
    pub state: &'a mut CharacterConstraints,
    /// Weights of all constraints of that version.
    pub weights: &'a [f32],
    /// Part of their weights that is left.
    pub share: f32,
    /// Index in that version of each constraint of the reloaded one.
    pub kept: &'a [Option<usize>],
}

/// Input of the constraints of a character in an update.
#[derive(Clone, Copy)]
pub struct ConstraintUpdate<'a> {
    pub unit: UnitId,
    /// Transform of the unit's first node in the world.
    pub world: NodePose,
    /// Weight of each constraint.
    pub weights: &'a [f32],
    pub seconds: f32,
    /// `None` in a world without physics.
    pub ground: Option<Ground<'a>>,
}

/// Constraints of a character: their targets, and the state of springs and feet.
#[derive(Clone, PartialEq, Debug)]
pub struct CharacterConstraints {
    targets: Vec<Option<WorldTarget>>,
    state: ConstraintSetState,
}

impl CharacterConstraints {
    /// Returns the state of a new character, without targets.
    pub fn new(bound: &BoundConstraints) -> CharacterConstraints {
        CharacterConstraints {
            targets: vec![None; bound.targets.len()],
            state: bound.set.new_state(),
        }
    }

    /// Returns a target. Panics if there is no such target.
    pub fn target(&self, index: u16) -> Option<WorldTarget> {
        self.targets[usize::from(index)]
    }

    /// Sets or removes a target. Panics if there is no such target.
    pub fn set_target(&mut self, index: u16, target: Option<WorldTarget>) {
        self.targets[usize::from(index)] = target;
    }

    /// Replaces the constraints by their reloaded version. Targets of the same names are kept and,
    /// if the skeleton is the same, springs and feet.
    pub fn reload(
        &mut self,
        old: &BoundConstraints,
        new: &BoundConstraints,
        is_same_skeleton: bool,
    ) {
        let mut reloaded = CharacterConstraints::new(new);
        if is_same_skeleton {
            reloaded.state = new.set.state_from(&old.set, &self.state);
        }
        for (name, target) in old.targets.iter().zip(&self.targets) {
            if let Some(index) = new.find_target(name) {
                reloaded.set_target(index, *target);
            }
        }
        *self = reloaded;
    }

    /// Applies the constraints to a pose. Those that a reload has removed are applied between those
    /// that are left, in the order in which they were in the file.
    pub fn apply(
        &mut self,
        bound: &BoundConstraints,
        rig: &mut ModelPose,
        update: &ConstraintUpdate,
        (removed, scratch): (Option<RemovedConstraints>, &mut ConstraintScratch),
    ) {
        let ConstraintScratch { current, removed: before } = scratch;
        self.begin(bound, rig, update, current);
        let count = bound.set.len();
        let Some(removed) = removed else {
            return self.apply_range(bound, rig, update, (current, 0..count));
        };
        let RemovedConstraints { bound: old, state, weights, share, kept } = removed;
        let is_kept = |index: usize| kept.contains(&Some(index));
        let weight = |(index, weight): (usize, &f32)| match is_kept(index) {
            true => 0.0,
            false => *weight * share,
        };
        before.weights.clear();
        before.weights.extend(weights.iter().enumerate().map(weight));
        let weights = std::mem::take(&mut before.weights);
        let fading = ConstraintUpdate { weights: &weights, ..*update };
        state.begin(old, rig, &fading, before);
        let mut applied = 0;
        for (index, known) in (0..count).zip(kept.iter().copied().chain(std::iter::repeat(None))) {
            for removed in (applied..known.unwrap_or(0)).filter(|removed| !is_kept(*removed)) {
                state.apply_range(old, rig, &fading, (before, removed..removed + 1));
            }
            applied = applied.max(known.map_or(0, |known| known + 1));
            self.apply_range(bound, rig, update, (current, index..index + 1));
        }
        for removed in (applied..old.set.len()).filter(|removed| !is_kept(*removed)) {
            state.apply_range(old, rig, &fading, (before, removed..removed + 1));
        }
        before.weights = weights;
    }

    /// Finds the targets in the space of the model, and the ground below the feet of the pose.
    fn begin(
        &self,
        bound: &BoundConstraints,
        rig: &ModelPose,
        update: &ConstraintUpdate,
        frame: &mut ConstraintFrame,
    ) {
        let ConstraintUpdate { unit, world, weights, ground, .. } = *update;
        let ConstraintFrame { targets, ground: found, .. } = frame;
        targets.clear();
        if self.targets.iter().any(Option::is_some) {
            let inverse = world.matrix().inverse();
            targets.extend(bound.target_of.iter().map(|index| {
                let target = self.targets[usize::from((*index)?)]?;
                let position = inverse.transform_point3(target.position);
                let rotation = target.rotation.map(|it| world.rotation.conjugate() * it);
                position.is_finite().then_some(ConstraintTarget { position, rotation })
            }));
        } else {
            targets.resize(bound.target_of.len(), None);
        }
        found.clear();
        if let Some(ground) = ground {
            let matrix = world.matrix();
            bound.set.find_ground(rig, weights, found, |foot, reach| {
                ground.below(unit, &matrix, foot, reach)
            });
        }
    }

    /// Applies the constraints of a range.
    fn apply_range(
        &mut self,
        bound: &BoundConstraints,
        rig: &mut ModelPose,
        update: &ConstraintUpdate,
        (frame, range): (&ConstraintFrame, Range<usize>),
    ) {
        let NodePose { position, rotation, scale } = update.world;
        let world = BoneTransform { position, rotation, scale };
        let (weights, seconds) = (update.weights, update.seconds);
        let ConstraintFrame { targets, ground, .. } = frame;
        let input = ConstraintInput { world, seconds, weights, targets, ground };
        bound.set.apply_range(rig, &mut self.state, &input, range);
    }

    /// Adds the states of springs and feet to a list of numbers.
    pub fn save(&self, numbers: &mut Vec<f64>) {
        self.state.save(numbers);
    }

    /// Replaces the states of springs and feet by those of a list.
    ///
    /// # Errors
    /// Returns an error and changes nothing if the list is not of these constraints.
    pub fn load(&mut self, numbers: &[f64]) -> Result<(), Error> {
        self.state.load(numbers)
    }

    /// Writes the state that must be equal in every run.
    pub fn write_state(&self, hash: &mut StateHash) {
        for target in &self.targets {
            hash.write_u64(u64::from(target.is_some()));
            let Some(WorldTarget { position, rotation }) = target else { continue };
            position.to_array().into_iter().for_each(|number| hash.write_f32(number));
            let rotation = rotation.unwrap_or(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
            rotation.to_array().into_iter().for_each(|number| hash.write_f32(number));
        }
        self.state.each_number(|number| hash.write_f32(number));
    }
}
