//! Description of a state machine for people: states, transitions, states that cannot be reached,
//! and events without effect.

use super::data::*;
use super::describe::event_text;
use super::expression::Op;
use super::runtime::ClipInfo;

/// State in the description of a state machine.
#[derive(Clone, PartialEq, Debug)]
pub struct StateSummary {
    pub layer: String,
    pub name: String,
    pub line: u32,
    pub kind: &'static str,
    /// Clips with their weights or conditions.
    pub clips: Vec<String>,
    /// States that a choice of states leads to, with their weights or conditions.
    pub choices: Vec<String>,
    /// Speed, part of the length, repetition and the like, if the file has them.
    pub properties: Vec<String>,
    /// Constraints of the state and of its groups.
    pub constraints: Vec<String>,
    /// Events that the state sends, with their times and cues.
    pub sends: Vec<String>,
}

/// Transition in the description of a state machine.
#[derive(Clone, PartialEq, Debug)]
pub struct TransitionSummary {
    pub layer: String,
    pub from: String,
    /// `None`: at the end of the state.
    pub event: Option<String>,
    pub to: String,
    pub mode: &'static str,
    pub curve: &'static str,
    pub blend_seconds: f32,
    pub priority: i8,
    pub condition: Option<String>,
    pub line: u32,
}

/// Event in the description of a state machine, with the names of states and groups.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EventSummary {
    pub name: String,
    /// States that handle it.
    pub handled_by: Vec<String>,
    /// States and groups that send it.
    pub sent_by: Vec<String>,
}

/// Description of a state machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StateMachineSummary {
    pub states: Vec<StateSummary>,
    pub transitions: Vec<TransitionSummary>,
    /// Layer and name of the states that no sequence of events reaches.
    pub unreachable: Vec<(String, String)>,
    /// Events that no state that can be reached handles.
    pub unhandled_events: Vec<String>,
    /// States without a transition that leaves them, in layers with several states.
    pub dead_ends: Vec<(String, String)>,
    /// Transitions that no state takes: the line, and a text with the reason.
    pub never_taken: Vec<(u32, String)>,
    /// Events that states handle or send, in the order of their first use.
    pub events: Vec<EventSummary>,
    /// Variables that no expression reads, but for one that the engine sets for scripts.
    pub unused_variables: Vec<String>,
    /// Masks that no layer and no ragdoll has.
    pub unused_masks: Vec<String>,
    /// Constraints that no layer and no state has.
    pub unused_constraints: Vec<String>,
}

impl StateKind {
    /// Returns the keyword of the kind in files.
    pub fn keyword(&self) -> &'static str {
        match self {
            StateKind::Empty => "empty",
            StateKind::Blend => "blend",
            StateKind::RandomClip | StateKind::Selection { random: true, .. } => "random",
            StateKind::ClipChoice | StateKind::Selection { random: false, .. } => "choice",
            StateKind::Time(_) => "time",
            StateKind::Ragdoll { .. } => "ragdoll",
        }
    }
}

fn keyword<T: PartialEq>(table: &[(&'static str, T)], choice: T) -> &'static str {
    table.iter().find(|(_, it)| *it == choice).map_or("", |(name, _)| name)
}

/// Returns the names whose index is not used.
fn unused<'a>(
    names: impl Iterator<Item = &'a String>,
    is_used: impl Fn(u16) -> bool,
) -> Vec<String> {
    let unused = names.zip(0..).filter(|(_, index)| !is_used(*index));
    unused.map(|(name, _)| name.clone()).collect()
}

impl StateMachine {
    /// Returns the transitions that leave a state, in the order in which they are tried.
    pub(super) fn leaving(&self, state: &State) -> impl Iterator<Item = &Transition> {
        let routes = &self.routes[state.routes.0 as usize..state.routes.1 as usize];
        routes.iter().map(|route| &self.transitions[usize::from(route.transition)])
    }

    /// Returns a description of the state machine.
    pub fn summary(&self) -> StateMachineSummary {
        let mut summary = StateMachineSummary::default();
        let reached = self.reached_states();
        let mut handled = vec![false; self.events.len()];
        for layer in &self.layers {
            for index in layer.states.0..layer.states.1 {
                let index = usize::from(index);
                let state = &self.states[index];
                self.add_state(&mut summary, layer, state);
                let name = (layer.name.clone(), state.name.clone());
                let is_choice = matches!(state.kind, StateKind::Selection { .. });
                if !reached[index] {
                    summary.unreachable.push(name);
                } else if !is_choice
                    && layer.states.1 - layer.states.0 > 1
                    && self.leaving(state).next().is_none()
                {
                    summary.dead_ends.push(name);
                }
                if reached[index] {
                    let events = self.leaving(state).filter_map(|transition| transition.event);
                    events.for_each(|event| handled[usize::from(event)] = true);
                }
            }
        }
        let unhandled = self.events.iter().zip(handled).filter(|(_, handled)| !handled);
        summary.unhandled_events = unhandled.map(|(name, _)| name.clone()).collect();
        summary.never_taken = self.transitions_never_taken(&reached);
        summary.events = self.event_summaries();
        self.find_unused(&mut summary);
        summary
    }

    /// Returns the events, first those that states can handle.
    fn event_summaries(&self) -> Vec<EventSummary> {
        let named = |name: &String| EventSummary { name: name.clone(), ..EventSummary::default() };
        let mut events: Vec<EventSummary> = self.events.iter().map(named).collect();
        let add = |list: &mut Vec<String>, name: &String| {
            if !list.contains(name) {
                list.push(name.clone());
            }
        };
        let mut send = |event: u16, name: &String| {
            let sent = &self.sent_events[usize::from(event)].name;
            let known = events.iter().position(|it| it.name == *sent).unwrap_or_else(|| {
                events.push(named(sent));
                events.len() - 1
            });
            add(&mut events[known].sent_by, name);
        };
        for group in &self.groups {
            group.enter.iter().chain(&group.exit).for_each(|event| send(*event, &group.name));
        }
        for state in &self.states {
            let timed = state.events.iter().map(|event| &event.event);
            let all = state.enter.iter().chain(timed).chain(&state.exit);
            all.for_each(|event| send(*event, &state.name));
        }
        for state in &self.states {
            for event in self.leaving(state).filter_map(|transition| transition.event) {
                add(&mut events[usize::from(event)].handled_by, &state.name);
            }
        }
        events
    }

    fn find_unused(&self, summary: &mut StateMachineSummary) {
        let reads = |variable: u16| self.table.ops.contains(&Op::Variable(variable));
        let is_masked = |mask: u16| {
            let of_state = |state: &State| match state.kind {
                StateKind::Ragdoll { mask: Some(known) } => known == mask,
                _ => false,
            };
            self.layers.iter().any(|layer| layer.mask == Some(mask))
                || self.states.iter().any(of_state)
        };
        let is_constrained = |constraint: u16| {
            self.layers.iter().any(|layer| layer.constraints.contains(&constraint))
                || self.states.iter().any(|state| state.constraints.contains(&constraint))
        };
        let names = self.variables.iter().map(|variable| &variable.name);
        summary.unused_variables = unused(names, reads);
        summary.unused_variables.retain(|name| name != FACE_UP_VARIABLE);
        summary.unused_masks = unused(self.masks.iter().map(|mask| &mask.name), is_masked);
        let names = self.constraints.iter().map(|constraint| &constraint.name);
        summary.unused_constraints = unused(names, is_constrained);
    }

    fn add_state(&self, summary: &mut StateMachineSummary, layer: &Layer, state: &State) {
        let constraints = state.constraints.iter().map(|it| self.constraint_name(*it));
        summary.states.push(StateSummary {
            layer: layer.name.clone(),
            name: state.name.clone(),
            line: state.line,
            kind: match state.clips.len() {
                _ if state.is_space => "blend_space",
                1 if state.kind == StateKind::Blend => "clip",
                _ => state.kind.keyword(),
            },
            clips: self.weighted_clips(state),
            choices: match &state.kind {
                StateKind::Selection { random, targets } => {
                    let name = |target: u16| &self.states[usize::from(target)].name;
                    let text =
                        |it: &(u16, _)| self.weighted(name(it.0), (!random).then_some("if"), it.1);
                    targets.iter().map(text).collect()
                }
                _ => Vec::new(),
            },
            properties: self.state_properties(state),
            constraints: constraints.collect(),
            sends: self.sent_texts(state),
        });
        for transition in self.leaving(state) {
            let FadeSettings { seconds, curve, priority, .. } = transition.fade;
            let event = transition.event.map(|event| self.events[usize::from(event)].clone());
            summary.transitions.push(TransitionSummary {
                layer: layer.name.clone(),
                from: state.name.clone(),
                event,
                to: self.states[usize::from(transition.target)].name.clone(),
                mode: keyword(&TransitionMode::ALL, transition.mode),
                curve: keyword(&Curve::ALL, curve),
                blend_seconds: seconds,
                priority,
                condition: transition.condition.map(|it| self.expression_text(it)),
                line: transition.line,
            });
        }
    }

    /// Returns the lines and the texts of warnings about states that would have to go on in time,
    /// but play only clips without length, and about timed events after the end of all clips of
    /// their state. `clips` has an entry for each clip of the machine.
    pub fn length_warnings(&self, clips: &[ClipInfo]) -> Vec<(u32, String)> {
        let is_still =
            |it: &StateClip| clips.get(usize::from(it.clip)).is_none_or(|clip| clip.seconds <= 0.0);
        let warning = |state: &State| {
            let plays = matches!(
                state.kind,
                StateKind::Blend | StateKind::RandomClip | StateKind::ClipChoice
            );
            if !plays || !state.clips.iter().all(is_still) {
                return None;
            }
            let effect = if self.leaving(state).any(|transition| transition.event.is_none()) {
                "'on_end' leaves it at once"
            } else if state.looping == Some(true) {
                "there is nothing to repeat"
            } else if !state.events.is_empty() {
                "its 'events' are all at its start"
            } else {
                return None;
            };
            let name = &self.clips[usize::from(state.clips[0].clip)].name;
            let text = format!("state '{}': '{name}' is 0 seconds long: {effect}", state.name);
            Some((state.line, text))
        };
        let late = self.states.iter().flat_map(|state| self.late_events(state, clips));
        self.states.iter().filter_map(warning).chain(late).collect()
    }

    /// Returns warnings about the events of a state that are never sent, as its clips end earlier.
    fn late_events(&self, state: &State, clips: &[ClipInfo]) -> Vec<(u32, String)> {
        let length = |it: &StateClip| clips.get(usize::from(it.clip)).map_or(0.0, |it| it.seconds);
        let longest = state.clips.iter().map(length).fold(0.0, f32::max);
        let late = |event: &&TimedEvent| !event.is_fraction && event.time > longest;
        let text = |event: &TimedEvent| {
            let name = event_text(&self.sent_events[usize::from(event.event)]);
            let text = format!(
                "state '{}': its event '{name}' at {} s is never sent: its animations end at \
                 {longest:.2} s",
                state.name, event.time
            );
            (state.line, text)
        };
        if longest > 0.0 {
            state.events.iter().filter(late).map(text).collect()
        } else {
            Vec::new()
        }
    }

    /// Returns, for each state, true if some sequence of events leads to it.
    pub(super) fn reached_states(&self) -> Vec<bool> {
        let mut reached = vec![false; self.states.len()];
        let mut open: Vec<u16> = self.layers.iter().map(|layer| layer.initial).collect();
        while let Some(index) = open.pop() {
            if std::mem::replace(&mut reached[usize::from(index)], true) {
                continue;
            }
            let state = &self.states[usize::from(index)];
            let taken = self.leaving(state).filter(|transition| !self.is_off(transition));
            open.extend(taken.map(|transition| transition.target));
            if let StateKind::Selection { targets, .. } = &state.kind {
                open.extend(targets.iter().map(|(target, _)| *target));
            }
        }
        reached
    }
}
