//! The values of froxel fog: fog that suns and lamps light, with their shadows.

use super::value::shading_values;

shading_values! {
    /// Froxel fog. By default, only the fog volumes of a world have any.
    pub struct FogValues {
        volumetric_fog_density: Scalar, [0.0], 0.0..=10.0,
            "Density of the fog that lights shine through: the share of light absorbed per metre.";
        volumetric_fog_color: Color, [1.0, 1.0, 1.0], 0.0..=1.0,
            "The part of the light that this fog scatters; white fog loses none.";
        volumetric_fog_emission: Color, [0.0, 0.0, 0.0], 0.0..=10000.0,
            "Light of the fog itself: the color of endless fog without other light.";
        volumetric_fog_height: Scalar, [0.0], -1.0e6..=1.0e6,
            "Height up to which this fog has its full density, in metres.";
        volumetric_fog_height_falloff: Scalar, [0.0], 0.0..=1000.0,
            "How fast this fog thins out above its height, per metre; 0 is the same at any height.";
        volumetric_fog_anisotropy: Scalar, [0.4], -0.9..=0.9,
            "Where fog scatters light: 0 is evenly, 0.9 is ahead, -0.9 is back to the light.";
        volumetric_fog_distance: Scalar, [64.0], 1.0..=10000.0,
            "Distance in metres at which this fog and fog volumes end.";
        volumetric_fog_lights: Scalar, [1.0], 0.0..=1000.0,
            "A factor for the light of suns and lamps in this fog.";
        volumetric_fog_sky: Scalar, [1.0], 0.0..=1000.0,
            "A factor for the light of the sky in this fog.";
        volumetric_fog_smoothing: Scalar, [0.9], 0.0..=0.98,
            "The part of the previous frames' fog that stays; 0 uses the current frame alone.";
    }
}
