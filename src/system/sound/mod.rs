//! Sound: what is triggered, how it sounds, and where it is heard. Voices are pure state that runs
//! the same with and without a device (voices.rs, step.rs); rules come from `.sound` files
//! (source.rs, definition.rs), buses from a `.mixer` (mixer.rs, bus.rs). Behind them is the mixer:
//! output.rs on the game's thread, player.rs and device.rs on the audio thread. Knows no units and
//! no scripts: those hand over plain numbers.

mod alsa;
pub mod block;
mod bounds;
pub mod bus;
pub mod choose;
pub mod clock;
pub mod curve;
pub mod decoder;
pub mod definition;
pub mod device;
mod device_names;
pub mod explain;
pub mod kinds;
pub mod library;
pub mod mixer;
pub mod output;
pub mod parameters;
mod player;
mod ranges;
mod shared;
mod source;
pub mod space;
pub mod step;
pub mod voice;
pub mod voices;
mod wav_file;
pub mod wave;
mod waves;
mod words;

use crate::counter;
use crate::error;
use crate::foundation::{Error, Handle, Vec3, log};
use crate::resource::containment::contain;
use crate::resource::name::ResourceName;
use crate::resource::settings::Settings;
use crate::resource::store::Store;
use bus::Buses;
use device::{SAMPLE_RATE, Setup};
use mixer::Mixer;
use output::Output;
use std::path::PathBuf;
use voices::{SoundWorld, Trigger, Voices};
use wav_file::WavFile;

/// The handle of a voice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VoiceId(pub Handle);

/// The handle of a world's sound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SoundWorldId(pub Handle);

/// Where sound goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Destination {
    /// Nowhere: everything happens, and nothing is mixed.
    #[default]
    Null,
    /// Into a WAV file, in step with the game.
    File(PathBuf),
    /// To the system's device of that name; empty: the one of the settings.
    Device(String),
}

/// The whole of it.
pub struct Sounds {
    pub voices: Voices,
    output: Option<Output>,
    file: Option<(WavFile, PathBuf)>,
    /// A file that could not be written to its end.
    broken_file: Option<PathBuf>,
    samples: Vec<f32>,
    /// Offline: what was asked for and not yet mixed, as a part of a frame.
    owed_frames: f64,
    mixer_name: Option<String>,
    /// What mixing took, as far as the statistics were told.
    counted_nanoseconds: u64,
}

impl Sounds {
    /// Sound for a game. A device that is missing is no error; a file that cannot be written is.
    pub fn new(
        settings: &Settings,
        store: &mut Store,
        seed: u64,
        checked: bool,
        destination: &Destination,
    ) -> Result<Sounds, Error> {
        let (mixer, mixer_name) = load_mixer(settings, store)?;
        let mixed_max = settings.number("sound.mixed_voices") as usize;
        let setup = match destination {
            Destination::Null => None,
            Destination::File(_) => Some(Setup::Offline),
            Destination::Device(name) => {
                let name = if name.is_empty() { settings.text("sound.device") } else { name };
                Some(Setup::Live(alsa::opener(name.to_string())))
            }
        };
        let file = match destination {
            Destination::File(path) => {
                let file = WavFile::create(path)
                    .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))?;
                Some((file, path.clone()))
            }
            _ => None,
        };
        let mut sounds = Sounds::with(mixer, seed, checked, mixed_max, setup);
        (sounds.file, sounds.mixer_name) = (file, mixer_name);
        Ok(sounds)
    }

    /// Sound with these buses, and a mixer where there is a setup for it.
    pub fn with(
        mixer: Mixer,
        seed: u64,
        checked: bool,
        mixed_max: usize,
        setup: Option<Setup>,
    ) -> Sounds {
        let output = setup.and_then(|setup| match Output::new(setup, &mixer, mixed_max) {
            Ok(output) => Some(output),
            Err(reason) => {
                log::warning(&format!("no sound is heard: {reason}"));
                None
            }
        });
        Sounds {
            voices: Voices::new(seed, checked, mixed_max, Buses::new(mixer)),
            output,
            file: None,
            broken_file: None,
            samples: Vec::new(),
            owed_frames: 0.0,
            mixer_name: None,
            counted_nanoseconds: 0,
        }
    }

    /// Sound without a device and with the standard buses.
    pub fn silent(seed: u64, checked: bool) -> Sounds {
        Sounds::with(Mixer::standard(), seed, checked, 64, None)
    }

    /// The sound of a world, made when it is first asked for.
    pub fn world(&mut self, world: Handle) -> SoundWorldId {
        let known = self.voices.worlds.iter().find(|(_, sound)| sound.world == world);
        if let Some((handle, _)) = known {
            return SoundWorldId(handle);
        }
        let fresh = SoundWorld {
            world,
            listeners: [None; space::LISTENERS_MAX],
            last_positions: [Vec3::ZERO; space::LISTENERS_MAX],
            paused: false,
        };
        SoundWorldId(self.voices.worlds.add(fresh).expect("there are fewer worlds than slots"))
    }

    /// Ends the sound of a world that ends.
    pub fn release_world(&mut self, world: Handle, frame: u64, place: &str) {
        let known = self.voices.worlds.iter().find(|(_, sound)| sound.world == world);
        if let Some(handle) = known.map(|(handle, _)| handle) {
            self.voices.stop_all(handle, voices::CUT_SECONDS);
            self.voices.worlds.remove(handle, "", frame, place);
        }
    }

    /// Triggers a sound; nothing where its policy refuses another voice.
    pub fn trigger(
        &mut self,
        store: &mut Store,
        trigger: &Trigger,
    ) -> Result<Option<VoiceId>, Error> {
        Ok(self.voices.trigger(store, trigger)?.map(VoiceId))
    }

    /// Loads a sound and has its recordings decoded, so that its first trigger is heard at once.
    pub fn preload(&mut self, store: &mut Store, name: &str) -> Result<(), Error> {
        let sound = self.voices.library.sound(store, name)?;
        let entry = &self.voices.library.sounds[sound as usize];
        let recordings: Vec<u32> = entry.recordings.iter().copied().chain(entry.own).collect();
        if let Some(output) = &mut self.output {
            for recording in recordings {
                if output.is_offline() || !self.voices.library.streams(sound, recording) {
                    output.prepare(recording, &self.voices.library);
                }
            }
        }
        Ok(())
    }

    /// Moves sound on by `delta` seconds, at the end of the game's frame `frame`.
    pub fn step(&mut self, delta: f64, frame: u64) {
        self.voices.frame = frame;
        let time = self.voices.time;
        self.voices.step(delta);
        if let Some(output) = &mut self.output {
            output.apply(&self.voices.commands, &self.voices.library, time);
            output.tell_health();
        }
        self.voices.commands.clear();
        self.count();
        self.render(delta);
    }

    /// Tells the statistics.
    fn count(&mut self) {
        let Voices { active, levels, parameters, .. } = &self.voices;
        counter!("sound/voices") += active.len();
        counter!("sound/heard") += active.iter().filter(|i| levels[**i as usize].heard).count();
        counter!("sound/parameters") += parameters.used();
        if let Some(output) = &self.output {
            counter!("sound/recordings") += output.playing();
            counter!("sound/streams") += output.streams();
            let busy = output.mixing_nanoseconds();
            let before = std::mem::replace(&mut self.counted_nanoseconds, busy);
            counter!("sound/mixing_ms") += (busy - before) as f64 / 1e6;
        }
    }

    /// Mixes what the step made, where that goes into a file.
    fn render(&mut self, delta: f64) {
        let (Some(output), Some((file, path))) = (&mut self.output, &mut self.file) else { return };
        self.owed_frames += delta * f64::from(SAMPLE_RATE);
        let frames = self.owed_frames.round().max(0.0);
        self.owed_frames -= frames;
        self.samples.clear();
        self.samples.resize(frames as usize * 2, 0.0);
        output.pull(&mut self.samples);
        if let Err(reason) = file.add(&self.samples) {
            log::error(&format!("{} cannot be written: {reason}", path.display()));
            self.broken_file = self.file.take().map(|(_, path)| path);
        }
    }

    /// Mixes interleaved stereo samples of an offline mixer, for tests and benches.
    pub fn pull(&mut self, samples: &mut [f32]) {
        if let Some(output) = &mut self.output {
            output.pull(samples);
        }
    }

    /// How many recordings are decoded while they play, or are about to.
    pub fn streams(&self) -> usize {
        self.output.as_ref().map_or(0, Output::streams)
    }

    /// How a live device is, where there is one.
    pub fn health(&self) -> Option<device::Health> {
        self.output.as_ref().filter(|output| !output.is_offline()).map(Output::health)
    }

    /// Completes what is written. Call it once, when the game has ended.
    pub fn finish(&mut self) -> Result<(), Error> {
        if let Some(path) = self.broken_file.take() {
            return Err(error!("{} lacks the end of the run", path.display()));
        }
        match self.file.take() {
            None => Ok(()),
            Some((mut file, path)) => file
                .finish()
                .map_err(|reason| error!("{} cannot be written: {reason}", path.display())),
        }
    }

    /// Takes new data of sounds, recordings and the mixer. What is broken keeps the old.
    pub fn reload(&mut self, store: &mut Store, changed: &[ResourceName]) {
        for sound in self.voices.library.reload(store, changed) {
            self.voices.refresh(sound);
        }
        let Some(name) = &self.mixer_name else { return };
        if !changed.iter().any(|changed| changed.kind == "mixer" && changed.name == *name) {
            return;
        }
        match read_mixer(store, name) {
            Ok(mixer) => self.exchange_mixer(mixer),
            Err(error) => log::error(&format!("mixer '{name}' is as before: {error}")),
        }
    }

    /// Takes other buses while voices play: they go on from where they are.
    pub fn exchange_mixer(&mut self, mixer: Mixer) {
        if let Some(output) = &mut self.output
            && let Err(reason) = output.exchange_mixer(&mixer)
        {
            log::error(&format!("the mixer is as before: {reason}"));
            return;
        }
        self.voices.exchange_mixer(mixer);
    }
}

/// The mixer of a game, and its name, where it has one of its own.
fn load_mixer(settings: &Settings, store: &mut Store) -> Result<(Mixer, Option<String>), Error> {
    let name = settings.text("sound.mixer");
    let standard = name == DEFAULT_MIXER;
    if standard && !store.has(&ResourceName::new("mixer", name)) {
        return Ok((Mixer::standard(), Some(name.to_string())));
    }
    Ok((read_mixer(store, name)?, Some(name.to_string())))
}

/// The mixer that is taken where the settings name no other; it may be missing.
pub const DEFAULT_MIXER: &str = "main";

fn read_mixer(store: &mut Store, name: &str) -> Result<Mixer, Error> {
    let resource = ResourceName::new("mixer", name);
    let bytes = store.read(&resource)?;
    contain(&resource, || {
        Mixer::read(&bytes).map_err(|error| error!("mixer '{name}': {}", error.message))
    })
}
