//! Tests of live devices that are missing, lost and recovered, and of recordings that are decoded
//! while they play.

use super::game::{FRAME, Game, play, sound_system, tone};
use engine::foundation::log;
use engine::system::sound::SoundSystem;
use engine::system::sound::decoder::STREAMS_MAX;
use engine::system::sound::device::{
    BATCH_FRAMES, DeviceHealth, DeviceSetup, SAMPLE_RATE, SampleSink,
};
use engine::system::sound::mixer::MixerData;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A fake device that can be plugged and unplugged, and keeps its samples.
#[derive(Clone, Default)]
struct FakeDevice {
    plugged: Arc<AtomicBool>,
    opened: Arc<AtomicU32>,
    heard: Arc<Mutex<Vec<f32>>>,
}

impl SampleSink for FakeDevice {
    fn write(&mut self, samples: &[f32]) -> Result<(), String> {
        if !self.plugged.load(Ordering::Relaxed) {
            return Err("the plug was pulled".to_string());
        }
        self.heard.lock().unwrap().extend(samples);
        // The duration of a real device.
        let seconds = BATCH_FRAMES as f64 / f64::from(SAMPLE_RATE);
        std::thread::sleep(Duration::from_secs_f64(seconds));
        Ok(())
    }
}

impl FakeDevice {
    fn setup(&self) -> DeviceSetup {
        let fake = self.clone();
        DeviceSetup::Live(Box::new(move || {
            if !fake.plugged.load(Ordering::Relaxed) {
                return Err("no device".to_string());
            }
            fake.opened.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(fake.clone()))
        }))
    }
}

/// Plays frames in real time until a condition holds. Frames never take long.
fn play_until(sounds: &mut SoundSystem, condition: &str, holds: impl Fn(&SoundSystem) -> bool) {
    let began = Instant::now();
    while !holds(sounds) {
        assert!(began.elapsed() < Duration::from_secs(60), "{condition}");
        sounds.step(FRAME, 1);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn game_continues_while_device_is_lost_and_recovered() {
    let mut game = Game::new("plug", &[("t.wav", &tone(440.0, 0.2))]);
    let fake = FakeDevice::default();
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, Some(fake.setup()));
    play_until(&mut sounds, "it is missing", |sounds| {
        sounds.health() == Some(DeviceHealth::Missing)
    });
    let voice = play(&mut game, &mut sounds, world, "t");
    play_until(&mut sounds, "what plays ends all the same", |s| s.voices.voice(voice).is_none());
    fake.plugged.store(true, Ordering::Relaxed);
    play_until(&mut sounds, "it is there", |sounds| sounds.health() == Some(DeviceHealth::Playing));
    play(&mut game, &mut sounds, world, "t");
    let heard = fake.heard.clone();
    let loud = move |_: &SoundSystem| heard.lock().unwrap().iter().any(|sample| *sample > 0.4);
    play_until(&mut sounds, "it is heard", loud);
    fake.plugged.store(false, Ordering::Relaxed);
    play_until(&mut sounds, "it was lost", |sounds| sounds.health() == Some(DeviceHealth::Missing));
    fake.plugged.store(true, Ordering::Relaxed);
    play_until(&mut sounds, "it is back", |sounds| sounds.health() == Some(DeviceHealth::Playing));
    assert_eq!(fake.opened.load(Ordering::Relaxed), 2);
}

#[test]
fn long_clip_is_streamed_and_can_start_anywhere() {
    let rules = b"play = \"long\" stream = true loop = { start_seconds = 1 }";
    let files: &[(&str, &[u8])] = &[("s.sound", rules), ("long.wav", &tone(440.0, 12.0))];
    let mut game = Game::new("stream", files);
    let fake = FakeDevice::default();
    fake.plugged.store(true, Ordering::Relaxed);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, Some(fake.setup()));
    let voice = play(&mut game, &mut sounds, world, "s");
    let heard = fake.heard.clone();
    let loud = move |_: &SoundSystem| heard.lock().unwrap().iter().any(|sample| *sample > 0.4);
    play_until(&mut sounds, "it is heard", loud);
    // Not mixed for a while, and then continued at its position.
    sounds.voices.voice_mut(voice).unwrap().volume.start(0.0, 0.0);
    (0..3).for_each(|_| sounds.step(FRAME, 1));
    sounds.voices.voice_mut(voice).unwrap().volume.start(1.0, 0.0);
    fake.heard.lock().unwrap().clear();
    let heard = fake.heard.clone();
    let loud = move |_: &SoundSystem| heard.lock().unwrap().iter().any(|sample| *sample > 0.4);
    play_until(&mut sounds, "it is heard again", loud);
}

#[test]
fn streamed_loops_repeat_without_a_gap() {
    for (name, bytes) in
        [("t.ogg", &include_bytes!("tone.ogg")[..]), ("t.flac", include_bytes!("tone.flac"))]
    {
        let files: &[(&str, &[u8])] =
            &[("s.sound", b"play = \"t\" stream = true loop = true"), (name, bytes)];
        let mut game = Game::new(&format!("stream-{name}"), files);
        let fake = FakeDevice::default();
        fake.plugged.store(true, Ordering::Relaxed);
        let (mut sounds, world) = sound_system(MixerData::standard(), 8, Some(fake.setup()));
        play(&mut game, &mut sounds, world, "s");
        // The tone takes half a second.
        let heard = fake.heard.clone();
        let count = move |_: &SoundSystem| {
            let heard = heard.lock().unwrap();
            let first = heard.iter().position(|sample| sample.abs() > 0.4);
            first.is_some_and(|first| heard.len() > first + 3 * 48_000)
        };
        play_until(&mut sounds, "three turns are heard", count);
        let heard: Vec<f32> = fake.heard.lock().unwrap().iter().step_by(2).copied().collect();
        let first = heard.iter().position(|sample| sample.abs() > 0.4).unwrap();
        // A wave of 440 Hz has 109 samples, and passes zero within a few of them.
        let is_gap = |window: &[f32]| window.iter().all(|sample| sample.abs() < 0.05);
        let gap = heard[first..].windows(16).position(is_gap);
        assert_eq!(gap, None, "{name}");
    }
}

#[test]
fn stream_limit_is_reported() {
    let rules = b"play = \"long\" stream = true loop = true";
    let files: &[(&str, &[u8])] = &[("s.sound", rules), ("long.wav", &tone(440.0, 1.0))];
    let mut game = Game::new("streams", files);
    let fake = FakeDevice::default();
    fake.plugged.store(true, Ordering::Relaxed);
    let (mut sounds, world) = sound_system(MixerData::standard(), 64, Some(fake.setup()));
    let mut voices: Vec<_> =
        (0..STREAMS_MAX + 1).map(|_| play(&mut game, &mut sounds, world, "s")).collect();
    sounds.step(FRAME, 1);
    assert_eq!(sounds.streams(), STREAMS_MAX);
    let logged = log::last_lines().join("\n");
    let expected = "recording 'long' is not heard: 32 are decoded while they play already \
                  (STREAMS_MAX): stop some, or set stream = false in its sound";
    assert!(logged.contains(expected), "{logged}");
    // Voices that were stopped before they had begun, and voices that play, all release their
    // streams.
    for voice in voices.drain(..10) {
        sounds.voices.stop(voice, Some(0.02));
    }
    play_until(&mut sounds, "ten have ended", |sounds| sounds.streams() == STREAMS_MAX - 10);
    let loud = fake.heard.clone();
    play_until(&mut sounds, "the others are heard", move |_| {
        loud.lock().unwrap().iter().any(|sample| *sample > 0.4)
    });
    for voice in voices {
        sounds.voices.stop(voice, Some(0.02));
    }
    play_until(&mut sounds, "all have ended", |sounds| sounds.streams() == 0);
}

#[test]
fn missing_system_audio_library_is_reported() {
    use engine::resource::settings::Settings;
    use engine::resource::store::ResourceStore;
    use engine::system::sound::AudioDestination;
    let mut store = ResourceStore::default();
    let device = AudioDestination::Device("no_such_device_of_alsa".to_string());
    let mut sounds = SoundSystem::new(&Settings::defaults(), &mut store, 1, true, &device).unwrap();
    play_until(&mut sounds, "there is no such device", |s| {
        s.health() == Some(DeviceHealth::Missing)
    });
}
