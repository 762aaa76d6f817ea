//! The source of two-dimensional models, `.skeleton` files: bones, pictures in slots, skins, and
//! clips. It becomes the data of a model, so that units, state machines and scripts use it like
//! one from a glTF file.

mod bones;
mod clips;
mod curves;
mod errors;
mod fields;
mod sheets;
mod skin_mesh;
mod slots;
#[cfg(test)]
mod tests;

use crate::animation::{morph_ranges, refer_to_cue, skeleton_of, slot_tolerances, source_clip};
use bones::Plane;
use engine_animation::{
    AdditiveReference, AnimationFile, ClipSettings, CompiledClip, Skeleton, compile,
};
use engine_foundation::sjson::{self, Document, SjsonTree};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::data::{AnimationData, ClipData, ModelData};
use engine_resource::resource_kind::CompileContext;
use errors::FileErrors;
use fields::Block;
use sheets::Sheets;
use slots::SlotReader;
use std::sync::Arc;

pub use fields::NAME_BYTES_MAX;
pub use slots::SLOT_COLOR;

/// Ending of the files.
pub const SKELETON_ENDING: &str = "skeleton";
/// Name of the bone and of the slot of a file that names only a sheet.
const SHEET_SLOT: &str = "body";

const KEYS: [&str; 8] =
    ["bones", "clips", "pivot", "pixels_per_metre", "plane", "sheet", "skins", "slots"];
const PLANES: [&str; 2] = ["flat", "upright"];
const PIXELS_PER_METRE: f32 = 100.0;

/// Content of a file.
#[derive(Default)]
pub struct SkeletonSource {
    /// Bones, meshes and pictures.
    pub model: ModelData,
    pub clips: Vec<SkeletonClip>,
    /// Slots that show the frames of a sheet, and the sheet.
    frame_slots: Vec<(String, String)>,
    /// Slots with errors, whose parts are not known.
    failed_slots: Vec<String>,
}

/// A clip of a file.
pub struct SkeletonClip {
    pub animation: AnimationData,
    /// Settings as in an `.animation` file.
    pub file: AnimationFile,
}

/// Returns true if a path is that of a `.skeleton` file.
pub fn is_skeleton(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending == SKELETON_ENDING)
}

/// Reads a file: the bytes and the path of the context.
///
/// # Errors
/// Returns an error that names the file and the line, with a line for each error of the file.
pub fn read(compiling: &mut CompileContext) -> Result<SkeletonSource, Error> {
    let errors = FileErrors::default();
    let source = read_parts(compiling, &errors);
    errors.finish(source)
}

fn read_parts(
    compiling: &mut CompileContext,
    errors: &FileErrors,
) -> Result<SkeletonSource, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let path = compiling.path.clone();
    let root = Block::open(&path, "the skeleton", document.root(), &KEYS)?;
    let texels = root.number("pixels_per_metre", 1e-3, 1e6)?.unwrap_or(PIXELS_PER_METRE);
    let plane = match root.text("plane")? {
        None => PLANES[0],
        Some(plane) if PLANES.contains(&plane) => plane,
        Some(plane) => {
            let near = hint(plane, PLANES);
            let message = format!("has no plane '{plane}'{near}: use flat or upright");
            return Err(root.error_at(root.value, &message));
        }
    };
    let plane = Plane { metres_per_texel: 1.0 / texels, upright: plane == PLANES[1] };
    let sheet = root.resource("sheet")?;
    if let (Some(sheet), None) = (sheet, root.value.get("slots")) {
        return read_sheet(compiling, &root, (plane, sheet), errors);
    }
    if let Some(pivot) = root.value.get("pivot") {
        return Err(root
            .error_at(pivot, "has a pivot and slots: give the pivots to the parts of the slots"));
    }
    let mut source = SkeletonSource::default();
    source.model.nodes = bones::read(&root, plane, errors)?;
    if source.model.nodes.is_empty() {
        return Err(error!("{path}: the skeleton has no bones: bones = {{ body = {{}} }}"));
    }
    read_pictures(compiling, [&root, &root], (plane, sheet, errors), source)
}

/// Reads the slots and skins of one block and the clips of another into a source with bones.
fn read_pictures(
    compiling: &mut CompileContext,
    [slots, clips]: [&Block; 2],
    (plane, sheet, errors): (Plane, Option<&str>, &FileErrors),
    mut source: SkeletonSource,
) -> Result<SkeletonSource, Error> {
    let mut sheets = Sheets::default();
    let mut model = std::mem::take(&mut source.model);
    let mut reader =
        SlotReader::new(slots.path, compiling, &mut sheets, (plane, sheet, errors), &mut model);
    let sprite_skeleton = reader.read(slots, &mut source)?;
    model.sprite_skeleton = Some(Arc::new(sprite_skeleton));
    source.model = model;
    clips::read(clips, (plane, errors), &sheets, &mut source)?;
    Ok(source)
}

/// Reads a file without slots: the frames of its sheet are the parts of one slot.
fn read_sheet(
    compiling: &mut CompileContext,
    root: &Block,
    (plane, sheet): (Plane, &str),
    errors: &FileErrors,
) -> Result<SkeletonSource, Error> {
    let mut source = SkeletonSource::default();
    source.model.nodes = bones::read(root, plane, errors)?;
    let text = |text: &str| SjsonTree::String(text.to_string());
    if source.model.nodes.is_empty() {
        let body = block(SHEET_SLOT, SjsonTree::Object(Vec::new()));
        let document = Document::from_tree(&block("bones", body))?;
        let bones = Block::open(root.path, "the skeleton", document.root(), &KEYS)?;
        source.model.nodes = bones::read(&bones, plane, errors)?;
    }
    let bone = text(&source.model.nodes[0].name);
    let [x, y] = root.pair("pivot", fields::COORDINATE_MAX)?.unwrap_or([0.5, 0.5]);
    let pivot = [x, y].map(|part| SjsonTree::Number(part.into())).to_vec();
    let fields = [("bone", bone), ("sheet", text(sheet)), ("pivot", SjsonTree::Array(pivot))];
    let fields = fields.map(|(key, value)| (key.to_string(), value)).to_vec();
    let slot = block(SHEET_SLOT, SjsonTree::Object(fields));
    let document = Document::from_tree(&block("slots", slot))?;
    let slots = Block::open(root.path, "the skeleton", document.root(), &KEYS)?;
    read_pictures(compiling, [&slots, root], (plane, None, errors), source)
}

/// Returns a block with one entry.
fn block(key: &str, value: SjsonTree) -> SjsonTree {
    SjsonTree::Object(vec![(key.to_string(), value)])
}

/// Compiles a `.skeleton` file into a model.
///
/// # Errors
/// Returns an error that names the file, and the line or the clip.
pub fn compile_skeleton(compiling: &mut CompileContext) -> Result<ModelData, Error> {
    let SkeletonSource { mut model, clips, .. } = read(compiling)?;
    let events = clips.iter().flat_map(|clip| &clip.file.settings.events);
    events.for_each(|event| refer_to_cue(compiling, &event.cue));
    let path = &compiling.path;
    let skeleton = skeleton_of(&model).map_err(|fault| error!("{path}: {}", fault.message))?;
    let mut compiled = Vec::with_capacity(clips.len());
    let mut errors = Vec::new();
    for clip in &clips {
        let name = clip.animation.name.clone();
        let result = match compile_clip(clip, &clips, &model, &skeleton) {
            Ok(result) => result,
            Err(fault) => {
                errors.push(error!("{path}: clip '{name}': {}", fault.message));
                continue;
            }
        };
        model.warnings.extend(result.warning.map(|text| format!("clip '{name}': {text}")));
        compiled.push(ClipData { name, bytes: result.clip.write() });
    }
    model.clips = compiled;
    match Error::several(errors) {
        Some(error) => Err(error),
        None => Ok(model),
    }
}

fn compile_clip(
    clip: &SkeletonClip,
    clips: &[SkeletonClip],
    model: &ModelData,
    skeleton: &Skeleton,
) -> Result<CompiledClip, Error> {
    let morphs = morph_ranges(model);
    let mut settings: ClipSettings = clip.file.settings.clone();
    if let Some(additive) = &clip.file.additive {
        let source = match &additive.clip {
            None => None,
            Some(name) => {
                let found = clips.iter().find(|it| it.animation.name == *name);
                let found = found.ok_or_else(|| {
                    let near = hint(name, clips.iter().map(|it| it.animation.name.as_str()));
                    error!("additive: the skeleton has no clip '{name}'{near}")
                })?;
                Some(source_clip(&found.animation, &morphs))
            }
        };
        settings.additive = Some(AdditiveReference { source, time: additive.time });
    }
    settings.weight_tolerances =
        model.sprite_skeleton.as_deref().map(slot_tolerances).unwrap_or_default();
    compile(&source_clip(&clip.animation, &morphs), skeleton, &settings)
}

/// Returns the bones and animations of a file for the compiler of animations, without meshes, and
/// the settings of each animation.
///
/// # Errors
/// Returns an error that names the file and the line.
pub fn read_rig(
    compiling: &mut CompileContext,
) -> Result<(ModelData, Vec<(String, AnimationFile)>), Error> {
    let SkeletonSource { mut model, clips, .. } = read(compiling)?;
    let mut settings = Vec::with_capacity(clips.len());
    for clip in clips {
        settings.push((clip.animation.name.clone(), clip.file));
        model.animations.push(clip.animation);
    }
    Ok((model, settings))
}
