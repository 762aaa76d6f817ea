//! Files that a person named: pictures, recordings, traces, tables, coverage, bundles. Each is a
//! plain file in a folder that is there already. Devices, pipes, sockets, links and folders are
//! refused: they are neither written to nor replaced.

use super::files;
use super::files::disk::Output;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// Refuses a path that no plain file can have.
///
/// # Errors
/// The message says what is in the way, and the remedy.
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

/// Refuses a path below a folder that anybody may have made, such as a game's, where a link is on
/// the way: it could lead out of the folder.
///
/// # Errors
/// The message names the link.
pub fn check_no_links(folder: &Path, path: &Path) -> Result<()> {
    let mut at = folder.to_path_buf();
    for part in path {
        at.push(part);
        if fs::symlink_metadata(&at).is_ok_and(|found| found.is_symlink()) {
            let shown = at.display();
            return Err(Error::other(format!(
                "'{shown}' is a link, and nothing is written through links: remove it"
            )));
        }
    }
    Ok(())
}

/// Opens a file that is written while the program runs; what was in it is gone.
///
/// # Errors
/// The path is refused by [`check`], or the file cannot be made.
pub fn create(path: &Path) -> Result<File> {
    check(path)?;
    File::create(path)
}

/// Opens a file to write behind what is in it.
///
/// # Errors
/// As of [`create`].
pub fn append(path: &Path) -> Result<File> {
    check(path)?;
    OpenOptions::new().create(true).append(true).open(path)
}

/// Replaces a file: the old or the new content is there whole, whatever happens meanwhile.
///
/// # Errors
/// The path is refused by [`check`], or the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, |file| file.write_all(bytes))
}

/// As [`write`], of content that `write` writes, piece by piece: it need not fit in memory.
pub fn write_by(path: &Path, write: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    check(path)?;
    files::write_by(path, write)
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
    fn plain_files_are_written_in_folders_that_are_there_and_no_folder_is_made() {
        let folder = scratch("plain");
        let file = folder.join("a.txt");
        write(&file, b"one").unwrap();
        write(&file, b"two").unwrap();
        append(&file).unwrap().write_all(b" and three").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two and three");
        drop(create(&file).unwrap());
        assert_eq!(fs::read(&file).unwrap(), b"");
        let deep = folder.join("new/a.txt");
        let told = format!("there is no folder '{}': make it first", folder.join("new").display());
        assert_eq!(write(&deep, b"x").unwrap_err().to_string(), told);
        assert_eq!(create(&deep).unwrap_err().to_string(), told);
        assert_eq!(append(&deep).unwrap_err().to_string(), told);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let told = "it is a folder, and only plain files are written: give another path";
        assert_eq!(check(&folder).unwrap_err().to_string(), told);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_pipes_sockets_and_links_stay_what_they_are() {
        let folder = scratch("others");
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        fs::write(folder.join("victim"), "kept").unwrap();
        let (link, lost) = (folder.join("link"), folder.join("lost"));
        std::os::unix::fs::symlink(folder.join("victim"), &link).unwrap();
        std::os::unix::fs::symlink(folder.join("nowhere"), &lost).unwrap();
        let told = check_no_links(&folder, Path::new("link/x")).unwrap_err().to_string();
        let wanted = "is a link, and nothing is written through links: remove it";
        assert_eq!(told, format!("'{}' {wanted}", link.display()));
        assert!(check_no_links(&folder, Path::new("victim")).is_ok());
        let device = PathBuf::from("/dev/null");
        for (path, what) in [
            (&pipe, "a pipe"),
            (&socket, "a socket"),
            (&link, "a link"),
            (&lost, "a link"),
            (&device, "a device"),
        ] {
            let before = fs::symlink_metadata(path).unwrap().file_type();
            let told = format!("it is {what}, and only plain files are written: give another path");
            assert_eq!(write(path, b"x").unwrap_err().to_string(), told);
            assert_eq!(create(path).unwrap_err().to_string(), told);
            assert_eq!(append(path).unwrap_err().to_string(), told);
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), before);
        }
        assert_eq!(fs::read(folder.join("victim")).unwrap(), b"kept");
        assert!(!folder.join("nowhere").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
