//! Hint for a folder without a game: a game or bundle near it, or the engine that its project is
//! of. Looks at names only.

use super::bundle;
use engine_foundation::compact_sort::CompactSort;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of entries that are looked at in a folder without a game.
const NEARBY_ENTRIES_MAX: usize = 1000;

/// Project files of other engines, and the engines.
const OTHER_ENGINES: [(&str, &str); 4] = [
    ("project.godot", "Godot"),
    ("game.project", "Defold"),
    ("conf.lua", "LÖVE"),
    ("ProjectSettings", "Unity"),
];

/// Returns a sentence that says where a game is, or whose game it is, for a folder without a
/// main.lua.
pub fn sentence(root: &Path) -> Option<String> {
    let is_game = |folder: &Path| folder.join("main.lua").is_file();
    let entries = fs::read_dir(root).ok()?.flatten().take(NEARBY_ENTRIES_MAX);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_compact();
    if let Some(game) = paths.iter().find(|path| is_game(path)) {
        return Some(format!("There is a game in the folder '{}'", game.display()));
    }
    let named = |path: &&PathBuf| path.extension().is_some_and(|end| end == bundle::EXTENSION);
    if let Some(bundle) = paths.iter().find(named) {
        return Some(format!(
            "There is a bundle in it, which `engine run {}` plays",
            bundle.display()
        ));
    }
    let full = fs::canonicalize(root).ok()?;
    if let Some(above) = full.parent().filter(|above| is_game(above)) {
        return Some(format!("There is a game in the folder above, '{}'", above.display()));
    }
    let (file, engine) = OTHER_ENGINES.iter().find(|(file, _)| root.join(file).exists())?;
    Some(format!(
        "Its {file} is a file of {engine}, whose games this engine does not run: make a game with \
         `engine new NAME`"
    ))
}
