//! Files that the command line names, replaced when they are whole. A confined process cannot write
//! beside them: its broker does.

use crate::foundation::output_file;
use crate::system::platform::broker;
use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;

/// Replaces a file of the command line's.
///
/// # Errors
/// The path is refused by [`output_file::check`], or the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    output_file::check(path)?;
    replace(path, bytes)
}

/// As [`write`]; a link is replaced, too.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    match broker::replace(path) {
        None => output_file::write(path, bytes),
        Some(replacement) => {
            let mut replacement = replacement?;
            replacement.file.write_all(bytes)?;
            replacement.finish()
        }
    }
}

/// Copies a file of the engine's own to where the command line wants it.
///
/// # Errors
/// As of [`write`].
pub fn publish(made: File, path: &Path) -> Result<()> {
    output_file::check(path)?;
    let mut made = made;
    match broker::replace(path) {
        None => output_file::write_by(path, |file| std::io::copy(&mut made, file).map(|_| ())),
        Some(replacement) => {
            let mut replacement = replacement?;
            std::io::copy(&mut made, &mut replacement.file)?;
            replacement.finish()
        }
    }
}

/// Whether a file is written by the broker.
pub fn is_brokered(path: &Path) -> bool {
    broker::replaces(path)
}
