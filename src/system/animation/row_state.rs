//! State of a player between two rows, in as little memory as possible: a player touches all of it
//! in each frame.

use super::bit_stream::PADDING;
use super::dispatch::dispatched_to;
use super::lanes::{Lanes, Unit, prefetch};
use super::pose::{PoseGroup, product};
use super::row_group::GroupBlock;
use super::row_layout::{RotationGroup, RowLayout, scaled, select_all};
use super::row_track::{BLOCK_ROWS, ROUND, RowValue, Rows, block_of};

/// Numbers of four tracks in two rows.
struct Pair<const N: usize> {
    from: [Lanes; N],
    to: [Lanes; N],
}

impl<const N: usize> Pair<N> {
    /// Returns the numbers at the start of `units`, and moves it after them.
    #[inline(always)]
    fn read(units: &mut &[Unit], is_narrow: bool) -> Pair<N> {
        let first = take::<N>(units);
        if is_narrow {
            let halves = first.map(Unit::halves);
            return Pair { from: halves.map(|it| it[0]), to: halves.map(|it| it[1]) };
        }
        Pair { from: first.map(Unit::lanes), to: take::<N>(units).map(Unit::lanes) }
    }

    #[inline(always)]
    fn at(&self, part: Lanes) -> [Lanes; N] {
        std::array::from_fn(|axis| self.from[axis] + (self.to[axis] - self.from[axis]) * part)
    }
}

#[inline(always)]
fn take<const N: usize>(units: &mut &[Unit]) -> [Unit; N] {
    let (first, rest) = units.split_first_chunk().expect("a state has the units of its layout");
    *units = rest;
    *first
}

#[inline(always)]
fn take_mut<'a, const N: usize>(units: &mut &'a mut [Unit]) -> &'a mut [Unit; N] {
    let all = std::mem::take(units);
    let (first, rest) = all.split_first_chunk_mut().expect("a state has the units of its layout");
    *units = rest;
    first
}

/// The two rows around the current time, and the position of the next row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RowState {
    /// Number of the second of the two rows.
    pub row: u32,
    /// Position of the next row in bits.
    at: usize,
    /// The numbers of each group: those of both rows in 16 bits each if the layout says so;
    /// otherwise those of the first row, then those of the second.
    units: Box<[Unit]>,
}

/// Saved states of the rows of a clip, one after another.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RowStates {
    /// Number of the second row and position of the next one, for each state.
    heads: Vec<(u32, usize)>,
    units: Vec<Unit>,
}

impl RowStates {
    pub fn count(&self) -> usize {
        self.heads.len()
    }

    /// Returns the number of the second row of a state.
    #[inline]
    pub fn row(&self, index: usize) -> u32 {
        self.heads[index].0
    }

    pub fn save(&mut self, state: &RowState) {
        self.heads.push((state.row, state.at));
        self.units.extend_from_slice(&state.units);
    }

    /// Returns the first state, or one without numbers.
    pub fn first(&self) -> RowState {
        let count = self.units.len().checked_div(self.heads.len()).unwrap_or(0);
        let mut state = RowState { row: 0, at: 0, units: vec![Unit::ZERO; count].into() };
        if !self.heads.is_empty() {
            state.load(self, 0);
        }
        state
    }
}

impl RowState {
    pub fn new(layout: &RowLayout) -> RowState {
        RowState { row: 0, at: 0, units: vec![Unit::ZERO; layout.unit_count()].into() }
    }

    /// Lets the processor load the numbers before they are used.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.units);
    }

    /// Copies a saved state of the same clip without an allocation.
    pub fn load(&mut self, states: &RowStates, index: usize) {
        (self.row, self.at) = states.heads[index];
        let start = index * self.units.len();
        self.units.copy_from_slice(&states.units[start..start + self.units.len()]);
    }

    /// Moves to the first row.
    pub fn load_start(&mut self, rows: &Rows) {
        (self.row, self.at) = (0, 0);
        let mut units = &mut self.units[..];
        for (start, (components, is_narrow)) in rows.start.iter().zip(rows.layout.groups()) {
            for numbers in start.iter().take(components) {
                let numbers = Lanes(*numbers);
                match is_narrow {
                    true => *take_mut(&mut units) = [Unit::join(numbers, numbers)],
                    false => *take_mut(&mut units) = [Unit::of(numbers)],
                }
            }
            if !is_narrow {
                for numbers in start.iter().take(components) {
                    *take_mut(&mut units) = [Unit::of(Lanes(*numbers))];
                }
            }
        }
    }

    /// Reads the next row, which exists.
    pub fn read_row(&mut self, rows: &Rows) {
        read_row(self, rows);
    }

    /// Raises each bound to the largest absolute number of its group in the second row. All groups
    /// are wide.
    pub fn add_to_bounds(&self, layout: &RowLayout, bounds: &mut [f32]) {
        let mut units = &self.units[..];
        for (bound, (components, _)) in bounds.iter_mut().zip(layout.groups()) {
            let to = &units[components..2 * components];
            for number in to.iter().flat_map(|unit| unit.lanes().0) {
                *bound = bound.max(number.abs());
            }
            units = &units[2 * components..];
        }
    }

    /// Returns the numbers of each track in the second row.
    pub fn numbers(&self, layout: &RowLayout) -> Vec<RowValue> {
        let mut units = &self.units[..];
        let mut groups = Vec::new();
        for (components, is_narrow) in layout.groups() {
            let to: [Lanes; 4] = match components {
                3 => {
                    let [x, y, z] = Pair::<3>::read(&mut units, is_narrow).to;
                    [x, y, z, Lanes::ZERO]
                }
                _ => Pair::<4>::read(&mut units, is_narrow).to,
            };
            groups.push(to);
        }
        let track = |(group, lane): (usize, usize)| {
            let numbers: &[Lanes; 4] = &groups[group];
            numbers.map(|lanes| lanes.0[lane] as i32)
        };
        layout.slots().map(track).collect()
    }

    /// Writes the values of the bones that have tracks, between the two rows: `part` is 0 at the
    /// first and 1 at the second. `WIDE`: the processor has AVX2.
    #[inline(always)]
    pub fn sample<const WIDE: bool>(
        &self,
        layout: &RowLayout,
        part: f32,
        groups: &mut [PoseGroup],
    ) {
        let part = Lanes::splat(part);
        let mut units = &self.units[..];
        for layout in &layout.rotations {
            let values =
                product(layout.mean, scaled(layout.read::<WIDE>(&mut units).at(part), layout.step));
            select_all(&mut groups[layout.group as usize].rotation, values, layout.tracked);
        }
        for layout in &layout.positions {
            let values = Pair::read(&mut units, layout.is_narrow).at(part);
            let target = &mut groups[layout.group as usize].position;
            select_all(target, layout.values(values), layout.tracked);
        }
        for layout in &layout.scales {
            let values = Pair::read(&mut units, layout.is_narrow).at(part);
            let target = &mut groups[layout.group as usize].scale;
            select_all(target, layout.values(values), layout.tracked);
        }
    }
}

dispatched_to! { read_row_with: fn read_row(state: &mut RowState, rows: &Rows) }

/// Reads the next row. `WIDE`: the processor has AVX2.
#[inline(always)]
fn read_row_with<const WIDE: bool>(state: &mut RowState, rows: &Rows) {
    state.row += 1;
    let block = block_of(state.row);
    if state.row == 1 || (state.row - 2).is_multiple_of(BLOCK_ROWS) {
        state.at = rows.blocks.offsets[block];
    }
    let layout = &*rows.layout;
    let blocks = rows.blocks.of(block);
    let (rotations, vectors) = blocks.split_at(layout.rotations.len());
    let mut stream = (&rows.stream[..], state.at);
    let mut units = &mut state.units[..];
    for (layout, block) in layout.rotations.iter().zip(rotations) {
        match layout.has_real() {
            false => advance::<3, WIDE>(&mut units, layout.is_narrow, block, &mut stream),
            true => advance::<4, WIDE>(&mut units, layout.is_narrow, block, &mut stream),
        }
    }
    let layouts = layout.positions.iter().chain(&layout.scales);
    for (layout, block) in layouts.zip(vectors) {
        advance::<3, WIDE>(&mut units, layout.is_narrow, block, &mut stream);
    }
    state.at = stream.1;
    debug_assert!(state.at.div_ceil(8) + PADDING <= stream.0.len());
}

/// Moves four tracks to the next row: adds the differences at a position of the stream to the
/// extrapolations.
#[inline(always)]
fn advance<const N: usize, const WIDE: bool>(
    units: &mut &mut [Unit],
    is_narrow: bool,
    block: &GroupBlock,
    (stream, at): &mut (&[u8], usize),
) {
    let differences = block.read::<N, WIDE>(stream, *at);
    *at += usize::from(block.bits);
    let slopes = Lanes(block.slopes);
    let first = take_mut::<N>(units);
    if is_narrow {
        for (unit, difference) in first.iter_mut().zip(differences) {
            let [earlier, before] = unit.halves();
            *unit = Unit::join(before, extrapolated(before, earlier, slopes) + difference);
        }
        return;
    }
    for ((from, to), difference) in first.iter_mut().zip(take_mut::<N>(units)).zip(differences) {
        let (earlier, before) = (from.lanes(), to.lanes());
        *from = *to;
        *to = Unit::of(extrapolated(before, earlier, slopes) + difference);
    }
}

#[inline(always)]
fn extrapolated(before: Lanes, earlier: Lanes, slopes: Lanes) -> Lanes {
    let round = Lanes::splat(ROUND);
    (before + (before - earlier) * slopes) + round - round
}

impl RotationGroup {
    /// Returns the numbers with real parts: those that are stored, in steps, and those that follow
    /// from the other numbers.
    #[inline(always)]
    fn read<const WIDE: bool>(&self, units: &mut &[Unit]) -> Pair<4> {
        if !self.has_real() {
            #[cfg(target_arch = "x86_64")]
            if WIDE && self.is_narrow {
                // SAFETY: the processor has the instructions.
                return unsafe { wide::read(&take::<3>(units), &self.step) };
            }
            let pair = Pair::<3>::read(units, self.is_narrow);
            let with_real = |[x, y, z]: [Lanes; 3]| [x, y, z, self.real_part([x, y, z])];
            return Pair { from: with_real(pair.from), to: with_real(pair.to) };
        }
        let pair = Pair::<4>::read(units, self.is_narrow);
        let with_real = |[x, y, z, stored]: [Lanes; 4]| {
            [x, y, z, self.real_part([x, y, z]).select(stored, self.real)]
        };
        Pair { from: with_real(pair.from), to: with_real(pair.to) }
    }

    /// Returns the real parts of quaternions of length 1.
    #[inline(always)]
    fn real_part(&self, [x, y, z]: [Lanes; 3]) -> Lanes {
        let (x, y, z) = (x * self.step[0], y * self.step[1], z * self.step[2]);
        let square = Lanes::ONE - x * x - y * y - z * z;
        square.most(Lanes::ZERO).sqrt()
    }
}

/// The numbers of both rows in one vector.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Lanes, Pair, Unit};
    use std::arch::x86_64::{
        __m128, __m128i, __m256, _mm256_castps256_ps128, _mm256_cvtepi16_epi32, _mm256_cvtepi32_ps,
        _mm256_extractf128_ps, _mm256_max_ps, _mm256_mul_ps, _mm256_set_m128, _mm256_set1_ps,
        _mm256_setzero_ps, _mm256_sqrt_ps, _mm256_sub_ps,
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(both: __m256) -> [Lanes; 2] {
        [_mm256_castps256_ps128(both), _mm256_extractf128_ps::<1>(both)].map(|half| {
            // SAFETY: both are 16 bytes with four numbers.
            Lanes(unsafe { std::mem::transmute::<__m128, [f32; 4]>(half) })
        })
    }

    /// Returns the numbers of rotations, with the real parts that follow from them.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn read(units: &[Unit; 3], step: &[Lanes; 4]) -> Pair<4> {
        let mut numbers = [_mm256_setzero_ps(); 4];
        let mut square = _mm256_set1_ps(1.0);
        for axis in 0..3 {
            // SAFETY: all of these are 16 bytes.
            let (unit, step) = unsafe {
                let step = std::mem::transmute::<[f32; 4], __m128>(step[axis].0);
                (std::mem::transmute::<[u32; 4], __m128i>(units[axis].0), step)
            };
            numbers[axis] = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(unit));
            let value = _mm256_mul_ps(numbers[axis], _mm256_set_m128(step, step));
            square = _mm256_sub_ps(square, _mm256_mul_ps(value, value));
        }
        numbers[3] = _mm256_sqrt_ps(_mm256_max_ps(square, _mm256_setzero_ps()));
        let both = numbers.map(|number| halves(number));
        Pair { from: both.map(|it| it[0]), to: both.map(|it| it[1]) }
    }
}
