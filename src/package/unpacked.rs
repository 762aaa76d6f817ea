//! Files of packages that are not in an archive: for signing tools, and for the upload programs of
//! stores.

use super::archive::{Archive, Content};
use engine_foundation::{Error, error, output_file};
use std::path::Path;

/// Writes all files below a folder, which is made if it is missing. Files that are there already
/// are replaced, and others stay. Links below the folder could lead out of it, and are refused.
///
/// # Errors
/// Returns an error that names the file or folder that cannot be written.
pub fn write_files(root: &Path, files: &Archive) -> Result<(), Error> {
    let folders = files.folders();
    for path in folders.iter().copied().chain(files.files().map(|(path, _)| path)) {
        output_file::check_no_links(root, Path::new(path))
            .map_err(|reason| error!("{} cannot be written: {reason}", root.display()))?;
    }
    for folder in [""].into_iter().chain(folders) {
        let path = root.join(folder);
        std::fs::create_dir_all(&path)
            .map_err(|reason| error!("{} cannot be made: {reason}", path.display()))?;
    }
    for (path, entry) in files.files() {
        match entry.executable {
            true => write_program(&root.join(path), &entry.content)?,
            false => write_file(&root.join(path), &entry.content)?,
        }
    }
    Ok(())
}

/// Writes one file.
///
/// # Errors
/// Returns an error that names the file.
pub fn write_file(path: &Path, content: &Content) -> Result<(), Error> {
    output_file::write_by(path, |file| content.write_to(file))
        .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))
}

/// Writes a file that can be started. It is made with that permission, because a confined process
/// cannot change permissions. A file that cannot be completed is removed.
///
/// # Errors
/// Returns an error that names the file.
pub fn write_program(path: &Path, content: &Content) -> Result<(), Error> {
    let write = || -> std::io::Result<()> {
        match std::fs::remove_file(path) {
            Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => return Err(reason),
            _ => {}
        }
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o755);
        let written = content.write_to(&mut options.open(path)?);
        if written.is_err() {
            // The reason is that of the first error.
            let _ = std::fs::remove_file(path);
        }
        written
    };
    write().map_err(|reason| error!("{} cannot be written: {reason}", path.display()))
}
