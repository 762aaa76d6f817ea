//! Output files that the command line names, replaced atomically when complete. A confined process
//! cannot create temporary files next to them, so its broker replaces them.

use engine_foundation::output_file;
use engine_platform::broker;
use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;

/// Replaces an output file that the command line names.
///
/// # Errors
/// Returns an error if [`output_file::check`] refuses the path, or if the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    output_file::check(path)?;
    replace(path, bytes)
}

/// Replaces a file as [`write`] does, but also replaces a link.
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

/// Copies a temporary file of the engine to an output path of the command line.
///
/// # Errors
/// Returns an error under the same conditions as [`write`].
pub fn publish(source: File, path: &Path) -> Result<()> {
    output_file::check(path)?;
    let mut source = source;
    match broker::replace(path) {
        None => output_file::write_by(path, |file| std::io::copy(&mut source, file).map(|_| ())),
        Some(replacement) => {
            let mut replacement = replacement?;
            std::io::copy(&mut source, &mut replacement.file)?;
            replacement.finish()
        }
    }
}

/// Returns true if the broker writes this file.
pub fn is_brokered(path: &Path) -> bool {
    broker::replaces(path)
}
