//! Text of `engine explain` about a state machine.

use super::constraint_description::ConstraintKind;
use super::data::*;
use super::explain::{StateMachineSummary, StateSummary, TransitionSummary};
use crate::clip_events::EventCue;
use std::fmt::Write;

/// Appends a line that is indented by two spaces a level.
fn line(text: &mut String, level: usize, content: &str) {
    writeln!(text, "{:level$}{content}", "", level = 2 * level).expect("a string grows");
}

/// Returns a number and a noun, in the plural unless the number is 1.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns the name of an event with its cue, for people.
pub(super) fn event_text(event: &StateEvent) -> String {
    let StateEvent { name, cue, .. } = event;
    let EventCue { sound, effect, bone, link } = cue;
    let parts = [("sound", sound), ("effect", effect), ("at", bone)];
    let parts =
        parts.into_iter().filter_map(|(key, text)| Some(format!("{key} {}", text.as_ref()?)));
    let mut parts: Vec<String> = parts.collect();
    if *link {
        parts.push("linked".to_string());
    }
    if parts.is_empty() { name.clone() } else { format!("{name} ({})", parts.join(", ")) }
}

impl StateMachine {
    /// Returns a description for people: layers, states, transitions, and what is not used.
    pub fn describe(&self, name: &str) -> String {
        let summary = self.summary();
        let mut text = String::new();
        let counts = [
            count(self.layers.len(), "layer"),
            count(self.states.len(), "state"),
            count(self.transitions.len(), "transition"),
            count(self.events.len(), "event"),
            count(self.variables.len(), "variable"),
        ];
        line(&mut text, 0, &format!("state machine {name} of {}", self.skeleton));
        line(&mut text, 0, &counts.join(", "));
        if !self.variables.is_empty() {
            line(&mut text, 0, "\nVariables:");
        }
        for Variable { name, value, min, max } in &self.variables {
            let range = match *max < VARIABLE_ABS_MAX {
                true => format!(", {min} to {max}"),
                false => String::new(),
            };
            line(&mut text, 1, &format!("{name} = {value}{range}"));
        }
        if !self.constraints.is_empty() {
            line(&mut text, 0, "\nConstraints:");
        }
        for constraint in &self.constraints {
            let kind = ConstraintKind::ALL.iter().find(|(_, kind)| *kind == constraint.kind);
            let (kind, bones) = (kind.map_or("", |(name, _)| name), constraint.bones.join(", "));
            line(&mut text, 1, &format!("{}: {kind} of {bones}", constraint.name));
        }
        for layer in &self.layers {
            self.describe_layer(&mut text, layer, &summary);
        }
        summary.describe_findings(&mut text);
        text
    }

    fn describe_layer(&self, text: &mut String, layer: &Layer, summary: &StateMachineSummary) {
        let initial = &self.states[usize::from(layer.initial)].name;
        let mask = layer.mask.map(|mask| &self.masks[usize::from(mask)].name);
        let mask = mask.map_or(String::new(), |mask| format!(", mask '{mask}'"));
        line(text, 0, &format!("\nLayer '{}', begins in '{initial}'{mask}:", layer.name));
        for state in summary.states.iter().filter(|state| state.layer == layer.name) {
            let StateSummary { name, line: at, kind, clips, choices, sends, .. } = state;
            let clips = clips.iter().chain(choices).cloned().collect::<Vec<_>>().join(", ");
            let space = if clips.is_empty() { "" } else { " " };
            line(text, 1, &format!("{name}: {kind}{space}{clips} (line {at})"));
            if !sends.is_empty() {
                line(text, 2, &format!("sends {}", sends.join(", ")));
            }
            let leaving = summary.transitions.iter();
            for it in leaving.filter(|it| it.layer == layer.name && it.from == *name) {
                line(text, 2, &it.describe());
            }
        }
    }
}

impl TransitionSummary {
    fn describe(&self) -> String {
        let event = self.event.as_ref().map_or("at its end".to_string(), |it| format!("on {it}"));
        let condition = if self.has_condition { ", with a condition" } else { "" };
        let priority = match self.priority {
            0 => String::new(),
            priority => format!(", priority {priority}"),
        };
        let TransitionSummary { to, mode, curve, blend_seconds, .. } = self;
        format!("{event} -> {to}, {blend_seconds} s {curve}, {mode}{condition}{priority}")
    }
}

impl StateMachineSummary {
    /// Lists what has no effect.
    fn describe_findings(&self, text: &mut String) {
        let mut findings = Vec::new();
        for (layer, state) in &self.unreachable {
            findings.push(format!("state '{state}' of layer '{layer}' cannot be reached"));
        }
        for (layer, state) in &self.dead_ends {
            findings
                .push(format!("state '{state}' of layer '{layer}' has no transition out of it"));
        }
        for event in &self.unhandled_events {
            findings.push(format!("event '{event}' is handled by no state that can be reached"));
        }
        let unused = [
            ("variable", "no expression reads it", &self.unused_variables),
            ("mask", "no layer and no ragdoll has it", &self.unused_masks),
            ("constraint", "no layer and no state has it", &self.unused_constraints),
        ];
        for (noun, reason, names) in unused {
            findings.extend(names.iter().map(|name| format!("{noun} '{name}': {reason}")));
        }
        if !findings.is_empty() {
            line(text, 0, "\nWithout effect:");
        }
        findings.iter().for_each(|finding| line(text, 1, finding));
    }
}
