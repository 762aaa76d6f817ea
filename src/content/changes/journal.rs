//! The journal: stages new contents, commits the list of steps, and renames files step by step.
//! Until the commit, nothing has changed; after it, the change is completed, also after a crash.
//!
//! Folders, in `.engine` of the game: `change` is the change in progress, `undo/N` are the records
//! of finished ones, the last of which can be undone. Both have the file `journal` with the steps,
//! `contents` with the old and new contents of all changed files, and removed files as `N.old`.
//! One file for all contents needs one flush to the disk, however many files change.

use super::{ChangeSet, FileChange, content_hash};
use engine_foundation::Error;
use engine_foundation::atomic_file::{self, disk};
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::json;
use engine_foundation::output_file;
use engine_foundation::own_folder;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_resource::resource_name::is_inside;
use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Maximum number of finished changes that are kept for undo.
pub const RECORDS_MAX: usize = 20;
/// Maximum number of files in one change.
const STEPS_MAX: usize = 1_000_000;

const CURRENT: &str = ".engine/change";
const RECORDS: &str = ".engine/undo";
const JOURNAL: &str = "journal";
const CONTENTS: &str = "contents";

/// One step. Each can be repeated: it does nothing if it was done.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    kind: StepKind,
    path: String,
    /// New path of a moved file; empty otherwise.
    to: String,
    /// Positions of the new and the old content in the file of contents.
    new: (usize, usize),
    old: (usize, usize),
}

/// A committed change: its title, its steps and the contents that they write.
struct Journal {
    title: String,
    steps: Vec<Step>,
    contents: Vec<u8>,
}

impl Journal {
    fn content(&self, (start, end): (usize, usize)) -> &[u8] {
        // The positions were checked when the journal was read.
        &self.contents[start..end]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StepKind {
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
    recover(root)?;
    check(root, set)?;
    let folder = root.join(CURRENT);
    let journal = match stage(root, &folder, set) {
        Ok(journal) => journal,
        Err(reason) => {
            // Without a journal, nothing has changed yet.
            if !is_kill(&reason) {
                let _ = fs::remove_dir_all(&folder);
            }
            return Err(failed(reason, ""));
        }
    };
    run(root, &folder, &journal)
}

/// Runs the steps of a committed journal. If one fails, those before it are reversed.
fn run(root: &Path, folder: &Path, journal: &Journal) -> Result<(), Error> {
    let steps = &journal.steps;
    for (index, step) in steps.iter().enumerate() {
        let Err(reason) = do_step(root, folder, index, journal) else { continue };
        if is_kill(&reason) {
            return Err(failed(reason, &step.path));
        }
        for (index, step) in steps[..index].iter().enumerate().rev() {
            undo_step(root, folder, index, journal).map_err(|fault| {
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
    let journal = read_journal(&folder)?;
    for (index, step) in journal.steps.iter().enumerate() {
        do_step(root, &folder, index, &journal).map_err(|reason| {
            let title = &journal.title;
            error!("'{title}' was interrupted, and cannot be completed: {}: {reason}", step.path)
        })?;
    }
    remove_empty_folders(root, &journal.steps);
    keep_record(root, &folder).map_err(|reason| error!("{RECORDS}: {reason}"))?;
    Ok(Some(journal.title))
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

/// Writes the contents and the journal. The journal is the commit: it is complete or missing.
fn stage(root: &Path, folder: &Path, set: &ChangeSet) -> io::Result<Journal> {
    own_folder::create(root)?;
    create_folders(root, CURRENT)?;
    let (title, steps) = (set.title.clone(), Vec::new());
    let mut journal = Journal { title, steps, contents: Vec::new() };
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
    tick()?;
    atomic_file::write_durably(&folder.join(CONTENTS), &journal.contents)?;
    tick()?;
    atomic_file::write_durably(&folder.join(JOURNAL), journal_text(&journal).as_bytes())?;
    Ok(journal)
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
    let tree = SjsonTree::Object(vec![
        ("title".to_string(), text(&journal.title)),
        ("steps".to_string(), SjsonTree::Array(journal.steps.iter().map(row).collect())),
    ]);
    json::write(&tree)
}

fn read_journal(folder: &Path) -> Result<Journal, Error> {
    let path = folder.join(JOURNAL);
    let damaged = |message: &str| error!("{}: it is damaged: {message}", path.display());
    let bytes = file_access::read_named(&path, &readers::SOURCE_TEXT)
        .map_err(|refusal| damaged(&refusal.to_string()))?;
    let document = sjson::parse_bytes(&bytes).map_err(|error| damaged(&error.to_string()))?;
    // A change without contents has an empty file.
    let contents = file_access::read_named(&folder.join(CONTENTS), &readers::SOURCE);
    let contents = contents.map_err(|refusal| damaged(&format!("{CONTENTS}: {refusal}")))?;
    let root = document.root();
    let title = root.get("title").and_then(SjsonValue::as_str).unwrap_or_default().to_string();
    let rows = root.get("steps").and_then(|steps| steps.items());
    let mut steps = Vec::new();
    for row in rows.ok_or_else(|| damaged("it has no steps"))? {
        let step = read_step(row).ok_or_else(|| damaged("a step is incomplete or unknown"))?;
        // A game's folder can have a journal that no engine wrote.
        let is_valid = |path: &str| is_inside(path) && !path.starts_with('.');
        if !is_valid(&step.path) || !is_valid(&step.to) {
            return Err(damaged("a path leads out of the game's folder"));
        }
        let is_range = |(start, end): (usize, usize)| start <= end && end <= contents.len();
        if !is_range(step.new) || !is_range(step.old) {
            return Err(damaged("a content is not in its file"));
        }
        steps.push(step);
    }
    Ok(Journal { title, steps, contents })
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

fn do_step(root: &Path, folder: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write | StepKind::Create => {
            tick()?;
            let is_there = fs::symlink_metadata(root.join(&step.path)).is_ok();
            // A file that was moved after it was written is done.
            match is_there || step.kind == StepKind::Create {
                true => put(root, folder, index, &step.path, journal.content(step.new)),
                false => Ok(()),
            }
        }
        StepKind::Move => rename_once(root, &root.join(&step.path), &step.to, true),
        StepKind::Remove => {
            tick()?;
            output_file::check_no_links(root, Path::new(&step.path))?;
            let path = root.join(&step.path);
            match path.exists() {
                true => disk::rename(&path, &folder.join(format!("{index}.old"))),
                false => Ok(()),
            }
        }
    }
}

/// Replaces or creates a file by a rename, with the permissions of the file before.
fn put(root: &Path, folder: &Path, index: usize, path: &str, bytes: &[u8]) -> io::Result<()> {
    output_file::check_no_links(root, Path::new(path))?;
    let target = root.join(path);
    let staged = folder.join(format!("{index}.new"));
    if staged.exists() {
        disk::remove(&staged)?;
    }
    let mut file = disk::DiskOutput::create_new(&staged)?;
    file.write_all(bytes)?;
    drop(file);
    if let Ok(before) = fs::symlink_metadata(&target) {
        // A confined process may change the permissions of files that it has open.
        file_access::open_named(&staged)?.set_permissions(before.permissions())?;
    }
    create_folders(root, path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
    tick()?;
    disk::rename(&staged, &target)
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

fn undo_step(root: &Path, folder: &Path, index: usize, journal: &Journal) -> io::Result<()> {
    let step = &journal.steps[index];
    match step.kind {
        StepKind::Write => put(root, folder, index, &step.path, journal.content(step.old)),
        StepKind::Create => disk::remove(&root.join(&step.path)),
        StepKind::Move => rename_once(root, &root.join(&step.to), &step.path, true),
        StepKind::Remove => {
            rename_once(root, &folder.join(format!("{index}.old")), &step.path, true)
        }
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
    read_journal(&newest(root)?).ok().map(|journal| journal.title)
}

/// A change that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneChange {
    pub title: String,
    /// Files that moved back: the path until then, and the one that they have now.
    pub moves: Vec<(String, String)>,
}

/// Takes back the last finished change. Returns it, or `None` if there is none.
///
/// # Errors
/// Returns an error if a file has changed since: then nothing is taken back.
pub fn undo(root: &Path) -> Result<Option<UndoneChange>, Error> {
    recover(root)?;
    let Some(folder) = newest(root) else { return Ok(None) };
    output_file::check_no_links(root, Path::new(RECORDS))
        .map_err(|reason| error!("{RECORDS}: {reason}"))?;
    let journal = read_journal(&folder)?;
    let set = inverse(root, &folder, &journal)?;
    apply(root, &set)?;
    // The inverse change is not one that the next undo should take back.
    for record in [newest(root), Some(folder)].into_iter().flatten() {
        fs::remove_dir_all(&record).map_err(|reason| error!("{}: {reason}", record.display()))?;
    }
    let moves = set.changes.into_iter().filter_map(|change| match change {
        FileChange::Move { from, to, .. } => Some((from, to)),
        _ => None,
    });
    Ok(Some(UndoneChange { title: journal.title, moves: moves.collect() }))
}

/// Returns the change that takes a finished change back.
fn inverse(root: &Path, folder: &Path, journal: &Journal) -> Result<ChangeSet, Error> {
    let Journal { title, steps, .. } = journal;
    let mut set = ChangeSet { title: format!("undo {title}"), ..ChangeSet::default() };
    let moves = steps.iter().filter(|step| step.kind == StepKind::Move);
    let moved: HashMap<&str, &str> = moves.map(|step| (&step.path[..], &step.to[..])).collect();
    let mut rewritten: HashMap<&str, Vec<u8>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let path = step.path.clone();
        match step.kind {
            StepKind::Write => {
                let now = moved.get(&step.path[..]).copied().unwrap_or(&step.path);
                set.expected.push((now.to_string(), content_hash(journal.content(step.new))));
                let bytes = journal.content(step.old).to_vec();
                match moved.contains_key(&step.path[..]) {
                    true => _ = rewritten.insert(&step.path, bytes),
                    false => set.changes.push(FileChange::Write { path, bytes }),
                }
            }
            StepKind::Create => {
                let hash = content_hash(journal.content(step.new));
                set.expected.push((path.clone(), hash));
                set.changes.push(FileChange::Remove { path });
            }
            StepKind::Remove => {
                let old = folder.join(format!("{index}.old"));
                let bytes = file_access::read_named(&old, &readers::SOURCE)
                    .map_err(|refusal| error!("{}: {refusal}", old.display()))?;
                set.changes.push(FileChange::Create { path, bytes });
            }
            StepKind::Move => {
                let bytes = rewritten.remove(&step.path[..]);
                set.changes.push(FileChange::Move { from: step.to.clone(), to: path, bytes });
            }
        }
    }
    for (path, hash) in &set.expected {
        let bytes = file_access::read(root, path, &readers::SOURCE)
            .map_err(|refusal| Error::new(refusal.message(path)))?;
        if content_hash(&bytes) != *hash {
            return Err(error!("{path}: the file has changed since '{title}': nothing was undone"));
        }
    }
    Ok(set)
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
