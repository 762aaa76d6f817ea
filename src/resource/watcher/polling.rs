//! Watching by polling, for systems without file events.

use super::debouncer::{ABSENCE_MAX, WakeReason};
use super::{POLL, WatcherGuard};
use crate::folder_scan;
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, log, panic};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Creates a watcher that polls.
pub(super) fn polling(
    canonical_root: &Path,
    wake_sender: Sender<WakeReason>,
) -> Result<Box<dyn WatcherGuard>, String> {
    let root = canonical_root.to_path_buf();
    let look = move || folder_scan::files(&root).map(|found| found.files);
    Ok(Box::new(PollingWatcher::start(POLL, look, wake_sender)?))
}

/// A thread that polls a folder: the names, sizes and times of all its files, in nanoseconds, so
/// that any difference counts as a change.
pub(super) struct PollingWatcher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WatcherGuard for PollingWatcher {
    /// Does nothing, because polling follows the same links as the compiler.
    fn add(&mut self, _: &Path) {}
}

impl PollingWatcher {
    pub(super) fn start(
        every: Duration,
        look: impl Fn() -> Result<Vec<folder_scan::ScannedFile>, Error> + Send + 'static,
        wake_sender: Sender<WakeReason>,
    ) -> Result<PollingWatcher, String> {
        let (stop, stopped) = channel();
        let look = move || panic::contain(&look).flatten();
        let mut last = look().map_err(|error| error.message)?;
        let keeps_running =
            move |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let work = move || {
            OwnerScope::of_thread("resources/watch");
            let mut last_fault = None;
            // A folder that cannot be read at the moment is polled again.
            let mut look = move || match look() {
                Err(error) if error.is_engine_fault => {
                    if last_fault.as_ref() != Some(&error.message) {
                        log::error(&format!("scanning the game's folder failed: {error}"));
                        last_fault = Some(error.message);
                    }
                    None
                }
                found => found.ok(),
            };
            while keeps_running(every) {
                let Some(mut now) = look() else { continue };
                if has_missing_file(&last, &now) {
                    if !keeps_running(ABSENCE_MAX) {
                        return;
                    }
                    let Some(later) = look() else { continue };
                    now = later;
                }
                if now != last && wake_sender.send(WakeReason::Changed(Vec::new())).is_err() {
                    return;
                }
                last = now;
            }
        };
        let thread = panic::spawn("watch/poll", work);
        let thread = thread.map_err(|reason| format!("no thread could be started: {reason}"))?;
        Ok(PollingWatcher { stop: Some(stop), thread: Some(thread) })
    }
}

/// Returns true if a file of the first list is missing in the second. Both lists are sorted by
/// path.
fn has_missing_file(before: &[folder_scan::ScannedFile], now: &[folder_scan::ScannedFile]) -> bool {
    let still_exists = |file: &folder_scan::ScannedFile| {
        now.binary_search_by(|other| other.path.cmp(&file.path)).is_ok()
    };
    !before.iter().all(still_exists)
}

impl Drop for PollingWatcher {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that looks at the game's folder failed");
        }
    }
}
