//! `engine test`: runs the Lua suites of a game or library.

use super::confine::Confine;
use super::definitions;
use super::threads::Threads;
use crate::app::testing::output::OUTPUTS;
use crate::app::testing::{self, Options, Places};
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::path::PathBuf;

/// Run the Lua tests of a game or library
///
/// Tests are spec/**/*_spec.lua and **/*_test.lua. Each file runs in a fresh engine, headless, with
/// fixed steps of 1/60 second and the same random numbers every time. Modules are found in the
/// folder, in its lua, src and lib folders, and beside the test. The game's main.lua does not run
/// unless a test calls test.boot().
#[derive(clap::Args)]
pub struct Args {
    /// The folder of the game or library, or one test file
    path: PathBuf,
    /// Run only files with one of these in their path
    files: Vec<String>,
    /// Run only tests whose full name fits this Lua pattern
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<String>,
    /// Leave out tests whose full name fits this Lua pattern
    #[arg(long, value_name = "PATTERN")]
    filter_out: Vec<String>,
    /// Run only the test of this full name
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Run only tests with one of these #tags in their names
    #[arg(long, value_name = "TAG,TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// Leave out tests with one of these #tags in their names
    #[arg(long, value_name = "TAG,TAG", value_delimiter = ',')]
    exclude_tags: Vec<String>,
    /// List the tests that would run, and run none
    #[arg(long)]
    list: bool,
    /// Stop after the first test that fails
    #[arg(long)]
    fail_fast: bool,
    /// Run files and tests in a random order
    #[arg(long)]
    shuffle: bool,
    /// Where random numbers begin, the shuffled order too [default: 0; by the clock to shuffle]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=SEED_MAX))]
    seed: Option<u64>,
    /// Give tests the whole Lua library (io, debug, ffi …), for libraries that are not games
    #[arg(long)]
    no_sandbox: bool,
    /// Further folders that modules are found in, as in "src/?.lua;ext/?/init.lua"
    #[arg(long, value_name = "PATHS", value_parser = lpath)]
    lpath: Vec<Lpath>,
    /// Run a script before each file; its hooks hold for every test
    #[arg(long, value_name = "FILE|MODULE")]
    helper: Option<String>,
    /// Tests are files whose name fits this Lua pattern, in the place of the usual names
    #[arg(long, value_name = "PATTERN")]
    pattern: Vec<String>,
    /// Leave out files whose name fits this Lua pattern
    #[arg(long, value_name = "PATTERN")]
    exclude_pattern: Vec<String>,
    /// Use this profile of the folder's .busted file, in the place of `default`
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Do not read the folder's .busted file
    #[arg(long, conflicts_with = "run")]
    no_config: bool,
    /// CPU time that one test may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
    /// The form of the output [default: dots on a terminal, plain elsewhere]
    #[arg(long, short, value_name = "FORM", value_parser = forms())]
    output: Option<String>,
    /// Write the output to a file; the terminal has the usual one
    #[arg(long, value_name = "FILE", requires = "output")]
    output_file: Option<PathBuf>,
    /// Tell the N slowest tests at the end
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    slowest: usize,
    /// Run files in N processes at once [default: as many as there are cores]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
    #[command(flatten)]
    threads: Threads,
    /// Run a file in which something failed up to N times again; what passes then is flaky
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(0..=testing::RETRIES_MAX as i64))]
    retry: u32,
    /// Run again what a saved file touches, until stopped
    #[arg(long, conflicts_with = "list")]
    watch: bool,
    /// Write what screenshots show in the place of comparing it: look at the files then
    #[arg(long)]
    update_golden: bool,
    /// Run files and tests in the order of their names
    #[arg(long, conflicts_with = "shuffle")]
    sort: bool,
    /// Run everything N times
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(1..=testing::REPEAT_MAX as i64))]
    repeat: u32,
    /// Write which lines of the game's files ran, as lcov reads it [default: lcov.info]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = testing::COVERAGE_FILE)]
    coverage: Option<PathBuf>,
    /// Write how often each function of the engine's API was called, as JSON
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    api_coverage: Option<PathBuf>,
    #[command(flatten)]
    confine: Confine,
    /// Confine tests without the sandbox, too: by this the confinement itself is tested
    #[arg(long, hide = true, requires = "no_sandbox")]
    confined: bool,
    /// Run files that another process asks for
    #[arg(long, hide = true)]
    worker: bool,
}

/// The greatest seed that Lua's numbers hold.
const SEED_MAX: u64 = (1 << 53) - 1;

/// Folders of a search path.
#[derive(Clone)]
struct Lpath(Vec<String>);

fn lpath(text: &str) -> Result<Lpath, String> {
    testing::folders_of_lpath(text).map(Lpath)
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(jobs) if (1..=testing::JOBS_MAX).contains(&jobs) => Ok(jobs),
        _ => Err(format!("must be a number of processes, from 1 to {}", testing::JOBS_MAX)),
    }
}

/// The forms of the one table of outputs.
fn forms() -> PossibleValuesParser {
    OUTPUTS.iter().map(|form| PossibleValue::new(form.name).help(form.words)).into()
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, from 0.01 to 86400".to_string()),
    }
}

pub fn main(args: Args) -> i32 {
    if args.worker {
        return testing::work(&args.path);
    }
    definitions::refresh(&args.path);
    testing::test(&Options {
        start: args.path,
        files: args.files,
        filter: args.filter,
        filter_out: args.filter_out,
        names: args.name,
        tags: args.tags,
        exclude_tags: args.exclude_tags,
        list: args.list,
        fail_fast: args.fail_fast,
        shuffle: args.shuffle,
        seed: args.seed,
        sandbox: !args.no_sandbox,
        // Suites without the sandbox open files and start programs, which is what they are for.
        confined: (!args.no_sandbox || args.confined) && args.confine.is_wanted(),
        config: !args.no_config,
        task: args.run,
        helper: args.helper,
        places: Places {
            roots: Vec::new(),
            patterns: args.pattern,
            excludes: args.exclude_pattern,
            flat: false,
        },
        lpath: args.lpath.into_iter().flat_map(|lpath| lpath.0).collect(),
        timeout_seconds: args.timeout,
        api_coverage: args.api_coverage,
        coverage: args.coverage,
        output: args.output,
        output_file: args.output_file,
        slowest: args.slowest,
        jobs: args.jobs,
        threads: args.threads.number(),
        retry: args.retry,
        watch: args.watch,
        update_golden: args.update_golden,
        sort: args.sort,
        repeat: args.repeat,
        ..Options::new(PathBuf::new())
    })
}
