//! Descriptions of constraints: kind, bones, target and parameters, with bones by name. Their
//! evaluation is not part of the state machine.

use super::data::MASK_BONES_MAX;
use super::source_fields::SourceFields;
use engine_foundation::Error;
use engine_foundation::sjson::ObjectEntry;

/// Kind of a constraint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstraintKind {
    /// Turns bones so that an axis of the last one points at a target.
    Aim,
    /// Bends two bones so that a third one reaches a target.
    TwoBone,
    /// Moves a bone to a target.
    Position,
    /// Copies the transform of another bone.
    Copy,
    /// Bones that swing after their parents.
    Spring,
}

impl ConstraintKind {
    pub const ALL: [(&'static str, ConstraintKind); 5] = [
        ("aim", ConstraintKind::Aim),
        ("two_bone", ConstraintKind::TwoBone),
        ("position", ConstraintKind::Position),
        ("copy", ConstraintKind::Copy),
        ("spring", ConstraintKind::Spring),
    ];

    /// Returns the parameters of the kind.
    pub fn parameters(self) -> &'static [ParameterRow] {
        match self {
            ConstraintKind::Aim => AIM,
            ConstraintKind::TwoBone => TWO_BONE,
            ConstraintKind::Position => POSITION,
            ConstraintKind::Copy => COPY,
            ConstraintKind::Spring => SPRING,
        }
    }

    /// Returns the least and the most bones that the kind names.
    fn bone_counts(self) -> (usize, usize) {
        match self {
            ConstraintKind::Aim | ConstraintKind::Spring => (1, MASK_BONES_MAX),
            // Only the last one, whose parents follow from the skeleton, or all three.
            ConstraintKind::TwoBone => (1, 3),
            ConstraintKind::Position => (1, 1),
            // The bone, and the bone whose transform is copied.
            ConstraintKind::Copy => (2, 2),
        }
    }

    /// Returns true if the kind has a target that a game moves.
    pub fn has_target(self) -> bool {
        matches!(self, ConstraintKind::Aim | ConstraintKind::TwoBone | ConstraintKind::Position)
    }
}

/// Parameter of a kind: its name, its number of components (1 or 3), range and default.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParameterRow {
    pub name: &'static str,
    pub components: usize,
    pub range: (f32, f32),
    pub default: [f32; 3],
}

const fn number(name: &'static str, range: (f32, f32), default: f32) -> ParameterRow {
    ParameterRow { name, components: 1, range, default: [default, 0.0, 0.0] }
}

const fn vector(name: &'static str, default: [f32; 3]) -> ParameterRow {
    ParameterRow { name, components: 3, range: (-1e4, 1e4), default }
}

const AIM: &[ParameterRow] = &[
    number("weight", (0.0, 1.0), 1.0),
    // Degrees from the direction of the pose, and degrees per second; 0: without a limit.
    number("angle_max", (0.0, 180.0), 90.0),
    number("turn_rate", (0.0, 36_000.0), 0.0),
    vector("axis", [0.0, 1.0, 0.0]),
    vector("up", [0.0, 0.0, 1.0]),
];
const TWO_BONE: &[ParameterRow] = &[
    number("weight", (0.0, 1.0), 1.0),
    // Part of the length from which the limb no longer stretches to the target.
    number("soften", (0.0, 1.0), 0.97),
    vector("pole", [0.0, 1.0, 0.0]),
];
const POSITION: &[ParameterRow] =
    &[number("weight", (0.0, 1.0), 1.0), vector("offset", [0.0, 0.0, 0.0])];
const COPY: &[ParameterRow] = &[
    number("weight", (0.0, 1.0), 1.0),
    number("position", (0.0, 1.0), 1.0),
    number("rotation", (0.0, 1.0), 1.0),
    number("scale", (0.0, 1.0), 0.0),
];
const SPRING: &[ParameterRow] = &[
    number("weight", (0.0, 1.0), 1.0),
    number("stiffness", (0.0, 1e4), 60.0),
    number("damping", (0.0, 1e3), 6.0),
    number("angle_max", (0.0, 180.0), 90.0),
    vector("gravity", [0.0, 0.0, 0.0]),
];

/// Constraint of a state machine.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstraintDescription {
    pub name: String,
    pub line: u32,
    pub kind: ConstraintKind,
    /// Names of bones. Of `Copy`: the bone, and the bone whose transform is copied.
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

    /// Reads an entry of the block `constraints`.
    pub(super) fn read(path: &str, entry: &ObjectEntry) -> Result<ConstraintDescription, Error> {
        let name = entry.key;
        let subject = format!("constraint '{name}'");
        let any = SourceFields { path, subject: subject.clone(), value: entry.value };
        any.entries()?;
        let Some(kind) = any.choice("type", &ConstraintKind::ALL)? else {
            let known = ConstraintKind::ALL.map(|(name, _)| name).join(", ");
            return Err(any.block_error(&format!("'type' is missing (known: {known})")));
        };
        let mut known = vec!["type", "bone", "bones"];
        known.extend(kind.has_target().then_some("target"));
        known.extend(kind.parameters().iter().map(|row| row.name));
        let fields = SourceFields::open(path, subject, entry.value, &known)?;
        let (key, other) = match fields.get("bone") {
            Some(_) => ("bone", "bones"),
            None => ("bones", "bone"),
        };
        if let Some(value) = fields.get(other) {
            return Err(fields.error_at(value, "it has both 'bone' and 'bones': write one of them"));
        }
        let mut bones = Vec::new();
        for value in fields.one_or_list(key, (MASK_BONES_MAX, "MASK_BONES_MAX"))? {
            bones.push(fields.text_of(key, value)?.to_string());
        }
        let (least, most) = kind.bone_counts();
        if bones.len() < least || bones.len() > most {
            let count = bones.len();
            let range =
                if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return Err(fields.block_error(&format!("it names {count} bones: it needs {range}")));
        }
        let mut parameters = Vec::new();
        for row in kind.parameters() {
            parameters.push(match (fields.get(row.name), row.components) {
                (None, _) => row.default,
                (Some(value), 3) => fields.vector_of(row.name, value, row.range)?,
                (Some(value), _) => [fields.number_of(row.name, value, row.range)?, 0.0, 0.0],
            });
        }
        let target = match kind.has_target() {
            true => Some(fields.text("target")?.unwrap_or(name).to_string()),
            false => None,
        };
        let (name, line) = (name.to_string(), entry.line() as u32);
        Ok(ConstraintDescription { name, line, kind, bones, target, parameters })
    }
}
