//! Playing a game from its start to its end: the loop around the frame, and what is said at the
//! end.

use super::confinement;
use super::given::Given;
use super::play_access::{check_outputs, plan};
use super::redraws::{News, Redraws};
use super::screen::{Screen, Show};
use super::tape::Tape;
use super::{App, Game, Measures, Opening, crash, exit, window_opening};
use crate::engine::Build;
use crate::foundation::log_file::LogFile;
use crate::foundation::{Error, fault, log, profile, terminal};
use crate::scope;
use crate::script::Report;
use crate::system::input::{Event, Phase, What};
use crate::system::platform;
use crate::system::render::is_left_behind;
use crate::system::sound::Destination;
use crate::system::window::Change;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The step of a headless frame, in seconds, where none is given.
pub const HEADLESS_STEP: f64 = 1.0 / 60.0;

/// How fast frames follow each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pace {
    /// As fast as it goes, every step the same: the run repeats exactly.
    Fixed(f64),
    /// As the clock has it.
    RealTime,
}

/// Whether tools may look into the game while it is played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LetIn {
    Always,
    /// Where it is played in a window.
    WithWindow,
    Never,
}

/// What to play, and how.
#[derive(Clone, Debug)]
pub struct Options {
    pub game: Game,
    pub pace: Pace,
    /// How many frames to play; until stopped if none is given.
    pub frames: Option<u64>,
    pub seed: u64,
    pub boot: Option<String>,
    pub arguments: Vec<String>,
    /// Take what changes in the folder while the game is played.
    pub watch: bool,
    /// How many threads work on a frame; as many as there are cores if none.
    pub threads: Option<usize>,
    /// Write the run to this file, to be played again.
    pub record: Option<PathBuf>,
    /// Play this recording again, and compare.
    pub replay: Option<PathBuf>,
    /// Where its sound goes.
    pub sound: Destination,
    /// How it is seen.
    pub show: Show,
    /// What it is measured for.
    pub measures: Measures,
    /// Whether tools may look into it; never into a bundle.
    pub tools: LetIn,
    /// Frames that are played where a window is wanted and there is no display; until stopped if
    /// none.
    pub frames_without_display: Option<u64>,
    /// Have the system confine the process, where it can.
    pub confined: bool,
}

/// Plays a game: the process's exit code.
pub fn play(options: Options) -> i32 {
    let mut options = options;
    options.measures.begin();
    let mut checked = check_outputs(&options);
    if options.confined && checked.is_ok() {
        plan(&options).begin();
        checked = confinement::check_outputs();
    }
    let opened = checked.and_then(|()| Tape::open(&mut options));
    let opened = opened.and_then(|tape| {
        let mut screen = open_screen(&mut options)?;
        // Libraries that open a window may start a program; nobody does after them.
        confinement::forbid_programs(false);
        let opening = opening(&options);
        let app = open_app(&opening, &mut screen)?;
        let (options, held) = (options.clone(), Given::default());
        Ok(Run { app, screen, tape, opening, options, broken: None, held })
    });
    let opened = opened.and_then(|mut run| {
        let Run { tape, app, options, .. } = &mut run;
        tape.begin(app, options)?;
        options.measures.begin_with(app.vm())?;
        run.let_tools_in().map(|()| run)
    });
    let mut run = match opened.map(|mut run| {
        keep_log(&mut run);
        run
    }) {
        Ok(run) => run,
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    };
    // Until now nothing of the game ran: a signal has ended the process at once, also while it
    // compiled for seconds.
    platform::note_signals();
    crash::watch(run.app.vm());
    // A fault of the engine's own outside of a script's call ends here, as a report too.
    let played = catch_unwind(AssertUnwindSafe(|| run.play_to_the_end()));
    run.app.vm().end_with_process();
    let code = played.unwrap_or_else(|_| {
        let report = Report { engine_fault: true, ..Report::of_words(fault::take_panic()) };
        crash::tell(run.app.vm(), &report);
        exit::ENGINE
    });
    let is_lost = run.screen.is_lost();
    let Run { app, screen, .. } = run;
    // What the game has saved is written.
    drop(app);
    match is_lost {
        // Taking its windows apart would ask the display that is gone.
        true => std::mem::forget(screen),
        false => drop(screen),
    }
    if is_lost || is_left_behind() {
        // All that the game has printed is out. What cannot be written now is lost anyway.
        let _ = terminal::lost();
        platform::end_now(code);
    }
    code
}

/// Has the log kept in files beside the game's saves, where somebody plays: frames that follow each
/// other as fast as they go are a test's or a tool's.
fn keep_log(run: &mut Run) {
    let engine = run.app.vm().engine();
    let files = engine.settings.number("log.files") as usize;
    let folder = engine.save_folder.as_ref().map(|folder| folder.join("logs"));
    let Some(folder) = folder.filter(|_| files > 0 && run.options.pace == Pace::RealTime) else {
        return;
    };
    match LogFile::open(&folder, files) {
        Ok(file) => {
            log::keep_in(Some(file));
            confinement::note();
        }
        Err(reason) => {
            log::warning(&format!("no log can be kept in {}: {reason}", folder.display()))
        }
    }
}

/// Opens the window, or what there is in its place.
fn open_screen(options: &mut Options) -> Result<Screen, Error> {
    // What is wrong with the folder is said before a window comes up.
    let (project, settings) = (options.game.project()?, options.game.settings()?);
    let window = window_opening(&settings, &project)?;
    let (mut screen, problem) = Screen::open(options.show.clone(), &window)?;
    let Some(problem) = problem else { return Ok(screen) };
    options.pace = match options.pace {
        Pace::Fixed(seconds) => Pace::Fixed(seconds),
        Pace::RealTime => Pace::Fixed(HEADLESS_STEP),
    };
    if matches!(options.sound, Destination::Device(_)) {
        // Frames that follow each other as fast as they go cannot be listened to.
        options.sound = Destination::Null;
    }
    let frames = options.frames.or(options.frames_without_display);
    options.frames = frames;
    let frames = frames.map_or("until stopped".to_string(), |frames| format!("{frames} frames"));
    crate::error_line!(
        "engine: there is no display ({}): playing {frames} without a window (--headless plays \
         until stopped)",
        problem.0
    );
    screen.leave_last_picture()?;
    Ok(screen)
}

fn opening(options: &Options) -> Opening {
    Opening {
        game: options.game.clone(),
        build: options.game.build(),
        arguments: options.arguments.clone(),
        seed: options.seed,
        deterministic: matches!(options.pace, Pace::Fixed(_))
            || options.record.is_some()
            || options.replay.is_some(),
        boot: options.boot.clone(),
        // A replay must not find the player's saves, nor write over them.
        forget: options.replay.is_some(),
        sandbox: true,
        coverage: false,
        lines: false,
        store: None,
        watch: options.watch,
        threads: options.threads,
        sound: options.sound.clone(),
    }
}

fn open_app(opening: &Opening, screen: &mut Screen) -> Result<App, Error> {
    let mut app = App::open(opening.clone())?;
    screen.introduce(app.vm().engine());
    Ok(app)
}

/// A game that is being played.
struct Run {
    app: App,
    screen: Screen,
    tape: Tape,
    opening: Opening,
    options: Options,
    /// What stopped the game, while its window waits for a file that is saved.
    broken: Option<Broken>,
    /// What came from outside while tools had the game stand.
    held: Given,
}

/// A game that an error stopped, in development.
struct Broken {
    report: Box<Report>,
    /// Whether it had begun to play; one that had not begins anew.
    started: bool,
    /// The pictures of the report.
    redraws: Redraws,
}

/// How long the window of a stopped game sleeps between two looks at what there is to do.
const BROKEN_SLEEP: Duration = Duration::from_millis(15);
/// The same where tools have it stand: they wait for answers.
const STILL_SLEEP: Duration = Duration::from_millis(3);
/// The most that is kept of what devices say meanwhile.
const HELD_MAX: usize = 1024;

impl Run {
    /// Lets tools in, where they are wanted.
    fn let_tools_in(&mut self) -> Result<(), Error> {
        let wanted = match self.options.tools {
            LetIn::Always => true,
            LetIn::WithWindow => self.screen.has_window(),
            LetIn::Never => false,
        };
        let folder = match &self.options.game {
            _ if !wanted => return Ok(()),
            Game::Folder(folder) => folder.clone(),
            Game::Bundle(_) if self.options.tools == LetIn::WithWindow => return Ok(()),
            Game::Bundle(_) => {
                let words = "a bundle is a release, into which no tools can look";
                return Err(crate::error!("{words}: run the game's folder"));
            }
        };
        // What is drawn while the game stands would be missing in a recording.
        let redraws = self.options.record.is_none() && self.options.replay.is_none();
        match self.app.let_tools_in(folder, redraws) {
            Ok(address) => crate::error_line!("engine: tools: {address}"),
            Err(error) if self.options.tools == LetIn::Always => return Err(error),
            Err(error) => log::warning(&error.message),
        }
        Ok(())
    }

    fn play_to_the_end(&mut self) -> i32 {
        let played = self.play_frames();
        let told = self.broken.is_some();
        let mut code = match &played {
            Ok(()) => exit::SUCCESS,
            // It was told when it happened.
            Err(_) if told => exit::FAILED,
            Err(report) => crash::tell(self.app.vm(), report),
        };
        // A game that failed is not called again; but one that was stopped because the process was
        // asked to end may have something to save.
        let stopped =
            played.is_err_and(|report| report.stopped && platform::asked_to_end().is_some());
        if (code == exit::SUCCESS || stopped)
            && let Err(report) = self.app.shutdown()
        {
            code = crash::tell(self.app.vm(), &report);
        }
        for (place, count) in log::counted_warnings() {
            log::warning(&format!("{place}: warned {count} times"));
        }
        if self.screen.is_lost() {
            log::error(
                "the display is gone: its server ended, or closed the connection; the game was \
                 ended as if its window had been closed",
            );
            code = code.max(exit::FAILED);
        }
        let seen = self.screen.end(self.app.vm().engine());
        let heard = self.app.vm().engine().sounds.finish();
        if let Err(error) = &heard {
            log::error(&error.to_string());
        }
        let measured = self.options.measures.end(self.app.vm());
        if code == exit::FAILED && self.tape.failed_as_recorded() {
            code = exit::SUCCESS;
        }
        let well = self.tape.end(&self.options) && seen && heard.is_ok() && measured;
        if !well && code == exit::SUCCESS {
            code = exit::FAILED;
        }
        self.app.end_tools();
        match code {
            exit::SUCCESS => self.app.quit().unwrap_or(exit::SUCCESS),
            failed => failed,
        }
    }

    fn play_frames(&mut self) -> Result<(), Box<Report>> {
        let given = self.screen.poll(self.app.vm().engine());
        self.app.begin(self.tape.first(given));
        if let Err(report) = self.app.start() {
            self.note_failure(None, &report);
            self.stumble(report, false)?;
        }
        let mut last = Instant::now();
        let mut played = 0;
        while self.app.quit().is_none()
            && (platform::asked_to_end().is_none() || self.screen.wants_last_picture())
        {
            if self.options.frames.is_some_and(|frames| played >= frames) {
                break;
            }
            if self.broken.is_none() && !self.app.stands_still() {
                profile::begin_frame();
            }
            let given = self.poll();
            if let Some(window) = self.app.lending() {
                self.lend(window);
            }
            if self.broken.is_some() {
                self.wait_for_a_file(given)?;
                last = Instant::now();
                continue;
            }
            if self.app.stands_still() {
                self.stand_still(given)?;
                last = Instant::now();
                continue;
            }
            let given = self.with_what_was_held(given);
            let measured = match self.options.pace {
                Pace::Fixed(seconds) => seconds,
                // Nothing was measured before the first frame, and a step of almost nothing would
                // be followed by short ones until it is smoothed out.
                Pace::RealTime if self.app.is_stepping() || played == 0 => HEADLESS_STEP,
                Pace::RealTime => {
                    let now = Instant::now();
                    (now - std::mem::replace(&mut last, now)).as_secs_f64()
                }
            };
            let began = Instant::now();
            let Some((measured, given)) = self.tape.measured(measured, given) else { break };
            self.app.give(given.clone());
            if let Err(report) = self.app.frame(measured) {
                self.note_failure(Some((measured, given)), &report);
                self.stumble(report, true)?;
                continue;
            }
            played += 1;
            let is_last = self.app.quit().is_some()
                || self.tape.is_last()
                || self.options.frames == Some(played)
                || platform::asked_to_end().is_some();
            let engine = self.app.vm().engine();
            self.screen.show(engine, is_last);
            self.screen.count();
            let goes_on = self.tape.frame(measured, given, engine);
            self.app.end_frame();
            self.options.measures.after_frame(played);
            if !goes_on {
                break;
            }
            if !is_last && let Err(report) = self.wait_for_next_frame(began) {
                self.note_failure(None, &report);
                self.stumble(report, true)?;
            }
        }
        Ok(())
    }

    /// Has the recording know of an error, but for that of a process which was asked to end.
    fn note_failure(&mut self, frame: Option<(f64, Given)>, report: &Report) {
        if !(report.stopped && platform::asked_to_end().is_some()) {
            self.tape.fail(frame, report, self.app.vm().engine());
        }
    }

    fn poll(&mut self) -> Given {
        scope!("poll");
        self.screen.poll(self.app.vm().engine())
    }

    /// What a frame gets, with what came while tools had the game stand, and with what they play.
    fn with_what_was_held(&mut self, given: Given) -> Given {
        let mut all = std::mem::take(&mut self.held);
        all.append(given);
        all.events.extend(self.app.take_tool_events());
        all
    }

    /// One look at what there is to do while tools have the game stand. What the player lets go of
    /// is not forgotten; what else is done with the devices has no game to go to.
    fn stand_still(&mut self, given: Given) -> Result<(), Box<Report>> {
        if given.changes.iter().any(|change| matches!(change, Change::Close | Change::Gone)) {
            self.app.go_on();
        }
        let stays = |event: &Event| match &event.what {
            What::Button { value, .. } => *value == 0.0,
            What::Touch { phase, .. } => matches!(phase, Phase::Ended | Phase::Cancelled),
            What::Axis { .. } | What::Motion { .. } => false,
            What::Text(_) | What::Compose { .. } => false,
            What::Label { .. } | What::Connected { .. } => true,
            What::Disconnected | What::Reset => true,
        };
        if given.changes.iter().any(shows_again) {
            self.app.vm().engine().begin_windows(&given.changes);
            self.app.ask_redraw();
        }
        let room = HELD_MAX.saturating_sub(self.held.events.len());
        let events = given.events.into_iter().filter(stays).take(room).collect();
        self.held.append(Given { events, changes: given.changes });
        self.screen.hear(self.app.vm().engine());
        self.app.answer_tools(false);
        if self.app.take_redraw() {
            if let Err(report) = self.app.draw_again() {
                return self.stumble(report, true);
            }
            self.screen.show(self.app.vm().engine(), false);
            profile::leave_out();
        }
        std::thread::sleep(STILL_SLEEP);
        Ok(())
    }

    /// Shows pictures in the window that a tool lends, or no longer.
    fn lend(&mut self, window: Option<u64>) {
        let outcome = match window {
            Some(window) => self.screen.attach(window).map(Some),
            None if self.screen.detach() => Ok(None),
            None => Err("no tool has lent its window".to_string()),
        };
        self.app.lent(outcome);
    }

    /// An unexpected error. In development, where a window is open, it is told and the game stops;
    /// otherwise it ends the run.
    fn stumble(&mut self, report: Box<Report>, started: bool) -> Result<(), Box<Report>> {
        let waits = self.screen.has_window()
            && self.options.watch
            && self.opening.build == Build::Development
            && platform::asked_to_end().is_none();
        if !waits {
            return Err(report);
        }
        crash::tell(self.app.vm(), &report);
        crate::error_line!("engine: save a file to try again; Escape, or closing the window, ends");
        self.app.vm().engine().show_error(&report.to_string());
        self.app.tell_tools(Some(report.to_string()));
        self.broken = Some(Broken { report, started, redraws: Redraws::default() });
        Ok(())
    }

    /// One look of a stopped game's window at what there is to do. Gives the error where the player
    /// has enough of it.
    fn wait_for_a_file(&mut self, given: Given) -> Result<(), Box<Report>> {
        let Some(broken) = &self.broken else { return Ok(()) };
        let ends = given.asks_to_end();
        let used = !given.events.is_empty();
        let changed = !given.changes.is_empty() | self.screen.take_exposed();
        let engine = self.app.vm().engine();
        engine.begin_windows(&given.changes);
        // What is let go of meanwhile must not be down when the game goes on.
        engine.input.begin_frame(given.events);
        if ends {
            return Err(broken.report.clone());
        }
        let started = broken.started;
        let tried = match started {
            true => self.app.swap_resources(),
            false if self.app.has_news() => self.begin_anew().map(|()| true),
            false => Ok(false),
        };
        match tried {
            Ok(true) => {
                self.broken = None;
                self.app.vm().engine().hide_error();
                self.app.tell_tools(None);
                crate::error_line!("engine: a file was saved: going on");
            }
            Ok(false) => {
                self.app.answer_tools(false);
                let is_last = platform::asked_to_end().is_some();
                let changed = changed | self.app.take_redraw() | is_last;
                self.show_report(News { changed, used }, is_last);
                std::thread::sleep(BROKEN_SLEEP);
            }
            Err(report) => self.stumble(report, started)?,
        }
        Ok(())
    }

    /// Shows the report of the error, where that is due: it stands still.
    fn show_report(&mut self, news: News, is_last: bool) {
        let now = platform::seconds_since_start();
        let due = self.broken.as_mut().is_some_and(|broken| broken.redraws.is_due(now, news));
        let engine = self.app.vm().engine();
        match due {
            true => self.screen.show(engine, is_last),
            false => self.screen.hear(engine),
        }
    }

    /// Opens the game again and starts it, in the window that is there.
    fn begin_anew(&mut self) -> Result<(), Box<Report>> {
        let in_words = |error: Error| Box::new(Report::of_words(error.to_string()));
        let mut app = open_app(&self.opening, &mut self.screen).map_err(in_words)?;
        std::mem::swap(&mut self.app.vm().engine().window, &mut app.vm().engine().window);
        app.inherit_tools(&mut self.app);
        self.app = app;
        self.options.measures.begin_with(self.app.vm()).map_err(in_words)?;
        crash::watch(self.app.vm());
        self.screen.start_renderer().map_err(in_words)?;
        self.app.start()
    }

    /// Sleeps until the frame has lasted as long as the throttle wants, or the display, or in the
    /// place of one a sixtieth of a second. Files that are saved meanwhile come into the game.
    fn wait_for_next_frame(&mut self, began: Instant) -> Result<(), Box<Report>> {
        let engine = self.app.vm().engine();
        let throttle = engine.time_step.frame_seconds_min();
        let display = match (self.screen.has_window(), self.options.pace) {
            (true, _) => self.screen.frame_seconds_min(engine),
            (false, Pace::RealTime) => Some(throttle.unwrap_or(HEADLESS_STEP)),
            (false, Pace::Fixed(_)) => return Ok(()),
        };
        let wanted = display.into_iter().chain(throttle).reduce(f64::max);
        let Some(seconds) = wanted else { return Ok(()) };
        // What was recorded came at the beginning of a frame.
        let is_taped = self.options.record.is_some() || self.options.replay.is_some();
        // In slices, so that a signal is heard. A game that ends waits for nothing.
        while platform::asked_to_end().is_none() && self.app.quit().is_none() {
            let left = Duration::from_secs_f64(seconds).saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            let slice = left.min(Duration::from_millis(50));
            match is_taped {
                true => std::thread::sleep(slice),
                false => self.app.wait_for_files(slice)?,
            }
        }
        // A file that came has had the game quit: the last frame was the last one after all.
        if self.app.quit().is_some() {
            self.screen.show(self.app.vm().engine(), true);
        }
        Ok(())
    }
}

/// Whether a window that changed so must be drawn again by a game that stands still.
fn shows_again(change: &Change) -> bool {
    match change {
        Change::Of(_, change) => shows_again(change),
        Change::Opened | Change::Resized { .. } | Change::Scale(_) => true,
        Change::Hidden(hidden) | Change::Minimized(hidden) => !hidden,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_that_stands_still_is_drawn_again_where_one_of_its_windows_is_seen_anew() {
        let of = |change| Change::Of(7, Box::new(change));
        for change in [Change::Opened, Change::Hidden(false), Change::Scale(2.0)] {
            assert!(shows_again(&change) && shows_again(&of(change.clone())), "{change:?}");
        }
        for change in [Change::Hidden(true), Change::Focus(true), Change::Close] {
            assert!(!shows_again(&change) && !shows_again(&of(change.clone())), "{change:?}");
        }
    }
}
