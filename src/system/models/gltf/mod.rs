//! glTF 2.0 on its way to a model: `.gltf` and `.glb`, with buffers and pictures inside, beside or
//! written into them. Only the description is read by the crate `gltf`; whatever it says is checked
//! here, for files come from anywhere.

mod accessor;
mod buffers;
mod meshes;
mod motion;
mod nodes;
#[cfg(test)]
mod recipe;
mod surfaces;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unusual_tests;

pub use surfaces::BuildPicture;

use super::data::ModelData;
use crate::error;
use crate::foundation::Error;
use crate::resource::kind::Compiling;
use accessor::{MODEL_VERTICES_MAX, NUMBERS_MAX, Source};
use gltf::json::{Root, Value, deserialize, serialize};
use std::cell::Cell;

/// Extensions that a file may require.
const KNOWN: [&str; 5] = [
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// Reads a file, and makes its pictures with `build`: the model, and the data of its pictures.
///
/// # Errors
/// The file says something that cannot be, or needs something that is not there; the words name it.
pub fn import(
    compiling: &mut Compiling,
    build: BuildPicture,
) -> Result<(ModelData, Vec<u8>), Error> {
    let file = std::mem::take(&mut compiling.bytes);
    let path = compiling.path.clone();
    let imported = read(&file, compiling, build);
    compiling.bytes = file;
    imported.map_err(|fault| error!("{path}: {}", fault.message))
}

fn read(
    file: &[u8],
    compiling: &mut Compiling,
    build: BuildPicture,
) -> Result<(ModelData, Vec<u8>), Error> {
    let parted = buffers::part(file)?;
    let mut warnings = Vec::new();
    let root = root(parted.text, &mut warnings)?;
    if !root.asset.version.starts_with("2.") {
        return Err(error!(
            "it is glTF {}, and 2.0 is read: export it as glTF 2.0",
            root.asset.version
        ));
    }
    if let Some(unknown) = root.extensions_required.iter().find(|one| !KNOWN.contains(&&one[..])) {
        return Err(error!(
            "it cannot be read without the extension {unknown}, which is not known here: export it \
             without"
        ));
    }
    buffers::check_counts(&root)?;
    let loaded = buffers::load(&root, parted.bytes, compiling)?;
    let source = Source {
        root: &root,
        buffers: loaded,
        left: Cell::new(NUMBERS_MAX),
        vertices_left: Cell::new(MODEL_VERTICES_MAX),
    };
    let mut model = ModelData::default();
    let ordered = nodes::read(&root, &mut model)?;
    model.cameras = nodes::cameras(&root, &mut warnings)?;
    model.lights = nodes::lights(&root)?;
    let mut pictures = surfaces::Pictures::new(&source, compiling, build);
    let surfaces = surfaces::read(&mut pictures, &mut model)?;
    let bulk = pictures.bulk;
    model.meshes = meshes::read(&source, &surfaces, &mut warnings)?;
    model.warnings.append(&mut warnings);
    model.skins = motion::skins(&source, &ordered)?;
    nodes::check(&model)?;
    model.clips = motion::clips(&source, &ordered, &model)?;
    Ok((model, bulk))
}

/// The description. Movements of what is no node (KHR_animation_pointer) are left out of it, which
/// is told: the crate wants a node of each.
fn root(text: &[u8], warnings: &mut Vec<String>) -> Result<Root, Error> {
    let fault = match deserialize::from_slice(text) {
        Ok(root) => return Ok(root),
        Err(fault) => error!("it is not glTF: {fault}"),
    };
    let Ok(mut tree) = deserialize::from_slice::<Value>(text) else { return Err(fault) };
    let mut dropped = 0;
    for animation in tree.get_mut("animations").and_then(Value::as_array_mut).into_iter().flatten()
    {
        let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) else {
            continue;
        };
        let before = channels.len();
        channels.retain(|channel| channel.get("target").is_none_or(|to| to.get("node").is_some()));
        dropped += before - channels.len();
    }
    let text = serialize::to_vec(&tree).ok().filter(|_| dropped > 0);
    let root = text.and_then(|text| deserialize::from_slice(&text).ok()).ok_or(fault)?;
    warnings.push(format!(
        "{dropped} of its animations' channels move no node (KHR_animation_pointer): they are left \
         out"
    ));
    Ok(root)
}
