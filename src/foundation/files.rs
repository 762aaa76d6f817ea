//! Writing files so that nothing is ever half there, and reading long ones with word of how far it
//! is. Knows nothing of what is in them.

use std::fs::File;
use std::io::{Read, Result, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many bytes are read or written between two words of progress.
const PIECE_BYTES: usize = 256 << 10;

/// Replaces a file so that, whatever happens meanwhile, the old or the new content is there whole:
/// a file beside it is written, flushed to the disk, renamed over it, and the folder flushed.
pub fn write_safely(path: &Path, bytes: &[u8]) -> Result<()> {
    write_telling(path, bytes, &|_| ())
}

/// As [`write_safely`]; `told` hears how many bytes are written, now and then.
pub fn write_telling(path: &Path, bytes: &[u8], told: &dyn Fn(usize)) -> Result<()> {
    write_by(path, |file| {
        let mut written = 0;
        for piece in bytes.chunks(PIECE_BYTES) {
            file.write_all(piece)?;
            written += piece.len();
            told(written);
        }
        Ok(())
    })
}

/// As [`write_safely`], of content that `write` writes, piece by piece: it need not fit in memory.
pub fn write_by(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    replace(path, |file| write(file).and_then(|()| file.sync_all()))?;
    flush_folder(folder)
}

/// Replaces a file so that nobody ever reads half of it. It is not flushed to the disk, so a loss
/// of power may leave anything: for what can be made again, and is checked when it is read.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    replace(path, |file| file.write_all(bytes))
}

/// Writes a file beside `path` and renames it over it.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    // Two threads, or two engines, may write the same file at once: each has a name of its own.
    static TURN: AtomicU32 = AtomicU32::new(0);
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{turn}.tmp", std::process::id()));
    let mut file = File::create(&beside)?;
    let written = write(&mut file).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // The half-written file is of no use; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Makes a folder and those above it, so that what is flushed in it can be found after a loss of
/// power.
fn make_folder(folder: &Path) -> Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(Path::new("."));
    make_folder(above)?;
    match std::fs::create_dir(folder) {
        Err(reason) if reason.kind() != std::io::ErrorKind::AlreadyExists => Err(reason),
        // It may be a file; writing in it says so.
        _ => flush_folder(above),
    }
}

/// Removes a file for good.
pub fn remove_safely(path: &Path) -> Result<()> {
    std::fs::remove_file(path)?;
    flush_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Has the disk keep what was made, renamed and removed in a folder.
fn flush_folder(folder: &Path) -> Result<()> {
    // Elsewhere folders cannot be opened as files, and keep their entries by themselves.
    #[cfg(unix)]
    File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Reads at most `most` bytes of a file; `told` hears how many are read, now and then, and how many
/// there are.
pub fn read_telling(path: &Path, most: usize, told: &dyn Fn(usize, usize)) -> Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len().min(most as u64) as usize;
    let mut bytes = Vec::with_capacity(size);
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
    fn long_files_tell_how_far_they_are() {
        let folder = std::env::temp_dir().join(format!("engine-{}-long", std::process::id()));
        let path = folder.join("long");
        let bytes: Vec<u8> = (0..600_000u32).map(|i| i as u8).collect();
        let heard = RefCell::new(Vec::new());
        write_telling(&path, &bytes, &|done| heard.borrow_mut().push(done)).unwrap();
        assert_eq!(heard.take(), [262_144, 524_288, 600_000]);
        let told = |done, all| heard.borrow_mut().push(done * 100 / all);
        assert_eq!(read_telling(&path, usize::MAX, &told).unwrap(), bytes);
        assert_eq!(heard.take(), [43, 87, 100]);
        assert_eq!(read_telling(&path, 5, &|_, _| ()).unwrap(), [0, 1, 2, 3, 4]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
