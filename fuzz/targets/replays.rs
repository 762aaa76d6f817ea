//! Fuzz target for whole recordings, replayed as by `engine run --replay`: a game that starts with
//! the recorded state, frames with the recorded input, and all comparisons.

use super::files::reframed;
use super::game::{self, CompiledGame, can_continue, renderer, scene_arguments};
use super::{Target, scratch};
use engine::app::frame_input::FrameInput;
use engine::app::recording::saved_state::InitialSaves;
use engine::app::recording::{Recorder, Recording, RecordingOrigin, Replay};
use engine::app::{App, HEADLESS_STEP};
use engine::system::input::{EventKind, InputEvent, KEYBOARD};
use engine::system::window::WindowChange;
use std::fs;

pub fn targets() -> Vec<Target> {
    vec![Target::new("file.replay", 8 << 10, replay).slow()]
}

/// Maximum number of frames of a recording that are played.
const FRAMES_MAX: usize = 8;

fn replay(bytes: &[u8]) {
    let path = scratch("replays").join("x.recording");
    fs::write(&path, reframed(bytes)).expect("a scratch file can be written");
    let Ok(recording) = Recording::read(&path) else { return };
    // A difference, and the end of the replay, are returned as a message.
    let _ = play(Replay::new(recording));
}

/// Replays a recording. Returns a message if the replay differs.
fn play(mut replay: Replay) -> Result<(), String> {
    let origin = replay.recording.origin.clone();
    let mut opening = game::opening(&CompiledGame::shared(), &origin.arguments);
    (opening.seed, opening.boot) = (origin.seed, Some(origin.boot.clone()));
    let mut app = App::open(opening).map_err(|error| error.to_string())?;
    let engine = app.vm().engine();
    engine.drawing.builder.is_shown = true;
    if origin.display {
        engine.devices.window.listen();
    }
    engine.frame.game_hash.record_locations();
    replay.recording.initial_saves.restore(&mut engine.game);
    // A forged recording would name the right game.
    let _ = replay.recording.check_game("game", "");
    app.begin(origin.input.clone());
    if let Err(report) = app.start() {
        let compared = replay.fail(false, &report);
        can_continue(Err::<(), _>(report));
        return compared.and_then(|()| replay.end());
    }
    let mut renderer = renderer();
    for _ in 0..FRAMES_MAX {
        let Some((measured, input)) = replay.frame() else { break };
        app.add_input(input);
        if let Err(report) = app.frame(measured) {
            let compared = replay.fail(true, &report);
            can_continue(Err::<(), _>(report));
            return compared.and_then(|()| replay.end());
        }
        replay.check(app.vm().engine())?;
        renderer.submit(app.vm().engine().take_packet(Default::default()));
        app.end_frame();
        if app.quit().is_some() {
            break;
        }
    }
    replay.end()
}

/// Returns recordings of the game from [`scene_arguments`]: of a normal run, and of one that fails.
pub fn recordings() -> Vec<Vec<u8>> {
    let mut failing = scene_arguments();
    failing[0] = "fail".to_string();
    [scene_arguments(), failing].into_iter().map(record).collect()
}

fn record(arguments: Vec<String>) -> Vec<u8> {
    let opening = game::opening(&CompiledGame::shared(), &arguments);
    let seed = opening.seed;
    let mut app = App::open(opening).expect("the game opens");
    let engine = app.vm().engine();
    engine.drawing.builder.is_shown = true;
    engine.devices.window.listen();
    engine.frame.game_hash.record_locations();
    let initial_saves =
        InitialSaves { saves: Default::default(), user_settings: Some(b"loud = 1".to_vec()) };
    initial_saves.restore(&mut engine.game);
    let input = FrameInput { events: Vec::new(), changes: vec![WindowChange::Opened] };
    let origin = RecordingOrigin {
        game: "game".to_string(),
        game_version: String::new(),
        engine_version: env!("CARGO_PKG_VERSION").to_string(),
        content: engine.assets.store.content_hash(),
        seed,
        boot: "main".to_string(),
        display: true,
        input: input.clone(),
        arguments,
    };
    let mut recorder = Recorder::new(origin, initial_saves);
    app.begin(input);
    if let Err(report) = app.start() {
        recorder.fail(None, &report);
    } else {
        let press = EventKind::Button { button: 3, value: 1.0, repeat: false };
        for frame in 0..3 {
            let event = InputEvent { device: KEYBOARD, age: 0.0, kind: press.clone() };
            let events = if frame == 1 { vec![event] } else { Vec::new() };
            let input = FrameInput { events, changes: vec![WindowChange::Focus(frame != 2)] };
            app.add_input(input.clone());
            if let Err(report) = app.frame(HEADLESS_STEP) {
                recorder.fail(Some((HEADLESS_STEP, input)), &report);
                break;
            }
            let added = recorder.add(HEADLESS_STEP, input, app.vm().engine());
            added.expect("it has few frames");
            app.end_frame();
        }
    }
    // The replay repeats the same run, because the target compares, too.
    assert_eq!(play(Replay::new(recorder.recording.clone())), Ok(()));
    let path = scratch("seeds").join("x.recording");
    recorder.recording.write(&path).expect("a recording is written");
    fs::read(path).expect("it is there")
}
