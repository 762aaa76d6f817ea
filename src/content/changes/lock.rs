//! The lock of changes: one engine command changes a game at a time. It belongs to the process, so
//! that one that was killed holds none.

use engine_foundation::Error;
use engine_foundation::atomic_file::disk;
use engine_foundation::error;
use engine_foundation::file_access;
use engine_foundation::output_file;
use engine_foundation::own_folder;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The file that is locked. It stays, because removing it would let two processes hold locks.
const FILE: &str = ".engine/change.lock";

/// The right to change the files of a game, until this value is dropped.
#[derive(Debug)]
pub(super) struct ChangeLock {
    _file: File,
}

impl ChangeLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// Returns an error if another process has it, or if its file cannot be opened.
    pub fn take(root: &Path) -> Result<ChangeLock, Error> {
        let failed = |reason: io::Error| error!("{FILE}: {reason}");
        own_folder::create(root).map_err(|reason| error!("{}: {reason}", own_folder::NAME))?;
        output_file::check_no_links(root, Path::new(FILE)).map_err(failed)?;
        let path = root.join(FILE);
        match disk::DiskOutput::create_new(&path) {
            Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(reason));
            }
            _ => {}
        }
        let file =
            file_access::open_named(&path).map_err(|refusal| Error::new(refusal.message(FILE)))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(error!(
                "another engine command changes this game: wait until it has ended, and try again"
            )),
            // A file system without locks counts as one that nobody else uses.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(ChangeLock { _file: file }),
        }
    }
}
