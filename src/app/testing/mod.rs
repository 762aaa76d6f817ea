//! Test runs: which files, each in an engine of its own, what is said, the exit code. The suite
//! language is Lua's (lua/test); flags are the command's (tool/test.rs).

mod changed;
mod config;
mod confine;
mod coverage;
mod crew;
mod discovery;
mod event;
mod file;
mod frames;
mod hands;
pub mod output;
mod pictures;
mod recording;
mod result;
mod retry;
mod run;
mod screenshot;
mod spending;
mod stuck;
mod usage;
mod worker;

use super::exit;
use crate::foundation::{Error, log};
use crate::script::Value;
use output::Output;
use std::path::PathBuf;

pub use discovery::{Places, folders_of_lpath};
pub use worker::work;

/// The most processes of a run.
pub const JOBS_MAX: usize = 256;
/// The most times that a failed file is run again.
pub const RETRIES_MAX: u32 = 100;
/// The most times that all files are run, one after the other.
pub const REPEAT_MAX: u32 = 10_000;
/// Where the lines that ran are written, unless another file is named.
pub const COVERAGE_FILE: &str = "lcov.info";

/// What to test, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of a game or library, or one file.
    pub start: PathBuf,
    /// Parts of the paths of files to run; all of them if empty.
    pub files: Vec<String>,
    /// Lua patterns: tests whose full name fits one of them.
    pub filter: Vec<String>,
    pub filter_out: Vec<String>,
    /// Exact full names.
    pub names: Vec<String>,
    /// Exact full names of tests that are left out.
    pub exclude_names: Vec<String>,
    pub tags: Vec<String>,
    pub exclude_tags: Vec<String>,
    /// Say what would run, and run nothing.
    pub list: bool,
    pub fail_fast: bool,
    pub shuffle: bool,
    /// Where random numbers and the shuffled order begin: 0, or by the clock to shuffle.
    pub seed: Option<u64>,
    pub sandbox: bool,
    /// Have the system confine the processes, where it can.
    pub confined: bool,
    /// Read the folder's `.busted` file.
    pub config: bool,
    /// The profile of that file to use, in the place of `default`.
    pub task: Option<String>,
    /// A script that runs before each file: its path, or a module's name.
    pub helper: Option<String>,
    /// Where tests are, in the place of the usual names.
    pub places: Places,
    /// Further folders that modules are found in.
    pub lpath: Vec<String>,
    /// CPU time that a test may take.
    pub timeout_seconds: f64,
    /// Where to write how often each function of the API was called.
    pub api_coverage: Option<PathBuf>,
    /// Where to write which lines of the game's files ran.
    pub coverage: Option<PathBuf>,
    /// The form of the output, of [`output::OUTPUTS`]; the usual one if none.
    pub output: Option<String>,
    /// Where to write it, in the place of standard output, which then has the usual one.
    pub output_file: Option<PathBuf>,
    /// How many of the slowest tests are told.
    pub slowest: usize,
    /// How many processes run files; as many as there are cores if none.
    pub jobs: Option<usize>,
    /// How many threads work on a frame; as many as there are cores if none.
    pub threads: Option<usize>,
    /// How often a file in which something failed is run again.
    pub retry: u32,
    /// Run again what changes, until the process is asked to end.
    pub watch: bool,
    /// Write what screenshots show in the place of comparing it.
    pub update_golden: bool,
    /// Run tests by their names, not in the order in which they are written.
    pub sort: bool,
    /// How often all files are run.
    pub repeat: u32,
    /// What a helper's function is given.
    pub helper_arguments: Vec<String>,
    /// Lua that runs before each file, and before the helper.
    pub statements: Vec<String>,
    /// The file, from the root, to which the names of tests that pass are added.
    pub log_success: Option<String>,
}

impl Options {
    /// Everything in a folder, or one file, in the usual way.
    pub fn new(start: PathBuf) -> Options {
        Options {
            start,
            files: Vec::new(),
            filter: Vec::new(),
            filter_out: Vec::new(),
            names: Vec::new(),
            exclude_names: Vec::new(),
            tags: Vec::new(),
            exclude_tags: Vec::new(),
            list: false,
            fail_fast: false,
            shuffle: false,
            seed: None,
            sandbox: true,
            confined: false,
            config: true,
            task: None,
            helper: None,
            places: Places::default(),
            lpath: Vec::new(),
            timeout_seconds: 10.0,
            api_coverage: None,
            coverage: None,
            output: None,
            output_file: None,
            slowest: 0,
            jobs: None,
            threads: None,
            retry: 0,
            watch: false,
            update_golden: false,
            sort: false,
            repeat: 1,
            helper_arguments: Vec::new(),
            statements: Vec::new(),
            log_success: None,
        }
    }

    /// The chosen form of output.
    fn chosen(&self) -> Option<&'static Output> {
        self.output.as_deref().and_then(Output::named)
    }

    /// Whether the names of tests that passed are needed, too.
    fn wants_names(&self) -> bool {
        let told = self.slowest > 0 || self.retry > 0 || self.log_success.is_some();
        told || self.chosen().is_some_and(|output| output.names)
    }

    /// Whether some tests of a file may be left out.
    fn selects(&self) -> bool {
        let Options { filter, filter_out, names, exclude_names, tags, exclude_tags, .. } = self;
        let lists = [filter, filter_out, names, exclude_names, tags, exclude_tags];
        lists.iter().any(|list| !list.is_empty())
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The part that the suite's runner needs.
    fn to_value(&self) -> Value {
        let list = |items: &[String]| Value::List(items.iter().cloned().map(Value::Text).collect());
        let entries = [
            ("filter", list(&self.filter)),
            ("filter_out", list(&self.filter_out)),
            ("names", list(&self.names)),
            ("exclude_names", list(&self.exclude_names)),
            ("tags", list(&self.tags)),
            ("exclude_tags", list(&self.exclude_tags)),
            ("list_only", Value::Boolean(self.list)),
            ("fail_fast", Value::Boolean(self.fail_fast)),
            ("shuffle", Value::Boolean(self.shuffle)),
            ("sort", Value::Boolean(self.sort)),
            ("seed", Value::Number(self.seed() as f64)),
            ("detailed", Value::Boolean(self.wants_names())),
            ("frame_seconds", Value::Number(file::FRAME_SECONDS)),
        ];
        Value::Table(entries.map(|(key, value)| (key.to_string(), value)).to_vec())
    }
}

/// Runs tests: the process's exit code.
pub fn test(options: &Options) -> i32 {
    run::run(options).unwrap_or_else(|stop| {
        log::error(&stop.words);
        stop.code
    })
}

/// Why a run cannot go on at all.
#[derive(Clone, Debug)]
pub struct Stop {
    code: i32,
    words: String,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop { code: exit::FAILED, words: error.to_string() }
    }
}
