//! Watching a game's folder: a thread that notices changes, compiles them, and hands over what is
//! new. The game's own thread never waits for it. Directories are watched, never files; what the
//! system tells is only a reason to look, the compiler's content hashes decide what changed.
//!
//! A panic costs one look: what was noticed meanwhile stays, and everything is looked at once more.

use super::compile::{self, Compiled, Progress, Target, keep};
use super::index::Index;
use super::kind::Kinds;
use super::scan;
use crate::foundation::file_access::{self, readers};
use crate::foundation::memory::Owner;
use crate::foundation::{Error, fault, log};
use notify::Watcher as _;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After the first event of a burst, this long a silence ends it.
const QUIET: Duration = Duration::from_millis(2);
/// A burst that does not end is looked at after this long.
const BURST_MAX: Duration = Duration::from_millis(50);
/// A file that is being written is waited for this long: an editor that writes in place empties it
/// first, and an empty script is a script.
const WRITING_MAX: Duration = Duration::from_millis(100);
/// A file that is gone is waited for this long: many programs save by moving the old file away
/// before they write the new one.
const ABSENCE_MAX: Duration = Duration::from_millis(100);
/// How often everything is looked at where the system tells nothing.
const POLL: Duration = Duration::from_millis(500);

/// A thread that compiles what changes. Dropping it ends the thread.
pub struct Watch {
    /// What is told already of files that cannot be compiled, and stands.
    pub told: Vec<String>,
    results: Receiver<Compiled>,
    stop: Option<Sender<Notice>>,
    thread: Option<JoinHandle<()>>,
}

/// What wakes the thread.
enum Notice {
    Changed,
    /// The content of a file changes, and who writes it will close it.
    Writing(PathBuf),
    Written(PathBuf),
    /// Something was removed, or has another name.
    Moved(Vec<PathBuf>),
    Stop,
}

/// Events that follow each other closely.
struct Burst {
    began: Instant,
    /// The files that somebody has begun to write, and not closed.
    writing: HashSet<PathBuf>,
    /// What was removed, and may be back already.
    moved: HashSet<PathBuf>,
}

impl Burst {
    fn of(first: Notice) -> Burst {
        let (writing, moved) = (HashSet::new(), HashSet::new());
        let mut burst = Burst { began: Instant::now(), writing, moved };
        burst.note(first);
        burst
    }

    fn note(&mut self, notice: Notice) {
        match notice {
            Notice::Writing(path) => _ = self.writing.insert(path),
            Notice::Written(path) => _ = self.writing.remove(&path),
            Notice::Moved(paths) => self.moved.extend(paths),
            Notice::Changed | Notice::Stop => {}
        }
    }

    /// How long to wait for its next event; nothing where it is over.
    fn patience(&self) -> Option<Duration> {
        let over = self.began.elapsed();
        match self.writing.is_empty() {
            true => (over < BURST_MAX).then_some(QUIET),
            false => WRITING_MAX.checked_sub(over),
        }
    }

    /// How long to wait for what is gone and may come back; nothing where all of it is there, or
    /// was gone for long enough.
    fn absence(&self, root: &Path, known: &Index) -> Option<Duration> {
        let left = ABSENCE_MAX.checked_sub(self.began.elapsed())?;
        if self.moved.is_empty() {
            return None;
        }
        let mut sources: Vec<&str> =
            known.entries.iter().map(|entry| entry.files[0].path.as_str()).collect();
        sources.sort_unstable();
        // The file itself, or one in a folder.
        let is_source = |path: &Path| {
            let Ok(inside) = path.strip_prefix(root) else { return false };
            let inside = inside.to_string_lossy().replace('\\', "/");
            let next = sources.partition_point(|source| *source < inside.as_str());
            sources[next..].iter().take_while(|source| source.starts_with(&inside)).any(|source| {
                source.len() == inside.len() || source.as_bytes()[inside.len()] == b'/'
            })
        };
        let is_away = |path: &PathBuf| is_source(path) && !path.exists();
        self.moved.iter().any(is_away).then_some(left)
    }

    /// Waits for its end; gives whether it came before that of the thread.
    fn settle(&mut self, inbox: &Receiver<Notice>, root: &Path, known: &Index) -> bool {
        let mut patience = self.patience();
        while let Some(limit) = patience {
            match inbox.recv_timeout(limit) {
                Ok(Notice::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(next) => {
                    self.note(next);
                    patience = self.patience().or_else(|| self.absence(root, known));
                }
                Err(RecvTimeoutError::Timeout) => patience = self.absence(root, known),
            }
        }
        true
    }
}

impl Watch {
    /// Starts watching a game's folder, whose data for `platform` is compiled into the folder
    /// `data`.
    pub fn start(root: &Path, data: &Path, platform: &str, kinds: Kinds) -> Result<Watch, String> {
        Watch::with(root, data, platform, kinds, (watcher, compile::make))
    }

    fn with(
        root: &Path,
        data: &Path,
        platform: &str,
        kinds: Kinds,
        (watcher, make): (Watcher, Make),
    ) -> Result<Watch, String> {
        let (notices, inbox) = channel();
        let (outbox, results) = channel();
        // Events have the root's real path.
        let real = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        let eyes = watcher(&real, notices.clone())?;
        let known = compile::read_index(data);
        let told = known.failed.iter().map(|(_, words)| words.clone()).collect();
        let watched = Watched {
            root: root.to_path_buf(),
            real,
            data: data.to_path_buf(),
            platform: platform.to_string(),
            kinds,
            make,
            inbox,
            outbox,
        };
        let (again, settings) = (notices.clone(), watched.read_settings());
        let work = move || {
            Owner::of_thread("resources/watch");
            let mut seen = Seen { known, settings, told: Vec::new(), looks: 0, eyes };
            watched.keep_looking(&mut seen, &again);
        };
        let thread = fault::spawn("watch", work);
        let thread = thread.map_err(|reason| format!("no thread could be started: {reason}"))?;
        Ok(Watch { told, results, stop: Some(notices), thread: Some(thread) })
    }

    /// What changed since the last time, without waiting.
    pub fn changes(&self) -> impl Iterator<Item = Compiled> + '_ {
        self.results.try_iter()
    }

    /// What changes next, waiting for it at most this long.
    pub fn wait(&self, limit: Duration) -> Option<Compiled> {
        self.results
            .recv_timeout(limit)
            .inspect_err(|reason| {
                // Of a thread that has ended nothing comes any more.
                if *reason == RecvTimeoutError::Disconnected {
                    std::thread::sleep(limit);
                }
            })
            .ok()
    }
}

/// A folder in which somebody waits for changes; nothing is compiled.
pub struct FolderWatch {
    inbox: Receiver<Notice>,
    /// Dropping it ends the watching.
    _eyes: Box<dyn Eyes>,
}

impl FolderWatch {
    pub fn start(root: &Path) -> Result<FolderWatch, String> {
        let (notices, inbox) = channel();
        let real = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        let mut eyes = watcher(&real, notices)?;
        let linked = scan::files(root).map(|found| found.linked).unwrap_or_default();
        follow(&mut *eyes, &real, &linked);
        Ok(FolderWatch { inbox, _eyes: eyes })
    }

    /// Waits for changes at most this long, and, where there are some, for the end of their burst:
    /// whether there were any.
    pub fn wait(&self, limit: Duration) -> bool {
        let Ok(first) = self.inbox.recv_timeout(limit) else { return false };
        let mut burst = Burst::of(first);
        while let Some(patience) = burst.patience()
            && let Ok(next) = self.inbox.recv_timeout(patience)
        {
            burst.note(next);
        }
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A thread that has ended already needs no word.
            let _ = stop.send(Notice::Stop);
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that watches the game's folder failed");
        }
    }
}

/// Tells of changes, until it is dropped.
trait Eyes: Send {
    /// Looks at one more folder, with all that is in it.
    fn add(&mut self, folder: &Path);
}

/// Starts to look at a folder, whose real path this is, as events have it.
type Watcher = fn(&Path, Sender<Notice>) -> Result<Box<dyn Eyes>, String>;
/// The function that compiles: [`compile::make`].
type Make = fn(&Target, Progress) -> Result<(Compiled, Index), Error>;

/// The system's watcher.
struct System(RecommendedWatcher);

impl Eyes for System {
    fn add(&mut self, folder: &Path) {
        // A folder that goes away meanwhile is a change of the one around it.
        let _ = self.0.watch(folder, RecursiveMode::Recursive);
    }
}

/// The system's watcher; where it cannot (too many folders, a network's file system), one that
/// looks.
fn watcher(real: &Path, notices: Sender<Notice>) -> Result<Box<dyn Eyes>, String> {
    let (root, telling) = (real.to_path_buf(), notices.clone());
    let on_event = move |event: notify::Result<Event>| {
        tell(&telling, || event.ok().and_then(|event| notice_of(&root, event, TELLS_CLOSING)));
    };
    // Links may lead anywhere: those into the game's folder are followed by name ([`follow`]).
    let config = Config::default().with_follow_symlinks(false);
    let native = RecommendedWatcher::new(on_event, config);
    let native = native.and_then(|mut watcher| {
        watcher.watch(real, RecursiveMode::Recursive)?;
        Ok(Box::new(System(watcher)) as Box<dyn Eyes>)
    });
    native.or_else(|reason| {
        log::warning(&format!("file events do not come ({reason}): looking every half second"));
        polling(real, notices)
    })
}

/// Passes on what an event means. This runs on a thread of a library: where the engine has a fault,
/// everything is looked at.
fn tell(notices: &Sender<Notice>, notice: impl FnOnce() -> Option<Notice>) {
    let notice = fault::contain(notice).unwrap_or_else(|error| {
        log::error(&format!("an event of the game's folder was lost: {error}"));
        Some(Notice::Changed)
    });
    if let Some(notice) = notice {
        // The thread ends before the watcher does.
        let _ = notices.send(notice);
    }
}

/// Looks at folders that links of the game's folder lead to, where events would not tell of them:
/// those in hidden folders.
fn follow(eyes: &mut dyn Eyes, real: &Path, linked: &[String]) {
    for path in linked {
        let link = real.join(path);
        let Ok(target) = std::fs::canonicalize(&link) else { continue };
        if target.strip_prefix(real).is_ok_and(is_hidden) {
            // The folder itself, and not the link.
            eyes.add(&link.join("."));
        }
    }
}

/// Finds whether a path in the game's folder leads through a hidden one, or to one.
fn is_hidden(inside: &Path) -> bool {
    inside.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}

fn polling(real: &Path, notices: Sender<Notice>) -> Result<Box<dyn Eyes>, String> {
    let root = real.to_path_buf();
    let look = move || scan::files(&root).map(|found| found.files);
    Ok(Box::new(Poll::start(POLL, look, notices)?))
}

/// A thread that looks at a folder every so often: at the names, sizes and times of all its files,
/// in nanoseconds, whichever way they change.
struct Poll {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Eyes for Poll {
    /// It looks through the same links as the compiler.
    fn add(&mut self, _: &Path) {}
}

impl Poll {
    fn start(
        every: Duration,
        look: impl Fn() -> Result<Vec<scan::File>, Error> + Send + 'static,
        notices: Sender<Notice>,
    ) -> Result<Poll, String> {
        let (stop, stopped) = channel();
        let look = move || fault::contain(&look).flatten();
        let mut last = look().map_err(|error| error.message)?;
        let goes_on = move |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let work = move || {
            Owner::of_thread("resources/watch");
            let mut fault = None;
            // A folder that cannot be read just now is looked at again.
            let mut look = move || match look() {
                Err(error) if error.is_fault => {
                    if fault.as_ref() != Some(&error.message) {
                        log::error(&format!("a look at the game's folder failed: {error}"));
                        fault = Some(error.message);
                    }
                    None
                }
                found => found.ok(),
            };
            while goes_on(every) {
                let Some(mut now) = look() else { continue };
                if is_one_away(&last, &now) {
                    if !goes_on(ABSENCE_MAX) {
                        return;
                    }
                    let Some(later) = look() else { continue };
                    now = later;
                }
                if now != last && notices.send(Notice::Changed).is_err() {
                    return;
                }
                last = now;
            }
        };
        let thread = fault::spawn("watch/poll", work);
        let thread = thread.map_err(|reason| format!("no thread could be started: {reason}"))?;
        Ok(Poll { stop: Some(stop), thread: Some(thread) })
    }
}

/// Whether a file of the first list is not in the second; both are sorted by path.
fn is_one_away(before: &[scan::File], now: &[scan::File]) -> bool {
    let is_there =
        |file: &scan::File| now.binary_search_by(|other| other.path.cmp(&file.path)).is_ok();
    !before.iter().all(is_there)
}

impl Drop for Poll {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that looks at the game's folder failed");
        }
    }
}

/// Whether the system tells when a file that was written is closed.
const TELLS_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// What an event means; nothing where it is about reading, or about the engine's own folder and
/// other hidden ones. `closes`: whether the end of writing is told, too.
fn notice_of(root: &Path, event: Event, closes: bool) -> Option<Notice> {
    let hidden = |path: &PathBuf| is_hidden(path.strip_prefix(root).unwrap_or(path));
    // An overflow of the system's queue has no path, and must be looked at.
    if !event.paths.is_empty() && event.paths.iter().all(hidden) && !event.need_rescan() {
        return None;
    }
    let path = event.paths.first().filter(|_| closes).cloned();
    match (event.kind, path) {
        (EventKind::Access(AccessKind::Close(AccessMode::Write)), Some(path)) => {
            Some(Notice::Written(path))
        }
        (EventKind::Access(_), _) => None,
        (
            EventKind::Create(CreateKind::File) | EventKind::Modify(ModifyKind::Data(_)),
            Some(path),
        ) => Some(Notice::Writing(path)),
        (EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)), _) => {
            Some(Notice::Moved(event.paths))
        }
        _ => Some(Notice::Changed),
    }
}

/// What a thread watches.
struct Watched {
    root: PathBuf,
    /// The same folder, as events have it.
    real: PathBuf,
    data: PathBuf,
    platform: String,
    kinds: Kinds,
    make: Make,
    inbox: Receiver<Notice>,
    outbox: Sender<Compiled>,
}

/// The state of the watch, which outlives a fault.
struct Seen {
    /// The index that the game has; the one on the disk may come to be another engine's.
    known: Index,
    settings: Option<Vec<u8>>,
    told: Vec<String>,
    /// How often it has looked at everything.
    looks: u64,
    /// Dropping them ends the watching.
    eyes: Box<dyn Eyes>,
}

impl Watched {
    fn read_settings(&self) -> Option<Vec<u8>> {
        file_access::read(&self.root, super::settings::FILE, &readers::SETTINGS).ok()
    }

    /// Looks whenever something changes, until the watch ends. A fault costs one look. What it was
    /// about is looked at once more; if that fails as well, at the next change.
    fn keep_looking(&self, seen: &mut Seen, again: &Sender<Notice>) {
        let follow_links = || {
            let linked = scan::files(&self.root).map(|found| found.linked).unwrap_or_default();
            follow(&mut *seen.eyes, &self.real, &linked);
        };
        if let Err(error) = fault::contain(follow_links) {
            log::error(&format!("changes behind links may not be noticed: {error}"));
        }
        let mut failed_at = None;
        while let Err(error) = fault::contain(|| self.run(seen)) {
            log::error(&format!("the watch over the game's folder failed: {error}"));
            if failed_at.replace(seen.looks) != Some(seen.looks) {
                // The receiver is this thread's own.
                let _ = again.send(Notice::Changed);
            }
        }
    }

    fn run(&self, seen: &mut Seen) {
        while let Ok(first) = self.inbox.recv() {
            let ends = matches!(first, Notice::Stop);
            if ends || !Burst::of(first).settle(&self.inbox, &self.real, &seen.known) {
                return;
            }
            if !self.look(seen) {
                return;
            }
            seen.looks += 1;
        }
    }

    /// Compiles what changed, and hands it over; gives whether somebody still waits for it.
    fn look(&self, seen: &mut Seen) -> bool {
        let target = Target {
            root: &self.root,
            data: self.data.clone(),
            kinds: self.kinds,
            source_platform: &self.platform,
            release: false,
            exclude: &[],
            threads: 1,
        };
        let (compiled, last) = match (self.make)(&target, &|_, _| {}) {
            Ok(made) => made,
            Err(error) => {
                log::error(&error.to_string());
                return true;
            }
        };
        follow(&mut *seen.eyes, &self.real, &compiled.linked);
        let mut compiled = compiled.since(&seen.known);
        let settings = self.read_settings();
        compiled.settings = settings != seen.settings;
        let news = !compiled.changed.is_empty()
            || !compiled.removed.is_empty()
            || compiled.settings
            || compiled.problems != seen.told;
        let (known, told) = (compiled.index.clone(), compiled.problems.clone());
        if news && self.outbox.send(compiled).is_err() {
            return false;
        }
        // A fault before this has it all told by the next look.
        (seen.known, seen.told, seen.settings) = (known, told, settings);
        // The game does not wait for it. What cannot be kept is compiled again.
        if let Err(error) = keep(&target, &seen.known, &last) {
            log::error(&error.to_string());
        }
        true
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
