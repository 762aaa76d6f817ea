//! Parser of names in files that their own parser refuses, for example with a syntax error: texts
//! that equal a name count as likely references, so that what such a file uses is not removed.

use super::lua_parser::{self, ScriptArguments};
use super::other_parsers::glb_json;
use super::sjson_parser::{NAME_BYTES_MAX, kind_set};
use super::{Certainty, NameForm, Reference};
use engine_foundation::sjson::TextSpan;
use engine_resource::resource_kind::{ResourceKinds, kind_names};

/// Maximum number of texts of a damaged file that can be names.
pub const TEXTS_MAX: usize = 1_000_000;

/// Returns the texts of a damaged file that can be names, or `None` if it has too many of them.
pub fn references(
    path: &str,
    bytes: &[u8],
    kinds: ResourceKinds,
    arguments: &ScriptArguments,
) -> Option<Vec<Reference>> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    if ending == "lua" {
        // A script in another encoding: names are mostly ASCII, and their positions stay.
        let text: String = bytes
            .iter()
            .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' })
            .collect();
        return Some(lua_parser::references(&text, kinds, arguments));
    }
    let region = match &ending[..] {
        "glb" => glb_json(bytes).unwrap_or(TextSpan { start: 0, end: bytes.len() }),
        _ => TextSpan { start: 0, end: bytes.len() },
    };
    let lua = kind_set(kinds, &[kind_names::LUA]);
    let forms: &[NameForm] = match &ending[..] {
        "gltf" | "glb" => &[NameForm::Uri],
        "tmj" | "tsj" | "ldtk" => &[NameForm::Relative],
        "unit" => &[NameForm::Text, NameForm::Component, NameForm::NodeType],
        "level" | "flow" => &[NameForm::Text, NameForm::NodeType],
        _ => &[NameForm::Text],
    };
    let mut found = Vec::new();
    let mut start = region.start;
    for (index, line) in
        bytes[region.start..region.end].split_inclusive(|it| *it == b'\n').enumerate()
    {
        for span in texts(line) {
            let Ok(name) = std::str::from_utf8(&line[span.start..span.end]) else { continue };
            let span = TextSpan { start: start + span.start, end: start + span.end };
            for form in forms {
                if found.len() == TEXTS_MAX {
                    return None;
                }
                let is_script = matches!(form, NameForm::Component | NameForm::NodeType);
                if *form == NameForm::NodeType && !name.contains('.') {
                    continue;
                }
                found.push(Reference {
                    kinds: if is_script { lua } else { 0 },
                    name: name.to_string(),
                    span,
                    line: index as u32 + 1,
                    form: *form,
                    certainty: Certainty::Likely,
                });
            }
        }
        start += line.len();
    }
    Some(found)
}

/// Returns the parts of a line that can be names: between quotes, and between the characters that
/// separate values.
fn texts(line: &[u8]) -> Vec<TextSpan> {
    let mut found = Vec::new();
    let mut start = 0;
    for quoted in line.split(|byte| matches!(byte, b'"' | b'\'' | b'\n' | b'\r')) {
        let end = start + quoted.len();
        let mut word = start;
        let mut has_separator = false;
        let separators = (start..end).filter(|at| is_separator(line[*at])).chain([end]);
        for separator in separators {
            if found.len() > TEXTS_MAX {
                return found;
            }
            add(&mut found, TextSpan { start: word, end: separator });
            word = separator + 1;
            has_separator |= separator < end;
        }
        // A name can have separators, such as a space.
        if has_separator {
            add(&mut found, TextSpan { start, end });
        }
        start = end + 1;
    }
    found
}

/// Adds a part that can be a name.
fn add(found: &mut Vec<TextSpan>, span: TextSpan) {
    if span.start < span.end && span.end - span.start <= NAME_BYTES_MAX {
        found.push(span);
    }
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\\,;:=(){}[]<>&|".contains(&byte)
}
