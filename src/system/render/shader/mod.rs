//! The compiler of shaders and materials: it combines the engine's part with the game's, checks the
//! result and reflects it. Errors have the lines of the game's file. Creates nothing on the
//! adapter: that is the renderer's task (src/system/render).
//!
//! An example of a game's WGSL, for which the engine's part (the prelude: bindings, vertex stage,
//! fragment entry) has to declare the rest:
//!
//! ```wgsl
//! struct Variables { speed: f32, tint: vec4f }
//! @group(2) @binding(0) var<uniform> variables: Variables;      // MATERIAL_GROUP, VARIABLES
//! @group(2) @binding(1) var noise: texture_2d<f32>;             // index 0: texture_binding(0)
//! @group(2) @binding(2) var noise_sampler: sampler;             // sampler_binding(0)
//!
//! fn paint(in: Paint) -> vec4f {
//!     let wave = textureSample(noise, noise_sampler, in.uv + frame.seconds * variables.speed);
//!     return in.base * variables.tint * wave.r;
//! }
//! ```
//!
//! `Paint` is the prelude's struct with at least `base` (the output of the engine's own material:
//! linear light, premultiplied alpha, the instance's color included), `color` (the instance's color
//! alone, in the same form), `uv` (0 to 1 over the drawn area, v down) and `position` (logical
//! pixels). `frame.seconds` is game time. The result of `paint` is linear light with premultiplied
//! alpha. A material without any of the three kinds of bindings omits group 2 from its layout, or
//! leaves it empty.
//!
//! A file that declares `surface` or `vertex_offset` instead is for meshes
//! ([`surface_prelude`]).

mod arrays;
pub mod core_materials;
mod material_compile;
mod nesting_limits;
mod reflection;
mod size_limits;
pub mod surface_prelude;
#[cfg(test)]
mod tests;

use engine_foundation::hash::murmur32;
use engine_foundation::{DEVELOPMENT, Error, error};
use engine_resource::material_data::ShaderData;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use std::collections::HashSet;

pub use material_compile::{COLORS, MATERIAL};
pub use nesting_limits::STACK_BYTES;
use reflection::{SOURCE_BYTES_MAX, VARIABLE_BYTES_MAX};
pub use reflection::{check, check_with};

/// The engine's part for pictures: bindings, vertex stage, every paint, entry points. That for
/// meshes is in surface_prelude.rs.
const PRELUDE: &str = include_str!("../gui.wgsl");

/// The part of a shader that the engine adds behind a game's source.
pub struct EnginePart {
    pub source: &'static str,
    /// The beginning of the first function that calls the game's, in `source`.
    pub callers: &'static str,
    /// The function that the game's source declares, and the type of its argument.
    pub signature: &'static str,
    pub input: &'static str,
}

/// The part of materials for Guis and images in worlds.
pub static PAINT_PART: EnginePart = EnginePart {
    source: PRELUDE,
    callers: "fn engine_output",
    signature: "fn paint(in: Paint) -> vec4f",
    input: "Paint",
};

/// The kind `shader`, in WGSL.
pub static SHADER: ResourceKind = ResourceKind {
    name: kind_names::SHADER,
    doc: "A shader in WGSL",
    extensions: &[("shader", SourceForm::Own), ("wgsl", SourceForm::Raw)],
    // A different prelude produces different data from the same source.
    version: murmur32(PRELUDE.as_bytes(), murmur32(surface_prelude::INTERFACE.as_bytes(), 2)),
    framed: false,
    reload: &[ReloadStep::Shaders],
    compile: compiler(|compiling: &mut CompileContext| -> Result<Vec<u8>, Error> {
        let source = compiling.text()?;
        Ok(check(&compiling.path, source)?.write())
    }),
    validate,
};

/// Rejects a shader that differs from the result of checking its own source: another engine's part,
/// or variables and textures that do not match the source.
fn validate(bytes: &[u8]) -> Result<(), Error> {
    let data = ShaderData::read(bytes)?;
    if !DEVELOPMENT {
        return check_untranslated(&data);
    }
    if data.surface.is_some() {
        return match check("it is damaged", &data.source)? == data {
            true => Ok(()),
            false => Err(error!("it is damaged: it has other variables or textures than it says")),
        };
    }
    let source = data.source.strip_suffix(PRELUDE).and_then(|source| source.strip_suffix('\n'));
    let source = source.ok_or_else(|| error!("it is damaged: the engine's part is missing"))?;
    match check("it is damaged", source)? == data {
        true => Ok(()),
        false => Err(error!("it is damaged: it has other variables or textures than it says")),
    }
}

/// Checks what a shader says of itself, without its source being translated: for engines that have
/// neither a compiler of shaders nor a renderer.
fn check_untranslated(data: &ShaderData) -> Result<(), Error> {
    let parts_bytes = if data.surface.is_some() { 0 } else { PRELUDE.len() + 1 };
    let fits = data.variable_bytes <= VARIABLE_BYTES_MAX
        && data.variables.len() <= VARIABLE_BYTES_MAX as usize / 4
        && data.textures.len() <= TEXTURES_MAX as usize
        && data.source.len() <= SOURCE_BYTES_MAX + parts_bytes;
    if !fits {
        return Err(error!("it is damaged: it has more variables, textures or text than allowed"));
    }
    let source = match data.surface {
        Some(_) => Some(&data.source[..]),
        None => data.source.strip_suffix(PRELUDE).and_then(|source| source.strip_suffix('\n')),
    };
    let source = source.ok_or_else(|| error!("it is damaged: the engine's part is missing"))?;
    if surface_prelude::functions(source) != data.surface {
        return Err(error!("it is damaged: it has other functions than it says"));
    }
    let (mut variables, mut textures) = (HashSet::new(), HashSet::new());
    let is_unique = data.variables.iter().all(|variable| variables.insert(&variable.name))
        && data.textures.iter().all(|name| textures.insert(name));
    match is_unique {
        true => Ok(()),
        false => Err(error!("it is damaged: two variables or textures have the same name")),
    }
}

/// The bind group of a material's own resources.
pub const MATERIAL_GROUP: u32 = 2;
/// The binding of the material's block of variables, if it has one.
pub const VARIABLES: u32 = 0;
/// The most textures of a material.
pub const TEXTURES_MAX: u32 = 8;

/// Returns the binding of the texture with an index, from 0.
pub const fn texture_binding(index: u32) -> u32 {
    1 + 2 * index
}

/// Returns the binding of the sampler of the texture with an index.
pub const fn sampler_binding(index: u32) -> u32 {
    2 + 2 * index
}
