//! Faults of the disk, for the engine's own tests: the nth operation below a folder fails, every
//! operation is recorded, and every state that a loss of power can leave is made of the record.
//!
//! After SQLite's "How SQLite Is Tested" (I/O error tests, crash tests) and the model of Pillai and
//! others, "All File Systems Are Not Created Equal" (OSDI 2014): until a file is synced, any part
//! of what was written to it may be there; until a folder is synced, any subset of the changes to
//! its names may be, in any order between files, but each of them whole.

use crate::foundation::random::Random;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// An operation on the disk. What only reads has one name.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Create(PathBuf),
    Write(PathBuf, Vec<u8>),
    SyncFile(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    CreateFolder(PathBuf),
    RemoveFolder(PathBuf),
    SyncFolder(PathBuf),
    Look(PathBuf),
}

impl Operation {
    fn path(&self) -> &Path {
        match self {
            Operation::Create(path)
            | Operation::Write(path, _)
            | Operation::SyncFile(path)
            | Operation::Rename(path, _)
            | Operation::Remove(path)
            | Operation::CreateFolder(path)
            | Operation::RemoveFolder(path)
            | Operation::SyncFolder(path)
            | Operation::Look(path) => path,
        }
    }
}

#[derive(Default)]
struct State {
    record: Vec<Operation>,
    /// The operations so far, those that failed among them.
    count: usize,
    fail_at: Option<(usize, ErrorKind)>,
}

/// A folder below which every operation is recorded, on every thread, until this is dropped.
pub struct Simulation {
    root: PathBuf,
    state: Mutex<State>,
}

static SIMULATIONS: Mutex<Vec<Arc<Simulation>>> = Mutex::new(Vec::new());

fn simulations() -> MutexGuard<'static, Vec<Arc<Simulation>>> {
    // A test that failed while it held the list has not left it half changed.
    SIMULATIONS.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// Ends its simulation when it is dropped.
pub struct Running(Arc<Simulation>);

impl Running {
    /// Begins a simulation below a folder that no other test uses.
    pub fn below(root: &Path) -> Running {
        let simulation = Arc::new(Simulation { root: root.into(), state: Mutex::default() });
        simulations().push(simulation.clone());
        Running(simulation)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Has the nth operation from now on fail, counted from 0.
    pub fn fail(&self, nth: usize, kind: ErrorKind) {
        let mut state = self.state();
        state.fail_at = Some((state.count + nth, kind));
    }

    /// Lets all operations succeed again; true if the one that was to fail was reached.
    pub fn repair(&self) -> bool {
        let mut state = self.state();
        let count = state.count;
        state.fail_at.take().is_some_and(|(nth, _)| nth < count)
    }

    /// The operations that changed something so far.
    pub fn record(&self) -> Vec<Operation> {
        self.state().record.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        simulations().retain(|simulation| !Arc::ptr_eq(simulation, &self.0));
    }
}

/// Hears of an operation before it is done.
pub fn announce(operation: Operation) -> Result<()> {
    let simulations = simulations();
    let concerned = simulations.iter().find(|one| operation.path().starts_with(&one.root));
    let Some(simulation) = concerned else { return Ok(()) };
    let mut state = simulation.state.lock().unwrap_or_else(|poison| poison.into_inner());
    state.count += 1;
    if let Some((nth, kind)) = state.fail_at
        && nth + 1 == state.count
    {
        return Err(Error::new(kind, "a fault of the test"));
    }
    if !matches!(operation, Operation::Look(_)) {
        state.record.push(operation);
    }
    Ok(())
}

/// A file's content: in the machine's memory, and on the disk.
#[derive(Clone, Default)]
struct Content {
    written: Vec<u8>,
    synced: Vec<u8>,
}

/// A change of names that the disk may or may not hold yet.
#[derive(Clone)]
enum Change {
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename { from: PathBuf, to: PathBuf, file: usize },
    Folder(PathBuf),
}

impl Change {
    /// The folder whose names it changes.
    fn folder(&self) -> &Path {
        let (Change::Link(path, _)
        | Change::Unlink(path)
        | Change::Rename { to: path, .. }
        | Change::Folder(path)) = self;
        path.parent().unwrap_or(Path::new(""))
    }
}

/// The names of a file system: a file's number, or none of a folder.
type Names = BTreeMap<PathBuf, Option<usize>>;

fn apply(names: &mut Names, change: &Change) {
    match change {
        Change::Link(path, file) => _ = names.insert(path.clone(), Some(*file)),
        Change::Unlink(path) => _ = names.remove(path),
        Change::Rename { from, to, file } => {
            names.remove(from);
            names.insert(to.clone(), Some(*file));
        }
        Change::Folder(path) => _ = names.insert(path.clone(), None),
    }
}

/// A file system that forgets what was not synced.
#[derive(Clone, Default)]
pub struct Model {
    files: Vec<Content>,
    /// As the running process sees them, and as the disk holds them.
    now: Names,
    synced: Names,
    pending: Vec<Change>,
}

/// More changes than this that are not synced are not tried in every subset, but in this many.
const CHANGES_TRIED_WHOLLY: usize = 6;
const SUBSETS_OF_MANY: usize = 12;

impl Model {
    fn file(&self, path: &Path) -> usize {
        self.now.get(path).copied().flatten().expect("the file was made below the folder")
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.now, &change);
        self.pending.push(change);
    }

    /// Does an operation that was recorded.
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) => match self.now.get(path) {
                Some(Some(file)) => self.files[*file].written.clear(),
                _ => {
                    self.files.push(Content::default());
                    self.change(Change::Link(path.clone(), self.files.len() - 1));
                }
            },
            Operation::Write(path, bytes) => {
                let file = self.file(path);
                self.files[file].written.extend(bytes);
            }
            Operation::SyncFile(path) => {
                let file = self.file(path);
                self.files[file].synced = self.files[file].written.clone();
            }
            Operation::Rename(from, to) => {
                let file = self.file(from);
                self.change(Change::Rename { from: from.clone(), to: to.clone(), file });
            }
            Operation::Remove(path) | Operation::RemoveFolder(path) => {
                self.change(Change::Unlink(path.clone()));
            }
            Operation::CreateFolder(path) => self.change(Change::Folder(path.clone())),
            Operation::SyncFolder(path) => {
                let changes = std::mem::take(&mut self.pending);
                for change in changes {
                    match change.folder() == path {
                        true => apply(&mut self.synced, &change),
                        false => self.pending.push(change),
                    }
                }
            }
            Operation::Look(_) => {}
        }
    }

    /// The subsets of the pending changes that are tried, each as bits.
    fn subsets(&self, random: &mut Random) -> Vec<u64> {
        let count = self.pending.len();
        if count <= CHANGES_TRIED_WHOLLY {
            return (0..1 << count).collect();
        }
        let all = u64::MAX >> (64 - count.min(64));
        let some = (0..SUBSETS_OF_MANY).map(|_| random.next_u64() & all);
        [0, all].into_iter().chain(some).collect()
    }

    /// Makes below `folder` each state that the disk may be in if the power is lost now, and calls
    /// `check` with a description.
    pub fn lose_power(&self, root: &Path, folder: &Path, check: &mut dyn FnMut(&str)) {
        let mut random = Random::seed(self.pending.len() as u64 + 7);
        for subset in self.subsets(&mut random) {
            let mut names = self.synced.clone();
            for (i, change) in self.pending.iter().enumerate() {
                if i >= 64 || subset >> i & 1 == 1 {
                    apply(&mut names, change);
                }
            }
            let unsynced = |file: &Option<usize>| {
                file.is_some_and(|file| self.files[file].written != self.files[file].synced)
            };
            let forms = if names.values().any(unsynced) { 4 } else { 1 };
            for form in 0..forms {
                let _ = std::fs::remove_dir_all(folder);
                std::fs::create_dir_all(folder).expect("the folder for tests can be written");
                for (path, file) in &names {
                    let path = folder.join(path.strip_prefix(root).expect("it is below"));
                    // A file in a folder whose own name was lost cannot be found any more.
                    let _ = match file {
                        None => std::fs::create_dir(path),
                        Some(file) => std::fs::write(path, self.files[*file].after_loss(form)),
                    };
                }
                check(&format!("changes {subset:b} of {}, form {form}", self.pending.len()));
            }
        }
    }
}

impl Content {
    /// The content after a loss of power: what was synced; all that was written; half of it; zeros
    /// of its length, as where the size reached the disk before the data.
    fn after_loss(&self, form: usize) -> Vec<u8> {
        match form {
            _ if self.written == self.synced => self.synced.clone(),
            0 => self.synced.clone(),
            1 => self.written.clone(),
            2 => self.written[..self.written.len() / 2].to_vec(),
            _ => vec![0; self.written.len()],
        }
    }
}
