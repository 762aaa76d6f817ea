//! Time-step policies: which step the game gets for the time that a frame took. Knows no clock and
//! no Lua: the frame loop measures and waits; `words` reads what a game says.
//!
//! Source: SYSTEMS A5; the algorithm is Bitsquid's "Time Step Smoothing" (2010), the names are
//! those of `Application.set_time_step_policy` in Stingray, the warm-up and the debt follow Crown's
//! filter.
//!
//! A frame passes these stages, in this order:
//!
//! 1. `system_step_range` clamps the measured time. What it cuts away is forgotten: it never
//!    becomes debt, so a pause in a debugger is not replayed.
//! 2. `smoothing` (trimmed mean, then lerp from the last result), `no_smoothing` (stage 1 as it is)
//!    or `fixed` (a constant, for which stages 1 and 3 do nothing).
//! 3. `debt_payback`: adds what the sum of the steps lacks against the sum of stage 1.
//! 4. `external_multiplier`, after the debt: slow motion is wanted and not paid back.
//! 5. `external_step_range` clamps what the game gets; what it cuts away is wanted too.

use std::collections::VecDeque;

mod words;

pub use words::{PolicyWord, parse_policy};

/// The longest history that `smoothing` may ask for, in frames.
pub const HISTORY_FRAMES_MAX: usize = 256;
/// The largest bound of either range, in seconds (the family's games write 100 and 1000).
pub const RANGE_SECONDS_MAX: f64 = 3600.0;
/// The most measured time that a frame takes into account until `system_step_range` is set: a game
/// that is too slow for the clock goes slower, not in leaps, which would make it slower still.
pub const SYSTEM_SECONDS_MAX: f64 = 0.1;
/// Debt is paid once the steps differ from the measured time by this much.
pub const DEBT_SECONDS_MIN: f64 = 0.010;

/// One policy, its numbers checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    Smoothing(Smoothing),
    NoSmoothing,
    /// The step, in seconds.
    Fixed(f64),
    /// The frames wanted per second.
    Throttle(f64),
    NoThrottle,
    ExternalStepRange(Range),
    SystemStepRange(Range),
    ExternalMultiplier(f64),
    /// How many frames a debt is spread over; 0 pays none.
    DebtPayback(u32),
    ClearHistory,
}

/// The mean of the last `history` measured times without the `outliers` highest and lowest, reached
/// from the last result by `factor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// Frames, 1 to [`HISTORY_FRAMES_MAX`].
    pub history: usize,
    /// Frames dropped at each end; twice as many are fewer than `history`.
    pub outliers: usize,
    /// Above 0, at most 1; 1 takes the mean at once.
    pub factor: f64,
}

impl Smoothing {
    pub const DEFAULT: Smoothing = Smoothing { history: 11, outliers: 2, factor: 0.1 };
}

/// Bounds in seconds, `min` at most `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub min: f64,
    pub max: f64,
}

/// Where the step comes from: exactly one holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Smoothed(Smoothing),
    Measured,
    Fixed(f64),
}

/// Time that the game lacks (above 0) or has too much of (below 0), and the plan to pay it.
#[derive(Clone, Debug, Default)]
struct Debt {
    frames: u32,
    drift: f64,
    instalment: f64,
    instalments_left: u32,
}

impl Debt {
    /// The step after this frame's payment; never below 0, because time does not run back.
    fn pay(&mut self, measured: f64, step: f64) -> f64 {
        if self.frames == 0 {
            return step;
        }
        if self.instalments_left == 0 && self.drift.abs() >= DEBT_SECONDS_MIN {
            self.instalment = self.drift / f64::from(self.frames);
            self.instalments_left = self.frames;
        }
        let mut paid = step;
        if self.instalments_left > 0 {
            self.instalments_left -= 1;
            paid = (step + self.instalment).max(0.0);
        }
        self.drift += measured - paid;
        paid
    }
}

/// The state of all policies. `Default` is smoothing with 11, 2, 0.1 and a system range that ends
/// at [`SYSTEM_SECONDS_MAX`].
#[derive(Clone, Debug)]
pub struct TimeStepPolicy {
    source: Source,
    system_range: Option<Range>,
    external_range: Option<Range>,
    multiplier: f64,
    throttle_fps: Option<f64>,
    debt: Debt,
    /// The latest at the back; kept under every source but `Fixed`, so that smoothing starts warm.
    measured: VecDeque<f64>,
    last_smoothed: Option<f64>,
}

impl Default for TimeStepPolicy {
    fn default() -> TimeStepPolicy {
        TimeStepPolicy {
            source: Source::Smoothed(Smoothing::DEFAULT),
            system_range: Some(Range { min: 0.0, max: SYSTEM_SECONDS_MAX }),
            external_range: None,
            multiplier: 1.0,
            throttle_fps: None,
            debt: Debt::default(),
            measured: VecDeque::with_capacity(HISTORY_FRAMES_MAX),
            last_smoothed: None,
        }
    }
}

impl TimeStepPolicy {
    /// A constant step in seconds, for headless runs and tests.
    pub fn fixed(seconds: f64) -> TimeStepPolicy {
        assert!(seconds.is_finite() && seconds > 0.0, "a fixed step of {seconds} s");
        TimeStepPolicy { source: Source::Fixed(seconds), ..TimeStepPolicy::default() }
    }

    /// Reads one call's words and takes them over in their order; a word that is wrong changes
    /// nothing at all. Errors: see [`parse_policy`].
    pub fn set(&mut self, words: &[PolicyWord]) -> Result<(), String> {
        for policy in parse_policy(words)? {
            self.apply(policy);
        }
        Ok(())
    }

    /// Takes over one policy; those that it does not name stay as they are.
    pub fn apply(&mut self, policy: Policy) {
        match policy {
            Policy::Smoothing(smoothing) => self.source = Source::Smoothed(smoothing),
            Policy::NoSmoothing => self.source = Source::Measured,
            Policy::Fixed(seconds) => self.source = Source::Fixed(seconds),
            Policy::Throttle(fps) => self.throttle_fps = Some(fps),
            Policy::NoThrottle => self.throttle_fps = None,
            Policy::ExternalStepRange(range) => self.external_range = Some(range),
            Policy::SystemStepRange(range) => self.system_range = Some(range),
            Policy::ExternalMultiplier(multiplier) => self.multiplier = multiplier,
            // Time that passed while nothing was paid is not owed, so drift starts at 0.
            Policy::DebtPayback(frames) if self.debt.frames == 0 || frames == 0 => {
                self.debt = Debt { frames, ..Debt::default() };
            }
            Policy::DebtPayback(frames) => {
                self.debt = Debt { frames, drift: self.debt.drift, ..Debt::default() };
            }
            Policy::ClearHistory => {
                self.measured.clear();
                self.last_smoothed = None;
                self.debt = Debt { frames: self.debt.frames, ..Debt::default() };
            }
        }
    }

    /// The step for the game, in seconds, from the time that the last frame took. Call it once a
    /// frame. `measured_seconds` comes from a monotonic clock: finite and not below 0.
    pub fn step(&mut self, measured_seconds: f64) -> f64 {
        assert!(
            measured_seconds.is_finite() && measured_seconds >= 0.0,
            "a frame took {measured_seconds} s: the clock is broken"
        );
        let step = match self.source {
            Source::Fixed(seconds) => seconds,
            Source::Measured => self.record_and_pay(measured_seconds, None),
            Source::Smoothed(smoothing) => self.record_and_pay(measured_seconds, Some(smoothing)),
        };
        clamp(step * self.multiplier, self.external_range)
    }

    /// How long a frame should last at least (`throttle`), in seconds; the frame loop waits.
    pub fn frame_seconds_min(&self) -> Option<f64> {
        self.throttle_fps.map(|fps| 1.0 / fps)
    }

    /// Measured time minus steps given, in seconds, since `debt_payback` was switched on or
    /// `clear_history`; 0 while it is off. For statistics.
    pub fn debt_seconds(&self) -> f64 {
        self.debt.drift
    }

    fn record_and_pay(&mut self, measured_seconds: f64, smoothing: Option<Smoothing>) -> f64 {
        let measured = clamp(measured_seconds, self.system_range);
        if self.measured.len() == HISTORY_FRAMES_MAX {
            self.measured.pop_front();
        }
        self.measured.push_back(measured);
        let step = match smoothing {
            None => measured,
            Some(smoothing) => {
                let mean = self.trimmed_mean(smoothing);
                let last = self.last_smoothed.unwrap_or(mean);
                last + (mean - last) * smoothing.factor
            }
        };
        self.last_smoothed = Some(step);
        self.debt.pay(measured, step)
    }

    /// While there are no more samples than would be dropped, all of them count (Crown's rule).
    fn trimmed_mean(&self, smoothing: Smoothing) -> f64 {
        let mut samples = [0.0; HISTORY_FRAMES_MAX];
        let count = self.measured.len().min(smoothing.history);
        for (sample, measured) in samples[..count].iter_mut().zip(self.measured.iter().rev()) {
            *sample = *measured;
        }
        samples[..count].sort_unstable_by(f64::total_cmp);
        let dropped = if count > 2 * smoothing.outliers { smoothing.outliers } else { 0 };
        let kept = &samples[dropped..count - dropped];
        kept.iter().sum::<f64>() / kept.len() as f64
    }
}

fn clamp(seconds: f64, range: Option<Range>) -> f64 {
    range.map_or(seconds, |range| seconds.clamp(range.min, range.max))
}

#[cfg(test)]
mod tests {
    use super::PolicyWord::{Name, Number};
    use super::*;

    const FRAME: f64 = 0.0166;

    fn smoothed(factor: f64) -> TimeStepPolicy {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::Smoothing(Smoothing { factor, ..Smoothing::DEFAULT }));
        policy
    }

    /// With whatever was measured taken into account.
    fn unlimited() -> TimeStepPolicy {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::SystemStepRange(Range { min: 0.0, max: RANGE_SECONDS_MAX }));
        policy
    }

    /// The outputs for each measured time.
    fn run(policy: &mut TimeStepPolicy, measured: impl IntoIterator<Item = f64>) -> Vec<f64> {
        measured.into_iter().map(|seconds| policy.step(seconds)).collect()
    }

    /// Numbers from 0 to 1 that look random (an LCG with Knuth's constants).
    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        std::iter::successors(Some(seed), |state| {
            Some(state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407))
        })
        .skip(1)
        .map(|state| (state >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-12, "got {got}, wanted {wanted}");
    }

    #[test]
    fn one_spike_of_200_ms_does_not_change_the_output() {
        let mut policy = TimeStepPolicy::default();
        run(&mut policy, [FRAME; 11]);
        near(policy.step(0.200), FRAME);
        for step in run(&mut policy, [FRAME; 20]) {
            near(step, FRAME);
        }
    }

    #[test]
    fn two_spikes_are_dropped_and_a_third_is_not() {
        let mut policy = TimeStepPolicy::default();
        run(&mut policy, [FRAME; 11]);
        near(policy.step(0.200), FRAME);
        near(policy.step(0.200), FRAME);
        let mean = (6.0 * FRAME + SYSTEM_SECONDS_MAX) / 7.0;
        near(policy.step(0.200), FRAME + (mean - FRAME) * 0.1);
    }

    #[test]
    fn alternating_frames_settle_at_their_mean_with_little_ripple() {
        for (factor, ripple_max) in [(0.1, 0.00013), (0.5, 0.00081)] {
            let mut policy = smoothed(factor);
            let alternating = (0..400).map(|i| if i % 2 == 0 { 0.016 } else { 0.033 });
            let late = run(&mut policy, alternating).split_off(300);
            let low = late.iter().copied().fold(f64::MAX, f64::min);
            let high = late.iter().copied().fold(0.0, f64::max);
            assert!(((low + high) / 2.0 - 0.0245).abs() < 1e-6, "{low} to {high}");
            assert!(high - low <= ripple_max, "{factor}: ripple {}", high - low);
            assert!(high - low > ripple_max * 0.95, "a constant is impossible");
        }
    }

    #[test]
    fn the_warm_up_is_the_mean_of_all_until_there_are_more_than_the_outliers() {
        let mut policy = smoothed(1.0);
        near(policy.step(0.010), 0.010);
        near(policy.step(0.030), 0.020);
        near(policy.step(0.020), 0.020);
        near(policy.step(0.100), 0.040);
        // Five samples: two dropped at each end leave the middle one.
        near(policy.step(0.090), 0.030);
        near(policy.step(0.080), (0.030 + 0.080) / 2.0);
    }

    #[test]
    fn the_lerp_starts_from_the_last_output() {
        let mut policy = smoothed(0.1);
        near(policy.step(0.010), 0.010);
        near(policy.step(0.030), 0.010 + 0.1 * (0.020 - 0.010));
        near(policy.step(0.020), 0.011 + 0.1 * (0.020 - 0.011));
    }

    #[test]
    fn outputs_stay_between_the_shortest_and_the_longest_frame() {
        for seed in 1..50 {
            let mut policy = TimeStepPolicy::default();
            let measured: Vec<f64> = noise(seed).take(500).map(|x| 0.004 + x * 0.1).collect();
            for step in run(&mut policy, measured) {
                assert!((0.004..=0.104).contains(&step), "seed {seed}: {step}");
            }
        }
    }

    /// Frames of 8 to 25 ms, one in fifty of 200 ms, then a second of calm.
    fn rough(seed: u64) -> Vec<f64> {
        let frames = noise(seed).zip(noise(seed + 1000)).take(5000);
        let frames = frames.map(|(a, b)| if a < 0.02 { 0.200 } else { 0.008 + b * 0.017 });
        frames.chain([0.016; 60]).collect()
    }

    #[test]
    fn with_debt_payback_the_steps_add_up_to_the_measured_time() {
        for seed in 1..20 {
            let measured = rough(seed);
            let wall: f64 = measured.iter().sum();
            let mut policy = unlimited();
            let without: f64 = run(&mut policy, measured.iter().copied()).iter().sum();
            assert!((without - wall).abs() > 1.0, "seed {seed}: nothing drifted");

            let mut policy = unlimited();
            policy.apply(Policy::DebtPayback(10));
            let steps = run(&mut policy, measured);
            let paid: f64 = steps.iter().sum();
            assert!((paid - wall).abs() < 0.020, "seed {seed}: {}", paid - wall);
            assert!((policy.debt_seconds() - (wall - paid)).abs() < 1e-9);
            assert!(steps.iter().all(|step| *step >= 0.0));
        }
    }

    #[test]
    fn a_debt_is_paid_in_equal_parts_and_one_below_10_ms_is_not() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::DebtPayback(4));
        run(&mut policy, [FRAME; 11]);
        let spike = FRAME + 0.040;
        near(policy.step(spike), FRAME);
        for _ in 0..4 {
            near(policy.step(FRAME), FRAME + 0.010);
        }
        near(policy.step(FRAME), FRAME);
        near(policy.debt_seconds(), 0.0);
        policy.step(FRAME + 0.009);
        near(policy.step(FRAME), FRAME);
        near(policy.debt_seconds(), 0.009);
    }

    #[test]
    fn too_much_simulated_time_is_paid_back_by_shorter_steps_never_below_zero() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::DebtPayback(1));
        run(&mut policy, [FRAME; 11]);
        // Two frames at once too short: dropped as outliers, so the game ran ahead by 2 x 16.6 ms.
        near(policy.step(0.0), FRAME);
        near(policy.step(0.0), 0.0);
        near(policy.debt_seconds(), -FRAME);
        near(policy.step(FRAME), 0.0);
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn debt_counts_from_the_moment_it_is_switched_on() {
        let mut policy = TimeStepPolicy::default();
        run(&mut policy, [FRAME; 11]);
        policy.step(0.5);
        policy.apply(Policy::DebtPayback(5));
        near(policy.step(FRAME), FRAME);
        near(policy.debt_seconds(), 0.0);
        policy.step(0.5);
        policy.apply(Policy::DebtPayback(0));
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn no_smoothing_gives_the_measured_time_and_fixed_a_constant() {
        let mut policy = unlimited();
        policy.apply(Policy::NoSmoothing);
        assert_eq!(run(&mut policy, [0.5, 0.1, 0.0]), [0.5, 0.1, 0.0]);
        policy.apply(Policy::Fixed(0.02));
        assert_eq!(run(&mut policy, [0.5, 0.1, 0.0]), [0.02, 0.02, 0.02]);
        assert_eq!(run(&mut TimeStepPolicy::fixed(0.05), [0.5]), [0.05]);
    }

    #[test]
    fn smoothing_starts_warm_after_frames_without_it() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::NoSmoothing);
        run(&mut policy, [FRAME; 11]);
        policy.apply(Policy::Smoothing(Smoothing::DEFAULT));
        near(policy.step(0.200), FRAME);
    }

    #[test]
    fn a_frame_that_took_long_moves_the_game_on_by_a_tenth_of_a_second() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::NoSmoothing);
        assert_eq!(run(&mut policy, [0.05, 3.0, 0.1]), [0.05, 0.1, 0.1]);
        policy.apply(Policy::SystemStepRange(Range { min: 0.0, max: 5.0 }));
        assert_eq!(policy.step(3.0), 3.0);
    }

    #[test]
    fn the_system_range_clamps_what_comes_in_and_its_loss_is_no_debt() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::NoSmoothing);
        policy.apply(Policy::DebtPayback(10));
        policy.apply(Policy::SystemStepRange(Range { min: 0.01, max: 0.1 }));
        assert_eq!(run(&mut policy, [60.0, 0.05, 0.001]), [0.1, 0.05, 0.01]);
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn the_multiplier_comes_after_the_debt_and_before_the_external_range() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::NoSmoothing);
        policy.apply(Policy::DebtPayback(10));
        policy.apply(Policy::SystemStepRange(Range { min: 0.0, max: 1.0 }));
        policy.apply(Policy::ExternalMultiplier(0.5));
        policy.apply(Policy::ExternalStepRange(Range { min: 0.01, max: 0.2 }));
        assert_eq!(run(&mut policy, [0.1, 1.0, 0.001]), [0.05, 0.2, 0.01]);
        near(policy.debt_seconds(), 0.0);
        policy.apply(Policy::Fixed(0.1));
        assert_eq!(policy.step(0.3), 0.05);
    }

    #[test]
    fn clear_history_forgets_the_frames_and_the_debt() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(Policy::DebtPayback(10));
        policy.apply(Policy::SystemStepRange(Range { min: 0.0, max: 1.0 }));
        run(&mut policy, [0.1; 20]);
        policy.step(1.0);
        assert!(policy.debt_seconds() > 0.5);
        policy.apply(Policy::ClearHistory);
        near(policy.step(FRAME), FRAME);
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn throttle_tells_the_frame_loop_how_long_a_frame_lasts() {
        let mut policy = TimeStepPolicy::default();
        assert_eq!(policy.frame_seconds_min(), None);
        policy.set(&[Name("throttle"), Number(50.0)]).unwrap();
        assert_eq!(policy.frame_seconds_min(), Some(0.02));
        policy.set(&[Name("no_throttle")]).unwrap();
        assert_eq!(policy.frame_seconds_min(), None);
    }

    #[test]
    fn a_bad_call_changes_nothing() {
        let mut policy = TimeStepPolicy::fixed(0.02);
        let bad = [Name("no_smoothing"), Name("throttle"), Number(60.0), Name("throttle")];
        assert!(policy.set(&bad).is_err());
        assert_eq!(policy.step(0.5), 0.02);
        assert_eq!(policy.frame_seconds_min(), None);
    }
}
