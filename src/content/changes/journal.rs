//! The journal: stages new contents, commits the list of steps, and renames files step by step.
//! Until the commit, nothing has changed; after it, the change is completed, also after a crash.
//!
//! Folders, in `.engine` of the game: `change` is the change in progress, `undo/N` are the records
//! of finished ones, the last of which can be undone. Both have the file `journal`, and numbered
//! files with contents: `N.new` is staged, `N.old` is the content before the change.

use super::{ChangeSet, FileChange, content_hash};
use engine_foundation::Error;
use engine_foundation::atomic_file::{self, disk};
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::json;
use engine_foundation::output_file;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_resource::resource_name::is_inside;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Maximum number of finished changes that are kept for undo.
pub const RECORDS_MAX: usize = 20;
/// Maximum number of files in one change.
const STEPS_MAX: usize = 1_000_000;

const HOME: &str = ".engine";
const CURRENT: &str = ".engine/change";
const RECORDS: &str = ".engine/undo";
const JOURNAL: &str = "journal";

/// One step. Each can be repeated: it does nothing if it was done.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    kind: StepKind,
    path: String,
    /// New path of a moved file; empty otherwise.
    to: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StepKind {
    /// Puts `N.new` in place of a file; `N.old` has the content before.
    Write,
    /// Puts `N.new` under a new path.
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
    recover(root)?;
    check(root, set)?;
    let folder = root.join(CURRENT);
    let staged = stage(root, &folder, set);
    let steps = match staged {
        Ok(steps) => steps,
        Err(reason) => {
            // Without a journal, nothing has changed yet.
            if !is_kill(&reason) {
                let _ = fs::remove_dir_all(&folder);
            }
            return Err(failed(reason, ""));
        }
    };
    run(root, &folder, &steps)
}

/// Runs the steps of a committed journal. If one fails, those before it are reversed.
fn run(root: &Path, folder: &Path, steps: &[Step]) -> Result<(), Error> {
    for (index, step) in steps.iter().enumerate() {
        let Err(reason) = do_step(root, folder, index, step) else { continue };
        if is_kill(&reason) {
            return Err(failed(reason, &step.path));
        }
        for (index, step) in steps[..index].iter().enumerate().rev() {
            undo_step(root, folder, index, step).map_err(|fault| {
                error!(
                    "{}: {reason}; and the change cannot be taken back: {}: {fault}. Run the \
                     command again, which completes it",
                    step.path, step.path
                )
            })?;
        }
        let _ = fs::remove_dir_all(folder);
        return Err(failed(reason, &step.path));
    }
    remove_empty_folders(root, steps);
    keep_record(root, folder).map_err(|reason| failed(reason, RECORDS))
}

fn failed(reason: io::Error, path: &str) -> Error {
    let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
    error!("{at}{reason}: nothing was changed")
}

/// Completes a change that was interrupted. Returns its title if there was one.
///
/// # Errors
/// Returns an error if the journal is damaged or a step fails. The journal stays.
pub fn recover(root: &Path) -> Result<Option<String>, Error> {
    let folder = root.join(CURRENT);
    if !folder.is_dir() {
        return Ok(None);
    }
    output_file::check_no_links(root, Path::new(CURRENT))
        .map_err(|reason| error!("{CURRENT}: {reason}"))?;
    if !folder.join(JOURNAL).exists() {
        // It was interrupted before the commit: nothing has changed.
        fs::remove_dir_all(&folder).map_err(|reason| error!("{CURRENT}: {reason}"))?;
        return Ok(None);
    }
    let (title, steps) = read_journal(&folder)?;
    for (index, step) in steps.iter().enumerate() {
        do_step(root, &folder, index, step).map_err(|reason| {
            error!("'{title}' was interrupted, and cannot be completed: {}: {reason}", step.path)
        })?;
    }
    remove_empty_folders(root, &steps);
    keep_record(root, &folder).map_err(|reason| error!("{RECORDS}: {reason}"))?;
    Ok(Some(title))
}

/// Checks everything that can be checked before the first file changes.
fn check(root: &Path, set: &ChangeSet) -> Result<(), Error> {
    if set.changes.len() > STEPS_MAX {
        return Err(error!("a change of more than {STEPS_MAX} files (STEPS_MAX)"));
    }
    for (path, hash) in &set.expected {
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
                .map_err(|reason| error!("{path}: {reason}"))?;
            if !found.is_file() {
                return Err(error!("{path}: it is not a plain file, and only those are changed"));
            }
            if found.permissions().readonly() {
                return Err(error!("{path}: the file is read-only: allow writing to it first"));
            }
        }
    }
    Ok(())
}

/// Refuses paths that lead out of the game's folder, or through a link.
fn check_path(root: &Path, path: &str) -> Result<(), Error> {
    if !is_inside(path) || path.is_empty() || path.split('/').any(|part| part.starts_with('.')) {
        return Err(error!("'{path}' is not a path in the game's folder"));
    }
    output_file::check_no_links(root, Path::new(path)).map_err(|reason| error!("{path}: {reason}"))
}

/// Writes new contents and the journal. The journal is the commit: it is complete or missing.
fn stage(root: &Path, folder: &Path, set: &ChangeSet) -> io::Result<Vec<Step>> {
    create_folders(root, HOME)?;
    create_folders(root, CURRENT)?;
    let mut steps = Vec::new();
    let mut add = |kind: StepKind, path: &str, to: &str, new: Option<&[u8]>| -> io::Result<()> {
        let index = steps.len();
        if let Some(bytes) = new {
            tick()?;
            atomic_file::write_durably(&folder.join(format!("{index}.new")), bytes)?;
            // An undo compares the hash with the file, to find later changes.
            let hash = format!("{:016x}", content_hash(bytes));
            atomic_file::write_durably(&folder.join(format!("{index}.hash")), hash.as_bytes())?;
        }
        if kind == StepKind::Write {
            tick()?;
            let old = file_access::read(root, path, &readers::SOURCE)?;
            atomic_file::write_durably(&folder.join(format!("{index}.old")), &old)?;
        }
        steps.push(Step { kind, path: path.to_string(), to: to.to_string() });
        Ok(())
    };
    for change in &set.changes {
        match change {
            FileChange::Write { path, bytes } => add(StepKind::Write, path, "", Some(bytes))?,
            FileChange::Create { path, bytes } => add(StepKind::Create, path, "", Some(bytes))?,
            FileChange::Remove { path } => add(StepKind::Remove, path, "", None)?,
            FileChange::Move { from, to, bytes } => {
                // The content changes under the old name, so that each step concerns one file.
                if let Some(bytes) = bytes {
                    add(StepKind::Write, from, "", Some(bytes))?;
                }
                add(StepKind::Move, from, to, None)?;
            }
        }
    }
    write_journal(folder, &set.title, &steps)?;
    Ok(steps)
}

fn write_journal(folder: &Path, title: &str, steps: &[Step]) -> io::Result<()> {
    let text = |text: &str| SjsonTree::String(text.to_string());
    let row = |step: &Step| {
        let kind = KINDS.iter().find(|(kind, _)| *kind == step.kind).map_or("", |row| row.1);
        SjsonTree::Array(vec![text(kind), text(&step.path), text(&step.to)])
    };
    let tree = SjsonTree::Object(vec![
        ("title".to_string(), text(title)),
        ("steps".to_string(), SjsonTree::Array(steps.iter().map(row).collect())),
    ]);
    tick()?;
    atomic_file::write_durably(&folder.join(JOURNAL), json::write(&tree).as_bytes())
}

fn read_journal(folder: &Path) -> Result<(String, Vec<Step>), Error> {
    let path = folder.join(JOURNAL);
    let damaged = |message: &str| error!("{}: it is damaged: {message}", path.display());
    let bytes = file_access::read_named(&path, &readers::SOURCE_TEXT)
        .map_err(|refusal| damaged(&refusal.to_string()))?;
    let document = sjson::parse_bytes(&bytes).map_err(|error| damaged(&error.to_string()))?;
    let root = document.root();
    let title = root.get("title").and_then(SjsonValue::as_str).unwrap_or_default();
    let rows = root.get("steps").and_then(|steps| steps.items());
    let mut steps = Vec::new();
    for row in rows.ok_or_else(|| damaged("it has no steps"))? {
        let mut texts = row.items().into_iter().flatten().map(SjsonValue::as_str);
        let mut next = || texts.next().flatten();
        let (Some(kind), Some(path), Some(to)) = (next(), next(), next()) else {
            return Err(damaged("a step is not three texts"));
        };
        let kind = KINDS.iter().find(|(_, name)| *name == kind);
        let (kind, _) = kind.ok_or_else(|| damaged("it has an unknown step"))?;
        // A game's folder can have a journal that no engine wrote.
        let is_valid = |path: &str| is_inside(path) && !path.starts_with('.');
        if !is_valid(path) || !is_valid(to) {
            return Err(damaged("a path leads out of the game's folder"));
        }
        steps.push(Step { kind: *kind, path: path.to_string(), to: to.to_string() });
    }
    Ok((title.to_string(), steps))
}

fn do_step(root: &Path, folder: &Path, index: usize, step: &Step) -> io::Result<()> {
    let numbered = |end: &str| folder.join(format!("{index}.{end}"));
    match step.kind {
        StepKind::Write | StepKind::Create => {
            rename_once(root, &numbered("new"), &step.path, false)
        }
        StepKind::Move => rename_once(root, &root.join(&step.path), &step.to, true),
        StepKind::Remove => {
            tick()?;
            output_file::check_no_links(root, Path::new(&step.path))?;
            let path = root.join(&step.path);
            match path.exists() {
                true => disk::rename(&path, &numbered("old")),
                false => Ok(()),
            }
        }
    }
}

/// Renames a file if that was not done before.
fn rename_once(root: &Path, from: &Path, to: &str, is_new: bool) -> io::Result<()> {
    tick()?;
    output_file::check_no_links(root, Path::new(to))?;
    if fs::symlink_metadata(from).is_err() {
        return Ok(());
    }
    if is_new && fs::symlink_metadata(root.join(to)).is_ok() {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "its new path exists already"));
    }
    create_folders(root, to.rsplit_once('/').map_or("", |(folder, _)| folder))?;
    disk::rename(from, &root.join(to))
}

fn undo_step(root: &Path, folder: &Path, index: usize, step: &Step) -> io::Result<()> {
    let old = folder.join(format!("{index}.old"));
    match step.kind {
        StepKind::Write => {
            // The staged content returns to its place, so that the change can be repeated.
            let new = folder.join(format!("{index}.new"));
            let bytes = file_access::read(root, &step.path, &readers::SOURCE)?;
            atomic_file::write_durably(&new, &bytes)?;
            let bytes = file_access::read_named(&old, &readers::SOURCE)?;
            atomic_file::write_durably(&root.join(&step.path), &bytes)
        }
        StepKind::Create => {
            rename_once(folder, &root.join(&step.path), &format!("{index}.new"), false)
        }
        StepKind::Move => rename_once(root, &root.join(&step.to), &step.path, true),
        StepKind::Remove => rename_once(root, &old, &step.path, true),
    }
}

/// Creates a folder below the root and its missing parents.
fn create_folders(root: &Path, path: &str) -> io::Result<()> {
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
fn remove_empty_folders(root: &Path, steps: &[Step]) {
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

/// Turns the finished change into the newest record, and removes the oldest ones.
fn keep_record(root: &Path, folder: &Path) -> io::Result<()> {
    tick()?;
    create_folders(root, RECORDS)?;
    let records = records(root);
    let next = records.last().map_or(1, |last| last + 1);
    disk::rename(folder, &root.join(RECORDS).join(next.to_string()))?;
    let excess = (records.len() + 1).saturating_sub(RECORDS_MAX);
    for record in &records[..excess.min(records.len())] {
        // A record that stays is removed the next time.
        let _ = fs::remove_dir_all(root.join(RECORDS).join(record.to_string()));
    }
    Ok(())
}

/// Returns the numbers of the records, the oldest first.
fn records(root: &Path) -> Vec<u64> {
    let entries = fs::read_dir(root.join(RECORDS)).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let mut found: Vec<u64> = entries.filter_map(number).collect();
    found.sort_unstable();
    found
}

fn newest(root: &Path) -> Option<PathBuf> {
    let newest = records(root).pop()?;
    Some(root.join(RECORDS).join(newest.to_string()))
}

/// Returns the title of the change that [`undo`] would take back.
pub fn undoable(root: &Path) -> Option<String> {
    read_journal(&newest(root)?).ok().map(|(title, _)| title)
}

/// Takes back the last finished change. Returns its title, or `None` if there is none.
///
/// # Errors
/// Returns an error if a file has changed since: then nothing is taken back.
pub fn undo(root: &Path) -> Result<Option<String>, Error> {
    recover(root)?;
    let Some(folder) = newest(root) else { return Ok(None) };
    output_file::check_no_links(root, Path::new(RECORDS))
        .map_err(|reason| error!("{RECORDS}: {reason}"))?;
    let (title, steps) = read_journal(&folder)?;
    let inverse = inverse(root, &folder, &title, &steps)?;
    apply(root, &inverse)?;
    // The inverse change is not one that the next undo should take back.
    for record in [newest(root), Some(folder)].into_iter().flatten() {
        fs::remove_dir_all(&record).map_err(|reason| error!("{}: {reason}", record.display()))?;
    }
    Ok(Some(title))
}

/// Returns the change that takes a finished change back.
fn inverse(root: &Path, folder: &Path, title: &str, steps: &[Step]) -> Result<ChangeSet, Error> {
    let mut set = ChangeSet { title: format!("undo {title}"), ..ChangeSet::default() };
    let mut moved: std::collections::HashMap<&str, &str> = std::collections::HashMap::new();
    for step in steps.iter().filter(|step| step.kind == StepKind::Move) {
        moved.insert(&step.path, &step.to);
    }
    let old = |index: usize| {
        let path = folder.join(format!("{index}.old"));
        file_access::read_named(&path, &readers::SOURCE)
            .map_err(|refusal| error!("{}: {refusal}", path.display()))
    };
    let mut rewritten = std::collections::HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        match step.kind {
            StepKind::Write if moved.contains_key(&step.path[..]) => {
                rewritten.insert(&step.path, old(index)?);
            }
            StepKind::Write => {
                let bytes = old(index)?;
                set.changes.push(FileChange::Write { path: step.path.clone(), bytes });
            }
            StepKind::Create => set.changes.push(FileChange::Remove { path: step.path.clone() }),
            StepKind::Remove => {
                let bytes = old(index)?;
                set.changes.push(FileChange::Create { path: step.path.clone(), bytes });
            }
            StepKind::Move => {
                let (from, to) = (step.to.clone(), step.path.clone());
                let bytes = rewritten.remove(&step.path);
                set.changes.push(FileChange::Move { from, to, bytes });
            }
        }
    }
    for (index, step) in steps.iter().enumerate().filter(|(_, it)| it.kind == StepKind::Write) {
        let now = moved.get(&step.path[..]).copied().unwrap_or(&step.path);
        let bytes = file_access::read(root, now, &readers::SOURCE)
            .map_err(|refusal| Error::new(refusal.message(now)))?;
        let written = written_hash(folder, index);
        if written.is_some_and(|hash| hash != content_hash(&bytes)) {
            return Err(error!("{now}: the file has changed since '{title}': nothing was undone"));
        }
    }
    Ok(set)
}

/// Returns the hash of the content that a step has written, from its record.
fn written_hash(folder: &Path, index: usize) -> Option<u64> {
    let text = fs::read_to_string(folder.join(format!("{index}.hash"))).ok()?;
    u64::from_str_radix(text.trim(), 16).ok()
}

#[cfg(test)]
thread_local! {
    /// For tests: the number of steps after which the process is treated as killed.
    pub static STEPS_LEFT: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// Counts a step of a change. A test can end the process here.
fn tick() -> io::Result<()> {
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
fn is_kill(reason: &io::Error) -> bool {
    cfg!(test) && reason.kind() == ErrorKind::Interrupted
}
