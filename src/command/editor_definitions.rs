//! Editor definitions of the engine's functions in a game's folder. They are rewritten when a
//! different engine opens the game. src/script/docgen generates their content.

use engine_foundation::file_access::{is_file, read_text, readers};
use engine_foundation::log;
use engine_foundation::own_folder::{self, NAME as FOLDER};
use engine_resource::settings;
use engine_script::docgen;
use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Subfolder of the definitions.
const DEFINITIONS: &str = "definitions";
/// File that identifies the engine that wrote the definitions. It is written together with them, so
/// it exists only if the definitions are complete.
const STAMP: &str = "written_by.txt";

/// Updates the definitions in a game's folder. A failure is only a warning, because a game runs
/// without them. A folder without a game is left unchanged.
pub fn refresh(folder: &Path) {
    let is_game = ["main.lua", settings::FILE].iter().any(|file| is_file(folder, file));
    if !is_game {
        return;
    }
    let outcome = stamp().and_then(|stamp| write(folder, &stamp, docgen::definitions));
    if let Err(reason) = outcome {
        let definitions = format!("{FOLDER}/{DEFINITIONS}");
        log::warn(&definitions, &format!("the definitions for editors are not written: {reason}"));
    }
}

/// Returns a text that identifies this engine: its version, and the size and time of its
/// executable.
fn stamp() -> io::Result<String> {
    let file = fs::metadata(std::env::current_exe()?)?;
    // On a file system without times, only the size is used.
    let changed = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanoseconds = changed.map_or(0, |since| since.as_nanos());
    Ok(format!("engine {}, {} bytes, {nanoseconds}\n", env!("CARGO_PKG_VERSION"), file.len()))
}

/// Writes the definitions unless they already match `stamp`. They are written to a temporary folder
/// and renamed as a whole, so that a second engine can do the same in parallel.
fn write(
    folder: &Path,
    stamp: &str,
    files: impl FnOnce() -> Vec<(String, String)>,
) -> io::Result<()> {
    let own = folder.join(FOLDER);
    let definitions = own.join(DEFINITIONS);
    let written_by = format!("{FOLDER}/{DEFINITIONS}/{STAMP}");
    let current =
        || read_text(folder, &written_by, &readers::STAMP).is_ok_and(|found| found == stamp);
    if current() {
        return Ok(());
    }
    own_folder::create(folder)?;
    let temporary = own.join(format!("{DEFINITIONS}.{}.new", std::process::id()));
    let old = own.join(format!("{DEFINITIONS}.{}.old", std::process::id()));
    let replace_folder = || {
        remove(&temporary)?;
        remove(&old)?;
        fs::create_dir(&temporary)?;
        for (name, text) in files() {
            fs::write(temporary.join(name), text)?;
        }
        fs::write(temporary.join(STAMP), stamp)?;
        match fs::rename(&definitions, &old) {
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => return Err(reason),
            _ => {}
        }
        match fs::rename(&temporary, &definitions) {
            // Another engine has renamed its own folder in the meantime.
            Err(reason) if reason.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            outcome => outcome,
        }
    };
    let outcome = replace_folder();
    // Temporary folders are useless now; a failed removal is harmless.
    let _ = (remove(&temporary), remove(&old));
    if current() { Ok(()) } else { outcome }
}

/// Removes a folder with its files, or a file with this path. It is not an error if nothing exists.
fn remove(folder: &Path) -> io::Result<()> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    match if is_folder { fs::remove_dir_all(folder) } else { fs::remove_file(folder) } {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn files(names: &[&str]) -> Vec<(String, String)> {
        names.iter().map(|name| (format!("{name}.lua"), format!("-- {name}\n"))).collect()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn definitions_of_another_version_are_replaced() {
        let game = scratch("definitions");
        let definitions = game.join(".engine/definitions");
        write(&game, "1", || files(&["a", "b"])).unwrap();
        assert_eq!(names(&definitions), ["a.lua", "b.lua", "written_by.txt"]);
        assert_eq!(names(&game.join(".engine")), [".gitignore", "definitions"]);
        write(&game, "1", || panic!("these are up to date")).unwrap();
        write(&game, "2", || files(&["b", "c"])).unwrap();
        assert_eq!(names(&definitions), ["b.lua", "c.lua", "written_by.txt"]);
        assert_eq!(names(&game.join(".engine")), [".gitignore", "definitions"]);
        assert_eq!(fs::read_to_string(game.join(".engine/.gitignore")).unwrap(), "*\n");
        fs::remove_dir_all(game).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_created_is_an_error() {
        let game = scratch("definitions-file");
        fs::write(game.join(".engine"), "a file").unwrap();
        assert!(write(&game, "1", || files(&["a"])).is_err());
        assert_eq!(names(&game), [".engine"]);
        fs::remove_dir_all(game).unwrap();
    }

    #[test]
    fn a_file_at_the_path_of_the_definitions_is_removed() {
        let game = scratch("definitions-way");
        fs::create_dir(game.join(".engine")).unwrap();
        fs::write(game.join(".engine/definitions"), "a file").unwrap();
        write(&game, "1", || files(&["a"])).unwrap();
        assert_eq!(names(&game.join(".engine")), [".gitignore", "definitions"]);
        assert_eq!(names(&game.join(".engine/definitions")), ["a.lua", "written_by.txt"]);
        fs::remove_dir_all(game).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_game_are_not_followed() {
        let (game, outside) = (scratch("definitions-link"), scratch("definitions-outside"));
        fs::write(outside.join("mine.lua"), "-- mine").unwrap();
        std::os::unix::fs::symlink(&outside, game.join(".engine")).unwrap();
        let error = write(&game, "1", || files(&["a"])).unwrap_err();
        assert_eq!(error.to_string(), ".engine is a link: remove it");
        fs::remove_file(game.join(".engine")).unwrap();
        fs::create_dir(game.join(".engine")).unwrap();
        std::os::unix::fs::symlink(&outside, game.join(".engine/definitions")).unwrap();
        write(&game, "1", || files(&["a"])).unwrap();
        assert_eq!(names(&outside), ["mine.lua"]);
        assert_eq!(names(&game.join(".engine/definitions")), ["a.lua", "written_by.txt"]);
        fs::remove_dir_all(game).unwrap();
        fs::remove_dir_all(outside).unwrap();
    }

    #[test]
    fn a_folder_without_a_game_gets_no_definitions() {
        let folder = scratch("definitions-none");
        refresh(&folder);
        assert_eq!(names(&folder).len(), 0);
        fs::remove_dir(folder).unwrap();
    }
}
