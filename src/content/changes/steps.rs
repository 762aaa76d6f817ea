//! The steps of a change: each replaces, creates, renames or removes one plain file, and can be
//! repeated. Goes through no link, and overwrites no content that the journal does not know.

use super::journal::{CHANGE_FOLDER, Journal, Step, StepKind};
use engine_foundation::atomic_file::disk;
use engine_foundation::file_access::readers::ReaderRow;
use engine_foundation::file_access::{self, readers};
use engine_foundation::output_file;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Does a step, or nothing if it was done.
pub(super) fn do_step(root: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write | StepKind::Create => {
            tick()?;
            match is_unwritten(root, index, journal)? {
                true => replace_file(root, index, &step.path, journal.content(step.new)),
                false => Ok(()),
            }
        }
        StepKind::Move => rename_once(root, &step.path, &step.to),
        StepKind::Remove => {
            tick()?;
            let kept = kept_path(index);
            match !is_there(root, &kept)? && is_there(root, &step.path)? {
                true => disk::rename(&root.join(&step.path), &root.join(&kept)),
                false => Ok(()),
            }
        }
    }
}

/// Reverses a step that was done.
pub(super) fn undo_step(root: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write => replace_file(root, index, &step.path, journal.content(step.old)),
        StepKind::Create => disk::remove(&root.join(&step.path)),
        StepKind::Move => rename_once(root, &step.to, &step.path),
        StepKind::Remove => rename_once(root, &kept_path(index), &step.path),
    }
}

/// Returns the path of the removed file of a step.
fn kept_path(index: usize) -> String {
    format!("{CHANGE_FOLDER}/{index}.old")
}

/// Returns true if a step still has to write its content, and false if it was done.
///
/// # Errors
/// Returns an error if the file has neither the content from before the change nor the new one:
/// it was edited after the change was interrupted, and the edit would be lost.
fn is_unwritten(root: &Path, index: usize, journal: &Journal) -> io::Result<bool> {
    let step = &journal.steps[index];
    let is_created = step.kind == StepKind::Create;
    if !is_there(root, &step.path)? {
        // A file that was moved after it was written is done.
        let next = journal.steps.get(index + 1);
        let is_moved =
            next.is_some_and(|next| next.kind == StepKind::Move && next.path == step.path);
        return match is_created || is_moved {
            true => Ok(is_created),
            false => Err(io::Error::new(ErrorKind::NotFound, "the file is missing")),
        };
    }
    let now = file_access::read(root, &step.path, &readers::SOURCE)?;
    if now == journal.content(step.new) {
        return Ok(false);
    }
    match !is_created && now == journal.content(step.old) {
        true => Ok(true),
        false => Err(io::Error::other("the file was edited since the change began")),
    }
}

/// Returns true if a plain file has a path below the root, and false if nothing has it.
///
/// # Errors
/// Returns an error if the path leads through a link, or to something else.
fn is_there(root: &Path, path: &str) -> io::Result<bool> {
    output_file::check_no_links(root, Path::new(path))?;
    match fs::symlink_metadata(root.join(path)) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(io::Error::other(format!(
            "'{path}' is not a plain file, and only those are changed"
        ))),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(reason),
    }
}

/// Reads a file of a change or of a record. Links are refused, because someone else may have made
/// them.
pub(super) fn read_own(root: &Path, path: &str, reader: &'static ReaderRow) -> io::Result<Vec<u8>> {
    output_file::check_no_links(root, Path::new(path))?;
    Ok(file_access::read(root, path, reader)?)
}

/// Replaces or creates a file by a rename, with the permissions of the file before.
fn replace_file(root: &Path, index: usize, path: &str, bytes: &[u8]) -> io::Result<()> {
    let staged = format!("{CHANGE_FOLDER}/{index}.new");
    let is_leftover = is_there(root, &staged)?;
    let is_replaced = is_there(root, path)?;
    let (staged, target) = (root.join(staged), root.join(path));
    if is_leftover {
        disk::remove(&staged)?;
    }
    let mut file = disk::DiskOutput::create_new(&staged)?;
    file.write_all(bytes)?;
    drop(file);
    if is_replaced {
        let before = fs::symlink_metadata(&target)?;
        // A confined process may change the permissions of files that it has open.
        file_access::open_named(&staged)?.set_permissions(before.permissions())?;
    }
    create_folders(root, path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
    tick()?;
    disk::rename(&staged, &target)
}

/// Renames a file if that was not done before.
fn rename_once(root: &Path, from: &str, to: &str) -> io::Result<()> {
    tick()?;
    let is_free = !is_there(root, to)?;
    if !is_there(root, from)? {
        return Ok(());
    }
    if !is_free {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "its new path exists already"));
    }
    create_folders(root, to.rsplit_once('/').map_or("", |(folder, _)| folder))?;
    disk::rename(&root.join(from), &root.join(to))
}

/// Creates a folder below the root and its missing parents.
pub(super) fn create_folders(root: &Path, path: &str) -> io::Result<()> {
    let mut folder = root.to_path_buf();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        match disk::create_folder(&folder) {
            Err(reason) if reason.kind() != ErrorKind::AlreadyExists => return Err(reason),
            _ => {}
        }
    }
    Ok(())
}

/// Removes the folders that moves have left empty.
pub(super) fn remove_empty_folders(root: &Path, steps: &[Step]) {
    let left = steps.iter().filter(|step| matches!(step.kind, StepKind::Move | StepKind::Remove));
    for step in left {
        let mut folder = step.path.as_str();
        while let Some((parent, _)) = folder.rsplit_once('/') {
            // A folder that is not empty stays.
            if fs::remove_dir(root.join(parent)).is_err() {
                break;
            }
            folder = parent;
        }
    }
}

#[cfg(test)]
thread_local! {
    /// For tests: the number of steps after which the process is treated as killed.
    pub static STEPS_LEFT: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// Counts a step of a change. A test can end the process here.
pub(super) fn tick() -> io::Result<()> {
    #[cfg(test)]
    if let Some(left) = STEPS_LEFT.get() {
        if left == 0 {
            return Err(io::Error::new(ErrorKind::Interrupted, "killed"));
        }
        STEPS_LEFT.set(Some(left - 1));
    }
    Ok(())
}

/// Returns true if a test has ended the process: then nothing is reversed.
pub(super) fn is_kill(reason: &io::Error) -> bool {
    cfg!(test) && reason.kind() == ErrorKind::Interrupted
}
