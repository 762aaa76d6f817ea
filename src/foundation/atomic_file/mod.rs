//! Safe writing: atomic replacement of files, and long reads and writes with progress reports. Each
//! system call goes through disk.rs. Knows nothing about the content of files.

pub mod disk;
#[cfg(debug_assertions)]
pub mod disk_simulation;
mod link;

pub use link::Link;

use disk::{DiskInput, DiskOutput};
use std::collections::BTreeSet;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Number of bytes that are read or written between two progress reports.
const PIECE_BYTES: usize = 256 << 10;

/// Replaces a file atomically and durably: after a crash or a power failure, either the old or the
/// new content is complete. Writes a temporary file in the same folder, flushes it to the disk,
/// renames it over the file, and flushes the folder.
pub fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, |file| write_pieces(file, bytes, &|_| ()))
}

/// Replaces a file as [`write_durably`] does, with content that `write` writes piece by piece. The
/// content need not fit in memory.
pub fn write_by(path: &Path, write: impl FnOnce(&mut DiskOutput) -> Result<()>) -> Result<()> {
    make_folder(folder_of(path))?;
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement.file)?;
    replacement.finish(path)
}

/// Creates a file as durably as [`write_durably`] does; the name must be unused. After an error, no
/// file has the name. `on_progress` is called from time to time with the number of bytes written.
pub fn create_durably(path: &Path, bytes: &[u8], on_progress: &dyn Fn(usize)) -> Result<()> {
    make_folder(folder_of(path))?;
    replace(path, |file| write_pieces(file, bytes, on_progress).and_then(|()| file.sync()))?;
    sync_folder(folder_of(path)).inspect_err(|_| {
        // An error is reported to the caller, so the file must not appear later. If this flush also
        // fails, the file can still appear after a power failure.
        let _ = disk::remove(path).and_then(|()| sync_folder(folder_of(path)));
    })
}

fn write_pieces(file: &mut DiskOutput, bytes: &[u8], on_progress: &dyn Fn(usize)) -> Result<()> {
    let mut written = 0;
    for piece in bytes.chunks(PIECE_BYTES) {
        file.write_all(piece)?;
        written += piece.len();
        on_progress(written);
    }
    Ok(())
}

/// Replaces a file atomically, but does not flush it to the disk. No reader sees a partial file,
/// but a power failure may leave any content. Use it for data that can be rebuilt and that is
/// checked when it is read.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    create_missing_folders(folder_of(path), false)?;
    replace(path, |file| file.write_all(bytes))
}

/// Writes a temporary file next to `path` and renames it over `path`.
fn replace(path: &Path, write: impl FnOnce(&mut DiskOutput) -> Result<()>) -> Result<()> {
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement.file)?;
    replacement.rename(path)
}

/// A temporary file next to the file that it replaces when it is complete. If writing stops for any
/// reason, the temporary file is removed, because a partial file is useless.
#[derive(Debug)]
pub struct Replacement {
    pub file: DiskOutput,
    /// Path of the temporary file; empty after it was renamed.
    temporary_path: PathBuf,
}

/// Returns a temporary name in the folder of a file. Two threads, or two engines, may write the
/// same file at once, so each call returns another name.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let turn = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("{}-{turn}.tmp", std::process::id()))
}

impl Replacement {
    /// Creates the temporary file.
    pub fn begin(path: &Path) -> Result<Replacement> {
        loop {
            let temporary_path = temporary_path(path);
            match DiskOutput::create_new(&temporary_path) {
                Err(reason) if reason.kind() == ErrorKind::AlreadyExists => {}
                result => break result.map(|file| Replacement { file, temporary_path }),
            }
        }
    }

    fn rename(mut self, path: &Path) -> Result<()> {
        disk::rename(&self.temporary_path, path)?;
        self.temporary_path.clear();
        Ok(())
    }

    /// Renames the temporary file over `path`, so that the new content survives a power failure.
    pub fn finish(self, path: &Path) -> Result<()> {
        self.file.sync()?;
        self.rename(path)?;
        sync_folder(folder_of(path))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.temporary_path.as_os_str().is_empty() {
            // A temporary file that cannot be removed does no harm.
            let _ = disk::remove(&self.temporary_path);
        }
    }
}

/// Removes temporary files that killed processes left next to a file more than an hour ago. A
/// younger one may belong to a running process. Errors are ignored, because nothing depends on the
/// removal.
pub fn remove_leftovers(path: &Path) {
    const AGE: Duration = Duration::from_secs(3600);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { return };
    let Ok(entries) = disk::list(folder.unwrap_or(Path::new("."))) else { return };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    for entry in entries.flatten() {
        let name = entry.file_name();
        let suffix = name.to_str().and_then(|name| name.strip_prefix(stem)?.strip_suffix(".tmp"));
        let is_ours = suffix.and_then(|suffix| suffix.strip_prefix('.')?.split_once('-'));
        let is_ours = is_ours.is_some_and(|(process, turn)| number(process) && number(turn));
        let modified = disk::metadata(&entry).and_then(|data| data.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        if is_ours && age.is_some_and(|age| age > AGE) {
            let _ = disk::remove(&entry.path());
        }
    }
}

/// Folders that this process has found or created, and whose names it has flushed.
static FLUSHED_FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Creates a folder and its parents durably, so that files flushed in it can be found after a power
/// failure.
fn make_folder(folder: &Path) -> Result<()> {
    // A panic on another thread leaves only complete paths in the set.
    let flushed = || FLUSHED_FOLDERS.lock().unwrap_or_else(|poison| poison.into_inner());
    if flushed().contains(folder) && folder.is_dir() {
        return Ok(());
    }
    create_missing_folders(folder, true)?;
    // Another process may have created these folders and may have been killed before it flushed
    // their names. Folders above those that the engine creates do not belong to the engine, so
    // errors there are ignored.
    for (level, parent) in folder.ancestors().skip(1).enumerate() {
        match sync_folder(parent) {
            Err(reason) if level < CREATED_FOLDERS_MAX && !is_ignored_error(reason.kind()) => {
                return Err(reason);
            }
            _ => {}
        }
    }
    flushed().insert(folder.to_path_buf());
    Ok(())
}

/// Number of parent folders that the engine may have created, for example for
/// `engine/games/ID/saves`.
const CREATED_FOLDERS_MAX: usize = 4;

/// Returns true if this error from flushing a parent folder is ignored. A folder that the process
/// may not open, or whose file system flushes no folders, existed before the game did.
fn is_ignored_error(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidInput, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(kind, PermissionDenied | NotFound | InvalidInput | Unsupported | ReadOnlyFilesystem)
}

/// Creates a folder and its missing parents. If `flush` is true, they survive a power failure.
fn create_missing_folders(folder: &Path, flush: bool) -> Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let parent = folder_of(folder);
    create_missing_folders(parent, flush)?;
    match disk::create_folder(folder) {
        // The existing entry may be a file. In that case, writing into it reports the error.
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(reason) => Err(reason),
        Ok(()) if !flush => Ok(()),
        Ok(()) => sync_folder(parent).inspect_err(|_| {
            // Otherwise the next attempt would find the folder and assume that its name was
            // flushed.
            let _ = disk::remove_folder(folder);
        }),
    }
}

/// Removes a file durably: it does not reappear after a power failure.
pub fn remove_durably(path: &Path) -> Result<()> {
    disk::remove(path)?;
    sync_folder(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Flushes the entries of a folder to the disk.
fn sync_folder(folder: &Path) -> Result<()> {
    disk::sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Reads at most `bytes_max` bytes of a file. `on_progress` is called from time to time with the
/// number of bytes read and the total.
pub fn read_with_progress(
    path: &Path,
    bytes_max: usize,
    on_progress: &dyn Fn(usize, usize),
) -> Result<Vec<u8>> {
    let mut file = DiskInput::open(path)?;
    let size = file.size()?.min(bytes_max as u64) as usize;
    let mut bytes = Vec::new();
    let no_memory =
        |_| Error::new(ErrorKind::OutOfMemory, format!("no memory for its {size} bytes"));
    bytes.try_reserve_exact(size).map_err(no_memory)?;
    while bytes.len() < bytes_max {
        let piece = PIECE_BYTES.min(bytes_max - bytes.len()) as u64;
        if (&mut file).take(piece).read_to_end(&mut bytes)? == 0 {
            break;
        }
        on_progress(bytes.len(), size);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_file_is_replaced_atomically_without_leftovers() {
        let folder = std::env::temp_dir().join(format!("engine-{}-write", std::process::id()));
        let path = folder.join("deep/settings.sjson");
        write_durably(&path, b"one").unwrap();
        write_durably(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1);
        // A folder exists at the file's path.
        assert!(write_durably(&folder.join("deep"), b"x").is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        // A file exists at the folder's path.
        assert!(write_durably(&path.join("x"), b"x").is_err());
        remove_durably(&path).unwrap();
        assert!(!path.exists() && remove_durably(&path).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_power_loss_leaves_the_old_or_the_new_file() {
        use disk_simulation::{DiskModel, SimulationGuard};
        let folder = std::env::temp_dir().join(format!("engine-{}-power", std::process::id()));
        let (root, after) = (folder.join("disk"), folder.join("after"));
        std::fs::create_dir_all(&root).unwrap();
        let disk = SimulationGuard::below(&root);
        let mut confirmed = vec![0];
        for text in ["one", "second", "3"] {
            write_durably(&root.join("deep/settings.sjson"), text.as_bytes()).unwrap();
            confirmed.push(disk.record().len());
        }
        let (record, mut model, mut states) = (disk.record(), DiskModel::default(), 0);
        for count in 0..=record.len() {
            model.lose_power(&root, &after, &mut |state| {
                states += 1;
                let found = std::fs::read_to_string(after.join("deep/settings.sjson"));
                let at = ["one", "second", "3"]
                    .iter()
                    .position(|text| found.as_ref().is_ok_and(|found| found == text));
                // The file must have the last confirmed content, or the content that was being
                // written.
                let least = confirmed.iter().rposition(|end| *end <= count).unwrap_or(0);
                let found_at = at.map_or(0, |at| at + 1);
                let good = (least..=least + 1).contains(&found_at);
                assert!(good && (at.is_some() || found.is_err()), "{count}, {state}: {found:?}");
            });
            if let Some(operation) = record.get(count) {
                model.apply(operation);
            }
        }
        assert!(states > 30, "only {states} states");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn leftovers_of_interrupted_writes_are_removed() {
        let folder = std::env::temp_dir().join(format!("engine-{}-stopped", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("game.bundle");
        let names = || std::fs::read_dir(&folder).unwrap().count();
        let stopped = write_by(&path, |file| {
            file.write_all(b"half")?;
            Err(std::io::Error::other("stopped"))
        });
        assert_eq!((stopped.unwrap_err().to_string().as_str(), names()), ("stopped", 0));
        let panicked = std::panic::catch_unwind(|| write_by(&path, |_| panic!("a fault")));
        assert_eq!((panicked.is_err(), names()), (true, 0));
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(7200);
        for (name, time) in [
            ("game.12-3.tmp", Some(long_ago)),
            ("game.12-4.tmp", None),
            ("game.own.tmp", Some(long_ago)),
            ("other.12-3.tmp", Some(long_ago)),
        ] {
            let file = std::fs::File::create(folder.join(name)).unwrap();
            time.into_iter().for_each(|time| file.set_modified(time).unwrap());
        }
        remove_leftovers(&path);
        assert!(!folder.join("game.12-3.tmp").exists() && names() == 3);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_at_the_temporary_path_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("engine-{}-planted", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("victim"), "kept").unwrap();
        // These are the next temporary names; other tests take some of them.
        for turn in 0..1000 {
            let name = format!("a.{}-{turn}.tmp", std::process::id());
            std::os::unix::fs::symlink(folder.join("victim"), folder.join(name)).unwrap();
        }
        write_durably(&folder.join("a.txt"), b"new").unwrap();
        assert_eq!(std::fs::read(folder.join("victim")).unwrap(), b"kept");
        assert_eq!(std::fs::read(folder.join("a.txt")).unwrap(), b"new");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn writing_a_long_file_reports_progress() {
        let folder = std::env::temp_dir().join(format!("engine-{}-long", std::process::id()));
        let path = folder.join("long");
        let bytes: Vec<u8> = (0..600_000u32).map(|i| i as u8).collect();
        let heard = RefCell::new(Vec::new());
        create_durably(&path, &bytes, &|done| heard.borrow_mut().push(done)).unwrap();
        assert_eq!(heard.take(), [262_144, 524_288, 600_000]);
        let on_progress = |done, all| heard.borrow_mut().push(done * 100 / all);
        assert_eq!(read_with_progress(&path, usize::MAX, &on_progress).unwrap(), bytes);
        assert_eq!(heard.take(), [43, 87, 100]);
        assert_eq!(read_with_progress(&path, 5, &|_, _| ()).unwrap(), [0, 1, 2, 3, 4]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
