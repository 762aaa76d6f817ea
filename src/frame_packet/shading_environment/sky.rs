//! The values of the sky, the light from it, and fog.

use super::value::shading_values;

shading_values! {
    /// The sky, ambient light and fog.
    pub struct SkyValues {
        ambient_intensity: Scalar, [1.0], 0.0..=100.0,
            "A factor for the light of the sky on surfaces.";
    }
}
