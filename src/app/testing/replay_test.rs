//! Recordings as tests: the run is replayed, and its result must be identical.

use super::hang_watchdog::HangWatchdog;
use super::result::{FileOutcome, TestFailure, TestResult, TestStatus};
use super::test_file::{OnTestResult, TestPlan, file_failure};
use super::{RunAborted, TestOptions};
use crate::recording::{Recording, Replay, changed_since};
use crate::{App, Game, GameLaunch, game_id};
use engine_foundation::{Error, log, panic};
use engine_script::ErrorReport;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// File extension of recordings.
pub const EXTENSION: &str = "recording";

/// Returns true if a path is that of a recording.
pub fn is_recording(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == EXTENSION)
}

/// Replays a recording and reports it as one test.
pub fn run(
    plan: &TestPlan,
    path: &str,
    on_test: OnTestResult,
) -> Result<(FileOutcome, Option<App>), RunAborted> {
    let began = Instant::now();
    let name = format!("{path} replays as it was recorded");
    let mut outcome = FileOutcome::default();
    if !is_selected(plan.options, &name) {
        return Ok((outcome, None));
    }
    let at = format!("{path}:1");
    if plan.options.list {
        outcome.listed.push((at, name));
        return Ok((outcome, None));
    }
    plan.watchdog.enter(path);
    log::forget_warnings();
    log::capture_errors();
    // A panic of the engine fails this file only.
    let replayed = catch_unwind(AssertUnwindSafe(|| replay(plan, path)));
    let logged = log::release_errors();
    let (app, problem) = match replayed {
        Ok(Ok((app, problem))) => (Some(app), problem),
        Ok(Err(error)) => (None, Some(error.to_string())),
        Err(_) => (None, Some(panic::take_panic())),
    };
    let logged = logged.iter().map(|message| format!("an error was logged: {message}"));
    let messages: Vec<String> = problem.into_iter().chain(logged).collect();
    let seconds = began.elapsed().as_secs_f64();
    let failed = !messages.is_empty();
    let failure = failed.then(|| TestFailure {
        name: name.clone(),
        is_error: false,
        ..file_failure(path, messages.join("\n"))
    });
    let status = if failed { TestStatus::Failed } else { TestStatus::Passed };
    let (groups, reason) = (Vec::new(), None);
    on_test(TestResult { status, name, groups, at, seconds, failure, reason });
    outcome.seconds = seconds;
    Ok((outcome, app))
}

/// Returns true if the options select a test of this name. A recording has no tags.
fn is_selected(options: &TestOptions, name: &str) -> bool {
    let fits = |patterns: &[String]| {
        // A malformed pattern is reported by the suites.
        patterns.iter().any(|pattern| engine_script::pattern_fits(name, pattern).unwrap_or(false))
    };
    options.tags.is_empty()
        && (options.filter.is_empty() || fits(&options.filter))
        && !fits(&options.filter_out)
        && (options.names.is_empty() || options.names.iter().any(|wanted| wanted == name))
}

/// Replays the run. Returns its engine, and a message if the replay differs.
fn replay(plan: &TestPlan, path: &str) -> Result<(App, Option<String>), Error> {
    let mut replay = Replay::new(Recording::read_in(plan.root, path)?);
    let origin = replay.recording.origin.clone();
    // The build mode is that of `engine run`, which made the recording.
    let launch = GameLaunch {
        arguments: origin.arguments.clone(),
        seed: origin.seed,
        boot: Some(origin.boot.clone()),
        store: Some(plan.store.clone()),
        variants: plan.options.variants.clone(),
        threads: plan.options.threads,
        ..GameLaunch::headless(Game::Folder(plan.root.to_path_buf()))
    };
    let mut app = App::open(launch.clone())?;
    let engine = app.vm().engine();
    let game = game_id(&engine.game.settings, &engine.game.project)?;
    let version = engine.game.settings.text("version").to_string();
    replay.recording.check_game(&game, &version)?;
    engine.frame.game_hash.record_locations();
    replay.recording.initial_saves.restore(&mut engine.game);
    if origin.display {
        engine.devices.window.listen();
    }
    app.begin(origin.input.clone());
    let engine = app.vm().engine();
    let content = engine.assets.store.content_hash();
    let problem = play(plan, &launch, &mut app, &mut replay).err().map(|message| {
        match content == origin.content {
            true => message,
            false => changed_since(&message),
        }
    });
    Ok((app, problem))
}

fn play(
    plan: &TestPlan,
    launch: &GameLaunch,
    app: &mut App,
    replay: &mut Replay,
) -> Result<(), String> {
    let watchdog = plan.watchdog;
    if let Err(report) = watchdog.call(|| app.start()) {
        return failed(replay, false, &report);
    }
    while let Some((measured, input)) = replay.frame() {
        let played = replay.played();
        if app.quit().is_some() {
            return Err(format!(
                "the game quit after {played} frames, and the recording has {}",
                replay.recording.frames.len()
            ));
        }
        app.add_input(input);
        if let Err(report) = watchdog.call(|| app.frame(measured)) {
            return failed(replay, true, &report);
        }
        app.end_frame();
        replay.check(app.vm().engine())?;
        if app.vm().engine().frame.restart
            && app.quit().is_none()
            && let Err(report) = restart(watchdog, launch, app)
        {
            return failed(replay, false, &report);
        }
    }
    replay.end()
}

/// Restarts the game, as the run did that made the recording.
fn restart(
    watchdog: &HangWatchdog,
    launch: &GameLaunch,
    app: &mut App,
) -> Result<(), Box<ErrorReport>> {
    watchdog.call(|| app.shutdown())?;
    let reopened = app.reopen(launch);
    *app = reopened.map_err(|error| Box::new(ErrorReport::from_message(error.to_string())))?;
    app.vm().engine().frame.game_hash.record_locations();
    watchdog.call(|| app.start())
}

/// Compares an error with the recorded one. Returns a message with the full report if they differ.
fn failed(replay: &mut Replay, started: bool, report: &ErrorReport) -> Result<(), String> {
    replay.fail(started, report).map_err(|message| format!("{message}\n{report}"))
}
