//! Transitions of a state machine that are never taken, for `engine explain`.

use super::data::*;
use super::expression::{Expression, Op};
use std::collections::BTreeMap;

/// Line of a transition, its event, and the last part of the name of its target. Groups that
/// several states contain have several transitions of the same line.
type TransitionName<'a> = (u32, Option<u16>, &'a str);

impl StateMachine {
    /// Returns the value of an expression that depends on no variable.
    fn constant(&self, expression: Expression) -> Option<f32> {
        match self.table.ops(expression) {
            [Op::Number(number)] => Some(*number),
            _ => None,
        }
    }

    /// Returns true if a state with clips that have a length never ends, because its time does not
    /// advance.
    fn never_ends(&self, state: &State) -> bool {
        let stops = |speed: &Expression| self.constant(*speed) == Some(0.0);
        !matches!(state.kind, StateKind::Time(_)) && state.speeds.iter().any(stops)
    }

    /// Returns the reason why a transition is not taken in a state: `earlier` are those that are
    /// tried before it.
    fn obstacle(
        &self,
        state: &State,
        transition: &Transition,
        earlier: &[&Transition],
    ) -> Option<String> {
        let condition = |it: &Transition| it.condition.map(|condition| self.constant(condition));
        if condition(transition) == Some(Some(0.0)) {
            return Some("its 'if' is always 0".to_string());
        }
        if transition.event.is_none() && self.never_ends(state) {
            return Some(format!(
                "the speed of state '{}' is always 0, so that only animations without length end",
                state.name
            ));
        }
        let is_taken = |it: &&&Transition| {
            let always = condition(it).is_none_or(|value| value.is_some_and(|value| value != 0.0));
            it.event == transition.event && always
        };
        let first = earlier.iter().find(is_taken)?;
        let target = &self.states[usize::from(first.target)].name;
        Some(format!("the one to '{target}' (line {}) is always taken before it", first.line))
    }

    /// Returns a text for each transition that no state takes. `reached` has, for each state, true
    /// if some sequence of events leads to it.
    pub(super) fn transitions_never_taken(&self, reached: &[bool]) -> Vec<String> {
        // The reason of a transition, or `None` if a state takes it.
        let mut reasons: BTreeMap<TransitionName, Option<String>> = BTreeMap::new();
        let states = self.states.iter().zip(reached).filter(|(_, reached)| **reached);
        for (state, _) in states {
            let leaving: Vec<&Transition> = self.leaving(state).collect();
            for (index, transition) in leaving.iter().enumerate() {
                let obstacle = self.obstacle(state, transition, &leaving[..index]);
                let target = &self.states[usize::from(transition.target)].name;
                let target = target.rsplit('/').next().unwrap_or(target);
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
            Some(format!("the transition {event} to '{target}' (line {line}): {reason}"))
        };
        reasons.into_iter().filter_map(text).collect()
    }
}
