//! Lines of the fields in unit files that messages about spawned units name.

use super::finding::location;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, ObjectEntry, SjsonValue};
use std::collections::VecDeque;
use std::path::Path;

/// Maximum number of names in a message that are searched for.
const NAMES_MAX: usize = 8;

/// Returns the line of the innermost field of a component that a message about a unit names:
/// `component 'animation': 'limits' of the ragdoll names the bone 'Head', …`. `None` if the message
/// is about another file, or if the file does not have such fields.
pub(super) fn field_line(root: &Path, file: &str, message: &str) -> Option<usize> {
    let (component, rest) = message.strip_prefix("component '")?.split_once("': ")?;
    if !file.ends_with(".unit") || location(rest).0.is_some() {
        return None;
    }
    let bytes = file_access::read(root, file, &readers::SOURCE).ok()?;
    line_of(&bytes, component, rest)
}

fn line_of(bytes: &[u8], component: &str, message: &str) -> Option<usize> {
    let document = sjson::parse_bytes(bytes).ok()?;
    let is_it = |entry: &ObjectEntry| {
        let kind = entry.value.get("component").and_then(SjsonValue::as_str);
        entry.key == component || kind == Some(component)
    };
    let components = document.root().get("components")?;
    let mut block = components.entries()?.find(is_it)?.value;
    let mut line = None;
    // Names that are suggested are no fields.
    let fault = message.split(", did you mean").next()?;
    for name in fault.split('\'').skip(1).step_by(2).take(NAMES_MAX) {
        if let Some(entry) = find(block, name) {
            (line, block) = (Some(entry.line()), entry.value);
        }
    }
    line
}

/// Returns the outermost entry with a key in a block.
fn find<'a>(block: SjsonValue<'a>, key: &str) -> Option<ObjectEntry<'a>> {
    let mut open = VecDeque::from([block]);
    while let Some(block) = open.pop_front() {
        for entry in block.entries().into_iter().flatten() {
            if entry.key == key {
                return Some(entry);
            }
            open.push_back(entry.value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_innermost_field() {
        let file = br#"model = "orc"
            components = {
                animation = {
                    lod_size = 9
                    ragdoll = {
                        bones = ["Hip"]
                        limits = {
                            Head = { swing = 1 }
                            Hed = {}
                        }
                    }
                }
                tail = {
                    component = "sprite" texture = "t" } }"#;
        let check = |component: &str, message: &str, line: Option<usize>| {
            assert_eq!(line_of(file, component, message), line, "{message}");
        };
        let limits = "'limits' of the ragdoll names the bone 'Hed', which the model 'orc' does not \
                      have, did you mean 'Head'?";
        check("animation", limits, Some(9));
        check("animation", "'bones' of the ragdoll names the bone 'Hp', which", Some(6));
        check("animation", "'lod_size' is 9: use 0 to 1", Some(4));
        check("animation", "it has no size", None);
        check("animation", "'Foot' is not there, did you mean 'Head'?", None);
        check("sprite", "'texture' is wrong", Some(14));
        check("tail", "'texture' is wrong", Some(14));
        check("mesh", "'texture' is wrong", None);
        assert_eq!(line_of(b"components = 3", "mesh", "'texture'"), None);
    }
}
