//! Saves: data that a game keeps from run to run, by name, read and written synchronously or by a
//! thread that works in order. Contents are bytes; the caller defines their meaning.
//!
//! A save that was reported as written survives the end of the process or of the machine
//! (generations.rs). If a save is damaged, the previous generation is used.

#[cfg(all(test, debug_assertions))]
mod disk_failure_tests;
mod file_format;
mod generations;
mod io_queue;
mod slot;
mod storage;
#[cfg(test)]
mod tests;

pub use generations::{ContentCheck, GENERATIONS_KEPT, ListedSave, LoadedSave};
pub use io_queue::{READ_BYTES_MAX, REQUESTS_MAX, RequestProgress, SaveResult, WRITE_BYTES_MAX};
pub use slot::{NAME_BYTES_MAX, SaveSlot, is_device};

use generations::SaveGenerations;
use io_queue::{SaveQueue, SaveTask};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::SaveStorage;

/// Policy for saves that a newer version of the game wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NewerVersions {
    /// Refuses the save, with a message that asks the user to update the game.
    NotNewer,
    /// Accepts the save unchanged.
    Any,
}

/// All saves of a game, and the reads and writes in progress.
pub struct Saves {
    generations: Arc<SaveGenerations>,
    queue: SaveQueue,
}

impl Saves {
    /// Opens the saves in a folder, which need not exist yet. Without a folder, saves are in memory
    /// only. `version` is that of the running game.
    pub fn new(folder: Option<PathBuf>, version: &str) -> Saves {
        let storage =
            folder.map_or_else(|| SaveStorage::Memory(Default::default()), SaveStorage::Folder);
        let generations = Arc::new(SaveGenerations::new(storage, version));
        Saves { queue: SaveQueue::new(generations.clone()), generations }
    }

    /// Creates saves in memory only, with these files as initial content.
    pub fn in_memory(files: BTreeMap<String, Vec<u8>>, version: &str) -> Saves {
        let generations =
            Arc::new(SaveGenerations::new(SaveStorage::Memory(files.into()), version));
        Saves { queue: SaveQueue::new(generations.clone()), generations }
    }

    /// Returns the files of all saves, by name. Returns `None` if together they have more than
    /// `bytes_max` bytes.
    pub fn files(&mut self, bytes_max: usize) -> Result<Option<BTreeMap<String, Vec<u8>>>, String> {
        self.queue.wait_for_all();
        let storage = &self.generations.storage;
        let found = storage.list().map_err(|reason| reason.to_string())?;
        let saves = found.iter().filter(|(name, _)| SaveSlot::from_file_name(name).is_some());
        if saves.clone().map(|(_, size)| *size as u128).sum::<u128>() > bytes_max as u128 {
            return Ok(None);
        }
        let read = |name: &String| {
            let bytes = storage.read(name, bytes_max, &|_, _| ());
            bytes.map(|bytes| (name.clone(), bytes)).map_err(|reason| format!("{name}: {reason}"))
        };
        saves.map(|(name, _)| read(name)).collect::<Result<_, _>>().map(Some)
    }

    /// Starts or stops the simulation of a full disk, from the next write on.
    pub fn simulate_full_disk(&mut self, full: bool) {
        self.queue.wait_for_all();
        self.generations.simulate_full.store(full, Ordering::Relaxed);
    }

    /// Returns true if a full disk is simulated.
    pub fn is_simulating_full_disk(&self) -> bool {
        self.generations.simulate_full.load(Ordering::Relaxed)
    }

    /// Writes a save durably: the save is on disk when this function returns. The error message
    /// says why the write failed; in that case nothing has changed. `time` is in seconds since
    /// 1970.
    pub fn write(
        &mut self,
        slot: &SaveSlot,
        content: &[u8],
        time: f64,
        version: NewerVersions,
    ) -> Result<(), String> {
        self.queue.wait_for_all();
        self.generations.write(slot, content, time, version, &|_| ())
    }

    /// Reads the newest valid generation of a save.
    pub fn read(
        &mut self,
        slot: &SaveSlot,
        version: NewerVersions,
        check: ContentCheck,
    ) -> Result<LoadedSave, String> {
        self.queue.wait_for_all();
        self.generations.read(slot, version, check, &|_| ())
    }

    /// Returns all saves, by name.
    pub fn list(&mut self) -> Result<Vec<ListedSave>, String> {
        self.queue.wait_for_all();
        self.generations.list()
    }

    /// Returns true if a save of that name exists, valid or not.
    pub fn exists(&mut self, slot: &SaveSlot) -> Result<bool, String> {
        self.queue.wait_for_all();
        self.generations.exists(slot)
    }

    /// Removes a save with all its generations.
    pub fn delete(&mut self, slot: &SaveSlot) -> Result<(), String> {
        self.queue.wait_for_all();
        self.generations.delete(slot)
    }

    /// Starts writing a save, after all requests that were started before. Returns the number of
    /// the request. For `ready_frame` see [`Saves::poll`].
    pub fn begin_write(
        &mut self,
        slot: SaveSlot,
        content: Vec<u8>,
        time: f64,
        version: NewerVersions,
        ready_frame: Option<u64>,
    ) -> Result<u64, String> {
        self.queue.begin(SaveTask::Write { slot, content, time, version }, ready_frame)
    }

    /// Starts reading a save, after all requests that were started before. Returns the number of
    /// the request.
    pub fn begin_read(
        &mut self,
        slot: SaveSlot,
        version: NewerVersions,
        check: ContentCheck,
        ready_frame: Option<u64>,
    ) -> Result<u64, String> {
        self.queue.begin(SaveTask::Read { slot, version, check }, ready_frame)
    }

    /// Returns the progress of a request in frame `frame`, or `None` if there is no such request. A
    /// request with a ready frame is reported as busy before that frame and as done from then on,
    /// independent of the speed of the disk; this function blocks if necessary.
    pub fn poll(&mut self, request: u64, frame: u64) -> Option<RequestProgress> {
        self.queue.poll(request, frame)
    }

    /// Returns the result of a finished request and forgets the request.
    pub fn take(&mut self, request: u64) -> Option<SaveResult> {
        self.queue.take(request)
    }
}
