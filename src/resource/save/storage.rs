//! Storage of save files: a folder on the disk, or the memory of this process. Handles files by
//! name and bytes, independent of their content.

use super::slot::SaveSlot;
use engine_foundation::atomic_file::{self, disk};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::log;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Age at which half-written files of killed processes are removed. A younger file may belong to a
/// running process.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// Storage for the files of saves.
pub enum SaveStorage {
    /// A folder, which need not exist yet.
    Folder(PathBuf),
    Memory(Mutex<BTreeMap<String, Vec<u8>>>),
}

impl SaveStorage {
    fn lock_memory(
        memory: &Mutex<BTreeMap<String, Vec<u8>>>,
    ) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        // The map always holds complete files, even after a panic of another thread.
        memory.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Returns the names and sizes of all files, by name. Names that are not UTF-8 do not belong to
    /// saves.
    pub fn list(&self) -> Result<Vec<(String, u64)>> {
        let folder = match self {
            SaveStorage::Folder(folder) => folder,
            SaveStorage::Memory(memory) => {
                let memory = SaveStorage::lock_memory(memory);
                return Ok(memory.iter().map(|(k, v)| (k.clone(), v.len() as u64)).collect());
            }
        };
        let entries = match disk::list(folder) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            match disk::metadata(&entry) {
                Ok(data) if data.is_file() => found.push((name, data.len())),
                // A link may lead anywhere.
                Ok(_) if SaveSlot::from_file_name(&name).is_some() => {
                    let path = entry.path();
                    log::warn(
                        &path.display().to_string(),
                        "it is not a regular file and is skipped",
                    );
                }
                Ok(_) => {}
                // Another process removed the file in the meantime.
                Err(reason) if reason.kind() == ErrorKind::NotFound => {}
                Err(reason) => return Err(reason),
            }
        }
        found.sort_compact();
        Ok(found)
    }

    /// Reads at most `bytes_max` bytes of a file. `on_progress` is called with the number of bytes
    /// read and the total.
    pub fn read(
        &self,
        name: &str,
        bytes_max: usize,
        on_progress: &dyn Fn(usize, usize),
    ) -> Result<Vec<u8>> {
        match self {
            SaveStorage::Folder(folder) => {
                atomic_file::read_with_progress(&folder.join(name), bytes_max, on_progress)
            }
            SaveStorage::Memory(memory) => {
                let memory = SaveStorage::lock_memory(memory);
                let bytes = memory.get(name).ok_or(Error::from(ErrorKind::NotFound))?;
                Ok(bytes[..bytes.len().min(bytes_max)].to_vec())
            }
        }
    }

    /// Writes a file with a new name. After an error the file does not exist; it is never partial.
    /// `on_progress` is called with the number of bytes written.
    pub fn write(&self, name: &str, bytes: &[u8], on_progress: &dyn Fn(usize)) -> Result<()> {
        match self {
            SaveStorage::Folder(folder) => {
                atomic_file::create_durably(&folder.join(name), bytes, on_progress)
            }
            SaveStorage::Memory(memory) => {
                SaveStorage::lock_memory(memory).insert(name.to_string(), bytes.to_vec());
                Ok(())
            }
        }
    }

    /// Removes a file durably.
    pub fn remove(&self, name: &str) -> Result<()> {
        match self {
            SaveStorage::Folder(folder) => atomic_file::remove_durably(&folder.join(name)),
            SaveStorage::Memory(memory) => {
                let removed = SaveStorage::lock_memory(memory).remove(name);
                removed.map(|_| ()).ok_or(Error::from(ErrorKind::NotFound))
            }
        }
    }

    /// Removes half-written files of killed processes. Errors are ignored, because no code depends
    /// on the removal.
    pub fn remove_leftovers(&self) {
        let SaveStorage::Folder(folder) = self else { return };
        let Ok(entries) = disk::list(folder) else { return };
        for entry in entries.flatten() {
            let leftover = entry.file_name().to_str().is_some_and(|name| name.ends_with(".tmp"));
            let age = disk::metadata(&entry).and_then(|data| data.modified());
            let age = age.ok().and_then(|time| time.elapsed().ok());
            if leftover && age.is_some_and(|age| age > LEFTOVER_AGE) {
                let _ = disk::remove(&entry.path());
            }
        }
    }
}
