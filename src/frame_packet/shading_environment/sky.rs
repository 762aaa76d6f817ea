//! The values of the sky, the light from it, and fog.

use super::value::shading_values;

shading_values! {
    /// The sky, ambient light and fog.
    pub struct SkyValues {
        ambient_intensity: Scalar, [1.0], 0.0..=100.0,
            "A factor for the light of the sky on surfaces.";
        sky_mode: Choice(["gradient", "physical", "texture"]),
            "The sky: three colours, an atmosphere, or the environment's texture.";
        sky_intensity: Scalar, [1.0], 0.0..=1000.0,
            "A factor for the light of a physical sky or of a sky texture.";
        sky_rotation: Scalar, [0.0], -360.0..=360.0,
            "Turns the texture of the sky in degrees, counterclockwise from above.";
        time_of_day: Scalar, [12.0], 0.0..=24.0,
            "The time of the physical sky in hours; the sun is highest at 12.";
        latitude: Scalar, [45.0], -90.0..=90.0,
            "Latitude in degrees: 0 at the equator, 90 at the north pole.";
        sun_declination: Scalar, [0.0], -23.45..=23.45,
            "The season as the sun's declination in degrees: 23.44 in June, -23.44 in December.";
        sun_azimuth: Scalar, [0.0], -360.0..=360.0,
            "Turns the physical sky in degrees, counterclockwise from above. At 0, y is north.";
        sun_from_time: Choice(["off", "on"]),
            "If on, the scene's first sun has the direction and colour of the sky's sun or moon.";
        sun_intensity: Scalar, [3.0], 0.0..=1000.0,
            "Sunlight above the atmosphere, on a white surface that faces it.";
        sun_size: Scalar, [0.53], 0.0..=20.0,
            "Diameter of the sun's disc in degrees.";
        moon_intensity: Scalar, [0.03], 0.0..=100.0,
            "Light of the full moon above the atmosphere, on a white surface that faces it.";
        moon_size: Scalar, [0.6], 0.0..=20.0,
            "Diameter of the moon's disc in degrees.";
        moon_phase: Scalar, [0.5], 0.0..=1.0,
            "Phase of the moon: 0 and 1 are new moon, 0.5 is full moon.";
        stars_intensity: Scalar, [1.0], 0.0..=100.0,
            "Brightness of the stars; 0 shows none.";
        night_color: Color, [0.0012, 0.0016, 0.003], 0.0..=10.0,
            "Light that the whole physical sky has even at night.";
        haze: Scalar, [1.0], 0.0..=50.0,
            "A factor for the haze of the atmosphere: 0 is pure air.";
        sky_ground_color: Color, [0.2, 0.19, 0.17], 0.0..=1.0,
            "Colour of the ground below the horizon of the physical sky.";
        sky_altitude: Scalar, [200.0], 0.0..=50000.0,
            "Height of the camera above sea level in the physical sky, in metres.";
        aerial_perspective: Scalar, [1.0], 0.0..=10000.0,
            "A factor for the air between the camera and surfaces in a physical sky; 0 shows none.";
        fog_density: Scalar, [0.0], 0.0..=1000.0,
            "Density of the fog, in place of the world's: the share of light absorbed per metre.";
        fog_color: Color, [0.5, 0.5, 0.5], 0.0..=1000.0,
            "Light of the fog.";
        fog_height: Scalar, [0.0], -1.0e6..=1.0e6,
            "Height up to which fog has its full density, in metres.";
        fog_height_falloff: Scalar, [0.0], 0.0..=1000.0,
            "How fast fog thins out above its height, per metre; 0 is the same fog at any height.";
        fog_start: Scalar, [0.0], 0.0..=1.0e6,
            "Distance from the camera at which fog begins, in metres.";
        fog_sun_color: Color, [0.0, 0.0, 0.0], 0.0..=1000.0,
            "Light that fog adds in the direction of the scene's first sun.";
        fog_sun_exponent: Scalar, [8.0], 1.0..=1024.0,
            "How closely that light surrounds the sun: a higher exponent is a smaller glow.";
    }
}

/// Indices of [`SkyValues::sky_mode`].
pub const SKY_PHYSICAL: f32 = 1.0;
pub const SKY_TEXTURE: f32 = 2.0;
