//! Voices: what was triggered and has not ended, with everything that shapes it. Pure state, in
//! arrays by voice: knows no device, and runs the same with and without one. Each frame's passes
//! over it are in step.rs.

use super::bus::Buses;
use super::choose::{self, Chosen, Given};
use super::clock::{CLOCKS_MAX, Clock};
use super::definition::{LAYERS_MAX, Policy};
use super::library::Library;
use super::parameters::{List, PARAMETERS_MAX, Parameters, Setting, Tag};
pub use super::voice::*;
use super::{shared, words};
use crate::error;
use crate::foundation::hash::IdString32;
use crate::foundation::random::Random;
use crate::foundation::{Error, Handle, Kind, Slots, Vec3};
use crate::resource::store::Store;
use std::collections::VecDeque;

/// The most voices at once, heard or not. One more ends another, or does not start.
pub const VOICES_MAX: usize = 1024;
/// The most events of one frame.
pub const EVENTS_MAX: usize = 4096;
/// How many of the recordings that were started last are remembered.
pub const HISTORY_MAX: usize = 1000;
/// Seconds in which a voice ends that is cut off: none of them clicks.
pub const CUT_SECONDS: f32 = 0.02;

/// All voices.
pub struct Voices {
    pub slots: Slots<u32>,
    pub worlds: Slots<SoundWorld>,
    pub library: Library,
    pub buses: Buses,
    pub parameters: Parameters,
    pub global: List,
    pub clocks: Vec<Clock>,
    /// Seconds of sound: the sum of all steps.
    pub time: f64,
    /// Living voices, oldest first.
    pub active: Vec<u32>,
    pub lists: Vec<List>,
    pub voices: Vec<Option<Voice>>,
    pub levels: Vec<Level>,
    pub parts: Vec<Part>,
    free: Vec<u32>,
    /// How many recordings are mixed at once.
    pub mixed_max: usize,
    pub commands: Vec<Command>,
    pub events: VecDeque<Event>,
    /// Of the last step: what games read.
    pub told: Vec<Event>,
    /// All so far.
    pub lost_events: u64,
    /// How many of them were warned of.
    pub(super) lost_told: u64,
    pub history: VecDeque<Played>,
    pub random: Random,
    /// Whether types and names are checked wherever they come in.
    pub checked: bool,
    ages: u64,
    /// Of the game's frame, for the words of stale handles.
    pub frame: u64,
    /// Buffers of the passes, kept so that a frame makes none.
    pub order: Vec<u32>,
}

impl Voices {
    pub fn new(seed: u64, checked: bool, mixed_max: usize, buses: Buses) -> Voices {
        Voices {
            slots: Slots::new(Kind::Voice, VOICES_MAX),
            worlds: Slots::new(Kind::SoundWorld, crate::foundation::handle::SLOTS_MAX),
            library: Library::default(),
            buses,
            parameters: Parameters::new(PARAMETERS_MAX, checked),
            global: List::EMPTY,
            clocks: Vec::new(),
            time: 0.0,
            active: Vec::new(),
            lists: Vec::new(),
            voices: Vec::new(),
            levels: Vec::new(),
            parts: Vec::new(),
            free: Vec::new(),
            mixed_max,
            commands: Vec::new(),
            events: VecDeque::new(),
            told: Vec::new(),
            lost_events: 0,
            lost_told: 0,
            history: VecDeque::new(),
            random: Random::seed(seed ^ 0x736f_756e_6421),
            checked,
            ages: 0,
            frame: 0,
            order: Vec::new(),
        }
    }

    /// The voice of a handle, if it has not ended.
    pub fn voice(&self, handle: Handle) -> Option<&Voice> {
        self.voices[*self.slots.get(handle)? as usize].as_ref()
    }

    /// The same, to change.
    pub fn voice_mut(&mut self, handle: Handle) -> Option<&mut Voice> {
        self.voices[*self.slots.get(handle)? as usize].as_mut()
    }

    /// Triggers a sound: its voice, or nothing where its policy refuses another one.
    pub fn trigger(
        &mut self,
        store: &mut Store,
        trigger: &Trigger,
    ) -> Result<Option<Handle>, Error> {
        let sound = self.library.sound(store, trigger.sound)?;
        let bus_name = match trigger.bus {
            Some(bus) => bus,
            None => &self.library.sounds[sound as usize].definition.options.bus,
        };
        let bus = self.buses.mixer.find(bus_name).ok_or_else(|| {
            error!("sound '{}': {}", trigger.sound, self.buses.mixer.missing_words(bus_name))
        })?;
        let start_at = self.start_time(trigger)?;
        let mut list = List::EMPTY;
        let chosen = self.prepare(sound, bus, trigger, &mut list);
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(error) => {
                self.parameters.clear(&mut list);
                return Err(error);
            }
        };
        if !self.make_room(sound, trigger) {
            self.parameters.clear(&mut list);
            return Ok(None);
        }
        Ok(Some(self.add(sound, bus, trigger, list, start_at, &chosen)))
    }

    /// When a voice begins.
    fn start_time(&self, trigger: &Trigger) -> Result<f64, Error> {
        let soonest = self.time + f64::from(trigger.delay_seconds);
        let Some((name, grid)) = trigger.clock else { return Ok(soonest) };
        Ok(self.clock(name)?.next(grid, soonest))
    }

    /// A running clock.
    pub fn clock(&self, name: &str) -> Result<&Clock, Error> {
        let id = IdString32::new(name);
        self.clocks.iter().find(|clock| clock.id == id).ok_or_else(|| {
            let names = self.clocks.iter().map(|clock| clock.name.as_str());
            let hint = crate::foundation::suggest::hint(name, names);
            error!("no clock '{name}' is running{hint}: start it with Sound.start_clock")
        })
    }

    /// Starts a clock, or starts it again.
    pub fn start_clock(
        &mut self,
        name: &str,
        beats_per_minute: f64,
        beats_per_bar: f64,
    ) -> Result<(), Error> {
        let id = IdString32::new(name);
        self.clocks.retain(|clock| clock.id != id);
        if self.clocks.len() == CLOCKS_MAX {
            return Err(error!("{CLOCKS_MAX} clocks are running already (CLOCKS_MAX): stop one"));
        }
        let (name, start) = (name.to_string(), self.time);
        let clock = Clock { id, name, start, beats_per_minute, beats_per_bar, told_bar: 0 };
        self.clocks.push(clock);
        Ok(())
    }

    /// Sets the parameters and chooses the recordings of a voice that is not there yet.
    fn prepare(
        &mut self,
        sound: u32,
        bus: usize,
        trigger: &Trigger,
        list: &mut List,
    ) -> Result<Vec<Chosen>, Error> {
        let at = |words: String| error!("sound '{}': {words}", trigger.sound);
        for (name, value) in trigger.parameters {
            if self.checked {
                let definition = &self.library.sounds[sound as usize].definition;
                words::check_parameter(definition, name, value).map_err(at)?;
            }
            let key = IdString32::new(name);
            let set = self.parameters.set(list, key, value.setting());
            set.map_err(|refused| at(self.parameters.words(refused)))?;
        }
        let Library { sounds, .. } = &mut self.library;
        let sound = &mut sounds[sound as usize];
        let definition = &sound.definition;
        let (parameters, buses, global) = (&self.parameters, &self.buses, self.global);
        let value = |index: u32| {
            let parameter = &definition.parameters[index as usize];
            buses.lookup(parameters, *list, bus, global, parameter.key).or(parameter.default)
        };
        if self.checked {
            for index in 0..definition.parameters.len() as u32 {
                shared::check(parameters, buses, global, bus, definition, index, *list)
                    .map_err(at)?;
            }
        }
        let lacking = |parameter: &u32| value(*parameter).is_none();
        let numbers = definition.curves.iter().map(|curve| curve.parameter);
        if let Some(index) = numbers.into_iter().find(lacking) {
            let name = choose::parameter_words(definition, index);
            return Err(at(format!(
                "the parameter {name} has no value: give it in 'parameters', or a default in the \
                 sound's file"
            )));
        }
        let mut chosen = Vec::new();
        for layer in &definition.layers {
            let one =
                choose::choose(definition, layer.root, &value, &mut sound.memory, &mut self.random);
            chosen.push(one.map_err(|no_case| {
                let index = choose::parameter_of(definition, no_case);
                let key = definition.parameters[index as usize].key;
                let given =
                    trigger.parameters.iter().find(|(name, _)| IdString32::new(name) == key);
                let given = match given.map(|(_, value)| value) {
                    Some(ParameterValue::Text(text)) => Given::Text(text),
                    _ => shared::given(parameters, buses, global, bus, definition, index),
                };
                at(choose::no_case_words(definition, no_case, given))
            })?);
        }
        Ok(chosen)
    }

    /// Ends a voice where a new one would be too many; whether the new one can start.
    fn make_room(&mut self, sound: u32, trigger: &Trigger) -> bool {
        let entry = &self.library.sounds[sound as usize];
        let options = &entry.definition.options;
        let (limit, policy) = (options.voices, options.policy);
        let priority = trigger.priority.unwrap_or(options.priority);
        if limit > 0 && entry.voices >= limit {
            let own = |i: &u32| self.get(*i).sound == sound;
            let victim = match policy {
                Policy::Refuse => None,
                Policy::Oldest => self.active.iter().copied().find(own),
                Policy::Quietest => self.quietest(own),
            };
            let Some(victim) = victim else { return false };
            self.end(victim, "stolen", Some(CUT_SECONDS));
        }
        if self.active.len() < VOICES_MAX {
            return true;
        }
        let lowest = self.active.iter().map(|i| self.get(*i).priority).fold(f32::MAX, f32::min);
        if lowest > priority {
            return false;
        }
        let victim = self.quietest(|i| self.get(*i).priority == lowest);
        victim.is_some_and(|victim| {
            self.end(victim, "stolen", Some(CUT_SECONDS));
            true
        })
    }

    /// The one that can be heard least; of equals, the oldest.
    fn quietest(&self, which: impl Fn(&u32) -> bool) -> Option<u32> {
        let audible = |i: &u32| self.levels[*i as usize].audible;
        self.active
            .iter()
            .copied()
            .filter(|i| which(i))
            .min_by(|a, b| audible(a).total_cmp(&audible(b)))
    }

    pub(super) fn get(&self, index: u32) -> &Voice {
        self.voices[index as usize].as_ref().expect("active voices are there")
    }

    /// Room for all voices, at the first: a game without sounds, and most tests, need none.
    fn allocate(&mut self) {
        self.lists = vec![List::EMPTY; VOICES_MAX];
        self.voices = vec![None; VOICES_MAX];
        self.levels = vec![Level::START; VOICES_MAX];
        self.parts = vec![Part::EMPTY; VOICES_MAX * LAYERS_MAX];
        self.free = (0..VOICES_MAX as u32).rev().collect();
    }

    fn add(
        &mut self,
        sound: u32,
        bus: usize,
        trigger: &Trigger,
        list: List,
        start_at: f64,
        chosen: &[Chosen],
    ) -> Handle {
        if self.voices.is_empty() {
            self.allocate();
        }
        let index = self.free.pop().expect("room was made");
        let handle = self.slots.add(index).expect("as many slots as voices");
        let entry = &mut self.library.sounds[sound as usize];
        entry.voices += 1;
        let options = &entry.definition.options;
        let spread = |random: &mut Random| random.next_f64() as f32 * 2.0 - 1.0;
        let random_db = spread(&mut self.random) * options.volume_random_db;
        let random_pitch = 1.0 + spread(&mut self.random) * options.pitch_random;
        let rise = trigger.fade_in_seconds.unwrap_or(options.fade_in_seconds);
        let mut envelope = Fade::at(if rise > 0.0 { 0.0 } else { 1.0 });
        envelope.go(1.0, rise);
        self.ages += 1;
        let position = trigger.position.unwrap_or(Vec3::ZERO);
        self.voices[index as usize] = Some(Voice {
            handle,
            sound,
            world: trigger.world,
            bus,
            volume: Fade::at(trigger.volume),
            envelope,
            ending: false,
            pitch: trigger.pitch,
            pan: trigger.pan,
            random_db,
            random_pitch,
            priority: trigger.priority.unwrap_or(options.priority),
            own_priority: trigger.priority.is_some(),
            paused: false,
            occlusion: trigger.occlusion,
            position: trigger.position,
            velocity: Vec3::ZERO,
            last_position: position,
            age: self.ages,
            owner: trigger.owner,
            stale_choice: false,
            new: true,
        });
        for (layer, (rules, chosen)) in entry.definition.layers.iter().zip(chosen).enumerate() {
            let recording = entry.recording(chosen.file).expect("the library has all of them");
            self.parts[index as usize * LAYERS_MAX + layer] = Part {
                state: PartState::Playing,
                recording,
                chosen: *chosen,
                start_at: start_at + f64::from(rules.delay_seconds),
                ..Part::EMPTY
            };
        }
        self.lists[index as usize] = list;
        // As loud as it is told: the truth comes with the next step.
        self.levels[index as usize] = Level { audible: trigger.volume, ..Level::START };
        self.active.push(index);
        handle
    }

    /// Ends a voice, in so many seconds at the device; `None`: it has come to its end by itself.
    pub fn end(&mut self, index: u32, reason: &'static str, cut: Option<f32>) {
        let voice = self.voices[index as usize].take().expect("active voices are there");
        for part in index as usize * LAYERS_MAX..(index as usize + 1) * LAYERS_MAX {
            if self.parts[part].sent {
                let part = part as u32;
                self.commands.push(match cut {
                    Some(seconds) => Command::Stop { part, seconds },
                    None => Command::Forget { part },
                });
            }
            self.parts[part] = Part::EMPTY;
        }
        self.parameters.clear(&mut self.lists[index as usize]);
        self.active.retain(|other| *other != index);
        self.free.push(index);
        let sound = &mut self.library.sounds[voice.sound as usize];
        sound.voices -= 1;
        self.slots.remove(voice.handle, &sound.name, self.frame, reason);
        let kind = EventKind::Ended { voice: voice.handle, sound: voice.sound, reason };
        self.note(Event { kind, world: Some(voice.world) });
    }

    pub(super) fn note(&mut self, event: Event) {
        if self.events.len() < EVENTS_MAX {
            self.events.push_back(event);
        } else {
            self.lost_events += 1;
        }
    }

    /// Stops a voice; in the seconds that its sound says, if none are given. Whether it was there.
    pub fn stop(&mut self, handle: Handle, seconds: Option<f32>) -> bool {
        let Some(index) = self.slots.get(handle).copied() else { return false };
        let voice = self.get(index);
        let options = &self.library.sounds[voice.sound as usize].definition.options;
        let seconds = seconds.unwrap_or(options.fade_out_seconds);
        if seconds <= CUT_SECONDS || voice.paused {
            self.end(index, "stopped", Some(seconds.max(CUT_SECONDS)));
            return true;
        }
        let voice = self.voices[index as usize].as_mut().expect("it was there");
        voice.envelope.go(0.0, seconds);
        voice.ending = true;
        true
    }

    /// Sets a parameter of a voice; whether it was there. The words say what does not fit.
    #[inline]
    pub fn set_parameter(
        &mut self,
        handle: Handle,
        key: IdString32,
        setting: Setting,
        name: &dyn Fn() -> (String, ParameterValue),
    ) -> Result<bool, Error> {
        let Some(index) = self.slots.get(handle).copied() else { return Ok(false) };
        let voice = self.voices[index as usize].as_mut().expect("its slot is alive");
        if self.checked {
            let sound = &self.library.sounds[voice.sound as usize];
            let fits = sound.definition.parameter(key).is_some_and(|p| p.tag == setting.tag());
            if !fits {
                let (name, value) = name();
                let words = words::check_parameter(&sound.definition, &name, &value);
                let words = words.expect_err("it does not fit");
                return Err(error!("sound '{}': {words}", sound.name));
            }
            if let Setting::Text(text) = setting
                && let Some(no_case) = choose::untaken(&sound.definition, key, text)
            {
                let ParameterValue::Text(text) = name().1 else { unreachable!("it is a text") };
                let words = choose::no_case_words(&sound.definition, no_case, Given::Text(&text));
                return Err(error!("sound '{}': {words}", sound.name));
            }
        }
        let set = self.parameters.set(&mut self.lists[index as usize], key, setting);
        set.map_err(|refused| Error::new(self.parameters.words(refused)))?;
        voice.stale_choice |= setting.tag() == Tag::Text;
        Ok(true)
    }

    /// Moves a voice, which is heard from there from now on; whether it was there.
    pub fn set_position(&mut self, handle: Handle, position: Vec3) -> bool {
        let Some(voice) = self.voice_mut(handle) else { return false };
        if voice.position.is_none() {
            voice.last_position = position;
        }
        voice.position = Some(position);
        true
    }

    /// Where in its recording a voice is, of its first layer; `None` where it has ended.
    pub fn seconds(&self, handle: Handle) -> Option<f64> {
        let index = *self.slots.get(handle)? as usize;
        Some(self.parts[index * LAYERS_MAX].seconds)
    }

    /// The velocity that the last step's movement amounts to.
    pub(super) fn follow(voice: &mut Voice, delta: f32) {
        if let Some(position) = voice.position {
            voice.velocity = super::space::velocity(voice.last_position, position, delta);
            voice.last_position = position;
        }
    }

    /// Ends all voices of a sound world, in so many seconds.
    pub fn stop_all(&mut self, world: Handle, seconds: f32) {
        let all: Vec<Handle> = self
            .active
            .iter()
            .map(|i| self.get(*i))
            .filter(|voice| voice.world == world)
            .map(|voice| voice.handle)
            .collect();
        for handle in all {
            self.stop(handle, Some(seconds));
        }
    }

    /// Takes other buses; what plays is started again on them, from where it is.
    pub(super) fn exchange_mixer(&mut self, mixer: super::mixer::Mixer) {
        let places = self.buses.exchange(mixer, &mut self.parameters);
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices are there");
            voice.bus = places[voice.bus];
            for number in index * LAYERS_MAX..(index + 1) * LAYERS_MAX {
                if std::mem::take(&mut self.parts[number].sent) {
                    let part = number as u32;
                    self.commands.push(Command::Stop { part, seconds: CUT_SECONDS });
                }
            }
        }
    }

    /// What took new rules: its loops choose anew, layers that are gone end, new ones start.
    pub(super) fn refresh(&mut self, sound: u32) {
        let definition = &self.library.sounds[sound as usize].definition;
        let (layers, priority) = (definition.layers.len(), definition.options.priority);
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices are there");
            if voice.sound != sound {
                continue;
            }
            voice.stale_choice = true;
            if !voice.own_priority {
                voice.priority = priority;
            }
            for layer in layers..LAYERS_MAX {
                let part = &mut self.parts[index * LAYERS_MAX + layer];
                if std::mem::replace(part, Part::EMPTY).sent {
                    let part = (index * LAYERS_MAX + layer) as u32;
                    self.commands.push(Command::Stop { part, seconds: CUT_SECONDS });
                }
            }
        }
    }
}
