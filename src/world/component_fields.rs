//! Reading of components' fields: values by type, and the fields that several components have. The
//! compiler has checked the types of the fields.

use super::mesh::{GROUPS_MAX, NO_GROUP};
use super::unit_template::UnitTemplate;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;

pub(super) fn text<'a>(fields: &'a SjsonTree, key: &str) -> Option<&'a str> {
    match fields.get(key) {
        Some(SjsonTree::String(text)) => Some(text),
        _ => None,
    }
}

pub(super) fn number(fields: &SjsonTree, key: &str) -> Option<f32> {
    match fields.get(key) {
        Some(SjsonTree::Number(number)) => Some(*number as f32),
        _ => None,
    }
}

pub(super) fn truth(fields: &SjsonTree, key: &str) -> Option<bool> {
    match fields.get(key) {
        Some(SjsonTree::Bool(truth)) => Some(*truth),
        _ => None,
    }
}

pub(super) fn numbers<const N: usize>(fields: &SjsonTree, key: &str) -> Option<[f32; N]> {
    let Some(SjsonTree::Array(items)) = fields.get(key) else { return None };
    let mut out = [0.0; N];
    for (slot, item) in out.iter_mut().zip(items) {
        let SjsonTree::Number(number) = item else { return None };
        *slot = *number as f32;
    }
    (items.len() == N).then_some(out)
}

/// Returns the number of a component's visibility group in its unit.
pub(super) fn group(fields: &SjsonTree, template: &mut UnitTemplate) -> Result<u8, Error> {
    let Some(group) = text(fields, "group") else { return Ok(NO_GROUP) };
    let known = template.groups.iter().position(|known| known == group);
    if known.is_none() && template.groups.len() == GROUPS_MAX {
        return Err(error!(
            "a unit can have {GROUPS_MAX} visibility groups (GROUPS_MAX): use fewer"
        ));
    }
    let index = known.unwrap_or_else(|| {
        template.groups.push(group.to_string());
        template.groups.len() - 1
    });
    Ok(index as u8)
}

/// Returns the minimum and maximum distance from the camera at which a component is shown.
pub(super) fn range(fields: &SjsonTree) -> Result<[f32; 2], Error> {
    let range = numbers(fields, "range").unwrap_or([0.0, f32::INFINITY]);
    match range[0] >= 0.0 && range[1] > range[0] {
        true => Ok(range),
        false => Err(error!(
            "'range' must rise from 0 or more, got [{}, {}]: it is shown between two distances",
            range[0], range[1]
        )),
    }
}
