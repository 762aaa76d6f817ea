//! Whole recordings, played again as `engine run --replay` does: a game that starts with what the
//! recording says, frames with what it gives them, and every comparison.

use super::files::reframed;
use super::game::{self, Stage, judge, renderer, standing};
use super::{Target, scratch};
use engine::app::earlier::Earlier;
use engine::app::given::Given;
use engine::app::record::{Origin, Recorder, Recording, Replay};
use engine::app::{App, HEADLESS_STEP};
use engine::system::input::{Event, KEYBOARD, What};
use engine::system::window::Change;
use std::fs;

pub fn targets() -> Vec<Target> {
    vec![Target::new("file.replay", 8 << 10, replay).slow()]
}

/// Frames of a recording that are played.
const FRAMES_MAX: usize = 8;

fn replay(bytes: &[u8]) {
    let path = scratch("replays").join("x.recording");
    fs::write(&path, reframed(bytes)).expect("a scratch file can be written");
    let Ok(recording) = Recording::read(&path) else { return };
    // Whether it differs, and how it ends, is told in words.
    let _ = play(Replay::new(recording));
}

/// Plays a recording again: the words of what differs.
fn play(mut replay: Replay) -> Result<(), String> {
    let origin = replay.recording.origin.clone();
    let mut opening = game::opening(&Stage::shared(), &origin.arguments);
    (opening.seed, opening.boot) = (origin.seed, Some(origin.boot.clone()));
    let mut app = App::open(opening).map_err(|error| error.to_string())?;
    let engine = app.vm().engine();
    engine.picture.is_shown = true;
    if origin.display {
        engine.window.listen();
    }
    engine.game_hash.want_places();
    replay.recording.earlier.give(engine);
    // Whoever forges a recording writes the right game into it.
    let _ = replay.recording.fits("game", "");
    app.begin(origin.given.clone());
    if let Err(report) = app.start() {
        let compared = replay.fail(false, &report);
        judge(Err::<(), _>(report));
        return compared.and_then(|()| replay.end());
    }
    let mut renderer = renderer();
    for _ in 0..FRAMES_MAX {
        let Some((measured, given)) = replay.frame() else { break };
        app.give(given);
        if let Err(report) = app.frame(measured) {
            let compared = replay.fail(true, &report);
            judge(Err::<(), _>(report));
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

/// Recordings of the game that stands there: of a run, and of one that fails.
pub fn recordings() -> Vec<Vec<u8>> {
    let mut failing = standing();
    failing[0] = "fail".to_string();
    [standing(), failing].into_iter().map(record).collect()
}

fn record(arguments: Vec<String>) -> Vec<u8> {
    let opening = game::opening(&Stage::shared(), &arguments);
    let seed = opening.seed;
    let mut app = App::open(opening).expect("the game opens");
    let engine = app.vm().engine();
    engine.picture.is_shown = true;
    engine.window.listen();
    engine.game_hash.want_places();
    let earlier = Earlier { saves: Default::default(), user_settings: Some(b"loud = 1".to_vec()) };
    earlier.give(engine);
    let given = Given { events: Vec::new(), changes: vec![Change::Opened] };
    let origin = Origin {
        game: "game".to_string(),
        game_version: String::new(),
        engine_version: env!("CARGO_PKG_VERSION").to_string(),
        content: engine.store.content_hash(),
        seed,
        boot: "main".to_string(),
        display: true,
        given: given.clone(),
        arguments,
    };
    let mut recorder = Recorder::new(origin, earlier);
    app.begin(given);
    if let Err(report) = app.start() {
        recorder.fail(None, &report);
    } else {
        let press = What::Button { button: 3, value: 1.0, repeat: false };
        for frame in 0..3 {
            let event = Event { device: KEYBOARD, age: 0.0, what: press.clone() };
            let events = if frame == 1 { vec![event] } else { Vec::new() };
            let given = Given { events, changes: vec![Change::Focus(frame != 2)] };
            app.give(given.clone());
            if let Err(report) = app.frame(HEADLESS_STEP) {
                recorder.fail(Some((HEADLESS_STEP, given)), &report);
                break;
            }
            let added = recorder.add(HEADLESS_STEP, given, app.vm().engine());
            added.expect("it has few frames");
            app.end_frame();
        }
    }
    // What is played again is the same run: the target compares, too.
    assert_eq!(play(Replay::new(recorder.recording.clone())), Ok(()));
    let path = scratch("seeds").join("x.recording");
    recorder.recording.write(&path).expect("a recording is written");
    fs::read(path).expect("it is there")
}
