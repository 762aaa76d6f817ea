//! Opening files: files below a folder, which links cannot leave, and files that a person names.
//! All code that reads files uses this module.
//!
//! Only regular files are opened, and opening never blocks on a pipe or a device. A size limit is
//! checked before the first byte is read. The limits are the rows of readers.rs. Knows nothing
//! about the content of files. Safe writing is in src/foundation/atomic_file/.

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

use readers::ReaderRow;
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path};
use std::time::UNIX_EPOCH;

/// Maximum number of entries that are listed of one folder.
pub const ENTRIES_MAX: usize = 1_000_000;

/// The reason why a file could not be read or written.
#[derive(Debug)]
pub enum AccessError {
    /// The path leads out of the folder.
    Path,
    /// A link on the path leads out of the folder.
    Link,
    /// The path is a folder.
    Folder,
    /// The path is a pipe, a socket or a device.
    Special,
    /// The file is larger than its reader's limit.
    Size(&'static ReaderRow),
    System(io::Error),
}

impl From<io::Error> for AccessError {
    fn from(reason: io::Error) -> AccessError {
        AccessError::System(reason)
    }
}

impl std::error::Error for AccessError {}

impl From<AccessError> for io::Error {
    fn from(refusal: AccessError) -> io::Error {
        match refusal {
            AccessError::System(reason) => reason,
            refusal => io::Error::other(refusal),
        }
    }
}

impl AccessError {
    /// Returns true if the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, AccessError::System(reason) if reason.kind() == ErrorKind::NotFound)
    }

    /// Returns the error message, with the path of the file.
    pub fn message(&self, path: &str) -> String {
        match self {
            AccessError::System(reason) if reason.kind() == ErrorKind::NotFound => {
                format!("{path}: there is no such file")
            }
            AccessError::System(reason) => format!("{path}: the file cannot be read: {reason}"),
            refusal => format!("{path}: {refusal}"),
        }
    }
}

/// Formats the reason and the remedy, to follow "… cannot be read: ".
impl fmt::Display for AccessError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            AccessError::Path => out.write_str("only files in the game's folder can be read"),
            AccessError::Link => out.write_str(
                "a link leads out of the game's folder, and only files in it can be read: copy \
                 into the folder what it leads to",
            ),
            AccessError::Folder => out.write_str("it is a folder, and a file is needed: rename it"),
            AccessError::Special => out.write_str(
                "it is a pipe, a socket or a device, and only regular files are read: put a file \
                 there",
            ),
            AccessError::Size(reader) => {
                let (size, limit) = (readers::size_text(reader.bytes_max), reader.limit);
                write!(out, "the file is larger than {size} ({limit}): {}", reader.remedy)
            }
            AccessError::System(reason) => write!(out, "{reason}"),
        }
    }
}

/// File metadata that distinguishes versions of a file's content without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    pub size: u64,
    /// Modification time in nanoseconds since 1970. Programs can set it to any value.
    pub modified: u64,
    /// Time of the last change of content, name or permissions, in nanoseconds since 1970. Only the
    /// system sets it. It is 0 on systems without this time.
    pub changed: u64,
    /// Inode number; 0 on systems without inodes.
    pub inode: u64,
}

impl FileState {
    fn of(metadata: &Metadata) -> FileState {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or(0, |since| since.as_nanos() as u64);
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            (nanoseconds(metadata.ctime(), metadata.ctime_nsec()), metadata.ino())
        };
        #[cfg(not(unix))]
        let (changed, inode) = (0, 0);
        FileState { size: metadata.len(), modified, changed, inode }.as_recorded()
    }

    #[cfg(not(debug_assertions))]
    fn as_recorded(self) -> FileState {
        self
    }

    #[cfg(debug_assertions)]
    fn as_recorded(self) -> FileState {
        match NO_CHANGE_TIMES.get() {
            true => FileState { changed: 0, inode: 0, ..self },
            false => self,
        }
    }
}

#[cfg(debug_assertions)]
thread_local! {
    /// For tests: if true, this thread sees file states as on a system without a change time.
    pub static NO_CHANGE_TIMES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Converts a system time to nanoseconds since 1970; earlier times become 0.
#[cfg(unix)]
fn nanoseconds(seconds: i64, nanoseconds: i64) -> u64 {
    match u64::try_from(seconds) {
        Ok(seconds) => seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds as u64),
        Err(_) => 0,
    }
}

/// The type of a folder entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A pipe, a socket or a device.
    Special,
    /// A link that leads out of the folder.
    LinkOut,
    /// A link whose target does not exist.
    Dangling,
}

impl EntryKind {
    fn of(metadata: &Metadata) -> EntryKind {
        match (metadata.is_file(), metadata.is_dir()) {
            (true, _) => EntryKind::File,
            (_, true) => EntryKind::Folder,
            _ => EntryKind::Special,
        }
    }
}

/// One entry of a folder. For a link that stays within the root, the kind and state are those of
/// its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    pub name: OsString,
    pub kind: EntryKind,
    pub is_link: bool,
    /// The state of a file. All zeros for folders, for dangling links, and if states were not
    /// requested.
    pub state: FileState,
}

/// The identity of a folder, independent of the path that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FolderId(u64, u64);

/// The entries of a folder, in the order that the system returns them.
#[derive(Debug)]
pub struct FolderListing {
    pub id: FolderId,
    pub entries: Vec<FolderEntry>,
}

/// Returns true if a path, as written, stays in the folder at which it starts. Links are not
/// considered.
pub fn stays_inside(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let bytes = path.as_os_str().as_encoded_bytes();
    // On Windows, a colon denotes a drive or an alternate stream of a file.
    let foreign = |byte: &u8| *byte == 0 || (cfg!(windows) && *byte == b':');
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(is_plain) && !bytes.iter().any(foreign)
}

/// Reads a file by its path relative to a folder. Links may lead anywhere within the folder.
///
/// # Errors
/// Returns an error if the file is outside of the folder, is not a regular file, is too large, or
/// cannot be read.
pub fn read(root: &Path, path: &str, reader: &'static ReaderRow) -> Result<Vec<u8>, AccessError> {
    read_with_state(root, path, reader).map(|(bytes, _)| bytes)
}

/// Reads a file as [`read`] does, and also returns its state, or `None` if the file changed during
/// the read.
pub fn read_with_state(
    root: &Path,
    path: &str,
    reader: &'static ReaderRow,
) -> Result<(Vec<u8>, Option<FileState>), AccessError> {
    match stays_inside(path) {
        true => read_whole(system::open(root, path)?, reader),
        false => Err(AccessError::Path),
    }
}

/// Reads a text file as [`read`] does. Bytes that are not UTF-8 are an error.
pub fn read_text(
    root: &Path,
    path: &str,
    reader: &'static ReaderRow,
) -> Result<String, AccessError> {
    text(read(root, path, reader)?)
}

/// Reads a file that a person names, or a file in one of the user's folders. Links may lead
/// anywhere.
pub fn read_named(path: &Path, reader: &'static ReaderRow) -> Result<Vec<u8>, AccessError> {
    read_whole(system::open_named(path)?, reader).map(|(bytes, _)| bytes)
}

/// Reads a file that other code opened, with the checks of [`read_named`].
pub fn read_open(file: File, reader: &'static ReaderRow) -> Result<Vec<u8>, AccessError> {
    read_whole(file, reader).map(|(bytes, _)| bytes)
}

/// Opens a regular file that a person names. The caller must limit the number of bytes that it
/// reads.
pub fn open_named(path: &Path) -> Result<File, AccessError> {
    let file = system::open_named(path)?;
    regular(&file)?;
    Ok(file)
}

/// Opens a regular file by its path relative to `root`, and returns its size in bytes. The caller
/// must limit the number of bytes that it reads.
///
/// # Errors
/// Returns an error if the file is outside of the folder, is not a regular file, or cannot be
/// opened.
pub fn open_with_size(root: &Path, path: &str) -> Result<(File, u64), AccessError> {
    if !stays_inside(path) {
        return Err(AccessError::Path);
    }
    let file = system::open(root, path)?;
    let size = regular(&file)?.len();
    Ok((file, size))
}

fn text(bytes: Vec<u8>) -> Result<String, AccessError> {
    let invalid =
        |_| AccessError::System(io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"));
    String::from_utf8(bytes).map_err(invalid)
}

fn regular(file: &File) -> Result<Metadata, AccessError> {
    let metadata = file.metadata()?;
    match EntryKind::of(&metadata) {
        EntryKind::File => Ok(metadata),
        EntryKind::Folder => Err(AccessError::Folder),
        _ => Err(AccessError::Special),
    }
}

/// Reads an open file up to the limit, even if the file grows during the read.
fn read_whole(
    file: File,
    reader: &'static ReaderRow,
) -> Result<(Vec<u8>, Option<FileState>), AccessError> {
    let before = FileState::of(&regular(&file)?);
    if before.size > reader.bytes_max {
        return Err(AccessError::Size(reader));
    }
    let mut bytes = Vec::new();
    let no_memory = |_| io::Error::new(ErrorKind::OutOfMemory, "there is no memory for it");
    bytes.try_reserve_exact(before.size as usize).map_err(no_memory)?;
    (&file).take(reader.bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > reader.bytes_max {
        return Err(AccessError::Size(reader));
    }
    let after = FileState::of(&file.metadata()?);
    let same = before == after && bytes.len() as u64 == after.size;
    Ok((bytes, same.then_some(after)))
}

/// Returns the kind and state of the entry at a path below a folder, without reading the file.
pub fn inspect(root: &Path, path: &str) -> Result<(EntryKind, FileState), AccessError> {
    if !stays_inside(path) {
        return Err(AccessError::Path);
    }
    let metadata = system::inspect(root, path)?;
    Ok(kind_and_state(&metadata))
}

fn kind_and_state(metadata: &Metadata) -> (EntryKind, FileState) {
    match EntryKind::of(metadata) {
        EntryKind::Folder => (EntryKind::Folder, FileState::default()),
        kind => (kind, FileState::of(metadata)),
    }
}

/// Returns true if a path below `root` leads to a regular file.
pub fn is_file(root: &Path, path: &str) -> bool {
    inspect(root, path).is_ok_and(|(kind, _)| kind == EntryKind::File)
}

/// Returns true if a path below `root` leads to a folder.
pub fn is_folder(root: &Path, path: &str) -> bool {
    inspect(root, path).is_ok_and(|(kind, _)| kind == EntryKind::Folder)
}

/// Lists a folder by its path relative to `root`; "" is `root` itself. The entries have no states,
/// so the files need not be inspected one by one.
///
/// # Errors
/// Returns an error if the path leads out of `root`, is not a folder, cannot be read, or has more
/// than [`ENTRIES_MAX`] entries.
pub fn list(root: &Path, path: impl AsRef<Path>) -> Result<FolderListing, AccessError> {
    match stays_inside(&path) {
        true => system::list(root, path.as_ref(), false),
        false => Err(AccessError::Path),
    }
}

/// Lists a folder as [`list`] does, with the states of the files.
pub fn list_states(root: &Path, path: impl AsRef<Path>) -> Result<FolderListing, AccessError> {
    match stays_inside(&path) {
        true => system::list(root, path.as_ref(), true),
        false => Err(AccessError::Path),
    }
}

/// Replaces a file atomically, by its path relative to a folder: no reader sees a partial file.
/// Missing parent folders are created. A link at the path itself is replaced. Links among the
/// parent folders must stay in `root`.
pub fn write(root: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let (parent, name) = split(path)?;
    system::replace(root, parent, name, bytes).map_err(not_written)
}

/// Opens a file for appending, by its path relative to a folder, and creates it if it is missing. A
/// link at the path itself is refused, wherever it leads.
pub fn append(root: &Path, path: &str) -> io::Result<File> {
    let (parent, name) = split(path)?;
    let file = system::append(root, parent, name).map_err(not_written)?;
    regular(&file).map_err(not_written)?;
    Ok(file)
}

/// Splits the path of an output file into its folder and its name.
fn split(path: &str) -> io::Result<(&str, &str)> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    match stays_inside(path) && !["", "."].contains(&name) {
        true => Ok((parent, name)),
        false => Err(not_written(AccessError::Path)),
    }
}

fn not_written(refusal: AccessError) -> io::Error {
    io::Error::other(match refusal {
        AccessError::System(reason) => return reason,
        AccessError::Path => "its path leads out of the folder: name a file in it",
        AccessError::Link => {
            "a link on its path, or in its place, leads elsewhere: remove the link"
        }
        AccessError::Folder | AccessError::Special | AccessError::Size(_) => {
            "a folder, a pipe, a socket or a device has its name: rename or remove that"
        }
    })
}
