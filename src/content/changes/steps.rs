//! The steps of a change: each replaces, creates, renames or removes one plain file, and can be
//! repeated. Goes through no link, and overwrites no content that the journal does not know. New
//! contents are on the disk before the first file changes, and all changes before the journal ends.

use super::FileWriter;
use super::journal::{CHANGE_FOLDER, Journal, Step, StepKind};
use engine_foundation::atomic_file::disk;
use engine_foundation::file_access::readers::ReaderRow;
use engine_foundation::file_access::{self, readers};
use engine_foundation::output_file;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Maximum number of files or folders that are flushed one by one. For more, the whole file system
/// is flushed, where a system can do that.
const FLUSHED_ALONE_MAX: usize = 8;

/// Does a step, or nothing if it was done. `write` replaces contents, if there is one.
pub(super) fn do_step_through(
    root: &Path,
    index: usize,
    journal: &Journal,
    write: Option<FileWriter>,
) -> io::Result<()> {
    let step = &journal.steps[index];
    let Some(write) = write.filter(|_| step.kind == StepKind::Write) else {
        return do_step(root, index, journal);
    };
    tick()?;
    if is_unwritten(root, index, journal)? {
        write(&step.path, journal.content(step.new))?;
        // Without this step, it would become a part of the record.
        let _ = disk::remove(&root.join(staged_path(index)));
    }
    Ok(())
}

/// Reverses a step that was done. `write` replaces contents, if there is one.
pub(super) fn undo_step_through(
    root: &Path,
    index: usize,
    journal: &Journal,
    write: Option<FileWriter>,
) -> io::Result<()> {
    let step = &journal.steps[index];
    let Some(write) = write.filter(|_| step.kind == StepKind::Write) else {
        return undo_step(root, index, journal);
    };
    match file_access::read(root, &step.path, &readers::SOURCE)? == journal.content(step.new) {
        true => write(&step.path, journal.content(step.old)),
        false => Err(io::Error::other("the file was edited meanwhile")),
    }
}

/// Does a step, or nothing if it was done.
fn do_step(root: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write | StepKind::Create => {
            tick()?;
            match is_unwritten(root, index, journal)? {
                true => rename_staged(root, index, journal),
                false => Ok(()),
            }
        }
        StepKind::Move => rename_once(root, &step.path, &step.to),
        StepKind::Remove => {
            tick()?;
            let kept = kept_path(index);
            match is_there(root, &step.path)? && !is_there(root, &kept)? {
                true => disk::rename(&root.join(&step.path), &root.join(&kept)),
                false => Ok(()),
            }
        }
    }
}

/// Reverses a step that was done. The content before the change is on the disk when the file has it
/// again; names are flushed by [`flush_folders`].
fn undo_step(root: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write => {
            write_staged(root, index, &step.path, journal.content(step.old))?.sync()?;
            disk::rename(&root.join(staged_path(index)), &root.join(&step.path))
        }
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

/// Returns the path of the new content of a step, before the file has it.
fn staged_path(index: usize) -> String {
    format!("{CHANGE_FOLDER}/{index}.new")
}

/// Writes the new contents of all steps that are not done, makes the folders of new files, and
/// flushes both to the disk. Refuses all paths that lead through a link, before the first file
/// changes.
pub(super) fn stage_contents(root: &Path, journal: &Journal) -> io::Result<()> {
    let is_flushed = is_flushed_alone(journal.steps.len());
    for (index, step) in journal.steps.iter().enumerate() {
        prepare_step(root, index, journal, is_flushed)
            .map_err(|reason| io::Error::new(reason.kind(), format!("{}: {reason}", step.path)))?;
    }
    match is_flushed {
        true => flush_folders(root, &journal.steps),
        false => disk::sync_file_system(root),
    }
}

fn prepare_step(root: &Path, index: usize, journal: &Journal, is_flushed: bool) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write => stage_content(root, index, journal, is_flushed),
        StepKind::Create => {
            stage_content(root, index, journal, is_flushed)?;
            create_folders(root, parent_of(&step.path))
        }
        StepKind::Move => {
            output_file::check_no_links(root, Path::new(&step.to))?;
            // A file that has moved, or that is missing, needs no folder.
            match is_there(root, &step.path)? {
                true => create_folders(root, parent_of(&step.to)),
                false => Ok(()),
            }
        }
        StepKind::Remove => is_there(root, &step.path).map(|_| ()),
    }
}

/// Returns the paths that files have only after the steps.
fn new_paths(steps: &[Step]) -> impl Iterator<Item = &str> {
    steps.iter().filter_map(|step| match step.kind {
        StepKind::Create => Some(&step.path[..]),
        StepKind::Move => Some(&step.to[..]),
        StepKind::Write | StepKind::Remove => None,
    })
}

/// Returns the folder around a path; empty for the game's folder.
fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn stage_content(root: &Path, index: usize, journal: &Journal, is_flushed: bool) -> io::Result<()> {
    let (step, new) = (&journal.steps[index], journal.content(journal.steps[index].new));
    let is_done = match is_there(root, &step.path)? {
        true => file_access::read(root, &step.path, &readers::SOURCE)? == new,
        // It was moved after it was written, or the step says that it is missing.
        false => step.kind == StepKind::Write,
    };
    if is_done {
        return Ok(());
    }
    tick()?;
    let file = write_staged(root, index, &step.path, new)?;
    if is_flushed { file.sync() } else { Ok(()) }
}

fn is_flushed_alone(count: usize) -> bool {
    count <= FLUSHED_ALONE_MAX || !disk::SYNCS_FILE_SYSTEMS
}

/// Flushes the folders in which names have changed.
pub(super) fn flush_folders(root: &Path, steps: &[Step]) -> io::Result<()> {
    tick()?;
    let mut folders = BTreeSet::from([CHANGE_FOLDER]);
    for step in steps {
        for path in [&step.path, &step.to] {
            let mut folder = parent_of(path);
            // A new folder is a name in the folder around it.
            while folders.insert(folder) && !folder.is_empty() {
                folder = parent_of(folder);
            }
        }
    }
    if !is_flushed_alone(folders.len()) {
        return disk::sync_file_system(root);
    }
    for folder in folders {
        output_file::check_no_links(root, Path::new(folder))?;
        let path = root.join(folder);
        // A pipe with the name of a folder would never open.
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir()) {
            continue;
        }
        match disk::sync_folder(&path) {
            // The last file of the folder has moved out, and the folder is removed.
            Err(reason) if reason.kind() == ErrorKind::NotFound => {}
            result => result?,
        }
    }
    Ok(())
}

/// Writes the next content of a file, with the permissions of the file now.
fn write_staged(
    root: &Path,
    index: usize,
    path: &str,
    bytes: &[u8],
) -> io::Result<disk::DiskOutput> {
    let staged = staged_path(index);
    let is_leftover = is_there(root, &staged)?;
    let is_replaced = is_there(root, path)?;
    let staged = root.join(staged);
    if is_leftover {
        disk::remove(&staged)?;
    }
    let mut file = disk::DiskOutput::create_new(&staged)?;
    file.write_all(bytes)?;
    if is_replaced {
        let before = fs::symlink_metadata(root.join(path))?;
        // A confined process may change the permissions of files that it has open.
        file_access::open_named(&staged)?.set_permissions(before.permissions())?;
    }
    Ok(file)
}

/// Replaces or creates a file by its new content.
fn rename_staged(root: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    let staged = staged_path(index);
    if !is_there(root, &staged)? {
        // Another step has moved a file away that had this content.
        write_staged(root, index, &step.path, journal.content(step.new))?.sync()?;
    }
    create_folders(root, parent_of(&step.path))?;
    tick()?;
    disk::rename(&root.join(staged), &root.join(&step.path))
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
    create_folders(root, parent_of(to))?;
    disk::rename(&root.join(from), &root.join(to))
}

/// Creates a folder below the root and its missing parents. Makes none through a link.
pub(super) fn create_folders(root: &Path, path: &str) -> io::Result<()> {
    output_file::check_no_links(root, Path::new(path))?;
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
    left.for_each(|step| remove_empty_parents(root, &step.path));
}

/// Removes the folders that were made for files which a change has not made.
pub(super) fn remove_new_folders(root: &Path, steps: &[Step]) {
    new_paths(steps).for_each(|path| remove_empty_parents(root, path));
}

fn remove_empty_parents(root: &Path, path: &str) {
    let mut folder = parent_of(path);
    // A folder behind a link is not one of the game.
    if output_file::check_no_links(root, Path::new(folder)).is_err() {
        return;
    }
    // A folder that is not empty stays.
    while !folder.is_empty() && fs::remove_dir(root.join(folder)).is_ok() {
        folder = parent_of(folder);
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
