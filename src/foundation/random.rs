//! Random numbers: a seedable generator with readable state, and a stateless step from seed to
//! seed. Results are the same on every platform. Knows no clock and no other source of randomness.
//! Not cryptographically secure.
//!
//! Sources: xoshiro256**, D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number
//! Generators" (2018); seeding and mixing by SplitMix64, G. Steele, D. Lea and C. Flood, "Fast
//! Splittable Pseudorandom Number Generators" (2014); ranges by D. Lemire, "Fast Random Integer
//! Generation in an Interval" (2019).

/// A xoshiro256** generator: period 2^256 - 1, 32 bytes of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Creates a generator whose whole sequence follows from `seed`. Every seed is suitable.
    pub const fn seed(seed: u64) -> Random {
        let mut state = [0; 4];
        let mut counter = seed;
        let mut i = 0;
        while i < 4 {
            counter = counter.wrapping_add(SPLITMIX_STEP);
            state[i] = mix(counter);
            i += 1;
        }
        Random { state }
    }

    /// Creates a generator that continues from a state read earlier. Returns `None` for all zeros,
    /// because such a generator would return only zeros.
    pub fn from_state(state: [u64; 4]) -> Option<Random> {
        (state != [0; 4]).then_some(Random { state })
    }

    /// Returns the complete state, for state hashes and snapshots.
    pub const fn state(&self) -> [u64; 4] {
        self.state
    }

    pub const fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    pub const fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Returns a number in 0 <= x < 1, a multiple of 2^-53.
    pub const fn next_f64(&mut self) -> f64 {
        unit_interval(self.next_u64())
    }

    /// Returns an integer in min..=max, uniformly distributed. The caller must check that min <=
    /// max.
    pub fn range_i64(&mut self, min: i64, max: i64) -> i64 {
        bounded(min, max, || self.next_u64())
    }
}

/// Performs one stateless step: returns the seed after `seed`, and a number in 0 <= x < 1 with 53
/// bits.
///
/// Seeds have 32 bits, so that a game can keep them in a number, print all their digits and send
/// them. The sequence of seeds repeats after 2^32 steps.
pub const fn next_random(seed: u32) -> (u32, f64) {
    let (seed, bits) = next_bits(seed);
    (seed, unit_interval(bits))
}

/// Performs one stateless step: returns the seed after `seed`, and an integer in min..=max. The
/// caller must check that min <= max. If the range has more than 2^32 numbers, only 2^32 of them
/// can occur.
pub fn next_random_range(seed: u32, min: i64, max: i64) -> (u32, i64) {
    let mut seed = seed;
    let value = bounded(min, max, || {
        let (next, bits) = next_bits(seed);
        seed = next;
        bits
    });
    (seed, value)
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio, rounded to an odd number.
const SPLITMIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a value with the mixing function of SplitMix64, which is one-to-one over 64 bits.
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Steps a 32-bit seed by a linear congruential generator of full period, and mixes 64 bits from
/// it. Knuth's conditions hold: the factor is 1 more than a multiple of 4, and the increment is
/// odd.
const fn next_bits(seed: u32) -> (u32, u64) {
    let seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (seed, mix((seed as u64).wrapping_add(SPLITMIX_STEP)))
}

/// Converts the upper 53 bits to a number in 0 <= x < 1. Both steps are exact.
const fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Returns a uniformly distributed integer in min..=max, from 64-bit numbers. Products that fall
/// into the uneven remainder are drawn again.
fn bounded(min: i64, max: i64, mut bits: impl FnMut() -> u64) -> i64 {
    assert!(min <= max, "random range {min} to {max} is empty: swap its ends");
    let count = (max.wrapping_sub(min) as u64).wrapping_add(1);
    if count == 0 {
        return bits() as i64;
    }
    loop {
        let product = u128::from(bits()) * u128::from(count);
        // The remainder is less than `count`. The first comparison avoids a division, which costs
        // more than everything else here.
        if product as u64 >= count || product as u64 >= count.wrapping_neg() % count {
            return min.wrapping_add((product >> 64) as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_matches_the_reference_sequence() {
        // These numbers come from the authors' C program with this state.
        let mut random = Random::from_state([1, 2, 3, 4]).unwrap();
        let first: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(first, [11520, 0, 1509978240, 1215971899390074240]);
    }

    #[test]
    fn seeding_follows_splitmix() {
        // These are the first outputs of SplitMix64 from 0, published with the algorithm.
        assert_eq!(
            Random::seed(0).state()[..3],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        );
    }

    #[test]
    fn equal_seeds_give_equal_sequences() {
        let (mut a, mut b, mut c) = (Random::seed(7), Random::seed(7), Random::seed(8));
        let differ = (0..100).filter(|_| a.next_u64() != c.next_u64()).count();
        assert_eq!(differ, 100);
        (0..100).for_each(|_| assert!(b.next_f64() < 1.0));
        assert_eq!(a, b);
    }

    #[test]
    fn a_state_can_be_saved_and_restored() {
        let mut first = Random::seed(99);
        first.next_u32();
        let mut second = Random::from_state(first.state()).unwrap();
        assert_eq!(first.next_u64(), second.next_u64());
        assert_eq!(Random::from_state([0; 4]), None);
    }

    #[test]
    fn unit_numbers_stay_below_one() {
        assert_eq!(unit_interval(0), 0.0);
        assert_eq!(unit_interval(u64::MAX), 1.0 - f64::EPSILON / 2.0);
        let mut random = Random::seed(1);
        let sum: f64 = (0..100_000).map(|_| random.next_f64()).sum();
        assert!((sum / 100_000.0 - 0.5).abs() < 0.005, "{sum}");
    }

    fn check_even(mut draw: impl FnMut() -> i64) {
        let mut counts = [0; 6];
        (0..60_000).for_each(|_| counts[(draw() - 1) as usize] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_die_is_fair() {
        let mut random = Random::seed(3);
        check_even(|| random.range_i64(1, 6));
        let mut seed = 3;
        check_even(|| {
            let (next, value) = next_random_range(seed, 1, 6);
            seed = next;
            value
        });
    }

    #[test]
    fn values_stay_within_their_range() {
        let mut random = Random::seed(4);
        for (min, max) in [
            (0, 0),
            (-3, -3),
            (i64::MIN, i64::MIN),
            (i64::MAX - 1, i64::MAX),
            (i64::MIN, i64::MAX),
            (-1, i64::MAX),
            (i64::MIN, 0),
        ] {
            for seed in 0..50 {
                assert!((min..=max).contains(&random.range_i64(min, max)));
                assert!((min..=max).contains(&next_random_range(seed, min, max).1));
            }
        }
    }

    #[test]
    fn values_beyond_the_last_full_range_are_rejected() {
        // Of 2^64 numbers over 3 values, one remains: the product 0.
        let mut bits = [0, u64::MAX].into_iter();
        assert_eq!(bounded(10, 12, || bits.next().unwrap()), 12);
        assert_eq!(bits.next(), None);
    }

    #[test]
    #[should_panic(expected = "random range 2 to 1 is empty")]
    fn an_empty_range_fails_an_assertion() {
        Random::seed(0).range_i64(2, 1);
    }

    #[test]
    fn a_stateless_step_is_platform_independent() {
        let (seed, value) = next_random(1);
        assert_eq!(seed, 1_015_568_748);
        assert_eq!(value, 0.5791896088594998);
        assert_eq!(next_random(1), (seed, value));
    }

    #[test]
    fn stateless_steps_are_evenly_distributed() {
        let (mut seed, mut sum, mut tenths) = (12345, 0.0, [0; 10]);
        for _ in 0..100_000 {
            let (next, value) = next_random(seed);
            assert!((0.0..1.0).contains(&value));
            (seed, sum) = (next, sum + value);
            tenths[(value * 10.0) as usize] += 1;
        }
        assert!((sum / 100_000.0 - 0.5f64).abs() < 0.005, "{sum}");
        assert!(tenths.iter().all(|count| (9_500..10_500).contains(count)));
    }
}
