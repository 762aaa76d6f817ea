//! Descriptions of constraints: kind, bones, target and parameters, with bones by name. Their
//! evaluation is not part of the state machine.

use super::data::MASK_BONES_MAX;
use super::source::Builder;
use super::source_fields::SourceFields;
use engine_foundation::sjson::ObjectEntry;

/// Maximum number of legs of a foot placement.
pub const LEGS_MAX: usize = 8;

/// Kind of a constraint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstraintKind {
    /// Turns a bone so that one of its axes points at a target.
    Aim,
    /// Bends two bones so that a third one reaches a target.
    TwoBone,
    /// Moves a bone to a target.
    Position,
    /// Copies the transform of another bone.
    Copy,
    /// Chain of bones that swing after their parents.
    Spring,
    /// Adapts legs to uneven ground.
    FootPlacement,
}

impl ConstraintKind {
    pub const ALL: [(&'static str, ConstraintKind); 6] = [
        ("aim", ConstraintKind::Aim),
        ("two_bone", ConstraintKind::TwoBone),
        ("position", ConstraintKind::Position),
        ("copy", ConstraintKind::Copy),
        ("spring", ConstraintKind::Spring),
        ("foot_placement", ConstraintKind::FootPlacement),
    ];

    /// Returns the parameters of the kind.
    pub fn parameters(self) -> &'static [ParameterRow] {
        match self {
            ConstraintKind::Aim => AIM,
            ConstraintKind::TwoBone => TWO_BONE,
            ConstraintKind::Position => POSITION,
            ConstraintKind::Copy => COPY,
            ConstraintKind::Spring => SPRING,
            ConstraintKind::FootPlacement => FOOT_PLACEMENT,
        }
    }

    /// Returns a description of the bones that the kind names.
    fn bones(self) -> &'static str {
        match self {
            ConstraintKind::Aim => "the bone that turns",
            ConstraintKind::TwoBone => "three bones, such as thigh, shin and foot",
            ConstraintKind::Position => "the bone that moves",
            ConstraintKind::Copy => "the bone, and the bone whose transform it copies",
            ConstraintKind::Spring => "the first and the last bone of a chain",
            ConstraintKind::FootPlacement => {
                "the pelvis, and then thigh, shin and foot of up to 8 legs (LEGS_MAX)"
            }
        }
    }

    fn has_bones(self, count: usize) -> bool {
        match self {
            ConstraintKind::Aim | ConstraintKind::Position => count == 1,
            ConstraintKind::TwoBone => count == 3,
            ConstraintKind::Copy | ConstraintKind::Spring => count == 2,
            ConstraintKind::FootPlacement => {
                count % 3 == 1 && (4..=1 + 3 * LEGS_MAX).contains(&count)
            }
        }
    }

    /// Returns true if the kind has a target that a game moves.
    pub fn has_target(self) -> bool {
        matches!(self, ConstraintKind::Aim | ConstraintKind::TwoBone | ConstraintKind::Position)
    }
}

/// Form of a parameter in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterForm {
    Number,
    /// Stored as 0 or 1.
    Boolean,
    Vector,
}

/// Parameter of a kind: its name, its form, the range of its numbers and its default.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParameterRow {
    pub name: &'static str,
    pub form: ParameterForm,
    pub range: (f32, f32),
    pub default: [f32; 3],
}

const fn number(name: &'static str, range: (f32, f32), default: f32) -> ParameterRow {
    ParameterRow { name, form: ParameterForm::Number, range, default: [default, 0.0, 0.0] }
}

const fn boolean(name: &'static str) -> ParameterRow {
    let (form, range) = (ParameterForm::Boolean, (0.0, 1.0));
    ParameterRow { name, form, range, default: [1.0, 0.0, 0.0] }
}

const fn vector(name: &'static str, default: [f32; 3]) -> ParameterRow {
    ParameterRow { name, form: ParameterForm::Vector, range: (-5e3, 5e3), default }
}

const WEIGHT: ParameterRow = number("weight", (0.0, 1.0), 1.0);

/// Parameters of all kinds.
const COMMON: &[ParameterRow] = &[WEIGHT];
const AIM: &[ParameterRow] = &[
    WEIGHT,
    // Degrees to each side, and up and down.
    number("yaw", (0.0, 180.0), 70.0),
    number("pitch", (0.0, 90.0), 45.0),
    vector("axis", [0.0, 1.0, 0.0]),
];
const TWO_BONE: &[ParameterRow] = &[
    WEIGHT,
    // Part of the length over which the limb approaches its full length.
    number("softness", (0.0, 0.5), 0.02),
    // Direction in which the middle joint bends; zeros keep its plane.
    vector("pole", [0.0, 0.0, 0.0]),
];
const POSITION: &[ParameterRow] = &[WEIGHT];
const COPY: &[ParameterRow] = &[WEIGHT, boolean("position"), boolean("rotation")];
const SPRING: &[ParameterRow] = &[
    WEIGHT,
    number("stiffness", (0.0, 1e6), 120.0),
    number("damping", (0.0, 1e6), 4.0),
    // Metres per second squared.
    vector("gravity", [0.0, 0.0, -9.82]),
];
const FOOT_PLACEMENT: &[ParameterRow] = &[
    WEIGHT,
    // Metres.
    number("drop_max", (0.0, 1e3), 0.4),
    number("lift_max", (0.0, 1e3), 0.2),
    number("step_max", (0.0, 1e3), 0.6),
    // Degrees.
    number("tilt_max", (0.0, 90.0), 34.0),
    number("swing_height", (0.0, 1e3), 0.15),
    // Metres per second.
    number("speed", (0.0, 1e3), 2.0),
];

/// Constraint of a state machine.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstraintDescription {
    pub name: String,
    pub line: u32,
    pub kind: ConstraintKind,
    /// Names of bones, as the kind needs them.
    pub bones: Vec<String>,
    /// Name of the target that a game moves. Without a name in the file, that of the constraint.
    pub target: Option<String>,
    /// Values in the order of [`ConstraintKind::parameters`]; a single number is the first one.
    pub parameters: Vec<[f32; 3]>,
}

impl ConstraintDescription {
    /// Returns a parameter by name, or zeros if the kind has no such parameter.
    pub fn parameter(&self, name: &str) -> [f32; 3] {
        let index = self.kind.parameters().iter().position(|row| row.name == name);
        index.and_then(|index| self.parameters.get(index)).copied().unwrap_or_default()
    }

    /// Returns true if the number of bones and all parameters are valid.
    pub(super) fn is_valid(&self) -> bool {
        let rows = self.kind.parameters();
        let in_range = |(value, row): (&[f32; 3], &ParameterRow)| {
            let count = if row.form == ParameterForm::Vector { 3 } else { 1 };
            value[..count].iter().all(|it| *it >= row.range.0 && *it <= row.range.1)
        };
        self.kind.has_bones(self.bones.len())
            && self.parameters.len() == rows.len()
            && self.parameters.iter().zip(rows).all(in_range)
            && self.target.is_some() == self.kind.has_target()
    }

    /// Reads an entry of the block `constraints`, and keeps all errors of it. States may name one
    /// with errors.
    pub(super) fn read<'a>(
        builder: &mut Builder<'a>,
        entry: &ObjectEntry<'a>,
    ) -> ConstraintDescription {
        let mut constraint = ConstraintDescription {
            name: entry.key.to_string(),
            line: entry.line() as u32,
            kind: ConstraintKind::Position,
            bones: Vec::new(),
            target: None,
            parameters: Vec::new(),
        };
        let subject = format!("constraint '{}'", entry.key);
        let kind = entry.value.entries().and_then(|_| {
            let subject = subject.clone();
            read_kind(builder, &SourceFields { path: builder.path, subject, value: entry.value })
        });
        let Some(fields) = builder.open(subject, entry.value, &known_keys(kind)) else {
            return constraint;
        };
        constraint.bones = read_bones(builder, &fields, kind);
        // Without a kind, only the parameters of all kinds are read.
        let rows = kind.map_or(COMMON, ConstraintKind::parameters);
        constraint.parameters = rows.iter().map(|row| row.read(builder, &fields)).collect();
        if kind.is_none_or(ConstraintKind::has_target) {
            let target = builder.keep(fields.text("target")).unwrap_or(entry.key);
            constraint.target = Some(target.to_string());
        }
        constraint.kind = kind.unwrap_or(constraint.kind);
        constraint
    }
}

fn read_kind(builder: &mut Builder, fields: &SourceFields) -> Option<ConstraintKind> {
    let kind = builder.note(fields.choice("type", &ConstraintKind::ALL))?;
    if kind.is_none() {
        let known = ConstraintKind::ALL.map(|(name, _)| name).join(", ");
        let message = format!("'type' is missing (known: {known})");
        builder.errors.push(fields.block_error(&message));
    }
    kind
}

/// Returns the keys of a kind; without a kind, those of all.
fn known_keys(kind: Option<ConstraintKind>) -> Vec<&'static str> {
    let mut known = vec!["type", "bone", "bones"];
    for (_, other) in ConstraintKind::ALL {
        if kind.is_none_or(|kind| kind == other) {
            known.extend(other.has_target().then_some("target"));
            known.extend(other.parameters().iter().map(|row| row.name));
        }
    }
    if kind.is_none() {
        known.sort_unstable();
        known.dedup();
    }
    known
}

fn read_bones(
    builder: &mut Builder,
    fields: &SourceFields,
    kind: Option<ConstraintKind>,
) -> Vec<String> {
    let (key, other) = match fields.get("bone") {
        Some(_) => ("bone", "bones"),
        None => ("bones", "bone"),
    };
    let is_twice = fields.get(other).map(|value| {
        let message = "it has both 'bone' and 'bones': write one of them";
        builder.errors.push(fields.error_at(value, message));
    });
    let items = fields.one_or_list(key, (MASK_BONES_MAX, "MASK_BONES_MAX"));
    let Some(items) = builder.note(items) else { return Vec::new() };
    let count = items.len();
    if let Some(kind) = kind.filter(|kind| is_twice.is_none() && !kind.has_bones(count)) {
        let message = format!("it names {count} bones: name {}", kind.bones());
        builder.errors.push(fields.block_error(&message));
    }
    let name = |item| builder.note(fields.text_of(key, item)).map(str::to_string);
    items.into_iter().filter_map(name).collect()
}

impl ParameterRow {
    /// Returns the value of the parameter in a block.
    fn read(&self, builder: &mut Builder, fields: &SourceFields) -> [f32; 3] {
        let Some(value) = fields.get(self.name) else { return self.default };
        match self.form {
            ParameterForm::Vector => {
                let numbers = builder.note(fields.numbers_of(self.name, value, self.range));
                numbers.map_or(self.default, |all| all.map(|number| builder.keep(number)))
            }
            ParameterForm::Number => {
                [builder.keep(fields.number_of(self.name, value, self.range)), 0.0, 0.0]
            }
            ParameterForm::Boolean => {
                let is_true = builder.keep(fields.boolean(self.name)) == Some(true);
                [if is_true { 1.0 } else { 0.0 }, 0.0, 0.0]
            }
        }
    }
}
