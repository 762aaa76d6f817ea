//! The kind `particles`: the rules of an effect, compiled to flat records.

use super::definition::{EffectData, VERSION};
use super::source;
use crate::foundation::Error;
use crate::foundation::sjson;
use crate::resource::kind::{Compiling, Form, Kind};

/// Effects.
pub static PARTICLES: Kind = Kind {
    name: "particles",
    words: "An effect of particles: emitters, what moves their particles, how they look",
    extensions: &[("particles", Form::Own)],
    version: VERSION,
    compile,
    validate: |bytes| EffectData::read(bytes).map(drop),
};

/// Reads the text of an effect; `path` is for messages.
///
/// # Errors
/// With file and line.
pub fn read_text(path: &str, bytes: &[u8]) -> Result<EffectData, Error> {
    let document = sjson::parse_bytes(bytes).map_err(|fault| Error::new(fault.in_file(path)))?;
    source::parse(path, document.root())
}

fn compile(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let data = read_text(&compiling.path, &compiling.bytes)?;
    for emitter in &data.emitters {
        if !emitter.material.is_empty() {
            compiling.refer("material", &emitter.material);
        }
        if !emitter.texture.is_empty() && super::pictures::find(&emitter.texture).is_none() {
            compiling.refer("texture", &emitter.texture);
        }
    }
    Ok(data.write())
}
