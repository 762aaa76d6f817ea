//! The output of the mixer: a limiter that keeps the true peak below a ceiling, and the meter of
//! what it lets through. The limiter looks ahead, so the output is late by [`LATENCY_FRAMES`], with
//! the limiter off, too. Knows no buses and no devices. It is an effect of the main track, because
//! the mixer cuts everything beyond the full scale off after that.

use super::true_peak::{BATCH_MAX, TAPS, TruePeakFilter};
use engine_foundation::blob::NumberRange;
use kira::Frame;
use kira::effect::Effect;
use kira::info::Info;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Range of the ceiling, in decibels of the full scale.
pub const CEILING_DB: NumberRange = (-24.0, 0.0);
/// Range of the release time, in seconds.
pub const RELEASE_SECONDS: NumberRange = (0.01, 2.0);
/// The level that a meter shows for silence, in decibels.
pub const SILENCE_DB: f32 = -120.0;

/// Number of samples in which the gain falls. A gain that falls at once would click.
const ATTACK_FRAMES: usize = 64;
/// Delay of the output, in samples: the attack, and the samples after which a peak is known.
pub const LATENCY_FRAMES: usize = ATTACK_FRAMES + TAPS - 2;
/// Number of samples for which a gain holds: all whose attack or whose delay includes its peak.
const HOLD_FRAMES: usize = LATENCY_FRAMES + 1;
/// A gain this close to 1 is 1.
const FULL_GAIN: f32 = 0.999_99;
/// Number of samples of one slot of the meter, and the number of slots: it shows the last second.
const SLOT_FRAMES: usize = 4800;
const SLOTS: usize = 10;

/// Settings of the limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimiterSettings {
    /// The highest true peak, in decibels of the full scale.
    pub ceiling_db: f32,
    /// Time in which the gain recovers after a peak.
    pub release_seconds: f32,
}

impl LimiterSettings {
    pub const DEFAULT: LimiterSettings = LimiterSettings { ceiling_db: -1.0, release_seconds: 0.1 };
}

/// Numbers that the game's thread and the mixer share.
pub struct OutputControl {
    /// The ceiling as an amplitude; infinite if the limiter is off.
    ceiling: AtomicU32,
    release_seconds: AtomicU32,
    /// The highest true peak of the last second, as an amplitude.
    true_peak: AtomicU32,
}

impl Default for OutputControl {
    fn default() -> OutputControl {
        OutputControl::new()
    }
}

impl OutputControl {
    pub fn new() -> OutputControl {
        let number = |value: f32| AtomicU32::new(value.to_bits());
        OutputControl {
            ceiling: number(f32::INFINITY),
            release_seconds: number(LimiterSettings::DEFAULT.release_seconds),
            true_peak: number(0.0),
        }
    }

    /// Sets the limiter, or switches it off.
    pub fn set(&self, settings: Option<LimiterSettings>) {
        let ceiling = settings.map_or(f32::INFINITY, |one| 10.0f32.powf(one.ceiling_db / 20.0));
        let release = settings.unwrap_or(LimiterSettings::DEFAULT).release_seconds;
        self.ceiling.store(ceiling.to_bits(), Ordering::Relaxed);
        self.release_seconds.store(release.to_bits(), Ordering::Relaxed);
    }

    /// Returns the highest true peak of the last second, in decibels, at least [`SILENCE_DB`].
    pub fn true_peak_db(&self) -> f32 {
        let peak = f32::from_bits(self.true_peak.load(Ordering::Relaxed));
        (20.0 * peak.log10()).max(SILENCE_DB)
    }
}

/// The limiter and the meter, on the thread of the mixer.
pub struct MasterOutput {
    control: Arc<OutputControl>,
    incoming: [TruePeakFilter; 2],
    outgoing: [TruePeakFilter; 2],
    /// Samples that wait for the output.
    delay: [Frame; LATENCY_FRAMES],
    delay_at: usize,
    held: HeldMinimum,
    /// Gain after the hold, with the release.
    gain: f32,
    attack: Attack,
    meter: Meter,
}

impl MasterOutput {
    pub fn new(control: Arc<OutputControl>) -> MasterOutput {
        MasterOutput {
            control,
            incoming: [TruePeakFilter::new(), TruePeakFilter::new()],
            outgoing: [TruePeakFilter::new(), TruePeakFilter::new()],
            delay: [Frame::ZERO; LATENCY_FRAMES],
            delay_at: 0,
            held: HeldMinimum::new(),
            gain: 1.0,
            attack: Attack::new(),
            meter: Meter { slots: [0.0; SLOTS], at: 0, count: 0 },
        }
    }

    fn limit(&mut self, batch: &mut [Frame], ceiling: f32, near: f32) {
        for frame in batch.iter_mut() {
            // A number that is not finite would stay in the averages.
            let finite = |sample: f32| if sample.is_finite() { sample } else { 0.0 };
            *frame = Frame { left: finite(frame.left), right: finite(frame.right) };
        }
        let peaks = peaks(&mut self.incoming, batch);
        for (frame, peak) in batch.iter_mut().zip(peaks) {
            let wanted = if peak > ceiling { ceiling / peak } else { 1.0 };
            let held = self.held.next(wanted);
            self.gain = if held < self.gain { held } else { self.gain + (held - self.gain) * near };
            if self.gain > FULL_GAIN {
                self.gain = 1.0;
            }
            let gain = self.attack.next(self.gain);
            let late = std::mem::replace(&mut self.delay[self.delay_at], *frame);
            self.delay_at = (self.delay_at + 1) % LATENCY_FRAMES;
            *frame = late * gain;
        }
    }
}

impl Effect for MasterOutput {
    fn process(&mut self, input: &mut [Frame], dt: f64, _: &Info) {
        let ceiling = f32::from_bits(self.control.ceiling.load(Ordering::Relaxed));
        let release = f32::from_bits(self.control.release_seconds.load(Ordering::Relaxed));
        let near = 1.0 - (-(dt as f32) / release).exp();
        for batch in input.chunks_mut(BATCH_MAX) {
            self.limit(batch, ceiling, near);
            let peaks = peaks(&mut self.outgoing, batch);
            let highest = peaks[..batch.len()].iter().copied().fold(0.0, f32::max);
            self.meter.add(highest, batch.len());
        }
        self.control.true_peak.store(self.meter.peak().to_bits(), Ordering::Relaxed);
    }
}

/// Returns the amplitudes near each frame, over both channels.
fn peaks(filters: &mut [TruePeakFilter; 2], batch: &[Frame]) -> [f32; BATCH_MAX] {
    let (mut peaks, count) = ([0.0; BATCH_MAX], batch.len());
    let channels: [fn(&Frame) -> f32; 2] = [|frame| frame.left, |frame| frame.right];
    for (channel, filter) in channels.iter().zip(filters) {
        let mut samples = [0.0; BATCH_MAX];
        for (sample, frame) in samples.iter_mut().zip(batch) {
            *sample = channel(frame);
        }
        filter.measure(&samples[..count], &mut peaks[..count]);
    }
    peaks
}

/// The smallest of the last [`HOLD_FRAMES`] gains.
struct HeldMinimum {
    /// Gains that can still become the smallest, with their time: the oldest first, ascending.
    queue: [(u64, f32); HOLD_FRAMES],
    first: usize,
    count: usize,
    time: u64,
}

impl HeldMinimum {
    fn new() -> HeldMinimum {
        HeldMinimum { queue: [(0, 1.0); HOLD_FRAMES], first: 0, count: 0, time: 0 }
    }

    fn next(&mut self, gain: f32) -> f32 {
        self.time += 1;
        if self.count > 0 && self.queue[self.first].0 + HOLD_FRAMES as u64 <= self.time {
            (self.first, self.count) = ((self.first + 1) % HOLD_FRAMES, self.count - 1);
        }
        while self.count > 0 {
            let last = (self.first + self.count - 1) % HOLD_FRAMES;
            if self.queue[last].1 < gain {
                break;
            }
            self.count -= 1;
        }
        self.queue[(self.first + self.count) % HOLD_FRAMES] = (self.time, gain);
        self.count += 1;
        self.queue[self.first].1
    }
}

/// The mean of the last [`ATTACK_FRAMES`] gains, which turns a step into a slope.
struct Attack {
    gains: [f32; ATTACK_FRAMES],
    at: usize,
    sum: f64,
    /// Number of gains of 1 in a row.
    full: usize,
}

impl Attack {
    fn new() -> Attack {
        let (gains, sum) = ([1.0; ATTACK_FRAMES], ATTACK_FRAMES as f64);
        Attack { gains, at: 0, sum, full: ATTACK_FRAMES }
    }

    fn next(&mut self, gain: f32) -> f32 {
        let oldest = std::mem::replace(&mut self.gains[self.at], gain);
        self.at = (self.at + 1) % ATTACK_FRAMES;
        self.full = if gain == 1.0 { self.full + 1 } else { 0 };
        if self.full >= ATTACK_FRAMES {
            // Exact again, in spite of rounding.
            self.sum = ATTACK_FRAMES as f64;
            return 1.0;
        }
        self.sum += f64::from(gain) - f64::from(oldest);
        (self.sum / ATTACK_FRAMES as f64) as f32
    }
}

/// The highest peaks of the last ten tenths of a second.
struct Meter {
    slots: [f32; SLOTS],
    at: usize,
    /// Number of samples in the current slot.
    count: usize,
}

impl Meter {
    fn add(&mut self, peak: f32, count: usize) {
        if self.count >= SLOT_FRAMES {
            self.at = (self.at + 1) % SLOTS;
            (self.slots[self.at], self.count) = (0.0, 0);
        }
        self.slots[self.at] = self.slots[self.at].max(peak);
        self.count += count;
    }

    fn peak(&self) -> f32 {
        self.slots.iter().copied().fold(0.0, f32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kira::info::MockInfoBuilder;

    const RATE: u32 = 48_000;

    /// Returns both channels of an output, with the levels of the meter in decibels after each
    /// tenth of a second.
    fn played(
        settings: Option<LimiterSettings>,
        frames: usize,
        sample: impl Fn(usize) -> f32,
    ) -> (Vec<f32>, Vec<f32>) {
        let control = Arc::new(OutputControl::new());
        let mut output = MasterOutput::new(control.clone());
        control.set(settings);
        let mut heard: Vec<Frame> = (0..frames).map(|i| Frame::from_mono(sample(i))).collect();
        let mut levels = Vec::new();
        for tenth in heard.chunks_mut(4800) {
            // Batches of several sizes, as at the end of a frame.
            for batch in tenth.chunks_mut(167) {
                let info = MockInfoBuilder::new().build();
                output.process(batch, 1.0 / f64::from(RATE), &info);
            }
            levels.push(control.true_peak_db());
        }
        (heard.iter().flat_map(|frame| [frame.left, frame.right]).collect(), levels)
    }

    fn tone(hertz: f32, level: f32) -> impl Fn(usize) -> f32 {
        move |i| (i as f32 * hertz * std::f32::consts::TAU / RATE as f32).sin() * level
    }

    #[test]
    fn quiet_sound_passes_unchanged_and_late() {
        let (samples, levels) = played(Some(LimiterSettings::DEFAULT), 9600, tone(440.0, 0.5));
        for (i, frame) in samples.chunks_exact(2).enumerate() {
            let wanted = i.checked_sub(LATENCY_FRAMES).map_or(0.0, tone(440.0, 0.5));
            assert_eq!((frame[0], frame[1]), (wanted, wanted), "{i}");
        }
        let expected = 20.0 * 0.5f32.log10();
        assert!((levels[1] - expected).abs() < 0.1, "{levels:?}");
    }

    #[test]
    fn the_true_peak_stays_below_the_ceiling() {
        let step = |i: usize| if i < 4800 { 0.1f32 } else { 4.0 };
        let bursts = |i: usize| if i % 2400 < 200 { 3.0f32 } else { 0.2 };
        for hertz in [60.0, 440.0, 5000.0, 12_000.0] {
            for ceiling_db in [-1.0, -6.0] {
                let settings = LimiterSettings { ceiling_db, ..LimiterSettings::DEFAULT };
                for level in [&step as &dyn Fn(usize) -> f32, &bursts] {
                    let loud = |i: usize| tone(hertz, 1.0)(i + 6) * level(i);
                    let (samples, levels) = played(Some(settings), 24_000, loud);
                    let most = levels.iter().copied().fold(f32::MIN, f32::max);
                    assert!(most < ceiling_db + 0.1, "{hertz}: {most} dB");
                    assert!(most > ceiling_db - 1.0, "{hertz}: {most} dB");
                    let sampled = samples.iter().fold(0.0f32, |most, one| most.max(one.abs()));
                    assert!(20.0 * sampled.log10() < ceiling_db + 0.05, "{hertz}: {sampled}");
                }
            }
        }
    }

    #[test]
    fn without_a_limiter_the_meter_shows_the_overload() {
        let (samples, levels) = played(None, 9600, tone(440.0, 2.0));
        assert!(samples.iter().any(|sample| *sample > 1.99));
        assert!((levels[1] - 6.0).abs() < 0.1, "{levels:?}");
    }

    #[test]
    fn the_gain_recovers_without_a_step() {
        let (samples, _) = played(Some(LimiterSettings::DEFAULT), 96_000, |i| {
            tone(220.0, if i < 9600 { 4.0 } else { 0.5 })(i)
        });
        let left: Vec<f32> = samples.iter().step_by(2).copied().collect();
        let own = 0.9 * 220.0 * std::f32::consts::TAU / RATE as f32;
        let steps = left[..96_000].windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let most = steps.skip(LATENCY_FRAMES + 1).fold(0.0, f32::max);
        assert!(most < own * 2.0, "{most} after {own}");
        let end = left[90_000..].iter().fold(0.0f32, |most, sample| most.max(sample.abs()));
        assert!((end - 0.5).abs() < 1e-3, "{end}");
    }

    #[test]
    fn numbers_that_are_not_finite_become_silence() {
        let (samples, levels) = played(Some(LimiterSettings::DEFAULT), 48_000, |i| match i {
            100 => f32::NAN,
            200 => f32::INFINITY,
            300 => f32::NEG_INFINITY,
            _ => 0.25,
        });
        assert!(samples.iter().all(|sample| sample.abs() <= 0.25));
        assert_eq!(samples[80_000], 0.25);
        assert!(levels.iter().all(|level| level.is_finite()));
    }

    #[test]
    fn the_meter_forgets_after_a_second() {
        let (_, levels) =
            played(Some(LimiterSettings::DEFAULT), 96_000, |i| if i == 10 { 0.8 } else { 0.0 });
        assert!(levels[8] > -3.0, "{levels:?}");
        assert_eq!(levels[12], SILENCE_DB);
    }
}
