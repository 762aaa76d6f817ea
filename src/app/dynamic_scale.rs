//! Dynamic resolution: the factor for the size of images of worlds that keeps the time of the
//! adapter for a frame near a target.

/// Frames after which the factor may change again: new images show their time only then.
const FRAMES: u32 = 12;
/// The factor changes by at least this step, so that few sizes of images exist.
const STEP: f32 = 1.0 / 16.0;
/// Part of the target that is aimed at.
const AIM: f32 = 0.9;
/// Below this part of the target, the factor rises.
const RISE_BELOW: f32 = 0.8;

/// The factor, and the measurements since it changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DynamicScale {
    factor: f32,
    sum_ms: f32,
    count: u32,
    /// The newest frame that was measured.
    frame: u64,
}

impl Default for DynamicScale {
    fn default() -> DynamicScale {
        DynamicScale { factor: 1.0, sum_ms: 0.0, count: 0, frame: 0 }
    }
}

impl DynamicScale {
    /// Returns the factor after the measurement of a frame. `milliseconds`: the time of the adapter
    /// for it; `target_ms`: 0 is off; `min`: the smallest factor.
    pub fn follow(&mut self, frame: u64, milliseconds: f32, target_ms: f32, min: f32) -> f32 {
        if target_ms <= 0.0 {
            *self = DynamicScale::default();
            return 1.0;
        }
        let is_new = frame != self.frame && milliseconds.is_finite() && milliseconds > 0.0;
        if is_new {
            (self.sum_ms, self.count) = (self.sum_ms + milliseconds, self.count + 1);
            self.frame = frame;
        }
        if self.count >= FRAMES {
            let mean = self.sum_ms / self.count as f32;
            (self.sum_ms, self.count) = (0.0, 0);
            self.adapt(mean / target_ms);
        }
        self.factor = self.factor.clamp(min.clamp(STEP, 1.0), 1.0);
        self.factor
    }

    /// Changes the factor by the part of the target that frames have taken.
    fn adapt(&mut self, part: f32) {
        if (RISE_BELOW..=1.0).contains(&part) {
            return;
        }
        // The time follows the number of pixels, the square of the factor.
        let wanted = self.factor * (AIM / part).sqrt().clamp(0.5, 1.5);
        let steps = (wanted / STEP).floor();
        let rises = part < RISE_BELOW;
        let changed = (steps * STEP).clamp(STEP, 1.0);
        if rises == (changed > self.factor) {
            self.factor = changed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the factor after many frames whose time follows the number of pixels.
    fn settled(full_ms: f32, target_ms: f32, min: f32) -> (f32, u32) {
        let mut scale = DynamicScale::default();
        let (mut factor, mut changes) = (1.0, 0);
        for frame in 1..=600 {
            let before = factor;
            factor = scale.follow(frame, full_ms * factor * factor, target_ms, min);
            changes += u32::from(factor != before);
        }
        (factor, changes)
    }

    #[test]
    fn frames_settle_below_their_target() {
        for full_ms in [17.0, 25.0, 40.0, 60.0] {
            let (factor, changes) = settled(full_ms, 16.0, 0.25);
            let ms = full_ms * factor * factor;
            assert!((11.0..=16.0).contains(&ms), "{full_ms}: {ms} with {factor}");
            assert!(changes <= 3, "{changes}");
        }
        assert_eq!(settled(5.0, 16.0, 0.25), (1.0, 0), "a fast frame keeps its size");
        assert_eq!(settled(500.0, 16.0, 0.5).0, 0.5, "it has a smallest size");
    }

    #[test]
    fn the_factor_rises_when_frames_become_fast() {
        let mut scale = DynamicScale::default();
        for frame in 0..100 {
            scale.follow(frame, 40.0, 16.0, 0.5);
        }
        let mut factor = scale.factor;
        assert_eq!(factor, 0.5);
        for frame in 100..400 {
            factor = scale.follow(frame, 4.0 * factor * factor, 16.0, 0.5);
        }
        assert_eq!(factor, 1.0);
        assert_eq!(scale.follow(400, 99.0, 0.0, 0.5), 1.0, "without a target it is off");
    }

    #[test]
    fn wrong_measurements_change_nothing() {
        let mut scale = DynamicScale::default();
        for frame in 0..100 {
            for wrong in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
                assert_eq!(scale.follow(frame, wrong, 16.0, 0.5), 1.0);
            }
            // The same frame again is no new measurement.
            assert_eq!(scale.follow(7, 90.0, 16.0, 0.5), 1.0);
        }
    }
}
