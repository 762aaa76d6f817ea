//! Watch mode (`--watch`): finds the files that changed since the last run, and the tests that
//! depend on them by the module names in their scripts. Runs those tests again until the process is
//! asked to end.

use super::test_run::TestRun;
use super::{RunAborted, discovery, replay_test};
use crate::exit;
use engine_foundation::file_access::{self, AccessError, EntryKind, FileState, readers};
use engine_foundation::hash::{StateHash, murmur64a};
use engine_foundation::log;
use engine_platform as platform;
use engine_resource::project::Project;
use engine_resource::settings;
use engine_resource::watcher::FolderWatch;
use engine_script::resource::string_literals;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Interval at which the process checks whether it was asked to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum depth of searched folders, as for tests.
const DEPTH_MAX: usize = discovery::DEPTH_MAX;

/// Runs all tests, then after each change those that it affects, until the process is asked to end.
/// Returns the exit code of the last run.
pub fn watch(run: &mut TestRun) -> Result<i32, RunAborted> {
    platform::install_signal_handlers();
    let watch = FolderWatch::start(&run.root).map_err(|reason| RunAborted {
        code: exit::FAILED,
        message: format!("'{}' cannot be watched: {reason}", run.root.display()),
    })?;
    let mut known = FolderHashes::of(&run.root);
    let mut code = exit::SUCCESS;
    let mut files = |run: &mut TestRun, only: Option<&BTreeSet<String>>| {
        let now = run.files(only)?;
        // The exit code of an aborted run has no meaning.
        if platform::end_requested().is_none() {
            code = now;
        }
        Ok::<(), RunAborted>(())
    };
    files(run, None)?;
    while platform::end_requested().is_none() {
        if !watch.wait(POLL_INTERVAL) {
            continue;
        }
        let now = FolderHashes::of(&run.root);
        let changed = now.changed_since(&known);
        known = now;
        if changed.is_empty() {
            continue;
        }
        let names: Vec<&str> = changed.iter().map(String::as_str).collect();
        log::info(&format!("\nchanged: {}", names.join(", ")));
        let touched = affected_tests(run, &changed)?;
        match touched.is_empty() {
            true => log::info("no test depends on it"),
            false => files(run, Some(&touched))?,
        }
    }
    Ok(code)
}

/// Returns a hash of a file's metadata (size, times, inode), used for files that are too large to
/// read.
fn hash_of_state(state: &FileState) -> u64 {
    let FileState { size, modified, changed, inode } = *state;
    let mut hash = StateHash::new(0);
    for number in [size, modified, changed, inode] {
        hash.write_u64(number);
    }
    hash.finish()
}

/// Hashes of all files in a folder, without hidden and third-party files.
struct FolderHashes {
    files: BTreeMap<String, u64>,
}

impl FolderHashes {
    fn of(root: &Path) -> FolderHashes {
        let mut contents = FolderHashes { files: BTreeMap::new() };
        contents.add(root, "", 0);
        contents
    }

    fn add(&mut self, root: &Path, inside: &str, depth: usize) {
        // An unreadable folder counts as missing until it becomes readable.
        let Ok(listing) = file_access::list_states(root, inside) else { return };
        for entry in listing.entries {
            let name = entry.name.to_string_lossy().into_owned();
            let path = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
            if discovery::is_foreign(&name) {
                continue;
            }
            match entry.kind {
                // Links to folders are not followed, because they could form a cycle.
                EntryKind::Folder if !entry.is_link && depth < DEPTH_MAX => {
                    self.add(root, &path, depth + 1);
                }
                EntryKind::File => {
                    let hash = match file_access::read(root, &path, &readers::WATCHED) {
                        Ok(bytes) => murmur64a(&bytes, 0),
                        Err(AccessError::Size(_)) => hash_of_state(&entry.state),
                        Err(_) => continue,
                    };
                    self.files.insert(path, hash);
                }
                _ => {}
            }
        }
    }

    /// Returns the files that were added, removed or modified.
    fn changed_since(&self, before: &FolderHashes) -> BTreeSet<String> {
        let differs = |a: &FolderHashes, b: &FolderHashes| -> Vec<String> {
            let changed = a.files.iter().filter(|(path, hash)| b.files.get(*path) != Some(hash));
            changed.map(|(path, _)| path.clone()).collect()
        };
        differs(self, before).into_iter().chain(differs(before, self)).collect()
    }
}

/// Returns the test files that changes affect. Any test may read a file that is not a script. A
/// recording depends on the whole game.
fn affected_tests(
    run: &TestRun,
    changed: &BTreeSet<String>,
) -> Result<BTreeSet<String>, RunAborted> {
    let (found, options) = run.find()?;
    let outputs = options.output_files.iter().map(|(_, file)| file);
    let written: Vec<_> =
        [&options.coverage, &options.api_coverage].into_iter().flatten().chain(outputs).collect();
    let is_written = |path: &str| written.iter().any(|file| file.ends_with(path));
    let script = |path: &str| path.ends_with(".lua");
    let mut changed = changed.iter().filter(|path| !is_written(path)).peekable();
    if changed.peek().is_none() {
        return Ok(BTreeSet::new());
    }
    let changed: BTreeSet<&String> = changed.collect();
    let helped = options.helper.as_ref().is_some_and(|helper| changed.contains(helper));
    let recordings = |path: &String| replay_test::is_recording(path);
    if helped || changed.iter().any(|path| !script(path) && !recordings(path)) {
        return Ok(found.files.into_iter().collect());
    }
    let (project, boot) = (Project::open(&run.root)?, boot_script(&run.root));
    let mut graph = ModuleGraph { project, boot, visited: BTreeSet::new() };
    let scripts = changed.iter().any(|path| script(path));
    let touches = |file: &String| {
        if replay_test::is_recording(file) {
            return scripts || changed.contains(file);
        }
        graph.visited.clear();
        let folders = discovery::script_folders(&run.root, file, &options.lpath);
        graph.project.script_folders = folders;
        graph.visit(file);
        graph.visited.iter().any(|path| changed.contains(path))
    };
    Ok(found.files.into_iter().filter(touches).collect())
}

/// Returns the script that `test.boot` starts.
fn boot_script(root: &Path) -> String {
    let settings = settings::Settings::read(root, platform::NAME);
    settings.map_or("main".to_string(), |settings| settings.text("boot_script").to_string())
}

/// The dependencies of a script: the modules that its strings name, and their dependencies.
struct ModuleGraph {
    project: Project,
    boot: String,
    visited: BTreeSet<String>,
}

impl ModuleGraph {
    fn visit(&mut self, path: &str) {
        let mut waiting = vec![path.to_string()];
        while let Some(path) = waiting.pop() {
            if !self.visited.insert(path.clone()) {
                continue;
            }
            let Ok(Some(text)) = self.project.read(&path) else { continue };
            let mut names: Vec<&str> = string_literals(&text);
            if text.contains("test.boot") {
                names.push(&self.boot);
            }
            for name in names {
                if let Ok(script) = self.project.script(name) {
                    waiting.push(script.chunk);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestOptions;
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_plain_files_are_compared() {
        let base = std::env::temp_dir().join(format!("engine-{}-compared", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        let root = base.join("game");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(base.join("outside"), "private").unwrap();
        std::fs::write(root.join("a.lua"), "return 1").unwrap();
        let status = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(status.expect("every system has it").success());
        std::os::unix::fs::symlink("/dev/zero", root.join("device")).unwrap();
        std::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        let files = FolderHashes::of(&root).files;
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a.lua"]);
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn a_change_selects_tests_that_depend_on_it_indirectly() {
        let root = std::env::temp_dir().join(format!("engine-{}-changed", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let files = [
            ("main.lua", "require 'enemy'"),
            ("enemy.lua", "local deep = require('src.deep')"),
            ("src/deep.lua", "return require \"enemy\""),
            ("other.lua", "return 1"),
            ("a_test.lua", "test.boot()"),
            ("b_test.lua", "require 'src.deep'"),
            ("c_test.lua", "require 'other'"),
        ];
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let before = FolderHashes::of(&root);
        assert!(FolderHashes::of(&root).changed_since(&before).is_empty());
        let run = TestRun::new(&TestOptions::new(root.clone())).unwrap();
        let tests = |path: &str, text: &str| {
            let before = FolderHashes::of(&root);
            std::fs::write(root.join(path), text).unwrap();
            let changed = FolderHashes::of(&root).changed_since(&before);
            assert_eq!(changed.iter().map(String::as_str).collect::<Vec<_>>(), [path]);
            affected_tests(&run, &changed).unwrap().into_iter().collect::<Vec<_>>()
        };
        let deep = "return require \"enemy\" -- new";
        assert_eq!(tests("src/deep.lua", deep), ["a_test.lua", "b_test.lua"]);
        assert_eq!(tests("other.lua", "return 2"), ["c_test.lua"]);
        assert_eq!(tests("b_test.lua", "x"), ["b_test.lua"]);
        assert_eq!(tests("lonely.lua", "x"), [""; 0]);
        assert_eq!(tests("words.txt", "x"), ["a_test.lua", "b_test.lua", "c_test.lua"]);
        std::fs::remove_dir_all(root).unwrap();
    }
}
