//! What a run does with a recording: nothing, writing one, or playing one again.

use super::given::Given;
use super::record::{Origin, Recorder, Recording, Replay, changed_since};
use super::{App, Options, game_id};
use crate::engine::Engine;
use crate::foundation::{Error, log};
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
        let game = game_id(&engine.settings, &engine.project);
        let game_version = engine.settings.text("version").to_string();
        match self {
            Tape::Replay(replay, _) => {
                if replay.recording.origin.display {
                    engine.window.listen();
                }
                engine.game_hash.want_places();
                replay.recording.fits(&game, &game_version)
            }
            Tape::Record(_) => Ok(()),
            Tape::None => {
                if options.record.is_some() {
                    *self = Tape::Record(Box::new(Recorder::new(Origin {
                        game,
                        game_version,
                        engine_version: env!("CARGO_PKG_VERSION").to_string(),
                        content: engine.store.content_hash(),
                        seed: options.seed,
                        boot,
                        display: engine.window.is_listening(),
                        given: Given::default(),
                        arguments: options.arguments.clone(),
                    })));
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
            Tape::Replay(replay, _) => {
                replay.frame().map(|frame| (frame.measured, frame.given.clone()))
            }
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
                *problem = replay.check(engine).err().map(|words| {
                    match engine.store.content_hash() == replay.recording.origin.content {
                        true => words,
                        false => changed_since(&words),
                    }
                });
                problem.is_none()
            }
        }
    }

    /// Writes or judges the recording; whether that went well.
    pub fn end(&self, options: &Options) -> bool {
        match (self, &options.record) {
            (Tape::Record(recorder), Some(path)) => write(&recorder.recording, path),
            (Tape::Replay(replay, problem), _) => {
                judge(&replay.recording, replay.played(), problem)
            }
            _ => true,
        }
    }
}

fn write(recording: &Recording, path: &Path) -> bool {
    match recording.write(path) {
        Ok(()) => {
            let (frames, path) = (recording.frames.len(), path.display());
            eprintln!("engine: recorded {frames} frames in {path}");
            true
        }
        Err(error) => {
            log::error(&error.message);
            false
        }
    }
}

fn judge(recording: &Recording, played: usize, problem: &Option<String>) -> bool {
    let all = recording.frames.len();
    match problem {
        Some(words) => log::error(words),
        None if played < all => {
            log::error(&format!("the replay ended after {played} frames, the recording has {all}"));
        }
        None => eprintln!("engine: replayed {all} frames, each as it was recorded"),
    }
    problem.is_none() && played == all
}
