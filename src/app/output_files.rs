//! Files that the command line names, replaced when they are whole. A confined process cannot write
//! beside them: its broker does.

use crate::foundation::output_file;
use crate::system::platform::broker;
use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;

/// Replaces a file of the command line's.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    match broker::replace(path) {
        None => output_file::write(path, bytes),
        Some(replacement) => {
            output_file::check(path)?;
            let mut replacement = replacement?;
            replacement.file.write_all(bytes)?;
            replacement.finish()
        }
    }
}

/// Copies a file to where the command line wants it.
pub fn publish(made: &Path, path: &Path) -> Result<()> {
    match broker::replace(path) {
        None => std::fs::copy(made, path).map(|_| ()),
        Some(replacement) => {
            output_file::check(path)?;
            let mut replacement = replacement?;
            std::io::copy(&mut File::open(made)?, &mut replacement.file)?;
            replacement.finish()
        }
    }
}

/// Whether a file is written by the broker.
pub fn is_brokered(path: &Path) -> bool {
    broker::replaces(path)
}
