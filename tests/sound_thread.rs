//! The audio thread's promise: mixing allocates nothing, frees nothing and takes no lock of ours.

#[path = "sound/game.rs"]
#[allow(dead_code)]
mod game;

use engine::system::sound::mixer::{self, Mixer};
use engine::system::sound::voices::Trigger;
use game::{FRAME, Game, number, offline, tone};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the thread that is watched allocates and frees.
struct Counting;

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    if WATCHED.get() {
        COUNT.set(COUNT.get() + 1);
    }
}

// SAFETY: hands everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RULES: &[u8] = b"play = \"tone\" loop = true
    curves = [{ parameter = \"f\", target = \"cutoff_hz\", points = [[0, 200], [1, 20000]] }]";

const MIXER: &str = "master = { effects = [{ compressor = {} }] }
    buses = { effects = { effects = [{ reverb = {} } { delay = {} } { filter = {} }] } }";

#[test]
fn mixing_allocates_and_frees_nothing_while_voices_come_change_and_go() {
    let files: &[(&str, &[u8])] =
        &[("s.sound", RULES), ("tone.wav", &tone(440.0, 0.3)), ("once.wav", &tone(880.0, 0.05))];
    let mut game = Game::new("allocations", files);
    let document = engine::foundation::sjson::parse(MIXER).unwrap();
    let mixer: Mixer = mixer::parse("m.mixer", document.root()).unwrap();
    let (mut sounds, world) = offline(mixer, 64);
    let mut samples = vec![0.0; game::FRAME_SAMPLES * 2];
    let mut voices = Vec::new();
    let mut loudest: f32 = 0.0;
    for frame in 0..120 {
        let parameters = [number("f", frame as f32 / 120.0)];
        let rules = Trigger { parameters: &parameters, ..Trigger::new("s", world) };
        voices.extend(sounds.trigger(&mut game.store, &rules).unwrap());
        sounds.trigger(&mut game.store, &Trigger::new("once", world)).unwrap();
        if frame % 3 == 0 {
            let voice = voices.remove(0);
            sounds.voices.stop(voice.0, Some(0.05));
        }
        if let Some(voice) = voices.first() {
            let state = sounds.voices.voice_mut(voice.0).unwrap();
            (state.pan, state.paused) = (frame as f32 / 120.0, frame % 2 == 0);
        }
        sounds.step(FRAME, frame);
        WATCHED.set(true);
        sounds.pull(&mut samples);
        WATCHED.set(false);
        loudest = samples.iter().fold(loudest, |most, sample| most.max(sample.abs()));
    }
    assert!(loudest > 0.3, "there was something to mix: {loudest}");
    assert_eq!(COUNT.get(), 0, "allocations and frees while mixing");
}

#[test]
fn the_watch_sees_what_it_should() {
    WATCHED.set(true);
    drop(std::hint::black_box(Box::new(1)));
    WATCHED.set(false);
    assert_eq!(COUNT.get(), 2);
}

#[test]
fn what_runs_on_the_way_of_samples_names_no_lock() {
    // The device's thread may note why a device is missing: nobody hears it then.
    let player = include_str!("../src/system/sound/player.rs");
    for word in ["Mutex", "RwLock", "Condvar", "mpsc", "println", "Vec<", "vec!"] {
        assert!(!player.contains(word), "player.rs names {word}");
    }
}
