//! The operations on the disk that everything durable is written and read with: saves, user
//! settings, the index of compiled data, bundles. Each is one call of the operating system. In the
//! engine's own tests each can be made to fail, and is recorded (simulation.rs). Knows no formats.

use crate::foundation::file_access;
use std::fs::{DirEntry, File, Metadata, ReadDir};
use std::io::{Read, Result, Write};
use std::path::Path;

/// Announces an operation to the simulation that a test runs in its folder, if there is one: an
/// error takes the place of the operation.
#[cfg(test)]
macro_rules! announce {
    ($operation:expr) => {
        super::simulation::announce($operation)?
    };
}
#[cfg(not(test))]
macro_rules! announce {
    ($operation:expr) => {};
}

#[cfg(test)]
use super::simulation::Operation;

/// A file that is being written.
#[derive(Debug)]
pub struct Output {
    file: File,
    #[cfg(test)]
    path: std::path::PathBuf,
}

impl Output {
    /// Makes a file that must be new: a link or a pipe that waits under its name is not written to.
    pub fn create_new(path: &Path) -> Result<Output> {
        announce!(Operation::Create(path.into()));
        let file = File::create_new(path)?;
        Ok(Output {
            file,
            #[cfg(test)]
            path: path.into(),
        })
    }

    /// The open file, for a process that writes it on behalf of this one.
    pub fn share(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// Waits until the disk holds what was written.
    pub fn sync(&self) -> Result<()> {
        announce!(Operation::SyncFile(self.path.clone()));
        self.file.sync_all()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        #[cfg(test)]
        if let Err(reason) =
            super::simulation::announce(Operation::Write(self.path.clone(), bytes.into()))
        {
            // A disk that fills up takes the first part.
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(reason);
        }
        self.file.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// A file that is being read.
#[derive(Debug)]
pub struct Input {
    file: File,
    #[cfg(test)]
    path: std::path::PathBuf,
}

impl Input {
    pub fn open(path: &Path) -> Result<Input> {
        announce!(Operation::Look(path.into()));
        let file = file_access::open_named(path)?;
        Ok(Input {
            file,
            #[cfg(test)]
            path: path.into(),
        })
    }

    /// Its size in bytes.
    pub fn size(&self) -> Result<u64> {
        announce!(Operation::Look(self.path.clone()));
        Ok(self.file.metadata()?.len())
    }
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        announce!(Operation::Look(self.path.clone()));
        self.file.read(bytes)
    }
}

/// Gives a file another name in the same folder, in the place of a file that has that name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    announce!(Operation::Rename(from.into(), to.into()));
    std::fs::rename(from, to)
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<()> {
    announce!(Operation::Remove(path.into()));
    std::fs::remove_file(path)
}

/// Makes a folder in one that exists.
pub fn create_folder(path: &Path) -> Result<()> {
    announce!(Operation::CreateFolder(path.into()));
    std::fs::create_dir(path)
}

/// Removes a folder that is empty.
pub fn remove_folder(path: &Path) -> Result<()> {
    announce!(Operation::RemoveFolder(path.into()));
    std::fs::remove_dir(path)
}

/// Waits until the disk holds the names in a folder: the files that were made, renamed and removed.
pub fn sync_folder(path: &Path) -> Result<()> {
    announce!(Operation::SyncFolder(path.into()));
    // Elsewhere folders cannot be opened as files, and keep their entries by themselves.
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The entries of a folder.
pub fn list(path: &Path) -> Result<ReadDir> {
    announce!(Operation::Look(path.into()));
    std::fs::read_dir(path)
}

/// The kind, size and times of a folder's entry; of a link, its own.
pub fn metadata(entry: &DirEntry) -> Result<Metadata> {
    announce!(Operation::Look(entry.path()));
    entry.metadata()
}
