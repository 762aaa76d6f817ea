//! States of characters as lists of numbers, and their transfer to a changed state machine.

use super::data::*;
use super::expression::{least, most};
use super::runtime::*;
use engine_foundation::{Error, error};

/// Numbers of a layer before those of its tracks.
const LAYER_NUMBERS: usize = 8;
/// Numbers of a track.
const TRACK_NUMBERS: usize = 10;

/// Index of a choice in a table of names.
fn number_of<T: PartialEq>(table: &[(&str, T)], choice: T) -> f64 {
    table.iter().position(|(_, it)| *it == choice).unwrap_or(0) as f64
}

fn save_settings(settings: FadeSettings) -> [f64; 4] {
    [
        f64::from(settings.seconds),
        number_of(&Curve::ALL, settings.curve),
        number_of(&Interruption::ALL, settings.interruption),
        f64::from(settings.priority),
    ]
}

/// Reader of a list of numbers.
struct Numbers<'a>(&'a [f64]);

impl Numbers<'_> {
    fn next(&mut self) -> Result<f64, Error> {
        let Some((number, rest)) = self.0.split_first() else {
            return Err(error!("the list of an animation state ends early"));
        };
        self.0 = rest;
        Ok(*number)
    }

    /// Returns a number from `least` to `most`.
    fn number(&mut self, least: f64, most: f64) -> Result<f64, Error> {
        let number = self.next()?;
        match (least..=most).contains(&number) {
            true => Ok(number),
            false => Err(error!(
                "the list of an animation state has {number} where {least} to {most} should be"
            )),
        }
    }

    /// Returns a whole number from `least` to `most`.
    fn whole(&mut self, least: i64, most: i64) -> Result<i64, Error> {
        let number = self.number(least as f64, most as f64)?;
        match number.fract() == 0.0 {
            true => Ok(number as i64),
            false => Err(error!(
                "the list of an animation state has {number} where a whole number should be"
            )),
        }
    }

    fn choice<T: Copy>(&mut self, table: &[(&str, T)]) -> Result<T, Error> {
        Ok(table[self.whole(0, table.len() as i64 - 1)? as usize].1)
    }

    fn settings(&mut self) -> Result<FadeSettings, Error> {
        Ok(FadeSettings {
            seconds: self.number(0.0, f64::from(BLEND_SECONDS_MAX))? as f32,
            curve: self.choice(&Curve::ALL)?,
            interruption: self.choice(&Interruption::ALL)?,
            priority: self.whole(-128, 127)? as i8,
        })
    }

    fn track(&mut self, machine: &StateMachine, layer: &Layer) -> Result<Track, Error> {
        let state = self.state(machine, layer)?;
        Ok(Track {
            state,
            serial: self.whole(0, i64::from(u16::MAX))? as u16,
            choice: self.whole(0, STATE_CLIPS_MAX as i64 - 1)? as u8,
            finished: self.whole(0, 1)? == 1,
            phase: self.number(0.0, 1.0)? as f32,
            fade: Fade {
                elapsed: self.number(0.0, f64::from(BLEND_SECONDS_MAX))? as f32,
                settings: self.settings()?,
            },
            seconds: 0.0,
        })
    }

    /// Returns the index of a state of a layer that can be current.
    fn state(&mut self, machine: &StateMachine, layer: &Layer) -> Result<u16, Error> {
        let (first, end) = layer.states;
        let state = self.whole(i64::from(first), i64::from(end) - 1)? as u16;
        match &machine.states[usize::from(state)] {
            State { kind: StateKind::Selection { .. }, name, .. } => Err(error!(
                "the list of an animation state names '{name}', which is a choice of states"
            )),
            _ => Ok(state),
        }
    }

    fn layer(&mut self, machine: &StateMachine, layer: &Layer) -> Result<LayerState, Error> {
        let current = self.state(machine, layer)?;
        let choice = self.whole(0, STATE_CLIPS_MAX as i64 - 1)? as u8;
        // The number after the modes: no transition is pending.
        let mode = self.whole(0, TransitionMode::ALL.len() as i64)? as usize;
        let settings = self.settings()?;
        let pending = TransitionMode::ALL.get(mode).map(|(_, mode)| (*mode, settings));
        let pending = pending.map(|(mode, settings)| Pending { mode, settings });
        let count = self.whole(1, TRACKS_MAX as i64)?;
        let mut state = LayerState::new(current, choice, 0);
        for index in 0..count as usize {
            state.tracks[index] = self.track(machine, layer)?;
        }
        state.count = count as u8;
        let top = state.top().state;
        if pending.is_none() && top != current {
            let [top, current] =
                [top, current].map(|state| &machine.states[usize::from(state)].name);
            return Err(error!(
                "the list of an animation state plays '{top}', but its state is '{current}'"
            ));
        }
        state.pending = pending;
        Ok(state)
    }
}

impl StateMachineState {
    /// Adds the states of all layers to a list of numbers, with the values that the variables had
    /// in the latest update. Those of the next one, and the seed, are not part of it.
    pub fn save(&self, numbers: &mut Vec<f64>) {
        self.each_number(|number| numbers.push(number));
    }

    /// Calls `visit` for each number of the list.
    pub(super) fn each_number(&self, mut visit: impl FnMut(f64)) {
        visit(f64::from(u8::from(self.started)));
        visit(f64::from(self.next_serial));
        for layer in &self.layers {
            let none = TransitionMode::ALL.len() as f64;
            let pending = layer.pending.as_ref();
            let settings = pending.map_or(FadeSettings::DEFAULT, |pending| pending.settings);
            let mode = pending.map_or(none, |it| number_of(&TransitionMode::ALL, it.mode));
            let [seconds, curve, interruption, priority] = save_settings(settings);
            let head: [f64; LAYER_NUMBERS] = [
                f64::from(layer.current),
                f64::from(layer.choice),
                mode,
                seconds,
                curve,
                interruption,
                priority,
                f64::from(layer.count),
            ];
            head.into_iter().for_each(&mut visit);
            for track in layer.tracks() {
                let [seconds, curve, interruption, priority] = save_settings(track.fade.settings);
                let row: [f64; TRACK_NUMBERS] = [
                    f64::from(track.state),
                    f64::from(track.serial),
                    f64::from(track.choice),
                    f64::from(u8::from(track.finished)),
                    f64::from(track.phase),
                    f64::from(track.fade.elapsed),
                    seconds,
                    curve,
                    interruption,
                    priority,
                ];
                row.into_iter().for_each(&mut visit);
            }
        }
        visit(self.before.len() as f64);
        self.before.iter().for_each(|value| visit(f64::from(*value)));
    }

    /// Replaces the states of all layers by those of a list that begins with numbers that
    /// [`StateMachineState::save`] wrote. Returns the rest of the list.
    ///
    /// # Errors
    /// Returns an error and changes nothing if the list is not of this state machine.
    pub fn load<'a>(
        &mut self,
        machine: &StateMachine,
        numbers: &'a [f64],
    ) -> Result<&'a [f64], Error> {
        let mut numbers = Numbers(numbers);
        let started = numbers.whole(0, 1)? == 1;
        let next_serial = numbers.whole(0, i64::from(u16::MAX))? as u16;
        let mut layers = Vec::with_capacity(machine.layers.len());
        for layer in &machine.layers {
            layers.push(numbers.layer(machine, layer)?);
        }
        let mut before = Vec::new();
        let (count, wanted) = (numbers.whole(0, u16::MAX.into())?, machine.variables.len());
        if count > 0 {
            if count as usize != wanted {
                return Err(error!(
                    "the list of an animation state has {count} variables, and the state machine \
                     has {wanted}: use a list of this state machine"
                ));
            }
            for variable in &machine.variables {
                // Its range can be another one since then.
                let value = numbers.number(f32::MIN.into(), f32::MAX.into())? as f32;
                before.push(least(most(value, variable.min), variable.max));
            }
        }
        (self.started, self.next_serial, self.layers) = (started, next_serial, layers);
        self.before = before;
        Ok(numbers.0)
    }

    /// Returns the state of a character after its state machine was replaced. Variables, layers and
    /// states are found by name; a state that no longer exists is replaced by the initial one.
    pub fn migrate(&self, old: &StateMachine, new: &StateMachine) -> StateMachineState {
        let mut state = StateMachineState::new(new, self.seed);
        state.seed = self.seed;
        state.started = self.started;
        state.next_serial = self.next_serial.wrapping_add(new.layers.len() as u16);
        for (variable, value) in old.variables.iter().zip(&self.variables) {
            if let Some(index) = new.find_variable(&variable.name) {
                state.set_variable(new, index, *value);
            }
        }
        for (layer, old_state) in old.layers.iter().zip(&self.layers) {
            let Some(index) = new.find_layer(&layer.name) else { continue };
            let find = |state: u16| {
                let found = new.find_state(index, &old.states[usize::from(state)].name)?;
                let kind = &new.states[usize::from(found)].kind;
                (!matches!(kind, StateKind::Selection { .. })).then_some(found)
            };
            let Some(current) = find(old_state.current) else { continue };
            let choice = |state: u16, choice: u8| {
                let clips = new.states[usize::from(state)].clips.len();
                choice.min(clips.saturating_sub(1) as u8)
            };
            let target = &mut state.layers[usize::from(index)];
            let fresh = target.tracks[0].serial;
            *target = LayerState::new(current, choice(current, old_state.choice), fresh);
            let mut count = 0;
            for track in old_state.tracks() {
                if let Some(found) = find(track.state) {
                    let choice = choice(found, track.choice);
                    target.tracks[count] = Track { state: found, choice, ..*track };
                    count += 1;
                }
            }
            if count > 0 {
                target.count = count as u8;
                target.pending = old_state.pending;
                if target.top().state != current && target.pending.is_none() {
                    // The track of the current state could not be kept.
                    target.pending = Some(Pending {
                        mode: TransitionMode::Immediate,
                        settings: FadeSettings::DEFAULT,
                    });
                }
            }
        }
        state
    }
}
