//! Driver of one test file in its own engine: loads the file, steps it to its end and serves its
//! requests. All state of a stopped or broken test ends with this engine.

use super::TestOptions;
use super::cpu_clock::CpuClock;
use super::hang_watchdog::HangWatchdog;
use super::result::{FileOutcome, TestFailure, TestResult};
use super::screenshot::ScreenshotFolder;
use super::software_renderer::{ScreenshotUnavailable, SoftwareRenderer};
use super::step_event::{DriverRequest, FaultKind, StepEvent};
use super::{RunAborted, debugged_file, discovery, replay_test, screenshot, simulated_input};
use crate::{App, Game, GameLaunch, HEADLESS_STEP, exit};
use engine_foundation::file_access;
use engine_foundation::{Error, log, memory, panic};
use engine_resource::project::ScriptError;
use engine_resource::store::ResourceStore;
use engine_runtime::BuildMode;
use engine_script::{ErrorReport, ScriptValue};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// Step of every frame, in seconds.
pub const FRAME_SECONDS: f64 = HEADLESS_STEP;

/// State shared by all files of a run.
pub struct TestPlan<'a> {
    pub root: &'a Path,
    pub options: &'a TestOptions,
    pub store: &'a ResourceStore,
    pub watchdog: &'a HangWatchdog,
    /// True if the process ends after the next file, so its Lua state need not be freed.
    pub ends: Cell<bool>,
}

/// Callback for the result of each test.
pub type OnTestResult<'a> = &'a mut dyn FnMut(TestResult);

/// Runs a file, reports its tests to `on_test`, and returns its other results and its engine. An
/// error is one of the game's folder or the options, which would affect every file.
fn run(
    plan: &TestPlan,
    path: &str,
    on_test: OnTestResult,
) -> Result<(FileOutcome, App), RunAborted> {
    let began = Instant::now();
    plan.watchdog.enter(path);
    log::forget_warnings();
    log::capture_errors();
    let ran = run_capturing(plan, path, on_test);
    // After a complete file no errors are left, because its last test has checked them.
    let unreported = log::release_errors();
    match &ran {
        Ok(_) if !unreported.is_empty() => on_test(unexpected_errors(path, &unreported)),
        Ok(_) => {}
        Err(_) => unreported.iter().for_each(|message| log::error(message)),
    }
    ran.map(|(outcome, app)| {
        (FileOutcome { seconds: began.elapsed().as_secs_f64(), ..outcome }, app)
    })
}

/// Runs a file of tests, or a recording.
pub fn run_any(
    plan: &TestPlan,
    path: &str,
    on_test: OnTestResult,
) -> Result<(FileOutcome, Option<App>), RunAborted> {
    if replay_test::is_recording(path) {
        return replay_test::run(plan, path, on_test);
    }
    let held = memory::snapshot();
    let (outcome, mut app) = run(plan, path, on_test)?;
    if plan.ends.get() {
        app.vm().end_with_process();
    }
    drop(app);
    if let Some(message) = memory::leaks(&held) {
        on_test(TestResult::failed(file_failure(path, message)));
    }
    Ok((outcome, None))
}

/// Calls `run` and then restores the current working directory. Suites without the Lua sandbox can
/// change it, and then the game's folder would not be found by its path.
fn restoring_folder<T>(options: &TestOptions, run: impl FnOnce() -> T) -> Result<T, Error> {
    if options.sandbox {
        return Ok(run());
    }
    let lost =
        |reason| engine_foundation::error!("the folder to test in cannot be returned to: {reason}");
    let here = std::env::current_dir().map_err(lost)?;
    let result = run();
    std::env::set_current_dir(here).map_err(lost)?;
    Ok(result)
}

/// Returns the failure for logged errors that belong to no test.
fn unexpected_errors(path: &str, errors: &[String]) -> TestResult {
    let message = format!("an error was logged outside of a test: {}", errors.join("\n"));
    TestResult::failed(file_failure(path, message))
}

/// Returns the failure of a whole file.
pub fn file_failure(path: &str, message: String) -> TestFailure {
    TestFailure {
        name: path.to_string(),
        at: Some(path.to_string()),
        message,
        is_error: true,
        ..TestFailure::default()
    }
}

fn run_capturing(
    plan: &TestPlan,
    path: &str,
    on_test: OnTestResult,
) -> Result<(FileOutcome, App), RunAborted> {
    let TestPlan { root, options, .. } = *plan;
    let mut outcome = FileOutcome::default();
    let mut app = open(root, options, plan.store.clone())?;
    if options.debug {
        debugged_file::wait_for_debugger(&mut app, root)?;
    }
    let watchdog = plan.watchdog;
    let screenshots = ScreenshotFolder { root, suite: path, update: options.update_golden };
    let mut driver = TestFileDriver {
        app: &mut app,
        options,
        watchdog,
        screenshots,
        pictures: SoftwareRenderer::default(),
        booted: false,
        cpu_clock: CpuClock::of_this_thread(),
        began: 0.0,
        usage_error: None,
    };
    // A panic of the engine outside a script's call fails this file only.
    let driven = restoring_folder(options, || {
        catch_unwind(AssertUnwindSafe(|| driver.run(&mut outcome, &mut *on_test)))
    })?;
    let message = match driven {
        Ok(Ok(())) => None,
        Ok(Err(report)) => Some(failure_of_report(&report)),
        Err(_) => Some(panic::take_panic()),
    };
    if let Some(message) = driver.usage_error {
        return Err(RunAborted { code: exit::USAGE, message });
    }
    if let Some(message) = message {
        on_test(TestResult::failed(file_failure(path, message)));
    }
    app.end_tools();
    let failed = |report: Box<ErrorReport>| Error::new(report.to_string());
    if options.api_coverage.is_some() {
        outcome.usage.add(app.vm()).map_err(failed)?;
    }
    if options.coverage.is_some() {
        let counts = |file: &str| file != path && !discovery::is_usual(file);
        outcome.lines.add(app.vm(), root, counts).map_err(failed)?;
    }
    Ok((outcome, app))
}

/// Opens an engine for tests.
pub fn open(root: &Path, options: &TestOptions, store: ResourceStore) -> Result<App, Error> {
    App::open(GameLaunch {
        build: BuildMode::Test,
        seed: options.seed(),
        sandbox: options.sandbox,
        coverage: options.api_coverage.is_some(),
        lines: options.coverage.is_some(),
        store: Some(store),
        variants: options.variants.clone(),
        threads: options.threads,
        ..GameLaunch::headless(Game::Folder(root.to_path_buf()))
    })
}

/// Sets the folders in which modules are searched: for the engine and, without the Lua sandbox, for
/// Lua's own `require`.
pub fn set_folders(
    app: &mut App,
    options: &TestOptions,
    folders: Vec<String>,
) -> Result<(), Box<ErrorReport>> {
    if !options.sandbox {
        let list = folders.iter().cloned().map(ScriptValue::Text).collect();
        app.vm().call_core("test_folders", &[ScriptValue::List(list)], options.timeout_seconds)?;
    }
    app.vm().engine().game.project.script_folders = folders;
    Ok(())
}

struct TestFileDriver<'a> {
    app: &'a mut App,
    options: &'a TestOptions,
    watchdog: &'a HangWatchdog,
    screenshots: ScreenshotFolder<'a>,
    pictures: SoftwareRenderer,
    booted: bool,
    cpu_clock: CpuClock,
    /// Time at which the running test began, in seconds of `cpu_clock`.
    began: f64,
    /// Message about invalid options, if any.
    usage_error: Option<String>,
}

impl TestFileDriver<'_> {
    fn run(
        &mut self,
        out: &mut FileOutcome,
        on_test: OnTestResult,
    ) -> Result<(), Box<ErrorReport>> {
        let (root, path) = (self.screenshots.root, self.screenshots.suite);
        let folders = discovery::script_folders(root, path, &self.options.lpath);
        set_folders(self.app, self.options, folders)?;
        if self.options.api_coverage.is_some() {
            self.call("count_calls", &[])?;
        }
        if !self.options.sandbox && !discovery::is_game(root) {
            self.call("test_library", &[])?;
        }
        self.usage_error = self.load_helpers()?;
        if self.usage_error.is_some() {
            return Ok(());
        }
        self.load(path)?;
        if let ScriptValue::Text(message) = self.call("test_begin", &[self.options.to_value()])? {
            self.usage_error = Some(message);
            return Ok(());
        }
        let (mut answer, mut since) = (ScriptValue::Nil, Instant::now());
        self.began = self.cpu_clock.seconds();
        loop {
            let event = self.step(std::mem::replace(&mut answer, ScriptValue::Nil))?;
            if self.options.debug {
                self.app.answer_tools(false);
            }
            if !matches!(event, StepEvent::Request(_)) {
                self.began = self.cpu_clock.seconds();
            }
            match event {
                StepEvent::Test(test) => {
                    let now = Instant::now();
                    let seconds = now.duration_since(since).as_secs_f64();
                    since = now;
                    on_test(TestResult { seconds, ..test });
                    self.between_tests();
                }
                StepEvent::Error(failure) => on_test(TestResult::failed(failure)),
                StepEvent::Listed { at, name } => out.listed.push((at, name)),
                StepEvent::Request(request) => {
                    answer = self.serve(request, &mut out.missing);
                    if self.remaining_seconds() == 0.0 {
                        // The test's frames used up its time. A `pcall` around them must not
                        // continue.
                        answer = ScriptValue::Nil;
                        self.interrupt(self.time_limit_message())?;
                    }
                }
                StepEvent::Done => return Ok(()),
            }
        }
    }

    /// Resets the state that one test can leave to the next.
    fn between_tests(&mut self) {
        let engine = self.app.vm().engine();
        (engine.frame.quit, engine.frame.restart) = (None, false);
        if engine.game.is_simulating_failure() {
            engine.game.end_simulated_failures(&mut engine.assets.store);
        }
        self.app.vm().collect();
    }

    /// Returns the CPU time that the running test has left, in seconds.
    fn remaining_seconds(&mut self) -> f64 {
        let spent = self.cpu_clock.seconds() - self.began;
        (self.options.timeout_seconds - spent).max(0.0)
    }

    /// Aborts the running test with a message. Its hooks get the full time again. Returns an event
    /// that was already pending.
    fn interrupt(&mut self, message: String) -> Result<ScriptValue, Box<ErrorReport>> {
        self.began = self.cpu_clock.seconds();
        // This call itself frees the memory that the test holds.
        self.app.vm().refuse_no_memory(true);
        let interrupted = self.call("test_interrupt", &[ScriptValue::Text(message)]);
        self.app.vm().refuse_no_memory(false);
        interrupted
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[ScriptValue],
    ) -> Result<ScriptValue, Box<ErrorReport>> {
        self.call_within(name, arguments, self.options.timeout_seconds)
    }

    fn call_within(
        &mut self,
        name: &str,
        arguments: &[ScriptValue],
        seconds: f64,
    ) -> Result<ScriptValue, Box<ErrorReport>> {
        self.watchdog.call(|| self.app.vm().call_core(name, arguments, seconds))
    }

    fn read(&mut self, path: &str) -> Result<String, String> {
        let project = &self.app.vm().engine().game.project;
        // A helper outside the folder is named on the command line.
        let read = match file_access::stays_inside(path) {
            true => project.read(path),
            false => project.read_named(path),
        };
        match read {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(format!("{path}: the file is gone, or its name is not UTF-8")),
            Err(ScriptError::Unusable(message)) => Err(message),
            Err(ScriptError::Missing { tried, .. }) => Err(format!("no file {}", tried.join(", "))),
        }
    }

    /// Runs statements and helper before the file. Returns a message if one of them is unusable.
    fn load_helpers(&mut self) -> Result<Option<String>, Box<ErrorReport>> {
        for statement in &self.options.statements {
            if let Some(message) = self.load_statement(statement)? {
                return Ok(Some(format!("'e' of the .busted file cannot be used: {message}")));
            }
        }
        let Some(helper) = &self.options.helper else { return Ok(None) };
        let message = self.load_helper(helper)?;
        Ok(message.map(|message| format!("the helper '{helper}' cannot be used: {message}")))
    }

    /// Runs the helper. Returns a message if it is missing or does not compile. A name that does
    /// not end in `.lua` is a module's name.
    fn load_helper(&mut self, helper: &str) -> Result<Option<String>, Box<ErrorReport>> {
        let mut text = String::new();
        if helper.ends_with(".lua") {
            match self.read(helper) {
                Ok(read) => text = read,
                Err(message) => return Ok(Some(message)),
            }
            if text.is_empty() {
                return Ok(None);
            }
        }
        let helper_arguments =
            self.options.helper_arguments.iter().cloned().map(ScriptValue::Text).collect();
        let arguments = [
            ScriptValue::Text(helper.to_string()),
            ScriptValue::Text(text),
            ScriptValue::List(helper_arguments),
        ];
        match self.call("test_helper", &arguments)? {
            ScriptValue::Text(message) => Ok(Some(message)),
            _ => Ok(None),
        }
    }

    /// Runs a statement. Returns a message if it does not compile.
    fn load_statement(&mut self, statement: &str) -> Result<Option<String>, Box<ErrorReport>> {
        let text = |text: &str| ScriptValue::Text(text.to_string());
        let arguments = [text("(e)"), text(statement), ScriptValue::List(Vec::new())];
        match self.call("test_helper", &arguments)? {
            ScriptValue::Text(message) => Ok(Some(message)),
            _ => Ok(None),
        }
    }

    fn load(&mut self, path: &str) -> Result<(), Box<ErrorReport>> {
        let shown = ScriptValue::Text(path.to_string());
        match self.read(path) {
            Ok(text) => {
                // Earlier strings, such as names of folders and files, must not affect the order of
                // its tables.
                self.app.vm().reseed_string_ids(1);
                self.call("test_load", &[shown, ScriptValue::Text(text)])?
            }
            Err(message) => self.call("test_unreadable", &[shown, ScriptValue::Text(message)])?,
        };
        Ok(())
    }

    /// Runs to the next event. A test that had to be stopped fails, and its file continues.
    fn step(&mut self, mut answer: ScriptValue) -> Result<StepEvent, Box<ErrorReport>> {
        loop {
            let sent = std::mem::replace(&mut answer, ScriptValue::Nil);
            let seconds =
                self.remaining_seconds().max(STEP_SECONDS_MIN.min(self.options.timeout_seconds));
            let stepped = self.call_within("test_step", &[sent], seconds);
            let value = match stepped {
                Ok(value) => value,
                Err(report) => {
                    let message = self.timeout_message(&report).ok_or(report)?;
                    self.app.vm().collect_all();
                    match self.interrupt(message)? {
                        ScriptValue::Nil => continue,
                        pending_event => pending_event,
                    }
                }
            };
            return StepEvent::read(&value)
                .map_err(|message| Box::new(ErrorReport::from_message(message)));
        }
    }

    /// Returns the message for a stopped test, or `None` if the test library itself failed.
    fn timeout_message(&self, report: &ErrorReport) -> Option<String> {
        if report.message.starts_with("not enough memory") {
            return Some(report.message.clone());
        }
        let location = report
            .location
            .as_ref()
            .map(|location| format!("{}:{}: ", location.file, location.line));
        report.stopped.then(|| location.unwrap_or_default() + &self.time_limit_message())
    }

    fn time_limit_message(&self) -> String {
        format!(
            "stopped: the test ran for {} seconds of CPU time without an end (--timeout allows \
             more)",
            self.options.timeout_seconds
        )
    }

    /// Performs a request of a test. Returns the number of frames played, another answer, or an
    /// error message.
    fn serve(&mut self, request: DriverRequest, missing: &mut usize) -> ScriptValue {
        let number = |played: u64| ScriptValue::Number(played as f64);
        let served = match request {
            DriverRequest::Frames(count) => self.play(|played, _| played < count).map(number),
            // The sum of steps has rounding errors: a billionth of a second is not another frame.
            DriverRequest::Seconds(seconds) => {
                self.play(|_, passed| passed < seconds - 1e-9).map(number)
            }
            DriverRequest::Boot => self.boot().map(|()| ScriptValue::Nil),
            DriverRequest::Close => {
                let closed = self.app.close_requested();
                closed.map(ScriptValue::Boolean).map_err(|report| failure_of_report(&report))
            }
            DriverRequest::Input(events) => {
                let engine = self.app.vm().engine();
                let frame_input =
                    simulated_input::read(&events, &engine.devices.input, &engine.devices.windows);
                frame_input
                    .map(|frame_input| self.app.add_input(frame_input))
                    .map(|()| ScriptValue::Nil)
            }
            DriverRequest::Reload { file, text } => {
                let arguments = [ScriptValue::Text(file), ScriptValue::Text(text)];
                let reloaded = self.call("test_reload", &arguments);
                reloaded.map_err(|report| failure_of_report(&report))
            }
            DriverRequest::Fault(fault) => self.apply_fault(fault),
            DriverRequest::Screenshot(wanted) => {
                let engine = self.app.vm().engine();
                self.screenshots.check(&wanted, engine, &mut self.pictures).map(
                    |(answer, is_missing)| {
                        *missing += usize::from(is_missing);
                        answer
                    },
                )
            }
        };
        served.unwrap_or_else(ScriptValue::Text)
    }

    fn apply_fault(&mut self, fault: Option<FaultKind>) -> Result<ScriptValue, String> {
        let engine = self.app.vm().engine();
        match fault {
            None => engine.game.end_simulated_failures(&mut engine.assets.store),
            Some(FaultKind::DiskFull) => engine.game.saves.simulate_full_disk(true),
            Some(FaultKind::MissingFile(file)) => {
                if !file_access::is_file(self.screenshots.root, &file) {
                    return Err(format!(
                        "test.fault: there is no file '{file}' in the game's folder to be missing"
                    ));
                }
                engine.game.simulate_missing_file(&mut engine.assets.store, file);
            }
            Some(FaultKind::DeviceLost) => {
                return match self.pictures.lose_device() {
                    Ok(()) => Ok(ScriptValue::Nil),
                    Err(ScreenshotUnavailable::NoAdapter(message)) => {
                        Ok(screenshot::no_adapter(message))
                    }
                    Err(ScreenshotUnavailable::Refused(message)) => {
                        Err(format!("test.fault: {message}"))
                    }
                };
            }
        }
        Ok(ScriptValue::Nil)
    }

    /// Plays frames while `more` returns true and the test has time left.
    fn play(&mut self, more: impl Fn(u64, f64) -> bool) -> Result<u64, String> {
        let began = self.app.vm().engine().frame.total;
        let mut played = 0;
        loop {
            let frame = &self.app.vm().engine().frame;
            let has_ended = frame.quit.is_some() || frame.restart;
            if has_ended || !more(played, frame.total - began) {
                break;
            }
            self.app.frame(FRAME_SECONDS).map_err(|report| {
                let index = self.app.vm().engine().frame.index;
                format!("{}\n  in frame {index}", failure_of_report(&report))
            })?;
            self.pictures.take_packets(self.app.vm().engine());
            self.app.end_frame();
            played += 1;
            if self.remaining_seconds() == 0.0 {
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
        self.app.start().map_err(|report| failure_of_report(&report))
    }
}

/// Minimum CPU time of a step. The code that ends a test must not be stopped itself.
const STEP_SECONDS_MIN: f64 = 0.1;

/// Maximum number of frames of one request, in case a game's own time hardly advances.
const FRAMES_MAX: u64 = 10_000_000;

/// Returns a report as a test failure: location and message, then the stack, one line each.
fn failure_of_report(report: &ErrorReport) -> String {
    let location =
        report.location.as_ref().map(|location| format!("{}:{}: ", location.file, location.line));
    let mut message = format!("{}{}", location.unwrap_or_default(), report.message);
    for line in &report.contexts {
        message += &format!("\n  {line}");
    }
    for frame in report.coroutine.iter().chain(&report.frames) {
        if let Some(location) = &frame.location {
            message += &format!("\n  {}:{} in {}", location.file, location.line, frame.description);
        }
    }
    message
}
