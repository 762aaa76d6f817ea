//! Tests of the data compiler, on games that consist of texts.

use super::super::resource_kind::SourceForm;
use super::super::variant::Platforms;
use super::*;
use std::time::{Duration, SystemTime};

/// Path of the file that `replace` writes.
static REPLACED: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();

/// Number of lines with a `?` that were compiled.
static FAILURES: AtomicUsize = AtomicUsize::new(0);

/// Text in capitals. `use PATH` includes a file, `see NAME` refers to a text, `replace` changes a
/// file. `!` and `?` cannot be compiled, and `fall` makes the compiler panic.
const TEXT: ResourceKind = ResourceKind {
    name: "text",
    doc: "Text in capitals",
    extensions: &[("text", SourceForm::Own), ("txt", SourceForm::Raw)],
    version: 1,
    framed: false,
    reload: &[],
    compile: |context| {
        let text = context.text()?.to_string();
        let mut out = String::new();
        for (i, line) in text.lines().enumerate() {
            if let Some(path) = line.strip_prefix("use ") {
                let bytes = context.read(path)?;
                out += &String::from_utf8_lossy(&bytes);
            } else if let Some(name) = line.strip_prefix("see ") {
                context.refer("text", name);
            } else if line.starts_with("replace ") {
                fs::write(REPLACED.get().unwrap(), "something new").unwrap();
            } else if line == "?" {
                FAILURES.fetch_add(1, Ordering::Relaxed);
                return Err(context.error_at(i + 1, "a '?' cannot be compiled: remove it"));
            } else if line == "fall" {
                panic!("it fell at line {}", i + 1);
            } else if line == "fall beside" {
                // Panics on a separate thread, like compilers that have one.
                panic::run_with_stack("test", 1 << 20, || panic!("it fell at line {}", i + 1))?;
            } else if line == "no thread" {
                let error = error!("{}: no thread could be started", context.path);
                return Err(Error { is_transient: true, ..error });
            } else if line == "!" {
                return Err(context.error_at(i + 1, "a '!' cannot be compiled: remove it"));
            }
            out += &line.to_uppercase();
        }
        Ok(out.into_bytes())
    },
    validate: |data| match data.ends_with(b"UNPLAYABLE") {
        true => Err(error!("it is damaged: it cannot be played")),
        false => Ok(()),
    },
};
const TEXT_2: ResourceKind = ResourceKind { version: 2, ..TEXT };
static KINDS: &[&ResourceKind] = &[&TEXT];
static KINDS_2: &[&ResourceKind] = &[&TEXT_2];

struct Game {
    root: PathBuf,
    kinds: ResourceKinds,
    platform: &'static str,
}

impl Game {
    fn new(name: &str, files: &[(&str, &str)]) -> Game {
        let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let game = Game { root, kinds: ResourceKinds(KINDS), platform: "linux" };
        for (path, text) in files {
            game.save(path, text);
        }
        game
    }

    fn save(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn compile(&self) -> CompileResult {
        self.try_compile().unwrap()
    }

    fn try_compile(&self) -> Result<CompileResult, Error> {
        let target = CompileTarget {
            root: &self.root,
            data: data_folder(&self.root, self.platform),
            kinds: self.kinds,
            source_platform: self.platform,
            release: false,
            exclude: &[],
            threads: 2,
        };
        compile(&target, &|_, _| {})
    }

    fn data(&self, compiled: &CompileResult, name: &str, properties: &str) -> String {
        let variants = compiled.index.variants(&ResourceName::new("text", name));
        let found = variants.iter().find(|entry| entry.properties.to_string() == properties);
        let path = data_folder(&self.root, self.platform).join(&found.unwrap().data);
        fs::read_to_string(path).unwrap()
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn names(list: &[ResourceName]) -> Vec<String> {
    list.iter().map(|name| name.to_string()).collect()
}

#[test]
fn only_changed_resources_are_recompiled() {
    let mut game = Game::new("incremental", &[("a.txt", "one"), ("b.txt", "two")]);
    assert_eq!(names(&game.compile().changed), ["a.text", "b.text"]);
    assert!(game.compile().changed.is_empty());
    game.save("a.txt", "uno");
    let compiled = game.compile();
    assert_eq!(names(&compiled.changed), ["a.text"]);
    assert_eq!(game.data(&compiled, "a", ""), "UNO");
    game.save("b.txt", "two");
    assert!(game.compile().changed.is_empty(), "another time and the same content");
    game.kinds = ResourceKinds(KINDS_2);
    assert!(game.compile().changed.is_empty(), "a new format that gives the same data");
}

#[test]
fn a_change_of_a_dependency_recompiles_its_dependents() {
    let game = Game::new("readers", &[("a.txt", "use part.inc"), ("part.inc", "x")]);
    assert_eq!(game.data(&game.compile(), "a", ""), "xUSE PART.INC");
    game.save("part.inc", "longer");
    let compiled = game.compile();
    assert_eq!(names(&compiled.changed), ["a.text"]);
    assert_eq!(game.data(&compiled, "a", ""), "longerUSE PART.INC");
}

#[test]
fn a_compiler_that_panics_fails_only_the_resource() {
    let game = Game::new("fault", &[("a.txt", "one"), ("b.txt", "fall"), ("c.txt", "three")]);
    for text in ["fall", "fall beside"] {
        game.save("b.txt", text);
        let compiled = game.compile();
        let [message] = &compiled.problems[..] else { panic!("{:?}", compiled.problems) };
        let start = "b.txt: the engine failed at the text 'b': it fell at line 1";
        assert!(message.starts_with(start), "{message}");
        assert!(message.ends_with(": export the file again, and report this"), "{message}");
        assert_eq!(compiled.index.entries.len(), 2);
        assert!(compiled.index.broken.is_empty(), "an engine without the fault tries it again");
        assert_eq!(game.compile().problems, std::slice::from_ref(message), "it is tried again");
    }
    game.save("b.txt", "no thread");
    let compiled = game.compile();
    assert_eq!(compiled.problems, ["b.txt: no thread could be started"]);
    assert!(compiled.index.broken.is_empty(), "the next compile may have one");
    game.save("b.txt", "two");
    let compiled = game.compile();
    assert_eq!(names(&compiled.changed), ["b.text"]);
    game.save("b.txt", "fall");
    let compiled = game.compile();
    assert_eq!(game.data(&compiled, "b", ""), "TWO", "the last good data stays");
}

#[cfg(target_os = "linux")]
#[test]
fn the_calling_thread_compiles_if_no_thread_can_start() {
    let game = Game::new("no_thread", &[("a.txt", "one"), ("b.txt", "two")]);
    let target = CompileTarget {
        root: &game.root,
        data: data_folder(&game.root, game.platform),
        kinds: game.kinds,
        source_platform: game.platform,
        release: false,
        exclude: &[],
        threads: 2,
    };
    let scanned = folder_scan::group_by_resource(
        folder_scan::files(&game.root).unwrap(),
        &game.kinds,
        game.platform,
        &Platforms::default(),
    );
    let last = ResourceIndex::default();
    let (jobs, _) = plan_jobs(&target, &scanned, &last, &HashSet::new());
    // Thread creation fails because of the huge stack size: either some threads start, or none.
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let none = || Builder::new().stack_size(1 << 60);
    let first_alone = || match STARTED.fetch_add(1, Ordering::Relaxed) {
        0 => Builder::new(),
        _ => Builder::new().stack_size(1 << 60),
    };
    for builder in [none as fn() -> Builder, first_alone] {
        let done = run_jobs_with(builder, &target, &jobs, &|_, _| {});
        assert_eq!(done.iter().filter(|done| done.entry.is_some()).count(), 2);
    }
    assert_eq!(STARTED.load(Ordering::Relaxed), 2);
}

#[test]
fn all_errors_are_reported_and_the_last_good_data_is_kept() {
    let game = Game::new("errors", &[("a.txt", "one"), ("b.txt", "two")]);
    game.compile();
    game.save("a.txt", "one\n!");
    game.save("b.txt", "use ../../secret");
    let compiled = game.compile();
    let wanted = [
        "a.txt:2: a '!' cannot be compiled: remove it",
        "b.txt: '../../secret' cannot be read: only files in the game's folder can be read",
    ];
    assert_eq!(compiled.problems, wanted);
    assert!(compiled.changed.is_empty());
    assert_eq!(game.data(&compiled, "a", ""), "ONE");
    assert_eq!(game.compile().problems, wanted, "an error is reported until it is fixed");
}

#[test]
fn data_that_cannot_be_opened_is_reported_while_compiling() {
    let game = Game::new("unplayable", &[("a.txt", "one")]);
    game.compile();
    game.save("a.txt", "unplayable");
    let compiled = game.compile();
    assert_eq!(compiled.problems, ["a.txt: it is damaged: it cannot be played"]);
    assert!(compiled.changed.is_empty());
    assert_eq!(game.data(&compiled, "a", ""), "ONE", "the last good data stays");
}

#[test]
fn broken_sources_are_not_recompiled_until_they_change() {
    let files = [("a.txt", "?"), ("b.txt", "b"), ("c.txt", "use part.inc\nuse late.inc")];
    let game = Game::new("remembered", &[files[0], files[1], files[2], ("part.inc", "x")]);
    let count = || {
        let before = FAILURES.load(Ordering::Relaxed);
        let problems = game.compile().problems;
        (FAILURES.load(Ordering::Relaxed) - before, problems)
    };
    let message = "a.txt:1: a '?' cannot be compiled: remove it";
    let late = "c.txt: 'late.inc' cannot be read: there is no such file";
    assert_eq!(count(), (1, vec![message.to_string(), late.to_string()]));
    game.save("b.txt", "another file is saved");
    assert_eq!(count(), (0, vec![message.to_string(), late.to_string()]));
    game.save("a.txt", "?");
    assert_eq!(count().0, 0, "another time and the same content");
    game.save("a.txt", "? and more");
    game.save("late.inc", "y");
    assert_eq!(count(), (0, Vec::new()), "the missing file exists, and the other error is fixed");
    game.save("a.txt", "?");
    assert_eq!(count(), (1, vec![message.to_string()]));
    assert_eq!(game.data(&game.compile(), "a", ""), "? AND MORE");
}

#[test]
fn removing_a_variant_changes_its_resource() {
    let game = Game::new("variants", &[("a.txt", "base"), ("a.fr.txt", "fr")]);
    let compiled = game.compile();
    assert_eq!(game.data(&compiled, "a", "fr"), "FR");
    assert_eq!(game.data(&compiled, "a", ""), "BASE");
    fs::remove_file(game.root.join("a.fr.txt")).unwrap();
    let compiled = game.compile();
    assert_eq!(names(&compiled.changed), ["a.text"]);
    fs::remove_file(game.root.join("a.txt")).unwrap();
    let compiled = game.compile();
    assert_eq!(names(&compiled.removed), ["a.text"]);
    let left = fs::read_dir(data_folder(&game.root, "linux")).unwrap().count();
    assert_eq!(left, 1, "the index alone");
}

#[test]
fn the_reference_graph_lists_referrers() {
    let game = Game::new("graph", &[("a.txt", "see texts/b\nsee texts/b")]);
    let compiled = game.compile();
    assert_eq!(names(&compiled.index.entries[0].references), ["texts/b.text"]);
}

#[test]
fn a_new_resource_file_replaces_the_raw_file_of_its_name() {
    let game = Game::new("own", &[("a.txt", "raw")]);
    game.compile();
    game.save("a.text", "use a.txt");
    let compiled = game.compile();
    assert_eq!(game.data(&compiled, "a", ""), "rawUSE A.TXT");
    game.save("a.txt", "other");
    assert_eq!(game.data(&game.compile(), "a", ""), "otherUSE A.TXT");
}

#[test]
fn a_damaged_index_and_a_missing_file_are_rebuilt() {
    let game = Game::new("damage", &[("a.txt", "one")]);
    game.compile();
    let folder = data_folder(&game.root, "linux");
    fs::write(folder.join(index::FILE), "not an index").unwrap();
    let compiled = game.compile();
    assert_eq!(game.data(&compiled, "a", ""), "ONE");
    fs::remove_file(folder.join(&compiled.index.entries[0].data)).unwrap();
    let compiled = game.compile();
    assert_eq!(names(&compiled.changed), ["a.text"]);
    assert_eq!(game.data(&compiled, "a", ""), "ONE");
}

#[test]
fn a_file_that_changes_while_compiled_is_recompiled() {
    let game = Game::new("meanwhile", &[("a.txt", "replace a.txt"), ("b.txt", "x")]);
    let file = game.root.join("a.txt");
    // Another text with the same length and, as under a coarse clock, with the same time.
    let time = SystemTime::now() + Duration::from_secs(60);
    let set_time = || fs::File::options().append(true).open(&file)?.set_modified(time);
    set_time().unwrap();
    REPLACED.set(file.clone()).unwrap();
    assert_eq!(game.data(&game.compile(), "a", ""), "REPLACE A.TXT");
    set_time().unwrap();
    assert_eq!(game.data(&game.compile(), "a", ""), "SOMETHING NEW");
}

#[cfg(unix)]
#[test]
fn changed_content_of_equal_size_and_time_is_recompiled() {
    let files = [("a.txt", "one"), ("b.txt", "use part.inc"), ("part.inc", "one")];
    let game = Game::new("same_times", &files);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_000_000_007);
    let put = |path: &str, text: &str| {
        game.save(path, text);
        let file = fs::File::options().append(true).open(game.root.join(path)).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    put("a.txt", "one");
    put("part.inc", "one");
    // Waits for a clock tick. From here on the times are reliable.
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(game.data(&game.compile(), "a", ""), "ONE");
    assert!(game.compile().changed.is_empty());
    put("a.txt", "two");
    put("part.inc", "two");
    let compiled = game.compile();
    assert_eq!(names(&compiled.changed), ["a.text", "b.text"]);
    assert_eq!(game.data(&compiled, "a", ""), "TWO");
    assert_eq!(game.data(&compiled, "b", ""), "twoUSE PART.INC");
    // Another file with the same size and time, moved to the old path.
    put("c.inc", "six");
    fs::rename(game.root.join("c.inc"), game.root.join("a.txt")).unwrap();
    assert_eq!(game.data(&game.compile(), "a", ""), "SIX");
}

#[cfg(debug_assertions)]
#[test]
fn without_change_times_contents_are_compared() {
    let game = Game::new("no_change_times", &[("a.txt", "one"), ("b.txt", "use part.inc")]);
    let put = |path: &str, text: &str| {
        game.save(path, text);
        let file = fs::File::options().append(true).open(game.root.join(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(1_000_000_007)).unwrap();
    };
    // Applies to this thread only.
    file_access::NO_CHANGE_TIMES.set(true);
    let compiled = || {
        let target = CompileTarget {
            root: &game.root,
            data: data_folder(&game.root, game.platform),
            kinds: game.kinds,
            source_platform: game.platform,
            release: false,
            exclude: &[],
            threads: 1,
        };
        compile(&target, &|_, _| {}).unwrap()
    };
    put("a.txt", "one");
    put("part.inc", "one");
    put("b.txt", "use part.inc");
    assert_eq!(game.data(&compiled(), "a", ""), "ONE");
    let again = compiled();
    assert!(again.changed.is_empty());
    assert!(again.index.entries.iter().all(|entry| entry.files[0].state.changed == 0));
    put("a.txt", "two");
    put("part.inc", "two");
    let found = compiled();
    assert_eq!(names(&found.changed), ["a.text", "b.text"]);
    assert_eq!(game.data(&found, "a", ""), "TWO");
    assert_eq!(game.data(&found, "b", ""), "twoUSE PART.INC");
    put("a.txt", "!!!");
    assert!(compiled().problems.is_empty());
    put("a.txt", "\n!\n");
    assert_eq!(compiled().problems.len(), 1);
    assert_eq!(compiled().problems.len(), 1);
    put("a.txt", "six");
    assert!(compiled().problems.is_empty(), "the same size and time, and nothing wrong with it");
    file_access::NO_CHANGE_TIMES.set(false);
}

#[cfg(unix)]
#[test]
fn foreign_files_at_compiled_paths_are_ignored_and_replaced() {
    let game = Game::new("in_place", &[("a.txt", "one")]);
    let data = data_folder(&game.root, "linux").join(&game.compile().index.entries[0].data);
    let elsewhere = game.root.join("elsewhere");
    let link = |at: &PathBuf| std::os::unix::fs::symlink(&elsewhere, at).unwrap();
    let pipe = |at: &PathBuf| {
        let status = std::process::Command::new("mkfifo").arg(at).status().expect("mkfifo runs");
        assert!(status.success());
    };
    for put in [&link as &dyn Fn(&PathBuf), &pipe] {
        fs::write(&elsewhere, "mine").unwrap();
        fs::remove_file(&data).unwrap();
        put(&data);
        assert_eq!(game.data(&game.compile(), "a", ""), "ONE");
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    }
    let index = data.with_file_name(index::FILE);
    fs::remove_file(&index).unwrap();
    pipe(&index);
    assert_eq!(game.data(&game.compile(), "a", ""), "ONE");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_or_removed_through_a_link() {
    let (game, outside) = (Game::new("linked", &[("a.txt", "one")]), Game::new("outside", &[]));
    outside.save("data/linux/0123456789abcdef", "not ours");
    std::os::unix::fs::symlink(&outside.root, game.root.join(".engine")).unwrap();
    let message = game.try_compile().unwrap_err().message;
    assert!(
        message.ends_with(".engine is a link, and compiled data stays here: remove it"),
        "{message}"
    );
    let left = fs::read_dir(outside.root.join("data/linux")).unwrap().count();
    assert_eq!(left, 1, "what was there");
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_within_the_game() {
    let outside = Game::new("elsewhere", &[("secret.txt", "secret")]);
    let game = Game::new("links", &[("a.txt", "one"), ("deep/b.txt", "two")]);
    let link = |to: &std::path::Path, at: &str| {
        std::os::unix::fs::symlink(to, game.root.join(at)).unwrap();
    };
    link("deep/b.txt".as_ref(), "inside.txt");
    link(&outside.root.join("secret.txt"), "stolen.txt");
    link(&outside.root, "art");
    game.save("asks.txt", "use stolen.txt");
    let compiled = game.compile();
    assert_eq!(game.data(&compiled, "inside", ""), "TWO");
    let out = "a link leads out of the game's folder, and only files in it can be read: copy into \
               the folder what it leads to";
    // A folder is refused as a whole: its contents are not even listed.
    let subjects = ["art", "asks.txt: 'stolen.txt' cannot be read", "stolen.txt"];
    let wanted = subjects.map(|subject| format!("{subject}: {out}"));
    let mut problems = compiled.problems.clone();
    problems.sort();
    assert_eq!(problems, wanted);
}
