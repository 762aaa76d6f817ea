//! The lock of changes: one engine command changes a game at a time. It belongs to the process, so
//! that one that was killed holds none.

use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::file_access;
use engine_foundation::log;
use engine_foundation::output_file;
use engine_foundation::own_folder;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Once;

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
        // NFS locks a file alone for one process only if that one can write to it.
        let file = file_access::append(root, FILE).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(error!(
                "another engine command changes this game: wait until it has ended, and try again"
            )),
            Err(TryLockError::Error(reason)) => {
                warn_without_locks(&reason);
                Ok(ChangeLock { _file: file })
            }
            Ok(()) => Ok(ChangeLock { _file: file }),
        }
    }
}

/// Warns once in a process: a file system without locks counts as one that nobody else uses.
fn warn_without_locks(reason: &io::Error) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| log::warning(&without_locks_message(reason)));
}

fn without_locks_message(reason: &io::Error) -> String {
    format!(
        "the file system cannot lock {FILE} ({reason}): run only one engine command at a time that \
         changes this game"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game_for_tests::TestGame;

    #[test]
    fn one_process_has_the_lock_and_can_write_its_file() {
        let game = TestGame::new(&[]);
        let lock = ChangeLock::take(&game.root).unwrap();
        let second = ChangeLock::take(&game.root).unwrap_err().message;
        assert!(second.starts_with("another engine command changes this game"), "{second}");
        // NFS refuses a lock of a file that is open for reading.
        io::Write::write_all(&mut &lock._file, b"x").unwrap();
        drop(lock);
        ChangeLock::take(&game.root).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_lock() {
        let game = TestGame::new(&[("other", "")]);
        own_folder::create(&game.root).unwrap();
        std::os::unix::fs::symlink(game.root.join("other"), game.root.join(FILE)).unwrap();
        assert!(ChangeLock::take(&game.root).is_err());
    }

    #[test]
    fn a_file_system_without_locks_is_named() {
        let reason = io::Error::from(io::ErrorKind::Unsupported);
        let message = without_locks_message(&reason);
        assert!(message.contains(".engine/change.lock (unsupported)"), "{message}");
    }
}
