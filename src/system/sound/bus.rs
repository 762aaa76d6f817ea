//! The state of buses while a game runs: volumes, fades, ducking, parameters. Knows no devices.

use super::mixer::{MixerBus, MixerData};
use super::parameters::{ParameterList, ParameterTable};
use super::voices::VolumeFade;
use engine_foundation::hash::IdString32;

/// The state of one bus.
#[derive(Clone, Debug)]
pub struct BusState {
    /// The volume that the game set, as a factor.
    pub volume: VolumeFade,
    /// The current reduction by ducking, in decibels.
    pub ducked_db: f32,
    pub parameters: ParameterList,
    /// Level of the loudest voice in the last step, including the buses that lead to this bus.
    pub loudest: f32,
    /// The last gain that was sent to the device.
    pub sent_gain: Option<f32>,
    /// The gain of this bus, multiplied by those of all buses that it leads to.
    pub total: f32,
}

impl BusState {
    fn new() -> BusState {
        BusState {
            volume: VolumeFade::at(1.0),
            ducked_db: 0.0,
            parameters: ParameterList::EMPTY,
            loudest: 0.0,
            sent_gain: None,
            total: 1.0,
        }
    }
}

/// All buses, and their state.
pub struct BusStates {
    pub mixer: MixerData,
    pub states: Vec<BusState>,
}

/// A voice below this level does not duck other buses.
const DUCKING_LEVEL: f32 = 0.003;

impl BusStates {
    pub fn new(mixer: MixerData) -> BusStates {
        let states = mixer.buses.iter().map(|_| BusState::new()).collect();
        BusStates { mixer, states }
    }

    /// Replaces the mixer; buses of the same name keep the values that the game set. Returns the
    /// new index of each old bus; removed buses map to the master.
    pub fn exchange(&mut self, mixer: MixerData, parameters: &mut ParameterTable) -> Vec<usize> {
        let mut states: Vec<BusState> = mixer.buses.iter().map(|_| BusState::new()).collect();
        let mut new_indices = Vec::new();
        for (bus, mut state) in self.mixer.buses.iter().zip(self.states.drain(..)) {
            let at = mixer.buses.iter().position(|other| other.id == bus.id);
            match at {
                Some(at) => states[at] = BusState { sent_gain: None, ..state },
                None => parameters.clear(&mut state.parameters),
            }
            new_indices.push(at.map_or(0, |at| at));
        }
        (self.mixer, self.states) = (mixer, states);
        new_indices
    }

    /// Looks up the bits of a parameter: first in the voice's own list, then in those of its buses,
    /// then in that of the game.
    #[inline]
    pub fn lookup(
        &self,
        parameters: &ParameterTable,
        list: ParameterList,
        bus: usize,
        global: ParameterList,
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

    /// Advances fades and ducking by `delta` seconds. `send_gain` is called for each bus whose own
    /// gain changed.
    pub fn step(&mut self, delta: f32, mut send_gain: impl FnMut(usize, f32)) {
        for i in (1..self.states.len()).rev() {
            let loudest = self.states[i].loudest;
            let parent = self.mixer.buses[i].parent.expect("only the master has none");
            self.states[parent].loudest = self.states[parent].loudest.max(loudest);
        }
        for i in 0..self.states.len() {
            let MixerBus { volume_db, duck, parent, .. } = &self.mixer.buses[i];
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
            if state.sent_gain != Some(gain) {
                state.sent_gain = Some(gain);
                send_gain(i, gain);
            }
        }
        for state in &mut self.states {
            state.loudest = 0.0;
        }
    }
}

/// Converts decibels to a factor; -100 and less is silence.
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
    use engine_foundation::sjson;

    #[test]
    fn a_bus_is_ducked_while_another_is_audible() {
        let text = "buses = { voice = {} music = { duck = { by = \"voice\", volume_db = -12, \
                    attack_seconds = 0.1, release_seconds = 0.2 } } }";
        let mixer = mixer::parse("a.mixer", sjson::parse(text).unwrap().root()).unwrap();
        let mut buses = BusStates::new(mixer);
        let mut gain = 0.0;
        let mut step = |buses: &mut BusStates, loud: f32| {
            buses.states[1].loudest = loud;
            buses.step(0.05, |bus, gain_sent| {
                if bus == 2 {
                    gain = gain_sent
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
    fn decibels_convert_to_factors() {
        assert_eq!((decibels(0.0), decibels(-100.0)), (1.0, 0.0));
        assert!((decibels(-20.0) - 0.1).abs() < 1e-6 && (decibels(6.0206) - 2.0).abs() < 1e-4);
    }
}
