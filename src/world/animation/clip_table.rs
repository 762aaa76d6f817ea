//! Clips in the table of a model that come from other files: from other models
//! (`models/orc#Walk`) and from animations. They are added on the first request, and read again
//! when their files change.

use super::animated_model::{AnimatedModel, ClipOrigin, NamedClip};
use super::animation_resource::{canonical_name, split_model_clip};
use super::clip_stream::{self, ClipStream, OpenedAnimation};
use super::{Animations, bone_nodes, take_poses};
use crate::unit::Units;
use engine_animation::{AnimationData, AnimationHead, Clip};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error, log};
use engine_models::Model;
use engine_resource::bundle::SharedBytes;
use engine_resource::data_pieces::DataPieces;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Maximum number of clips in the table of a model.
pub const CLIPS_MAX: usize = 1 << 14;

/// Files that clips and state machines are read from.
pub trait ClipFiles {
    fn store(&mut self) -> &mut ResourceStore;

    /// Returns a model. It is loaded on the first request.
    ///
    /// # Errors
    /// Returns an error if there is no such model, or it cannot be loaded.
    fn model(&mut self, name: &str) -> Result<Arc<Model>, Error>;
}

/// Changed models and animations of a reload.
pub struct ChangedClips<'a> {
    /// The new versions of changed models.
    pub models: Vec<Arc<Model>>,
    /// Names of changed animations.
    pub animations: Vec<&'a str>,
}

impl ChangedClips<'_> {
    fn contain(&self, clip: &NamedClip) -> bool {
        match &clip.origin {
            ClipOrigin::Own => false,
            ClipOrigin::Model(name) => self.models.iter().any(|model| model.name == *name),
            ClipOrigin::Animation => self.animations.contains(&clip.name.as_str()),
        }
    }
}

/// Opens an animation and reads its head; `None` if it has to be read as a whole.
fn open_once(
    store: &mut ResourceStore,
    resource: &ResourceName,
) -> Result<Option<(DataPieces, AnimationHead)>, Error> {
    let pieces = store.pieces(resource)?;
    match clip_stream::open(&pieces) {
        Ok(OpenedAnimation::Streamed(head)) => Ok(Some((pieces, *head))),
        Ok(OpenedAnimation::Whole) => Ok(None),
        Err(error) => {
            let message = format!("the data of {resource}: {}", error.message);
            Err(Error { message, ..error })
        }
    }
}

/// Opens an animation as [`open_once`] does. If it is damaged, the checks of whole data decide:
/// they wait for an engine that is writing it, and let damaged data be compiled again.
fn open_animation(
    store: &mut ResourceStore,
    resource: &ResourceName,
) -> Result<Option<(DataPieces, AnimationHead)>, Error> {
    match open_once(store, resource) {
        Err(error) if !clip_stream::is_temporary(&error) => {
            read_resource(store, resource)?;
            open_once(store, resource)
        }
        opened => opened,
    }
}

/// Reads the compiled form of a resource.
fn read_resource(store: &mut ResourceStore, resource: &ResourceName) -> Result<SharedBytes, Error> {
    let bytes = store.read(resource)?;
    // Characters have their own form of the data.
    store.evict(std::iter::once(resource.id()));
    Ok(bytes)
}

impl Animations {
    /// Returns the index of a clip in the table of a model that characters use. A clip of another
    /// file is added to the table on the first request: `models/orc#Walk`, or the name of an
    /// animation. Clips of the model take precedence.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name if there is no such clip, and an error if it
    /// does not fit the skeleton of the model.
    pub fn clip(
        &mut self,
        model: &str,
        name: &str,
        files: &mut dyn ClipFiles,
    ) -> Result<u16, Error> {
        let known = self.models.get(model).expect("characters have their models").clone();
        if let Some(index) = known.position(name) {
            return Ok(index);
        }
        let clip = match self.shared_clip(&known, name, |_| true, files) {
            Some(shared) => shared,
            None => Arc::new(self.foreign_clip(&known, name, files)?),
        };
        if known.clips.len() >= CLIPS_MAX {
            return Err(error!(
                "the model '{model}' has {CLIPS_MAX} clips, which is the most (CLIPS_MAX)"
            ));
        }
        // The clip is in a model that the characters share, so all of them get the new version.
        let mut grown = AnimatedModel::clone(&known);
        grown.clips.push(clip);
        let grown = Arc::new(grown);
        self.models.insert(model.to_string(), grown.clone());
        for character in self.characters.iter_mut().filter(|it| it.model.name == grown.name) {
            character.model = grown.clone();
        }
        Ok(grown.clips.len() as u16 - 1)
    }

    /// Returns the current data of a model: that with the clips of other files that were added.
    pub fn current(&self, model: &Arc<AnimatedModel>) -> Arc<AnimatedModel> {
        self.models.get(&model.name).unwrap_or(model).clone()
    }

    /// Returns the clip of an animation that another model with the same skeleton has, so that both
    /// have its data, and its stream, once. `is_current` returns false for models whose clips are
    /// outdated. Returns `None` if the file is missing or was not compiled: the other model can
    /// have kept a previous version, and every model gets the error.
    fn shared_clip(
        &self,
        model: &AnimatedModel,
        name: &str,
        is_current: impl Fn(&AnimatedModel) -> bool,
        files: &mut dyn ClipFiles,
    ) -> Option<Arc<NamedClip>> {
        let (resource, store) = (ResourceName::new(kind_names::ANIMATION, name), files.store());
        if !store.has(&resource) || store.failure(&resource).is_some() {
            return None;
        }
        let has_name = |it: &&Arc<NamedClip>| it.origin == ClipOrigin::Animation && it.name == name;
        let others = self.models.values().filter(|other| is_current(other));
        let mut found = others.filter_map(|other| {
            let clip = other.clips.iter().find(has_name)?;
            (other.skeleton == model.skeleton).then(|| clip.clone())
        });
        found.next()
    }

    /// Reads a clip of another file for the skeleton of a model.
    fn foreign_clip(
        &mut self,
        model: &AnimatedModel,
        name: &str,
        files: &mut dyn ClipFiles,
    ) -> Result<NamedClip, Error> {
        let unfit = |error: Error| {
            let reason = &error.message;
            let message =
                format!("animation '{name}' does not fit the model '{}': {reason}", model.name);
            Error { message, ..error }
        };
        if let Some((other, clip)) = split_model_clip(name) {
            let loaded = files.model(other)?;
            let theirs = self.model(&loaded)?;
            let index = theirs.find_clip(clip)?;
            let clip = &theirs.clips[usize::from(index)].clip;
            let clip = match theirs.skeleton == model.skeleton {
                true => clip.clone(),
                false => {
                    let unmatched = clip.unmatched_bones(&theirs.skeleton, &model.skeleton, &[]);
                    warn_of_unmatched(name, model, unmatched.warning());
                    clip.retargeted(&theirs.skeleton, &model.skeleton, &[]).map_err(unfit)?
                }
            };
            // One name, with and without the ending of the model's file.
            let name = canonical_name(name).unwrap_or_else(|| name.to_string());
            return Ok(NamedClip::new(&name, clip, ClipOrigin::Model(other.to_string())));
        }
        let resource = ResourceName::new(kind_names::ANIMATION, name);
        let store = files.store();
        if !store.has(&resource) && store.failure(&resource).is_none() {
            return Err(missing_clip(model, name, store));
        }
        let Some((pieces, head)) = open_animation(store, &resource)? else {
            let data = read_animation(name, &read_resource(store, &resource)?)?;
            let clip = data.fit(&model.skeleton).map_err(unfit)?;
            warn_of_unmatched(name, model, data.unmatched_with(&model.skeleton).warning());
            return Ok(NamedClip::new(name, clip, ClipOrigin::Animation));
        };
        self.streams.check_room()?;
        warn_of_root(name, &head.data.clip);
        let first = clip_stream::read_chunk(&pieces, &head, 0)?;
        let AnimationData { skeleton, names, .. } = &head.data;
        let unmatched = first.unmatched_bones(skeleton, &model.skeleton, names);
        warn_of_unmatched(name, model, unmatched.warning());
        let (clip, stream) =
            ClipStream::new(name, (pieces, head, first), &model.skeleton).map_err(unfit)?;
        let stream = Arc::new(stream);
        self.streams.add(&stream);
        let named = NamedClip::new(name, clip, ClipOrigin::Animation);
        Ok(NamedClip { stream: Some(stream), ..named })
    }

    /// Replaces changed models, and clips of changed files, in all characters. Returns the names of
    /// the models whose clips are new. A clip that cannot be read keeps its previous version, or
    /// ends if the skeleton has changed; the error is logged.
    pub(super) fn reload_clips(
        &mut self,
        changed: &ChangedClips,
        units: &Units,
        files: &mut dyn ClipFiles,
    ) -> BTreeSet<String> {
        self.order.note_reload();
        let mut before: HashMap<String, Arc<AnimatedModel>> = HashMap::new();
        for model in &changed.models {
            match AnimatedModel::read(model) {
                Ok(new) => {
                    let old = self.models.insert(new.name.clone(), Arc::new(new));
                    before.extend(old.map(|old| (old.name.clone(), old)));
                }
                Err(error) => {
                    log::error(&format!("{error}: characters keep the previous version"));
                }
            }
        }
        let has_changed = |model: &AnimatedModel| model.clips.iter().any(|it| changed.contain(it));
        let names = self
            .models
            .values()
            .filter(|model| before.contains_key(&model.name) || has_changed(model));
        let names: BTreeSet<String> = names.map(|model| model.name.clone()).collect();
        for name in &names {
            let base = self.models[name].clone();
            let old = before.get(name).unwrap_or(&base).clone();
            // Those before it have their new clips.
            let has_new_clips =
                |other: &AnimatedModel| other.name < *name && names.contains(&other.name);
            let new =
                Arc::new(self.with_foreign_clips((&base, &old), changed, has_new_clips, files));
            self.models.insert(name.clone(), new.clone());
            for character in self.characters.iter_mut().filter(|it| it.model.name == *name) {
                if before.contains_key(name) {
                    let nodes = bone_nodes(&new, units, character.unit);
                    character.reload(&new, nodes);
                    let file = &units.of(character.unit).resource;
                    take_poses(character, file, Some(&old.skeleton));
                } else {
                    character.reload_clips(&new);
                }
            }
        }
        names
    }

    /// Returns a model with its own clips, and with the clips of other files that `old` has.
    /// `has_new_clips` returns true for models whose clips were replaced.
    fn with_foreign_clips(
        &mut self,
        (base, old): (&AnimatedModel, &AnimatedModel),
        changed: &ChangedClips,
        has_new_clips: impl Fn(&AnimatedModel) -> bool,
        files: &mut dyn ClipFiles,
    ) -> AnimatedModel {
        let mut new = AnimatedModel::clone(base);
        new.clips.retain(|clip| clip.origin == ClipOrigin::Own);
        let same_skeleton = base.skeleton == old.skeleton;
        for clip in old.clips.iter().filter(|clip| clip.origin != ClipOrigin::Own) {
            if new.position(&clip.name).is_some() {
                continue;
            }
            if same_skeleton && !changed.contain(clip) {
                new.clips.push(clip.clone());
                continue;
            }
            let is_current = |other: &AnimatedModel| !changed.contain(clip) || has_new_clips(other);
            if let Some(shared) = self.shared_clip(&new, &clip.name, is_current, files) {
                new.clips.push(shared);
                continue;
            }
            match self.foreign_clip(&new, &clip.name, files) {
                Ok(read) => new.clips.push(Arc::new(read)),
                Err(error) => {
                    let location = self.location_of(&new, &clip.name);
                    let effect = match same_skeleton {
                        true => "characters keep the previous version",
                        false => "characters end the animation",
                    };
                    log::error(&format!("{location}{error}: {effect}"));
                    new.clips.extend(same_skeleton.then(|| clip.clone()));
                }
            }
        }
        new
    }
}

impl Animations {
    /// Returns the file and the line where a state machine of characters with a model names a clip,
    /// before a message; empty if only scripts play the clip.
    fn location_of(&self, model: &AnimatedModel, clip: &str) -> String {
        let machines = self.machines.iter().filter(|((_, of_model), _)| *of_model == model.name);
        let locations = machines.filter_map(|(_, bound)| {
            let found = bound.machine.clips().iter().find(|it| it.name == clip)?;
            Some((bound.machine.path(), found.line))
        });
        let first = locations.min();
        first.map_or(String::new(), |(path, line)| format!("{path}:{line}: "))
    }
}

/// Reads an animation as a whole.
fn read_animation(name: &str, bytes: &[u8]) -> Result<AnimationData, Error> {
    let data = AnimationData::read(bytes).map_err(|error| Error {
        message: format!("the data of '{name}': {}", error.message),
        ..error
    })?;
    warn_of_root(name, &data.clip);
    Ok(data)
}

/// Logs the warning of a clip about its root motion.
fn warn_of_root(name: &str, clip: &Clip) {
    // The checks of a game read the warnings from the data of all animations.
    for warning in clip.root_warning().into_iter().filter(|_| !log::holds_data_warnings()) {
        log::warning(&format!("animation '{name}': {warning}"));
    }
}

/// Logs that bones of a clip are not those of a model.
fn warn_of_unmatched(name: &str, model: &AnimatedModel, warning: Option<String>) {
    if let Some(warning) = warning {
        log::warning(&format!("animation '{name}' on the model '{}': {warning}", model.name));
    }
}

/// Returns the message for a clip that neither the model nor a file has.
fn missing_clip(model: &AnimatedModel, name: &str, store: &ResourceStore) -> Error {
    let files = store.names(kind_names::ANIMATION).unwrap_or_default();
    let own = model.clips.iter().map(|clip| clip.name.as_str());
    // The name of a file, rather than one of a model's animations.
    let file = match name.contains('/') {
        true => format!(", and there is no file {name}.{}", kind_names::ANIMATION),
        false => String::new(),
    };
    if model.clips.is_empty() && files.is_empty() {
        return error!("the model '{}' has no animations{file}", model.name);
    }
    error!(
        "the model '{}' has no animation '{name}'{file}{}",
        model.name,
        hint(name, own.chain(files.iter().map(String::as_str)))
    )
}
