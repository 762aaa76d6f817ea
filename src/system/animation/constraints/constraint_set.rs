//! Constraints of a state machine for one skeleton: created from their descriptions, and applied in
//! the order of the file with weights and targets.

use super::{
    Aim, AimLimits, CopyBone, FootGround, FootPlacement, FootPlacementSettings, FootPlacementState,
    IkTarget, Leg, LimbBend, ModelPose, MoveBone, SpringChain, SpringSettings, SpringState,
    TwoBoneIk,
};
use crate::skeleton::{BoneTransform, Skeleton};
use crate::state_machine::{ConstraintDescription, ConstraintKind};
use engine_foundation::{Error, Quat, Vec3, error};
use std::ops::Range;

/// Constraint with the bones of a skeleton.
#[derive(Clone, PartialEq, Debug)]
enum Constraint {
    Aim(Aim),
    TwoBone(TwoBoneIk, Option<Vec3>),
    Position(MoveBone),
    Copy(CopyBone),
    Spring(SpringChain),
    FootPlacement(FootPlacement),
}

impl Constraint {
    /// Returns the bones whose local transforms the constraint changes.
    fn bones(&self) -> Vec<u16> {
        match self {
            Constraint::Aim(aim) => vec![aim.bone],
            Constraint::TwoBone(limb, _) => vec![limb.upper, limb.middle, limb.end],
            Constraint::Position(moved) => vec![moved.bone],
            Constraint::Copy(copy) => vec![copy.bone],
            Constraint::Spring(chain) => chain.bones.clone(),
            Constraint::FootPlacement(placement) => {
                let legs = placement.legs.iter();
                let legs = legs.flat_map(|leg| [leg.upper, leg.middle, leg.end]);
                [placement.pelvis].into_iter().chain(legs).collect()
            }
        }
    }

    fn is_same_kind(&self, other: &Constraint) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Returns true if the constraint is of the same kind as another, and changes the same bones.
    fn is_like(&self, other: &Constraint) -> bool {
        self.is_same_kind(other) && self.bones() == other.bones()
    }
}

/// Constraints of a state machine for one skeleton.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConstraintSet {
    names: Vec<String>,
    constraints: Vec<Constraint>,
    /// Own weight of each constraint.
    weights: Vec<f32>,
}

/// State of the constraints of one character. Contains everything for a snapshot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConstraintSetState {
    /// In the order of the chains of the set.
    pub springs: Vec<SpringState>,
    /// In the order of the foot placements of the set.
    pub feet: Vec<FootPlacementState>,
    /// In the order of the limbs of the set.
    pub limbs: Vec<LimbBend>,
}

impl ConstraintSetState {
    /// Returns true if no constraint has a state that goes on without a weight and a target.
    pub fn is_empty(&self) -> bool {
        self.springs.is_empty() && self.feet.is_empty()
    }

    /// Calls `visit` for each number of the state, for hashes.
    pub fn each_number(&self, mut visit: impl FnMut(f32)) {
        self.springs.iter().for_each(|spring| spring.each_number(&mut visit));
        self.each_leg_number(visit);
    }

    /// Calls `visit` for each number of the feet and limbs.
    pub(super) fn each_leg_number(&self, mut visit: impl FnMut(f32)) {
        self.feet.iter().for_each(|placement| placement.each_number(&mut visit));
        self.limbs.iter().flat_map(LimbBend::numbers).for_each(visit);
    }
}

/// Target of a constraint in model space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConstraintTarget {
    /// Metres.
    pub position: Vec3,
    /// Rotation of the end of a chain of two bones.
    pub rotation: Option<Quat>,
}

/// Input of the constraints of one character in one frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConstraintInput<'a> {
    /// Transform of the character, for spring chains.
    pub world: BoneTransform,
    /// Seconds since the last frame.
    pub seconds: f32,
    /// Weight of each constraint; missing ones are 0.
    pub weights: &'a [f32],
    /// Target of each constraint. Without a target, aims, limbs and positions do nothing.
    pub targets: &'a [Option<ConstraintTarget>],
    /// Ground below each foot, in the order of [`ConstraintSet::feet`].
    pub ground: &'a [FootGround],
}

impl ConstraintSet {
    /// Creates the constraints of a state machine for a skeleton.
    ///
    /// # Errors
    /// Fails if a constraint names a bone that does not exist, or bones that do not belong
    /// together. The error begins with the line, and names the constraint.
    pub fn new(
        skeleton: &Skeleton,
        descriptions: &[ConstraintDescription],
    ) -> Result<ConstraintSet, Error> {
        let mut set = ConstraintSet::default();
        for description in descriptions {
            let constraint = create(skeleton, description).map_err(|error| {
                let ConstraintDescription { name, line, .. } = description;
                error!("{line}: constraint '{name}': {}", error.message)
            })?;
            set.names.push(description.name.clone());
            set.constraints.push(constraint);
            set.weights.push(description.parameter("weight")[0]);
        }
        Ok(set)
    }

    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Returns the state of a new character.
    pub fn new_state(&self) -> ConstraintSetState {
        let mut state = ConstraintSetState::default();
        for constraint in &self.constraints {
            match constraint {
                Constraint::Spring(_) => state.springs.push(SpringState::default()),
                Constraint::FootPlacement(_) => state.feet.push(FootPlacementState::FLAT),
                Constraint::TwoBone(..) => state.limbs.push(LimbBend::UNKNOWN),
                _ => {}
            }
        }
        state
    }

    /// Returns for each constraint the index of that of another set for the same skeleton with the
    /// same name, kind and bones.
    pub fn find_in(&self, other: &ConstraintSet) -> Vec<Option<usize>> {
        let find = |(name, constraint): (&String, &Constraint)| {
            let index = other.names.iter().position(|known| known == name)?;
            constraint.is_like(&other.constraints[index]).then_some(index)
        };
        self.names.iter().zip(&self.constraints).map(find).collect()
    }

    /// Returns the state of a character of another set in this one. Springs and feet that
    /// [`ConstraintSet::find_in`] finds are kept, and others begin.
    pub fn state_from(
        &self,
        other: &ConstraintSet,
        state: &ConstraintSetState,
    ) -> ConstraintSetState {
        let mut kept = self.new_state();
        let (mut spring, mut placement, mut limb) = (0, 0, 0);
        for (constraint, known) in self.constraints.iter().zip(self.find_in(other)) {
            // The states of each kind are in the order of the constraints.
            let before = &other.constraints[..known.unwrap_or(0)];
            let rank = before.iter().filter(|it| constraint.is_same_kind(it)).count();
            match constraint {
                Constraint::Spring(_) => {
                    if let Some(known) = known.and_then(|_| state.springs.get(rank)) {
                        kept.springs[spring].clone_from(known);
                    }
                    spring += 1;
                }
                Constraint::FootPlacement(_) => {
                    if let Some(known) = known.and_then(|_| state.feet.get(rank)) {
                        kept.feet[placement] = *known;
                    }
                    placement += 1;
                }
                Constraint::TwoBone(..) => {
                    if let Some(known) = known.and_then(|_| state.limbs.get(rank)) {
                        kept.limbs[limb] = *known;
                    }
                    limb += 1;
                }
                _ => {}
            }
        }
        kept
    }

    /// Returns the bones whose local transforms the constraints change, sorted.
    pub fn bones(&self) -> Vec<u16> {
        let mut bones: Vec<u16> = self.constraints.iter().flat_map(Constraint::bones).collect();
        bones.sort_unstable();
        bones.dedup();
        bones
    }

    /// Appends the ground below each foot. Calls `find` with the animated position of the foot in
    /// model space, and the largest height of the ground above or below the origin of the character
    /// at which the foot follows it. Feet of constraints without a weight have no ground.
    pub fn find_ground(
        &self,
        rig: &ModelPose,
        weights: &[f32],
        ground: &mut Vec<FootGround>,
        mut find: impl FnMut(Vec3, f32) -> FootGround,
    ) {
        for (index, constraint) in self.constraints.iter().enumerate() {
            if let Constraint::FootPlacement(placement) = constraint {
                let active = weights.get(index).is_some_and(|weight| *weight > 0.0);
                let reach = placement.reach();
                ground.extend(placement.feet(rig).map(|foot| match active {
                    true => find(foot, reach),
                    false => FootGround::NONE,
                }));
            }
        }
    }

    /// Applies all constraints in order. The pose in `rig` is that of the animation. A state of
    /// another set is replaced by that of a new character.
    pub fn apply(
        &self,
        rig: &mut ModelPose,
        state: &mut ConstraintSetState,
        input: &ConstraintInput,
    ) {
        self.apply_range(rig, state, input, 0..self.constraints.len());
    }

    /// Applies the constraints of a range in order, as [`ConstraintSet::apply`] does.
    pub fn apply_range(
        &self,
        rig: &mut ModelPose,
        state: &mut ConstraintSetState,
        input: &ConstraintInput,
        range: Range<usize>,
    ) {
        let (mut spring, mut placement, mut foot, mut next_limb) = (0, 0, 0, 0);
        if self.constraints.is_empty() {
            return;
        }
        if !self.has_state(state) {
            *state = self.new_state();
        }
        for (index, constraint) in self.constraints.iter().enumerate() {
            if !range.contains(&index) {
                match constraint {
                    Constraint::Spring(_) => spring += 1,
                    Constraint::FootPlacement(feet) => {
                        placement += 1;
                        foot += feet.leg_count();
                    }
                    Constraint::TwoBone(..) => next_limb += 1,
                    _ => {}
                }
                continue;
            }
            let weight = input.weights.get(index).copied().unwrap_or(0.0) * self.weights[index];
            let target = input.targets.get(index).copied().flatten();
            match (constraint, target) {
                (Constraint::Aim(aim), Some(target)) => aim.apply(rig, target.position, weight),
                (Constraint::TwoBone(limb, pole), target) => {
                    let bend = &mut state.limbs[next_limb];
                    next_limb += 1;
                    match target {
                        Some(ConstraintTarget { position, rotation }) => {
                            let target = IkTarget { position, pole: *pole, rotation };
                            limb.apply_over_time(rig, &target, (bend, input.seconds), weight);
                        }
                        None => *bend = LimbBend::UNKNOWN,
                    }
                }
                (Constraint::Position(bone), Some(target)) => {
                    bone.apply(rig, target.position, weight);
                }
                (Constraint::Copy(copy), _) => copy.apply(rig, weight),
                (Constraint::Spring(chain), _) => {
                    let state = &mut state.springs[spring];
                    chain.apply(rig, state, &input.world, input.seconds, weight);
                    spring += 1;
                }
                (Constraint::FootPlacement(feet), _) => {
                    let ground = input.ground.get(foot..).unwrap_or_default();
                    let state = &mut state.feet[placement];
                    feet.apply(rig, state, ground, input.seconds, weight);
                    placement += 1;
                    foot += feet.leg_count();
                }
                _ => {}
            }
        }
    }

    fn has_state(&self, state: &ConstraintSetState) -> bool {
        let count = |wanted: fn(&Constraint) -> bool| {
            self.constraints.iter().filter(|constraint| wanted(constraint)).count()
        };
        count(|it| matches!(it, Constraint::Spring(_))) == state.springs.len()
            && count(|it| matches!(it, Constraint::FootPlacement(_))) == state.feet.len()
            && count(|it| matches!(it, Constraint::TwoBone(..))) == state.limbs.len()
    }
}

fn create(skeleton: &Skeleton, description: &ConstraintDescription) -> Result<Constraint, Error> {
    let bones: Vec<&str> = description.bones.iter().map(String::as_str).collect();
    let number = |name: &str| description.parameter(name)[0];
    let vector = |name: &str| Vec3::from_array(description.parameter(name));
    let wrong = || error!("it names {} bones, which its kind does not have", bones.len());
    Ok(match (description.kind, &bones[..]) {
        (ConstraintKind::Aim, [bone]) => {
            let limits =
                AimLimits { yaw: number("yaw").to_radians(), pitch: number("pitch").to_radians() };
            Constraint::Aim(Aim::new(skeleton, bone, vector("axis"), limits)?)
        }
        (ConstraintKind::TwoBone, [upper, middle, end]) => {
            let limb = TwoBoneIk::new(skeleton, [upper, middle, end], number("softness"))?;
            let pole = vector("pole");
            Constraint::TwoBone(limb, (pole != Vec3::ZERO).then_some(pole))
        }
        (ConstraintKind::Position, [bone]) => Constraint::Position(MoveBone::new(skeleton, bone)?),
        (ConstraintKind::Copy, [bone, source]) => {
            let parts = (number("position") > 0.5, number("rotation") > 0.5);
            Constraint::Copy(CopyBone::new(skeleton, (bone, source), parts)?)
        }
        (ConstraintKind::Spring, [first, last]) => {
            let settings = SpringSettings {
                gravity: vector("gravity"),
                stiffness: number("stiffness"),
                damping: number("damping"),
            };
            Constraint::Spring(SpringChain::new(skeleton, [first, last], settings)?)
        }
        (ConstraintKind::FootPlacement, [pelvis, legs @ ..]) if legs.len() % 3 == 0 => {
            let legs: Vec<Leg> = legs
                .chunks_exact(3)
                .map(|leg| Leg { thigh: leg[0], shin: leg[1], foot: leg[2] })
                .collect();
            let settings = FootPlacementSettings {
                drop_max: number("drop_max"),
                lift_max: number("lift_max"),
                step_max: number("step_max"),
                tilt_max: number("tilt_max").to_radians(),
                swing_height: number("swing_height"),
                speed: number("speed"),
            };
            Constraint::FootPlacement(FootPlacement::new(skeleton, pelvis, &legs, settings)?)
        }
        _ => return Err(wrong()),
    })
}
