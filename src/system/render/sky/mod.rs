//! Skies: the maps of a physical sky or of a sky texture, the background that is drawn from them,
//! and the light of the sky on surfaces. Skies of three colors need none of it. Reflection
//! probes are maps of the same kind, for a part of a scene. Fog is part of the
//! view uniform (inputs.rs) and of the shaders.
//!
//! The maps of a view's sky are drawn when its inputs change, a few steps in each frame
//! (slots.rs). No resources are created before the first view with such a sky.

mod inputs;
mod maps;
mod probes;
mod resources;
mod slots;

/// The pass of the maps, as render configs name it.
pub const SKY_MAPS_PASS: &str = "sky maps";

pub use maps::{MapPass, SkyMaps, SkyView};
