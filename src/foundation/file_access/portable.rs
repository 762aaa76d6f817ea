//! Opening files below a folder on systems without folder descriptors. The resolved path must lie
//! in the folder before the file is opened, and must be unchanged afterwards.

use super::{AccessError, ENTRIES_MAX, EntryKind, FileState, FolderEntry, FolderId, FolderListing};
use crate::hash::murmur64a;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

fn or_current_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Returns the path with all links resolved; fails if it lies outside of the folder.
fn real_path(root: &Path, path: impl AsRef<Path>) -> Result<PathBuf, AccessError> {
    let real_root = fs::canonicalize(or_current_folder(root))?;
    let canonical = fs::canonicalize(or_current_folder(&root.join(path.as_ref())))?;
    if canonical.starts_with(real_root) { Ok(canonical) } else { Err(AccessError::Link) }
}

pub fn open(root: &Path, path: &str) -> Result<File, AccessError> {
    let canonical = real_path(root, path)?;
    let file = open_named(&canonical)?;
    // Another process may have put a link there in the meantime.
    match real_path(root, path)? == canonical {
        true => Ok(file),
        false => Err(AccessError::Link),
    }
}

pub fn inspect(root: &Path, path: &str) -> Result<Metadata, AccessError> {
    Ok(fs::metadata(real_path(root, path)?)?)
}

/// Opens a regular file. Pipes and devices, which could block, are refused.
pub fn open_named(path: &Path) -> Result<File, AccessError> {
    match fs::metadata(path)? {
        metadata if metadata.is_file() => Ok(File::open(path)?),
        metadata if metadata.is_dir() => Err(AccessError::Folder),
        _ => Err(AccessError::Special),
    }
}

/// Lists a folder. `_states` is ignored, because the states come with the kinds here.
pub fn list(root: &Path, path: &Path, _states: bool) -> Result<FolderListing, AccessError> {
    let canonical = real_path(root, path)?;
    let mut entries = Vec::new();
    for entry in fs::read_dir(&canonical)? {
        let entry = entry?;
        if entries.len() == ENTRIES_MAX {
            let message = format!("a folder has more than {ENTRIES_MAX} entries (ENTRIES_MAX)");
            return Err(io::Error::other(message).into());
        }
        let Ok(metadata) = entry.metadata() else { continue };
        let is_link = metadata.is_symlink();
        let target = match is_link {
            true => fs::canonicalize(entry.path()).and_then(|canonical| {
                let metadata = fs::metadata(&canonical)?;
                Ok((canonical, metadata))
            }),
            false => Ok((entry.path(), metadata.clone())),
        };
        let Ok((target, found)) = target else {
            let (name, state) = (entry.file_name(), FileState::default());
            entries.push(FolderEntry { name, kind: EntryKind::Dangling, is_link, state });
            continue;
        };
        let stays = !is_link || target.starts_with(fs::canonicalize(or_current_folder(root))?);
        let (kind, state) = match stays {
            true => super::kind_and_state(&found),
            false => (EntryKind::LinkOut, FileState::of(&metadata)),
        };
        entries.push(FolderEntry { name: entry.file_name(), kind, is_link, state });
    }
    match real_path(root, path)? == canonical {
        true => Ok(FolderListing { id: FolderId(0, id_of(&canonical)), entries }),
        false => Err(AccessError::Link),
    }
}

fn id_of(canonical: &Path) -> u64 {
    murmur64a(canonical.as_os_str().as_encoded_bytes(), 0)
}

/// Creates a folder and its missing parents. Returns the path with all links resolved.
fn make_folder(root: &Path, path: &Path) -> Result<PathBuf, AccessError> {
    match real_path(root, path) {
        Err(AccessError::System(reason)) if reason.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    };
    let parent = make_folder(root, path.parent().unwrap_or(Path::new("")))?;
    match fs::create_dir(parent.join(name)) {
        Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => Err(reason.into()),
        _ => real_path(root, path),
    }
}

pub fn replace(root: &Path, parent: &str, name: &str, bytes: &[u8]) -> Result<(), AccessError> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let folder = make_folder(root, Path::new(parent))?;
    let (temporary, mut file) = loop {
        let turn = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!(".{}-{turn}.tmp", std::process::id()));
        match File::create_new(&temporary) {
            Ok(file) => break (temporary, file),
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(reason.into()),
        }
    };
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    Ok(written?)
}

pub fn append(root: &Path, parent: &str, name: &str) -> Result<File, AccessError> {
    let path = real_path(root, parent)?.join(name);
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_symlink() => Err(AccessError::Link),
        Ok(metadata) if !metadata.is_file() => Err(AccessError::Special),
        _ => Ok(File::options().create(true).append(true).open(path)?),
    }
}
