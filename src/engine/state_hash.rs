//! Hashes of the engine state that must be equal when a run is replayed: one for each system and,
//! on request, one for each object. The comparison is done by the recordings
//! (src/app/recording/mod.rs).

use super::{Devices, Engine, Worlds};
use engine_foundation::hash::StateHash;
use engine_foundation::{Handle, HandleKind};
use engine_input::{DEVICES, DeviceId, PAD};
use engine_world::component_table::{COMPONENTS, ComponentView};

/// Names of the hashed systems, in the order of the hashes.
pub const HASHED_SYSTEMS: [&str; 8] = [
    "time",
    "random numbers",
    "worlds",
    "physics",
    "particles",
    "sound",
    "input",
    "what the game hashed",
];

const TIME: usize = 0;
const RANDOM: usize = 1;
const WORLDS: usize = 2;
const PHYSICS: usize = 3;
const PARTICLES: usize = 4;
const SOUND: usize = 5;
const INPUT: usize = 6;
/// Index of the hashes that the game computed.
pub const GAME_HASHES: usize = 7;

/// Object numbers of input state that belongs to no device, for [`ObjectState::object`].
const FINGERS: u64 = 1 << 8;
const COMPOSING: u64 = FINGERS + 1;
const WINDOW: u64 = FINGERS + 2;

/// State hash of one object at the end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectState {
    /// Index in [`HASHED_SYSTEMS`].
    pub system: u8,
    /// Object in the system: its handle as scripts see it, or its number.
    pub object: u64,
    pub hash: u64,
}

/// State hashes of all systems at the end of a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameState {
    pub hashes: [u64; HASHED_SYSTEMS.len()],
    /// Objects in the order in which they were hashed.
    pub objects: Vec<ObjectState>,
}

/// Accumulates the hashes of objects.
struct StateHasher {
    systems: [StateHash; HASHED_SYSTEMS.len()],
    objects: Vec<ObjectState>,
}

impl StateHasher {
    fn record(&mut self, system: usize, object: u64, hash: u64) {
        self.systems[system].write_u64(object);
        self.systems[system].write_u64(hash);
        self.objects.push(ObjectState { system: system as u8, object, hash });
    }

    /// Hashes an object; `write` writes its state.
    fn write(&mut self, system: usize, object: u64, write: impl FnOnce(&mut StateHash)) {
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
            hasher.record(GAME_HASHES, at as u64 + 1, hash);
        }
    }
}

impl Engine {
    /// Returns the state at the end of a frame, and resets the game's own hashes.
    pub fn take_state(&mut self) -> FrameState {
        let systems = [const { StateHash::new(0) }; HASHED_SYSTEMS.len()];
        let mut hasher = StateHasher { systems, objects: Vec::new() };
        hasher.write(TIME, 0, |hash| {
            hash.write_u64(self.frame.index);
            hash.write_f64(self.frame.total);
        });
        hasher.write(RANDOM, 0, |hash| {
            self.frame.random.state().into_iter().for_each(|word| hash.write_u64(word));
        });
        for (handle, world) in self.worlds.slots.iter() {
            hasher.write(WORLDS, number(handle), |hash| {
                hash.write_f64(world.time);
                hash.write_f64(world.delta);
            });
        }
        let view = ComponentView { scenes: &self.worlds.scenes, tilemaps: &self.assets.tilemaps };
        for (handle, _) in self.worlds.units.slots.iter() {
            hasher.write(WORLDS, number(handle), |hash| {
                let row = handle.index() as u32;
                self.worlds.units.scene.floats(row).for_each(|float| hash.write_f32(float));
                COMPONENTS.write_state(&view, row, hash);
            });
        }
        self.worlds
            .physics
            .each_state(|handle, write| hasher.write(PHYSICS, number(handle), write));
        for (handle, effect) in self.worlds.particles.slots().iter() {
            hasher.record(PARTICLES, number(handle), self.worlds.particles.hash_of(effect));
        }
        self.devices.sounds.voices.each_hash(|object, hash| hasher.record(SOUND, object, hash));
        self.devices.hash_input(&mut hasher);
        self.frame.game_hash.take(&mut hasher);
        let StateHasher { systems, objects } = hasher;
        FrameState { hashes: systems.map(|hash| hash.finish()), objects }
    }

    /// Returns the display name of an object of the state. An object that no longer exists is named
    /// by its number.
    pub fn state_name(&self, system: usize, object: u64) -> String {
        match system {
            TIME => "the frame's number and the game's time".to_string(),
            RANDOM => "the random numbers of the game".to_string(),
            WORLDS => self.worlds.name_in_worlds(object),
            PHYSICS => self.worlds.name_in_physics(object),
            PARTICLES => self.worlds.name_in_particles(object),
            SOUND => match self.devices.sounds.voices.name_of(object) {
                Some(sound) => format!("voice {object} '{sound}'"),
                None if object == 0 => "the time of the mixer and its choices".to_string(),
                None => format!("voice {object}"),
            },
            INPUT => match object {
                FINGERS => "the fingers on the touch panel".to_string(),
                COMPOSING => "the text that is being composed".to_string(),
                WINDOW => "the window".to_string(),
                0 => "the keyboard".to_string(),
                1 => "the mouse".to_string(),
                2 => "the touch panel".to_string(),
                window if window >> 40 > 0 => self.devices.name_of_window(window),
                device => format!("pad {}", device - u64::from(PAD.0) + 1),
            },
            _ => {
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
            hasher.write(INPUT, u64::from(at), |hash| {
                let state = self.input.device(DeviceId(at)).state();
                let motors = self.input.motors(DeviceId(at)).state();
                state.chain(motors).for_each(|number| hash.write_f64(number));
            });
        }
        hasher.write(INPUT, FINGERS, |hash| {
            for finger in self.input.fingers().iter().flatten() {
                finger.at.to_array().into_iter().for_each(|number| hash.write_f32(number));
            }
        });
        hasher.write(INPUT, COMPOSING, |hash| {
            hash.write_bytes(self.input.composing().text.as_bytes());
        });
        hasher.write(INPUT, WINDOW, |hash| self.window.write_state(hash));
        for (id, window) in self.windows.iter() {
            hasher.write(INPUT, id.number(), |hash| window.write_state(hash));
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
        let handle = Handle::from_number(object as f64);
        let unit = handle.and_then(|handle| Some((handle, self.units.slots.get(handle)?)));
        match unit {
            Some((handle, unit)) => {
                let at = self.units.scene.local_position(handle.index() as u32, 0);
                let [x, y, z] = at.to_array();
                format!("unit {object} '{}' at ({x:.3}, {y:.3}, {z:.3})", unit.resource.name)
            }
            None if handle.is_some_and(|handle| self.slots.get(handle).is_some()) => {
                format!("world {object}")
            }
            None => match handle.and_then(HandleKind::of) {
                Some(HandleKind::Unit) => format!("unit {object}"),
                _ => format!("world {object}"),
            },
        }
    }
}

/// Returns the number of a handle, as scripts see it.
fn number(handle: Handle) -> u64 {
    handle.to_number() as u64
}
