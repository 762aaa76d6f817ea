//! Fuzz targets for serialized Lua values: the content of saves and the messages of workers. A game
//! reads them through a valid save and a valid queue.

use super::Target;
use super::game::{CompiledGame, can_continue, open};
use engine::app::{App, HEADLESS_STEP};
use engine::resource::save::{NewerVersions, SaveSlot, Saves};
use engine::system::render::Renderer;
use engine::system::workers::WorkerId;
use std::cell::RefCell;

pub fn targets() -> Vec<Target> {
    let game = RefCell::new(None);
    let run = move |bytes: &[u8]| play(&mut game.borrow_mut(), bytes);
    vec![Target::new("file.saved_value", 2 << 10, run).sharing_game().fast()]
}

fn arguments(way: &str) -> Vec<String> {
    vec!["serialized".to_string(), way.to_string()]
}

fn play(game: &mut Option<(App, Renderer)>, bytes: &[u8]) {
    let (mut app, renderer) = game.take().unwrap_or_else(|| {
        let (mut app, renderer) = open(&CompiledGame::shared(), &arguments("read"));
        // The worker exists from the first frame on.
        assert!(can_continue(app.frame(HEADLESS_STEP)), "the game plays");
        app.end_frame();
        (app, renderer)
    });
    let engine = app.vm().engine();
    let mut saves = Saves::in_memory(Default::default(), engine.game.settings.text("version"));
    let slot = SaveSlot::new("case").expect("a good name");
    saves.write(&slot, bytes, 1.0, NewerVersions::Any).expect("memory can be written to");
    engine.game.saves = saves;
    let workers: Vec<_> = engine.devices.workers.slots().iter().map(|(handle, _)| handle).collect();
    for worker in workers {
        // A worker that has ended accepts no messages.
        let _ = engine.devices.workers.send(WorkerId(worker), bytes.to_vec());
    }
    for _ in 0..3 {
        if !can_continue(app.frame(HEADLESS_STEP)) {
            return;
        }
        app.end_frame();
    }
    *game = Some((app, renderer));
}

/// Returns values of every type, as the engine serializes them.
pub fn values() -> Vec<Vec<u8>> {
    let (mut app, _) = open(&CompiledGame::shared(), &arguments("write"));
    assert!(can_continue(app.frame(HEADLESS_STEP)), "values are saved");
    let saves = &mut app.vm().engine().game.saves;
    let slots = saves.list().expect("memory can be read").into_iter().map(|listed| listed.slot);
    let slots: Vec<_> = slots.collect();
    let read = |slot: &SaveSlot| saves.read(slot, NewerVersions::Any, |_| Ok(()));
    slots.iter().map(read).map(|read| read.expect("it was written").content).collect()
}
