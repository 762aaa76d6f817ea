//! The engine's own folder in a game's folder: compiled data, caches, definitions for editors.
//! Knows nothing about its content.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Name of the folder.
pub const NAME: &str = ".engine";

/// Creates the folder with a `.gitignore`, so that git ignores it. Returns its path.
///
/// # Errors
/// Returns an error if the folder cannot be created, or is a link: a link could lead out of the
/// game's folder, and a game must not make the engine write there.
pub fn create(game: &Path) -> io::Result<PathBuf> {
    let own = game.join(NAME);
    if fs::symlink_metadata(&own).is_ok_and(|found| found.is_symlink()) {
        return Err(io::Error::other(format!("{NAME} is a link: remove it")));
    }
    fs::create_dir_all(&own)?;
    match File::create_new(own.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists => {}
        Err(reason) => return Err(reason),
    }
    Ok(own)
}
