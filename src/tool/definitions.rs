//! The editor's definitions of the engine's functions, kept in a game's folder: written when the
//! engine that opens the game is another than the one that wrote them. What stands in them is made
//! in src/script/emit.

use crate::foundation::file_access::{is_file, read_text, readers};
use crate::foundation::log;
use crate::resource::settings;
use crate::script::emit;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The engine's own folder in a game's folder. It ignores itself in Git.
const FOLDER: &str = ".engine";
/// Where the definitions are in it.
const DEFINITIONS: &str = "definitions";
/// Says which engine wrote them. Written with them, so that it is there only where they all are.
const STAMP: &str = "written_by.txt";

/// Brings the definitions in a game's folder up to date. What hinders that is a warning: a game
/// plays without them. A folder that holds no game is left as it is.
pub fn refresh(folder: &Path) {
    let is_game = ["main.lua", settings::FILE].iter().any(|file| is_file(folder, file));
    if !is_game {
        return;
    }
    let outcome = stamp().and_then(|stamp| write(folder, &stamp, emit::definitions));
    if let Err(reason) = outcome {
        let place = format!("{FOLDER}/{DEFINITIONS}");
        log::warn(&place, &format!("the definitions for editors are not written: {reason}"));
    }
}

/// What tells this engine from any other: its version, and its file's size and time.
fn stamp() -> io::Result<String> {
    let file = fs::metadata(std::env::current_exe()?)?;
    // A file system without times leaves the size.
    let changed = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanoseconds = changed.map_or(0, |since| since.as_nanos());
    Ok(format!("engine {}, {} bytes, {nanoseconds}\n", env!("CARGO_PKG_VERSION"), file.len()))
}

/// Writes the files where they are not those of `stamp`. They are written beside and put in place
/// as a whole, so that a second engine which does the same at the same time harms nothing.
fn write(
    folder: &Path,
    stamp: &str,
    files: impl FnOnce() -> Vec<(String, String)>,
) -> io::Result<()> {
    let own = folder.join(FOLDER);
    let place = own.join(DEFINITIONS);
    let written_by = format!("{FOLDER}/{DEFINITIONS}/{STAMP}");
    let current =
        || read_text(folder, &written_by, &readers::STAMP).is_ok_and(|found| found == stamp);
    if current() {
        return Ok(());
    }
    // A link could lead out of the game's folder, and a game must not make the engine write there.
    if fs::symlink_metadata(&own).is_ok_and(|found| found.is_symlink()) {
        return Err(io::Error::other(format!("{FOLDER} is a link: remove it")));
    }
    fs::create_dir_all(&own)?;
    match File::create_new(own.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
        Err(reason) => return Err(reason),
    }
    let beside = own.join(format!("{DEFINITIONS}.{}.new", std::process::id()));
    let old = own.join(format!("{DEFINITIONS}.{}.old", std::process::id()));
    let put = || {
        remove(&beside)?;
        remove(&old)?;
        fs::create_dir(&beside)?;
        for (name, text) in files() {
            fs::write(beside.join(name), text)?;
        }
        fs::write(beside.join(STAMP), stamp)?;
        match fs::rename(&place, &old) {
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => return Err(reason),
            _ => {}
        }
        match fs::rename(&beside, &place) {
            // Another engine has put its own in place meanwhile.
            Err(reason) if reason.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            outcome => outcome,
        }
    };
    let outcome = put();
    // What is left beside is of no use; that it cannot be removed changes nothing.
    let _ = (remove(&beside), remove(&old));
    if current() { Ok(()) } else { outcome }
}

/// Removes a folder with its files, or what stands in its place; nothing being there is as good.
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
    fn another_engines_definitions_are_replaced_and_the_own_are_left() {
        let game = scratch("definitions");
        let place = game.join(".engine/definitions");
        write(&game, "1", || files(&["a", "b"])).unwrap();
        assert_eq!(names(&place), ["a.lua", "b.lua", "written_by.txt"]);
        assert_eq!(names(&game.join(".engine")), [".gitignore", "definitions"]);
        write(&game, "1", || panic!("these are up to date")).unwrap();
        write(&game, "2", || files(&["b", "c"])).unwrap();
        assert_eq!(names(&place), ["b.lua", "c.lua", "written_by.txt"]);
        assert_eq!(names(&game.join(".engine")), [".gitignore", "definitions"]);
        assert_eq!(fs::read_to_string(game.join(".engine/.gitignore")).unwrap(), "*\n");
        fs::remove_dir_all(game).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_with_its_reason() {
        let game = scratch("definitions-file");
        fs::write(game.join(".engine"), "a file").unwrap();
        assert!(write(&game, "1", || files(&["a"])).is_err());
        assert_eq!(names(&game), [".engine"]);
        fs::remove_dir_all(game).unwrap();
    }

    #[test]
    fn a_file_in_the_way_of_the_definitions_goes() {
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
    fn a_link_never_leads_out_of_the_game() {
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
    fn a_folder_without_a_game_gets_nothing() {
        let folder = scratch("definitions-none");
        refresh(&folder);
        assert_eq!(names(&folder).len(), 0);
        fs::remove_dir(folder).unwrap();
    }
}
