//! Compiler of `.state_machine` files: variables, masks, constraints and layers. States are read by
//! `source_states`, transitions by `source_transitions`.
//!
//! ```text
//! skeleton = "units/orc"
//! variables = { speed = { value = 0 min = 0 max = 6 } lean = 0.5 }
//! events = ["jump"]                       // optional: then no other event can be handled
//! masks = { upper = { spine = 1 } }       // descendants of a bone have its weight
//! constraints = { look = { type = "aim" bone = "head" yaw = 70 } }
//! groups = { combat = { initial = "ready" states = { … } any = { … } } }
//! layers = [ { name = "body" initial = "move" weight = 1 mask = "upper" constraints = ["look"]
//!     any = { hit = "hurt" }              // from each state of the layer
//!     states = {
//!         move = { blend = [ { clip = "walk" weight = "match(speed, 2)" } … ] speed = 0.5 }
//!         step = { blend_space = { x = "vx" y = "vy"
//!             points = [ { clip = "left" at = [-1 0] } … ] } }
//!         jump = { clip = "jump" on_end = "move" }
//!         lean = { clip = "lean" time = "lean" }
//!         tired = { clip = "breathe" additive = true weight = "lean" }
//!         idle = { random = [ { clip = "a" weight = 2 } … ] }   // or { to = "state" }
//!         land = { choice = [ { clip = "hard" if = "speed > 3" } … ] }   // or { to = "state" }
//!         dead = { ragdoll = "full" }     // or { mask = "upper" }
//!         none = { empty = true }
//!         fight = { group = "combat" }    // or a block
//!     } } ]
//! ```
//!
//! Each state can have `constraints`, `enter`, `exit` (events that it sends), `events` with `time`
//! or `at`, and `on`: a transition or a list of transitions for each event, with `to`, `blend`,
//! `curve`, `mode`, `if`, `priority`, `interrupt` and `to_self`. Of the transitions for an event,
//! that of the highest priority is taken; then those of the state come before those of its group.

use super::constraint_description::ConstraintDescription;
use super::data::*;
use super::expression::{Expression, ExpressionTable};
use super::expression_parser::{self, MatchGroup, NO_VARIABLE, RESERVED_NAMES};
use super::source_fields::SourceFields;
use super::source_transitions::TargetName;
use engine_foundation::error::LISTED_MAX;
use engine_foundation::sjson::{self, ObjectEntry, SjsonValue, ValueKind};
use engine_foundation::{Error, error};

/// Maximum number of named groups of a file.
pub const GROUPS_MAX: usize = 256;

const ROOT_KEYS: [&str; 7] =
    ["constraints", "events", "groups", "layers", "masks", "skeleton", "variables"];
const LAYER_KEYS: [&str; 7] = ["any", "constraints", "initial", "mask", "name", "states", "weight"];

/// Member of a scope.
#[derive(Clone, Copy)]
pub(super) enum Member {
    State(u16),
    /// Index of the scope of a group.
    Group(usize),
    /// State or group with an error, to which names may refer.
    Failed,
}

/// States of a layer or of a group, by name.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    pub parent: Option<usize>,
    /// Prefix of the names of states: names of groups, each with a slash.
    pub prefix: String,
    pub members: Vec<(&'a str, Member)>,
    /// True if the names of its states could not be read.
    pub has_failed: bool,
    pub initial: Option<Member>,
    /// Transitions of all states of the scope, and those of the group itself.
    pub any: Vec<u16>,
    pub on: Vec<u16>,
    /// Properties that the states inherit.
    pub groups: Vec<u16>,
    pub speeds: Vec<Expression>,
    pub constraints: Vec<u16>,
}

/// Blocks of the file with errors because of which names are missing.
#[derive(Clone, Copy, Default)]
pub(super) struct FailedBlocks {
    pub variables: bool,
    pub events: bool,
    pub masks: bool,
    pub constraints: bool,
    pub groups: bool,
}

/// State machine under construction.
#[derive(Clone)]
pub(super) struct Builder<'a> {
    pub path: &'a str,
    pub machine: StateMachine,
    pub variable_names: Vec<&'a str>,
    /// True if the file lists its events.
    pub lists_events: bool,
    pub named_groups: Vec<(&'a str, SjsonValue<'a>)>,
    pub used_groups: Vec<&'a str>,
    /// Named groups with errors, which are not read again.
    pub failed_groups: Vec<&'a str>,
    /// Errors in the order in which they were found.
    pub errors: Vec<Error>,
    pub failed: FailedBlocks,
    pub scopes: Vec<Scope<'a>>,
    /// Scope and own transitions of each state.
    pub state_scopes: Vec<(usize, Vec<u16>)>,
    /// Transitions that do not lead from a state to itself.
    pub not_to_self: Vec<u16>,
    pub targets: Vec<TargetName<'a>>,
}

/// Compiles the text of a `.state_machine` file.
///
/// # Errors
/// Returns an error that names the path, the line and the subject if a value is not valid, or if
/// a name does not exist. If there are several, it has a line for each (see
/// [`engine_foundation::error::messages`]).
pub fn compile_state_machine(path: &str, text: &str) -> Result<StateMachine, Error> {
    let document = sjson::parse(text).map_err(|error| error!("{}", error.in_file(path)))?;
    let mut builder = Builder::new(path);
    let Some(root) = builder.open("a state machine", document.root(), &ROOT_KEYS) else {
        return Err(Error::several(builder.errors).expect("it is no block"));
    };
    match root.text("skeleton") {
        Ok(Some(skeleton)) => builder.machine.skeleton = skeleton.to_string(),
        Ok(None) => {
            let example = "skeleton = \"models/orc\"";
            let message = format!("'skeleton' is missing: add {example}");
            builder.errors.push(root.block_error(&message));
        }
        Err(error) => builder.errors.push(error),
    }
    // Each part is read in spite of errors in others, so that they are reported at once.
    builder.read_variables(&root);
    builder.read_events(&root);
    builder.read_masks(&root);
    builder.read_constraints(&root);
    let (groups, is_whole) = builder.entries(&root, "groups", (GROUPS_MAX, "GROUPS_MAX"));
    builder.failed.groups = !is_whole;
    builder.named_groups = groups.iter().map(|entry| (entry.key, entry.value)).collect();
    builder.read_layers(&root);
    builder.check_unused_groups();
    builder.resolve_targets();
    if let Some(error) = Error::several(std::mem::take(&mut builder.errors)) {
        return Err(error);
    }
    builder.build_routes()?;
    super::compiled::check(&builder.machine)?;
    Ok(builder.machine)
}

impl<'a> Builder<'a> {
    fn new(path: &'a str) -> Builder<'a> {
        let machine = StateMachine {
            path: path.to_string(),
            skeleton: String::new(),
            variables: Vec::new(),
            events: Vec::new(),
            sent_events: Vec::new(),
            clips: Vec::new(),
            masks: Vec::new(),
            constraints: Vec::new(),
            layers: Vec::new(),
            states: Vec::new(),
            groups: Vec::new(),
            transitions: Vec::new(),
            routes: Vec::new(),
            table: ExpressionTable::default(),
        };
        Builder {
            path,
            machine,
            variable_names: Vec::new(),
            lists_events: false,
            named_groups: Vec::new(),
            used_groups: Vec::new(),
            failed_groups: Vec::new(),
            errors: Vec::new(),
            failed: FailedBlocks::default(),
            scopes: Vec::new(),
            state_scopes: Vec::new(),
            not_to_self: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Keeps an error, and returns `None` for it.
    pub fn note<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if !error.message.is_empty() {
                    self.errors.push(error);
                }
                None
            }
        }
    }

    /// Keeps an error, and returns the default value for it.
    pub fn keep<T: Default>(&mut self, result: Result<T, Error>) -> T {
        self.note(result).unwrap_or_default()
    }

    /// Returns an error about a name, or one that is not reported if the names could not be read.
    pub fn unless(&self, has_failed: bool, error: Error) -> Error {
        if has_failed { error!("") } else { error }
    }

    /// Opens a value as a block, and keeps the errors of all unknown keys. Returns `None` if it is
    /// no block.
    pub fn open(
        &mut self,
        subject: impl Into<String>,
        value: SjsonValue<'a>,
        known: &[&str],
    ) -> Option<SourceFields<'a>> {
        let fields = SourceFields { path: self.path, subject: subject.into(), value };
        let unknown = self.note(fields.unknown_keys(known))?;
        self.errors.extend(unknown.into_iter().rev());
        Some(fields)
    }

    /// Returns the entries of a block with names that the file chooses, and false if some could not
    /// be read.
    pub fn entries(
        &mut self,
        fields: &SourceFields<'a>,
        key: &str,
        limit: (usize, &str),
    ) -> (Vec<ObjectEntry<'a>>, bool) {
        let Some(mut entries) = self.note(fields.named_entries(key, limit)) else {
            return (Vec::new(), false);
        };
        let count = entries.len();
        entries.retain(|entry| self.note(fields.check_name(key, entry)).is_some());
        let is_whole = entries.len() == count;
        (entries, is_whole)
    }

    /// Returns true if there are so many errors that reading ends.
    pub fn has_many_errors(&self) -> bool {
        self.errors.len() > LISTED_MAX
    }

    fn read_variables(&mut self, root: &SourceFields<'a>) {
        let (entries, is_whole) = self.entries(root, "variables", (VARIABLES_MAX, "VARIABLES_MAX"));
        self.failed.variables = !is_whole;
        for entry in entries {
            let variable = self.read_variable(&entry);
            self.variable_names.push(entry.key);
            self.machine.variables.push(variable);
        }
    }

    /// Returns a variable, and keeps all errors of it. Expressions may read one with errors.
    fn read_variable(&mut self, entry: &ObjectEntry<'a>) -> Variable {
        let whole = (-VARIABLE_ABS_MAX, VARIABLE_ABS_MAX);
        let (name, value) = (entry.key, entry.value);
        let subject = format!("variable '{name}'");
        let fields = SourceFields { path: self.path, subject: subject.clone(), value };
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if !name.chars().all(is_name) || name.starts_with(|c: char| c.is_numeric()) {
            let message = "the name of a variable has only letters, digits and '_'";
            self.errors.push(fields.block_error(message));
        }
        if RESERVED_NAMES.contains(&name) {
            let message = "expressions have another meaning for this name: use another one";
            self.errors.push(fields.block_error(message));
        }
        let mut variable =
            Variable { name: name.to_string(), value: 0.0, min: whole.0, max: whole.1 };
        if value.kind() == ValueKind::Number {
            variable.value = self.keep(fields.number_of("value", value, whole));
        } else if let Some(fields) = self.open(subject, value, &["max", "min", "value"]) {
            let mut limit = |key| self.keep(fields.number(key, whole));
            let (min, max) = (limit("min").unwrap_or(whole.0), limit("max").unwrap_or(whole.1));
            if min > max {
                let message = format!("'min' is {min}, above 'max' {max}");
                self.errors.push(fields.block_error(&message));
            } else {
                (variable.min, variable.max) = (min, max);
            }
            let range = (variable.min, variable.max);
            let number = self.keep(fields.number("value", range));
            variable.value = number.unwrap_or(0.0f32.clamp(range.0, range.1));
        }
        variable
    }

    fn read_events(&mut self, root: &SourceFields<'a>) {
        let items = self.note(root.list("events", (EVENTS_MAX, "EVENTS_MAX")));
        self.failed.events = items.is_none();
        let Some(items) = items.flatten() else { return };
        self.lists_events = true;
        for item in items {
            let Some(name) = self.note(root.text_of("events", item)) else {
                self.failed.events = true;
                continue;
            };
            if self.machine.events.iter().any(|known| known == name) {
                let message = format!("it lists the event '{name}' twice");
                self.errors.push(root.error_at(item, &message));
                continue;
            }
            self.machine.events.push(name.to_string());
        }
    }

    fn read_masks(&mut self, root: &SourceFields<'a>) {
        let (entries, is_whole) = self.entries(root, "masks", (MASKS_MAX, "MASKS_MAX"));
        self.failed.masks = !is_whole;
        for entry in entries {
            let bones = self.read_mask(&entry);
            let bones = self.keep(bones);
            self.machine.masks.push(Mask { name: entry.key.to_string(), bones });
        }
    }

    fn read_mask(&mut self, entry: &ObjectEntry<'a>) -> Result<Vec<MaskBone>, Error> {
        let (path, value, name) = (self.path, entry.value, entry.key);
        let fields = SourceFields { path, subject: format!("mask '{name}'"), value };
        let entries = fields.entries()?;
        if entries.is_empty() || entries.len() > MASK_BONES_MAX {
            let count = entries.len();
            return Err(fields.block_error(&format!(
                "it names {count} bones: it needs 1 to {MASK_BONES_MAX} (MASK_BONES_MAX)"
            )));
        }
        let bone = |bone: &ObjectEntry<'a>| {
            let weight = self.keep(fields.number_of(bone.key, bone.value, (0.0, 1.0)));
            MaskBone { bone: bone.key.to_string(), weight, line: bone.line() as u32 }
        };
        Ok(entries.iter().map(bone).collect())
    }

    fn read_constraints(&mut self, root: &SourceFields<'a>) {
        let limit = (CONSTRAINTS_MAX, "CONSTRAINTS_MAX");
        let (entries, is_whole) = self.entries(root, "constraints", limit);
        self.failed.constraints = !is_whole;
        for entry in entries {
            let constraint = ConstraintDescription::read(self, &entry);
            self.machine.constraints.push(constraint);
        }
    }

    fn read_layers(&mut self, root: &SourceFields<'a>) {
        let layers = root.list("layers", (LAYERS_MAX, "LAYERS_MAX"));
        let Some(layers) = self.note(layers) else { return };
        let layers = layers.unwrap_or_default();
        if layers.is_empty() {
            let message = "it has no layers: add layers = [ { states = { … } } ]";
            self.errors.push(root.block_error(message));
        }
        layers.into_iter().for_each(|layer| self.read_layer(layer));
    }

    fn read_layer(&mut self, value: SjsonValue<'a>) {
        let number = self.machine.layers.len() + 1;
        let subject = format!("layer {number}");
        let Some(mut fields) = self.open(subject, value, &LAYER_KEYS) else { return };
        let name = self.keep(fields.text("name"));
        let name = name.map_or(format!("layer_{number}"), str::to_string);
        if self.machine.find_layer(&name).is_some() {
            let message = format!("an earlier layer is named '{name}', too");
            self.errors.push(fields.block_error(&message));
        }
        fields.subject = format!("layer '{name}'");
        let weight = self.lone_expression(&fields, "weight");
        let weight = self.keep(weight);
        let mask = self.mask(&fields, "mask");
        let mask = self.keep(mask);
        let constraints = self.constraints(&fields);
        let first = self.machine.states.len() as u16;
        let scope = self.scopes.len();
        self.scopes.push(Scope::default());
        let read = self.read_states(&fields, scope, &mut Vec::new());
        self.note(read);
        let end = self.machine.states.len() as u16;
        let states = (first, end);
        let initial = self.initial_state(scope);
        self.machine.layers.push(Layer { name, initial, weight, mask, constraints, states });
    }

    /// Returns the index of the mask that a key names.
    pub fn mask(&self, fields: &SourceFields<'a>, key: &str) -> Result<Option<u16>, Error> {
        let Some(name) = fields.text(key)? else { return Ok(None) };
        let masks = &self.machine.masks;
        let index = masks.iter().position(|mask| mask.name == name).ok_or_else(|| {
            let value = fields.get(key).unwrap_or(fields.value);
            let names = masks.iter().map(|mask| mask.name.as_str());
            self.unless(self.failed.masks, fields.unknown(value, "mask", name, names))
        })?;
        Ok(Some(index as u16))
    }

    /// Returns the indices of the constraints that `constraints` names.
    pub fn constraints(&mut self, fields: &SourceFields<'a>) -> Vec<u16> {
        let values = fields.one_or_list("constraints", (CONSTRAINTS_MAX, "CONSTRAINTS_MAX"));
        let mut found: Vec<u16> = Vec::new();
        for value in self.keep(values) {
            let index = self.constraint(fields, value);
            found.extend(self.note(index));
        }
        found
    }

    fn constraint(&self, fields: &SourceFields<'a>, value: SjsonValue<'a>) -> Result<u16, Error> {
        let known = &self.machine.constraints;
        let name = fields.text_of("constraints", value)?;
        let index = known.iter().position(|it| it.name == name).ok_or_else(|| {
            let names = known.iter().map(|it| it.name.as_str());
            let error = fields.unknown(value, "constraint", name, names);
            self.unless(self.failed.constraints, error)
        })?;
        Ok(index as u16)
    }

    /// Returns the expression of a key, which is a number, a boolean or text.
    pub fn expression(
        &mut self,
        fields: &SourceFields<'a>,
        key: &str,
        group: &mut MatchGroup,
    ) -> Result<Option<Expression>, Error> {
        let Some(value) = fields.get(key) else { return Ok(None) };
        let text = match (value.as_f32(), value.as_bool(), value.as_str()) {
            (Some(number), ..) => format!("{number}"),
            (_, Some(boolean), _) => format!("{boolean}"),
            (.., Some(text)) => text.to_string(),
            _ => {
                let kind = value.kind();
                let message = format!("'{key}' must be a number or an expression, got {kind}");
                return Err(fields.error_at(value, &message));
            }
        };
        let table = &mut self.machine.table;
        let parsed =
            expression_parser::parse((&text, value.line()), &self.variable_names, table, group);
        match parsed {
            Ok(expression) => Ok(Some(expression)),
            Err(message) => {
                let is_hidden = self.failed.variables && message.contains(NO_VARIABLE);
                let message = format!("expression '{text}' of '{key}': {message}");
                Err(self.unless(is_hidden, fields.error_at(value, &message)))
            }
        }
    }

    /// Returns an expression whose match functions have no neighbours.
    pub fn lone_expression(
        &mut self,
        fields: &SourceFields<'a>,
        key: &str,
    ) -> Result<Option<Expression>, Error> {
        let mut group = MatchGroup::default();
        let expression = self.expression(fields, key, &mut group)?;
        self.finish_group(fields, group)?;
        Ok(expression)
    }

    /// Completes the match functions of a blend.
    pub fn finish_group(
        &mut self,
        fields: &SourceFields<'a>,
        group: MatchGroup,
    ) -> Result<(), Error> {
        group.finish(&mut self.machine.table).map_err(|message| fields.block_error(&message))
    }

    /// Returns the index of a clip.
    pub fn clip(&mut self, fields: &SourceFields<'a>, key: &str) -> Result<u16, Error> {
        let Some(name) = fields.text(key)? else {
            return Err(fields.block_error(&format!("'{key}' is missing: it names a clip")));
        };
        let clips = &mut self.machine.clips;
        if let Some(index) = clips.iter().position(|clip| clip.name == name) {
            return Ok(index as u16);
        }
        if clips.len() == CLIPS_MAX {
            return Err(fields.block_error(&format!(
                "the state machine has more than {CLIPS_MAX} clips (CLIPS_MAX)"
            )));
        }
        let line = fields.get(key).unwrap_or(fields.value).line() as u32;
        clips.push(ClipReference { name: name.to_string(), line });
        Ok(clips.len() as u16 - 1)
    }
}
