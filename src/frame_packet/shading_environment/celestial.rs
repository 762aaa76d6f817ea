//! The sun and the moon by the time of day: their directions, and the color of their light behind
//! the atmosphere. Pure arithmetic; the renderer and the engine share it.
//!
//! The atmosphere is that of Hillaire, "A Scalable and Production Ready Sky and Atmosphere
//! Rendering Technique", 2020. The renderer's shaders have the same constants (atmosphere.wgsl).

use super::ShadingEnvironment;
use engine_foundation::{Mat3, Vec3};

/// Scattering by molecules per kilometer at sea level, and the height in kilometers at which it is
/// 1 / e of that.
pub const RAYLEIGH_SCATTERING: [f32; 3] = [0.005802, 0.013558, 0.0331];
pub const RAYLEIGH_HEIGHT: f32 = 8.0;
/// Scattering and extinction by haze.
pub const MIE_SCATTERING: f32 = 0.003996;
pub const MIE_EXTINCTION: f32 = 0.00444;
pub const MIE_HEIGHT: f32 = 1.2;
/// Absorption by ozone, which is densest at a height, and ends at a distance from it.
pub const OZONE_ABSORPTION: [f32; 3] = [0.00065, 0.001881, 0.000085];
pub const OZONE_HEIGHT: f32 = 25.0;
pub const OZONE_WIDTH: f32 = 15.0;
/// Radius of the ground, and height of the atmosphere, in kilometers.
pub const GROUND_RADIUS: f32 = 6360.0;
pub const ATMOSPHERE_HEIGHT: f32 = 100.0;
/// Sine of the elevation over which the sun sets, to both sides of the horizon.
pub const SUNSET_SINE: f32 = 0.01;

/// Steps of the integral of [`sun_color`].
const STEPS: u32 = 48;

/// The sky's bodies at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Celestial {
    /// Directions towards the sun and the moon, of length 1.
    pub sun: Vec3,
    pub moon: Vec3,
    /// Turns a direction into that of the stars.
    pub to_stars: Mat3,
}

/// Returns a finite number within limits: `or` for one that is not a number.
fn limited(value: f32, min: f32, max: f32, or: f32) -> f32 {
    if value.is_nan() { or } else { value.clamp(min, max) }
}

/// Returns the direction of a body with a declination at an hour angle, in degrees: x is east, y
/// north and z up.
fn body_direction(hour_angle: f32, declination: f32, latitude: f32) -> Vec3 {
    let (hour_sine, hour_cosine) = hour_angle.to_radians().sin_cos();
    let (sine, cosine) = declination.to_radians().sin_cos();
    let (latitude_sine, latitude_cosine) = latitude.to_radians().sin_cos();
    Vec3::new(
        -cosine * hour_sine,
        sine * latitude_cosine - cosine * hour_cosine * latitude_sine,
        sine * latitude_sine + cosine * hour_cosine * latitude_cosine,
    )
    .normalize_or(Vec3::Z)
}

/// Returns the direction towards the sun: x is east, y north and z up. `hours` are solar time, from
/// 0 to 24; `latitude` and `declination` are degrees. Any numbers are allowed: they are limited.
pub fn sun_direction(hours: f32, latitude: f32, declination: f32) -> Vec3 {
    let hours = limited(hours, 0.0, 24.0, 12.0);
    let latitude = limited(latitude, -90.0, 90.0, 0.0);
    let declination = limited(declination, -90.0, 90.0, 0.0);
    body_direction((hours - 12.0) * 15.0, declination, latitude)
}

/// Returns the fraction of each color of light from a body at an elevation (radians above the
/// horizon) that passes the atmosphere to the ground. `haze` is the environment's value. Below the
/// horizon it is 0.
pub fn sun_color(elevation: f32, haze: f32) -> [f32; 3] {
    let elevation = limited(elevation, -1.6, 1.6, -1.6);
    let haze = limited(haze, 0.0, 50.0, 1.0);
    let sine = elevation.sin();
    let shown = ((sine + SUNSET_SINE) / (2.0 * SUNSET_SINE)).clamp(0.0, 1.0);
    if shown <= 0.0 {
        return [0.0; 3];
    }
    // The ray to the upper end of the atmosphere; it is horizontal for a body that sets.
    let sine = sine.max(0.0);
    let top = GROUND_RADIUS + ATMOSPHERE_HEIGHT;
    let reach = (top * top - GROUND_RADIUS * GROUND_RADIUS * (1.0 - sine * sine)).sqrt()
        - GROUND_RADIUS * sine;
    let mut depth = [0.0; 3];
    for step in 0..STEPS {
        // Steps are short near the ground, where the air is dense.
        let at = |fraction: f32| reach * fraction * fraction;
        let (from, to) = (step as f32 / STEPS as f32, (step + 1) as f32 / STEPS as f32);
        let (middle, length) = (at((from + to) * 0.5), at(to) - at(from));
        let radius_squared =
            GROUND_RADIUS * GROUND_RADIUS + middle * middle + 2.0 * GROUND_RADIUS * middle * sine;
        let height = (radius_squared.sqrt() - GROUND_RADIUS).max(0.0);
        let rayleigh = (-height / RAYLEIGH_HEIGHT).exp();
        let mie = (-height / MIE_HEIGHT).exp() * haze;
        let ozone = (1.0 - (height - OZONE_HEIGHT).abs() / OZONE_WIDTH).max(0.0);
        for (channel, depth) in depth.iter_mut().enumerate() {
            let extinction = RAYLEIGH_SCATTERING[channel] * rayleigh
                + MIE_EXTINCTION * mie
                + OZONE_ABSORPTION[channel] * ozone;
            *depth += extinction * length;
        }
    }
    let shown = shown * shown * (3.0 - 2.0 * shown);
    depth.map(|depth| (-depth).exp() * shown)
}

/// Returns the lit fraction of the moon's light at a phase: 0 at new moon, 1 at full moon.
pub fn moon_share(phase: f32) -> f32 {
    let phase = limited(phase, 0.0, 1.0, 0.5);
    (1.0 - (phase * std::f32::consts::TAU).cos()) * 0.5
}

/// Returns the directions of the sky's bodies in an environment.
pub fn celestial(environment: &ShadingEnvironment) -> Celestial {
    let sky = &environment.sky;
    let turn = Mat3::from_rotation_z(limited(sky.sun_azimuth, -360.0, 360.0, 0.0).to_radians());
    let sun = sun_direction(sky.time_of_day, sky.latitude, sky.sun_declination);
    let hour_angle = (limited(sky.time_of_day, 0.0, 24.0, 12.0) - 12.0) * 15.0;
    let latitude = limited(sky.latitude, -90.0, 90.0, 0.0);
    let behind = limited(sky.moon_phase, 0.0, 1.0, 0.5) * 360.0;
    // A full moon is opposite to the sun: its declination follows the same circle of the sky.
    let season = limited(sky.sun_declination, -90.0, 90.0, 0.0);
    let moon = body_direction(hour_angle - behind, season * behind.to_radians().cos(), latitude);
    let pole = Mat3::from_rotation_x(-(90.0 - latitude).to_radians());
    let to_stars = (turn * pole * Mat3::from_rotation_z(-hour_angle.to_radians())).transpose();
    Celestial { sun: turn * sun, moon: turn * moon, to_stars }
}

/// Returns the direction towards the body that lights an environment by its time of day, and the
/// color of its light: the sun, or at night the moon.
pub fn main_light(environment: &ShadingEnvironment) -> (Vec3, [f32; 3]) {
    let mut environment = *environment;
    environment.sanitize();
    let environment = &environment;
    let sky = &environment.sky;
    let Celestial { sun, moon, .. } = celestial(environment);
    let color = |towards: Vec3, strength: f32| {
        let elevation = towards.z.clamp(-1.0, 1.0).asin();
        sun_color(elevation, sky.haze).map(|part| part * strength)
    };
    if sun.z > -SUNSET_SINE {
        return (sun, color(sun, sky.sun_intensity));
    }
    // The moon's light grows while the sun sinks further, so that it does not appear at once.
    let dark = ((-SUNSET_SINE - sun.z) / 0.1).clamp(0.0, 1.0);
    (moon, color(moon, sky.moon_intensity * moon_share(sky.moon_phase) * dark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sun_rises_in_the_east_and_is_south_at_noon() {
        for latitude in [0.0, 20.0, 45.0, 60.0] {
            let rise = sun_direction(6.0, latitude, 0.0);
            assert!(rise.distance(Vec3::X) < 1e-5, "{rise}");
            let set = sun_direction(18.0, latitude, 0.0);
            assert!(set.distance(Vec3::NEG_X) < 1e-5, "{set}");
            let noon = sun_direction(12.0, latitude, 0.0);
            let elevation = noon.z.clamp(-1.0, 1.0).asin().to_degrees();
            assert!((elevation - (90.0 - latitude)).abs() < 0.1, "{elevation}");
            assert!(noon.y <= 1e-6, "{noon}");
            assert!(sun_direction(0.0, latitude, 0.0).z < 0.0);
        }
        assert!(sun_direction(12.0, -45.0, 0.0).y > 0.7, "it is in the north of the south");
        let close = sun_direction(0.0, 45.0, 10.0).distance(sun_direction(24.0, 45.0, 10.0));
        assert!(close < 1e-5, "{close}");
    }

    #[test]
    fn at_the_poles_the_sun_stays_at_its_declination() {
        for hours in [0.0, 3.0, 9.5, 12.0, 24.0] {
            let summer = sun_direction(hours, 90.0, 23.44);
            assert!((summer.z - 23.44f32.to_radians().sin()).abs() < 1e-5, "{summer}");
            let winter = sun_direction(hours, -90.0, 23.44);
            assert!((winter.z + 23.44f32.to_radians().sin()).abs() < 1e-5, "{winter}");
        }
    }

    #[test]
    fn sunlight_is_white_at_noon_red_at_sunset_and_none_at_night() {
        let [red, green, blue] = sun_color(1.5, 1.0);
        assert!(red > 0.85 && green > 0.8 && blue > 0.65, "{red} {green} {blue}");
        let low = sun_color(0.03, 1.0);
        assert!(low[0] > 3.0 * low[1] && low[1] > low[2], "{low:?}");
        assert_eq!(sun_color(-0.1, 1.0), [0.0; 3]);
        let mut last = [0.0; 3];
        for step in 0..200 {
            let now = sun_color(-0.02 + step as f32 * 0.0075, 1.0);
            assert!(now.iter().zip(&last).all(|(now, last)| *now >= *last - 1e-4), "{now:?}");
            last = now;
        }
        let hazy = sun_color(0.3, 5.0);
        assert!(hazy.iter().zip(sun_color(0.3, 1.0)).all(|(hazy, clear)| *hazy < clear));
    }

    #[test]
    fn vertical_transmittance_follows_from_the_optical_depths() {
        let found = sun_color(std::f32::consts::FRAC_PI_2, 1.0);
        for channel in 0..3 {
            let depth = RAYLEIGH_SCATTERING[channel] * RAYLEIGH_HEIGHT
                + MIE_EXTINCTION * MIE_HEIGHT
                + OZONE_ABSORPTION[channel] * OZONE_WIDTH;
            let wanted = (-depth).exp();
            assert!((found[channel] - wanted).abs() < 0.005, "{found:?} {wanted}");
        }
    }

    #[test]
    fn invalid_numbers_still_give_a_direction_and_a_color() {
        let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0];
        for a in bad {
            for b in bad {
                for c in bad {
                    let direction = sun_direction(a, b, c);
                    assert!((direction.length() - 1.0).abs() < 1e-4, "{a} {b} {c}: {direction}");
                }
                let color = sun_color(a, b);
                assert!(color.iter().all(|part| (0.0..=1.0).contains(part)), "{color:?}");
            }
        }
    }

    #[test]
    fn a_full_moon_is_opposite_to_the_sun_and_lights_the_night() {
        let mut environment = ShadingEnvironment::DEFAULT;
        environment.sky.sun_declination = 12.0;
        environment.sky.sun_azimuth = 30.0;
        for hours in [0.0, 5.0, 13.0, 22.0] {
            environment.sky.time_of_day = hours;
            let Celestial { sun, moon, to_stars } = celestial(&environment);
            assert!(sun.distance(-moon) < 1e-4, "{sun} {moon}");
            let square = to_stars * to_stars.transpose();
            assert!(square.abs_diff_eq(Mat3::IDENTITY, 1e-5), "{square}");
        }
        environment.sky.time_of_day = 0.0;
        let (towards, color) = main_light(&environment);
        assert!(towards.z > 0.5 && color[0] > 0.01 && color[0] < 0.03, "{towards} {color:?}");
        environment.sky.time_of_day = 12.0;
        assert!(main_light(&environment).1[1] > 2.0);
        environment.sky.moon_phase = 0.0;
        environment.sky.time_of_day = 0.0;
        assert_eq!(main_light(&environment).1, [0.0; 3]);
    }

    #[test]
    fn the_polar_star_stays_where_it_is() {
        let mut environment = ShadingEnvironment::DEFAULT;
        environment.sky.latitude = 50.0;
        let pole = Vec3::new(0.0, 50f32.to_radians().cos(), 50f32.to_radians().sin());
        for hours in [0.0, 6.0, 17.0] {
            environment.sky.time_of_day = hours;
            let star = celestial(&environment).to_stars * pole;
            assert!(star.distance(Vec3::Z) < 1e-4, "{star}");
        }
    }
}
