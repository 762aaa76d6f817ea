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
    /// The first frame with the factor. Measurements arrive some frames late, and those of earlier
    /// frames belong to another size.
    since: u64,
}

/// The measured time of the adapter for a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeasuredFrame {
    pub frame: u64,
    pub milliseconds: f32,
}

impl Default for DynamicScale {
    fn default() -> DynamicScale {
        DynamicScale { factor: 1.0, sum_ms: 0.0, count: 0, frame: 0, since: 0 }
    }
}

impl DynamicScale {
    /// Returns the factor for the frame `next`, after the newest measurement of one. `target_ms`: 0
    /// is off; `min`: the smallest factor.
    pub fn follow(&mut self, next: u64, newest: MeasuredFrame, target_ms: f32, min: f32) -> f32 {
        if target_ms <= 0.0 {
            *self = DynamicScale::default();
            return 1.0;
        }
        let before = self.factor;
        let MeasuredFrame { frame, milliseconds } = newest;
        // A restarted game counts its frames from the beginning.
        self.since = self.since.min(next);
        let is_new = frame != self.frame && milliseconds.is_finite() && milliseconds > 0.0;
        if is_new && (self.since..next).contains(&frame) {
            (self.sum_ms, self.count) = (self.sum_ms + milliseconds, self.count + 1);
            self.frame = frame;
        }
        if self.count >= FRAMES {
            let mean = self.sum_ms / self.count as f32;
            (self.sum_ms, self.count) = (0.0, 0);
            self.adapt(mean / target_ms);
        }
        self.factor = self.factor.clamp(min.clamp(STEP, 1.0), 1.0);
        if self.factor != before {
            (self.sum_ms, self.count, self.since) = (0.0, 0, next);
        }
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

    /// Number of frames after which a measurement arrives.
    const DELAY: u64 = 4;

    /// A game whose frames take a time that follows the number of pixels.
    struct Model {
        scale: DynamicScale,
        next: u64,
        /// The factors of the frames, from frame 0.
        factors: Vec<f32>,
    }

    impl Model {
        fn new() -> Model {
            Model { scale: DynamicScale::default(), next: 1, factors: vec![1.0] }
        }

        /// Plays frames. Returns all different factors, in order.
        fn play(&mut self, frames: u64, full_ms: f32, target_ms: f32, min: f32) -> Vec<f32> {
            let begin = self.factors.len();
            for _ in 0..frames {
                let frame = self.next.saturating_sub(DELAY);
                let factor = self.factors[frame as usize];
                let newest = MeasuredFrame { frame, milliseconds: full_ms * factor * factor };
                self.factors.push(self.scale.follow(self.next, newest, target_ms, min));
                self.next += 1;
            }
            let mut changes = self.factors[begin..].to_vec();
            changes.dedup();
            changes
        }
    }

    #[test]
    fn frames_settle_below_their_target() {
        for full_ms in [17.0, 25.0, 40.0, 60.0] {
            let factors = Model::new().play(600, full_ms, 16.0, 0.25);
            let factor = *factors.last().expect("there are frames");
            let ms = full_ms * factor * factor;
            assert!((11.0..=16.0).contains(&ms), "{full_ms}: {ms} with {factor}");
            assert!(factors.len() <= 4, "{factors:?}");
            let falls = factors.windows(2).all(|pair| pair[1] < pair[0]);
            assert!(falls, "it never has to rise again: {factors:?}");
        }
        let fast = Model::new().play(600, 5.0, 16.0, 0.25);
        assert_eq!(fast, [1.0], "a fast frame keeps its size");
        let slow = Model::new().play(600, 500.0, 16.0, 0.5);
        assert_eq!(slow, [1.0, 0.5], "it has a smallest size");
    }

    #[test]
    fn late_measurements_of_another_size_are_left_out() {
        let mut model = Model::new();
        // 40 ms at the full size, and 12.7 at this part of the width: one change is enough.
        let factors = model.play(100, 40.0, 16.0, 0.25);
        assert_eq!(factors, [1.0, 0.5625]);
    }

    #[test]
    fn the_factor_rises_when_frames_become_fast() {
        let mut model = Model::new();
        assert_eq!(model.play(100, 64.0, 16.0, 0.5).last(), Some(&0.5));
        assert_eq!(model.play(300, 4.0, 16.0, 0.5).last(), Some(&1.0));
        assert_eq!(model.play(1, 99.0, 0.0, 0.5), [1.0], "without a target it is off");
    }

    #[test]
    fn a_restarted_game_is_measured_again() {
        let mut model = Model::new();
        model.play(100, 40.0, 16.0, 0.25);
        (model.next, model.factors) = (1, vec![0.5625]);
        assert_eq!(model.play(100, 4.0, 16.0, 0.25).last(), Some(&1.0));
    }

    #[test]
    fn wrong_measurements_change_nothing() {
        let mut scale = DynamicScale::default();
        for frame in 0..100 {
            for wrong in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
                let newest = MeasuredFrame { frame, milliseconds: wrong };
                assert_eq!(scale.follow(frame + 1, newest, 16.0, 0.5), 1.0);
            }
            // The same frame again is no new measurement, and a frame of the future is none.
            for frame in [7, 1000] {
                let newest = MeasuredFrame { frame, milliseconds: 90.0 };
                assert_eq!(scale.follow(100, newest, 16.0, 0.5), 1.0);
            }
        }
    }
}
