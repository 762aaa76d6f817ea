//! The saved text of a file whose breakpoints a tool sets. If the game has not loaded it yet, their
//! lines are lines of it (lua/debug/breakpoints.lua).

use engine_foundation::file_access::{self, readers};
use engine_script::ScriptValue;
use std::path::Path;

/// Adds the text that a file of the game has now to a request for its breakpoints. Without such a
/// file, or for any other request, nothing changes.
pub fn add_saved_text(folder: &Path, name: &str, fields: &mut ScriptValue) {
    let ScriptValue::Table(entries) = fields else { return };
    if name != "debug_breakpoints" {
        return;
    }
    let file = entries.iter().find_map(|(key, value)| match value {
        ScriptValue::Text(file) if key == "file" => Some(file.clone()),
        _ => None,
    });
    let bytes = file.and_then(|file| file_access::read(folder, &file, &readers::SCRIPT).ok());
    if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        entries.push(("saved".to_string(), ScriptValue::Text(text)));
    }
}
