//! Watching a game's folder: a thread that notices changes, compiles them, and hands over what is
//! new. The game's own thread never waits for it. Directories are watched, never files; what the
//! system tells is only a reason to look, the compiler's content hashes decide what changed.

use super::compile::{Compiled, Target, compile, data_folder};
use super::kind::Kinds;
use crate::foundation::log;
use crate::foundation::memory::Owner;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// After the first event of a burst, this long a silence ends it.
const QUIET: Duration = Duration::from_millis(2);
/// A burst that does not end is looked at after this long.
const BURST_MAX: Duration = Duration::from_millis(50);
/// A file that is being written is waited for this long: an editor that writes in place empties it
/// first, and an empty script is a script.
const WRITING_MAX: Duration = Duration::from_millis(100);
/// How often everything is looked at where the system tells nothing.
const POLL: Duration = Duration::from_millis(500);

/// A thread that compiles what changes. Dropping it ends the thread.
pub struct Watch {
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
    Stop,
}

/// Events that follow each other closely.
struct Burst {
    began: Instant,
    /// The files that somebody has begun to write, and not closed.
    writing: HashSet<PathBuf>,
}

impl Burst {
    fn of(first: Notice) -> Burst {
        let mut burst = Burst { began: Instant::now(), writing: HashSet::new() };
        burst.note(first);
        burst
    }

    fn note(&mut self, notice: Notice) {
        match notice {
            Notice::Writing(path) => _ = self.writing.insert(path),
            Notice::Written(path) => _ = self.writing.remove(&path),
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
}

impl Watch {
    /// Starts watching a game's folder, whose data for `platform` is compiled.
    pub fn start(root: &Path, platform: &str, kinds: Kinds) -> Result<Watch, String> {
        let (notices, inbox) = channel();
        let (outbox, results) = channel();
        let watcher = watcher(root, notices.clone())?;
        let (root, platform) = (root.to_path_buf(), platform.to_string());
        let work = move || {
            Owner::of_thread("resources/watch");
            // Held for as long as the thread lives: dropping it ends the watching.
            let _watcher = watcher;
            run(&root, &platform, kinds, &inbox, &outbox);
        };
        let thread = Builder::new().name("watch".into()).spawn(work);
        let thread = thread.map_err(|reason| format!("no thread could be started: {reason}"))?;
        Ok(Watch { results, stop: Some(notices), thread: Some(thread) })
    }

    /// What changed since the last time, without waiting.
    pub fn changes(&self) -> impl Iterator<Item = Compiled> + '_ {
        self.results.try_iter()
    }

    /// What changes next, waiting for it at most this long: for tests and tools.
    pub fn wait(&self, limit: Duration) -> Option<Compiled> {
        self.results.recv_timeout(limit).ok()
    }
}

/// A folder in which somebody waits for changes; nothing is compiled.
pub struct FolderWatch {
    inbox: Receiver<Notice>,
    /// Dropping it ends the watching.
    _watcher: Box<dyn Watcher + Send>,
}

impl FolderWatch {
    pub fn start(root: &Path) -> Result<FolderWatch, String> {
        let (notices, inbox) = channel();
        Ok(FolderWatch { inbox, _watcher: watcher(root, notices)? })
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

/// The system's watcher; where it cannot (too many folders, a network's file system), one that
/// polls.
fn watcher(root: &Path, notices: Sender<Notice>) -> Result<Box<dyn Watcher + Send>, String> {
    // Events have the root's real path.
    let root = &std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
    let real = root.clone();
    let telling = |closes: bool| {
        let (real, notices) = (real.clone(), notices.clone());
        move |event: notify::Result<Event>| {
            if let Some(notice) = event.ok().and_then(|event| notice_of(&real, event, closes)) {
                // The thread ends before the watcher does.
                let _ = notices.send(notice);
            }
        }
    };
    let native = RecommendedWatcher::new(telling(TELLS_CLOSING), Config::default());
    let native = native.and_then(|mut watcher| {
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(Box::new(watcher) as Box<dyn Watcher + Send>)
    });
    native.or_else(|reason| {
        log::warning(&format!("file events do not come ({reason}): looking every half second"));
        let config = Config::default().with_poll_interval(POLL);
        let watcher = PollWatcher::new(telling(false), config);
        let mut watcher = watcher.map_err(|reason| reason.to_string())?;
        watcher.watch(root, RecursiveMode::Recursive).map_err(|reason| reason.to_string())?;
        Ok(Box::new(watcher) as Box<dyn Watcher + Send>)
    })
}

/// Whether the system tells when a file that was written is closed.
const TELLS_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// What an event means; nothing where it is about reading, or about the engine's own folder and
/// other hidden ones. `closes`: whether the end of writing is told, too.
fn notice_of(root: &Path, event: Event, closes: bool) -> Option<Notice> {
    let hidden = |path: &PathBuf| {
        let inside = path.strip_prefix(root).unwrap_or(path);
        inside.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
    };
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
        _ => Some(Notice::Changed),
    }
}

fn run(
    root: &Path,
    platform: &str,
    kinds: Kinds,
    inbox: &Receiver<Notice>,
    outbox: &Sender<Compiled>,
) {
    let mut told: Vec<String> = Vec::new();
    let read_settings = || std::fs::read(root.join(super::settings::FILE)).ok();
    let mut settings = read_settings();
    // What the game has; the index on the disk may be another engine's.
    let mut known = super::compile::read_index(&data_folder(root, platform));
    while let Ok(first) = inbox.recv() {
        if matches!(first, Notice::Stop) {
            return;
        }
        let mut burst = Burst::of(first);
        while let Some(patience) = burst.patience() {
            match inbox.recv_timeout(patience) {
                Ok(Notice::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(next) => burst.note(next),
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        let target = Target {
            root,
            data: data_folder(root, platform),
            kinds,
            source_platform: platform,
            release: false,
            exclude: &[],
            threads: 1,
        };
        match compile(&target, &|_, _| {}) {
            Ok(compiled) => {
                let mut compiled = compiled.since(&known);
                known.clone_from(&compiled.index);
                let now = read_settings();
                compiled.settings = now != settings;
                settings = now;
                let news = !compiled.changed.is_empty()
                    || !compiled.removed.is_empty()
                    || compiled.settings
                    || compiled.problems != told;
                told.clone_from(&compiled.problems);
                if news && outbox.send(compiled).is_err() {
                    return;
                }
            }
            Err(error) => log::error(&error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::data_kinds;
    use std::io::Write;

    const KINDS: Kinds = Kinds(&[&data_kinds::TEXT]);

    #[test]
    fn a_file_that_is_written_in_place_is_taken_when_it_is_closed() {
        if !TELLS_CLOSING {
            return;
        }
        let root = std::env::temp_dir().join(format!("engine-{}-in-place", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let path = root.join("a.txt");
        std::fs::write(&path, "one").unwrap();
        let data = data_folder(&root, "linux");
        let target = Target {
            root: &root,
            data,
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        compile(&target, &|_, _| {}).unwrap();
        let watch = Watch::start(&root, "linux", KINDS).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        // Long after the silence that ends other bursts.
        assert!(watch.wait(QUIET * 20).is_none(), "the emptied file was taken");
        file.write_all(b"two").unwrap();
        drop(file);
        let compiled = watch.wait(Duration::from_secs(10)).expect("the change is noticed");
        assert_eq!(compiled.changed.len(), 1);
        assert!(watch.wait(QUIET * 20).is_none(), "it was taken twice");
        // One that stays open is not waited for without an end.
        let open = std::fs::File::create(&path).unwrap();
        assert!(watch.wait(Duration::from_secs(10)).is_some());
        drop((open, watch));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
