//! A folder with sounds for the tests, compiled as the engine does it, and what is mixed of it.

use engine::app::kinds::KINDS;
use engine::foundation::Handle;
use engine::resource::compile::{Compiled, Target, compile, data_folder};
use engine::resource::store::{Data, Store};
use engine::system::sound::Sounds;
use engine::system::sound::device::Setup;
use engine::system::sound::mixer::Mixer;
use engine::system::sound::voices::{ParameterValue, Trigger};
use std::fs;
use std::path::PathBuf;

/// The game's frame, in seconds; 800 samples at 48,000 Hz.
pub const FRAME: f64 = 1.0 / 60.0;
pub const FRAME_SAMPLES: usize = 800;

/// A folder of the test's own, removed at its end.
pub struct Game {
    pub root: PathBuf,
    pub store: Store,
    pub problems: Vec<String>,
}

impl Game {
    pub fn new(name: &str, files: &[(&str, &[u8])]) -> Game {
        let name = format!("engine-sound-{}-{name}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let mut game = Game { root, store: Store::default(), problems: Vec::new() };
        files.iter().for_each(|(path, bytes)| game.save(path, bytes));
        let compiled = game.compile();
        let data = Data::Folder(data_folder(&game.root, "linux"), KINDS);
        game.store = Store::new(compiled.index, data);
        game
    }

    pub fn save(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn compile(&mut self) -> Compiled {
        let data = data_folder(&self.root, "linux");
        fs::create_dir_all(&data).unwrap();
        let target = Target {
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

    /// Compiles what was saved, and has `sounds` take it.
    pub fn reload(&mut self, sounds: &mut Sounds) {
        let compiled = self.compile();
        self.store.replace(compiled.index, &compiled.changed);
        sounds.reload(&mut self.store, &compiled.changed);
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Sounds that are mixed when they are asked for, and a world for them.
pub fn offline(mixer: Mixer, mixed_max: usize) -> (Sounds, Handle) {
    with(mixer, mixed_max, Some(Setup::Offline))
}

pub fn with(mixer: Mixer, mixed_max: usize, setup: Option<Setup>) -> (Sounds, Handle) {
    let mut sounds = Sounds::with(mixer, 1, true, mixed_max, setup);
    // Any handle will do for the world that it belongs to.
    let world = sounds.world(Handle::from_number((1u64 << 40) as f64 + 4_194_304.0).unwrap());
    (sounds, world.0)
}

/// A number for a curve.
pub fn number(name: &str, value: f32) -> (String, ParameterValue) {
    (name.to_string(), ParameterValue::Number(value))
}

/// A text for a switch.
pub fn text(name: &str, value: &str) -> (String, ParameterValue) {
    (name.to_string(), ParameterValue::Text(value.to_string()))
}

/// Triggers a sound as it is.
pub fn play(game: &mut Game, sounds: &mut Sounds, world: Handle, name: &str) -> Handle {
    let trigger = Trigger::new(name, world);
    sounds.trigger(&mut game.store, &trigger).unwrap().unwrap().0
}

/// Plays so many frames: the left channel of what is mixed.
pub fn frames(sounds: &mut Sounds, count: usize) -> Vec<f32> {
    let mut heard = Vec::new();
    for _ in 0..count {
        sounds.step(FRAME, 1);
        let mut samples = vec![0.0; FRAME_SAMPLES * 2];
        sounds.pull(&mut samples);
        heard.extend(samples.iter().step_by(2));
    }
    heard
}

/// The loudest sample.
pub fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |most, sample| most.max(sample.abs()))
}

/// The greatest jump from one sample to the next.
pub fn jump(samples: &[f32]) -> f32 {
    samples.windows(2).fold(0.0, |most, pair| most.max((pair[1] - pair[0]).abs()))
}

/// A WAV of 16 bits, mono, at 48,000 Hz.
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

/// A tone at half of the full volume.
pub fn tone(hertz: f32, seconds: f32) -> Vec<u8> {
    let step = hertz * std::f32::consts::TAU / 48_000.0;
    wav((0..(seconds * 48_000.0) as u32).map(move |i| (i as f32 * step).sin() * 0.5))
}

/// A level that says where in the recording it is: from 0 to 1 in so many seconds.
pub fn ramp(seconds: f32) -> Vec<u8> {
    let count = (seconds * 48_000.0) as u32;
    wav((0..count).map(move |i| i as f32 / count as f32))
}
