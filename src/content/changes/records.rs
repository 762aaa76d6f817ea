//! Records of finished changes, and the undo of the last one. An undo is a change of its own, which
//! is not kept: when it is finished, the record that it takes back is removed.

use super::journal::{
    CHANGE_FOLDER, JOURNAL, Journal, RECORDS_FOLDER, StepKind, apply_as, complete,
    read_interrupted, read_journal,
};
use super::lock::ChangeLock;
use super::steps::{create_folders, read_own, tick};
use super::{ChangeSet, FileChange, content_hash};
use engine_foundation::Error;
use engine_foundation::atomic_file::{self, disk};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::output_file;
use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Maximum number of finished changes that are kept for undo.
pub const RECORDS_MAX: usize = 20;

/// Beginning of the title of an undo.
const UNDO: &str = "undo ";
/// Folder in the folder of an undo: the record that it has taken back.
const TAKEN_BACK: &str = "taken_back";

/// Ends a change whose steps are done: it becomes the newest record, or, if it takes a record back,
/// both are removed.
pub(super) fn finish(root: &Path, undoes: Option<u32>) -> io::Result<()> {
    tick()?;
    match undoes {
        Some(number) => forget_record(root, number),
        None => keep_record(root),
    }
}

/// Turns the finished change into the newest record, and removes the oldest ones.
fn keep_record(root: &Path) -> io::Result<()> {
    let records = records(root)?;
    create_folders(root, RECORDS_FOLDER)?;
    let next = records.last().map_or(Some(1), |last| last.checked_add(1));
    let next = next.ok_or_else(|| io::Error::other("the last record has the largest number"))?;
    let record = root.join(RECORDS_FOLDER).join(next.to_string());
    match disk::rename(&root.join(CHANGE_FOLDER), &record) {
        // A confined process may not move anything to another folder.
        Err(reason) if reason.kind() == ErrorKind::CrossesDevices => copy_record(root, &record)?,
        renamed => renamed?,
    }
    let excess = (records.len() + 1).saturating_sub(RECORDS_MAX);
    for record in &records[..excess.min(records.len())] {
        // A record that stays is removed the next time.
        let _ = fs::remove_dir_all(root.join(RECORDS_FOLDER).join(record.to_string()));
    }
    Ok(())
}

/// Folder of a record that is being copied.
const COPIED: &str = ".engine/undo/copied";

/// Copies the finished change to a record, and removes it.
fn copy_record(root: &Path, record: &Path) -> io::Result<()> {
    let copied = root.join(COPIED);
    output_file::check_no_links(root, Path::new(COPIED))?;
    match fs::remove_dir_all(&copied) {
        Err(reason) if reason.kind() != ErrorKind::NotFound => return Err(reason),
        _ => {}
    }
    create_folders(root, COPIED)?;
    let change = root.join(CHANGE_FOLDER);
    for entry in fs::read_dir(&change)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.ends_with(".new")) else { continue };
        if entry.file_type()?.is_file() {
            let bytes = read_own(root, &format!("{CHANGE_FOLDER}/{name}"), &readers::SOURCE)?;
            atomic_file::write_durably(&copied.join(name), &bytes)?;
        }
    }
    // A record is complete, or it is none.
    disk::rename(&copied, record)?;
    disk::sync_folder(&root.join(RECORDS_FOLDER))?;
    disk::remove(&change.join(JOURNAL))?;
    // Without its journal, a folder that stays is removed by the next command.
    let _ = fs::remove_dir_all(change);
    Ok(())
}

/// Removes the finished undo, and the record that it has taken back.
fn forget_record(root: &Path, number: u32) -> io::Result<()> {
    let folder = root.join(CHANGE_FOLDER);
    if records(root)?.contains(&number) {
        let record = root.join(RECORDS_FOLDER).join(number.to_string());
        disk::rename(&record, &folder.join(TAKEN_BACK))?;
    }
    tick()?;
    disk::remove(&folder.join(JOURNAL))?;
    // Without its journal, a folder that stays is removed by the next command.
    let _ = fs::remove_dir_all(folder);
    Ok(())
}

/// Returns the numbers of the records, the oldest first.
///
/// # Errors
/// Returns an error if the folder or a record is a link, which could lead out of the game's folder.
pub(super) fn records(root: &Path) -> io::Result<Vec<u32>> {
    output_file::check_no_links(root, Path::new(RECORDS_FOLDER))?;
    let entries = match fs::read_dir(root.join(RECORDS_FOLDER)) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let (name, file_type) = (entry.file_name(), entry.file_type()?);
        let Some(name) = name.to_str() else { continue };
        let Some(number) = name.parse::<u32>().ok().filter(|it| it.to_string() == name) else {
            continue;
        };
        if file_type.is_symlink() {
            return Err(io::Error::other(format!("'{name}' is a link: remove it")));
        }
        if file_type.is_dir() {
            found.push(number);
        }
    }
    found.sort_compact();
    Ok(found)
}

fn newest(root: &Path) -> Result<Option<u32>, Error> {
    let mut records = records(root).map_err(|reason| error!("{RECORDS_FOLDER}: {reason}"))?;
    Ok(records.pop())
}

/// Returns the title of the change that [`undo`] would take back.
///
/// # Errors
/// Returns an error if its journal is damaged, or not one that an engine wrote.
pub fn undoable(root: &Path) -> Result<Option<String>, Error> {
    // An interrupted change is completed first, and is then the last one.
    if let Some(journal) = read_interrupted(root)? {
        return Ok(Some(title(&journal)));
    }
    let Some(number) = newest(root)? else { return Ok(None) };
    Ok(Some(read_journal(root, &format!("{RECORDS_FOLDER}/{number}"))?.title))
}

/// Returns the title of a change; for an undo, that of the change that it takes back.
fn title(journal: &Journal) -> String {
    let title = journal.title.as_str();
    let undone = title.strip_prefix(UNDO).filter(|_| journal.undoes.is_some());
    undone.unwrap_or(title).to_string()
}

/// A change that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneChange {
    pub title: String,
    /// Files that moved back: the path until then, and the one that they have now.
    pub moves: Vec<(String, String)>,
}

/// Takes back the last finished change. Returns it, or `None` if there is none. An undo that was
/// interrupted is completed instead.
///
/// # Errors
/// Returns an error if a file has changed since: then nothing is taken back.
pub fn undo(root: &Path) -> Result<Option<UndoneChange>, Error> {
    let _lock = ChangeLock::take(root)?;
    if let Some(journal) = complete(root)?.filter(|journal| journal.undoes.is_some()) {
        let steps = journal.steps.iter().filter(|step| step.kind == StepKind::Move);
        let moves = steps.map(|step| (step.path.clone(), step.to.clone())).collect();
        return Ok(Some(UndoneChange { title: title(&journal), moves }));
    }
    let Some(number) = newest(root)? else { return Ok(None) };
    let folder = format!("{RECORDS_FOLDER}/{number}");
    let journal = read_journal(root, &folder)?;
    let set = inverse(root, &folder, &journal)?;
    apply_as(root, &set, Some(number))?;
    let moves = set.changes.into_iter().filter_map(|change| match change {
        FileChange::Move { from, to, .. } => Some((from, to)),
        _ => None,
    });
    Ok(Some(UndoneChange { title: journal.title, moves: moves.collect() }))
}

/// Folder of a record that is being forgotten.
const FORGOTTEN: &str = ".engine/undo/forgotten";

/// Forgets the last finished change, also if its record is damaged: its files stay as they are, and
/// the change before it can be undone. Returns its title, or `None` if there is none.
///
/// # Errors
/// Returns an error if an interrupted change cannot be completed, or if the record stays.
pub fn forget(root: &Path) -> Result<Option<String>, Error> {
    let _lock = ChangeLock::take(root)?;
    complete(root)?;
    let Some(number) = newest(root)? else { return Ok(None) };
    let folder = format!("{RECORDS_FOLDER}/{number}");
    let title = forgotten_title(root, &folder);
    let forget = || -> io::Result<()> {
        let forgotten = root.join(FORGOTTEN);
        output_file::check_no_links(root, Path::new(FORGOTTEN))?;
        match fs::remove_dir_all(&forgotten) {
            Err(reason) if reason.kind() != ErrorKind::NotFound => return Err(reason),
            _ => {}
        }
        // A record is complete, or it is none.
        disk::rename(&root.join(&folder), &forgotten)?;
        fs::remove_dir_all(forgotten)
    };
    forget().map_err(|reason| error!("{folder}: {reason}"))?;
    Ok(Some(title))
}

/// Returns the title of the change that [`forget`] would forget.
///
/// # Errors
/// Returns an error if the records cannot be listed.
pub fn forgettable(root: &Path) -> Result<Option<String>, Error> {
    let number = newest(root)?;
    Ok(number.map(|number| forgotten_title(root, &format!("{RECORDS_FOLDER}/{number}"))))
}

fn forgotten_title(root: &Path, folder: &str) -> String {
    read_journal(root, folder).map_or(format!("the damaged {folder}"), |journal| journal.title)
}

/// Returns the change that takes a finished change back.
fn inverse(root: &Path, folder: &str, journal: &Journal) -> Result<ChangeSet, Error> {
    let Journal { title, steps, .. } = journal;
    let mut set = ChangeSet { title: format!("{UNDO}{title}"), ..ChangeSet::default() };
    let moves = steps.iter().filter(|step| step.kind == StepKind::Move);
    let moved: HashMap<&str, &str> = moves.map(|step| (&step.path[..], &step.to[..])).collect();
    let mut rewritten: HashMap<&str, Vec<u8>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let path = step.path.clone();
        match step.kind {
            StepKind::Write => {
                let now = moved.get(&step.path[..]).copied().unwrap_or(&step.path);
                set.expected_hashes
                    .push((now.to_string(), content_hash(journal.content(step.new))));
                let bytes = journal.content(step.old).to_vec();
                match moved.contains_key(&step.path[..]) {
                    true => _ = rewritten.insert(&step.path, bytes),
                    false => set.changes.push(FileChange::Write { path, bytes }),
                }
            }
            StepKind::Create => {
                let hash = content_hash(journal.content(step.new));
                set.expected_hashes.push((path.clone(), hash));
                set.changes.push(FileChange::Remove { path });
            }
            StepKind::Remove => {
                let old = format!("{folder}/{index}.old");
                let bytes = read_own(root, &old, &readers::SOURCE)
                    .map_err(|reason| error!("{old}: {reason}"))?;
                set.changes.push(FileChange::Create { path, bytes });
            }
            StepKind::Move => {
                let bytes = rewritten.remove(&step.path[..]);
                set.changes.push(FileChange::Move { from: step.to.clone(), to: path, bytes });
            }
        }
    }
    for (path, hash) in &set.expected_hashes {
        let bytes = file_access::read(root, path, &readers::SOURCE)
            .map_err(|refusal| Error::new(refusal.message(path)))?;
        if content_hash(&bytes) != *hash {
            return Err(error!(
                "{path}: the file has changed since '{title}': nothing was undone (`engine undo \
                 --forget` keeps the files, and forgets the change)"
            ));
        }
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::apply_through;
    use crate::game_for_tests::TestGame;

    fn set(paths: &[&str]) -> ChangeSet {
        let change =
            |path: &&str| FileChange::Write { path: path.to_string(), bytes: b"n".to_vec() };
        let hash = |path: &&str| (path.to_string(), content_hash(b"old"));
        ChangeSet {
            title: "names".to_string(),
            changes: paths.iter().map(change).collect(),
            expected_hashes: paths.iter().map(hash).collect(),
        }
    }

    #[test]
    fn contents_change_through_a_writer_and_are_undone() {
        let game = TestGame::new(&[("a.lua", "old"), ("b.lua", "old")]);
        let before = game.files();
        let write = |path: &str, bytes: &[u8]| fs::write(game.root.join(path), bytes);
        apply_through(&game.root, &set(&["a.lua", "b.lua"]), &write).unwrap();
        assert_ne!(game.files(), before);
        assert_eq!(undo(&game.root).unwrap().unwrap().title, "names");
        assert_eq!(game.files(), before);
    }

    #[test]
    fn an_edit_meanwhile_or_a_refusal_leaves_all_files() {
        let game = TestGame::new(&[("a.lua", "old"), ("b.lua", "edited")]);
        let before = game.files();
        let write = |path: &str, bytes: &[u8]| fs::write(game.root.join(path), bytes);
        let error = apply_through(&game.root, &set(&["a.lua", "b.lua"]), &write).unwrap_err();
        assert!(error.message.contains("b.lua: the file has changed"), "{error}");
        assert_eq!(game.files(), before);
        fs::write(game.root.join("b.lua"), "old").unwrap();
        let before = game.files();
        let refuse = |path: &str, bytes: &[u8]| match path {
            "b.lua" => Err(io::Error::other("full")),
            path => fs::write(game.root.join(path), bytes),
        };
        let error = apply_through(&game.root, &set(&["a.lua", "b.lua"]), &refuse).unwrap_err();
        assert!(error.message.contains("nothing was changed"), "{error}");
        assert_eq!(game.files(), before);
        assert_eq!(undoable(&game.root).unwrap(), None);
    }

    #[test]
    fn a_record_that_cannot_be_moved_is_copied() {
        let game = TestGame::new(&[("a.lua", "old")]);
        let write = |path: &str, bytes: &[u8]| fs::write(game.root.join(path), bytes);
        apply_through(&game.root, &set(&["a.lua"]), &write).unwrap();
        let records = game.root.join(RECORDS_FOLDER);
        fs::rename(records.join("1"), game.root.join(CHANGE_FOLDER)).unwrap();
        copy_record(&game.root, &records.join("1")).unwrap();
        assert!(!game.root.join(CHANGE_FOLDER).exists());
        assert_eq!(undo(&game.root).unwrap().unwrap().title, "names");
    }
}
