//! The Lua modules for navigation: `NavigationMesh` (mesh.rs, queries.rs),
//! `NavigationGrid` (grid.rs) and `Agent` (agent.rs), and the options that they share.

pub mod agent;
pub mod agent_paths;
pub mod agent_settings;
mod creation;
pub mod dispersion;
pub mod fields;
mod following;
pub mod grid;
pub mod grid_paths;
pub mod levels;
mod links;
pub mod mesh;
pub mod platforms;
pub mod polygon_paths;
pub mod queries;
pub mod tilemap_grids;
mod volumes;
pub mod ways;

use crate::value::ScriptValue;
use engine_foundation::{Error, error, suggest};

/// Checks that a number has no fraction.
fn whole(name: &str, number: f32) -> Result<(), Error> {
    if number.fract() != 0.0 {
        return Err(error!("{name} must be a whole number, got {number}"));
    }
    Ok(())
}

/// Returns the value of an option, for messages.
fn value_text(value: &ScriptValue) -> String {
    match value {
        ScriptValue::Number(number) => number.to_string(),
        ScriptValue::Boolean(flag) => flag.to_string(),
        ScriptValue::Text(_) => "a string".to_string(),
        _ => "a table".to_string(),
    }
}

fn unknown_option(name: &str, names: &[&str]) -> Error {
    let hint = suggest::hint(name, names.iter().copied());
    error!("unknown option '{name}'{hint}")
}

/// Reads a table of numbers by name. `set` stores a number, and returns false for an unknown name.
fn read_numbers(
    options: Option<ScriptValue>,
    names: &[&str],
    mut set: impl FnMut(&str, f32) -> bool,
) -> Result<(), Error> {
    let fields = match options {
        None | Some(ScriptValue::Nil) => return Ok(()),
        Some(ScriptValue::Table(fields)) => fields,
        _ => return Err(error!("argument 'options' must be a table, such as {{ radius = 0.4 }}")),
    };
    for (name, value) in fields {
        let is_known = names.contains(&name.as_str());
        let ScriptValue::Number(number) = &value else {
            if is_known {
                return Err(error!("option '{name}' must be a number, got {}", value_text(&value)));
            }
            return Err(unknown_option(&name, names));
        };
        if !is_known || !set(&name, *number as f32) {
            return Err(unknown_option(&name, names));
        }
    }
    Ok(())
}
