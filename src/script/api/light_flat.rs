//! The functions of the Lua module `Light` for flat lights, those of 2D games.

use super::light::{change, check_range, settings};
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_world::light::{HEIGHT_MAX, LightId};
use engine_world::light_component::check_flat;

pub(super) fn flat(engine: &mut Engine, light: LightId) -> bool {
    settings(engine, light).flat
}

pub(super) fn set_flat(engine: &mut Engine, light: LightId, flat: bool) -> Result<(), Error> {
    check_flat(settings(engine, light).kind, flat)
        .map_err(|error| engine_foundation::error!("argument #2 'flat': {}", error.message))?;
    change(engine, light).flat = flat;
    Ok(())
}

pub(super) fn height(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).height.into()
}

pub(super) fn set_height(engine: &mut Engine, light: LightId, height: f64) -> Result<(), Error> {
    change(engine, light).height = check_range(height, HEIGHT_MAX, "height")?;
    Ok(())
}
