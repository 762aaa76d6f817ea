//! A folder with sounds for the tests, compiled as by the engine, and the mixed output.

use engine::app::resource_kinds::KINDS;
use engine::foundation::Handle;
use engine::resource::compile::{CompileResult, CompileTarget, compile, data_folder};
use engine::resource::reload_steps::ChangedResources;
use engine::resource::store::{DataSource, ResourceStore};
use engine::system::sound::SoundSystem;
use engine::system::sound::device::DeviceSetup;
use engine::system::sound::mixer::MixerData;
use engine::system::sound::voices::{ParameterValue, TriggerDesc};
use std::fs;
use std::path::PathBuf;

/// Duration of the game's frame, in seconds.
pub const FRAME: f64 = 1.0 / 60.0;
/// Duration of the game's frame, in samples at 48,000 Hz.
pub const FRAME_SAMPLES: usize = 800;

/// The test's own folder, removed on drop.
pub struct Game {
    pub root: PathBuf,
    pub store: ResourceStore,
    pub problems: Vec<String>,
}

impl Game {
    pub fn new(name: &str, files: &[(&str, &[u8])]) -> Game {
        let name = format!("engine-sound-{}-{name}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let mut game = Game { root, store: ResourceStore::default(), problems: Vec::new() };
        files.iter().for_each(|(path, bytes)| game.save(path, bytes));
        let compiled = game.compile();
        let data = DataSource::Folder(data_folder(&game.root, "linux"), KINDS);
        game.store = ResourceStore::new(compiled.index, data);
        game
    }

    pub fn save(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn compile(&mut self) -> CompileResult {
        let data = data_folder(&self.root, "linux");
        fs::create_dir_all(&data).unwrap();
        let target = CompileTarget {
            root: &self.root,
            data,
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        let compiled = compile(&target, &|_, _| {}).unwrap();
        self.problems = compiled.problems.clone();
        compiled
    }

    /// Compiles saved files, and reloads them in `sounds`.
    pub fn reload(&mut self, sounds: &mut SoundSystem) {
        let compiled = self.compile();
        self.store.replace(compiled.index, &compiled.changed);
        sounds.reload(&mut self.store, &ChangedResources::new(&compiled.changed, KINDS));
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Returns a sound system that mixes on demand, and a world for its voices.
pub fn offline_system(mixer: MixerData, mixed_max: usize) -> (SoundSystem, Handle) {
    sound_system(mixer, mixed_max, Some(DeviceSetup::Offline))
}

pub fn sound_system(
    mixer: MixerData,
    mixed_max: usize,
    setup: Option<DeviceSetup>,
) -> (SoundSystem, Handle) {
    let mut sounds = SoundSystem::with(mixer, 1, true, mixed_max, setup);
    // The handle of the world is arbitrary.
    let world = sounds.world(Handle::from_number((1u64 << 40) as f64 + 4_194_304.0).unwrap());
    (sounds, world.0)
}

/// Returns a number parameter for a curve.
pub fn number(name: &str, value: f32) -> (String, ParameterValue) {
    (name.to_string(), ParameterValue::Number(value))
}

/// Returns a text parameter for a switch.
pub fn text(name: &str, value: &str) -> (String, ParameterValue) {
    (name.to_string(), ParameterValue::Text(value.to_string()))
}

/// Triggers a sound without parameters.
pub fn play(game: &mut Game, sounds: &mut SoundSystem, world: Handle, name: &str) -> Handle {
    let trigger = TriggerDesc::new(name, world);
    sounds.trigger(&mut game.store, &trigger).unwrap().unwrap().0
}

/// Plays `count` frames and returns the left channel of the mix.
pub fn frames(sounds: &mut SoundSystem, count: usize) -> Vec<f32> {
    let mut heard = Vec::new();
    for _ in 0..count {
        sounds.step(FRAME, 1);
        let mut samples = vec![0.0; FRAME_SAMPLES * 2];
        sounds.pull(&mut samples);
        heard.extend(samples.iter().step_by(2));
    }
    heard
}

/// Returns the amplitude of the loudest sample.
pub fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |most, sample| most.max(sample.abs()))
}

/// Returns the largest step from one sample to the next.
pub fn max_step(samples: &[f32]) -> f32 {
    samples.windows(2).fold(0.0, |most, pair| most.max((pair[1] - pair[0]).abs()))
}

/// Returns a WAV of 16 bits, mono, at 48,000 Hz.
pub fn wav(samples: impl Iterator<Item = f32>) -> Vec<u8> {
    let data: Vec<u8> =
        samples.flat_map(|sample| ((sample * 32_767.0) as i16).to_le_bytes()).collect();
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    for word in [16u32, 1 | 1 << 16, 48_000, 96_000, 2 | 16 << 16] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

/// Returns a tone at half of the full volume.
pub fn tone(hertz: f32, seconds: f32) -> Vec<u8> {
    let step = hertz * std::f32::consts::TAU / 48_000.0;
    wav((0..(seconds * 48_000.0) as u32).map(move |i| (i as f32 * step).sin() * 0.5))
}

/// Returns a level that encodes the position in the recording: from 0 to 1 in `seconds`.
pub fn ramp(seconds: f32) -> Vec<u8> {
    let count = (seconds * 48_000.0) as u32;
    wav((0..count).map(move |i| i as f32 / count as f32))
}
