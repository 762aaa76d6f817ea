//! The values of tone mapping and color grading: how a view's light becomes colors.

use super::value::shading_values;

shading_values! {
    /// Tone mapping and color grading.
    pub struct ToneValues {
        tone_mapper: Choice(["neutral", "reinhard", "agx", "aces", "filmic", "none"]),
            "The curve that maps light to colours that can be shown.";
        tone_white: Scalar, [4.0], 1.0..=1000.0,
            "The brightness that the curve \"reinhard\" maps to white.";
        filmic_toe_strength: Scalar, [0.3], 0.0..=1.0,
            "How much the curve \"filmic\" darkens shadows.";
        filmic_toe_length: Scalar, [0.4], 0.0..=1.0,
            "The part of the curve \"filmic\" that is in the shadows.";
        filmic_shoulder_strength: Scalar, [2.0], 0.0..=10.0,
            "The range above white that the curve \"filmic\" compresses, in stops.";
        filmic_shoulder_length: Scalar, [0.5], 0.0..=1.0,
            "The part of the curve \"filmic\" that is in the highlights.";
        filmic_shoulder_angle: Scalar, [0.5], 0.0..=1.0,
            "How far the highlights of the curve \"filmic\" overshoot: higher is brighter.";
        white_temperature: Scalar, [6500.0], 2000.0..=15000.0,
            "The colour temperature of light that is shown as white, in kelvins: higher is warmer.";
        white_tint: Scalar, [0.0], -1.0..=1.0,
            "The tint of light that is shown as white, from green (-1) to magenta (1).";
        contrast: Scalar, [1.0], 0.0..=4.0,
            "A factor for contrast around middle grey: 1 changes nothing.";
        saturation: Scalar, [1.0], 0.0..=4.0,
            "A factor for the strength of colours: 0 is grey, 1 changes nothing.";
        color_lift: Vector3, [0.0, 0.0, 0.0], -1.0..=1.0,
            "The level of black in shown red, green and blue: 0 changes nothing.";
        color_gamma: Vector3, [1.0, 1.0, 1.0], 0.1..=10.0,
            "The brightness of middle tones in shown red, green and blue: 1 changes nothing.";
        color_gain: Vector3, [1.0, 1.0, 1.0], 0.0..=10.0,
            "The level of white in shown red, green and blue: 1 changes nothing.";
        color_table_strength: Scalar, [1.0], 0.0..=1.0,
            "How much of the colour table's effect is applied.";
    }
}
