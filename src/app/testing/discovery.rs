//! Which files are tests, and in which folders their modules are found. Reads folders, no files.

use crate::foundation::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How many folders deep tests are looked for.
pub const DEPTH_MAX: usize = 32;

/// Folders of other people's code, which brings tests of its own along.
const FOREIGN: [&str; 3] = ["lua_modules", "node_modules", "target"];

/// Folders that modules are looked for in beside the root, where they exist.
const SCRIPT_FOLDERS: [&str; 3] = ["lua", "src", "lib"];

/// What was found.
#[derive(Debug, PartialEq)]
pub struct Found {
    /// The folder of the game or library: paths and modules begin here.
    pub root: PathBuf,
    /// Paths from the root, sorted, with slashes.
    pub files: Vec<String>,
    /// Where it was looked, for a person who expected more.
    pub looked: String,
}

/// Finds the test files that `start` (a folder or one file) and `filters` mean. A filter is a part
/// of a path, or names a file that would not be found by its name.
pub fn find(start: &Path, filters: &[String]) -> Result<Found, Error> {
    let shown = start.display();
    let about = std::fs::metadata(start)
        .map_err(|reason| crate::error!("'{shown}' cannot be opened: {reason}"))?;
    let root = root_of(start, about.is_dir());
    if !about.is_dir() {
        let path = start.strip_prefix(&root).unwrap_or(start);
        return Ok(Found { files: vec![slashed(path)], looked: format!("'{shown}'"), root });
    }
    let mut files = Vec::new();
    let inside = start.strip_prefix(&root).unwrap_or(Path::new(""));
    collect(&root, inside, 0, &mut files);
    if !filters.is_empty() {
        files.retain(|path| filters.iter().any(|filter| path.contains(filter.as_str())));
        let named = filters.iter().filter(|filter| root.join(filter).is_file());
        files.extend(named.map(|filter| slashed(Path::new(filter))));
    }
    files.sort();
    files.dedup();
    let mut looked = format!("'{shown}' for spec/**/*_spec.lua and **/*_test.lua");
    if !filters.is_empty() {
        looked += &format!(" with {} in the path", filters.join(" or "));
    }
    Ok(Found { root, files, looked })
}

/// A folder is its own root, but for the folder of the tests themselves: what is tested is beside
/// it.
fn root_of(start: &Path, is_folder: bool) -> PathBuf {
    let parent = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let named = |path: &Path, names: &[&str]| {
        path.file_name().is_some_and(|name| names.iter().any(|known| name == OsStr::new(known)))
    };
    if is_folder {
        return if named(start, &["spec"]) { parent(start) } else { start.to_path_buf() };
    }
    let tests = start.ancestors().find(|path| named(path, &["spec", "tests", "test"]));
    parent(tests.unwrap_or(start))
}

fn collect(root: &Path, inside: &Path, depth: usize, files: &mut Vec<String>) {
    // A folder that cannot be read has no tests; what is missing shows in the count.
    let Ok(entries) = std::fs::read_dir(root.join(inside)) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = inside.join(entry.file_name());
        // Links to folders are not followed: they could lead in a circle.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            let foreign = name.starts_with('.') || FOREIGN.contains(&name.as_str());
            if !foreign && depth < DEPTH_MAX {
                collect(root, &path, depth + 1, files);
            }
        } else if is_test(&path, &name) {
            files.push(slashed(&path));
        }
    }
}

fn is_test(path: &Path, name: &str) -> bool {
    name.ends_with("_test.lua") || (name.ends_with("_spec.lua") && path.starts_with("spec"))
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/").trim_start_matches("./").to_string()
}

/// The folders that a test file's modules are found in, from the root: the root, `lua`, `src` and
/// `lib` where they exist, those of `lpath`, and the file's own.
pub fn script_folders(root: &Path, file: &str, lpath: &[String]) -> Vec<String> {
    let mut folders = vec![String::new()];
    let usual = SCRIPT_FOLDERS.iter().filter(|name| root.join(name).is_dir());
    folders.extend(usual.map(|name| name.to_string()));
    folders.extend(lpath.iter().cloned());
    if let Some((folder, _)) = file.rsplit_once('/') {
        folders.push(folder.to_string());
    }
    let mut seen = Vec::new();
    folders.retain(|folder| {
        let new = !seen.contains(folder);
        seen.push(folder.clone());
        new
    });
    folders
}

/// The folders of a search path as Lua writes it: `src/?.lua;lib/?/init.lua`, or plain folders.
pub fn folders_of_lpath(lpath: &str) -> Result<Vec<String>, String> {
    let mut folders = Vec::new();
    for part in lpath.split(';').filter(|part| !part.is_empty()) {
        let part = part.strip_prefix("./").unwrap_or(part);
        let pattern = ["?.lua", "?/init.lua"].iter().find_map(|end| part.strip_suffix(end));
        let folder = pattern.unwrap_or(part).trim_end_matches('/');
        if folder.contains('?') {
            return Err(format!(
                "'{part}' must be a folder, or end in ?.lua or ?/init.lua as in src/?.lua"
            ));
        }
        folders.push(folder.to_string());
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
    fn tests_are_found_by_their_names_and_foreign_folders_are_left_out() {
        let root = scratch(
            "discover",
            &[
                "a_test.lua",
                "spec/deep/b_spec.lua",
                "spec/helper.lua",
                "src/c_spec.lua",
                "lua_modules/x/spec/d_test.lua",
                ".git/e_test.lua",
            ],
        );
        let found = find(&root, &[]).unwrap();
        assert_eq!(found.files, ["a_test.lua", "spec/deep/b_spec.lua"]);
        let one = find(&root, &["deep".to_string()]).unwrap();
        assert_eq!(one.files, ["spec/deep/b_spec.lua"]);
        let named = find(&root, &["spec/helper.lua".to_string()]).unwrap();
        assert_eq!(named.files, ["spec/helper.lua"]);
    }

    #[test]
    fn the_root_is_beside_the_folder_of_the_tests() {
        let root = scratch("root", &["spec/a_spec.lua", "b_test.lua"]);
        for start in ["spec", "spec/a_spec.lua"] {
            let found = find(&root.join(start), &[]).unwrap();
            assert_eq!((&found.root, &found.files[..]), (&root, &["spec/a_spec.lua".into()][..]));
        }
        let found = find(&root.join("b_test.lua"), &[]).unwrap();
        assert_eq!((&found.root, &found.files[..]), (&root, &["b_test.lua".into()][..]));
    }

    #[test]
    fn modules_are_found_in_the_usual_folders_and_beside_the_test() {
        let root = scratch("folders", &["src/x.lua", "spec/deep/a_spec.lua"]);
        let folders = script_folders(&root, "spec/deep/a_spec.lua", &["src".into(), "ext".into()]);
        assert_eq!(folders, ["", "src", "ext", "spec/deep"]);
    }

    #[test]
    fn a_search_path_names_folders() {
        let folders = folders_of_lpath("./src/?.lua;lib/?/init.lua;?.lua;vendor").unwrap();
        assert_eq!(folders, ["src", "lib", "", "vendor"]);
        let words = folders_of_lpath("a/?.so").unwrap_err();
        assert!(words.starts_with("'a/?.so' must be a folder"), "{words}");
    }
}
