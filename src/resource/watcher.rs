//! Watcher of a game's folder: a thread that detects changes, compiles them, and hands over the
//! results. The game's own thread never waits for it. The watcher watches directories, never files.
//! A file event is only a trigger for a compile; the compiler's content hashes decide which
//! resources changed.
//!
//! A panic costs one compile. Events that arrive in the meantime are kept, and the folder is
//! compiled once more.

use super::compile::{self, CompileResult, CompileTarget, OnCompileProgress, write_index};
use super::folder_scan;
use super::index::ResourceIndex;
use super::resource_kind::ResourceKinds;
use engine_foundation::file_access::{self, readers};
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, log, panic};
use notify::Watcher as _;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A burst of events ends after this long without a new event.
const QUIET: Duration = Duration::from_millis(2);
/// Maximum duration of a burst, after which the folder is compiled even if events continue.
const BURST_MAX: Duration = Duration::from_millis(50);
/// Maximum time to wait for the end of writing to a file. An editor that writes in place empties
/// the file first, and an empty script is a valid script.
const WRITING_MAX: Duration = Duration::from_millis(100);
/// Maximum time to wait for a missing file to return. Many programs save by moving the old file
/// away before they write the new one.
const ABSENCE_MAX: Duration = Duration::from_millis(100);
/// Polling interval, for systems without file events.
const POLL: Duration = Duration::from_millis(500);

/// A thread that compiles changes. Dropping this value ends the thread.
pub struct ProjectWatcher {
    /// Error messages of files that cannot be compiled, already reported and still valid.
    pub reported_problems: Vec<String>,
    results: Receiver<CompileResult>,
    stop: Option<Sender<WakeReason>>,
    thread: Option<JoinHandle<()>>,
}

/// Event that wakes the thread.
enum WakeReason {
    Changed,
    /// The content of a file is changing, and its writer will close the file.
    Writing(PathBuf),
    Written(PathBuf),
    /// Files or folders were removed or renamed.
    Moved(Vec<PathBuf>),
    Stop,
}

/// Combines events in quick succession into one burst.
struct Debouncer {
    began: Instant,
    /// Files that are being written and are not closed yet.
    writing: HashSet<PathBuf>,
    /// Files and folders that were removed, and may already exist again.
    moved: HashSet<PathBuf>,
}

impl Debouncer {
    fn of(first: WakeReason) -> Debouncer {
        let (writing, moved) = (HashSet::new(), HashSet::new());
        let mut debouncer = Debouncer { began: Instant::now(), writing, moved };
        debouncer.record(first);
        debouncer
    }

    fn record(&mut self, reason: WakeReason) {
        match reason {
            WakeReason::Writing(path) => _ = self.writing.insert(path),
            WakeReason::Written(path) => _ = self.writing.remove(&path),
            WakeReason::Moved(paths) => self.moved.extend(paths),
            WakeReason::Changed | WakeReason::Stop => {}
        }
    }

    /// Returns the time to wait for the next event of the burst, or `None` if the burst is over.
    fn quiet_wait(&self) -> Option<Duration> {
        let elapsed = self.began.elapsed();
        match self.writing.is_empty() {
            true => (elapsed < BURST_MAX).then_some(QUIET),
            false => WRITING_MAX.checked_sub(elapsed),
        }
    }

    /// Returns the time to wait for missing sources to return, or `None` if all sources exist or
    /// the time is used up.
    fn absence_wait(&self, root: &Path, known: &ResourceIndex) -> Option<Duration> {
        let remaining = ABSENCE_MAX.checked_sub(self.began.elapsed())?;
        if self.moved.is_empty() {
            return None;
        }
        let mut sources: Vec<&str> =
            known.entries.iter().map(|entry| entry.files[0].path.as_str()).collect();
        sources.sort_unstable();
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

    /// Blocks until the burst is over. Returns false if the thread has to end first.
    fn wait_until_quiet(
        &mut self,
        inbox: &Receiver<WakeReason>,
        root: &Path,
        known: &ResourceIndex,
    ) -> bool {
        let mut wait = self.quiet_wait();
        while let Some(limit) = wait {
            match inbox.recv_timeout(limit) {
                Ok(WakeReason::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(next) => {
                    self.record(next);
                    wait = self.quiet_wait().or_else(|| self.absence_wait(root, known));
                }
                Err(RecvTimeoutError::Timeout) => wait = self.absence_wait(root, known),
            }
        }
        true
    }
}

impl ProjectWatcher {
    /// Starts watching a game's folder. Its data for `platform` is compiled into the folder `data`.
    pub fn start(
        root: &Path,
        data: &Path,
        platform: &str,
        kinds: ResourceKinds,
    ) -> Result<ProjectWatcher, String> {
        ProjectWatcher::with(root, data, platform, kinds, (watcher, compile::compile_without_index))
    }

    fn with(
        root: &Path,
        data: &Path,
        platform: &str,
        kinds: ResourceKinds,
        (watcher, compiler): (Watcher, CompileFn),
    ) -> Result<ProjectWatcher, String> {
        let (wake_sender, inbox) = channel();
        let (outbox, results) = channel();
        // Events have the root's real path.
        let canonical_root = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        let guard = watcher(&canonical_root, wake_sender.clone())?;
        let last_index = compile::read_index(data);
        let reported_problems =
            last_index.failed.iter().map(|(_, message)| message.clone()).collect();
        let watched = WatchedFolder {
            root: root.to_path_buf(),
            canonical_root,
            data: data.to_path_buf(),
            platform: platform.to_string(),
            kinds,
            compiler,
            inbox,
            outbox,
        };
        let (restart_sender, settings) = (wake_sender.clone(), watched.read_settings());
        let work = move || {
            OwnerScope::of_thread("resources/watch");
            let mut state =
                WatchState { last_index, settings, reported: Vec::new(), look_count: 0, guard };
            watched.watch_with_restarts(&mut state, &restart_sender);
        };
        let thread = panic::spawn("watch", work);
        let thread = thread.map_err(|reason| format!("no thread could be started: {reason}"))?;
        Ok(ProjectWatcher {
            reported_problems,
            results,
            stop: Some(wake_sender),
            thread: Some(thread),
        })
    }

    /// Returns the changes since the last call, without blocking.
    pub fn changes(&self) -> impl Iterator<Item = CompileResult> + '_ {
        self.results.try_iter()
    }

    /// Blocks until the next change, at most for `limit`.
    pub fn wait(&self, limit: Duration) -> Option<CompileResult> {
        self.results
            .recv_timeout(limit)
            .inspect_err(|reason| {
                // A thread that has ended sends no more results.
                if *reason == RecvTimeoutError::Disconnected {
                    std::thread::sleep(limit);
                }
            })
            .ok()
    }
}

/// A watch on a folder that only waits for changes and compiles nothing.
pub struct FolderWatch {
    inbox: Receiver<WakeReason>,
    /// Dropping the guard ends the watch.
    _guard: Box<dyn WatcherGuard>,
}

impl FolderWatch {
    pub fn start(root: &Path) -> Result<FolderWatch, String> {
        let (wake_sender, inbox) = channel();
        let canonical_root = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        let mut guard = watcher(&canonical_root, wake_sender)?;
        scan_and_watch_links(&mut *guard, root, &canonical_root);
        Ok(FolderWatch { inbox, _guard: guard })
    }

    /// Blocks until a change, at most for `limit`, and then until the end of its burst. Returns
    /// true if there was a change.
    pub fn wait(&self, limit: Duration) -> bool {
        let Ok(first) = self.inbox.recv_timeout(limit) else { return false };
        let mut debouncer = Debouncer::of(first);
        while let Some(wait) = debouncer.quiet_wait()
            && let Ok(next) = self.inbox.recv_timeout(wait)
        {
            debouncer.record(next);
        }
        true
    }
}

impl Drop for ProjectWatcher {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already.
            let _ = stop.send(WakeReason::Stop);
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that watches the game's folder failed");
        }
    }
}

/// Guard of a file watcher, which reports changes until the guard is dropped.
trait WatcherGuard: Send {
    /// Watches one more folder, including its subfolders.
    fn add(&mut self, folder: &Path);
}

/// Function that starts to watch a folder. The path must be the folder's real path, because events
/// use real paths.
type Watcher = fn(&Path, Sender<WakeReason>) -> Result<Box<dyn WatcherGuard>, String>;
/// The compile function: [`compile::make`].
type CompileFn =
    fn(&CompileTarget, OnCompileProgress) -> Result<(CompileResult, ResourceIndex), Error>;

/// Watcher based on file events of the operating system.
struct SystemWatcher(RecommendedWatcher);

impl WatcherGuard for SystemWatcher {
    fn add(&mut self, folder: &Path) {
        // The removal of this folder is reported as a change of its parent folder.
        let _ = self.0.watch(folder, RecursiveMode::Recursive);
    }
}

/// Creates a watcher based on file events. If that fails (too many folders, a network file system),
/// creates a polling watcher.
fn watcher(
    canonical_root: &Path,
    wake_sender: Sender<WakeReason>,
) -> Result<Box<dyn WatcherGuard>, String> {
    let (root, event_sender) = (canonical_root.to_path_buf(), wake_sender.clone());
    let on_event = move |event: notify::Result<Event>| {
        send_wake_reason(&event_sender, || {
            event.ok().and_then(|event| wake_reason_of(&root, event, REPORTS_CLOSING))
        });
    };
    // Links may lead anywhere. Those that lead into the game's folder are followed by name
    // ([`watch_links`]).
    let config = Config::default().with_follow_symlinks(false);
    let native = RecommendedWatcher::new(on_event, config);
    let native = native.and_then(|mut watcher| {
        watcher.watch(canonical_root, RecursiveMode::Recursive)?;
        Ok(Box::new(SystemWatcher(watcher)) as Box<dyn WatcherGuard>)
    });
    native.or_else(|reason| {
        log::warning(&format!(
            "file events are unavailable ({reason}): the folder is scanned every half second"
        ));
        polling(canonical_root, wake_sender)
    })
}

/// Forwards the wake reason of an event. This function runs on a library's thread. If the engine
/// panics here, the whole folder is checked.
fn send_wake_reason(
    wake_sender: &Sender<WakeReason>,
    wake_reason: impl FnOnce() -> Option<WakeReason>,
) {
    let wake_reason = panic::contain(wake_reason).unwrap_or_else(|error| {
        log::error(&format!("an event of the game's folder was lost: {error}"));
        Some(WakeReason::Changed)
    });
    if let Some(wake_reason) = wake_reason {
        // The thread ends before the watcher does.
        let _ = wake_sender.send(wake_reason);
    }
}

/// Watches link targets in hidden folders, because events of hidden folders are otherwise ignored.
fn watch_links(guard: &mut dyn WatcherGuard, canonical_root: &Path, linked: &[String]) {
    for path in linked {
        let link = canonical_root.join(path);
        let Ok(target) = std::fs::canonicalize(&link) else { continue };
        if target.strip_prefix(canonical_root).is_ok_and(is_hidden) {
            // Adds the target folder instead of the link.
            guard.add(&link.join("."));
        }
    }
}

/// Watches the targets of all links at the start of a watch, as [`watch_links`] does. If the links
/// cannot be listed, an error is logged; the next compile finds them.
fn scan_and_watch_links(guard: &mut dyn WatcherGuard, root: &Path, canonical_root: &Path) {
    match panic::contain(|| folder_scan::files(root)).flatten() {
        Ok(found) => watch_links(guard, canonical_root, &found.linked),
        Err(error) => log::error(&format!("changes behind links may not be noticed: {error}")),
    }
}

/// Returns true if a path in the game's folder is hidden or leads through a hidden folder.
fn is_hidden(relative: &Path) -> bool {
    relative.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}

fn polling(
    canonical_root: &Path,
    wake_sender: Sender<WakeReason>,
) -> Result<Box<dyn WatcherGuard>, String> {
    let root = canonical_root.to_path_buf();
    let look = move || folder_scan::files(&root).map(|found| found.files);
    Ok(Box::new(PollingWatcher::start(POLL, look, wake_sender)?))
}

/// A thread that polls a folder: the names, sizes and times of all its files, in nanoseconds, so
/// that any difference counts as a change.
struct PollingWatcher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WatcherGuard for PollingWatcher {
    /// Does nothing, because polling follows the same links as the compiler.
    fn add(&mut self, _: &Path) {}
}

impl PollingWatcher {
    fn start(
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
                if now != last && wake_sender.send(WakeReason::Changed).is_err() {
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

/// True if the system reports the closing of a written file.
const REPORTS_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Converts an event into a wake reason. Returns `None` for reads and for hidden folders, including
/// the engine's own. `reports_closing` is true if the end of writing is reported, too.
fn wake_reason_of(root: &Path, event: Event, reports_closing: bool) -> Option<WakeReason> {
    let hidden = |path: &PathBuf| is_hidden(path.strip_prefix(root).unwrap_or(path));
    // An overflow of the system's event queue has no path and requires a check of the folder.
    if !event.paths.is_empty() && event.paths.iter().all(hidden) && !event.need_rescan() {
        return None;
    }
    let path = event.paths.first().filter(|_| reports_closing).cloned();
    match (event.kind, path) {
        (EventKind::Access(AccessKind::Close(AccessMode::Write)), Some(path)) => {
            Some(WakeReason::Written(path))
        }
        (EventKind::Access(_), _) => None,
        (
            EventKind::Create(CreateKind::File) | EventKind::Modify(ModifyKind::Data(_)),
            Some(path),
        ) => Some(WakeReason::Writing(path)),
        (EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)), _) => {
            Some(WakeReason::Moved(event.paths))
        }
        _ => Some(WakeReason::Changed),
    }
}

/// The folder that the thread watches, with its compile settings and channels.
struct WatchedFolder {
    root: PathBuf,
    /// Real path of the folder, as events have it.
    canonical_root: PathBuf,
    data: PathBuf,
    platform: String,
    kinds: ResourceKinds,
    compiler: CompileFn,
    inbox: Receiver<WakeReason>,
    outbox: Sender<CompileResult>,
}

/// State of the watch, which survives a panic.
struct WatchState {
    /// The index that the game has. The index on disk may belong to another engine.
    last_index: ResourceIndex,
    settings: Option<Vec<u8>>,
    reported: Vec<String>,
    /// Number of completed compiles of the folder.
    look_count: u64,
    /// Dropping the guard ends the watch.
    guard: Box<dyn WatcherGuard>,
}

impl WatchedFolder {
    fn read_settings(&self) -> Option<Vec<u8>> {
        file_access::read(&self.root, super::settings::FILE, &readers::SETTINGS).ok()
    }

    /// Compiles after every change until the watch ends. After a panic, the folder is compiled once
    /// more. If that compile panics as well, the next attempt follows the next change.
    fn watch_with_restarts(&self, state: &mut WatchState, restart_sender: &Sender<WakeReason>) {
        scan_and_watch_links(&mut *state.guard, &self.root, &self.canonical_root);
        let mut failed_at = None;
        while let Err(error) = panic::contain(|| self.run(state)) {
            log::error(&format!("watching the game's folder failed: {error}"));
            if failed_at.replace(state.look_count) != Some(state.look_count) {
                // The receiver belongs to this thread.
                let _ = restart_sender.send(WakeReason::Changed);
            }
        }
    }

    fn run(&self, state: &mut WatchState) {
        while let Ok(first) = self.inbox.recv() {
            let stops = matches!(first, WakeReason::Stop);
            if stops
                || !Debouncer::of(first).wait_until_quiet(
                    &self.inbox,
                    &self.canonical_root,
                    &state.last_index,
                )
            {
                return;
            }
            if !self.compile_changes(state) {
                return;
            }
            state.look_count += 1;
        }
    }

    /// Compiles the changes and sends the result. Returns false if there is no receiver any more.
    fn compile_changes(&self, state: &mut WatchState) -> bool {
        let target = CompileTarget {
            root: &self.root,
            data: self.data.clone(),
            kinds: self.kinds,
            source_platform: &self.platform,
            release: false,
            exclude: &[],
            threads: 1,
        };
        let (compiled, previous_index) = match (self.compiler)(&target, &|_, _| {}) {
            Ok(result) => result,
            Err(error) => {
                log::error(&error.to_string());
                return true;
            }
        };
        watch_links(&mut *state.guard, &self.canonical_root, &compiled.linked);
        let mut compiled = compiled.since(&state.last_index);
        let settings = self.read_settings();
        compiled.settings = settings != state.settings;
        let has_changes = !compiled.changed.is_empty()
            || !compiled.removed.is_empty()
            || compiled.settings
            || compiled.problems != state.reported;
        let (last_index, reported) = (compiled.index.clone(), compiled.problems.clone());
        if has_changes && self.outbox.send(compiled).is_err() {
            return false;
        }
        // After a panic before this point, the next compile reports all changes again.
        (state.last_index, state.reported, state.settings) = (last_index, reported, settings);
        // The index is written after the result was sent, so the game does not wait for it. If it
        // cannot be written, the data is compiled again.
        if let Err(error) = write_index(&target, &state.last_index, &previous_index) {
            log::error(&error.to_string());
        }
        true
    }
}

#[cfg(test)]
#[path = "watcher_tests.rs"]
mod tests;
