//! Output files whose path a person specified: pictures, recordings, traces, tables, coverage,
//! bundles. Each is a regular file in an existing folder. Devices, pipes, sockets, links and
//! folders are refused: they are not written to and not replaced.

use super::atomic_file;
use super::atomic_file::disk::DiskOutput;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// Checks that a regular file can be written at a path.
///
/// # Errors
/// Returns an error if it cannot. The message names the obstacle and the remedy.
pub fn check(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(found) => Err(Error::other(format!(
            "it is {}, and only plain files are written: give another path",
            kind(found.file_type())
        ))),
        Err(reason) if reason.kind() == ErrorKind::NotFound => check_folder(path),
        Err(reason) => Err(reason),
    }
}

fn check_folder(path: &Path) -> Result<()> {
    if path.file_name().is_none() {
        return Err(Error::other("the path ends in no file's name: give one"));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Error::other(format!("there is no folder '{}': make it first", folder.display())))
        }
        _ => Ok(()),
    }
}

fn kind(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_char_device() || found.is_block_device() {
            return "a device";
        } else if found.is_fifo() {
            return "a pipe";
        } else if found.is_socket() {
            return "a socket";
        }
    }
    match (found.is_dir(), found.is_symlink()) {
        (true, _) => "a folder",
        (_, true) => "a link",
        _ => "no plain file",
    }
}

/// Checks that no link is on a path below a folder that another person may have created, such as a
/// game's. A link could lead out of the folder.
///
/// # Errors
/// Returns an error that names the link, if one is on the path.
pub fn check_no_links(folder: &Path, path: &Path) -> Result<()> {
    let mut prefix = folder.to_path_buf();
    for part in path {
        prefix.push(part);
        if fs::symlink_metadata(&prefix).is_ok_and(|found| found.is_symlink()) {
            let display_path = prefix.display();
            return Err(Error::other(format!(
                "'{display_path}' is a link, and nothing is written through links: remove it"
            )));
        }
    }
    Ok(())
}

/// Opens a file that is written while the program runs. Its previous content is deleted.
///
/// # Errors
/// Returns an error if [`check`] refuses the path, or if the file cannot be created.
pub fn create(path: &Path) -> Result<File> {
    check(path)?;
    File::create(path)
}

/// Opens a file to append to its content.
///
/// # Errors
/// Returns an error if [`check`] refuses the path, or if the file cannot be created.
pub fn append(path: &Path) -> Result<File> {
    check(path)?;
    OpenOptions::new().create(true).append(true).open(path)
}

/// Replaces a file atomically and durably: after a crash or a power failure, either the old or the
/// new content is complete.
///
/// # Errors
/// Returns an error if [`check`] refuses the path, or if the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, |file| file.write_all(bytes))
}

/// Replaces a file as [`write`] does, with content that `write` writes piece by piece. The content
/// need not fit in memory.
pub fn write_by(path: &Path, write: impl FnOnce(&mut DiskOutput) -> Result<()>) -> Result<()> {
    check(path)?;
    atomic_file::write_by(path, write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("engine-{}-out-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn files_are_written_only_into_existing_folders() {
        let folder = scratch("plain");
        let file = folder.join("a.txt");
        write(&file, b"one").unwrap();
        write(&file, b"two").unwrap();
        append(&file).unwrap().write_all(b" and three").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two and three");
        drop(create(&file).unwrap());
        assert_eq!(fs::read(&file).unwrap(), b"");
        let deep = folder.join("new/a.txt");
        let message =
            format!("there is no folder '{}': make it first", folder.join("new").display());
        assert_eq!(write(&deep, b"x").unwrap_err().to_string(), message);
        assert_eq!(create(&deep).unwrap_err().to_string(), message);
        assert_eq!(append(&deep).unwrap_err().to_string(), message);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let message = "it is a folder, and only plain files are written: give another path";
        assert_eq!(check(&folder).unwrap_err().to_string(), message);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_pipes_sockets_and_links_are_not_replaced() {
        let folder = scratch("others");
        let pipe = folder.join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(status.success());
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        fs::write(folder.join("victim"), "kept").unwrap();
        let (link, lost) = (folder.join("link"), folder.join("lost"));
        std::os::unix::fs::symlink(folder.join("victim"), &link).unwrap();
        std::os::unix::fs::symlink(folder.join("nowhere"), &lost).unwrap();
        let message = check_no_links(&folder, Path::new("link/x")).unwrap_err().to_string();
        let wanted = "is a link, and nothing is written through links: remove it";
        assert_eq!(message, format!("'{}' {wanted}", link.display()));
        assert!(check_no_links(&folder, Path::new("victim")).is_ok());
        let device = PathBuf::from("/dev/null");
        for (path, noun) in [
            (&pipe, "a pipe"),
            (&socket, "a socket"),
            (&link, "a link"),
            (&lost, "a link"),
            (&device, "a device"),
        ] {
            let before = fs::symlink_metadata(path).unwrap().file_type();
            let message =
                format!("it is {noun}, and only plain files are written: give another path");
            assert_eq!(write(path, b"x").unwrap_err().to_string(), message);
            assert_eq!(create(path).unwrap_err().to_string(), message);
            assert_eq!(append(path).unwrap_err().to_string(), message);
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), before);
        }
        assert_eq!(fs::read(folder.join("victim")).unwrap(), b"kept");
        assert!(!folder.join("nowhere").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
