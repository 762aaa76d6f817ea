//! The sounds and recordings that were asked for, each loaded once and exchanged when its file
//! changes. Plays nothing.

use super::choose::FRESH;
use super::definition::{Definition, Node, Streaming};
use super::kinds::read_sound;
use super::wave::{STREAM_SECONDS_MIN, WaveFile};
use crate::error;
use crate::foundation::{Error, log};
use crate::resource::containment::contain;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use std::collections::HashMap;

/// A recording that sounds play.
pub struct Recording {
    /// Of the sound that it belongs to.
    pub name: String,
    pub file: WaveFile,
    /// Counts exchanges, so that what was decoded before is not played again.
    pub generation: u32,
}

/// A sound with what its voices share.
pub struct Sound {
    pub name: String,
    pub definition: Definition,
    /// The recording of each of its files.
    pub recordings: Vec<u32>,
    /// The recording beside its rules.
    pub own: Option<u32>,
    /// What each container played last.
    pub memory: Vec<u32>,
    /// How many voices play it.
    pub voices: u32,
}

impl Sound {
    /// The recording that a file stands for; `None` is the one beside the rules.
    pub fn recording(&self, file: Option<u32>) -> Option<u32> {
        match file {
            Some(file) => self.recordings.get(file as usize).copied(),
            None => self.own,
        }
    }
}

/// Everything that was loaded.
#[derive(Default)]
pub struct Library {
    pub sounds: Vec<Sound>,
    pub recordings: Vec<Recording>,
    by_name: HashMap<String, u32>,
    recording_by_name: HashMap<String, u32>,
}

impl Library {
    /// The sound of a name, loaded if it was not yet.
    pub fn sound(&mut self, store: &mut Store, name: &str) -> Result<u32, Error> {
        if let Some(index) = self.by_name.get(name) {
            return Ok(*index);
        }
        let (definition, wave) = read(store, name)?;
        let recordings = self.recordings_of(store, name, &definition)?;
        let own = wave.map(|wave| self.keep_recording(name, wave));
        if own.is_none() && plays_own(&definition) {
            return Err(error!("sound '{name}' plays a recording of its own, and there is none"));
        }
        self.check_loops(name, &definition, &recordings, own)?;
        let memory = vec![FRESH; definition.nodes.len()];
        let name_kept = name.to_string();
        self.sounds.push(Sound { name: name_kept, definition, recordings, own, memory, voices: 0 });
        let index = self.sounds.len() as u32 - 1;
        self.by_name.insert(name.to_string(), index);
        Ok(index)
    }

    /// Whether every loop begins inside of the recordings that it repeats.
    fn check_loops(
        &self,
        name: &str,
        definition: &Definition,
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

    /// The recordings that a sound's rules name.
    fn recordings_of(
        &mut self,
        store: &mut Store,
        name: &str,
        definition: &Definition,
    ) -> Result<Vec<u32>, Error> {
        let one = |file: &String| {
            self.recording(store, file).map_err(|error| error!("sound '{name}': {}", error.message))
        };
        definition.files.iter().map(one).collect()
    }

    /// The recording of a name, loaded if it was not yet.
    fn recording(&mut self, store: &mut Store, name: &str) -> Result<u32, Error> {
        if let Some(index) = self.recording_by_name.get(name) {
            return Ok(*index);
        }
        let (_, wave) = read(store, name)?;
        let wave = wave.ok_or_else(|| {
            error!("'{name}' is a list of rules and not a recording: name a WAV, OGG, FLAC or MP3")
        })?;
        Ok(self.keep_recording(name, wave))
    }

    fn keep_recording(&mut self, name: &str, file: WaveFile) -> u32 {
        if let Some(index) = self.recording_by_name.get(name) {
            let recording = &mut self.recordings[*index as usize];
            if recording.file != file {
                recording.file = file;
                recording.generation += 1;
            }
            return *index;
        }
        self.recordings.push(Recording { name: name.to_string(), file, generation: 0 });
        let index = self.recordings.len() as u32 - 1;
        self.recording_by_name.insert(name.to_string(), index);
        index
    }

    /// Whether a recording is decoded while it plays.
    pub fn streams(&self, sound: u32, recording: u32) -> bool {
        let file = &self.recordings[recording as usize].file;
        let wanted = match self.sounds[sound as usize].definition.options.streaming {
            Streaming::Always => true,
            Streaming::Never => false,
            Streaming::Auto => file.seconds() > STREAM_SECONDS_MIN,
        };
        wanted && file.streams
    }

    /// Takes new data of what was loaded, and of what it names. What is broken keeps the old. The
    /// indices of the sounds whose rules are new.
    pub fn reload(&mut self, store: &mut Store, changed: &[ResourceName]) -> Vec<u32> {
        let names: Vec<&str> = changed
            .iter()
            .filter(|name| name.kind == "sound")
            .map(|name| name.name.as_str())
            .collect();
        let mut new = Vec::new();
        for name in &names {
            let known = [&self.by_name, &self.recording_by_name];
            if !known.iter().any(|map| map.contains_key(*name)) {
                continue;
            }
            match self.exchange(store, name) {
                Ok(index) => new.extend(index),
                Err(error) => log::error(&format!("sound '{name}' is as before: {error}")),
            }
        }
        new
    }

    /// Exchanges one sound, a recording or rules.
    fn exchange(&mut self, store: &mut Store, name: &str) -> Result<Option<u32>, Error> {
        let (definition, wave) = read(store, name)?;
        let Some(index) = self.by_name.get(name).copied() else {
            wave.map(|wave| self.keep_recording(name, wave));
            return Ok(None);
        };
        let recordings = self.recordings_of(store, name, &definition)?;
        if wave.is_none() && plays_own(&definition) {
            return Err(error!("it plays a recording of its own, and there is none"));
        }
        let own = wave.map(|wave| self.keep_recording(name, wave));
        self.check_loops(name, &definition, &recordings, own)?;
        let sound = &mut self.sounds[index as usize];
        // Where the containers stayed as they were, they go on with what they played.
        if sound.definition.nodes != definition.nodes || sound.definition.edges != definition.edges
        {
            sound.memory = vec![FRESH; definition.nodes.len()];
        }
        (sound.definition, sound.recordings, sound.own) = (definition, recordings, own);
        Ok(Some(index))
    }
}

fn read(store: &mut Store, name: &str) -> Result<(Definition, Option<WaveFile>), Error> {
    crate::owner!("resources/sounds");
    let resource = ResourceName::new("sound", name);
    let bytes = store.read(&resource)?;
    contain(&resource, || {
        read_sound(&bytes).map_err(|error| error!("sound '{name}': {}", error.message))
    })
}

/// Whether rules want the recording beside them.
fn plays_own(definition: &Definition) -> bool {
    definition.nodes.iter().any(|node| matches!(node, Node::File { file: None, .. }))
}

/// The files that a node can lead to.
fn files_of(definition: &Definition, root: u32) -> Vec<Option<u32>> {
    let (mut files, mut open) = (Vec::new(), vec![root]);
    let mut seen = vec![false; definition.nodes.len()];
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut seen[at as usize], true) {
            continue;
        }
        let (first, count, default) = match definition.nodes[at as usize] {
            Node::File { file, .. } => {
                files.push(file);
                continue;
            }
            Node::Random { first, count } | Node::Sequence { first, count } => (first, count, None),
            Node::Switch { first, count, default, .. } => (first, count, default),
        };
        let edges = &definition.edges[first as usize..][..count as usize];
        open.extend(edges.iter().map(|edge| edge.node).chain(default));
    }
    files
}
