//! The folder for the copy of a game that is drawn. It is removed with its value; folders that a
//! killed process has left are removed by the next one.

use engine_foundation::file_access;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Beginning and middle of the names of the folders, around the numbers of process and copy.
const NAME: [&str; 2] = ["engine-", "-diff-"];
/// File in a folder that its process has locked.
const LOCK: &str = "lock";
/// Maximum number of entries of the folder of temporary files that are looked at.
const ENTRIES_MAX: usize = 100_000;
/// A folder without a locked file may be a new one, which has none yet, until it is this old.
const AGE_MIN: Duration = Duration::from_secs(3600);

/// A folder for the copy, removed on drop.
pub struct ScratchFolder {
    path: PathBuf,
    /// Held until the folder is removed: others see by it that the process runs.
    lock: Option<File>,
}

impl ScratchFolder {
    pub fn new() -> Result<ScratchFolder, String> {
        let parent = std::env::temp_dir();
        remove_stale(&parent);
        ScratchFolder::create(&parent).map_err(|reason| format!("{}: {reason}", parent.display()))
    }

    fn create(parent: &Path) -> io::Result<ScratchFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{}{}{}{number}", NAME[0], std::process::id(), NAME[1]));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // Fails if the path exists: a link there would lead elsewhere.
        builder.create(&path)?;
        let mut scratch = ScratchFolder { path, lock: None };
        let lock = file_access::append(&scratch.path, LOCK)?;
        // A file system without locks keeps the folders of killed processes for an hour.
        let _ = lock.try_lock();
        scratch.lock = Some(lock);
        Ok(scratch)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Some systems remove no open files.
        self.lock = None;
        // Files that stay are only copies.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders whose processes have ended.
fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.take(ENTRIES_MAX).flatten() {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        if is_folder && name.to_str().is_some_and(is_scratch_name) && is_stale(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_scratch_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let numbers = name.strip_prefix(NAME[0]).and_then(|rest| rest.split_once(NAME[1]));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Returns true for a folder of this user that no process uses.
fn is_stale(folder: &Path) -> bool {
    if fs::symlink_metadata(folder.join(LOCK)).is_ok() {
        // The folder of another user cannot be opened.
        return file_access::append(folder, LOCK).is_ok_and(|lock| lock.try_lock().is_ok());
    }
    let modified = fs::symlink_metadata(folder).and_then(|found| found.modified());
    modified.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > AGE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_ended_processes_are_removed() {
        let parent = std::env::temp_dir().join(format!("engine-{}-stale", std::process::id()));
        let _ = fs::remove_dir_all(&parent);
        fs::create_dir_all(&parent).unwrap();
        let used = ScratchFolder::create(&parent).unwrap();
        let stale = parent.join("engine-1-diff-0");
        fs::create_dir_all(stale.join("game")).unwrap();
        fs::write(stale.join(LOCK), "").unwrap();
        for kept in ["engine-1-diff-1", "engine-1-diff-x", "engine-x-diff-1", "other"] {
            fs::create_dir(parent.join(kept)).unwrap();
        }
        // A link is not followed.
        #[cfg(unix)]
        {
            fs::write(parent.join("other/lock"), "").unwrap();
            std::os::unix::fs::symlink("other", parent.join("engine-1-diff-9")).unwrap();
        }
        remove_stale(&parent);
        assert!(!stale.exists() && used.path().join(LOCK).exists());
        for kept in ["engine-1-diff-1", "engine-1-diff-x", "engine-x-diff-1", "other"] {
            assert!(parent.join(kept).exists(), "{kept}");
        }
        let path = used.path().to_path_buf();
        drop(used);
        assert!(!path.exists());
        fs::remove_dir_all(&parent).unwrap();
    }
}
