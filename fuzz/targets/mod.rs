//! The table of fuzz targets: readers of untrusted bytes, each as a function that takes any bytes.
//! A target may refuse its bytes, but it must not panic, hang or access foreign memory. Both the
//! coverage-guided fuzzer (fuzz/src/main.rs) and the gate (tests/memory/fuzz.rs) run the targets.

mod content;
pub mod data;
mod files;
mod game;
mod models;
#[cfg(test)]
pub mod readers;
mod remote;
mod replays;
mod requests;
mod seeds;
mod serialized;
mod sources;
mod values;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use seeds::{dictionary, seeds_of};

/// A target's function, which reads bytes.
pub type Run = Box<dyn Fn(&[u8])>;

/// A fuzz target: one reader of bytes.
pub struct Target {
    /// Type of the input and the item that is read: `source.png`.
    pub name: String,
    /// Maximum size of an input. Longer inputs find little more and take longer.
    pub bytes_max: usize,
    /// Number of mutations of each seed that the gate tries: few for slow cases.
    pub gate_cases: usize,
    /// True if cases are played in a game.
    plays: bool,
    /// True if cases share state, so that a failure may depend on earlier cases.
    pub keeps: bool,
    pub run: Run,
}

impl Target {
    fn new(name: impl Into<String>, bytes_max: usize, run: impl Fn(&[u8]) + 'static) -> Target {
        let (name, run) = (name.into(), Box::new(run));
        Target { name, bytes_max, gate_cases: 12, plays: false, keeps: false, run }
    }

    /// Marks a target with slow cases, because a game plays them.
    fn slow(mut self) -> Target {
        (self.plays, self.gate_cases) = (true, 1);
        self
    }

    /// Marks a target that plays many cases in one game.
    fn sharing_game(mut self) -> Target {
        self.keeps = true;
        self.slow()
    }

    /// Marks a target with fast cases, although a game plays them.
    fn fast(mut self) -> Target {
        self.gate_cases = 12;
        self
    }

    /// Creates all state that is created on first use, so that the first case takes as long as the
    /// others.
    pub fn prepare(&self) {
        if self.plays {
            game::CompiledGame::shared();
        }
        (self.run)(b"");
    }
}

/// Waits until no other test runs that measures this process or is measured.
#[cfg(test)]
pub fn lock_measurement() -> std::sync::MutexGuard<'static, ()> {
    static MEASUREMENT: std::sync::Mutex<()> = std::sync::Mutex::new(());
    // A failed test leaves no inconsistent state here.
    MEASUREMENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Maximum number of cases that one game plays.
pub const CASES_MAX: usize = 200;

/// True while a resource is compiled or validated.
static CONTAINED: AtomicBool = AtomicBool::new(false);

/// Compiles or validates a resource. The engine catches a library's panic there and returns an
/// error that names the resource.
pub fn contained<T>(work: impl FnOnce() -> T) -> T {
    CONTAINED.store(true, Ordering::SeqCst);
    let result = work();
    CONTAINED.store(false, Ordering::SeqCst);
    result
}

/// Returns true if a panic in a source file is a finding. All are, except panics of libraries where
/// the engine catches them. A panic in the standard library (`/rustc/`) counts as one of its
/// caller, except when Kira converts the length of a sound whose sample rate is 0.
pub fn is_finding(file: &str) -> bool {
    let is_library = file.contains("/registry/") || file.ends_with("/core/src/time.rs");
    !(CONTAINED.load(Ordering::SeqCst) && is_library)
}

#[test]
fn contained_library_panics_are_not_findings() {
    let library = "cargo/registry/src/index/png-0.18.0/src/decoder.rs";
    let standard = "/rustc/f8297e351a40c1439a467bbbb6879088047f50b3/library/alloc/src/vec/mod.rs";
    let own = "src/resource/bundle.rs";
    assert_eq!([library, standard, own].map(is_finding), [true; 3]);
    // The library's panic is contained, the engine's is a finding.
    assert_eq!(contained(|| [library, standard, own].map(is_finding)), [false, true, true]);
}

/// Returns the CPU time of all threads of this process in seconds, or the real time if the system
/// does not report it.
pub fn cpu_seconds() -> f64 {
    // In hundredths, regardless of the kernel's internal unit.
    let of = |stat: String| {
        let after_name = stat.rsplit_once(')')?.1.to_string();
        let mut fields = after_name.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<f64>().ok();
        Some((next()? + next()?) / 100.0)
    };
    let stat = std::fs::read_to_string("/proc/self/stat").ok();
    stat.and_then(of).unwrap_or_else(engine::platform::seconds_since_start)
}

/// Returns all targets, sorted by name.
pub fn targets() -> Vec<Target> {
    let mut all = Vec::new();
    all.extend(sources::targets());
    all.extend(content::targets());
    all.extend(values::targets());
    all.extend(files::targets());
    all.extend(data::targets());
    all.extend(remote::targets());
    all.extend(game::targets());
    all.extend(models::targets());
    all.extend(serialized::targets());
    all.extend(requests::targets());
    all.extend(replays::targets());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Returns the project's folder.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The fuzzer's package is in a subfolder of the project.
    own.ancestors().find(|path| path.join("examples").is_dir()).expect("a parent").to_path_buf()
}

/// Returns the folder of this process's scratch folders, in memory if the system has such a file
/// system.
fn all_scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    base.join(format!("engine-fuzz-{}", std::process::id()))
}

/// Returns the scratch folder of this thread, because tests run in parallel.
fn own_scratch() -> PathBuf {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, Ordering::SeqCst);
    }
    all_scratch().join(NUMBER.with(usize::to_string))
}

/// Creates a scratch folder of this thread, for data that must be in files.
pub fn scratch(name: &str) -> PathBuf {
    let folder = own_scratch().join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    folder
}

/// Removes the scratch folders of this thread.
pub fn remove_scratch() {
    // A remaining folder only takes memory. The common parent stays if other threads use it.
    let _ = std::fs::remove_dir_all(own_scratch());
    let _ = std::fs::remove_dir(all_scratch());
}

/// Separator between two files in one input: the source, and another file that it reads.
pub const SEPARATOR: &[u8] = b"\n=== next file ===\n";

/// Splits an input into its parts.
pub fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    match at {
        Some(at) => (&bytes[..at], Some(&bytes[at + SEPARATOR.len()..])),
        None => (bytes, None),
    }
}
