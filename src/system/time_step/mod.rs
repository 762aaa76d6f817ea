//! Time-step policies: convert the measured time of a frame into the game's time step. Knows no
//! clock and no Lua: the frame loop measures and waits; `policy_parser` reads a game's settings.
//!
//! The algorithm is Bitsquid's "Time Step Smoothing" (2010). The names are
//! those of `Application.set_time_step_policy` in Stingray. The warm-up and the debt follow Crown's
//! filter.
//!
//! A frame passes these stages, in this order:
//!
//! 1. `system_step_range` clamps the measured time. The clamped-off time is forgotten: it never
//!    becomes debt, so a pause in a debugger is not replayed.
//! 2. `smoothing` (trimmed mean, then lerp from the last result), `no_smoothing` (stage 1 as is) or
//!    `fixed` (a constant; stages 1 and 3 then have no effect).
//! 3. `debt_payback` adds the difference between the sum of stage 1 and the sum of the steps.
//! 4. `external_multiplier` applies after the debt, because slow motion must not be paid back.
//! 5. `external_step_range` clamps the game's step; the clamped-off time is not paid back either.

use std::collections::VecDeque;

mod policy_parser;

pub use policy_parser::{PolicyArgument, parse_policy};

/// Maximum history that `smoothing` may request, in frames.
pub const HISTORY_FRAMES_MAX: usize = 256;
/// Maximum bound of either range, in seconds (games of this engine family use 100 and 1000).
pub const RANGE_SECONDS_MAX: f64 = 3600.0;
/// Maximum measured time of a frame unless `system_step_range` is set. A game that is too slow then
/// slows down. Larger steps would make each frame even slower.
pub const SYSTEM_SECONDS_MAX: f64 = 0.1;
/// Difference between the steps and the measured time at which debt is paid.
pub const DEBT_SECONDS_MIN: f64 = 0.010;

/// One policy with validated numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepPolicy {
    Smoothing(SmoothingPolicy),
    NoSmoothing,
    /// Fixed step, in seconds.
    Fixed(f64),
    /// Target frame rate, in frames per second.
    Throttle(f64),
    NoThrottle,
    ExternalStepRange(StepRange),
    SystemStepRange(StepRange),
    ExternalMultiplier(f64),
    /// Number of frames that a debt is spread over; 0 disables payback.
    DebtPayback(u32),
    ClearHistory,
}

/// Mean of the last `history` measured times without the `outliers` highest and lowest. The result
/// moves from the last result toward the mean by `factor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothingPolicy {
    /// Number of frames, 1 to [`HISTORY_FRAMES_MAX`].
    pub history: usize,
    /// Number of frames dropped at each end; twice this number must be less than `history`.
    pub outliers: usize,
    /// Lerp factor, above 0 and at most 1; 1 jumps to the mean.
    pub factor: f64,
}

impl SmoothingPolicy {
    pub const DEFAULT: SmoothingPolicy = SmoothingPolicy { history: 11, outliers: 2, factor: 0.1 };
}

/// Bounds in seconds; `min` is at most `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRange {
    pub min: f64,
    pub max: f64,
}

/// Source of the step; exactly one is active.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StepSource {
    Smoothed(SmoothingPolicy),
    Measured,
    Fixed(f64),
}

/// Time that the game lags behind (above 0) or is ahead (below 0), and the plan to pay it back.
#[derive(Clone, Debug, Default)]
struct TimeDebt {
    frames: u32,
    drift: f64,
    instalment: f64,
    instalments_left: u32,
}

impl TimeDebt {
    /// Returns the step after this frame's payment. It is never below 0, because time does not run
    /// backward.
    fn pay_debt(&mut self, measured: f64, step: f64) -> f64 {
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

/// State of all policies. `Default` is smoothing with 11, 2, 0.1 and a system range that ends at
/// [`SYSTEM_SECONDS_MAX`].
#[derive(Clone, Debug)]
pub struct TimeStepPolicy {
    source: StepSource,
    system_range: Option<StepRange>,
    external_range: Option<StepRange>,
    multiplier: f64,
    throttle_fps: Option<f64>,
    debt: TimeDebt,
    /// Measured times, the latest at the back. Recorded with every source except `Fixed`, so that
    /// smoothing starts warm.
    measured: VecDeque<f64>,
    last_smoothed: Option<f64>,
}

impl Default for TimeStepPolicy {
    fn default() -> TimeStepPolicy {
        TimeStepPolicy {
            source: StepSource::Smoothed(SmoothingPolicy::DEFAULT),
            system_range: Some(StepRange { min: 0.0, max: SYSTEM_SECONDS_MAX }),
            external_range: None,
            multiplier: 1.0,
            throttle_fps: None,
            debt: TimeDebt::default(),
            measured: VecDeque::with_capacity(HISTORY_FRAMES_MAX),
            last_smoothed: None,
        }
    }
}

impl TimeStepPolicy {
    /// Returns a policy with a constant step in seconds, for headless runs and tests.
    pub fn fixed(seconds: f64) -> TimeStepPolicy {
        assert!(seconds.is_finite() && seconds > 0.0, "a fixed step of {seconds} s");
        TimeStepPolicy { source: StepSource::Fixed(seconds), ..TimeStepPolicy::default() }
    }

    /// Parses the arguments of one call and applies the policies in their order. An invalid
    /// argument changes nothing at all. For errors, see [`parse_policy`].
    pub fn set(&mut self, arguments: &[PolicyArgument]) -> Result<(), String> {
        for policy in parse_policy(arguments)? {
            self.apply(policy);
        }
        Ok(())
    }

    /// Applies one policy; the settings that it does not name stay unchanged.
    pub fn apply(&mut self, policy: StepPolicy) {
        match policy {
            StepPolicy::Smoothing(smoothing) => self.source = StepSource::Smoothed(smoothing),
            StepPolicy::NoSmoothing => self.source = StepSource::Measured,
            StepPolicy::Fixed(seconds) => self.source = StepSource::Fixed(seconds),
            StepPolicy::Throttle(fps) => self.throttle_fps = Some(fps),
            StepPolicy::NoThrottle => self.throttle_fps = None,
            StepPolicy::ExternalStepRange(range) => self.external_range = Some(range),
            StepPolicy::SystemStepRange(range) => self.system_range = Some(range),
            StepPolicy::ExternalMultiplier(multiplier) => self.multiplier = multiplier,
            // Time that passed while payback was off is not owed, so the drift starts at 0.
            StepPolicy::DebtPayback(frames) if self.debt.frames == 0 || frames == 0 => {
                self.debt = TimeDebt { frames, ..TimeDebt::default() };
            }
            StepPolicy::DebtPayback(frames) => {
                self.debt = TimeDebt { frames, drift: self.debt.drift, ..TimeDebt::default() };
            }
            StepPolicy::ClearHistory => {
                self.measured.clear();
                self.last_smoothed = None;
                self.debt = TimeDebt { frames: self.debt.frames, ..TimeDebt::default() };
            }
        }
    }

    /// Returns the game's step in seconds for the time that the last frame took. Call it once a
    /// frame. `measured_seconds` must come from a monotonic clock: finite and not below 0.
    pub fn step(&mut self, measured_seconds: f64) -> f64 {
        assert!(
            measured_seconds.is_finite() && measured_seconds >= 0.0,
            "a frame took {measured_seconds} s: the clock is broken"
        );
        let step = match self.source {
            StepSource::Fixed(seconds) => seconds,
            StepSource::Measured => self.record_and_pay(measured_seconds, None),
            StepSource::Smoothed(smoothing) => {
                self.record_and_pay(measured_seconds, Some(smoothing))
            }
        };
        clamp(step * self.multiplier, self.external_range)
    }

    /// Returns the minimum duration of a frame (`throttle`), in seconds; the frame loop waits.
    pub fn frame_seconds_min(&self) -> Option<f64> {
        self.throttle_fps.map(|fps| 1.0 / fps)
    }

    /// Returns the measured time minus the sum of the steps, in seconds, since `debt_payback` was
    /// switched on or since `clear_history`; 0 while payback is off. For statistics.
    pub fn debt_seconds(&self) -> f64 {
        self.debt.drift
    }

    fn record_and_pay(&mut self, measured_seconds: f64, smoothing: Option<SmoothingPolicy>) -> f64 {
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
        self.debt.pay_debt(measured, step)
    }

    /// Returns the trimmed mean of the history. While the history has no more samples than would be
    /// dropped, all of them count (Crown's rule).
    fn trimmed_mean(&self, smoothing: SmoothingPolicy) -> f64 {
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

fn clamp(seconds: f64, range: Option<StepRange>) -> f64 {
    range.map_or(seconds, |range| seconds.clamp(range.min, range.max))
}

#[cfg(test)]
mod tests {
    use super::PolicyArgument::{Name, Number};
    use super::*;

    const FRAME: f64 = 0.0166;

    fn smoothed(factor: f64) -> TimeStepPolicy {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::Smoothing(SmoothingPolicy { factor, ..SmoothingPolicy::DEFAULT }));
        policy
    }

    /// Returns a default policy without a limit of the measured time.
    fn unlimited() -> TimeStepPolicy {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::SystemStepRange(StepRange { min: 0.0, max: RANGE_SECONDS_MAX }));
        policy
    }

    /// Returns the step for each measured time.
    fn run(policy: &mut TimeStepPolicy, measured: impl IntoIterator<Item = f64>) -> Vec<f64> {
        measured.into_iter().map(|seconds| policy.step(seconds)).collect()
    }

    /// Returns pseudorandom numbers from 0 to 1 (an LCG with Knuth's constants).
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
    fn the_mean_is_used_until_there_are_enough_frames() {
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
    fn interpolation_starts_from_the_last_output() {
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

    /// Returns frames of 8 to 25 ms, one in fifty of 200 ms, then a second of calm.
    fn rough(seed: u64) -> Vec<f64> {
        let frames = noise(seed).zip(noise(seed + 1000)).take(5000);
        let frames = frames.map(|(a, b)| if a < 0.02 { 0.200 } else { 0.008 + b * 0.017 });
        frames.chain([0.016; 60]).collect()
    }

    #[test]
    fn debt_payback_makes_steps_sum_to_the_measured_time() {
        for seed in 1..20 {
            let measured = rough(seed);
            let wall: f64 = measured.iter().sum();
            let mut policy = unlimited();
            let without: f64 = run(&mut policy, measured.iter().copied()).iter().sum();
            assert!((without - wall).abs() > 1.0, "seed {seed}: nothing drifted");

            let mut policy = unlimited();
            policy.apply(StepPolicy::DebtPayback(10));
            let steps = run(&mut policy, measured);
            let paid: f64 = steps.iter().sum();
            assert!((paid - wall).abs() < 0.020, "seed {seed}: {}", paid - wall);
            assert!((policy.debt_seconds() - (wall - paid)).abs() < 1e-9);
            assert!(steps.iter().all(|step| *step >= 0.0));
        }
    }

    #[test]
    fn debt_above_10_ms_is_paid_in_equal_parts() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::DebtPayback(4));
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
    fn negative_debt_is_paid_by_shorter_steps() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::DebtPayback(1));
        run(&mut policy, [FRAME; 11]);
        // Two frames are too short and dropped as outliers, so the game ran ahead by 2 x 16.6 ms.
        near(policy.step(0.0), FRAME);
        near(policy.step(0.0), 0.0);
        near(policy.debt_seconds(), -FRAME);
        near(policy.step(FRAME), 0.0);
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn debt_accumulates_only_while_enabled() {
        let mut policy = TimeStepPolicy::default();
        run(&mut policy, [FRAME; 11]);
        policy.step(0.5);
        policy.apply(StepPolicy::DebtPayback(5));
        near(policy.step(FRAME), FRAME);
        near(policy.debt_seconds(), 0.0);
        policy.step(0.5);
        policy.apply(StepPolicy::DebtPayback(0));
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn fixed_steps_are_constant_and_unsmoothed_ones_are_measured() {
        let mut policy = unlimited();
        policy.apply(StepPolicy::NoSmoothing);
        assert_eq!(run(&mut policy, [0.5, 0.1, 0.0]), [0.5, 0.1, 0.0]);
        policy.apply(StepPolicy::Fixed(0.02));
        assert_eq!(run(&mut policy, [0.5, 0.1, 0.0]), [0.02, 0.02, 0.02]);
        assert_eq!(run(&mut TimeStepPolicy::fixed(0.05), [0.5]), [0.05]);
    }

    #[test]
    fn smoothing_uses_the_frames_before_it_was_enabled() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::NoSmoothing);
        run(&mut policy, [FRAME; 11]);
        policy.apply(StepPolicy::Smoothing(SmoothingPolicy::DEFAULT));
        near(policy.step(0.200), FRAME);
    }

    #[test]
    fn a_long_frame_advances_the_game_by_a_tenth_of_a_second() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::NoSmoothing);
        assert_eq!(run(&mut policy, [0.05, 3.0, 0.1]), [0.05, 0.1, 0.1]);
        policy.apply(StepPolicy::SystemStepRange(StepRange { min: 0.0, max: 5.0 }));
        assert_eq!(policy.step(3.0), 3.0);
    }

    #[test]
    fn clamped_time_of_the_system_range_is_not_debt() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::NoSmoothing);
        policy.apply(StepPolicy::DebtPayback(10));
        policy.apply(StepPolicy::SystemStepRange(StepRange { min: 0.01, max: 0.1 }));
        assert_eq!(run(&mut policy, [60.0, 0.05, 0.001]), [0.1, 0.05, 0.01]);
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn the_multiplier_is_applied_before_the_external_range() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::NoSmoothing);
        policy.apply(StepPolicy::DebtPayback(10));
        policy.apply(StepPolicy::SystemStepRange(StepRange { min: 0.0, max: 1.0 }));
        policy.apply(StepPolicy::ExternalMultiplier(0.5));
        policy.apply(StepPolicy::ExternalStepRange(StepRange { min: 0.01, max: 0.2 }));
        assert_eq!(run(&mut policy, [0.1, 1.0, 0.001]), [0.05, 0.2, 0.01]);
        near(policy.debt_seconds(), 0.0);
        policy.apply(StepPolicy::Fixed(0.1));
        assert_eq!(policy.step(0.3), 0.05);
    }

    #[test]
    fn clear_history_resets_the_frames_and_the_debt() {
        let mut policy = TimeStepPolicy::default();
        policy.apply(StepPolicy::DebtPayback(10));
        policy.apply(StepPolicy::SystemStepRange(StepRange { min: 0.0, max: 1.0 }));
        run(&mut policy, [0.1; 20]);
        policy.step(1.0);
        assert!(policy.debt_seconds() > 0.5);
        policy.apply(StepPolicy::ClearHistory);
        near(policy.step(FRAME), FRAME);
        near(policy.debt_seconds(), 0.0);
    }

    #[test]
    fn throttle_sets_the_minimum_frame_time() {
        let mut policy = TimeStepPolicy::default();
        assert_eq!(policy.frame_seconds_min(), None);
        policy.set(&[Name("throttle"), Number(50.0)]).unwrap();
        assert_eq!(policy.frame_seconds_min(), Some(0.02));
        policy.set(&[Name("no_throttle")]).unwrap();
        assert_eq!(policy.frame_seconds_min(), None);
    }

    #[test]
    fn a_failed_call_leaves_the_policy_unchanged() {
        let mut policy = TimeStepPolicy::fixed(0.02);
        let bad = [Name("no_smoothing"), Name("throttle"), Number(60.0), Name("throttle")];
        assert!(policy.set(&bad).is_err());
        assert_eq!(policy.step(0.5), 0.02);
        assert_eq!(policy.frame_seconds_min(), None);
    }
}
