//! Reads the sources of resources for the data compiler. Each source comes with a stamp, by which
//! the next compile detects changes. The memory that sources occupy at one time is bounded.

use super::index::FileStamp;
use super::resource_kind::{ResourceKinds, SourceForm, kind_names};
use super::resource_name::{is_inside, is_script};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::file_access::readers::{self, ReaderRow};
use engine_foundation::file_access::{self, AccessError, EntryKind, FileState};
use engine_foundation::hash::murmur64a;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum number of bytes of sources in memory at one time, over all threads. A resource that
/// needs more is compiled while no other resource exceeds the limit.
pub const SOURCES_IN_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Maximum number of bytes of all source files of one resource.
pub const RESOURCE_SOURCES_BYTES_MAX: u64 = 2 << 30;

/// Size in a stamp that no file can have. The next compile reads the file again.
const UNKNOWN_SIZE: u64 = u64::MAX;

/// Time after a change of a file within which another change can have the same time stamp. The
/// clock of most file systems ticks with the system's timer. The clock of file systems that store
/// whole seconds may tick only every other second.
const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(2);

/// Reader of the source files of one compile, with a limit on the bytes in memory.
pub struct Sources<'a> {
    root: &'a Path,
    kinds: ResourceKinds,
    /// Bytes in memory of the jobs that stay within the limit.
    in_memory: Mutex<u64>,
    /// Held by the one job that exceeds the limit.
    beyond: Mutex<()>,
    limit: u64,
}

impl<'a> Sources<'a> {
    pub fn new(root: &'a Path, kinds: ResourceKinds) -> Sources<'a> {
        let (in_memory, beyond) = (Mutex::new(0), Mutex::new(()));
        Sources { root, kinds, in_memory, beyond, limit: SOURCES_IN_MEMORY_BYTES_MAX }
    }

    /// Returns the reader of one job's source files. The bytes that it reads count against the
    /// limit until it is dropped.
    pub fn job(&self) -> JobSources<'_> {
        JobSources {
            sources: self,
            taken: Cell::new(0),
            total: Cell::new(0),
            beyond: RefCell::new(None),
        }
    }
}

/// Reader of one job's source files.
pub struct JobSources<'a> {
    sources: &'a Sources<'a>,
    /// Bytes of this job that count as in memory.
    taken: Cell<u64>,
    /// Bytes that the job's compile has requested in total.
    total: Cell<u64>,
    beyond: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl JobSources<'_> {
    /// Returns the current state of a file, with a content hash that is already known. A file that
    /// cannot be opened has no state.
    pub fn stamp(&self, path: &str, content: u64) -> FileStamp {
        let found = file_access::inspect(self.sources.root, path).ok();
        let state = found.filter(|(kind, _)| *kind == EntryKind::File);
        let state = state.map_or(FileState::default(), |(_, state)| state);
        FileStamp { path: path.to_string(), state, content }
    }

    /// Reads a file inside the game's folder, and returns it with its stamp.
    pub fn read(&self, path: &str) -> Result<(Vec<u8>, FileStamp), Error> {
        let access_error = |refusal: AccessError| Error::new(refusal.message(path));
        if !is_inside(path) {
            return Err(access_error(AccessError::Path));
        }
        let reader = self.reader_of(path);
        let size = self.stamp(path, 0).state.size;
        if size <= reader.bytes_max {
            self.take(size);
        }
        let read = file_access::read_with_state(self.sources.root, path, reader);
        let (bytes, state) = read.map_err(access_error)?;
        let content = murmur64a(&bytes, 0);
        let state = state.filter(|state| !is_fresh(state));
        let state = state.unwrap_or(FileState { size: UNKNOWN_SIZE, ..FileState::default() });
        Ok((bytes, FileStamp { path: path.to_string(), state, content }))
    }

    /// Counts bytes that the compile of the job's resource depends on.
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

    fn reader_of(&self, path: &str) -> &'static ReaderRow {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        match self.sources.kinds.by_extension(extension) {
            _ if is_script(path) => &readers::SCRIPT,
            // Files of kind `binary` are arbitrary bytes.
            Some((kind, SourceForm::Own)) if kind.name != kind_names::BINARY => {
                &readers::SOURCE_TEXT
            }
            _ => &readers::SOURCE,
        }
    }

    /// Waits until this many more bytes fit into memory. The job that exceeds the limit never
    /// waits, so it finishes and the next one can continue.
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

/// Returns true if a file can change again without a new time stamp, because it was just modified
/// or changed in another respect.
fn is_fresh(state: &FileState) -> bool {
    let fresh = |time: u64| {
        let tick = if time.is_multiple_of(1_000_000_000) { COARSE_TICK } else { TICK };
        let since = SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_nanos(time));
        // A time in the future is not evidence.
        since.map_or(true, |since| since < tick)
    };
    fresh(state.modified) || fresh(state.changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn only_one_large_source_is_in_memory_at_a_time() {
        let root = std::env::temp_dir().join(format!("engine-{}-sources", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        for (name, bytes) in [("small.bin", 10), ("large.bin", 150)] {
            std::fs::write(root.join(name), vec![1; bytes]).unwrap();
        }
        let sources = Sources { limit: 100, ..Sources::new(&root, ResourceKinds(&[])) };
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
        let message = "b: with it, the files of this resource have more than 2 GiB \
                       (RESOURCE_SOURCES_BYTES_MAX): split the resource";
        assert_eq!(job.count("b", 1).unwrap_err().message, message);
        drop(job);
        std::fs::remove_dir_all(root).unwrap();
    }
}
