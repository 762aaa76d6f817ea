//! Gradient noise in one to four dimensions and its fractal sum. It is seedable, gives the same
//! values on every platform and needs no tables. Knows no textures and no terrain.
//!
//! Source: K. Perlin, "Improving Noise" (SIGGRAPH 2002): the quintic fade, and gradients along the
//! edges of a cube. Instead of a permutation table, a 64-bit hash of the lattice point selects the
//! gradient, so the noise does not repeat after 256 cells. Only sums, products and `floor` are
//! used, because they are exact or correctly rounded on every platform.

/// Maximum number of octaves of `fractal`. Each octave costs as much as one call of `noise`.
pub const OCTAVES_MAX: u32 = 16;

/// Parameters for the sum of noise octaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fractal {
    /// Number of octaves, 1 to `OCTAVES_MAX`.
    pub octaves: u32,
    /// Frequency of each octave relative to the previous one.
    pub lacunarity: f64,
    /// Amplitude of each octave relative to the previous one, above 0.
    pub gain: f64,
}

impl Fractal {
    pub const DEFAULT: Fractal = Fractal { octaves: 4, lacunarity: 2.0, gain: 0.5 };
}

/// Returns one-dimensional noise: -1 to 1, 0 at integers, smooth up to the second derivative.
///
/// Coordinates that are not finite give NaN. Beyond 2^52 a coordinate has no fraction and the noise
/// is 0. This holds for all four dimensions.
pub fn noise_1d(seed: u64, x: f64) -> f64 {
    noise(seed, [x])
}

/// Returns two-dimensional noise; range and seeds as for `noise_1d`.
pub fn noise_2d(seed: u64, x: f64, y: f64) -> f64 {
    noise(seed, [x, y])
}

/// Returns three-dimensional noise; range and seeds as for `noise_1d`.
pub fn noise_3d(seed: u64, x: f64, y: f64, z: f64) -> f64 {
    noise(seed, [x, y, z])
}

/// Returns four-dimensional noise, for example in space and time; range and seeds as for
/// `noise_1d`.
pub fn noise_4d(seed: u64, x: f64, y: f64, z: f64, w: f64) -> f64 {
    noise(seed, [x, y, z, w])
}

/// Returns the sum of noise octaves at a point of one to four coordinates, divided by the sum of
/// their weights: -1 to 1. The caller must check that the number of octaves is 1 to `OCTAVES_MAX`.
pub fn fractal<const N: usize>(seed: u64, point: [f64; N], shape: &Fractal) -> f64 {
    assert!(
        (1..=OCTAVES_MAX).contains(&shape.octaves),
        "noise has {} octaves: use 1 to {OCTAVES_MAX}",
        shape.octaves
    );
    let (mut sum, mut weights) = (0.0, 0.0);
    let (mut scale, mut weight) = (1.0, 1.0);
    for octave in 0..u64::from(shape.octaves) {
        // Each octave has its own seed. Otherwise all octaves would be 0 at the same points.
        sum += weight * noise(seed.wrapping_add(octave), point.map(|x| x * scale));
        weights += weight;
        scale *= shape.lacunarity;
        weight *= shape.gain;
    }
    sum / weights
}

/// Divisor of the raw sum over the corners, by dimension: no choice of gradients gives a greater
/// sum. A test searches for the greatest sums.
const GREATEST: [f64; 5] = [1.0, 0.5, 1.0, 1.036_354, 1.536_583];

fn noise<const N: usize>(seed: u64, point: [f64; N]) -> f64 {
    const { assert!(N >= 1 && N <= 4, "noise has one to four dimensions") };
    let cell = point.map(f64::floor);
    let mut fraction = point;
    for axis in 0..N {
        fraction[axis] -= cell[axis];
    }
    let fade = fraction.map(|t| t * t * t * (t * (t * 6.0 - 15.0) + 10.0));
    let hashes = corner_hashes(seed, cell);
    let mut sum = 0.0;
    for (corner, hash) in hashes.into_iter().enumerate().take(1 << N) {
        let (mut weight, mut offset) = (1.0, fraction);
        for axis in 0..N {
            let far = corner >> axis & 1;
            weight *= [1.0 - fade[axis], fade[axis]][far];
            offset[axis] -= far as f64;
        }
        sum += weight * slope(hash, offset);
    }
    sum / GREATEST[N]
}

/// Returns the hashes of the 2^N corners of a cell. Bit `axis` of a corner's index is set if the
/// corner is on the far side. Corners share the hashes of the axes on which they agree.
fn corner_hashes<const N: usize>(seed: u64, cell: [f64; N]) -> [u64; 16] {
    let mut hashes = [0; 16];
    hashes[0] = mix(seed);
    for (axis, near) in cell.into_iter().enumerate() {
        let near = near as i64;
        let count = 1 << axis;
        for i in 0..count {
            let hash = hashes[i];
            hashes[i] = mix(hash ^ near as u64);
            hashes[i + count] = mix(hash ^ near.wrapping_add(1) as u64);
        }
    }
    hashes
}

/// Returns the dot product of the gradient that `hash` selects with the offset from its corner.
///
/// One dimension: any slope from -1 to 1. Two: the eight directions of a compass, of length √2.
/// Three and four: plus or minus 1 on all axes but one, as in the paper.
fn slope<const N: usize>(hash: u64, offset: [f64; N]) -> f64 {
    let signed = |axis: usize| [offset[axis], -offset[axis]][(hash >> axis & 1) as usize];
    if N == 1 {
        let unit = (hash >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        return offset[0] * (2.0 * unit - 1.0);
    }
    if N == 2 {
        return match hash >> 62 {
            0 => signed(0) * std::f64::consts::SQRT_2,
            1 => signed(1) * std::f64::consts::SQRT_2,
            _ => signed(0) + signed(1),
        };
    }
    let without = (((hash >> 32) * N as u64) >> 32) as usize;
    // A factor replaces a branch that the processor could not predict.
    let factor = |axis: usize| f64::from(u8::from(axis != without));
    (0..N).map(|axis| signed(axis) * factor(axis)).sum()
}

/// Mixes a value with SplitMix64's function, after a step that keeps 0 from staying 0.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `each` with pseudorandom points from a wide range.
    fn points<const N: usize>(count: u64, mut each: impl FnMut([f64; N])) {
        for i in 0..count {
            let mut axis = 0;
            each([0.0; N].map(|_: f64| {
                axis += 1;
                (mix(i * 4 + axis) >> 11) as f64 / (1u64 << 53) as f64 * 2000.0 - 1000.0
            }));
        }
    }

    fn check_range<const N: usize>(least_reach: f64) {
        let (mut low, mut high, mut sum) = (0.0f64, 0.0f64, 0.0);
        points::<N>(100_000, |point| {
            let value = noise(5, point);
            (low, high, sum) = (low.min(value), high.max(value), sum + value);
        });
        assert!(low >= -1.0 && high <= 1.0, "{N}: {low} {high}");
        assert!(low < -least_reach && high > least_reach, "{N}: {low} {high}");
        assert!((sum / 100_000.0).abs() < 0.01, "{N}: mean {sum}");
    }

    #[test]
    fn values_fill_the_range_around_zero() {
        check_range::<1>(0.8);
        check_range::<2>(0.8);
        check_range::<3>(0.75);
        check_range::<4>(0.6);
    }

    /// Returns the greatest possible sum at a point: every corner has its best gradient.
    fn greatest_at<const N: usize>(point: [f64; N]) -> f64 {
        let mut sum = 0.0;
        for corner in 0..1usize << N {
            let (mut weight, mut offset) = (1.0, [0.0; N]);
            for axis in 0..N {
                let t = point[axis];
                let fade = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
                let far = corner >> axis & 1;
                weight *= [1.0 - fade, fade][far];
                offset[axis] = (t - far as f64).abs();
            }
            let all: f64 = offset.iter().sum();
            let most = offset.iter().fold(0.0f64, |a, b| a.max(*b));
            let least = offset.iter().fold(1.0f64, |a, b| a.min(*b));
            sum += weight
                * match N {
                    1 => all,
                    2 => all.max(most * std::f64::consts::SQRT_2),
                    _ => all - least,
                };
        }
        sum
    }

    /// Searches a grid, then increasingly finer grids around the best point.
    fn check_greatest<const N: usize>() {
        let (mut best, mut position) = (0.0, [0.25; N]);
        let (mut centre, mut reach) = ([0.25; N], 0.25);
        for _ in 0..12 {
            for index in 0..13usize.pow(N as u32) {
                let mut rest = index;
                let point = centre.map(|c| {
                    let step = (rest % 13) as f64 / 6.0 - 1.0;
                    rest /= 13;
                    (c + step * reach).clamp(0.0, 1.0)
                });
                let value = greatest_at(point);
                if value > best {
                    (best, position) = (value, point);
                }
            }
            (centre, reach) = (position, reach * 0.4);
        }
        let bound = GREATEST[N];
        assert!(best <= bound && best > bound * 0.99999, "{N}: {best} at {position:?}");
    }

    #[test]
    fn all_gradients_give_values_in_range() {
        check_greatest::<1>();
        check_greatest::<2>();
        check_greatest::<3>();
        check_greatest::<4>();
    }

    #[test]
    fn lattice_points_are_zero() {
        for x in [-3.0, 0.0, 1.0, 255.0, 256.0, 1e15, 1e300] {
            assert_eq!(noise_1d(1, x), 0.0);
            assert_eq!(noise_2d(1, x, 2.0), 0.0);
            assert_eq!(noise_3d(1, x, 2.0, -1.0), 0.0);
            assert_eq!(noise_4d(1, x, 2.0, -1.0, 0.0), 0.0);
        }
    }

    #[test]
    fn values_are_platform_independent() {
        assert_eq!(noise_1d(1, 0.3), -0.3214303897586549);
        assert_eq!(noise_2d(1, 0.3, -7.6), 0.0029754519768665916);
        assert_eq!(noise_3d(1, 0.3, -7.6, 100.25), 0.24724534737888823);
        assert_eq!(noise_4d(1, 0.3, -7.6, 100.25, 0.5), 0.3688987340962058);
        let point = [0.3, -7.6, 100.25];
        assert_eq!(fractal(1, point, &Fractal::DEFAULT), 0.18319312303839605);
    }

    #[test]
    fn noise_is_continuous_across_cells() {
        points::<3>(2_000, |[x, y, z]| {
            for x in [x, x.round()] {
                let step = noise_3d(2, x - 1e-6, y, z) - noise_3d(2, x + 1e-6, y, z);
                assert!(step.abs() < 1e-5, "{x} {y} {z}: {step}");
            }
        });
    }

    #[test]
    fn seeds_and_cells_give_different_values() {
        let here = noise_2d(1, 0.5, 0.5);
        let others = (0..1000).filter(|i| noise_2d(1, 0.5 + f64::from(*i), 0.5) == here);
        // At a center, the few gradients give many equal sums. A repeating lattice would give only
        // equal sums.
        assert!(others.count() < 500);
        let equal = (2..1000).filter(|seed| noise_1d(*seed, 0.5) == noise_1d(1, 0.5));
        assert_eq!(equal.count(), 0);
        assert_ne!(noise_1d(1, 0.3), noise_1d(1, 256.3));
    }

    #[test]
    fn coordinates_that_are_not_finite_give_nan() {
        assert!(noise_1d(1, f64::NAN).is_nan());
        assert!(noise_3d(1, 0.0, f64::INFINITY, 0.0).is_nan());
    }

    #[test]
    fn a_fractal_of_one_octave_is_plain_noise() {
        let one = Fractal { octaves: 1, ..Fractal::DEFAULT };
        points::<2>(100, |point| assert_eq!(fractal(9, point, &one), noise(9, point)));
    }

    #[test]
    fn a_fractal_keeps_the_range_and_adds_detail() {
        let most = Fractal { octaves: OCTAVES_MAX, gain: 1.0, ..Fractal::DEFAULT };
        let mut differ = 0;
        points::<2>(5_000, |point| {
            assert!(fractal(9, point, &most).abs() <= 1.0);
            differ += usize::from(fractal(9, point, &Fractal::DEFAULT) != noise(9, point));
        });
        assert_eq!(differ, 5_000);
    }

    #[test]
    #[should_panic(expected = "noise has 17 octaves: use 1 to 16")]
    fn too_many_octaves_fail_an_assertion() {
        let shape = Fractal { octaves: 17, ..Fractal::DEFAULT };
        fractal(1, [0.5], &shape);
    }
}
