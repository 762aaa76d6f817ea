//! Test runs: finds the test files, runs each one in its own engine, writes the outputs and chooses
//! the exit code. The suites' language is defined in Lua (lua/test), the flags in the command
//! (command/test.rs).

mod api_usage;
mod config;
mod coverage;
mod cpu_clock;
mod debugged_file;
mod discovery;
mod hang_watchdog;
pub mod output;
mod process_pool;
mod replay_test;
mod result;
mod retry;
mod run_confinement;
mod screenshot;
mod simulated_input;
mod software_renderer;
mod stdio_framing;
mod step_event;
mod test_file;
mod test_run;
mod watch_mode;
mod worker_process;

use super::{VariantChoice, exit};
use engine_foundation::{Error, log};
use engine_script::ScriptValue;
use output::OutputFormat;
use std::path::PathBuf;

pub use discovery::{SearchRoots, folders_of_lpath};
pub use worker_process::run_files;

/// Maximum number of processes of a run.
pub const JOBS_MAX: usize = 256;
/// Maximum number of times that a failed file is run again.
pub const RETRIES_MAX: u32 = 100;
/// Maximum number of times that all files are run.
pub const REPEAT_MAX: u32 = 10_000;
/// Maximum number of parts that the files are divided into for several machines.
pub const SHARDS_MAX: usize = 1_000;
/// Default file for line coverage.
pub const COVERAGE_FILE: &str = "lcov.info";

/// Options of a test run.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// The folder of a game or library, or one file.
    pub start: PathBuf,
    /// Parts of the paths of files to run. If empty, all files.
    pub files: Vec<String>,
    /// Lua patterns: only tests with a full name that matches one of them run.
    pub filter: Vec<String>,
    pub filter_out: Vec<String>,
    /// Exact full names of tests to run.
    pub names: Vec<String>,
    /// Exact full names of tests to leave out.
    pub exclude_names: Vec<String>,
    pub tags: Vec<String>,
    pub exclude_tags: Vec<String>,
    /// Run only one part of the files: its number, from 1, and the number of parts.
    pub shard: Option<(usize, usize)>,
    /// List the tests, and run none.
    pub list: bool,
    pub fail_fast: bool,
    pub shuffle: bool,
    /// Seed of random numbers and of the shuffled order. If `None`, 0, or taken from the clock to
    /// shuffle.
    pub seed: Option<u64>,
    pub sandbox: bool,
    /// Confine the processes, if the operating system can.
    pub confined: bool,
    /// Read the folder's `.busted` file.
    pub config: bool,
    /// Profile of that file to use, instead of `default`.
    pub task: Option<String>,
    /// Script that runs before each file: its path, or a module's name.
    pub helper: Option<String>,
    /// Locations of tests, instead of the usual names.
    pub search_roots: SearchRoots,
    /// Further folders in which modules are searched.
    pub lpath: Vec<String>,
    /// Time limit of a test, in seconds of CPU time.
    pub timeout_seconds: f64,
    /// Output file for the number of calls of each API function.
    pub api_coverage: Option<PathBuf>,
    /// Output file for line coverage of the game's files.
    pub coverage: Option<PathBuf>,
    /// Name of the format of standard output, from [`output::OUTPUTS`]. If `None`, the usual one.
    pub output: Option<String>,
    /// Additional output files, each with the name of its format.
    pub output_files: Vec<(String, PathBuf)>,
    /// Number of the slowest tests to report.
    pub slowest: usize,
    /// Number of processes that run files. If `None`, one for each core.
    pub jobs: Option<usize>,
    /// Number of threads that work on a frame. If `None`, one for each core.
    pub threads: Option<usize>,
    /// Number of times that a failed file is run again.
    pub retry: u32,
    /// Watch mode: run tests again after changes, until the process is asked to end.
    pub watch: bool,
    /// Run one file in this process, which waits for a debugger before it loads the file.
    pub debug: bool,
    /// End the process when its standard input is closed.
    pub ends_with_input: bool,
    /// Write the screenshots as new reference images instead of comparing them.
    pub update_golden: bool,
    /// Run tests sorted by name, not in source order.
    pub sort: bool,
    /// Number of times that all files are run.
    pub repeat: u32,
    /// Arguments of a helper's function.
    pub helper_arguments: Vec<String>,
    /// Lua statements that run before each file, and before the helper.
    pub statements: Vec<String>,
    /// File, relative to the root, to which the names of passing tests are appended.
    pub log_success: Option<String>,
    pub variants: VariantChoice,
}

impl TestOptions {
    /// Creates the default options to test a folder or one file.
    pub fn new(start: PathBuf) -> TestOptions {
        TestOptions {
            start,
            files: Vec::new(),
            filter: Vec::new(),
            filter_out: Vec::new(),
            names: Vec::new(),
            exclude_names: Vec::new(),
            tags: Vec::new(),
            exclude_tags: Vec::new(),
            shard: None,
            list: false,
            fail_fast: false,
            shuffle: false,
            seed: None,
            sandbox: true,
            confined: false,
            config: true,
            task: None,
            helper: None,
            search_roots: SearchRoots::default(),
            lpath: Vec::new(),
            timeout_seconds: 10.0,
            api_coverage: None,
            coverage: None,
            output: None,
            output_files: Vec::new(),
            slowest: 0,
            jobs: None,
            threads: None,
            retry: 0,
            watch: false,
            debug: false,
            ends_with_input: false,
            update_golden: false,
            sort: false,
            repeat: 1,
            helper_arguments: Vec::new(),
            statements: Vec::new(),
            log_success: None,
            variants: VariantChoice::default(),
        }
    }

    /// Returns the chosen format of standard output.
    fn chosen_output(&self) -> Option<&'static OutputFormat> {
        self.output.as_deref().and_then(OutputFormat::by_name)
    }

    /// Returns all formats that are written.
    fn output_formats(&self) -> impl Iterator<Item = &'static OutputFormat> {
        let files = self.output_files.iter();
        let of_files = files.filter_map(|(format, _)| OutputFormat::by_name(format));
        self.chosen_output().into_iter().chain(of_files)
    }

    /// Returns true if the names of passing tests are needed, too.
    fn wants_names(&self) -> bool {
        let needs_names = self.slowest > 0 || self.retry > 0 || self.log_success.is_some();
        needs_names || self.output_formats().any(|output| output.names)
    }

    /// Returns true if the options may leave out some tests of a file.
    fn selects(&self) -> bool {
        let TestOptions { filter, filter_out, names, exclude_names, tags, exclude_tags, .. } = self;
        let lists = [filter, filter_out, names, exclude_names, tags, exclude_tags];
        lists.iter().any(|list| !list.is_empty())
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Returns the options that the suite's runner in Lua needs.
    fn to_value(&self) -> ScriptValue {
        let list = |items: &[String]| {
            ScriptValue::List(items.iter().cloned().map(ScriptValue::Text).collect())
        };
        let entries = [
            ("filter", list(&self.filter)),
            ("filter_out", list(&self.filter_out)),
            ("names", list(&self.names)),
            ("exclude_names", list(&self.exclude_names)),
            ("tags", list(&self.tags)),
            ("exclude_tags", list(&self.exclude_tags)),
            ("list_only", ScriptValue::Boolean(self.list)),
            ("fail_fast", ScriptValue::Boolean(self.fail_fast)),
            ("shuffle", ScriptValue::Boolean(self.shuffle)),
            ("sort", ScriptValue::Boolean(self.sort)),
            ("seed", ScriptValue::Number(self.seed() as f64)),
            ("detailed", ScriptValue::Boolean(self.wants_names())),
            ("frame_seconds", ScriptValue::Number(test_file::FRAME_SECONDS)),
        ];
        ScriptValue::Table(entries.map(|(key, value)| (key.to_string(), value)).to_vec())
    }
}

/// Runs tests and returns the exit code of the process.
pub fn test(options: &TestOptions) -> i32 {
    test_run::run(options).unwrap_or_else(|stop| {
        log::error(&stop.message);
        stop.code
    })
}

/// The reason why a whole run cannot continue.
#[derive(Clone, Debug)]
pub struct RunAborted {
    code: i32,
    message: String,
}

impl From<Error> for RunAborted {
    fn from(error: Error) -> RunAborted {
        RunAborted { code: exit::FAILED, message: error.to_string() }
    }
}
