//! Changes of several files of a game as one: all of them, or none. A journal makes a change
//! complete after its process was killed or the power has failed, and a record undoes it. One
//! process changes a game at a time. Writes only in the game's folder, and through no link. Knows
//! no resources.

mod journal;
mod lock;
mod records;
mod steps;
#[cfg(test)]
mod tests;

pub use journal::{apply, apply_through, interrupted, recover};
pub use records::{RECORDS_MAX, UndoneChange, forget, forgettable, undo, undoable};

use engine_foundation::hash::murmur64a;
use std::io;

/// A change of one file. Paths are relative to the game's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Replaces the content of a file.
    Write {
        path: String,
        bytes: Vec<u8>,
    },
    /// Creates a file.
    Create {
        path: String,
        bytes: Vec<u8>,
    },
    /// Renames a file, and replaces its content if there are bytes.
    Move {
        from: String,
        to: String,
        bytes: Option<Vec<u8>>,
    },
    Remove {
        path: String,
    },
}

impl FileChange {
    /// Returns the path before the change; the new path of a created file.
    pub fn path(&self) -> &str {
        match self {
            FileChange::Write { path, .. }
            | FileChange::Create { path, .. }
            | FileChange::Remove { path }
            | FileChange::Move { from: path, .. } => path,
        }
    }
}

/// Changes that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// Description for people, such as `mv textures/wall.texture textures/brick`.
    pub title: String,
    pub changes: Vec<FileChange>,
    /// Hashes of files as the plan has read them. A file that differs now stops the change.
    pub expected_hashes: Vec<(String, u64)>,
}

/// Replaces the content of a file of the game, by its path.
pub type FileWriter<'a> = &'a dyn Fn(&str, &[u8]) -> io::Result<()>;

/// Returns the hash of a file's content for [`ChangeSet::expected_hashes`].
pub fn content_hash(bytes: &[u8]) -> u64 {
    murmur64a(bytes, 0)
}
