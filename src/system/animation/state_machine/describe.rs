//! Text of `engine explain` about a state machine.

use super::constraint_description::ConstraintKind;
use super::data::*;
use super::explain::{EventSummary, StateMachineSummary, StateSummary, TransitionSummary};
use super::expression::Expression;
use crate::clip_events::EventCue;
use std::fmt::Write;

/// Maximum number of states that the description of an event lists.
const STATES_LISTED: usize = 8;

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
        if !summary.events.is_empty() {
            line(&mut text, 0, "\nEvents:");
        }
        summary.events.iter().for_each(|event| line(&mut text, 1, &event.describe()));
        for layer in &self.layers {
            self.describe_layer(&mut text, layer, &summary);
        }
        summary.describe_findings(&mut text);
        text
    }

    fn describe_layer(&self, text: &mut String, layer: &Layer, summary: &StateMachineSummary) {
        let initial = &self.states[usize::from(layer.initial)].name;
        let mask = layer.mask.map(|mask| &self.masks[usize::from(mask)].name);
        let covers = !std::ptr::eq(layer, &self.layers[0]) && layer.weight.is_none();
        let all = if covers { ", all bones" } else { "" };
        let mask = mask.map_or(all.to_string(), |mask| format!(", mask '{mask}'"));
        let weight = layer.weight.map(|weight| self.expression_text(weight));
        let weight = weight.map_or(String::new(), |weight| format!(", weight {weight}"));
        line(text, 0, &format!("\nLayer '{}', begins in '{initial}'{mask}{weight}:", layer.name));
        if !layer.constraints.is_empty() {
            let names = layer.constraints.iter().map(|it| self.constraint_name(*it));
            let names = names.collect::<Vec<_>>().join(", ");
            line(text, 1, &format!("constraints of all states: {names}"));
        }
        for state in summary.states.iter().filter(|state| state.layer == layer.name) {
            let StateSummary { name, line: at, kind, clips, choices, .. } = state;
            let clips = clips.iter().chain(choices).cloned().collect::<Vec<_>>().join(", ");
            let space = if clips.is_empty() { "" } else { " " };
            line(text, 1, &format!("{name}: {kind}{space}{clips} (line {at})"));
            if !state.properties.is_empty() {
                line(text, 2, &state.properties.join(", "));
            }
            if !state.constraints.is_empty() {
                line(text, 2, &format!("constraints {}", state.constraints.join(", ")));
            }
            if !state.sends.is_empty() {
                line(text, 2, &format!("sends {}", state.sends.join(", ")));
            }
            let leaving = summary.transitions.iter();
            for it in leaving.filter(|it| it.layer == layer.name && it.from == *name) {
                line(text, 2, &it.describe());
            }
        }
    }
}

impl StateMachine {
    pub(super) fn constraint_name(&self, constraint: u16) -> String {
        let found = self.constraints.get(usize::from(constraint));
        found.map_or(String::new(), |constraint| constraint.name.clone())
    }

    /// Returns a name with its weight, or with its condition after `word`.
    pub(super) fn weighted(
        &self,
        name: &str,
        word: Option<&str>,
        weight: Option<Expression>,
    ) -> String {
        let word = word.unwrap_or("weight");
        match weight {
            Some(weight) => format!("{name} ({word} {})", self.expression_text(weight)),
            None => name.to_string(),
        }
    }

    pub(super) fn weighted_clips(&self, state: &State) -> Vec<String> {
        let word = (state.kind == StateKind::ClipChoice).then_some("if");
        let name = |clip: &StateClip| &self.clips[usize::from(clip.clip)].name;
        let text = |clip: &StateClip| match clip.weight {
            Some(weight) if state.is_space => match &self.space_point(weight).1[..] {
                [x, y] => format!("{} at [{x}, {y}]", name(clip)),
                at => format!("{} at {}", name(clip), at.first().copied().unwrap_or(0.0)),
            },
            weight => self.weighted(name(clip), word, weight),
        };
        state.clips.iter().map(text).collect()
    }

    /// Returns the properties that a state has in its file.
    pub(super) fn state_properties(&self, state: &State) -> Vec<String> {
        let mut all = Vec::new();
        let point = state.clips.first().and_then(|clip| clip.weight).filter(|_| state.is_space);
        let axes = point.map_or(Vec::new(), |point| self.space_point(point).0);
        all.extend(["x", "y"].iter().zip(axes).map(|(axis, text)| format!("{axis} = {text}")));
        match &state.kind {
            StateKind::Time(time) => all.push(format!("time {}", self.expression_text(*time))),
            StateKind::Ragdoll { mask: Some(mask) } => {
                all.push(format!("mask '{}'", self.masks[usize::from(*mask)].name));
            }
            _ => {}
        }
        // Those of groups are factors, too.
        let speeds: Vec<String> = state.speeds.iter().map(|it| self.expression_text(*it)).collect();
        match &speeds[..] {
            [] => {}
            [one] => all.push(format!("speed {one}")),
            several => all.push(format!("speed ({})", several.join(") * ("))),
        }
        all.extend(state.additive.then(|| "additive".to_string()));
        let repeats = |repeats| if repeats { "repeats" } else { "plays once" };
        all.extend(state.looping.map(|it| repeats(it).to_string()));
        all
    }

    /// Returns the events that a state and its groups send, with their times.
    pub(super) fn sent_texts(&self, state: &State) -> Vec<String> {
        let event = |event: u16| event_text(&self.sent_events[usize::from(event)]);
        let groups = || state.groups.iter().filter_map(|it| self.groups.get(usize::from(*it)));
        let mut sends = Vec::new();
        for group in groups() {
            let text = |it: &u16| format!("{} on entering the group '{}'", event(*it), group.name);
            sends.extend(group.enter.iter().map(text));
        }
        sends.extend(state.enter.iter().map(|it| format!("{} on entering", event(*it))));
        for TimedEvent { event: index, time, is_fraction } in &state.events {
            let text = event(*index);
            sends.push(match is_fraction {
                true => format!("{text} at {time} of the length"),
                false => format!("{text} at {time} s"),
            });
        }
        sends.extend(state.exit.iter().map(|it| format!("{} on leaving", event(*it))));
        for group in groups() {
            let text = |it: &u16| format!("{} on leaving the group '{}'", event(*it), group.name);
            sends.extend(group.exit.iter().map(text));
        }
        sends
    }
}

/// Returns names, or the first ones and the number of the others.
fn named(names: &[String]) -> String {
    let listed = names.iter().take(STATES_LISTED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(STATES_LISTED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

impl EventSummary {
    fn describe(&self) -> String {
        let handled = match self.handled_by.is_empty() {
            true => "handled by no state".to_string(),
            false => format!("handled by {}", named(&self.handled_by)),
        };
        match self.sent_by.is_empty() {
            true => format!("{}: {handled}", self.name),
            // Events that are only sent are for scripts.
            false if self.handled_by.is_empty() => {
                format!("{}: sent by {}", self.name, named(&self.sent_by))
            }
            false => format!("{}: {handled}, sent by {}", self.name, named(&self.sent_by)),
        }
    }
}

impl TransitionSummary {
    fn describe(&self) -> String {
        let event = self.event.as_ref().map_or("at its end".to_string(), |it| format!("on {it}"));
        let condition = self.condition.as_ref().map_or(String::new(), |it| format!(", if {it}"));
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
        let with_line = |(line, text): &(u32, String)| format!("{text} (line {line})");
        findings.extend(self.never_taken.iter().map(with_line));
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
