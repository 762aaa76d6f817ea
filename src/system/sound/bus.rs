//! Buses while a game runs: volumes, fades, ducking, parameters. Knows no devices.

use super::mixer::{Bus, Mixer};
use super::parameters::{List, Parameters};
use super::voices::Fade;
use crate::foundation::hash::IdString32;

/// What changes of a bus.
#[derive(Clone, Debug)]
pub struct BusState {
    /// What the game set, as a factor.
    pub volume: Fade,
    /// What ducking leaves of it, in decibels.
    pub ducked_db: f32,
    pub parameters: List,
    /// The loudest of its voices in the last step, and of the buses that lead to it.
    pub loudest: f32,
    /// What the device was told last.
    pub told: Option<f32>,
    /// With all buses that it leads to.
    pub total: f32,
}

impl BusState {
    fn new() -> BusState {
        BusState {
            volume: Fade::at(1.0),
            ducked_db: 0.0,
            parameters: List::EMPTY,
            loudest: 0.0,
            told: None,
            total: 1.0,
        }
    }
}

/// All buses.
pub struct Buses {
    pub mixer: Mixer,
    pub states: Vec<BusState>,
}

/// A voice that is quieter does not duck anyone.
const DUCKING_LEVEL: f32 = 0.003;

impl Buses {
    pub fn new(mixer: Mixer) -> Buses {
        let states = mixer.buses.iter().map(|_| BusState::new()).collect();
        Buses { mixer, states }
    }

    /// Takes another mixer; buses of the same name keep what the game set. For each old bus, where
    /// it is now; the master for those that are gone.
    pub fn exchange(&mut self, mixer: Mixer, parameters: &mut Parameters) -> Vec<usize> {
        let mut states: Vec<BusState> = mixer.buses.iter().map(|_| BusState::new()).collect();
        let mut places = Vec::new();
        for (bus, mut state) in self.mixer.buses.iter().zip(self.states.drain(..)) {
            let at = mixer.buses.iter().position(|other| other.id == bus.id);
            match at {
                Some(at) => states[at] = BusState { told: None, ..state },
                None => parameters.clear(&mut state.parameters),
            }
            places.push(at.map_or(0, |at| at));
        }
        (self.mixer, self.states) = (mixer, states);
        places
    }

    /// The bits of a parameter: the voice's own, those of its buses, those of the game.
    #[inline]
    pub fn lookup(
        &self,
        parameters: &Parameters,
        list: List,
        bus: usize,
        global: List,
        key: IdString32,
    ) -> Option<u32> {
        if let Some(bits) = parameters.bits(list, key) {
            return Some(bits);
        }
        let mut at = Some(bus);
        while let Some(bus) = at {
            if let Some(bits) = parameters.bits(self.states[bus].parameters, key) {
                return Some(bits);
            }
            at = self.mixer.buses[bus].parent;
        }
        parameters.bits(global, key)
    }

    /// Moves fades and ducking on by `delta` seconds; `told` hears of each bus whose own gain is
    /// new.
    pub fn step(&mut self, delta: f32, mut told: impl FnMut(usize, f32)) {
        for i in (1..self.states.len()).rev() {
            let loudest = self.states[i].loudest;
            let parent = self.mixer.buses[i].parent.expect("only the master has none");
            self.states[parent].loudest = self.states[parent].loudest.max(loudest);
        }
        for i in 0..self.states.len() {
            let Bus { volume_db, duck, parent, .. } = &self.mixer.buses[i];
            if let Some(duck) = duck {
                let loud = self.states[duck.by].loudest > DUCKING_LEVEL;
                let speed = duck.volume_db.abs() * delta;
                let state = &mut self.states[i];
                state.ducked_db = match loud {
                    true => (state.ducked_db - speed / duck.attack_seconds).max(duck.volume_db),
                    false => (state.ducked_db + speed / duck.release_seconds).min(0.0),
                };
            }
            let above = parent.map_or(1.0, |parent| self.states[parent].total);
            let state = &mut self.states[i];
            state.volume.passed += delta;
            let gain = decibels(volume_db + state.ducked_db) * state.volume.value();
            state.total = gain * above;
            if state.told != Some(gain) {
                state.told = Some(gain);
                told(i, gain);
            }
        }
        for state in &mut self.states {
            state.loudest = 0.0;
        }
    }
}

/// The factor that so many decibels are; -100 and less is silence.
#[inline]
pub fn decibels(db: f32) -> f32 {
    if db == 0.0 {
        1.0
    } else if db <= -100.0 {
        0.0
    } else {
        // 10^(db/20)
        (db * (std::f32::consts::LN_10 / 20.0)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::super::mixer;
    use super::*;
    use crate::foundation::sjson;

    #[test]
    fn a_bus_makes_room_for_another_while_that_can_be_heard() {
        let text = "buses = { voice = {} music = { duck = { by = \"voice\", volume_db = -12, \
                    attack_seconds = 0.1, release_seconds = 0.2 } } }";
        let mixer = mixer::parse("a.mixer", sjson::parse(text).unwrap().root()).unwrap();
        let mut buses = Buses::new(mixer);
        let mut gain = 0.0;
        let mut step = |buses: &mut Buses, loud: f32| {
            buses.states[1].loudest = loud;
            buses.step(0.05, |bus, told| {
                if bus == 2 {
                    gain = told
                }
            });
            gain
        };
        assert_eq!(step(&mut buses, 0.0), 1.0);
        assert!((step(&mut buses, 1.0) - decibels(-6.0)).abs() < 1e-6);
        assert!((step(&mut buses, 1.0) - decibels(-12.0)).abs() < 1e-6);
        assert!((step(&mut buses, 1.0) - decibels(-12.0)).abs() < 1e-6);
        for _ in 0..4 {
            step(&mut buses, 0.0);
        }
        assert_eq!(step(&mut buses, 0.0), 1.0);
    }

    #[test]
    fn decibels_are_factors() {
        assert_eq!((decibels(0.0), decibels(-100.0)), (1.0, 0.0));
        assert!((decibels(-20.0) - 0.1).abs() < 1e-6 && (decibels(6.0206) - 2.0).abs() < 1e-4);
    }
}
