//! Compiler of the states and groups of a layer.

use super::data::*;
use super::expression::{Expression, Op};
use super::expression_parser::MatchGroup;
use super::source::{Builder, Member, Scope};
use super::source_fields::SourceFields;
use super::source_transitions::TargetSlot;
use crate::clip_settings::CLIP_SETTING_KEYS;
use engine_foundation::sjson::{ObjectEntry, SjsonValue, ValueKind};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};

/// Keys of which each state has exactly one.
const KIND_KEYS: [&str; 8] =
    ["blend", "blend_space", "choice", "clip", "empty", "group", "ragdoll", "random"];
const COMMON_KEYS: [&str; 4] = ["constraints", "enter", "exit", "on"];
const CLIP_KEYS: [&str; 5] = ["additive", "events", "loop", "on_end", "speed"];
const TIME_KEYS: [&str; 3] = ["additive", "events", "time"];
const GROUP_KEYS: [&str; 2] = ["on_end", "speed"];
const SCOPE_KEYS: [&str; 3] = ["any", "initial", "states"];
const STATE_LIMIT: (usize, &str) = (STATES_MAX, "STATES_MAX");
/// Adds the indices that are not in the list.
fn add_new(list: &mut Vec<u16>, indices: Vec<u16>) {
    for index in indices {
        if !list.contains(&index) {
            list.push(index);
        }
    }
}

impl<'a> Builder<'a> {
    /// Reads `states`, `initial` and `any` of a layer or a group. `expanded` has the names of the
    /// groups around it.
    pub fn read_states(
        &mut self,
        fields: &SourceFields<'a>,
        scope: usize,
        expanded: &mut Vec<&'a str>,
    ) -> Result<(), Error> {
        let (entries, is_whole) = self.entries(fields, "states", STATE_LIMIT);
        self.scopes[scope].has_failed = !is_whole;
        if entries.is_empty() && is_whole {
            return Err(fields.block_error("it has no states: add states = { … }"));
        }
        for entry in &entries {
            let member = match entry.value.get("group") {
                _ if self.has_many_errors() => Ok(Member::Failed),
                Some(_) => self.read_group(entry, scope, expanded),
                None => self.read_state(entry, scope).map(Member::State),
            };
            let member = self.note(member).unwrap_or(Member::Failed);
            self.scopes[scope].members.push((entry.key, member));
        }
        self.scopes[scope].any = self.transitions(fields, "any", scope);
        let initial = self.find_initial(fields, scope);
        self.scopes[scope].initial = Some(self.note(initial).unwrap_or(Member::Failed));
        Ok(())
    }

    fn find_initial(&self, fields: &SourceFields<'a>, scope: usize) -> Result<Member, Error> {
        let members = &self.scopes[scope].members;
        let Some(name) = fields.text("initial")? else {
            return Ok(members.first().map_or(Member::Failed, |first| first.1));
        };
        let member = members.iter().find(|(known, _)| *known == name);
        member.map(|(_, member)| *member).ok_or_else(|| {
            let value = fields.get("initial").unwrap_or(fields.value);
            let names = members.iter().map(|(name, _)| *name);
            let error = fields.unknown(value, "state", name, names);
            self.unless(self.scopes[scope].has_failed, error)
        })
    }

    /// Returns the state in which a scope begins.
    pub fn initial_state(&self, scope: usize) -> u16 {
        match self.scopes[scope].initial {
            Some(Member::State(state)) => state,
            Some(Member::Group(inner)) => self.initial_state(inner),
            Some(Member::Failed) | None => 0,
        }
    }

    /// Reads a state that contains states.
    fn read_group(
        &mut self,
        entry: &ObjectEntry<'a>,
        outer: usize,
        expanded: &mut Vec<&'a str>,
    ) -> Result<Member, Error> {
        let name = format!("{}{}", self.scopes[outer].prefix, entry.key);
        let subject = format!("state '{name}'");
        let known = [&["group"][..], &COMMON_KEYS, &GROUP_KEYS].concat();
        let Some(fields) = self.open(subject, entry.value, &known) else {
            return Ok(Member::Failed);
        };
        let value = fields.get("group").expect("the caller found it");
        let group_name = value.as_str();
        let block = match group_name {
            Some(group) => self.named_group(&fields, value, group, expanded),
            None => Ok(value),
        };
        let block = self.note(block);
        // The errors of a group that several states contain are reported once.
        let has_failed = group_name.is_some_and(|group| self.failed_groups.contains(&group));
        let parent = &self.scopes[outer];
        if parent.groups.len() == GROUP_DEPTH_MAX {
            return Err(fields.block_error(&format!(
                "groups are nested more than {GROUP_DEPTH_MAX} deep (GROUP_DEPTH_MAX)"
            )));
        }
        let mut inner = Scope {
            parent: Some(outer),
            prefix: format!("{name}/"),
            groups: parent.groups.clone(),
            speeds: parent.speeds.clone(),
            constraints: parent.constraints.clone(),
            ..Scope::default()
        };
        let speed = self.lone_expression(&fields, "speed");
        inner.speeds.extend(self.keep(speed));
        add_new(&mut inner.constraints, self.constraints(&fields));
        let enter = self.sent_events(&fields, "enter");
        let exit = self.sent_events(&fields, "exit");
        let group = Group { name: name.clone(), enter, exit };
        inner.groups.push(self.machine.groups.len() as u16);
        self.machine.groups.push(group);
        inner.on = self.transitions(&fields, "on", outer);
        inner.on.extend(self.end_transitions(&fields, outer));
        let Some(block) = block.filter(|_| !has_failed) else { return Ok(Member::Failed) };
        let scope = self.scopes.len();
        self.scopes.push(inner);
        let errors = self.errors.len();
        let subject = format!("group '{}'", group_name.unwrap_or(&name));
        let Some(block) = self.open(subject, block, &SCOPE_KEYS) else {
            self.failed_groups.extend(group_name);
            return Ok(Member::Failed);
        };
        expanded.extend(group_name);
        let read = self.read_states(&block, scope, expanded);
        if group_name.is_some() {
            expanded.pop();
        }
        if read.is_err() || self.errors.len() > errors {
            self.failed_groups.extend(group_name);
        }
        read.map(|()| Member::Group(scope))
    }

    fn named_group(
        &mut self,
        fields: &SourceFields<'a>,
        value: SjsonValue<'a>,
        name: &'a str,
        expanded: &[&'a str],
    ) -> Result<SjsonValue<'a>, Error> {
        let Some((_, block)) = self.named_groups.iter().find(|(known, _)| *known == name) else {
            let names = self.named_groups.iter().map(|(name, _)| *name);
            let error = fields.unknown(value, "group", name, names);
            return Err(self.unless(self.failed.groups, error));
        };
        if let Some(start) = expanded.iter().position(|known| *known == name) {
            let circle = [&expanded[start..], &[name]].concat().join(" → ");
            return Err(fields.error_at(value, &format!("groups contain each other: {circle}")));
        }
        self.used_groups.push(name);
        Ok(*block)
    }

    /// Reads the groups that no layer uses, to report their errors.
    pub fn check_unused_groups(&mut self) {
        for (name, value) in self.named_groups.clone() {
            let is_known = self.used_groups.contains(&name) || self.failed_groups.contains(&name);
            if is_known || self.has_many_errors() {
                continue;
            }
            let mut scratch = self.clone();
            let scope = scratch.scopes.len();
            scratch.scopes.push(Scope::default());
            let subject = format!("group '{name}'");
            if let Some(fields) = scratch.open(subject, value, &SCOPE_KEYS) {
                let read = scratch.read_states(&fields, scope, &mut vec![name]);
                scratch.note(read);
            }
            if scratch.errors.len() > self.errors.len() {
                scratch.failed_groups.push(name);
            }
            (self.errors, self.failed_groups) = (scratch.errors, scratch.failed_groups);
        }
    }

    /// Reads a state without states of its own. Returns its index.
    fn read_state(&mut self, entry: &ObjectEntry<'a>, scope: usize) -> Result<u16, Error> {
        let name = format!("{}{}", self.scopes[scope].prefix, entry.key);
        let subject = format!("state '{name}'");
        let fields = SourceFields { path: self.path, subject, value: entry.value };
        let kinds: Vec<&str> = fields.entries()?.iter().map(|it| it.key).collect();
        let kinds: Vec<&str> = kinds.into_iter().filter(|it| KIND_KEYS.contains(it)).collect();
        let kind = match kinds[..] {
            [kind] => Some(kind),
            _ => None,
        };
        if kind.is_none() {
            let list = KIND_KEYS.join(", ");
            self.errors.push(fields.block_error(&match kinds.len() {
                0 => format!("its kind is missing: write one of {list}"),
                _ => format!("it has '{}' and '{}': write one of {list}", kinds[0], kinds[1]),
            }));
        }
        if self.machine.states.len() == STATES_MAX {
            return Err(fields.block_error(&format!(
                "the state machine has more than {STATES_MAX} states (STATES_MAX)"
            )));
        }
        let is_time = fields.get("time").is_some();
        let mut known = self.state_keys(&fields, kind);
        known.extend(self.misplaced_keys(&fields, &known));
        self.open(fields.subject.clone(), fields.value, &known);
        let additive = self.keep(fields.boolean("additive")).unwrap_or(false);
        let outer = &self.scopes[scope];
        let mut state = State {
            name,
            line: entry.line() as u32,
            kind: StateKind::Empty,
            is_space: false,
            clips: Vec::new(),
            speeds: outer.speeds.clone(),
            looping: None,
            additive,
            constraints: outer.constraints.clone(),
            enter: Vec::new(),
            exit: Vec::new(),
            events: Vec::new(),
            groups: outer.groups.clone(),
            routes: (0, 0),
        };
        let mut has_kind = false;
        if let Some(kind) = kind {
            let errors = self.errors.len();
            let read = self.read_kind(&fields, kind, &mut state, scope);
            has_kind = self.note(read).is_some() && self.errors.len() == errors;
        }
        if is_time {
            let time = self.lone_expression(&fields, "time");
            if let Some(time) = self.note(time) {
                state.kind = StateKind::Time(time.expect("the key exists"));
            }
        }
        self.read_properties(&fields, &mut state, (scope, has_kind));
        Ok(self.machine.states.len() as u16 - 1)
    }

    /// Returns the keys of a state of a kind, or of all kinds if it has not one.
    fn state_keys(&self, fields: &SourceFields<'a>, kind: Option<&'a str>) -> Vec<&'a str> {
        let Some(kind) = kind else {
            let all = [&KIND_KEYS[..], &COMMON_KEYS, &CLIP_KEYS, &TIME_KEYS, &["weight"]];
            // The message about the kind covers its misspelt key.
            let entries = fields.value.entries().into_iter().flatten().map(|entry| entry.key);
            let is_kind = |key: &&str| !hint(key, KIND_KEYS.iter().copied()).is_empty();
            return all.concat().into_iter().chain(entries.filter(is_kind)).collect();
        };
        let plain = [&[kind][..], &COMMON_KEYS].concat();
        let is_time = fields.get("time").is_some();
        let known = match kind {
            "clip" | "blend" | "blend_space" if is_time => [&plain[..], &TIME_KEYS].concat(),
            "clip" | "blend" | "blend_space" => [&plain[..], &CLIP_KEYS, &["time"]].concat(),
            "random" | "choice" if matches!(self.selects_states(fields, kind), Ok(true)) => {
                vec![kind]
            }
            "random" | "choice" => [&plain[..], &CLIP_KEYS].concat(),
            _ => plain,
        };
        match kind {
            "clip" => [&known[..], &["weight"]].concat(),
            _ => known,
        }
    }

    /// Notes the errors of keys that states of another form have, and of settings of clips. Returns
    /// the keys.
    fn misplaced_keys(&mut self, fields: &SourceFields<'a>, known: &[&str]) -> Vec<&'a str> {
        let is_time = fields.get("time").is_some();
        let mut misplaced = Vec::new();
        for entry in fields.value.entries().into_iter().flatten() {
            let key = entry.key;
            let reason = match key {
                _ if known.contains(&key) => continue,
                "loop" | "on_end" | "speed" if is_time => {
                    "because it has 'time', which chooses what is shown: remove one of them"
                }
                "additive" | "loop" | "events" => continue,
                _ if CLIP_SETTING_KEYS.contains(&key) => {
                    "because that is a setting of an .animation file, which 'clip' can name"
                }
                _ => continue,
            };
            let (path, line, subject) = (self.path, entry.line(), &fields.subject);
            self.errors.push(error!("{path}:{line}: {subject} has no '{key}' {reason}"));
            misplaced.push(key);
        }
        misplaced
    }

    /// Reads the keys that most states have, and adds the state. `has_kind` is false if its kind
    /// has an error.
    fn read_properties(
        &mut self,
        fields: &SourceFields<'a>,
        state: &mut State,
        (scope, has_kind): (usize, bool),
    ) {
        let speed = self.lone_expression(fields, "speed");
        state.speeds.extend(self.keep(speed));
        add_new(&mut state.constraints, self.constraints(fields));
        state.enter = self.sent_events(fields, "enter");
        state.exit = self.sent_events(fields, "exit");
        state.events = self.read_timed_events(fields, has_kind.then_some(state.clips.len()));
        state.looping = self.keep(fields.boolean("loop"));
        let mut own = self.transitions(fields, "on", scope);
        let at_end = self.end_transitions(fields, scope);
        if !at_end.is_empty() && state.looping == Some(true) {
            let message = "a state with 'loop = true' never ends: remove 'on_end' or 'loop'";
            self.errors.push(fields.block_error(message));
        }
        if !at_end.is_empty() {
            state.looping = Some(false);
        }
        own.extend(at_end);
        self.machine.states.push(state.clone());
        self.state_scopes.push((scope, own));
    }

    fn read_kind(
        &mut self,
        fields: &SourceFields<'a>,
        kind: &str,
        state: &mut State,
        scope: usize,
    ) -> Result<(), Error> {
        let value = fields.get(kind).expect("the caller found it");
        match kind {
            "clip" => {
                if fields.get("weight").is_some() && !state.additive {
                    let message = "'weight' needs 'additive = true': a single clip has all of the \
                                   weight of its layer";
                    self.errors.push(fields.block_error(message));
                }
                let weight = self.lone_expression(fields, "weight");
                let weight = self.keep(weight);
                state.clips.push(StateClip { clip: self.clip(fields, "clip")?, weight });
                state.kind = StateKind::Blend;
            }
            "blend" => {
                state.clips = self.state_clips(fields, kind, "weight")?;
                let is_shown = state.clips.len() == 1 && !state.additive;
                self.check_weights(fields, !is_shown, state.clips.iter().map(|clip| clip.weight))?;
                state.kind = StateKind::Blend;
            }
            "blend_space" => {
                state.clips = self.blend_space(fields, value)?;
                (state.kind, state.is_space) = (StateKind::Blend, true);
            }
            "random" | "choice" if self.selects_states(fields, kind)? => {
                let random = kind == "random";
                let targets = self.selection(fields, kind, scope)?;
                state.kind = StateKind::Selection { random, targets };
            }
            "random" => {
                state.clips = self.state_clips(fields, kind, "weight")?;
                let is_random = state.clips.len() > 1;
                self.check_weights(fields, is_random, state.clips.iter().map(|clip| clip.weight))?;
                state.kind = StateKind::RandomClip;
            }
            "choice" => {
                state.clips = self.state_clips(fields, kind, "if")?;
                state.kind = StateKind::ClipChoice;
            }
            "ragdoll" => state.kind = StateKind::Ragdoll { mask: self.ragdoll_mask(fields)? },
            _ => {
                if value.as_bool() != Some(true) {
                    return Err(fields.error_at(value, "'empty' must be true"));
                }
            }
        }
        Ok(())
    }

    fn ragdoll_mask(&self, fields: &SourceFields<'a>) -> Result<Option<u16>, Error> {
        let value = fields.get("ragdoll").expect("the caller found it");
        if value.as_str() == Some("full") {
            return Ok(None);
        }
        if value.kind() != ValueKind::Object {
            let message = "'ragdoll' must be \"full\", or { mask = \"…\" } for some of the bones";
            return Err(fields.error_at(value, message));
        }
        let subject = format!("'ragdoll' of {}", fields.subject);
        let block = SourceFields::open(self.path, subject, value, &["mask"])?;
        match self.mask(&block, "mask")? {
            Some(mask) => Ok(Some(mask)),
            None => Err(block.block_error("'mask' is missing")),
        }
    }

    /// Returns true if the entries of `random` or `choice` name states. All entries are of one
    /// kind.
    fn selects_states(&self, fields: &SourceFields<'a>, kind: &str) -> Result<bool, Error> {
        let items = fields.list(kind, (STATE_CLIPS_MAX, "STATE_CLIPS_MAX"))?.unwrap_or_default();
        let Some(first) = items.first() else {
            return Err(fields.block_error(&format!("'{kind}' has no entries")));
        };
        let states = first.get("to").is_some();
        for item in &items {
            if item.get("to").is_some() != states || item.get("clip").is_some() == states {
                let message = format!("each entry of '{kind}' has a 'clip', or each has a 'to'");
                return Err(fields.error_at(*item, &message));
            }
        }
        Ok(states)
    }

    /// Reads a list of clips with weights.
    fn state_clips(
        &mut self,
        fields: &SourceFields<'a>,
        kind: &str,
        weight_key: &str,
    ) -> Result<Vec<StateClip>, Error> {
        let items = fields.list(kind, (STATE_CLIPS_MAX, "STATE_CLIPS_MAX"))?.unwrap_or_default();
        if items.is_empty() {
            return Err(fields.block_error(&format!("'{kind}' has no clips")));
        }
        let mut group = MatchGroup::default();
        let mut clips = Vec::new();
        for item in &items {
            let subject = format!("'{kind}' of {}", fields.subject);
            let Some(entry) = self.open(subject, *item, &["clip", weight_key]) else { continue };
            let weight = self.expression(&entry, weight_key, &mut group);
            let clip = self.clip(&entry, "clip");
            if let (Some(weight), Some(clip)) = (self.note(weight), self.note(clip)) {
                clips.push(StateClip { clip, weight });
            }
        }
        // The match functions of the others depend on those of a clip with an error.
        match clips.len() == items.len() {
            true => self.finish_group(fields, group).map(|()| clips),
            false => Err(error!("")),
        }
    }

    /// Returns an error if all weights are numbers that are not above 0. `counts` is false if the
    /// weights have no effect: a single entry is always taken.
    fn check_weights(
        &self,
        fields: &SourceFields<'a>,
        counts: bool,
        mut weights: impl Iterator<Item = Option<Expression>>,
    ) -> Result<(), Error> {
        let ops = |weight: Expression| self.machine.table.ops(weight);
        let is_zero = |weight: Option<Expression>| {
            weight
                .is_some_and(|weight| matches!(ops(weight), [Op::Number(number)] if *number <= 0.0))
        };
        match counts && weights.all(is_zero) {
            true => Err(fields
                .block_error("its weights are all 0 or less: give one of them a weight above 0")),
            false => Ok(()),
        }
    }

    /// Reads the entries of a random or conditional choice of states.
    fn selection(
        &mut self,
        fields: &SourceFields<'a>,
        kind: &str,
        scope: usize,
    ) -> Result<Vec<(u16, Option<Expression>)>, Error> {
        let state = self.machine.states.len();
        let weight_key = if kind == "random" { "weight" } else { "if" };
        let limit = (STATE_CLIPS_MAX, "STATE_CLIPS_MAX");
        let mut group = MatchGroup::default();
        let mut targets = Vec::new();
        let items = fields.list(kind, limit)?.unwrap_or_default();
        for (entry, item) in items.iter().enumerate() {
            let subject = format!("'{kind}' of {}", fields.subject);
            let Some(item) = self.open(subject, *item, &["to", weight_key]) else { continue };
            let weight = self.expression(&item, weight_key, &mut group);
            let target = self.add_target(TargetSlot::Selection { state, entry }, &item, scope);
            if let (Some(weight), Some(())) = (self.note(weight), self.note(target)) {
                targets.push((0, weight));
            }
        }
        if targets.len() < items.len() {
            return Err(error!(""));
        }
        self.finish_group(fields, group)?;
        let is_random = kind == "random" && targets.len() > 1;
        self.check_weights(fields, is_random, targets.iter().map(|(_, weight)| *weight))?;
        Ok(targets)
    }
}
