//! Files that only their owner may read: the endpoint file and the list of stable addresses.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file in a folder atomically, so that a reader never sees half of it.
pub fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let temporary_path = folder.join(format!("{name}.{}.new", std::process::id()));
    // A file that was left by a process of the same number is replaced, with its permissions.
    let _ = fs::remove_file(&temporary_path);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&temporary_path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        fs::rename(&temporary_path, folder.join(name))
    });
    if written.is_err() {
        // A half-written file is useless; a failure to remove it changes nothing.
        let _ = fs::remove_file(&temporary_path);
    }
    written
}
