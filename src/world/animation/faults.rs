//! Warnings about characters whose data has no useful meaning at present: weights that sum to 0,
//! divisions by 0, results that are too large, clips without length, a unit with a scale of 0.
//! Their poses stay valid, and the log has one line for each line of a file with such a fault.

use super::state_machine::BoundMachine;
use super::{Animations, Character};
use crate::unit::Units;
use engine_animation::StateMachine;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::log;
use std::collections::HashSet;

/// Maximum number of faults that are remembered; further ones are not reported.
const FAULTS_MAX: usize = 1 << 14;
const DIVISION_MESSAGE: &str = "an expression divides by 0, which gives 0: keep the divisor above \
                                0, for example 2 / max(speed, 0.01)";
const OVERFLOW_MESSAGE: &str = "an expression has a result that is too large, which gives 0: limit \
                                its parts with min or clamp";

/// A fault of the characters with a state machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fault {
    /// The weights of the clips of this state sum to 0.
    WithoutWeights(u16),
    /// A unit has a scale of 0.
    WithoutScale,
}

/// The faults that were reported.
#[derive(Default)]
pub(super) struct Faults {
    /// Faults with the numbers of their state machines.
    known: HashSet<(usize, Fault)>,
    /// Paths and lines of state machines, which can be bound to several models, with the message.
    lines: HashSet<(String, u32, &'static str)>,
}

/// Warns about the data of a game, in its log or in the results of a check.
pub(super) fn warn(location: &str, message: &str) {
    match log::holds_data_warnings() {
        true => log::data_warning(location, message),
        false => log::warning(&format!("{location}: {message}")),
    }
}

impl Faults {
    /// Returns true if a fault is a new one.
    fn add(&mut self, machine: &BoundMachine, fault: Fault) -> bool {
        self.known.len() < FAULTS_MAX && self.known.insert((machine.number, fault))
    }

    /// Returns true if a line of a state machine did not have a message of this kind.
    fn add_line(&mut self, machine: &BoundMachine, line: u32, kind: &'static str) -> bool {
        let key = (machine.machine.path().to_string(), line, kind);
        self.lines.len() < FAULTS_MAX && self.lines.insert(key)
    }

    /// Forgets the faults of a replaced state machine.
    pub fn remove(&mut self, replaced: &BoundMachine) {
        self.known.retain(|(number, _)| *number != replaced.number);
        self.lines.retain(|(path, _, _)| path != replaced.machine.path());
    }

    /// Reports the faults of a character in this update.
    pub fn check(&mut self, character: &Character, units: &Units) {
        let Some(it) = character.machine.as_ref().filter(|it| it.is_active()) else { return };
        let bound = &*it.bound;
        for state in &it.output.without_weights {
            if !self.add(bound, Fault::WithoutWeights(*state)) {
                continue;
            }
            let state = bound.machine.state(*state);
            if self.add_line(bound, state.line, "weights") {
                let (path, name) = (bound.machine.path(), &state.name);
                let message =
                    format!("the weights of state '{name}' sum to 0: its first animation is shown");
                warn(&format!("{path}:{}", state.line), &message);
            }
        }
        let scale = character.world.scale;
        if character.has_constraints()
            && scale.abs().min_element() == 0.0
            && self.add(bound, Fault::WithoutScale)
        {
            let name = &units.of(character.unit).resource.name;
            let message = format!(
                "its scale is {scale}: constraints with targets have no effect, as for all units \
                 with such a scale"
            );
            warn(&format!("unit \"{name}\""), &message);
        }
    }

    /// Reports states that play only clips without length.
    pub fn report_lengths(&mut self, bound: &BoundMachine) {
        for (line, message) in bound.machine.length_warnings(&bound.infos) {
            if self.add_line(bound, line, "length") {
                warn(&format!("{}:{line}", bound.machine.path()), &message);
            }
        }
    }
}

impl Animations {
    /// Reports the expressions of state machines that divided by 0, or exceeded the range of
    /// numbers, since the last update: one of each machine in an update, and each line once.
    pub(super) fn report_expressions(&mut self) {
        self.report_lines("division", StateMachine::take_zero_division, DIVISION_MESSAGE);
        self.report_lines("overflow", StateMachine::take_overflow, OVERFLOW_MESSAGE);
    }

    fn report_lines(
        &mut self,
        kind: &'static str,
        take: fn(&StateMachine) -> Option<u32>,
        message: &str,
    ) {
        let found = self.machines.values().filter_map(|it| Some((take(&it.machine)?, it)));
        let mut found: Vec<_> = found.collect();
        found.sort_compact_by(|(a, one), (b, other)| {
            (one.machine.path(), a).cmp(&(other.machine.path(), b))
        });
        for (line, bound) in found {
            if self.faults.add_line(bound, line, kind) {
                warn(&format!("{}:{line}", bound.machine.path()), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clip_stream_tests::lines_with;
    use super::super::crowd_tests::Crowd;
    use super::*;
    use engine_foundation::Vec3;
    use std::sync::Arc;

    const MACHINE: &str = r#"
skeleton = "rig"
variables = { amount = 1 }
constraints = { look = { type = "aim" bone = "head" } }
layers = [
    { states = { weightless = {
        blend = [ { clip = "a" weight = "amount" } { clip = "b" weight = "-amount" } ]
        speed = "1 / amount" constraints = ["look"]
    } } }
    { states = { other = {
        blend = [ { clip = "a" weight = "amount" } { clip = "b" weight = "-amount" } ]
        speed = "2 / amount"
    } } }
    { states = { fast = { clip = "a" speed = "1e9 * (1 - amount) * 1e9 * 1e9 * 1e9 * 1e9" } } }
]
"#;

    #[test]
    fn faults_are_logged_once_and_poses_stay_valid() {
        let mut crowd = Crowd::new(3, 1, MACHINE);
        let bound = crowd.animations.characters[0].machine.as_ref().unwrap().bound.clone();
        let key = |model: &str| ("rig".to_string(), model.to_string());
        crowd.animations.machines.insert(key("rig"), bound.clone());
        // The same machine for another model, which another character has.
        let mut other = (*bound).clone();
        other.number = 9;
        let other = Arc::new(other);
        crowd.animations.machines.insert(key("other"), other.clone());
        crowd.animations.characters[2].reload_machine(&other);
        let counts = || {
            [
                "rig.state_machine:6: the weights of state 'weightless' sum to 0",
                "rig.state_machine:10: the weights of state 'other' sum to 0",
                "rig.state_machine:8: an expression divides by 0, which gives 0: keep the divisor",
                "rig.state_machine:12: an expression divides by 0",
                "rig.state_machine:14: an expression has a result that is too large",
                "unit \"rig\": its scale is [1, 0, 1]: constraints with targets have no effect",
            ]
            .map(lines_with)
        };
        crowd.step(0.1);
        assert_eq!(counts(), [0; 6]);
        for character in &mut crowd.animations.characters {
            let machine = character.machine.as_mut().unwrap();
            machine.state.set_variable(&machine.bound.machine, 0, 0.0);
        }
        let row = crowd.crowd[1].row();
        crowd.units.scene.set_local_scale(row, 0, Vec3::new(1.0, 0.0, 1.0));
        (0..5).for_each(|_| crowd.step(0.1));
        assert_eq!(counts(), [1; 6]);
        for character in crowd.animations.iter() {
            let numbers = character.matrices().iter().flat_map(|matrix| matrix.0);
            assert!(numbers.flat_map(|row| row.0).all(f32::is_finite));
        }
        // A replaced machine can have the faults again.
        crowd.animations.faults.remove(&bound);
        crowd.step(0.1);
        assert_eq!(counts()[..2], [2; 2]);
    }

    #[test]
    fn states_without_length_are_reported_if_they_would_go_on() {
        let machine = r#"
skeleton = "rig"
layers = [ { states = {
    ends = { clip = "a" on_end = "loops" }
    loops = { clip = "a" loop = true }
    tells = { blend = [ { clip = "a" } { clip = "b" } ] events = [ { name = "x" at = 0.5 } ] }
    holds = { clip = "a" }
    moves = { blend = [ { clip = "a" } { clip = "c" } ] on_end = "holds" }
    scrubs = { clip = "a" time = 0.5 }
    late = { clip = "c" events = [ { name = "x" time = 1 } { name = "y" time = 1.5 } ] }
} } ]
"#;
        let crowd = Crowd::new(1, 1, machine);
        let mut bound = (*crowd.animations.characters[0].machine.as_ref().unwrap().bound).clone();
        let named = |name: &str| name == "a" || name == "b";
        for (info, clip) in bound.infos.iter_mut().zip(bound.machine.clips()) {
            info.seconds = if named(&clip.name) { 0.0 } else { 1.0 };
        }
        let found = bound.machine.length_warnings(&bound.infos);
        let wanted = [
            (4, "state 'ends': 'a' is 0 seconds long: 'on_end' leaves it at once"),
            (5, "state 'loops': 'a' is 0 seconds long: there is nothing to repeat"),
            (6, "state 'tells': 'a' is 0 seconds long: its 'events' are all at its start"),
            (
                10,
                "state 'late': its event 'y' at 1.5 s is never sent: its animations end at 1.00 s",
            ),
        ];
        assert_eq!(found, wanted.map(|(line, text)| (line, text.to_string())));
        Faults::default().report_lengths(&bound);
        assert_eq!(lines_with("rig.state_machine:4: state 'ends'"), 1);
    }
}
