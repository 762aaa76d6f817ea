//! Fuzz targets for source files: every file extension of every resource kind, compiled by the same
//! functions that the data compiler calls. Compiled data is read back as a game would read it.

use super::{Target, contained, data, seeds, split};
use engine::app::resource_kinds::KINDS;
use engine::error;
use engine::foundation::Error;
use engine::resource::panic_report::contain;
use engine::resource::resource_kind::{CompileContext, ResourceKind, SourceForm};
use engine::resource::resource_name::ResourceName;

/// File extensions that are read by the function of another extension.
pub const EQUIVALENT_EXTENSIONS: &[(&str, &str)] =
    &[("jpeg", "jpg"), ("ase", "aseprite"), ("txt", "text"), ("md", "text"), ("bin", "binary")];

/// Returns every file extension of every kind that has its own reader.
pub fn extensions() -> Vec<(&'static ResourceKind, &'static str, SourceForm)> {
    let of = |kind: &&'static ResourceKind| {
        let kind = *kind;
        kind.extensions.iter().map(move |(ending, form)| (kind, *ending, *form))
    };
    let all = KINDS.0.iter().flat_map(of);
    all.filter(|(_, ending, _)| EQUIVALENT_EXTENSIONS.iter().all(|(same, _)| same != ending))
        .collect()
}

pub fn targets() -> Vec<Target> {
    let target = |(kind, ending, form): (&'static ResourceKind, &'static str, SourceForm)| {
        let run = move |bytes: &[u8]| {
            for release in [false, true] {
                if let Ok(data) = compile(kind, ending, form, bytes, release) {
                    data::read(kind.name, &data);
                }
                // Only compiled scripts depend on `release`.
                if kind.name != "lua" {
                    break;
                }
            }
        };
        Target::new(format!("source.{ending}"), bytes_max(ending), run)
    };
    extensions().into_iter().map(target).collect()
}

fn bytes_max(ending: &str) -> usize {
    match ending {
        "ttf" | "otf" | "ttc" | "font" | "glb" | "gltf" | "model" => 48 << 10,
        "mp3" | "flac" | "ogg" | "wav" | "sound" => 8 << 10,
        _ => 4 << 10,
    }
}

/// Compiles a source. If it reads another file, that file is the input's second part, or a valid
/// file with the requested extension.
pub fn compile(
    kind: &'static ResourceKind,
    ending: &str,
    form: SourceForm,
    bytes: &[u8],
    release: bool,
) -> Result<Vec<u8>, Error> {
    let (bytes, second) = split(bytes);
    let own_path = format!("x.{ending}");
    let read = |path: &str| match second {
        _ if path == own_path => Ok(bytes.to_vec()),
        Some(second) => Ok(second.to_vec()),
        None => seeds::sample(path).ok_or_else(|| error!("{path} is not there")),
    };
    let name = ResourceName::new(kind.name, "x");
    let (bytes, named) = (bytes.to_vec(), name.clone());
    let mut compiling = CompileContext::new(named, own_path.clone(), form, bytes, release, &read);
    compiling.kinds = KINDS;
    // The data compiler does the same if a raw file is next to one of the kind's own form.
    let raw = kind.extensions.iter().find(|(_, form)| *form == SourceForm::Raw);
    if let (SourceForm::Own, Some((raw, _))) = (form, raw) {
        compiling.files.push(format!("x.{raw}"));
    }
    contained(|| contain(&name, || (kind.compile)(&mut compiling)))
}
