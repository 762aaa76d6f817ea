//! The compiler of render configs: the frame as data. It reads a file (source.rs), checks the
//! shaders of its generators against their inputs (generator_source.rs), puts the steps of
//! viewports in order (viewport_source.rs) and checks the graph that they form (graph.rs). Creates
//! nothing on the adapter: src/system/render/generators executes configs.

mod built_in;
mod generator_source;
mod graph;
mod report;
mod source;
#[cfg(test)]
mod tests;
mod viewport_source;

pub use built_in::{BUILT_IN_CONFIGS, built_in};
pub use report::{FrameReport, PassReport, TargetReport, report};

use super::shader::{EnginePart, check_with};
use engine_foundation::hash::murmur32;
use engine_foundation::{DEVELOPMENT, Error, error};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::render_config_data::{FrameImage, Generator, RenderConfigData};
use engine_resource::resource_kind::{ResourceKind, SourceForm, compiler, kind_names};
use std::collections::HashMap;

/// The engine's part of a generator's shader.
const PASS: &str = include_str!("pass.wgsl");

/// The part of generators' shaders.
pub static PASS_PART: EnginePart = EnginePart {
    source: PASS,
    callers: "@fragment",
    signature: "fn paint(in: Pass) -> vec4f",
    input: "Pass",
};

/// Ending of the files of generators' shaders.
pub const PASS_ENDING: &str = "pass";
/// Maximum number of bytes of the shaders of all generators together.
pub const SOURCES_BYTES_MAX: usize = 8 << 20;

/// The kind `render_config`.
pub static RENDER_CONFIG: ResourceKind = ResourceKind {
    name: kind_names::RENDER_CONFIG,
    doc: "The order of passes that draws a frame, with full-screen passes of the game",
    extensions: &[("render_config", SourceForm::Own)],
    // Another engine's part produces different data from the same source.
    version: murmur32(PASS.as_bytes(), 1),
    framed: false,
    reload: &[ReloadStep::RenderConfigs],
    compile: compiler(|compiling| source::compile(compiling).map(|data| data.write())),
    validate: |bytes| read(bytes).map(drop),
};

/// Reads compiled data and checks all of it: the shaders, and the graph.
///
/// # Errors
/// Returns an error for data that the compiler cannot have written.
pub fn read(bytes: &[u8]) -> Result<RenderConfigData, Error> {
    let data = RenderConfigData::read(bytes)?;
    let length: usize = data.generators.iter().map(|generator| generator.source.len()).sum();
    if length > SOURCES_BYTES_MAX {
        return Err(error!("it is damaged: its shaders are too long (SOURCES_BYTES_MAX)"));
    }
    let mut checked: HashMap<&str, (usize, usize)> = HashMap::new();
    // Without compilers there is no renderer either, and nothing reads the shaders.
    let translated = if DEVELOPMENT { &data.generators[..] } else { &[] };
    for generator in translated {
        let (textures, variables) = match checked.get(&generator.source[..]) {
            Some(known) => *known,
            None => {
                let known = reflect(generator)?;
                checked.insert(&generator.source, known);
                known
            }
        };
        if textures != generator.inputs.len() || variables != generator.variables.len() {
            return Err(error!(
                "it is damaged: '{}' has other inputs or variables than its shader",
                generator.name
            ));
        }
    }
    graph::check(&data).map_err(|found| error!("it is damaged: {}", found.message))?;
    Ok(data)
}

/// Returns the number of textures of a generator's shader, and the bytes of its variables.
fn reflect(generator: &Generator) -> Result<(usize, usize), Error> {
    let source = generator.source.strip_suffix(PASS).and_then(|text| text.strip_suffix('\n'));
    let source = source.ok_or_else(|| error!("it is damaged: the engine's part is missing"))?;
    let shader = check_with("it is damaged", source, &PASS_PART)?;
    Ok((shader.textures.len(), shader.variable_bytes as usize))
}

/// Returns true if linear interpolation between the texels of an image is possible.
fn is_filterable(data: &RenderConfigData, image: FrameImage) -> bool {
    match image {
        FrameImage::Light | FrameImage::Target => true,
        FrameImage::Depth => false,
        FrameImage::Own(index) => data.targets[index as usize].format.is_filterable(),
    }
}
