//! Fuzz targets for compiled data, as it is read from a bundle or folder of untrusted origin. They
//! cover the readers only; game.rs covers the use of the data.

use super::{Target, contained, files};
use engine::app::resource_kinds::KINDS;
use engine::foundation::Error;
#[cfg(test)]
use engine::foundation::blob::FRAME_BYTES;
use engine::resource::data_resources::{read_members, read_package, read_tree};
use engine::resource::material_data::{MaterialData, ShaderData};
use engine::resource::panic_report::contain;
use engine::resource::render_config_data::RenderConfigData;
use engine::resource::resource_kind::ResourceKind;
use engine::resource::resource_name::ResourceName;
use engine::system::animation::{AnimationData, ClipPlayer, Pose, read_state_machine};
use engine::system::models::data::ModelData;
use engine::system::particles::data::EffectData;
use engine::system::sound::clip;
use engine::system::sound::mixer::MixerData;
use engine::system::sound::resource::read_sound;
use engine::system::text::resource::FontData;
use engine::system::textures::{self, sheet_resource};
use engine::system::tilemaps::MapFile;
use engine::world::level_navigation::CompiledMeshes;
use engine::world::navigation_file::NavigationFile;
use engine::world::physics::PhysicsProperties;
use std::borrow::Cow;

pub fn targets() -> Vec<Target> {
    let target = |kind: &&'static ResourceKind| {
        let name = kind.name;
        Target::new(format!("data.{name}"), bytes_max(name), move |bytes| read(name, bytes))
    };
    KINDS.0.iter().filter(|kind| has_reader(kind.name)).map(target).collect()
}

/// Returns the maximum size of fuzzed data of a kind. Fonts, and shaders with the engine's part,
/// are long.
pub fn bytes_max(kind: &str) -> usize {
    match kind {
        "font" | "shader" => 32 << 10,
        _ => 8 << 10,
    }
}

/// Returns true if the data of a kind is more than plain text or bytes.
fn has_reader(kind: &str) -> bool {
    !["lua", "text", "binary"].contains(&kind)
}

fn row(kind: &str) -> &'static ResourceKind {
    KINDS.by_name(kind).expect("a kind of the table")
}

/// Returns data of a kind with a corrected frame, because an attacker can forge a checksum.
pub fn forged<'a>(kind: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match row(kind).framed {
        true if kind == "animation" => files::reframed_parts(bytes).into(),
        true => files::reframed(bytes).into(),
        false => bytes.into(),
    }
}

/// Validates data of a kind as its readers do.
pub fn validate(kind: &str, bytes: &[u8]) -> Result<(), Error> {
    contained(|| contain(&ResourceName::new(kind, "x"), || (row(kind).validate)(bytes)))
}

/// Returns true if changed data is judged by its content: it is accepted, or refused by a check
/// other than that of the frame.
#[cfg(test)]
pub fn is_judged_by_content(kind: &str, good: &[u8], changed: &[u8]) -> bool {
    const FRAME_ERRORS: [&str; 4] =
        ["its checksum does not fit", "its first bytes are not", "it is of version", "cut short"];
    let (good, changed) = (forged(kind, good), forged(kind, changed));
    let head = if row(kind).framed { FRAME_BYTES } else { 0 };
    let body = |bytes: &[u8]| bytes.get(head..).map(<[u8]>::to_vec);
    let refused = |error: &Error| FRAME_ERRORS.iter().any(|text| error.message.contains(text));
    body(&good) != body(&changed) && !validate(kind, &changed).is_err_and(|error| refused(&error))
}

/// Reads data of a kind with the same functions as a game.
pub fn read(kind: &str, bytes: &[u8]) {
    let bytes = &*forged(kind, bytes);
    // Invalid data is never read, regardless of the check that refuses it.
    if validate(kind, bytes).is_err() {
        return;
    }
    match kind {
        "texture" => _ = textures::picture(bytes),
        "sheet" => _ = sheet_resource::read(bytes),
        "shader" => _ = ShaderData::read(bytes),
        "material" => _ = MaterialData::read(bytes),
        "particles" => _ = EffectData::read(bytes),
        "mixer" => _ = MixerData::read(bytes),
        "animation" => play_animation(bytes),
        "state_machine" => _ = read_state_machine(bytes),
        "model" => _ = ModelData::read(bytes),
        "tilemap" => _ = MapFile::read(bytes),
        "physics_properties" => {
            _ = read_tree(bytes).map(|tree| PhysicsProperties::read(&tree).is_ok())
        }
        "render_config" => _ = RenderConfigData::read(bytes),
        "font" => _ = FontData::from_bytes(bytes),
        "package" => _ = (read_package(bytes).is_ok(), read_members(bytes).is_ok()),
        "sound" => {
            if let Ok((_, Some(file))) = read_sound(bytes) {
                // It takes a decoder's panic for damage.
                let _ = contained(|| clip::decode(&file));
            }
        }
        "config" | "strings" | "unit" | "level" | "flow" | "shading_environment" => {
            _ = read_tree(bytes)
        }
        "navigation" => _ = NavigationFile::read_data(bytes),
        "navigation_mesh" => _ = CompiledMeshes::read_data(bytes),
        _ => {}
    }
}

/// Plays an animation forward, backward, and across the borders of its chunks.
fn play_animation(bytes: &[u8]) {
    let Ok(AnimationData { skeleton, clip, .. }) = AnimationData::read(bytes) else { return };
    let mut player = ClipPlayer::new(&clip, &skeleton);
    let (rest, mut pose) = (Pose::rest(&skeleton), Pose::default());
    for part in [0.0, 0.1, 0.3, 0.9, 0.5, 1.0, 0.0] {
        player.seek(&clip, clip.seconds * part);
        player.sample(&rest, &mut pose);
    }
}

/// Checks that `read` mentions every kind.
#[test]
fn every_resource_kind_has_a_data_target() {
    let source = include_str!("data.rs");
    for kind in KINDS.0.iter().filter(|kind| has_reader(kind.name)) {
        assert!(source.contains(&format!("\"{}\"", kind.name)), "data.{}: add it", kind.name);
    }
}
