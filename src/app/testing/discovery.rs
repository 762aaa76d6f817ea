//! Which files are tests, and in which folders their modules are found. Reads folders, no files.

use super::recording;
use crate::foundation::file_access::{self, EntryKind, Refusal};
use crate::foundation::{Error, log};
use crate::resource::settings;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How many folders deep tests are looked for.
pub const DEPTH_MAX: usize = 32;

/// Folders of other people's code, which brings tests of its own along.
const FOREIGN: [&str; 3] = ["lua_modules", "node_modules", "target"];

/// Folders that modules are looked for in beside the root, where they exist.
const SCRIPT_FOLDERS: [&str; 3] = ["lua", "src", "lib"];

/// Folders of tests, which stand beside what they test.
const TEST_FOLDERS: [&str; 4] = ["spec", "specs", "tests", "test"];

/// What was found.
#[derive(Debug, PartialEq)]
pub struct Found {
    /// Paths from the root, sorted, with slashes.
    pub files: Vec<String>,
    /// Where it was looked, for a person who expected more.
    pub looked: String,
}

/// Where tests are looked for, where that is not by the usual names in the whole folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// Folders and files, from the root; the whole of what was asked for if empty.
    pub roots: Vec<String>,
    /// Lua patterns that a file's name must fit one of; the usual names if empty.
    pub patterns: Vec<String>,
    /// Lua patterns that it must not fit.
    pub excludes: Vec<String>,
    /// Only in these folders, not in those below.
    pub flat: bool,
}

/// Finds the test files that `start` (a folder or one file) and `filters` mean, as paths from
/// `root`. A filter is a part of a path, or names a file that would not be found by its name.
/// `choose` keeps those that fit the places' patterns.
pub fn find<E: From<Error>>(
    (root, start): (&Path, &Path),
    filters: &[String],
    places: &Places,
    choose: impl FnOnce(Vec<String>) -> Result<Vec<String>, E>,
) -> Result<Found, E> {
    let inside = inside(root, start);
    if start.is_file() {
        let looked = format!("'{}'", start.display());
        return Ok(Found { files: vec![slashed(inside)], looked });
    }
    let search = Search { root, any_spec: !inside.as_os_str().is_empty(), places };
    let mut files = Vec::new();
    // What a person asks for on the command line comes before the file's own places.
    if places.roots.is_empty() || search.any_spec {
        search.collect(inside, 0, &mut files);
    } else {
        for place in places.roots.iter().map(|place| place.trim_end_matches('/')) {
            match file_access::inspect(root, place) {
                Ok((EntryKind::File, _)) => files.push(slashed(Path::new(place))),
                Ok((EntryKind::Folder, _)) => search.collect(Path::new(place), 0, &mut files),
                Err(Refusal::Path | Refusal::Link) => Err(crate::error!(
                    ".busted: '{place}', which ROOT names, is outside of the folder: give that \
                     folder to engine test"
                ))?,
                _ => Err(crate::error!(
                    ".busted: there is no '{}', which ROOT names",
                    root.join(place).display()
                ))?,
            }
        }
    }
    if !places.patterns.is_empty() || !places.excludes.is_empty() {
        files = choose(files)?;
    }
    if !filters.is_empty() {
        files.retain(|path| filters.iter().any(|filter| path.contains(filter.as_str())));
        let named = filters.iter().filter(|filter| file_access::is_file(root, filter));
        files.extend(named.map(|filter| slashed(Path::new(filter))));
    }
    files.sort();
    files.dedup();
    Ok(Found { files, looked: search.words(start, filters) })
}

/// The path of what was asked for from its root, which stands before it or is the working folder.
pub fn inside<'a>(root: &Path, start: &'a Path) -> &'a Path {
    start.strip_prefix(root).unwrap_or(start)
}

/// The folder of the game or library that a folder or file is in. A folder is its own root, but for
/// that of the tests themselves: what is tested is beside it.
pub fn root_of(start: &Path) -> Result<PathBuf, Error> {
    let about = std::fs::metadata(start)
        .map_err(|reason| crate::error!("'{}' cannot be opened: {reason}", start.display()))?;
    let parent = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let named = |path: &Path, names: &[&str]| {
        path.file_name().is_some_and(|name| names.iter().any(|known| name == OsStr::new(known)))
    };
    if !about.is_dir() {
        let tests = start.ancestors().find(|path| named(path, &TEST_FOLDERS));
        return Ok(parent(tests.unwrap_or(start)));
    }
    // A game or library that is only called so.
    let whole = ["main.lua", "settings.sjson", "spec"].iter().any(|name| start.join(name).exists());
    let of_tests = named(start, &TEST_FOLDERS) && !whole;
    Ok(if of_tests { parent(start) } else { start.to_path_buf() })
}

/// Whether a folder is a game's; a library has scripts alone.
pub fn is_game(root: &Path) -> bool {
    ["main.lua", settings::FILE].iter().any(|file| file_access::is_file(root, file))
}

/// One walk through folders.
struct Search<'a> {
    root: &'a Path,
    /// Specs anywhere below were asked for by naming the folder.
    any_spec: bool,
    places: &'a Places,
}

impl Search<'_> {
    fn collect(&self, inside: &Path, depth: usize, files: &mut Vec<String>) {
        // A folder that cannot be read has no tests; what is missing shows in the count.
        let Ok(listing) = file_access::list(self.root, inside) else { return };
        for entry in listing.entries {
            let name = entry.name.to_string_lossy().into_owned();
            let path = inside.join(&entry.name);
            match entry.kind {
                // Links to folders are not followed: they could lead in a circle.
                EntryKind::Folder => {
                    let enters = !is_foreign(&name) && !self.places.flat && depth < DEPTH_MAX;
                    if enters && !entry.is_link {
                        self.collect(&path, depth + 1, files);
                    }
                }
                _ if !self.may_be_test(&path, &name) => {}
                EntryKind::File => files.push(slashed(&path)),
                EntryKind::Special => {
                    tell_odd(&path, "it is no file (a pipe, a socket or a device)");
                }
                EntryKind::LinkOut => tell_odd(&path, &Refusal::Link.to_string()),
                EntryKind::Dangling => tell_odd(&path, "it is a link to nothing"),
            }
        }
    }

    fn may_be_test(&self, path: &Path, name: &str) -> bool {
        if recording::is_meant(name) {
            return true;
        }
        if !self.places.patterns.is_empty() {
            return name.ends_with(".lua") && !name.starts_with('.');
        }
        let specs = self.any_spec || !self.places.roots.is_empty();
        let is_spec = || specs || TEST_FOLDERS.iter().any(|folder| path.starts_with(folder));
        name.ends_with("_test.lua") || (name.ends_with("_spec.lua") && is_spec())
    }

    fn words(&self, start: &Path, filters: &[String]) -> String {
        let Places { roots, patterns, .. } = self.places;
        let mut words = match patterns.as_slice() {
            [] => format!("'{}' for spec/**/*_spec.lua and **/*_test.lua", start.display()),
            some => format!("'{}' for names with {}", start.display(), some.join(" or ")),
        };
        if !roots.is_empty() && !self.any_spec {
            words += &format!(" in {}", roots.join(" and "));
        }
        if !filters.is_empty() {
            words += &format!(" with {} in the path", filters.join(" or "));
        }
        words
    }
}

fn tell_odd(path: &Path, why: &str) {
    log::warning(&format!("'{}' is named as a test and left out: {why}", path.display()));
}

/// Whether a folder's or file's name says that it is hidden, or other people's.
pub fn is_foreign(name: &str) -> bool {
    name.starts_with('.') || FOREIGN.contains(&name)
}

/// Whether a path is that of a test, or of what helps tests, by the usual names.
pub fn is_usual(path: &str) -> bool {
    let folder = path.split('/').next().unwrap_or_default();
    path.ends_with("_test.lua")
        || path.ends_with("_spec.lua")
        || (path.contains('/') && TEST_FOLDERS.contains(&folder))
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/").trim_start_matches("./").to_string()
}

/// The folders that a test file's modules are found in, from the root: the root, `lua`, `src` and
/// `lib` where they exist, those of `lpath`, and the file's own. What has a `?` is a whole path.
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
    let mut seen = Vec::new();
    folders.retain(|folder| {
        let new = !seen.contains(folder);
        seen.push(folder.clone());
        new
    });
    folders
}

/// The folders of a search path as Lua writes it: `src/?.lua;lib/?/init.lua`, or plain folders.
/// Other paths with a `?` stay as they are.
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
        check(&root, &[], &["a_test.lua", "spec/deep/b_spec.lua"]);
        check(&root, &["deep"], &["spec/deep/b_spec.lua"]);
        check(&root, &["spec/helper.lua"], &["spec/helper.lua"]);
        // A folder that is named has specs of its own.
        let src = found(&root, &root.join("src"), &[], &Places::default());
        assert_eq!(src.files, ["src/c_spec.lua"]);
    }

    fn check(root: &Path, filters: &[&str], files: &[&str]) {
        assert_eq!(found(root, root, filters, &Places::default()).files, files);
    }

    fn found(root: &Path, start: &Path, filters: &[&str], places: &Places) -> Found {
        let filters: Vec<_> = filters.iter().map(|filter| filter.to_string()).collect();
        find((root, start), &filters, places, Ok::<_, Error>).unwrap()
    }

    #[test]
    fn the_root_is_beside_the_folder_of_the_tests() {
        let root = scratch("root", &["spec/a_spec.lua", "b_test.lua", "test/main.lua"]);
        for start in ["spec", "spec/a_spec.lua"] {
            let start = root.join(start);
            assert_eq!(root_of(&start).unwrap(), root);
            assert_eq!(found(&root, &start, &[], &Places::default()).files, ["spec/a_spec.lua"]);
        }
        assert_eq!(root_of(&root.join("b_test.lua")).unwrap(), root);
        // A game that is called so is its own root.
        assert_eq!(root_of(&root.join("test")).unwrap(), root.join("test"));
        assert!(root_of(&root.join("nowhere")).is_err());
    }

    #[test]
    fn places_of_a_file_take_the_place_of_the_usual_names() {
        let root = scratch("places", &["spec/a_spec.lua", "t/b_spec.lua", "t/c.lua", "d.lua"]);
        let in_t = Places { roots: vec!["t/".into()], ..Places::default() };
        assert_eq!(found(&root, &root, &[], &in_t).files, ["t/b_spec.lua"]);
        let all = Places { patterns: vec!["lua".into()], ..in_t.clone() };
        assert_eq!(found(&root, &root, &[], &all).files, ["t/b_spec.lua", "t/c.lua"]);
        let lost = Places { roots: vec!["u".into()], ..Places::default() };
        let error = find((&root, &root), &[], &lost, Ok::<_, Error>).unwrap_err();
        assert!(error.to_string().starts_with(".busted: there is no "), "{error}");
    }

    #[test]
    fn modules_are_found_in_the_usual_folders_and_beside_the_test() {
        let root = scratch("folders", &["src/x.lua", "spec/deep/a_spec.lua"]);
        let folders = script_folders(&root, "spec/deep/a_spec.lua", &["src".into(), "ext".into()]);
        assert_eq!(folders, ["", "src", "src/?/?.lua", "ext", "spec/deep"]);
    }

    #[test]
    fn a_search_path_names_folders() {
        let folders = folders_of_lpath("./src/?.lua;lib/?/init.lua;;?.lua;a/?/?.lua;vendor/");
        assert_eq!(folders.unwrap(), ["src", "lib", "", "a/?/?.lua", "vendor"]);
        let words = folders_of_lpath("a/?.so").unwrap_err();
        assert!(words.starts_with("'a/?.so' must be a folder"), "{words}");
    }
}
