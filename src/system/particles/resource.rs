//! The resource kind `particles`: the definition of an effect, compiled to flat records.

use super::compile;
use super::data::{EffectData, VERSION};
use engine_foundation::Error;
use engine_foundation::sjson;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};

/// The entry of effects in the table of resource kinds.
pub static PARTICLES: ResourceKind = ResourceKind {
    name: kind_names::PARTICLES,
    doc: "A particle effect: emitters, and the motion and appearance of their particles",
    extensions: &[("particles", SourceForm::Own)],
    version: VERSION,
    framed: true,
    reload: &[ReloadStep::Particles],
    compile: compiler(compile),
    validate: |bytes| EffectData::read(bytes).map(drop),
};

/// Reads the text of an effect. `path` is used in messages.
///
/// # Errors
/// Returns an error with file and line if the text is invalid.
pub fn read_text(path: &str, bytes: &[u8]) -> Result<EffectData, Error> {
    let document = sjson::parse_bytes(bytes).map_err(|error| Error::new(error.in_file(path)))?;
    compile::parse(path, document.root())
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let data = read_text(&compiling.path, &compiling.bytes)?;
    for emitter in &data.emitters {
        if !emitter.material.is_empty() {
            compiling.refer(kind_names::MATERIAL, &emitter.material);
        }
        if !emitter.texture.is_empty() && super::built_in_textures::find(&emitter.texture).is_none()
        {
            compiling.refer(kind_names::TEXTURE, &emitter.texture);
        }
    }
    Ok(data.write())
}
