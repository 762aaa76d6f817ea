//! `engine test`: runs the Lua suites of a game or library.

use super::definitions;
use crate::app::testing::{self, Options};
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
    /// CPU time that one test may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
    /// Write how often each function of the engine's API was called, as JSON
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    api_coverage: Option<PathBuf>,
}

/// The greatest seed that Lua's numbers hold.
const SEED_MAX: u64 = (1 << 53) - 1;

/// Folders of a search path.
#[derive(Clone)]
struct Lpath(Vec<String>);

fn lpath(text: &str) -> Result<Lpath, String> {
    testing::folders_of_lpath(text).map(Lpath)
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, from 0.01 to 86400".to_string()),
    }
}

pub fn main(args: Args) -> i32 {
    definitions::refresh(&args.path);
    let seed = args.seed.unwrap_or(if args.shuffle { seed_of_the_clock() } else { 0 });
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
        seed,
        sandbox: !args.no_sandbox,
        lpath: args.lpath.into_iter().flat_map(|lpath| lpath.0).collect(),
        timeout_seconds: args.timeout,
        api_coverage: args.api_coverage,
    })
}

/// Another order in each run; the run says which.
fn seed_of_the_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| u64::from(since.subsec_micros()))
}
