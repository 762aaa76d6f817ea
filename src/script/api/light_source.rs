//! The functions of the Lua module `Light` for the size of a light's source.

use super::light::{change, check_range, settings};
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_world::light::{
    LightId, SOURCE_ANGLE_MAX, SOURCE_RADIUS_MAX, SOURCE_SIDE_MAX, SOURCE_SIDE_MIN,
};

pub(super) fn source_radius(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).source_radius.into()
}

pub(super) fn set_source_radius(
    engine: &mut Engine,
    light: LightId,
    radius: f64,
) -> Result<(), Error> {
    change(engine, light).source_radius = check_range(radius, SOURCE_RADIUS_MAX, "radius")?;
    Ok(())
}

pub(super) fn source_angle(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).source_angle.into()
}

pub(super) fn set_source_angle(
    engine: &mut Engine,
    light: LightId,
    angle: f64,
) -> Result<(), Error> {
    if !(0.0..=f64::from(SOURCE_ANGLE_MAX) + 1e-6).contains(&angle) {
        return Err(engine_foundation::error!(
            "argument #2 'angle' must be from 0 to {SOURCE_ANGLE_MAX} radians (20 degrees), got \
             {angle}: math.rad converts degrees to radians"
        ));
    }
    change(engine, light).source_angle = (angle as f32).min(SOURCE_ANGLE_MAX);
    Ok(())
}

/// Checks the width or height of a rectangle or disc.
fn check_side(side: f64, argument: &str) -> Result<f32, Error> {
    // The smallest side is not a double: a number that is written so is rounded to it.
    let single = side as f32;
    match (SOURCE_SIDE_MIN..=SOURCE_SIDE_MAX).contains(&single) {
        true => Ok(single),
        false => Err(engine_foundation::error!(
            "argument #2 '{argument}' must be from {SOURCE_SIDE_MIN} to {SOURCE_SIDE_MAX}, got \
             {side}"
        )),
    }
}

pub(super) fn source_width(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).source_width.into()
}

pub(super) fn set_source_width(
    engine: &mut Engine,
    light: LightId,
    width: f64,
) -> Result<(), Error> {
    change(engine, light).source_width = check_side(width, "width")?;
    Ok(())
}

pub(super) fn source_height(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).source_height.into()
}

pub(super) fn set_source_height(
    engine: &mut Engine,
    light: LightId,
    height: f64,
) -> Result<(), Error> {
    change(engine, light).source_height = check_side(height, "height")?;
    Ok(())
}
