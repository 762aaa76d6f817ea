//! Files that the player dropped on the window, read for the game. What is no plain file (a pipe, a
//! device) could be waited for without an end, and is not opened.

pub use crate::foundation::file_access::readers::DROPPED_BYTES_MAX;

use crate::foundation::file_access::{self, Refusal, readers, stays_inside};
use crate::foundation::memory::limit;
use crate::system::platform::broker;
use std::fmt::Display;
use std::path::Path;

/// The bytes of a file, or the words on why there are none.
pub fn read_dropped(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let reader = &readers::DROPPED;
    // Where a confined process cannot open it, its broker can.
    let file = kind_of(path).and_then(|()| match broker::open_dropped(path) {
        Some(file) => file.map_err(Refusal::from),
        None => file_access::open_named(path),
    });
    let read = file.and_then(|file| {
        let bytes = file.metadata()?.len().min(reader.bytes_max);
        limit::check_room(bytes as usize).map_err(std::io::Error::other)?;
        file_access::read_open(file, reader)
    });
    read.map_err(|refusal| reason(&shown, refusal))
}

/// The same for a file that a recording or a test says was dropped. Both are files of a game, so
/// they open nothing outside of its folder `root`; a bundle has none.
pub fn read_as_if_dropped(path: &Path, root: Option<&Path>) -> Result<Vec<u8>, String> {
    let shown = path.display();
    // The root may be written from the current folder.
    let whole = root.and_then(|root| std::path::absolute(root).ok());
    let own = |root: &Path| path.strip_prefix(root).ok();
    let relative = root.and_then(own).or_else(|| whole.as_deref().and_then(own)).unwrap_or(path);
    let inside = root.map(|root| (relative, root));
    let outside = || {
        format!(
            "'{shown}' cannot be read: a recording or a test dropped it, and such files are read \
             only from the game's own folder"
        )
    };
    let (path, root) = inside.filter(|(path, _)| stays_inside(path)).ok_or_else(outside)?;
    let path = path.to_str().ok_or_else(outside)?;
    file_access::read(root, path, &readers::DROPPED).map_err(|refusal| reason(&shown, refusal))
}

/// The words on why a file was not read.
fn reason(shown: &impl Display, refusal: Refusal) -> String {
    match refusal {
        Refusal::Folder => format!("'{shown}' is a folder: only files are read"),
        Refusal::Special => {
            format!("'{shown}' is a pipe or a device: only plain files are read")
        }
        Refusal::Size(reader) => {
            format!("'{shown}' has more than {} MiB (DROPPED_BYTES_MAX)", reader.bytes_max >> 20)
        }
        reason => format!("'{shown}' cannot be read: {reason}"),
    }
}

/// Refuses what is no plain file. What cannot be looked at is refused when it is opened.
fn kind_of(path: &Path) -> Result<(), Refusal> {
    match path.metadata() {
        Ok(about) if about.is_dir() => Err(Refusal::Folder),
        Ok(about) if !about.is_file() => Err(Refusal::Special),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

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

    #[test]
    fn a_recording_or_a_test_drops_only_files_of_the_game() {
        let base = std::env::temp_dir().join(format!("engine_as_dropped_{}", std::process::id()));
        let game = base.join("game");
        std::fs::create_dir_all(&game).unwrap();
        std::fs::write(game.join("own"), b"own").unwrap();
        std::fs::write(base.join("private"), b"private").unwrap();
        let read = |path: &Path| read_as_if_dropped(path, Some(&game));
        assert_eq!(read(&game.join("own")), Ok(b"own".to_vec()));
        assert_eq!(read(Path::new("own")), Ok(b"own".to_vec()));
        let private = base.join("private");
        for path in [&private, &game.join("../private"), Path::new("../private")] {
            let told = read(path).unwrap_err();
            assert!(told.contains("only from the game's own folder"), "{told}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&private, game.join("link")).unwrap();
            read(Path::new("link")).unwrap_err();
        }
        read_as_if_dropped(&game.join("own"), None).unwrap_err();
        let here = std::path::absolute("Cargo.toml").unwrap();
        assert!(read_as_if_dropped(&here, Some(Path::new("."))).is_ok());
        std::fs::remove_dir_all(&base).unwrap();
    }
}
