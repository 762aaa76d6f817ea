//! The block `jumps` of a navigation file: rules by which links over gaps and down from ledges are
//! found when a mesh is baked.

use super::{LINK_COST_MAX, NavigationError, check_classes, is_true, number, text, texts};
use crate::unit_compiler::invalid_value;
use engine_foundation::sjson::{SjsonTree, SjsonValue};
use engine_foundation::suggest;
use engine_navigation::jump_links::JumpRules;
use engine_navigation::jumps::LINK_NAME_MAX;

/// Maximum number of rules of a file.
pub const JUMP_RULES_MAX: usize = 16;

const KEYS: [&str; 8] = ["distance", "up", "down", "spacing", "name", "cost", "manual", "agents"];

/// Rules by which links are found.
#[derive(Clone, PartialEq, Debug)]
pub struct JumpEdit {
    /// Name in the file.
    pub name: String,
    pub rules: JumpRules,
    /// Classes of characters for which they apply; all if empty.
    pub classes: Vec<String>,
}

/// Reads an entry that the compiler has validated.
pub(super) fn jump_edit((name, fields): &(String, SjsonTree)) -> JumpEdit {
    let mut rules = JumpRules {
        name: text(fields, "name").unwrap_or_else(|| name.clone()),
        cost: number(fields.get("cost")),
        is_manual: is_true(fields, "manual"),
        ..JumpRules::DEFAULT
    };
    for key in JumpRules::LENGTHS {
        if let (Ok((low, high, length)), Some(number)) =
            (rules.length(key), number(fields.get(key)))
        {
            *length = number.clamp(low, high);
        }
    }
    JumpEdit { name: name.clone(), rules, classes: texts(fields, "agents") }
}

pub(super) fn check<'a>(
    root: SjsonValue<'a>,
    name: &str,
    fields: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    let mut rules = JumpRules::DEFAULT;
    for field in fields.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        let in_range = |low: f32, high: f32| {
            value.as_f32().is_some_and(|length| (low..=high).contains(&length))
        };
        let must = match key {
            key if JumpRules::LENGTHS.contains(&key) => match rules.length(key) {
                Ok((low, high, _)) if in_range(low, high) => continue,
                Ok((low, high, _)) => format!("{low} to {high} metres"),
                Err(message) => return Err((value, message)),
            },
            "name" if value.as_str().is_none_or(|text| text.len() > LINK_NAME_MAX) => {
                format!("text of at most {LINK_NAME_MAX} bytes (LINK_NAME_MAX)")
            }
            "cost" if !in_range(0.0, LINK_COST_MAX) => format!("a number, 0 to {LINK_COST_MAX}"),
            "manual" if value.as_bool().is_none() => "true or false".to_string(),
            "agents" => {
                check_classes(root, name, value)?;
                continue;
            }
            key if KEYS.contains(&key) => continue,
            key => {
                let hint = suggest::hint(key, KEYS);
                return Err((value, format!("jumps '{name}' has the unknown field '{key}'{hint}")));
            }
        };
        return Err((value, invalid_value(&format!("'{key}' of jumps '{name}'"), &must, value)));
    }
    if fields.get("name").is_none() && name.len() > LINK_NAME_MAX {
        let message = format!(
            "the name of the jumps '{name}' has more than {LINK_NAME_MAX} bytes (LINK_NAME_MAX)"
        );
        return Err((fields, message));
    }
    Ok(())
}
