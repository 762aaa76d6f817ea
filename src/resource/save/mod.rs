//! Saves: what a game keeps from run to run, by name, read and written at once or by a thread that
//! works in order. Contents are bytes; what they mean is for whoever hands them over.
//!
//! What was said to be saved is there whenever the process or the machine ends (keeper.rs); a save
//! that is damaged gives way to the generation before it.

#[cfg(test)]
mod fault_tests;
mod file;
mod keeper;
mod place;
mod queue;
mod slot;
#[cfg(test)]
mod tests;

pub use keeper::{Check, GENERATIONS_KEPT, Listed, Loaded};
pub use queue::{Answer, Busy, READ_BYTES_MAX, REQUESTS_MAX, WRITE_BYTES_MAX};
pub use slot::{NAME_BYTES_MAX, Slot, is_device};

use keeper::Keeper;
use place::Place;
use queue::{Queue, Task};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Whether a save may be of a newer version of the game than the one that is running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// It is refused, with words that say to update the game.
    NotNewer,
    /// It is taken as it is.
    Any,
}

/// All saves of a game, and what is being read and written.
pub struct Saves {
    keeper: Arc<Keeper>,
    queue: Queue,
}

impl Saves {
    /// The saves in a folder, which need not be there yet; in memory alone where there is none.
    /// `version` is that of the running game.
    pub fn new(folder: Option<PathBuf>, version: &str) -> Saves {
        let place = folder.map_or_else(|| Place::Memory(Default::default()), Place::Folder);
        let keeper = Arc::new(Keeper::new(place, version));
        Saves { queue: Queue::new(keeper.clone()), keeper }
    }

    /// Saves in memory alone, which begin with these files.
    pub fn of_files(files: BTreeMap<String, Vec<u8>>, version: &str) -> Saves {
        let keeper = Arc::new(Keeper::new(Place::Memory(files.into()), version));
        Saves { queue: Queue::new(keeper.clone()), keeper }
    }

    /// The files of all saves, by name; `None` where they have more than `most` bytes together.
    pub fn files(&mut self, most: usize) -> Result<Option<BTreeMap<String, Vec<u8>>>, String> {
        self.queue.settle();
        let place = &self.keeper.place;
        let found = place.list().map_err(|reason| reason.to_string())?;
        let saves = found.iter().filter(|(name, _)| Slot::of_file(name).is_some());
        if saves.clone().map(|(_, size)| *size as u128).sum::<u128>() > most as u128 {
            return Ok(None);
        }
        let read = |name: &String| {
            let bytes = place.read(name, most, &|_, _| ());
            bytes.map(|bytes| (name.clone(), bytes)).map_err(|reason| format!("{name}: {reason}"))
        };
        saves.map(|(name, _)| read(name)).collect::<Result<_, _>>().map(Some)
    }

    /// As if the disk had no room left, from the next write on; or no longer so.
    pub fn pretend_full(&mut self, full: bool) {
        self.queue.settle();
        self.keeper.full.store(full, Ordering::Relaxed);
    }

    /// Whether the disk is said to be full, and is not.
    pub fn is_pretending(&self) -> bool {
        self.keeper.full.load(Ordering::Relaxed)
    }

    /// Writes a save. When this returns it is there for good; the words say why it could not be,
    /// and then everything is as it was. `time` is in seconds since 1970.
    pub fn write(
        &mut self,
        slot: &Slot,
        content: &[u8],
        time: f64,
        version: Version,
    ) -> Result<(), String> {
        self.queue.settle();
        self.keeper.write(slot, content, time, version, &|_| ())
    }

    /// Reads the newest good generation of a save.
    pub fn read(&mut self, slot: &Slot, version: Version, check: Check) -> Result<Loaded, String> {
        self.queue.settle();
        self.keeper.read(slot, version, check, &|_| ())
    }

    /// The saves that are there, by name.
    pub fn list(&mut self) -> Result<Vec<Listed>, String> {
        self.queue.settle();
        self.keeper.list()
    }

    /// Whether there is a save of that name, good or not.
    pub fn exists(&mut self, slot: &Slot) -> Result<bool, String> {
        self.queue.settle();
        self.keeper.exists(slot)
    }

    /// Removes a save with all its generations.
    pub fn delete(&mut self, slot: &Slot) -> Result<(), String> {
        self.queue.settle();
        self.keeper.delete(slot)
    }

    /// Begins to write a save, after everything that was begun before: the request's number.
    /// `ready_frame`: see [`Saves::poll`].
    pub fn begin_write(
        &mut self,
        slot: Slot,
        content: Vec<u8>,
        time: f64,
        version: Version,
        ready_frame: Option<u64>,
    ) -> Result<u64, String> {
        self.queue.begin(Task::Write { slot, content, time, version }, ready_frame)
    }

    /// Begins to read a save, after everything that was begun before: the request's number.
    pub fn begin_read(
        &mut self,
        slot: Slot,
        version: Version,
        check: Check,
        ready_frame: Option<u64>,
    ) -> Result<u64, String> {
        self.queue.begin(Task::Read { slot, version, check }, ready_frame)
    }

    /// How far a request is in frame `frame`; `None` where there is no such request. One with a
    /// ready frame is busy before that frame and done from then on, whatever the disk does: it is
    /// waited for.
    pub fn poll(&mut self, request: u64, frame: u64) -> Option<Busy> {
        self.queue.poll(request, frame)
    }

    /// What came of a request that is done, which is forgotten by this.
    pub fn take(&mut self, request: u64) -> Option<Answer> {
        self.queue.take(request)
    }
}
