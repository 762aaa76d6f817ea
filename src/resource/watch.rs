//! Watching a game's folder: a thread that notices changes, compiles them, and hands over what is
//! new. The game's own thread never waits for it. Directories are watched, never files; what the
//! system tells is only a reason to look, the compiler's content hashes decide what changed.

use super::compile::{Compiled, Target, compile, data_folder};
use super::kind::Kinds;
use crate::foundation::log;
use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// After the first event of a burst, this long a silence ends it.
const QUIET: Duration = Duration::from_millis(2);
/// A burst that does not end is looked at after this long.
const BURST_MAX: Duration = Duration::from_millis(50);
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
    Stop,
}

impl Watch {
    /// Starts watching a game's folder, whose data for `platform` is compiled.
    pub fn start(root: &Path, platform: &str, kinds: Kinds) -> Result<Watch, String> {
        let (notices, inbox) = channel();
        let (outbox, results) = channel();
        let watcher = watcher(root, notices.clone())?;
        let (root, platform) = (root.to_path_buf(), platform.to_string());
        let work = move || {
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
        if self.inbox.recv_timeout(limit).is_err() {
            return false;
        }
        let began = Instant::now();
        while began.elapsed() < BURST_MAX && self.inbox.recv_timeout(QUIET).is_ok() {}
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
    let told = move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| !matters_not(&real, &event)) {
            // The thread ends before the watcher does.
            let _ = notices.send(Notice::Changed);
        }
    };
    let native = RecommendedWatcher::new(told.clone(), Config::default());
    let native = native.and_then(|mut watcher| {
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(Box::new(watcher) as Box<dyn Watcher + Send>)
    });
    native.or_else(|reason| {
        log::warning(&format!("file events do not come ({reason}): looking every half second"));
        let config = Config::default().with_poll_interval(POLL);
        let mut watcher = PollWatcher::new(told, config).map_err(|reason| reason.to_string())?;
        watcher.watch(root, RecursiveMode::Recursive).map_err(|reason| reason.to_string())?;
        Ok(Box::new(watcher) as Box<dyn Watcher + Send>)
    })
}

/// Whether an event is about reading, or about the engine's own folder and other hidden ones.
fn matters_not(root: &Path, event: &Event) -> bool {
    let hidden = |path: &PathBuf| {
        let inside = path.strip_prefix(root).unwrap_or(path);
        inside.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
    };
    // An overflow of the system's queue has no path, and must be looked at.
    let all_hidden = !event.paths.is_empty() && event.paths.iter().all(hidden);
    matches!(event.kind, EventKind::Access(_)) || (all_hidden && !event.need_rescan())
}

fn run(
    root: &Path,
    platform: &str,
    kinds: Kinds,
    inbox: &Receiver<Notice>,
    outbox: &Sender<Compiled>,
) {
    let mut told: Vec<String> = Vec::new();
    while let Ok(Notice::Changed) = inbox.recv() {
        let began = Instant::now();
        while began.elapsed() < BURST_MAX {
            match inbox.recv_timeout(QUIET) {
                Ok(Notice::Changed) => {}
                Ok(Notice::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        let target = Target {
            root,
            data: data_folder(root, platform),
            kinds,
            source_platform: platform,
            release: false,
            threads: 1,
        };
        match compile(&target, &|_, _| {}) {
            Ok(compiled) => {
                let news = !compiled.changed.is_empty()
                    || !compiled.removed.is_empty()
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
