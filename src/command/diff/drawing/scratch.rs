//! The folder for the copy of a game that is drawn. It is removed with its value; folders that a
//! killed process has left are removed by the next one.

use engine_foundation::file_access;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Beginning and middle of the names of the folders, around the numbers of process and copy.
const NAME: [&str; 2] = ["engine-", "-diff-"];
/// File in a folder that its process has locked.
const LOCK: &str = "lock";
/// Its name until it is locked: before that, the folder counts as a new one.
const NEW_LOCK: &str = "lock.new";
/// Maximum number of entries of the folder of temporary files that are looked at.
const ENTRIES_MAX: usize = 100_000;
/// A folder without a file that can be locked may be a new one, which has none yet, or the file
/// system has no locks. It counts as used until it is this old.
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
        let scratch = ScratchFolder::create(&parent)
            .map_err(|reason| format!("{}: {reason}", parent.display()))?;
        remove_stale(&parent, &scratch);
        Ok(scratch)
    }

    fn create(parent: &Path) -> io::Result<ScratchFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{}{}{}{number}", NAME[0], std::process::id(), NAME[1]));
        create_own_folder(&path)?;
        let mut scratch = ScratchFolder { path, lock: None };
        let lock = file_access::append(&scratch.path, NEW_LOCK)?;
        // A file system without locks keeps the folders of killed processes for an hour.
        let _ = lock.try_lock();
        fs::rename(scratch.path.join(NEW_LOCK), scratch.path.join(LOCK))?;
        scratch.lock = Some(lock);
        Ok(scratch)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Creates a folder that other users cannot read. Fails if the path exists: a link there would lead
/// elsewhere.
fn create_own_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    let builder = {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
    };
    // The folder for temporary files is the user's own there.
    #[cfg(not(unix))]
    let builder = fs::DirBuilder::new();
    builder.create(path)
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Some systems remove no open files.
        self.lock = None;
        // Files that stay are only copies.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of this user whose processes have ended. `own` is a folder that this
/// process has made.
fn remove_stale(parent: &Path, own: &ScratchFolder) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.take(ENTRIES_MAX).flatten() {
        let name = entry.file_name();
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        let is_scratch = is_folder && name.to_str().is_some_and(is_scratch_name);
        if is_scratch && has_same_owner(&path, own.path()) && is_stale(&path) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn is_scratch_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let numbers = name.strip_prefix(NAME[0]).and_then(|rest| rest.split_once(NAME[1]));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Returns true if two folders belong to the same user.
#[cfg(unix)]
fn has_same_owner(folder: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::symlink_metadata(path).map(|found| found.uid()).ok();
    owner(folder).is_some_and(|user| owner(other) == Some(user))
}

/// Other systems have a folder for temporary files for each user.
#[cfg(not(unix))]
fn has_same_owner(_: &Path, _: &Path) -> bool {
    true
}

/// Returns true for a folder that no process uses.
fn is_stale(folder: &Path) -> bool {
    if fs::symlink_metadata(folder.join(LOCK)).is_err() {
        return is_old(folder);
    }
    match file_access::append(folder, LOCK).map(|lock| lock.try_lock()) {
        Ok(Ok(())) => true,
        Ok(Err(TryLockError::Error(_))) => is_old(folder),
        Ok(Err(TryLockError::WouldBlock)) | Err(_) => false,
    }
}

/// Returns true for a folder that is too old to be in use.
fn is_old(folder: &Path) -> bool {
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
        // A process that has not locked its file yet.
        fs::write(parent.join("engine-1-diff-1").join(NEW_LOCK), "").unwrap();
        remove_stale(&parent, &used);
        assert!(!stale.exists() && used.path().join(LOCK).exists());
        for kept in ["engine-1-diff-1", "engine-1-diff-x", "engine-x-diff-1", "other"] {
            assert!(parent.join(kept).exists(), "{kept}");
        }
        let path = used.path().to_path_buf();
        drop(used);
        assert!(!path.exists());
        fs::remove_dir_all(&parent).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_compared_by_their_owner() {
        let parent = std::env::temp_dir().join(format!("engine-{}-owner", std::process::id()));
        fs::create_dir_all(parent.join("a")).unwrap();
        assert!(has_same_owner(&parent, &parent.join("a")));
        assert!(!has_same_owner(&parent.join("missing"), &parent.join("missing")));
        fs::remove_dir_all(&parent).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_without_a_lock_is_stale_after_an_hour() {
        let folder = std::env::temp_dir().join(format!("engine-{}-old", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(!is_stale(&folder));
        let long_ago = std::time::SystemTime::now() - 2 * AGE_MIN;
        File::open(&folder).unwrap().set_modified(long_ago).unwrap();
        assert!(is_stale(&folder));
        fs::remove_dir_all(&folder).unwrap();
    }
}
