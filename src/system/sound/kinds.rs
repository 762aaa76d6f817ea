//! The kinds of resources that this system plays: `sound`, rules or a recording alone, and `mixer`.

use super::definition::Definition;
use super::wave::{self, WaveFile, WaveView};
use super::{mixer, source};
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::sjson;
use crate::resource::kind::{Compiling, Form, Kind};

/// Sounds. A recording stands in for rules that play it once.
pub static SOUND: Kind = Kind {
    name: "sound",
    words: "A sound: rules for what is played and how, or a recording alone",
    extensions: &[
        ("sound", Form::Own),
        ("wav", Form::Raw),
        ("ogg", Form::Raw),
        ("flac", Form::Raw),
        ("mp3", Form::Raw),
    ],
    version: 1,
    compile: compile_sound,
    validate: |bytes| view(bytes)?.1.map_or(Ok(()), |wave| wave.check()),
};

/// Mixers.
pub static MIXER: Kind = Kind {
    name: "mixer",
    words: "The buses that sounds play on, with their effects",
    extensions: &[("mixer", Form::Own)],
    version: 1,
    compile: |compiling| {
        let document = document(compiling)?;
        Ok(mixer::parse(&compiling.path, document.root())?.write())
    },
    validate: |bytes| mixer::Mixer::read(bytes).map(drop),
};

fn document(compiling: &Compiling) -> Result<sjson::Document, Error> {
    sjson::parse_bytes(&compiling.bytes).map_err(|fault| Error::new(fault.in_file(&compiling.path)))
}

fn compile_sound(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let checked =
        |path: &str, bytes: Vec<u8>| wave::check(bytes).map_err(|words| error!("{path}: {words}"));
    let (definition, wave) = match compiling.form {
        Form::Raw => {
            let bytes = std::mem::take(&mut compiling.bytes);
            (Definition::of_recording(), Some(checked(&compiling.path, bytes)?))
        }
        Form::Own => {
            // The recording of the same name, which is listed where there is one.
            let recording = compiling.files.first().cloned();
            let document = document(compiling)?;
            let definition = source::parse(&compiling.path, document.root(), recording.is_some())?;
            for name in &definition.files {
                compiling.refer("sound", name);
            }
            let wave = match recording {
                Some(path) => Some(checked(&path, compiling.read(&path)?)?),
                None => None,
            };
            (definition, wave)
        }
    };
    let mut writer = Writer::default();
    definition.write(&mut writer, compiling.release);
    writer.u8(u8::from(wave.is_some()));
    if let Some(wave) = wave {
        wave.write(&mut writer);
    }
    Ok(writer.finish())
}

/// The rules of a compiled sound, and where its own recording lies, if it has one.
fn view(bytes: &[u8]) -> Result<(Definition, Option<WaveView<'_>>), Error> {
    let mut reader = Reader::new(bytes);
    let definition = Definition::read(&mut reader)?;
    let wave = match reader.flag()? {
        true => Some(WaveView::read(&mut reader)?),
        false => None,
    };
    reader.end()?;
    Ok((definition, wave))
}

/// Reads a compiled sound: its rules, and its recording if it has one of its own.
pub fn read_sound(bytes: &[u8]) -> Result<(Definition, Option<WaveFile>), Error> {
    let (definition, wave) = view(bytes)?;
    Ok((definition, wave.map(|wave| wave.to_file())))
}
