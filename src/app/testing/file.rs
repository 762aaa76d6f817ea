//! One test file in an engine of its own: loaded, stepped to its end, its requests served. What a
//! stopped or broken test leaves behind ends with this engine.

use super::Options;
use super::event::{Event, Fault, Request};
use super::pictures::{NoPicture, Pictures};
use super::result::{Failure, Outcome, TestResult};
use super::screenshot::Place;
use super::spending::Spending;
use super::stuck::Watched;
use super::{Stop, discovery, hands, recording, screenshot};
use crate::app::{App, Game, HEADLESS_STEP, Opening, exit};
use crate::engine::Build;
use crate::foundation::file_access;
use crate::foundation::{Error, fault, log, memory};
use crate::resource::project::NoScript;
use crate::resource::store::Store;
use crate::script::{Report, Value};
use crate::system::sound::Destination;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// The step of every frame, in seconds.
pub const FRAME_SECONDS: f64 = HEADLESS_STEP;

/// What all files share.
pub struct Plan<'a> {
    pub root: &'a Path,
    pub options: &'a Options,
    pub store: &'a Store,
    pub watched: &'a Watched,
    /// The process ends after the next file: its Lua need not be taken apart.
    pub ends: Cell<bool>,
}

/// Hears of every test as it ends.
pub type Tell<'a> = &'a mut dyn FnMut(TestResult);

/// Runs a file and tells its tests: what else came of it, and the engine that it ran in. What stops
/// it is of the game's folder or the options, and would meet every file.
fn run(plan: &Plan, path: &str, tell: Tell) -> Result<(Outcome, App), Stop> {
    let began = Instant::now();
    plan.watched.enter(path);
    log::forget_warnings();
    log::hold_errors();
    let ran = run_holding(plan, path, tell);
    // Where a file has come to its end, no errors are left: its last test was asked for them.
    let left = log::release_errors();
    match &ran {
        Ok(_) if !left.is_empty() => tell(unexpected(path, &left)),
        Ok(_) => {}
        Err(_) => left.iter().for_each(|words| log::error(words)),
    }
    ran.map(|(outcome, app)| (Outcome { seconds: began.elapsed().as_secs_f64(), ..outcome }, app))
}

/// Runs a file of tests, or a recording.
pub fn run_any(plan: &Plan, path: &str, tell: Tell) -> Result<(Outcome, Option<App>), Stop> {
    if recording::is_meant(path) {
        return recording::run(plan, path, tell);
    }
    let held = memory::snapshot();
    let (outcome, mut app) = run(plan, path, tell)?;
    if plan.ends.get() {
        app.vm().end_with_process();
    }
    drop(app);
    if let Some(words) = memory::leaks(&held) {
        tell(TestResult::failed(of_file(path, words)));
    }
    Ok((outcome, None))
}

/// Calls `run` and returns to the folder that the process works in now: suites without the sandbox
/// can have it work in another one, where the game's folder would not be found by its path.
fn returning<T>(options: &Options, run: impl FnOnce() -> T) -> Result<T, Error> {
    if options.sandbox {
        return Ok(run());
    }
    let lost = |reason| crate::error!("the folder to test in cannot be returned to: {reason}");
    let here = std::env::current_dir().map_err(lost)?;
    let result = run();
    std::env::set_current_dir(here).map_err(lost)?;
    Ok(result)
}

/// Errors in the log that no test is to blame for.
fn unexpected(path: &str, errors: &[String]) -> TestResult {
    let message = format!("an error was logged outside of a test: {}", errors.join("\n"));
    TestResult::failed(of_file(path, message))
}

/// Something that went wrong with a whole file.
pub fn of_file(path: &str, message: String) -> Failure {
    Failure { name: path.to_string(), at: Some(path.to_string()), message, ..Failure::default() }
}

fn run_holding(plan: &Plan, path: &str, tell: Tell) -> Result<(Outcome, App), Stop> {
    let Plan { root, options, .. } = *plan;
    let mut outcome = Outcome::default();
    let mut app = open(root, options, plan.store.clone())?;
    let watched = plan.watched;
    let place = Place { root, suite: path, update: options.update_golden };
    let mut driver = Driver {
        app: &mut app,
        options,
        watched,
        place,
        pictures: Pictures::default(),
        booted: false,
        spending: Spending::of_this_thread(),
        began: 0.0,
        refused: None,
    };
    // A fault of the engine's own outside of a script's call: this file failed, the next may not.
    let driven = returning(options, || {
        catch_unwind(AssertUnwindSafe(|| driver.run(&mut outcome, &mut *tell)))
    })?;
    let words = match driven {
        Ok(Ok(())) => None,
        Ok(Err(report)) => Some(report_words(&report)),
        Err(_) => Some(fault::take_panic()),
    };
    if let Some(words) = driver.refused {
        return Err(Stop { code: exit::USAGE, words });
    }
    if let Some(message) = words {
        tell(TestResult::failed(of_file(path, message)));
    }
    let failed = |report: Box<Report>| Error::new(report.to_string());
    if options.api_coverage.is_some() {
        outcome.usage.add(app.vm()).map_err(failed)?;
    }
    if options.coverage.is_some() {
        let counts = |file: &str| file != path && !discovery::is_usual(file);
        outcome.lines.add(app.vm(), root, counts).map_err(failed)?;
    }
    Ok((outcome, app))
}

/// An engine to test in.
pub fn open(root: &Path, options: &Options, store: Store) -> Result<App, Error> {
    App::open(Opening {
        game: Game::Folder(root.to_path_buf()),
        build: Build::Test,
        arguments: Vec::new(),
        seed: options.seed(),
        deterministic: true,
        boot: None,
        forget: true,
        sandbox: options.sandbox,
        coverage: options.api_coverage.is_some(),
        lines: options.coverage.is_some(),
        store: Some(store),
        watch: false,
        threads: options.threads,
        sound: Destination::Null,
    })
}

/// Says where modules are found: to the engine, and to Lua's own `require` outside of the sandbox.
pub fn set_folders(
    app: &mut App,
    options: &Options,
    folders: Vec<String>,
) -> Result<(), Box<Report>> {
    if !options.sandbox {
        let list = folders.iter().cloned().map(Value::Text).collect();
        app.vm().call_core("test_folders", &[Value::List(list)], options.timeout_seconds)?;
    }
    app.vm().engine().project.script_folders = folders;
    Ok(())
}

struct Driver<'a> {
    app: &'a mut App,
    options: &'a Options,
    watched: &'a Watched,
    place: Place<'a>,
    pictures: Pictures,
    booted: bool,
    spending: Spending,
    /// When the running test began, on that clock.
    began: f64,
    /// What is wrong with the options.
    refused: Option<String>,
}

impl Driver<'_> {
    fn run(&mut self, out: &mut Outcome, tell: Tell) -> Result<(), Box<Report>> {
        let (root, path) = (self.place.root, self.place.suite);
        let folders = discovery::script_folders(root, path, &self.options.lpath);
        set_folders(self.app, self.options, folders)?;
        if self.options.api_coverage.is_some() {
            self.call("count_calls", &[])?;
        }
        if !self.options.sandbox && !discovery::is_game(root) {
            self.call("test_library", &[])?;
        }
        self.refused = self.load_helpers()?;
        if self.refused.is_some() {
            return Ok(());
        }
        self.load(path)?;
        if let Value::Text(words) = self.call("test_begin", &[self.options.to_value()])? {
            self.refused = Some(words);
            return Ok(());
        }
        let (mut answer, mut since) = (Value::Nil, Instant::now());
        self.began = self.spending.seconds();
        loop {
            let event = self.step(std::mem::replace(&mut answer, Value::Nil))?;
            if !matches!(event, Event::Request(_)) {
                self.began = self.spending.seconds();
            }
            match event {
                Event::Test(test) => {
                    let now = Instant::now();
                    let seconds = now.duration_since(since).as_secs_f64();
                    since = now;
                    tell(TestResult { seconds, ..test });
                    self.between_tests();
                }
                Event::Error(failure) => tell(TestResult::failed(failure)),
                Event::Listed { at, name } => out.listed.push((at, name)),
                Event::Request(request) => {
                    answer = self.serve(request, &mut out.missing);
                    if self.left() == 0.0 {
                        // Its frames took it: a `pcall` around them must not go on.
                        answer = Value::Nil;
                        self.interrupt(self.time_words())?;
                    }
                }
                Event::Done => return Ok(()),
            }
        }
    }

    /// What one test had the game do is not the next one's end.
    fn between_tests(&mut self) {
        let engine = self.app.vm().engine();
        engine.quit = None;
        if engine.pretends() {
            engine.end_pretending();
        }
        self.app.vm().collect();
    }

    /// CPU time that the running test has left, in seconds.
    fn left(&mut self) -> f64 {
        let spent = self.spending.seconds() - self.began;
        (self.options.timeout_seconds - spent).max(0.0)
    }

    /// Gives up the running test, with these words. What still comes of it (hooks) has all of its
    /// time anew. Gives an event that was made already.
    fn interrupt(&mut self, words: String) -> Result<Value, Box<Report>> {
        self.began = self.spending.seconds();
        // What eats the memory is let go of by this very call.
        self.app.vm().refuse_no_memory(true);
        let interrupted = self.call("test_interrupt", &[Value::Text(words)]);
        self.app.vm().refuse_no_memory(false);
        interrupted
    }

    fn call(&mut self, name: &str, arguments: &[Value]) -> Result<Value, Box<Report>> {
        self.call_within(name, arguments, self.options.timeout_seconds)
    }

    fn call_within(
        &mut self,
        name: &str,
        arguments: &[Value],
        seconds: f64,
    ) -> Result<Value, Box<Report>> {
        self.watched.call(|| self.app.vm().call_core(name, arguments, seconds))
    }

    fn read(&mut self, path: &str) -> Result<String, String> {
        let project = &self.app.vm().engine().project;
        // A helper from elsewhere is named on the command line.
        let read = match file_access::stays_inside(path) {
            true => project.read(path),
            false => project.read_named(path),
        };
        match read {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(format!("{path}: the file is gone, or its name is not UTF-8")),
            Err(NoScript::Unusable(words)) => Err(words),
            Err(NoScript::Missing { tried, .. }) => Err(format!("no file {}", tried.join(", "))),
        }
    }

    /// What runs before the file. Gives words where some of it cannot be used.
    fn load_helpers(&mut self) -> Result<Option<String>, Box<Report>> {
        for statement in &self.options.statements {
            if let Some(words) = self.load_statement(statement)? {
                return Ok(Some(format!("'e' of the .busted file cannot be used: {words}")));
            }
        }
        let Some(helper) = &self.options.helper else { return Ok(None) };
        let words = self.load_helper(helper)?;
        Ok(words.map(|words| format!("the helper '{helper}' cannot be used: {words}")))
    }

    /// Gives words where the helper is not there or does not compile. What does not end in `.lua`
    /// is a module's name.
    fn load_helper(&mut self, helper: &str) -> Result<Option<String>, Box<Report>> {
        let mut text = String::new();
        if helper.ends_with(".lua") {
            match self.read(helper) {
                Ok(read) => text = read,
                Err(words) => return Ok(Some(words)),
            }
            if text.is_empty() {
                return Ok(None);
            }
        }
        let given = self.options.helper_arguments.iter().cloned().map(Value::Text).collect();
        let arguments = [Value::Text(helper.to_string()), Value::Text(text), Value::List(given)];
        match self.call("test_helper", &arguments)? {
            Value::Text(words) => Ok(Some(words)),
            _ => Ok(None),
        }
    }

    /// Gives words where it does not compile.
    fn load_statement(&mut self, statement: &str) -> Result<Option<String>, Box<Report>> {
        let text = |text: &str| Value::Text(text.to_string());
        let arguments = [text("(e)"), text(statement), Value::List(Vec::new())];
        match self.call("test_helper", &arguments)? {
            Value::Text(words) => Ok(Some(words)),
            _ => Ok(None),
        }
    }

    fn load(&mut self, path: &str) -> Result<(), Box<Report>> {
        let shown = Value::Text(path.to_string());
        match self.read(path) {
            Ok(text) => {
                // The names of folders and files before it have no part in the order of its tables.
                self.app.vm().number_strings(1);
                self.call("test_load", &[shown, Value::Text(text)])?
            }
            Err(words) => self.call("test_unreadable", &[shown, Value::Text(words)])?,
        };
        Ok(())
    }

    /// Runs to the next event. A test that had to be stopped fails, and its file goes on.
    fn step(&mut self, mut answer: Value) -> Result<Event, Box<Report>> {
        loop {
            let given = std::mem::replace(&mut answer, Value::Nil);
            let seconds = self.left().max(STEP_SECONDS_MIN.min(self.options.timeout_seconds));
            let stepped = self.call_within("test_step", &[given], seconds);
            let value = match stepped {
                Ok(value) => value,
                Err(report) => {
                    let words = self.stop_words(&report).ok_or(report)?;
                    self.app.vm().collect_all();
                    match self.interrupt(words)? {
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
        report.stopped.then(|| place.unwrap_or_default() + &self.time_words())
    }

    fn time_words(&self) -> String {
        format!(
            "stopped: the test ran for {} seconds of CPU time without an end (--timeout allows \
             more)",
            self.options.timeout_seconds
        )
    }

    /// Does what a test asked for: the number of frames played, what else there is to answer, or
    /// the words of what went wrong.
    fn serve(&mut self, request: Request, missing: &mut usize) -> Value {
        let number = |played: u64| Value::Number(played as f64);
        let served = match request {
            Request::Frames(count) => self.play(|played, _| played < count).map(number),
            // A step is a sum of roundings: a billionth of a second is not another frame.
            Request::Seconds(seconds) => self.play(|_, passed| passed < seconds - 1e-9).map(number),
            Request::Boot => self.boot().map(|()| Value::Nil),
            Request::Close => {
                let closed = self.app.close_requested();
                closed.map(Value::Boolean).map_err(|report| report_words(&report))
            }
            Request::Input(events) => {
                let engine = self.app.vm().engine();
                let given = hands::read(&events, &engine.input, &engine.windows);
                given.map(|given| self.app.give(given)).map(|()| Value::Nil)
            }
            Request::Reload { file, text } => {
                let arguments = [Value::Text(file), Value::Text(text)];
                let reloaded = self.call("test_reload", &arguments);
                reloaded.map_err(|report| report_words(&report))
            }
            Request::Fault(fault) => self.pretend(fault),
            Request::Screenshot(wanted) => {
                let engine = self.app.vm().engine();
                self.place.check(&wanted, engine, &mut self.pictures).map(|(answer, is_missing)| {
                    *missing += usize::from(is_missing);
                    answer
                })
            }
        };
        served.unwrap_or_else(Value::Text)
    }

    fn pretend(&mut self, fault: Option<Fault>) -> Result<Value, String> {
        let engine = self.app.vm().engine();
        match fault {
            None => engine.end_pretending(),
            Some(Fault::DiskFull) => engine.saves.pretend_full(true),
            Some(Fault::MissingFile(file)) => {
                if !file_access::is_file(self.place.root, &file) {
                    return Err(format!(
                        "test.fault: there is no file '{file}' in the game's folder to be missing"
                    ));
                }
                engine.pretend_missing(file);
            }
            Some(Fault::DeviceLost) => {
                return match self.pictures.lose_device() {
                    Ok(()) => Ok(Value::Nil),
                    Err(NoPicture::NoAdapter(words)) => Ok(screenshot::no_adapter(words)),
                    Err(NoPicture::Refused(words)) => Err(format!("test.fault: {words}")),
                };
            }
        }
        Ok(Value::Nil)
    }

    /// Plays frames while there are more to play, and the test has time.
    fn play(&mut self, more: impl Fn(u64, f64) -> bool) -> Result<u64, String> {
        let began = self.app.vm().engine().frame.total;
        let mut played = 0;
        while self.app.quit().is_none() && more(played, self.app.vm().engine().frame.total - began)
        {
            self.app.frame(FRAME_SECONDS).map_err(|report| {
                let index = self.app.vm().engine().frame.index;
                format!("{}\n  in frame {index}", report_words(&report))
            })?;
            self.pictures.follow(self.app.vm().engine());
            self.app.end_frame();
            played += 1;
            if self.left() == 0.0 {
                break;
            }
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

/// CPU time that a step may take in any case: what ends a test is not to be stopped in its turn.
const STEP_SECONDS_MIN: f64 = 0.1;

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
