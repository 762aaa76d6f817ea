//! The values that a world's surroundings have, too: three colors of light, exposure and simple
//! fog. A view shows them through its own sky ([`crate::View::sky`]).

use super::value::shading_values;
use crate::scene::SkyFrame;

shading_values! {
    /// The surroundings of a world.
    pub struct SurroundingsValues {
        sky_top: Color, [0.25, 0.27, 0.3], 0.0..=1.0e9, "The light from above.";
        sky_horizon: Color, [0.2, 0.2, 0.2], 0.0..=1.0e9, "The light from the side.";
        sky_ground: Color, [0.12, 0.11, 0.1], 0.0..=1.0e9, "The light from below.";
        exposure: Scalar, [1.0], 0.0..=1.0e9, "A factor for all light before it is displayed.";
        fog_color: Color, [0.5, 0.5, 0.5], 0.0..=1.0e9, "The light that fog itself emits.";
        fog_density: Scalar, [0.0], 0.0..=1.0e9,
            "The density of the fog: light fades by exp(-density * metres).";
    }
}

impl SurroundingsValues {
    /// Returns the values of a sky.
    pub fn of(sky: &SkyFrame) -> SurroundingsValues {
        SurroundingsValues {
            sky_top: sky.top,
            sky_horizon: sky.horizon,
            sky_ground: sky.ground,
            exposure: sky.exposure,
            fog_color: sky.fog_color,
            fog_density: sky.fog_density,
        }
    }

    /// Returns a sky with these values, and the other fields of `sky`.
    pub fn applied_to(&self, sky: &SkyFrame) -> SkyFrame {
        SkyFrame {
            top: self.sky_top,
            horizon: self.sky_horizon,
            ground: self.sky_ground,
            exposure: self.exposure,
            fog_color: self.fog_color,
            fog_density: self.fog_density,
            ..*sky
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_values_are_those_of_the_default_sky() {
        assert_eq!(SurroundingsValues::of(&SkyFrame::DEFAULT), SurroundingsValues::DEFAULT);
        let sky = SkyFrame { tone_mapping: false, ..SkyFrame::DEFAULT };
        assert_eq!(SurroundingsValues::DEFAULT.applied_to(&sky), sky);
    }
}
