//! The passes of a frame over all voices: parameters through curves, space, fades, which voices are
//! heard, what the device is told, time. Each is one walk over arrays.

use super::bus::{Buses, decibels};
use super::choose;
use super::curve::{self, Target};
use super::definition::{Curve, Definition, LAYERS_MAX, Loop, Options};
use super::parameters::{List, Parameters};
use super::space;
use super::voices::{
    CUT_SECONDS, Command, EVENTS_MAX, Event, EventKind, Fade, HISTORY_MAX, Mix, Part, PartState,
    Played, Start, Voice, Voices,
};
use crate::foundation::hash::StateHash;
use crate::foundation::{Handle, log};

/// A low-pass filter at this frequency, or above, takes nothing that can be heard.
pub const OPEN_HZ: f32 = 20_000.0;
/// What is quieter is not mixed: -72 decibels.
const HEARD_MIN: f32 = 0.000_25;
/// What begins this soon is handed to the device, which starts it at its sample.
const AHEAD_SECONDS: f64 = 0.1;

/// What curves add up to.
#[derive(Clone, Copy)]
struct Sum {
    db: f32,
    pitch: f32,
    cutoff_hz: f32,
    pan: f32,
}

/// Where a voice's parameters are looked up.
struct Sources<'a> {
    parameters: &'a Parameters,
    buses: &'a Buses,
    global: List,
    list: List,
    bus: usize,
}

impl Sources<'_> {
    #[inline]
    fn bits(&self, definition: &Definition, index: u32) -> Option<u32> {
        let parameter = &definition.parameters[index as usize];
        let Sources { parameters, buses, global, list, bus } = *self;
        buses.lookup(parameters, list, bus, global, parameter.key).or(parameter.default)
    }

    /// Adds the curves to a sum. A curve without a value, which only new rules can bring, is out.
    #[inline]
    fn add(&self, definition: &Definition, curves: &[Curve], sum: &mut Sum) {
        for curve in curves {
            let Some(bits) = self.bits(definition, curve.parameter) else { continue };
            let x = f32::from_bits(bits);
            let y = curve::value(definition.points_of(curve), curve.easing, x);
            match curve.target {
                Target::VolumeDb => sum.db += y,
                Target::Pitch => sum.pitch *= y,
                Target::CutoffHz => sum.cutoff_hz = sum.cutoff_hz.min(y),
                Target::Pan => sum.pan += y,
            }
        }
    }
}

impl Voices {
    /// Moves everything on by `delta` seconds. What the device must be told is in
    /// [`Voices::commands`] then, and what games can hear of in [`Voices::told`].
    pub fn step(&mut self, delta: f64) {
        self.evaluate();
        self.place(delta as f32);
        self.choose_again();
        self.choose_heard(delta);
        self.send(delta);
        self.advance(delta);
        self.tell_bars(delta);
        self.time += delta;
        self.told.clear();
        self.told.extend(self.events.drain(..));
        let lost = self.lost_events - std::mem::replace(&mut self.lost_told, self.lost_events);
        if lost > 0 {
            log::warning(&format!(
                "{lost} events of sounds were lost in one frame: there can be {EVENTS_MAX} \
                 (EVENTS_MAX)"
            ));
        }
    }

    /// Parameters, through curves, to levels.
    pub fn evaluate(&mut self) {
        let Voices { parameters, buses, global, library, voices, lists, levels, parts, .. } = self;
        for index in self.active.iter().map(|index| *index as usize) {
            let voice = voices[index].as_ref().expect("active voices are there");
            let definition = &library.sounds[voice.sound as usize].definition;
            let (bus, list, global) = (voice.bus, lists[index], *global);
            let sources = Sources { parameters, buses, global, list, bus };
            let mut sum = Sum {
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
                if part.state != PartState::Playing {
                    continue;
                }
                let mut sum = Sum {
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

    /// Space, occlusion, fades.
    fn place(&mut self, delta: f32) {
        for (_, world) in self.worlds.iter_mut() {
            for (listener, last) in world.listeners.iter_mut().zip(&mut world.last_positions) {
                if let Some(listener) = listener {
                    listener.velocity = space::velocity(*last, listener.position, delta);
                    *last = listener.position;
                }
            }
        }
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices are there");
            Voices::follow(voice, delta);
            let level = &mut self.levels[index];
            let options = &self.library.sounds[voice.sound as usize].definition.options;
            occlude(voice.occlusion, options, &mut level.gain, &mut level.cutoff_hz);
            if let (Some(position), Some(world)) = (voice.position, self.worlds.get(voice.world)) {
                let mut listeners = [space::Listener::DEFAULT; space::LISTENERS_MAX];
                let mut count = 0;
                for listener in world.listeners.iter().flatten() {
                    listeners[count] = *listener;
                    count += 1;
                }
                let ears = &listeners[..count.max(1)];
                let heard = space::hear(ears, position, voice.velocity, options);
                level.gain *= heard.gain;
                level.pan += heard.pan;
                level.pitch *= heard.pitch;
            }
            level.audible = level.gain * self.buses.states[voice.bus].total;
            let paused = voice.paused || self.worlds.get(voice.world).is_none_or(|w| w.paused);
            if !paused {
                // A voice that has not begun makes nobody quiet, and its rise waits for it.
                let parts = &self.parts[index * LAYERS_MAX..][..LAYERS_MAX];
                let there = parts.iter().filter(|part| part.state != PartState::Empty);
                let start = there.map(|part| part.start_at).fold(f64::MAX, f64::min);
                let begun = ((self.time - start) as f32 + delta).clamp(0.0, delta);
                if begun > 0.0 {
                    let loudest = &mut self.buses.states[voice.bus].loudest;
                    *loudest = loudest.max(level.gain);
                }
                voice.volume.passed += delta;
                voice.envelope.passed += if voice.ending { delta } else { begun };
            }
        }
        let commands = &mut self.commands;
        self.buses.step(delta, |bus, gain| {
            commands.push(Command::Bus { bus: bus as u32, gain });
        });
    }

    /// Has loops of voices whose switches changed play what they lead to now.
    fn choose_again(&mut self) {
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices are there");
            if !std::mem::take(&mut voice.stale_choice) {
                continue;
            }
            let (bus, list, global) = (voice.bus, self.lists[index], self.global);
            let (parameters, buses) = (&self.parameters, &self.buses);
            let sources = Sources { parameters, buses, global, list, bus };
            let sound = &mut self.library.sounds[voice.sound as usize];
            for layer in 0..sound.definition.layers.len() {
                let rules = &sound.definition.layers[layer];
                let part = &mut self.parts[index * LAYERS_MAX + layer];
                if part.sent && part.state == PartState::Playing {
                    // Another loop than the device has: it goes on with that, from where it is.
                    let recordings = &self.library.recordings;
                    let length = recordings[part.recording as usize].file.seconds();
                    if rules.repeat.map(|repeat| region(repeat, length)) != part.repeat {
                        part.sent = false;
                        let part = (index * LAYERS_MAX + layer) as u32;
                        self.commands.push(Command::Stop { part, seconds: CUT_SECONDS });
                    }
                }
                let values = |index: u32| sources.bits(&sound.definition, index);
                let goes_on = part.state != PartState::Playing
                    || rules.repeat.is_none()
                    || (sound.recording(part.chosen.file) == Some(part.recording)
                        && choose::leads_to(
                            &sound.definition,
                            rules.root,
                            &values,
                            part.chosen.file,
                        ));
                if goes_on {
                    continue;
                }
                let chosen = choose::choose(
                    &sound.definition,
                    rules.root,
                    &values,
                    &mut sound.memory,
                    &mut self.random,
                );
                // A switch that leads nowhere lets go on what plays.
                let Ok(chosen) = chosen else { continue };
                let recordings = (&sound.recordings, sound.own);
                let recording = match chosen.file {
                    Some(file) => recordings.0.get(file as usize).copied(),
                    None => recordings.1,
                };
                let Some(recording) = recording else { continue };
                if std::mem::take(&mut part.sent) {
                    let part = (index * LAYERS_MAX + layer) as u32;
                    self.commands.push(Command::Stop { part, seconds: 0.05 });
                }
                (part.chosen, part.recording, part.seconds) = (chosen, recording, 0.0);
                part.start_at = part.start_at.max(self.time);
            }
        }
    }

    /// Which voices are mixed: all that can be heard, or the most important and loudest of them.
    /// Those that are paused, or do not begin soon, take no place from others.
    fn choose_heard(&mut self, delta: f64) {
        let soon = self.time + delta + AHEAD_SECONDS;
        let mut wanted = 0;
        for index in self.active.iter().map(|index| *index as usize) {
            let level = &mut self.levels[index];
            level.heard = level.audible >= HEARD_MIN;
            if level.heard {
                wanted += self.places(index, soon);
            }
        }
        if wanted <= self.mixed_max {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.active.iter().filter(|i| self.levels[**i as usize].heard));
        // A stable sort: of equals the older one stays.
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
            let places = self.places(index, soon);
            // One that does not fit leaves its places to those that do.
            let fits = mixed + places <= self.mixed_max;
            mixed += if fits { places } else { 0 };
            self.levels[index].heard = fits;
        }
        self.order = order;
    }

    /// How many recordings of a voice the device has, or would get now.
    fn places(&self, index: usize, soon: f64) -> usize {
        let parts = &self.parts[index * LAYERS_MAX..][..LAYERS_MAX];
        let there =
            |part: &&Part| part.state == PartState::Playing && (part.sent || part.start_at < soon);
        parts.iter().filter(there).count()
    }

    /// What the device has to be told.
    fn send(&mut self, delta: f64) {
        let soon = self.time + delta + AHEAD_SECONDS;
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices are there");
            let paused = voice.paused || self.worlds.get(voice.world).is_none_or(|w| w.paused);
            let level = self.levels[index];
            let new = std::mem::take(&mut voice.new);
            let sound = &self.library.sounds[voice.sound as usize];
            for layer in 0..sound.definition.layers.len() {
                let place = index * LAYERS_MAX + layer;
                let part = &mut self.parts[place];
                if part.state != PartState::Playing {
                    continue;
                }
                let mix = mix_of(&level, part);
                let number = place as u32;
                if new {
                    let bus = &self.buses.mixer.buses[voice.bus].name;
                    let played = played(voice, part, bus, &level, &mix, self.time);
                    if self.history.len() == HISTORY_MAX {
                        self.history.pop_front();
                    }
                    self.history.push_back(played);
                }
                // What the device has and has not begun waits here while it is paused: there it
                // would begin when it was to.
                let waits = paused && part.start_at > self.time;
                if part.sent && (!level.heard || waits) {
                    self.commands.push(Command::Stop { part: number, seconds: CUT_SECONDS });
                    part.sent = false;
                } else if part.sent {
                    if part.held != paused {
                        self.commands.push(Command::Pause { part: number, paused });
                        part.held = paused;
                    }
                    if part.mix != mix {
                        self.commands.push(Command::Mix { part: number, mix });
                    }
                } else if level.heard && !paused && part.start_at < soon {
                    let repeat = sound.definition.layers[layer].repeat;
                    let length = self.library.recordings[part.recording as usize].file.seconds();
                    part.repeat = repeat.map(|repeat| region(repeat, length));
                    self.commands.push(Command::Start(Start {
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
                    (part.sent, part.held) = (true, false);
                }
                part.mix = mix;
            }
        }
    }

    /// Time passes: recordings go on, repeat, end.
    fn advance(&mut self, delta: f64) {
        let mut ended = std::mem::take(&mut self.order);
        ended.clear();
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices are there");
            let paused = voice.paused || self.worlds.get(voice.world).is_none_or(|w| w.paused);
            let sound = &self.library.sounds[voice.sound as usize];
            let mut alive = false;
            for (layer, rules) in sound.definition.layers.iter().enumerate() {
                let part = &mut self.parts[index * LAYERS_MAX + layer];
                if part.state != PartState::Playing {
                    continue;
                }
                if paused {
                    // What waits for its time waits on.
                    if part.start_at > self.time {
                        part.start_at += delta;
                    }
                    alive = true;
                    continue;
                }
                let passed = (self.time + delta - part.start_at.max(self.time)).max(0.0);
                part.seconds += passed * f64::from(part.mix.rate);
                let length = self.library.recordings[part.recording as usize].file.seconds();
                match rules.repeat.map(|repeat| region(repeat, length)) {
                    Some((start, end)) if part.seconds >= end => {
                        part.seconds = start + (part.seconds - end) % (end - start);
                        alive = true;
                    }
                    None if part.seconds >= length => part.state = PartState::Done,
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
                if stopped { ("stopped", Some(CUT_SECONDS)) } else { ("finished", None) };
            self.end(index, reason, cut);
        }
        self.order = ended;
    }

    fn tell_bars(&mut self, delta: f64) {
        let mut bars = Vec::new();
        for clock in &mut self.clocks {
            // The bar that has begun when this step is over.
            let bar = clock.position(self.time + delta).0 as u64;
            if bar > clock.told_bar {
                clock.told_bar = bar;
                bars.push(EventKind::Bar { clock: clock.name.clone(), bar });
            }
        }
        bars.into_iter().for_each(|kind| self.note(Event { kind, world: None }));
    }

    /// Tells a hash of each thing that decides how it goes on: first, as 0, time, random choices,
    /// clocks, buses, what is set for all, and who listens; then, by its handle, each voice with
    /// its place in time and its parameters.
    pub fn each_hash(&self, mut each: impl FnMut(u64, u64)) {
        let mut hash = StateHash::new(0);
        hash.write_f64(self.time);
        for word in self.random.state() {
            hash.write_u64(word);
        }
        self.hash_shared(&mut hash);
        each(0, hash.finish());
        for index in self.active.iter().map(|index| *index as usize) {
            let voice = self.voices[index].as_ref().expect("active voices are there");
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
            self.hash_parameters(&mut hash, self.lists[index]);
            for part in &self.parts[index * LAYERS_MAX..][..LAYERS_MAX] {
                if part.state != PartState::Empty {
                    hash.write_u64(u64::from(part.recording));
                    hash.write_f64(part.seconds);
                    hash.write_f64(part.start_at);
                }
            }
            each(voice.handle.to_number() as u64, hash.finish());
        }
    }

    fn hash_parameters(&self, hash: &mut StateHash, list: List) {
        self.parameters.each(list, |key, bits| {
            hash.write_u64(u64::from(key) << 32 | u64::from(bits));
        });
    }

    /// What is nobody's own: clocks, buses, parameters of the game, the worlds.
    fn hash_shared(&self, hash: &mut StateHash) {
        for clock in &self.clocks {
            hash.write_u64(u64::from(clock.id.0));
            for value in [clock.start, clock.beats_per_minute, clock.beats_per_bar] {
                hash.write_f64(value);
            }
            hash.write_u64(clock.told_bar);
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
                let (place, right) = (listener.position.to_array(), listener.right.to_array());
                place.into_iter().chain(right).for_each(|value| hash.write_f32(value));
            }
        }
    }

    /// All of them as one.
    pub fn hash(&self) -> u64 {
        let mut all = StateHash::new(0);
        self.each_hash(|object, hash| {
            all.write_u64(object);
            all.write_u64(hash);
        });
        all.finish()
    }

    /// Which sound a living voice plays.
    pub fn name_of(&self, voice: u64) -> Option<&str> {
        let handle = Handle::from_number(voice as f64)?;
        let index = *self.slots.get(handle)? as usize;
        let sound = self.voices[index].as_ref()?.sound;
        Some(&self.library.sounds[sound as usize].name)
    }
}

fn hash_fade(hash: &mut StateHash, fade: &Fade) {
    for value in [fade.from, fade.to, fade.passed, fade.seconds] {
        hash.write_f32(value);
    }
}

fn occlude(amount: f32, options: &Options, gain: &mut f32, cutoff_hz: &mut f32) {
    if amount > 0.0 {
        *gain *= decibels(options.occlusion_db * amount);
        // From open to the sound's own frequency, in even steps of pitch.
        let closed = (options.occlusion_hz / OPEN_HZ).powf(amount) * OPEN_HZ;
        *cutoff_hz = cutoff_hz.min(closed);
    }
}

fn mix_of(level: &super::voices::Level, part: &Part) -> Mix {
    let (left, right) = space::sides(level.pan + part.pan);
    let gain = level.gain * part.gain;
    Mix {
        left: gain * left,
        right: gain * right,
        rate: (level.pitch * part.pitch).clamp(0.01, 16.0),
        cutoff_hz: level.cutoff_hz.min(part.cutoff_hz),
    }
}

/// Start and end of a loop in a recording of so many seconds. One that lies outside is the whole.
fn region(repeat: Loop, length: f64) -> (f64, f64) {
    let end = match repeat.end_seconds {
        0.0 => length,
        end => f64::from(end).min(length),
    };
    let start = f64::from(repeat.start_seconds);
    if start < end { (start, end) } else { (0.0, length) }
}

fn played(
    voice: &Voice,
    part: &Part,
    bus: &str,
    level: &super::voices::Level,
    mix: &Mix,
    time: f64,
) -> Played {
    Played {
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
