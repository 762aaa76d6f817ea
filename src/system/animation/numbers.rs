//! Vectors of four and of eight numbers with the same operations, so that a calculation is written
//! once for both. Each number has the same bits in either.

use super::lanes::Lanes;
use std::ops::{Add, Div, Mul, Sub};

/// A vector of numbers.
pub trait SimdFloat:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn splat(value: f32) -> Self;
    fn sqrt(self) -> Self;

    /// Returns `chosen` where the number is below the limit, and `other` elsewhere.
    fn if_below(self, limit: Self, chosen: Self, other: Self) -> Self;

    /// Returns -1 where the number is negative and 1 elsewhere.
    #[inline(always)]
    fn sign(self) -> Self {
        self.if_below(Self::splat(0.0), Self::splat(-1.0), Self::splat(1.0))
    }
}

impl SimdFloat for Lanes {
    #[inline(always)]
    fn splat(value: f32) -> Lanes {
        Lanes::splat(value)
    }

    #[inline(always)]
    fn sqrt(self) -> Lanes {
        Lanes::sqrt(self)
    }

    #[inline(always)]
    fn if_below(self, limit: Lanes, chosen: Lanes, other: Lanes) -> Lanes {
        Lanes::if_below(self, limit, chosen, other)
    }
}

#[inline(always)]
pub fn dot<V: SimdFloat>(a: &[V; 4], b: &[V; 4]) -> V {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// Returns the numbers between two vectors: `from` with a part of 0, and `to` with 1.
#[inline(always)]
pub fn mix<V: SimdFloat, const N: usize>(from: [V; N], to: [V; N], part: V) -> [V; N] {
    std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * part)
}

/// Returns the products of two rotations, of which `b` is applied first.
#[inline(always)]
pub fn product<V: SimdFloat>(a: [V; 4], b: [V; 4]) -> [V; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Scales quaternions to length 1. Opposite rotations of equal weight can cancel out; the result
/// is then no rotation.
#[inline(always)]
pub fn normalize<V: SimdFloat>(rotation: [V; 4]) -> [V; 4] {
    let [x, y, z, w] = rotation;
    let square = x * x + y * y + z * z + w * w;
    let tiny = V::splat(1e-12);
    let real = square.if_below(tiny, V::splat(1e-3), w);
    let square = square.if_below(tiny, V::splat(1e-6), square);
    let factor = V::splat(1.0) / square.sqrt();
    [x * factor, y * factor, z * factor, real * factor]
}

/// Eight numbers: those of two groups of four bones.
#[cfg(target_arch = "x86_64")]
pub mod wide {
    use super::{Lanes, SimdFloat};
    use std::arch::x86_64::{
        __m256, _CMP_LT_OQ, _mm256_add_ps, _mm256_blendv_ps, _mm256_cmp_ps, _mm256_div_ps,
        _mm256_mul_ps, _mm256_set1_ps, _mm256_sqrt_ps, _mm256_sub_ps,
    };
    use std::ops::{Add, Div, Mul, Sub};

    /// Eight numbers. Without AVX2, their use is undefined behavior. [`SimdFloat::splat`] of this
    /// type is a safe function only because it is one for all vectors: its callers have checked the
    /// processor, as those of [`Lanes8::join`] have.
    #[derive(Clone, Copy)]
    pub struct Lanes8(__m256);

    impl Lanes8 {
        /// Joins the numbers of two groups.
        ///
        /// # Safety
        /// The processor has AVX2.
        #[inline(always)]
        pub unsafe fn join(first: Lanes, second: Lanes) -> Lanes8 {
            // SAFETY: both are 32 bytes with eight numbers.
            Lanes8(unsafe { std::mem::transmute::<[Lanes; 2], __m256>([first, second]) })
        }

        /// Returns the numbers of both groups.
        #[inline(always)]
        pub fn halves(self) -> [Lanes; 2] {
            // SAFETY: both are 32 bytes with eight numbers.
            unsafe { std::mem::transmute::<__m256, [Lanes; 2]>(self.0) }
        }
    }

    macro_rules! operators {
        ($($operator:ident $name:ident = $instruction:ident;)*) => {$(
            impl $operator for Lanes8 {
                type Output = Lanes8;
                #[inline(always)]
                fn $name(self, other: Lanes8) -> Lanes8 {
                    // SAFETY: the processor has the instructions, or there would be no such value.
                    Lanes8(unsafe { $instruction(self.0, other.0) })
                }
            }
        )*};
    }

    operators! {
        Add add = _mm256_add_ps;
        Sub sub = _mm256_sub_ps;
        Mul mul = _mm256_mul_ps;
        Div div = _mm256_div_ps;
    }

    impl SimdFloat for Lanes8 {
        #[inline(always)]
        fn splat(value: f32) -> Lanes8 {
            // SAFETY: only code for processors with the instructions uses these vectors.
            Lanes8(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn sqrt(self) -> Lanes8 {
            // SAFETY: the processor has the instructions, or there would be no such value.
            Lanes8(unsafe { _mm256_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn if_below(self, limit: Lanes8, chosen: Lanes8, other: Lanes8) -> Lanes8 {
            // SAFETY: the processor has the instructions, or there would be no such value.
            Lanes8(unsafe {
                let is_below = _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0);
                _mm256_blendv_ps(other.0, chosen.0, is_below)
            })
        }
    }
}
