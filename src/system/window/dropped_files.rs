//! Reading of files that the player dropped on the window. Only regular files are opened, because
//! reading a pipe or a device could block forever.

pub use engine_foundation::file_access::readers::DROPPED_BYTES_MAX;

use engine_foundation::file_access::{self, AccessError, readers, stays_inside};
use engine_foundation::memory::limit;
use engine_platform::broker;
use std::fmt::Display;
use std::path::Path;

/// Reads the bytes of a dropped file, or returns the reason if it cannot be read.
pub fn read_dropped(path: &Path) -> Result<Vec<u8>, String> {
    let path_text = path.display();
    let reader = &readers::DROPPED;
    // If the confined process cannot open the file, its broker can.
    let file = kind_of(path).and_then(|()| match broker::open_dropped(path) {
        Some(file) => file.map_err(AccessError::from),
        None => file_access::open_named(path),
    });
    let read = file.and_then(|file| {
        let bytes = file.metadata()?.len().min(reader.bytes_max);
        limit::check_room(bytes as usize).map_err(std::io::Error::other)?;
        file_access::read_open(file, reader)
    });
    read.map_err(|refusal| access_error_message(&path_text, refusal))
}

/// Reads a file that a recording or a test reports as dropped. Recordings and tests are files of a
/// game, so only files in the game's folder `root` are opened; a bundle has none.
pub fn read_as_if_dropped(path: &Path, root: Option<&Path>) -> Result<Vec<u8>, String> {
    let path_text = path.display();
    // The root may be relative to the current folder.
    let absolute_root = root.and_then(|root| std::path::absolute(root).ok());
    let own = |root: &Path| path.strip_prefix(root).ok();
    let relative =
        root.and_then(own).or_else(|| absolute_root.as_deref().and_then(own)).unwrap_or(path);
    let inside = root.map(|root| (relative, root));
    let outside = || {
        format!(
            "'{path_text}' cannot be read: a recording or a test dropped it, and such files are \
             read only from the game's own folder"
        )
    };
    let (path, root) = inside.filter(|(path, _)| stays_inside(path)).ok_or_else(outside)?;
    let path = path.to_str().ok_or_else(outside)?;
    file_access::read(root, path, &readers::DROPPED)
        .map_err(|refusal| access_error_message(&path_text, refusal))
}

/// Returns the message for a file that was not read.
fn access_error_message(path_text: &impl Display, refusal: AccessError) -> String {
    match refusal {
        AccessError::Folder => format!("'{path_text}' is a folder: only files are read"),
        AccessError::Special => {
            format!("'{path_text}' is a pipe or a device: only plain files are read")
        }
        AccessError::Size(reader) => {
            format!(
                "'{path_text}' has more than {} MiB (DROPPED_BYTES_MAX)",
                reader.bytes_max >> 20
            )
        }
        reason => format!("'{path_text}' cannot be read: {reason}"),
    }
}

/// Rejects files that are not regular files. Files without accessible metadata fail when they are
/// opened.
fn kind_of(path: &Path) -> Result<(), AccessError> {
    match path.metadata() {
        Ok(about) if about.is_dir() => Err(AccessError::Folder),
        Ok(about) if !about.is_file() => Err(AccessError::Special),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn only_plain_files_up_to_a_size_are_read() {
        let folder = std::env::temp_dir().join(format!("engine_dropped_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let check = |path: &Path, ending: &str| {
            let message = read_dropped(path).unwrap_err();
            assert!(message.ends_with(ending), "{message}");
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
            let status = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(status.expect("every system has it").success());
            check(&pipe, "' is a pipe or a device: only plain files are read");
            check(Path::new("/dev/zero"), "' is a pipe or a device: only plain files are read");
        }
        let missing = read_dropped(&folder.join("missing")).unwrap_err();
        assert!(missing.contains("missing' cannot be read: "), "{missing}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn recordings_and_tests_drop_only_files_of_the_game() {
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
            let message = read(path).unwrap_err();
            assert!(message.contains("only from the game's own folder"), "{message}");
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
