//! Differences of four tracks in a keyframe of a stream: how many bits each has, and their reading.

use super::lanes::Lanes;

/// Bits of differences that one word of the stream always has: it can begin at any bit of its first
/// byte.
const WORD_BITS: u16 = 57;

/// Bits and extrapolation of four tracks in a block.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C, align(16))]
pub struct GroupBlock {
    pub slopes: [f32; 4],
    /// Bits of each component of each track: of the tracks without one, 0.
    pub widths: [[u8; 4]; 4],
    /// First bit of each track: at most `bits`.
    starts: [u16; 4],
    /// Bits of all four tracks.
    bits: u16,
    /// True if a track has more bits than a word.
    is_long: bool,
    /// True if one word has the bits of all four tracks.
    is_word: bool,
}

impl GroupBlock {
    /// Computes the positions of the tracks from their bits.
    pub fn compute_starts(&mut self) {
        (self.bits, self.is_long) = (0, false);
        for lane in 0..4 {
            let bits = self.widths.iter().map(|widths| u16::from(widths[lane])).sum::<u16>();
            self.starts[lane] = self.bits;
            self.bits += bits;
            self.is_long |= bits > WORD_BITS;
        }
        self.is_word = self.bits <= WORD_BITS;
    }

    /// Returns the number of bits of all four tracks.
    #[inline(always)]
    pub fn bits(&self) -> usize {
        usize::from(self.bits)
    }

    /// Returns the differences at a position of the stream in bits, one component after another.
    /// `WIDE`: the processor has AVX2. The stream ends with the padding.
    #[inline(always)]
    pub fn read<const N: usize, const WIDE: bool>(&self, stream: &[u8], at: usize) -> [Lanes; N] {
        #[cfg(target_arch = "x86_64")]
        if WIDE && !self.is_long {
            // SAFETY: the processor has the instructions.
            return unsafe { wide::read(self, stream, at) };
        }
        let mut numbers = [[0; 4]; N];
        for lane in 0..4 {
            let mut at = at + usize::from(self.starts[lane]);
            let mut word = word_at(stream, at);
            for (numbers, widths) in numbers.iter_mut().zip(&self.widths) {
                let width = u32::from(widths[lane]);
                numbers[lane] = (word & !(u64::MAX << width)) as u32;
                word >>= width;
                if self.is_long {
                    at += width as usize;
                    word = word_at(stream, at);
                }
            }
        }
        numbers.map(Lanes::unfold)
    }
}

/// Returns the word that begins at a position in bits: at least [`WORD_BITS`] of it are valid.
#[inline(always)]
fn word_at(stream: &[u8], at: usize) -> u64 {
    let bytes: [u8; 8] = stream[at / 8..at / 8 + 8].try_into().expect("eight bytes");
    u64::from_le_bytes(bytes) >> (at % 8)
}

/// The reading with vectors of four numbers.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{GroupBlock, Lanes};
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_castps_si128, _mm_castsi128_ps, _mm_cvtsi32_si128, _mm_cvtsi64_si128,
        _mm_shuffle_ps, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256,
        _mm256_castsi256_si128, _mm256_cvtepu8_epi64, _mm256_cvtepu16_epi64,
        _mm256_extracti128_si256, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_sllv_epi64,
        _mm256_srlv_epi64,
    };

    /// Returns the words in which the tracks begin, and the bits before them.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn lanes_of(block: &GroupBlock, stream: &[u8], at: usize) -> (__m256i, __m256i) {
        let (first, shift) = (at / 8, at % 8);
        let bytes = &stream[first..first + (shift + block.bits()) / 8 + 8];
        let word = |bit: usize| {
            // SAFETY: no track starts after the bits of all tracks, and eight bytes follow those.
            let word = unsafe { bytes.as_ptr().add(bit / 8).cast::<u64>().read_unaligned() };
            u64::from_le(word).cast_signed()
        };
        // SAFETY: both are eight bytes.
        let starts = unsafe { std::mem::transmute::<[u16; 4], i64>(block.starts) };
        let starts = _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(starts));
        let shifts = _mm256_add_epi64(starts, _mm256_set1_epi64x(shift as i64));
        if block.is_word {
            return (_mm256_set1_epi64x(word(0)), shifts);
        }
        let lane = |lane: usize| word(shift + usize::from(block.starts[lane]));
        let lanes = _mm256_set_epi64x(lane(3), lane(2), lane(1), lane(0));
        (lanes, _mm256_and_si256(shifts, _mm256_set1_epi64x(7)))
    }

    #[inline(always)]
    fn numbers(vector: __m128i) -> [u32; 4] {
        // SAFETY: both are 16 bytes with four numbers.
        unsafe { std::mem::transmute::<__m128i, [u32; 4]>(vector) }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    pub fn read<const N: usize>(block: &GroupBlock, stream: &[u8], at: usize) -> [Lanes; N] {
        let (lanes, mut shift) = lanes_of(block, stream, at);
        let ones = _mm256_set1_epi64x(-1);
        let mut differences = [Lanes::ZERO; N];
        for (difference, widths) in differences.iter_mut().zip(&block.widths) {
            let widths = i32::from_le_bytes(*widths);
            // No width is above 24: with this limit, the compiler knows that no shift is too far.
            let width = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(widths));
            let width = _mm256_and_si256(width, _mm256_set1_epi64x(31));
            let above = _mm256_sllv_epi64(ones, width);
            let found = _mm256_andnot_si256(above, _mm256_srlv_epi64(lanes, shift));
            shift = _mm256_add_epi64(shift, width);
            let low = _mm_castsi128_ps(_mm256_castsi256_si128(found));
            let high = _mm_castsi128_ps(_mm256_extracti128_si256::<1>(found));
            let four = _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(low, high));
            *difference = Lanes::unfold(numbers(four));
        }
        differences
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::bit_stream::{BitWriter, fold};
    use crate::dispatch::has_wide_vectors;
    use engine_foundation::random::Random;

    #[test]
    fn differences_are_read_as_they_were_written() {
        let mut random = Random::seed(4);
        for most in [0, 3, 12, 19, 24] {
            let mut writer = BitWriter::default();
            writer.write(5, 3);
            let mut blocks = Vec::new();
            for index in 0..60 {
                let mut block = GroupBlock::default();
                let mut values = [[0; 4]; 4];
                for number in 0..16 {
                    let (lane, component) = (number / 4, number % 4);
                    let width = match (index, number) {
                        (20.., _) => random.range_i64(0, most) as u32,
                        // From 52 to 61 bits of all tracks: a word, and more than one.
                        (_, 15) => 7 + index % 10,
                        _ => 3,
                    };
                    let half = (1_i64 << width) / 2;
                    let value = random.range_i64(-half, (half - 1).max(-half)) as i32;
                    block.widths[component][lane] = width as u8;
                    values[component][lane] = value;
                    writer.write(fold(value), width);
                }
                block.compute_starts();
                blocks.push((block, values));
            }
            let stream = writer.finish();
            let mut at = 3;
            for (block, values) in blocks {
                let wanted = values.map(|values| Lanes(values.map(|value| value as f32)));
                assert_eq!(block.read::<4, false>(&stream, at), wanted);
                if has_wide_vectors() {
                    assert_eq!(block.read::<4, true>(&stream, at), wanted);
                }
                at += block.bits();
            }
        }
    }
}
