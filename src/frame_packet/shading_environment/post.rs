//! The values of post effects: what happens to a view's light before it is shown.

use super::value::shading_values;

shading_values! {
    /// Post effects.
    pub struct PostValues {
        exposure_compensation: Scalar, [0.0], -16.0..=16.0,
            "Exposure in stops, added to that of the sky.";
    }
}
