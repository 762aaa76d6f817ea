//! The true peak of sampled sound: the highest level of the continuous signal that a device makes
//! of the samples, which can be between them. Measured as in Recommendation ITU-R BS.1770-5, annex
//! 2: at
//! four times the sample rate.

/// Number of samples of a channel that one call measures at most.
pub const BATCH_MAX: usize = 256;
/// Number of samples that one interpolated value depends on. A peak near a sample is complete this
/// many samples later, less one.
pub const TAPS: usize = 12;

/// Coefficients of the interpolation, by phase; table of annex 2. The other two phases are these in
/// reverse order.
const PHASES: [[f32; TAPS]; 2] = [
    [
        0.001_708_984_4,
        0.010_986_328,
        -0.019_653_32,
        0.033_203_125,
        -0.059_448_242,
        0.137_329_1,
        0.972_167_97,
        -0.102_294_92,
        0.047_607_422,
        -0.026_611_328,
        0.014_892_578,
        -0.008_300_781,
    ],
    [
        -0.029_174_805,
        0.029_296_875,
        -0.051_757_813,
        0.089_111_33,
        -0.166_503_9,
        0.465_087_9,
        0.779_785_16,
        -0.200_317_38,
        0.101_562_5,
        -0.058_227_54,
        0.033_081_055,
        -0.018_920_898,
    ],
];

/// The interpolation of one channel.
pub struct TruePeakFilter {
    /// The last samples of the previous batch, and the current batch.
    samples: [f32; TAPS - 1 + BATCH_MAX],
}

impl TruePeakFilter {
    pub fn new() -> TruePeakFilter {
        TruePeakFilter { samples: [0.0; TAPS - 1 + BATCH_MAX] }
    }

    /// Raises each value of `peaks` to the amplitude near a sample, of at most [`BATCH_MAX`]
    /// samples.
    pub fn measure(&mut self, batch: &[f32], peaks: &mut [f32]) {
        let count = batch.len();
        assert!(count <= BATCH_MAX && peaks.len() == count, "the caller divides its samples");
        self.samples[TAPS - 1..][..count].copy_from_slice(batch);
        for (peak, sample) in peaks.iter_mut().zip(batch) {
            *peak = peak.max(sample.abs());
        }
        for phase in &PHASES {
            let (mut ahead, mut back) = ([0.0f32; BATCH_MAX], [0.0f32; BATCH_MAX]);
            for (tap, factor) in phase.iter().enumerate() {
                let mirrored = phase[TAPS - 1 - tap];
                let window = &self.samples[TAPS - 1 - tap..][..count];
                for ((ahead, back), sample) in ahead.iter_mut().zip(&mut back).zip(window) {
                    *ahead += sample * factor;
                    *back += sample * mirrored;
                }
            }
            for ((peak, ahead), back) in peaks.iter_mut().zip(&ahead).zip(&back) {
                *peak = peak.max(ahead.abs()).max(back.abs());
            }
        }
        self.samples.copy_within(count..count + TAPS - 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the true peak of samples, measured in batches of several sizes.
    fn true_peak(samples: &[f32]) -> f32 {
        let mut filter = TruePeakFilter::new();
        let (mut most, mut rest, mut size) = (0.0f32, samples, 1);
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(size.min(rest.len()));
            let mut peaks = vec![0.0; batch.len()];
            filter.measure(batch, &mut peaks);
            most = peaks.into_iter().fold(most, f32::max);
            (rest, size) = (after, size * 3 % BATCH_MAX + 1);
        }
        most
    }

    #[test]
    fn peaks_between_samples_are_found() {
        let tone = |hertz: f32, phase: f32| -> Vec<f32> {
            let step = hertz * std::f32::consts::TAU / 48_000.0;
            // A tone that begins suddenly would have a higher peak.
            let level = |i: usize| (i as f32 / 1000.0).min(1.0);
            (0..4800).map(|i| (i as f32 * step + phase).sin() * level(i)).collect()
        };
        // All samples of a quarter of the sample rate at 45 degrees are at 0.71.
        let between = tone(12_000.0, std::f32::consts::FRAC_PI_4);
        let sampled = between.iter().fold(0.0f32, |most, sample| most.max(sample.abs()));
        assert!((sampled - 0.5f32.sqrt()).abs() < 1e-3);
        // The recommendation allows an error of 0.5 dB there: 6 %.
        let peak = true_peak(&between);
        assert!((peak - 1.0).abs() < 0.06, "{peak}");
        for (hertz, phase) in [(440.0, 0.3), (997.0, 0.0), (5000.0, 1.0)] {
            let peak = true_peak(&tone(hertz, phase));
            assert!((peak - 1.0).abs() < 0.03, "{hertz}: {peak}");
        }
        assert_eq!(true_peak(&[0.0; 1000]), 0.0);
    }

    #[test]
    fn each_phase_keeps_a_constant_level() {
        for phase in PHASES {
            let sum: f32 = phase.iter().sum();
            assert!((sum - 1.0).abs() < 0.03, "{sum}");
        }
    }
}
