//! Where the files of saves are: a folder on the disk, or the memory of this process. Knows files
//! by name and bytes, not what is in them.

use crate::foundation::files::{self, disk};
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// What a killed process left half-written is removed when it is this old: a younger one may belong
/// to a process that lives.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// A place for files.
pub enum Place {
    /// It need not be there yet.
    Folder(PathBuf),
    Memory(Mutex<BTreeMap<String, Vec<u8>>>),
}

impl Place {
    fn memory(
        memory: &Mutex<BTreeMap<String, Vec<u8>>>,
    ) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        // What is in the map is whole files, whoever panicked meanwhile.
        memory.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The names and sizes of all files, by name. Names that are not UTF-8 are not ours.
    pub fn list(&self) -> Result<Vec<(String, u64)>> {
        let folder = match self {
            Place::Folder(folder) => folder,
            Place::Memory(memory) => {
                let memory = Place::memory(memory);
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
                Ok(_) => {}
                // Another process removed it since.
                Err(reason) if reason.kind() == ErrorKind::NotFound => {}
                Err(reason) => return Err(reason),
            }
        }
        found.sort();
        Ok(found)
    }

    /// At most `most` bytes of a file; `told` hears how many are read, of how many.
    pub fn read(&self, name: &str, most: usize, told: &dyn Fn(usize, usize)) -> Result<Vec<u8>> {
        match self {
            Place::Folder(folder) => files::read_telling(&folder.join(name), most, told),
            Place::Memory(memory) => {
                let memory = Place::memory(memory);
                let bytes = memory.get(name).ok_or(Error::from(ErrorKind::NotFound))?;
                Ok(bytes[..bytes.len().min(most)].to_vec())
            }
        }
    }

    /// Writes a file of a new name, which is there whole or, after an error, not at all; `told`
    /// hears how many bytes are written.
    pub fn write(&self, name: &str, bytes: &[u8], told: &dyn Fn(usize)) -> Result<()> {
        match self {
            Place::Folder(folder) => files::create_safely(&folder.join(name), bytes, told),
            Place::Memory(memory) => {
                Place::memory(memory).insert(name.to_string(), bytes.to_vec());
                Ok(())
            }
        }
    }

    /// Removes a file for good.
    pub fn remove(&self, name: &str) -> Result<()> {
        match self {
            Place::Folder(folder) => files::remove_safely(&folder.join(name)),
            Place::Memory(memory) => {
                let removed = Place::memory(memory).remove(name);
                removed.map(|_| ()).ok_or(Error::from(ErrorKind::NotFound))
            }
        }
    }

    /// Removes what killed processes left half-written. Nothing depends on it.
    pub fn sweep(&self) {
        let Place::Folder(folder) = self else { return };
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
