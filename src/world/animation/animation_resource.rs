//! The resource kind `animation`: a clip of a model's file with its own settings. Also the
//! references from other files to clips: to models (`models/orc#Walk`) and to animations.

use super::events::refer_to_cue;
use super::model_clips::{morph_ranges, skeleton_of, source_clip};
use super::rig_source::RigSource;
use engine_animation::{
    ANIMATION_VERSION, AdditiveReference, AnimationData, AnimationFile, Skeleton, SourceClip,
    compile as compile_clip, parse_animation_file, retarget,
};
use engine_foundation::{Error, error};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{CompileContext, ResourceKind, SourceForm, kind_names};
use engine_resource::resource_name::is_inside;

/// Character between the name of a model and that of a clip.
pub const CLIP_SEPARATOR: char = '#';

/// The resource kind of animations.
pub static ANIMATION_FILE: ResourceKind = ResourceKind {
    name: kind_names::ANIMATION,
    doc: "A clip of a glTF file with its own settings: loop, range, events, root motion, another \
          skeleton",
    extensions: &[("animation", SourceForm::Own)],
    version: ANIMATION_VERSION,
    framed: true,
    reload: &[ReloadStep::Animations, ReloadStep::UnitResources],
    compile,
    validate: |bytes| AnimationData::read(bytes).map(drop),
};

/// Splits the name of a clip of a model, `models/orc#Walk`, into both names.
pub fn split_clip(name: &str) -> Option<(&str, &str)> {
    name.split_once(CLIP_SEPARATOR).filter(|(model, clip)| !model.is_empty() && !clip.is_empty())
}

/// Records the reference of a resource to a clip by its name: to a model, to an animation, or none
/// if it is a clip of the unit's own model. The creation of an animation of this name triggers a
/// new compile.
pub fn refer_clip(compiling: &mut CompileContext, name: &str) {
    // Names of clips are those of other programs, which need not be names of files.
    if !is_inside(name) || name.contains('\0') {
        return;
    }
    if let Some((model, _)) = split_clip(name) {
        let endings = ["model", "glb", "gltf"];
        if endings.iter().any(|ending| compiling.exists(&format!("{model}.{ending}"))) {
            compiling.refer(kind_names::MODEL, model);
            return;
        }
    }
    if compiling.read(&format!("{name}.{}", kind_names::ANIMATION)).is_ok() {
        compiling.refer(kind_names::ANIMATION, name);
    }
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let file = parse_animation_file(&compiling.bytes, &compiling.path)?;
    let data = read_clip(compiling, &file).map_err(|error| Error {
        message: format!("{}: {}", compiling.path, error.message),
        ..error
    })?;
    for event in data.clip.events() {
        refer_to_cue(compiling, &event.cue);
    }
    Ok(data.write())
}

/// Skeleton that a clip is compiled for, and the names of bones that differ.
struct Target<'a> {
    skeleton: &'a Skeleton,
    names: &'a [(String, String)],
}

fn read_clip(compiling: &mut CompileContext, file: &AnimationFile) -> Result<AnimationData, Error> {
    let name = file.source.clone().unwrap_or_else(|| compiling.name.name.clone());
    let rig = RigSource::read(compiling, &name)?;
    let theirs = skeleton_of(&rig.model).map_err(|error| in_file(&rig.path, error))?;
    let animation = rig.animation(file.clip.as_deref())?;
    let source = source_clip(animation, &morph_ranges(&rig.model));
    let ours = match &file.skeleton {
        Some(other) if *other != name => {
            let rig = RigSource::read(compiling, other)
                .map_err(|error| error!("skeleton: {}", error.message))?;
            Some(skeleton_of(&rig.model).map_err(|error| in_file(&rig.path, error))?)
        }
        _ => None,
    };
    let target = ours.as_ref().map(|skeleton| Target { skeleton, names: &file.retarget });
    let mut settings = file.settings.clone();
    if let Some(additive) = &file.additive {
        let source = match &additive.clip {
            Some(clip) => Some(reference_clip(compiling, &rig, (clip, &theirs), &target)?),
            None => None,
        };
        settings.additive = Some(AdditiveReference { source, time: additive.time });
    }
    let source = match &target {
        Some(target) => retarget(&source, &theirs, target.skeleton, target.names)?,
        None => source,
    };
    let skeleton = ours.as_ref().unwrap_or(&theirs);
    let compiled = compile_clip(&source, skeleton, &settings)?;
    let names = if ours.is_some() { Vec::new() } else { file.retarget.clone() };
    Ok(AnimationData {
        source: format!("{}{CLIP_SEPARATOR}{}", rig.path, animation.name),
        skeleton: skeleton.clone(),
        clip: compiled.clip,
        names,
    })
}

/// Returns the animation with the reference pose of an additive clip, for the skeleton of the clip.
fn reference_clip(
    compiling: &mut CompileContext,
    rig: &RigSource,
    (name, theirs): (&str, &Skeleton),
    target: &Option<Target>,
) -> Result<SourceClip, Error> {
    let in_additive = |error: Error| error!("additive: {}", error.message);
    if let Some((model, clip)) = split_clip(name) {
        let other = RigSource::read(compiling, model).map_err(in_additive)?;
        let skeleton = skeleton_of(&other.model).map_err(|error| in_file(&other.path, error))?;
        let animation = other.animation(Some(clip)).map_err(in_additive)?;
        let clip = source_clip(animation, &morph_ranges(&other.model));
        let (ours, names) = target.as_ref().map_or((theirs, &[][..]), |it| (it.skeleton, it.names));
        return match skeleton == *ours {
            true => Ok(clip),
            false => retarget(&clip, &skeleton, ours, names).map_err(in_additive),
        };
    }
    let animation = rig.animation(Some(name)).map_err(in_additive)?;
    let clip = source_clip(animation, &morph_ranges(&rig.model));
    match target {
        Some(target) => retarget(&clip, theirs, target.skeleton, target.names).map_err(in_additive),
        None => Ok(clip),
    }
}

fn in_file(path: &str, error: Error) -> Error {
    error!("{path}: {}", error.message)
}
