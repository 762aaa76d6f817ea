//! The check of a table of render passes, and of each of its rows.

use super::render_passes::{PassResource, PassRow, PassWrite};
use engine_resource::settings::SETTINGS;

/// Checks a table: unique names, shaders and settings that exist, resources that are cleared once
/// and before they are used, and no pass that samples what it draws onto. `shaders` are the names
/// of all shaders. Returns a message for the first row that is wrong.
pub fn check(rows: &[PassRow], shaders: &[&str]) -> Result<(), String> {
    let mut drawn = vec![PassResource::Target];
    for (i, row) in rows.iter().enumerate() {
        let name = row.name;
        if rows[..i].iter().any(|other| other.name == name) {
            return Err(format!("two render passes are named '{name}': give one another name"));
        }
        let checked = check_names(row, shaders)
            .and_then(|()| check_reads(row, &drawn))
            .and_then(|()| check_writes(row, &mut drawn));
        checked.map_err(|message| format!("render pass '{name}' {message}"))?;
    }
    Ok(())
}

/// Checks that the shaders and settings of a row exist.
fn check_names(row: &PassRow, shaders: &[&str]) -> Result<(), String> {
    if let Some(shader) = row.shaders.iter().find(|shader| !shaders.contains(shader)) {
        let all = shaders.join(", ");
        return Err(format!("uses the shader '{shader}', which does not exist: {all}"));
    }
    let is_setting = |name: &&&str| SETTINGS.iter().any(|setting| setting.key == **name);
    match row.settings.iter().find(|name| !is_setting(name)) {
        Some(setting) => Err(format!("depends on '{setting}', which is not a setting")),
        None => Ok(()),
    }
}

/// Checks that a row samples only what passes before it have drawn.
pub fn check_reads(row: &PassRow, drawn: &[PassResource]) -> Result<(), String> {
    for resource in row.reads {
        if row.does_write(*resource) {
            return Err(format!("samples {resource:?} and draws onto it: a pass cannot do both"));
        }
        if !drawn.contains(resource) {
            return Err(format!(
                "samples {resource:?}, which no pass before it draws: move it behind the pass that \
                 does"
            ));
        }
    }
    Ok(())
}

/// Checks that a row clears or keeps what it draws onto as the passes before it need, and adds this
/// to the drawn resources.
pub fn check_writes(row: &PassRow, drawn: &mut Vec<PassResource>) -> Result<(), String> {
    let Some(first) = row.writes.first() else {
        return Err("draws onto nothing: add it to `writes`".to_string());
    };
    for write in row.writes {
        let resource = write.resource();
        let is_drawn = drawn.contains(&resource);
        match write {
            PassWrite::Clear(_) if is_drawn => {
                return Err(format!(
                    "clears {resource:?}, which a pass before it has drawn: use `Keep`"
                ));
            }
            PassWrite::Keep(_) if !is_drawn => {
                return Err(format!(
                    "draws over {resource:?}, which no pass before it has cleared: use `Clear`, or \
                     move it behind the pass that clears it"
                ));
            }
            _ => drawn.push(resource),
        }
        let alone = PassRow { writes: std::slice::from_ref(write), ..*row };
        if alone.attachments() != row.attachments() {
            return Err(format!(
                "draws onto {:?} and {resource:?}, which have no common size: make two passes of \
                 it",
                first.resource()
            ));
        }
    }
    Ok(())
}
