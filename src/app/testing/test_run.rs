//! One test run from its beginning to its end: finds the files, runs them in this process or
//! several others, writes the outputs and returns the exit code.

use super::hang_watchdog::HangWatchdog;
use super::output::{OutputFailure, OutputFormat, OutputSink, OutputWriter, PassedNames, Summary};
use super::process_pool::{self, FileEvent};
use super::result::{FileOutcome, TestCounts, TestResult, TestStatus};
use super::retry::with_retries;
use super::test_file::{self, TestPlan};
use super::{
    RunAborted, TestOptions, api_usage, config, coverage, debugged_file, discovery,
    run_confinement, watch_mode,
};
use crate::resource_kinds::KINDS;
use crate::{App, confinement, exit, launcher, resource_reload};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access;
use engine_foundation::random::Random;
use engine_foundation::terminal::{self, escape_line};
use engine_foundation::{Error, log, output_file};
use engine_platform::{self as platform, broker};
use engine_resource::bundle;
use engine_resource::project::Project;
use engine_resource::store::{DataSource, ResourceStore};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Runs the tests that the options select, and returns the exit code of the process.
pub fn run(options: &TestOptions) -> Result<i32, RunAborted> {
    let mut run = TestRun::new(options)?;
    match options.watch {
        true => watch_mode::watch(&mut run),
        false => run.files(None),
    }
}

/// Returns every `count`th file, from the one at `number`, counted from 1. The files are sorted, so
/// that all machines divide them in the same way.
fn shard(files: Vec<String>, number: usize, count: usize) -> Vec<String> {
    files.into_iter().skip(number - 1).step_by(count).collect()
}

/// State kept over all runs of watch mode.
pub struct TestRun {
    pub root: PathBuf,
    pub options: TestOptions,
    /// The folder or file as the user wrote it.
    shown: String,
    views: Option<Outputs>,
    /// Watchdog of this thread, once it runs tests itself.
    watchdog: Option<Arc<HangWatchdog>>,
}

impl TestRun {
    pub fn new(options: &TestOptions) -> Result<TestRun, RunAborted> {
        let mut options = options.clone();
        if options.start.is_file() && bundle::looks_like_bundle(&options.start) {
            // The message says what to give instead.
            Project::open(&options.start)?;
        }
        let mut root = discovery::root_of(&options.start)?;
        let shown = options.start.display().to_string();
        enter_folder(&mut root, &mut options)?;
        options.variants.check(&root)?;
        if options.confined {
            run_confinement::parent(&root, &options)?;
        }
        if options.ends_with_input {
            launcher::end_with_input();
        }
        Ok(TestRun { root, options, shown, views: None, watchdog: None })
    }

    /// Returns the test files, and the options merged with the folder's `.busted` file.
    pub fn find(&self) -> Result<(discovery::DiscoveredTests, TestOptions), RunAborted> {
        let mut options = self.options.clone();
        let mut found = config::find(&self.root, &mut options)?;
        let start = options.start.display().to_string();
        found.searched = found.searched.replacen(&start, &self.shown, 1);
        if let Some((number, count)) = options.shard {
            found.searched = format!("part {number} of {count} of {}", found.searched);
            found.files = shard(found.files, number, count);
        }
        Ok((found, options))
    }

    /// Runs all files, or `only` these.
    pub fn files(&mut self, only: Option<&BTreeSet<String>>) -> Result<i32, RunAborted> {
        let began = Instant::now();
        let (mut found, mut options) = self.find()?;
        if let Some(only) = only {
            found.files.retain(|file| only.contains(file));
        }
        if found.files.is_empty() {
            log::error(&format!("no tests found: looked in {}", found.searched));
            return Ok(exit::NO_TESTS);
        }
        if options.debug {
            debugged_file::choose(&mut found.files, &options)?;
        }
        if options.sort {
            found.files.sort_compact();
        }
        if options.repeat > 1 {
            let times = 0..options.repeat;
            found.files = times.flat_map(|_| found.files.clone()).collect();
        }
        if options.shuffle {
            let seed = *options.seed.get_or_insert_with(seed_of_the_clock);
            shuffle(&mut found.files, seed);
        }
        check_files(&options)?;
        let views = match self.views.take() {
            Some(views) => views,
            None => Outputs::new(&self.root, &options)?,
        };
        // No test may append to a file.
        broker::end_appends();
        let mut total = RunTotal::new(&options, views);
        total.run(&self.root, &found.files, &mut self.watchdog)?;
        let code = total.end(&self.root, &found, began)?;
        self.views = Some(total.views);
        Ok(code)
    }
}

/// Checks that the output files can be written, before any tests run.
fn check_files(options: &TestOptions) -> Result<(), Error> {
    let coverage = options.coverage.as_deref().filter(|_| !options.list);
    let files = [
        (coverage, coverage::WRITE_ERROR),
        (options.api_coverage.as_deref(), api_usage::WRITE_ERROR),
    ];
    for (file, fault) in files {
        let Some(file) = file else { continue };
        output_file::check(file).map_err(|reason| {
            engine_foundation::error!("{fault} '{}': {reason}", file.display())
        })?;
    }
    Ok(())
}

/// Changes to the library's folder if the sandbox is off, because suites of libraries open files by
/// paths relative to it. Relative paths in the options become absolute.
fn enter_folder(root: &mut PathBuf, options: &mut TestOptions) -> Result<(), Error> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|reason| {
            engine_foundation::error!("'{}' has no full path: {reason}", path.display())
        })
    };
    let helper = options.helper.as_deref().map(Path::new);
    if let Some(path) = helper.filter(|path| !root.join(path).is_file() && path.is_file()) {
        options.helper = Some(absolute(path)?.to_string_lossy().into_owned());
    }
    if options.sandbox {
        return Ok(());
    }
    let TestOptions { api_coverage, coverage, output_files, .. } = options;
    let outputs = output_files.iter_mut().map(|(_, file)| file);
    for file in [api_coverage, coverage].into_iter().flatten().chain(outputs) {
        *file = absolute(file)?;
    }
    let start = Path::new(".").join(discovery::relative_to_root(root, &options.start));
    std::env::set_current_dir(&*root).map_err(|reason| {
        engine_foundation::error!("'{}' cannot be entered: {reason}", root.display())
    })?;
    (*root, options.start) = (PathBuf::from("."), start);
    Ok(())
}

/// Returns a seed for a different order in each run. The run reports the seed.
fn seed_of_the_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| u64::from(since.subsec_micros()))
}

fn shuffle(files: &mut [String], seed: u64) {
    let mut random = Random::seed(seed);
    for i in (1..files.len()).rev() {
        files.swap(i, random.range_i64(0, i as i64) as usize);
    }
}

/// The outputs of a run. Each has a message for write errors, and the first write error.
struct Outputs {
    all: Vec<Box<dyn OutputWriter>>,
    losses: Vec<(String, OutputFailure)>,
}

impl Outputs {
    fn new(root: &Path, options: &TestOptions) -> Result<Outputs, Error> {
        let mut views = Outputs { all: Vec::new(), losses: Vec::new() };
        for (format, path) in &options.output_files {
            let format = OutputFormat::by_name(format);
            let format = format.expect("the command line accepts only names of formats");
            let message = format!("the output cannot be written to '{}'", path.display());
            let file = output_file::create(path)
                .map_err(|reason| engine_foundation::error!("{message}: {reason}"))?;
            let sink = OutputSink::new(Box::new(file), false, false);
            views.add(message, sink, |sink| format.create_writer(sink));
        }
        let on_terminal = options.chosen_output().unwrap_or_else(OutputFormat::default_format);
        let out: Box<dyn Write> = match on_terminal.strict && !options.list {
            true => Box::new(platform::redirect_output().map_err(|reason| {
                engine_foundation::error!(
                    "what tests print cannot be kept from the output: {reason}"
                )
            })?),
            false => Box::new(std::io::stdout()),
        };
        let live = terminal::is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let message = "standard output cannot be written".to_string();
        let sink = OutputSink::new(out, live && !plain, live);
        views.add(message, sink, |sink| on_terminal.create_writer(sink));
        if let Some(path) = &options.log_success {
            let message = format!(
                "the names of tests that pass cannot be written to '{}', which 'log-success' of \
                 the .busted file names",
                root.join(path).display()
            );
            let file = match file_access::append(root, path) {
                // A confined process cannot open the file, but its broker may.
                Err(reason) if reason.kind() == ErrorKind::PermissionDenied => {
                    broker::append(&root.join(path)).unwrap_or(Err(reason))
                }
                file => file,
            };
            let file = file.map_err(|reason| engine_foundation::error!("{message}: {reason}"))?;
            let sink = OutputSink::new(Box::new(file), false, false);
            views.add(message, sink, |sink| Box::new(PassedNames { sink }));
        }
        Ok(views)
    }

    fn add(
        &mut self,
        message: String,
        sink: OutputSink,
        view: impl FnOnce(OutputSink) -> Box<dyn OutputWriter>,
    ) {
        let loss = OutputFailure::default();
        self.all.push(view(sink.with_loss(&loss)));
        self.losses.push((message, loss));
    }

    fn for_each_writer(&mut self, mut write: impl FnMut(&mut dyn OutputWriter)) {
        for view in &mut self.all {
            write(&mut **view);
        }
    }

    /// Reports write errors. Returns true if there are none.
    fn report_losses(&self) -> bool {
        let mut complete = true;
        for (message, loss) in &self.losses {
            if let Some(reason) = loss.reason() {
                log::error(&format!("{message}: {reason}"));
                complete = false;
            }
        }
        complete
    }
}

/// Total results of all files.
struct RunTotal<'a> {
    options: &'a TestOptions,
    views: Outputs,
    /// Engine of the file that ran last.
    last: Option<App>,
    summary: Summary,
    listed: usize,
    /// Counts of the running file.
    counts: TestCounts,
    all: FileOutcome,
}

impl RunTotal<'_> {
    fn new(options: &TestOptions, views: Outputs) -> RunTotal<'_> {
        RunTotal {
            options,
            views,
            last: None,
            summary: Summary::default(),
            listed: 0,
            counts: TestCounts::default(),
            all: FileOutcome::default(),
        }
    }

    fn run(
        &mut self,
        root: &Path,
        files: &[String],
        watchdog: &mut Option<Arc<HangWatchdog>>,
    ) -> Result<(), RunAborted> {
        let options = self.options;
        // A game has compiled resources. The scripts of a library are read as sources.
        let store = if discovery::is_game(root) {
            resource_reload::open(root, options.variants.platform(), &[])
        } else {
            ResourceStore::empty(KINDS)
        };
        if !options.list {
            self.views.for_each_writer(|view| view.begin(files.len()));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = options.jobs.unwrap_or(cores).min(files.len());
        // A crash of this process would lose the results. Files therefore run in another process if
        // native code is reachable or a program waits for complete output.
        let strict = options.output_formats().any(|form| form.strict);
        // The next run of watch mode may have more files and need worker processes. A process that
        // runs tests itself cannot start programs any more.
        let watches = options.watch && options.confined;
        if jobs > 1 || strict || watches || !options.sandbox {
            let has_store = matches!(store.data(), DataSource::Folder(..));
            let each = |index: usize, event| self.handle_event(&files[index], event);
            return process_pool::run((root, options, has_store), files, jobs, each);
        }
        if options.confined {
            confinement::forbid_programs(false);
        }
        let watchdog =
            watchdog.get_or_insert_with(|| HangWatchdog::start(options.timeout_seconds, true));
        let plan = TestPlan { root, options, store: &store, watchdog, ends: Cell::new(false) };
        for (index, file) in files.iter().enumerate() {
            plan.ends.set(index + 1 == files.len() && options.retry == 0 && !options.watch);
            let mut last = self.last.take();
            let mut on_test = |test| self.test(file, test);
            let outcome = with_retries(options.retry, &mut on_test, |on_test| {
                // Dropped before the next engine is created, so that only one game's memory is in
                // use at a time.
                drop(last.take());
                let (outcome, app) = test_file::run_any(&plan, file, on_test)?;
                last = app;
                Ok(outcome)
            })?;
            self.last = last;
            self.file(file, outcome);
            if !self.should_continue() {
                break;
            }
        }
        Ok(())
    }

    fn should_continue(&self) -> bool {
        let failed = self.options.fail_fast && self.summary.counts.failed > 0;
        !failed && platform::end_requested().is_none()
    }

    /// Handles an event of a worker process. Returns false to end the run.
    fn handle_event(&mut self, file: &str, event: FileEvent) -> Result<bool, RunAborted> {
        // The signal also reached the worker processes, and their deaths are no failures.
        if platform::end_requested().is_some() {
            return Ok(false);
        }
        match event {
            FileEvent::Output(bytes) => terminal::forward_output(&bytes, false),
            FileEvent::ErrorOutput(bytes) => terminal::forward_output(&bytes, true),
            FileEvent::Test(test) => self.test(file, test),
            FileEvent::Done(outcome) => {
                self.file(file, outcome?);
                return Ok(self.should_continue());
            }
        }
        Ok(true)
    }

    fn test(&mut self, file: &str, test: TestResult) {
        self.counts.add(test.status);
        self.views.for_each_writer(|view| view.test(file, &test));
        let most = self.options.slowest;
        let slowest = &mut self.summary.slowest;
        if most > 0 && !test.at.is_empty() {
            let at = slowest.partition_point(|slower| slower.seconds >= test.seconds);
            slowest.insert(at, test.clone());
            slowest.truncate(most);
        }
        match test.status {
            TestStatus::Failed | TestStatus::Flaky => self.summary.failures.push(test),
            TestStatus::Skipped if test.reason.is_some() => self.summary.skipped.push(test),
            _ => {}
        }
    }

    fn file(&mut self, file: &str, outcome: FileOutcome) {
        let counts = std::mem::take(&mut self.counts);
        let FileOutcome { listed, usage, lines, seconds, missing } = outcome;
        self.all.missing += missing;
        if !self.options.list {
            self.views.for_each_writer(|view| view.file(file, counts, seconds));
        }
        for (at, name) in &listed {
            engine_foundation::print_line!("{}: {}", escape_line(at), escape_line(name));
        }
        self.listed += listed.len();
        self.all.usage.merge(usage);
        self.all.lines.merge(lines);
        let sums = &mut self.summary;
        sums.files += 1;
        sums.counts.passed += counts.passed;
        sums.counts.failed += counts.failed;
        sums.counts.skipped += counts.skipped;
        sums.counts.flaky += counts.flaky;
    }

    /// Writes the ends of the outputs and the requested files, and returns the exit code.
    fn end(
        &mut self,
        root: &Path,
        found: &discovery::DiscoveredTests,
        began: Instant,
    ) -> Result<i32, RunAborted> {
        let options = self.options;
        // The process may end now, so dropping the last engine would waste time.
        if !options.watch {
            std::mem::forget(self.last.take());
        }
        if let Some(file) = &options.api_coverage {
            self.all.usage.write_json(file)?;
        }
        if let Some(file) = options.coverage.as_deref().filter(|_| !options.list) {
            self.all.lines.write_lcov(root, file)?;
            if self.all.lines.is_empty() {
                log::warning(
                    "no line is covered: the tests loaded no file of the folder but tests",
                );
            }
            self.summary.coverage = Some(self.all.lines.summary(file));
        }
        let sums = &mut self.summary;
        if sums.counts == TestCounts::default() && self.listed == 0 {
            let selected = if options.selects() { " that the options select" } else { "" };
            let (count, searched) = (found.files.len(), &found.searched);
            let plural = if count == 1 { "" } else { "s" };
            log::error(&format!(
                "no tests found{selected}: looked in {searched}, and through {count} file{plural}"
            ));
            return Ok(exit::NO_TESTS);
        }
        sums.seconds = began.elapsed().as_secs_f64();
        sums.seed = options.shuffle.then(|| options.seed());
        if !options.list {
            self.views.for_each_writer(|view| view.end(sums));
        }
        let complete = self.views.report_losses();
        Ok(match self.summary.counts.failed {
            0 if !complete => exit::FAILED,
            0 => exit::SUCCESS,
            failed if failed == self.all.missing => exit::SNAPSHOT,
            _ => exit::FAILED,
        })
    }
}
