//! The values of a camera's lens and film: effects on the picture as a whole.

use super::value::shading_values;

shading_values! {
    /// Lens and film.
    pub struct LensValues {
        vignette_intensity: Scalar, [0.0], 0.0..=1.0,
            "How much light is lost towards the corners.";
        vignette_radius: Scalar, [0.8], 0.05..=10.0,
            "Where three quarters of the light are lost, from the middle (0) to the corners (1).";
        chromatic_aberration: Scalar, [0.0], 0.0..=1.0,
            "How far red and blue are apart in the corners: 1 is 2 % of the view's diagonal.";
        sharpening: Scalar, [0.0], 0.0..=1.0,
            "How much the contrast of fine details is raised.";
        grain_intensity: Scalar, [0.0], 0.0..=1.0,
            "The strength of film grain.";
        grain_size: Scalar, [1.5], 1.0..=16.0,
            "The size of film grain, in pixels.";
    }
}
