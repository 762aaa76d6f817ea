//! `--watch`: which files changed since the last run, and which tests they touch, by the names in
//! the scripts that may be those of modules. Runs them again until the process is asked to end.

use super::run::Run;
use super::{Stop, discovery, recording};
use crate::app::exit;
use crate::foundation::file_access::{self, EntryKind, FileState, Refusal, readers};
use crate::foundation::hash::{StateHash, murmur64a};
use crate::foundation::log;
use crate::resource::project::Project;
use crate::resource::settings;
use crate::resource::watch::FolderWatch;
use crate::script::lua_kind::string_literals;
use crate::system::platform;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// How often the process looks whether it was asked to end.
const LOOK: Duration = Duration::from_millis(50);
/// Folders deep that are looked into, as for tests.
const DEPTH_MAX: usize = discovery::DEPTH_MAX;

/// Runs all tests, then those that a change touches, until the process is asked to end: the exit
/// code of the last run.
pub fn watch(run: &mut Run) -> Result<i32, Stop> {
    platform::note_signals();
    let watch = FolderWatch::start(&run.root).map_err(|reason| Stop {
        code: exit::FAILED,
        words: format!("'{}' cannot be watched: {reason}", run.root.display()),
    })?;
    let mut known = Contents::of(&run.root);
    let mut code = exit::SUCCESS;
    let mut files = |run: &mut Run, only: Option<&BTreeSet<String>>| {
        let now = run.files(only)?;
        // A run that was broken off says nothing.
        if platform::asked_to_end().is_none() {
            code = now;
        }
        Ok::<(), Stop>(())
    };
    files(run, None)?;
    while platform::asked_to_end().is_none() {
        if !watch.wait(LOOK) {
            continue;
        }
        let now = Contents::of(&run.root);
        let changed = now.changed_since(&known);
        known = now;
        if changed.is_empty() {
            continue;
        }
        let names: Vec<&str> = changed.iter().map(String::as_str).collect();
        log::info(&format!("\nchanged: {}", names.join(", ")));
        let touched = touched(run, &changed)?;
        match touched.is_empty() {
            true => log::info("no test depends on it"),
            false => files(run, Some(&touched))?,
        }
    }
    Ok(code)
}

/// A large file is compared by its size and times.
fn hash_of_state(state: &FileState) -> u64 {
    let FileState { size, modified, changed, inode } = *state;
    let mut hash = StateHash::new(0);
    for number in [size, modified, changed, inode] {
        hash.write_u64(number);
    }
    hash.finish()
}

/// A hash of every file in a folder; hidden ones and other people's are left out.
struct Contents {
    files: BTreeMap<String, u64>,
}

impl Contents {
    fn of(root: &Path) -> Contents {
        let mut contents = Contents { files: BTreeMap::new() };
        contents.add(root, "", 0);
        contents
    }

    fn add(&mut self, root: &Path, inside: &str, depth: usize) {
        // What cannot be read is as if it were not there, until it can be.
        let Ok(listing) = file_access::list_states(root, inside) else { return };
        for entry in listing.entries {
            let name = entry.name.to_string_lossy().into_owned();
            let path = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
            if discovery::is_foreign(&name) {
                continue;
            }
            match entry.kind {
                // Links to folders are not followed: they could lead in a circle.
                EntryKind::Folder if !entry.is_link && depth < DEPTH_MAX => {
                    self.add(root, &path, depth + 1);
                }
                EntryKind::File => {
                    let hash = match file_access::read(root, &path, &readers::WATCHED) {
                        Ok(bytes) => murmur64a(&bytes, 0),
                        Err(Refusal::Size(_)) => hash_of_state(&entry.state),
                        Err(_) => continue,
                    };
                    self.files.insert(path, hash);
                }
                _ => {}
            }
        }
    }

    /// The files that are new, gone, or have another content.
    fn changed_since(&self, before: &Contents) -> BTreeSet<String> {
        let differs = |a: &Contents, b: &Contents| -> Vec<String> {
            let changed = a.files.iter().filter(|(path, hash)| b.files.get(*path) != Some(hash));
            changed.map(|(path, _)| path.clone()).collect()
        };
        differs(self, before).into_iter().chain(differs(before, self)).collect()
    }
}

/// The files of tests that changes touch. What is no script may be read by any test, and all of a
/// game by a recording.
fn touched(run: &Run, changed: &BTreeSet<String>) -> Result<BTreeSet<String>, Stop> {
    let (found, options) = run.find()?;
    let written = [&options.coverage, &options.api_coverage, &options.output_file];
    let is_written =
        |path: &str| written.iter().copied().flatten().any(|file| file.ends_with(path));
    let script = |path: &str| path.ends_with(".lua");
    let mut changed = changed.iter().filter(|path| !is_written(path)).peekable();
    if changed.peek().is_none() {
        return Ok(BTreeSet::new());
    }
    let changed: BTreeSet<&String> = changed.collect();
    let helped = options.helper.as_ref().is_some_and(|helper| changed.contains(helper));
    let recordings = |path: &String| recording::is_meant(path);
    if helped || changed.iter().any(|path| !script(path) && !recordings(path)) {
        return Ok(found.files.into_iter().collect());
    }
    let (project, boot) = (Project::open(&run.root)?, boot_of(&run.root));
    let mut graph = Graph { project, boot, seen: BTreeSet::new() };
    let scripts = changed.iter().any(|path| script(path));
    let touches = |file: &String| {
        if recording::is_meant(file) {
            return scripts || changed.contains(file);
        }
        graph.seen.clear();
        let folders = discovery::script_folders(&run.root, file, &options.lpath);
        graph.project.script_folders = folders;
        graph.visit(file);
        graph.seen.iter().any(|path| changed.contains(path))
    };
    Ok(found.files.into_iter().filter(touches).collect())
}

/// The script that `test.boot` starts.
fn boot_of(root: &Path) -> String {
    let settings = settings::Settings::read(root, platform::NAME);
    settings.map_or("main".to_string(), |settings| settings.text("boot_script").to_string())
}

/// What a script needs: the modules that its strings name, and theirs.
struct Graph {
    project: Project,
    boot: String,
    seen: BTreeSet<String>,
}

impl Graph {
    fn visit(&mut self, path: &str) {
        let mut waiting = vec![path.to_string()];
        while let Some(path) = waiting.pop() {
            if !self.seen.insert(path.clone()) {
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
    use super::super::Options;
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_not_compared() {
        let base = std::env::temp_dir().join(format!("engine-{}-compared", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        let root = base.join("game");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(base.join("outside"), "private").unwrap();
        std::fs::write(root.join("a.lua"), "return 1").unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(made.expect("every system has it").success());
        std::os::unix::fs::symlink("/dev/zero", root.join("device")).unwrap();
        std::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        let files = Contents::of(&root).files;
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a.lua"]);
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn a_change_touches_the_tests_that_need_it_through_others() {
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
        let before = Contents::of(&root);
        assert!(Contents::of(&root).changed_since(&before).is_empty());
        let run = Run::new(&Options::new(root.clone())).unwrap();
        let tests = |path: &str, text: &str| {
            let before = Contents::of(&root);
            std::fs::write(root.join(path), text).unwrap();
            let changed = Contents::of(&root).changed_since(&before);
            assert_eq!(changed.iter().map(String::as_str).collect::<Vec<_>>(), [path]);
            touched(&run, &changed).unwrap().into_iter().collect::<Vec<_>>()
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
