//! Functions that are compiled twice: with the instructions of newer x86-64 processors, and for all
//! others. Both have the same operations in the same order, and so the same bits: no instruction
//! that rounds a product and a sum once is among them.

/// Defines a function that calls another one with its arguments: `f::<true>` where the processor
/// has AVX2 and BMI2, compiled with these instructions, and `f::<false>` elsewhere. It is inlined.
/// Other code calls `f::<true>` only after [`has_wide_vectors`] has returned true: `f` uses vectors
/// that other processors do not have.
macro_rules! dispatched_to {
    ($with:ident: fn $name:ident($($argument:ident: $kind:ty),* $(,)?)) => {
        fn $name($($argument: $kind),*) {
            #[cfg(target_arch = "x86_64")]
            if $crate::dispatch::has_wide_vectors() {
                #[target_feature(enable = "avx2,bmi2")]
                fn newer($($argument: $kind),*) {
                    $with::<true>($($argument),*);
                }
                // SAFETY: the processor has the instructions.
                return unsafe { newer($($argument),*) };
            }
            $with::<false>($($argument),*);
        }
    };
}

pub(crate) use dispatched_to;

/// Returns true if the processor has AVX2 and BMI2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn has_wide_vectors() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2")
}

/// Returns true if the processor has AVX-512 and does not get slower while it uses it: the
/// generations before those with VBMI2 do.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn has_widest_vectors() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(test)]
mod tests {
    use engine_foundation::random::Random;

    dispatched_to! { sums_with: fn sums(a: &[f32], b: &[f32], out: &mut [f32]) }

    #[inline(always)]
    fn sums_with<const WIDE: bool>(a: &[f32], b: &[f32], out: &mut [f32]) {
        for ((a, b), out) in a.iter().zip(b).zip(out) {
            *out += a * b;
        }
    }

    #[test]
    fn products_and_sums_are_rounded_one_after_another() {
        let mut random = Random::seed(1);
        let mut numbers = || -> Vec<f32> {
            (0..1000).map(|_| random.range_i64(-1 << 24, 1 << 24) as f32 / 3.0).collect()
        };
        let (a, b, start) = (numbers(), numbers(), numbers());
        let mut out = start.clone();
        sums(&a, &b, &mut out);
        for (index, out) in out.iter().enumerate() {
            let product = std::hint::black_box(a[index] * b[index]);
            assert_eq!(out.to_bits(), (product + start[index]).to_bits());
        }
    }
}
