//! Writing files so that nothing is ever half there. Knows nothing of what is in them.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Replaces a file so that, whatever happens meanwhile, the old or the new content is there whole:
/// a file beside it is written, flushed to the disk, renamed over it, and the folder flushed.
pub fn write_safely(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Two threads, or two engines, may write the same file at once: each has a name of its own.
    static TURN: AtomicU32 = AtomicU32::new(0);
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{turn}.tmp", std::process::id()));
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    let written = write();
    if written.is_err() {
        // The half-written file is of no use; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&beside);
    }
    written?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        std::fs::remove_dir_all(folder).unwrap();
    }
}
