//! One run from its beginning to its end: the files found, handed to this process or to several,
//! the outputs told, the exit code.

use super::crew::{self, News};
use super::file::{self, Plan};
use super::output::{Loss, Names, Output, Paper, Summary, View};
use super::result::{Counts, Outcome, Status, TestResult};
use super::retry::with_retries;
use super::stuck::Watched;
use super::{Options, Stop, changed, config, confine, coverage, discovery, usage};
use crate::app::{App, confinement, exit, resources};
use crate::foundation::file_access;
use crate::foundation::random::Random;
use crate::foundation::terminal::{self, escape_line};
use crate::foundation::{Error, log, output_file};
use crate::resource::store::{Data, Store};
use crate::system::platform::{self, broker};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Runs what the options ask for: the process's exit code.
pub fn run(options: &Options) -> Result<i32, Stop> {
    let mut run = Run::new(options)?;
    match options.watch {
        true => changed::watch(&mut run),
        false => run.files(None),
    }
}

/// What holds for every time that the files are run.
pub struct Run {
    pub root: PathBuf,
    pub options: Options,
    /// The folder or file as the person wrote it.
    shown: String,
    views: Option<Views>,
    /// Over this thread, once it runs tests itself.
    watched: Option<Arc<Watched>>,
}

impl Run {
    pub fn new(options: &Options) -> Result<Run, Stop> {
        let mut options = options.clone();
        let mut root = discovery::root_of(&options.start)?;
        let shown = options.start.display().to_string();
        enter(&mut root, &mut options)?;
        if options.confined {
            confine::parent(&root, &options)?;
        }
        Ok(Run { root, options, shown, views: None, watched: None })
    }

    /// The files of tests, and the options with what the folder adds to them.
    pub fn find(&self) -> Result<(discovery::Found, Options), Stop> {
        let mut options = self.options.clone();
        let mut found = config::find(&self.root, &mut options)?;
        let start = options.start.display().to_string();
        found.looked = found.looked.replacen(&start, &self.shown, 1);
        Ok((found, options))
    }

    /// Runs all files, or `only` these.
    pub fn files(&mut self, only: Option<&BTreeSet<String>>) -> Result<i32, Stop> {
        let began = Instant::now();
        let (mut found, mut options) = self.find()?;
        if let Some(only) = only {
            found.files.retain(|file| only.contains(file));
        }
        if found.files.is_empty() {
            log::error(&format!("no tests found: looked in {}", found.looked));
            return Ok(exit::NOTHING);
        }
        if options.sort {
            found.files.sort();
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
            None => Views::new(&self.root, &options)?,
        };
        // No test adds to a file.
        broker::end_appends();
        let mut total = Total::new(&options, views);
        total.run(&self.root, &found.files, &mut self.watched)?;
        let code = total.end(&self.root, &found, began)?;
        self.views = Some(total.views);
        Ok(code)
    }
}

/// Refuses files that cannot be written before tests run for them.
fn check_files(options: &Options) -> Result<(), Error> {
    let coverage = options.coverage.as_deref().filter(|_| !options.list);
    let files = [(coverage, coverage::FAULT), (options.api_coverage.as_deref(), usage::FAULT)];
    for (file, fault) in files {
        let Some(file) = file else { continue };
        output_file::check(file)
            .map_err(|reason| crate::error!("{fault} '{}': {reason}", file.display()))?;
    }
    Ok(())
}

/// Suites of libraries open files by paths from the library's folder: without the sandbox, that is
/// where the process works. What the options name from elsewhere is made whole.
fn enter(root: &mut PathBuf, options: &mut Options) -> Result<(), Error> {
    let whole = |path: &Path| {
        std::path::absolute(path)
            .map_err(|reason| crate::error!("'{}' has no full path: {reason}", path.display()))
    };
    let helper = options.helper.as_deref().map(Path::new);
    if let Some(path) = helper.filter(|path| !root.join(path).is_file() && path.is_file()) {
        options.helper = Some(whole(path)?.to_string_lossy().into_owned());
    }
    if options.sandbox {
        return Ok(());
    }
    let Options { api_coverage, coverage, output_file, .. } = options;
    for file in [api_coverage, coverage, output_file].into_iter().flatten() {
        *file = whole(file)?;
    }
    let start = Path::new(".").join(discovery::inside(root, &options.start));
    std::env::set_current_dir(&*root)
        .map_err(|reason| crate::error!("'{}' cannot be entered: {reason}", root.display()))?;
    (*root, options.start) = (PathBuf::from("."), start);
    Ok(())
}

/// Another order in each run; the run says which.
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

/// The outputs of a run, and what could not be written of each, which has these words.
struct Views {
    all: Vec<Box<dyn View>>,
    losses: Vec<(String, Loss)>,
}

impl Views {
    fn new(root: &Path, options: &Options) -> Result<Views, Error> {
        let mut views = Views { all: Vec::new(), losses: Vec::new() };
        let chosen = options.chosen().unwrap_or_else(Output::usual);
        let on_terminal = match &options.output_file {
            None => chosen,
            Some(path) => {
                let words = format!("the output cannot be written to '{}'", path.display());
                let file = output_file::create(path)
                    .map_err(|reason| crate::error!("{words}: {reason}"))?;
                let paper = Paper::new(Box::new(file), false, false);
                views.add(words, paper, |paper| chosen.view(paper));
                Output::usual()
            }
        };
        let out: Box<dyn Write> = match on_terminal.strict && !options.list {
            true => Box::new(platform::divert_output().map_err(|reason| {
                crate::error!("what tests print cannot be kept from the output: {reason}")
            })?),
            false => Box::new(std::io::stdout()),
        };
        let live = terminal::is_watched();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let words = "standard output cannot be written".to_string();
        let paper = Paper::new(out, live && !plain, live);
        views.add(words, paper, |paper| on_terminal.view(paper));
        if let Some(path) = &options.log_success {
            let words = format!(
                "the names of tests that pass cannot be written to '{}', which 'log-success' of \
                 the .busted file names",
                root.join(path).display()
            );
            let file = match file_access::append(root, path) {
                // A confined process cannot, and its broker may.
                Err(reason) if reason.kind() == ErrorKind::PermissionDenied => {
                    broker::append(&root.join(path)).unwrap_or(Err(reason))
                }
                file => file,
            };
            let file = file.map_err(|reason| crate::error!("{words}: {reason}"))?;
            let paper = Paper::new(Box::new(file), false, false);
            views.add(words, paper, |paper| Box::new(Names { paper }));
        }
        Ok(views)
    }

    fn add(&mut self, words: String, paper: Paper, view: impl FnOnce(Paper) -> Box<dyn View>) {
        let loss = Loss::default();
        self.all.push(view(paper.noting(&loss)));
        self.losses.push((words, loss));
    }

    fn each(&mut self, mut tell: impl FnMut(&mut dyn View)) {
        for view in &mut self.all {
            tell(&mut **view);
        }
    }

    /// Tells what could not be written; whether all was.
    fn are_whole(&self) -> bool {
        let mut whole = true;
        for (words, loss) in &self.losses {
            if let Some(reason) = loss.reason() {
                log::error(&format!("{words}: {reason}"));
                whole = false;
            }
        }
        whole
    }
}

/// What came of all files together.
struct Total<'a> {
    options: &'a Options,
    views: Views,
    /// The engine of the file that ran last.
    last: Option<App>,
    summary: Summary,
    listed: usize,
    /// Of the running file.
    counts: Counts,
    all: Outcome,
}

impl Total<'_> {
    fn new(options: &Options, views: Views) -> Total<'_> {
        Total {
            options,
            views,
            last: None,
            summary: Summary::default(),
            listed: 0,
            counts: Counts::default(),
            all: Outcome::default(),
        }
    }

    fn run(
        &mut self,
        root: &Path,
        files: &[String],
        watched: &mut Option<Arc<Watched>>,
    ) -> Result<(), Stop> {
        let options = self.options;
        // The folder of a game has resources; a library's scripts are read as they are.
        let store = if discovery::is_game(root) { resources::open(root) } else { Store::default() };
        if !options.list {
            self.views.each(|view| view.begin(files.len()));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = options.jobs.unwrap_or(cores).min(files.len());
        // A process that dies takes along what it knows: where native code can be reached, or a
        // program waits for a whole answer, files run in another one.
        let strict = options.chosen().is_some_and(|form| form.strict);
        // The next time there may be more files, and other processes to start for them: a process
        // that runs tests itself cannot any more.
        let watches = options.watch && options.confined;
        if jobs > 1 || strict || watches || !options.sandbox {
            let has_store = matches!(store.data(), Data::Folder(..));
            let each = |index: usize, news| self.hear(&files[index], news);
            return crew::run((root, options, has_store), files, jobs, each);
        }
        if options.confined {
            confinement::forbid_programs(false);
        }
        let watched = watched.get_or_insert_with(|| Watched::start(options.timeout_seconds, true));
        let plan = Plan { root, options, store: &store, watched, ends: Cell::new(false) };
        for (index, file) in files.iter().enumerate() {
            plan.ends.set(index + 1 == files.len() && options.retry == 0 && !options.watch);
            let mut last = self.last.take();
            let mut tell = |test| self.test(file, test);
            let outcome = with_retries(options.retry, &mut tell, |tell| {
                // Before the next one is made: two games' memory need not be there at once.
                drop(last.take());
                let (outcome, app) = file::run_any(&plan, file, tell)?;
                last = app;
                Ok(outcome)
            })?;
            self.last = last;
            self.file(file, outcome);
            if !self.goes_on() {
                break;
            }
        }
        Ok(())
    }

    fn goes_on(&self) -> bool {
        let failed = self.options.fail_fast && self.summary.counts.failed > 0;
        !failed && platform::asked_to_end().is_none()
    }

    /// News of another process.
    fn hear(&mut self, file: &str, news: News) -> Result<bool, Stop> {
        // The other processes were asked, too, and die of it.
        if platform::asked_to_end().is_some() {
            return Ok(false);
        }
        match news {
            News::Printed(bytes) => terminal::pass_on(&bytes, false),
            News::Complained(bytes) => terminal::pass_on(&bytes, true),
            News::Test(test) => self.test(file, test),
            News::Done(outcome) => {
                self.file(file, outcome?);
                return Ok(self.goes_on());
            }
        }
        Ok(true)
    }

    fn test(&mut self, file: &str, test: TestResult) {
        self.counts.add(test.status);
        self.views.each(|view| view.test(file, &test));
        let most = self.options.slowest;
        let slowest = &mut self.summary.slowest;
        if most > 0 && !test.at.is_empty() {
            let at = slowest.partition_point(|slower| slower.seconds >= test.seconds);
            slowest.insert(at, test.clone());
            slowest.truncate(most);
        }
        if matches!(test.status, Status::Failed | Status::Flaky) {
            self.summary.noted.push(test);
        }
    }

    fn file(&mut self, file: &str, outcome: Outcome) {
        let counts = std::mem::take(&mut self.counts);
        let Outcome { listed, usage, lines, seconds, missing } = outcome;
        self.all.missing += missing;
        if !self.options.list {
            self.views.each(|view| view.file(file, counts, seconds));
        }
        for (at, name) in &listed {
            crate::print_line!("{}: {}", escape_line(at), escape_line(name));
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

    /// The last words, the files that were asked for, the exit code.
    fn end(&mut self, root: &Path, found: &discovery::Found, began: Instant) -> Result<i32, Stop> {
        let options = self.options;
        // The process may end now: taking the last engine apart would be work for nothing.
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
            self.summary.coverage = Some(self.all.lines.words(file));
        }
        let sums = &mut self.summary;
        if sums.counts == Counts::default() && self.listed == 0 {
            let selected = if options.selects() { " that the options select" } else { "" };
            let (count, looked) = (found.files.len(), &found.looked);
            let plural = if count == 1 { "" } else { "s" };
            log::error(&format!(
                "no tests found{selected}: looked in {looked}, and through {count} file{plural}"
            ));
            return Ok(exit::NOTHING);
        }
        sums.seconds = began.elapsed().as_secs_f64();
        sums.seed = options.shuffle.then(|| options.seed());
        if !options.list {
            self.views.each(|view| view.end(sums));
        }
        let whole = self.views.are_whole();
        Ok(match self.summary.counts.failed {
            0 if !whole => exit::FAILED,
            0 => exit::SUCCESS,
            failed if failed == self.all.missing => exit::SNAPSHOT,
            _ => exit::FAILED,
        })
    }
}
