//! Watching a game's folder: a thread that notices changes, compiles them, and hands over what is
//! new. The game's own thread never waits for it. Directories are watched, never files; what the
//! system tells is only a reason to look, the compiler's content hashes decide what changed.

use super::compile::{Compiled, Target, keep, make};
use super::index::Index;
use super::kind::Kinds;
use super::scan;
use crate::foundation::file_access::{self, readers};
use crate::foundation::memory::Owner;
use crate::foundation::{fault, log};
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
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
        Watch::with(root, data, platform, kinds, watcher)
    }

    fn with(
        root: &Path,
        data: &Path,
        platform: &str,
        kinds: Kinds,
        watcher: fn(&Path, Sender<Notice>) -> Result<Eyes, String>,
    ) -> Result<Watch, String> {
        let (notices, inbox) = channel();
        let (outbox, results) = channel();
        // Events have the root's real path.
        let real = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        let watcher = watcher(&real, notices.clone())?;
        let known = super::compile::read_index(data);
        let told = known.failed.iter().map(|(_, words)| words.clone()).collect();
        let watched = Watched {
            root: root.to_path_buf(),
            real,
            data: data.to_path_buf(),
            platform: platform.to_string(),
            kinds,
        };
        let work = move || {
            Owner::of_thread("resources/watch");
            // Held for as long as the thread lives: dropping it ends the watching.
            let _watcher = watcher;
            let mut known = known;
            // A fault costs what was being looked at. The next change is noticed again.
            while let Err(error) = fault::contain(|| run(&watched, &mut known, &inbox, &outbox)) {
                log::error(&format!("the watch over the game's folder failed: {error}"));
            }
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
    _watcher: Eyes,
}

impl FolderWatch {
    pub fn start(root: &Path) -> Result<FolderWatch, String> {
        let (notices, inbox) = channel();
        let real = std::fs::canonicalize(root).map_err(|reason| reason.to_string())?;
        Ok(FolderWatch { inbox, _watcher: watcher(&real, notices)? })
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

/// Who tells of changes, until it is dropped.
type Eyes = Box<dyn Send>;

/// The system's watcher; where it cannot (too many folders, a network's file system), one that
/// looks. `real` is the folder's real path, as events have it.
fn watcher(real: &Path, notices: Sender<Notice>) -> Result<Eyes, String> {
    let (root, telling) = (real.to_path_buf(), notices.clone());
    let tell = move |event: notify::Result<Event>| {
        if let Some(notice) = event.ok().and_then(|event| notice_of(&root, event, TELLS_CLOSING)) {
            // The thread ends before the watcher does.
            let _ = telling.send(notice);
        }
    };
    let native = RecommendedWatcher::new(tell, Config::default());
    let native = native.and_then(|mut watcher| {
        watcher.watch(real, RecursiveMode::Recursive)?;
        Ok(Box::new(watcher) as Eyes)
    });
    native.or_else(|reason| {
        log::warning(&format!("file events do not come ({reason}): looking every half second"));
        polling(real, notices)
    })
}

fn polling(real: &Path, notices: Sender<Notice>) -> Result<Eyes, String> {
    Ok(Box::new(Poll::start(real, notices)?))
}

/// A thread that looks at a folder every so often: at the names, sizes and times of all its files,
/// in nanoseconds, whichever way they change.
struct Poll {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Poll {
    fn start(root: &Path, notices: Sender<Notice>) -> Result<Poll, String> {
        let (stop, stopped) = channel();
        let root = root.to_path_buf();
        let look = move || scan::files(&root).map(|found| found.files);
        let mut last = look().map_err(|error| error.message)?;
        let goes_on = move |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let work = move || {
            Owner::of_thread("resources/watch");
            while goes_on(POLL) {
                // A folder that cannot be read just now is looked at again.
                let Ok(mut now) = look() else { continue };
                if is_one_away(&last, &now) {
                    if !goes_on(ABSENCE_MAX) {
                        return;
                    }
                    let Ok(later) = look() else { continue };
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
}

/// `known` is what the game has; the index on the disk may come to be another engine's.
fn run(watched: &Watched, known: &mut Index, inbox: &Receiver<Notice>, outbox: &Sender<Compiled>) {
    let mut told: Vec<String> = Vec::new();
    let read_settings =
        || file_access::read(&watched.root, super::settings::FILE, &readers::SETTINGS).ok();
    let mut settings = read_settings();
    while let Ok(first) = inbox.recv() {
        if matches!(first, Notice::Stop) || !Burst::of(first).settle(inbox, &watched.real, known) {
            return;
        }
        let target = Target {
            root: &watched.root,
            data: watched.data.clone(),
            kinds: watched.kinds,
            source_platform: &watched.platform,
            release: false,
            exclude: &[],
            threads: 1,
        };
        let made = fault::contain(|| make(&target, &|_, _| {})).flatten();
        match made {
            Ok((compiled, last)) => {
                let mut compiled = compiled.since(known);
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
                // The game does not wait for it. What cannot be kept is compiled again.
                if let Err(error) = keep(&target, known, &last) {
                    log::error(&error.to_string());
                }
            }
            Err(error) => log::error(&error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::compile::compile;
    use crate::resource::data_kinds;
    use crate::resource::kind::Kind;
    use std::io::Write;

    /// Texts, at which the compiler fails where it reads `fall`.
    static CLUMSY: Kind = Kind {
        compile: |compiling| {
            let text = compiling.text()?;
            assert!(text != "fall", "the compiler fell");
            Ok(text.as_bytes().to_vec())
        },
        ..data_kinds::TEXT
    };
    const KINDS: Kinds = Kinds(&[&CLUMSY]);

    /// A folder of these files, compiled, and a watch over it.
    struct Scene {
        root: PathBuf,
        watch: Option<Watch>,
    }

    impl Scene {
        fn new(
            name: &str,
            files: &[(&str, &str)],
            watcher: fn(&Path, Sender<Notice>) -> Result<Eyes, String>,
        ) -> Scene {
            let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&root);
            std::fs::create_dir_all(&root).unwrap();
            for (path, text) in files {
                std::fs::write(root.join(path), text).unwrap();
            }
            let data = root.join(".data");
            let target = Target {
                root: &root,
                data: data.clone(),
                kinds: KINDS,
                source_platform: "linux",
                release: false,
                exclude: &[],
                threads: 1,
            };
            compile(&target, &|_, _| {}).unwrap();
            let watch = Watch::with(&root, &data, "linux", KINDS, watcher).unwrap();
            Scene { root, watch: Some(watch) }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.join(name)
        }

        /// What changes next, and what is gone, by name; nothing where that takes longer.
        fn next(&self, limit: Duration) -> Option<(Vec<String>, Vec<String>)> {
            let names = |names: Vec<_>| names.iter().map(ToString::to_string).collect();
            let compiled = self.watch.as_ref().unwrap().wait(limit)?;
            Some((
                names(compiled.changed as Vec<crate::resource::name::ResourceName>),
                names(compiled.removed),
            ))
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            self.watch = None;
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }

    const LONG: Duration = Duration::from_secs(20);

    fn only(changed: &str, removed: &str) -> Option<(Vec<String>, Vec<String>)> {
        let list = |name: &str| if name.is_empty() { vec![] } else { vec![name.to_string()] };
        Some((list(changed), list(removed)))
    }

    #[test]
    fn a_file_that_is_away_for_a_moment_is_not_told_and_one_that_is_gone_is() {
        let scene = Scene::new("away", &[("a.txt", "one"), ("b.txt", "one")], watcher);
        // As vim does: the old one becomes a backup, the new one is written anew.
        std::fs::rename(scene.path("a.txt"), scene.path("a.txt~")).unwrap();
        std::thread::sleep(QUIET * 5);
        std::fs::write(scene.path("a.txt"), "two").unwrap();
        assert_eq!(scene.next(LONG), only("a.text", ""));
        std::fs::remove_file(scene.path("a.txt")).unwrap();
        assert_eq!(scene.next(LONG), only("", "a.text"));
        // What is no resource is not waited for, and neither is a change.
        let began = Instant::now();
        std::fs::write(scene.path("b.new"), "two").unwrap();
        std::fs::rename(scene.path("b.new"), scene.path("b.txt")).unwrap();
        let mut burst = Burst::of(Notice::Moved(vec![scene.path("b.new"), scene.path("b.txt")]));
        burst.began = began;
        let known = crate::resource::compile::read_index(&scene.path(".data"));
        assert_eq!(burst.absence(&scene.root, &known), None);
        assert_eq!(scene.next(LONG), only("b.text", ""));
        burst = Burst::of(Notice::Moved(vec![scene.path("b.txt")]));
        std::fs::remove_file(scene.path("b.txt")).unwrap();
        assert!(burst.absence(&scene.root, &known).is_some());
    }

    #[test]
    fn a_fault_while_one_file_is_compiled_ends_no_watch() {
        let scene = Scene::new("fault", &[("a.txt", "one"), ("b.txt", "one")], watcher);
        std::fs::write(scene.path("a.txt"), "fall").unwrap();
        let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("the fault is told");
        let [words] = &compiled.problems[..] else { panic!("{:?}", compiled.problems) };
        assert!(words.starts_with("a.txt: the engine failed at the text 'a': "), "{words}");
        assert!(words.contains("the compiler fell"), "{words}");
        for text in ["two", "three"] {
            std::fs::write(scene.path("b.txt"), text).unwrap();
            assert_eq!(scene.next(LONG), only("b.text", ""));
        }
        std::fs::write(scene.path("a.txt"), "two").unwrap();
        assert_eq!(scene.next(LONG), only("a.text", ""));
    }

    #[test]
    fn where_the_system_tells_nothing_every_change_is_seen_all_the_same() {
        let scene = Scene::new("poll", &[("a.txt", "one"), ("b.txt", "one")], polling);
        std::fs::create_dir_all(scene.path(".hidden")).unwrap();
        std::fs::write(scene.path(".hidden/a.txt"), "one").unwrap();
        assert_eq!(scene.next(POLL * 3), None, "hidden folders are not looked at");
        // In the second of the change before, of the same length, and with an older time.
        for text in ["two", "six"] {
            std::fs::write(scene.path("a.txt"), text).unwrap();
            assert_eq!(scene.next(LONG), only("a.text", ""));
        }
        std::fs::write(scene.path("a.txt"), "ten").unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(86_400);
        std::fs::File::options()
            .write(true)
            .open(scene.path("a.txt"))
            .and_then(|file| file.set_modified(old))
            .unwrap();
        assert_eq!(scene.next(LONG), only("a.text", ""));
        std::fs::rename(scene.path("b.txt"), scene.path("c.txt")).unwrap();
        let (changed, removed) = scene.next(LONG).unwrap();
        assert_eq!((&changed[..], &removed[..]), (&["c.text".into()][..], &["b.text".into()][..]));
    }

    #[test]
    fn a_file_that_is_written_in_place_is_taken_when_it_is_closed() {
        if !TELLS_CLOSING {
            return;
        }
        let root = std::env::temp_dir().join(format!("engine-{}-in-place", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let path = root.join("a.txt");
        std::fs::write(&path, "one").unwrap();
        let data = root.join(".data");
        let target = Target {
            root: &root,
            data: data.clone(),
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        compile(&target, &|_, _| {}).unwrap();
        let watch = Watch::start(&root, &data, "linux", KINDS).unwrap();
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
