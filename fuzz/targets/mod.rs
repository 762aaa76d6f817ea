//! The table of fuzz targets: every reader of bytes from outside, each as a function that takes any
//! bytes. A target may refuse its bytes; it must not panic, hang or touch memory that is not its
//! own. Both the coverage-guided fuzzer (fuzz/src/main.rs) and the gate (tests/fuzz.rs) run them.

mod data;
mod files;
mod game;
mod seeds;
mod sources;
mod tools;
mod values;

use std::path::{Path, PathBuf};

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
    /// Whether the engine works on it as on a resource: a panic in a library costs that resource
    /// alone (`resource::containment`), and is no finding. One in the engine is one everywhere.
    pub contains: bool,
    pub run: Run,
}

impl Target {
    fn new(name: impl Into<String>, bytes_max: usize, run: impl Fn(&[u8]) + 'static) -> Target {
        let (name, run) = (name.into(), Box::new(run));
        let contains = ["source.", "data.", "use."].iter().any(|group| name.starts_with(group));
        Target { name, bytes_max, gate_cases: 12, contains, run }
    }

    /// The same, for a target whose cases are slow.
    fn slow(mut self) -> Target {
        self.gate_cases = 1;
        self
    }
}

/// Whether a panic in a file is a finding, for a target that contains those of libraries or not.
pub fn counts(contains: bool, file: &str) -> bool {
    let library = file.contains("/registry/") || file.starts_with("/rustc/");
    !(contains && library)
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
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The project's folder.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The fuzzer's package stands in a folder of the project's.
    own.ancestors().find(|path| path.join("examples").is_dir()).expect("a parent").to_path_buf()
}

/// A folder that is this process's own, for what must be files. It is in memory where the system
/// has such a folder.
pub fn scratch(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let folder = base.join(format!("engine-fuzz-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    folder
}

/// Removes the scratch folders of this process.
pub fn remove_scratch() {
    let folder = scratch("");
    // What stays is only room in memory.
    let _ = std::fs::remove_dir_all(folder.parent().expect("scratch folders have one"));
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
