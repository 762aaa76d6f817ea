//! Access to the fields of map files, for the compilers of Tiled and LDtk. Missing fields have the
//! values that the editors use. `field_types.rs` refuses fields of other types before; the range of
//! numbers is checked when the compiled tree is read.

use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonTree};

/// Parses the JSON of a map file. The parser's advice is for files that people write; these are
/// written by `editor`.
pub(super) fn parse_json(path: &str, bytes: &[u8], editor: &str) -> Result<SjsonTree, Error> {
    let document = sjson::parse_bytes(bytes).map_err(|fault| {
        let text = std::str::from_utf8(bytes).unwrap_or_default().trim_end();
        // A whole file ends with the brace of its object.
        match text.starts_with('{') && !text.ends_with('}') {
            true => error!("{path}: the file is cut short: save it again in {editor}"),
            false => Error::new(fault.in_file(path)),
        }
    })?;
    Ok(document.to_tree())
}

/// Returns a number; 0 if the field is missing.
pub(super) fn number(tree: &SjsonTree, key: &str) -> f64 {
    number_or(tree, key, 0.0)
}

pub(super) fn number_or(tree: &SjsonTree, key: &str, missing: f64) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => missing,
    }
}

/// Returns a number of an LDtk project that every version writes. `owner` is the name of the object
/// that has it, for the message.
pub(super) fn required(
    path: &str,
    tree: &SjsonTree,
    key: &str,
    owner: impl FnOnce() -> String,
) -> Result<f64, Error> {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => Ok(*number),
        _ => Err(missing(path, key, &owner())),
    }
}

/// Returns two numbers of an LDtk project that every version writes, as [`required`] does.
pub(super) fn required_pair(
    path: &str,
    tree: &SjsonTree,
    key: &str,
    owner: impl FnOnce() -> String,
) -> Result<[f64; 2], Error> {
    match list(tree, key) {
        [SjsonTree::Number(x), SjsonTree::Number(y)] => Ok([*x, *y]),
        _ => Err(missing(path, key, &owner())),
    }
}

fn missing(path: &str, key: &str, owner: &str) -> Error {
    error!("{path}: {owner} has no '{key}': save the project again in LDtk")
}

/// Returns a text; an empty one if the field is missing.
pub(super) fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

pub(super) fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

/// Returns two numbers; zeros if the field is missing.
pub(super) fn pair(tree: &SjsonTree, key: &str) -> [f64; 2] {
    match list(tree, key) {
        [SjsonTree::Number(x), SjsonTree::Number(y)] => [*x, *y],
        _ => [0.0; 2],
    }
}

pub(super) fn is_true(tree: &SjsonTree, key: &str) -> bool {
    match tree.get(key) {
        Some(SjsonTree::Bool(truth)) => *truth,
        Some(SjsonTree::Number(number)) => *number != 0.0,
        _ => false,
    }
}

/// Returns true if the field is missing or true.
pub(super) fn is_not_false(tree: &SjsonTree, key: &str) -> bool {
    tree.get(key).is_none() || is_true(tree, key)
}

pub(super) fn object(fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
    SjsonTree::Object(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

pub(super) fn string(text: &str) -> SjsonTree {
    SjsonTree::String(text.to_string())
}

pub(super) fn numbers(numbers: &[f64]) -> SjsonTree {
    SjsonTree::Array(numbers.iter().copied().map(SjsonTree::Number).collect())
}

/// Returns the approximate memory of a tree in bytes.
pub(super) fn memory_of(tree: &SjsonTree) -> usize {
    let content = match tree {
        SjsonTree::String(text) => text.len(),
        SjsonTree::Array(items) => items.iter().map(memory_of).sum(),
        SjsonTree::Object(fields) => {
            let field = |(key, value): &(String, SjsonTree)| {
                size_of::<String>() + key.len() + memory_of(value)
            };
            fields.iter().map(field).sum()
        }
        _ => 0,
    };
    size_of::<SjsonTree>() + content
}
