//! The burst of events that a save causes: when it is over, and which files it touched.

use crate::index::ResourceIndex;
use engine_foundation::compact_sort::CompactSort;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A burst of events ends after this long without a new event.
pub(super) const QUIET: Duration = Duration::from_millis(2);
/// Maximum duration of a burst, after which the folder is compiled even if events continue.
const BURST_MAX: Duration = Duration::from_millis(50);
/// Maximum time to wait for the end of writing to a file. An editor that writes in place empties
/// the file first, and an empty script is a valid script.
const WRITING_MAX: Duration = Duration::from_millis(100);
/// Maximum time to wait for a missing file to return. Many programs save by moving the old file
/// away before they write the new one.
pub(super) const ABSENCE_MAX: Duration = Duration::from_millis(100);
/// Event that wakes the thread.
pub(super) enum WakeReason {
    /// Something changed in these files or folders; without any, anywhere.
    Changed(Vec<PathBuf>),
    /// The content of a file is changing, and its writer will close the file.
    Writing(PathBuf),
    Written(PathBuf),
    /// Files or folders were removed or renamed.
    Moved(Vec<PathBuf>),
    Stop,
}

/// Combines events in quick succession into one burst.
pub(super) struct Debouncer {
    pub(super) began: Instant,
    /// Files that are being written and are not closed yet.
    writing: HashSet<PathBuf>,
    /// Files and folders that were removed, and may already exist again.
    moved: HashSet<PathBuf>,
    /// All files and folders of the burst.
    pub(super) touched: HashSet<PathBuf>,
}

impl Debouncer {
    pub(super) fn of(first: WakeReason) -> Debouncer {
        let (writing, moved, touched) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut debouncer = Debouncer { began: Instant::now(), writing, moved, touched };
        debouncer.record(first);
        debouncer
    }

    pub(super) fn record(&mut self, reason: WakeReason) {
        let paths = match &reason {
            WakeReason::Writing(path) | WakeReason::Written(path) => std::slice::from_ref(path),
            WakeReason::Moved(paths) | WakeReason::Changed(paths) => paths,
            WakeReason::Stop => &[],
        };
        self.touched.extend(paths.iter().cloned());
        match reason {
            WakeReason::Writing(path) => _ = self.writing.insert(path),
            WakeReason::Written(path) => _ = self.writing.remove(&path),
            WakeReason::Moved(paths) => self.moved.extend(paths),
            WakeReason::Changed(_) | WakeReason::Stop => {}
        }
    }

    /// Starts another burst for the same files.
    pub(super) fn begin_again(&mut self) {
        self.began = Instant::now();
        self.writing.clear();
        self.moved.clear();
    }

    /// Returns the time to wait for the next event of the burst, or `None` if the burst is over.
    pub(super) fn quiet_wait(&self) -> Option<Duration> {
        let elapsed = self.began.elapsed();
        match self.writing.is_empty() {
            true => (elapsed < BURST_MAX).then_some(QUIET),
            false => WRITING_MAX.checked_sub(elapsed),
        }
    }

    /// Returns the time to wait for missing sources to return, or `None` if all sources exist or
    /// the time `absence_max` is used up.
    pub(super) fn absence_wait(
        &self,
        root: &Path,
        known: &ResourceIndex,
        absence_max: Duration,
    ) -> Option<Duration> {
        let remaining = absence_max.checked_sub(self.began.elapsed())?;
        if self.moved.is_empty() {
            return None;
        }
        let mut sources: Vec<&str> =
            known.entries.iter().map(|entry| entry.files[0].path.as_str()).collect();
        sources.sort_compact();
        // True for a source itself and for a folder that contains a source.
        let is_source = |path: &Path| {
            let Ok(relative) = path.strip_prefix(root) else { return false };
            let relative = relative.to_string_lossy().replace('\\', "/");
            let next = sources.partition_point(|source| *source < relative.as_str());
            sources[next..].iter().take_while(|source| source.starts_with(&relative)).any(
                |source| {
                    source.len() == relative.len() || source.as_bytes()[relative.len()] == b'/'
                },
            )
        };
        let is_away = |path: &PathBuf| is_source(path) && !path.exists();
        self.moved.iter().any(is_away).then_some(remaining)
    }

    /// Blocks until the burst is over, in which sources may be missing for `absence_max`. Returns
    /// false if the thread has to end first.
    pub(super) fn wait_until_quiet(
        &mut self,
        inbox: &Receiver<WakeReason>,
        root: &Path,
        known: &ResourceIndex,
        absence_max: Duration,
    ) -> bool {
        let absence_wait = |debouncer: &Debouncer| debouncer.absence_wait(root, known, absence_max);
        let mut wait = self.quiet_wait();
        while let Some(limit) = wait {
            match inbox.recv_timeout(limit) {
                Ok(WakeReason::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(next) => {
                    self.record(next);
                    wait = self.quiet_wait().or_else(|| absence_wait(self));
                }
                Err(RecvTimeoutError::Timeout) => wait = absence_wait(self),
            }
        }
        true
    }
}
