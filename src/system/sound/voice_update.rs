//! The passes of a frame over all voices: curves of parameters, spatialization, fades, the
//! selection of the voices to mix, commands to the device, time. Each pass is one walk over arrays.

use super::bus::{BusStates, decibels};
use super::container_selection;
use super::curve::{self, CurveTarget};
use super::data::{LAYERS_MAX, ParameterCurve, SoundOptions, SoundRules};
use super::parameters::{ParameterList, ParameterTable};
use super::spatialization;
use super::voice_loop::loop_region;
use super::voices::{
    ClipStart, DECLICK_FADE_SECONDS, EVENTS_MAX, HISTORY_MAX, MixLevels, MixerCommand, PlayedClip,
    SoundEvent, SoundEventKind, Voice, VoicePart, VoicePartState, Voices, VolumeFade,
};
use engine_foundation::hash::StateHash;
use engine_foundation::{Handle, log};

/// A low-pass filter at this frequency, or above, removes nothing audible.
pub const OPEN_HZ: f32 = 20_000.0;
/// Quieter voices are not mixed: -72 decibels.
const AUDIBLE_GAIN_MIN: f32 = 0.000_25;
/// Recordings that start within this time are sent to the device, which starts them at the exact
/// sample.
const LOOKAHEAD_SECONDS: f64 = 0.1;

/// Totals of curve values.
#[derive(Clone, Copy)]
struct CurveTotals {
    db: f32,
    pitch: f32,
    cutoff_hz: f32,
    pan: f32,
}

/// The sources in which a voice's parameters are looked up.
struct ParameterSources<'a> {
    parameters: &'a ParameterTable,
    buses: &'a BusStates,
    global: ParameterList,
    list: ParameterList,
    bus: usize,
}

impl ParameterSources<'_> {
    #[inline]
    fn bits(&self, definition: &SoundRules, index: u32) -> Option<u32> {
        let parameter = &definition.parameters[index as usize];
        let ParameterSources { parameters, buses, global, list, bus } = *self;
        buses.lookup(parameters, list, bus, global, parameter.key).or(parameter.default)
    }

    /// Adds curve values to a sum. A curve whose parameter has no value is skipped; this can happen
    /// only with new rules.
    #[inline]
    fn add(&self, definition: &SoundRules, curves: &[ParameterCurve], sum: &mut CurveTotals) {
        for curve in curves {
            let Some(bits) = self.bits(definition, curve.parameter) else { continue };
            let x = f32::from_bits(bits);
            let y = curve::value(definition.points_of(curve), curve.easing, x);
            match curve.target {
                CurveTarget::VolumeDb => sum.db += y,
                CurveTarget::Pitch => sum.pitch *= y,
                CurveTarget::CutoffHz => sum.cutoff_hz = sum.cutoff_hz.min(y),
                CurveTarget::Pan => sum.pan += y,
            }
        }
    }
}

impl Voices {
    /// Advances everything by `delta` seconds. Commands for the device are then in
    /// [`Voices::commands`], and events for games in [`Voices::readable_events`].
    pub fn step(&mut self, delta: f64) {
        self.evaluate();
        self.update_spatial_levels(delta as f32);
        self.reselect();
        self.select_audible(delta);
        self.send(delta);
        self.advance(delta);
        self.send_bar_events(delta);
        self.time += delta;
        self.readable_events.clear();
        self.readable_events.extend(self.events.drain(..));
        let lost = self.lost_events - std::mem::replace(&mut self.warned_events, self.lost_events);
        if lost > 0 {
            log::warning(&format!(
                "{lost} events of sounds were lost in one frame: there can be {EVENTS_MAX} \
                 (EVENTS_MAX)"
            ));
        }
    }

    /// Evaluates the curves of parameters into levels.
    pub fn evaluate(&mut self) {
        let Voices { parameters, buses, global, library, voices, lists, levels, parts, .. } = self;
        for index in self.active.iter().map(|index| *index as usize) {
            let voice = voices[index].as_ref().expect("active voices exist");
            let definition = &library.sounds[voice.sound as usize].definition;
            let (bus, list, global) = (voice.bus, lists[index], *global);
            let sources = ParameterSources { parameters, buses, global, list, bus };
            let mut sum = CurveTotals {
                db: definition.options.volume_db + voice.random_db,
                pitch: definition.options.pitch * voice.pitch * voice.random_pitch,
                cutoff_hz: 24_000.0,
                pan: (voice.pan + definition.options.pan).clamp(-1.0, 1.0),
            };
            let curves = &definition.curves[..definition.sound_curves as usize];
            sources.add(definition, curves, &mut sum);
            let level = &mut levels[index];
            level.gain = decibels(sum.db) * voice.volume.value() * voice.envelope.value();
            (level.pitch, level.cutoff_hz, level.pan) = (sum.pitch, sum.cutoff_hz, sum.pan);
            for (layer, rules) in definition.layers.iter().enumerate() {
                let part = &mut parts[index * LAYERS_MAX + layer];
                if part.state != VoicePartState::Playing {
                    continue;
                }
                let mut sum = CurveTotals {
                    db: rules.volume_db + part.chosen.volume_db,
                    pitch: rules.pitch * part.chosen.pitch,
                    cutoff_hz: 24_000.0,
                    pan: 0.0,
                };
                if rules.curves > 0 {
                    sources.add(definition, definition.curves_of(rules), &mut sum);
                }
                part.gain = decibels(sum.db);
                (part.pitch, part.cutoff_hz, part.pan) = (sum.pitch, sum.cutoff_hz, sum.pan);
            }
        }
    }

    /// Applies spatialization, occlusion and fades.
    fn update_spatial_levels(&mut self, delta: f32) {
        for (_, world) in self.worlds.iter_mut() {
            for (listener, last) in world.listeners.iter_mut().zip(&mut world.last_positions) {
                if let Some(listener) = listener {
                    listener.velocity = spatialization::velocity(*last, listener.position, delta);
                    *last = listener.position;
                }
            }
        }
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices exist");
            Voices::follow(voice, delta);
            let level = &mut self.levels[index];
            let options = &self.library.sounds[voice.sound as usize].definition.options;
            occlude(voice.occlusion, options, &mut level.gain, &mut level.cutoff_hz);
            if let (Some(position), Some(world)) = (voice.position, self.worlds.get(voice.world)) {
                let mut listeners =
                    [spatialization::Listener::DEFAULT; spatialization::LISTENERS_MAX];
                let mut count = 0;
                for listener in world.listeners.iter().flatten() {
                    listeners[count] = *listener;
                    count += 1;
                }
                let ears = &listeners[..count.max(1)];
                let spatial = spatialization::spatialize(ears, position, voice.velocity, options);
                level.gain *= spatial.gain;
                level.pan += spatial.pan;
                level.pitch *= spatial.pitch;
            }
            level.audible = level.gain * self.buses.states[voice.bus].total;
            let paused = voice.paused || self.worlds.get(voice.world).is_none_or(|w| w.paused);
            if !paused {
                // A voice that has not begun does not duck others, and its fade-in waits for its
                // start.
                let parts = &self.parts[index * LAYERS_MAX..][..LAYERS_MAX];
                let there = parts.iter().filter(|part| part.state != VoicePartState::Empty);
                let start = there.map(|part| part.start_at).fold(f64::MAX, f64::min);
                let elapsed = ((self.time - start) as f32 + delta).clamp(0.0, delta);
                if elapsed > 0.0 {
                    let loudest = &mut self.buses.states[voice.bus].loudest;
                    *loudest = loudest.max(level.gain);
                }
                voice.volume.passed += delta;
                voice.envelope.passed += if voice.ending { delta } else { elapsed };
            }
        }
        let commands = &mut self.commands;
        self.buses.step(delta, |bus, gain| {
            commands.push(MixerCommand::Bus { bus: bus as u32, gain });
        });
    }

    /// Chooses the recordings of loops again, for voices whose switches changed.
    fn reselect(&mut self) {
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices exist");
            if !std::mem::take(&mut voice.stale_choice) {
                continue;
            }
            let (bus, list, global) = (voice.bus, self.lists[index], self.global);
            let (parameters, buses) = (&self.parameters, &self.buses);
            let sources = ParameterSources { parameters, buses, global, list, bus };
            let sound = &mut self.library.sounds[voice.sound as usize];
            for layer in 0..sound.definition.layers.len() {
                let rules = &sound.definition.layers[layer];
                let repeat = voice.repeat.of(rules.repeat);
                let part = &mut self.parts[index * LAYERS_MAX + layer];
                if part.sent && part.state == VoicePartState::Playing {
                    // The loop differs from the device's. It is sent again, and continues from its
                    // current position.
                    let recordings = &self.library.recordings;
                    let length = recordings[part.recording as usize].file.seconds();
                    if repeat.map(|repeat| loop_region(repeat, length)) != part.repeat {
                        part.sent = false;
                        let part = (index * LAYERS_MAX + layer) as u32;
                        self.commands
                            .push(MixerCommand::Stop { part, seconds: DECLICK_FADE_SECONDS });
                    }
                }
                let values = |index: u32| sources.bits(&sound.definition, index);
                let continues = part.state != VoicePartState::Playing
                    || repeat.is_none()
                    || (sound.recording(part.chosen.file) == Some(part.recording)
                        && container_selection::leads_to(
                            &sound.definition,
                            rules.root,
                            &values,
                            part.chosen.file,
                        ));
                if continues {
                    continue;
                }
                let chosen = container_selection::choose(
                    &sound.definition,
                    rules.root,
                    &values,
                    &mut sound.memory,
                    &mut self.random,
                );
                // If a switch leads nowhere, the current recording continues.
                let Ok(chosen) = chosen else { continue };
                let recordings = (&sound.recordings, sound.own);
                let recording = match chosen.file {
                    Some(file) => recordings.0.get(file as usize).copied(),
                    None => recordings.1,
                };
                let Some(recording) = recording else { continue };
                if std::mem::take(&mut part.sent) {
                    let part = (index * LAYERS_MAX + layer) as u32;
                    self.commands.push(MixerCommand::Stop { part, seconds: 0.05 });
                }
                (part.chosen, part.recording, part.seconds) = (chosen, recording, 0.0);
                part.start_at = part.start_at.max(self.time);
            }
        }
    }

    /// Selects the voices to mix: all that are audible, or the most important and loudest of them.
    /// Voices that are paused, or do not begin soon, use no slots.
    fn select_audible(&mut self, delta: f64) {
        let soon = self.time + delta + LOOKAHEAD_SECONDS;
        let mut wanted = 0;
        for index in self.active.iter().map(|index| *index as usize) {
            let level = &mut self.levels[index];
            level.is_mixed = level.audible >= AUDIBLE_GAIN_MIN;
            if level.is_mixed {
                wanted += self.part_count(index, soon);
            }
        }
        if wanted <= self.mixed_max {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.active.iter().filter(|i| self.levels[**i as usize].is_mixed));
        // The sort is stable: of equal voices the older one stays.
        order.sort_by(|a, b| {
            let paused = |i: &u32| {
                let voice = self.get(*i);
                voice.paused || self.worlds.get(voice.world).is_none_or(|world| world.paused)
            };
            let priority = |i: &u32| self.get(*i).priority;
            let audible = |i: &u32| self.levels[*i as usize].audible;
            let (by_priority, by_level) =
                (priority(b).total_cmp(&priority(a)), audible(b).total_cmp(&audible(a)));
            paused(a).cmp(&paused(b)).then(by_priority).then(by_level)
        });
        let mut mixed = 0;
        for index in order.iter().map(|index| *index as usize) {
            let part_count = self.part_count(index, soon);
            // A voice that does not fit leaves its slots to those that do.
            let fits = mixed + part_count <= self.mixed_max;
            mixed += if fits { part_count } else { 0 };
            self.levels[index].is_mixed = fits;
        }
        self.order = order;
    }

    /// Returns the number of recordings of a voice that the device has, or would get now.
    fn part_count(&self, index: usize, soon: f64) -> usize {
        let parts = &self.parts[index * LAYERS_MAX..][..LAYERS_MAX];
        let is_needed = |part: &&VoicePart| {
            part.state == VoicePartState::Playing && (part.sent || part.start_at < soon)
        };
        parts.iter().filter(is_needed).count()
    }

    /// Queues the commands to the device.
    fn send(&mut self, delta: f64) {
        let soon = self.time + delta + LOOKAHEAD_SECONDS;
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices exist");
            let paused = voice.paused || self.worlds.get(voice.world).is_none_or(|w| w.paused);
            let level = self.levels[index];
            let new = std::mem::take(&mut voice.new);
            let sound = &self.library.sounds[voice.sound as usize];
            for layer in 0..sound.definition.layers.len() {
                let slot = index * LAYERS_MAX + layer;
                let part = &mut self.parts[slot];
                if part.state != VoicePartState::Playing {
                    continue;
                }
                let mix = mix_of(&level, part);
                let number = slot as u32;
                if new {
                    let bus = &self.buses.mixer.buses[voice.bus].name;
                    let played = played(voice, part, bus, &level, &mix, self.time);
                    if self.history.len() == HISTORY_MAX {
                        self.history.pop_front();
                    }
                    self.history.push_back(played);
                }
                // A part that was sent but has not begun waits here while it is paused, because the
                // device would start it at its time.
                let waits = paused && part.start_at > self.time;
                if part.sent && (!level.is_mixed || waits) {
                    self.commands
                        .push(MixerCommand::Stop { part: number, seconds: DECLICK_FADE_SECONDS });
                    part.sent = false;
                } else if part.sent {
                    if part.paused_sent != paused {
                        self.commands.push(MixerCommand::Pause { part: number, paused });
                        part.paused_sent = paused;
                    }
                    if part.mix != mix {
                        self.commands.push(MixerCommand::Mix { part: number, mix });
                    }
                } else if level.is_mixed && !paused && part.start_at < soon {
                    let repeat = voice.repeat.of(sound.definition.layers[layer].repeat);
                    let length = self.library.recordings[part.recording as usize].file.seconds();
                    part.repeat = repeat.map(|repeat| loop_region(repeat, length));
                    self.commands.push(MixerCommand::Start(ClipStart {
                        part: number,
                        sound: voice.sound,
                        recording: part.recording,
                        seconds: part.seconds,
                        repeat: part.repeat,
                        bus: voice.bus as u32,
                        at: (part.start_at > self.time).then_some(part.start_at),
                        mix,
                        rises: part.seconds > 0.0,
                    }));
                    (part.sent, part.paused_sent) = (true, false);
                }
                part.mix = mix;
            }
        }
    }

    /// Advances the playback positions: recordings continue, repeat or end.
    fn advance(&mut self, delta: f64) {
        let mut ended = std::mem::take(&mut self.order);
        ended.clear();
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices exist");
            let paused = voice.paused || self.worlds.get(voice.world).is_none_or(|w| w.paused);
            let sound = &self.library.sounds[voice.sound as usize];
            let mut alive = false;
            for (layer, rules) in sound.definition.layers.iter().enumerate() {
                let part = &mut self.parts[index * LAYERS_MAX + layer];
                if part.state != VoicePartState::Playing {
                    continue;
                }
                if paused {
                    // A part that waits for its start keeps waiting.
                    if part.start_at > self.time {
                        part.start_at += delta;
                    }
                    alive = true;
                    continue;
                }
                let passed = (self.time + delta - part.start_at.max(self.time)).max(0.0);
                part.seconds += passed * f64::from(part.mix.rate);
                let length = self.library.recordings[part.recording as usize].file.seconds();
                let repeat = voice.repeat.of(rules.repeat);
                match repeat.map(|repeat| loop_region(repeat, length)) {
                    Some((start, end)) if part.seconds >= end => {
                        part.seconds = start + (part.seconds - end) % (end - start);
                        alive = true;
                    }
                    None if part.seconds >= length => part.state = VoicePartState::Done,
                    _ => alive = true,
                }
            }
            let faded = voice.ending && voice.envelope.passed >= voice.envelope.seconds;
            if !alive || faded {
                ended.push(index as u32);
            }
        }
        for index in ended.drain(..) {
            let stopped = self.get(index).ending;
            let (reason, cut) =
                if stopped { ("stopped", Some(DECLICK_FADE_SECONDS)) } else { ("finished", None) };
            self.end(index, reason, cut);
        }
        self.order = ended;
    }

    fn send_bar_events(&mut self, delta: f64) {
        let mut bars = Vec::new();
        for clock in &mut self.clocks {
            // The bar that has begun at the end of this step.
            let bar = clock.position(self.time + delta).0 as u64;
            if bar > clock.last_bar {
                clock.last_bar = bar;
                bars.push(SoundEventKind::Bar { clock: clock.name.clone(), bar });
            }
        }
        bars.into_iter().for_each(|kind| self.push_event(SoundEvent { kind, world: None }));
    }

    /// Passes a hash of each part of the simulation state to `each`. The first, with key 0, covers
    /// time, random numbers, clocks, buses, global parameters and listeners. The others cover, by
    /// its handle, each voice with its playback position and its parameters.
    pub fn each_hash(&self, mut each: impl FnMut(u64, u64)) {
        let mut hash = StateHash::new(0);
        hash.write_f64(self.time);
        for word in self.random.state() {
            hash.write_u64(word);
        }
        self.hash_shared(&mut hash);
        each(0, hash.finish());
        for index in self.active.iter().map(|index| *index as usize) {
            let voice = self.voices[index].as_ref().expect("active voices exist");
            let mut hash = StateHash::new(0);
            hash_fade(&mut hash, &voice.volume);
            hash_fade(&mut hash, &voice.envelope);
            hash.write_u64(u64::from(voice.paused) + 2 * u64::from(voice.ending));
            hash.write_u64(voice.bus as u64);
            for value in [voice.pitch, voice.pan, voice.priority, voice.occlusion] {
                hash.write_f32(value);
            }
            for value in voice.position.map_or([f32::NAN; 3], |position| position.to_array()) {
                hash.write_f32(value);
            }
            voice.repeat.write_hash(&mut hash);
            self.hash_parameters(&mut hash, self.lists[index]);
            for part in &self.parts[index * LAYERS_MAX..][..LAYERS_MAX] {
                if part.state != VoicePartState::Empty {
                    hash.write_u64(u64::from(part.recording));
                    hash.write_f64(part.seconds);
                    hash.write_f64(part.start_at);
                }
            }
            each(voice.handle.to_number() as u64, hash.finish());
        }
    }

    fn hash_parameters(&self, hash: &mut StateHash, list: ParameterList) {
        self.parameters.each(list, |key, bits| {
            hash.write_u64(u64::from(key) << 32 | u64::from(bits));
        });
    }

    /// Hashes the shared state: clocks, buses, parameters of the game, the worlds.
    fn hash_shared(&self, hash: &mut StateHash) {
        for clock in &self.clocks {
            hash.write_u64(u64::from(clock.id.0));
            for value in [clock.start, clock.beats_per_minute, clock.beats_per_bar] {
                hash.write_f64(value);
            }
            hash.write_u64(clock.last_bar);
        }
        for state in &self.buses.states {
            hash_fade(hash, &state.volume);
            hash.write_f32(state.ducked_db);
            self.hash_parameters(hash, state.parameters);
        }
        self.hash_parameters(hash, self.global);
        for (_, world) in self.worlds.iter() {
            hash.write_u64(u64::from(world.paused));
            for listener in world.listeners.iter().flatten() {
                let (position, right) = (listener.position.to_array(), listener.right.to_array());
                position.into_iter().chain(right).for_each(|value| hash.write_f32(value));
            }
        }
    }

    /// Returns one hash of the whole state.
    pub fn hash(&self) -> u64 {
        let mut all = StateHash::new(0);
        self.each_hash(|object, hash| {
            all.write_u64(object);
            all.write_u64(hash);
        });
        all.finish()
    }

    /// Returns the name of the sound that a living voice plays.
    pub fn name_of(&self, voice: u64) -> Option<&str> {
        let handle = Handle::from_number(voice as f64)?;
        let index = *self.slots.get(handle)? as usize;
        let sound = self.voices[index].as_ref()?.sound;
        Some(&self.library.sounds[sound as usize].name)
    }
}

fn hash_fade(hash: &mut StateHash, fade: &VolumeFade) {
    for value in [fade.from, fade.to, fade.passed, fade.seconds] {
        hash.write_f32(value);
    }
}

fn occlude(amount: f32, options: &SoundOptions, gain: &mut f32, cutoff_hz: &mut f32) {
    if amount > 0.0 {
        *gain *= decibels(options.occlusion_db * amount);
        // From open to the sound's own frequency, in even steps of pitch.
        let closed = (options.occlusion_hz / OPEN_HZ).powf(amount) * OPEN_HZ;
        *cutoff_hz = cutoff_hz.min(closed);
    }
}

fn mix_of(level: &super::voices::VoiceLevel, part: &VoicePart) -> MixLevels {
    let (left, right) = spatialization::sides(level.pan + part.pan);
    let gain = level.gain * part.gain;
    MixLevels {
        left: gain * left,
        right: gain * right,
        rate: (level.pitch * part.pitch).clamp(0.01, 16.0),
        cutoff_hz: level.cutoff_hz.min(part.cutoff_hz),
    }
}

fn played(
    voice: &Voice,
    part: &VoicePart,
    bus: &str,
    level: &super::voices::VoiceLevel,
    mix: &MixLevels,
    time: f64,
) -> PlayedClip {
    PlayedClip {
        voice: voice.handle,
        sound: voice.sound,
        recording: part.recording,
        at: part.start_at.max(time),
        bus: bus.to_string(),
        gain: level.gain * part.gain,
        pan: (level.pan + part.pan).clamp(-1.0, 1.0),
        pitch: mix.rate,
        cutoff_hz: mix.cutoff_hz,
    }
}
