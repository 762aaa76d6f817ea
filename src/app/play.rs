//! Playing a game from its start to its end: the loop around the frame, and what is said at the
//! end.

use super::tape::Tape;
use super::{App, Game, Opening, crash, exit};
use crate::foundation::{fault, log};
use crate::script::Report;
use crate::system::platform;
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
    /// Write the run to this file, to be played again.
    pub record: Option<PathBuf>,
    /// Play this recording again, and compare.
    pub replay: Option<PathBuf>,
}

/// Plays a game: the process's exit code.
pub fn play(options: Options) -> i32 {
    let mut options = options;
    let mut tape = match Tape::open(&mut options) {
        Ok(tape) => tape,
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    };
    let opening = Opening {
        game: options.game.clone(),
        build: options.game.build(),
        arguments: options.arguments.clone(),
        seed: options.seed,
        deterministic: matches!(options.pace, Pace::Fixed(_))
            || options.record.is_some()
            || options.replay.is_some(),
        boot: options.boot.clone(),
        forget: false,
        sandbox: true,
        coverage: false,
        lines: false,
        store: None,
        watch: options.watch,
    };
    let mut app = match App::open(opening) {
        Ok(app) => app,
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    };
    if let Err(error) = tape.begin(&mut app, &options) {
        log::error(&error.to_string());
        return exit::FAILED;
    }
    // Until now nothing of the game ran: a signal has ended the process at once, also while it
    // compiled for seconds.
    platform::note_signals();
    crash::watch(app.vm());
    // A fault of the engine's own outside of a script's call ends here, as a report too.
    let played = catch_unwind(AssertUnwindSafe(|| run(&mut app, &options, &mut tape)));
    played.unwrap_or_else(|_| {
        let report = Report { engine_fault: true, ..Report::of_words(fault::take_panic()) };
        crash::tell(app.vm(), &report);
        exit::ENGINE
    })
}

fn run(app: &mut App, options: &Options, tape: &mut Tape) -> i32 {
    let played = play_frames(app, options, tape);
    let mut code =
        played.as_ref().map_or_else(|report| crash::tell(app.vm(), report), |()| exit::SUCCESS);
    // A game that failed is not called again; but one that was stopped because the process was
    // asked to end may have something to save.
    let stopped = played.is_err_and(|report| report.stopped && platform::asked_to_end().is_some());
    if (code == exit::SUCCESS || stopped)
        && let Err(report) = app.shutdown()
    {
        code = crash::tell(app.vm(), &report);
    }
    for (place, count) in log::counted_warnings() {
        log::warning(&format!("{place}: warned {count} times"));
    }
    if !tape.end(options) && code == exit::SUCCESS {
        code = exit::FAILED;
    }
    match code {
        exit::SUCCESS => app.quit().unwrap_or(exit::SUCCESS),
        failed => failed,
    }
}

fn play_frames(app: &mut App, options: &Options, tape: &mut Tape) -> Result<(), Box<Report>> {
    app.start()?;
    let mut last = Instant::now();
    let mut played = 0;
    while app.quit().is_none() && platform::asked_to_end().is_none() {
        if options.frames.is_some_and(|frames| played >= frames) {
            break;
        }
        let measured = match options.pace {
            Pace::Fixed(seconds) => seconds,
            Pace::RealTime => {
                let now = Instant::now();
                std::mem::replace(&mut last, now).elapsed().as_secs_f64()
            }
        };
        let Some(measured) = tape.measured(measured) else { break };
        app.frame(measured)?;
        played += 1;
        if !tape.frame(measured, app.vm().engine()) {
            break;
        }
        if options.pace == Pace::RealTime {
            wait_for_next_frame(app, last);
        }
    }
    Ok(())
}

/// Sleeps until the frame has lasted as long as the throttle wants, 1/60 s where there is none.
fn wait_for_next_frame(app: &mut App, began: Instant) {
    let seconds = app.vm().engine().time_step.frame_seconds_min().unwrap_or(HEADLESS_STEP);
    // In slices, so that a signal is heard.
    while platform::asked_to_end().is_none() {
        let left = Duration::from_secs_f64(seconds).saturating_sub(began.elapsed());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}
