//! Compiled data, as it is read out of a bundle or a folder that somebody else may have written.
//! Here are the readers alone; what uses the data is in game.rs.

use super::{Target, files};
use engine::app::kinds::KINDS;
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

/// Reads data of a kind by the functions that games read it by.
pub fn read(kind: &str, bytes: &[u8]) {
    let row = KINDS.by_name(kind).expect("a kind of the table");
    let valid = contain(&ResourceName::new(kind, "x"), || (row.validate)(bytes));
    // What is not valid is never read, and where it is refused is all the same.
    if valid.is_err() {
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
        // Its frame's checksum is the easy part for whoever makes data.
        "font" => _ = Compiled::from_bytes(&files::reframed(bytes)),
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
