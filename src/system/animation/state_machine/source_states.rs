//! Compiler of the states and groups of a layer.

use super::data::*;
use super::expression::{Expression, Op};
use super::expression_parser::MatchGroup;
use super::source::{Builder, Member, Scope};
use super::source_fields::SourceFields;
use super::source_transitions::TargetSlot;
use engine_foundation::Error;
use engine_foundation::sjson::{ObjectEntry, SjsonValue, ValueKind};

/// Keys of which each state has exactly one.
const KIND_KEYS: [&str; 8] =
    ["blend", "blend_space", "choice", "clip", "empty", "group", "ragdoll", "random"];
const COMMON_KEYS: [&str; 4] = ["constraints", "enter", "exit", "on"];
const CLIP_KEYS: [&str; 5] = ["additive", "events", "loop", "on_end", "speed"];
const TIME_KEYS: [&str; 3] = ["additive", "events", "time"];
const GROUP_KEYS: [&str; 2] = ["on_end", "speed"];
const STATE_LIMIT: (usize, &str) = (STATES_MAX, "STATES_MAX");
/// Range of positions in blend spaces.
const POSITIONS: (f32, f32) = (-1e6, 1e6);

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
        let entries = fields.named_entries("states", STATE_LIMIT)?;
        if entries.is_empty() {
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
        let any = self.transitions(fields, "any", scope);
        self.scopes[scope].any = self.note(any).unwrap_or_default();
        let initial = self.find_initial(fields, scope);
        self.scopes[scope].initial = Some(self.note(initial).unwrap_or(Member::Failed));
        Ok(())
    }

    fn find_initial(&self, fields: &SourceFields<'a>, scope: usize) -> Result<Member, Error> {
        let members = &self.scopes[scope].members;
        let Some(name) = fields.text("initial")? else { return Ok(members[0].1) };
        let member = members.iter().find(|(known, _)| *known == name);
        member.map(|(_, member)| *member).ok_or_else(|| {
            let value = fields.get("initial").unwrap_or(fields.value);
            fields.unknown(value, "state", name, members.iter().map(|(name, _)| *name))
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
        let fields = SourceFields::open(self.path, subject, entry.value, &known)?;
        let value = fields.get("group").expect("the caller found it");
        let (block, group_name) = match value.as_str() {
            Some(group) => (self.named_group(&fields, value, group, expanded)?, Some(group)),
            None => (value, None),
        };
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
        inner.speeds.extend(self.lone_expression(&fields, "speed")?);
        add_new(&mut inner.constraints, self.constraints(&fields)?);
        let group = Group {
            name: name.clone(),
            enter: self.sent_events(&fields, "enter")?,
            exit: self.sent_events(&fields, "exit")?,
        };
        inner.groups.push(self.machine.groups.len() as u16);
        self.machine.groups.push(group);
        inner.on = self.transitions(&fields, "on", outer)?;
        inner.on.extend(self.end_transitions(&fields, outer)?);
        if has_failed {
            return Ok(Member::Failed);
        }
        let scope = self.scopes.len();
        self.scopes.push(inner);
        let known = ["any", "initial", "states"];
        let subject = format!("group '{name}'");
        let block = SourceFields::open(self.path, subject, block, &known)?;
        let errors = self.errors.len();
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
            return Err(fields.unknown(value, "group", name, names));
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
            let known = ["any", "initial", "states"];
            let read = SourceFields::open(self.path, subject, value, &known)
                .and_then(|fields| scratch.read_states(&fields, scope, &mut vec![name]));
            scratch.note(read);
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
        let [kind] = kinds[..] else {
            let list = KIND_KEYS.join(", ");
            let message = match kinds.len() {
                0 => format!("its kind is missing: write one of {list}"),
                _ => format!("it has '{}' and '{}': write one of {list}", kinds[0], kinds[1]),
            };
            return Err(fields.block_error(&message));
        };
        if self.machine.states.len() == STATES_MAX {
            return Err(fields.block_error(&format!(
                "the state machine has more than {STATES_MAX} states (STATES_MAX)"
            )));
        }
        let plain = [&[kind][..], &COMMON_KEYS].concat();
        let is_time = fields.get("time").is_some();
        let known = match kind {
            "clip" | "blend" | "blend_space" if is_time => [&plain[..], &TIME_KEYS].concat(),
            "clip" | "blend" | "blend_space" => [&plain[..], &CLIP_KEYS, &["time"]].concat(),
            "random" | "choice" if self.selects_states(&fields, kind)? => vec![kind],
            "random" | "choice" => [&plain[..], &CLIP_KEYS].concat(),
            _ => plain,
        };
        let known = match kind {
            "clip" => [&known[..], &["weight"]].concat(),
            _ => known,
        };
        let opened = SourceFields::open(self.path, fields.subject.clone(), fields.value, &known);
        self.note(opened);
        let outer = &self.scopes[scope];
        let mut state = State {
            name,
            line: entry.line() as u32,
            kind: StateKind::Empty,
            clips: Vec::new(),
            speeds: outer.speeds.clone(),
            looping: None,
            additive: fields.boolean("additive")?.unwrap_or(false),
            constraints: outer.constraints.clone(),
            enter: Vec::new(),
            exit: Vec::new(),
            events: Vec::new(),
            groups: outer.groups.clone(),
            routes: (0, 0),
        };
        let errors = self.errors.len();
        let read = self.read_kind(&fields, kind, &mut state, scope);
        self.note(read);
        if is_time {
            let time = self.lone_expression(&fields, "time");
            if let Some(time) = self.note(time) {
                state.kind = StateKind::Time(time.expect("the key exists"));
            }
        }
        let has_kind = self.errors.len() == errors;
        self.read_properties(&fields, &mut state, (scope, has_kind))
    }

    /// Reads the keys that most states have, and adds the state. `has_kind` is false if its kind
    /// has an error. Returns its index.
    fn read_properties(
        &mut self,
        fields: &SourceFields<'a>,
        state: &mut State,
        (scope, has_kind): (usize, bool),
    ) -> Result<u16, Error> {
        let speed = self.lone_expression(fields, "speed");
        state.speeds.extend(self.note(speed).flatten());
        let constraints = self.constraints(fields);
        add_new(&mut state.constraints, self.note(constraints).unwrap_or_default());
        let enter = self.sent_events(fields, "enter");
        state.enter = self.note(enter).unwrap_or_default();
        let exit = self.sent_events(fields, "exit");
        state.exit = self.note(exit).unwrap_or_default();
        // They depend on the clips.
        if has_kind {
            let read = self.read_timed_events(fields, state);
            self.note(read);
        }
        state.looping = fields.boolean("loop")?;
        let mut own = self.transitions(fields, "on", scope)?;
        let at_end = self.end_transitions(fields, scope)?;
        if !at_end.is_empty() && state.looping == Some(true) {
            let message = "a state with 'loop = true' never ends: remove 'on_end' or 'loop'";
            return Err(fields.block_error(message));
        }
        if !at_end.is_empty() {
            state.looping = Some(false);
        }
        own.extend(at_end);
        self.machine.states.push(state.clone());
        self.state_scopes.push((scope, own));
        Ok(self.machine.states.len() as u16 - 1)
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
                    return Err(fields.block_error(message));
                }
                let weight = self.lone_expression(fields, "weight")?;
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
                state.kind = StateKind::Blend;
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
        for item in items {
            let subject = format!("'{kind}' of {}", fields.subject);
            let known = ["clip", weight_key];
            let entry = SourceFields::open(self.path, subject, item, &known)?;
            let weight = self.expression(&entry, weight_key, &mut group)?;
            clips.push(StateClip { clip: self.clip(&entry, "clip")?, weight });
        }
        self.finish_group(fields, group)?;
        Ok(clips)
    }

    /// Reads a blend space: clips at positions of one or two numbers.
    fn blend_space(
        &mut self,
        fields: &SourceFields<'a>,
        value: SjsonValue<'a>,
    ) -> Result<Vec<StateClip>, Error> {
        let subject = format!("'blend_space' of {}", fields.subject);
        let space = SourceFields::open(self.path, subject, value, &["points", "x", "y"])?;
        let limit = (STATE_CLIPS_MAX, "STATE_CLIPS_MAX");
        let points = space.list("points", limit)?.unwrap_or_default();
        if points.is_empty() {
            return Err(space.block_error("'points' is missing: [ { clip = \"…\" at = 1 } ]"));
        }
        let mut positions: Vec<[f32; 2]> = Vec::new();
        let mut clips = Vec::new();
        let is_wide = space.get("y").is_some();
        for point in points {
            let subject = format!("a point of {}", space.subject);
            let point = SourceFields::open(self.path, subject, point, &["at", "clip"])?;
            let Some(at) = point.get("at") else {
                return Err(point.block_error("'at' is missing: the position of the clip"));
            };
            let position = match is_wide {
                true => point.vector_of("at", at, POSITIONS)?,
                false => [point.number_of("at", at, POSITIONS)?, 0.0],
            };
            if positions.contains(&position) {
                return Err(point.error_at(at, "an earlier point has the same position"));
            }
            positions.push(position);
            clips.push(StateClip { clip: self.clip(&point, "clip")?, weight: None });
        }
        let mut group = MatchGroup::default();
        for (clip, [x, y]) in clips.iter_mut().zip(positions) {
            let axis = |key: &str| match space.get(key).map(|value| value.as_str()) {
                Some(Some(text)) => Ok(text),
                Some(None) => Err(space.block_error(&format!("'{key}' must be an expression"))),
                None => Err(space.block_error(&format!("'{key}' is missing: an expression"))),
            };
            let text = match is_wide {
                true => format!("match_2d({}, {}, {x}, {y})", axis("x")?, axis("y")?),
                false => format!("match({}, {x})", axis("x")?),
            };
            clip.weight = Some(self.generated_expression(&space, &text, &mut group)?);
        }
        self.finish_group(&space, group)?;
        Ok(clips)
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
        for (entry, item) in fields.list(kind, limit)?.unwrap_or_default().into_iter().enumerate() {
            let subject = format!("'{kind}' of {}", fields.subject);
            let item = SourceFields::open(self.path, subject, item, &["to", weight_key])?;
            let weight = self.expression(&item, weight_key, &mut group)?;
            self.add_target(TargetSlot::Selection { state, entry }, &item, scope)?;
            targets.push((0, weight));
        }
        self.finish_group(fields, group)?;
        let is_random = kind == "random" && targets.len() > 1;
        self.check_weights(fields, is_random, targets.iter().map(|(_, weight)| *weight))?;
        Ok(targets)
    }
}
