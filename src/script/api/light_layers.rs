//! The functions of the Lua module `Light` for light layers and textures.

use super::light::{change, settings};
use crate::argument::TextArgument;
use engine_foundation::Error;
use engine_frame_packet::scene::LIGHT_LAYERS_ALL;
use engine_runtime::Engine;
use engine_world::light::LightId;
use engine_world::light_component::check_texture;

pub(super) fn layers(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).layers.into()
}

pub(super) fn set_layers(engine: &mut Engine, light: LightId, layers: f64) -> Result<(), Error> {
    change(engine, light).layers = layers_of(layers)?;
    Ok(())
}

pub(super) fn set_texture(
    engine: &mut Engine,
    light: LightId,
    name: Option<TextArgument>,
) -> Result<(), Error> {
    check_texture(settings(engine, light).kind, name.is_some())
        .map_err(|error| engine_foundation::error!("argument #2 'name': {}", error.message))?;
    let assets = &mut engine.assets;
    let texture = name.map(|name| assets.textures.find(&mut assets.store, name.as_str()));
    let texture = texture.transpose()?;
    change(engine, light).texture = texture;
    Ok(())
}

/// Returns the light layers of an argument.
pub(super) fn layers_of(layers: f64) -> Result<u8, Error> {
    if layers.fract() != 0.0 || !(0.0..=f64::from(LIGHT_LAYERS_ALL)).contains(&layers) {
        return Err(engine_foundation::error!(
            "argument #2 'layers' must be a whole number from 0 to {LIGHT_LAYERS_ALL}, got {layers}"
        ));
    }
    Ok(layers as u8)
}
