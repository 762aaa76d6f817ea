//! Rows: tracks that have a key at each of a number of regular times. All keys of a row are needed
//! at the same time. They are stored as whole steps of a size that each track has, as differences
//! from an extrapolation of the two rows before, with as few bits as a block of rows needs.
//!
//! The differences are whole numbers, so that the sum of a sequence of them is exact: a player that
//! starts at any row has the same numbers as one that read all rows before it.

use super::bit_stream::{BITS_MAX, BitReader, BitWriter, PADDING, fold, unfold, width};
use super::lanes::Unit;
use super::row_group::GroupBlock;
use super::row_layout::RowLayout;
use super::row_state::{RowState, RowStates};
use super::source::TrackProperty;
use engine_foundation::{Error, Quat, Vec3, error};
use std::sync::Arc;

/// Rows of a block: the bits of the differences and the kind of extrapolation are the same in it.
pub const BLOCK_ROWS: u32 = 6;
/// Maximum number of rows of a clip: 600 seconds at 109 rows a second.
pub const ROWS_MAX: u32 = 1 << 16;
/// Maximum number of saved states of a clip. Their number is also limited by `jump_rows`.
pub const ROW_STATES_MAX: u32 = 256;
/// Limit of the stored numbers.
pub const STEPS_MAX: i32 = 1 << 21;
/// Largest absolute value that the numbers of a position or scale can have: more than that of
/// sources (`VALUE_MAX`), because steps are rounded up.
pub const ROW_REACH_MAX: f32 = 8e6;
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

/// Track with a key in every row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RowTrack {
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

impl RowTrack {
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

    /// Returns true if no number of a position or scale is beyond [`ROW_REACH_MAX`].
    pub fn is_within_reach(&self) -> bool {
        let reach = self.origin.abs() + self.step.abs() * STEPS_MAX as f32;
        reach.max_element() <= ROW_REACH_MAX
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

/// Numbers of a track in one row.
pub type RowValue = [i32; 4];

/// Blocks of rows.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Blocks {
    /// Position of the first row of each block in bits.
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

/// The rows of a clip.
#[derive(Clone, PartialEq, Debug)]
pub struct Rows {
    /// Number of rows: 0, or at least 2. The last one is at the end of the clip.
    pub(super) count: u32,
    /// Sorted by property and bone.
    pub(super) tracks: Vec<RowTrack>,
    /// Numbers of the first row, then each block, with the padding of [`PADDING`] bytes.
    pub(super) stream: Vec<u8>,
    /// Rows between two saved states.
    pub(super) state_rows: u32,
    pub(super) layout: Arc<RowLayout>,
    pub(super) blocks: Blocks,
    /// Numbers of the first row, for each group.
    pub(super) start: Vec<[[f32; 4]; 4]>,
    /// States at row 0, and after each `state_rows` rows.
    pub(super) states: RowStates,
}

/// Returns the block of a row. The second row is a block of its own, because nothing is known of
/// the speed before it.
#[inline]
pub(super) fn block_of(row: u32) -> usize {
    ((row + BLOCK_ROWS - 2) / BLOCK_ROWS) as usize
}

/// Returns the first row of a block.
fn block_start(block: usize) -> u32 {
    match block {
        0 => 1,
        _ => 2 + (block as u32 - 1) * BLOCK_ROWS,
    }
}

impl Rows {
    /// Rows of a clip that has none.
    pub fn none() -> Rows {
        Rows {
            count: 0,
            tracks: Vec::new(),
            stream: Vec::new(),
            state_rows: 1,
            layout: Arc::default(),
            blocks: Blocks::default(),
            start: Vec::new(),
            states: RowStates::default(),
        }
    }

    /// Creates the rows of a stream. `state_rows` is the wanted number of rows between saved
    /// states. Everything that a player relies on is checked.
    ///
    /// # Errors
    /// Fails if the stream is damaged, or if there is no memory for the saved states.
    pub fn new(
        count: u32,
        tracks: Vec<RowTrack>,
        stream: Vec<u8>,
        state_rows: u32,
    ) -> Result<Rows, Error> {
        if count == 0 && tracks.is_empty() && stream.is_empty() {
            return Ok(Rows::none());
        }
        if !(2..=ROWS_MAX).contains(&count) || tracks.is_empty() {
            return Err(error!("it is damaged: the clip has {count} rows"));
        }
        let damaged = || error!("it is damaged: a row of the clip is not valid");
        let layout = Arc::new(RowLayout::new(&tracks));
        let state_rows = state_rows.max(count.div_ceil(ROW_STATES_MAX)).max(1);
        let block_bytes = layout.group_count() * size_of::<GroupBlock>() + size_of::<usize>();
        let state_bytes = layout.unit_count() * size_of::<Unit>() + size_of::<(u32, usize)>();
        let states = (count / state_rows) as usize + 1;
        let bytes = block_bytes * (block_of(count - 1) + 1) + state_bytes * states;
        engine_foundation::memory::limit::check_room(bytes)?;
        let (start, blocks) = read_blocks(count, &tracks, &layout, &stream).ok_or_else(damaged)?;
        let states = RowStates::default();
        let mut rows = Rows { count, tracks, stream, state_rows, layout, blocks, start, states };
        let bounds = rows.check_numbers()?;
        let mut layout = RowLayout::clone(&rows.layout);
        layout.narrow(&bounds);
        rows.layout = Arc::new(layout);
        rows.save_states();
        Ok(rows)
    }

    /// Reads all rows once, and returns the largest absolute number of each group.
    ///
    /// # Errors
    /// Fails if a number is too large.
    fn check_numbers(&self) -> Result<Vec<f32>, Error> {
        let mut bounds = vec![0.0; self.layout.group_count()];
        let mut state = RowState::new(&self.layout);
        state.load_start(self);
        state.add_to_bounds(&self.layout, &mut bounds);
        for row in 1..self.count {
            state.read_row(self);
            state.add_to_bounds(&self.layout, &mut bounds);
            if bounds.iter().any(|bound| *bound > STEPS_MAX as f32) {
                return Err(error!("it is damaged: a number of row {row} is too large"));
            }
        }
        Ok(bounds)
    }

    /// Saves the states at regular rows.
    pub(super) fn save_states(&mut self) {
        let mut state = RowState::new(&self.layout);
        state.load_start(self);
        let mut states = RowStates::default();
        for row in 0..self.count - 1 {
            state.read_row(self);
            // The state of row 0 has the rows 0 and 1.
            if row.is_multiple_of(self.state_rows) {
                states.save(&state);
            }
        }
        self.states = states;
    }

    /// Returns the numbers of every row of every track.
    pub fn values(&self) -> Vec<Vec<RowValue>> {
        let mut values = vec![Vec::with_capacity(self.count as usize); self.tracks.len()];
        if self.count == 0 {
            return values;
        }
        let mut state = RowState::new(&self.layout);
        state.load_start(self);
        for row in 0..self.count {
            for (values, numbers) in values.iter_mut().zip(state.numbers(&self.layout)) {
                values.push(numbers);
            }
            if row + 1 < self.count {
                state.read_row(self);
            }
        }
        values
    }

    /// Creates the rows of tracks from their numbers: as many of each track.
    ///
    /// # Errors
    /// Fails if the numbers are too large.
    pub fn encode(
        tracks: Vec<RowTrack>,
        values: &[impl AsRef<[RowValue]>],
        state_rows: u32,
    ) -> Result<Rows, Error> {
        let values: Vec<&[RowValue]> = values.iter().map(AsRef::as_ref).collect();
        let count = values.first().map_or(0, |values| values.len()) as u32;
        if count < 2 {
            return Ok(Rows::none());
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
            let rows = block_start(block)..block_start(block + 1).min(count);
            for (number, values) in values.iter().enumerate() {
                let components = tracks[number].components();
                chosen[number] = TrackBlock::choose(values, components, rows.clone());
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
            for row in rows {
                for (number, values) in values.iter().enumerate() {
                    let (block, components) = (&chosen[number], tracks[number].components());
                    for component in 0..components {
                        let difference = difference(values, component, row, block.slope);
                        writer.write(fold(difference), block.widths[component]);
                    }
                }
            }
        }
        Rows::new(count, tracks, writer.finish(), state_rows)
    }

    /// Returns the bits that the rows of a track take.
    pub fn bits_of_track(values: &[RowValue], components: usize) -> usize {
        let count = values.len() as u32;
        if count < 2 {
            return 0;
        }
        let blocks = 1..=block_of(count - 1);
        let bits = blocks.map(|block| {
            let rows = block_start(block)..block_start(block + 1).min(count);
            let chosen = TrackBlock::choose(values, components, rows.clone());
            let row: u32 = chosen.widths.iter().sum();
            // The header has about 2 bits for each component.
            rows.len() * row as usize + 2 + 2 * components
        });
        // The first two rows have about 10 bits for each component, and their widths.
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
    fn choose(values: &[RowValue], components: usize, rows: std::ops::Range<u32>) -> TrackBlock {
        let candidate = |slope: u32| {
            let mut widths = [0; 4];
            for (component, bits) in widths.iter_mut().enumerate().take(components) {
                let all = rows.clone().map(|row| fold(difference(values, component, row, slope)));
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
fn difference(values: &[RowValue], component: usize, row: u32, slope: u32) -> i32 {
    let at = |row: u32| values[row as usize][component];
    let before = at(row - 1);
    let earlier = if row > 1 { at(row - 2) } else { before };
    at(row) - extrapolate(before as f32, earlier as f32, SLOPES[slope as usize]) as i32
}

/// Number whose last bit is 1: the addition rounds numbers below 2^22 to whole ones.
pub(super) const ROUND: f32 = 12_582_912.0;

/// Returns the whole number that is expected after two others, as [`RowState`] computes it.
fn extrapolate(before: f32, earlier: f32, slope: f32) -> f32 {
    (before + (before - earlier) * slope) + ROUND - ROUND
}

/// Returns how many bits the largest of some numbers has.
fn width_of(numbers: &[i32]) -> u32 {
    numbers.iter().map(|number| width(fold(*number))).max().unwrap_or(0)
}

/// Numbers of the first row, for each group.
type Start = Vec<[[f32; 4]; 4]>;

/// Reads the numbers of the first row and the head of each block.
fn read_blocks(
    count: u32,
    tracks: &[RowTrack],
    layout: &RowLayout,
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
            // The second row has as many bits for each component, and no extrapolation.
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
        let row_bits: usize = groups.iter().map(|group| usize::from(group.bits)).sum();
        let rows = block_start(block + 1).min(count) - block_start(block);
        let offset = reader.position();
        reader.skip(row_bits * rows as usize)?;
        blocks.offsets.push(offset);
        blocks.groups.extend_from_slice(&groups);
    }
    reader.is_done().then_some((start, blocks))
}
