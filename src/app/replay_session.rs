//! The session of a recording: a run records nothing, writes a recording, or replays one.

use super::frame_input::FrameInput;
use super::recording::saved_state::InitialSaves;
use super::recording::{Recorder, Recording, RecordingOrigin, Replay, changed_since};
use super::{App, RunOptions, game_id};
use engine_foundation::{Error, log};
use engine_resource::store::ResourceStore;
use engine_runtime::{Engine, HashedSystem, OpenedGame};
use engine_script::ErrorReport;
use std::path::Path;

/// The use of a recording in a run.
pub enum ReplaySession {
    None,
    Record(Box<Recorder>),
    /// The recording to replay, and the message of the first difference.
    Replay(Box<Replay>, Option<String>),
}

impl ReplaySession {
    /// Opens the recording to replay, if the options name one. A replay takes seed, boot script and
    /// arguments from its file.
    pub fn open(options: &mut RunOptions) -> Result<ReplaySession, Error> {
        let Some(path) = &options.replay else { return Ok(ReplaySession::None) };
        let recording = Recording::read(path)?;
        options.seed = recording.origin.seed;
        options.boot = Some(recording.origin.boot.clone());
        options.arguments = recording.origin.arguments.clone();
        Ok(ReplaySession::Replay(Box::new(Replay::new(recording)), None))
    }

    /// Starts recording or replaying, once the game is open.
    pub fn begin(&mut self, app: &mut App, options: &RunOptions) -> Result<(), Error> {
        let boot = app.boot.clone();
        let engine = app.vm().engine();
        let game = game_id(&engine.game.settings, &engine.game.project)?;
        let game_version = engine.game.settings.text("version").to_string();
        match self {
            ReplaySession::Replay(replay, _) => {
                if replay.recording.origin.display {
                    engine.devices.window.listen();
                }
                engine.frame.game_hash.record_locations();
                replay.recording.initial_saves.restore(&mut engine.game);
                replay.recording.check_game(&game, &game_version)
            }
            ReplaySession::Record(_) => Ok(()),
            ReplaySession::None => {
                if options.record.is_some() {
                    let origin = RecordingOrigin {
                        game,
                        game_version,
                        engine_version: env!("CARGO_PKG_VERSION").to_string(),
                        content: engine.assets.store.content_hash(),
                        seed: options.seed,
                        boot,
                        display: engine.devices.window.is_listening(),
                        input: FrameInput::default(),
                        arguments: options.arguments.clone(),
                    };
                    *self = ReplaySession::Record(Box::new(Recorder::new(
                        origin,
                        read_initial_saves(&mut engine.game),
                    )));
                }
                Ok(())
            }
        }
    }

    /// Continues recording or replaying with the engine of a restarted game.
    pub fn continue_in(&mut self, engine: &mut Engine) {
        if let ReplaySession::Replay(..) = self {
            engine.frame.game_hash.record_locations();
        }
    }

    /// Returns the input that the game starts with.
    pub fn initial_input(&mut self, input: FrameInput) -> FrameInput {
        match self {
            ReplaySession::None => input,
            ReplaySession::Record(recorder) => {
                recorder.recording.origin.input = input.clone();
                input
            }
            ReplaySession::Replay(replay, _) => replay.recording.origin.input.clone(),
        }
    }

    /// Returns the seconds and the input of the next frame, or `None` at the end of a replayed
    /// recording.
    pub fn next_frame(&self, measured: f64, input: FrameInput) -> Option<(f64, FrameInput)> {
        match self {
            ReplaySession::Replay(replay, _) => replay.frame(),
            _ => Some((measured, input)),
        }
    }

    /// Records or compares the frame that was just played. Returns true if the run can continue.
    pub fn frame(&mut self, measured: f64, input: FrameInput, engine: &mut Engine) -> bool {
        match self {
            ReplaySession::None => true,
            ReplaySession::Record(recorder) => match recorder.add(measured, input, engine) {
                Ok(()) => true,
                Err(error) => {
                    log::error(&error.message);
                    false
                }
            },
            ReplaySession::Replay(replay, problem) => {
                *problem = difference_message(replay.check(engine), replay, &engine.assets.store);
                problem.is_none()
            }
        }
    }

    /// Records or compares the error that ends the run. `frame` holds the duration and the input of
    /// the failed frame, or is `None` if the game failed at its start.
    pub fn fail(
        &mut self,
        frame: Option<(f64, FrameInput)>,
        report: &ErrorReport,
        store: &ResourceStore,
    ) {
        match self {
            ReplaySession::None => {}
            ReplaySession::Record(recorder) => recorder.fail(frame, report),
            ReplaySession::Replay(replay, problem) => {
                *problem = difference_message(replay.fail(frame.is_some(), report), replay, store);
            }
        }
    }

    /// Returns true if the current frame is the last one of a replayed recording.
    pub fn is_last(&self) -> bool {
        matches!(self, ReplaySession::Replay(replay, _) if replay.is_last())
    }

    /// Returns true if the game failed with the same error as in the recording.
    pub fn failed_as_recorded(&self) -> bool {
        matches!(self, ReplaySession::Replay(replay, None) if replay.has_failed())
    }

    /// Writes the recording, or reports the result of the replay. Returns true on success.
    pub fn end(&self, options: &RunOptions) -> bool {
        match (self, &options.record) {
            (ReplaySession::Record(recorder), Some(path)) => write(&recorder.recording, path),
            (ReplaySession::Replay(replay, problem), _) => report_result(replay, problem),
            _ => true,
        }
    }
}

/// Returns the saves of earlier runs that a recording includes. If they cannot be read, warns and
/// returns none.
fn read_initial_saves(game: &mut OpenedGame) -> InitialSaves {
    InitialSaves::of(game).unwrap_or_else(|error| {
        log::warning(&format!(
            "{error}: the recording is without them, and its replay begins without any"
        ));
        InitialSaves::default()
    })
}

/// Returns the message of a failed comparison.
fn difference_message(
    compared: Result<(), String>,
    replay: &Replay,
    store: &ResourceStore,
) -> Option<String> {
    let same = store.content_hash() == replay.recording.origin.content;
    compared.err().map(|message| if same { message } else { changed_since(&message) })
}

fn write(recording: &Recording, path: &Path) -> bool {
    match recording.write(path) {
        Ok(()) => {
            let (frames, path) = (recording.frames.len(), path.display());
            let and = if recording.failure.is_some() { " and the error after them" } else { "" };
            engine_foundation::error_line!("engine: recorded {frames} frames{and} in {path}");
            let mut changes = recording.frames.iter().flat_map(|frame| &frame.changes);
            if !changes.any(|change| change.system == HashedSystem::Game as u8) {
                engine_foundation::error_line!(
                    "engine: a replay compares nothing of what scripts hold: have them pass what \
                     matters to Application.hash in each frame"
                );
            }
            true
        }
        Err(error) => {
            log::error(&error.message);
            false
        }
    }
}

fn report_result(replay: &Replay, problem: &Option<String>) -> bool {
    let (played, all) = (replay.played(), replay.recording.frames.len());
    let end = replay.end();
    match (problem, &end) {
        (Some(message), _) => log::error(message),
        _ if played < all => {
            log::error(&format!("the replay ended after {played} frames, the recording has {all}"));
        }
        (None, Err(message)) => log::error(message),
        (None, Ok(())) => {
            let and = if replay.has_failed() { ", and then the same error" } else { "" };
            engine_foundation::error_line!(
                "engine: replayed {all} frames, each as it was recorded{and}"
            );
        }
    }
    problem.is_none() && played == all && end.is_ok()
}
