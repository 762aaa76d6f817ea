//! Opening below a folder by descriptors: the check is the opening itself, so that nobody can put
//! a link in between. Linux walks the path in one call (openat2, since 5.6); elsewhere, and for
//! links that leave the folder on their way and come back, the path without links is walked part
//! by part.

use super::{ENTRIES_MAX, Entry, EntryKind, FileState, FolderId, Listing, Refusal};
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

/// Opening never waits and changes nothing: a pipe has no writer, a terminal does not become ours.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// What is only looked at is not opened for reading, where the system has a way.
#[cfg(any(target_os = "linux", target_os = "android"))]
const INSPECT: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const INSPECT: OFlags = READ;
/// A folder on the way.
const FOLDER: OFlags = INSPECT.union(OFlags::DIRECTORY);

/// A path that the system takes: the empty one is the folder itself.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn open_root(root: &Path) -> Result<OwnedFd, Refusal> {
    Ok(fs::openat(CWD, or_here(root), FOLDER, Mode::empty()).map_err(io::Error::from)?)
}

pub fn open(root: &Path, path: &str) -> Result<File, Refusal> {
    open_beneath(root, Path::new(path), READ).map(File::from)
}

pub fn inspect(root: &Path, path: &str) -> Result<Metadata, Refusal> {
    Ok(File::from(open_beneath(root, Path::new(path), INSPECT)?).metadata()?)
}

pub fn open_named(path: &Path) -> Result<File, Refusal> {
    Ok(File::from(fs::openat(CWD, or_here(path), READ, Mode::empty()).map_err(io::Error::from)?))
}

fn open_beneath(root: &Path, path: &Path, flags: OFlags) -> Result<OwnedFd, Refusal> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::ResolveFlags;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let base = open_root(root)?;
        match fs::openat2(&base, or_here(path), flags, Mode::empty(), within) {
            Ok(found) => return Ok(found),
            // A link that leads out, or one that comes back: an absolute one, or by the folder
            // above. Or a kernel, or a filter on its calls, without this call.
            Err(Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {}
            Err(reason) => return Err(io::Error::from(reason).into()),
        }
    }
    open_by_parts_with(root, path, flags)
}

/// Walks the path without links. A part that is a link by now is refused by the system.
fn open_by_parts_with(root: &Path, path: &Path, flags: OFlags) -> Result<OwnedFd, Refusal> {
    let real_root = std::fs::canonicalize(or_here(root))?;
    let real = std::fs::canonicalize(root.join(path))?;
    let rest = real.strip_prefix(&real_root).map_err(|_| Refusal::Link)?;
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

pub fn list(root: &Path, path: &Path, states: bool) -> Result<Listing, Refusal> {
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
            let words = format!("a folder has more than {ENTRIES_MAX} entries (ENTRIES_MAX)");
            return Err(io::Error::other(words).into());
        }
        match found.file_type() {
            // Nothing else of it is wanted.
            FileType::RegularFile if !states => entries.push(Entry {
                name: name.into(),
                kind: EntryKind::File,
                is_link: false,
                state: FileState::default(),
            }),
            known => entries.extend(entry(root, path, folder.as_fd(), name, known)),
        }
    }
    Ok(Listing { id: FolderId(own.dev(), own.ino()), entries })
}

/// One name of a folder; `None` where it is gone meanwhile.
fn entry(
    root: &Path,
    path: &Path,
    folder: impl AsFd,
    name: &OsStr,
    known: FileType,
) -> Option<Entry> {
    let new = |kind, is_link, state| Some(Entry { name: name.into(), kind, is_link, state });
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
                Err(Refusal::Link) => new(EntryKind::LinkOut, true, state_of(&about)),
                Ok(Ok(target)) => {
                    let (kind, state) = super::found(&target);
                    new(kind, true, state)
                }
                _ => new(EntryKind::Dangling, true, FileState::default()),
            }
        }
        _ => new(EntryKind::Special, false, state_of(&about)),
    }
}

// The fields have other types on other systems.
#[allow(clippy::unnecessary_cast)]
fn state_of(about: &Stat) -> FileState {
    FileState {
        size: about.st_size as u64,
        modified: super::nanoseconds(about.st_mtime as i64, about.st_mtime_nsec as i64),
        changed: super::nanoseconds(about.st_ctime as i64, about.st_ctime_nsec as i64),
        inode: about.st_ino as u64,
    }
    .as_kept()
}

/// Opens the folder `path`, and makes it and those above it where they are missing.
fn make_folder(root: &Path, path: &Path) -> Result<OwnedFd, Refusal> {
    match open_beneath(root, path, FOLDER) {
        Err(Refusal::System(reason)) if reason.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    };
    let above = make_folder(root, path.parent().unwrap_or(Path::new("")))?;
    match fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => open_beneath(root, path, FOLDER),
        Err(reason) => Err(io::Error::from(reason).into()),
    }
}

pub fn replace(root: &Path, above: &str, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
    // Two threads, or two engines, may write the same file at once: each has a name of its own.
    static TURN: AtomicU32 = AtomicU32::new(0);
    let folder = make_folder(root, Path::new(above))?;
    let (beside, mut file) = loop {
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let beside = format!(".{}-{turn}.tmp", std::process::id());
        // A link that waits under that name is not followed, for the file must be new.
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        match fs::openat(&folder, &beside, new, Mode::from_raw_mode(0o666)) {
            Ok(file) => break (beside, File::from(file)),
            Err(Errno::EXIST) => {}
            Err(reason) => return Err(io::Error::from(reason).into()),
        }
    };
    let written = file
        .write_all(bytes)
        .and_then(|()| fs::renameat(&folder, &beside, &folder, name).map_err(io::Error::from));
    if written.is_err() {
        // The half-written file is of no use; that it cannot be removed changes nothing.
        let _ = fs::unlinkat(&folder, &beside, AtFlags::empty());
    }
    Ok(written?)
}

pub fn append(root: &Path, above: &str, name: &str) -> Result<File, Refusal> {
    let folder = open_beneath(root, Path::new(above), FOLDER)?;
    let end = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let end = end | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = fs::openat(&folder, name, end, Mode::from_raw_mode(0o666));
    match opened {
        Ok(file) => Ok(File::from(file)),
        // A pipe without a reader.
        Err(Errno::NXIO) => Err(Refusal::Special),
        Err(Errno::LOOP) => Err(Refusal::Link),
        Err(reason) => Err(io::Error::from(reason).into()),
    }
}

/// Opens a file by the way that older kernels and other systems take.
#[cfg(test)]
pub(super) fn open_by_parts(root: &Path, path: &Path) -> Result<File, Refusal> {
    open_by_parts_with(root, path, READ).map(File::from)
}
