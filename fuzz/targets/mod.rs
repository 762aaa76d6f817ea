//! The table of fuzz targets: readers of bytes from outside, each as a function that takes any
//! bytes. A target may refuse its bytes; it must not panic, hang or touch memory that is not its
//! own. Both the coverage-guided fuzzer (fuzz/src/main.rs) and the gate (tests/fuzz.rs) run them.

pub mod data;
mod files;
mod game;
mod packed;
#[cfg(test)]
pub mod readers;
mod requests;
mod runs;
mod seeds;
mod sources;
mod tools;
mod values;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use seeds::{dictionary, seeds_of};

/// Reads bytes as a target does.
pub type Run = Box<dyn Fn(&[u8])>;

/// One reader of bytes.
pub struct Target {
    /// The kind of input, then the thing that is read: `source.png`.
    pub name: String,
    /// The longest input that is tried. Longer ones find little more and take longer.
    pub bytes_max: usize,
    /// How many mutations of each seed the gate tries: few where a case is slow.
    pub gate_cases: usize,
    /// Whether cases are played in a game.
    plays: bool,
    /// Whether a case finds what the cases before it left: what it fails by may need them.
    pub keeps: bool,
    pub run: Run,
}

impl Target {
    fn new(name: impl Into<String>, bytes_max: usize, run: impl Fn(&[u8]) + 'static) -> Target {
        let (name, run) = (name.into(), Box::new(run));
        Target { name, bytes_max, gate_cases: 12, plays: false, keeps: false, run }
    }

    /// The same, for a target whose cases are slow: they are played in a game.
    fn slow(mut self) -> Target {
        (self.plays, self.gate_cases) = (true, 1);
        self
    }

    /// The same, for a target that plays many cases in one game.
    fn keeping(mut self) -> Target {
        self.keeps = true;
        self.slow()
    }

    /// The same, for a target whose cases take little although a game plays them.
    fn quick(mut self) -> Target {
        self.gate_cases = 12;
        self
    }

    /// Makes what the first case would make otherwise, so that the first takes as long as others.
    pub fn prepare(&self) {
        if self.plays {
            game::Stage::shared();
        }
        (self.run)(b"");
    }
}

/// Waits until no other test that measures its process runs, or is measured.
#[cfg(test)]
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    // A test that failed has left nothing half done here.
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Cases that one game plays before the next one is opened.
pub const CASES_MAX: usize = 200;

/// Whether compiling or validating a resource goes on now.
static CONTAINED: AtomicBool = AtomicBool::new(false);

/// Compiles or validates a resource: the engine contains a library's panic there, as an error that
/// names the resource.
pub fn contained<T>(work: impl FnOnce() -> T) -> T {
    CONTAINED.store(true, Ordering::SeqCst);
    let result = work();
    CONTAINED.store(false, Ordering::SeqCst);
    result
}

/// Whether a panic in a source file is a finding: all are, but for those of libraries where the
/// engine contains them. The standard library's are those of whoever called it (`/rustc/`).
pub fn counts(file: &str) -> bool {
    !(CONTAINED.load(Ordering::SeqCst) && file.contains("/registry/"))
}

#[test]
fn a_panic_counts_but_for_those_of_libraries_where_the_engine_contains_them() {
    let library = "cargo/registry/src/index/png-0.18.0/src/decoder.rs";
    let standard = "/rustc/f8297e351a40c1439a467bbbb6879088047f50b3/library/alloc/src/vec/mod.rs";
    let own = "src/resource/bundle.rs";
    assert_eq!([library, standard, own].map(counts), [true; 3]);
    // The panic is contained, and not the fault.
    assert_eq!(contained(|| [library, standard, own].map(counts)), [false, true, true]);
}

/// Seconds of CPU time that all threads of this process have used; wall time where the system does
/// not say.
pub fn cpu_seconds() -> f64 {
    // In hundredths, whatever the kernel counts in itself.
    let of = |stat: String| {
        let after_name = stat.rsplit_once(')')?.1.to_string();
        let mut fields = after_name.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<f64>().ok();
        Some((next()? + next()?) / 100.0)
    };
    let stat = std::fs::read_to_string("/proc/self/stat").ok();
    stat.and_then(of).unwrap_or_else(engine::system::platform::seconds_since_start)
}

/// Every target, in the order of their names.
pub fn targets() -> Vec<Target> {
    let mut all = Vec::new();
    all.extend(sources::targets());
    all.extend(values::targets());
    all.extend(files::targets());
    all.extend(data::targets());
    all.extend(tools::targets());
    all.extend(game::targets());
    all.extend(packed::targets());
    all.extend(requests::targets());
    all.extend(runs::targets());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The project's folder.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The fuzzer's package stands in a folder of the project's.
    own.ancestors().find(|path| path.join("examples").is_dir()).expect("a parent").to_path_buf()
}

/// The folder of this process's scratch folders, in memory where the system has such a folder.
fn all_scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    base.join(format!("engine-fuzz-{}", std::process::id()))
}

/// That of this thread: tests run beside each other.
fn own_scratch() -> PathBuf {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, Ordering::SeqCst);
    }
    all_scratch().join(NUMBER.with(usize::to_string))
}

/// A folder that is this thread's own, for what must be files.
pub fn scratch(name: &str) -> PathBuf {
    let folder = own_scratch().join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    folder
}

/// Removes the scratch folders of this thread.
pub fn remove_scratch() {
    // What stays is only room in memory; the folder of all is there for other threads.
    let _ = std::fs::remove_dir_all(own_scratch());
    let _ = std::fs::remove_dir(all_scratch());
}

/// Stands between two files in one input: the source, and what it reads beside itself.
pub const SEPARATOR: &[u8] = b"\n=== next file ===\n";

/// The parts of an input.
pub fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    match at {
        Some(at) => (&bytes[..at], Some(&bytes[at + SEPARATOR.len()..])),
        None => (bytes, None),
    }
}
