//! Reading the sources of resources for the data compiler: each with the stamp by which the next
//! compile knows that nothing changed, and so that the sources in memory at one time are bounded.

use super::index::Stamp;
use super::kind::{Form, Kinds};
use super::name::{is_inside, is_script};
use crate::error;
use crate::foundation::Error;
use crate::foundation::file_access::readers::{self, Reader};
use crate::foundation::file_access::{self, EntryKind, FileState, Refusal};
use crate::foundation::hash::murmur64a;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most bytes of sources that are in memory at one time, over all threads. One resource that
/// has more is compiled while no other one goes beyond.
pub const SOURCES_IN_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// The most bytes of all files that one resource is made of.
pub const RESOURCE_SOURCES_BYTES_MAX: u64 = 2 << 30;

/// The size of a stamp that no file has: the file is read again by the next compile.
const UNSURE: u64 = u64::MAX;

/// How soon after a change of a file another one can bear the same time: the clock of most file
/// systems ticks with the system's timer, and those that know seconds only do so every other one.
const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(2);

/// The sources of one compile.
pub struct Sources<'a> {
    root: &'a Path,
    kinds: Kinds,
    /// The bytes of the jobs that keep within the limit.
    in_memory: Mutex<u64>,
    /// Held by the one job that goes beyond.
    beyond: Mutex<()>,
    limit: u64,
}

impl<'a> Sources<'a> {
    pub fn new(root: &'a Path, kinds: Kinds) -> Sources<'a> {
        let (in_memory, beyond) = (Mutex::new(0), Mutex::new(()));
        Sources { root, kinds, in_memory, beyond, limit: SOURCES_IN_MEMORY_BYTES_MAX }
    }

    /// What one job reads. Its bytes count until this is dropped.
    pub fn job(&self) -> JobSources<'_> {
        JobSources {
            sources: self,
            taken: Cell::new(0),
            total: Cell::new(0),
            beyond: RefCell::new(None),
        }
    }
}

/// The sources that one job reads.
pub struct JobSources<'a> {
    sources: &'a Sources<'a>,
    /// Of the bytes in memory, those of this job.
    taken: Cell<u64>,
    /// The bytes that its compile has asked for.
    total: Cell<u64>,
    beyond: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl JobSources<'_> {
    /// A file's state now, with a content that is known. A file that cannot be opened has none.
    pub fn stamp(&self, path: &str, content: u64) -> Stamp {
        let found = file_access::inspect(self.sources.root, path).ok();
        let state = found.filter(|(kind, _)| *kind == EntryKind::File);
        let state = state.map_or(FileState::default(), |(_, state)| state);
        Stamp { path: path.to_string(), state, content }
    }

    /// Reads a file of the game's, and none outside of its folder, with the stamp of what was read.
    pub fn read(&self, path: &str) -> Result<(Vec<u8>, Stamp), Error> {
        let refused = |refusal: Refusal| Error::new(refusal.message(path));
        if !is_inside(path) {
            return Err(refused(Refusal::Path));
        }
        let reader = self.reader_of(path);
        let size = self.stamp(path, 0).state.size;
        if size <= reader.bytes_max {
            self.take(size);
        }
        let read = file_access::read_with_state(self.sources.root, path, reader);
        let (bytes, state) = read.map_err(refused)?;
        let content = murmur64a(&bytes, 0);
        let state = state.filter(|state| !is_fresh(state));
        let state = state.unwrap_or(FileState { size: UNSURE, ..FileState::default() });
        Ok((bytes, Stamp { path: path.to_string(), state, content }))
    }

    /// Counts bytes that the compile of the job's resource is made of.
    pub fn count(&self, path: &str, bytes: usize) -> Result<(), Error> {
        self.total.set(self.total.get() + bytes as u64);
        match self.total.get() > RESOURCE_SOURCES_BYTES_MAX {
            true => Err(error!(
                "{path}: with it, the files of this resource have more than {} \
                 (RESOURCE_SOURCES_BYTES_MAX): split the resource",
                readers::size_text(RESOURCE_SOURCES_BYTES_MAX)
            )),
            false => Ok(()),
        }
    }

    fn reader_of(&self, path: &str) -> &'static Reader {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        match self.sources.kinds.by_extension(extension) {
            _ if is_script(path) => &readers::SCRIPT,
            // Its own files are plain bytes.
            Some((kind, Form::Own)) if kind.name != "binary" => &readers::SOURCE_TEXT,
            _ => &readers::SOURCE,
        }
    }

    /// Waits until there is room for so many bytes more. The job that goes beyond the limit never
    /// waits, so it ends, and the next one can.
    fn take(&self, bytes: u64) {
        let mut beyond = self.beyond.borrow_mut();
        if beyond.is_some() {
            return;
        }
        {
            let mut in_memory =
                self.sources.in_memory.lock().unwrap_or_else(PoisonError::into_inner);
            if in_memory.saturating_add(bytes) <= self.sources.limit {
                *in_memory += bytes;
                self.taken.set(self.taken.get() + bytes);
                return;
            }
        }
        *beyond = Some(self.sources.beyond.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for JobSources<'_> {
    fn drop(&mut self) {
        let mut in_memory = self.sources.in_memory.lock().unwrap_or_else(PoisonError::into_inner);
        *in_memory -= self.taken.get();
    }
}

/// Whether a file can change once more without bearing another time: it was modified, or changed
/// in any way, just now.
fn is_fresh(state: &FileState) -> bool {
    let fresh = |time: u64| {
        let tick = if time.is_multiple_of(1_000_000_000) { COARSE_TICK } else { TICK };
        let since = SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_nanos(time));
        // A time that is yet to come says nothing.
        since.map_or(true, |since| since < tick)
    };
    fresh(state.modified) || fresh(state.changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn large_sources_are_in_memory_one_after_the_other() {
        let root = std::env::temp_dir().join(format!("engine-{}-sources", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        for (name, bytes) in [("small.bin", 10), ("large.bin", 150)] {
            std::fs::write(root.join(name), vec![1; bytes]).unwrap();
        }
        let sources = Sources { limit: 100, ..Sources::new(&root, Kinds(&[])) };
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let job = sources.job();
                        for path in ["small.bin", "large.bin", "small.bin"] {
                            let (bytes, stamp) = job.read(path).unwrap();
                            assert_eq!(stamp.content, murmur64a(&bytes, 0));
                            if path == "large.bin" {
                                let now = held.fetch_add(150, Ordering::SeqCst) + 150;
                                most.fetch_max(now, Ordering::SeqCst);
                            }
                        }
                        held.fetch_sub(150, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 150, "one job at a time goes beyond the limit");
        assert_eq!(*sources.in_memory.lock().unwrap(), 0);
        let job = sources.job();
        job.count("a", RESOURCE_SOURCES_BYTES_MAX as usize).unwrap();
        let words = "b: with it, the files of this resource have more than 2 GiB \
                     (RESOURCE_SOURCES_BYTES_MAX): split the resource";
        assert_eq!(job.count("b", 1).unwrap_err().message, words);
        drop(job);
        std::fs::remove_dir_all(root).unwrap();
    }
}
