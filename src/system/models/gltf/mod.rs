//! Import of glTF 2.0 models: `.gltf` and `.glb`, with buffers and images in the file, in separate
//! files or embedded as data URIs. The crate `gltf` parses only the JSON description. The importer
//! checks all of its content, because files come from untrusted sources.

mod accessor;
mod animation;
mod buffers;
mod compressed_views;
mod document;
mod draco;
#[cfg(test)]
mod extension_tests;
mod fields;
mod images;
mod instancing;
#[cfg(test)]
mod look_tests;
mod looks;
#[cfg(test)]
mod malformed_tests;
mod materials;
mod meshes;
pub mod meshopt;
mod meshopt_filters;
#[cfg(test)]
mod meshopt_tests;
mod nodes;
mod specular_glossiness;
#[cfg(test)]
mod test_models;
#[cfg(test)]
mod test_skinned_model;
#[cfg(test)]
mod tests;

pub use images::BuildTexture;

use super::data::ModelData;
use accessor::{GltfSource, MODEL_VERTICES_MAX, NUMBERS_MAX};
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::resource_kind::CompileContext;
use std::cell::Cell;

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

/// Imports the nodes and the animations of a file. The meshes of the result have their numbers of
/// morph targets and nothing else, because animations depend on these numbers.
///
/// # Errors
/// Returns an error that names the cause if the file is invalid, or refers to missing data.
pub fn import_animations(compiling: &mut CompileContext) -> Result<ModelData, Error> {
    let file = std::mem::take(&mut compiling.bytes);
    let path = compiling.path.clone();
    let imported = read_animations(&file, compiling);
    compiling.bytes = file;
    imported.map_err(|fault| error!("{path}: {}", fault.message))
}

fn read_animations(file: &[u8], compiling: &mut CompileContext) -> Result<ModelData, Error> {
    let (mut source, mut warnings) = open(file, compiling)?;
    let instanced = instancing::expand(&mut source)?;
    let mut model = ModelData::default();
    let ordered = nodes::read(&source.root, &mut model)?;
    model.meshes = meshes::outlines(&source);
    model.warnings.append(&mut warnings);
    let meshes = model.meshes.len();
    for node in &mut model.nodes {
        (node.camera, node.light, node.skin) = (None, None, None);
        node.mesh = node.mesh.filter(|mesh| (*mesh as usize) < meshes);
    }
    animation::add_clips(&source, &instanced, &ordered, &mut model)?;
    Ok(model)
}

/// Opens a file: reads its description and its buffers. Returns the warnings, too.
fn open(file: &[u8], compiling: &mut CompileContext) -> Result<(GltfSource, Vec<String>), Error> {
    let parts = buffers::part(file)?;
    let mut warnings = Vec::new();
    let mut root = document::parse(parts.text, &mut warnings)?;
    buffers::check_counts(&root)?;
    let mut loaded = buffers::load(&root, parts.bytes, compiling)?;
    compressed_views::decompress(&mut root, &mut loaded)?;
    let source = GltfSource {
        root,
        buffers: loaded,
        left: Cell::new(NUMBERS_MAX),
        vertices_left: Cell::new(MODEL_VERTICES_MAX),
    };
    Ok((source, warnings))
}

fn read(
    file: &[u8],
    compiling: &mut CompileContext,
    build: BuildTexture,
) -> Result<(ModelData, Vec<u8>), Error> {
    let (mut source, mut warnings) = open(file, compiling)?;
    draco::decompress(&mut source)?;
    let instanced = instancing::expand(&mut source)?;
    let source = source;
    let mut model = ModelData::default();
    let ordered = nodes::read(&source.root, &mut model)?;
    model.cameras = nodes::cameras(&source.root, &mut warnings)?;
    model.lights = nodes::lights(&source.root)?;
    let mut pictures = images::ImageReader::new(&source, compiling, build);
    let surfaces = materials::read(&mut pictures, &mut model)?;
    let bulk = pictures.into_bulk();
    model.meshes = meshes::read(&source, &surfaces, &mut warnings)?;
    model.warnings.append(&mut warnings);
    model.skins = animation::skins(&source, &ordered)?;
    nodes::check(&model)?;
    animation::add_clips(&source, &instanced, &ordered, &mut model)?;
    Ok((model, bulk))
}
