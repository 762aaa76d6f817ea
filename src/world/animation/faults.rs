//! Warnings about characters whose data has no useful meaning at present: weights that sum to 0,
//! divisions by 0, clips without length, a unit with a scale of 0. Their poses stay valid, and the
//! log has one line for each.

use super::state_machine::BoundMachine;
use super::{Animations, Character};
use crate::unit::Units;
use engine_foundation::log;
use std::collections::HashSet;

/// Maximum number of faults that are remembered; further ones are not reported.
const FAULTS_MAX: usize = 1 << 14;

/// A fault of the characters with a state machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fault {
    /// The weights of the clips of this state sum to 0.
    WithoutWeights(u16),
    /// A unit has a scale of 0.
    WithoutScale,
}

/// The faults that were reported, with the numbers of their state machines.
#[derive(Default)]
pub(super) struct Faults(HashSet<(usize, Fault)>);

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
        self.0.len() < FAULTS_MAX && self.0.insert((machine.number, fault))
    }

    /// Reports the faults of a character in this update.
    pub fn check(&mut self, character: &Character, units: &Units) {
        let Some(it) = character.machine.as_ref().filter(|it| it.is_active()) else { return };
        let bound = &*it.bound;
        if let Some(state) = it.output.without_weights
            && self.add(bound, Fault::WithoutWeights(state))
        {
            let state = bound.machine.state(state);
            let location = format!("{}:{}", bound.machine.path(), state.line);
            let name = &state.name;
            warn(
                &location,
                &format!("the weights of state '{name}' sum to 0: its first animation is shown"),
            );
        }
        let scale = character.world.scale;
        if character.has_constraints()
            && scale.min_element() <= 0.0
            && scale.abs().min_element() == 0.0
            && self.add(bound, Fault::WithoutScale)
        {
            let name = &units.of(character.unit).resource.name;
            let message = format!("its scale is {scale}: constraints with targets have no effect");
            warn(&format!("unit \"{name}\""), &message);
        }
    }
}

impl BoundMachine {
    /// Reports states that play only clips without length.
    pub(super) fn report_lengths(&self) {
        for (line, message) in self.machine.length_warnings(&self.infos) {
            warn(&format!("{}:{line}", self.machine.path()), &message);
        }
    }
}

impl Animations {
    /// Reports the state machines whose expressions divided by 0 since the last update, each once.
    pub(super) fn report_divisions(&self) {
        let found = |bound: &BoundMachine| {
            let line = bound.machine.take_zero_division()?;
            Some(format!("{}:{line}", bound.machine.path()))
        };
        let mut locations: Vec<String> =
            self.machines.values().filter_map(|bound| found(bound)).collect();
        locations.sort();
        locations.dedup();
        for location in locations {
            warn(&location, "an expression divides by 0, which gives 0");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clip_stream_tests::lines_with;
    use super::super::crowd_tests::Crowd;
    use engine_foundation::Vec3;

    const MACHINE: &str = r#"
skeleton = "rig"
variables = { amount = 1 }
constraints = { look = { type = "aim" bone = "head" } }
layers = [ { states = {
    weightless = { blend = [ { clip = "a" weight = "amount" } { clip = "b" weight = "-amount" } ]
        speed = "1 / amount" constraints = ["look"] }
} } ]
"#;

    #[test]
    fn faults_are_logged_once_and_poses_stay_valid() {
        let mut crowd = Crowd::new(3, 1, MACHINE);
        let bound = crowd.animations.characters[0].machine.as_ref().unwrap().bound.clone();
        crowd.animations.machines.insert(("rig".to_string(), "rig".to_string()), bound);
        let weights = "rig.state_machine:6: the weights of state 'weightless' sum to 0";
        let division = "rig.state_machine:7: an expression divides by 0, which gives 0";
        let scale = "unit \"rig\": its scale is [1, 0, 1]: constraints with targets have no effect";
        let counts = || [weights, division, scale].map(lines_with);
        crowd.step(0.1);
        assert_eq!(counts(), [0; 3]);
        for character in &mut crowd.animations.characters {
            let machine = character.machine.as_mut().unwrap();
            machine.state.set_variable(&machine.bound.machine, 0, 0.0);
        }
        let row = crowd.crowd[1].row();
        crowd.units.scene.set_local_scale(row, 0, Vec3::new(1.0, 0.0, 1.0));
        (0..5).for_each(|_| crowd.step(0.1));
        assert_eq!(counts(), [1; 3]);
        for character in crowd.animations.iter() {
            let numbers = character.matrices().iter().flat_map(|matrix| matrix.0);
            assert!(numbers.flat_map(|row| row.0).all(f32::is_finite));
        }
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
        ];
        assert_eq!(found, wanted.map(|(line, text)| (line, text.to_string())));
        bound.report_lengths();
        assert_eq!(lines_with("rig.state_machine:4: state 'ends'"), 1);
    }
}
