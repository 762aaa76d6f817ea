//! Spring bones: chains of bones that swing behind the movement of a character, such as hair, tails
//! and the ends of coats. Each joint is a particle at a fixed distance from its parent.
//!
//! The simulation runs in world space in fixed steps, between which the shown pose is interpolated,
//! so that it is independent of the frame rate.

use super::{
    LENGTH_MIN, ModelPose, blend_rotations, check_below, find_bone, shortest_arc, valid_weight,
};
use crate::skeleton::{BoneTransform, Skeleton};
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::{Error, Quat, Vec3, error};

/// Length of a step of the simulation in seconds.
pub const SPRING_STEP_SECONDS: f32 = 1.0 / 60.0;
/// Maximum number of bones of a chain.
pub const SPRING_BONES_MAX: usize = 64;
/// Maximum number of steps in one frame. After a longer frame, the rest of its time is skipped.
const STEPS_MAX: u32 = 8;
/// Movement of the first bone in one step, in lengths of the chain, from which on the character was
/// teleported: the chain then starts again in its animated pose.
const TELEPORT_LENGTHS: f32 = 10.0;

/// Physical properties of a chain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpringSettings {
    /// Acceleration in world space, in metres per second squared.
    pub gravity: Vec3,
    /// Acceleration towards the animated pose for each metre of distance, in 1 / second squared.
    /// 0 hangs freely; 3600 and above follow the animation stiffly.
    pub stiffness: f32,
    /// Loss of speed for each second, relative to the speed. 0 swings forever.
    pub damping: f32,
}

impl SpringSettings {
    /// A pony tail.
    pub const DEFAULT: SpringSettings =
        SpringSettings { gravity: Vec3::new(0.0, 0.0, -9.82), stiffness: 120.0, damping: 4.0 };
}

/// Chain of bones that swing.
#[derive(Clone, PartialEq, Debug)]
pub struct SpringChain {
    /// Bones from the first that turns to the last, whose position is only moved.
    pub(super) bones: Vec<u16>,
    settings: SpringSettings,
}

/// State of a chain. Contains everything for a snapshot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SpringState {
    /// Positions of the bones after the first in world space after the last step, and after the
    /// one before it.
    current: Vec<Vec3>,
    previous: Vec<Vec3>,
    /// Position of the first bone at these two steps.
    current_start: Vec3,
    previous_start: Vec3,
    /// Position and rotation of the first bone in world space at the last frame.
    anchor_position: Vec3,
    anchor_rotation: Quat,
    /// Seconds since the last step.
    remainder: f32,
}

impl SpringState {
    /// Makes the chain start again in its animated pose at the next frame.
    pub fn reset(&mut self) {
        self.current.clear();
        self.previous.clear();
        self.remainder = 0.0;
    }

    /// Calls `visit` for each number of the state.
    pub(super) fn each_number(&self, visit: &mut impl FnMut(f32)) {
        let SpringState { current_start, previous_start, anchor_position, .. } = self;
        let positions = self.current.iter().chain(&self.previous);
        for position in positions.chain([current_start, previous_start, anchor_position]) {
            position.to_array().into_iter().for_each(&mut *visit);
        }
        self.anchor_rotation.to_array().into_iter().for_each(&mut *visit);
        visit(self.remainder);
    }

    /// Returns the number of bones after the first one; 0 before the first frame.
    pub(super) fn bone_count(&self) -> usize {
        self.current.len()
    }

    /// Reads the numbers in the order of [`SpringState::each_number`].
    ///
    /// # Errors
    /// Fails if `next` fails, or if the numbers are not a state.
    pub(super) fn from_numbers(
        count: usize,
        mut next: impl FnMut() -> Result<f32, Error>,
    ) -> Result<SpringState, Error> {
        let mut vector = || Ok::<Vec3, Error>(Vec3::new(next()?, next()?, next()?));
        let mut vectors = || (0..count).map(|_| vector()).collect::<Result<Vec<Vec3>, Error>>();
        let (current, previous) = (vectors()?, vectors()?);
        let [current_start, previous_start, anchor_position] = [vector()?, vector()?, vector()?];
        let anchor_rotation = Quat::from_xyzw(next()?, next()?, next()?, next()?);
        let remainder = next()?;
        let state = SpringState {
            current,
            previous,
            current_start,
            previous_start,
            anchor_position,
            anchor_rotation,
            remainder,
        };
        let is_new = count == 0 && anchor_rotation.length_squared() == 0.0;
        let has_rotation = (0.9..1.1).contains(&anchor_rotation.length_squared()) || is_new;
        match has_rotation && (0.0..=SPRING_STEP_SECONDS).contains(&remainder) {
            true => Ok(state),
            false => Err(error!("the list of an animation state is not the state of a spring")),
        }
    }

    /// Returns true if all numbers are finite.
    fn is_finite(&self) -> bool {
        let positions = self.current.iter().chain(&self.previous);
        positions.chain([&self.current_start, &self.previous_start]).all(|it| it.is_finite())
    }

    /// Appends the state to a blob.
    pub fn write(&self, writer: &mut BlobWriter) {
        let vector = |writer: &mut BlobWriter, vector: &Vec3| {
            vector.to_array().iter().for_each(|number| writer.u32(number.to_bits()));
        };
        writer.list(&self.current, vector);
        writer.list(&self.previous, vector);
        vector(writer, &self.current_start);
        vector(writer, &self.previous_start);
        vector(writer, &self.anchor_position);
        self.anchor_rotation.to_array().iter().for_each(|number| writer.u32(number.to_bits()));
        writer.u32(self.remainder.to_bits());
    }

    /// Reads a state that [`SpringState::write`] wrote.
    ///
    /// # Errors
    /// Fails if the data is cut short or has numbers that are not valid.
    pub fn read(reader: &mut BlobReader) -> Result<SpringState, Error> {
        let vector = |reader: &mut BlobReader| {
            Ok(Vec3::new(reader.finite()?, reader.finite()?, reader.finite()?))
        };
        let most = (SPRING_BONES_MAX, "SPRING_BONES_MAX");
        let current = reader.list_at_most(most, vector)?;
        let previous = reader.list_at_most(most, vector)?;
        let [current_start, previous_start, anchor_position] =
            [vector(reader)?, vector(reader)?, vector(reader)?];
        let [x, y, z, w] = [reader.finite()?, reader.finite()?, reader.finite()?, reader.finite()?];
        let anchor_rotation = Quat::from_xyzw(x, y, z, w);
        let remainder = reader.finite()?;
        let valid = (0.9..1.1).contains(&anchor_rotation.length_squared())
            && (0.0..=SPRING_STEP_SECONDS).contains(&remainder)
            && current.len() == previous.len();
        match valid {
            true => Ok(SpringState {
                current,
                previous,
                current_start,
                previous_start,
                anchor_position,
                anchor_rotation,
                remainder,
            }),
            false => Err(error!("it is damaged: the state of a spring chain is not valid")),
        }
    }
}

/// Animated pose of a chain, relative to the frame of its first bone.
struct ChainPose {
    /// Offset of each bone from the previous one in its space, in metres of the world.
    offsets: [Vec3; SPRING_BONES_MAX],
    /// Local rotations.
    rotations: [Quat; SPRING_BONES_MAX],
}

impl SpringChain {
    /// Creates a chain from the first bone that turns to the last bone below it.
    ///
    /// # Errors
    /// Fails if a bone does not exist, if the last one is not below the first, if there are too
    /// many, or if a setting is not valid.
    pub fn new(
        skeleton: &Skeleton,
        [first, last]: [&str; 2],
        settings: SpringSettings,
    ) -> Result<SpringChain, Error> {
        let (start, end) = (find_bone(skeleton, first)?, find_bone(skeleton, last)?);
        check_below(skeleton, start, end)?;
        let mut bones = vec![end];
        while bones[bones.len() - 1] != start {
            let parent = skeleton.parents()[usize::from(bones[bones.len() - 1])];
            bones.push(parent.expect("the last bone is below the first"));
        }
        bones.reverse();
        if bones.len() > SPRING_BONES_MAX {
            return Err(error!(
                "the spring chain from '{first}' to '{last}' has {} bones, and {SPRING_BONES_MAX} \
                 are the most (SPRING_BONES_MAX)",
                bones.len()
            ));
        }
        for (name, value) in [("stiffness", settings.stiffness), ("damping", settings.damping)] {
            if !(0.0..=1e6).contains(&value) {
                return Err(error!("'{name}' is {value}: use a number from 0 to 1000000"));
            }
        }
        let strength = settings.gravity.length();
        if !strength.is_finite() || strength > 1e4 {
            return Err(error!("'gravity' is {}: use at most 10000 m/s²", settings.gravity));
        }
        Ok(SpringChain { bones, settings })
    }

    /// Advances the simulation by a number of seconds and turns the bones. `world` is the transform
    /// of the character; its scale should be uniform. The rotations of the chain in `rig` are those
    /// of the animation. Allocates when a chain starts.
    ///
    /// With a weight of 0, the simulation continues but turns no bone. Transforms that are not
    /// finite and a scale of 0 leave the pose as it is and restart the chain.
    pub fn apply(
        &self,
        rig: &mut ModelPose,
        state: &mut SpringState,
        world: &BoneTransform,
        seconds: f32,
        weight: f32,
    ) {
        let scale = world.scale.abs().max_element();
        let anchor_position =
            world.position + world.rotation * (world.scale * rig.origin(self.bones[0]));
        let anchor_rotation = (world.rotation * rig.parent_rotation(self.bones[0])).normalize();
        if !(anchor_position.is_finite() && anchor_rotation.is_finite() && scale > LENGTH_MIN) {
            return state.reset();
        }
        let Some(chain) = self.chain_pose(rig, scale) else { return state.reset() };
        let count = self.bones.len() - 1;
        if state.current.len() != count || !state.is_finite() {
            self.start(state, &chain, anchor_position, anchor_rotation);
        }
        let seconds = if seconds > 0.0 { seconds.min(1.0) } else { 0.0 };
        let (from_position, from_rotation) = (state.anchor_position, state.anchor_rotation);
        let start = state.remainder;
        let mut left = start + seconds;
        let mut steps = 0;
        while left >= SPRING_STEP_SECONDS {
            left -= SPRING_STEP_SECONDS;
            steps += 1;
            if steps <= STEPS_MAX {
                // The first bone at the time of the step, between the last frame and this one.
                let elapsed = steps as f32 * SPRING_STEP_SECONDS - start;
                let part = if seconds > 0.0 { (elapsed / seconds).clamp(0.0, 1.0) } else { 1.0 };
                let position = from_position + (anchor_position - from_position) * part;
                let rotation = blend_rotations(from_rotation, anchor_rotation, part);
                self.simulate(state, &chain, position, rotation);
            }
        }
        state.remainder = left.clamp(0.0, SPRING_STEP_SECONDS);
        (state.anchor_position, state.anchor_rotation) = (anchor_position, anchor_rotation);
        if let Some(weight) = valid_weight(weight) {
            self.show(rig, state, &chain, anchor_rotation, weight);
        }
    }

    /// Returns the animated pose of the chain, or `None` if a number is not finite.
    fn chain_pose(&self, rig: &ModelPose, scale: f32) -> Option<ChainPose> {
        let mut chain = ChainPose {
            offsets: [Vec3::ZERO; SPRING_BONES_MAX],
            rotations: [Quat::IDENTITY; SPRING_BONES_MAX],
        };
        let mut rotation = rig.parent_rotation(self.bones[0]);
        for (index, bone) in self.bones.iter().enumerate() {
            let local = rig.pose.transform(usize::from(*bone)).rotation;
            chain.rotations[index] = local;
            rotation = (rotation * local).normalize();
            if let Some(next) = self.bones.get(index + 1) {
                let offset = rig.origin(*next) - rig.origin(*bone);
                chain.offsets[index + 1] = rotation.conjugate() * offset * scale;
            }
            if !rotation.is_finite() || !chain.offsets[index].is_finite() {
                return None;
            }
        }
        Some(chain)
    }

    /// Starts the chain at rest in its animated pose.
    fn start(&self, state: &mut SpringState, chain: &ChainPose, start: Vec3, parent: Quat) {
        state.current.clear();
        let (mut head, mut rotation) = (start, parent);
        for index in 0..self.bones.len() - 1 {
            rotation = (rotation * chain.rotations[index]).normalize();
            head += rotation * chain.offsets[index + 1];
            state.current.push(head);
        }
        state.previous.clear();
        state.previous.extend_from_slice(&state.current);
        (state.current_start, state.previous_start) = (start, start);
        (state.anchor_position, state.anchor_rotation) = (start, parent);
        state.remainder = 0.0;
    }

    /// Simulates one step. `parent` is the rotation of the first bone's parent.
    fn simulate(&self, state: &mut SpringState, chain: &ChainPose, start: Vec3, parent: Quat) {
        let length: f32 = chain.offsets[1..self.bones.len()].iter().map(|it| it.length()).sum();
        if (start - state.current_start).length() > TELEPORT_LENGTHS * length.max(LENGTH_MIN) {
            return self.start(state, chain, start, parent);
        }
        let step = SPRING_STEP_SECONDS;
        let kept = 1.0 / (1.0 + self.settings.damping * step);
        let pull = (self.settings.stiffness * step * step).min(1.0);
        let fall = self.settings.gravity * (step * step);
        let (mut head, mut rotation) = (start, parent);
        for index in 0..self.bones.len() - 1 {
            rotation = (rotation * chain.rotations[index]).normalize();
            let offset = rotation * chain.offsets[index + 1];
            let (current, previous) = (state.current[index], state.previous[index]);
            let moved = current + (current - previous) * kept + fall;
            let moved = moved + (head + offset - moved) * pull;
            let direction = (moved - head).normalize_or(offset.normalize_or_zero());
            let moved = head + direction * offset.length();
            rotation = (shortest_arc(offset, direction) * rotation).normalize();
            (state.previous[index], state.current[index]) = (current, moved);
            head = moved;
        }
        (state.previous_start, state.current_start) = (state.current_start, start);
    }

    /// Turns the bones towards the particles, between the last two steps. Positions are relative to
    /// the first bone, so that the chain does not lag behind a moving character.
    fn show(
        &self,
        rig: &mut ModelPose,
        state: &SpringState,
        chain: &ChainPose,
        parent: Quat,
        weight: f32,
    ) {
        let part = state.remainder / SPRING_STEP_SECONDS;
        let (mut head, mut rotation) = (Vec3::ZERO, parent);
        for (index, bone) in self.bones[..self.bones.len() - 1].iter().enumerate() {
            let frame = (rotation * chain.rotations[index]).normalize();
            let offset = frame * chain.offsets[index + 1];
            let before = state.previous[index] - state.previous_start;
            let after = state.current[index] - state.current_start;
            let shown = before + (after - before) * part;
            let turned = (shortest_arc(offset, shown - head) * frame).normalize();
            // Relative to the parent as it is shown: `rotation` is the parent's in world space.
            rig.set_local_rotation(*bone, rotation.conjugate() * turned, weight);
            rotation = turned;
            head += turned * chain.offsets[index + 1];
        }
        rig.update_subtree(self.bones[0]);
    }
}
