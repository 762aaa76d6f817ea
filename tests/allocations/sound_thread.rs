//! Tests of the audio thread's guarantee: mixing allocates nothing, frees nothing and takes no lock
//! that the game's thread can hold.

#[path = "../sound/game.rs"]
#[allow(dead_code)]
mod game;

use super::allocator::{Calls, calls, watch};
use engine::system::sound::SoundSystem;
use engine::system::sound::device::{
    BATCH_FRAMES, DeviceHealth, DeviceSetup, SAMPLE_RATE, SampleSink,
};
use engine::system::sound::mixer::{self, MixerData};
use engine::system::sound::voices::TriggerDesc;
use game::{FRAME, Game, number, offline_system, sound_system, tone};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const RULES: &[u8] = b"play = \"tone\" loop = true
    curves = [{ parameter = \"f\", target = \"cutoff_hz\", points = [[0, 200], [1, 20000]] }]";

const MIXER: &str = "master = { effects = [{ compressor = {} }] }
    buses = { effects = { effects = [{ reverb = {} } { delay = {} } { filter = {} }] } }";

fn effects() -> MixerData {
    let document = engine::foundation::sjson::parse(MIXER).unwrap();
    mixer::parse("m.mixer", document.root()).unwrap()
}

/// Creates a folder with a loop that has a filter, a sound file that ends, and one that is decoded
/// while it plays.
fn folder(name: &str) -> Game {
    let files: &[(&str, &[u8])] = &[
        ("s.sound", RULES),
        ("tone.wav", &tone(440.0, 0.3)),
        ("once.wav", &tone(880.0, 0.05)),
        ("music.sound", b"play = \"long\" stream = true"),
        ("long.wav", &tone(220.0, 2.0)),
    ];
    Game::new(name, files)
}

/// Plays a frame in which voices start, change and end.
fn play(game: &mut Game, sounds: &mut SoundSystem, world: engine::foundation::Handle, frame: u64) {
    let parameters = [number("f", (frame % 120) as f32 / 120.0)];
    let rules = TriggerDesc { parameters: &parameters, ..TriggerDesc::new("s", world) };
    sounds.trigger(&mut game.store, &rules).unwrap();
    sounds.trigger(&mut game.store, &TriggerDesc::new("once", world)).unwrap();
    let first = sounds.voices.active.first().copied();
    let first = first.and_then(|index| sounds.voices.voices[index as usize].as_ref());
    if let Some(handle) = first.map(|voice| voice.handle) {
        match frame % 3 {
            0 => {
                sounds.voices.stop(handle, Some(0.05));
            }
            _ => {
                let state = sounds.voices.voice_mut(handle).unwrap();
                (state.pan, state.paused) = ((frame % 9) as f32 / 9.0, frame.is_multiple_of(2));
            }
        }
    }
    sounds.step(FRAME, frame);
}

#[test]
fn mixing_changing_voices_does_not_allocate() {
    let mut game = folder("allocations");
    let (mut sounds, world) = offline_system(effects(), 64);
    let mut samples = vec![0.0; game::FRAME_SAMPLES * 2];
    let mut loudest: f32 = 0.0;
    for frame in 0..120 {
        play(&mut game, &mut sounds, world, frame);
        watch(true);
        sounds.pull(&mut samples);
        watch(false);
        loudest = samples.iter().fold(loudest, |most, sample| most.max(sample.abs()));
    }
    assert!(loudest > 0.3, "there was something to mix: {loudest}");
    assert_eq!(calls(), Calls::default(), "allocations and frees while mixing");
}

#[test]
fn watch_counts_allocations_and_frees() {
    watch(true);
    drop(std::hint::black_box(Box::new(1)));
    watch(false);
    assert_eq!(calls(), Calls { allocations: 1, frees: 1 });
}

/// A device that notes the number of received batches, if any of them was loud, and the allocations
/// and frees of its thread since the first batch.
#[derive(Clone, Default)]
struct WatchedDevice {
    batches: Arc<AtomicU64>,
    loud: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
}

impl SampleSink for WatchedDevice {
    fn write(&mut self, samples: &[f32]) -> Result<(), String> {
        watch(true);
        let Calls { allocations, frees } = calls();
        self.calls.store(allocations + frees, Ordering::Relaxed);
        if samples.iter().any(|sample| sample.abs() > 0.3) {
            self.loud.store(true, Ordering::Relaxed);
        }
        self.batches.fetch_add(1, Ordering::Release);
        // The duration of a real device.
        let seconds = BATCH_FRAMES as f64 / f64::from(SAMPLE_RATE);
        std::thread::sleep(Duration::from_secs_f64(seconds));
        Ok(())
    }
}

impl WatchedDevice {
    fn setup(&self) -> DeviceSetup {
        let device = self.clone();
        DeviceSetup::Live(Box::new(move || Ok(Box::new(device.clone()))))
    }

    fn batches(&self) -> u64 {
        self.batches.load(Ordering::Acquire)
    }
}

#[test]
fn audio_thread_does_not_allocate() {
    let mut game = folder("live");
    let device = WatchedDevice::default();
    let (mut sounds, world) = sound_system(effects(), 64, Some(device.setup()));
    let began = Instant::now();
    let mut frame = 0;
    // Two seconds of batches, and a mixer that is replaced in the middle.
    while device.batches() < 375 {
        assert!(began.elapsed() < Duration::from_secs(60), "{} batches", device.batches());
        if frame % 40 == 0 {
            sounds.trigger(&mut game.store, &TriggerDesc::new("music", world)).unwrap();
        }
        if frame == 30 {
            sounds.exchange_mixer(effects());
        }
        play(&mut game, &mut sounds, world, frame);
        frame += 1;
        std::thread::sleep(Duration::from_millis(8));
    }
    assert_eq!(sounds.health(), Some(DeviceHealth::Playing));
    assert!(device.loud.load(Ordering::Relaxed), "there was something to mix");
    assert_eq!(device.calls.load(Ordering::Relaxed), 0, "allocations and frees");
}

/// The game's thread is stopped at any point, with all locks that it holds there, and the device
/// still receives its samples.
#[cfg(unix)]
#[test]
fn mixing_continues_while_game_thread_is_blocked() {
    static IS_BLOCKED: AtomicBool = AtomicBool::new(false);
    static HAS_BLOCKED: AtomicBool = AtomicBool::new(false);

    extern "C" fn block_thread(_: libc::c_int) {
        HAS_BLOCKED.store(true, Ordering::SeqCst);
        while IS_BLOCKED.load(Ordering::SeqCst) {
            // SAFETY: `usleep` is allowed in a signal handler.
            unsafe { libc::usleep(200) };
        }
        HAS_BLOCKED.store(false, Ordering::SeqCst);
    }

    let until = |condition: &str, so: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !so() {
            assert!(began.elapsed() < Duration::from_secs(60), "{condition}");
            std::thread::sleep(Duration::from_micros(200));
        }
    };
    let device = WatchedDevice::default();
    let (setup, done) = (device.setup(), Arc::new(AtomicBool::new(false)));
    let ended = done.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let playing = std::thread::spawn(move || {
        // SAFETY: queries this thread's own id.
        sender.send(unsafe { libc::pthread_self() } as usize).unwrap();
        let mut game = folder("held");
        let (mut sounds, world) = sound_system(effects(), 64, Some(setup));
        let mut frame = 0;
        while !ended.load(Ordering::Relaxed) {
            if frame % 50 == 0 {
                sounds.exchange_mixer(effects());
                sounds.trigger(&mut game.store, &TriggerDesc::new("music", world)).unwrap();
            }
            play(&mut game, &mut sounds, world, frame);
            sounds.health();
            frame += 1;
        }
    });
    let thread = receiver.recv().unwrap();
    until("it plays", &|| device.batches() > 3 && device.loud.load(Ordering::Relaxed));
    // SAFETY: the handler only waits, and the thread lives until it is joined.
    unsafe { libc::signal(libc::SIGUSR2, block_thread as *const () as libc::sighandler_t) };
    for round in 0..150u64 {
        std::thread::sleep(Duration::from_micros(round * 37 % 1900));
        IS_BLOCKED.store(true, Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGUSR2) };
        until("it is stopped", &|| HAS_BLOCKED.load(Ordering::SeqCst));
        let before = device.batches();
        until("mixing goes on", &|| device.batches() >= before + 3);
        IS_BLOCKED.store(false, Ordering::SeqCst);
        until("it goes on", &|| !HAS_BLOCKED.load(Ordering::SeqCst));
    }
    done.store(true, Ordering::Relaxed);
    playing.join().unwrap();
}

#[test]
fn mixing_code_uses_no_locks() {
    // The device's thread may log why a device is missing, because nothing is audible then.
    let player = include_str!("../../src/system/sound/clip_player.rs");
    for word in ["Mutex", "RwLock", "Condvar", "mpsc", "println", "Vec<", "vec!"] {
        assert!(!player.contains(word), "clip_player.rs names {word}");
    }
}
