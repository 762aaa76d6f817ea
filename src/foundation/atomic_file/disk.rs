//! Disk operations for all durable data: saves, user settings, the index of compiled data, and
//! bundles. Each function is one system call. In builds with debug assertions, tests can record
//! each operation and make it fail (disk_simulation.rs). Knows no formats.

use crate::file_access;
use std::fs::{DirEntry, File, Metadata, ReadDir};
use std::io::{Read, Result, Write};
use std::path::Path;

/// Announces an operation to the simulation that a test runs in the folder, if one exists. An error
/// from the simulation replaces the operation.
#[cfg(debug_assertions)]
macro_rules! announce {
    ($operation:expr) => {
        super::disk_simulation::check_operation(|| $operation)?
    };
}
#[cfg(not(debug_assertions))]
macro_rules! announce {
    ($operation:expr) => {};
}

#[cfg(debug_assertions)]
use super::disk_simulation::Operation;

/// A file that is open for writing.
#[derive(Debug)]
pub struct DiskOutput {
    file: File,
    #[cfg(debug_assertions)]
    path: std::path::PathBuf,
}

impl DiskOutput {
    /// Creates a file that must be new. An existing link or pipe under its name is not written to.
    pub fn create_new(path: &Path) -> Result<DiskOutput> {
        announce!(Operation::Create(path.into()));
        let file = File::create_new(path)?;
        Ok(DiskOutput {
            file,
            #[cfg(debug_assertions)]
            path: path.into(),
        })
    }

    /// Returns a duplicate of the open file, for another process that writes it on behalf of this
    /// one.
    pub fn share(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// Blocks until the written bytes are on the disk.
    pub fn sync(&self) -> Result<()> {
        announce!(Operation::SyncFile(self.path.clone()));
        self.file.sync_all()
    }
}

impl Write for DiskOutput {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        #[cfg(debug_assertions)]
        if let Err(reason) = super::disk_simulation::check_operation(|| {
            Operation::Write(self.path.clone(), bytes.into())
        }) {
            // A disk that becomes full accepts the first part.
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(reason);
        }
        self.file.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// A file that is open for reading.
#[derive(Debug)]
pub struct DiskInput {
    file: File,
    #[cfg(debug_assertions)]
    path: std::path::PathBuf,
}

impl DiskInput {
    pub fn open(path: &Path) -> Result<DiskInput> {
        announce!(Operation::Look(path.into()));
        let file = file_access::open_named(path)?;
        Ok(DiskInput {
            file,
            #[cfg(debug_assertions)]
            path: path.into(),
        })
    }

    /// Returns the file's size in bytes.
    pub fn size(&self) -> Result<u64> {
        announce!(Operation::Look(self.path.clone()));
        Ok(self.file.metadata()?.len())
    }
}

impl Read for DiskInput {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        announce!(Operation::Look(self.path.clone()));
        self.file.read(bytes)
    }
}

/// Renames a file within its folder. Replaces an existing file with the new name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    announce!(Operation::Rename(from.into(), to.into()));
    std::fs::rename(from, to)
}

/// Gives a file another name, on the same file system: a hard link. The other name must be unused.
pub fn link(from: &Path, to: &Path) -> Result<()> {
    announce!(Operation::Link(from.into(), to.into()));
    std::fs::hard_link(from, to)
}

/// Returns true if a path is a regular file, and no symbolic link.
pub fn is_plain_file(path: &Path) -> Result<bool> {
    announce!(Operation::Look(path.into()));
    Ok(std::fs::symlink_metadata(path)?.is_file())
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<()> {
    announce!(Operation::Remove(path.into()));
    std::fs::remove_file(path)
}

/// Creates a folder whose parent exists.
pub fn create_folder(path: &Path) -> Result<()> {
    announce!(Operation::CreateFolder(path.into()));
    std::fs::create_dir(path)
}

/// Removes an empty folder.
pub fn remove_folder(path: &Path) -> Result<()> {
    announce!(Operation::RemoveFolder(path.into()));
    std::fs::remove_dir(path)
}

/// Blocks until a folder's entries are on the disk: created, renamed and removed files.
pub fn sync_folder(path: &Path) -> Result<()> {
    announce!(Operation::SyncFolder(path.into()));
    // Other systems cannot open folders as files, and they persist folder entries themselves.
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// True on systems with [`sync_file_system`].
pub const SYNCS_FILE_SYSTEMS: bool = cfg!(target_os = "linux");

/// Blocks until all that was written to the file system of a folder is on the disk. For many files,
/// this is much faster than [`DiskOutput::sync`] for each.
///
/// # Errors
/// Returns an error on systems that cannot do it.
pub fn sync_file_system(folder: &Path) -> Result<()> {
    announce!(Operation::SyncFileSystem(folder.into()));
    #[cfg(target_os = "linux")]
    {
        rustix::fs::syncfs(File::open(folder)?)?;
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, folder.display().to_string()))
}

/// Lists the entries of a folder.
pub fn list(path: &Path) -> Result<ReadDir> {
    announce!(Operation::Look(path.into()));
    std::fs::read_dir(path)
}

/// Returns the kind, size and times of a folder's entry. For a link, these are those of the link
/// itself.
pub fn metadata(entry: &DirEntry) -> Result<Metadata> {
    announce!(Operation::Look(entry.path()));
    entry.metadata()
}
