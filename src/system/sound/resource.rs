//! The resource kinds of the sound system: `sound` (rules, or a recording alone) and `mixer`.

use super::clip::{self, ClipView, SoundClipData};
use super::data::SoundRules;
use super::{compile, mixer};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;
use engine_foundation::sjson;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};

/// The kind `sound`. A recording alone stands for rules that play it once.
pub static SOUND: ResourceKind = ResourceKind {
    name: kind_names::SOUND,
    doc: "A sound: rules for what is played and how, or only a recording",
    extensions: &[
        ("sound", SourceForm::Own),
        ("wav", SourceForm::Raw),
        ("ogg", SourceForm::Raw),
        ("flac", SourceForm::Raw),
        ("mp3", SourceForm::Raw),
    ],
    version: 3,
    framed: false,
    reload: &[ReloadStep::Sounds],
    compile: compiler(compile_sound),
    validate: |bytes| view(bytes)?.1.map_or(Ok(()), |clip| clip.check()),
};

/// The kind `mixer`.
pub static MIXER: ResourceKind = ResourceKind {
    name: kind_names::MIXER,
    doc: "The buses that sounds play on, with their effects",
    extensions: &[("mixer", SourceForm::Own)],
    version: 2,
    framed: false,
    reload: &[ReloadStep::Mixers],
    compile: compiler(|compiling| {
        let document = document(compiling)?;
        Ok(mixer::parse(&compiling.path, document.root())?.write())
    }),
    validate: |bytes| mixer::MixerData::read(bytes).map(drop),
};

fn document(compiling: &CompileContext) -> Result<sjson::Document, Error> {
    sjson::parse_bytes(&compiling.bytes).map_err(|fault| Error::new(fault.in_file(&compiling.path)))
}

fn compile_sound(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let checked = |path: &str, bytes: Vec<u8>| {
        clip::check(bytes).map_err(|message| error!("{path}: {message}"))
    };
    let (definition, clip) = match compiling.form {
        SourceForm::Raw => {
            let bytes = std::mem::take(&mut compiling.bytes);
            (SoundRules::of_recording(), Some(checked(&compiling.path, bytes)?))
        }
        SourceForm::Own => {
            // The recording of the same name, which is listed if it exists.
            let recording = compiling.files.first().cloned();
            let document = document(compiling)?;
            let definition = compile::parse(&compiling.path, document.root(), recording.is_some())?;
            for name in &definition.files {
                compiling.refer(kind_names::SOUND, name);
            }
            let clip = match recording {
                Some(path) => Some(checked(&path, compiling.read(&path)?)?),
                None => None,
            };
            (definition, clip)
        }
    };
    let mut writer = BlobWriter::default();
    definition.write(&mut writer, compiling.release);
    writer.u8(u8::from(clip.is_some()));
    if let Some(clip) = clip {
        clip.write(&mut writer);
    }
    Ok(writer.finish())
}

/// Reads the rules of a compiled sound, and a view of its own recording, if it has one.
fn view(bytes: &[u8]) -> Result<(SoundRules, Option<ClipView<'_>>), Error> {
    let mut reader = BlobReader::new(bytes);
    let definition = SoundRules::read(&mut reader)?;
    let clip = match reader.flag()? {
        true => Some(ClipView::read(&mut reader)?),
        false => None,
    };
    reader.end()?;
    Ok((definition, clip))
}

/// Reads a compiled sound: its rules, and its own recording, if it has one.
pub fn read_sound(bytes: &[u8]) -> Result<(SoundRules, Option<SoundClipData>), Error> {
    let (definition, clip) = view(bytes)?;
    Ok((definition, clip.map(|clip| clip.to_file())))
}
