//! The sound system: triggered sounds, their mixing, and their spatialization. Voices are pure
//! state that runs the same with and without a device (voices.rs, voice_update.rs). Rules come from
//! `.sound` files (compile.rs, data.rs), and buses from a `.mixer` (mixer.rs, bus.rs). The
//! mixer follows them: mixer_output.rs on the game's thread, clip_player.rs and device.rs on the
//! audio thread. Knows no units and no scripts: those pass in plain numbers.

#[cfg(all(feature = "devices", target_os = "linux"))]
mod alsa;
pub mod bus;
pub mod clip;
mod clip_cache;
mod clip_decoder;
mod clip_player;
mod compile;
pub mod container_selection;
pub mod curve;
pub mod data;
pub mod decoder;
pub mod device;
#[cfg(any(test, feature = "devices"))]
mod device_names;
mod duration_limit;
pub mod explain;
pub mod generated;
mod inherited_parameters;
pub mod limiter;
mod limits;
mod low_pass;
mod messages;
pub mod mixer;
pub mod mixer_output;
pub mod music_clock;
#[cfg(not(feature = "devices"))]
mod no_output;
pub mod parameters;
pub mod registry;
#[cfg(any(test, all(feature = "devices", any(windows, target_os = "macos"))))]
mod resampler;
pub mod resource;
#[cfg(any(test, all(feature = "devices", any(windows, target_os = "macos"))))]
mod sample_ring;
mod seek;
pub mod source_fields;
pub mod spatialization;
#[cfg(all(feature = "devices", any(windows, target_os = "macos")))]
mod system_output;
mod true_peak;
pub mod voice;
pub mod voice_loop;
pub mod voice_update;
pub mod voices;
mod wav_writer;

#[cfg(all(feature = "devices", target_os = "linux"))]
use alsa as output;
use bus::BusStates;
use device::{DeviceSetup, SAMPLE_RATE};
use engine_foundation::counter;
use engine_foundation::error;
use engine_foundation::{Error, Handle, Vec3, log};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use mixer::MixerData;
use mixer_output::MixerOutput;
#[cfg(not(feature = "devices"))]
use no_output as output;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(all(feature = "devices", any(windows, target_os = "macos")))]
use system_output as output;
use voices::{SoundWorld, TriggerDesc, Voices};
use wav_writer::WavWriter;

/// The handle of a voice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VoiceId(pub Handle);

/// The handle of the sound world of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SoundWorldId(pub Handle);

/// The destination of the mixed sound.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AudioDestination {
    /// None: voices run, and nothing is mixed.
    #[default]
    Null,
    /// A WAV file, in step with the game.
    File(PathBuf),
    /// The system's device of this name; if it is empty, the device of the settings.
    Device(String),
}

/// The sound system of a game.
pub struct SoundSystem {
    pub voices: Voices,
    output: Option<MixerOutput>,
    /// True while sound without an output would be held.
    is_held: AtomicBool,
    file: Option<(WavWriter, PathBuf)>,
    /// A file that could not be written to its end.
    broken_file: Option<PathBuf>,
    samples: Vec<f32>,
    /// Offline: the fraction of a frame that is due and not mixed yet.
    owed_frames: f64,
    mixer_name: Option<String>,
    /// The mixing time that was already added to the statistics.
    counted_nanoseconds: u64,
}

impl SoundSystem {
    /// Creates the sound of a game. A missing device is not an error; a file that cannot be written
    /// is.
    pub fn new(
        settings: &Settings,
        store: &mut ResourceStore,
        seed: u64,
        checked: bool,
        destination: &AudioDestination,
    ) -> Result<SoundSystem, Error> {
        let (mixer, mixer_name) = load_mixer(settings, store)?;
        let mixed_max = settings.number("sound.mixed_voices") as usize;
        let setup = match destination {
            AudioDestination::Null => None,
            AudioDestination::File(_) => Some(DeviceSetup::Offline),
            AudioDestination::Device(name) => {
                let name = if name.is_empty() { settings.text("sound.device") } else { name };
                Some(DeviceSetup::Live(output::opener(name.to_string())))
            }
        };
        let file = match destination {
            AudioDestination::File(path) => {
                let file = WavWriter::create(path)
                    .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))?;
                Some((file, path.clone()))
            }
            _ => None,
        };
        let mut sounds = SoundSystem::with(mixer, seed, checked, mixed_max, setup);
        (sounds.file, sounds.mixer_name) = (file, mixer_name);
        Ok(sounds)
    }

    /// Creates sound with these buses, and with a mixer if there is a setup.
    pub fn with(
        mixer: MixerData,
        seed: u64,
        checked: bool,
        mixed_max: usize,
        setup: Option<DeviceSetup>,
    ) -> SoundSystem {
        let output = setup.and_then(|setup| match MixerOutput::new(setup, &mixer, mixed_max) {
            Ok(output) => Some(output),
            Err(reason) => {
                log::warning(&format!("no sound is heard: {reason}"));
                None
            }
        });
        SoundSystem {
            voices: Voices::new(seed, checked, mixed_max, BusStates::new(mixer)),
            output,
            is_held: AtomicBool::new(false),
            file: None,
            broken_file: None,
            samples: Vec::new(),
            owed_frames: 0.0,
            mixer_name: None,
            counted_nanoseconds: 0,
        }
    }

    /// Creates sound without a device and with the standard buses.
    pub fn silent(seed: u64, checked: bool) -> SoundSystem {
        SoundSystem::with(MixerData::standard(), seed, checked, 64, None)
    }

    /// Returns the sound world of a world, and creates it at the first call.
    pub fn world(&mut self, world: Handle) -> SoundWorldId {
        let known = self.voices.worlds.iter().find(|(_, sound)| sound.world == world);
        if let Some((handle, _)) = known {
            return SoundWorldId(handle);
        }
        let fresh = SoundWorld {
            world,
            listeners: [None; spatialization::LISTENERS_MAX],
            last_positions: [Vec3::ZERO; spatialization::LISTENERS_MAX],
            paused: false,
        };
        SoundWorldId(self.voices.worlds.add(fresh).expect("there are fewer worlds than slots"))
    }

    /// Ends the sound of a world when the world ends.
    pub fn release_world(&mut self, world: Handle, frame: u64, location: &str) {
        let known = self.voices.worlds.iter().find(|(_, sound)| sound.world == world);
        if let Some(handle) = known.map(|(handle, _)| handle) {
            self.voices.stop_all(handle, voices::DECLICK_FADE_SECONDS);
            self.voices.worlds.remove(handle, "", frame, location);
        }
    }

    /// Triggers a sound. Returns `None` if its policy refuses another voice.
    pub fn trigger(
        &mut self,
        store: &mut ResourceStore,
        trigger: &TriggerDesc,
    ) -> Result<Option<VoiceId>, Error> {
        Ok(self.voices.trigger(store, trigger)?.map(VoiceId))
    }

    /// Loads a sound and decodes its recordings, so that its first trigger is audible at once.
    pub fn preload(&mut self, store: &mut ResourceStore, name: &str) -> Result<(), Error> {
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

    /// Advances sound by `delta` seconds, at the end of the game's frame `frame`.
    pub fn step(&mut self, delta: f64, frame: u64) {
        self.voices.frame = frame;
        let time = self.voices.time;
        self.voices.step(delta);
        if let Some(output) = &mut self.output {
            output.apply(&self.voices.commands, &self.voices.library, time);
            output.report_device_health();
        }
        self.voices.commands.clear();
        self.count();
        self.render(delta);
    }

    /// Updates the statistics.
    fn count(&mut self) {
        let Voices { active, levels, parameters, .. } = &self.voices;
        counter!("sound/voices") += active.len();
        counter!("sound/audible_voices") +=
            active.iter().filter(|i| levels[**i as usize].is_mixed).count();
        counter!("sound/parameters") += parameters.used();
        if let Some(output) = &self.output {
            counter!("sound/recordings") += output.playing();
            counter!("sound/streams") += output.streams();
            let busy = output.mixing_nanoseconds();
            let before = std::mem::replace(&mut self.counted_nanoseconds, busy);
            counter!("sound/mixing_milliseconds") += (busy - before) as f64 / 1e6;
        }
    }

    /// Mixes the sound of the step into the file, if there is one.
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

    /// Returns the number of recordings that are decoded while they play, or are about to.
    pub fn streams(&self) -> usize {
        self.output.as_ref().map_or(0, MixerOutput::streams)
    }

    /// Returns the highest true peak of the mix in the last second, in decibels of the full scale;
    /// `None` if nothing is mixed.
    pub fn true_peak_db(&self) -> Option<f32> {
        self.output.as_ref().map(MixerOutput::true_peak_db)
    }

    /// Returns the state of a live device, if there is one.
    pub fn health(&self) -> Option<device::DeviceHealth> {
        self.output.as_ref().filter(|output| !output.is_offline()).map(MixerOutput::health)
    }

    /// Holds what a live device plays, while the game stands still, or lets it continue.
    pub fn hold(&self, is_held: bool) {
        match &self.output {
            Some(output) => output.hold(is_held),
            None => self.is_held.store(is_held, Ordering::Relaxed),
        }
    }

    /// Returns true while what a live device plays is held.
    pub fn is_held(&self) -> bool {
        match &self.output {
            Some(output) => output.is_held(),
            None => self.is_held.load(Ordering::Relaxed),
        }
    }

    /// Completes the file. Call it once, when the game has ended.
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

    /// Reloads changed sounds, recordings and the mixer. If new data is invalid, the old data
    /// stays.
    pub fn reload(&mut self, store: &mut ResourceStore, changed: &ChangedResources) {
        for sound in self.voices.library.reload(store, changed) {
            self.voices.refresh(sound);
        }
        let Some(name) = &self.mixer_name else { return };
        if !changed.has(ReloadStep::Mixers, name) {
            return;
        }
        match read_mixer(store, name) {
            Ok(mixer) => self.exchange_mixer(mixer),
            Err(error) => log::error(&format!("mixer '{name}' is unchanged: {error}")),
        }
    }

    /// Takes over the open device or file of another game's sound, which ends. This sound must be
    /// new, without a destination of its own.
    pub fn take_output(&mut self, old: &mut SoundSystem) {
        self.output = old.output.take();
        self.file = old.file.take();
        self.broken_file = old.broken_file.take();
        (self.owed_frames, self.counted_nanoseconds) = (old.owed_frames, old.counted_nanoseconds);
        if let Some(output) = &mut self.output
            && let Err(reason) = output.begin_game(&self.voices.buses.mixer)
        {
            log::warning(&format!("no sound is heard: {reason}"));
            self.output = None;
        }
    }

    /// Ends what is heard. Voices continue without a device.
    pub fn silence(&mut self) {
        self.output = None;
    }

    /// Replaces the buses while voices play: they continue from their current position.
    pub fn exchange_mixer(&mut self, mixer: MixerData) {
        if let Some(output) = &mut self.output
            && let Err(reason) = output.exchange_mixer(&mixer)
        {
            log::error(&format!("the mixer is unchanged: {reason}"));
            return;
        }
        self.voices.exchange_mixer(mixer);
    }
}

/// Returns the mixer of a game, and its name, if the game has a mixer.
fn load_mixer(
    settings: &Settings,
    store: &mut ResourceStore,
) -> Result<(MixerData, Option<String>), Error> {
    let name = settings.text("sound.mixer");
    let standard = name == DEFAULT_MIXER;
    if standard && !store.has(&ResourceName::new(kind_names::MIXER, name)) {
        return Ok((MixerData::standard(), Some(name.to_string())));
    }
    Ok((read_mixer(store, name)?, Some(name.to_string())))
}

/// The mixer that is used if the settings name no other; it may be missing.
pub const DEFAULT_MIXER: &str = "main";

fn read_mixer(store: &mut ResourceStore, name: &str) -> Result<MixerData, Error> {
    let resource = ResourceName::new(kind_names::MIXER, name);
    let bytes = store.read(&resource)?;
    contain(&resource, || {
        MixerData::read(&bytes).map_err(|error| error!("mixer '{name}': {}", error.message))
    })
}
