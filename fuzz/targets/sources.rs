//! Source files: every ending of every kind of resource, compiled by the functions that the data
//! compiler calls. What compiles is read back as a game would read it.

use super::{Target, contained, data, seeds, split};
use engine::app::kinds::KINDS;
use engine::error;
use engine::foundation::Error;
use engine::resource::containment::contain;
use engine::resource::kind::{Compiling, Form, Kind};
use engine::resource::name::ResourceName;

/// Endings that are read by the function of another one.
pub const SAME: &[(&str, &str)] =
    &[("jpeg", "jpg"), ("ase", "aseprite"), ("txt", "text"), ("md", "text"), ("bin", "binary")];

/// Every ending of every kind that has a reader of its own.
pub fn endings() -> Vec<(&'static Kind, &'static str, Form)> {
    let of = |kind: &&'static Kind| {
        let kind = *kind;
        kind.extensions.iter().map(move |(ending, form)| (kind, *ending, *form))
    };
    let all = KINDS.0.iter().flat_map(of);
    all.filter(|(_, ending, _)| SAME.iter().all(|(same, _)| same != ending)).collect()
}

pub fn targets() -> Vec<Target> {
    let target = |(kind, ending, form): (&'static Kind, &'static str, Form)| {
        let run = move |bytes: &[u8]| {
            for release in [false, true] {
                if let Ok(data) = compile(kind, ending, form, bytes, release) {
                    data::read(kind.name, &data);
                }
                // Only what scripts become differs by it.
                if kind.name != "lua" {
                    break;
                }
            }
        };
        Target::new(format!("source.{ending}"), bytes_max(ending), run)
    };
    endings().into_iter().map(target).collect()
}

fn bytes_max(ending: &str) -> usize {
    match ending {
        "ttf" | "otf" | "ttc" | "font" | "glb" | "gltf" | "model" => 48 << 10,
        "mp3" | "flac" | "ogg" | "wav" | "sound" => 8 << 10,
        _ => 4 << 10,
    }
}

/// Compiles a source. What it reads beside itself is the input's second part, or a good file of
/// that ending.
pub fn compile(
    kind: &'static Kind,
    ending: &str,
    form: Form,
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
    let mut compiling = Compiling::new(named, own_path.clone(), form, bytes, release, &read);
    compiling.kinds = KINDS;
    // As the data compiler does where a raw file stands beside one of the kind's own.
    let raw = kind.extensions.iter().find(|(_, form)| *form == Form::Raw);
    if let (Form::Own, Some((raw, _))) = (form, raw) {
        compiling.files.push(format!("x.{raw}"));
    }
    contained(|| contain(&name, || (kind.compile)(&mut compiling)))
}
