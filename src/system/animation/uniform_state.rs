//! State of a player between two keyframes, in as little memory as possible: a player touches all
//! of it in each frame.

use super::bit_stream::PADDING;
use super::dispatch::dispatched_to;
use super::lanes::{Lanes, Unit, prefetch};
use super::numbers::product;
use super::pose::PoseGroup;
use super::uniform_group::GroupBlock;
use super::uniform_layout::{RotationGroup, UniformLayout, scaled, select_all};
use super::uniform_track::{BLOCK_KEYFRAMES, ROUND, UniformTracks, UniformValue, block_of};

/// Numbers of four tracks in two keyframes.
struct Pair<const N: usize> {
    from: [Lanes; N],
    to: [Lanes; N],
}

impl<const N: usize> Pair<N> {
    /// Returns the numbers at the start of `units`, and moves it after them.
    #[inline(always)]
    fn read(units: &mut &[Unit], is_narrow: bool) -> Pair<N> {
        let first = take::<N>(units);
        let mut pair = Pair { from: [Lanes::ZERO; N], to: [Lanes::ZERO; N] };
        if is_narrow {
            for (axis, unit) in first.into_iter().enumerate() {
                [pair.from[axis], pair.to[axis]] = unit.halves();
            }
            return pair;
        }
        let second = take::<N>(units);
        for axis in 0..N {
            (pair.from[axis], pair.to[axis]) = (first[axis].lanes(), second[axis].lanes());
        }
        pair
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

/// The two keyframes around the current time, and the position of the next keyframe.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UniformState {
    /// Number of the second of the two keyframes.
    pub keyframe: u32,
    /// Position of the next keyframe in bits.
    at: usize,
    /// The numbers of each group: those of both keyframes in 16 bits each if the layout says so;
    /// otherwise those of the first keyframe, then those of the second.
    units: Vec<Unit>,
}

/// Saved states of the keyframes of a clip, one after another.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UniformStates {
    /// Number of the second keyframe and position of the next one, for each state.
    heads: Vec<(u32, usize)>,
    units: Vec<Unit>,
}

impl UniformStates {
    pub fn count(&self) -> usize {
        self.heads.len()
    }

    /// Returns the number of the second keyframe of a state.
    #[inline]
    pub fn keyframe(&self, index: usize) -> u32 {
        self.heads[index].0
    }

    pub fn save(&mut self, state: &UniformState) {
        self.heads.push((state.keyframe, state.at));
        self.units.extend_from_slice(&state.units);
    }

    /// Returns the number of units of a state.
    fn unit_count(&self) -> usize {
        self.units.len().checked_div(self.heads.len()).unwrap_or(0)
    }
}

impl UniformState {
    pub fn new(layout: &UniformLayout) -> UniformState {
        UniformState { keyframe: 0, at: 0, units: vec![Unit::ZERO; layout.unit_count()] }
    }

    /// Lets the processor load the numbers before they are used.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.units);
    }

    /// Moves to the first state of a clip, in the memory of another one if that is enough. A clip
    /// without keyframes has no numbers.
    pub fn restart(&mut self, states: &UniformStates) {
        (self.keyframe, self.at) = (0, 0);
        self.units.resize(states.unit_count(), Unit::ZERO);
        if !states.heads.is_empty() {
            self.load(states, 0);
        }
    }

    /// Copies a saved state of the same clip without an allocation.
    pub fn load(&mut self, states: &UniformStates, index: usize) {
        (self.keyframe, self.at) = states.heads[index];
        let count = self.units.len();
        self.units.copy_from_slice(&states.units[index * count..][..count]);
    }

    /// Moves to the first keyframe.
    pub fn load_start(&mut self, keyframes: &UniformTracks) {
        (self.keyframe, self.at) = (0, 0);
        let mut units = &mut self.units[..];
        for (start, (components, is_narrow)) in
            keyframes.start.iter().zip(keyframes.layout.groups())
        {
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

    /// Reads the next keyframe, which exists.
    pub fn read_keyframe(&mut self, keyframes: &UniformTracks) {
        read_keyframe(self, keyframes);
    }

    /// Raises each bound to the largest absolute number of its group in the second keyframe. All
    /// groups are wide.
    pub fn add_to_bounds(&self, layout: &UniformLayout, bounds: &mut [f32]) {
        let mut units = &self.units[..];
        for (bound, (components, _)) in bounds.iter_mut().zip(layout.groups()) {
            let to = &units[components..2 * components];
            for number in to.iter().flat_map(|unit| unit.lanes().0) {
                *bound = bound.max(number.abs());
            }
            units = &units[2 * components..];
        }
    }

    /// Returns the numbers of each track in the second keyframe.
    pub fn numbers(&self, layout: &UniformLayout) -> Vec<UniformValue> {
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

    /// Writes the values of the bones that have tracks, between the two keyframes: `part` is 0 at
    /// the first and 1 at the second. `WIDE`: the processor has AVX2.
    #[inline(always)]
    pub fn sample<const WIDE: bool>(
        &self,
        layout: &UniformLayout,
        part: f32,
        groups: &mut [PoseGroup],
    ) {
        let part = Lanes::splat(part);
        let mut units = &self.units[..];
        #[cfg(not(target_arch = "x86_64"))]
        let rotations = &layout.rotations[..];
        #[cfg(target_arch = "x86_64")]
        let rotations = match WIDE {
            true => wide::sample_pairs(&layout.rotations, &mut units, part, groups),
            false => &layout.rotations[..],
        };
        for layout in rotations {
            layout.sample::<WIDE>(&mut units, part, groups);
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

dispatched_to! {
    read_keyframe_with: fn read_keyframe(state: &mut UniformState, keyframes: &UniformTracks)
}

/// Reads the next keyframe. `WIDE`: the processor has AVX2.
#[inline(always)]
fn read_keyframe_with<const WIDE: bool>(state: &mut UniformState, keyframes: &UniformTracks) {
    state.keyframe += 1;
    let block = block_of(state.keyframe);
    if state.keyframe == 1 || (state.keyframe - 2).is_multiple_of(BLOCK_KEYFRAMES) {
        state.at = keyframes.blocks.offsets[block];
    }
    let layout = &*keyframes.layout;
    let blocks = keyframes.blocks.of(block);
    let (rotations, vectors) = blocks.split_at(layout.rotations.len());
    let mut stream = (&keyframes.stream[..], state.at);
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

/// Moves four tracks to the next keyframe: adds the differences at a position of the stream to the
/// extrapolations.
#[inline(always)]
fn advance<const N: usize, const WIDE: bool>(
    units: &mut &mut [Unit],
    is_narrow: bool,
    block: &GroupBlock,
    (stream, at): &mut (&[u8], usize),
) {
    let differences = block.read::<N, WIDE>(stream, *at);
    *at += block.bits();
    let slopes = Lanes(block.slopes);
    let first = take_mut::<N>(units);
    if is_narrow {
        for (unit, difference) in first.iter_mut().zip(differences) {
            #[cfg(target_arch = "x86_64")]
            if WIDE {
                // SAFETY: the processor has the instructions.
                unsafe { wide::advance(unit, slopes, difference) };
                continue;
            }
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
    /// Returns true if the numbers of both keyframes have 16 bits, and no real part is stored.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn has_short_numbers(&self) -> bool {
        self.is_narrow && !self.has_real()
    }

    /// Writes the rotations of the bones that have tracks.
    #[inline(always)]
    fn sample<const WIDE: bool>(&self, units: &mut &[Unit], part: Lanes, groups: &mut [PoseGroup]) {
        let values = product(self.mean, scaled(self.read::<WIDE>(units).at(part), self.step));
        select_all(&mut groups[self.group as usize].rotation, values, self.tracked);
    }

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

/// The numbers of both keyframes, or of two groups, in one vector.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Lanes, Pair, PoseGroup, RotationGroup, Unit, extrapolated, select_all, take};
    use std::arch::x86_64::{
        __m128, __m128i, __m256, _mm_cvtps_epi32, _mm_packs_epi32, _mm_unpackhi_epi64,
        _mm_unpacklo_epi64, _mm256_add_ps, _mm256_cvtepi16_epi32, _mm256_cvtepi32_ps,
        _mm256_max_ps, _mm256_mul_ps, _mm256_set_m128, _mm256_set1_ps, _mm256_setzero_ps,
        _mm256_sqrt_ps, _mm256_sub_ps,
    };

    /// Moves numbers of 16 bits to the next keyframe.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn advance(unit: &mut Unit, slopes: Lanes, difference: Lanes) {
        let old = load_unit(*unit);
        let both = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(old));
        // SAFETY: both are 32 bytes with eight numbers.
        let [earlier, before] = unsafe { std::mem::transmute::<__m256, [Lanes; 2]>(both) };
        let new = load(extrapolated(before, earlier, slopes) + difference);
        let new = _mm_cvtps_epi32(new);
        let joined = _mm_unpackhi_epi64(old, _mm_packs_epi32(new, new));
        // SAFETY: both are 16 bytes.
        unit.0 = unsafe { std::mem::transmute::<__m128i, [u32; 4]>(joined) };
    }

    /// Returns the first numbers of all vectors, and the second ones. A loop, as `map` is compiled
    /// without the instructions: it would be a call for each vector.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(all: [__m256; 4]) -> [[Lanes; 4]; 2] {
        let mut halves = [[Lanes::ZERO; 4]; 2];
        for (axis, both) in all.into_iter().enumerate() {
            // SAFETY: both are 32 bytes with eight numbers.
            let [first, second] = unsafe { std::mem::transmute::<__m256, [Lanes; 2]>(both) };
            (halves[0][axis], halves[1][axis]) = (first, second);
        }
        halves
    }

    #[inline(always)]
    fn load(lanes: Lanes) -> __m128 {
        // SAFETY: both are 16 bytes with four numbers.
        unsafe { std::mem::transmute::<[f32; 4], __m128>(lanes.0) }
    }

    #[inline(always)]
    fn load_unit(unit: Unit) -> __m128i {
        // SAFETY: both are 16 bytes.
        unsafe { std::mem::transmute::<[u32; 4], __m128i>(unit.0) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn pair(first: Lanes, second: Lanes) -> __m256 {
        _mm256_set_m128(load(second), load(first))
    }

    /// Returns the numbers of rotations, with the real parts that follow from them.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn read(units: &[Unit; 3], step: &[Lanes; 4]) -> Pair<4> {
        let mut numbers = [_mm256_setzero_ps(); 4];
        let mut square = _mm256_set1_ps(1.0);
        for axis in 0..3 {
            numbers[axis] = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(load_unit(units[axis])));
            let value = _mm256_mul_ps(numbers[axis], pair(step[axis], step[axis]));
            square = _mm256_sub_ps(square, _mm256_mul_ps(value, value));
        }
        numbers[3] = _mm256_sqrt_ps(_mm256_max_ps(square, _mm256_setzero_ps()));
        let [from, to] = halves(numbers);
        Pair { from, to }
    }

    /// Returns the product of rotations, of which `b` is applied first.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn product(a: [__m256; 4], b: [__m256; 4]) -> [__m256; 4] {
        let mul = |a: __m256, b: __m256| _mm256_mul_ps(a, b);
        let add = |a: __m256, b: __m256| _mm256_add_ps(a, b);
        let sub = |a: __m256, b: __m256| _mm256_sub_ps(a, b);
        let [ax, ay, az, aw] = a;
        let [bx, by, bz, bw] = b;
        [
            sub(add(add(mul(aw, bx), mul(ax, bw)), mul(ay, bz)), mul(az, by)),
            add(add(sub(mul(aw, by), mul(ax, bz)), mul(ay, bw)), mul(az, bx)),
            add(sub(add(mul(aw, bz), mul(ax, by)), mul(ay, bx)), mul(az, bw)),
            sub(sub(sub(mul(aw, bw), mul(ax, bx)), mul(ay, by)), mul(az, bz)),
        ]
    }

    /// Writes the rotations of groups, two at a time where their numbers have 16 bits. Returns the
    /// group that is left, if there is one. The processor has AVX2.
    #[inline(always)]
    pub fn sample_pairs<'a>(
        rotations: &'a [RotationGroup],
        units: &mut &[Unit],
        part: Lanes,
        groups: &mut [PoseGroup],
    ) -> &'a [RotationGroup] {
        let mut left = rotations;
        while let [first, second, others @ ..] = left {
            if !(first.has_short_numbers() && second.has_short_numbers()) {
                first.sample::<true>(units, part, groups);
                left = &left[1..];
                continue;
            }
            // SAFETY: the processor has the instructions.
            let values = unsafe { sample([first, second], &take::<6>(units), part) };
            for (layout, values) in [first, second].into_iter().zip(values) {
                select_all(&mut groups[layout.group as usize].rotation, values, layout.tracked);
            }
            left = others;
        }
        left
    }

    /// Returns the rotations of two groups whose numbers have 16 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn sample(layouts: [&RotationGroup; 2], units: &[Unit; 6], part: Lanes) -> [[Lanes; 4]; 2] {
        let [first, second] = layouts;
        let part = pair(part, part);
        let (zero, one) = (_mm256_setzero_ps(), _mm256_set1_ps(1.0));
        let (mut from, mut to, mut mean) = ([zero; 4], [zero; 4], [zero; 4]);
        let (mut steps, mut squares) = ([one; 4], [one; 2]);
        for axis in 0..3 {
            let (a, b) = (load_unit(units[axis]), load_unit(units[3 + axis]));
            from[axis] = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_unpacklo_epi64(a, b)));
            to[axis] = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_unpackhi_epi64(a, b)));
            steps[axis] = pair(first.step[axis], second.step[axis]);
            for (square, numbers) in squares.iter_mut().zip([from[axis], to[axis]]) {
                let value = _mm256_mul_ps(numbers, steps[axis]);
                *square = _mm256_sub_ps(*square, _mm256_mul_ps(value, value));
            }
        }
        from[3] = _mm256_sqrt_ps(_mm256_max_ps(squares[0], zero));
        to[3] = _mm256_sqrt_ps(_mm256_max_ps(squares[1], zero));
        let mut values = [zero; 4];
        for axis in 0..4 {
            let moved = _mm256_mul_ps(_mm256_sub_ps(to[axis], from[axis]), part);
            values[axis] = _mm256_mul_ps(_mm256_add_ps(from[axis], moved), steps[axis]);
            mean[axis] = pair(first.mean[axis], second.mean[axis]);
        }
        halves(product(mean, values))
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod wide_tests {
    use super::*;
    use crate::dispatch::has_wide_vectors;
    use engine_foundation::random::Random;

    #[test]
    fn two_groups_have_the_bits_of_one_after_another() {
        if !has_wide_vectors() {
            return;
        }
        let mut random = Random::seed(9);
        for _ in 0..200 {
            let mut lanes = |most: i64, unit: f32| {
                Lanes(std::array::from_fn(|_| random.range_i64(-most, most) as f32 * unit))
            };
            let mut group = |group: u32| {
                let mean = [(); 4].map(|()| lanes(1000, 1e-3));
                let [x, y, z] = [(); 3].map(|()| lanes(100, 1e-6));
                let step = [x, y, z, Lanes::ONE];
                let (tracked, real) = ([u32::MAX; 4], [0; 4]);
                RotationGroup { group, is_narrow: true, tracked, real, step, mean }
            };
            let pair = [group(0), group(1)];
            let part = Lanes::splat(lanes(1000, 1e-3).0[0].abs());
            let units = [(); 6].map(|()| Unit::join(lanes(32767, 1.0), lanes(32767, 1.0)));
            let mut singles = [[Lanes::ZERO; 4]; 2];
            for (index, layout) in pair.iter().enumerate() {
                let mut units = &units[3 * index..][..3];
                let numbers = layout.read::<false>(&mut units).at(part);
                singles[index] = product(layout.mean, scaled(numbers, layout.step));
            }
            // SAFETY: the processor has the instructions.
            let both = unsafe { wide::sample([&pair[0], &pair[1]], &units, part) };
            let bits = |all: [[Lanes; 4]; 2]| all.map(|four| four.map(|it| it.0.map(f32::to_bits)));
            assert_eq!(bits(both), bits(singles));
        }
    }
}
