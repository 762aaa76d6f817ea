//! Opening files: those below a folder, which no link leads out of, and those that a person names.
//! Every reader of files comes here. Only regular files are opened, opening never waits (a pipe, a
//! device), and a limit on the size is checked before the first byte is read. The limits are the
//! rows of readers.rs. Knows nothing of what is in the files; writing them safely is files.rs.

#[cfg(any(test, not(unix)))]
mod portable;
pub mod readers;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use portable as system;
#[cfg(unix)]
use unix as system;

use readers::Reader;
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path};
use std::time::UNIX_EPOCH;

/// The most entries of one folder that are listed.
pub const ENTRIES_MAX: usize = 1_000_000;

/// Why a file was not read or written.
#[derive(Debug)]
pub enum Refusal {
    /// Its path leads out of the folder.
    Path,
    /// A link on its path does.
    Link,
    /// It is a folder.
    Folder,
    /// It is a pipe, a socket or a device.
    Special,
    /// It is larger than its reader's limit.
    Size(&'static Reader),
    System(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(reason: io::Error) -> Refusal {
        Refusal::System(reason)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        match refusal {
            Refusal::System(reason) => reason,
            refusal => io::Error::other(refusal),
        }
    }
}

impl Refusal {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Refusal::System(reason) if reason.kind() == ErrorKind::NotFound)
    }

    /// The message, with the path of the file.
    pub fn message(&self, path: &str) -> String {
        match self {
            Refusal::System(reason) if reason.kind() == ErrorKind::NotFound => {
                format!("{path}: there is no such file")
            }
            Refusal::System(reason) => format!("{path}: the file cannot be read: {reason}"),
            refusal => format!("{path}: {refusal}"),
        }
    }
}

/// The reason and the remedy, to stand after "… cannot be read: ".
impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::Path => out.write_str("only files in the game's folder can be read"),
            Refusal::Link => out.write_str(
                "a link leads out of the game's folder, and only files in it can be read: copy \
                 into the folder what it leads to",
            ),
            Refusal::Folder => out.write_str("it is a folder, and a file is needed: rename it"),
            Refusal::Special => out.write_str(
                "it is a pipe, a socket or a device, and only regular files are read: put a file \
                 there",
            ),
            Refusal::Size(reader) => {
                let (size, limit) = (readers::size_text(reader.bytes_max), reader.limit);
                write!(out, "the file is larger than {size} ({limit}): {}", reader.remedy)
            }
            Refusal::System(reason) => write!(out, "{reason}"),
        }
    }
}

/// What tells one content of a file from another without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    pub size: u64,
    /// When it was modified, in nanoseconds since 1970. Programs can set this to any time.
    pub modified: u64,
    /// When its content, name or rights changed, in nanoseconds since 1970. The system alone sets
    /// this; 0 where it keeps no such time.
    pub changed: u64,
    /// Its number in the file system; 0 where files have none.
    pub inode: u64,
}

impl FileState {
    fn of(about: &Metadata) -> FileState {
        let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or(0, |since| since.as_nanos() as u64);
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            (nanoseconds(about.ctime(), about.ctime_nsec()), about.ino())
        };
        #[cfg(not(unix))]
        let (changed, inode) = (0, 0);
        FileState { size: about.len(), modified, changed, inode }.as_kept()
    }

    #[cfg(not(test))]
    fn as_kept(self) -> FileState {
        self
    }

    #[cfg(test)]
    fn as_kept(self) -> FileState {
        match NO_CHANGE_TIMES.get() {
            true => FileState { changed: 0, inode: 0, ..self },
            false => self,
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Has this thread see states as on a system that keeps no time of the change.
    pub static NO_CHANGE_TIMES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A time of the system's, in nanoseconds since 1970; 0 before that.
#[cfg(unix)]
fn nanoseconds(seconds: i64, nanoseconds: i64) -> u64 {
    match u64::try_from(seconds) {
        Ok(seconds) => seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds as u64),
        Err(_) => 0,
    }
}

/// The kinds of things that have a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A pipe, a socket or a device.
    Special,
    /// A link that leads out of the folder.
    LinkOut,
    /// A link that leads to nothing.
    Dangling,
}

impl EntryKind {
    fn of(about: &Metadata) -> EntryKind {
        match (about.is_file(), about.is_dir()) {
            (true, _) => EntryKind::File,
            (_, true) => EntryKind::Folder,
            _ => EntryKind::Special,
        }
    }
}

/// One name in a folder. Of a link that stays within the root: what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub kind: EntryKind,
    pub is_link: bool,
    /// All zeros for a folder, for a link to nothing, and where states were not asked for.
    pub state: FileState,
}

/// Tells folders apart, whatever path leads to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FolderId(u64, u64);

/// A folder's content, in the order of the system.
#[derive(Debug)]
pub struct Listing {
    pub id: FolderId,
    pub entries: Vec<Entry>,
}

/// Whether a path stays, as it is written, in the folder that it begins at.
pub fn stays_inside(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let bytes = path.as_os_str().as_encoded_bytes();
    // A colon is a drive, or a hidden part of a file.
    let foreign = |byte: &u8| *byte == 0 || (cfg!(windows) && *byte == b':');
    let within = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(within) && !bytes.iter().any(foreign)
}

/// Reads a file by its path from a folder. Links may lead anywhere within the folder.
///
/// # Errors
/// It is not in the folder, is no regular file, is too large, or cannot be read.
pub fn read(root: &Path, path: &str, reader: &'static Reader) -> Result<Vec<u8>, Refusal> {
    read_with_state(root, path, reader).map(|(bytes, _)| bytes)
}

/// The same, with the state of the file that was read; `None` where it changed meanwhile.
pub fn read_with_state(
    root: &Path,
    path: &str,
    reader: &'static Reader,
) -> Result<(Vec<u8>, Option<FileState>), Refusal> {
    match stays_inside(path) {
        true => read_whole(system::open(root, path)?, reader),
        false => Err(Refusal::Path),
    }
}

/// Reads a text as [`read`] does; bytes that are no UTF-8 are an error.
pub fn read_text(root: &Path, path: &str, reader: &'static Reader) -> Result<String, Refusal> {
    text(read(root, path, reader)?)
}

/// Reads a file that a person names, or one in a folder of the user's. Links may lead anywhere.
pub fn read_named(path: &Path, reader: &'static Reader) -> Result<Vec<u8>, Refusal> {
    read_whole(system::open_named(path)?, reader).map(|(bytes, _)| bytes)
}

/// Reads a file that somebody else opened, with the checks of [`read_named`].
pub fn read_open(file: File, reader: &'static Reader) -> Result<Vec<u8>, Refusal> {
    read_whole(file, reader).map(|(bytes, _)| bytes)
}

/// Opens a regular file that a person names. The caller limits how much of it is read.
pub fn open_named(path: &Path) -> Result<File, Refusal> {
    let file = system::open_named(path)?;
    regular(&file)?;
    Ok(file)
}

fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    let invalid = |_| Refusal::System(io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"));
    String::from_utf8(bytes).map_err(invalid)
}

fn regular(file: &File) -> Result<Metadata, Refusal> {
    let about = file.metadata()?;
    match EntryKind::of(&about) {
        EntryKind::File => Ok(about),
        EntryKind::Folder => Err(Refusal::Folder),
        _ => Err(Refusal::Special),
    }
}

/// Reads an open file up to the limit, also where it grows meanwhile.
fn read_whole(
    file: File,
    reader: &'static Reader,
) -> Result<(Vec<u8>, Option<FileState>), Refusal> {
    let before = FileState::of(&regular(&file)?);
    if before.size > reader.bytes_max {
        return Err(Refusal::Size(reader));
    }
    let mut bytes = Vec::new();
    let lacks = |_| io::Error::new(ErrorKind::OutOfMemory, "there is no memory for it");
    bytes.try_reserve_exact(before.size as usize).map_err(lacks)?;
    (&file).take(reader.bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > reader.bytes_max {
        return Err(Refusal::Size(reader));
    }
    let after = FileState::of(&file.metadata()?);
    let same = before == after && bytes.len() as u64 == after.size;
    Ok((bytes, same.then_some(after)))
}

/// What a path leads to in a folder. Nothing is read.
pub fn inspect(root: &Path, path: &str) -> Result<(EntryKind, FileState), Refusal> {
    if !stays_inside(path) {
        return Err(Refusal::Path);
    }
    let about = system::inspect(root, path)?;
    Ok(found(&about))
}

fn found(about: &Metadata) -> (EntryKind, FileState) {
    match EntryKind::of(about) {
        EntryKind::Folder => (EntryKind::Folder, FileState::default()),
        kind => (kind, FileState::of(about)),
    }
}

/// Whether a path leads to a regular file in a folder.
pub fn is_file(root: &Path, path: &str) -> bool {
    inspect(root, path).is_ok_and(|(kind, _)| kind == EntryKind::File)
}

/// Whether a path leads to a folder in a folder.
pub fn is_folder(root: &Path, path: &str) -> bool {
    inspect(root, path).is_ok_and(|(kind, _)| kind == EntryKind::Folder)
}

/// Lists a folder by its path from a folder; "" is that folder itself. Entries have no states, so
/// that files need not be looked at one by one.
///
/// # Errors
/// It leads out, is no folder, cannot be read, or has more than [`ENTRIES_MAX`] entries.
pub fn list(root: &Path, path: impl AsRef<Path>) -> Result<Listing, Refusal> {
    match stays_inside(&path) {
        true => system::list(root, path.as_ref(), false),
        false => Err(Refusal::Path),
    }
}

/// As [`list`], with the states of the files.
pub fn list_states(root: &Path, path: impl AsRef<Path>) -> Result<Listing, Refusal> {
    match stays_inside(&path) {
        true => system::list(root, path.as_ref(), true),
        false => Err(Refusal::Path),
    }
}

/// Replaces a file by its path from a folder, so that nobody reads half of it. Folders on the way
/// are made. A link in the place of the file is replaced; one on the way must stay in the folder.
pub fn write(root: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let (above, name) = split(path)?;
    system::replace(root, above, name, bytes).map_err(not_written)
}

/// Opens a file by its path from a folder to add to its end; it is made where it is missing. A
/// link in its place is refused, wherever it leads.
pub fn append(root: &Path, path: &str) -> io::Result<File> {
    let (above, name) = split(path)?;
    let file = system::append(root, above, name).map_err(not_written)?;
    regular(&file).map_err(not_written)?;
    Ok(file)
}

/// The folder and the name of a file that is to be written.
fn split(path: &str) -> io::Result<(&str, &str)> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    match stays_inside(path) && !["", "."].contains(&name) {
        true => Ok((above, name)),
        false => Err(not_written(Refusal::Path)),
    }
}

fn not_written(refusal: Refusal) -> io::Error {
    io::Error::other(match refusal {
        Refusal::System(reason) => return reason,
        Refusal::Path => "its path leads out of the folder: name a file in it",
        Refusal::Link => "a link on its path, or in its place, leads elsewhere: remove the link",
        Refusal::Folder | Refusal::Special | Refusal::Size(_) => {
            "a folder, a pipe, a socket or a device has its name: rename or remove that"
        }
    })
}
