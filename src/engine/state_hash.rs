//! Hashes of the engine state that must be equal when a run is replayed: one for each system and,
//! on request, one for each object. The comparison is done by the recordings
//! (src/app/recording/mod.rs).

use super::{Devices, Engine, Worlds};
use engine_foundation::hash::StateHash;
use engine_foundation::{Handle, HandleKind};
use engine_input::{DEVICES, DeviceId, PAD};
use engine_world::component_table::COMPONENTS;

/// A hashed system, in the order of the hashes. Its number is stored in recordings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashedSystem {
    Time,
    RandomNumbers,
    Worlds,
    Physics,
    Particles,
    Sound,
    Input,
    /// Hashes that the game computed.
    Game,
}

impl HashedSystem {
    /// All systems, by number.
    pub const ALL: [HashedSystem; 8] = [
        HashedSystem::Time,
        HashedSystem::RandomNumbers,
        HashedSystem::Worlds,
        HashedSystem::Physics,
        HashedSystem::Particles,
        HashedSystem::Sound,
        HashedSystem::Input,
        HashedSystem::Game,
    ];

    /// Number of systems.
    pub const COUNT: usize = HashedSystem::ALL.len();

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            HashedSystem::Time => "time",
            HashedSystem::RandomNumbers => "random numbers",
            HashedSystem::Worlds => "worlds",
            HashedSystem::Physics => "physics",
            HashedSystem::Particles => "particles",
            HashedSystem::Sound => "sound",
            HashedSystem::Input => "input",
            HashedSystem::Game => "game hashes",
        }
    }
}

/// Object numbers of input state that belongs to no device, for [`ObjectState::object`].
const FINGERS: u64 = 1 << 8;
const COMPOSING: u64 = FINGERS + 1;
const WINDOW: u64 = FINGERS + 2;

/// Object number of all graphs among the worlds.
const FLOW: u64 = 1 << 50;

/// State hash of one object at the end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectState {
    pub system: HashedSystem,
    /// Object in the system: its handle as scripts see it, or its number.
    pub object: u64,
    pub hash: u64,
}

/// State hashes of all systems at the end of a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameState {
    pub hashes: [u64; HashedSystem::COUNT],
    /// Objects in the order in which they were hashed.
    pub objects: Vec<ObjectState>,
}

/// Accumulates the hashes of objects.
struct StateHasher {
    systems: [StateHash; HashedSystem::COUNT],
    objects: Vec<ObjectState>,
}

impl StateHasher {
    fn record(&mut self, system: HashedSystem, object: u64, hash: u64) {
        self.systems[system as usize].write_u64(object);
        self.systems[system as usize].write_u64(hash);
        self.objects.push(ObjectState { system, object, hash });
    }

    /// Hashes an object; `write` writes its state.
    fn write(&mut self, system: HashedSystem, object: u64, write: impl FnOnce(&mut StateHash)) {
        let mut hash = StateHash::new(0);
        write(&mut hash);
        self.record(system, object, hash.finish());
    }
}

/// Hashes that the game computed in the current frame, one for each call.
#[derive(Debug, Default)]
pub struct GameHashes {
    calls: Vec<u64>,
    /// Script line of each call, if requested.
    locations: Vec<String>,
    /// Script lines of the previous frame.
    last_locations: Vec<String>,
    wants_locations: bool,
}

impl GameHashes {
    /// Starts recording the script lines of calls.
    pub fn record_locations(&mut self) {
        self.wants_locations = true;
    }

    /// Records one call. `location` returns the script line, and is called only if lines are
    /// recorded.
    pub fn record(&mut self, hash: u64, location: impl FnOnce() -> String) {
        self.calls.push(hash);
        if self.wants_locations {
            self.locations.push(location());
        }
    }

    fn take(&mut self, hasher: &mut StateHasher) {
        std::mem::swap(&mut self.locations, &mut self.last_locations);
        self.locations.clear();
        for (at, hash) in self.calls.drain(..).enumerate() {
            hasher.record(HashedSystem::Game, at as u64 + 1, hash);
        }
    }
}

impl Engine {
    /// Returns the state at the end of a frame, and resets the game's own hashes.
    pub fn take_state(&mut self) -> FrameState {
        let systems = [const { StateHash::new(0) }; HashedSystem::COUNT];
        let mut hasher = StateHasher { systems, objects: Vec::new() };
        hasher.write(HashedSystem::Time, 0, |hash| {
            hash.write_u64(self.frame.index);
            hash.write_f64(self.frame.total);
        });
        hasher.write(HashedSystem::RandomNumbers, 0, |hash| {
            self.frame.random.state().into_iter().for_each(|word| hash.write_u64(word));
        });
        for (handle, world) in self.worlds.slots.iter() {
            hasher.write(HashedSystem::Worlds, number(handle), |hash| {
                hash.write_f64(world.time);
                hash.write_f64(world.delta);
                self.worlds.animations.events.write_state(hash);
            });
        }
        let view = self.worlds.component_view(&self.assets, &self.devices);
        for (handle, _) in self.worlds.units.slots.iter() {
            hasher.write(HashedSystem::Worlds, number(handle), |hash| {
                let row = handle.index() as u32;
                self.worlds.units.scene.floats(row).for_each(|float| hash.write_f32(float));
                COMPONENTS.write_state(&view, row, hash);
            });
        }
        let flow = self.worlds.flow.get();
        if flow.instance_count() > 0 {
            hasher.write(HashedSystem::Worlds, FLOW, |hash| flow.write_state(hash));
        }
        self.worlds
            .navigation
            .each_state(|handle, write| hasher.write(HashedSystem::Worlds, number(handle), write));
        self.worlds
            .physics
            .each_state(|handle, write| hasher.write(HashedSystem::Physics, number(handle), write));
        for (handle, effect) in self.worlds.particles.slots().iter() {
            hasher.record(
                HashedSystem::Particles,
                number(handle),
                self.worlds.particles.hash_of(effect),
            );
        }
        self.devices
            .sounds
            .voices
            .each_hash(|object, hash| hasher.record(HashedSystem::Sound, object, hash));
        self.devices.hash_input(&mut hasher);
        self.frame.game_hash.take(&mut hasher);
        let StateHasher { systems, objects } = hasher;
        FrameState { hashes: systems.map(|hash| hash.finish()), objects }
    }

    /// Returns the display name of an object of the state. An object that no longer exists is named
    /// by its number.
    pub fn state_name(&self, system: HashedSystem, object: u64) -> String {
        match system {
            HashedSystem::Time => "the frame's number and the game's time".to_string(),
            HashedSystem::RandomNumbers => "the random numbers of the game".to_string(),
            HashedSystem::Worlds => self.worlds.name_in_worlds(object),
            HashedSystem::Physics => self.worlds.name_in_physics(object),
            HashedSystem::Particles => self.worlds.name_in_particles(object),
            HashedSystem::Sound => match self.devices.sounds.voices.name_of(object) {
                Some(sound) => format!("voice {object} '{sound}'"),
                None if object == 0 => "the time of the mixer and its choices".to_string(),
                None => format!("voice {object}"),
            },
            HashedSystem::Input => match object {
                FINGERS => "the fingers on the touch panel".to_string(),
                COMPOSING => "the text that is being composed".to_string(),
                WINDOW => "the window".to_string(),
                0 => "the keyboard".to_string(),
                1 => "the mouse".to_string(),
                2 => "the touch panel".to_string(),
                window if window >> 40 > 0 => self.devices.name_of_window(window),
                device => format!("pad {}", device - u64::from(PAD.0) + 1),
            },
            HashedSystem::Game => {
                let location = self.frame.game_hash.last_locations.get(object as usize - 1);
                let location = location.map_or(String::new(), |location| format!(" ({location})"));
                format!("call {object} of Application.hash in that frame{location}")
            }
        }
    }
}

impl Devices {
    fn hash_input(&self, hasher: &mut StateHasher) {
        for at in 0..DEVICES as u8 {
            hasher.write(HashedSystem::Input, u64::from(at), |hash| {
                let state = self.input.device(DeviceId(at)).state();
                let motors = self.input.motors(DeviceId(at)).state();
                state.chain(motors).for_each(|number| hash.write_f64(number));
            });
        }
        hasher.write(HashedSystem::Input, FINGERS, |hash| {
            for finger in self.input.fingers().iter().flatten() {
                finger.at.to_array().into_iter().for_each(|number| hash.write_f32(number));
            }
        });
        hasher.write(HashedSystem::Input, COMPOSING, |hash| {
            hash.write_bytes(self.input.composing().text.as_bytes());
        });
        hasher.write(HashedSystem::Input, WINDOW, |hash| self.window.write_state(hash));
        for (id, window) in self.windows.iter() {
            hasher.write(HashedSystem::Input, id.number(), |hash| window.write_state(hash));
        }
    }

    fn name_of_window(&self, number: u64) -> String {
        let handle = Handle::from_number(number as f64);
        match handle.and_then(|handle| self.windows.slots().get(handle)) {
            Some(window) => format!("the window \"{}\"", window.title),
            None => format!("window {number}"),
        }
    }
}

impl Worlds {
    fn name_in_worlds(&self, object: u64) -> String {
        if object == FLOW {
            return "the graphs of units and levels".to_string();
        }
        let handle = Handle::from_number(object as f64);
        let unit = handle.and_then(|handle| Some((handle, self.units.slots.get(handle)?)));
        match unit {
            Some((handle, unit)) => {
                let at = self.units.scene.local_position(handle.index() as u32, 0);
                let [x, y, z] = at.to_array();
                format!("unit {object} '{}' at ({x:.3}, {y:.3}, {z:.3})", unit.resource.name)
            }
            None => {
                let kind = handle.and_then(HandleKind::of).map_or("world", HandleKind::noun);
                let detail = handle.and_then(|handle| self.navigation.detail(&self.levels, handle));
                format!("{kind} {object}{}", detail.unwrap_or_default())
            }
        }
    }
}

/// Returns the number of a handle, as scripts see it.
fn number(handle: Handle) -> u64 {
    handle.to_number() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_systems_are_indices_of_their_list() {
        for (at, system) in HashedSystem::ALL.into_iter().enumerate() {
            assert_eq!(system as usize, at, "{}", system.name());
        }
    }
}
