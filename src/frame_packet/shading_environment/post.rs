//! The values of post effects: what happens to a view's light before it is shown.

use super::value::shading_values;

shading_values! {
    /// Exposure and bloom.
    pub struct PostValues {
        exposure_compensation: Scalar, [0.0], -16.0..=16.0,
            "Exposure in stops, added to that of the sky.";
        exposure_mode: Choice(["manual", "automatic"]),
            "Whether the exposure also follows the brightness of the view.";
        auto_exposure_key: Scalar, [0.18], 0.01..=1.0,
            "The brightness that automatic exposure gives to the average of the view.";
        auto_exposure_min: Scalar, [-6.0], -16.0..=16.0,
            "The lowest automatic exposure in stops: the view of a bright world.";
        auto_exposure_max: Scalar, [6.0], -16.0..=16.0,
            "The highest automatic exposure in stops: the view of a dark world.";
        auto_exposure_speed_up: Scalar, [1.0], 0.0..=100.0,
            "How fast the exposure rises in the dark: the share of the difference per second.";
        auto_exposure_speed_down: Scalar, [3.0], 0.0..=100.0,
            "How fast the exposure falls in the light: the share of the difference per second.";
        auto_exposure_low: Scalar, [0.1], 0.0..=1.0,
            "The darkest part of the view that automatic exposure ignores.";
        auto_exposure_high: Scalar, [0.95], 0.0..=1.0,
            "The part of the view, from the darkest on, behind which the rest is ignored.";
        bloom_intensity: Scalar, [0.0], 0.0..=1.0,
            "The part of all light that is scattered around where it comes from.";
        bloom_scatter: Scalar, [0.7], 0.0..=1.0,
            "How far scattered light reaches: 0 is close, 1 is across the view.";
        bloom_threshold: Scalar, [0.0], 0.0..=1000.0,
            "The brightness above which light is scattered, where 1 is white.";
    }
}
