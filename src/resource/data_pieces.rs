//! Data of a resource that is read in pieces, for resources that are used while only a part of them
//! is in memory. The reader of the pieces has to check them: their checksums are in the data, so
//! that the whole need not be compared with the index before it is used.

use super::bundle::{REMEDY, SharedBytes};
use super::folder_data;
use super::resource_name::ResourceName;
use super::store::{DataLocation, DataSource, ResourceStore};
use engine_foundation::file_access::readers::COMPILED_BYTES_MAX;
use engine_foundation::file_access::{self, AccessError, FileState};
use engine_foundation::memory::limit;
use engine_foundation::{Error, error};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Data of a resource that can be read in pieces, also on other threads. It stays the same if the
/// resource is compiled again.
#[derive(Debug)]
pub struct DataPieces {
    /// Name of the resource, for messages.
    resource: ResourceName,
    bytes: u64,
    source: PieceSource,
}

/// Source of the pieces.
#[derive(Debug)]
enum PieceSource {
    /// A part of a bundle.
    Bundle(SharedBytes),
    /// An open file in a folder of compiled data, and its state when it was opened.
    File { file: Mutex<File>, folder: PathBuf, name: String, state: FileState },
}

impl DataPieces {
    /// Creates the pieces of data of a bundle, or of data in memory.
    pub fn new(resource: ResourceName, bytes: SharedBytes) -> DataPieces {
        let count = bytes.len() as u64;
        DataPieces { resource, bytes: count, source: PieceSource::Bundle(bytes) }
    }

    /// Returns the number of bytes of all the data.
    pub fn byte_count(&self) -> u64 {
        self.bytes
    }

    /// Reads a piece of the data: a range of bytes.
    ///
    /// # Errors
    /// Fails if the range is not within the data, or the file cannot be read. The error is a
    /// temporary one unless the file has become shorter.
    pub fn read(&self, range: Range<u64>) -> Result<SharedBytes, Error> {
        if range.start > range.end || range.end > self.bytes {
            return Err(error!("it is cut short: {} bytes of {}", self.bytes, range.end));
        }
        let count = (range.end - range.start) as usize;
        match &self.source {
            PieceSource::Bundle(all) => Ok(all.part(range.start as usize..range.end as usize)),
            PieceSource::File { file, .. } => {
                limit::check_room(count)?;
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut bytes = vec![0; count];
                let read = file
                    .seek(SeekFrom::Start(range.start))
                    .and_then(|_| file.read_exact(&mut bytes));
                read.map_err(|reason| {
                    let is_transient = reason.kind() != ErrorKind::UnexpectedEof;
                    Error { is_transient, ..error!("it cannot be read: {reason}") }
                })?;
                Ok(SharedBytes::from(bytes))
            }
        }
    }

    /// Returns the error for a piece that cannot be used, with advice for the player of the game.
    /// Data in a folder is removed, so that it is compiled again, unless another version has
    /// replaced it.
    pub fn refuse(&self, error: Error) -> Error {
        if error.is_engine_fault || error.is_transient || limit::is_shortage(&error) {
            return error;
        }
        let describe = || self.resource.to_string();
        match &self.source {
            PieceSource::Bundle(_) => {
                error!("the data of {}: {}: {REMEDY}", self.resource, error.message)
            }
            PieceSource::File { folder, name, state, .. } => {
                folder_data::discard_opened(folder, (name, *state), error, &describe)
            }
        }
    }
}

impl ResourceStore {
    /// Opens the data of a resource for reading in pieces. Nothing of it is checked. In a folder,
    /// another engine may have written a newer version than that of the index.
    ///
    /// # Errors
    /// Fails if there is no such resource, or its file cannot be opened.
    pub fn pieces(&mut self, resource: &ResourceName) -> Result<DataPieces, Error> {
        self.record_request(resource);
        let Some(location) = self.location(resource, self.preferences()) else {
            return Err(error!("{}", self.missing_message(resource)));
        };
        let unread = |name: &str, reason: AccessError| {
            error!("the compiled data of {resource} ({name}) cannot be read: {reason}")
        };
        let (bytes, source) = match (self.data(), location) {
            (DataSource::Bundle(bundle), DataLocation::Part(part)) => {
                let kind = bundle.kind(part);
                if kind.name != resource.kind {
                    return Err(error!("the data of {resource}: it is of type {kind:?}: {REMEDY}"));
                }
                return Ok(DataPieces::new(resource.clone(), bundle.unchecked(part)));
            }
            (DataSource::Folder(folder, _), DataLocation::File { name, .. }) => {
                let (file, bytes, state) =
                    folder_data::open(folder, &name).map_err(|reason| unread(&name, reason))?;
                if bytes > COMPILED_BYTES_MAX {
                    let reader = &file_access::readers::COMPILED;
                    return Err(unread(&name, AccessError::Size(reader)));
                }
                let (file, folder) = (Mutex::new(file), folder.clone());
                (bytes, PieceSource::File { file, folder, name, state })
            }
            _ => return Err(error!("there is no compiled data")),
        };
        Ok(DataPieces { resource: resource.clone(), bytes, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8]) -> DataPieces {
        let resource = ResourceName::new("animation", "dance");
        DataPieces::new(resource, SharedBytes::from(bytes.to_vec()))
    }

    #[test]
    fn pieces_are_parts_of_the_data() {
        let pieces = pieces(b"abcdef");
        assert_eq!(&*pieces.read(2..4).unwrap(), b"cd");
        assert_eq!(&*pieces.read(6..6).unwrap(), b"");
        for range in [4..7, 7..8, 0..u64::MAX] {
            assert!(pieces.read(range).unwrap_err().message.contains("cut short"));
        }
    }

    #[test]
    fn a_file_keeps_its_data_when_it_is_replaced() {
        let name = format!("engine-{}-data-pieces", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("data"), b"first version").unwrap();
        let (file, bytes, state) = folder_data::open(&folder, "data").unwrap();
        let source = PieceSource::File {
            file: Mutex::new(file),
            folder: folder.clone(),
            name: "data".to_string(),
            state,
        };
        let resource = ResourceName::new("animation", "dance");
        let pieces = DataPieces { resource, bytes, source };
        engine_foundation::atomic_file::write_whole(&folder.join("data"), b"other").unwrap();
        assert_eq!(&*pieces.read(6..13).unwrap(), b"version");
        let refused = pieces.refuse(error!("it is damaged")).message;
        assert!(refused.contains("dance") && refused.contains("compiled again"), "{refused}");
        assert!(folder.join("data").exists(), "it is another version");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_became_shorter_is_damaged_and_removed() {
        let name = format!("engine-{}-data-pieces-cut", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("data");
        std::fs::write(&path, b"short").unwrap();
        let (file, _, state) = folder_data::open(&folder, "data").unwrap();
        let (file, name) = (Mutex::new(file), "data".to_string());
        let source = PieceSource::File { file, folder: folder.clone(), name, state };
        let resource = ResourceName::new("animation", "dance");
        let pieces = DataPieces { resource, bytes: 9, source };
        let error = pieces.read(0..9).unwrap_err();
        assert!(!error.is_transient, "{error}");
        let passing = Error { is_transient: true, ..error.clone() };
        assert_eq!(pieces.refuse(passing.clone()), passing);
        assert!(path.exists(), "it may be readable later");
        assert!(pieces.refuse(error).message.contains("compiled again"));
        assert!(!path.exists(), "the next start compiles it again");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
