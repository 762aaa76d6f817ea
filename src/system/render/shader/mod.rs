//! Shaders and materials on their way from source to data: the engine's part and the game's put
//! together, checked, and reflected; errors with the file's own lines. Makes nothing on the
//! adapter: that is the renderer's (src/system/render).
//!
//! What a game's WGSL looks like, and what the engine's part (the prelude: bindings, vertex stage,
//! fragment entry) therefore has to declare:
//!
//! ```wgsl
//! struct Variables { speed: f32, tint: vec4f }
//! @group(2) @binding(0) var<uniform> variables: Variables;      // MATERIAL_GROUP, VARIABLES
//! @group(2) @binding(1) var noise: texture_2d<f32>;             // place 0: texture_binding(0)
//! @group(2) @binding(2) var noise_sampler: sampler;             // sampler_binding(0)
//!
//! fn paint(in: Paint) -> vec4f {
//!     let wave = textureSample(noise, noise_sampler, in.uv + frame.seconds * variables.speed);
//!     return in.base * variables.tint * wave.r;
//! }
//! ```
//!
//! `Paint` is the prelude's struct with at least `base` (what the engine's own material would have
//! painted: linear light, alpha multiplied in, the instance's colour included), `color` (the
//! instance's colour alone, likewise), `uv` (0 to 1 over what is drawn, v down) and `position`
//! (logical pixels). `frame.seconds` is game time. What `paint` returns is linear light with alpha
//! multiplied in. A material without any of the three kinds of bindings leaves group 2 out of its
//! layout, or has it empty.

mod arrays;
mod check;
mod limits;
mod material;
mod sizes;
#[cfg(test)]
mod tests;

use crate::error;
use crate::foundation::Error;
use crate::foundation::hash::murmur32;
use crate::resource::kind::{Compiling, Form, Kind};
use crate::resource::shading::ShaderData;

pub use check::check;
pub use limits::STACK_BYTES;
pub use material::MATERIAL;

/// The engine's part: bindings, vertex stage, every paint, entry points.
const PRELUDE: &str = include_str!("../gui.wgsl");

/// Shaders, in WGSL.
pub static SHADER: Kind = Kind {
    name: "shader",
    words: "How something is painted, in WGSL",
    extensions: &[("shader", Form::Own), ("wgsl", Form::Raw)],
    // Another prelude makes other data of the same source.
    version: murmur32(PRELUDE.as_bytes(), 1),
    compile: |compiling: &mut Compiling| -> Result<Vec<u8>, Error> {
        let source = compiling.text()?;
        Ok(check(&compiling.path, source)?.write())
    },
    validate,
};

/// Refuses a shader that is not what checking its own source gives: another engine's part around
/// it, or other variables and textures than it has.
fn validate(bytes: &[u8]) -> Result<(), Error> {
    let data = ShaderData::read(bytes)?;
    let source = data.source.strip_suffix(PRELUDE).and_then(|source| source.strip_suffix('\n'));
    let source = source.ok_or_else(|| error!("it is damaged: the engine's part is missing"))?;
    match check("it is damaged", source)? == data {
        true => Ok(()),
        false => Err(error!("it is damaged: it has other variables or textures than it says")),
    }
}

/// The bind group of what is a material's own.
pub const MATERIAL_GROUP: u32 = 2;
/// The binding of its block of variables, where it has one.
pub const VARIABLES: u32 = 0;
/// The most textures that a material can have.
pub const TEXTURES_MAX: u32 = 8;

/// The binding of the texture in a place, from 0.
pub const fn texture_binding(place: u32) -> u32 {
    1 + 2 * place
}

/// The binding of that texture's sampler.
pub const fn sampler_binding(place: u32) -> u32 {
    2 + 2 * place
}
