//! Opening below a folder where the system has no descriptors of folders: the path without links
//! must lie in the folder before the file is opened, and be the same path after.

use super::{ENTRIES_MAX, Entry, EntryKind, FileState, FolderId, Listing, Refusal};
use crate::foundation::hash::murmur64a;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// The path without links, which lies in the folder.
fn real_path(root: &Path, path: impl AsRef<Path>) -> Result<PathBuf, Refusal> {
    let real_root = fs::canonicalize(or_here(root))?;
    let real = fs::canonicalize(or_here(&root.join(path.as_ref())))?;
    if real.starts_with(real_root) { Ok(real) } else { Err(Refusal::Link) }
}

pub fn open(root: &Path, path: &str) -> Result<File, Refusal> {
    let real = real_path(root, path)?;
    let file = open_named(&real)?;
    // Somebody may have put a link there meanwhile.
    match real_path(root, path)? == real {
        true => Ok(file),
        false => Err(Refusal::Link),
    }
}

pub fn inspect(root: &Path, path: &str) -> Result<Metadata, Refusal> {
    Ok(fs::metadata(real_path(root, path)?)?)
}

/// Opens a file; nothing that could be waited for.
pub fn open_named(path: &Path) -> Result<File, Refusal> {
    match fs::metadata(path)? {
        about if about.is_file() => Ok(File::open(path)?),
        about if about.is_dir() => Err(Refusal::Folder),
        _ => Err(Refusal::Special),
    }
}

/// Whether `_states` are wanted makes no difference here: the kinds come with them.
pub fn list(root: &Path, path: &Path, _states: bool) -> Result<Listing, Refusal> {
    let real = real_path(root, path)?;
    let mut entries = Vec::new();
    for entry in fs::read_dir(&real)? {
        let entry = entry?;
        if entries.len() == ENTRIES_MAX {
            let words = format!("a folder has more than {ENTRIES_MAX} entries (ENTRIES_MAX)");
            return Err(io::Error::other(words).into());
        }
        let Ok(about) = entry.metadata() else { continue };
        let is_link = about.is_symlink();
        let target = match is_link {
            true => fs::canonicalize(entry.path()).and_then(|real| {
                let about = fs::metadata(&real)?;
                Ok((real, about))
            }),
            false => Ok((entry.path(), about.clone())),
        };
        let Ok((target, found)) = target else {
            let (name, state) = (entry.file_name(), FileState::default());
            entries.push(Entry { name, kind: EntryKind::Dangling, is_link, state });
            continue;
        };
        let stays = !is_link || target.starts_with(fs::canonicalize(or_here(root))?);
        let (kind, state) = match stays {
            true => super::found(&found),
            false => (EntryKind::LinkOut, FileState::of(&about)),
        };
        entries.push(Entry { name: entry.file_name(), kind, is_link, state });
    }
    match real_path(root, path)? == real {
        true => Ok(Listing { id: FolderId(0, id_of(&real)), entries }),
        false => Err(Refusal::Link),
    }
}

fn id_of(real: &Path) -> u64 {
    murmur64a(real.as_os_str().as_encoded_bytes(), 0)
}

/// The folder without links; it and those above it are made where they are missing.
fn make_folder(root: &Path, path: &Path) -> Result<PathBuf, Refusal> {
    match real_path(root, path) {
        Err(Refusal::System(reason)) if reason.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    };
    let above = make_folder(root, path.parent().unwrap_or(Path::new("")))?;
    match fs::create_dir(above.join(name)) {
        Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => Err(reason.into()),
        _ => real_path(root, path),
    }
}

pub fn replace(root: &Path, above: &str, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let folder = make_folder(root, Path::new(above))?;
    let (beside, mut file) = loop {
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let beside = folder.join(format!(".{}-{turn}.tmp", std::process::id()));
        match File::create_new(&beside) {
            Ok(file) => break (beside, file),
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(reason.into()),
        }
    };
    let written = file.write_all(bytes).and_then(|()| fs::rename(&beside, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    Ok(written?)
}

pub fn append(root: &Path, above: &str, name: &str) -> Result<File, Refusal> {
    let path = real_path(root, above)?.join(name);
    match fs::symlink_metadata(&path) {
        Ok(about) if about.is_symlink() => Err(Refusal::Link),
        Ok(about) if !about.is_file() => Err(Refusal::Special),
        _ => Ok(File::options().create(true).append(true).open(path)?),
    }
}
