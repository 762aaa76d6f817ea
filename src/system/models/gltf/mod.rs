//! Import of glTF 2.0 models: `.gltf` and `.glb`, with buffers and images in the file, in separate
//! files or embedded as data URIs. The crate `gltf` parses only the JSON description. The importer
//! checks all of its content, because files come from untrusted sources.

mod accessor;
mod animation;
mod buffers;
#[cfg(test)]
mod malformed_tests;
mod materials;
mod meshes;
mod nodes;
#[cfg(test)]
mod test_models;
#[cfg(test)]
mod tests;

pub use materials::BuildTexture;

use super::data::ModelData;
use accessor::{GltfSource, MODEL_VERTICES_MAX, NUMBERS_MAX};
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::resource_kind::CompileContext;
use gltf::json::{Root, Value, deserialize, serialize};
use std::cell::Cell;

/// Extensions that a file may require.
const SUPPORTED_EXTENSIONS: [&str; 5] = [
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// Imports a file and builds its images with `build`. Returns the model and the data of its images.
///
/// # Errors
/// Returns an error that names the cause if the file is invalid, or refers to missing data.
pub fn import(
    compiling: &mut CompileContext,
    build: BuildTexture,
) -> Result<(ModelData, Vec<u8>), Error> {
    let file = std::mem::take(&mut compiling.bytes);
    let path = compiling.path.clone();
    let imported = read(&file, compiling, build);
    compiling.bytes = file;
    imported.map_err(|fault| error!("{path}: {}", fault.message))
}

fn read(
    file: &[u8],
    compiling: &mut CompileContext,
    build: BuildTexture,
) -> Result<(ModelData, Vec<u8>), Error> {
    let parted = buffers::part(file)?;
    let mut warnings = Vec::new();
    let root = root(parted.text, &mut warnings)?;
    if !root.asset.version.starts_with("2.") {
        return Err(error!(
            "it is glTF {}, and only 2.0 can be read: export it as glTF 2.0",
            root.asset.version
        ));
    }
    if let Some(unknown) =
        root.extensions_required.iter().find(|one| !SUPPORTED_EXTENSIONS.contains(&&one[..]))
    {
        return Err(error!(
            "it needs the extension {unknown}, which is not supported: export it without"
        ));
    }
    buffers::check_counts(&root)?;
    let loaded = buffers::load(&root, parted.bytes, compiling)?;
    let source = GltfSource {
        root: &root,
        buffers: loaded,
        left: Cell::new(NUMBERS_MAX),
        vertices_left: Cell::new(MODEL_VERTICES_MAX),
    };
    let mut model = ModelData::default();
    let ordered = nodes::read(&root, &mut model)?;
    model.cameras = nodes::cameras(&root, &mut warnings)?;
    model.lights = nodes::lights(&root)?;
    let mut pictures = materials::ImageReader::new(&source, compiling, build);
    let surfaces = materials::read(&mut pictures, &mut model)?;
    let bulk = pictures.bulk;
    model.meshes = meshes::read(&source, &surfaces, &mut warnings)?;
    model.warnings.append(&mut warnings);
    model.skins = animation::skins(&source, &ordered)?;
    nodes::check(&model)?;
    model.clips = animation::clips(&source, &ordered, &model)?;
    Ok((model, bulk))
}

/// Parses the JSON description. Animation channels without a node (KHR_animation_pointer) are
/// removed with a warning, because the crate requires a node for each channel.
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
