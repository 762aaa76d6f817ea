//! Voices: triggered sounds that have not ended, with all their settings. Pure state, in arrays by
//! voice: it knows no device, and runs the same with and without one. The passes of each frame are
//! in voice_update.rs.

use super::bus::BusStates;
use super::container_selection::{self, SelectedClips, ValueSource};
use super::data::{LAYERS_MAX, VoiceLimitPolicy};
use super::music_clock::{CLOCKS_MAX, MusicClock};
use super::parameters::{
    PARAMETERS_MAX, ParameterError, ParameterList, ParameterTable, ParameterWrite, ValueTag,
};
use super::registry::SoundRegistry;
pub use super::voice::*;
use super::{inherited_parameters, messages};
use engine_foundation::error;
use engine_foundation::hash::IdString32;
use engine_foundation::random::Random;
use engine_foundation::{Error, Handle, HandleKind, Slots, Vec3};
use engine_resource::store::ResourceStore;
use std::collections::VecDeque;

/// The most voices at once, audible or not. A further voice ends another one, or does not start.
pub const VOICES_MAX: usize = 1024;
/// The most events of one frame.
pub const EVENTS_MAX: usize = 4096;
/// Number of started recordings that the history keeps.
pub const HISTORY_MAX: usize = 1000;
/// Fade-out time of a voice that is cut off, in seconds; it prevents clicks.
pub const DECLICK_FADE_SECONDS: f32 = 0.02;

/// All voices, and the state that they share.
pub struct Voices {
    pub slots: Slots<u32>,
    pub worlds: Slots<SoundWorld>,
    pub library: SoundRegistry,
    pub buses: BusStates,
    pub parameters: ParameterTable,
    pub global: ParameterList,
    pub clocks: Vec<MusicClock>,
    /// Sound time in seconds: the sum of all steps.
    pub time: f64,
    /// Living voices, oldest first.
    pub active: Vec<u32>,
    pub lists: Vec<ParameterList>,
    pub voices: Vec<Option<Voice>>,
    pub levels: Vec<VoiceLevel>,
    pub parts: Vec<VoicePart>,
    free: Vec<u32>,
    /// The most recordings that are mixed at once.
    pub mixed_max: usize,
    pub commands: Vec<MixerCommand>,
    pub events: VecDeque<SoundEvent>,
    /// Events of the last step, for games to read.
    pub readable_events: Vec<SoundEvent>,
    /// Total number of dropped events.
    pub lost_events: u64,
    /// Number of dropped events for which a warning was logged.
    pub(super) warned_events: u64,
    pub history: VecDeque<PlayedClip>,
    pub random: Random,
    /// True if types and names are checked when they are passed in.
    pub checked: bool,
    ages: u64,
    /// Number of the game's frame, for messages about stale handles.
    pub frame: u64,
    /// Buffer of the passes, kept so that a frame allocates none.
    pub order: Vec<u32>,
}

impl Voices {
    pub fn new(seed: u64, checked: bool, mixed_max: usize, buses: BusStates) -> Voices {
        Voices {
            slots: Slots::new(HandleKind::Voice, VOICES_MAX),
            worlds: Slots::new(HandleKind::SoundWorld, engine_foundation::handle::SLOTS_MAX),
            library: SoundRegistry::default(),
            buses,
            parameters: ParameterTable::new(PARAMETERS_MAX, checked),
            global: ParameterList::EMPTY,
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
            readable_events: Vec::new(),
            lost_events: 0,
            warned_events: 0,
            history: VecDeque::new(),
            random: Random::seed(seed ^ 0x736f_756e_6421),
            checked,
            ages: 0,
            frame: 0,
            order: Vec::new(),
        }
    }

    /// Returns the voice of a handle, if it has not ended.
    pub fn voice(&self, handle: Handle) -> Option<&Voice> {
        self.voices[*self.slots.get(handle)? as usize].as_ref()
    }

    /// Returns the voice of a handle for modification, if it has not ended.
    pub fn voice_mut(&mut self, handle: Handle) -> Option<&mut Voice> {
        self.voices[*self.slots.get(handle)? as usize].as_mut()
    }

    /// Triggers a sound and returns its voice, or `None` if the sound's policy refuses another
    /// voice.
    pub fn trigger(
        &mut self,
        store: &mut ResourceStore,
        trigger: &TriggerDesc,
    ) -> Result<Option<Handle>, Error> {
        let sound = self.library.sound(store, trigger.sound)?;
        let bus_name = match trigger.bus {
            Some(bus) => bus,
            None => &self.library.sounds[sound as usize].definition.options.bus,
        };
        let bus = self.buses.mixer.find(bus_name).ok_or_else(|| {
            error!("sound '{}': {}", trigger.sound, self.buses.mixer.missing_bus_message(bus_name))
        })?;
        let start_at = self.start_time(trigger)?;
        let mut list = ParameterList::EMPTY;
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

    /// Returns the start time of a triggered voice.
    fn start_time(&self, trigger: &TriggerDesc) -> Result<f64, Error> {
        let soonest = self.time + f64::from(trigger.delay_seconds);
        let Some((name, grid)) = trigger.clock else { return Ok(soonest) };
        Ok(self.clock(name)?.next(grid, soonest))
    }

    /// Returns a running clock.
    pub fn clock(&self, name: &str) -> Result<&MusicClock, Error> {
        let id = IdString32::new(name);
        self.clocks.iter().find(|clock| clock.id == id).ok_or_else(|| {
            let names = self.clocks.iter().map(|clock| clock.name.as_str());
            let hint = engine_foundation::suggest::hint(name, names);
            error!("no clock '{name}' is running{hint}: start it with Sound.start_clock")
        })
    }

    /// Starts a clock, or restarts it.
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
        let clock = MusicClock { id, name, start, beats_per_minute, beats_per_bar, last_bar: 0 };
        self.clocks.push(clock);
        Ok(())
    }

    /// Sets the parameters and chooses the recordings of a voice before it exists.
    fn prepare(
        &mut self,
        sound: u32,
        bus: usize,
        trigger: &TriggerDesc,
        list: &mut ParameterList,
    ) -> Result<Vec<SelectedClips>, Error> {
        let at = |message: String| error!("sound '{}': {message}", trigger.sound);
        for (name, value) in trigger.parameters {
            if self.checked {
                let definition = &self.library.sounds[sound as usize].definition;
                messages::check_parameter(definition, name, value).map_err(at)?;
            }
            let key = IdString32::new(name);
            let set = self.parameters.set(list, key, value.setting());
            set.map_err(|refused| at(self.parameters.message(refused)))?;
        }
        let SoundRegistry { sounds, .. } = &mut self.library;
        let sound = &mut sounds[sound as usize];
        let definition = &sound.definition;
        let (parameters, buses, global) = (&self.parameters, &self.buses, self.global);
        let value = |index: u32| {
            let parameter = &definition.parameters[index as usize];
            buses.lookup(parameters, *list, bus, global, parameter.key).or(parameter.default)
        };
        if self.checked {
            for index in 0..definition.parameters.len() as u32 {
                inherited_parameters::check(
                    parameters, buses, global, bus, definition, index, *list,
                )
                .map_err(at)?;
            }
        }
        let has_no_value = |parameter: &u32| value(*parameter).is_none();
        let numbers = definition.curves.iter().map(|curve| curve.parameter);
        if let Some(index) = numbers.into_iter().find(has_no_value) {
            let name = container_selection::parameter_text(definition, index);
            return Err(at(format!(
                "the parameter {name} has no value: give it in 'parameters', or a default in the \
                 sound's file"
            )));
        }
        let mut chosen = Vec::new();
        for layer in &definition.layers {
            let one = container_selection::choose(
                definition,
                layer.root,
                &value,
                &mut sound.memory,
                &mut self.random,
            );
            chosen.push(one.map_err(|no_case| {
                let index = container_selection::parameter_of(definition, no_case);
                let key = definition.parameters[index as usize].key;
                let case_value =
                    trigger.parameters.iter().find(|(name, _)| IdString32::new(name) == key);
                let case_value = match case_value.map(|(_, value)| value) {
                    Some(ParameterValue::Text(text)) => ValueSource::Text(text),
                    _ => inherited_parameters::inherited_value(
                        parameters, buses, global, bus, definition, index,
                    ),
                };
                at(container_selection::no_case_message(definition, no_case, case_value))
            })?);
        }
        Ok(chosen)
    }

    /// Ends a voice if a new one would exceed a limit. Returns true if the new voice can start.
    fn make_room(&mut self, sound: u32, trigger: &TriggerDesc) -> bool {
        let entry = &self.library.sounds[sound as usize];
        let options = &entry.definition.options;
        let (limit, policy) = (options.voices, options.policy);
        let priority = trigger.priority.unwrap_or(options.priority);
        if limit > 0 && entry.voices >= limit {
            let own = |i: &u32| self.get(*i).sound == sound;
            let victim = match policy {
                VoiceLimitPolicy::Refuse => None,
                VoiceLimitPolicy::Oldest => self.active.iter().copied().find(own),
                VoiceLimitPolicy::Quietest => self.least_audible(own),
            };
            let Some(victim) = victim else { return false };
            self.end(victim, "stolen", Some(DECLICK_FADE_SECONDS));
        }
        if self.active.len() < VOICES_MAX {
            return true;
        }
        let lowest = self.active.iter().map(|i| self.get(*i).priority).fold(f32::MAX, f32::min);
        if lowest > priority {
            return false;
        }
        let victim = self.least_audible(|i| self.get(*i).priority == lowest);
        victim.is_some_and(|victim| {
            self.end(victim, "stolen", Some(DECLICK_FADE_SECONDS));
            true
        })
    }

    /// Returns the least audible voice that `which` accepts; of equals, the oldest.
    fn least_audible(&self, which: impl Fn(&u32) -> bool) -> Option<u32> {
        let audible = |i: &u32| self.levels[*i as usize].audible;
        self.active
            .iter()
            .copied()
            .filter(|i| which(i))
            .min_by(|a, b| audible(a).total_cmp(&audible(b)))
    }

    pub(super) fn get(&self, index: u32) -> &Voice {
        self.voices[index as usize].as_ref().expect("active voices exist")
    }

    /// Allocates the arrays of all voices, when the first voice starts. Games without sounds, and
    /// most tests, need none.
    fn allocate(&mut self) {
        self.lists = vec![ParameterList::EMPTY; VOICES_MAX];
        self.voices = vec![None; VOICES_MAX];
        self.levels = vec![VoiceLevel::START; VOICES_MAX];
        self.parts = vec![VoicePart::EMPTY; VOICES_MAX * LAYERS_MAX];
        self.free = (0..VOICES_MAX as u32).rev().collect();
    }

    fn add(
        &mut self,
        sound: u32,
        bus: usize,
        trigger: &TriggerDesc,
        list: ParameterList,
        start_at: f64,
        chosen: &[SelectedClips],
    ) -> Handle {
        if self.voices.is_empty() {
            self.allocate();
        }
        let index = self.free.pop().expect("a slot was freed");
        let handle = self.slots.add(index).expect("as many slots as voices");
        let entry = &mut self.library.sounds[sound as usize];
        entry.voices += 1;
        let options = &entry.definition.options;
        let spread = |random: &mut Random| random.next_f64() as f32 * 2.0 - 1.0;
        let random_db = spread(&mut self.random) * options.volume_random_db;
        let random_pitch = 1.0 + spread(&mut self.random) * options.pitch_random;
        let rise = trigger.fade_in_seconds.unwrap_or(options.fade_in_seconds);
        let mut envelope = VolumeFade::at(if rise > 0.0 { 0.0 } else { 1.0 });
        envelope.start(1.0, rise);
        self.ages += 1;
        let position = trigger.position.unwrap_or(Vec3::ZERO);
        self.voices[index as usize] = Some(Voice {
            handle,
            sound,
            world: trigger.world,
            bus,
            volume: VolumeFade::at(trigger.volume),
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
            repeat: trigger.repeat,
            stale_choice: false,
            new: true,
        });
        for (layer, (rules, chosen)) in entry.definition.layers.iter().zip(chosen).enumerate() {
            let recording = entry.recording(chosen.file).expect("the library has all of them");
            self.parts[index as usize * LAYERS_MAX + layer] = VoicePart {
                state: VoicePartState::Playing,
                recording,
                chosen: *chosen,
                start_at: start_at + f64::from(rules.delay_seconds),
                ..VoicePart::EMPTY
            };
        }
        self.lists[index as usize] = list;
        // An estimate until the next step computes the loudness.
        self.levels[index as usize] = VoiceLevel { audible: trigger.volume, ..VoiceLevel::START };
        self.active.push(index);
        handle
    }

    /// Ends a voice. The device fades it out in `cut` seconds; `None` means that the voice came to
    /// its end by itself.
    pub fn end(&mut self, index: u32, reason: &'static str, cut: Option<f32>) {
        let voice = self.voices[index as usize].take().expect("active voices exist");
        for part in index as usize * LAYERS_MAX..(index as usize + 1) * LAYERS_MAX {
            if self.parts[part].sent {
                let part = part as u32;
                self.commands.push(match cut {
                    Some(seconds) => MixerCommand::Stop { part, seconds },
                    None => MixerCommand::Forget { part },
                });
            }
            self.parts[part] = VoicePart::EMPTY;
        }
        self.parameters.clear(&mut self.lists[index as usize]);
        self.active.retain(|other| *other != index);
        self.free.push(index);
        let sound = &mut self.library.sounds[voice.sound as usize];
        sound.voices -= 1;
        self.slots.remove(voice.handle, &sound.name, self.frame, reason);
        let kind = SoundEventKind::Ended { voice: voice.handle, sound: voice.sound, reason };
        self.push_event(SoundEvent { kind, world: Some(voice.world) });
    }

    pub(super) fn push_event(&mut self, event: SoundEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push_back(event);
        } else {
            self.lost_events += 1;
        }
    }

    /// Stops a voice with a fade-out; `None` takes the time from the sound. Returns true if the
    /// voice existed.
    pub fn stop(&mut self, handle: Handle, seconds: Option<f32>) -> bool {
        let Some(index) = self.slots.get(handle).copied() else { return false };
        let voice = self.get(index);
        let options = &self.library.sounds[voice.sound as usize].definition.options;
        let seconds = seconds.unwrap_or(options.fade_out_seconds);
        if seconds <= DECLICK_FADE_SECONDS || voice.paused {
            self.end(index, "stopped", Some(seconds.max(DECLICK_FADE_SECONDS)));
            return true;
        }
        let voice = self.voices[index as usize].as_mut().expect("it was there");
        voice.envelope.start(0.0, seconds);
        voice.ending = true;
        true
    }

    /// Sets a parameter of a voice. Returns true if the voice existed. The error says why the
    /// parameter does not fit.
    #[inline]
    pub fn set_parameter(
        &mut self,
        handle: Handle,
        key: IdString32,
        setting: ParameterWrite,
        name: &dyn Fn() -> (String, ParameterValue),
    ) -> Result<bool, Error> {
        let Some(index) = self.slots.get(handle).copied() else { return Ok(false) };
        let voice = self.voices[index as usize].as_mut().expect("its slot is alive");
        if self.checked {
            let sound = &self.library.sounds[voice.sound as usize];
            let fits = sound.definition.parameter(key).is_some_and(|p| p.tag == setting.tag());
            if !fits {
                let (name, value) = name();
                let message = messages::check_parameter(&sound.definition, &name, &value);
                let message = message.expect_err("it does not fit");
                return Err(error!("sound '{}': {message}", sound.name));
            }
            if let ParameterWrite::Text(text) = setting
                && let Some(no_case) =
                    container_selection::find_missing_case(&sound.definition, key, text)
            {
                let ParameterValue::Text(text) = name().1 else { unreachable!("it is a text") };
                let message = container_selection::no_case_message(
                    &sound.definition,
                    no_case,
                    ValueSource::Text(&text),
                );
                return Err(error!("sound '{}': {message}", sound.name));
            }
        }
        let set = self.parameters.set(&mut self.lists[index as usize], key, setting);
        set.map_err(|refused| Error::new(self.parameters.message(refused)))?;
        voice.stale_choice |= setting.tag() == ValueTag::Text;
        Ok(true)
    }

    /// Sets a global parameter. The error says why it cannot be set.
    pub fn set_global_parameter(
        &mut self,
        key: IdString32,
        setting: ParameterWrite,
    ) -> Result<(), Error> {
        let set = self.parameters.set(&mut self.global, key, setting);
        self.end_shared_set(set, setting.tag())
    }

    /// Sets a parameter of a bus. The error says why it cannot be set.
    pub fn set_bus_parameter(
        &mut self,
        bus: usize,
        key: IdString32,
        setting: ParameterWrite,
    ) -> Result<(), Error> {
        let set = self.parameters.set(&mut self.buses.states[bus].parameters, key, setting);
        self.end_shared_set(set, setting.tag())
    }

    /// Ends the setting of a parameter that several voices read. After a new text, loops choose
    /// their sound again.
    fn end_shared_set(
        &mut self,
        set: Result<(), ParameterError>,
        tag: ValueTag,
    ) -> Result<(), Error> {
        set.map_err(|refused| Error::new(self.parameters.message(refused)))?;
        if tag == ValueTag::Text {
            for index in &self.active {
                if let Some(voice) = &mut self.voices[*index as usize] {
                    voice.stale_choice = true;
                }
            }
        }
        Ok(())
    }

    /// Moves a voice, which is spatialized from now on. Returns true if the voice existed.
    pub fn set_position(&mut self, handle: Handle, position: Vec3) -> bool {
        let Some(voice) = self.voice_mut(handle) else { return false };
        if voice.position.is_none() {
            voice.last_position = position;
        }
        voice.position = Some(position);
        true
    }

    /// Returns the playback position of a voice's first layer, in seconds; `None` if the voice has
    /// ended.
    pub fn seconds(&self, handle: Handle) -> Option<f64> {
        let index = *self.slots.get(handle)? as usize;
        Some(self.parts[index * LAYERS_MAX].seconds)
    }

    /// Computes a voice's velocity from its movement in the last step.
    pub(super) fn follow(voice: &mut Voice, delta: f32) {
        if let Some(position) = voice.position {
            voice.velocity = super::spatialization::velocity(voice.last_position, position, delta);
            voice.last_position = position;
        }
    }

    /// Stops all voices of a sound world, with a fade-out of `seconds`.
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

    /// Replaces the buses. Playing recordings restart on the new buses, from their current
    /// position.
    pub(super) fn exchange_mixer(&mut self, mixer: super::mixer::MixerData) {
        let new_indices = self.buses.exchange(mixer, &mut self.parameters);
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices exist");
            voice.bus = new_indices[voice.bus];
            for number in index * LAYERS_MAX..(index + 1) * LAYERS_MAX {
                if std::mem::take(&mut self.parts[number].sent) {
                    let part = number as u32;
                    self.commands.push(MixerCommand::Stop { part, seconds: DECLICK_FADE_SECONDS });
                }
            }
        }
    }

    /// Applies new rules to the voices of a sound: loops choose their recordings again, removed
    /// layers end, and new layers start.
    pub(super) fn refresh(&mut self, sound: u32) {
        let definition = &self.library.sounds[sound as usize].definition;
        let (layers, priority) = (definition.layers.len(), definition.options.priority);
        for at in 0..self.active.len() {
            let index = self.active[at] as usize;
            let voice = self.voices[index].as_mut().expect("active voices exist");
            if voice.sound != sound {
                continue;
            }
            voice.stale_choice = true;
            if !voice.own_priority {
                voice.priority = priority;
            }
            for layer in layers..LAYERS_MAX {
                let part = &mut self.parts[index * LAYERS_MAX + layer];
                if std::mem::replace(part, VoicePart::EMPTY).sent {
                    let part = (index * LAYERS_MAX + layer) as u32;
                    self.commands.push(MixerCommand::Stop { part, seconds: DECLICK_FADE_SECONDS });
                }
            }
        }
    }
}
