//! The mixer as the game's thread sees it: tracks for buses with their effects, recordings handed
//! over as they start. Does what `Command`s say; decides nothing.

use super::device::{Device, Health, SAMPLE_RATE, Setup, Shared};
use super::library::Library;
use super::mixer::{self, Effect, Mixer};
use super::player::{Control, Playing, Source, Whole};
use super::voices::{CUT_SECONDS, Command, Mix, Start};
use super::wave::{self, Wave, WaveFile};
use super::waves::{DECODED_BYTES_MAX, WaveKey, Waves};
use crate::foundation::log;
use kira::effect::compressor::CompressorBuilder;
use kira::effect::delay::DelayBuilder;
use kira::effect::filter::{FilterBuilder, FilterMode};
use kira::effect::reverb::ReverbBuilder;
use kira::sound::streaming::StreamingSoundHandle;
use kira::sound::{FromFileError, SoundData};
use kira::track::{TrackBuilder, TrackHandle};
use kira::{AudioManager, AudioManagerSettings, Capacities, Decibels, Mix as Blend, Tween};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
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

/// A start that waits for its recording.
struct Waiting {
    start: Start,
    key: WaveKey,
    since: Instant,
}

type Decoded = (WaveKey, Result<Wave, String>);

/// The decoding thread's ends.
struct Decoder {
    requests: Sender<(WaveKey, WaveFile)>,
    results: Receiver<Decoded>,
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
            decoder: live.then(decoder),
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

    /// How a live device is.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Does what the voices say. `time` is the sound time at the start of the step.
    pub fn apply(&mut self, commands: &[Command], library: &Library, time: f64) {
        self.keep_anchor(time);
        self.take_decoded();
        for command in commands {
            match command {
                Command::Start(start) => self.start(start, library),
                Command::Mix { part, mix } => self.mix(*part, *mix),
                Command::Pause { part, paused } => self.pause(*part, *paused),
                Command::Stop { part, seconds } => self.stop(*part, *seconds),
                Command::Forget { part } => {
                    self.waiting.retain(|waiting| waiting.start.part != *part);
                    // The rest of what ends by itself is heard; nothing else would end a loop.
                    if let Some(slot) = self.take_slot(*part)
                        && slot.repeats
                    {
                        slot.control.stop(CUT_SECONDS);
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
        // A decoder that is gone has panicked; its words were told.
        let _ = decoder.requests.send((key, recording.file.clone()));
        None
    }

    /// Has a recording decoded before it is played.
    pub fn prepare(&mut self, recording: u32, library: &Library) {
        let key = (recording, library.recordings[recording as usize].generation);
        self.wave(key, library);
    }

    fn take_decoded(&mut self) {
        let Some(decoder) = &self.decoder else { return };
        let decoded: Vec<Decoded> = decoder.results.try_iter().collect();
        for (key, result) in decoded {
            let wave = keep(result, &format!("number {}", key.0));
            if self.waves.get(key).is_some() {
                self.waves.put(key, wave);
            }
        }
        let waves = &self.waves;
        let ready = |waiting: &mut Waiting| waves.has(waiting.key);
        let ready: Vec<Waiting> = self.waiting.extract_if(.., ready).collect();
        for Waiting { mut start, key, since } in ready {
            let late = since.elapsed().as_secs_f64();
            if late > LATE_SECONDS && start.at.is_none() {
                start.seconds += late * f64::from(start.mix.rate);
                start.rises = true;
            }
            let wave = self.waves.get(key).flatten().expect("it is ready");
            let source = Source::Whole(Whole::new(wave, start.seconds, start.repeat));
            self.play(&start, source, None);
        }
    }

    fn start(&mut self, start: &Start, library: &Library) {
        let recording = &library.recordings[start.recording as usize];
        if self.decoder.is_some() && library.streams(start.sound, start.recording) {
            match stream(&recording.file, start) {
                Ok((source, handle)) => self.play(start, source, Some(handle)),
                Err(words) => log::error(&format!("recording '{}': {words}", recording.name)),
            }
            return;
        }
        let key = (start.recording, recording.generation);
        match self.wave(key, library) {
            Some(wave) => {
                let source = Source::Whole(Whole::new(wave, start.seconds, start.repeat));
                self.play(start, source, None);
            }
            None if self.decoder.is_some() => {
                self.waiting.push(Waiting { start: start.clone(), key, since: Instant::now() });
            }
            None => {}
        }
    }

    fn play(
        &mut self,
        start: &Start,
        source: Source,
        stream: Option<StreamingSoundHandle<FromFileError>>,
    ) {
        let control = Arc::new(Control::new(start.mix));
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
        if let Some(slot) = self.slot(part) {
            slot.control.pause(paused);
        }
    }

    fn stop(&mut self, part: u32, seconds: f32) {
        self.waiting.retain(|waiting| waiting.start.part != part);
        if let Some(slot) = self.take_slot(part) {
            slot.control.stop(seconds);
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

/// A recording that is decoded while it plays, its volume left alone.
fn stream(
    file: &WaveFile,
    start: &Start,
) -> Result<(Source, StreamingSoundHandle<FromFileError>), String> {
    let mut data = wave::stream(file)?
        .start_position(start.seconds.min(file.seconds()))
        .playback_rate(f64::from(start.mix.rate));
    if let Some((from, to)) = start.repeat {
        data = data.loop_region(from..to);
    }
    let (sound, handle) = data.into_sound().map_err(|reason| reason.to_string())?;
    Ok((Source::Stream(sound), handle))
}

fn decoder() -> Decoder {
    let (requests, asked) = channel::<(WaveKey, WaveFile)>();
    let (answers, results) = channel();
    let run = move || {
        while let Ok((key, file)) = asked.recv() {
            // The game has ended where nobody takes it.
            let _ = answers.send((key, wave::decode(&file)));
        }
    };
    let spawned = std::thread::Builder::new().name("sound decoder".to_string()).spawn(run);
    if let Err(reason) = spawned {
        log::error(&format!("recordings cannot be decoded: {reason}"));
    }
    Decoder { requests, results }
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
