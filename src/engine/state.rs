//! What of the engine's state must come out the same when a run is played again: a hash for each
//! system and, where somebody wants to know what differs, for each object. Compares nothing; the
//! recordings do (src/app/record.rs).

use super::Engine;
use crate::foundation::hash::StateHash;
use crate::foundation::{Handle, Kind};
use crate::system::input::{DEVICES, DeviceId, PAD};

/// What state hashes tell apart, in the order of the hashes.
pub const SYSTEMS: [&str; 8] = [
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
/// The place of what the game hashed.
pub const HASHED: usize = 7;

/// Numbers of objects of the input that are no devices.
const FINGERS: u64 = 1 << 8;
const COMPOSING: u64 = FINGERS + 1;
const WINDOW: u64 = FINGERS + 2;

/// The state of one object at the end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectState {
    /// Its place in [`SYSTEMS`].
    pub system: u8,
    /// Which one of that system: its handle as scripts see it, or its number.
    pub object: u64,
    pub hash: u64,
}

/// The state of everything at the end of a frame.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub hashes: [u64; SYSTEMS.len()],
    /// In the order in which the hashes were made of them.
    pub objects: Vec<ObjectState>,
}

/// Takes down one object after the other.
struct Census {
    systems: [StateHash; SYSTEMS.len()],
    objects: Vec<ObjectState>,
}

impl Census {
    fn note(&mut self, system: usize, object: u64, hash: u64) {
        self.systems[system].write_u64(object);
        self.systems[system].write_u64(hash);
        self.objects.push(ObjectState { system: system as u8, object, hash });
    }

    /// Notes an object whose state `write` writes.
    fn write(&mut self, system: usize, object: u64, write: impl FnOnce(&mut StateHash)) {
        let mut hash = StateHash::new(0);
        write(&mut hash);
        self.note(system, object, hash.finish());
    }
}

/// What the game hashed in the running frame: a hash for each of its calls.
#[derive(Debug, Default)]
pub struct Hashed {
    calls: Vec<u64>,
    /// The line of each call, where they are wanted.
    places: Vec<String>,
    /// Those of the frame before.
    last_places: Vec<String>,
    wants_places: bool,
}

impl Hashed {
    /// Has the lines of calls noted from now on.
    pub fn want_places(&mut self) {
        self.wants_places = true;
    }

    /// Takes one call down; `place` tells the script's line, where it is wanted.
    pub fn note(&mut self, hash: u64, place: impl FnOnce() -> String) {
        self.calls.push(hash);
        if self.wants_places {
            self.places.push(place());
        }
    }

    fn take(&mut self, census: &mut Census) {
        std::mem::swap(&mut self.places, &mut self.last_places);
        self.places.clear();
        for (at, hash) in self.calls.drain(..).enumerate() {
            census.note(HASHED, at as u64 + 1, hash);
        }
    }
}

impl Engine {
    /// The state at the end of a frame. What the game hashed begins anew.
    pub fn take_state(&mut self) -> State {
        let systems = [const { StateHash::new(0) }; SYSTEMS.len()];
        let mut census = Census { systems, objects: Vec::new() };
        census.write(TIME, 0, |hash| {
            hash.write_u64(self.frame.index);
            hash.write_f64(self.frame.total);
        });
        census.write(RANDOM, 0, |hash| {
            self.random.state().into_iter().for_each(|word| hash.write_u64(word));
        });
        for (handle, world) in self.worlds.iter() {
            census.write(WORLDS, number(handle), |hash| {
                hash.write_f64(world.time);
                hash.write_f64(world.delta);
            });
        }
        for (handle, _) in self.units.slots.iter() {
            census.write(WORLDS, number(handle), |hash| {
                let floats = self.units.scene.floats(handle.index() as u32);
                floats.for_each(|float| hash.write_f32(float));
                let row = handle.index() as u32;
                self.scenes.sprites.write_state(row, hash);
                for map in self.scenes.maps.of_unit(row) {
                    hash.write_u64(self.tilemaps.of(map.map).state());
                }
            });
        }
        self.physics.each_state(|handle, write| census.write(PHYSICS, number(handle), write));
        for (handle, effect) in self.particles.slots().iter() {
            census.note(PARTICLES, number(handle), self.particles.hash_of(effect));
        }
        self.sounds.voices.each_hash(|object, hash| census.note(SOUND, object, hash));
        self.note_input(&mut census);
        self.game_hash.take(&mut census);
        let Census { systems, objects } = census;
        State { hashes: systems.map(|hash| hash.finish()), objects }
    }

    fn note_input(&self, census: &mut Census) {
        for at in 0..DEVICES as u8 {
            census.write(INPUT, u64::from(at), |hash| {
                let state = self.input.device(DeviceId(at)).state();
                let motors = self.input.motors(DeviceId(at)).state();
                state.chain(motors).for_each(|number| hash.write_f64(number));
            });
        }
        census.write(INPUT, FINGERS, |hash| {
            for finger in self.input.fingers().iter().flatten() {
                finger.at.to_array().into_iter().for_each(|number| hash.write_f32(number));
            }
        });
        census.write(INPUT, COMPOSING, |hash| {
            hash.write_bytes(self.input.composing().text.as_bytes());
        });
        census.write(INPUT, WINDOW, |hash| self.window.write_state(hash));
        for (id, window) in self.windows.iter() {
            census.write(INPUT, id.number(), |hash| window.write_state(hash));
        }
    }

    /// What an object of the state is called, for people; one that is not there any more by its
    /// number.
    pub fn state_name(&self, system: usize, object: u64) -> String {
        match system {
            TIME => "the frame's number and the game's time".to_string(),
            RANDOM => "the random numbers of the game".to_string(),
            WORLDS => self.name_in_worlds(object),
            PHYSICS => self.name_in_physics(object),
            PARTICLES => self.name_in_particles(object),
            SOUND => match self.sounds.voices.name_of(object) {
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
                window if window >> 40 > 0 => self.name_of_window(window),
                device => format!("pad {}", device - u64::from(PAD.0) + 1),
            },
            _ => {
                let place = self.game_hash.last_places.get(object as usize - 1);
                let place = place.map_or(String::new(), |place| format!(" ({place})"));
                format!("call {object} of Application.hash in that frame{place}")
            }
        }
    }

    fn name_of_window(&self, number: u64) -> String {
        let handle = Handle::from_number(number as f64);
        match handle.and_then(|handle| self.windows.slots().get(handle)) {
            Some(window) => format!("the window \"{}\"", window.title),
            None => format!("window {number}"),
        }
    }

    fn name_in_worlds(&self, object: u64) -> String {
        let handle = Handle::from_number(object as f64);
        let unit = handle.and_then(|handle| Some((handle, self.units.slots.get(handle)?)));
        match unit {
            Some((handle, unit)) => {
                let at = self.units.scene.local_position(handle.index() as u32, 0);
                let [x, y, z] = at.to_array();
                format!("unit {object} '{}' at ({x:.3}, {y:.3}, {z:.3})", unit.resource.name)
            }
            None if handle.is_some_and(|handle| self.worlds.get(handle).is_some()) => {
                format!("world {object}")
            }
            None => match handle.and_then(Kind::of) {
                Some(Kind::Unit) => format!("unit {object}"),
                _ => format!("world {object}"),
            },
        }
    }
}

/// A handle as scripts see it.
fn number(handle: Handle) -> u64 {
    handle.to_number() as u64
}
