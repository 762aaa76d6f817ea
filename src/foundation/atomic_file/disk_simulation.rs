//! Disk fault injection for the engine's own tests. The nth operation below a folder fails, every
//! operation is recorded, and every state that a power failure can leave is reconstructed from the
//! record.
//!
//! After SQLite's "How SQLite Is Tested" (I/O error tests, crash tests) and the model of Pillai and
//! others, "All File Systems Are Not Created Equal" (OSDI 2014). Until a file is synced, any part
//! of the bytes written to it may be on the disk. Until a folder is synced, any subset of the
//! changes to its names may be on the disk, in any order between files, but each change is atomic.

use crate::random::Random;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk operation. All operations that only read share one variant.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Create(PathBuf),
    Write(PathBuf, Vec<u8>),
    SyncFile(PathBuf),
    Rename(PathBuf, PathBuf),
    /// A hard link: the existing name, then the new one.
    Link(PathBuf, PathBuf),
    Remove(PathBuf),
    CreateFolder(PathBuf),
    RemoveFolder(PathBuf),
    SyncFolder(PathBuf),
    SyncFileSystem(PathBuf),
    Look(PathBuf),
}

impl Operation {
    fn path(&self) -> &Path {
        match self {
            Operation::Create(path)
            | Operation::Write(path, _)
            | Operation::SyncFile(path)
            | Operation::Rename(path, _)
            | Operation::Link(_, path)
            | Operation::Remove(path)
            | Operation::CreateFolder(path)
            | Operation::RemoveFolder(path)
            | Operation::SyncFolder(path)
            | Operation::SyncFileSystem(path)
            | Operation::Look(path) => path,
        }
    }
}

#[derive(Default)]
struct SimulationState {
    record: Vec<Operation>,
    /// Number of operations so far, including failed ones.
    count: usize,
    fail_at: Option<(usize, ErrorKind)>,
}

/// A folder below which every operation of every thread is recorded until this value is dropped.
pub struct DiskSimulation {
    root: PathBuf,
    state: Mutex<SimulationState>,
}

static SIMULATIONS: Mutex<Vec<Arc<DiskSimulation>>> = Mutex::new(Vec::new());

fn simulations() -> MutexGuard<'static, Vec<Arc<DiskSimulation>>> {
    // A test that failed while it held the lock has not left the list half changed.
    SIMULATIONS.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A guard that ends its simulation when it is dropped.
pub struct SimulationGuard(Arc<DiskSimulation>);

impl SimulationGuard {
    /// Starts a simulation below a folder that no other test uses.
    pub fn below(root: &Path) -> SimulationGuard {
        let simulation = Arc::new(DiskSimulation { root: root.into(), state: Mutex::default() });
        simulations().push(simulation.clone());
        SimulationGuard(simulation)
    }

    fn state(&self) -> MutexGuard<'_, SimulationState> {
        self.0.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Makes the nth operation from now on fail, counted from 0.
    pub fn fail(&self, nth: usize, kind: ErrorKind) {
        let mut state = self.state();
        state.fail_at = Some((state.count + nth, kind));
    }

    /// Lets all operations succeed again. Returns true if the operation that should fail was
    /// reached.
    pub fn repair(&self) -> bool {
        let mut state = self.state();
        let count = state.count;
        state.fail_at.take().is_some_and(|(nth, _)| nth < count)
    }

    /// Returns the recorded operations that changed the disk.
    pub fn record(&self) -> Vec<Operation> {
        self.state().record.clone()
    }
}

impl Drop for SimulationGuard {
    fn drop(&mut self) {
        simulations().retain(|simulation| !Arc::ptr_eq(simulation, &self.0));
    }
}

/// Receives an operation before it is executed. Returns the simulated error, if one is due.
pub fn check_operation(operation: impl FnOnce() -> Operation) -> Result<()> {
    let simulations = simulations();
    if simulations.is_empty() {
        return Ok(());
    }
    let operation = operation();
    let simulation = simulations.iter().find(|one| operation.path().starts_with(&one.root));
    let Some(simulation) = simulation else { return Ok(()) };
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

/// A file's content as written by the process, and as synced to the disk.
#[derive(Clone, Default)]
struct FileContent {
    written: Vec<u8>,
    synced: Vec<u8>,
}

/// A change to the names in a folder that the disk may or may not hold yet.
#[derive(Clone)]
enum NameChange {
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename {
        from: PathBuf,
        to: PathBuf,
        file: usize,
    },
    Folder(PathBuf),
    /// Of a folder with all that is inside.
    RenameFolder {
        from: PathBuf,
        to: PathBuf,
    },
}

impl NameChange {
    /// Returns the folder in which names change.
    fn folder(&self) -> &Path {
        let (NameChange::Link(path, _)
        | NameChange::Unlink(path)
        | NameChange::Rename { to: path, .. }
        | NameChange::RenameFolder { to: path, .. }
        | NameChange::Folder(path)) = self;
        path.parent().unwrap_or(Path::new(""))
    }
}

/// The names in a file system, each with the index of its file; `None` for a folder.
type NameTable = BTreeMap<PathBuf, Option<usize>>;

fn apply(names: &mut NameTable, change: &NameChange) {
    match change {
        NameChange::Link(path, file) => _ = names.insert(path.clone(), Some(*file)),
        NameChange::Unlink(path) => _ = names.remove(path),
        NameChange::Rename { from, to, file } => {
            names.remove(from);
            names.insert(to.clone(), Some(*file));
        }
        NameChange::Folder(path) => _ = names.insert(path.clone(), None),
        NameChange::RenameFolder { from, to } => {
            let moved: Vec<PathBuf> =
                names.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for path in moved {
                let (Some(file), Ok(inside)) = (names.remove(&path), path.strip_prefix(from))
                else {
                    continue;
                };
                names.insert(to.join(inside), file);
            }
        }
    }
}

/// A model of a file system that loses unsynced data.
#[derive(Clone, Default)]
pub struct DiskModel {
    files: Vec<FileContent>,
    /// Names as the running process sees them (`current`), and as the disk holds them (`synced`).
    current: NameTable,
    synced: NameTable,
    pending: Vec<NameChange>,
}

/// Maximum number of unsynced changes of which every subset is tried. Of more changes, the empty
/// set, the full set and `RANDOM_SUBSETS` random subsets are tried.
const EXHAUSTIVE_CHANGES_MAX: usize = 6;
const RANDOM_SUBSETS: usize = 12;

impl DiskModel {
    fn file(&self, path: &Path) -> usize {
        self.current.get(path).copied().flatten().expect("the file was made below the folder")
    }

    fn change(&mut self, change: NameChange) {
        apply(&mut self.current, &change);
        self.pending.push(change);
    }

    /// Applies a recorded operation.
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) => match self.current.get(path) {
                Some(Some(file)) => self.files[*file].written.clear(),
                _ => {
                    self.files.push(FileContent::default());
                    self.change(NameChange::Link(path.clone(), self.files.len() - 1));
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
            Operation::Rename(from, to) if self.current.get(from) == Some(&None) => {
                self.change(NameChange::RenameFolder { from: from.clone(), to: to.clone() });
            }
            Operation::Rename(from, to) => {
                let file = self.file(from);
                self.change(NameChange::Rename { from: from.clone(), to: to.clone(), file });
            }
            Operation::Link(from, to) => {
                let file = self.file(from);
                self.change(NameChange::Link(to.clone(), file));
            }
            Operation::Remove(path) | Operation::RemoveFolder(path) => {
                self.change(NameChange::Unlink(path.clone()));
            }
            Operation::CreateFolder(path) => self.change(NameChange::Folder(path.clone())),
            Operation::SyncFolder(path) => {
                let changes = std::mem::take(&mut self.pending);
                for change in changes {
                    match change.folder() == path {
                        true => apply(&mut self.synced, &change),
                        false => self.pending.push(change),
                    }
                }
            }
            Operation::SyncFileSystem(_) => {
                self.files.iter_mut().for_each(|file| file.synced = file.written.clone());
                for change in std::mem::take(&mut self.pending) {
                    apply(&mut self.synced, &change);
                }
            }
            Operation::Look(_) => {}
        }
    }

    /// Returns the subsets of the pending changes to try, each as a bit set.
    fn subsets(&self, random: &mut Random) -> Vec<u64> {
        let count = self.pending.len();
        if count <= EXHAUSTIVE_CHANGES_MAX {
            return (0..1 << count).collect();
        }
        let all = u64::MAX >> (64 - count.min(64));
        let random_subsets = (0..RANDOM_SUBSETS).map(|_| random.next_u64() & all);
        [0, all].into_iter().chain(random_subsets).collect()
    }

    /// Creates below `folder` each state that the disk may have if the power fails now, and calls
    /// `check` with a description of the state.
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
                    // If the folder's own name was lost, a file in the folder cannot be found any
                    // more.
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

impl FileContent {
    /// Returns the content after a power failure: the synced bytes, all written bytes, half of the
    /// written bytes, or zeros of the same length. The last case occurs if the size reaches the
    /// disk before the data.
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
