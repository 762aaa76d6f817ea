//! Parsers of references in files that other programs export: XML of Tiled, text of BMFont, and
//! the JSON inside of a GLB file.

use super::rules::EXPORTED;
use super::sjson_parser::SjsonReferences;
use super::{Certainty, NameForm, Reference};
use engine_foundation::sjson::{self, TextSpan};
use engine_foundation::xml::unescape;
use engine_resource::resource_kind::ResourceKinds;

/// Endings of files in XML whose attributes name files.
const XML_ENDINGS: [&str; 3] = ["tmx", "tsx", "tx"];
const XML_ATTRIBUTES: [&str; 2] = ["source", "template"];

/// Size of the header of a GLB file, and of the header of its first chunk.
pub const GLB_HEADER_BYTES: usize = 20;

/// Returns true if a file with this ending can have references that are parsed here.
pub fn is_exported(ending: &str) -> bool {
    XML_ENDINGS.contains(&ending)
        || matches!(ending, "fnt" | "glb")
        || EXPORTED.iter().any(|(known, _)| *known == ending)
}

/// Returns the references of an exported file. The message says why it cannot be read.
pub fn references(
    ending: &str,
    bytes: &[u8],
    kinds: ResourceKinds,
) -> Result<Vec<Reference>, String> {
    if ending == "glb" {
        let json = glb_json(bytes).ok_or("it is not a GLB file of version 2")?;
        let mut found = of_json("gltf", &bytes[json.start..json.end], kinds)?;
        for reference in &mut found {
            reference.span.start += json.start;
            reference.span.end += json.start;
        }
        return Ok(found);
    }
    if EXPORTED.iter().any(|(known, _)| *known == ending) {
        return of_json(ending, bytes, kinds);
    }
    // A binary .fnt names no files that are patched.
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Vec::new()) };
    Ok(match ending {
        "fnt" if !text.trim_start().starts_with('<') => pages_of_font(text),
        "fnt" => attributes(text, &["file"]),
        _ => attributes(text, &XML_ATTRIBUTES),
    })
}

fn of_json(ending: &str, bytes: &[u8], kinds: ResourceKinds) -> Result<Vec<Reference>, String> {
    // Padding of a GLB chunk.
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let document = sjson::parse_bytes(bytes).map_err(|error| error.to_string())?;
    let mut references = SjsonReferences::new(&document, kinds);
    let rules = EXPORTED.iter().find(|(known, _)| *known == ending).map_or(&[][..], |row| row.1);
    references.add_rules(rules, false);
    let mut found = references.found;
    found.retain(|reference| !reference.name.starts_with("data:"));
    Ok(found)
}

/// Returns the position of the JSON of a GLB file.
pub fn glb_json(bytes: &[u8]) -> Option<TextSpan> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    };
    let is_glb = bytes.starts_with(b"glTF") && number(4) == Some(2);
    let end = GLB_HEADER_BYTES.checked_add(number(12)?)?;
    let is_json = bytes.get(16..20) == Some(b"JSON");
    (is_glb && is_json && end <= bytes.len()).then_some(TextSpan { start: GLB_HEADER_BYTES, end })
}

fn pages_of_font(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.starts_with("page ")
            && let Some(at) = line.find("file=\"")
            && let Some(length) = line[at + 6..].find('"')
        {
            let span = TextSpan { start: start + at + 6, end: start + at + 6 + length };
            found.push(relative(&text[span.start..span.end], span, index as u32 + 1));
        }
        start += line.len();
    }
    found
}

/// Returns the values of attributes: `source="rock.png"`.
fn attributes(text: &str, names: &[&str]) -> Vec<Reference> {
    let mut found = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (at, _) in text.match_indices('=') {
        let before = text[..at].trim_end();
        let is_named = names.iter().any(|name| {
            before.strip_suffix(name).is_some_and(|rest| rest.ends_with(char::is_whitespace))
        });
        let after = &text[at + 1..];
        let value = after.trim_start();
        let quote = value.chars().next().filter(|quote| "\"'".contains(*quote));
        let (true, Some(quote)) = (is_named, quote) else { continue };
        let Some(length) = value[1..].find(quote) else { continue };
        let start = at + 1 + (after.len() - value.len()) + 1;
        line += text[counted..start].bytes().filter(|byte| *byte == b'\n').count() as u32;
        counted = start;
        let span = TextSpan { start, end: start + length };
        let name = unescape(&text[span.start..span.end]);
        found.push(relative(&name, span, line));
    }
    found
}

fn relative(name: &str, span: TextSpan, line: u32) -> Reference {
    let (form, certainty) = (NameForm::Relative, Certainty::Certain);
    Reference { kinds: 0, name: name.to_string(), span, line, form, certainty }
}
