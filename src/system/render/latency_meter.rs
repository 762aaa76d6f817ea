//! Measurement of the latency from input to the presented frame.

/// The measured latency from input to frame.
#[derive(Default)]
pub struct LatencyMeter {
    /// Time of the last presented frame, in seconds. 0 before the first.
    presented: f64,
    /// Smoothed time between frames, in seconds.
    pub frame_seconds: f64,
    /// Smoothed time from the newest input of a frame to its presentation, in seconds.
    pub latency_seconds: f64,
}

impl LatencyMeter {
    /// Notes that a frame was presented at `now`; `input` is the time of its newest input, if any.
    pub fn record_present(&mut self, now: f64, input: f64) {
        let blend = |old: &mut f64, new: f64| {
            *old = if *old == 0.0 { new } else { *old + (new - *old) * 0.1 };
        };
        if self.presented > 0.0 && now - self.presented < 1.0 {
            blend(&mut self.frame_seconds, now - self.presented);
        }
        self.presented = now;
        if input > 0.0 && now >= input {
            blend(&mut self.latency_seconds, now - input);
        }
    }
}
