//! Joints in the physics of units: their fields, and how they are read.

use super::super::field_reader::{FieldError, FieldReader};
use super::to_owned_text;
use engine_foundation::Vec3;
use engine_foundation::sjson::SjsonTree;
use engine_physics::{JointKind, JointSpring, PULLEY_RATIO_MAX, PULLEY_RATIO_MIN};

/// Description of a joint; positions are relative to the node.
#[derive(Clone, PartialEq, Debug)]
pub struct JointDesc {
    pub name: String,
    pub kind: JointKind,
    /// Names of the connected actors. `None` in place of the second actor is the world.
    pub actors: (String, Option<String>),
    pub node: Option<String>,
    pub position: Vec3,
    /// Anchor at the second actor, if it differs from the first anchor.
    pub other: Option<Vec3>,
    /// Fixed points of a pulley for the first and the second actor.
    pub ground: Option<Vec3>,
    pub other_ground: Option<Vec3>,
    pub ratio: f32,
    /// `None`: the axis that the type of joint has by default.
    pub axis: Option<Vec3>,
    pub limits: Option<[f32; 2]>,
    pub length: Option<f32>,
    pub spring: JointSpring,
    pub max_force: Option<f32>,
    pub break_force: Option<f32>,
    pub break_torque: Option<f32>,
    pub collides: bool,
}

const JOINT_FIELDS: [&str; 19] = [
    "actors",
    "axis",
    "break_force",
    "break_torque",
    "collides",
    "damping",
    "damping_ratio",
    "frequency",
    "ground_position",
    "length",
    "limits",
    "max_force",
    "node",
    "other_ground_position",
    "other_position",
    "position",
    "ratio",
    "stiffness",
    "type",
];

impl JointDesc {
    /// Reads the description of a joint. `whole` is true if nothing is inherited; otherwise
    /// required fields may be missing.
    ///
    /// # Errors
    /// Returns an error if a field is unknown or invalid.
    pub fn read(name: &str, tree: &SjsonTree, whole: bool) -> Result<JointDesc, FieldError> {
        let subject = format!("joint '{name}'");
        let fields = FieldReader::of(tree, &subject, &JOINT_FIELDS)?;
        let kind = match fields.choice("type", &JointKind::NAMES)? {
            Some(kind) => JointKind::LIST[kind],
            None if !whole => JointKind::Fixed,
            None => {
                let names = JointKind::NAMES.join(", ");
                return Err(FieldError::new(format!(
                    "{subject} has no 'type': it must be one of {names}"
                )));
            }
        };
        let must = "the names of two actors, or of one that is held by the world";
        let actors = match &fields.texts("actors", must)?.unwrap_or_default()[..] {
            [one] => (one.to_string(), None),
            [one, two] if one != two => (one.to_string(), Some(two.to_string())),
            [] if !whole && !fields.has("actors") => (String::new(), None),
            _ => return Err(fields.invalid("actors", must)),
        };
        let must = "two numbers, the lesser first: degrees of a hinge, metres of a slider or wheel";
        let limits = fields.numbers::<2>("limits", must)?;
        if limits.is_some_and(|[least, most]| least > most) {
            return Err(fields.invalid("limits", must));
        }
        let at = |key| fields.vector(key, "[x, y, z] in metres");
        let axis = fields.vector("axis", "a direction, [x, y, z]")?;
        if axis.is_some_and(|axis| axis.length_squared() < 1e-8) {
            return Err(fields.invalid("axis", "a direction, [x, y, z], and not 0"));
        }
        let ground = at("ground_position")?;
        if whole && kind == JointKind::Pulley && ground.is_none() {
            return Err(FieldError::new(format!(
                "{subject} is a pulley without 'ground_position': the point over which its rope \
                 runs, [x, y, z]"
            )));
        }
        let must = format!("a number from {PULLEY_RATIO_MIN} to {PULLEY_RATIO_MAX}");
        let ratio = fields.number("ratio", PULLEY_RATIO_MIN, PULLEY_RATIO_MAX, &must)?;
        let number = |key| fields.number(key, 0.0, 1e12, "a number from 0 on");
        Ok(JointDesc {
            name: name.to_string(),
            kind,
            actors,
            node: to_owned_text(fields.text("node", "the name of a node")?),
            position: at("position")?.unwrap_or(Vec3::ZERO),
            other: at("other_position")?,
            ground,
            other_ground: at("other_ground_position")?,
            ratio: ratio.unwrap_or(1.0),
            axis,
            limits: match kind {
                JointKind::Hinge => limits.map(|limits| limits.map(f32::to_radians)),
                _ => limits,
            },
            length: number("length")?,
            spring: JointSpring {
                stiffness: number("stiffness")?,
                damping: number("damping")?,
                frequency: fields.positive("frequency")?,
                damping_ratio: number("damping_ratio")?,
            },
            max_force: fields.positive("max_force")?,
            break_force: fields.positive("break_force")?,
            break_torque: fields.positive("break_torque")?,
            collides: fields.boolean("collides")?.unwrap_or(false),
        })
    }
}
