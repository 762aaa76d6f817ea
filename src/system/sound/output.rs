//! The mixer as the game's thread sees it: tracks for buses with their effects, recordings handed
//! over as they start. Does what `Command`s say; decides nothing.

use super::decoder::{Answer, Decoder, Place, STREAMS_MAX, Stream};
use super::device::{Device, Health, SAMPLE_RATE, Setup, Shared};
use super::library::Library;
use super::mixer::{self, Effect, Mixer};
use super::player::{Control, Playing, Source, Whole};
use super::voices::{CUT_SECONDS, Command, Mix, Start};
use super::wave::{self, Wave};
use super::waves::{DECODED_BYTES_MAX, WaveKey, Waves};
use crate::foundation::log;
use kira::effect::compressor::CompressorBuilder;
use kira::effect::delay::DelayBuilder;
use kira::effect::filter::{FilterBuilder, FilterMode};
use kira::effect::reverb::ReverbBuilder;
use kira::sound::FromFileError;
use kira::sound::streaming::StreamingSoundHandle;
use kira::track::{TrackBuilder, TrackHandle};
use kira::{
    AudioManager, AudioManagerSettings, Capacities, Decibels, Mix as Blend, StartTime, Tween,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A live clock that is further off than this is set anew.
const DRIFT_SECONDS: f64 = 0.05;
/// What starts later than this, because it had to be decoded first, skips what was missed.
const LATE_SECONDS: f64 = 0.25;

/// What is playing in one place.
struct Slot {
    control: Arc<Control>,
    stream: Option<StreamingSoundHandle<FromFileError>>,
    /// It never ends by itself.
    repeats: bool,
}

impl Slot {
    /// Ends it, in so many seconds.
    fn stop(&mut self, seconds: f32) {
        self.control.stop(seconds);
        if let Some(stream) = &mut self.stream {
            // When it cannot be heard any more, it ends its thread.
            let start_time = StartTime::Delayed(Duration::from_secs_f32(seconds));
            stream.stop(Tween { start_time, ..Tween::default() });
        }
    }
}

/// A start that waits for its recording.
struct Waiting {
    start: Start,
    paused: bool,
    of: Awaited,
    since: Instant,
}

/// What is waited for.
enum Awaited {
    /// A decoded recording.
    Wave(WaveKey),
    /// A stream, by the number of its answer.
    Stream(u64, Place),
}

/// The mixer.
pub struct Output {
    manager: AudioManager<Device>,
    shared: Arc<Shared>,
    tracks: Vec<TrackHandle>,
    /// Tracks of an exchanged mixer, until what plays on them has ended.
    slots: Vec<Option<Slot>>,
    waves: Waves,
    waiting: Vec<Waiting>,
    decoder: Option<Decoder>,
    /// A time and the frame that it is at.
    anchor: (f64, u64),
    voices_max: usize,
    told: Health,
}

impl Output {
    /// Makes the mixer. Offline it decodes when asked, and no two runs differ; live it never makes
    /// the game wait.
    pub fn new(setup: Setup, mixer: &Mixer, voices_max: usize) -> Result<Output, String> {
        let live = matches!(setup, Setup::Live(_));
        let mut manager = AudioManager::<Device>::new(AudioManagerSettings {
            capacities: Capacities { sub_track_capacity: 16, ..Capacities::default() },
            backend_settings: Some(setup),
            ..AudioManagerSettings::default()
        })?;
        let shared = manager.backend_mut().shared.clone();
        let tracks = tracks(&mut manager, mixer, voices_max)?;
        Ok(Output {
            manager,
            shared,
            tracks,
            slots: Vec::new(),
            waves: Waves::new(DECODED_BYTES_MAX),
            waiting: Vec::new(),
            decoder: live.then(Decoder::default),
            anchor: (0.0, 0),
            voices_max,
            told: Health::Opening,
        })
    }

    /// Takes another mixer. What plays must be started again, on the new tracks.
    pub fn exchange_mixer(&mut self, mixer: &Mixer) -> Result<(), String> {
        self.tracks = tracks(&mut self.manager, mixer, self.voices_max)?;
        Ok(())
    }

    /// Whether samples are pulled, and nobody hears them now.
    pub fn is_offline(&self) -> bool {
        self.decoder.is_none()
    }

    /// Frames mixed so far.
    pub fn mixed(&self) -> u64 {
        self.shared.mixed.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Mixes interleaved stereo samples; only offline.
    pub fn pull(&mut self, samples: &mut [f32]) {
        self.manager.backend_mut().pull(samples);
    }

    /// Says once that a live device is missing, or back.
    pub fn tell_health(&mut self) {
        let health = self.shared.health();
        if health == self.told {
            return;
        }
        match (self.told, health) {
            (_, Health::Missing) => log::warning(&format!(
                "no sound is heard: {}; the game plays on, and the device is tried again",
                self.shared.reason()
            )),
            (Health::Missing, Health::Playing) => log::info("the sound device is back"),
            _ => {}
        }
        self.told = health;
    }

    /// How many recordings are decoded while they play, or are about to.
    pub fn streams(&self) -> usize {
        self.decoder.as_ref().map_or(0, Decoder::streams)
    }

    /// How many recordings the mixer has, or is about to get.
    pub fn playing(&self) -> usize {
        self.slots.iter().flatten().count() + self.waiting.len()
    }

    /// The nanoseconds that mixing took so far.
    pub fn mixing_nanoseconds(&self) -> u64 {
        self.shared.busy_nanoseconds.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// How a live device is.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Does what the voices say. `time` is the sound time at the start of the step.
    pub fn apply(&mut self, commands: &[Command], library: &Library, time: f64) {
        self.keep_anchor(time);
        self.take_decoded(library);
        for command in commands {
            match command {
                Command::Start(start) => self.start(start, library),
                Command::Mix { part, mix } => self.mix(*part, *mix),
                Command::Pause { part, paused } => self.pause(*part, *paused),
                Command::Stop { part, seconds } => self.stop(*part, *seconds),
                Command::Forget { part } => {
                    self.waiting.retain(|waiting| waiting.start.part != *part);
                    // The rest of what ends by itself is heard; nothing else would end a loop.
                    if let Some(mut slot) = self.take_slot(*part)
                        && slot.repeats
                    {
                        slot.stop(CUT_SECONDS);
                    }
                }
                Command::Bus { bus, gain } => {
                    let decibels = Decibels(20.0 * gain.max(1e-6).log10());
                    let tween = Tween { duration: Duration::from_millis(15), ..Tween::default() };
                    if let Some(track) = self.tracks.get_mut(*bus as usize) {
                        track.set_volume(decibels, tween);
                    }
                }
            }
        }
    }

    /// Offline, time and frames are the same thing. Live, they are held together loosely: what is
    /// scheduled on one clock keeps its distances to the sample.
    fn keep_anchor(&mut self, time: f64) {
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

    /// The decoded recording, if it is there; it is on its way otherwise.
    fn wave(&mut self, key: WaveKey, library: &Library) -> Option<Arc<Wave>> {
        if let Some(known) = self.waves.get(key) {
            return known;
        }
        // What was exchanged is not played again.
        self.waves.forget_older(key);
        let recording = &library.recordings[key.0 as usize];
        let Some(decoder) = &self.decoder else {
            let wave = keep(wave::decode(&recording.file), &recording.name);
            self.waves.put(key, wave.clone());
            return wave;
        };
        self.waves.put(key, None);
        decoder.decode(key, &recording.file);
        None
    }

    /// Has a recording decoded before it is played.
    pub fn prepare(&mut self, recording: u32, library: &Library) {
        let key = (recording, library.recordings[recording as usize].generation);
        self.wave(key, library);
    }

    fn take_decoded(&mut self, library: &Library) {
        let Some(decoder) = &self.decoder else { return };
        for answer in decoder.take() {
            match answer {
                Answer::Whole(key, result) => {
                    let wave = keep(result, &library.recordings[key.0 as usize].name);
                    if self.waves.get(key).is_some() {
                        self.waves.put(key, wave);
                    }
                }
                Answer::Stream(ticket, result) => self.take_stream(ticket, result, library),
            }
        }
        let waves = &self.waves;
        let ready = |waiting: &mut Waiting| match waiting.of {
            Awaited::Wave(key) => waves.has(key),
            Awaited::Stream(..) => false,
        };
        let ready: Vec<Waiting> = self.waiting.extract_if(.., ready).collect();
        for Waiting { mut start, paused, of, since } in ready {
            let Awaited::Wave(key) = of else { unreachable!("only those are taken") };
            let late = since.elapsed().as_secs_f64();
            if late > LATE_SECONDS && start.at.is_none() && !paused {
                start.seconds += late * f64::from(start.mix.rate);
                start.rises = true;
            }
            let wave = self.waves.get(key).flatten().expect("it is ready");
            let source = Source::Whole(Whole::new(wave, start.seconds, start.repeat));
            self.play(&start, source, None, paused);
        }
    }

    /// Plays a stream that has begun, if it is still wanted.
    fn take_stream(&mut self, ticket: u64, result: Result<Stream, String>, library: &Library) {
        let wanted = |waiting: &Waiting| match &waiting.of {
            Awaited::Stream(number, _) => *number == ticket,
            Awaited::Wave(_) => false,
        };
        let Some(at) = self.waiting.iter().position(wanted) else { return };
        let Waiting { start, paused, of, .. } = self.waiting.swap_remove(at);
        let Awaited::Stream(_, place) = of else { unreachable!("it was found by that") };
        match result {
            Ok(Stream { sound, mut handle }) => {
                // It may have been changed since it was asked for.
                handle.set_playback_rate(f64::from(start.mix.rate), Tween::default());
                self.play(&start, Source::Stream { sound, place }, Some(handle), paused);
            }
            Err(words) => {
                let name = &library.recordings[start.recording as usize].name;
                log::error(&format!("recording '{name}' is not heard: {words}"));
            }
        }
    }

    fn start(&mut self, start: &Start, library: &Library) {
        let recording = &library.recordings[start.recording as usize];
        if let Some(decoder) = &mut self.decoder
            && library.streams(start.sound, start.recording)
        {
            match decoder.stream(&recording.file, start) {
                Some((ticket, place)) => self.wait(start, Awaited::Stream(ticket, place)),
                None => log::warn("sound", &too_many_streams(&recording.name)),
            }
            return;
        }
        let key = (start.recording, recording.generation);
        match self.wave(key, library) {
            Some(wave) => {
                let source = Source::Whole(Whole::new(wave, start.seconds, start.repeat));
                self.play(start, source, None, false);
            }
            None if self.decoder.is_some() => self.wait(start, Awaited::Wave(key)),
            None => {}
        }
    }

    fn wait(&mut self, start: &Start, of: Awaited) {
        let start = start.clone();
        self.waiting.push(Waiting { start, paused: false, of, since: Instant::now() });
    }

    fn play(
        &mut self,
        start: &Start,
        source: Source,
        stream: Option<StreamingSoundHandle<FromFileError>>,
        paused: bool,
    ) {
        let control = Arc::new(Control::new(start.mix));
        control.pause(paused);
        let playing = Playing {
            control: control.clone(),
            source,
            mixed: self.shared.mixed.clone(),
            start_frame: start.at.map_or(0, |at| self.frame_of(at)),
            rises: start.rises,
        };
        let track = start.bus.min(self.tracks.len() as u32 - 1) as usize;
        if self.tracks[track].play(playing).is_err() {
            // Only where the mixer stands still while the game goes on.
            log::warn("sound", "a bus plays as many recordings as it can: one was left out");
            return;
        }
        let index = start.part as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(Slot { control, stream, repeats: start.repeat.is_some() });
    }

    fn slot(&mut self, part: u32) -> Option<&mut Slot> {
        self.slots.get_mut(part as usize)?.as_mut()
    }

    fn take_slot(&mut self, part: u32) -> Option<Slot> {
        self.slots.get_mut(part as usize)?.take()
    }

    fn mix(&mut self, part: u32, mix: Mix) {
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

fn keep(result: Result<Wave, String>, name: &str) -> Option<Arc<Wave>> {
    match result {
        Ok(wave) => Some(Arc::new(wave)),
        Err(words) => {
            log::error(&format!("recording '{name}' is not heard: {words}"));
            None
        }
    }
}

/// The words for one stream more than there can be.
fn too_many_streams(name: &str) -> String {
    format!(
        "recording '{name}' is not heard: {STREAMS_MAX} are decoded while they play already \
         (STREAMS_MAX): stop some, or say stream = false in its sound"
    )
}

/// A track for each bus.
fn tracks(
    manager: &mut AudioManager<Device>,
    mixer: &Mixer,
    voices_max: usize,
) -> Result<Vec<TrackHandle>, String> {
    let mut tracks: Vec<TrackHandle> = Vec::new();
    for bus in &mixer.buses {
        let mut builder = TrackBuilder::new()
            // Those that fade away have their place beside those that took over.
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

fn add_effect(builder: &mut TrackBuilder, effect: &Effect) {
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
