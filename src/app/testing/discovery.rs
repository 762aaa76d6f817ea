//! Test discovery: finds the test files, and the folders in which their modules are searched. Reads
//! folders, no files.

use super::replay_test;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access::{self, AccessError, EntryKind};
use engine_foundation::{Error, log};
use engine_resource::settings;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maximum depth of folders searched for tests.
pub const DEPTH_MAX: usize = 32;

/// Folders of third-party code, which contains its own tests.
const FOREIGN: [&str; 3] = ["lua_modules", "node_modules", "target"];

/// Folders searched for modules in addition to the root, if they exist.
const SCRIPT_FOLDERS: [&str; 3] = ["lua", "src", "lib"];

/// Names of test folders, which are next to the code that they test.
const TEST_FOLDERS: [&str; 4] = ["spec", "specs", "tests", "test"];

/// Result of a search.
#[derive(Debug, PartialEq)]
pub struct DiscoveredTests {
    /// Paths relative to the root, sorted, with slashes.
    pub files: Vec<String>,
    /// Description of the searched locations, for the message if tests are missing.
    pub searched: String,
}

/// Locations of tests, if they differ from the usual names in the whole folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchRoots {
    /// Folders and files, relative to the root. If empty, everything that was asked for.
    pub roots: Vec<String>,
    /// Lua patterns, one of which a file's name must match. If empty, the usual names.
    pub patterns: Vec<String>,
    /// Lua patterns that a file's name must not match.
    pub excludes: Vec<String>,
    /// Search only these folders, not their subfolders.
    pub flat: bool,
}

/// Finds the test files that `start` (a folder or one file) and `filters` select, as paths relative
/// to `root`. A filter is a part of a path, or names a file that would not be found by its name.
/// `choose` keeps the files that match the patterns of `search_roots`.
pub fn find<E: From<Error>>(
    (root, start): (&Path, &Path),
    filters: &[String],
    search_roots: &SearchRoots,
    choose: impl FnOnce(Vec<String>) -> Result<Vec<String>, E>,
) -> Result<DiscoveredTests, E> {
    let inside = relative_to_root(root, start);
    if start.is_file() {
        let searched = format!("'{}'", start.display());
        return Ok(DiscoveredTests { files: vec![with_slashes(inside)], searched });
    }
    let search = FolderWalk { root, any_spec: !inside.as_os_str().is_empty(), search_roots };
    let mut files = Vec::new();
    // Paths on the command line take precedence over those of the `.busted` file.
    if search_roots.roots.is_empty() || search.any_spec {
        search.collect(inside, 0, &mut files);
    } else {
        for search_root in
            search_roots.roots.iter().map(|search_root| search_root.trim_end_matches('/'))
        {
            match file_access::inspect(root, search_root) {
                Ok((EntryKind::File, _)) => files.push(with_slashes(Path::new(search_root))),
                Ok((EntryKind::Folder, _)) => search.collect(Path::new(search_root), 0, &mut files),
                Err(AccessError::Path | AccessError::Link) => Err(engine_foundation::error!(
                    ".busted: '{search_root}', which ROOT names, is outside of the folder: give \
                     that folder to engine test"
                ))?,
                _ => Err(engine_foundation::error!(
                    ".busted: there is no '{}', which ROOT names",
                    root.join(search_root).display()
                ))?,
            }
        }
    }
    if !search_roots.patterns.is_empty() || !search_roots.excludes.is_empty() {
        files = choose(files)?;
    }
    if !filters.is_empty() {
        files.retain(|path| filters.iter().any(|filter| path.contains(filter.as_str())));
        let named = filters.iter().filter(|filter| file_access::is_file(root, filter));
        files.extend(named.map(|filter| with_slashes(Path::new(filter))));
    }
    files.sort_compact();
    files.dedup();
    Ok(DiscoveredTests { files, searched: search.describe_search(start, filters) })
}

/// Returns the path of `start` relative to `root`. The root is a prefix of the path or the working
/// directory.
pub fn relative_to_root<'a>(root: &Path, start: &'a Path) -> &'a Path {
    start.strip_prefix(root).unwrap_or(start)
}

/// Returns the root folder of the game or library that contains a folder or file. A folder is its
/// own root. The root of a test folder is its parent.
pub fn root_of(start: &Path) -> Result<PathBuf, Error> {
    let metadata = std::fs::metadata(start).map_err(|reason| {
        let shown = start.display();
        match reason.kind() {
            ErrorKind::NotFound if start.extension().is_some_and(|ending| ending == "lua") => {
                engine_foundation::error!("there is no file '{shown}'")
            }
            ErrorKind::NotFound => engine_foundation::error!("there is no folder '{shown}'"),
            _ => engine_foundation::error!("'{shown}' cannot be opened: {reason}"),
        }
    })?;
    let parent = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let named = |path: &Path, names: &[&str]| {
        path.file_name().is_some_and(|name| names.iter().any(|known| name == OsStr::new(known)))
    };
    if !metadata.is_dir() {
        let tests = start.ancestors().find(|path| named(path, &TEST_FOLDERS));
        return Ok(parent(tests.unwrap_or(start)));
    }
    // A game or library with the name of a test folder.
    let is_root =
        ["main.lua", "settings.sjson", "spec"].iter().any(|name| start.join(name).exists());
    let is_test_folder = named(start, &TEST_FOLDERS) && !is_root;
    Ok(if is_test_folder { parent(start) } else { start.to_path_buf() })
}

/// Returns true if a folder is that of a game. A library has only scripts.
pub fn is_game(root: &Path) -> bool {
    ["main.lua", settings::FILE].iter().any(|file| file_access::is_file(root, file))
}

/// Recursive search of the game's folders for test files, with its options.
struct FolderWalk<'a> {
    root: &'a Path,
    /// True if the user named the folder, so that specs anywhere below it are included.
    any_spec: bool,
    search_roots: &'a SearchRoots,
}

impl FolderWalk<'_> {
    fn collect(&self, inside: &Path, depth: usize, files: &mut Vec<String>) {
        // An unreadable folder has no tests. The missing tests show in the count.
        let Ok(listing) = file_access::list(self.root, inside) else { return };
        for entry in listing.entries {
            let name = entry.name.to_string_lossy().into_owned();
            let path = inside.join(&entry.name);
            match entry.kind {
                // Links to folders are not followed, because they could form a cycle.
                EntryKind::Folder => {
                    let enters = !is_foreign(&name) && !self.search_roots.flat && depth < DEPTH_MAX;
                    if enters && !entry.is_link {
                        self.collect(&path, depth + 1, files);
                    }
                }
                _ if !self.may_be_test(&path, &name) => {}
                EntryKind::File => files.push(with_slashes(&path)),
                EntryKind::Special => {
                    report_unusual_names(&path, "it is no file (a pipe, a socket or a device)");
                }
                EntryKind::LinkOut => report_unusual_names(&path, &AccessError::Link.to_string()),
                EntryKind::Dangling => report_unusual_names(&path, "it is a link to nothing"),
            }
        }
    }

    fn may_be_test(&self, path: &Path, name: &str) -> bool {
        if replay_test::is_recording(name) {
            return true;
        }
        if !self.search_roots.patterns.is_empty() {
            return name.ends_with(".lua") && !name.starts_with('.');
        }
        let specs = self.any_spec || !self.search_roots.roots.is_empty();
        name.ends_with("_test.lua") || (name.ends_with("_spec.lua") && (specs || in_tests(path)))
    }

    fn describe_search(&self, start: &Path, filters: &[String]) -> String {
        let SearchRoots { roots, patterns, .. } = self.search_roots;
        let mut text = match patterns.as_slice() {
            [] => format!(
                "'{}' for *_test.lua, and for *_spec.lua below a folder {}",
                start.display(),
                TEST_FOLDERS.join(", ")
            ),
            some => format!("'{}' for names with {}", start.display(), some.join(" or ")),
        };
        if !roots.is_empty() && !self.any_spec {
            text += &format!(" in {}", roots.join(" and "));
        }
        if !filters.is_empty() {
            text += &format!(" with {} in the path", filters.join(" or "));
        }
        text
    }
}

fn report_unusual_names(path: &Path, why: &str) {
    log::warning(&format!("'{}' is named as a test and left out: {why}", path.display()));
}

/// Returns true if the name of a folder or file marks it as hidden or third-party.
pub fn is_foreign(name: &str) -> bool {
    name.starts_with('.') || FOREIGN.contains(&name)
}

/// Returns true if one of the folders of a path is a test folder.
fn in_tests(path: &Path) -> bool {
    let is_test_folder = |part: &OsStr| TEST_FOLDERS.iter().any(|name| part == OsStr::new(name));
    path.parent().is_some_and(|folder| folder.iter().any(is_test_folder))
}

/// Returns true if a path has one of the usual names of tests or test helpers.
pub fn is_usual(path: &str) -> bool {
    path.ends_with("_test.lua") || path.ends_with("_spec.lua") || in_tests(Path::new(path))
}

fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/").trim_start_matches("./").to_string()
}

/// Returns the folders in which a test file's modules are searched, relative to the root: the root,
/// `lua`, `src` and `lib` if they exist, those of `lpath`, and the file's own folder. An entry with
/// a `?` is a path pattern.
pub fn script_folders(root: &Path, file: &str, lpath: &[String]) -> Vec<String> {
    let mut folders = vec![String::new()];
    let usual = SCRIPT_FOLDERS.iter().filter(|name| file_access::is_folder(root, name));
    folders.extend(usual.map(|name| name.to_string()));
    if file_access::is_folder(root, "src") {
        folders.push("src/?/?.lua".to_string());
    }
    folders.extend(lpath.iter().cloned());
    if let Some((folder, _)) = file.rsplit_once('/') {
        folders.push(folder.to_string());
    }
    let mut visited = Vec::new();
    folders.retain(|folder| {
        let new = !visited.contains(folder);
        visited.push(folder.clone());
        new
    });
    folders
}

/// Returns the folders of a search path in Lua's form: `src/?.lua;lib/?/init.lua`, or plain
/// folders. Other patterns with a `?` stay unchanged.
pub fn folders_of_lpath(lpath: &str) -> Result<Vec<String>, String> {
    let mut folders = Vec::new();
    for part in lpath.split(';').filter(|part| !part.is_empty()) {
        let part = part.strip_prefix("./").unwrap_or(part);
        let pattern = ["?.lua", "?/init.lua"].iter().find_map(|end| part.strip_suffix(end));
        let folder = match pattern {
            Some("/") => "/",
            Some(folder) if !folder.contains('?') => folder.trim_end_matches('/'),
            None if !part.contains('?') => part.trim_end_matches('/'),
            _ if part.ends_with(".lua") => part,
            _ => {
                return Err(format!(
                    "'{part}' must be a folder, or end in .lua with a ? for the module's name, as \
                     in src/?.lua"
                ));
            }
        };
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_string());
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str, files: &[&str]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    #[test]
    fn tests_are_found_by_name_and_foreign_folders_are_skipped() {
        let root = scratch(
            "discover",
            &[
                "a_test.lua",
                "spec/deep/b_spec.lua",
                "spec/helper.lua",
                "src/c_spec.lua",
                "src/spec/f_spec.lua",
                "lib/deep/tests/unit/g_spec.lua",
                "lib/spec_helpers/h_spec.lua",
                "lua_modules/x/spec/d_test.lua",
                ".git/e_test.lua",
            ],
        );
        let (nested, below) = ("src/spec/f_spec.lua", "lib/deep/tests/unit/g_spec.lua");
        check(&root, &[], &["a_test.lua", below, "spec/deep/b_spec.lua", nested]);
        check(&root, &["deep"], &[below, "spec/deep/b_spec.lua"]);
        check(&root, &["spec/helper.lua"], &["spec/helper.lua"]);
        // A folder named by the user is searched for specs.
        let src = found(&root, &root.join("src"), &[], &SearchRoots::default());
        assert_eq!(src.files, ["src/c_spec.lua", nested]);
    }

    fn check(root: &Path, filters: &[&str], files: &[&str]) {
        assert_eq!(found(root, root, filters, &SearchRoots::default()).files, files);
    }

    fn found(
        root: &Path,
        start: &Path,
        filters: &[&str],
        search_roots: &SearchRoots,
    ) -> DiscoveredTests {
        let filters: Vec<_> = filters.iter().map(|filter| filter.to_string()).collect();
        find((root, start), &filters, search_roots, Ok::<_, Error>).unwrap()
    }

    #[test]
    fn files_in_test_folders_at_any_depth_are_tests_or_helpers() {
        for path in ["a_test.lua", "src/b_spec.lua", "spec/helper.lua", "lib/x/tests/helper.lua"] {
            assert!(is_usual(path), "{path}");
        }
        for path in ["spec.lua", "src/specs.lua", "testing/a.lua"] {
            assert!(!is_usual(path), "{path}");
        }
    }

    #[test]
    fn the_root_is_the_parent_of_the_test_folder() {
        let root = scratch("root", &["spec/a_spec.lua", "b_test.lua", "test/main.lua"]);
        for start in ["spec", "spec/a_spec.lua"] {
            let start = root.join(start);
            assert_eq!(root_of(&start).unwrap(), root);
            assert_eq!(
                found(&root, &start, &[], &SearchRoots::default()).files,
                ["spec/a_spec.lua"]
            );
        }
        assert_eq!(root_of(&root.join("b_test.lua")).unwrap(), root);
        // A game with that name is its own root.
        assert_eq!(root_of(&root.join("test")).unwrap(), root.join("test"));
        let missing = |name: &str| root_of(&root.join(name)).unwrap_err().message;
        assert!(missing("nowhere").starts_with("there is no folder '"));
        assert!(missing("a_test.lua").starts_with("there is no file '"));
    }

    #[test]
    fn roots_and_patterns_of_a_file_replace_the_defaults() {
        let root = scratch("places", &["spec/a_spec.lua", "t/b_spec.lua", "t/c.lua", "d.lua"]);
        let in_t = SearchRoots { roots: vec!["t/".into()], ..SearchRoots::default() };
        assert_eq!(found(&root, &root, &[], &in_t).files, ["t/b_spec.lua"]);
        let all = SearchRoots { patterns: vec!["lua".into()], ..in_t.clone() };
        assert_eq!(found(&root, &root, &[], &all).files, ["t/b_spec.lua", "t/c.lua"]);
        let lost = SearchRoots { roots: vec!["u".into()], ..SearchRoots::default() };
        let error = find((&root, &root), &[], &lost, Ok::<_, Error>).unwrap_err();
        assert!(error.to_string().starts_with(".busted: there is no "), "{error}");
    }

    #[test]
    fn modules_are_found_in_default_folders_and_next_to_the_test() {
        let root = scratch("folders", &["src/x.lua", "spec/deep/a_spec.lua"]);
        let folders = script_folders(&root, "spec/deep/a_spec.lua", &["src".into(), "ext".into()]);
        assert_eq!(folders, ["", "src", "src/?/?.lua", "ext", "spec/deep"]);
    }

    #[test]
    fn a_search_path_lists_folders() {
        let folders = folders_of_lpath("./src/?.lua;lib/?/init.lua;;?.lua;a/?/?.lua;vendor/");
        assert_eq!(folders.unwrap(), ["src", "lib", "", "a/?/?.lua", "vendor"]);
        let message = folders_of_lpath("a/?.so").unwrap_err();
        assert!(message.starts_with("'a/?.so' must be a folder"), "{message}");
    }
}
