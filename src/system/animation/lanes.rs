//! Four numbers that are computed together, for four bones: vector instructions of x86-64, and
//! plain numbers elsewhere. Every operation has one result on every machine, because both round
//! each number as IEEE 754 defines it.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(16))]
pub struct Lanes(pub [f32; 4]);

impl Lanes {
    pub const ZERO: Lanes = Lanes([0.0; 4]);
    pub const ONE: Lanes = Lanes([1.0; 4]);

    #[inline(always)]
    pub fn splat(value: f32) -> Lanes {
        Lanes([value; 4])
    }

    #[inline(always)]
    pub fn sqrt(self) -> Lanes {
        vector::sqrt(self)
    }

    /// Limits each number to 0 … 1.
    #[inline(always)]
    pub fn clamp_to_unit(self) -> Lanes {
        vector::least(vector::most(self, Lanes::ZERO), Lanes::ONE)
    }

    /// Returns the number where it is above the other one, and the other one elsewhere.
    #[inline(always)]
    pub fn most(self, other: Lanes) -> Lanes {
        vector::most(self, other)
    }

    /// Returns the numbers of `other` in the lanes whose bits are set, and these elsewhere.
    #[inline(always)]
    pub fn select(self, other: Lanes, mask: [u32; 4]) -> Lanes {
        vector::select(self, other, mask)
    }

    /// Returns `chosen` where the number is below the limit, and `other` elsewhere.
    #[inline(always)]
    pub fn if_below(self, limit: Lanes, chosen: Lanes, other: Lanes) -> Lanes {
        vector::if_below(self, limit, chosen, other)
    }

    /// Returns -1 where the number is negative and 1 elsewhere.
    #[inline(always)]
    pub fn sign(self) -> Lanes {
        self.if_below(Lanes::ZERO, Lanes::splat(-1.0), Lanes::ONE)
    }

    /// Returns the number of a lane in all lanes.
    #[inline(always)]
    pub fn splat_lane<const LANE: i32>(self) -> Lanes {
        vector::splat_lane::<LANE>(self)
    }

    /// Returns the whole numbers below 2^24 that [`super::bit_stream::fold`] made positive.
    #[inline(always)]
    pub fn unfold(numbers: [u32; 4]) -> Lanes {
        vector::unfold(numbers)
    }

    /// Returns the last number, and 0 in the other lanes.
    #[inline(always)]
    pub fn last(self) -> Lanes {
        vector::select(Lanes::ZERO, self, [0, 0, 0, u32::MAX])
    }
}

/// Memory of four numbers, or of eight whole numbers of 16 bits: those of four bones in two
/// keyframes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub struct Unit(pub [u32; 4]);

impl Unit {
    pub const ZERO: Unit = Unit([0; 4]);

    #[inline(always)]
    pub fn of(lanes: Lanes) -> Unit {
        // SAFETY: both are 16 bytes, of which every pattern is valid.
        Unit(unsafe { std::mem::transmute::<[f32; 4], [u32; 4]>(lanes.0) })
    }

    /// Returns four numbers.
    #[inline(always)]
    pub fn lanes(self) -> Lanes {
        // SAFETY: both are 16 bytes, of which every pattern is valid.
        Lanes(unsafe { std::mem::transmute::<[u32; 4], [f32; 4]>(self.0) })
    }

    /// Stores whole numbers from -32768 to 32767.
    #[inline(always)]
    pub fn join(first: Lanes, second: Lanes) -> Unit {
        Unit(vector::join(first, second))
    }

    /// Returns the numbers of [`Unit::join`].
    #[inline(always)]
    pub fn halves(self) -> [Lanes; 2] {
        vector::halves(self.0)
    }
}

impl Add for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn add(self, other: Lanes) -> Lanes {
        vector::add(self, other)
    }
}

impl Sub for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn sub(self, other: Lanes) -> Lanes {
        vector::subtract(self, other)
    }
}

impl Mul for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn mul(self, other: Lanes) -> Lanes {
        vector::multiply(self, other)
    }
}

impl Div for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn div(self, other: Lanes) -> Lanes {
        vector::divide(self, other)
    }
}

impl Neg for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn neg(self) -> Lanes {
        Lanes([-self.0[0], -self.0[1], -self.0[2], -self.0[3]])
    }
}

/// Bytes that a processor loads together.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Lets the processor load memory before it is used.
#[inline]
pub fn prefetch<T>(data: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start: *const i8 = data.as_ptr().cast();
        for line in (0..size_of_val(data)).step_by(CACHE_LINE) {
            // SAFETY: it has no effect other than on the time of later accesses.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}

/// Exchanges rows and columns: the first result has the first number of each argument.
#[inline(always)]
pub fn transpose(rows: [Lanes; 4]) -> [Lanes; 4] {
    vector::transpose(rows)
}

/// The operations of SSE2, which every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod vector {
    use super::Lanes;
    use std::arch::x86_64::{
        __m128, __m128i, _mm_add_ps, _mm_and_ps, _mm_and_si128, _mm_andnot_ps, _mm_cmplt_ps,
        _mm_cvtepi32_ps, _mm_cvtps_epi32, _mm_div_ps, _mm_max_ps, _mm_min_ps, _mm_movehl_ps,
        _mm_movelh_ps, _mm_mul_ps, _mm_or_ps, _mm_packs_epi32, _mm_set1_epi32, _mm_setzero_si128,
        _mm_shuffle_ps, _mm_sqrt_ps, _mm_srai_epi32, _mm_srli_epi32, _mm_sub_epi32, _mm_sub_ps,
        _mm_unpackhi_epi16, _mm_unpackhi_ps, _mm_unpacklo_epi16, _mm_unpacklo_ps, _mm_xor_si128,
    };

    #[inline(always)]
    fn load(lanes: Lanes) -> __m128 {
        // SAFETY: both are 16 bytes with four numbers.
        unsafe { std::mem::transmute::<[f32; 4], __m128>(lanes.0) }
    }

    #[inline(always)]
    fn store(vector: __m128) -> Lanes {
        // SAFETY: both are 16 bytes with four numbers.
        Lanes(unsafe { std::mem::transmute::<__m128, [f32; 4]>(vector) })
    }

    #[inline(always)]
    fn bits(mask: [u32; 4]) -> __m128 {
        // SAFETY: both are 16 bytes, and every pattern of bits is a number.
        unsafe { std::mem::transmute::<[u32; 4], __m128>(mask) }
    }

    macro_rules! operations {
        ($($name:ident = $instruction:ident;)*) => {$(
            #[inline(always)]
            pub fn $name(a: Lanes, b: Lanes) -> Lanes {
                // SAFETY: SSE2 is a part of x86-64.
                store(unsafe { $instruction(load(a), load(b)) })
            }
        )*};
    }

    // The second number applies if they do not compare, as with `if a > b { a } else { b }`.
    operations! {
        add = _mm_add_ps;
        subtract = _mm_sub_ps;
        multiply = _mm_mul_ps;
        divide = _mm_div_ps;
        most = _mm_max_ps;
        least = _mm_min_ps;
    }

    #[inline(always)]
    pub fn sqrt(lanes: Lanes) -> Lanes {
        // SAFETY: SSE2 is a part of x86-64.
        store(unsafe { _mm_sqrt_ps(load(lanes)) })
    }

    #[inline(always)]
    fn choose(mask: __m128, chosen: Lanes, other: Lanes) -> Lanes {
        // SAFETY: SSE2 is a part of x86-64.
        store(unsafe {
            _mm_or_ps(_mm_and_ps(mask, load(chosen)), _mm_andnot_ps(mask, load(other)))
        })
    }

    #[inline(always)]
    pub fn select(lanes: Lanes, other: Lanes, mask: [u32; 4]) -> Lanes {
        choose(bits(mask), other, lanes)
    }

    #[inline(always)]
    pub fn if_below(lanes: Lanes, limit: Lanes, chosen: Lanes, other: Lanes) -> Lanes {
        // SAFETY: SSE2 is a part of x86-64.
        choose(unsafe { _mm_cmplt_ps(load(lanes), load(limit)) }, chosen, other)
    }

    #[inline(always)]
    pub fn splat_lane<const LANE: i32>(lanes: Lanes) -> Lanes {
        let it = load(lanes);
        // SAFETY: SSE2 is a part of x86-64.
        store(unsafe {
            match LANE {
                0 => _mm_shuffle_ps::<0b00_00_00_00>(it, it),
                1 => _mm_shuffle_ps::<0b01_01_01_01>(it, it),
                2 => _mm_shuffle_ps::<0b10_10_10_10>(it, it),
                _ => _mm_shuffle_ps::<0b11_11_11_11>(it, it),
            }
        })
    }

    #[inline(always)]
    pub fn unfold(numbers: [u32; 4]) -> Lanes {
        // SAFETY: both are 16 bytes.
        let numbers = unsafe { std::mem::transmute::<[u32; 4], __m128i>(numbers) };
        // SAFETY: SSE2 is a part of x86-64.
        store(unsafe {
            let sign = _mm_and_si128(numbers, _mm_set1_epi32(1));
            let all = _mm_sub_epi32(_mm_setzero_si128(), sign);
            _mm_cvtepi32_ps(_mm_xor_si128(_mm_srli_epi32::<1>(numbers), all))
        })
    }

    #[inline(always)]
    pub fn join(first: Lanes, second: Lanes) -> [u32; 4] {
        // SAFETY: SSE2 is a part of x86-64, and all of these are 16 bytes.
        unsafe {
            let (first, second) = (_mm_cvtps_epi32(load(first)), _mm_cvtps_epi32(load(second)));
            std::mem::transmute::<__m128i, [u32; 4]>(_mm_packs_epi32(first, second))
        }
    }

    #[inline(always)]
    pub fn halves(unit: [u32; 4]) -> [Lanes; 2] {
        // SAFETY: SSE2 is a part of x86-64, and all of these are 16 bytes.
        unsafe {
            let all = std::mem::transmute::<[u32; 4], __m128i>(unit);
            let first = _mm_srai_epi32::<16>(_mm_unpacklo_epi16(all, all));
            let second = _mm_srai_epi32::<16>(_mm_unpackhi_epi16(all, all));
            [store(_mm_cvtepi32_ps(first)), store(_mm_cvtepi32_ps(second))]
        }
    }

    #[inline(always)]
    pub fn transpose(rows: [Lanes; 4]) -> [Lanes; 4] {
        let [a, b, c, d] = [load(rows[0]), load(rows[1]), load(rows[2]), load(rows[3])];
        // SAFETY: SSE2 is a part of x86-64.
        unsafe {
            let (ab_low, ab_high) = (_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
            [
                store(_mm_movelh_ps(ab_low, cd_low)),
                store(_mm_movehl_ps(cd_low, ab_low)),
                store(_mm_movelh_ps(ab_high, cd_high)),
                store(_mm_movehl_ps(cd_high, ab_high)),
            ]
        }
    }
}

/// The operations with plain numbers, which compilers combine as they can.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[path = "lanes_plain.rs"]
mod plain;

#[cfg(not(target_arch = "x86_64"))]
use plain as vector;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{Lanes, plain, vector};

    #[test]
    fn vector_instructions_have_the_bits_of_plain_numbers() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            3.0e-39,
            -7.25e20,
            0.1,
            f32::MAX,
            f32::INFINITY,
            1e-30,
            2.5,
            -9.0,
        ];
        let all: Vec<Lanes> = (0..numbers.len())
            .map(|start| Lanes(std::array::from_fn(|lane| numbers[(start + lane * 5) % 12])))
            .collect();
        let same = |a: Lanes, b: Lanes| {
            for (a, b) in a.0.into_iter().zip(b.0) {
                assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{a} and {b}");
            }
        };
        let mask = [u32::MAX, 0, 0, u32::MAX];
        for start in [-32768_i32, -9, 0, 32760] {
            let whole = |from: i32| Lanes(std::array::from_fn(|lane| (from + lane as i32) as f32));
            let (first, second) = (whole(start), whole(start + 4));
            let joined = vector::join(first, second);
            assert_eq!(joined, plain::join(first, second));
            for halves in [vector::halves(joined), plain::halves(joined)] {
                same(halves[0], first);
                same(halves[1], second);
            }
        }
        for a in all.iter().copied() {
            same(vector::sqrt(a), plain::sqrt(a));
            same(vector::splat_lane::<2>(a), plain::splat_lane::<2>(a));
            for b in all.iter().copied() {
                let bits = a.0.map(|number| number.to_bits() >> 8);
                same(vector::unfold(bits), plain::unfold(bits));
                same(vector::add(a, b), plain::add(a, b));
                same(vector::subtract(a, b), plain::subtract(a, b));
                same(vector::multiply(a, b), plain::multiply(a, b));
                same(vector::divide(a, b), plain::divide(a, b));
                same(vector::most(a, b), plain::most(a, b));
                same(vector::least(a, b), plain::least(a, b));
                same(vector::select(a, b, mask), plain::select(a, b, mask));
                same(vector::if_below(a, b, b, a), plain::if_below(a, b, b, a));
                let (vectors, plains) =
                    (vector::transpose([a, b, a, b]), plain::transpose([a, b, a, b]));
                vectors.into_iter().zip(plains).for_each(|(a, b)| same(a, b));
            }
        }
    }
}
