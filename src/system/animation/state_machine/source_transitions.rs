//! Compiler of transitions: their properties, the resolution of the names of states, and the routes
//! by which each state is left.

use super::data::*;
use super::source::{Builder, Member};
use super::source_fields::SourceFields;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::{ObjectEntry, SjsonValue};
use engine_foundation::{Error, error, suggest};

const TRANSITION_KEYS: [&str; 8] =
    ["blend", "curve", "if", "interrupt", "mode", "priority", "to", "to_self"];
/// Maximum number of transitions of one state for one event.
pub const EVENT_TRANSITIONS_MAX: usize = 32;
const EVENT_LIMIT: (usize, &str) = (EVENT_TRANSITIONS_MAX, "EVENT_TRANSITIONS_MAX");

/// Number that the index of a named state is stored in.
#[derive(Clone, Copy)]
pub(super) enum TargetSlot {
    Transition(u16),
    Selection { state: usize, entry: usize },
}

/// Name of a state that is resolved when all states are known.
#[derive(Clone)]
pub(super) struct TargetName<'a> {
    slot: TargetSlot,
    fields: SourceFields<'a>,
    value: SjsonValue<'a>,
    name: &'a str,
    scope: usize,
}

impl<'a> Builder<'a> {
    /// Reads `on` or `any`: transitions by event.
    pub fn transitions(&mut self, fields: &SourceFields<'a>, key: &str, scope: usize) -> Vec<u16> {
        let mut all = Vec::new();
        for entry in self.entries(fields, key, (EVENTS_MAX, "EVENTS_MAX")).0 {
            if self.has_many_errors() {
                break;
            }
            let event = self.event(fields, &entry);
            let Some(event) = self.note(event) else { continue };
            let subject = format!("'{key}.{}' of {}", entry.key, fields.subject);
            self.transition_list(entry.value, subject, Some(event), scope, &mut all);
        }
        all
    }

    /// Reads `on_end`: transitions at the end of the state.
    pub fn end_transitions(&mut self, fields: &SourceFields<'a>, scope: usize) -> Vec<u16> {
        let mut all = Vec::new();
        if let Some(value) = fields.get("on_end") {
            let subject = format!("'on_end' of {}", fields.subject);
            self.transition_list(value, subject, None, scope, &mut all);
        }
        all
    }

    fn event(&mut self, fields: &SourceFields<'a>, entry: &ObjectEntry) -> Result<u16, Error> {
        let events = &mut self.machine.events;
        if let Some(index) = events.iter().position(|known| known == entry.key) {
            return Ok(index as u16);
        }
        let (path, line, subject) = (self.path, entry.line(), &fields.subject);
        if self.lists_events {
            let hint = suggest::hint(entry.key, events.iter().map(String::as_str));
            let error =
                error!("{path}:{line}: {subject}: the list 'events' has no '{}'{hint}", entry.key);
            return Err(self.unless(self.failed.events, error));
        }
        if events.len() == EVENTS_MAX {
            return Err(error!(
                "{path}:{line}: the state machine handles more than {EVENTS_MAX} events \
                 (EVENTS_MAX)"
            ));
        }
        events.push(entry.key.to_string());
        Ok(events.len() as u16 - 1)
    }

    fn transition_list(
        &mut self,
        value: SjsonValue<'a>,
        subject: String,
        event: Option<u16>,
        scope: usize,
        all: &mut Vec<u16>,
    ) {
        let items: Vec<SjsonValue> = match value.items() {
            Some(items) => items.collect(),
            None => vec![value],
        };
        if items.len() > EVENT_TRANSITIONS_MAX {
            let fields = SourceFields { path: self.path, subject, value };
            let (count, (most, limit)) = (items.len(), EVENT_LIMIT);
            let message = format!("it has {count} transitions: at most {most} ({limit})");
            self.errors.push(fields.block_error(&message));
            return;
        }
        for item in items {
            let transition = self.transition(item, &subject, event, scope);
            all.extend(self.note(transition));
        }
    }

    /// Reads a transition: a block, or the name of the next state.
    fn transition(
        &mut self,
        value: SjsonValue<'a>,
        subject: &str,
        event: Option<u16>,
        scope: usize,
    ) -> Result<u16, Error> {
        let index = self.machine.transitions.len();
        let line = value.line() as u32;
        let mut transition = Transition {
            event,
            target: 0,
            condition: None,
            mode: TransitionMode::Immediate,
            fade: FadeSettings::DEFAULT,
            line,
        };
        let slot = TargetSlot::Transition(index as u16);
        let fields = SourceFields { path: self.path, subject: subject.to_string(), value };
        if index == TRANSITIONS_MAX {
            return Err(fields.block_error(&format!(
                "the state machine has more than {TRANSITIONS_MAX} transitions (TRANSITIONS_MAX)"
            )));
        }
        if let Some(name) = value.as_str() {
            self.targets.push(TargetName { slot, fields, value, name, scope });
            self.machine.transitions.push(transition);
            return Ok(index as u16);
        }
        let Some(fields) = self.open(subject, value, &TRANSITION_KEYS) else {
            return Err(error!(""));
        };
        let fade = &mut transition.fade;
        let seconds = self.keep(fields.number("blend", (0.0, BLEND_SECONDS_MAX)));
        fade.seconds = seconds.unwrap_or(fade.seconds);
        fade.curve = self.keep(fields.choice("curve", &Curve::ALL)).unwrap_or(fade.curve);
        let interruption = self.keep(fields.choice("interrupt", &Interruption::ALL));
        fade.interruption = interruption.unwrap_or(fade.interruption);
        if let Some(value) = fields.get("priority") {
            let number = self.keep(fields.number_of("priority", value, (-100.0, 100.0)));
            fade.priority = number as i8;
            if f32::from(fade.priority) != number {
                self.errors.push(fields.error_at(value, "'priority' must be a whole number"));
            }
        }
        let mode = self.keep(fields.choice("mode", &TransitionMode::ALL));
        transition.mode = mode.unwrap_or(transition.mode);
        let condition = self.lone_expression(&fields, "if");
        transition.condition = self.keep(condition);
        if self.keep(fields.boolean("to_self")) == Some(false) {
            self.not_to_self.push(index as u16);
        }
        let target = self.add_target(slot, &fields, scope);
        self.note(target);
        self.machine.transitions.push(transition);
        Ok(index as u16)
    }

    /// Notes the name in `to`, which is resolved later.
    pub fn add_target(
        &mut self,
        slot: TargetSlot,
        fields: &SourceFields<'a>,
        scope: usize,
    ) -> Result<(), Error> {
        let Some(name) = fields.text("to")? else {
            return Err(fields.block_error("'to' is missing: the name of a state"));
        };
        let value = fields.get("to").unwrap_or(fields.value);
        self.targets.push(TargetName { slot, fields: fields.clone(), value, name, scope });
        Ok(())
    }

    /// Resolves the names of states.
    pub fn resolve_targets(&mut self) {
        let mut unknown: Vec<(usize, &str)> = Vec::new();
        for target in std::mem::take(&mut self.targets) {
            let state = match self.resolve(&target) {
                Ok(state) => state,
                Err(error) => {
                    // A group that several states contain has the same names in each of them.
                    let location = (target.value.line(), target.name);
                    if !unknown.contains(&location) && !self.has_many_errors() {
                        unknown.push(location);
                        self.errors.push(error);
                    }
                    continue;
                }
            };
            match target.slot {
                TargetSlot::Transition(index) => {
                    let transition = self.machine.transitions.get_mut(usize::from(index));
                    transition.into_iter().for_each(|transition| transition.target = state);
                }
                TargetSlot::Selection { state: owner, entry } => {
                    let owner = self.machine.states.get_mut(owner).map(|owner| &mut owner.kind);
                    if let Some(StateKind::Selection { targets, .. }) = owner
                        && let Some(target) = targets.get_mut(entry)
                    {
                        target.0 = state;
                    }
                }
            }
        }
        if self.errors.is_empty() {
            let checked = self.check_selections();
            self.note(checked);
        }
    }

    /// Returns an error if a choice of states leads back to itself.
    fn check_selections(&self) -> Result<(), Error> {
        let states = &self.machine.states;
        if let Some(state) = super::compiled::endless_selection(states) {
            let State { name, line, .. } = &states[usize::from(state)];
            let path = self.path;
            return Err(error!(
                "{path}:{line}: state '{name}': the choice leads back to itself, or through more \
                 than {SELECTION_DEPTH_MAX} choices (SELECTION_DEPTH_MAX)"
            ));
        }
        Ok(())
    }

    /// Finds a state: `name` in the scope or in one around it, or `group/name`.
    fn resolve(&self, target: &TargetName<'a>) -> Result<u16, Error> {
        let mut parts = target.name.split('/');
        let first = parts.next().unwrap_or_default();
        let find = |scope: usize, name: &str| {
            let member = self.scopes[scope].members.iter().find(|(known, _)| *known == name);
            member.map(|(_, member)| *member)
        };
        let mut scope = Some(target.scope);
        let mut member = None;
        while let (Some(current), None) = (scope, member) {
            member = find(current, first);
            scope = self.scopes[current].parent;
        }
        for part in parts {
            member = match member {
                Some(Member::Group(inner)) => find(inner, part),
                Some(Member::Failed) => Some(Member::Failed),
                _ => None,
            };
        }
        match member {
            // The error of the state is reported.
            Some(Member::Failed) => Ok(0),
            Some(Member::State(state)) => Ok(state),
            Some(Member::Group(inner)) => Ok(self.initial_state(inner)),
            None if self.has_failed_names(target.scope) => Ok(0),
            None => {
                let states = self.machine.states.iter().map(|state| state.name.as_str());
                let mut names: Vec<&str> = states.collect();
                let mut scope = Some(target.scope);
                while let Some(current) = scope {
                    names.extend(self.scopes[current].members.iter().map(|(name, _)| *name));
                    scope = self.scopes[current].parent;
                }
                Err(target.fields.unknown(target.value, "state", target.name, names))
            }
        }
    }

    /// Returns true if names of states that can be seen from a scope could not be read.
    fn has_failed_names(&self, scope: usize) -> bool {
        let mut next = Some(scope);
        while let Some(scope) = next.map(|scope| &self.scopes[scope]) {
            if scope.has_failed {
                return true;
            }
            next = scope.parent;
        }
        false
    }

    /// Builds the list of transitions of each state: its own ones, then those of its groups from
    /// the innermost on; by event and priority.
    pub fn build_routes(&mut self) -> Result<(), Error> {
        let machine = &mut self.machine;
        for (index, (scope, own)) in self.state_scopes.iter().enumerate() {
            let is_selection = matches!(machine.states[index].kind, StateKind::Selection { .. });
            let mut transitions: Vec<u16> = own.clone();
            let mut scope = Some(*scope);
            while let Some(current) = scope {
                let Self { scopes, .. } = self;
                let current = &scopes[current];
                transitions.extend(&current.any);
                transitions.extend(&current.on);
                scope = current.parent;
            }
            if is_selection {
                transitions.clear();
            }
            transitions.retain(|it| {
                let to_itself = usize::from(machine.transitions[usize::from(*it)].target) == index;
                !(to_itself && self.not_to_self.contains(it))
            });
            let order = |it: &u16| {
                let transition = &machine.transitions[usize::from(*it)];
                (transition.event.unwrap_or(END_EVENT), -i32::from(transition.fade.priority))
            };
            transitions.sort_compact_by_key(order);
            let start = machine.routes.len() as u32;
            machine.routes.extend(transitions.iter().map(|it| Route {
                event: machine.transitions[usize::from(*it)].event.unwrap_or(END_EVENT),
                transition: *it,
            }));
            machine.states[index].routes = (start, machine.routes.len() as u32);
            if machine.routes.len() > ROUTES_MAX {
                return Err(error!(
                    "{}: states and transitions make more than {ROUTES_MAX} pairs (ROUTES_MAX): \
                     use fewer groups or transitions",
                    self.path
                ));
            }
        }
        Ok(())
    }
}
