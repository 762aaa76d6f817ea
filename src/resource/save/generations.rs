//! Save generations: each save is a sequence of numbered files. The newest valid one is read, three
//! are kept. Every write creates a new file with the next number, and only then removes the files
//! older than the third. So every save that was reported as written survives the end of the process
//! at any moment. This module uses no threads.

use super::NewerVersions;
use super::file_format::{self, HEAD_BYTES_MAX, SaveFileError, SaveHeader};
use super::slot::{NUMBER_END, SaveSlot};
use super::storage::SaveStorage;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access::{AccessError, readers};
use engine_foundation::{Error, log};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of generations kept of each save.
pub const GENERATIONS_KEPT: usize = 3;

/// Function that checks if content can be used. The error message names the defect.
pub type ContentCheck = fn(&[u8]) -> Result<(), Error>;

/// Progress callback of a read or write, from 0 to 1.
pub type OnSaveProgress<'a> = &'a dyn Fn(f64);

/// Result of a read.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadedSave {
    pub content: Vec<u8>,
    /// Defect of the newer generations, if an older one had to be used.
    pub recovered: Option<String>,
}

/// One entry in the list of saves.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedSave {
    pub slot: SaveSlot,
    /// Size of the file in bytes.
    pub size: u64,
    /// Version of the game that wrote the save, and its time in seconds since 1970 by the game's
    /// clock.
    pub head: Option<(String, f64)>,
    /// Reason why the save cannot be read.
    pub problem: Option<String>,
}

/// One file of a save.
struct Generation {
    number: u64,
    name: String,
    size: u64,
}

/// All saves of a game.
pub struct SaveGenerations {
    pub storage: SaveStorage,
    /// Version of the running game.
    pub version: String,
    /// Simulates a full disk if set.
    pub simulate_full: AtomicBool,
}

impl SaveGenerations {
    pub fn new(storage: SaveStorage, version: &str) -> SaveGenerations {
        SaveGenerations {
            storage,
            version: version.to_string(),
            simulate_full: AtomicBool::new(false),
        }
    }

    /// Returns the generations of every save, newest first.
    fn all(&self) -> Result<BTreeMap<SaveSlot, Vec<Generation>>, String> {
        let files = self.storage.list();
        let files = files.map_err(|reason| format!("the saves cannot be listed: {reason}"))?;
        let mut all: BTreeMap<SaveSlot, Vec<Generation>> = BTreeMap::new();
        for (name, size) in files {
            if let Some((slot, number)) = SaveSlot::from_file_name(&name) {
                all.entry(slot).or_default().push(Generation { number, name, size });
            }
        }
        for generations in all.values_mut() {
            generations.sort_compact_by_key(|generation| std::cmp::Reverse(generation.number));
        }
        Ok(all)
    }

    fn generations(&self, slot: &SaveSlot) -> Result<Vec<Generation>, String> {
        Ok(self.all()?.remove(slot).unwrap_or_default())
    }

    fn read_head(&self, generation: &Generation) -> Result<SaveHeader, SaveFileError> {
        let bytes = self.storage.read(&generation.name, HEAD_BYTES_MAX, &|_, _| ());
        let head = file_format::parse_head(&bytes.map_err(read_error)?)?;
        head.check_size(generation.size)?;
        Ok(head)
    }

    /// Writes a save durably: the save is on disk when this function returns. A save of a newer
    /// game is overwritten only if `version` allows it.
    pub fn write(
        &self,
        slot: &SaveSlot,
        content: &[u8],
        time: f64,
        version: NewerVersions,
        on_progress: OnSaveProgress,
    ) -> Result<(), String> {
        let write_error =
            |message: String| format!("the save \"{}\" cannot be written: {message}", slot.name());
        let mut generations = self.generations(slot)?;
        // A damaged generation does not show which version wrote it. The generation that is read in
        // its place does.
        let newer_problem =
            generations.iter().find_map(|kept| match self.check_usable(kept, version) {
                Err(SaveFileError::Damaged(_) | SaveFileError::NoMemory(_)) => None,
                Err(SaveFileError::Newer(message)) => Some(Some(message)),
                Ok(()) => Some(None),
            });
        if let Some(message) = newer_problem.flatten() {
            let name = slot.name();
            return Err(write_error(format!(
                "the existing one would be lost, and {message}, or Save.delete(\"{name}\") first"
            )));
        }
        let number = generations.first().map_or(1, |newest| newest.number + 1);
        if number >= NUMBER_END {
            let last = &generations[0].name;
            return Err(write_error(format!(
                "no number comes after that of {last}: remove that file"
            )));
        }
        let name = slot.file(number);
        let bytes = file_format::encode(&self.version, time, content).map_err(write_error)?;
        let total = bytes.len().max(1) as f64;
        let written = match self.simulate_full.load(Ordering::Relaxed) {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => self.storage.write(&name, &bytes, &|done| on_progress(done as f64 / total)),
        };
        written.map_err(|reason| write_error(reason.to_string()))?;
        // Oldest first, so that no generation in between is ever missing.
        while generations.len() >= GENERATIONS_KEPT {
            let oldest = generations.pop().expect("there are some");
            if let Err(reason) = self.storage.remove(&oldest.name) {
                // The save itself is written. The old file only occupies disk space, and its
                // removal is tried again next time.
                let message = format!("the old save {} cannot be removed: {reason}", oldest.name);
                log::warn(&oldest.name, &message);
            }
        }
        self.storage.remove_leftovers();
        Ok(())
    }

    /// Checks by its header that the running game may use a generation.
    fn check_usable(
        &self,
        generation: &Generation,
        version: NewerVersions,
    ) -> Result<(), SaveFileError> {
        let head = self.read_head(generation)?;
        match version {
            NewerVersions::Any => Ok(()),
            NewerVersions::NotNewer => head.check_version(&self.version),
        }
    }

    /// Reads the newest valid generation. A save of a newer game is never skipped in favor of an
    /// older one.
    pub fn read(
        &self,
        slot: &SaveSlot,
        version: NewerVersions,
        check: ContentCheck,
        on_progress: OnSaveProgress,
    ) -> Result<LoadedSave, String> {
        let name = slot.name();
        let generations = self.generations(slot)?;
        let (mut problem, count) = (None, generations.len());
        for generation in &generations {
            match self.content(generation, version, check, on_progress) {
                Ok(content) => {
                    let recovered = problem.map(|message| {
                        let message = format!(
                            "the newest save \"{name}\" cannot be used ({message}): this is one \
                             kept before it"
                        );
                        log::warn(&generation.name, &message);
                        message
                    });
                    return Ok(LoadedSave { content, recovered });
                }
                Err(SaveFileError::Newer(message) | SaveFileError::NoMemory(message)) => {
                    return Err(format!("the save \"{name}\" cannot be read: {message}"));
                }
                Err(SaveFileError::Damaged(message)) => problem = problem.or(Some(message)),
            }
        }
        Err(match problem {
            None => format!("there is no save \"{name}\""),
            Some(message) if count == 1 => format!("the save \"{name}\" cannot be read: {message}"),
            Some(message) => format!(
                "the save \"{name}\" cannot be read: {message}; the {} kept before it cannot be \
                 read either",
                count - 1
            ),
        })
    }

    fn content(
        &self,
        generation: &Generation,
        version: NewerVersions,
        check: ContentCheck,
        on_progress: OnSaveProgress,
    ) -> Result<Vec<u8>, SaveFileError> {
        let bytes_max = readers::SAVE.bytes_max;
        if generation.size > bytes_max {
            return Err(SaveFileError::Damaged(AccessError::Size(&readers::SAVE).to_string()));
        }
        let read = |done: usize, total: usize| on_progress(done as f64 / total.max(1) as f64);
        let bytes =
            self.storage.read(&generation.name, bytes_max as usize, &read).map_err(read_error)?;
        let head = file_format::parse_head(&bytes)?;
        if version == NewerVersions::NotNewer {
            head.check_version(&self.version)?;
        }
        let content = head.content(&bytes)?;
        check(&content)?;
        Ok(content)
    }

    /// Returns all saves by name, each represented by its newest valid generation. Only headers are
    /// read, not contents.
    pub fn list(&self) -> Result<Vec<ListedSave>, String> {
        let mut list = Vec::new();
        for (slot, generations) in self.all()? {
            let (mut problem, mut found) = (None, None);
            for generation in &generations {
                match self.read_head(generation) {
                    Ok(head) => {
                        found = Some((generation.size, head));
                        break;
                    }
                    Err(SaveFileError::Newer(message) | SaveFileError::NoMemory(message)) => {
                        problem = Some(message);
                        break;
                    }
                    Err(SaveFileError::Damaged(message)) => problem = problem.or(Some(message)),
                }
            }
            list.push(match found {
                Some((size, head)) => {
                    let problem = match head.check_version(&self.version) {
                        Err(SaveFileError::Newer(message)) => Some(message),
                        _ => None,
                    };
                    ListedSave { slot, size, head: Some((head.version, head.time)), problem }
                }
                None => ListedSave { slot, size: generations[0].size, head: None, problem },
            });
        }
        Ok(list)
    }

    /// Returns true if a save of that name exists, valid or not.
    pub fn exists(&self, slot: &SaveSlot) -> Result<bool, String> {
        Ok(!self.generations(slot)?.is_empty())
    }

    /// Removes a save with all its generations, oldest first. If the process ends meanwhile, the
    /// newest generation remains, never an older one alone.
    pub fn delete(&self, slot: &SaveSlot) -> Result<(), String> {
        let generations = self.generations(slot)?;
        if generations.is_empty() {
            return Err(format!("there is no save \"{}\"", slot.name()));
        }
        for generation in generations.iter().rev() {
            self.storage.remove(&generation.name).map_err(|reason| {
                format!("the save \"{}\" cannot be deleted: {reason}", slot.name())
            })?;
        }
        Ok(())
    }
}

fn read_error(reason: std::io::Error) -> SaveFileError {
    match reason.kind() {
        std::io::ErrorKind::OutOfMemory => SaveFileError::NoMemory(reason.to_string()),
        _ => SaveFileError::Damaged(format!("its file cannot be read: {reason}")),
    }
}
