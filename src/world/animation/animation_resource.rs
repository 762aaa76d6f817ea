//! The resource kind `animation`: a clip of a model's file with its own settings. Also the
//! references from other files to clips: to models (`models/orc#Walk`) and to animations.

use super::events::refer_to_cue;
use super::model_clips::{morph_ranges, skeleton_of, source_clip};
use super::rig_source::{RigSource, SOURCE_ADVICE};
use super::slot_values::slot_tolerances;
use crate::skeleton_file::SKELETON_ENDING;
use engine_animation::{
    ANIMATION_VERSION, AdditiveReference, AnimationData, AnimationFile, FailedCompile, Skeleton,
    SourceClip, UnmatchedBones, compile_settings, parse_animation_file, parse_animation_file_over,
    read_clip as read_clip_data, read_state_machine, retarget, unmatched_bones,
};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error, log, sjson};
use engine_models::data::ModelData;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use engine_resource::resource_name::is_inside;
use std::ops::Deref;

/// Character between the name of a model and that of a clip.
pub const CLIP_SEPARATOR: char = '#';

/// The resource kind of animations.
pub static ANIMATION_FILE: ResourceKind = ResourceKind {
    name: kind_names::ANIMATION,
    doc: "A clip of a model with its own settings: loop, range, events, root motion, another \
          skeleton",
    extensions: &[("animation", SourceForm::Own)],
    version: ANIMATION_VERSION,
    framed: true,
    reload: &[ReloadStep::Animations, ReloadStep::UnitResources],
    compile: compiler(compile),
    validate: |bytes| AnimationData::read(bytes).map(drop),
};

/// Splits the name of a clip of a model, `models/orc#Walk`, into both names.
fn split_clip(name: &str) -> Option<(&str, &str)> {
    name.split_once(CLIP_SEPARATOR).filter(|(model, clip)| !model.is_empty() && !clip.is_empty())
}

/// Endings of the files of models.
const MODEL_ENDINGS: [&str; 4] = ["model", "glb", "gltf", SKELETON_ENDING];

/// Splits the name of a clip of a model, with the ending of the model's file or without it:
/// `models/orc#Walk`, `models/orc.gltf#Walk`.
pub fn split_model_clip(name: &str) -> Option<(&str, &str)> {
    let (model, clip) = split_clip(name)?;
    Some((model_name(model), clip))
}

/// Returns the name of a model without the ending of its file.
pub fn model_name(name: &str) -> &str {
    let stem = |ending: &&str| name.strip_suffix(*ending)?.strip_suffix('.');
    let stem = MODEL_ENDINGS.iter().find_map(stem);
    stem.filter(|stem| !stem.is_empty()).unwrap_or(name)
}

/// Returns the name of a clip of a model without the ending of the model's file; `None` if the name
/// has no such ending.
pub fn canonical_name(name: &str) -> Option<String> {
    let (model, clip) = split_model_clip(name)?;
    let short = format!("{model}{CLIP_SEPARATOR}{clip}");
    (short != name).then_some(short)
}

/// Records the reference of a resource to a clip by its name: to a model, to an animation, or none
/// if it is a clip of the unit's own model. The creation of an animation of this name triggers a
/// new compile.
pub fn refer_clip(compiling: &mut CompileContext, name: &str) {
    // Names of clips are those of other programs, which need not be names of files.
    if !is_inside(name) || name.contains('\0') {
        return;
    }
    if let Some((model, _)) = split_model_clip(name)
        && MODEL_ENDINGS.iter().any(|ending| compiling.exists(&format!("{model}.{ending}")))
    {
        compiling.refer(kind_names::MODEL, model);
        return;
    }
    if compiling.read(&format!("{name}.{}", kind_names::ANIMATION)).is_ok() {
        compiling.refer(kind_names::ANIMATION, name);
    }
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let file = parse_animation_file(&compiling.bytes, &compiling.path)?;
    let data = read_clip(compiling, &file).map_err(|failed| failed.located(compiling))?;
    for event in data.clip.events() {
        refer_to_cue(compiling, &event.cue);
    }
    Ok(data.write())
}

/// Warning of a clip, or of a state machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnimationWarning {
    /// Line of the file, if it is known.
    pub line: Option<u32>,
    pub text: String,
}

/// Returns the warnings of a state machine, or of the clips of a resource: an animation, or a
/// model. Resources of other kinds have none, and are not read.
///
/// # Errors
/// Fails if the data cannot be read.
pub fn animation_warnings<T: Deref<Target = [u8]>>(
    kind: &str,
    read: impl FnOnce() -> Result<T, Error>,
) -> Result<Vec<AnimationWarning>, Error> {
    match kind {
        kind_names::STATE_MACHINE => {
            let dead = read_state_machine(&read()?)?.dead_parts().into_iter();
            Ok(dead.map(|(line, text)| AnimationWarning { line: Some(line), text }).collect())
        }
        kind_names::ANIMATION => {
            let AnimationData { clip, root_line, warning: text, .. } =
                AnimationData::read(&read()?)?;
            let line = (root_line > 0).then_some(root_line);
            let warning = |text: &str| AnimationWarning { line, text: text.to_string() };
            let mut warnings: Vec<_> = clip.root_warning().map(warning).into_iter().collect();
            warnings.extend((!text.is_empty()).then_some(AnimationWarning { line: None, text }));
            Ok(warnings)
        }
        kind_names::MODEL => {
            let mut warnings = Vec::new();
            for it in ModelData::read(&read()?)?.clips {
                let warning = read_clip_data(&it.bytes)?.root_warning();
                let text = warning.map(|text| format!("clip '{}': {text}", it.name));
                warnings.extend(text.map(|text| AnimationWarning { line: None, text }));
            }
            Ok(warnings)
        }
        _ => Ok(Vec::new()),
    }
}

/// Skeleton that a clip is compiled for, and the names of bones that differ.
struct Target<'a> {
    skeleton: &'a Skeleton,
    names: &'a [(String, String)],
}

/// Error of the settings that a file has for the first of these keys.
struct FailedSetting {
    keys: &'static [&'static str],
    error: Error,
}

/// Keys that name the source.
const SOURCE: &[&str] = &["source"];
const CLIP: &[&str] = &["clip", "source"];
const SKELETON: &[&str] = &["skeleton"];
const RETARGET: &[&str] = &["retarget", "skeleton"];
const ADDITIVE: &[&str] = &["additive"];

/// Returns the error of the first of the keys that the file has.
fn at(keys: &'static [&'static str]) -> impl Fn(Error) -> FailedSetting {
    move |error| FailedSetting { keys, error }
}

impl From<FailedCompile> for FailedSetting {
    fn from(FailedCompile { keys, error }: FailedCompile) -> FailedSetting {
        FailedSetting { keys, error }
    }
}

impl FailedSetting {
    /// Returns the error with the file, and with the line if the file has one of the keys.
    fn located(self, compiling: &CompileContext) -> Error {
        let FailedSetting { keys, error } = self;
        if error.message.starts_with(&format!("{}:", compiling.path)) {
            return error;
        }
        let line = |key: &&str| line_of(&compiling.bytes, key);
        let line = keys.iter().find_map(line).map_or(String::new(), |line| format!(":{line}"));
        Error { message: format!("{}{line}: {}", compiling.path, error.message), ..error }
    }
}

/// Returns the line of a key of a file.
fn line_of(bytes: &[u8], key: &str) -> Option<usize> {
    let document = sjson::parse_bytes(bytes).ok()?;
    let mut entries = document.root().entries()?;
    entries.find(|entry| entry.key == key).map(|entry| entry.line())
}

fn read_clip(
    compiling: &mut CompileContext,
    file: &AnimationFile,
) -> Result<AnimationData, FailedSetting> {
    let name = file.source.clone().unwrap_or_else(|| compiling.name.name.clone());
    let rig = RigSource::read(compiling, &name).map_err(at(SOURCE))?;
    let theirs = skeleton_of(&rig.model).map_err(|error| at(SOURCE)(in_file(&rig.path, error)))?;
    let animation = rig.animation(file.clip.as_deref()).map_err(at(CLIP))?;
    // A clip of a `.skeleton` file has settings, of which the file replaces some.
    let file = match rig.settings(&animation.name) {
        Some(base) => &parse_animation_file_over(&compiling.bytes, &compiling.path, base)
            .map_err(at(SOURCE))?,
        None => file,
    };
    let animated = source_clip(animation, &morph_ranges(&rig.model));
    let ours = match &file.skeleton {
        // With names, bones of the model itself can be exchanged.
        Some(other) if *other != name || !file.retarget.is_empty() => {
            let rig = RigSource::read(compiling, other)
                .map_err(|error| at(SKELETON)(in_key("skeleton", error)))?;
            let skeleton = skeleton_of(&rig.model);
            Some(skeleton.map_err(|error| at(SKELETON)(in_file(&rig.path, error)))?)
        }
        _ => None,
    };
    let target = ours.as_ref().map(|skeleton| Target { skeleton, names: &file.retarget });
    if target.is_none() {
        check_retargeted_bones(&theirs, &file.retarget).map_err(at(RETARGET))?;
    }
    let mut settings = file.settings.clone();
    if let Some(additive) = &file.additive {
        let source = match &additive.clip {
            Some(clip) => {
                let reference = reference_clip(compiling, &rig, (clip, &theirs), &target);
                Some(reference.map_err(at(ADDITIVE))?)
            }
            None => None,
        };
        settings.additive = Some(AdditiveReference { source, time: additive.time });
    }
    let mut unmatched = UnmatchedBones::default();
    let source = match &target {
        Some(target) => {
            unmatched = unmatched_bones(&animated, &theirs, target.skeleton, target.names);
            retarget(&animated, &theirs, target.skeleton, target.names).map_err(at(RETARGET))?
        }
        None => animated,
    };
    let skeleton = ours.as_ref().unwrap_or(&theirs);
    if let Some(sprite_skeleton) = &rig.model.sprite_skeleton {
        settings.weight_tolerances = slot_tolerances(sprite_skeleton);
    }
    let compiled = compile_settings(&source, skeleton, &settings)?;
    let mut warnings: Vec<String> = unmatched.warning().into_iter().collect();
    warnings.extend(compiled.warning);
    for warning in &warnings {
        log::warning(&format!("{}: clip '{}': {warning}", compiling.path, animation.name));
    }
    let names = if ours.is_some() { Vec::new() } else { file.retarget.clone() };
    Ok(AnimationData {
        source: format!("{}{CLIP_SEPARATOR}{}", rig.path, animation.name),
        skeleton: skeleton.clone(),
        clip: compiled.clip,
        names,
        root_line: line_of(&compiling.bytes, "root_motion").unwrap_or(0) as u32,
        unmatched: unmatched.names,
        warning: warnings.join("; "),
    })
}

/// Checks the names of the source in `retarget`, if the other skeleton is known only when a unit
/// plays the clip.
fn check_retargeted_bones(theirs: &Skeleton, names: &[(String, String)]) -> Result<(), Error> {
    match names.iter().find(|(name, _)| theirs.find(name).is_none()) {
        None => Ok(()),
        Some((name, _)) => Err(error!(
            "'retarget' names the bone '{name}', which the skeleton of the source does not have{}",
            hint(name, theirs.names().iter().map(String::as_str))
        )),
    }
}

/// Returns the animation with the reference pose of an additive clip, for the skeleton of the clip.
fn reference_clip(
    compiling: &mut CompileContext,
    rig: &RigSource,
    (name, theirs): (&str, &Skeleton),
    target: &Option<Target>,
) -> Result<SourceClip, Error> {
    let in_additive = |error: Error| in_key("additive", error);
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

/// Returns an error about a model or a clip that a key other than `source` names.
fn in_key(key: &str, error: Error) -> Error {
    error!("{key}: {}", error.message.replace(SOURCE_ADVICE, ""))
}

fn in_file(path: &str, error: Error) -> Error {
    error!("{path}: {}", error.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::resource_name::ResourceName;

    const COLUMN: &[u8] = include_bytes!("../../../tests/lua/models/column.gltf");
    const POST: &[u8] = include_bytes!("../../../tests/lua/models/post.gltf");
    const FACE: &[u8] = include_bytes!("../../../tests/lua/models/face.gltf");

    const IMP: &[u8] = b"bones = { arm = {} } slots = { arm = { texture = \"arm\" } } \
        clips = { wave = { loop = true \
        events = [{ name = \"up\" time = 0.5 } { name = \"down\" time = 1 }] \
        bones = { arm = { rotation = [{ time = 0 value = 0 } { time = 1 value = 90 }] } } } }";

    /// Compiles an animation. Returns it with the files that it depends on, and its references.
    fn compiled(text: &str) -> Result<(AnimationData, Vec<String>, Vec<String>), String> {
        let read = |path: &str| match path {
            "models/column.gltf" => Ok(COLUMN.to_vec()),
            "models/post.gltf" => Ok(POST.to_vec()),
            "models/face.gltf" => Ok(FACE.to_vec()),
            "units/imp.skeleton" => Ok(IMP.to_vec()),
            "models/huge.model" => Ok(b"source = \"models/column.gltf\" scale = 1e6".to_vec()),
            "models/half.model" => Ok(b"source = \"models/column.gltf\" scale = 0.5".to_vec()),
            _ => Err(error!("{path}: there is no such file")),
        };
        let name = ResourceName::new(kind_names::ANIMATION, "models/post");
        let path = "models/post.animation".to_string();
        let bytes = text.as_bytes().to_vec();
        let mut compiling = CompileContext::new(name, path, SourceForm::Own, bytes, false, &read);
        let data = compile(&mut compiling).map_err(|error| error.message)?;
        let references = compiling.references.iter().map(ToString::to_string).collect();
        Ok((AnimationData::read(&data).unwrap(), compiling.files, references))
    }

    #[test]
    fn a_clip_is_compiled_with_its_settings() {
        let (data, files, references) = compiled(
            "source = \"models/column#Rise\" loop = true range = [0.5, 1] beats = [0.25] \
             events = [{ name = \"top\" time = 0.1 sound = \"sounds/a\" effect = \"dust\" \
             bone = \"Head\" }]",
        )
        .unwrap();
        assert_eq!(data.source, "models/column.gltf#Rise");
        assert_eq!((data.clip.seconds, data.clip.is_looping()), (0.5, true));
        assert_eq!((data.clip.beats(), data.clip.events().len()), (&[0.25][..], 1));
        assert!(data.clip.error() < 1e-4, "{}", data.clip.error());
        assert_eq!(files, ["models/column.model", "models/column.glb", "models/column.gltf"]);
        assert_eq!(references, ["sounds/a.sound", "dust.particles"]);
        let text = data.describe("rise");
        assert!(text.starts_with("animation rise of models/column.gltf#Rise\n"), "{text}");
        assert!(text.contains("  length: 0.500 s, loops\n"), "{text}");
        assert!(text.contains("tracks: 1 (1 positions), of 1 of the 4 nodes"), "{text}");
        assert!(
            text.contains(
                "event at 0.100 s: 'top', sound 'sounds/a', effect 'dust', at bone 'Head'"
            ),
            "{text}"
        );
    }

    #[test]
    fn warnings_of_compiled_clips_are_in_their_data() {
        let warnings = |text: &str| {
            let data = compiled(text).unwrap().0.write();
            animation_warnings(kind_names::ANIMATION, || Ok(data)).unwrap()
        };
        assert_eq!(warnings("source = \"models/column#Rise\""), []);
        let found = warnings("source = \"models/huge#Bow\" tolerance = 0.000001");
        assert_eq!(found.len(), 1);
        let text = &found[0].text;
        assert!(
            text.contains("the bone '") && text.contains("its tolerance is 0.001000 mm"),
            "{text}"
        );
    }

    #[test]
    fn clips_of_skeletons_keep_their_settings() {
        let clip = |text: &str| compiled(text).unwrap().0.clip;
        let whole = clip("source = \"units/imp#wave\"");
        assert_eq!((whole.is_looping(), whole.events().len(), whole.seconds), (true, 2, 1.0));
        let part = clip("source = \"units/imp#wave\" range = [0.25, 0.75] loop = false");
        assert_eq!((part.is_looping(), part.seconds), (false, 0.5));
        let events: Vec<_> = part.events().iter().map(|it| (&it.name[..], it.time)).collect();
        assert_eq!(events, [("up", 0.25)]);
        let own = clip("source = \"units/imp#wave\" events = []");
        assert!(own.events().is_empty());
    }

    #[test]
    fn settings_of_models_apply_to_their_animations() {
        let whole = compiled("source = \"models/column.gltf\" clip = \"Rise\"").unwrap().0;
        let half = compiled("source = \"models/half\" clip = \"Rise\"").unwrap().0;
        let moved = |data: &AnimationData| data.skeleton.rest()[0].scale.x;
        assert_eq!((moved(&whole), moved(&half)), (1.0, 0.5));
    }

    #[test]
    fn an_animation_of_another_skeleton_has_its_bones() {
        let text = "source = \"models/column#Nod\" skeleton = \"models/post\" \
                    retarget = { Head = \"Skull\" }";
        let (data, files, _) = compiled(text).unwrap();
        assert_eq!((data.clip.bone_count(), data.clip.animated_bones()), (3, vec![2]));
        assert!(files.contains(&"models/post.gltf".to_string()), "{files:?}");
        assert!(data.names.is_empty(), "the names are those of the skeleton");
    }

    #[test]
    fn additive_animations_refer_to_other_clips_and_models() {
        let (data, ..) =
            compiled("source = \"models/column#Bow\" additive = { clip = \"Nod\" time = 1 }")
                .unwrap();
        assert!(data.clip.is_additive());
        assert_eq!(data.clip.animated_bones(), [1, 2], "the reference moves bones, too");
        let text = "source = \"models/column#Bow\" additive = { clip = \"models/half#Bow\" }";
        assert!(compiled(text).unwrap().0.clip.is_additive());
    }

    #[test]
    fn weights_of_morph_targets_are_compiled() {
        let (data, ..) = compiled("source = \"models/face\"").unwrap();
        assert_eq!(data.clip.weight_count(), 2);
    }

    #[test]
    fn faults_name_the_file_and_the_nearest_name() {
        let check = |text: &str, wanted: &str| {
            let message = compiled(text).map(drop).unwrap_err();
            let line = if text.is_empty() { ": " } else { ":1: " };
            assert!(message.starts_with(&format!("models/post.animation{line}")), "{message}");
            assert!(message.contains(wanted), "{message} does not contain {wanted}");
        };
        check("source = \"models/column\"", "has 3 animations: choose one with clip = \"Bow\"");
        check("source = \"models/column#Bwo\"", "has no animation 'Bwo', did you mean 'Bow'?");
        check("", "'models/post.gltf' has no animations");
        check("source = \"models/post#Bow\"", "'models/post.gltf' has no animations");
        let other = "(name another one by source = \"models/orc\")";
        check("source = \"models/colum\"", "there is no model 'models/colum'");
        check("source = \"models/colum\"", other);
        check("source = \"models/colum.gltf\"", "models/colum.gltf");
        check("source = \"models/column#Bow\" range = [0.5, 3]", "is not within the animation");
        check("source = \"models/column#Bow\" beats = [2]", "a beat is at 2 seconds");
        check("source = \"models/column#Bow\" joints = { Haed = 1 }", "did you mean 'Head'?");
        check("source = \"models/column#Bow\" root_bone = \"Hipp\"", "did you mean 'Hip'?");
        check(
            "source = \"models/column#Nod\" skeleton = \"models/post\"",
            "no animated bone exists in the skeleton, for example 'Head'",
        );
        check(
            "source = \"models/column#Nod\" skeleton = \"models/pots\"",
            "skeleton: there is no model 'models/pots': its file would be models/pots.glb, \
             models/pots.gltf or models/pots.skeleton",
        );
        let message = compiled("source = \"models/column#Nod\" skeleton = \"models/pots\"");
        assert!(!message.map(drop).unwrap_err().contains("source ="));
        check(
            "source = \"models/column#Nod\" additive = { clip = \"Nud\" }",
            "additive: 'models/column.gltf' has no animation 'Nud', did you mean 'Nod'?",
        );
        check(
            "source = \"models/column#Nod\" additive = { clip = \"models/post#Nod\" }",
            "additive: 'models/post.gltf' has no animations",
        );
        check(
            "source = \"models/column#Nod\" root_motion = \"all\" additive = { time = 0 }",
            "an additive clip has no root motion",
        );
        check("source = \"models/column#Nod\" lop = true", "did you mean 'loop'?");
        let retarget = "source = \"models/column#Nod\" retarget = { Haed = \"Skull\" }";
        let wanted = "'retarget' names the bone 'Haed', which the skeleton of the source does not \
                      have, did you mean 'Head'?";
        check(retarget, wanted);
        check(&format!("{retarget} skeleton = \"models/column\""), wanted);
        check(&format!("{retarget} skeleton = \"models/post\""), wanted);
    }

    #[test]
    fn faults_name_the_line_of_the_setting() {
        let lines = [
            ("clip = \"Bwo\"", 4),
            ("range = [0.5, 3]", 4),
            ("beats = [2]", 4),
            ("events = [{ name = \"a\" time = 9 }]", 4),
            ("joints = { Haed = 1 }", 4),
            ("root_bone = \"Hipp\"", 4),
            ("root_motion = \"all\" additive = { time = 0 }", 4),
            ("additive = { clip = \"Nud\" }", 4),
            ("additive = { time = 1e9 }", 4),
            ("skeleton = \"models/pots\"", 4),
            ("skeleton = \"models/post\"", 4),
            ("retarget = { Haed = \"Skull\" }", 4),
        ];
        for (setting, line) in lines {
            let clip = if setting.contains("clip = \"B") { "" } else { "clip = \"Nod\"" };
            let text = format!("source = \"models/column\"\n{clip}\nloop = true\n{setting}");
            let message = compiled(&text).map(drop).unwrap_err();
            let wanted = format!("models/post.animation:{line}: ");
            assert!(message.starts_with(&wanted), "{setting}: {message}");
        }
        let message = compiled("\nsource = \"models/colum\"").map(drop).unwrap_err();
        assert!(message.starts_with("models/post.animation:2: there is no model"), "{message}");
    }

    #[test]
    fn clips_are_references_if_their_files_exist() {
        let read = |path: &str| match path {
            "models/orc.gltf" | "units/imp.skeleton" | "walk.animation" => Ok(Vec::new()),
            _ => Err(error!("{path}: there is no such file")),
        };
        let references = |name: &str| {
            let own = ResourceName::new("unit", "a");
            let path = "a.unit".to_string();
            let mut compiling =
                CompileContext::new(own, path, SourceForm::Own, Vec::new(), false, &read);
            refer_clip(&mut compiling, name);
            let references = compiling.references.iter().map(ToString::to_string).collect();
            let references: Vec<String> = references;
            (references, compiling.files)
        };
        let file = |name: &str| vec![name.to_string()];
        assert_eq!(references("walk"), (file("walk.animation"), file("walk.animation")));
        assert_eq!(references("Run"), (vec![], file("Run.animation")), "it may be created");
        assert_eq!(references("models/orc#Run").0, file("models/orc.model"));
        assert_eq!(references("models/orc.gltf#Run").0, file("models/orc.model"));
        assert_eq!(references("units/imp#wave").0, file("units/imp.model"));
        assert_eq!(references("Walk#2"), (vec![], file("Walk#2.animation")));
        for name in ["../walk", "mixamo.com:Walk", "a\\b", "a\0", "/a"] {
            assert_eq!(references(name), (vec![], vec![]), "{name:?}");
        }
    }
}
