//! Test runs: which files, each in an engine of its own, what is said, the exit code. The suite
//! language is Lua's (lua/test); flags are the command's (tool/test.rs).

mod discovery;
mod event;
mod file;
mod stuck;
mod usage;
mod words;

use super::{App, exit, resources};
use crate::foundation::random::Random;
use crate::foundation::{Error, log};
use crate::resource::settings;
use crate::resource::store::Store;
use crate::script::Value;
use event::Failure;
use file::Plan;
use std::path::PathBuf;
use std::time::Instant;
use stuck::Watched;
use usage::Usage;
use words::Words;

pub use discovery::folders_of_lpath;

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
    pub tags: Vec<String>,
    pub exclude_tags: Vec<String>,
    /// Say what would run, and run nothing.
    pub list: bool,
    pub fail_fast: bool,
    pub shuffle: bool,
    /// Where random numbers and the shuffled order begin.
    pub seed: u64,
    pub sandbox: bool,
    /// Further folders that modules are found in.
    pub lpath: Vec<String>,
    /// CPU time that a test may take.
    pub timeout_seconds: f64,
    /// Where to write how often each function of the API was called.
    pub api_coverage: Option<PathBuf>,
}

impl Options {
    /// Whether some tests of a file may be left out.
    fn selects(&self) -> bool {
        let lists = [&self.filter, &self.filter_out, &self.names, &self.tags, &self.exclude_tags];
        lists.iter().any(|list| !list.is_empty())
    }

    /// The part that the suite's runner needs.
    fn to_value(&self) -> Value {
        let list = |items: &[String]| Value::List(items.iter().cloned().map(Value::Text).collect());
        let entries = [
            ("filter", list(&self.filter)),
            ("filter_out", list(&self.filter_out)),
            ("names", list(&self.names)),
            ("tags", list(&self.tags)),
            ("exclude_tags", list(&self.exclude_tags)),
            ("list_only", Value::Boolean(self.list)),
            ("fail_fast", Value::Boolean(self.fail_fast)),
            ("shuffle", Value::Boolean(self.shuffle)),
            ("seed", Value::Number(self.seed as f64)),
            ("frame_seconds", Value::Number(file::FRAME_SECONDS)),
        ];
        Value::Table(entries.map(|(key, value)| (key.to_string(), value)).to_vec())
    }
}

/// Tests, by how they ended. What fails outside of a test counts as a failed one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

/// Runs tests: the process's exit code.
pub fn test(options: &Options) -> i32 {
    run(options).unwrap_or_else(|stop| {
        log::error(&stop.words);
        stop.code
    })
}

/// Why a run cannot go on at all.
struct Stop {
    code: i32,
    words: String,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop { code: exit::FAILED, words: error.to_string() }
    }
}

/// What came of all files together.
#[derive(Default)]
struct Total {
    /// The engine of the file that ran last.
    last: Option<App>,
    files: usize,
    counts: Counts,
    failures: Vec<Failure>,
    listed: usize,
    usage: Usage,
}

fn run(options: &Options) -> Result<i32, Stop> {
    let mut found = discovery::find(&options.start, &options.files)?;
    if found.files.is_empty() {
        log::error(&format!("no tests found: looked in {}", found.looked));
        return Ok(exit::NOTHING);
    }
    if options.shuffle {
        shuffle(&mut found.files, options.seed);
    }
    let (began, words) = (Instant::now(), Words::new());
    // The folder of a game has resources; that of a library has scripts alone, read as they are.
    let game = ["main.lua", settings::FILE].iter().any(|file| found.root.join(file).is_file());
    let store = if game { resources::open(&found.root) } else { Store::default() };
    let watched = Watched::start(options.timeout_seconds);
    let plan = Plan { root: &found.root, options, store: &store, watched: &watched };
    let mut total = Total::default();
    for path in &found.files {
        total.add(&plan, path, &words)?;
        if options.fail_fast && total.counts.failed > 0 {
            break;
        }
    }
    // The process ends now: taking the last engine apart would be work for nothing.
    std::mem::forget(total.last.take());
    words.failures(&total.failures);
    if let Some(file) = &options.api_coverage {
        total.usage.write(file)?;
    }
    if total.counts == Counts::default() && total.listed == 0 {
        let selected = if options.selects() { " that the options select" } else { "" };
        let (count, looked) = (found.files.len(), &found.looked);
        let plural = if count == 1 { "" } else { "s" };
        log::error(&format!(
            "no tests found{selected}: looked in {looked}, and through {count} file{plural}"
        ));
        return Ok(exit::NOTHING);
    }
    if !options.list {
        let seed = options.shuffle.then_some(options.seed);
        words.sums(total.files, total.counts, began.elapsed().as_secs_f64(), seed);
    }
    Ok(if total.counts.failed > 0 { exit::FAILED } else { exit::SUCCESS })
}

impl Total {
    fn add(&mut self, plan: &Plan, path: &str, words: &Words) -> Result<(), Stop> {
        let began = Instant::now();
        // Before the next one is made: two games' memory need not be there at once.
        self.last = None;
        let (outcome, app) = file::run(plan, path, &mut self.usage)?;
        self.last = Some(app);
        if !plan.options.list {
            words.file(path, &outcome, began.elapsed().as_secs_f64());
        }
        for (at, name) in &outcome.listed {
            words.line(&format!("{at}: {name}"));
        }
        self.files += 1;
        self.listed += outcome.listed.len();
        self.counts.passed += outcome.counts.passed;
        self.counts.failed += outcome.counts.failed;
        self.counts.skipped += outcome.counts.skipped;
        self.failures.extend(outcome.failures);
        Ok(())
    }
}

fn shuffle(files: &mut [String], seed: u64) {
    let mut random = Random::seed(seed);
    for i in (1..files.len()).rev() {
        files.swap(i, random.range_i64(0, i as i64) as usize);
    }
}
