//! The registry of loaded sounds and recordings. Each is loaded once, and exchanged when its file
//! changes. Plays nothing.

use super::clip::{STREAM_SECONDS_MIN, SoundClipData};
use super::container_selection::FRESH;
use super::data::{SoundNode, SoundRules, StreamingMode};
use super::resource::read_sound;
use engine_foundation::error;
use engine_foundation::{Error, log};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::HashMap;

/// A recording that sounds play.
pub struct LoadedClip {
    /// Name of the sound that it belongs to.
    pub name: String,
    pub file: SoundClipData,
    /// Number of exchanges, so that an older decoded version is not played again.
    pub generation: u32,
}

/// A sound, and the state that its voices share.
pub struct LoadedSound {
    pub name: String,
    pub definition: SoundRules,
    /// The recording of each of its files.
    pub recordings: Vec<u32>,
    /// The recording next to its rules.
    pub own: Option<u32>,
    /// The last choice of each container.
    pub memory: Vec<u32>,
    /// Number of voices that play this sound.
    pub voices: u32,
    /// True if the game generated it, so that no file has its name.
    pub generated: bool,
}

impl LoadedSound {
    /// Returns the recording of a file; `None` is the one next to the rules.
    pub fn recording(&self, file: Option<u32>) -> Option<u32> {
        match file {
            Some(file) => self.recordings.get(file as usize).copied(),
            None => self.own,
        }
    }
}

/// All loaded sounds and recordings.
#[derive(Default)]
pub struct SoundRegistry {
    pub sounds: Vec<LoadedSound>,
    pub recordings: Vec<LoadedClip>,
    by_name: HashMap<String, u32>,
    recording_by_name: HashMap<String, u32>,
}

impl SoundRegistry {
    /// Returns the sound of a name, and loads it at the first call.
    pub fn sound(&mut self, store: &mut ResourceStore, name: &str) -> Result<u32, Error> {
        if let Some(index) = self.by_name.get(name) {
            return Ok(*index);
        }
        let (definition, clip) = read(store, name)?;
        let recordings = self.recordings_of(store, name, &definition)?;
        let own = clip.map(|clip| self.set_recording(name, clip));
        if own.is_none() && plays_raw_file(&definition) {
            return Err(error!("sound '{name}' plays its own recording, which does not exist"));
        }
        self.check_loops(name, &definition, &recordings, own)?;
        let memory = vec![FRESH; definition.nodes.len()];
        let (name, voices, generated) = (name.to_string(), 0, false);
        let sound = LoadedSound { name, definition, recordings, own, memory, voices, generated };
        Ok(self.add_sound(sound))
    }

    /// Adds a sound, and returns its index.
    pub(super) fn add_sound(&mut self, sound: LoadedSound) -> u32 {
        let index = self.sounds.len() as u32;
        self.by_name.insert(sound.name.clone(), index);
        self.sounds.push(sound);
        index
    }

    /// Returns the index of a loaded sound.
    pub(super) fn index_of(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Returns an error if a loop begins after the end of a recording that it repeats.
    fn check_loops(
        &self,
        name: &str,
        definition: &SoundRules,
        recordings: &[u32],
        own: Option<u32>,
    ) -> Result<(), Error> {
        for layer in &definition.layers {
            let Some(repeat) = layer.repeat else { continue };
            for file in files_of(definition, layer.root) {
                let recording = match file {
                    Some(file) => Some(recordings[file as usize]),
                    None => own,
                };
                let Some(recording) = recording else { continue };
                let recording = &self.recordings[recording as usize];
                let seconds = recording.file.seconds();
                if f64::from(repeat.start_seconds) >= seconds {
                    return Err(error!(
                        "sound '{name}': 'loop' starts at {} seconds, and the recording '{}' is \
                         {seconds:.3} seconds long",
                        repeat.start_seconds, recording.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the recordings that a sound's rules name.
    fn recordings_of(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        definition: &SoundRules,
    ) -> Result<Vec<u32>, Error> {
        let one = |file: &String| {
            self.recording(store, file).map_err(|error| error!("sound '{name}': {}", error.message))
        };
        definition.files.iter().map(one).collect()
    }

    /// Returns the recording of a name, and loads it at the first call.
    fn recording(&mut self, store: &mut ResourceStore, name: &str) -> Result<u32, Error> {
        if let Some(index) = self.recording_by_name.get(name) {
            return Ok(*index);
        }
        let (_, clip) = read(store, name)?;
        let clip = clip.ok_or_else(|| {
            error!("'{name}' is a list of rules and not a recording: name a WAV, OGG, FLAC or MP3")
        })?;
        Ok(self.set_recording(name, clip))
    }

    /// Adds or exchanges the recording of a name, and returns its index.
    pub(super) fn set_recording(&mut self, name: &str, file: SoundClipData) -> u32 {
        if let Some(index) = self.recording_by_name.get(name) {
            let recording = &mut self.recordings[*index as usize];
            if recording.file != file {
                recording.file = file;
                recording.generation += 1;
            }
            return *index;
        }
        self.recordings.push(LoadedClip { name: name.to_string(), file, generation: 0 });
        let index = self.recordings.len() as u32 - 1;
        self.recording_by_name.insert(name.to_string(), index);
        index
    }

    /// Returns true if a recording is decoded while it plays.
    pub fn streams(&self, sound: u32, recording: u32) -> bool {
        let file = &self.recordings[recording as usize].file;
        let wanted = match self.sounds[sound as usize].definition.options.streaming {
            StreamingMode::Always => true,
            StreamingMode::Never => false,
            StreamingMode::Auto => file.seconds() > STREAM_SECONDS_MIN,
        };
        wanted && file.streams
    }

    /// Reloads changed sounds, and the sounds that they name. If new data is invalid, the old data
    /// stays. Returns the indices of the sounds with new rules.
    pub fn reload(&mut self, store: &mut ResourceStore, changed: &ChangedResources) -> Vec<u32> {
        let names: Vec<&str> =
            changed.of(ReloadStep::Sounds).map(|name| name.name.as_str()).collect();
        let mut new = Vec::new();
        for name in &names {
            let known = [&self.by_name, &self.recording_by_name];
            if !known.iter().any(|map| map.contains_key(*name)) {
                continue;
            }
            match self.exchange(store, name) {
                Ok(index) => new.extend(index),
                Err(error) => log::error(&format!("sound '{name}' is unchanged: {error}")),
            }
        }
        new
    }

    /// Exchanges one sound, either a recording or rules.
    fn exchange(&mut self, store: &mut ResourceStore, name: &str) -> Result<Option<u32>, Error> {
        let (definition, clip) = read(store, name)?;
        let Some(index) = self.by_name.get(name).copied() else {
            clip.map(|clip| self.set_recording(name, clip));
            return Ok(None);
        };
        let recordings = self.recordings_of(store, name, &definition)?;
        if clip.is_none() && plays_raw_file(&definition) {
            return Err(error!("it plays its own recording, which does not exist"));
        }
        let own = clip.map(|clip| self.set_recording(name, clip));
        self.check_loops(name, &definition, &recordings, own)?;
        let sound = &mut self.sounds[index as usize];
        // Containers that did not change keep their state.
        if sound.definition.nodes != definition.nodes || sound.definition.edges != definition.edges
        {
            sound.memory = vec![FRESH; definition.nodes.len()];
        }
        (sound.definition, sound.recordings, sound.own) = (definition, recordings, own);
        sound.generated = false;
        Ok(Some(index))
    }
}

fn read(
    store: &mut ResourceStore,
    name: &str,
) -> Result<(SoundRules, Option<SoundClipData>), Error> {
    engine_foundation::owner!("resources/sounds");
    let resource = ResourceName::new(kind_names::SOUND, name);
    let bytes = store.read(&resource)?;
    contain(&resource, || {
        read_sound(&bytes).map_err(|error| error!("sound '{name}': {}", error.message))
    })
}

/// Returns true if the rules use the recording next to them.
fn plays_raw_file(definition: &SoundRules) -> bool {
    definition.nodes.iter().any(|node| matches!(node, SoundNode::File { file: None, .. }))
}

/// Returns the files that a node can lead to.
fn files_of(definition: &SoundRules, root: u32) -> Vec<Option<u32>> {
    let (mut files, mut open) = (Vec::new(), vec![root]);
    let mut visited = vec![false; definition.nodes.len()];
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut visited[at as usize], true) {
            continue;
        }
        let (first, count, default) = match definition.nodes[at as usize] {
            SoundNode::File { file, .. } => {
                files.push(file);
                continue;
            }
            SoundNode::Random { first, count } | SoundNode::Sequence { first, count } => {
                (first, count, None)
            }
            SoundNode::Switch { first, count, default, .. } => (first, count, default),
        };
        let edges = &definition.edges[first as usize..][..count as usize];
        open.extend(edges.iter().map(|edge| edge.node).chain(default));
    }
    files
}
