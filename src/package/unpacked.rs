//! Files of packages that are not in an archive: for signing tools, and for the upload programs of
//! stores.

use super::archive::{Archive, Content};
use engine_foundation::{Error, error, output_file};
use std::path::Path;

/// Writes all files below a folder, which is made if it is missing. Files that are there already
/// are replaced, and others stay.
///
/// # Errors
/// Returns an error that names the file or folder that cannot be written.
pub fn write_files(root: &Path, files: &Archive) -> Result<(), Error> {
    let folders = files.folders();
    for folder in [""].into_iter().chain(folders) {
        let path = root.join(folder);
        std::fs::create_dir_all(&path)
            .map_err(|reason| error!("{} cannot be made: {reason}", path.display()))?;
    }
    for (path, entry) in files.files() {
        write_file(&root.join(path), &entry.content)?;
        if entry.executable {
            make_executable(&root.join(path))?;
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

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, permissions)
        .map_err(|reason| error!("{} cannot be made executable: {reason}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<(), Error> {
    // Windows has no such permission. The archive has it.
    Ok(())
}
