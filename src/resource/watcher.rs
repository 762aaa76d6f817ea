//! Watcher of a game's folder: a thread that detects changes, compiles them, and hands over the
//! results. The game's own thread never waits for it. The watcher watches directories, never files.
//! A file event is only a trigger for a compile; the compiler's content hashes decide which
//! resources changed.
//!
//! A file that was just written and looks unfinished (it is empty, or its text cannot be parsed) is
//! read again a moment later: many programs empty a file before they write it, or write it in
//! parts. This includes files that a compile reads before the first event of their save arrives, as
//! when an editor saves several files at once.
//!
//! A panic costs one compile. Events that arrive in the meantime are kept, and the folder is
//! compiled once more.

mod debouncer;
mod polling;
mod unfinished;

use super::compile::{self, CompileResult, CompileTarget, OnCompileProgress, write_index};
use super::folder_scan;
use super::glob::Glob;
use super::index::ResourceIndex;
use super::resource_kind::ResourceKinds;
use super::resource_name::ResourceName;
use debouncer::{ABSENCE_MAX, Debouncer, WakeReason};
use engine_foundation::file_access::{self, readers};
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, log, panic};
use notify::Watcher as _;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode};
use polling::polling;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use unfinished::CompiledBurst;

/// Time for which a file that looks unfinished may be completed before its problem is reported.
const COMPLETION: Duration = Duration::from_millis(200);
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

/// Returns the problem of a script's text, given its path, if it cannot be parsed.
pub type SyntaxCheck = fn(&str, &str) -> Option<String>;

impl ProjectWatcher {
    /// Starts watching a game's folder. Its data for `platform` is compiled into the folder `data`.
    /// `syntax_check` examines scripts that were just written. Files that `exclude` matches are no
    /// resources.
    pub fn start(
        root: &Path,
        data: &Path,
        platform: &str,
        kinds: ResourceKinds,
        syntax_check: SyntaxCheck,
        exclude: Vec<Glob>,
    ) -> Result<ProjectWatcher, String> {
        let compiler = compile::compile_without_index;
        let (completion, absence) = (COMPLETION, ABSENCE_MAX);
        let how = WatchFunctions { watcher, compiler, syntax_check, completion, absence };
        ProjectWatcher::with(root, data, platform, kinds, how, exclude)
    }

    fn with(
        root: &Path,
        data: &Path,
        platform: &str,
        kinds: ResourceKinds,
        how: WatchFunctions,
        exclude: Vec<Glob>,
    ) -> Result<ProjectWatcher, String> {
        let (wake_sender, inbox) = channel();
        let (outbox, results) = channel();
        // Events have the root's real path.
        let canonical_root = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        let guard = (how.watcher)(&canonical_root, wake_sender.clone())?;
        let last_index = compile::read_index(data);
        let reported_problems: Vec<String> =
            last_index.failed.iter().map(|(_, message)| message.clone()).collect();
        let reported = reported_problems.clone();
        let watched = WatchedFolder {
            root: root.to_path_buf(),
            canonical_root,
            data: data.to_path_buf(),
            platform: platform.to_string(),
            kinds,
            how,
            exclude,
            inbox,
            outbox,
        };
        let (restart_sender, settings) = (wake_sender.clone(), watched.read_settings());
        let work = move || {
            OwnerScope::of_thread("resources/watch");
            let failed = last_index.failed.clone();
            let mut state =
                WatchState { last_index, settings, reported, failed, look_count: 0, guard };
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

/// The functions that a watch uses, and its pace. Tests replace them.
#[derive(Clone, Copy)]
struct WatchFunctions {
    watcher: Watcher,
    compiler: CompileFn,
    syntax_check: SyntaxCheck,
    /// As [`COMPLETION`].
    completion: Duration,
    /// As [`ABSENCE_MAX`].
    absence: Duration,
}

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
        Some(WakeReason::Changed(Vec::new()))
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

/// Returns the real path of a file that may be missing, and whose folders may be missing.
fn real_path(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|folder| {
        let rest = path.strip_prefix(folder).ok()?;
        Some(std::fs::canonicalize(folder).ok()?.join(rest))
    });
    real.unwrap_or_else(|| path.to_path_buf())
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
        _ => Some(WakeReason::Changed(event.paths)),
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
    how: WatchFunctions,
    /// Files that are no resources.
    exclude: Vec<Glob>,
    inbox: Receiver<WakeReason>,
    outbox: Sender<CompileResult>,
}

/// State of the watch, which survives a panic.
struct WatchState {
    /// The index that the game has. The index on disk may belong to another engine.
    last_index: ResourceIndex,
    settings: Option<Vec<u8>>,
    /// Problems that the game knows, and the resources that fail for it.
    reported: Vec<String>,
    failed: Vec<(ResourceName, String)>,
    /// Number of compiles whose whole result was sent to the game. A compile that panics repeatedly
    /// is recognized by a number that stays the same.
    look_count: u64,
    /// Dropping the guard ends the watch.
    guard: Box<dyn WatcherGuard>,
}

/// Outcome of a compile of the watched folder.
enum CompileOutcome {
    /// Everything was sent to the game.
    Sent,
    /// Everything but new problems was sent.
    ProblemsHeld,
    /// Nothing was sent, because files were read while they were written.
    Premature,
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
                let _ = restart_sender.send(WakeReason::Changed(Vec::new()));
            }
        }
    }

    fn run(&self, state: &mut WatchState) {
        while let Ok(first) = self.inbox.recv() {
            if matches!(first, WakeReason::Stop) || self.handle_burst(state, first).is_none() {
                return;
            }
        }
    }

    /// Compiles after a burst of events. Files that look unfinished, and new problems, are given
    /// time to be completed. Returns `None` if the thread has to end.
    fn handle_burst(&self, state: &mut WatchState, first: WakeReason) -> Option<()> {
        let mut debouncer = Debouncer::of(first);
        let mut began = Instant::now();
        let mut was_premature = false;
        loop {
            let (root, known) = (&self.canonical_root, &state.last_index);
            if !debouncer.wait_until_quiet(&self.inbox, root, known, self.how.absence) {
                return None;
            }
            let mut left = self.how.completion.saturating_sub(began.elapsed());
            let is_patient = !left.is_zero();
            if !(is_patient && self.is_unfinished(&debouncer.touched, state)) {
                let outcome = self.compile_changes(state, &debouncer.touched, is_patient)?;
                match outcome {
                    CompileOutcome::Sent => {
                        state.look_count += 1;
                        return Some(());
                    }
                    CompileOutcome::Premature if !was_premature => {
                        // Another save begins, and has the same time.
                        (was_premature, began, left) = (true, Instant::now(), self.how.completion);
                    }
                    CompileOutcome::Premature | CompileOutcome::ProblemsHeld => {}
                }
            }
            match self.inbox.recv_timeout(left) {
                Ok(WakeReason::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(next) => {
                    debouncer.begin_again();
                    debouncer.record(next);
                }
                Err(RecvTimeoutError::Timeout) => debouncer.begin_again(),
            }
        }
    }

    /// Compiles the changes and sends the result. Does not send new problems or a premature compile
    /// if `is_patient` is set. Returns `None` if there is no receiver any more.
    fn compile_changes(
        &self,
        state: &mut WatchState,
        touched: &HashSet<PathBuf>,
        is_patient: bool,
    ) -> Option<CompileOutcome> {
        let target = CompileTarget {
            root: &self.root,
            data: self.data.clone(),
            kinds: self.kinds,
            source_platform: &self.platform,
            release: false,
            exclude: &self.exclude,
            threads: 1,
        };
        let began = Instant::now();
        let (compiled, previous_index) = match (self.how.compiler)(&target, &|_, _| {}) {
            Ok(result) => result,
            Err(error) => {
                log::error(&error.to_string());
                return Some(CompileOutcome::Sent);
            }
        };
        let duration = began.elapsed();
        watch_links(&mut *state.guard, &self.canonical_root, &compiled.linked);
        let mut compiled = compiled.since(&state.last_index);
        let settings = self.read_settings();
        compiled.settings = settings != state.settings;
        let burst = CompiledBurst { touched, settings: settings.as_deref(), duration };
        if is_patient && self.is_premature(&compiled, &burst, state) {
            return Some(CompileOutcome::Premature);
        }
        let last_index = compiled.index.clone();
        let is_new = |message: &String| !state.reported.contains(message);
        let is_complete = !(is_patient && compiled.problems.iter().any(is_new));
        if !is_complete {
            // The problems stay as the game knows them until they are certain.
            compiled.problems.clone_from(&state.reported);
            compiled.index.failed.clone_from(&state.failed);
        }
        let has_changes = !compiled.changed.is_empty()
            || !compiled.removed.is_empty()
            || compiled.settings
            || compiled.index.redirects != state.last_index.redirects
            || compiled.problems != state.reported;
        let (reported, failed) = (compiled.problems.clone(), compiled.index.failed.clone());
        if has_changes && self.outbox.send(compiled).is_err() {
            return None;
        }
        // After a panic before this point, the next compile reports all changes again.
        (state.last_index, state.settings) = (last_index, settings);
        (state.reported, state.failed) = (reported, failed);
        // The index is written after the result was sent, so the game does not wait for it. If it
        // cannot be written, the data is compiled again.
        if let Err(error) = write_index(&target, &state.last_index, &previous_index) {
            log::error(&error.to_string());
        }
        Some(if is_complete { CompileOutcome::Sent } else { CompileOutcome::ProblemsHeld })
    }
}

#[cfg(test)]
#[path = "watcher_tests.rs"]
mod tests;
