//! Uniform tracks: they have a key, or keyframe, at each of a number of regular times. All keys of
//! a keyframe are needed at the same time. They are stored as whole steps of a size that each track
//! has, as differences from an extrapolation of the two keyframes before, with as few bits as a
//! block of keyframes needs.
//!
//! The differences are whole numbers, so that the sum of a sequence of them is exact: a player that
//! starts at any keyframe has the same numbers as one that read all keyframes before it.

use super::bit_stream::{BITS_MAX, BitReader, BitWriter, PADDING, fold, unfold, width};
use super::lanes::Unit;
use super::source::TrackProperty;
use super::uniform_group::GroupBlock;
use super::uniform_layout::UniformLayout;
use super::uniform_state::{UniformState, UniformStates};
use engine_foundation::{Error, Quat, Vec3, error};
use std::sync::Arc;

/// Keyframes of a block: the bits of the differences and the kind of extrapolation are the same in
/// it.
pub const BLOCK_KEYFRAMES: u32 = 6;
/// Maximum number of keyframes of a clip: 600 seconds at 109 keyframes a second.
pub const KEYFRAMES_MAX: u32 = 1 << 16;
/// Maximum number of saved states of a clip. Their number is also limited by `jump_keyframes`.
pub const UNIFORM_STATES_MAX: u32 = 256;
/// Limit of the stored numbers.
pub const STEPS_MAX: i32 = 1 << 21;
/// Largest absolute value that the numbers of a position or scale can have: more than that of
/// sources (`VALUE_MAX`), because steps are rounded up.
pub const UNIFORM_REACH_MAX: f32 = 8e6;
/// Largest code of a step of a rotation: the steps are 2^20 times smaller than numbers of a
/// quaternion.
pub const STEP_CODE_MAX: u8 = 160;
/// Parts of a step whose code is not a multiple of 8: the powers of 2 of 0 to -7/8.
const STEP_PARTS: [f32; 8] = [
    1.0,
    0.917_004_05,
    0.840_896_4,
    0.771_105_4,
    0.707_106_77,
    0.648_419_8,
    0.594_603_54,
    0.545_253_9,
];
/// Parts of the previous difference that an extrapolation adds to the previous number. The last
/// one averages noise.
const SLOPES: [f32; 4] = [1.0, 0.5, 0.0, -0.5];
/// Unit of the stored mean of a rotation.
const MEAN_UNIT: f32 = 1.0 / 32767.0;
/// Units between the means that the compiler chooses, which need fewer bytes.
pub const MEAN_STEP: i16 = 256;
/// Bits of a number of bits.
const WIDTH_BITS: u32 = 5;
/// Maximum change of the bits of a number between two blocks.
const WIDTH_CHANGE_MAX: u32 = 2 * BITS_MAX;

/// Returns the size of a step of a rotation.
fn step_size(code: u8) -> f32 {
    STEP_PARTS[usize::from(code % 8)] / (1_u32 << (code / 8)) as f32
}

/// Track with a key in every keyframe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UniformTrack {
    pub bone: u16,
    /// Rotation, position or scale.
    pub property: TrackProperty,
    /// Rotations: true if all four numbers are stored, because the real part gets small. Without
    /// it, rotations are relative to `mean`, and their real part follows from the others.
    pub has_real: bool,
    /// Imaginary parts of the mean rotation.
    pub mean: [i16; 3],
    /// Value of the number 0 of positions and scales.
    pub origin: Vec3,
    /// Size of a step of each component.
    pub step: Vec3,
    /// Codes of the steps of rotations. If the real part is stored, all steps are equal.
    pub step_codes: [u8; 3],
}

impl UniformTrack {
    /// Returns the number of stored components.
    pub fn components(&self) -> usize {
        3 + usize::from(self.has_real)
    }

    /// Returns the mean rotation.
    pub fn mean_rotation(&self) -> Quat {
        if self.has_real {
            return Quat::IDENTITY;
        }
        let part = Vec3::from_array(self.mean.map(|part| f32::from(part) * MEAN_UNIT));
        let square = part.x * part.x + part.y * part.y + part.z * part.z;
        let real = (1.0 - square).max(0.0).sqrt();
        Quat::from_xyzw(part.x, part.y, part.z, real)
    }

    /// Sets the steps of a rotation to the sizes with these codes.
    pub fn set_step_codes(&mut self, codes: [u8; 3]) {
        self.step_codes = codes;
        self.step = Vec3::from_array(codes.map(step_size));
    }

    /// Sets the steps of a rotation to the largest sizes that are not above these.
    pub fn set_rotation_steps(&mut self, steps: Vec3) {
        let code = |step: f32| {
            let is_fine = |code: &u8| step_size(*code) <= step;
            (32..=STEP_CODE_MAX).find(is_fine).unwrap_or(STEP_CODE_MAX)
        };
        let codes = steps.to_array().map(code);
        let finest = codes.into_iter().max().unwrap_or(STEP_CODE_MAX);
        self.set_step_codes(if self.has_real { [finest; 3] } else { codes });
    }

    /// Returns true if no number of a position or scale is beyond [`UNIFORM_REACH_MAX`].
    pub fn is_within_reach(&self) -> bool {
        let reach = self.origin.abs() + self.step.abs() * STEPS_MAX as f32;
        reach.max_element() <= UNIFORM_REACH_MAX
    }

    /// Sets the mean rotation, rounded to its stored form.
    pub fn set_mean(&mut self, mean: Quat) {
        let mean = mean.normalize();
        let mean = if mean.w < 0.0 { -mean } else { mean };
        self.mean = [mean.x, mean.y, mean.z].map(|part| (part / MEAN_UNIT).round() as i16);
    }

    /// Sets the mean rotation, rounded to a multiple of [`MEAN_STEP`]: numbers that are computed
    /// afterwards are relative to it, so that it need not be exact.
    pub fn set_short_mean(&mut self, mean: Quat) {
        self.set_mean(mean);
        let least = i16::MIN / MEAN_STEP;
        let rounded = |part: i16| f32::from(part) / f32::from(MEAN_STEP);
        self.mean = self
            .mean
            .map(|part| (rounded(part).round() as i16).clamp(least, -least - 1) * MEAN_STEP);
    }
}

/// Numbers of a track in one keyframe.
pub type UniformValue = [i32; 4];

/// Blocks of keyframes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Blocks {
    /// Position of the first keyframe of each block in bits.
    pub offsets: Vec<usize>,
    /// The groups of the first block, then those of the second, and so on.
    groups: Vec<GroupBlock>,
    group_count: usize,
}

impl Blocks {
    /// Returns the groups of a block.
    #[inline(always)]
    pub fn of(&self, block: usize) -> &[GroupBlock] {
        &self.groups[block * self.group_count..][..self.group_count]
    }
}

/// The keyframes of a clip.
#[derive(Clone, PartialEq, Debug)]
pub struct UniformTracks {
    /// Number of keyframes: 0, or at least 2. The last one is at the end of the clip.
    pub(super) count: u32,
    /// Sorted by property and bone.
    pub(super) tracks: Vec<UniformTrack>,
    /// Numbers of the first keyframe, then each block, with the padding of [`PADDING`] bytes.
    pub(super) stream: Vec<u8>,
    /// Keyframes between two saved states.
    pub(super) state_keyframes: u32,
    pub(super) layout: Arc<UniformLayout>,
    pub(super) blocks: Blocks,
    /// Numbers of the first keyframe, for each group.
    pub(super) start: Vec<[[f32; 4]; 4]>,
    /// States at keyframe 0, and after each `state_keyframes` keyframes.
    pub(super) states: UniformStates,
}

/// Returns the block of a keyframe. The second keyframe is a block of its own, because nothing is
/// known of the speed before it.
#[inline]
pub(super) fn block_of(keyframe: u32) -> usize {
    ((keyframe + BLOCK_KEYFRAMES - 2) / BLOCK_KEYFRAMES) as usize
}

/// Returns the first keyframe of a block.
fn block_start(block: usize) -> u32 {
    match block {
        0 => 1,
        _ => 2 + (block as u32 - 1) * BLOCK_KEYFRAMES,
    }
}

impl UniformTracks {
    /// Keyframes of a clip that has none.
    pub fn none() -> UniformTracks {
        UniformTracks {
            count: 0,
            tracks: Vec::new(),
            stream: Vec::new(),
            state_keyframes: 1,
            layout: Arc::default(),
            blocks: Blocks::default(),
            start: Vec::new(),
            states: UniformStates::default(),
        }
    }

    /// Creates the keyframes of a stream. `state_keyframes` is the wanted number of keyframes
    /// between saved states. Everything that a player relies on is checked.
    ///
    /// # Errors
    /// Fails if the stream is damaged, or if there is no memory for the saved states.
    pub fn new(
        count: u32,
        tracks: Vec<UniformTrack>,
        stream: Vec<u8>,
        state_keyframes: u32,
    ) -> Result<UniformTracks, Error> {
        if count == 0 && tracks.is_empty() && stream.is_empty() {
            return Ok(UniformTracks::none());
        }
        if !(2..=KEYFRAMES_MAX).contains(&count) || tracks.is_empty() {
            return Err(error!("it is damaged: the clip has {count} keyframes"));
        }
        let damaged = || error!("it is damaged: a keyframe of the clip is not valid");
        let layout = Arc::new(UniformLayout::new(&tracks));
        let state_keyframes = state_keyframes.max(count.div_ceil(UNIFORM_STATES_MAX)).max(1);
        let block_bytes = layout.group_count() * size_of::<GroupBlock>() + size_of::<usize>();
        let state_bytes = layout.unit_count() * size_of::<Unit>() + size_of::<(u32, usize)>();
        let states = (count / state_keyframes) as usize + 1;
        let bytes = block_bytes * (block_of(count - 1) + 1) + state_bytes * states;
        engine_foundation::memory::limit::check_room(bytes)?;
        let (start, blocks) = read_blocks(count, &tracks, &layout, &stream).ok_or_else(damaged)?;
        let states = UniformStates::default();
        let mut keyframes =
            UniformTracks { count, tracks, stream, state_keyframes, layout, blocks, start, states };
        let bounds = keyframes.check_numbers()?;
        let mut layout = UniformLayout::clone(&keyframes.layout);
        layout.narrow(&bounds);
        keyframes.layout = Arc::new(layout);
        keyframes.save_states();
        Ok(keyframes)
    }

    /// Reads all keyframes once, and returns the largest absolute number of each group.
    ///
    /// # Errors
    /// Fails if a number is too large.
    fn check_numbers(&self) -> Result<Vec<f32>, Error> {
        let mut bounds = vec![0.0; self.layout.group_count()];
        let mut state = UniformState::new(&self.layout);
        state.load_start(self);
        state.add_to_bounds(&self.layout, &mut bounds);
        for keyframe in 1..self.count {
            state.read_keyframe(self);
            state.add_to_bounds(&self.layout, &mut bounds);
            if bounds.iter().any(|bound| *bound > STEPS_MAX as f32) {
                return Err(error!("it is damaged: a number of keyframe {keyframe} is too large"));
            }
        }
        Ok(bounds)
    }

    /// Saves the states at regular keyframes.
    pub(super) fn save_states(&mut self) {
        let mut state = UniformState::new(&self.layout);
        state.load_start(self);
        let mut states = UniformStates::default();
        for keyframe in 0..self.count - 1 {
            state.read_keyframe(self);
            // The state of keyframe 0 has the keyframes 0 and 1.
            if keyframe.is_multiple_of(self.state_keyframes) {
                states.save(&state);
            }
        }
        self.states = states;
    }

    /// Returns the bytes of memory, about.
    pub fn memory_bytes(&self) -> usize {
        let block = self.layout.group_count() * size_of::<GroupBlock>() + size_of::<usize>();
        let state = self.layout.unit_count() * size_of::<Unit>();
        self.stream.len()
            + size_of_val(&self.tracks[..]) * 4
            + self.blocks.offsets.len() * block
            + self.states.count() * state
    }

    /// Returns the numbers of every keyframe of every track.
    pub fn values(&self) -> Vec<Vec<UniformValue>> {
        let mut values = vec![Vec::with_capacity(self.count as usize); self.tracks.len()];
        if self.count == 0 {
            return values;
        }
        let mut state = UniformState::new(&self.layout);
        state.load_start(self);
        for keyframe in 0..self.count {
            for (values, numbers) in values.iter_mut().zip(state.numbers(&self.layout)) {
                values.push(numbers);
            }
            if keyframe + 1 < self.count {
                state.read_keyframe(self);
            }
        }
        values
    }

    /// Creates the keyframes of tracks from their numbers: as many of each track.
    ///
    /// # Errors
    /// Fails if the numbers are too large.
    pub fn encode(
        tracks: Vec<UniformTrack>,
        values: &[impl AsRef<[UniformValue]>],
        state_keyframes: u32,
    ) -> Result<UniformTracks, Error> {
        let values: Vec<&[UniformValue]> = values.iter().map(AsRef::as_ref).collect();
        let count = values.first().map_or(0, |values| values.len()) as u32;
        if count < 2 {
            return Ok(UniformTracks::none());
        }
        if values.iter().copied().flatten().flatten().any(|value| value.abs() > STEPS_MAX) {
            return Err(error!("a key has more than {STEPS_MAX} steps (STEPS_MAX)"));
        }
        let mut writer = BitWriter::default();
        for (track, values) in tracks.iter().zip(&values) {
            let numbers = &values[0][..track.components()];
            writer.write(width_of(numbers), WIDTH_BITS);
            numbers.iter().for_each(|number| writer.write(fold(*number), width_of(numbers)));
        }
        let changes: Vec<Vec<i32>> = tracks
            .iter()
            .zip(&values)
            .map(|(track, values)| {
                (0..track.components()).map(|axis| values[1][axis] - values[0][axis]).collect()
            })
            .collect();
        changes.iter().for_each(|changes| writer.write(width_of(changes), WIDTH_BITS));
        for changes in &changes {
            changes.iter().for_each(|change| writer.write(fold(*change), width_of(changes)));
        }
        let mut widths = vec![[0; 4]; tracks.len()];
        let mut chosen = vec![TrackBlock::default(); tracks.len()];
        for block in 1..=block_of(count - 1) {
            let keyframes = block_start(block)..block_start(block + 1).min(count);
            for (number, values) in values.iter().enumerate() {
                let components = tracks[number].components();
                chosen[number] = TrackBlock::choose(values, components, keyframes.clone());
                writer.write(chosen[number].slope, 2);
                let new = &chosen[number].widths[..components];
                for (bits, width) in new.iter().zip(&mut widths[number]) {
                    match block {
                        1 => writer.write(*bits, WIDTH_BITS),
                        _ => writer.write_count(fold(*bits as i32 - *width as i32)),
                    }
                    *width = *bits;
                }
            }
            for keyframe in keyframes {
                for (number, values) in values.iter().enumerate() {
                    let (block, components) = (&chosen[number], tracks[number].components());
                    for component in 0..components {
                        let difference = difference(values, component, keyframe, block.slope);
                        writer.write(fold(difference), block.widths[component]);
                    }
                }
            }
        }
        UniformTracks::new(count, tracks, writer.finish(), state_keyframes)
    }

    /// Returns the bits that the keyframes of a track take.
    pub fn bits_of_track(values: &[UniformValue], components: usize) -> usize {
        let count = values.len() as u32;
        if count < 2 {
            return 0;
        }
        let blocks = 1..=block_of(count - 1);
        let bits = blocks.map(|block| {
            let keyframes = block_start(block)..block_start(block + 1).min(count);
            let chosen = TrackBlock::choose(values, components, keyframes.clone());
            let keyframe: u32 = chosen.widths.iter().sum();
            // The header has about 2 bits for each component.
            keyframes.len() * keyframe as usize + 2 + 2 * components
        });
        // The first two keyframes have about 10 bits for each component, and their widths.
        2 * (WIDTH_BITS as usize + 10 * components) + bits.sum::<usize>()
    }
}

/// Bits and extrapolation of a track in a block.
#[derive(Clone, Copy, Default)]
struct TrackBlock {
    /// Index of [`SLOPES`].
    slope: u32,
    widths: [u32; 4],
}

impl TrackBlock {
    /// Chooses the extrapolation with the fewest bits.
    fn choose(
        values: &[UniformValue],
        components: usize,
        keyframes: std::ops::Range<u32>,
    ) -> TrackBlock {
        let candidate = |slope: u32| {
            let mut widths = [0; 4];
            for (component, bits) in widths.iter_mut().enumerate().take(components) {
                let all = keyframes
                    .clone()
                    .map(|keyframe| fold(difference(values, component, keyframe, slope)));
                *bits = width(all.max().unwrap_or(0));
            }
            TrackBlock { slope, widths }
        };
        // Without an extrapolation, differences always have few enough bits.
        let fits = |it: &TrackBlock| it.widths.iter().all(|bits| *bits <= BITS_MAX);
        let candidates = (0..SLOPES.len() as u32).map(candidate).filter(fits);
        let best = candidates.min_by_key(|it| it.widths.iter().sum::<u32>());
        best.unwrap_or_else(|| candidate(2))
    }
}

/// Returns the difference of a number from its extrapolation.
fn difference(values: &[UniformValue], component: usize, keyframe: u32, slope: u32) -> i32 {
    let at = |keyframe: u32| values[keyframe as usize][component];
    let before = at(keyframe - 1);
    let earlier = if keyframe > 1 { at(keyframe - 2) } else { before };
    at(keyframe) - extrapolate(before as f32, earlier as f32, SLOPES[slope as usize]) as i32
}

/// Number whose last bit is 1: the addition rounds numbers below 2^22 to whole ones.
pub(super) const ROUND: f32 = 12_582_912.0;

/// Returns the whole number that is expected after two others, as [`UniformState`] computes it.
fn extrapolate(before: f32, earlier: f32, slope: f32) -> f32 {
    (before + (before - earlier) * slope) + ROUND - ROUND
}

/// Returns how many bits the largest of some numbers has.
fn width_of(numbers: &[i32]) -> u32 {
    numbers.iter().map(|number| width(fold(*number))).max().unwrap_or(0)
}

/// Numbers of the first keyframe, for each group.
type Start = Vec<[[f32; 4]; 4]>;

/// Reads the numbers of the first keyframe and the head of each block.
fn read_blocks(
    count: u32,
    tracks: &[UniformTrack],
    layout: &UniformLayout,
    stream: &[u8],
) -> Option<(Start, Blocks)> {
    if stream.len() < PADDING || stream[stream.len() - PADDING..].iter().any(|byte| *byte != 0) {
        return None;
    }
    let mut reader = BitReader::new(stream);
    let mut start = vec![[[0.0; 4]; 4]; layout.group_count()];
    for (track, (group, lane)) in tracks.iter().zip(layout.slots()) {
        let bits = reader.read(WIDTH_BITS).filter(|bits| *bits <= BITS_MAX)?;
        for numbers in start[group].iter_mut().take(track.components()) {
            numbers[lane] = unfold(reader.read(bits)?) as f32;
        }
    }
    let group_count = layout.group_count();
    let mut blocks = Blocks { group_count, ..Blocks::default() };
    let mut groups = vec![GroupBlock::default(); layout.group_count()];
    for block in 0..=block_of(count - 1) {
        for (track, (group, lane)) in tracks.iter().zip(layout.slots()) {
            let it = &mut groups[group];
            // The second keyframe has as many bits for each component, and no extrapolation.
            let equal = if block == 0 { Some(reader.read(WIDTH_BITS)?) } else { None };
            if block > 0 {
                it.slopes[lane] = SLOPES[reader.read(2)? as usize];
            }
            for widths in it.widths.iter_mut().take(track.components()) {
                let bits = match (equal, block) {
                    (Some(bits), _) => bits as i32,
                    (None, 1) => reader.read(WIDTH_BITS)? as i32,
                    _ => i32::from(widths[lane]) + unfold(reader.read_count(WIDTH_CHANGE_MAX)?),
                };
                widths[lane] = u8::try_from(bits).ok().filter(|it| u32::from(*it) <= BITS_MAX)?;
            }
        }
        groups.iter_mut().for_each(GroupBlock::compute_starts);
        let keyframe_bits: usize = groups.iter().map(GroupBlock::bits).sum();
        let keyframes = block_start(block + 1).min(count) - block_start(block);
        let offset = reader.position();
        reader.skip(keyframe_bits * keyframes as usize)?;
        blocks.offsets.push(offset);
        blocks.groups.extend_from_slice(&groups);
    }
    reader.is_done().then_some((start, blocks))
}
