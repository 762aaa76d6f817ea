//! Compiled data, as it is read out of a bundle or a folder that somebody else may have written.
//! Here are the readers alone; what uses the data is in game.rs.

use super::{Target, contained, files};
use engine::app::kinds::KINDS;
use engine::foundation::Error;
#[cfg(test)]
use engine::foundation::blob::FRAME_BYTES;
use engine::resource::containment::contain;
use engine::resource::data_kinds::{read_members, read_package, read_tree};
use engine::resource::name::ResourceName;
use engine::resource::shading::{MaterialData, ShaderData};
use engine::system::models::data::ModelData;
use engine::system::particles::definition::EffectData;
use engine::system::sound::kinds::read_sound;
use engine::system::sound::mixer::Mixer;
use engine::system::sound::wave;
use engine::system::text::kind::Compiled;
use engine::system::textures::{self, sheet};
use engine::system::tilemaps::World;
use engine::world::physics::Properties;
use std::borrow::Cow;

pub fn targets() -> Vec<Target> {
    let target = |kind: &&'static engine::resource::kind::Kind| {
        let name = kind.name;
        Target::new(format!("data.{name}"), bytes_max(name), move |bytes| read(name, bytes))
    };
    KINDS.0.iter().filter(|kind| has_reader(kind.name)).map(target).collect()
}

/// The longest data of a kind that is tried: fonts, and shaders with the engine's part, are long.
pub fn bytes_max(kind: &str) -> usize {
    match kind {
        "font" | "shader" => 32 << 10,
        _ => 8 << 10,
    }
}

/// Whether the data of a kind is more than text or bytes.
fn has_reader(kind: &str) -> bool {
    !["lua", "text", "binary"].contains(&kind)
}

/// Kinds whose data has a frame with a checksum.
const FRAMED: [&str; 3] = ["font", "model", "particles"];

/// Data of a kind with its frame put right: a checksum keeps nobody out who makes data.
pub fn forged<'a>(kind: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match FRAMED.contains(&kind) {
        true => files::reframed(bytes).into(),
        false => bytes.into(),
    }
}

/// Validates data of a kind, as whoever reads it does.
pub fn validate(kind: &str, bytes: &[u8]) -> Result<(), Error> {
    let row = KINDS.by_name(kind).expect("a kind of the table");
    contained(|| contain(&ResourceName::new(kind, "x"), || (row.validate)(bytes)))
}

/// Whether a change of good data is judged by its content: what refuses it, if anything, is no
/// check of a frame.
#[cfg(test)]
pub fn judges(kind: &str, good: &[u8], changed: &[u8]) -> bool {
    const FRAME_WORDS: [&str; 4] =
        ["its checksum does not fit", "its first bytes are not", "it is of version", "cut short"];
    let (good, changed) = (forged(kind, good), forged(kind, changed));
    let head = if FRAMED.contains(&kind) { FRAME_BYTES } else { 0 };
    let body = |bytes: &[u8]| bytes.get(head..).map(<[u8]>::to_vec);
    let refused = |error: &Error| FRAME_WORDS.iter().any(|words| error.message.contains(words));
    body(&good) != body(&changed) && !validate(kind, &changed).is_err_and(|error| refused(&error))
}

/// Reads data of a kind by the functions that games read it by.
pub fn read(kind: &str, bytes: &[u8]) {
    let bytes = &*forged(kind, bytes);
    // What is not valid is never read, and where it is refused is all the same.
    if validate(kind, bytes).is_err() {
        return;
    }
    match kind {
        "texture" => _ = textures::picture(bytes),
        "sheet" => _ = sheet::read(bytes),
        "shader" => _ = ShaderData::read(bytes),
        "material" => _ = MaterialData::read(bytes),
        "particles" => _ = EffectData::read(bytes),
        "mixer" => _ = Mixer::read(bytes),
        "model" => _ = ModelData::read(bytes),
        "tilemap" => _ = World::read(bytes),
        "physics_properties" => _ = read_tree(bytes).map(|tree| Properties::read(&tree).is_ok()),
        "font" => _ = Compiled::from_bytes(bytes),
        "package" => _ = (read_package(bytes).is_ok(), read_members(bytes).is_ok()),
        "sound" => {
            if let Ok((_, Some(file))) = read_sound(bytes) {
                let _ = wave::decode(&file);
            }
        }
        "config" | "strings" | "unit" | "level" => _ = read_tree(bytes),
        _ => {}
    }
}

/// Whether every kind has its line above.
#[test]
fn every_kind_of_data_is_read() {
    let source = include_str!("data.rs");
    for kind in KINDS.0.iter().filter(|kind| has_reader(kind.name)) {
        assert!(source.contains(&format!("\"{}\"", kind.name)), "data.{}: add it", kind.name);
    }
}
