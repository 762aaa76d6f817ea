//! Files that the player dropped on the window, read for the game. What is no plain file (a pipe, a
//! device) could be waited for without an end, and is not opened.

use crate::system::platform::broker;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest dropped file that is read.
pub const DROPPED_BYTES_MAX: u64 = 256 << 20;

/// The bytes of a file, or the words on why there are none.
pub fn read_dropped(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let unreadable = |reason: std::io::Error| format!("'{shown}' cannot be read: {reason}");
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err(format!("'{shown}' is a folder: only files are read"));
    }
    if !about.is_file() {
        return Err(format!("'{shown}' is a pipe or a device: only plain files are read"));
    }
    let mut bytes = Vec::new();
    // Where a confined process cannot open it, its broker can.
    let file = broker::open_dropped(path).unwrap_or_else(|| File::open(path));
    let file = file.map_err(unreadable)?;
    // Files of the system can hold more than they say.
    file.take(DROPPED_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > DROPPED_BYTES_MAX {
        return Err(format!(
            "'{shown}' has more than {} MiB (DROPPED_BYTES_MAX)",
            DROPPED_BYTES_MAX >> 20
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_of_a_size_are_read() {
        let folder = std::env::temp_dir().join(format!("engine_dropped_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let check = |path: &Path, words: &str| {
            let told = read_dropped(path).unwrap_err();
            assert!(told.ends_with(words), "{told}");
        };
        let file = folder.join("file");
        std::fs::write(&file, b"abc").unwrap();
        assert_eq!(read_dropped(&file), Ok(b"abc".to_vec()));
        check(&folder, "' is a folder: only files are read");
        let large = folder.join("large");
        File::create(&large).unwrap().set_len(DROPPED_BYTES_MAX + 1).unwrap();
        check(&large, "' has more than 256 MiB (DROPPED_BYTES_MAX)");
        #[cfg(unix)]
        {
            let pipe = folder.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.expect("every system has it").success());
            check(&pipe, "' is a pipe or a device: only plain files are read");
            check(Path::new("/dev/zero"), "' is a pipe or a device: only plain files are read");
        }
        let missing = read_dropped(&folder.join("missing")).unwrap_err();
        assert!(missing.contains("missing' cannot be read: "), "{missing}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
