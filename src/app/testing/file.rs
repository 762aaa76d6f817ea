//! One test file in an engine of its own: loaded, stepped to its end, its requests served. What a
//! stopped or broken test leaves behind ends with this engine.

use super::Options;
use super::event::{Event, Failure, Request, Status};
use super::stuck::Watched;
use super::usage::Usage;
use super::{Counts, Stop, discovery};
use crate::app::{App, Game, Opening, exit};
use crate::engine::Build;
use crate::foundation::{Error, fault};
use crate::resource::project::NoScript;
use crate::resource::store::Store;
use crate::script::{Report, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The step of every frame, in seconds.
pub const FRAME_SECONDS: f64 = 1.0 / 60.0;

/// What all files share.
pub struct Plan<'a> {
    pub root: &'a Path,
    pub options: &'a Options,
    pub store: &'a Store,
    pub watched: &'a Watched,
}

/// What came of a file.
#[derive(Debug, Default)]
pub struct Outcome {
    pub counts: Counts,
    pub failures: Vec<Failure>,
    /// What is wrong with the options.
    refused: Option<String>,
    /// With `Options::list`: place and full name of each test.
    pub listed: Vec<(String, String)>,
}

impl Outcome {
    fn fail(&mut self, failure: Failure) {
        self.counts.failed += 1;
        self.failures.push(failure);
    }
}

/// Runs a file: what came of it, and the engine that it ran in. What stops it is of the game's
/// folder or the options, and would meet every file.
pub fn run(plan: &Plan, path: &str, usage: &mut Usage) -> Result<(Outcome, App), Stop> {
    let Plan { root, options, .. } = *plan;
    plan.watched.enter(path);
    let mut outcome = Outcome::default();
    let mut app = App::open(Opening {
        game: Game::Folder(root.to_path_buf()),
        build: Build::Test,
        arguments: Vec::new(),
        seed: options.seed,
        deterministic: true,
        boot: None,
        forget: true,
        sandbox: options.sandbox,
        coverage: options.api_coverage.is_some(),
        store: Some(plan.store.clone()),
        watch: false,
    })?;
    let watched = plan.watched;
    let mut driver = Driver { app: &mut app, options, watched, booted: false };
    // A fault of the engine's own outside of a script's call: this file failed, the next may not.
    let driven = catch_unwind(AssertUnwindSafe(|| driver.run(root, path, &mut outcome)));
    let words = match driven {
        Ok(Ok(())) => None,
        Ok(Err(report)) => Some(report_words(&report)),
        Err(_) => Some(fault::take_panic()),
    };
    if let Some(message) = words {
        let (name, at) = (path.to_string(), Some(path.to_string()));
        outcome.fail(Failure { name, at, message, ..Failure::default() });
    }
    if let Some(words) = outcome.refused {
        return Err(Stop { code: exit::USAGE, words });
    }
    if options.api_coverage.is_some() {
        usage.add(app.vm()).map_err(|report| Error::new(report.to_string()))?;
    }
    Ok((outcome, app))
}

struct Driver<'a> {
    app: &'a mut App,
    options: &'a Options,
    watched: &'a Watched,
    booted: bool,
}

impl Driver<'_> {
    fn run(&mut self, root: &Path, path: &str, out: &mut Outcome) -> Result<(), Box<Report>> {
        let folders = discovery::script_folders(root, path, &self.options.lpath);
        self.app.vm().engine().project.script_folders = folders;
        if self.options.api_coverage.is_some() {
            self.call("count_calls", &[])?;
        }
        self.load(path)?;
        if let Value::Text(words) = self.call("test_begin", &[self.options.to_value()])? {
            out.refused = Some(words);
            return Ok(());
        }
        let mut answer = Value::Nil;
        loop {
            let event = self.step(std::mem::replace(&mut answer, Value::Nil))?;
            match event {
                Event::Test { status, failure } => {
                    match status {
                        Status::Passed => out.counts.passed += 1,
                        Status::Skipped => out.counts.skipped += 1,
                        Status::Failed => out.fail(failure.unwrap_or_default()),
                    }
                    // What one test had the game do is not the next one's end.
                    self.app.vm().engine().quit = None;
                    self.app.vm().collect();
                }
                Event::Error(failure) => out.fail(failure),
                Event::Listed { at, name } => out.listed.push((at, name)),
                Event::Request(request) => answer = self.serve(request),
                Event::Done => return Ok(()),
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Value]) -> Result<Value, Box<Report>> {
        let seconds = self.options.timeout_seconds;
        self.watched.call(|| self.app.vm().call_core(name, arguments, seconds))
    }

    fn load(&mut self, path: &str) -> Result<(), Box<Report>> {
        let shown = Value::Text(path.to_string());
        let read = match self.app.vm().engine().project.read(path) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(format!("{path}: the file is gone, or its name is not UTF-8")),
            Err(NoScript::Unusable(words)) => Err(words),
            Err(NoScript::Missing { tried, .. }) => Err(format!("no file {}", tried.join(", "))),
        };
        match read {
            Ok(text) => self.call("test_load", &[shown, Value::Text(text)])?,
            Err(words) => self.call("test_unreadable", &[shown, Value::Text(words)])?,
        };
        Ok(())
    }

    /// Runs to the next event. A test that had to be stopped fails, and its file goes on.
    fn step(&mut self, mut answer: Value) -> Result<Event, Box<Report>> {
        loop {
            let given = std::mem::replace(&mut answer, Value::Nil);
            let value = match self.call("test_step", &[given]) {
                Ok(value) => value,
                Err(report) => {
                    let words = self.stop_words(&report).ok_or(report)?;
                    self.app.vm().collect_all();
                    match self.call("test_interrupt", &[Value::Text(words)])? {
                        Value::Nil => continue,
                        made_before_the_stop => made_before_the_stop,
                    }
                }
            };
            return Event::read(&value).map_err(|words| Box::new(Report::of_words(words)));
        }
    }

    /// What is said of a test that was stopped; nothing where the test library itself failed.
    fn stop_words(&self, report: &Report) -> Option<String> {
        if report.message.starts_with("not enough memory") {
            return Some(report.message.clone());
        }
        let place = report.place.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
        report.stopped.then(|| {
            format!(
                "{}stopped: the test ran for {} seconds of CPU time without an end (--timeout \
                 allows more)",
                place.unwrap_or_default(),
                self.options.timeout_seconds
            )
        })
    }

    /// Does what a test asked for: the number of frames played, or the words of what went wrong.
    fn serve(&mut self, request: Request) -> Value {
        let served = match request {
            Request::Frames(count) => self.play(|played, _| played < count),
            // A step is a sum of roundings: a billionth of a second is not another frame.
            Request::Seconds(seconds) => self.play(|_, passed| passed < seconds - 1e-9),
            Request::Boot => self.boot().map(|()| 0),
        };
        match served {
            Ok(played) => Value::Number(played as f64),
            Err(words) => Value::Text(words),
        }
    }

    fn play(&mut self, more: impl Fn(u64, f64) -> bool) -> Result<u64, String> {
        let began = self.app.vm().engine().frame.total;
        let mut played = 0;
        while self.app.quit().is_none() && more(played, self.app.vm().engine().frame.total - began)
        {
            self.app.frame(FRAME_SECONDS).map_err(|report| {
                let index = self.app.vm().engine().frame.index;
                format!("{}\n  in frame {index}", report_words(&report))
            })?;
            played += 1;
            if played > FRAMES_MAX {
                return Err(format!(
                    "the game's time stands still: {FRAMES_MAX} frames were played"
                ));
            }
        }
        Ok(played)
    }

    fn boot(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.booted, true) {
            return Err("test.boot: the game was started in this file already".to_string());
        }
        self.app.start().map_err(|report| report_words(&report))
    }
}

/// The most frames that one request can lead to, where a game's own time hardly moves.
const FRAMES_MAX: u64 = 10_000_000;

/// A report in the form of a test's failure: place and message, then the stack, a line each.
fn report_words(report: &Report) -> String {
    let place = report.place.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
    let mut words = format!("{}{}", place.unwrap_or_default(), report.message);
    for line in &report.contexts {
        words += &format!("\n  {line}");
    }
    for frame in report.coroutine.iter().chain(&report.frames) {
        if let Some(place) = &frame.place {
            words += &format!("\n  {}:{} in {}", place.file, place.line, frame.what);
        }
    }
    words
}
