//! The mixer as the game's thread sees it: tracks for buses with their effects, and recordings that
//! are passed to the audio thread when they start. It executes [`MixerCommand`]s and decides
//! nothing.

use super::clip::{self, DecodedClip};
use super::clip_cache::{ClipCache, ClipKey, DECODED_BYTES_MAX};
use super::clip_player::{DecodedSource, PlaybackConfig, PlayerControl, SampleSource};
use super::decoder::{DecodeResult, DecodedStream, Decoder, STREAMS_MAX, StreamSlot};
use super::device::{DeviceHealth, DeviceSetup, DeviceShared, SAMPLE_RATE, SoundDevice};
use super::limiter::{MasterOutput, OutputControl};
use super::mixer::{self, BusEffect, MixerData};
use super::registry::SoundRegistry;
use super::voices::{ClipStart, DECLICK_FADE_SECONDS, MixLevels, MixerCommand};
use engine_foundation::log;
use kira::effect::compressor::CompressorBuilder;
use kira::effect::delay::DelayBuilder;
use kira::effect::filter::{FilterBuilder, FilterMode};
use kira::effect::reverb::ReverbBuilder;
use kira::sound::FromFileError;
use kira::sound::streaming::StreamingSoundHandle;
use kira::track::{MainTrackBuilder, TrackBuilder, TrackHandle};
use kira::{
    AudioManager, AudioManagerSettings, Capacities, Decibels, Mix as Blend, StartTime, Tween,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A live clock with a larger deviation than this is set again, in seconds.
const DRIFT_SECONDS: f64 = 0.05;
/// A recording that starts later than this because it was being decoded skips the missed part. In
/// seconds.
const LATE_SECONDS: f64 = 0.25;

/// The recording that plays in one slot.
struct PlayingSlot {
    control: Arc<PlayerControl>,
    stream: Option<StreamingSoundHandle<FromFileError>>,
    /// True if the recording loops, so that it never ends by itself.
    repeats: bool,
}

impl PlayingSlot {
    /// Stops the recording within this time.
    fn stop(&mut self, seconds: f32) {
        self.control.stop(seconds);
        if let Some(stream) = &mut self.stream {
            // When the recording has become silent, its stream's thread ends.
            let start_time = StartTime::Delayed(Duration::from_secs_f32(seconds));
            stream.stop(Tween { start_time, ..Tween::default() });
        }
    }
}

/// A start that waits for its recording.
struct PendingStart {
    start: ClipStart,
    paused: bool,
    of: PendingClip,
    since: Instant,
}

/// The recording that a pending start waits for.
enum PendingClip {
    /// A decoded recording.
    Clip(ClipKey),
    /// A stream, by the number of its answer.
    Stream(u64, StreamSlot),
}

/// The game's side of the mixer.
pub struct MixerOutput {
    manager: AudioManager<SoundDevice>,
    shared: Arc<DeviceShared>,
    /// The limiter's settings, and the level of the output.
    control: Arc<OutputControl>,
    tracks: Vec<TrackHandle>,
    /// Playing recordings, by part.
    slots: Vec<Option<PlayingSlot>>,
    clip_cache: ClipCache,
    waiting: Vec<PendingStart>,
    decoder: Option<Decoder>,
    /// A sound time and its frame.
    anchor: (f64, u64),
    voices_max: usize,
    logged_health: DeviceHealth,
}

impl MixerOutput {
    /// Creates the mixer. Offline it decodes on demand, and every run is the same. Live it never
    /// makes the game wait.
    pub fn new(
        setup: DeviceSetup,
        mixer: &MixerData,
        voices_max: usize,
    ) -> Result<MixerOutput, String> {
        let live = matches!(setup, DeviceSetup::Live(_));
        let control = Arc::new(OutputControl::new());
        control.set(mixer.limiter);
        let output = Box::new(MasterOutput::new(control.clone()));
        let mut manager = AudioManager::<SoundDevice>::new(AudioManagerSettings {
            main_track_builder: MainTrackBuilder::new().with_built_effect(output),
            capacities: Capacities { sub_track_capacity: 16, ..Capacities::default() },
            backend_settings: Some(setup),
            ..AudioManagerSettings::default()
        })?;
        let shared = manager.backend_mut().shared.clone();
        let tracks = tracks(&mut manager, mixer, voices_max)?;
        Ok(MixerOutput {
            manager,
            shared,
            control,
            tracks,
            slots: Vec::new(),
            clip_cache: ClipCache::new(DECODED_BYTES_MAX),
            waiting: Vec::new(),
            decoder: live.then(Decoder::default),
            anchor: (0.0, 0),
            voices_max,
            logged_health: DeviceHealth::Opening,
        })
    }

    /// Replaces the mixer. Playing recordings must be started again, on the new tracks.
    pub fn exchange_mixer(&mut self, mixer: &MixerData) -> Result<(), String> {
        self.tracks = tracks(&mut self.manager, mixer, self.voices_max)?;
        self.control.set(mixer.limiter);
        Ok(())
    }

    /// Resets the output for another game, on the open device: what plays stops, nothing decoded
    /// is kept, and the sound time begins at 0.
    pub fn begin_game(&mut self, mixer: &MixerData) -> Result<(), String> {
        for mut slot in self.slots.drain(..).flatten() {
            slot.stop(DECLICK_FADE_SECONDS);
        }
        self.waiting.clear();
        self.clip_cache = ClipCache::new(DECODED_BYTES_MAX);
        // Pending answers would name recordings of the other game.
        self.decoder = self.decoder.is_some().then(Decoder::default);
        self.anchor = (0.0, self.mixed());
        self.exchange_mixer(mixer)
    }

    /// Returns true if samples are pulled, and do not go to a live device.
    pub fn is_offline(&self) -> bool {
        self.decoder.is_none()
    }

    /// Returns the number of frames mixed so far.
    pub fn mixed(&self) -> u64 {
        self.shared.mixed.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Mixes interleaved stereo samples; only offline.
    pub fn pull(&mut self, samples: &mut [f32]) {
        self.manager.backend_mut().pull(samples);
    }

    /// Logs once that a live device is missing, or available again.
    pub fn report_device_health(&mut self) {
        let health = self.shared.health();
        if health == self.logged_health {
            return;
        }
        match (self.logged_health, health) {
            (_, DeviceHealth::Missing) => log::warning(&format!(
                "no sound is heard: {}; the game continues, and the device is tried again",
                self.shared.reason()
            )),
            (DeviceHealth::Missing, DeviceHealth::Playing) => log::info("the sound device is back"),
            _ => {}
        }
        self.logged_health = health;
    }

    /// Returns the number of recordings that are decoded while they play, or are about to.
    pub fn streams(&self) -> usize {
        self.decoder.as_ref().map_or(0, Decoder::streams)
    }

    /// Returns the number of recordings that the mixer plays, or is about to.
    pub fn playing(&self) -> usize {
        self.slots.iter().flatten().count() + self.waiting.len()
    }

    /// Returns the total time of mixing so far, in nanoseconds.
    pub fn mixing_nanoseconds(&self) -> u64 {
        self.shared.busy_nanoseconds.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns the highest true peak of the last second, in decibels.
    pub fn true_peak_db(&self) -> f32 {
        self.control.true_peak_db()
    }

    /// Holds what a live device plays, or lets it continue.
    pub fn hold(&self, is_held: bool) {
        self.shared.hold(is_held);
    }

    /// Returns true while what a live device plays is held.
    pub fn is_held(&self) -> bool {
        self.shared.is_held()
    }

    /// Returns the state of a live device.
    pub fn health(&self) -> DeviceHealth {
        self.shared.health()
    }

    /// Executes the commands of the voices. `time` is the sound time at the start of the step.
    pub fn apply(&mut self, commands: &[MixerCommand], library: &SoundRegistry, time: f64) {
        self.sync_clock_anchor(time);
        self.take_decoded(library);
        for command in commands {
            match command {
                MixerCommand::Start(start) => self.start(start, library),
                MixerCommand::Mix { part, mix } => self.mix(*part, *mix),
                MixerCommand::Pause { part, paused } => self.pause(*part, *paused),
                MixerCommand::Stop { part, seconds } => self.stop(*part, *seconds),
                MixerCommand::Forget { part } => {
                    self.waiting.retain(|waiting| waiting.start.part != *part);
                    // A recording that ends by itself plays to its end. A loop has to be stopped.
                    if let Some(mut slot) = self.take_slot(*part)
                        && slot.repeats
                    {
                        slot.stop(DECLICK_FADE_SECONDS);
                    }
                }
                MixerCommand::Bus { bus, gain } => {
                    let decibels = Decibels(20.0 * gain.max(1e-6).log10());
                    let tween = Tween { duration: Duration::from_millis(15), ..Tween::default() };
                    if let Some(track) = self.tracks.get_mut(*bus as usize) {
                        track.set_volume(decibels, tween);
                    }
                }
            }
        }
    }

    /// Keeps sound time and mixed frames together. Offline they are identical. Live they are
    /// coupled loosely: starts that are scheduled on one clock keep their distances to the sample.
    fn sync_clock_anchor(&mut self, time: f64) {
        if self.is_offline() {
            return;
        }
        let wanted = self.frame_of(time) as f64;
        let off = (wanted - self.mixed() as f64) / f64::from(SAMPLE_RATE);
        if off.abs() > DRIFT_SECONDS {
            self.anchor = (time, self.mixed());
        }
    }

    fn frame_of(&self, time: f64) -> u64 {
        let frames = (time - self.anchor.0) * f64::from(SAMPLE_RATE);
        (self.anchor.1 as f64 + frames).round().max(0.0) as u64
    }

    /// Returns the decoded recording if it is available; otherwise requests its decoding.
    fn clip(&mut self, key: ClipKey, library: &SoundRegistry) -> Option<Arc<DecodedClip>> {
        if let Some(known) = self.clip_cache.get(key) {
            return known;
        }
        // Older versions of an exchanged recording are not played again.
        self.clip_cache.remove_older(key);
        let recording = &library.recordings[key.0 as usize];
        let Some(decoder) = &self.decoder else {
            let clip = log_decode_error(clip::decode(&recording.file), &recording.name);
            self.clip_cache.insert(key, clip.clone());
            return clip;
        };
        self.clip_cache.insert(key, None);
        decoder.decode(key, &recording.file);
        None
    }

    /// Requests the decoding of a recording before it is played.
    pub fn prepare(&mut self, recording: u32, library: &SoundRegistry) {
        let key = (recording, library.recordings[recording as usize].generation);
        self.clip(key, library);
    }

    fn take_decoded(&mut self, library: &SoundRegistry) {
        let Some(decoder) = &self.decoder else { return };
        for answer in decoder.take() {
            match answer {
                DecodeResult::Whole(key, result) => {
                    let clip = log_decode_error(result, &library.recordings[key.0 as usize].name);
                    if self.clip_cache.get(key).is_some() {
                        self.clip_cache.insert(key, clip);
                    }
                }
                DecodeResult::Stream(ticket, result) => self.take_stream(ticket, result, library),
            }
        }
        let clip_cache = &self.clip_cache;
        let ready = |waiting: &mut PendingStart| match waiting.of {
            PendingClip::Clip(key) => clip_cache.has(key),
            PendingClip::Stream(..) => false,
        };
        let ready: Vec<PendingStart> = self.waiting.extract_if(.., ready).collect();
        for PendingStart { mut start, paused, of, since } in ready {
            let PendingClip::Clip(key) = of else { unreachable!("only those are taken") };
            let late = since.elapsed().as_secs_f64();
            if late > LATE_SECONDS && start.at.is_none() && !paused {
                start.seconds += late * f64::from(start.mix.rate);
                start.rises = true;
            }
            let clip = self.clip_cache.get(key).flatten().expect("it is ready");
            let source = SampleSource::Whole(DecodedSource::new(clip, start.seconds, start.repeat));
            self.play(&start, source, None, paused);
        }
    }

    /// Plays a stream that was opened, if it is still wanted.
    fn take_stream(
        &mut self,
        ticket: u64,
        result: Result<DecodedStream, String>,
        library: &SoundRegistry,
    ) {
        let wanted = |waiting: &PendingStart| match &waiting.of {
            PendingClip::Stream(number, _) => *number == ticket,
            PendingClip::Clip(_) => false,
        };
        let Some(at) = self.waiting.iter().position(wanted) else { return };
        let PendingStart { start, paused, of, .. } = self.waiting.swap_remove(at);
        let PendingClip::Stream(_, slot) = of else { unreachable!("it was found by that") };
        match result {
            Ok(DecodedStream { sound, mut handle }) => {
                // The rate may have changed since the request.
                handle.set_playback_rate(f64::from(start.mix.rate), Tween::default());
                self.play(&start, SampleSource::Stream { sound, slot }, Some(handle), paused);
            }
            Err(message) => {
                let name = &library.recordings[start.recording as usize].name;
                log::error(&format!("recording '{name}' is not heard: {message}"));
            }
        }
    }

    fn start(&mut self, start: &ClipStart, library: &SoundRegistry) {
        let recording = &library.recordings[start.recording as usize];
        if let Some(decoder) = &mut self.decoder
            && library.streams(start.sound, start.recording)
        {
            match decoder.stream(&recording.file, start) {
                Some((ticket, slot)) => self.wait(start, PendingClip::Stream(ticket, slot)),
                None => log::warn("sound", &too_many_streams(&recording.name)),
            }
            return;
        }
        let key = (start.recording, recording.generation);
        match self.clip(key, library) {
            Some(clip) => {
                let source =
                    SampleSource::Whole(DecodedSource::new(clip, start.seconds, start.repeat));
                self.play(start, source, None, false);
            }
            None if self.decoder.is_some() => self.wait(start, PendingClip::Clip(key)),
            None => {}
        }
    }

    fn wait(&mut self, start: &ClipStart, of: PendingClip) {
        let start = start.clone();
        self.waiting.push(PendingStart { start, paused: false, of, since: Instant::now() });
    }

    fn play(
        &mut self,
        start: &ClipStart,
        source: SampleSource,
        stream: Option<StreamingSoundHandle<FromFileError>>,
        paused: bool,
    ) {
        let control = Arc::new(PlayerControl::new(start.mix));
        control.pause(paused);
        let playing = PlaybackConfig {
            control: control.clone(),
            source,
            mixed: self.shared.mixed.clone(),
            start_frame: start.at.map_or(0, |at| self.frame_of(at)),
            rises: start.rises,
        };
        let track = start.bus.min(self.tracks.len() as u32 - 1) as usize;
        if self.tracks[track].play(playing).is_err() {
            // Happens only if the mixer stops while the game continues.
            log::warn("sound", "a bus plays as many recordings as it can: one was dropped");
            return;
        }
        let index = start.part as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(PlayingSlot { control, stream, repeats: start.repeat.is_some() });
    }

    fn slot(&mut self, part: u32) -> Option<&mut PlayingSlot> {
        self.slots.get_mut(part as usize)?.as_mut()
    }

    fn take_slot(&mut self, part: u32) -> Option<PlayingSlot> {
        self.slots.get_mut(part as usize)?.take()
    }

    fn mix(&mut self, part: u32, mix: MixLevels) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.start.part == part) {
            waiting.start.mix = mix;
        }
        if let Some(slot) = self.slot(part) {
            slot.control.set(mix);
            if let Some(stream) = &mut slot.stream {
                stream.set_playback_rate(f64::from(mix.rate), Tween::default());
            }
        }
    }

    fn pause(&mut self, part: u32, paused: bool) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.start.part == part) {
            waiting.paused = paused;
        }
        if let Some(slot) = self.slot(part) {
            slot.control.pause(paused);
        }
    }

    fn stop(&mut self, part: u32, seconds: f32) {
        self.waiting.retain(|waiting| waiting.start.part != part);
        if let Some(mut slot) = self.take_slot(part) {
            slot.stop(seconds);
        }
    }
}

fn log_decode_error(result: Result<DecodedClip, String>, name: &str) -> Option<Arc<DecodedClip>> {
    match result {
        Ok(clip) => Some(Arc::new(clip)),
        Err(message) => {
            log::error(&format!("recording '{name}' is not heard: {message}"));
            None
        }
    }
}

/// Returns the error message for a stream beyond the limit.
fn too_many_streams(name: &str) -> String {
    format!(
        "recording '{name}' is not heard: {STREAMS_MAX} are decoded while they play already \
         (STREAMS_MAX): stop some, or set stream = false in its sound"
    )
}

/// Creates a track for each bus.
fn tracks(
    manager: &mut AudioManager<SoundDevice>,
    mixer: &MixerData,
    voices_max: usize,
) -> Result<Vec<TrackHandle>, String> {
    let mut tracks: Vec<TrackHandle> = Vec::new();
    for bus in &mixer.buses {
        let mut builder = TrackBuilder::new()
            // Recordings that fade out need slots in addition to those that replaced them.
            .sound_capacity(voices_max * 2 + 64)
            .sub_track_capacity(mixer::BUSES_MAX)
            .persist_until_sounds_finish(true)
            .volume(bus.volume_db);
        for effect in &bus.effects {
            add_effect(&mut builder, effect);
        }
        let track = match bus.parent {
            None => manager.add_sub_track(builder),
            Some(parent) => tracks[parent].add_sub_track(builder),
        };
        tracks.push(track.map_err(|reason| format!("bus '{}': {reason}", bus.name))?);
    }
    Ok(tracks)
}

fn add_effect(builder: &mut TrackBuilder, effect: &BusEffect) {
    let [mix, a, b, c, d, e] = effect.values;
    let blend = Blend(mix);
    let seconds = |value: f32| Duration::from_secs_f32(value);
    match effect.kind {
        mixer::REVERB => {
            builder.add_effect(
                ReverbBuilder::new()
                    .mix(blend)
                    .feedback(f64::from(a))
                    .damping(f64::from(b))
                    .stereo_width(f64::from(c)),
            );
        }
        mixer::DELAY => {
            let delay = DelayBuilder::new().mix(blend).delay_time(seconds(a)).feedback(b);
            builder.add_effect(delay);
        }
        mixer::FILTER => {
            let modes = [
                FilterMode::LowPass,
                FilterMode::BandPass,
                FilterMode::HighPass,
                FilterMode::Notch,
            ];
            builder.add_effect(
                FilterBuilder::new()
                    .mix(blend)
                    .cutoff(f64::from(a))
                    .resonance(f64::from(b))
                    .mode(modes[(c as usize).min(3)]),
            );
        }
        _ => {
            builder.add_effect(
                CompressorBuilder::new()
                    .mix(blend)
                    .threshold(f64::from(a))
                    .ratio(f64::from(b))
                    .attack_duration(seconds(c))
                    .release_duration(seconds(d))
                    .makeup_gain(e),
            );
        }
    }
}
