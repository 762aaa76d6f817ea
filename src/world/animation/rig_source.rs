//! Sources of models as a compiler of animations needs them: the nodes and the animations of a
//! glTF file, found by the name of the model or by the path of its file.

use crate::model_resource::{apply_scale, read_settings};
use crate::skeleton_file::{is_skeleton, read_rig};
use engine_animation::AnimationFile;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::data::{AnimationData, ModelData};
use engine_models::import_animations;
use engine_resource::resource_kind::{CompileContext, kind_names};

/// Endings of model files.
const ENDINGS: [&str; 3] = ["glb", "gltf", "skeleton"];
/// Maximum number of animations that a message names.
const ANIMATIONS_SHOWN: usize = 8;

/// Nodes and animations of a model.
pub struct RigSource {
    /// Path of the file.
    pub path: String,
    pub model: ModelData,
    /// Settings that animations have in the file, with their names: those of `.skeleton` files.
    settings: Vec<(String, AnimationFile)>,
}

impl RigSource {
    /// Reads a model by its name, `models/orc`, or by the path of its file, `models/orc.gltf`. All
    /// files that it reads, and those whose later creation would change the result, are recorded in
    /// the context.
    ///
    /// # Errors
    /// Returns an error that names the file that is missing or invalid.
    pub fn read(compiling: &mut CompileContext, name: &str) -> Result<RigSource, Error> {
        let own = (std::mem::take(&mut compiling.bytes), compiling.path.clone());
        let read = open(compiling, name).and_then(|scale| {
            let (mut model, settings) = match is_skeleton(&compiling.path) {
                true => read_rig(compiling)?,
                false => (import_animations(compiling)?, Vec::new()),
            };
            apply_scale(&mut model, scale);
            Ok(RigSource { path: compiling.path.clone(), model, settings })
        });
        (compiling.bytes, compiling.path) = own;
        read
    }

    /// Returns the settings that an animation has in the file.
    pub fn settings(&self, animation: &str) -> Option<&AnimationFile> {
        self.settings.iter().find(|(name, _)| name == animation).map(|(_, file)| file)
    }

    /// Returns an animation; without a name, the only one.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn animation(&self, name: Option<&str>) -> Result<&AnimationData, Error> {
        let all = &self.model.animations;
        let names = || all.iter().map(|animation| animation.name.as_str());
        let Some(name) = name else {
            return match &all[..] {
                [] => Err(error!("'{}' has no animations", self.path)),
                [only] => Ok(only),
                [first, ..] => {
                    let shown: Vec<&str> = names().take(ANIMATIONS_SHOWN).collect();
                    let more = if all.len() > shown.len() { ", …" } else { "" };
                    Err(error!(
                        "'{}' has {} animations: choose one with clip = \"{}\" (it has {}{more})",
                        self.path,
                        all.len(),
                        first.name,
                        shown.join(", ")
                    ))
                }
            };
        };
        all.iter().find(|animation| animation.name == name).ok_or_else(|| match all.is_empty() {
            true => error!("'{}' has no animations", self.path),
            false => error!("'{}' has no animation '{name}'{}", self.path, hint(name, names())),
        })
    }
}

/// End of the message for a model that does not exist, if it is the source of an animation.
pub const SOURCE_ADVICE: &str = " (name another one by source = \"models/orc\")";

/// Replaces the bytes and the path of the context by those of a model's file. Returns the scale.
fn open(compiling: &mut CompileContext, name: &str) -> Result<f32, Error> {
    let is_path = ENDINGS.iter().any(|ending| name.ends_with(&format!(".{ending}")));
    if is_path {
        compiling.bytes = compiling.read(name)?;
        compiling.path = name.to_string();
        return Ok(1.0);
    }
    let stem = name.strip_suffix(".model").unwrap_or(name);
    let settings = format!("{stem}.model");
    // A file that does not exist is recorded, too: if it is created, it takes precedence.
    if let Ok(bytes) = compiling.read(&settings) {
        (compiling.bytes, compiling.path) = (bytes, settings);
        let usual = ENDINGS.map(|ending| format!("{stem}.{ending}"));
        let usual = usual.into_iter().find(|path| compiling.exists(path));
        let (scale, path) = read_settings(compiling, usual)?;
        compiling.bytes = compiling.read(&path)?;
        compiling.path = path;
        return Ok(scale);
    }
    for ending in ENDINGS {
        let path = format!("{stem}.{ending}");
        if let Ok(bytes) = compiling.read(&path) {
            (compiling.bytes, compiling.path) = (bytes, path);
            return Ok(1.0);
        }
    }
    let hint = compiling.hint(kind_names::MODEL, stem);
    Err(match hint.is_empty() {
        true => error!(
            "there is no model '{stem}': its file would be {stem}.glb, {stem}.gltf or \
             {stem}.skeleton{SOURCE_ADVICE}"
        ),
        false => error!("there is no model '{stem}'{hint}"),
    })
}
