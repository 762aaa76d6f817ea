//! What a run does with a recording: nothing, writing one, or playing one again.

use super::earlier::Earlier;
use super::given::Given;
use super::record::{Origin, Recorder, Recording, Replay, changed_since};
use super::{App, Options, game_id};
use crate::engine::{Engine, HASHED};
use crate::foundation::{Error, log};
use crate::script::Report;
use std::path::Path;

/// The recording of a run.
pub enum Tape {
    None,
    Record(Box<Recorder>),
    /// The recording, and what went wrong with it.
    Replay(Box<Replay>, Option<String>),
}

impl Tape {
    /// Opens what the options ask for. A replay takes seed, boot script and arguments from its
    /// file.
    pub fn open(options: &mut Options) -> Result<Tape, Error> {
        let Some(path) = &options.replay else { return Ok(Tape::None) };
        let recording = Recording::read(path)?;
        options.seed = recording.origin.seed;
        options.boot = Some(recording.origin.boot.clone());
        options.arguments = recording.origin.arguments.clone();
        Ok(Tape::Replay(Box::new(Replay::new(recording)), None))
    }

    /// Begins, once the game is open.
    pub fn begin(&mut self, app: &mut App, options: &Options) -> Result<(), Error> {
        let boot = app.boot.clone();
        let engine = app.vm().engine();
        let game = game_id(&engine.settings, &engine.project)?;
        let game_version = engine.settings.text("version").to_string();
        match self {
            Tape::Replay(replay, _) => {
                if replay.recording.origin.display {
                    engine.window.listen();
                }
                engine.game_hash.want_places();
                replay.recording.earlier.give(engine);
                replay.recording.fits(&game, &game_version)
            }
            Tape::Record(_) => Ok(()),
            Tape::None => {
                if options.record.is_some() {
                    let origin = Origin {
                        game,
                        game_version,
                        engine_version: env!("CARGO_PKG_VERSION").to_string(),
                        content: engine.store.content_hash(),
                        seed: options.seed,
                        boot,
                        display: engine.window.is_listening(),
                        given: Given::default(),
                        arguments: options.arguments.clone(),
                    };
                    *self = Tape::Record(Box::new(Recorder::new(origin, earlier(engine))));
                }
                Ok(())
            }
        }
    }

    /// What the game finds when it starts.
    pub fn first(&mut self, given: Given) -> Given {
        match self {
            Tape::None => given,
            Tape::Record(recorder) => {
                recorder.recording.origin.given = given.clone();
                given
            }
            Tape::Replay(replay, _) => replay.recording.origin.given.clone(),
        }
    }

    /// The seconds that the next frame is to take, and what it gets from outside; `None` where the
    /// recording has ended.
    pub fn measured(&self, measured: f64, given: Given) -> Option<(f64, Given)> {
        match self {
            Tape::Replay(replay, _) => replay.frame(),
            _ => Some((measured, given)),
        }
    }

    /// Notes or compares the frame that was just played; whether to go on.
    pub fn frame(&mut self, measured: f64, given: Given, engine: &mut Engine) -> bool {
        match self {
            Tape::None => true,
            Tape::Record(recorder) => match recorder.add(measured, given, engine) {
                Ok(()) => true,
                Err(error) => {
                    log::error(&error.message);
                    false
                }
            },
            Tape::Replay(replay, problem) => {
                *problem = told(replay.check(engine), replay, engine);
                problem.is_none()
            }
        }
    }

    /// Notes or compares the error that ends the run: in the frame that this went into, or when the
    /// game started.
    pub fn fail(&mut self, frame: Option<(f64, Given)>, report: &Report, engine: &Engine) {
        match self {
            Tape::None => {}
            Tape::Record(recorder) => recorder.fail(frame, report),
            Tape::Replay(replay, problem) => {
                *problem = told(replay.fail(frame.is_some(), report), replay, engine);
            }
        }
    }

    /// Whether the frame that is played now is the last one of a recording.
    pub fn is_last(&self) -> bool {
        matches!(self, Tape::Replay(replay, _) if replay.is_last())
    }

    /// Whether the game failed as it did when it was recorded.
    pub fn failed_as_recorded(&self) -> bool {
        matches!(self, Tape::Replay(replay, None) if replay.has_failed())
    }

    /// Writes or judges the recording; whether that went well.
    pub fn end(&self, options: &Options) -> bool {
        match (self, &options.record) {
            (Tape::Record(recorder), Some(path)) => write(&recorder.recording, path),
            (Tape::Replay(replay, problem), _) => judge(replay, problem),
            _ => true,
        }
    }
}

/// What a recording takes along of earlier runs; nothing, and a warning, where that cannot be.
fn earlier(engine: &mut Engine) -> Earlier {
    Earlier::of(engine).unwrap_or_else(|error| {
        log::warning(&format!(
            "{error}: the recording is without them, and its replay begins without any"
        ));
        Earlier::default()
    })
}

/// What is said of a comparison that failed.
fn told(compared: Result<(), String>, replay: &Replay, engine: &Engine) -> Option<String> {
    let same = engine.store.content_hash() == replay.recording.origin.content;
    compared.err().map(|words| if same { words } else { changed_since(&words) })
}

fn write(recording: &Recording, path: &Path) -> bool {
    match recording.write(path) {
        Ok(()) => {
            let (frames, path) = (recording.frames.len(), path.display());
            let and = if recording.failure.is_some() { " and the error after them" } else { "" };
            crate::error_line!("engine: recorded {frames} frames{and} in {path}");
            let mut notes = recording.frames.iter().flat_map(|frame| &frame.notes);
            if !notes.any(|note| usize::from(note.system) == HASHED) {
                crate::error_line!(
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

fn judge(replay: &Replay, problem: &Option<String>) -> bool {
    let (played, all) = (replay.played(), replay.recording.frames.len());
    let end = replay.end();
    match (problem, &end) {
        (Some(words), _) => log::error(words),
        _ if played < all => {
            log::error(&format!("the replay ended after {played} frames, the recording has {all}"));
        }
        (None, Err(words)) => log::error(words),
        (None, Ok(())) => {
            let and = if replay.has_failed() { ", and then the same error" } else { "" };
            crate::error_line!("engine: replayed {all} frames, each as it was recorded{and}");
        }
    }
    problem.is_none() && played == all && end.is_ok()
}
