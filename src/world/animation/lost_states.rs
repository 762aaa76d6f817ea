//! States of a reloaded state machine that are gone while characters are in them, for the log.

use engine_animation::{StateKind, StateMachine, StateMachineState};
use std::collections::BTreeMap;

/// Numbers of characters by the layer and the state that they were in, by name.
#[derive(Default)]
pub struct LostStates(BTreeMap<(String, String), usize>);

impl LostStates {
    /// Adds the states of a character with the machine `old` that `new` does not have, although it
    /// has their layer.
    pub fn add(&mut self, state: &StateMachineState, old: &StateMachine, new: &StateMachine) {
        for (layer, index) in old.layers().iter().zip(0..) {
            let Some(found) = new.find_layer(&layer.name) else { continue };
            let Some(current) = state.current_state(index) else { continue };
            let name = &old.state(current).name;
            let is_kept = new.find_state(found, name).is_some_and(|found| {
                // No character is in a state that only selects others.
                !matches!(new.state(found).kind, StateKind::Selection { .. })
            });
            if !is_kept {
                *self.0.entry((layer.name.clone(), name.clone())).or_default() += 1;
            }
        }
    }

    /// Returns a line for each state.
    pub fn lines(&self, new: &StateMachine) -> Vec<String> {
        let line = |((layer, state), count): (&(String, String), &usize)| {
            let initial =
                new.find_layer(layer).map(|index| new.layers()[usize::from(index)].initial);
            let initial = initial.map_or("", |state| new.state(state).name.as_str());
            let (noun, begins) =
                if *count == 1 { ("character", "begins") } else { ("characters", "begin") };
            format!(
                "{}: there is no state '{state}' any more: {count} {noun} {begins} again at \
                 '{initial}'",
                new.path()
            )
        };
        self.0.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_animation::compile_state_machine;

    fn machine(states: &str) -> StateMachine {
        let text = format!(
            "skeleton = \"rig\" layers = [ {{ name = \"arms\" initial = \"free\" \
             states = {{ {states} }} }} ]"
        );
        compile_state_machine("rig.state_machine", &text).unwrap()
    }

    #[test]
    fn lost_states_are_counted() {
        let on = "free = { clip = \"a\" on = { go = \"greet\" } }";
        let old = machine(&format!("{on} greet = {{ clip = \"b\" }}"));
        let new = machine("free = { clip = \"a\" } wave = { clip = \"b\" }");
        let mut playing = StateMachineState::new(&old, 1);
        let mut lost = LostStates::default();
        lost.add(&playing, &old, &new);
        assert!(lost.lines(&new).is_empty(), "the initial state is still there");
        assert!(playing.send_event(&old, old.find_event("go").unwrap(), &mut Vec::new()));
        lost.add(&playing, &old, &old);
        assert!(lost.lines(&old).is_empty());
        lost.add(&playing, &old, &new);
        let text = "rig.state_machine: there is no state 'greet' any more: ";
        assert_eq!(lost.lines(&new), [format!("{text}1 character begins again at 'free'")]);
        lost.add(&playing, &old, &new);
        assert_eq!(lost.lines(&new), [format!("{text}2 characters begin again at 'free'")]);
    }
}
