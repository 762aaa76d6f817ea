//! The ragdoll of a character: its phases, the hand-over of poses to bodies and back, and the pose
//! of each update. Bodies are created and removed in ragdoll_update.rs.

use super::ragdoll_description::ModelRagdoll;
use super::state_machine::{BoundMachine, CharacterMachine};
use crate::physics::RagdollPart;
use crate::unit::Units;
use engine_animation::constraints::ModelPose;
use engine_animation::ragdoll::{
    BodyVelocity, LyingSide, advance_transform, follow_frame, get_up_transform, hand_over_velocity,
    hold_pose, is_teleport, lying_side,
};
use engine_animation::{
    BoneMask, BoneTransform, ModelMatrix, Pose, RagdollOutput, RigidTransform, Skeleton, State,
    StateKind,
};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Quat, Vec3, error};
use std::sync::Arc;

/// Distance in metres that a character moves between two updates in addition to twice its speed
/// without being teleported.
const MOVE_SLOP: f32 = 0.01;
/// Maximum difference of the scales of a character's axes, as a part of the scale.
const SCALE_TOLERANCE: f32 = 0.01;

/// Phase of a ragdoll.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Phase {
    /// The animation moves all bones.
    Animated,
    /// The state machine has begun the ragdoll in this update.
    Beginning,
    /// Bodies move their bones.
    Simulated,
    /// The ragdoll ends in the next update, and its pose fades out in a number of seconds.
    Ending(f32),
    /// The last pose of the ragdoll fades out: seconds that have passed, and their total.
    Fading([f32; 2]),
}

/// Owner of a running ragdoll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Driver {
    Script,
    StateMachine,
}

/// Transforms of the bodies in the last two updates, by which they continue their motion.
#[derive(Clone, Debug)]
struct History {
    /// The newest first. Empty before the first update.
    transforms: [Vec<RigidTransform>; 2],
    /// Transform of the unit, the newest first.
    units: [RigidTransform; 2],
    /// Seconds between the two.
    seconds: f32,
}

/// Changes that the pose of an update requires in physics.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct RagdollChanges {
    pub begins: bool,
    pub ends: bool,
    /// New transform of the unit.
    pub unit: Option<RigidTransform>,
}

/// The ragdoll of a character.
#[derive(Clone, Debug)]
pub struct CharacterRagdoll {
    pub(super) shared: Arc<ModelRagdoll>,
    pub(super) phase: Phase,
    pub(super) driver: Driver,
    /// Strength of the motors: 0 to 1.
    pub strength: f32,
    /// Role of each body.
    pub(super) parts: Vec<RagdollPart>,
    /// Weight of each body by the masks: 0 to 1.
    pub(super) weights: Vec<f32>,
    /// Weight of all bodies: that of the states of a state machine, or 1.
    fade: f32,
    /// True if bodies could not be created. The state machine does not try again.
    pub(super) failed: bool,
    /// Local pose at the start of the ragdoll, for bones without bodies, and at its end.
    held: Pose,
    /// Memory for a pose.
    scratch: Pose,
    history: History,
    /// Transform of the unit.
    pub(super) world: BoneTransform,
    /// Seconds of this update.
    pub(super) seconds: f32,
    /// True if the ragdoll affected the pose of the previous update.
    was_busy: bool,
    /// Transforms of the bodies in world space, and true for those that exist.
    pub(super) transforms: Vec<RigidTransform>,
    pub(super) exists: Vec<bool>,
    pub(super) velocities: Vec<BodyVelocity>,
    /// Transforms of the animation in world space, and rotations relative to the parents.
    pub(super) animated: Vec<RigidTransform>,
    pub(super) targets: Vec<Quat>,
    /// Height of the ground below the character.
    pub(super) ground: Option<f32>,
    pub(super) changes: RagdollChanges,
}

impl CharacterRagdoll {
    pub(super) fn new(shared: Arc<ModelRagdoll>) -> CharacterRagdoll {
        let mut ragdoll = CharacterRagdoll {
            phase: Phase::Animated,
            driver: Driver::Script,
            strength: shared.description.strength,
            parts: Vec::new(),
            weights: Vec::new(),
            fade: 0.0,
            failed: false,
            held: Pose::default(),
            scratch: Pose::default(),
            history: History {
                transforms: Default::default(),
                units: [RigidTransform::IDENTITY; 2],
                seconds: 0.0,
            },
            world: BoneTransform::IDENTITY,
            seconds: 0.0,
            was_busy: false,
            transforms: Vec::new(),
            exists: Vec::new(),
            velocities: Vec::new(),
            animated: Vec::new(),
            targets: Vec::new(),
            ground: None,
            changes: RagdollChanges::default(),
            shared,
        };
        ragdoll.resize();
        ragdoll
    }

    /// Forgets everything about the bodies, after their number may have changed.
    fn resize(&mut self) {
        let count = self.shared.ragdoll.bodies().len();
        self.parts = vec![RagdollPart::Absent; count];
        self.weights = vec![0.0; count];
        self.transforms = vec![RigidTransform::IDENTITY; count];
        self.exists = vec![false; count];
        self.velocities = vec![BodyVelocity::ZERO; count];
        self.history.transforms = Default::default();
    }

    /// Replaces the description or the model. Bodies of the same bones continue; otherwise the
    /// ragdoll ends, and that of a state machine begins again. Returns false if it ended.
    pub(super) fn replace(&mut self, shared: Arc<ModelRagdoll>) -> bool {
        let is_equal = self.shared.names == shared.names;
        self.shared = shared;
        if is_equal {
            return true;
        }
        self.resize();
        let was_active = self.has_bodies();
        self.phase = Phase::Animated;
        self.changes = RagdollChanges { ends: was_active, ..RagdollChanges::default() };
        !was_active
    }

    /// Lets the animation move all bones, after the bodies were removed.
    pub(super) fn end_at_once(&mut self) {
        self.resize();
        (self.phase, self.fade) = (Phase::Animated, 0.0);
        self.changes = RagdollChanges::default();
    }

    /// Returns true while bodies move the bones.
    pub fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Beginning | Phase::Simulated)
    }

    pub(super) fn has_bodies(&self) -> bool {
        matches!(self.phase, Phase::Simulated | Phase::Ending(_))
    }

    /// Returns true if the pelvis moves by forces, so that the unit does not move the character.
    pub fn is_full(&self) -> bool {
        self.parts.first() == Some(&RagdollPart::Simulated)
    }

    /// Returns the side on which the character lies, while its pelvis moves by forces.
    pub fn lying_side(&self) -> Option<LyingSide> {
        if !(self.is_active() && self.is_full() && self.exists[0]) {
            return None;
        }
        let rest = self.shared.ragdoll.bodies()[0].rest_rotation;
        Some(lying_side(self.transforms[0].rotation, rest, self.shared.description.forward))
    }

    /// Returns true if the ragdoll affects a bone.
    pub(super) fn moves(&self, bone: usize) -> bool {
        let weight = |body: usize| self.weights[body] > 0.0;
        self.phase != Phase::Animated && self.shared.body_of(bone).is_some_and(weight)
    }

    /// Checks that the scale of the unit is the same along all axes.
    ///
    /// # Errors
    /// Returns an error if it is not, or if it is not above 0.
    pub(super) fn check_scale(&self) -> Result<(), Error> {
        let scale = self.world.scale;
        let (least, most) = (scale.min_element(), scale.max_element());
        match least > 1e-4 && most - least <= SCALE_TOLERANCE * most && most.is_finite() {
            true => Ok(()),
            false => Err(error!(
                "a ragdoll needs a scale that is above 0 and equal along all axes, and this is \
                 {scale}"
            )),
        }
    }

    /// Sets the weight of each body, and the roles by the weights: bodies without a weight hold
    /// their children.
    fn set_weights(&mut self, weight: impl Fn(usize) -> f32) {
        for index in 0..self.weights.len() {
            let weight = weight(index);
            self.weights[index] = if weight > 0.0 { weight.min(1.0) } else { 0.0 };
        }
    }

    fn set_parts(&mut self) {
        let bodies = self.shared.ragdoll.bodies();
        self.parts.fill(RagdollPart::Absent);
        for index in (0..bodies.len()).rev() {
            if self.weights[index] <= 0.0 {
                continue;
            }
            self.parts[index] = RagdollPart::Simulated;
            let parent = bodies[index].parent.map(usize::from);
            if let Some(parent) = parent.filter(|parent| self.weights[*parent] <= 0.0) {
                self.parts[parent] = RagdollPart::Driven;
            }
        }
    }

    /// Selects the bodies of bones and of those below them. Without names, selects all bodies.
    ///
    /// # Errors
    /// Returns an error if a bone does not exist, or if no body is in or below it.
    pub(super) fn select(&mut self, bones: Option<&[u16]>) -> Result<(), Error> {
        let shared = self.shared.clone();
        let skeleton = &shared.model.skeleton;
        let Some(bones) = bones else {
            self.set_weights(|_| 1.0);
            self.set_parts();
            return Ok(());
        };
        let is_below = |body: usize, bone: u16| {
            let mut next = Some(shared.ragdoll.bodies()[body].bone);
            while let Some(current) = next {
                if current == bone {
                    return true;
                }
                next = skeleton.parents()[usize::from(current)];
            }
            false
        };
        let count = self.weights.len();
        for bone in bones {
            if !(0..count).any(|body| is_below(body, *bone)) {
                let name = &skeleton.names()[usize::from(*bone)];
                return Err(error!(
                    "the ragdoll has no body in or below the bone '{name}': name a longer bone, \
                     or list it in 'bones' of the ragdoll"
                ));
            }
        }
        self.set_weights(|body| {
            f32::from(u8::from(bones.iter().any(|bone| is_below(body, *bone))))
        });
        self.set_parts();
        Ok(())
    }

    /// Takes the weights of the states of a state machine.
    pub(super) fn follow_machine(&mut self, ragdolls: &[RagdollOutput], masks: &[BoneMask]) {
        if self.driver == Driver::Script && self.phase != Phase::Animated {
            return;
        }
        let before = self.fade;
        let weight = ragdolls.iter().fold(0.0_f32, |most, it| most.max(it.weight));
        if weight <= 0.0 {
            self.failed = false;
            if self.driver == Driver::StateMachine {
                self.fade = 0.0;
                match self.phase {
                    Phase::Simulated => self.phase = Phase::Ending(0.0),
                    Phase::Beginning | Phase::Fading(_) => self.phase = Phase::Animated,
                    Phase::Animated | Phase::Ending(_) => {}
                }
            }
            return;
        }
        let before = if self.driver == Driver::StateMachine { before } else { 0.0 };
        (self.driver, self.fade) = (Driver::StateMachine, weight);
        let shared = self.shared.clone();
        self.set_weights(|body| {
            let bone = usize::from(shared.ragdoll.bodies()[body].bone);
            let of = |it: &RagdollOutput| {
                let mask = it.mask.and_then(|mask| masks.get(usize::from(mask)));
                mask.and_then(|mask| mask.find_weight(bone)).unwrap_or(1.0) * it.weight / weight
            };
            ragdolls.iter().map(of).fold(0.0, f32::max)
        });
        let has_new = |it: &CharacterRagdoll| {
            let roles = it.parts.iter().zip(&it.weights);
            roles.into_iter().any(|(part, weight)| *weight > 0.0 && *part != RagdollPart::Simulated)
        };
        match self.phase {
            Phase::Animated | Phase::Fading(_) if weight >= before && !self.failed => {
                self.phase = Phase::Beginning;
            }
            Phase::Simulated if weight < before => self.phase = Phase::Ending(0.0),
            Phase::Simulated if has_new(self) => self.phase = Phase::Beginning,
            _ => {}
        }
    }

    /// Returns true while the ragdoll affects the pose.
    pub(super) fn is_busy(&self) -> bool {
        self.phase != Phase::Animated
    }

    /// Takes the pose of the previous update and the seconds since then, before this update is
    /// evaluated. Returns true if other bones may move than before.
    pub(super) fn begin_update(&mut self, pose: &Pose, seconds: f32) -> bool {
        self.seconds = if seconds > 0.0 && seconds.is_finite() { seconds } else { 0.0 };
        if self.phase == Phase::Beginning {
            self.held.clone_from(pose);
        }
        let is_busy = self.is_busy();
        std::mem::replace(&mut self.was_busy, is_busy) || is_busy
    }

    /// Takes the transform of the unit.
    pub(super) fn set_world(&mut self, row: u32, units: &mut Units) {
        let matrix = units.scene.world(row, 0);
        self.world = unit_transform(matrix, units.scene.world_rotation(row, 0));
    }

    /// Keeps the transforms of this update, after constraints were applied.
    pub(super) fn end_update(
        &mut self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        matrices: &mut [ModelMatrix],
    ) {
        self.record(&ModelPose { skeleton, pose, matrices });
    }

    /// Sets transforms and velocities with which bodies begin: those of the last two updates, or,
    /// before these exist, those of a pose at rest. A character that was teleported since then
    /// takes its motion along.
    pub(super) fn set_start(&mut self, rig: &ModelPose) {
        let ragdoll = &self.shared.ragdoll;
        let History { transforms: [new, old], units, seconds } = &self.history;
        if new.len() != ragdoll.bodies().len() {
            ragdoll.bodies_of_pose(rig, &self.world, &mut self.transforms);
            self.velocities.fill(BodyVelocity::ZERO);
            return;
        }
        let pairs = || new.iter().zip(old);
        let is_moving = old.len() == new.len()
            && *seconds > 0.0
            && !pairs().any(|(after, before)| is_teleport(before, after, *seconds));
        self.velocities.fill(BodyVelocity::ZERO);
        if is_moving {
            for (velocity, (after, before)) in self.velocities.iter_mut().zip(pairs()) {
                *velocity = hand_over_velocity(before, after, *seconds);
            }
        }
        self.transforms.clone_from(new);
        let moved = (self.world.position - units[0].position).length();
        let speed = self.velocities[0].linear.length();
        if moved.is_nan() || moved > 2.0 * speed * *seconds + MOVE_SLOP {
            let now = self.unit_transform();
            for transform in &mut self.transforms {
                *transform = follow_frame(transform, &units[0], &now);
            }
        }
    }

    fn unit_transform(&self) -> RigidTransform {
        RigidTransform { position: self.world.position, rotation: self.world.rotation }
    }

    /// Begins a ragdoll of a script, whose bodies exist from now on.
    pub(super) fn begin_by_script(&mut self, pose: &Pose) {
        (self.driver, self.phase, self.fade) = (Driver::Script, Phase::Simulated, 1.0);
        self.held.clone_from(pose);
        self.exists.fill(true);
    }

    /// Changes an evaluated pose by the ragdoll, and updates its matrices.
    pub(super) fn apply(
        &mut self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        matrices: &mut [ModelMatrix],
    ) {
        let shared = self.shared.clone();
        let ragdoll = &shared.ragdoll;
        let mut rig = ModelPose { skeleton, pose, matrices };
        if self.is_active() {
            ragdoll.bodies_of_pose(&rig, &self.world, &mut self.animated);
            ragdoll.motor_targets(&rig, &mut self.targets);
        }
        match self.phase {
            Phase::Animated => {}
            Phase::Beginning => {
                self.begin(&mut rig);
                self.show(&mut rig);
            }
            Phase::Simulated => self.show(&mut rig),
            Phase::Ending(seconds) => self.freeze(&mut rig, seconds),
            Phase::Fading([passed, total]) => {
                let passed = passed + self.seconds;
                self.phase = match self.driver == Driver::Script && passed >= total {
                    true => Phase::Animated,
                    false => Phase::Fading([passed, total]),
                };
                self.fade_out(&mut rig);
            }
        }
    }

    /// Begins the ragdoll of a state machine. Bodies continue their motion in this update.
    fn begin(&mut self, rig: &mut ModelPose) {
        self.set_parts();
        let has_history = !self.history.transforms[0].is_empty();
        if !has_history {
            self.held.clone_from(rig.pose);
        }
        self.set_start(rig);
        for (transform, velocity) in self.transforms.iter_mut().zip(&self.velocities) {
            *transform = advance_transform(transform, velocity, self.seconds);
        }
        self.exists.fill(true);
        self.phase = Phase::Simulated;
        self.changes.begins = true;
    }

    /// Moves bones to their bodies. Other bones below the first body keep the held pose, except if
    /// motors follow the animation.
    fn show(&mut self, rig: &mut ModelPose) {
        let passive = 1.0 - self.strength;
        hold_pose(rig.pose, &self.held, |bone| {
            let weight = self.shared.body_of(bone).map_or(0.0, |body| self.weights[body]);
            weight * self.fade * passive
        });
        let mut weights = [0.0; engine_animation::ragdoll::BODIES_MAX];
        for (index, weight) in weights.iter_mut().enumerate().take(self.parts.len()) {
            if self.parts[index] == RagdollPart::Simulated && self.exists[index] {
                *weight = self.weights[index] * self.fade;
            }
        }
        let weights = &weights[..self.parts.len()];
        self.shared.ragdoll.pose_of_bodies(rig, &self.world, &self.transforms, weights);
    }

    /// Ends the simulation: the unit moves to the pelvis, and the pose of the bodies is kept, to
    /// fade out.
    fn freeze(&mut self, rig: &mut ModelPose, seconds: f32) {
        self.changes.ends = true;
        if self.is_full() && self.exists[0] {
            let bone = self.shared.ragdoll.bodies()[0].bone;
            let position = self.world.scale * rig.origin(bone);
            let in_clip = RigidTransform { position, rotation: rig.rotation(bone) };
            let pelvis = self.transforms[0];
            let height = self.ground.unwrap_or(pelvis.position.z - position.z);
            let moved = get_up_transform(&pelvis, &in_clip, height);
            (self.world.position, self.world.rotation) = (moved.position, moved.rotation);
            self.changes.unit = Some(moved);
        }
        let is_over = self.driver == Driver::Script && seconds <= 0.0;
        if is_over || self.fade <= 0.0 {
            self.phase = Phase::Animated;
            return;
        }
        let fade = std::mem::replace(&mut self.fade, 1.0);
        self.scratch.clone_from(rig.pose);
        self.show(rig);
        std::mem::swap(rig.pose, &mut self.scratch);
        std::mem::swap(&mut self.held, &mut self.scratch);
        self.fade = fade;
        self.phase = Phase::Fading([0.0, seconds]);
        self.fade_out(rig);
    }

    /// Blends the held pose into that of the animation.
    fn fade_out(&mut self, rig: &mut ModelPose) {
        let weight = match (self.phase, self.driver) {
            (Phase::Fading(_), Driver::StateMachine) => self.fade,
            (Phase::Fading([passed, total]), Driver::Script) => {
                let part = passed / total;
                1.0 - part * part * (3.0 - 2.0 * part)
            }
            _ => 0.0,
        };
        hold_pose(rig.pose, &self.held, |bone| {
            self.shared.body_of(bone).map_or(0.0, |body| self.weights[body]) * weight
        });
        rig.update_subtree(self.shared.ragdoll.bodies()[0].bone);
    }

    /// Keeps the transforms of this update.
    fn record(&mut self, rig: &ModelPose) {
        if self.seconds <= 0.0 {
            return;
        }
        let now = self.unit_transform();
        let History { transforms: [new, old], units, seconds } = &mut self.history;
        std::mem::swap(new, old);
        self.shared.ragdoll.bodies_of_pose(rig, &self.world, new);
        (units[1], units[0], *seconds) = (units[0], now, self.seconds);
    }

    /// Writes the state that must be equal in every run.
    pub(super) fn write_state(&self, hash: &mut StateHash) {
        let (number, times) = match self.phase {
            Phase::Animated => (0, [0.0; 2]),
            Phase::Beginning => (1, [0.0; 2]),
            Phase::Simulated => (2, [0.0; 2]),
            Phase::Ending(seconds) => (3, [0.0, seconds]),
            Phase::Fading(times) => (4, times),
        };
        hash.write_u64(number << 8 | self.driver as u64);
        times.into_iter().chain([self.fade, self.strength]).for_each(|it| hash.write_f32(it));
        for (part, weight) in self.parts.iter().zip(&self.weights) {
            hash.write_u64(*part as u64);
            hash.write_f32(*weight);
        }
        self.held.write_state(hash);
        let History { transforms, units, seconds } = &self.history;
        for RigidTransform { position, rotation } in transforms.iter().flatten().chain(units) {
            let numbers = position.to_array().into_iter().chain(rotation.to_array());
            numbers.for_each(|number| hash.write_f32(number));
        }
        hash.write_f32(*seconds);
        [self.failed, self.was_busy].iter().for_each(|is| hash.write_u64((*is).into()));
        self.exists.iter().for_each(|exists| hash.write_u64((*exists).into()));
        hash.write_u64(self.ground.is_some().into());
        hash.write_f32(self.ground.unwrap_or(0.0));
    }
}

impl BoundMachine {
    /// Returns true if a state is a ragdoll.
    pub fn has_ragdolls(&self) -> bool {
        let is_ragdoll = |it: &State| matches!(it.kind, StateKind::Ragdoll { .. });
        self.machine.states().iter().any(is_ragdoll)
    }
}

impl CharacterMachine {
    /// Returns the weights of ragdolls after the last update, and the masks. A machine that stands
    /// still, or that is not bound to the skeleton of the model, has none.
    pub(super) fn ragdolls(&self) -> (&[RagdollOutput], &[BoneMask]) {
        let ragdolls = if self.is_active() { &self.output().ragdolls[..] } else { &[] };
        (ragdolls, &self.bound.masks)
    }
}

/// Returns the position, rotation and scale of a unit.
fn unit_transform(matrix: engine_foundation::Mat4, rotation: Quat) -> BoneTransform {
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate());
    let mirrored = axes[0].cross(axes[1]).dot(axes[2]) < 0.0;
    let scale = Vec3::from_array(axes.map(|axis| axis.length()));
    BoneTransform {
        position: matrix.w_axis.truncate(),
        rotation,
        scale: if mirrored { -scale } else { scale },
    }
}
