//! Tests of the watcher: the reported changes, and that the watch continues after any failure.

#[path = "watcher_premature_tests.rs"]
mod premature;

use super::debouncer::QUIET;
use super::polling::PollingWatcher;
use super::unfinished::EXAMINED_MAX;
use super::*;
use crate::data_resources;
use crate::resource_kind::{ResourceKind, SourceForm};
use engine_foundation::file_access::FileState;
use std::io::Write;
use std::sync::Mutex;

/// A text kind with a compiler that panics on `fall`.
static CLUMSY: ResourceKind = ResourceKind {
    compile: |compiling| {
        let text = compiling.text()?;
        assert!(text != "fall", "the compiler fell");
        if text.is_empty() || text.starts_with("half") {
            return Err(compiling.error_at(1, "the file is not complete"));
        }
        Ok(text.as_bytes().to_vec())
    },
    ..data_resources::TEXT
};
/// Kinds whose files may be empty.
static PLAIN: ResourceKind = ResourceKind {
    name: "config",
    extensions: &[("config", SourceForm::Own)],
    ..data_resources::TEXT
};
static SCRIPT: ResourceKind =
    ResourceKind { name: "lua", extensions: &[("lua", SourceForm::Own)], ..data_resources::TEXT };
const KINDS: ResourceKinds = ResourceKinds(&[&CLUMSY, &PLAIN, &SCRIPT]);

fn functions(watcher: Watcher, compiler: CompileFn) -> WatchFunctions {
    let (completion, absence) = (COMPLETION, ABSENCE_MAX);
    WatchFunctions { watcher, compiler, syntax_check: |_, _| None, completion, absence }
}

/// A compiled folder with these files, and a watch on it.
struct Scene {
    root: PathBuf,
    watch: Option<ProjectWatcher>,
}

impl Scene {
    fn new(name: &str, files: &[(&str, &str)], watcher: Watcher) -> Scene {
        Scene::with(name, files, functions(watcher, compile::compile_without_index))
    }

    fn with(name: &str, files: &[(&str, &str)], how: WatchFunctions) -> Scene {
        let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        for (path, text) in files {
            std::fs::write(root.join(path), text).unwrap();
        }
        let data = root.join(".data");
        let target = CompileTarget {
            root: &root,
            data: data.clone(),
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        compile::compile(&target, &|_, _| {}).unwrap();
        let watch = ProjectWatcher::with(&root, &data, "linux", KINDS, how, Vec::new()).unwrap();
        Scene { root, watch: Some(watch) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file at once: no moment of it is seen in which it is empty.
    fn replace(&self, name: &str, text: &str) {
        let new = self.path(".new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.path(name)).unwrap();
    }

    /// Returns the names of the next changed and removed resources, or `None` on timeout.
    fn next(&self, limit: Duration) -> Option<(Vec<String>, Vec<String>)> {
        let names = |names: Vec<_>| names.iter().map(ToString::to_string).collect();
        let compiled = self.watch.as_ref().unwrap().wait(limit)?;
        Some((
            names(compiled.changed as Vec<crate::resource_name::ResourceName>),
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
fn a_file_that_is_away_during_its_save_counts_as_present() {
    // Saves as vim does: the old file becomes a backup, and a new file is written.
    let how = functions(watcher, compile::compile_without_index);
    let how = WatchFunctions { absence: PATIENT, completion: PATIENT, ..how };
    let scene = Scene::with("away", &[("a.txt", "one")], how);
    std::fs::rename(scene.path("a.txt"), scene.path("a.txt~")).unwrap();
    std::thread::sleep(QUIET * 5);
    std::fs::write(scene.path("a.txt"), "two").unwrap();
    assert_eq!(scene.next(LONG), only("a.text", ""));
}

#[test]
fn only_a_lasting_removal_of_a_file_is_reported() {
    let scene = Scene::new("removed", &[("a.txt", "one"), ("b.txt", "one")], watcher);
    std::fs::remove_file(scene.path("a.txt")).unwrap();
    assert_eq!(scene.next(LONG), only("", "a.text"));
    // The watch waits for missing sources only: not for other files, and not for sources that
    // exist.
    scene.replace("b.txt", "two");
    let moved = |name: &str| Debouncer::of(WakeReason::Moved(vec![scene.path(name)]));
    let known = crate::compile::read_index(&scene.path(".data"));
    let wait = |debouncer: &Debouncer| debouncer.absence_wait(&scene.root, &known, PATIENT);
    assert_eq!((wait(&moved("b.new")), wait(&moved("b.txt"))), (None, None));
    assert_eq!(scene.next(LONG), only("b.text", ""));
    std::fs::remove_file(scene.path("b.txt")).unwrap();
    assert!(wait(&moved("b.txt")).is_some_and(|wait| wait > QUIET));
    let mut late = moved("b.txt");
    late.began -= PATIENT * 2;
    assert_eq!(wait(&late), None);
}

/// Longer than any test takes between two writes.
const PATIENT: Duration = Duration::from_secs(60);

fn patient(name: &str, completion: Duration, compiler: CompileFn) -> Scene {
    let files = [
        ("a.txt", "one"),
        ("b.txt", "one"),
        ("a.lua", "return 1"),
        ("a.config", "one"),
        ("settings.sjson", "x = 1"),
    ];
    let check: SyntaxCheck = |_, text| text.ends_with('=').then(|| "'=' needs a value".into());
    let how = functions(watcher, compiler);
    Scene::with(name, &files, WatchFunctions { syntax_check: check, completion, ..how })
}

#[test]
fn a_file_that_is_completed_in_time_reports_no_problem() {
    let scene = patient("halves", PATIENT, compile::compile_without_index);
    for unfinished in ["", "half of it"] {
        std::fs::write(scene.path("a.txt"), unfinished).unwrap();
        std::thread::sleep(QUIET * 30);
        std::fs::write(scene.path("a.txt"), format!("all {}", unfinished.len())).unwrap();
        let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("the change is noticed");
        assert_eq!(compiled.problems, Vec::<String>::new(), "{unfinished:?}");
        assert_eq!(compiled.changed.len(), 1, "{unfinished:?}");
    }
    // Nothing that was saved with the unfinished file waits for it.
    std::fs::write(scene.path("a.txt"), "half of it").unwrap();
    std::fs::write(scene.path("b.txt"), "two").unwrap();
    let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("the change is noticed");
    assert_eq!((compiled.changed.len(), compiled.problems.len()), (1, 0));
}

#[test]
fn a_file_that_stays_incomplete_is_reported() {
    let scene = patient("incomplete", QUIET * 10, compile::compile_without_index);
    for (text, file) in [("half", "a.txt"), ("", "b.txt")] {
        std::fs::write(scene.path(file), text).unwrap();
        let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("it is reported");
        let last = compiled.problems.iter().find(|message| message.starts_with(file));
        assert_eq!(last, Some(&format!("{file}:1: the file is not complete")));
        let failed = compiled.index.failed.iter().filter(|(_, message)| message.starts_with(file));
        assert_eq!(failed.count(), 1);
    }
}

/// A save that happens during the next compile: the file, its text while it is compiled (`None`
/// while it does not exist), and its text afterwards.
type SaveDuringCompile = (PathBuf, Option<&'static str>, &'static str);

/// The text of `a.txt` that begins the compile, and the saves during it. A late event of an earlier
/// save can cause a compile before that.
static SAVES: Mutex<(String, Vec<SaveDuringCompile>)> = Mutex::new((String::new(), Vec::new()));

/// Compile function during which files are saved.
fn compile_during_saves(
    target: &CompileTarget,
    progress: OnCompileProgress,
) -> Result<(CompileResult, ResourceIndex), Error> {
    let mut next = panic::lock(&SAVES);
    let has_begun = std::fs::read(target.root.join("a.txt")).unwrap() == next.0.as_bytes();
    let saves = if has_begun { std::mem::take(&mut next.1) } else { Vec::new() };
    drop(next);
    for (path, text, _) in &saves {
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
    }
    let compiled = compile::compile_without_index(target, progress);
    saves.iter().for_each(|(path, _, text)| std::fs::write(path, text).unwrap());
    compiled
}

#[test]
fn files_that_are_saved_during_a_compile_are_read_when_complete() {
    let scene = patient("during", PATIENT, compile_during_saves);
    let save = |number: usize, during: &[(&str, Option<&'static str>, &'static str)]| {
        let saves = during.iter().map(|(file, text, then)| (scene.path(file), *text, *then));
        let text = format!("text {number}");
        *panic::lock(&SAVES) = (text.clone(), saves.collect());
        // The burst of this file begins the compile.
        scene.replace("a.txt", &text);
        let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("the change is noticed");
        let names: Vec<String> = compiled.changed.iter().map(ToString::to_string).collect();
        assert_eq!((&compiled.removed[..], &compiled.problems[..]), (&[][..], &[][..]));
        let data_of = |name: &str| {
            let entry = &compiled.index.variants(&ResourceName::parse(name).unwrap())[0];
            std::fs::read_to_string(scene.path(".data").join(&entry.data)).unwrap()
        };
        let found = names.iter().map(|name| (name.clone(), data_of(name)));
        let mut found: Vec<(String, String)> = found.collect();
        found.sort_unstable();
        (found, compiled.settings)
    };
    let changed = |number: usize, others: &[(&str, &str)]| -> Vec<(String, String)> {
        let a = ("a.text", &format!("text {number}")[..]);
        let mut all: Vec<(&str, &str)> = others.iter().copied().chain([a]).collect();
        all.sort_unstable();
        all.into_iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
    };
    let cases = [
        ("a.config", Some(""), "two"),
        ("a.config", None, "three"),
        ("new.config", Some(""), "one"),
        ("a.lua", Some(""), "return 2"),
        ("a.lua", Some("return ="), "return = 3"),
        // The first part of it is a whole script.
        ("a.lua", Some("return 4"), "return 45"),
        ("a.lua", None, "return 5"),
        ("new.lua", Some(""), "return 1"),
    ];
    for (number, (file, during, then)) in cases.into_iter().enumerate() {
        let wanted = changed(number, &[(file, then)]);
        assert_eq!(save(number, &[(file, during, then)]), (wanted, false), "{file}: {during:?}");
    }
    let settings = save(20, &[("settings.sjson", Some(""), "x = 2")]);
    assert_eq!(settings, (changed(20, &[]), true));
    let settings = save(21, &[("settings.sjson", Some("x = "), "x = 3")]);
    assert_eq!(settings, (changed(21, &[]), true));
    // They were reported once.
    assert_eq!(save(22, &[]), (changed(22, &[]), false));
}

#[test]
fn files_that_stay_empty_or_away_are_reported() {
    let scene = patient("stays", QUIET * 10, compile::compile_without_index);
    let texts = |name: &str| vec![name.to_string()];
    scene.replace("a.config", "");
    assert_eq!(scene.next(LONG), only("a.config", ""));
    scene.replace("a.config", "full");
    assert_eq!(scene.next(LONG), only("a.config", ""));
    scene.replace("new.lua", "");
    assert_eq!(scene.next(LONG), only("new.lua", ""));
    std::fs::remove_file(scene.path("a.config")).unwrap();
    assert_eq!(scene.next(LONG), Some((vec![], texts("a.config"))));
}

#[test]
fn scripts_and_settings_are_examined_before_they_are_used() {
    let scene = patient("texts", PATIENT, compile::compile_without_index);
    let state = |settings: &str| WatchState {
        last_index: crate::compile::read_index(&scene.path(".data")),
        settings: Some(settings.into()),
        reported: Vec::new(),
        failed: Vec::new(),
        look_count: 0,
        guard: watcher(&std::fs::canonicalize(&scene.root).unwrap(), channel().0).unwrap(),
    };
    let (outbox, _results) = channel();
    let folder = WatchedFolder {
        root: scene.root.clone(),
        canonical_root: std::fs::canonicalize(&scene.root).unwrap(),
        data: scene.path(".data"),
        platform: "linux".into(),
        kinds: KINDS,
        how: WatchFunctions {
            syntax_check: |_, text| text.ends_with('=').then(|| "no".into()),
            ..functions(watcher, compile::compile_without_index)
        },
        exclude: Vec::new(),
        inbox: channel().1,
        outbox,
    };
    let check = |file: &str, text: &str, unfinished: bool| {
        std::fs::write(scene.path(file), text).unwrap();
        let touched = HashSet::from([folder.canonical_root.join(file)]);
        assert_eq!(folder.is_unfinished(&touched, &state("x = 1")), unfinished, "{file}: {text:?}");
    };
    check("a.lua", "x =", true);
    check("a.lua", "x = 1", false);
    check("new.lua", "x =", true);
    check("new.lua", "", false);
    check("a.txt", "", true);
    check("new.txt", "", false);
    check("settings.sjson", "", true);
    check("settings.sjson", "x = [", true);
    check("settings.sjson", "x = 2", false);
    let many = (0..=EXAMINED_MAX).map(|at| scene.path(&format!("{at}.lua"))).collect();
    assert!(!folder.is_unfinished(&many, &state("")), "a checkout is no save of an editor");
    assert!(!folder.is_unfinished(&HashSet::from([scene.path("gone.lua")]), &state("")));
}

#[test]
fn a_panic_while_compiling_does_not_end_the_watch() {
    let scene = Scene::new("fault", &[("a.txt", "one"), ("b.txt", "one")], watcher);
    std::fs::write(scene.path("a.txt"), "fall").unwrap();
    let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("the panic is reported");
    let [message] = &compiled.problems[..] else { panic!("{:?}", compiled.problems) };
    assert!(message.starts_with("a.txt: the engine failed at the text 'a': "), "{message}");
    assert!(message.contains("the compiler fell"), "{message}");
    for text in ["two", "three"] {
        std::fs::write(scene.path("b.txt"), text).unwrap();
        assert_eq!(scene.next(LONG), only("b.text", ""));
    }
    std::fs::write(scene.path("a.txt"), "two").unwrap();
    assert_eq!(scene.next(LONG), only("a.text", ""));
}

/// Number of panics left for the test that runs next.
static FAILURES: Mutex<u32> = Mutex::new(0);

/// Compile function that panics before it reads a file, as often as `FAILURES` says.
fn compile_that_panics(
    target: &CompileTarget,
    progress: OnCompileProgress,
) -> Result<(CompileResult, ResourceIndex), Error> {
    let mut failures = panic::lock(&FAILURES);
    if *failures > 0 {
        *failures -= 1;
        panic!("the watch fell");
    }
    drop(failures);
    compile::compile_without_index(target, progress)
}

#[test]
fn a_panic_in_a_scan_loses_no_change() {
    let files = [("a.txt", "one"), ("b.txt", "one"), ("settings.sjson", "")];
    let scene = Scene::with("watch_fault", &files, functions(watcher, compile_that_panics));
    let errors = log::error_count();
    // The noticed changes are compiled again automatically, including the settings.
    *panic::lock(&FAILURES) = 1;
    std::fs::write(scene.path("settings.sjson"), "name = \"x\"").unwrap();
    std::fs::write(scene.path("a.txt"), "two").unwrap();
    let mut settings = false;
    let mut changed = Vec::new();
    while !settings || changed.is_empty() {
        let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("nothing is lost");
        settings |= compiled.settings;
        changed.extend(compiled.changed.iter().map(ToString::to_string));
    }
    assert_eq!(changed, ["a.text"]);
    assert_eq!(*panic::lock(&FAILURES), 0);
    let errors_logged = log::errors_since(errors);
    let start = "watching the game's folder failed: the engine failed: the watch fell";
    assert!(errors_logged.iter().any(|message| message.starts_with(start)), "{errors_logged:?}");
    // A persistent failure is not retried forever; the next change triggers a new attempt.
    *panic::lock(&FAILURES) = 2;
    std::fs::write(scene.path("a.txt"), "three").unwrap();
    let end = Instant::now() + LONG;
    while *panic::lock(&FAILURES) > 0 {
        assert!(Instant::now() < end, "it is looked at");
        std::thread::sleep(QUIET);
    }
    std::fs::write(scene.path("b.txt"), "two").unwrap();
    let mut changed = scene.next(LONG).unwrap().0;
    while changed.len() < 2 {
        changed.extend(scene.next(LONG).unwrap().0);
    }
    changed.sort();
    assert_eq!(changed, ["a.text", "b.text"]);
}

#[test]
fn a_panic_at_an_event_causes_a_full_scan() {
    let (wake_sender, inbox) = channel();
    send_wake_reason(&wake_sender, || None);
    assert!(inbox.try_recv().is_err());
    send_wake_reason(&wake_sender, || panic!("at an event"));
    assert!(matches!(inbox.try_recv(), Ok(WakeReason::Changed(_))));
}

#[test]
fn a_panic_fails_only_one_scan() {
    let looks = Mutex::new(0_u64);
    let look = move || {
        let mut count = panic::lock(&looks);
        *count += 1;
        assert!(!count.is_multiple_of(3), "at look {count}");
        // A file that is longer each time.
        let state = FileState { size: *count, ..FileState::default() };
        Ok(vec![folder_scan::ScannedFile { path: "a.txt".to_string(), state }])
    };
    let (wake_sender, inbox) = channel();
    let _poll = PollingWatcher::start(Duration::from_millis(1), look, wake_sender).unwrap();
    for _ in 0..10 {
        let notice = inbox.recv_timeout(LONG);
        assert!(matches!(notice, Ok(WakeReason::Changed(_))), "it goes on");
    }
}

/// Returns the inode numbers of the folders that this process watches.
#[cfg(target_os = "linux")]
fn watched_numbers() -> HashSet<u64> {
    let entries = std::fs::read_dir("/proc/self/fdinfo").unwrap();
    let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok());
    let all = texts.collect::<String>();
    let lines = all.lines().filter(|line| line.starts_with("inotify "));
    let number = |line: &str| {
        let part = line.split(' ').find_map(|part| part.strip_prefix("ino:"))?;
        u64::from_str_radix(part, 16).ok()
    };
    lines.filter_map(number).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn links_are_followed_only_inside_the_game_folder() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let outside = std::env::temp_dir().join(format!("engine-{}-outside", std::process::id()));
    let _ = std::fs::remove_dir_all(&outside);
    let folders: Vec<PathBuf> = (0..300).map(|i| outside.join(format!("folder{i}"))).collect();
    folders.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let mut scene = Scene::new("links", &[("a.txt", "one")], watcher);
    let number = |path: &Path| std::fs::metadata(path).unwrap().ino();
    std::fs::create_dir_all(scene.path(".shared/deep")).unwrap();
    std::fs::create_dir_all(scene.path("folder/deep")).unwrap();
    std::fs::write(scene.path(".shared/deep/b.txt"), "one").unwrap();
    symlink(&outside, scene.path("folder/all")).unwrap();
    symlink(&outside, scene.path("all")).unwrap();
    symlink(scene.path(".shared"), scene.path("shared")).unwrap();
    let until = |scene: &Scene, wanted: &str| {
        while !scene.next(LONG).expect("it is noticed").0.iter().any(|name| name == wanted) {}
    };
    until(&scene, "shared/deep/b.text");
    // A write into the hidden folder is reported under its linked name.
    std::fs::write(scene.path(".shared/deep/b.txt"), "two").unwrap();
    until(&scene, "shared/deep/b.text");
    std::fs::write(scene.path(".shared/c.txt"), "one").unwrap();
    until(&scene, "shared/c.text");
    // The same holds for a watch that finds an existing link. It may start to watch after the first
    // change.
    let again = ProjectWatcher::start(
        &scene.root,
        &scene.path(".data"),
        "linux",
        KINDS,
        |_, _| None,
        Vec::new(),
    )
    .unwrap();
    scene.watch = Some(again);
    let end = Instant::now() + LONG;
    for turn in 0.. {
        std::fs::write(scene.path(".shared/c.txt"), format!("turn {turn}")).unwrap();
        if scene
            .next(Duration::from_millis(200))
            .is_some_and(|(names, _)| names == ["shared/c.text"])
        {
            break;
        }
        assert!(Instant::now() < end, "it is not noticed");
    }
    let watched = watched_numbers();
    assert!(watched.contains(&number(&scene.path("folder/deep"))), "{watched:?}");
    let away = folders.iter().chain([&outside]).filter(|path| watched.contains(&number(path)));
    assert_eq!(away.count(), 0, "folders outside of the game's are watched");
    drop(scene);
    std::fs::remove_dir_all(&outside).unwrap();
}

#[test]
fn polling_finds_every_change_without_system_events() {
    let scene = Scene::new("poll", &[("a.txt", "one"), ("b.txt", "one")], polling);
    std::fs::create_dir_all(scene.path(".hidden")).unwrap();
    std::fs::write(scene.path(".hidden/a.txt"), "one").unwrap();
    assert_eq!(scene.next(POLL * 3), None, "hidden folders are not looked at");
    // A change within the same second as the previous change, with the same length, and one with an
    // older time.
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
fn a_directly_overwritten_file_is_compiled_when_closed() {
    if !REPORTS_CLOSING {
        return;
    }
    let scene = patient("in_place", PATIENT, compile::compile_without_index);
    let path = scene.path("a.txt");
    let mut file = std::fs::File::create(&path).unwrap();
    // Much longer than the quiet time that ends other bursts.
    assert_eq!(scene.next(QUIET * 20), None, "the emptied file was taken");
    file.write_all(b"two").unwrap();
    drop(file);
    assert_eq!(scene.next(LONG), only("a.text", ""));
    assert_eq!(scene.next(QUIET * 20), None, "it was taken twice");
    drop(scene);
    // The wait for a file that stays open is limited.
    let scene = patient("stays_open", QUIET * 10, compile::compile_without_index);
    let open = std::fs::File::create(scene.path("a.config")).unwrap();
    assert_eq!(scene.next(LONG), only("a.config", ""));
    drop(open);
}

#[test]
fn a_burst_lasts_until_the_files_of_it_are_closed() {
    let path = |name: &str| PathBuf::from(name);
    let mut debouncer = Debouncer::of(WakeReason::Writing(path("a")));
    debouncer.record(WakeReason::Writing(path("b")));
    debouncer.record(WakeReason::Written(path("a")));
    // The burst has just begun, however slow this test is.
    debouncer.began = Instant::now() + PATIENT;
    assert!(debouncer.quiet_wait().is_some_and(|wait| wait > QUIET));
    debouncer.record(WakeReason::Written(path("b")));
    assert_eq!(debouncer.quiet_wait(), Some(QUIET));
    debouncer.record(WakeReason::Writing(path("c")));
    debouncer.began = Instant::now() - PATIENT;
    assert_eq!(debouncer.quiet_wait(), None);
}
