//! The low-pass filter of a player. Its cutoff moves gradually, so that a jump does not click.

use kira::Frame;

/// Number of samples after which the coefficients follow the cutoff.
const STEP_FRAMES: usize = 8;
/// Time constant of each of the two smoothing stages of the cutoff, in seconds.
const GLIDE_SECONDS: f64 = 0.004;
/// The cutoff has arrived at a smaller difference than this, in natural logarithms of the
/// frequency.
const ARRIVED: f64 = 1e-4;
/// Range of the cutoff as a fraction of the sample rate.
const PART: (f64, f64) = (0.0001, 0.49);

/// A low-pass filter of second order without resonance, for both channels. After Andrew Simper,
/// "Linear Trapezoidal Integrated State Variable Filter" (Cytomic, 2013).
#[derive(Clone, Copy)]
pub struct LowPass {
    first: Frame,
    second: Frame,
    /// Logarithms of the current cutoff, and of the one that it follows. Equal steps of pitch take
    /// equal times: two smoothing stages in a row start and end slowly.
    cutoff: f64,
    followed: f64,
    /// Coefficients for `cutoff`, with the sample duration that they are valid for.
    factors: [f32; 3],
    dt: f64,
}

impl LowPass {
    /// Returns a filter in the steady state of a constant sample.
    pub fn at(cutoff_hz: f32, sample: Frame) -> LowPass {
        let cutoff = logarithm(cutoff_hz);
        LowPass {
            first: Frame::ZERO,
            second: sample,
            cutoff,
            followed: cutoff,
            factors: [0.0; 3],
            dt: 0.0,
        }
    }

    /// Filters samples, and moves the cutoff towards its target. `dt` is the duration of a sample.
    pub fn process(&mut self, frames: &mut [Frame], target_hz: f32, dt: f64) {
        let target = logarithm(target_hz);
        for step in frames.chunks_mut(STEP_FRAMES) {
            self.glide(target, dt, step.len());
            for frame in step {
                *frame = self.next(*frame);
            }
        }
    }

    /// Moves the cutoff by the time of `count` samples, and updates the coefficients.
    fn glide(&mut self, target: f64, dt: f64, count: usize) {
        let moves = self.cutoff != target;
        if moves {
            let near = 1.0 - (-(dt * count as f64) / GLIDE_SECONDS).exp();
            self.followed += (target - self.followed) * near;
            self.cutoff += (self.followed - self.cutoff) * near;
            let distance = (target - self.cutoff).abs().max((target - self.followed).abs());
            if distance < ARRIVED {
                (self.cutoff, self.followed) = (target, target);
            }
        }
        if moves || self.dt != dt {
            self.dt = dt;
            self.factors = factors(self.cutoff, dt);
        }
    }

    #[inline]
    fn next(&mut self, input: Frame) -> Frame {
        let [a1, a2, a3] = self.factors;
        let v3 = input - self.second;
        let v1 = self.first * a1 + v3 * a2;
        let v2 = self.second + self.first * a2 + v3 * a3;
        self.first = v1 * 2.0 - self.first;
        self.second = v2 * 2.0 - self.second;
        v2
    }
}

/// Returns the logarithm of a frequency. Anything below a hertz counts as a hertz.
fn logarithm(hertz: f32) -> f64 {
    f64::from(hertz.max(1.0)).ln()
}

fn factors(cutoff: f64, dt: f64) -> [f32; 3] {
    let part = (cutoff.exp() * dt).clamp(PART.0, PART.1);
    let g = (std::f64::consts::PI * part).tan();
    let a1 = 1.0 / (1.0 + g * (g + std::f64::consts::SQRT_2));
    [a1 as f32, (g * a1) as f32, (g * g * a1) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 1.0 / 48_000.0;

    /// Returns a tone at half of the full volume, filtered with a cutoff that jumps in the middle.
    fn filtered(hertz: f32, from_hz: f32, to_hz: f32) -> Vec<f32> {
        let mut filter = LowPass::at(from_hz, Frame::ZERO);
        let step = hertz * std::f32::consts::TAU / 48_000.0;
        let tone = (0..9600).map(|i| Frame::from_mono((i as f32 * step).sin() * 0.5));
        let mut frames: Vec<Frame> = tone.collect();
        for (at, batch) in frames.chunks_mut(128).enumerate() {
            filter.process(batch, if at < 37 { from_hz } else { to_hz }, DT);
        }
        frames.iter().map(|frame| frame.left).collect()
    }

    #[test]
    fn jumps_of_the_cutoff_do_not_click() {
        for hertz in [110.0f32, 440.0, 1000.0] {
            // The largest step of the tone itself.
            let own = 0.5 * hertz * std::f32::consts::TAU / 48_000.0;
            for (from, to) in [(24_000.0, 200.0), (200.0, 24_000.0), (5000.0, 60.0), (60.0, 5000.0)]
            {
                let heard = filtered(hertz, from, to);
                let steps = heard[2400..].windows(2).map(|pair| (pair[1] - pair[0]).abs());
                let most = steps.fold(0.0, f32::max);
                assert!(most < own * 1.6, "{hertz}: {from} to {to}: {most} after {own}");
            }
        }
    }

    #[test]
    fn a_jump_of_the_cutoff_arrives_in_a_few_milliseconds() {
        let mut filter = LowPass::at(20_000.0, Frame::ZERO);
        let mut frames = [Frame::from_mono(0.5); 960];
        filter.process(&mut frames, 100.0, DT);
        let distance = (filter.cutoff - logarithm(100.0)).abs();
        assert!(distance < 0.3, "{distance} after 20 ms");
        let mut frames = [Frame::from_mono(0.5); 4800];
        filter.process(&mut frames, 100.0, DT);
        assert_eq!(filter.cutoff, logarithm(100.0));
    }

    #[test]
    fn the_filter_removes_frequencies_above_its_cutoff() {
        let peak = |samples: &[f32]| samples.iter().fold(0.0f32, |most, one| most.max(one.abs()));
        let level = |hertz, cutoff| peak(&filtered(hertz, cutoff, cutoff)[4800..]);
        assert!(level(100.0, 1000.0) > 0.49);
        // Second order: a tenth of the frequency is a hundredth of the level.
        assert!((level(2000.0, 200.0) - 0.005).abs() < 0.001);
        // At the cutoff, half of the power remains.
        assert!((level(1000.0, 1000.0) - 0.5 * 0.5f32.sqrt()).abs() < 0.005);
    }
}
