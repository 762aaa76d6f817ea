//! The journal: stages new contents, commits the list of steps, and renames files step by step.
//! Until the commit, nothing has changed; after it, the change is completed, also if the process is
//! killed, or if the power fails: the journal and the new contents are on the disk before the first
//! file changes, and all changes before the journal becomes a record. The steps are in steps.rs,
//! and the records of finished changes in records.rs.
//!
//! Folders, in `.engine` of the game: `change` is the change in progress, `undo/N` are the records
//! of finished ones, the last of which can be undone. Both have the file `journal` with the steps,
//! `contents` with the old and new contents of all changed files, and removed files as `N.old`.
//! One file for all contents needs one flush to the disk, however many files change. The new
//! content of each file is `N.new` until it is renamed over the file.
//!
//! A game's folder can come from anyone, with a journal and records that no engine wrote. So no
//! path in them may lead through a link, into a hidden folder, or out of the game's folder.

use super::lock::ChangeLock;
use super::records::{finish, records};
use super::steps::{
    create_folders, do_step_through, flush_folders, is_kill, read_own, remove_empty_folders,
    remove_new_folders, stage_contents, tick, undo_step_through,
};
use super::{ChangeSet, FileChange, FileWriter, content_hash};
use engine_foundation::Error;
use engine_foundation::atomic_file::{self, disk};
use engine_foundation::error;
use engine_foundation::file_access::readers::{SOURCE_BYTES_MAX, SOURCE_TEXT_BYTES_MAX, size_text};
use engine_foundation::file_access::{self, AccessError, readers};
use engine_foundation::json;
use engine_foundation::output_file;
use engine_foundation::own_folder;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_resource::resource_name::is_inside;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Maximum number of files in one change.
const STEPS_MAX: usize = 1_000_000;
/// Bytes by which the row of a step can be longer in the journal that takes the change back.
const STEP_BYTES_SPARE: usize = 64;

/// Folder of the change in progress.
pub(super) const CHANGE_FOLDER: &str = ".engine/change";
/// Folder of the records.
pub(super) const RECORDS_FOLDER: &str = ".engine/undo";
/// File with the steps of a change.
pub(super) const JOURNAL: &str = "journal";
const CONTENTS: &str = "contents";

/// One step. Each can be repeated: it does nothing if it was done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub kind: StepKind,
    pub path: String,
    /// New path of a moved file; empty otherwise.
    pub to: String,
    /// Positions of the new and the old content in the file of contents.
    pub new: (usize, usize),
    pub old: (usize, usize),
}

/// A committed change: its title, its steps and the contents that they write.
pub(super) struct Journal {
    pub title: String,
    /// Number of the record that this change takes back.
    pub undoes: Option<u32>,
    pub steps: Vec<Step>,
    contents: Vec<u8>,
}

impl Journal {
    pub fn content(&self, (start, end): (usize, usize)) -> &[u8] {
        // The positions were checked when the journal was read.
        &self.contents[start..end]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepKind {
    /// Replaces the content of a file.
    Write,
    Create,
    Move,
    /// Moves a file to `N.old`.
    Remove,
}

const KINDS: [(StepKind, &str); 4] = [
    (StepKind::Write, "write"),
    (StepKind::Create, "create"),
    (StepKind::Move, "move"),
    (StepKind::Remove, "remove"),
];

/// Makes all changes, or none.
///
/// # Errors
/// Returns an error that names the file if a file has changed since it was read, if a new path
/// exists, if a path leads through a link, or if the disk refuses. Then nothing has changed.
pub fn apply(root: &Path, set: &ChangeSet) -> Result<(), Error> {
    let _lock = ChangeLock::take(root)?;
    complete(root)?;
    apply_as(root, set, None)
}

/// Makes all changes of contents, or none, in a process that can write only to the engine's folder
/// of the game: `write` replaces the files.
///
/// # Errors
/// Returns an error in the cases of [`apply`], and if a change is not one of contents.
pub fn apply_through(root: &Path, set: &ChangeSet, write: FileWriter) -> Result<(), Error> {
    if !set.changes.iter().all(|change| matches!(change, FileChange::Write { .. })) {
        return Err(error!("only contents can change through another process"));
    }
    let _lock = ChangeLock::take(root)?;
    complete_through(root, Some(write))?;
    apply_set(root, set, None, Some(write))
}

/// Makes all changes, or none. With the number of a record, they take that record's change back.
pub(super) fn apply_as(root: &Path, set: &ChangeSet, undoes: Option<u32>) -> Result<(), Error> {
    apply_set(root, set, undoes, None)
}

fn apply_set(
    root: &Path,
    set: &ChangeSet,
    undoes: Option<u32>,
    write: Option<FileWriter>,
) -> Result<(), Error> {
    check(root, set)?;
    // A folder of records that leads out of the game is refused before the first change.
    records(root).map_err(|reason| error!("{RECORDS_FOLDER}: {reason}"))?;
    let journal = match stage(root, set, undoes) {
        Ok(journal) => journal,
        Err(reason) => {
            if !is_kill(&reason) {
                remove_journal(root);
            }
            return Err(failed(reason, ""));
        }
    };
    run(root, &journal, write)
}

/// Runs the steps of a committed journal. If one fails, those before it are reversed.
fn run(root: &Path, journal: &Journal, write: Option<FileWriter>) -> Result<(), Error> {
    if let Err(reason) = stage_contents(root, journal) {
        if !is_kill(&reason) {
            abandon(root, journal);
        }
        return Err(failed(reason, ""));
    }
    for (index, step) in journal.steps.iter().enumerate() {
        let Err(reason) = do_step_through(root, index, journal, write) else { continue };
        if is_kill(&reason) {
            return Err(failed(reason, &step.path));
        }
        return Err(match take_back(root, journal, index, write) {
            Ok(()) => failed(reason, &step.path),
            Err(fault) => error!(
                "{}: {reason}; and the change cannot be taken back: {fault}. Run the command \
                 again, which completes it",
                step.path
            ),
        });
    }
    remove_empty_folders(root, &journal.steps);
    let flushed = flush_folders(root, &journal.steps);
    flushed.and_then(|()| finish(root, journal.undoes)).map_err(|reason| {
        error!(
            "{RECORDS_FOLDER}: {reason}: the files are changed, and the next command keeps the \
             record"
        )
    })
}

/// Reverses the first steps of a change. The journal is removed when that is on the disk: until
/// then, a loss of power leaves a change that is completed.
fn take_back(
    root: &Path,
    journal: &Journal,
    count: usize,
    write: Option<FileWriter>,
) -> Result<(), Error> {
    // A file that moves there and back changes two folders twice, and each reaches the disk by
    // itself. The disk that has refused a step may also refuse this.
    let _ = flush_folders(root, &journal.steps);
    for done in (0..count).rev() {
        undo_step_through(root, done, journal, write)
            .map_err(|fault| error!("{}: {fault}", journal.steps[done].path))?;
    }
    flush_folders(root, &journal.steps).map_err(|fault| error!("{CHANGE_FOLDER}: {fault}"))?;
    abandon(root, journal);
    Ok(())
}

/// Removes a change of which no step is done.
fn abandon(root: &Path, journal: &Journal) {
    remove_new_folders(root, &journal.steps);
    remove_journal(root);
}

/// Removes the change in progress. Without its journal, it is not completed later.
fn remove_journal(root: &Path) {
    let folder = root.join(CHANGE_FOLDER);
    // The error that has ended the change is the one that is shown.
    if disk::remove(&folder.join(JOURNAL)).is_ok() {
        let _ = disk::sync_folder(&folder);
    }
    let _ = fs::remove_dir_all(folder);
}

fn failed(reason: io::Error, path: &str) -> Error {
    let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
    error!("{at}{reason}: nothing was changed")
}

/// Returns the title of a change that was interrupted, which [`recover`] would complete.
///
/// # Errors
/// Returns an error if its journal is damaged, or not one that an engine wrote.
pub fn interrupted(root: &Path) -> Result<Option<String>, Error> {
    Ok(read_interrupted(root)?.map(|journal| journal.title))
}

/// Completes a change that was interrupted. Returns its title if there was one.
///
/// # Errors
/// Returns an error if the journal is damaged, if a step fails, or if a file was edited since. The
/// journal stays.
pub fn recover(root: &Path) -> Result<Option<String>, Error> {
    // A game without a change needs no lock, and no folder for it.
    if fs::symlink_metadata(root.join(CHANGE_FOLDER)).is_err() {
        return Ok(None);
    }
    let _lock = ChangeLock::take(root)?;
    Ok(complete(root)?.map(|journal| journal.title))
}

/// Reads the journal of a change that was interrupted after its commit.
pub(super) fn read_interrupted(root: &Path) -> Result<Option<Journal>, Error> {
    let path = format!("{CHANGE_FOLDER}/{JOURNAL}");
    output_file::check_no_links(root, Path::new(&path))
        .map_err(|reason| error!("{CHANGE_FOLDER}: {reason}"))?;
    match fs::symlink_metadata(root.join(&path)) {
        Ok(_) => read_journal(root, CHANGE_FOLDER).map(Some),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(None),
        Err(reason) => Err(error!("{path}: {reason}")),
    }
}

/// Completes a change that was interrupted, and returns it.
pub(super) fn complete(root: &Path) -> Result<Option<Journal>, Error> {
    complete_through(root, None)
}

fn complete_through(root: &Path, write: Option<FileWriter>) -> Result<Option<Journal>, Error> {
    let Some(journal) = read_interrupted(root)? else {
        // It was interrupted before the commit, when nothing had changed, or after its end.
        let folder = root.join(CHANGE_FOLDER);
        if fs::symlink_metadata(&folder).is_ok() {
            fs::remove_dir_all(&folder).map_err(|reason| error!("{CHANGE_FOLDER}: {reason}"))?;
        }
        return Ok(None);
    };
    let stuck = |reason: &str| {
        error!(
            "'{}' was interrupted, and cannot be completed: {reason}: repair that, or remove \
             {CHANGE_FOLDER} to keep all files as they are",
            journal.title
        )
    };
    stage_contents(root, &journal).map_err(|reason| stuck(&reason.to_string()))?;
    for (index, step) in journal.steps.iter().enumerate() {
        do_step_through(root, index, &journal, write)
            .map_err(|reason| stuck(&format!("{}: {reason}", step.path)))?;
    }
    remove_empty_folders(root, &journal.steps);
    flush_folders(root, &journal.steps)
        .and_then(|()| finish(root, journal.undoes))
        .map_err(|reason| error!("{RECORDS_FOLDER}: {reason}"))?;
    Ok(Some(journal))
}

/// Checks everything that can be checked before the first file changes.
fn check(root: &Path, set: &ChangeSet) -> Result<(), Error> {
    if set.changes.len() > STEPS_MAX {
        return Err(error!("a change of more than {STEPS_MAX} files (STEPS_MAX)"));
    }
    for (path, hash) in &set.expected_hashes {
        let bytes = file_access::read(root, path, &readers::SOURCE)
            .map_err(|refusal| Error::new(refusal.message(path)))?;
        if content_hash(&bytes) != *hash {
            return Err(error!("{path}: the file has changed since it was read: try again"));
        }
    }
    let leaving: std::collections::HashSet<&str> = set
        .changes
        .iter()
        .filter(|change| matches!(change, FileChange::Move { .. } | FileChange::Remove { .. }))
        .map(FileChange::path)
        .collect();
    for change in &set.changes {
        let new = match change {
            FileChange::Move { to, .. } => Some(to),
            FileChange::Create { path, .. } => Some(path),
            _ => None,
        };
        if let Some(new) = new {
            check_path(root, new)?;
            if fs::symlink_metadata(root.join(new)).is_ok() && !leaving.contains(&new[..]) {
                return Err(error!("{new}: the file exists already: choose another name"));
            }
        }
        if !matches!(change, FileChange::Create { .. }) {
            let path = change.path();
            check_path(root, path)?;
            let found = fs::symlink_metadata(root.join(path))
                .map_err(|reason| Error::new(AccessError::from(reason).message(path)))?;
            if !found.is_file() {
                return Err(error!("{path}: it is not a plain file, and only those are changed"));
            }
            if found.permissions().readonly() {
                return Err(error!("{path}: the file is read-only: allow writing to it first"));
            }
        }
    }
    check_size(root, set)
}

/// Refuses a change whose contents, or those of its undo, are larger than one journal can have.
fn check_size(root: &Path, set: &ChangeSet) -> Result<(), Error> {
    let size_of = |path: &str| fs::symlink_metadata(root.join(path)).map_or(0, |found| found.len());
    let (mut staged, mut undone) = (0u64, 0u64);
    for change in &set.changes {
        match change {
            FileChange::Write { path, bytes }
            | FileChange::Move { from: path, bytes: Some(bytes), .. } => {
                let both = (bytes.len() as u64).saturating_add(size_of(path));
                staged = staged.saturating_add(both);
                undone = undone.saturating_add(both);
            }
            FileChange::Create { bytes, .. } => {
                staged = staged.saturating_add(bytes.len() as u64);
            }
            FileChange::Remove { path } => undone = undone.saturating_add(size_of(path)),
            FileChange::Move { bytes: None, .. } => {}
        }
    }
    if staged.max(undone) > SOURCE_BYTES_MAX {
        let size = size_text(SOURCE_BYTES_MAX);
        return Err(error!(
            "the contents of the change are larger than {size} (SOURCE_BYTES_MAX): change fewer \
             files at once"
        ));
    }
    Ok(())
}

/// Returns true for the path of a file that a change may have: in the game's folder, and not in a
/// hidden one. Links are not considered.
fn is_path_of_game(path: &str) -> bool {
    is_inside(path) && !path.is_empty() && !path.split('/').any(|part| part.starts_with('.'))
}

/// Refuses paths that lead out of the game's folder, or through a link.
fn check_path(root: &Path, path: &str) -> Result<(), Error> {
    if !is_path_of_game(path) {
        return Err(error!("'{path}' is not a path in the game's folder"));
    }
    output_file::check_no_links(root, Path::new(path)).map_err(|reason| error!("{path}: {reason}"))
}

/// Writes the contents and the journal. The journal is the commit: it is complete or missing.
fn stage(root: &Path, set: &ChangeSet, undoes: Option<u32>) -> io::Result<Journal> {
    own_folder::create(root)?;
    create_folders(root, CHANGE_FOLDER)?;
    let (title, steps) = (set.title.clone(), Vec::new());
    let mut journal = Journal { title, undoes, steps, contents: Vec::new() };
    let mut add = |kind: StepKind, path: &str, to: &str, new: &[u8]| -> io::Result<()> {
        let old = match kind {
            StepKind::Write => file_access::read(root, path, &readers::SOURCE)?,
            _ => Vec::new(),
        };
        let mut append = |bytes: &[u8]| {
            let start = journal.contents.len();
            journal.contents.extend_from_slice(bytes);
            (start, journal.contents.len())
        };
        let (new, old) = (append(new), append(&old));
        journal.steps.push(Step { kind, path: path.to_string(), to: to.to_string(), new, old });
        Ok(())
    };
    for change in &set.changes {
        match change {
            FileChange::Write { path, bytes } => add(StepKind::Write, path, "", bytes)?,
            FileChange::Create { path, bytes } => add(StepKind::Create, path, "", bytes)?,
            FileChange::Remove { path } => add(StepKind::Remove, path, "", &[])?,
            FileChange::Move { from, to, bytes } => {
                // The content changes under the old name, so that each step concerns one file.
                if let Some(bytes) = bytes {
                    add(StepKind::Write, from, "", bytes)?;
                }
                add(StepKind::Move, from, to, &[])?;
            }
        }
    }
    let text = journal_text(&journal);
    check_readable(&journal, &text)?;
    let folder = root.join(CHANGE_FOLDER);
    tick()?;
    atomic_file::write_durably(&folder.join(CONTENTS), &journal.contents)?;
    tick()?;
    atomic_file::write_durably(&folder.join(JOURNAL), text.as_bytes())?;
    Ok(journal)
}

/// Refuses a journal that [`read_journal`] would refuse, or whose undo would have such a journal.
fn check_readable(journal: &Journal, text: &str) -> io::Result<()> {
    let spare = match journal.undoes {
        Some(_) => 0,
        None => STEP_BYTES_SPARE * (journal.steps.len() + 1),
    };
    let is_small = journal.steps.len() <= STEPS_MAX
        && (text.len() + spare) as u64 <= SOURCE_TEXT_BYTES_MAX
        && journal.contents.len() as u64 <= SOURCE_BYTES_MAX;
    match is_small {
        true => Ok(()),
        false => Err(io::Error::other("the change has too many files: change fewer at once")),
    }
}

fn journal_text(journal: &Journal) -> String {
    let text = |text: &str| SjsonTree::String(text.to_string());
    let row = |step: &Step| {
        let kind = KINDS.iter().find(|(kind, _)| *kind == step.kind).map_or("", |row| row.1);
        let positions = [step.new.0, step.new.1, step.old.0, step.old.1];
        let mut row = vec![text(kind), text(&step.path), text(&step.to)];
        row.extend(positions.map(|at| SjsonTree::Number(at as f64)));
        SjsonTree::Array(row)
    };
    let mut members = vec![
        ("title".to_string(), text(&journal.title)),
        ("steps".to_string(), SjsonTree::Array(journal.steps.iter().map(row).collect())),
    ];
    if let Some(number) = journal.undoes {
        members.push(("undoes".to_string(), SjsonTree::Number(f64::from(number))));
    }
    json::write(&SjsonTree::Object(members))
}

/// Reads the journal and the contents of a change or of a record. `folder` is relative to the
/// game's folder.
pub(super) fn read_journal(root: &Path, folder: &str) -> Result<Journal, Error> {
    let path = format!("{folder}/{JOURNAL}");
    let damaged = |message: &str| {
        error!("{path}: it is damaged: {message}: remove {folder} to keep all files as they are")
    };
    let bytes = read_own(root, &path, &readers::SOURCE_TEXT)
        .map_err(|reason| damaged(&reason.to_string()))?;
    let document = sjson::parse_bytes(&bytes).map_err(|error| damaged(&error.to_string()))?;
    // A change without contents has an empty file.
    let contents = read_own(root, &format!("{folder}/{CONTENTS}"), &readers::SOURCE)
        .map_err(|reason| damaged(&format!("{CONTENTS}: {reason}")))?;
    let values = document.root();
    let title = values.get("title").and_then(SjsonValue::as_str).unwrap_or_default().to_string();
    let undoes = values.get("undoes").and_then(SjsonValue::as_f64).map(|number| number as u32);
    let rows = values.get("steps").and_then(|steps| steps.items());
    let mut steps = Vec::new();
    for row in rows.ok_or_else(|| damaged("it has no steps"))? {
        let step = read_step(row).ok_or_else(|| damaged("a step is incomplete or unknown"))?;
        // A game's folder can have a journal that no engine wrote.
        let is_valid_target = match step.kind {
            StepKind::Move => is_path_of_game(&step.to),
            _ => step.to.is_empty(),
        };
        if !is_path_of_game(&step.path) || !is_valid_target {
            return Err(damaged("a path leads out of the game's folder, or into a hidden one"));
        }
        let is_range = |(start, end): (usize, usize)| start <= end && end <= contents.len();
        if !is_range(step.new) || !is_range(step.old) {
            return Err(damaged("a content is not in its file"));
        }
        if steps.len() == STEPS_MAX {
            return Err(damaged("it has too many steps"));
        }
        steps.push(step);
    }
    Ok(Journal { title, undoes, steps, contents })
}

fn read_step(row: SjsonValue) -> Option<Step> {
    let mut items = row.items()?;
    let kind = items.next()?.as_str()?;
    let (kind, _) = KINDS.iter().find(|(_, name)| *name == kind)?;
    let path = items.next()?.as_str()?.to_string();
    let to = items.next()?.as_str()?.to_string();
    let mut number = || Some(items.next()?.as_f64()? as usize);
    let (new, old) = ((number()?, number()?), (number()?, number()?));
    Some(Step { kind: *kind, path, to, new, old })
}
