//! Playing a game from its start to its end: the loop around the frame, and what is said at the
//! end.

use super::{App, Opening, crash, exit};
use crate::engine::Build;
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
    pub folder: PathBuf,
    pub pace: Pace,
    /// How many frames to play; until stopped if none is given.
    pub frames: Option<u64>,
    pub seed: u64,
    pub boot: Option<String>,
    pub arguments: Vec<String>,
    /// Take what changes in the folder while the game is played.
    pub watch: bool,
}

/// Plays a game: the process's exit code.
pub fn play(options: Options) -> i32 {
    platform::note_signals();
    let opening = Opening {
        folder: &options.folder,
        build: Build::Development,
        arguments: options.arguments.clone(),
        seed: options.seed,
        deterministic: matches!(options.pace, Pace::Fixed(_)),
        boot: options.boot.clone(),
        forget: false,
        sandbox: true,
        coverage: false,
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
    crash::watch(app.vm());
    // A fault of the engine's own outside of a script's call ends here, as a report too.
    let played = catch_unwind(AssertUnwindSafe(|| run(&mut app, &options)));
    played.unwrap_or_else(|_| {
        let report = Report::of_words(fault::take_panic());
        crash::tell(app.vm(), &report);
        exit::ENGINE
    })
}

fn run(app: &mut App, options: &Options) -> i32 {
    let played = play_frames(app, options);
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
        log::warn("", &format!("{place}: warned {count} times"));
    }
    match code {
        exit::SUCCESS => app.quit().unwrap_or(exit::SUCCESS),
        failed => failed,
    }
}

fn play_frames(app: &mut App, options: &Options) -> Result<(), Box<Report>> {
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
        app.frame(measured)?;
        played += 1;
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
