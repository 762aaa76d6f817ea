//! States of a state machine that cannot be reached, and transitions that are never taken, for
//! `engine explain` and `engine check`.

use super::data::*;
use super::expression::{Expression, Op};
use engine_foundation::compact_sort::CompactSort;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Line of a transition, its event, and the last part of the name of its target. Groups that
/// several states contain have several transitions of the same line.
type TransitionName<'a> = (u32, Option<u16>, &'a str);

/// The transitions of a state that are tried before another one: the first one for each event.
#[derive(Default)]
struct EarlierTransitions<'a> {
    /// Those that are always taken.
    always: HashMap<Option<u16>, &'a Transition>,
    /// Those with a condition, by its text.
    conditional: HashMap<(Option<u16>, String), &'a Transition>,
}

/// Returns the name of a state without those of its groups.
fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

impl StateMachine {
    /// Returns the value of an expression that depends on no variable.
    fn constant(&self, expression: Expression) -> Option<f32> {
        match self.table.ops(expression) {
            [Op::Number(number)] => Some(*number),
            _ => None,
        }
    }

    /// Returns true if the condition of a transition is always 0.
    pub(super) fn is_off(&self, transition: &Transition) -> bool {
        transition.condition.and_then(|condition| self.constant(condition)) == Some(0.0)
    }

    /// Returns true if a state with clips that have a length never ends, because its time does not
    /// advance.
    fn never_ends(&self, state: &State) -> bool {
        let stops = |speed: &Expression| self.constant(*speed) == Some(0.0);
        !matches!(state.kind, StateKind::Time(_)) && state.speeds.iter().any(stops)
    }

    /// Returns the reason why a transition is not taken in a state.
    fn obstacle(
        &self,
        state: &State,
        transition: &Transition,
        earlier: &EarlierTransitions,
    ) -> Option<String> {
        if self.is_off(transition) {
            return Some("its 'if' is always 0".to_string());
        }
        if transition.event.is_none() && self.never_ends(state) {
            return Some(format!(
                "the speed of state '{}' is always 0, so that only animations without length end",
                state.name
            ));
        }
        let name = |it: &Transition| &self.states[usize::from(it.target)].name;
        if let Some(it) = earlier.always.get(&transition.event) {
            let (target, line) = (name(it), it.line);
            return Some(format!("the one to '{target}' (line {line}) is always taken before it"));
        }
        let it = earlier.conditional.get(&(transition.event, self.condition_key(transition)?))?;
        let (target, line) = (name(it), it.line);
        Some(format!(
            "the one to '{target}' (line {line}) has the same 'if', and is taken before it"
        ))
    }

    /// Returns a text that equal conditions have in common; `None` if the transition depends on no
    /// variable.
    fn condition_key(&self, transition: &Transition) -> Option<String> {
        let condition = transition.condition.filter(|it| self.constant(*it).is_none())?;
        Some(format!("{:?}", self.table.ops(condition)))
    }

    /// Adds a transition to those that are tried before others.
    fn add_earlier<'a>(&self, earlier: &mut EarlierTransitions<'a>, transition: &'a Transition) {
        match self.condition_key(transition) {
            Some(key) => {
                earlier.conditional.entry((transition.event, key)).or_insert(transition);
            }
            None if !self.is_off(transition) => {
                earlier.always.entry(transition.event).or_insert(transition);
            }
            None => {}
        }
    }

    /// Returns the line and a text for each transition that no state takes. `reached` has, for each
    /// state, true if some sequence of events leads to it.
    pub(super) fn transitions_never_taken(&self, reached: &[bool]) -> Vec<(u32, String)> {
        // The reason of a transition, or `None` if a state takes it.
        let mut reasons: BTreeMap<TransitionName, Option<String>> = BTreeMap::new();
        let states = self.states.iter().zip(reached).filter(|(_, reached)| **reached);
        for (state, _) in states {
            let mut earlier = EarlierTransitions::default();
            for transition in self.leaving(state) {
                let obstacle = self.obstacle(state, transition, &earlier);
                self.add_earlier(&mut earlier, transition);
                let target = last_part(&self.states[usize::from(transition.target)].name);
                let known = reasons.entry((transition.line, transition.event, target));
                let reason = known.or_insert_with(|| obstacle.clone());
                if obstacle.is_none() {
                    *reason = None;
                }
            }
        }
        let text = |((line, event, target), reason): (TransitionName, Option<String>)| {
            let event = event.map(|event| &self.events[usize::from(event)]);
            let event = event.map_or("at the end".to_string(), |event| format!("on '{event}'"));
            let reason = reason?;
            Some((line, format!("the transition {event} to '{target}' is never taken: {reason}")))
        };
        reasons.into_iter().filter_map(text).collect()
    }

    /// Returns the lines and the texts of warnings about states that no sequence of events reaches,
    /// and about transitions that no state takes.
    pub fn dead_parts(&self) -> Vec<(u32, String)> {
        let reached = self.reached_states();
        // A group that several states contain has its states several times.
        let key = |state: &State| (state.line, last_part(&state.name).to_string());
        let pairs = self.states.iter().zip(&reached);
        let mut listed: BTreeSet<(u32, String)> =
            pairs.filter(|(_, reached)| **reached).map(|(state, _)| key(state)).collect();
        let dead = self.states.iter().filter(|state| listed.insert(key(state)));
        let text = |state: &State| {
            let name = &state.name;
            (state.line, format!("state '{name}' cannot be reached: no transition leads to it"))
        };
        let states: Vec<(u32, String)> = dead.map(text).collect();
        let mut all = [states, self.transitions_never_taken(&reached)].concat();
        all.sort_compact_by_key(|(line, _)| *line);
        all
    }
}
