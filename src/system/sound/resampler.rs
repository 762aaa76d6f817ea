//! Conversion of the mixer's sample rate for devices with another one, by cubic interpolation
//! (Catmull and Rom, "A class of local interpolating splines", 1974).

use super::device::SAMPLE_RATE;

/// Converts a stream of interleaved stereo samples.
pub struct Resampler {
    /// The last four frames.
    frames: [[f32; 2]; 4],
    /// Position of the next output between the second and the third of them.
    position: f64,
    /// Input frames for each output frame.
    step: f64,
}

impl Resampler {
    /// Creates a resampler to a rate in Hz.
    pub fn new(rate: u32) -> Resampler {
        let step = f64::from(SAMPLE_RATE) / f64::from(rate.max(1));
        Resampler { frames: [[0.0; 2]; 4], position: 0.0, step }
    }

    /// Appends the converted samples. The output is three frames late.
    pub fn convert(&mut self, samples: &[f32], out: &mut Vec<f32>) {
        for frame in samples.as_chunks().0 {
            self.frames.rotate_left(1);
            self.frames[3] = *frame;
            while self.position < 1.0 {
                let at = self.position as f32;
                out.extend([0, 1].map(|side| cubic(self.frames.map(|frame| frame[side]), at)));
                self.position += self.step;
            }
            self.position -= 1.0;
        }
    }
}

/// Returns the value of the curve through four points, between the second and the third.
fn cubic([a, b, c, d]: [f32; 4], at: f32) -> f32 {
    let slope = (c - a) * 0.5;
    let square = a - 2.5 * b + 2.0 * c - 0.5 * d;
    let cube = 0.5 * (d - a) + 1.5 * (b - c);
    b + at * (slope + at * (square + at * cube))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the largest error of a converted sine wave, and the number of its frames.
    fn error_of_wave(rate: u32, frequency: f64) -> (f64, usize) {
        let wave = |seconds: f64| (std::f64::consts::TAU * frequency * seconds).sin();
        let second: Vec<f32> = (0..SAMPLE_RATE)
            .flat_map(|at| [wave(f64::from(at) / f64::from(SAMPLE_RATE)) as f32; 2])
            .collect();
        let (mut resampler, mut out) = (Resampler::new(rate), Vec::new());
        second.chunks(512).for_each(|batch| resampler.convert(batch, &mut out));
        // The first frame is the one before the input begins, three frames earlier.
        let late = 2.0 / f64::from(SAMPLE_RATE);
        let error = |(at, frame): (usize, &[f32])| {
            let expected = wave(at as f64 / f64::from(rate) - late);
            (f64::from(frame[0]) - expected).abs().max((frame[0] - frame[1]).abs().into())
        };
        let settled = out.chunks(2).enumerate().skip(8);
        (settled.map(error).fold(0.0, f64::max), out.len() / 2)
    }

    #[test]
    fn a_wave_keeps_its_shape_and_length_at_other_rates() {
        for rate in [22_050, 44_100, 96_000] {
            let (error, frames) = error_of_wave(rate, 440.0);
            assert!(error < 1e-3, "{rate}: {error}");
            assert!(frames.abs_diff(rate as usize) <= 1, "{rate}: {frames} frames");
        }
    }
}
