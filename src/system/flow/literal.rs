//! Literal values of inputs and variables, read from a source by their type.

use super::node_type::{Pin, PinDefault};
use super::value::{FlowType, Slot, TEXT_BYTES_MAX};
use engine_foundation::color_source;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest;
use engine_foundation::{Quat, Vec3};
use std::collections::HashSet;

/// A constant of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    Slot(Slot),
    Text(String),
    /// Name of a unit in the level of the graph.
    LevelUnit(String),
}

/// The names of a level's units, which inputs of its graph can name.
pub struct UnitNames<'a> {
    names: &'a [String],
    known: HashSet<&'a str>,
}

impl<'a> UnitNames<'a> {
    pub fn new(names: &'a [String]) -> UnitNames<'a> {
        UnitNames { names, known: names.iter().map(String::as_str).collect() }
    }
}

/// Returns the constant of a text.
fn text(text: &str) -> Result<Literal, String> {
    match text.len() <= TEXT_BYTES_MAX {
        true => Ok(Literal::Text(text.to_string())),
        false => Err(format!(
            "has {} bytes, and a text of a graph has at most {TEXT_BYTES_MAX} (TEXT_BYTES_MAX)",
            text.len()
        )),
    }
}

/// Returns `N` finite numbers of a list.
fn numbers<const N: usize>(value: &SjsonTree) -> Option<[f32; N]> {
    let SjsonTree::Array(items) = value else { return None };
    if items.len() != N {
        return None;
    }
    let mut found = [0.0; N];
    for (slot, item) in found.iter_mut().zip(items) {
        let SjsonTree::Number(number) = item else { return None };
        *slot = *number as f32;
        if !slot.is_finite() {
            return None;
        }
    }
    Some(found)
}

/// Returns the rotation about an axis by an angle in degrees.
pub fn axis_rotation(axis: Vec3, degrees: f32) -> Quat {
    let (sin, cos) = sin_cos(degrees * (std::f32::consts::PI / 360.0));
    let axis = axis.normalize_or_zero() * sin;
    Quat::from_xyzw(axis.x, axis.y, axis.z, cos)
}

fn rotation(value: &SjsonTree) -> Option<Quat> {
    if let Some([x, y, z]) = numbers::<3>(value) {
        let [x, y, z] = [(Vec3::X, x), (Vec3::Y, y), (Vec3::Z, z)]
            .map(|(axis, degrees)| axis_rotation(axis, degrees));
        return Some(z * y * x);
    }
    let quaternion = Quat::from_array(numbers::<4>(value)?).normalize();
    quaternion.is_normalized().then_some(quaternion)
}

/// Returns the constant for a literal of a type. `units` are the names of the level's units, if the
/// graph is of a level.
pub fn literal(
    kind: FlowType,
    value: &SjsonTree,
    units: Option<&UnitNames>,
) -> Result<Literal, String> {
    let slot = |slot: Option<Slot>, must: &str| {
        slot.map(Literal::Slot).ok_or_else(|| format!("must be {must}"))
    };
    match (kind, value) {
        (FlowType::Number, SjsonTree::Number(number)) => Ok(Literal::Slot(Slot::number(*number))),
        (FlowType::Boolean, SjsonTree::Bool(value)) => Ok(Literal::Slot(Slot::boolean(*value))),
        (FlowType::Text | FlowType::Resource | FlowType::Any, SjsonTree::String(value)) => {
            text(value)
        }
        (FlowType::Any, SjsonTree::Number(number)) => Ok(Literal::Slot(Slot::number(*number))),
        (FlowType::Any, SjsonTree::Bool(value)) => Ok(Literal::Slot(Slot::boolean(*value))),
        (FlowType::Vector, value) => {
            let vector = numbers::<3>(value).map(|v| Slot::vector(Vec3::from_array(v)));
            slot(vector, "three numbers: [1, 2, 3]")
        }
        (FlowType::Rotation, value) => {
            let must = "three angles in degrees, or the four numbers of a quaternion";
            slot(rotation(value).map(Slot::rotation), must)
        }
        (FlowType::Color, value) => {
            let color = color_source::read(value, "")?;
            let parts = [color.red, color.green, color.blue, color.alpha];
            Ok(Literal::Slot(Slot::color(parts)))
        }
        (FlowType::Unit | FlowType::Handle, SjsonTree::String(name)) => match units {
            Some(units) if units.known.contains(&name[..]) => Ok(Literal::LevelUnit(name.clone())),
            Some(units) => {
                let hint = suggest::hint(name, units.names.iter().map(String::as_str));
                Err(format!("the level has no unit '{name}'{hint}"))
            }
            None => Err("only graphs of levels can name units: connect a wire".to_string()),
        },
        (kind, _) if kind.is_handle() || kind == FlowType::List => {
            Err(format!("has no literals of type {}: connect a wire", kind.name()))
        }
        (kind, _) => Err(format!("must be a {}", kind.name())),
    }
}

/// Returns the constant for a literal of a pin; checks its choices.
pub fn pin_literal(
    pin: &Pin,
    value: &SjsonTree,
    units: Option<&UnitNames>,
) -> Result<Literal, String> {
    if let (false, SjsonTree::String(text)) = (pin.choices.is_empty(), value)
        && !pin.choices.contains(text)
    {
        let hint = suggest::hint_or_names(text, pin.choices.iter().map(String::as_str));
        return Err(format!("'{text}' is not one of its values{hint}"));
    }
    literal(pin.kind, value, units)
}

/// Checks the default of an input.
///
/// # Errors
/// Returns a message if it is not of the input's type, or not one of its choices.
pub fn check_default(pin: &Pin) -> Result<(), String> {
    match &pin.default {
        PinDefault::Value(value) => pin_literal(pin, value, None).map(|_| ()),
        _ => Ok(()),
    }
}

/// Returns the value of a variable without an initial value.
pub fn zero(kind: FlowType) -> Literal {
    match kind {
        FlowType::Number => Literal::Slot(Slot::number(0.0)),
        FlowType::Boolean => Literal::Slot(Slot::boolean(false)),
        FlowType::Text | FlowType::Resource => Literal::Text(String::new()),
        FlowType::Vector => Literal::Slot(Slot::vector(Vec3::ZERO)),
        FlowType::Rotation => Literal::Slot(Slot::rotation(Quat::IDENTITY)),
        FlowType::Color => Literal::Slot(Slot::color([255.0; 4])),
        _ => Literal::Slot(Slot::NIL),
    }
}
