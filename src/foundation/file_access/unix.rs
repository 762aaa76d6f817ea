//! Opening files below a folder through folder descriptors. Opening the file is itself the check,
//! so no other process can insert a link in between.
//!
//! Linux walks the path in one call (openat2, since 5.6). On other systems, and for links that
//! leave the folder and come back, the path is resolved first and then walked part by part.

use super::{AccessError, ENTRIES_MAX, EntryKind, FileState, FolderEntry, FolderId, FolderListing};
use rustix::fs::{self, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU32, Ordering};

/// Flags for reading. Opening never blocks (a pipe may have no writer), and a terminal does not
/// become this process's controlling terminal.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags for inspecting an entry. Where the system supports it, the entry is not opened for
/// reading.
#[cfg(any(target_os = "linux", target_os = "android"))]
const INSPECT: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const INSPECT: OFlags = READ;
/// Flags for opening a folder on the path.
const FOLDER: OFlags = INSPECT.union(OFlags::DIRECTORY);

/// Returns a path that the system accepts: the empty path becomes ".".
fn or_current_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

pub fn open(root: &Path, path: &str) -> Result<File, AccessError> {
    open_beneath(root, Path::new(path), READ).map(File::from)
}

pub fn inspect(root: &Path, path: &str) -> Result<Metadata, AccessError> {
    Ok(File::from(open_beneath(root, Path::new(path), INSPECT)?).metadata()?)
}

pub fn open_named(path: &Path) -> Result<File, AccessError> {
    Ok(File::from(
        fs::openat(CWD, or_current_folder(path), READ, Mode::empty()).map_err(io::Error::from)?,
    ))
}

fn open_beneath(root: &Path, path: &Path, flags: OFlags) -> Result<OwnedFd, AccessError> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::ResolveFlags;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let base = fs::openat(CWD, or_current_folder(root), FOLDER, Mode::empty());
        let base = base.map_err(io::Error::from)?;
        match fs::openat2(&base, or_current_folder(path), flags, Mode::empty(), within) {
            Ok(found) => return Ok(found),
            // Either the path has a link that leaves the folder, even if it comes back (an absolute
            // link, or one through the parent folder), or the kernel or a system call filter does
            // not support this call.
            Err(Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {}
            Err(reason) => return Err(io::Error::from(reason).into()),
        }
    }
    open_by_parts_with(root, path, flags)
}

/// Walks the resolved path part by part. If a part became a link in the meantime, the system
/// refuses it.
fn open_by_parts_with(root: &Path, path: &Path, flags: OFlags) -> Result<OwnedFd, AccessError> {
    let real_root = std::fs::canonicalize(or_current_folder(root))?;
    let real = std::fs::canonicalize(root.join(path))?;
    let rest = real.strip_prefix(&real_root).map_err(|_| AccessError::Link)?;
    let open_part = |folder: &OwnedFd, part: &OsStr, flags: OFlags| {
        fs::openat(folder, part, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(io::Error::from)
    };
    let mut folder = fs::openat(CWD, &real_root, FOLDER, Mode::empty()).map_err(io::Error::from)?;
    let mut parts = rest.components().peekable();
    while let Some(Component::Normal(part)) = parts.next() {
        match parts.peek() {
            Some(_) => folder = open_part(&folder, part, FOLDER)?,
            None => return Ok(open_part(&folder, part, flags)?),
        }
    }
    Ok(open_part(&folder, OsStr::new("."), flags)?)
}

pub fn list(root: &Path, path: &Path, states: bool) -> Result<FolderListing, AccessError> {
    let folder = File::from(open_beneath(root, path, READ.union(OFlags::DIRECTORY))?);
    let own = folder.metadata()?;
    let mut entries = Vec::new();
    let mut dir = Dir::read_from(&folder).map_err(io::Error::from)?;
    while let Some(found) = dir.read() {
        let found = found.map_err(io::Error::from)?;
        let name = OsStr::from_bytes(found.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if entries.len() == ENTRIES_MAX {
            let message = format!("a folder has more than {ENTRIES_MAX} entries (ENTRIES_MAX)");
            return Err(io::Error::other(message).into());
        }
        match found.file_type() {
            // The kind is known, so no system call is needed if states were not requested.
            FileType::RegularFile if !states => entries.push(FolderEntry {
                name: name.into(),
                kind: EntryKind::File,
                is_link: false,
                state: FileState::default(),
            }),
            known => entries.extend(entry(root, path, folder.as_fd(), name, known)),
        }
    }
    Ok(FolderListing { id: FolderId(own.dev(), own.ino()), entries })
}

/// Returns one entry of a folder, or `None` if it was removed in the meantime.
fn entry(
    root: &Path,
    path: &Path,
    folder: impl AsFd,
    name: &OsStr,
    known: FileType,
) -> Option<FolderEntry> {
    let new = |kind, is_link, state| Some(FolderEntry { name: name.into(), kind, is_link, state });
    if known == FileType::Directory {
        return new(EntryKind::Folder, false, FileState::default());
    }
    let about = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(about.st_mode as _) {
        FileType::RegularFile => new(EntryKind::File, false, state_of(&about)),
        FileType::Directory => new(EntryKind::Folder, false, FileState::default()),
        FileType::Symlink => {
            let target = open_beneath(root, &path.join(name), INSPECT);
            match target.map(|target| File::from(target).metadata()) {
                Err(AccessError::Link) => new(EntryKind::LinkOut, true, state_of(&about)),
                Ok(Ok(target)) => {
                    let (kind, state) = super::kind_and_state(&target);
                    new(kind, true, state)
                }
                _ => new(EntryKind::Dangling, true, FileState::default()),
            }
        }
        _ => new(EntryKind::Special, false, state_of(&about)),
    }
}

// The fields have different types on other systems.
#[allow(clippy::unnecessary_cast)]
fn state_of(about: &Stat) -> FileState {
    FileState {
        size: about.st_size as u64,
        modified: super::nanoseconds(about.st_mtime as i64, about.st_mtime_nsec as i64),
        changed: super::nanoseconds(about.st_ctime as i64, about.st_ctime_nsec as i64),
        inode: about.st_ino as u64,
    }
    .as_recorded()
}

/// Opens the folder at `path`, and creates it and its missing parents.
fn make_folder(root: &Path, path: &Path) -> Result<OwnedFd, AccessError> {
    match open_beneath(root, path, FOLDER) {
        Err(AccessError::System(reason)) if reason.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    };
    let parent = make_folder(root, path.parent().unwrap_or(Path::new("")))?;
    match fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => open_beneath(root, path, FOLDER),
        Err(reason) => Err(io::Error::from(reason).into()),
    }
}

pub fn replace(root: &Path, parent: &str, name: &str, bytes: &[u8]) -> Result<(), AccessError> {
    // Two threads, or two engines, may write the same file at once, so each uses a unique temporary
    // name.
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let folder = make_folder(root, Path::new(parent))?;
    let (temporary, mut file) = loop {
        let turn = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".{}-{turn}.tmp", std::process::id());
        // A link under that name is not followed, because the file must be new.
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        match fs::openat(&folder, &temporary, new, Mode::from_raw_mode(0o666)) {
            Ok(file) => break (temporary, File::from(file)),
            Err(Errno::EXIST) => {}
            Err(reason) => return Err(io::Error::from(reason).into()),
        }
    };
    let written = file
        .write_all(bytes)
        .and_then(|()| fs::renameat(&folder, &temporary, &folder, name).map_err(io::Error::from));
    if written.is_err() {
        // The partial file is useless. If it cannot be removed, the result is the same error.
        let _ = fs::unlinkat(&folder, &temporary, AtFlags::empty());
    }
    Ok(written?)
}

pub fn append(root: &Path, parent: &str, name: &str) -> Result<File, AccessError> {
    let folder = open_beneath(root, Path::new(parent), FOLDER)?;
    let end = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let end = end | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = fs::openat(&folder, name, end, Mode::from_raw_mode(0o666));
    match opened {
        Ok(file) => Ok(File::from(file)),
        // The path is a pipe without a reader.
        Err(Errno::NXIO) => Err(AccessError::Special),
        Err(Errno::LOOP) => Err(AccessError::Link),
        Err(reason) => Err(io::Error::from(reason).into()),
    }
}

/// Opens a file with the implementation for older kernels and other systems.
#[cfg(test)]
pub(super) fn open_by_parts(root: &Path, path: &Path) -> Result<File, AccessError> {
    open_by_parts_with(root, path, READ).map(File::from)
}
