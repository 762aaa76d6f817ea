//! Files replaced so that nobody ever finds one half written, long reads and writes with progress.
//! Each operation of the system goes through disk.rs. Knows nothing of what is in the files.

pub mod disk;
#[cfg(test)]
pub mod simulation;

use disk::{Input, Output};
use std::collections::BTreeSet;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How many bytes are read or written between two words of progress.
const PIECE_BYTES: usize = 256 << 10;

/// Replaces a file so that, whatever happens meanwhile, the old or the new content is there whole:
/// a file beside it is written, flushed to the disk, renamed over it, and the folder flushed.
pub fn write_safely(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, |file| write_pieces(file, bytes, &|_| ()))
}

/// As [`write_safely`], of content that `write` writes, piece by piece: it need not fit in memory.
pub fn write_by(path: &Path, write: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    make_folder(folder_of(path))?;
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement.file)?;
    replacement.finish(path)
}

/// As [`write_safely`], under a name that no file has yet: after an error no file has it, either.
/// `told` is called now and then with how many bytes are written.
pub fn create_safely(path: &Path, bytes: &[u8], told: &dyn Fn(usize)) -> Result<()> {
    make_folder(folder_of(path))?;
    replace(path, |file| write_pieces(file, bytes, told).and_then(|()| file.sync()))?;
    sync_folder(folder_of(path)).inspect_err(|_| {
        // The caller is told that it failed: the file must not turn up later. Where this flush
        // fails, too, it can after a loss of power.
        let _ = disk::remove(path).and_then(|()| sync_folder(folder_of(path)));
    })
}

fn write_pieces(file: &mut Output, bytes: &[u8], told: &dyn Fn(usize)) -> Result<()> {
    let mut written = 0;
    for piece in bytes.chunks(PIECE_BYTES) {
        file.write_all(piece)?;
        written += piece.len();
        told(written);
    }
    Ok(())
}

/// Replaces a file so that nobody ever reads half of it. It is not flushed to the disk, so a loss
/// of power may leave anything: for what can be made again, and is checked when it is read.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    make_missing(folder_of(path), false)?;
    replace(path, |file| file.write_all(bytes))
}

/// Writes a file beside `path` and renames it over it.
fn replace(path: &Path, write: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement.file)?;
    replacement.rename(path)
}

/// A new file beside another one, whose place it takes once it is whole. It is removed whatever
/// stops the writing: half a file is of no use.
#[derive(Debug)]
pub struct Replacement {
    pub file: Output,
    /// Its path; empty once it is in its place.
    beside: PathBuf,
}

impl Replacement {
    /// Makes the new file.
    pub fn begin(path: &Path) -> Result<Replacement> {
        // Two threads, or two engines, may write the same file at once: each has a name of its own.
        static TURN: AtomicU32 = AtomicU32::new(0);
        loop {
            let turn = TURN.fetch_add(1, Ordering::Relaxed);
            let beside = path.with_extension(format!("{}-{turn}.tmp", std::process::id()));
            match Output::create_new(&beside) {
                Err(reason) if reason.kind() == ErrorKind::AlreadyExists => {}
                made => break made.map(|file| Replacement { file, beside }),
            }
        }
    }

    fn rename(mut self, path: &Path) -> Result<()> {
        disk::rename(&self.beside, path)?;
        self.beside.clear();
        Ok(())
    }

    /// Puts the file in its place, so that it outlasts a loss of power.
    pub fn finish(self, path: &Path) -> Result<()> {
        self.file.sync()?;
        self.rename(path)?;
        sync_folder(folder_of(path))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.beside.as_os_str().is_empty() {
            // A file that cannot be removed changes nothing.
            let _ = disk::remove(&self.beside);
        }
    }
}

/// Removes the files that killed processes left half-written beside a file, long ago: a younger one
/// may belong to a process that lives. Nothing depends on it.
pub fn remove_leftovers(path: &Path) {
    const AGE: Duration = Duration::from_secs(3600);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { return };
    let Ok(entries) = disk::list(folder.unwrap_or(Path::new("."))) else { return };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    for entry in entries.flatten() {
        let name = entry.file_name();
        let middle = name.to_str().and_then(|name| name.strip_prefix(stem)?.strip_suffix(".tmp"));
        let ours = middle.and_then(|middle| middle.strip_prefix('.')?.split_once('-'));
        let ours = ours.is_some_and(|(process, turn)| number(process) && number(turn));
        let changed = disk::metadata(&entry).and_then(|data| data.modified());
        let age = changed.ok().and_then(|time| time.elapsed().ok());
        if ours && age.is_some_and(|age| age > AGE) {
            let _ = disk::remove(&entry.path());
        }
    }
}

/// The folders that this process has found or made, and flushed the names of.
static FLUSHED_FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Makes a folder and those above it, so that what is flushed in it can be found after a loss of
/// power.
fn make_folder(folder: &Path) -> Result<()> {
    // A panic elsewhere leaves whole paths in the set.
    let flushed = || FLUSHED_FOLDERS.lock().unwrap_or_else(|poison| poison.into_inner());
    if flushed().contains(folder) && folder.is_dir() {
        return Ok(());
    }
    make_missing(folder, true)?;
    // Another process may have made these folders and been killed before it flushed their names.
    // What is above those that the engine makes is not its own: saving goes on whatever it is like.
    for (level, above) in folder.ancestors().skip(1).enumerate() {
        match sync_folder(above) {
            Err(reason) if level < OWN_FOLDERS && !is_passed_over(reason.kind()) => {
                return Err(reason);
            }
            _ => {}
        }
    }
    flushed().insert(folder.to_path_buf());
    Ok(())
}

/// The folders above that the engine may have made: of `engine/games/ID/saves`.
const OWN_FOLDERS: usize = 4;

/// Whether a folder above is left as it is where flushing it fails like this: one that the process
/// may not open, or whose file system flushes no folders, was there before the game was.
fn is_passed_over(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidInput, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(kind, PermissionDenied | NotFound | InvalidInput | Unsupported | ReadOnlyFilesystem)
}

/// Makes a folder and those above it; `flush`: so that they outlast a loss of power.
fn make_missing(folder: &Path, flush: bool) -> Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let above = folder_of(folder);
    make_missing(above, flush)?;
    match disk::create_folder(folder) {
        // It may be a file; writing in it says so.
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(reason) => Err(reason),
        Ok(()) if !flush => Ok(()),
        Ok(()) => sync_folder(above).inspect_err(|_| {
            // The next attempt must not find it and take its name for flushed.
            let _ = disk::remove_folder(folder);
        }),
    }
}

/// Removes a file for good.
pub fn remove_safely(path: &Path) -> Result<()> {
    disk::remove(path)?;
    sync_folder(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Has the disk keep the names in a folder.
fn sync_folder(folder: &Path) -> Result<()> {
    disk::sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Reads at most `most` bytes of a file; `told` hears how many are read, now and then, and how many
/// there are.
pub fn read_telling(path: &Path, most: usize, told: &dyn Fn(usize, usize)) -> Result<Vec<u8>> {
    let mut file = Input::open(path)?;
    let size = file.size()?.min(most as u64) as usize;
    let mut bytes = Vec::new();
    let lacks = |_| Error::new(ErrorKind::OutOfMemory, format!("no memory for its {size} bytes"));
    bytes.try_reserve_exact(size).map_err(lacks)?;
    while bytes.len() < most {
        let piece = PIECE_BYTES.min(most - bytes.len()) as u64;
        if (&mut file).take(piece).read_to_end(&mut bytes)? == 0 {
            break;
        }
        told(bytes.len(), size);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = std::env::temp_dir().join(format!("engine-{}-write", std::process::id()));
        let path = folder.join("deep/settings.sjson");
        write_safely(&path, b"one").unwrap();
        write_safely(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1);
        // A folder stands where the file should be.
        assert!(write_safely(&folder.join("deep"), b"x").is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        // A file stands where the folder should be.
        assert!(write_safely(&path.join("x"), b"x").is_err());
        remove_safely(&path).unwrap();
        assert!(!path.exists() && remove_safely(&path).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_replaced_safely_is_the_old_or_the_new_one_after_a_loss_of_power() {
        use simulation::{Model, Running};
        let folder = std::env::temp_dir().join(format!("engine-{}-power", std::process::id()));
        let (root, after) = (folder.join("disk"), folder.join("after"));
        std::fs::create_dir_all(&root).unwrap();
        let disk = Running::below(&root);
        let mut confirmed = vec![0];
        for text in ["one", "second", "3"] {
            write_safely(&root.join("deep/settings.sjson"), text.as_bytes()).unwrap();
            confirmed.push(disk.record().len());
        }
        let (record, mut model, mut states) = (disk.record(), Model::default(), 0);
        for count in 0..=record.len() {
            model.lose_power(&root, &after, &mut |state| {
                states += 1;
                let found = std::fs::read_to_string(after.join("deep/settings.sjson"));
                let at = ["one", "second", "3"]
                    .iter()
                    .position(|text| found.as_ref().is_ok_and(|found| found == text));
                // What was confirmed by now, or what was being written.
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
    fn a_writing_that_is_stopped_leaves_nothing_and_old_leftovers_are_removed() {
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
    fn a_link_that_lies_where_a_file_is_begun_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("engine-{}-planted", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("victim"), "kept").unwrap();
        // The next names; other tests take some of them.
        for turn in 0..1000 {
            let name = format!("a.{}-{turn}.tmp", std::process::id());
            std::os::unix::fs::symlink(folder.join("victim"), folder.join(name)).unwrap();
        }
        write_safely(&folder.join("a.txt"), b"new").unwrap();
        assert_eq!(std::fs::read(folder.join("victim")).unwrap(), b"kept");
        assert_eq!(std::fs::read(folder.join("a.txt")).unwrap(), b"new");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn long_files_tell_how_far_they_are() {
        let folder = std::env::temp_dir().join(format!("engine-{}-long", std::process::id()));
        let path = folder.join("long");
        let bytes: Vec<u8> = (0..600_000u32).map(|i| i as u8).collect();
        let heard = RefCell::new(Vec::new());
        create_safely(&path, &bytes, &|done| heard.borrow_mut().push(done)).unwrap();
        assert_eq!(heard.take(), [262_144, 524_288, 600_000]);
        let told = |done, all| heard.borrow_mut().push(done * 100 / all);
        assert_eq!(read_telling(&path, usize::MAX, &told).unwrap(), bytes);
        assert_eq!(heard.take(), [43, 87, 100]);
        assert_eq!(read_telling(&path, 5, &|_, _| ()).unwrap(), [0, 1, 2, 3, 4]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
