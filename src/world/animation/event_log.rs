//! The log of characters: the transitions of their state machines, and the events that they get and
//! send. Scripts turn it on for a unit.

use super::Animations;
use super::character::Character;
use crate::unit::{UnitId, Units};
use engine_foundation::log;

/// A character whose transitions and events are logged.
struct LoggedUnit {
    unit: UnitId,
    /// Current state of each layer when it was last logged.
    states: Vec<String>,
}

/// The characters whose transitions and events are logged.
#[derive(Default)]
pub struct EventLog {
    units: Vec<LoggedUnit>,
}

impl EventLog {
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Returns true if a unit is logged.
    pub fn has(&self, unit: UnitId) -> bool {
        self.units.iter().any(|it| it.unit == unit)
    }

    /// Removes a unit.
    pub(super) fn remove(&mut self, unit: UnitId) {
        self.units.retain(|it| it.unit != unit);
    }

    /// Logs the transitions of a character since the last call.
    fn log_transitions(&mut self, character: &Character, unit: &str) {
        let Some(logged) = self.units.iter_mut().find(|it| it.unit == character.unit) else {
            return;
        };
        let states = current_states(character);
        let layers = character.machine.as_ref().map_or(&[][..], |it| it.bound.machine.layers());
        for (index, (state, layer)) in states.iter().zip(layers).enumerate() {
            match logged.states.get(index) {
                Some(before) if before == state => {}
                Some(before) => log::info(&format!(
                    "{unit}: layer '{}' changes from '{before}' to '{state}'",
                    layer.name
                )),
                None => {
                    log::info(&format!("{unit}: layer '{}' begins in '{state}'", layer.name));
                }
            }
        }
        logged.states = states;
    }
}

/// Returns the names of the current states of all layers.
fn current_states(character: &Character) -> Vec<String> {
    let Some(machine) = &character.machine else { return Vec::new() };
    let (state, machine) = (&machine.state, &machine.bound.machine);
    let layers = 0..machine.layers().len() as u16;
    let names = layers.filter_map(|layer| state.layer_info(machine, layer));
    names.map(|info| info.state.to_string()).collect()
}

/// Returns the name of a unit for the log.
fn label(units: &Units, unit: UnitId) -> String {
    format!("animation of unit \"{}\" ({})", units.of(unit).resource.name, unit.row())
}

impl Animations {
    /// Turns the log of a character on or off. Does nothing if the unit has no character.
    pub fn set_logging(&mut self, units: &Units, unit: UnitId, enabled: bool) {
        self.log.remove(unit);
        if enabled && self.of(unit.row()).is_some() {
            self.log.units.push(LoggedUnit { unit, states: Vec::new() });
            self.log_changes(units, unit);
        }
    }

    fn log_changes(&mut self, units: &Units, unit: UnitId) {
        let Animations { characters, index_of, log, .. } = self;
        let index = index_of.get(unit.row() as usize).copied();
        let character = index.and_then(|index| characters.get(index as usize));
        if let Some(character) = character {
            log.log_transitions(character, &label(units, unit));
        }
    }

    /// Logs an event that a script has sent to a character, and the transitions that it caused.
    pub fn log_event(&mut self, units: &Units, unit: UnitId, event: u16, is_taken: bool) {
        let machine = self.of(unit.row()).and_then(|character| character.machine.as_ref());
        let Some(machine) = machine.filter(|_| self.log.has(unit)) else { return };
        let name = &machine.bound.machine.events()[usize::from(event)];
        let note = match (is_taken, machine.enabled) {
            (true, true) => "",
            (true, false) => ", and its state machine is disabled",
            (false, _) => ": no current state has a transition for it that can begin",
        };
        log::info(&format!("{}: event '{name}'{note}", label(units, unit)));
        self.log_changes(units, unit);
    }

    /// Logs the events that characters sent in this update, and their transitions.
    pub(super) fn log_update(&mut self, units: &Units) {
        for event in self.events.fresh().iter().filter(|it| self.log.has(it.unit)) {
            let unit = label(units, event.unit);
            let (name, layer) = (event.origin.name(), event.layer + 1);
            log::info(&format!("{unit}: layer {layer} sends '{name}'"));
        }
        let logged: Vec<UnitId> = self.log.units.iter().map(|it| it.unit).collect();
        logged.into_iter().for_each(|unit| self.log_changes(units, unit));
    }
}
