//! A recording as a test: its run is played again, and must come out the same.

use super::file::{Plan, Tell, of_file};
use super::result::{Failure, Outcome, Status, TestResult};
use super::{Options, Stop};
use crate::app::record::{Recording, Replay, changed_since};
use crate::app::{App, Game, Opening, game_id};
use crate::engine::Build;
use crate::foundation::{Error, fault, log};
use crate::script::Report;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// How a recording's file ends.
pub const EXTENSION: &str = "recording";

/// Whether a file is a recording.
pub fn is_meant(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == EXTENSION)
}

/// Replays a recording, and tells it as one test.
pub fn run(plan: &Plan, path: &str, tell: Tell) -> Result<(Outcome, Option<App>), Stop> {
    let began = Instant::now();
    let name = format!("{path} replays as it was recorded");
    let mut outcome = Outcome::default();
    if !is_selected(plan.options, &name) {
        return Ok((outcome, None));
    }
    let at = format!("{path}:1");
    if plan.options.list {
        outcome.listed.push((at, name));
        return Ok((outcome, None));
    }
    plan.watched.enter(path);
    log::forget_warnings();
    log::hold_errors();
    // A fault of the engine's own: this file failed, the next may not.
    let replayed = catch_unwind(AssertUnwindSafe(|| replay(plan, path)));
    let logged = log::release_errors();
    let (app, problem) = match replayed {
        Ok(Ok((app, problem))) => (Some(app), problem),
        Ok(Err(error)) => (None, Some(error.to_string())),
        Err(_) => (None, Some(fault::take_panic())),
    };
    let logged = logged.iter().map(|words| format!("an error was logged: {words}"));
    let words: Vec<String> = problem.into_iter().chain(logged).collect();
    let seconds = began.elapsed().as_secs_f64();
    let failed = !words.is_empty();
    let failure = failed.then(|| Failure { name: name.clone(), ..of_file(path, words.join("\n")) });
    let status = if failed { Status::Failed } else { Status::Passed };
    tell(TestResult { status, name, groups: Vec::new(), at, seconds, failure });
    outcome.seconds = seconds;
    Ok((outcome, app))
}

/// Whether the options mean a test of this name. A recording has no tags.
fn is_selected(options: &Options, name: &str) -> bool {
    let fits = |patterns: &[String]| {
        // A malformed pattern is found by the suites' files, which say so.
        patterns.iter().any(|pattern| crate::script::pattern_fits(name, pattern).unwrap_or(false))
    };
    options.tags.is_empty()
        && (options.filter.is_empty() || fits(&options.filter))
        && !fits(&options.filter_out)
        && (options.names.is_empty() || options.names.iter().any(|wanted| wanted == name))
}

/// Plays the run again: the engine that it was played in, and what differs.
fn replay(plan: &Plan, path: &str) -> Result<(App, Option<String>), Error> {
    let mut replay = Replay::new(Recording::read_in(plan.root, path)?);
    let origin = replay.recording.origin.clone();
    let mut app = App::open(Opening {
        game: Game::Folder(plan.root.to_path_buf()),
        // As it was recorded: by `engine run`.
        build: Build::Development,
        arguments: origin.arguments.clone(),
        seed: origin.seed,
        deterministic: true,
        boot: Some(origin.boot.clone()),
        forget: true,
        sandbox: true,
        coverage: false,
        lines: false,
        store: Some(plan.store.clone()),
        watch: false,
        threads: plan.options.threads,
        sound: crate::system::sound::Destination::Null,
    })?;
    let engine = app.vm().engine();
    let game = game_id(&engine.settings, &engine.project)?;
    let version = engine.settings.text("version").to_string();
    replay.recording.fits(&game, &version)?;
    engine.game_hash.want_places();
    replay.recording.earlier.give(engine);
    if origin.display {
        engine.window.listen();
    }
    app.begin(origin.given.clone());
    let engine = app.vm().engine();
    let content = engine.store.content_hash();
    let problem =
        play(plan, &mut app, &mut replay).err().map(|words| match content == origin.content {
            true => words,
            false => changed_since(&words),
        });
    Ok((app, problem))
}

fn play(plan: &Plan, app: &mut App, replay: &mut Replay) -> Result<(), String> {
    let watched = plan.watched;
    if let Err(report) = watched.call(|| app.start()) {
        return failed(replay, false, &report);
    }
    while let Some((measured, given)) = replay.frame() {
        let played = replay.played();
        if app.quit().is_some() {
            return Err(format!(
                "the game quit after {played} frames, and the recording has {}",
                replay.recording.frames.len()
            ));
        }
        app.give(given);
        if let Err(report) = watched.call(|| app.frame(measured)) {
            return failed(replay, true, &report);
        }
        app.end_frame();
        replay.check(app.vm().engine())?;
    }
    replay.end()
}

/// Whether an error is the recording's own; the words have all of another one.
fn failed(replay: &mut Replay, started: bool, report: &Report) -> Result<(), String> {
    replay.fail(started, report).map_err(|words| format!("{words}\n{report}"))
}
